#ifndef AMP_CLI_TUNE_ORIGIN_H
#define AMP_CLI_TUNE_ORIGIN_H

#include "cli/options/options.h"
#include "onnx/file/read.h"
#include "tune/tuning.h"

/* What a search is of. */
struct amp_tune_origin {
    const struct amp_options *options;
    uint32_t model, data; /* hashes (FNV-1a) of the model's file and of all samples */
    const char *settings; /* those options that the answer hangs on, as words of the shell */
};

/* Whether OPTIONS ask for what an origin is found for: a log or a rule file. */
bool amp_tune_origin_is_wanted(const struct amp_options *options);

/* Finds the origin of a search on FILE, whose graph inputs MODEL has, into FILE's arena. Fails as
   opening and loading the samples do. */
enum amp_status amp_tune_origin_find(const struct amp_options *options,
                                     const struct amp_model_file *file,
                                     const struct amp_model *model, struct amp_tune_origin *origin,
                                     struct amp_error *err);

/* What tells a search from others, for its log. */
uint64_t amp_tune_origin_key(const struct amp_tune_origin *origin);

/* The origin of TUNING's answer as lines of text, COUNT of them, in ARENA. */
const char *const *amp_tune_origin_notes(const struct amp_tune_origin *origin,
                                         const struct amp_tuning *tuning, struct amp_arena *arena,
                                         size_t *count);

#endif

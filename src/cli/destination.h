#ifndef AMP_CLI_DESTINATION_H
#define AMP_CLI_DESTINATION_H

#include "cli/options.h"
#include "cli/target.h"
#include "onnx/file/external.h"

/* Finds where the model that becomes TARGET goes: the -o of OPTIONS, or a name beside the model
   that is made in ARENA; "-" is stdout. AMP_USAGE or AMP_IO when it, the JSON report or the data
   file cannot go where they are wanted. */
enum amp_status amp_destination_choose(const struct amp_options *options,
                                       const struct amp_target *target, struct amp_arena *arena,
                                       const char **path, struct amp_error *err);

/* AMP_IO when DATA_PATH, the data file of the model at PATH, may not be replaced; AMP_USAGE when it
   or the model would replace a part of the input that stays, whose own data are EXTERNAL. DATA_PATH
   is NULL when there is none. */
enum amp_status amp_destination_check(const struct amp_options *options,
                                      const struct amp_external *external, const char *path,
                                      const char *data_path, struct amp_error *err);

#endif

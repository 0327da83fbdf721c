#ifndef AMP_CLI_INPUTS_H
#define AMP_CLI_INPUTS_H

#include "check/validate.h"
#include "cli/options.h"
#include "onnx/sample/samples.h"

/*
 * The samples that the command line asks for, for the graph inputs of one model: files named by
 * --input, the samples of --data, or seeded random ones when neither is given. The model and the
 * options must stay.
 */
struct amp_inputs {
    const struct amp_options *options;
    const struct amp_model *model;
    size_t count;                    /* samples */
    struct amp_samples samples;      /* of --data */
    struct amp_tensor *given;        /* per graph input: of --input; data NULL: none */
    struct amp_random_input *random; /* per graph input; NULL: nothing is random */
    char **notes;                    /* per graph input; NULL for a constant */
};

/* AMP_USAGE for an input or dim that the model does not have (with the nearest one it has), for
   inputs that nothing supplies and for sizes that random inputs need; AMP_MODEL or AMP_IO for files
   that cannot be read; AMP_UNSUPPORTED for inputs that are no tensors, and for types without random
   values. On failure INPUTS holds nothing. */
enum amp_status amp_inputs_open(const struct amp_options *options, const struct amp_model *model,
                                struct amp_inputs *inputs, struct amp_error *err);
void amp_inputs_close(struct amp_inputs *inputs); /* a zeroed one is fine */

/* Loads sample I: TENSORS has an entry per graph input in order, with the dtype the model declares,
   EXPECTED (may be NULL) one per graph output, data NULL where the sample has none. The caller
   releases both, also on failure. */
enum amp_status amp_inputs_load(struct amp_inputs *inputs, size_t i, struct amp_tensor *tensors,
                                struct amp_tensor *expected, struct amp_error *err);

/* What supplies graph input INPUT: "'image' float32 [1, 1, 8, 8]: random, seed 0"; NULL for
   one that is constant in the model. */
const char *amp_inputs_note(const struct amp_inputs *inputs, size_t input);

/* The integers of --labels; data NULL without that option. The caller releases them. */
enum amp_status amp_inputs_labels(const struct amp_options *options, struct amp_tensor *labels,
                                  struct amp_error *err);

/* AMP_USAGE for what is wrong with the words of a validation of a conversion to DTYPE whatever the
   model is, so that it can be said before any work. */
enum amp_status amp_inputs_check(const struct amp_options *options, enum amp_dtype dtype,
                                 struct amp_error *err);

/*
 * The validation of a conversion to DTYPE with all that OPTIONS say about it: opens the inputs of
 * REFERENCE into *INPUTS (for their notes; the caller closes them, also on failure), then as
 * amp_validate.
 */
enum amp_status amp_inputs_validate(const struct amp_options *options,
                                    const struct amp_model *reference,
                                    const struct amp_model *converted, enum amp_dtype dtype,
                                    struct amp_inputs *inputs, struct amp_validation *result,
                                    struct amp_error *err);

#endif

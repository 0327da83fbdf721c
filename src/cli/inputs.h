#ifndef AMP_CLI_INPUTS_H
#define AMP_CLI_INPUTS_H

#include "check/task/labels.h"
#include "check/input_dims.h"
#include "check/random_input.h"
#include "cli/batches.h"
#include "cli/options/options.h"
#include "cli/report/inputs.h"

/*
 * The samples that the command line asks for, for the graph inputs of one model: files named by
 * --input, the samples of --data, or seeded random ones when neither is given. The model and the
 * options must stay.
 */
struct amp_inputs {
    const struct amp_options *options;
    const struct amp_model *model;
    size_t count;                    /* samples */
    struct amp_batches batches;      /* of --data */
    struct amp_tensor *given;        /* per graph input: of --input; data NULL: none */
    struct amp_random_input *random; /* per graph input; NULL: nothing is random */
    struct amp_input_notes notes;    /* what supplies each graph input */
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

/* The files of --labels. */
struct amp_label_files {
    struct amp_labels *items; /* their texts are MODEL's and the command line's */
    size_t count;
};

/* Loads the files of --labels for INPUTS; none without that option. Where rows of --data are in no
   batch, their labels are left out as they are. AMP_USAGE for an output that the model does not
   have (with the nearest one it has), AMP_MODEL or AMP_IO for files that are no labels. */
enum amp_status amp_label_files_load(const struct amp_inputs *inputs, struct amp_label_files *files,
                                     struct amp_error *err);
void amp_label_files_close(struct amp_label_files *files); /* a zeroed one is fine */

/* AMP_USAGE for what is wrong with --samples whatever the model is, so that it can be said before
   any work. */
enum amp_status amp_inputs_check(const struct amp_options *options, struct amp_error *err);

#endif

#ifndef AMP_CLI_TRAIN_DATA_H
#define AMP_CLI_TRAIN_DATA_H

#include "cli/inputs.h"
#include "onnx/training/step.h"
#include "train/rows.h"

/*
 * What the steps of training get: the samples that the command line asks for (cli/inputs.h), one a
 * step in their order, or with --batch and --labels rows of them.
 */
struct amp_train_data {
    struct amp_options options; /* the command line's, with --labels among its inputs */
    const struct amp_training_step *step;
    struct amp_inputs inputs;
    struct amp_rows rows;
    bool has_rows;
    size_t count; /* batches in an epoch */
    size_t order; /* the epoch whose order the rows have, and 1; 0: that of the samples */
};

/*
 * Opens the data for STEP, of the model MAIN; all must stay. AMP_USAGE for --batch and --labels
 * without --data and for labels that belong to no input of the algorithm; and as amp_inputs_open,
 * amp_rows_add and amp_rows_cut fail. On failure it is still to be closed.
 */
enum amp_status amp_train_data_open(struct amp_train_data *data, const struct amp_options *options,
                                    const struct amp_training_step *step,
                                    const struct amp_model *main, struct amp_error *err);
void amp_train_data_close(struct amp_train_data *data); /* a zeroed one is fine */

/* Makes what step NUMBER, from 0 on, takes, in TENSORS: one per input of the step. The caller
   releases them, also on failure. */
enum amp_status amp_train_data_load(struct amp_train_data *data, size_t number,
                                    struct amp_tensor *tensors, struct amp_error *err);

#endif

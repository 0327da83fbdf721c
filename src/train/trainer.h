#ifndef AMP_TRAIN_TRAINER_H
#define AMP_TRAIN_TRAINER_H

#include "onnx/training/step.h"
#include "run/exec/session.h"

/* Runs what training_info says (onnx/training/step.h) and keeps what initializers become. */
struct amp_trainer {
    struct amp_training_step step;
    struct amp_session *session;
    struct amp_tensor *values;  /* of the variables, now */
    struct amp_tensor *inputs;  /* of the step: room for the sample's, then the variables */
    struct amp_tensor *outputs; /* of the step that was run last, but those that variables took */
    size_t n_outputs;
};

/*
 * Reads the step of the model of FILE, which must outlive the trainer, and plans it. AMP_MODEL and
 * AMP_UNSUPPORTED as amp_training_step_read and amp_plan_create. On failure it is still to be
 * closed.
 */
enum amp_status amp_trainer_open(struct amp_trainer *trainer, const struct amp_model_file *file,
                                 enum amp_strictness strictness, struct amp_error *err);
void amp_trainer_close(struct amp_trainer *trainer);

/* Gives the variables what the initialization says; those that it does not name stay. */
enum amp_status amp_trainer_initialize(struct amp_trainer *trainer, enum amp_strictness strictness,
                                       struct amp_error *err);

/* Runs one step on the first step.n_inputs of INPUTS: all variables are assigned at its end. */
enum amp_status amp_trainer_run(struct amp_trainer *trainer, struct amp_error *err);

#endif

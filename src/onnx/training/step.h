#ifndef AMP_ONNX_TRAINING_STEP_H
#define AMP_ONNX_TRAINING_STEP_H

#include "core/status.h"
#include "core/tensor.h"

struct amp_model_file;

/* An initializer that a step of training assigns. */
struct amp_training_variable {
    const char *name;
    uint32_t value;                  /* in the model of the step: an input of it */
    const struct amp_tensor *before; /* what it is in the file */
    size_t input, output;            /* of the step: the place of what it is and of what it becomes;
                                        OUTPUT is SIZE_MAX: only the initialization assigns it */
    size_t initial;                  /* the place among the outputs of the initialization; SIZE_MAX:
                                        it is as it is in the file */
};

/*
 * What training_info says of one step (onnx.proto, TrainingInfoProto), as models that run: the main
 * graph and the algorithm as one graph, and the initialization, NULL where there is none. The
 * inputs of the step are those of both graphs, then the variables; its outputs those of the main
 * graph, from FIRST_OWN on those of the algorithm, then what variables become where that is none of
 * these.
 */
struct amp_training_step {
    struct amp_model *model, *initialization;
    struct amp_training_variable *variables;
    size_t n_variables, n_inputs; /* inputs that are no variables */
    size_t first_own, n_own;
};

/* Reads the step of the model of FILE, which must outlive it, and infers its types. AMP_MODEL where
   there is no training_info, or names do not fit; AMP_UNSUPPORTED where there is more than one. */
enum amp_status amp_training_step_read(const struct amp_model_file *file,
                                       struct amp_training_step *step, struct amp_error *err);

/* Puts the tensors of VALUES, one per variable, into the message that the model of FILE is written
   from. They must stay until then. AMP_MODEL for one of another shape or dtype than the
   initializer. */
enum amp_status amp_training_step_store(const struct amp_model_file *file,
                                        const struct amp_training_step *step,
                                        const struct amp_tensor *values, struct amp_error *err);

#endif

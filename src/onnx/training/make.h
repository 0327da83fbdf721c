#ifndef AMP_ONNX_TRAINING_MAKE_H
#define AMP_ONNX_TRAINING_MAKE_H

#include "core/status.h"
#include "onnx/file/read.h"

/* How a model is to be trained. */
struct amp_training_recipe {
    const char *loss,
        *optimizer;      /* names as amp_training_loss_name and _optimizer_name have them */
    double rate;         /* of learning */
    const char *pattern; /* a glob: the initializers to train; NULL: all */
};

/* The names of losses and of optimizers; NULL past the end. */
const char *amp_training_loss_name(size_t i);
const char *amp_training_optimizer_name(size_t i);

/*
 * Gives the model of FILE, whose types are inferred, a training_info: the loss between its first
 * output and a new input "target", the gradients of the loss (ai.onnx.preview.training Gradient-1)
 * by the float initializers of more than one element whose names match, without the statistics of
 * BatchNormalization, and the optimizer, whose state begins with zeros. Cross entropy takes what a
 * Softmax at the output takes. AMP_USAGE for a name that is not in the tables and where no
 * initializer is left; AMP_UNSUPPORTED where there is a training_info already.
 */
enum amp_status amp_training_make(struct amp_model_file *file,
                                  const struct amp_training_recipe *recipe, struct amp_error *err);

#endif

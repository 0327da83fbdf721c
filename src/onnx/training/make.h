#ifndef AMP_ONNX_TRAINING_MAKE_H
#define AMP_ONNX_TRAINING_MAKE_H

#include "core/status.h"
#include "onnx/file/read.h"

/* How a model is to be trained. */
struct amp_training_recipe {
    const char *loss,
        *optimizer;      /* names as amp_training_loss_name and _optimizer_name have them */
    double rate;         /* of learning */
    double decay;        /* of weights; below 0: the optimizer's own */
    const char *pattern; /* a glob: the initializers to train; NULL: all */
};

/* The names of losses and of optimizers; NULL past the end. */
const char *amp_training_loss_name(size_t i);
const char *amp_training_optimizer_name(size_t i);

/*
 * Gives the model of FILE, whose types are inferred, a training_info: the loss between its first
 * output and a new input "target", the gradients of the loss (ai.onnx.preview.training Gradient-1)
 * by the float initializers of more than one element whose names match, without the statistics of
 * BatchNormalization, and the optimizer, whose state begins with zeros. Where the loss does
 * itself what the operator of the output does, cross entropy a Softmax, bce_with_logits a Sigmoid,
 * it is of what that takes, whose type goes to *SKIPPED; NULL: not so. AMP_USAGE for a name that is
 * not in the tables, for a nll of probabilities and where no initializer is left; AMP_UNSUPPORTED
 * where there is a training_info already, where the loss needs a higher opset, and for a Softmax
 * along another axis than that of classes.
 */
enum amp_status amp_training_make(struct amp_model_file *file,
                                  const struct amp_training_recipe *recipe, const char **skipped,
                                  struct amp_error *err);

#endif

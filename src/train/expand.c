/*
 * A step of training as a graph that any runtime runs: takes the step of a trainer, has derivatives
 * and optimizers become plain nodes, and the message fit for what came of it. Runs and writes
 * nothing.
 */
#include "train/expand.h"

#include "core/graph/copy.h"
#include "onnx/file/read.h"
#include "onnx/opset/opset.h"
#include "onnx/schema/infer.h"
#include "onnx/training/expanded.h"
#include "run/rewrite/gradient.h"
#include "run/rewrite/optimizer_terms.h"

/* Raises MODEL to the opset that derivatives need. */
static enum amp_status raise_opset(struct amp_model *model, struct amp_error *err)
{
    if (amp_model_opset(model, "") >= AMP_TRAINING_EXPANDED_OPSET)
        return AMP_OK;
    if (amp_opset_raise(model, AMP_TRAINING_EXPANDED_OPSET, NULL, err) != AMP_OK) {
        amp_error_prefix(err, "%s", model->path);
        return err->status;
    }
    return amp_infer(model, err);
}

enum amp_status amp_training_expand(struct amp_trainer *trainer, const struct amp_model_file *file,
                                    struct amp_model **model, struct amp_error *err)
{
    const struct amp_training_step *step = &trainer->step;
    struct amp_model *made = amp_model_copy(step->model, file->arena);
    const struct amp_model *derived = made;
    AMP_TRY(raise_opset(made, err));
    AMP_TRY(amp_gradients_expand(&derived, file->arena, err));
    if (derived != made)
        made = amp_model_copy(derived, file->arena);
    AMP_TRY(amp_optimizers_expand(made, err));
    AMP_TRY(amp_training_step_store(file, step, trainer->values, err));
    amp_training_expanded_finish(made, step);
    *model = made;
    return AMP_OK;
}

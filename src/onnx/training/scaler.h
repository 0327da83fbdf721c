#ifndef AMP_ONNX_TRAINING_SCALER_H
#define AMP_ONNX_TRAINING_SCALER_H

#include "core/graph/graph.h"
#include "core/status.h"

#include "onnx.pb-c.h"

/* How gradients are scaled: the arguments of torch.amp.GradScaler and their defaults. */
struct amp_grad_scaler {
    double init_scale;       /* 65536 */
    double growth_factor;    /* 2; above 1 */
    double backoff_factor;   /* 0.5; above 0, below 1 */
    int64_t growth_interval; /* 2000 steps in a row without infinities */
};

/* What to add the scaler to. */
struct amp_grad_scaler_graph {
    struct amp_model *algorithm; /* with inferred types */
    struct amp_model *main;      /* whose names the new ones differ from */
    Onnx__TrainingInfoProto *info;
};

/* What logs call the output NAME of a step: "scale" the scale for the next step (float32),
   "skipped" whether the update was (bool); any other by NAME. */
const char *amp_grad_scaler_word(const char *name);

/*
 * Adds to the algorithm what torch.amp.GradScaler does, as nodes of ai.onnx: the losses that
 * gradients are taken of times the scale, the gradients by its reciprocal, both in float32; where a
 * gradient is not finite, updates that depend on gradients, and what these are computed from
 * behind the gradients, leave their initializers as they are. The scale and the number of steps
 * since it changed are initializers with bindings of their own: after a skipped step the scale is
 * multiplied by the backoff factor, after growth_interval others in a row by the growth factor,
 * unless that is infinite. *IS_ADDED: false where there is no gradient, or a scaler already.
 * AMP_UNSUPPORTED below opset 9, where IsNaN came. Types are inferred again.
 * Source: PyTorch 2.6, torch/amp/grad_scaler.py and aten/src/ATen/native/cuda/AmpKernels.cu.
 */
enum amp_status amp_grad_scaler_add(const struct amp_grad_scaler_graph *graph,
                                    const struct amp_grad_scaler *scaler, bool *is_added,
                                    struct amp_error *err);

#endif

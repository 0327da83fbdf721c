#ifndef AMP_CLI_OPTIONS_GRAD_SCALER_H
#define AMP_CLI_OPTIONS_GRAD_SCALER_H

#include "core/status.h"
#include "onnx/training/scaler.h"

/* Whether gradients are scaled. */
enum amp_scaling {
    AMP_SCALING_AUTO, /* where the dtype is float16 */
    AMP_SCALING_OFF,
    AMP_SCALING_ON
};

/* Reads TEXT, the value of --grad-scaler: on, off, or "init_scale=65536,growth_interval=100", of
   the arguments of torch.amp.GradScaler each once at most. NULL: it was not given. AMP_USAGE for
   another word, and for numbers that GradScaler does not take. */
enum amp_status amp_grad_scaler_parse(const char *text, enum amp_scaling *scaling,
                                      struct amp_grad_scaler *scaler, struct amp_error *err);

#endif

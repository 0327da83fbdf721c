#ifndef AMP_RUN_EXEC_TYPE_CHECK_H
#define AMP_RUN_EXEC_TYPE_CHECK_H

#include "core/graph/graph.h"
#include "core/status.h"

/* Private to run/: makes TENSOR, which VALUE is about to hold, of VALUE's kind: what a model
   declares as an optional may be given plain (ONNX OptionalHasElement-18), and is wrapped.
   AMP_MODEL when it is of another kind or holds elements of another dtype. */
enum amp_status amp_fit(const struct amp_value *value, struct amp_tensor *tensor,
                        struct amp_error *err);

#endif

#ifndef AMP_RUN_EXEC_TYPE_CHECK_H
#define AMP_RUN_EXEC_TYPE_CHECK_H

#include "core/graph/graph.h"
#include "core/status.h"

/* Private to run/exec: checks that TENSOR, which VALUE is about to hold, is of VALUE's type. Where
   the model declares an optional and TENSOR is the element itself (ONNX OptionalHasElement-18
   allows that), TENSOR becomes an optional that holds it. AMP_MODEL when TENSOR is of another kind
   or holds elements of another dtype. */
enum amp_status amp_type_check(const struct amp_value *value, struct amp_tensor *tensor,
                               struct amp_error *err);

#endif

#ifndef AMP_OPS_MATMUL_MATMUL_H
#define AMP_OPS_MATMUL_MATMUL_H

#include "ops/matmul/product.h"

/* The product of A and B by the rules of numpy.matmul (ONNX MatMul-13): 1-D operands, broadcasting.
   The shapes must be known and fit. */
struct amp_matmul amp_matmul_of(const struct amp_shape *a, const struct amp_shape *b);

/* The shape of that product. Unknown dims are allowed; AMP_MODEL when the shapes do not fit. */
enum amp_status amp_matmul_shape(const struct amp_shape *a, const struct amp_shape *b,
                                 struct amp_shape *y, struct amp_error *err);

#endif

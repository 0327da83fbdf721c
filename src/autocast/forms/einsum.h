#ifndef AMP_AUTOCAST_FORMS_EINSUM_H
#define AMP_AUTOCAST_FORMS_EINSUM_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Einsum in dtypes that it does not take: ONNX (Einsum-12) leaves out bfloat16, but a contraction
 * of two operands is a MatMul of the operands with their dims in order, a product without a sum is
 * a Mul, and an Einsum of one operand may be a Transpose. Left as they are: labels that stand twice
 * in a term, labels of one operand alone that are summed, dims that a sum would broadcast, more
 * operands than two, and groups of dims that Reshape cannot form without knowing them.
 */

/* The first opset, that of MODEL or newer, at which NODE can be taken apart into operators that
   take DTYPE; 0: it is no Einsum, or it cannot be. */
int amp_einsum_opset(const struct amp_model *model, const struct amp_node *node,
                     enum amp_dtype dtype);

/* Takes every Einsum in MODEL apart whose data are of a dtype that the operator does not take. The
   node itself becomes the MatMul, Mul or Transpose. */
enum amp_status amp_einsums_take_apart(struct amp_model *model, struct amp_error *err);

#endif

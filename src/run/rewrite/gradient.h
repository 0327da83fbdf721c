#ifndef AMP_RUN_REWRITE_GRADIENT_H
#define AMP_RUN_REWRITE_GRADIENT_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Private to run/ and train/: replaces each Gradient node of *MODEL by the nodes that compute it.
 * *MODEL then is a copy in ARENA; without Gradient nodes it stays the model that was given. The
 * types of *MODEL must be inferred; the types of the new values are inferred here.
 *
 * Gradient gives the derivatives of the sum of all elements of tensor y by the tensors xs. It names
 * the tensors, and gets the values at which to derive as inputs: what lies between them and y is
 * computed once more where these are not the named tensors themselves. The named tensors are
 * independent variables, also where one is computed from another; those of zs are not derived by.
 * AMP_MODEL: names that do not exist, counts that do not fit. AMP_UNSUPPORTED: an operator in
 * between whose derivative is not known here (amp_op.gradient).
 * Source: ONNX, ai.onnx.preview.training, Gradient-1.
 */
enum amp_status amp_gradients_expand(const struct amp_model **model, struct amp_arena *arena,
                                     struct amp_error *err);

#endif

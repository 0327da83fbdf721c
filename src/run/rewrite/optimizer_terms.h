#ifndef AMP_RUN_REWRITE_OPTIMIZER_TERMS_H
#define AMP_RUN_REWRITE_OPTIMIZER_TERMS_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Private to run/ and train/: replaces each node of an operator with update terms (amp_op.update)
 * in MODEL by nodes of ai.onnx that compute the same, the learning rate in float64 and all else in
 * the dtype of the tensors. MODEL, whose types must be inferred, is then sorted and inferred anew.
 * AMP_MODEL for a node whose inputs and outputs do not come in groups of one size.
 */
enum amp_status amp_optimizers_expand(struct amp_model *model, struct amp_error *err);

#endif

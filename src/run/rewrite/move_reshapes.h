#ifndef AMP_RUN_REWRITE_MOVE_RESHAPES_H
#define AMP_RUN_REWRITE_MOVE_RESHAPES_H

#include "core/graph/graph.h"

/*
 * Private to run/: exchanges nodes of MODEL so that more of them can be post-ops of a product.
 * A Reshape of a product's result moves behind the elementwise nodes that follow it. A Mul or Div
 * of a MatMul's operand by one constant moves behind the MatMul, but not in float16, where the
 * product could overflow without it. The caller sorts the graph afterwards.
 */
void amp_reshapes_move(struct amp_model *model);

#endif

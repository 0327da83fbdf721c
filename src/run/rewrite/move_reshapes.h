#ifndef AMP_RUN_REWRITE_MOVE_RESHAPES_H
#define AMP_RUN_REWRITE_MOVE_RESHAPES_H

#include "core/graph/graph.h"

/*
 * Private to run/: moves nodes of MODEL, a copy, behind the one that takes their result, where that
 * lets it, or them, be done with a product: a Reshape behind elementwise operators, which do not
 * care; a factor, Mul or Div by a constant, behind the MatMul that one operand of which it scales,
 * but not in float16, where the product could overflow without it. The graph is to be sorted then.
 */
void amp_sink(struct amp_model *model);

#endif

#ifndef AMP_RUN_REWRITE_INTEGER_NODES_H
#define AMP_RUN_REWRITE_INTEGER_NODES_H

#include "core/graph/graph.h"

/* Makes nodes of MODEL that stand between DequantizeLinear and QuantizeLinear such that work on the
   integers themselves (amp_op.integer). Returns how many. */
size_t amp_integer_nodes_make(struct amp_model *model);

#endif

#ifndef AMP_CORE_GRAPH_REACH_H
#define AMP_CORE_GRAPH_REACH_H

#include "core/graph/graph.h"

/* What values lead to, and come from, along the nodes of the main graph, which must be sorted. A
   node takes what the graphs that it holds take. VALUES has a flag per value of MODEL. */

/* Marks in VALUES whatever is computed from values that are marked. */
void amp_reach_ahead(const struct amp_model *model, bool *values);

/* Marks in VALUES whatever marked values are computed from; not through the nodes marked in WALLS,
   which has a flag per node (NULL: none). */
void amp_reach_back(const struct amp_model *model, const bool *walls, bool *values);

/* Whether an output of NODE is marked in VALUES. */
bool amp_reach_has_output(const struct amp_node *node, const bool *values);

#endif

#ifndef AMP_CORE_GRAPH_CHECK_H
#define AMP_CORE_GRAPH_CHECK_H

#include "core/status.h"

struct amp_model; /* core/graph/graph.h */

/* AMP_MODEL, with the node, unless every value has one producer, all nodes are in topological order
   and every value that a graph gives out is defined. A failure is a defect of the stage that ran
   before, or a model that was wrong when it was read. */
enum amp_status amp_graph_check(const struct amp_model *model, struct amp_error *err);

#endif

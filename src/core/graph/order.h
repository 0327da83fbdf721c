#ifndef AMP_CORE_GRAPH_ORDER_H
#define AMP_CORE_GRAPH_ORDER_H

#include "core/status.h"

#include <stdbool.h>

struct amp_model; /* core/graph/graph.h */

/* Puts the nodes of every graph into topological order, keeping the given order where it is one
   already; a node moves only to stand right before the first that needs it. Removed nodes are
   dropped. *MOVED (may be NULL) says whether nodes that came from the file changed their order.
   AMP_MODEL with a node's name when there is a cycle. */
enum amp_status amp_graph_sort(struct amp_model *model, bool *moved, struct amp_error *err);

#endif

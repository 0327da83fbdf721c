#ifndef AMP_TUNE_COST_OWNER_H
#define AMP_TUNE_COST_OWNER_H

#include "core/graph/graph.h"

/*
 * Which node of REFERENCE what a node of MODEL takes is put down to, per node id of MODEL, which is
 * REFERENCE or its conversion: itself; of the nodes in bodies, the node of the main graph that has
 * them; of nodes that stand for one in a lower dtype, that one. AMP_NONE: to none, as for the casts
 * that a conversion adds. In ARENA.
 */
uint32_t *amp_cost_owners(const struct amp_model *reference, const struct amp_model *model,
                          struct amp_arena *arena);

/* Whether node ID of MODEL is a Cast of its main graph that REFERENCE does not have. */
bool amp_cost_is_new_cast(const struct amp_model *reference, const struct amp_model *model,
                          uint32_t id);

#endif

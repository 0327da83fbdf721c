/*
 * Finds out which node of a model the nodes of its conversion belong to: takes both models, gives
 * ids. It assumes that ids of the first stay the same in the second, which has more of them.
 */
#include "tune/cost_owner.h"

#include "core/graph/uses.h"
#include "ops/op.h"

static bool is_new(const struct amp_model *reference, uint32_t id)
{
    return id >= reference->n_nodes;
}

bool amp_cost_is_new_cast(const struct amp_model *reference, const struct amp_model *model,
                          uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    return is_new(reference, id) && node->graph == 0 && amp_node_has_role(node, AMP_ROLE_CAST);
}

/* The node of the main graph that first takes VALUE; AMP_NONE: none does. */
static uint32_t first_user(const struct amp_model *model, const struct amp_uses *uses,
                           uint32_t value)
{
    if (uses->first[value] == uses->first[value + 1])
        return AMP_NONE;
    return amp_graph_container(model, uses->items[uses->first[value]].node, 0);
}

/* The node of REFERENCE that gives what node ID, which stands for a part of it, works for: follows
   the values from ID on to one that REFERENCE has. */
static uint32_t find_whole(const struct amp_model *reference, const struct amp_model *model,
                           const struct amp_uses *uses, uint32_t id)
{
    for (size_t i = 0; i < model->n_nodes && id != AMP_NONE && is_new(reference, id); i++) {
        const struct amp_node *node = amp_node_at(model, id);
        uint32_t value = node->n_outputs > 0 ? node->outputs[0] : AMP_NONE;
        if (value == AMP_NONE)
            return AMP_NONE;
        id = value < reference->n_values ? amp_value_at(reference, value)->producer
                                         : first_user(model, uses, value);
    }
    return id;
}

uint32_t *amp_cost_owners(const struct amp_model *reference, const struct amp_model *model,
                          struct amp_arena *arena)
{
    struct amp_uses uses = amp_uses_create(model);
    uint32_t *owners = amp_arena_array(arena, model->n_nodes, sizeof *owners);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        uint32_t outer = amp_graph_container(model, id, 0);
        bool belongs = outer != AMP_NONE && !amp_cost_is_new_cast(reference, model, outer);
        owners[id] = belongs ? find_whole(reference, model, &uses, outer) : AMP_NONE;
    }
    amp_uses_destroy(&uses);
    return owners;
}

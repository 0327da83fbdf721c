/*
 * Follows values through the main graph, with the flow and against it. Takes a sorted model and
 * flags, marks more of them. Changes no graph.
 */
#include "core/graph/reach.h"

/* Whether one of COUNT ids at IDS is marked in VALUES; with MARKS, all of them are from then on. */
static bool visit(const uint32_t *ids, size_t count, bool marks, bool *values)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == AMP_NONE)
            continue;
        found |= values[ids[i]];
        values[ids[i]] |= marks;
    }
    return found;
}

/* The same for what node ID takes. */
static bool visit_inputs(const struct amp_model *model, uint32_t id, bool marks, bool *values)
{
    const struct amp_node *node = amp_node_at(model, id);
    bool found = visit(node->inputs, node->n_inputs, marks, values);
    if (!amp_node_has_bodies(node))
        return found;
    for (uint32_t k = 0; k < model->n_nodes; k++) {
        const struct amp_node *inner = amp_node_at(model, k);
        if (k != id && !inner->is_removed && amp_graph_container(model, k, node->graph) == id)
            found |= visit(inner->inputs, inner->n_inputs, marks, values);
    }
    for (size_t g = 1; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        if (amp_graph_container(model, graph->owner, node->graph) == id)
            found |= visit(graph->outputs.items, graph->outputs.count, marks, values);
    }
    return found;
}

void amp_reach_ahead(const struct amp_model *model, bool *values)
{
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i]);
        if (!node->is_removed && visit_inputs(model, nodes->items[i], false, values))
            visit(node->outputs, node->n_outputs, true, values);
    }
}

void amp_reach_back(const struct amp_model *model, const bool *walls, bool *values)
{
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    for (size_t i = nodes->count; i-- > 0;) {
        uint32_t id = nodes->items[i];
        const struct amp_node *node = amp_node_at(model, id);
        if (!node->is_removed && (walls == NULL || !walls[id]) &&
            amp_reach_has_output(node, values))
            visit_inputs(model, id, true, values);
    }
}

bool amp_reach_has_output(const struct amp_node *node, const bool *values)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && values[node->outputs[i]])
            return true;
    return false;
}

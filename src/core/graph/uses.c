/*
 * The uses of values: takes a model, gives for each value the nodes that take it. They are a
 * picture of the model at one time; edits after it do not show.
 */
#include "core/graph/uses.h"

#include "core/graph/graph.h"

#include <stdlib.h>

struct amp_uses amp_uses_create(const struct amp_model *model)
{
    struct amp_uses uses = {.first = amp_xcalloc(model->n_values + 2, sizeof *uses.first)};
    /* Counted two places up, then summed one place up: filling moves each to its place. */
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs && !node->is_removed; i++)
            if (node->inputs[i] != AMP_NONE)
                uses.first[node->inputs[i] + 2]++;
    }
    for (size_t v = 1; v <= model->n_values; v++)
        uses.first[v + 1] += uses.first[v];
    uses.items = amp_xmalloc(uses.first[model->n_values + 1], sizeof *uses.items);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs && !node->is_removed; i++)
            if (node->inputs[i] != AMP_NONE)
                uses.items[uses.first[node->inputs[i] + 1]++] = (struct amp_use){id, i};
    }
    return uses;
}

void amp_uses_destroy(struct amp_uses *uses)
{
    free(uses->first);
    free(uses->items);
}

uint32_t *amp_uses_count_outputs(const struct amp_model *model)
{
    uint32_t *counts = amp_xcalloc(model->n_values, sizeof *counts);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            counts[model->graphs[g].outputs.items[i]]++;
    return counts;
}

uint32_t *amp_uses_count(const struct amp_model *model)
{
    uint32_t *counts = amp_uses_count_outputs(model);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs && !node->is_removed; i++)
            if (node->inputs[i] != AMP_NONE)
                counts[node->inputs[i]]++;
    }
    return counts;
}

bool amp_uses_only(const struct amp_model *model, const struct amp_uses *uses, uint32_t value,
                   struct amp_use *use)
{
    const struct amp_value *v = amp_value_at(model, value);
    if (v->is_output || uses->first[value + 1] - uses->first[value] != 1)
        return false;
    *use = uses->items[uses->first[value]];
    return amp_node_at(model, use->node)->graph == v->graph;
}

/*
 * Copies of a model that can be changed without changing it. Takes the arrays of the model;
 * tensors, names, attribute values and the symbols stay shared.
 */
#include "core/graph/copy.h"

#include "core/graph/graph.h"

static struct amp_ids copy_ids(const struct amp_ids *ids, struct amp_arena *arena)
{
    return (struct amp_ids){
        .items = amp_arena_memdup(arena, ids->items, ids->count * sizeof *ids->items),
        .count = ids->count,
        .capacity = ids->count};
}

static void copy_graphs(struct amp_model *model)
{
    model->graphs =
        amp_arena_memdup(model->arena, model->graphs, model->n_graphs * sizeof *model->graphs);
    for (size_t i = 0; i < model->n_graphs; i++) {
        struct amp_graph *graph = &model->graphs[i];
        graph->nodes = copy_ids(&graph->nodes, model->arena);
        graph->inputs = copy_ids(&graph->inputs, model->arena);
        graph->outputs = copy_ids(&graph->outputs, model->arena);
        graph->initializers = copy_ids(&graph->initializers, model->arena);
    }
}

static void copy_nodes(struct amp_model *model)
{
    model->nodes =
        amp_arena_memdup(model->arena, model->nodes, model->n_nodes * sizeof *model->nodes);
    for (size_t i = 0; i < model->n_nodes; i++) {
        struct amp_node *node = &model->nodes[i];
        size_t size = sizeof *node->inputs;
        node->inputs = amp_arena_memdup(model->arena, node->inputs, node->n_inputs * size);
        node->outputs = amp_arena_memdup(model->arena, node->outputs, node->n_outputs * size);
        node->attrs =
            amp_arena_memdup(model->arena, node->attrs, node->n_attrs * sizeof *node->attrs);
    }
}

struct amp_model *amp_model_copy(const struct amp_model *model, struct amp_arena *arena)
{
    struct amp_model *copy = amp_arena_memdup(arena, model, sizeof *copy);
    copy->arena = arena;
    copy->values = amp_arena_memdup(arena, model->values, model->n_values * sizeof *copy->values);
    copy->values_capacity = copy->n_values;
    copy->opsets = amp_arena_memdup(arena, model->opsets, model->n_opsets * sizeof *copy->opsets);
    copy->opsets_capacity = copy->n_opsets;
    copy->nodes_capacity = copy->n_nodes;
    copy->graphs_capacity = copy->n_graphs;
    copy->names.slots = amp_arena_memdup(arena, model->names.slots,
                                         model->names.capacity * sizeof *copy->names.slots);
    copy_nodes(copy);
    copy_graphs(copy);
    return copy;
}

/*
 * Finds the last step that reads each value, after which its memory is free (amp_step.last_uses).
 * A use in a body counts as a use by the step that has the body. Constants and graph outputs have
 * no last use.
 */
#include "run/plan/lifetimes.h"

struct search {
    const struct amp_plan_builder *builder;
    struct amp_step **last; /* per value: the last step of its graph that needs it; NULL: none */
};

/* NODE needs VALUE: what counts is the step of the value's own graph in or below which it runs. */
static void note_use(struct search *search, uint32_t value, uint32_t node)
{
    uint32_t graph = amp_value_at(search->builder->model, value)->graph;
    uint32_t container = amp_graph_container(search->builder->model, node, graph);
    struct amp_step *step = container == AMP_NONE ? NULL : search->builder->steps[container];
    if (step != NULL && (search->last[value] == NULL || step > search->last[value]))
        search->last[value] = step;
}

static void note_all(struct search *search, const uint32_t *values, uint32_t count, uint32_t node)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] != AMP_NONE)
            note_use(search, values[i], node);
}

/* Notes outputs as uses too, so that a value that nothing reads is released right after its step.
   The outputs of a body are needed until the node that owns the body is done. */
static void note_uses(struct search *search)
{
    const struct amp_model *model = search->builder->model;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (search->builder->steps[id] == NULL)
            continue;
        note_all(search, node->inputs, node->n_inputs, id);
        note_all(search, node->outputs, node->n_outputs, id);
    }
    for (size_t g = 1; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            note_use(search, model->graphs[g].outputs.items[i], model->graphs[g].owner);
}

void amp_plan_note_last_uses(struct amp_plan_builder *builder)
{
    const struct amp_model *model = builder->model;
    struct search search = {
        .builder = builder,
        .last = amp_arena_array(builder->arena, model->n_values, sizeof *search.last)};
    note_uses(&search);
    for (uint32_t v = 0; v < model->n_values; v++) {
        const struct amp_value *value = amp_value_at(model, v);
        if (search.last[v] == NULL || value->is_output || value->constant != NULL)
            continue;
        struct amp_ids *ids = &search.last[v]->last_uses;
        uint32_t *slot =
            amp_arena_push(builder->arena, &ids->items, &ids->count, &ids->capacity, sizeof *slot);
        *slot = v;
    }
}

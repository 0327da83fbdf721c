/*
 * The steps of a strict session, and who reads what when: also in bodies, whose reads are their
 * owner's, and through steps that are constant. It runs nothing.
 */
#include "check/noise/steps.h"

#include "run/exec/walk.h"

#include <stdlib.h>
#include <string.h>

static void push(struct amp_arena *arena, struct amp_ids *ids, uint32_t id)
{
    uint32_t *slot = amp_arena_push(arena, &ids->items, &ids->count, &ids->capacity, sizeof *slot);
    *slot = id;
}

static size_t *filled(struct amp_arena *arena, size_t count, size_t with)
{
    size_t *items = amp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = with;
    return items;
}

static void list_steps(struct amp_noise_steps *steps, const struct amp_session *session,
                       struct amp_arena *arena)
{
    steps->of_node = filled(arena, steps->model->n_nodes, SIZE_MAX);
    steps->items = amp_arena_array(arena, steps->count, sizeof *steps->items);
    for (size_t i = 0; i < steps->count; i++) {
        steps->items[i].node = amp_walk_node(session, i);
        steps->items[i].is_constant = amp_walk_is_constant(session, i);
        steps->of_node[steps->items[i].node] = i;
    }
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* Notes that NODE, or the one that owns its graph, reads VALUE of the main graph. */
static void note_read(struct amp_noise_steps *steps, struct amp_arena *arena, uint32_t node,
                      uint32_t value)
{
    if (value == AMP_NONE || amp_value_at(steps->model, value)->graph != 0)
        return;
    uint32_t container = amp_graph_container(steps->model, node, 0);
    size_t step = container == AMP_NONE ? SIZE_MAX : steps->of_node[container];
    if (step != SIZE_MAX)
        push(arena, &steps->items[step].reads, value);
}

static void note_reads(struct amp_noise_steps *steps, struct amp_arena *arena)
{
    const struct amp_model *model = steps->model;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs && !node->is_removed; i++)
            note_read(steps, arena, id, node->inputs[i]);
    }
    for (size_t g = 1; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            note_read(steps, arena, model->graphs[g].owner, model->graphs[g].outputs.items[i]);
}

/* ---- when ------------------------------------------------------------------------------------ */

/* The first step that reads what step I makes. */
static size_t first_behind(const struct amp_noise_steps *steps, size_t i)
{
    const struct amp_node *node = amp_node_at(steps->model, steps->items[i].node);
    size_t first = SIZE_MAX;
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE && steps->from[node->outputs[k]] < first)
            first = steps->from[node->outputs[k]];
    return first;
}

static void find_first_reads(struct amp_noise_steps *steps, struct amp_arena *arena)
{
    steps->from = filled(arena, steps->model->n_values, SIZE_MAX);
    for (size_t i = steps->count; i-- > 0;) {
        const struct amp_noise_step *step = &steps->items[i];
        size_t at = step->is_constant ? first_behind(steps, i) : i;
        for (size_t k = 0; k < step->reads.count; k++)
            if (at < steps->from[step->reads.items[k]])
                steps->from[step->reads.items[k]] = at;
    }
}

static void find_births(struct amp_noise_steps *steps, struct amp_arena *arena)
{
    const struct amp_model *model = steps->model;
    steps->birth = filled(arena, model->n_values, SIZE_MAX);
    for (size_t i = 0; i < model->graphs[0].inputs.count; i++)
        if (amp_value_at(model, model->graphs[0].inputs.items[i])->constant == NULL)
            steps->birth[model->graphs[0].inputs.items[i]] = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const struct amp_node *node = amp_node_at(model, steps->items[i].node);
        for (uint32_t k = 0; k < node->n_outputs && !steps->items[i].is_constant; k++)
            if (node->outputs[k] != AMP_NONE)
                steps->birth[node->outputs[k]] = i + 1;
    }
}

static void find_deaths(struct amp_noise_steps *steps, struct amp_arena *arena)
{
    const struct amp_ids *outputs = &steps->model->graphs[0].outputs;
    steps->death = filled(arena, steps->model->n_values, 0);
    for (size_t i = 0; i < steps->count; i++)
        for (size_t k = 0; k < steps->items[i].reads.count; k++)
            steps->death[steps->items[i].reads.items[k]] = i;
    for (size_t i = 0; i < outputs->count; i++)
        steps->death[outputs->items[i]] = SIZE_MAX;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Marks the constant step that makes VALUE. Returns whether one does. */
static bool mark_maker(const struct amp_noise_steps *steps, uint32_t value, bool *marked)
{
    uint32_t producer = amp_value_at(steps->model, value)->producer;
    size_t maker = producer == AMP_NONE ? SIZE_MAX : steps->of_node[producer];
    if (maker == SIZE_MAX || !steps->items[maker].is_constant)
        return false;
    return marked[maker] = true;
}

static bool mark_makers(const struct amp_noise_steps *steps, const struct amp_ids *reads,
                        bool *marked)
{
    bool is_any = false;
    for (size_t k = 0; k < reads->count; k++)
        is_any |= mark_maker(steps, reads->items[k], marked);
    return is_any;
}

static void find_chain(struct amp_noise_steps *steps, size_t step, bool *marked,
                       struct amp_arena *arena)
{
    if (steps->items[step].is_constant || !mark_makers(steps, &steps->items[step].reads, marked))
        return;
    for (size_t i = step; i-- > 0;)
        if (marked[i])
            mark_makers(steps, &steps->items[i].reads, marked);
    for (size_t i = 0; i < step; i++) {
        if (marked[i])
            push(arena, &steps->items[step].chain, (uint32_t)i);
        marked[i] = false;
    }
}

struct amp_noise_steps amp_noise_steps_create(const struct amp_session *session,
                                              struct amp_arena *arena)
{
    struct amp_noise_steps steps = {.model = amp_walk_model(session),
                                    .count = amp_walk_count(session)};
    bool *marked = amp_arena_array(arena, steps.count, sizeof *marked);
    list_steps(&steps, session, arena);
    note_reads(&steps, arena);
    find_first_reads(&steps, arena);
    find_births(&steps, arena);
    find_deaths(&steps, arena);
    for (size_t i = 0; i < steps.count; i++)
        find_chain(&steps, i, marked, arena);
    return steps;
}

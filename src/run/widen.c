/*
 * float16 that is faster in float32: with no more than AVX512-FP16 oneDNN turns every element of a
 * convolution into float32 each time that it is read.
 */
#include "run/widen.h"

#include "ops/dnnl.h"

#include <stdlib.h>

struct search {
    const struct amp_model *model;
    struct amp_uses uses;
    struct amp_step **steps; /* per node: that which runs it; NULL: none */
};

static bool prefers_f32(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(model, step->node);
    return step->op->has_layouts && step->op->effect == AMP_COMPUTES && node->n_outputs == 1 &&
           amp_value_at(model, node->outputs[0])->dtype == AMP_FLOAT16;
}

/* Whether all uses of what STEP gives are by steps that prefer float32 too. */
static bool keeps_wide(const struct search *search, const struct amp_step *step)
{
    const struct amp_step *last = step->n_tail > 0 ? &step->tail[step->n_tail - 1] : step;
    uint32_t value = amp_node_at(search->model, last->node)->outputs[0];
    const struct amp_value *v = amp_value_at(search->model, value);
    uint32_t first = search->uses.first[value], end = search->uses.first[value + 1];
    if (v->is_output || v->dtype != AMP_FLOAT16 || first == end)
        return false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = search->uses.items[i].node;
        const struct amp_step *user = search->steps[node];
        if (user == NULL || !user->prefers_f32 ||
            amp_node_at(search->model, node)->graph != v->graph)
            return false;
    }
    return true;
}

static void note(struct search *search, struct amp_step *step)
{
    search->steps[step->node] = step;
    step->prefers_f32 = prefers_f32(search->model, step);
    for (size_t i = 0; i < step->n_tail; i++)
        search->steps[step->tail[i].node] = step;
}

void amp_plans_widen(const struct amp_model *model, struct amp_arena *arena, struct amp_plan *plans)
{
    struct search search = {.model = model};
    if (amp_dnnl_is_fast(AMP_FLOAT16))
        return;
    search.uses = amp_uses_create(model);
    search.steps = amp_arena_array(arena, model->n_nodes, sizeof *search.steps);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < plans[g].n_steps; i++)
            note(&search, &plans[g].steps[i]);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < plans[g].n_steps; i++) {
            struct amp_step *step = &plans[g].steps[i];
            step->keeps_wide = step->prefers_f32 && keeps_wide(&search, step);
        }
    amp_uses_destroy(&search.uses);
}

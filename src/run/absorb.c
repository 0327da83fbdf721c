/*
 * Chains of elementwise nodes become part of the step before them. Of two steps whose results meet
 * in an addition the later one takes it, when the other operand is there.
 */
#include "run/absorb.h"

#include "core/array.h"
#include "ops/dnnl.h"

#include <stdlib.h>

struct search {
    const struct amp_model *model;
    struct amp_arena *arena;
    struct amp_uses uses;
    struct amp_step **steps; /* per node: that which runs it; NULL: none */
};

static uint32_t output_of(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_step *last = step->n_tail > 0 ? &step->tail[step->n_tail - 1] : step;
    return amp_node_at(model, last->node)->outputs[0];
}

/* The one use of VALUE, by a node of the same graph; false when there are others. */
static bool find_use(const struct search *search, uint32_t value, struct amp_use *use)
{
    const struct amp_value *v = amp_value_at(search->model, value);
    const struct amp_uses *uses = &search->uses;
    if (v->is_output || uses->first[value + 1] - uses->first[value] != 1)
        return false;
    *use = uses->items[uses->first[value]];
    return amp_node_at(search->model, use->node)->graph == v->graph;
}

/* Whether VALUE has been computed when STEP runs. */
static bool is_there(const struct search *search, uint32_t value, const struct amp_step *step)
{
    const struct amp_value *v = amp_value_at(search->model, value);
    uint32_t graph = amp_node_at(search->model, step->node)->graph;
    if (v->producer == AMP_NONE || v->constant != NULL || v->graph != graph)
        return true;
    const struct amp_step *producer = search->steps[v->producer];
    return producer != NULL && producer < step;
}

/* The next node of the chain of STEP, with what it does. */
static bool find_next(const struct search *search, const struct amp_step *step, struct amp_use *use,
                      struct amp_post *post)
{
    if (!find_use(search, output_of(search->model, step), use))
        return false;
    const struct amp_node *node = amp_node_at(search->model, use->node);
    const struct amp_step *own = search->steps[use->node];
    return own != NULL && own->node == use->node && own->n_tail == 0 &&
           amp_post_of(search->model, node, use->slot, post) &&
           (post->kind != AMP_POST_BINARY || is_there(search, node->inputs[post->in], step));
}

static void absorb_chain(struct search *search, struct amp_step *step)
{
    struct amp_use use;
    struct amp_post post;
    if (!step->op->fuses || step->is_constant ||
        amp_node_at(search->model, step->node)->n_outputs != 1)
        return;
    while (step->n_tail < AMP_POSTS_MAX && find_next(search, step, &use, &post)) {
        if (step->tail == NULL) {
            step->tail = amp_arena_array(search->arena, AMP_POSTS_MAX, sizeof *step->tail);
            step->posts = amp_arena_array(search->arena, AMP_POSTS_MAX, sizeof *step->posts);
        }
        struct amp_step *own = search->steps[use.node];
        step->tail[step->n_tail] = *own;
        step->posts[step->n_tail++] = post;
        own->op = NULL;
        search->steps[use.node] = step;
    }
}

static void absorb_graph(struct search *search, struct amp_plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].op != NULL)
            absorb_chain(search, &plan->steps[i]);
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].op != NULL)
            plan->steps[kept++] = plan->steps[i];
    plan->n_steps = kept;
}

void amp_plans_absorb(const struct amp_model *model, struct amp_arena *arena,
                      struct amp_plan *plans)
{
    struct search search = {.model = model, .arena = arena, .uses = amp_uses_create(model)};
    search.steps = amp_arena_array(arena, model->n_nodes, sizeof *search.steps);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < plans[g].n_steps; i++)
            search.steps[plans[g].steps[i].node] = &plans[g].steps[i];
    for (size_t g = 0; g < model->n_graphs; g++)
        absorb_graph(&search, &plans[g]);
    amp_uses_destroy(&search.uses);
}

/*
 * How steps take what others give: where nobody wants it row-major, a Transpose need not move
 * anything, and a matrix product can lie as the Transpose after it wants it.
 */
#include "run/taking.h"

struct search {
    const struct amp_model *model;
    struct amp_uses uses;
    struct amp_step **steps; /* per node that no other absorbed; NULL: none */
};

static uint32_t output_of(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_step *last = step->n_tail > 0 ? &step->tail[step->n_tail - 1] : step;
    return amp_node_at(model, last->node)->outputs[0];
}

static bool is_one_constant(const struct amp_model *model, uint32_t value)
{
    const struct amp_tensor *tensor =
        value == AMP_NONE ? NULL : amp_value_at(model, value)->constant;
    return tensor != NULL && amp_shape_count(&tensor->shape) == 1;
}

/* Whether STEP leaves the elements of its input SLOT where they are, for others who take it in any
   layout. */
static bool passes_on(const struct search *search, const struct amp_step *step, uint32_t slot)
{
    const struct amp_node *node = amp_node_at(search->model, step->node);
    bool passes = step->op->is_elementwise && step->n_tail == 0 && step->taking.any_layout;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        passes &= i == slot || is_one_constant(search->model, node->inputs[i]);
    return passes;
}

static bool takes_any_layout(const struct search *search, const struct amp_use *use, uint32_t graph)
{
    const struct amp_step *step = search->steps[use->node];
    if (step == NULL || amp_node_at(search->model, use->node)->graph != graph)
        return false;
    return step->op->has_layouts || step->op->has_strides || passes_on(search, step, use->slot);
}

/* Of a step whose takers have been seen. */
static void note(const struct search *search, struct amp_step *step)
{
    const struct amp_model *model = search->model;
    uint32_t value = output_of(model, step);
    const struct amp_value *v = value == AMP_NONE ? NULL : amp_value_at(model, value);
    if (v == NULL || v->is_output)
        return;
    const struct amp_use *uses = &search->uses.items[search->uses.first[value]];
    size_t n = search->uses.first[value + 1] - search->uses.first[value];
    step->taking.any_layout = n > 0;
    for (size_t i = 0; i < n; i++)
        step->taking.any_layout &= takes_any_layout(search, &uses[i], v->graph);
    const struct amp_node *taker = n == 1 ? amp_node_at(model, uses[0].node) : NULL;
    if (taker != NULL && taker->graph == v->graph && amp_node_is(taker, "", "Transpose"))
        step->taking.order = amp_node_ints(taker, "perm", &step->taking.n_order);
}

void amp_plans_note_taking(const struct amp_model *model, struct amp_arena *arena,
                           struct amp_plan *plans)
{
    struct search search = {.model = model,
                            .uses = amp_uses_create(model),
                            .steps = amp_arena_array(arena, model->n_nodes, sizeof *search.steps)};
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < plans[g].n_steps; i++)
            search.steps[plans[g].steps[i].node] = &plans[g].steps[i];
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = plans[g].n_steps; i-- > 0;)
            note(&search, &plans[g].steps[i]);
    amp_uses_destroy(&search.uses);
}

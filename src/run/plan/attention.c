/*
 * Finds attention: a matrix product whose result goes, by itself and row by row, through a Softmax
 * into the next matrix product. The steps before that become its lead.
 */
#include "run/plan/uses.h"

/* Steps, each the only use of what the one before it gives. */
struct sequence {
    struct amp_step *steps[AMP_SLICED_STEPS_MAX];
    uint32_t slots[AMP_SLICED_STEPS_MAX]; /* which input is what the step before gives */
    size_t n;
    bool has_softmax;
};

static bool is_product(const struct amp_planning *planning, const struct amp_step *step)
{
    return amp_node_has_role(amp_node_at(planning->model, step->node), AMP_ROLE_MATMUL);
}

/* Whether each element that STEP gives comes from that of the scores, and of operands that
   broadcast to them: before version 7 an attribute lined those up. */
static bool is_elementwise(const struct amp_planning *planning, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(planning->model, step->node);
    if (amp_node_has_role(node, AMP_ROLE_CAST))
        return true;
    return step->op->is_elementwise && !step->op->shares_input && !step->op->has_layouts &&
           (node->n_inputs == 1 || !amp_broadcasts_by_attributes(node));
}

/* Whether STEP may be one of a sequence at all. */
static bool is_fit(const struct amp_planning *planning, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(planning->model, step->node);
    bool is_fit = !step->is_constant && step->slices == NULL && node->n_outputs == 1 &&
                  node->n_inputs <= AMP_SLICED_INPUTS_MAX;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        is_fit &= node->inputs[i] != AMP_NONE;
    return is_fit;
}

static void add(struct sequence *sequence, struct amp_step *step, uint32_t slot)
{
    sequence->steps[sequence->n] = step;
    sequence->slots[sequence->n++] = slot;
}

/* Whether the Cast NODE is read by who uses what it would give. */
static bool is_read_through(const struct amp_planning *planning, uint32_t node)
{
    const struct amp_step *step = planning->steps[node];
    for (size_t i = 0; step != NULL && i < step->n_casts; i++)
        if (step->casts[i]->node == node)
            return true;
    return false;
}

/* The step for which VALUE is input *SLOT, and for which alone it is there. NULL: there is none. */
static struct amp_step *find_reader(const struct amp_planning *planning, uint32_t value,
                                    uint32_t *slot)
{
    struct amp_use use;
    if (!amp_uses_only(planning->model, &planning->uses, value, &use))
        return NULL;
    if (is_read_through(planning, use.node) &&
        !amp_uses_only(planning->model, &planning->uses,
                       amp_node_at(planning->model, use.node)->outputs[0], &use))
        return NULL;
    *slot = use.slot;
    return amp_planning_own(planning, use.node);
}

/* Adds the step that follows; *IS_DONE: it is the last. False: there is none that fits. */
static bool find_next(const struct amp_planning *planning, struct sequence *sequence, bool *is_done)
{
    uint32_t slot, value = amp_step_output(planning->model, sequence->steps[sequence->n - 1]);
    struct amp_step *step = find_reader(planning, value, &slot);
    if (sequence->n == AMP_SLICED_STEPS_MAX || step == NULL || !is_fit(planning, step))
        return false;
    bool is_softmax = amp_node_has_role(amp_node_at(planning->model, step->node), AMP_ROLE_SOFTMAX);
    *is_done = is_product(planning, step) && slot == 0 && sequence->has_softmax;
    sequence->has_softmax |= is_softmax;
    if (!is_softmax && !*is_done && !is_elementwise(planning, step))
        return false;
    add(sequence, step, slot);
    return true;
}

/* Makes PART, which takes SLOT from the step before it, a part of SLICES; false: it cannot be. */
static bool slice_part(const struct amp_planning *planning, struct amp_step *part, uint32_t slot,
                       struct amp_slices *slices)
{
    bool can_be = is_fit(planning, part) && is_elementwise(planning, part);
    part->slices = slices;
    part->sliced = (struct amp_sliced){.op = part->op, .slot = slot};
    return can_be;
}

/* Makes the tail of STEP a part of SLICES; not that of the last step, which runs after them. */
static void slice_tail(const struct amp_planning *planning, struct amp_step *step,
                       struct amp_slices *slices)
{
    step->can_split_slices = true;
    for (size_t i = 0; i < step->n_tail && !step->sliced.is_last; i++) {
        uint32_t slot = step->posts[i].kind == AMP_POST_BINARY ? 1 - step->posts[i].in : 0;
        step->can_split_slices &= slice_part(planning, &step->tail[i], slot, slices);
    }
}

/* Makes the cast through which STEP reads what the step before it gives, VALUE, a part of SLICES.
 */
static void slice_cast(const struct amp_planning *planning, const struct amp_step *step,
                       uint32_t value, struct amp_slices *slices)
{
    for (size_t i = 0; i < step->n_casts; i++)
        if (amp_node_at(planning->model, step->casts[i]->node)->inputs[0] == value)
            slice_part(planning, step->casts[i], 0, slices);
}

static void slice(const struct amp_planning *planning, const struct sequence *sequence)
{
    size_t n = sequence->n;
    for (size_t i = 0; i < sequence->n; i++)
        n += sequence->steps[i]->n_tail + sequence->steps[i]->n_casts;
    struct amp_slices *slices = amp_slices_create(planning->arena, n);
    for (size_t i = 0; i < sequence->n; i++) {
        struct amp_step *step = sequence->steps[i];
        step->sliced = (struct amp_sliced){step->op, sequence->slots[i], i + 1 == sequence->n,
                                           step->keeps_wide};
        slice_tail(planning, step, slices);
        if (i > 0)
            slice_cast(planning, step, amp_step_output(planning->model, sequence->steps[i - 1]),
                       slices);
        step->slices = slices;
    }
}

static void lead(struct amp_arena *arena, const struct sequence *sequence)
{
    size_t n = sequence->n - 1;
    struct amp_step *last = sequence->steps[n];
    last->lead = amp_arena_array(arena, n, sizeof *last->lead);
    last->n_lead = n;
    for (size_t i = 0; i < n; i++) {
        last->lead[i] = *sequence->steps[i];
        sequence->steps[i]->op = NULL;
    }
}

static void find_attention(const struct amp_planning *planning, struct amp_step *first)
{
    struct sequence sequence = {.n = 0};
    bool is_done = false;
    if (first->op == NULL || !is_fit(planning, first) || !is_product(planning, first))
        return;
    add(&sequence, first, 0);
    while (!is_done)
        if (!find_next(planning, &sequence, &is_done))
            return;
    slice(planning, &sequence);
    lead(planning->arena, &sequence);
}

void amp_plan_lead(struct amp_planning *planning)
{
    for (size_t g = 0; g < planning->model->n_graphs; g++)
        for (size_t i = 0; i < planning->plans[g].n_steps; i++)
            find_attention(planning, &planning->plans[g].steps[i]);
    amp_planning_compact(planning);
}

/*
 * Finds attention: a matrix product whose result, the scores, goes through a Softmax over the last
 * axis into the next matrix product, with elementwise steps in between, each step the only reader
 * of the one before. The steps that compute the scores become part of the last product's step, and
 * each is told what it is in the sequence, so that the session can run them slice by slice. Takes
 * steps with their post-ops and casts.
 */
#include "run/plan/attention.h"

#include "ops/dnnl/post_op.h"

/* Steps, each the only reader of what the one before it computes. */
struct sequence {
    struct amp_step *steps[AMP_ATTENTION_STEPS_MAX];
    uint32_t scores_in[AMP_ATTENTION_STEPS_MAX]; /* the input that the step before computes */
    size_t n;
    bool has_softmax;
};

static bool is_product(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    return amp_node_has_role(amp_node_at(builder->model, step->node), AMP_ROLE_MATMUL);
}

/* Whether each element of STEP's output comes from the same element of the scores and of operands
   that broadcast to them. Before version 7 an attribute lined operands up. */
static bool is_elementwise(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(builder->model, step->node);
    if (amp_node_has_role(node, AMP_ROLE_CAST))
        return true;
    return step->op->is_elementwise && (node->n_inputs == 1 || !amp_broadcasts_by_attributes(node));
}

/* Whether STEP has the inputs of a part of attention. */
static bool can_be_part(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(builder->model, step->node);
    bool can_be = !step->is_constant && !step->attention.is_part &&
                  node->n_inputs <= AMP_ATTENTION_INPUTS_MAX;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        can_be &= node->inputs[i] != AMP_NONE;
    return can_be;
}

static void add(struct sequence *sequence, struct amp_step *step, uint32_t scores_in)
{
    sequence->steps[sequence->n] = step;
    sequence->scores_in[sequence->n++] = scores_in;
}

/* Whether the readers of the Cast NODE read what it casts. */
static bool is_read_through(const struct amp_plan_builder *builder, uint32_t node)
{
    const struct amp_step *step = builder->steps[node];
    for (size_t i = 0; step != NULL && i < step->n_casts; i++)
        if (step->casts[i]->node == node)
            return true;
    return false;
}

/* The only step that reads VALUE, as its input *SLOT. NULL: there are several, or none. */
static struct amp_step *find_reader(const struct amp_plan_builder *builder, uint32_t value,
                                    uint32_t *slot)
{
    struct amp_use use;
    if (!amp_uses_only(builder->model, &builder->uses, value, &use))
        return NULL;
    if (is_read_through(builder, use.node) &&
        !amp_uses_only(builder->model, &builder->uses,
                       amp_node_at(builder->model, use.node)->outputs[0], &use))
        return NULL;
    *slot = use.slot;
    return amp_plan_builder_own(builder, use.node);
}

/* Adds the step that follows; *IS_DONE says whether it is the last. False: it is no part of
   attention. */
static bool find_next(const struct amp_plan_builder *builder, struct sequence *sequence,
                      bool *is_done)
{
    uint32_t slot, value = amp_step_output(builder->model, sequence->steps[sequence->n - 1]);
    struct amp_step *step = find_reader(builder, value, &slot);
    if (sequence->n == AMP_ATTENTION_STEPS_MAX || step == NULL || !can_be_part(builder, step))
        return false;
    bool is_softmax = amp_node_has_role(amp_node_at(builder->model, step->node), AMP_ROLE_SOFTMAX);
    *is_done = is_product(builder, step) && slot == 0 && sequence->has_softmax;
    sequence->has_softmax |= is_softmax;
    if (!is_softmax && !*is_done && !is_elementwise(builder, step))
        return false;
    add(sequence, step, slot);
    return true;
}

/* Makes PART a part that reads the scores as input SCORES_IN; false: it cannot be one. */
static bool mark_part(const struct amp_plan_builder *builder, struct amp_step *part,
                      uint32_t scores_in)
{
    part->attention = (struct amp_attention_part){.is_part = true, .scores_in = scores_in};
    return is_elementwise(builder, part);
}

/* Makes the post-ops of STEP parts, for when its kernel has none. The post-ops of the last step
   run after the slices. */
static void mark_post_ops(const struct amp_plan_builder *builder, struct amp_step *step)
{
    step->attention.can_split_posts = true;
    for (size_t i = 0; i < step->n_posts && !step->attention.is_last; i++) {
        uint32_t in = step->posts[i].kind == AMP_POST_BINARY ? 1 - step->posts[i].in : 0;
        step->attention.can_split_posts &= mark_part(builder, &step->post_steps[i], in);
    }
}

/* Makes the Cast through which STEP reads VALUE, the result of the step before it, a part. */
static void mark_cast(const struct amp_plan_builder *builder, const struct amp_step *step,
                      uint32_t value)
{
    for (size_t i = 0; i < step->n_casts; i++)
        if (amp_node_at(builder->model, step->casts[i]->node)->inputs[0] == value)
            mark_part(builder, step->casts[i], 0);
}

static void mark_parts(const struct amp_plan_builder *builder, const struct sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++) {
        struct amp_step *step = sequence->steps[i];
        step->attention = (struct amp_attention_part){.is_last = i + 1 == sequence->n,
                                                      .scores_in = sequence->scores_in[i]};
        mark_post_ops(builder, step);
        if (i > 0)
            mark_cast(builder, step, amp_step_output(builder->model, sequence->steps[i - 1]));
        step->attention.is_part = true;
    }
}

/* Makes all steps but the last one part of that. */
static void join(struct amp_arena *arena, const struct sequence *sequence)
{
    size_t n = sequence->n - 1;
    struct amp_step *last = sequence->steps[n];
    last->scores = amp_arena_array(arena, n, sizeof *last->scores);
    last->n_scores = n;
    for (size_t i = 0; i < n; i++) {
        last->scores[i] = *sequence->steps[i];
        sequence->steps[i]->op = NULL;
    }
}

static void find_attention(const struct amp_plan_builder *builder, struct amp_step *first)
{
    struct sequence sequence = {.n = 0};
    bool is_done = false;
    if (!can_be_part(builder, first) || !is_product(builder, first))
        return;
    add(&sequence, first, 0);
    while (!is_done)
        if (!find_next(builder, &sequence, &is_done))
            return;
    mark_parts(builder, &sequence);
    join(builder->arena, &sequence);
}

void amp_plan_find_attention(struct amp_plan_builder *builder)
{
    for (size_t g = 0; g < builder->model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++)
            find_attention(builder, &builder->graphs[g].steps[i]);
    amp_plan_builder_compact(builder);
}

/*
 * Answers what a step of a plan gives and reads, for those who plan and those who run: takes the
 * step and its model, gives ids of values. It changes nothing.
 */
#include "run/plan/step.h"

#include "ops/dnnl/post_op.h"

uint32_t amp_step_output(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_step *last = step->n_posts > 0 ? &step->post_steps[step->n_posts - 1] : step;
    const struct amp_node *node = amp_node_at(model, last->node);
    return node->n_outputs > 0 ? node->outputs[0] : AMP_NONE;
}

bool amp_step_stays_wide(const struct amp_step *step, size_t n_posts)
{
    return n_posts == step->n_posts ? step->stores_f32 : step->prefers_f32;
}

bool amp_step_is_last_use(const struct amp_step *step, uint32_t value)
{
    for (size_t i = 0; i < step->last_uses.count; i++)
        if (step->last_uses.items[i] == value)
            return true;
    return false;
}

uint32_t amp_step_operand(const struct amp_model *model, const struct amp_step *step, size_t i)
{
    const struct amp_node *node = amp_node_at(model, step->post_steps[i].node);
    return step->posts[i].kind == AMP_POST_BINARY ? node->inputs[step->posts[i].in] : AMP_NONE;
}

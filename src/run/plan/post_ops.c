/*
 * Makes chains of elementwise nodes post-ops of the step whose result they are the only use of.
 * Where the results of two steps meet in an addition, this is a post-op of the later step. It
 * assumes sorted steps, and does not know whether oneDNN has a kernel for such a step: it may run
 * the post-ops as steps of their own.
 */
#include "run/plan/post_ops.h"

#include "ops/dnnl/post_op.h"

/* Whether VALUE has been computed when STEP runs. */
static bool is_there(const struct amp_plan_builder *builder, uint32_t value,
                     const struct amp_step *step)
{
    const struct amp_value *v = amp_value_at(builder->model, value);
    uint32_t graph = amp_node_at(builder->model, step->node)->graph;
    if (v->producer == AMP_NONE || v->constant != NULL || v->graph != graph)
        return true;
    const struct amp_step *producer = builder->steps[v->producer];
    return producer != NULL && producer < step;
}

/* Whether VALUE is no constant with an infinity or a NaN. */
static bool is_finite(const struct amp_model *model, uint32_t value)
{
    const struct amp_tensor *tensor =
        value == AMP_NONE ? NULL : amp_value_at(model, value)->constant;
    return tensor == NULL || tensor->data == NULL || !amp_dtype_is_autocast(tensor->dtype) ||
           amp_dtype_is_finite(tensor->dtype, tensor->data, amp_tensor_count(tensor));
}

static bool has_finite_constants(const struct amp_plan_builder *builder,
                                 const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(builder->model, step->node);
    bool is_all = true;
    for (uint32_t i = 0; i < node->n_inputs && is_all; i++)
        is_all = is_finite(builder->model, node->inputs[i]);
    for (size_t i = 0; i < step->n_posts && is_all; i++)
        is_all = is_finite(builder->model, amp_step_operand(builder->model, step, i));
    return is_all;
}

/* Whether what NODE, the next of the chain of STEP, gives may have the shape of STEP's result.
   Where the other operand is broadcast to more elements than that has, as channels of an image are
   by the weights that it was squeezed to, it does not. A dim is only unknown behind a known one
   where that is 1. */
static bool keeps_shape(const struct amp_model *model, const struct amp_step *step,
                        const struct amp_node *node)
{
    const struct amp_value *before = amp_value_at(model, amp_step_output(model, step));
    const struct amp_value *after = amp_value_at(model, node->outputs[0]);
    bool keeps = before->rank == after->rank || before->rank < 0 || after->rank < 0;
    for (int d = 0; d < before->rank && d < after->rank && keeps; d++)
        keeps = before->dims[d] < 0 || before->dims[d] == after->dims[d];
    return keeps;
}

/* The next node of the chain of STEP, with what it does. */
static bool find_next(const struct amp_plan_builder *builder, const struct amp_step *step,
                      struct amp_use *use, struct amp_post *post)
{
    if (!amp_uses_only(builder->model, &builder->uses, amp_step_output(builder->model, step), use))
        return false;
    const struct amp_node *node = amp_node_at(builder->model, use->node);
    const struct amp_step *own = amp_plan_builder_own(builder, use->node);
    return own != NULL && own->n_posts == 0 && amp_post_of(builder->model, node, use->slot, post) &&
           (post->kind != AMP_POST_BINARY || is_there(builder, node->inputs[post->in], step)) &&
           keeps_shape(builder->model, step, node) &&
           (!amp_post_hides_nan(post) || has_finite_constants(builder, step));
}

static void add_post_ops(struct amp_plan_builder *builder, struct amp_step *step)
{
    struct amp_use use;
    struct amp_post post;
    if (!step->op->fuses || step->is_constant ||
        amp_node_at(builder->model, step->node)->n_outputs != 1)
        return;
    while (step->n_posts < AMP_POSTS_MAX && find_next(builder, step, &use, &post)) {
        if (step->post_steps == NULL) {
            step->post_steps =
                amp_arena_array(builder->arena, AMP_POSTS_MAX, sizeof *step->post_steps);
            step->posts = amp_arena_array(builder->arena, AMP_POSTS_MAX, sizeof *step->posts);
        }
        struct amp_step *own = builder->steps[use.node];
        step->post_steps[step->n_posts] = *own;
        step->posts[step->n_posts++] = post;
        own->op = NULL;
        builder->steps[use.node] = step;
    }
}

void amp_plan_add_post_ops(struct amp_plan_builder *builder)
{
    for (size_t g = 0; g < builder->model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++)
            if (builder->graphs[g].steps[i].op != NULL)
                add_post_ops(builder, &builder->graphs[g].steps[i]);
    amp_plan_builder_compact(builder);
}

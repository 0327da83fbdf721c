/*
 * Elides Casts between float32, float16 and bfloat16 that all readers can do while they read: gives
 * each reader the Cast as a part of its step. A primitive that reorders its input casts it for
 * free; a kernel that computes in float32 casts whatever it reads. Which inputs can be read so,
 * operators say (ops/op.h, reads_casts and reads_widened).
 */
#include "run/plan/cast_elision.h"

#include "ops/dnnl/post_op.h"

/* Whether NODE casts one of float32, float16 and bfloat16 to another. */
static bool is_float_cast(const struct amp_model *model, const struct amp_node *node)
{
    return amp_node_has_role(node, AMP_ROLE_CAST) &&
           amp_dtype_is_autocast(amp_value_at(model, node->inputs[0])->dtype) &&
           amp_dtype_is_autocast(amp_value_at(model, node->outputs[0])->dtype);
}

/* Whether STEP reads input SLOT of the node NODE that it absorbed as the operand of a post-op. */
static bool is_operand(const struct amp_step *step, uint32_t node, uint32_t slot)
{
    for (size_t i = 0; i < step->n_posts; i++)
        if (step->post_steps[i].node == node)
            return step->posts[i].kind == AMP_POST_BINARY && step->posts[i].in == slot;
    return false;
}

/* Whether USE, of what CAST gives, can be of what it takes. */
static bool can_read(const struct amp_plan_builder *builder, const struct amp_node *cast,
                     const struct amp_use *use)
{
    const struct amp_step *step = builder->steps[use->node];
    if (step == NULL || amp_node_at(builder->model, use->node)->graph != cast->graph)
        return false;
    if (step->node != use->node)
        return is_operand(step, use->node, use->slot);
    bool widens = amp_value_at(builder->model, cast->outputs[0])->dtype == AMP_FLOAT;
    uint32_t inputs = step->op->reads_casts | (widens ? step->op->reads_widened : 0);
    return use->slot < 32 && (inputs >> use->slot & 1) != 0;
}

static bool can_all_read(const struct amp_plan_builder *builder, const struct amp_node *cast)
{
    uint32_t value = cast->outputs[0];
    uint32_t first = builder->uses.first[value], end = builder->uses.first[value + 1];
    bool can = !amp_value_at(builder->model, value)->is_output && first < end;
    for (uint32_t i = first; i < end && can; i++)
        can = can_read(builder, cast, &builder->uses.items[i]);
    return can;
}

static void add_cast(const struct amp_plan_builder *builder, struct amp_step *step,
                     struct amp_step *cast)
{
    for (size_t i = 0; i < step->n_casts; i++)
        if (step->casts[i] == cast)
            return;
    struct amp_step **slot = amp_arena_push(builder->arena, &step->casts, &step->n_casts,
                                            &step->casts_capacity, sizeof *slot);
    *slot = cast;
}

/* Makes the step CAST part of all that use it. */
static void give_away(const struct amp_plan_builder *builder, struct amp_step *cast)
{
    struct amp_step *kept = amp_arena_memdup(builder->arena, cast, sizeof *cast);
    uint32_t value = amp_node_at(builder->model, cast->node)->outputs[0];
    for (uint32_t i = builder->uses.first[value]; i < builder->uses.first[value + 1]; i++)
        add_cast(builder, builder->steps[builder->uses.items[i].node], kept);
    cast->op = NULL;
}

void amp_plan_elide_casts(struct amp_plan_builder *builder)
{
    for (size_t g = 0; g < builder->model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++) {
            struct amp_step *step = &builder->graphs[g].steps[i];
            const struct amp_node *node = amp_node_at(builder->model, step->node);
            if (!step->is_constant && is_float_cast(builder->model, node) &&
                can_all_read(builder, node))
                give_away(builder, step);
        }
    amp_plan_builder_compact(builder);
}

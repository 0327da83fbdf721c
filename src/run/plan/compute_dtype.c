/*
 * Chooses the steps that compute a lower dtype in float32, because this CPU does that faster:
 * without AMX-FP16 oneDNN converts every element of a convolution in float16 to float32 each time
 * that it is read; a product of a row by few weights is over before oneDNN has begun; and where the
 * CPU does not compute in a dtype at all, weights are widened once, and post-ops are done in
 * float32 too. What lies between such steps and has a kernel in any dtype joins them, and casts
 * before them, so that values stay as wide, and in the layouts, as they are computed in. Takes
 * steps with their post-ops and casts; notes also which results stay float32 between them.
 */
#include "run/plan/compute_dtype.h"

#include "core/cpu.h"
#include "ops/matmul/row_product.h"

#include <stdlib.h>

/* The dtype of output 0 of NODE where it is lower; else AMP_UNDEFINED. */
static enum amp_dtype lower_dtype(const struct amp_model *model, const struct amp_node *node)
{
    const struct amp_value *value = node->n_outputs == 0 || node->outputs[0] == AMP_NONE
                                        ? NULL
                                        : amp_value_at(model, node->outputs[0]);
    return value != NULL && amp_dtype_is_lower(value->dtype) ? value->dtype : AMP_UNDEFINED;
}

/* Whether all that NODE gives is of DTYPE. */
static bool gives_only(const struct amp_model *model, const struct amp_node *node,
                       enum amp_dtype dtype)
{
    bool does = true;
    for (uint32_t i = 0; i < node->n_outputs && does; i++)
        does = node->outputs[i] == AMP_NONE ||
               (amp_value_at(model, node->outputs[i])->dtype == dtype &&
                amp_value_at(model, node->outputs[i])->kind == AMP_KIND_TENSOR);
    return does;
}

/* Whether STEP multiplies a row or two by few weights, in any dtype: a kernel of oneDNN's takes
   longer to begin than that takes in float32. */
static bool is_small_product(const struct amp_model *model, const struct amp_step *step)
{
    enum { WEIGHTS = 1 << 14 };
    const struct amp_node *node = amp_node_at(model, step->node);
    const struct amp_tensor *weights =
        step->op->reads_lower != NULL ? amp_value_at(model, node->inputs[1])->constant : NULL;
    struct amp_shape y;
    amp_value_shape(amp_value_at(model, node->outputs[0]), &y);
    return weights != NULL && amp_row_product_is_there() && amp_tensor_count(weights) <= WEIGHTS &&
           amp_shape_is_known(&y) && y.rank > 0 &&
           amp_shape_product(&y, 0, y.rank - 1) <= AMP_ROWS_MAX;
}

/* Chooses for STEP; IS_STRICT: what it computes is rounded whatever the reason. */
static void choose(const struct amp_model *model, struct amp_step *step, bool is_strict)
{
    const struct amp_op *op = step->op;
    const struct amp_node *node = amp_node_at(model, step->node);
    enum amp_dtype dtype = lower_dtype(model, node);
    if (op->effect != AMP_COMPUTES || dtype == AMP_UNDEFINED || !gives_only(model, node, dtype))
        return;
    bool is_slow = op->has_layouts && dtype == AMP_FLOAT16 && !amp_cpu_has(AMP_CPU_FAST_F16);
    step->lacks_dtype = !is_slow && !amp_cpu_is_native(dtype) &&
                        (op->has_layouts || op->has_strides || op->native & AMP_BY_DNNL);
    bool is_small = is_small_product(model, step);
    step->prefers_f32 = is_slow || is_small || step->lacks_dtype;
    step->rounds_f32 = (step->lacks_dtype || is_small || (is_slow && is_strict)) &&
                       !(op->picks && step->n_posts == 0);
}

/* ---- what stays float32 ---------------------------------------------------------------------- */

/* Whether the node ID, of STEP, reads float32 as well as the lower dtype: computes in it, or would
   have widened what it reads. */
static bool takes_wide(const struct amp_model *model, const struct amp_step *step, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    bool widens = amp_node_has_role(node, AMP_ROLE_CAST) &&
                  amp_value_at(model, node->outputs[0])->dtype == AMP_FLOAT;
    return step != NULL && (step->prefers_f32 || widens);
}

/* Whether all uses of VALUE are by steps that take float32. */
static bool is_read_wide(const struct amp_plan_builder *builder, uint32_t value)
{
    const struct amp_value *v = amp_value_at(builder->model, value);
    uint32_t first = builder->uses.first[value], end = builder->uses.first[value + 1];
    if (v->is_output || !amp_dtype_is_lower(v->dtype) || first == end)
        return false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = builder->uses.items[i].node;
        if (!takes_wide(builder->model, builder->steps[node], node) ||
            amp_node_at(builder->model, node)->graph != v->graph)
            return false;
    }
    return true;
}

/* Whether what STEP gives stays float32. */
static bool stores_f32(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(builder->model, step->node);
    bool does = step->prefers_f32;
    if (step->n_posts > 0)
        return does && is_read_wide(builder, amp_step_output(builder->model, step));
    for (uint32_t i = 0; i < node->n_outputs && does; i++)
        does = node->outputs[i] == AMP_NONE || is_read_wide(builder, node->outputs[i]);
    return does;
}

/* ---- what joins them ------------------------------------------------------------------------- */

/* Whether STEP casts float32 to a lower dtype: where all readers take float32, it only rounds. */
static bool narrows(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(model, step->node);
    return amp_node_has_role(node, AMP_ROLE_CAST) &&
           amp_value_at(model, node->inputs[0])->dtype == AMP_FLOAT;
}

/* Whether STEP could work in float32 as well as in the lower dtype that it is in. */
static bool may_join(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_op *op = step->op;
    const struct amp_node *node = amp_node_at(model, step->node);
    enum amp_dtype dtype = lower_dtype(model, node);
    bool may = dtype != AMP_UNDEFINED && !amp_cpu_is_native(dtype) && !step->prefers_f32 &&
               !step->is_constant &&
               (op->effect == AMP_PRESERVES_VALUES || amp_op_keeps_places(op));
    return may && gives_only(model, node, dtype);
}

/* Whether what STEP, which has joined, reads comes as float32, but for constants and integers. */
static bool reads_wide(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    const struct amp_model *model = builder->model;
    const struct amp_node *node = amp_node_at(model, step->node);
    bool is_any = false;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_value *value =
            node->inputs[i] == AMP_NONE ? NULL : amp_value_at(model, node->inputs[i]);
        if (value == NULL || value->constant != NULL ||
            amp_dtype_class(value->dtype) != AMP_CLASS_FLOAT)
            continue;
        const struct amp_step *source =
            value->producer == AMP_NONE ? NULL : builder->steps[value->producer];
        if (source != NULL && source->is_constant)
            continue;
        if (source == NULL || !stores_f32(builder, source))
            return false;
        is_any = true;
    }
    return is_any;
}

/* Whether STEP, which has joined, has float32 beside it: a cast behind it, others before. */
static bool stays(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    return narrows(builder->model, step) ? stores_f32(builder, step) : reads_wide(builder, step);
}

/* Parts company with those of the joined steps of GRAPH that something between them keeps from
   reading float32; whether there were any. */
static bool leave(struct amp_plan_builder *builder, const bool *has_joined, uint32_t graph)
{
    bool any = false;
    for (size_t i = 0; i < builder->graphs[graph].n_steps; i++) {
        struct amp_step *step = &builder->graphs[graph].steps[i];
        if (!has_joined[step->node] || !step->prefers_f32 || stays(builder, step))
            continue;
        step->prefers_f32 = step->rounds_f32 = false;
        any = true;
    }
    return any;
}

/* Lets all join that may, then leave that had better, until the others stay. */
static void join(struct amp_plan_builder *builder, uint32_t graph)
{
    bool *has_joined = amp_xcalloc(builder->model->n_nodes, sizeof *has_joined);
    for (size_t i = 0; i < builder->graphs[graph].n_steps; i++) {
        struct amp_step *step = &builder->graphs[graph].steps[i];
        if (!may_join(builder->model, step))
            continue;
        has_joined[step->node] = step->prefers_f32 = true;
        step->rounds_f32 = step->op->effect != AMP_PRESERVES_VALUES && !step->op->picks;
    }
    while (leave(builder, has_joined, graph))
        ;
    free(has_joined);
}

/* The post-ops of STEP, where they run as steps of their own, have float32 from it and among
   themselves, as they have where one kernel does all. */
static void share_with_posts(const struct amp_step *step)
{
    for (size_t i = 0; i < step->n_posts; i++) {
        struct amp_step *post = &step->post_steps[i];
        bool is_last = i + 1 == step->n_posts;
        post->prefers_f32 = step->prefers_f32;
        post->lacks_dtype = step->lacks_dtype;
        post->stores_f32 = step->prefers_f32 && (!is_last || step->stores_f32);
        post->rounds_f32 = is_last && step->rounds_f32;
    }
}

void amp_plan_choose_dtypes(struct amp_plan_builder *builder, bool is_strict)
{
    const struct amp_model *model = builder->model;
    for (uint32_t g = 0; g < model->n_graphs; g++) {
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++)
            choose(model, &builder->graphs[g].steps[i], is_strict);
        join(builder, g);
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++) {
            struct amp_step *step = &builder->graphs[g].steps[i];
            step->stores_f32 = stores_f32(builder, step);
            share_with_posts(step);
        }
    }
}

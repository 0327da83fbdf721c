/*
 * Chooses the steps that compute a lower dtype in float32, because this CPU does that faster:
 * without AMX-FP16 oneDNN converts every element of a convolution in float16 to float32 each time
 * that it is read; and where the CPU does not compute in a dtype at all, products with constant
 * weights are widened once, and do their post-ops in float32 too. Takes steps with their post-ops
 * and casts; notes also which results stay float32 between them.
 */
#include "run/plan/compute_dtype.h"

#include "core/cpu.h"

static bool has_constant_weights(const struct amp_model *model, const struct amp_node *node)
{
    return node->n_inputs > 1 && node->inputs[1] != AMP_NONE &&
           amp_value_at(model, node->inputs[1])->constant != NULL;
}

static void choose(const struct amp_model *model, struct amp_step *step)
{
    const struct amp_op *op = step->op;
    const struct amp_node *node = amp_node_at(model, step->node);
    if (op->effect != AMP_COMPUTES || node->n_outputs != 1)
        return;
    enum amp_dtype dtype = amp_value_at(model, node->outputs[0])->dtype;
    bool is_slow = op->has_layouts && dtype == AMP_FLOAT16 && !amp_cpu_has(AMP_CPU_FAST_F16);
    step->lacks_dtype = !is_slow && amp_dtype_is_lower(dtype) && !amp_cpu_is_native(dtype) &&
                        (op->has_layouts || op->has_strides) && has_constant_weights(model, node);
    step->prefers_f32 = is_slow || step->lacks_dtype;
}

/* Whether all uses of what STEP gives are by steps that prefer float32 too. */
static bool stores_f32(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    uint32_t value = amp_step_output(builder->model, step);
    const struct amp_value *v = amp_value_at(builder->model, value);
    uint32_t first = builder->uses.first[value], end = builder->uses.first[value + 1];
    if (v->is_output || !amp_dtype_is_lower(v->dtype) || first == end)
        return false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = builder->uses.items[i].node;
        const struct amp_step *user = builder->steps[node];
        if (user == NULL || !user->prefers_f32 ||
            amp_node_at(builder->model, node)->graph != v->graph)
            return false;
    }
    return true;
}

void amp_plan_choose_dtypes(struct amp_plan_builder *builder)
{
    const struct amp_model *model = builder->model;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++)
            choose(model, &builder->graphs[g].steps[i]);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++) {
            struct amp_step *step = &builder->graphs[g].steps[i];
            step->stores_f32 = step->prefers_f32 && stores_f32(builder, step);
        }
}

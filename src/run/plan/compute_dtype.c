/*
 * Chooses the steps that compute float16 in float32, because this CPU does that faster: without
 * AMX-FP16 oneDNN converts every element of a convolution to float32 each time that it is read.
 * Takes steps with their post-ops and casts; notes also which results stay float32 between them.
 */
#include "run/plan/compute_dtype.h"

#include "core/cpu.h"

static bool prefers_f32(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(model, step->node);
    return step->op->has_layouts && step->op->effect == AMP_COMPUTES && node->n_outputs == 1 &&
           amp_value_at(model, node->outputs[0])->dtype == AMP_FLOAT16;
}

/* Whether all uses of what STEP gives are by steps that prefer float32 too. */
static bool stores_f32(const struct amp_plan_builder *builder, const struct amp_step *step)
{
    uint32_t value = amp_step_output(builder->model, step);
    const struct amp_value *v = amp_value_at(builder->model, value);
    uint32_t first = builder->uses.first[value], end = builder->uses.first[value + 1];
    if (v->is_output || v->dtype != AMP_FLOAT16 || first == end)
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
    if (amp_cpu_has(AMP_CPU_FAST_F16))
        return;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++) {
            struct amp_step *step = &builder->graphs[g].steps[i];
            step->prefers_f32 = prefers_f32(model, step);
        }
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < builder->graphs[g].n_steps; i++) {
            struct amp_step *step = &builder->graphs[g].steps[i];
            step->stores_f32 = step->prefers_f32 && stores_f32(builder, step);
        }
}

/*
 * float16 that is faster in float32: with no more than AVX512-FP16 oneDNN turns every element of a
 * convolution into float32 each time that it is read.
 */
#include "core/cpu.h"
#include "run/plan/uses.h"

static bool prefers_f32(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(model, step->node);
    return step->op->has_layouts && step->op->effect == AMP_COMPUTES && node->n_outputs == 1 &&
           amp_value_at(model, node->outputs[0])->dtype == AMP_FLOAT16;
}

/* Whether all uses of what STEP gives are by steps that prefer float32 too. */
static bool keeps_wide(const struct amp_planning *planning, const struct amp_step *step)
{
    uint32_t value = amp_step_output(planning->model, step);
    const struct amp_value *v = amp_value_at(planning->model, value);
    uint32_t first = planning->uses.first[value], end = planning->uses.first[value + 1];
    if (v->is_output || v->dtype != AMP_FLOAT16 || first == end)
        return false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = planning->uses.items[i].node;
        const struct amp_step *user = planning->steps[node];
        if (user == NULL || !user->prefers_f32 ||
            amp_node_at(planning->model, node)->graph != v->graph)
            return false;
    }
    return true;
}

void amp_plan_widen(struct amp_planning *planning)
{
    const struct amp_model *model = planning->model;
    if (amp_cpu_has(AMP_CPU_FAST_F16))
        return;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < planning->plans[g].n_steps; i++) {
            struct amp_step *step = &planning->plans[g].steps[i];
            step->prefers_f32 = prefers_f32(model, step);
        }
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < planning->plans[g].n_steps; i++) {
            struct amp_step *step = &planning->plans[g].steps[i];
            step->keeps_wide = step->prefers_f32 && keeps_wide(planning, step);
        }
}

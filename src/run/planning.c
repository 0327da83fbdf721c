/*
 * What the passes over a plan share: who uses a value, and which step runs a node.
 */
#include "run/planning.h"

static void note(struct amp_planning *planning, struct amp_step *step)
{
    planning->steps[step->node] = step;
    for (size_t i = 0; i < step->n_casts; i++)
        planning->steps[step->casts[i]->node] = step;
    for (size_t i = 0; i < step->n_tail; i++)
        planning->steps[step->tail[i].node] = step;
}

struct amp_planning amp_planning_create(const struct amp_model *model, struct amp_arena *arena,
                                        struct amp_plan *plans)
{
    struct amp_planning planning = {
        .model = model, .arena = arena, .plans = plans, .uses = amp_uses_create(model)};
    planning.steps = amp_arena_array(arena, model->n_nodes, sizeof *planning.steps);
    amp_planning_compact(&planning);
    return planning;
}

void amp_planning_destroy(struct amp_planning *planning)
{
    amp_uses_destroy(&planning->uses);
}

void amp_planning_compact(struct amp_planning *planning)
{
    for (size_t g = 0; g < planning->model->n_graphs; g++) {
        struct amp_plan *plan = &planning->plans[g];
        size_t kept = 0;
        for (size_t i = 0; i < plan->n_steps; i++) {
            if (plan->steps[i].op == NULL)
                continue;
            plan->steps[kept] = plan->steps[i];
            note(planning, &plan->steps[kept++]);
        }
        plan->n_steps = kept;
    }
}

struct amp_step *amp_planning_own(const struct amp_planning *planning, uint32_t node)
{
    struct amp_step *step = planning->steps[node];
    return step != NULL && step->node == node ? step : NULL;
}

uint32_t amp_step_output(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_step *last = step->n_tail > 0 ? &step->tail[step->n_tail - 1] : step;
    return amp_node_at(model, last->node)->outputs[0];
}

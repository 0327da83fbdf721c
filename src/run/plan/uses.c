/*
 * What the passes over a plan share: who uses a value, and which step runs a node.
 */
#include "run/plan/uses.h"

/* The nodes of PART as run by STEP. */
static void note(struct amp_planning *planning, struct amp_step *step, const struct amp_step *part)
{
    planning->steps[part->node] = step;
    for (size_t i = 0; i < part->n_casts; i++)
        planning->steps[part->casts[i]->node] = step;
    for (size_t i = 0; i < part->n_tail; i++)
        planning->steps[part->tail[i].node] = step;
    for (size_t i = 0; i < part->n_lead; i++)
        note(planning, step, &part->lead[i]);
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
            note(planning, &plan->steps[kept], &plan->steps[kept]);
            kept++;
        }
        plan->n_steps = kept;
    }
}

struct amp_step *amp_planning_own(const struct amp_planning *planning, uint32_t node)
{
    struct amp_step *step = planning->steps[node];
    return step != NULL && step->node == node ? step : NULL;
}

/*
 * Keeps what the passes over a plan share: which nodes use a value and which step runs a node.
 * Takes a plan with a step for each node that runs; steps that have become parts of others are
 * removed here.
 */
#include "run/plan/planning.h"

/* The nodes of PART as run by STEP. */
static void note(struct amp_planning *planning, struct amp_step *step, const struct amp_step *part)
{
    planning->steps[part->node] = step;
    for (size_t i = 0; i < part->n_casts; i++)
        planning->steps[part->casts[i]->node] = step;
    for (size_t i = 0; i < part->n_posts; i++)
        planning->steps[part->post_steps[i].node] = step;
    for (size_t i = 0; i < part->n_scores; i++)
        note(planning, step, &part->scores[i]);
}

struct amp_planning amp_planning_create(const struct amp_plan *plan)
{
    struct amp_planning planning = {.model = plan->model,
                                    .arena = plan->arena,
                                    .graphs = plan->graphs,
                                    .uses = amp_uses_create(plan->model)};
    planning.steps = amp_arena_array(plan->arena, plan->model->n_nodes, sizeof *planning.steps);
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
        struct amp_plan_graph *graph = &planning->graphs[g];
        size_t kept = 0;
        for (size_t i = 0; i < graph->n_steps; i++) {
            if (graph->steps[i].op == NULL)
                continue;
            graph->steps[kept] = graph->steps[i];
            note(planning, &graph->steps[kept], &graph->steps[kept]);
            kept++;
        }
        graph->n_steps = kept;
    }
}

struct amp_step *amp_planning_own(const struct amp_planning *planning, uint32_t node)
{
    struct amp_step *step = planning->steps[node];
    return step != NULL && step->node == node ? step : NULL;
}

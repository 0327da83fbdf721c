/*
 * Keeps what the passes over a plan share: which nodes use a value and which step runs a node.
 * Takes a plan with a step for each node that runs; steps that have become parts of others are
 * removed here.
 */
#include "run/plan/builder.h"

/* The nodes of PART as run by STEP. */
static void note(struct amp_plan_builder *builder, struct amp_step *step,
                 const struct amp_step *part)
{
    builder->steps[part->node] = step;
    for (size_t i = 0; i < part->n_casts; i++)
        builder->steps[part->casts[i]->node] = step;
    for (size_t i = 0; i < part->n_posts; i++)
        builder->steps[part->post_steps[i].node] = step;
    for (size_t i = 0; i < part->n_scores; i++)
        note(builder, step, &part->scores[i]);
}

struct amp_plan_builder amp_plan_builder_create(const struct amp_plan *plan)
{
    struct amp_plan_builder builder = {.model = plan->model,
                                       .arena = plan->arena,
                                       .graphs = plan->graphs,
                                       .uses = amp_uses_create(plan->model)};
    builder.steps = amp_arena_array(plan->arena, plan->model->n_nodes, sizeof *builder.steps);
    amp_plan_builder_compact(&builder);
    return builder;
}

void amp_plan_builder_destroy(struct amp_plan_builder *builder)
{
    amp_uses_destroy(&builder->uses);
}

void amp_plan_builder_compact(struct amp_plan_builder *builder)
{
    for (size_t g = 0; g < builder->model->n_graphs; g++) {
        struct amp_plan_graph *graph = &builder->graphs[g];
        size_t kept = 0;
        for (size_t i = 0; i < graph->n_steps; i++) {
            if (graph->steps[i].op == NULL)
                continue;
            graph->steps[kept] = graph->steps[i];
            note(builder, &graph->steps[kept], &graph->steps[kept]);
            kept++;
        }
        graph->n_steps = kept;
    }
}

struct amp_step *amp_plan_builder_own(const struct amp_plan_builder *builder, uint32_t node)
{
    struct amp_step *step = builder->steps[node];
    return step != NULL && step->node == node ? step : NULL;
}

#ifndef AMP_RUN_PLAN_BUILDER_H
#define AMP_RUN_PLAN_BUILDER_H

#include "core/graph/uses.h"
#include "run/plan/plan.h"
#include "run/plan/step.h"

/* Private to run/plan: what the passes over a plan share while it is made. Each pass has a file of
   its own. */
struct amp_plan_builder {
    const struct amp_model *model;
    struct amp_arena *arena;
    struct amp_plan_graph *graphs; /* of the plan */
    struct amp_uses uses;          /* of the model's values */
    /* Per node: the step that runs it, itself or as a part of its own; NULL: none. A Cast that is
       part of several steps is noted with the last one. */
    struct amp_step **steps;
};

/* For PLAN, which has a step for each node that runs. */
struct amp_plan_builder amp_plan_builder_create(const struct amp_plan *plan);
void amp_plan_builder_destroy(struct amp_plan_builder *builder);

/* Removes the steps that have become parts of others, whose op is NULL. */
void amp_plan_builder_compact(struct amp_plan_builder *builder);

/* The step of NODE; NULL: it has none, or is part of another node's. */
struct amp_step *amp_plan_builder_own(const struct amp_plan_builder *builder, uint32_t node);

#endif

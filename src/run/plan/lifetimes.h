#ifndef AMP_RUN_PLAN_LIFETIMES_H
#define AMP_RUN_PLAN_LIFETIMES_H

#include "run/plan/builder.h"

/* Private to run/plan: notes which values no step reads after each step (amp_step.last_uses). */
void amp_plan_note_last_uses(struct amp_plan_builder *builder);

#endif

#ifndef AMP_RUN_PLAN_CAST_ELISION_H
#define AMP_RUN_PLAN_CAST_ELISION_H

#include "run/plan/builder.h"

/* Private to run/plan: makes each Cast whose readers can all do it while they read part of their
   steps (amp_step.casts), in place of a step of its own. */
void amp_plan_elide_casts(struct amp_plan_builder *builder);

#endif

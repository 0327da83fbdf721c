#ifndef AMP_RUN_READING_H
#define AMP_RUN_READING_H

#include "run/plan.h"

/* Private to run/: makes each Cast in PLANS of MODEL that all who use its result can do while they
   read part of their steps (amp_step.casts; which can: ops/op.h, reads_casts). */
void amp_plans_read_casts(const struct amp_model *model, struct amp_arena *arena,
                          struct amp_plan *plans);

#endif

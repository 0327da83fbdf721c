#ifndef AMP_RUN_ABSORB_H
#define AMP_RUN_ABSORB_H

#include "run/plan.h"

/* Private to run/: makes nodes that oneDNN can do as post-ops part of the step whose result they
   are the only use of (ops/post.h), in all PLANS of MODEL. */
void amp_plans_absorb(const struct amp_model *model, struct amp_arena *arena,
                      struct amp_plan *plans);

#endif

#ifndef AMP_RUN_WIDEN_H
#define AMP_RUN_WIDEN_H

#include "run/plan.h"

/* Private to run/: where this CPU convolves and pools float16 more slowly than float32, makes such
   steps of PLANS compute in float32; what goes from one to another of them stays float32. */
void amp_plans_widen(const struct amp_model *model, struct amp_arena *arena,
                     struct amp_plan *plans);

#endif

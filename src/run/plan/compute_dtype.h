#ifndef AMP_RUN_PLAN_COMPUTE_DTYPE_H
#define AMP_RUN_PLAN_COMPUTE_DTYPE_H

#include "run/plan/builder.h"

/* Private to run/plan: where this CPU convolves and pools float16 more slowly than float32, notes
   that such steps compute in float32 (amp_step.prefers_f32) and which results stay float32 from one
   of them to another (amp_step.stores_f32). */
void amp_plan_choose_dtypes(struct amp_plan_builder *builder);

#endif

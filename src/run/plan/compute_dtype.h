#ifndef AMP_RUN_PLAN_COMPUTE_DTYPE_H
#define AMP_RUN_PLAN_COMPUTE_DTYPE_H

#include "run/plan/builder.h"

/* Private to run/plan: where this CPU computes in a lower dtype more slowly than in float32, or not
   at all, notes that such steps, and those between them that take any dtype, compute in float32
   (amp_step.prefers_f32), which results stay float32 from one of them to another
   (amp_step.stores_f32), and which of these are rounded (amp_step.rounds_f32): where IS_STRICT, all
   that may not be of the lower dtype otherwise. */
void amp_plan_choose_dtypes(struct amp_plan_builder *builder, bool is_strict);

#endif

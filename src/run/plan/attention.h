#ifndef AMP_RUN_PLAN_ATTENTION_H
#define AMP_RUN_PLAN_ATTENTION_H

#include "run/plan/builder.h"

/* Private to run/plan: finds attention (MatMul, Softmax over the last axis, MatMul, with what is
   done to the scores in between) and makes its steps part of the last one (amp_step.scores), so
   that they can run in slices. */
void amp_plan_find_attention(struct amp_plan_builder *builder);

#endif

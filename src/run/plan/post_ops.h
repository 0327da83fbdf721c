#ifndef AMP_RUN_PLAN_POST_OPS_H
#define AMP_RUN_PLAN_POST_OPS_H

#include "run/plan/builder.h"

/* Private to run/plan: makes nodes that oneDNN can do as post-ops (ops/dnnl/post_op.h) part of the
   step whose result they are the only use of. */
void amp_plan_add_post_ops(struct amp_plan_builder *builder);

#endif

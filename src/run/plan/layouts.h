#ifndef AMP_RUN_PLAN_LAYOUTS_H
#define AMP_RUN_PLAN_LAYOUTS_H

#include "run/plan/builder.h"

/* Private to run/plan: notes how output 0 of each step may lie (amp_step.layout_wish). */
void amp_plan_note_layout_wishes(struct amp_plan_builder *builder);

#endif

#ifndef AMP_RUN_TAKING_H
#define AMP_RUN_TAKING_H

#include "run/plan.h"

/* Private to run/: notes in the steps of all PLANS of MODEL how their output 0 is taken
   (amp_step.taking). */
void amp_plans_note_taking(const struct amp_model *model, struct amp_arena *arena,
                           struct amp_plan *plans);

#endif

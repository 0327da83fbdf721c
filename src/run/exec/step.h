#ifndef AMP_RUN_EXEC_STEP_H
#define AMP_RUN_EXEC_STEP_H

#include "run/exec/state.h"

/* Private to run/exec: runs STEP. It reads the values that it is given, sets those that it
   computes, and releases those that no later step reads. An error names the node. */
enum amp_status amp_step_run(struct amp_session *session, const struct amp_step *step,
                             struct amp_error *err);

/* Makes constant VALUE hold its data, unless it does: the model's, or what a step computes once
   more. */
enum amp_status amp_step_load(struct amp_session *session, uint32_t value, struct amp_error *err);

#endif

#ifndef AMP_RUN_EXEC_STEP_H
#define AMP_RUN_EXEC_STEP_H

#include "run/exec/state.h"

/* Private to run/exec: runs STEP, which reads the values that it is given and sets those that it
   computes. A constant step that has run keeps what it gave. An error names the node. */
enum amp_status amp_step_compute(struct amp_session *session, const struct amp_step *step,
                                 struct amp_error *err);

/* Releases the values that no step behind STEP reads. */
void amp_step_release(struct amp_session *session, const struct amp_step *step);

/* Makes constant VALUE hold its data, unless it does: the model's, or what a step computes once
   more. */
enum amp_status amp_step_load(struct amp_session *session, uint32_t value, struct amp_error *err);

#endif

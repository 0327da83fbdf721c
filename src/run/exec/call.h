#ifndef AMP_RUN_EXEC_CALL_H
#define AMP_RUN_EXEC_CALL_H

#include "run/exec/step.h"

/* Private to run/: runs the node of STEP, with the first N_POSTS of its post-ops and N_CASTS of the
   casts of what it reads, all or none of either. AMP_UNSUPPORTED: the kernel cannot, with these. */
enum amp_status amp_step_call(struct amp_session *session, struct amp_step *step, size_t n_posts,
                              size_t n_casts, struct amp_error *err);

/* Where STEP, called with N_CASTS, reads VALUE: its slot or, where a Cast that gives it does not
   run, that of what is cast. */
struct amp_tensor *amp_step_slot(struct amp_session *session, const struct amp_step *step,
                                 size_t n_casts, uint32_t value);

#endif

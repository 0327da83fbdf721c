#ifndef AMP_RUN_CALL_H
#define AMP_RUN_CALL_H

#include "run/step.h"

/* Private to run/: runs the node of STEP, with the first N_POSTS of its post-ops and N_CASTS of the
   casts of what it reads, all or none of either. AMP_UNSUPPORTED: the kernel cannot, with these. */
enum amp_status amp_step_call(struct amp_session *session, struct amp_step *step, size_t n_posts,
                              size_t n_casts, struct amp_error *err);

#endif

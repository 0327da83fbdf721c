#ifndef AMP_RUN_EXEC_KEPT_CALL_H
#define AMP_RUN_EXEC_KEPT_CALL_H

#include "run/exec/kernel_call.h"

/*
 * Private to run/exec: the call of a step that has succeeded, with all that was decided for it: the
 * way, where its inputs come from, the shapes of its outputs, what the kernel is called with. As
 * long as the inputs come in the same forms (dtype, shape, layout), it is made again with nothing
 * else than their data.
 */
struct amp_kept_call;

/* Notes in which forms the inputs of CALL, which has been gathered, come, before any of them is
   reordered. */
void amp_kept_call_note_forms(const struct amp_kernel_call *call);

/* Keeps CALL, which has just succeeded in way WAY, unless its step is one that is not to be
   repeated. */
void amp_kept_call_keep(const struct amp_kernel_call *call, size_t way);

/* Drops the call that KEPT (may be NULL) has: another one is about to be prepared. */
void amp_kept_call_drop(struct amp_kept_call *kept);

/* The call that KEPT (may be NULL) has, and its way; NULL: there is none. */
const struct amp_kernel_call *amp_kept_call_of(const struct amp_kept_call *kept, size_t *way);

/* Whether the inputs of the call that KEPT has are in the forms in which they came. */
bool amp_kept_call_fits(const struct amp_kept_call *kept);

/* What the kernel is called with. */
const struct amp_ctx *amp_kept_call_ctx(const struct amp_kept_call *kept);

/* Makes the call again and stores its outputs. AMP_AGAIN: it has to be prepared anew; nothing has
   been computed. */
enum amp_status amp_kept_call_run(struct amp_kept_call *kept, struct amp_error *err);

#endif

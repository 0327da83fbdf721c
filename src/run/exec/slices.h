#ifndef AMP_RUN_EXEC_SLICES_H
#define AMP_RUN_EXEC_SLICES_H

#include "run/plan/step.h"

/*
 * Private to run/exec: runs the steps of attention (run/plan/attention.h) slice by slice. The first
 * and the last are matrix products; those between work row by row or element by element on the
 * scores, which the first computes. Each reads only what the one before it computes, so that a part
 * of the rows of the scores, or of their matrices, can go through all of them while it is in the
 * cache; the scores as a whole are never in memory. The calls of the steps are queued, and that of
 * the last step runs all of them.
 */
struct amp_slices;

/* For N steps at most, with casts and post-ops that run as steps of their own. */
struct amp_slices *amp_slices_create(struct amp_arena *arena, size_t n);
void amp_slices_destroy(struct amp_slices *slices); /* frees what running left; NULL is fine */

/* Begins a queue for steps that work on scores of SHAPE and DTYPE. False: no call will be queued,
   because the steps are refused or the scores small enough to be in memory as a whole. */
bool amp_slices_begin(struct amp_slices *slices, const struct amp_shape *shape,
                      enum amp_dtype dtype);
/* Whether calls are queued now. */
bool amp_slices_are_queueing(const struct amp_slices *slices);

/* Queues the call CTX of STEP, whose output has its shape but no memory, and dtype float32 where it
   computes in that for a lower one; the call of the last step runs all of them. False: calls are
   not queued now. *STATUS says how it went. AMP_AGAIN: a constant has no data. AMP_KERNEL: CAN_CUT
   is false, or the kernels cannot do it in slices; nothing of what was queued has been done, and
   the steps are refused: no call of them is queued unless that is allowed again. */
bool amp_slices_queue(struct amp_slices *slices, const struct amp_step *step, bool can_cut,
                      const struct amp_ctx *ctx, enum amp_status *status);
/* The node whose call could not run in slices; NULL: the steps are not refused. */
const struct amp_node *amp_slices_refused_by(const struct amp_slices *slices);
void amp_slices_allow(struct amp_slices *slices);
void amp_slices_refuse(struct amp_slices *slices, const struct amp_node *node);

#endif

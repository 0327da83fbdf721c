#ifndef AMP_RUN_EXEC_SLICES_H
#define AMP_RUN_EXEC_SLICES_H

#include "ops/op.h"

#include "core/arena.h"

/*
 * Private to run/: steps that follow each other, run slice by slice. The first and the last are
 * matrix products, those between work on the scores, which the first gives, row by row or element
 * by element: MatMul, Softmax, MatMul. Each only takes what the one before it gives, so that a part
 * of the rows of the scores, or of their matrices, can go through all of them while it is in the
 * cache; the scores as a whole are never there.
 */
struct amp_slices;

/* The most steps, without the casts and post-ops that run as steps of their own, and inputs of a
   step. */
enum { AMP_SLICED_STEPS_MAX = 6, AMP_SLICED_INPUTS_MAX = 4 };

/* What a step is in a sequence; op NULL: it is in none. */
struct amp_sliced {
    const struct amp_op *op;
    uint32_t slot; /* the input that is what the step before it gives */
    bool is_last;
    bool keeps_wide; /* what it computes in float32 is not rounded (amp_step.keeps_wide) */
};

/* For sequences of N steps at most. */
struct amp_slices *amp_slices_create(struct amp_arena *arena, size_t n);
void amp_slices_destroy(struct amp_slices *slices); /* frees what running left; NULL is fine */

/* Before the steps run, one after the other, on scores of SHAPE and DTYPE. False: no call will be
   taken; the steps are refused, or the scores small enough to be there as a whole. */
bool amp_slices_begin(struct amp_slices *slices, const struct amp_shape *shape,
                      enum amp_dtype dtype);
/* Whether calls are taken now. */
bool amp_slices_are_taking(const struct amp_slices *slices);

/* Whether the call CTX of STEP, whose output has its shape but no memory, and dtype float32 where
   it computes in that for a lower one, is no longer the caller's: it waits for that of the last
   step, which runs all of them; *STATUS says how that went. AMP_AGAIN: a constant has no data.
   Where IS_FIT is false, or the kernels cannot do it in slices, nothing of what was taken has been
   done: the steps are then refused, and no call of them is taken unless that is allowed again. */
bool amp_slices_take(struct amp_slices *slices, const struct amp_sliced *step, bool is_fit,
                     const struct amp_ctx *ctx, enum amp_status *status);
/* The node whose call was not fit, or not possible in slices; NULL: the steps are not refused. */
const struct amp_node *amp_slices_refused_by(const struct amp_slices *slices);
void amp_slices_allow(struct amp_slices *slices);
void amp_slices_refuse(struct amp_slices *slices, const struct amp_node *node);

#endif

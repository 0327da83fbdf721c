#ifndef AMP_OPS_KERNEL_STRIDED_LOOP_H
#define AMP_OPS_KERNEL_STRIDED_LOOP_H

#include "ops/op.h"

/* The strides, in elements, of a row-major tensor. */
void amp_strides(const struct amp_shape *shape, int64_t *strides);

/* The coordinates of element FLAT of a row-major tensor; no dim is 0. */
void amp_index_at(int rank, const int64_t *dims, int64_t flat, int64_t *index);

/* Steps INDEX to the next element in row-major order; false after the last, INDEX is all 0 then. */
static inline bool amp_index_next(int rank, const int64_t *dims, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < dims[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/*
 * A nested loop over one shape in which every operand steps by strides of its own: 0 where it is
 * broadcast, any (negative too) for views. Operand 0 is the output by convention. Dims that all
 * operands step through as one are merged; the work is shared among threads.
 *
 *     struct amp_loop loop;
 *     amp_loop_init(&loop, out->shape.rank, out->shape.dims);
 *     amp_loop_tensor(&loop, out);
 *     amp_loop_tensor(&loop, in);
 *     amp_loop_run(&loop, body, param);
 */
enum { AMP_LOOP_RANK = 2 * AMP_RANK_MAX, AMP_LOOP_OPERANDS = 6 };

struct amp_loop {
    int rank;
    int64_t dims[AMP_LOOP_RANK], period; /* 0: nothing repeats or is held */
    int n_operands;
    struct amp_operand {
        char *data;
        enum amp_dtype dtype;           /* AMP_UNDEFINED: a view */
        int64_t size;                   /* bytes of an element */
        int64_t strides[AMP_LOOP_RANK]; /* elements */
        bool repeats;                   /* every PERIOD elements of the innermost dim */
        int64_t held; /* not 0: for PERIOD elements of it each; the stride to the next, then */
    } operands[AMP_LOOP_OPERANDS];
};

/* The innermost loop: N elements; operand K begins at AT[K] and steps by STEP[K] elements. */
typedef void amp_loop_body(int64_t n, void *const *at, const int64_t *step, const void *param);

void amp_loop_init(struct amp_loop *loop, int rank, const int64_t *dims);

/* Adds TENSOR as an operand, which must broadcast to the loop's shape; its dtype has a size in
 * whole bytes. */
void amp_loop_tensor(struct amp_loop *loop, const struct amp_tensor *tensor);

/* Adds elements of SIZE bytes from DATA on, with STRIDES in elements. */
void amp_loop_view(struct amp_loop *loop, void *data, size_t size, const int64_t *strides);

/* Drops dims of 1 and merges those that all operands step through as one; at least one dim is left.
   amp_loop_run does so itself. */
void amp_loop_merge(struct amp_loop *loop);

/* Runs BODY over the loop, which is spent afterwards. PARAM is passed on. */
void amp_loop_run(struct amp_loop *loop, amp_loop_body *body, const void *param);

/* Runs a BODY that computes in float32: operands of float16 and bfloat16 come to it
   widened, a block at a time, and what it writes to such an output is rounded. */
void amp_loop_compute(struct amp_loop *loop, amp_loop_body *body, const void *param);

/* Output 0 (with memory) = BODY(inputs 0 to N-1, all there, broadcast to the output's shape). */
void amp_loop_inputs(struct amp_ctx *ctx, uint32_t n, amp_loop_body *body, const void *param);

/* Returns the body that copies operand 1 to operand 0, for any dtype of whole bytes. */
amp_loop_body *amp_loop_copy(enum amp_dtype dtype);

/* Copies operand 1 to operand 0, of elements of 1, 2, 4, 8 or 16 bytes; no dim is 0. Where each is
   contiguous along another dim, planes of these are turned in tiles. The loop is spent afterwards.
 */
void amp_loop_move(struct amp_loop *loop);

#endif

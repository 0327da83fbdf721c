#ifndef AMP_RUN_EXEC_BLOCKED_VIEW_H
#define AMP_RUN_EXEC_BLOCKED_VIEW_H

#include "run/exec/state.h"

struct amp_layouts; /* ops/dnnl/layout.h */

/*
 * Private to run/exec: lets elementwise kernels, to which the order of elements is of no concern,
 * work on tensors in oneDNN's layouts. A blocked tensor, such as aBcd16b, is row-major in memory if
 * its blocks count as dims of their own; the kernel gets it with these dims, and what is broadcast
 * to it with dims to match.
 */
struct amp_blocked_view {
    /* One order of elements in each dtype, of the output and of inputs of its size; NULL: none. */
    const struct amp_layout *layouts[AMP_DTYPE_COUNT];
    struct amp_shape shape; /* the output's */
    struct amp_shape lies;  /* its dims in memory, those of blocks among them */
    int of[AMP_RANK_MAX];   /* the dim of SHAPE that each of these is a part of */
    bool has_rest;          /* blocks are not full: the kernel computes what fills them, too */
};

/* The view in which OP's kernel may read IN, the inputs of NODE, as they are or row-major, and
   write its output of DTYPE; false: there is none. LAYOUTS has those of other dtypes, which the
   kernel takes too; NULL: it gets its inputs in DTYPE. */
bool amp_blocked_view_find(const struct amp_node *node, const struct amp_op *op,
                           const struct amp_tensor *const *in, enum amp_dtype dtype,
                           struct amp_layouts *layouts, struct amp_blocked_view *view);

/* Whether VIEW takes IN as it lies; else it is to be made row-major. */
bool amp_blocked_view_takes(const struct amp_blocked_view *view, const struct amp_tensor *in);

/* Makes the N_IN inputs of FRAME what they are in VIEW: tensors that borrow the data. */
void amp_blocked_view_set(const struct amp_blocked_view *view, struct amp_frame *frame,
                          uint32_t n_in);

#endif

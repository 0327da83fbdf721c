#ifndef AMP_RUN_EXEC_BLOCKED_VIEW_H
#define AMP_RUN_EXEC_BLOCKED_VIEW_H

#include "run/plan/plan.h"

/*
 * Private to run/: tensors that lie as oneDNN chose, for kernels to which the order of elements is
 * of no concern. These get them as what they are in memory: row-major, of other dims, such as those
 * of blocks of channels; and what is broadcast to them with dims to match.
 */
struct amp_view {
    const struct amp_layout *layout; /* of the output, and of each input of that size */
    struct amp_shape shape;          /* the output's */
    struct amp_shape lies;           /* as which it lies */
    int of[AMP_RANK_MAX];            /* and the dims of SHAPE that those dims are parts of */
};

/* The view in which STEP's kernel may take its inputs, as they are or row-major, and give its
   output, of DTYPE; false: there is none. */
bool amp_view_find(const struct amp_node *node, const struct amp_step *step, enum amp_dtype dtype,
                   struct amp_view *view);

/* Whether VIEW takes IN as it lies; else it is to be made row-major. */
bool amp_view_takes(const struct amp_view *view, const struct amp_tensor *in);

/* Makes the inputs of FRAME what they are in VIEW: tensors that borrow the data. */
void amp_view_set(const struct amp_view *view, struct amp_frame *frame, uint32_t n_in);

#endif

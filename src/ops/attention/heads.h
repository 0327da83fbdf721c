#ifndef AMP_OPS_ATTENTION_HEADS_H
#define AMP_OPS_ATTENTION_HEADS_H

#include "ops/op.h"

/* Queries, keys and values of many heads, as operators store them. */

enum { AMP_HEADS_RANK = 4 }; /* [batch, heads, length, size] */

/* A tensor, or a part of one, seen as [batch, heads, length, size]. */
struct amp_heads {
    const struct amp_tensor *tensor;
    int64_t first, strides[AMP_HEADS_RANK]; /* elements */
};

/* TENSOR of SHAPE [batch, heads, length, size], stored so, or IS_FLAT: as [batch, length, heads,
   size]. */
struct amp_heads amp_heads_of(const struct amp_tensor *tensor, const struct amp_shape *shape,
                              bool is_flat);

/* Copies FROM, of SHAPE, into TO, of the same dtype. */
void amp_heads_copy(const struct amp_heads *to, const struct amp_heads *from,
                    const struct amp_shape *shape);

#endif

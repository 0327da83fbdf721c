#ifndef AMP_OPS_ATTENTION_ROTARY_EMBEDDING_H
#define AMP_OPS_ATTENTION_ROTARY_EMBEDDING_H

#include "ops/op.h"

/*
 * Rotary position embedding: pairs of elements of each head are turned by the angle of their
 * position, given by its cosine and sine. X is [batch, heads, length, size], or, when flat, [batch,
 * length, heads * size]. A dim below 0 is not known.
 */
struct amp_rotary {
    int64_t batch, heads, length, size;
    int64_t turned; /* elements of a head that are turned; even */
    bool is_flat, is_interleaved;
    const struct amp_tensor *cosines, *sines; /* float32 rows of turned / 2 */
};

/* Turns X into Y (may be X), float32. ROW_OF gives the row of the cosines for position I of all the
   batch's; AMP_MODEL when there is no such row. */
enum amp_status amp_rotary_run(struct amp_ctx *ctx, const struct amp_rotary *rotary,
                               int64_t (*row_of)(const struct amp_ctx *ctx, int64_t i),
                               const float *x, float *y);

#endif

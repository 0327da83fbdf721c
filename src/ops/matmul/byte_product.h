#ifndef AMP_OPS_MATMUL_BYTE_PRODUCT_H
#define AMP_OPS_MATMUL_BYTE_PRODUCT_H

#include "ops/op.h"

/*
 * Y = (A - a_zero) (B - b_zero) in integers modulo 2^32: A [batch.., m, k] and B [batch.., k, n] of
 * int8 or uint8, batches as for MatMul, zero points of their matrix's dtype: one, or one for each
 * row of A, [.., m, 1], or column of B, [n] or [.., 1, n].
 */
struct amp_byte_product {
    const struct amp_tensor *a, *a_zero, *b, *b_zero; /* zero points: NULL: 0 */
    bool is_b_constant;                               /* the same data in every run */
    struct amp_tensor *y;                             /* int32, [batch.., m, n], with memory */
};

/* Computes P->y through oneDNN, in C where that would not be exact. The state of CTX is
   amp_byte_product_destroy's. */
enum amp_status amp_byte_product_run(const struct amp_ctx *ctx, const struct amp_byte_product *p);
void amp_byte_product_destroy(void *state);

/*
 * Y [m, n] of A [m, k], widened, by B [k, n] of int8 or uint8, exactly: what A has, less a zero
 * point or not, is within -255 to 255.
 */
struct amp_byte_pairs {
    int64_t m, n, k;
    int64_t a_step; /* elements from row to row: amp_byte_pairs_step, 0 behind an odd K */
    const int16_t *a;
    const void *b;
    bool is_b_unsigned;
    int32_t *y;
};

/* K, or the next even number. */
static inline int64_t amp_byte_pairs_step(int64_t k)
{
    return k + k % 2;
}

/* Whether that is there for sums of K products, and oneDNN has nothing exact. */
bool amp_byte_pairs_suit(int64_t k);
void amp_byte_pairs_run(const struct amp_byte_pairs *p);

#endif

#ifndef AMP_OPS_MATMUL_PRODUCT_H
#define AMP_OPS_MATMUL_PRODUCT_H

#include "ops/op.h"

/*
 * Y = alpha A B + beta C over batches of row-major matrices: A [batch.., m, k], or [batch.., k, m]
 * when transposed; B [batch.., k, n] or [batch.., n, k]; Y [batch.., m, n]. A batch dim of A or B
 * is that of Y, or 1 where the operand is broadcast. C has no batch dims and broadcasts to [m, n];
 * beta is 0 where Y has any.
 */
struct amp_matmul {
    int batch_rank; /* at most AMP_RANK_MAX - 2 */
    int64_t a_batch[AMP_RANK_MAX], b_batch[AMP_RANK_MAX];
    int64_t m, n, k; /* k 0: a sum over nothing */
    bool is_a_transposed, is_b_transposed;
    float alpha;
    float beta;        /* 0: C is not read */
    int64_t c_dims[2]; /* each 1 or the dim of Y */
};

/* Multiplies inputs 0 and 1 of CTX (and adds input 2 where beta is not 0) into output 0, which gets
   memory if it has none. The inputs may lie in strides (amp_layout_strides), as may output 0 where
   it has memory, or afterwards (amp_matmul_layout). Float32, float16, bfloat16 and, to int32, uint8
   with int8 by oneDNN, float64 and integers (modulo 2^bits) in C. The state is amp_prim_destroy's.
   AMP_UNSUPPORTED: oneDNN has nothing for float16 or bfloat16 here. */
enum amp_status amp_matmul_run(const struct amp_ctx *ctx, const struct amp_matmul *product);

/* For amp_op.reads_lower, of P without C: where there is little to do but to read B
   (ops/matmul/row_product.h). */
bool amp_matmul_reads_lower(const struct amp_ctx *ctx, uint32_t i, const struct amp_matmul *p);

/* How output 0 of CTX, whose shape and dtype are set, is to lie so that the Transpose that takes it
   (amp_ctx.layout_wish) moves nothing; NULL: row-major. */
const struct amp_layout *amp_matmul_layout(const struct amp_ctx *ctx,
                                           const struct amp_matmul *product);

#endif

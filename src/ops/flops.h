#ifndef AMP_OPS_FLOPS_H
#define AMP_OPS_FLOPS_H

#include "ops/op.h"

/* The floating-point operations, two per multiplication with addition, of the products that the
   node of CTX (in and out as they are after it ran) computes: convolutions, matrix products,
   attention, recurrent layers. 0 for other operators. Padding counts as work, as is usual. */
double amp_flops(const struct amp_ctx *ctx);

/* About how long the node of CTX takes one thread, in seconds, from its arithmetic and from the
   bytes that it reads and writes. Infinity where these do not tell: shapes are not known, or the
   operator does more with an element than its descriptor says. */
double amp_work_seconds(const struct amp_ctx *ctx);

/* ---- counters for amp_op.flops; shapes are known ---- */

/* Input WEIGHTS, [out, in / groups, kernel...], for every element of output 0. */
double amp_flops_convolution(const struct amp_ctx *ctx, uint32_t weights);

/* Input WEIGHTS, [in, out / groups, kernel...], for every element of input 0. */
double amp_flops_deconvolution(const struct amp_ctx *ctx, uint32_t weights);

/* Input 0, whose rows are as attribute transA says, with another matrix. */
double amp_flops_matmul(const struct amp_ctx *ctx, uint32_t unused);

/* Input 0, [steps, batch, ...] or both swapped, with input WEIGHTS and the one after it, the
   recurrent weights of all gates. */
double amp_flops_recurrent(const struct amp_ctx *ctx, uint32_t weights);

/* Inputs 0 to 2, queries, keys and values; input PAST holds the keys before them. */
double amp_flops_attention(const struct amp_ctx *ctx, uint32_t past);

/* With the projection to queries, keys and values: input 0, [batch, words, in], and input 1, the
   weights [in, out]. Input PAST as for amp_flops_attention. */
double amp_flops_projected_attention(const struct amp_ctx *ctx, uint32_t past);

#endif

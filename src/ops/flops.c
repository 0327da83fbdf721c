/*
 * Counts the arithmetic of a node from the shapes of its tensors, with the counter that its
 * operator's descriptor names; the counters that several operators share are here.
 */
#include "ops/flops.h"

#include <math.h>

static double count(const struct amp_tensor *tensor)
{
    return (double)amp_shape_count(&tensor->shape);
}

/* Dim I, counted from the end where it is negative; 0 when there is none. */
static double dim(const struct amp_tensor *tensor, int i)
{
    int at = i < 0 ? tensor->shape.rank + i : i;
    return at >= 0 && at < tensor->shape.rank ? (double)tensor->shape.dims[at] : 0;
}

/* Elements of the weights for one of their first dim. */
static double count_row(const struct amp_tensor *weights)
{
    return (double)amp_shape_product(&weights->shape, 1, weights->shape.rank);
}

/* Weights [out, in / groups, kernel...] for every element of the output. */
double amp_flops_convolution(const struct amp_ctx *ctx, uint32_t weights)
{
    return 2 * count(ctx->out[0]) * count_row(ctx->in[weights]);
}

/* Weights [in, out / groups, kernel...] for every element of the input. */
double amp_flops_deconvolution(const struct amp_ctx *ctx, uint32_t weights)
{
    return 2 * count(ctx->in[0]) * count_row(ctx->in[weights]);
}

double amp_flops_matmul(const struct amp_ctx *ctx, uint32_t unused)
{
    (void)unused;
    bool is_transposed = amp_node_int(ctx->node, "transA", 0) != 0;
    return 2 * count(ctx->out[0]) * dim(ctx->in[0], is_transposed ? -2 : -1);
}

double amp_flops_recurrent(const struct amp_ctx *ctx, uint32_t weights)
{
    double n_weights = count(ctx->in[weights]) + count(ctx->in[weights + 1]);
    return 2 * dim(ctx->in[0], 0) * dim(ctx->in[0], 1) * n_weights;
}

/* Scores of every query against WORDS keys, and the values weighted by them; queries are as many
   and as long as the outputs. */
static double attention_over(const struct amp_ctx *ctx, double words)
{
    return 2 * 2 * count(ctx->out[0]) * words;
}

/* Words in a tensor of keys, with or without a dim for heads. */
static double words_in(const struct amp_ctx *ctx, uint32_t input)
{
    if (!amp_has_in(ctx, input))
        return 0;
    return dim(ctx->in[input], ctx->in[input]->shape.rank == 4 ? 2 : 1);
}

double amp_flops_attention(const struct amp_ctx *ctx, uint32_t past)
{
    double words = words_in(ctx, amp_has_in(ctx, 1) ? 1 : 0) + words_in(ctx, past);
    return attention_over(ctx, words);
}

double amp_flops_projected_attention(const struct amp_ctx *ctx, uint32_t past)
{
    double words = dim(ctx->in[0], 1) + (amp_has_in(ctx, past) ? dim(ctx->in[past], 3) : 0);
    return attention_over(ctx, words) + 2 * count(ctx->in[0]) * dim(ctx->in[1], 1);
}

/* What one core of today does in a second: products and sums of vectors of 256 bits, bytes of the
   caches that it shares, and bytes of those that a product reads, one behind the other. */
#define FLOPS_PER_SECOND 50e9
#define BYTES_PER_SECOND 10e9
#define BYTES_MULTIPLIED_PER_SECOND 30e9
#define BYTE_SPEED 4 /* products of bytes for one of float32 */

/* Whether the time that OP takes is that of its products, or that of moving what it takes and
 * gives.
 */
static bool has_known_work(const struct amp_op *op)
{
    return op->flops.count != NULL || amp_op_keeps_places(op) ||
           op->effect == AMP_PRESERVES_VALUES || (op->native & AMP_BY_DNNL) != 0;
}

/* Infinity where the shape is not known; lists are as small as their number. */
static double bytes_of(const struct amp_tensor *tensor)
{
    if (tensor == NULL || tensor->dtype == AMP_UNDEFINED)
        return 0;
    return amp_shape_is_known(&tensor->shape) ? (double)amp_tensor_size(tensor) : HUGE_VAL;
}

static bool multiplies_bytes(const struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->n_in > 0 ? ctx->in[0] : NULL;
    return in != NULL && (in->dtype == AMP_INT8 || in->dtype == AMP_UINT8);
}

double amp_work_seconds(const struct amp_ctx *ctx)
{
    const struct amp_op *op = amp_op_of(ctx->node);
    double bytes = 0;
    if (op == NULL || !has_known_work(op))
        return HUGE_VAL;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        bytes += bytes_of(ctx->in[i]);
    for (uint32_t i = 0; i < ctx->n_out; i++)
        bytes += bytes_of(ctx->out[i]);
    if (bytes == HUGE_VAL)
        return HUGE_VAL;
    double speed = multiplies_bytes(ctx) ? BYTE_SPEED * FLOPS_PER_SECOND : FLOPS_PER_SECOND;
    double flops = amp_flops(ctx);
    return flops / speed + bytes / (flops > 0 ? BYTES_MULTIPLIED_PER_SECOND : BYTES_PER_SECOND);
}

double amp_flops(const struct amp_ctx *ctx)
{
    const struct amp_op *op = amp_op_of(ctx->node);
    return op != NULL && op->flops.count != NULL ? op->flops.count(ctx, op->flops.input) : 0;
}

/*
 * Counts the arithmetic of a node from the shapes of its tensors, by a table of operators.
 */
#include "ops/flops.h"

#include "core/array.h"
#include "ops/matmul/einsum_equation.h"

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
static double convolution(const struct amp_ctx *ctx, uint32_t weights)
{
    return 2 * count(ctx->out[0]) * count_row(ctx->in[weights]);
}

/* Weights [in, out / groups, kernel...] for every element of the input. */
static double deconvolution(const struct amp_ctx *ctx, uint32_t weights)
{
    return 2 * count(ctx->in[0]) * count_row(ctx->in[weights]);
}

static double matmul(const struct amp_ctx *ctx, uint32_t unused)
{
    (void)unused;
    bool is_transposed = amp_node_int(ctx->node, "transA", 0) != 0;
    return 2 * count(ctx->out[0]) * dim(ctx->in[0], is_transposed ? -2 : -1);
}

/* Input [steps, batch, ...], or both swapped; weights and recurrent weights of all gates. */
static double recurrent(const struct amp_ctx *ctx, uint32_t weights)
{
    double n_weights = count(ctx->in[weights]) + count(ctx->in[weights + 1]);
    return 2 * dim(ctx->in[0], 0) * dim(ctx->in[0], 1) * n_weights;
}

static double einsum(const struct amp_ctx *ctx, uint32_t unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_ctx reading = *ctx;
    struct amp_einsum equation;
    reading.err = &err;
    if (ctx->n_in < 2 || amp_einsum_read(&reading, &equation) != AMP_OK)
        return 0;
    double product = 2 * (ctx->n_in - 1.0);
    for (int i = 0; i < AMP_EINSUM_LABELS; i++)
        product *= (double)equation.dims[i];
    return product;
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

/* Queries, keys and values; input PAST holds the keys before them. */
static double attention(const struct amp_ctx *ctx, uint32_t past)
{
    double words = words_in(ctx, amp_has_in(ctx, 1) ? 1 : 0) + words_in(ctx, past);
    return attention_over(ctx, words);
}

/* With the projection to queries, keys and values: input [batch, words, in], weights [in, out]. */
static double projected_attention(const struct amp_ctx *ctx, uint32_t past)
{
    double words = dim(ctx->in[0], 1) + (amp_has_in(ctx, past) ? dim(ctx->in[past], 3) : 0);
    return attention_over(ctx, words) + 2 * count(ctx->in[0]) * dim(ctx->in[1], 1);
}

static const struct {
    const char *op, *domain;
    double (*count)(const struct amp_ctx *ctx, uint32_t input);
    uint32_t input; /* for count */
} table[] = {
    {"Conv", "", convolution, 1},
    {"ConvInteger", "", convolution, 1},
    {"QLinearConv", "", convolution, 3},
    {"DeformConv", "", convolution, 1},
    {"FusedConv", "com.microsoft", convolution, 1},
    {"ConvTranspose", "", deconvolution, 1},
    {"MatMul", "", matmul, 0},
    {"Gemm", "", matmul, 0},
    {"MatMulInteger", "", matmul, 0},
    {"QLinearMatMul", "", matmul, 0},
    {"FusedMatMul", "com.microsoft", matmul, 0},
    {"FusedGemm", "com.microsoft", matmul, 0},
    {"RNN", "", recurrent, 1},
    {"GRU", "", recurrent, 1},
    {"LSTM", "", recurrent, 1},
    {"Einsum", "", einsum, 0},
    {"Attention", "", attention, 4},
    {"MultiHeadAttention", "com.microsoft", attention, 6},
    {"GroupQueryAttention", "com.microsoft", attention, 3},
    {"Attention", "com.microsoft", projected_attention, 4},
};

double amp_flops(const struct amp_ctx *ctx)
{
    for (size_t i = 0; i < AMP_COUNT(table); i++)
        if (amp_node_is(ctx->node, table[i].domain, table[i].op))
            return table[i].count(ctx, table[i].input);
    return 0;
}

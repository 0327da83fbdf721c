/*
 * MaxUnpool: puts the elements of X [N, C, D...] at the places that MaxPool's indices name, zeros
 * everywhere else. The indices count elements of the tensor that the pooling read; where the output
 * is larger than that, it lies at the low end of every dim.
 */
#include "ops/kernel/kernel.h"
#include "ops/conv/window.h"

#include <inttypes.h>
#include <string.h>

/* The shape that the pooling read, from kernel, strides and pads. */
static enum amp_status pooled_shape(const struct amp_ctx *ctx, struct amp_shape *shape)
{
    struct amp_window window;
    *shape = ctx->in[0]->shape;
    AMP_TRY(amp_window_read(ctx, shape->rank - 2, NULL, &window));
    AMP_TRY(amp_window_unslide(ctx, shape->dims + 2, &window));
    memcpy(shape->dims + 2, window.image, (size_t)window.n * sizeof *shape->dims);
    return AMP_OK;
}

static enum amp_status unpool_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t given[AMP_RANK_MAX];
    int n, count;
    out->rank = -1;
    AMP_TRY(amp_window_rank(ctx, 0, 1, &n));
    AMP_TRY(amp_ctx_ints(ctx, 2, given, AMP_RANK_MAX, &count));
    if (n < 0)
        return AMP_OK;
    AMP_TRY(pooled_shape(ctx, out));
    if (count > 0 && count != out->rank)
        return AMP_CTX_FAIL(ctx, "output_shape has %d values; %d are needed", count, out->rank);
    for (int d = 0; d < out->rank && count != 0; d++) {
        if (count > 0)
            out->dims[d] = given[d];
        else if (d >= 2)
            out->dims[d] = AMP_DIM_UNKNOWN;
        if (count > 0 && (given[d] < 0 || given[d] > INT32_MAX))
            return AMP_CTX_FAIL(ctx, "output_shape holds %" PRId64 "; 0 to %d allowed", given[d],
                                INT32_MAX);
    }
    return AMP_OK;
}

static enum amp_status scatter(struct amp_ctx *ctx, const struct amp_shape *space)
{
    const struct amp_tensor *x = ctx->in[0], *out = ctx->out[0];
    const int64_t *index = ctx->in[1]->data;
    size_t size = amp_dtype_bits(x->dtype) / 8;
    int64_t limit = amp_shape_count(space), strides[AMP_RANK_MAX], at[AMP_RANK_MAX];
    amp_strides(&out->shape, strides);
    for (int64_t i = 0; i < amp_shape_count(&x->shape); i++) {
        int64_t place = 0;
        if (index[i] < 0 || index[i] >= limit)
            return AMP_CTX_FAIL(
                ctx, "index %" PRId64 " at element %" PRId64 "; 0 to %" PRId64 " allowed", index[i],
                i, limit - 1);
        amp_index_at(space->rank, space->dims, index[i], at);
        for (int d = 0; d < space->rank; d++)
            place += at[d] * strides[d];
        memcpy((char *)out->data + (size_t)place * size, (const char *)x->data + (size_t)i * size,
               size);
    }
    return AMP_OK;
}

static enum amp_status unpool_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *out = ctx->out[0];
    struct amp_shape space;
    if (!amp_shape_equal(&ctx->in[0]->shape, &ctx->in[1]->shape))
        return AMP_CTX_FAIL(ctx, "input 0 and its indices differ in shape");
    AMP_TRY(pooled_shape(ctx, &space));
    for (int d = 0; d < space.rank; d++)
        if (out->shape.dims[d] < space.dims[d])
            space.dims[d] = out->shape.dims[d];
    if (amp_shape_count(&out->shape) > 0)
        memset(out->data, 0, amp_tensor_size(out));
    return scatter(ctx, &space);
}

const struct amp_op amp_op_max_unpool = {
    .name = "MaxUnpool",
    .newest = 22,
    .effect = AMP_PRESERVES_VALUES,
    .shape = unpool_shape,
    .run = unpool_run,
};

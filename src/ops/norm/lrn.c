/*
 * Local response normalisation over channels (ONNX LRN): y = x / (bias + alpha / size * s)^beta,
 * where s sums x * x over the SIZE channels around each. oneDNN does odd sizes: of an even one it
 * would sum one channel less.
 */
#include "ops/bound.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"

#include <inttypes.h>
#include <math.h>

struct lrn {
    int64_t size;
    float alpha, beta, bias;
};

static enum amp_status lrn_read(const struct amp_ctx *ctx, struct lrn *lrn)
{
    *lrn = (struct lrn){.size = amp_node_int(ctx->node, "size", 0),
                        .alpha = amp_node_float(ctx->node, "alpha", 1e-4f),
                        .beta = amp_node_float(ctx->node, "beta", 0.75f),
                        .bias = amp_node_float(ctx->node, "bias", 1)};
    if (lrn->size < 1 || lrn->size > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "attribute 'size' is %" PRId64 "; 1 to %d allowed", lrn->size,
                            INT32_MAX);
    return AMP_OK;
}

static enum amp_status lrn_shape(struct amp_ctx *ctx)
{
    struct lrn lrn;
    int rank = ctx->in[0]->shape.rank;
    if (rank >= 0 && rank < 2)
        return AMP_CTX_FAIL(ctx, "input 0 has rank %d; 2 or more is needed", rank);
    AMP_TRY(lrn_read(ctx, &lrn));
    return amp_shape_same(ctx);
}

/* One channel of one batch entry; x and y begin at the entry's first channel. */
#define CHANNEL(DTYPE, T)                                                                          \
    static void channel_##DTYPE(const struct lrn *lrn, const void *x, void *y, int64_t c,          \
                                int64_t channels, int64_t count)                                   \
    {                                                                                              \
        int64_t before = (lrn->size - 1) / 2, behind = lrn->size - 1 - before;                     \
        int64_t first = c > before ? c - before : 0;                                               \
        int64_t last = c + behind < channels ? c + behind : channels - 1;                          \
        const T *from = (const T *)x + c * count;                                                  \
        T *to = (T *)y + c * count, alpha = (T)lrn->alpha / (T)lrn->size;                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = 0;                                                                             \
        for (int64_t k = first; k <= last; k++)                                                    \
            for (int64_t i = 0; i < count; i++)                                                    \
                to[i] += ((const T *)x)[k * count + i] * ((const T *)x)[k * count + i];            \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = (T)(from[i] / pow((double)((T)lrn->bias + alpha * to[i]), (double)lrn->beta)); \
    }
AMP_FLOAT_TYPES(CHANNEL)

typedef void channel_fn(const struct lrn *lrn, const void *x, void *y, int64_t c, int64_t channels,
                        int64_t count);

static channel_fn *const channels_of[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, channel)};

static enum amp_status lrn_plain(struct amp_ctx *ctx)
{
    struct lrn lrn;
    channel_fn *channel;
    const struct amp_tensor *x = ctx->in[0];
    AMP_PICK(ctx, channel, channels_of, x->dtype);
    AMP_TRY(lrn_read(ctx, &lrn));
    int64_t channels = x->shape.dims[1];
    int64_t count = amp_shape_product(&x->shape, 2, x->shape.rank);
    int64_t bytes = channels * count * amp_dtype_bits(x->dtype) / 8;
#pragma omp parallel for
    for (int64_t i = 0; i < x->shape.dims[0] * channels; i++) {
        int64_t offset = i / channels * bytes;
        channel(&lrn, (const char *)x->data + offset, (char *)ctx->out[0]->data + offset,
                i % channels, channels, count);
    }
    return AMP_OK;
}

static enum amp_status lrn_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct lrn lrn;
    dnnl_memory_desc_t desc;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(lrn_read(ctx, &lrn));
    if (ctx->in[0]->shape.rank > 5)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has LRN up to rank 5");
    if (lrn.size % 2 == 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no LRN over an even size");
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &desc));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_dnnl_check(
        ctx->err,
        dnnl_lrn_forward_primitive_desc_create(&pd, ctx->host->dnnl->engine, dnnl_forward_inference,
                                               dnnl_lrn_across_channels, desc, desc, lrn.size,
                                               lrn.alpha, lrn.beta, lrn.bias, attr),
        "LRN"));
    /* In lower dtypes its reference implementation converts every element that it reads. */
    AMP_TRY(ctx->in[0]->dtype == AMP_FLOAT ? amp_prim_create(ctx, prim, pd)
                                           : amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, desc));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST);
}

static enum amp_status lrn_run(struct amp_ctx *ctx)
{
    if (amp_shape_count(&ctx->out[0]->shape) == 0)
        return amp_ctx_alloc(ctx, 0);
    return amp_prim_run_or(ctx, lrn_make, lrn_plain);
}

const struct amp_op amp_op_lrn = {
    .name = "LRN",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .inner = amp_inner_magnitude,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .shape = lrn_shape,
    .run = lrn_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

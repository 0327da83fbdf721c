/*
 * The oneDNN primitive of convolution and transposed convolution, and the layouts that it is made
 * for.
 */
#include "ops/conv/conv.h"

#include <string.h>

/* What oneDNN makes a convolution of. Of input and weights: as the node has them. */
struct parts {
    amp_conv_create *create;
    dnnl_alg_kind_t alg;
    const struct amp_window *window;
    const struct amp_conv_weights *weights;
    int64_t dilation[AMP_SPATIAL_MAX]; /* gaps, as oneDNN counts them */
    dnnl_memory_desc_t x, w, bias;     /* bias NULL: none */
    dnnl_primitive_attr_t attr;
};

static enum amp_status describe(struct amp_ctx *ctx, struct amp_prim *prim, struct parts *parts)
{
    const struct amp_conv_weights *w = parts->weights;
    for (int d = 0; d < parts->window->n; d++)
        parts->dilation[d] = parts->window->dilation[d] - 1;
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &parts->x));
    AMP_TRY(ctx->in[1]->layout != NULL ? amp_prim_desc_tensor(prim, ctx->err, ctx->in[1], &parts->w)
                                       : amp_prim_desc(prim, ctx->err, ctx->in[1]->dtype, w->rank,
                                                       w->dims, w->strides, &parts->w));
    if (amp_has_in(ctx, 2))
        AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[2], &parts->bias));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &parts->attr));
    const struct amp_shape *out = &ctx->out[0]->shape;
    return amp_prim_set_posts(ctx, prim, parts->attr, NULL, out->rank, out->dims);
}

/* *PD from layout X to layout Y; the weights' is left to oneDNN. */
static enum amp_status create(struct amp_ctx *ctx, struct amp_prim *prim, const struct parts *parts,
                              dnnl_format_tag_t x, dnnl_format_tag_t y, dnnl_primitive_desc_t *pd)
{
    const struct amp_shape *in = &ctx->in[0]->shape, *out = &ctx->out[0]->shape;
    const struct amp_window *window = parts->window;
    enum amp_dtype dtype = ctx->in[1]->dtype;
    /* What is read may be yet to be cast to that; bytes differ in sign. */
    enum amp_dtype x_dtype = ctx->in[0]->dtype == AMP_UINT8 ? AMP_UINT8 : dtype;
    dnnl_memory_desc_t src, weights, dst;
    AMP_TRY(amp_prim_desc_tag(prim, ctx->err, x_dtype, in->rank, in->dims, x, &src));
    AMP_TRY(amp_prim_desc_tag(prim, ctx->err, dtype, parts->weights->rank, parts->weights->dims,
                              dnnl_format_tag_any, &weights));
    AMP_TRY(amp_prim_desc_tag(prim, ctx->err, ctx->out[0]->dtype, out->rank, out->dims, y, &dst));
    return amp_dnnl_check(ctx->err,
                          parts->create(pd, ctx->host->dnnl->engine, dnnl_forward_inference,
                                        parts->alg, src, weights, parts->bias, dst, window->stride,
                                        parts->dilation, window->pad_begin, window->pad_end,
                                        parts->attr),
                          "convolution");
}

enum { BLOCK = 16 }; /* channels: a vector of AVX-512 */

static const dnnl_format_tag_t blocked[] = {[1] = dnnl_nCw16c, dnnl_nChw16c, dnnl_nCdhw16c};

/* In float32 oneDNN offers channels-last kernels first, also where those for blocks of channels are
   faster. Few enough inputs are no block. */
static bool create_blocked(struct amp_ctx *ctx, struct amp_prim *prim, const struct parts *parts,
                           dnnl_primitive_desc_t *pd)
{
    struct amp_error refusal = {.status = AMP_OK}, *err = ctx->err;
    dnnl_format_tag_t tag = blocked[parts->window->n];
    const char *name = "";
    if (!ctx->host->blocks_channels || ctx->in[1]->dtype != AMP_FLOAT ||
        ctx->out[0]->dtype != AMP_FLOAT)
        return false;
    ctx->err = &refusal;
    enum amp_status status = create(
        ctx, prim, parts, ctx->in[0]->shape.dims[1] < BLOCK ? dnnl_format_tag_any : tag, tag, pd);
    ctx->err = err;
    if (status != AMP_OK)
        return false;
    dnnl_primitive_desc_query(*pd, dnnl_query_impl_info_str, 0, &name);
    if (strncmp(name, "jit", 3) == 0 && strstr(name, ":avx512") != NULL)
        return true;
    dnnl_primitive_desc_destroy(*pd);
    return false;
}

enum amp_status amp_conv_make(struct amp_ctx *ctx, struct amp_prim *prim, amp_conv_create *make,
                              dnnl_alg_kind_t alg, const struct amp_window *window,
                              const struct amp_conv_weights *weights)
{
    struct parts parts = {.create = make, .alg = alg, .window = window, .weights = weights};
    dnnl_primitive_desc_t pd;
    if (window->n > 3 || amp_shape_count(&ctx->in[0]->shape) == 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no convolution of this shape");
    AMP_TRY(describe(ctx, prim, &parts));
    if (!create_blocked(ctx, prim, &parts, &pd))
        AMP_TRY(create(ctx, prim, &parts, dnnl_format_tag_any, dnnl_format_tag_any, &pd));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, parts.x));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_WEIGHTS, 1, parts.w));
    if (parts.bias != NULL)
        AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_BIAS, 2, parts.bias));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST, 0);
}

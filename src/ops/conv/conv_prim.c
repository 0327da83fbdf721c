/*
 * Makes the oneDNN primitive of a convolution or transposed convolution: the layouts that it is
 * made for, its weights, post-ops and bindings. It takes a window and a view of the weights that
 * have been checked.
 */
#include "ops/conv/conv_prim.h"

#include "core/cpu.h"
#include "ops/dnnl/describe.h"
#include "ops/kernel/kernel.h"

#include <string.h>

struct amp_conv_weights amp_conv_weights_of(const struct amp_shape *w, int64_t group)
{
    struct amp_conv_weights weights = {.rank = w->rank};
    int lead = group > 1;
    memcpy(weights.dims + lead, w->dims, (size_t)w->rank * sizeof *w->dims);
    amp_strides(w, weights.strides + lead);
    if (lead) {
        weights.rank++;
        weights.dims[0] = group;
        weights.dims[1] /= group;
        weights.strides[0] = weights.dims[1] * weights.strides[1];
    }
    return weights;
}

/* The primitive's memories: input and weights as the node has them. */
struct parts {
    const struct amp_conv_prim *conv;
    int64_t dilation[AMP_SPATIAL_MAX]; /* gaps, as oneDNN counts them */
    dnnl_memory_desc_t x, w, bias;     /* bias NULL: none */
    dnnl_primitive_attr_t attr;
};

static enum amp_status describe(struct amp_ctx *ctx, struct amp_prim *prim, struct parts *parts)
{
    const struct amp_conv_weights *w = parts->conv->weights;
    for (int d = 0; d < parts->conv->window->n; d++)
        parts->dilation[d] = parts->conv->window->dilation[d] - 1;
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &parts->x));
    AMP_TRY(ctx->in[1]->layout != NULL
                ? amp_prim_desc_tensor(prim, ctx->err, ctx->in[1], &parts->w)
                : amp_prim_desc(prim, ctx->err,
                                amp_form_strided(ctx->in[1]->dtype, w->rank, w->dims, w->strides),
                                &parts->w));
    if (amp_has_in(ctx, 2))
        AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[2], &parts->bias));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &parts->attr));
    if (parts->conv->x_zero != 0)
        AMP_TRY(amp_dnnl_check(
            ctx->err, dnnl_primitive_attr_set_zero_points_mask(parts->attr, DNNL_ARG_SRC, 0),
            "zero point"));
    const struct amp_shape *out = &ctx->out[0]->shape;
    return amp_prim_set_posts(ctx, prim, NULL, out->rank, out->dims);
}

/* The layouts of the input and of the output; the weights' is left to oneDNN. */
struct tags {
    dnnl_format_tag_t x, y;
};

static enum amp_status create(struct amp_ctx *ctx, struct amp_prim *prim, const struct parts *parts,
                              struct tags tags, dnnl_primitive_desc_t *pd)
{
    const struct amp_shape *in = &ctx->in[0]->shape, *out = &ctx->out[0]->shape;
    const struct amp_conv_prim *conv = parts->conv;
    const struct amp_conv_weights *w = conv->weights;
    enum amp_dtype dtype = ctx->in[1]->dtype, y_dtype = ctx->out[0]->dtype;
    /* What is read may be yet to be cast to that; bytes differ in sign. */
    enum amp_dtype x_dtype = ctx->in[0]->dtype == AMP_UINT8 ? AMP_UINT8 : dtype;
    dnnl_memory_desc_t src, weights, dst;
    AMP_TRY(
        amp_prim_desc(prim, ctx->err, amp_form_tagged(x_dtype, in->rank, in->dims, tags.x), &src));
    AMP_TRY(amp_prim_desc(prim, ctx->err,
                          amp_form_tagged(dtype, w->rank, w->dims, dnnl_format_tag_any), &weights));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_tagged(y_dtype, out->rank, out->dims, tags.y),
                          &dst));
    return amp_dnnl_check(ctx->err,
                          conv->create(pd, ctx->host->dnnl->engine, dnnl_forward_inference,
                                       conv->alg, src, weights, parts->bias, dst,
                                       conv->window->stride, parts->dilation,
                                       conv->window->pad_begin, conv->window->pad_end, parts->attr),
                          "convolution");
}

/* Blocks of channels, of a vector each: their tags by spatial dims, and how the names of kernels
   end that oneDNN generates for such vectors. */
static const struct blocks {
    int64_t channels;
    dnnl_format_tag_t tags[4];
    const char *isa;
} of_16 = {16, {[1] = dnnl_nCw16c, dnnl_nChw16c, dnnl_nCdhw16c}, ":avx512"},
  of_8 = {8, {[1] = dnnl_nCw8c, dnnl_nChw8c, dnnl_nCdhw8c}, ":avx2"};

/* Whether the window has one channel and many taps. */
static bool is_of_taps(const struct amp_ctx *ctx, const struct amp_window *window)
{
    enum { MANY = 16 };
    return ctx->in[0]->shape.dims[1] == 1 && amp_window_product(window->n, window->kernel) >= MANY;
}

/* Whether channels-last kernels read one channel tap by tap: their products sum over channels, and
   at a border they do not sum over taps instead. */
static bool reads_single_taps(const struct amp_ctx *ctx, const struct amp_window *window)
{
    bool is_padded = false;
    for (int d = 0; d < window->n; d++)
        is_padded |= window->pad_begin[d] > 0 || window->pad_end[d] > 0;
    return is_padded && is_of_taps(ctx, window);
}

/* Whether kernels for blocks of channels are faster. In bfloat16 they are so where the CPU hides
   its caches, by which oneDNN cuts work for channels-last kernels: ResNet-50 runs 1.6 times as
   fast. */
static bool prefers_blocks(const struct amp_ctx *ctx, const struct amp_window *window)
{
    if (ctx->in[1]->dtype == AMP_BFLOAT16)
        return !amp_cpu_tells_caches() && !amp_cpu_has(AMP_CPU_AMX_BF16);
    return ctx->in[1]->dtype == AMP_FLOAT && ctx->out[0]->dtype == AMP_FLOAT &&
           (ctx->host->blocks_channels || reads_single_taps(ctx, window));
}

/* oneDNN offers channels-last kernels first, also where those for blocks of channels are faster.
   Few enough inputs are no block. Which kernel stands behind a descriptor, oneDNN's API tells by
   its name alone: those that are generated for the CPU's vectors are the fast ones. */
static enum amp_status create_blocked(struct amp_ctx *ctx, struct amp_prim *prim,
                                      const struct parts *parts, dnnl_primitive_desc_t *pd)
{
    const struct amp_window *window = parts->conv->window;
    const struct blocks *blocks = amp_cpu_has(AMP_CPU_AVX512) ? &of_16 : &of_8;
    dnnl_format_tag_t tag = blocks->tags[window->n];
    if (!prefers_blocks(ctx, window))
        return AMP_UNSUPPORTED;
    struct tags tags = {
        .x = ctx->in[0]->shape.dims[1] < blocks->channels ? dnnl_format_tag_any : tag, .y = tag};
    AMP_TRY(create(ctx, prim, parts, tags, pd));
    const char *name = amp_describe_implementation(*pd);
    if (strncmp(name, "jit", 3) == 0 && strstr(name, blocks->isa) != NULL)
        return AMP_OK;
    dnnl_primitive_desc_destroy(*pd);
    return AMP_UNSUPPORTED;
}

static bool unfolds(const_dnnl_primitive_desc_t pd)
{
    return strstr(amp_describe_implementation(pd), "gemm") != NULL;
}

/* Moves on to the product of the unfolded image, which sums over taps; AMP_UNSUPPORTED where there
   is none. */
static enum amp_status create_unfolded(struct amp_ctx *ctx, struct amp_prim *prim,
                                       const struct parts *parts, dnnl_primitive_desc_t *pd)
{
    static const dnnl_format_tag_t rows[] = {[1] = dnnl_ncw, dnnl_nchw, dnnl_ncdhw};
    dnnl_format_tag_t tag = rows[parts->conv->window->n];
    AMP_TRY(create(ctx, prim, parts, (struct tags){tag, tag}, pd));
    while (!unfolds(*pd))
        if (dnnl_primitive_desc_next_impl(*pd) != dnnl_success) {
            dnnl_primitive_desc_destroy(*pd);
            return AMP_UNSUPPORTED;
        }
    return AMP_OK;
}

/* What is asked for first. Where the CPU hides its caches, channels-last kernels read one channel
   tap by tap in any case. */
static enum amp_status create_preferred(struct amp_ctx *ctx, struct amp_prim *prim,
                                        const struct parts *parts, dnnl_primitive_desc_t *pd)
{
    enum amp_status status = create_blocked(ctx, prim, parts, pd);
    if (status != AMP_UNSUPPORTED || amp_cpu_tells_caches() || ctx->in[1]->dtype != AMP_FLOAT ||
        !is_of_taps(ctx, parts->conv->window))
        return status;
    return create_unfolded(ctx, prim, parts, pd);
}

static enum amp_status create_best(struct amp_ctx *ctx, struct amp_prim *prim,
                                   const struct parts *parts, dnnl_primitive_desc_t *pd)
{
    const struct tags any = {dnnl_format_tag_any, dnnl_format_tag_any};
    struct amp_error refusal = {.status = AMP_OK}, *err = ctx->err;
    ctx->err = &refusal;
    enum amp_status status = create_preferred(ctx, prim, parts, pd);
    ctx->err = err;
    if (status == AMP_UNSUPPORTED)
        return create(ctx, prim, parts, any, pd);
    return status == AMP_OK ? AMP_OK : amp_error_copy(err, &refusal);
}

/* Refuses products of unfolded images, oneDNN's last resort, where there is something better: in
   bfloat16 the kernels for such windows in float32, which take a fraction of the time. PD goes
   then. */
static enum amp_status refuse_unfolding(struct amp_ctx *ctx, const struct amp_conv_prim *conv,
                                        dnnl_primitive_desc_t pd)
{
    bool is_better = ctx->in[1]->dtype == AMP_BFLOAT16 || conv->does_without_unfolding;
    if (!is_better || !unfolds(pd))
        return AMP_OK;
    dnnl_primitive_desc_destroy(pd);
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN unfolds images for this window");
}

/* Binds the zero point of the input, where it has one. */
static enum amp_status bind_zero(struct amp_ctx *ctx, struct amp_prim *prim, int32_t zero)
{
    dnnl_memory_desc_t desc;
    void *data;
    if (zero == 0)
        return AMP_OK;
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(AMP_INT32, 1, (const int64_t[]){1}),
                          &desc));
    AMP_TRY(amp_prim_bind_data(ctx, prim, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, desc, &data));
    *(int32_t *)data = zero;
    return AMP_OK;
}

/* Whether sums of bytes, wanted as they are, may pass what float32 has all whole numbers of. */
static bool passes_float(const struct amp_ctx *ctx)
{
    enum { EXACT = 1 << 24, TERM = UINT8_MAX * -INT8_MIN };
    int64_t filters = ctx->out[0]->shape.dims[1], count = amp_shape_count(&ctx->in[1]->shape);
    return ctx->out[0]->dtype == AMP_INT32 && count > EXACT / TERM * filters;
}

/* Goes on to an implementation that has sums of bytes as integers to the end. Others take them
   through float32, of which oneDNN's API tells nothing but their names. PD goes where there is
   none. */
static enum amp_status keep_integers(struct amp_ctx *ctx, dnnl_primitive_desc_t pd)
{
    while (strncmp(amp_describe_implementation(pd), "brg", 3) != 0)
        if (dnnl_primitive_desc_next_impl(pd) != dnnl_success) {
            dnnl_primitive_desc_destroy(pd);
            return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN adds such bytes up in float32");
        }
    return AMP_OK;
}

enum amp_status amp_conv_prim_make(struct amp_ctx *ctx, struct amp_prim *prim,
                                   const struct amp_conv_prim *conv)
{
    struct parts parts = {.conv = conv};
    dnnl_primitive_desc_t pd;
    if (conv->window->n > 3 || amp_shape_count(&ctx->in[0]->shape) == 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no convolution of this shape");
    AMP_TRY(describe(ctx, prim, &parts));
    AMP_TRY(create_best(ctx, prim, &parts, &pd));
    AMP_TRY(refuse_unfolding(ctx, conv, pd));
    if (passes_float(ctx))
        AMP_TRY(keep_integers(ctx, pd));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, parts.x));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_WEIGHTS, 1, parts.w));
    AMP_TRY(bind_zero(ctx, prim, conv->x_zero));
    if (parts.bias != NULL)
        AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_BIAS, 2, parts.bias));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST);
}

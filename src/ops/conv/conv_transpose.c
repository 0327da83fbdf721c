/*
 * Transposed convolution (ONNX ConvTranspose): X [N, C, steps...] with weights [C, M / group, K...]
 * gives [N, M, image...]: each element of X adds its multiple of the kernel to the image. oneDNN
 * does up to three spatial dims; other shapes and float64 run in C.
 */
#include "ops/bound.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_prim.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

/* Output channels: so many per group. */
static enum amp_status count_filters(const struct amp_ctx *ctx, int64_t per_group,
                                     struct amp_conv *deconv)
{
    deconv->filters = deconv->group == 1 ? per_group : AMP_DIM_UNKNOWN;
    if (per_group > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "weights for %" PRId64 " output channels; up to %d are supported",
                            per_group, INT32_MAX);
    if (per_group >= 0)
        deconv->filters = per_group * deconv->group;
    return AMP_OK;
}

/* Everything from attributes and shapes, unknown dims allowed. The spatial rank must be known. */
static enum amp_status deconv_read(const struct amp_ctx *ctx, int n, struct amp_conv *deconv)
{
    int64_t unknown[AMP_RANK_MAX];
    const int64_t *x_dims = amp_conv_dims(&ctx->in[0]->shape, unknown);
    const int64_t *w_dims = amp_conv_dims(&ctx->in[1]->shape, unknown);
    *deconv = (struct amp_conv){.batch = x_dims[0], .channels = x_dims[1]};
    AMP_TRY(amp_conv_group(ctx, deconv->channels, AMP_DIM_UNKNOWN, &deconv->group));
    AMP_TRY(count_filters(ctx, w_dims[1], deconv));
    AMP_TRY(amp_conv_bias(ctx, 2, deconv->filters));
    if (x_dims[1] >= 0 && w_dims[0] >= 0 && x_dims[1] != w_dims[0])
        return AMP_CTX_FAIL(ctx, "weights for %" PRId64 " input channels; the input has %" PRId64,
                            w_dims[0], x_dims[1]);
    AMP_TRY(amp_window_read(ctx, n, w_dims + 2, &deconv->window));
    return amp_window_unslide(ctx, x_dims + 2, &deconv->window);
}

static enum amp_status deconv_shape(struct amp_ctx *ctx)
{
    struct amp_conv deconv;
    int n;
    ctx->out[0]->shape.rank = -1;
    AMP_TRY(amp_conv_rank(ctx, 0, 1, &n));
    if (n < 0)
        return AMP_OK;
    AMP_TRY(deconv_read(ctx, n, &deconv));
    amp_conv_set_shape(ctx, &deconv, n, deconv.window.image);
    return AMP_OK;
}

/* One output plane: the channels of filter M's group. */
#define PLANE(DTYPE, T)                                                                         \
    static void tap_##DTYPE(struct amp_runs *runs, const T *steps, T weight, T *image)          \
    {                                                                                           \
        while (amp_runs_next(runs)) {                                                           \
            const T *from = steps + runs->step;                                                 \
            T *to = image + runs->image;                                                        \
            int64_t stride = runs->stride, count = runs->count;                                 \
            AMP_SIMD                                                                            \
            for (int64_t i = 0; i < count; i++)                                                 \
                to[i * stride] += weight * from[i];                                             \
        }                                                                                       \
    }                                                                                           \
    static void plane_##DTYPE(const struct amp_ctx *ctx, const struct amp_conv *deconv,         \
                              int64_t batch, int64_t m)                                         \
    {                                                                                           \
        const struct amp_window *window = &deconv->window;                                      \
        int64_t image_size = amp_window_product(window->n, window->image);                      \
        int64_t steps_size = amp_window_product(window->n, window->steps);                      \
        int64_t taps = amp_window_product(window->n, window->kernel);                           \
        int64_t channels = deconv->channels / deconv->group;                                    \
        int64_t filters = deconv->filters / deconv->group;                                      \
        int64_t first = m / filters * channels;                                                 \
        T *image = (T *)ctx->out[0]->data + (batch * deconv->filters + m) * image_size;         \
        T bias = amp_has_in(ctx, 2) ? ((const T *)ctx->in[2]->data)[m] : (T)0;                  \
        for (int64_t i = 0; i < image_size; i++)                                                \
            image[i] = bias;                                                                    \
        for (int64_t c = first; c < first + channels; c++) {                                    \
            const T *steps =                                                                    \
                (const T *)ctx->in[0]->data + (batch * deconv->channels + c) * steps_size;      \
            const T *weight = (const T *)ctx->in[1]->data + (c * filters + m % filters) * taps; \
            int64_t tap[AMP_SPATIAL_MAX] = {0};                                                 \
            do {                                                                                \
                struct amp_runs runs;                                                           \
                amp_runs_start(&runs, window, tap);                                             \
                tap_##DTYPE(&runs, steps, *weight++, image);                                    \
            } while (amp_index_next(window->n, window->kernel, tap));                           \
        }                                                                                       \
    }
AMP_FLOAT_TYPES(PLANE)

static amp_conv_plane *const planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, plane)};

static enum amp_status deconv_plain(struct amp_ctx *ctx)
{
    struct amp_conv deconv;
    amp_conv_plane *plane;
    AMP_PICK(ctx, plane, planes, ctx->in[0]->dtype);
    AMP_TRY(deconv_read(ctx, ctx->in[0]->shape.rank - 2, &deconv));
    amp_conv_planes(ctx, &deconv, plane);
    return AMP_OK;
}

static enum amp_status deconv_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    const struct amp_shape *w = &ctx->in[1]->shape;
    struct amp_conv deconv;
    struct amp_conv_weights weights = {.rank = w->rank};
    AMP_TRY(deconv_read(ctx, w->rank - 2, &deconv));
    if (ctx->in[1]->dtype == AMP_BFLOAT16 && deconv.group > 1 && deconv.group == deconv.channels)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN takes single channels one by one");
    int lead = deconv.group > 1;
    int64_t *dims = weights.dims + lead, *strides = weights.strides + lead;
    int64_t own[AMP_RANK_MAX], channels = deconv.channels / deconv.group;
    amp_strides(w, own);
    memcpy(dims, w->dims, (size_t)w->rank * sizeof *dims);
    memcpy(strides, own, (size_t)w->rank * sizeof *strides);
    dims[0] = w->dims[1]; /* oneDNN wants the output channels first */
    dims[1] = channels;
    strides[0] = own[1];
    strides[1] = own[0];
    if (lead) {
        weights.rank++;
        weights.dims[0] = deconv.group;
        weights.strides[0] = channels * own[0];
    }
    for (int d = 0; d < deconv.window.n; d++)
        deconv.window.pad_end[d] = amp_window_reach(&deconv.window, d);
    const struct amp_conv_prim what = {.create = dnnl_deconvolution_forward_primitive_desc_create,
                                       .alg = dnnl_deconvolution_direct,
                                       .window = &deconv.window,
                                       .weights = &weights};
    return amp_conv_prim_make(ctx, prim, &what);
}

static enum amp_status deconv_run(struct amp_ctx *ctx)
{
    return amp_conv_run(ctx, deconv_make, deconv_plain);
}

/* What derivatives begin with. */
#define WINDOWS "image = y; steps = a; kernel = Shape(b; start=2);"
const struct amp_op amp_op_conv_transpose = {
    .name = "ConvTranspose",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .bound = amp_bound_product,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .reads_casts = AMP_INPUT(0),
    .fuses = true,
    .linear = &(const struct amp_linear){.has_added = true, .channel = 1, .parts = "group"},
    .flops = {amp_flops_deconvolution, 1},
    .gradient = AMP_GRADIENT(
        {.term =
             WINDOWS "Conv(Covered(g), b; strides=*strides, dilations=*dilations, group=#group)"},
        {.input = 1, .term = WINDOWS "Taps(Covered(g), a)"}, {.input = 2, .term = "Channels(g)"}),
    .shape = deconv_shape,
    .run = deconv_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
};

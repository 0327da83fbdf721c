/*
 * Convolutions (ONNX Conv, ConvInteger, QLinearConv): X [N, C, D...] with weights [M, C / group,
 * K...] gives [N, M, steps...]. Conv runs in oneDNN for up to three spatial dims; other shapes,
 * float64 and the integer operators run in C, tap by tap over whole planes.
 */
#include "ops/conv.h"

#include "ops/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Which input is which. */
struct conv_inputs {
    uint32_t x, x_zero, w, w_zero, bias;
};

static const struct conv_inputs conv_inputs = {.x = 0, .w = 1, .bias = 2};
static const struct conv_inputs conv_integer_inputs = {
    .x = 0, .x_zero = 2, .w = 1, .w_zero = 3, .bias = UINT32_MAX};
static const struct conv_inputs qlinear_conv_inputs = {
    .x = 0, .x_zero = 2, .w = 3, .w_zero = 5, .bias = 8};

struct conv {
    const struct conv_inputs *inputs;
    struct amp_window window;
    int64_t group, batch, channels, filters; /* dims unknown where the shapes do not tell */
};

enum amp_status amp_conv_rank(const struct amp_ctx *ctx, uint32_t x, uint32_t w, int *n)
{
    int n_weights;
    AMP_TRY(amp_window_rank(ctx, x, 1, n));
    AMP_TRY(amp_window_rank(ctx, w, 1, &n_weights));
    if (*n >= 0 && n_weights >= 0 && *n != n_weights)
        return AMP_CTX_FAIL(ctx, "weights of rank %d; rank %d, as the input has, is needed",
                            n_weights + 2, *n + 2);
    if (*n < 0)
        *n = n_weights;
    return AMP_OK;
}

enum amp_status amp_conv_group(const struct amp_ctx *ctx, int64_t channels, int64_t filters,
                               int64_t *group)
{
    *group = amp_node_int(ctx->node, "group", 1);
    if (*group < 1 || *group > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "attribute 'group' is %" PRId64 "; 1 to %d allowed", *group,
                            INT32_MAX);
    int64_t odd = channels > 0 && channels % *group != 0 ? channels : filters;
    if (odd > 0 && odd % *group != 0)
        return AMP_CTX_FAIL(ctx,
                            "%" PRId64 " %s channels; a multiple of group %" PRId64 " is needed",
                            odd, odd == channels ? "input" : "output", *group);
    return AMP_OK;
}

enum amp_status amp_conv_bias(const struct amp_ctx *ctx, uint32_t i, int64_t filters)
{
    if (!amp_has_in(ctx, i) || ctx->in[i]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    bool is_known = shape->rank == 1 && shape->dims[0] >= 0 && filters >= 0;
    char text[256];
    if (shape->rank == 1 && (!is_known || shape->dims[0] == filters))
        return AMP_OK;
    return AMP_CTX_FAIL(
        ctx, "bias has shape %s; one value for each of %" PRId64 " output channels is needed",
        amp_shape_text(shape, text, sizeof text), filters);
}

/* Everything from attributes and shapes, unknown dims allowed. The spatial rank must be known. */
static enum amp_status conv_read(const struct amp_ctx *ctx, const struct conv_inputs *inputs, int n,
                                 struct conv *conv)
{
    int64_t unknown[AMP_RANK_MAX];
    for (int d = 0; d < AMP_RANK_MAX; d++)
        unknown[d] = AMP_DIM_UNKNOWN;
    const struct amp_shape *x = &ctx->in[inputs->x]->shape, *w = &ctx->in[inputs->w]->shape;
    const int64_t *x_dims = x->rank < 0 ? unknown : x->dims;
    const int64_t *w_dims = w->rank < 0 ? unknown : w->dims;
    *conv = (struct conv){
        .inputs = inputs, .batch = x_dims[0], .channels = x_dims[1], .filters = w_dims[0]};
    AMP_TRY(amp_conv_group(ctx, conv->channels, conv->filters, &conv->group));
    AMP_TRY(amp_conv_bias(ctx, inputs->bias, conv->filters));
    if (conv->channels >= 0 && w_dims[1] >= 0 && conv->channels / conv->group != w_dims[1])
        return AMP_CTX_FAIL(ctx,
                            "weights for %" PRId64 " input channels in each of %" PRId64
                            " groups; the input has %" PRId64 " channels",
                            w_dims[1], conv->group, conv->channels);
    AMP_TRY(amp_window_read(ctx, n, w_dims + 2, &conv->window));
    return amp_window_slide(ctx, x_dims + 2, &conv->window);
}

static enum amp_status conv_shape_of(struct amp_ctx *ctx, const struct conv_inputs *inputs)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    struct conv conv;
    int n;
    out->rank = -1;
    AMP_TRY(amp_conv_rank(ctx, inputs->x, inputs->w, &n));
    if (n < 0)
        return AMP_OK;
    AMP_TRY(conv_read(ctx, inputs, n, &conv));
    out->rank = n + 2;
    out->dims[0] = conv.batch;
    out->dims[1] = conv.filters;
    memcpy(out->dims + 2, conv.window.steps, (size_t)n * sizeof *out->dims);
    return AMP_OK;
}

static enum amp_status conv_shape(struct amp_ctx *ctx)
{
    return conv_shape_of(ctx, &conv_inputs);
}

/* sum[step] += weight * (image - zero) over all steps that one tap has inside the image. ACC:
   unsigned for integers, whose sums may wrap. */
#define TAP(DTYPE, T, ACC)                                                                         \
    static void tap_##DTYPE(struct amp_runs *runs, const T *image, ACC weight, ACC zero, ACC *sum) \
    {                                                                                              \
        while (amp_runs_next(runs)) {                                                              \
            const T *from = image + runs->image;                                                   \
            ACC *to = sum + runs->step;                                                            \
            int64_t stride = runs->stride, count = runs->count;                                    \
            AMP_SIMD                                                                               \
            for (int64_t i = 0; i < count; i++)                                                    \
                to[i] += weight * ((ACC)from[i * stride] - zero);                                  \
        }                                                                                          \
    }
TAP(FLOAT, float, float)
TAP(DOUBLE, double, double)
TAP(INT8, int8_t, uint32_t)
TAP(UINT8, uint8_t, uint32_t)

/* One output plane: filter M on the channels of its group. */
#define PLANE(DTYPE, T)                                                                          \
    static void plane_##DTYPE(const struct amp_ctx *ctx, const struct conv *conv, int64_t batch, \
                              int64_t m)                                                         \
    {                                                                                            \
        const struct amp_window *window = &conv->window;                                         \
        int64_t image_size = amp_window_product(window->n, window->image);                       \
        int64_t steps = amp_window_product(window->n, window->steps);                            \
        int64_t taps = amp_window_product(window->n, window->kernel);                            \
        int64_t channels = conv->channels / conv->group;                                         \
        int64_t first = m / (conv->filters / conv->group) * channels;                            \
        const T *image =                                                                         \
            (const T *)ctx->in[0]->data + (batch * conv->channels + first) * image_size;         \
        const T *weight = (const T *)ctx->in[1]->data + m * channels * taps;                     \
        T *sum = (T *)ctx->out[0]->data + (batch * conv->filters + m) * steps;                   \
        T bias = amp_has_in(ctx, 2) ? ((const T *)ctx->in[2]->data)[m] : (T)0;                   \
        for (int64_t i = 0; i < steps; i++)                                                      \
            sum[i] = bias;                                                                       \
        for (int64_t c = 0; c < channels; c++, image += image_size) {                            \
            int64_t tap[AMP_SPATIAL_MAX] = {0};                                                  \
            do {                                                                                 \
                struct amp_runs runs;                                                            \
                amp_runs_start(&runs, window, tap);                                              \
                tap_##DTYPE(&runs, image, *weight++, 0, sum);                                    \
            } while (amp_index_next(window->n, window->kernel, tap));                            \
        }                                                                                        \
    }
AMP_FLOAT_TYPES(PLANE)

typedef void plane_fn(const struct amp_ctx *ctx, const struct conv *conv, int64_t batch, int64_t m);

static plane_fn *const planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, plane)};

static enum amp_status conv_plain(struct amp_ctx *ctx)
{
    struct conv conv;
    plane_fn *plane;
    AMP_PICK(ctx, plane, planes, ctx->in[0]->dtype);
    AMP_TRY(conv_read(ctx, &conv_inputs, ctx->in[0]->shape.rank - 2, &conv));
#pragma omp parallel for
    for (int64_t i = 0; i < conv.batch * conv.filters; i++)
        plane(ctx, &conv, i / conv.filters, i % conv.filters);
    return AMP_OK;
}

static enum amp_status conv_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    const struct amp_shape *w = &ctx->in[1]->shape;
    struct conv conv;
    struct amp_conv_weights weights = {.rank = w->rank};
    AMP_TRY(conv_read(ctx, &conv_inputs, w->rank - 2, &conv));
    int lead = conv.group > 1;
    memcpy(weights.dims + lead, w->dims, (size_t)w->rank * sizeof *w->dims);
    amp_strides(w, weights.strides + lead);
    if (lead) {
        weights.rank++;
        weights.dims[0] = conv.group;
        weights.dims[1] /= conv.group;
        weights.strides[0] = weights.dims[1] * weights.strides[1];
    }
    return amp_conv_make(ctx, prim, dnnl_convolution_forward_primitive_desc_create,
                         dnnl_convolution_direct, &conv.window, &weights);
}

static enum amp_status conv_run(struct amp_ctx *ctx)
{
    if (amp_shape_count(&ctx->out[0]->shape) == 0)
        return amp_ctx_alloc(ctx, 0);
    return amp_prim_run_or(ctx, conv_make, conv_plain);
}

/* The quantized operators. */

/* Input I, where it is given, must have one value for all output channels or one for each. */
static enum amp_status check_per_channel(const struct amp_ctx *ctx, uint32_t i, int64_t filters)
{
    if (!amp_has_in(ctx, i))
        return AMP_OK;
    int64_t count = amp_shape_count(&ctx->in[i]->shape);
    if (count == 1 || (filters > 1 && count == filters))
        return AMP_OK;
    return AMP_CTX_FAIL(ctx,
                        "input %u has %" PRId64 " values; 1 or %" PRId64
                        ", one per output channel, are allowed",
                        i, count, filters);
}

static int64_t int_of(const struct amp_ctx *ctx, uint32_t i, int64_t index)
{
    if (!amp_has_in(ctx, i))
        return 0;
    return amp_tensor_int(ctx->in[i], amp_tensor_count(ctx->in[i]) > 1 ? (size_t)index : 0);
}

static double float_of(const struct amp_ctx *ctx, uint32_t i, int64_t index)
{
    return amp_tensor_double(ctx->in[i], amp_tensor_count(ctx->in[i]) > 1 ? (size_t)index : 0);
}

/* The sums of one output plane of zero-point corrected products, from BIAS on. */
static void int_plane(const struct amp_ctx *ctx, const struct conv *conv, int64_t batch, int64_t m,
                      uint32_t bias, uint32_t *sum)
{
    const struct conv_inputs *inputs = conv->inputs;
    const struct amp_window *window = &conv->window;
    const struct amp_tensor *x = ctx->in[inputs->x], *w = ctx->in[inputs->w];
    int64_t image_size = amp_window_product(window->n, window->image);
    int64_t steps = amp_window_product(window->n, window->steps);
    int64_t taps = amp_window_product(window->n, window->kernel);
    int64_t channels = conv->channels / conv->group;
    int64_t first = m / (conv->filters / conv->group) * channels;
    uint32_t x_zero = (uint32_t)int_of(ctx, inputs->x_zero, 0);
    int64_t w_zero = int_of(ctx, inputs->w_zero, m);
    size_t weight = (size_t)(m * channels * taps);
    for (int64_t i = 0; i < steps; i++)
        sum[i] = bias;
    for (int64_t c = 0; c < channels; c++) {
        int64_t tap[AMP_SPATIAL_MAX] = {0};
        int64_t image = (batch * conv->channels + first + c) * image_size;
        do {
            struct amp_runs runs;
            uint32_t value = (uint32_t)(amp_tensor_int(w, weight++) - w_zero);
            amp_runs_start(&runs, window, tap);
            if (x->dtype == AMP_INT8)
                tap_INT8(&runs, (const int8_t *)x->data + image, value, x_zero, sum);
            else
                tap_UINT8(&runs, (const uint8_t *)x->data + image, value, x_zero, sum);
        } while (amp_index_next(window->n, window->kernel, tap));
    }
}

/* All sums, [N, M, steps...]. */
static enum amp_status int_conv(struct amp_ctx *ctx, const struct conv_inputs *inputs,
                                struct conv *conv, uint32_t *sum)
{
    AMP_TRY(conv_read(ctx, inputs, ctx->in[inputs->x]->shape.rank - 2, conv));
    AMP_TRY(check_per_channel(ctx, inputs->x_zero, 1));
    AMP_TRY(check_per_channel(ctx, inputs->w_zero, conv->filters));
    int64_t steps = amp_window_product(conv->window.n, conv->window.steps);
#pragma omp parallel for
    for (int64_t i = 0; i < conv->batch * conv->filters; i++) {
        int64_t m = i % conv->filters;
        uint32_t bias = (uint32_t)int_of(ctx, inputs->bias, m);
        int_plane(ctx, conv, i / conv->filters, m, bias, sum + i * steps);
    }
    return AMP_OK;
}

static enum amp_status conv_integer_shape(struct amp_ctx *ctx)
{
    return conv_shape_of(ctx, &conv_integer_inputs);
}

static enum amp_status conv_integer_run(struct amp_ctx *ctx)
{
    struct conv conv;
    return int_conv(ctx, &conv_integer_inputs, &conv, ctx->out[0]->data);
}

static enum amp_status qlinear_conv_shape(struct amp_ctx *ctx)
{
    return conv_shape_of(ctx, &qlinear_conv_inputs);
}

enum { Q_X_SCALE = 1, Q_W_SCALE = 4, Q_Y_SCALE = 6, Q_Y_ZERO = 7 };

/* COUNT elements of y: the sums from element FROM on, scaled, rounded (ties to even) and kept in
   the range of y's type. */
static void requantize(const struct amp_ctx *ctx, const uint32_t *sum, int64_t from, int64_t count,
                       float scale)
{
    bool is_signed = ctx->out[0]->dtype == AMP_INT8;
    float zero = (float)int_of(ctx, Q_Y_ZERO, 0);
    float low = is_signed ? INT8_MIN : 0, high = is_signed ? INT8_MAX : UINT8_MAX;
    for (int64_t i = from; i < from + count; i++) {
        float value = nearbyintf((float)(int32_t)sum[i] * scale) + zero;
        value = value < low ? low : value > high ? high : value;
        if (is_signed)
            ((int8_t *)ctx->out[0]->data)[i] = (int8_t)value;
        else
            ((uint8_t *)ctx->out[0]->data)[i] = (uint8_t)value;
    }
}

static enum amp_status requantize_all(struct amp_ctx *ctx, const struct conv *conv,
                                      const uint32_t *sum)
{
    AMP_TRY(check_per_channel(ctx, Q_X_SCALE, 1));
    AMP_TRY(check_per_channel(ctx, Q_W_SCALE, conv->filters));
    AMP_TRY(check_per_channel(ctx, Q_Y_SCALE, 1));
    AMP_TRY(check_per_channel(ctx, Q_Y_ZERO, 1));
    double scale = float_of(ctx, Q_X_SCALE, 0) / float_of(ctx, Q_Y_SCALE, 0);
    int64_t steps = amp_window_product(conv->window.n, conv->window.steps);
    for (int64_t i = 0; i < conv->batch * conv->filters; i++)
        requantize(ctx, sum, i * steps, steps,
                   (float)(scale * float_of(ctx, Q_W_SCALE, i % conv->filters)));
    return AMP_OK;
}

static enum amp_status qlinear_conv_run(struct amp_ctx *ctx)
{
    struct conv conv;
    struct amp_tensor sums = {.dtype = AMP_INT32, .shape = ctx->out[0]->shape};
    AMP_TRY(amp_tensor_alloc(&sums, ctx->err));
    enum amp_status status = int_conv(ctx, &qlinear_conv_inputs, &conv, sums.data);
    if (status == AMP_OK)
        status = requantize_all(ctx, &conv, sums.data);
    amp_tensor_release(&sums);
    return status;
}

const struct amp_op amp_op_conv = {
    .name = "Conv",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .reads_casts = AMP_INPUT(0),
    .fuses = true,
    .shape = conv_shape,
    .run = conv_run,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
};

const struct amp_op amp_op_conv_integer = {
    .name = "ConvInteger",
    .newest = 10,
    .effect = AMP_COMPUTES,
    .shape = conv_integer_shape,
    .run = conv_integer_run,
};

const struct amp_op amp_op_qlinear_conv = {
    .name = "QLinearConv",
    .newest = 10,
    .effect = AMP_COMPUTES,
    .shape = qlinear_conv_shape,
    .run = qlinear_conv_run,
};

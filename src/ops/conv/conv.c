/*
 * Convolution (ONNX Conv): X [N, C, D...] with weights [M, C / group, K...] gives [N, M, steps...].
 * It runs in oneDNN for up to three spatial dims; other shapes and float64 run in C, tap by tap
 * over whole planes, and depthwise windows that oneDNN unfolds, such as long ones, in registers.
 */
#include "ops/bound.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_prim.h"

#include "core/simd.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

extern const struct amp_op amp_op_qlinear_conv;

static const struct amp_conv_inputs conv_inputs = {.x = 0, .w = 1, .bias = 2};

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
    bool is_known = shape->dims[0] >= 0 && filters >= 0;
    char text[256];
    if (shape->rank == 1 && (!is_known || shape->dims[0] == filters))
        return AMP_OK;
    return AMP_CTX_FAIL(
        ctx, "bias has shape %s; one value for each of %" PRId64 " output channels is needed",
        amp_shape_text(shape, text, sizeof text), filters);
}

const int64_t *amp_conv_dims(const struct amp_shape *shape, int64_t unknown[AMP_RANK_MAX])
{
    for (int d = 0; d < AMP_RANK_MAX; d++)
        unknown[d] = AMP_DIM_UNKNOWN;
    return shape->rank < 0 ? unknown : shape->dims;
}

void amp_conv_planes(const struct amp_ctx *ctx, const struct amp_conv *conv, amp_conv_plane *plane)
{
#pragma omp parallel for
    for (int64_t i = 0; i < conv->batch * conv->filters; i++)
        plane(ctx, conv, i / conv->filters, i % conv->filters);
}

void amp_conv_set_shape(struct amp_ctx *ctx, const struct amp_conv *conv, int n,
                        const int64_t *sizes)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    out->rank = n + 2;
    out->dims[0] = conv->batch;
    out->dims[1] = conv->filters;
    memcpy(out->dims + 2, sizes, (size_t)n * sizeof *out->dims);
}

enum amp_status amp_conv_run(struct amp_ctx *ctx,
                             enum amp_status (*make)(struct amp_ctx *ctx, struct amp_prim *prim),
                             enum amp_status (*plain)(struct amp_ctx *ctx))
{
    if (amp_shape_count(&ctx->out[0]->shape) == 0)
        return amp_ctx_alloc(ctx, 0);
    return amp_prim_run_or(ctx, make, plain);
}

enum amp_status amp_conv_read(const struct amp_ctx *ctx, const struct amp_conv_inputs *inputs,
                              int n, struct amp_conv *conv)
{
    int64_t unknown[AMP_RANK_MAX];
    const int64_t *x_dims = amp_conv_dims(&ctx->in[inputs->x]->shape, unknown);
    const int64_t *w_dims = amp_conv_dims(&ctx->in[inputs->w]->shape, unknown);
    *conv = (struct amp_conv){
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

enum amp_status amp_conv_shape(struct amp_ctx *ctx, const struct amp_conv_inputs *inputs)
{
    struct amp_conv conv;
    int n;
    ctx->out[0]->shape.rank = -1;
    AMP_TRY(amp_conv_rank(ctx, inputs->x, inputs->w, &n));
    if (n < 0)
        return AMP_OK;
    AMP_TRY(amp_conv_read(ctx, inputs, n, &conv));
    amp_conv_set_shape(ctx, &conv, n, conv.window.steps);
    return AMP_OK;
}

static enum amp_status conv_shape(struct amp_ctx *ctx)
{
    return amp_conv_shape(ctx, &conv_inputs);
}

AMP_CONV_TAP(FLOAT, float, float)
AMP_CONV_TAP(DOUBLE, double, double)

/* One output plane: filter M on the channels of its group. */
#define PLANE(DTYPE, T)                                                                  \
    static void plane_##DTYPE(const struct amp_ctx *ctx, const struct amp_conv *conv,    \
                              int64_t batch, int64_t m)                                  \
    {                                                                                    \
        const struct amp_window *window = &conv->window;                                 \
        int64_t image_size = amp_window_product(window->n, window->image);               \
        int64_t steps = amp_window_product(window->n, window->steps);                    \
        int64_t taps = amp_window_product(window->n, window->kernel);                    \
        int64_t channels = conv->channels / conv->group;                                 \
        int64_t first = m / (conv->filters / conv->group) * channels;                    \
        const T *image =                                                                 \
            (const T *)ctx->in[0]->data + (batch * conv->channels + first) * image_size; \
        const T *weight = (const T *)ctx->in[1]->data + m * channels * taps;             \
        T *sum = (T *)ctx->out[0]->data + (batch * conv->filters + m) * steps;           \
        T bias = amp_has_in(ctx, 2) ? ((const T *)ctx->in[2]->data)[m] : (T)0;           \
        for (int64_t i = 0; i < steps; i++)                                              \
            sum[i] = bias;                                                               \
        for (int64_t c = 0; c < channels; c++, image += image_size) {                    \
            int64_t tap[AMP_SPATIAL_MAX] = {0};                                          \
            do {                                                                         \
                struct amp_runs runs;                                                    \
                amp_runs_start(&runs, window, tap);                                      \
                tap_##DTYPE(&runs, image, *weight++, 0, sum);                            \
            } while (amp_index_next(window->n, window->kernel, tap));                    \
        }                                                                                \
    }
AMP_FLOAT_TYPES(PLANE)

static amp_conv_plane *const planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, plane)};

/* ---- a channel by itself --------------------------------------------------------------------- */

/* Steps that are summed up in registers, of LANES each. */
enum { LANES = 8, STEPS = 4 * LANES };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float))));

/* A plane of a depthwise convolution, one row where there is one spatial dim. The image is copied
   between zeros, so that taps and whole registers of steps end nowhere; of each row first the
   elements that the first tap meets if it begins at 0, then those that it meets from 1 on, ... */
struct depthwise {
    int64_t height, width, top, left; /* of the image, and the zeros before it */
    int64_t rows, row, part; /* with all zeros: how many, elements of one and of its parts */
    int64_t taps_y, taps_x, apart_y, apart_x, down, across; /* the last two: from step to step */
    int64_t steps_y, steps_x;
};

/* Whether each filter of CONV has a channel of its own, with no more zeros than it takes. */
static bool is_depthwise(const struct amp_conv *conv)
{
    const struct amp_window *window = &conv->window;
    bool is_one = conv->group == conv->channels && conv->group > 1 && window->n <= 2;
    for (int d = 0; d < window->n && is_one; d++) {
        int64_t extent = amp_window_extent(window, d);
        is_one = window->pad_begin[d] < extent && window->pad_end[d] < extent;
    }
    return is_one;
}

static struct depthwise depthwise_of(const struct amp_window *window)
{
    bool has_rows = window->n == 2;
    int last = window->n - 1;
    struct depthwise d = {.height = has_rows ? window->image[0] : 1,
                          .width = window->image[last],
                          .top = has_rows ? window->pad_begin[0] : 0,
                          .left = window->pad_begin[last],
                          .taps_y = has_rows ? window->kernel[0] : 1,
                          .taps_x = window->kernel[last],
                          .apart_y = has_rows ? window->dilation[0] : 1,
                          .apart_x = window->dilation[last],
                          .down = has_rows ? window->stride[0] : 1,
                          .across = window->stride[last],
                          .steps_y = has_rows ? window->steps[0] : 1,
                          .steps_x = window->steps[last]};
    int64_t whole = (d.steps_x + STEPS - 1) / STEPS * STEPS;
    int64_t reach_y = (d.steps_y - 1) * d.down + (d.taps_y - 1) * d.apart_y + 1;
    int64_t reach_x = (whole - 1) * d.across + (d.taps_x - 1) * d.apart_x + 1;
    d.rows = reach_y > d.top + d.height ? reach_y : d.top + d.height;
    d.row = reach_x > d.left + d.width ? reach_x : d.left + d.width;
    d.part = (d.row + d.across - 1) / d.across;
    d.row = d.part * d.across;
    return d;
}

/* A row of the image to its place in the row at TO. */
static void depthwise_copy(const struct depthwise *d, const float *image, float *to)
{
    if (d->across == 1)
        memcpy(to + d->left, image, (size_t)d->width * sizeof *to);
    for (int64_t x = 0; x < d->width && d->across > 1; x++)
        to[(d->left + x) % d->across * d->part + (d->left + x) / d->across] = image[x];
}

/* One row of steps at TO, whose taps begin at FROM. */
AMP_CLONES(void, depthwise_row,
           (const struct depthwise *d, const float *from, const float *weights, float bias,
            float *to),
           (d, from, weights, bias, to))
{
    const int64_t further = d->apart_x % d->across * d->part + d->apart_x / d->across;
    for (int64_t step = 0; step < d->steps_x; step += STEPS) {
        const float *weight = weights;
        lanes sums[STEPS / LANES];
        for (int i = 0; i < STEPS / LANES; i++)
            sums[i] = (lanes){0} + bias;
        for (int64_t y = 0; y < d->taps_y; y++) {
            const float *image = from + y * d->apart_y * d->row + step;
            int64_t part = 0;
            for (int64_t x = 0; x < d->taps_x; x++, weight++) {
#pragma GCC unroll 4
                for (int i = 0; i < STEPS / LANES; i++)
                    sums[i] += ((const lanes *)image)[i] * *weight;
                image += further;
                part += d->apart_x % d->across;
                if (part >= d->across) {
                    part -= d->across;
                    image -= d->row - 1;
                }
            }
        }
        int64_t left = d->steps_x - step;
        memcpy(to + step, sums, (size_t)(left < STEPS ? left : STEPS) * sizeof *to);
    }
}

/* Filter M on its channel, which is copied to PADDED, where all else is 0. */
static void depthwise_plane(const struct amp_ctx *ctx, const struct amp_conv *conv,
                            const struct depthwise *d, int64_t i, float *padded)
{
    int64_t m = i % conv->filters, channel = m / (conv->filters / conv->group);
    const float *image = (const float *)ctx->in[0]->data +
                         (i / conv->filters * conv->channels + channel) * d->height * d->width;
    const float *weights = (const float *)ctx->in[1]->data + m * d->taps_y * d->taps_x;
    float bias = amp_has_in(ctx, 2) ? ((const float *)ctx->in[2]->data)[m] : 0;
    float *to = (float *)ctx->out[0]->data + i * d->steps_y * d->steps_x;
    for (int64_t y = 0; y < d->height; y++)
        depthwise_copy(d, image + y * d->width, padded + (d->top + y) * d->row);
    for (int64_t y = 0; y < d->steps_y; y++)
        depthwise_row(d, padded + y * d->down * d->row, weights, bias, to + y * d->steps_x);
}

static enum amp_status run_depthwise(struct amp_ctx *ctx, const struct amp_conv *conv)
{
    const struct depthwise d = depthwise_of(&conv->window);
    size_t size = (size_t)d.rows * (size_t)d.row, threads = (size_t)omp_get_max_threads();
    struct amp_buffer *padded = amp_scratch(ctx, "padded channels", threads * size, sizeof(float));
    if (padded == NULL)
        return ctx->err->status;
    memset(padded->data, 0, threads * size * sizeof(float));
#pragma omp parallel for
    for (int64_t i = 0; i < conv->batch * conv->filters; i++)
        depthwise_plane(ctx, conv, &d, i,
                        (float *)padded->data + (size_t)omp_get_thread_num() * size);
    amp_buffer_unref(padded);
    return AMP_OK;
}

/* ---- the operator ---------------------------------------------------------------------------- */

static enum amp_status conv_plain(struct amp_ctx *ctx)
{
    struct amp_conv conv;
    amp_conv_plane *plane;
    AMP_PICK(ctx, plane, planes, ctx->in[0]->dtype);
    AMP_TRY(amp_conv_read(ctx, &conv_inputs, ctx->in[0]->shape.rank - 2, &conv));
    if (ctx->in[0]->dtype == AMP_FLOAT && is_depthwise(&conv))
        return run_depthwise(ctx, &conv);
    amp_conv_planes(ctx, &conv, plane);
    return AMP_OK;
}

static enum amp_status conv_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    const struct amp_shape *w = &ctx->in[1]->shape;
    struct amp_conv conv;
    AMP_TRY(amp_conv_read(ctx, &conv_inputs, w->rank - 2, &conv));
    struct amp_conv_weights weights = amp_conv_weights_of(w, conv.group);
    const struct amp_conv_prim what = {.create = dnnl_convolution_forward_primitive_desc_create,
                                       .alg = dnnl_convolution_direct,
                                       .window = &conv.window,
                                       .weights = &weights,
                                       .does_without_unfolding = is_depthwise(&conv)};
    return amp_conv_prim_make(ctx, prim, &what);
}

static enum amp_status conv_run(struct amp_ctx *ctx)
{
    return amp_conv_run(ctx, conv_make, conv_plain);
}

/* What derivatives begin with. */
#define WINDOWS "image = a; steps = y; kernel = Shape(b; start=2);"
const struct amp_op amp_op_conv = {
    .name = "Conv",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .bound = amp_bound_product,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .reads_casts = AMP_INPUT(0),
    .fuses = true,
    .role = AMP_ROLE_CONV,
    .linear = &(const struct amp_linear){.has_added = true, .channel = 0},
    .integer =
        &(const struct amp_integer_form){
            .op = &amp_op_qlinear_conv, .has_weights = true, .group = "group", .bias = 8},
    .flops = {amp_flops_convolution, 1},
    .gradient = AMP_GRADIENT({.term = WINDOWS "Fit(ConvTranspose(g, b; strides=*strides, "
                                              "dilations=*dilations, group=#group), begins)"},
                             {.input = 1, .term = WINDOWS "Taps(Covered(a), g)"},
                             {.input = 2, .term = "Channels(g)"}),
    .shape = conv_shape,
    .run = conv_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
};

/*
 * BatchNormalization, all versions: with the statistics that it is given (oneDNN; plain C for
 * float64) or, when training, with those of the batch (plain C). X is seen as [batch, channels,
 * spatial].
 */
#include "ops/bound.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/strided_loop.h"

#include <math.h>

enum { X, SCALE, BIAS, MEAN, VARIANCE };

struct view {
    int64_t batch, channels, spatial; /* -1: not known */
};

/* Before version 9 each element of a sample could have statistics of its own. */
static bool is_spatial(const struct amp_ctx *ctx)
{
    return amp_node_int(ctx->node, "spatial", 1) != 0;
}

/* Since version 14 an attribute says so; before, more outputs than one. */
static bool is_training(const struct amp_ctx *ctx)
{
    if (ctx->node->since_version >= 14)
        return amp_node_int(ctx->node, "training_mode", 0) != 0;
    bool has_more = false;
    for (uint32_t i = 1; i < ctx->n_out; i++)
        has_more |= amp_has_out(ctx, i);
    return has_more && amp_node_int(ctx->node, "is_test", 0) == 0;
}

static struct view view_of(const struct amp_ctx *ctx)
{
    const struct amp_shape *x = &ctx->in[X]->shape;
    struct view view = {.batch = x->dims[0], .channels = 1, .spatial = 1};
    if (x->rank > 1) {
        int end = is_spatial(ctx) ? 2 : x->rank;
        view.channels = amp_shape_product(x, 1, end);
        view.spatial = amp_shape_product(x, end, x->rank);
    }
    return view;
}

/* ---- shape --------------------------------------------------------------------------------- */

static enum amp_status check_parameter(struct amp_ctx *ctx, uint32_t input)
{
    const struct amp_shape *shape = &ctx->in[input]->shape, *x = &ctx->in[X]->shape;
    if (shape->rank < 0 || x->rank < 0)
        return AMP_OK;
    int rank = is_spatial(ctx) || x->rank == 1 ? 1 : x->rank - 1;
    int64_t channels = view_of(ctx).channels, count = amp_shape_count(shape);
    char text[200], text_x[200];
    if (shape->rank != rank || (channels >= 0 && count >= 0 && channels != count))
        return AMP_CTX_FAIL(ctx,
                            "input %u of shape %s does not hold a value for each channel of X, "
                            "shape %s",
                            input, amp_shape_text(shape, text, sizeof text),
                            amp_shape_text(x, text_x, sizeof text_x));
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    if (ctx->in[X]->shape.rank == 0)
        return AMP_CTX_FAIL(ctx, "X is a scalar; rank 1 or more is needed");
    for (uint32_t i = SCALE; i <= VARIANCE; i++)
        AMP_TRY(check_parameter(ctx, i));
    ctx->out[0]->shape = ctx->in[X]->shape;
    for (uint32_t i = 1; i < ctx->n_out; i++) {
        if (amp_has_out(ctx, i) && !is_training(ctx))
            return AMP_CTX_FAIL(ctx, "output %u is there only in training", i);
        ctx->out[i]->shape = ctx->in[MEAN]->shape;
    }
    return AMP_OK;
}

/* ---- plain C ------------------------------------------------------------------------------- */

/* Y = (X - mean) * factor + bias for N elements. */
struct affine {
    double mean, factor, bias;
};
typedef void apply_kernel(const void *x, void *y, int64_t n, const struct affine *affine);

#define APPLY(DTYPE, T, ...)                                                                     \
    AMP_CLONES(void, apply_##DTYPE,                                                              \
               (const void *x, void *y, int64_t n, const struct affine *affine),                 \
               (x, y, n, affine))                                                                \
    {                                                                                            \
        AMP_SIMD                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                          \
            ((T *)y)[i] =                                                                        \
                (T)(((double)((const T *)x)[i] - affine->mean) * affine->factor + affine->bias); \
    }
AMP_FLOAT_TYPES(APPLY)

/* The sum over N elements of (X - mean)^POWER, power 1 or 2. */
typedef double sum_kernel(const void *x, int64_t n, double mean, int power);

#define SUM(DTYPE, T, ...)                                                      \
    static double sum_##DTYPE(const void *x, int64_t n, double mean, int power) \
    {                                                                           \
        double sum = 0;                                                         \
        for (int64_t i = 0; i < n; i++) {                                       \
            double value = (double)((const T *)x)[i] - mean;                    \
            sum += power == 1 ? value : value * value;                          \
        }                                                                       \
        return sum;                                                             \
    }
AMP_FLOAT_TYPES(SUM)

/* Element FIRST of channel CHANNEL of sample SAMPLE. */
static char *slice(const struct amp_tensor *tensor, const struct view *view, int64_t sample,
                   int64_t channel)
{
    int64_t first = (sample * view->channels + channel) * view->spatial;
    return (char *)tensor->data + (size_t)first * (amp_dtype_bits(tensor->dtype) / 8);
}

static double value(const struct amp_ctx *ctx, uint32_t input, int64_t channel)
{
    return amp_tensor_double(ctx->in[input], (size_t)channel);
}

/* The statistics of one channel. */
struct moments {
    double mean, variance;
};

static void apply(struct amp_ctx *ctx, const struct view *view, apply_kernel *kernel,
                  int64_t channel, struct moments moments)
{
    double epsilon = (double)amp_node_float(ctx->node, "epsilon", 1e-5f);
    struct affine affine = {moments.mean,
                            value(ctx, SCALE, channel) / sqrt(moments.variance + epsilon),
                            value(ctx, BIAS, channel)};
    for (int64_t i = 0; i < view->batch; i++)
        kernel(slice(ctx->in[X], view, i, channel), slice(ctx->out[0], view, i, channel),
               view->spatial, &affine);
}

static enum amp_status infer_plain(struct amp_ctx *ctx)
{
    static apply_kernel *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, apply)};
    apply_kernel *kernel;
    AMP_PICK(ctx, kernel, table, ctx->in[X]->dtype);
    struct view view = view_of(ctx);
    bool is_large = view.batch * view.channels * view.spatial >= AMP_PARALLEL_MIN;
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < view.channels; i++)
        apply(ctx, &view, kernel, i,
              (struct moments){value(ctx, MEAN, i), value(ctx, VARIANCE, i)});
    return AMP_OK;
}

/* The mean of (X - MEAN)^POWER over a channel. */
static double moment(struct amp_ctx *ctx, const struct view *view, int64_t channel, double mean,
                     int power)
{
    static sum_kernel *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, sum)};
    double sum = 0;
    for (int64_t i = 0; i < view->batch; i++)
        sum += table[ctx->in[X]->dtype](slice(ctx->in[X], view, i, channel), view->spatial, mean,
                                        power);
    return sum / ((double)view->batch * (double)view->spatial);
}

/* Outputs 1 and 2: INPUT moved towards the batch's value; 3 and 4, up to version 13: that value. */
static void store(struct amp_ctx *ctx, uint32_t output, uint32_t input, int64_t channel,
                  double of_batch)
{
    double momentum = (double)amp_node_float(ctx->node, "momentum", 0.9f);
    double running = value(ctx, input, channel) * momentum + of_batch * (1 - momentum);
    if (amp_has_out(ctx, output))
        amp_tensor_set_double(ctx->out[output], (size_t)channel, running);
    if (amp_has_out(ctx, output + 2))
        amp_tensor_set_double(ctx->out[output + 2], (size_t)channel, of_batch);
}

static enum amp_status train(struct amp_ctx *ctx)
{
    static apply_kernel *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, apply)};
    apply_kernel *kernel;
    AMP_PICK(ctx, kernel, table, ctx->in[X]->dtype);
    struct view view = view_of(ctx);
    for (int64_t i = 0; i < view.channels; i++) {
        double mean = moment(ctx, &view, i, 0, 1), variance = moment(ctx, &view, i, mean, 2);
        store(ctx, 1, MEAN, i, mean);
        store(ctx, 2, VARIANCE, i, variance);
        apply(ctx, &view, kernel, i, (struct moments){mean, variance});
    }
    return AMP_OK;
}

/* ---- 16 bits, channels last ------------------------------------------------------------------ */

/* Whether X lies with its channels last, of a number that oneDNN has no vector code for in 16 bits,
   which the CPU computes in. */
static bool has_odd_channels(const struct amp_ctx *ctx)
{
    enum { VECTOR = 16 };
    const struct amp_tensor *x = ctx->in[X];
    const int64_t *strides = x->layout == NULL ? NULL : amp_layout_strides(x->layout);
    if (strides == NULL || !amp_dtype_is_lower(x->dtype) || !amp_cpu_is_native(x->dtype) ||
        !is_spatial(ctx))
        return false;
    int64_t channels = view_of(ctx).channels;
    return channels > 1 && channels % VECTOR != 0 && strides[1] == 1 && amp_layout_is_dense(x);
}

/* Y = (X - mean) * factor + bias, each of these with elements of its own. */
AMP_CLONES(void, apply_to_channels,
           (int64_t n, void *const *at, const int64_t *step, const void *param),
           (n, at, step, param))
{
    (void)step, (void)param;
    const float *x = at[1], *mean = at[2], *factor = at[3], *bias = at[4];
    float *y = at[0];
    AMP_SIMD for (int64_t i = 0; i < n; i++)
    {
        y[i] = (x[i] - mean[i]) * factor[i] + bias[i];
    }
}

/* In rows of channels; Y lies as X does, unless who reads it wants it row-major. */
static enum amp_status infer_channels_last(struct amp_ctx *ctx)
{
    int64_t channels = view_of(ctx).channels;
    int64_t rows = (int64_t)amp_tensor_count(ctx->in[X]) / channels;
    float epsilon = amp_node_float(ctx->node, "epsilon", 1e-5f);
    for (uint32_t i = SCALE; i <= VARIANCE; i++)
        if (ctx->in[i]->data == NULL)
            return AMP_AGAIN;
    if (ctx->out[0]->data == NULL)
        AMP_TRY(amp_ctx_alloc(ctx, 0));
    struct amp_buffer *factors = amp_scratch(ctx, "factors", (size_t)channels, sizeof(float));
    if (factors == NULL)
        return ctx->err->status;
    float *factor = (float *)factors->data;
    for (int64_t i = 0; i < channels; i++)
        factor[i] = (float)value(ctx, SCALE, i) / sqrtf((float)value(ctx, VARIANCE, i) + epsilon);
    struct amp_tensor x = *ctx->in[X], y = *ctx->out[0];
    struct amp_tensor of_channel = {.dtype = AMP_FLOAT, .data = factor, .shape = {1, {channels}}};
    x.shape = y.shape = (struct amp_shape){2, {rows, channels}};
    struct amp_loop loop;
    amp_loop_init(&loop, 2, y.shape.dims);
    amp_loop_tensor(&loop, &y);
    amp_loop_tensor(&loop, &x);
    amp_loop_tensor(&loop, ctx->in[MEAN]);
    amp_loop_tensor(&loop, &of_channel);
    amp_loop_tensor(&loop, ctx->in[BIAS]);
    amp_loop_compute(&loop, apply_to_channels, NULL);
    ctx->out[0]->layout = ctx->in[X]->layout;
    amp_buffer_unref(factors);
    return ctx->layout_wish.any_layout ? AMP_OK : amp_layout_undo_output(ctx, 0);
}

/* ---- oneDNN -------------------------------------------------------------------------------- */

static enum amp_status bind_parameter(struct amp_ctx *ctx, struct amp_prim *prim, uint32_t input,
                                      int64_t channels, int arg)
{
    dnnl_memory_desc_t desc;
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->in[input]->dtype, 1, &channels),
                          &desc));
    return amp_prim_bind_in(ctx, prim, arg, input, desc);
}

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    static const int args[] = {[SCALE] = DNNL_ARG_SCALE,
                               [BIAS] = DNNL_ARG_SHIFT,
                               [MEAN] = DNNL_ARG_MEAN,
                               [VARIANCE] = DNNL_ARG_VARIANCE};
    struct view view = view_of(ctx);
    const struct amp_tensor *in = ctx->in[X];
    int64_t dims[] = {view.batch, view.channels, view.spatial};
    dnnl_memory_desc_t x;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(in->layout != NULL
                ? amp_prim_desc_tensor(prim, ctx->err, in, &x)
                : amp_prim_desc(prim, ctx->err, amp_form_row_major(in->dtype, 3, dims), &x));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_batch_normalization_forward_primitive_desc_create(
                               &pd, ctx->host->dnnl->engine, dnnl_forward_inference, x, x,
                               amp_node_float(ctx->node, "epsilon", 1e-5f),
                               dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift, attr),
                           "batch normalization"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, X, x));
    for (uint32_t i = SCALE; i <= VARIANCE; i++)
        AMP_TRY(bind_parameter(ctx, prim, i, view.channels, args[i]));
    return in->layout != NULL ? amp_prim_bind_free(ctx, prim, DNNL_ARG_DST)
                              : amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, x);
}

/* Whether X has blocks of channels that oneDNN would fill up with NaN: what there is of variances
   is 0 there, and so is epsilon. */
static bool spoils_padding(const struct amp_ctx *ctx)
{
    const struct amp_tensor *x = ctx->in[X];
    return x->layout != NULL && amp_layout_strides(x->layout) == NULL &&
           !(amp_node_float(ctx->node, "epsilon", 1e-5f) > 0);
}

/* Whether X lies in planes of float32: oneDNN looks up a channel's parameters for each element. */
static bool has_planes(const struct amp_ctx *ctx)
{
    enum { LEAST = 16 };
    return ctx->in[X]->dtype == AMP_FLOAT && ctx->in[X]->layout == NULL &&
           view_of(ctx).spatial >= LEAST;
}

static enum amp_status run(struct amp_ctx *ctx)
{
    if (is_training(ctx))
        return amp_prim_run_plain(ctx, train);
    if (spoils_padding(ctx))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "channels in blocks, without epsilon");
    if (has_odd_channels(ctx))
        return infer_channels_last(ctx);
    if (has_planes(ctx))
        return amp_prim_run_plain(ctx, infer_plain);
    return amp_tensor_count(ctx->in[X]) == 0 ? amp_ctx_alloc(ctx, 0)
                                             : amp_prim_run_or(ctx, make, infer_plain);
}

/* With the statistics that it is given. */
static bool is_inference(const struct amp_node *norm)
{
    return norm->since_version >= 9 && norm->n_outputs == 1 &&
           amp_node_int(norm, "training_mode", 0) == 0;
}

/* Number I of input SLOT's channel. */
static double channel_number(const struct amp_bound_call *call, uint32_t slot, size_t i)
{
    return amp_tensor_double(amp_bound_constant(call, slot), i);
}

/* Whether inputs 1 to 4 are constants, of *COUNT channels each. */
static bool has_constants(const struct amp_bound_call *call, size_t *count)
{
    for (uint32_t slot = 1; slot <= 4; slot++) {
        const struct amp_tensor *tensor = amp_bound_constant(call, slot);
        if (tensor == NULL || (slot > 1 && amp_tensor_count(tensor) != *count))
            return false;
        *count = amp_tensor_count(tensor);
    }
    return true;
}

/* Channel by channel: scale (x - mean) / sqrt(variance + epsilon) + bias. It may be computed as
   x times one number plus another, whose roundings are of the size of the terms. */
static bool bound(const struct amp_bound_call *call, struct amp_interval *out)
{
    double epsilon = (double)amp_node_float(call->node, "epsilon", 1e-5f);
    size_t count = 0;
    if (!is_inference(call->node) || !has_constants(call, &count))
        return false;
    *out = (struct amp_interval){INFINITY, -INFINITY};
    for (size_t c = 0; c < count; c++) {
        double factor = channel_number(call, 1, c) / sqrt(channel_number(call, 4, c) + epsilon);
        double shift = channel_number(call, 2, c), mean = channel_number(call, 3, c);
        struct amp_interval scaled = amp_interval_mul(call->in[0], amp_interval_of(factor));
        double rounding = fabs(factor * mean) + fabs(shift) + amp_interval_largest(scaled);
        struct amp_interval slack = amp_interval_around(rounding * 8 * AMP_BOUND_ROUNDING);
        if (!isfinite(rounding))
            return false;
        scaled = amp_interval_add(scaled, amp_interval_of(shift - factor * mean));
        *out = amp_interval_union(*out, amp_interval_add(scaled, slack));
    }
    return true;
}

/* What derivatives begin with: the normalized input, by statistics of the batch or those given. */
#define OF_BATCH "of = a; along = [0, a:2]; scale = CastLike(b, a);"
#define OF_STATISTICS                                            \
    "scale = CastLike(b, a);"                                    \
    "inverse = Reciprocal(Sqrt(Add(CastLike(e, a), $epsilon)));" \
    "normal = Mul(Sub(a, Channel(CastLike(d, a))), Channel(inverse));"
const struct amp_op amp_op_batch_normalization = {
    .name = "BatchNormalization",
    .newest = 15,
    .effect = AMP_COMPUTES,
    .bound = bound,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .role = AMP_ROLE_BATCH_NORMALIZATION,
    .linear = &(const struct amp_linear){.has_added = true, .channel = 0, .suits = is_inference},
    .gradient = AMP_GRADIENT(
        /* Before version 14 training is told from the number of outputs. */
        {.input = AMP_EACH_INPUT, .when = "training_mode=0 !outputs=1", .term = "_"},
        {.when = "since=9 training_mode=1", .term = OF_BATCH "Normalized(Mul(g, Channel(scale)))"},
        {.input = 1,
         .when = "since=9 training_mode=1",
         .term = OF_BATCH "CastLike(Channels(Mul(g, normal)), x)"},
        {.input = 3, .when = "since=9 training_mode=1", .term = "CastLike(zeros, x)"},
        {.input = 4, .when = "since=9 training_mode=1", .term = "CastLike(zeros, x)"},
        {.when = "since=9", .term = OF_STATISTICS "Mul(g, Channel(Mul(scale, inverse)))"},
        {.input = 1,
         .when = "since=9",
         .term = OF_STATISTICS "CastLike(Channels(Mul(g, normal)), x)"},
        {.input = 2, .when = "since=9", .term = "CastLike(Channels(g), x)"},
        {.input = 3,
         .when = "since=9",
         .term = OF_STATISTICS "CastLike(Neg(Mul(Channels(g), Mul(scale, inverse))), x)"},
        {.input = 4,
         .when = "since=9",
         .term = OF_STATISTICS "CastLike(Mul(-0.5, Mul(Channels(Mul(g, normal)), "
                               "Mul(scale, Mul(inverse, inverse)))), x)"}),
    .shape = shape,
    .run = run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

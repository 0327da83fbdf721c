/*
 * Sums of convolutions of bytes, which are what ConvInteger gives. ops/conv/byte_conv.h computes
 * them through oneDNN where it can; else they are computed here in C, tap by tap over whole planes.
 */
#include "ops/conv/conv_integer.h"

#include "ops/conv/byte_conv.h"
#include "ops/dnnl/dnnl.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"

#include <inttypes.h>

static const struct amp_conv_inputs conv_integer_inputs = {
    .x = 0, .x_zero = 2, .w = 1, .w_zero = 3, .bias = UINT32_MAX};

AMP_CONV_TAP(INT8, int8_t, uint32_t)
AMP_CONV_TAP(UINT8, uint8_t, uint32_t)

enum amp_status amp_conv_check_parameter(const struct amp_ctx *ctx, uint32_t i, int64_t filters)
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

/* The sums of output plane INDEX, of zero-point corrected products, from the bias on. */
static void int_plane(const struct amp_ctx *ctx, const struct amp_conv *conv, int64_t index,
                      uint32_t *sum)
{
    int64_t batch = index / conv->filters, m = index % conv->filters;
    uint32_t bias = (uint32_t)int_of(ctx, conv->inputs->bias, m);
    const struct amp_conv_inputs *inputs = conv->inputs;
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

static void conv_planes(const struct amp_ctx *ctx, const struct amp_conv *conv, uint32_t *sum)
{
    int64_t steps = amp_window_product(conv->window.n, conv->window.steps);
#pragma omp parallel for
    for (int64_t i = 0; i < conv->batch * conv->filters; i++)
        int_plane(ctx, conv, i, sum + i * steps);
}

enum amp_status amp_int_conv(struct amp_ctx *ctx, const struct amp_conv_inputs *inputs,
                             struct amp_conv *conv, struct amp_tensor *sums)
{
    AMP_TRY(amp_conv_read(ctx, inputs, ctx->in[inputs->x]->shape.rank - 2, conv));
    AMP_TRY(amp_conv_check_parameter(ctx, inputs->x_zero, 1));
    AMP_TRY(amp_conv_check_parameter(ctx, inputs->w_zero, conv->filters));
    enum amp_status status = amp_byte_conv_run(ctx, conv, sums);
    if (status != AMP_UNSUPPORTED)
        return status;
    conv_planes(ctx, conv, sums->data);
    return AMP_OK;
}

static enum amp_status conv_integer_shape(struct amp_ctx *ctx)
{
    return amp_conv_shape(ctx, &conv_integer_inputs);
}

static enum amp_status conv_integer_run(struct amp_ctx *ctx)
{
    struct amp_conv conv;
    return amp_int_conv(ctx, &conv_integer_inputs, &conv, ctx->out[0]);
}

const struct amp_op amp_op_conv_integer = {
    .name = "ConvInteger",
    .newest = 10,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .flops = {amp_flops_convolution, 1},
    .shape = conv_integer_shape,
    .run = conv_integer_run,
    .destroy = amp_byte_conv_destroy,
};

/*
 * DeformConv: a convolution whose taps are moved by an offset of their own at every step and
 * sampled between the elements of X [N, C, D...] (linear in every dim, zero outside), each times
 * its mask. Offsets [N, G * K... * n, steps...] and mask [N, G * K..., steps...] serve the channels
 * of one of G offset groups; weights are [M, C / group, K...].
 */
#include "core/array.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/conv/conv.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { X, W, OFFSET, BIAS, MASK };

struct deform {
    struct amp_window window;
    int64_t group, offset_group, batch, channels, filters;
};

/* Input I must be [batch, COUNT, steps...], as far as that is known. */
static enum amp_status check_steps(const struct amp_ctx *ctx, const struct deform *deform,
                                   uint32_t i, int64_t count)
{
    if (!amp_has_in(ctx, i) || ctx->in[i]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    const struct amp_window *window = &deform->window;
    int64_t wanted[AMP_RANK_MAX] = {deform->batch, count};
    memcpy(wanted + 2, window->steps, (size_t)window->n * sizeof *wanted);
    bool fits = shape->rank == window->n + 2;
    for (int d = 0; d < shape->rank && fits; d++)
        fits = shape->dims[d] < 0 || wanted[d] < 0 || shape->dims[d] == wanted[d];
    char found[200], text[200];
    struct amp_shape needed = {.rank = window->n + 2};
    memcpy(needed.dims, wanted, sizeof needed.dims);
    if (fits)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "input %u has shape %s; %s is needed", i,
                        amp_shape_text(shape, found, sizeof found),
                        amp_shape_text(&needed, text, sizeof text));
}

/* Offsets and mask must fit taps and steps. */
static enum amp_status check_offsets(const struct amp_ctx *ctx, const struct deform *deform)
{
    const struct amp_window *window = &deform->window;
    int64_t taps = deform->offset_group, offsets;
    bool overflows = false;
    if (deform->offset_group < 1 || deform->offset_group > INT32_MAX ||
        (deform->channels >= 0 && deform->channels % deform->offset_group != 0))
        return AMP_CTX_FAIL(ctx,
                            "attribute 'offset_group' is %" PRId64 "; it must divide the %" PRId64
                            " input channels",
                            deform->offset_group, deform->channels);
    for (int d = 0; d < window->n; d++) {
        if (window->kernel[d] < 0)
            return AMP_OK;
        overflows |= __builtin_mul_overflow(taps, window->kernel[d], &taps);
    }
    if (overflows || __builtin_mul_overflow(taps, window->n, &offsets))
        return AMP_CTX_FAIL(ctx, "the number of offsets overflows");
    AMP_TRY(check_steps(ctx, deform, OFFSET, offsets));
    return check_steps(ctx, deform, MASK, taps);
}

static enum amp_status deform_read(const struct amp_ctx *ctx, int n, struct deform *deform)
{
    int64_t unknown[AMP_RANK_MAX];
    const int64_t *x_dims = amp_conv_dims(&ctx->in[X]->shape, unknown);
    const int64_t *w_dims = amp_conv_dims(&ctx->in[W]->shape, unknown);
    *deform = (struct deform){.batch = x_dims[0],
                              .channels = x_dims[1],
                              .filters = w_dims[0],
                              .offset_group = amp_node_int(ctx->node, "offset_group", 1)};
    AMP_TRY(amp_conv_group(ctx, deform->channels, deform->filters, &deform->group));
    AMP_TRY(amp_conv_bias(ctx, BIAS, deform->filters));
    if (deform->channels >= 0 && w_dims[1] >= 0 && deform->channels / deform->group != w_dims[1])
        return AMP_CTX_FAIL(ctx,
                            "weights for %" PRId64 " input channels in each of %" PRId64
                            " groups; the input has %" PRId64 " channels",
                            w_dims[1], deform->group, deform->channels);
    AMP_TRY(amp_window_read(ctx, n, w_dims + 2, &deform->window));
    AMP_TRY(amp_window_slide(ctx, x_dims + 2, &deform->window));
    return check_offsets(ctx, deform);
}

static enum amp_status deform_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    struct deform deform;
    int n;
    out->rank = -1;
    AMP_TRY(amp_conv_rank(ctx, X, W, &n));
    if (n < 0)
        return AMP_OK;
    AMP_TRY(deform_read(ctx, n, &deform));
    out->rank = n + 2;
    out->dims[0] = deform.batch;
    out->dims[1] = deform.filters;
    memcpy(out->dims + 2, deform.window.steps, (size_t)n * sizeof *out->dims);
    return AMP_OK;
}

/* A run: all data in float64, whatever the dtype. */
struct run {
    struct deform deform;
    int64_t size, taps, steps;         /* elements of a plane, of a kernel, of an output plane */
    struct amp_tensor in[MASK + 1], y; /* data NULL where omitted */
    struct amp_tensor columns;         /* [PARTS, C, K...] */
};

enum { PARTS = 64 }; /* of the steps, each with a column of its own */

static const double *data_of(const struct run *run, uint32_t i)
{
    return run->in[i].data;
}

/* One step of the window, flat and as coordinates. */
struct step {
    int64_t batch, flat;
    int64_t at[AMP_SPATIAL_MAX];
};

/* PLANE [D...] at PLACE: the sum over the corners of the cell around it. */
static double sample(const struct amp_window *window, const double *plane, const double *place)
{
    double sum = 0;
    for (int corner = 0; corner < 1 << window->n; corner++) {
        double weight = 1;
        int64_t element = 0;
        for (int d = 0; d < window->n && weight != 0; d++) {
            double at = floor(place[d]) + (corner >> d & 1);
            bool is_inside = at >= 0 && at < (double)window->image[d];
            weight *= is_inside ? 1 - fabs(place[d] - at) : 0;
            element = element * window->image[d] + (is_inside ? (int64_t)at : 0);
        }
        if (weight != 0)
            sum += weight * plane[element];
    }
    return sum;
}

/* Where tap K of offset group G lies at STEP. */
static void find_place(const struct run *run, const struct step *step, int64_t g, int64_t k,
                       double *place)
{
    const struct amp_window *window = &run->deform.window;
    int64_t tap[AMP_SPATIAL_MAX];
    int64_t entry = (step->batch * run->deform.offset_group + g) * run->taps + k;
    const double *offset = data_of(run, OFFSET) + entry * window->n * run->steps + step->flat;
    amp_index_at(window->n, window->kernel, k, tap);
    for (int d = 0; d < window->n; d++)
        place[d] = (double)(step->at[d] * window->stride[d] - window->pad_begin[d] +
                            tap[d] * window->dilation[d]) +
                   offset[d * run->steps];
}

/* COLUMN [C, K...]: what every tap finds in every channel at STEP, times its mask. */
static void fill_column(const struct run *run, const struct step *step, double *column)
{
    const struct deform *deform = &run->deform;
    int64_t per_group = deform->channels / deform->offset_group;
    const double *x = data_of(run, X) + step->batch * deform->channels * run->size;
    const double *mask = data_of(run, MASK);
    for (int64_t i = 0; i < deform->offset_group * run->taps; i++) {
        double place[AMP_SPATIAL_MAX], factor = 1;
        int64_t g = i / run->taps, k = i % run->taps;
        find_place(run, step, g, k, place);
        if (mask != NULL)
            factor = mask[(step->batch * deform->offset_group * run->taps + i) * run->steps +
                          step->flat];
        for (int64_t c = g * per_group; c < (g + 1) * per_group; c++)
            column[c * run->taps + k] = factor * sample(&deform->window, x + c * run->size, place);
    }
}

/* Every filter on the column of STEP. */
static void run_step(const struct run *run, const struct step *step, double *column)
{
    const struct deform *deform = &run->deform;
    int64_t length = deform->channels / deform->group * run->taps;
    double *y = (double *)run->y.data + step->batch * deform->filters * run->steps + step->flat;
    fill_column(run, step, column);
    for (int64_t m = 0; m < deform->filters; m++) {
        const double *weight = data_of(run, W) + m * length;
        const double *part = column + m / (deform->filters / deform->group) * length;
        double sum = data_of(run, BIAS) ? data_of(run, BIAS)[m] : 0;
        for (int64_t i = 0; i < length; i++)
            sum += weight[i] * part[i];
        y[m * run->steps] = sum;
    }
}

static void run_steps(const struct run *run)
{
    const struct amp_window *window = &run->deform.window;
    int64_t all = run->deform.batch * run->steps, length = run->deform.channels * run->taps;
#pragma omp parallel for
    for (int64_t part = 0; part < PARTS; part++)
        for (int64_t i = all * part / PARTS; i < all * (part + 1) / PARTS; i++) {
            struct step step = {.batch = i / run->steps, .flat = i % run->steps};
            amp_index_at(window->n, window->steps, step.flat, step.at);
            run_step(run, &step, (double *)run->columns.data + part * length);
        }
}

/* The inputs as float64, and memory for the rest. */
static enum amp_status prepare(struct amp_ctx *ctx, struct run *run)
{
    const struct amp_window *window = &run->deform.window;
    AMP_TRY(deform_read(ctx, ctx->in[X]->shape.rank - 2, &run->deform));
    run->size = amp_window_product(window->n, window->image);
    run->taps = amp_window_product(window->n, window->kernel);
    run->steps = amp_window_product(window->n, window->steps);
    for (uint32_t i = X; i <= MASK; i++)
        if (amp_has_in(ctx, i))
            AMP_TRY(amp_tensor_cast_copy(ctx->in[i], AMP_DOUBLE, &run->in[i], ctx->err));
    run->columns =
        (struct amp_tensor){.dtype = AMP_DOUBLE,
                            .shape = {.rank = 3, .dims = {PARTS, run->deform.channels, run->taps}}};
    run->y = (struct amp_tensor){.dtype = AMP_DOUBLE, .shape = ctx->out[0]->shape};
    AMP_TRY(amp_tensor_alloc(&run->columns, ctx->err));
    return amp_tensor_alloc(&run->y, ctx->err);
}

static enum amp_status deform_run(struct amp_ctx *ctx)
{
    struct run run = {.size = 0};
    if (amp_shape_count(&ctx->out[0]->shape) == 0)
        return AMP_OK;
    enum amp_status status = prepare(ctx, &run);
    if (status == AMP_OK) {
        run_steps(&run);
        status = amp_tensor_cast(&run.y, ctx->out[0], NULL, ctx->err);
    }
    amp_tensors_release(run.in, AMP_COUNT(run.in));
    amp_tensor_release(&run.y);
    amp_tensor_release(&run.columns);
    return status;
}

const struct amp_op amp_op_deform_conv = {
    .name = "DeformConv",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .flops = {amp_flops_convolution, 1},
    .shape = deform_shape,
    .run = deform_run,
};

/*
 * Computes exact convolutions of bytes by oneDNN, which convolves uint8 with int8, without zero
 * points: both operands are brought to those types by a shift of 128, the image with its padding,
 * which stands for 0, filled in. What the zero points s and t contribute is taken out of sum x w:
 * sum (x - s)(w - t) = sum x w - t sum x + (k t - sum w) s. Where oneDNN is not exact, the image is
 * unfolded, and multiplied as ops/matmul/byte_product.h does that.
 */
#include "ops/conv/byte_conv.h"

#include "ops/conv/conv_prim.h"
#include "ops/dnnl/layout.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/byte_product.h"

#include <stdlib.h>
#include <string.h>

struct state {
    void *prim;
    struct amp_tensor w, w_sums; /* of constant weights; no data: not made yet */
    struct amp_tensor wide;      /* w for pairs */
};

static void forget_weights(struct state *state)
{
    amp_tensor_release(&state->w);
    amp_tensor_release(&state->w_sums);
    amp_tensor_release(&state->wide);
}

void amp_byte_conv_destroy(void *state)
{
    struct state *own = state;
    if (own == NULL)
        return;
    amp_prim_destroy(own->prim);
    forget_weights(own);
    free(own);
}

/* One run. */
struct call {
    struct amp_ctx ctx;
    const struct amp_conv *conv;
    struct amp_window window; /* on the padded image */
    struct amp_tensor x, w;   /* uint8, padded, and int8 */
    struct amp_tensor x_sums; /* of what each step sees, per group; no data: not needed */
    struct amp_tensor raw;    /* sums of x w */
    int32_t x_zero;           /* of x as it is here */
    struct state *state;
};

/* The products in each sum. */
static int64_t taps_of(const struct amp_conv *conv)
{
    return conv->channels / conv->group * amp_window_product(conv->window.n, conv->window.kernel);
}

/* ---- operands ---- */

AMP_CLONES(void, flip_bytes, (const uint8_t *from, uint8_t *to, int64_t n, uint8_t flipped),
           (from, to, n, flipped))
{
    AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] = from[i] ^ flipped;
}

static int64_t zero_of(const struct amp_ctx *ctx, uint32_t i, int64_t index)
{
    if (!amp_has_in(ctx, i))
        return 0;
    return amp_tensor_int(ctx->in[i], amp_tensor_count(ctx->in[i]) > 1 ? (size_t)index : 0);
}

/* Of the weights of filter M as they are here. */
static int64_t w_zero_of(const struct call *call, int64_t m)
{
    const struct amp_conv_inputs *inputs = call->conv->inputs;
    return zero_of(&call->ctx, inputs->w_zero, m) -
           (call->ctx.in[inputs->w]->dtype == AMP_UINT8 ? 128 : 0);
}

/* The window on the padded image: without pads, over an image that has them. */
static void pad_window(struct amp_window *window)
{
    for (int d = 0; d < window->n; d++) {
        int64_t reach = amp_window_reach(window, d);
        window->image[d] += window->pad_begin[d] + (reach > 0 ? reach : 0);
        window->pad_begin[d] = window->pad_end[d] = 0;
    }
}

/* Copies plane FROM of CONV's image into the middle of plane TO, row by row. */
static void pad_plane(const struct call *call, const uint8_t *from, uint8_t *to, uint8_t flipped)
{
    const struct amp_window *old = &call->conv->window, *new = &call->window;
    int last = old->n - 1;
    int64_t index[AMP_SPATIAL_MAX] = {0}, row = old->image[last];
    memset(to, call->x_zero, (size_t)amp_window_product(new->n, new->image));
    do {
        int64_t place = 0;
        for (int d = 0; d < last; d++)
            place = (place + old->pad_begin[d] + index[d]) * new->image[d + 1];
        flip_bytes(from, to + place + old->pad_begin[last], row, flipped);
        from += row;
    } while (amp_index_next(last, old->image, index));
}

static enum amp_status make_x(struct call *call)
{
    const struct amp_conv *conv = call->conv;
    const struct amp_tensor *x = call->ctx.in[conv->inputs->x];
    const uint8_t flipped = x->dtype == AMP_INT8 ? 0x80 : 0;
    call->x_zero = (int32_t)zero_of(&call->ctx, conv->inputs->x_zero, 0) + flipped;
    call->x = (struct amp_tensor){.dtype = AMP_UINT8, .shape = x->shape};
    memcpy(call->x.shape.dims + 2, call->window.image,
           (size_t)call->window.n * sizeof *call->window.image);
    AMP_TRY(amp_tensor_alloc(&call->x, call->ctx.err));
    const int64_t from_size = amp_window_product(conv->window.n, conv->window.image);
    const int64_t to_size = amp_window_product(call->window.n, call->window.image);
    const int64_t planes = conv->batch * conv->channels;
#pragma omp parallel for if (planes * to_size >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < planes; i++)
        pad_plane(call, (const uint8_t *)x->data + i * from_size,
                  (uint8_t *)call->x.data + i * to_size, flipped);
    return AMP_OK;
}

AMP_CLONES(int32_t, sum_bytes, (const int8_t *from, int64_t n), (from, n))
{
    int32_t sum = 0;
    _Pragma("omp simd reduction(+ : sum)") for (int64_t i = 0; i < n; i++) sum += from[i];
    return sum;
}

/* The weights as int8 and the sum of each filter. */
static enum amp_status make_w(struct call *call)
{
    const struct amp_conv *conv = call->conv;
    const struct amp_tensor *w = call->ctx.in[conv->inputs->w];
    struct state *state = call->state;
    const int64_t size = taps_of(conv), count = size * conv->filters;
    if (state->w.data == NULL) {
        state->w = (struct amp_tensor){.dtype = AMP_INT8, .shape = w->shape};
        state->w_sums =
            (struct amp_tensor){.dtype = AMP_INT32, .shape = {.rank = 1, .dims = {conv->filters}}};
        AMP_TRY(amp_tensor_alloc(&state->w_sums, call->ctx.err));
        AMP_TRY(amp_tensor_alloc(&state->w, call->ctx.err));
        flip_bytes(w->data, state->w.data, count, w->dtype == AMP_UINT8 ? 0x80 : 0);
        for (int64_t m = 0; m < conv->filters; m++)
            ((int32_t *)state->w_sums.data)[m] =
                sum_bytes((const int8_t *)state->w.data + m * size, size);
    }
    return AMP_OK;
}

/* ---- what each step sees ---- */

AMP_CONV_TAP(SUMS, uint32_t, uint32_t)

AMP_CLONES(void, add_bytes, (const uint8_t *from, uint32_t *sums, int64_t n), (from, sums, n))
{
    AMP_SIMD for (int64_t i = 0; i < n; i++) sums[i] += from[i];
}

/* Sums over the CHANNELS of a group go to PLANE, those of all taps to SUMS. */
static void sum_group(const struct amp_window *window, const uint8_t *x, int64_t channels,
                      uint32_t *plane, uint32_t *sums)
{
    int64_t size = amp_window_product(window->n, window->image), tap[AMP_SPATIAL_MAX] = {0};
    memset(plane, 0, (size_t)size * sizeof *plane);
    for (int64_t c = 0; c < channels; c++)
        add_bytes(x + c * size, plane, size);
    memset(sums, 0, (size_t)amp_window_product(window->n, window->steps) * sizeof *sums);
    do {
        struct amp_runs runs;
        amp_runs_start(&runs, window, tap);
        tap_SUMS(&runs, plane, 1, 0, sums);
    } while (amp_index_next(window->n, window->kernel, tap));
}

static enum amp_status make_x_sums(struct call *call)
{
    const struct amp_conv *conv = call->conv;
    const int64_t groups = conv->batch * conv->group, channels = conv->channels / conv->group;
    const int64_t steps = amp_window_product(call->window.n, call->window.steps);
    const int64_t size = amp_window_product(call->window.n, call->window.image);
    struct amp_tensor planes = {.dtype = AMP_UINT32, .shape = {.rank = 2, .dims = {groups, size}}};
    call->x_sums =
        (struct amp_tensor){.dtype = AMP_UINT32, .shape = {.rank = 2, .dims = {groups, steps}}};
    AMP_TRY(amp_tensor_alloc(&call->x_sums, call->ctx.err));
    AMP_TRY(amp_tensor_alloc(&planes, call->ctx.err));
#pragma omp parallel for
    for (int64_t i = 0; i < groups; i++)
        sum_group(&call->window, (const uint8_t *)call->x.data + i * channels * size, channels,
                  (uint32_t *)planes.data + i * size, (uint32_t *)call->x_sums.data + i * steps);
    amp_tensor_release(&planes);
    return AMP_OK;
}

/* ---- the unfolded image ---- */

/* Whether filters are so many that the image is worth unfolding for them. */
static bool is_for_pairs(const struct amp_conv *conv)
{
    enum { FEW = 4 };
    return amp_byte_pairs_suit(taps_of(conv)) && conv->filters / conv->group >= FEW;
}

/* A row of weights for each filter. */
static enum amp_status widen_w(const struct call *call)
{
    struct amp_tensor *wide = &call->state->wide;
    const int64_t filters = call->conv->filters, k = taps_of(call->conv);
    const int64_t step = amp_byte_pairs_step(k);
    const int8_t *w = call->state->w.data;
    if (wide->data != NULL)
        return AMP_OK;
    *wide = (struct amp_tensor){.dtype = AMP_INT16, .shape = {2, {filters, step}}};
    AMP_TRY(amp_tensor_alloc(wide, call->ctx.err));
    memset(wide->data, 0, amp_tensor_size(wide));
    for (int64_t m = 0; m < filters; m++)
        for (int64_t i = 0; i < k; i++)
            ((int16_t *)wide->data)[m * step + i] = w[m * k + i];
    return AMP_OK;
}

/* What tap TAP of all steps sees of one channel. */
static void unfold_tap(const struct amp_window *window, const int64_t *tap, const uint8_t *image,
                       uint8_t *to)
{
    struct amp_runs runs;
    amp_runs_start(&runs, window, tap);
    while (amp_runs_next(&runs))
        if (runs.stride == 1)
            memcpy(to + runs.step, image + runs.image, (size_t)runs.count);
        else
            for (int64_t i = 0; i < runs.count; i++)
                to[runs.step + i] = image[runs.image + i * runs.stride];
}

/* A row for each tap of each channel of IMAGE, at TO. */
static void unfold(const struct call *call, const uint8_t *image, uint8_t *to)
{
    const struct amp_window *window = &call->window;
    const int64_t size = amp_window_product(window->n, window->image);
    const int64_t steps = amp_window_product(window->n, window->steps);
    const int64_t taps = amp_window_product(window->n, window->kernel);
#pragma omp parallel for if (taps_of(call->conv) * steps >= AMP_PARALLEL_MIN)
    for (int64_t c = 0; c < call->conv->channels / call->conv->group; c++) {
        int64_t tap[AMP_SPATIAL_MAX] = {0}, row = c * taps;
        do
            unfold_tap(window, tap, image + c * size, to + row++ * steps);
        while (amp_index_next(window->n, window->kernel, tap));
    }
}

/* Whether every element of the image is a step of the only tap. */
static bool is_unfolded(const struct amp_window *window)
{
    bool is = amp_window_product(window->n, window->kernel) == 1;
    for (int d = 0; d < window->n && is; d++)
        is = window->stride[d] == 1;
    return is;
}

static enum amp_status multiply_unfolded(struct call *call, const struct amp_tensor *sums)
{
    const struct amp_conv *conv = call->conv;
    const int64_t m = conv->filters / conv->group, k = taps_of(conv);
    const int64_t step = amp_byte_pairs_step(k);
    const int64_t n = amp_window_product(call->window.n, call->window.steps);
    const int64_t part =
        conv->channels / conv->group * amp_window_product(call->window.n, call->window.image);
    bool is_copied = !is_unfolded(&call->window);
    struct amp_tensor rows = {.dtype = AMP_UINT8, .shape = {2, {k, n}}};
    call->raw = (struct amp_tensor){.dtype = AMP_INT32, .shape = sums->shape};
    AMP_TRY(amp_tensor_alloc(&call->raw, call->ctx.err));
    AMP_TRY(widen_w(call));
    if (is_copied)
        AMP_TRY(amp_tensor_alloc(&rows, call->ctx.err));
    for (int64_t i = 0; i < conv->batch * conv->group; i++) {
        const uint8_t *image = (const uint8_t *)call->x.data + i * part;
        if (is_copied)
            unfold(call, image, rows.data);
        amp_byte_pairs_run(&(struct amp_byte_pairs){.m = m,
                                                    .n = n,
                                                    .k = k,
                                                    .a_step = step,
                                                    .a = (const int16_t *)call->state->wide.data +
                                                         i % conv->group * m * step,
                                                    .b = is_copied ? rows.data : image,
                                                    .is_b_unsigned = true,
                                                    .y = (int32_t *)call->raw.data + i * m * n});
    }
    amp_tensor_release(&rows);
    return AMP_OK;
}

/* ---- the convolution ---- */

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    const struct call *call = what;
    struct amp_conv_weights weights = amp_conv_weights_of(&ctx->in[1]->shape, call->conv->group);
    const struct amp_conv_prim conv = {.create = dnnl_convolution_forward_primitive_desc_create,
                                       .alg = dnnl_convolution_direct,
                                       .window = &call->window,
                                       .weights = &weights};
    return amp_conv_prim_make(ctx, prim, &conv);
}

static enum amp_status refuse(struct amp_ctx *ctx, void *what)
{
    (void)what;
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no such convolution");
}

static enum amp_status convolve(struct call *call, const struct amp_tensor *sums)
{
    struct amp_tensor *out = &call->raw;
    struct amp_ctx ctx = call->ctx;
    call->raw = (struct amp_tensor){.dtype = AMP_INT32, .shape = sums->shape};
    ctx.in = (const struct amp_tensor *[]){&call->x, &call->state->w};
    ctx.is_constant = (const bool[]){false, call->ctx.is_constant[call->conv->inputs->w]};
    ctx.n_in = 2;
    ctx.out = &out;
    ctx.n_out = 1;
    ctx.state = &call->state->prim;
    ctx.n_posts = 0;
    ctx.layout_wish = (struct amp_layout_wish){.any_layout = false};
    AMP_TRY(amp_prim_run_call(
        &ctx, &(struct amp_prim_call){.make = make, .plain = refuse, .what = call}));
    return amp_layout_undo_output(&ctx, 0);
}

/* sums = raw + CONSTANT - factor * x_sums; X_SUMS may be NULL where FACTOR is 0 */
AMP_CLONES(void, correct_plane,
           (const uint32_t *raw, uint32_t constant, uint32_t factor, const uint32_t *x_sums,
            uint32_t *sums, int64_t n),
           (raw, constant, factor, x_sums, sums, n))
{
    if (factor == 0 || x_sums == NULL)
        AMP_SIMD for (int64_t i = 0; i < n; i++) sums[i] = raw[i] + constant;
    else
        AMP_SIMD for (int64_t i = 0; i < n; i++) sums[i] = raw[i] + constant - factor * x_sums[i];
}

static void correct(const struct call *call, struct amp_tensor *sums)
{
    const struct amp_conv *conv = call->conv;
    const int64_t steps = amp_window_product(call->window.n, call->window.steps);
    const int64_t planes = conv->batch * conv->filters, per_group = conv->filters / conv->group;
    const int64_t k = taps_of(conv);
    const int32_t *w_sums = call->state->w_sums.data;
    const uint32_t *x_sums = call->x_sums.data;
#pragma omp parallel for if (planes * steps >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < planes; i++) {
        int64_t m = i % conv->filters, w_zero = w_zero_of(call, m), group = i / per_group;
        int64_t constant =
            call->x_zero * (k * w_zero - w_sums[m]) + zero_of(&call->ctx, conv->inputs->bias, m);
        correct_plane((const uint32_t *)call->raw.data + i * steps, (uint32_t)constant,
                      (uint32_t)w_zero, x_sums == NULL ? NULL : x_sums + group * steps,
                      (uint32_t *)sums->data + i * steps, steps);
    }
}

static enum amp_status run(struct call *call, struct amp_tensor *sums)
{
    bool has_w_zero = false;
    for (int64_t m = 0; m < call->conv->filters; m++)
        has_w_zero |= w_zero_of(call, m) != 0;
    pad_window(&call->window);
    AMP_TRY(make_x(call));
    AMP_TRY(make_w(call));
    AMP_TRY(is_for_pairs(call->conv) ? multiply_unfolded(call, sums) : convolve(call, sums));
    if (has_w_zero)
        AMP_TRY(make_x_sums(call));
    correct(call, sums);
    return AMP_OK;
}

enum amp_status amp_byte_conv_run(const struct amp_ctx *ctx, const struct amp_conv *conv,
                                  struct amp_tensor *sums)
{
    struct amp_error refusal = {.status = AMP_OK};
    struct call call = {.ctx = *ctx, .conv = conv, .window = conv->window};
    const struct amp_shape *x = &ctx->in[conv->inputs->x]->shape;
    const struct amp_shape *w = &ctx->in[conv->inputs->w]->shape;
    if (amp_shape_count(&sums->shape) == 0 || amp_shape_count(x) == 0 || amp_shape_count(w) == 0 ||
        (!amp_dnnl_adds_bytes(taps_of(conv)) && !is_for_pairs(conv)))
        return AMP_UNSUPPORTED;
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    call.state = *ctx->state;
    call.ctx.err = &refusal;
    enum amp_status status = run(&call, sums);
    amp_tensor_release(&call.x);
    amp_tensor_release(&call.x_sums);
    amp_tensor_release(&call.raw);
    if (!ctx->is_constant[conv->inputs->w] || status != AMP_OK) {
        forget_weights(call.state);
    }
    return status == AMP_OK ? AMP_OK : AMP_UNSUPPORTED;
}

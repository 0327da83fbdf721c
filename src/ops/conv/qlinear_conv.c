/*
 * QLinearConv: a convolution of bytes whose sums are scaled and rounded back to bytes, ties to
 * even. With constant weights one primitive does all, or the sums, and bytes go on as they lie;
 * else the sums come from ops/conv/conv_integer.h, and are rounded here.
 */
#include "core/simd.h"
#include "ops/conv/byte_conv.h"
#include "ops/conv/conv_integer.h"
#include "ops/conv/conv_prim.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/prim.h"
#include "ops/dnnl/requantize.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <stdlib.h>

static const struct amp_conv_inputs conv_inputs = {
    .x = 0, .x_zero = 2, .w = 3, .w_zero = 5, .bias = 8};

enum { X_SCALE = 1, W_SCALE = 4, Y_SCALE = 6, Y_ZERO = 7 };

struct state {
    void *sums; /* amp_byte_conv_destroy's */
    void *prim; /* amp_prim_destroy's, of all in one or of sums where bytes lie by channels */
    bool is_known;
    enum amp_byte_way way;
    struct amp_requantize requantize;
    struct amp_tensor offsets; /* int32: what is added to sums of products of bytes as they are */
    /* The primitive has int8 as uint8: oneDNN 3.7 pads the former wrongly with a zero point. */
    bool is_flipped;
};

static void destroy(void *state)
{
    struct state *own = state;
    if (own == NULL)
        return;
    amp_byte_conv_destroy(own->sums);
    amp_prim_destroy(own->prim);
    amp_tensor_release(&own->requantize.factors);
    amp_tensor_release(&own->offsets);
    free(own);
}

static struct state *state_of(const struct amp_ctx *ctx)
{
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    return *ctx->state;
}

static float float_of(const struct amp_ctx *ctx, uint32_t i, int64_t index)
{
    return (float)amp_tensor_double(ctx->in[i],
                                    amp_tensor_count(ctx->in[i]) > 1 ? (size_t)index : 0);
}

static enum amp_status check_parameters(const struct amp_ctx *ctx, int64_t filters)
{
    AMP_TRY(amp_conv_check_parameter(ctx, X_SCALE, 1));
    AMP_TRY(amp_conv_check_parameter(ctx, W_SCALE, filters));
    AMP_TRY(amp_conv_check_parameter(ctx, Y_SCALE, 1));
    return amp_conv_check_parameter(ctx, Y_ZERO, 1);
}

/* What the sums of filter M are multiplied by. */
static float factor_of(const struct amp_ctx *ctx, int64_t m)
{
    return float_of(ctx, X_SCALE, 0) * float_of(ctx, W_SCALE, m) / float_of(ctx, Y_SCALE, 0);
}

static float zero_of_y(const struct amp_ctx *ctx)
{
    return (float)amp_tensor_int(ctx->in[Y_ZERO], 0);
}

/* ---- all in one ---- */

static bool are_constant(const struct amp_ctx *ctx)
{
    for (uint32_t i = 1; i < ctx->n_in; i++)
        if (ctx->in[i] != NULL && !ctx->is_constant[i])
            return false;
    return true;
}

static bool are_zero(const struct amp_tensor *tensor)
{
    for (size_t i = 0; tensor != NULL && i < amp_tensor_count(tensor); i++)
        if (amp_tensor_int(tensor, i) != 0)
            return false;
    return true;
}

static const struct amp_tensor *bias_of(const struct amp_ctx *ctx)
{
    return amp_has_in(ctx, conv_inputs.bias) ? ctx->in[conv_inputs.bias] : NULL;
}

static enum amp_byte_way find_way(const struct amp_ctx *ctx)
{
    const struct amp_tensor *w = ctx->in[conv_inputs.w];
    if (!are_constant(ctx) || w->dtype != AMP_INT8 || w->data == NULL ||
        !are_zero(ctx->in[conv_inputs.w_zero]))
        return AMP_BYTES_APART;
    return amp_byte_sums_way(
        &(struct amp_byte_sums){.x = ctx->in[conv_inputs.x]->dtype,
                                .x_zero = amp_tensor_int(ctx->in[conv_inputs.x_zero], 0),
                                .w = w,
                                .group = amp_node_int(ctx->node, "group", 1),
                                .bias = bias_of(ctx)});
}

static enum amp_status set_factors(struct amp_ctx *ctx, const struct amp_conv *conv,
                                   struct amp_requantize *requantize)
{
    struct amp_tensor *factors = &requantize->factors;
    *factors = (struct amp_tensor){.dtype = AMP_FLOAT, .shape.rank = conv->window.n + 1};
    factors->shape.dims[0] = conv->filters;
    for (int d = 0; d < conv->window.n; d++)
        factors->shape.dims[1 + d] = 1;
    AMP_TRY(amp_tensor_alloc(factors, ctx->err));
    for (int64_t m = 0; m < conv->filters; m++)
        ((float *)factors->data)[m] = factor_of(ctx, m);
    requantize->zero = zero_of_y(ctx);
    return AMP_OK;
}

/* The zero point of X as the primitive has it. */
static int64_t zero_of_x(const struct amp_ctx *ctx, const struct state *state)
{
    return amp_tensor_int(ctx->in[conv_inputs.x_zero], 0) + (state->is_flipped ? 128 : 0);
}

/* The bias, less what the zero point of X contributes. */
static enum amp_status set_offsets(struct amp_ctx *ctx, const struct amp_conv *conv,
                                   struct state *state)
{
    struct amp_tensor *offsets = &state->offsets;
    const struct amp_tensor *w = ctx->in[conv_inputs.w], *bias = bias_of(ctx);
    const int64_t size = (int64_t)amp_tensor_count(w) / conv->filters;
    const int64_t zero = zero_of_x(ctx, state);
    *offsets =
        (struct amp_tensor){.dtype = AMP_INT32, .shape = {.rank = 1, .dims = {conv->filters}}};
    AMP_TRY(amp_tensor_alloc(offsets, ctx->err));
    for (int64_t m = 0; m < conv->filters; m++) {
        int64_t offset = bias == NULL ? 0 : amp_tensor_int(bias, (size_t)m);
        for (int64_t i = 0; i < size && zero != 0; i++)
            offset -= zero * amp_tensor_int(w, (size_t)(m * size + i));
        ((int32_t *)offsets->data)[m] = (int32_t)(uint32_t)offset;
    }
    return AMP_OK;
}

/* What is known of constant inputs, once. */
static enum amp_status learn(struct amp_ctx *ctx, const struct amp_conv *conv, struct state *state)
{
    if (state->is_known)
        return AMP_OK;
    state->way = find_way(ctx);
    state->is_known = are_constant(ctx);
    if (state->way == AMP_BYTES_APART)
        return AMP_OK;
    bool is_padded =
        !are_zero(ctx->in[conv_inputs.x_zero]) && amp_byte_sums_may_pad(ctx->in[conv_inputs.w]);
    state->is_flipped =
        ctx->in[conv_inputs.x]->dtype == AMP_INT8 && (state->way == AMP_BYTES_SUMMED || is_padded);
    AMP_TRY(set_factors(ctx, conv, &state->requantize));
    return state->way == AMP_BYTES_SUMMED ? set_offsets(ctx, conv, state) : AMP_OK;
}

/* A call of the primitive: what it is made of and the inputs that it has. */
struct whole {
    struct amp_ctx ctx;
    struct amp_conv conv;
    int32_t zero; /* of the input, for the primitive */
    const struct amp_tensor *in[3];
    bool is_constant[3];
    struct amp_post posts[AMP_REQUANTIZE_POSTS];
    struct amp_tensor flipped; /* input 0, where it is */
};

static void set_whole(const struct amp_ctx *ctx, struct state *state, struct whole *whole)
{
    whole->ctx = *ctx;
    whole->flipped = (struct amp_tensor){.data = NULL};
    whole->in[0] = ctx->in[conv_inputs.x];
    whole->in[1] = ctx->in[conv_inputs.w];
    whole->in[2] = bias_of(ctx);
    whole->is_constant[0] = ctx->is_constant[conv_inputs.x];
    whole->is_constant[1] = whole->is_constant[2] = true;
    whole->ctx.in = whole->in;
    whole->ctx.n_in = whole->in[2] != NULL ? 3 : 2;
    whole->ctx.is_constant = whole->is_constant;
    whole->ctx.state = &state->prim;
    whole->ctx.posts = whole->posts;
    whole->ctx.n_posts = amp_requantize_posts(&state->requantize, whole->posts);
}

static enum amp_status make_whole(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    const struct whole *whole = what;
    const struct amp_conv *conv = &whole->conv;
    struct amp_conv_weights weights = amp_conv_weights_of(&ctx->in[1]->shape, conv->group);
    return amp_conv_prim_make(
        ctx, prim,
        &(struct amp_conv_prim){.create = dnnl_convolution_forward_primitive_desc_create,
                                .alg = dnnl_convolution_direct,
                                .window = &conv->window,
                                .weights = &weights,
                                .x_zero = whole->zero});
}

static enum amp_status run_prim(struct whole *whole)
{
    return amp_prim_run_call(&whole->ctx,
                             &(struct amp_prim_call){.make = make_whole, .what = whole});
}

/* Makes input 0 of the primitive uint8, 128 more than the int8 that it is, and as it lies. */
static enum amp_status flip(struct whole *whole)
{
    const struct amp_tensor *x = whole->in[0];
    const struct amp_layout *layout = NULL;
    if (x->layout != NULL &&
        (!amp_layout_is_dense(x) ||
         !amp_layout_in_dtype(whole->ctx.host->dnnl->layouts, x, AMP_UINT8, &layout)))
        return amp_fail(whole->ctx.err, AMP_UNSUPPORTED, "bytes in blocks");
    whole->flipped = (struct amp_tensor){.dtype = AMP_UINT8, .shape = x->shape};
    AMP_TRY(amp_tensor_alloc(&whole->flipped, whole->ctx.err));
    whole->flipped.layout = layout;
    whole->in[0] = &whole->flipped;
    amp_bytes_flip(x->data, whole->flipped.data, amp_tensor_count(x));
    return AMP_OK;
}

/* ---- rounding ---- */

/* N sums, scaled, rounded (ties to even) and kept in the range of T; and those of N channels, with
   an offset and a scale each. */
#define REQUANTIZE(DTYPE, T, ...)                                                            \
    static inline T round_##DTYPE(int32_t sum, float scale, float zero)                      \
    {                                                                                        \
        const float low = AMP_LOWEST(T), high = AMP_HIGHEST(T);                              \
        float value = rintf((float)sum * scale) + zero;                                      \
        value = value > low ? value : low;                                                   \
        return (T)(int32_t)(value < high ? value : high);                                    \
    }                                                                                        \
    AMP_CLONES(void, requantize_##DTYPE,                                                     \
               (const int32_t *sums, float scale, float zero, void *to, int64_t n),          \
               (sums, scale, zero, to, n))                                                   \
    {                                                                                        \
        T *y = to;                                                                           \
        AMP_SIMD for (int64_t i = 0; i < n; i++) y[i] = round_##DTYPE(sums[i], scale, zero); \
    }                                                                                        \
    AMP_CLONES(void, channels_##DTYPE,                                                       \
               (const int32_t *sums, const struct state *by, void *to, int64_t n),           \
               (sums, by, to, n))                                                            \
    {                                                                                        \
        const uint32_t *offsets = by->offsets.data;                                          \
        const float *scales = by->requantize.factors.data, zero = by->requantize.zero;       \
        T *y = to;                                                                           \
        AMP_SIMD for (int64_t i = 0; i < n; i++) y[i] =                                      \
            round_##DTYPE((int32_t)((uint32_t)sums[i] + offsets[i]), scales[i], zero);       \
    }
REQUANTIZE(INT8, int8_t)
REQUANTIZE(UINT8, uint8_t)

/* ---- sums by channels, rounded apart ---- */

/* Whether SUMS lie pixel by pixel, with all channels of one together. */
static bool lies_by_channels(const struct amp_tensor *sums)
{
    return sums->layout != NULL && amp_layout_is_dense(sums) &&
           amp_layout_strides(sums->layout)[1] == 1;
}

/* Makes output 0, which comes to lie as they do, of SUMS. */
static enum amp_status round_channels(struct amp_ctx *ctx, const struct state *state,
                                      const struct amp_tensor *sums)
{
    struct amp_tensor *y = ctx->out[0];
    const struct amp_layout *layout;
    const int64_t channels = sums->shape.dims[1];
    if (!lies_by_channels(sums) ||
        !amp_layout_in_dtype(ctx->host->dnnl->layouts, sums, y->dtype, &layout))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "sums in blocks");
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    y->layout = layout;
    const int64_t pixels = (int64_t)amp_tensor_count(sums) / channels;
    bool is_signed = y->dtype == AMP_INT8;
#pragma omp parallel for if (pixels * channels >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < pixels; i++)
        (is_signed ? channels_INT8 : channels_UINT8)((const int32_t *)sums->data + i * channels,
                                                     state, (char *)y->data + i * channels,
                                                     channels);
    return AMP_OK;
}

static bool is_padded(const struct amp_window *window)
{
    for (int d = 0; d < window->n; d++)
        if (window->pad_begin[d] > 0 || amp_window_reach(window, d) > 0)
            return true;
    return false;
}

static enum amp_status run_summed(struct amp_ctx *ctx, struct state *state, struct whole *whole)
{
    struct amp_tensor sums = {.dtype = AMP_INT32, .shape = ctx->out[0]->shape}, *out = &sums;
    whole->ctx.n_in = 2;
    whole->ctx.n_posts = 0;
    whole->ctx.out = &out;
    if (whole->zero != 0 && is_padded(&whole->conv.window))
        return AMP_UNSUPPORTED;
    whole->zero = 0;
    enum amp_status status =
        amp_prim_run_call(&whole->ctx, &(struct amp_prim_call){.make = make_whole, .what = whole});
    if (status == AMP_OK)
        status = round_channels(ctx, state, &sums);
    amp_tensor_release(&sums);
    return status;
}

/* ---- sums of planes, rounded apart ---- */

static void requantize(struct amp_ctx *ctx, const struct amp_conv *conv, const int32_t *sums)
{
    const float zero = zero_of_y(ctx);
    const int64_t steps = amp_window_product(conv->window.n, conv->window.steps);
    const int64_t planes = conv->batch * conv->filters;
    bool is_signed = ctx->out[0]->dtype == AMP_INT8;
#pragma omp parallel for if (planes * steps >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < planes; i++)
        (is_signed ? requantize_INT8
                   : requantize_UINT8)(sums + i * steps, factor_of(ctx, i % conv->filters), zero,
                                       (char *)ctx->out[0]->data + i * steps, steps);
}

static enum amp_status run_plain(struct amp_ctx *ctx)
{
    struct amp_conv conv;
    struct amp_tensor sums = {.dtype = AMP_INT32, .shape = ctx->out[0]->shape};
    struct amp_ctx inner = *ctx;
    inner.state = &state_of(ctx)->sums;
    AMP_TRY(amp_tensor_alloc(&sums, ctx->err));
    enum amp_status status = amp_int_conv(&inner, &conv_inputs, &conv, &sums);
    if (status == AMP_OK)
        requantize(ctx, &conv, sums.data);
    amp_tensor_release(&sums);
    return status;
}

/* ---- the operator ---- */

static enum amp_status shape(struct amp_ctx *ctx)
{
    return amp_conv_shape(ctx, &conv_inputs);
}

static enum amp_status run_whole(struct amp_ctx *ctx)
{
    struct whole whole;
    struct state *state = state_of(ctx);
    AMP_TRY(amp_conv_read(ctx, &conv_inputs, ctx->in[0]->shape.rank - 2, &whole.conv));
    AMP_TRY(check_parameters(ctx, whole.conv.filters));
    AMP_TRY(learn(ctx, &whole.conv, state));
    if (state->way == AMP_BYTES_APART)
        return AMP_UNSUPPORTED;
    set_whole(ctx, state, &whole);
    whole.zero = (int32_t)zero_of_x(ctx, state);
    if (state->is_flipped)
        AMP_TRY(flip(&whole));
    enum amp_status status =
        state->way == AMP_BYTES_SUMMED ? run_summed(ctx, state, &whole) : run_prim(&whole);
    amp_tensor_release(&whole.flipped);
    return status;
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct amp_error refusal = {.status = AMP_OK}, *err = ctx->err;
    if (amp_shape_count(&ctx->out[0]->shape) == 0)
        return amp_ctx_alloc(ctx, 0);
    ctx->err = &refusal;
    enum amp_status status = run_whole(ctx);
    ctx->err = err;
    if (status == AMP_UNSUPPORTED)
        return amp_prim_run_plain(ctx, run_plain);
    return status == AMP_OK || status == AMP_AGAIN ? status
                                                   : amp_fail(err, status, "%s", refusal.text);
}

static bool can_repeat(const struct amp_ctx *ctx)
{
    struct state *state = *ctx->state;
    struct whole whole;
    if (state == NULL || state->prim == NULL || state->way != AMP_BYTES_WHOLE || state->is_flipped)
        return false;
    set_whole(ctx, state, &whole);
    return amp_prim_repeat.can(&whole.ctx);
}

static enum amp_status run_again(struct amp_ctx *ctx)
{
    struct whole whole;
    set_whole(ctx, *ctx->state, &whole);
    return amp_prim_repeat.run(&whole.ctx);
}

static bool reads(const void *state, size_t index)
{
    const struct state *own = state;
    bool is_bound = index == conv_inputs.w || index == conv_inputs.bias;
    return !is_bound || amp_prim_reads(own->prim, index == conv_inputs.w ? 1 : 2);
}

const struct amp_op amp_op_qlinear_conv = {
    .name = "QLinearConv",
    .newest = 10,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .has_layouts = true,
    .flops = {amp_flops_convolution, 3},
    .shape = shape,
    .run = run,
    .repeat = &(const struct amp_repeat){.can = can_repeat, .run = run_again},
    .destroy = destroy,
    .reads = reads,
};

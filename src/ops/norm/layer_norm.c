/*
 * LayerNormalization (oneDNN; plain C for float64 and for scales that are not one row) and
 * RMSNormalization (plain C), which ONNX Runtime calls SimplifiedLayerNormalization: the dims from
 * an axis on are normalized together.
 */
#include "core/convert.h"
#include "ops/bound.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/float64_call.h"
#include "ops/norm/row_norm.h"

#include <math.h>

enum { MEAN_OUT = 1, INVERSE_OUT = 2 };

static enum amp_status first_axis(struct amp_ctx *ctx, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", -1), ctx->in[0]->shape.rank, axis);
}

static enum amp_status check_broadcast(struct amp_ctx *ctx, uint32_t input)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    struct amp_shape both;
    if (!amp_has_in(ctx, input) || ctx->in[input]->shape.rank < 0)
        return AMP_OK;
    bool fits =
        amp_broadcast(x, &ctx->in[input]->shape, &both, NULL) == AMP_OK && both.rank == x->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = x->dims[i] < 0 || both.dims[i] < 0 || x->dims[i] == both.dims[i];
    return fits ? AMP_OK : amp_parameter_fail(ctx, input, "does not broadcast to");
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    int axis;
    AMP_TRY(amp_shape_same(ctx));
    if (x->rank < 0)
        return AMP_OK;
    AMP_TRY(first_axis(ctx, &axis));
    AMP_TRY(check_broadcast(ctx, 1));
    AMP_TRY(check_broadcast(ctx, 2));
    for (uint32_t i = MEAN_OUT; i < ctx->n_out; i++)
        for (int d = axis; d < x->rank; d++)
            ctx->out[i]->shape.dims[d] = 1;
    return AMP_OK;
}

static enum amp_status rows_of(struct amp_ctx *ctx, struct amp_rows *rows)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    int axis;
    AMP_TRY(first_axis(ctx, &axis));
    *rows = (struct amp_rows){.x = ctx->in[0]->data,
                              .y = ctx->out[0]->data,
                              .count = amp_shape_product(x, 0, axis),
                              .n = amp_shape_product(x, axis, x->rank),
                              .epsilon = (double)amp_epsilon(ctx)};
    if (amp_has_out(ctx, MEAN_OUT))
        rows->mean = ctx->out[MEAN_OUT];
    if (amp_has_out(ctx, INVERSE_OUT))
        rows->inverse = ctx->out[INVERSE_OUT];
    return AMP_OK;
}

/* Whether INPUT, if there, holds one value for each element of a row. */
static bool is_row(const struct amp_ctx *ctx, uint32_t input, int axis)
{
    if (!amp_has_in(ctx, input))
        return true;
    const struct amp_shape *x = &ctx->in[0]->shape, *shape_of = &ctx->in[input]->shape;
    int missing = x->rank - shape_of->rank;
    for (int i = 0; i < x->rank; i++) {
        int64_t dim = i < missing ? 1 : shape_of->dims[i - missing];
        if (dim != (i < axis ? 1 : x->dims[i]))
            return false;
    }
    return true;
}

/* Input INPUT, N elements of 16 bits, widened to FLOATS. */
static const void *widen(const struct amp_ctx *ctx, uint32_t input, float *floats, int64_t n)
{
    amp_dtype_convert(ctx->in[input]->dtype, ctx->in[input]->data, AMP_FLOAT, floats, (size_t)n);
    return floats;
}

/* Normalizes, scales and shifts row by row. */
static enum amp_status run_scaled(struct amp_ctx *ctx, enum amp_rows_kind kind,
                                  struct amp_rows *rows)
{
    bool has_shift = amp_has_in(ctx, 2);
    struct amp_buffer *wide = NULL;
    rows->scale = ctx->in[1]->data;
    rows->shift = has_shift ? ctx->in[2]->data : NULL;
    if (amp_compute_dtype(ctx->in[0]->dtype) != ctx->in[0]->dtype) {
        wide = amp_scratch(ctx, "scale and shift", (size_t)rows->n, 2 * sizeof(float));
        if (wide == NULL)
            return ctx->err->status;
        rows->scale = widen(ctx, 1, wide->data, rows->n);
        rows->shift = has_shift ? widen(ctx, 2, (float *)wide->data + rows->n, rows->n) : NULL;
    }
    enum amp_status status = amp_rows_run(ctx, kind, rows);
    amp_buffer_unref(wide);
    return status;
}

/* Normalizes, then scales and shifts: the two stages that ONNX defines. */
static enum amp_status run_plain(struct amp_ctx *ctx, enum amp_rows_kind kind)
{
    struct amp_rows rows;
    int axis;
    AMP_TRY(rows_of(ctx, &rows));
    AMP_TRY(first_axis(ctx, &axis));
    if (is_row(ctx, 1, axis) && is_row(ctx, 2, axis))
        return run_scaled(ctx, kind, &rows);
    if (amp_compute_dtype(ctx->in[0]->dtype) != ctx->in[0]->dtype)
        return amp_no_kernel(ctx, ctx->in[0]->dtype);
    AMP_TRY(amp_rows_run(ctx, kind, &rows));
    return amp_scale_shift(ctx, &ctx->out[0]->shape, NULL);
}

/* WAS_PLAIN is set, as statistics come out otherwise than by oneDNN. */
static enum amp_status plain_layer(struct amp_ctx *ctx, void *was_plain)
{
    *(bool *)was_plain = true;
    return run_plain(ctx, AMP_ROWS_STANDARDIZE);
}

/* Whether OUTPUT, if wanted, has the dtype of oneDNN's statistics. */
static bool is_f32(const struct amp_ctx *ctx, uint32_t output)
{
    return !amp_has_out(ctx, output) || ctx->out[output]->dtype == AMP_FLOAT;
}

static enum amp_status bind_statistics(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                       uint32_t output, const_dnnl_memory_desc_t desc)
{
    void *unused;
    return amp_has_out(ctx, output) ? amp_prim_bind_out(ctx, prim, arg, output, desc)
                                    : amp_prim_bind_data(ctx, prim, arg, desc, &unused);
}

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim, void *unused)
{
    (void)unused;
    struct amp_rows rows;
    dnnl_memory_desc_t x, y, statistics;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(rows_of(ctx, &rows));
    bool is_stored = rows.mean != NULL || rows.inverse != NULL;
    const int64_t dims[] = {rows.count, rows.n};
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->in[0]->dtype, 2, dims), &x));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->out[0]->dtype, 2, dims), &y));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(AMP_FLOAT, 1, dims), &statistics));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_prim_set_posts(ctx, prim, NULL, 2, dims));
    unsigned flags = dnnl_use_scale | (amp_has_in(ctx, 2) ? (unsigned)dnnl_use_shift : 0);
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_layer_normalization_forward_primitive_desc_create(
                               &pd, ctx->host->dnnl->engine,
                               is_stored ? dnnl_forward_training : dnnl_forward_inference, x, y,
                               statistics, amp_epsilon(ctx), flags, attr),
                           "layer normalization"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    if (amp_has_out(ctx, INVERSE_OUT)) /* oneDNN's is inverted afterwards */
        amp_prim_set_partial(prim);
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, x));
    AMP_TRY(amp_prim_bind_scale_shift(ctx, prim, rows.n));
    if (is_stored) {
        AMP_TRY(bind_statistics(ctx, prim, DNNL_ARG_MEAN, MEAN_OUT, statistics));
        AMP_TRY(bind_statistics(ctx, prim, DNNL_ARG_VARIANCE, INVERSE_OUT, statistics));
    }
    return amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, y);
}

/* oneDNN stores the variance where ONNX wants 1 / sqrt(variance + epsilon). */
static void invert(const struct amp_ctx *ctx)
{
    float *values = ctx->out[INVERSE_OUT]->data, epsilon = amp_epsilon(ctx);
    size_t count = amp_tensor_count(ctx->out[INVERSE_OUT]);
    for (size_t i = 0; i < count; i++)
        values[i] = 1 / sqrtf(values[i] + epsilon);
}

/* Statistics may have any type, the result that of a post-op, X that before a cast: theirs does not
   count. */
static bool has_mixed_types(struct amp_ctx *ctx)
{
    struct amp_ctx data = *ctx;
    if (ctx->reads_casts)
        return false;
    data.n_out = ctx->n_posts == 0;
    return amp_has_mixed_types(&data);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    int axis;
    if (has_mixed_types(ctx))
        return amp_run_in_f64(ctx, run);
    AMP_TRY(first_axis(ctx, &axis));
    bool suits = amp_tensor_count(ctx->in[0]) > 0 && is_row(ctx, 1, axis) && is_row(ctx, 2, axis) &&
                 is_f32(ctx, MEAN_OUT) && is_f32(ctx, INVERSE_OUT);
    bool was_plain = false;
    const struct amp_prim_call call = {
        .make = suits ? make : NULL, .plain = plain_layer, .what = &was_plain};
    AMP_TRY(amp_prim_run_call(ctx, &call));
    if (!was_plain && amp_has_out(ctx, INVERSE_OUT))
        invert(ctx);
    return AMP_OK;
}

/* Over the dims from attribute axis on. */
static bool bound_norm(const struct amp_bound_call *call, uint32_t bias, struct amp_interval *out)
{
    const struct amp_value *x = amp_value_at(call->model, call->node->inputs[0]);
    int64_t axis = amp_node_int(call->node, "axis", -1), count = 1;
    if (x->rank < 0)
        return false;
    for (int64_t d = axis < 0 ? axis + x->rank : axis; d < x->rank; d++)
        if (d < 0 || x->dims[d] <= 0 || __builtin_mul_overflow(count, x->dims[d], &count))
            count = 0;
    return amp_bound_normalized(call, count, 1, bias, out);
}

static bool bound_layer(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_norm(call, 2, out);
}

static bool bound_rms(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_norm(call, UINT32_MAX, out);
}

/* What derivatives begin with. */
#define ROWS "of = a; along = [a:#axis];"
const struct amp_op amp_op_layer_normalization = {
    .name = "LayerNormalization",
    .newest = 17,
    .effect = AMP_COMPUTES,
    .bound = bound_layer,
    .inner = amp_inner_deviation,
    .native = AMP_NATIVE_DNNL,
    .reads_casts = AMP_INPUT(0),
    .fuses = true,
    .fusion = &(const struct amp_fusion){.inputs = {"x", "g"},
                                         .optional = "b",
                                         .attr = "epsilon",
                                         .scalar = "e",
                                         .is_last_axis = true},
    .dtype_attr = &(const struct amp_dtype_attr){.name = "stash_type",
                                                 .outputs = AMP_INPUT(1) | AMP_INPUT(2),
                                                 .fallback = AMP_FLOAT},
    .twins = {"T", "V"},
    /* Version 1 is ONNX Runtime's, which ONNX took over. */
    .changes = AMP_CHANGES({17, NULL}),
    .gradient = AMP_GRADIENT({.term = ROWS "Normalized(Mul(g, b))"},
                             {.input = 1, .term = ROWS "SumTo(Mul(g, normal))"},
                             {.input = 2, .term = "SumTo(g)"}),
    .shape = shape,
    .run = run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

static enum amp_status run_rms(struct amp_ctx *ctx)
{
    if (has_mixed_types(ctx))
        return amp_run_in_f64(ctx, run_rms);
    return run_plain(ctx, AMP_ROWS_RMS);
}

const struct amp_op amp_op_rms_normalization = {
    .name = "RMSNormalization",
    .newest = 23,
    .effect = AMP_COMPUTES,
    .bound = bound_rms,
    .inner = amp_inner_magnitude,
    .native = AMP_NATIVE_ALL,
    .fusion =
        &(const struct amp_fusion){
            .inputs = {"x", "g"}, .attr = "epsilon", .scalar = "e", .is_last_axis = true},
    .twins = {"T", "V"},
    .gradient = AMP_GRADIENT({.term = ROWS "Scaled(Mul(g, CastLike(b, a)))"},
                             {.input = 1, .term = ROWS "CastLike(SumTo(Mul(g, scaled)), x)"}),
    .shape = shape,
    .run = run_rms,
};

/* Its statistic is output 1. */
static enum amp_status run_simplified(struct amp_ctx *ctx)
{
    struct amp_tensor unwanted = {.dtype = AMP_UNDEFINED};
    struct amp_tensor *out[] = {ctx->out[0], &unwanted,
                                ctx->n_out > MEAN_OUT ? ctx->out[MEAN_OUT] : &unwanted};
    struct amp_ctx inner = *ctx;
    inner.out = out;
    inner.n_out = INVERSE_OUT + 1;
    return run_rms(&inner);
}

const struct amp_op amp_op_simplified_layer_normalization = {
    .name = "SimplifiedLayerNormalization",
    .newest = 1,
    .effect = AMP_COMPUTES,
    .bound = bound_rms,
    .inner = amp_inner_magnitude,
    .native = AMP_NATIVE_ALL,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "stash_type",
                                                 .outputs = AMP_INPUT(1),
                                                 .fallback = AMP_FLOAT},
    .twins = {"T", "V"},
    .shape = shape,
    .run = run_simplified,
};

/* Those under ONNX Runtime's own domain. */
const struct amp_op amp_op_ms_layer_normalization = {
    .name = "LayerNormalization",
    .domain = "com.microsoft",
    .newest = 1,
    .effect = AMP_COMPUTES,
    .bound = bound_layer,
    .inner = amp_inner_deviation,
    .native = AMP_NATIVE_DNNL,
    .twins = {"T", "V"},
    .shape = shape,
    .run = run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_ms_simplified_layer_normalization = {
    .name = "SimplifiedLayerNormalization",
    .domain = "com.microsoft",
    .newest = 1,
    .effect = AMP_COMPUTES,
    .bound = bound_rms,
    .inner = amp_inner_magnitude,
    .native = AMP_NATIVE_ALL,
    .twins = {"T", "V"},
    .shape = shape,
    .run = run_simplified,
};

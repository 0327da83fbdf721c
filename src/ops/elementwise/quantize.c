/*
 * QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. Scales belong to the whole tensor, to
 * slices along an axis or to blocks of slices. Elements go a block at a time through float32, in
 * which all arithmetic is, whatever their types.
 */
#include "core/array.h"
#include "core/convert.h"
#include "ops/bound.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/layout.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/tensor_cast.h"

#include <math.h>

/* How x, seen as [outer, axis, inner], is divided among scales: element (o, a, i) has the scale at
   o * outer_step + a / block * axis_step + i * inner_step. */
struct granularity {
    int64_t axis, inner, block;
    int64_t outer_step, axis_step, inner_step;
};

static struct granularity one_scale(int64_t count)
{
    return (struct granularity){.axis = 1, .inner = count > 0 ? count : 1, .block = 1};
}

static enum amp_status find_blocks(struct amp_ctx *ctx, int axis, struct granularity *grain)
{
    const struct amp_shape *x = &ctx->in[0]->shape, *scale = &ctx->in[1]->shape;
    grain->block = amp_node_int(ctx->node, "block_size", 0);
    bool fits = grain->block > 0 && scale->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++) {
        int64_t block = d == axis ? grain->block : 1;
        fits = scale->dims[d] == x->dims[d] / block + (x->dims[d] % block != 0);
    }
    char x_text[200], scale_text[200];
    if (!fits)
        return AMP_CTX_FAIL(ctx, "scales %s do not fit input %s on axis %d in blocks of %lld",
                            amp_shape_text(scale, scale_text, sizeof scale_text),
                            amp_shape_text(x, x_text, sizeof x_text), axis,
                            (long long)grain->block);
    grain->inner_step = 1;
    grain->axis_step = grain->inner;
    grain->outer_step = scale->dims[axis] * grain->inner;
    return AMP_OK;
}

static enum amp_status find_granularity(struct amp_ctx *ctx, struct granularity *grain)
{
    const struct amp_shape *x = &ctx->in[0]->shape, *scale = &ctx->in[1]->shape;
    int axis;
    if (amp_has_in(ctx, 2) && amp_shape_count(scale) != amp_shape_count(&ctx->in[2]->shape))
        return AMP_CTX_FAIL(ctx, "zero point and scale differ in shape");
    *grain = one_scale(amp_shape_count(x));
    if (amp_shape_count(scale) == 1)
        return AMP_OK;
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 1), x->rank, &axis));
    grain->axis = x->dims[axis];
    grain->inner = 1;
    for (int d = axis + 1; d < x->rank; d++)
        grain->inner *= x->dims[d];
    if (scale->rank != 1 || amp_node_int(ctx->node, "block_size", 0) != 0)
        return find_blocks(ctx, axis, grain);
    if (scale->dims[0] != grain->axis)
        return AMP_CTX_FAIL(ctx, "%lld scales for a dim of %lld", (long long)scale->dims[0],
                            (long long)grain->axis);
    grain->axis_step = 1;
    return AMP_OK;
}

/* ---- spans: elements in a row that share a scale, or have each the next one ---- */

struct span {
    int64_t count, scale;
    bool is_shared;
};

/* From element AT of x on. */
static struct span span_at(const struct granularity *grain, int64_t at)
{
    int64_t i = at % grain->inner, row = at / grain->inner;
    int64_t a = row % grain->axis, o = row / grain->axis;
    int64_t scale =
        o * grain->outer_step + a / grain->block * grain->axis_step + i * grain->inner_step;
    int64_t slices = grain->axis - a;
    if (grain->inner > 1)
        return (struct span){grain->inner - i, scale, grain->inner_step == 0};
    if (grain->block == 1)
        return (struct span){slices, scale, grain->axis_step == 0};
    int64_t in_block = grain->block - a % grain->block;
    return (struct span){in_block < slices ? in_block : slices, scale, true};
}

/* y = f(x, parameter), with one parameter or one for each element; y may be x. */
typedef void span_fn(const float *x, const float *parameter, bool is_shared, void *y, int64_t n,
                     float low, float high);

#define SPAN(name, T, value)                                                                \
    AMP_CLONES(void, name,                                                                  \
               (const float *x, const float *parameter, bool is_shared, void *y, int64_t n, \
                float low, float high),                                                     \
               (x, parameter, is_shared, y, n, low, high))                                  \
    {                                                                                       \
        T *to = y;                                                                          \
        const float shared = *parameter;                                                    \
        (void)low;                                                                          \
        (void)high;                                                                         \
        if (is_shared) {                                                                    \
            AMP_SIMD for (int64_t i = 0; i < n; i++)                                        \
            {                                                                               \
                const float p = shared;                                                     \
                to[i] = (T)(value);                                                         \
            }                                                                               \
            return;                                                                         \
        }                                                                                   \
        AMP_SIMD for (int64_t i = 0; i < n; i++)                                            \
        {                                                                                   \
            const float p = parameter[i];                                                   \
            to[i] = (T)(value);                                                             \
        }                                                                                   \
    }
SPAN(divide, float, x[i] / p)
SPAN(multiply, float, x[i] * p)
SPAN(add, float, x[i] + p)
SPAN(subtract, float, x[i] - p)

static inline int32_t limit(float value, float low, float high)
{
    value = value > low ? value : low;
    return (int32_t)(value < high ? value : high);
}
#define ROUND(DTYPE, T) SPAN(round_##DTYPE, T, limit(rintf(x[i]) + p, low, high))
ROUND(INT8, int8_t)
ROUND(INT16, int16_t)
ROUND(UINT8, uint8_t)
ROUND(UINT16, uint16_t)

/* ---- blocks ---- */

/* A multiple of 8, so that blocks of packed elements begin at a byte. */
enum { BLOCK = 1024 };

struct job {
    struct granularity grain;
    const struct amp_tensor *x;
    struct amp_tensor *y;
    const float *scale, *zero; /* zero: NULL for none */
    enum amp_dtype precision;  /* of the division */
    bool saturate;             /* a float type */
    span_fn *round;            /* to an integer type, between these: */
    float low, high;
};

/* y = function(x, parameter) over a block. */
struct pass {
    span_fn *function;
    const float *parameters; /* scales or zero points; NULL: one 0 */
    const float *x;
    void *y;
    size_t size; /* bytes of an element of y */
};

/* Runs PASS for N elements, the first being element FIRST of the tensor. */
static void run_spans(const struct job *job, const struct pass *pass, size_t first, size_t n)
{
    static const float no_zero = 0;
    const float *parameters = pass->parameters;
    const struct granularity one = one_scale((int64_t)(first + n));
    const struct granularity *grain = parameters == NULL ? &one : &job->grain;
    if (parameters == NULL)
        parameters = &no_zero;
    for (size_t i = 0; i < n;) {
        struct span span = span_at(grain, (int64_t)(first + i));
        int64_t left = (int64_t)(n - i), count = span.count < left ? span.count : left;
        pass->function(pass->x + i, parameters + span.scale, span.is_shared,
                       (char *)pass->y + i * pass->size, count, job->low, job->high);
        i += (size_t)count;
    }
}

static void *element(const struct amp_tensor *tensor, size_t index)
{
    return (char *)tensor->data + index * amp_dtype_bits(tensor->dtype) / 8;
}

/* N elements of x as float32: where they lie, or in BLOCK. */
static const float *load(const struct job *job, size_t first, size_t n, float *block)
{
    const void *x = element(job->x, first);
    if (job->x->dtype == AMP_FLOAT)
        return x;
    amp_elements_cast((struct amp_number_source){job->x->dtype, x},
                      (struct amp_number_target){AMP_FLOAT, block}, n, NULL);
    return block;
}

static void round_floats(enum amp_dtype precision, const float *from, float *to, size_t n)
{
    uint16_t rounded[BLOCK];
    amp_dtype_convert(AMP_FLOAT, from, precision, rounded, n);
    amp_dtype_convert(precision, rounded, AMP_FLOAT, to, n);
}

static void quantize_block(const struct job *job, size_t first, size_t n)
{
    float block[BLOCK];
    uint8_t bytes[BLOCK];
    enum amp_dtype dtype = job->y->dtype;
    unsigned bits = amp_dtype_bits(dtype);
    const float *x = load(job, first, n, block);
    if (job->precision != AMP_FLOAT) {
        round_floats(job->precision, x, block, n);
        x = block;
    }
    run_spans(job, &(struct pass){divide, job->scale, x, block, sizeof *block}, first, n);
    if (job->precision != AMP_FLOAT)
        round_floats(job->precision, block, block, n);
    void *y = bits < 8 ? bytes : element(job->y, first);
    if (job->round != NULL) {
        size_t size = bits < 8 ? 1 : bits / 8;
        run_spans(job, &(struct pass){job->round, job->zero, block, y, size}, first, n);
    } else {
        run_spans(job, &(struct pass){add, job->zero, block, block, sizeof *block}, first, n);
        amp_minifloat_encode(dtype, block, y, n,
                             (struct amp_minifloat_rounding){job->saturate, AMP_ROUND_UP});
    }
    if (bits < 8)
        amp_bits_pack(dtype, bytes, element(job->y, first), n);
}

static void dequantize_block(const struct job *job, size_t first, size_t n)
{
    float block[BLOCK];
    void *y = element(job->y, first);
    float *result = job->y->dtype == AMP_FLOAT ? y : block;
    const float *x = load(job, first, n, block);
    if (job->zero != NULL) {
        run_spans(job, &(struct pass){subtract, job->zero, x, block, sizeof *block}, first, n);
        x = block;
    }
    run_spans(job, &(struct pass){multiply, job->scale, x, result, sizeof *block}, first, n);
    if (result == block)
        amp_dtype_convert(AMP_FLOAT, block, job->y->dtype, y, n);
}

static void run_blocks(const struct job *job, void (*run)(const struct job *, size_t, size_t))
{
    size_t count = amp_tensor_count(job->x);
#pragma omp parallel for if (count >= AMP_PARALLEL_MIN)
    for (size_t first = 0; first < count; first += BLOCK)
        run(job, first, count - first < BLOCK ? count - first : BLOCK);
}

/* ---- the operators ---- */

enum { X, SCALE, ZERO };

/* To integers: bytes where they are packed afterwards. */
static span_fn *const rounds[AMP_DTYPE_COUNT] = {
    [AMP_INT8] = round_INT8,   [AMP_INT4] = round_INT8,    [AMP_INT2] = round_INT8,
    [AMP_UINT8] = round_UINT8, [AMP_UINT4] = round_UINT8,  [AMP_UINT2] = round_UINT8,
    [AMP_INT16] = round_INT16, [AMP_UINT16] = round_UINT16};

static void set_target(struct job *job, enum amp_dtype dtype)
{
    bool is_signed = amp_dtype_class(dtype) == AMP_CLASS_INT;
    job->precision = AMP_FLOAT;
    job->round = rounds[dtype];
    if (job->round == NULL)
        return;
    unsigned digits = amp_dtype_bits(dtype) - is_signed;
    job->high = (float)((1u << digits) - 1);
    job->low = is_signed ? -job->high - 1 : 0;
}

/* Scales, rounded to PRECISION, and zero points as float32; empty tensors where omitted. */
static enum amp_status load_parameters(struct amp_ctx *ctx, enum amp_dtype precision,
                                       struct amp_tensor floats[3])
{
    struct amp_tensor rounded;
    AMP_TRY(amp_tensor_cast_copy(ctx->in[SCALE], precision, &rounded, ctx->err));
    enum amp_status status = amp_tensor_cast_copy(&rounded, AMP_FLOAT, &floats[SCALE], ctx->err);
    amp_tensor_release(&rounded);
    if (status == AMP_OK && amp_has_in(ctx, ZERO))
        status = amp_tensor_cast_copy(ctx->in[ZERO], AMP_FLOAT, &floats[ZERO], ctx->err);
    return status;
}

/* Gives output 0 memory, in which its elements lie as those of x do, and JOB's scales belong to
   them so. AMP_UNSUPPORTED: x is to be row-major. */
static enum amp_status place_output(struct amp_ctx *ctx, struct job *job)
{
    const struct amp_tensor *x = ctx->in[X];
    struct amp_tensor *y = ctx->out[0];
    const struct amp_layout *layout = NULL;
    if (x->layout != NULL &&
        (!amp_layout_is_dense(x) || amp_node_int(ctx->node, "block_size", 0) != 0 ||
         !amp_layout_in_dtype(ctx->host->dnnl->layouts, x, y->dtype, &layout)))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "elements in another order");
    if (x->layout != NULL && job->grain.axis_step == 1) {
        int axis;
        AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 1), x->shape.rank, &axis));
        job->grain.inner = amp_layout_strides(x->layout)[axis];
    }
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    y->layout = layout;
    return AMP_OK;
}

static enum amp_status run_job(struct amp_ctx *ctx, struct job *job,
                               void (*run)(const struct job *, size_t, size_t))
{
    struct amp_tensor floats[3] = {{.data = NULL}};
    enum amp_status status = find_granularity(ctx, &job->grain);
    if (status == AMP_OK)
        status = place_output(ctx, job);
    if (status == AMP_OK)
        status = load_parameters(ctx, job->precision, floats);
    job->x = ctx->in[X];
    job->y = ctx->out[0];
    job->scale = floats[SCALE].data;
    job->zero = floats[ZERO].data;
    if (status == AMP_OK)
        run_blocks(job, run);
    amp_tensors_release(floats, AMP_COUNT(floats));
    return status;
}

static enum amp_status run_quantize(struct amp_ctx *ctx)
{
    struct job job = {.saturate = amp_node_int(ctx->node, "saturate", 1) != 0};
    set_target(&job, ctx->out[0]->dtype);
    int64_t precision = amp_node_int(ctx->node, "precision", AMP_FLOAT);
    if (amp_dtype_is_lower(precision))
        job.precision = (enum amp_dtype)precision;
    return run_job(ctx, &job, quantize_block);
}

const struct amp_op amp_op_quantize_linear = {
    .name = "QuantizeLinear",
    .newest = 25,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32 | AMP_NATIVE_LOWER,
    .has_strides = true,
    .role = AMP_ROLE_QUANTIZE_LINEAR,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "output_dtype", .outputs = AMP_INPUT(0)},
    .shape = amp_shape_same,
    .run = run_quantize};

static enum amp_status run_dequantize(struct amp_ctx *ctx)
{
    struct job job = {.precision = AMP_FLOAT};
    return run_job(ctx, &job, dequantize_block);
}

/* (x - zero point) scale. */
static bool bound_dequantized(const struct amp_bound_call *call, struct amp_interval *out)
{
    bool has_zero = call->node->n_inputs > 2 && call->node->inputs[2] != AMP_NONE;
    struct amp_interval zero = has_zero ? call->in[2] : amp_interval_of(0);
    *out = amp_interval_mul(amp_interval_sub(call->in[0], zero), call->in[1]);
    return true;
}

const struct amp_op amp_op_dequantize_linear = {
    .name = "DequantizeLinear",
    .newest = 25,
    .effect = AMP_COMPUTES,
    .bound = bound_dequantized,
    .native = AMP_NATIVE_F32 | AMP_NATIVE_LOWER,
    .has_strides = true,
    .role = AMP_ROLE_DEQUANTIZE_LINEAR,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "output_dtype", .outputs = AMP_INPUT(0)},
    .shape = amp_shape_same,
    .run = run_dequantize};

static enum amp_status shape_dynamic(struct amp_ctx *ctx)
{
    ctx->out[0]->shape = ctx->in[0]->shape;
    for (uint32_t i = 1; i < ctx->n_out; i++)
        ctx->out[i]->shape = (struct amp_shape){.rank = 0};
    return AMP_OK;
}

/* Widens the range LOW to HIGH to that of N values, NaN aside. Each lane has a range of its own, so
   that no step waits for the one before. */
AMP_CLONES(void, widen_range, (const float *values, size_t n, float *low, float *high),
           (values, n, low, high))
{
    enum { LANES = 32 };
    float lows[LANES] = {0}, highs[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        AMP_SIMD for (size_t k = 0; k < LANES; k++)
        {
            float value = values[i + k];
            lows[k] = value < lows[k] ? value : lows[k];
            highs[k] = value > highs[k] ? value : highs[k];
        }
    for (; i < n; i++) {
        lows[0] = values[i] < lows[0] ? values[i] : lows[0];
        highs[0] = values[i] > highs[0] ? values[i] : highs[0];
    }
    for (size_t k = 0; k < LANES; k++) {
        *low = lows[k] < *low ? lows[k] : *low;
        *high = highs[k] > *high ? highs[k] : *high;
    }
}

/* Scale and zero point of uint8 for the range of X, 0 included. */
static void fit_range(const struct amp_tensor *x, float *scale, float *zero)
{
    const float *values = x->data;
    const size_t count = amp_tensor_count(x);
    float low = 0, high = 0;
#pragma omp parallel for reduction(min : low) reduction(max : high) if (count >= AMP_PARALLEL_MIN)
    for (size_t i = 0; i < count; i += AMP_PARALLEL_MIN)
        widen_range(values + i, count - i < AMP_PARALLEL_MIN ? count - i : AMP_PARALLEL_MIN, &low,
                    &high);
    *scale = low == high ? 1 : (high - low) / UINT8_MAX;
    *zero = rintf(-low / *scale);
    *zero = *zero > UINT8_MAX ? UINT8_MAX : *zero;
}

static enum amp_status run_dynamic(struct amp_ctx *ctx)
{
    const struct amp_tensor *x = ctx->in[0];
    float scale, zero;
    fit_range(x, &scale, &zero);
    struct job job = {.grain = one_scale(amp_shape_count(&x->shape)),
                      .x = x,
                      .y = ctx->out[0],
                      .scale = &scale,
                      .zero = &zero};
    set_target(&job, AMP_UINT8);
    run_blocks(&job, quantize_block);
    if (amp_has_out(ctx, 1))
        *(float *)ctx->out[1]->data = scale;
    if (amp_has_out(ctx, 2))
        *(uint8_t *)ctx->out[2]->data = (uint8_t)zero;
    return AMP_OK;
}

const struct amp_op amp_op_dynamic_quantize_linear = {.name = "DynamicQuantizeLinear",
                                                      .newest = 11,
                                                      .effect = AMP_COMPUTES,
                                                      .native = AMP_NATIVE_F32,
                                                      .shape = shape_dynamic,
                                                      .run = run_dynamic};

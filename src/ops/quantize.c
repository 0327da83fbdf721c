/*
 * QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. Scales belong to the whole tensor, to
 * slices along an axis or to blocks of slices; a nested loop lets each meet its elements.
 * Arithmetic is in float32; types below a byte are worked on as bytes and packed.
 */
#include "core/array.h"
#include "ops/cast.h"
#include "ops/kernel.h"

#include <math.h>

/* How x is divided among scales: D slices along `axis`, of which each `block` share a scale. */
struct granularity {
    struct amp_shape shape; /* of x, or [elements] where there is one scale */
    int axis;
    int64_t block;
    int64_t strides[AMP_RANK_MAX]; /* of the scales, along x's dims */
};

static enum amp_status find_blocks(struct amp_ctx *ctx, const struct amp_shape *scale,
                                   struct granularity *grain)
{
    const struct amp_shape *x = &grain->shape;
    grain->block = amp_node_int(ctx->node, "block_size", 0);
    bool fits = grain->block > 0 && scale->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++) {
        int64_t block = d == grain->axis ? grain->block : 1;
        fits = scale->dims[d] == x->dims[d] / block + (x->dims[d] % block != 0);
    }
    char x_text[200], scale_text[200];
    if (!fits)
        return AMP_CTX_FAIL(ctx, "scales %s do not fit input %s on axis %d in blocks of %lld",
                            amp_shape_text(scale, scale_text, sizeof scale_text),
                            amp_shape_text(x, x_text, sizeof x_text), grain->axis,
                            (long long)grain->block);
    amp_strides(scale, grain->strides);
    return AMP_OK;
}

static enum amp_status find_granularity(struct amp_ctx *ctx, struct granularity *grain)
{
    const struct amp_shape *x = &ctx->in[0]->shape, *scale = &ctx->in[1]->shape;
    if (amp_has_in(ctx, 2) && !amp_shape_equal(scale, &ctx->in[2]->shape) &&
        amp_shape_count(scale) != amp_shape_count(&ctx->in[2]->shape))
        return AMP_CTX_FAIL(ctx, "zero point and scale differ in shape");
    if (amp_shape_count(scale) == 1) {
        *grain =
            (struct granularity){.shape = {.rank = 1, .dims = {amp_shape_count(x)}}, .block = 1};
        return AMP_OK;
    }
    *grain = (struct granularity){.shape = *x, .block = 1};
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 1), x->rank, &grain->axis));
    if (scale->rank != 1 || amp_node_int(ctx->node, "block_size", 0) != 0)
        return find_blocks(ctx, scale, grain);
    if (scale->dims[0] != x->dims[grain->axis])
        return AMP_CTX_FAIL(ctx, "%lld scales for a dim of %lld", (long long)scale->dims[0],
                            (long long)x->dims[grain->axis]);
    grain->strides[grain->axis] = 1;
    return AMP_OK;
}

/* Adds an operand whose strides along the dims of GRAIN are STRIDES; along the axis it steps by
   BLOCK and, within a block, by WITHIN. */
static void add_view(struct amp_loop *loop, const struct granularity *grain, char *data,
                     size_t size, const int64_t *strides, int64_t block, int64_t within)
{
    int64_t split[AMP_RANK_MAX + 1];
    int axis = grain->axis;
    for (int d = 0; d < grain->shape.rank; d++)
        split[d < axis ? d : d + 1] = strides[d];
    split[axis] = block;
    split[axis + 1] = within;
    amp_loop_view(loop, data, size, split);
}

struct operands {
    char *y; /* elements of SIZE bytes */
    size_t size;
    float *x, *scale, *zero; /* zero: NULL for none */
};

/* Runs BODY over COUNT blocks of BLOCK slices each, from slice FIRST on. */
static void run_blocks(const struct granularity *grain, const struct operands *operands,
                       amp_loop_body *body, const void *param, int64_t first, int64_t count,
                       int64_t block)
{
    static float no_zero[1] = {0};
    static const int64_t no_strides[AMP_RANK_MAX] = {0};
    int64_t dims[AMP_RANK_MAX + 1], own[AMP_RANK_MAX] = {0};
    int axis = grain->axis;
    for (int d = 0; d < grain->shape.rank; d++)
        dims[d < axis ? d : d + 1] = grain->shape.dims[d];
    dims[axis] = count;
    dims[axis + 1] = block;
    amp_strides(&grain->shape, own);
    int64_t start = first * own[axis], step = grain->strides[axis];
    int64_t scale = first / grain->block * step;
    struct amp_loop loop;
    amp_loop_init(&loop, grain->shape.rank + 1, dims);
    add_view(&loop, grain, operands->y + start * (int64_t)operands->size, operands->size, own,
             own[axis] * block, own[axis]);
    add_view(&loop, grain, (char *)(operands->x + start), sizeof(float), own, own[axis] * block,
             own[axis]);
    add_view(&loop, grain, (char *)(operands->scale + scale), sizeof(float), grain->strides, step,
             0);
    if (operands->zero != NULL)
        add_view(&loop, grain, (char *)(operands->zero + scale), sizeof(float), grain->strides,
                 step, 0);
    else
        add_view(&loop, grain, (char *)no_zero, sizeof(float), no_strides, 0, 0);
    amp_loop_run(&loop, body, param);
}

/* y = BODY(x, scale, zero point), the last block of an axis perhaps being short. */
static void run_grains(const struct granularity *grain, const struct operands *operands,
                       amp_loop_body *body, const void *param)
{
    int64_t slices = grain->shape.dims[grain->axis], whole = slices / grain->block;
    run_blocks(grain, operands, body, param, 0, whole, grain->block);
    if (slices % grain->block != 0)
        run_blocks(grain, operands, body, param, whole * grain->block, 1, slices % grain->block);
}

/* ---- bodies */

struct target {
    enum amp_dtype dtype;
    float low, high;             /* of an integer type */
    bool saturate;               /* of a float type */
    float (*round)(float value); /* to the precision of the division; NULL: float32 */
};

static float round_f16(float value)
{
    return amp_f16_to_f32(amp_f32_to_f16(value));
}

static float round_bf16(float value)
{
    return amp_bf16_to_f32(amp_f32_to_bf16(value));
}

static inline float divide(const struct target *target, float x, float scale)
{
    if (target->round == NULL)
        return x / scale;
    return target->round(target->round(x) / target->round(scale));
}

#define QUANTIZE(DTYPE, T, ...)                                                   \
    static void quantize_##DTYPE(int64_t n, void *const *at, const int64_t *step, \
                                 const void *param)                               \
    {                                                                             \
        const struct target *target = param;                                      \
        const float *x = at[1], *scale = at[2], *zero = at[3];                    \
        T *y = at[0];                                                             \
        for (int64_t i = 0; i < n; i++) {                                         \
            float quotient = divide(target, x[i * step[1]], scale[i * step[2]]);  \
            float value = rintf(quotient) + zero[i * step[3]];                    \
            value = value > target->low ? value : target->low;                    \
            y[i * step[0]] = (T)(value < target->high ? value : target->high);    \
        }                                                                         \
    }
QUANTIZE(INT8, int8_t)
QUANTIZE(INT16, int16_t)
QUANTIZE(UINT8, uint8_t)
QUANTIZE(UINT16, uint16_t)

static void quantize_minifloat(int64_t n, void *const *at, const int64_t *step, const void *param)
{
    const struct target *target = param;
    const float *x = at[1], *scale = at[2], *zero = at[3];
    uint8_t *y = at[0];
    for (int64_t i = 0; i < n; i++) {
        float value = divide(target, x[i * step[1]], scale[i * step[2]]) + zero[i * step[3]];
        y[i * step[0]] =
            amp_f64_to_minifloat(target->dtype, (double)value, target->saturate, AMP_ROUND_UP);
    }
}

static void dequantize(int64_t n, void *const *at, const int64_t *step, const void *param)
{
    (void)param;
    const float *x = at[1], *scale = at[2], *zero = at[3];
    float *y = at[0];
    for (int64_t i = 0; i < n; i++)
        y[i * step[0]] = (x[i * step[1]] - zero[i * step[3]]) * scale[i * step[2]];
}

/* ---- the operators */

enum { X, SCALE, ZERO };

/* Inputs as float32, empty tensors where omitted. */
static enum amp_status load_inputs(struct amp_ctx *ctx, struct amp_tensor floats[3])
{
    for (uint32_t i = X; i <= ZERO; i++)
        if (amp_has_in(ctx, i))
            AMP_TRY(amp_cast_copy(ctx->in[i], AMP_FLOAT, &floats[i], ctx->err));
    return AMP_OK;
}

static struct operands operands_of(const struct amp_tensor floats[3], void *y, size_t size)
{
    return (struct operands){y, size, floats[X].data, floats[SCALE].data, floats[ZERO].data};
}

static struct target target_of(const struct amp_ctx *ctx, enum amp_dtype dtype)
{
    struct target target = {.dtype = dtype,
                            .saturate = amp_node_int(ctx->node, "saturate", 1) != 0};
    int64_t precision = amp_node_int(ctx->node, "precision", AMP_FLOAT);
    if (precision == AMP_FLOAT16 || precision == AMP_BFLOAT16)
        target.round = precision == AMP_FLOAT16 ? round_f16 : round_bf16;
    bool is_signed = amp_dtype_class(dtype) == AMP_CLASS_INT;
    unsigned digits = amp_dtype_bits(dtype) - is_signed;
    target.high = (float)((1u << digits) - 1);
    target.low = is_signed ? -target.high - 1 : 0;
    return target;
}

/* What is quantized into: one byte per element for the types that are packed afterwards. */
static enum amp_status pick_quantizer(struct amp_ctx *ctx, enum amp_dtype dtype,
                                      amp_loop_body **body)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {[AMP_INT8] = quantize_INT8,
                                                          [AMP_INT4] = quantize_INT8,
                                                          [AMP_INT2] = quantize_INT8,
                                                          [AMP_UINT8] = quantize_UINT8,
                                                          [AMP_UINT4] = quantize_UINT8,
                                                          [AMP_UINT2] = quantize_UINT8,
                                                          [AMP_INT16] = quantize_INT16,
                                                          [AMP_UINT16] = quantize_UINT16,
                                                          [AMP_FLOAT8E4M3FN] = quantize_minifloat,
                                                          [AMP_FLOAT8E4M3FNUZ] = quantize_minifloat,
                                                          [AMP_FLOAT8E5M2] = quantize_minifloat,
                                                          [AMP_FLOAT8E5M2FNUZ] = quantize_minifloat,
                                                          [AMP_FLOAT4E2M1] = quantize_minifloat};
    AMP_PICK(ctx, *body, table, dtype);
    return AMP_OK;
}

static enum amp_status quantize(struct amp_ctx *ctx, const struct amp_tensor floats[3])
{
    struct amp_tensor *y = ctx->out[0];
    struct granularity grain = {.block = 1};
    amp_loop_body *body;
    AMP_TRY(find_granularity(ctx, &grain));
    AMP_TRY(pick_quantizer(ctx, y->dtype, &body));
    const struct target target = target_of(ctx, y->dtype);
    if (amp_dtype_bits(y->dtype) >= 8) {
        struct operands operands = operands_of(floats, y->data, amp_dtype_bits(y->dtype) / 8);
        run_grains(&grain, &operands, body, &target);
        return AMP_OK;
    }
    struct amp_tensor bytes = {.dtype = AMP_UINT8, .shape = y->shape};
    AMP_TRY(amp_tensor_alloc(&bytes, ctx->err));
    struct operands operands = operands_of(floats, bytes.data, 1);
    run_grains(&grain, &operands, body, &target);
    amp_bits_pack(y->dtype, bytes.data, y->data, amp_tensor_count(y));
    amp_tensor_release(&bytes);
    return AMP_OK;
}

static enum amp_status run_quantize(struct amp_ctx *ctx)
{
    struct amp_tensor floats[3] = {{.data = NULL}};
    enum amp_status status = load_inputs(ctx, floats);
    if (status == AMP_OK)
        status = quantize(ctx, floats);
    amp_tensors_release(floats, AMP_COUNT(floats));
    return status;
}

const struct amp_op amp_op_quantize_linear = {.name = "QuantizeLinear",
                                              .newest = 25,
                                              .effect = AMP_COMPUTES,
                                              .native = AMP_NATIVE_F32,
                                              .shape = amp_shape_same,
                                              .run = run_quantize};

static enum amp_status run_dequantize(struct amp_ctx *ctx)
{
    struct amp_tensor floats[3] = {{.data = NULL}};
    struct granularity grain = {.block = 1};
    enum amp_status status = find_granularity(ctx, &grain);
    if (status == AMP_OK)
        status = load_inputs(ctx, floats);
    if (status == AMP_OK) {
        struct operands operands = operands_of(floats, ctx->out[0]->data, sizeof(float));
        run_grains(&grain, &operands, dequantize, NULL);
    }
    amp_tensors_release(floats, AMP_COUNT(floats));
    return status;
}

const struct amp_op amp_op_dequantize_linear = {.name = "DequantizeLinear",
                                                .newest = 25,
                                                .effect = AMP_COMPUTES,
                                                .native = AMP_NATIVE_F32,
                                                .shape = amp_shape_same,
                                                .run = run_dequantize};

static enum amp_status shape_dynamic(struct amp_ctx *ctx)
{
    ctx->out[0]->shape = ctx->in[0]->shape;
    for (uint32_t i = 1; i < ctx->n_out; i++)
        ctx->out[i]->shape = (struct amp_shape){.rank = 0};
    return AMP_OK;
}

/* Scale and zero point of uint8 for the range of X, 0 included. */
static void fit_range(const struct amp_tensor *x, float *scale, float *zero)
{
    const float *values = x->data;
    float low = 0, high = 0;
    for (size_t i = 0; i < amp_tensor_count(x); i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    *scale = low == high ? 1 : (high - low) / UINT8_MAX;
    *zero = rintf(-low / *scale);
    *zero = *zero > UINT8_MAX ? UINT8_MAX : *zero;
}

static enum amp_status run_dynamic(struct amp_ctx *ctx)
{
    const struct amp_tensor *x = ctx->in[0];
    const struct granularity grain = {.shape = {.rank = 1, .dims = {amp_shape_count(&x->shape)}},
                                      .block = 1};
    const struct target target = target_of(ctx, AMP_UINT8);
    float scale, zero;
    fit_range(x, &scale, &zero);
    const struct operands operands = {ctx->out[0]->data, 1, x->data, &scale, &zero};
    run_grains(&grain, &operands, quantize_UINT8, &target);
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

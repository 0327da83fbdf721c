/*
 * com.microsoft's QLinearAdd and QLinearMul (ONNX Runtime, ContribOperators.md): int8 or uint8
 * tensors are added or multiplied as the real numbers that they stand for, with broadcasting; the
 * result is rounded to its own scale, ties to even, and kept in its type's range.
 */
#include "ops/kernel/kernel.h"

#include <math.h>

#define MICROSOFT "com.microsoft"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C_SCALE, C_ZERO };

/* What the numbers are: scale (q - zero). */
struct scales {
    float a, b, c, a_zero, b_zero, c_zero;
};

/* What a number stands for. */
static inline float value_of(float q, float zero, float scale)
{
    return (q - zero) * scale;
}

/* The number for VALUE / SCALE, in reach of LOW and HIGH. */
static inline int32_t number_of(float value, float zero, float scale, float low, float high)
{
    value = rintf(value / scale) + zero;
    value = value > low ? value : low;
    return (int32_t)(value < high ? value : high);
}

#define COMBINE_WITH(T, OPERATOR, k, i, j)                                                    \
    AMP_SIMD for (int64_t x = 0; x < n; x++) to[x * k] = (T)number_of(                        \
        value_of((float)as[x * i], a_zero, a) OPERATOR value_of((float)bs[x * j], b_zero, b), \
        c_zero, c, low, high)

/* Steps that are 1 or 0 make vector code. */
#define COMBINE_BY(name, T, OPERATOR)                                                            \
    AMP_CLONES(void, name, (int64_t n, void *const *at, const int64_t *step, const void *param), \
               (n, at, step, param))                                                             \
    {                                                                                            \
        const struct scales *s = param;                                                          \
        const float low = AMP_LOWEST(T), high = AMP_HIGHEST(T);                                  \
        const float a = s->a, b = s->b, c = s->c;                                                \
        const float a_zero = s->a_zero, b_zero = s->b_zero, c_zero = s->c_zero;                  \
        const T *as = at[1], *bs = at[2];                                                        \
        T *to = at[0];                                                                           \
        if (step[0] == 1 && step[1] == 1 && step[2] == 1)                                        \
            COMBINE_WITH(T, OPERATOR, 1, 1, 1);                                                  \
        else if (step[0] == 1 && step[1] == 1 && step[2] == 0)                                   \
            COMBINE_WITH(T, OPERATOR, 1, 1, 0);                                                  \
        else if (step[0] == 1 && step[1] == 0 && step[2] == 1)                                   \
            COMBINE_WITH(T, OPERATOR, 1, 0, 1);                                                  \
        else                                                                                     \
            COMBINE_WITH(T, OPERATOR, step[0], step[1], step[2]);                                \
    }
#define COMBINE(DTYPE, T, ...)    \
    COMBINE_BY(sum_##DTYPE, T, +) \
    COMBINE_BY(product_##DTYPE, T, *)
COMBINE(INT8, int8_t)
COMBINE(UINT8, uint8_t)

static enum amp_status shape(struct amp_ctx *ctx)
{
    return amp_broadcast(&ctx->in[A]->shape, &ctx->in[B]->shape, &ctx->out[0]->shape, ctx->err);
}

/* Reads the scale in input I and the zero point behind it, 0 when there is none. */
static enum amp_status read_scale(struct amp_ctx *ctx, uint32_t i, float *scale, float *zero)
{
    *zero = 0;
    for (uint32_t k = i; k <= i + 1 && amp_has_in(ctx, k); k++)
        if (amp_tensor_count(ctx->in[k]) != 1)
            return AMP_CTX_FAIL(ctx, "input %u has %zu values; 1 is needed", k,
                                amp_tensor_count(ctx->in[k]));
    *scale = (float)amp_tensor_double(ctx->in[i], 0);
    if (amp_has_in(ctx, i + 1))
        *zero = (float)amp_tensor_int(ctx->in[i + 1], 0);
    return AMP_OK;
}

static enum amp_status run(struct amp_ctx *ctx, amp_loop_body *const *table)
{
    struct scales scales;
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, ctx->in[A]->dtype);
    AMP_TRY(read_scale(ctx, A_SCALE, &scales.a, &scales.a_zero));
    AMP_TRY(read_scale(ctx, B_SCALE, &scales.b, &scales.b_zero));
    AMP_TRY(read_scale(ctx, C_SCALE, &scales.c, &scales.c_zero));
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[A]);
    amp_loop_tensor(&loop, ctx->in[B]);
    amp_loop_run(&loop, body, &scales);
    return AMP_OK;
}

static enum amp_status run_add(struct amp_ctx *ctx)
{
    static amp_loop_body *const sums[AMP_DTYPE_COUNT] = {
        [AMP_INT8] = sum_INT8, [AMP_UINT8] = sum_UINT8};
    return run(ctx, sums);
}

static enum amp_status run_mul(struct amp_ctx *ctx)
{
    static amp_loop_body *const products[AMP_DTYPE_COUNT] = {
        [AMP_INT8] = product_INT8, [AMP_UINT8] = product_UINT8};
    return run(ctx, products);
}

const struct amp_op amp_op_qlinear_add = {
    .name = "QLinearAdd",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .is_elementwise = true,
    .shape = shape,
    .run = run_add,
};

const struct amp_op amp_op_qlinear_mul = {
    .name = "QLinearMul",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .is_elementwise = true,
    .shape = shape,
    .run = run_mul,
};

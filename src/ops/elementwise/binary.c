/*
 * Arithmetic of two tensors and the broadcasting of two inputs in all versions. Integers wrap as in
 * two's complement; an integer divided by zero gives 0, as numpy has it, and no trap.
 */
#include "ops/kernel/elementwise.h"
#include "ops/kernel/vector_math.h"

enum amp_status amp_zip_align(struct amp_ctx *ctx, struct amp_shape *b)
{
    const struct amp_shape *a = &ctx->in[0]->shape;
    *b = ctx->in[1]->shape;
    if (ctx->node->since_version >= 7 || amp_node_attr(ctx->node, "axis") == NULL || b->rank < 0)
        return AMP_OK;
    if (a->rank < 0) {
        b->rank = -1;
        return AMP_OK;
    }
    int axis;
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), a->rank, &axis));
    while (axis + b->rank < a->rank)
        b->dims[b->rank++] = 1;
    return AMP_OK;
}

enum amp_status amp_zip_shape_into(struct amp_ctx *ctx, const struct amp_shape *b)
{
    const struct amp_shape *a = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    AMP_TRY(amp_broadcast(a, b, out, ctx->err));
    char a_text[200], b_text[200];
    if (amp_shape_is_known(a) && amp_shape_is_known(b) && !amp_shape_equal(a, out))
        return AMP_CTX_FAIL(ctx, "shape %s does not broadcast to %s",
                            amp_shape_text(b, b_text, sizeof b_text),
                            amp_shape_text(a, a_text, sizeof a_text));
    *out = *a;
    return AMP_OK;
}

enum amp_status amp_zip_shape(struct amp_ctx *ctx)
{
    struct amp_shape b;
    AMP_TRY(amp_zip_align(ctx, &b));
    if (ctx->node->since_version < 7)
        return amp_zip_shape_into(ctx, &b);
    return amp_broadcast(&ctx->in[0]->shape, &b, &ctx->out[0]->shape, ctx->err);
}

void amp_zip_loop(struct amp_ctx *ctx, amp_loop_body *body, const struct amp_tensor *b)
{
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[0]);
    amp_loop_tensor(&loop, b);
    amp_loop_compute(&loop, body, NULL);
}

enum amp_status amp_zip_run(struct amp_ctx *ctx, amp_loop_body *const *table)
{
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    struct amp_tensor b = *ctx->in[1];
    AMP_TRY(amp_zip_align(ctx, &b.shape));
    amp_zip_loop(ctx, body, &b);
    return AMP_OK;
}

AMP_FLOAT_TYPES(AMP_ZIP, add, x + y)
AMP_INTEGER_TYPES(AMP_ZIP, add, (uint64_t)x + (uint64_t)y)
AMP_BINARY(Add, add, 14, AMP_REAL_TYPES)

AMP_FLOAT_TYPES(AMP_ZIP, sub, x - y)
AMP_INTEGER_TYPES(AMP_ZIP, sub, (uint64_t)x - (uint64_t)y)
AMP_BINARY(Sub, sub, 14, AMP_REAL_TYPES)

AMP_FLOAT_TYPES(AMP_ZIP, mul, x *y)
AMP_INTEGER_TYPES(AMP_ZIP, mul, (uint64_t)x *(uint64_t)y)
AMP_BINARY(Mul, mul, 14, AMP_REAL_TYPES)

/* Division takes a step of its own for each element, whatever the compiler does. */
#define ZIP_INT(DTYPE, T, name, expr) AMP_ZIP_PLAIN(DTYPE, T, name, T, T, expr)

/* The least integer divided by -1 would trap. */
AMP_FLOAT_TYPES(AMP_ZIP, div, x / y)
AMP_SIGNED_TYPES(ZIP_INT, div, y == 0 ? 0 : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y))
AMP_UNSIGNED_TYPES(ZIP_INT, div, y == 0 ? 0 : x / y)
AMP_BINARY(Div, div, 14, AMP_REAL_TYPES)

/* The remainder with the sign of X, and with that of Y: without branches, which random signs would
   have the processor guess. */
#define RESTS(DTYPE, T, ...)                               \
    static inline T rest_##DTYPE(T x, T y)                 \
    {                                                      \
        return (T)(x % ((y == 0) | (y == -1) ? (T)1 : y)); \
    }                                                      \
    static inline T floor_rest_##DTYPE(T x, T y)           \
    {                                                      \
        T rest = rest_##DTYPE(x, y);                       \
        bool is_off = (rest != 0) & ((rest ^ y) < 0);      \
        return (T)(rest + (y & -(T)is_off));               \
    }
AMP_SIGNED_TYPES(RESTS)

static double floor_fmod(double x, double y)
{
    double rest = fmod(x, y);
    if (rest == 0)
        return copysign(0.0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

AMP_FLOAT_TYPES(AMP_ZIP, mod, floor_fmod((double)x, (double)y))
#define ZIP_MOD(DTYPE, T, name) ZIP_INT(DTYPE, T, name, floor_rest_##DTYPE(x, y))
AMP_SIGNED_TYPES(ZIP_MOD, mod)
AMP_UNSIGNED_TYPES(ZIP_INT, mod, y == 0 ? 0 : x % y)
AMP_FLOAT_TYPES(AMP_ZIP, fmod, fmod(x, y))
#define ZIP_FMOD(DTYPE, T, name) ZIP_INT(DTYPE, T, name, rest_##DTYPE(x, y))
AMP_SIGNED_TYPES(ZIP_FMOD, fmod)
AMP_UNSIGNED_TYPES(ZIP_INT, fmod, y == 0 ? 0 : x % y)

static enum amp_status run_mod(struct amp_ctx *ctx)
{
    static amp_loop_body *const by_divisor[AMP_DTYPE_COUNT] = {AMP_REAL_TYPES(AMP_ROW, mod)},
                                *const by_dividend[AMP_DTYPE_COUNT] = {
                                    AMP_REAL_TYPES(AMP_ROW, fmod)};
    return amp_zip_run(ctx, amp_node_int(ctx->node, "fmod", 0) ? by_dividend : by_divisor);
}
AMP_ELEMENTWISE(Mod, mod, 13, amp_zip_shape)

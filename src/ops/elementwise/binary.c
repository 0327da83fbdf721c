/*
 * Arithmetic of two tensors: Add, Sub, Mul, Div and Mod, all versions up to ONNX 14. Integers wrap
 * as in two's complement; an integer divided by zero gives 0, as numpy has it, and no trap.
 */
#include "ops/bound.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/elementwise.h"
#include "ops/kernel/vector_math.h"

#define BOUND(lower)                                                                       \
    static bool bound_##lower(const struct amp_bound_call *call, struct amp_interval *out) \
    {                                                                                      \
        *out = amp_interval_##lower(call->in[0], call->in[1]);                             \
        return true;                                                                       \
    }

BOUND(add)
AMP_FLOAT_TYPES(AMP_ZIP, add, x + y)
AMP_INTEGER_TYPES(AMP_ZIP, add, (uint64_t)x + (uint64_t)y)
static bool broadcasts_from_behind(const struct amp_node *node)
{
    return !amp_broadcasts_by_attributes(node);
}
extern const struct amp_op amp_op_qlinear_add, amp_op_qlinear_mul;

AMP_BINARY(Add, add, 14, AMP_REAL_TYPES, .role = AMP_ROLE_ADD,
           .integer = &(const struct amp_integer_form){.op = &amp_op_qlinear_add,
                                                       .suits = broadcasts_from_behind},
           .is_commutative = true, .bound = bound_add, .guard_use = AMP_GUARD_ADDS,
           .gradient = AMP_GRADIENT({.input = AMP_EACH_INPUT, .term = "SumTo(g)"}),
           .post_op = &(const struct amp_post_op){.kind = AMP_POST_BINARY, .alg = dnnl_binary_add})

BOUND(sub)
AMP_FLOAT_TYPES(AMP_ZIP, sub, x - y)
AMP_INTEGER_TYPES(AMP_ZIP, sub, (uint64_t)x - (uint64_t)y)
AMP_BINARY(Sub, sub, 14, AMP_REAL_TYPES, .role = AMP_ROLE_SUB, .guard_use = AMP_GUARD_ADDS,
           .bound = bound_sub,
           .gradient = AMP_GRADIENT({.term = "SumTo(g)"}, {.input = 1, .term = "SumTo(Neg(g))"}),
           .post_op = &(const struct amp_post_op){
               .kind = AMP_POST_BINARY, .alg = dnnl_binary_sub, .is_ordered = true})

/* What is multiplied with itself is not below 0. */
static bool bound_mul(const struct amp_bound_call *call, struct amp_interval *out)
{
    bool is_square = call->node->inputs[0] == call->node->inputs[1];
    *out =
        is_square ? amp_interval_square(call->in[0]) : amp_interval_mul(call->in[0], call->in[1]);
    return true;
}

AMP_FLOAT_TYPES(AMP_ZIP, mul, x *y)
AMP_INTEGER_TYPES(AMP_ZIP, mul, (uint64_t)x *(uint64_t)y)
AMP_BINARY(Mul, mul, 14, AMP_REAL_TYPES, .role = AMP_ROLE_MUL,
           .integer = &(const struct amp_integer_form){.op = &amp_op_qlinear_mul,
                                                       .suits = broadcasts_from_behind},
           .is_commutative = true, .bound = bound_mul, .keeps_zero = AMP_INPUT(0) | AMP_INPUT(1),
           .gradient = AMP_GRADIENT({.term = "SumTo(Mul(g, b))"},
                                    {.input = 1, .term = "SumTo(Mul(g, a))"}),
           .post_op = &(const struct amp_post_op){.kind = AMP_POST_BINARY, .alg = dnnl_binary_mul})

/* Division takes a step of its own for each element, whatever the compiler does. */
#define ZIP_INT(DTYPE, T, name, expr) AMP_ZIP_PLAIN(DTYPE, T, name, T, T, expr)

BOUND(div)
/* The least integer divided by -1 would trap. */
AMP_FLOAT_TYPES(AMP_ZIP, div, x / y)
AMP_SIGNED_TYPES(ZIP_INT, div, y == 0 ? 0 : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y))
AMP_UNSIGNED_TYPES(ZIP_INT, div, y == 0 ? 0 : x / y)
AMP_BINARY(Div, div, 14, AMP_REAL_TYPES, .role = AMP_ROLE_DIV, .bound = bound_div,
           .divides = AMP_INPUT(1), .keeps_zero = AMP_INPUT(0),
           .gradient = AMP_GRADIENT({.term = "SumTo(Div(g, b))"},
                                    {.input = 1, .term = "SumTo(Neg(Mul(g, Div(y, b))))"}),
           .post_op = &(const struct amp_post_op){
               .kind = AMP_POST_BINARY, .alg = dnnl_binary_div, .is_ordered = true})

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

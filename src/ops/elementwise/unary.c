/*
 * Functions of one element without attributes. Each operator is a line of the list at the end, an
 * expression of x; it takes a tensor of any shape and gives one of the same shape and dtype.
 */
#include "ops/bound.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/elementwise.h"
#include "ops/kernel/vector_math.h"

/* Functions that do not fall have the values of their ends. */
#define BOUND(lower, ...)                                                                  \
    static bool bound_##lower(const struct amp_bound_call *call, struct amp_interval *out) \
    {                                                                                      \
        const struct amp_interval x = call->in[0];                                         \
        *out = __VA_ARGS__;                                                                \
        return true;                                                                       \
    }
BOUND(atan, amp_interval_map(x, atan))
BOUND(ceil, amp_interval_map(x, ceil))
BOUND(erf, amp_interval_map(x, erf))
BOUND(exp, amp_interval_map(x, exp))
BOUND(floor, amp_interval_map(x, floor))
BOUND(log, amp_interval_map(amp_interval_max(x, amp_interval_of(0)), log))
BOUND(neg, amp_interval_sub(amp_interval_of(0), x))
BOUND(abs, amp_interval_abs(x))
BOUND(reciprocal, amp_interval_div(amp_interval_of(1), x))
BOUND(round, amp_interval_map(x, rint))
BOUND(sqrt, amp_interval_map(amp_interval_max(x, amp_interval_of(0)), sqrt))
BOUND(tanh, amp_interval_map(x, tanh))

#define FLOAT_UNARY(NAME, lower, version, expr, ...) \
    AMP_FLOAT_TYPES(AMP_MAP, lower, expr)            \
    AMP_UNARY(NAME, lower, version, AMP_FLOAT_TYPES, __VA_ARGS__)

FLOAT_UNARY(Acos, acos, 22, acos(x),
            .gradient = AMP_GRADIENT({.term = "Neg(Div(g, Sqrt(Sub(1, Mul(x, x)))))"}))
FLOAT_UNARY(Acosh, acosh, 22, acosh(x),
            .gradient = AMP_GRADIENT({.term = "Div(g, Sqrt(Sub(Mul(x, x), 1)))"}))
FLOAT_UNARY(Asin, asin, 22, asin(x),
            .gradient = AMP_GRADIENT({.term = "Div(g, Sqrt(Sub(1, Mul(x, x))))"}))
FLOAT_UNARY(Asinh, asinh, 22, asinh(x),
            .gradient = AMP_GRADIENT({.term = "Div(g, Sqrt(Add(Mul(x, x), 1)))"}))
FLOAT_UNARY(Atan, atan, 22, atan(x), .bound = bound_atan,
            .gradient = AMP_GRADIENT({.term = "Div(g, Add(Mul(x, x), 1))"}))
FLOAT_UNARY(Atanh, atanh, 22, atanh(x),
            .gradient = AMP_GRADIENT({.term = "Div(g, Sub(1, Mul(x, x)))"}))
FLOAT_UNARY(Ceil, ceil, 13, ceil(x), .bound = bound_ceil,
            .gradient = AMP_GRADIENT({.term = "zeros"}))
FLOAT_UNARY(Cos, cos, 22, cos(x), .bound = amp_bound_sign,
            .gradient = AMP_GRADIENT({.term = "Neg(Mul(g, Sin(x)))"}))
FLOAT_UNARY(Cosh, cosh, 22, cosh(x), .gradient = AMP_GRADIENT({.term = "Mul(g, Sinh(x))"}))
FLOAT_UNARY(Exp, exp, 13, exp(x), .bound = bound_exp,
            .gradient = AMP_GRADIENT({.term = "Mul(g, y)"}))
FLOAT_UNARY(Floor, floor, 13, floor(x), .bound = bound_floor,
            .gradient = AMP_GRADIENT({.term = "zeros"}))
FLOAT_UNARY(Log, log, 13, log(x), .divides = AMP_INPUT(0), .bound = bound_log,
            .gradient = AMP_GRADIENT({.term = "Div(g, x)"}))
FLOAT_UNARY(Reciprocal, reciprocal, 13, 1 / x, .divides = AMP_INPUT(0), .bound = bound_reciprocal,
            .gradient = AMP_GRADIENT({.term = "Neg(Mul(g, Mul(y, y)))"}))
FLOAT_UNARY(Round, round, 22, rint(x), .bound = bound_round,
            .gradient = AMP_GRADIENT({.term = "zeros"}))
FLOAT_UNARY(Sin, sin, 22, sin(x), .bound = amp_bound_sign,
            .gradient = AMP_GRADIENT({.term = "Mul(g, Cos(x))"}))
FLOAT_UNARY(Sinh, sinh, 22, sinh(x), .gradient = AMP_GRADIENT({.term = "Mul(g, Cosh(x))"}))
FLOAT_UNARY(Sqrt, sqrt, 13, sqrt(x), .keeps_zero = AMP_INPUT(0), .bound = bound_sqrt,
            .gradient = AMP_GRADIENT({.term = "Div(g, Add(y, y))"}),
            .post_op = &(const struct amp_post_op){.alg = dnnl_eltwise_sqrt})
FLOAT_UNARY(Tan, tan, 22, tan(x), .gradient = AMP_GRADIENT({.term = "Mul(g, Add(1, Mul(y, y)))"}))
FLOAT_UNARY(Tanh, tanh, 13, tanh(x), .bound = bound_tanh,
            .gradient = AMP_GRADIENT({.term = "Mul(g, Sub(1, Mul(y, y)))"}),
            .post_op = &(const struct amp_post_op){.alg = dnnl_eltwise_tanh})

AMP_FLOAT_TYPES(AMP_MAP, erf, erf(x))
AMP_INTEGER_TYPES(AMP_MAP, erf, erf((double)x))
/* Version 13: the integer types that it lost were never defined for it. */
AMP_UNARY(
    Erf, erf, 13, AMP_REAL_TYPES, .bound = bound_erf, .changes = AMP_CHANGES({13, NULL}),
    .gradient = AMP_GRADIENT({.term = "Mul(g, Mul(1.1283791670955126, Exp(Neg(Mul(x, x)))))"}))

/* The least integer has no positive counterpart: it stays, as in two's complement. */
AMP_FLOAT_TYPES(AMP_MAP, neg, -x)
AMP_SIGNED_TYPES(AMP_MAP, neg, 0 - (uint64_t)x)
#define NEG_TYPES(X, ...) AMP_FLOAT_TYPES(X, __VA_ARGS__) AMP_SIGNED_TYPES(X, __VA_ARGS__)
AMP_UNARY(Neg, neg, 13, NEG_TYPES, .bound = bound_neg, .keeps_zero = AMP_INPUT(0), .picks = true,
          .gradient = AMP_GRADIENT({.term = "Neg(g)"}))

AMP_FLOAT_TYPES(AMP_MAP, abs, fabs(x))
AMP_SIGNED_TYPES(AMP_MAP, abs, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
AMP_UNSIGNED_TYPES(AMP_MAP, abs, x)
AMP_UNARY(Abs, abs, 13, AMP_REAL_TYPES, .bound = bound_abs, .keeps_zero = AMP_INPUT(0),
          .picks = true, .gradient = AMP_GRADIENT({.term = "Mul(g, Sign(x))"}),
          .post_op = &(const struct amp_post_op){.alg = dnnl_eltwise_abs})

AMP_FLOAT_TYPES(AMP_MAP, sign, isnan(x) ? x : (x > 0) - (x < 0))
AMP_SIGNED_TYPES(AMP_MAP, sign, (x > 0) - (x < 0))
AMP_UNSIGNED_TYPES(AMP_MAP, sign, x > 0)
AMP_UNARY(Sign, sign, 13, AMP_REAL_TYPES, .bound = amp_bound_sign,
          .gradient = AMP_GRADIENT({.term = "zeros"}))

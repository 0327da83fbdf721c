/*
 * Comparisons, logic on bools, logic and shifts on the bits of integers, and the tests for NaN and
 * infinity. A bool comes out as 0 or 1; a bool that comes in is true when it is not 0.
 */
#include "core/number/minifloat.h"
#include "ops/kernel/elementwise.h"

#include <string.h>

#define COMPARISON(NAME, lower, version, expr) \
    AMP_REAL_TYPES(AMP_TEST, lower, expr)      \
    AMP_BINARY(NAME, lower, version, AMP_REAL_TYPES, .guard_use = AMP_GUARD_BOUNDS)
COMPARISON(Greater, greater, 13, x > y)
COMPARISON(GreaterOrEqual, greater_or_equal, 16, x >= y)
COMPARISON(Less, less, 13, x < y)
COMPARISON(LessOrEqual, less_or_equal, 16, x <= y)

static bool is_same_text(struct amp_str x, struct amp_str y)
{
    return x.size == y.size && (x.size == 0 || memcmp(x.data, y.data, x.size) == 0);
}

#define STRING_TYPE(X, ...) X(STRING, struct amp_str, __VA_ARGS__)
#define EQUAL_TYPES(X, ...) \
    AMP_REAL_TYPES(X, __VA_ARGS__) AMP_BOOL_TYPE(X, __VA_ARGS__) STRING_TYPE(X, __VA_ARGS__)
AMP_REAL_TYPES(AMP_TEST, equal, x == y)
AMP_BOOL_TYPE(AMP_TEST, equal, (x != 0) == (y != 0))
STRING_TYPE(AMP_TEST, equal, is_same_text(x, y))
AMP_BINARY(Equal, equal, 19, EQUAL_TYPES, .guard_use = AMP_GUARD_BOUNDS)

#define LOGIC(NAME, lower, expr)         \
    AMP_BOOL_TYPE(AMP_TEST, lower, expr) \
    AMP_BINARY(NAME, lower, 7, AMP_BOOL_TYPE)
LOGIC(And, and, (x != 0) & (y != 0))
LOGIC(Or, or, (x != 0) | (y != 0))
LOGIC(Xor, xor, (x != 0) ^ (y != 0))

#define BITWISE(NAME, lower, expr)          \
    AMP_INTEGER_TYPES(AMP_ZIP, lower, expr) \
    AMP_BINARY(NAME, lower, 18, AMP_INTEGER_TYPES)
BITWISE(BitwiseAnd, bitwise_and, x &y)
BITWISE(BitwiseOr, bitwise_or, x | y)
BITWISE(BitwiseXor, bitwise_xor, x ^ y)

/* A shift by the width or more leaves nothing. */
AMP_UNSIGNED_TYPES(AMP_ZIP, shift_left, y < 8 * sizeof x ? (uint64_t)x << y : 0)
AMP_UNSIGNED_TYPES(AMP_ZIP, shift_right, y < 8 * sizeof x ? (uint64_t)x >> y : 0)
static enum amp_status run_bit_shift(struct amp_ctx *ctx)
{
    static amp_loop_body *const left[AMP_DTYPE_COUNT] = {AMP_UNSIGNED_TYPES(AMP_ROW, shift_left)},
                                *const right[AMP_DTYPE_COUNT] = {
                                    AMP_UNSIGNED_TYPES(AMP_ROW, shift_right)};
    static const char *const directions[] = {"LEFT", "RIGHT", NULL};
    int direction = 0;
    AMP_TRY(amp_ctx_choice(ctx, "direction", directions, &direction));
    return amp_zip_run(ctx, direction == 0 ? left : right);
}
AMP_ELEMENTWISE(BitShift, bit_shift, 11, amp_zip_shape)

AMP_BOOL_TYPE(AMP_MAP, not, x == 0)
AMP_UNARY(Not, not, 1, AMP_BOOL_TYPE)

AMP_INTEGER_TYPES(AMP_MAP, bitwise_not, ~x)
AMP_UNARY(BitwiseNot, bitwise_not, 18, AMP_INTEGER_TYPES)

/* Float types that C computes in and those of 8 bits, whose value is f. */
#define FLOAT8_TYPES(X, ...)                  \
    X(FLOAT8E4M3FN, uint8_t, ##__VA_ARGS__)   \
    X(FLOAT8E4M3FNUZ, uint8_t, ##__VA_ARGS__) \
    X(FLOAT8E5M2, uint8_t, ##__VA_ARGS__)     \
    X(FLOAT8E5M2FNUZ, uint8_t, ##__VA_ARGS__)
#define TESTED_TYPES(X, ...) AMP_FLOAT_TYPES(X, __VA_ARGS__) FLOAT8_TYPES(X, __VA_ARGS__)
#define MAP_TO_BOOL(DTYPE, T, name, pre, expr) AMP_MAP_FULL(DTYPE, T, name, uint8_t, pre, 0, expr)
#define FLOAT8_VALUE(DTYPE) amp_minifloat_to_f32(AMP_##DTYPE, x)

#define IS_NAN_FLOAT8(DTYPE, T, name) \
    MAP_TO_BOOL(DTYPE, T, name, (void)0, isnan(FLOAT8_VALUE(DTYPE)))
AMP_FLOAT_TYPES(MAP_TO_BOOL, is_nan, (void)0, x != x)
FLOAT8_TYPES(IS_NAN_FLOAT8, is_nan)
AMP_UNARY(IsNaN, is_nan, 20, TESTED_TYPES)

/* The infinities that count: {negative, positive}. */
#define SIGNS                                       \
    const bool negative = ((const bool *)param)[0]; \
    const bool positive = ((const bool *)param)[1]
#define IS_INF(f) ((positive & ((f) == INFINITY)) | (negative & ((f) == -INFINITY)))
#define IS_INF_FLOAT8(DTYPE, T, name) \
    MAP_TO_BOOL(DTYPE, T, name, SIGNS, IS_INF(FLOAT8_VALUE(DTYPE)))
AMP_FLOAT_TYPES(MAP_TO_BOOL, is_inf, SIGNS, IS_INF(x))
FLOAT8_TYPES(IS_INF_FLOAT8, is_inf)
static enum amp_status run_is_inf(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {TESTED_TYPES(AMP_ROW, is_inf)};
    const bool signs[2] = {amp_node_int(ctx->node, "detect_negative", 1) != 0,
                           amp_node_int(ctx->node, "detect_positive", 1) != 0};
    return amp_map_run(ctx, table, signs);
}
AMP_ELEMENTWISE(IsInf, is_inf, 20, amp_shape_same)

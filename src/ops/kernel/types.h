#ifndef AMP_OPS_KERNEL_TYPES_H
#define AMP_OPS_KERNEL_TYPES_H

#include <math.h>
#include <stdint.h>

/*
 * The element types of kernels in C: X(DTYPE, T, ...) for every element type T that C computes in;
 * what follows X is passed on. A kernel is written once as a macro, made for each type, and found
 * in a table by its dtype:
 *
 *     #define NEGATE(DTYPE, T, ...) static void negate_##DTYPE(...) { ... T ... }
 *     AMP_FLOAT_TYPES(NEGATE)
 *     static kernel_fn *const negate[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, negate)};
 */
#define AMP_FLOAT_TYPES(X, ...) X(FLOAT, float, ##__VA_ARGS__) X(DOUBLE, double, ##__VA_ARGS__)
#define AMP_SIGNED_TYPES(X, ...)     \
    X(INT8, int8_t, ##__VA_ARGS__)   \
    X(INT16, int16_t, ##__VA_ARGS__) \
    X(INT32, int32_t, ##__VA_ARGS__) \
    X(INT64, int64_t, ##__VA_ARGS__)
#define AMP_UNSIGNED_TYPES(X, ...)     \
    X(UINT8, uint8_t, ##__VA_ARGS__)   \
    X(UINT16, uint16_t, ##__VA_ARGS__) \
    X(UINT32, uint32_t, ##__VA_ARGS__) \
    X(UINT64, uint64_t, ##__VA_ARGS__)
#define AMP_INTEGER_TYPES(X, ...) \
    AMP_SIGNED_TYPES(X, ##__VA_ARGS__) AMP_UNSIGNED_TYPES(X, ##__VA_ARGS__)
#define AMP_REAL_TYPES(X, ...) AMP_FLOAT_TYPES(X, ##__VA_ARGS__) AMP_INTEGER_TYPES(X, ##__VA_ARGS__)
/* A bool is a byte, true when it is not 0: a model file may hold any. */
#define AMP_BOOL_TYPE(X, ...) X(BOOL, uint8_t, ##__VA_ARGS__)

/* X(SIZE, T): elements by their size in bytes alone, for kernels that only move them. */
#define AMP_SIZED_TYPES(X) \
    X(1, uint8_t)          \
    X(2, uint16_t)         \
    X(4, uint32_t)         \
    X(8, uint64_t)         \
    X(16, struct amp_str)

/* The least and the greatest value of element type T; of a float type the infinities. */
/* clang-format off */
#define AMP_LOWEST(T)              \
    _Generic((T)0,                 \
        float: -INFINITY,          \
        double: -(double)INFINITY, \
        int8_t: INT8_MIN,          \
        int16_t: INT16_MIN,        \
        int32_t: INT32_MIN,        \
        int64_t: INT64_MIN,        \
        default: 0)
#define AMP_HIGHEST(T)            \
    _Generic((T)0,                \
        float: INFINITY,          \
        double: (double)INFINITY, \
        int8_t: INT8_MAX,         \
        int16_t: INT16_MAX,       \
        int32_t: INT32_MAX,       \
        int64_t: INT64_MAX,       \
        default: (T)-1)
/* clang-format on */

/* One row of a table of kernels: [AMP_FLOAT] = name_FLOAT */
#define AMP_ROW(DTYPE, T, name, ...) [AMP_##DTYPE] = name##_##DTYPE,

#endif

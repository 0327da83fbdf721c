#ifndef AMP_OPS_KERNEL_KERNEL_H
#define AMP_OPS_KERNEL_KERNEL_H

#include "core/buffer.h"
#include "core/simd.h"
#include "ops/kernel/strided_loop.h"

#include <math.h>

/*
 * What kernels in C share.
 *
 * Types: X(DTYPE, T, ...) for every element type T that C computes in; what follows X is passed on.
 * A kernel is written once as a macro, made for each type, and found in a table by its dtype:
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

/* AMP_UNSUPPORTED: the operator has no kernel for DTYPE. */
enum amp_status amp_no_kernel(struct amp_ctx *ctx, enum amp_dtype dtype);

/* Sets KERNEL to TABLE[DTYPE]; returns amp_no_kernel from the calling function when there is none.
 */
#define AMP_PICK(ctx, kernel, table, dtype)   \
    do {                                      \
        (kernel) = (table)[dtype];            \
        if ((kernel) == NULL)                 \
            return amp_no_kernel(ctx, dtype); \
    } while (0)

/* Memory for COUNT elements of SIZE bytes while a node runs, in the account of core/memory.h, for
   WHAT; to be released with amp_buffer_unref. NULL, and the error is told, when it is not there. */
struct amp_buffer *amp_scratch(struct amp_ctx *ctx, const char *what, size_t count, size_t size);

/* VALUE without its fraction; the nearest there is outside the range of int64_t, 0 for a NaN. */
static inline int64_t amp_f64_to_i64(double value)
{
    if (value >= 0x1p63)
        return INT64_MAX;
    if (value >= -0x1p63)
        return (int64_t)value;
    return value < 0 ? INT64_MIN : 0;
}

/* The dtype in which C computes what has DTYPE: float32 for float16 and bfloat16, else DTYPE. */
static inline enum amp_dtype amp_compute_dtype(enum amp_dtype dtype)
{
    return amp_dtype_is_lower(dtype) ? AMP_FLOAT : dtype;
}

/* SIZE bytes from FROM to TO, which do not overlap, shared among threads. */
void amp_copy(void *to, const void *from, size_t size);

/* COUNT elements of a dtype below a byte, as they lie in a tensor, to one byte each (sign-extended
   for INT4 and INT2) and back (the low bits count). */
void amp_bits_unpack(enum amp_dtype dtype, const void *from, uint8_t *to, size_t count);
void amp_bits_pack(enum amp_dtype dtype, const uint8_t *from, void *to, size_t count);

#endif

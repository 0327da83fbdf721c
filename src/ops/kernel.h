#ifndef AMP_OPS_KERNEL_H
#define AMP_OPS_KERNEL_H

#include "core/buffer.h"
#include "core/simd.h"
#include "ops/op.h"

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

/* The strides, in elements, of a row-major tensor. */
void amp_strides(const struct amp_shape *shape, int64_t *strides);

/* The coordinates of element FLAT of a row-major tensor; no dim is 0. */
void amp_index_at(int rank, const int64_t *dims, int64_t flat, int64_t *index);

/* Steps INDEX to the next element in row-major order; false after the last, INDEX is all 0 then. */
static inline bool amp_index_next(int rank, const int64_t *dims, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < dims[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/*
 * A nested loop over one shape in which every operand steps by strides of its own: 0 where it is
 * broadcast, any (negative too) for views. Operand 0 is the output by convention. Dims that all
 * operands step through as one are merged; the work is shared among threads.
 *
 *     struct amp_loop loop;
 *     amp_loop_init(&loop, out->shape.rank, out->shape.dims);
 *     amp_loop_tensor(&loop, out);
 *     amp_loop_tensor(&loop, in);
 *     amp_loop_run(&loop, body, param);
 */
enum { AMP_LOOP_RANK = 2 * AMP_RANK_MAX, AMP_LOOP_OPERANDS = 6 };

struct amp_loop {
    int rank;
    int64_t dims[AMP_LOOP_RANK];
    int n_operands;
    struct amp_operand {
        char *data;
        enum amp_dtype dtype;           /* AMP_UNDEFINED: a view */
        int64_t size;                   /* bytes of an element */
        int64_t strides[AMP_LOOP_RANK]; /* elements */
    } operands[AMP_LOOP_OPERANDS];
};

/* The innermost loop: N elements; operand K begins at AT[K] and steps by STEP[K] elements. */
typedef void amp_loop_body(int64_t n, void *const *at, const int64_t *step, const void *param);

void amp_loop_init(struct amp_loop *loop, int rank, const int64_t *dims);

/* Adds TENSOR, which must broadcast to the loop's shape; its dtype has a size in whole bytes. */
void amp_loop_tensor(struct amp_loop *loop, const struct amp_tensor *tensor);

/* Adds elements of SIZE bytes from DATA on, with STRIDES in elements. */
void amp_loop_view(struct amp_loop *loop, void *data, size_t size, const int64_t *strides);

/* Drops dims of 1 and merges those that all operands step through as one; at least one dim is left.
   amp_loop_run does so itself. */
void amp_loop_merge(struct amp_loop *loop);

/* Runs BODY over the loop, which is spent afterwards. PARAM is passed on. */
void amp_loop_run(struct amp_loop *loop, amp_loop_body *body, const void *param);

/* The same for a BODY that computes in float32: operands of float16 and bfloat16 come to it
   widened, a block at a time, and what it writes to such an output is rounded. */
void amp_loop_compute(struct amp_loop *loop, amp_loop_body *body, const void *param);

/* For amp_op.native of operators that run so. */
#define AMP_NATIVE_LOOP AMP_NATIVE_ALL

/* The dtype in which C computes what has DTYPE: float32 for float16 and bfloat16, else DTYPE. */
static inline enum amp_dtype amp_compute_dtype(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT16 || dtype == AMP_BFLOAT16 ? AMP_FLOAT : dtype;
}

/* Output 0 (with memory) = BODY(inputs 0 to N-1, all there, broadcast to the output's shape). */
void amp_loop_inputs(struct amp_ctx *ctx, uint32_t n, amp_loop_body *body, const void *param);

/* SIZE bytes from FROM to TO, which do not overlap, shared among threads. */
void amp_copy(void *to, const void *from, size_t size);

/* The body that copies operand 1 to operand 0, for any dtype of whole bytes. */
amp_loop_body *amp_loop_copy(enum amp_dtype dtype);

/* COUNT elements of a dtype below a byte, as they lie in a tensor, to one byte each (sign-extended
   for INT4 and INT2) and back (the low bits count). */
void amp_bits_unpack(enum amp_dtype dtype, const void *from, uint8_t *to, size_t count);
void amp_bits_pack(enum amp_dtype dtype, const uint8_t *from, void *to, size_t count);

#endif

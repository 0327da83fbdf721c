#ifndef AMP_OPS_KERNEL_KERNEL_H
#define AMP_OPS_KERNEL_KERNEL_H

#include "core/buffer.h"
#include "core/simd.h"
#include "ops/kernel/strided_loop.h"
#include "ops/kernel/types.h"

/*
 * What kernels in C share.
 */

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

/* Copies SIZE bytes from FROM to TO, which do not overlap, shared among threads. */
void amp_copy(void *to, const void *from, size_t size);

/* Unpacks COUNT elements of a dtype below a byte, as they lie in a tensor, to one byte each
   (sign-extended for INT4 and INT2), and packs them again (the low bits count). */
void amp_bits_unpack(enum amp_dtype dtype, const void *from, uint8_t *to, size_t count);
void amp_bits_pack(enum amp_dtype dtype, const uint8_t *from, void *to, size_t count);

#endif

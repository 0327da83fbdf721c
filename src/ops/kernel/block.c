/*
 * Loads and stores blocks of elements in the wide form of their class. Data are aligned for their
 * dtype; indexes are the caller's to check.
 */
#include "ops/kernel/block.h"

#include "ops/kernel/kernel.h"

#include <math.h>

/* A load and a store per dtype: elements of type T through member M of the wide form. The loop over
   adjacent elements stands apart so that it becomes vector code. */
#define CODEC(name, T, M, GET, PUT)                                                 \
    AMP_CLONES(void, load_##name,                                                   \
               (const void *data, int64_t stride, int64_t n, union amp_wide *to),   \
               (data, stride, n, to))                                               \
    {                                                                               \
        const T *from = data;                                                       \
        if (stride != 1) {                                                          \
            for (int64_t i = 0; i < n; i++)                                         \
                to[i].M = GET(from[i * stride]);                                    \
            return;                                                                 \
        }                                                                           \
        AMP_SIMD for (int64_t i = 0; i < n; i++) to[i].M = GET(from[i]);            \
    }                                                                               \
    AMP_CLONES(void, store_##name,                                                  \
               (const union amp_wide *from, void *data, int64_t stride, int64_t n), \
               (from, data, stride, n))                                             \
    {                                                                               \
        T *to = data;                                                               \
        if (stride != 1) {                                                          \
            for (int64_t i = 0; i < n; i++)                                         \
                to[i * stride] = (T)PUT(from[i].M);                                 \
            return;                                                                 \
        }                                                                           \
        AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] = (T)PUT(from[i].M);         \
    }

/* amp_f16_to_f32 without branches, for vector code: the exponent is moved to its place and
   corrected by a product, which makes subnormal numbers normal; infinities and NaN get all its
   bits. */
static inline float half_value(uint16_t half)
{
    float magnitude = amp_bits_to_f32((half & 0x7FFFu) << 13) * 0x1p112f;
    uint32_t top = (half & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0;
    return amp_bits_to_f32(amp_f32_to_bits(magnitude) | top | (half & 0x8000u) << 16);
}

#define AS_IS(value) (value)
#define IS_TRUE(value) ((value) != 0)

CODEC(f32, float, f, AS_IS, AS_IS)
CODEC(f64, double, f, AS_IS, AS_IS)
CODEC(f16, uint16_t, f, half_value, amp_f64_to_f16)
CODEC(bf16, uint16_t, f, amp_bf16_to_f32, amp_f64_to_bf16)
CODEC(i8, int8_t, i, +, AS_IS)
CODEC(i16, int16_t, i, AS_IS, AS_IS)
CODEC(i32, int32_t, i, AS_IS, AS_IS)
CODEC(i64, int64_t, i, AS_IS, AS_IS)
CODEC(u8, uint8_t, u, AS_IS, AS_IS)
CODEC(u16, uint16_t, u, AS_IS, AS_IS)
CODEC(u32, uint32_t, u, AS_IS, AS_IS)
CODEC(u64, uint64_t, u, AS_IS, AS_IS)
CODEC(bool, uint8_t, u, IS_TRUE, IS_TRUE)

static const struct {
    enum amp_wide_kind kind;
    void (*load)(const void *data, int64_t stride, int64_t n, union amp_wide *to);
    void (*store)(const union amp_wide *from, void *data, int64_t stride, int64_t n);
} codecs[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT] = {AMP_WIDE_FLOAT, load_f32, store_f32},
    [AMP_DOUBLE] = {AMP_WIDE_FLOAT, load_f64, store_f64},
    [AMP_FLOAT16] = {AMP_WIDE_FLOAT, load_f16, store_f16},
    [AMP_BFLOAT16] = {AMP_WIDE_FLOAT, load_bf16, store_bf16},
    [AMP_INT8] = {AMP_WIDE_INT, load_i8, store_i8},
    [AMP_INT16] = {AMP_WIDE_INT, load_i16, store_i16},
    [AMP_INT32] = {AMP_WIDE_INT, load_i32, store_i32},
    [AMP_INT64] = {AMP_WIDE_INT, load_i64, store_i64},
    [AMP_UINT8] = {AMP_WIDE_UINT, load_u8, store_u8},
    [AMP_UINT16] = {AMP_WIDE_UINT, load_u16, store_u16},
    [AMP_UINT32] = {AMP_WIDE_UINT, load_u32, store_u32},
    [AMP_UINT64] = {AMP_WIDE_UINT, load_u64, store_u64},
    [AMP_BOOL] = {AMP_WIDE_UINT, load_bool, store_bool},
};

enum amp_wide_kind amp_wide_kind_of(enum amp_dtype dtype)
{
    return codecs[dtype].kind;
}

enum amp_status amp_wide_check(struct amp_ctx *ctx, enum amp_dtype dtype)
{
    return amp_wide_kind_of(dtype) == AMP_WIDE_NONE ? amp_no_kernel(ctx, dtype) : AMP_OK;
}

static unsigned char *first_of(const struct amp_stretch *stretch)
{
    return (unsigned char *)stretch->data +
           (size_t)stretch->first * (amp_dtype_bits(stretch->dtype) / 8);
}

void amp_wide_load(struct amp_stretch from, union amp_wide *to)
{
    codecs[from.dtype].load(first_of(&from), from.stride, from.n, to);
}

void amp_wide_store(const union amp_wide *from, struct amp_stretch to)
{
    codecs[to.dtype].store(from, first_of(&to), to.stride, to.n);
}

void amp_wide_to_float(enum amp_wide_kind kind, union amp_wide *wide, int64_t n)
{
    for (int64_t i = 0; i < n && kind == AMP_WIDE_INT; i++)
        wide[i].f = (double)wide[i].i;
    for (int64_t i = 0; i < n && kind == AMP_WIDE_UINT; i++)
        wide[i].f = (double)wide[i].u;
}

static int64_t to_int(double value)
{
    if (isnan(value))
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static uint64_t to_uint(double value)
{
    if (!(value > 0))
        return 0;
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

void amp_wide_from_float(enum amp_wide_kind kind, union amp_wide *wide, int64_t n)
{
    for (int64_t i = 0; i < n && kind == AMP_WIDE_INT; i++)
        wide[i].i = to_int(wide[i].f);
    for (int64_t i = 0; i < n && kind == AMP_WIDE_UINT; i++)
        wide[i].u = to_uint(wide[i].f);
}

/*
 * Conversion of arrays between float32, float16 and bfloat16: what a mixed-precision model does
 * most besides its products. Takes arrays anywhere in memory and gives the bits that dtype.c's
 * conversions of single values give. Loops are vectorized; float16 goes by the processor's own
 * instructions where it has them. Large arrays are shared among threads.
 */
#include "core/convert.h"

#include "core/number/f16c.h"
#include "core/simd.h"

#include <string.h>

/* Elements anywhere in memory. */
typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t any_u32 __attribute__((aligned(1), may_alias));

/* An element of such an array as a value: not every compiler passes an element of such a type to a
   function. */
static inline uint16_t u16_at(const any_u16 *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

typedef void convert_fn(const void *from, void *to, size_t count);

AMP_CLONES(void, bf16_to_f32, (const void *from, void *to, size_t count), (from, to, count))
{
    const any_u16 *halves = from;
    any_u32 *bits = to;
    AMP_SIMD for (size_t i = 0; i < count; i++) bits[i] = (uint32_t)halves[i] << 16;
}

AMP_CLONES(void, f32_to_bf16, (const void *from, void *to, size_t count), (from, to, count))
{
    const any_u32 *bits = from;
    any_u16 *halves = to;
    AMP_SIMD for (size_t i = 0; i < count; i++)
    {
        float value = amp_bits_to_f32(bits[i]);
        uint32_t x = bits[i], rounded = x + 0x7FFFu + (x >> 16 & 1u);
        int32_t all = (int32_t)(value != value ? x | 0x00400000u : rounded);
        halves[i] = (uint16_t)(all >> 16); /* signed: gcc would narrow what it is made of, too */
    }
}

/* What both of these come to, in place. */
AMP_CLONES(void, round_bf16, (float *values, size_t count), (values, count))
{
    AMP_SIMD for (size_t i = 0; i < count; i++)
    {
        float value = values[i];
        uint32_t x = amp_f32_to_bits(value), rounded = x + 0x7FFFu + (x >> 16 & 1u);
        uint32_t bits = value != value ? x | 0x00400000u : rounded;
        values[i] = amp_bits_to_f32(bits & 0xFFFF0000u);
    }
}

static void f16_to_f32_each(const void *from, void *to, size_t count)
{
    const any_u16 *halves = from;
    any_u32 *bits = to;
    for (size_t i = 0; i < count; i++)
        bits[i] = amp_f32_to_bits(amp_f16_to_f32(u16_at(halves + i)));
}

static void f32_to_f16_each(const void *from, void *to, size_t count)
{
    const any_u32 *bits = from;
    any_u16 *halves = to;
    for (size_t i = 0; i < count; i++)
        halves[i] = amp_f32_to_f16(amp_bits_to_f32(bits[i]));
}

/* Converts by the processor's own instructions as far as they go. */
static void f16_to_f32(const void *from, void *to, size_t count)
{
    size_t done = amp_f16c_to_f32(from, to, count);
    f16_to_f32_each((const any_u16 *)from + done, (any_u32 *)to + done, count - done);
}

static void f32_to_f16(const void *from, void *to, size_t count)
{
    size_t done = amp_f16c_from_f32(from, to, count);
    f32_to_f16_each((const any_u32 *)from + done, (any_u16 *)to + done, count - done);
}

/* Elements that float16 and bfloat16 convert into each other at a time, by way of float32. */
enum { BLOCK = 512 };

static void by_f32(convert_fn *widen, convert_fn *narrow, const void *from, void *to, size_t count)
{
    float block[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        widen((const any_u16 *)from + i, block, n);
        narrow(block, (any_u16 *)to + i, n);
    }
}

static void f16_to_bf16(const void *from, void *to, size_t count)
{
    by_f32(f16_to_f32, f32_to_bf16, from, to, count);
}

static void bf16_to_f16(const void *from, void *to, size_t count)
{
    by_f32(bf16_to_f32, f32_to_f16, from, to, count);
}

static convert_fn *const conversions[AMP_DTYPE_COUNT][AMP_DTYPE_COUNT] = {
    [AMP_FLOAT] = {[AMP_FLOAT16] = f32_to_f16, [AMP_BFLOAT16] = f32_to_bf16},
    [AMP_FLOAT16] = {[AMP_FLOAT] = f16_to_f32, [AMP_BFLOAT16] = f16_to_bf16},
    [AMP_BFLOAT16] = {[AMP_FLOAT] = bf16_to_f32, [AMP_FLOAT16] = bf16_to_f16}};

/* Elements that a thread takes at a time. */
enum { CHUNK = AMP_PARALLEL_MIN };

void amp_dtype_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                       void *to, size_t count)
{
    size_t from_size = amp_dtype_bits(from_dtype) / 8, to_size = amp_dtype_bits(to_dtype) / 8;
    if (from_dtype == to_dtype) {
        if (count > 0)
            memcpy(to, from, count * to_size);
        return;
    }
    convert_fn *convert = conversions[from_dtype][to_dtype];
    if (count <= CHUNK) {
        convert(from, to, count);
        return;
    }
#pragma omp parallel for
    for (size_t i = 0; i < count; i += CHUNK)
        convert((const char *)from + i * from_size, (char *)to + i * to_size,
                count - i < CHUNK ? count - i : CHUNK);
}

/* By way of float16, a block at a time. */
static void round_f16(float *values, size_t count)
{
    uint16_t halves[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        f32_to_f16(values + i, halves, n);
        f16_to_f32(halves, values + i, n);
    }
}

void amp_dtype_round(enum amp_dtype dtype, float *values, size_t count)
{
    void (*round_values)(float *, size_t) = dtype == AMP_FLOAT16 ? round_f16 : round_bf16;
    if (count <= CHUNK) {
        round_values(values, count);
        return;
    }
#pragma omp parallel for
    for (size_t i = 0; i < count; i += CHUNK)
        round_values(values + i, count - i < CHUNK ? count - i : CHUNK);
}

/* ---- constants ---- */

/* Where a dtype's rounding leaves its range, as the bits of float32 magnitudes, which are ordered
   as the magnitudes are. Half of the smallest subnormal is a tie that goes to zero, half a step
   above the largest finite value one that goes to infinity. */
struct range {
    uint32_t zero_last;       /* the largest that becomes zero */
    uint32_t subnormal_first; /* of those that were normal; SUBNORMAL_LAST + 1: none */
    uint32_t subnormal_last;
    uint32_t infinite_first; /* the smallest that becomes infinite */
    uint16_t infinity, largest;
};

/* float32's normal values are normal in bfloat16, which has its exponents. */
static const struct range bf16_range = {0x00008000u, 1, 0, 0x7F7F8000u, 0x7F80u, 0x7F7Fu};
static const struct range f16_range = {0x33000000u, 0x33000001u, 0x387FDFFFu,
                                       0x477FF000u, 0x7C00u,     0x7BFFu};

typedef void count_fn(const void *from, size_t count, const struct range *range,
                      struct amp_losses *losses);

/* Counts in elements of TYPE, the upper bits of float32 from bit SHIFT on. One subtraction puts
   what is below the first of a span above its last. COUNT is at most CHUNK. */
#define COUNT_LOSSES(name, type, shift)                                                         \
    AMP_CLONES(                                                                                 \
        void, name,                                                                             \
        (const void *from, size_t count, const struct range *range, struct amp_losses *losses), \
        (from, count, range, losses))                                                           \
    {                                                                                           \
        const type *elements = from;                                                            \
        const uint32_t zeros = range->zero_last, infinite = range->infinite_first;              \
        const uint32_t first = range->subnormal_first, span = range->subnormal_last + 1;        \
        uint32_t zeroed = 0, subnormal = 0, saturated = 0;                                      \
        _Pragma("omp simd reduction(+ : zeroed, subnormal, saturated)") for (size_t i = 0;      \
                                                                             i < count; i++)    \
        {                                                                                       \
            uint32_t bits = (uint32_t)elements[i] << (shift)&0x7FFFFFFFu;                       \
            zeroed += bits - 1 < zeros;                                                         \
            subnormal += bits - first < span - first;                                           \
            saturated += bits - infinite < 0x7F800000u - infinite;                              \
        }                                                                                       \
        losses->zeroed += zeroed;                                                               \
        losses->subnormal += subnormal;                                                         \
        losses->saturated += saturated;                                                         \
    }

COUNT_LOSSES(count_f32, any_u32, 0)
COUNT_LOSSES(count_bf16, any_u16, 16)

static uint32_t f32_bits_at(enum amp_dtype dtype, const void *from, size_t i)
{
    return dtype == AMP_FLOAT ? ((const any_u32 *)from)[i]
                              : (uint32_t)((const any_u16 *)from)[i] << 16;
}

/* Puts the largest finite value in place of the infinities that the rounding made. */
static void replace_infinities(enum amp_dtype dtype, const void *from, any_u16 *to, size_t count,
                               const struct range *range)
{
    for (size_t i = 0; i < count; i++)
        if ((to[i] & 0x7FFFu) == range->infinity &&
            (f32_bits_at(dtype, from, i) & 0x7FFFFFFFu) != 0x7F800000u)
            to[i] = (uint16_t)((to[i] & 0x8000u) | range->largest);
}

/* Converts a chunk, which stays in the processor's cache from the one loop to the next. */
static struct amp_losses saturate_chunk(enum amp_dtype from_dtype, const void *from,
                                        enum amp_dtype to_dtype, void *to, size_t count)
{
    struct amp_losses losses = {.saturated = 0};
    const struct range *range = to_dtype == AMP_FLOAT16 ? &f16_range : &bf16_range;
    conversions[from_dtype][to_dtype](from, to, count);
    (from_dtype == AMP_FLOAT ? count_f32 : count_bf16)(from, count, range, &losses);
    if (losses.saturated > 0)
        replace_infinities(from_dtype, from, to, count, range);
    return losses;
}

struct amp_losses amp_dtype_saturate(enum amp_dtype from_dtype, const void *from,
                                     enum amp_dtype to_dtype, void *to, size_t count)
{
    size_t from_size = amp_dtype_bits(from_dtype) / 8, to_size = amp_dtype_bits(to_dtype) / 8;
    size_t saturated = 0, zeroed = 0, subnormal = 0;
    if (to_dtype == AMP_FLOAT || from_dtype == AMP_FLOAT16 || from_dtype == to_dtype) {
        /* bfloat16 and float32 have float16's range. */
        amp_dtype_convert(from_dtype, from, to_dtype, to, count);
        return (struct amp_losses){.saturated = 0};
    }
#pragma omp parallel for reduction(+ : saturated, zeroed, subnormal) if (count > CHUNK)
    for (size_t i = 0; i < count; i += CHUNK) {
        struct amp_losses found =
            saturate_chunk(from_dtype, (const char *)from + i * from_size, to_dtype,
                           (char *)to + i * to_size, count - i < CHUNK ? count - i : CHUNK);
        saturated += found.saturated;
        zeroed += found.zeroed;
        subnormal += found.subnormal;
    }
    return (struct amp_losses){saturated, zeroed, subnormal};
}

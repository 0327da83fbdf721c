/*
 * Conversion of arrays between float32, float16 and bfloat16: what a mixed-precision model does
 * most besides its products. Vectorized, with the processor's own instructions for float16 where it
 * has them; gives the same bits as the conversion of single values in dtype.c.
 */
#include "core/dtype.h"
#include "core/simd.h"

#include <string.h>

/* Elements anywhere in memory. */
typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t any_u32 __attribute__((aligned(1), may_alias));

typedef void convert_fn(const void *from, void *to, size_t count);

AMP_CLONES static void bf16_to_f32(const void *from, void *to, size_t count)
{
    const any_u16 *halves = from;
    any_u32 *bits = to;
    AMP_SIMD for (size_t i = 0; i < count; i++) bits[i] = (uint32_t)halves[i] << 16;
}

AMP_CLONES static void f32_to_bf16(const void *from, void *to, size_t count)
{
    const any_u32 *bits = from;
    any_u16 *halves = to;
    AMP_SIMD for (size_t i = 0; i < count; i++)
    {
        uint32_t x = bits[i], rounded = (x + 0x7FFFu + (x >> 16 & 1u)) >> 16;
        uint32_t quiet = x >> 16 | 0x0040u;
        halves[i] = (uint16_t)((x & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
    }
}

static void f16_to_f32_each(const void *from, void *to, size_t count)
{
    const any_u16 *halves = from;
    any_u32 *bits = to;
    for (size_t i = 0; i < count; i++)
        bits[i] = amp_f32_to_bits(amp_f16_to_f32(halves[i]));
}

static void f32_to_f16_each(const void *from, void *to, size_t count)
{
    const any_u32 *bits = from;
    any_u16 *halves = to;
    for (size_t i = 0; i < count; i++)
        halves[i] = amp_f32_to_f16(amp_bits_to_f32(bits[i]));
}

#if defined __x86_64__
#    include <immintrin.h>

enum { LANES = 8 };

__attribute__((target("avx,f16c"))) static void f16_to_f32_f16c(const void *from, void *to,
                                                                size_t count)
{
    const any_u16 *halves = from;
    float *floats = to;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm256_storeu_ps(floats + i,
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)(halves + i))));
    f16_to_f32_each(halves + i, floats + i, count - i);
}

__attribute__((target("avx,f16c"))) static void f32_to_f16_f16c(const void *from, void *to,
                                                                size_t count)
{
    const float *floats = from;
    any_u16 *halves = to;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm_storeu_si128((__m128i_u *)(halves + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(floats + i),
                                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    f32_to_f16_each(floats + i, halves + i, count - i);
}

/* Whether the CPU has F16C: not every compiler can ask for it, but all CPUs with AVX2 do. */
static bool has_f16c(void)
{
    return __builtin_cpu_supports("avx2");
}

static void f16_to_f32(const void *from, void *to, size_t count)
{
    (has_f16c() ? f16_to_f32_f16c : f16_to_f32_each)(from, to, count);
}

static void f32_to_f16(const void *from, void *to, size_t count)
{
    (has_f16c() ? f32_to_f16_f16c : f32_to_f16_each)(from, to, count);
}
#else
#    define f16_to_f32 f16_to_f32_each
#    define f32_to_f16 f32_to_f16_each
#endif

/* Between the two halves, by way of float32. */
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

/* What threads take at a time. */
enum { CHUNK = AMP_PARALLEL_MIN };

void amp_dtype_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                       void *to, size_t count)
{
    static convert_fn *const table[AMP_DTYPE_COUNT][AMP_DTYPE_COUNT] = {
        [AMP_FLOAT] = {[AMP_FLOAT16] = f32_to_f16, [AMP_BFLOAT16] = f32_to_bf16},
        [AMP_FLOAT16] = {[AMP_FLOAT] = f16_to_f32, [AMP_BFLOAT16] = f16_to_bf16},
        [AMP_BFLOAT16] = {[AMP_FLOAT] = bf16_to_f32, [AMP_FLOAT16] = bf16_to_f16}};
    size_t from_size = amp_dtype_bits(from_dtype) / 8, to_size = amp_dtype_bits(to_dtype) / 8;
    if (from_dtype == to_dtype) {
        if (count > 0)
            memcpy(to, from, count * to_size);
        return;
    }
    convert_fn *convert = table[from_dtype][to_dtype];
    if (count <= CHUNK) {
        convert(from, to, count);
        return;
    }
#pragma omp parallel for
    for (size_t i = 0; i < count; i += CHUNK)
        convert((const char *)from + i * from_size, (char *)to + i * to_size,
                count - i < CHUNK ? count - i : CHUNK);
}

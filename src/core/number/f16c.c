/*
 * Conversion of float16 by x86-64's instructions for it. Takes arrays anywhere in memory and whole
 * vectors of them; convert.c does the rest. Other processors convert nothing here.
 */
#include "core/number/f16c.h"

#include "core/cpu.h"

#if defined __x86_64__
#    include <immintrin.h>

enum { LANES = 8 };

__attribute__((target("avx,f16c"))) static size_t widen(const __m128i_u *halves, float *floats,
                                                        size_t vectors)
{
    for (size_t i = 0; i < vectors; i++)
        _mm256_storeu_ps(floats + i * LANES, _mm256_cvtph_ps(_mm_loadu_si128(halves + i)));
    return vectors * LANES;
}

__attribute__((target("avx,f16c"))) static size_t narrow(const float *floats, __m128i_u *halves,
                                                         size_t vectors)
{
    for (size_t i = 0; i < vectors; i++)
        _mm_storeu_si128(halves + i,
                         _mm256_cvtps_ph(_mm256_loadu_ps(floats + i * LANES),
                                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    return vectors * LANES;
}

size_t amp_f16c_to_f32(const void *halves, void *floats, size_t count)
{
    return amp_cpu_has(AMP_CPU_F16C) ? widen(halves, floats, count / LANES) : 0;
}

size_t amp_f16c_from_f32(const void *floats, void *halves, size_t count)
{
    return amp_cpu_has(AMP_CPU_F16C) ? narrow(floats, halves, count / LANES) : 0;
}

#else

size_t amp_f16c_to_f32(const void *halves, void *floats, size_t count)
{
    (void)halves, (void)floats, (void)count;
    return 0;
}

size_t amp_f16c_from_f32(const void *floats, void *halves, size_t count)
{
    (void)floats, (void)halves, (void)count;
    return 0;
}

#endif

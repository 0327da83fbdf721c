#ifndef AMP_OPS_KERNEL_VECTOR_512_H
#define AMP_OPS_KERNEL_VECTOR_512_H

/*
 * Functions of vectors of x86-64's AVX-512 by hand, where loops that the compiler vectorizes are
 * too slow.
 */
#if defined __x86_64__ && defined __GNUC__
#    define AMP_HAS_512 1
#    define AMP_512_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#    include <immintrin.h>
#    include <stddef.h>
#    include <stdint.h>

/* COUNT bfloat16 elements, at most 16, from AT on; then zeros. */
AMP_512_TARGET static inline __m512 amp_512_load_bf16(const uint16_t *at, __mmask16 mask)
{
    __m512i bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

/* The polynomial of N factors, that of the highest power first, at X. */
AMP_512_TARGET static inline __m512 amp_512_polynomial(__m512 x, const float *factors, size_t n)
{
    __m512 sum = _mm512_set1_ps(factors[0]);
#    pragma GCC unroll 8
    for (size_t i = 1; i < n; i++)
        sum = _mm512_fmadd_ps(sum, x, _mm512_set1_ps(factors[i]));
    return sum;
}

/* 1 / x, to a unit in the last place or two: the processor's approximation and a step of Newton's.
 */
AMP_512_TARGET static inline __m512 amp_512_reciprocal(__m512 x)
{
    __m512 y = _mm512_rcp14_ps(x);
    __m512 error = _mm512_fnmadd_ps(x, y, _mm512_set1_ps(1));
    return _mm512_fmadd_ps(error, y, y);
}

/* exp(x) = 2^n exp(r), |r| at most ln(2)/2, by the polynomial of the Cephes library's expf; |x| is
   at most 87: beyond, results are no normal numbers, which are slow. NaN stays NaN. */
AMP_512_TARGET static inline __m512 amp_512_exp(__m512 x)
{
    static const float left[] = {1.9875691500e-4f, 1.3981999507e-3f},
                       middle[] = {8.3334519073e-3f, 4.1665795894e-2f},
                       right[] = {1.6666665459e-1f, 5.0000001201e-1f};
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 0);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693147181f), x);
    __m512 square = _mm512_mul_ps(r, r);
    __m512 sum =
        _mm512_fmadd_ps(amp_512_polynomial(r, left, 2), square, amp_512_polynomial(r, middle, 2));
    sum = _mm512_fmadd_ps(sum, square, amp_512_polynomial(r, right, 2));
    sum = _mm512_fmadd_ps(sum, square, _mm512_add_ps(r, _mm512_set1_ps(1)));
    return _mm512_scalef_ps(sum, n);
}

/* The nearest to x in [low, high]; NaN stays NaN. */
AMP_512_TARGET static inline __m512 amp_512_clamp(__m512 x, float low, float high)
{
    return _mm512_min_ps(_mm512_set1_ps(high), _mm512_max_ps(_mm512_set1_ps(low), x));
}

#else
#    define AMP_HAS_512 0
#endif

#endif

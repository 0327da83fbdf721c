/*
 * Computes softmax of rows of bfloat16, which attention has many of, in vectors of AVX-512 by hand:
 * one pass finds the largest, one sums, one scales. Elsewhere than on x86-64 it fits nothing.
 */
#include "ops/own/softmax_512.h"

#include "core/simd.h"
#include "ops/kernel/vector_512.h"

#if AMP_HAS_512
#    include <math.h>

enum { LANES = 16, LONGEST = 4096 };

/* The lanes of the vector that begins with element FIRST of COUNT. */
static inline __mmask16 lanes_of(int64_t count, int64_t first)
{
    int64_t left = count - first;
    return (__mmask16)(left >= LANES ? 0xffff : (1 << left) - 1);
}

AMP_512_TARGET static float largest(const uint16_t *x, int64_t n)
{
    __m512 all = _mm512_set1_ps(-INFINITY);
    for (int64_t i = 0; i < n; i += LANES) {
        __mmask16 lanes = lanes_of(n, i);
        all = _mm512_mask_max_ps(all, lanes, all, amp_512_load_bf16(x + i, lanes));
    }
    return _mm512_reduce_max_ps(all);
}

/* TO = exp(X - TOP), in vectors; returns the sum. What is no normal number counts as 0. */
AMP_512_TARGET static float sum_exp(const uint16_t *x, int64_t n, float top, float *to)
{
    __m512 sum = _mm512_setzero_ps();
    for (int64_t i = 0; i < n; i += LANES) {
        __mmask16 lanes = lanes_of(n, i);
        __m512 power = _mm512_sub_ps(amp_512_load_bf16(x + i, lanes), _mm512_set1_ps(top));
        lanes &= (__mmask16)~_mm512_cmp_ps_mask(power, _mm512_set1_ps(-87), _CMP_LT_OQ);
        __m512 e = _mm512_maskz_mov_ps(lanes, amp_512_exp(power));
        _mm512_storeu_ps(to + i, e);
        sum = _mm512_add_ps(sum, e);
    }
    return _mm512_reduce_add_ps(sum);
}

AMP_512_TARGET static void softmax_row(const uint16_t *x, uint16_t *y, int64_t n)
{
    float e[LONGEST];
    __m512 factor = _mm512_set1_ps(1 / sum_exp(x, n, largest(x, n), e));
    for (int64_t i = 0; i < n; i += LANES) {
        __m512 value = _mm512_mul_ps(_mm512_loadu_ps(e + i), factor);
        _mm256_mask_storeu_epi16(y + i, lanes_of(n, i), (__m256i)_mm512_cvtneps_pbh(value));
    }
}

static bool fits(int64_t count)
{
    return amp_cpu_has(AMP_CPU_AVX512_BF16) && count <= LONGEST;
}

static void run(const uint16_t *x, uint16_t *y, int64_t rows, int64_t count)
{
#    pragma omp parallel for if (rows * count >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        softmax_row(x + i * count, y + i * count, count);
}

#else

static bool fits(int64_t count)
{
    (void)count;
    return false;
}

static void run(const uint16_t *x, uint16_t *y, int64_t rows, int64_t count)
{
    (void)x, (void)y, (void)rows, (void)count;
}

#endif

const struct amp_softmax_kernel amp_softmax_512 = {.fits = fits, .run = run};

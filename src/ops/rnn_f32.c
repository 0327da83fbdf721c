/*
 * Recurrent layers in float32: matrix products by oneDNN, sigmoid and tanh as vector code.
 */
#include "ops/dnnl.h"
#include "ops/kernel.h"
#include "ops/rnn.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* e^x within about 2 units in the last place, x clamped to where the result is a normal number: 2^n
   times the Taylor series of what is left, n being rounded by the addition of 1.5 * 2^23. */
static inline float exp_of(float x)
{
    const float rounder = 12582912.0f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + rounder, n = shifted - rounder;
    float r = x - n * ln2_high - n * ln2_low;
    float series = 1.0f / 5040;
    series = series * r + 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    return series * amp_bits_to_f32((amp_f32_to_bits(shifted) << 23) + 0x3F800000u);
}

static inline float sigmoid_of(float x)
{
    return 1 / (1 + exp_of(-x));
}

/* Near 0 Lambert's continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))) up to the 9, where the
   other formula would cancel. */
static inline float tanh_of(float x)
{
    float square = x * x, size = x < 0 ? -x : x;
    float near = x * (945 + square * (105 + square)) / (945 + square * (420 + square * 15));
    float far = 1 - 2 / (exp_of(2 * size) + 1);
    return size < 0.5f ? near : x < 0 ? -far : far;
}

static enum amp_status gemm(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                            const float *b, int64_t ldb, float *c, int64_t ldc,
                            struct amp_error *err)
{
    enum {
        ALONE = 1 << 20
    }; /* multiplications below which a second thread costs more than it saves */
    int threads = omp_get_max_threads();
    if (m == 0 || n == 0 || k == 0)
        return AMP_OK;
    if (m * n * k < ALONE)
        omp_set_num_threads(1);
    dnnl_status_t status = dnnl_sgemm('N', 'T', m, n, k, 1, a, lda, b, ldb, 1, c, ldc);
    omp_set_num_threads(threads);
    return amp_dnnl_check(err, status, "dnnl_sgemm");
}

#define REAL float
#define KERNEL amp_rnn_f32
#include "ops/rnn_kernel.inc"

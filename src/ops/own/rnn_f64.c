/*
 * Runs recurrent layers in float64, which oneDNN does not have: everything is plain C.
 */
#include "ops/kernel/kernel.h"
#include "ops/own/rnn_kernel.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static inline double sigmoid_of(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double tanh_of(double x)
{
    return tanh(x);
}

AMP_CLONES(double, dot, (const double *a, const double *b, int64_t n), (a, b, n))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static enum amp_status add_input_products(const struct amp_rnn *rnn, int64_t rows, const double *x,
                                          double *gates, struct amp_error *err)
{
    int64_t n = rnn->gates * rnn->hidden, k = rnn->input;
    const double *w = rnn->w;
    (void)err;
#pragma omp parallel for collapse(2) if (rows * n * k >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++)
            gates[i * n + j] += dot(x + i * k, w + j * k, k);
    return AMP_OK;
}

#define FITS NULL
#define REAL double
#define STORED double
#define KERNEL amp_rnn_f64
#define PRODUCTS "ops/own/rnn_products.inc"
#include "ops/own/rnn_kernel.inc"

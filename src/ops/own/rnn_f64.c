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

#define FITS NULL
#define REAL double
#define STORED double
#define KERNEL amp_rnn_f64
#define PRODUCTS "ops/own/rnn_products.inc"
#include "ops/own/rnn_kernel.inc"

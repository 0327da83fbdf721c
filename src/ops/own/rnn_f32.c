/*
 * Runs recurrent layers in float32: the input's part by oneDNN's matrix product, the rest in vector
 * code of rnn_products.inc.
 */
#include "ops/dnnl/dnnl.h"
#include "ops/kernel/kernel.h"
#include "ops/own/rnn_kernel.h"
#include "ops/own/rnn_activation.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static enum amp_status add_input_products(const struct amp_rnn *rnn, int64_t rows, const float *x,
                                          float *gates, struct amp_error *err)
{
    enum {
        ALONE = 1 << 20
    }; /* multiplications below which a second thread costs more than it saves */
    int64_t m = rows, n = rnn->gates * rnn->hidden, k = rnn->input;
    int threads = omp_get_max_threads();
    if (m == 0 || n == 0 || k == 0)
        return AMP_OK;
    if (m * n * k < ALONE)
        omp_set_num_threads(1);
    dnnl_status_t status = dnnl_sgemm('N', 'T', m, n, k, 1, x, k, rnn->w, k, 1, gates, n);
    omp_set_num_threads(threads);
    return amp_dnnl_check(err, status, "dnnl_sgemm");
}

#define FITS NULL
#define REAL float
#define STORED float
#define KERNEL amp_rnn_f32
#define PRODUCTS "ops/own/rnn_products.inc"
#include "ops/own/rnn_kernel.inc"

/*
 * Recurrent layers in float32: matrix products by oneDNN.
 */
#include "ops/dnnl/dnnl.h"
#include "ops/kernel/kernel.h"
#include "ops/own/rnn_kernel.h"
#include "ops/own/rnn_activation.h"

#include <math.h>
#include <omp.h>
#include <string.h>

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

#define FITS NULL
#define REAL float
#define STORED float
#define KERNEL amp_rnn_f32
#define PRODUCTS "ops/own/rnn_products.inc"
#include "ops/own/rnn_kernel.inc"

/*
 * Runs recurrent layers in bfloat16 on x86-64 with AMX; sums and cells are float32. Elsewhere it
 * fits none.
 */
#include "core/convert.h"
#include "ops/own/rnn_kernel.h"

#include "ops/kernel/kernel.h"
#include "ops/own/amx_kernel.h"
#include "ops/own/amx_post.h"

#if AMP_HAS_AMX
#    include <immintrin.h>
#    include <oneapi/dnnl/dnnl.h>
#    include <math.h>
#    include <omp.h>
#    include <string.h>

#    include "ops/own/rnn_activation.h"

static bool fits(const struct amp_rnn *rnn)
{
    enum { FEW_SEQUENCES = 4 }; /* with more, oneDNN's tiles win */
    return amp_cpu_has(AMP_CPU_AMX_BF16) && rnn->input > 0 && rnn->input % STEP == 0 &&
           rnn->hidden % 4 == 0 && rnn->hidden > 0 && rnn->batch <= FEW_SEQUENCES;
}

#    define FITS fits
#    define REAL float
#    define STORED uint16_t
#    define KERNEL amp_rnn_bf16
#    define PRODUCTS "ops/own/rnn_pairs.inc"
#    include "ops/own/rnn_kernel.inc"

#else

static bool fits(const struct amp_rnn *rnn)
{
    (void)rnn;
    return false;
}

const struct amp_rnn_kernel amp_rnn_bf16 = {.fits = fits};

#endif

#ifndef AMP_OPS_FLOPS_H
#define AMP_OPS_FLOPS_H

#include "ops/op.h"

/* The floating-point operations, two per multiplication with addition, of the products that the
   node of CTX (in and out as they are after it ran) computes: convolutions, matrix products,
   attention, recurrent layers. 0 for other operators. Padding counts as work, as is usual. */
double amp_flops(const struct amp_ctx *ctx);

#endif

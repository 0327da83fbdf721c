#ifndef AMP_OPS_KERNEL_FLOAT64_CALL_H
#define AMP_OPS_KERNEL_FLOAT64_CALL_H

#include "ops/op.h"

/*
 * For operators whose definition lets inputs that are computed with each other differ in type, and
 * whose kernels want one type.
 */

/* Whether a float input, or an output that is wanted, has another type than input 0. */
bool amp_has_mixed_types(const struct amp_ctx *ctx);

/* Calls RUN with all float inputs and outputs as float64; the results are rounded to CTX's outputs,
   whose shapes must be known. AMP_UNSUPPORTED where one has 16 bits: those come as float32. */
enum amp_status amp_run_in_f64(struct amp_ctx *ctx, enum amp_status (*run)(struct amp_ctx *ctx));

#endif

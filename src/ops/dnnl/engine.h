#ifndef AMP_OPS_DNNL_ENGINE_H
#define AMP_OPS_DNNL_ENGINE_H

#include "ops/dnnl/dnnl.h"

/* Makes oneDNN's engine and stream for the CPU. Kernels of the list OWN, which NULL ends, run in
   place of the primitives that they compute; OWN NULL: none. AMP_KERNEL: oneDNN has no engine;
   AMP_IO: no memory for it. */
enum amp_status amp_dnnl_create(const struct amp_own_kernel *const *own, struct amp_dnnl **dnnl,
                                struct amp_error *err);
void amp_dnnl_destroy(struct amp_dnnl *dnnl); /* NULL is fine */

#endif

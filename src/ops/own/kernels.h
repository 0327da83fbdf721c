#ifndef AMP_OPS_OWN_KERNELS_H
#define AMP_OPS_OWN_KERNELS_H

#include "core/dtype.h"
#include "ops/dnnl/own_kernel.h"
#include "ops/own/rnn_kernel.h"
#include "ops/own/softmax_512.h"

/* All kernels of this program's own, NULL behind the last; for amp_dnnl_create. README.md says what
   oneDNN does in the place of each, and what each gains. */
extern const struct amp_own_kernel *const amp_own_kernels[];

/* The kernel for softmax of rows of COUNT elements of DTYPE; NULL: none is for that. */
const struct amp_softmax_kernel *amp_own_softmax(enum amp_dtype dtype, int64_t count);

/* The kernel for a recurrent layer of DTYPE whose directions are as RNN; NULL: none is for that. */
const struct amp_rnn_kernel *amp_own_rnn(enum amp_dtype dtype, const struct amp_rnn *rnn);

#endif

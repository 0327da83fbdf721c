#ifndef AMP_OPS_CONV_BYTE_CONV_H
#define AMP_OPS_CONV_BYTE_CONV_H

#include "ops/conv/conv.h"

/* The sums of a convolution of int8 or uint8 X less its zero point with weights of such types less
   theirs (one or one per filter), from the int32 bias on, modulo 2^32: to SUMS, an int32 tensor
   [N, M, steps...] with memory. Where they are in the inputs of CTX, whose state is
   amp_byte_conv_destroy's, CONV says. By oneDNN, or where that is not exact by unfolding;
   AMP_UNSUPPORTED, which no error tells of, where neither is there or there is no memory. */
enum amp_status amp_byte_conv_run(const struct amp_ctx *ctx, const struct amp_conv *conv,
                                  struct amp_tensor *sums);
void amp_byte_conv_destroy(void *state);

#endif

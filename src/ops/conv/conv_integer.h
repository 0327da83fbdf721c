#ifndef AMP_OPS_CONV_CONV_INTEGER_H
#define AMP_OPS_CONV_CONV_INTEGER_H

#include "ops/conv/conv.h"

/* Reads CONV, whose inputs are INPUTS, and computes all its sums, [N, M, steps...], of products
   less the zero points, from the int32 bias on: they go to SUMS, an int32 tensor with memory. The
   state of CTX is amp_byte_conv_destroy's. */
enum amp_status amp_int_conv(struct amp_ctx *ctx, const struct amp_conv_inputs *inputs,
                             struct amp_conv *conv, struct amp_tensor *sums);

/* Input I, where it is given, must have one value for all output channels or one for each. */
enum amp_status amp_conv_check_parameter(const struct amp_ctx *ctx, uint32_t i, int64_t filters);

#endif

#ifndef AMP_OPS_MATMUL_QUANTIZED_PRODUCT_H
#define AMP_OPS_MATMUL_QUANTIZED_PRODUCT_H

#include "ops/op.h"

/*
 * Products of bytes with constant weights [k, n], rounded to bytes by one primitive
 * (ops/dnnl/requantize.h): input 0, [.., k], and input 3, each with its scale and zero point
 * behind it, to output 0, whose scale is input 6 and whose zero point is input 7.
 */

/* AMP_UNSUPPORTED, which no error tells of, where that is not exact or not possible. The state of
   CTX is amp_quantized_product_destroy's. */
enum amp_status amp_quantized_product_run(const struct amp_ctx *ctx);
void amp_quantized_product_destroy(void *state);

/* For amp_op.repeat: of whether the run before was amp_quantized_product_run's. */
bool amp_quantized_product_can_repeat(const struct amp_ctx *ctx);
enum amp_status amp_quantized_product_repeat(struct amp_ctx *ctx);

/* For amp_op.reads. */
bool amp_quantized_product_reads(const void *state, size_t index);

#endif

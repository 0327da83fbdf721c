#ifndef AMP_OPS_CONV_H
#define AMP_OPS_CONV_H

#include "ops/dnnl.h"
#include "ops/window.h"

/*
 * What convolution and transposed convolution share: checks of their inputs and the oneDNN
 * primitive.
 */

/* The number of spatial dims from inputs X and W, which must agree; -1 when neither tells it. */
enum amp_status amp_conv_rank(const struct amp_ctx *ctx, uint32_t x, uint32_t w, int *n);

/* Attribute group, 1 or more, which must divide CHANNELS and FILTERS where they are known. */
enum amp_status amp_conv_group(const struct amp_ctx *ctx, int64_t channels, int64_t filters,
                               int64_t *group);

/* Input I, when it is there, must have the shape [FILTERS]. */
enum amp_status amp_conv_bias(const struct amp_ctx *ctx, uint32_t i, int64_t filters);

/* The weights of oneDNN's primitive, as a view of input 1: [M, C, K...], or with a leading dim
   [group, M / group, C / group, K...]. */
struct amp_conv_weights {
    int rank;
    int64_t dims[AMP_RANK_MAX + 1], strides[AMP_RANK_MAX + 1];
};

typedef dnnl_status_t
amp_conv_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_prop_kind_t prop,
                dnnl_alg_kind_t alg, const_dnnl_memory_desc_t src, const_dnnl_memory_desc_t weights,
                const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t dst,
                const dnnl_dims_t strides, const dnnl_dims_t dilates, const dnnl_dims_t pads_begin,
                const dnnl_dims_t pads_end, const_dnnl_primitive_attr_t attr);

/* Makes PRIM: input 0, weights in input 1 and the bias, if any, in input 2, to output 0. CREATE
   with ALG is oneDNN's convolution or deconvolution; pad_end of WINDOW must be what CREATE wants.
   AMP_UNSUPPORTED for empty inputs and for more than three spatial dims. */
enum amp_status amp_conv_make(struct amp_ctx *ctx, struct amp_prim *prim, amp_conv_create *create,
                              dnnl_alg_kind_t alg, const struct amp_window *window,
                              const struct amp_conv_weights *weights);

#endif

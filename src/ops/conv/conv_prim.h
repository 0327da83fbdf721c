#ifndef AMP_OPS_CONV_CONV_PRIM_H
#define AMP_OPS_CONV_CONV_PRIM_H

#include "ops/conv/window.h"
#include "ops/dnnl/prim.h"

/* The weights of oneDNN's primitive, as a view of input 1: [M, C, K...], or with a leading dim
   [group, M / group, C / group, K...]. */
struct amp_conv_weights {
    int rank;
    int64_t dims[AMP_RANK_MAX + 1], strides[AMP_RANK_MAX + 1];
};

/* Those of a convolution whose input 1 has shape W. */
struct amp_conv_weights amp_conv_weights_of(const struct amp_shape *w, int64_t group);

typedef dnnl_status_t
amp_conv_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_prop_kind_t prop,
                dnnl_alg_kind_t alg, const_dnnl_memory_desc_t src, const_dnnl_memory_desc_t weights,
                const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t dst,
                const dnnl_dims_t strides, const dnnl_dims_t dilates, const dnnl_dims_t pads_begin,
                const dnnl_dims_t pads_end, const_dnnl_primitive_attr_t attr);

/* What oneDNN makes a convolution of. */
struct amp_conv_prim {
    amp_conv_create *create; /* a convolution's or a deconvolution's */
    dnnl_alg_kind_t alg;
    const struct amp_window *window; /* with the pad_end that CREATE wants */
    const struct amp_conv_weights *weights;
    int32_t x_zero;              /* what stands for 0 in the input, and pads it: of bytes */
    bool does_without_unfolding; /* there is something better than oneDNN's product of the unfolded
                                    image */
};

/* Makes PRIM: input 0, weights in input 1 and the bias, if any, in input 2, to output 0.
   AMP_UNSUPPORTED for empty inputs and for more than three spatial dims. */
enum amp_status amp_conv_prim_make(struct amp_ctx *ctx, struct amp_prim *prim,
                                   const struct amp_conv_prim *conv);

#endif

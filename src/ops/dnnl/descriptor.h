#ifndef AMP_OPS_DNNL_DESCRIPTOR_H
#define AMP_OPS_DNNL_DESCRIPTOR_H

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

/* A layout as oneDNN keeps it: strides of the outer dims, in elements, and innermost blocks, the
   outermost of these first, with the dims that they divide. */
struct amp_blocks {
    int rank, n_inner;
    dnnl_data_type_t type;
    const dnnl_dims_t *dims, *strides, *inner, *inner_dims;
};

/* Reads DESC, whose memory BLOCKS point into. False: it is NULL, or opaque. */
bool amp_blocks_read(const_dnnl_memory_desc_t desc, struct amp_blocks *blocks);

#endif

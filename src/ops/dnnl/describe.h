#ifndef AMP_OPS_DNNL_DESCRIBE_H
#define AMP_OPS_DNNL_DESCRIBE_H

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>
#include <stddef.h>

/* A layout as oneDNN keeps it: strides of the outer dims, in elements, and innermost blocks, the
   outermost of these first, with the dims that they divide. */
struct amp_blocks {
    int rank, n_inner;
    dnnl_data_type_t type;
    const dnnl_dims_t *dims, *strides, *inner, *inner_dims;
};

/* Reads DESC, whose memory BLOCKS point into. False: it is NULL, or opaque. */
bool amp_blocks_read(const_dnnl_memory_desc_t desc, struct amp_blocks *blocks);

/* What oneDNN says of the primitive of PD: the kind, "convolution"; the implementation,
   "brg_conv_fwd:avx10_1_512_amx"; and, as TEXT of SIZE bytes, the layouts of its memories,
   "bf16:aBcd32b * bf16:ABcd16b32a2b -> bf16:aBcd32b". The first two are oneDNN's. */
const char *amp_describe_kind(const_dnnl_primitive_desc_t pd);
const char *amp_describe_implementation(const_dnnl_primitive_desc_t pd);
void amp_describe_layouts(const_dnnl_primitive_desc_t pd, char *text, size_t size);

/* The same of a copy from layout FROM to layout TO: "f32:abcd -> f32:aBcd16b". */
void amp_describe_copy(const_dnnl_memory_desc_t from, const_dnnl_memory_desc_t to, char *text,
                       size_t size);

#endif

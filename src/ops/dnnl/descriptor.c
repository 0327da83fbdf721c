/*
 * Reads all that a memory descriptor of oneDNN says of a blocked layout in one call.
 */
#include "ops/dnnl/descriptor.h"

static bool query(const_dnnl_memory_desc_t desc, dnnl_query_t what, void *result)
{
    return dnnl_memory_desc_query(desc, what, result) == dnnl_success;
}

bool amp_blocks_read(const_dnnl_memory_desc_t desc, struct amp_blocks *blocks)
{
    dnnl_format_kind_t kind;
    return desc != NULL && query(desc, dnnl_query_format_kind, &kind) && kind == dnnl_blocked &&
           query(desc, dnnl_query_ndims_s32, &blocks->rank) &&
           query(desc, dnnl_query_data_type, &blocks->type) &&
           query(desc, dnnl_query_dims, &blocks->dims) &&
           query(desc, dnnl_query_strides, &blocks->strides) &&
           query(desc, dnnl_query_inner_nblks_s32, &blocks->n_inner) &&
           query(desc, dnnl_query_inner_blks, &blocks->inner) &&
           query(desc, dnnl_query_inner_idxs, &blocks->inner_dims);
}

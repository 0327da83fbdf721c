#ifndef AMP_OPS_DNNL_DESCS_H
#define AMP_OPS_DNNL_DESCS_H

#include "core/tensor.h"

#include <oneapi/dnnl/dnnl.h>

/* Memory descriptors of oneDNN that live until their owner, a primitive, goes. */
struct amp_descs {
    dnnl_memory_desc_t at[64];
    int n;
};

void amp_descs_release(struct amp_descs *descs);

/* What a memory descriptor is made of. */
struct amp_desc_form {
    enum amp_dtype dtype;
    int rank; /* 1 to DNNL_MAX_NDIMS */
    const int64_t *dims;
    const int64_t *strides; /* in elements; NULL: row-major, or in the layout of TAG */
    dnnl_format_tag_t tag;  /* 0: none */
};

struct amp_desc_form amp_form_row_major(enum amp_dtype dtype, int rank, const int64_t *dims);
struct amp_desc_form amp_form_strided(enum amp_dtype dtype, int rank, const int64_t *dims,
                                      const int64_t *strides);
/* Tag dnnl_format_tag_any leaves the layout to oneDNN. */
struct amp_desc_form amp_form_tagged(enum amp_dtype dtype, int rank, const int64_t *dims,
                                     dnnl_format_tag_t tag);

/* Sets *DESC to a descriptor of FORM, or of TENSOR in its layout, where a scalar becomes [1].
   AMP_UNSUPPORTED for a dtype or a rank that oneDNN does not have; AMP_MODEL for negative dims. */
enum amp_status amp_descs_add(struct amp_descs *descs, struct amp_error *err,
                              struct amp_desc_form form, dnnl_memory_desc_t *desc);
enum amp_status amp_descs_add_tensor(struct amp_descs *descs, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc);

#endif

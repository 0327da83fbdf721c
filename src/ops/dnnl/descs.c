/*
 * Makes memory descriptors of oneDNN from dtypes, dims and layouts of tensors, and keeps them until
 * their owner goes. It assumes nothing of the dims, which come from models.
 */
#include "ops/dnnl/descs.h"

#include "core/array.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/layout.h"

void amp_descs_release(struct amp_descs *descs)
{
    while (descs->n > 0)
        dnnl_memory_desc_destroy(descs->at[--descs->n]);
}

struct amp_desc_form amp_form_row_major(enum amp_dtype dtype, int rank, const int64_t *dims)
{
    return (struct amp_desc_form){.dtype = dtype, .rank = rank, .dims = dims};
}

struct amp_desc_form amp_form_strided(enum amp_dtype dtype, int rank, const int64_t *dims,
                                      const int64_t *strides)
{
    return (struct amp_desc_form){.dtype = dtype, .rank = rank, .dims = dims, .strides = strides};
}

struct amp_desc_form amp_form_tagged(enum amp_dtype dtype, int rank, const int64_t *dims,
                                     dnnl_format_tag_t tag)
{
    return (struct amp_desc_form){.dtype = dtype, .rank = rank, .dims = dims, .tag = tag};
}

/* Row-major strides; an empty tensor gets those of a full one, which oneDNN checks. */
static void set_row_major(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= dims[i] > 0 ? dims[i] : 1;
    }
}

enum amp_status amp_descs_add(struct amp_descs *descs, struct amp_error *err,
                              struct amp_desc_form form, dnnl_memory_desc_t *desc)
{
    dnnl_data_type_t type = amp_dnnl_dtype(form.dtype);
    int64_t row_major[DNNL_MAX_NDIMS];
    const int64_t *strides = form.strides;
    if (type == dnnl_data_type_undef)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN has no dtype %s", amp_dtype_name(form.dtype));
    if (form.rank < 1 || form.rank > DNNL_MAX_NDIMS || descs->n == (int)AMP_COUNT(descs->at))
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN has no tensors of rank %d", form.rank);
    for (int i = 0; i < form.rank; i++)
        if (form.dims[i] < 0)
            return amp_fail(err, AMP_MODEL, "negative dimension");
    if (strides == NULL) {
        set_row_major(form.rank, form.dims, row_major);
        strides = row_major;
    }
    AMP_TRY(amp_dnnl_check(
        err,
        form.tag != dnnl_format_tag_undef
            ? dnnl_memory_desc_create_with_tag(desc, form.rank, form.dims, type, form.tag)
            : dnnl_memory_desc_create_with_strides(desc, form.rank, form.dims, type, strides),
        "layout"));
    descs->at[descs->n++] = *desc;
    return AMP_OK;
}

enum amp_status amp_descs_add_tensor(struct amp_descs *descs, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc)
{
    static const int64_t one[1] = {1};
    bool is_scalar = tensor->shape.rank == 0;
    if (tensor->layout == NULL)
        return amp_descs_add(
            descs, err,
            is_scalar ? amp_form_row_major(tensor->dtype, 1, one)
                      : amp_form_row_major(tensor->dtype, tensor->shape.rank, tensor->shape.dims),
            desc);
    if (descs->n == (int)AMP_COUNT(descs->at))
        return amp_fail(err, AMP_UNSUPPORTED, "too many layouts for a oneDNN primitive");
    AMP_TRY(amp_dnnl_check(err, dnnl_memory_desc_clone(desc, amp_layout_desc(tensor->layout)),
                           "layout"));
    descs->at[descs->n++] = *desc;
    return AMP_OK;
}

/*
 * Checks what a value gets against the type that the model declares or inference found, so that
 * kernels find the tensors and lists that they expect. Takes a value and the tensor, which it may
 * wrap as an optional. It does not check shapes.
 */
#include "run/exec/type_check.h"

#include "core/tensor.h"

static enum amp_status check_form(const struct amp_value *value, enum amp_kind kind,
                                  const struct amp_tensor *tensor, struct amp_error *err)
{
    if (tensor->form == amp_kind_form(kind))
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "'%s' gets a value of type %s; the model wants a value of type %s", value->name,
                    amp_form_name(tensor->form), amp_kind_name(kind));
}

static enum amp_status check_items(const struct amp_value *value, enum amp_kind kind,
                                   const struct amp_tensor *list, struct amp_error *err)
{
    AMP_TRY(check_form(value, kind, list, err));
    if (list->form == AMP_FORM_TENSOR || list->form == AMP_FORM_MAP)
        return AMP_OK;
    for (size_t i = 0; i < amp_tensor_count(list); i++) {
        const struct amp_tensor *item = &amp_list_items(list)[i];
        if (value->dtype != AMP_UNDEFINED && item->dtype != value->dtype)
            return amp_fail(err, AMP_MODEL, "'%s': element %zu is %s; the model wants %s",
                            value->name, i, amp_dtype_name(item->dtype),
                            amp_dtype_name(value->dtype));
        AMP_TRY(check_items(value, amp_kind_element(kind), item, err));
    }
    return AMP_OK;
}

/* Makes *TENSOR an optional that holds what it was. */
static enum amp_status wrap(struct amp_tensor *tensor, struct amp_error *err)
{
    struct amp_tensor optional = {.dtype = tensor->dtype};
    AMP_TRY(amp_list_alloc(&optional, AMP_FORM_OPTIONAL, 1, err));
    *amp_list_items(&optional) = *tensor;
    *tensor = optional;
    return AMP_OK;
}

enum amp_status amp_type_check(const struct amp_value *value, struct amp_tensor *tensor,
                               struct amp_error *err)
{
    if (amp_kind_form(value->kind) == AMP_FORM_OPTIONAL && tensor->form != AMP_FORM_OPTIONAL)
        AMP_TRY(wrap(tensor, err));
    return check_items(value, value->kind, tensor, err);
}

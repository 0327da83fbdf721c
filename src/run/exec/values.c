/*
 * Sets the values of a session and reorders what they hold: takes tensors as kernels gave them,
 * gives tensors of the types that the
 * model declares or inference found, so that kernels find what they expect. It assumes that whoever
 * replaces a value's tensor has released the one before.
 */
#include "run/exec/values.h"

#include "core/tensor.h"
#include "ops/dnnl/layout.h"

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

/* Checks that TENSOR, which VALUE is about to hold, is of VALUE's type, its shape aside. Where the
   model declares an optional and TENSOR is the element itself (ONNX OptionalHasElement-18 allows
   that), TENSOR becomes an optional that holds it. AMP_MODEL when TENSOR is of another kind or
   holds elements of another dtype. */
static enum amp_status check_type(const struct amp_value *value, struct amp_tensor *tensor,
                                  struct amp_error *err)
{
    if (amp_kind_form(value->kind) == AMP_FORM_OPTIONAL && tensor->form != AMP_FORM_OPTIONAL)
        AMP_TRY(wrap(tensor, err));
    return check_items(value, value->kind, tensor, err);
}

enum amp_status amp_values_set(struct amp_session *session, uint32_t value,
                               const struct amp_tensor *tensor, struct amp_error *err)
{
    amp_tensor_refer(&session->values[value], tensor);
    return check_type(amp_value_at(session->model, value), &session->values[value], err);
}

enum amp_status amp_values_reorder_for(struct amp_session *session, struct amp_tensor *tensor,
                                       const struct amp_node *node, struct amp_error *err)
{
    struct amp_tensor plain;
    struct amp_ctx ctx = {
        .model = session->model, .node = node, .host = &session->host, .err = err};
    if (tensor->layout == NULL)
        return AMP_OK;
    enum amp_status status = amp_layout_undo(&ctx, tensor, &plain);
    if (status == AMP_OK)
        amp_tensor_share(tensor, &plain);
    amp_tensor_release(&plain);
    return status;
}

enum amp_status amp_values_reorder(struct amp_session *session, uint32_t value,
                                   struct amp_error *err)
{
    if (session->values[value].layout == NULL)
        return AMP_OK;
    uint32_t producer = amp_value_at(session->model, value)->producer;
    return amp_values_reorder_for(session, &session->values[value],
                                  amp_node_at(session->model, producer), err);
}

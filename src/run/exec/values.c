/*
 * Sets the values of a session and reorders what they hold: takes tensors as kernels gave them,
 * gives tensors of the declared types. It assumes that whoever replaces a value's tensor has
 * released the one before.
 */
#include "run/exec/values.h"

#include "ops/dnnl/layout.h"
#include "run/exec/type_check.h"

enum amp_status amp_values_set(struct amp_session *session, uint32_t value,
                               const struct amp_tensor *tensor, struct amp_error *err)
{
    amp_tensor_refer(&session->values[value], tensor);
    return amp_type_check(amp_value_at(session->model, value), &session->values[value], err);
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

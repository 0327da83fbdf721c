/*
 * What values hold while a session runs.
 */
#include "ops/dnnl/layout.h"
#include "run/exec/type_check.h"
#include "run/exec/step.h"

enum amp_status amp_slot_set(struct amp_session *session, uint32_t value,
                             const struct amp_tensor *tensor, struct amp_error *err)
{
    amp_tensor_refer(&session->slots[value], tensor);
    return amp_fit(amp_value_at(session->model, value), &session->slots[value], err);
}

enum amp_status amp_slot_undo(struct amp_session *session, struct amp_tensor *tensor,
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

enum amp_status amp_slot_make_plain(struct amp_session *session, uint32_t value,
                                    struct amp_error *err)
{
    struct amp_tensor *slot = &session->slots[value];
    if (slot->layout == NULL)
        return AMP_OK;
    uint32_t producer = amp_value_at(session->model, value)->producer;
    return amp_slot_undo(session, slot, amp_node_at(session->model, producer), err);
}

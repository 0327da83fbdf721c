/*
 * Optionals: Optional, OptionalHasElement, OptionalGetElement. All versions up to ONNX 18, from
 * which on tensors and sequences count as optionals that hold them.
 */
#include "ops/control/list.h"

/* Without an input there is nothing in it. */
static enum amp_status optional_run(struct amp_ctx *ctx)
{
    bool is_given = amp_has_in(ctx, 0);
    AMP_TRY(amp_list_alloc(ctx->out[0], AMP_FORM_OPTIONAL, is_given, ctx->err));
    if (is_given)
        amp_tensor_refer(amp_list_items(ctx->out[0]), ctx->in[0]);
    return AMP_OK;
}

static enum amp_status has_element_run(struct amp_ctx *ctx)
{
    bool has = amp_has_in(ctx, 0) &&
               (ctx->in[0]->form != AMP_FORM_OPTIONAL || amp_tensor_count(ctx->in[0]) > 0);
    *(uint8_t *)ctx->out[0]->data = has;
    return AMP_OK;
}

static enum amp_status get_element_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *element = ctx->in[0];
    if (element->form == AMP_FORM_OPTIONAL) {
        if (amp_tensor_count(element) == 0)
            return AMP_CTX_FAIL(ctx, "the optional is empty");
        element = amp_list_items(element);
    }
    amp_tensor_refer(ctx->out[0], element);
    return AMP_OK;
}

AMP_LIST_OP(optional, "Optional", 15, NULL, optional_run, .role = AMP_ROLE_OPTIONAL)
AMP_LIST_OP(optional_get_element, "OptionalGetElement", 18, NULL, get_element_run)
AMP_LIST_OP(optional_has_element, "OptionalHasElement", 18, amp_list_scalar, has_element_run)

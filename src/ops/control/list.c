/*
 * What the operators on sequences and optionals share: the shape function of those that give one
 * number.
 */
#include "ops/control/list.h"

enum amp_status amp_list_scalar(struct amp_ctx *ctx)
{
    ctx->out[0]->shape = (struct amp_shape){.rank = 0};
    return AMP_OK;
}

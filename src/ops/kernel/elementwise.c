/*
 * Runs the loop bodies of elementwise operators over whole tensors, and broadcasts the two inputs
 * of binary operators as the node's version of ONNX has it. Takes a table of bodies by dtype; fails
 * with AMP_UNSUPPORTED where it has none.
 */
#include "ops/kernel/elementwise.h"

enum amp_status amp_map_run(struct amp_ctx *ctx, amp_loop_body *const *table, const void *param)
{
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[0]);
    amp_loop_compute(&loop, body, param);
    return AMP_OK;
}

enum amp_status amp_zip_align(struct amp_ctx *ctx, struct amp_shape *b)
{
    const struct amp_shape *a = &ctx->in[0]->shape;
    *b = ctx->in[1]->shape;
    if (!amp_broadcasts_from_axis(ctx->node) || b->rank < 0)
        return AMP_OK;
    if (a->rank < 0) {
        b->rank = -1;
        return AMP_OK;
    }
    int axis;
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), a->rank, &axis));
    while (axis + b->rank < a->rank)
        b->dims[b->rank++] = 1;
    return AMP_OK;
}

enum amp_status amp_zip_shape_into(struct amp_ctx *ctx, const struct amp_shape *b)
{
    const struct amp_shape *a = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    AMP_TRY(amp_broadcast(a, b, out, ctx->err));
    char a_text[200], b_text[200];
    if (amp_shape_is_known(a) && amp_shape_is_known(b) && !amp_shape_equal(a, out))
        return AMP_CTX_FAIL(ctx, "shape %s does not broadcast to %s",
                            amp_shape_text(b, b_text, sizeof b_text),
                            amp_shape_text(a, a_text, sizeof a_text));
    *out = *a;
    return AMP_OK;
}

enum amp_status amp_zip_shape(struct amp_ctx *ctx)
{
    struct amp_shape b;
    AMP_TRY(amp_zip_align(ctx, &b));
    if (amp_broadcasts_by_attributes(ctx->node))
        return amp_zip_shape_into(ctx, &b);
    return amp_broadcast(&ctx->in[0]->shape, &b, &ctx->out[0]->shape, ctx->err);
}

void amp_zip_loop(struct amp_ctx *ctx, amp_loop_body *body, const struct amp_tensor *b)
{
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[0]);
    amp_loop_tensor(&loop, b);
    amp_loop_compute(&loop, body, NULL);
}

enum amp_status amp_zip_run(struct amp_ctx *ctx, amp_loop_body *const *table)
{
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    struct amp_tensor b = *ctx->in[1];
    AMP_TRY(amp_zip_align(ctx, &b.shape));
    amp_zip_loop(ctx, body, &b);
    return AMP_OK;
}

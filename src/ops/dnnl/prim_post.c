/*
 * Post-ops of primitives: the nodes that a step absorbed, with operands that are viewed as the
 * primitive views its output.
 */
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/prim.h"

/* Whether OPERAND has an element for each of OUT, whose rank is not lower. */
static bool is_whole_operand(const struct amp_shape *out, const struct amp_shape *operand)
{
    int missing = out->rank - operand->rank;
    for (int i = 0; i < out->rank; i++)
        if (out->dims[i] != (i < missing ? 1 : operand->dims[i - missing]))
            return false;
    return true;
}

/* Views OPERAND as one that broadcasts to DIMS of RANK, another view of the elements of OUT. False:
   it cannot, or OUT would have to broadcast to it. */
static bool view_operand(const struct amp_shape *out, const struct amp_shape *operand, int rank,
                         const int64_t *dims, int64_t *view)
{
    int first = 0, n = operand->rank;
    if (n > out->rank)
        return false;
    bool is_whole = is_whole_operand(out, operand);
    while (first < n && operand->dims[first] == 1)
        first++;
    for (int i = 0; i < rank; i++)
        view[i] = is_whole ? dims[i] : 1;
    if (is_whole || n - first > rank)
        return is_whole;
    for (int i = 1; i <= n - first; i++) {
        int64_t dim = operand->dims[n - i];
        if (out->rank < i || out->dims[out->rank - i] != dims[rank - i] ||
            (dim != 1 && dim != dims[rank - i]))
            return false;
        view[rank - i] = dim;
    }
    return true;
}

/* Appends the post-op INDEX of CTX, with the operand that is bound later, at POSITION. */
static enum amp_status append_binary(struct amp_ctx *ctx, struct amp_prim *prim,
                                     dnnl_post_ops_t ops, uint32_t index, int rank,
                                     const int64_t *dims)
{
    const struct amp_post *post = &ctx->posts[index];
    const struct amp_tensor *tensor = post->operand;
    struct operand *operand = &prim->operands[prim->n_operands++];
    int64_t view[DNNL_MAX_NDIMS];
    dnnl_memory_desc_t wanted;
    if (!view_operand(&ctx->out[0]->shape, &tensor->shape, rank, dims, view))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "an operand that broadcasts in another way");
    bool is_whole = is_whole_operand(&ctx->out[0]->shape, &tensor->shape);
    *operand = (struct operand){.post = index, .position = dnnl_post_ops_len(ops)};
    if (tensor->layout != NULL && (!is_whole || tensor->shape.rank != rank))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "an operand in another layout");
    if (tensor->layout != NULL)
        AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, tensor, &operand->user));
    else
        AMP_TRY(amp_prim_desc(prim, ctx->err, tensor->dtype, rank, view, NULL, &operand->user));
    wanted = operand->user;
    if (is_whole)
        AMP_TRY(amp_prim_desc_tag(prim, ctx->err, tensor->dtype, rank, view, dnnl_format_tag_any,
                                  &wanted));
    return amp_dnnl_check(ctx->err, dnnl_post_ops_append_binary(ops, post->alg, wanted), "post-op");
}

static enum amp_status append_posts(struct amp_ctx *ctx, struct amp_prim *prim, dnnl_post_ops_t ops,
                                    int rank, const int64_t *dims)
{
    for (uint32_t i = 0; i < ctx->n_posts; i++) {
        const struct amp_post *post = &ctx->posts[i];
        if (post->kind == AMP_POST_BINARY)
            AMP_TRY(append_binary(ctx, prim, ops, i, rank, dims));
        else if (post->kind == AMP_POST_ELTWISE)
            AMP_TRY(amp_dnnl_check(
                ctx->err, dnnl_post_ops_append_eltwise(ops, post->alg, post->alpha, post->beta),
                "post-op"));
    }
    return AMP_OK;
}

enum amp_status amp_prim_set_posts(struct amp_ctx *ctx, struct amp_prim *prim,
                                   dnnl_primitive_attr_t attr, dnnl_post_ops_t ops, int rank,
                                   const int64_t *dims)
{
    dnnl_post_ops_t own = NULL;
    if (ops == NULL && ctx->n_posts == 0)
        return AMP_OK;
    if (ops == NULL)
        AMP_TRY(amp_dnnl_check(ctx->err, dnnl_post_ops_create(&own), "post-ops"));
    enum amp_status status = append_posts(ctx, prim, ops ? ops : own, rank, dims);
    if (status == AMP_OK)
        status = amp_dnnl_check(ctx->err, dnnl_primitive_attr_set_post_ops(attr, ops ? ops : own),
                                "post-ops");
    dnnl_post_ops_destroy(own);
    return status;
}

/* Whether the destination of PD has elements beside those that count. */
static bool is_padded(const_dnnl_primitive_desc_t pd)
{
    const_dnnl_memory_desc_t desc = dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
    const dnnl_dims_t *dims, *padded;
    int rank;
    if (dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &rank) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_dims, &dims) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_padded_dims, &padded) != dnnl_success)
        return false;
    for (int i = 0; i < rank; i++)
        if ((*dims)[i] != (*padded)[i])
            return true;
    return false;
}

bool amp_prim_divides_padding(const struct amp_ctx *ctx, const_dnnl_primitive_desc_t pd)
{
    for (size_t i = 0; i < ctx->n_posts; i++)
        if (ctx->posts[i].kind == AMP_POST_BINARY && ctx->posts[i].alg == dnnl_binary_div)
            return is_padded(pd);
    return false;
}

enum amp_status amp_prim_bind_posts(struct amp_ctx *ctx, struct amp_prim *prim)
{
    for (int i = 0; i < prim->n_operands; i++) {
        const struct operand *operand = &prim->operands[i];
        struct binding binding = {.arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(operand->position) |
                                         DNNL_ARG_SRC_1,
                                  .index = operand->post,
                                  .is_operand = true,
                                  .is_constant = ctx->posts[operand->post].is_constant};
        AMP_TRY(amp_prim_bind(ctx, prim, binding, operand->user));
    }
    return AMP_OK;
}

/*
 * Gives a primitive the post-ops of its call, which are the nodes that the step absorbed. Their
 * operands broadcast to the node's output; they are viewed as broadcasting to the dims with which
 * the primitive sees that output.
 */
#include "ops/dnnl/prim_post.h"

#include "core/array.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/post_op.h"

/* Whether OPERAND has an element for each of OUT, whose rank is not lower. */
static bool is_whole_operand(const struct amp_shape *out, const struct amp_shape *operand)
{
    int missing = out->rank - operand->rank;
    for (int i = 0; i < out->rank; i++)
        if (out->dims[i] != (i < missing ? 1 : operand->dims[i - missing]))
            return false;
    return true;
}

/* Sets VIEW to dims of OPERAND that broadcast to those of TARGET, another view of the elements of
   OUT. False: there are none, or OUT would have to broadcast to the operand. */
static bool view_operand(const struct amp_shape *out, const struct amp_shape *operand,
                         const struct amp_post_target *target, int64_t *view)
{
    const int64_t *dims = target->dims;
    int first = 0, n = operand->rank, rank = target->rank;
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
        if (out->dims[out->rank - i] != dims[rank - i] || (dim != 1 && dim != dims[rank - i]))
            return false;
        view[rank - i] = dim;
    }
    return true;
}

/* Appends the post-op INDEX of CTX, whose operand is bound later. */
static enum amp_status append_binary(struct amp_ctx *ctx, const struct amp_post_target *target,
                                     uint32_t index)
{
    const struct amp_post *post = &ctx->posts[index];
    const struct amp_tensor *tensor = post->operand;
    struct amp_post_operands *operands = target->operands;
    int64_t view[DNNL_MAX_NDIMS];
    struct amp_desc_form form = amp_form_row_major(tensor->dtype, target->rank, view);
    if (!view_operand(&ctx->out[0]->shape, &tensor->shape, target, view))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "an operand that broadcasts in another way");
    bool is_whole = is_whole_operand(&ctx->out[0]->shape, &tensor->shape);
    dnnl_memory_desc_t user, wanted;
    if (tensor->layout != NULL && (!is_whole || tensor->shape.rank != target->rank))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "an operand in another layout");
    AMP_TRY(tensor->layout != NULL ? amp_descs_add_tensor(target->descs, ctx->err, tensor, &user)
                                   : amp_descs_add(target->descs, ctx->err, form, &user));
    operands->at[operands->n].post = index;
    operands->at[operands->n].position = dnnl_post_ops_len(target->ops);
    operands->at[operands->n++].user = wanted = user;
    form = amp_form_tagged(tensor->dtype, target->rank, view, dnnl_format_tag_any);
    if (is_whole)
        AMP_TRY(amp_descs_add(target->descs, ctx->err, form, &wanted));
    return amp_dnnl_check(ctx->err, dnnl_post_ops_append_binary(target->ops, post->alg, wanted),
                          "post-op");
}

enum amp_status amp_post_operands_append(struct amp_ctx *ctx, const struct amp_post_target *target)
{
    for (uint32_t i = 0; i < ctx->n_posts; i++) {
        const struct amp_post *post = &ctx->posts[i];
        if (post->kind == AMP_POST_BINARY)
            AMP_TRY(append_binary(ctx, target, i));
        else if (post->kind == AMP_POST_ELTWISE)
            AMP_TRY(amp_dnnl_check(
                ctx->err,
                dnnl_post_ops_append_eltwise(target->ops, post->alg, post->alpha, post->beta),
                "post-op"));
    }
    return AMP_OK;
}

/* Whether the destination of PD has elements beside those that count. */
static bool is_padded(const_dnnl_primitive_desc_t pd)
{
    const_dnnl_memory_desc_t desc = dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
    const dnnl_dims_t *dims = NULL, *padded = NULL;
    int rank = 0; /* where there is no destination */
    dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &rank);
    dnnl_memory_desc_query(desc, dnnl_query_dims, &dims);
    dnnl_memory_desc_query(desc, dnnl_query_padded_dims, &padded);
    for (int i = 0; i < rank; i++)
        if ((*dims)[i] != (*padded)[i])
            return true;
    return false;
}

bool amp_post_divides_padding(const struct amp_ctx *ctx, const_dnnl_primitive_desc_t pd)
{
    for (size_t i = 0; i < ctx->n_posts; i++)
        if (ctx->posts[i].alg == dnnl_binary_div)
            return is_padded(pd);
    return false;
}

enum amp_status amp_post_operands_bind(struct amp_ctx *ctx,
                                       const struct amp_post_operands *operands,
                                       const_dnnl_primitive_desc_t pd,
                                       struct amp_bindings *bindings)
{
    for (int i = 0; i < operands->n; i++) {
        uint32_t post = operands->at[i].post;
        struct amp_binding binding = {
            .arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(operands->at[i].position) | DNNL_ARG_SRC_1,
            .index = post,
            .is_operand = true,
            .is_constant = ctx->posts[post].is_constant};
        AMP_TRY(amp_bindings_add(ctx, bindings, pd, binding, operands->at[i].user));
    }
    return AMP_OK;
}

/*
 * Reads what a node does as a post-op from the descriptor of its operator, its attributes and its
 * constant inputs.
 */
#include "ops/dnnl/post_op.h"

#include "ops/op.h"

static bool is_float(const struct amp_model *model, uint32_t value)
{
    enum amp_dtype dtype = amp_value_at(model, value)->dtype;
    return amp_dtype_is_autocast(dtype);
}

static bool read_eltwise(const struct amp_model *model, const struct amp_node *node,
                         const struct amp_post_op *post_op, struct amp_post *post)
{
    *post = (struct amp_post){
        .kind = AMP_POST_ELTWISE,
        .alg = post_op->alg,
        .alpha = post_op->alpha_attr ? amp_node_float(node, post_op->alpha_attr, post_op->alpha)
                                     : post_op->alpha,
        .beta = post_op->beta_attr ? amp_node_float(node, post_op->beta_attr, post_op->beta)
                                   : post_op->beta};
    return post_op->read == NULL || post_op->read(model, node, post);
}

/* Operands must line up from the last dim on: before version 7 attributes said how they do. */
static bool read_binary(const struct amp_model *model, const struct amp_node *node, uint32_t slot,
                        const struct amp_post_op *post_op, struct amp_post *post)
{
    *post = (struct amp_post){.kind = AMP_POST_BINARY, .alg = post_op->alg, .in = 1 - slot};
    return !amp_broadcasts_by_attributes(node) && node->inputs[0] != node->inputs[1] &&
           is_float(model, node->inputs[1 - slot]) && (slot == 0 || !post_op->is_ordered);
}

bool amp_post_of(const struct amp_model *model, const struct amp_node *node, uint32_t slot,
                 struct amp_post *post)
{
    const struct amp_op *op = amp_op_of(node);
    const struct amp_post_op *post_op = op != NULL ? op->post_op : NULL;
    if (post_op == NULL || node->n_outputs != 1 || !is_float(model, node->outputs[0]) ||
        !is_float(model, node->inputs[slot]))
        return false;
    switch (post_op->kind) {
    case AMP_POST_ELTWISE:
        return slot == 0 && read_eltwise(model, node, post_op, post);
    case AMP_POST_BINARY:
        return read_binary(model, node, slot, post_op, post);
    case AMP_POST_CAST:
        break;
    }
    *post = (struct amp_post){.kind = AMP_POST_CAST};
    return slot == 0;
}

bool amp_post_hides_nan(const struct amp_post *post)
{
    return post->kind == AMP_POST_ELTWISE &&
           (post->alg == dnnl_eltwise_clip || post->alg == dnnl_eltwise_hardsigmoid ||
            (post->alg == dnnl_eltwise_relu && post->alpha == 0));
}

/*
 * Moves a Reshape from before elementwise nodes to after them, so that these can become post-ops of
 * the product before the Reshape; moves a constant factor from before a MatMul to after it, so that
 * the factor can become its post-op. Takes a model whose types are inferred, and leaves the order
 * of its nodes to be sorted.
 */
#include "run/rewrite/move_reshapes.h"

#include "core/graph/uses.h"
#include "ops/op.h"
#include "ops/dnnl/post_op.h"

/* Two nodes in a row: what FIRST makes of its input goes to SECOND's input alone. */
struct pair {
    uint32_t first, first_slot, second, second_slot;
};

/* Makes the first node the one that comes second. What goes between them then has the type of the
   result and the shape of LIKE. */
static void exchange(struct amp_model *model, const struct pair *pair, uint32_t like)
{
    struct amp_node *first = amp_node_at(model, pair->first);
    struct amp_node *second = amp_node_at(model, pair->second);
    uint32_t between = first->outputs[0], result = second->outputs[0];
    second->inputs[pair->second_slot] = first->inputs[pair->first_slot];
    first->inputs[pair->first_slot] = between;
    amp_node_set_output(model, pair->second, 0, between);
    amp_node_set_output(model, pair->first, 0, result);
    struct amp_value *value = amp_value_at(model, between);
    value->dtype = amp_value_at(model, result)->dtype;
    value->dims = amp_value_at(model, like)->dims;
    value->rank = amp_value_at(model, like)->rank;
}

/* ---- Reshape behind elementwise operators ---------------------------------------------------- */

static bool gives_product(const struct amp_model *model, uint32_t value)
{
    uint32_t producer = amp_value_at(model, value)->producer;
    const struct amp_node *node = producer == AMP_NONE ? NULL : amp_node_at(model, producer);
    const struct amp_op *op = node == NULL ? NULL : amp_op_of(node);
    return op != NULL && op->fuses;
}

static bool takes_each(const struct amp_model *model, const struct amp_use *use)
{
    struct amp_post post;
    const struct amp_node *node = amp_node_at(model, use->node);
    return node->n_inputs == 1 && amp_post_of(model, node, use->slot, &post);
}

static void move_reshape(struct amp_model *model, const struct amp_uses *uses, uint32_t id)
{
    struct amp_use use;
    uint32_t from = amp_node_at(model, id)->inputs[0];
    if (!gives_product(model, from) || !amp_uses_only(model, uses, from, &use) ||
        !amp_uses_only(model, uses, amp_node_at(model, id)->outputs[0], &use))
        return;
    while (takes_each(model, &use)) {
        uint32_t result = amp_node_at(model, use.node)->outputs[0];
        exchange(model, &(struct pair){id, 0, use.node, use.slot},
                 amp_node_at(model, id)->inputs[0]);
        if (!amp_uses_only(model, uses, result, &use))
            return;
    }
}

/* ---- factors behind MatMul ------------------------------------------------------------------- */

/* Whether input I of NODE is one constant that leaves the shape of the other input as it is. */
static bool is_factor(const struct amp_model *model, const struct amp_node *node, uint32_t i)
{
    const struct amp_value *other = amp_value_at(model, node->inputs[1 - i]);
    const struct amp_tensor *tensor = amp_value_at(model, node->inputs[i])->constant;
    return tensor != NULL && amp_tensor_count(tensor) == 1 && other->constant == NULL &&
           other->rank >= tensor->shape.rank && other->rank >= 2;
}

static void move_factor(struct amp_model *model, const struct amp_uses *uses, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct amp_use use;
    uint32_t slot = is_factor(model, node, 1) ? 0 : 1;
    enum amp_dtype dtype = amp_value_at(model, node->outputs[0])->dtype;
    if ((slot == 1 && (amp_node_has_role(node, AMP_ROLE_DIV) || !is_factor(model, node, 0))) ||
        amp_broadcasts_by_attributes(node) || (dtype != AMP_FLOAT && dtype != AMP_BFLOAT16) ||
        !amp_uses_only(model, uses, node->outputs[0], &use))
        return;
    const struct amp_node *product = amp_node_at(model, use.node);
    if (amp_node_has_role(product, AMP_ROLE_MATMUL) &&
        amp_value_at(model, product->outputs[0])->rank >=
            amp_value_at(model, node->outputs[0])->rank)
        exchange(model, &(struct pair){id, slot, use.node, use.slot}, product->outputs[0]);
}

void amp_reshapes_move(struct amp_model *model)
{
    struct amp_uses uses = amp_uses_create(model);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (node->is_removed)
            continue;
        if (amp_node_has_role(node, AMP_ROLE_RESHAPE))
            move_reshape(model, &uses, id);
        else if (amp_node_has_role(node, AMP_ROLE_MUL) || amp_node_has_role(node, AMP_ROLE_DIV))
            move_factor(model, &uses, id);
    }
    amp_uses_destroy(&uses);
}

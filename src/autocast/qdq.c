/*
 * The groups of quantized models in QDQ form: a node between DequantizeLinear and QuantizeLinear.
 * Takes the graph as it was read; decides nothing: assign.c keeps the types of such nodes.
 */
#include "autocast/qdq.h"

#include "core/graph/uses.h"
#include "ops/op.h"

#include <string.h>

/* Whether NODE has ROLE as an operator of ai.onnx, or of com.microsoft, which had it for more types
   first. */
static bool has_role(const struct amp_node *node, enum amp_role role)
{
    if (node->domain[0] != '\0' && strcmp(node->domain, "com.microsoft") != 0)
        return false;
    return amp_op_name_has_role(node->op_type, role);
}

static bool is_dequantized(const struct amp_model *model, uint32_t value_id)
{
    uint32_t producer = amp_value_at(model, value_id)->producer;
    return producer != AMP_NONE &&
           has_role(amp_node_at(model, producer), AMP_ROLE_DEQUANTIZE_LINEAR);
}

static bool is_quantized(const struct amp_model *model, const struct amp_uses *uses,
                         uint32_t value_id)
{
    uint32_t first = uses->first[value_id], end = uses->first[value_id + 1];
    if (first == end || amp_value_at(model, value_id)->is_output)
        return false;
    for (uint32_t u = first; u < end; u++)
        if (uses->items[u].slot != 0 ||
            !has_role(amp_node_at(model, uses->items[u].node), AMP_ROLE_QUANTIZE_LINEAR))
            return false;
    return true;
}

static bool is_float(const struct amp_model *model, uint32_t value_id)
{
    return value_id != AMP_NONE && amp_dtype_is_autocast(amp_value_at(model, value_id)->dtype);
}

bool amp_qdq_holds(const struct amp_model *model, const struct amp_uses *uses,
                   const struct amp_node *node)
{
    bool has_float = false;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (!is_float(model, node->inputs[i]))
            continue;
        if (!is_dequantized(model, node->inputs[i]))
            return false;
        has_float = true;
    }
    for (uint32_t i = 0; i < node->n_outputs && has_float; i++)
        if (node->outputs[i] != AMP_NONE && !is_quantized(model, uses, node->outputs[i]))
            return false;
    return has_float;
}

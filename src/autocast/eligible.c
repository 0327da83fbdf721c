/*
 * Tells the nodes that rules may give a dtype from those that keep their types whatever the rules
 * say, and why. Takes the operators' type rules as the schema table has them.
 */
#include "autocast/eligible.h"

#include "autocast/custom.h"
#include "autocast/notes.h"
#include "core/graph/uses.h"
#include "core/tensor.h"
#include "onnx/schema/infer.h"
#include "ops/op.h"

#include <string.h>

bool amp_schema_type_is_float(const struct amp_schema_type *type)
{
    return type->name != NULL && (type->tensors & AMP_DTYPE_BIT(AMP_FLOAT)) != 0;
}

const struct amp_schema *amp_schema_at_cap(const struct amp_node *node, int cap)
{
    if (strcmp(node->schema->domain, "") != 0)
        return node->schema;
    const struct amp_schema *schema = amp_schema_find("", node->op_type, cap);
    return schema == NULL || schema->deprecated ? node->schema : schema;
}

/* The first input of type variable TYPE; AMP_NONE when there is none. */
static uint32_t input_of(const struct amp_node *node, const struct amp_schema *schema, int type)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (amp_schema_shares(schema, type, param) && node->inputs[i] != AMP_NONE)
            return node->inputs[i];
    }
    return AMP_NONE;
}

/* The type variable that the node's precision is about: its first output's where inputs share it,
   else that of the first input with float data, unless it might be an optional, whose element the
   output then is without sharing the variable. -1: none. */
static int main_type(const struct amp_model *model, const struct amp_node *node,
                     const struct amp_schema *schema)
{
    const struct amp_schema_param *output = amp_schema_output(schema, 0);
    if (output != NULL && amp_schema_type_is_float(amp_schema_type(schema, output)) &&
        input_of(node, schema, output->type) != AMP_NONE)
        return output->type;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *input = amp_schema_input(schema, i);
        if (input == NULL || node->inputs[i] == AMP_NONE)
            continue;
        enum amp_dtype dtype = amp_value_at(model, node->inputs[i])->dtype;
        const struct amp_schema_type *type = amp_schema_type(schema, input);
        if (amp_schema_type_is_float(type) && !type->optionals && amp_dtype_is_autocast(dtype))
            return input->type;
    }
    return -1;
}

bool amp_node_is_like(const struct amp_model *model, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return amp_model_is_by_torch(model) && op != NULL && op->effect == AMP_OPAQUE &&
           op->dtype_attr != NULL && op->dtype_attr->fallback == AMP_UNDEFINED &&
           op->shape == amp_shape_same && node->n_inputs == 1 &&
           amp_node_attr(node, op->dtype_attr->name) != NULL;
}

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

/* Whether NODE, which has a float input, is an integer operator written in floats (QDQ form): all
   its float inputs come from DequantizeLinear, all its outputs go to QuantizeLinear. Runtimes
   compute such a node in integers when they find it so; casts in between would keep them from it.
   USES are the model's. */
static bool is_in_integers(const struct amp_model *model, const struct amp_uses *uses,
                           const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (is_float(model, node->inputs[i]) && !is_dequantized(model, node->inputs[i]))
            return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && !is_quantized(model, uses, node->outputs[i]))
            return false;
    return true;
}

static bool has_explicit_dtype(const struct amp_node *node)
{
    return amp_infer_names_dtype(node) || amp_node_has_role(node, AMP_ROLE_CONSTANT);
}

/* Attributes that hold data of the node's type (the thresholds of TreeEnsemble) keep it what it is.
 */
static bool has_float_attribute(const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_attrs; i++) {
        const struct amp_attr *attr = &node->attrs[i];
        if (attr->type == AMP_ATTR_TENSOR && attr->count == 1 &&
            amp_dtype_is_autocast(attr->tensors[0]->dtype))
            return true;
    }
    return false;
}

/* Sequences, optionals and maps keep the element types that they were declared with. */
static bool gives_no_tensor(const struct amp_model *model, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE) {
            enum amp_kind kind = amp_value_at(model, node->outputs[i])->kind;
            if (kind != AMP_KIND_TENSOR && kind != AMP_KIND_UNKNOWN)
                return true;
        }
    return false;
}

/* Why a node without a float type variable keeps its types: it may take float32 all the same. */
static enum amp_reason reason_of_fixed(const struct amp_model *model, const struct amp_node *node)
{
    enum amp_reason reason = AMP_REASON_NOT_FLOAT;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE)
            continue;
        const struct amp_value *value = amp_value_at(model, node->inputs[i]);
        if (value->kind != AMP_KIND_TENSOR && value->kind != AMP_KIND_UNKNOWN)
            return AMP_REASON_NOT_TENSOR;
        if (value->dtype == AMP_FLOAT)
            reason = AMP_REASON_NO_LOWER_TYPE;
    }
    return reason;
}

/* Why a node whose data of the main type is VALUE (NULL: it has no main type) keeps its types. */
static enum amp_reason reason_of_type(const struct amp_model *model, const struct amp_node *node,
                                      const struct amp_value *value)
{
    if (value == NULL)
        return reason_of_fixed(model, node);
    if (value->dtype == AMP_UNDEFINED)
        return AMP_REASON_UNKNOWN_TYPE;
    return value->dtype == AMP_DOUBLE ? AMP_REASON_DOUBLE : AMP_REASON_NOT_FLOAT;
}

/* Whether an input of type variable TYPE, or any output, has a dtype that nothing tells. */
static bool has_unknown(const struct amp_model *model, const struct amp_node *node,
                        const struct amp_schema *schema, int type)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (amp_schema_shares(schema, type, param) && node->inputs[i] != AMP_NONE &&
            amp_value_at(model, node->inputs[i])->dtype == AMP_UNDEFINED)
            return true;
    }
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            amp_value_at(model, node->outputs[i])->dtype == AMP_UNDEFINED)
            return true;
    return false;
}

bool amp_node_is_eligible(const struct amp_eligibility *eligibility, const struct amp_node *node,
                          struct amp_decision *decision)
{
    const struct amp_model *model = eligibility->model;
    if (node->schema == NULL)
        return amp_custom_is_eligible(model, node, decision);
    if (amp_node_has_bodies(node)) {
        decision->reason = AMP_REASON_CONTROL_FLOW;
        return false;
    }
    if (has_explicit_dtype(node)) {
        decision->reason = AMP_REASON_EXPLICIT_DTYPE;
        return false;
    }
    if (!eligibility->gives_sequence && gives_no_tensor(model, node)) {
        decision->reason = AMP_REASON_NOT_TENSOR;
        return false;
    }
    const struct amp_schema *schema = amp_schema_at_cap(node, eligibility->cap);
    decision->type = main_type(model, node, schema);
    uint32_t input = decision->type < 0 ? AMP_NONE : input_of(node, schema, decision->type);
    const struct amp_value *value = input == AMP_NONE ? NULL : amp_value_at(model, input);
    if (value == NULL || value->kind != AMP_KIND_TENSOR || !amp_dtype_is_autocast(value->dtype)) {
        decision->reason = reason_of_type(model, node, value);
        if (decision->reason == AMP_REASON_NO_LOWER_TYPE)
            decision->dtype = AMP_FLOAT;
        return false;
    }
    if (has_unknown(model, node, schema, decision->type)) {
        decision->reason = AMP_REASON_UNKNOWN_TYPE;
        return false;
    }
    if (has_float_attribute(node)) {
        decision->reason = AMP_REASON_EXPLICIT_DTYPE;
        decision->dtype = value->dtype;
        return false;
    }
    if (is_in_integers(model, eligibility->uses, node)) {
        decision->reason = AMP_REASON_QUANTIZED;
        decision->dtype = value->dtype;
        return false;
    }
    return true;
}

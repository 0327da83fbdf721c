/*
 * What keeps nodes from the lower dtype in the runtimes that the model is for. Takes nodes, their
 * decisions and the runtimes' tables; decides nothing.
 */
#include "autocast/runtimes/lacking.h"

#include "onnx/schema/schema.h"

#include <string.h>

static const struct amp_runtime *first_without(const struct amp_runtimes *runtimes,
                                               const struct amp_schema *schema,
                                               const struct amp_schema_param *param,
                                               enum amp_dtype dtype)
{
    const char *variable = param == NULL ? NULL : amp_schema_type(schema, param)->name;
    for (size_t i = 0; i < runtimes->count; i++)
        if (!amp_runtime_has(runtimes->items[i], schema, variable, dtype))
            return runtimes->items[i];
    return NULL;
}

bool amp_runtimes_have(const struct amp_runtimes *runtimes, const struct amp_schema *schema,
                       enum amp_dtype dtype)
{
    return first_without(runtimes, schema, amp_schema_input(schema, 0), dtype) == NULL &&
           first_without(runtimes, schema, amp_schema_output(schema, 0), dtype) == NULL;
}

/* Whether a value that has the decision's type variable is of its dtype in the model already. */
static bool was_lower(const struct amp_types *types, const struct amp_node *node,
                      const struct amp_decision *decision)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t id = amp_typed_input(types, node, decision->type, i);
        if (id != AMP_NONE && amp_value_at(types->model, id)->dtype == decision->dtype)
            return true;
    }
    return false;
}

/* Whether the dtype is among those that SCHEMA allows for what is of the decision's variable: not
   of nodes that are made others (forms/). */
static bool is_allowed(const struct amp_types *types, const struct amp_node *node,
                       const struct amp_decision *decision, const struct amp_schema *schema)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (amp_typed_input(types, node, decision->type, i) != AMP_NONE &&
            (param == NULL ||
             (amp_schema_type(schema, param)->tensors & AMP_DTYPE_BIT(decision->dtype)) == 0))
            return false;
    }
    return true;
}

/* The runtime that lacks NODE with SCHEMA, the definition that counts at some opset. */
static const struct amp_runtime *lacking_at(const struct amp_runtimes *runtimes,
                                            const struct amp_types *types,
                                            const struct amp_node *node,
                                            const struct amp_decision *decision,
                                            const struct amp_schema *schema)
{
    const struct amp_runtime *found =
        is_allowed(types, node, decision, schema) ? NULL : runtimes->items[0];
    for (uint32_t i = 0; i < node->n_inputs && found == NULL; i++)
        if (amp_typed_input(types, node, decision->type, i) != AMP_NONE)
            found = first_without(runtimes, schema, amp_schema_input(schema, i), decision->dtype);
    for (uint32_t i = 0; i < node->n_outputs && found == NULL; i++)
        if (amp_typed_output(types, node, decision->type, i) != AMP_NONE)
            found = first_without(runtimes, schema, amp_schema_output(schema, i), decision->dtype);
    return found;
}

/* The newest opset that all RUNTIMES read. */
static int newest_opset(const struct amp_runtimes *runtimes)
{
    int newest = amp_schema_released_opset();
    for (size_t i = 0; i < runtimes->count; i++)
        if (amp_runtime_opset(runtimes->items[i]) < newest)
            newest = amp_runtime_opset(runtimes->items[i]);
    return newest;
}

/* The definition of NODE at OPSET of ai.onnx. */
static const struct amp_schema *schema_at(const struct amp_node *node, int opset)
{
    bool is_onnx = node->domain[0] == '\0';
    const struct amp_schema *schema =
        is_onnx ? amp_schema_find("", node->op_type, opset) : node->schema;
    return schema == NULL || schema->deprecated ? node->schema : schema;
}

const struct amp_runtime *amp_lacking_runtime(const struct amp_runtimes *runtimes,
                                              const struct amp_types *types,
                                              const struct amp_node *node,
                                              const struct amp_decision *decision, int *opset)
{
    const struct amp_runtime *found = NULL;
    int last = newest_opset(runtimes);
    if (runtimes->count == 0 || was_lower(types, node, decision) ||
        (*opset > last && *opset > types->cap))
        return NULL;
    if (node->schema == NULL)
        return runtimes->items[0];
    for (int at = *opset; at == *opset || at <= last; at++) {
        const struct amp_runtime *lacking =
            lacking_at(runtimes, types, node, decision, schema_at(node, at));
        const struct amp_schema *cast = amp_schema_find("", "Cast", at);
        if (lacking == NULL && !amp_runtimes_have(runtimes, cast, decision->dtype))
            lacking = runtimes->items[0];
        if (lacking == NULL) {
            *opset = at;
            return NULL;
        }
        found = found == NULL ? lacking : found;
    }
    return found;
}

static bool has_any(const bool *carries, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] != AMP_NONE && carries[ids[i]])
            return true;
    return false;
}

void amp_sequences_restrict(bool *carries, const struct amp_model *model,
                            const struct amp_runtimes *runtimes, enum amp_dtype lower)
{
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct amp_node *node = amp_node_at(model, (uint32_t)n);
        if (node->is_removed || node->schema == NULL ||
            !(has_any(carries, node->inputs, node->n_inputs) ||
              has_any(carries, node->outputs, node->n_outputs)) ||
            amp_runtimes_have(runtimes, node->schema, lower))
            continue;
        memset(carries, 0, model->n_values * sizeof *carries);
        return;
    }
}

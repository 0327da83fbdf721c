/*
 * Holds nodes against the schema table: counts, attributes, dtypes. What it lets through is a model
 * whose nodes are what ONNX says they are; shapes are the business of the operators.
 */
#include "onnx/schema/check.h"

#include "core/array.h"
#include "core/graph/check.h"
#include "onnx/schema/schema.h"

#include <limits.h>
#include <stdio.h>

static enum amp_status fail_count(const struct amp_model *model, uint32_t id, const char *what,
                                  uint32_t found, int min, int max, struct amp_error *err)
{
    char text[512];
    amp_node_text(model, id, text, sizeof text);
    if (min == max)
        return amp_fail(err, AMP_MODEL, "%s: %u %s; %d needed", text, found, what, min);
    if (max == INT_MAX)
        return amp_fail(err, AMP_MODEL, "%s: %u %s; at least %d needed", text, found, what, min);
    return amp_fail(err, AMP_MODEL, "%s: %u %s; %d to %d allowed", text, found, what, min, max);
}

/* The items of a homogeneous list (Concat's, Max's) must be there; those of a heterogeneous one
   have places of their own (Loop's state variables). */
static bool may_be_omitted(const struct amp_schema_param *param)
{
    return param->option == AMP_PARAM_OPTIONAL ||
           (param->option == AMP_PARAM_VARIADIC && !param->homogeneous);
}

static enum amp_status fail_missing(const struct amp_model *model, uint32_t id, const char *what,
                                    uint32_t i, const struct amp_schema_param *param,
                                    struct amp_error *err)
{
    char text[512];
    return amp_fail(err, AMP_MODEL, "%s: %s %u (%s) is missing",
                    amp_node_text(model, id, text, sizeof text), what, i, param->name);
}

static enum amp_status check_inputs(const struct amp_model *model, uint32_t id,
                                    struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_schema *schema = node->schema;
    if ((int64_t)node->n_inputs < schema->min_inputs ||
        (int64_t)node->n_inputs > schema->max_inputs)
        return fail_count(model, id, "inputs", node->n_inputs, schema->min_inputs,
                          schema->max_inputs, err);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == AMP_NONE && !may_be_omitted(amp_schema_input(schema, i)))
            return fail_missing(model, id, "input", i, amp_schema_input(schema, i), err);
    return AMP_OK;
}

/* Outputs of a list that nobody takes may be omitted; required ones must have a name. */
static enum amp_status check_outputs(const struct amp_model *model, uint32_t id,
                                     struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_schema *schema = node->schema;
    if ((int64_t)node->n_outputs < schema->min_outputs ||
        (int64_t)node->n_outputs > schema->max_outputs)
        return fail_count(model, id, "outputs", node->n_outputs, schema->min_outputs,
                          schema->max_outputs, err);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] == AMP_NONE &&
            amp_schema_output(schema, i)->option == AMP_PARAM_SINGLE)
            return fail_missing(model, id, "output", i, amp_schema_output(schema, i), err);
    return AMP_OK;
}

static const char *attr_type_name(int type)
{
    static const char *const names[] = {"undefined",      "a float", "an int", "a string",
                                        "a tensor",       "a graph", "floats", "ints",
                                        "strings",        "tensors", "graphs", "a sparse tensor",
                                        "sparse tensors", "a type",  "types"};
    return type >= 0 && (size_t)type < AMP_COUNT(names) ? names[type] : names[0];
}

static enum amp_status check_attrs(const struct amp_model *model, uint32_t id,
                                   struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_schema *schema = node->schema;
    char text[512];
    for (uint32_t i = 0; i < node->n_attrs; i++) {
        const struct amp_schema_attr *attr = amp_schema_attr(schema, node->attrs[i].name);
        if (attr == NULL)
            return amp_fail(err, AMP_MODEL, "%s: unknown attribute '%s'",
                            amp_node_text(model, id, text, sizeof text), node->attrs[i].name);
        if (attr->type != node->attrs[i].type)
            return amp_fail(err, AMP_MODEL, "%s: attribute '%s' holds %s; %s is needed",
                            amp_node_text(model, id, text, sizeof text), attr->name,
                            attr_type_name((int)node->attrs[i].type), attr_type_name(attr->type));
    }
    for (uint8_t i = 0; i < schema->n_attrs; i++)
        if (schema->attrs[i].required && amp_node_attr(node, schema->attrs[i].name) == NULL)
            return amp_fail(err, AMP_MODEL, "%s: attribute '%s' is missing",
                            amp_node_text(model, id, text, sizeof text), schema->attrs[i].name);
    return AMP_OK;
}

enum amp_status amp_check_node(const struct amp_model *model, uint32_t id, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    if (node->schema == NULL)
        return AMP_OK;
    if (node->schema->deprecated)
        return amp_fail(err, AMP_MODEL, "%s: the operator is deprecated since opset %d",
                        amp_node_text(model, id, text, sizeof text), node->schema->since_version);
    AMP_TRY(check_inputs(model, id, err));
    AMP_TRY(check_outputs(model, id, err));
    return check_attrs(model, id, err);
}

enum amp_status amp_check_forgive(struct amp_model *model, uint32_t id, struct amp_error *err)
{
    struct amp_node *node = amp_node_at(model, id);
    if (err->status == AMP_OK || !amp_schema_is_partial(node->domain))
        return err->status;
    node->schema = NULL;
    node->since_version = 0;
    *err = (struct amp_error){.status = AMP_OK};
    return AMP_OK;
}

/* The dtypes that TYPE allows for a value of this kind. */
static uint32_t allowed(const struct amp_schema_type *type, enum amp_kind kind)
{
    switch (kind) {
    case AMP_KIND_TENSOR:
        return type->tensors;
    case AMP_KIND_SEQUENCE:
        return type->sequences;
    case AMP_KIND_OPTIONAL:
        return type->optionals;
    case AMP_KIND_OPTIONAL_SEQUENCE:
        return type->optional_sequences;
    case AMP_KIND_UNKNOWN:
    case AMP_KIND_SPARSE_TENSOR:
    case AMP_KIND_MAP:
    case AMP_KIND_MAP_SEQUENCE:
        break;
    }
    return UINT32_MAX;
}

static void list_dtypes(uint32_t mask, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 1; d < AMP_DTYPE_COUNT && used < size; d++)
        if (mask & AMP_DTYPE_BIT(d))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     amp_dtype_name((enum amp_dtype)d));
}

static const char *list_kinds(const struct amp_schema_type *type, char *text, size_t size)
{
    static const enum amp_kind kinds[] = {AMP_KIND_TENSOR, AMP_KIND_SEQUENCE, AMP_KIND_OPTIONAL,
                                          AMP_KIND_OPTIONAL_SEQUENCE};
    size_t used = (size_t)snprintf(text, size, "%s", type->has_maps ? "map" : "");
    for (size_t i = 0; i < AMP_COUNT(kinds) && used < size; i++)
        if (allowed(type, kinds[i]) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     amp_kind_name(kinds[i]));
    return text;
}

/* One input or output: its dtype against what the variable allows and against what other parameters
   bound the variable to. */
static enum amp_status check_dtype(const struct amp_model *model, uint32_t id, const char *what,
                                   uint32_t i, const struct amp_schema_param *param,
                                   enum amp_dtype *bound, uint32_t value_id, struct amp_error *err)
{
    const struct amp_schema *schema = amp_node_at(model, id)->schema;
    const struct amp_value *value = amp_value_at(model, value_id);
    const struct amp_schema_type *type = amp_schema_type(schema, param);
    char text[512], list[512];
    if (value->dtype == AMP_UNDEFINED)
        return AMP_OK;
    if (allowed(type, value->kind) == 0)
        return amp_fail(err, AMP_MODEL, "%s, %s %u ('%s'): its type is %s; allowed: %s",
                        amp_node_text(model, id, text, sizeof text), what, i, value->name,
                        amp_kind_name(value->kind), list_kinds(type, list, sizeof list));
    if (!(allowed(type, value->kind) & AMP_DTYPE_BIT(value->dtype))) {
        list_dtypes(allowed(type, value->kind), list, sizeof list);
        return amp_fail(err, AMP_MODEL, "%s, %s %u ('%s'): dtype %s; allowed: %s",
                        amp_node_text(model, id, text, sizeof text), what, i, value->name,
                        amp_dtype_name(value->dtype), list);
    }
    bool is_free =
        type->name == NULL || (param->option == AMP_PARAM_VARIADIC && !param->homogeneous);
    enum amp_dtype *variable = &bound[param->type];
    if (is_free || *variable == AMP_UNDEFINED || *variable == value->dtype) {
        *variable = is_free ? *variable : value->dtype;
        return AMP_OK;
    }
    return amp_fail(err, AMP_MODEL,
                    "%s, %s %u ('%s'): dtype %s; %s needed, as other parameters "
                    "of type %s have it",
                    amp_node_text(model, id, text, sizeof text), what, i, value->name,
                    amp_dtype_name(value->dtype), amp_dtype_name(*variable), type->name);
}

enum amp_status amp_check_types(const struct amp_model *model, uint32_t id, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    enum amp_dtype bound[UINT8_MAX + 1] = {AMP_UNDEFINED};
    if (node->schema == NULL)
        return AMP_OK;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE)
            AMP_TRY(check_dtype(model, id, "input", i, amp_schema_input(node->schema, i), bound,
                                node->inputs[i], err));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            AMP_TRY(check_dtype(model, id, "output", i, amp_schema_output(node->schema, i), bound,
                                node->outputs[i], err));
    return AMP_OK;
}

enum amp_status amp_check_model(const struct amp_model *model, struct amp_error *err)
{
    AMP_TRY(amp_graph_check(model, err));
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (amp_node_at(model, id)->is_removed)
            continue;
        AMP_TRY(amp_check_node(model, id, err));
        AMP_TRY(amp_check_types(model, id, err));
    }
    return AMP_OK;
}

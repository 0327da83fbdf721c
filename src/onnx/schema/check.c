/*
 * Checks nodes against the schema table: how many inputs and outputs, attributes, dtypes. What
 * passes is a model whose nodes are what ONNX says they are. Does not check shapes, which the
 * operators do, nor nodes of operators that the table does not know.
 */
#include "onnx/schema/check.h"

#include "core/array.h"
#include "core/graph/check.h"
#include "onnx/schema/schema.h"

#include <limits.h>
#include <stdio.h>

/* The inputs or the outputs of a node. */
struct side {
    const struct amp_model *model;
    uint32_t node;
    const struct amp_schema *schema; /* the node's, or a newer version of its operator */
    const char *what;                /* "input" or "output" */
    const uint32_t *values;          /* AMP_NONE: left out */
    uint32_t count;
    int min, max; /* how many the schema allows */
    const struct amp_schema_param *(*param)(const struct amp_schema *schema, size_t i);
    bool (*is_needed)(const struct amp_schema_param *param); /* may not be left out */
};

/* The items of a homogeneous list (Concat's, Max's) must be there; those of a heterogeneous one
   have places of their own (Loop's state variables). */
static bool is_needed_input(const struct amp_schema_param *param)
{
    return param->option == AMP_PARAM_SINGLE ||
           (param->option == AMP_PARAM_VARIADIC && param->homogeneous);
}

/* Outputs of a list that nobody takes may be left out; required ones must have a name. */
static bool is_needed_output(const struct amp_schema_param *param)
{
    return param->option == AMP_PARAM_SINGLE;
}

static struct side inputs_of(const struct amp_model *model, uint32_t id,
                             const struct amp_schema *schema)
{
    const struct amp_node *node = amp_node_at(model, id);
    return (struct side){.model = model,
                         .node = id,
                         .schema = schema,
                         .what = "input",
                         .values = node->inputs,
                         .count = node->n_inputs,
                         .min = schema->min_inputs,
                         .max = schema->max_inputs,
                         .param = amp_schema_input,
                         .is_needed = is_needed_input};
}

static struct side outputs_of(const struct amp_model *model, uint32_t id,
                              const struct amp_schema *schema)
{
    const struct amp_node *node = amp_node_at(model, id);
    return (struct side){.model = model,
                         .node = id,
                         .schema = schema,
                         .what = "output",
                         .values = node->outputs,
                         .count = node->n_outputs,
                         .min = schema->min_outputs,
                         .max = schema->max_outputs,
                         .param = amp_schema_output,
                         .is_needed = is_needed_output};
}

static enum amp_status check_count(const struct side *side, struct amp_error *err)
{
    char text[512];
    if ((int64_t)side->count >= side->min && (int64_t)side->count <= side->max)
        return AMP_OK;
    amp_node_text(side->model, side->node, text, sizeof text);
    if (side->min == side->max)
        return amp_fail(err, AMP_MODEL, "%s: %u %ss; %d needed", text, side->count, side->what,
                        side->min);
    if (side->max == INT_MAX)
        return amp_fail(err, AMP_MODEL, "%s: %u %ss; at least %d needed", text, side->count,
                        side->what, side->min);
    return amp_fail(err, AMP_MODEL, "%s: %u %ss; %d to %d allowed", text, side->count, side->what,
                    side->min, side->max);
}

/* How many there are, and that none is left out which is needed. */
static enum amp_status check_side(const struct side *side, struct amp_error *err)
{
    char text[512];
    AMP_TRY(check_count(side, err));
    for (uint32_t i = 0; i < side->count; i++) {
        const struct amp_schema_param *param = side->param(side->schema, i);
        if (side->values[i] == AMP_NONE && side->is_needed(param))
            return amp_fail(err, AMP_MODEL, "%s: %s %u (%s) is missing",
                            amp_node_text(side->model, side->node, text, sizeof text), side->what,
                            i, param->name);
    }
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
    struct side inputs = inputs_of(model, id, node->schema);
    struct side outputs = outputs_of(model, id, node->schema);
    AMP_TRY(check_side(&inputs, err));
    AMP_TRY(check_side(&outputs, err));
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

/* Writes the names of the dtypes in MASK. */
static void list_dtypes(uint32_t mask, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 1; d < AMP_DTYPE_COUNT && used < size; d++)
        if (mask & AMP_DTYPE_BIT(d))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     amp_dtype_name((enum amp_dtype)d));
}

/* Writes the kinds of values that TYPE allows. */
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

/* Input or output I: its dtype against what the type variable allows and against what other
   parameters bound the variable to; BOUND has the dtype of each variable, by number. */
static enum amp_status check_dtype(const struct side *side, uint32_t i, enum amp_dtype *bound,
                                   struct amp_error *err)
{
    const struct amp_schema_param *param = side->param(side->schema, i);
    const struct amp_value *value = amp_value_at(side->model, side->values[i]);
    const struct amp_schema_type *type = amp_schema_type(side->schema, param);
    char text[512], list[512];
    if (value->dtype == AMP_UNDEFINED)
        return AMP_OK;
    if (allowed(type, value->kind) == 0)
        return amp_fail(err, AMP_MODEL, "%s, %s %u ('%s'): its type is %s; allowed: %s",
                        amp_node_text(side->model, side->node, text, sizeof text), side->what, i,
                        value->name, amp_kind_name(value->kind),
                        list_kinds(type, list, sizeof list));
    if (!(allowed(type, value->kind) & AMP_DTYPE_BIT(value->dtype))) {
        list_dtypes(allowed(type, value->kind), list, sizeof list);
        return amp_fail(err, AMP_MODEL, "%s, %s %u ('%s'): dtype %s; allowed: %s",
                        amp_node_text(side->model, side->node, text, sizeof text), side->what, i,
                        value->name, amp_dtype_name(value->dtype), list);
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
                    amp_node_text(side->model, side->node, text, sizeof text), side->what, i,
                    value->name, amp_dtype_name(value->dtype), amp_dtype_name(*variable),
                    type->name);
}

/* The dtypes of node ID's inputs and outputs against SCHEMA, which has as many. */
static enum amp_status check_types_by(const struct amp_model *model, uint32_t id,
                                      const struct amp_schema *schema, struct amp_error *err)
{
    enum amp_dtype bound[UINT8_MAX + 1] = {AMP_UNDEFINED};
    const struct side sides[] = {inputs_of(model, id, schema), outputs_of(model, id, schema)};
    for (size_t s = 0; s < AMP_COUNT(sides); s++)
        for (uint32_t i = 0; i < sides[s].count; i++)
            if (sides[s].values[i] != AMP_NONE)
                AMP_TRY(check_dtype(&sides[s], i, bound, err));
    return AMP_OK;
}

/* The next version of node ID's operator whose type rules it obeys; NULL: there is none. */
static const struct amp_schema *newer_for_types(const struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_schema *newer = amp_schema_next(node->schema);
    for (; newer != NULL && !newer->deprecated; newer = amp_schema_next(newer)) {
        struct amp_error ignored = {.status = AMP_OK};
        bool has_all = (int64_t)node->n_inputs <= newer->max_inputs &&
                       (int64_t)node->n_outputs <= newer->max_outputs;
        if (has_all && check_types_by(model, id, newer, &ignored) == AMP_OK)
            return newer;
    }
    return NULL;
}

enum amp_status amp_check_types(const struct amp_model *model, uint32_t id, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    if (node->schema == NULL || (node->has_newer_types && newer_for_types(model, id) != NULL))
        return AMP_OK;
    return check_types_by(model, id, node->schema, err);
}

enum amp_status amp_check_forgive_types(struct amp_model *model, uint32_t id, struct amp_error *err)
{
    if (newer_for_types(model, id) == NULL)
        return amp_check_forgive(model, id, err);
    amp_node_at(model, id)->has_newer_types = true;
    *err = (struct amp_error){.status = AMP_OK};
    return AMP_OK;
}

size_t amp_check_newer_types(const struct amp_model *model, char *text, size_t size)
{
    size_t count = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        struct amp_error found = {.status = AMP_OK};
        if (!node->has_newer_types || node->is_removed ||
            check_types_by(model, id, node->schema, &found) == AMP_OK)
            continue;
        if (count++ == 0)
            snprintf(text, size, "%s; version %d allows it", found.text,
                     newer_for_types(model, id)->since_version);
    }
    return count;
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

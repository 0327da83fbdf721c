/*
 * Decides in which dtype each node runs. Takes the rules' wishes and the operators' type
 * constraints and walks the graphs in topological order, because an unlisted node follows what its
 * inputs have become. Inserts nothing: cast_insert.c carries the decisions out.
 */
#include "autocast/assign.h"

#include "autocast/weights.h"
#include "onnx/infer.h"
#include "onnx/schema.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} reasons[AMP_REASON_COUNT] = {
    [AMP_REASON_RULE] = {"rule", "a rule matched"},
    [AMP_REASON_UNLISTED] = {"unlisted", "no rule matched: runs in its inputs' type"},
    [AMP_REASON_NOT_FLOAT] = {"not-float", "no float data"},
    [AMP_REASON_UNKNOWN_TYPE] = {"unknown-type", "nothing says the type of its data"},
    [AMP_REASON_NOT_TENSOR] = {"not-tensor", "its data are sequences, optionals or maps"},
    [AMP_REASON_DOUBLE] = {"float64", "float64 is not eligible"},
    [AMP_REASON_EXPLICIT_DTYPE] = {"explicit-dtype", "an attribute says its type"},
    [AMP_REASON_CONTROL_FLOW] = {"control-flow", "its bodies decide for themselves"},
    [AMP_REASON_UNKNOWN_OP] = {"unknown-op", "unknown operator: float32 at its edges"},
    [AMP_REASON_NO_LOWER_TYPE] = {"no-lower-type", "the operator does not take the lower type"},
    [AMP_REASON_OPSET] = {"opset", "needs a newer opset than the model can have"},
    [AMP_REASON_WEIGHT_RANGE] = {"weight-range", "a constant is beyond the lower type's range"},
};

const char *amp_reason_name(enum amp_reason reason)
{
    return reasons[reason].name;
}

const char *amp_reason_text(enum amp_reason reason)
{
    return reasons[reason].text;
}

struct pass {
    const struct amp_model *model;
    const struct amp_rules *rules;
    int cap, cast_opset; /* the first opset at which Cast takes the lower dtype */
    struct amp_assignment *result;
    double *weight_max; /* per value id; below 0: not looked at yet */
    bool *is_static;    /* per value id: depends on constants alone */
    uint32_t *order;    /* node ids as they were decided: producers first */
    size_t n_order;
};

static bool is_float_variable(const struct amp_schema_type *type)
{
    return type->name != NULL && (type->tensors & AMP_DTYPE_BIT(AMP_FLOAT)) != 0;
}

/* The node's definition at the newest opset in reach: types only grow, and it is there that a newer
   operator separates what may be cast from what may not (BatchNormalization's statistics). */
static const struct amp_schema *schema_in_reach(const struct pass *pass,
                                                const struct amp_node *node)
{
    if (strcmp(node->schema->domain, "") != 0)
        return node->schema;
    const struct amp_schema *schema = amp_schema_find("", node->op_type, pass->cap);
    return schema == NULL || schema->deprecated ? node->schema : schema;
}

/* The first input of type variable TYPE; AMP_NONE when there is none. */
static uint32_t input_of(const struct amp_node *node, const struct amp_schema *schema, int type)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (param != NULL && param->type == type && node->inputs[i] != AMP_NONE)
            return node->inputs[i];
    }
    return AMP_NONE;
}

/* The type variable that the node's precision is about: its first output's where inputs share it,
   else that of the first input with float data. -1: none. */
static int main_type(const struct pass *pass, const struct amp_node *node,
                     const struct amp_schema *schema)
{
    const struct amp_schema_param *output = amp_schema_output(schema, 0);
    if (output != NULL && is_float_variable(amp_schema_type(schema, output)) &&
        input_of(node, schema, output->type) != AMP_NONE)
        return output->type;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *input = amp_schema_input(schema, i);
        if (input == NULL || node->inputs[i] == AMP_NONE)
            continue;
        enum amp_dtype dtype = amp_value_at(pass->model, node->inputs[i])->dtype;
        if (is_float_variable(amp_schema_type(schema, input)) && amp_dtype_is_autocast(dtype))
            return input->type;
    }
    return -1;
}

static bool is_control_flow(const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_attrs; i++)
        if (amp_attr_graph_count(&node->attrs[i]) > 0)
            return true;
    return false;
}

static bool has_explicit_dtype(const struct amp_node *node)
{
    return amp_names_dtype(node) || amp_node_is(node, "", "Constant") ||
           amp_node_is(node, "", "CastLike");
}

/* Sequences, optionals and maps keep the element types that they were declared with. */
static bool gives_no_tensor(const struct pass *pass, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE) {
            enum amp_kind kind = amp_value_at(pass->model, node->outputs[i])->kind;
            if (kind != AMP_KIND_TENSOR && kind != AMP_KIND_UNKNOWN)
                return true;
        }
    return false;
}

/* Why a node without a float type variable keeps its types: it may take float32 all the same. */
static enum amp_reason reason_of_fixed(const struct pass *pass, const struct amp_node *node)
{
    enum amp_reason reason = AMP_REASON_NOT_FLOAT;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE)
            continue;
        const struct amp_value *value = amp_value_at(pass->model, node->inputs[i]);
        if (value->kind != AMP_KIND_TENSOR && value->kind != AMP_KIND_UNKNOWN)
            return AMP_REASON_NOT_TENSOR;
        if (value->dtype == AMP_FLOAT)
            reason = AMP_REASON_NO_LOWER_TYPE;
    }
    return reason;
}

/* Why a node whose data of the main type is VALUE (NULL: it has no main type) keeps its types. */
static enum amp_reason reason_of_type(const struct pass *pass, const struct amp_node *node,
                                      const struct amp_value *value)
{
    if (value == NULL)
        return reason_of_fixed(pass, node);
    if (value->dtype == AMP_UNDEFINED)
        return AMP_REASON_UNKNOWN_TYPE;
    return value->dtype == AMP_DOUBLE ? AMP_REASON_DOUBLE : AMP_REASON_NOT_FLOAT;
}

/* Whether an input of type variable TYPE has a dtype that nothing tells. */
static bool has_unknown_input(const struct pass *pass, const struct amp_node *node,
                              const struct amp_schema *schema, int type)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (param != NULL && param->type == type && node->inputs[i] != AMP_NONE &&
            amp_value_at(pass->model, node->inputs[i])->dtype == AMP_UNDEFINED)
            return true;
    }
    return false;
}

/* Whether the node keeps its types whatever the rules say, and why. */
static bool is_ineligible(const struct pass *pass, const struct amp_node *node,
                          struct amp_decision *decision)
{
    if (node->schema == NULL) {
        decision->reason = AMP_REASON_UNKNOWN_OP;
        return true;
    }
    if (is_control_flow(node)) {
        decision->reason = AMP_REASON_CONTROL_FLOW;
        return true;
    }
    if (has_explicit_dtype(node)) {
        decision->reason = AMP_REASON_EXPLICIT_DTYPE;
        return true;
    }
    if (gives_no_tensor(pass, node)) {
        decision->reason = AMP_REASON_NOT_TENSOR;
        return true;
    }
    const struct amp_schema *schema = schema_in_reach(pass, node);
    decision->type = main_type(pass, node, schema);
    uint32_t input = decision->type < 0 ? AMP_NONE : input_of(node, schema, decision->type);
    const struct amp_value *value = input == AMP_NONE ? NULL : amp_value_at(pass->model, input);
    if (value == NULL || value->kind != AMP_KIND_TENSOR || !amp_dtype_is_autocast(value->dtype)) {
        decision->reason = reason_of_type(pass, node, value);
        if (decision->reason == AMP_REASON_NO_LOWER_TYPE)
            decision->dtype = AMP_FLOAT;
        return true;
    }
    if (has_unknown_input(pass, node, schema, decision->type)) {
        decision->reason = AMP_REASON_UNKNOWN_TYPE;
        return true;
    }
    return false;
}

/* The dtype that the node's inputs of its main type promote to; what depends on constants alone
   counts only where WITH_CONSTANTS says so or nothing else is there. */
static enum amp_dtype promoted(const struct pass *pass, const struct amp_node *node, int type,
                               bool with_constants)
{
    const struct amp_schema *schema = schema_in_reach(pass, node);
    enum amp_dtype all = AMP_UNDEFINED, live = AMP_UNDEFINED;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        uint32_t id = node->inputs[i];
        if (param == NULL || param->type != type || id == AMP_NONE)
            continue;
        enum amp_dtype dtype = pass->result->values[id];
        all = all == AMP_UNDEFINED ? dtype : amp_dtype_promote(all, dtype);
        if (!pass->is_static[id])
            live = live == AMP_UNDEFINED ? dtype : amp_dtype_promote(live, dtype);
    }
    return with_constants || live == AMP_UNDEFINED ? all : live;
}

static enum amp_dtype wished_dtype(const struct pass *pass, const struct amp_node *node,
                                   const struct amp_decision *decision)
{
    switch (decision->wish) {
    case AMP_LOWER:
        return pass->result->lower;
    case AMP_FP32:
        return AMP_FLOAT;
    case AMP_WIDEST:
        return promoted(pass, node, decision->type, true);
    case AMP_FOLLOW:
    case AMP_PRECISION_COUNT:
        break;
    }
    return promoted(pass, node, decision->type, false);
}

static bool takes_dtype(const struct amp_schema *schema, const char *variable, enum amp_dtype dtype)
{
    for (uint8_t i = 0; i < schema->n_types; i++)
        if (schema->types[i].name != NULL && strcmp(schema->types[i].name, variable) == 0)
            return (schema->types[i].tensors & AMP_DTYPE_BIT(dtype)) != 0;
    return false;
}

/* The first opset, the model's own or newer, at which the operator takes DTYPE; 0: none. */
static int opset_for(const struct pass *pass, const struct amp_node *node, int type,
                     enum amp_dtype dtype)
{
    const char *variable = schema_in_reach(pass, node)->types[type].name;
    int opset = (int)amp_model_opset(pass->model, node->domain);
    for (const struct amp_schema *s = node->schema; s != NULL; s = amp_schema_next(s))
        if (takes_dtype(s, variable, dtype))
            return s->since_version > opset ? s->since_version : opset;
    return 0;
}

/* The first opset at which Cast takes DTYPE and names it by its number. */
static int cast_opset(enum amp_dtype dtype)
{
    const struct amp_schema *s = amp_schema_find("", "Cast", 1);
    while (!takes_dtype(s, "T1", dtype) || !takes_dtype(s, "T2", dtype) ||
           amp_schema_attr(s, "to")->type != AMP_ATTR_INT)
        s = amp_schema_next(s);
    return s->since_version;
}

static double weight_max(struct pass *pass, uint32_t id)
{
    if (pass->weight_max[id] < 0)
        pass->weight_max[id] = amp_weight_max(amp_value_at(pass->model, id)->constant);
    return pass->weight_max[id];
}

/* The constant that DTYPE cannot hold; AMP_NONE when all fit. */
static uint32_t overflowing_weight(struct pass *pass, const struct amp_node *node, int type,
                                   enum amp_dtype dtype)
{
    const struct amp_schema *schema = schema_in_reach(pass, node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        uint32_t id = node->inputs[i];
        if (param == NULL || param->type != type || id == AMP_NONE)
            continue;
        const struct amp_tensor *constant = amp_value_at(pass->model, id)->constant;
        if (constant == NULL || amp_dtype_is_exact(constant->dtype, dtype))
            continue;
        double max = weight_max(pass, id);
        if (amp_weight_overflows(max, dtype) ||
            max > amp_rules_limits(pass->rules, dtype)->weight_max)
            return id;
    }
    return AMP_NONE;
}

static void keep_float(struct amp_decision *decision, enum amp_reason reason, uint32_t value)
{
    decision->dtype = AMP_FLOAT;
    decision->reason = reason;
    decision->value = value;
}

/* Takes the wish back where the operator, the opset or a constant forbids it. Only a rule's own
   wish raises the opset; what merely follows its inputs takes the opset that is there. */
static void constrain(struct pass *pass, const struct amp_node *node, struct amp_decision *decision)
{
    if (decision->dtype == AMP_FLOAT)
        return;
    int opset = opset_for(pass, node, decision->type, decision->dtype);
    uint32_t weight = overflowing_weight(pass, node, decision->type, decision->dtype);
    if (opset != 0 && opset < pass->cast_opset)
        opset = pass->cast_opset;
    if (opset == 0)
        keep_float(decision, AMP_REASON_NO_LOWER_TYPE, AMP_NONE);
    else if (opset > pass->cap)
        keep_float(decision, AMP_REASON_OPSET, AMP_NONE);
    else if (weight != AMP_NONE)
        keep_float(decision, AMP_REASON_WEIGHT_RANGE, weight);
    else if (decision->wish == AMP_LOWER && opset > pass->result->opset)
        pass->result->opset = opset;
}

static void set_outputs(struct pass *pass, const struct amp_node *node,
                        const struct amp_decision *decision)
{
    const struct amp_schema *schema = schema_in_reach(pass, node);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const struct amp_schema_param *param = amp_schema_output(schema, i);
        if (param != NULL && param->type == decision->type && node->outputs[i] != AMP_NONE)
            pass->result->values[node->outputs[i]] = decision->dtype;
    }
}

/* Whether the node gives the same in every run: ConstantOfShape of a constant, a reshaped weight.
 */
static bool is_static_node(const struct pass *pass, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_find(node->domain, node->op_type);
    bool is_static = op != NULL && op->effect != AMP_OPAQUE && node->n_inputs > 0;
    for (uint32_t i = 0; i < node->n_inputs && is_static; i++)
        is_static = node->inputs[i] == AMP_NONE || pass->is_static[node->inputs[i]];
    return is_static;
}

static void mark_static(struct pass *pass, const struct amp_node *node)
{
    if (!is_static_node(pass, node))
        return;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            pass->is_static[node->outputs[i]] = true;
}

static void decide(struct pass *pass, uint32_t id)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    struct amp_decision *decision = &pass->result->nodes[id];
    *decision = (struct amp_decision){.type = -1, .value = AMP_NONE};
    struct amp_rule_subject subject = amp_rule_subject(pass->model, id);
    decision->rule = amp_rules_match_subject(pass->rules, &subject);
    decision->op = decision->rule ? amp_rule_named_op(decision->rule, &subject) : NULL;
    decision->wish = decision->rule ? decision->rule->precision : pass->rules->unlisted;
    decision->reason = decision->rule ? AMP_REASON_RULE : AMP_REASON_UNLISTED;
    if (is_ineligible(pass, node, decision)) {
        decision->type = -1;
        return;
    }
    decision->dtype = wished_dtype(pass, node, decision);
    pass->order[pass->n_order++] = id;
    constrain(pass, node, decision);
    set_outputs(pass, node, decision);
}

static void assign_graph(struct pass *pass, uint32_t graph)
{
    const struct amp_ids *nodes = &pass->model->graphs[graph].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(pass->model, nodes->items[i]);
        for (uint32_t a = 0; a < node->n_attrs; a++)
            for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
                assign_graph(pass, node->attrs[a].graphs[k]);
        mark_static(pass, node);
        decide(pass, nodes->items[i]);
    }
}

enum amp_dtype amp_assigned_dtype(const struct amp_model *model,
                                  const struct amp_assignment *assignment, uint32_t node_id,
                                  const struct amp_schema *schema, uint32_t i)
{
    const struct amp_decision *decision = &assignment->nodes[node_id];
    const struct amp_schema_param *param = schema ? amp_schema_input(schema, i) : NULL;
    if (decision->dtype != AMP_UNDEFINED && param != NULL && param->type == decision->type)
        return decision->dtype;
    return amp_value_at(model, amp_node_at(model, node_id)->inputs[i])->dtype;
}

/* Whether every use of VALUE wants the lower dtype. */
static bool is_wanted_lower(const struct pass *pass, const struct amp_uses *uses, uint32_t value)
{
    bool is_wanted =
        uses->first[value] < uses->first[value + 1] && !amp_value_at(pass->model, value)->is_output;
    for (uint32_t u = uses->first[value]; u < uses->first[value + 1] && is_wanted; u++) {
        const struct amp_node *user = amp_node_at(pass->model, uses->items[u].node);
        const struct amp_schema *schema = user->schema ? schema_in_reach(pass, user) : NULL;
        is_wanted = amp_assigned_dtype(pass->model, pass->result, uses->items[u].node, schema,
                                       uses->items[u].slot) == pass->result->lower;
    }
    return is_wanted;
}

/* A weight that is reshaped or transposed before its use takes the dtype of its consumers, so that
   it is converted offline and not by a cast behind the reshaping. */
static void lower_static_node(struct pass *pass, const struct amp_uses *uses, uint32_t id)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    const struct amp_op *op = amp_op_find(node->domain, node->op_type);
    struct amp_decision *decision = &pass->result->nodes[id];
    if (decision->wish != AMP_FOLLOW || decision->reason != AMP_REASON_UNLISTED || op == NULL ||
        op->effect != AMP_PRESERVES_VALUES || !is_static_node(pass, node))
        return;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && !is_wanted_lower(pass, uses, node->outputs[i]))
            return;
    decision->dtype = pass->result->lower;
    constrain(pass, node, decision);
    set_outputs(pass, node, decision);
}

static void lower_static_nodes(struct pass *pass)
{
    struct amp_uses uses = amp_uses_create(pass->model);
    for (size_t i = pass->n_order; i > 0; i--)
        lower_static_node(pass, &uses, pass->order[i - 1]);
    amp_uses_destroy(&uses);
}

/* Gives the inputs among the interface their dtype; the outputs are cast_insert.c's. */
static void assign_interface(struct pass *pass, const struct amp_ids *interface)
{
    struct amp_assignment *result = pass->result;
    for (size_t i = 0; i < interface->count; i++) {
        uint32_t id = interface->items[i];
        result->is_interface[id] = true;
        if (amp_value_at(pass->model, id)->is_input)
            result->values[id] = result->lower;
    }
    if (interface->count > 0 && result->opset < pass->cast_opset)
        result->opset = pass->cast_opset;
}

void amp_assign(const struct amp_model *model, const struct amp_assign_options *options,
                struct amp_assignment *assignment)
{
    struct amp_arena *arena = model->arena;
    int opset = (int)amp_model_opset(model, "");
    *assignment = (struct amp_assignment){
        .lower = options->lower,
        .nodes = amp_arena_array(arena, model->n_nodes, sizeof *assignment->nodes),
        .values = amp_arena_array(arena, model->n_values, sizeof *assignment->values),
        .is_interface = amp_arena_array(arena, model->n_values, sizeof(bool)),
        .opset = opset,
        .n_nodes = model->n_nodes};
    struct pass pass = {.model = model,
                        .rules = options->rules,
                        .cap = options->cap > opset ? options->cap : opset,
                        .cast_opset = cast_opset(options->lower),
                        .result = assignment};
    pass.weight_max = amp_xmalloc(model->n_values, sizeof *pass.weight_max);
    pass.is_static = amp_xmalloc(model->n_values, sizeof *pass.is_static);
    for (size_t v = 0; v < model->n_values; v++) {
        assignment->values[v] = amp_value_at(model, (uint32_t)v)->dtype;
        pass.weight_max[v] = -1;
        pass.is_static[v] = amp_value_at(model, (uint32_t)v)->constant != NULL;
    }
    pass.order = amp_xmalloc(model->n_nodes, sizeof *pass.order);
    assign_interface(&pass, &options->interface);
    assign_graph(&pass, 0);
    lower_static_nodes(&pass);
    free(pass.order);
    free(pass.weight_max);
    free(pass.is_static);
}

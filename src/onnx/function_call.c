/*
 * Puts the body of a function in the place of its call: copies of its nodes, with the call's values
 * for the parameters, new names for all else and the call's attributes where the body refers to
 * them. The function itself stays as it is. Data of tensors are shared, not copied.
 */
#include "onnx/function_call.h"

#include <string.h>

/* What the names of a body, or of a graph in it, have become. */
struct scope {
    struct amp_strmap ids;
    const char **names;
    size_t count, capacity;
    const struct scope *outer;
};

/* Where nodes go, with what is known of the types of their outputs. */
struct sink {
    Onnx__NodeProto **nodes;
    size_t n_nodes, nodes_capacity;
    Onnx__ValueInfoProto **infos;
    size_t n_infos, infos_capacity;
};

/* One call while it is inlined. */
struct body {
    struct amp_functions *functions;
    const struct amp_function *function;
    const Onnx__NodeProto *call;
    const char *prefix; /* of new names */
};

static enum amp_status put_node(struct amp_functions *functions, const struct amp_function *caller,
                                Onnx__NodeProto *node, struct sink *sink);
static enum amp_status copy_graph(const struct body *body, const struct scope *outer,
                                  Onnx__GraphProto **graph);

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static enum amp_status fail_name(const struct body *body, const char *name, const char *what)
{
    return amp_fail(body->functions->err, AMP_MODEL, "call '%s' of function '%s': value '%s' %s",
                    body->prefix, body->function->text, name, what);
}

/* PREFIX/NAME, with a number behind it when that is TAKEN. */
static char *new_name(const struct body *body, struct amp_strmap *taken, const char *name)
{
    struct amp_arena *arena = body->functions->arena;
    char *base = amp_arena_printf(arena, "%s/%s", body->prefix, name), *text = base;
    uint32_t number = 0;
    if (amp_strmap_get(taken, base, &number))
        do
            text = amp_arena_printf(arena, "%s_%u", base, ++number);
        while (amp_strmap_get(taken, text, NULL));
    amp_strmap_put(taken, arena, base, number);
    if (text != base)
        amp_strmap_put(taken, arena, text, 0);
    return text;
}

static char *new_value_name(const struct body *body, const char *name)
{
    return new_name(body, &body->functions->value_names, name);
}

static char *new_node_name(const struct body *body, const char *name)
{
    return new_name(body, &body->functions->node_names, name);
}

static void push_node(struct amp_functions *functions, Onnx__NodeProto *node, struct sink *sink)
{
    Onnx__NodeProto **slot = amp_arena_push(functions->arena, &sink->nodes, &sink->n_nodes,
                                            &sink->nodes_capacity, sizeof(Onnx__NodeProto *));
    *slot = node;
}

/* ---- names ----------------------------------------------------------------------------------- */

static enum amp_status define(const struct body *body, struct scope *scope, const char *name,
                              const char *becomes)
{
    struct amp_arena *arena = body->functions->arena;
    if (!is_text(name))
        return fail_name(body, "", "is a parameter without a name");
    if (amp_strmap_get(&scope->ids, name, NULL))
        return fail_name(body, name, "is defined twice");
    amp_strmap_put(&scope->ids, arena, name, (uint32_t)scope->count);
    const char **slot =
        amp_arena_push(arena, &scope->names, &scope->count, &scope->capacity, sizeof *slot);
    *slot = becomes;
    return AMP_OK;
}

/* NULL: not defined; "": a parameter that the call leaves out. */
static const char *find(const struct scope *scope, const char *name)
{
    uint32_t id;
    for (; scope != NULL; scope = scope->outer)
        if (scope->names != NULL && amp_strmap_get(&scope->ids, name, &id))
            return scope->names[id];
    return NULL;
}

/* Renames the COUNT names in *NAMES, a new array then; empty ones stay. */
static enum amp_status rename_all(const struct body *body, const struct scope *scope, char ***names,
                                  size_t count)
{
    struct amp_arena *arena = body->functions->arena;
    char **renamed = amp_arena_array(arena, count, sizeof *renamed);
    for (size_t i = 0; i < count; i++) {
        const char *name = is_text((*names)[i]) ? find(scope, (*names)[i]) : "";
        if (name == NULL)
            return fail_name(body, (*names)[i], "is not defined");
        renamed[i] = amp_arena_strdup(arena, name);
    }
    *names = renamed;
    return AMP_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const Onnx__AttributeProto *find_attr(Onnx__AttributeProto *const *attrs, size_t count,
                                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (attrs[i]->name != NULL && strcmp(attrs[i]->name, name) == 0)
            return attrs[i];
    return NULL;
}

/* What ATTR of a node in the body says: itself, or the parameter that it refers to, of which the
   call or else the function's default gives the value; *VALUE NULL when neither does. */
static enum amp_status resolve_attr(const struct body *body, const Onnx__AttributeProto *attr,
                                    const Onnx__AttributeProto **value)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    *value = attr;
    if (!is_text(attr->ref_attr_name))
        return AMP_OK;
    *value = find_attr(body->call->attribute, body->call->n_attribute, attr->ref_attr_name);
    if (*value == NULL)
        *value = find_attr(proto->attribute_proto, proto->n_attribute_proto, attr->ref_attr_name);
    if (*value != NULL && ((*value)->g != NULL || (*value)->n_graphs > 0))
        return amp_fail(body->functions->err, AMP_UNSUPPORTED,
                        "call '%s' of function '%s': attribute '%s' holds a graph", body->prefix,
                        body->function->text, attr->ref_attr_name);
    return AMP_OK;
}

static enum amp_status copy_attrs(const struct body *body, const struct scope *scope,
                                  Onnx__NodeProto *node)
{
    struct amp_arena *arena = body->functions->arena;
    Onnx__AttributeProto **attrs =
        amp_arena_array(arena, node->n_attribute, sizeof(Onnx__AttributeProto *));
    size_t kept = 0;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *value;
        AMP_TRY(resolve_attr(body, node->attribute[i], &value));
        if (value == NULL)
            continue;
        Onnx__AttributeProto *copy = amp_arena_memdup(arena, value, sizeof *copy);
        copy->name = node->attribute[i]->name;
        copy->ref_attr_name = NULL;
        if (copy->g != NULL)
            AMP_TRY(copy_graph(body, scope, &copy->g));
        copy->graphs =
            amp_arena_memdup(arena, copy->graphs, copy->n_graphs * sizeof(Onnx__GraphProto *));
        for (size_t g = 0; g < copy->n_graphs; g++)
            AMP_TRY(copy_graph(body, scope, &copy->graphs[g]));
        attrs[kept++] = copy;
    }
    node->attribute = attrs;
    node->n_attribute = kept;
    return AMP_OK;
}

/* What the exporter noted of the call goes to the nodes that have no notes of their own. */
static void keep_notes(const struct body *body, Onnx__NodeProto *node)
{
    if (!is_text(node->doc_string))
        node->doc_string = body->call->doc_string;
    if (node->n_metadata_props > 0)
        return;
    node->n_metadata_props = body->call->n_metadata_props;
    node->metadata_props = body->call->metadata_props;
}

static enum amp_status copy_node(const struct body *body, const struct scope *scope,
                                 const Onnx__NodeProto *node, struct sink *sink)
{
    Onnx__NodeProto *copy = amp_arena_memdup(body->functions->arena, node, sizeof *copy);
    const char *op_type = node->op_type ? node->op_type : "";
    copy->name = new_node_name(body, is_text(node->name) ? node->name : op_type);
    AMP_TRY(rename_all(body, scope, &copy->input, copy->n_input));
    AMP_TRY(rename_all(body, scope, &copy->output, copy->n_output));
    AMP_TRY(copy_attrs(body, scope, copy));
    keep_notes(body, copy);
    return put_node(body->functions, body->function, copy, sink);
}

static Onnx__ValueInfoProto *copy_info(const struct body *body, const Onnx__ValueInfoProto *info,
                                       const char *name)
{
    Onnx__ValueInfoProto *copy = amp_arena_memdup(body->functions->arena, info, sizeof *copy);
    copy->name = amp_arena_strdup(body->functions->arena, name);
    /* Types are changed in place where a value's dtype changes: each value has its own. */
    if (info->type != NULL)
        copy->type = amp_arena_memdup(body->functions->arena, info->type, sizeof *copy->type);
    if (info->type != NULL && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        copy->type->tensor_type = amp_arena_memdup(body->functions->arena, info->type->tensor_type,
                                                   sizeof *copy->type->tensor_type);
    return copy;
}

static void put_info(const struct body *body, const Onnx__ValueInfoProto *info, const char *name,
                     struct sink *sink)
{
    Onnx__ValueInfoProto **slot =
        amp_arena_push(body->functions->arena, &sink->infos, &sink->n_infos, &sink->infos_capacity,
                       sizeof(Onnx__ValueInfoProto *));
    *slot = copy_info(body, info, name);
}

/* Gives new names to what NODES make. */
static enum amp_status define_outputs(const struct body *body, struct scope *scope,
                                      Onnx__NodeProto *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            if (is_text(nodes[i]->output[k]))
                AMP_TRY(define(body, scope, nodes[i]->output[k],
                               new_value_name(body, nodes[i]->output[k])));
    return AMP_OK;
}

/* ---- graphs within a body -------------------------------------------------------------------- */

static enum amp_status copy_inputs(const struct body *body, struct scope *scope,
                                   Onnx__GraphProto *graph)
{
    Onnx__ValueInfoProto **inputs =
        amp_arena_array(body->functions->arena, graph->n_input, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name ? graph->input[i]->name : "";
        AMP_TRY(define(body, scope, name, new_value_name(body, name)));
        inputs[i] = copy_info(body, graph->input[i], find(scope, name));
    }
    graph->input = inputs;
    return AMP_OK;
}

/* TENSOR under a new name; an initializer may also be an input. */
static enum amp_status copy_tensor(const struct body *body, struct scope *scope,
                                   Onnx__TensorProto **tensor)
{
    Onnx__TensorProto *copy = amp_arena_memdup(body->functions->arena, *tensor, sizeof *copy);
    const char *name = copy->name ? copy->name : "";
    if (!amp_strmap_get(&scope->ids, name, NULL))
        AMP_TRY(define(body, scope, name, new_value_name(body, name)));
    copy->name = amp_arena_strdup(body->functions->arena, find(scope, name));
    *tensor = copy;
    return AMP_OK;
}

static enum amp_status copy_initializers(const struct body *body, struct scope *scope,
                                         Onnx__GraphProto *graph)
{
    struct amp_arena *arena = body->functions->arena;
    graph->initializer = amp_arena_memdup(arena, graph->initializer,
                                          graph->n_initializer * sizeof(Onnx__TensorProto *));
    for (size_t i = 0; i < graph->n_initializer; i++)
        AMP_TRY(copy_tensor(body, scope, &graph->initializer[i]));
    graph->sparse_initializer =
        amp_arena_memdup(arena, graph->sparse_initializer,
                         graph->n_sparse_initializer * sizeof(Onnx__SparseTensorProto *));
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        Onnx__SparseTensorProto **sparse = &graph->sparse_initializer[i];
        *sparse = amp_arena_memdup(arena, *sparse, sizeof **sparse);
        if ((*sparse)->values != NULL)
            AMP_TRY(copy_tensor(body, scope, &(*sparse)->values));
    }
    return AMP_OK;
}

static enum amp_status copy_outputs(const struct body *body, const struct scope *scope,
                                    Onnx__GraphProto *graph)
{
    Onnx__ValueInfoProto **outputs =
        amp_arena_array(body->functions->arena, graph->n_output, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        if (find(scope, name) == NULL)
            return fail_name(body, name, "is not defined");
        outputs[i] = copy_info(body, graph->output[i], find(scope, name));
    }
    graph->output = outputs;
    return AMP_OK;
}

/* The entries for values that SCOPE, not one around it, has named anew. */
static void copy_infos(const struct body *body, const struct scope *scope,
                       Onnx__ValueInfoProto *const *infos, size_t count, struct sink *sink)
{
    uint32_t id;
    for (size_t i = 0; i < count && scope->names != NULL; i++)
        if (infos[i]->name != NULL && amp_strmap_get(&scope->ids, infos[i]->name, &id))
            put_info(body, infos[i], scope->names[id], sink);
}

static enum amp_status copy_graph(const struct body *body, const struct scope *outer,
                                  Onnx__GraphProto **graph)
{
    struct scope scope = {.outer = outer};
    struct sink sink = {.n_nodes = 0};
    Onnx__GraphProto *copy = amp_arena_memdup(body->functions->arena, *graph, sizeof *copy);
    AMP_TRY(copy_inputs(body, &scope, copy));
    AMP_TRY(copy_initializers(body, &scope, copy));
    AMP_TRY(define_outputs(body, &scope, copy->node, copy->n_node));
    for (size_t i = 0; i < copy->n_node; i++)
        AMP_TRY(copy_node(body, &scope, copy->node[i], &sink));
    AMP_TRY(copy_outputs(body, &scope, copy));
    copy_infos(body, &scope, copy->value_info, copy->n_value_info, &sink);
    copy->node = sink.nodes;
    copy->n_node = sink.n_nodes;
    copy->value_info = sink.infos;
    copy->n_value_info = sink.n_infos;
    copy->n_quantization_annotation = 0; /* it names values of the original */
    *graph = copy;
    return AMP_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The call's values stand for the parameters; what it leaves out is "". */
static enum amp_status bind_inputs(const struct body *body, struct scope *scope)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    const Onnx__NodeProto *call = body->call;
    if (call->n_input > proto->n_input || call->n_output > proto->n_output)
        return amp_fail(body->functions->err, AMP_MODEL,
                        "call '%s' of function '%s': %zu inputs and %zu outputs; it has %zu and "
                        "%zu",
                        body->prefix, body->function->text, call->n_input, call->n_output,
                        proto->n_input, proto->n_output);
    for (size_t i = 0; i < proto->n_input; i++)
        AMP_TRY(define(body, scope, proto->input[i], i < call->n_input ? call->input[i] : ""));
    return AMP_OK;
}

/* What the call wants to have the function's outputs named. */
static enum amp_status bind_outputs(const struct body *body, struct scope *wanted)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    for (size_t i = 0; i < body->call->n_output; i++)
        if (is_text(body->call->output[i]) && find(wanted, proto->output[i]) == NULL)
            AMP_TRY(define(body, wanted, proto->output[i], body->call->output[i]));
    return AMP_OK;
}

/* Names what the body's nodes make: as the call wants it, or anew; MADE has the latter only. */
static enum amp_status bind_nodes(const struct body *body, struct scope *scope, struct scope *made)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    struct scope wanted = {.outer = NULL};
    AMP_TRY(bind_outputs(body, &wanted));
    for (size_t i = 0; i < proto->n_node; i++)
        for (size_t k = 0; k < proto->node[i]->n_output; k++) {
            const char *name = proto->node[i]->output[k];
            const char *becomes = is_text(name) ? find(&wanted, name) : "";
            if (becomes == NULL) {
                becomes = new_value_name(body, name);
                AMP_TRY(define(body, made, name, becomes));
            }
            if (is_text(name))
                AMP_TRY(define(body, scope, name, becomes));
        }
    return AMP_OK;
}

/* NAME as OUTPUT, when the body gives one value twice or an input as it came. */
static void put_identity(const struct body *body, const char *name, char *output, struct sink *sink)
{
    struct amp_arena *arena = body->functions->arena;
    Onnx__NodeProto *node = amp_arena_alloc(arena, sizeof *node);
    onnx__node_proto__init(node);
    node->op_type = amp_arena_strdup(arena, "Identity");
    node->name = new_node_name(body, "Identity");
    node->n_input = node->n_output = 1;
    node->input = amp_arena_array(arena, 1, sizeof *node->input);
    node->output = amp_arena_array(arena, 1, sizeof *node->output);
    node->input[0] = amp_arena_strdup(arena, name);
    node->output[0] = output;
    keep_notes(body, node);
    push_node(body->functions, node, sink);
}

static enum amp_status give_outputs(const struct body *body, const struct scope *scope,
                                    struct sink *sink)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    for (size_t i = 0; i < body->call->n_output; i++) {
        char *output = body->call->output[i];
        if (!is_text(output))
            continue;
        const char *name = find(scope, proto->output[i]);
        if (name == NULL)
            return fail_name(body, proto->output[i], "is not defined");
        if (name[0] == '\0')
            return fail_name(body, proto->output[i], "is an output, and an input that is left out");
        if (strcmp(name, output) != 0)
            put_identity(body, name, output, sink);
    }
    return AMP_OK;
}

static enum amp_status inline_call(struct amp_functions *functions,
                                   const struct amp_function *function, const Onnx__NodeProto *call,
                                   struct sink *sink)
{
    const Onnx__FunctionProto *proto = function->proto;
    struct body body = {functions, function, call,
                        is_text(call->name) ? call->name : call->op_type};
    struct scope scope = {.outer = NULL}, made = {.outer = NULL};
    AMP_TRY(bind_inputs(&body, &scope));
    AMP_TRY(bind_nodes(&body, &scope, &made));
    for (size_t i = 0; i < proto->n_node; i++)
        AMP_TRY(copy_node(&body, &scope, proto->node[i], sink));
    copy_infos(&body, &made, proto->value_info, proto->n_value_info, sink);
    return give_outputs(&body, &scope, sink);
}

/* The model imports DOMAIN from now on. */
static void add_import(struct amp_functions *functions, const char *domain, int64_t version)
{
    Onnx__ModelProto *model = functions->model;
    Onnx__OperatorSetIdProto **imports = amp_arena_array(
        functions->arena, model->n_opset_import + 1, sizeof(Onnx__OperatorSetIdProto *));
    Onnx__OperatorSetIdProto *import = amp_arena_alloc(functions->arena, sizeof *import);
    onnx__operator_set_id_proto__init(import);
    import->domain = amp_arena_strdup(functions->arena, domain);
    import->has_version = true;
    import->version = version;
    for (size_t i = 0; i < model->n_opset_import; i++)
        imports[i] = model->opset_import[i];
    imports[model->n_opset_import++] = import;
    model->opset_import = imports;
}

/* NODE of the body of CALLER must be the same operator under the model's opsets. */
static enum amp_status adopt(struct amp_functions *functions, const struct amp_function *caller,
                             const Onnx__NodeProto *node)
{
    const char *domain = is_text(node->domain) ? node->domain : "ai.onnx";
    int64_t own = amp_function_opset(functions, caller, domain);
    int64_t models = amp_function_opset(functions, NULL, domain);
    int newest = amp_schema_newest_opset(domain);
    if (newest > 0 && own > newest)
        return amp_fail(functions->err, AMP_UNSUPPORTED,
                        "function '%s': opset version %lld of %s; the newest known is %d",
                        caller->text, (long long)own, domain, newest);
    if (models == 0 && own != 0)
        add_import(functions, domain, own);
    if (amp_function_schema(functions, caller, node) == amp_function_schema(functions, NULL, node))
        return AMP_OK;
    return amp_fail(functions->err, AMP_UNSUPPORTED,
                    "function '%s': %s is another operator in opset %lld of %s, the function's, "
                    "than in opset %lld, the model's",
                    caller->text, node->op_type, (long long)own, domain, (long long)models);
}

/* NODE, whose names are those of the sink's graph, or what it becomes when it is a call. */
static enum amp_status put_node(struct amp_functions *functions, const struct amp_function *caller,
                                Onnx__NodeProto *node, struct sink *sink)
{
    const struct amp_function *called = amp_function_called(functions, caller, node);
    if (called != NULL && called->is_inlined)
        return inline_call(functions, called, node, sink);
    if (caller != NULL)
        AMP_TRY(adopt(functions, caller, node));
    push_node(functions, node, sink);
    return AMP_OK;
}

static enum amp_status inline_in_attrs(struct amp_functions *functions, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *attr = node->attribute[i];
        if (attr->g != NULL)
            AMP_TRY(amp_function_calls_inline(functions, attr->g));
        for (size_t g = 0; g < attr->n_graphs; g++)
            AMP_TRY(amp_function_calls_inline(functions, attr->graphs[g]));
    }
    return AMP_OK;
}

enum amp_status amp_function_calls_inline(struct amp_functions *functions, Onnx__GraphProto *graph)
{
    struct sink sink = {.n_nodes = 0};
    for (size_t i = 0; i < graph->n_value_info; i++) {
        Onnx__ValueInfoProto **slot =
            amp_arena_push(functions->arena, &sink.infos, &sink.n_infos, &sink.infos_capacity,
                           sizeof(Onnx__ValueInfoProto *));
        *slot = graph->value_info[i];
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        AMP_TRY(inline_in_attrs(functions, graph->node[i]));
        AMP_TRY(put_node(functions, NULL, graph->node[i], &sink));
    }
    graph->node = sink.nodes;
    graph->n_node = sink.n_nodes;
    graph->value_info = sink.infos;
    graph->n_value_info = sink.n_infos;
    return AMP_OK;
}

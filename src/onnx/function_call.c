/*
 * Puts the body of a function in the place of its call: binds the call's values to the parameters,
 * has function_body.c copy the nodes and gives what comes out the names that the call has for it.
 */
#include "onnx/function_body.h"

#include <string.h>

/* The call's values stand for the parameters; what it leaves out is "". */
static enum amp_status bind_inputs(const struct amp_body *body, struct amp_scope *scope)
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
        AMP_TRY(
            amp_body_define(body, scope, proto->input[i], i < call->n_input ? call->input[i] : ""));
    return AMP_OK;
}

/* What the call wants to have the function's outputs named. */
static enum amp_status bind_outputs(const struct amp_body *body, struct amp_scope *wanted)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    for (size_t i = 0; i < body->call->n_output; i++)
        if (amp_is_text(body->call->output[i]) && amp_body_find(wanted, proto->output[i]) == NULL)
            AMP_TRY(amp_body_define(body, wanted, proto->output[i], body->call->output[i]));
    return AMP_OK;
}

/* Names what the body's nodes make: as the call wants it, or anew; MADE has the latter only. */
static enum amp_status bind_nodes(const struct amp_body *body, struct amp_scope *scope,
                                  struct amp_scope *made)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    struct amp_scope wanted = {.outer = NULL};
    AMP_TRY(bind_outputs(body, &wanted));
    for (size_t i = 0; i < proto->n_node; i++)
        for (size_t k = 0; k < proto->node[i]->n_output; k++) {
            const char *name = proto->node[i]->output[k];
            const char *becomes = amp_is_text(name) ? amp_body_find(&wanted, name) : "";
            if (becomes == NULL) {
                becomes = amp_body_value_name(body, name);
                AMP_TRY(amp_body_define(body, made, name, becomes));
            }
            if (amp_is_text(name))
                AMP_TRY(amp_body_define(body, scope, name, becomes));
        }
    return AMP_OK;
}

/* NAME as OUTPUT, when the body gives one value twice or an input as it came. */
static void put_identity(const struct amp_body *body, const char *name, char *output,
                         struct amp_sink *sink)
{
    struct amp_arena *arena = body->functions->arena;
    Onnx__NodeProto *node = amp_arena_alloc(arena, sizeof *node);
    onnx__node_proto__init(node);
    node->op_type = amp_arena_strdup(arena, "Identity");
    node->name = amp_body_node_name(body, "Identity");
    node->n_input = node->n_output = 1;
    node->input = amp_arena_array(arena, 1, sizeof *node->input);
    node->output = amp_arena_array(arena, 1, sizeof *node->output);
    node->input[0] = amp_arena_strdup(arena, name);
    node->output[0] = output;
    amp_body_keep_notes(body, node);
    amp_body_push(body->functions, node, sink);
}

static enum amp_status give_outputs(const struct amp_body *body, const struct amp_scope *scope,
                                    struct amp_sink *sink)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    for (size_t i = 0; i < body->call->n_output; i++) {
        char *output = body->call->output[i];
        if (!amp_is_text(output))
            continue;
        const char *name = amp_body_find(scope, proto->output[i]);
        if (name == NULL)
            return amp_body_fail(body, proto->output[i], "is not defined");
        if (name[0] == '\0')
            return amp_body_fail(body, proto->output[i],
                                 "is an output, and an input that is left out");
        if (strcmp(name, output) != 0)
            put_identity(body, name, output, sink);
    }
    return AMP_OK;
}

static enum amp_status inline_call(struct amp_functions *functions,
                                   const struct amp_function *function, const Onnx__NodeProto *call,
                                   struct amp_sink *sink)
{
    const Onnx__FunctionProto *proto = function->proto;
    struct amp_body body = {functions, function, call,
                            amp_is_text(call->name) ? call->name : call->op_type};
    struct amp_scope scope = {.outer = NULL}, made = {.outer = NULL};
    AMP_TRY(bind_inputs(&body, &scope));
    AMP_TRY(bind_nodes(&body, &scope, &made));
    for (size_t i = 0; i < proto->n_node; i++)
        AMP_TRY(amp_body_copy_node(&body, &scope, proto->node[i], sink));
    amp_body_copy_infos(&body, &made, proto->value_info, proto->n_value_info, sink);
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
    const char *domain = amp_is_text(node->domain) ? node->domain : "ai.onnx";
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

enum amp_status amp_function_put_node(struct amp_functions *functions,
                                      const struct amp_function *caller, Onnx__NodeProto *node,
                                      struct amp_sink *sink)
{
    const struct amp_function *called = amp_function_called(functions, caller, node);
    if (called != NULL && called->is_inlined)
        return inline_call(functions, called, node, sink);
    if (caller != NULL)
        AMP_TRY(adopt(functions, caller, node));
    amp_body_push(functions, node, sink);
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
    struct amp_sink sink = {.n_nodes = 0};
    for (size_t i = 0; i < graph->n_value_info; i++) {
        Onnx__ValueInfoProto **slot =
            amp_arena_push(functions->arena, &sink.infos, &sink.n_infos, &sink.infos_capacity,
                           sizeof(Onnx__ValueInfoProto *));
        *slot = graph->value_info[i];
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        AMP_TRY(inline_in_attrs(functions, graph->node[i]));
        AMP_TRY(amp_function_put_node(functions, NULL, graph->node[i], &sink));
    }
    graph->node = sink.nodes;
    graph->n_node = sink.n_nodes;
    graph->value_info = sink.infos;
    graph->n_value_info = sink.n_infos;
    return AMP_OK;
}

/*
 * Puts the body of a function in the place of its call: binds the call's values to the parameters,
 * has function_body.c copy the nodes and gives what comes out the names that the call has for it.
 */
#include "onnx/functions/body.h"

#include <string.h>

/* NAME as OUTPUT too. */
static void put_identity(const struct amp_body *body, char *name, char *output)
{
    struct amp_arena *arena = body->functions->arena;
    Onnx__NodeProto *node = amp_arena_alloc(arena, sizeof *node);
    onnx__node_proto__init(node);
    node->op_type = amp_arena_strdup(arena, "Identity");
    node->name = amp_body_node_name(body, "Identity");
    node->n_input = node->n_output = 1;
    node->input = amp_arena_array(arena, 1, sizeof *node->input);
    node->output = amp_arena_array(arena, 1, sizeof *node->output);
    node->input[0] = name;
    node->output[0] = output;
    amp_body_keep_notes(body, node);
    amp_body_push(body->functions, node, body->sink);
}

/* What stands for parameter I: the call's value, under a name of the body's own where a body that
   repeats the call's would be all name; "" where the call leaves it out. */
static char *argument(const struct amp_body *body, size_t i)
{
    static char nothing[] = "";
    char *name = i < body->call->n_input ? body->call->input[i] : nothing;
    if (amp_body_is_name_short(name))
        return name;
    char *becomes = amp_body_value_name(body, body->function->proto->input[i]);
    put_identity(body, name, becomes);
    return becomes;
}

/* The call's values stand for the parameters. */
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
        AMP_TRY(amp_body_define(body, scope, proto->input[i], argument(body, i)));
    return AMP_OK;
}

/* What the call wants to have the function's outputs named. */
static enum amp_status bind_outputs(const struct amp_body *body, struct amp_scope *wanted)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    for (size_t i = 0; i < body->call->n_output; i++)
        if (amp_is_text(body->call->output[i]) && amp_body_is_name_short(body->call->output[i]) &&
            amp_body_find(wanted, proto->output[i]) == NULL)
            AMP_TRY(amp_body_define(body, wanted, proto->output[i], body->call->output[i]));
    return AMP_OK;
}

/* Names output NAME of a node of the body. */
static enum amp_status bind_output(const struct amp_body *body, struct amp_scope *scope,
                                   struct amp_scope *made, const struct amp_scope *wanted,
                                   const char *name)
{
    if (!amp_is_text(name))
        return AMP_OK;
    char *becomes = amp_body_find(wanted, name);
    if (becomes == NULL) {
        becomes = amp_body_value_name(body, name);
        AMP_TRY(amp_body_define(body, made, name, becomes));
    }
    return amp_body_define(body, scope, name, becomes);
}

/* Names what the body's nodes make: as the call wants it, or anew; MADE has the latter only. */
static enum amp_status bind_nodes(const struct amp_body *body, struct amp_scope *scope,
                                  struct amp_scope *made)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    struct amp_scope wanted = {.outer = NULL};
    AMP_TRY(bind_outputs(body, &wanted));
    for (size_t i = 0; i < proto->n_node; i++) {
        const Onnx__NodeProto *node = proto->node[i];
        bool is_shared = amp_body_is_shared(body, node);
        if (is_shared)
            AMP_TRY(amp_body_define_shared(body, scope, made, &wanted, node));
        for (size_t k = 0; k < node->n_output && !is_shared; k++)
            AMP_TRY(bind_output(body, scope, made, &wanted, node->output[k]));
    }
    return AMP_OK;
}

/* Where the body gives one value twice, an input as it came, or what has another name, an Identity
   gives the call's output. */
static enum amp_status give_outputs(const struct amp_body *body, const struct amp_scope *scope)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    for (size_t i = 0; i < body->call->n_output; i++) {
        char *output = body->call->output[i];
        if (!amp_is_text(output))
            continue;
        char *name = amp_body_find(scope, proto->output[i]);
        if (name == NULL)
            return amp_body_fail(body, proto->output[i], "is not defined");
        if (name[0] == '\0')
            return amp_body_fail(body, proto->output[i],
                                 "is an output, and an input that is left out");
        if (strcmp(name, output) != 0)
            put_identity(body, name, output);
    }
    return AMP_OK;
}

static enum amp_status inline_call(struct amp_functions *functions,
                                   const struct amp_function *function, const Onnx__NodeProto *call,
                                   struct amp_sink *sink)
{
    const Onnx__FunctionProto *proto = function->proto;
    struct amp_body body = {functions, function, call,
                            amp_is_text(call->name) ? call->name : call->op_type, sink};
    struct amp_scope scope = {.outer = NULL}, made = {.outer = NULL};
    AMP_TRY(bind_inputs(&body, &scope));
    AMP_TRY(bind_nodes(&body, &scope, &made));
    for (size_t i = 0; i < proto->n_node; i++)
        AMP_TRY(amp_body_copy_node(&body, &scope, proto->node[i], sink));
    amp_body_copy_infos(&body, &made, proto->value_info, proto->n_value_info, sink);
    return give_outputs(&body, &scope);
}

/* The model imports DOMAIN from now on. */
static void add_import(struct amp_functions *functions, const char *domain, int64_t version)
{
    Onnx__ModelProto *model = functions->model;
    Onnx__OperatorSetIdProto *import = amp_arena_alloc(functions->arena, sizeof *import);
    onnx__operator_set_id_proto__init(import);
    import->domain = amp_arena_strdup(functions->arena, domain);
    import->has_version = true;
    import->version = version;
    Onnx__OperatorSetIdProto **slot =
        amp_arena_push(functions->arena, &model->opset_import, &model->n_opset_import,
                       &functions->imports_capacity, sizeof(Onnx__OperatorSetIdProto *));
    *slot = import;
    amp_strmap_put(&functions->imports, functions->arena, import->domain,
                   (uint32_t)(model->n_opset_import - 1));
}

/* NODE of the body of CALLER must be the same operator under the model's opsets. */
static enum amp_status adopt(struct amp_functions *functions, const struct amp_function *caller,
                             const Onnx__NodeProto *node)
{
    const char *domain = amp_is_text(node->domain) ? node->domain : "ai.onnx";
    int64_t own = amp_function_opset(functions, caller, domain);
    int64_t models = amp_function_opset(functions, NULL, domain);
    int newest = own > models ? amp_schema_newest_opset(domain) : 0;
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

/* The *COUNT messages at ITEMS and N_MORE behind them. */
static void *join(struct amp_functions *functions, void *items, size_t *count, void *more,
                  size_t n_more)
{
    void **joined = amp_arena_array(functions->arena, *count + n_more, sizeof *joined);
    if (*count > 0)
        memcpy(joined, items, *count * sizeof *joined);
    if (n_more > 0)
        memcpy(joined + *count, more, n_more * sizeof *joined);
    *count += n_more;
    return joined;
}

/* GRAPH consists of what is in SINK now, and the initializers that it had. */
static void take_sink(struct amp_functions *functions, Onnx__GraphProto *graph,
                      const struct amp_sink *sink)
{
    graph->node = sink->nodes;
    graph->n_node = sink->n_nodes;
    graph->value_info = sink->infos;
    graph->n_value_info = sink->n_infos;
    graph->initializer =
        join(functions, graph->initializer, &graph->n_initializer, sink->tensors, sink->n_tensors);
    graph->sparse_initializer = join(functions, graph->sparse_initializer,
                                     &graph->n_sparse_initializer, sink->sparse, sink->n_sparse);
}

enum amp_status amp_function_calls_inline(struct amp_functions *functions, Onnx__GraphProto *graph)
{
    struct amp_sink sink = {.n_nodes = 0};
    if (functions->root == NULL)
        functions->root = &sink;
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
    take_sink(functions, graph, &sink);
    return AMP_OK;
}

/*
 * Puts the bodies of functions in the place of their calls: walks the nodes of a graph, keeps those
 * that are operators and copies the body of the function for those that are calls, calls within
 * bodies too. Assumes that functions do not call themselves and are not nested without bound, which
 * functions.c sees to. The functions stay as they are.
 */
#include "onnx/functions/inline.h"

#include "onnx/functions/body_graph.h"
#include "onnx/functions/call.h"

static enum amp_status put_node(struct amp_inliner *inliner, const struct amp_function *caller,
                                Onnx__NodeProto *node, struct amp_graph_parts *parts);

/* Renames the COUNT names in *NAMES, a new array then; empty ones stay. */
static enum amp_status rename_all(const struct amp_call *call, const struct amp_scope *scope,
                                  char ***names, size_t count)
{
    char **renamed = amp_arena_array(call->inliner->table->arena, count, sizeof *renamed);
    for (size_t i = 0; i < count; i++) {
        renamed[i] = amp_is_text((*names)[i]) ? amp_scope_find(scope, (*names)[i]) : (*names)[i];
        if (renamed[i] == NULL)
            return amp_call_fail(call, (*names)[i], "is not defined");
    }
    *names = renamed;
    return AMP_OK;
}

static enum amp_status copy_attrs(const struct amp_call *call, const struct amp_scope *scope,
                                  Onnx__NodeProto *node);

/* Copies NODE of the body, by its new names, to PARTS; a Constant that all calls share goes to the
   main graph, once. */
static enum amp_status copy_node(const struct amp_call *call, const struct amp_scope *scope,
                                 const Onnx__NodeProto *node, struct amp_graph_parts *parts)
{
    struct amp_inliner *inliner = call->inliner;
    struct amp_shared_constant *shared =
        amp_call_shares(call, node) ? amp_shared_constants_find(&inliner->constants, node) : NULL;
    if (shared != NULL && shared->is_put)
        return AMP_OK;
    if (shared != NULL) {
        shared->is_put = true;
        parts = inliner->root;
    }
    Onnx__NodeProto *copy = amp_arena_memdup(inliner->table->arena, node, sizeof *copy);
    const char *op_type = node->op_type ? node->op_type : "";
    copy->name = amp_names_new_node(&inliner->names, call->prefix,
                                    amp_is_text(node->name) ? node->name : op_type);
    AMP_TRY(rename_all(call, scope, &copy->input, copy->n_input));
    AMP_TRY(rename_all(call, scope, &copy->output, copy->n_output));
    AMP_TRY(copy_attrs(call, scope, copy));
    amp_call_keep_notes(call, copy);
    return put_node(inliner, call->function, copy, parts);
}

/* Replaces *GRAPH, which a node of the body holds, by a copy for the call. */
static enum amp_status copy_graph(const struct amp_call *call, const struct amp_scope *outer,
                                  Onnx__GraphProto **graph)
{
    struct amp_arena *arena = call->inliner->table->arena;
    struct amp_scope scope = {.outer = outer};
    struct amp_graph_parts parts = {.arena = arena};
    Onnx__GraphProto *copy = amp_arena_memdup(arena, *graph, sizeof *copy);
    AMP_TRY(amp_body_graph_begin(call, &scope, copy, &parts));
    for (size_t i = 0; i < copy->n_node; i++)
        AMP_TRY(copy_node(call, &scope, copy->node[i], &parts));
    AMP_TRY(amp_body_graph_end(call, &scope, copy, &parts));
    *graph = copy;
    return AMP_OK;
}

/* Gives NODE, a copy, attributes of its own. A parameter that neither call nor function has a value
   for is left out. */
static enum amp_status copy_attrs(const struct amp_call *call, const struct amp_scope *scope,
                                  Onnx__NodeProto *node)
{
    struct amp_arena *arena = call->inliner->table->arena;
    Onnx__AttributeProto **attrs =
        amp_arena_array(arena, node->n_attribute, sizeof(Onnx__AttributeProto *));
    size_t kept = 0;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *value;
        AMP_TRY(amp_call_attr(call, node->attribute[i], &value));
        if (value == NULL)
            continue;
        Onnx__AttributeProto *copy = amp_arena_memdup(arena, value, sizeof *copy);
        copy->name = node->attribute[i]->name;
        copy->ref_attr_name = NULL;
        if (copy->g != NULL)
            AMP_TRY(copy_graph(call, scope, &copy->g));
        copy->graphs =
            amp_arena_memdup(arena, copy->graphs, copy->n_graphs * sizeof(Onnx__GraphProto *));
        for (size_t g = 0; g < copy->n_graphs; g++)
            AMP_TRY(copy_graph(call, scope, &copy->graphs[g]));
        attrs[kept++] = copy;
    }
    node->attribute = attrs;
    node->n_attribute = kept;
    return AMP_OK;
}

/* NODE, which calls FUNCTION, becomes the function's body in PARTS. */
static enum amp_status inline_call(struct amp_inliner *inliner, const struct amp_function *function,
                                   const Onnx__NodeProto *node, struct amp_graph_parts *parts)
{
    const Onnx__FunctionProto *proto = function->proto;
    struct amp_call call = {inliner, function, node,
                            amp_is_text(node->name) ? node->name : node->op_type, parts};
    struct amp_scope scope = {.outer = NULL}, made = {.outer = NULL};
    AMP_TRY(amp_call_bind(&call, &scope, &made));
    for (size_t i = 0; i < proto->n_node; i++)
        AMP_TRY(copy_node(&call, &scope, proto->node[i], parts));
    amp_body_graph_copy_infos(&made, proto->value_info, proto->n_value_info, parts);
    return amp_call_give_outputs(&call, &scope);
}

/* Checks that NODE of the body of CALLER is the same operator under the model's opsets, and imports
   its domain where the model does not. */
static enum amp_status adopt(struct amp_function_table *table, const struct amp_function *caller,
                             const Onnx__NodeProto *node)
{
    const char *domain = amp_is_text(node->domain) ? node->domain : "ai.onnx";
    int64_t own = amp_function_table_opset(table, caller, domain);
    int64_t models = amp_function_table_opset(table, NULL, domain);
    int newest = own > models ? amp_schema_newest_opset(domain) : 0;
    if (newest > 0 && own > newest)
        return amp_fail(table->err, AMP_UNSUPPORTED,
                        "function '%s': opset version %lld of %s; the newest known is %d",
                        caller->text, (long long)own, domain, newest);
    if (models == 0 && own != 0)
        amp_function_table_import(table, domain, own);
    if (amp_function_table_schema(table, caller, node) ==
        amp_function_table_schema(table, NULL, node))
        return AMP_OK;
    return amp_fail(table->err, AMP_UNSUPPORTED,
                    "function '%s': %s is another operator in opset %lld of %s, the function's, "
                    "than in opset %lld, the model's",
                    caller->text, node->op_type, (long long)own, domain, (long long)models);
}

/* Puts NODE into PARTS, or what it becomes when it is a call. It came from the body of CALLER
   (NULL: a graph) and has the names that it is to have. */
static enum amp_status put_node(struct amp_inliner *inliner, const struct amp_function *caller,
                                Onnx__NodeProto *node, struct amp_graph_parts *parts)
{
    const struct amp_function *called = amp_function_table_called(inliner->table, caller, node);
    if (called != NULL && called->is_inlined)
        return inline_call(inliner, called, node, parts);
    if (caller != NULL)
        AMP_TRY(adopt(inliner->table, caller, node));
    amp_graph_parts_add_node(parts, node);
    return AMP_OK;
}

static enum amp_status inline_in_graph(struct amp_inliner *inliner, Onnx__GraphProto *graph);

static enum amp_status inline_in_attrs(struct amp_inliner *inliner, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *attr = node->attribute[i];
        if (attr->g != NULL)
            AMP_TRY(inline_in_graph(inliner, attr->g));
        for (size_t g = 0; g < attr->n_graphs; g++)
            AMP_TRY(inline_in_graph(inliner, attr->graphs[g]));
    }
    return AMP_OK;
}

/* Inlines the calls in GRAPH and the graphs within; the first graph is the main graph. */
static enum amp_status inline_in_graph(struct amp_inliner *inliner, Onnx__GraphProto *graph)
{
    struct amp_graph_parts parts = {.arena = inliner->table->arena};
    if (inliner->root == NULL)
        inliner->root = &parts;
    for (size_t i = 0; i < graph->n_value_info; i++)
        amp_graph_parts_add_info(&parts, graph->value_info[i]);
    for (size_t i = 0; i < graph->n_initializer; i++)
        amp_graph_parts_add_tensor(&parts, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        amp_graph_parts_add_sparse(&parts, graph->sparse_initializer[i]);
    for (size_t i = 0; i < graph->n_node; i++) {
        AMP_TRY(inline_in_attrs(inliner, graph->node[i]));
        AMP_TRY(put_node(inliner, NULL, graph->node[i], &parts));
    }
    amp_graph_parts_move(&parts, graph);
    return AMP_OK;
}

enum amp_status amp_inline_calls(struct amp_function_table *table, Onnx__GraphProto *graph)
{
    struct amp_inliner inliner = {
        .table = table, .names.arena = table->arena, .constants.arena = table->arena};
    amp_names_take(&inliner.names, graph);
    return inline_in_graph(&inliner, graph);
}

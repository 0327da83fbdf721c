/*
 * One call of a function: binds the call's values to the parameters, gives what the body makes the
 * names that the call has for it or new ones, and fills in the attributes that the body refers to.
 * Takes the messages of call and function and changes neither; does not copy the body's nodes.
 */
#include "onnx/functions/call.h"

#include <string.h>

enum amp_status amp_call_fail(const struct amp_call *call, const char *name, const char *what)
{
    return amp_fail(call->inliner->table->err, AMP_MODEL,
                    "call '%s' of function '%s': value '%s' %s", call->prefix, call->function->text,
                    name, what);
}

enum amp_status amp_call_define(const struct amp_call *call, struct amp_scope *scope,
                                const char *name, char *becomes)
{
    if (!amp_is_text(name))
        return amp_call_fail(call, "", "is a parameter without a name");
    if (amp_scope_has(scope, name))
        return amp_call_fail(call, name, "is defined twice");
    amp_scope_define(scope, call->inliner->table->arena, name, becomes);
    return AMP_OK;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static size_t text_size(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t notes_size(const Onnx__NodeProto *node)
{
    size_t size = text_size(node->doc_string);
    for (size_t i = 0; i < node->n_metadata_props; i++)
        size += sizeof *node->metadata_props[i] + text_size(node->metadata_props[i]->key) +
                text_size(node->metadata_props[i]->value);
    return size;
}

void amp_call_keep_notes(const struct amp_call *call, Onnx__NodeProto *node)
{
    if (!amp_is_text(node->doc_string))
        node->doc_string = call->node->doc_string;
    if (node->n_metadata_props == 0) {
        node->n_metadata_props = call->node->n_metadata_props;
        node->metadata_props = call->node->metadata_props;
    }
    if (amp_names_may_repeat(&call->inliner->names, notes_size(node)))
        return;
    node->doc_string = NULL;
    node->n_metadata_props = 0;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static const Onnx__AttributeProto *find_attr(Onnx__AttributeProto *const *attrs, size_t count,
                                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (attrs[i]->name != NULL && strcmp(attrs[i]->name, name) == 0)
            return attrs[i];
    return NULL;
}

enum amp_status amp_call_attr(const struct amp_call *call, const Onnx__AttributeProto *attr,
                              const Onnx__AttributeProto **value)
{
    const Onnx__FunctionProto *proto = call->function->proto;
    *value = attr;
    if (!amp_is_text(attr->ref_attr_name))
        return AMP_OK;
    *value = find_attr(call->node->attribute, call->node->n_attribute, attr->ref_attr_name);
    if (*value == NULL)
        *value = find_attr(proto->attribute_proto, proto->n_attribute_proto, attr->ref_attr_name);
    if (*value != NULL && ((*value)->g != NULL || (*value)->n_graphs > 0))
        return amp_fail(call->inliner->table->err, AMP_UNSUPPORTED,
                        "call '%s' of function '%s': attribute '%s' holds a graph", call->prefix,
                        call->function->text, attr->ref_attr_name);
    return AMP_OK;
}

/* ---- constants that all calls share ---------------------------------------------------------- */

bool amp_call_shares(const struct amp_call *call, const Onnx__NodeProto *node)
{
    bool is_constant = amp_shared_constants_is_op(node->op_type) && !amp_is_text(node->domain) &&
                       node->n_output == 1 && node->n_input == 0 && amp_is_text(node->output[0]) &&
                       node->n_attribute == 1 && !amp_is_text(node->attribute[0]->ref_attr_name);
    if (!is_constant ||
        amp_function_table_called(call->inliner->table, call->function, node) != NULL)
        return false;
    return node->attribute[0]->sparse_tensor != NULL ||
           amp_shared_constants_find(&call->inliner->constants, node) != NULL ||
           amp_shared_constants_is_large(&node->base);
}

/* Names shared Constant NODE in SCOPE: as it is called already, or as WANTED has it where the call
   stands in the main graph, or anew; then in MADE (may be NULL) too. */
static enum amp_status define_constant(const struct amp_call *call, struct amp_scope *scope,
                                       struct amp_scope *made, const struct amp_scope *wanted,
                                       const Onnx__NodeProto *node)
{
    struct amp_inliner *inliner = call->inliner;
    const char *name = node->output[0];
    const struct amp_shared_constant *shared = amp_shared_constants_find(&inliner->constants, node);
    if (shared != NULL)
        return amp_call_define(call, scope, name, shared->name);
    char *becomes = call->parts == inliner->root ? amp_scope_find(wanted, name) : NULL;
    if (becomes == NULL) {
        becomes = amp_names_new_value(&inliner->names, call->prefix, name);
        if (made != NULL)
            AMP_TRY(amp_call_define(call, made, name, becomes));
    }
    amp_shared_constants_add(&inliner->constants, node, becomes);
    return amp_call_define(call, scope, name, becomes);
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

/* Adds a node that gives value NAME as OUTPUT too. */
static void put_identity(const struct amp_call *call, char *name, char *output)
{
    struct amp_arena *arena = call->inliner->table->arena;
    Onnx__NodeProto *node = amp_arena_alloc(arena, sizeof *node);
    onnx__node_proto__init(node);
    node->op_type = amp_arena_strdup(arena, "Identity");
    node->name = amp_names_new_node(&call->inliner->names, call->prefix, "Identity");
    node->n_input = node->n_output = 1;
    node->input = amp_arena_array(arena, 1, sizeof *node->input);
    node->output = amp_arena_array(arena, 1, sizeof *node->output);
    node->input[0] = name;
    node->output[0] = output;
    amp_call_keep_notes(call, node);
    amp_graph_parts_add_node(call->parts, node);
}

/* What stands for parameter I: the call's value, under a new name where that is so long that a body
   which repeats it would grow without measure; "" where the call leaves it out. */
static char *argument(const struct amp_call *call, size_t i)
{
    static char nothing[] = "";
    char *name = i < call->node->n_input ? call->node->input[i] : nothing;
    if (amp_names_is_short(name))
        return name;
    char *becomes =
        amp_names_new_value(&call->inliner->names, call->prefix, call->function->proto->input[i]);
    put_identity(call, name, becomes);
    return becomes;
}

static enum amp_status bind_inputs(const struct amp_call *call, struct amp_scope *scope)
{
    const Onnx__FunctionProto *proto = call->function->proto;
    const Onnx__NodeProto *node = call->node;
    if (node->n_input > proto->n_input || node->n_output > proto->n_output)
        return amp_fail(call->inliner->table->err, AMP_MODEL,
                        "call '%s' of function '%s': %zu inputs and %zu outputs; it has %zu and "
                        "%zu",
                        call->prefix, call->function->text, node->n_input, node->n_output,
                        proto->n_input, proto->n_output);
    for (size_t i = 0; i < proto->n_input; i++)
        AMP_TRY(amp_call_define(call, scope, proto->input[i], argument(call, i)));
    return AMP_OK;
}

/* What the call wants the function's outputs to be named. */
static enum amp_status find_wanted(const struct amp_call *call, struct amp_scope *wanted)
{
    const Onnx__FunctionProto *proto = call->function->proto;
    for (size_t i = 0; i < call->node->n_output; i++) {
        char *output = call->node->output[i];
        if (amp_is_text(output) && amp_names_is_short(output) &&
            amp_scope_find(wanted, proto->output[i]) == NULL)
            AMP_TRY(amp_call_define(call, wanted, proto->output[i], output));
    }
    return AMP_OK;
}

/* Names output NAME of a node of the body. */
static enum amp_status bind_output(const struct amp_call *call, struct amp_scope *scope,
                                   struct amp_scope *made, const struct amp_scope *wanted,
                                   const char *name)
{
    if (!amp_is_text(name))
        return AMP_OK;
    char *becomes = amp_scope_find(wanted, name);
    if (becomes == NULL) {
        becomes = amp_names_new_value(&call->inliner->names, call->prefix, name);
        AMP_TRY(amp_call_define(call, made, name, becomes));
    }
    return amp_call_define(call, scope, name, becomes);
}

enum amp_status amp_call_bind(const struct amp_call *call, struct amp_scope *scope,
                              struct amp_scope *made)
{
    const Onnx__FunctionProto *proto = call->function->proto;
    struct amp_scope wanted = {.outer = NULL};
    AMP_TRY(bind_inputs(call, scope));
    AMP_TRY(find_wanted(call, &wanted));
    for (size_t i = 0; i < proto->n_node; i++) {
        const Onnx__NodeProto *node = proto->node[i];
        bool is_shared = amp_call_shares(call, node);
        if (is_shared)
            AMP_TRY(define_constant(call, scope, made, &wanted, node));
        for (size_t k = 0; k < node->n_output && !is_shared; k++)
            AMP_TRY(bind_output(call, scope, made, &wanted, node->output[k]));
    }
    return AMP_OK;
}

enum amp_status amp_call_define_outputs(const struct amp_call *call, struct amp_scope *scope,
                                        const Onnx__NodeProto *node)
{
    if (amp_call_shares(call, node))
        return define_constant(call, scope, NULL, NULL, node);
    for (size_t k = 0; k < node->n_output; k++)
        if (amp_is_text(node->output[k]))
            AMP_TRY(amp_call_define(
                call, scope, node->output[k],
                amp_names_new_value(&call->inliner->names, call->prefix, node->output[k])));
    return AMP_OK;
}

enum amp_status amp_call_give_outputs(const struct amp_call *call, const struct amp_scope *scope)
{
    const Onnx__FunctionProto *proto = call->function->proto;
    for (size_t i = 0; i < call->node->n_output; i++) {
        char *output = call->node->output[i];
        if (!amp_is_text(output))
            continue;
        char *name = amp_scope_find(scope, proto->output[i]);
        if (name == NULL)
            return amp_call_fail(call, proto->output[i], "is not defined");
        if (name[0] == '\0')
            return amp_call_fail(call, proto->output[i],
                                 "is an output, and an input that is left out");
        if (strcmp(name, output) != 0)
            put_identity(call, name, output);
    }
    return AMP_OK;
}

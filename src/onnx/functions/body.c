/*
 * Copies nodes out of the body of a function: with the call's values for the parameters, new names
 * for all else and the call's attributes where the body refers to them; the graphs that they hold
 * too. The function itself stays as it is. Data of tensors are shared, not copied.
 */
#include "onnx/functions/body.h"

#include <stdio.h>
#include <string.h>

static enum amp_status copy_graph(const struct amp_body *body, const struct amp_scope *outer,
                                  Onnx__GraphProto **graph);

enum amp_status amp_body_fail(const struct amp_body *body, const char *name, const char *what)
{
    return amp_fail(body->functions->err, AMP_MODEL, "call '%s' of function '%s': value '%s' %s",
                    body->prefix, body->function->text, name, what);
}

/*
 * Every call repeats its own name and those of the body, and so does every call within: a file of
 * little more than one long name could ask for gigabytes. Parts of names that are longer than any
 * exporter's, and all that are not short once much has been repeated, are cut; the number that
 * makes a name unique does so still.
 */
enum { PART_MAX = 1000, SHORT_PART_MAX = 60, COPIED_MAX = 64 << 20 };

/* Whether SIZE more bytes may be repeated; they then count. */
static bool may_copy(struct amp_functions *functions, size_t size)
{
    if (functions->n_copied >= COPIED_MAX || size > COPIED_MAX - functions->n_copied)
        return false;
    functions->n_copied += size;
    return true;
}

/* The bytes of TEXT that go into a name: all, or as many whole characters as fit. */
static size_t part_length(const struct amp_functions *functions, const char *text)
{
    size_t max = functions->n_copied < COPIED_MAX ? PART_MAX : SHORT_PART_MAX;
    size_t length = strnlen(text, max + 1);
    if (length <= max)
        return length;
    for (length = max; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
        length--;
    return length;
}

bool amp_body_is_name_short(const char *name)
{
    return strnlen(name, PART_MAX + 1) <= PART_MAX;
}

static char *join_name(struct amp_functions *functions, const char *prefix, const char *name)
{
    size_t before = part_length(functions, prefix), after = part_length(functions, name);
    functions->n_copied += before + after;
    return amp_arena_printf(functions->arena, "%.*s%s/%.*s%s", (int)before, prefix,
                            prefix[before] ? "..." : "", (int)after, name,
                            name[after] ? "..." : "");
}

/* PREFIX/NAME, with a number behind it when that is TAKEN. */
static char *new_name(const struct amp_body *body, struct amp_strmap *taken, const char *name)
{
    struct amp_arena *arena = body->functions->arena;
    char *base = join_name(body->functions, body->prefix, name), *text = base;
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

char *amp_body_value_name(const struct amp_body *body, const char *name)
{
    return new_name(body, &body->functions->value_names, name);
}

char *amp_body_node_name(const struct amp_body *body, const char *name)
{
    return new_name(body, &body->functions->node_names, name);
}

void amp_body_push(struct amp_functions *functions, Onnx__NodeProto *node, struct amp_sink *sink)
{
    Onnx__NodeProto **slot = amp_arena_push(functions->arena, &sink->nodes, &sink->n_nodes,
                                            &sink->nodes_capacity, sizeof(Onnx__NodeProto *));
    *slot = node;
}

/* ---- names ----------------------------------------------------------------------------------- */

enum amp_status amp_body_define(const struct amp_body *body, struct amp_scope *scope,
                                const char *name, char *becomes)
{
    struct amp_arena *arena = body->functions->arena;
    if (!amp_is_text(name))
        return amp_body_fail(body, "", "is a parameter without a name");
    if (amp_strmap_get(&scope->ids, name, NULL))
        return amp_body_fail(body, name, "is defined twice");
    amp_strmap_put(&scope->ids, arena, name, (uint32_t)scope->count);
    char **slot =
        amp_arena_push(arena, &scope->names, &scope->count, &scope->capacity, sizeof *slot);
    *slot = becomes;
    return AMP_OK;
}

char *amp_body_find(const struct amp_scope *scope, const char *name)
{
    uint32_t id;
    for (; scope != NULL; scope = scope->outer)
        if (scope->names != NULL && amp_strmap_get(&scope->ids, name, &id))
            return scope->names[id];
    return NULL;
}

/* Renames the COUNT names in *NAMES, a new array then; empty ones stay. */
static enum amp_status rename_all(const struct amp_body *body, const struct amp_scope *scope,
                                  char ***names, size_t count)
{
    char **renamed = amp_arena_array(body->functions->arena, count, sizeof *renamed);
    for (size_t i = 0; i < count; i++) {
        renamed[i] = amp_is_text((*names)[i]) ? amp_body_find(scope, (*names)[i]) : (*names)[i];
        if (renamed[i] == NULL)
            return amp_body_fail(body, (*names)[i], "is not defined");
    }
    *names = renamed;
    return AMP_OK;
}

/* ---- constants that all calls share --------------------------------------------------------- */

/* Bytes from which on a constant is shared: smaller ones take no more room than a node does. */
enum { SHARED_MIN = 256 };

static struct amp_shared *find_shared(const struct amp_functions *functions, const void *message)
{
    uint32_t id;
    char key[32];
    snprintf(key, sizeof key, "%p", message);
    return amp_strmap_get(&functions->shared_ids, key, &id) ? &functions->shared[id] : NULL;
}

static struct amp_shared *add_shared(struct amp_functions *functions, const void *message,
                                     char *name)
{
    amp_strmap_put(&functions->shared_ids, functions->arena,
                   amp_arena_printf(functions->arena, "%p", message),
                   (uint32_t)functions->n_shared);
    struct amp_shared *shared =
        amp_arena_push(functions->arena, &functions->shared, &functions->n_shared,
                       &functions->shared_capacity, sizeof *shared);
    shared->name = name;
    return shared;
}

static bool is_large(const void *message)
{
    return protobuf_c_message_get_packed_size(message) >= SHARED_MIN;
}

bool amp_body_is_shared(const struct amp_body *body, const Onnx__NodeProto *node)
{
    struct amp_functions *functions = body->functions;
    bool is_constant = node->op_type != NULL && strcmp(node->op_type, "Constant") == 0 &&
                       !amp_is_text(node->domain) && node->n_output == 1 && node->n_input == 0 &&
                       amp_is_text(node->output[0]) && node->n_attribute == 1 &&
                       !amp_is_text(node->attribute[0]->ref_attr_name);
    if (!is_constant || amp_function_called(functions, body->function, node) != NULL)
        return false;
    return node->attribute[0]->sparse_tensor != NULL || find_shared(functions, node) != NULL ||
           is_large(node);
}

enum amp_status amp_body_define_shared(const struct amp_body *body, struct amp_scope *scope,
                                       struct amp_scope *made, const struct amp_scope *wanted,
                                       const Onnx__NodeProto *node)
{
    const char *name = node->output[0];
    const struct amp_shared *shared = find_shared(body->functions, node);
    if (shared != NULL)
        return amp_body_define(body, scope, name, shared->name);
    char *becomes =
        wanted != NULL && body->sink == body->functions->root ? amp_body_find(wanted, name) : NULL;
    if (becomes == NULL) {
        becomes = amp_body_value_name(body, name);
        if (made != NULL)
            AMP_TRY(amp_body_define(body, made, name, becomes));
    }
    add_shared(body->functions, node, becomes);
    return amp_body_define(body, scope, name, becomes);
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
static enum amp_status resolve_attr(const struct amp_body *body, const Onnx__AttributeProto *attr,
                                    const Onnx__AttributeProto **value)
{
    const Onnx__FunctionProto *proto = body->function->proto;
    *value = attr;
    if (!amp_is_text(attr->ref_attr_name))
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

static enum amp_status copy_attrs(const struct amp_body *body, const struct amp_scope *scope,
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

void amp_body_keep_notes(const struct amp_body *body, Onnx__NodeProto *node)
{
    const Onnx__NodeProto *call = body->call;
    if (!amp_is_text(node->doc_string))
        node->doc_string = call->doc_string;
    if (node->n_metadata_props == 0) {
        node->n_metadata_props = call->n_metadata_props;
        node->metadata_props = call->metadata_props;
    }
    if (may_copy(body->functions, notes_size(node)))
        return;
    node->doc_string = NULL;
    node->n_metadata_props = 0;
}

enum amp_status amp_body_copy_node(const struct amp_body *body, const struct amp_scope *scope,
                                   const Onnx__NodeProto *node, struct amp_sink *sink)
{
    struct amp_shared *shared =
        amp_body_is_shared(body, node) ? find_shared(body->functions, node) : NULL;
    if (shared != NULL && shared->is_put)
        return AMP_OK;
    if (shared != NULL) {
        shared->is_put = true;
        sink = body->functions->root;
    }
    Onnx__NodeProto *copy = amp_arena_memdup(body->functions->arena, node, sizeof *copy);
    const char *op_type = node->op_type ? node->op_type : "";
    copy->name = amp_body_node_name(body, amp_is_text(node->name) ? node->name : op_type);
    AMP_TRY(rename_all(body, scope, &copy->input, copy->n_input));
    AMP_TRY(rename_all(body, scope, &copy->output, copy->n_output));
    AMP_TRY(copy_attrs(body, scope, copy));
    amp_body_keep_notes(body, copy);
    return amp_function_put_node(body->functions, body->function, copy, sink);
}

static Onnx__ValueInfoProto *copy_info(const struct amp_body *body,
                                       const Onnx__ValueInfoProto *info, char *name)
{
    Onnx__ValueInfoProto *copy = amp_arena_memdup(body->functions->arena, info, sizeof *copy);
    copy->name = name;
    /* Types are changed in place where a value's dtype changes: each value has its own. */
    if (info->type != NULL)
        copy->type = amp_arena_memdup(body->functions->arena, info->type, sizeof *copy->type);
    if (info->type != NULL && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        copy->type->tensor_type = amp_arena_memdup(body->functions->arena, info->type->tensor_type,
                                                   sizeof *copy->type->tensor_type);
    return copy;
}

static void put_info(const struct amp_body *body, const Onnx__ValueInfoProto *info, char *name,
                     struct amp_sink *sink)
{
    Onnx__ValueInfoProto **slot =
        amp_arena_push(body->functions->arena, &sink->infos, &sink->n_infos, &sink->infos_capacity,
                       sizeof(Onnx__ValueInfoProto *));
    *slot = copy_info(body, info, name);
}

/* Gives new names to what NODES make. */
static enum amp_status define_outputs(const struct amp_body *body, struct amp_scope *scope,
                                      Onnx__NodeProto *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_shared = amp_body_is_shared(body, nodes[i]);
        if (is_shared)
            AMP_TRY(amp_body_define_shared(body, scope, NULL, NULL, nodes[i]));
        for (size_t k = 0; k < nodes[i]->n_output && !is_shared; k++)
            if (amp_is_text(nodes[i]->output[k]))
                AMP_TRY(amp_body_define(body, scope, nodes[i]->output[k],
                                        amp_body_value_name(body, nodes[i]->output[k])));
    }
    return AMP_OK;
}

/* ---- graphs within a body -------------------------------------------------------------------- */

static enum amp_status copy_inputs(const struct amp_body *body, struct amp_scope *scope,
                                   Onnx__GraphProto *graph)
{
    Onnx__ValueInfoProto **inputs =
        amp_arena_array(body->functions->arena, graph->n_input, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name ? graph->input[i]->name : "";
        AMP_TRY(amp_body_define(body, scope, name, amp_body_value_name(body, name)));
        inputs[i] = copy_info(body, graph->input[i], amp_body_find(scope, name));
    }
    graph->input = inputs;
    return AMP_OK;
}

/* TENSOR under a new name; an initializer may also be an input. */
static enum amp_status copy_tensor(const struct amp_body *body, struct amp_scope *scope,
                                   Onnx__TensorProto **tensor)
{
    Onnx__TensorProto *copy = amp_arena_memdup(body->functions->arena, *tensor, sizeof *copy);
    char empty[] = "", *name = copy->name ? copy->name : empty;
    if (!amp_strmap_get(&scope->ids, name, NULL))
        AMP_TRY(amp_body_define(body, scope, name, amp_body_value_name(body, name)));
    copy->name = amp_body_find(scope, name);
    *tensor = copy;
    return AMP_OK;
}

/* Whether MESSAGE is an initializer, called NAME, that all calls share: no call can override it. */
static bool is_shared_tensor(const struct amp_body *body, const struct amp_scope *scope,
                             const void *message, const char *name, bool is_sparse)
{
    if (!amp_is_text(name) || amp_strmap_get(&scope->ids, name, NULL))
        return false;
    return is_sparse || find_shared(body->functions, message) != NULL || is_large(message);
}

/* Names a shared initializer in SCOPE; true in *IS_NEW when the main graph does not have it yet. */
static enum amp_status define_shared_tensor(const struct amp_body *body, struct amp_scope *scope,
                                            const void *message, const char *name, bool *is_new)
{
    const struct amp_shared *shared = find_shared(body->functions, message);
    *is_new = shared == NULL;
    if (shared == NULL)
        shared = add_shared(body->functions, message, amp_body_value_name(body, name));
    return amp_body_define(body, scope, name, shared->name);
}

static enum amp_status copy_initializer(const struct amp_body *body, struct amp_scope *scope,
                                        Onnx__TensorProto *tensor, struct amp_sink *sink)
{
    bool is_put = true;
    if (is_shared_tensor(body, scope, tensor, tensor->name, false)) {
        AMP_TRY(define_shared_tensor(body, scope, tensor, tensor->name, &is_put));
        sink = body->functions->root;
    }
    AMP_TRY(copy_tensor(body, scope, &tensor));
    if (!is_put)
        return AMP_OK;
    Onnx__TensorProto **slot =
        amp_arena_push(body->functions->arena, &sink->tensors, &sink->n_tensors,
                       &sink->tensors_capacity, sizeof(Onnx__TensorProto *));
    *slot = tensor;
    return AMP_OK;
}

static enum amp_status copy_sparse(const struct amp_body *body, struct amp_scope *scope,
                                   const Onnx__SparseTensorProto *sparse, struct amp_sink *sink)
{
    bool is_put = true;
    Onnx__SparseTensorProto *copy = amp_arena_memdup(body->functions->arena, sparse, sizeof *copy);
    const char *name = sparse->values != NULL ? sparse->values->name : NULL;
    if (is_shared_tensor(body, scope, sparse, name, true)) {
        AMP_TRY(define_shared_tensor(body, scope, sparse, name, &is_put));
        sink = body->functions->root;
    }
    if (copy->values != NULL)
        AMP_TRY(copy_tensor(body, scope, &copy->values));
    if (!is_put)
        return AMP_OK;
    Onnx__SparseTensorProto **slot =
        amp_arena_push(body->functions->arena, &sink->sparse, &sink->n_sparse,
                       &sink->sparse_capacity, sizeof(Onnx__SparseTensorProto *));
    *slot = copy;
    return AMP_OK;
}

static enum amp_status copy_initializers(const struct amp_body *body, struct amp_scope *scope,
                                         const Onnx__GraphProto *graph, struct amp_sink *sink)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        AMP_TRY(copy_initializer(body, scope, graph->initializer[i], sink));
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        AMP_TRY(copy_sparse(body, scope, graph->sparse_initializer[i], sink));
    return AMP_OK;
}

static enum amp_status copy_outputs(const struct amp_body *body, const struct amp_scope *scope,
                                    Onnx__GraphProto *graph)
{
    Onnx__ValueInfoProto **outputs =
        amp_arena_array(body->functions->arena, graph->n_output, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        if (amp_body_find(scope, name) == NULL)
            return amp_body_fail(body, name, "is not defined");
        outputs[i] = copy_info(body, graph->output[i], amp_body_find(scope, name));
    }
    graph->output = outputs;
    return AMP_OK;
}

void amp_body_copy_infos(const struct amp_body *body, const struct amp_scope *scope,
                         Onnx__ValueInfoProto *const *infos, size_t count, struct amp_sink *sink)
{
    uint32_t id;
    for (size_t i = 0; i < count && scope->names != NULL; i++)
        if (infos[i]->name != NULL && amp_strmap_get(&scope->ids, infos[i]->name, &id))
            put_info(body, infos[i], scope->names[id], sink);
}

static enum amp_status copy_graph(const struct amp_body *body, const struct amp_scope *outer,
                                  Onnx__GraphProto **graph)
{
    struct amp_scope scope = {.outer = outer};
    struct amp_sink sink = {.n_nodes = 0};
    Onnx__GraphProto *copy = amp_arena_memdup(body->functions->arena, *graph, sizeof *copy);
    AMP_TRY(copy_inputs(body, &scope, copy));
    AMP_TRY(copy_initializers(body, &scope, *graph, &sink));
    AMP_TRY(define_outputs(body, &scope, copy->node, copy->n_node));
    for (size_t i = 0; i < copy->n_node; i++)
        AMP_TRY(amp_body_copy_node(body, &scope, copy->node[i], &sink));
    AMP_TRY(copy_outputs(body, &scope, copy));
    amp_body_copy_infos(body, &scope, copy->value_info, copy->n_value_info, &sink);
    copy->node = sink.nodes;
    copy->n_node = sink.n_nodes;
    copy->initializer = sink.tensors;
    copy->n_initializer = sink.n_tensors;
    copy->sparse_initializer = sink.sparse;
    copy->n_sparse_initializer = sink.n_sparse;
    copy->value_info = sink.infos;
    copy->n_value_info = sink.n_infos;
    copy->n_quantization_annotation = 0; /* it names values of the original */
    *graph = copy;
    return AMP_OK;
}

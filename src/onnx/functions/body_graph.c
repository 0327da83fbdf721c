/*
 * Copies what a graph within the body of a function has besides its nodes: inputs, outputs, types
 * of values, initializers, under the names that they have for one call. The function's messages
 * stay as they are. Data of tensors are shared, not copied.
 */
#include "onnx/functions/body_graph.h"

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* What a conversion changes of TYPE, the element type of a tensor or of a sequence of tensors, is
   the copy's own. */
static Onnx__TypeProto *copy_type(struct amp_arena *arena, const Onnx__TypeProto *type)
{
    Onnx__TypeProto *copy = amp_arena_memdup(arena, type, sizeof *copy);
    if (type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        copy->tensor_type = amp_arena_memdup(arena, type->tensor_type, sizeof *copy->tensor_type);
    if (type->value_case != ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE)
        return copy;
    copy->sequence_type = amp_arena_memdup(arena, type->sequence_type, sizeof *copy->sequence_type);
    if (type->sequence_type->elem_type != NULL)
        copy->sequence_type->elem_type = copy_type(arena, type->sequence_type->elem_type);
    return copy;
}

/* INFO for value NAME. Types are changed in place where a value's dtype changes, so each value has
   its own. */
static Onnx__ValueInfoProto *copy_info(struct amp_arena *arena, const Onnx__ValueInfoProto *info,
                                       char *name)
{
    Onnx__ValueInfoProto *copy = amp_arena_memdup(arena, info, sizeof *copy);
    copy->name = name;
    if (info->type != NULL)
        copy->type = copy_type(arena, info->type);
    return copy;
}

void amp_body_graph_copy_infos(const struct amp_scope *scope, Onnx__ValueInfoProto *const *infos,
                               size_t count, struct amp_graph_parts *parts)
{
    for (size_t i = 0; i < count; i++)
        if (infos[i]->name != NULL && amp_scope_has(scope, infos[i]->name))
            amp_graph_parts_add_info(
                parts, copy_info(parts->arena, infos[i], amp_scope_find(scope, infos[i]->name)));
}

static enum amp_status copy_inputs(const struct amp_call *call, struct amp_scope *scope,
                                   Onnx__GraphProto *graph)
{
    struct amp_arena *arena = call->inliner->table->arena;
    Onnx__ValueInfoProto **inputs =
        amp_arena_array(arena, graph->n_input, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = text_or_empty(graph->input[i]->name);
        char *becomes = amp_names_new_value(&call->inliner->names, call->prefix, name);
        AMP_TRY(amp_call_define(call, scope, name, becomes));
        inputs[i] = copy_info(arena, graph->input[i], becomes);
    }
    graph->input = inputs;
    return AMP_OK;
}

static enum amp_status copy_outputs(const struct amp_call *call, const struct amp_scope *scope,
                                    Onnx__GraphProto *graph)
{
    struct amp_arena *arena = call->inliner->table->arena;
    Onnx__ValueInfoProto **outputs =
        amp_arena_array(arena, graph->n_output, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = text_or_empty(graph->output[i]->name);
        char *becomes = amp_scope_find(scope, name);
        if (becomes == NULL)
            return amp_call_fail(call, name, "is not defined");
        outputs[i] = copy_info(arena, graph->output[i], becomes);
    }
    graph->output = outputs;
    return AMP_OK;
}

/* ---- initializers ---------------------------------------------------------------------------- */

/* Replaces *TENSOR by a copy under a new name; an initializer may also be an input. */
static enum amp_status copy_tensor(const struct amp_call *call, struct amp_scope *scope,
                                   Onnx__TensorProto **tensor)
{
    struct amp_inliner *inliner = call->inliner;
    Onnx__TensorProto *copy = amp_arena_memdup(inliner->table->arena, *tensor, sizeof *copy);
    const char *name = text_or_empty(copy->name);
    if (!amp_scope_has(scope, name))
        AMP_TRY(amp_call_define(call, scope, name,
                                amp_names_new_value(&inliner->names, call->prefix, name)));
    copy->name = amp_scope_find(scope, name);
    *tensor = copy;
    return AMP_OK;
}

/* Whether initializer MESSAGE, called NAME, is one that all calls share. One that is also an input
   may be overridden and is not. */
static bool is_shared(const struct amp_call *call, const struct amp_scope *scope,
                      const ProtobufCMessage *message, const char *name)
{
    if (!amp_is_text(name) || amp_scope_has(scope, name))
        return false;
    return message->descriptor == &onnx__sparse_tensor_proto__descriptor ||
           amp_shared_constants_find(&call->inliner->constants, message) != NULL ||
           amp_shared_constants_is_large(message);
}

/* Names a shared initializer in SCOPE; true in *IS_NEW when the main graph does not have it yet. */
static enum amp_status define_shared(const struct amp_call *call, struct amp_scope *scope,
                                     const ProtobufCMessage *message, const char *name,
                                     bool *is_new)
{
    struct amp_inliner *inliner = call->inliner;
    const struct amp_shared_constant *shared =
        amp_shared_constants_find(&inliner->constants, message);
    *is_new = shared == NULL;
    if (shared == NULL)
        shared = amp_shared_constants_add(&inliner->constants, message,
                                          amp_names_new_value(&inliner->names, call->prefix, name));
    return amp_call_define(call, scope, name, shared->name);
}

static enum amp_status copy_dense(const struct amp_call *call, struct amp_scope *scope,
                                  Onnx__TensorProto *tensor, struct amp_graph_parts *parts)
{
    bool is_put = true;
    if (is_shared(call, scope, &tensor->base, tensor->name)) {
        AMP_TRY(define_shared(call, scope, &tensor->base, tensor->name, &is_put));
        parts = call->inliner->root;
    }
    AMP_TRY(copy_tensor(call, scope, &tensor));
    if (is_put)
        amp_graph_parts_add_tensor(parts, tensor);
    return AMP_OK;
}

static enum amp_status copy_sparse(const struct amp_call *call, struct amp_scope *scope,
                                   const Onnx__SparseTensorProto *sparse,
                                   struct amp_graph_parts *parts)
{
    bool is_put = true;
    Onnx__SparseTensorProto *copy =
        amp_arena_memdup(call->inliner->table->arena, sparse, sizeof *copy);
    const char *name = sparse->values != NULL ? sparse->values->name : NULL;
    if (is_shared(call, scope, &sparse->base, name)) {
        AMP_TRY(define_shared(call, scope, &sparse->base, name, &is_put));
        parts = call->inliner->root;
    }
    if (copy->values != NULL)
        AMP_TRY(copy_tensor(call, scope, &copy->values));
    if (is_put)
        amp_graph_parts_add_sparse(parts, copy);
    return AMP_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum amp_status amp_body_graph_begin(const struct amp_call *call, struct amp_scope *scope,
                                     Onnx__GraphProto *graph, struct amp_graph_parts *parts)
{
    AMP_TRY(copy_inputs(call, scope, graph));
    for (size_t i = 0; i < graph->n_initializer; i++)
        AMP_TRY(copy_dense(call, scope, graph->initializer[i], parts));
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        AMP_TRY(copy_sparse(call, scope, graph->sparse_initializer[i], parts));
    for (size_t i = 0; i < graph->n_node; i++)
        AMP_TRY(amp_call_define_outputs(call, scope, graph->node[i]));
    return AMP_OK;
}

enum amp_status amp_body_graph_end(const struct amp_call *call, const struct amp_scope *scope,
                                   Onnx__GraphProto *graph, struct amp_graph_parts *parts)
{
    AMP_TRY(copy_outputs(call, scope, graph));
    amp_body_graph_copy_infos(scope, graph->value_info, graph->n_value_info, parts);
    amp_graph_parts_move(parts, graph);
    graph->n_quantization_annotation = 0; /* it names values of the original */
    return AMP_OK;
}

/*
 * Reads a model: bytes to message to graph. Names become ids here, once, so that no later stage
 * looks a name up; each value gets the type that the file declares for it. The message stays behind
 * the origin pointers for the writer. Attributes are read in attribute_proto.c, types in
 * type_proto.c, tensors in tensor_proto.c. Infers no types.
 */
#include "onnx/file/read.h"

#include "core/graph/order.h"
#include "onnx/file/attribute_proto.h"
#include "onnx/file/constant_node.h"
#include "onnx/file/external.h"
#include "onnx/file/model_bytes.h"
#include "onnx/file/reader.h"
#include "onnx/file/tensor_proto.h"
#include "onnx/file/type_proto.h"
#include "onnx/file/wire.h"
#include "onnx/functions/functions.h"
#include "onnx/schema/check.h"
#include "onnx/schema/schema.h"

#include <string.h>

/* One graph while it is read. */
struct scope {
    uint32_t graph;            /* its id */
    struct amp_strmap values;  /* name -> value id */
    const struct scope *outer; /* the graph around it; NULL: the main graph */
    int depth;                 /* graphs around it */
};

static enum amp_status read_graph(struct amp_reader *reader, Onnx__GraphProto *proto,
                                  uint32_t owner, const struct scope *outer, uint32_t *id);

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* A new value of the graph under NAME, which the graph must not have yet; WHAT for messages. */
static enum amp_status define(struct amp_reader *reader, struct scope *scope, const char *name,
                              const char *what, uint32_t *id)
{
    if (name == NULL || name[0] == '\0')
        return amp_fail(reader->err, AMP_MODEL, "%s without a name", what);
    if (amp_strmap_get(&scope->values, name, NULL))
        return amp_fail(reader->err, AMP_MODEL, "%s '%s': the name is taken by another value", what,
                        name);
    *id = amp_graph_add_value(reader->model, scope->graph, name);
    amp_strmap_put(&scope->values, reader->model->arena, name, *id);
    return AMP_OK;
}

static enum amp_status read_inputs(struct amp_reader *reader, const Onnx__GraphProto *proto,
                                   struct scope *scope)
{
    for (size_t i = 0; i < proto->n_input; i++) {
        const Onnx__ValueInfoProto *info = proto->input[i];
        uint32_t id;
        AMP_TRY(define(reader, scope, info->name, "graph input", &id));
        AMP_TRY(amp_type_from_proto(reader, info->type, id));
        amp_value_at(reader->model, id)->is_input = true;
        amp_ids_push(reader->model, &reader->model->graphs[scope->graph].inputs, id);
    }
    return AMP_OK;
}

/* Gives value ID the initializer TENSOR. Before IR version 4 every initializer had to be an input
   as well, which says nothing; since then it makes the initializer a default that callers override.
   */
static void initialize(struct amp_model *model, uint32_t id, struct amp_tensor *tensor,
                       void *origin)
{
    struct amp_value *value = amp_value_at(model, id);
    value->is_initializer = true;
    value->origin = origin;
    value->initial = tensor;
    if (!value->is_input || model->ir_version < 4)
        value->constant = tensor;
    value->kind = AMP_KIND_TENSOR;
    value->dtype = tensor->dtype;
    amp_value_set_shape(model, id, &tensor->shape);
    amp_ids_push(model, &model->graphs[value->graph].initializers, id);
}

/* Adds initializer NAME, or makes it that of the input NAME. ORIGIN is its message. */
static enum amp_status add_initializer(struct amp_reader *reader, struct scope *scope,
                                       const char *name, struct amp_tensor *tensor, void *origin)
{
    uint32_t id;
    if (name != NULL && amp_strmap_get(&scope->values, name, &id)) {
        const struct amp_value *value = amp_value_at(reader->model, id);
        if (value->is_initializer)
            return amp_fail(reader->err, AMP_MODEL,
                            "initializer '%s': the name is taken by another value", name);
        if (value->dtype != AMP_UNDEFINED && value->dtype != tensor->dtype)
            return amp_fail(reader->err, AMP_MODEL,
                            "initializer '%s' is %s; the graph input of that name is %s", name,
                            amp_dtype_name(tensor->dtype), amp_dtype_name(value->dtype));
    } else {
        AMP_TRY(define(reader, scope, name, "initializer", &id));
    }
    initialize(reader->model, id, tensor, origin);
    return AMP_OK;
}

static enum amp_status read_initializers(struct amp_reader *reader, const Onnx__GraphProto *proto,
                                         struct scope *scope)
{
    struct amp_arena *arena = reader->model->arena;
    for (size_t i = 0; i < proto->n_initializer; i++) {
        Onnx__TensorProto *tensor_proto = proto->initializer[i];
        struct amp_tensor *tensor = amp_arena_alloc(arena, sizeof *tensor);
        if (amp_tensor_from_proto(tensor_proto, arena, reader->external, tensor, reader->err)) {
            amp_error_prefix(reader->err, "initializer '%s'", text_or_empty(tensor_proto->name));
            return reader->err->status;
        }
        AMP_TRY(add_initializer(reader, scope, tensor_proto->name, tensor, tensor_proto));
    }
    for (size_t i = 0; i < proto->n_sparse_initializer; i++) {
        Onnx__SparseTensorProto *sparse = proto->sparse_initializer[i];
        const char *name = sparse->values ? sparse->values->name : NULL;
        struct amp_tensor *tensor = amp_arena_alloc(arena, sizeof *tensor);
        if (amp_tensor_from_sparse(sparse, arena, reader->external, tensor, reader->err)) {
            amp_error_prefix(reader->err, "sparse initializer '%s'", text_or_empty(name));
            return reader->err->status;
        }
        AMP_TRY(add_initializer(reader, scope, name, tensor, sparse));
    }
    return AMP_OK;
}

/* Texts that are longer than any exporter's are not read: many nodes may share one. */
enum { NOTE_MAX = 8192 };

/* What torch.onnx writes into the metadata of nodes (torch/onnx/_internal/exporter, PyTorch 2.6).
 */
static struct amp_export_note export_note(const Onnx__NodeProto *proto)
{
    struct amp_export_note note = {.fx_node = NULL};
    for (size_t i = 0; i < proto->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *entry = proto->metadata_props[i];
        if (entry->key == NULL || entry->value == NULL ||
            strnlen(entry->value, NOTE_MAX) == NOTE_MAX)
            continue;
        if (strcmp(entry->key, "pkg.torch.onnx.fx_node") == 0)
            note.fx_node = entry->value;
        else if (strcmp(entry->key, "namespace") == 0)
            note.scope = entry->value;
        else if (strcmp(entry->key, "pkg.torch.onnx.stack_trace") == 0)
            note.stack_trace = entry->value;
    }
    return note;
}

/* Adds node INDEX of the graph with its outputs; inputs and attributes come when all names of the
   graph are known. */
static enum amp_status add_node(struct amp_reader *reader, Onnx__NodeProto *proto,
                                struct scope *scope, size_t index)
{
    struct amp_model *model = reader->model;
    if (proto->op_type == NULL || proto->op_type[0] == '\0')
        return amp_fail(reader->err, AMP_MODEL, "node %zu '%s' has no op_type", index,
                        text_or_empty(proto->name));
    uint32_t id = amp_graph_add_node(model, scope->graph, proto->op_type, (uint32_t)proto->n_input,
                                     (uint32_t)proto->n_output);
    struct amp_node *node = amp_node_at(model, id);
    node->name = text_or_empty(proto->name);
    node->domain = text_or_empty(proto->domain);
    if (strcmp(node->domain, "ai.onnx") == 0)
        node->domain = "";
    node->origin = proto;
    node->note = export_note(proto);
    if (node->name[0] != '\0' && !amp_strmap_get(&model->names, node->name, NULL))
        amp_strmap_put(&model->names, model->arena, node->name, 1);
    for (uint32_t i = 0; i < proto->n_output; i++) {
        uint32_t value;
        if (proto->output[i][0] == '\0')
            continue;
        if (define(reader, scope, proto->output[i], "output", &value)) {
            amp_error_prefix(reader->err, "node %zu '%s' (%s)", index, text_or_empty(proto->name),
                             proto->op_type);
            return reader->err->status;
        }
        amp_node_set_output(model, id, i, value);
    }
    return AMP_OK;
}

static enum amp_status read_value_infos(struct amp_reader *reader, const Onnx__GraphProto *proto,
                                        const struct scope *scope)
{
    for (size_t i = 0; i < proto->n_value_info; i++) {
        const Onnx__ValueInfoProto *info = proto->value_info[i];
        uint32_t id;
        /* A stale entry describes nothing; the writer drops it. Initializers know their own type.
         */
        if (info->name == NULL || !amp_strmap_get(&scope->values, info->name, &id) ||
            amp_value_at(reader->model, id)->is_initializer)
            continue;
        AMP_TRY(amp_type_from_proto(reader, info->type, id));
    }
    return AMP_OK;
}

/* Finds value NAME in the graph or those around it. */
static bool lookup(const struct scope *scope, const char *name, uint32_t *id)
{
    for (; scope != NULL; scope = scope->outer)
        if (amp_strmap_get(&scope->values, name, id))
            return true;
    return false;
}

static enum amp_status read_outputs(struct amp_reader *reader, const Onnx__GraphProto *proto,
                                    const struct scope *scope)
{
    for (size_t i = 0; i < proto->n_output; i++) {
        const Onnx__ValueInfoProto *info = proto->output[i];
        uint32_t id;
        if (info->name == NULL || !lookup(scope, info->name, &id))
            return amp_fail(reader->err, AMP_MODEL, "graph output '%s' is not defined",
                            text_or_empty(info->name));
        struct amp_value *value = amp_value_at(reader->model, id);
        if (value->graph == scope->graph) {
            value->is_output = true;
            if (!value->is_initializer && !value->is_input)
                AMP_TRY(amp_type_from_proto(reader, info->type, id));
        }
        amp_ids_push(reader->model, &reader->model->graphs[scope->graph].outputs, id);
    }
    return AMP_OK;
}

/* Sets the schema of NODE; none for an unknown operator or an unknown domain. */
static void find_schema(const struct amp_model *model, struct amp_node *node)
{
    int64_t opset = amp_model_opset(model, node->domain);
    node->schema = amp_schema_find(node->domain, node->op_type, (int)opset);
    node->since_version = node->schema ? node->schema->since_version : 0;
}

/* Sets the inputs of node ID. */
static enum amp_status connect(struct amp_reader *reader, uint32_t id, const struct scope *scope)
{
    struct amp_node *node = amp_node_at(reader->model, id);
    const Onnx__NodeProto *proto = node->origin;
    char text[512];
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (proto->input[i][0] != '\0' && !lookup(scope, proto->input[i], &node->inputs[i]))
            return amp_fail(reader->err, AMP_MODEL, "%s, input %u: value '%s' is not defined",
                            amp_node_text(reader->model, id, text, sizeof text), i,
                            proto->input[i]);
    return AMP_OK;
}

/* Reads the subgraphs that ATTR of NODE holds. */
static enum amp_status read_bodies(struct amp_reader *reader, uint32_t node, struct amp_attr *attr,
                                   const struct scope *scope)
{
    const Onnx__AttributeProto *proto = attr->origin;
    bool is_list = attr->type == AMP_ATTR_GRAPHS;
    if (!is_list && attr->type != AMP_ATTR_GRAPH)
        return AMP_OK;
    uint32_t *graphs = amp_arena_array(reader->model->arena, attr->count, sizeof *graphs);
    for (size_t i = 0; i < attr->count; i++)
        AMP_TRY(read_graph(reader, is_list ? proto->graphs[i] : proto->g, node, scope, &graphs[i]));
    attr->graphs = graphs;
    return AMP_OK;
}

static enum amp_status read_attrs(struct amp_reader *reader, uint32_t id, const struct scope *scope)
{
    const Onnx__NodeProto *proto = amp_node_at(reader->model, id)->origin;
    struct amp_attr *attrs =
        amp_arena_array(reader->model->arena, proto->n_attribute, sizeof *attrs);
    char text[512];
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (amp_attr_from_proto(reader, proto->attribute[i], &attrs[i])) {
            amp_error_prefix(reader->err, "%s",
                             amp_node_text(reader->model, id, text, sizeof text));
            return reader->err->status;
        }
    amp_node_at(reader->model, id)->attrs = attrs;
    amp_node_at(reader->model, id)->n_attrs = (uint32_t)proto->n_attribute;
    for (size_t i = 0; i < proto->n_attribute; i++)
        AMP_TRY(read_bodies(reader, id, &attrs[i], scope));
    return AMP_OK;
}

static enum amp_status read_nodes(struct amp_reader *reader, const struct scope *scope)
{
    struct amp_model *model = reader->model;
    /* Reading bodies adds graphs, which may move the arrays: nothing here keeps a pointer. */
    size_t count = model->graphs[scope->graph].nodes.count;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = model->graphs[scope->graph].nodes.items[i];
        find_schema(model, amp_node_at(model, id));
        AMP_TRY(connect(reader, id, scope));
        AMP_TRY(read_attrs(reader, id, scope));
        if (amp_check_node(model, id, reader->err) != AMP_OK)
            AMP_TRY(amp_check_forgive(model, id, reader->err));
        amp_constant_node_read(model, id);
        AMP_TRY(amp_type_of_optional(reader, id));
    }
    return AMP_OK;
}

/* Gives output I of a body a value of its own where it names one from outside, which ONNX does not
   allow, though exporters write it. */
static enum amp_status own_output(struct amp_reader *reader, const Onnx__ValueInfoProto *info,
                                  uint32_t graph, size_t i)
{
    struct amp_model *model = reader->model;
    uint32_t outer = model->graphs[graph].outputs.items[i];
    if (amp_value_at(model, outer)->graph == graph)
        return AMP_OK;
    const char *name = amp_model_unique_name(model, info->name);
    uint32_t value = amp_graph_add_value(model, graph, name);
    uint32_t node = amp_graph_add_node(model, graph, "Identity", 1, 1);
    amp_node_at(model, node)->name =
        amp_model_unique_name(model, amp_arena_printf(model->arena, "Identity/%s", name));
    amp_node_at(model, node)->inputs[0] = outer;
    amp_node_set_output(model, node, 0, value);
    find_schema(model, amp_node_at(model, node));
    amp_constant_node_read(model, node);
    amp_value_at(model, value)->is_output = true;
    model->graphs[graph].outputs.items[i] = value;
    return amp_type_from_proto(reader, info->type, value);
}

/* Reads PROTO, which node OWNER holds (AMP_NONE: the main graph), and the graphs within. */
static enum amp_status read_graph(struct amp_reader *reader, Onnx__GraphProto *proto,
                                  uint32_t owner, const struct scope *outer, uint32_t *id)
{
    struct scope scope = {.outer = outer, .depth = outer ? outer->depth + 1 : 0};
    if (scope.depth > AMP_SUBGRAPH_DEPTH_MAX)
        return amp_fail(reader->err, AMP_MODEL, "subgraphs nested more than %d deep",
                        AMP_SUBGRAPH_DEPTH_MAX);
    *id = amp_graph_add(reader->model, text_or_empty(proto->name), owner);
    reader->model->graphs[*id].origin = proto;
    scope.graph = *id;
    AMP_TRY(read_inputs(reader, proto, &scope));
    AMP_TRY(read_initializers(reader, proto, &scope));
    for (size_t i = 0; i < proto->n_node; i++)
        AMP_TRY(add_node(reader, proto->node[i], &scope, i));
    AMP_TRY(read_value_infos(reader, proto, &scope));
    AMP_TRY(read_outputs(reader, proto, &scope));
    AMP_TRY(read_nodes(reader, &scope));
    for (size_t i = 0; i < proto->n_output; i++)
        AMP_TRY(own_output(reader, proto->output[i], *id, i));
    return AMP_OK;
}

static enum amp_status read_opsets(struct amp_reader *reader, const Onnx__ModelProto *proto)
{
    struct amp_model *model = reader->model;
    for (size_t i = 0; i < proto->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *import = proto->opset_import[i];
        const char *domain = text_or_empty(import->domain);
        const char *shown = domain[0] ? domain : "ai.onnx";
        int newest = amp_schema_newest_opset(domain);
        if (import->version < 1)
            return amp_fail(reader->err, AMP_MODEL,
                            "opset version %lld of %s; 1 and above are possible",
                            (long long)import->version, shown);
        if (newest > 0 && import->version > newest)
            return amp_fail(reader->err, AMP_UNSUPPORTED,
                            "opset version %lld of %s; the newest known is %d",
                            (long long)import->version, shown, newest);
        amp_model_import(model, domain, import->version);
    }
    if (model->n_opsets == 0)
        return amp_fail(reader->err, AMP_MODEL, "the model has no opset_import");
    return AMP_OK;
}

enum amp_status amp_reader_read_graph(struct amp_reader *reader, Onnx__GraphProto *proto)
{
    uint32_t main_graph;
    return read_graph(reader, proto, AMP_NONE, NULL, &main_graph);
}

/* What the metadata say of the pixels of images (onnx, docs/MetadataProps.md); NULL: nothing. */
static const char *pixel_range(const Onnx__ModelProto *proto)
{
    for (size_t i = 0; i < proto->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *entry = proto->metadata_props[i];
        if (entry->key != NULL && strcmp(entry->key, "Image.NominalPixelRange") == 0)
            return entry->value;
    }
    return NULL;
}

static enum amp_status read_model(struct amp_reader *reader, Onnx__ModelProto *proto)
{
    struct amp_model *model = reader->model;
    int newest = amp_schema_ir_version(amp_schema_newest_opset(""));
    model->origin = proto;
    model->producer = proto->producer_name;
    model->pixel_range = pixel_range(proto);
    model->ir_version = proto->ir_version;
    if (proto->graph == NULL)
        return amp_fail(reader->err, AMP_MODEL, "the model has no graph");
    if (proto->ir_version < 3)
        return amp_fail(reader->err, AMP_MODEL, "IR version %lld; 3 and newer are supported",
                        (long long)proto->ir_version);
    if (proto->ir_version > newest)
        return amp_fail(reader->err, AMP_UNSUPPORTED, "IR version %lld; the newest known is %d",
                        (long long)proto->ir_version, newest);
    AMP_TRY(amp_functions_inline(proto, !reader->keeps_functions, model->arena, reader->err));
    AMP_TRY(read_opsets(reader, proto));
    return amp_reader_read_graph(reader, proto->graph);
}

static enum amp_status parse_bytes(struct amp_reader *reader, const struct amp_bytes *bytes)
{
    if (bytes->size == 0)
        return amp_fail(reader->err, AMP_MODEL, "the file is empty");
    ProtobufCMessage *message = amp_wire_parse(&onnx__model_proto__descriptor, bytes->data,
                                               bytes->size, reader->model->arena, reader->err);
    return message != NULL ? read_model(reader, (Onnx__ModelProto *)message) : AMP_MODEL;
}

/* Reads the model in the bytes of FILE and fills in all else. PATH is as the user gave it. */
static enum amp_status read_bytes(const char *path, bool keeps_functions,
                                  struct amp_model_file *file, struct amp_error *err)
{
    file->arena = amp_arena_create();
    file->path = amp_arena_strdup(file->arena, path);
    file->external = amp_external_create(path);
    file->model = amp_model_create(file->arena, strcmp(path, "-") == 0 ? "stdin" : file->path);
    struct amp_reader reader = {file->model, file->external, keeps_functions, err};
    enum amp_status status = parse_bytes(&reader, &file->bytes);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", file->model->path);
    else
        status = amp_graph_sort(file->model, &file->was_unsorted, err);
    if (status != AMP_OK) {
        amp_model_close(file);
        return status;
    }
    const Onnx__ModelProto *proto = file->model->origin;
    file->has_functions = proto->n_functions > 0;
    file->is_trained = proto->n_training_info > 0;
    return AMP_OK;
}

enum amp_status amp_model_read(const char *path, struct amp_model_file *file, struct amp_error *err)
{
    *file = (struct amp_model_file){.arena = NULL};
    AMP_TRY(amp_model_bytes_open(&file->bytes, path, err));
    return read_bytes(path, false, file, err);
}

enum amp_status amp_model_read_to_convert(const char *path, struct amp_model_file *file,
                                          struct amp_error *err)
{
    *file = (struct amp_model_file){.arena = NULL};
    AMP_TRY(amp_model_bytes_open(&file->bytes, path, err));
    return read_bytes(path, true, file, err);
}

enum amp_status amp_model_read_again(const struct amp_model_file *from, struct amp_model_file *file,
                                     struct amp_error *err)
{
    *file = (struct amp_model_file){.bytes = from->bytes, .shares_bytes = true};
    return read_bytes(from->path, false, file, err);
}

void amp_model_close(struct amp_model_file *file)
{
    amp_external_destroy(file->external);
    if (!file->shares_bytes)
        amp_bytes_close(&file->bytes);
    amp_arena_destroy(file->arena);
    *file = (struct amp_model_file){.arena = NULL};
}

/*
 * Brings the message that a model was read from up to date with the graph: takes the message that
 * the reader left behind the origin pointers and changes in it what the passes changed, so that all
 * else (doc strings, metadata, unknown fields) is written as it was read. Messages are made for
 * nodes, values and graphs that have none. Packs and writes nothing.
 */
#include "onnx/file/update.h"

#include "onnx/file/attribute_proto.h"
#include "onnx/file/tensor_proto.h"
#include "onnx/file/type_proto.h"

#include <stdlib.h>

/* A message's strings are `char *` though nothing changes them. */
static char *mutable_text(const char *text)
{
    union {
        const char *from;
        char *to;
    } pun = {.from = text};
    return pun.to;
}

static char **names_of(const struct amp_model *model, const uint32_t *ids, uint32_t count)
{
    char **names = amp_arena_array(model->arena, count, sizeof *names);
    for (uint32_t i = 0; i < count; i++)
        names[i] = mutable_text(ids[i] == AMP_NONE ? "" : amp_value_at(model, ids[i])->name);
    return names;
}

static Onnx__NodeProto *create_node(const struct amp_model *model, const struct amp_node *node)
{
    Onnx__NodeProto *proto = amp_arena_alloc(model->arena, sizeof *proto);
    onnx__node_proto__init(proto);
    proto->op_type = mutable_text(node->op_type);
    if (node->domain[0] != '\0')
        proto->domain = mutable_text(node->domain);
    return proto;
}

static Onnx__AttributeProto *create_attr(const struct amp_model *model, const struct amp_attr *attr)
{
    Onnx__AttributeProto *proto = amp_attr_to_proto(attr, model->arena);
    if (attr->type == AMP_ATTR_GRAPH)
        proto->g = model->graphs[attr->graphs[0]].origin;
    return proto;
}

static Onnx__NodeProto *update_node(struct amp_model *model, uint32_t id)
{
    struct amp_node *node = amp_node_at(model, id);
    if (node->origin == NULL)
        node->origin = create_node(model, node);
    Onnx__NodeProto *proto = node->origin;
    proto->op_type = mutable_text(node->op_type);
    if (node->name[0] != '\0')
        proto->name = mutable_text(node->name);
    proto->n_input = node->n_inputs;
    proto->input = names_of(model, node->inputs, node->n_inputs);
    proto->n_output = node->n_outputs;
    proto->output = names_of(model, node->outputs, node->n_outputs);
    proto->n_attribute = node->n_attrs;
    proto->attribute = amp_arena_array(model->arena, node->n_attrs, sizeof(Onnx__AttributeProto *));
    for (uint32_t i = 0; i < node->n_attrs; i++) {
        if (node->attrs[i].origin == NULL)
            node->attrs[i].origin = create_attr(model, &node->attrs[i]);
        proto->attribute[i] = node->attrs[i].origin;
    }
    return proto;
}

static void update_nodes(struct amp_model *model, const struct amp_graph *graph,
                         Onnx__GraphProto *proto)
{
    proto->n_node = graph->nodes.count;
    proto->node = amp_arena_array(model->arena, proto->n_node, sizeof(Onnx__NodeProto *));
    for (size_t i = 0; i < graph->nodes.count; i++)
        proto->node[i] = update_node(model, graph->nodes.items[i]);
}

static Onnx__TensorProto *create_initializer(struct amp_model *model, const struct amp_value *value,
                                             struct amp_deferred *deferred)
{
    const struct amp_tensor *tensor = value->initial;
    Onnx__TensorProto *proto = amp_tensor_to_proto(tensor, value->name, model->arena);
    if (tensor->data == NULL && tensor->source != NULL)
        proto->raw_data.data = amp_deferred_add(deferred, tensor);
    return proto;
}

static void update_initializers(struct amp_model *model, const struct amp_graph *graph,
                                Onnx__GraphProto *proto, struct amp_deferred *deferred)
{
    size_t count = graph->initializers.count;
    proto->n_initializer = proto->n_sparse_initializer = 0;
    proto->initializer = amp_arena_array(model->arena, count, sizeof(Onnx__TensorProto *));
    proto->sparse_initializer =
        amp_arena_array(model->arena, count, sizeof(Onnx__SparseTensorProto *));
    for (size_t i = 0; i < count; i++) {
        struct amp_value *value = amp_value_at(model, graph->initializers.items[i]);
        ProtobufCMessage *origin = value->origin;
        if (origin == NULL)
            origin = &create_initializer(model, value, deferred)->base;
        if (origin->descriptor == &onnx__sparse_tensor_proto__descriptor) {
            proto->sparse_initializer[proto->n_sparse_initializer++] = value->origin;
            continue;
        }
        proto->initializer[proto->n_initializer++] = (Onnx__TensorProto *)origin;
    }
}

/* Whether SHAPE, as the file declares it, contradicts the shape of VALUE in the graph: another
   rank, or another number where both are known. */
static bool is_contradicted(const Onnx__TensorShapeProto *shape, const struct amp_value *value)
{
    if (shape == NULL || value->rank < 0)
        return false;
    if (shape->n_dim != (size_t)value->rank)
        return true;
    for (int i = 0; i < value->rank; i++)
        if (shape->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
            shape->dim[i]->dim_value >= 0 && value->dims[i] >= 0 &&
            shape->dim[i]->dim_value != value->dims[i])
            return true;
    return false;
}

static bool is_sequence_of_tensors(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto *type = info->type;
    return type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE &&
           type->sequence_type->elem_type != NULL &&
           type->sequence_type->elem_type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
}

/* Sets in INFO, where it is a tensor's, the dtype that VALUE has in the graph, and its shape where
   the declared one contradicts it; where it is a sequence's, the dtype of its tensors. Dims that
   the file left open stay open. */
static Onnx__ValueInfoProto *update_info(const struct amp_model *model, Onnx__ValueInfoProto *info,
                                         const struct amp_value *value)
{
    bool is_tensor =
        info->type != NULL && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    if (value->dtype == AMP_UNDEFINED)
        return info;
    if (value->kind == AMP_KIND_SEQUENCE && is_sequence_of_tensors(info))
        info->type->sequence_type->elem_type->tensor_type->elem_type = value->dtype;
    if (value->kind != AMP_KIND_TENSOR || !is_tensor)
        return info;
    info->type->tensor_type->elem_type = value->dtype;
    if (is_contradicted(info->type->tensor_type->shape, value))
        info->type->tensor_type->shape = amp_type_to_proto(model, value)->tensor_type->shape;
    return info;
}

/* The values of GRAPH that value_info may describe, by name: initializers, and what nodes give that
   is no output of the graph. */
static struct amp_strmap inner_values(struct amp_model *model, const struct amp_graph *graph)
{
    struct amp_strmap map = {.count = 0};
    for (size_t i = 0; i < graph->initializers.count; i++)
        amp_strmap_put(&map, model->arena, amp_value_at(model, graph->initializers.items[i])->name,
                       graph->initializers.items[i]);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct amp_node *node = amp_node_at(model, graph->nodes.items[i]);
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE && !amp_value_at(model, node->outputs[k])->is_output)
                amp_strmap_put(&map, model->arena, amp_value_at(model, node->outputs[k])->name,
                               node->outputs[k]);
    }
    return map;
}

/* A new entry for a value that had none, as an initializer must have among the inputs before IR 4.
 */
static Onnx__ValueInfoProto *create_info(struct amp_model *model, const struct amp_value *value)
{
    Onnx__ValueInfoProto *info = amp_arena_alloc(model->arena, sizeof *info);
    onnx__value_info_proto__init(info);
    info->name = mutable_text(value->name);
    if (value->dtype != AMP_UNDEFINED)
        info->type = amp_type_to_proto(model, value);
    return info;
}

/* Keeps the entries of values that are still there, and notes their names in DECLARED. */
static void keep_value_info(struct amp_model *model, const struct amp_graph *graph,
                            Onnx__GraphProto *proto, struct amp_strmap *declared)
{
    struct amp_strmap values = inner_values(model, graph);
    size_t kept = 0;
    for (size_t i = 0; i < proto->n_value_info; i++) {
        Onnx__ValueInfoProto *info = proto->value_info[i];
        uint32_t id;
        if (info->name == NULL || !amp_strmap_get(&values, info->name, &id))
            continue;
        proto->value_info[kept++] = update_info(model, info, amp_value_at(model, id));
        amp_strmap_put(declared, model->arena, info->name, id);
    }
    proto->n_value_info = kept;
}

/* Whether nothing but an entry could tell the type of VALUE, which a node gives that no table
   defines: it was an output of its graph before a cast took its place. */
static bool needs_info(const struct amp_value *value, const struct amp_strmap *declared)
{
    return !value->is_output && value->kind == AMP_KIND_TENSOR && value->dtype != AMP_UNDEFINED &&
           !amp_strmap_get(declared, value->name, NULL);
}

static void add_value_info(struct amp_model *model, const struct amp_graph *graph,
                           Onnx__GraphProto *proto, const struct amp_strmap *declared)
{
    struct amp_ids added = {.items = NULL};
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct amp_node *node = amp_node_at(model, graph->nodes.items[i]);
        for (uint32_t k = 0; k < node->n_outputs && node->schema == NULL; k++)
            if (node->outputs[k] != AMP_NONE &&
                needs_info(amp_value_at(model, node->outputs[k]), declared))
                amp_ids_push(model, &added, node->outputs[k]);
    }
    if (added.count == 0)
        return;
    size_t count = proto->n_value_info;
    Onnx__ValueInfoProto **infos =
        amp_arena_array(model->arena, count + added.count, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < count; i++)
        infos[i] = proto->value_info[i];
    for (size_t i = 0; i < added.count; i++)
        infos[count + i] = create_info(model, amp_value_at(model, added.items[i]));
    proto->value_info = infos;
    proto->n_value_info = count + added.count;
}

static void update_value_info(struct amp_model *model, const struct amp_graph *graph,
                              Onnx__GraphProto *proto)
{
    struct amp_strmap declared = {.count = 0};
    if (proto->n_value_info > 0)
        keep_value_info(model, graph, proto, &declared);
    add_value_info(model, graph, proto, &declared);
}

static Onnx__ValueInfoProto **create_infos(struct amp_model *model, const struct amp_ids *values)
{
    Onnx__ValueInfoProto **infos =
        amp_arena_array(model->arena, values->count, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < values->count; i++)
        infos[i] = create_info(model, amp_value_at(model, values->items[i]));
    return infos;
}

/* The message of a graph that was made here, its interface only. */
static Onnx__GraphProto *create_graph(struct amp_model *model, const struct amp_graph *graph)
{
    Onnx__GraphProto *proto = amp_arena_alloc(model->arena, sizeof *proto);
    onnx__graph_proto__init(proto);
    proto->name = mutable_text(graph->name);
    proto->n_input = graph->inputs.count;
    proto->input = create_infos(model, &graph->inputs);
    proto->n_output = graph->outputs.count;
    proto->output = create_infos(model, &graph->outputs);
    return proto;
}

/* Before IR version 4 every initializer is an input, later only one that callers may override.
   IS_LIVE has a flag per value id, all false for those of the graph. */
static void update_inputs(struct amp_model *model, const struct amp_graph *graph,
                          Onnx__GraphProto *proto, bool initializers_are_inputs, bool *is_live)
{
    Onnx__ValueInfoProto **inputs =
        amp_arena_array(model->arena, proto->n_input + graph->initializers.count, sizeof *inputs);
    size_t kept = 0;
    for (size_t i = 0; i < graph->initializers.count; i++)
        is_live[graph->initializers.items[i]] = true;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        uint32_t id = graph->inputs.items[i];
        const struct amp_value *value = amp_value_at(model, id);
        bool is_weight = value->is_initializer && value->constant != NULL;
        if (is_weight && !(initializers_are_inputs && is_live[id]))
            continue;
        inputs[kept++] = update_info(model, proto->input[i], value);
        is_live[id] = false;
    }
    for (size_t i = 0; i < graph->initializers.count && initializers_are_inputs; i++)
        if (is_live[graph->initializers.items[i]])
            inputs[kept++] = create_info(model, amp_value_at(model, graph->initializers.items[i]));
    proto->input = inputs;
    proto->n_input = kept;
}

static void update_outputs(struct amp_model *model, const struct amp_graph *graph,
                           Onnx__GraphProto *proto)
{
    for (size_t i = 0; i < graph->outputs.count; i++) {
        const struct amp_value *value = amp_value_at(model, graph->outputs.items[i]);
        proto->output[i]->name = mutable_text(value->name);
        update_info(model, proto->output[i], value);
    }
}

void amp_message_update(struct amp_model *model, struct amp_deferred *deferred)
{
    Onnx__ModelProto *proto = model->origin;
    bool *is_live = amp_xcalloc(model->n_values, sizeof *is_live);
    for (size_t i = 0; i < model->n_opsets; i++)
        proto->opset_import[i]->version = model->opsets[i].version;
    proto->ir_version = model->ir_version;
    for (size_t g = 0; g < model->n_graphs; g++)
        if (model->graphs[g].origin == NULL)
            model->graphs[g].origin = create_graph(model, &model->graphs[g]);
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        Onnx__GraphProto *graph_proto = graph->origin;
        update_inputs(model, graph, graph_proto, g == 0 && model->ir_version < 4, is_live);
        update_nodes(model, graph, graph_proto);
        update_initializers(model, graph, graph_proto, deferred);
        update_outputs(model, graph, graph_proto);
        update_value_info(model, graph, graph_proto);
    }
    free(is_live);
}

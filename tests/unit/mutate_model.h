#ifndef AMP_TESTS_MUTATE_MODEL_H
#define AMP_TESTS_MUTATE_MODEL_H

/*
 * Edits of a model that know what ONNX means by a tensor, a node, an attribute and an opset, and
 * the choice among all edits. What comes out is wrong in one thing rather than in all, and gets
 * further for that.
 */
#include "core/dtype.h"
#include "core/file/input.h"
#include "mutate.h"
#include "mutate_bytes.h"
#include "onnx/schema/schema.h"

#include <stdio.h>

static void set_raw(struct mutator *m, Onnx__TensorProto *tensor, size_t size)
{
    uint8_t *data = amp_arena_alloc(m->arena, size + 8);
    const ProtobufCBinaryData old = tensor->raw_data;
    for (size_t i = 0; i < size && tensor->has_raw_data && old.len > 0; i++)
        data[i] = old.data[i % old.len];
    tensor->n_float_data = tensor->n_int32_data = tensor->n_int64_data = 0;
    tensor->n_double_data = tensor->n_uint64_data = tensor->n_string_data = 0;
    tensor->has_raw_data = true;
    tensor->raw_data = (ProtobufCBinaryData){.len = size, .data = data};
}

/* A whole tensor of another shape: rank 0 to 12, small. */
static void reshape_tensor(struct mutator *m, Onnx__TensorProto *tensor)
{
    size_t size, rank = one_in(m->state, 4) ? below(m->state, 13) : below(m->state, 5);
    uint64_t count = 1;
    tensor->n_dims = rank;
    tensor->dims = amp_arena_array(m->arena, rank, sizeof *tensor->dims);
    for (size_t i = 0; i < rank; i++) {
        tensor->dims[i] =
            (int64_t)(one_in(m->state, 3) ? below(m->state, 6) : 1 + below(m->state, 3));
        count *= (uint64_t)tensor->dims[i];
    }
    if (!amp_dtype_is_valid(tensor->data_type) || count > 100000 ||
        !amp_dtype_size((enum amp_dtype)tensor->data_type, count, &size))
        return;
    set_raw(m, tensor, size);
}

static int32_t random_dtype(struct mutator *m)
{
    static const enum amp_dtype likely[] = {AMP_FLOAT, AMP_DOUBLE, AMP_FLOAT16, AMP_BFLOAT16,
                                            AMP_INT64, AMP_INT32,  AMP_BOOL};
    if (one_in(m->state, 3))
        return (int32_t)below(m->state, AMP_DTYPE_COUNT);
    return likely[below(m->state, sizeof likely / sizeof likely[0])];
}

/* TENSOR in another element type, its data as long as that asks for. */
static void retype_tensor(struct mutator *m, Onnx__TensorProto *tensor, int32_t dtype)
{
    uint64_t count = 1;
    size_t size;
    tensor->data_type = dtype;
    for (size_t i = 0; i < tensor->n_dims && count < 100000; i++)
        count *= tensor->dims[i] >= 0 && tensor->dims[i] < 100000 ? (uint64_t)tensor->dims[i] : 1;
    if (dtype == AMP_STRING || !amp_dtype_is_valid(dtype) || count > 100000 ||
        !amp_dtype_size((enum amp_dtype)dtype, count, &size))
        return;
    set_raw(m, tensor, size);
}

/* Every value and tensor of one element type gets another: a model of its own. */
static void retype_model(struct mutator *m)
{
    const Onnx__TypeProto__Tensor *any = pick_part(m, &onnx__type_proto__tensor__descriptor);
    int32_t from = any && !one_in(m->state, 2) ? any->elem_type : AMP_FLOAT, to = random_dtype(m);
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i]->descriptor == &onnx__type_proto__tensor__descriptor) {
            Onnx__TypeProto__Tensor *type = (Onnx__TypeProto__Tensor *)m->parts[i];
            if (type->elem_type == from)
                type->elem_type = to;
        } else if (m->parts[i]->descriptor == &onnx__tensor_proto__descriptor) {
            Onnx__TensorProto *tensor = (Onnx__TensorProto *)m->parts[i];
            if (tensor->data_type == from)
                retype_tensor(m, tensor, to);
        }
    }
}

static void change_tensor(struct mutator *m)
{
    Onnx__TensorProto *tensor = pick_part(m, &onnx__tensor_proto__descriptor);
    if (tensor == NULL)
        return;
    switch (below(m->state, 3)) {
    case 0:
        reshape_tensor(m, tensor);
        break;
    case 1:
        retype_tensor(m, tensor, random_dtype(m));
        break;
    default:
        if (tensor->n_int64_data > 0) {
            size_t i = below(m->state, tensor->n_int64_data);
            tensor->int64_data[i] = odd_integer(m->state, tensor->int64_data[i]);
        } else if (tensor->has_raw_data) {
            change_bytes(m, &tensor->raw_data);
        }
    }
}

/* A declared shape: unknown, or another one. */
static void change_shape(struct mutator *m)
{
    Onnx__TypeProto__Tensor *type = pick_part(m, &onnx__type_proto__tensor__descriptor);
    Onnx__TensorShapeProto *shape = type ? type->shape : NULL;
    if (shape == NULL || one_in(m->state, 5)) {
        if (type != NULL)
            type->shape = NULL;
        return;
    }
    for (size_t i = 0; i < shape->n_dim; i++) {
        Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        if (one_in(m->state, 2))
            continue;
        dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        dim->dim_value = one_in(m->state, 4) ? odd_integer(m->state, dim->dim_value)
                                             : (int64_t)below(m->state, 6);
    }
}

static void change_opset(struct mutator *m)
{
    Onnx__OperatorSetIdProto *opset = pick_part(m, &onnx__operator_set_id_proto__descriptor);
    if (opset == NULL)
        return;
    opset->has_version = true;
    opset->version = (int64_t)(1 + below(m->state, 25));
    m->model->has_ir_version = true;
    m->model->ir_version = (int64_t)(3 + below(m->state, 9));
}

static void change_operator(struct mutator *m)
{
    Onnx__NodeProto *node = pick_part(m, &onnx__node_proto__descriptor);
    if (node == NULL)
        return;
    node->op_type = operator_name(m);
    if (one_in(m->state, 2))
        node->n_attribute = 0;
}

static void change_attribute(struct mutator *m)
{
    Onnx__AttributeProto *attr = pick_part(m, &onnx__attribute_proto__descriptor);
    if (attr == NULL)
        return;
    if (attr->n_ints > 0)
        change_list(m, &attr->base,
                    protobuf_c_message_descriptor_get_field_by_name(attr->base.descriptor, "ints"));
    else if (attr->n_floats > 0)
        change_list(
            m, &attr->base,
            protobuf_c_message_descriptor_get_field_by_name(attr->base.descriptor, "floats"));
    else if (attr->has_f)
        attr->f = (float)odd_float(m->state, (double)attr->f);
    else if (attr->has_i)
        attr->i = odd_integer(m->state, attr->i);
    else if (attr->has_s && one_in(m->state, 4))
        change_bytes(m, &attr->s);
}

static const struct amp_schema *schema_of(const struct mutator *m, const Onnx__NodeProto *node)
{
    int64_t opset = 0;
    for (size_t i = 0; i < m->model->n_opset_import; i++)
        opset = m->model->opset_import[i]->version;
    bool is_sane = opset > 0 && opset < 100 && node->op_type != NULL;
    return is_sane ? amp_schema_find(node->domain, node->op_type, (int)opset) : NULL;
}

/* A number that is likely to mean something. */
static int64_t small_integer(struct mutator *m)
{
    return one_in(m->state, 6) ? odd_integer(m->state, 1) : (int64_t)below(m->state, 6) - 1;
}

static void set_value(struct mutator *m, Onnx__AttributeProto *attr)
{
    attr->has_type = true;
    attr->has_i = attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    attr->i = small_integer(m);
    attr->has_f = attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
    attr->f = (float)odd_float(m->state, 1);
    attr->has_s = attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
    size_t count = below(m->state, 7);
    if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS)
        attr->n_ints = count;
    if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS)
        attr->n_floats = count;
    attr->ints = amp_arena_array(m->arena, count, sizeof *attr->ints);
    attr->floats = amp_arena_array(m->arena, count, sizeof *attr->floats);
    for (size_t i = 0; i < count; i++) {
        attr->ints[i] = small_integer(m);
        attr->floats[i] = (float)odd_float(m->state, 1);
    }
    if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)
        attr->t = pick_part(m, &onnx__tensor_proto__descriptor);
}

/* An attribute that the operator has, with a value of the right type. */
static void add_attribute(struct mutator *m)
{
    Onnx__NodeProto *node = pick_part(m, &onnx__node_proto__descriptor);
    const struct amp_schema *schema = node ? schema_of(m, node) : NULL;
    if (schema == NULL || schema->n_attrs == 0)
        return;
    const struct amp_schema_attr *chosen = &schema->attrs[below(m->state, schema->n_attrs)];
    Onnx__AttributeProto *attr = amp_arena_alloc(m->arena, sizeof *attr);
    onnx__attribute_proto__init(attr);
    attr->name = amp_arena_strdup(m->arena, chosen->name);
    attr->type = (Onnx__AttributeProto__AttributeType)chosen->type;
    set_value(m, attr);
    Onnx__AttributeProto **grown =
        amp_arena_array(m->arena, node->n_attribute + 1, sizeof(Onnx__AttributeProto *));
    size_t kept = 0;
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->name == NULL || strcmp(node->attribute[i]->name, attr->name) != 0)
            grown[kept++] = node->attribute[i];
    grown[kept++] = attr;
    node->attribute = grown;
    node->n_attribute = kept;
}

/* A small initializer of the main graph, of a dtype out of MASK. Returns its name. */
static char *add_tensor(struct mutator *m, uint32_t mask)
{
    Onnx__GraphProto *graph = m->model->graph;
    Onnx__TensorProto *tensor = amp_arena_alloc(m->arena, sizeof *tensor);
    Onnx__TensorProto **grown =
        amp_arena_array(m->arena, graph->n_initializer + 1, sizeof(Onnx__TensorProto *));
    onnx__tensor_proto__init(tensor);
    tensor->has_data_type = true;
    do
        tensor->data_type = random_dtype(m);
    while (!(mask & AMP_DTYPE_BIT(tensor->data_type)) && !one_in(m->state, 40));
    reshape_tensor(m, tensor);
    bool is_wide = tensor->data_type == AMP_INT64 || tensor->data_type == AMP_INT32;
    size_t width = tensor->data_type == AMP_INT64 ? 8 : is_wide ? 4 : 1;
    for (size_t i = 0; i < tensor->raw_data.len / width; i++) {
        int64_t value = is_wide ? small_integer(m) : (int64_t)below(m->state, 256);
        memcpy(tensor->raw_data.data + i * width, &value, width);
    }
    tensor->name = amp_arena_printf(m->arena, "added_%zu", graph->n_initializer);
    for (size_t i = 0; i < graph->n_initializer; i++)
        grown[i] = graph->initializer[i];
    grown[graph->n_initializer++] = tensor;
    graph->initializer = grown;
    return tensor->name;
}

/* An input, there already or the next one, becomes a tensor of a type that the operator takes. */
static void add_input(struct mutator *m)
{
    Onnx__NodeProto *node = pick_part(m, &onnx__node_proto__descriptor);
    const struct amp_schema *schema = node ? schema_of(m, node) : NULL;
    if (schema == NULL || m->model->graph == NULL)
        return;
    size_t i = below(m->state, node->n_input + 1);
    const struct amp_schema_param *param = amp_schema_input(schema, i);
    uint32_t mask = param ? amp_schema_type(schema, param)->tensors : 0;
    char **grown = amp_arena_array(m->arena, node->n_input + 1, sizeof(char *));
    if (mask == 0)
        return;
    for (size_t k = 0; k < node->n_input; k++)
        grown[k] = node->input[k];
    grown[i] = add_tensor(m, mask);
    node->input = grown;
    node->n_input = i < node->n_input ? node->n_input : i + 1;
}

/* Nodes get and give other values. */
static void change_wiring(struct mutator *m)
{
    Onnx__NodeProto *node = pick_part(m, &onnx__node_proto__descriptor);
    if (node == NULL)
        return;
    const char *name = node->n_input > 0 && !one_in(m->state, 4) ? "input" : "output";
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(node->base.descriptor, name);
    if (field_count(&node->base, field) > 0)
        change_list(m, &node->base, field);
    else
        fill_field(m, &node->base, field);
}

static void mutate(struct mutator *m)
{
    static void (*const edits[])(struct mutator * m) = {
        change_field,     change_field,     change_field,  change_tensor,   change_tensor,
        change_shape,     change_shape,     change_opset,  change_operator, retype_model,
        change_attribute, change_attribute, change_wiring, change_wiring,   add_attribute,
        add_attribute,    add_input,        add_input};
    collect(m);
    edits[below(m->state, sizeof edits / sizeof edits[0])](m);
}

/* ---- from a file to a mutant --------------------------------------------------------------------
 */

enum { SEED_SIZE_MAX = 256 * 1024 };

/* A graph input becomes an initializer with the values of the sample beside the seed, so that the
   stages before running see them as well. */
static void freeze_input(struct mutator *m, const char *seed)
{
    Onnx__GraphProto *graph = m->model->graph;
    char path[4096];
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    ProtobufCMessage *message;
    if (graph == NULL || graph->n_input == 0)
        return;
    size_t i = below(m->state, graph->n_input);
    snprintf(path, sizeof path, "%.*s/test_data_set_0/input_%zu.pb",
             (int)(strlen(seed) - strlen("/model.onnx")), seed, i);
    if (amp_bytes_open(&bytes, path, &err) != AMP_OK)
        return;
    uint8_t *copy = amp_arena_memdup(m->arena, bytes.data, bytes.size);
    if (bytes.size < SEED_SIZE_MAX &&
        (message = amp_wire_parse(&onnx__tensor_proto__descriptor, copy, bytes.size, m->arena,
                                  &err)) != NULL) {
        Onnx__TensorProto **grown =
            amp_arena_array(m->arena, graph->n_initializer + 1, sizeof(Onnx__TensorProto *));
        if (graph->n_initializer > 0)
            memcpy(grown, graph->initializer, graph->n_initializer * sizeof(Onnx__TensorProto *));
        grown[graph->n_initializer++] = (Onnx__TensorProto *)message;
        grown[graph->n_initializer - 1]->name = graph->input[i]->name;
        graph->initializer = grown;
        memmove(&graph->input[i], &graph->input[i + 1],
                (graph->n_input - i - 1) * sizeof(Onnx__ValueInfoProto *));
        graph->n_input--;
    }
    amp_bytes_close(&bytes);
}

/* The message in FILE, the model SEED, edited, goes to *TO; false when it is none. */
static bool mutate_model(const char *seed, const struct amp_bytes *file, struct bytes *to,
                         uint64_t *state)
{
    enum { EDITS_MAX = 5 };
    struct amp_error err = {.status = AMP_OK};
    struct mutator m = {.arena = to->arena, .state = state};
    if (file->size >= SEED_SIZE_MAX)
        return false;
    m.model = (Onnx__ModelProto *)amp_wire_parse(&onnx__model_proto__descriptor, file->data,
                                                 file->size, m.arena, &err);
    if (m.model == NULL)
        return false;
    while (one_in(state, 3))
        freeze_input(&m, seed);
    for (size_t n = below(state, EDITS_MAX + 1); n > 0; n--)
        mutate(&m);
    to->size = to->capacity = protobuf_c_message_get_packed_size(&m.model->base);
    to->data = amp_arena_alloc(to->arena, to->size);
    protobuf_c_message_pack(&m.model->base, to->data);
    return true;
}

/* Whether a node of the model in BYTES may be a Loop, which may be asked to run for ever. */
static bool may_loop(const struct bytes *bytes)
{
    return bytes->size > 0 && memmem(bytes->data, bytes->size, "Loop", 4) != NULL;
}

#endif

/*
 * Attributes: AttributeProto to lists of values and back. Takes a message that has been parsed;
 * single values become lists of one. Which attributes an operator may have is schema/check.c's
 * question.
 */
#include "onnx/file/attribute_proto.h"
#include "onnx/file/tensor_proto.h"

#include <string.h>

/* Messages of IR version 1 had no type; later ones must have it, but some exporters forget. */
static enum amp_attr_type type_of(const Onnx__AttributeProto *proto)
{
    if (proto->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
        return (enum amp_attr_type)proto->type;
    if (proto->has_f)
        return AMP_ATTR_FLOAT;
    if (proto->has_i)
        return AMP_ATTR_INT;
    if (proto->has_s)
        return AMP_ATTR_STRING;
    if (proto->t != NULL)
        return AMP_ATTR_TENSOR;
    if (proto->g != NULL)
        return AMP_ATTR_GRAPH;
    if (proto->n_floats > 0)
        return AMP_ATTR_FLOATS;
    if (proto->n_ints > 0)
        return AMP_ATTR_INTS;
    return proto->n_strings > 0 ? AMP_ATTR_STRINGS : AMP_ATTR_UNDEFINED;
}

/* Copies the COUNT strings at DATA with a NUL after the bytes, so that names and modes are C
   strings as well. */
static const struct amp_str *read_strings(struct amp_arena *arena, const ProtobufCBinaryData *data,
                                          size_t count)
{
    struct amp_str *strings = amp_arena_array(arena, count, sizeof *strings);
    for (size_t i = 0; i < count; i++) {
        const char *bytes = data[i].data ? (const char *)data[i].data : "";
        strings[i] = (struct amp_str){amp_arena_strndup(arena, bytes, data[i].len), data[i].len};
    }
    return strings;
}

static enum amp_status read_tensors(struct amp_reader *reader, Onnx__TensorProto *const *protos,
                                    size_t count, struct amp_attr *attr)
{
    struct amp_arena *arena = reader->model->arena;
    struct amp_tensor **tensors = amp_arena_array(arena, count, sizeof *tensors);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = amp_arena_alloc(arena, sizeof *tensors[i]);
        AMP_TRY(amp_tensor_from_proto(protos[i], arena, reader->external, tensors[i], reader->err));
    }
    attr->tensors = tensors;
    attr->count = count;
    return AMP_OK;
}

static enum amp_status read_sparse(struct amp_reader *reader,
                                   Onnx__SparseTensorProto *const *protos, size_t count,
                                   struct amp_attr *attr)
{
    struct amp_arena *arena = reader->model->arena;
    struct amp_tensor **tensors = amp_arena_array(arena, count, sizeof *tensors);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = amp_arena_alloc(arena, sizeof *tensors[i]);
        AMP_TRY(
            amp_tensor_from_sparse(protos[i], arena, reader->external, tensors[i], reader->err));
    }
    attr->tensors = tensors;
    attr->count = count;
    return AMP_OK;
}

/* The value or values of ATTR, whose type is set. */
static enum amp_status read_value(struct amp_reader *reader, Onnx__AttributeProto *proto,
                                  struct amp_attr *attr)
{
    struct amp_arena *arena = reader->model->arena;
    switch (attr->type) {
    case AMP_ATTR_FLOAT:
        attr->floats = &proto->f;
        attr->count = 1;
        return AMP_OK;
    case AMP_ATTR_INT:
        attr->ints = &proto->i;
        attr->count = 1;
        return AMP_OK;
    case AMP_ATTR_STRING:
        attr->strings = read_strings(arena, &proto->s, 1);
        attr->count = 1;
        return AMP_OK;
    case AMP_ATTR_TENSOR:
        return read_tensors(reader, &proto->t, proto->t != NULL, attr);
    case AMP_ATTR_GRAPH:
        attr->count = proto->g != NULL;
        return AMP_OK;
    case AMP_ATTR_FLOATS:
        attr->floats = proto->floats;
        attr->count = proto->n_floats;
        return AMP_OK;
    case AMP_ATTR_INTS:
        attr->ints = proto->ints;
        attr->count = proto->n_ints;
        return AMP_OK;
    case AMP_ATTR_STRINGS:
        attr->strings = read_strings(arena, proto->strings, proto->n_strings);
        attr->count = proto->n_strings;
        return AMP_OK;
    case AMP_ATTR_TENSORS:
        return read_tensors(reader, proto->tensors, proto->n_tensors, attr);
    case AMP_ATTR_GRAPHS:
        attr->count = proto->n_graphs;
        return AMP_OK;
    case AMP_ATTR_SPARSE_TENSOR:
        return read_sparse(reader, &proto->sparse_tensor, proto->sparse_tensor != NULL, attr);
    case AMP_ATTR_SPARSE_TENSORS:
        return read_sparse(reader, proto->sparse_tensors, proto->n_sparse_tensors, attr);
    case AMP_ATTR_TYPE:
    case AMP_ATTR_TYPES:
        return AMP_OK;
    case AMP_ATTR_UNDEFINED:
        break;
    }
    return amp_fail(reader->err, AMP_MODEL, "unknown type %d", (int)proto->type);
}

/* Whether the value of an attribute of TYPE is one message, which may be missing. */
static bool is_single_message(enum amp_attr_type type)
{
    return type == AMP_ATTR_TENSOR || type == AMP_ATTR_GRAPH || type == AMP_ATTR_SPARSE_TENSOR;
}

enum amp_status amp_attr_from_proto(struct amp_reader *reader, Onnx__AttributeProto *proto,
                                    struct amp_attr *attr)
{
    if (proto->name == NULL || proto->name[0] == '\0')
        return amp_fail(reader->err, AMP_MODEL, "an attribute without a name");
    *attr = (struct amp_attr){.name = proto->name, .type = type_of(proto), .origin = proto};
    enum amp_status status = read_value(reader, proto, attr);
    if (status == AMP_OK && is_single_message(attr->type) && attr->count == 0)
        status = amp_fail(reader->err, AMP_MODEL, "the value is missing");
    if (status != AMP_OK)
        amp_error_prefix(reader->err, "attribute '%s'", proto->name);
    return status;
}

static void put_strings(Onnx__AttributeProto *proto, const struct amp_attr *attr,
                        struct amp_arena *arena)
{
    proto->n_strings = attr->count;
    proto->strings = amp_arena_array(arena, attr->count, sizeof *proto->strings);
    for (size_t i = 0; i < attr->count; i++)
        proto->strings[i] = (ProtobufCBinaryData){
            attr->strings[i].size,
            amp_arena_memdup(arena, attr->strings[i].data, attr->strings[i].size)};
}

Onnx__AttributeProto *amp_attr_to_proto(const struct amp_attr *attr, struct amp_arena *arena)
{
    Onnx__AttributeProto *proto = amp_arena_alloc(arena, sizeof *proto);
    onnx__attribute_proto__init(proto);
    proto->name = amp_arena_strdup(arena, attr->name);
    proto->has_type = true;
    proto->type = (Onnx__AttributeProto__AttributeType)attr->type;
    if (attr->type == AMP_ATTR_FLOAT) {
        proto->has_f = true;
        proto->f = attr->floats[0];
    } else if (attr->type == AMP_ATTR_INT) {
        proto->has_i = true;
        proto->i = attr->ints[0];
    } else if (attr->type == AMP_ATTR_STRING) {
        put_strings(proto, attr, arena);
        proto->has_s = true;
        proto->s = proto->strings[0];
        proto->n_strings = 0;
    } else if (attr->type == AMP_ATTR_TENSOR) {
        proto->t = amp_tensor_to_proto(attr->tensors[0], "", arena);
    } else if (attr->type == AMP_ATTR_INTS) {
        proto->n_ints = attr->count;
        proto->ints = amp_arena_memdup(arena, attr->ints, attr->count * sizeof *attr->ints);
    } else if (attr->type == AMP_ATTR_FLOATS) {
        proto->n_floats = attr->count;
        proto->floats = amp_arena_memdup(arena, attr->floats, attr->count * sizeof *attr->floats);
    } else if (attr->type == AMP_ATTR_STRINGS) {
        put_strings(proto, attr, arena);
    }
    return proto;
}

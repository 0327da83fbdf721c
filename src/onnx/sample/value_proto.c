/*
 * Tensors, sequences, optionals and maps as messages (onnx-data.proto), as ONNX's test data keep
 * them. Takes bytes and gives values in memory of their own, and back. Sequences of sequences,
 * sparse tensors and maps with other values than single numbers or strings are refused.
 */
#include "onnx/sample/value_proto.h"

#include "onnx/file/tensor_proto.h"
#include "onnx/file/wire.h"

#include "onnx-data.pb-c.h"

#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    struct amp_arena *arena; /* goes when the message has been read */
    struct amp_error *err;
};

static enum amp_status read_tensor(const struct reading *reading, Onnx__TensorProto *proto,
                                   struct amp_tensor *tensor)
{
    struct amp_tensor view;
    AMP_TRY(amp_tensor_from_proto(proto, reading->arena, NULL, &view, reading->err));
    *tensor = (struct amp_tensor){.dtype = view.dtype, .shape = view.shape};
    AMP_TRY(amp_tensor_alloc(tensor, reading->err));
    if (amp_tensor_size(&view) > 0)
        memcpy(tensor->data, view.data, amp_tensor_size(&view));
    return tensor->dtype == AMP_STRING ? amp_strings_own(tensor, reading->err) : AMP_OK;
}

static enum amp_status read_tensors(const struct reading *reading, const Onnx__SequenceProto *proto,
                                    struct amp_tensor *list)
{
    AMP_TRY(amp_list_alloc(list, AMP_FORM_SEQUENCE, proto->n_tensor_values, reading->err));
    for (size_t i = 0; i < proto->n_tensor_values; i++)
        AMP_TRY(read_tensor(reading, proto->tensor_values[i], &amp_list_items(list)[i]));
    if (proto->n_tensor_values > 0)
        list->dtype = amp_list_items(list)[0].dtype;
    return AMP_OK;
}

/* The keys of a map as a tensor: integers of some type or strings. */
static enum amp_status read_keys(const struct reading *reading, const Onnx__MapProto *proto,
                                 struct amp_tensor *keys)
{
    bool is_text = proto->n_string_keys > 0;
    size_t count = is_text ? proto->n_string_keys : proto->n_keys;
    *keys = (struct amp_tensor){.dtype = is_text ? AMP_STRING : AMP_INT64,
                                .shape = {.rank = 1, .dims = {(int64_t)count}}};
    AMP_TRY(amp_tensor_alloc(keys, reading->err));
    for (size_t i = 0; i < count && !is_text; i++)
        ((int64_t *)keys->data)[i] = proto->keys[i];
    for (size_t i = 0; i < count && is_text; i++)
        ((struct amp_str *)keys->data)[i] =
            (struct amp_str){(const char *)proto->string_keys[i].data, proto->string_keys[i].len};
    return is_text ? amp_strings_own(keys, reading->err) : AMP_OK;
}

/* The values of a map are tensors of one element each, one for each key. */
static enum amp_status join_values(const struct reading *reading, const struct amp_tensor *list,
                                   struct amp_tensor *values)
{
    size_t count = amp_tensor_count(list), size = amp_dtype_bits(list->dtype) / 8;
    const struct amp_tensor *items = amp_list_items(list);
    *values = (struct amp_tensor){.dtype = list->dtype, .shape = list->shape};
    if (count == 0)
        values->dtype = AMP_FLOAT;
    AMP_TRY(amp_tensor_alloc(values, reading->err));
    for (size_t i = 0; i < count; i++) {
        if (items[i].dtype != list->dtype || size == 0 || amp_tensor_count(&items[i]) != 1)
            return amp_fail(reading->err, AMP_UNSUPPORTED,
                            "value %zu of a map is not one number or string", i);
        memcpy((char *)values->data + i * size, items[i].data, size);
    }
    return values->dtype == AMP_STRING ? amp_strings_own(values, reading->err) : AMP_OK;
}

static enum amp_status read_map(const struct reading *reading, const Onnx__MapProto *proto,
                                struct amp_tensor *map)
{
    static const Onnx__SequenceProto nothing = ONNX__SEQUENCE_PROTO__INIT;
    struct amp_tensor list = {.data = NULL};
    AMP_TRY(amp_list_alloc(map, AMP_FORM_MAP, 2, reading->err));
    struct amp_tensor *keys = amp_list_items(map), *values = keys + 1;
    AMP_TRY(read_keys(reading, proto, keys));
    enum amp_status status = read_tensors(reading, proto->values ? proto->values : &nothing, &list);
    if (status == AMP_OK)
        status = join_values(reading, &list, values);
    amp_tensor_release(&list);
    if (status == AMP_OK && !amp_shape_equal(&keys->shape, &values->shape))
        status = amp_fail(reading->err, AMP_MODEL, "a map with %zu keys and %zu values",
                          amp_tensor_count(keys), amp_tensor_count(values));
    map->dtype = values->dtype;
    return status;
}

static enum amp_status read_maps(const struct reading *reading, const Onnx__SequenceProto *proto,
                                 struct amp_tensor *list)
{
    AMP_TRY(amp_list_alloc(list, AMP_FORM_SEQUENCE, proto->n_map_values, reading->err));
    for (size_t i = 0; i < proto->n_map_values; i++)
        AMP_TRY(read_map(reading, proto->map_values[i], &amp_list_items(list)[i]));
    if (proto->n_map_values > 0)
        list->dtype = amp_list_items(list)[0].dtype;
    return AMP_OK;
}

static enum amp_status read_sequence(const struct reading *reading,
                                     const Onnx__SequenceProto *proto, struct amp_tensor *list)
{
    if (proto->n_sparse_tensor_values + proto->n_sequence_values + proto->n_optional_values > 0)
        return amp_fail(reading->err, AMP_UNSUPPORTED,
                        "a sequence of other things than tensors or maps");
    return proto->n_map_values > 0 ? read_maps(reading, proto, list)
                                   : read_tensors(reading, proto, list);
}

static enum amp_status read_optional(const struct reading *reading,
                                     const Onnx__OptionalProto *proto, struct amp_tensor *list)
{
    if (proto->sparse_tensor_value || proto->map_value || proto->optional_value)
        return amp_fail(reading->err, AMP_UNSUPPORTED,
                        "an optional of something else than a tensor or a sequence");
    AMP_TRY(amp_list_alloc(list, AMP_FORM_OPTIONAL, proto->tensor_value || proto->sequence_value,
                           reading->err));
    struct amp_tensor *item = amp_list_items(list);
    if (proto->tensor_value != NULL)
        AMP_TRY(read_tensor(reading, proto->tensor_value, item));
    else if (proto->sequence_value != NULL)
        AMP_TRY(read_sequence(reading, proto->sequence_value, item));
    if (amp_tensor_count(list) > 0)
        list->dtype = item->dtype;
    return AMP_OK;
}

static const ProtobufCMessageDescriptor *descriptor_of(enum amp_kind kind)
{
    static const ProtobufCMessageDescriptor *const descriptors[] = {
        [AMP_KIND_UNKNOWN] = &onnx__tensor_proto__descriptor,
        [AMP_KIND_TENSOR] = &onnx__tensor_proto__descriptor,
        [AMP_KIND_SPARSE_TENSOR] = &onnx__sparse_tensor_proto__descriptor,
        [AMP_KIND_SEQUENCE] = &onnx__sequence_proto__descriptor,
        [AMP_KIND_MAP_SEQUENCE] = &onnx__sequence_proto__descriptor,
        [AMP_KIND_OPTIONAL] = &onnx__optional_proto__descriptor,
        [AMP_KIND_OPTIONAL_SEQUENCE] = &onnx__optional_proto__descriptor,
        [AMP_KIND_MAP] = &onnx__map_proto__descriptor,
    };
    return descriptors[kind];
}

static enum amp_status read_message(const struct reading *reading, ProtobufCMessage *message,
                                    struct amp_tensor *tensor)
{
    if (message->descriptor == &onnx__tensor_proto__descriptor)
        return read_tensor(reading, (Onnx__TensorProto *)message, tensor);
    if (message->descriptor == &onnx__sequence_proto__descriptor)
        return read_sequence(reading, (const Onnx__SequenceProto *)message, tensor);
    if (message->descriptor == &onnx__optional_proto__descriptor)
        return read_optional(reading, (const Onnx__OptionalProto *)message, tensor);
    if (message->descriptor == &onnx__map_proto__descriptor)
        return read_map(reading, (const Onnx__MapProto *)message, tensor);
    return amp_fail(reading->err, AMP_UNSUPPORTED, "sparse tensors are not read");
}

enum amp_status amp_value_parse(enum amp_kind kind, uint8_t *data, size_t size,
                                struct amp_tensor *tensor, struct amp_error *err)
{
    struct reading reading = {.arena = amp_arena_create(), .err = err};
    *tensor = (struct amp_tensor){.data = NULL};
    ProtobufCMessage *message = amp_wire_parse(descriptor_of(kind), data, size, reading.arena, err);
    enum amp_status status = message != NULL ? read_message(&reading, message, tensor) : AMP_MODEL;
    if (status != AMP_OK)
        amp_tensor_release(tensor);
    amp_arena_destroy(reading.arena);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static Onnx__SequenceProto *new_sequence(const char *name, int32_t elem_type,
                                         struct amp_arena *arena)
{
    Onnx__SequenceProto *proto = amp_arena_alloc(arena, sizeof *proto);
    onnx__sequence_proto__init(proto);
    proto->name = name ? amp_arena_strdup(arena, name) : NULL;
    proto->has_elem_type = true;
    proto->elem_type = elem_type;
    return proto;
}

/* A message of one tensor for each element of VALUES. */
static Onnx__SequenceProto *values_to_proto(const struct amp_tensor *values,
                                            struct amp_arena *arena)
{
    size_t count = amp_tensor_count(values), size = amp_dtype_bits(values->dtype) / 8;
    Onnx__SequenceProto *proto = new_sequence(NULL, ONNX__SEQUENCE_PROTO__DATA_TYPE__TENSOR, arena);
    proto->n_tensor_values = count;
    proto->tensor_values = amp_arena_array(arena, count, sizeof(Onnx__TensorProto *));
    for (size_t i = 0; i < count; i++) {
        struct amp_tensor *value = amp_arena_alloc(arena, sizeof *value);
        *value =
            (struct amp_tensor){.dtype = values->dtype, .data = (char *)values->data + i * size};
        proto->tensor_values[i] = amp_tensor_to_proto(value, "", arena);
    }
    return proto;
}

static Onnx__MapProto *map_to_proto(const struct amp_tensor *map, const char *name,
                                    struct amp_arena *arena)
{
    const struct amp_tensor *keys = amp_list_items(map);
    size_t count = amp_tensor_count(keys);
    Onnx__MapProto *proto = amp_arena_alloc(arena, sizeof *proto);
    onnx__map_proto__init(proto);
    proto->name = name ? amp_arena_strdup(arena, name) : NULL;
    proto->has_key_type = true;
    proto->key_type = keys->dtype;
    if (keys->dtype == AMP_STRING) {
        const struct amp_str *strings = keys->data;
        proto->n_string_keys = count;
        proto->string_keys = amp_arena_array(arena, count, sizeof *proto->string_keys);
        for (size_t i = 0; i < count; i++)
            proto->string_keys[i] = (ProtobufCBinaryData){
                strings[i].size,
                (uint8_t *)amp_arena_strndup(arena, strings[i].data, strings[i].size)};
    } else {
        proto->n_keys = count;
        proto->keys = amp_arena_array(arena, count, sizeof *proto->keys);
        for (size_t i = 0; i < count; i++)
            proto->keys[i] = amp_tensor_int(keys, i);
    }
    proto->values = values_to_proto(keys + 1, arena);
    return proto;
}

static Onnx__SequenceProto *sequence_to_proto(const struct amp_tensor *list, const char *name,
                                              struct amp_arena *arena)
{
    size_t count = amp_tensor_count(list);
    const struct amp_tensor *items = amp_list_items(list);
    bool has_maps = count > 0 && amp_tensor_is_list(&items[0]);
    Onnx__SequenceProto *proto = new_sequence(name,
                                              has_maps ? ONNX__SEQUENCE_PROTO__DATA_TYPE__MAP
                                                       : ONNX__SEQUENCE_PROTO__DATA_TYPE__TENSOR,
                                              arena);
    void **messages = amp_arena_array(arena, count, sizeof *messages);
    for (size_t i = 0; i < count; i++)
        messages[i] = has_maps ? (void *)map_to_proto(&items[i], NULL, arena)
                               : amp_tensor_to_proto(&items[i], "", arena);
    if (has_maps) {
        proto->n_map_values = count;
        proto->map_values = (Onnx__MapProto **)messages;
    } else {
        proto->n_tensor_values = count;
        proto->tensor_values = (Onnx__TensorProto **)messages;
    }
    return proto;
}

static Onnx__OptionalProto *optional_to_proto(const struct amp_tensor *list, const char *name,
                                              struct amp_arena *arena)
{
    Onnx__OptionalProto *proto = amp_arena_alloc(arena, sizeof *proto);
    const struct amp_tensor *item = amp_list_items(list);
    onnx__optional_proto__init(proto);
    proto->name = amp_arena_strdup(arena, name);
    proto->has_elem_type = true;
    proto->elem_type = ONNX__SEQUENCE_PROTO__DATA_TYPE__UNDEFINED;
    if (amp_tensor_count(list) == 0)
        return proto;
    proto->elem_type = amp_tensor_is_list(item) ? ONNX__SEQUENCE_PROTO__DATA_TYPE__SEQUENCE
                                                : ONNX__SEQUENCE_PROTO__DATA_TYPE__TENSOR;
    if (amp_tensor_is_list(item))
        proto->sequence_value = sequence_to_proto(item, "", arena);
    else
        proto->tensor_value = amp_tensor_to_proto(item, "", arena);
    return proto;
}

void amp_value_pack(const struct amp_tensor *tensor, const char *name, ProtobufCBuffer *buffer)
{
    struct amp_arena *arena = amp_arena_create();
    const ProtobufCMessage *message = NULL;
    switch (tensor->form) {
    case AMP_FORM_TENSOR:
        message = &amp_tensor_to_proto(tensor, name, arena)->base;
        break;
    case AMP_FORM_SEQUENCE:
        message = &sequence_to_proto(tensor, name, arena)->base;
        break;
    case AMP_FORM_OPTIONAL:
        message = &optional_to_proto(tensor, name, arena)->base;
        break;
    case AMP_FORM_MAP:
        message = &map_to_proto(tensor, name, arena)->base;
        break;
    }
    protobuf_c_message_pack_to_buffer(message, buffer);
    amp_arena_destroy(arena);
}

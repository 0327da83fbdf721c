/*
 * TensorProto to tensor and back. ONNX has several places for a tensor's elements: raw_data, typed
 * fields by dtype, string_data and external files; all of them end as row-major little-endian
 * bytes. Checks dtype, dims and the size of the data; the elements are not looked at.
 */
#include "onnx/file/tensor_proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The typed field that holds elements of a dtype (onnx.proto, TensorProto). */
enum field { NO_FIELD, FLOAT_DATA, INT32_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA, STRING_DATA };

static const unsigned char field_of[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT] = FLOAT_DATA,        [AMP_COMPLEX64] = FLOAT_DATA,
    [AMP_DOUBLE] = DOUBLE_DATA,      [AMP_COMPLEX128] = DOUBLE_DATA,
    [AMP_INT64] = INT64_DATA,        [AMP_UINT64] = UINT64_DATA,
    [AMP_UINT32] = UINT64_DATA,      [AMP_STRING] = STRING_DATA,
    [AMP_INT32] = INT32_DATA,        [AMP_INT16] = INT32_DATA,
    [AMP_INT8] = INT32_DATA,         [AMP_UINT16] = INT32_DATA,
    [AMP_UINT8] = INT32_DATA,        [AMP_BOOL] = INT32_DATA,
    [AMP_FLOAT16] = INT32_DATA,      [AMP_BFLOAT16] = INT32_DATA,
    [AMP_FLOAT8E4M3FN] = INT32_DATA, [AMP_FLOAT8E4M3FNUZ] = INT32_DATA,
    [AMP_FLOAT8E5M2] = INT32_DATA,   [AMP_FLOAT8E5M2FNUZ] = INT32_DATA,
    [AMP_UINT4] = INT32_DATA,        [AMP_INT4] = INT32_DATA,
    [AMP_FLOAT4E2M1] = INT32_DATA,   [AMP_FLOAT8E8M0] = INT32_DATA,
    [AMP_UINT2] = INT32_DATA,        [AMP_INT2] = INT32_DATA};

/* A typed field as it lies in the message. */
struct typed {
    const char *name;
    const void *data;
    size_t count, width; /* width: bytes of one item; 0 for strings */
};

static struct typed typed_field(const Onnx__TensorProto *proto, enum amp_dtype dtype)
{
    switch ((enum field)field_of[dtype]) {
    case FLOAT_DATA:
        return (struct typed){"float_data", proto->float_data, proto->n_float_data, 4};
    case INT32_DATA:
        return (struct typed){"int32_data", proto->int32_data, proto->n_int32_data, 4};
    case INT64_DATA:
        return (struct typed){"int64_data", proto->int64_data, proto->n_int64_data, 8};
    case DOUBLE_DATA:
        return (struct typed){"double_data", proto->double_data, proto->n_double_data, 8};
    case UINT64_DATA:
        return (struct typed){"uint64_data", proto->uint64_data, proto->n_uint64_data, 8};
    case STRING_DATA:
        return (struct typed){"string_data", proto->string_data, proto->n_string_data, 0};
    case NO_FIELD:
        break;
    }
    return (struct typed){"raw_data", NULL, 0, 1};
}

/* Packs items of the field's width into elements: the low bytes of each (little endian). */
static void pack(unsigned char *to, size_t to_width, const struct typed *field)
{
    const unsigned char *from = field->data;
    for (size_t i = 0; i < field->count; i++)
        memcpy(to + i * to_width, from + i * field->width, to_width);
}

static void copy_strings(struct amp_str *to, const struct typed *field)
{
    const ProtobufCBinaryData *from = field->data;
    for (size_t i = 0; i < field->count; i++)
        to[i] = (struct amp_str){(const char *)from[i].data, from[i].len};
}

/* Packs the elements of the typed field that goes with the dtype into SIZE bytes. */
static enum amp_status read_typed(const Onnx__TensorProto *proto, struct amp_arena *arena,
                                  struct amp_tensor *tensor, size_t size, struct amp_error *err)
{
    struct typed field = typed_field(proto, tensor->dtype);
    bool is_complex = amp_dtype_class(tensor->dtype) == AMP_CLASS_COMPLEX;
    size_t bits = amp_dtype_bits(tensor->dtype) / (is_complex ? 2 : 1);
    size_t width = bits < 8 ? 1 : bits / 8;
    size_t needed = field.width == 0 ? amp_tensor_count(tensor) : size / width;
    if (field.count != needed) {
        char text[200];
        return amp_fail(err, AMP_MODEL, "%s holds %zu values; %s %s needs %zu", field.name,
                        field.count, amp_dtype_name(tensor->dtype),
                        amp_shape_text(&tensor->shape, text, sizeof text), needed);
    }
    tensor->data = amp_arena_alloc(arena, size);
    if (field.width == 0)
        copy_strings(tensor->data, &field);
    else
        pack(tensor->data, width, &field);
    return AMP_OK;
}

static const char *external_entry(const Onnx__TensorProto *proto, const char *key)
{
    for (size_t i = 0; i < proto->n_external_data; i++) {
        const Onnx__StringStringEntryProto *entry = proto->external_data[i];
        if (entry->key != NULL && entry->value != NULL && strcmp(entry->key, key) == 0)
            return entry->value;
    }
    return NULL;
}

/* The number under KEY in external_data; FALLBACK when it is absent. */
static enum amp_status external_number(const Onnx__TensorProto *proto, const char *key,
                                       uint64_t fallback, uint64_t *number, struct amp_error *err)
{
    const char *text = external_entry(proto, key);
    *number = fallback;
    if (text == NULL)
        return AMP_OK;
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
        return amp_fail(err, AMP_MODEL, "external data %s '%s'; a number of bytes is needed", key,
                        text);
    return AMP_OK;
}

/* Maps the elements from an external file, and has raw_data of PROTO refer to them too. */
static enum amp_status read_external(Onnx__TensorProto *proto, struct amp_external *external,
                                     struct amp_tensor *tensor, size_t size, struct amp_error *err)
{
    struct amp_external_range range = {.location = external_entry(proto, "location"), .size = size};
    uint64_t length;
    if (external == NULL)
        return amp_fail(err, AMP_MODEL, "external data are not possible here");
    if (range.location == NULL)
        return amp_fail(err, AMP_MODEL, "external data without a location");
    if (tensor->dtype == AMP_STRING)
        return amp_fail(err, AMP_MODEL, "external data cannot hold strings");
    AMP_TRY(external_number(proto, "offset", 0, &range.offset, err));
    AMP_TRY(external_number(proto, "length", size, &length, err));
    if (length != size) {
        char text[200];
        return amp_fail(err, AMP_MODEL, "external data of %llu bytes; %s %s needs %zu",
                        (unsigned long long)length, amp_dtype_name(tensor->dtype),
                        amp_shape_text(&tensor->shape, text, sizeof text), size);
    }
    AMP_TRY(amp_external_map(external, &range, &tensor->data, err));
    proto->has_raw_data = false;
    proto->raw_data = (ProtobufCBinaryData){.len = size, .data = tensor->data};
    return AMP_OK;
}

static enum amp_status read_raw(const Onnx__TensorProto *proto, struct amp_tensor *tensor,
                                size_t size, struct amp_error *err)
{
    if (proto->raw_data.len != size || tensor->dtype == AMP_STRING) {
        char text[200];
        return amp_fail(err, AMP_MODEL, "raw_data of %zu bytes; %s %s needs %zu",
                        proto->raw_data.len, amp_dtype_name(tensor->dtype),
                        amp_shape_text(&tensor->shape, text, sizeof text),
                        tensor->dtype == AMP_STRING ? 0 : size);
    }
    tensor->data = proto->raw_data.data;
    return AMP_OK;
}

/* Sets the shape of TENSOR, whose dtype is set; the bytes that its elements take go to *SIZE. */
static enum amp_status read_shape(size_t n_dims, const int64_t *dims, struct amp_tensor *tensor,
                                  size_t *size, struct amp_error *err)
{
    if (n_dims > AMP_RANK_MAX)
        return amp_fail(err, AMP_MODEL, "rank %zu; at most %d is supported", n_dims, AMP_RANK_MAX);
    tensor->shape.rank = (int)n_dims;
    for (size_t i = 0; i < n_dims; i++)
        tensor->shape.dims[i] = dims[i];
    return amp_shape_size(&tensor->shape, tensor->dtype, size, err);
}

enum amp_status amp_tensor_from_proto(Onnx__TensorProto *proto, struct amp_arena *arena,
                                      struct amp_external *external, struct amp_tensor *tensor,
                                      struct amp_error *err)
{
    size_t size;
    *tensor = (struct amp_tensor){.data = NULL};
    if (!amp_dtype_is_valid(proto->data_type))
        return amp_fail(err, AMP_MODEL, "unknown data_type %d; 1 to %d are known", proto->data_type,
                        AMP_DTYPE_COUNT - 1);
    if (proto->segment != NULL)
        return amp_fail(err, AMP_MODEL, "a segmented tensor, which no ONNX version defines fully");
    tensor->dtype = (enum amp_dtype)proto->data_type;
    AMP_TRY(read_shape(proto->n_dims, proto->dims, tensor, &size, err));
    if (proto->has_data_location &&
        proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        AMP_TRY(read_external(proto, external, tensor, size, err));
    else if (proto->has_raw_data)
        AMP_TRY(read_raw(proto, tensor, size, err));
    else
        AMP_TRY(read_typed(proto, arena, tensor, size, err));
    /* NULL stands for data that are not known: an empty tensor's are. */
    if (tensor->data == NULL)
        tensor->data = amp_arena_alloc(arena, 0);
    return AMP_OK;
}

/* The place of sparse value INDEX in the dense tensor of SHAPE goes to *PLACE. INDICES have it as
   one linear number or as one number per dim. */
static enum amp_status sparse_place(const struct amp_tensor *indices, size_t index,
                                    const struct amp_shape *shape, int64_t *place,
                                    struct amp_error *err)
{
    if (indices->shape.rank == 1) {
        *place = amp_tensor_int(indices, index);
    } else {
        *place = 0;
        for (int i = 0; i < shape->rank; i++) {
            int64_t at = amp_tensor_int(indices, index * (size_t)shape->rank + (size_t)i);
            if (at < 0 || at >= shape->dims[i])
                return amp_fail(err, AMP_MODEL, "sparse tensor: index %lld; dim %d is %lld",
                                (long long)at, i, (long long)shape->dims[i]);
            *place = *place * shape->dims[i] + at;
        }
    }
    if (*place < 0 || *place >= amp_shape_count(shape))
        return amp_fail(err, AMP_MODEL, "sparse tensor: index %lld; it has %lld elements",
                        (long long)*place, (long long)amp_shape_count(shape));
    return AMP_OK;
}

static enum amp_status check_sparse(const struct amp_tensor *values,
                                    const struct amp_tensor *indices, const struct amp_shape *shape,
                                    struct amp_error *err)
{
    const struct amp_shape *at = &indices->shape;
    bool is_linear = at->rank == 1;
    bool is_tuple = at->rank == 2 && at->dims[1] == shape->rank;
    if (values->shape.rank != 1 || amp_dtype_bits(values->dtype) < 8 ||
        indices->dtype != AMP_INT64 || !(is_linear || is_tuple) ||
        at->dims[0] != values->shape.dims[0]) {
        char text_values[200], text_indices[200];
        return amp_fail(err, AMP_MODEL,
                        "sparse tensor with values %s and %s indices %s; values [n] and int64 "
                        "indices [n] or [n, rank] are needed",
                        amp_shape_text(&values->shape, text_values, sizeof text_values),
                        amp_dtype_name(indices->dtype),
                        amp_shape_text(at, text_indices, sizeof text_indices));
    }
    return AMP_OK;
}

/* A dense tensor is made for the executor's sake: more than this many bytes are refused, so that a
   few bytes of a file cannot ask for all memory. */
enum { SPARSE_SIZE_MAX = 1 << 30 };

enum amp_status amp_tensor_from_sparse(const Onnx__SparseTensorProto *proto,
                                       struct amp_arena *arena, struct amp_external *external,
                                       struct amp_tensor *tensor, struct amp_error *err)
{
    struct amp_tensor values, indices;
    size_t size;
    if (proto->values == NULL || proto->indices == NULL)
        return amp_fail(err, AMP_MODEL, "sparse tensor without values or indices");
    AMP_TRY(amp_tensor_from_proto(proto->values, arena, external, &values, err));
    AMP_TRY(amp_tensor_from_proto(proto->indices, arena, external, &indices, err));
    *tensor = (struct amp_tensor){.dtype = values.dtype};
    AMP_TRY(read_shape(proto->n_dims, proto->dims, tensor, &size, err));
    AMP_TRY(check_sparse(&values, &indices, &tensor->shape, err));
    if (size > SPARSE_SIZE_MAX)
        return amp_fail(err, AMP_MODEL, "sparse tensor of %zu dense bytes; at most %d are read",
                        size, SPARSE_SIZE_MAX);
    tensor->data = amp_arena_alloc(arena, size);
    size_t width = amp_dtype_bits(values.dtype) / 8;
    for (size_t i = 0; i < amp_tensor_count(&values); i++) {
        int64_t place;
        AMP_TRY(sparse_place(&indices, i, &tensor->shape, &place, err));
        memcpy((unsigned char *)tensor->data + (size_t)place * width,
               (const unsigned char *)values.data + i * width, width);
    }
    return AMP_OK;
}

static void put_strings(Onnx__TensorProto *proto, const struct amp_tensor *tensor,
                        struct amp_arena *arena)
{
    const struct amp_str *strings = tensor->data;
    proto->n_string_data = amp_tensor_count(tensor);
    proto->string_data = amp_arena_array(arena, proto->n_string_data, sizeof *proto->string_data);
    for (size_t i = 0; i < proto->n_string_data; i++) {
        proto->string_data[i].len = strings[i].size;
        proto->string_data[i].data = amp_arena_memdup(arena, strings[i].data, strings[i].size);
    }
}

Onnx__TensorProto *amp_tensor_to_proto(const struct amp_tensor *tensor, const char *name,
                                       struct amp_arena *arena)
{
    Onnx__TensorProto *proto = amp_arena_alloc(arena, sizeof *proto);
    onnx__tensor_proto__init(proto);
    proto->name = amp_arena_strdup(arena, name);
    proto->has_data_type = true;
    proto->data_type = tensor->dtype;
    proto->n_dims = (size_t)tensor->shape.rank;
    proto->dims = amp_arena_memdup(arena, tensor->shape.dims, proto->n_dims * sizeof *proto->dims);
    if (tensor->dtype == AMP_STRING) {
        put_strings(proto, tensor, arena);
    } else {
        proto->has_raw_data = true;
        proto->raw_data.len = amp_tensor_size(tensor);
        proto->raw_data.data = tensor->data;
    }
    return proto;
}

/* Tensors and models as messages of protobuf: what is read, and what is refused. By onnx.proto. */
#include "core/array.h"
#include "net.h"
#include "scratch.h"

#include "onnx-data.pb-c.h"
#include "onnx.pb-c.h"
#include "onnx/file/attribute_proto.h"
#include "onnx/file/deferred.h"
#include "onnx/file/external.h"
#include "onnx/file/metadata.h"
#include "onnx/file/placement.h"
#include "onnx/file/read.h"
#include "onnx/file/tensor_proto.h"
#include "onnx/file/update.h"
#include "onnx/file/write.h"
#include "onnx/functions/functions.h"
#include "onnx/functions/names.h"
#include "onnx/functions/shared_constants.h"
#include "onnx/sample/value_proto.h"
#include "onnx/schema/schema.h"
#include "onnx/training/references.h"
#include "onnx/training/scaler.h"
#include "onnx/training/step.h"
#include "onnx/training/training.h"

#include <glob.h>

/* ---- tensors ---- */

static int64_t dims[16] = {2, 3};
static float numbers[6] = {1, 2, 3, 4, 5, 6};

/* float32 [2, 3] in float_data. */
static Onnx__TensorProto *floats(Onnx__TensorProto *proto)
{
    onnx__tensor_proto__init(proto);
    proto->has_data_type = true;
    proto->data_type = AMP_FLOAT;
    proto->n_dims = 2;
    proto->dims = dims;
    proto->n_float_data = 6;
    proto->float_data = numbers;
    return proto;
}

static void is_read(Onnx__TensorProto *proto, const double *expected, size_t count)
{
    struct amp_tensor tensor;
    struct amp_error err = {.status = AMP_OK};
    if (amp_tensor_from_proto(proto, net.arena, NULL, &tensor, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(amp_tensor_count(&tensor), count);
    for (size_t i = 0; i < count; i++)
        assert_true(amp_tensor_double(&tensor, i) == expected[i]);
}

static void is_refused(Onnx__TensorProto *proto, const char *text)
{
    struct amp_tensor tensor;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_tensor_from_proto(proto, net.arena, NULL, &tensor, &err), AMP_MODEL);
    assert_string_equal(err.text, text);
}

static void tensors_are_as_large_as_their_shape(void **state)
{
    static const double expected[6] = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[24];
    Onnx__TensorProto proto;
    (void)state;
    memcpy(bytes, numbers, sizeof bytes);
    is_read(floats(&proto), expected, 6);
    proto.n_float_data = 5;
    is_refused(&proto, "float_data holds 5 values; float32 [2, 3] needs 6");
    proto.has_raw_data = true;
    proto.raw_data = (ProtobufCBinaryData){24, bytes};
    is_read(&proto, expected, 6);
    proto.raw_data.len = 23;
    is_refused(&proto, "raw_data of 23 bytes; float32 [2, 3] needs 24");
    proto.raw_data.len = 25;
    is_refused(&proto, "raw_data of 25 bytes; float32 [2, 3] needs 24");
    proto.data_type = AMP_STRING;
    is_refused(&proto, "raw_data of 25 bytes; string [2, 3] needs 0");
    floats(&proto)->n_dims = 13;
    is_refused(&proto, "rank 13; at most 12 is supported");
    for (int i = 2; i < 12; i++)
        dims[i] = 1;
    floats(&proto)->n_dims = 12;
    is_read(&proto, expected, 6);
    proto.n_dims = 13;
    is_refused(&proto, "rank 13; at most 12 is supported");
    static int64_t many[100000];
    proto.dims = many;
    proto.n_dims = 100000;
    is_refused(&proto, "rank 100000; at most 12 is supported");
    floats(&proto)->segment = &(Onnx__TensorProto__Segment)ONNX__TENSOR_PROTO__SEGMENT__INIT;
    is_refused(&proto, "a segmented tensor, which no ONNX version defines fully");
    floats(&proto)->data_type = AMP_DTYPE_COUNT;
    is_refused(&proto, "unknown data_type 27; 1 to 26 are known");
    floats(&proto)->data_type = 0;
    is_refused(&proto, "unknown data_type 0; 1 to 26 are known");
}

/* Types of fewer bits come in 32, those of 64 in fields of their own. */
static void small_types_come_as_int32(void **state)
{
    static int32_t items[3] = {0x3f80, -1, 257};
    static int64_t three = 3;
    Onnx__TensorProto proto;
    (void)state;
    onnx__tensor_proto__init(&proto);
    proto.n_dims = 1;
    proto.dims = &three;
    proto.n_int32_data = 3;
    proto.int32_data = items;
    proto.data_type = AMP_INT32;
    is_read(&proto, (const double[]){0x3f80, -1, 257}, 3);
    proto.data_type = AMP_INT8;
    is_read(&proto, (const double[]){-128, -1, 1}, 3);
    proto.data_type = AMP_UINT16;
    is_read(&proto, (const double[]){0x3f80, 65535, 257}, 3);
    items[1] = 0xbf80;
    proto.data_type = AMP_BFLOAT16;
    is_read(&proto, (const double[]){1, -1, 129 * 0x1p-132}, 3);
    proto.data_type = AMP_INT64;
    is_refused(&proto, "int64_data holds 0 values; int64 [3] needs 3");
}

static void external_data_need_a_file(void **state)
{
    Onnx__TensorProto proto;
    (void)state;
    floats(&proto)->has_data_location = true;
    is_read(&proto, (const double[]){1, 2, 3, 4, 5, 6}, 6);
    proto.data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    is_refused(&proto, "external data are not possible here");
}

/* Both parts of an entry are optional in the format. */
static void external_entries_may_lack_parts(void **state)
{
    Onnx__StringStringEntryProto entries[3];
    Onnx__StringStringEntryProto *places[] = {&entries[0], &entries[1], &entries[2]};
    Onnx__TensorProto proto;
    (void)state;
    for (int i = 0; i < 3; i++)
        onnx__string_string_entry_proto__init(&entries[i]);
    entries[0].key = NULL;
    entries[0].value = (char[]){"w.bin"};
    entries[1].key = (char[]){"location"};
    entries[1].value = NULL;
    entries[2].key = entries[2].value = NULL;
    floats(&proto)->has_data_location = true;
    proto.data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    proto.external_data = places;
    proto.n_external_data = 3;
    is_refused(&proto, "external data are not possible here");
}

/* float32 [2, 3] in the 40 bytes of w.bin, as the entries say; NULL: there is none. */
static void external_is(const char *const values[3], enum amp_dtype dtype, int64_t rows,
                        const char *refusal)
{
    static char keys[3][9] = {"location", "offset", "length"};
    char texts[3][4200];
    Onnx__StringStringEntryProto entries[3], *places[3];
    Onnx__TensorProto proto;
    struct amp_tensor tensor;
    struct amp_error err = {.status = AMP_OK};
    struct amp_external *external = amp_external_create("model.onnx");
    floats(&proto)->has_data_location = true;
    proto.dims = (int64_t[]){rows, 3};
    proto.data_type = dtype;
    proto.data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    proto.external_data = places;
    for (int i = 0; i < 3; i++) {
        if (values[i] == NULL)
            continue;
        onnx__string_string_entry_proto__init(&entries[i]);
        snprintf(texts[i], sizeof texts[i], "%s", values[i]);
        entries[i].key = keys[i];
        entries[i].value = texts[i];
        places[proto.n_external_data++] = &entries[i];
    }
    enum amp_status status = amp_tensor_from_proto(&proto, net.arena, external, &tensor, &err);
    assert_string_equal(err.text, refusal);
    assert_int_equal(status, refusal[0] == '\0' ? AMP_OK : AMP_MODEL);
    long offset = values[1] != NULL ? strtol(values[1], NULL, 10) / 4 : 0;
    for (size_t i = 0; i < (size_t)rows * 3 && status == AMP_OK; i++)
        assert_true(amp_tensor_double(&tensor, i) == (double)offset + (double)i);
    if (status == AMP_OK) { /* the message refers to the data, and has none of its own */
        assert_false(proto.has_raw_data);
        assert_ptr_equal(proto.raw_data.data, tensor.data);
        assert_int_equal(proto.raw_data.len, amp_tensor_size(&tensor));
        assert_true(amp_external_has(external, "w.bin") && amp_external_has(external, "./w.bin"));
        assert_false(amp_external_has(external, ".") || amp_external_has(external, "none.bin"));
        assert_int_equal(amp_external_size(external), 40);
    }
    amp_external_destroy(external);
}

static void external_data_are_where_the_entries_say(void **state)
{
#define NUMBER(key, text) "external data " key " '" text "'; a number of bytes is needed"
#define BELOW(text) "external data location '" text "'; a path below the model's folder is needed"
    static const struct {
        const char *values[3], *refusal;
    } rows[] = {
        {{"w.bin", NULL, NULL}, ""},
        {{"w.bin", "0", "24"}, ""},
        {{"w.bin", "16", "24"}, ""},
        {{"w.bin", "17", NULL},
         "external data file 'w.bin' has 40 bytes; 24 at offset 17 are needed"},
        {{"w.bin", "40", NULL},
         "external data file 'w.bin' has 40 bytes; 24 at offset 40 are needed"},
        {{"w.bin", "18446744073709551615", NULL},
         "external data file 'w.bin' has 40 bytes; 24 at offset 18446744073709551615 are needed"},
        {{"w.bin", "18446744073709551616", NULL}, NUMBER("offset", "18446744073709551616")},
        {{"w.bin", "", NULL}, NUMBER("offset", "")},
        {{"w.bin", "-1", NULL}, NUMBER("offset", "-1")},
        {{"w.bin", "x", NULL}, NUMBER("offset", "x")},
        {{"w.bin", "4x", NULL}, NUMBER("offset", "4x")},
        {{"w.bin", NULL, "-24"}, NUMBER("length", "-24")},
        {{"w.bin", NULL, "24 "}, NUMBER("length", "24 ")},
        {{"w.bin", NULL, "23"}, "external data of 23 bytes; float32 [2, 3] needs 24"},
        {{"w.bin", NULL, "25"}, "external data of 25 bytes; float32 [2, 3] needs 24"},
        {{NULL, "0", "24"}, "external data without a location"},
        {{"", NULL, NULL}, BELOW("")},
        {{"/w.bin", NULL, NULL}, BELOW("/w.bin")},
        {{"..", NULL, NULL}, BELOW("..")},
        {{"../w.bin", NULL, NULL}, BELOW("../w.bin")},
        {{"a/../w.bin", NULL, NULL}, BELOW("a/../w.bin")},
        {{"none.bin", NULL, NULL}, "external data file './none.bin': No such file or directory"},
        {{"..w", NULL, NULL}, "external data file './..w': No such file or directory"},
        {{"ab/w", NULL, NULL}, "external data file './ab/w': No such file or directory"},
        {{"ab/..w", NULL, NULL}, "external data file './ab/..w': No such file or directory"},
        {{"ab/..", NULL, NULL}, BELOW("ab/..")},
    };
    float items[10];
    FILE *file = fopen("w.bin", "wb");
    (void)state;
    for (int i = 0; i < 10; i++)
        items[i] = (float)i;
    assert_non_null(file);
    assert_int_equal(fwrite(items, sizeof *items, 10, file), 10);
    fclose(file);
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        external_is(rows[i].values, AMP_FLOAT, 2, rows[i].refusal);
    external_is((const char *const[3]){"w.bin"}, AMP_STRING, 2,
                "external data cannot hold strings");
    char *longest = amp_arena_alloc(net.arena, 4096);
    memset(longest, 'a', 4094); /* and "./" before it: as long as no path may be */
    external_is((const char *const[3]){longest}, AMP_FLOAT, 2,
                "external data location of 4096 bytes is too long");
    external_is((const char *const[3]){"w.bin", "40"}, AMP_FLOAT, 0, "");
    external_is((const char *const[3]){"w.bin", "41"}, AMP_FLOAT, 0,
                "external data file 'w.bin' has 40 bytes; 0 at offset 41 are needed");
}

/* ---- sparse tensors ---- */

static struct {
    Onnx__SparseTensorProto proto;
    Onnx__TensorProto values, indices;
    int64_t dims[3], value_dims[2], index_dims[3], places[8];
} sparse;

/* 1 and 2 in a float32 [2, 3], at places 1 and 5. */
static void start_sparse(void)
{
    memset(&sparse, 0, sizeof sparse);
    onnx__sparse_tensor_proto__init(&sparse.proto);
    floats(&sparse.values)->n_dims = 1;
    sparse.values.dims = sparse.value_dims;
    sparse.values.n_float_data = 2;
    onnx__tensor_proto__init(&sparse.indices);
    sparse.indices.data_type = AMP_INT64;
    sparse.indices.n_dims = 1;
    sparse.indices.dims = sparse.index_dims;
    sparse.indices.int64_data = sparse.places;
    sparse.indices.n_int64_data = 2;
    sparse.proto.values = &sparse.values;
    sparse.proto.indices = &sparse.indices;
    sparse.proto.n_dims = 2;
    sparse.proto.dims = sparse.dims;
    memcpy(sparse.dims, dims, 2 * sizeof *dims);
    sparse.value_dims[0] = sparse.index_dims[0] = 2;
    sparse.places[0] = 1;
    sparse.places[1] = 5;
}

/* The same with a pair of indices for each value. */
static void start_pairs(void)
{
    static const int64_t pairs[4] = {0, 1, 1, 2};
    start_sparse();
    sparse.indices.n_dims = 2;
    sparse.index_dims[1] = 2;
    sparse.indices.n_int64_data = 4;
    memcpy(sparse.places, pairs, sizeof pairs);
}

static void sparse_is(const char *refusal)
{
    static const double expected[6] = {0, 1, 0, 0, 0, 2};
    struct amp_tensor tensor;
    struct amp_error err = {.status = AMP_OK};
    enum amp_status status = amp_tensor_from_sparse(&sparse.proto, net.arena, NULL, &tensor, &err);
    assert_string_equal(err.text, refusal);
    assert_int_equal(status, refusal[0] == '\0' ? AMP_OK : AMP_MODEL);
    for (size_t i = 0; i < 6 && status == AMP_OK; i++)
        assert_true(amp_tensor_double(&tensor, i) == expected[i]);
}

static void sparse_tensors_become_dense(void **state)
{
    (void)state;
    start_sparse();
    sparse_is("");
    sparse.places[1] = 6;
    sparse_is("sparse tensor: index 6; it has 6 elements");
    sparse.places[1] = -1;
    sparse_is("sparse tensor: index -1; it has 6 elements");
    start_pairs();
    sparse_is("");
    sparse.places[3] = 3;
    sparse_is("sparse tensor: index 3; dim 1 is 3");
    sparse.places[3] = -1;
    sparse_is("sparse tensor: index -1; dim 1 is 3");
    start_pairs();
    sparse.places[2] = 2;
    sparse_is("sparse tensor: index 2; dim 0 is 2");
}

static void sparse_tensors_have_values_and_indices(void **state)
{
    (void)state;
    start_sparse();
    sparse.proto.values = NULL;
    sparse_is("sparse tensor without values or indices");
    start_sparse();
    sparse.proto.indices = NULL;
    sparse_is("sparse tensor without values or indices");
    start_sparse();
    sparse.index_dims[0] = sparse.indices.n_int64_data = 1;
    sparse_is(
        "sparse tensor with values [2] and int64 indices [1]; values [n] and int64 indices [n] "
        "or [n, rank] are needed");
    start_pairs();
    sparse.index_dims[0] = 1;
    sparse.index_dims[1] = 4;
    sparse_is(
        "sparse tensor with values [2] and int64 indices [1, 4]; values [n] and int64 indices "
        "[n] or [n, rank] are needed");
    start_pairs();
    sparse.index_dims[1] = 1;
    sparse.indices.n_int64_data = 2;
    sparse_is(
        "sparse tensor with values [2] and int64 indices [2, 1]; values [n] and int64 indices "
        "[n] or [n, rank] are needed");
    start_sparse();
    sparse.values.n_dims = 2;
    sparse.value_dims[1] = 1;
    sparse_is(
        "sparse tensor with values [2, 1] and int64 indices [2]; values [n] and int64 indices "
        "[n] or [n, rank] are needed");
    start_sparse();
    sparse.indices.data_type = AMP_UINT64;
    sparse.indices.n_uint64_data = 2;
    sparse.indices.uint64_data = (uint64_t *)sparse.places;
    sparse_is("sparse tensor with values [2] and uint64 indices [2]; values [n] and int64 indices "
              "[n] or [n, rank] are needed");
    start_sparse();
    sparse.dims[0] = 1 << 20;
    sparse.dims[1] = 1 << 10;
    sparse_is("sparse tensor of 4294967296 dense bytes; at most 1073741824 are read");
}

/* ---- sequences, optionals and maps ---- */

/* VALUE as text: {1, 2}; [..] around items of a sequence, (..) of an optional, <keys values> a map.
 */
static void put_value(const struct amp_tensor *value, char *text, size_t size)
{
    static const char *const marks[][2] = {[AMP_FORM_TENSOR] = {"{", "}"},
                                           [AMP_FORM_SEQUENCE] = {"[", "]"},
                                           [AMP_FORM_OPTIONAL] = {"(", ")"},
                                           [AMP_FORM_MAP] = {"<", ">"}};
    snprintf(text + strlen(text), size - strlen(text), "%s%s", amp_dtype_short_name(value->dtype),
             marks[value->form][0]);
    for (size_t i = 0; i < amp_tensor_count(value); i++) {
        if (i > 0)
            snprintf(text + strlen(text), size - strlen(text), " ");
        if (amp_tensor_is_list(value))
            put_value(&amp_list_items(value)[i], text, size);
        else if (value->dtype == AMP_STRING)
            snprintf(text + strlen(text), size - strlen(text), "%.*s",
                     (int)((const struct amp_str *)value->data)[i].size,
                     ((const struct amp_str *)value->data)[i].data);
        else
            snprintf(text + strlen(text), size - strlen(text), "%g", amp_tensor_double(value, i));
    }
    snprintf(text + strlen(text), size - strlen(text), "%s", marks[value->form][1]);
}

/* MESSAGE as a value of KIND must be WANTED, and be the same when it was written and is read again;
   or be refused, where STATUS says so, with that text. */
static void value_is(enum amp_kind kind, const ProtobufCMessage *message, enum amp_status status,
                     const char *wanted)
{
    uint8_t bytes[1024], room[1024];
    char text[512] = "", again[512] = "";
    struct amp_tensor value, copy;
    struct amp_error err = {.status = AMP_OK};
    ProtobufCBufferSimple buffer = PROTOBUF_C_BUFFER_SIMPLE_INIT(room);
    size_t size = protobuf_c_message_pack(message, bytes);
    assert_in_range(size, 0, sizeof bytes);
    assert_int_equal(amp_value_parse(kind, bytes, size, &value, &err), status);
    if (status != AMP_OK) {
        assert_string_equal(err.text, wanted);
        return;
    }
    put_value(&value, text, sizeof text);
    assert_string_equal(text, wanted);
    amp_value_pack(&value, "name", &buffer.base);
    amp_tensor_release(&value);
    assert_int_equal(amp_value_parse(kind, buffer.data, buffer.len, &copy, &err), AMP_OK);
    put_value(&copy, again, sizeof again);
    assert_string_equal(again, wanted);
    amp_tensor_release(&copy);
    PROTOBUF_C_BUFFER_SIMPLE_CLEAR(&buffer);
}

/* Messages of numbers and text, of which others are put together. */
static struct {
    Onnx__TensorProto one, two, text;
    Onnx__TensorProto *tensors[2], *texts[2];
    Onnx__SequenceProto sequence, values;
    Onnx__OptionalProto optional;
    Onnx__MapProto map;
    Onnx__MapProto *maps[2];
    Onnx__SequenceProto *sequences[1];
    Onnx__OptionalProto *optionals[1];
    Onnx__SparseTensorProto sparse;
    Onnx__SparseTensorProto *sparses[1];
} parts;

static int64_t keys[2] = {-7, 1LL << 40};
static ProtobufCBinaryData words[2] = {{1, (uint8_t *)(char[]){"a"}},
                                       {2, (uint8_t *)(char[]){"bc"}}};

static void start_parts(void)
{
    memset(&parts, 0, sizeof parts);
    floats(&parts.one)->n_dims = 0;
    parts.one.n_float_data = 1;
    floats(&parts.two)->n_dims = 0;
    parts.two.float_data = numbers + 1;
    parts.two.n_float_data = 1;
    onnx__tensor_proto__init(&parts.text);
    parts.text.data_type = AMP_STRING;
    parts.text.has_data_type = true;
    parts.text.n_string_data = 1;
    parts.text.string_data = &words[1];
    onnx__sequence_proto__init(&parts.sequence);
    onnx__sequence_proto__init(&parts.values);
    onnx__optional_proto__init(&parts.optional);
    onnx__map_proto__init(&parts.map);
    onnx__sparse_tensor_proto__init(&parts.sparse);
    parts.tensors[0] = &parts.one;
    parts.tensors[1] = &parts.two;
    parts.texts[0] = parts.texts[1] = &parts.text;
    parts.maps[0] = parts.maps[1] = &parts.map;
    parts.sequences[0] = &parts.sequence;
    parts.optionals[0] = &parts.optional;
    parts.sparses[0] = &parts.sparse;
    parts.sequence.tensor_values = parts.values.tensor_values = parts.tensors;
    parts.sequence.n_tensor_values = parts.values.n_tensor_values = 2;
    parts.map.values = &parts.values;
    parts.map.keys = keys;
    parts.map.n_keys = 2;
}

static void sequences_have_tensors_or_maps(void **state)
{
    static const char others[] = "a sequence of other things than tensors or maps";
    const ProtobufCMessage *sequence = &parts.sequence.base;
    Onnx__SequenceProto inner;
    Onnx__SequenceProto *inners[] = {&inner};
    (void)state;
    start_parts();
    value_is(AMP_KIND_TENSOR, &parts.one.base, AMP_OK, "fp32{1}");
    value_is(AMP_KIND_TENSOR, &parts.text.base, AMP_OK, "string{bc}");
    value_is(AMP_KIND_SEQUENCE, sequence, AMP_OK, "fp32[fp32{1} fp32{2}]");
    parts.sequence.n_tensor_values = 0;
    value_is(AMP_KIND_SEQUENCE, sequence, AMP_OK, "undefined[]");
    parts.sequence.n_map_values = 2;
    parts.sequence.map_values = parts.maps;
    value_is(AMP_KIND_MAP_SEQUENCE, sequence, AMP_OK,
             "fp32[fp32<int64{-7 1.09951e+12} fp32{1 2}> fp32<int64{-7 1.09951e+12} fp32{1 2}>]");
    start_parts();
    onnx__sequence_proto__init(&inner);
    parts.sequence.n_sequence_values = 1;
    parts.sequence.sequence_values = inners;
    value_is(AMP_KIND_SEQUENCE, sequence, AMP_UNSUPPORTED, others);
    start_parts();
    parts.sequence.n_optional_values = 1;
    parts.sequence.optional_values = parts.optionals;
    value_is(AMP_KIND_SEQUENCE, sequence, AMP_UNSUPPORTED, others);
    start_parts();
    parts.sequence.n_sparse_tensor_values = 1;
    parts.sequence.sparse_tensor_values = parts.sparses;
    value_is(AMP_KIND_SEQUENCE, sequence, AMP_UNSUPPORTED, others);
    value_is(AMP_KIND_SPARSE_TENSOR, &parts.sparse.base, AMP_UNSUPPORTED,
             "sparse tensors are not read");
}

static void optionals_have_a_tensor_or_a_sequence(void **state)
{
    static const char others[] = "an optional of something else than a tensor or a sequence";
    const ProtobufCMessage *optional = &parts.optional.base;
    Onnx__OptionalProto inner;
    (void)state;
    start_parts();
    value_is(AMP_KIND_OPTIONAL, optional, AMP_OK, "undefined()");
    parts.optional.tensor_value = &parts.two;
    value_is(AMP_KIND_OPTIONAL, optional, AMP_OK, "fp32(fp32{2})");
    start_parts();
    parts.optional.sequence_value = &parts.sequence;
    value_is(AMP_KIND_OPTIONAL_SEQUENCE, optional, AMP_OK, "fp32(fp32[fp32{1} fp32{2}])");
    start_parts();
    parts.optional.map_value = &parts.map;
    value_is(AMP_KIND_OPTIONAL, optional, AMP_UNSUPPORTED, others);
    start_parts();
    parts.optional.sparse_tensor_value = &parts.sparse;
    value_is(AMP_KIND_OPTIONAL, optional, AMP_UNSUPPORTED, others);
    start_parts();
    onnx__optional_proto__init(&inner);
    parts.optional.optional_value = &inner;
    value_is(AMP_KIND_OPTIONAL, optional, AMP_UNSUPPORTED, others);
}

static void maps_have_as_many_values_as_keys(void **state)
{
    const ProtobufCMessage *map = &parts.map.base;
    (void)state;
    start_parts();
    value_is(AMP_KIND_MAP, map, AMP_OK, "fp32<int64{-7 1.09951e+12} fp32{1 2}>");
    parts.map.n_keys = 1;
    value_is(AMP_KIND_MAP, map, AMP_MODEL, "a map with 1 keys and 2 values");
    parts.map.n_keys = 0;
    parts.map.n_string_keys = 2;
    parts.map.string_keys = words;
    value_is(AMP_KIND_MAP, map, AMP_OK, "fp32<string{a bc} fp32{1 2}>");
    parts.values.tensor_values = parts.texts;
    value_is(AMP_KIND_MAP, map, AMP_OK, "string<string{a bc} string{bc bc}>");
    parts.values.tensor_values = parts.tensors;
    parts.tensors[1] = &parts.text;
    value_is(AMP_KIND_MAP, map, AMP_UNSUPPORTED, "value 1 of a map is not one number or string");
    parts.tensors[1] = floats(&parts.two);
    value_is(AMP_KIND_MAP, map, AMP_UNSUPPORTED, "value 1 of a map is not one number or string");
    start_parts();
    parts.map.values = NULL;
    value_is(AMP_KIND_MAP, map, AMP_MODEL, "a map with 2 keys and 0 values");
    parts.map.n_keys = 0;
    value_is(AMP_KIND_MAP, map, AMP_OK, "fp32<int64{} fp32{}>");
}

/* ---- models ---- */

/* y = Neg(x), as a message. */
static struct {
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__NodeProto node;
    Onnx__AttributeProto attr;
    Onnx__OperatorSetIdProto opset;
    Onnx__ValueInfoProto x, y;
    Onnx__TensorProto initializer;
    Onnx__TypeProto type;
    Onnx__TypeProto__Tensor tensor_type;
    Onnx__AttributeProto *attrs[1];
    Onnx__NodeProto *nodes[1];
    Onnx__OperatorSetIdProto *opsets[1];
    Onnx__ValueInfoProto *inputs[1], *outputs[1];
    Onnx__TensorProto *initializers[1];
    char *takes[1], *gives[1];
} made;

static char name_x[] = "x", name_y[] = "y", neg[] = "Neg", attr_name[] = "axis";

static void start_values(void)
{
    onnx__value_info_proto__init(&made.x);
    onnx__value_info_proto__init(&made.y);
    onnx__type_proto__init(&made.type);
    onnx__type_proto__tensor__init(&made.tensor_type);
    made.tensor_type.has_elem_type = true;
    made.tensor_type.elem_type = AMP_FLOAT;
    made.type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    made.type.tensor_type = &made.tensor_type;
    made.x.name = name_x;
    made.y.name = name_y;
    made.x.type = made.y.type = &made.type;
    made.inputs[0] = &made.x;
    made.outputs[0] = &made.y;
}

static void start_model(void)
{
    onnx__model_proto__init(&made.model);
    onnx__graph_proto__init(&made.graph);
    onnx__node_proto__init(&made.node);
    onnx__operator_set_id_proto__init(&made.opset);
    onnx__attribute_proto__init(&made.attr);
    start_values();
    made.model.has_ir_version = true;
    made.model.ir_version = 8;
    made.model.graph = &made.graph;
    made.model.n_opset_import = 1;
    made.model.opset_import = made.opsets;
    made.opsets[0] = &made.opset;
    made.opset.has_version = true;
    made.opset.version = 17;
    made.graph.n_node = made.graph.n_input = made.graph.n_output = 1;
    made.graph.node = made.nodes;
    made.graph.input = made.inputs;
    made.graph.output = made.outputs;
    made.nodes[0] = &made.node;
    made.node.op_type = neg;
    made.node.n_input = made.node.n_output = 1;
    made.node.input = made.takes;
    made.node.output = made.gives;
    made.takes[0] = name_x;
    made.gives[0] = name_y;
}

static void add_attr(void)
{
    made.attr.name = attr_name;
    made.attr.has_type = true;
    made.attr.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    made.attrs[0] = &made.attr;
    made.node.n_attribute = 1;
    made.node.attribute = made.attrs;
}

/* Reads the model from a file. TEXT is the end of the refusal; NULL: it is taken. */
static void model_is(enum amp_status expected, const char *text)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    size_t size = onnx__model_proto__get_packed_size(&made.model);
    uint8_t *bytes = malloc(size);
    onnx__model_proto__pack(&made.model, bytes);
    FILE *out = fopen("model.onnx", "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    free(bytes);
    enum amp_status status = amp_model_read("model.onnx", &file, &err);
    if (status == AMP_OK)
        amp_model_close(&file);
    size_t length = strlen(err.text), tail = text ? strlen(text) : 0;
    if (status != expected || length < tail ||
        strcmp(err.text + length - tail, text ? text : "") != 0)
        fail_msg("status %d: %s", (int)status, err.text);
}

static void models_have_versions(void **state)
{
    (void)state;
    start_model();
    model_is(AMP_OK, NULL);
    made.model.ir_version = 3;
    model_is(AMP_OK, NULL);
    made.model.ir_version = 2;
    model_is(AMP_MODEL, "IR version 2; 3 and newer are supported");
    made.model.ir_version = 13;
    model_is(AMP_OK, NULL);
    made.model.ir_version = 14;
    model_is(AMP_UNSUPPORTED, "IR version 14; the newest known is 13");
    start_model();
    made.opset.version = 1;
    model_is(AMP_OK, NULL);
    made.opset.version = 0;
    model_is(AMP_MODEL, "opset version 0 of ai.onnx; 1 and above are possible");
    made.opset.version = 28;
    model_is(AMP_OK, NULL);
    made.opset.version = 29;
    model_is(AMP_UNSUPPORTED, "opset version 29 of ai.onnx; the newest known is 28");

    start_model();
    made.model.n_opset_import = 0;
    model_is(AMP_MODEL, "the model has no opset_import");
    start_model();
    made.model.graph = NULL;
    model_is(AMP_MODEL, "the model has no graph");
}

static void nodes_have_operators_and_attributes_names(void **state)
{
    static char empty[] = "";
    (void)state;
    start_model();
    made.node.op_type = empty;
    model_is(AMP_MODEL, "node 0 '' has no op_type");
    made.node.op_type = NULL;
    model_is(AMP_MODEL, "node 0 '' has no op_type");
    start_model();
    add_attr();
    made.attr.name = empty;
    model_is(AMP_MODEL, "an attribute without a name");
    start_model();
    add_attr();
    made.attr.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    model_is(AMP_MODEL, "attribute 'axis': the value is missing");
    made.attr.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    model_is(AMP_MODEL, "attribute 'axis': the value is missing");
    made.attr.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR;
    model_is(AMP_MODEL, "attribute 'axis': the value is missing");
    /* what is there and wrong is not missing */
    Onnx__TensorProto tensor;
    Onnx__SparseTensorProto thin;
    onnx__sparse_tensor_proto__init(&thin);
    made.attr.sparse_tensor = &thin;
    model_is(AMP_MODEL, "attribute 'axis': sparse tensor without values or indices");
    made.attr.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    floats(&tensor)->n_float_data = 5;
    made.attr.t = &tensor;
    model_is(AMP_MODEL, "attribute 'axis': float_data holds 5 values; float32 [2, 3] needs 6");
}

/* The domain of ONNX's operators has two names, and what exporters note of a node three keys. */
static void nodes_have_domains_and_notes(void **state)
{
    static char long_name[] = "ai.onnx", ml[] = "ai.onnx.ml", empty[] = "";
    static char note_keys[][30] = {"pkg.torch.onnx.fx_node", "namespace",
                                   "pkg.torch.onnx.stack_trace", "pkg.torch.onnx.name_scopes"};
    char *const domains[] = {NULL, empty, long_name, ml};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(domains); i++) {
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        start_model();
        made.node.domain = domains[i];
        model_is(AMP_OK, NULL);
        assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
        assert_string_equal(amp_node_at(file.model, 0)->domain, i < 3 ? "" : "ai.onnx.ml");
        assert_int_equal(amp_node_at(file.model, 0)->schema != NULL, i < 3);
        amp_model_close(&file);
    }
    for (size_t n = 0; n <= AMP_COUNT(note_keys); n++)
        for (size_t size = 8190; size <= 8192; size++) {
            static char text[8193];
            struct amp_model_file file;
            struct amp_error err = {.status = AMP_OK};
            Onnx__StringStringEntryProto entry, *entries[1] = {&entry};
            memset(text, 'x', size);
            text[size] = '\0';
            start_model();
            onnx__string_string_entry_proto__init(&entry);
            entry.key = n < AMP_COUNT(note_keys) ? note_keys[n] : NULL;
            entry.value = text;
            made.node.n_metadata_props = 1;
            made.node.metadata_props = entries;
            model_is(AMP_OK, NULL);
            assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
            const struct amp_export_note *note = &amp_node_at(file.model, 0)->note;
            const char *const notes[] = {note->fx_node, note->scope, note->stack_trace};
            for (size_t i = 0; i < AMP_COUNT(notes); i++)
                if (i != n || size == 8192)
                    assert_null(notes[i]);
                else
                    assert_string_equal(notes[i], text);
            amp_model_close(&file);
        }
}

static void initializers_are_what_their_input_is(void **state)
{
    (void)state;
    start_model();
    floats(&made.initializer)->name = name_x;
    made.graph.n_initializer = 1;
    made.graph.initializer = made.initializers;
    made.initializers[0] = &made.initializer;
    model_is(AMP_OK, NULL);
    made.initializer.data_type = AMP_INT32;
    made.initializer.n_float_data = 0;
    made.initializer.n_int32_data = 6;
    made.initializer.int32_data = (int32_t *)numbers;
    model_is(AMP_MODEL, "initializer 'x' is int32; the graph input of that name is float32");
}

/* Entries of which each may have no key, no value, or neither. */
static Onnx__StringStringEntryProto **entries(const char *key)
{
    Onnx__StringStringEntryProto **list = amp_arena_array(net.arena, 4, sizeof *list);
    for (int i = 0; i < 4; i++) {
        list[i] = amp_arena_alloc(net.arena, sizeof *list[i]);
        onnx__string_string_entry_proto__init(list[i]);
        list[i]->key = (i & 1) != 0 ? amp_arena_strdup(net.arena, key) : NULL;
        list[i]->value = (i & 2) != 0 ? amp_arena_strdup(net.arena, "value") : NULL;
    }
    return list;
}

static void start_initialized(char *name)
{
    start_model();
    floats(&made.initializer)->name = name;
    made.graph.n_initializer = 1;
    made.graph.initializer = made.initializers;
    made.initializers[0] = &made.initializer;
}

/* What a value is declared as has a type that is known and a rank that is supported: of a tensor,
   and of the elements of a sequence. */
static void declared_types_are_bounded(void **state)
{
    Onnx__TensorShapeProto shape;
    Onnx__TensorShapeProto__Dimension dim, *dims_of_it[AMP_RANK_MAX + 1];
    Onnx__TypeProto sequence;
    Onnx__TypeProto__Sequence sequence_type;
    (void)state;
    start_model();
    onnx__tensor_shape_proto__init(&shape);
    onnx__tensor_shape_proto__dimension__init(&dim);
    onnx__type_proto__init(&sequence);
    onnx__type_proto__sequence__init(&sequence_type);
    for (int i = 0; i <= AMP_RANK_MAX; i++)
        dims_of_it[i] = &dim;
    shape.dim = dims_of_it;
    made.tensor_type.shape = &shape;
    sequence.value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
    sequence.sequence_type = &sequence_type;
    sequence_type.elem_type = &made.type;
    for (int is_sequence = 0; is_sequence < 2; is_sequence++) {
        char said[100];
        made.opset.domain = is_sequence ? name_x : NULL; /* an operator that takes anything */
        made.node.domain = made.opset.domain;
        made.x.type = made.y.type = is_sequence ? &sequence : &made.type;
        shape.n_dim = AMP_RANK_MAX;
        model_is(AMP_OK, NULL);
        made.tensor_type.elem_type = AMP_DTYPE_COUNT;
        snprintf(said, sizeof said, "value 'x': unknown elem_type %d; 1 to %d are known",
                 AMP_DTYPE_COUNT, AMP_DTYPE_COUNT - 1);
        model_is(AMP_MODEL, said);
        made.tensor_type.elem_type = -1;
        snprintf(said, sizeof said, "value 'x': unknown elem_type -1; 1 to %d are known",
                 AMP_DTYPE_COUNT - 1);
        model_is(AMP_MODEL, said);
        made.tensor_type.elem_type = AMP_FLOAT;
        shape.n_dim = AMP_RANK_MAX + 1;
        snprintf(said, sizeof said, "value 'x': rank %d; at most %d is supported", AMP_RANK_MAX + 1,
                 AMP_RANK_MAX);
        model_is(AMP_MODEL, said);
    }
}

/* How many entries of value_info are written again of those that are read. */
static size_t value_infos_left(void)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    struct amp_deferred deferred = {.count = 0};
    model_is(AMP_OK, NULL);
    assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
    amp_message_update(file.model, &deferred);
    const Onnx__ModelProto *proto = file.model->origin;
    size_t left = proto->graph->n_value_info;
    amp_model_close(&file);
    return left;
}

/* An initializer is what it holds, whatever value_info has under its name; what value_info says of
   nobody is passed over. */
static void initializers_know_their_type(void **state)
{
    static char name_w[] = "w", no_value[] = "z";
    char *const names[] = {name_w, no_value};
    Onnx__ValueInfoProto info, *all[] = {&info};
    Onnx__TypeProto type;
    Onnx__TypeProto__Tensor tensor;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(names); i++) {
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        start_initialized(name_w);
        onnx__value_info_proto__init(&info);
        onnx__type_proto__init(&type);
        onnx__type_proto__tensor__init(&tensor);
        tensor.has_elem_type = true;
        tensor.elem_type = AMP_INT64;
        type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        type.tensor_type = &tensor;
        info.name = names[i];
        info.type = &type;
        made.graph.n_value_info = 1;
        made.graph.value_info = all;
        model_is(AMP_OK, NULL);
        assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
        for (uint32_t id = 0; id < file.model->n_values; id++)
            assert_int_not_equal(amp_value_at(file.model, id)->dtype, AMP_INT64);
        amp_model_close(&file);
    }
}

/* What a Constant says in each of its attributes is a constant of the dtype that goes with it:
   one element without dims, or a list. */
static void constants_are_what_they_say(void **state)
{
    static char constant_type[] = "Constant", both[] = "ab";
    static char names[][14] = {"value_float", "value_floats", "value_int",
                               "value_ints",  "value_string", "value_strings"};
    static float floats_of_it[] = {1.5f, -2};
    static int64_t ints[] = {INT64_MIN, 3};
    ProtobufCBinaryData strings[] = {{1, (uint8_t *)both}, {1, (uint8_t *)both + 1}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_INT64, AMP_STRING};
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        start_model();
        made.node.op_type = constant_type;
        made.node.n_input = 0;
        add_attr();
        made.attr.name = names[i];
        static const Onnx__AttributeProto__AttributeType types[] = {
            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS,
            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS};
        made.attr.type = types[i];
        made.attr.has_f = i == 0;
        made.attr.f = 1.5f;
        made.attr.has_i = i == 2;
        made.attr.i = INT64_MIN;
        made.attr.has_s = i == 4;
        made.attr.s = strings[0];
        made.attr.floats = floats_of_it;
        made.attr.n_floats = i == 1 ? 2 : 0;
        made.attr.ints = ints;
        made.attr.n_ints = i == 3 ? 2 : 0;
        made.attr.strings = strings;
        made.attr.n_strings = i == 5 ? 2 : 0;
        model_is(AMP_OK, NULL);
        assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
        const struct amp_value *value =
            amp_value_at(file.model, amp_node_at(file.model, 0)->outputs[0]);
        const struct amp_tensor *constant = value->constant;
        assert_non_null(constant);
        assert_int_equal(constant->dtype, dtypes[i / 2]);
        assert_int_equal(value->dtype, dtypes[i / 2]);
        assert_int_equal(value->kind, AMP_KIND_TENSOR);
        assert_int_equal(constant->shape.rank, i % 2);
        assert_int_equal(value->rank, i % 2);
        assert_int_equal(amp_tensor_count(constant), 1 + i % 2);
        for (size_t k = 0; k < amp_tensor_count(constant); k++)
            if (i / 2 == 0)
                assert_true(amp_tensor_double(constant, k) == (double)floats_of_it[k]);
            else if (i / 2 == 1)
                assert_true(amp_tensor_int(constant, k) == ints[k]);
            else
                assert_int_equal(((const struct amp_str *)constant->data)[k].data[0], both[k]);
        amp_model_close(&file);
    }
}

/* Attributes that passes make say their type and have the value in its field alone. */
static void attributes_say_their_type(void **state)
{
    float floats_of_it[] = {1.5f, -2};
    int64_t ints[] = {7, 3};
    struct amp_str strings[] = {{"ab", 2}, {"c", 1}};
    float one = 4;
    struct amp_tensor tensor = {.dtype = AMP_FLOAT, .data = &one}, *tensors[] = {&tensor};
    (void)state;
    for (int type = AMP_ATTR_FLOAT; type <= AMP_ATTR_STRINGS; type++) {
        struct amp_attr attr = {.name = "a", .type = (enum amp_attr_type)type};
        if (type == AMP_ATTR_GRAPH)
            continue;
        if (type > AMP_ATTR_STRINGS || type == AMP_ATTR_TENSOR)
            attr.tensors = tensors;
        else if (type == AMP_ATTR_FLOAT || type == AMP_ATTR_FLOATS)
            attr.floats = floats_of_it;
        else if (type == AMP_ATTR_INT || type == AMP_ATTR_INTS)
            attr.ints = ints;
        else
            attr.strings = strings;
        attr.count = type >= AMP_ATTR_FLOATS ? 2 : 1;
        const Onnx__AttributeProto *proto = amp_attr_to_proto(&attr, net.arena);
        assert_string_equal(proto->name, "a");
        assert_true(proto->has_type && (int)proto->type == type);
        assert_int_equal(proto->has_f, type == AMP_ATTR_FLOAT);
        assert_int_equal(proto->has_i, type == AMP_ATTR_INT);
        assert_int_equal(proto->has_s, type == AMP_ATTR_STRING);
        assert_int_equal(proto->t != NULL, type == AMP_ATTR_TENSOR);
        assert_int_equal(proto->n_floats, type == AMP_ATTR_FLOATS ? 2 : 0);
        assert_int_equal(proto->n_ints, type == AMP_ATTR_INTS ? 2 : 0);
        assert_int_equal(proto->n_strings, type == AMP_ATTR_STRINGS ? 2 : 0);
        if (proto->has_f)
            assert_true(proto->f == 1.5f);
        if (proto->has_i)
            assert_int_equal(proto->i, 7);
        if (proto->has_s)
            assert_true(proto->s.len == 2 && memcmp(proto->s.data, "ab", 2) == 0);
        if (proto->n_floats > 0)
            assert_memory_equal(proto->floats, floats_of_it, sizeof floats_of_it);
        if (proto->n_ints > 0)
            assert_memory_equal(proto->ints, ints, sizeof ints);
        if (proto->n_strings > 0)
            assert_true(proto->strings[1].len == 1 && proto->strings[1].data[0] == 'c');
    }
}

/* What an input is declared as counts, whatever the graph says of it as an output; of the metadata
   one key says what pixels are. */
static void declarations_have_their_places(void **state)
{
    Onnx__TypeProto type;
    Onnx__TypeProto__Tensor tensor;
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    start_model();
    onnx__type_proto__init(&type);
    onnx__type_proto__tensor__init(&tensor);
    type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type.tensor_type = &tensor;
    tensor.has_elem_type = true;
    tensor.elem_type = AMP_DOUBLE;
    made.y.name = name_x;
    made.y.type = &type;
    Onnx__StringStringEntryProto *props[] = {entries("other")[3],
                                             entries("Image.NominalPixelRange")[3]};
    static char range[] = "Normalized_0_1";
    props[1]->value = range;
    made.model.n_metadata_props = 2;
    made.model.metadata_props = props;
    model_is(AMP_OK, NULL);
    assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
    uint32_t x = file.model->graphs[0].inputs.items[0];
    assert_int_equal(file.model->graphs[0].outputs.items[0], x);
    assert_int_equal(amp_value_at(file.model, x)->dtype, AMP_FLOAT);
    assert_string_equal(file.model->pixel_range, range);
    amp_model_close(&file);
}

/* Texts are optional in the format, and as good as empty where they are missing. */
static void texts_may_be_missing(void **state)
{
    static const char *const keys_of_nodes[] = {"pkg.torch.onnx.fx_node", "namespace",
                                                "pkg.torch.onnx.stack_trace"};
    static char empty[] = "", no_value[] = "z";
    Onnx__ValueInfoProto info, *all[] = {&info};
    (void)state;
    start_model();
    made.model.n_metadata_props = 4;
    made.model.metadata_props = entries("Image.NominalPixelRange");
    model_is(AMP_OK, NULL);
    for (size_t i = 0; i < AMP_COUNT(keys_of_nodes); i++) {
        start_model();
        made.node.n_metadata_props = 4;
        made.node.metadata_props = entries(keys_of_nodes[i]);
        model_is(AMP_OK, NULL);
    }
    start_model();
    onnx__value_info_proto__init(&info);
    made.graph.n_value_info = 1;
    made.graph.value_info = all;
    model_is(AMP_OK, NULL);
    char *const nobodys[] = {NULL, empty, no_value, name_x, name_y};
    for (size_t i = 0; i < AMP_COUNT(nobodys); i++) { /* no value within the graph */
        info.name = nobodys[i];
        info.type = &made.type;
        assert_int_equal(value_infos_left(), 0);
    }
    for (int is_empty = 0; is_empty < 2; is_empty++) {
        char *name = is_empty ? empty : NULL;
        start_model();
        made.node.name = made.node.domain = made.graph.name = made.opset.domain = name;
        model_is(AMP_OK, NULL);
        made.x.name = name;
        model_is(AMP_MODEL, "graph input without a name");
        start_model();
        made.y.name = name;
        model_is(AMP_MODEL, "graph output '' is not defined");
        start_initialized(name);
        model_is(AMP_MODEL, "initializer without a name");
    }
}

/* What a location comes to through links lies below the model's folder, not beside it under a name
   that begins alike. */
static void links_stay_below_the_folder(void **state)
{
    static const struct {
        const char *location;
        bool is_below;
    } rows[] = {{"w", true},      {"to_w", true},    {"sub/w", true},        {"to_sub/w", true},
                {"above", false}, {"beside", false}, {"to_beside/w", false}, {"as_long", false}};
    (void)state;
    assert_int_equal(
        system("mkdir -p in/sub in2 on && echo 12345678 | tee w in2/w on/w in/w in/sub/w "
               ">/dev/null && cd in && ln -sf w to_w && ln -sfn sub to_sub && ln -sf "
               "../w above && ln -sf ../in2/w beside && ln -sfn ../in2 to_beside && ln -sf "
               "../on/w as_long"),
        0);
    struct amp_external *external = amp_external_create("in/m.onnx");
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err = {.status = AMP_OK};
        const struct amp_external_range range = {rows[i].location, 0, 8};
        void *data = NULL;
        char said[100];
        snprintf(said, sizeof said, "external data location '%s' lies outside the model's folder",
                 rows[i].location);
        assert_int_equal(amp_external_map(external, &range, &data, &err),
                         rows[i].is_below ? AMP_OK : AMP_MODEL);
        assert_string_equal(err.text, rows[i].is_below ? "" : said);
        if (rows[i].is_below)
            assert_memory_equal(data, "12345678", 8);
    }
    assert_false(amp_external_has(external, "in2/w"));
    assert_true(amp_external_has(external, "in/sub/w"));
    amp_external_destroy(external);
}

/* A tensor that is converted on its way to the file is there whole, of one block of elements or of
   several; in the message, or in a file beside it. */
static void deferred_data_are_written_whole(void **state)
{
    enum { BLOCK = 1 << 20, MOST = 2 * BLOCK + 5 };
    static const int64_t counts[] = {1, BLOCK - 1, BLOCK, BLOCK + 1, MOST};
    static char name_w[] = "w";
    float *items = malloc(MOST * sizeof *items);
    (void)state;
    assert_non_null(items);
    for (size_t i = 0; i < MOST; i++)
        items[i] = (float)(i % 2039);
    for (size_t k = 0; k < 2 * AMP_COUNT(counts); k++) {
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        int64_t count = counts[k / 2];
        struct amp_tensor source = {.dtype = AMP_FLOAT, .shape = {1, {count}}, .data = items};
        struct amp_tensor deferred = {
            .dtype = AMP_FLOAT16, .shape = source.shape, .source = &source};
        const struct amp_tensor *slots[1];
        struct amp_placement placement = {.deferred.items = slots};
        struct amp_model model = {.arena = net.arena, .origin = &made.model};
        const struct amp_placement_options options = {.path = "out.onnx",
                                                      .data_name = k % 2 == 1 ? "out.bin" : NULL};
        start_initialized(name_w);
        made.initializer.n_float_data = 0;
        made.initializer.data_type = AMP_FLOAT16;
        made.initializer.n_dims = 1;
        made.initializer.dims = &count;
        made.initializer.has_raw_data = true;
        made.initializer.raw_data.len = 2 * (size_t)count;
        made.initializer.raw_data.data = amp_deferred_add(&placement.deferred, &deferred);
        assert_int_equal(amp_placement_decide(&placement, &model, &options, &err), AMP_OK);
        assert_int_equal(placement.n_placed, k % 2 == 1 && count > 256);
        assert_int_equal(amp_model_write(&model, &placement, &err), AMP_OK);
        assert_int_equal(amp_model_read("out.onnx", &file, &err), AMP_OK);
        const struct amp_tensor *found = NULL;
        for (uint32_t id = 0; id < file.model->n_values; id++)
            if (strcmp(amp_value_at(file.model, id)->name, "w") == 0)
                found = amp_value_at(file.model, id)->constant;
        assert_non_null(found);
        assert_true(found->dtype == AMP_FLOAT16 && amp_shape_equal(&found->shape, &source.shape));
        for (size_t i = 0; i < (size_t)count; i++)
            if (amp_tensor_double(found, i) != (double)items[i]) /* all of them are float16's */
                fail_msg("element %zu of %lld", i, (long long)count);
        amp_model_close(&file);
    }
    free(items);
}

/* Entries that begin alike make room for others; the rest stays in its order, without a key too. */
static void metadata_are_replaced(void **state)
{
    static const struct amp_metadata_entry added[] = {{"p.a", "1"}, {"p.b", "2"}};
    static const char *const wanted[][2] = {{NULL, NULL},   {"p", NULL},   {NULL, "value"},
                                            {"p", "value"}, {"q.p.", "x"}, {"p.a", "1"},
                                            {"p.b", "2"}};
    Onnx__StringStringEntryProto *all[8], **others = entries("p"), **same = entries("p.c");
    struct amp_model model = {.arena = net.arena, .origin = &made.model};
    (void)state;
    start_model();
    for (int i = 0; i < 4; i++)
        all[i] = others[i];
    all[4] = same[1];
    all[5] = entries("q.p.")[3];
    all[5]->value = amp_arena_strdup(net.arena, "x");
    all[6] = same[3];
    all[7] = entries("p.")[3];
    made.model.n_metadata_props = 8;
    made.model.metadata_props = all;
    amp_metadata_replace(&model, "p.", added, 2);
    assert_int_equal(made.model.n_metadata_props, AMP_COUNT(wanted));
    for (size_t i = 0; i < AMP_COUNT(wanted); i++) {
        const Onnx__StringStringEntryProto *entry = made.model.metadata_props[i];
        assert_int_equal(entry->key == NULL, wanted[i][0] == NULL);
        assert_int_equal(entry->value == NULL, wanted[i][1] == NULL);
        assert_string_equal(entry->key ? entry->key : "", wanted[i][0] ? wanted[i][0] : "");
        assert_string_equal(entry->value ? entry->value : "", wanted[i][1] ? wanted[i][1] : "");
    }
}

static void names_are_given_once(void **state)
{
    static char name_w[] = "w", empty[] = "", constant_type[] = "Constant",
                value_int[] = "value_int";
    Onnx__ValueInfoProto *twice[] = {&made.x, &made.x};
    Onnx__TensorProto *tensors[] = {&made.initializer, &made.initializer};
    (void)state;
    start_model();
    made.graph.n_input = 2;
    made.graph.input = twice;
    model_is(AMP_MODEL, "graph input 'x': the name is taken by another value");
    start_initialized(name_w);
    made.graph.n_initializer = 2;
    made.graph.initializer = tensors;
    model_is(AMP_MODEL, "initializer 'w': the name is taken by another value");
    start_initialized(name_y);
    model_is(AMP_MODEL, "node 0 '' (Neg): output 'y': the name is taken by another value");
    start_model();
    made.gives[0] = name_x;
    model_is(AMP_MODEL, "node 0 '' (Neg): output 'x': the name is taken by another value");
    start_model();
    made.gives[0] = empty;
    model_is(AMP_MODEL, "graph output 'y' is not defined");
    start_model();
    made.node.op_type = constant_type;
    made.node.n_input = 0;
    add_attr();
    made.attr.name = value_int;
    model_is(AMP_OK, NULL);
    made.gives[0] = empty;
    made.y.name = name_x;
    model_is(AMP_MODEL, "(Constant-13): output 0 (output) is missing");
    made.opset.domain = name_w; /* nothing is known of the operator then */
    model_is(AMP_OK, NULL);
    made.node.n_output = 0;
    model_is(AMP_OK, NULL);
    start_model();
    made.takes[0] = name_w;
    model_is(AMP_MODEL, "node 0 with output 'y' (Neg-13), input 0: value 'w' is not defined");
    start_model();
    made.takes[0] = empty;
    model_is(AMP_MODEL, "node 0 with output 'y' (Neg-13): input 0 (X) is missing");
}

/* The names of the inputs that are written with IR version WRITTEN of the model that is read with
   version READ, and has initializer NAME. */
static void inputs_are(int64_t read, int64_t written, char *name, const char *expected)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    struct amp_deferred deferred = {.count = 0};
    char names[64] = "";
    start_initialized(name);
    made.model.ir_version = read;
    made.opset.version = 8;
    model_is(AMP_OK, NULL);
    assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
    file.model->ir_version = written;
    amp_message_update(file.model, &deferred);
    const Onnx__ModelProto *proto = file.model->origin;
    assert_int_equal(proto->ir_version, written);
    for (size_t i = 0; i < proto->graph->n_input; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                 proto->graph->input[i]->name);
    assert_string_equal(names, expected);
    amp_model_close(&file);
}

/* Up to IR version 3 all initializers are inputs; since then those are that callers may override,
   which no input of before was. */
static void initializers_are_inputs_or_not(void **state)
{
    static char name_w[] = "w";
    (void)state;
    inputs_are(3, 3, name_x, " x");
    inputs_are(3, 4, name_x, "");
    inputs_are(4, 4, name_x, " x");
    inputs_are(3, 3, name_w, " x w");
    inputs_are(3, 4, name_w, " x");
    inputs_are(4, 4, name_w, " x");
}

/* The dims that are written for y, which the file declares with those of DECLARED, a letter or -1
   for one without number, and which has SHAPE by then; NULL: it declares none. */
static void written_dims_are(const char *declared, struct amp_shape shape, const char *expected)
{
    Onnx__TypeProto type;
    Onnx__TypeProto__Tensor tensor;
    Onnx__TensorShapeProto dims_proto;
    Onnx__TensorShapeProto__Dimension each[3], *places[3] = {&each[0], &each[1], &each[2]};
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    struct amp_deferred deferred = {.count = 0};
    char symbol[] = "N", text[64] = "";
    start_model();
    onnx__type_proto__init(&type);
    onnx__type_proto__tensor__init(&tensor);
    onnx__tensor_shape_proto__init(&dims_proto);
    type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type.tensor_type = &tensor;
    tensor.has_elem_type = true;
    tensor.elem_type = AMP_FLOAT;
    tensor.shape = declared != NULL ? &dims_proto : NULL;
    dims_proto.dim = places;
    for (const char *at = declared; at != NULL && *at != '\0'; at++) {
        Onnx__TensorShapeProto__Dimension *dim = places[dims_proto.n_dim++];
        onnx__tensor_shape_proto__dimension__init(dim);
        if (*at == 'N') {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            dim->dim_param = symbol;
        } else if (*at != '?') {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            dim->dim_value = *at == '-' ? -1 : *at - '0';
        }
    }
    made.y.type = &type;
    model_is(AMP_OK, NULL);
    assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
    uint32_t y = file.model->graphs[0].outputs.items[0];
    amp_value_set_shape(file.model, y, &shape);
    amp_value_at(file.model, y)->dtype = AMP_FLOAT16;
    amp_message_update(file.model, &deferred);
    const Onnx__ModelProto *proto = file.model->origin;
    const Onnx__TypeProto__Tensor *written = proto->graph->output[0]->type->tensor_type;
    assert_int_equal(written->elem_type, AMP_FLOAT16);
    for (size_t i = 0; written->shape != NULL && i < written->shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = written->shape->dim[i];
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
            snprintf(text + strlen(text), 8, "%d", (int)dim->dim_value);
        else
            snprintf(text + strlen(text), 8, "%s",
                     dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                         ? dim->dim_param
                         : "?");
    }
    assert_string_equal(written->shape != NULL ? text : "none", expected);
    amp_model_close(&file);
}

/* A shape that the file declares stays as it is unless it has another rank or another number. */
static void declared_shapes_stay_where_they_can(void **state)
{
    (void)state;
    written_dims_are(NULL, DIMS(2), "none");
    written_dims_are(NULL, ANY_DIMS, "none");
    written_dims_are("", SCALAR, "");
    written_dims_are("", DIMS(2), "2");
    written_dims_are("2", SCALAR, "");
    written_dims_are("23", ANY_DIMS, "23");
    written_dims_are("23", DIMS(2, 3), "23");
    written_dims_are("23", DIMS(2, 4), "24");
    written_dims_are("23", DIMS(0, 3), "03");
    written_dims_are("03", DIMS(2, 3), "23");
    written_dims_are("23", DIMS(2), "2");
    written_dims_are("2", DIMS(2, 3), "23");
    written_dims_are("?N-", DIMS(2, 3, 4), "?N-1");
    written_dims_are("23", DIMS(AMP_DIM_UNKNOWN, 3), "23");
    written_dims_are("23", DIMS(AMP_DIM_UNKNOWN, 4), "?4");
}

/* ---- numbers in messages ---- */

/* BYTES as a message of a tensor must be refused with TEXT. */
static void bytes_are_refused(const char *bytes, size_t size, const char *refusal)
{
    uint8_t copy[64];
    struct amp_tensor value;
    struct amp_error err = {.status = AMP_OK};
    memcpy(copy, bytes, size);
    assert_int_equal(amp_value_parse(AMP_KIND_TENSOR, copy, size, &value, &err), AMP_MODEL);
    assert_string_equal(err.text, refusal);
}

static void numbers_and_lengths_end_in_time(void **state)
{
#define WRONG(what) "not a valid protobuf message: " what
    (void)state;
    bytes_are_refused("\x10\x81", 2, WRONG("a truncated number at byte 1"));
    bytes_are_refused("\x10\x01\x10", 3, WRONG("a truncated number at byte 3"));
    bytes_are_refused("\x90", 1, WRONG("a truncated number at byte 0"));
    bytes_are_refused("\x10\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12,
                      WRONG("a number of more than ten bytes at byte 1"));
    bytes_are_refused("\x10\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11,
                      "float_data holds 0 values; float32 [] needs 1");
    /* Fields that nobody knows may be the last. */
    bytes_are_refused("\x10\x01\x7d\x01\x02\x03\x04", 7,
                      "float_data holds 0 values; float32 [] needs 1");
    bytes_are_refused("\x10\x01\x79\x01\x02\x03\x04\x05\x06\x07\x08", 11,
                      "float_data holds 0 values; float32 [] needs 1");
    bytes_are_refused("\xf8\xff\xff\xff\x0f\x01", 6, "unknown data_type 0; 1 to 26 are known");
    bytes_are_refused("\x80\x80\x80\x80\x10\x01", 6, WRONG("a wrong field number at byte 0"));
    bytes_are_refused("\x01", 1, WRONG("a wrong field number at byte 0"));
    bytes_are_refused("\x13", 1, WRONG("an unknown wire type at byte 0"));
    bytes_are_refused("\x16", 1, WRONG("an unknown wire type at byte 0"));
    bytes_are_refused("\x55\x01\x02\x03", 4, WRONG("a truncated number at byte 1"));
    bytes_are_refused("\x51\x01\x02\x03\x04\x05\x06\x07", 8, WRONG("a truncated number at byte 1"));
    bytes_are_refused("\x4a\x02\x01", 3,
                      "truncated: field 9 of TensorProto at byte 1 has 2 bytes, but 1 follow");
    bytes_are_refused("\x42\x02\x61\x00", 4,
                      "name of TensorProto at byte 2 has a NUL in it; accepted: text without");
}

/* ---- names in messages ---- */

static char *text(const char *from)
{
    return from != NULL ? amp_arena_strdup(net.arena, from) : NULL;
}

/* The words of FROM, apart by one blank each, - for an empty one; their number goes to *COUNT. */
static char **split(const char *from, size_t *count)
{
    char **list = amp_arena_array(net.arena, 16, sizeof *list), *rest = text(from);
    for (char *word = strtok(rest, " "); word != NULL; word = strtok(NULL, " "))
        list[(*count)++] = strcmp(word, "-") == 0 ? text("") : word;
    return list;
}

static Onnx__NodeProto *add_node(Onnx__GraphProto *graph, const char *name, const char *inputs,
                                 const char *outputs)
{
    Onnx__NodeProto *node = amp_arena_alloc(net.arena, sizeof *node);
    onnx__node_proto__init(node);
    node->name = text(name);
    node->op_type = text("Foo");
    node->input = split(inputs, &node->n_input);
    node->output = split(outputs, &node->n_output);
    node->attribute = amp_arena_array(net.arena, 8, sizeof *node->attribute);
    if (graph->node == NULL)
        graph->node = amp_arena_array(net.arena, 8, sizeof *graph->node);
    graph->node[graph->n_node++] = node;
    return node;
}

static Onnx__AttributeProto *add_attribute(Onnx__NodeProto *node, const char *name)
{
    Onnx__AttributeProto *attr = amp_arena_alloc(net.arena, sizeof *attr);
    onnx__attribute_proto__init(attr);
    attr->name = text(name);
    node->attribute[node->n_attribute++] = attr;
    return attr;
}

static void add_strings(Onnx__NodeProto *node, const char *name, const char *words_of_it)
{
    Onnx__AttributeProto *attr = add_attribute(node, name);
    char **list = split(words_of_it, &attr->n_strings);
    attr->strings = amp_arena_array(net.arena, attr->n_strings, sizeof *attr->strings);
    for (size_t i = 0; i < attr->n_strings; i++)
        attr->strings[i] = (ProtobufCBinaryData){strlen(list[i]), (uint8_t *)list[i]};
}

static void add_string(Onnx__NodeProto *node, const char *name, const char *word)
{
    add_attribute(node, name)->s = (ProtobufCBinaryData){strlen(word), (uint8_t *)text(word)};
}

static Onnx__ValueInfoProto **infos(const char *names, size_t *count)
{
    char **list = split(names, count);
    Onnx__ValueInfoProto **all = amp_arena_array(net.arena, *count, sizeof *all);
    for (size_t i = 0; i < *count; i++) {
        all[i] = amp_arena_alloc(net.arena, sizeof **all);
        onnx__value_info_proto__init(all[i]);
        all[i]->name = list[i];
    }
    return all;
}

static Onnx__GraphProto *new_graph(const char *inputs, const char *outputs)
{
    Onnx__GraphProto *graph = amp_arena_alloc(net.arena, sizeof *graph);
    onnx__graph_proto__init(graph);
    graph->input = infos(inputs, &graph->n_input);
    graph->output = infos(outputs, &graph->n_output);
    return graph;
}

/* Gives GRAPH three initializers and three sparse ones: the first is called NAME or SPARSE_NAME,
   the last the same with a 2, and those between have no name. */
static void add_initializers(Onnx__GraphProto *graph, const char *name, const char *sparse_name)
{
    graph->n_initializer = graph->n_sparse_initializer = 3;
    graph->initializer = amp_arena_array(net.arena, 3, sizeof *graph->initializer);
    graph->sparse_initializer = amp_arena_array(net.arena, 3, sizeof *graph->sparse_initializer);
    for (int i = 0; i < 3; i++) {
        Onnx__TensorProto *values = amp_arena_alloc(net.arena, sizeof *values);
        Onnx__SparseTensorProto *one = amp_arena_alloc(net.arena, sizeof *one);
        graph->initializer[i] = floats(amp_arena_alloc(net.arena, sizeof *values));
        graph->initializer[i]->name =
            i == 1 ? NULL : amp_arena_printf(net.arena, i == 0 ? "%s" : "%s2", name);
        onnx__sparse_tensor_proto__init(one);
        one->values = i == 1 ? NULL : floats(values);
        values->name = amp_arena_printf(net.arena, i == 0 ? "%s" : "%s2", sparse_name);
        graph->sparse_initializer[i] = one;
    }
}

static void names_are(const struct amp_name_list *list, const char *expected)
{
    char found[256] = "";
    for (size_t i = 0; i < list->count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i > 0 ? " " : "",
                 list->items[i]);
    assert_string_equal(found, expected);
}

/* A graph with a body, and one in a list of them, that read what is around them, and gradients. */
static void names_are_own_or_foreign(void **state)
{
    static const char training[] = "ai.onnx.preview.training";
    struct amp_graph_names names = {.own.count = 0};
    Onnx__GraphProto *graph = new_graph("x", "a z1"), *body = new_graph("i", "b z2");
    Onnx__GraphProto *listed = new_graph("", "b");
    (void)state;
    add_initializers(graph, "w", "s");
    add_node(graph, "first", "x w z3 -", "a -");
    Onnx__NodeProto *holder = add_node(graph, NULL, "s a", "c");
    add_initializers(body, "v", "u");
    add_node(body, "inner", "i a v u z4 c z3", "b");
    add_attribute(holder, "body")->g = body;
    Onnx__AttributeProto *list = add_attribute(holder, "bodies");
    list->n_graphs = 1;
    list->graphs = amp_arena_array(net.arena, 1, sizeof *list->graphs);
    list->graphs[0] = listed;
    for (int i = 0; i < 2; i++) {
        Onnx__NodeProto *node =
            add_node(graph, i == 0 ? "gradient" : "other", "", i == 0 ? "d" : "e");
        node->domain = text(i == 0 ? training : "my");
        add_strings(node, "xs", i == 0 ? "w z5 -" : "z6");
        add_strings(node, "zs", i == 0 ? "x w" : "z6");
        add_strings(node, "more", "z6");
        add_string(node, "y", i == 0 ? "z7" : "z6");
        add_string(node, "note", "z6");
    }
    amp_graph_find_names(graph, net.arena, &names);
    names_are(&names.own, "x w w2 s s2 a c d e first i v v2 u u2 b inner gradient other");
    names_are(&names.foreign, "z3 z4 z2 b z5 z7 z1");
    names_are(&names.points, "w z5 x");
}

/* COUNT bytes of a, with TAIL behind them. */
static char *letters(size_t count, const char *tail)
{
    char *made_of = amp_arena_alloc(net.arena, count + strlen(tail) + 1);
    memset(made_of, 'a', count);
    memcpy(made_of + count, tail, strlen(tail));
    return made_of;
}

static void new_names_are_free_and_not_too_long(void **state)
{
    struct amp_names names = {.arena = net.arena};
    Onnx__GraphProto *graph = new_graph("f/x", "y"), *body = new_graph("g/i", "g/o");
    (void)state;
    add_initializers(graph, "f/w", "f/s");
    Onnx__NodeProto *holder = add_node(graph, "f/n", "q", "f/a f/a_1 -");
    add_attribute(holder, "body")->g = body;
    add_node(body, "f/m", "", "f/b");
    Onnx__AttributeProto *list = add_attribute(holder, "bodies");
    list->n_graphs = 1;
    list->graphs = amp_arena_array(net.arena, 1, sizeof *list->graphs);
    list->graphs[0] = new_graph("f/l", "");
    amp_names_take(&names, graph);
    static const char *const taken[] = {"x", "w", "w2", "s", "s2", "b", "l"};
    for (size_t i = 0; i < AMP_COUNT(taken); i++) {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "f/%s_1", taken[i]);
        assert_string_equal(amp_names_new_value(&names, "f", taken[i]), wanted);
        snprintf(wanted, sizeof wanted, "f/%s_2", taken[i]);
        assert_string_equal(amp_names_new_value(&names, "f", taken[i]), wanted);
    }
    assert_string_equal(amp_names_new_value(&names, "f", "a"), "f/a_2");
    assert_string_equal(amp_names_new_value(&names, "g", "i"), "g/i_1");
    assert_string_equal(amp_names_new_value(&names, "f", "n"), "f/n");
    assert_string_equal(amp_names_new_node(&names, "f", "n"), "f/n_1");
    assert_string_equal(amp_names_new_node(&names, "f", "m"), "f/m_1");
    assert_string_equal(amp_names_new_node(&names, "f", "x"), "f/x");
    assert_true(amp_names_is_short(letters(1000, "")));
    assert_false(amp_names_is_short(letters(1001, "")));
    assert_string_equal(amp_names_new_value(&names, letters(1000, ""), letters(1000, "")),
                        letters(1000, amp_arena_printf(net.arena, "/%s", letters(1000, ""))));
    assert_string_equal(amp_names_new_value(&names, letters(1001, ""), "n"),
                        letters(1000, ".../n"));
    assert_string_equal(amp_names_new_value(&names, "n", letters(998, "\xe2\x82\xac")),
                        amp_arena_printf(net.arena, "n/%s...", letters(998, "")));
}

/* What is repeated is bounded; once it has come to that, names are shorter. */
static void what_is_repeated_is_bounded(void **state)
{
    enum { MOST = 64 << 20 };
    struct amp_names names = {.arena = net.arena};
    (void)state;
    assert_false(amp_names_may_repeat(&names, MOST + 1));
    assert_true(amp_names_may_repeat(&names, MOST - 3));
    assert_false(amp_names_may_repeat(&names, 4));
    assert_true(amp_names_may_repeat(&names, 2));
    assert_string_equal(amp_names_new_value(&names, letters(61, ""), "n"), letters(61, "/n"));
    names.n_repeated = MOST - 1;
    assert_true(amp_names_may_repeat(&names, 1));
    assert_false(amp_names_may_repeat(&names, 0));
    assert_string_equal(amp_names_new_value(&names, letters(60, ""), "m"), letters(60, "/m"));
    assert_string_equal(amp_names_new_value(&names, letters(61, ""), "m"), letters(60, ".../m"));
}

/* What takes 256 bytes or more is shared. */
static void large_constants_are_shared(void **state)
{
    Onnx__TensorProto tensor;
    (void)state;
    onnx__tensor_proto__init(&tensor);
    for (size_t size = 0; size < 300; size++) {
        tensor.doc_string = letters(size, "");
        size_t packed = onnx__tensor_proto__get_packed_size(&tensor);
        assert_int_equal(amp_shared_constants_is_large(&tensor.base), packed >= 256);
    }
    assert_true(amp_shared_constants_is_op("Constant"));
    assert_false(amp_shared_constants_is_op("ConstantOfShape"));
    assert_false(amp_shared_constants_is_op(NULL));
}

/* ---- functions ---- */

enum { FUNCTIONS = 70 };

/* A model with functions of domain "my", whose bodies are written as graphs. */
static struct {
    Onnx__ModelProto model;
    Onnx__GraphProto *graph;
    Onnx__OperatorSetIdProto *opsets[2];
    Onnx__FunctionProto functions[FUNCTIONS], *list[FUNCTIONS];
    Onnx__GraphProto *bodies[FUNCTIONS];
} local;

static Onnx__OperatorSetIdProto *import_of(const char *domain, int64_t version)
{
    Onnx__OperatorSetIdProto *opset = amp_arena_alloc(net.arena, sizeof *opset);
    onnx__operator_set_id_proto__init(opset);
    opset->domain = text(domain);
    opset->has_version = true;
    opset->version = version;
    return opset;
}

static void start_functions(void)
{
    onnx__model_proto__init(&local.model);
    local.graph = local.model.graph = new_graph("x", "y");
    local.opsets[0] = import_of("", 18);
    local.opsets[1] = import_of("my", 1);
    local.model.n_opset_import = 2;
    local.model.opset_import = local.opsets;
    local.model.functions = local.list;
}

/* The body of a new function NAME, which imports the opset VERSION. */
static Onnx__GraphProto *add_function(const char *name, const char *inputs, const char *outputs,
                                      int64_t version)
{
    size_t at = local.model.n_functions++;
    Onnx__FunctionProto *proto = local.list[at] = &local.functions[at];
    onnx__function_proto__init(proto);
    proto->domain = text("my");
    proto->name = text(name);
    proto->input = split(inputs, &proto->n_input);
    proto->output = split(outputs, &proto->n_output);
    proto->opset_import = amp_arena_array(net.arena, 2, sizeof *proto->opset_import);
    proto->opset_import[proto->n_opset_import++] = import_of("", version);
    proto->opset_import[proto->n_opset_import++] = import_of("my", 1);
    return local.bodies[at] = new_graph("", "");
}

/* A node of OP, "my.F" where it is none of ONNX's. */
static Onnx__NodeProto *add_op(Onnx__GraphProto *graph, const char *op, const char *inputs,
                               const char *outputs)
{
    Onnx__NodeProto *node = add_node(graph, NULL, inputs, outputs);
    bool is_own = strncmp(op, "my.", 3) == 0;
    node->domain = is_own ? text("my") : NULL;
    node->op_type = text(is_own ? op + 3 : op);
    return node;
}

static enum amp_status inline_all(bool all, struct amp_error *err)
{
    for (size_t i = 0; i < local.model.n_functions; i++) {
        local.functions[i].node = local.bodies[i]->node;
        local.functions[i].n_node = local.bodies[i]->n_node;
    }
    *err = (struct amp_error){.status = AMP_OK};
    return amp_functions_inline(&local.model, all, net.arena, err);
}

/* "Neg(x)y;" for each node of GRAPH. */
static const char *nodes_of(const Onnx__GraphProto *graph)
{
    const char *all = "";
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        const char *one = amp_arena_printf(net.arena, "%s(", node->op_type);
        for (size_t k = 0; k < node->n_input; k++)
            one = amp_arena_printf(net.arena, "%s%s%s", one, k > 0 ? "," : "", node->input[k]);
        one = amp_arena_printf(net.arena, "%s)", one);
        for (size_t k = 0; k < node->n_output; k++)
            one = amp_arena_printf(net.arena, "%s%s%s", one, k > 0 ? "," : "", node->output[k]);
        all = amp_arena_printf(net.arena, "%s%s;", all, one);
    }
    return all;
}

static void becomes(const char *expected)
{
    struct amp_error err;
    if (inline_all(false, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_string_equal(nodes_of(local.graph), expected);
}

static void is_no_call(enum amp_status expected, const char *said)
{
    struct amp_error err;
    assert_int_equal(inline_all(false, &err), expected);
    assert_string_equal(err.text, said);
}

static void calls_are_nested_64_deep(void **state)
{
    (void)state;
    for (int count = 64; count <= 65; count++) {
        start_functions();
        add_op(local.graph, "my.F0", "x", "y");
        for (int i = 0; i < count; i++)
            add_op(add_function(amp_arena_printf(net.arena, "F%d", i), "x", "y", 18),
                   i == count - 1 ? "Neg" : amp_arena_printf(net.arena, "my.F%d", i + 1), "x", "y");
        if (count == 64)
            becomes("Neg(x)y;");
        else
            is_no_call(AMP_MODEL, "function 'my.F64': calls nested more than 64 deep");
    }
    /* those that have been left do not count */
    start_functions();
    for (int i = 0; i < 7; i++)
        add_op(local.graph, amp_arena_printf(net.arena, "my.F%d", i * 9), "x", "-");
    for (int i = 0; i < 63; i++)
        add_op(add_function(amp_arena_printf(net.arena, "F%d", i), "x", "y", 18),
               i % 9 == 8 ? "Neg" : amp_arena_printf(net.arena, "my.F%d", i + 1), "x", "y");
    struct amp_error err;
    assert_int_equal(inline_all(false, &err), AMP_OK);
    assert_int_equal(local.graph->n_node, 7);
}

/* COUNT calls of F, without outputs. */
static enum amp_status inline_calls(size_t count, struct amp_error *err)
{
    Onnx__NodeProto *call = add_op(local.graph, "my.F", "", "");
    local.graph->node = amp_arena_array(net.arena, count, sizeof *local.graph->node);
    local.graph->n_node = count;
    for (size_t i = 0; i < count; i++)
        local.graph->node[i] = call;
    return inline_all(true, err);
}

/* A node counts as one, and each output of a call and each call as one more: a million at most. */
static void nodes_of_calls_are_bounded(void **state)
{
    enum { OUTPUTS = 997 };
    struct amp_error err;
    (void)state;
    for (size_t count = 1000; count <= 1001; count++) {
        start_functions();
        add_op(add_function("F", "x", "", 18), "my.G", "x", "z");
        add_op(add_function("G", "x", "", 18), "my.Other", "x", "y");
        Onnx__FunctionProto *g = &local.functions[1];
        /* the call of F, that of G, its node, and its outputs */
        g->n_output = OUTPUTS;
        g->output = amp_arena_array(net.arena, OUTPUTS, sizeof *g->output);
        for (size_t i = 0; i < OUTPUTS; i++)
            g->output[i] = text("y");
        assert_int_equal(inline_calls(count, &err), count == 1000 ? AMP_OK : AMP_UNSUPPORTED);
    }
    assert_string_equal(err.text,
                        "function 'my.F': the model's calls become more than 1000000 nodes");
}

/* What hangs on nodes is counted too: eight millions at most. */
static void parts_of_calls_are_bounded(void **state)
{
    enum { PARTS = 8000, OTHERS = 2 + (2 + 3 + 4) + (3 + 2 + 1) + 2 * (1 + 2 + 3 + 3 + 1) + 2 };
    static Onnx__ValueInfoProto *noted[PARTS];
    static const Onnx__ValueInfoProto none = ONNX__VALUE_INFO_PROTO__INIT;
    Onnx__ValueInfoProto nameless = none;
    struct amp_error err;
    (void)state;
    for (size_t i = 0; i < PARTS; i++)
        noted[i] = &nameless;
    for (int more = 0; more < 3; more++) {
        start_functions();
        Onnx__GraphProto *body = add_function("F", "x", "x", 18);
        Onnx__NodeProto *node = add_op(body, "my.Other", "x x", "a b c");
        add_strings(node, "words", "one two three");
        Onnx__AttributeProto *tensors = add_attribute(node, "tensors");
        tensors->n_tensors = 2;
        tensors->n_sparse_tensors = 1;
        Onnx__AttributeProto *graphs = add_attribute(node, "graphs");
        graphs->n_graphs = 1;
        graphs->graphs = amp_arena_array(net.arena, 1, sizeof *graphs->graphs);
        for (int i = 0; i < 2; i++) {
            Onnx__GraphProto *inner = new_graph("i", "i i");
            add_initializers(inner, "w", "s");
            inner->initializer[1]->name = text("v");
            inner->n_value_info = 1;
            inner->value_info = noted;
            *(i == 0 ? &add_attribute(node, "graph")->g : &graphs->graphs[0]) = inner;
        }
        /* a constant's strings are not copied for each call */
        Onnx__NodeProto *constant = add_op(body, "Constant", "", "k");
        add_strings(constant, "value_strings", "one two three four");
        local.functions[0].n_value_info = PARTS - OTHERS + (more == 2); /* one more in each call */
        local.functions[0].value_info = noted;
        assert_int_equal(inline_calls(more == 1 ? 1001 : 1000, &err),
                         more == 0 ? AMP_OK : AMP_UNSUPPORTED);
    }
    assert_string_equal(err.text, "function 'my.F': the nodes that the model's calls become have "
                                  "more than 8000000 inputs, outputs and attributes");
}

/* What a call notes is said of the nodes that it becomes, unless they say something themselves. */
static void nodes_take_the_notes_of_calls(void **state)
{
    Onnx__StringStringEntryProto of_call = ONNX__STRING_STRING_ENTRY_PROTO__INIT,
                                 of_node = ONNX__STRING_STRING_ENTRY_PROTO__INIT;
    Onnx__StringStringEntryProto *calls[1] = {&of_call}, *nodes[1] = {&of_node};
    (void)state;
    start_functions();
    Onnx__NodeProto *call = add_op(local.graph, "my.F", "x", "y");
    Onnx__GraphProto *body = add_function("F", "x", "y", 18);
    call->doc_string = text("the call");
    call->n_metadata_props = 1;
    call->metadata_props = calls;
    for (int i = 0; i < 4; i++) {
        Onnx__NodeProto *node = add_op(body, "Neg", "x", i == 0 ? "y" : "-");
        node->doc_string = i % 2 != 0 ? text("the node") : i == 2 ? text("") : NULL;
        node->n_metadata_props = i >= 2;
        node->metadata_props = nodes;
    }
    becomes("Neg(x)y;Neg(x);Neg(x);Neg(x);");
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(local.graph->node[i]->doc_string, i % 2 != 0 ? "the node" : "the call");
        assert_int_equal(local.graph->node[i]->n_metadata_props, 1);
        assert_ptr_equal(local.graph->node[i]->metadata_props[0], i >= 2 ? &of_node : &of_call);
    }
    /* until they have been repeated beyond measure, by the note, its key or its value */
    for (int part = 0; part < 3; part++) {
        char *large = letters(40 << 20, ""), *small = text("");
        start_functions();
        call = add_op(local.graph, "my.F", "x", "y");
        add_op(add_function("F", "x", "y", 18), "Neg", "x", "y");
        add_op(local.bodies[0], "Abs", "x", "-");
        call->doc_string = part == 0 ? large : small;
        of_call.key = part == 1 ? large : NULL;
        of_call.value = part == 2 ? large : NULL;
        call->n_metadata_props = 1;
        call->metadata_props = calls;
        becomes("Neg(x)y;Abs(x);");
        assert_non_null(local.graph->node[0]->doc_string);
        assert_int_equal(local.graph->node[0]->n_metadata_props, 1);
        assert_null(local.graph->node[1]->doc_string);
        assert_int_equal(local.graph->node[1]->n_metadata_props, 0);
    }
}

/* A Constant that all calls share stands once in the main graph: a large or sparse one, which
   depends on nothing. */
static void constants_of_functions_are_shared(void **state)
{
    enum { LARGE = 300 };
    (void)state;
    for (int i = 0; i < 9; i++) {
        bool is_shared = i < 2;
        start_functions();
        add_op(local.graph, "my.F", "x", "a");
        add_op(local.graph, "my.F", "a", "y");
        Onnx__GraphProto *body = add_function("F", "x", "y", 18);
        Onnx__NodeProto *constant =
            add_op(body, "Constant", i == 5 ? "x" : "", i == 6 ? "c d" : "c");
        Onnx__AttributeProto *attr = add_attribute(constant, "value");
        Onnx__TensorProto *tensor = floats(amp_arena_alloc(net.arena, sizeof *tensor));
        Onnx__SparseTensorProto *thin = amp_arena_alloc(net.arena, sizeof *thin);
        onnx__sparse_tensor_proto__init(thin);
        tensor->doc_string = letters(i == 2 ? 8 : LARGE, "");
        attr->t = tensor;
        if (i == 1) {
            attr->t = NULL;
            attr->sparse_tensor = thin;
        }
        if (i == 3)
            attr->ref_attr_name = text("value");
        if (i == 4)
            constant->domain = text("ai.onnx");
        if (i == 7)
            add_attribute(constant, "note");
        if (i == 8)
            constant->op_type = text("ConstantOfShape");
        add_op(body, "Add", "x c", "y");
        if (is_shared)
            becomes("Constant()F/c;Add(x,F/c)a;Add(a,F/c)y;");
        else if (i == 5)
            becomes("Constant(x)F/c;Add(x,F/c)a;Constant(a)F/c_1;Add(a,F/c_1)y;");
        else if (i == 6)
            becomes("Constant()F/c,F/d;Add(x,F/c)a;Constant()F/c_1,F/d_1;Add(a,F/c_1)y;");
        else if (i == 8)
            becomes("ConstantOfShape()F/c;Add(x,F/c)a;ConstantOfShape()F/c_1;Add(a,F/c_1)y;");
        else
            becomes("Constant()F/c;Add(x,F/c)a;Constant()F/c_1;Add(a,F/c_1)y;");
    }
    /* one that is an output of the first call has that name */
    start_functions();
    add_op(local.graph, "my.F", "", "a");
    add_op(local.graph, "my.F", "", "y");
    Onnx__TensorProto tensor;
    Onnx__GraphProto *body = add_function("F", "", "c", 18);
    add_attribute(add_op(body, "Constant", "", "c"), "value")->t = floats(&tensor);
    tensor.doc_string = letters(LARGE, "");
    becomes("Constant()a;Identity(a)y;");
}

/* Graphs in the body of a function are copied for each call, with names of their own, and calls are
   inlined in all graphs. */
static void graphs_in_functions_are_copied(void **state)
{
    struct amp_error err;
    (void)state;
    start_functions();
    add_op(local.graph, "my.F", "x", "a");
    add_op(local.graph, "my.F", "a", "y");
    Onnx__NodeProto *holder = add_op(add_function("F", "x", "y", 18), "my.Other", "x", "y");
    add_op(add_function("G", "p", "q", 18), "Abs", "p", "q");
    Onnx__GraphProto *inner[3];
    for (int i = 0; i < 3; i++) {
        inner[i] = new_graph("i", i == 1 ? "i s" : "s");
        inner[i]->node = amp_arena_array(net.arena, 4, sizeof *inner[i]->node);
        add_op(inner[i], "Add", "x i", "t");
        add_op(inner[i], i == 2 ? "my.G" : "Neg", "t", "s");
        inner[i]->value_info = infos("t nothing", &inner[i]->n_value_info);
    }
    add_initializers(inner[1], "t0", "s0");
    inner[1]->n_initializer = inner[1]->n_sparse_initializer = 1;
    add_attribute(holder, "one")->g = inner[0];
    Onnx__AttributeProto *graphs = add_attribute(holder, "more");
    graphs->n_graphs = 2;
    graphs->graphs = inner + 1;
    assert_int_equal(inline_all(true, &err), AMP_OK);
    assert_string_equal(nodes_of(local.graph), "Other(x)a;Other(a)y;");
    for (size_t call = 0; call < 2; call++) {
        static const char *const expected[2][3] = {
            {"i: Add(x,F/i)F/t;Neg(F/t)F/s; s", "i_1: Add(x,F/i_1)F/t_1;Neg(F/t_1)F/s_1; i_1 s_1",
             "i_2: Add(x,F/i_2)F/t_2;Abs(F/t_2)F/s_2; s_2"},
            {"i_3: Add(a,F/i_3)F/t_3;Neg(F/t_3)F/s_3; s_3",
             "i_4: Add(a,F/i_4)F/t_4;Neg(F/t_4)F/s_4; i_4 s_4",
             "i_5: Add(a,F/i_5)F/t_5;Abs(F/t_5)F/s_5; s_5"}};
        const Onnx__NodeProto *node = local.graph->node[call];
        assert_int_equal(node->n_attribute, 2);
        for (int i = 0; i < 3; i++) {
            const Onnx__GraphProto *graph =
                i == 0 ? node->attribute[0]->g : node->attribute[1]->graphs[i - 1];
            const char *found =
                amp_arena_printf(net.arena, "%s: %s", graph->input[0]->name + 2, nodes_of(graph));
            for (size_t k = 0; k < graph->n_output; k++)
                found = amp_arena_printf(net.arena, "%s %s", found, graph->output[k]->name + 2);
            assert_string_equal(found, expected[call][i]);
            assert_int_equal(graph->n_value_info, 1);
            assert_string_equal(graph->value_info[0]->name, graph->node[0]->output[0]);
            assert_ptr_not_equal(graph, inner[i]);
        }
    }
    assert_string_equal(inner[0]->node[0]->output[0], "t"); /* the function is as it was */
    assert_string_equal(inner[1]->output[0]->name, "i");
    /* what is nowhere defined */
    start_functions();
    add_op(local.graph, "my.F", "x", "y");
    holder = add_op(add_function("F", "x", "y", 18), "my.Other", "x", "y");
    add_attribute(holder, "one")->g = new_graph("i", "s");
    assert_int_equal(inline_all(true, &err), AMP_MODEL);
    assert_string_equal(err.text, "call 'F' of function 'my.F': value 's' is not defined");
    /* calls in graphs of the model itself, whose initializers stay */
    start_functions();
    holder = add_op(local.graph, "my.Other", "x", "y");
    add_op(add_function("G", "p", "q", 18), "Abs", "p", "q");
    add_initializers(local.graph, "w", "v");
    for (int i = 0; i < 3; i++) {
        inner[i] = new_graph("i", "s");
        inner[i]->node = amp_arena_array(net.arena, 4, sizeof *inner[i]->node);
        add_op(inner[i], "my.G", "x", "s");
        add_initializers(inner[i], "w", "v");
    }
    add_attribute(holder, "one")->g = inner[0];
    graphs = add_attribute(holder, "more");
    graphs->n_graphs = 2;
    graphs->graphs = inner + 1;
    assert_int_equal(inline_all(true, &err), AMP_OK);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(nodes_of(inner[i]), "Abs(x)s;");
        assert_int_equal(inner[i]->n_initializer + 10 * inner[i]->n_sparse_initializer, 33);
    }
    assert_int_equal(local.graph->n_initializer + 10 * local.graph->n_sparse_initializer, 33);
}

/* Attributes of a call that the body refers to: those of the call go before the function's own, and
   those that neither has are left out. Graphs cannot be. */
static void attributes_of_calls_are_filled_in(void **state)
{
    struct amp_error err;
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool in_call = i & 1, in_function = i & 2, refers = i & 4;
        start_functions();
        Onnx__NodeProto *call = add_op(local.graph, "my.F", "x", "y");
        Onnx__NodeProto *node = add_op(add_function("F", "x", "y", 18), "LeakyRelu", "x", "y");
        Onnx__AttributeProto *attr = add_attribute(node, "alpha"), own, *owns[1] = {&own};
        attr->f = 1;
        attr->ref_attr_name = refers ? text("slope") : NULL;
        add_attribute(call, "other")->f = 8;
        add_attribute(call, "nothing")->name = NULL;
        if (in_call)
            add_attribute(call, "slope")->f = 2;
        onnx__attribute_proto__init(&own);
        own.name = text("slope");
        own.f = 3;
        local.functions[0].n_attribute_proto = in_function;
        local.functions[0].attribute_proto = owns;
        becomes("LeakyRelu(x)y;");
        node = local.graph->node[0];
        assert_int_equal(node->n_attribute, !refers || in_call || in_function);
        if (node->n_attribute == 0)
            continue;
        assert_string_equal(node->attribute[0]->name, "alpha");
        assert_null(node->attribute[0]->ref_attr_name);
        assert_true(node->attribute[0]->f == (float)(!refers ? 1 : in_call ? 2 : 3));
    }
    for (int i = 0; i < 4; i++) {
        bool is_list = i & 1, in_function = i & 2;
        start_functions();
        Onnx__NodeProto *call = add_op(local.graph, "my.F", "x", "y");
        Onnx__NodeProto *node = add_op(add_function("F", "x", "y", 18), "my.Other", "x", "y");
        Onnx__GraphProto *graph = new_graph("", "");
        Onnx__AttributeProto *held =
            in_function ? amp_arena_alloc(net.arena, sizeof *held) : add_attribute(call, "body");
        add_attribute(node, "then")->ref_attr_name = text("body");
        onnx__attribute_proto__init(held);
        held->name = text("body");
        held->n_graphs = is_list;
        held->graphs = &graph;
        held->g = is_list ? NULL : graph;
        local.functions[0].n_attribute_proto = in_function;
        local.functions[0].attribute_proto = &held;
        assert_int_equal(inline_all(true, &err), AMP_UNSUPPORTED);
        assert_string_equal(err.text,
                            "call 'F' of function 'my.F': attribute 'body' holds a graph");
    }
}

/* Graphs lie in nodes of graphs 64 deep at most, beside each other as many as there are. */
static void graphs_are_nested_64_deep(void **state)
{
    (void)state;
    for (int depth = 64; depth <= 65; depth++)
        for (int is_list = 0; is_list < 2; is_list++) {
            Onnx__OperatorSetIdProto import = ONNX__OPERATOR_SET_ID_PROTO__INIT,
                                     *imports[] = {&made.opset, &import};
            Onnx__NodeProto *nodes[1];
            start_model();
            import.domain = text("my");
            import.has_version = true;
            import.version = 1;
            made.model.n_opset_import = 2;
            made.model.opset_import = imports;
            Onnx__GraphProto *outer = new_graph("", "");
            outer->node = nodes;
            Onnx__NodeProto *node = add_op(outer, "my.Other", "x", "y");
            made.nodes[0] = node;
            for (int i = 0; i < depth; i++) {
                Onnx__GraphProto **held = amp_arena_array(net.arena, 1, sizeof *held);
                held[0] = new_graph("", "");
                held[0]->node = amp_arena_array(net.arena, 1, sizeof *held[0]->node);
                Onnx__AttributeProto *attr = add_attribute(node, "body");
                attr->n_graphs = (size_t)is_list;
                attr->graphs = held;
                attr->g = is_list ? NULL : held[0];
                attr->has_type = true;
                attr->type = is_list ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS
                                     : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
                node = add_op(held[0], "my.Other", "x", "-");
            }
            if (depth == 64)
                model_is(AMP_OK, NULL);
            else
                model_is(AMP_MODEL, "subgraphs nested more than 64 deep");
        }
}

/* Functions that nobody calls stay unless the model was raised beyond what one of them means. */
static void stale_functions_go(void **state)
{
    static const struct {
        const char *op;
        int opset, models;
        bool is_stale;
    } lines[] = {{"Neg", 18, 18, false},      {"Softmax", 18, 18, false}, {"Neg", 13, 18, false},
                 {"Softmax", 12, 18, true},   {"Softmax", 12, 12, false}, {"Relu", 13, 18, true},
                 {"my.Other", 18, 18, false}, {"foreign", 18, 18, false}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        struct amp_error err = {.status = AMP_OK};
        start_functions();
        add_op(local.graph, "my.F", "x", "y");
        add_op(add_function("F", "x", "y", 18), "my.Other", "x", "y");
        Onnx__NodeProto *node =
            add_op(add_function("G", "x", "y", lines[i].opset), lines[i].op, "x", "y");
        if (strcmp(lines[i].op, "foreign") == 0)
            node->domain = text("foreign");
        local.model.opset_import[0]->version = lines[i].models;
        for (size_t k = 0; k < local.model.n_functions; k++) {
            local.functions[k].node = local.bodies[k]->node;
            local.functions[k].n_node = local.bodies[k]->n_node;
        }
        assert_int_equal(amp_functions_drop_invalid(&local.model, net.arena, &err), AMP_OK);
        if (local.model.n_functions != (lines[i].is_stale ? 1 : 2))
            fail_msg("line %zu: %zu functions", i, local.model.n_functions);
        assert_string_equal(local.model.functions[0]->name, "F");
    }
}

/* Functions import opsets of their own: where what they hold is the same operator in the model's.
 */
static void opsets_of_functions_agree(void **state)
{
    int newest = amp_schema_newest_opset("");
    (void)state;
    for (int more = 0; more < 2; more++) {
        start_functions();
        add_op(local.graph, "my.F", "x", "y");
        add_op(add_function("F", "x", "y", newest + more), "Neg", "x", "y");
        if (more == 0)
            becomes("Neg(x)y;");
        else
            is_no_call(AMP_UNSUPPORTED,
                       amp_arena_printf(net.arena,
                                        "function 'my.F': opset version %d of ai.onnx; the newest "
                                        "known is %d",
                                        newest + 1, newest));
    }
    start_functions();
    add_op(local.graph, "my.F", "x", "y");
    add_op(add_function("F", "x", "y", 12), "Softmax", "x", "y");
    is_no_call(AMP_UNSUPPORTED,
               "function 'my.F': Softmax is another operator in opset 12 of ai.onnx, the "
               "function's, than in opset 18, the model's");
    /* another domain, which only the function imports, is the model's then, once */
    start_functions();
    add_op(local.graph, "my.F", "x", "a");
    add_op(local.graph, "my.F", "a", "y");
    Onnx__GraphProto *body = add_function("F", "x", "y", 18);
    local.functions[0].opset_import[1] = import_of("other", 7);
    add_op(body, "Foo", "x", "z")->domain = text("other");
    add_op(body, "Neg", "z", "y");
    becomes("Foo(x)F/z;Neg(F/z)a;Foo(a)F/z_1;Neg(F/z_1)y;");
    assert_int_equal(local.model.n_opset_import, 3);
    assert_string_equal(local.model.opset_import[2]->domain, "other");
    assert_true(local.model.opset_import[2]->has_version);
    assert_int_equal(local.model.opset_import[2]->version, 7);
}

/* Calls give and take no more than the function has, but may leave out what is last. */
static void calls_fit_their_function(void **state)
{
    static const struct {
        const char *inputs, *outputs, *becomes, *said;
    } lines[] = {
        {"x z", "y z", "Add(x,z)y;Neg(y)z;", NULL},
        {"x", "y", "Add(x,)y;Neg(y)F/t;", NULL},
        {"x", "- y", "Add(x,)F/s;Neg(F/s)y;", NULL},
        {"x x", "y", "Add(x,x)y;Neg(y)F/t;", NULL},
        {"x x x", "y", NULL, "call 'F' of function 'my.F': 3 inputs and 1 outputs; it has 2 and 2"},
        {"x", "y z u", NULL, "call 'F' of function 'my.F': 1 inputs and 3 outputs; it has 2 and 2"},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        start_functions();
        add_op(local.graph, "my.F", lines[i].inputs, lines[i].outputs);
        Onnx__GraphProto *body = add_function("F", "a b", "s t", 18);
        add_op(body, "Add", "a b", "s");
        add_op(body, "Neg", "s", "t");
        if (lines[i].said == NULL)
            becomes(lines[i].becomes);
        else
            is_no_call(AMP_MODEL, lines[i].said);
    }
}

/* Functions stay, with their calls, where nothing in them could be converted or raised; those that
   are inlined go, unless one that stays calls them. */
static void functions_without_floats_stay(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        start_functions();
        add_op(local.graph, "my.F", "x", "a");
        add_op(local.graph, "my.G", "a", "y");
        add_op(add_function("F", "x", "y", 18), i == 1 ? "my.G" : "my.Other", "x", "y");
        add_op(add_function("G", "x", "y", 18), i == 2 ? "my.F" : "Neg", "x", "y");
        becomes(i == 0 ? "F(x)a;Neg(a)y;" : i == 1 ? "Neg(x)a;Neg(a)y;" : "F(x)a;G(a)y;");
        assert_int_equal(local.model.n_functions, i == 0 ? 1 : i == 1 ? 0 : 2);
        if (i == 0)
            assert_string_equal(local.model.functions[0]->name, "F");
    }
    /* an operator that has no newer form goes in only where it takes float32 */
    static const struct {
        const char *op;
        bool stays;
    } ops[] = {{"Not", true},        {"BitShift", true}, {"DynamicQuantizeLinear", false},
               {"BitwiseAnd", true}, {"Sum", false},     {"StringNormalizer", true}};
    for (size_t i = 0; i < AMP_COUNT(ops); i++) {
        start_functions();
        add_op(local.graph, "my.F", "x", "y");
        add_op(add_function("F", "x", "y", 18), ops[i].op, "x", "y");
        becomes(ops[i].stays ? "F(x)y;" : amp_arena_printf(net.arena, "%s(x)y;", ops[i].op));
        assert_int_equal(local.model.n_functions, ops[i].stays);
    }
    /* a model that imports nothing is for others to refuse */
    start_functions();
    add_op(local.graph, "my.F", "x", "y");
    add_op(add_function("F", "x", "y", 18), "Neg", "x", "y");
    local.model.n_opset_import = 0;
    becomes("F(x)y;");
    /* all of them go where that is asked for */
    struct amp_error err;
    start_functions();
    add_op(local.graph, "my.F", "x", "y");
    add_op(add_function("F", "x", "y", 18), "my.Other", "x", "y");
    assert_int_equal(inline_all(true, &err), AMP_OK);
    assert_string_equal(nodes_of(local.graph), "Other(x)y;");
    assert_int_equal(local.model.n_functions, 0);
}

/* What training calls must be such as stays. */
/* A conversion leaves functions alone that it changes nothing in; whoever runs a model, or reads it
   again to do so, has all calls replaced. */
static void functions_stay_for_conversions(void **state)
{
    struct amp_model_file files[3];
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    start_model(); /* for the types of x and y */
    start_functions();
    add_op(local.graph, "my.F", "x", "y");
    local.functions[0].node = add_op(add_function("F", "a", "b", 18), "Not", "a", "b") != NULL
                                  ? local.bodies[0]->node
                                  : NULL;
    local.functions[0].n_node = local.bodies[0]->n_node;
    made.model = local.model;
    made.model.has_ir_version = true;
    made.model.ir_version = 8;
    local.graph->input = made.inputs;
    local.graph->output = made.outputs;
    made.tensor_type.elem_type = AMP_BOOL;
    model_is(AMP_OK, NULL);
    assert_int_equal(amp_model_read("model.onnx", &files[0], &err), AMP_OK);
    assert_int_equal(amp_model_read_to_convert("model.onnx", &files[1], &err), AMP_OK);
    assert_int_equal(amp_model_read_again(&files[1], &files[2], &err), AMP_OK);
    for (int i = 2; i >= 0; i--) {
        assert_string_equal(amp_node_at(files[i].model, 0)->op_type, i == 1 ? "F" : "Not");
        assert_int_equal(files[i].has_functions, i == 1);
        amp_model_close(&files[i]);
    }
}

static void training_calls_what_stays(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool stays = i % 2 == 0;
        Onnx__TrainingInfoProto info = ONNX__TRAINING_INFO_PROTO__INIT, *infos_of[1] = {&info};
        Onnx__GraphProto *graph = new_graph("", "z");
        start_functions();
        local.model.n_training_info = 1;
        local.model.training_info = infos_of;
        *(i < 2 ? &info.initialization : &info.algorithm) = graph;
        add_op(local.graph, "Neg", "x", "y");
        add_op(graph, "Neg", "x", "x");
        add_op(graph, "my.F", "x", "z")->name = text(i == 1 ? NULL : "call");
        add_op(add_function("F", "x", "y", 18), stays ? "my.Other" : "Neg", "x", "y");
        if (stays)
            becomes("Neg(x)y;");
        else
            is_no_call(AMP_UNSUPPORTED,
                       amp_arena_printf(
                           net.arena,
                           "training_info: node '%s' calls function 'my.F', which holds operators "
                           "that the conversion may change; it replaces only calls in the main "
                           "graph",
                           i == 1 ? "" : "call"));
        assert_int_equal(local.model.n_functions, 1);
    }
}

/* ---- training ---- */

/* A model that is trained: y = Add(x, w), u = Sub(w, y) in the algorithm, which has an initializer
   s of its own, and i = Neg(k) in the initialization; h = Neg(w) is no output. */
static struct {
    Onnx__TrainingInfoProto info, *list[2];
    Onnx__GraphProto *algorithm, *initialization;
    Onnx__StringStringEntryProto entries[4], *updates[4], *initials[4];
} trained;

static Onnx__TensorProto **weights(const char *names, size_t *count)
{
    char **list = split(names, count);
    Onnx__TensorProto **all = amp_arena_array(net.arena, *count, sizeof *all);
    for (size_t i = 0; i < *count; i++) {
        all[i] = floats(amp_arena_alloc(net.arena, sizeof **all));
        all[i]->name = list[i];
    }
    return all;
}

static void start_training(void)
{
    start_functions();
    start_values();
    onnx__training_info_proto__init(&trained.info);
    trained.list[0] = trained.list[1] = &trained.info;
    trained.algorithm = trained.info.algorithm = new_graph("", "u");
    trained.initialization = trained.info.initialization = new_graph("", "i");
    local.model.has_ir_version = true;
    local.model.ir_version = 8;
    local.model.n_training_info = 1;
    local.model.training_info = trained.list;
    local.model.n_opset_import = 1;
    local.graph->input[0]->type = local.graph->output[0]->type = &made.type;
    trained.algorithm->output[0]->type = trained.initialization->output[0]->type = &made.type;
    local.graph->initializer = weights("w v", &local.graph->n_initializer);
    trained.algorithm->initializer = weights("s", &trained.algorithm->n_initializer);
    add_op(local.graph, "Add", "x w", "y");
    add_op(local.graph, "Neg", "w", "h");
    add_op(trained.algorithm, "Sub", "w y", "u");
    trained.initialization->initializer = weights("k", &trained.initialization->n_initializer);
    add_op(trained.initialization, "Neg", "k", "i");
    trained.info.update_binding = trained.updates;
    trained.info.initialization_binding = trained.initials;
}

static void add_binding(bool is_update, const char *key, const char *value)
{
    size_t at = trained.info.n_update_binding + trained.info.n_initialization_binding;
    Onnx__StringStringEntryProto *entry = &trained.entries[at];
    onnx__string_string_entry_proto__init(entry);
    entry->key = text(key);
    entry->value = text(value);
    if (is_update)
        trained.updates[trained.info.n_update_binding++] = entry;
    else
        trained.initials[trained.info.n_initialization_binding++] = entry;
}

/* Reads the model that is trained from a file. */
static void read_trained(struct amp_model_file *file)
{
    struct amp_error err = {.status = AMP_OK};
    size_t size = onnx__model_proto__get_packed_size(&local.model);
    uint8_t *bytes = malloc(size);
    onnx__model_proto__pack(&local.model, bytes);
    FILE *out = fopen("trained.onnx", "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    free(bytes);
    if (amp_model_read("trained.onnx", file, &err) != AMP_OK)
        fail_msg("%s", err.text);
}

#define NO_INITIALIZER "no initializer has that name"
#define NO_OUTPUT "no output has that name"

/* Bindings are of initializers, of the graph or of the algorithm, to outputs. */
static void bindings_name_initializers_and_outputs(void **state)
{
    static const struct {
        bool is_update;
        const char *key, *value;
        const char *opened, *stepped; /* what is said by those who convert and who train; NULL:
                                         nothing */
    } lines[] = {
        {true, "w", "u", NULL, NULL},
        {true, "v", "y", NULL, NULL},
        {true, "s", "u", NULL, NULL},
        {true, "w", "h", "update_binding of 'w' to 'h': " NO_OUTPUT, NULL},
        {true, "w", "q", "update_binding of 'w' to 'q': " NO_OUTPUT,
         "update_binding of 'w' to 'q': " NO_OUTPUT},
        {true, "w", NULL, "update_binding of 'w' to '': " NO_OUTPUT,
         "update_binding of 'w' to '': " NO_OUTPUT},
        {true, "q", "u", "update_binding of 'q': " NO_INITIALIZER,
         "update_binding of 'q' to 'u': " NO_INITIALIZER},
        {true, "x", "u", "update_binding of 'x': " NO_INITIALIZER,
         "update_binding of 'x' to 'u': " NO_INITIALIZER},
        {true, "y", "u", "update_binding of 'y': " NO_INITIALIZER,
         "update_binding of 'y' to 'u': " NO_INITIALIZER},
        {true, NULL, "u", "update_binding of '': " NO_INITIALIZER,
         "update_binding of '' to 'u': " NO_INITIALIZER},
        {true, "q", "q", "update_binding of 'q': " NO_INITIALIZER,
         "update_binding of 'q' to 'q': " NO_INITIALIZER},
        {false, "w", "i", NULL, NULL},
        {false, "s", "i", NULL, NULL},
        {false, "w", "y", "initialization_binding of 'w' to 'y': " NO_OUTPUT,
         "initialization_binding of 'w' to 'y': " NO_OUTPUT},
        {false, "w", "u", "initialization_binding of 'w' to 'u': " NO_OUTPUT,
         "initialization_binding of 'w' to 'u': " NO_OUTPUT},
        {false, "w", NULL, "initialization_binding of 'w' to '': " NO_OUTPUT,
         "initialization_binding of 'w' to '': " NO_OUTPUT},
        {false, "i", "i", "initialization_binding of 'i': " NO_INITIALIZER,
         "initialization_binding of 'i' to 'i': " NO_INITIALIZER},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++)
        for (int trains = 0; trains < 2; trains++) {
            struct amp_error err = {.status = AMP_OK};
            struct amp_model_file file;
            struct amp_training *training = NULL;
            struct amp_training_step step;
            const char *said = trains ? lines[i].stepped : lines[i].opened;
            char wanted[200];
            start_training();
            add_binding(lines[i].is_update, lines[i].key, lines[i].value);
            read_trained(&file);
            enum amp_status status = trains ? amp_training_step_read(&file, &step, &err)
                                            : amp_training_open(&file, &training, &err);
            snprintf(wanted, sizeof wanted, "trained.onnx: training_info 0, %s", said ? said : "");
            if (status != (said != NULL ? AMP_MODEL : AMP_OK) ||
                (said != NULL && strcmp(err.text, wanted) != 0))
                fail_msg("line %zu, %d: %s", i, trains, err.text);
            assert_int_equal(training != NULL, !trains && said == NULL);
            amp_model_close(&file);
        }
}

/* Initializers may be sparse, or have no name. */
static void initializers_are_found_by_name(void **state)
{
    static const struct {
        const char *key;
        bool is_there;
    } lines[] = {{"s", true},  {"s2", true},  {"t", true},
                 {"t2", true}, {"s1", false}, {"t1", false}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_model_file file;
        struct amp_training *training;
        start_training();
        add_initializers(trained.algorithm, "s", "t");
        add_binding(true, lines[i].key, "u");
        read_trained(&file);
        assert_int_equal(amp_training_open(&file, &training, &err),
                         lines[i].is_there ? AMP_OK : AMP_MODEL);
        amp_model_close(&file);
    }
}

/* Without training_info and gradients there is no training; it counts its algorithms. */
static void training_is_what_is_said(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 2; count++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_model_file file;
        struct amp_training *training;
        struct amp_training_step step;
        char said[100];
        start_training();
        local.model.n_training_info = count;
        read_trained(&file);
        assert_int_equal(amp_training_open(&file, &training, &err), AMP_OK);
        assert_int_equal(training != NULL, count > 0);
        assert_int_equal(amp_training_algorithm_count(training), count);
        assert_false(amp_training_has_gradient(training));
        assert_int_equal(amp_training_points(training).count, 0);
        enum amp_status status = amp_training_step_read(&file, &step, &err);
        assert_int_equal(status, count == 0 ? AMP_MODEL : count == 1 ? AMP_OK : AMP_UNSUPPORTED);
        snprintf(said, sizeof said, "trained.onnx: %s",
                 count == 0 ? "there is no training_info with an algorithm"
                            : "training_info has 2 entries; 1 can be trained");
        if (count != 1)
            assert_string_equal(err.text, said);
        amp_model_close(&file);
    }
    struct amp_error err = {.status = AMP_OK};
    struct amp_model_file file;
    struct amp_training *training;
    struct amp_training_step step;
    start_training();
    trained.info.algorithm = NULL;
    read_trained(&file);
    assert_int_equal(amp_training_open(&file, &training, &err), AMP_OK);
    assert_int_equal(amp_training_algorithm_count(training), 0);
    assert_int_equal(amp_training_step_read(&file, &step, &err), AMP_MODEL);
    amp_model_close(&file);
}

/* What training names is an output as long as the conversion lasts, which must leave it there and
   in its type. */
static void held_values_stay(void **state)
{
    static const char *const said[] = {
        NULL,
        "trained.onnx: training_info 0, algorithm: 'y' is needed, and the conversion takes it out",
        "trained.onnx: training_info 0, algorithm: 'y' must stay float32, and would be bfloat16",
        "trained.onnx: training_info 0, algorithm: 'w' is needed, and the conversion takes it out",
        NULL,
        NULL};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(said); i++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_model_file file;
        struct amp_training *training;
        start_training();
        add_op(trained.algorithm, "Neg", "h", "n"); /* h is no output of the graph */
        add_binding(true, "w", "u");
        read_trained(&file);
        struct amp_model *model = file.model;
        struct amp_ids *outputs = &model->graphs[0].outputs;
        assert_int_equal(amp_infer(model, &err), AMP_OK);
        assert_int_equal(amp_training_open(&file, &training, &err), AMP_OK);
        const uint32_t y = outputs->items[0];
        const uint32_t w = amp_node_at(model, amp_value_at(model, y)->producer)->inputs[1];
        assert_null(amp_value_at(model, w)->constant); /* what changes is none */
        if (amp_training_hold(training, &err) != AMP_OK)
            fail_msg("%s", err.text);
        assert_int_equal(outputs->count, 3);
        for (size_t k = 0; k < 3; k++)
            assert_true(amp_value_at(model, outputs->items[k])->is_output);
        if (i == 1)
            amp_node_at(model, amp_value_at(model, y)->producer)->is_removed = true;
        if (i == 2)
            amp_value_at(model, y)->dtype = AMP_BFLOAT16;
        if (i == 3)
            amp_value_at(model, w)->is_removed = true;
        if (i == 4) /* what nobody names may change */
            amp_value_at(model, model->graphs[0].inputs.items[0])->dtype = AMP_BFLOAT16;
        if (i == 5) /* a value of the same name in a body is another */
            amp_value_at(model, amp_graph_add_value(model, amp_graph_add(model, "body", 0), "y"))
                ->dtype = AMP_DOUBLE;
        assert_int_equal(amp_training_release(training, &err),
                         said[i] != NULL ? AMP_UNSUPPORTED : AMP_OK);
        if (said[i] != NULL) {
            assert_string_equal(err.text, said[i]);
        } else {
            assert_int_equal(outputs->count, 1);
            assert_true(amp_value_at(model, y)->is_output);
            assert_false(amp_value_at(model, w)->is_output);
            assert_ptr_equal(amp_value_at(model, w)->constant, amp_value_at(model, w)->initial);
        }
        amp_model_close(&file);
    }
}

static void variable_is(const struct amp_training_variable *variable, const char *name,
                        size_t input, size_t output, size_t initial)
{
    assert_string_equal(variable->name, name);
    if (variable->input != input || variable->output != output || variable->initial != initial)
        fail_msg("%s: %zu, %zu, %zu", name, variable->input, variable->output, variable->initial);
}

/* Each variable of a step has a place among the inputs, behind the others, and places among the
   outputs of what assigns it. */
static void variables_have_places(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_model_file file;
    struct amp_training_step step;
    (void)state;
    start_training();
    add_binding(true, "s", "h");
    add_binding(true, "w", "u");
    add_binding(false, "v", "i");
    add_binding(false, "w", "i");
    read_trained(&file);
    if (amp_training_step_read(&file, &step, &err) != AMP_OK)
        fail_msg("%s", err.text);
    const struct amp_graph *graph = &step.model->graphs[0];
    assert_int_equal(step.n_variables, 3);
    assert_int_equal(step.n_inputs, 1);
    assert_int_equal(step.first_own, 1);
    assert_int_equal(step.n_own, 1);
    variable_is(&step.variables[0], "s", 1, 2, SIZE_MAX);
    variable_is(&step.variables[1], "w", 2, 1, 0);
    variable_is(&step.variables[2], "v", 3, SIZE_MAX, 0);
    assert_int_equal(graph->inputs.count, 4);
    assert_int_equal(graph->outputs.count, 3);
    assert_int_equal(step.initialization->graphs[0].outputs.count, 1);
    assert_true(amp_value_at(step.initialization, step.initialization->graphs[0].outputs.items[0])
                    ->is_output);
    for (size_t i = 0; i < 3; i++) {
        const struct amp_value *value = amp_value_at(step.model, step.variables[i].value);
        assert_int_equal(graph->inputs.items[1 + i], step.variables[i].value);
        assert_true(value->is_input);
        assert_null(value->constant);
        assert_ptr_equal(step.variables[i].before, value->initial);
        assert_true(amp_value_at(step.model, graph->outputs.items[i])->is_output);
    }
    assert_string_equal(amp_value_at(step.model, graph->outputs.items[2])->name, "h");
    amp_model_close(&file);
}

/* What has been trained stands in the message, in place of what was there in whatever form; it is
   what the initializer was. */
static void trained_values_are_stored(void **state)
{
    static float after[6] = {6, 5, 4, 3, 2, 1};
    struct amp_error err = {.status = AMP_OK};
    struct amp_model_file file;
    struct amp_training_step step;
    (void)state;
    start_training();
    add_binding(true, "w", "u");
    add_binding(true, "s", "u");
    read_trained(&file);
    assert_int_equal(amp_training_step_read(&file, &step, &err), AMP_OK);
    struct amp_tensor values[2] = {{.dtype = AMP_FLOAT, .shape = {2, {2, 3}}, .data = after},
                                   {.dtype = AMP_FLOAT, .shape = {2, {2, 3}}, .data = after}};
    values[1].dtype = AMP_INT32;
    assert_int_equal(amp_training_step_store(&file, &step, values, &err), AMP_MODEL);
    assert_string_equal(err.text, "trained.onnx: training makes int32[2, 3] of initializer 's', "
                                  "which is float32[2, 3]");
    values[1].dtype = AMP_FLOAT;
    values[1].shape.dims[1] = 4;
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_training_step_store(&file, &step, values, &err), AMP_MODEL);
    assert_string_equal(err.text, "trained.onnx: training makes float32[2, 4] of initializer 's', "
                                  "which is float32[2, 3]");
    values[1].shape.dims[1] = 3;
    assert_int_equal(amp_training_step_store(&file, &step, values, &err), AMP_OK);
    const Onnx__ModelProto *proto = file.model->origin;
    for (int i = 0; i < 2; i++) {
        const Onnx__TensorProto *found = i == 0
                                             ? proto->graph->initializer[0]
                                             : proto->training_info[0]->algorithm->initializer[0];
        assert_int_equal(found->n_float_data, 0);
        assert_false(found->has_data_location);
        assert_true(found->has_raw_data);
        assert_int_equal(found->raw_data.len, sizeof after);
        assert_memory_equal(found->raw_data.data, after, sizeof after);
    }
    amp_model_close(&file);
}

/* ---- nodes against definitions ---- */

/* A node of OP whose inputs are what INPUTS says: f, d, b, i, u tensors of float32, float64, bool,
   int64 and of no known type, s a sequence of float32, o and q optionals of both, - none. Its
   outputs are as many as OUTPUTS, likewise. */
static uint32_t typed_node(int opset, const char *op, const char *inputs, const char *outputs)
{
    static const char letters_of[] = "fdbiuh";
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE,    AMP_BOOL,
                                            AMP_INT64, AMP_UNDEFINED, AMP_BFLOAT16};
    uint32_t ids[8];
    size_t count = strlen(inputs);
    net_start(opset);
    for (size_t i = 0; i < count; i++) {
        const char *at = strchr(letters_of, inputs[i]);
        ids[i] = AMP_NONE;
        if (inputs[i] != '-')
            ids[i] = input(amp_model_unique_name(net.model, "x"),
                           at != NULL ? dtypes[at - letters_of] : AMP_FLOAT, DIMS(2));
        if (strchr("soq", inputs[i]) != NULL)
            amp_value_at(net.model, ids[i])->kind = inputs[i] == 's'   ? AMP_KIND_SEQUENCE
                                                    : inputs[i] == 'o' ? AMP_KIND_OPTIONAL
                                                                       : AMP_KIND_OPTIONAL_SEQUENCE;
    }
    uint32_t id = net_node(0, op, "y", (uint32_t)strlen(outputs), ids, count);
    for (size_t i = 0; outputs[i] != '\0'; i++)
        if (outputs[i] == '-')
            amp_node_at(net.model, id)->outputs[i] = AMP_NONE;
        else
            amp_value_at(net.model, net_out(id, (uint32_t)i))->dtype =
                dtypes[strchr(letters_of, outputs[i]) - letters_of];
    return id;
}

/* What is said of a node contains SAID; NULL: nothing is. */
static void expect_text(enum amp_status status, const struct amp_error *err, const char *said,
                        size_t line)
{
    if (said == NULL ? status != AMP_OK : status != AMP_MODEL || strstr(err->text, said) == NULL)
        fail_msg("line %zu: %s", line, status == AMP_OK ? "taken" : err->text);
}

static void nodes_have_what_their_operator_needs(void **state)
{
    static const struct {
        int opset;
        const char *op, *inputs, *outputs, *attr; /* NULL: none */
        enum amp_attr_type type;
        const char *said; /* NULL: it is taken */
    } checks[] = {
        {17, "Add", "ff", "f", NULL, 0, NULL},
        {17, "Add", "f", "f", NULL, 0, "(Add-14): 1 inputs; 2 needed"},
        {17, "Add", "fff", "f", NULL, 0, "(Add-14): 3 inputs; 2 needed"},
        {17, "Add", "f-", "f", NULL, 0, "(Add-14): input 1 (B) is missing"},
        {17, "Add", "-f", "f", NULL, 0, "(Add-14): input 0 (A) is missing"},
        {17, "Add", "ff", "ff", NULL, 0, "(Add-14): 2 outputs; 1 needed"},
        {17, "Add", "ff", "-", NULL, 0, "(Add-14): output 0 (C) is missing"},
        {17, "Add", "ff", "f", "axis", AMP_ATTR_INT, "(Add-14): unknown attribute 'axis'"},
        {17, "Clip", "f", "f", NULL, 0, NULL},
        {17, "Clip", "f-f", "f", NULL, 0, NULL},
        {17, "Clip", "", "f", NULL, 0, "(Clip-13): 0 inputs; 1 to 3 allowed"},
        {17, "Clip", "ffff", "f", NULL, 0, "(Clip-13): 4 inputs; 1 to 3 allowed"},
        {17, "Dropout", "f", "fb", NULL, 0, NULL},
        {17, "Dropout", "f", "f-", NULL, 0, NULL},
        {17, "Dropout", "f", "fbf", NULL, 0, "(Dropout-13): 3 outputs; 1 to 2 allowed"},
        {17, "TopK", "fi", "f", NULL, 0, "(TopK-11): 1 outputs; 2 needed"},
        {17, "TopK", "fi", "f-", NULL, 0, "(TopK-11): output 1 (Indices) is missing"},
        {17, "Concat", "", "f", "axis", AMP_ATTR_INT, "(Concat-13): 0 inputs; at least 1 needed"},
        {17, "Concat", "f", "f", "axis", AMP_ATTR_INT, NULL},
        {17, "Concat", "ffffffff", "f", "axis", AMP_ATTR_INT, NULL},
        {17, "Concat", "f-", "f", "axis", AMP_ATTR_INT, "(Concat-13): input 1 (inputs) is missing"},
        {17, "Concat", "f", "f", NULL, 0, "(Concat-13): attribute 'axis' is missing"},
        {17, "Concat", "f", "f", "axis", AMP_ATTR_FLOAT,
         "(Concat-13): attribute 'axis' holds a float; an int is needed"},
        {17, "Concat", "f", "f", "axis", AMP_ATTR_INTS,
         "(Concat-13): attribute 'axis' holds ints; an int is needed"},
        {17, "Loop", "---", "f", "body", AMP_ATTR_GRAPH, NULL},
        {17, "Loop", "--f-", "f-", "body", AMP_ATTR_GRAPH, NULL},
        {17, "Loop", "--f", "f", "body", AMP_ATTR_GRAPHS,
         "(Loop-16): attribute 'body' holds graphs; a graph is needed"},
        {9, "Upsample", "ff", "f", NULL, 0, NULL},
        {10, "Upsample", "ff", "f", NULL, 0,
         "(Upsample-10): the operator is deprecated since opset 10"},
        {17, "Nothing", "f", "f", "any", AMP_ATTR_INT, NULL},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        struct amp_error err = {.status = AMP_OK};
        uint32_t id =
            typed_node(checks[i].opset, checks[i].op, checks[i].inputs, checks[i].outputs);
        if (checks[i].attr != NULL)
            amp_node_set_attr(net.model, id,
                              (struct amp_attr){.name = checks[i].attr, .type = checks[i].type});
        expect_text(amp_check_node(net.model, id, &err), &err, checks[i].said, i);
    }
}

static void types_are_those_of_the_definition(void **state)
{
    static const struct {
        int opset;
        const char *op, *inputs, *outputs, *said; /* NULL: it is taken */
        bool is_newer;                            /* a later version takes it */
    } checks[] = {
        {17, "Add", "ff", "f", NULL, false},
        {17, "Add", "fu", "f", NULL, false},
        {17, "Add", "uu", "u", NULL, false},
        {17, "Add", "fd", "f",
         "(Add-14), input 1 ('x_1'): dtype float64; float32 needed, as other parameters of type T "
         "have it",
         false},
        {17, "Add", "ud", "f",
         "(Add-14), output 0 ('y'): dtype float32; float64 needed, as other parameters of type T "
         "have it",
         false},
        {17, "Add", "fb", "f", "(Add-14), input 1 ('x_1'): dtype bool; allowed: ", false},
        {17, "Add", "sf", "f", "(Add-14), input 0 ('x'): its type is sequence; allowed: tensor",
         false},
        {17, "Concat", "ffd", "f", "(Concat-13), input 2 ('x_2'): dtype float64; float32 needed",
         false},
        {17, "Reshape", "fi", "f", NULL, false},
        {17, "Reshape", "ff", "f", "(Reshape-14), input 1 ('x_1'): dtype float32; allowed: int64",
         false},
        {17, "Where", "bff", "f", NULL, false},
        {17, "Where", "fff", "f", "(Where-16), input 0 ('x'): dtype float32; allowed: bool", false},
        {17, "Clip", "f-f", "f", NULL, false},
        {17, "Loop", "-bfd", "fd", NULL, false},
        {17, "SequenceLength", "s", "i", NULL, false},
        {17, "SequenceLength", "f", "i",
         "(SequenceLength-11), input 0 ('x'): its type is tensor; allowed: sequence", false},
        {12, "Add", "hh", "h",
         "(Add-7), input 0 ('x'): dtype bfloat16; allowed: float32, int32, int64, float16, "
         "float64, uint32, uint64",
         true},
        {13, "Add", "hh", "h", NULL, false},
        {12, "Add", "bb", "b", "(Add-7), input 0 ('x'): dtype bool; allowed: ", false},
        {9, "Upsample", "ii", "i", "(Upsample-9), input 1 ('x_1'): dtype int64; allowed: float32",
         false},
        {17, "Nothing", "fd", "b", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        struct amp_error err = {.status = AMP_OK};
        char said[2100] = "";
        uint32_t id =
            typed_node(checks[i].opset, checks[i].op, checks[i].inputs, checks[i].outputs);
        expect_text(amp_check_types(net.model, id, &err), &err, checks[i].said, i);
        if (checks[i].said == NULL)
            continue;
        const char *wanted = amp_arena_printf(net.arena, "%s; version 13 allows it", err.text);
        assert_int_equal(amp_check_forgive_types(net.model, id, &err),
                         checks[i].is_newer ? AMP_OK : AMP_MODEL);
        assert_int_equal(amp_node_at(net.model, id)->has_newer_types, checks[i].is_newer);
        assert_int_equal(amp_check_newer_types(net.model, said, sizeof said), checks[i].is_newer);
        if (!checks[i].is_newer)
            continue;
        assert_string_equal(said, wanted);
        assert_int_equal(amp_check_types(net.model, id, &err), AMP_OK);
        amp_node_at(net.model, id)->is_removed = true;
        assert_int_equal(amp_check_newer_types(net.model, said, sizeof said), 0);
    }
}

/* What an operator gives follows from an attribute, from its definition or from what it takes. */
static void outputs_have_the_types_that_follow(void **state)
{
    static const struct {
        int opset;
        const char *op, *inputs, *attr; /* NULL: none; else an int, VALUE */
        int64_t value;
        enum amp_kind kind;
        enum amp_dtype dtype;
        const char *said; /* NULL: it is taken */
    } checks[] = {
        {17, "Cast", "f", "to", AMP_DOUBLE, AMP_KIND_TENSOR, AMP_DOUBLE, NULL},
        {17, "Cast", "u", "to", AMP_BOOL, AMP_KIND_TENSOR, AMP_BOOL, NULL},
        {17, "Cast", "f", "to", 0, 0, 0, "attribute 'to' is 0, which is no element type"},
        {17, "Cast", "f", "to", 99, 0, 0, "attribute 'to' is 99, which is no element type"},
        {17, "Cast", "f", "to", -1, 0, 0, "attribute 'to' is -1, which is no element type"},
        {17, "EyeLike", "f", "dtype", AMP_INT64, AMP_KIND_TENSOR, AMP_INT64, NULL},
        {17, "EyeLike", "f", "dtype", 99, 0, 0,
         "attribute 'dtype' is 99, which is no element type"},
        {17, "EyeLike", "d", NULL, 0, AMP_KIND_TENSOR, AMP_DOUBLE, NULL},
        {17, "EyeLike", "d", "dtype", 0, AMP_KIND_TENSOR, AMP_DOUBLE, NULL},
        {17, "Add", "dd", NULL, 0, AMP_KIND_TENSOR, AMP_DOUBLE, NULL},
        {17, "Add", "ud", NULL, 0, AMP_KIND_TENSOR, AMP_DOUBLE, NULL},
        {17, "Add", "uu", NULL, 0, AMP_KIND_TENSOR, AMP_UNDEFINED, NULL},
        {17, "Pow", "id", NULL, 0, AMP_KIND_TENSOR, AMP_INT64, NULL},
        {17, "Shape", "d", NULL, 0, AMP_KIND_TENSOR, AMP_INT64, NULL},
        {17, "Equal", "dd", NULL, 0, AMP_KIND_TENSOR, AMP_BOOL, NULL},
        {17, "Where", "bdd", NULL, 0, AMP_KIND_TENSOR, AMP_DOUBLE, NULL},
        {17, "Identity", "s", NULL, 0, AMP_KIND_SEQUENCE, AMP_FLOAT, NULL},
        {17, "QuantizeLinear", "ff", NULL, 0, AMP_KIND_TENSOR, AMP_UINT8, NULL},
        {17, "SequenceConstruct", "dd", NULL, 0, AMP_KIND_SEQUENCE, AMP_DOUBLE, NULL},
        {17, "SplitToSequence", "d", NULL, 0, AMP_KIND_SEQUENCE, AMP_DOUBLE, NULL},
        {17, "SequenceAt", "si", NULL, 0, AMP_KIND_TENSOR, AMP_FLOAT, NULL},
        {17, "ConcatFromSequence", "s", "axis", 0, AMP_KIND_TENSOR, AMP_FLOAT, NULL},
        {17, "SequenceInsert", "sf", NULL, 0, AMP_KIND_SEQUENCE, AMP_FLOAT, NULL},
        {17, "SequenceLength", "s", NULL, 0, AMP_KIND_TENSOR, AMP_INT64, NULL},
        {17, "Optional", "d", NULL, 0, AMP_KIND_OPTIONAL, AMP_DOUBLE, NULL},
        {17, "Optional", "s", NULL, 0, AMP_KIND_OPTIONAL_SEQUENCE, AMP_FLOAT, NULL},
        {17, "OptionalGetElement", "o", NULL, 0, AMP_KIND_TENSOR, AMP_FLOAT, NULL},
        {17, "OptionalGetElement", "q", NULL, 0, AMP_KIND_SEQUENCE, AMP_FLOAT, NULL},
        {18, "OptionalGetElement", "s", NULL, 0, AMP_KIND_SEQUENCE, AMP_FLOAT, NULL},
        {17, "OptionalHasElement", "o", NULL, 0, AMP_KIND_TENSOR, AMP_BOOL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        uint32_t id = typed_node(checks[i].opset, checks[i].op, checks[i].inputs, "u");
        if (checks[i].attr != NULL)
            amp_node_set_int(net.model, id, checks[i].attr, checks[i].value);
        struct amp_error err = {.status = AMP_OK};
        enum amp_status status = amp_infer(net.model, &err);
        expect_text(status, &err, checks[i].said, i);
        const struct amp_value *value = amp_value_at(net.model, net_out(id, 0));
        if (status == AMP_OK && (value->kind != checks[i].kind || value->dtype != checks[i].dtype))
            fail_msg("line %zu: %s %s", i, amp_kind_name(value->kind),
                     amp_dtype_name(value->dtype));
    }
}

/* A body GRAPH of OWNER under NAME with inputs of no type, each of which it gives out again; behind
   them EXTRA, a value from outside. */
static void add_open_body(uint32_t owner, const char *name, uint32_t n, uint32_t extra)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t in = amp_graph_add_value(net.model, graph, amp_model_unique_name(net.model, "i"));
        amp_value_at(net.model, in)->is_input = true;
        amp_ids_push(net.model, &net.model->graphs[graph].inputs, in);
        uint32_t node = net_node(graph, "Identity", "o", 1, IDS(in));
        amp_ids_push(net.model, &net.model->graphs[graph].outputs, net_out(node, 0));
    }
    if (extra != AMP_NONE)
        amp_ids_push(net.model, &net.model->graphs[graph].outputs, extra);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
}

static void gives(uint32_t node, uint32_t i, enum amp_kind kind, enum amp_dtype dtype)
{
    const struct amp_value *value = amp_value_at(net.model, net_out(node, i));
    if (value->kind != kind || value->dtype != dtype)
        fail_msg("output %u: %s %s", i, amp_kind_name(value->kind), amp_dtype_name(value->dtype));
}

static void takes_in(uint32_t i, enum amp_dtype dtype)
{
    const struct amp_graph *body = &net.model->graphs[1];
    assert_int_equal(amp_value_at(net.model, body->inputs.items[i])->dtype, dtype);
}

/* What goes into a body has the type that the node is given, what comes out of it is the node's. */
static void bodies_pass_types_on(void **state)
{
    (void)state;
    net_start(22);
    uint32_t n = input("n", AMP_INT64, SCALAR), c = input("c", AMP_BOOL, SCALAR);
    uint32_t d = input("d", AMP_DOUBLE, DIMS(2)), h = input("h", AMP_FLOAT16, DIMS(2));
    uint32_t loop = net_node(0, "Loop", "l", 3, IDS(n, c, d, h));
    add_open_body(loop, "body", 4, d);
    /* the body's first output, of the iteration's number, stands where the condition does */
    struct amp_ids *outputs = &net.model->graphs[1].outputs;
    outputs->items[0] = outputs->items[1];
    for (uint32_t i = 1; i + 1 < outputs->count; i++)
        outputs->items[i] = outputs->items[i + 1];
    outputs->count--;
    for (uint32_t i = 0; i < 3; i++)
        amp_value_at(net.model, net_out(loop, i))->dtype = AMP_UNDEFINED;
    infer_all();
    takes_in(0, AMP_INT64);
    takes_in(1, AMP_BOOL);
    takes_in(2, AMP_DOUBLE);
    takes_in(3, AMP_FLOAT16);
    gives(loop, 0, AMP_KIND_TENSOR, AMP_DOUBLE);
    gives(loop, 1, AMP_KIND_TENSOR, AMP_FLOAT16);
    gives(loop, 2, AMP_KIND_TENSOR, AMP_DOUBLE);

    net_start(22);
    d = input("d", AMP_DOUBLE, DIMS(2)), h = input("h", AMP_FLOAT16, DIMS(2));
    uint32_t scan = net_node(0, "Scan", "s", 2, IDS(d, h));
    amp_node_set_int(net.model, scan, "num_scan_inputs", 1);
    add_open_body(scan, "body", 2, AMP_NONE);
    infer_all();
    takes_in(0, AMP_DOUBLE);
    takes_in(1, AMP_FLOAT16);
    gives(scan, 0, AMP_KIND_TENSOR, AMP_DOUBLE);
    gives(scan, 1, AMP_KIND_TENSOR, AMP_FLOAT16);

    net_start(22);
    d = input("d", AMP_DOUBLE, DIMS(2)), h = input("h", AMP_FLOAT16, DIMS(2));
    amp_value_at(net.model, d)->kind = AMP_KIND_SEQUENCE;
    uint32_t map = net_node(0, "SequenceMap", "m", 2, IDS(d, h));
    add_open_body(map, "body", 2, AMP_NONE);
    infer_all();
    takes_in(0, AMP_DOUBLE);
    takes_in(1, AMP_FLOAT16);
    gives(map, 0, AMP_KIND_SEQUENCE, AMP_DOUBLE);
    gives(map, 1, AMP_KIND_SEQUENCE, AMP_FLOAT16);

    net_start(22);
    c = input("c", AMP_BOOL, SCALAR), d = input("d", AMP_DOUBLE, DIMS(2));
    uint32_t choice = net_node(0, "If", "f", 2, IDS(c));
    add_open_body(choice, "then_branch", 0, d);
    add_open_body(choice, "else_branch", 0, d);
    for (uint32_t g = 1; g <= 2; g++)
        amp_ids_push(net.model, &net.model->graphs[g].outputs, c);
    infer_all();
    gives(choice, 0, AMP_KIND_TENSOR, AMP_DOUBLE);
    gives(choice, 1, AMP_KIND_TENSOR, AMP_BOOL);
}

/* What is not there gets no type, what is not known gives none, and a state that is a sequence is
   one in the body too. */
static void open_types_stay_open(void **state)
{
    (void)state;
    net_start(22);
    uint32_t n = input("n", AMP_INT64, SCALAR), c = input("c", AMP_BOOL, SCALAR);
    uint32_t d = input("d", AMP_DOUBLE, DIMS(2)), open = input("u", AMP_UNDEFINED, DIMS(2));
    amp_value_at(net.model, d)->kind = AMP_KIND_SEQUENCE;
    uint32_t loop = net_node(0, "Loop", "l", 2, IDS(n, c, open, d));
    add_open_body(loop, "body", 4, AMP_NONE);
    struct amp_ids *outputs = &net.model->graphs[1].outputs;
    for (uint32_t i = 0; i + 1 < outputs->count; i++)
        outputs->items[i] = outputs->items[i + 1];
    outputs->count--;
    infer_all();
    takes_in(2, AMP_UNDEFINED);
    takes_in(3, AMP_DOUBLE);
    uint32_t last = net.model->graphs[1].inputs.items[3];
    assert_int_equal(amp_value_at(net.model, last)->kind, AMP_KIND_SEQUENCE);
    gives(loop, 1, AMP_KIND_SEQUENCE, AMP_DOUBLE);

    net_start(22);
    c = input("c", AMP_BOOL, SCALAR), open = input("u", AMP_UNDEFINED, DIMS(2));
    amp_value_at(net.model, open)->kind = AMP_KIND_UNKNOWN;
    uint32_t choice = net_node(0, "If", "f", 3, IDS(c));
    add_open_body(choice, "then_branch", 0, c);
    add_open_body(choice, "else_branch", 0, c);
    for (uint32_t g = 1; g <= 2; g++)
        for (int i = 0; i < 2; i++)
            amp_ids_push(net.model, &net.model->graphs[g].outputs, i == 0 ? open : c);
    amp_node_at(net.model, choice)->outputs[0] = AMP_NONE;
    amp_value_at(net.model, net_out(choice, 1))->kind = AMP_KIND_TENSOR;
    amp_value_at(net.model, net_out(choice, 1))->dtype = AMP_FLOAT;
    infer_all();
    gives(choice, 1, AMP_KIND_TENSOR, AMP_FLOAT);
    gives(choice, 2, AMP_KIND_TENSOR, AMP_BOOL);

    net_start(22);
    uint32_t drop = net_node(0, "Dropout", "y", 2, IDS(input("x", AMP_FLOAT, DIMS(2, 3))));
    amp_node_at(net.model, drop)->outputs[1] = AMP_NONE;
    infer_all();
    gives(drop, 0, AMP_KIND_TENSOR, AMP_FLOAT);
    assert_int_equal(amp_value_at(net.model, net_out(drop, 0))->rank, 2);
}

/* What Identity and Cast give of a constant is one as well, what others give is none. */
static void constants_are_passed_on(void **state)
{
    static const float items[3] = {1, -2, 0.5f};
    (void)state;
    net_start(22);
    uint32_t w = constant("w", AMP_FLOAT, DIMS(3), items), same = NODE("Identity", "same", w);
    uint32_t low = NODE("Cast", "low", w), other = NODE("Neg", "other", w);
    set_int(low, "to", AMP_FLOAT16);
    infer_all();
    assert_ptr_equal(amp_value_at(net.model, same)->constant, amp_value_at(net.model, w)->constant);
    const struct amp_tensor *cast = amp_value_at(net.model, low)->constant;
    assert_true(cast != NULL && cast->dtype == AMP_FLOAT16);
    for (size_t i = 0; i < 3; i++)
        assert_true(amp_tensor_double(cast, i) == (double)items[i]);
    assert_null(amp_value_at(net.model, other)->constant);
}

/* Casts of many elements that lose nothing are left to who needs them, others are done at once. */
static void large_exact_casts_are_left(void **state)
{
    static const float items[1024] = {1};
    static const struct {
        enum amp_dtype from, to;
        int64_t count;
        bool is_left;
    } checks[] = {{AMP_FLOAT16, AMP_FLOAT, 1024, true},  {AMP_FLOAT16, AMP_FLOAT, 1023, false},
                  {AMP_FLOAT, AMP_FLOAT16, 1024, false}, {AMP_BFLOAT16, AMP_FLOAT16, 1024, false},
                  {AMP_INT8, AMP_FLOAT, 1024, false},    {AMP_BFLOAT16, AMP_FLOAT, 1024, true}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        net_start(22);
        uint32_t w = constant("w", checks[i].from, DIMS(checks[i].count), items);
        uint32_t y = NODE("Cast", "y", w);
        set_int(y, "to", checks[i].to);
        infer_all();
        const struct amp_tensor *cast = amp_value_at(net.model, y)->constant;
        assert_true(cast != NULL && cast->dtype == checks[i].to);
        assert_int_equal(cast->data == NULL, checks[i].is_left);
    }
}

/* What a graph declares of its outputs is what their operators give, or nothing. */
static void declared_outputs_are_what_follows(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_UNDEFINED, AMP_FLOAT, AMP_INT64, AMP_FLOAT16};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        struct amp_error err = {.status = AMP_OK};
        uint32_t y = net_out(typed_node(17, "Neg", "f", "u"), 0);
        char said[200];
        amp_value_at(net.model, y)->dtype = dtypes[i];
        if (!amp_value_at(net.model, y)->is_output)
            output(y);
        snprintf(said, sizeof said,
                 "graph output '%s' is declared as %s, but its operator gives float32",
                 amp_value_at(net.model, y)->name, amp_dtype_name(dtypes[i]));
        expect_text(amp_infer(net.model, &err), &err, i < 2 ? NULL : said, i);
    }
}

/* Gradients are scaled where the algorithm has some of a loss that is there, once. */
static void gradients_of_losses_are_scaled(void **state)
{
    static const char training[] = "ai.onnx.preview.training";
    static const struct {
        const char *domain, *target; /* NULL: none is said */
        bool has_points, in_body, is_removed, is_scaled_already;
        bool is_scaled;
    } checks[] = {
        {training, "loss", true, false, false, false, true},
        {training, "nowhere", true, false, false, false, false},
        {training, NULL, true, false, false, false, false},
        {training, "loss", false, false, false, false, false},
        {"my", "loss", true, false, false, false, false},
        {training, "loss", true, true, false, false, false},
        {training, "loss", true, false, true, false, false},
        {training, "loss", true, false, false, true, false},
    };
    static const struct amp_grad_scaler how = {
        .init_scale = 2, .growth_factor = 2, .backoff_factor = 0.5, .growth_interval = 10};
    struct amp_str point = {"x", 1};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        /* of or to what is not in the algorithm, so that no gradient stops it */
        Onnx__StringStringEntryProto of_other = ONNX__STRING_STRING_ENTRY_PROTO__INIT,
                                     to_other = ONNX__STRING_STRING_ENTRY_PROTO__INIT;
        Onnx__StringStringEntryProto *bindings[] = {&of_other, &to_other};
        Onnx__TrainingInfoProto info = ONNX__TRAINING_INFO_PROTO__INIT;
        struct amp_error err = {.status = AMP_OK};
        bool is_added = !checks[i].is_scaled;
        of_other.key = to_other.value = text("elsewhere");
        of_other.value = text("dx");
        to_other.key = text("x");
        info.n_update_binding = 2;
        info.update_binding = bindings;
        info.algorithm = new_graph("", "");
        net_start(17);
        net.model->graphs[0].origin = info.algorithm;
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), loss = NODE("ReduceMean", "loss", x);
        if (checks[i].is_scaled_already)
            (void)input("grad_scaler/scale", AMP_FLOAT, SCALAR);
        uint32_t graph = checks[i].in_body ? amp_graph_add(net.model, "body", node_of(loss)) : 0;
        uint32_t id = net_node(graph, "Gradient", "dx", 1, IDS(x));
        amp_node_at(net.model, id)->domain = checks[i].domain;
        if (checks[i].target != NULL)
            set_word(net_out(id, 0), "y", checks[i].target);
        if (checks[i].has_points)
            amp_node_set_attr(
                net.model, id,
                (struct amp_attr){
                    .name = "xs", .type = AMP_ATTR_STRINGS, .count = 1, .strings = &point});
        amp_node_at(net.model, id)->is_removed = checks[i].is_removed;
        output(loss);
        output(net_out(id, 0));
        struct amp_model *whole = amp_model_create(net.arena, "whole.onnx");
        amp_graph_add(whole, "main", AMP_NONE);
        const struct amp_grad_scaler_graph scaled = {net.model, whole, &info};
        enum amp_status status = amp_grad_scaler_add(&scaled, &how, &is_added, &err);
        if (status != AMP_OK || is_added != checks[i].is_scaled)
            fail_msg("line %zu: %d %s", i, is_added, err.text);
        assert_string_equal(of_other.value, "dx");
        assert_string_equal(to_other.value, "elsewhere");
    }
}

/* What finds infinities is there from opset 9 on; nothing is added before. Two of a scaler's
   outputs have words of their own. */
static void scalers_need_an_operator(void **state)
{
    static const struct amp_grad_scaler how = {
        .init_scale = 2, .growth_factor = 2, .backoff_factor = 0.5, .growth_interval = 10};
    static const char other[] = "grad_scaler/scale";
    struct amp_str point = {"x", 1};
    (void)state;
    for (int opset = 8; opset <= 9; opset++) {
        Onnx__TrainingInfoProto info = ONNX__TRAINING_INFO_PROTO__INIT;
        struct amp_error err = {.status = AMP_OK};
        bool is_added = false;
        info.algorithm = new_graph("", "");
        net_start(opset);
        net.model->graphs[0].origin = info.algorithm;
        uint32_t x = input("x", AMP_FLOAT, DIMS(2));
        output(NODE("ReduceMean", "loss", x));
        uint32_t id = net_node(0, "Gradient", "dx", 1, IDS(x));
        amp_node_at(net.model, id)->domain = "ai.onnx.preview.training";
        set_word(net_out(id, 0), "y", "loss");
        set_array(net_out(id, 0), "xs", AMP_ATTR_STRINGS, 1, &point, sizeof point);
        output(net_out(id, 0));
        size_t n_nodes = net.model->n_nodes;
        struct amp_model *whole = amp_model_create(net.arena, "whole.onnx");
        amp_graph_add(whole, "main", AMP_NONE);
        const struct amp_grad_scaler_graph scaled = {net.model, whole, &info};
        enum amp_status status = amp_grad_scaler_add(&scaled, &how, &is_added, &err);
        assert_true(status == (opset == 8 ? AMP_UNSUPPORTED : AMP_OK) && is_added);
        assert_string_equal(err.text,
                            opset == 8 ? "net.onnx: gradients can be scaled from opset 9 on" : "");
        assert_int_equal(net.model->n_nodes > n_nodes, opset == 9);
    }
    assert_string_equal(amp_grad_scaler_word("grad_scaler/next_scale"), "scale");
    assert_string_equal(amp_grad_scaler_word("grad_scaler/skipped"), "skipped");
    assert_ptr_equal(amp_grad_scaler_word(other), other);
}

/* What has more inputs or outputs than a shape function is called with has no shapes. */
static void shapes_of_many_are_not_told(void **state)
{
    enum { MOST = 256 };
    (void)state;
    for (uint32_t count = MOST; count <= MOST + 1; count++) {
        uint32_t all[MOST + 1];
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(count)), y = input("y", AMP_FLOAT, DIMS(3));
        uint32_t split = net_node(0, "Split", "part", count, IDS(x));
        for (uint32_t i = 0; i < count; i++)
            all[i] = y;
        uint32_t sum = net_node(0, "Sum", "sum", 1, all, count);
        output(net_out(split, 0));
        output(net_out(sum, 0));
        infer_all();
        for (int i = 0; i < 2; i++) {
            const struct amp_value *value = amp_value_at(net.model, net_out(i ? sum : split, 0));
            assert_int_equal(value->rank, count == MOST ? 1 : -1);
            assert_int_equal(value->dtype, AMP_FLOAT);
        }
    }
}

/* What all calls of a function share of a graph in its body, large and sparse initializers that are
   no inputs, goes to the main graph; the rest has names of its own for each call. */
static void initializers_in_bodies_are_shared(void **state)
{
    static const char *const names[2][5] = {{"F/a", "F/c", "F/b", "F/c", "F/d"},
                                            {"F/a_1", "F/c_1", "F/b_1", "F/c_1", "F/d"}};
    Onnx__SparseTensorProto *sparse_ones[2];
    (void)state;
    start_functions();
    add_op(local.graph, "my.F", "x", "z");
    add_op(local.graph, "my.F", "z", "y");
    Onnx__GraphProto *body = add_function("F", "x", "y", 18), *inner = new_graph("a b", "c d");
    add_attribute(add_op(body, "my.Other", "x", "t"), "body")->g = inner;
    add_op(body, "Neg", "t", "y");
    inner->initializer = weights("a c d", &inner->n_initializer);
    inner->initializer[0]->doc_string = inner->initializer[2]->doc_string = letters(300, "");
    inner->n_sparse_initializer = 2;
    inner->sparse_initializer = sparse_ones;
    for (int i = 0; i < 2; i++) {
        size_t count = 0;
        sparse_ones[i] = amp_arena_alloc(net.arena, sizeof *sparse_ones[i]);
        onnx__sparse_tensor_proto__init(sparse_ones[i]);
        sparse_ones[i]->values = weights(i == 0 ? "b" : "e", &count)[0];
    }
    becomes("Other(x)F/t;Neg(F/t)z;Other(z)F/t_1;Neg(F/t_1)y;");
    assert_int_equal(local.graph->n_initializer, 1);
    assert_string_equal(local.graph->initializer[0]->name, "F/d");
    assert_int_equal(local.graph->n_sparse_initializer, 1);
    assert_string_equal(local.graph->sparse_initializer[0]->values->name, "F/e");
    for (size_t i = 0; i < 2; i++) {
        const Onnx__GraphProto *copy = local.graph->node[2 * i]->attribute[0]->g;
        assert_int_equal(copy->n_initializer, 2);
        assert_int_equal(copy->n_sparse_initializer, 1);
        assert_string_equal(copy->initializer[0]->name, names[i][0]);
        assert_string_equal(copy->input[0]->name, names[i][0]);
        assert_string_equal(copy->initializer[1]->name, names[i][1]);
        assert_string_equal(copy->sparse_initializer[0]->values->name, names[i][2]);
        assert_string_equal(copy->input[1]->name, names[i][2]);
        assert_string_equal(copy->output[0]->name, names[i][3]);
        assert_string_equal(copy->output[1]->name, names[i][4]);
    }
    assert_string_equal(inner->initializer[0]->name, "a"); /* the function is as it was */
}

/* An operator takes a shape that its shape function does not refuse and that gives outputs of the
   same ranks. */
static void operators_take_other_shapes(void **state)
{
    static const struct {
        const char *op;
        struct amp_shape second, x; /* of the other input; what x would be */
        bool takes;
    } checks[] = {
        {"MatMul", {2, {3, 4}}, {2, {5, 3}}, true},     {"MatMul", {2, {3, 4}}, {2, {2, 4}}, false},
        {"MatMul", {2, {3, 4}}, {3, {7, 2, 3}}, false}, {"MatMul", {2, {3, 4}}, {1, {3}}, false},
        {"Add", {2, {2, 3}}, {2, {1, 3}}, true},        {"Add", {2, {2, 3}}, {1, {3}}, true},
        {"Add", {2, {2, 3}}, {3, {2, 2, 3}}, false},    {"Add", {2, {2, 3}}, {2, {3, 3}}, false},
        {"Nothing", {2, {2, 3}}, {2, {3, 3}}, true},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
        uint32_t y = NODE(checks[i].op, "y", x, input("w", AMP_FLOAT, checks[i].second));
        output(y);
        infer_all();
        if (amp_infer_takes(net.model, node_of(y), x, &checks[i].x) != checks[i].takes)
            fail_msg("line %zu", i);
        amp_value_at(net.model, y)->rank = -1; /* what has no known rank may have any */
        bool fits = checks[i].takes || checks[i].x.rank == 3 || checks[i].x.rank == 1;
        assert_int_equal(amp_infer_takes(net.model, node_of(y), x, &checks[i].x), fits);
    }
    net_start(17); /* what may come to any rank may come to the one that is declared */
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), shape = input("shape", AMP_INT64, DIMS(-1));
    uint32_t y = NODE("Reshape", "y", x, shape);
    infer_all();
    amp_value_set_shape(net.model, y, &DIMS(3, 2));
    assert_true(amp_infer_takes(net.model, node_of(y), x, &DIMS(6)));
}

static const char *value_text(uint32_t id)
{
    const struct amp_value *value = amp_value_at(net.model, id);
    const char *name =
        strncmp(value->name, "grad_scaler/", 12) == 0 ? value->name + 11 : value->name;
    if (value->initial == NULL)
        return amp_arena_printf(net.arena, "%s:%s", name, amp_dtype_name(value->dtype));
    return amp_arena_printf(net.arena, "%s:%s=%g", name, amp_dtype_name(value->dtype),
                            amp_tensor_double(value->initial, 0));
}

/* The nodes of the model in their order, a line each. */
static const char *scaled_text(void)
{
    const char *all = "";
    for (size_t i = 0; i < net.model->graphs[0].nodes.count; i++) {
        const struct amp_node *node = amp_node_at(net.model, net.model->graphs[0].nodes.items[i]);
        all = amp_arena_printf(net.arena, "%s%s = %s(", all, value_text(node->outputs[0]),
                               node->op_type);
        for (uint32_t k = 0; k < node->n_inputs; k++)
            all = amp_arena_printf(net.arena, "%s%s%s", all, k > 0 ? ", " : "",
                                   value_text(node->inputs[k]));
        all = amp_arena_printf(net.arena, "%s)", all);
        for (uint32_t k = 0; k < node->n_attrs; k++)
            if (node->attrs[k].type == AMP_ATTR_INT)
                all = amp_arena_printf(net.arena, "%s %s=%d", all, node->attrs[k].name,
                                       (int)node->attrs[k].ints[0]);
            else if (node->attrs[k].type == AMP_ATTR_STRING)
                all = amp_arena_printf(net.arena, "%s %s=%s", all, node->attrs[k].name,
                                       node->attrs[k].strings[0].data);
        all = amp_arena_printf(net.arena, "%s\n", all);
    }
    return all;
}

/* What a scaler is, whole, by the dtype of what is trained: that of torch.amp.GradScaler. */
static void scalers_are_those_of_pytorch(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_DOUBLE};
    static const char *const heads[] = {
        "loss:float32 = ReduceMean(x:float32)\n"
        "/loss:float32 = Mul(loss:float32, /scale:float32=2)\n"
        "/gradient:undefined = Gradient(x:float32) y=grad_scaler/loss\n"
        "/value:float32 = Reciprocal(/scale:float32=2)\n"
        "dx:float32 = Mul(/gradient:undefined, /value:float32)\n"
        "/update:float32 = Sub(x:float32, dx:float32)\n"
        "/value_1:undefined = Sub(/gradient:undefined, /gradient:undefined)\n"
        "/value_2:undefined = ReduceSum(/value_1:undefined) keepdims=0\n"
        "/value_3:undefined = Sum(/value_2:undefined)\n"
        "/skipped:bool = IsNaN(/value_3:undefined)\n"
        "next:float32 = Where(/skipped:bool, x:float32, /update:float32)\n",
        "loss:float16 = ReduceMean(x:float16)\n"
        "/value_1:float32 = Cast(loss:float16) to=1\n"
        "/loss:float32 = Mul(/value_1:float32, /scale:float32=2)\n"
        "/gradient:undefined = Gradient(x:float16) y=grad_scaler/loss\n"
        "/value_2:float32 = Cast(/gradient:undefined) to=1\n"
        "/value:float32 = Reciprocal(/scale:float32=2)\n"
        "/value_5:float32 = Mul(/value_2:float32, /value:float32)\n"
        "dx:float16 = Cast(/value_5:float32) to=10\n"
        "/update:float16 = Sub(x:float16, dx:float16)\n"
        "/value_3:float32 = Sub(/value_2:float32, /value_2:float32)\n"
        "/value_4:float32 = ReduceSum(/value_3:float32) keepdims=0\n"
        "/value_6:float32 = Sum(/value_4:float32)\n"
        "/skipped:bool = IsNaN(/value_6:float32)\n"
        "next:float16 = Where(/skipped:bool, x:float16, /update:float16)\n",
        "loss:float64 = ReduceMean(x:float64)\n"
        "/value_1:float64 = Cast(/scale:float32=2) to=11\n"
        "/loss:float64 = Mul(loss:float64, /value_1:float64)\n"
        "/gradient:undefined = Gradient(x:float64) y=grad_scaler/loss\n"
        "/value:float32 = Reciprocal(/scale:float32=2)\n"
        "/value_5:float64 = Cast(/value:float32) to=11\n"
        "dx:float64 = Mul(/gradient:undefined, /value_5:float64)\n"
        "/update:float64 = Sub(x:float64, dx:float64)\n"
        "/value_2:undefined = Sub(/gradient:undefined, /gradient:undefined)\n"
        "/value_3:undefined = ReduceSum(/value_2:undefined) keepdims=0\n"
        "/value_4:float32 = Cast(/value_3:undefined) to=1\n"
        "/value_6:float32 = Sum(/value_4:float32)\n"
        "/skipped:bool = IsNaN(/value_6:float32)\n"
        "next:float64 = Where(/skipped:bool, x:float64, /update:float64)\n"};
    static const struct amp_grad_scaler how = {
        .init_scale = 2, .growth_factor = 3, .backoff_factor = 0.5, .growth_interval = 10};
    struct amp_str point = {"x", 1};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        Onnx__StringStringEntryProto update = ONNX__STRING_STRING_ENTRY_PROTO__INIT,
                                     *bindings[] = {&update};
        Onnx__TrainingInfoProto info = ONNX__TRAINING_INFO_PROTO__INIT;
        struct amp_error err = {.status = AMP_OK};
        bool is_added = false;
        update.key = text("x");
        update.value = text("next");
        info.n_update_binding = 1;
        info.update_binding = bindings;
        info.algorithm = new_graph("", "loss next");
        net_start(17);
        net.model->graphs[0].origin = info.algorithm;
        uint32_t x = input("x", dtypes[i], DIMS(2)), loss = NODE("ReduceMean", "loss", x);
        uint32_t dx = net_node(0, "Gradient", "dx", 1, IDS(x));
        amp_node_at(net.model, dx)->domain = "ai.onnx.preview.training";
        dx = net_out(dx, 0);
        set_word(dx, "y", "loss");
        amp_node_set_attr(
            net.model, node_of(dx),
            (struct amp_attr){
                .name = "xs", .type = AMP_ATTR_STRINGS, .count = 1, .strings = &point});
        uint32_t next = NODE("Sub", "next", x, dx);
        output(loss);
        output(next);
        infer_all();
        struct amp_model *whole = amp_model_create(net.arena, "whole.onnx");
        amp_graph_add(whole, "main", AMP_NONE);
        const struct amp_grad_scaler_graph scaled = {net.model, whole, &info};
        assert_int_equal(amp_grad_scaler_add(&scaled, &how, &is_added, &err), AMP_OK);
        assert_true(is_added);
        int n = i == 0 ? 4 : 7; /* values so far */
        const char *expected = amp_arena_printf(
            net.arena,
            "%s/value_%d:int64 = Add(/growth_tracker:int64=0, /one:int64=1)\n"
            "/value_%d:bool = Equal(/value_%d:int64, /growth_interval:int64=10)\n"
            "/value_%d:float64 = Where(/value_%d:bool, /growth_factor:float64=3, "
            "/no_factor:float64=1)\n"
            "/value_%d:float64 = Where(/skipped:bool, /backoff_factor:float64=0.5, "
            "/value_%d:float64)\n"
            "/value_%d:float64 = Cast(/scale:float32=2) to=11\n"
            "/value_%d:float64 = Mul(/value_%d:float64, /value_%d:float64)\n"
            "/value_%d:float32 = Cast(/value_%d:float64) to=1\n"
            "/value_%d:float32 = Sub(/value_%d:float32, /value_%d:float32)\n"
            "/value_%d:bool = IsNaN(/value_%d:float32)\n"
            "/value_%d:bool = Or(/skipped:bool, /value_%d:bool)\n"
            "/next_scale:float32 = Where(/value_%d:bool, /scale:float32=2, /value_%d:float32)\n"
            "/next_growth_tracker:int64 = Where(/value_%d:bool, /zero:int64=0, /value_%d:int64)\n",
            heads[i], n, n + 1, n, n + 2, n + 1, n + 3, n + 2, n + 4, n + 5, n + 4, n + 3, n + 6,
            n + 5, n + 7, n + 6, n + 6, n + 8, n + 7, n + 9, n + 1, n + 8, n + 6, n + 9, n);
        assert_string_equal(scaled_text(), expected);
        static const char *const bound_to[][2] = {
            {"x", "next"},
            {"grad_scaler/scale", "grad_scaler/next_scale"},
            {"grad_scaler/growth_tracker", "grad_scaler/next_growth_tracker"}};
        assert_int_equal(info.n_update_binding, AMP_COUNT(bound_to));
        for (size_t k = 0; k < AMP_COUNT(bound_to); k++) {
            assert_string_equal(info.update_binding[k]->key, bound_to[k][0]);
            assert_string_equal(info.update_binding[k]->value, bound_to[k][1]);
        }
        static const char *const outputs[] = {"loss", "next", "grad_scaler/next_scale",
                                              "grad_scaler/next_growth_tracker",
                                              "grad_scaler/skipped"};
        static const enum amp_dtype types[] = {0, 0, AMP_FLOAT, AMP_INT64, AMP_BOOL};
        const struct amp_ids *given = &net.model->graphs[0].outputs;
        assert_int_equal(given->count, AMP_COUNT(outputs));
        assert_int_equal(info.algorithm->n_output, AMP_COUNT(outputs));
        for (size_t k = 0; k < AMP_COUNT(outputs); k++) {
            const Onnx__ValueInfoProto *said = info.algorithm->output[k];
            assert_true(amp_value_at(net.model, given->items[k])->is_output);
            assert_string_equal(amp_value_at(net.model, given->items[k])->name, outputs[k]);
            assert_string_equal(said->name, outputs[k]);
            if (k >= 2) {
                assert_int_equal(said->type->tensor_type->elem_type, types[k]);
                assert_int_equal(said->type->tensor_type->shape->n_dim, 0);
            }
        }
    }
}

/* Shapes are told where all operators have a shape function and what comes of it is known. */
static void shapes_are_told_or_not(void **state)
{
    static const char *const ops[] = {"Relu", "Nothing", "NonZero", "MatMul"};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(ops); i++)
        for (int is_last = 0; is_last < 2; is_last++) {
            struct amp_error err = {.status = AMP_OK};
            bool is_told = i != 0;
            net_start(17);
            uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), y;
            if (is_last)
                output(NODE("Neg", "a", x));
            y = i == 3 ? NODE("MatMul", "y", x, x) : NODE(ops[i], "y", x);
            if (!is_last)
                output(NODE("Neg", "a", x));
            output(y);
            if (i < 3)
                infer_all();
            enum amp_status status = amp_infer_check_shapes(net.model, &is_told, &err);
            assert_int_equal(status == AMP_OK, i < 3);
            if (i < 3)
                assert_int_equal(is_told, i == 0);
            else
                assert_non_null(strstr(err.text, "net.onnx: node "));
        }
}

/* ---- messages that are made anew ---- */

static void tell_tensor(FILE *to, const struct amp_tensor *tensor)
{
    char shape[200];
    fprintf(to, " %s %s", amp_dtype_name(tensor->dtype),
            amp_shape_text(&tensor->shape, shape, sizeof shape));
    if (tensor->dtype != AMP_STRING)
        for (size_t i = 0; i < amp_tensor_size(tensor); i++)
            fprintf(to, " %d", ((const uint8_t *)tensor->data)[i]);
    else
        for (size_t i = 0; i < amp_tensor_count(tensor); i++)
            fprintf(to, " '%.*s'", (int)((const struct amp_str *)tensor->data)[i].size,
                    ((const struct amp_str *)tensor->data)[i].data);
}

static void tell_values(FILE *to, const struct amp_model *model, const struct amp_ids *ids)
{
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *value = amp_value_at(model, ids->items[i]);
        fprintf(to, " %s %s %s", value->name, amp_kind_name(value->kind),
                amp_dtype_name(value->dtype));
        for (int k = 0; k < value->rank; k++)
            if (amp_dim_symbol(model, value->dims[k]) != NULL)
                fprintf(to, " %s", amp_dim_symbol(model, value->dims[k]));
            else
                fprintf(to, " %lld", (long long)value->dims[k]);
        if (value->initial != NULL)
            tell_tensor(to, value->initial);
    }
    fprintf(to, "\n");
}

static void tell_attr(FILE *to, const struct amp_attr *attr)
{
    fprintf(to, " %s:%d:%zu", attr->name, (int)attr->type, attr->count);
    for (size_t i = 0; i < attr->count; i++)
        if (attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_INTS)
            fprintf(to, " %lld", (long long)attr->ints[i]);
        else if (attr->type == AMP_ATTR_FLOAT || attr->type == AMP_ATTR_FLOATS)
            fprintf(to, " %a", (double)attr->floats[i]);
        else if (attr->type == AMP_ATTR_STRING || attr->type == AMP_ATTR_STRINGS)
            fprintf(to, " '%.*s'", (int)attr->strings[i].size, attr->strings[i].data);
        else if (attr->type == AMP_ATTR_TENSOR || attr->type == AMP_ATTR_TENSORS)
            tell_tensor(to, attr->tensors[i]);
        else if (attr->type == AMP_ATTR_GRAPH || attr->type == AMP_ATTR_GRAPHS)
            fprintf(to, " graph %u", attr->graphs[i]);
}

static void tell_node(FILE *to, const struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    fprintf(to, "'%s' '%s' %s (", node->name, node->domain, node->op_type);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        fprintf(to, " '%s'",
                node->inputs[i] == AMP_NONE ? "" : amp_value_at(model, node->inputs[i])->name);
    fprintf(to, ") -> (");
    for (uint32_t i = 0; i < node->n_outputs; i++)
        fprintf(to, " '%s'",
                node->outputs[i] == AMP_NONE ? "" : amp_value_at(model, node->outputs[i])->name);
    fprintf(to, ")");
    for (uint32_t i = 0; i < node->n_attrs; i++)
        tell_attr(to, &node->attrs[i]);
    fprintf(to, "\n");
}

/* All that MODEL says, as text; freed by the caller. */
static char *tell_model(const struct amp_model *model)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        tell_values(to, model, &graph->inputs);
        tell_values(to, model, &graph->outputs);
        tell_values(to, model, &graph->initializers);
        for (size_t i = 0; i < graph->nodes.count; i++)
            tell_node(to, model, graph->nodes.items[i]);
    }
    fclose(to);
    return text;
}

/* What an operator that nobody knows gives has an entry where its type is known: then alone it says
   something. */
static void values_of_unknown_operators_have_entries(void **state)
{
    static char domain[] = "com.example", name_h[] = "h", no_name[] = "";
    (void)state;
    for (int i = 0; i < 6; i++) {
        bool has_entry = i == 1 || i == 3;
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        struct amp_deferred deferred = {.count = 0};
        Onnx__NodeProto other, *nodes[2] = {&other, &made.node};
        Onnx__OperatorSetIdProto import, *imports[2] = {&made.opset, &import};
        char *takes[1] = {name_x}, *gives[2] = {name_h, no_name};
        start_model();
        onnx__node_proto__init(&other);
        onnx__operator_set_id_proto__init(&import);
        other.op_type = neg;
        other.domain = import.domain = domain;
        import.has_version = true;
        import.version = 1;
        other.n_input = 1;
        other.n_output = i == 3 ? 2 : 1;
        other.input = takes;
        other.output = gives;
        made.takes[0] = name_h;
        made.graph.n_node = made.model.n_opset_import = 2;
        made.graph.node = nodes;
        made.model.opset_import = imports;
        model_is(AMP_OK, NULL);
        assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
        struct amp_node *node = amp_node_at(file.model, 0);
        assert_null(node->schema);
        if (i == 5) /* an operator that somebody knows */
            node->schema = amp_schema_find("", "Neg", 13);
        struct amp_value *h = amp_value_at(file.model, node->outputs[0]);
        h->kind = i == 2 ? AMP_KIND_SEQUENCE : AMP_KIND_TENSOR;
        h->dtype = i > 0 ? AMP_FLOAT16 : AMP_UNDEFINED;
        h->is_output = i == 4; /* which has its entry there */
        amp_message_update(file.model, &deferred);
        const Onnx__GraphProto *graph = ((const Onnx__ModelProto *)file.model->origin)->graph;
        assert_int_equal(graph->n_value_info, has_entry);
        if (has_entry) {
            assert_string_equal(graph->value_info[0]->name, "h");
            assert_true(graph->value_info[0]->type->tensor_type->has_elem_type);
            assert_int_equal(graph->value_info[0]->type->tensor_type->elem_type, AMP_FLOAT16);
        }
        amp_message_update(file.model, &deferred); /* which has it by now */
        assert_int_equal(graph->n_value_info, has_entry);
        amp_model_close(&file);
    }
}

/* A declared type gets the dtype of the value where it is of that kind. */
static void declared_types_follow_their_kind(void **state)
{
    static const enum amp_kind kinds[] = {AMP_KIND_UNKNOWN, AMP_KIND_TENSOR, AMP_KIND_SEQUENCE,
                                          AMP_KIND_OPTIONAL};
    (void)state;
    for (int declared = 0; declared < 5;
         declared++) /* nothing, tensor, sequence, of maps, of none */
        for (size_t k = 0; k < AMP_COUNT(kinds); k++)
            for (int is_known = 0; is_known < 2; is_known++) {
                struct amp_model_file file;
                struct amp_error err = {.status = AMP_OK};
                struct amp_deferred deferred = {.count = 0};
                Onnx__TypeProto type, element;
                Onnx__TypeProto__Sequence sequence;
                Onnx__TypeProto__Map map;
                Onnx__TypeProto__Tensor tensor;
                start_model();
                onnx__type_proto__init(&type);
                onnx__type_proto__init(&element);
                onnx__type_proto__sequence__init(&sequence);
                onnx__type_proto__map__init(&map);
                onnx__type_proto__tensor__init(&tensor);
                tensor.has_elem_type = true;
                tensor.elem_type = AMP_FLOAT;
                map.has_key_type = true;
                map.key_type = AMP_INT64;
                element.value_case = declared == 2 ? ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
                                                   : ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
                if (declared == 2)
                    element.tensor_type = &tensor;
                else
                    element.map_type = &map;
                type.value_case = declared == 1 ? ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
                                                : ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
                if (declared == 1)
                    type.tensor_type = &tensor;
                else
                    type.sequence_type = &sequence;
                sequence.elem_type = declared == 4 ? NULL : &element;
                made.y.type = declared > 0 ? &type : NULL;
                model_is(AMP_OK, NULL);
                assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
                struct amp_value *y =
                    amp_value_at(file.model, file.model->graphs[0].outputs.items[0]);
                y->kind = kinds[k];
                y->dtype = is_known ? AMP_FLOAT16 : AMP_UNDEFINED;
                amp_message_update(file.model, &deferred);
                const Onnx__ModelProto *proto = file.model->origin;
                const Onnx__TypeProto *found = proto->graph->output[0]->type;
                bool is_set = is_known && declared == (int)k;
                assert_int_equal(found != NULL, declared > 0);
                if (declared == 1)
                    assert_int_equal(found->tensor_type->elem_type,
                                     is_set ? AMP_FLOAT16 : AMP_FLOAT);
                if (declared == 2)
                    assert_int_equal(found->sequence_type->elem_type->tensor_type->elem_type,
                                     is_set ? AMP_FLOAT16 : AMP_FLOAT);
                if (declared == 3)
                    assert_int_equal(found->sequence_type->elem_type->map_type->key_type,
                                     AMP_INT64);
                amp_model_close(&file);
            }
}

/* Types within types, of a value that an operator takes which takes anything; of those that are not
   told nothing is known. */
static void types_are_nested(void **state)
{
    enum { NOTHING, TENSOR, SEQUENCE, OPTIONAL, MAP };
    static const struct {
        int outer, inner, innermost;
        enum amp_kind kind;
    } checks[] = {{SEQUENCE, TENSOR, 0, AMP_KIND_SEQUENCE},
                  {SEQUENCE, MAP, 0, AMP_KIND_MAP_SEQUENCE},
                  {SEQUENCE, NOTHING, 0, AMP_KIND_UNKNOWN},
                  {SEQUENCE, SEQUENCE, TENSOR, AMP_KIND_UNKNOWN},
                  {OPTIONAL, TENSOR, 0, AMP_KIND_OPTIONAL},
                  {OPTIONAL, SEQUENCE, TENSOR, AMP_KIND_OPTIONAL_SEQUENCE},
                  {OPTIONAL, SEQUENCE, NOTHING, AMP_KIND_UNKNOWN},
                  {OPTIONAL, NOTHING, 0, AMP_KIND_UNKNOWN},
                  {OPTIONAL, MAP, 0, AMP_KIND_UNKNOWN},
                  {MAP, NOTHING, 0, AMP_KIND_MAP}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(checks); i++) {
        const int kinds[3] = {checks[i].outer, checks[i].inner, checks[i].innermost};
        Onnx__TypeProto types[3], *next;
        Onnx__TypeProto__Sequence sequences[3];
        Onnx__TypeProto__Optional optionals[3];
        Onnx__TypeProto__Map map;
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        start_model();
        onnx__type_proto__map__init(&map);
        map.has_key_type = true;
        map.key_type = AMP_INT64;
        for (int k = 2; k >= 0; k--) {
            next = k < 2 && kinds[k + 1] != NOTHING ? &types[k + 1] : NULL;
            onnx__type_proto__init(&types[k]);
            onnx__type_proto__sequence__init(&sequences[k]);
            onnx__type_proto__optional__init(&optionals[k]);
            sequences[k].elem_type = optionals[k].elem_type = next;
            if (kinds[k] == TENSOR)
                types[k] = made.type;
            else if (kinds[k] == SEQUENCE) {
                types[k].value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
                types[k].sequence_type = &sequences[k];
            } else if (kinds[k] == OPTIONAL) {
                types[k].value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
                types[k].optional_type = &optionals[k];
            } else if (kinds[k] == MAP) {
                types[k].value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
                types[k].map_type = &map;
            }
        }
        made.node.domain = made.opset.domain = name_x;
        made.x.type = &types[0];
        model_is(AMP_OK, NULL);
        assert_int_equal(amp_model_read("model.onnx", &file, &err), AMP_OK);
        const struct amp_value *x = amp_value_at(file.model, file.model->graphs[0].inputs.items[0]);
        bool is_told = checks[i].kind == AMP_KIND_SEQUENCE || checks[i].kind == AMP_KIND_OPTIONAL ||
                       checks[i].kind == AMP_KIND_OPTIONAL_SEQUENCE;
        if (x->kind != checks[i].kind || x->dtype != (is_told ? AMP_FLOAT : AMP_UNDEFINED))
            fail_msg("line %zu: %s of %s", i, amp_kind_name(x->kind), amp_dtype_name(x->dtype));
        amp_model_close(&file);
    }
}

/* What an Optional without input is of, its attribute says; else its input does. */
static void optionals_are_of_what_they_say(void **state)
{
    static char optional[] = "Optional", type_name[] = "type", no_name[] = "", name_w[] = "w";
    (void)state;
    for (int i = 0; i < 32; i++) {
        bool has_input = i & 1, has_attr = i & 2, is_sequence = i & 4, has_output = !(i & 8);
        bool is_known = !(i & 16); /* before opset 15 there is no Optional */
        struct amp_model_file file;
        struct amp_error err = {.status = AMP_OK};
        Onnx__TypeProto type, element;
        Onnx__TypeProto__Sequence sequence;
        Onnx__TypeProto__Tensor tensor;
        Onnx__NodeProto other, *nodes[2] = {&made.node, &other};
        char *gives[1] = {has_output ? name_w : no_name};
        start_model();
        onnx__type_proto__init(&type);
        onnx__type_proto__init(&element);
        onnx__type_proto__sequence__init(&sequence);
        onnx__type_proto__tensor__init(&tensor);
        onnx__node_proto__init(&other);
        tensor.has_elem_type = true;
        tensor.elem_type = AMP_INT64;
        element.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        element.tensor_type = &tensor;
        sequence.elem_type = &element;
        type.value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        type.sequence_type = &sequence;
        add_attr();
        made.attr.name = type_name;
        made.attr.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO;
        made.attr.tp = is_sequence ? &type : &element;
        made.node.n_attribute = 0;
        other.n_attribute = has_attr;
        other.attribute = made.attrs;
        other.op_type = optional;
        other.n_input = has_input;
        other.input = made.takes;
        other.n_output = 1;
        other.output = gives;
        made.graph.n_node = 2;
        made.graph.node = nodes;
        made.opset.version = is_known ? 17 : 14;
        size_t size = onnx__model_proto__get_packed_size(&made.model);
        uint8_t *bytes = malloc(size);
        onnx__model_proto__pack(&made.model, bytes);
        FILE *out = fopen("model.onnx", "wb");
        assert_int_equal(fwrite(bytes, 1, size, out), size);
        fclose(out);
        free(bytes);
        if (amp_model_read("model.onnx", &file, &err) != AMP_OK)
            assert_false(has_output); /* which an Optional must have */
        else if (!is_known || !has_output) {
            assert_false(is_known);
            amp_model_close(&file);
        } else {
            const struct amp_value *w =
                amp_value_at(file.model, amp_node_at(file.model, 1)->outputs[0]);
            bool is_told = has_attr && !has_input;
            assert_int_equal(w->dtype, is_told ? AMP_INT64 : AMP_UNDEFINED);
            assert_int_equal(w->kind, !is_told      ? AMP_KIND_UNKNOWN
                                      : is_sequence ? AMP_KIND_OPTIONAL_SEQUENCE
                                                    : AMP_KIND_OPTIONAL);
            amp_model_close(&file);
        }
    }
}

/* Whether messages are made of bodies: those of sequences in them are not. */
static bool has_tensors_alone(const struct amp_model *model)
{
    for (size_t i = 0; i < model->n_values; i++)
        if (amp_value_at(model, (uint32_t)i)->kind > AMP_KIND_TENSOR)
            return false;
    return true;
}

/* Takes away the messages that MODEL was read from, so that they are made anew; those of attributes
   stay that nobody makes. */
static void forget_messages(struct amp_model *model)
{
    for (size_t i = 0; i < model->n_values; i++)
        amp_value_at(model, (uint32_t)i)->origin = NULL;
    for (size_t i = 0; i < model->n_nodes; i++) {
        struct amp_node *node = amp_node_at(model, (uint32_t)i);
        node->origin = NULL;
        for (uint32_t k = 0; k < node->n_attrs; k++)
            if (node->attrs[k].type <= AMP_ATTR_STRINGS)
                node->attrs[k].origin = NULL;
    }
    for (size_t g = 1; g < model->n_graphs && has_tensors_alone(model); g++)
        model->graphs[g].origin = NULL;
}

/* What is read of the model at PATH; IS_NEW: of the messages that are made of it. NULL: it is
   refused. */
/* Each output of a graph is marked as one, where the graph gives it itself. */
static void outputs_are_marked(const struct amp_model *model)
{
    for (uint32_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++) {
            const struct amp_value *value = amp_value_at(model, model->graphs[g].outputs.items[i]);
            assert_true(value->is_output || value->graph != g);
        }
}

static char *read_again(const char *path, bool is_new)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    struct amp_deferred deferred = {.count = 0};
    if (amp_model_read(path, &file, &err) != AMP_OK)
        return NULL;
    if (is_new) {
        forget_messages(file.model);
        amp_message_update(file.model, &deferred);
        size_t size = onnx__model_proto__get_packed_size(file.model->origin);
        uint8_t *bytes = malloc(size);
        onnx__model_proto__pack(file.model->origin, bytes);
        FILE *out = fopen("again.onnx", "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(bytes, 1, size, out), size);
        fclose(out);
        free(bytes);
    }
    outputs_are_marked(file.model);
    char *text = tell_model(file.model);
    amp_model_close(&file);
    return text;
}

static void messages_say_what_models_say(void **state)
{
    const char *folder = getenv("CASES");
    char pattern[1024];
    glob_t paths;
    size_t n_models = 0;
    (void)state;
    if (folder == NULL)
        skip();
    snprintf(pattern, sizeof pattern, "%s/ops/*/*/model.onnx", folder);
    assert_int_equal(glob(pattern, 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        const char *path = paths.gl_pathv[i];
        char *before = read_again(path, false);
        char *anew = before != NULL ? read_again(path, true) : NULL;
        char *after = before != NULL ? read_again("again.onnx", false) : NULL;
        if (before != NULL && (after == NULL || strcmp(before, after) != 0))
            fail_msg("%s:\n%s\nbecame\n%s", path, before, after);
        if (before != NULL)
            assert_string_equal(before, anew);
        n_models += before != NULL;
        free(before);
        free(anew);
        free(after);
    }
    globfree(&paths);
    assert_true(n_models > 1000);
}

/* ---- where data go ---- */

enum { N_PLACED = 9 };

/* A model of eight initializers, the data of the last two being those of the one before, and a
   tensor of a node. */
static struct {
    Onnx__ModelProto message;
    Onnx__GraphProto graph;
    Onnx__NodeProto node;
    Onnx__AttributeProto attr;
    Onnx__TensorProto tensors[N_PLACED], *initializers[N_PLACED];
    Onnx__NodeProto *nodes[1];
    Onnx__AttributeProto *attrs[1];
    struct amp_placement placement;
    struct amp_model model;
    struct amp_error err;
} places;

static void start_places(bool are_external)
{
    static const size_t sizes[N_PLACED] = {0, 512, 513, 512, 4095, 4096, 5000, 5000, 600};
    static uint8_t bytes[N_PLACED][5000];
    onnx__model_proto__init(&places.message);
    onnx__graph_proto__init(&places.graph);
    onnx__node_proto__init(&places.node);
    onnx__attribute_proto__init(&places.attr);
    places.message.graph = &places.graph;
    places.graph.n_initializer = N_PLACED - 1;
    places.graph.initializer = places.initializers;
    places.graph.n_node = 1;
    places.graph.node = places.nodes;
    places.nodes[0] = &places.node;
    places.node.n_attribute = 1;
    places.node.attribute = places.attrs;
    places.attrs[0] = &places.attr;
    places.attr.t = &places.tensors[N_PLACED - 1];
    for (int i = 0; i < N_PLACED; i++) {
        Onnx__TensorProto *tensor = places.initializers[i] = &places.tensors[i];
        onnx__tensor_proto__init(tensor);
        tensor->n_dims = i == 1 || i == 2 ? 1 : 2; /* a list of 512 bytes, and one of more */
        tensor->dims = dims;
        tensor->data_type = AMP_UINT8;
        tensor->has_raw_data = !are_external;
        tensor->raw_data = (ProtobufCBinaryData){sizes[i], bytes[i == 7 ? 6 : i]};
        if (!are_external)
            continue;
        tensor->has_data_location = true;
        tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    }
    places.placement = (struct amp_placement){.path = NULL};
    places.model = (struct amp_model){.arena = net.arena, .origin = &places.message};
    places.err = (struct amp_error){.status = AMP_OK};
}

static enum amp_status decide(const char *path, const char *name, uint64_t threshold,
                              bool is_inline)
{
    const struct amp_placement_options options = {
        .path = path, .data_name = name, .threshold = threshold, .is_inline = is_inline};
    return amp_placement_decide(&places.placement, &places.model, &options, &places.err);
}

/* Expects each tensor at its offset in the data file LOCATION, or in the message: "-". */
static void placed_at(const char *location, const char *expected)
{
    char text[400] = "", number[40];
    for (int i = 0; i < N_PLACED; i++) {
        const Onnx__TensorProto *tensor = &places.tensors[i];
        bool is_out = tensor->n_external_data > 0;
        assert_int_equal(tensor->has_raw_data, !is_out);
        assert_int_equal(tensor->has_data_location, is_out);
        snprintf(number, sizeof number, "%s%s", i > 0 ? " " : "",
                 is_out ? tensor->external_data[1]->value : "-");
        strcat(text, number);
        if (!is_out)
            continue;
        assert_int_equal(tensor->data_location, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
        assert_int_equal(tensor->n_external_data, 3);
        assert_string_equal(tensor->external_data[0]->key, "location");
        assert_string_equal(tensor->external_data[0]->value, location);
        assert_string_equal(tensor->external_data[1]->key, "offset");
        assert_string_equal(tensor->external_data[2]->key, "length");
        snprintf(number, sizeof number, "%zu", tensor->raw_data.len);
        assert_string_equal(tensor->external_data[2]->value, number);
    }
    assert_string_equal(text, expected);
    assert_int_equal(places.placement.message_size,
                     protobuf_c_message_get_packed_size(&places.message.base));
}

/* Large data begin on a page, others on 64 bytes; short lists stay, and what a node has stays
   unless it was outside before. What is the same is there once. */
static void data_have_places_in_a_file(void **state)
{
    static const struct {
        const char *path, *name;
        uint64_t threshold;
        bool was_external, is_inline;
        const char *data_path, *location, *offsets;
        uint64_t size;
        size_t n_placed;
    } lines[] = {
        {"m.onnx", NULL, 0, false, false, NULL, "", "- - - - - - - - -", 0, 0},
        {"m.onnx", NULL, 0, false, true, NULL, "", "- - - - - - - - -", 0, 0},
        {"m.onnx", NULL, 0, true, true, NULL, "", "- - - - - - - - -", 0, 0},
        {"-", NULL, 0, true, false, NULL, "", "- - - - - - - - -", 0, 0},
        {"m.onnx", "w", 0, false, false, "w", "w", "- - 0 576 1088 8192 12288 12288 -", 17288, 5},
        {"a/b/m.onnx", "w", 513, false, false, "a/b/w", "w", "- - 0 - 576 8192 12288 12288 -",
         17288, 4},
        {"a/m.onnx", "c/w", 514, false, true, "a/c/w", "c/w", "- - - - 0 4096 8192 8192 -", 13192,
         3},
        {"m.onnx", "w", 4096, false, false, "w", "w", "- - - - - 0 4096 4096 -", 9096, 2},
        {"m.onnx", "w", 5001, false, false, "w", "w", "- - - - - - - - -", 0, 0},
        {"m.onnx", "w", 5001, true, false, "w", "w", "- - 640 1216 1728 8192 12288 12288 0", 17288,
         6},
        {"m.onnx", NULL, 5001, true, false, "m.onnx.data", "m.onnx.data",
         "- - 640 1216 1728 8192 12288 12288 0", 17288, 6},
        {"a/m.onnx", NULL, 5001, true, false, "a/m.onnx.data", "m.onnx.data",
         "- - 640 1216 1728 8192 12288 12288 0", 17288, 6},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        const struct amp_placement *placement = &places.placement;
        start_places(lines[i].was_external);
        assert_int_equal(
            decide(lines[i].path, lines[i].name, lines[i].threshold, lines[i].is_inline), AMP_OK);
        placed_at(lines[i].location, lines[i].offsets);
        assert_string_equal(placement->path, lines[i].path);
        assert_int_equal(placement->n_placed, lines[i].n_placed);
        assert_int_equal(placement->data_size, lines[i].size);
        assert_int_equal(amp_placement_size(placement),
                         placement->message_size + placement->data_size);
        if (lines[i].data_path == NULL)
            assert_null(placement->data_path);
        else
            assert_string_equal(placement->data_path, lines[i].data_path);
    }
    /* what nobody read stays where it is */
    start_places(true);
    places.tensors[6].raw_data.data = places.tensors[8].raw_data.data = NULL;
    assert_int_equal(decide("m.onnx", "w", 0, false), AMP_OK);
    assert_int_equal(places.placement.n_placed, 5);
    assert_int_equal(places.tensors[6].n_external_data + places.tensors[8].n_external_data, 0);
    assert_true(places.tensors[6].has_data_location && places.tensors[8].has_data_location);
    /* what says that it is inside was not outside */
    start_places(false);
    for (int i = 0; i < N_PLACED; i++)
        places.tensors[i].has_data_location = true;
    assert_int_equal(decide("m.onnx", "w", 5001, false), AMP_OK);
    placed_at("", "- - - - - - - - -");
    assert_int_equal(places.placement.n_placed, 0);
    /* bytes that are neither inside nor outside are none */
    start_places(false);
    places.tensors[5].has_raw_data = false;
    assert_int_equal(decide("m.onnx", "w", 0, false), AMP_OK);
    assert_int_equal(places.placement.n_placed, 4);
    assert_false(places.tensors[5].has_raw_data || places.tensors[5].has_data_location);
}

/* Protobuf messages end at 2 GB less a byte: then data go outside, unless they have nowhere to. */
static void messages_end_at_2_gb(void **state)
{
    static const struct {
        const char *path, *name;
        bool is_inline;
        const char *shown; /* what cannot be written; NULL: it can */
    } lines[] = {{"m.onnx", NULL, false, NULL}, {"m.onnx", "w", false, NULL},
                 {"m.onnx", "w", true, NULL},   {"m.onnx", NULL, true, "m.onnx"},
                 {"-", NULL, false, "stdout"},  {"-", NULL, true, "stdout"}};
    (void)state;
    start_places(false);
    places.tensors[6].raw_data.len = (size_t)INT_MAX - 100000;
    size_t least = protobuf_c_message_get_packed_size(&places.message.base);
    for (size_t i = 0; i < AMP_COUNT(lines); i++)
        for (int over = 0; over < 2; over++) {
            char said[300];
            start_places(false);
            places.tensors[6].raw_data.len =
                (size_t)INT_MAX - 100000 + INT_MAX - least + (size_t)over;
            enum amp_status status = decide(lines[i].path, lines[i].name, 1, lines[i].is_inline);
            bool is_refused_now = over == 1 && lines[i].shown != NULL;
            assert_int_equal(status, is_refused_now ? AMP_UNSUPPORTED : AMP_OK);
            snprintf(said, sizeof said,
                     "%s: the converted model takes %zu bytes; protobuf messages end at 2 GB: "
                     "--external-data names a file for its tensors",
                     lines[i].shown != NULL ? lines[i].shown : "", (size_t)INT_MAX + 1);
            if (is_refused_now)
                assert_string_equal(places.err.text, said);
            else if (over == 1 || lines[i].name != NULL)
                assert_string_equal(places.placement.data_path,
                                    lines[i].name != NULL ? "w" : "m.onnx.data");
            else
                assert_null(places.placement.data_path);
        }
    for (int over = 0; over < 2; over++) {
        char said[300];
        start_places(false);
        places.tensors[6].raw_data.len = (size_t)INT_MAX - 100000 + INT_MAX - least + (size_t)over;
        assert_int_equal(decide("m.onnx", "w", UINT64_MAX, false), over ? AMP_UNSUPPORTED : AMP_OK);
        snprintf(said, sizeof said,
                 "m.onnx: without the tensors in the data file the model still takes %zu bytes; "
                 "protobuf messages end at 2 GB: lower --external-threshold",
                 (size_t)INT_MAX + 1);
        if (over)
            assert_string_equal(places.err.text, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(values_of_unknown_operators_have_entries),
        NET_TEST(declared_types_follow_their_kind),
        NET_TEST(types_are_nested),
        NET_TEST(optionals_are_of_what_they_say),
        NET_TEST(messages_say_what_models_say),
        NET_TEST(data_have_places_in_a_file),
        NET_TEST(messages_end_at_2_gb),
        NET_TEST(tensors_are_as_large_as_their_shape),
        NET_TEST(small_types_come_as_int32),
        NET_TEST(external_data_need_a_file),
        NET_TEST(external_entries_may_lack_parts),
        NET_TEST(external_data_are_where_the_entries_say),
        NET_TEST(sparse_tensors_become_dense),
        NET_TEST(sparse_tensors_have_values_and_indices),
        NET_TEST(sequences_have_tensors_or_maps),
        NET_TEST(optionals_have_a_tensor_or_a_sequence),
        NET_TEST(maps_have_as_many_values_as_keys),
        NET_TEST(models_have_versions),
        NET_TEST(nodes_have_operators_and_attributes_names),
        NET_TEST(nodes_have_domains_and_notes),
        NET_TEST(initializers_are_what_their_input_is),
        NET_TEST(declared_types_are_bounded),
        NET_TEST(initializers_know_their_type),
        NET_TEST(constants_are_what_they_say),
        NET_TEST(attributes_say_their_type),
        NET_TEST(links_stay_below_the_folder),
        NET_TEST(deferred_data_are_written_whole),
        NET_TEST(texts_may_be_missing),
        NET_TEST(declarations_have_their_places),
        NET_TEST(metadata_are_replaced),
        NET_TEST(names_are_given_once),
        NET_TEST(initializers_are_inputs_or_not),
        NET_TEST(declared_shapes_stay_where_they_can),
        NET_TEST(numbers_and_lengths_end_in_time),
        NET_TEST(names_are_own_or_foreign),
        NET_TEST(new_names_are_free_and_not_too_long),
        NET_TEST(what_is_repeated_is_bounded),
        NET_TEST(large_constants_are_shared),
        NET_TEST(calls_are_nested_64_deep),
        NET_TEST(nodes_of_calls_are_bounded),
        NET_TEST(parts_of_calls_are_bounded),
        NET_TEST(nodes_take_the_notes_of_calls),
        NET_TEST(constants_of_functions_are_shared),
        NET_TEST(graphs_in_functions_are_copied),
        NET_TEST(attributes_of_calls_are_filled_in),
        NET_TEST(graphs_are_nested_64_deep),
        NET_TEST(stale_functions_go),
        NET_TEST(opsets_of_functions_agree),
        NET_TEST(calls_fit_their_function),
        NET_TEST(functions_without_floats_stay),
        NET_TEST(functions_stay_for_conversions),
        NET_TEST(training_calls_what_stays),
        NET_TEST(bindings_name_initializers_and_outputs),
        NET_TEST(initializers_are_found_by_name),
        NET_TEST(training_is_what_is_said),
        NET_TEST(held_values_stay),
        NET_TEST(variables_have_places),
        NET_TEST(trained_values_are_stored),
        NET_TEST(nodes_have_what_their_operator_needs),
        NET_TEST(types_are_those_of_the_definition),
        NET_TEST(outputs_have_the_types_that_follow),
        NET_TEST(bodies_pass_types_on),
        NET_TEST(open_types_stay_open),
        NET_TEST(constants_are_passed_on),
        NET_TEST(large_exact_casts_are_left),
        NET_TEST(declared_outputs_are_what_follows),
        NET_TEST(gradients_of_losses_are_scaled),
        NET_TEST(scalers_need_an_operator),
        NET_TEST(scalers_are_those_of_pytorch),
        NET_TEST(shapes_of_many_are_not_told),
        NET_TEST(operators_take_other_shapes),
        NET_TEST(shapes_are_told_or_not),
        NET_TEST(initializers_in_bodies_are_shared),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

/* The files of values that tests run on: .pb files with a tensor, a sequence, an optional or a map,
   and .npy files. A list is written with the kind of its elements in parentheses, as an empty one
   has no other way to tell: seq(tensor) s = [float[2] = {1, 2}, float[1] = {3}] optional(tensor) o
   = none map(int64) m = {1, 2} seq(tensor) = [float = {0.5}, float = {1}] A list in a list in a
   list without end is `nested N SAMPLE`: N lists around one sample. A file whose bytes the text
   would not give again is not written as text. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "fields.h"
#include "onnx-data.pb-c.h"
#include "tensor.h"

/* The kinds of elements; SequenceProto and OptionalProto number them alike. */
static const char *const kinds[] = {"undefined", "tensor", "sparse_tensor",
                                    "seq",       "map",    "optional"};
enum { KIND_TENSOR = 1, KIND_SEQUENCE = 3, KIND_MAP, KIND_OPTIONAL, N_KINDS };

static void put_sequence(struct buffer *buffer, const Onnx__SequenceProto *sequence);
static void put_optional(struct buffer *buffer, const Onnx__OptionalProto *optional);
static void put_map(struct buffer *buffer, const Onnx__MapProto *map);
static Onnx__SequenceProto *read_sequence(struct lexer *lexer);
static Onnx__OptionalProto *read_optional(struct lexer *lexer);
static Onnx__MapProto *read_map(struct lexer *lexer);

/* ---- writing ---- */

/* WORD(KIND) NAME = */
static void put_head(struct buffer *buffer, const char *word, const char *kind, const char *name)
{
    put_format(buffer, "%s(%s) ", word, kind);
    if (name) {
        put_name(buffer, name);
        put(buffer, " ");
    }
    put(buffer, "= ");
}

static const char *get_kind(bool has_type, int type)
{
    return has_type && type > 0 && type < N_KINDS ? kinds[type] : "";
}

/* Between two elements. */
static void put_gap(struct buffer *buffer, size_t i)
{
    put(buffer, i == 0 ? "" : get_column(buffer) > 80 ? ",\n    " : ", ");
}

static void put_sequence(struct buffer *buffer, const Onnx__SequenceProto *sequence)
{
    Onnx__SequenceProto rest = *sequence;
    const char *kind = get_kind(sequence->has_elem_type, sequence->elem_type);
    put_head(buffer, "seq", kind, sequence->name);
    put(buffer, "[");
    for (size_t i = 0; sequence->elem_type == KIND_TENSOR && i < sequence->n_tensor_values; i++) {
        put_gap(buffer, i);
        put_tensor(buffer, sequence->tensor_values[i]);
        rest.n_tensor_values = 0;
    }
    for (size_t i = 0; sequence->elem_type == KIND_SEQUENCE && i < sequence->n_sequence_values;
         i++) {
        put_gap(buffer, i);
        put_sequence(buffer, sequence->sequence_values[i]);
        rest.n_sequence_values = 0;
    }
    for (size_t i = 0; sequence->elem_type == KIND_MAP && i < sequence->n_map_values; i++) {
        put_gap(buffer, i);
        put_map(buffer, sequence->map_values[i]);
        rest.n_map_values = 0;
    }
    for (size_t i = 0; sequence->elem_type == KIND_OPTIONAL && i < sequence->n_optional_values;
         i++) {
        put_gap(buffer, i);
        put_optional(buffer, sequence->optional_values[i]);
        rest.n_optional_values = 0;
    }
    put(buffer, "]");
    rest.name = NULL;
    rest.has_elem_type = rest.has_elem_type && !*kind;
    put_rest(buffer, &rest.base);
}

static void put_optional(struct buffer *buffer, const Onnx__OptionalProto *optional)
{
    Onnx__OptionalProto rest = *optional;
    const char *kind = get_kind(optional->has_elem_type, optional->elem_type);
    put_head(buffer, "optional", kind, optional->name);
    if (optional->elem_type == KIND_TENSOR && optional->tensor_value) {
        put_tensor(buffer, optional->tensor_value);
        rest.tensor_value = NULL;
    } else if (optional->elem_type == KIND_SEQUENCE && optional->sequence_value) {
        put_sequence(buffer, optional->sequence_value);
        rest.sequence_value = NULL;
    } else if (optional->elem_type == KIND_MAP && optional->map_value) {
        put_map(buffer, optional->map_value);
        rest.map_value = NULL;
    } else if (optional->elem_type == KIND_OPTIONAL && optional->optional_value) {
        put_optional(buffer, optional->optional_value);
        rest.optional_value = NULL;
    } else {
        put(buffer, "none");
    }
    rest.name = NULL;
    rest.has_elem_type = rest.has_elem_type && !*kind;
    put_rest(buffer, &rest.base);
}

static void put_map(struct buffer *buffer, const Onnx__MapProto *map)
{
    Onnx__MapProto rest = *map;
    const struct element *element = map->has_key_type ? get_element(map->key_type) : NULL;
    put_head(buffer, "map", element ? element->name : "", map->name);
    put(buffer, "{");
    for (size_t i = 0; i < map->n_keys; i++) {
        put_format(buffer, "%s%lld", i ? ", " : "", (long long)map->keys[i]);
    }
    for (size_t i = 0; i < map->n_string_keys; i++) {
        put(buffer, i ? ", " : "");
        put_text(buffer, map->string_keys[i].data, map->string_keys[i].len);
    }
    put(buffer, "}");
    if (map->values) {
        put(buffer, " ");
        put_sequence(buffer, map->values);
    }
    rest.name = NULL;
    rest.has_key_type = rest.has_key_type && !element;
    rest.n_keys = rest.n_string_keys = 0;
    rest.values = NULL;
    put_rest(buffer, &rest.base);
}

/* What a file can hold, in the order in which they are tried. */
static const struct {
    const ProtobufCMessageDescriptor *message;
    Onnx__TypeProto__ValueCase type;
} contents[] = {{&onnx__tensor_proto__descriptor, ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE},
                {&onnx__sequence_proto__descriptor, ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE},
                {&onnx__optional_proto__descriptor, ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE},
                {&onnx__map_proto__descriptor, ONNX__TYPE_PROTO__VALUE_MAP_TYPE}};

static void put_content(struct buffer *buffer, const ProtobufCMessage *message)
{
    if (message->descriptor == &onnx__tensor_proto__descriptor) {
        put_tensor(buffer, (const Onnx__TensorProto *)message);
    } else if (message->descriptor == &onnx__sequence_proto__descriptor) {
        put_sequence(buffer, (const Onnx__SequenceProto *)message);
    } else if (message->descriptor == &onnx__optional_proto__descriptor) {
        put_optional(buffer, (const Onnx__OptionalProto *)message);
    } else {
        put_map(buffer, (const Onnx__MapProto *)message);
    }
}

/* Writes the bytes as a message, when the text gives them again. */
static bool put_as(struct buffer *buffer, const ProtobufCMessageDescriptor *descriptor,
                   const struct buffer *bytes)
{
    ProtobufCMessage *message =
        protobuf_c_message_unpack(descriptor, NULL, bytes->size, (const uint8_t *)bytes->data);
    if (!message || !packs_to(message, bytes)) {
        return false;
    }
    struct buffer text = {0}, again = {0};
    put_content(&text, message);
    put(&text, "\n");
    struct lexer lexer = {"the text of a sample", text.data, text.data + text.size, 1};
    read_sample(&lexer, &again);
    if (!is_same(&again, bytes)) {
        return false;
    }
    put_bytes(buffer, text.data, text.size);
    return true;
}

/* The length that a varint at FROM says, and where it ends; false where there is none. */
static bool read_length(const struct buffer *bytes, size_t *from, size_t *length)
{
    *length = 0;
    for (int shift = 0; shift < 35 && *from < bytes->size; shift += 7) {
        unsigned char byte = (unsigned char)bytes->data[(*from)++];
        *length |= (size_t)(byte & 127) << shift;
        if (byte < 128) {
            return true;
        }
    }
    return false;
}

enum { NESTING = 0x2a }; /* the field sequence_values */

/* How many lists hold nothing but a list each, from the outside; what is in them begins at *BEGIN.
 */
static size_t count_nested(const struct buffer *bytes, size_t *begin)
{
    size_t n = 0, at = 0, length;
    *begin = 0;
    while (at < bytes->size && bytes->data[at++] == NESTING && read_length(bytes, &at, &length) &&
           at + length == bytes->size) {
        *begin = at;
        n++;
    }
    return n;
}

bool put_sample(struct buffer *buffer, const struct buffer *bytes, const Onnx__TypeProto *type)
{
    size_t begin, n = count_nested(bytes, &begin);
    if (n > 20) {
        struct buffer inner = {0};
        put_bytes(&inner, bytes->data + begin, bytes->size - begin);
        put_format(buffer, "nested %zu ", n);
        return put_as(buffer, &onnx__sequence_proto__descriptor, &inner);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
            bool is_wanted = type && type->value_case == contents[i].type;
            if (is_wanted == (pass == 0) && put_as(buffer, contents[i].message, bytes)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- reading ---- */

/* (KIND) NAME =, behind the word; the kind, or an empty text. */
static char *read_head(struct lexer *lexer, char **name)
{
    expect(lexer, "(");
    char *kind = is_name_next(lexer) ? read_name(lexer) : copy_bytes("", 0);
    expect(lexer, ")");
    *name = is_name_next(lexer) ? read_name(lexer) : NULL;
    expect(lexer, "=");
    return kind;
}

/* The number of a kind; 0: none was written. */
static int find_kind(struct lexer *lexer, const char *word)
{
    for (int i = 1; i < N_KINDS; i++) {
        if (!strcmp(word, kinds[i])) {
            return i;
        }
    }
    if (*word) {
        fail_at(lexer, "no such kind of elements: '%s'", word);
    }
    return 0;
}

static Onnx__SequenceProto *read_sequence(struct lexer *lexer)
{
    Onnx__SequenceProto *sequence = new_message(&onnx__sequence_proto__descriptor);
    int kind = find_kind(lexer, read_head(lexer, &sequence->name));
    sequence->has_elem_type = kind > 0;
    sequence->elem_type = kind;
    expect(lexer, "[");
    while (!accept(lexer, "]")) {
        if (accept_word(lexer, "seq")) {
            add_item(&sequence->sequence_values, &sequence->n_sequence_values,
                     read_sequence(lexer));
        } else if (accept_word(lexer, "optional")) {
            add_item(&sequence->optional_values, &sequence->n_optional_values,
                     read_optional(lexer));
        } else if (accept_word(lexer, "map")) {
            add_item(&sequence->map_values, &sequence->n_map_values, read_map(lexer));
        } else {
            add_item(&sequence->tensor_values, &sequence->n_tensor_values, read_tensor(lexer));
        }
        accept(lexer, ",");
    }
    read_rest(lexer, &sequence->base);
    return sequence;
}

static Onnx__OptionalProto *read_optional(struct lexer *lexer)
{
    Onnx__OptionalProto *optional = new_message(&onnx__optional_proto__descriptor);
    int kind = find_kind(lexer, read_head(lexer, &optional->name));
    optional->has_elem_type = kind > 0;
    optional->elem_type = kind;
    if (accept_word(lexer, "seq")) {
        optional->sequence_value = read_sequence(lexer);
    } else if (accept_word(lexer, "optional")) {
        optional->optional_value = read_optional(lexer);
    } else if (accept_word(lexer, "map")) {
        optional->map_value = read_map(lexer);
    } else if (!accept_word(lexer, "none")) {
        optional->tensor_value = read_tensor(lexer);
    }
    read_rest(lexer, &optional->base);
    return optional;
}

static void add_key(struct lexer *lexer, Onnx__MapProto *map)
{
    if (peek(lexer) == '"') {
        map->string_keys =
            realloc(map->string_keys, (map->n_string_keys + 1) * sizeof *map->string_keys);
        ProtobufCBinaryData *key = &map->string_keys[map->n_string_keys++];
        key->data = (uint8_t *)read_text(lexer, &key->len);
    } else {
        map->keys = realloc(map->keys, (map->n_keys + 1) * sizeof *map->keys);
        map->keys[map->n_keys++] = read_integer(lexer);
    }
}

static Onnx__MapProto *read_map(struct lexer *lexer)
{
    Onnx__MapProto *map = new_message(&onnx__map_proto__descriptor);
    char *kind = read_head(lexer, &map->name);
    map->has_key_type = *kind != 0;
    if (*kind && !find_element(kind)) {
        fail_at(lexer, "no such type of keys: '%s'", kind);
    }
    map->key_type = *kind ? find_element(kind)->id : 0;
    expect(lexer, "{");
    while (!accept(lexer, "}")) {
        add_key(lexer, map);
        accept(lexer, ",");
    }
    if (accept_word(lexer, "seq")) {
        map->values = read_sequence(lexer);
    }
    read_rest(lexer, &map->base);
    return map;
}

/* Puts N lists around the message in BYTES. */
static void nest(struct buffer *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        struct buffer outer = {0};
        unsigned char byte = NESTING;
        put_bytes(&outer, &byte, 1);
        for (size_t length = bytes->size; length || outer.size == 1; length >>= 7) {
            byte = (unsigned char)((length & 127) | (length > 127 ? 128 : 0));
            put_bytes(&outer, &byte, 1);
        }
        put_bytes(&outer, bytes->data, bytes->size);
        free(bytes->data);
        *bytes = outer;
    }
}

void read_sample(struct lexer *lexer, struct buffer *bytes)
{
    if (accept_word(lexer, "nested")) {
        int64_t n = read_integer(lexer);
        read_sample(lexer, bytes);
        nest(bytes, n);
    } else if (accept_word(lexer, "seq")) {
        put_packed(bytes, &read_sequence(lexer)->base);
    } else if (accept_word(lexer, "optional")) {
        put_packed(bytes, &read_optional(lexer)->base);
    } else if (accept_word(lexer, "map")) {
        put_packed(bytes, &read_map(lexer)->base);
    } else {
        put_packed(bytes, &read_tensor(lexer)->base);
    }
}

/* ---- packed messages ---- */

void put_packed(struct buffer *bytes, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = new_memory(size);
    protobuf_c_message_pack(message, packed);
    put_bytes(bytes, packed, size);
    free(packed);
}

bool packs_to(const ProtobufCMessage *message, const struct buffer *bytes)
{
    struct buffer packed = {0};
    put_packed(&packed, message);
    bool is = is_same(&packed, bytes);
    free(packed.data);
    return is;
}

/* ---- .npy files ---- */

/* NumPy's name of each type that it has. */
static const struct {
    const char *element, *npy;
} npy_types[] = {{"float", "<f4"},     {"double", "<f8"},     {"float16", "<f2"}, {"int8", "|i1"},
                 {"int16", "<i2"},     {"int32", "<i4"},      {"int64", "<i8"},   {"uint8", "|u1"},
                 {"uint16", "<u2"},    {"uint32", "<u4"},     {"uint64", "<u8"},  {"bool", "|b1"},
                 {"complex64", "<c8"}, {"complex128", "<c16"}};
enum { N_NPY_TYPES = sizeof npy_types / sizeof *npy_types };

static void put_npy_head(struct buffer *bytes, const char *type, const Onnx__TensorProto *tensor)
{
    struct buffer head = {0};
    put_format(&head, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (size_t i = 0; i < tensor->n_dims; i++) {
        put_format(&head, "%s%lld", i ? ", " : "", (long long)tensor->dims[i]);
    }
    put(&head, tensor->n_dims == 1 ? ",), }" : "), }");
    while ((head.size + 11) % 64) {
        put(&head, " ");
    }
    put(&head, "\n");
    uint16_t size = (uint16_t)head.size;
    put_bytes(bytes, "\x93NUMPY\x01\0", 8);
    put_bytes(bytes, &size, sizeof size);
    put_bytes(bytes, head.data, head.size);
}

void read_npy(struct lexer *lexer, struct buffer *bytes)
{
    Onnx__TensorProto *tensor = read_tensor(lexer);
    const struct element *element = get_element(tensor->data_type);
    for (size_t i = 0; element && tensor->has_raw_data && i < N_NPY_TYPES; i++) {
        if (!strcmp(npy_types[i].element, element->name)) {
            put_npy_head(bytes, npy_types[i].npy, tensor);
            put_bytes(bytes, tensor->raw_data.data, tensor->raw_data.len);
            return;
        }
    }
    fail_at(lexer, "a .npy file cannot hold this tensor");
}

/* The tensor in a .npy file; false where it is none of those that are written. */
static bool parse_npy(const struct buffer *bytes, Onnx__TensorProto *tensor)
{
    char type[8];
    int at = 0;
    if (bytes->size < 74 ||
        sscanf(bytes->data + 10, "{'descr': '%7[^']', 'fortran_order': False, 'shape': (%n", type,
               &at) < 1 ||
        !at) {
        return false;
    }
    for (size_t i = 0; i < N_NPY_TYPES; i++) {
        if (!strcmp(npy_types[i].npy, type)) {
            tensor->has_data_type = 1;
            tensor->data_type = find_element(npy_types[i].element)->id;
        }
    }
    char *next = bytes->data + 10 + at;
    tensor->dims = new_memory(32 * sizeof *tensor->dims);
    while (*next != ')' && tensor->n_dims < 32) {
        tensor->dims[tensor->n_dims++] = strtoll(next, &next, 10);
        next += strspn(next, ", ");
    }
    const char *data = memchr(next, '\n', bytes->size - (size_t)(next - bytes->data));
    tensor->has_raw_data = data != NULL;
    tensor->raw_data.data = data ? (uint8_t *)bytes->data + (data + 1 - bytes->data) : NULL;
    tensor->raw_data.len = data ? bytes->size - (size_t)(data + 1 - bytes->data) : 0;
    return data && tensor->has_data_type;
}

bool put_npy(struct buffer *buffer, const struct buffer *bytes)
{
    Onnx__TensorProto tensor = ONNX__TENSOR_PROTO__INIT;
    struct buffer text = {0}, again = {0};
    if (!parse_npy(bytes, &tensor)) {
        return false;
    }
    put_tensor(&text, &tensor);
    put(&text, "\n");
    if (strstr(text.data, "raw_data")) {
        return false;
    }
    struct lexer lexer = {"the text of a .npy file", text.data, text.data + text.size, 1};
    read_npy(&lexer, &again);
    if (is_same(&again, bytes)) {
        put_bytes(buffer, text.data, text.size);
        return true;
    }
    return false;
}

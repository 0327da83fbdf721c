/* Any protobuf message as text, by its descriptor: `name: value` for scalars, texts and bytes,
   `name {fields}` for messages, once for each of a repeated field, `NUMBER/WIRE: "bytes"` for
   fields that the descriptor does not have. Two lists have a notation of their own, as in ONNX's
   text: operator sets, ["" : 17], and entries of text, ["key": "value"]. What has a better notation
   (nodes, tensors, types) is taken out of a copy of the message before it comes here. */
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "onnx.pb-c.h"

typedef const ProtobufCFieldDescriptor field_type;

void *new_message(const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = new_memory(type->sizeof_message);
    type->message_init(message);
    return message;
}

static const void *get_member(const ProtobufCMessage *message, size_t offset)
{
    return (const char *)message + offset;
}

static void *get_place(ProtobufCMessage *message, size_t offset)
{
    return (char *)message + offset;
}

/* The element type whose numbers a field's are; NULL: none. */
static const struct element *get_numbers(field_type *field)
{
    static const struct {
        ProtobufCType type;
        const char *name;
    } names[] = {{PROTOBUF_C_TYPE_INT32, "int32"}, {PROTOBUF_C_TYPE_ENUM, "int32"},
                 {PROTOBUF_C_TYPE_INT64, "int64"}, {PROTOBUF_C_TYPE_UINT64, "uint64"},
                 {PROTOBUF_C_TYPE_FLOAT, "float"}, {PROTOBUF_C_TYPE_DOUBLE, "double"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].type == field->type) {
            return find_element(names[i].name);
        }
    }
    return NULL;
}

static size_t get_size(field_type *field)
{
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        return sizeof(ProtobufCBinaryData);
    }
    if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE) {
        return sizeof(void *);
    }
    return get_numbers(field) ? (size_t)get_numbers(field)->bits / 8 : 4;
}

static bool is_pointer(field_type *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* How many values the field has. */
static size_t count_values(const ProtobufCMessage *message, field_type *field)
{
    const void *quantifier = get_member(message, field->quantifier_offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return *(const size_t *)quantifier;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        return *(const uint32_t *)quantifier == field->id;
    }
    if (is_pointer(field)) {
        return *(void *const *)get_member(message, field->offset) != NULL;
    }
    return *(const protobuf_c_boolean *)quantifier != 0;
}

static const void *get_value(const ProtobufCMessage *message, field_type *field, size_t i)
{
    const void *member = get_member(message, field->offset);
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        return member;
    }
    return *(const char *const *)member + i * get_size(field);
}

bool has_fields(const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        if (count_values(message, &message->descriptor->fields[i])) {
            return true;
        }
    }
    return message->n_unknown_fields > 0;
}

/* ---- writing ---- */

static void put_value(struct buffer *buffer, field_type *field, const void *value)
{
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text = *(char *const *)value;
        put_text(buffer, text, strlen(text));
    } else if (field->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *bytes = value;
        put_text(buffer, bytes->data, bytes->len);
    } else if (get_numbers(field)) {
        put_number(buffer, get_numbers(field), get_bits(get_numbers(field), value, 0));
    } else {
        die("field %s has a type that the tool does not write", field->name);
    }
}

/* Whether all values of a list of operator sets or entries have what their notation shows. */
static bool is_list(const ProtobufCMessage *message, field_type *field, size_t n)
{
    const ProtobufCMessageDescriptor *type = field->descriptor;
    if (type != &onnx__operator_set_id_proto__descriptor &&
        type != &onnx__string_string_entry_proto__descriptor) {
        return false;
    }
    bool is_set = type == &onnx__operator_set_id_proto__descriptor;
    for (size_t i = 0; i < n; i++) {
        const ProtobufCMessage *item = *(ProtobufCMessage *const *)get_value(message, field, i);
        const Onnx__StringStringEntryProto *entry = (const void *)item;
        const Onnx__OperatorSetIdProto *set = (const void *)item;
        if (item->n_unknown_fields ||
            !(is_set ? set->has_version != 0 : entry->key && entry->value)) {
            return false;
        }
    }
    return true;
}

static void put_list(struct buffer *buffer, const ProtobufCMessage *message, field_type *field,
                     size_t n)
{
    put_format(buffer, "%s: [", field->name);
    for (size_t i = 0; i < n; i++) {
        const void *item = *(ProtobufCMessage *const *)get_value(message, field, i);
        put(buffer, i ? ", " : "");
        if (field->descriptor == &onnx__operator_set_id_proto__descriptor) {
            const Onnx__OperatorSetIdProto *set = item;
            if (set->domain) {
                put_text(buffer, set->domain, strlen(set->domain));
                put(buffer, " : ");
            }
            put_format(buffer, "%lld", (long long)set->version);
        } else {
            const Onnx__StringStringEntryProto *entry = item;
            put_text(buffer, entry->key, strlen(entry->key));
            put(buffer, ": ");
            put_text(buffer, entry->value, strlen(entry->value));
        }
    }
    put(buffer, "]");
}

static void put_unknown(struct buffer *buffer, const ProtobufCMessageUnknownField *field)
{
    put_format(buffer, "%u/%d: ", field->tag, (int)field->wire_type);
    put_text(buffer, field->data, field->len);
}

static void put_field(struct buffer *buffer, const ProtobufCMessage *message, field_type *field,
                      size_t n)
{
    if (field->type == PROTOBUF_C_TYPE_MESSAGE && is_list(message, field, n)) {
        put_list(buffer, message, field, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const void *value = get_value(message, field, i);
        put_format(buffer, "%s%s", i ? ", " : "", field->name);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            const ProtobufCMessage *inner = *(ProtobufCMessage *const *)value;
            put_fields(buffer, inner, " {", "}");
            put(buffer, has_fields(inner) ? "" : " {}");
        } else {
            put(buffer, ": ");
            put_value(buffer, field, value);
        }
    }
}

void put_fields(struct buffer *buffer, const ProtobufCMessage *message, const char *open,
                const char *close)
{
    if (!has_fields(message)) {
        return;
    }
    const char *before = open;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        field_type *field = &message->descriptor->fields[i];
        size_t n = count_values(message, field);
        if (n) {
            put(buffer, before);
            put_field(buffer, message, field, n);
            before = ", ";
        }
    }
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        put(buffer, before);
        put_unknown(buffer, &message->unknown_fields[i]);
        before = ", ";
    }
    put(buffer, close);
}

void put_rest(struct buffer *buffer, const ProtobufCMessage *message)
{
    put_fields(buffer, message, " @{", "}");
}

/* ---- reading ---- */

/* Room for one more value of the field, which has it from here on. */
static void *make_room(ProtobufCMessage *message, field_type *field)
{
    void *quantifier = get_place(message, field->quantifier_offset),
         *member = get_place(message, field->offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t *n = quantifier, size = get_size(field);
        char **items = member;
        *items = realloc(*items, (*n + 1) * size);
        if (!*items) {
            die("out of memory");
        }
        return *items + size * (*n)++;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        *(uint32_t *)quantifier = field->id;
    } else if (!is_pointer(field)) {
        *(protobuf_c_boolean *)quantifier = 1;
    }
    return member;
}

static void read_value(struct lexer *lexer, field_type *field, void *place)
{
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        *(char **)place = read_text(lexer, NULL);
    } else if (field->type == PROTOBUF_C_TYPE_BYTES) {
        ProtobufCBinaryData *bytes = place;
        bytes->data = (uint8_t *)read_text(lexer, &bytes->len);
    } else {
        const struct element *numbers = get_numbers(field);
        char *word = read_word(lexer);
        uint64_t bits;
        if (!numbers || !read_number(numbers, word, &bits)) {
            fail_at(lexer, "'%s' is no value of %s", word, field->name);
        }
        memcpy(place, &bits, (size_t)numbers->bits / 8);
    }
}

static void read_item(struct lexer *lexer, field_type *field, ProtobufCMessage *item)
{
    if (field->descriptor == &onnx__operator_set_id_proto__descriptor) {
        Onnx__OperatorSetIdProto *set = (Onnx__OperatorSetIdProto *)item;
        if (peek(lexer) == '"') {
            set->domain = read_text(lexer, NULL);
            expect(lexer, ":");
        }
        set->version = read_integer(lexer);
        set->has_version = 1;
    } else {
        Onnx__StringStringEntryProto *entry = (Onnx__StringStringEntryProto *)item;
        entry->key = read_text(lexer, NULL);
        expect(lexer, ":");
        entry->value = read_text(lexer, NULL);
    }
}

static void read_list(struct lexer *lexer, ProtobufCMessage *message, field_type *field)
{
    while (!accept(lexer, "]")) {
        ProtobufCMessage *item = new_message(field->descriptor);
        read_item(lexer, field, item);
        *(ProtobufCMessage **)make_room(message, field) = item;
        accept(lexer, ",");
    }
}

/* A field without a name: NUMBER/WIRE: "bytes". */
static void read_unknown(struct lexer *lexer, ProtobufCMessage *message)
{
    ProtobufCMessageUnknownField field = {0};
    field.tag = (uint32_t)read_integer(lexer);
    expect(lexer, "/");
    field.wire_type = (ProtobufCWireType)read_integer(lexer);
    expect(lexer, ":");
    field.data = (uint8_t *)read_text(lexer, &field.len);
    unsigned n = message->n_unknown_fields++;
    ProtobufCMessageUnknownField *fields = new_memory((n + 1) * sizeof *fields);
    if (n) {
        memcpy(fields, message->unknown_fields, n * sizeof *fields);
    }
    fields[n] = field;
    message->unknown_fields = fields;
}

static void read_field(struct lexer *lexer, ProtobufCMessage *message)
{
    char *name = read_name(lexer);
    field_type *field = protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    if (!field) {
        fail_at(lexer, "%s has no field '%s'", message->descriptor->short_name, name);
    }
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
        expect(lexer, ":");
        read_value(lexer, field, make_room(message, field));
    } else if (accept(lexer, ":")) {
        expect(lexer, "[");
        read_list(lexer, message, field);
    } else {
        ProtobufCMessage *inner = new_message(field->descriptor);
        expect(lexer, "{");
        read_fields(lexer, inner, "}");
        *(ProtobufCMessage **)make_room(message, field) = inner;
    }
}

void read_fields(struct lexer *lexer, ProtobufCMessage *message, const char *close)
{
    while (!accept(lexer, close)) {
        if (is_name_next(lexer)) {
            read_field(lexer, message);
        } else {
            read_unknown(lexer, message);
        }
        accept(lexer, ",");
    }
}

void read_rest(struct lexer *lexer, ProtobufCMessage *message)
{
    if (accept(lexer, "@{")) {
        read_fields(lexer, message, "}");
    }
}

/* ---- comparing ---- */

bool are_equal(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
    struct buffer bytes_a = {0}, bytes_b = {0};
    bytes_a.size = protobuf_c_message_get_packed_size(a);
    bytes_b.size = protobuf_c_message_get_packed_size(b);
    bytes_a.data = new_memory(bytes_a.size);
    bytes_b.data = new_memory(bytes_b.size);
    protobuf_c_message_pack(a, (uint8_t *)bytes_a.data);
    protobuf_c_message_pack(b, (uint8_t *)bytes_b.data);
    bool equal = is_same(&bytes_a, &bytes_b);
    free(bytes_a.data);
    free(bytes_b.data);
    return equal;
}

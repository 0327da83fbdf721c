/*
 * From bytes to protobuf-c messages without copying tensor data. The bytes are walked once: the
 * walk checks lengths and nesting and writes a slim copy in which each tensor's raw_data is
 * replaced by a reference (offset and length) into the original. protobuf-c parses the slim copy;
 * then the references are resolved. Takes any bytes; what it gives is a message by its wire format,
 * not yet a model that makes sense.
 */
#include "onnx/file/wire.h"

#include "onnx.pb-c.h"

#include <string.h>

/* A nested message's length is written after its content is known, in a varint of fixed width. */
enum { LENGTH_WIDTH = 5, RAW_DATA_FIELD = 9 };

/* Protobuf joins what a field that is not repeated is given several times, anew each time. Not
   protobuf-c where the field is one of several of which one is set: there the last one is all that
   it keeps. */
enum { FIELDS_MAX = 64, JOINED_MAX = 8 };

/* The message that is being walked through. */
struct level {
    const ProtobufCMessageDescriptor *type;
    size_t end;                       /* the offset behind it */
    int depth;                        /* 0: the whole */
    unsigned char counts[FIELDS_MAX]; /* how often each field was there */
};

/* Where in the original a tensor's raw_data are. */
struct reference {
    uint64_t offset, size;
};

struct scan {
    const uint8_t *data;   /* the original */
    size_t at;             /* offset of the next byte */
    uint8_t *slim;         /* the copy */
    size_t used, capacity; /* bytes of it */
    struct amp_arena *arena;
    struct amp_error *err;
};

static void append(struct scan *scan, const void *bytes, size_t size)
{
    if (scan->capacity - scan->used < size) {
        size_t capacity = scan->capacity * 2 + size;
        uint8_t *grown = amp_arena_alloc(scan->arena, capacity);
        if (scan->used > 0)
            memcpy(grown, scan->slim, scan->used);
        amp_arena_release(scan->arena, scan->slim, scan->capacity);
        scan->slim = grown;
        scan->capacity = capacity;
    }
    memcpy(scan->slim + scan->used, bytes, size);
    scan->used += size;
}

/* Writes LENGTH as a varint of LENGTH_WIDTH bytes. */
static void put_length(uint8_t *to, size_t length)
{
    for (int i = 0; i < LENGTH_WIDTH; i++, length >>= 7)
        to[i] = (uint8_t)((length & 0x7F) | (i < LENGTH_WIDTH - 1 ? 0x80 : 0));
}

static enum amp_status fail_at(struct scan *scan, size_t offset, const char *what)
{
    return amp_fail(scan->err, AMP_MODEL, "not a valid protobuf message: %s at byte %zu", what,
                    offset);
}

/* Reads a number that ends before END. */
static enum amp_status get_varint(struct scan *scan, size_t end, uint64_t *value)
{
    size_t start = scan->at;
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (scan->at == end)
            return fail_at(scan, start, "a truncated number");
        uint8_t byte = scan->data[scan->at++];
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return AMP_OK;
    }
    return fail_at(scan, start, "a number of more than ten bytes");
}

static enum amp_status scan_message(struct scan *scan, struct level *level);

/* A field of LEVEL that is a message of TYPE and LENGTH bytes: its content goes through the scan.
 */
static enum amp_status scan_nested(struct scan *scan, const struct level *level,
                                   const ProtobufCMessageDescriptor *type, size_t length)
{
    static const uint8_t room[LENGTH_WIDTH];
    if (level->depth == AMP_WIRE_DEPTH_MAX)
        return amp_fail(scan->err, AMP_MODEL,
                        "messages nested more than %d deep, as 64 subgraphs would be, at byte %zu",
                        AMP_WIRE_DEPTH_MAX, scan->at);
    size_t start = scan->used;
    append(scan, room, sizeof room);
    struct level inner = {.type = type, .end = scan->at + length, .depth = level->depth + 1};
    AMP_TRY(scan_message(scan, &inner));
    put_length(scan->slim + start, scan->used - start - LENGTH_WIDTH);
    return AMP_OK;
}

/* A text becomes a string that a NUL ends: with one inside it would be read as another text. */
static enum amp_status check_text(const struct scan *scan, const ProtobufCMessageDescriptor *type,
                                  const ProtobufCFieldDescriptor *field, size_t length)
{
    if (field == NULL || field->type != PROTOBUF_C_TYPE_STRING || length == 0 ||
        memchr(scan->data + scan->at, '\0', length) == NULL)
        return AMP_OK;
    return amp_fail(scan->err, AMP_MODEL,
                    "%s of %s at byte %zu has a NUL in it; accepted: text without", field->name,
                    type->short_name, scan->at);
}

/* Puts a reference to the next LENGTH bytes in their place. */
static void refer(struct scan *scan, size_t length)
{
    uint8_t width[LENGTH_WIDTH];
    struct reference reference = {scan->at, length};
    put_length(width, sizeof reference);
    append(scan, width, sizeof width);
    append(scan, &reference, sizeof reference);
    scan->at += length;
}

/* Counts a field that holds a message, and refuses it when it was there too often. */
static enum amp_status count_field(const struct scan *scan, struct level *level,
                                   const ProtobufCFieldDescriptor *field)
{
    size_t index = (size_t)(field - level->type->fields);
    int most = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 ? 1 : JOINED_MAX;
    if (field->label == PROTOBUF_C_LABEL_REPEATED || index >= FIELDS_MAX ||
        level->counts[index]++ < most)
        return AMP_OK;
    return amp_fail(scan->err, AMP_MODEL,
                    "field %s of %s at byte %zu is there more than %d time%s; it holds one message",
                    field->name, level->type->short_name, scan->at, most, most == 1 ? "" : "s");
}

/* A field that begins with its length: a message, a text, bytes, packed numbers. */
static enum amp_status scan_length(struct scan *scan, struct level *level, unsigned field_number)
{
    const ProtobufCMessageDescriptor *type = level->type;
    size_t start = scan->at;
    uint64_t length;
    AMP_TRY(get_varint(scan, level->end, &length));
    if (length > level->end - scan->at)
        return amp_fail(scan->err, AMP_MODEL,
                        "truncated: field %u of %s at byte %zu has %llu bytes, but %zu follow",
                        field_number, type->short_name, start, (unsigned long long)length,
                        level->end - scan->at);
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(type, field_number);
    if (field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE) {
        AMP_TRY(count_field(scan, level, field));
        return scan_nested(scan, level, field->descriptor, (size_t)length);
    }
    if (type == &onnx__tensor_proto__descriptor && field_number == RAW_DATA_FIELD) {
        refer(scan, (size_t)length);
        return AMP_OK;
    }
    AMP_TRY(check_text(scan, type, field, (size_t)length));
    scan->at += (size_t)length;
    append(scan, scan->data + start, scan->at - start);
    return AMP_OK;
}

static enum amp_status scan_fixed(struct scan *scan, size_t size, size_t end)
{
    if (end - scan->at < size)
        return fail_at(scan, scan->at, "a truncated number");
    append(scan, scan->data + scan->at, size);
    scan->at += size;
    return AMP_OK;
}

static enum amp_status scan_field(struct scan *scan, struct level *level)
{
    size_t start = scan->at, end = level->end;
    uint64_t tag, number;
    AMP_TRY(get_varint(scan, end, &tag));
    if (tag >> 3 == 0 || tag >> 3 > AMP_WIRE_FIELD_MAX)
        return fail_at(scan, start, "a wrong field number");
    append(scan, scan->data + start, scan->at - start);
    size_t value = scan->at;
    switch (tag & 7) {
    case AMP_WIRE_VARINT:
        AMP_TRY(get_varint(scan, end, &number));
        append(scan, scan->data + value, scan->at - value);
        return AMP_OK;
    case AMP_WIRE_FIXED64:
        return scan_fixed(scan, 8, end);
    case AMP_WIRE_LENGTH:
        return scan_length(scan, level, (unsigned)(tag >> 3));
    case AMP_WIRE_FIXED32:
        return scan_fixed(scan, 4, end);
    default:
        return fail_at(scan, start, "an unknown wire type");
    }
}

static enum amp_status scan_message(struct scan *scan, struct level *level)
{
    while (scan->at < level->end)
        AMP_TRY(scan_field(scan, level));
    return AMP_OK;
}

static void *allocate(void *arena, size_t size)
{
    return amp_arena_alloc(arena, size);
}

static void release(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

size_t amp_wire_items(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                      ProtobufCMessage *const **items)
{
    unsigned char *base = (unsigned char *)message;
    const void *quantifier = base + field->quantifier_offset;
    *items = (ProtobufCMessage *const *)(void *)(base + field->offset);
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return 0;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        *items = *(ProtobufCMessage *const *const *)(void *)(base + field->offset);
        return *(const size_t *)quantifier;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && *(const uint32_t *)quantifier != field->id)
        return 0;
    return **items != NULL;
}

/* Turns the references of all tensors in MESSAGE into pointers. */
static void resolve(ProtobufCMessage *message, uint8_t *data)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &onnx__tensor_proto__descriptor) {
        Onnx__TensorProto *tensor = (Onnx__TensorProto *)message;
        struct reference reference;
        if (tensor->has_raw_data) {
            memcpy(&reference, tensor->raw_data.data, sizeof reference);
            tensor->raw_data.data = data + reference.offset;
            tensor->raw_data.len = reference.size;
        }
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        ProtobufCMessage *const *items;
        size_t count = amp_wire_items(message, &type->fields[i], &items);
        for (size_t k = 0; k < count; k++)
            resolve(items[k], data);
    }
}

ProtobufCMessage *amp_wire_parse(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t size,
                                 struct amp_arena *arena, struct amp_error *err)
{
    struct scan scan = {.data = data, .arena = arena, .err = err};
    struct level whole = {.type = type, .end = size};
    ProtobufCMessage *message = NULL;
    if (scan_message(&scan, &whole) == AMP_OK) {
        ProtobufCAllocator allocator = {allocate, release, arena};
        message =
            protobuf_c_message_unpack(type, &allocator, scan.used, scan.slim ? scan.slim : data);
        if (message == NULL)
            amp_error_record(err, AMP_MODEL, "not a valid %s message", type->name);
        else
            resolve(message, data);
    }
    amp_arena_release(arena, scan.slim, scan.capacity);
    return message;
}

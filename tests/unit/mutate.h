#ifndef AMP_TESTS_MUTATE_H
#define AMP_TESTS_MUTATE_H

/*
 * Edits a parsed model so that it is still a protobuf message but no longer the model that it was.
 * The edits go by protobuf-c's descriptors: every field of every message can be changed, emptied,
 * repeated, reordered or replaced by one of its kind from elsewhere in the model. All memory is the
 * arena's.
 */
#include "chance.h"
#include "core/arena.h"
#include "core/dtype.h"
#include "onnx/schema/schema.h"
#include "onnx/file/wire.h"

#include "onnx.pb-c.h"

#include <stdint.h>
#include <string.h>

struct mutator {
    struct amp_arena *arena;
    uint64_t *state;
    Onnx__ModelProto *model;
    ProtobufCMessage **parts; /* the model and every message in it, as of the last collect() */
    size_t n_parts, parts_capacity;
};

/* ---- reading messages by descriptor ---------------------------------------------------------- */

static void *member(const ProtobufCMessage *message, size_t offset)
{
    return (unsigned char *)(uintptr_t)message + offset;
}

static size_t field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return *(size_t *)member(message, field->quantifier_offset);
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *(uint32_t *)member(message, field->quantifier_offset) == field->id;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING)
        return *(void **)member(message, field->offset) != NULL;
    return 1;
}

static size_t item_size(const ProtobufCFieldDescriptor *field)
{
    switch ((int)field->type) {
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

/* Item I of the field. */
static void *item_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                     size_t i)
{
    unsigned char *base = member(message, field->offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        base = *(unsigned char **)(void *)base;
    return base + i * item_size(field);
}

static void collect_from(struct mutator *m, ProtobufCMessage *message)
{
    ProtobufCMessage **slot =
        amp_arena_push(m->arena, &m->parts, &m->n_parts, &m->parts_capacity, sizeof *slot);
    *slot = message;
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[f];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        for (size_t i = 0; i < field_count(message, field); i++)
            collect_from(m, *(ProtobufCMessage **)item_at(message, field, i));
    }
}

static void collect(struct mutator *m)
{
    m->n_parts = 0;
    collect_from(m, &m->model->base);
}

/* A random message of TYPE; NULL when there is none. */
static void *pick_part(struct mutator *m, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *picked = NULL;
    size_t n = 0;
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i]->descriptor == type && one_in(m->state, ++n))
            picked = m->parts[i];
    return picked;
}

/* A copy that shares nothing with MESSAGE, so that nothing comes to contain itself. */
static ProtobufCMessage *clone(struct mutator *m, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = amp_arena_alloc(m->arena, size + 1);
    struct amp_error err = {.status = AMP_OK};
    protobuf_c_message_pack(message, bytes);
    return amp_wire_parse(message->descriptor, bytes, size, m->arena, &err);
}

/* ---- values ---------------------------------------------------------------------------------- */

static char *odd_name(struct mutator *m)
{
    size_t length = one_in(m->state, 3) ? 5000 : below(m->state, 4);
    char *text = amp_arena_alloc(m->arena, length + 1);
    static const char letters[] = "Xx/.:%s\x1b\n\"'\\=*?[ \x80\xff";
    for (size_t i = 0; i < length; i++)
        text[i] = letters[below(m->state, sizeof letters - 1)];
    return text;
}

/* The same field of another message of the type, as often as there is one. */
static char *borrowed_name(struct mutator *m, const ProtobufCMessageDescriptor *type,
                           const ProtobufCFieldDescriptor *field)
{
    const ProtobufCMessage *other = pick_part(m, type);
    size_t count = other ? field_count(other, field) : 0;
    return count ? *(char **)item_at(other, field, below(m->state, count)) : odd_name(m);
}

static char *value_name(struct mutator *m)
{
    const Onnx__NodeProto *node = pick_part(m, &onnx__node_proto__descriptor);
    const Onnx__ValueInfoProto *info = pick_part(m, &onnx__value_info_proto__descriptor);
    if (node != NULL && node->n_output > 0 && one_in(m->state, 3))
        return node->output[below(m->state, node->n_output)];
    if (node != NULL && node->n_input > 0 && one_in(m->state, 2))
        return node->input[below(m->state, node->n_input)];
    return info != NULL && info->name != NULL ? info->name : odd_name(m);
}

static char *operator_name(struct mutator *m)
{
    size_t count = 0;
    while (amp_schema_at(count) != NULL)
        count++;
    return amp_arena_strdup(m->arena, amp_schema_at(below(m->state, count))->name);
}

static void change_string(struct mutator *m, const ProtobufCMessage *message,
                          const ProtobufCFieldDescriptor *field, char **text)
{
    static char empty[] = "";
    bool is_node = message->descriptor == &onnx__node_proto__descriptor;
    if (is_node && strcmp(field->name, "op_type") == 0)
        *text = operator_name(m);
    else if (is_node && strcmp(field->name, "domain") != 0 && !one_in(m->state, 8))
        *text = value_name(m);
    else if (one_in(m->state, 4))
        *text = empty;
    else if (one_in(m->state, 4))
        *text = odd_name(m);
    else
        *text = borrowed_name(m, message->descriptor, field);
}

/* Some of the words in DATA become extreme; now and then its length changes. */
static void change_bytes(struct mutator *m, ProtobufCBinaryData *data)
{
    uint8_t *copy = amp_arena_alloc(m->arena, data->len + 64);
    if (data->len > 0)
        memcpy(copy, data->data, data->len);
    data->data = copy;
    if (one_in(m->state, 4))
        data->len =
            one_in(m->state, 2) ? below(m->state, data->len + 1) : data->len + below(m->state, 64);
    static const size_t widths[] = {1, 2, 4, 8};
    for (size_t n = 1 + below(m->state, 4); n > 0 && data->len >= 8; n--) {
        size_t width = widths[below(m->state, 4)];
        int64_t value = odd_integer(m->state, (int64_t)below(m->state, 5));
        memcpy(copy + below(m->state, data->len / width) * width, &value, width);
    }
}

static void change_item(struct mutator *m, const ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, void *item)
{
    ProtobufCMessage *other;
    switch ((int)field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        *(int64_t *)item = odd_integer(m->state, *(int64_t *)item);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)item = odd_float(m->state, *(double *)item);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)item = (float)odd_float(m->state, (double)*(float *)item);
        break;
    case PROTOBUF_C_TYPE_STRING:
        change_string(m, message, field, item);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        change_bytes(m, item);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        other = pick_part(m, field->descriptor);
        other = other ? clone(m, other) : NULL;
        if (other != NULL)
            *(ProtobufCMessage **)item = other;
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)item = !*(protobuf_c_boolean *)item;
        break;
    default:
        *(int32_t *)item = (int32_t)odd_integer(m->state, *(int32_t *)item);
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void swap_items(unsigned char *a, unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Copies of item I go to the end: one, some or very many of a scalar. */
static void repeat_item(struct mutator *m, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, size_t i)
{
    static const size_t numbers[] = {1, 1, 1, 2, 3, 12, 3000};
    size_t count = field_count(message, field), size = item_size(field);
    size_t more = numbers[below(m->state, 7)];
    if (field->type == PROTOBUF_C_TYPE_MESSAGE && more > 12)
        more = 12;
    unsigned char *grown = amp_arena_array(m->arena, count + more, size);
    memcpy(grown, item_at(message, field, 0), count * size);
    for (size_t n = 0; n < more; n++) {
        memcpy(grown + (count + n) * size, grown + i * size, size);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            void *copy = clone(m, *(ProtobufCMessage **)(void *)(grown + i * size));
            if (copy == NULL)
                return;
            memcpy(grown + (count + n) * size, &copy, size);
        }
    }
    *(void **)member(message, field->offset) = grown;
    *(size_t *)member(message, field->quantifier_offset) = count + more;
}

static void change_list(struct mutator *m, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field)
{
    size_t *count = member(message, field->quantifier_offset);
    size_t i = below(m->state, *count), k = below(m->state, *count), size = item_size(field);
    switch (below(m->state, 8)) {
    case 0: /* removed */
        memmove(item_at(message, field, i), item_at(message, field, i + 1),
                (*count - i - 1) * size);
        --*count;
        break;
    case 1:
        swap_items(item_at(message, field, i), item_at(message, field, k), size);
        break;
    case 2:
        repeat_item(m, message, field, i);
        break;
    case 3: /* cut */
        *count = one_in(m->state, 3) ? 0 : i;
        break;
    default:
        change_item(m, message, field, item_at(message, field, i));
    }
}

/* A first item for an empty list, or a value for a field that has none. */
static void fill_field(struct mutator *m, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field)
{
    static char empty[] = "";
    const ProtobufCMessage *other = NULL;
    void *item = amp_arena_alloc(m->arena, sizeof(ProtobufCBinaryData));
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        other = pick_part(m, field->descriptor);
        if (other == NULL || (*(void **)item = clone(m, other)) == NULL)
            return;
    } else {
        if (field->type == PROTOBUF_C_TYPE_STRING)
            *(char **)item = empty;
        change_item(m, message, field, item);
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        *(void **)member(message, field->offset) = item;
        *(size_t *)member(message, field->quantifier_offset) = 1;
        return;
    }
    memcpy(member(message, field->offset), item, item_size(field));
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        *(uint32_t *)member(message, field->quantifier_offset) = field->id;
}

static void clear_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        *(uint32_t *)member(message, field->quantifier_offset) = 0;
    else if (field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING)
        *(void **)member(message, field->offset) = NULL;
    else
        *(protobuf_c_boolean *)member(message, field->quantifier_offset) = 0;
}

/* Any field of any message. */
static void change_field(struct mutator *m)
{
    ProtobufCMessage *message = m->parts[below(m->state, m->n_parts)];
    if (message->descriptor->n_fields == 0)
        return;
    const ProtobufCFieldDescriptor *field = NULL;
    /* Fields that are there, mostly. */
    for (int tries = 0; tries < 10; tries++) {
        field = &message->descriptor->fields[below(m->state, message->descriptor->n_fields)];
        if (field_count(message, field) > 0)
            break;
    }
    bool is_list = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (field_count(message, field) == 0) {
        fill_field(m, message, field);
    } else if (is_list) {
        change_list(m, message, field);
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL && one_in(m->state, 4)) {
        clear_field(message, field);
    } else {
        change_item(m, message, field, item_at(message, field, 0));
        if (field->label == PROTOBUF_C_LABEL_OPTIONAL &&
            !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
            field->type != PROTOBUF_C_TYPE_MESSAGE && field->type != PROTOBUF_C_TYPE_STRING)
            *(protobuf_c_boolean *)member(message, field->quantifier_offset) = 1;
    }
}

#endif

#ifndef AMP_TESTS_MUTATE_WIRE_H
#define AMP_TESTS_MUTATE_WIRE_H

/*
 * Edits of protobuf messages that go by the wire format alone, without a schema: what looks like a
 * message is one. So they reach what no encoder writes: numbers too long, lengths that are wrong,
 * groups, members of a oneof in turns, messages in two parts, messages inside themselves.
 */
#include "mutate_bytes.h"

enum wire_type {
    WIRE_VARINT,
    WIRE_FIXED64,
    WIRE_LENGTH,
    WIRE_GROUP,
    WIRE_GROUP_END,
    WIRE_FIXED32,
    WIRE_TYPES = 8
};

enum {
    WIRE_DEPTH_MAX = 60,    /* of what is parsed */
    WIRE_NUMBER_MAX = 64,   /* a larger field number is none of ONNX's: the bytes are no message */
    WIRE_SIZE_MAX = 4 << 20 /* of what is written */
};

/* What is wrong with how a field is written. */
enum wire_oddity {
    WIRE_RIGHT,
    WIRE_LONG_TAG,    /* in ten bytes */
    WIRE_LONG_NUMBER, /* value or length: likewise */
    WIRE_WIDE_NUMBER, /* in eleven */
    WIRE_OPEN_NUMBER, /* its last byte says that more follow */
    WIRE_WRONG_LENGTH,
    WIRE_ODDITIES
};

struct wire_field {
    uint64_t number;
    unsigned tag_type, type; /* by its tag; by what it holds */
    uint64_t value;          /* of a number */
    unsigned char *data;     /* of a length field that is no message */
    size_t size;
    struct wire_message *inner; /* of one that is; else NULL */
    enum wire_oddity oddity;
    uint64_t length; /* where that is wrong */
};

struct wire_message {
    struct wire_field *fields;
    size_t count, capacity;
};

/* ---- reading --------------------------------------------------------------------------------- */

struct wire_cursor {
    const unsigned char *at, *end;
};

static bool take_varint(struct wire_cursor *c, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        *value |= (uint64_t)(*c->at & 0x7F) << shift;
        if (*c->at++ < 0x80)
            return true;
    }
    return false;
}

static bool take_fixed(struct wire_cursor *c, size_t size, uint64_t *value)
{
    *value = 0;
    if ((size_t)(c->end - c->at) < size)
        return false;
    memcpy(value, c->at, size);
    c->at += size;
    return true;
}

static bool is_text(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] < 0x20 || data[i] > 0x7E)
            return false;
    return true;
}

static struct wire_message *parse_wire(struct amp_arena *arena, const unsigned char *data,
                                       size_t size, int depth);

static bool take_data(struct amp_arena *arena, struct wire_cursor *c, struct wire_field *field,
                      int depth)
{
    uint64_t length;
    if (!take_varint(c, &length) || length > (uint64_t)(c->end - c->at))
        return false;
    field->size = (size_t)length;
    field->data = amp_arena_memdup(arena, c->at, field->size);
    c->at += length;
    if (!is_text(field->data, field->size))
        field->inner = parse_wire(arena, field->data, field->size, depth + 1);
    return true;
}

static bool take_field(struct amp_arena *arena, struct wire_cursor *c, struct wire_field *field,
                       int depth)
{
    uint64_t tag;
    if (!take_varint(c, &tag) || tag >> 3 == 0 || tag >> 3 > WIRE_NUMBER_MAX)
        return false;
    *field =
        (struct wire_field){.number = tag >> 3, .type = tag & 7, .tag_type = (unsigned)(tag & 7)};
    switch (field->type) {
    case WIRE_VARINT:
        return take_varint(c, &field->value);
    case WIRE_FIXED64:
        return take_fixed(c, 8, &field->value);
    case WIRE_LENGTH:
        return take_data(arena, c, field, depth);
    case WIRE_FIXED32:
        return take_fixed(c, 4, &field->value);
    default:
        return false;
    }
}

static struct wire_field *add_field(struct amp_arena *arena, struct wire_message *message,
                                    const struct wire_field *field)
{
    struct wire_field *added =
        amp_arena_push(arena, &message->fields, &message->count, &message->capacity, sizeof *added);
    *added = *field;
    return added;
}

/* NULL when the bytes cannot be a message. */
static struct wire_message *parse_wire(struct amp_arena *arena, const unsigned char *data,
                                       size_t size, int depth)
{
    struct wire_cursor c = {data, data + size};
    struct wire_message *message = amp_arena_alloc(arena, sizeof *message);
    struct wire_field field;
    if (depth > WIRE_DEPTH_MAX)
        return NULL;
    while (c.at < c.end) {
        if (!take_field(arena, &c, &field, depth))
            return NULL;
        add_field(arena, message, &field);
    }
    return message;
}

/* ---- writing: backwards, so that a length is known when it is written -------------------------
 */

struct wire_writer {
    unsigned char *start, *at;
    bool is_full;
};

static void put_before(struct wire_writer *w, const void *data, size_t size)
{
    if (w->is_full || size > (size_t)(w->at - w->start)) {
        w->is_full = true;
        return;
    }
    w->at -= size;
    if (size > 0)
        memcpy(w->at, data, size);
}

/* VALUE in at least WIDTH bytes; open: its last byte says that it goes on. */
static void put_varint(struct wire_writer *w, uint64_t value, size_t width, bool is_open)
{
    unsigned char bytes[16];
    size_t n = 0;
    do {
        bytes[n++] = (unsigned char)(value | 0x80);
        value >>= 7;
    } while (value > 0 || n < width);
    if (!is_open)
        bytes[n - 1] &= 0x7F;
    put_before(w, bytes, n);
}

static void put_number(struct wire_writer *w, const struct wire_field *field, uint64_t value)
{
    static const size_t widths[WIRE_ODDITIES] = {[WIRE_LONG_NUMBER] = 10, [WIRE_WIDE_NUMBER] = 11};
    put_varint(w, value, widths[field->oddity], field->oddity == WIRE_OPEN_NUMBER);
}

static void put_message(struct wire_writer *w, const struct wire_message *message);

static void put_data(struct wire_writer *w, const struct wire_field *field)
{
    const unsigned char *end = w->at;
    if (field->inner != NULL)
        put_message(w, field->inner);
    else
        put_before(w, field->data, field->size);
    bool is_wrong = field->oddity == WIRE_WRONG_LENGTH;
    put_number(w, field, is_wrong ? field->length : (uint64_t)(end - w->at));
}

static void put_field(struct wire_writer *w, const struct wire_field *field)
{
    if (field->type == WIRE_VARINT)
        put_number(w, field, field->value);
    else if (field->type == WIRE_LENGTH)
        put_data(w, field);
    else if (field->type == WIRE_FIXED64 || field->type == WIRE_FIXED32)
        put_before(w, &field->value, field->type == WIRE_FIXED64 ? 8 : 4);
    put_varint(w, field->number << 3 | field->tag_type, field->oddity == WIRE_LONG_TAG ? 10 : 0,
               false);
}

static void put_message(struct wire_writer *w, const struct wire_message *message)
{
    for (size_t i = message->count; i-- > 0 && !w->is_full;)
        put_field(w, &message->fields[i]);
}

/* Writes MESSAGE to *TO; of what is too large only the end. */
static void write_wire(const struct wire_message *message, struct bytes *to)
{
    unsigned char *room = amp_arena_alloc(to->arena, WIRE_SIZE_MAX);
    struct wire_writer w = {room, room + WIRE_SIZE_MAX, false};
    put_message(&w, message);
    to->data = w.at;
    to->size = to->capacity = (size_t)(room + WIRE_SIZE_MAX - w.at);
}

/* ---- choosing -------------------------------------------------------------------------------- */

struct wire_mutator {
    struct amp_arena *arena;
    uint64_t *state;
    struct wire_message *root, *donor; /* the model; another one */
    struct wire_message **parts;       /* all messages of one of them */
    size_t n_parts, parts_capacity;
};

static void collect_messages(struct wire_mutator *m, struct wire_message *message)
{
    struct wire_message **slot =
        amp_arena_push(m->arena, &m->parts, &m->n_parts, &m->parts_capacity, sizeof *slot);
    *slot = message;
    for (size_t i = 0; i < message->count; i++)
        if (message->fields[i].inner != NULL)
            collect_messages(m, message->fields[i].inner);
}

/* Some message below ROOT: any, or one on a random way down, so that the few at the top have their
   share. */
static struct wire_message *pick_message(struct wire_mutator *m, struct wire_message *root)
{
    if (one_in(m->state, 2)) {
        m->n_parts = 0;
        collect_messages(m, root);
        return m->parts[below(m->state, m->n_parts)];
    }
    while (root->count > 0 && !one_in(m->state, 4)) {
        struct wire_message *inner = root->fields[below(m->state, root->count)].inner;
        if (inner == NULL)
            return root;
        root = inner;
    }
    return root;
}

/* A message with fields, unless the model has none. */
static struct wire_message *pick_full(struct wire_mutator *m)
{
    struct wire_message *message = m->root;
    for (int tries = 0; tries < 10; tries++) {
        message = pick_message(m, m->root);
        if (message->count > 0)
            break;
    }
    return message;
}

/* A field that FITS; NULL when a few tries find none. */
static struct wire_field *pick_field(struct wire_mutator *m,
                                     bool (*fits)(const struct wire_field *))
{
    for (int tries = 0; tries < 30; tries++) {
        struct wire_message *message = pick_full(m);
        if (message->count == 0)
            return NULL;
        struct wire_field *field = &message->fields[below(m->state, message->count)];
        if (fits(field))
            return field;
    }
    return NULL;
}

static bool is_any(const struct wire_field *field)
{
    (void)field;
    return true;
}

static bool is_varint(const struct wire_field *field)
{
    return field->type == WIRE_VARINT;
}

static bool is_number(const struct wire_field *field)
{
    return field->type != WIRE_LENGTH;
}

static bool is_length(const struct wire_field *field)
{
    return field->type == WIRE_LENGTH;
}

static bool is_leaf(const struct wire_field *field)
{
    return field->type == WIRE_LENGTH && field->inner == NULL;
}

static bool is_message(const struct wire_field *field)
{
    return field->inner != NULL && field->inner->count > 0;
}

/* A copy that shares no message, so that nothing comes to contain itself. */
static struct wire_message *clone_message(struct amp_arena *arena,
                                          const struct wire_message *message)
{
    struct wire_message *copy = amp_arena_alloc(arena, sizeof *copy);
    for (size_t i = 0; i < message->count; i++) {
        struct wire_field *field = add_field(arena, copy, &message->fields[i]);
        if (field->inner != NULL)
            field->inner = clone_message(arena, field->inner);
    }
    return copy;
}

static struct wire_field clone_field(struct wire_mutator *m, const struct wire_field *field)
{
    struct wire_field copy = *field;
    if (copy.inner != NULL)
        copy.inner = clone_message(m->arena, copy.inner);
    return copy;
}

/* FIELD goes into MESSAGE at AT. */
static void insert_field(struct wire_mutator *m, struct wire_message *message, size_t at,
                         const struct wire_field *field)
{
    struct wire_field added = *field;
    add_field(m->arena, message, &added);
    memmove(&message->fields[at + 1], &message->fields[at],
            (message->count - 1 - at) * sizeof added);
    message->fields[at] = added;
}

static void remove_field(struct wire_message *message, size_t at)
{
    message->count--;
    memmove(&message->fields[at], &message->fields[at + 1],
            (message->count - at) * sizeof *message->fields);
}

static void set_inner(struct wire_field *field, struct wire_message *inner)
{
    field->type = field->tag_type = WIRE_LENGTH;
    field->inner = inner;
}

/* ---- edits ----------------------------------------------------------------------------------- */

static uint64_t odd_field_number(struct wire_mutator *m, uint64_t old)
{
    static const uint64_t extremes[] = {
        0, 15, 16, 2047, 2048, 0x1FFFFFFF, 0x20000000, 0xFFFFFFFFu, 19000, UINT64_MAX >> 3};
    if (one_in(m->state, 4))
        return extremes[below(m->state, sizeof extremes / sizeof extremes[0])];
    return one_in(m->state, 2) ? old + below(m->state, 3) - 1 : 1 + below(m->state, 30);
}

static void change_field_number(struct wire_mutator *m)
{
    struct wire_field *field = pick_field(m, is_any);
    if (field != NULL)
        field->number = odd_field_number(m, field->number);
}

/* The tag says another type than what follows is, or both change. */
static void change_wire_type(struct wire_mutator *m)
{
    static const unsigned types[] = {WIRE_VARINT, WIRE_FIXED64, WIRE_FIXED32};
    struct wire_field *field = pick_field(m, is_any);
    if (field == NULL)
        return;
    if (one_in(m->state, 2) && field->type != WIRE_LENGTH)
        field->type = field->tag_type = types[below(m->state, 3)];
    else
        field->tag_type = (unsigned)below(m->state, WIRE_TYPES);
}

static void change_value(struct wire_mutator *m)
{
    struct wire_field *field = pick_field(m, is_number);
    if (field == NULL)
        return;
    float value = (float)odd_float(m->state, 1);
    if (field->type == WIRE_FIXED32 && one_in(m->state, 2))
        memcpy(&field->value, &value, sizeof value);
    else
        field->value = (uint64_t)odd_integer(m->state, (int64_t)field->value);
}

static void spoil_encoding(struct wire_mutator *m)
{
    struct wire_field *field = pick_field(m, one_in(m->state, 2) ? is_varint : is_any);
    if (field != NULL)
        field->oddity = (enum wire_oddity)(1 + below(m->state, WIRE_WRONG_LENGTH - 1));
}

static void spoil_length(struct wire_mutator *m)
{
    static const uint64_t extremes[] = {0,
                                        INT32_MAX,
                                        (uint64_t)INT32_MAX + 1,
                                        UINT32_MAX,
                                        (uint64_t)UINT32_MAX + 1,
                                        INT64_MAX,
                                        (uint64_t)INT64_MAX + 1,
                                        UINT64_MAX,
                                        UINT64_MAX - 10};
    struct wire_field *field = pick_field(m, is_length);
    if (field == NULL)
        return;
    field->oddity = WIRE_WRONG_LENGTH;
    field->length = one_in(m->state, 2)
                        ? extremes[below(m->state, sizeof extremes / sizeof extremes[0])]
                        : field->size + below(m->state, 5) - 2;
}

/* A field comes again, next to itself or at the end, once or often: lists grow, messages merge. */
static void repeat_field(struct wire_mutator *m)
{
    static const size_t numbers[] = {1, 1, 1, 2, 5, 400};
    struct wire_message *message = pick_full(m);
    if (message->count == 0)
        return;
    size_t i = below(m->state, message->count), more = numbers[below(m->state, 6)];
    if (message->fields[i].inner != NULL && more > 5)
        more = 5;
    for (; more > 0; more--) {
        struct wire_field copy = clone_field(m, &message->fields[i]);
        insert_field(m, message, one_in(m->state, 2) ? i + 1 : message->count, &copy);
    }
}

static size_t about_size(const struct wire_field *field)
{
    size_t size = 4 + field->size;
    for (size_t i = 0; field->inner != NULL && i < field->inner->count; i++)
        size += about_size(&field->inner->fields[i]);
    return size;
}

/* Texts in the fields of MESSAGE whose numbers are in MASK end with N: names become others. */
static void rename_parts(struct wire_mutator *m, struct wire_message *message, uint64_t mask,
                         size_t n)
{
    for (size_t i = 0; i < message->count; i++) {
        struct wire_field *field = &message->fields[i];
        if (field->type != WIRE_LENGTH || field->inner != NULL || !(mask >> field->number % 64 & 1))
            continue;
        char *text =
            amp_arena_printf(m->arena, "%.*s%zu", (int)field->size, (char *)field->data, n);
        field->data = (unsigned char *)text;
        field->size = strlen(text);
    }
}

/* Very many of a field, each with names of its own: what is slow for many is slow here. */
static void multiply_field(struct wire_mutator *m)
{
    static const size_t numbers[] = {100, 3000, 30000};
    struct wire_message *message = pick_full(m);
    if (message->count == 0)
        return;
    size_t i = below(m->state, message->count), most = numbers[below(m->state, 3)];
    uint64_t mask = next_random(m->state);
    size_t fits = WIRE_SIZE_MAX / 4 / about_size(&message->fields[i]);
    for (size_t n = 0; n < most && n < fits; n++) {
        struct wire_field copy = clone_field(m, &message->fields[i]);
        if (copy.inner != NULL)
            rename_parts(m, copy.inner, mask, n);
        add_field(m->arena, message, &copy);
    }
}

static void move_field(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    if (message->count == 0)
        return;
    size_t from = below(m->state, message->count), to = below(m->state, message->count);
    struct wire_field field = message->fields[from];
    if (one_in(m->state, 2)) {
        message->fields[from] = message->fields[to];
        message->fields[to] = field;
        return;
    }
    remove_field(message, from);
    insert_field(m, message, to, &field);
}

static void delete_field(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    if (message->count > 0)
        remove_field(message, below(m->state, message->count));
}

/* A message becomes another one, of this model or the other, or gets the other's fields too. */
static void splice_message(struct wire_mutator *m)
{
    struct wire_field *field = pick_field(m, is_message);
    if (field == NULL)
        return;
    bool is_own = m->donor == NULL || one_in(m->state, 2);
    struct wire_message *other =
        clone_message(m->arena, pick_message(m, is_own ? m->root : m->donor));
    if (one_in(m->state, 2)) {
        set_inner(field, other);
        return;
    }
    for (size_t i = 0; i < other->count; i++)
        add_field(m->arena, field->inner, &other->fields[i]);
}

/* A message of the other model with its number: what stands beside it there stands here. */
static void borrow_field(struct wire_mutator *m)
{
    struct wire_message *from = pick_message(m, m->donor != NULL ? m->donor : m->root);
    struct wire_message *to = pick_full(m);
    if (from->count == 0)
        return;
    struct wire_field copy = clone_field(m, &from->fields[below(m->state, from->count)]);
    insert_field(m, to, below(m->state, to->count + 1), &copy);
}

/* Two members of what may be a oneof, in turns, each in parts. */
static void interleave(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    if (message->count == 0)
        return;
    struct wire_field a = message->fields[below(m->state, message->count)], b = a;
    b.number = odd_field_number(m, a.number);
    for (size_t n = 1 + below(m->state, 4); n > 0; n--) {
        struct wire_field copy_b = clone_field(m, &b), copy_a = clone_field(m, &a);
        add_field(m->arena, message, &copy_b);
        add_field(m->arena, message, &copy_a);
    }
}

/* A message comes in two, which a reader merges. */
static void divide_message(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    size_t i = message->count > 0 ? below(m->state, message->count) : 0;
    if (message->count == 0 || !is_message(&message->fields[i]))
        return;
    struct wire_field second = clone_field(m, &message->fields[i]);
    struct wire_message *first = message->fields[i].inner;
    size_t cut = below(m->state, first->count + 1);
    for (size_t n = cut; n > 0; n--)
        remove_field(second.inner, 0);
    first->count = cut;
    insert_field(m, message, one_in(m->state, 2) ? i + 1 : message->count, &second);
}

/* Ways from a message to one of its own kind, by field numbers: any field in itself, ONNX's types
   and its graphs. */
static const struct {
    uint64_t numbers[3];
    size_t count;
} ways[] = {{{0}, 1}, {{4, 1}, 2}, {{9, 1}, 2}, {{5, 2}, 2}, {{1, 5, 6}, 3}, {{1, 5, 11}, 3}};

static void nest(struct wire_mutator *m)
{
    static const size_t depths[] = {1, 2, 5, 20, 63, 64, 70, 210, 2000};
    struct wire_field *field = pick_field(m, is_message);
    if (field == NULL)
        return;
    size_t way = below(m->state, sizeof ways / sizeof ways[0]);
    for (size_t n = depths[below(m->state, sizeof depths / sizeof depths[0])]; n > 0; n--)
        for (size_t i = ways[way].count; i-- > 0;) {
            struct wire_message *outer = amp_arena_alloc(m->arena, sizeof *outer);
            uint64_t number = ways[way].numbers[i];
            struct wire_field inner = {.number = number > 0 ? number : field->number};
            set_inner(&inner, field->inner);
            add_field(m->arena, outer, &inner);
            field->inner = outer;
        }
}

/* Numbers in one field become a field each, or the other way round. */
static void unpack(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    size_t i = message->count > 0 ? below(m->state, message->count) : 0;
    if (message->count == 0 || !is_leaf(&message->fields[i]))
        return;
    struct wire_field packed = message->fields[i];
    struct wire_cursor c = {packed.data, packed.data + packed.size};
    remove_field(message, i);
    bool is_wide = one_in(m->state, 3);
    struct wire_field one = {.number = packed.number};
    one.type = one.tag_type = is_wide ? WIRE_FIXED32 : WIRE_VARINT;
    for (int n = 0; n < 1000 && c.at < c.end; n++) {
        if (is_wide ? !take_fixed(&c, 4, &one.value) : !take_varint(&c, &one.value))
            return;
        insert_field(m, message, i++, &one);
    }
}

static void pack(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    if (message->count == 0)
        return;
    struct wire_field *first = &message->fields[below(m->state, message->count)];
    uint64_t number = first->number;
    struct wire_writer w = {.start = amp_arena_alloc(m->arena, 16 * message->count)};
    unsigned char *end = w.at = w.start + 16 * message->count;
    if (first->type == WIRE_LENGTH)
        return;
    for (size_t i = message->count; i-- > 0;) {
        struct wire_field *field = &message->fields[i];
        if (field->number != number || field->type == WIRE_LENGTH)
            continue;
        if (field->type == WIRE_VARINT)
            put_varint(&w, field->value, 0, false);
        else
            put_before(&w, &field->value, field->type == WIRE_FIXED64 ? 8 : 4);
        remove_field(message, i);
    }
    struct wire_field packed = {.number = number, .data = w.at, .size = (size_t)(end - w.at)};
    packed.type = packed.tag_type = WIRE_LENGTH;
    add_field(m->arena, message, &packed);
}

static void add_unknown(struct wire_mutator *m)
{
    static const unsigned types[] = {WIRE_VARINT, WIRE_FIXED64, WIRE_LENGTH, WIRE_FIXED32};
    struct wire_message *message = pick_full(m);
    struct wire_field field = {.number = one_in(m->state, 2) ? 100 + below(m->state, 1000)
                                                             : odd_field_number(m, 1),
                               .value = next_random(m->state)};
    field.type = field.tag_type = types[below(m->state, 4)];
    if (field.type == WIRE_LENGTH && one_in(m->state, 2))
        set_inner(&field, clone_message(m->arena, pick_message(m, m->root)));
    insert_field(m, message, below(m->state, message->count + 1), &field);
}

/* A field in a group, as protobuf had them once, or one end of a group alone. */
static void add_group(struct wire_mutator *m)
{
    struct wire_message *message = pick_full(m);
    size_t at = below(m->state, message->count + 1), part = below(m->state, 4);
    struct wire_field start = {.number = 1 + below(m->state, 30)}, end = start;
    start.type = start.tag_type = WIRE_GROUP;
    end.type = end.tag_type = WIRE_GROUP_END;
    if (part != 0)
        insert_field(m, message, at, &end);
    if (part != 1)
        insert_field(m, message, at > 0 ? at - 1 : 0, &start);
}

static void change_data(struct wire_mutator *m)
{
    static const char *const texts[] = {
        "",        "\xc3",     "\xff\xfe", "\xed\xa0\x80", "a\nb",     "\x1b",
        "../../x", "%s%n",     "/",        "Loop",         "Cast",     "ai.onnx",
        "x",       "location", "If",       "Scan",         "Identity", "com.microsoft"};
    struct wire_field *field = pick_field(m, is_leaf), *other = pick_field(m, is_leaf);
    if (field == NULL || other == NULL)
        return;
    struct bytes bytes = {.arena = m->arena};
    put(&bytes, field->data, field->size);
    switch (below(m->state, 6)) {
    case 0:
        bytes.size = 0;
        put_text(&bytes, texts[below(m->state, sizeof texts / sizeof texts[0])]);
        break;
    case 1:
        put(&bytes, "\0hidden", 7);
        break;
    case 2:
        for (size_t n = below(m->state, 12); n > 0 && bytes.size < 65536; n--)
            put(&bytes, bytes.data, bytes.size);
        break;
    case 3:
        mutate_bytes(&bytes, "", 0, m->state);
        break;
    default: /* names of the same model, mostly */
        bytes.size = 0;
        put(&bytes, other->data, other->size);
    }
    field->data = bytes.data;
    field->size = bytes.size;
}

/* Makes a mutant of the SIZE bytes at DATA, with parts of the other model at DONOR (NULL: none). */
static void mutate_wire(const struct bytes *seed, const struct bytes *donor, struct bytes *to,
                        uint64_t *state)
{
    enum { EDITS_MAX = 4 };
    static void (*const edits[])(struct wire_mutator *) = {change_field_number,
                                                           change_wire_type,
                                                           change_value,
                                                           change_value,
                                                           change_value,
                                                           spoil_encoding,
                                                           spoil_length,
                                                           repeat_field,
                                                           repeat_field,
                                                           move_field,
                                                           move_field,
                                                           delete_field,
                                                           delete_field,
                                                           splice_message,
                                                           splice_message,
                                                           borrow_field,
                                                           borrow_field,
                                                           interleave,
                                                           divide_message,
                                                           nest,
                                                           unpack,
                                                           pack,
                                                           add_unknown,
                                                           add_group,
                                                           change_data,
                                                           change_data,
                                                           change_data};
    struct wire_mutator m = {.arena = to->arena, .state = state};
    m.root = parse_wire(m.arena, seed->data, seed->size, 0);
    m.donor = donor != NULL ? parse_wire(m.arena, donor->data, donor->size, 0) : NULL;
    if (m.root == NULL) {
        put(to, seed->data, seed->size);
        mutate_bytes(to, "", 0, state);
        return;
    }
    for (size_t n = 1 + below(state, EDITS_MAX); n > 0; n--)
        edits[below(state, sizeof edits / sizeof edits[0])](&m);
    if (one_in(state, 40))
        multiply_field(&m);
    write_wire(m.root, to);
    if (one_in(state, 16) && to->size > 0)
        mutate_bytes(to, "", 0, state);
}

#endif

#ifndef AMP_TESTS_MUTATE_BYTES_H
#define AMP_TESTS_MUTATE_BYTES_H

/* Edits of bytes that know nothing of what the bytes mean. */

#include "chance.h"
#include "core/arena.h"

#include <string.h>

/* Bytes that grow, in an arena. */
struct bytes {
    struct amp_arena *arena;
    unsigned char *data;
    size_t size, capacity;
};

static inline void put(struct bytes *to, const void *data, size_t size)
{
    if (to->capacity - to->size < size) {
        unsigned char *old = to->data;
        to->capacity = 2 * to->capacity + size;
        to->data = amp_arena_alloc(to->arena, to->capacity);
        if (to->size > 0)
            memcpy(to->data, old, to->size);
    }
    if (size > 0)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

static inline void put_text(struct bytes *to, const char *text)
{
    put(to, text, strlen(text));
}

/* The N bytes at AT become the SIZE bytes at DATA. */
static inline void replace_bytes(struct bytes *bytes, size_t at, size_t n, const void *data,
                                 size_t size)
{
    struct bytes changed = {.arena = bytes->arena};
    put(&changed, bytes->data, at);
    put(&changed, data, size);
    put(&changed, bytes->data + at + n, bytes->size - at - n);
    *bytes = changed;
}

static inline void flip_bits(struct bytes *bytes, uint64_t *state)
{
    enum { FLIPS_MAX = 8 };
    for (size_t n = 1 + below(state, FLIPS_MAX); n > 0; n--)
        bytes->data[below(state, bytes->size)] ^= (unsigned char)(1u << below(state, 8));
}

/* A place in BYTES; how many bytes are meant there goes to *LENGTH. */
static inline size_t pick_run(const struct bytes *bytes, size_t *length, uint64_t *state)
{
    enum { RUN_MAX = 16 };
    size_t at = below(state, bytes->size), rest = bytes->size - at;
    *length = 1 + below(state, RUN_MAX);
    if (*length > rest)
        *length = rest;
    return at;
}

/* Extreme values where lengths, counts and dims are. */
static inline void overwrite_run(struct bytes *bytes, uint64_t *state)
{
    static const unsigned char fills[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    size_t length, at = pick_run(bytes, &length, state);
    memset(bytes->data + at, fills[below(state, sizeof fills)], length);
}

static inline void cut_bytes(struct bytes *bytes, uint64_t *state)
{
    bytes->size = below(state, bytes->size);
}

static inline void drop_run(struct bytes *bytes, uint64_t *state)
{
    size_t length, at = pick_run(bytes, &length, state);
    replace_bytes(bytes, at, length, "", 0);
}

static inline void repeat_run(struct bytes *bytes, uint64_t *state)
{
    size_t length, at = pick_run(bytes, &length, state);
    replace_bytes(bytes, at, 0, bytes->data + at, length);
}

/* One byte becomes any other, or, with more odds, one of the SPECIAL ones that mean something. */
static inline void overwrite_byte(struct bytes *bytes, const char *special, size_t n_special,
                                  uint64_t *state)
{
    bytes->data[below(state, bytes->size)] = one_in(state, 3) || n_special == 0
                                                 ? (unsigned char)next_random(state)
                                                 : (unsigned char)special[below(state, n_special)];
}

/* Any of the above, several times. */
static inline void mutate_bytes(struct bytes *bytes, const char *special, size_t n_special,
                                uint64_t *state)
{
    static void (*const edits[])(struct bytes *, uint64_t *) = {flip_bits, overwrite_run, cut_bytes,
                                                                drop_run, repeat_run};
    enum { EDITS = sizeof edits / sizeof edits[0] };
    for (size_t n = 1 + below(state, 4); n > 0 && bytes->size > 0; n--) {
        size_t edit = below(state, 2 * EDITS);
        if (edit < EDITS)
            edits[edit](bytes, state);
        else
            overwrite_byte(bytes, special, n_special, state);
    }
}

#endif

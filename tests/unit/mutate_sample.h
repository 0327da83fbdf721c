#ifndef AMP_TESTS_MUTATE_SAMPLE_H
#define AMP_TESTS_MUTATE_SAMPLE_H

/* Edits of NumPy's arrays (.npy), and archives of them (.npz) that are written as no one would. */

#include "mutate_bytes.h"

/* ---- arrays ---------------------------------------------------------------------------------- */

enum { NPY_LENGTH_AT = 8, NPY_TEXT_AT = 10 };

/* What stands in TEXT from after KEY up to the first of ENDS becomes VALUE. */
static inline void change_entry(struct bytes *array, const char *key, const char *ends,
                                const char *value)
{
    const unsigned char *found = memmem(array->data, array->size, key, strlen(key));
    if (found == NULL)
        return;
    size_t at = (size_t)(found - array->data) + strlen(key), end = at;
    while (end < array->size && strchr(ends, array->data[end]) == NULL)
        end++;
    replace_bytes(array, at, end - at, value, strlen(value));
}

static inline void change_descr(struct bytes *array, uint64_t *state)
{
    static const char *const types[] = {"'<f4'",
                                        "'>f8'",
                                        "'<f2'",
                                        "'|b1'",
                                        "'<i8'",
                                        "'|u1'",
                                        "'<U3'",
                                        "'|S5'",
                                        "'|V2'",
                                        "'|O'",
                                        "'<c8'",
                                        "'<U99999999'",
                                        "'|S0'",
                                        "'<f16'",
                                        "'<M8[ns]'",
                                        "''",
                                        "'<U'",
                                        "'=f4'",
                                        "'f4",
                                        "[('a', '<f4')]",
                                        "'<U4294967297'",
                                        "'|S18446744073709551615'"};
    change_entry(array, "'descr': ", ",", types[below(state, sizeof types / sizeof types[0])]);
}

static inline void change_shape_text(struct bytes *array, uint64_t *state)
{
    static const char *const shapes[] = {"",
                                         "0,",
                                         "1,",
                                         "2, 3",
                                         "-1,",
                                         "9223372036854775807, 3",
                                         "4294967296, 4294967296",
                                         "0, 9223372036854775807, 2",
                                         "1L,",
                                         ",",
                                         "1 2",
                                         "1e3,",
                                         "18446744073709551617,",
                                         "((2,)",
                                         "1,1,1,1,1,1,1,1,1,1,1,1,1",
                                         "0x10,"};
    change_entry(array, "'shape': (", ")", shapes[below(state, sizeof shapes / sizeof shapes[0])]);
}

static inline void change_order(struct bytes *array, uint64_t *state)
{
    static const char *const orders[] = {"True", "False", "1", "", "True, 'fortran_order': False"};
    change_entry(array, "'fortran_order': ", ",", orders[below(state, 5)]);
}

/* Version and length of the text. */
static inline void change_head(struct bytes *array, uint64_t *state)
{
    size_t at = 5 + below(state, 6);
    if (at < array->size)
        array->data[at] = (unsigned char)(one_in(state, 2) ? below(state, 5) : next_random(state));
}

static inline void mutate_array_bytes(struct bytes *array, uint64_t *state)
{
    mutate_bytes(array, "'(),: {}\n0123456789<>|", 22, state);
}

/* The text's length as it is now, so that what was changed in the text is read. */
static inline void mend_length(struct bytes *array)
{
    const unsigned char *end = array->size > NPY_TEXT_AT ? memchr(array->data + NPY_TEXT_AT, '\n',
                                                                  array->size - NPY_TEXT_AT)
                                                         : NULL;
    if (end == NULL)
        return;
    size_t length = (size_t)(end + 1 - array->data) - NPY_TEXT_AT;
    array->data[NPY_LENGTH_AT] = (unsigned char)length;
    array->data[NPY_LENGTH_AT + 1] = (unsigned char)(length >> 8);
}

static inline void mutate_npy(struct bytes *array, uint64_t *state)
{
    static void (*const edits[])(struct bytes *, uint64_t *) = {
        change_descr, change_shape_text, change_shape_text, change_order, mutate_array_bytes};
    for (size_t n = 1 + below(state, 3); n > 0 && array->size > 0; n--)
        edits[below(state, 5)](array, state);
    mend_length(array);
    if (one_in(state, 4))
        change_head(array, state);
}

/* ---- archives -------------------------------------------------------------------------------- */

static inline uint32_t crc_of(const unsigned char *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static inline void put_little(struct bytes *to, uint64_t value, size_t width)
{
    put(to, &value, width);
}

/* A file of an archive, and how it is written. */
struct zip_entry {
    const char *name;
    struct bytes data;
    uint32_t crc, size;
    uint16_t method; /* 0: as it is; 8: deflated, in one block that is as it is */
    size_t offset;
};

/* What both headers of an entry have in common. */
static inline void put_entry_head(struct bytes *to, const struct zip_entry *entry)
{
    size_t packed = entry->data.size + (entry->method == 8 ? 5 : 0);
    put_little(to, 20, 2);
    put_little(to, 0, 2);
    put_little(to, entry->method, 2);
    put_little(to, 0, 4);
    put_little(to, entry->crc, 4);
    put_little(to, packed, 4);
    put_little(to, entry->size, 4);
    put_little(to, strlen(entry->name), 2);
    put_little(to, 0, 2);
}

static inline void put_entry(struct bytes *to, struct zip_entry *entry)
{
    entry->offset = to->size;
    put_little(to, 0x04034B50, 4);
    put_entry_head(to, entry);
    put_text(to, entry->name);
    if (entry->method == 8) {
        put_little(to, 1, 1);
        put_little(to, entry->data.size, 2);
        put_little(to, ~(uint64_t)entry->data.size, 2);
    }
    put(to, entry->data.data, entry->data.size);
}

static inline void put_directory(struct bytes *to, const struct zip_entry *entries, size_t count)
{
    size_t start = to->size;
    for (size_t i = 0; i < count; i++) {
        put_little(to, 0x02014B50, 4);
        put_little(to, 20, 2);
        put_entry_head(to, &entries[i]);
        put_little(to, 0, 8);
        put_little(to, 0, 2);
        put_little(to, entries[i].offset, 4);
        put_text(to, entries[i].name);
    }
    size_t size = to->size - start;
    put_little(to, 0x06054B50, 4);
    put_little(to, 0, 4);
    put_little(to, count, 2);
    put_little(to, count, 2);
    put_little(to, size, 4);
    put_little(to, start, 4);
    put_little(to, 0, 2);
}

static inline void spoil_entry(struct zip_entry *entry, uint64_t *state)
{
    static const char *const names[] = {"", "x", ".npy", "../x.npy", "/x.npy", "x.npy", "\xff.npy"};
    switch (below(state, 5)) {
    case 0:
        entry->name = names[below(state, 7)];
        break;
    case 1:
        entry->crc++;
        break;
    case 2:
        entry->size = (uint32_t)odd_integer(state, entry->size);
        break;
    case 3:
        entry->method = (uint16_t)below(state, 15);
        break;
    default:
        mutate_npy(&entry->data, state);
        entry->crc = crc_of(entry->data.data, entry->data.size);
        entry->size = (uint32_t)entry->data.size;
    }
}

/* An archive of the COUNT arrays at ENTRIES (name and data), some of them spoilt, goes to TO. */
static inline void mutate_npz(struct zip_entry *entries, size_t count, struct bytes *to,
                              uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        entries[i].crc = crc_of(entries[i].data.data, entries[i].data.size);
        entries[i].size = (uint32_t)entries[i].data.size;
        entries[i].method = one_in(state, 2) && entries[i].data.size < 65536 ? 8 : 0;
    }
    for (size_t n = below(state, 3); n > 0 && count > 0; n--)
        spoil_entry(&entries[below(state, count)], state);
    for (size_t i = 0; i < count; i++)
        put_entry(to, &entries[i]);
    put_directory(to, entries, count > 0 && one_in(state, 8) ? count - 1 : count);
    if (one_in(state, 2))
        mutate_bytes(to, "PK\1\2\3\4\5\6\10", 9, state);
}

#endif

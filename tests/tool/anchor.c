/* Names of data that stand in an archive several times. Names are d1, d2, ... when they are
   written; one that is written by hand can be any name. Data are equal when their bytes are,
   whatever their type. */
#include "anchor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct anchor {
    char *name; /* NULL: none is needed so far */
    struct buffer bytes;
    uint64_t hash;
    int n_uses;
    bool is_written;
};

struct anchors {
    struct anchor **items;
    size_t n;
};

/* What was written is read again at once, to see that it gives the same. */
static struct anchors of_writing, of_reading;
static size_t n_names;
static bool has_counted;

/* FNV-1a. */
static uint64_t get_hash(const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ from[i]) * 0x100000001b3;
    }
    return hash;
}

static struct anchor *add_anchor(struct anchors *anchors, const void *bytes, size_t size)
{
    struct anchor *anchor = new_memory(sizeof *anchor);
    anchor->hash = get_hash(bytes, size);
    put_bytes(&anchor->bytes, bytes, size);
    add_item(&anchors->items, &anchors->n, anchor);
    return anchor;
}

static struct anchor *find_equal(const void *bytes, size_t size)
{
    uint64_t hash = get_hash(bytes, size);
    for (size_t i = 0; i < of_writing.n; i++) {
        struct anchor *anchor = of_writing.items[i];
        if (anchor->hash == hash && anchor->bytes.size == size &&
            !memcmp(anchor->bytes.data, bytes, size)) {
            return anchor;
        }
    }
    return NULL;
}

void name_anchors(void)
{
    has_counted = true;
}

bool put_anchor(struct buffer *buffer, const void *bytes, size_t size)
{
    struct anchor *anchor = find_equal(bytes, size);
    if (!has_counted) {
        anchor = anchor ? anchor : add_anchor(&of_writing, bytes, size);
        anchor->n_uses++;
        return false;
    }
    if (!anchor || anchor->n_uses < 2) {
        return false;
    }
    if (anchor->is_written) {
        put_format(buffer, "*%s", anchor->name);
        return true;
    }
    char name[24];
    snprintf(name, sizeof name, "d%zu", ++n_names);
    anchor->name = copy_bytes(name, strlen(name));
    anchor->is_written = true;
    put_format(buffer, "&%s ", name);
    return false;
}

/* ---- reading ---- */

static struct anchor *find_name(const char *name)
{
    for (size_t i = 0; i < of_reading.n; i++) {
        if (!strcmp(of_reading.items[i]->name, name)) {
            return of_reading.items[i];
        }
    }
    return NULL;
}

void forget_anchors(void)
{
    of_reading = (struct anchors){0};
}

const struct buffer *read_reference(struct lexer *lexer)
{
    char *name = read_name(lexer);
    const struct anchor *anchor = find_name(name);
    if (!anchor) {
        fail_at(lexer, "no data above have the name '%s'", name);
    }
    free(name);
    return &anchor->bytes;
}

void keep_anchor(struct lexer *lexer, const char *name, const void *bytes, size_t size)
{
    const struct anchor *other = find_name(name);
    if (!other) {
        add_anchor(&of_reading, bytes, size)->name = copy_bytes(name, strlen(name));
    } else if (other->bytes.size != size || memcmp(other->bytes.data, bytes, size)) {
        fail_at(lexer, "other data have the name '%s', too", name);
    }
}

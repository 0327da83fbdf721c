/*
 * The lines that go with a message about a text file: finds a place in the text and draws its line
 * with a caret. Takes any bytes, also such as are no UTF-8.
 */
#include "autocast/rules/excerpt.h"

#include "core/print.h"
#include "core/utf8.h"

#include <stdbool.h>
#include <string.h>

enum {
    WIDTH = 100, /* characters of a line that are shown */
    BEFORE = 70  /* of them, before the column */
};

/* The length of the UTF-8 character at AT; 0 when the bytes there are none (RFC 3629, without its
   checks for overlong forms, which no terminal minds). */
static size_t utf8_length(const unsigned char *at, const unsigned char *end)
{
    size_t length = *at < 0x80   ? 1
                    : *at < 0xc2 ? 0
                    : *at < 0xe0 ? 2
                    : *at < 0xf0 ? 3
                    : *at < 0xf5 ? 4
                                 : 0;
    if (length > (size_t)(end - at))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* The length of the line break at AT, 0 when there is none: LF, CR, CR LF, NEL, LS, PS. */
static size_t break_length(const unsigned char *at, const unsigned char *end)
{
    size_t left = (size_t)(end - at);
    if (*at == '\r')
        return left > 1 && at[1] == '\n' ? 2 : 1;
    if (*at == '\n')
        return 1;
    if (left > 1 && memcmp(at, "\xc2\x85", 2) == 0)
        return 2;
    return left > 2 && (memcmp(at, "\xe2\x80\xa8", 3) == 0 || memcmp(at, "\xe2\x80\xa9", 3) == 0)
               ? 3
               : 0;
}

static size_t step(const unsigned char *at, const unsigned char *end)
{
    size_t length = utf8_length(at, end);
    return length > 0 ? length : 1;
}

struct amp_place amp_place_of(const char *text, size_t size, size_t offset)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + size, *stop = at + offset;
    struct amp_place place = {1, 1};
    while (at < stop) {
        size_t length = break_length(at, end);
        if (length > 0) {
            place = (struct amp_place){place.line + 1, 1};
        } else {
            length = step(at, end);
            place.column++;
        }
        at += length;
    }
    return place;
}

struct out {
    char *text;
    size_t used, capacity;
};

static void put(struct out *out, const void *bytes, size_t count)
{
    if (count < out->capacity - out->used) {
        memcpy(out->text + out->used, bytes, count);
        out->used += count;
    }
    out->text[out->used] = '\0';
}

/* Shows the character at AT; returns its length in bytes. */
static size_t put_character(struct out *out, const unsigned char *at, const unsigned char *end)
{
    size_t length = utf8_length(at, end);
    const char *character = (const char *)at;
    if (length == 0 || !amp_print_is_shown(amp_utf8_next(&character, (const char *)end))) {
        put(out, "?", 1);
        return length > 0 ? length : 1;
    }
    put(out, at, length);
    return length;
}

static const unsigned char *find_line(const unsigned char *at, const unsigned char *end, int line)
{
    while (line > 1 && at < end) {
        size_t length = break_length(at, end);
        line -= length > 0;
        at += length > 0 ? length : step(at, end);
    }
    return at;
}

/* Draws the caret. A tab of the line is repeated, so that the caret stays under its column. */
static void put_caret(struct out *out, const unsigned char *at, const unsigned char *end,
                      int columns, bool is_cut)
{
    if (is_cut)
        put(out, "   ", 3);
    for (; columns > 1; columns--) {
        bool is_tab = at < end && *at == '\t';
        put(out, is_tab ? "\t" : " ", 1);
        at += at < end ? step(at, end) : 0;
    }
    put(out, "^", 1);
}

void amp_excerpt(const char *text, size_t size, struct amp_place place, struct amp_excerpt *excerpt)
{
    struct out line = {excerpt->line, 0, AMP_EXCERPT_SIZE};
    struct out caret = {excerpt->caret, 0, AMP_EXCERPT_SIZE};
    const unsigned char *end = (const unsigned char *)text + size;
    const unsigned char *at = find_line((const unsigned char *)text, end, place.line);
    int skipped = place.column > WIDTH ? place.column - BEFORE : 0, shown = 0;
    for (int i = 0; i < skipped && at < end; i++)
        at += step(at, end);
    const unsigned char *first = at;
    put(&line, "...", skipped > 0 ? 3 : 0);
    while (at < end && break_length(at, end) == 0 && shown++ < WIDTH)
        at += put_character(&line, at, end);
    if (at < end && break_length(at, end) == 0)
        put(&line, "...", 3);
    put_caret(&caret, first, end, place.column - skipped, skipped > 0);
}

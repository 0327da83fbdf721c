/*
 * UTF-8: decoding that takes any bytes, encoding of code points, and Unicode's simple case mappings
 * out of a generated table. The user's locale has no say.
 */
#include "core/utf8.h"

#include "core/array.h"

#include <stdbool.h>

/* The code points FIRST, FIRST + STEP, ... LAST move by DISTANCE. */
struct run {
    int32_t first, last, step, distance;
};

#include "core/case_table.inc"

/* The lead bytes of sequences of two to four bytes, and the least code point each may hold. */
static const struct {
    unsigned char mask, lead;
    int32_t least;
} leads[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

/* The code point of LENGTH bytes at BYTES, of which the first, stripped of its mark, is CODE. */
static int32_t decode(const char *bytes, size_t length, int32_t code)
{
    for (size_t i = 1; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if ((byte & 0xc0) != 0x80)
            return AMP_UTF8_INVALID;
        code = code << 6 | (byte & 0x3f);
    }
    return code;
}

int32_t amp_utf8_next(const char **text, const char *end)
{
    const char *bytes = *text;
    unsigned char first = (unsigned char)*bytes;
    *text = bytes + 1;
    if (first < 0x80)
        return first;
    for (size_t i = 0; i < AMP_COUNT(leads); i++) {
        size_t length = i + 2;
        if ((first & leads[i].mask) != leads[i].lead || (size_t)(end - bytes) < length)
            continue;
        int32_t code = decode(bytes, length, first & ~leads[i].mask);
        if (code < leads[i].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return AMP_UTF8_INVALID;
        *text = bytes + length;
        return code;
    }
    return AMP_UTF8_INVALID;
}

size_t amp_utf8_put(int32_t code, char *text)
{
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(leads[length - 2].lead | code);
    return length;
}

static int32_t map(const struct run *runs, size_t count, int32_t code)
{
    size_t low = 0, high = count; /* runs below LOW end before CODE */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (runs[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    const struct run *run = &runs[low];
    bool is_mapped = low < count && run->first <= code && (code - run->first) % run->step == 0;
    return is_mapped ? code + run->distance : code;
}

int32_t amp_utf8_lower(int32_t code)
{
    return map(to_lower, AMP_COUNT(to_lower), code);
}

int32_t amp_utf8_upper(int32_t code)
{
    return map(to_upper, AMP_COUNT(to_upper), code);
}

/* The types of elements: one table of what they are called and how they are made, and numbers to
   and from their bits. A float is written as the shortest decimal that reads back as the same bits;
   a NaN that is not the usual one, as its bits (0x7fc00001). Numbers that a small float does not
   have are rounded to the nearest, ties to even. */
#include "element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct small_float half = {5, 10, 15, true, 0x7c00, 0x7e00, 0x7bff};
static const struct small_float bfloat = {8, 7, 127, true, 0x7f80, 0x7fc0, 0x7f7f};
static const struct small_float e4m3 = {4, 3, 7, true, 0, 0x7f, 0x7e};
static const struct small_float e4m3uz = {4, 3, 8, true, 0, 0x80, 0x7f};
static const struct small_float e5m2 = {5, 2, 15, true, 0x7c, 0x7e, 0x7b};
static const struct small_float e5m2uz = {5, 2, 16, true, 0, 0x80, 0x7f};
static const struct small_float e2m1 = {2, 1, 1, true, 0, 0, 7};
static const struct small_float e8m0 = {8, 0, 127, false, 0, 0xff, 0xfe};

static const struct element elements[] = {
    {"float", 1, ELEMENT_FLOAT, 32, 1, NULL},
    {"uint8", 2, ELEMENT_UNSIGNED, 8, 1, NULL},
    {"int8", 3, ELEMENT_SIGNED, 8, 1, NULL},
    {"uint16", 4, ELEMENT_UNSIGNED, 16, 1, NULL},
    {"int16", 5, ELEMENT_SIGNED, 16, 1, NULL},
    {"int32", 6, ELEMENT_SIGNED, 32, 1, NULL},
    {"int64", 7, ELEMENT_SIGNED, 64, 1, NULL},
    {"string", 8, ELEMENT_STRING, 0, 1, NULL},
    {"bool", 9, ELEMENT_UNSIGNED, 8, 1, NULL},
    {"float16", 10, ELEMENT_SMALL, 16, 1, &half},
    {"double", 11, ELEMENT_DOUBLE, 64, 1, NULL},
    {"uint32", 12, ELEMENT_UNSIGNED, 32, 1, NULL},
    {"uint64", 13, ELEMENT_UNSIGNED, 64, 1, NULL},
    {"complex64", 14, ELEMENT_FLOAT, 32, 2, NULL},
    {"complex128", 15, ELEMENT_DOUBLE, 64, 2, NULL},
    {"bfloat16", 16, ELEMENT_SMALL, 16, 1, &bfloat},
    {"float8e4m3fn", 17, ELEMENT_SMALL, 8, 1, &e4m3},
    {"float8e4m3fnuz", 18, ELEMENT_SMALL, 8, 1, &e4m3uz},
    {"float8e5m2", 19, ELEMENT_SMALL, 8, 1, &e5m2},
    {"float8e5m2fnuz", 20, ELEMENT_SMALL, 8, 1, &e5m2uz},
    {"uint4", 21, ELEMENT_UNSIGNED, 4, 1, NULL},
    {"int4", 22, ELEMENT_SIGNED, 4, 1, NULL},
    {"float4e2m1", 23, ELEMENT_SMALL, 4, 1, &e2m1},
    {"float8e8m0", 24, ELEMENT_SMALL, 8, 1, &e8m0},
    {"uint2", 25, ELEMENT_UNSIGNED, 2, 1, NULL},
    {"int2", 26, ELEMENT_SIGNED, 2, 1, NULL},
};

const struct element *find_element(const char *name)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (!strcmp(elements[i].name, name)) {
            return &elements[i];
        }
    }
    return NULL;
}

const struct element *get_element(int id)
{
    return id >= 1 && id <= (int)(sizeof elements / sizeof *elements) ? &elements[id - 1] : NULL;
}

/* ---- small floats ---- */

/* The number of a code without its sign, which is no infinity and no NaN. */
static double decode_small(const struct small_float *format, uint32_t code)
{
    int exponent = (int)(code >> format->fraction_bits);
    double fraction = (double)(code & ((1U << format->fraction_bits) - 1));
    double one = (double)(1U << format->fraction_bits);
    if (exponent == 0 && format->has_sign) {
        return ldexp(fraction / one, 1 - format->bias);
    }
    return ldexp(1 + fraction / one, exponent - format->bias);
}

/* The code nearest to a number that is not negative. */
static uint32_t encode_small(const struct small_float *format, double value)
{
    uint32_t low = 0, high = format->largest;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (decode_small(format, middle) <= value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    double below = decode_small(format, low);
    /* The next one would stand behind the largest, too: there infinity begins. */
    double half_way = (below + decode_small(format, low + 1)) / 2;
    bool is_up = value > half_way || (value == half_way && low & 1);
    if (is_up && low == format->largest) {
        return format->infinity ? format->infinity : low;
    }
    return low + is_up;
}

static uint32_t get_sign_bit(const struct element *element)
{
    return element->small->has_sign ? 1U << (element->bits - 1) : 0;
}

/* Whether the value is best written without an exponent, and was. */
static bool print_whole(char text[32], double value)
{
    bool is_whole = fabs(value) < 1e9 && value == floor(value);
    if (is_whole) {
        sprintf(text, "%.0f", value);
    }
    return is_whole;
}

/* Writes the number of CODE; false where it is an unusual NaN. */
static bool print_small(char text[32], const struct element *element, uint32_t code)
{
    const struct small_float *format = element->small;
    uint32_t sign = get_sign_bit(element), size = code & ~sign;
    const char *minus = code & sign ? "-" : "";
    if (format->nan && (code == format->nan || (size == format->nan && format->infinity))) {
        sprintf(text, "%snan", code == format->nan ? "" : minus);
        return true;
    }
    if (format->infinity && size == format->infinity) {
        sprintf(text, "%sinf", minus);
        return true;
    }
    if (size > format->largest) {
        return false;
    }
    double value = decode_small(format, size);
    if (print_whole(text, *minus ? -value : value)) {
        return true;
    }
    for (int precision = 1; precision < 18; precision++) {
        sprintf(text, "%s%.*g", minus, precision, value);
        if (encode_small(format, strtod(text + strlen(minus), NULL)) == size) {
            break;
        }
    }
    return true;
}

static bool read_small(const struct element *element, double value, uint64_t *bits)
{
    const struct small_float *format = element->small;
    uint64_t sign = signbit(value) ? get_sign_bit(element) : 0;
    if (isnan(value)) {
        *bits = format->infinity ? format->nan | sign : format->nan;
        return format->nan;
    }
    if (isinf(value)) {
        *bits = format->infinity | sign;
        return format->infinity;
    }
    *bits = encode_small(format, fabs(value)) | sign;
    return !signbit(value) || format->has_sign;
}

/* ---- numbers ---- */

static uint64_t get_mask(const struct element *element)
{
    return element->bits == 64 ? UINT64_MAX : ((uint64_t)1 << element->bits) - 1;
}

/* The usual NaN has its highest fraction bit alone. */
static bool is_unusual_nan(const struct element *element, uint64_t bits)
{
    uint64_t fraction = element->kind == ELEMENT_FLOAT ? 0x7fffff : 0xfffffffffffff;
    return (bits & fraction) != (fraction + 1) / 2;
}

static void print_float(char text[32], float value)
{
    for (int precision = 1; precision < 10; precision++) {
        sprintf(text, "%.*g", precision, (double)value);
        if (strtof(text, NULL) == value) {
            break;
        }
    }
}

static void print_double(char text[32], double value)
{
    for (int precision = 1; precision < 18; precision++) {
        sprintf(text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
}

static double get_float(const struct element *element, uint64_t bits)
{
    double value;
    if (element->kind == ELEMENT_DOUBLE) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t low = (uint32_t)bits;
    float single;
    memcpy(&single, &low, sizeof single);
    return (double)single;
}

/* Writes the float of BITS; false where it is an unusual NaN. */
static bool print_large(char text[32], const struct element *element, uint64_t bits)
{
    double value = get_float(element, bits);
    if (isnan(value)) {
        sprintf(text, bits >> (element->bits - 1) ? "-nan" : "nan");
        return !is_unusual_nan(element, bits);
    }
    if (print_whole(text, value)) {
        return true;
    }
    if (element->kind == ELEMENT_FLOAT) {
        print_float(text, (float)value);
    } else {
        print_double(text, value);
    }
    return true;
}

void put_number(struct buffer *buffer, const struct element *element, uint64_t bits)
{
    char text[32] = "";
    bool is_number = true;
    int above = 64 - element->bits;
    if (element->kind == ELEMENT_SIGNED) {
        sprintf(text, "%lld", (long long)((int64_t)(bits << above) >> above));
    } else if (element->kind == ELEMENT_UNSIGNED) {
        sprintf(text, "%llu", (unsigned long long)bits);
    } else if (element->kind == ELEMENT_SMALL) {
        is_number = print_small(text, element, (uint32_t)bits);
    } else {
        is_number = print_large(text, element, bits);
    }
    if (!is_number) {
        sprintf(text, "0x%llx", (unsigned long long)bits);
    }
    put(buffer, text);
}

static bool read_integer_bits(const struct element *element, const char *word, uint64_t *bits)
{
    char *end;
    if (element->kind == ELEMENT_UNSIGNED) {
        *bits = strtoull(word, &end, 0);
        return !*end && *word != '-' && *bits <= get_mask(element);
    }
    int64_t value = strtoll(word, &end, 0), top = (int64_t)(get_mask(element) >> 1);
    *bits = (uint64_t)value & get_mask(element);
    return !*end && value <= top && value >= -top - 1;
}

static bool read_large(const struct element *element, const char *word, uint64_t *bits)
{
    char *end;
    if (element->kind == ELEMENT_DOUBLE) {
        double value = strtod(word, &end);
        memcpy(bits, &value, sizeof value);
    } else {
        float value = strtof(word, &end);
        uint32_t low;
        memcpy(&low, &value, sizeof low);
        *bits = low;
    }
    return !*end;
}

bool read_number(const struct element *element, const char *word, uint64_t *bits)
{
    char *end;
    if (element->kind == ELEMENT_SIGNED || element->kind == ELEMENT_UNSIGNED) {
        return read_integer_bits(element, word, bits);
    }
    if (!strncmp(word, "0x", 2)) {
        *bits = strtoull(word, &end, 16);
        return !*end && *bits <= get_mask(element);
    }
    if (element->kind == ELEMENT_SMALL) {
        double value = strtod(word, &end);
        return !*end && read_small(element, value, bits);
    }
    return read_large(element, word, bits);
}

uint64_t encode_number(const struct element *element, double value)
{
    uint64_t bits = 0;
    if (element->kind == ELEMENT_SMALL) {
        read_small(element, value, &bits);
    } else if (element->kind == ELEMENT_DOUBLE) {
        memcpy(&bits, &value, sizeof value);
    } else {
        float single = (float)value;
        memcpy(&bits, &single, sizeof single);
    }
    return bits;
}

double decode_number(const struct element *element, uint64_t bits)
{
    if (element->kind != ELEMENT_SMALL) {
        return get_float(element, bits);
    }
    uint32_t code = (uint32_t)bits, sign = get_sign_bit(element);
    double size =
        (code & ~sign) > element->small->largest ? 0 : decode_small(element->small, code & ~sign);
    return code & sign ? -size : size;
}

/* ---- packed bytes ---- */

uint64_t get_bits(const struct element *element, const void *bytes, size_t i)
{
    const unsigned char *from = bytes;
    if (element->bits < 8) {
        size_t per_byte = 8 / (size_t)element->bits;
        return from[i / per_byte] >> i % per_byte * (size_t)element->bits & get_mask(element);
    }
    uint64_t bits = 0;
    memcpy(&bits, from + i * (size_t)element->bits / 8, (size_t)element->bits / 8);
    return bits;
}

void put_bits(struct buffer *buffer, const struct element *element, const uint64_t *bits, size_t n)
{
    size_t per_byte = element->bits < 8 ? 8 / (size_t)element->bits : 1;
    for (size_t i = 0; i < n; i += per_byte) {
        uint64_t value = 0;
        for (size_t j = 0; j < per_byte && i + j < n; j++) {
            value |= bits[i + j] << j * (size_t)element->bits;
        }
        put_bytes(buffer, &value, element->bits < 8 ? 1 : (size_t)element->bits / 8);
    }
}

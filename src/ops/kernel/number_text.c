/*
 * Writes numbers as text and reads them back. The C library's conversions are exact and round once;
 * what they take beyond ONNX's numbers (hexadecimal, NaNs with a payload) is refused before they
 * see it.
 */
#include "ops/kernel/number_text.h"

#include "core/arena.h"
#include "core/number/minifloat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value of DTYPE nearest to the number that TEXT is. */
static double parse_as(const char *text, enum amp_dtype dtype)
{
    if (dtype == AMP_FLOAT)
        return (double)strtof(text, NULL);
    double value = strtod(text, NULL);
    if (dtype == AMP_FLOAT16)
        return (double)amp_f16_to_f32(amp_f64_to_f16(value));
    if (dtype == AMP_BFLOAT16)
        return (double)amp_bf16_to_f32(amp_f64_to_bf16(value));
    if (amp_dtype_is_minifloat(dtype))
        return (double)amp_minifloat_to_f32(
            dtype, amp_f64_to_minifloat(dtype, value, true, AMP_ROUND_NEAREST));
    return value;
}

int amp_float_write(double value, enum amp_dtype dtype, char *text)
{
    if (isnan(value))
        return snprintf(text, AMP_NUMBER_TEXT, "NaN");
    if (isinf(value))
        return snprintf(text, AMP_NUMBER_TEXT, value < 0 ? "-INF" : "INF");
    int decimals = 0; /* behind the first digit; 16 tell any two float64 apart */
    do
        snprintf(text, AMP_NUMBER_TEXT, "%.*e", decimals, value);
    while (parse_as(text, dtype) != value && ++decimals <= 16);
    if (value != 0 && (fabs(value) < 1e-4 || fabs(value) >= 1e16))
        return (int)strlen(text);
    decimals -= atoi(strchr(text, 'e') + 1);
    return snprintf(text, AMP_NUMBER_TEXT, "%.*f", decimals < 1 ? 1 : decimals, strtod(text, NULL));
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* TEXT without the spaces around it. */
static struct amp_str trim(struct amp_str text)
{
    while (text.size > 0 && is_space(text.data[text.size - 1]))
        text.size--;
    while (text.size > 0 && is_space(text.data[0]))
        text = (struct amp_str){text.data + 1, text.size - 1};
    return text;
}

static bool is_word(struct amp_str text, const char *word)
{
    return text.size == strlen(word) && strncasecmp(text.data, word, text.size) == 0;
}

/* INF and NaN, with or without a sign. */
static bool read_special(struct amp_str text, double *value)
{
    bool has_sign = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    struct amp_str word = has_sign ? (struct amp_str){text.data + 1, text.size - 1} : text;
    bool is_inf = is_word(word, "inf") || is_word(word, "infinity");
    if (!is_inf && !is_word(word, "nan"))
        return false;
    double magnitude = is_inf ? (double)INFINITY : (double)NAN;
    *value = has_sign && text.data[0] == '-' ? -magnitude : magnitude;
    return true;
}

/* Calls READ with TEXT as a C string; false when that is no decimal number. */
static bool read_digits(struct amp_str text, bool (*read)(const char *text, void *value),
                        void *value)
{
    char few[128], *copy = text.size < sizeof few ? few : amp_xmalloc(text.size + 1, 1);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    bool is_number =
        text.size > 0 && strspn(copy, "0123456789.eE+-") == text.size && read(copy, value);
    if (copy != few)
        free(copy);
    return is_number;
}

static bool read_float32(const char *text, void *value)
{
    char *end;
    *(double *)value = (double)strtof(text, &end);
    return *end == '\0';
}

static bool read_float64(const char *text, void *value)
{
    char *end;
    *(double *)value = strtod(text, &end);
    return *end == '\0';
}

bool amp_float_read(struct amp_str text, enum amp_dtype dtype, double *value)
{
    text = trim(text);
    return read_special(text, value) ||
           read_digits(text, dtype == AMP_FLOAT ? read_float32 : read_float64, value);
}

/* An integer of 64 bits, signed or unsigned. */
static bool read_integer(const char *text, void *value)
{
    char *end;
    errno = 0;
    *(int64_t *)value =
        text[0] == '-' ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

bool amp_int_read(struct amp_str text, bool is_signed, int64_t *value)
{
    double number;
    text = trim(text);
    if (read_digits(text, read_integer, value))
        return true;
    if (!amp_float_read(text, AMP_DOUBLE, &number))
        return false;
    if (!is_signed && number >= 0x1p63)
        *value = number >= 0x1p64 ? -1 : (int64_t)(uint64_t)number;
    else if (isnan(number))
        *value = 0;
    else
        *value = number >= 0x1p63 ? INT64_MAX : number < -0x1p63 ? INT64_MIN : (int64_t)number;
    return true;
}

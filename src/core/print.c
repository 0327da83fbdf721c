/*
 * The one place where text for people is put together: takes a format and arguments as printf does,
 * gives the text with control characters of the arguments escaped. Numbers are left to the C
 * library; %n is not taken.
 */
#include "core/print.h"

#include "core/array.h"
#include "core/utf8.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes; /* NULL: none yet, or memory is out */
    size_t used, size;
    bool is_lost;   /* memory is out */
    bool is_markup; /* for HTML and XML */
};

static void put(struct text *text, const char *bytes, size_t count)
{
    if (text->is_lost)
        return;
    if (text->size - text->used <= count) {
        size_t size = 2 * text->size + count + 64;
        char *moved = realloc(text->bytes, size);
        if (moved == NULL) {
            text->is_lost = true;
            return;
        }
        text->bytes = moved;
        text->size = size;
    }
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    text->bytes[text->used] = '\0';
}

/* ---- characters ---- */

/* Code points that are not shown: controls, and what ends lines or turns their direction. */
static const struct {
    int32_t first, last;
} hidden[] = {
    {AMP_UTF8_INVALID, 0x08}, {0x0a, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
    {0x200e, 0x200f},         {0x2028, 0x202e}, {0x2066, 0x2069},
};

bool amp_print_is_shown(int32_t code)
{
    for (size_t i = 0; i < AMP_COUNT(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

/* Puts in what stands for CODE, the first byte of which is FIRST. */
static void put_hidden(struct text *text, int32_t code, unsigned char first)
{
    char escape[16] = "\\n";
    if (code == '\r')
        escape[1] = 'r';
    else if (code > 0x7f)
        snprintf(escape, sizeof escape, "\\u%04X", (unsigned)code);
    else if (code != '\n')
        snprintf(escape, sizeof escape, "\\x%02X", first);
    put(text, escape, strlen(escape));
}

/* What stands for CODE in markup, where it would mean something else (XML 1.0, 2.4); NULL: it
   stands for itself. */
static const char *entity_of(int32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Whether XML has no place for CODE (XML 1.0, 2.2), whatever else may be shown. */
static bool is_no_markup(int32_t code)
{
    return code == 0xfffe || code == 0xffff;
}

static void put_clean(struct text *text, const char *bytes, size_t count)
{
    const char *end = bytes + count;
    while (bytes < end) {
        const char *begin = bytes;
        int32_t code = amp_utf8_next(&bytes, end);
        const char *entity = text->is_markup ? entity_of(code) : NULL;
        if (entity != NULL)
            put(text, entity, strlen(entity));
        else if (amp_print_is_shown(code) && !(text->is_markup && is_no_markup(code)))
            put(text, begin, (size_t)(bytes - begin));
        else
            put_hidden(text, code, (unsigned char)*begin);
    }
}

/* ---- conversions ---- */

/* One conversion of a format, from its % to its letter. */
struct conversion {
    char spec[32];
    char letter;
    int longs;               /* the letters among l, z, j, t, each of which is a long */
    bool is_left;            /* a - among the flags */
    bool has_width_argument; /* a * for the width */
    bool has_precision, has_precision_argument;
    int width, precision;
};

static int read_number(const char **at)
{
    int number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = 10 * number + (**at - '0');
    return number;
}

/* Reads the conversion that begins at FORMAT; gives the place behind it. */
static const char *read_conversion(const char *format, struct conversion *c)
{
    const char *at = format + 1;
    *c = (struct conversion){.width = 0};
    for (; strchr("-+ #0", *at) != NULL && *at != '\0'; at++)
        c->is_left |= *at == '-';
    c->has_width_argument = *at == '*';
    at += c->has_width_argument;
    c->width = read_number(&at);
    c->has_precision = *at == '.';
    at += c->has_precision;
    c->has_precision_argument = *at == '*';
    at += c->has_precision_argument;
    c->precision = read_number(&at);
    for (; strchr("hlzjt", *at) != NULL && *at != '\0'; at++)
        c->longs += *at == 'l' || *at == 'z' || *at == 'j' || *at == 't';
    c->letter = *at;
    at += *at != '\0';
    snprintf(c->spec, sizeof c->spec, "%.*s", (int)(at - format), format);
    return at;
}

/* The arguments of a call, in a struct because a va_list may be an array. */
struct arguments {
    va_list list;
};

static void read_stars(struct conversion *c, struct arguments *args)
{
    if (c->has_width_argument)
        c->width = va_arg(args->list, int);
    if (c->has_precision_argument)
        c->precision = va_arg(args->list, int);
    c->is_left |= c->width < 0;
    c->width = c->width < 0 ? -c->width : c->width;
    c->has_precision &= c->precision >= 0;
}

static void put_string(struct text *text, const struct conversion *c, const char *string)
{
    const char *shown = string != NULL ? string : "(null)";
    size_t begin = text->used;
    size_t count = c->has_precision ? strnlen(shown, (size_t)c->precision) : strlen(shown);
    put_clean(text, shown, count);
    size_t used = text->used - begin, width = (size_t)c->width;
    for (size_t i = used; i < width; i++)
        put(text, " ", 1);
    if (!c->is_left && used < width && !text->is_lost) {
        memmove(text->bytes + begin + (width - used), text->bytes + begin, used);
        memset(text->bytes + begin, ' ', width - used);
    }
}

/* Puts in what the C library makes of a number. */
static void put_number(struct text *text, const char *spec, va_list args)
{
    char short_text[512];
    int count = vsnprintf(short_text, sizeof short_text, spec, args);
    put(text, short_text,
        count < 0                           ? 0
        : (size_t)count < sizeof short_text ? (size_t)count
                                            : sizeof short_text - 1);
}

/* Steps over the arguments of a number. */
static void skip(const struct conversion *c, struct arguments *args)
{
    for (int i = c->has_width_argument + c->has_precision_argument; i > 0; i--)
        (void)va_arg(args->list, int);
    if (strchr("feEgGaA", c->letter) != NULL)
        (void)va_arg(args->list, double);
    else if (c->letter == 'p')
        (void)va_arg(args->list, void *);
    else if (c->longs > 1)
        (void)va_arg(args->list, long long);
    else if (c->longs == 1)
        (void)va_arg(args->list, long);
    else
        (void)va_arg(args->list, int);
}

static void put_conversion(struct text *text, struct conversion *c, struct arguments *args)
{
    va_list copy;
    if (c->letter == '%') {
        put(text, "%", 1);
    } else if (c->letter == 's') {
        read_stars(c, args);
        put_string(text, c, va_arg(args->list, const char *));
    } else if (c->letter == 'c') {
        read_stars(c, args);
        const char character[] = {(char)va_arg(args->list, int), '\0'};
        put_string(text, c, character);
    } else {
        va_copy(copy, args->list);
        put_number(text, c->spec, copy);
        va_end(copy);
        skip(c, args);
    }
}

__attribute__((format(printf, 1, 0))) static char *print_format(const char *format, va_list list,
                                                                bool is_markup)
{
    struct text text = {.bytes = NULL, .is_markup = is_markup};
    struct arguments args;
    struct conversion conversion;
    va_copy(args.list, list);
    put(&text, "", 0);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        put(&text, format, plain);
        format += plain;
        if (*format == '\0')
            break;
        format = read_conversion(format, &conversion);
        put_conversion(&text, &conversion, &args);
    }
    va_end(args.list);
    if (!text.is_lost)
        return text.bytes;
    free(text.bytes);
    return NULL;
}

char *amp_print_format(const char *format, va_list list)
{
    return print_format(format, list, false);
}

char *amp_print_markup(const char *format, va_list list)
{
    return print_format(format, list, true);
}

int amp_print(FILE *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = amp_print_format(format, args);
    va_end(args);
    if (text == NULL)
        return -1;
    int count = (int)strlen(text);
    fputs(text, file);
    free(text);
    return count;
}

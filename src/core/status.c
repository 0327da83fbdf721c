/*
 * Failure texts: takes a status and a format, keeps the first failure. Does not print. Names in the
 * texts come from files that may hold anything: they must not hide the rest of the text or tell the
 * terminal what to do.
 */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Turns control characters, which a terminal would obey, into '?'; line ends and tabs stay. */
static void clean(char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == '\x7f')
            *text = '?';
}

/* Puts HEAD, JOINT and TAIL into TEXT of SIZE bytes; where they are too long, the middle is left
   out: place and reason stand at the ends. */
static void join(char *text, size_t size, const char *head, const char *joint, const char *tail)
{
    size_t parts[] = {strlen(head), strlen(joint), strlen(tail)};
    char *whole = malloc(parts[0] + parts[1] + parts[2] + 1);
    if (whole == NULL) {
        snprintf(text, size, "%s", tail);
        return;
    }
    size_t length = (size_t)sprintf(whole, "%s%s%s", head, joint, tail);
    size_t half = (size - sizeof "...") / 2;
    if (length < size)
        memcpy(text, whole, length + 1);
    else
        snprintf(text, size, "%.*s...%s", (int)half, whole, whole + length - half);
    free(whole);
    clean(text);
}

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

void amp_error_record(struct amp_error *err, enum amp_status status, const char *format, ...)
{
    if (err == NULL || err->status != AMP_OK)
        return;
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    join(err->text, sizeof err->text, "", "", text ? text : format);
    free(text);
    err->status = status;
}

void amp_error_prefix(struct amp_error *err, const char *format, ...)
{
    char tail[sizeof err->text];
    memcpy(tail, err->text, sizeof tail);
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    join(err->text, sizeof err->text, text ? text : format, ": ", tail);
    free(text);
}

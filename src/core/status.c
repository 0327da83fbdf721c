/*
 * Failures: takes a status and a format, keeps the first failure with its text. The arguments of
 * the format are cleaned (core/print.h), so that a text can be shown as it is. Does not print.
 */
#include "core/status.h"

#include "core/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether BYTE continues a UTF-8 character, so that a text cannot be cut before it. */
static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Writes HEAD, JOINT and TAIL to TEXT of SIZE bytes; where they are too long, the middle is left
   out, because place and reason stand at the ends. */
static void join(char *text, size_t size, const char *head, const char *joint, const char *tail)
{
    size_t parts[] = {strlen(head), strlen(joint), strlen(tail)};
    char *whole = malloc(parts[0] + parts[1] + parts[2] + 1);
    if (whole == NULL) {
        snprintf(text, size, "%s", tail);
        return;
    }
    size_t length = (size_t)sprintf(whole, "%s%s%s", head, joint, tail);
    size_t half = (size - sizeof "...") / 2, end = half, begin = length - half;
    if (length < size) {
        memcpy(text, whole, length + 1);
    } else {
        for (; end > 0 && is_inside(whole[end]); end--)
            ;
        for (; is_inside(whole[begin]); begin++)
            ;
        snprintf(text, size, "%.*s...%s", (int)end, whole, whole + begin);
    }
    free(whole);
}

void amp_error_record(struct amp_error *err, enum amp_status status, const char *format, ...)
{
    if (err == NULL || err->status != AMP_OK)
        return;
    va_list args;
    va_start(args, format);
    char *text = amp_print_format(format, args);
    va_end(args);
    join(err->text, sizeof err->text, "", "", text ? text : format);
    free(text);
    err->status = status;
}

enum amp_status amp_error_copy(struct amp_error *err, const struct amp_error *failed)
{
    if (err != NULL && err->status == AMP_OK)
        *err = *failed;
    return failed->status;
}

void amp_error_prefix(struct amp_error *err, const char *format, ...)
{
    char tail[sizeof err->text];
    memcpy(tail, err->text, sizeof tail);
    va_list args;
    va_start(args, format);
    char *text = amp_print_format(format, args);
    va_end(args);
    join(err->text, sizeof err->text, text ? text : format, ": ", tail);
    free(text);
}

/* ---- what the program's callers see ---------------------------------------------------------- */

enum { EXIT_OK = 0, EXIT_OUTSIDE_TOLERANCE = 1, EXIT_BAD_DATA = 3, EXIT_UNSUPPORTED = 4 };

static const struct {
    const char *name;
    int exit_code;
} statuses[] = {[AMP_OK] = {"ok", EXIT_OK},
                [AMP_USAGE] = {"usage", AMP_EXIT_SYSTEM},
                [AMP_IO] = {"system", AMP_EXIT_SYSTEM},
                [AMP_MODEL] = {"model", EXIT_BAD_DATA},
                [AMP_RULES] = {"rules", EXIT_BAD_DATA},
                [AMP_UNSUPPORTED] = {"unsupported", EXIT_UNSUPPORTED},
                [AMP_TYPE] = {"type", EXIT_BAD_DATA},
                [AMP_KERNEL] = {"kernel", AMP_EXIT_SYSTEM},
                [AMP_MISMATCH] = {"outside", EXIT_OUTSIDE_TOLERANCE},
                [AMP_AGAIN] = {"kernel", AMP_EXIT_SYSTEM}};

int amp_status_exit_code(enum amp_status status)
{
    return statuses[status].exit_code;
}

const char *amp_status_name(enum amp_status status)
{
    return statuses[status].name;
}

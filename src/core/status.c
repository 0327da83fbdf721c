/*
 * Failure texts: takes a status and a format, keeps the first failure. Does not print.
 */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum amp_status amp_fail(struct amp_error *err, enum amp_status status, const char *format, ...)
{
    if (err == NULL || err->status != AMP_OK)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->status = status;
    return status;
}

void amp_error_prefix(struct amp_error *err, const char *format, ...)
{
    char tail[sizeof err->text];
    memcpy(tail, err->text, sizeof tail);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", tail);
}

/*
 * Values as JSON, for all reports: takes numbers, texts and shapes, gives jansson's values; writes
 * whole documents. Numbers that JSON does not have become texts, texts that are no UTF-8 a note.
 */
#include "cli/report/json.h"

#include "core/arena.h"
#include "core/file/output.h"
#include "core/print.h"
#include "core/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *amp_json_number(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

json_t *amp_json_number_or_null(double value)
{
    return isnan(value) ? json_null() : amp_json_number(value);
}

double amp_json_number_of(const json_t *number)
{
    const char *text = json_string_value(number);
    if (json_is_number(number))
        return json_number_value(number);
    return text != NULL ? strtod(text, NULL) : (double)NAN;
}

json_t *amp_json_text(const char *text)
{
    json_t *string = json_string(text);
    return string != NULL ? string : json_string("(not UTF-8)");
}

json_t *amp_json_text_or_null(const char *text)
{
    return text != NULL ? amp_json_text(text) : json_null();
}

json_t *amp_json_texts(const char *const *texts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, amp_json_text(texts[i]));
    return array;
}

json_t *amp_json_dtype(enum amp_dtype dtype)
{
    return dtype == AMP_UNDEFINED ? json_null() : json_string(amp_dtype_name(dtype));
}

json_t *amp_json_count(uint64_t count)
{
    return json_integer((json_int_t)count);
}

void amp_json_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

json_t *amp_json_shape(const struct amp_shape *shape)
{
    if (shape->rank < 0)
        return json_null();
    json_t *dims = json_array();
    for (int i = 0; i < shape->rank; i++)
        json_array_append_new(dims,
                              shape->dims[i] < 0 ? json_null() : json_integer(shape->dims[i]));
    return dims;
}

json_t *amp_json_pair(const char *first, uint64_t a, const char *second, uint64_t b)
{
    json_t *object = json_object();
    amp_json_set(object, first, amp_json_count(a));
    amp_json_set(object, second, amp_json_count(b));
    return object;
}

/* A character that must not be shown stands in a string, since jansson writes ASCII elsewhere. It
   escapes the control characters below U+0020 itself; the others that are not shown have at most
   four hexadecimal digits. */
char *amp_json_dump(json_t *root, size_t flags)
{
    char *text = json_dumps(root, flags | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (text == NULL)
        return NULL;
    size_t size = strlen(text);
    char *clean = amp_xmalloc(6 * size + 1, 1), *to = clean;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *begin = at;
        int32_t code = amp_utf8_next(&at, end);
        if (amp_print_is_shown(code) || code == '\n')
            to = mempcpy(to, begin, (size_t)(at - begin));
        else
            to += sprintf(to, "\\u%04X", (unsigned)code);
    }
    *to = '\0';
    free(text);
    return clean;
}

enum amp_status amp_json_write(json_t *root, const char *path, struct amp_error *err)
{
    char *text = amp_json_dump(root, JSON_INDENT(2));
    if (text == NULL)
        return amp_fail(err, AMP_IO, "%s: out of memory", path);
    enum amp_status status = amp_output_write_text(path, text, err);
    free(text);
    return status;
}

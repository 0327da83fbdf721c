/*
 * Arrays of text in NumPy's files: takes and gives tensors of strings, UTF-8 on this side, code
 * points or bytes of fixed room in the file. Headers are npy.c's.
 */
#include "onnx/sample/npy_text.h"

#include "core/arena.h"
#include "core/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_SIZE = 4 };

bool amp_npy_text_descr(const char *descr, struct amp_npy_text *text)
{
    text->is_unicode = strncmp(descr, "<U", 2) == 0 || strncmp(descr, "=U", 2) == 0;
    if (!text->is_unicode && strncmp(descr, "|S", 2) != 0)
        return false;
    size_t digits = strspn(descr + 2, "0123456789");
    text->width = strtoul(descr + 2, NULL, 10);
    return digits > 0 && descr[2 + digits] == '\0' && text->width > 0;
}

static int32_t code_at(const unsigned char *data, size_t index)
{
    const unsigned char *bytes = data + index * CODE_SIZE;
    return (int32_t)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24);
}

/* Writes the element of WIDTH code points at DATA to TO (NULL: only its length counts) and returns
   the bytes that takes; SIZE_MAX when one is no code point. */
static size_t read_codes(const unsigned char *data, size_t width, char *to)
{
    char scratch[AMP_UTF8_MAX] = {0};
    size_t size = 0;
    while (width > 0 && code_at(data, width - 1) == 0)
        width--;
    for (size_t i = 0; i < width; i++) {
        int32_t code = code_at(data, i);
        if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return SIZE_MAX;
        size += amp_utf8_put(code, to != NULL ? to + size : scratch);
    }
    return size;
}

/* Copies the element of WIDTH bytes at DATA to TO (NULL: only its length counts) and returns its
   length without the zeros behind it. */
static size_t read_bytes(const unsigned char *data, size_t width, char *to)
{
    while (width > 0 && data[width - 1] == 0)
        width--;
    if (to != NULL && width > 0)
        memcpy(to, data, width);
    return width;
}

enum amp_status amp_npy_text_size(const struct amp_npy_text *text, size_t count, size_t size,
                                  size_t *needed, struct amp_error *err)
{
    size_t room;
    if (!__builtin_mul_overflow(text->width, text->is_unicode ? CODE_SIZE : 1, &room) &&
        !__builtin_mul_overflow(room, count, needed) && *needed <= size)
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    ".npy file is truncated: %zu bytes of data for %zu texts of %zu characters",
                    size, count, text->width);
}

enum amp_status amp_npy_text_read(struct amp_tensor *tensor, const unsigned char *data,
                                  const struct amp_npy_text *text, struct amp_error *err)
{
    size_t (*read)(const unsigned char *, size_t, char *) =
        text->is_unicode ? read_codes : read_bytes;
    size_t count = amp_tensor_count(tensor), total = 0;
    size_t room = text->width * (text->is_unicode ? CODE_SIZE : 1);
    char *to;
    for (size_t i = 0; i < count; i++) {
        size_t length = read(data + i * room, text->width, NULL);
        if (length == SIZE_MAX)
            return amp_fail(err, AMP_MODEL, ".npy with text that is no Unicode: element %zu", i);
        total += length;
    }
    AMP_TRY(amp_strings_alloc(tensor, total, &to, err));
    for (size_t i = 0; i < count; i++) {
        struct amp_str *string = (struct amp_str *)tensor->data + i;
        *string = (struct amp_str){to, read(data + i * room, text->width, to)};
        to += string->size;
    }
    return AMP_OK;
}

/* The code points of TEXT go to CODES (NULL: only their number counts). Returns their number;
   SIZE_MAX when they would not come back. */
static size_t split_codes(struct amp_str text, int32_t *codes)
{
    const char *at = text.size > 0 ? text.data : "", *end = at + text.size;
    size_t count = 0;
    if (text.size > 0 && end[-1] == '\0')
        return SIZE_MAX;
    for (; at < end; count++) {
        int32_t code = amp_utf8_next(&at, end);
        if (code == AMP_UTF8_INVALID)
            return SIZE_MAX;
        if (codes != NULL)
            codes[count] = code;
    }
    return count;
}

enum amp_status amp_npy_text_width(const struct amp_tensor *tensor, size_t *width,
                                   struct amp_error *err)
{
    const struct amp_str *texts = tensor->data;
    *width = 1;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++) {
        size_t count = split_codes(texts[i], NULL);
        if (count == SIZE_MAX)
            return amp_fail(err, AMP_UNSUPPORTED,
                            "a .npy file cannot hold text that is no UTF-8 or ends with a zero, as "
                            "element %zu; .pb can",
                            i);
        *width = count > *width ? count : *width;
    }
    return AMP_OK;
}

enum amp_status amp_npy_text_write(struct amp_output *output, const struct amp_tensor *tensor,
                                   size_t width, struct amp_error *err)
{
    const struct amp_str *texts = tensor->data;
    int32_t *codes = amp_xmalloc(width, sizeof *codes);
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < amp_tensor_count(tensor) && status == AMP_OK; i++) {
        memset(codes, 0, width * sizeof *codes);
        split_codes(texts[i], codes);
        status = amp_output_write(output, codes, width * sizeof *codes, err);
    }
    free(codes);
    return status;
}

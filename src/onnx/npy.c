/*
 * NumPy's .npy and .npz files in and out. The header is a Python dict literal of three known keys;
 * it is searched for them, not evaluated.
 */
#include "onnx/npy.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/words.h"
#include "onnx/npy_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

static const struct {
    const char *descr; /* without the byte order */
    enum amp_dtype dtype;
} types[] = {{"f4", AMP_FLOAT},    {"f2", AMP_FLOAT16},   {"f8", AMP_DOUBLE},     {"i1", AMP_INT8},
             {"i2", AMP_INT16},    {"i4", AMP_INT32},     {"i8", AMP_INT64},      {"u1", AMP_UINT8},
             {"u2", AMP_UINT16},   {"u4", AMP_UINT32},    {"u8", AMP_UINT64},     {"b1", AMP_BOOL},
             {"V2", AMP_BFLOAT16}, {"c8", AMP_COMPLEX64}, {"c16", AMP_COMPLEX128}};

enum { N_TYPES = AMP_COUNT(types), MAGIC_SIZE = 6 };

static const char magic[MAGIC_SIZE + 1] = "\x93NUMPY";

/* The text after "'KEY':" in HEADER; NULL when the key is not there. */
static const char *find_key(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *found = strstr(header, quoted);
    return found ? found + strlen(quoted) + strspn(found + strlen(quoted), " ") : NULL;
}

/* The type of the elements; of text also the room that each takes. */
struct element {
    enum amp_dtype dtype;
    size_t width;
    bool is_unicode;
};

static enum amp_status parse_descr(const char *text, struct element *element, struct amp_error *err)
{
    char descr[24] = "";
    *element = (struct element){.dtype = AMP_UNDEFINED};
    if (text == NULL || sscanf(text, "'%23[^']'", descr) != 1)
        return amp_fail(err, AMP_MODEL, ".npy header without a simple 'descr'");
    for (size_t i = 0; i < N_TYPES; i++)
        if (strchr("<|=", descr[0]) && strcmp(descr + 1, types[i].descr) == 0)
            element->dtype = types[i].dtype;
    if (amp_npy_text_descr(descr, &element->width, &element->is_unicode))
        element->dtype = AMP_STRING;
    if (element->dtype != AMP_UNDEFINED)
        return AMP_OK;
    if (strcmp(descr, "|O") == 0)
        return amp_fail(err, AMP_MODEL,
                        ".npy of Python objects; text is read as '<U' or '|S' (astype(str))");
    return amp_fail(err, AMP_MODEL,
                    ".npy of type '%s'; little-endian numbers, bool and text are read", descr);
}

static enum amp_status parse_shape(const char *text, struct amp_shape *shape, struct amp_error *err)
{
    if (text == NULL || *text != '(')
        return amp_fail(err, AMP_MODEL, ".npy header without 'shape'");
    shape->rank = 0;
    for (text++; *text != ')';) {
        char *end;
        long long dim = strtoll(text, &end, 10);
        if (end == text || dim < 0 || shape->rank == AMP_RANK_MAX)
            return amp_fail(err, AMP_MODEL,
                            ".npy header with a wrong shape; at most %d dims are "
                            "possible",
                            AMP_RANK_MAX);
        shape->dims[shape->rank++] = dim;
        text = end + strspn(end, ", ");
    }
    return AMP_OK;
}

/* Copies Fortran-ordered elements into row-major order. */
static void from_fortran(struct amp_tensor *tensor, const void *fortran)
{
    size_t width = amp_dtype_bits(tensor->dtype) / 8, count = amp_tensor_count(tensor);
    const struct amp_shape *shape = &tensor->shape;
    const unsigned char *from = fortran;
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, at = 0;
        for (int d = 0; d < shape->rank; d++) {
            at = at * (size_t)shape->dims[d] + rest % (size_t)shape->dims[d];
            rest /= (size_t)shape->dims[d];
        }
        memcpy((unsigned char *)tensor->data + at * width, from + i * width, width);
    }
}

/* The header's text, which the caller frees, and the offset of the data; NULL when it is no such
   file. */
static char *find_header(const unsigned char *data, size_t size, size_t *offset,
                         struct amp_error *err)
{
    if (size < 12 || memcmp(data, magic, MAGIC_SIZE) != 0 || data[6] < 1 || data[6] > 3) {
        amp_fail(err, AMP_MODEL, "not a .npy file of version 1, 2 or 3");
        return NULL;
    }
    size_t start = data[6] == 1 ? 10 : 12, length = data[8] | (size_t)data[9] << 8;
    if (data[6] > 1)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > size - start) {
        amp_fail(err, AMP_MODEL, ".npy file is truncated");
        return NULL;
    }
    char *header = amp_xcalloc(length + 1, 1);
    memcpy(header, data + start, length);
    *offset = start + length;
    return header;
}

static enum amp_status read_texts(const struct element *element, bool is_fortran,
                                  const unsigned char *data, size_t size, struct amp_tensor *tensor,
                                  struct amp_error *err)
{
    AMP_TRY(amp_npy_text_read(tensor, data, size, element->width, element->is_unicode, err));
    if (is_fortran) {
        size_t bytes = amp_tensor_size(tensor);
        struct amp_str *texts = amp_xmalloc(bytes, 1);
        memcpy(texts, tensor->data, bytes);
        from_fortran(tensor, texts);
        free(texts);
    }
    return AMP_OK;
}

static enum amp_status parse_body(const char *header, const unsigned char *data, size_t size,
                                  struct amp_tensor *tensor, struct amp_error *err)
{
    const char *order = find_key(header, "fortran_order");
    bool is_fortran = order != NULL && strncmp(order, "True", 4) == 0;
    struct element element;
    size_t needed;
    AMP_TRY(parse_descr(find_key(header, "descr"), &element, err));
    tensor->dtype = element.dtype;
    AMP_TRY(parse_shape(find_key(header, "shape"), &tensor->shape, err));
    AMP_TRY(amp_shape_size(&tensor->shape, tensor->dtype, &needed, err));
    if (tensor->dtype == AMP_STRING)
        return read_texts(&element, is_fortran, data, size, tensor, err);
    if (size < needed)
        return amp_fail(err, AMP_MODEL, ".npy file is truncated: %zu bytes of data, %zu needed",
                        size, needed);
    AMP_TRY(amp_tensor_alloc(tensor, err));
    if (is_fortran)
        from_fortran(tensor, data);
    else if (needed > 0)
        memcpy(tensor->data, data, needed);
    return AMP_OK;
}

enum amp_status amp_npy_parse(const unsigned char *data, size_t size, struct amp_tensor *tensor,
                              struct amp_error *err)
{
    size_t offset;
    *tensor = (struct amp_tensor){.data = NULL};
    char *header = find_header(data, size, &offset, err);
    if (header == NULL)
        return AMP_MODEL;
    enum amp_status status = parse_body(header, data + offset, size - offset, tensor, err);
    free(header);
    if (status != AMP_OK)
        amp_tensor_release(tensor);
    return status;
}

/* Writes the header as NumPy does: with room for the first dim to grow to GROWTH digits in place,
   and padded so that the data start at a multiple of 64 bytes. */
static enum amp_status write_header(struct amp_output *output, const char *descr,
                                    const struct amp_shape *shape, struct amp_error *err)
{
    enum { GROWTH = 21 };
    char text[512];
    int digits = shape->rank > 0 ? snprintf(NULL, 0, "%lld", (long long)shape->dims[0]) : GROWTH;
    size_t used =
        (size_t)snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                         strcmp(descr + 1, "1") == 0 && descr[0] != 'U' ? '|' : '<', descr);
    for (int i = 0; i < shape->rank; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)shape->dims[i]);
    if (shape->rank == 1)
        text[used++] = ',';
    used += (size_t)snprintf(text + used, sizeof text - used, "), }%*s", GROWTH - digits, "");
    while ((10 + used + 1) % 64 != 0)
        text[used++] = ' ';
    text[used++] = '\n';
    unsigned char start[10] = {
        0, 0, 0, 0, 0, 0, 1, 0, (unsigned char)(used & 0xFF), (unsigned char)(used >> 8)};
    memcpy(start, magic, MAGIC_SIZE);
    AMP_TRY(amp_output_write(output, start, sizeof start, err));
    return amp_output_write(output, text, used, err);
}

static enum amp_status write_texts(struct amp_output *output, const struct amp_tensor *tensor,
                                   struct amp_error *err)
{
    char descr[32];
    size_t width;
    AMP_TRY(amp_npy_text_width(tensor, &width, err));
    snprintf(descr, sizeof descr, "U%zu", width);
    AMP_TRY(write_header(output, descr, &tensor->shape, err));
    return amp_npy_text_write(output, tensor, width, err);
}

enum amp_status amp_npy_write(struct amp_output *output, const struct amp_tensor *tensor,
                              struct amp_error *err)
{
    if (tensor->dtype == AMP_STRING && !amp_is_list(tensor))
        return write_texts(output, tensor, err);
    for (size_t i = 0; i < N_TYPES && !amp_is_list(tensor); i++)
        if (types[i].dtype == tensor->dtype) {
            AMP_TRY(write_header(output, types[i].descr, &tensor->shape, err));
            return amp_output_write(output, tensor->data, amp_tensor_size(tensor), err);
        }
    return amp_fail(err, AMP_UNSUPPORTED, "a .npy file cannot hold %s; .pb can",
                    amp_is_list(tensor) ? "a list of tensors" : amp_dtype_name(tensor->dtype));
}

static enum amp_status read_entry(zip_t *zip, zip_uint64_t index, const char *name,
                                  amp_npz_visit *visit, void *context, struct amp_error *err)
{
    zip_stat_t info;
    if (zip_stat_index(zip, index, 0, &info) != 0 || info.size > SIZE_MAX / 2)
        return amp_fail(err, AMP_MODEL, "array '%s' cannot be read", name);
    zip_file_t *file = zip_fopen_index(zip, index, 0);
    unsigned char *data = malloc(info.size ? info.size : 1);
    struct amp_tensor tensor;
    enum amp_status status;
    if (file == NULL || data == NULL || zip_fread(file, data, info.size) != (zip_int64_t)info.size)
        status = amp_fail(err, AMP_MODEL, "array '%s' cannot be read", name);
    else
        status = amp_npy_parse(data, info.size, &tensor, err);
    if (status == AMP_OK) {
        char stem[256];
        snprintf(stem, sizeof stem, "%.*s", (int)(strlen(name) - strlen(".npy")), name);
        status = visit(context, stem, &tensor, err);
    }
    free(data);
    if (file != NULL)
        zip_fclose(file);
    return status;
}

enum amp_status amp_npz_read(const char *path, amp_npz_visit *visit, void *context,
                             struct amp_error *err)
{
    int code;
    zip_t *zip = zip_open(path, ZIP_RDONLY, &code);
    if (zip == NULL)
        return amp_fail(err, AMP_MODEL, "%s: not a .npz file (a zip of .npy files)", path);
    enum amp_status status = AMP_OK;
    zip_int64_t count = zip_get_num_entries(zip, 0);
    for (zip_int64_t i = 0; i < count && status == AMP_OK; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (name != NULL && amp_has_ending(name, ".npy"))
            status = read_entry(zip, (zip_uint64_t)i, name, visit, context, err);
    }
    zip_discard(zip);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", path);
    return status;
}

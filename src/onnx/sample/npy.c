/*
 * NumPy's .npy files in and out (numpy.lib.format). The header is a Python dict literal of three
 * known keys; it is searched for them, not evaluated. What an array takes is known and claimed
 * before any of its bytes are asked for, and they are read where they stay. Text is npy_text.c's.
 */
#include "onnx/sample/npy.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "onnx/sample/npy_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *descr; /* without the byte order */
    enum amp_dtype dtype;
} types[] = {{"f4", AMP_FLOAT},    {"f2", AMP_FLOAT16},   {"f8", AMP_DOUBLE},     {"i1", AMP_INT8},
             {"i2", AMP_INT16},    {"i4", AMP_INT32},     {"i8", AMP_INT64},      {"u1", AMP_UINT8},
             {"u2", AMP_UINT16},   {"u4", AMP_UINT32},    {"u8", AMP_UINT64},     {"b1", AMP_BOOL},
             {"V2", AMP_BFLOAT16}, {"c8", AMP_COMPLEX64}, {"c16", AMP_COMPLEX128}};

enum {
    N_TYPES = AMP_COUNT(types),
    MAGIC_SIZE = 6,
    HEADER_MAX = 0xFFFF /* as version 1 has it; NumPy's own are below 1 KB */
};

static const char magic[MAGIC_SIZE + 1] = "\x93NUMPY";

/* Reads the next SIZE of the bytes that are left. */
static enum amp_status read_bytes(struct amp_npy_source *source, void *to, size_t size,
                                  struct amp_error *err)
{
    source->left -= size;
    if (source->data == NULL)
        return source->read(source, to, size, err);
    memcpy(to, source->data, size);
    source->data += size;
    return AMP_OK;
}

/* The text after "'KEY':" in HEADER; NULL when the key is not there. */
static const char *find_key(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *found = strstr(header, quoted);
    return found ? found + strlen(quoted) + strspn(found + strlen(quoted), " ") : NULL;
}

/* The type of the elements. */
struct element {
    enum amp_dtype dtype;
    struct amp_npy_text text; /* AMP_STRING: the room that each takes */
};

/* TEXT is what the header has behind 'descr'; NULL: nothing. */
static enum amp_status parse_descr(const char *text, struct element *element, struct amp_error *err)
{
    char descr[24] = "";
    *element = (struct element){.dtype = AMP_UNDEFINED};
    if (text == NULL || sscanf(text, "'%23[^']'", descr) != 1)
        return amp_fail(err, AMP_MODEL, ".npy header without a simple 'descr'");
    for (size_t i = 0; i < N_TYPES; i++)
        if (strchr("<|=", descr[0]) && strcmp(descr + 1, types[i].descr) == 0)
            element->dtype = types[i].dtype;
    if (amp_npy_text_descr(descr, &element->text))
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

/* The length of the header, which is next then. */
static enum amp_status read_start(struct amp_npy_source *source, size_t *length,
                                  struct amp_error *err)
{
    enum { START = 10, MORE = 2 }; /* of version 1; what later ones have more */
    unsigned char start[START + MORE] = {0};
    if (source->left >= sizeof start)
        AMP_TRY(read_bytes(source, start, START, err));
    if (memcmp(start, magic, MAGIC_SIZE) != 0 || start[6] < 1 || start[6] > 3)
        return amp_fail(err, AMP_MODEL, "not a .npy file of version 1, 2 or 3");
    if (start[6] > 1)
        AMP_TRY(read_bytes(source, start + START, MORE, err));
    *length = start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (*length > HEADER_MAX)
        return amp_fail(err, AMP_MODEL, ".npy header of %zu bytes; at most %d are read", *length,
                        HEADER_MAX);
    if (*length > source->left)
        return amp_fail(err, AMP_MODEL, ".npy file is truncated");
    return AMP_OK;
}

/* What the header says besides the shape. */
struct header {
    struct element element;
    bool is_fortran; /* the first index counts fastest */
    size_t size;     /* bytes of the data in the file */
};

/* Sets dtype and shape of TENSOR and fills HEADER from the dict literal TEXT. */
static enum amp_status parse_header(const char *text, struct amp_tensor *tensor,
                                    struct header *header, struct amp_error *err)
{
    const char *order = find_key(text, "fortran_order");
    header->is_fortran = order != NULL && strncmp(order, "True", 4) == 0;
    AMP_TRY(parse_descr(find_key(text, "descr"), &header->element, err));
    tensor->dtype = header->element.dtype;
    AMP_TRY(parse_shape(find_key(text, "shape"), &tensor->shape, err));
    return amp_shape_size(&tensor->shape, tensor->dtype, &header->size, err);
}

static enum amp_status read_header(struct amp_npy_source *source, struct amp_tensor *tensor,
                                   struct header *header, struct amp_error *err)
{
    size_t length;
    AMP_TRY(read_start(source, &length, err));
    char *text = amp_xcalloc(length + 1, 1);
    enum amp_status status = read_bytes(source, text, length, err);
    if (status == AMP_OK)
        status = parse_header(text, tensor, header, err);
    free(text);
    return status;
}

/* Checks that the data are all there; of text, the header's size is set. */
static enum amp_status check_size(const struct amp_npy_source *source,
                                  const struct amp_tensor *tensor, struct header *header,
                                  struct amp_error *err)
{
    char shape[256];
    const struct element *element = &header->element;
    if (tensor->dtype == AMP_STRING)
        AMP_TRY(amp_npy_text_size(&element->text, amp_tensor_count(tensor), source->left,
                                  &header->size, err));
    if (source->left < header->size)
        return amp_fail(err, AMP_MODEL, ".npy file is truncated: %zu bytes of data, %zu needed",
                        source->left, header->size);
    if (source->is_exact && source->left > header->size)
        return amp_fail(err, AMP_MODEL, "%zu bytes of data; %s %s has %zu", source->left,
                        amp_dtype_name(tensor->dtype),
                        amp_shape_text(&tensor->shape, shape, sizeof shape), header->size);
    return AMP_OK;
}

/* Puts the texts of TENSOR, which are in Fortran order, in row-major order. */
static enum amp_status reorder_texts(struct amp_tensor *tensor, struct amp_error *err)
{
    size_t size = amp_tensor_size(tensor);
    struct amp_buffer *texts = amp_buffer_create(size);
    if (texts == NULL)
        return amp_memory_fail(err, "an array in Fortran order", size);
    if (size > 0)
        memcpy(texts->data, tensor->data, size);
    from_fortran(tensor, texts->data);
    amp_buffer_unref(texts);
    return AMP_OK;
}

/* Makes TENSOR, whose header is read, from DATA, text or numbers in Fortran order. */
static enum amp_status convert(const struct header *header, const unsigned char *data,
                               struct amp_tensor *tensor, struct amp_error *err)
{
    const struct element *element = &header->element;
    if (tensor->dtype == AMP_STRING) {
        AMP_TRY(amp_npy_text_read(tensor, data, &element->text, err));
        return header->is_fortran ? reorder_texts(tensor, err) : AMP_OK;
    }
    AMP_TRY(amp_tensor_alloc(tensor, err));
    from_fortran(tensor, data);
    return AMP_OK;
}

/* Reads data that the tensor cannot have as they lie in the file; where they are not in memory,
   into a copy first. */
static enum amp_status read_converted(struct amp_npy_source *source, const struct header *header,
                                      struct amp_tensor *tensor, struct amp_error *err)
{
    if (source->data != NULL)
        return convert(header, source->data, tensor, err);
    struct amp_buffer *copy = amp_buffer_create(header->size);
    if (copy == NULL)
        return amp_memory_fail(err, "an array of text or in Fortran order", header->size);
    enum amp_status status = read_bytes(source, copy->data, header->size, err);
    if (status == AMP_OK)
        status = convert(header, copy->data, tensor, err);
    amp_buffer_unref(copy);
    return status;
}

static enum amp_status read_data(struct amp_npy_source *source, struct amp_tensor *tensor,
                                 struct amp_error *err)
{
    struct header header;
    AMP_TRY(read_header(source, tensor, &header, err));
    AMP_TRY(check_size(source, tensor, &header, err));
    if (header.is_fortran || tensor->dtype == AMP_STRING)
        return read_converted(source, &header, tensor, err);
    AMP_TRY(amp_tensor_alloc(tensor, err));
    return read_bytes(source, tensor->data, header.size, err);
}

enum amp_status amp_npy_read(struct amp_npy_source *source, struct amp_tensor *tensor,
                             struct amp_error *err)
{
    *tensor = (struct amp_tensor){.data = NULL};
    enum amp_status status = read_data(source, tensor, err);
    if (status != AMP_OK)
        amp_tensor_release(tensor);
    return status;
}

enum amp_status amp_npy_parse(const unsigned char *data, size_t size, struct amp_tensor *tensor,
                              struct amp_error *err)
{
    static const unsigned char nothing;
    struct amp_npy_source source = {.data = data != NULL ? data : &nothing, .left = size};
    return amp_npy_read(&source, tensor, err);
}

/* Writes the header as NumPy does: with room for the first dim to grow to GROWTH digits in place,
   and padded so that the data start at a multiple of 64 bytes. */
static enum amp_status write_header(struct amp_output *output, const char *descr,
                                    const struct amp_shape *shape, struct amp_error *err)
{
    enum { GROWTH = 21, START = 10, ROOM = 512 };
    unsigned char bytes[START + ROOM] = {0};
    char *text = (char *)bytes + START;
    int digits = shape->rank > 0 ? snprintf(NULL, 0, "%lld", (long long)shape->dims[0]) : GROWTH;
    size_t used =
        (size_t)snprintf(text, ROOM, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                         strcmp(descr + 1, "1") == 0 && descr[0] != 'U' ? '|' : '<', descr);
    for (int i = 0; i < shape->rank; i++)
        used += (size_t)snprintf(text + used, ROOM - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)shape->dims[i]);
    if (shape->rank == 1)
        text[used++] = ',';
    used += (size_t)snprintf(text + used, ROOM - used, "), }%*s", GROWTH - digits, "");
    while ((START + used + 1) % 64 != 0)
        text[used++] = ' ';
    text[used++] = '\n';
    memcpy(bytes, magic, MAGIC_SIZE);
    bytes[MAGIC_SIZE] = 1; /* the version, 1.0 */
    bytes[START - 2] = (unsigned char)(used & 0xFF);
    bytes[START - 1] = (unsigned char)(used >> 8);
    return amp_output_write(output, bytes, START + used, err);
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
    if (tensor->dtype == AMP_STRING && !amp_tensor_is_list(tensor))
        return write_texts(output, tensor, err);
    for (size_t i = 0; i < N_TYPES && !amp_tensor_is_list(tensor); i++)
        if (types[i].dtype == tensor->dtype) {
            AMP_TRY(write_header(output, types[i].descr, &tensor->shape, err));
            return amp_output_write(output, tensor->data, amp_tensor_size(tensor), err);
        }
    return amp_fail(err, AMP_UNSUPPORTED, "a .npy file cannot hold %s; .pb can",
                    amp_tensor_is_list(tensor) ? "a list of tensors"
                                               : amp_dtype_name(tensor->dtype));
}

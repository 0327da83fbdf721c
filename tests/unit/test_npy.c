/* Samples in .npy and .npz files: what is read, what is written, what is refused. */
#include "core/memory.h"
#include "onnx/sample/npy.h"
#include "onnx/sample/npz.h"
#include "onnx/sample/tensor_file.h"
#include "scratch.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- npy ------------------------------------------------------------------------------------- */

/* NumPy's .npy: headers as NumPy writes them, what is refused, and what is written read again. */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A .npy file of VERSION: its image goes to IMAGE, its size is returned. */
static size_t make_file(unsigned char *image, int version, const char *header, const void *data,
                        size_t size)
{
    size_t length = strlen(header), start = version == 1 ? 10 : 12;
    memcpy(image, "\x93NUMPY", 6);
    image[6] = (unsigned char)version;
    image[7] = 0;
    image[8] = (unsigned char)(length & 0xFF);
    image[9] = (unsigned char)(length >> 8);
    image[10] = image[11] = 0;
    memcpy(image + start, header, length);
    if (size > 0)
        memcpy(image + start + length, data, size);
    return start + length + size;
}

static enum amp_status parse(const char *header, const void *data, size_t size,
                             struct amp_tensor *tensor, struct amp_error *err)
{
    unsigned char image[512];
    return amp_npy_parse(image, make_file(image, 1, header, data, size), tensor, err);
}

static void reads_a_matrix(void **state)
{
    (void)state;
    struct amp_tensor t;
    struct amp_error err = {.status = AMP_OK};
    const float data[] = {1, 2, 3, 4, 5, 6};
    for (int version = 1; version <= 3; version++) {
        unsigned char image[512];
        size_t size =
            make_file(image, version,
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }            \n",
                      data, sizeof data);
        assert_int_equal(amp_npy_parse(image, size, &t, &err), AMP_OK);
        assert_int_equal(t.dtype, AMP_FLOAT);
        assert_int_equal(t.shape.rank, 2);
        assert_int_equal(t.shape.dims[0], 2);
        assert_int_equal(t.shape.dims[1], 3);
        assert_memory_equal(t.data, data, sizeof data);
        amp_tensor_release(&t);
    }
}

static void reads_scalars_vectors_and_nothing(void **state)
{
    (void)state;
    struct amp_tensor t;
    struct amp_error err = {.status = AMP_OK};
    const int64_t one[] = {-7};
    assert_int_equal(
        parse("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", one, 8, &t, &err),
        AMP_OK);
    assert_int_equal(t.shape.rank, 0);
    assert_int_equal(amp_tensor_int(&t, 0), -7);
    amp_tensor_release(&t);
    assert_int_equal(
        parse("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n", one, 8, &t, &err),
        AMP_OK);
    assert_int_equal(t.shape.rank, 1);
    amp_tensor_release(&t);
    assert_int_equal(
        parse("{'descr': '|b1', 'fortran_order': True, 'shape': (0, 4), }\n", one, 0, &t, &err),
        AMP_OK);
    assert_int_equal(t.dtype, AMP_BOOL);
    assert_int_equal(amp_tensor_count(&t), 0);
    amp_tensor_release(&t);
}

static void turns_fortran_order(void **state)
{
    (void)state;
    struct amp_tensor t;
    struct amp_error err = {.status = AMP_OK};
    /* numpy.arange(12).reshape(2, 3, 2) in Fortran order */
    const uint8_t stored[] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    assert_int_equal(parse("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }\n",
                           stored, sizeof stored, &t, &err),
                     AMP_OK);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(amp_tensor_int(&t, i), i);
    amp_tensor_release(&t);
}

static void takes_two_raw_bytes_for_bfloat16(void **state)
{
    (void)state;
    struct amp_tensor t;
    struct amp_error err = {.status = AMP_OK};
    const uint16_t data[] = {0x3FC0}; /* 1.5 */
    assert_int_equal(
        parse("{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }\n", data, 2, &t, &err),
        AMP_OK);
    assert_int_equal(t.dtype, AMP_BFLOAT16);
    assert_true(amp_tensor_double(&t, 0) == 1.5);
    amp_tensor_release(&t);
}

static void assert_string(struct amp_str found, const char *text, size_t size)
{
    assert_int_equal(found.size, size);
    if (size > 0)
        assert_memory_equal(found.data, text, size);
}

/* Surrogates, and what is beyond the last code point, are no text (RFC 3629). */
static void takes_text_by_its_code_points(void **state)
{
    static const struct {
        uint32_t code;
        bool is_text;
    } cases[] = {{'a', true},      {0xd7ff, true},    {0xd800, false},
                 {0xdfff, false},  {0xe000, true},    {0xffff, true},
                 {0x10ffff, true}, {0x110000, false}, {0x80000000, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_tensor t;
        struct amp_error err = {.status = AMP_OK};
        enum amp_status status =
            parse("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }\n", &cases[i].code, 4,
                  &t, &err);
        assert_int_equal(status, cases[i].is_text ? AMP_OK : AMP_MODEL);
        amp_tensor_release(&t);
    }
}

static void refuses_what_it_cannot_hold(void **state)
{
    (void)state;
    static const struct {
        const char *header, *text;
    } cases[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n",
         ".npy of type '>f4'; little-endian numbers, bool and text are read"},
        {"{'descr': '>U1', 'fortran_order': False, 'shape': (1,), }\n",
         ".npy of type '>U1'; little-endian numbers, bool and text are read"},
        {"{'descr': '<U0', 'fortran_order': False, 'shape': (9,), }\n",
         ".npy of type '<U0'; little-endian numbers, bool and text are read"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n",
         ".npy of Python objects; text is read as '<U' or '|S' (astype(str))"},
        {"{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }\n",
         ".npy file is truncated: 4 bytes of data for 1 texts of 2 characters"},
        {"{'descr': '<U18446744073709551615', 'fortran_order': False, 'shape': (9,), }\n",
         ".npy file is truncated: 4 bytes of data for 9 texts of 18446744073709551615 characters"},
        {"{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }\n",
         ".npy with text that is no Unicode: element 0"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n",
         ".npy header without a simple 'descr'"},
        {"{'descr': '<f4', 'fortran_order': False, }\n", ".npy header without 'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n",
         ".npy header with a wrong shape; at most 12 dims are possible"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
         "1), }\n",
         ".npy header with a wrong shape; at most 12 dims are possible"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n",
         ".npy file is truncated: 4 bytes of data, 16 needed"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n",
         "the size of float64 [4294967296, 4294967296] overflows"},
    };
    const float data[] = {-1}; /* no code point */
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_tensor t;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(parse(cases[i].header, data, sizeof data, &t, &err), AMP_MODEL);
        assert_string_equal(err.text, cases[i].text);
        assert_null(t.data);
    }
}

static void refuses_other_files_and_cut_ones(void **state)
{
    (void)state;
    unsigned char image[512];
    struct amp_tensor t;
    const float data[] = {1, 2};
    size_t size = make_file(image, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
                            data, sizeof data);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(amp_npy_parse(image, cut, &t, NULL), AMP_MODEL);
    image[6] = 4;
    assert_int_equal(amp_npy_parse(image, size, &t, NULL), AMP_MODEL);
}

/* Versions above 1 have four bytes for the length of the header. */
static void refuses_long_headers(void **state)
{
    unsigned char image[64] = "\x93NUMPY\x02";
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor t;
    (void)state;
    image[11] = 3;
    assert_int_equal(amp_npy_parse(image, sizeof image, &t, &err), AMP_MODEL);
    assert_string_equal(err.text, ".npy header of 50331648 bytes; at most 65535 are read");
    err = (struct amp_error){.status = AMP_OK};
    image[11] = 0;
    image[10] = 3;
    assert_int_equal(amp_npy_parse(image, sizeof image, &t, &err), AMP_MODEL);
    assert_string_equal(err.text, ".npy header of 196608 bytes; at most 65535 are read");
}

static void reads_what_it_writes(const char *ending, enum amp_dtype dtype)
{
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 32];
    struct amp_error err = {.status = AMP_OK};
    unsigned char data[6 * 16];
    struct amp_tensor back, t = {.dtype = dtype, .shape = {.rank = 3, .dims = {3, 1, 2}}};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 37 + 1);
    t.data = data;
    scratch_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.%s", folder, ending);
    assert_int_equal(amp_tensor_save(path, "x", &t, &err), AMP_OK);
    assert_int_equal(amp_tensor_load(path, AMP_KIND_TENSOR, &back, &err), AMP_OK);
    unlink(path);
    rmdir(folder);
    assert_int_equal(back.dtype, dtype);
    assert_true(amp_shape_equal(&back.shape, &t.shape));
    assert_memory_equal(back.data, data, amp_tensor_size(&t));
    amp_tensor_release(&back);
}

static void every_number_type_comes_back(void **state)
{
    (void)state;
    for (int dtype = 1; dtype < AMP_DTYPE_COUNT; dtype++)
        if (dtype != AMP_STRING) {
            bool is_numpys = amp_dtype_bits((enum amp_dtype)dtype) >= 8 &&
                             (dtype < AMP_FLOAT8E4M3FN || dtype > AMP_FLOAT8E5M2FNUZ) &&
                             dtype != AMP_FLOAT8E8M0;
            reads_what_it_writes("pb", (enum amp_dtype)dtype);
            if (is_numpys)
                reads_what_it_writes("npy", (enum amp_dtype)dtype);
        }
}

static void text_is_read_from_numpys_arrays(void **state)
{
    (void)state;
    static const uint32_t codes[] = {'a', 0, 0, 0xe9, 0x732b, 0x1f600, 0, 0, 0, 0, 'b', 0};
    static const char bytes[] = "ab\0\xff\0z\0\0\0cd\0\0\0\0\0\0\0";
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor t;
    assert_int_equal(parse("{'descr': '<U3', 'fortran_order': True, 'shape': (2, 2), }\n", codes,
                           sizeof codes, &t, &err),
                     AMP_OK);
    const struct amp_str *texts = t.data;
    assert_string(texts[0], "a", 1);
    assert_string(texts[1], "", 0);
    assert_string(texts[2], "\xc3\xa9\xe7\x8c\xab\xf0\x9f\x98\x80", 9);
    assert_string(texts[3], "\0b", 2);
    amp_tensor_release(&t);
    assert_int_equal(
        parse("{'descr': '|S3', 'fortran_order': False, 'shape': (6,), }\n", bytes, 18, &t, &err),
        AMP_OK);
    texts = t.data;
    assert_string(texts[0], "ab", 2);
    assert_string(texts[1], "\xff\0z", 3);
    assert_string(texts[2], "", 0);
    assert_string(texts[3], "cd", 2);
    assert_string(texts[4], "", 0);
    assert_string(texts[5], "", 0);
    amp_tensor_release(&t);
}

/* Element I of a tensor that may have none. */
static struct amp_str text_of(const struct amp_tensor *tensor, int64_t i)
{
    const struct amp_str *texts = tensor->data;
    return texts == NULL ? (struct amp_str){NULL, 0} : texts[i];
}

/* Saves COUNT texts under ENDING; what comes back goes to *BACK. */
static enum amp_status save_texts(struct amp_str *texts, int64_t count, const char *ending,
                                  struct amp_tensor *back, struct amp_error *err)
{
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 32];
    struct amp_tensor t = {
        .dtype = AMP_STRING, .shape = {.rank = 1, .dims = {count}}, .data = texts};
    scratch_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.%s", folder, ending);
    enum amp_status status = amp_tensor_save(path, "x", &t, err);
    if (status == AMP_OK) {
        status = amp_tensor_load(path, AMP_KIND_TENSOR, back, err);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0); /* what could not be written is not there */
    return status;
}

static void text_comes_back(void **state)
{
    (void)state;
    struct amp_str texts[] = {{"", 0},  {"plain", 5}, {"\xe7\x8c\xab \xf0\x9f\x98\x80", 8},
                              {"a", 1}, {"", 0},      {"\0b", 2},
                              {"", 0},  {"", 0}};
    for (int64_t count = 0; count <= 8; count++)
        for (int npy = 0; npy < 2; npy++) {
            struct amp_error err = {.status = AMP_OK};
            struct amp_tensor back = {.dtype = AMP_UNDEFINED};
            assert_int_equal(save_texts(texts, count, npy ? "npy" : "pb", &back, &err), AMP_OK);
            assert_int_equal(back.dtype, AMP_STRING);
            assert_int_equal(back.shape.dims[0], count);
            for (int64_t i = 0; i < count; i++)
                assert_string(text_of(&back, i), texts[i].data, texts[i].size);
            amp_tensor_release(&back);
        }
}

/* As numpy.save(path, numpy.array(["a", "b"])) has it. */
static void one_letter_has_numpys_type(void **state)
{
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 32], bytes[256] = "";
    struct amp_error err = {.status = AMP_OK};
    struct amp_str texts[] = {{"a", 1}, {"b", 1}};
    const struct amp_tensor t = {
        .dtype = AMP_STRING, .shape = {.rank = 1, .dims = {2}}, .data = texts};
    (void)state;
    scratch_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.npy", folder);
    assert_int_equal(amp_tensor_save(path, "x", &t, &err), AMP_OK);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), 128 + 2 * 4);
    fclose(file);
    unlink(path);
    rmdir(folder);
    assert_non_null(
        strstr(bytes + 10, "{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }"));
}

static void names_what_npy_cannot_hold(void **state)
{
    (void)state;
    struct amp_str odd[][2] = {{{"a", 1}, {"\xff", 1}}, {{"a", 1}, {"b\0", 2}}};
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_tensor back = {.dtype = AMP_UNDEFINED};
        assert_int_equal(save_texts(odd[i], 2, "npy", &back, &err), AMP_UNSUPPORTED);
        assert_string_equal(err.text,
                            "a .npy file cannot hold text that is no UTF-8 or ends with a "
                            "zero, as element 1; .pb can");
        err = (struct amp_error){.status = AMP_OK};
        assert_int_equal(save_texts(odd[i], 2, "pb", &back, &err), AMP_OK);
        assert_string(text_of(&back, 1), odd[i][1].data, odd[i][1].size);
        amp_tensor_release(&back);
    }
}

/* ---- npz ------------------------------------------------------------------------------------- */

/*
 * .npz files that lie: about sizes, names and checksums, or about how much there is. Each is made
 * here byte by byte (PKWARE, APPNOTE.TXT), its entries stored.
 */

enum { BUDGET = 4 << 20, LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, ENCRYPTED = 1 };

/* An entry as its fields have it. */
struct entry {
    const char *name, *header; /* header: of the array, in a .npy file of version 1 */
    size_t size;               /* bytes of data behind it, 0, 1, 2 ... */
    size_t said;               /* bytes that it says it has beyond those, or SIZE_MAX + 1 - less */
    uint32_t crc_error;
    unsigned flags, method; /* method 0: stored */
    size_t cut;             /* bytes that are missing at its end */
};

/* A file as it grows. */
struct image {
    unsigned char *data;
    size_t size;
};

static void put(struct image *image, uint64_t number, int width)
{
    for (int i = 0; i < width; i++)
        image->data[image->size++] = (unsigned char)(number >> (8 * i));
}

static void put_bytes(struct image *image, const void *data, size_t size)
{
    memcpy(image->data + image->size, data, size);
    image->size += size;
}

static uint32_t crc_of(const unsigned char *data, size_t size)
{
    uint32_t crc = ~(uint32_t)0;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

static void put_array(struct image *image, const struct entry *entry)
{
    put_bytes(image, "\x93NUMPY\x01", 8); /* with the 0 at its end */
    put(image, strlen(entry->header), 2);
    put_bytes(image, entry->header, strlen(entry->header));
    for (size_t i = 0; i < entry->size; i++)
        put(image, i & 0xFF, 1);
}

/* What the local and the central header have in common. */
static void put_common(struct image *image, const struct entry *entry, const struct image *array)
{
    put(image, 20, 2);
    put(image, entry->flags, 2);
    put(image, entry->method, 2);
    put(image, 0, 4);
    put(image, crc_of(array->data, array->size) ^ entry->crc_error, 4);
    put(image, array->size - entry->cut, 4);
    put(image, array->size + entry->said, 4);
    put(image, strlen(entry->name), 2);
    put(image, 0, 2);
}

static void put_end(struct image *image, size_t count, size_t start)
{
    put_bytes(image, "PK\x05\x06", 4);
    put(image, 0, 4);
    put(image, count, 2);
    put(image, count, 2);
    put(image, image->size - 12 - start, 4);
    put(image, start, 4);
    put(image, 0, 2);
}

/* Writes COUNT entries to "x.npz". Where they OVERLAP, all are the first one's data. */
static void write_zip(const struct entry *entries, size_t count, bool overlap)
{
    enum { ROOM = 1 << 20 };
    struct image image = {malloc(ROOM + count * 256), 0}, array = {malloc(ROOM), 0},
                 central = {malloc(ROOM + count * 256), 0};
    for (size_t i = 0; i < count; i++) {
        size_t start = overlap ? 0 : image.size;
        array.size = 0;
        put_array(&array, &entries[i]);
        if (start == image.size) {
            put_bytes(&image, "PK\x03\x04", 4);
            put_common(&image, &entries[i], &array);
            put_bytes(&image, entries[i].name, strlen(entries[i].name));
            put_bytes(&image, array.data, array.size - entries[i].cut);
        }
        put_bytes(&central, "PK\x01\x02\x14", 6);
        put_common(&central, &entries[i], &array);
        put(&central, 0, 8);
        put(&central, 0, 2);
        put(&central, start, 4);
        put_bytes(&central, entries[i].name, strlen(entries[i].name));
    }
    size_t start = image.size;
    put_bytes(&image, central.data, central.size);
    put_end(&image, count, start);
    FILE *file = fopen("x.npz", "w");
    assert_non_null(file);
    assert_int_equal(fwrite(image.data, 1, image.size, file), image.size);
    assert_int_equal(fclose(file), 0);
    free(image.data);
    free(array.data);
    free(central.data);
}

/* Wants "x", leaves "y" out, refuses all else. */
static enum amp_status find(void *context, const char *name, struct amp_tensor **tensor,
                            struct amp_error *err)
{
    struct amp_tensor *x = context;
    if (strcmp(name, "y") == 0)
        return AMP_OK;
    if (strcmp(name, "x") != 0)
        return amp_fail(err, AMP_MODEL, "no '%s' is wanted", name);
    if (x->data != NULL)
        return amp_fail(err, AMP_MODEL, "another '%s'", name);
    *tensor = x;
    return AMP_OK;
}

static enum amp_status read_zip(struct amp_tensor *tensor, struct amp_error *err)
{
    *err = (struct amp_error){.status = AMP_OK};
    *tensor = (struct amp_tensor){.data = NULL};
    amp_memory_restart_peak();
    return amp_npz_read("x.npz", find, tensor, err);
}

#define F4(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n"
#define FORTRAN(shape) "{'descr': '<f4', 'fortran_order': True, 'shape': " shape ", }\n"
#define U4(shape) "{'descr': '<U4', 'fortran_order': False, 'shape': " shape ", }\n"

static void reads_what_is_wanted(void **unused)
{
    (void)unused;
    static const struct entry entries[] = {
        {"note.txt", "no array", .crc_error = 1},
        {"y.npy", "what is left out is not read", .crc_error = 1},
        {"x.npy", F4("(2, 3)"), .size = 24}};
    struct amp_tensor tensor;
    struct amp_error err;
    write_zip(entries, 3, false);
    assert_int_equal(read_zip(&tensor, &err), AMP_OK);
    assert_int_equal(tensor.shape.rank, 2);
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(((const unsigned char *)tensor.data)[i], i);
    amp_tensor_release(&tensor);
}

/* What each says; where several are wrong, what is known first. */
static void refuses_what_lies(void **unused)
{
    (void)unused;
    static const struct {
        struct entry entry;
        enum amp_status status;
        const char *text;
    } cases[] = {
        {{"z.npy", F4("(2,)"), .size = 8, .crc_error = 1}, AMP_MODEL, "no 'z' is wanted"},
        {{"x.npy", F4("(2,)"), .size = 8, .crc_error = 1},
         AMP_MODEL,
         "array 'x': cannot be read: CRC error"},
        {{"x.npy", F4("(2,)"), .size = 8, .flags = ENCRYPTED},
         AMP_MODEL,
         "array 'x': is encrypted; plain arrays are read"},
        {{"x.npy", F4("(2,)"), .size = 8, .method = 77},
         AMP_MODEL,
         "array 'x': cannot be read: Compression method not supported"},
        {{"x.npy", F4("(2,)"), .size = 12},
         AMP_MODEL,
         "array 'x': 12 bytes of data; float32 [2] has 8"},
        {{"x.npy", F4("(2,)"), .size = 4},
         AMP_MODEL,
         "array 'x': .npy file is truncated: 4 bytes of data, 8 needed"},
        {{"x.npy", F4("(2,)"), .size = 4, .said = 4},
         AMP_MODEL,
         "array 'x': cannot be read: Zip archive inconsistent: file length in header doesn't match "
         "actual file length"},
        {{"x.npy", F4("(2000000000,)"), .size = 4},
         AMP_MODEL,
         "array 'x': .npy file is truncated: 4 bytes of data, 8000000000 needed"},
        {{"x.npy", F4("(1000000000,)"), .size = 4, .said = 3999999996},
         AMP_IO,
         "array 'x': out of memory: float32 [1000000000] takes 4.0 GB; 0 bytes of 4.2 MB are in "
         "use"},
        {{"x.npy", FORTRAN("(1000000000,)"), .size = 4, .said = 3999999996},
         AMP_IO,
         "array 'x': out of memory: an array of text or in Fortran order takes 4.0 GB; 0 bytes of "
         "4.2 MB are in use"},
        {{"x.npy", U4("(250000000,)"), .size = 4, .said = 3999999996},
         AMP_IO,
         "array 'x': out of memory: an array of text or in Fortran order takes 4.0 GB; 0 bytes of "
         "4.2 MB are in use"},
        {{"x.npy", U4("(3,)"), .size = 4},
         AMP_MODEL,
         "array 'x': .npy file is truncated: 4 bytes of data for 3 texts of 4 characters"},
        {{"x.npy", F4("((2, ), 3)"), .size = 24},
         AMP_MODEL,
         "array 'x': .npy header with a wrong shape; at most 12 dims are possible"},
        {{"x.npy", F4("'(2,)'"), .size = 8}, AMP_MODEL, "array 'x': .npy header without 'shape'"},
        {{"x.npy", F4("(2"), .size = 8},
         AMP_MODEL,
         "array 'x': .npy header with a wrong shape; at most 12 dims are possible"},
        {{"x.npy", F4("(9223372036854775807, 9)"), .size = 8},
         AMP_MODEL,
         "array 'x': the size of float32 [9223372036854775807, 9] overflows"},
        {{"x.npy", F4("(2,)"), .size = 8, .cut = 60},
         AMP_MODEL,
         "array 'x': .npy file is truncated"},
        {{"x.npy", "", .size = 0}, AMP_MODEL, "array 'x': not a .npy file of version 1, 2 or 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct amp_tensor tensor;
        struct amp_error err;
        struct entry entry = cases[i].entry;
        if (entry.cut > 0)
            entry.said = SIZE_MAX + 1 - entry.cut;
        write_zip(&entry, 1, false);
        enum amp_status status = read_zip(&tensor, &err);
        snprintf(text, sizeof text, "x.npz: %s", cases[i].text);
        assert_string_equal(err.text, text);
        assert_int_equal(status, cases[i].status);
        assert_null(tensor.data);
        assert_int_equal(amp_memory_used(), 0);
        assert_true(amp_memory_peak() < 4096);
    }
}

static void refuses_what_is_there_twice(void **unused)
{
    (void)unused;
    static const struct entry entries[] = {{"x.npy", F4("(2,)"), .size = 8},
                                           {"x.npy", F4("(3,)"), .size = 12}};
    struct amp_tensor tensor;
    struct amp_error err;
    write_zip(entries, 2, false);
    assert_int_equal(read_zip(&tensor, &err), AMP_MODEL);
    assert_string_equal(err.text, "x.npz: another 'x'");
    amp_tensor_release(&tensor);
    assert_int_equal(amp_memory_used(), 0);
}

/* Thousands of entries that are all the same data: only what is wanted is read. */
static void leaves_out_what_overlaps(void **unused)
{
    (void)unused;
    enum { COUNT = 60000 };
    struct entry *entries = calloc(COUNT, sizeof *entries);
    struct amp_tensor tensor;
    struct amp_error err;
    assert_non_null(entries);
    for (size_t i = 0; i < COUNT; i++)
        entries[i] = (struct entry){i == 9 ? "x.npy" : "y.npy", F4("(10,)"), .size = 40};
    write_zip(entries, COUNT, true);
    assert_int_equal(read_zip(&tensor, &err), AMP_OK);
    assert_int_equal(amp_tensor_count(&tensor), 10);
    assert_true(amp_memory_peak() < 4096);
    amp_tensor_release(&tensor);
    free(entries);
}

static void refuses_what_is_no_zip(void **unused)
{
    (void)unused;
    struct amp_tensor tensor;
    struct amp_error err;
    const struct entry entry = {"x.npy", F4("(2,)"), .size = 8};
    write_zip(&entry, 1, false);
    assert_int_equal(truncate("x.npz", 60), 0);
    assert_int_equal(read_zip(&tensor, &err), AMP_MODEL);
    assert_string_equal(err.text, "x.npz: not a .npz file (a zip of .npy files)");
    assert_int_equal(truncate("x.npz", 0), 0);
    assert_int_equal(read_zip(&tensor, &err), AMP_MODEL);
    assert_string_equal(err.text, "x.npz: not a .npz file (a zip of .npy files)");
}

/* What was made to read a file goes when it turns out to be none. */
static void keeps_nothing_of_what_is_no_zip(void **unused)
{
    (void)unused;
    enum { READS = 100 };
    struct amp_tensor tensor;
    struct amp_error err;
    const struct entry entry = {"x.npy", F4("(2,)"), .size = 8};
    write_zip(&entry, 1, false);
    assert_int_equal(truncate("x.npz", 60), 0);
    assert_int_equal(read_zip(&tensor, &err), AMP_MODEL); /* what the first read makes may stay */
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < READS; i++)
        assert_int_equal(read_zip(&tensor, &err), AMP_MODEL);
    assert_true(mallinfo2().uordblks < before + READS);
}

/* Any byte of a file may be another: what can be read is read, all else is an error. */
static void survives_any_byte(void **unused)
{
    (void)unused;
    static const struct entry entries[] = {{"y.npy", "left out", .size = 8},
                                           {"x.npy", F4("(2, 3)"), .size = 24}};
    unsigned char image[1024];
    uint32_t random = 1;
    write_zip(entries, 2, false);
    FILE *file = fopen("x.npz", "r");
    assert_non_null(file);
    size_t size = fread(image, 1, sizeof image, file), n_read = 0;
    fclose(file);
    for (int i = 0; i < 3000; i++) {
        struct amp_tensor tensor;
        struct amp_error err;
        unsigned char changed[sizeof image];
        memcpy(changed, image, size);
        for (int k = 0; k <= i % 3; k++) {
            random = random * 1664525 + 1013904223;
            changed[(random >> 8) % size] = (unsigned char)(random >> 24);
        }
        file = fopen("x.npz", "w");
        assert_int_equal(fwrite(changed, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
        enum amp_status status = read_zip(&tensor, &err);
        assert_true(status == AMP_OK || status == AMP_MODEL || status == AMP_IO);
        assert_int_equal(err.status, status);
        n_read += status == AMP_OK;
        amp_tensor_release(&tensor);
        assert_int_equal(amp_memory_used(), 0);
    }
    assert_in_range(n_read, 1, 2999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_matrix),
        cmocka_unit_test(reads_scalars_vectors_and_nothing),
        cmocka_unit_test(turns_fortran_order),
        cmocka_unit_test(takes_two_raw_bytes_for_bfloat16),
        cmocka_unit_test(takes_text_by_its_code_points),
        cmocka_unit_test(refuses_what_it_cannot_hold),
        cmocka_unit_test(refuses_other_files_and_cut_ones),
        cmocka_unit_test(refuses_long_headers),
        cmocka_unit_test(every_number_type_comes_back),
        cmocka_unit_test(text_is_read_from_numpys_arrays),
        cmocka_unit_test(text_comes_back),
        cmocka_unit_test(one_letter_has_numpys_type),
        cmocka_unit_test(names_what_npy_cannot_hold),
        cmocka_unit_test(reads_what_is_wanted),
        cmocka_unit_test(refuses_what_lies),
        cmocka_unit_test(refuses_what_is_there_twice),
        cmocka_unit_test(leaves_out_what_overlaps),
        cmocka_unit_test(refuses_what_is_no_zip),
        cmocka_unit_test(keeps_nothing_of_what_is_no_zip),
        cmocka_unit_test(survives_any_byte),
    };
    amp_memory_set_limit(BUDGET);
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

/*
 * .npz files that lie: about sizes, names and checksums, or about how much there is. Each is made
 * here byte by byte (PKWARE, APPNOTE.TXT), its entries stored.
 */
#include "core/memory.h"
#include "onnx/sample/npz.h"
#include "scratch.h"

#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

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

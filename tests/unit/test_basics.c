/* What everything uses: words, shapes, dtypes, maps and arenas; text for people. */
#include "cli/options/command_line.h"
#include "cli/report/json.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/buffer.h"
#include "core/convert.h"
#include "core/hash.h"
#include "core/number/interval.h"
#include "core/number/range.h"
#include "core/print.h"
#include "core/status.h"
#include "core/strmap.h"
#include "core/tensor.h"
#include "core/utf8.h"
#include "core/words.h"
#include "net.h"
#include "pattern/matcher.h"
#include "pattern/pattern.h"
#include "scratch.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <cmocka.h>

/* ---- basics ---------------------------------------------------------------------------------- */

/* The ground that all stands on: words, UTF-8, shapes, dtypes, failures, maps and arenas. Expected
   values follow from the definitions: Levenshtein's distance, RFC 3629, IEEE 754. */

/* ---- words ---- */

static void endings(void **state)
{
    (void)state;
    assert_true(amp_word_has_ending("model.onnx", ".onnx"));
    assert_true(amp_word_has_ending(".onnx", ".onnx"));
    assert_true(amp_word_has_ending("x", ""));
    assert_true(amp_word_has_ending("", ""));
    assert_false(amp_word_has_ending("onnx", ".onnx"));
    assert_false(amp_word_has_ending("model.onnx.gz", ".onnx"));
    assert_false(amp_word_has_ending("model.ONNX", ".onnx"));
}

static const char *const words[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "Add", NULL};

static const char *word_at(size_t index)
{
    return words[index];
}

/* As many letters may be wrong as a third of the word's, rounded up; the first of equally near
   words counts. */
static void misspelled_words(void **state)
{
    static const char *const pairs[][2] = {{"Conv", "Conv"},
                                           {"conv", "Conv"},
                                           {"Cov", "Conv"},
                                           {"Cnov", "Conv"},
                                           {"Xxnv", "Conv"},
                                           {"Xxxv", NULL},
                                           {"Gem", "Gemm"},
                                           {"Gemmm", "Gemm"},
                                           {"gmm", "Gemm"},
                                           {"MatMull", "MatMul"},
                                           {"atMul", "MatMul"},
                                           {"Metmul", "MatMul"},
                                           {"Ad", "Add"},
                                           {"A", NULL},
                                           {"", NULL},
                                           {"Softmax", NULL},
                                           {"ConvTrnspse", "ConvTranspose"}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(pairs); i++) {
        const char *by_function = amp_word_nearest_at(pairs[i][0], word_at);
        const char *by_array = amp_word_nearest(pairs[i][0], words, AMP_COUNT(words) - 1);
        assert_ptr_equal(by_function, by_array);
        if (pairs[i][1] == NULL ? by_array != NULL
                                : by_array == NULL || strcmp(by_array, pairs[i][1]) != 0)
            fail_msg("%s: %s", pairs[i][0], by_array ? by_array : "none");
    }
}

static void long_words_are_far(void **state)
{
    char limit[49], longer[50];
    const char *known[2] = {limit, longer};
    (void)state;
    memset(limit, 'a', sizeof limit);
    memset(longer, 'a', sizeof longer);
    limit[48] = longer[49] = '\0';
    assert_ptr_equal(amp_word_nearest(limit, known, 1), limit);
    assert_null(amp_word_nearest(longer, known, 2));
    assert_ptr_equal(amp_word_nearest(limit, known + 1, 1), NULL);
}

/* ---- UTF-8 ---- */

/* The next code point of TEXT, of which USED bytes must be taken. */
static int32_t next(const char *text, size_t size, size_t used)
{
    const char *at = text;
    int32_t code = amp_utf8_next(&at, text + size);
    assert_int_equal(at - text, used);
    return code;
}

static void characters_are_read_and_written(void **state)
{
    static const int32_t codes[] = {0,      0x7f,   0x80,   0x7ff,   0x800,
                                    0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    static const size_t lengths[] = {1, 1, 2, 2, 3, 3, 3, 3, 4, 4};
    char text[4];
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(codes); i++) {
        assert_int_equal(amp_utf8_put(codes[i], text), lengths[i]);
        assert_int_equal(next(text, lengths[i], lengths[i]), codes[i]);
        if (lengths[i] > 1)
            assert_int_equal(next(text, lengths[i] - 1, 1), AMP_UTF8_INVALID);
    }
    assert_int_equal(amp_utf8_put(0x20ac, text), 3);
    assert_memory_equal(text, "\xe2\x82\xac", 3);
}

static void what_is_no_character_is_passed_byte_by_byte(void **state)
{
    static const char *const wrong[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80",
        "\xff",         "\xc3(",        "\xe2\x82(",        "\xf0\x9f\x98("};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(wrong); i++)
        assert_int_equal(next(wrong[i], strlen(wrong[i]), 1), AMP_UTF8_INVALID);
}

static void letters_have_cases(void **state)
{
    static const int32_t pairs[][2] = {{'a', 'A'},         {'z', 'Z'},     {0xe9, 0xc9},
                                       {0x3b1, 0x391},     {0x436, 0x416}, {0x101, 0x100},
                                       {0x10428, 0x10400}, {0xff, 0x178}};
    static const int32_t same[] = {'0', '@', '[', '`', '{', 0xd7, 0xf7, 0x4e00, 0x10ffff};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(pairs); i++) {
        assert_int_equal(amp_utf8_upper(pairs[i][0]), pairs[i][1]);
        assert_int_equal(amp_utf8_lower(pairs[i][1]), pairs[i][0]);
        assert_int_equal(amp_utf8_lower(pairs[i][0]), pairs[i][0]);
        assert_int_equal(amp_utf8_upper(pairs[i][1]), pairs[i][1]);
    }
    for (size_t i = 0; i < AMP_COUNT(same); i++) {
        assert_int_equal(amp_utf8_upper(same[i]), same[i]);
        assert_int_equal(amp_utf8_lower(same[i]), same[i]);
    }
}

/* ---- shapes ---- */

static void shapes_count_their_elements(void **state)
{
    struct amp_shape scalar = {.rank = 0}, any = {.rank = -1}, plain = {3, {2, 3, 4}};
    struct amp_shape open = {2, {2, -1}}, huge = {3, {INT64_MAX, 2, 0}};
    (void)state;
    assert_int_equal(amp_shape_count(&scalar), 1);
    assert_int_equal(amp_shape_count(&any), -1);
    assert_int_equal(amp_shape_count(&plain), 24);
    assert_int_equal(amp_shape_count(&open), -1);
    assert_int_equal(amp_shape_count(&huge), -1);
    assert_int_equal(amp_shape_product(&plain, 1, 3), 12);
    assert_int_equal(amp_shape_product(&plain, 0, 1), 2);
    assert_int_equal(amp_shape_product(&plain, 2, 2), 1);
    assert_true(amp_shape_is_known(&scalar) && amp_shape_is_known(&plain));
    assert_false(amp_shape_is_known(&any) || amp_shape_is_known(&open));
    struct amp_shape empty = {2, {0, 3}};
    assert_true(amp_shape_is_known(&empty));
    assert_int_equal(amp_shape_count(&empty), 0);
}

static void shapes_are_equal_or_not(void **state)
{
    struct amp_shape a = {2, {2, 3}}, longer = {3, {2, 3, 1}}, other = {2, {2, 4}},
                     scalar = {0, {2}};
    struct amp_shape same = {2, {2, 3, 9}}, any = {-1, {2}};
    (void)state;
    assert_true(amp_shape_equal(&a, &same));
    assert_false(amp_shape_equal(&a, &longer));
    assert_false(amp_shape_equal(&a, &other));
    assert_false(amp_shape_equal(&scalar, &any));
    other.dims[0] = 1;
    other.dims[1] = 3;
    assert_false(amp_shape_equal(&a, &other));
}

static void shapes_have_texts(void **state)
{
    struct amp_shape plain = {4, {2, -1, -7, 0}}, scalar = {.rank = 0}, any = {.rank = -1};
    char text[64];
    (void)state;
    assert_string_equal(amp_shape_text(&plain, text, sizeof text), "[2, ?, ?, 0]");
    assert_string_equal(amp_shape_text(&scalar, text, sizeof text), "[]");
    assert_string_equal(amp_shape_text(&any, text, sizeof text), "[?...]");
    for (size_t size = 1; size <= sizeof "[2, ?, ?, 0]"; size++) {
        memset(text, 'x', sizeof text);
        amp_shape_text(&plain, text, size);
        assert_memory_equal(text, "[2, ?, ?, 0]", strlen(text));
        assert_int_equal(strlen(text), size - 1);
        for (size_t i = size; i < sizeof text; i++)
            assert_int_equal(text[i], 'x');
    }
}

static void sizes_are_checked(void **state)
{
    static const struct {
        struct amp_shape shape;
        enum amp_dtype dtype;
        size_t size; /* SIZE_MAX: refused */
    } cases[] = {
        {{2, {3, 5}}, AMP_FLOAT, 60},
        {{0, {0}}, AMP_DOUBLE, 8},
        {{1, {3}}, AMP_INT4, 2},
        {{1, {4}}, AMP_INT4, 2},
        {{1, {5}}, AMP_UINT2, 2},
        {{1, {0}}, AMP_FLOAT, 0},
        {{3, {INT64_MAX / 8, 0, 1}}, AMP_UINT8, 0},
        {{3, {INT64_MAX, INT64_MAX, 0}}, AMP_UINT8, SIZE_MAX},
        {{1, {-1}}, AMP_FLOAT, SIZE_MAX},
        {{2, {2, -5}}, AMP_FLOAT, SIZE_MAX},
        {{1, {INT64_MAX / 8}}, AMP_UINT8, INT64_MAX / 8},
        {{1, {INT64_MAX}}, AMP_FLOAT, SIZE_MAX},
        {{2, {INT64_MAX, 4}}, AMP_UINT8, SIZE_MAX},
        {{1, {INT64_MAX}}, AMP_UNDEFINED, 0},
        {{2, {INT64_MAX, 2}}, AMP_UNDEFINED, SIZE_MAX},
        {{2, {INT64_MAX, 4}}, AMP_UNDEFINED, SIZE_MAX},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(cases); i++) {
        struct amp_error err = {.status = AMP_OK};
        size_t size = 7;
        enum amp_status status = amp_shape_size(&cases[i].shape, cases[i].dtype, &size, &err);
        assert_int_equal(status, cases[i].size == SIZE_MAX ? AMP_MODEL : AMP_OK);
        if (status == AMP_OK)
            assert_int_equal(size, cases[i].size);
    }
    struct amp_shape deep = {.rank = AMP_RANK_MAX + 1};
    struct amp_error err = {.status = AMP_OK};
    size_t size;
    assert_int_equal(amp_shape_size(&deep, AMP_FLOAT, &size, &err), AMP_MODEL);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "rank %d; at most %d is supported", AMP_RANK_MAX + 1,
             AMP_RANK_MAX);
    assert_string_equal(err.text, wanted);
    deep.rank = AMP_RANK_MAX;
    err.status = AMP_OK;
    assert_int_equal(amp_shape_size(&deep, AMP_FLOAT, &size, &err), AMP_OK);
    struct amp_shape below = {2, {0, -5}}, over = {2, {INT64_MAX, 4}};
    assert_int_equal(amp_shape_size(&below, AMP_FLOAT, &size, &err), AMP_MODEL);
    assert_string_equal(err.text, "dimension 1 is -5; 0 and above are possible");
    err.status = AMP_OK;
    assert_int_equal(amp_shape_size(&over, AMP_UINT8, &size, &err), AMP_MODEL);
    assert_string_equal(err.text, "the size of uint8 [9223372036854775807, 4] overflows");
}

/* Row-major: the last dim runs fastest. */
static void elements_have_places(void **state)
{
    const struct amp_shape shape = {3, {2, 3, 4}}, scalar = {.rank = 0};
    uint64_t index = 0;
    (void)state;
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 0; k < 4; k++) {
                struct amp_shape place = amp_shape_place(&shape, index++);
                assert_true(place.rank == 3 && place.dims[0] == i && place.dims[1] == j &&
                            place.dims[2] == k);
            }
    assert_int_equal(amp_shape_place(&scalar, 0).rank, 0);
}

/* ---- tensors ---- */

/* Elements of all types, and of data that lies anywhere. Bits are written by hand. */
static void elements_are_read(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        size_t index;
        unsigned char bytes[17]; /* of the tensor, behind one byte */
        double value;
    } rows[] = {
        {AMP_INT8, 1, {0, 1, 0xff}, -1},
        {AMP_UINT8, 1, {0, 1, 0xff}, 255},
        {AMP_BOOL, 0, {0, 1}, 1},
        {AMP_INT16, 1, {0, 1, 2, 0xfe, 0xff}, -2},
        {AMP_UINT16, 1, {0, 1, 2, 0xfe, 0xff}, 65534},
        {AMP_INT32, 1, {0, 1, 2, 3, 4, 0xfd, 0xff, 0xff, 0xff}, -3},
        {AMP_UINT32, 1, {0, 1, 2, 3, 4, 0xfd, 0xff, 0xff, 0xff}, 4294967293},
        {AMP_INT64, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0x80}, -0x1p63},
        {AMP_UINT64, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 0x1p63},
        {AMP_INT4, 0, {0, 0x7f}, -1},
        {AMP_INT4, 1, {0, 0x7f}, 7},
        {AMP_INT4, 3, {0, 0, 0x81}, -8},
        {AMP_UINT4, 2, {0, 0, 0x8f}, 15},
        {AMP_UINT4, 3, {0, 0, 0x8f}, 8},
        {AMP_INT2, 0, {0, 0xe4}, 0},
        {AMP_INT2, 1, {0, 0xe4}, 1},
        {AMP_INT2, 2, {0, 0xe4}, -2},
        {AMP_INT2, 3, {0, 0xe4}, -1},
        {AMP_UINT2, 2, {0, 0xe4}, 2},
        {AMP_UINT2, 5, {0, 0, 0x0c}, 3},
        {AMP_FLOAT, 0, {0, 0, 0, 0xc0, 0x3f}, 1.5},
        {AMP_DOUBLE, 0, {0, 0, 0, 0, 0, 0, 0, 0x04, 0xc0}, -2.5},
        {AMP_FLOAT16, 1, {0, 0, 0, 0, 0xbe}, -1.5},
        {AMP_BFLOAT16, 1, {0, 0, 0, 0xc0, 0xbf}, -1.5},
        {AMP_FLOAT8E4M3FN, 0, {0, 0xbc}, -1.5},
        {AMP_FLOAT8E5M2, 0, {0, 0xbe}, -1.5},
        {AMP_FLOAT8E8M0, 0, {0, 0x80}, 2},
        {AMP_FLOAT4E2M1, 1, {0, 0xb0}, -1.5},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        unsigned char bytes[sizeof rows[i].bytes];
        memcpy(bytes, rows[i].bytes, sizeof bytes);
        struct amp_tensor tensor = {.dtype = rows[i].dtype, .shape = {1, {8}}, .data = bytes + 1};
        double found = amp_tensor_double(&tensor, rows[i].index);
        if (found != rows[i].value)
            fail_msg("%s: %g", amp_dtype_name(rows[i].dtype), found);
        enum amp_dtype_class class = amp_dtype_class(rows[i].dtype);
        if (class != AMP_CLASS_FLOAT && rows[i].dtype != AMP_UINT64)
            assert_true(amp_tensor_int(&tensor, rows[i].index) == (int64_t)rows[i].value);
    }
}

static void elements_are_written(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_DOUBLE, AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16};
    static const double wanted[] = {1.00390626, (float)1.00390626, 1.00390625, 1.0078125};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        double data[2] = {0, 0};
        struct amp_tensor tensor = {.dtype = dtypes[i], .shape = {1, {2}}, .data = data};
        amp_tensor_set_double(&tensor, 1, 1.00390626); /* above the tie of bfloat16 */
        assert_true(amp_tensor_double(&tensor, 1) == wanted[i]);
        assert_true(amp_tensor_double(&tensor, 0) == 0);
    }
}

/* What is converted in pieces counts its losses from the first piece on. */
static void pieces_are_converted_and_counted(void **state)
{
    static const float wide[] = {1, -2, 1e6f, 1e-9f, 1e-6f, 1e6f};
    struct amp_losses losses = {7, 7, 7};
    uint16_t halves[6];
    float whole[6];
    struct amp_tensor from = {
        .dtype = AMP_FLOAT, .shape = {1, {6}}, .data = (void *)(uintptr_t)wide};
    struct amp_tensor to = {.dtype = AMP_FLOAT16, .shape = {1, {6}}, .source = &from};
    (void)state;
    amp_tensor_copy(&to, halves);
    assert_true(halves[0] == 0x3c00 && halves[1] == 0xc000 && halves[2] == 0x7c00);
    to.losses = &losses;
    for (int again = 0; again < 2; again++) {
        amp_tensor_convert(&to, 0, 4, halves);
        assert_true(losses.saturated == 1 && losses.zeroed == 1 && losses.subnormal == 0);
        amp_tensor_convert(&to, 4, 2, halves + 4);
        assert_true(losses.saturated == 2 && losses.zeroed == 1 && losses.subnormal == 1);
        assert_true(halves[2] == 0x7bff && halves[3] == 0 && halves[5] == 0x7bff);
    }
    amp_tensor_copy(&from, whole);
    assert_memory_equal(whole, wide, sizeof wide);
    from.data = NULL;
    memset(whole, 0x5a, sizeof whole);
    amp_tensor_copy(&from, whole); /* nothing is there, and nothing copied */
    assert_int_equal(((unsigned char *)whole)[0], 0x5a);
}

static void strings_are_owned(void **state)
{
    char text[] = "abc", *room;
    struct amp_str strings[] = {{text, 2}, {NULL, 0}, {text + 1, 2}};
    struct amp_tensor tensor = {.dtype = AMP_STRING, .shape = {1, {3}}, .data = strings};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_strings_own(&tensor, &err), AMP_OK);
    memset(text, 'x', 3);
    const struct amp_str *own = tensor.data;
    assert_true(own[0].size == 2 && own[1].size == 0 && own[2].size == 2);
    assert_int_equal(tensor.buffer->size, sizeof strings + 4);
    assert_memory_equal(own[0].data, "ab", 2);
    assert_memory_equal(own[2].data, "bc", 2);
    assert_int_equal(amp_strings_alloc(&tensor, 5, &room, &err), AMP_OK);
    assert_int_equal(tensor.buffer->size, sizeof strings + 5);
    assert_ptr_equal(room,
                     (struct amp_str *)tensor.data + 3); /* the text stands behind all three */
    amp_tensor_release(&tensor);
    assert_null(tensor.data);
}

/* What has more bytes than can be counted is refused before anything is allocated. */
static void what_overflows_is_refused(void **state)
{
    struct amp_tensor tensor = {.dtype = AMP_STRING, .shape = {1, {INT64_MAX}}};
    struct amp_error err = {.status = AMP_OK};
    struct amp_str huge[] = {{NULL, SIZE_MAX}, {NULL, 1}};
    char *text;
    (void)state;
    assert_int_equal(amp_strings_alloc(&tensor, 0, &text, &err), AMP_MODEL);
    assert_string_equal(err.text, "the size of 9223372036854775807 strings overflows");
    err.status = AMP_OK;
    tensor.shape.dims[0] = INT64_C(1) << 59;
    assert_int_equal(amp_strings_alloc(&tensor, (size_t)1 << 63, &text, &err), AMP_MODEL);
    assert_string_equal(err.text, "the size of 576460752303423488 strings overflows");
    err.status = AMP_OK;
    tensor.shape.dims[0] = 2;
    tensor.data = huge;
    assert_int_equal(amp_strings_own(&tensor, &err), AMP_MODEL);
    assert_string_equal(err.text, "the size of 2 strings overflows");
    err.status = AMP_OK;
    struct amp_tensor list = {.data = NULL};
    assert_int_equal(amp_list_alloc(&list, AMP_FORM_SEQUENCE, SIZE_MAX / sizeof list + 1, &err),
                     AMP_MODEL);
    assert_non_null(strstr(err.text, " tensors does not fit in memory"));
    assert_int_equal(amp_list_alloc(&list, AMP_FORM_SEQUENCE, 2, &err), AMP_OK);
    assert_true(amp_tensor_is_list(&list) && amp_tensor_count(&list) == 2);
    amp_tensor_release(&list);
    assert_int_equal(list.form, AMP_FORM_TENSOR);
}

/* Element I of a row of numbers that has all kinds: of both signs, 0, tiny ones and, where HAS_ODD,
   NaN and infinities. */
static double number_of(size_t i, bool has_odd)
{
    static const double kinds[] = {0, -0.0, 0x1p-25, -0x1p-25, 0x1p-24, -0x1p-30, 1.5, -2.25};
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    if (has_odd && i % 7 == 3)
        return odd[i / 7 % 3];
    return i % 3 == 0 ? kinds[i / 3 % 8] : ((double)(i % 1001) - 480) / 16;
}

static void range_is(const struct amp_range *found, size_t n, bool has_odd)
{
    struct amp_range wanted = {.count = n, .minimum = INFINITY, .maximum = -INFINITY};
    double smallest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double x = number_of(i, has_odd), size = fabs(x);
        wanted.nan += isnan(x);
        wanted.infinite += isinf(x) != 0;
        if (!isfinite(x))
            continue;
        wanted.zeros += x == 0;
        wanted.minimum = fmin(wanted.minimum, x);
        wanted.maximum = fmax(wanted.maximum, x);
        smallest = size > 0 ? fmin(smallest, size) : smallest;
        wanted.energy += x * x;
        wanted.flushed += size <= 0x1p-25 ? x * x : 0;
    }
    assert_int_equal(found->count, n);
    assert_int_equal(found->nan, wanted.nan);
    assert_int_equal(found->infinite, wanted.infinite);
    assert_int_equal(found->zeros, wanted.zeros);
    bool has_finite = n > wanted.nan + wanted.infinite;
    assert_true(found->minimum == (has_finite ? wanted.minimum : 0));
    assert_true(found->maximum == (has_finite ? wanted.maximum : 0));
    assert_true(found->smallest == (smallest < INFINITY ? smallest : 0));
    assert_true(fabs(found->energy - wanted.energy) <= 1e-9 * wanted.energy);
    assert_true(fabs(found->flushed - wanted.flushed) <= 1e-9 * wanted.flushed);
    assert_true(amp_range_largest(found) ==
                (has_finite ? fmax(fabs(wanted.minimum), fabs(wanted.maximum)) : 0));
}

/* Sizes around those of the blocks and chunks that elements are taken in. */
static void ranges_are_of_all_elements(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 4, 511, 512, 513, 16383, 16384, 16385, 65536, 70001};
    static const enum amp_dtype dtypes[] = {AMP_DOUBLE, AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    enum { MOST = 70001 };
    double *data = malloc(MOST * sizeof *data);
    (void)state;
    for (size_t s = 0; s < AMP_COUNT(sizes); s++)
        for (int kind = 0; kind < 4; kind++) {
            bool has_odd = kind % 2 == 1, is_float = kind / 2 == 1;
            struct amp_range range = {.count = 0};
            struct amp_tensor tensor = {
                .dtype = dtypes[is_float], .shape = {1, {(int64_t)sizes[s]}}, .data = data};
            for (size_t i = 0; i < sizes[s]; i++)
                amp_tensor_set_double(&tensor, i, number_of(i, has_odd));
            amp_range_add(&range, &tensor);
            range_is(&range, sizes[s], has_odd);
        }
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) { /* numbers that all of them have */
        struct amp_range range = {.count = 0};
        struct amp_tensor tensor = {.dtype = dtypes[i], .shape = {1, {3}}, .data = data};
        for (size_t k = 0; k < 3; k++)
            amp_tensor_set_double(&tensor, k, k == 0 ? -1.5 : k == 1 ? 0 : 3);
        amp_range_add(&range, &tensor);
        assert_true(range.count == 3 && range.zeros == 1 && range.minimum == -1.5 &&
                    range.maximum == 3 && range.smallest == 1.5 && range.energy == 11.25);
        struct amp_range all = range, none = {.count = 0},
                         lost = {.count = 2, .nan = 1, .infinite = 1, .flushed = 2};
        all.flushed = 1;
        amp_range_merge(&all, &none);
        amp_range_merge(&all, &lost);
        assert_true(all.count == 5 && all.minimum == -1.5 && all.maximum == 3);
        assert_true(all.nan == 1 && all.infinite == 1 && all.zeros == 1 && all.energy == 11.25 &&
                    all.flushed == 3 && all.smallest == 1.5);
        amp_range_merge(&lost, &range);
        assert_true(lost.count == 5 && lost.minimum == -1.5 && lost.maximum == 3 &&
                    lost.smallest == 1.5);
        struct amp_range nothing = {.count = 2, .nan = 1, .infinite = 1},
                         above = {.count = 1, .minimum = 2, .maximum = 2, .smallest = 2},
                         below = {.count = 1, .minimum = -2, .maximum = -2, .smallest = 2};
        for (int k = 0; k < 2; k++) { /* no 0 comes of what is not finite */
            struct amp_range lone = nothing, whole_one = k == 0 ? above : below;
            amp_range_merge(&lone, &whole_one);
            assert_true(lone.minimum == whole_one.minimum && lone.maximum == lone.minimum);
            amp_range_merge(&whole_one, &nothing);
            assert_true(whole_one.minimum == lone.minimum && whole_one.maximum == lone.minimum);
        }
    }
    struct amp_range range = {.count = 0};
    struct amp_tensor whole = {.dtype = AMP_INT64, .shape = {1, {3}}, .data = data};
    amp_range_add(&range, &whole);
    assert_int_equal(range.count, 0);
    free(data);
}

static void interval_is(struct amp_interval found, double low, double high)
{
    if (found.low != low || found.high != high)
        fail_msg("%g to %g, not %g to %g", found.low, found.high, low, high);
}

/* What lies beside 0, on it or beyond it; and ends that are infinite. */
static void intervals_have_open_ends(void **state)
{
    const struct amp_interval all = amp_interval_all(), zero = {0, 0}, up = {0, INFINITY},
                              down = {-INFINITY, -1}, below = {-3, -2}, touching = {-3, 0};
    (void)state;
    assert_false(amp_interval_is_bounded(all));
    assert_true(amp_interval_is_bounded(up) && amp_interval_is_bounded(down));
    assert_true(amp_interval_is_bounded(zero));
    assert_true(amp_interval_is_bounded((struct amp_interval){-INFINITY, 0}));
    assert_true(amp_interval_is_bounded((struct amp_interval){-INFINITY, 3}));
    assert_true(amp_interval_is_bounded((struct amp_interval){-3, INFINITY}));
    interval_is(amp_interval_of(3), 3, 3);
    interval_is(amp_interval_around(3), -3, 3);
    assert_true(amp_interval_least(below) == 2 && amp_interval_largest(below) == 3);
    assert_true(amp_interval_least(touching) == 0 && amp_interval_least(up) == 0);
    interval_is(amp_interval_add(up, down), -INFINITY, INFINITY);
    interval_is(amp_interval_sub(up, up), -INFINITY, INFINITY);
    interval_is(amp_interval_sub(down, up), -INFINITY, -1);
    interval_is(amp_interval_mul(zero, all), 0, 0);
    interval_is(amp_interval_mul(all, zero), 0, 0);
    interval_is(amp_interval_mul(below, up), -INFINITY, 0);
    interval_is(amp_interval_mul(below, below), 4, 9);
    interval_is(amp_interval_div(below, touching), -INFINITY, INFINITY);
    interval_is(amp_interval_div(below, up), -INFINITY, INFINITY);
    interval_is(amp_interval_div(zero, below), 0, 0);
    interval_is(amp_interval_div(amp_interval_of(6), below), -3, -2);
    interval_is(amp_interval_square(below), 4, 9);
    interval_is(amp_interval_abs(touching), 0, 3);
    interval_is(amp_interval_map(below, sqrt), -INFINITY, INFINITY);
    interval_is(amp_interval_widen(below, 0.5), -4.5, -1);
}

static double square(double x)
{
    return x * x;
}

/* What operations on all small intervals give is as wide as what numbers in them give, and not
   wider. */
static void intervals_hold_what_numbers_give(void **state)
{
    enum { MOST = 3 };
    (void)state;
    for (int code = 0; code < 7 * 7 * 7 * 7; code++) {
        const int a[] = {code % 7 - MOST, code / 7 % 7 - MOST};
        const int b[] = {code / 49 % 7 - MOST, code / 343 - MOST};
        if (a[0] > a[1] || b[0] > b[1])
            continue;
        const struct amp_interval x = {a[0], a[1]}, y = {b[0], b[1]};
        struct amp_interval found[] = {amp_interval_add(x, y), amp_interval_sub(x, y),
                                       amp_interval_mul(x, y), amp_interval_min(x, y),
                                       amp_interval_max(x, y), amp_interval_square(x),
                                       amp_interval_abs(x),    amp_interval_map(x, cbrt)};
        for (size_t op = 0; op < AMP_COUNT(found); op++) {
            double low = INFINITY, high = -INFINITY;
            for (int i = a[0]; i <= a[1]; i++)
                for (int k = b[0]; k <= b[1]; k++) {
                    const double results[] = {i + k,      i - k,     i * k,           fmin(i, k),
                                              fmax(i, k), square(i), fabs((double)i), cbrt(i)};
                    low = fmin(low, results[op]);
                    high = fmax(high, results[op]);
                }
            interval_is(found[op], low, high);
        }
        interval_is(amp_interval_union(x, y), a[0] < b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]);
        bool has_zero = a[0] <= 0 && a[1] >= 0, divides = b[0] > 0 || b[1] < 0;
        int ends[] = {abs(a[0]), abs(a[1])};
        assert_true(amp_interval_least(x) == (has_zero ? 0 : ends[ends[1] < ends[0]]));
        assert_true(amp_interval_largest(x) == ends[ends[1] > ends[0]]);
        struct amp_interval ratio = amp_interval_div(x, y);
        assert_int_equal(amp_interval_is_bounded(ratio), divides);
        for (int i = a[0]; i <= a[1] && divides; i++)
            for (int k = b[0]; k <= b[1]; k++)
                assert_true(ratio.low <= i * (1.0 / k) && i * (1.0 / k) <= ratio.high);
        assert_true(!divides || (ratio.high - ratio.low <= 6 && fabs(ratio.low) <= 3));
    }
}

/* FNV-1a and a mix of two steps, computed elsewhere. */
static void hashes_are_the_same_everywhere(void **state)
{
    (void)state;
    assert_int_equal(amp_hash_fnv("", 0, 0), 0x2d563624);
    assert_int_equal(amp_hash_fnv("a", 1, 0), 0xb4e2b72c);
    assert_int_equal(amp_hash_fnv("foobar", 6, 0), 0xbf9059a7);
    assert_int_equal(amp_hash_fnv("foobar", 6, 7), 0x83d1a077);
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
/* In the place of the system's: the key of the standard's test vectors. */
ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)i;
    return (ssize_t)size;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* SipHash-1-3 of the bytes 0, 1, 2, ..., folded, as another implementation computes it which gives
   the vector of the paper's appendix with 2 and 4 rounds. */
static void keyed_hashes_are_siphash(void **state)
{
    static const struct {
        size_t size;
        uint32_t hash;
    } rows[] = {{0, 0xaea3c584},  {1, 0xb4a35160},  {7, 0x48236cd8}, {8, 0xbbb90f9f},
                {15, 0xf971413b}, {16, 0xb1df567c}, {23, 0x88bccf5c}};
    unsigned char bytes[23];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        assert_int_equal(amp_hash_keyed(bytes, rows[i].size), rows[i].hash);
}

/* A bit more or less, anywhere, or a byte more makes another hash: of 32 bits some 16 differ. */
static void keyed_hashes_depend_on_every_bit(void **state)
{
    unsigned char bytes[24] = {0};
    (void)state;
    for (size_t size = 0; size < sizeof bytes; size++) {
        uint32_t before = amp_hash_keyed(bytes, size);
        int n_bits = 0;
        assert_int_equal(amp_hash_keyed(bytes, size), before);
        assert_int_not_equal(amp_hash_keyed(bytes, size + 1), before);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            uint32_t after = amp_hash_keyed(bytes, size);
            assert_int_not_equal(after, before);
            n_bits += __builtin_popcount(after ^ before);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        if (size > 7) /* five standard deviations and more of fair coins */
            assert_in_range(n_bits, 8 * size * 14, 8 * size * 18);
    }
}

/* ---- dtypes ---- */

static void bits_become_whole_bytes(void **state)
{
    size_t size = 0;
    (void)state;
    for (uint64_t count = 0; count < 40; count++) {
        assert_true(amp_dtype_size(AMP_INT4, count, &size));
        assert_int_equal(size, (count + 1) / 2);
        assert_true(amp_dtype_size(AMP_UINT2, count, &size));
        assert_int_equal(size, (count + 3) / 4);
        assert_true(amp_dtype_size(AMP_BFLOAT16, count, &size));
        assert_int_equal(size, 2 * count);
    }
    assert_true(amp_dtype_size(AMP_UINT8, UINT64_MAX / 8, &size));
    assert_false(amp_dtype_size(AMP_UINT8, UINT64_MAX / 8 + 1, &size));
    assert_false(amp_dtype_size(AMP_DOUBLE, UINT64_MAX / 64 + 1, &size));
    assert_true(amp_dtype_size(AMP_INT4, UINT64_MAX / 4 - 1, &size));
    assert_false(amp_dtype_size(AMP_INT4, UINT64_MAX / 4, &size));
}

static void dtypes_have_names(void **state)
{
    static const struct {
        const char *name;
        enum amp_dtype dtype;
    } others[] = {{"fp32", AMP_FLOAT},       {"f32", AMP_FLOAT},   {"float", AMP_FLOAT},
                  {"fp16", AMP_FLOAT16},     {"f16", AMP_FLOAT16}, {"half", AMP_FLOAT16},
                  {"bf16", AMP_BFLOAT16},    {"fp64", AMP_DOUBLE}, {"double", AMP_DOUBLE},
                  {"float8", AMP_UNDEFINED}, {"", AMP_UNDEFINED},  {"undefined", AMP_UNDEFINED}};
    (void)state;
    for (int i = 1; i < AMP_DTYPE_COUNT; i++) {
        assert_int_equal(amp_dtype_parse(amp_dtype_name((enum amp_dtype)i)), i);
        assert_true(amp_dtype_is_valid(i));
    }
    for (size_t i = 0; i < AMP_COUNT(others); i++)
        assert_int_equal(amp_dtype_parse(others[i].name), others[i].dtype);
    assert_false(amp_dtype_is_valid(0));
    assert_false(amp_dtype_is_valid(-1));
    assert_false(amp_dtype_is_valid(AMP_DTYPE_COUNT));
    assert_string_equal(amp_dtype_name((enum amp_dtype)0), "undefined");
    assert_string_equal(amp_dtype_short_name(AMP_BFLOAT16), "bf16");
    assert_string_equal(amp_dtype_short_name(AMP_INT64), "int64");
}

/* Significands: bfloat16 8 bits, float16 11, float32 24, float64 53. */
static void dtypes_hold_others_exactly(void **state)
{
    static const enum amp_dtype pairs[][2] = {
        {AMP_BFLOAT16, AMP_FLOAT}, {AMP_FLOAT16, AMP_FLOAT},  {AMP_FLOAT, AMP_DOUBLE},
        {AMP_INT8, AMP_FLOAT16},   {AMP_UINT8, AMP_BFLOAT16}, {AMP_INT16, AMP_FLOAT},
        {AMP_INT32, AMP_DOUBLE},   {AMP_BOOL, AMP_BFLOAT16},  {AMP_BOOL, AMP_INT8},
        {AMP_UINT8, AMP_INT16},    {AMP_INT8, AMP_INT16},     {AMP_UINT8, AMP_UINT16},
        {AMP_STRING, AMP_STRING}};
    static const enum amp_dtype losing[][2] = {
        {AMP_FLOAT, AMP_BFLOAT16}, {AMP_FLOAT16, AMP_BFLOAT16}, {AMP_BFLOAT16, AMP_FLOAT16},
        {AMP_DOUBLE, AMP_FLOAT},   {AMP_INT16, AMP_FLOAT16},    {AMP_UINT16, AMP_BFLOAT16},
        {AMP_INT32, AMP_FLOAT},    {AMP_INT64, AMP_DOUBLE},     {AMP_FLOAT16, AMP_INT64},
        {AMP_INT8, AMP_UINT64},    {AMP_UINT8, AMP_INT8},       {AMP_UINT8, AMP_BOOL},
        {AMP_STRING, AMP_FLOAT},   {AMP_FLOAT, AMP_STRING},     {AMP_FLOAT, AMP_BOOL},
        {AMP_INT2, AMP_BOOL},      {AMP_UINT2, AMP_BOOL},       {AMP_INT2, AMP_UINT2}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(pairs); i++)
        assert_true(amp_dtype_is_exact(pairs[i][0], pairs[i][1]));
    /* Types without numbers, and those of eight bits and less with exponents, hold only themselves.
     */
    static const enum amp_dtype alone[] = {
        AMP_UNDEFINED,      AMP_STRING,     AMP_COMPLEX64,      AMP_COMPLEX128, AMP_FLOAT8E4M3FN,
        AMP_FLOAT8E4M3FNUZ, AMP_FLOAT8E5M2, AMP_FLOAT8E5M2FNUZ, AMP_FLOAT4E2M1, AMP_FLOAT8E8M0};
    for (size_t i = 0; i < AMP_COUNT(alone); i++)
        for (int other = 0; other < AMP_DTYPE_COUNT; other++) {
            bool is_same = other == (int)alone[i];
            assert_int_equal(amp_dtype_is_exact(alone[i], (enum amp_dtype)other), is_same);
            assert_int_equal(amp_dtype_is_exact((enum amp_dtype)other, alone[i]), is_same);
        }
    for (size_t i = 0; i < AMP_COUNT(losing); i++)
        if (amp_dtype_is_exact(losing[i][0], losing[i][1]))
            fail_msg("%s in %s", amp_dtype_name(losing[i][0]), amp_dtype_name(losing[i][1]));
    assert_int_equal(amp_dtype_promote(AMP_FLOAT16, AMP_BFLOAT16), AMP_FLOAT);
    assert_int_equal(amp_dtype_promote(AMP_FLOAT16, AMP_FLOAT16), AMP_FLOAT16);
    assert_true(amp_dtype_is_autocast(AMP_FLOAT) && !amp_dtype_is_lower(AMP_FLOAT));
    assert_true(amp_dtype_is_autocast(AMP_FLOAT16) && amp_dtype_is_lower(AMP_BFLOAT16));
    assert_false(amp_dtype_is_autocast(AMP_DOUBLE) || amp_dtype_is_lower(AMP_INT16));
}

/* What threads add up, or one where IS_SHARED is false. */
static int64_t sum_of_threads(int64_t n, bool is_shared, bool is_dynamic)
{
    int64_t sum = 0;
    if (is_dynamic) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) if (is_shared)
        for (int64_t i = 1; i <= n; i++)
            sum += i;
    } else {
#pragma omp parallel for reduction(+ : sum) if (is_shared)
        for (int64_t i = 1; i <= n; i++)
            sum += i;
    }
    return sum;
}

/* As a region of its own, in a region of two threads and where there is but one thread. */
static void regions_of_one_thread_do_all(void **state)
{
    enum { N = 1000, SUM = N * (N + 1) / 2 };
    int most = omp_get_max_threads(), wrong = 0;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        for (int threads = 1; threads <= 2; threads++) {
            omp_set_num_threads(threads);
            assert_int_equal(sum_of_threads(N, (kind & 1) != 0, (kind & 2) != 0), SUM);
        }
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        wrong += sum_of_threads(N, (kind & 1) != 0, (kind & 2) != 0) != SUM;
    }
    for (int threads = 1; threads <= 2 && threads <= omp_get_thread_limit(); threads++) {
        int found = 0;
        omp_set_num_threads(threads);
#pragma omp parallel
#pragma omp single
        found = omp_get_num_threads();
        assert_int_equal(found, threads); /* as many as there may be */
    }
    omp_set_num_threads(most);
    assert_int_equal(wrong, 0);
}

static void infinities_and_nan_are_not_finite(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        const double most = amp_dtype_max(dtypes[i]), bad[] = {INFINITY, -INFINITY, NAN};
        char data[3 * sizeof(double)];
        struct amp_tensor tensor = {.dtype = dtypes[i], .shape = {1, {3}}, .data = data};
        for (size_t k = 0; k < 3; k++)
            amp_tensor_set_double(&tensor, k, k == 1 ? -most : most);
        assert_true(amp_dtype_is_finite(dtypes[i], data, 3));
        assert_true(amp_tensor_double(&tensor, 1) == -most);
        for (size_t k = 0; k < 3; k++) {
            amp_tensor_set_double(&tensor, k, bad[k]);
            assert_false(amp_dtype_is_finite(dtypes[i], data, 3));
            amp_tensor_set_double(&tensor, k, 0);
        }
    }
    assert_true(amp_dtype_max(AMP_FLOAT16) == 65504);
    assert_true(amp_dtype_max(AMP_BFLOAT16) == ldexp(255, 120));
    assert_true(amp_dtype_max(AMP_FLOAT) == ldexp(16777215, 104));
}

/* ---- failures ---- */

static void the_first_failure_counts(void **state)
{
    struct amp_error err = {.status = AMP_OK}, copy = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_fail(&err, AMP_MODEL, "first %d", 1), AMP_MODEL);
    assert_int_equal(amp_fail(&err, AMP_IO, "second"), AMP_IO);
    assert_int_equal(err.status, AMP_MODEL);
    assert_string_equal(err.text, "first 1");
    assert_int_equal(amp_fail(NULL, AMP_IO, "nobody listens"), AMP_IO);
    amp_error_prefix(&err, "place %d", 2);
    assert_string_equal(err.text, "place 2: first 1");
    assert_int_equal(amp_error_copy(&copy, &err), AMP_MODEL);
    assert_string_equal(copy.text, err.text);
    copy.text[0] = 'P';
    assert_int_equal(amp_error_copy(&copy, &err), AMP_MODEL);
    assert_int_equal(copy.text[0], 'P');
    assert_int_equal(amp_error_copy(NULL, &err), AMP_MODEL);
}

/* The manual's exit codes, and the names in reports. */
static void statuses_have_codes_and_names(void **state)
{
    static const struct {
        enum amp_status status;
        int code;
        const char *name;
    } rows[] = {
        {AMP_OK, 0, "ok"},       {AMP_USAGE, 2, "usage"},   {AMP_IO, 2, "system"},
        {AMP_MODEL, 3, "model"}, {AMP_RULES, 3, "rules"},   {AMP_UNSUPPORTED, 4, "unsupported"},
        {AMP_TYPE, 3, "type"},   {AMP_KERNEL, 2, "kernel"}, {AMP_MISMATCH, 1, "outside"}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        assert_int_equal(amp_status_exit_code(rows[i].status), rows[i].code);
        assert_string_equal(amp_status_name(rows[i].status), rows[i].name);
    }
}

/* What is too long keeps both its ends, and no character is cut. */
static void long_failures_are_cut_in_the_middle(void **state)
{
    char name[4096];
    (void)state;
    for (int odd = 0; odd < 3; odd++) {
        struct amp_error err = {.status = AMP_OK};
        for (size_t i = 0; i + 2 < sizeof name; i += 2)
            memcpy(name + i, "\xc3\xb6", 2);
        name[sizeof name - 2] = '\0';
        amp_error_record(&err, AMP_MODEL, "%.*s%s: the end", odd, "ab", name);
        size_t length = strlen(err.text);
        assert_in_range(length, sizeof err.text - 6, sizeof err.text - 1);
        assert_string_equal(err.text + length - 9, ": the end");
        char *dots = strstr(err.text, "...");
        assert_non_null(dots);
        assert_int_equal((dots - err.text - odd) % 2, 0);
        assert_int_equal((unsigned char)dots[3], 0xc3);
    }
    struct amp_error err = {.status = AMP_OK};
    memset(name, 'a', sizeof name);
    name[sizeof err.text - 1] = '\0';
    amp_error_record(&err, AMP_MODEL, "%s", name);
    assert_string_equal(err.text, name);
}

/* ---- maps and arenas ---- */

static void maps_find_what_was_put_last(void **state)
{
    enum { KEYS = 1000 };
    struct amp_arena *arena = amp_arena_create();
    struct amp_strmap map = {.count = 0};
    uint32_t value = 7;
    (void)state;
    assert_false(amp_strmap_get(&map, "none", &value));
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < KEYS; i++)
            amp_strmap_put(&map, arena, amp_arena_printf(arena, "key%u", i), i + round);
    assert_int_equal(map.count, KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_true(amp_strmap_get(&map, amp_arena_printf(arena, "key%u", i), &value));
        assert_int_equal(value, i + 1);
    }
    assert_false(amp_strmap_get(&map, "key1000", &value));
    assert_true(amp_strmap_get(&map, "key0", NULL));
    /* Words of one hash are told apart. */
    uint32_t hash = amp_hash_keyed("key0", 4);
    assert_true(amp_strmap_get_hashed(&map, "key0", hash, &value));
    assert_false(amp_strmap_get_hashed(&map, "another", hash, &value));
    amp_arena_destroy(arena);
}

/* How far what an arena gives lies behind a piece of SIZE bytes before it. */
static ptrdiff_t distance_behind(size_t size)
{
    struct amp_arena *arena = amp_arena_create();
    char *first = amp_arena_alloc(arena, size), *second = amp_arena_alloc(arena, 1);
    ptrdiff_t distance = second - first;
    amp_arena_destroy(arena);
    return distance;
}

/* No more than the alignment is lost between two pieces. */
static void arenas_are_dense(void **state)
{
    const size_t unit = _Alignof(max_align_t);
    (void)state;
    for (size_t size = 1; size < 4 * unit; size++)
        assert_int_equal(distance_behind(size + 1) - distance_behind(size),
                         size % unit == 0 ? unit : 0);
    assert_int_equal(distance_behind(1) - distance_behind(0), unit);
}

static void arenas_give_aligned_zeros(void **state)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 100000, 3, 1 << 20, 1};
    struct amp_arena *arena = amp_arena_create();
    char *former = NULL;
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        size_t size = sizes[i % AMP_COUNT(sizes)];
        char *memory = amp_arena_alloc(arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        assert_ptr_not_equal(memory, former);
        for (size_t k = 0; k < size; k++)
            if (memory[k] != 0)
                fail_msg("byte %zu of %zu is %d", k, size, memory[k]);
        memset(memory, 0x5a, size);
        former = size > 0 ? memory : former;
    }
    assert_string_equal(amp_arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(amp_arena_printf(arena, "%s-%d", "x", 5), "x-5");
    char *texts[40][3];
    for (int i = 1; i < 40; i++) { /* none ends in the next */
        texts[i][0] = amp_arena_printf(arena, "%0*d", i, 0);
        texts[i][1] = amp_arena_strdup(arena, texts[i][0]);
        texts[i][2] = amp_arena_strndup(arena, texts[i][1], (size_t)i);
        char *own = amp_xstrdup(texts[i][2]);
        assert_string_equal(own, texts[i][0]);
        free(own);
    }
    for (size_t i = 1; i < 40; i++)
        for (int k = 0; k < 3; k++)
            assert_true(strlen(texts[i][k]) == i && strspn(texts[i][k], "0") == i);
    amp_arena_destroy(arena);
}

static void lists_grow_by_one(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    int *items = NULL;
    size_t count = 0, capacity = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        int *item = amp_arena_push(arena, &items, &count, &capacity, sizeof *items);
        assert_ptr_equal(item, &items[i]);
        assert_int_equal(*item, 0);
        assert_int_equal(count, i + 1);
        assert_true(capacity >= count);
        *item = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    amp_arena_destroy(arena);
}

/* ---- patterns ---- */

/* Whether a pattern of one input fits a Clip whose minimum is a constant, or is not. */
static bool fits_clip(bool is_constant)
{
    static const float zero, six = 6;
    struct amp_error err = {.status = AMP_OK};
    struct amp_pattern_match match;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t low =
        is_constant ? constant("low", AMP_FLOAT, SCALAR, &zero) : input("low", AMP_FLOAT, SCALAR);
    uint32_t y = NODE("Clip", "y", x, low, constant("high", AMP_FLOAT, SCALAR, &six));
    output(y);
    infer_all();
    struct amp_pattern *pattern = amp_pattern_parse(net.arena, "Clip(x)", &err);
    struct amp_pattern_matcher *matcher = amp_pattern_matcher_create(net.model);
    bool found = amp_pattern_matcher_match(matcher, pattern, node_of(y), &match);
    amp_pattern_matcher_destroy(matcher);
    return found;
}

static void inputs_beyond_those_of_a_pattern_are_constants(void **state)
{
    (void)state;
    assert_true(fits_clip(true));
    assert_false(fits_clip(false));
}

/* ---- print ----------------------------------------------------------------------------------- */

/* Text for people, and JSON: what becomes of characters that are not to be shown. */

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = amp_print_format(format, args);
    va_end(args);
    assert_non_null(text);
    return text;
}

#define assert_text(expected, ...)            \
    do {                                      \
        char *text_ = text_of(__VA_ARGS__);   \
        assert_string_equal(text_, expected); \
        free(text_);                          \
    } while (0)

static void plain_text_is_that_of_printf(void **state)
{
    (void)state;
    assert_text("", "%s", "");
    assert_text("a b\tc\n", "a %s\n", "b\tc");
    assert_text("  ab|ab  |ab", "%4s|%-4s|%1s", "ab", "ab", "ab");
    assert_text("   ab|ab   |a", "%*s|%*s|%.*s", 5, "ab", -5, "ab", 1, "ab");
    assert_text("x   ab|   abc", "x%5s|%*s", "ab", 6, "abc");
    assert_text("ab|", "%.*s|%.0s", -1, "ab", "ab");
    assert_text("-1 18446744073709551615 7 -2 ff 100%", "%d %zu %lld %ld %x %d%%", -1, SIZE_MAX,
                7LL, -2L, 255u, 100);
    assert_text("1.50 1e+10     2.5 x", "%.2f %g %7.*f %c", 1.5, 1e10, 1, 2.5, 'x');
    /* Numbers of any width, as one piece. */
    for (int width = 1; width < 500; width++) {
        char wanted[512];
        snprintf(wanted, sizeof wanted, "%0*d", width, 7);
        assert_text(wanted, "%0*d", width, 7);
    }
    char zeros[513];
    memset(zeros, '0', 511);
    memcpy(zeros + 511, "|", 2);
    for (int width = 511; width < 515; width++) /* longer ones are cut */
        assert_text(zeros, "%0*d|", width, 0);
    assert_text("0x10 7 1.5 -3 x", "%p %d %g %hhd %s", (void *)16, 7, 1.5, -3, "x");
    assert_text("00012 +3 255 -4", "%05d %+d %hhu %jd", 12, 3, (unsigned char)255, (intmax_t)-4);
    assert_text("\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80 \\d", "%s %s",
                "\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80", "\\d");
}

static void what_is_not_to_be_shown_is_escaped(void **state)
{
    (void)state;
    assert_text("\\x1B[31m\\n\\r\\x07\\x7F\\x01", "%s", "\x1b[31m\n\r\a\x7f\x01");
    assert_text("\\u0080\\u009F\xc2\xa0", "%s", "\xc2\x80\xc2\x9f\xc2\xa0");
    assert_text("\\u202E\\u2066\\u200F\\u061C\\u2028\\u2029", "%s",
                "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9");
    /* Bytes that are no UTF-8: alone, cut short, overlong, a surrogate. */
    assert_text("\\xFF\\x9B a\\xE2\\x82 \\xC0\\x80 \\xED\\xA0\\x80", "%s",
                "\xff\x9b a\xe2\x82 \xc0\x80 \xed\xa0\x80");
    assert_text("\\xC3 \\n", "%.1s %c", "\xc3\xb6", '\n');
    /* Once is enough. */
    assert_text("\\x1B", "%s", "\\x1B");
}

/* What is hidden, from the first to the last, and what is beside it. */
static void hidden_characters_have_ends(void **state)
{
    static const int32_t runs[][2] = {{0, 8},          {10, 31},         {0x7f, 0x9f},
                                      {0x61c, 0x61c},  {0x200e, 0x200f}, {0x2028, 0x202e},
                                      {0x2066, 0x2069}};
    (void)state;
    assert_false(amp_print_is_shown(AMP_UTF8_INVALID));
    for (size_t i = 0; i < AMP_COUNT(runs); i++) {
        for (int32_t code = runs[i][0]; code <= runs[i][1]; code++)
            assert_false(amp_print_is_shown(code));
        assert_true(runs[i][0] == 0 || amp_print_is_shown(runs[i][0] - 1));
        assert_true(amp_print_is_shown(runs[i][1] + 1));
    }
}

__attribute__((format(printf, 2, 3))) static void assert_markup(const char *expected,
                                                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = amp_print_markup(format, args);
    va_end(args);
    assert_string_equal(text, expected);
    free(text);
}

static void arguments_are_no_markup(void **state)
{
    (void)state;
    assert_markup("<b>&lt;/b&gt; &amp;amp; &quot;&#39; 7</b>", "<b>%s %c%c %d</b>", "</b> &amp;",
                  '"', '\'', 7);
    assert_markup("\\x1B\\n\\xFF \\uFFFE\\uFFFF \\u202E \xef\xbf\xbd\xc3\xb6", "%s",
                  "\x1b\n\xff \xef\xbf\xbe\xef\xbf\xbf \xe2\x80\xae \xef\xbf\xbd\xc3\xb6");
    /* XML alone has no place for them. */
    assert_text("\xef\xbf\xbe<&>", "%s", "\xef\xbf\xbe<&>");
}

static void failures_are_clean_lines(void **state)
{
    struct amp_error err = {.status = AMP_OK}, other = {.status = AMP_OK};
    char name[5000];

    (void)state;
    assert_int_equal(amp_fail(&err, AMP_MODEL, "%s: wrong\n%s", "a\nb", "^"), AMP_MODEL);
    amp_error_prefix(&err, "p\n%s", "q\x1b");
    assert_string_equal(err.text, "p\nq\\x1B: a\\nb: wrong\n^");
    assert_int_equal(amp_error_copy(&other, &err), AMP_MODEL);
    assert_string_equal(other.text, err.text);
    /* A long one is not cut within a character. */
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t i = 0; i + 3 < sizeof name; i += 3)
            memcpy(name + i, "\xe2\x82\xac", 4);
        err.status = AMP_OK;
        amp_error_record(&err, AMP_MODEL, "%s%s", &"xxx"[shift % 4], name);
        assert_text(err.text, "%s", err.text);
        assert_non_null(strstr(err.text, "..."));
    }
}

static void json_is_whole_and_shown(void **state)
{
    static const char name[] = "\x1b\n\x7f\xc2\x85\xe2\x80\xae\xc3\xb6\"\\";
    json_t *object = json_object();
    json_error_t problem;

    (void)state;
    amp_json_set(object, "name", amp_json_text(name));
    amp_json_set(object, "bytes", amp_json_text("\xff"));
    char *text = amp_json_dump(object, JSON_COMPACT);
    assert_string_equal(text, "{\"name\":\"\\u001B\\n\\u007F\\u0085\\u202E\xc3\xb6\\\"\\\\\","
                              "\"bytes\":\"(not UTF-8)\"}");
    json_t *read = json_loads(text, 0, &problem);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "name")), name);
    json_decref(read);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endings),
        cmocka_unit_test(misspelled_words),
        cmocka_unit_test(long_words_are_far),
        cmocka_unit_test(characters_are_read_and_written),
        cmocka_unit_test(what_is_no_character_is_passed_byte_by_byte),
        cmocka_unit_test(letters_have_cases),
        cmocka_unit_test(shapes_count_their_elements),
        cmocka_unit_test(shapes_are_equal_or_not),
        cmocka_unit_test(shapes_have_texts),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(elements_have_places),
        cmocka_unit_test(elements_are_read),
        cmocka_unit_test(elements_are_written),
        cmocka_unit_test(pieces_are_converted_and_counted),
        cmocka_unit_test(strings_are_owned),
        cmocka_unit_test(what_overflows_is_refused),
        cmocka_unit_test(ranges_are_of_all_elements),
        cmocka_unit_test(intervals_have_open_ends),
        cmocka_unit_test(intervals_hold_what_numbers_give),
        cmocka_unit_test(hashes_are_the_same_everywhere),
        cmocka_unit_test(keyed_hashes_are_siphash),
        cmocka_unit_test(keyed_hashes_depend_on_every_bit),
        cmocka_unit_test(bits_become_whole_bytes),
        cmocka_unit_test(dtypes_have_names),
        cmocka_unit_test(dtypes_hold_others_exactly),
        cmocka_unit_test(regions_of_one_thread_do_all),
        cmocka_unit_test(infinities_and_nan_are_not_finite),
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(statuses_have_codes_and_names),
        cmocka_unit_test(long_failures_are_cut_in_the_middle),
        cmocka_unit_test(maps_find_what_was_put_last),
        cmocka_unit_test(arenas_give_aligned_zeros),
        cmocka_unit_test(arenas_are_dense),
        cmocka_unit_test(lists_grow_by_one),
        NET_TEST(inputs_beyond_those_of_a_pattern_are_constants),
        cmocka_unit_test(plain_text_is_that_of_printf),
        cmocka_unit_test(what_is_not_to_be_shown_is_escaped),
        cmocka_unit_test(hidden_characters_have_ends),
        cmocka_unit_test(arguments_are_no_markup),
        cmocka_unit_test(failures_are_clean_lines),
        cmocka_unit_test(json_is_whole_and_shown),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

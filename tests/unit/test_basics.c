/* What everything uses: words, shapes, dtypes, maps and arenas; the order of graphs; text for
 * people; what the words of a command line mean, those about inputs too. */
#include "cli/validation.h"
#include "cli/completion_words.h"
#include "cli/report/head.h"
#include "onnx/file/external.h"
#include "cli/train.h"
#include "cli/run.h"
#include "cli/rules.h"
#include "cli/destination.h"
#include "cli/convert/convert.h"
#include "cli/compare.h"
#include "cli/calibrate.h"
#include "cli/bench.h"
#include "cli/inputs.h"
#include "cli/options/command_line.h"
#include "cli/options/target.h"
#include "cli/options/tolerance.h"
#include "cli/report/json.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/convert.h"
#include "core/graph/order.h"
#include "core/graph/reach.h"
#include "core/graph/uses.h"
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
#include "onnx/sample/tensor_file.h"
#include "onnx/schema/schema.h"
#include "pattern/matcher.h"
#include "pattern/pattern.h"
#include "scratch.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        assert_int_equal(text[size], 'x');
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
    char text[] = "abc";
    struct amp_str strings[] = {{text, 2}, {NULL, 0}, {text + 1, 2}};
    struct amp_tensor tensor = {.dtype = AMP_STRING, .shape = {1, {3}}, .data = strings};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_strings_own(&tensor, &err), AMP_OK);
    memset(text, 'x', 3);
    const struct amp_str *own = tensor.data;
    assert_true(own[0].size == 2 && own[1].size == 0 && own[2].size == 2);
    assert_memory_equal(own[0].data, "ab", 2);
    assert_memory_equal(own[2].data, "bc", 2);
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
                         lost = {.count = 2, .nan = 1, .infinite = 1};
        amp_range_merge(&all, &none);
        amp_range_merge(&all, &lost);
        assert_true(all.count == 5 && all.minimum == -1.5 && all.maximum == 3);
        amp_range_merge(&lost, &range);
        assert_true(lost.count == 5 && lost.minimum == -1.5 && lost.maximum == 3 &&
                    lost.smallest == 1.5);
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

/* FNV-1a and a mix of two steps, computed elsewhere. */
static void hashes_are_the_same_everywhere(void **state)
{
    (void)state;
    assert_int_equal(amp_hash_fnv("", 0, 0), 0x2d563624);
    assert_int_equal(amp_hash_fnv("a", 1, 0), 0xb4e2b72c);
    assert_int_equal(amp_hash_fnv("foobar", 6, 0), 0xbf9059a7);
    assert_int_equal(amp_hash_fnv("foobar", 6, 7), 0x83d1a077);
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
        {AMP_STRING, AMP_FLOAT},   {AMP_FLOAT, AMP_STRING},     {AMP_FLOAT, AMP_BOOL}};
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

/* ---- graph ----------------------------------------------------------------------------------- */

/* The order of graphs and what patterns see in them. Orders follow from who needs whom. */

/* ---- order ---- */

/* A body of OWNER that gives out VALUE, which is of the graph around it. */
static void add_passing_body(uint32_t owner, const char *name, uint32_t value)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, value);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
}

static void what_a_body_gives_out_comes_before_its_owner(void **state)
{
    bool moved = false;
    (void)state;
    net_start(22);
    uint32_t c = input("c", AMP_BOOL, SCALAR), x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t owner = net_node(0, "If", "y", 1, IDS(c));
    output(net_out(owner, 0));
    uint32_t first = NODE("Neg", "v", x), second = NODE("Abs", "u", x);
    add_passing_body(owner, "then_branch", first);
    add_passing_body(owner, "else_branch", second);
    assert_int_equal(amp_graph_sort(net.model, &moved, &net.err), AMP_OK);
    const struct amp_ids *nodes = &net.model->graphs[0].nodes;
    assert_int_equal(nodes->items[0], node_of(first));
    assert_int_equal(nodes->items[1], node_of(second));
    assert_int_equal(nodes->items[2], owner);
}

static void a_node_moves_right_before_the_first_that_needs_it(void **state)
{
    bool moved = true;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Neg", "a", x), b = NODE("Abs", "b", a), c = NODE("Exp", "c", x);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    assert_int_equal(amp_graph_sort(net.model, &moved, &net.err), AMP_OK);
    assert_false(moved);
    nodes->items[0] = node_of(c);
    nodes->items[1] = node_of(b);
    nodes->items[2] = node_of(a);
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_OK);
    assert_int_equal(nodes->items[0], node_of(c));
    assert_int_equal(nodes->items[1], node_of(a));
    assert_int_equal(nodes->items[2], node_of(b));
}

static void a_circle_has_no_order(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Add", "a", x, x), b = NODE("Neg", "b", a);
    amp_node_at(net.model, node_of(a))->inputs[1] = b;
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_MODEL);
    assert_string_equal(net.err.text,
                        "net.onnx: node 0 with output 'a' (Add-14) is part of a cycle");
}

/* Of two circles the first is named; what is not part of one is not, and moves nowhere. */
static void the_first_circle_is_named(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t z = NODE("Exp", "z", x), a = NODE("Neg", "a", z), b = NODE("Neg", "b", a);
    uint32_t c = NODE("Abs", "c", z), d = NODE("Abs", "d", c);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    amp_node_at(net.model, node_of(a))->inputs[0] = b;
    amp_node_at(net.model, node_of(c))->inputs[0] = d;
    nodes->items[0] = node_of(b);
    nodes->items[2] = node_of(z);
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_MODEL);
    assert_string_equal(net.err.text,
                        "net.onnx: node 2 with output 'b' (Neg-13) is part of a cycle");
    assert_int_equal(nodes->items[0], node_of(b));
    assert_int_equal(nodes->items[2], node_of(z));
}

/* Two thousand nodes in a row, the last first. */
static void long_chains_are_sorted(void **state)
{
    enum { N = 2000 };
    bool moved = false;
    (void)state;
    net_start(22);
    uint32_t value = input("x", AMP_FLOAT, DIMS(4));
    for (int i = 0; i < N; i++)
        value = NODE("Neg", "v", value);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    for (uint32_t i = 0; i < N; i++)
        nodes->items[i] = N - 1 - i;
    assert_int_equal(amp_graph_sort(net.model, &moved, &net.err), AMP_OK);
    assert_true(moved);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(nodes->items[i], i);
}

/* ---- form ---- */

/* The graph of the net must be refused, with TEXT behind its path. */
static void form_is_refused(const char *text)
{
    char wanted[200];
    struct amp_error err = {.status = AMP_OK};
    snprintf(wanted, sizeof wanted, "net.onnx: %s", text);
    assert_int_equal(amp_graph_check(net.model, &err), AMP_MODEL);
    assert_string_equal(err.text, wanted);
}

static void values_have_one_producer_before_their_use(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Neg", "a", x), b = NODE("Add", "b", x, a), c = NODE("Abs", "c", b);
    output(c);
    const uint32_t first = node_of(a), second = node_of(b);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    nodes->items[0] = second;
    nodes->items[1] = first;
    form_is_refused("node 1 with output 'b' (Add-14), input 1: value 'a' is used before it is "
                    "defined");
    nodes->items[1] = second;
    nodes->items[0] = first;
    amp_node_at(net.model, second)->outputs[0] = a;
    form_is_refused("node 1 with output 'a' (Add-14), output 0: value 'a' has another producer");
    amp_value_at(net.model, a)->producer = second;
    form_is_refused("node 0 with output 'a' (Neg-13), output 0: value 'a' has another producer");
    amp_value_at(net.model, a)->producer = first;
    amp_node_at(net.model, second)->outputs[0] = b;
    amp_value_at(net.model, b)->graph = 1;
    form_is_refused("node 1 with output 'b' (Add-14), output 0: value 'b' has another producer");
    amp_value_at(net.model, b)->graph = 0;
    nodes->items[1] = first;
    form_is_refused("node 0 with output 'a' (Neg-13), output 0: value 'a' has another producer");
    nodes->items[1] = second;
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    nodes->count = 2;
    form_is_refused("graph output 'c' is not defined");
}

/* ---- edits ---- */

static void domains_and_symbols_are_found(void **state)
{
    (void)state;
    net_start(22);
    amp_model_import(net.model, "ai.onnx.ml", 4);
    assert_int_equal(amp_model_opset(net.model, ""), 22);
    assert_int_equal(amp_model_opset(net.model, "ai.onnx"), 22);
    assert_int_equal(amp_model_opset(net.model, "ai.onnx.ml"), 4);
    assert_int_equal(amp_model_opset(net.model, "none"), 0);
    int64_t n = amp_symbol_dim(net.model, "n"), m = amp_symbol_dim(net.model, "m");
    assert_true(n < AMP_DIM_UNKNOWN && m < AMP_DIM_UNKNOWN && n != m);
    assert_true(amp_symbol_dim(net.model, "n") == n);
    assert_string_equal(amp_dim_symbol(net.model, n), "n");
    assert_string_equal(amp_dim_symbol(net.model, m), "m");
    assert_null(amp_dim_symbol(net.model, AMP_DIM_UNKNOWN));
    assert_null(amp_dim_symbol(net.model, 0));
}

/* Initializers that are no inputs came with IR version 4; in the main graph they can be both. */
static void initializers_come_and_go(void **state)
{
    static const struct {
        int64_t before;
        bool is_inner;
        int64_t after;
    } rows[] = {{3, false, 3}, {3, true, 4}, {4, true, 4}, {7, true, 7}};
    static const int64_t numbers[] = {5, 6};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        net_start(22);
        uint32_t c = input("c", AMP_BOOL, SCALAR);
        uint32_t body = amp_graph_add(net.model, "body", net_node(0, "If", "y", 1, IDS(c)));
        net.model->ir_version = rows[i].before;
        uint32_t graph = rows[i].is_inner ? body : 0;
        uint32_t two = amp_graph_add_ints(net.model, graph, "two", numbers, 2);
        uint32_t none = amp_graph_add_ints(net.model, graph, "none", NULL, 0);
        assert_int_equal(net.model->ir_version, rows[i].after);
        const struct amp_value *value = amp_value_at(net.model, two);
        assert_true(value->is_initializer && value->constant == value->initial);
        assert_true(value->rank == 1 && value->dims[0] == 2 && value->dtype == AMP_INT64);
        assert_memory_equal(value->constant->data, numbers, sizeof numbers);
        assert_int_equal(amp_tensor_count(amp_value_at(net.model, none)->constant), 0);
        amp_graph_remove_initializer(net.model, two);
        amp_graph_drop_removed(net.model);
        const struct amp_ids *left = &net.model->graphs[graph].initializers;
        assert_int_equal(left->count, 1);
        assert_int_equal(left->items[0], none);
    }
}

static void unique_names_count_on(void **state)
{
    static const char *const wanted[] = {"a", "a_1", "a_3", "a_4"};
    (void)state;
    net_start(22);
    input("a_2", AMP_FLOAT, SCALAR);
    for (size_t i = 0; i < AMP_COUNT(wanted); i++)
        assert_string_equal(amp_model_unique_name(net.model, "a"), wanted[i]);
    assert_string_equal(amp_model_unique_name(net.model, "a_3"), "a_3_1");
}

static void nodes_get_inputs_and_outputs(void **state)
{
    char text[64];
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t split = net_node(0, "Split", "y", 2, IDS(x));
    uint32_t y = net_out(split, 0), z = net_out(split, 1);
    struct amp_node *node = amp_node_at(net.model, split);
    amp_node_grow_inputs(net.model, split, 3);
    assert_true(node->n_inputs == 3 && node->inputs[0] == x && node->inputs[1] == AMP_NONE &&
                node->inputs[2] == AMP_NONE);
    node->inputs[2] = x;
    const uint32_t *before = node->inputs;
    amp_node_grow_inputs(net.model, split, 3);
    amp_node_grow_inputs(net.model, split, 2);
    assert_true(node->n_inputs == 3 && node->inputs == before && node->inputs[2] == x);
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output 'y' (Split-18)");
    node->outputs[0] = AMP_NONE;
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output 'y_1' (Split-18)");
    node->since_version = 0;
    node->domain = "d";
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output 'y_1' (d.Split)");
    node->name = "named";
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 'named' (d.Split)");
    assert_true(amp_node_is(node, "d", "Split"));
    assert_false(amp_node_is(node, "", "Split") || amp_node_is(node, "d", "Neg"));
    amp_node_clear_outputs(net.model, split, 3);
    assert_true(node->n_outputs == 3 && node->outputs[0] == AMP_NONE &&
                node->outputs[2] == AMP_NONE);
    node->name = "";
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output '' (d.Split)");
    uint32_t other = node_of(NODE("Neg", "v", x));
    amp_node_set_output(net.model, other, 0, z);
    assert_int_equal(node_of(z), other);
    amp_node_set_output(net.model, other, 0, AMP_NONE);
    assert_int_equal(net_out(other, 0), AMP_NONE);
    /* What a removed node gave and another one gives has a producer. */
    node->outputs[0] = y;
    node->outputs[1] = z;
    amp_node_remove(net.model, split);
    assert_true(node->is_removed && node_of(y) == AMP_NONE && node_of(z) == other);
}

static void attributes_are_read_by_type(void **state)
{
    static int64_t two[] = {3, 4};
    static float half = 0.5f;
    size_t count = 7;
    (void)state;
    net_start(22);
    uint32_t c = input("c", AMP_BOOL, SCALAR);
    uint32_t id = net_node(0, "If", "y", 1, IDS(c));
    const struct amp_node *node = amp_node_at(net.model, id);
    amp_node_set_attr(net.model, id,
                      (struct amp_attr){"i", .type = AMP_ATTR_INTS, .count = 2, .ints = two});
    amp_node_set_attr(net.model, id,
                      (struct amp_attr){"f", .type = AMP_ATTR_FLOAT, .count = 1, .floats = &half});
    set_word(net_out(id, 0), "s", "word");
    assert_true(amp_node_ints(node, "i", &count) == two && count == 2);
    assert_null(amp_node_ints(node, "f", &count));
    assert_int_equal(count, 0);
    assert_null(amp_node_ints(node, "none", &count));
    assert_true(amp_node_float(node, "f", 2) == half && amp_node_float(node, "i", 2) == 2);
    assert_string_equal(amp_node_string(node, "s", "none"), "word");
    assert_string_equal(amp_node_string(node, "x", "none"), "none");
    assert_int_equal(amp_node_int(node, "i", 9), 9);
    assert_null(amp_node_attr(node, "none"));
    assert_false(amp_node_has_bodies(node));
    uint32_t body = amp_graph_add(net.model, "body", id);
    uint32_t graphs[] = {body, body};
    amp_node_set_attr(net.model, id, (struct amp_attr){"g", .type = AMP_ATTR_GRAPHS, .count = 0});
    assert_false(amp_node_has_bodies(node));
    amp_node_set_attr(
        net.model, id,
        (struct amp_attr){"g", .type = AMP_ATTR_GRAPHS, .count = 2, .graphs = graphs});
    assert_true(amp_node_has_bodies(node));
    assert_int_equal(amp_attr_graph_count(amp_node_attr(node, "g")), 2);
    uint32_t inner = net_node(body, "Neg", "v", 1, IDS(c));
    assert_int_equal(amp_graph_container(net.model, inner, 0), id);
    assert_int_equal(amp_graph_container(net.model, inner, body), inner);
    assert_int_equal(amp_graph_container(net.model, id, body), AMP_NONE);
    assert_int_equal(amp_graph_container(net.model, AMP_NONE, 0), AMP_NONE);
}

/* ---- as text ---- */

static void set_attr(uint32_t value, struct amp_attr attr)
{
    amp_node_set_attr(net.model, node_of(value), attr);
}

/* All that is told of a graph: types of values, attributes of each kind, of which eight items are
   shown, tensors of one number with it, and bodies. */
static void graphs_are_told_as_text(void **state)
{
    static float floats[] = {0.5f, -1};
    static int64_t ints[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static struct amp_str strings[] = {{"a\nb", 3}, {"c", 1}};
    const double two = 2, pair[] = {1, 2};
    const bool truth = true;
    (void)state;
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n");
    struct amp_tensor *tensors[] = {
        net_tensor(AMP_DOUBLE, SCALAR, &two), net_tensor(AMP_BOOL, DIMS(1), &truth),
        net_tensor(AMP_COMPLEX64, DIMS(1), floats), net_tensor(AMP_STRING, DIMS(1), strings),
        net_tensor(AMP_DOUBLE, DIMS(2), pair)};
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, n, AMP_DIM_UNKNOWN));
    uint32_t s = input("s", AMP_INT64, ANY_DIMS), c = input("c", AMP_BOOL, SCALAR);
    amp_value_at(net.model, s)->kind = AMP_KIND_SEQUENCE;
    uint32_t w = FLOATS("w", 1, 2);
    uint32_t y = NODE("Sum", "y", x, AMP_NONE, w), z = NODE("Neg", "z", y);
    amp_node_at(net.model, node_of(y))->name = "named";
    amp_node_at(net.model, node_of(z))->domain = "other";
    amp_node_at(net.model, node_of(z))->since_version = 0;
    set_attr(y, (struct amp_attr){"f", .type = AMP_ATTR_FLOAT, .count = 1, .floats = floats});
    set_attr(y, (struct amp_attr){"fs", .type = AMP_ATTR_FLOATS, .count = 1, .floats = floats + 1});
    set_attr(y, (struct amp_attr){"i", .type = AMP_ATTR_INT, .count = 1, .ints = ints + 6});
    set_attr(y, (struct amp_attr){"i1", .type = AMP_ATTR_INTS, .count = 1, .ints = ints});
    set_attr(y, (struct amp_attr){"i8", .type = AMP_ATTR_INTS, .count = 8, .ints = ints});
    set_attr(y, (struct amp_attr){"i9", .type = AMP_ATTR_INTS, .count = 9, .ints = ints});
    set_attr(y, (struct amp_attr){"i0", .type = AMP_ATTR_INTS, .count = 0});
    set_attr(y, (struct amp_attr){"t", .type = AMP_ATTR_STRING, .count = 1, .strings = strings});
    set_attr(y, (struct amp_attr){"t2", .type = AMP_ATTR_STRINGS, .count = 1, .strings = strings});
    set_attr(z, (struct amp_attr){"d", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
    set_attr(z, (struct amp_attr){"ds", .type = AMP_ATTR_TENSORS, .count = 5, .tensors = tensors});
    set_attr(z, (struct amp_attr){"k", .type = AMP_ATTR_TYPE, .count = 1});
    uint32_t owner = net_node(0, "If", "v", 2, IDS(c));
    amp_node_at(net.model, owner)->outputs[1] = AMP_NONE;
    add_passing_body(owner, "then_branch", y);
    output(z);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    amp_model_dump(file, net.model, NULL, NULL);
    fclose(file);
    assert_string_equal(
        text, "ir 10, opset 22\n"
              "input x float32 [2, n, ?]\n"
              "input s sequence of int64\n"
              "input c bool []\n"
              "weight w float32 [2]\n"
              "node Sum-13 'named' (x, -, w) -> y undefined f=0.5 fs=[-1] i=7 i1=[1] "
              "i8=[1, 2, 3, 4, 5, 6, 7, 8] i9=[1, 2, 3, 4, 5, 6, 7, 8, ...] i0=[] t='a\\nb' "
              "t2=['a\\nb']\n"
              "node other.Neg (y) -> z undefined d=float64 [] 2 ds=[float64 [] 2, bool [1] 1, "
              "complex64 [1], string [1], float64 [2]] k=type\n"
              "node If-21 (c) -> v undefined, - then_branch=graph\n"
              "  then_branch:\n"
              "    output y undefined\n"
              "output z undefined\n");
    free(text);
}

/* ---- what leads to what ---- */

static const char reached[] = "xcaqrsyzu"; /* the values of the main graph, by their letters */

/* y is given by an If whose first body takes a and holds another If, on q, that passes r; its
   second body passes a. z comes of y; u of s alone. */
static void start_reach(void)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), c = input("c", AMP_BOOL, SCALAR);
    uint32_t a = NODE("Neg", "a", x), q = NODE("Not", "q", x), r = NODE("Exp", "r", x);
    uint32_t s = NODE("Sin", "s", x);
    uint32_t owner = net_node(0, "If", "y", 1, IDS(c));
    uint32_t then = amp_graph_add(net.model, "then", owner);
    uint32_t v = net_out(net_node(then, "Neg", "v", 1, IDS(a)), 0);
    uint32_t inner = net_node(then, "If", "w", 1, IDS(q));
    add_passing_body(inner, "then_branch", r);
    add_passing_body(inner, "else_branch", v);
    amp_ids_push(net.model, &net.model->graphs[then].outputs, net_out(inner, 0));
    struct amp_attr attr = {.name = "then_branch", .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &then, sizeof then);
    amp_node_set_attr(net.model, owner, attr);
    add_passing_body(owner, "else_branch", a);
    output(NODE("Cos", "z", net_out(owner, 0)));
    output(NODE("Tan", "u", s));
}

static uint32_t value_called(char letter)
{
    const char name[] = {letter, '\0'};
    for (uint32_t id = 0; id < net.model->n_values; id++)
        if (strcmp(amp_value_at(net.model, id)->name, name) == 0)
            return id;
    fail();
    return AMP_NONE;
}

/* From value FROM all of the main graph that is called as the letters of WANTED, and no other, is
   reached: ahead, or back but not through what gives WALL ('\0': none). */
static void reach_is(bool is_ahead, char from, char wall, const char *wanted)
{
    bool *values = calloc(net.model->n_values, sizeof *values);
    bool *walls = calloc(net.model->n_nodes, sizeof *walls);
    char found[sizeof reached] = "";
    values[value_called(from)] = true;
    if (wall != '\0')
        walls[amp_value_at(net.model, value_called(wall))->producer] = true;
    if (is_ahead)
        amp_reach_ahead(net.model, values);
    else
        amp_reach_back(net.model, wall != '\0' ? walls : NULL, values);
    for (size_t i = 0, n = 0; reached[i] != '\0'; i++)
        if (values[value_called(reached[i])])
            found[n++] = reached[i];
    assert_string_equal(found, wanted);
    free(values);
    free(walls);
}

static void bodies_lead_on_what_they_take(void **state)
{
    (void)state;
    start_reach();
    reach_is(true, 'a', '\0', "ayz");
    reach_is(true, 'q', '\0', "qyz");
    reach_is(true, 'r', '\0', "ryz");
    reach_is(true, 'c', '\0', "cyz");
    reach_is(true, 's', '\0', "su");
    reach_is(true, 'x', '\0', "xaqrsyzu");
    reach_is(false, 'z', '\0', "xcaqryz");
    reach_is(false, 'u', '\0', "xsu");
    reach_is(false, 'z', 'y', "yz");
    reach_is(false, 'z', 'z', "z");
    reach_is(false, 'z', 'r', "xcaqryz");
    reach_is(false, 'r', 'r', "r");
    amp_node_remove(net.model, amp_value_at(net.model, value_called('w'))->producer);
    reach_is(true, 'q', '\0', "q");
}

static void uses_are_listed_and_counted(void **state)
{
    struct amp_use use;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Neg", "a", x), b = NODE("Add", "b", a, a), d = NODE("Abs", "d", x);
    uint32_t e = NODE("Exp", "e", d);
    output(b);
    output(e);
    output(e);
    struct amp_uses uses = amp_uses_create(net.model);
    uint32_t *counts = amp_uses_count(net.model);
    uint32_t *outputs = amp_uses_count_outputs(net.model);
    const uint32_t ids[] = {x, a, b, d, e}, n_uses[] = {2, 2, 0, 1, 0}, n_out[] = {0, 0, 1, 0, 2};
    for (size_t i = 0; i < AMP_COUNT(ids); i++) {
        assert_int_equal(uses.first[ids[i] + 1] - uses.first[ids[i]], n_uses[i]);
        assert_int_equal(outputs[ids[i]], n_out[i]);
        assert_int_equal(counts[ids[i]], n_uses[i] + n_out[i]);
        assert_int_equal(amp_uses_only(net.model, &uses, ids[i], &use), ids[i] == d);
    }
    assert_true(use.node == node_of(e) && use.slot == 0);
    assert_int_equal(uses.items[uses.first[a]].node, node_of(b));
    assert_int_equal(uses.items[uses.first[a]].slot, 0);
    assert_int_equal(uses.items[uses.first[a] + 1].slot, 1);
    amp_value_at(net.model, d)->is_output = true;
    assert_false(amp_uses_only(net.model, &uses, d, &use));
    amp_value_at(net.model, d)->is_output = false;
    amp_value_at(net.model, d)->graph = 1;
    assert_false(amp_uses_only(net.model, &uses, d, &use));
    amp_uses_destroy(&uses);
    free(counts);
    free(outputs);
    amp_value_at(net.model, d)->graph = 0;
    amp_node_remove(net.model, node_of(e));
    counts = amp_uses_count(net.model);
    assert_int_equal(counts[d], 0);
    free(counts);
    amp_node_remove(net.model, node_of(d));
    uses = amp_uses_create(net.model);
    assert_int_equal(uses.first[d + 1] - uses.first[d], 0);
    assert_true(amp_uses_only(net.model, &uses, x, &use) && use.node == node_of(a));
    assert_int_equal(uses.first[a + 1] - uses.first[a], 2);
    assert_int_equal(uses.items[uses.first[a]].node, node_of(b));
    assert_int_equal(uses.items[uses.first[a] + 1].node, node_of(b));
    amp_uses_destroy(&uses);
}

/* ---- names and attributes ---- */

/* Of several nodes of one name the first keeps it; those without one stay so. */
static void names_differ(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    static const char *const before[] = {"n", "n", "", "", "m", "n_0", "n"};
    uint32_t ids[AMP_COUNT(before)];
    for (size_t i = 0; i < AMP_COUNT(before); i++) {
        ids[i] = node_of(NODE("Neg", amp_model_unique_name(net.model, "v"), x));
        amp_node_at(net.model, ids[i])->name = before[i];
        if (before[i][0] != '\0' && !amp_strmap_get(&net.model->names, before[i], NULL))
            amp_strmap_put(&net.model->names, net.arena, before[i], 1);
    }
    amp_model_rename_nodes(net.model);
    for (size_t i = 0; i < AMP_COUNT(before); i++) {
        bool is_kept = i != 1 && i != 6;
        const char *name = amp_node_at(net.model, ids[i])->name;
        assert_int_equal(strcmp(name, before[i]) == 0, is_kept);
        assert_memory_equal(name, before[i], strlen(before[i]));
        for (size_t k = 0; k < i; k++)
            assert_true(name[0] == '\0' || strcmp(name, amp_node_at(net.model, ids[k])->name) != 0);
    }
}

static void attributes_come_and_go(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    (void)state;
    for (size_t gone = 0; gone < AMP_COUNT(names); gone++) {
        net_start(22);
        uint32_t id = node_of(NODE("Neg", "y", input("x", AMP_FLOAT, DIMS(4))));
        for (size_t i = 0; i < AMP_COUNT(names); i++)
            amp_node_set_int(net.model, id, names[i], (int64_t)i + 10);
        amp_node_set_int(net.model, id, "b", 7);
        const struct amp_node *node = amp_node_at(net.model, id);
        assert_int_equal(node->n_attrs, 3);
        assert_int_equal(amp_node_int(node, "b", 0), 7);
        amp_node_remove_attr(net.model, id, "d");
        assert_int_equal(node->n_attrs, 3);
        amp_node_remove_attr(net.model, id, names[gone]);
        assert_int_equal(node->n_attrs, 2);
        for (size_t i = 0; i < AMP_COUNT(names); i++)
            assert_int_equal(amp_node_int(node, names[i], -1), i == gone ? -1
                                                               : i == 1  ? 7
                                                                         : (int64_t)i + 10);
        assert_true(amp_node_float(node, "a", 0.5f) == 0.5f); /* of another type */
        assert_string_equal(amp_node_string(node, "a", "none"), "none");
    }
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

/* ---- words of a command line ----------------------------------------------------------------- */

/* What the program makes of words behind its name; a value that is refused has a text that says so.
 */

enum { WORDS_MAX = 32 };

/* The words of LINE, between which there are spaces, taken apart: in static memory, since options
   point there. */
static enum amp_status parse_line(const char *line, struct amp_options *options,
                                  struct amp_error *err)
{
    static char text[4096];
    char *argv[WORDS_MAX + 1] = {(char[]){"ampconv"}};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    *err = (struct amp_error){.status = AMP_OK};
    return amp_command_line_parse(argc, argv, options, err);
}

struct said {
    const char *line;
    const char *text; /* that it is refused with; NULL: it is not */
};

static void assert_lines(const struct said *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct amp_options options;
        struct amp_error err;
        enum amp_status status = parse_line(rows[i].line, &options, &err);
        if (strcmp(err.text, rows[i].text != NULL ? rows[i].text : "") != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        assert_int_equal(status, rows[i].text != NULL ? AMP_USAGE : AMP_OK);
        amp_command_line_free(&options);
    }
}

static void options_go_together_or_not(void **state)
{
    static const struct said rows[] = {
        {"m --threads 1024", NULL},
        {"m --threads 1025", "--threads 1025: at most 1024 are possible"},
        {"m --inline", NULL},
        {"m --external-data d", NULL},
        {"m --inline --external-data d", "--inline and --external-data exclude each other"},
        {"bench m --runs 1", NULL},
        {"bench m --runs 0", "--runs 0: at least 1 is needed"},
        {"m --eval-lower", "--eval-lower and --eval-timeout go with --eval"},
        {"m --eval-timeout 1", "--eval-lower and --eval-timeout go with --eval"},
        {"m --eval-timeout 0", NULL},
        {"m --eval c --eval-lower --eval-timeout 1", NULL},
        {"m --eval-reference 1", "--eval-reference goes with --eval"},
        {"m --eval c --eval-reference 1", NULL},
        {"run --list-ops", NULL},
        {"run --test-suite d", NULL},
        {"run --list-ops --test-suite d", "--list-ops and --test-suite exclude each other"},
        {"run --test-suite d --filter f", NULL},
        {"run m --filter f", "--filter goes with --test-suite"},
        {"run --list-ops --report r", "--report does not go with --list-ops"},
        {"run --test-suite d --report r", "--report does not go with --test-suite"},
        {"run m --report r", NULL},
        {"m -j 2", "--jobs goes with --tune, or several models and --output-dir"},
        {"m -j 2 --tune", NULL},
        {"m -j 2 --output-dir d", NULL},
        {"m -j 0 --tune", "--jobs 0: 1 to 1024 are possible"},
        {"m -j 1 --tune", NULL},
        {"m -j 1024 --tune", NULL},
        {"m -j 1025 --tune", "--jobs 1025: 1 to 1024 are possible"},
        {"m n", "'n' is a second model: several need --output-dir DIR, where they go"},
        {"bench m n", NULL},
        {"m n --output-dir d", NULL},
        {"m --output-dir d -o o", "--output is of one model: --output-dir does not go with it"},
        {"m --output-dir d --external-data o",
         "--external-data is of one model: --output-dir does not go with it"},
        {"m --output-dir d --explain",
         "--explain is of one model: --output-dir does not go with it"},
        {"m --output-dir d --dump-after read",
         "--dump-after is of one model: --output-dir does not go with it"},
        {"m --output-dir d --tune --rules-out o",
         "--rules-out is of one model: --output-dir does not go with it"},
        {"m --output-dir d --tune --costs-out o",
         "--costs-out is of one model: --output-dir does not go with it"},
        {"m --output-dir d --tune --tune-log o",
         "--tune-log is of one model: --output-dir does not go with it"},
        {"m --output-dir d --list", "--list is of one model: --output-dir does not go with it"},
        {"m --output-dir d --json=r --report p", NULL},
        {"run m --output-dir d --json -", NULL},
        {"m --target snr>=4", "--target goes with --tune"},
        {"m --target ort-cpu", NULL},
        {"m --target snr>=4 --tune", NULL},
        {"m --max-trials 5", "--max-trials goes with --tune"},
        {"m --costs c", "--costs goes with --tune"},
        {"m --costs-out c", "--costs-out goes with --tune"}};
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
}

static void explanations_and_lists_have_a_stream(void **state)
{
    static const struct said rows[] = {
        {"m --explain", NULL},
        {"m --explain=text --json -", NULL},
        {"m --explain=json", NULL},
        {"m --explain=json --json=f", NULL},
        {"m --explain=noise --json=f", NULL},
        {"m --explain=txt", "--explain=txt: text, json or noise is needed"},
        {"m --explain=json --json", "stdout cannot take both --explain=json and --json -"},
        {"m --explain=noise --json", "stdout cannot take both --explain=noise and --json -"},
        {"m --explain=noise --list", "--explain=noise runs models: --list does not"},
        {"m --explain=json --list", NULL},
        {"m --list", NULL},
        {"m --list -o o", "--list only lists: --output does not go with it"},
        {"m --list --json=f", "--list only lists: --json does not go with it"},
        {"m --list --report f", "--list only lists: --report does not go with it"},
        {"m --list --dump-after f", "--list only lists: --dump-after does not go with it"}};
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
}

static void each_command_takes_as_many_words(void **state)
{
    static const struct said rows[] = {
        {"", "no MODEL given; see ampconv --help"},
        {"-q", "no MODEL given; see ampconv --help"},
        {"--help", NULL},
        {"--version", NULL},
        {"run --help a b", NULL},
        {"run --version a b", NULL},
        {"help", NULL},
        {"help run", NULL},
        {"help rn", "help rn: there is no such command; did you mean 'run'?"},
        {"help xyz", "help xyz: there is no such command; see ampconv --help"},
        {"help -q", NULL},
        {"completion", "no SHELL given; see ampconv --help"},
        {"completion bash", NULL},
        {"completion bash zsh", "'zsh' is one word too many; see ampconv --help"},
        {"run", "no MODEL given; see ampconv --help"},
        {"run a", NULL},
        {"run a b", "'b' is one word too many; see ampconv --help"},
        {"run --list-ops a", "'a' is one word too many; see ampconv --help"},
        {"run --test-suite d a", "'a' is one word too many; see ampconv --help"},
        {"compare a", NULL},
        {"compare a b", NULL},
        {"compare a b c", "'c' is one word too many; see ampconv --help"},
        {"bench a b c", NULL},
        {"calibrate a b", "'b' is one word too many; see ampconv --help"},
        {"train a b", "'b' is one word too many; see ampconv --help"},
        {"rules", NULL},
        {"rules a", NULL},
        {"rules a b", "'b' is one word too many; see ampconv --help"},
        {"rules --check", "--check NAME|FILE: a rule set is needed"},
        {"rules --check a", NULL},
        {"rules --check a b", NULL},
        {"rules --check a b c", "'c' is one word too many; see ampconv --help"},
        {"rules --diff", "--diff A B MODEL: two rule sets and a model are needed"},
        {"rules --diff a b", "--diff A B MODEL: two rule sets and a model are needed"},
        {"rules --diff a b c", NULL},
        {"rules --diff a b c d", "'d' is one word too many; see ampconv --help"},
        {"m -x", "unknown option '-x'; see ampconv --help"},
        {"m -qx", "unknown option '-x'; see ampconv --help"},
        {"m --explian", "unknown option '--explian'; did you mean '--explain'?"},
        {"m --qqqqqqqqqqqqq", "unknown option '--qqqqqqqqqqqqq'; see ampconv --help"},
        {"m --quiet=1", "--quiet takes no value"},
        {"m --layers", "--layers does not go with 'ampconv MODEL'"},
        {"convert m --layers", "--layers does not go with 'ampconv convert'"},
        {"run m -d bf16", "--dtype does not go with 'ampconv run'"},
        {"m -d", "--dtype needs a value: DTYPE"},
        {"m --dtype", "--dtype needs a value: DTYPE"},
        {"m --samples", "--samples needs a value: N"}};
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
}

static void numbers_and_sizes_are_whole(void **state)
{
    static const struct {
        const char *text;
        int64_t size; /* 0: refused */
    } sizes[] = {{"1", 1},
                 {"500M", 500000000},
                 {"3K", 3000},
                 {"4G", 4000000000},
                 {"2T", 2000000000000},
                 {"1Ki", 1024},
                 {"3Mi", 3 << 20},
                 {"1Gi", 1 << 30},
                 {"2Ti", INT64_C(2) << 40},
                 {"9223372036854775807", INT64_MAX},
                 {"9223372T", 9223372000000000000},
                 {"9223373T", 0},
                 {"9223372036854775808", 0},
                 {"0", 0},
                 {"-1", 0},
                 {"0K", 0},
                 {"K", 0},
                 {"1i", 0},
                 {"1KB", 0},
                 {"1Kii", 0},
                 {"1k", 0},
                 {"1.5G", 0},
                 {"x", 0}};
    static const struct said rows[] = {
        {"m --seed 0", NULL},
        {"m --seed 9223372036854775807", NULL},
        {"m --seed 9223372036854775808",
         "--seed 9223372036854775808: a number of 0 or more is needed"},
        {"m --seed=", "--seed : a number of 0 or more is needed"},
        {"m --seed x", "--seed x: a number of 0 or more is needed"},
        {"m --seed 1x", "--seed 1x: a number of 0 or more is needed"},
        {"m --seed -1", "--seed -1: a number of 0 or more is needed"}};
    struct amp_options options;
    struct amp_error err;
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
    for (size_t i = 0; i < AMP_COUNT(sizes); i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "m --max-memory %s", sizes[i].text);
        snprintf(text, sizeof text, "--max-memory %s: a number of bytes is needed, as 500M or 4G",
                 sizes[i].text);
        enum amp_status status = parse_line(line, &options, &err);
        assert_int_equal(status, sizes[i].size == 0 ? AMP_USAGE : AMP_OK);
        assert_string_equal(err.text, sizes[i].size == 0 ? text : "");
        if (sizes[i].size != 0)
            assert_int_equal(options.max_memory, sizes[i].size);
        amp_command_line_free(&options);
    }
}

/* What stands behind an option is its value, what does not is an operand. */
static void words_have_their_places(void **state)
{
    struct amp_options options;
    struct amp_error err;
    (void)state;
    assert_int_equal(parse_line("m", &options, &err), AMP_OK);
    assert_int_equal(options.command, AMP_CMD_CONVERT);
    assert_null(options.words->name);
    assert_int_equal(options.samples, -1);
    assert_int_equal(options.external_threshold, 1024);
    assert_int_equal(options.runs, 20);
    assert_int_equal(options.max_trials, -1);
    assert_int_equal(options.steps, -1);
    assert_int_equal(options.epochs, -1);
    assert_int_equal(options.batch, -1);
    assert_int_equal(options.jobs, -1);
    assert_int_equal(options.lines, -1);
    assert_false(options.wants_help);
    amp_command_line_free(&options);

    assert_int_equal(
        parse_line("run -vqv m --json --seed=3 --data a --data=b -i x=y -- ", &options, &err),
        AMP_OK);
    assert_int_equal(options.command, AMP_CMD_RUN);
    assert_string_equal(options.words->name, "run");
    assert_int_equal(options.verbosity, 2);
    assert_true(options.is_quiet);
    assert_string_equal(options.json, "-");
    assert_int_equal(options.seed, 3);
    assert_int_equal(options.data.count, 2);
    assert_string_equal(options.data.items[0], "a");
    assert_string_equal(options.data.items[1], "b");
    assert_string_equal(options.inputs.items[0], "x=y");
    assert_int_equal(options.operands.count, 1);
    amp_command_line_free(&options);

    assert_int_equal(
        parse_line("-dfp16 --output-dir d --json a.json -fo- - -- -q --json", &options, &err),
        AMP_USAGE);
    assert_string_equal(options.dtype, "fp16");
    assert_string_equal(options.json, "a.json");
    assert_string_equal(options.output, "-");
    assert_true(options.is_forced);
    assert_false(options.is_quiet);
    assert_int_equal(options.operands.count, 3);
    assert_string_equal(options.operands.items[0], "-");
    assert_string_equal(options.operands.items[1], "-q");
    assert_string_equal(options.operands.items[2], "--json");
    amp_command_line_free(&options);

    /* The name of a report is the next word only where it is one. */
    assert_int_equal(parse_line("run m --json", &options, &err), AMP_OK);
    assert_string_equal(options.json, "-");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run --json m.json", &options, &err), AMP_USAGE);
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run --json m", &options, &err), AMP_OK);
    assert_string_equal(options.operands.items[0], "m");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run m --json -", &options, &err), AMP_OK);
    assert_int_equal(options.operands.count, 1);
    amp_command_line_free(&options);
    assert_int_equal(parse_line("m --explain text --output-dir d", &options, &err), AMP_USAGE);
    assert_string_equal(options.explain, "text");
    assert_int_equal(options.operands.count, 2);
    amp_command_line_free(&options);

    /* A name of several options is that of the command, a letter too. */
    assert_int_equal(parse_line("calibrate m -o r", &options, &err), AMP_OK);
    assert_string_equal(options.output, "r");
    amp_command_line_free(&options);
    assert_int_equal(
        parse_line("m --target tensorrt --target snr>=3 --target a<=1 --tune", &options, &err),
        AMP_OK);
    assert_int_equal(options.runtimes.count, 1);
    assert_int_equal(options.targets.count, 2);
    assert_string_equal(options.runtimes.items[0], "tensorrt");
    assert_string_equal(options.targets.items[1], "a<=1");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("help bench", &options, &err), AMP_OK);
    assert_true(options.wants_help);
    assert_int_equal(options.command, AMP_CMD_BENCH);
    amp_command_line_free(&options);
}

static bool is_any(const struct amp_option *option)
{
    return strcmp(option->name, "seed") != 0;
}

/* Options that differ from the defaults become words again, of the command alone. */
static void options_become_words_again(void **state)
{
    struct amp_options options;
    struct amp_error err;
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    assert_int_equal(
        parse_line("m -vv -q --seed 4 -r a -r b'c --samples 5 --jobs 3 --tune --explain -d fp16 "
                   "--external-threshold 1024 --max-memory 2K --json=j --tune-log l",
                   &options, &err),
        AMP_OK);
    assert_string_equal(amp_command_line_compose(&options, is_any, arena),
                        " --dtype=fp16 --explain=text --rules=a --rules='b'\\''c' --samples=5 "
                        "--max-memory=2000 --tune --tune-log=l --json=j --jobs=3 --quiet --verbose "
                        "--verbose");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("m", &options, &err), AMP_OK);
    assert_string_equal(amp_command_line_compose(&options, is_any, arena), "");
    amp_command_line_free(&options);
    amp_arena_destroy(arena);
}

/* ---- values of options ---- */

static void assert_target(const char *line, const char *text)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_UNDEFINED};
    struct amp_error err;
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    enum amp_status status = amp_target_parse(&options, &target, &err);
    if (strcmp(err.text, text) != 0)
        fail_msg("%s: '%s'", line, err.text);
    assert_int_equal(status, text[0] != '\0' ? AMP_USAGE : AMP_OK);
    amp_command_line_free(&options);
}

static struct amp_target target_of(const char *line)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_UNDEFINED};
    struct amp_error err;
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    assert_int_equal(amp_target_parse(&options, &target, &err), AMP_OK);
    amp_command_line_free(&options);
    return target;
}

static void a_model_becomes_what_options_say(void **state)
{
    static const char *const lines[] = {"m",
                                        "m -d fp16",
                                        "m -d fp32",
                                        "m -d bf16,fp16",
                                        "m -d fp16,bf16",
                                        "m -d fp16,bf16 --tune",
                                        "m -d bf16 --tune"};
    static const enum amp_dtype dtypes[][2] = {
        {AMP_BFLOAT16, AMP_UNDEFINED}, {AMP_FLOAT16, AMP_UNDEFINED}, {AMP_FLOAT, AMP_UNDEFINED},
        {AMP_BFLOAT16, AMP_FLOAT16},   {AMP_FLOAT16, AMP_BFLOAT16},  {AMP_BFLOAT16, AMP_FLOAT16},
        {AMP_BFLOAT16, AMP_UNDEFINED}};
    static const char *const wrong[] = {"fp8",       "bf16,",          ",bf16",
                                        "bf16,bf16", "bf16,fp32",      "fp32,bf16",
                                        "int32",     "bf16,fp16,fp16", "aaaaaaaaaaaaaaaa,bf16"};
    static const char *const opsets[] = {
        "0", "-1", "x", "1x", "2147483648", "99999999999999999999", "AUTO"};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        struct amp_target target = target_of(lines[i]);
        assert_int_equal(target.lower, dtypes[i][0]);
        assert_int_equal(target.second, dtypes[i][1]);
        assert_int_equal(target.mode, AMP_OPSET_AUTO);
        assert_true(target.shares_casts);
        assert_false(target.keeps_types);
        assert_int_equal(target.scaling, AMP_SCALING_AUTO);
    }
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "m -d %s", wrong[i]);
        snprintf(text, sizeof text,
                 "--dtype %s: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed", wrong[i]);
        assert_target(line, text);
    }
    for (size_t i = 0; i < AMP_COUNT(opsets); i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "m --opset=%s", opsets[i]);
        snprintf(text, sizeof text, "--opset %s: auto, keep or an opset's number is needed",
                 opsets[i]);
        assert_target(line, text);
    }
    assert_target("m --opset=", "--opset : auto, keep or an opset's number is needed");
    assert_int_equal(target_of("m --opset keep").mode, AMP_OPSET_KEEP);
    assert_int_equal(target_of("m --opset auto").mode, AMP_OPSET_AUTO);
    struct amp_target target = target_of("m --opset 1 --cast-cache off --target ort-cpu --target "
                                         "tensorrt --target ort-cpu");
    assert_int_equal(target.mode, AMP_OPSET_EXACT);
    assert_int_equal(target.opset, 1);
    assert_false(target.shares_casts);
    assert_false(target.keeps_types);
    assert_int_equal(target.runtimes.count, 2);
    assert_ptr_equal(target.runtimes.items[0], amp_runtime_find("ort-cpu"));
    assert_ptr_equal(target.runtimes.items[1], amp_runtime_find("tensorrt"));
    target = target_of("m -d fp32 --opset 2147483647");
    assert_int_equal(target.opset, INT_MAX);
    assert_true(target.keeps_types);
}

static void what_lowers_nothing_takes_no_rules(void **state)
{
    static const struct {
        const char *option, *name;
        bool is_of_types; /* it is refused only where the types stay */
    } rows[] = {{"-r torch-cpu", "--rules", false},
                {"--op a=b", "--op", false},
                {"--node a=b", "--node", false},
                {"--target ort-cpu", "--target", false},
                {"--grad-scaler on", "--grad-scaler", false},
                {"--io lower", "--io", true},
                {"--explain", "--explain", true},
                {"--list", "--list", true}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        char line[128], text[128];
        snprintf(text, sizeof text, "--dtype fp32 lowers nothing: %s does not go with it",
                 rows[i].name);
        snprintf(line, sizeof line, "m -d fp32 %s", rows[i].option);
        assert_target(line, rows[i].is_of_types ? "" : text);
        snprintf(line, sizeof line, "m -d fp32 --opset keep %s", rows[i].option);
        assert_target(line, rows[i].is_of_types ? "" : text);
        snprintf(line, sizeof line, "m -d fp32 --opset 20 %s", rows[i].option);
        assert_target(line, text);
        snprintf(line, sizeof line, "m -d bf16 --opset 20 %s", rows[i].option);
        assert_target(line, "");
    }
    assert_target("m -d fp32 --opset 20 --cast-cache on",
                  "--dtype fp32 lowers nothing: --cast-cache does not go with it");
    assert_target("m -d fp32 --cast-cache on", "");
    assert_target("m --cast-cache maybe", "--cast-cache maybe: on or off is needed");
    assert_target(
        "m --target ort-cup",
        "--target ort-cup: a runtime (ampconv, ort-cpu, ort-cuda, tensorrt, openvino) or a "
        "bound (METRIC>=VALUE, METRIC<=VALUE) is needed; did you mean 'ort-cpu'?");
    assert_target(
        "m --target zzzzzzzz",
        "--target zzzzzzzz: a runtime (ampconv, ort-cpu, ort-cuda, tensorrt, openvino) or a "
        "bound (METRIC>=VALUE, METRIC<=VALUE) is needed");
}

/* A model is raised to what is released, or left where it is. */
static void models_are_only_ever_raised(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *model = amp_model_create(arena, "m");
    int released = amp_schema_released_opset();
    (void)state;
    for (int mode = AMP_OPSET_AUTO; mode <= AMP_OPSET_EXACT; mode++) {
        struct amp_target target = {.mode = (enum amp_opset_mode)mode, .opset = 20};
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_target_check(&target, model, &err),
                         mode == AMP_OPSET_EXACT ? AMP_UNSUPPORTED : AMP_OK);
        assert_string_equal(err.text, mode == AMP_OPSET_EXACT
                                          ? "m: --opset 20: the model imports no opset of ai.onnx"
                                          : "");
    }
    for (int opset = released - 1; opset <= released + 2; opset++)
        for (int wanted = released - 1; wanted <= released + 2; wanted++) {
            struct amp_target target = {.mode = AMP_OPSET_EXACT, .opset = wanted};
            struct amp_error err = {.status = AMP_OK};
            char text[128] = "";
            amp_model_import(model, "", opset);
            if (wanted < opset)
                snprintf(text, sizeof text,
                         "m: --opset %d: the model has opset %d, and is only ever raised", wanted,
                         opset);
            else if (wanted > opset && wanted > released)
                snprintf(text, sizeof text, "m: --opset %d: the newest that is released is %d",
                         wanted, released);
            assert_int_equal(amp_target_check(&target, model, &err),
                             text[0] != '\0' ? AMP_UNSUPPORTED : AMP_OK);
            assert_string_equal(err.text, text);
        }
    amp_arena_destroy(arena);
}

/* Which of the inputs and outputs change, by their names. */
static void assert_io(struct amp_model *model, const char *line, const char *names,
                      const char *text)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_BFLOAT16};
    struct amp_error err;
    struct amp_ids ids = {.count = 0};
    char found[64] = "";
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    enum amp_status status = amp_target_interface(&options, &target, model, &ids, &err);
    assert_string_equal(err.text, text);
    assert_int_equal(status, text[0] != '\0' ? AMP_USAGE : AMP_OK);
    for (size_t i = 0; i < ids.count; i++)
        strcat(found, amp_value_at(model, ids.items[i])->name);
    assert_string_equal(found, names);
    amp_command_line_free(&options);
}

static void inputs_and_outputs_change_by_name(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16, AMP_INT64,
                                            AMP_FLOAT, AMP_FLOAT,    AMP_DOUBLE};
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *model = amp_model_create(arena, "m");
    struct amp_tensor initial = {.dtype = AMP_FLOAT};
    (void)state;
    amp_graph_add(model, "g", AMP_NONE);
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        char name[2] = {(char)('a' + i)};
        uint32_t id = amp_graph_add_value(model, 0, amp_arena_strdup(arena, name));
        struct amp_value *value = amp_value_at(model, id);
        value->dtype = dtypes[i];
        value->kind = i == 5 ? AMP_KIND_SEQUENCE : AMP_KIND_TENSOR;
        value->initial = i == 4 ? &initial : NULL;
        amp_ids_push(model, i == 2 ? &model->graphs[0].outputs : &model->graphs[0].inputs, id);
    }
    assert_io(model, "m", "", "");
    assert_io(model, "m --io keep", "", "");
    assert_io(model, "m --io lower", "ac", "");
    assert_io(model, "m --io lower --io a=keep", "c", "");
    assert_io(model, "m --io a=lower", "a", "");
    assert_io(model, "m --io c=lower", "c", "");
    assert_io(model, "m --io b=lower", "", "");
    assert_io(model, "m --io d=keep", "", "");
    assert_io(model, "m --io low", "", "--io low: keep or lower is needed, or NAME=lower");
    assert_io(model, "m --io a=x", "", "--io a=x: keep or lower is needed, or NAME=lower");
    assert_io(model, "m --io a=", "", "--io a=: [NAME=]WHAT is needed");
    assert_io(model, "m --io d=lower", "",
              "--io d=lower: 'd' is int64; only tensors of float32, float16 and bfloat16 change");
    assert_io(model, "m --io g=lower", "",
              "--io g=lower: 'g' is float64; only tensors of float32, float16 and bfloat16 change");
    assert_io(model, "m --io e=lower", "", "--io e=lower: 'e' has a value in the model");
    assert_io(model, "m --io f=lower", "",
              "--io f=lower: 'f' is no tensor; only tensors of float32, float16 and bfloat16 "
              "change");
    assert_io(model, "m --io ab=lower --io lower", "",
              "--io ab=lower: no input or output 'ab'; did you mean 'a'?");
    assert_io(model, "m --io zzzzzz=keep", "", "--io zzzzzz=keep: no input or output 'zzzzzz'");
    amp_arena_destroy(arena);
}

/* A name is as long as its place; the last = ends it. */
static void pairs_are_split_at_the_last_sign(void **state)
{
    struct amp_option_pair pair;
    char text[sizeof pair.name + 3];
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_option_pair_split("input", "a=b=c", &pair, &err), AMP_OK);
    assert_string_equal(pair.name, "a=b");
    assert_string_equal(pair.value, "c");
    memset(text, 'n', sizeof text);
    strcpy(text + sizeof pair.name - 1, "=v");
    assert_int_equal(amp_option_pair_split("input", text, &pair, &err), AMP_OK);
    assert_int_equal(strlen(pair.name), sizeof pair.name - 1);
    memset(text, 'n', sizeof text);
    strcpy(text + sizeof pair.name, "=v");
    assert_int_equal(amp_option_pair_split("input", text, &pair, &err), AMP_USAGE);
    static const char *const wrong[] = {"a", "=a", "a=", "=", ""};
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        char said[64];
        err = (struct amp_error){.status = AMP_OK};
        snprintf(said, sizeof said, "--input %s: NAME=FILE is needed", wrong[i]);
        assert_int_equal(amp_option_pair_split("input", wrong[i], &pair, &err), AMP_USAGE);
        assert_string_equal(err.text, said);
    }
}

static void gradients_are_scaled_by_numbers(void **state)
{
    static const struct {
        const char *text;
        enum amp_scaling scaling;
        struct amp_grad_scaler scaler;
    } rows[] = {{NULL, AMP_SCALING_AUTO, {65536, 2, 0.5, 2000}},
                {"off", AMP_SCALING_OFF, {65536, 2, 0.5, 2000}},
                {"on", AMP_SCALING_ON, {65536, 2, 0.5, 2000}},
                {"init_scale=0.25", AMP_SCALING_ON, {0.25, 2, 0.5, 2000}},
                {"growth_factor=1.5,backoff_factor=0.75", AMP_SCALING_ON, {65536, 1.5, 0.75, 2000}},
                {"growth_interval=2147483647", AMP_SCALING_ON, {65536, 2, 0.5, 2147483647}},
                {"growth_interval=1,init_scale=3", AMP_SCALING_ON, {3, 2, 0.5, 1}}};
    static const struct said wrong[] = {
        {"init_scale=0", "init_scale= needs a number above 0"},
        {"init_scale=nan", "init_scale= needs a number above 0"},
        {"init_scale=1e-60", "init_scale= needs a number above 0"},
        {"init_scale=", "init_scale= needs a number above 0"},
        {"init_scale=2x", "init_scale= needs a number above 0"},
        {"growth_factor=1", "growth_factor= needs a number above 1"},
        {"growth_factor=inf", "growth_factor= needs a number above 1"},
        {"backoff_factor=1", "backoff_factor= needs a number above 0 and below 1"},
        {"backoff_factor=0", "backoff_factor= needs a number above 0 and below 1"},
        {"growth_interval=0", "growth_interval= needs a whole number above 0"},
        {"growth_interval=1.5", "growth_interval= needs a whole number above 0"},
        {"growth_interval=2147483648", "growth_interval= needs a whole number above 0"},
        {"init_scale=1,growth_factor=1", "growth_factor= needs a number above 1"},
        {"On", "'On' is none of on, off, init_scale=, growth_factor=, backoff_factor= and "
               "growth_interval="},
        {"init_scal=1", "'init_scal=1' is none of on, off, init_scale=, growth_factor=, "
                        "backoff_factor= and growth_interval=; did you mean 'init_scale'?"},
        {"init_scale=1,x=2", "'x=2' is none of on, off, init_scale=, growth_factor=, "
                             "backoff_factor= and growth_interval="},
        {"init_scale=1,", "'' is none of on, off, init_scale=, growth_factor=, "
                          "backoff_factor= and growth_interval="}};
    enum amp_scaling scaling;
    struct amp_grad_scaler scaler;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_grad_scaler_parse(rows[i].text, &scaling, &scaler, &err), AMP_OK);
        assert_int_equal(scaling, rows[i].scaling);
        assert_true(scaler.init_scale == rows[i].scaler.init_scale);
        assert_true(scaler.growth_factor == rows[i].scaler.growth_factor);
        assert_true(scaler.backoff_factor == rows[i].scaler.backoff_factor);
        assert_int_equal(scaler.growth_interval, rows[i].scaler.growth_interval);
    }
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        struct amp_error err = {.status = AMP_OK};
        char text[256];
        assert_int_equal(amp_grad_scaler_parse(wrong[i].line, &scaling, &scaler, &err), AMP_USAGE);
        snprintf(text, sizeof text, "--grad-scaler %s: %s", wrong[i].line, wrong[i].text);
        assert_string_equal(err.text, text);
    }
}

static void bounds_are_named_in_their_order(void **state)
{
    struct amp_options options;
    struct amp_error err;
    struct amp_named_bound bound;
    static const char *const names[] = {"snr", "cosine", "max_abs", "accuracy-drop", "eval-drop"};
    static const char *const values[] = {"1", "0.5", "2", "3%", "3%"};
    static const char *const from[] = {"tolerance", "tolerance", "target", "max-drop", "max-drop"};
    (void)state;
    assert_int_equal(parse_line("m --tune -t snr=1 --max-drop 3% --target max_abs<=2 -t cosine=0.5 "
                                "--labels l --eval c",
                                &options, &err),
                     AMP_OK);
    assert_int_equal(amp_named_bound_count(&options), AMP_COUNT(names));
    for (size_t i = 0; i < AMP_COUNT(names); i++) {
        assert_int_equal(amp_named_bound_at(&options, i, &bound, &err), AMP_OK);
        assert_string_equal(bound.pair.name, names[i]);
        assert_string_equal(bound.pair.value, values[i]);
        assert_string_equal(bound.option, from[i]);
    }
    amp_command_line_free(&options);
    assert_int_equal(parse_line("m --tune --max-drop 3%", &options, &err), AMP_OK);
    assert_int_equal(amp_named_bound_count(&options), 0);
    amp_command_line_free(&options);
}

static void tolerances_are_read(void **state)
{
    static const struct said rows[] = {
        {"m -t snr=3", ""},
        {"m -t snr", "--tolerance snr: METRIC=VALUE is needed"},
        {"m -t accuracy-drop=1%", "--tolerance accuracy-drop=1% goes with --labels"},
        {"m -t accuracy-drop=1% --labels l", ""},
        {"m -t accuracy-drop=1% --eval c", "--tolerance accuracy-drop=1% goes with --labels"},
        {"m -t eval-drop=1% --labels l", "--tolerance eval-drop=1% goes with --eval"},
        {"m -t eval-drop=1 --eval c", ""},
        {"m --tune --max-drop 1%", "--max-drop 1% goes with --labels or --eval"},
        {"m --tune --max-drop 1% --eval c", ""},
        {"m --tune --max-drop 1% --labels l", ""},
        {"m --tune --max-drop x --labels l",
         "the tolerance of accuracy-drop: 'x' is no number and no percentage"},
        {"m --tune --target snr>=2 --target max_abs<=2", ""},
        {"m --tune --target snr<=2",
         "--target snr<=2: more of snr is better: snr>=VALUE is needed"},
        {"m --tune --target max_abs>=2",
         "--target max_abs>=2: less of max_abs is better: max_abs<=VALUE is needed"},
        {"m --tune --target eval-drop>=2 --eval c",
         "--target eval-drop>=2: less of eval-drop is better: eval-drop<=VALUE is needed"},
        {"m --tune --target snr=2",
         "--target snr=2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target snr>2",
         "--target snr>2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target >=2",
         "--target >=2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target snr>=",
         "--target snr>=: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"}};
    struct amp_metric_bounds bounds;
    struct amp_task_bounds task_bounds;
    struct amp_options options;
    struct amp_named_bound bound;
    struct amp_error err;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        assert_int_equal(parse_line(rows[i].line, &options, &err), AMP_OK);
        enum amp_status status =
            amp_tolerance_parse(&options, AMP_BFLOAT16, &bounds, &task_bounds, &err);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(status, rows[i].text[0] != '\0' ? AMP_USAGE : AMP_OK);
        assert_int_equal(amp_task_bounds_any(&task_bounds), i == 3 || i == 6 || i == 8 || i == 9);
        amp_command_line_free(&options);
    }
    for (size_t length = sizeof bound.pair.name - 1; length <= sizeof bound.pair.name; length++) {
        char line[sizeof bound.pair.name + 32] = "m --tune --target ";
        memset(line + strlen(line), 'n', length);
        strcat(line, ">=1");
        assert_int_equal(parse_line(line, &options, &err), AMP_OK);
        assert_int_equal(amp_named_bound_at(&options, 0, &bound, &err),
                         length < sizeof bound.pair.name ? AMP_OK : AMP_USAGE);
        amp_command_line_free(&options);
    }
}

/* Against expected outputs: by element unless metrics alone are named. */
static void expected_outputs_have_two_tolerances(void **state)
{
    static const struct {
        const char *line;
        bool by_element, by_metric;
        double rtol, atol;
    } rows[] = {{"run m", true, false, NAN, NAN},
                {"run m -t rtol=0.5", true, false, 0.5, NAN},
                {"run m -t atol=0", true, false, NAN, 0},
                {"run m -t snr=20", false, true, NAN, NAN},
                {"run m -t snr=20 -t atol=2 -t rtol=1", true, true, 1, 2}};
    static const struct said wrong[] = {
        {"run m -t rtol=-1", "--tolerance rtol=-1: a number of 0 or more is needed"},
        {"run m -t atol=nan", "--tolerance atol=nan: a number of 0 or more is needed"},
        {"run m -t atol=1x", "--tolerance atol=1x: a number of 0 or more is needed"},
        {"run m -t eval-drop=1",
         "--tolerance eval-drop=1 compares two models: 'ampconv run' has one"}};
    struct amp_options options;
    struct amp_error err;
    struct amp_expected_tolerance tolerance;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_tolerance own = amp_tolerance_of(AMP_FLOAT16);
        assert_int_equal(parse_line(rows[i].line, &options, &err), AMP_OK);
        assert_int_equal(amp_expected_tolerance_parse(&options, &tolerance, &err), AMP_OK);
        assert_int_equal(tolerance.by_element, rows[i].by_element);
        assert_int_equal(tolerance.by_metric, rows[i].by_metric);
        struct amp_tolerance found = amp_expected_tolerance_of(&tolerance, AMP_FLOAT16);
        assert_true(found.rtol == (isnan(rows[i].rtol) ? own.rtol : rows[i].rtol));
        assert_true(found.atol == (isnan(rows[i].atol) ? own.atol : rows[i].atol));
        amp_command_line_free(&options);
    }
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        assert_int_equal(parse_line(wrong[i].line, &options, &err), AMP_OK);
        assert_int_equal(amp_expected_tolerance_parse(&options, &tolerance, &err), AMP_USAGE);
        assert_string_equal(err.text, wrong[i].text);
        amp_command_line_free(&options);
    }
}

/* ---- inputs of a command line ---- */

static void save(const char *path, enum amp_dtype dtype, struct amp_shape shape, const void *data)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor tensor = *net_tensor(dtype, shape, data);
    assert_int_equal(amp_tensor_save(path, "x", &tensor, &err), AMP_OK);
}

/* A model of a float input, one of integers with a symbolic dim, one of bytes, one that is constant
   and one that has a value of its own; and files for them. */
static void start_inputs(void)
{
    static const float numbers[] = {1, 2, 3, 4, 5};
    static const int64_t whole[] = {1, 2, 3, -1, 256};
    static const bool flags[] = {true, false};
    static const double doubles[] = {0.5, 2};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)),
             n = input("n", AMP_INT64, DIMS(amp_symbol_dim(net.model, "N"), 3)),
             b = input("b", AMP_UINT8, DIMS(2));
    uint32_t own[] = {input("c", AMP_FLOAT, DIMS(2)), input("w", AMP_FLOAT, DIMS(2))};
    for (int i = 0; i < 2; i++) {
        struct amp_value *value = amp_value_at(net.model, own[i]);
        value->initial = net_tensor(AMP_FLOAT, DIMS(2), numbers);
        value->constant = i == 0 ? value->initial : NULL;
        value->is_initializer = true;
    }
    output(NODE("Neg", "y", x));
    output(NODE("Neg", "y=z", n));
    output(NODE("Identity", "q", b));
    infer_all();
    save("x.npy", AMP_FLOAT, DIMS(2), numbers);
    save("x5.npy", AMP_FLOAT, DIMS(5), numbers);
    save("d.npy", AMP_DOUBLE, DIMS(2), doubles);
    save("n.npy", AMP_INT64, DIMS(1, 3), whole);
    save("b.npy", AMP_INT64, DIMS(2), whole);
    save("b5.npy", AMP_INT64, DIMS(5), whole);
    save("large.npy", AMP_INT64, DIMS(2), whole + 3);
    save("flags.npy", AMP_BOOL, DIMS(2), flags);
    save("p=q.npy", AMP_INT64, DIMS(1), whole);
}

/* What comes of opening the inputs of LINE, and of loading all samples and labels. */
static enum amp_status open_line(const char *line, struct amp_error *err)
{
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_label_files labels;
    assert_int_equal(parse_line(line, &options, err), AMP_OK);
    enum amp_status status = amp_inputs_open(&options, net.model, &inputs, err);
    if (status == AMP_OK) {
        for (size_t i = 0; i < inputs.count && status == AMP_OK; i++) {
            struct amp_tensor tensors[5] = {{.data = NULL}}, outputs[3] = {{.data = NULL}};
            status = amp_inputs_load(&inputs, i, tensors, outputs, err);
            amp_tensors_release(tensors, 5);
            amp_tensors_release(outputs, 3);
        }
        if (status == AMP_OK)
            status = amp_label_files_load(&inputs, &labels, err);
        if (status == AMP_OK)
            amp_label_files_close(&labels);
        amp_inputs_close(&inputs);
    }
    amp_command_line_free(&options);
    return status;
}

static void inputs_are_named_and_of_the_model(void **state)
{
    static const struct said rows[] = {
        {"run m", NULL},
        {"run m -i x=x.npy -i n=n.npy -i b=b.npy", NULL},
        {"run m -i x=d.npy -i n=n.npy -i b=b.npy -i w=x.npy", NULL},
        {"run m -i q=x.npy", "--input q: the model has no such input; did you mean 'x'?"},
        {"run m -i qqqqq=x.npy",
         "--input qqqqq: the model has no such input; there are: 'x', 'n', 'b', 'w'"},
        {"run m -i c=x.npy", "--input c: it is constant in the model"},
        {"run m -i x=x.npy -i x=x.npy", "--input x=x.npy: 'x' is given twice"},
        {"run m -i x=x.npy", "no --input for 'n', 'b'; give all inputs or none"},
        {"run m -i w=x.npy", "no --input for 'x', 'n', 'b'; give all inputs or none"},
        {"run m -i b=b.npy -i x=x.npy", "no --input for 'n'; give all inputs or none"},
        {"run m -i b=large.npy", "input 'b': element 0, -1, does not fit into uint8"},
        {"run m -i b=flags.npy -i x=x.npy -i n=n.npy", NULL},
        {"run m --samples 3", NULL},
        {"run m --samples 0", "--samples 0: at least 1 is needed"},
        {"run m --input-shape x=2 --data x.npy",
         "--input-shape x=2 is about random inputs; --data supplies them"},
        {"run m --input-range x=0,1 --data x.npy",
         "--input-range x=0,1 is about random inputs; --data supplies them"},
        {"run m --input-range x=0,1 --input x=x.npy",
         "--input-range x=0,1 is about random inputs; --input supplies them"},
        {"run m --dim N=0", NULL},
        {"run m --dim N=2", NULL},
        {"run m --dim N=-1", "--dim N=-1: a number of 0 or more is needed"},
        {"run m --dim N=1x", "--dim N=1x: a number of 0 or more is needed"},
        {"run m --dim N=99999999999999999999",
         "--dim N=99999999999999999999: a number of 0 or more is needed"},
        {"run m --dim M=1",
         "--dim M: the model has no such symbolic dim in its inputs; did you mean 'N'?"},
        {"run m --dim MMMMM=1",
         "--dim MMMMM: the model has no such symbolic dim in its inputs; there are: 'N'"},
        {"run m --input-shape n=2,3", NULL},
        {"run m --input-shape x=2", NULL},
        {"run m --input-shape n=2", "--input-shape n=2: 'n' is [?, 3]: the input has 2 dims"},
        {"run m --input-shape n=2,",
         "--input-shape n=2,: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=,2",
         "--input-shape n=,2: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=-2,3",
         "--input-shape n=-2,3: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=2;3",
         "--input-shape n=2;3: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=99999999999999999999,3",
         "--input-shape n=99999999999999999999,3: sizes with commas between them are needed, as "
         "n=1,3,224,224"},
        {"run m --input-range x=0,1", NULL},
        {"run m --input-range x=-1e9,1e9", NULL},
        {"run m --input-range b=0,255", NULL},
        {"run m --input-range x=0",
         "--input-range x=0: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=,1",
         "--input-range x=,1: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0,",
         "--input-range x=0,: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0,1x",
         "--input-range x=0,1x: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0;1",
         "--input-range x=0;1: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=nan,1",
         "--input-range x=nan,1: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0,inf",
         "--input-range x=0,inf: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=2,1", "--input-range x=2,1: LO is greater than HI"},
        {"run m --input-range w=0,1", "--input-range w=0,1: the model has values for it itself"},
        {"run m --input-range c=0,1", "--input-range c: it is constant in the model"},
        {"run m --labels n.npy", NULL},
        {"run m --labels y=d.npy", NULL},
        {"run m --labels y=z", "z: not a .npy or .pb file"},
        {"run m --labels p=q.npy", NULL}, /* a file */
        {"run m --labels y=z=n.npy", NULL},
        {"run m --labels q=b.npy", NULL},
        {"run m --labels y=flags.npy",
         "flags.npy: labels of type bool; integers are needed for classes, floats for targets"},
        {"run m --labels p=b.npy", "--labels p: the model has no such output; did you mean 'y'?"},
        {"run m --labels ppppp=b.npy",
         "--labels ppppp: the model has no such output; there are: 'y', 'y=z', 'q'"}};
    (void)state;
    start_inputs();
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err;
        enum amp_status status = open_line(rows[i].line, &err);
        if (strcmp(err.text, rows[i].text != NULL ? rows[i].text : "") != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        assert_int_equal(status != AMP_OK, rows[i].text != NULL);
    }
}

/* Data need not have what the model has itself. */
static void data_have_what_is_needed(void **state)
{
    static const float numbers[] = {1, 2};
    static const int64_t whole[] = {1, 2, 3};
    struct amp_error err;
    (void)state;
    start_inputs();
    for (int i = 0; i < 3; i++) {
        char path[64], folder[16], line[64];
        snprintf(folder, sizeof folder, "d%d", i);
        assert_int_equal(mkdir(folder, 0777), 0);
        snprintf(path, sizeof path, "%s/x.npy", folder);
        save(path, AMP_FLOAT, DIMS(2), numbers);
        snprintf(path, sizeof path, "%s/b.npy", folder);
        save(path, AMP_INT64, DIMS(2), whole);
        snprintf(path, sizeof path, "%s/%s.npy", folder, i == 0 ? "w" : "n");
        save(path, i == 0 ? AMP_FLOAT : AMP_INT64, i == 0 ? DIMS(2) : DIMS(1, 3),
             i == 0 ? (const void *)numbers : whole);
        snprintf(line, sizeof line, "run m --data %s%s", folder, i == 2 ? " -i w=x.npy" : "");
        assert_int_equal(open_line(line, &err), i == 0 ? AMP_MODEL : AMP_OK);
        assert_string_equal(err.text, i == 0 ? "d0: nothing for input 'n'" : "");
    }
}

/* What a sample expects need not be asked for; a symbolic dim is no batch; the shape that is noted
   is that of the first sample. */
static void samples_of_data_are_loaded_one_by_one(void **state)
{
    static const int64_t whole[12] = {1, 2, 3, 4};
    static const float numbers[] = {1, 2, 3, 4};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    net_start(22);
    uint32_t n = input("n", AMP_INT64, DIMS(amp_symbol_dim(net.model, "N"), 3)),
             x = input("x", AMP_FLOAT, DIMS(2));
    output(NODE("Neg", "y", n));
    output(NODE("Neg", "z", x));
    infer_all();
    assert_int_equal(mkdir("sets", 0777), 0);
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "sets/test_data_set_%d", i);
        assert_int_equal(mkdir(path, 0777), 0);
        snprintf(path, sizeof path, "sets/test_data_set_%d/input_0.pb", i);
        save(path, AMP_INT64, i == 0 ? DIMS(4, 3) : DIMS(1, 3), whole);
        snprintf(path, sizeof path, "sets/test_data_set_%d/input_1.pb", i);
        save(path, AMP_FLOAT, i == 0 ? DIMS(2) : DIMS(4), numbers);
        snprintf(path, sizeof path, "sets/test_data_set_%d/output_0.pb", i);
        save(path, AMP_INT64, i == 0 ? DIMS(4, 3) : DIMS(1, 3), whole);
    }
    assert_int_equal(parse_line("run m --data sets", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_int_equal(inputs.count, 3); /* the four rows of the second set are two batches */
    for (size_t i = 0; i < 6; i++) {
        struct amp_tensor tensors[2] = {{.data = NULL}}, expected[2] = {{.data = NULL}};
        assert_int_equal(amp_inputs_load(&inputs, i % 3, tensors, i < 3 ? NULL : expected, &err),
                         AMP_OK);
        assert_int_equal(tensors[0].shape.dims[0], i % 3 == 0 ? 4 : 1);
        assert_int_equal(tensors[1].shape.dims[0], 2);
        assert_int_equal(expected[0].data != NULL, i >= 3);
        assert_null(expected[1].data);
        amp_tensors_release(tensors, 2);
        amp_tensors_release(expected, 2);
        assert_string_equal(inputs.notes.items[0], "'n' int64 [4, 3]: sets");
    }
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* What is noted of each input by what supplies it. */
static void inputs_are_noted(void **state)
{
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    start_inputs();
    assert_int_equal(parse_line("run m --dim N=2 --seed 7", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_true(inputs.notes.are_random);
    assert_int_equal(inputs.count, 1);
    assert_non_null(strstr(inputs.notes.items[0], "'x' float32 [2]: random"));
    assert_non_null(strstr(inputs.notes.items[0], ", seed 7"));
    assert_non_null(strstr(inputs.notes.items[1], "'n' int64 [2, 3]: "));
    assert_null(inputs.notes.items[3]);
    assert_string_equal(inputs.notes.items[4], "'w' float32 [2]: the model's own");
    assert_null(inputs.notes.sizes);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);

    assert_int_equal(parse_line("run m -i x=d.npy -i n=n.npy -i b=b.npy", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_false(inputs.notes.are_random);
    assert_string_equal(inputs.notes.items[0], "'x' float32 [2]: d.npy");
    assert_string_equal(inputs.notes.items[1], "'n' int64 [1, 3]: n.npy");
    assert_null(inputs.notes.items[3]);
    assert_null(inputs.notes.items[4]);
    struct amp_tensor tensors[5] = {{.data = NULL}};
    assert_int_equal(amp_inputs_load(&inputs, 0, tensors, NULL, &err), AMP_OK);
    assert_int_equal(tensors[0].dtype, AMP_FLOAT);
    assert_true(amp_tensor_double(&tensors[0], 0) == 0.5);
    assert_int_equal(tensors[2].dtype, AMP_UINT8);
    assert_int_equal(amp_tensor_int(&tensors[2], 1), 2);
    assert_null(tensors[3].data);
    assert_null(tensors[4].data);
    amp_tensors_release(tensors, 5);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* Rows of data are cut into as many batches as there are whole ones, of strings too, and their
   labels with them. */
static void data_are_cut_into_batches(void **state)
{
    static const struct amp_str strings[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
    static const float numbers[] = {1, 2, 3, 4, 5};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    for (int i = 0; i < 2; i++) {
        enum amp_dtype dtype = i == 0 ? AMP_FLOAT : AMP_STRING;
        net_start(22);
        output(NODE("Identity", "y", input("x", dtype, DIMS(2))));
        infer_all();
        save("rows.npy", dtype, DIMS(5), i == 0 ? (const void *)numbers : strings);
        save("labels.npy", AMP_FLOAT, DIMS(5), numbers);
        save("few.npy", AMP_FLOAT, DIMS(4), numbers);
        assert_int_equal(parse_line("run m --data rows.npy --labels labels.npy --labels few.npy",
                                    &options, &err),
                         AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        assert_int_equal(inputs.count, 2);
        assert_string_equal(inputs.notes.batches,
                            "5 rows in batches of 2; 1 that fill none is left out");
        assert_int_equal(inputs.notes.left_out, 1);
        for (size_t k = 0; k < 2; k++) {
            struct amp_tensor tensor = {.data = NULL};
            assert_int_equal(amp_inputs_load(&inputs, k, &tensor, NULL, &err), AMP_OK);
            assert_int_equal(tensor.shape.rank, 1);
            assert_int_equal(tensor.shape.dims[0], 2);
            for (size_t e = 0; e < 2; e++) {
                if (i == 0)
                    assert_true(amp_tensor_double(&tensor, e) == (double)(2 * k + e + 1));
                else
                    assert_memory_equal(((const struct amp_str *)tensor.data)[e].data,
                                        strings[2 * k + e].data, 1);
            }
            amp_tensors_release(&tensor, 1);
            assert_string_equal(inputs.notes.items[0],
                                i == 0 ? "'x' float32 [2]: rows.npy" : "'x' string [2]: rows.npy");
        }
        struct amp_label_files labels;
        assert_int_equal(amp_label_files_load(&inputs, &labels, &err), AMP_OK);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(labels.items[k].tensor.shape.dims[0], 4);
            assert_true(amp_tensor_double(&labels.items[k].tensor, 3) == 4);
        }
        amp_label_files_close(&labels);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);

        /* A file of several batches is read once, and what was read is let go with the last. */
        assert_int_equal(parse_line("run m --data rows.npy", &options, &err), AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        for (size_t k = 0; k < 3; k++) {
            struct amp_tensor tensor = {.data = NULL};
            assert_int_equal(amp_inputs_load(&inputs, k % 2, &tensor, NULL, &err),
                             k < 2 ? AMP_OK : AMP_IO);
            amp_tensors_release(&tensor, 1);
            if (k == 0)
                assert_int_equal(rename("rows.npy", "moved.npy"), 0);
        }
        assert_int_equal(rename("moved.npy", "rows.npy"), 0);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);

        /* As many samples as are asked for. */
        assert_int_equal(parse_line("run m --data rows.npy --samples 1", &options, &err), AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        assert_int_equal(inputs.count, 1);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);
    }
    static const char *const lines[] = {"run m --data six.npy", "run m --data two.npy",
                                        "run m --data seven.npy --data rows5.npy"};
    static const char *const notes[] = {"6 rows in batches of 2", NULL,
                                        "12 rows in batches of 2; 2 that fill none are left out"};
    static const float many[] = {1, 2, 3, 4, 5, 6, 7};
    net_start(22);
    output(NODE("Identity", "y", input("x", AMP_FLOAT, DIMS(2))));
    infer_all();
    save("six.npy", AMP_FLOAT, DIMS(6), many);
    save("two.npy", AMP_FLOAT, DIMS(2), many);
    save("seven.npy", AMP_FLOAT, DIMS(7), many);
    save("rows5.npy", AMP_FLOAT, DIMS(5), many);
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        assert_int_equal(parse_line(lines[i], &options, &err), AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        if (notes[i] == NULL)
            assert_null(inputs.notes.batches);
        else
            assert_string_equal(inputs.notes.batches, notes[i]);
        assert_int_equal(inputs.count, i == 0 ? 3 : i == 1 ? 1 : 5);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);
    }
}

/* ---- commands ---- */

/* What commands refuse before they read a model, or, with the last row of each, that they go on to
   read one that is not there. */
static void commands_refuse_what_does_not_go_together(void **state)
{
    static const struct said rows[] = {
        {"compare a b --opset 3", "--opset converts REF: 'b' does not go with it"},
        {"compare a b --cast-cache on", "--cast-cache converts REF: 'b' does not go with it"},
        {"compare a b --io keep", "--io converts REF: 'b' does not go with it"},
        {"compare a b -r r", "--rules converts REF: 'b' does not go with it"},
        {"compare a b --node n=fp32", "--node converts REF: 'b' does not go with it"},
        {"compare a b --op o=fp32", "--op converts REF: 'b' does not go with it"},
        {"compare a b --lower-ops f", "--lower-ops converts REF: 'b' does not go with it"},
        {"compare a b --fp32-ops f", "--fp32-ops converts REF: 'b' does not go with it"},
        {"compare a b --strict-rules", "--strict-rules converts REF: 'b' does not go with it"},
        {"compare a b --ranges f", "--ranges converts REF: 'b' does not go with it"},
        {"compare a b -d bf16 --ranges f", "--dtype converts REF: 'b' does not go with it"},
        {"compare a --ranges f",
         "compare REF MODEL: two models are needed, or one and --dtype, what it is to be "
         "converted to"},
        {"compare - -", "stdin cannot be both models"},
        {"compare a - --sort local", "--sort goes with --layers"},
        {"compare a - --lines 0", "--lines goes with --layers"},
        {"compare - b --layers --sort worst",
         "--sort worst: graph, local or accumulated is needed"},
        {"compare a b --samples 0", "--samples 0: at least 1 is needed"},
        {"compare a -d fp16 --layers --sort local --lines 0",
         "a: cannot open: No such file or directory"},
        {"compare a - --layers --sort graph", "a: cannot open: No such file or directory"},
        {"run a --format txt", "--format txt: npy or pb is possible"},
        {"run a -t snr", "--tolerance snr: METRIC=VALUE is needed"},
        {"run a --format npy", "a: cannot open: No such file or directory"},
        {"run a --format pb", "a: cannot open: No such file or directory"},
        {"bench a -d bf16,fp8", "--dtype: 'fp8' is none of fp32, bf16 and fp16"},
        {"bench a -d bf16,", "--dtype: '' is none of fp32, bf16 and fp16"},
        {"bench a -d fp32,bf16,fp32", "--dtype: 'fp32' is there twice"},
        {"bench a -d fp16,bf16,fp32", "a: cannot open: No such file or directory"},
        {"bench a", "a: cannot open: No such file or directory"},
        {"train a --train x", "--train goes with --make-training"},
        {"train a --steps 0 --epochs 0", "--steps and --epochs: one of the two is possible"},
        {"train a --expand", "--expand needs --output"},
        {"train a --expand -o o --steps 0",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --epochs 0",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --log l",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --json=j",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --report r",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o", "a: cannot open: No such file or directory"},
        {"train a --make-training loss=mse --train x", "a: cannot open: No such file or directory"},
        {"train a --steps 0", "a: cannot open: No such file or directory"},
        {"rules --diff a b m -d fp32", "--diff is about rules, and --dtype fp32 takes none"},
        {"rules --diff a b m -d fp8",
         "--dtype fp8: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed"},
        {"rules --diff a b m", "m: cannot open: No such file or directory"},
        {"rules --check torch-cpu m -d fp32",
         "--check is about rules, and --dtype fp32 takes none"},
        {"rules --check torch-cpu m", "m: cannot open: No such file or directory"},
        {"calibrate a --samples 0", "a: cannot open: No such file or directory"},
        {"a --dump-after reads",
         "--dump-after reads: read, infer, opset, assign, insert or fold; did you mean 'read'?"},
        {"a -d fp8", "--dtype fp8: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed"},
        {"a", "a: cannot open: No such file or directory"}};
    static enum amp_status (*const commands[])(const struct amp_options *, struct amp_error *) = {
        [AMP_CMD_CONVERT] = amp_command_convert, [AMP_CMD_RUN] = amp_command_run,
        [AMP_CMD_RULES] = amp_command_rules,     [AMP_CMD_BENCH] = amp_command_bench,
        [AMP_CMD_COMPARE] = amp_command_compare, [AMP_CMD_CALIBRATE] = amp_command_calibrate,
        [AMP_CMD_TRAIN] = amp_command_train};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_options options;
        struct amp_error err;
        if (parse_line(rows[i].line, &options, &err) != AMP_OK)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        enum amp_status status = commands[options.command](&options, &err);
        if (strcmp(err.text, rows[i].text) != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        bool is_unread = strstr(rows[i].text, "cannot open") != NULL;
        assert_int_equal(status, is_unread ? AMP_IO : AMP_USAGE);
        amp_command_line_free(&options);
    }
}

/* ---- destinations ---- */

static void touch(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
}

/* Whether all that LINE has written can be, and where its model goes. */
static enum amp_status find_places(const char *line, struct amp_arena *arena, const char **path,
                                   struct amp_error *err)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_UNDEFINED};
    assert_int_equal(parse_line(line, &options, err), AMP_OK);
    enum amp_status status = amp_target_parse(&options, &target, err);
    if (status == AMP_OK)
        status = amp_destinations_check(&options, err);
    if (status == AMP_OK && options.command == AMP_CMD_CONVERT)
        status = amp_destination_choose(&options, &target, arena, path, err);
    amp_command_line_free(&options);
    return status;
}

static void models_go_where_nothing_is_lost(void **state)
{
    static const struct {
        const char *line, *path, *text;
    } rows[] = {
        {"in.onnx", "in.bf16.onnx", NULL},
        {"in.onnx -d fp16", "in.fp16.onnx", NULL},
        {"in.onnx -d fp16,bf16", "in.fp16-bf16.onnx", NULL},
        {"in.onnx -d fp32 --opset 20", "in.opset20.onnx", NULL},
        {"in.onnx -d fp32", "in.fp32.onnx", NULL},
        {"sub/in.onnx", "sub/in.bf16.onnx", NULL},
        {"other", "other.bf16.onnx", NULL},
        {"in.onnx -o out.onnx", "out.onnx", NULL},
        {"-", "-", NULL},
        {"in.onnx -o -", "-", NULL},
        {"taken.onnx", NULL, "taken.bf16.onnx exists; use --force, or -o to name an output"},
        {"taken.onnx -f", "taken.bf16.onnx", NULL},
        {"taken.onnx -o taken.bf16.onnx", "taken.bf16.onnx", NULL},
        {"link.onnx", NULL, "link.bf16.onnx exists; use --force, or -o to name an output"},
        {"in.onnx -o in.onnx", NULL,
         "in.onnx is the input and would be lost; use --force, or another name"},
        {"in.onnx -o ./in.onnx", NULL,
         "./in.onnx is the input and would be lost; use --force, or another name"},
        {"in.onnx -f -o in.onnx", "in.onnx", NULL},
        {"in.onnx --json=in.onnx", NULL, "--json in.onnx: that is the input, which would be lost"},
        {"in.onnx -f --json=in.onnx", NULL,
         "--json in.onnx: that is the input, which would be lost"},
        {"in.onnx --json=r --report r", NULL, "--report and --json cannot both go to r"},
        {"in.onnx --json=r --report ./r", NULL, "--report and --json cannot both go to ./r"},
        {"in.onnx --tune --rules-out r --costs-out r", NULL,
         "--rules-out and --costs-out cannot both go to r"},
        {"in.onnx --tune --tune-log r --costs-out r", NULL,
         "--tune-log and --costs-out cannot both go to r"},
        {"in.onnx --json=a --report b", "in.bf16.onnx", NULL},
        {"in.onnx -o r --json=r", NULL, "--json r: that is the model itself"},
        {"in.onnx --json=in.bf16.onnx", NULL, "--json in.bf16.onnx: that is the model itself"},
        {"in.onnx -o - --json -", NULL, "stdout cannot take both the model and --json -"},
        {"in.onnx -o - --report -", NULL, "stdout cannot take both the model and --report -"},
        {"in.onnx -o o --json -", "o", NULL},
        {"in.onnx -o none/o", NULL, "none/o: cannot create: No such file or directory"},
        {"in.onnx --report none/o", NULL, "none/o: cannot create: No such file or directory"},
        {"in.onnx --external-data w", "in.bf16.onnx", NULL},
        {"in.onnx --external-data sub/w", "in.bf16.onnx", NULL},
        {"in.onnx --external-data ..w", "in.bf16.onnx", NULL},
        {"in.onnx --external-data in.bf16.onnx", NULL,
         "--external-data in.bf16.onnx: that is the model itself"},
        {"sub/in.onnx --external-data in.bf16.onnx", NULL,
         "--external-data in.bf16.onnx: that is the model itself"},
        {"in.onnx --external-data ../w", NULL,
         "--external-data ../w: a name relative to the output's folder is needed"},
        {"in.onnx --external-data sub/../w", NULL,
         "--external-data sub/../w: a name relative to the output's folder is needed"},
        {"in.onnx --external-data /w", NULL,
         "--external-data /w: a name relative to the output's folder is needed"},
        {"in.onnx --external-data w/", NULL,
         "--external-data w/: a name relative to the output's folder is needed"},
        {"in.onnx --external-data -", NULL,
         "--external-data -: a name relative to the output's folder is needed"},
        {"in.onnx --external-data=", NULL,
         "--external-data : a name relative to the output's folder is needed"},
        {"in.onnx --external-data none/w", NULL,
         "none/w: cannot create: No such file or directory"},
        {"sub/in.onnx --external-data none/w", NULL,
         "sub/none/w: cannot create: No such file or directory"},
        {"run in.onnx --json=in.onnx", NULL,
         "--json in.onnx: that is the input, which would be lost"},
        {"compare other in.onnx --json=in.onnx", NULL,
         "--json in.onnx: that is the input, which would be lost"},
        {"calibrate in.onnx -o in.onnx", NULL,
         "--output in.onnx: that is the input, which would be lost"},
        {"train in.onnx --log l --json=l", NULL, "--json and --log cannot both go to l"},
        {"train in.onnx -o l --log l", NULL, "--output and --log cannot both go to l"},
        {"run in.onnx --output-dir in.onnx", NULL,
         "in.onnx: cannot create the folder: Not a directory"},
        {"run in.onnx --output-dir none/d", NULL,
         "none/d: cannot create the folder: No such file or directory"},
        {"run in.onnx --output-dir sub", NULL, NULL},
        {"run in.onnx --output-dir new", NULL, NULL}};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    touch("in.onnx");
    touch("sub/in.onnx");
    touch("other");
    touch("taken.bf16.onnx");
    assert_int_equal(symlink("nowhere", "link.bf16.onnx"), 0);
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err;
        const char *path = NULL;
        enum amp_status status = find_places(rows[i].line, arena, &path, &err);
        if (strcmp(err.text, rows[i].text != NULL ? rows[i].text : "") != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        assert_int_equal(status != AMP_OK, rows[i].text != NULL);
        if (rows[i].path != NULL)
            assert_string_equal(path, rows[i].path);
    }
    amp_arena_destroy(arena);
}

/* A data file of the input stays, unless what replaces the input has its own in that place. */
static void data_files_of_the_input_stay(void **state)
{
    static const struct {
        const char *line, *path, *data_path, *text;
    } rows[] = {{"data.onnx -o out", "out", NULL, ""},
                {"data.onnx -o out", "out", "new", ""},
                {"data.onnx -o out", "out", "kept", ""},
                {"data.onnx", "out", "kept", "kept exists; use --force, or -o to name an output"},
                {"data.onnx -f", "out", "kept", ""},
                {"data.onnx -o out", "weights", NULL,
                 "weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -o out", "./weights", "new",
                 "./weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -o out", "out", "weights",
                 "weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -f", "out", "weights",
                 "weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -f -o data.onnx", "data.onnx", "weights", ""},
                {"data.onnx -f -o data.onnx", "./data.onnx", "weights", ""},
                {"data.onnx -o out", "out", "data.onnx",
                 "data.onnx is part of the input and would be lost; another name is needed"},
                {"data.onnx -f -o data.onnx", "data.onnx", "./data.onnx",
                 "./data.onnx is part of the input and would be lost; another name is needed"},
                {"data.onnx -o out", "out", "none/new",
                 "none/new: cannot create: No such file or directory"}};
    struct amp_external *external = amp_external_create("data.onnx");
    struct amp_error err = {.status = AMP_OK};
    void *data;
    (void)state;
    touch("data.onnx");
    touch("weights");
    touch("kept");
    assert_int_equal(amp_external_map(external, &(struct amp_external_range){.location = "weights"},
                                      &data, &err),
                     AMP_OK);
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_options options;
        assert_int_equal(parse_line(rows[i].line, &options, &err), AMP_OK);
        enum amp_status status =
            amp_destination_check(&options, external, rows[i].path, rows[i].data_path, &err);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(status != AMP_OK, rows[i].text[0] != '\0');
        amp_command_line_free(&options);
    }
    amp_external_destroy(external);
}

/* ---- reports of failures ---- */

static char *content_of(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* What LINE fails with is reported once, and not in the place of what the user named. */
static void failures_are_reported_where_nothing_is_lost(void **state)
{
    static const char *const taken[] = {"./r.json --json=r.json",
                                        "m r.json --json=./r.json --output-dir d",
                                        "m --data r.json --json=r.json",
                                        "m --data x --data ./r.json --json=r.json",
                                        "m --ranges r.json --json=./r.json",
                                        "m -o r.json --json=r.json",
                                        "m -o ./r.json --json=r.json",
                                        "m --report r.json --json=r.json",
                                        "m -o - --json",
                                        "m --report - --json",
                                        "m --explain=json --json",
                                        "m --explain=noise --json",
                                        "m --output-dir d",
                                        "m"};
    const struct amp_error failed = {.status = AMP_MODEL, .text = "no model"};
    struct amp_options options;
    struct amp_error err;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(taken); i++) {
        FILE *file = fopen("r.json", "wb");
        fputs("mine", file);
        fclose(file);
        AMP_IGNORE(parse_line(taken[i], &options, &err));
        amp_report_failure(&options, &failed);
        amp_command_line_free(&options);
        assert_string_equal(content_of("r.json"), "mine");
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(parse_line("m n -o out --output-dir d --data x --ranges y --report z "
                                    "--json=r.json",
                                    &options, &err),
                         AMP_USAGE);
        amp_report_failure(&options, &failed);
        amp_command_line_free(&options);
        if (i == 0) {
            json_t *root = json_loads(content_of("r.json"), 0, NULL);
            char *text = amp_json_dump(root, JSON_COMPACT);
            assert_string_equal(
                text, "{\"tool\":{\"name\":\"ampconv\",\"version\":\"" AMP_VERSION
                      "\"},\"report\":\"failure\",\"exit_code\":3,\"error\":{\"status\":\"model\","
                      "\"message\":\"no model\"},\"operands\":[\"m\",\"n\"]}");
            free(text);
            assert_int_equal(remove("r.json"), 0);
        } else {
            assert_null(content_of("r.json"));
        }
    }
}

/* ---- completion ---- */

/* What a shell offers for an option follows from the form of its argument and the tables. */
static void options_have_values_to_complete(void **state)
{
    static const struct {
        const char *option, *words, *behind; /* of long lists the beginnings */
        bool is_pair, is_bare;
        enum amp_option_path path;
    } rows[] = {
        {"dtype", "bf16 fp16 fp32", "", false, false, AMP_PATH_NONE},
        {"opset", "auto keep", "", false, false, AMP_PATH_NONE},
        {"io", "keep lower", "keep lower", true, true, AMP_PATH_NONE},
        {"cast-cache", "on off", "", false, false, AMP_PATH_NONE},
        {"grad-scaler", "on off", "", false, false, AMP_PATH_NONE},
        {"target", "", "", false, false, AMP_PATH_NONE},
        {"output", "", "", false, false, AMP_PATH_FILE},
        {"output-dir", "", "", false, false, AMP_PATH_FOLDER},
        {"explain", "text json noise", "", false, false, AMP_PATH_NONE},
        {"external-data", "", "", false, false, AMP_PATH_FILE},
        {"dump-after", "read infer opset assign insert fold", "", false, false, AMP_PATH_NONE},
        {"rules", "fast gaudi ", "", false, false, AMP_PATH_FILE},
        {"node", "", "follow lower fp32 bf16 fp16 widest infer clear", true, false, AMP_PATH_NONE},
        {"op", "Abs Acos Acosh Add ", "follow lower fp32 bf16 fp16 widest infer clear", true, false,
         AMP_PATH_NONE},
        {"input", "", "", true, false, AMP_PATH_FILE},
        {"data", "", "", false, false, AMP_PATH_FILE},
        {"dim", "", "", true, false, AMP_PATH_NONE},
        {"labels", "", "", true, true, AMP_PATH_FILE},
        {"tolerance", "max_abs mean_abs ", "", true, false, AMP_PATH_NONE},
        {"tune-for", "time bytes nodes", "", false, false, AMP_PATH_NONE},
        {"strategy", "min-cut ", "", false, false, AMP_PATH_NONE},
        {"format", "npy pb", "", false, false, AMP_PATH_NONE},
        {"expect", "", "", false, false, AMP_PATH_FOLDER},
        {"sort", "graph local accumulated", "", false, false, AMP_PATH_NONE},
        {"json", "", "", false, false, AMP_PATH_FILE},
        {"seed", "", "", false, false, AMP_PATH_NONE}};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        const struct amp_option *option =
            amp_option_find(rows[i].option, strlen(rows[i].option), AMP_CMD_CONVERT);
        assert_non_null(option);
        struct amp_option_values values = amp_option_values(option, arena);
        size_t length = strlen(rows[i].words);
        bool is_begun = length > 0 && rows[i].words[length - 1] == ' ';
        if (strncmp(values.words, rows[i].words, length) != 0 ||
            (!is_begun && values.words[length] != '\0'))
            fail_msg("--%s: '%.100s'", rows[i].option, values.words);
        assert_string_equal(values.behind, rows[i].behind);
        assert_int_equal(values.is_pair, rows[i].is_pair);
        assert_int_equal(values.is_bare, rows[i].is_bare);
        assert_int_equal(values.path, rows[i].path);
        if (strcmp(rows[i].option, "op") == 0) {
            assert_null(strstr(values.words, " Add Add "));
            assert_null(strstr(values.words, "FusedMatMul"));
        }
    }
    amp_arena_destroy(arena);
}

/* ---- validations ---- */

/* The coarsest of the dtypes counts: bfloat16 before float16 before float32. */
static void the_coarsest_dtype_counts(void **state)
{
    static const struct {
        enum amp_dtype from, values[2], coarsest;
    } rows[] = {{AMP_FLOAT, {AMP_FLOAT, AMP_INT64}, AMP_FLOAT},
                {AMP_FLOAT, {AMP_FLOAT, AMP_FLOAT16}, AMP_FLOAT16},
                {AMP_FLOAT, {AMP_FLOAT16, AMP_BFLOAT16}, AMP_BFLOAT16},
                {AMP_FLOAT, {AMP_BFLOAT16, AMP_FLOAT16}, AMP_BFLOAT16},
                {AMP_BFLOAT16, {AMP_FLOAT, AMP_FLOAT16}, AMP_BFLOAT16},
                {AMP_FLOAT16, {AMP_FLOAT, AMP_FLOAT}, AMP_FLOAT16},
                {AMP_FLOAT16, {AMP_FLOAT, AMP_BFLOAT16}, AMP_BFLOAT16}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        net_start(22);
        input("x", rows[i].values[0], DIMS(2));
        input("y", rows[i].values[1], DIMS(2));
        assert_int_equal(amp_validation_coarsest(rows[i].from, net.model), rows[i].coarsest);
    }
}

static void random_inputs_are_pointed_at(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        enum amp_status status = i < 2 ? AMP_MISMATCH : AMP_MODEL;
        struct amp_input_notes notes = {.are_random = i % 2 == 0};
        struct amp_error err = {.status = status, .text = "far"};
        assert_int_equal(amp_validation_suggest(&notes, status, &err), status);
        assert_string_equal(err.text,
                            i == 0 ? "far; on random inputs: --data runs real ones" : "far");
    }
}

/* What a command said of a model before is a verdict, unless there is one. */
static void known_verdicts_count(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool is_outside = (i & 1) != 0, was_within = (i & 2) != 0, has_failed = (i & 4) != 0;
        struct amp_eval_check check = {.is_outside = is_outside, .reason = "worse"};
        struct amp_validation result = {.is_within = was_within};
        struct amp_error err = {.status = AMP_OK};
        if (has_failed)
            err = (struct amp_error){.status = AMP_MISMATCH, .text = "far"};
        enum amp_status status = amp_validation_eval_known(&check, &result, &err);
        assert_int_equal(status, has_failed || is_outside ? AMP_MISMATCH : AMP_OK);
        assert_int_equal(err.status, status);
        assert_string_equal(err.text, has_failed ? "far" : is_outside ? "worse" : "");
        assert_int_equal(result.is_within, was_within && !is_outside);
        assert_ptr_equal(result.eval, &check);
    }
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
        cmocka_unit_test(hashes_are_the_same_everywhere),
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
        cmocka_unit_test(lists_grow_by_one),
        NET_TEST(what_a_body_gives_out_comes_before_its_owner),
        NET_TEST(a_node_moves_right_before_the_first_that_needs_it),
        NET_TEST(a_circle_has_no_order),
        NET_TEST(the_first_circle_is_named),
        NET_TEST(long_chains_are_sorted),
        NET_TEST(values_have_one_producer_before_their_use),
        NET_TEST(domains_and_symbols_are_found),
        NET_TEST(initializers_come_and_go),
        NET_TEST(unique_names_count_on),
        NET_TEST(nodes_get_inputs_and_outputs),
        NET_TEST(attributes_are_read_by_type),
        NET_TEST(graphs_are_told_as_text),
        NET_TEST(bodies_lead_on_what_they_take),
        NET_TEST(uses_are_listed_and_counted),
        NET_TEST(names_differ),
        NET_TEST(attributes_come_and_go),
        NET_TEST(inputs_beyond_those_of_a_pattern_are_constants),
        cmocka_unit_test(plain_text_is_that_of_printf),
        cmocka_unit_test(what_is_not_to_be_shown_is_escaped),
        cmocka_unit_test(hidden_characters_have_ends),
        cmocka_unit_test(arguments_are_no_markup),
        cmocka_unit_test(failures_are_clean_lines),
        cmocka_unit_test(json_is_whole_and_shown),
        cmocka_unit_test(options_go_together_or_not),
        cmocka_unit_test(explanations_and_lists_have_a_stream),
        cmocka_unit_test(each_command_takes_as_many_words),
        cmocka_unit_test(numbers_and_sizes_are_whole),
        cmocka_unit_test(words_have_their_places),
        cmocka_unit_test(options_become_words_again),
        cmocka_unit_test(a_model_becomes_what_options_say),
        cmocka_unit_test(what_lowers_nothing_takes_no_rules),
        cmocka_unit_test(models_are_only_ever_raised),
        cmocka_unit_test(inputs_and_outputs_change_by_name),
        cmocka_unit_test(pairs_are_split_at_the_last_sign),
        cmocka_unit_test(gradients_are_scaled_by_numbers),
        cmocka_unit_test(bounds_are_named_in_their_order),
        cmocka_unit_test(tolerances_are_read),
        cmocka_unit_test(expected_outputs_have_two_tolerances),
        NET_TEST(inputs_are_named_and_of_the_model),
        NET_TEST(data_have_what_is_needed),
        NET_TEST(samples_of_data_are_loaded_one_by_one),
        NET_TEST(inputs_are_noted),
        NET_TEST(data_are_cut_into_batches),
        cmocka_unit_test(commands_refuse_what_does_not_go_together),
        cmocka_unit_test(models_go_where_nothing_is_lost),
        cmocka_unit_test(data_files_of_the_input_stay),
        cmocka_unit_test(failures_are_reported_where_nothing_is_lost),
        cmocka_unit_test(options_have_values_to_complete),
        NET_TEST(the_coarsest_dtype_counts),
        cmocka_unit_test(random_inputs_are_pointed_at),
        cmocka_unit_test(known_verdicts_count),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

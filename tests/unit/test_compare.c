/* Comparison with expected tensors: |got - want| <= atol + rtol |want|, NaN and infinities first.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "check/compare.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct amp_tensor matrix(enum amp_dtype dtype, const void *data, int64_t rows,
                                int64_t columns)
{
    union {
        const void *from;
        void *to;
    } pun = {data};
    return (struct amp_tensor){
        .dtype = dtype, .shape = {.rank = 2, .dims = {rows, columns}}, .data = pun.to};
}

static void differs(struct amp_tensor got, struct amp_tensor want, struct amp_tolerance tolerance,
                    const char *text)
{
    struct amp_error err = {.status = AMP_OK};
    enum amp_status status = amp_tensor_compare(&got, &want, tolerance, &err);
    assert_string_equal(err.text, text);
    assert_int_equal(status, text[0] ? AMP_MISMATCH : AMP_OK);
}

static void tolerance_is_that_of_numpy(void **state)
{
    (void)state;
    static const struct {
        float got, want;
        bool is_near;
    } cases[] = {
        {1.25f, 1, true}, /* 0.25 <= 0.125 + 0.125 * 1 */
        {1.26f, 1, false},    {0.125f, 0, true},          {-0.126f, 0, false},
        {-2.375f, -2, true},  {NAN, NAN, true},           {NAN, 1, false},
        {1, NAN, false},      {INFINITY, INFINITY, true}, {-INFINITY, INFINITY, false},
        {1, INFINITY, false}, {INFINITY, 1, false},
    };
    const struct amp_tolerance tolerance = {.rtol = 0.125, .atol = 0.125};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_tensor got = matrix(AMP_FLOAT, &cases[i].got, 1, 1);
        struct amp_tensor want = matrix(AMP_FLOAT, &cases[i].want, 1, 1);
        assert_int_equal(amp_tensor_compare(&got, &want, tolerance, NULL) == AMP_OK,
                         cases[i].is_near);
    }
}

static void the_worst_element_is_named(void **state)
{
    (void)state;
    const float got[] = {1, 2, 3, 4, 5, 6}, want[] = {1, 2.5f, 3, 4, 9, 6};
    differs(matrix(AMP_FLOAT, got, 2, 3), matrix(AMP_FLOAT, want, 2, 3),
            (struct amp_tolerance){0, 0},
            "2 of 6 elements differ; the worst is element [1, 1]: 5, expected 9");
}

static void a_nan_is_the_worst(void **state)
{
    (void)state;
    const float got[] = {100, -NAN}, want[] = {1, 2};
    differs(matrix(AMP_FLOAT, got, 1, 2), matrix(AMP_FLOAT, want, 1, 2),
            (struct amp_tolerance){0, 0},
            "2 of 2 elements differ; the worst is element [0, 1]: nan, expected 2");
}

static void type_and_shape_come_first(void **state)
{
    (void)state;
    const float f[6] = {0};
    differs(matrix(AMP_INT32, f, 2, 3), matrix(AMP_FLOAT, f, 2, 3), (struct amp_tolerance){0, 0},
            "dtype int32, expected float32");
    differs(matrix(AMP_FLOAT, f, 2, 3), matrix(AMP_FLOAT, f, 3, 2), (struct amp_tolerance){0, 0},
            "shape [2, 3], expected [3, 2]");
}

static void integers_are_exact(void **state)
{
    (void)state;
    /* As doubles the first two are equal. */
    const int64_t got[] = {INT64_C(9007199254740993), 1}, want[] = {INT64_C(9007199254740992), 1};
    differs(matrix(AMP_INT64, got, 2, 1), matrix(AMP_INT64, want, 2, 1),
            (struct amp_tolerance){1, 1},
            "1 of 2 elements differ; the worst is element [0, 0]: 9007199254740993, "
            "expected 9007199254740992");
}

static void strings_are_compared_by_bytes(void **state)
{
    (void)state;
    const struct amp_str got[] = {{NULL, 0}, {"a", 1}}, want[] = {{"", 0}, {"a\0", 2}};
    differs(matrix(AMP_STRING, got, 1, 1), matrix(AMP_STRING, want, 1, 1),
            (struct amp_tolerance){0, 0}, "");
    differs(matrix(AMP_STRING, got, 2, 1), matrix(AMP_STRING, want, 2, 1),
            (struct amp_tolerance){0, 0}, "element [1, 0] differs");
}

static void complex_numbers_are_two_reals(void **state)
{
    (void)state;
    const float got[] = {1, 2, 3, 4}, want[] = {1, 2, 3, 5};
    differs(matrix(AMP_COMPLEX64, got, 1, 2), matrix(AMP_COMPLEX64, want, 1, 2),
            (struct amp_tolerance){0, 0},
            "1 of 4 elements differ; the worst is element [0, 1]: 4, expected 5");
}

/* The codes of 1 and of the greatest values; an element takes one byte, or half of one. */
static void small_floats_are_read_as_numbers(void **state)
{
    (void)state;
    static const struct {
        enum amp_dtype dtype;
        uint8_t bytes[2];
        double values[2];
    } cases[] = {
        {AMP_FLOAT8E4M3FN, {0x38, 0x7E}, {1, 448}}, {AMP_FLOAT8E4M3FNUZ, {0x40, 0x7F}, {1, 240}},
        {AMP_FLOAT8E5M2, {0x3C, 0x7B}, {1, 57344}}, {AMP_FLOAT8E5M2FNUZ, {0x40, 0x7F}, {1, 57344}},
        {AMP_FLOAT8E8M0, {0x7F, 0x80}, {1, 2}},     {AMP_FLOAT4E2M1, {0x72, 0}, {1, 6}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_tensor t = matrix(cases[i].dtype, cases[i].bytes, 1, 2);
        for (size_t k = 0; k < 2; k++)
            assert_true(amp_tensor_double(&t, k) == cases[i].values[k]);
    }
}

static void halves_have_a_wider_tolerance(void **state)
{
    (void)state;
    assert_true(amp_tolerance_of(AMP_FLOAT).rtol == 1e-3);
    assert_true(amp_tolerance_of(AMP_FLOAT).atol == 1e-7);
    assert_true(amp_tolerance_of(AMP_BFLOAT16).rtol == 1e-2);
    assert_true(amp_tolerance_of(AMP_FLOAT16).atol == 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerance_is_that_of_numpy),
        cmocka_unit_test(the_worst_element_is_named),
        cmocka_unit_test(a_nan_is_the_worst),
        cmocka_unit_test(type_and_shape_come_first),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(strings_are_compared_by_bytes),
        cmocka_unit_test(complex_numbers_are_two_reals),
        cmocka_unit_test(small_floats_are_read_as_numbers),
        cmocka_unit_test(halves_have_a_wider_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

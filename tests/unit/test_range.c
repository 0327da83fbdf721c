/* What is seen of the elements of a value: counts, magnitudes and energies of known elements. The
   limits of float16 are those of IEEE 754. */
#include "core/number/range.h"
#include "core/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct amp_tensor tensor_of(enum amp_dtype dtype, void *data, int64_t count)
{
    return (struct amp_tensor){.dtype = dtype, .shape = {.rank = 1, .dims = {count}}, .data = data};
}

static void elements_are_counted(void **state)
{
    static float items[] = {3, -4, 0, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-25f, 0x1.8p-25f};
    struct amp_tensor tensor = tensor_of(AMP_FLOAT, items, 9);
    struct amp_range range = {.count = 0};
    (void)state;
    amp_range_add(&range, &tensor);
    assert_int_equal(range.count, 9);
    assert_int_equal(range.nan, 1);
    assert_int_equal(range.infinite, 2);
    assert_int_equal(range.zeros, 2);
    assert_true(range.minimum == -4 && range.maximum == 3 && amp_range_largest(&range) == 4);
    assert_true(range.smallest == 0x1p-25);
    assert_true(range.energy >= 25 && range.energy < 25 + 0x1p-40);
    assert_true(range.flushed == 0x1p-50); /* 2^-25 ties to 0, which is even */
}

static void nothing_finite_gives_no_numbers(void **state)
{
    static double items[] = {NAN, INFINITY};
    struct amp_tensor tensor = tensor_of(AMP_DOUBLE, items, 2);
    struct amp_range range = {.count = 0};
    (void)state;
    amp_range_add(&range, &tensor);
    assert_int_equal(range.count, 2);
    assert_true(amp_range_largest(&range) == 0 && range.smallest == 0 && range.energy == 0);
    static double later[] = {5, 7};
    tensor = tensor_of(AMP_DOUBLE, later, 2);
    amp_range_add(&range, &tensor);
    assert_true(range.minimum == 5 && range.maximum == 7 && range.smallest == 5);
    assert_int_equal(range.count, 4);
}

static void halves_and_lists_count_and_integers_do_not(void **state)
{
    static uint16_t halves[] = {0x3c00, 0xfbff}, bfloats[] = {0x4040}; /* 1, -65504; 3 */
    static int64_t integers[] = {9};
    struct amp_tensor items[] = {tensor_of(AMP_FLOAT16, halves, 2),
                                 tensor_of(AMP_INT64, integers, 1),
                                 tensor_of(AMP_BFLOAT16, bfloats, 1)};
    struct amp_tensor list = tensor_of(AMP_FLOAT, items, 3);
    struct amp_range range = {.count = 0};
    (void)state;
    list.form = AMP_FORM_SEQUENCE;
    amp_range_add(&range, &list);
    assert_int_equal(range.count, 3);
    assert_true(range.minimum == -65504 && range.maximum == 3 && range.smallest == 1);
}

static void many_elements_are_all_seen(void **state)
{
    enum { COUNT = 200001 };
    float *items = calloc(COUNT, sizeof *items);
    struct amp_tensor tensor = tensor_of(AMP_FLOAT, items, COUNT);
    (void)state;
    static const size_t places[] = {0, 1023, 1024, 65535, 65536, 199999, 200000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct amp_range range = {.count = 0};
        items[places[i]] = 2;
        amp_range_add(&range, &tensor);
        assert_int_equal(range.count, COUNT);
        assert_int_equal(range.zeros, COUNT - 1);
        assert_true(range.maximum == 2 && range.energy == 4 && range.smallest == 2);
        items[places[i]] = 0;
    }
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_counted),
        cmocka_unit_test(nothing_finite_gives_no_numbers),
        cmocka_unit_test(halves_and_lists_count_and_integers_do_not),
        cmocka_unit_test(many_elements_are_all_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How errors are spread: counts by size and sign, the elements that are kept, the largest errors.
 */
#include "check/deviations.h"
#include "scratch.h"

#include <math.h>

static struct amp_deviations *add(const float *reference, const float *converted, int64_t count)
{
    struct amp_deviations *deviations = calloc(1, sizeof *deviations);
    struct amp_tensor a = {.dtype = AMP_FLOAT, .shape = {1, {count}}}, b = a;
    a.data = (void *)(uintptr_t)reference;
    b.data = (void *)(uintptr_t)converted;
    assert_non_null(deviations);
    amp_deviations_add(deviations, &a, &b);
    return deviations;
}

static uint64_t bin(const struct amp_deviations *deviations, int sign, int exponent)
{
    return deviations->bins[sign][exponent - AMP_DEVIATION_LEAST];
}

/* Errors 0, +0.5, -1, +0.75 and what is not finite: by hand. */
static void errors_are_counted_by_size_and_sign(void **state)
{
    static const float reference[] = {1, 2, 4, 8, INFINITY, 3, NAN},
                       converted[] = {1, 2.5F, 3, 8.75F, 1, NAN, NAN};
    struct amp_deviations *d = add(reference, converted, 7);
    uint64_t all = 0;

    (void)state;
    assert_int_equal(d->seen, 7);
    assert_int_equal(d->finite, 4);
    assert_int_equal(d->equal, 1);
    assert_int_equal(bin(d, 1, -1), 2); /* 0.5 and 0.75 are in [2^-1, 2^0) */
    assert_int_equal(bin(d, 0, 0), 1);
    for (int i = 0; i < AMP_DEVIATION_BINS; i++)
        all += d->bins[0][i] + d->bins[1][i];
    assert_int_equal(all, 3);
    assert_int_equal(d->n_worst, 3);
    assert_int_equal(d->worst[0].index, 2);
    assert_int_equal(d->worst[1].index, 3);
    assert_int_equal(d->worst[2].index, 1);
    assert_int_equal(d->n_points, 4);
    free(d);
}

/* Of many elements, those in equal distances are kept, and the largest errors wherever they are. */
static void points_are_spread_over_all_elements(void **state)
{
    enum { COUNT = 50000 };
    float *reference = calloc(COUNT, sizeof *reference), *converted = calloc(COUNT, sizeof(float));
    assert_non_null(reference);
    assert_non_null(converted);

    (void)state;
    for (int i = 0; i < COUNT; i++)
        reference[i] = converted[i] = (float)i;
    for (int i = 0; i < 20; i++)
        converted[1001 * i + 7] += (float)(i + 1);
    struct amp_deviations *d = add(reference, converted, COUNT);
    assert_in_range(d->n_points, AMP_DEVIATION_POINTS / 2, AMP_DEVIATION_POINTS);
    for (size_t i = 0; i < d->n_points; i++)
        assert_int_equal(d->points[i].index, i * d->stride);
    assert_true((d->n_points + 1) * d->stride >= COUNT);
    assert_int_equal(d->n_worst, AMP_DEVIATION_WORST);
    for (uint64_t i = 0; i < AMP_DEVIATION_WORST; i++)
        assert_int_equal(d->worst[i].index, 1001 * (19 - i) + 7);
    free(d);
    free(reference);
    free(converted);
}

/* The least and the largest errors there are stay within the bins. */
static void extremes_have_a_bin(void **state)
{
    static const double reference[] = {0, 0, -1.7e308}, converted[] = {5e-324, -5e-324, 1.7e308};
    struct amp_deviations *d = calloc(1, sizeof *d);
    struct amp_tensor a = {.dtype = AMP_DOUBLE, .shape = {1, {3}}}, b = a;
    a.data = (void *)(uintptr_t)reference;
    b.data = (void *)(uintptr_t)converted;

    (void)state;
    assert_non_null(d);
    amp_deviations_add(d, &a, &b);
    assert_int_equal(d->bins[1][0], 1);
    assert_int_equal(d->bins[0][0], 1);
    assert_int_equal(d->bins[1][AMP_DEVIATION_BINS - 1], 1);
    free(d);
}

/* Integers and tensors of different shapes have no deviations. */
static void what_is_no_float_is_left_out(void **state)
{
    static const int32_t numbers[] = {1, 2};
    static const float floats[] = {1, 2};
    struct amp_deviations *d = calloc(1, sizeof *d);
    struct amp_tensor a = {.dtype = AMP_INT32, .shape = {1, {2}}}, b = {.dtype = AMP_FLOAT};
    a.data = (void *)(uintptr_t)numbers;
    b.data = (void *)(uintptr_t)floats;

    (void)state;
    assert_non_null(d);
    amp_deviations_add(d, &a, &a);
    a.dtype = AMP_FLOAT;
    b.shape = (struct amp_shape){1, {1}};
    amp_deviations_add(d, &a, &b);
    assert_int_equal(d->seen, 0);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_counted_by_size_and_sign),
        cmocka_unit_test(points_are_spread_over_all_elements),
        cmocka_unit_test(extremes_have_a_bin),
        cmocka_unit_test(what_is_no_float_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

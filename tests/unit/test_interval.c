/* Interval arithmetic: results that are worked out by hand, and that random numbers within operands
   give results within (IEEE 1788-2015, 10.5). */
#include "core/number/interval.h"
#include "core/number/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void is(struct amp_interval found, double low, double high)
{
    assert_true(found.low == low && found.high == high);
}

static void ends_are_right(void **state)
{
    const struct amp_interval a = {-2, 3}, b = {4, 5}, zero = {0, 0};
    (void)state;
    is(amp_interval_add(a, b), 2, 8);
    is(amp_interval_sub(a, b), -7, -1);
    is(amp_interval_mul(a, b), -10, 15);
    is(amp_interval_mul(a, a), -6, 9);
    is(amp_interval_div(a, b), -0.5, 0.75);
    is(amp_interval_div(b, a), -INFINITY, INFINITY);
    is(amp_interval_square(a), 0, 9);
    is(amp_interval_abs(a), 0, 3);
    is(amp_interval_union(a, b), -2, 5);
    is(amp_interval_min(a, b), -2, 3);
    is(amp_interval_max(a, b), 4, 5);
    is(amp_interval_map(b, sqrt), 2, sqrt(5));
    is(amp_interval_widen(a, 0.5), -3, 4.5);
    is(amp_interval_widen(zero, 0.5), 0, 0);
    assert_true(amp_interval_least(a) == 0 && amp_interval_least(b) == 4);
    assert_true(amp_interval_largest(a) == 3);
}

/* An infinite end is a bound that there is not; what is 0 stays 0. */
static void infinite_ends_say_nothing(void **state)
{
    const struct amp_interval all = amp_interval_all(), zero = {0, 0}, above = {0, INFINITY};
    (void)state;
    is(amp_interval_sub(above, above), -INFINITY, INFINITY);
    is(amp_interval_mul(zero, all), 0, 0);
    is(amp_interval_mul(above, (struct amp_interval){1, 2}), 0, INFINITY);
    is(amp_interval_div((struct amp_interval){1, 1}, (struct amp_interval){2, INFINITY}), 0, 0.5);
    assert_false(amp_interval_is_bounded(all));
    assert_true(amp_interval_is_bounded(above));
}

static double between(struct amp_random *random, struct amp_interval a)
{
    double share = (double)(amp_random_next(random) >> 11) * 0x1p-53;
    return fmin(fmax(a.low + (a.high - a.low) * share, a.low), a.high);
}

static struct amp_interval any(struct amp_random *random)
{
    double x = (double)amp_random_normal(random), y = (double)amp_random_normal(random);
    return (struct amp_interval){fmin(x, y), fmax(x, y)};
}

static void holds(struct amp_interval a, double x)
{
    assert_true(isnan(x) || (a.low <= x && x <= a.high));
}

static void results_are_within(void **state)
{
    struct amp_random random = amp_random_start(5, 0);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct amp_interval a = any(&random), b = any(&random);
        double x = between(&random, a), y = between(&random, b);
        holds(amp_interval_add(a, b), x + y);
        holds(amp_interval_sub(a, b), x - y);
        holds(amp_interval_mul(a, b), x * y);
        holds(amp_interval_widen(amp_interval_div(a, b), 0x1p-50), x / y);
        holds(amp_interval_square(a), x * x);
        holds(amp_interval_abs(a), fabs(x));
        holds(amp_interval_min(a, b), fmin(x, y));
        holds(amp_interval_max(a, b), fmax(x, y));
        holds(amp_interval_union(a, b), y);
        holds(amp_interval_map(a, tanh), tanh(x));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_are_right),
                                       cmocka_unit_test(infinite_ends_say_nothing),
                                       cmocka_unit_test(results_are_within)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Softmax of bfloat16 rows by AVX-512 against the definition in float64. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "ops/own/softmax_512.h"

enum { LONGEST = 4096, ROWS = 3 };

static bool has_kernel(void)
{
    return amp_softmax_512.fits(1);
}

static double value_of(uint16_t half)
{
    return (double)amp_bf16_to_f32(half);
}

/* Within a unit in the last place of bfloat16, or where the result is no normal number. */
static void assert_row(const uint16_t *x, const uint16_t *y, int64_t n)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, value_of(x[i]));
    for (int64_t i = 0; i < n; i++)
        sum += exp(value_of(x[i]) - largest);
    for (int64_t i = 0; i < n; i++) {
        double want = exp(value_of(x[i]) - largest) / sum, have = value_of(y[i]);
        if (isnan(want) ? !isnan(have) : !(fabs(have - want) <= want / 128 + 0x1p-125))
            fail_msg("element %d of %d is %g, expected %g", (int)i, (int)n, have, want);
    }
}

static uint16_t half_of(float value)
{
    return amp_f32_to_bf16(value);
}

static void run(uint16_t *x, int64_t n)
{
    uint16_t *y = calloc((size_t)n * ROWS + 1, sizeof *y);
    assert_non_null(y);
    y[n * ROWS] = 0x1234;
    assert_true(amp_softmax_512.fits(n));
    amp_softmax_512.run(x, y, ROWS, n);
    for (int64_t r = 0; r < ROWS; r++)
        assert_row(x + r * n, y + r * n, n);
    assert_int_equal(y[n * ROWS], 0x1234);
    amp_softmax_512.run(x, x, ROWS, n);
    assert_memory_equal(x, y, (size_t)n * ROWS * sizeof *x);
    free(y);
}

static void rows_of_every_length(void **state)
{
    static const int64_t lengths[] = {100, 197, 512, 1000, LONGEST};
    (void)state;
    if (!has_kernel())
        skip();
    uint32_t random = 1;
    for (int64_t n = 1; n < 70 + 5; n++) {
        int64_t length = n < 70 ? n : lengths[n - 70];
        uint16_t *x = calloc((size_t)length * ROWS, sizeof *x);
        assert_non_null(x);
        for (int64_t i = 0; i < length * ROWS; i++) {
            random = random * 1664525u + 1013904223u;
            x[i] = half_of(((float)(random >> 8) / 0x1p24f - 0.5f) * (n % 3 == 0 ? 300 : 10));
        }
        run(x, length);
        free(x);
    }
}

static void what_is_no_number(void **state)
{
    static const float values[][ROWS] = {
        {-INFINITY, 0, 1},  {-INFINITY, -INFINITY, -INFINITY}, {INFINITY, 0, 1}, {NAN, 0, 1},
        {3e38f, -3e38f, 0}, {-INFINITY, INFINITY, NAN},        {-80, 0, -90},    {1e-40f, 0, -0.0f},
    };
    (void)state;
    if (!has_kernel())
        skip();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int64_t n = ROWS; n < 40; n += 17) {
            uint16_t x[40 * ROWS];
            for (int64_t k = 0; k < n * ROWS; k++)
                x[k] = half_of(values[i][k % ROWS]);
            run(x, n);
        }
}

static void longer_rows_are_refused(void **state)
{
    (void)state;
    assert_false(amp_softmax_512.fits(LONGEST + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(longer_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

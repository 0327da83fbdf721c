/* Softmax of bfloat16 rows by AVX-512, and which it is for, against the definition in float64. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/tensor.h"
#include "ops/dnnl/engine.h"
#include "ops/dnnl/post_op.h"
#include "ops/own/kernels.h"
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

/* Runs Softmax on three rows of 5, whose results may be doubled by a post-op; whether a kernel of
   our own did it. */
static bool is_run_by_own(struct amp_dnnl *dnnl, enum amp_dtype to, int64_t axis, bool is_doubled)
{
    enum { COUNT = 5 };
    uint16_t data[ROWS * COUNT];
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor x = {.dtype = AMP_BFLOAT16, .shape = {2, {ROWS, COUNT}}, .data = data};
    struct amp_tensor y = {.dtype = to, .shape = x.shape}, *out = &y;
    const struct amp_tensor *in = &x;
    struct amp_attr attr = {.name = "axis", .type = AMP_ATTR_INT, .count = 1, .ints = &axis};
    struct amp_node node = {.op_type = "Softmax", .domain = "", .since_version = 13};
    struct amp_host host = {.dnnl = dnnl};
    const struct amp_post twice = {
        .kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_linear, .alpha = 2};
    void *kept = NULL;
    node.attrs = &attr, node.n_attrs = 1;
    for (int i = 0; i < ROWS * COUNT; i++)
        data[i] = half_of((float)(i % COUNT) / 2 + (float)(i / COUNT) * (float)(i % 2));
    assert_int_equal(amp_tensor_alloc(&y, &err), AMP_OK);
    struct amp_ctx ctx = {.node = &node,
                          .in = &in,
                          .n_in = 1,
                          .out = &out,
                          .n_out = 1,
                          .is_constant = (const bool[]){false},
                          .state = &kept,
                          .host = &host,
                          .err = &err,
                          .posts = &twice,
                          .n_posts = is_doubled};
    const struct amp_op *op = amp_op_find("", "Softmax");
    if (op->run(&ctx) != AMP_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < ROWS * COUNT; i++) {
        double sum = 0, of = exp(value_of(data[i])), slack = to == AMP_FLOAT ? 1e-5 : 0x1p-7;
        for (int k = 0; k < (axis == 0 ? ROWS : COUNT); k++)
            sum += exp(value_of(data[axis == 0 ? k * COUNT + i % COUNT : i / COUNT * COUNT + k]));
        double want = of / sum * (is_doubled ? 2 : 1), have = amp_tensor_double(&y, (size_t)i);
        if (fabs(have - want) > want * slack)
            fail_msg("element %d is %g, expected %g", i, have, want);
    }
    bool is_own = kept == NULL;
    op->destroy(kept);
    amp_tensor_release(&y);
    return is_own;
}

/* Rows beside each other whose results are bfloat16 too, and nothing else. */
static void what_is_more_than_rows_is_run_by_onednn(void **state)
{
    struct amp_dnnl *dnnl;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    if (!has_kernel())
        skip();
    assert_int_equal(amp_dnnl_create(amp_own_kernels, &dnnl, &err), AMP_OK);
    assert_true(is_run_by_own(dnnl, AMP_BFLOAT16, 1, false));
    assert_true(is_run_by_own(dnnl, AMP_BFLOAT16, -1, false));
    assert_false(is_run_by_own(dnnl, AMP_BFLOAT16, 0, false));
    assert_false(is_run_by_own(dnnl, AMP_FLOAT, 1, false));
    assert_false(is_run_by_own(dnnl, AMP_BFLOAT16, 1, true));
    amp_dnnl_destroy(dnnl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(longer_rows_are_refused),
        cmocka_unit_test(what_is_more_than_rows_is_run_by_onednn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is known of values: bounds that are proved, intervals, and ranges of what was seen. */
#include "autocast/ranges/bounds.h"
#include "check/calibrate.h"
#include "check/random_input.h"
#include "core/number/interval.h"
#include "core/number/random.h"
#include "core/number/range.h"
#include "core/tensor.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- bounds ---------------------------------------------------------------------------------- */

/*
 * Proved bounds are never exceeded: every test network that runs on random inputs is run, as it is
 * and with random weights, and what is seen of each value is held against what is proved of it.
 */

enum { SAMPLES = 2, DIM = 3 /* of symbols */ };

struct network {
    struct amp_model_file file;
    int64_t *sizes;
    double scale; /* of inputs */
    struct amp_error err;
};

/* What was held against bounds. */
static struct {
    size_t networks, values, tight;
} tally;

/* ---- a network and its inputs ---------------------------------------------------------------- */

static enum amp_status make_inputs(void *context, size_t sample, struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    struct network *n = context;
    const struct amp_ids *ids = &n->file.model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_random_input plan;
        const struct amp_value *value = amp_value_at(n->file.model, ids->items[i]);
        if (value->constant != NULL || value->is_initializer)
            continue;
        AMP_TRY(amp_random_input_plan(n->file.model, ids->items[i], n->sizes, &plan, err));
        AMP_TRY(amp_random_input_make(&plan, 7, sample, &inputs[i], err));
        float *items = inputs[i].data;
        for (size_t k = 0; inputs[i].dtype == AMP_FLOAT && k < amp_tensor_count(&inputs[i]); k++)
            items[k] *= (float)n->scale;
    }
    return AMP_OK;
}

/* Puts random numbers in the place of all constants of float32. */
static void scramble(struct amp_model *model)
{
    struct amp_random random = amp_random_start(1, 2);
    for (uint32_t v = 0; v < model->n_values; v++) {
        struct amp_value *value = amp_value_at(model, v);
        struct amp_tensor *tensor = value->constant;
        if (tensor == NULL || amp_tensor_is_list(tensor) || tensor->dtype != AMP_FLOAT)
            continue;
        size_t count = amp_tensor_count(tensor);
        float *items = amp_arena_array(model->arena, count, sizeof *items);
        for (size_t k = 0; k < count; k++)
            items[k] = amp_random_normal(&random) * 3;
        struct amp_tensor *made = amp_arena_alloc(model->arena, sizeof *made);
        *made = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = tensor->shape, .data = items};
        value->constant = value->initial = made;
        value->constant_max = -1;
    }
}

/* ---- seen and proved ------------------------------------------------------------------------- */

static void compare(const char *path, const struct amp_value_range *range)
{
    const struct amp_range *seen = &range->seen;
    if (range->rule == NULL || seen->count == 0 || seen->count == seen->nan)
        return;
    tally.values++;
    bool is_finite = seen->count > seen->nan + seen->infinite;
    bool is_wide = isinf(range->proved.low) || isinf(range->proved.high);
    tally.tight += !is_wide;
    if ((is_finite && (seen->minimum < range->proved.low || seen->maximum > range->proved.high)) ||
        (seen->infinite > 0 && !is_wide))
        fail_msg("%s: '%s' is from %.9g to %.9g, %llu infinite; by %s from %.9g to %.9g", path,
                 range->name, seen->minimum, seen->maximum, (unsigned long long)seen->infinite,
                 range->rule, range->proved.low, range->proved.high);
}

static void hold(const char *path, struct network *n)
{
    struct amp_source source = {SAMPLES, make_inputs, n};
    struct amp_ranges *ranges = amp_ranges_create(n->file.arena);
    if (amp_calibrate(n->file.model, &source, ranges, &n->err) != AMP_OK)
        return;
    amp_bounds_note(n->file.model, ranges);
    tally.networks++;
    for (size_t i = 0; i < ranges->count && ranges->items[i].seen.nan == 0; i++)
        compare(path, &ranges->items[i]);
}

/* Holds the network at PATH, its inputs times SCALE, against its bounds; where it runs. */
static void hold_file(const char *path, double scale, bool is_scrambled)
{
    struct network n = {.scale = scale, .err = {.status = AMP_OK}};
    if (amp_model_read(path, &n.file, &n.err) != AMP_OK)
        return;
    if (amp_infer(n.file.model, &n.err) == AMP_OK) {
        n.sizes = amp_arena_array(n.file.arena, n.file.model->n_symbols, sizeof *n.sizes);
        for (size_t s = 0; s < n.file.model->n_symbols; s++)
            n.sizes[s] = DIM;
        if (is_scrambled)
            scramble(n.file.model);
        hold(path, &n);
    }
    amp_model_close(&n.file);
}

static void hold_all(const char *folder, const char *pattern)
{
    char path[1024];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", folder, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        hold_file(found.gl_pathv[i], 1, false);
        hold_file(found.gl_pathv[i], 30, false);
        hold_file(found.gl_pathv[i], 1, true);
    }
    globfree(&found);
}

static void no_bound_is_exceeded(void **state)
{
    (void)state;
    const char *cases = getenv("CASES"), *data = getenv("TESTDATA");
    assert_non_null(cases);
    hold_all("models", "*.onnx");
    /* Those of robust/ are made to be more than a machine takes. */
    hold_all(cases, "[!r]*/*/model.onnx");
    hold_all(cases, "r[!o]*/*/model.onnx");
    hold_all(cases, "ops/*/*/model.onnx");
    if (data != NULL)
        hold_all(data, "node/*/model.onnx");
    print_message("%zu runs of networks, %zu values with bounds, %zu of them on both sides\n",
                  tally.networks, tally.values, tally.tight);
    assert_true(tally.networks > 5000 && tally.tight > 1000);
}

/* ---- interval -------------------------------------------------------------------------------- */

/* Interval arithmetic: results that are worked out by hand, and that random numbers within operands
   give results within (IEEE 1788-2015, 10.5). */

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

/* ---- range ----------------------------------------------------------------------------------- */

/* What is seen of the elements of a value: counts, magnitudes and energies of known elements. The
   limits of float16 are those of IEEE 754. */

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
        cmocka_unit_test(no_bound_is_exceeded),
        cmocka_unit_test(ends_are_right),
        cmocka_unit_test(infinite_ends_say_nothing),
        cmocka_unit_test(results_are_within),
        cmocka_unit_test(elements_are_counted),
        cmocka_unit_test(nothing_finite_gives_no_numbers),
        cmocka_unit_test(halves_and_lists_count_and_integers_do_not),
        cmocka_unit_test(many_elements_are_all_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

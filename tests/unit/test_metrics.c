/* Metrics of two tensors, and how the errors between them are spread. */
#include "check/class_scores.h"
#include "check/deviations.h"
#include "check/elements.h"
#include "check/metric_bounds.h"
#include "check/metrics.h"
#include "core/graph/graph.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- metrics --------------------------------------------------------------------------------- */

/* Metrics, tolerances and summaries, with values computed by hand. */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct amp_tensor tensor_of(enum amp_dtype dtype, const void *data, int64_t count)
{
    union {
        const void *from;
        void *to;
    } pun = {data};
    return (struct amp_tensor){
        .dtype = dtype, .shape = {.rank = 1, .dims = {count}}, .data = pun.to};
}

static struct amp_tensor shaped(struct amp_tensor tensor, int rank, const int64_t *dims)
{
    tensor.shape.rank = rank;
    memcpy(tensor.shape.dims, dims, (size_t)rank * sizeof *dims);
    return tensor;
}

static void add(struct amp_metrics *metrics, struct amp_tensor reference,
                struct amp_tensor converted)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_metrics_add(metrics, &reference, &converted, &err), AMP_OK);
}

static void add_floats(struct amp_metrics *metrics, const float *reference, const float *converted,
                       int64_t count)
{
    add(metrics, tensor_of(AMP_FLOAT, reference, count), tensor_of(AMP_FLOAT, converted, count));
}

static const struct amp_metric *metric_of(const char *name)
{
    for (size_t i = 0; amp_metric_at(i) != NULL; i++)
        if (strcmp(amp_metric_at(i)->name, name) == 0)
            return amp_metric_at(i);
    fail_msg("no metric %s", name);
    return NULL;
}

static double value_of(const struct amp_metrics *metrics, const char *name)
{
    double value = NAN;
    assert_true(amp_metric_value(metric_of(name), metrics, &value));
    return value;
}

static bool is_defined(const struct amp_metrics *metrics, const char *name)
{
    double value;
    return amp_metric_value(metric_of(name), metrics, &value);
}

static void is_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void distances_of_two_vectors(void **state)
{
    (void)state;
    struct amp_metrics m = {.count = 0};
    add_floats(&m, (float[]){3, 4}, (float[]){3, 3}, 2);
    is_near(value_of(&m, "max_abs"), 1);
    is_near(value_of(&m, "mean_abs"), 0.5);
    is_near(value_of(&m, "max_rel"), 0.25);
    is_near(value_of(&m, "rmse"), 0.70710678118654752);
    is_near(value_of(&m, "cosine"), 0.98994949366116653);
    is_near(value_of(&m, "snr"), 13.979400086720376);
    assert_false(is_defined(&m, "top1"));
    assert_false(is_defined(&m, "differ"));
    assert_int_equal(m.different, 1);
}

static void samples_add_up(void **state)
{
    (void)state;
    struct amp_metrics whole = {.count = 0}, parts = {.count = 0};
    const float r[] = {1, -2, 0.5f, 8}, c[] = {1.5f, -2, 0.25f, 7};
    add_floats(&whole, r, c, 4);
    add_floats(&parts, r, c, 1);
    add_floats(&parts, r + 1, c + 1, 3);
    assert_memory_equal(&whole, &parts, sizeof whole);
    is_near(value_of(&parts, "mean_abs"), 1.75 / 4);
}

/* Of more elements than are read or added up at a time each counts once, wherever it is; the worst
   is the first of equals, among all samples. All are 1, but for one place and the last. */
static void long_vectors_are_measured_whole(void **state)
{
    enum { MOST = 5 * 16384 + 700 };
    static float r[MOST], c[MOST];
    static const size_t counts[] = {511, 512, 513, 16383, 16384, 16385, 3 * 16384 + 1, MOST};
    (void)state;
    for (size_t k = 0; k < COUNT(counts); k++) {
        size_t n = counts[k];
        const size_t places[] = {0, 1, 510, n / 2, n - 2, n - 1};
        for (size_t i = 0; i < n; i++)
            r[i] = c[i] = 1;
        for (size_t p = 0; p < COUNT(places); p++) {
            struct amp_metrics m = {.count = 0};
            c[places[p]] = 3;
            c[n - 1] += 2;
            add_floats(&m, r, c, (int64_t)n);
            add_floats(&m, r, c, (int64_t)n);
            double most = places[p] == n - 1 ? 4 : 2;
            assert_int_equal(m.count, 2 * n);
            assert_int_equal(m.finite, 2 * n);
            assert_int_equal(m.different, places[p] == n - 1 ? 2 : 4);
            assert_true(value_of(&m, "max_abs") == most && value_of(&m, "max_rel") == most);
            is_near(value_of(&m, "mean_abs"), 4 / (double)n);
            is_near(value_of(&m, "rmse"), sqrt((places[p] == n - 1 ? 16 : 8) / (double)n));
            assert_true(m.worst.error == most);
            assert_int_equal(m.worst.index, places[p]);
            c[places[p]] = INFINITY;
            add_floats(&m, r, c, (int64_t)n);
            assert_int_equal(m.worst.index, 2 * n + places[p]);
            assert_int_equal(m.stray, 1);
            assert_int_equal(m.inf[1], 1);
            assert_int_equal(m.finite, 3 * n - 1);
            assert_true(isinf(m.worst.values[1]) && m.worst.values[0] == 1);
            c[places[p]] = c[n - 1] = 1;
        }
    }
}

static void nothing_divides_by_zero(void **state)
{
    (void)state;
    struct amp_metrics zeros = {.count = 0}, constant = {.count = 0}, off = {.count = 0};
    add_floats(&zeros, (float[]){0, 0}, (float[]){0, -0.0f}, 2);
    is_near(value_of(&zeros, "cosine"), 1);
    assert_true(value_of(&zeros, "snr") == INFINITY);
    is_near(value_of(&zeros, "max_rel"), 0);
    add_floats(&constant, (float[]){7, 7, 7}, (float[]){7, 7, 7}, 3);
    is_near(value_of(&constant, "cosine"), 1);
    assert_true(value_of(&constant, "snr") == INFINITY);
    add_floats(&off, (float[]){0, 0}, (float[]){1, 0}, 2);
    is_near(value_of(&off, "cosine"), 0);
    assert_true(value_of(&off, "snr") == -INFINITY);
    is_near(value_of(&off, "max_rel"), 0);
}

static void empty_outputs_have_no_metrics(void **state)
{
    (void)state;
    struct amp_metrics m = {.count = 0};
    struct amp_error err = {.status = AMP_OK};
    struct amp_metric_bounds bf16 = amp_metric_bounds_default(AMP_BFLOAT16);
    for (int k = 0; k < 2; k++) {
        m = (struct amp_metrics){.count = 0};
        if (k == 0)
            add_floats(&m, NULL, NULL, 0);
        else
            add(&m, tensor_of(AMP_INT64, NULL, 0), tensor_of(AMP_INT64, NULL, 0));
        for (size_t i = 0; amp_metric_at(i) != NULL; i++)
            assert_false(is_defined(&m, amp_metric_name_at(i)));
    }
    assert_int_equal(amp_metric_bounds_check(&bf16, &m, &err), AMP_OK);
}

static void not_finite_is_counted_on_each_side(void **state)
{
    (void)state;
    struct amp_metrics m = {.count = 0};
    const float r[] = {NAN, NAN, 1, INFINITY, INFINITY, INFINITY, 2};
    const float c[] = {NAN, 1, NAN, INFINITY, -INFINITY, 3, 2};
    add_floats(&m, r, c, COUNT(r));
    assert_int_equal(m.count, 7);
    assert_int_equal(m.finite, 1);
    assert_int_equal(m.nan[0], 2);
    assert_int_equal(m.nan[1], 2);
    assert_int_equal(m.inf[0], 3);
    assert_int_equal(m.inf[1], 2);
    assert_int_equal(m.stray, 4);
    assert_int_equal(m.different, 4);
    is_near(value_of(&m, "max_abs"), 0);
}

/* Elements that are compared one by one, of all calls: what is not finite in one alone is farther
   from the other than any number, and what is the same in both is no error. */
static void the_worst_element_is_the_first_of_the_farthest(void **state)
{
    static const struct {
        float reference[2], converted[2];
        int worst; /* -1: none */
        double error;
    } cases[] = {
        {{1, 2}, {1, 2}, -1, 0},
        {{1, 2}, {2, 1}, 0, 1},
        {{1, 2}, {1.5f, 3}, 1, 1},
        {{NAN, 2}, {NAN, 3}, 1, 1},
        {{INFINITY, 2}, {INFINITY, 1}, 1, 1},
        {{9, NAN}, {1, 2}, 1, INFINITY},
        {{9, 2}, {1, NAN}, 1, INFINITY},
        {{9, INFINITY}, {1, 2}, 1, INFINITY},
        {{9, 2}, {1, -INFINITY}, 1, INFINITY},
        {{9, -INFINITY}, {1, INFINITY}, 1, INFINITY},
        {{9, NAN}, {1, INFINITY}, 1, INFINITY},
        {{NAN, INFINITY}, {1, 2}, 0, INFINITY},
    };
    static const int64_t numbers[] = {5, 5, 5}, others[] = {5, 3, 7}, third[] = {5, 5, 1};
    struct amp_metrics whole = {.count = 0};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_metrics m = {.count = 0};
        add_floats(&m, (float[]){4, 4, 4}, (float[]){4, 4, 4}, 3);
        add_floats(&m, cases[i].reference, cases[i].converted, 2);
        assert_true(m.worst.error == cases[i].error);
        assert_int_equal(m.worst.index, cases[i].worst < 0 ? 0 : 3 + cases[i].worst);
        if (cases[i].worst < 0)
            continue;
        for (int side = 0; side < 2; side++) {
            double wanted = (side == 0 ? cases[i].reference : cases[i].converted)[cases[i].worst];
            assert_true(m.worst.values[side] == wanted ||
                        (isnan(m.worst.values[side]) && isnan(wanted)));
        }
    }
    add(&whole, tensor_of(AMP_INT64, numbers, 3), tensor_of(AMP_INT64, numbers, 3));
    assert_true(whole.worst.error == 0);
    add(&whole, tensor_of(AMP_INT64, numbers, 3), tensor_of(AMP_INT64, others, 3));
    assert_int_equal(whole.worst.index, 4);
    add(&whole, tensor_of(AMP_INT64, numbers, 3), tensor_of(AMP_INT64, third, 3));
    assert_true(whole.worst.error == 4 && whole.worst.values[0] == 5 && whole.worst.values[1] == 1);
    assert_int_equal(whole.worst.index, 8);
    assert_int_equal(whole.different, 3);
}

static void a_nan_on_one_side_is_outside(void **state)
{
    (void)state;
    struct amp_metric_bounds none = amp_metric_bounds_default(AMP_UNDEFINED);
    struct amp_metrics one = {.count = 0}, both = {.count = 0}, all = {.count = 0};
    struct amp_error err = {.status = AMP_OK};
    add_floats(&one, (float[]){1, 2}, (float[]){1, NAN}, 2);
    assert_int_equal(amp_metric_bounds_check(&none, &one, &err), AMP_MISMATCH);
    assert_string_equal(err.text,
                        "1 of 2 elements are NaN or infinite in one model and not in the other");
    err = (struct amp_error){.status = AMP_OK};
    add_floats(&both, (float[]){1, NAN}, (float[]){1, NAN}, 2);
    assert_int_equal(amp_metric_bounds_check(&none, &both, &err), AMP_OK);
    add_floats(&all, (float[]){NAN}, (float[]){NAN}, 1);
    assert_int_equal(amp_metric_bounds_check(&none, &all, &err), AMP_MISMATCH);
}

static void class_scores_are_told_by_shape(void **state)
{
    (void)state;
    static const struct {
        int rank;
        int64_t dims[4];
        enum amp_dtype dtype;
        size_t rows, n_classes; /* 0: no scores */
    } cases[] = {
        {2, {4, 10}, AMP_FLOAT, 4, 10},
        {3, {2, 5, 7}, AMP_BFLOAT16, 10, 7},
        {4, {1, 1000, 1, 1}, AMP_FLOAT, 1, 1000},
        {2, {0, 10}, AMP_FLOAT, 0, 10},
        {1, {10}, AMP_FLOAT, 0, 0},
        {2, {4, 1}, AMP_FLOAT, 0, 0},
        {2, {4, 10}, AMP_INT64, 0, 0},
        {4, {1, 3, 8, 8}, AMP_FLOAT, 0, 0},
        {2, {1, 100001}, AMP_FLOAT, 0, 0},
        {3, {4, 1, 1}, AMP_FLOAT, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_class_scores v = {0, 0};
        struct amp_tensor t =
            shaped(tensor_of(cases[i].dtype, NULL, 0), cases[i].rank, cases[i].dims);
        assert_int_equal(amp_class_scores_view(&t, &v), cases[i].n_classes > 0);
        assert_int_equal(v.rows, cases[i].rows);
        assert_int_equal(v.n_classes, cases[i].n_classes);
    }
}

static void top1_counts_rows_and_ties(void **state)
{
    (void)state;
    const float r[] = {1, 5, 2, /* the same class */ 3,  3, 1, /* a tie: either will do */
                       9, 0, 0, /* another class */ NAN, 2, 1};
    const float c[] = {0, 4, 2, 2, 3, 1, 0, 1, 0, NAN, 2, 1};
    const int64_t dims[] = {4, 3};
    struct amp_metrics m = {.are_scores = true}, features = {.are_scores = false};
    add(&m, shaped(tensor_of(AMP_FLOAT, r, 0), 2, dims),
        shaped(tensor_of(AMP_FLOAT, c, 0), 2, dims));
    assert_int_equal(m.rows, 4);
    is_near(value_of(&m, "top1"), 0.75);
    add(&features, shaped(tensor_of(AMP_FLOAT, r, 0), 2, dims),
        shaped(tensor_of(AMP_FLOAT, c, 0), 2, dims));
    assert_false(is_defined(&features, "top1"));
}

static void integers_strings_and_bools_are_equal_or_not(void **state)
{
    (void)state;
    struct amp_metrics ints = {.count = 0}, bools = {.count = 0}, strings = {.count = 0};
    const int64_t a[] = {1, 2, 3, INT64_MIN}, b[] = {1, 2, 4, INT64_MIN};
    const uint8_t yes[] = {1, 1}, no[] = {1, 0};
    const struct amp_str one[] = {{NULL, 0}, {"ab", 2}}, two[] = {{"", 0}, {"ac", 2}};
    add(&ints, tensor_of(AMP_INT64, a, 4), tensor_of(AMP_INT64, b, 4));
    is_near(value_of(&ints, "differ"), 0.25);
    assert_false(is_defined(&ints, "snr"));
    add(&bools, tensor_of(AMP_BOOL, yes, 2), tensor_of(AMP_BOOL, no, 2));
    is_near(value_of(&bools, "differ"), 0.5);
    add(&strings, tensor_of(AMP_STRING, one, 2), tensor_of(AMP_STRING, two, 2));
    is_near(value_of(&strings, "differ"), 0.5);
    struct amp_metrics floats = {.count = 0};
    add_floats(&floats, (float[]){1, 2}, (float[]){1, 3}, 2);
    assert_false(is_defined(&floats, "differ")); /* unless they are behind selections */
    floats.selected = 8, floats.otherwise = 3;
    is_near(value_of(&floats, "differ"), 0.375);
    ints.selected = 8, ints.otherwise = 3;
    is_near(value_of(&ints, "differ"), 0.375);
    ints.otherwise = 1;
    is_near(value_of(&ints, "differ"), 0.25);
}

static void float_types_may_differ_others_not(void **state)
{
    (void)state;
    struct amp_metrics m = {.count = 0};
    struct amp_error err = {.status = AMP_OK};
    const float r[] = {1, 2};
    const uint16_t bf16[] = {0x3F80, 0x4000}; /* 1, 2 */
    const uint8_t e4m3[] = {0x38, 0x40};      /* 1, 2 */
    const int32_t i[] = {1, 2};
    struct amp_tensor reference = tensor_of(AMP_FLOAT, r, 2), ints = tensor_of(AMP_INT32, i, 2);
    add(&m, reference, tensor_of(AMP_BFLOAT16, bf16, 2));
    add(&m, reference, tensor_of(AMP_FLOAT8E4M3FN, e4m3, 2));
    is_near(value_of(&m, "max_abs"), 0);
    assert_int_equal(amp_metrics_add(&m, &reference, &ints, &err), AMP_MISMATCH);
    assert_string_equal(err.text, "the reference gives float32, the converted model int32");
    err = (struct amp_error){.status = AMP_OK};
    static const struct {
        enum amp_dtype a, b;
        bool is_alike;
    } pairs[] = {{AMP_INT32, AMP_INT32, true},     {AMP_INT32, AMP_INT8, false},
                 {AMP_UINT8, AMP_INT8, false},     {AMP_BOOL, AMP_UINT8, false},
                 {AMP_UINT8, AMP_UINT16, false},   {AMP_COMPLEX64, AMP_COMPLEX64, true},
                 {AMP_COMPLEX64, AMP_FLOAT, false}};
    for (size_t k = 0; k < COUNT(pairs); k++) {
        struct amp_metrics some = {.count = 0};
        const float zeros[2] = {0, 0}, others[2] = {0, 1};
        struct amp_tensor a = tensor_of(pairs[k].a, zeros, 1), b = tensor_of(pairs[k].b, others, 1);
        assert_int_equal(amp_metrics_add(&some, &a, &b, &err),
                         pairs[k].is_alike ? AMP_OK : AMP_MISMATCH);
        assert_int_equal(some.different, k == 5); /* by what is imaginary */
        assert_int_equal(some.is_float, k == 5);
    }
    err = (struct amp_error){.status = AMP_OK};
    struct amp_tensor longer = tensor_of(AMP_FLOAT, r, 3);
    assert_int_equal(amp_metrics_add(&m, &reference, &longer, &err), AMP_MISMATCH);
    assert_string_equal(err.text, "the reference gives shape [2], the converted model [3]");
    assert_int_equal(m.count, 4);
}

static void bounds_are_inclusive_and_said(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bound, *text; /* text NULL: within */
    } cases[] = {
        {"max_abs", "1", NULL},
        {"max_abs", "0.99", "max_abs 1; at most 0.99 allowed"},
        {"mean_abs", "0.4", "mean_abs 0.5; at most 0.4 allowed"},
        {"max_rel", "0.25", NULL},
        {"rmse", "0.7", "rmse 0.7071; at most 0.7 allowed"},
        {"cosine", "0.99", "cosine 0.9899; at least 0.99 needed"},
        {"snr", "13.9", NULL},
        {"snr", "20", "snr 13.98 dB; at least 20 needed"},
        {"top1", "1", NULL},
    };
    struct amp_metrics m = {.count = 0};
    add_floats(&m, (float[]){3, 4}, (float[]){3, 3}, 2);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_metric_bounds t = amp_metric_bounds_default(AMP_UNDEFINED); /* no bounds */
        assert_int_equal(amp_metric_bounds_set(&t, cases[i].name, cases[i].bound, &err), AMP_OK);
        assert_int_equal(amp_metric_bounds_check(&t, &m, &err),
                         cases[i].text ? AMP_MISMATCH : AMP_OK);
        assert_string_equal(err.text, cases[i].text ? cases[i].text : "");
    }
}

static void defaults_take_rounding_and_refuse_garbage(void **state)
{
    (void)state;
    float r[64], good[64], garbage[64];
    for (int i = 0; i < 64; i++) {
        r[i] = sinf((float)i);
        good[i] = amp_bf16_to_f32(amp_f32_to_bf16(r[i]));
        garbage[i] = cosf((float)i * 3);
    }
    struct amp_metrics near = {.count = 0}, far = {.count = 0};
    add_floats(&near, r, good, 64);
    add_floats(&far, r, garbage, 64);
    const enum amp_dtype dtypes[] = {AMP_BFLOAT16, AMP_FLOAT16};
    for (size_t i = 0; i < 2; i++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_metric_bounds t = amp_metric_bounds_default(dtypes[i]);
        assert_int_equal(amp_metric_bounds_check(&t, &near, &err), AMP_OK);
        assert_int_equal(amp_metric_bounds_check(&t, &far, &err), AMP_MISMATCH);
    }
}

/* Each type has the bounds of its column of the table, and types that nothing is computed in none.
   Bounds that only class scores can meet ask for these, one by one. */
static void bounds_are_those_of_the_table(void **state)
{
    static const enum amp_dtype others[] = {AMP_UNDEFINED, AMP_DOUBLE, AMP_INT8, AMP_FLOAT8E5M2};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    for (size_t i = 0; amp_metric_at(i) != NULL; i++) {
        const struct amp_metric *metric = amp_metric_at(i);
        const double bounds[] = {metric->bounds.bf16, metric->bounds.fp16, metric->bounds.fp32};
        const enum amp_dtype dtypes[] = {AMP_BFLOAT16, AMP_FLOAT16, AMP_FLOAT};
        struct amp_metric_bounds none = amp_metric_bounds_default(AMP_UNDEFINED);
        for (int k = 0; k < 3; k++) {
            struct amp_metric_bounds found = amp_metric_bounds_default(dtypes[k]);
            double bound = amp_metric_bounds_get(&found, metric);
            assert_true(bound == bounds[k] || (isnan(bound) && isnan(bounds[k])));
        }
        for (size_t k = 0; k < COUNT(others); k++) {
            struct amp_metric_bounds found = amp_metric_bounds_default(others[k]);
            assert_true(isnan(amp_metric_bounds_get(&found, metric)));
        }
        assert_false(amp_metric_bounds_want_scores(&none));
        assert_int_equal(amp_metric_bounds_set(&none, metric->name, "0.5", &err), AMP_OK);
        assert_true(amp_metric_bounds_get(&none, metric) == 0.5);
        assert_int_equal(amp_metric_bounds_want_scores(&none), metric->is_of_scores);
    }
}

static void wrong_tolerances_are_named(void **state)
{
    (void)state;
    struct amp_metric_bounds t = amp_metric_bounds_default(AMP_BFLOAT16);
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_metric_bounds_set(&t, "cosin", "0.9", &err), AMP_USAGE);
    assert_string_equal(err.text, "unknown metric 'cosin'; did you mean 'cosine'?");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_metric_bounds_set(&t, "accuracy-dro", "0.9", &err), AMP_USAGE);
    assert_string_equal(err.text, "unknown metric 'accuracy-dro'; did you mean 'accuracy-drop'?");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_metric_bounds_set(&t, "snr", "2o", &err), AMP_USAGE);
    assert_string_equal(err.text, "the tolerance of snr: '2o' is no number");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_metric_bounds_set(&t, "snr", "nan", &err), AMP_USAGE);
}

/* What the reports, the options and the manual take from the table. */
static void the_table_is_whole(void **state)
{
    (void)state;
    char names[256], start[12];
    const char *at = amp_metric_names(names, sizeof names);
    size_t count = 0;
    for (; amp_metric_at(count) != NULL; count++) {
        const struct amp_metric *metric = amp_metric_at(count);
        assert_string_equal(metric->name, amp_metric_name_at(count));
        size_t comma = count > 0 ? strlen(", ") : 0;
        assert_memory_equal(at, ", ", comma);
        at += comma;
        assert_memory_equal(at, metric->name, strlen(metric->name));
        at += strlen(metric->name);
        assert_ptr_equal(amp_metric_shown_at((size_t)metric->text.place), metric);
        assert_non_null(amp_metric_shown_at(count));
        assert_true(metric->text.digits > 0 && metric->text.label[0] != '\0');
        assert_true(isnan(metric->bounds.bf16) == isnan(metric->bounds.fp32));
    }
    assert_string_equal(at, "");
    assert_null(amp_metric_name_at(count));
    assert_null(amp_metric_shown_at(count));
    assert_int_equal(strlen(amp_metric_names(start, sizeof start)), sizeof start - 1);
    memset(names, 'x', sizeof names);
    assert_int_equal(strlen(amp_metric_names(names, sizeof start)), sizeof start - 1);
    for (size_t i = sizeof start; i < sizeof names; i++)
        assert_int_equal(names[i], 'x');
}

static void quality_orders_outputs(void **state)
{
    (void)state;
    struct amp_metrics good = {.count = 0}, equal = {.count = 0}, differ = {.count = 0};
    struct amp_metrics same = {.count = 0}, nans = {.count = 0}, lost = {.count = 0};
    add_floats(&good, (float[]){3, 4}, (float[]){3, 3}, 2);
    add_floats(&equal, (float[]){3, 4}, (float[]){3, 4}, 2);
    add_floats(&nans, (float[]){NAN}, (float[]){NAN}, 1);
    add_floats(&lost, (float[]){NAN}, (float[]){1}, 1);
    add(&differ, tensor_of(AMP_INT64, (int64_t[]){1, 2}, 2),
        tensor_of(AMP_INT64, (int64_t[]){1, 3}, 2));
    add(&same, tensor_of(AMP_INT64, (int64_t[]){1}, 1), tensor_of(AMP_INT64, (int64_t[]){1}, 1));
    is_near(amp_metrics_quality(&good), 13.979400086720376);
    assert_true(amp_metrics_quality(&equal) == INFINITY);
    assert_true(amp_metrics_quality(&nans) == INFINITY);
    assert_true(lost.different > 0 && amp_metrics_quality(&lost) == INFINITY);
    assert_true(amp_metrics_quality(&differ) == 0);
    assert_true(amp_metrics_quality(&same) == INFINITY);
}

static void summary_leaves_out_what_is_no_number(void **state)
{
    (void)state;
    struct amp_summary s = {.count = 0};
    const float a[] = {3, NAN, -1, INFINITY};
    const int8_t b[] = {-5, 5};
    struct amp_tensor floats = tensor_of(AMP_FLOAT, a, 4), ints = tensor_of(AMP_INT8, b, 2);
    amp_summary_add(&s, &floats);
    assert_int_equal(s.finite, 2);
    assert_int_equal(s.nan, 1);
    assert_int_equal(s.infinite, 1);
    is_near(s.minimum, -1);
    is_near(s.maximum, 3);
    amp_summary_add(&s, &ints);
    assert_int_equal(s.count, 6);
    is_near(s.minimum, -5);
    is_near(s.maximum, 5);
    is_near(s.sum, 2);
}

/* Strings are equal by their bytes, wherever they lie; complex numbers are two of their parts' type
   each. */
static void elements_are_bytes_and_parts(void **state)
{
    static char other[] = "ab";
    const struct amp_str a[] = {{"ab", 2}, {NULL, 0}, {"ab", 2}, {"ab", 2}, {"b", 1}},
                         b[] = {{"ab", 2}, {"", 0}, {other, 2}, {"ac", 2}, {"bb", 2}};
    static const bool are_equal[] = {true, true, true, false, false};
    static const double wide[] = {1.5, 0x1p-1000, -3, 0x1.0000000000001p0};
    static const float narrow[] = {1.5f, 2, -3, 4};
    struct amp_tensor strings[] = {tensor_of(AMP_STRING, a, COUNT(are_equal)),
                                   tensor_of(AMP_STRING, b, COUNT(are_equal))};
    struct amp_metrics m = {.count = 0};
    size_t count;
    (void)state;
    for (size_t i = 0; i < COUNT(are_equal); i++) {
        assert_int_equal(amp_elements_equal_strings(&strings[0], &strings[1], i), are_equal[i]);
        assert_int_equal(amp_elements_equal_strings(&strings[1], &strings[0], i), are_equal[i]);
    }
    add(&m, strings[0], strings[1]);
    assert_int_equal(m.count, 5);
    assert_int_equal(m.different, 2);
    const struct amp_tensor pairs[] = {tensor_of(AMP_COMPLEX128, wide, 2),
                                       tensor_of(AMP_COMPLEX64, narrow, 2)};
    for (int k = 0; k < 2; k++) {
        const struct amp_tensor parts = amp_elements_real(&pairs[k], &count);
        assert_int_equal(parts.dtype, k == 0 ? AMP_DOUBLE : AMP_FLOAT);
        assert_int_equal(count, 4);
        for (size_t i = 0; i < count; i++)
            assert_true(amp_tensor_double(&parts, i) == (k == 0 ? wide[i] : (double)narrow[i]));
    }
}

/* ---- deviations ------------------------------------------------------------------------------ */

/* How errors are spread: counts by size and sign, the elements that are kept, the largest errors.
 */

static struct amp_deviations *add_all(const float *reference, const float *converted, int64_t count)
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
    struct amp_deviations *d = add_all(reference, converted, 7);
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
    struct amp_deviations *d = add_all(reference, converted, COUNT);
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

/* Whatever order they come in, the largest errors are in theirs, the first of equal ones first, and
   nothing else is touched. */
static void the_largest_errors_are_in_order(void **state)
{
    enum { COUNT = 23, STEP = 7 };
    float reference[COUNT], converted[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        reference[i] = 0;
        converted[i] = (float)(1 + i * STEP % COUNT / 2) * (i % 2 == 0 ? 1 : -1);
    }
    struct amp_deviations *d = add_all(reference, converted, COUNT);
    assert_int_equal(d->n_worst, AMP_DEVIATION_WORST);
    assert_int_equal(d->seen, COUNT);
    assert_int_equal(d->n_points, COUNT);
    for (size_t i = 0; i < AMP_DEVIATION_WORST; i++) {
        size_t larger = 0, at = d->worst[i].index;
        for (size_t k = 0; k < COUNT; k++)
            larger += fabsf(converted[k]) > fabsf(converted[at]) ||
                      (fabsf(converted[k]) == fabsf(converted[at]) && k < at);
        assert_int_equal(larger, i);
        assert_true(d->worst[i].converted == (double)converted[at]);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(d->points[i].index, i);
    free(d);
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
        cmocka_unit_test(distances_of_two_vectors),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(long_vectors_are_measured_whole),
        cmocka_unit_test(nothing_divides_by_zero),
        cmocka_unit_test(empty_outputs_have_no_metrics),
        cmocka_unit_test(not_finite_is_counted_on_each_side),
        cmocka_unit_test(the_worst_element_is_the_first_of_the_farthest),
        cmocka_unit_test(bounds_are_those_of_the_table),
        cmocka_unit_test(a_nan_on_one_side_is_outside),
        cmocka_unit_test(class_scores_are_told_by_shape),
        cmocka_unit_test(top1_counts_rows_and_ties),
        cmocka_unit_test(integers_strings_and_bools_are_equal_or_not),
        cmocka_unit_test(float_types_may_differ_others_not),
        cmocka_unit_test(bounds_are_inclusive_and_said),
        cmocka_unit_test(defaults_take_rounding_and_refuse_garbage),
        cmocka_unit_test(wrong_tolerances_are_named),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(quality_orders_outputs),
        cmocka_unit_test(summary_leaves_out_what_is_no_number),
        cmocka_unit_test(elements_are_bytes_and_parts),
        cmocka_unit_test(errors_are_counted_by_size_and_sign),
        cmocka_unit_test(points_are_spread_over_all_elements),
        cmocka_unit_test(the_largest_errors_are_in_order),
        cmocka_unit_test(extremes_have_a_bin),
        cmocka_unit_test(what_is_no_float_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Two models on the same samples: what is compared, within which tolerance, the verdict, and
   how far a run is. */
#include "check/bench.h"
#include "check/compare.h"
#include "check/layers.h"
#include "check/validate.h"
#include "cli/progress.h"
#include "core/array.h"
#include "core/memory.h"
#include "core/number/random.h"
#include "net.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "scratch.h"
#include "train/step_check.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A clock of the test's own: each look at it is a second behind the one before, or, where there are
   DURATIONS, every second look as much as the next of them says. */
static bool has_own_clock;
static const double *durations;
static double own_time;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
/* In the place of the system's. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int looks;
    if (!has_own_clock)
        return (int)syscall(SYS_clock_gettime, clock, time);
    if (durations == NULL)
        own_time += 1;
    else if (looks++ % 2 == 1)
        own_time += *durations++;
    time->tv_sec = (time_t)own_time;
    time->tv_nsec = (long)((own_time - (double)time->tv_sec) * 1e9);
    return 0;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* ---- validate -------------------------------------------------------------------------------- */

/* Two models on the same inputs: what is passed on, what is measured, what makes them incomparable.
 * The models are those of tests/validate, read from the folder that the tests run in. */

enum { ROWS = 6, COLUMNS = 8, SAMPLES = 3 };

static struct amp_model_file open_model(const char *path)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    if (amp_model_read(path, &file, &err) != AMP_OK || amp_infer(file.model, &err) != AMP_OK)
        fail_msg("%s", err.text);
    return file;
}

/* Rows of normal numbers, different in each sample. */
static enum amp_status load(void *context, size_t sample, struct amp_tensor *inputs,
                            struct amp_error *err)
{
    (void)context;
    struct amp_random random = amp_random_start(sample, 0);
    inputs[0] =
        (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {.rank = 2, .dims = {ROWS, COLUMNS}}};
    AMP_TRY(amp_tensor_alloc(&inputs[0], err));
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        ((float *)inputs[0].data)[i] = amp_random_normal(&random);
    return AMP_OK;
}

static struct amp_validate_options options_of(enum amp_dtype dtype, const struct amp_labels *labels)
{
    return (struct amp_validate_options){.source = {.count = SAMPLES, .load = load},
                                         .bounds = amp_metric_bounds_default(dtype),
                                         .labels = labels,
                                         .n_labels = labels != NULL};
}

static void inputs_are_cast_and_outputs_compared(void **state)
{
    (void)state;
    struct amp_model_file reference = open_model("build/cases/validate/scores.onnx");
    struct amp_model_file converted = open_model("build/cases/validate/scores_bf16.onnx");
    struct amp_validate_options options = options_of(AMP_BFLOAT16, NULL);
    struct amp_validation result;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_validate(reference.model, converted.model, &options, &result, &err),
                     AMP_OK);
    assert_int_equal(result.samples, SAMPLES);
    assert_int_equal(result.n_outputs, 1);
    assert_string_equal(result.outputs[0].name, "scores");
    assert_int_equal(result.outputs[0].dtype[0], AMP_FLOAT);
    assert_int_equal(result.outputs[0].dtype[1], AMP_BFLOAT16);
    assert_int_equal(result.outputs[0].metrics.count, SAMPLES * ROWS * 4);
    double snr = amp_metrics_quality(&result.outputs[0].metrics);
    assert_true(snr > 40 && snr < 65); /* a few roundings of 56 dB each */
    assert_true(result.is_within);
    assert_int_equal(result.n_tasks, 0);
    amp_validation_free(&result);
    amp_model_close(&converted);
    amp_model_close(&reference);
}

static void the_result_is_whole_when_outside(void **state)
{
    (void)state;
    struct amp_model_file reference = open_model("build/cases/validate/scores.onnx");
    struct amp_model_file converted = open_model("build/cases/validate/scores_bf16.onnx");
    struct amp_validate_options options = options_of(AMP_BFLOAT16, NULL);
    struct amp_validation result;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_metric_bounds_set(&options.bounds, "max_abs", "0", &err), AMP_OK);
    assert_int_equal(amp_validate(reference.model, converted.model, &options, &result, &err),
                     AMP_MISMATCH);
    assert_false(result.is_within);
    assert_int_equal(result.samples, SAMPLES);
    assert_true(result.outputs[0].is_outside);
    assert_non_null(strstr(err.text, "outside tolerance: output 'scores': max_abs "));
    assert_non_null(strstr(err.text, result.outputs[0].reason));
    amp_validation_free(&result);
    amp_model_close(&converted);
    amp_model_close(&reference);
}

static void labels_count_for_both(void **state)
{
    (void)state;
    enum { LABELLED = SAMPLES * ROWS };
    int32_t numbers[LABELLED] = {0};
    struct amp_labels labels = {.path = "labels",
                                .tensor = {.dtype = AMP_INT32,
                                           .shape = {.rank = 2, .dims = {SAMPLES, ROWS}},
                                           .data = numbers}};
    struct amp_model_file model = open_model("build/cases/validate/scores.onnx");
    struct amp_validate_options options = options_of(AMP_BFLOAT16, &labels);
    struct amp_validation result;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_validate(model.model, model.model, &options, &result, &err), AMP_OK);
    assert_int_equal(result.n_tasks, 1);
    const struct amp_task_score *seen = result.tasks[0].scores;
    assert_string_equal(result.tasks[0].name, "scores");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen[i].rows, LABELLED);
        assert_true(seen[i].right > 0 && seen[i].right < LABELLED);
    }
    assert_int_equal(seen[0].right, seen[1].right);
    assert_int_equal(result.outputs[0].metrics.different, 0);
    amp_validation_free(&result);
    labels.tensor.shape.dims[0] = SAMPLES - 1;
    assert_int_equal(amp_validate(model.model, model.model, &options, &result, &err), AMP_MODEL);
    assert_string_equal(err.text, "12 labels; the samples have 18 rows of scores or more");
    assert_null(result.outputs);
    amp_model_close(&model);
}

static void models_that_do_not_match_are_refused(void **state)
{
    (void)state;
    struct amp_model_file scores = open_model("build/cases/validate/scores.onnx");
    struct amp_model_file classes = open_model("build/cases/validate/classes.onnx");
    struct amp_model_file scaled = open_model("build/cases/validate/scores_scaled.onnx");
    struct amp_validate_options options = options_of(AMP_BFLOAT16, NULL);
    struct amp_validation result;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_validate(classes.model, scores.model, &options, &result, &err), AMP_MODEL);
    assert_string_equal(err.text,
                        "build/cases/validate/classes.onnx: output 'class' is no output of "
                        "build/cases/validate/scores.onnx");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_validate(scores.model, scaled.model, &options, &result, &err), AMP_MODEL);
    assert_string_equal(err.text,
                        "build/cases/validate/scores_scaled.onnx: input 'scale' is no input of "
                        "build/cases/validate/scores.onnx");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_validate(scores.model, classes.model, &options, &result, &err), AMP_OK);
    amp_validation_free(&result);
    amp_model_close(&scaled);
    amp_model_close(&classes);
    amp_model_close(&scores);
}

/* ---- compare --------------------------------------------------------------------------------- */

/* Comparison with expected tensors: |got - want| <= atol + rtol |want|, NaN and infinities first.
 */

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

/* Of those that are equally far off the first is named; each type writes its numbers as its own. */
static void the_worst_integer_is_named(void **state)
{
    (void)state;
    const struct amp_tolerance wide = {100, 100};
    const int8_t got[] = {-3, 3, 120, 5}, want[] = {3, -3, -7, 5};
    differs(matrix(AMP_INT8, got, 2, 2), matrix(AMP_INT8, want, 2, 2), wide,
            "3 of 4 elements differ; the worst is element [1, 0]: 120, expected -7");
    differs(matrix(AMP_INT8, got, 1, 2), matrix(AMP_INT8, want, 1, 2), wide,
            "2 of 2 elements differ; the worst is element [0, 0]: -3, expected 3");
    const int32_t near[] = {100, 1, -9}, far[] = {101, 5, -10};
    differs(matrix(AMP_INT32, near, 1, 3), matrix(AMP_INT32, far, 1, 3), wide,
            "3 of 3 elements differ; the worst is element [0, 1]: 1, expected 5");
    const uint64_t large[] = {7, UINT64_MAX}, small[] = {5, 1};
    differs(matrix(AMP_UINT64, large, 1, 2), matrix(AMP_UINT64, small, 1, 2), wide,
            "2 of 2 elements differ; the worst is element [0, 1]: 18446744073709551615, expected "
            "1");
    const bool truths[] = {true, false}, others[] = {true, true};
    differs(matrix(AMP_BOOL, truths, 1, 2), matrix(AMP_BOOL, others, 1, 2), wide,
            "1 of 2 elements differ; the worst is element [0, 1]: 0, expected 1");
    differs(matrix(AMP_INT8, got, 2, 2), matrix(AMP_INT8, got, 2, 2), wide, "");
    differs(matrix(AMP_INT8, got, 0, 2), matrix(AMP_INT8, want, 0, 2), wide, "");
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
    const float got[] = {1, 2, 3, 4}, want[] = {1, 2, 3, 5}, first[] = {1, 4, 3, 5};
    differs(matrix(AMP_COMPLEX64, got, 1, 2), matrix(AMP_COMPLEX64, want, 1, 2),
            (struct amp_tolerance){0, 0},
            "1 of 4 elements differ; the worst is element [0, 1]: 4, expected 5");
    differs(matrix(AMP_COMPLEX64, got, 1, 2), matrix(AMP_COMPLEX64, first, 1, 2),
            (struct amp_tolerance){0, 0},
            "2 of 4 elements differ; the worst is element [0, 0]: 2, expected 4");
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

/* ---- verdict --------------------------------------------------------------------------------- */

/* The verdict on two models built in memory: rounding between nodes, outputs of which one is bad,
   shapes that differ. Values are computed by hand. */

/* One sample of the values that CONTEXT, a float32 tensor, has. */
static enum amp_status load_one(void *context, size_t sample, struct amp_tensor *inputs,
                                struct amp_error *err)
{
    const struct amp_tensor *from = context;
    (void)sample;
    inputs[0] = (struct amp_tensor){.dtype = from->dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(&inputs[0], err));
    amp_tensor_copy(from, inputs[0].data);
    return AMP_OK;
}

static enum amp_status validate(const struct amp_model *reference, struct amp_tensor *x,
                                const struct amp_labels *labels, struct amp_validation *result)
{
    struct amp_validate_options options = {.source = {.count = 1, .load = load_one, .context = x},
                                           .bounds = amp_metric_bounds_default(AMP_BFLOAT16),
                                           .labels = labels,
                                           .n_labels = labels != NULL};
    infer_all();
    net.err = (struct amp_error){.status = AMP_OK};
    return amp_validate(reference, net.model, &options, result, &net.err);
}

/* x a + b, with a = 1 + 2^-7 and b = -(1 + 2^-6): all of them are bfloat16 numbers. */
static void start_sum(enum amp_dtype dtype)
{
    static const float a = 1.0078125f, b = -1.015625f;
    static const uint16_t a16 = 0x3f81, b16 = 0xbf82;
    bool is_lower = dtype == AMP_BFLOAT16;
    net_start(22);
    uint32_t x = input("x", dtype, DIMS(1, 1));
    uint32_t factor = constant("a", dtype, DIMS(1, 1), is_lower ? (const void *)&a16 : &a);
    uint32_t sum = constant("b", dtype, DIMS(1), is_lower ? (const void *)&b16 : &b);
    output(NODE("Add", "y", NODE("MatMul", "p", x, factor), sum));
    infer_all();
}

/* Of x = 1 + 2^-7 the product is 1 + 2^-6 + 2^-14, rounded to bfloat16 1 + 2^-6. */
static void nodes_round_one_by_one(void **state)
{
    static const float value = 1.0078125f;
    struct amp_validation result;
    double error;
    size_t row = 0;
    (void)state;
    while (strcmp(amp_metric_name_at(row), "max_abs") != 0)
        row++;
    start_sum(AMP_FLOAT);
    struct amp_model *reference = net.model;
    start_sum(AMP_BFLOAT16);
    AMP_IGNORE(validate(reference, net_tensor(AMP_FLOAT, DIMS(1, 1), &value), NULL, &result));
    assert_int_equal(result.samples, 1);
    assert_true(amp_metric_value(amp_metric_at(row), &result.outputs[0].metrics, &error));
    assert_true(error == ldexp(1, -14));
    amp_validation_free(&result);
}

/* Two outputs, of which those in WRONG (bits) are negated. */
static struct amp_model *two_outputs(int wrong)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 4));
    output(NODE(wrong & 1 ? "Neg" : "Identity", "first", x));
    output(NODE(wrong & 2 ? "Neg" : "Identity", "second", x));
    infer_all();
    return net.model;
}

static const float numbers[8] = {1, 2, 3, 4, 8, 7, 6, 5};

static void each_output_must_be_within_its_tolerance(void **state)
{
    static const char *const names[] = {NULL, "first", "second", "first"};
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        struct amp_validation result;
        char text[64];
        struct amp_model *reference = two_outputs(0);
        two_outputs(wrong);
        enum amp_status status =
            validate(reference, net_tensor(AMP_FLOAT, DIMS(2, 4), numbers), NULL, &result);
        assert_int_equal(status, wrong == 0 ? AMP_OK : AMP_MISMATCH);
        assert_int_equal(result.is_within, wrong == 0);
        assert_int_equal(result.outputs[0].is_outside, wrong & 1);
        assert_int_equal(result.outputs[1].is_outside, wrong >> 1);
        snprintf(text, sizeof text, "outside tolerance: output '%s': ", names[wrong]);
        assert_true(wrong == 0 || strncmp(net.err.text, text, strlen(text)) == 0);
        amp_validation_free(&result);
    }
}

/* Two selections of two elements, each behind an output, and an output that is behind none. LAST is
   what the last element is multiplied by before the first selection, FIRST what the first is before
   the second. */
static struct amp_model *selecting(float last, float first)
{
    const float a[] = {1, 1, 1, last}, b[] = {first, 1, 1, 1};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), selected[2];
    const uint32_t scores[] = {NODE("Mul", "h", x, constant("a", AMP_FLOAT, DIMS(4), a)),
                               NODE("Mul", "g", x, constant("b", AMP_FLOAT, DIMS(4), b))};
    for (int k = 0; k < 2; k++) {
        uint32_t top = net_node(0, "TopK", k == 0 ? "v" : "w", 2, IDS(scores[k], NUMBERS("k", 2)));
        selected[k] = net_out(top, 1);
        amp_value_at(net.model, selected[k])->name = k == 0 ? "i" : "j";
    }
    output(NODE("Gather", "y", scores[0], selected[0]));
    output(NODE("Abs", "z", x));
    output(NODE("Gather", "u", scores[1], selected[1]));
    infer_all();
    return net.model;
}

static enum amp_status load_selected(void *context, size_t sample, struct amp_tensor *inputs,
                                     struct amp_error *err)
{
    static const float samples[2][4] = {{4, 3, 2, 1}, {4, 3, 2, 2.875f}};
    (void)context;
    inputs[0] = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(4)};
    AMP_TRY(amp_tensor_alloc(&inputs[0], err));
    memcpy(inputs[0].data, samples[sample], sizeof samples[sample]);
    return AMP_OK;
}

static double max_abs_of(const struct amp_output_check *check)
{
    double value = NAN;
    for (size_t i = 0; amp_metric_at(i) != NULL; i++)
        if (strcmp(amp_metric_name_at(i), "max_abs") == 0)
            assert_true(amp_metric_value(amp_metric_at(i), &check->metrics, &value));
    return value;
}

/* In the second sample 2.875 is among the two largest of the first selection once it is multiplied
   by 1.25: one of the four items is another. The same items with another value are no other
   selection. What is made of the reference's selections is judged where the own is outside. */
static void outputs_behind_other_selections_are_given_the_references(void **state)
{
    static const struct {
        float last, first;
        const char *most, *differ; /* bounds; NULL: none */
        bool is_given;
        double errors[3];
        const char *said; /* NULL: within */
    } cases[] = {
        {1, 1, "0", "0", false, {0, 0, 0}, NULL},
        {1.25f, 1, "0.125", NULL, true, {0, 0, 0}, NULL},
        {1.25f, 1, "0.125", "0.25", true, {0, 0, 0}, NULL},
        {1.25f, 1, "0.125", "0.2", true, {0, 0, 0}, "output 'y': differ 0.25; at most 0.2 allowed"},
        {1.25f, 1, "0.75", NULL, false, {0.59375, 0, 0}, NULL},
        {1, 1.25f, "0.5", NULL, false, {0, 0, 1}, "output 'u': max_abs 1; at most 0.5 allowed"},
        {1.25f, 1.25f, "0.5", NULL, true, {0, 0, 1}, "output 'u': max_abs 1; at most 0.5 allowed"},
    };
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct amp_validate_options options = {.source = {.count = 2, .load = load_selected},
                                               .bounds = amp_metric_bounds_default(AMP_UNDEFINED),
                                               .keeps_deviations = c % 2 == 1};
        struct amp_validation result;
        struct amp_error err = {.status = AMP_OK};
        char said[128] = "";
        const struct amp_model *reference = selecting(1, 1);
        selecting(cases[c].last, cases[c].first);
        bool is_other = cases[c].last > 1;
        assert_int_equal(amp_metric_bounds_set(&options.bounds, "max_abs", cases[c].most, &err),
                         AMP_OK);
        if (cases[c].differ != NULL)
            assert_int_equal(
                amp_metric_bounds_set(&options.bounds, "differ", cases[c].differ, &err), AMP_OK);
        if (cases[c].said != NULL)
            snprintf(said, sizeof said, "outside tolerance: %s", cases[c].said);
        assert_int_equal(amp_validate(reference, net.model, &options, &result, &err),
                         cases[c].said != NULL ? AMP_MISMATCH : AMP_OK);
        assert_string_equal(err.text, said);
        assert_int_equal(result.is_within, cases[c].said == NULL);
        assert_int_equal(result.selections.count, 2);
        for (int k = 0; k < 2; k++) {
            const struct amp_selection *selection = &result.selections.items[k];
            assert_int_equal(selection->larger, 4);
            assert_int_equal(selection->otherwise, k == 0 && is_other);
        }
        for (int o = 0; o < 3; o++) {
            const struct amp_output_check *check = &result.outputs[o];
            const char *name = o == 0 ? "'y'" : o == 1 ? "'z'" : "'u'";
            bool is_said = cases[c].said != NULL && strstr(cases[c].said, name) != NULL;
            assert_int_equal(check->is_selected, o != 1);
            assert_int_equal(check->is_selected_otherwise, o == 0 && is_other);
            assert_int_equal(check->is_given, o == 0 && cases[c].is_given);
            assert_int_equal(check->is_outside, is_said);
            assert_int_equal(check->reason[0] != '\0', is_said);
            assert_int_equal(check->metrics.count, o == 1 ? 8 : 4);
            assert_int_equal(check->metrics.selected, check->is_given ? 4 : 0);
            assert_int_equal(check->metrics.otherwise, check->is_given);
            assert_true(max_abs_of(check) == cases[c].errors[o]);
            assert_int_equal(check->deviations != NULL, options.keeps_deviations);
        }
        amp_validation_free(&result);
    }
}

/* Both models take the time that they take, whatever the clock says at first. */
static void seconds_are_those_between_looks(void **state)
{
    struct amp_validation result;
    (void)state;
    struct amp_model *reference = two_outputs(0);
    two_outputs(0);
    has_own_clock = true;
    own_time = 1000;
    enum amp_status status =
        validate(reference, net_tensor(AMP_FLOAT, DIMS(2, 4), numbers), NULL, &result);
    has_own_clock = false;
    assert_int_equal(status, AMP_OK);
    for (int side = 0; side < 2; side++)
        assert_true(result.seconds[side] >= 1 && result.seconds[side] < 1000);
    amp_validation_free(&result);
}

/* A score that falls by more than it may is outside by itself, where no output is. */
static void scores_must_be_within_their_bounds(void **state)
{
    static const int64_t classes[] = {3, 0};
    static const struct {
        const char *bound;
        bool is_within;
    } cases[] = {{"1", true}, {"0.99", false}, {"100%", true}, {"99%", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_model *reference = two_outputs(0);
        two_outputs(1);
        const struct amp_labels labels = {
            .path = "l.npy", .output = "first", .tensor = *net_tensor(AMP_INT64, DIMS(2), classes)};
        struct amp_tensor *x = net_tensor(AMP_FLOAT, DIMS(2, 4), numbers);
        struct amp_validate_options options = {
            .source = {.count = 1, .load = load_one, .context = x},
            .bounds = amp_metric_bounds_default(AMP_UNDEFINED),
            .labels = &labels,
            .n_labels = 1};
        struct amp_validation result;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_task_bounds_set(&options.task_bounds,
                                             amp_task_metric_find("accuracy-drop"), cases[i].bound,
                                             &err),
                         AMP_OK);
        assert_int_equal(amp_validate(reference, net.model, &options, &result, &err),
                         cases[i].is_within ? AMP_OK : AMP_MISMATCH);
        assert_int_equal(result.is_within, cases[i].is_within);
        assert_int_equal(result.n_tasks, 1);
        assert_int_equal(result.tasks[0].is_outside, !cases[i].is_within);
        assert_int_equal(result.tasks[0].reason[0] == '\0', cases[i].is_within);
        assert_int_equal(result.tasks[0].scores[0].right, 2);
        assert_int_equal(result.tasks[0].scores[1].right, 0);
        assert_false(result.outputs[0].is_outside);
        if (!cases[i].is_within) {
            static const char begin[] = "outside tolerance: output 'first': ";
            assert_memory_equal(err.text, begin, sizeof begin - 1);
            assert_string_equal(err.text + sizeof begin - 1, result.tasks[0].reason);
        }
        amp_validation_free(&result);
    }
}

static struct amp_model *product_or_copy(bool is_product)
{
    static const float unit[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 4));
    output(is_product ? NODE("MatMul", "y", x, constant("w", AMP_FLOAT, DIMS(4, 4), unit))
                      : NODE("Identity", "y", x));
    infer_all();
    return net.model;
}

/* Rows are class scores where labels say so, where a bound asks for them or where a product gives
   them; not where labels are of something else. */
static void rows_of_class_scores_are_counted(void **state)
{
    static const int64_t classes[] = {3, 0};
    static const float targets[8] = {1, 2, 3, 4, 8, 7, 6, 5};
    enum { NO_LABELS, CLASSES, TARGETS };
    (void)state;
    for (int c = 0; c < 12; c++) {
        bool is_product = c % 2 == 1, is_bound = c / 2 % 2 == 1;
        int kind = c / 4;
        struct amp_model *reference = product_or_copy(is_product);
        product_or_copy(is_product);
        const struct amp_labels labels = {
            .path = "l.npy",
            .tensor = kind == CLASSES ? *net_tensor(AMP_INT64, DIMS(2), classes)
                                      : *net_tensor(AMP_FLOAT, DIMS(2, 4), targets)};
        struct amp_validate_options options = {
            .source = {.count = 1,
                       .load = load_one,
                       .context = net_tensor(AMP_FLOAT, DIMS(2, 4), numbers)},
            .bounds = amp_metric_bounds_default(AMP_UNDEFINED),
            .labels = &labels,
            .n_labels = kind != NO_LABELS};
        struct amp_validation result;
        struct amp_error err = {.status = AMP_OK};
        if (is_bound)
            assert_int_equal(amp_metric_bounds_set(&options.bounds, "top1", "1", &err), AMP_OK);
        assert_int_equal(amp_validate(reference, net.model, &options, &result, &err), AMP_OK);
        bool are_scores = kind == CLASSES || (kind == NO_LABELS && (is_product || is_bound));
        assert_int_equal(result.outputs[0].metrics.rows, are_scores ? 2 : 0);
        assert_int_equal(result.outputs[0].metrics.agreed, are_scores ? 2 : 0);
        amp_validation_free(&result);
    }
}

/* What labels and bounds have to do with each other and with the outputs. */
static void labels_have_to_fit(void **state)
{
    static const float targets[6] = {0};
    static const int64_t classes[2] = {3, 0};
    struct amp_labels labels = {.path = "l.npy",
                                .tensor = *net_tensor(AMP_FLOAT, DIMS(2, 3), targets)};
    struct amp_validation result;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    const struct amp_model *reference = two_outputs(0);
    struct amp_tensor *x = net_tensor(AMP_FLOAT, DIMS(2, 4), numbers);
    two_outputs(0);
    assert_int_equal(validate(reference, x, &labels, &result), AMP_MODEL);
    assert_string_equal(net.err.text, "net.onnx: no output has rows like those of --labels l.npy, "
                                      "shape [2, 3] (class numbers are integers)");
    assert_null(result.outputs);
    /* A bound is on what some labels give, which classes do and targets do not. */
    for (int has_classes = 0; has_classes < 2; has_classes++) {
        struct amp_labels two[2] = {labels, labels};
        two[0].tensor = *net_tensor(AMP_FLOAT, DIMS(2, 4), numbers);
        two[1].tensor = *net_tensor(AMP_INT64, DIMS(2), classes);
        struct amp_validate_options options = {
            .source = {.count = 1, .load = load_one, .context = x},
            .bounds = amp_metric_bounds_default(AMP_BFLOAT16),
            .labels = two,
            .n_labels = 1 + (size_t)has_classes};
        err = (struct amp_error){.status = AMP_OK};
        assert_int_equal(amp_task_bounds_set(&options.task_bounds,
                                             amp_task_metric_find("accuracy-drop"), "0", &err),
                         AMP_OK);
        enum amp_status status = amp_validate(reference, net.model, &options, &result, &err);
        assert_int_equal(status, has_classes ? AMP_OK : AMP_MODEL);
        assert_int_equal(
            strncmp(err.text, has_classes ? "" : "--tolerance accuracy-drop: there is no accuracy",
                    has_classes ? 1 : 47),
            0);
        if (status == AMP_OK) {
            assert_int_equal(result.tasks[1].scores[0].right, 2);
            amp_validation_free(&result);
        }
    }
}

/* The converted model may have inputs of its own that have values. */
static void inputs_with_values_may_be_more(void **state)
{
    static const float two[1] = {1};
    (void)state;
    for (int has_value = 0; has_value < 2; has_value++) {
        struct amp_validation result;
        const struct amp_model *reference = two_outputs(0);
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 4)), more = input("more", AMP_FLOAT, DIMS(1));
        if (has_value) {
            amp_graph_make_initializer(net.model, more, net_tensor(AMP_FLOAT, DIMS(1), two));
            amp_value_at(net.model, more)->constant = NULL;
        }
        output(NODE("Mul", "first", x, more));
        output(NODE("Identity", "second", x));
        struct amp_tensor *sample = net_tensor(AMP_FLOAT, DIMS(2, 4), numbers);
        enum amp_status status = validate(reference, sample, NULL, &result);
        assert_int_equal(status, has_value ? AMP_OK : AMP_MODEL);
        assert_string_equal(net.err.text,
                            has_value ? "" : "net.onnx: input 'more' is no input of net.onnx");
        if (status == AMP_OK)
            assert_int_equal(result.outputs[0].metrics.different, 0);
        amp_validation_free(&result);
    }
}

/* An output whose one element is X in the reference and Y in the other. */
static struct amp_output_check output_of(float x, float y)
{
    struct amp_output_check check = {.name = "y"};
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor a = *net_tensor(AMP_FLOAT, DIMS(1), &x),
                      b = *net_tensor(AMP_FLOAT, DIMS(1), &y);
    assert_int_equal(amp_metrics_add(&check.metrics, &a, &b, &err), AMP_OK);
    return check;
}

static struct amp_output_check integers_of(int64_t x, int64_t y)
{
    struct amp_output_check check = {.name = "y"};
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor a = *net_tensor(AMP_INT64, DIMS(1), &x),
                      b = *net_tensor(AMP_INT64, DIMS(1), &y);
    assert_int_equal(amp_metrics_add(&check.metrics, &a, &b, &err), AMP_OK);
    return check;
}

/* From the worst to the best; of equally good ones the selections count, and then the order. */
static void outputs_are_good_or_bad(void **state)
{
    (void)state;
    net_start(22);
    struct amp_output_check outside = output_of(10, 10), selected[2];
    outside.is_outside = true;
    for (int i = 0; i < 2; i++) {
        selected[i] = output_of(10, 11);
        selected[i].metrics.selected = 10;
        selected[i].metrics.otherwise = 2 - (uint64_t)i;
    }
    struct amp_output_check ladder[] = {outside,          integers_of(1, 2), selected[0],
                                        selected[1],      output_of(10, 11), output_of(10, 10.1f),
                                        output_of(10, 10)};
    for (size_t i = 0; i < COUNT(ladder); i++)
        for (size_t k = 0; k < COUNT(ladder); k++) {
            if (amp_output_is_worse(&ladder[i], &ladder[k]) != (i < k))
                fail_msg("%zu and %zu", i, k);
            struct amp_output_check both[] = {ladder[i], ladder[k], ladder[COUNT(ladder) - 1]};
            const struct amp_validation validation = {.outputs = both, .n_outputs = 3};
            assert_ptr_equal(amp_validation_worst(&validation), &both[k < i]);
        }
}

static void error_powers_are_of_floats(void **state)
{
    (void)state;
    net_start(22);
    struct amp_output_check outputs[] = {integers_of(1, 2), output_of(10, 10.1f), output_of(10, 11),
                                         output_of(10, 10), output_of(10, NAN)};
    static const double wanted[] = {0, 0, 1e-4, 1e-2, 1e-2, INFINITY};
    for (size_t n = 0; n <= COUNT(outputs); n++) {
        const struct amp_validation validation = {.outputs = outputs, .n_outputs = n};
        double power = amp_validation_error_power(&validation);
        if (!(power == wanted[n] || fabs(power - wanted[n]) < 1e-5 * wanted[n]))
            fail_msg("%zu outputs: %g", n, power);
    }
    const struct amp_validation none = amp_validation_none();
    assert_true(none.is_within && none.n_outputs == 0);
}

/* Labels count for the reference alone where the converted model's scores have another shape. */
static void scores_of_another_shape_are_not_counted(void **state)
{
    static const int64_t classes[2] = {3, 1};
    struct amp_labels labels = {.tensor = {.dtype = AMP_INT64, .shape = DIMS(2)}};
    struct amp_validation result;
    (void)state;
    labels.tensor.data = net_tensor(AMP_INT64, DIMS(2), classes)->data;
    net_start(22);
    output(NODE("Identity", "y", input("x", AMP_FLOAT, DIMS(2, 4))));
    infer_all();
    struct amp_model *reference = net.model;
    net_start(22);
    output(NODE("Transpose", "y", input("x", AMP_FLOAT, DIMS(2, 4))));
    assert_int_equal(
        validate(reference, net_tensor(AMP_FLOAT, DIMS(2, 4), numbers), &labels, &result),
        AMP_MISMATCH);
    const struct amp_task *task = &result.tasks[0];
    assert_string_equal(task->name, "y");
    assert_int_equal(task->scores[0].rows, 2);
    assert_int_equal(task->scores[0].right, 1); /* 3 of the first row, 0 of the second */
    assert_int_equal(task->scores[1].rows, 0);
    assert_false(result.is_within);
    amp_validation_free(&result);
}

/* ---- steps of training ----------------------------------------------------------------------- */

/*
 * A step of training of two models, by hand: y = (x w + bias) factor, the loss is the sum of y
 * LESS, and what the step takes from w is its gradient times MORE. With x = {{1, 0}, {0, 2}} that
 * is LESS MORE in the first row and twice as much in the second; the model has 2^-30 and 2^30 in
 * the first of three columns, 1 in the others.
 */
static const char step_path[] = "build/cases/training/step_partly_lost/model.onnx";

/* Puts NEW in place of OLD, which is there once. */
static void replace(char *bytes, size_t size, float old, float new)
{
    char *at = memmem(bytes, size, &old, sizeof old);
    assert_non_null(at);
    assert_null(memmem(at + 1, size - (size_t)(at + 1 - bytes), &old, sizeof old));
    memcpy(at, &new, sizeof new);
}

/* The model with LESS and MORE in the first column. */
static struct amp_model_file open_step(float less, float more)
{
    char bytes[4096], path[SCRATCH_MAX + 16], folder[SCRATCH_MAX];
    FILE *file = fopen(step_path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    replace(bytes, size, 0x1p-30f, less);
    replace(bytes, size, 0x1p30f, more);
    scratch_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    struct amp_model_file opened = open_model(path);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return opened;
}

/* What a column of LESS and MORE is in the reference and in the other model, and what comes of it.
 */
struct step_case {
    float less[2], more[2];
    double cosine, length; /* NaN: not a number, or not finite */
    bool is_outside;
};

static void expect_ratio(double found, double expected)
{
    double allowed = 1e-6 * fmax(fabs(expected), 1);
    assert_true(isnan(expected) ? !isfinite(found) : fabs(found - expected) <= allowed);
}

static void expect_step(const struct step_case *expected)
{
    static const float x[] = {1, 0, 0, 2}, bias[] = {1, 2, 3};
    struct amp_model_file reference = open_step(expected->less[0], expected->more[0]);
    struct amp_model_file converted = open_step(expected->less[1], expected->more[1]);
    const struct amp_model_file *const files[] = {&reference, &converted};
    const struct amp_step_sample sample = {.model = reference.model,
                                           .tensors = TENSORS(*net_tensor(AMP_FLOAT, DIMS(2, 2), x),
                                                              *net_tensor(AMP_FLOAT, DIMS(3), bias),
                                                              {.dtype = AMP_FLOAT}),
                                           .seed = 1};
    struct amp_step_check check;
    struct amp_error err = {.status = AMP_OK};
    if (amp_step_check_run(files, &sample, &check, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(check.n_variables, 1);
    expect_ratio(check.cosine, expected->cosine);
    expect_ratio(check.length, expected->length);
    assert_false(check.is_skipped);
    assert_int_equal(check.is_outside, expected->is_outside);
    amp_step_check_free(&check);
    amp_model_close(&converted);
    amp_model_close(&reference);
}

/* Both take 1 and 2 from each column, or the other one takes a multiple from the first: 15 is what
   the squares of the reference come to. What is not finite, of the loss or of what is taken, counts
   where the reference has it finite. */
static void steps_are_set_against_each_other(void **state)
{
    static const float less = 0x1p-30f, more = 0x1p30f, huge = 1.5e38f;
    const struct step_case cases[] = {
        {{less, less}, {more, more}, 1, 1, false},
        {{less, less}, {more, 0}, 10 / sqrt(15 * 10), sqrt(10.0 / 15), false},
        {{less, less}, {0, more}, 10 / sqrt(15 * 10), sqrt(15.0 / 10), false},
        {{less, less}, {more, -4 * more}, -10 / sqrt(15 * 90), sqrt(90.0 / 15), false},
        {{less, less}, {more, INFINITY}, NAN, NAN, true},
        {{less, less}, {INFINITY, more}, NAN, 0, false},
        {{less, less}, {INFINITY, INFINITY}, NAN, NAN, false},
        {{less, huge}, {more, 1}, 1 / sqrt(3), huge * sqrt(5.0 / 15), true}, /* of the loss alone */
        {{huge, less}, {1, more}, 1 / sqrt(3), sqrt(15 / 5.0) / huge, false},
        {{huge, huge}, {1, 1}, 1, 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_step(&cases[i]);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* x, of four numbers, is 1, 2, 3 and -4, in the second sample twice that; c is true. */
static enum amp_status load_scaled(void *context, size_t sample, struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    static const float first[4] = {1, 2, 3, -4};
    (void)context;
    inputs[0] = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(4)};
    inputs[1] = (struct amp_tensor){.dtype = AMP_BOOL, .shape = SCALAR};
    AMP_TRY(amp_tensor_alloc(&inputs[0], err));
    AMP_TRY(amp_tensor_alloc(&inputs[1], err));
    for (size_t i = 0; i < 4; i++)
        ((float *)inputs[0].data)[i] = first[i] * (float)(sample + 1);
    *(bool *)inputs[1].data = true;
    return AMP_OK;
}

enum { N_LAYERS = 8 };
static const char *const layer_names[N_LAYERS] = {"m", "n", "i", "t", "p", "q", "s", "g"};

/* m is x times a factor, of which the others are made: t in a body, p divided by DIVISOR; s and g
   do not depend on them. */
static struct amp_model *layered(float factor, float divisor, bool is_rounded)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), c = input("c", AMP_BOOL, SCALAR);
    uint32_t m = NODE("Mul", "m", x, constant("f", AMP_FLOAT, SCALAR, &factor));
    uint32_t n = NODE("Neg", "n", m);
    uint32_t i = NODE("Cast", "i", NODE(is_rounded ? "Ceil" : "Floor", is_rounded ? "u" : "v", x));
    set_int(i, "to", AMP_INT32);
    uint32_t owner = net_node(0, "If", "t", 1, IDS(c));
    for (int k = 0; k < 2; k++) {
        const char *name = k == 0 ? "then_branch" : "else_branch";
        uint32_t body = amp_graph_add(net.model, name, owner);
        uint32_t inner = net_out(net_node(body, "Abs", k == 0 ? "in" : "out", 1, IDS(m)), 0);
        amp_ids_push(net.model, &net.model->graphs[body].outputs, inner);
        amp_value_at(net.model, inner)->is_output = true;
        amp_node_set_attr(
            net.model, owner,
            (struct amp_attr){.name = name,
                              .type = AMP_ATTR_GRAPH,
                              .count = 1,
                              .graphs = amp_arena_memdup(net.arena, &body, sizeof body)});
    }
    uint32_t t = net_out(owner, 0);
    uint32_t p = NODE("Div", "p", n, constant("d", AMP_FLOAT, SCALAR, &divisor));
    uint32_t q = NODE("Sub", "q", p, p), s = NODE("Clip", "s", x, AMP_NONE, AMP_NONE);
    output(NODE("Neg", "behind_p", p));
    output(NODE("Neg", "behind_q", q));
    output(q);
    output(t);
    output(i);
    output(NODE("Abs", "g", s));
    infer_all();
    return net.model;
}

static const struct amp_layer *layer_of(const struct amp_layers *layers, const char *name)
{
    for (size_t i = 0; i < layers->count; i++)
        if (strcmp(layers->items[i].names[0], name) == 0)
            return &layers->items[i];
    fail_msg("no layer %s", name);
    return NULL;
}

static void layers_are_seen(struct amp_layers *layers, const struct amp_model *reference)
{
    struct amp_validation result;
    struct amp_validate_options options = {.source = {.count = 2, .load = load_scaled},
                                           .bounds = amp_metric_bounds_default(AMP_BFLOAT16),
                                           .runner = amp_layers_runner(layers)};
    struct amp_error err = {.status = AMP_OK};
    enum amp_status status = amp_validate(reference, net.model, &options, &result, &err);
    if (status != AMP_OK && status != AMP_MISMATCH)
        fail_msg("%s", err.text);
    amp_validation_free(&result);
    amp_layers_end(layers);
}

static void is_about(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-5))
        fail_msg("%g, not %g", found, wanted);
}

/* m is off by a quarter, by itself and with all that comes of it, which add nothing of their own.
 */
static void errors_are_followed_from_layer_to_layer(void **state)
{
    struct amp_layers layers;
    (void)state;
    const struct amp_model *reference = layered(1, 2, false);
    layered(1.25f, 2, false);
    amp_layers_begin(reference, net.model, &layers);
    layers_are_seen(&layers, reference);
    assert_int_equal(layers.n_samples, 2);
    assert_int_equal(layers.n_paired[AMP_PAIRED_BY_NAME], layers.count);
    assert_int_equal(layers.n_unpaired[0] + layers.n_unpaired[1], 0);
    for (size_t i = 0; i < N_LAYERS; i++) {
        const struct amp_layer *layer = layer_of(&layers, layer_names[i]);
        bool is_off = strchr("mntp", layer_names[i][0]) != NULL;
        is_about(layer->error, is_off ? 0.25 : 0);
        is_about(layer->before, layer_names[i][0] == 'q' || (is_off && i > 0) ? 0.25 : 0);
        assert_true(layer->has_local);
        is_about(amp_layers_relative_error(&layer->local), i == 0 ? 0.25 : 0);
        assert_string_equal(layer->reason, "");
        if (!is_off)
            continue;
        assert_int_equal(layer->worst.index, 3);
        assert_int_equal(layer->worst.sample, 1);
        is_about(fabs(layer->worst.values[1] / layer->worst.values[0]), 1.25);
        assert_true(layer->dtype[0] == AMP_FLOAT && layer->shape.dims[0] == 4);
        assert_true(layer->accumulated.count == 8 && layer->range[1].count == 8);
        is_about(layer->range[1].maximum - layer->range[1].minimum,
                 1.25 * (layer->range[0].maximum - layer->range[0].minimum));
    }
    assert_ptr_equal(&layers.items[layers.largest_jump], layer_of(&layers, "m"));
    assert_true(layers.first_nan == SIZE_MAX && layers.first_overflow == SIZE_MAX);
    assert_true(layer_of(&layers, "t")->is_output && !layer_of(&layers, "m")->is_output);
    assert_string_equal(layer_of(&layers, "t")->op_type, "If");
    size_t *by_local = amp_layers_sort(&layers, AMP_LAYERS_BY_LOCAL),
           *by_all = amp_layers_sort(&layers, AMP_LAYERS_BY_ACCUMULATED);
    assert_ptr_equal(&layers.items[by_local[0]], layer_of(&layers, "m"));
    for (size_t i = 0; i + 1 < layers.count; i++) {
        const struct amp_layer *a = &layers.items[by_all[i]], *b = &layers.items[by_all[i + 1]];
        assert_true(a->error > b->error || (a->error == b->error && a < b) ||
                    fabs(a->error - b->error) < 1e-6);
    }
    free(by_local);
    free(by_all);
    amp_layers_free(&layers);
    assert_int_equal(amp_layers_decibels(0.01), 40);
}

/* What is divided by 0 overflows, and its difference is no number. Integers are off as many times
   as they differ: by Ceil and Floor never. */
static void the_first_overflow_and_nan_are_named(void **state)
{
    struct amp_layers layers;
    (void)state;
    const struct amp_model *reference = layered(1, 2, false);
    layered(1, 0, true);
    amp_layers_begin(reference, net.model, &layers);
    layers_are_seen(&layers, reference);
    assert_ptr_equal(&layers.items[layers.first_overflow], layer_of(&layers, "p"));
    assert_ptr_equal(&layers.items[layers.first_nan], layer_of(&layers, "q"));
    is_about(layer_of(&layers, "i")->error, 0);
    size_t *order = amp_layers_sort(&layers, AMP_LAYERS_BY_ACCUMULATED);
    assert_true(order[0] == layers.first_overflow && order[1] == layers.first_nan);
    free(order);
    order = amp_layers_sort(&layers, AMP_LAYERS_BY_LOCAL);
    assert_int_equal(order[0], layers.first_overflow);
    free(order);
    order = amp_layers_sort(&layers, AMP_LAYERS_BY_GRAPH);
    for (size_t i = 0; i < layers.count; i++)
        assert_int_equal(order[i], i);
    free(order);
    amp_layers_free(&layers);
}

/* m is x times FACTOR; r and d draw of it, sum has what the converted model draws alone, or w. Rows
   that are numbered by m's are taken, of which there are N_ROWS. */
static struct amp_model *drawn(int side, float factor, int64_t n_rows)
{
    static const float rows[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    input("c", AMP_BOOL, SCALAR);
    uint32_t m = NODE("Mul", "m", x, constant("f", AMP_FLOAT, SCALAR, &factor));
    uint32_t i = NODE("Cast", "i", m), r = NODE("RandomNormalLike", "r", m);
    set_int(i, "to", AMP_INT64);
    uint32_t own = side == 1 ? NODE("RandomUniformLike", "own", x) : FLOATS("w", 1, 2, 3, 4);
    uint32_t d = NODE("Dropout", "d", m, constant("ratio", AMP_FLOAT, SCALAR, &(float){0.5f}),
                      constant("trains", AMP_BOOL, SCALAR, &(bool){true}));
    uint32_t s = NODE("SequenceConstruct", "s", m, m);
    uint32_t kept = net_node(0, "Dropout", "kept", 2, IDS(m));
    amp_node_at(net.model, kept)->outputs[1] = AMP_NONE;
    output(net_out(kept, 0));
    const float seed = 7;
    for (int k = 0; k < 3; k++) {
        uint32_t value = k == 0 ? r : k == 1 ? d : own;
        if (k == 2 && side == 0)
            continue;
        if (k == 1)
            set_int(value, "seed", 7);
        else
            amp_node_set_attr(
                net.model, node_of(value),
                (struct amp_attr){.name = "seed",
                                  .type = AMP_ATTR_FLOAT,
                                  .count = 1,
                                  .floats = amp_arena_memdup(net.arena, &seed, sizeof seed)});
    }
    output(NODE("Gather", "g", constant("rows", AMP_FLOAT, DIMS(n_rows), rows), i));
    output(NODE("Add", "sum", m, own));
    output(NODE("SequenceAt", "at", s, constant("first", AMP_INT64, SCALAR, &(int64_t){0})));
    output(r);
    output(d);
    infer_all();
    return net.model;
}

/* What draws runs once in each model, and has no error of its own; nor has what cannot run on the
   reference's values, of which it is said why. Lists are values like others. */
static void what_draws_or_cannot_run_again_has_no_local_error(void **state)
{
    static const struct {
        const char *name;
        double error, local; /* local below 0: none */
    } cases[] = {{"m", 0.75, 0.75}, {"r", 0, -1},      {"d", 0.75, -1},
                 {"at", 0.75, 0},   {"kept", 0.75, 0}, {"g", 0, -1}};
    struct amp_layers layers;
    (void)state;
    const struct amp_model *reference = drawn(0, 1, 8);
    drawn(1, 0.25f, 2);
    amp_layers_begin(reference, net.model, &layers);
    layers_are_seen(&layers, reference);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct amp_layer *layer = layer_of(&layers, cases[i].name);
        is_about(layer->error, cases[i].error);
        assert_int_equal(layer->accumulated.count, 8);
        assert_int_equal(layer->has_local, cases[i].local >= 0);
        assert_int_equal(layer->reason[0] != '\0', layer == layer_of(&layers, "g"));
        assert_int_equal(layer->local.count, layer->has_local ? 8 : 0);
        if (layer->has_local)
            is_about(amp_layers_relative_error(&layer->local), cases[i].local);
    }
    assert_true(layer_of(&layers, "sum")->has_local);
    assert_int_equal(layer_of(&layers, "sum")->local.count, 8);
    amp_layers_free(&layers);
}

/* With less memory than it takes, a comparison is refused, and gives all back. */
static void comparisons_without_memory_are_refused(void **state)
{
    enum { LIMITS = 64, ENOUGH = 1000000000 };
    size_t most = 1, n_refused = 0;
    (void)state;
    const struct amp_model *reference = drawn(0, 1, 8);
    drawn(1, 0.25f, 2);
    for (size_t i = 0; i <= LIMITS; i++) {
        struct amp_layers layers;
        struct amp_validation result;
        struct amp_error err = {.status = AMP_OK};
        amp_layers_begin(reference, net.model, &layers);
        const struct amp_validate_options options = {.source = {.count = 2, .load = load_scaled},
                                                     .bounds =
                                                         amp_metric_bounds_default(AMP_BFLOAT16),
                                                     .runner = amp_layers_runner(&layers)};
        size_t used = amp_memory_used();
        amp_memory_restart_peak();
        amp_memory_set_limit(i == 0 ? ENOUGH : used + most * (i - 1) / LIMITS);
        enum amp_status status = amp_validate(reference, net.model, &options, &result, &err);
        most = i == 0 ? amp_memory_peak() - used : most;
        if (status != AMP_OK && status != AMP_MISMATCH && status != AMP_IO)
            fail_msg("%s", err.text);
        n_refused += status == AMP_IO;
        if (status != AMP_IO)
            amp_validation_free(&result);
        assert_int_equal(amp_memory_used(), used);
        amp_memory_set_limit(ENOUGH);
        amp_layers_free(&layers);
    }
    assert_true(n_refused > LIMITS / 2);
}

/* Nodes that the converted model alone has hand on what they make of the reference's values, so
   that what is behind them is not blamed for what was before. */
static void nodes_of_one_model_are_run_on_what_both_have(void **state)
{
    struct amp_layers layers;
    const struct amp_model *models[2];
    (void)state;
    for (int side = 0; side < 2; side++) {
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4));
        input("c", AMP_BOOL, SCALAR);
        uint32_t m = NODE("Mul", "m", x, FLOATS("f", side == 0 ? 1 : 1.25f)), own = m;
        for (int k = 0; k < 2 && side == 1; k++)
            own = NODE("Mean", "own", own);
        uint32_t n = NODE("Neg", "n", own);
        output(n);
        output(NODE("Add", "sum", n, own));
        infer_all();
        models[side] = net.model;
    }
    amp_layers_begin(models[0], models[1], &layers);
    layers_are_seen(&layers, models[0]);
    assert_int_equal(layers.count, 3);
    assert_int_equal(layers.n_unpaired[0], 0);
    assert_int_equal(layers.n_unpaired[1], 2);
    for (size_t i = 0; i < 3; i++) {
        const struct amp_layer *layer = &layers.items[i];
        bool is_sum = layer == layer_of(&layers, "sum");
        is_about(layer->error, is_sum ? 0 : 0.25);
        is_about(layer->before, i == 0 ? 0 : 0.25);
        assert_true(layer->has_local);
        is_about(amp_layers_relative_error(&layer->local), i == 0 ? 0.25 : 0);
        assert_int_equal(layer->local.count, 8);
    }
    amp_layers_free(&layers);
}

/* What has another shape cannot be compared as it is, but what its node makes of the reference's
   values can. */
static void layers_of_other_shapes_say_so(void **state)
{
    static const float two = 2;
    struct amp_layers layers;
    const struct amp_model *models[2];
    (void)state;
    for (int side = 0; side < 2; side++) {
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4));
        input("c", AMP_BOOL, SCALAR);
        struct amp_shape shape = side == 0 ? DIMS(1) : DIMS(1, 1);
        uint32_t m = NODE("Mul", "m", x, constant("f", AMP_FLOAT, shape, &two));
        output(NODE("Neg", "n", m));
        infer_all();
        models[side] = net.model;
    }
    amp_layers_begin(models[0], models[1], &layers);
    layers_are_seen(&layers, models[0]);
    const struct amp_layer *m = layer_of(&layers, "m"), *n = layer_of(&layers, "n");
    assert_false(m->has_local);
    assert_true(n->has_local && n->local.count == 8 && n->local.different == 0);
    assert_non_null(strstr(m->reason, "shape"));
    assert_non_null(strstr(n->reason, "shape"));
    assert_int_equal(n->accumulated.count, 0);
    amp_layers_free(&layers);
}

static enum amp_status load_worst(void *context, size_t sample, struct amp_tensor *inputs,
                                  struct amp_error *err)
{
    static const float samples[3][4] = {{1, 2, 8, 4}, {1, 2, 3, 4}, {5, 8, 1, 1}};
    (void)context;
    for (int i = 0; i < 2; i++)
        inputs[i] = (struct amp_tensor){.dtype = i == 0 ? AMP_FLOAT : AMP_BOOL,
                                        .shape = i == 0 ? DIMS(4) : SCALAR};
    AMP_TRY(amp_tensor_alloc(&inputs[0], err));
    AMP_TRY(amp_tensor_alloc(&inputs[1], err));
    memcpy(inputs[0].data, samples[sample], sizeof samples[sample]);
    *(bool *)inputs[1].data = true;
    return AMP_OK;
}

/* Three nodes that each add errors of their own, of which the second adds most: factors of 1.25, of
   2 and of 1.25 once more. The worst element is that of the sample that had it first. */
static void the_largest_jump_is_of_what_a_node_adds(void **state)
{
    struct amp_layers layers;
    const struct amp_model *models[2];
    (void)state;
    for (int side = 0; side < 2; side++) {
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4));
        input("c", AMP_BOOL, SCALAR);
        uint32_t a = NODE("Mul", "m", x, FLOATS("f", side == 0 ? 1 : 1.25f));
        uint32_t b = NODE("Mul", "n", a, FLOATS("g", side == 0 ? 1 : 2));
        uint32_t c = NODE("Mul", "o", b, FLOATS("h", side == 0 ? 1 : 1.25f));
        output(NODE("Mul", "p", c, FLOATS("k", 1)));
        amp_node_remove(net.model, node_of(NODE("Neg", "gone", x)));
        amp_graph_drop_removed(net.model);
        infer_all();
        models[side] = net.model;
    }
    amp_layers_begin(models[0], models[1], &layers);
    struct amp_validation result;
    struct amp_validate_options options = {.source = {.count = 3, .load = load_worst},
                                           .bounds = amp_metric_bounds_default(AMP_UNDEFINED),
                                           .runner = amp_layers_runner(&layers)};
    struct amp_error err = {.status = AMP_OK};
    has_own_clock = true;
    own_time = 1000;
    enum amp_status status = amp_validate(models[0], models[1], &options, &result, &err);
    has_own_clock = false;
    assert_int_equal(status, AMP_OK);
    for (int side = 0; side < 2; side++)
        assert_true(result.seconds[side] >= 1 && result.seconds[side] < 1000);
    amp_validation_free(&result);
    amp_layers_end(&layers);
    static const double errors[] = {0.25, 1.5, 2.125, 2.125};
    for (size_t i = 0; i < 4; i++) {
        const struct amp_layer *layer = layer_of(&layers, (const char[]){(char)('m' + i), '\0'});
        is_about(layer->error, errors[i]);
        is_about(layer->before, i == 0 ? 0 : errors[i - 1]);
        assert_int_equal(layer->worst.sample, 0);
        assert_int_equal(layer->worst.index, 2);
        assert_true(layer->worst.values[0] == 8);
        is_about(layer->worst.values[1], 8 * (1 + errors[i]));
        is_about(layer->worst.error, 8 * errors[i]);
    }
    assert_ptr_equal(&layers.items[layers.largest_jump], layer_of(&layers, "n"));
    amp_layers_free(&layers);
}

static void errors_are_shares(void **state)
{
    static const struct {
        struct amp_metrics metrics;
        double error;
    } rows[] = {{{.count = 0}, 0},
                {{.count = 8, .different = 2}, 0.25},
                {{.count = 8, .is_float = true, .different = 8}, INFINITY},
                {{.count = 8, .is_float = true, .different = 0}, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(amp_layers_relative_error(&rows[i].metrics) == rows[i].error);
}

static struct amp_model *one_node(const char *op_type, bool is_of_truth)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), c = input("c", AMP_BOOL, SCALAR);
    output(NODE(op_type, "y", is_of_truth ? c : x));
    infer_all();
    return net.model;
}

/* Values of one name that cannot be compared are none that models have in common. */
static void models_without_common_values_have_no_layers(void **state)
{
    struct amp_layers layers;
    struct amp_validation result;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    const struct amp_model *reference = one_node("Exp", false);
    one_node("Not", true);
    amp_layers_begin(reference, net.model, &layers);
    assert_int_equal(layers.count, 0);
    assert_true(layers.n_unpaired[0] == 1 && layers.n_unpaired[1] == 1);
    struct amp_validate_options options = {.source = {.count = 1, .load = load_scaled},
                                           .bounds = amp_metric_bounds_default(AMP_BFLOAT16),
                                           .runner = amp_layers_runner(&layers)};
    assert_int_equal(amp_validate(reference, net.model, &options, &result, &err), AMP_MODEL);
    assert_string_equal(err.text, "net.onnx and net.onnx have no value in common that nodes of "
                                  "both compute");
    amp_layers_free(&layers);
}

/* ---- times ----------------------------------------------------------------------------------- */

static size_t n_notes;

/* What runs take behind the first round. */
static void note_round(const void *context, size_t round, size_t n_rounds)
{
    assert_int_equal(round, ++n_notes);
    assert_int_equal(n_rounds, 4);
    durations = round == 1 ? context : durations;
}

/* Of four rounds, the median is the mean of those in the middle. A run of the second side that is
   short is taken again, and the second one counts. */
static void times_are_medians_of_turns(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, w[12] = {1};
    static const double behind[] = {0.05, 0.01, 0.002, 0.03, 0.3, 0.04, 0.021};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    net_start(22);
    output(NODE("MatMul", "y", input("x", AMP_FLOAT, DIMS(2, 3)),
                constant("w", AMP_FLOAT, DIMS(3, 4), w)));
    infer_all();
    const struct amp_tensor *inputs = net_tensor(AMP_FLOAT, DIMS(2, 3), x);
    struct amp_bench_side sides[2];
    for (int i = 0; i < 2; i++) /* of a dtype that machines have no product of */
        sides[i] =
            (struct amp_bench_side){.dtype = AMP_DOUBLE, .model = net.model, .inputs = inputs};
    struct amp_bench bench = {.sides = sides,
                              .n_sides = 2,
                              .n_runs = 4,
                              .strictness = AMP_ROUNDED,
                              .note = note_round,
                              .context = behind};
    n_notes = 0;
    has_own_clock = true;
    enum amp_status status = amp_bench_run(&bench, &err);
    has_own_clock = false;
    assert_string_equal(err.text, "");
    assert_int_equal(status, AMP_OK);
    assert_ptr_equal(durations, behind + COUNT(behind));
    durations = NULL;
    assert_int_equal(n_notes, 4);
    is_about(sides[0].median, 0.045);
    is_about(sides[0].minimum, 0.03);
    is_about(sides[1].median, (0.021 + 0.3) / 2);
    is_about(sides[1].minimum, 0.002);
    assert_true(bench.flops == 2 * 2 * 3 * 4);
    for (int i = 0; i < 2; i++) {
        assert_true(sides[i].roofline == 0 && sides[i].ratio == 0 && sides[i].profile == NULL);
        assert_true(sides[i].widened == 0 && sides[i].peak_bytes >= 8 * sizeof(float));
    }
    amp_bench_free(&bench);
}

/* ---- progress -------------------------------------------------------------------------------- */

static bool is_terminal;

/* In the place of the system's. */
int isatty(int file)
{
    struct termios settings;
    return is_terminal || tcgetattr(file, &settings) == 0;
}

/* What stands in FILE from *FROM on, as TEXT; the next call goes on behind it. */
static const char *read_on(FILE *file, long *from, char text[256])
{
    fflush(stderr);
    fseek(file, *from, SEEK_SET);
    text[fread(text, 1, 255, file)] = '\0';
    *from = ftell(file);
    return text;
}

/* Whether a timer is to write the line. */
static bool is_awaited(void)
{
    struct itimerval timer;
    assert_int_equal(getitimer(ITIMER_REAL, &timer), 0);
    return timer.it_value.tv_sec > 0 || timer.it_value.tv_usec > 0;
}

/* A second passes with each look at the clock, or as little of it as is said. */
static void progress_says_what_is_left(void **state)
{
    static const struct {
        size_t done, total;
        double passed; /* seconds */
        int owner;
        const char *line;
    } steps[] = {{1, 4, 0.5, 0, ""}, /* a stage of less than a second has no line */
                 {1, 4, 0.5, 0, "\r\033[Kwalk: 25 % (1 of 4), 3 s left"},
                 {2, 4, 0.1, 0, ""}, /* that is too soon */
                 {1, 31, 0.9, 0, "\r\033[Kwalk: 3 % (1 of 31), 1:00 left"},
                 {1, 1201, 1, 0, "\r\033[Kwalk: 0 % (1 of 1201), 1:00:00 left"},
                 {20, 317, 1, 0, "\r\033[Kwalk: 6 % (20 of 317), 59 s left"},
                 {1, 746, 1, 0, "\r\033[Kwalk: 0 % (1 of 746), 1:02:05 left"},
                 {1, 600, 1, 0, "\r\033[Kwalk: 0 % (1 of 600), 59:54 left"},
                 {5, 5, 1, 0, "\r\033[Kwalk: 100 % (5 of 5), 0 s left"},
                 {0, 5, 1, 0, ""},
                 {6, 5, 1, 0, ""},
                 {1, 5, 1, 1, ""}, /* another's parts */
                 {2, 4, 1, 0, "\r\033[Kwalk: 50 % (2 of 4), 11 s left"}};
    static const int owners[2];
    char text[256];
    long from = 0;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
    has_own_clock = true;
    durations = NULL;
    own_time = 1000;
    amp_progress_begin("nothing"); /* not on a terminal */
    amp_progress_step(&owners[0], 1, 2);
    amp_progress_clear();
    assert_string_equal(read_on(file, &from, text), "");
    is_terminal = true;
    amp_progress_begin("walk");
    assert_true(is_awaited());
    raise(SIGALRM);
    assert_string_equal(read_on(file, &from, text), "\rwalk ...");
    amp_progress_clear();
    amp_progress_clear();
    assert_string_equal(read_on(file, &from, text), "\r\033[K");
    for (size_t i = 0; i < AMP_COUNT(steps); i++) {
        own_time += steps[i].passed - 1;
        amp_progress_step(&owners[steps[i].owner], steps[i].done, steps[i].total);
        assert_string_equal(read_on(file, &from, text), steps[i].line);
        assert_int_equal(is_awaited(), i == 0);
    }
    amp_progress_begin("another");
    amp_progress_end();
    assert_false(is_awaited());
    amp_progress_step(&owners[0], 1, 2);
    amp_progress_end();
    assert_string_equal(read_on(file, &from, text), "\r\033[K");
    is_terminal = false;
    has_own_clock = false;
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_cast_and_outputs_compared),
        cmocka_unit_test(the_result_is_whole_when_outside),
        cmocka_unit_test(labels_count_for_both),
        cmocka_unit_test(models_that_do_not_match_are_refused),
        cmocka_unit_test(tolerance_is_that_of_numpy),
        cmocka_unit_test(the_worst_element_is_named),
        cmocka_unit_test(a_nan_is_the_worst),
        cmocka_unit_test(type_and_shape_come_first),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(the_worst_integer_is_named),
        cmocka_unit_test(strings_are_compared_by_bytes),
        cmocka_unit_test(complex_numbers_are_two_reals),
        cmocka_unit_test(small_floats_are_read_as_numbers),
        cmocka_unit_test(halves_have_a_wider_tolerance),
        NET_TEST(nodes_round_one_by_one),
        NET_TEST(each_output_must_be_within_its_tolerance),
        NET_TEST(labels_have_to_fit),
        NET_TEST(inputs_with_values_may_be_more),
        NET_TEST(outputs_are_good_or_bad),
        NET_TEST(error_powers_are_of_floats),
        NET_TEST(errors_are_followed_from_layer_to_layer),
        NET_TEST(the_first_overflow_and_nan_are_named),
        NET_TEST(what_draws_or_cannot_run_again_has_no_local_error),
        NET_TEST(comparisons_without_memory_are_refused),
        NET_TEST(nodes_of_one_model_are_run_on_what_both_have),
        NET_TEST(layers_of_other_shapes_say_so),
        NET_TEST(errors_are_shares),
        NET_TEST(the_largest_jump_is_of_what_a_node_adds),
        NET_TEST(outputs_behind_other_selections_are_given_the_references),
        NET_TEST(seconds_are_those_between_looks),
        NET_TEST(rows_of_class_scores_are_counted),
        NET_TEST(scores_must_be_within_their_bounds),
        NET_TEST(times_are_medians_of_turns),
        NET_TEST(models_without_common_values_have_no_layers),
        NET_TEST(scores_of_another_shape_are_not_counted),
        NET_TEST(steps_are_set_against_each_other),
        cmocka_unit_test(progress_says_what_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

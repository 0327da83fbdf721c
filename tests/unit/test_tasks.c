/*
 * Task metrics, labels and their bounds, with values computed by hand and those of scikit-learn's
 * documentation (r2_score, mean_absolute_error, mean_squared_error); and what a command of the
 * user's says of a model.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/class_scores.h"
#include "check/task/candidate.h"
#include "check/task/eval.h"
#include "check/task/labels.h"
#include "check/task/task_bounds.h"
#include "core/file/scratch.h"
#include "core/process/shell.h"
#include "onnx/file/read.h"
#include "onnx/file/write.h"
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next pipe cannot be made. */
static bool has_no_pipe;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
/* In the place of the system's. */
int pipe2(int ends[2], int flags)
{
    if (!has_no_pipe)
        return (int)syscall(SYS_pipe2, ends, flags);
    has_no_pipe = false;
    errno = EMFILE;
    return -1;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define DIMS(...)                                                                   \
    ((struct amp_shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
                        .dims = {__VA_ARGS__}})

static struct amp_tensor tensor_of(enum amp_dtype dtype, const void *data, struct amp_shape shape)
{
    union {
        const void *from;
        void *to;
    } pun = {data};
    return (struct amp_tensor){.dtype = dtype, .shape = shape, .data = pun.to};
}

static struct amp_labels labels_of(enum amp_dtype dtype, const void *data, struct amp_shape shape)
{
    return (struct amp_labels){.path = "l.npy", .tensor = tensor_of(dtype, data, shape)};
}

/* A task that has begun with LABELS. */
static struct amp_task begin(const struct amp_labels *labels)
{
    struct amp_task task;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_task_begin(&task, labels, &err), AMP_OK);
    task.name = "y";
    return task;
}

static void add(struct amp_task *task, int side, const float *data, struct amp_shape shape)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor tensor = tensor_of(AMP_FLOAT, data, shape);
    if (amp_task_add(task, side, &tensor, &err) != AMP_OK)
        fail_msg("%s", err.text);
}

static const struct amp_task_metric *metric_of(const char *name)
{
    for (size_t i = 0; amp_task_metric_at(i) != NULL; i++)
        if (strcmp(amp_task_metric_at(i)->name, name) == 0)
            return amp_task_metric_at(i);
    fail_msg("no metric %s", name);
    return NULL;
}

static bool is_defined(const struct amp_task_score *score, const char *name)
{
    return metric_of(name)->is_defined(score);
}

static void is_near(const struct amp_task_score *score, const char *name, double expected)
{
    double value = NAN;
    assert_true(amp_task_metric_value(metric_of(name), score, &value));
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%s is %.17g, expected %.17g", name, value, expected);
}

/* ---- classes ---- */

/* Of equal scores the first counts, as for NumPy's argmax; NaN and minus infinity are scores, but
   no NaN is the greatest. */
static void accuracy_takes_the_first_of_tied_scores(void **state)
{
    static const float scores[] = {2,         2,   1,         0,         3,   3,         5,
                                   5,         5,   1,         NAN,       1,   -INFINITY, -INFINITY,
                                   -INFINITY, NAN, -INFINITY, -INFINITY, NAN, NAN,       NAN};
    static const int64_t first[] = {0, 1, 0, 0, 0, 1, -1};
    struct amp_class_scores view;
    (void)state;
    for (size_t i = 0; i < COUNT(first); i++) {
        struct amp_tensor row = tensor_of(AMP_FLOAT, scores + 3 * i, DIMS(1, 3));
        assert_true(amp_class_scores_view(&row, &view));
        assert_int_equal(amp_class_scores_top(&row, &view, 0), first[i]);
        for (int64_t label = 0; label < 3; label++) {
            struct amp_labels labels = labels_of(AMP_INT64, &label, DIMS(1));
            struct amp_task task = begin(&labels);
            add(&task, 0, scores + 3 * i, DIMS(1, 3));
            assert_int_equal(task.scores[0].right, label == first[i]);
            assert_false(is_defined(&task.scores[0], "top5"));
        }
    }
}

/* Places by hand: a tie goes to the lower class, NaN is behind all. */
static void top5_counts_the_first_five(void **state)
{
    static const float scores[] = {
        9,         8,   7,   6, 5, 4, 3, /* 4 is fifth */
        9,         8,   7,   6, 5, 4, 3, /* 5 is sixth */
        1,         1,   1,   1, 1, 1, 1, /* 4 is fifth of equals */
        1,         1,   1,   1, 1, 1, 1, /* 5 is sixth of equals */
        NAN,       NAN, 0,   1, 2, 3, 4, /* 2 is fifth of five numbers */
        NAN,       NAN, NAN, 1, 2, 3, 4, /* 2 is NaN */
        -INFINITY, 5,   4,   3, 2, 1, 6, /* 0 is last */
        0,         0,   0,   0, 0, 0, 7, /* 6 is first */
        0,         0,   0,   0, 0, 0, 7, /* there is no class 7 */
        0,         0,   0,   0, 0, 0, 7, /* nor -1 */
    };
    static const int32_t classes[] = {4, 5, 4, 5, 2, 2, 0, 6, 7, -1};
    struct amp_labels labels = labels_of(AMP_INT32, classes, DIMS(COUNT(classes)));
    struct amp_task task = begin(&labels);
    (void)state;
    add(&task, 0, scores, DIMS(4, 7));
    add(&task, 0, scores + 28, DIMS(6, 7));
    assert_int_equal(task.scores[0].rows, 10);
    assert_int_equal(task.scores[0].right, 1);
    assert_int_equal(task.scores[0].right_of_5, 4);
    is_near(&task.scores[0], "accuracy", 0.1);
    is_near(&task.scores[0], "top5", 0.4);
    assert_false(is_defined(&task.scores[0], "rmse"));
    assert_false(is_defined(&task.scores[0], "eval"));
}

/* Five of five classes are all there are. */
static void five_classes_have_no_top5(void **state)
{
    static const float scores[] = {1, 2, 3, 4, 5, 6};
    static const int32_t one = 0;
    struct amp_labels labels = labels_of(AMP_INT32, &one, DIMS(1));
    struct amp_task five = begin(&labels), six = begin(&labels);
    (void)state;
    add(&five, 0, scores, DIMS(1, 5));
    assert_false(is_defined(&five.scores[0], "top5"));
    add(&six, 0, scores, DIMS(1, 6));
    is_near(&six.scores[0], "top5", 0);
}

static void labels_go_row_by_row(void **state)
{
    (void)state;
    const float scores[] = {0, 1, 5, 4, 2, 3};
    const uint8_t classes[] = {1, 0, 0};
    struct amp_error err = {.status = AMP_OK};
    struct amp_labels labels = labels_of(AMP_UINT8, classes, DIMS(3));
    struct amp_tensor more = tensor_of(AMP_FLOAT, scores, DIMS(1, 2));
    struct amp_task task = begin(&labels);
    add(&task, 0, scores, DIMS(2, 2));
    assert_int_equal(amp_task_check(&task, 0, &err), AMP_MODEL);
    assert_string_equal(err.text, "3 labels; the samples have 2 rows of scores");
    err = (struct amp_error){.status = AMP_OK};
    add(&task, 0, scores, DIMS(1, 2));
    assert_int_equal(amp_task_check(&task, 0, &err), AMP_OK);
    assert_int_equal(task.scores[0].right, 2); /* 1 and 0 are, 1 for 0 is not */
    assert_int_equal(amp_task_add(&task, 0, &more, &err), AMP_MODEL);
    assert_string_equal(err.text, "3 labels; the samples have 4 rows of scores or more");
}

/* ---- targets ---- */

static void regression_is_what_scikit_learn_says(void **state)
{
    static const double t[] = {3, -0.5, 2, 7};
    static const float y[] = {2.5f, 0, 2, 8};
    struct amp_labels labels = labels_of(AMP_DOUBLE, t, DIMS(4));
    struct amp_task task = begin(&labels), by_row = begin(&labels);
    (void)state;
    add(&task, 0, y, DIMS(4, 1));
    is_near(&task.scores[0], "rmse", 0.61237243569579447); /* sqrt(0.375) */
    is_near(&task.scores[0], "mae", 0.5);
    is_near(&task.scores[0], "r2", 0.94860813704496794);
    assert_false(is_defined(&task.scores[0], "accuracy"));
    for (int i = 0; i < 4; i++)
        add(&by_row, 0, y + i, DIMS(1));
    assert_memory_equal(&by_row.scores[0], &task.scores[0], sizeof task.scores[0]);
}

/* multioutput='variance_weighted' */
static void each_column_has_its_mean(void **state)
{
    static const float t[] = {0.5f, 1, -1, 1, 7, -6}, y[] = {0, 2, -1, 2, 8, -5};
    struct amp_labels labels = labels_of(AMP_FLOAT, t, DIMS(3, 2));
    struct amp_task task = begin(&labels), rows = begin(&labels);
    (void)state;
    add(&task, 1, y, DIMS(3, 2));
    is_near(&task.scores[1], "rmse", 0.84162541153017324); /* sqrt(0.708333...) */
    is_near(&task.scores[1], "mae", 0.75);
    is_near(&task.scores[1], "r2", 0.93825665859564167);
    for (int i = 0; i < 3; i++)
        add(&rows, 1, y + (ptrdiff_t)2 * i, DIMS(2)); /* a sample is a row */
    assert_memory_equal(&rows.scores[1], &task.scores[1], sizeof task.scores[1]);
}

static void targets_without_spread_have_no_r2(void **state)
{
    static const double t[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    static const float y[] = {0.125f, 0.2f, 0.1f, 0, 0, 0};
    struct amp_labels labels = labels_of(AMP_DOUBLE, t, DIMS(6)), one = labels;
    (void)state;
    struct amp_task task = begin(&labels);
    add(&task, 0, y, DIMS(6));
    assert_false(is_defined(&task.scores[0], "r2"));
    assert_true(is_defined(&task.scores[0], "rmse"));
    one.tensor.shape = DIMS(1);
    task = begin(&one);
    add(&task, 0, y, DIMS(1));
    assert_false(is_defined(&task.scores[0], "r2"));
    is_near(&task.scores[0], "rmse", 0.025);
}

/* Targets have their spread before any output comes. */
static void nothing_is_defined_of_no_outputs(void **state)
{
    static const char *const names[] = {"accuracy", "top5", "rmse", "mae", "r2", "eval"};
    static const float t[] = {1, 2};
    struct amp_labels labels = labels_of(AMP_FLOAT, t, DIMS(2));
    struct amp_task task = begin(&labels);
    (void)state;
    assert_true(task.scores[0].spread > 0);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_false(is_defined(&task.scores[0], names[i]));
    add(&task, 0, t, DIMS(2));
    is_near(&task.scores[0], "r2", 1);
}

static void outputs_that_are_nan_show(void **state)
{
    static const float t[] = {1, 2}, y[] = {1, NAN};
    struct amp_labels labels = labels_of(AMP_FLOAT, t, DIMS(2));
    struct amp_task task = begin(&labels);
    double value;
    (void)state;
    add(&task, 0, y, DIMS(2));
    assert_true(amp_task_metric_value(metric_of("rmse"), &task.scores[0], &value) && isnan(value));
    assert_true(amp_task_metric_value(metric_of("r2"), &task.scores[0], &value) && isnan(value));
}

static void targets_must_be_finite(void **state)
{
    static const float t[] = {1, INFINITY};
    struct amp_labels labels = labels_of(AMP_FLOAT, t, DIMS(2)), scalar = labels;
    struct amp_task task;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_task_begin(&task, &labels, &err), AMP_MODEL);
    assert_string_equal(err.text, "l.npy: target 1 is inf; finite numbers are needed");
    err = (struct amp_error){.status = AMP_OK};
    scalar.tensor.shape = (struct amp_shape){.rank = 0};
    assert_int_equal(amp_task_begin(&task, &scalar, &err), AMP_MODEL);
    assert_string_equal(err.text, "l.npy: targets of no dims; [rows, ...] is needed");
}

static const char *name_at(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

/* The output that LABELS are for, of an image, class scores, numbers and triples, behind integers
   and a list, which they are never for; -1: none, of which SAID is what is said. */
static int chosen(const struct amp_labels *labels, const char *said)
{
    enum { OTHERS = 2 };
    static const char *const names[] = {"counts", "list", "image", "scores", "numbers", "triples"};
    struct amp_tensor outputs[] = {
        tensor_of(AMP_INT32, NULL, DIMS(2, 1)),       tensor_of(AMP_FLOAT, NULL, DIMS(2)),
        tensor_of(AMP_FLOAT, NULL, DIMS(2, 3, 8, 8)), tensor_of(AMP_FLOAT, NULL, DIMS(2, 10)),
        tensor_of(AMP_FLOAT, NULL, DIMS(2, 1)),       tensor_of(AMP_FLOAT16, NULL, DIMS(2, 1, 3))};
    struct amp_task task = {.labels = labels};
    struct amp_error err = {.status = AMP_OK};
    outputs[1].form = AMP_FORM_SEQUENCE;
    enum amp_status status = amp_task_choose(
        &task, &(struct amp_task_outputs){outputs, COUNT(outputs), name_at, names}, &err);
    assert_int_equal(status, task.name == NULL ? AMP_MODEL : AMP_OK);
    assert_string_equal(err.text, said);
    if (task.name == NULL)
        return -1;
    assert_string_equal(task.name, names[task.output]);
    return (int)task.output - OTHERS;
}

static void labels_find_their_output(void **state)
{
    static const float zeros[4 * 3 * 8 * 8];
    static const struct {
        enum amp_dtype dtype;
        struct amp_shape shape;
        const char *name;
        int output;
        const char *said;
    } cases[] = {
        {AMP_INT64, {1, {2}}, NULL, 1, NULL},
        {AMP_INT64, {1, {2}}, "numbers", 2, NULL}, /* refused when its rows come */
        {AMP_INT64, {1, {2}}, "number", -1, "l.npy: no output 'number'"},
        {AMP_FLOAT, {1, {4}}, "number", -1, "l.npy: no output 'number'"},
        {AMP_FLOAT, {1, {4}}, NULL, 2, NULL},
        {AMP_FLOAT, {2, {4, 1}}, NULL, 2, NULL},
        {AMP_FLOAT, {2, {4, 3}}, NULL, 3, NULL},
        {AMP_FLOAT, {3, {4, 3, 1}}, NULL, 3, NULL},
        {AMP_FLOAT, {2, {4, 10}}, NULL, 1, NULL},
        {AMP_FLOAT, {4, {1, 3, 8, 8}}, NULL, 0, NULL},
        {AMP_FLOAT, {3, {1, 2, 3}}, NULL, 3, NULL}, /* the whole of it is a row */
        {AMP_FLOAT,
         {2, {4, 5}},
         NULL,
         -1,
         "no output has rows like those of --labels l.npy, shape [4, 5] (class numbers are "
         "integers)"},
        {AMP_FLOAT,
         {2, {4, 8}},
         NULL,
         -1,
         "no output has rows like those of --labels l.npy, shape [4, 8] (class numbers are "
         "integers)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_labels labels = labels_of(cases[i].dtype, zeros, cases[i].shape);
        labels.output = cases[i].name;
        const char *said = cases[i].said != NULL ? cases[i].said : "";
        if (chosen(&labels, said) != cases[i].output)
            fail_msg("case %zu: output %d", i, chosen(&labels, said));
    }
    const struct amp_labels classes = labels_of(AMP_INT64, zeros, DIMS(2));
    struct amp_tensor image = tensor_of(AMP_FLOAT, NULL, DIMS(2, 3, 8, 8));
    struct amp_task task = {.labels = &classes};
    struct amp_error err = {.status = AMP_OK};
    const struct amp_task_outputs outputs = {&image, 1, name_at, (const char *const[]){"image"}};
    assert_int_equal(amp_task_choose(&task, &outputs, &err), AMP_MODEL);
    assert_string_equal(err.text, "no output looks like class scores for --labels");
}

static void rows_of_targets_are_counted(void **state)
{
    static const float t[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 2, 3, 4};
    struct amp_labels labels = labels_of(AMP_FLOAT, t, DIMS(3, 2));
    struct amp_task task = begin(&labels);
    struct amp_tensor more = tensor_of(AMP_FLOAT, y, DIMS(2, 2)),
                      other = tensor_of(AMP_FLOAT, y, DIMS(4, 1));
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    add(&task, 0, y, DIMS(2, 2));
    assert_int_equal(amp_task_check(&task, 0, &err), AMP_MODEL);
    assert_string_equal(err.text, "3 rows of targets; the samples have 2");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_task_add(&task, 0, &more, &err), AMP_MODEL);
    assert_string_equal(err.text, "3 rows of targets; the samples have 4 or more");
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_task_add(&task, 0, &other, &err), AMP_MODEL);
    assert_string_equal(err.text, "l.npy: rows of another shape than those of output 'y', [4, 1]");
}

/* ---- bounds ---- */

/* What is said of values BEFORE and AFTER of the metric that BOUND is on. */
static const char *judged(const char *bound, const char *text, double before, double after)
{
    static struct amp_error err;
    struct amp_task_bounds bounds = {.items = {{.is_set = false}}};
    const struct amp_task_metric *metric = amp_task_metric_find(bound);
    struct amp_task_score scores[2] = {{.is_scored = true, .score = before},
                                       {.is_scored = true, .score = after}};
    err = (struct amp_error){.status = AMP_OK};
    scores[0].is_lower_better = scores[1].is_lower_better = strchr(text, '<') != NULL;
    text += scores[0].is_lower_better;
    if (strcmp(bound, "accuracy-drop") == 0) /* parts of 1000 */
        for (int i = 0; i < 2; i++)
            scores[i] = (struct amp_task_score){
                .rows = 1000, .right = (uint64_t)lround(1000 * (i == 0 ? before : after))};
    if (strcmp(bound, "rmse-rise") == 0)
        for (int i = 0; i < 2; i++)
            scores[i] = (struct amp_task_score){
                .count = 1, .squared = (i == 0 ? before : after) * (i == 0 ? before : after)};
    if (amp_task_bounds_set(&bounds, metric, text, &err) == AMP_OK)
        AMP_IGNORE(amp_task_bounds_check(&bounds, scores, &err));
    return err.text;
}

static void bounds_are_on_what_is_lost(void **state)
{
    static const struct {
        const char *bound, *most;
        double before, after;
        const char *said;
    } cases[] = {
        {"accuracy-drop", "1%", 0.99, 0.98, ""}, /* 0.99 - 0.98 > 0.01 in binary */
        {"accuracy-drop", "0.01", 0.99, 0.98, ""},
        {"accuracy-drop", "1%", 0.99, 0.979,
         "accuracy-drop 1.1 % (0.99 to 0.979); at most 1 % allowed"},
        {"accuracy-drop", "0", 0.5, 0.6, ""},
        {"accuracy-drop", "0", 0.5, 0.5, ""},
        {"accuracy-drop", "-1%", 0.5, 0.5, "accuracy-drop 0 % (0.5 to 0.5); at most -1 % allowed"},
        {"rmse-rise", "1%", 2, 2.02, ""},
        {"rmse-rise", "1%", 2, 2.03, "rmse-rise 1.5 % (2 to 2.03); at most 1 % allowed"},
        {"rmse-rise", "0.5", 2, 2.5, ""},
        {"rmse-rise", "0.5", 2, 2.75, "rmse-rise 0.75 (2 to 2.75); at most 0.5 allowed"},
        {"rmse-rise", "50%", 0, 0, ""},
        {"rmse-rise", "50%", 0, 0.5, "rmse-rise inf % (0 to 0.5); at most 50 % allowed"},
        {"rmse-rise", "50%", 1, NAN, "rmse-rise nan % (1 to nan); at most 50 % allowed"},
        {"eval-drop", "1%", 200, 198, ""},
        {"eval-drop", "1%", 200, 197, "eval-drop 1.5 % (200 to 197); at most 1 % allowed"},
        {"eval-drop", "1%", -200, -202, ""},
        {"eval-drop", "1%", -200, -203, "eval-drop 1.5 % (-200 to -203); at most 1 % allowed"},
        {"eval-drop", "<1", 5, 4, ""},
        {"eval-drop", "<1", 5, 6.5, "eval-drop 1.5 (5 to 6.5); at most 1 allowed"},
        {"eval-drop", "x", 0, 0, "the tolerance of eval-drop: 'x' is no number and no percentage"},
        {"eval-drop", "1%%", 0, 0,
         "the tolerance of eval-drop: '1%%' is no number and no percentage"},
        {"eval-drop", "%", 0, 0, "the tolerance of eval-drop: '%' is no number and no percentage"},
        {"eval-drop", "nan", 0, 0,
         "the tolerance of eval-drop: 'nan' is no number and no percentage"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(judged(cases[i].bound, cases[i].most, cases[i].before, cases[i].after),
                            cases[i].said);
}

static void a_value_that_is_missing_is_outside(void **state)
{
    struct amp_task_bounds bounds = {.items = {{.is_set = false}}};
    struct amp_task_score scores[2] = {{.rows = 2, .right = 1}, {.rows = 0}};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_task_bounds_check(&bounds, scores, &err), AMP_OK);
    assert_int_equal(amp_task_bounds_set(&bounds, metric_of("accuracy"), "100%", &err), AMP_OK);
    assert_int_equal(amp_task_bounds_check(&bounds, scores, &err), AMP_MISMATCH);
    assert_string_equal(err.text, "accuracy-drop: the converted model has no value of it");
}

/* ---- commands ---- */

static void the_last_line_is_kept(void **state)
{
    static const struct {
        const char *command, *line;
        bool is_cut;
    } cases[] = {
        {"true", "", false},
        {"echo 1; echo 2", "2", false},
        {"printf '1\\n2'", "2", false},
        {"printf '1\\n2\\n\\n  \\n'", "2", false},
        {"printf '1\\0002\\n'", "1?2", false},
        {"printf ' 1\\t\\n'", " 1\t", false},
        {"seq 100000", "100000", false},
        {"printf %0255d 7", NULL, false},
        {"printf %0256d 7", NULL, true},
        {"head -c 3000000 /dev/zero; echo; echo 5", "5", false},
        {"echo 5; head -c 3000000 /dev/zero", NULL, true},
        {"exec >&-; sleep 0.1", "", false},
        {"printf '  \\n'", "", false},
        {"printf 1; sleep 0.1; echo 23", "123", false},
        {"echo $X", "a b", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_shell_call call = {
            .command = cases[i].command, .variable = "X", .text = "a b", .timeout = 60};
        struct amp_shell_result result;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_shell_run(&call, &result, &err), AMP_OK);
        assert_int_equal(result.end, AMP_SHELL_EXITED);
        assert_int_equal(result.number, 0);
        assert_int_equal(result.is_cut, cases[i].is_cut);
        if (cases[i].line != NULL)
            assert_string_equal(result.line, cases[i].line);
        else
            assert_int_equal(strlen(result.line), sizeof result.line - 1);
    }
}

static void commands_end_in_many_ways(void **state)
{
    static const struct {
        const char *command;
        enum amp_shell_end end;
        int number;
    } cases[] = {
        {"exit 7", AMP_SHELL_EXITED, 7},
        {"exit 125", AMP_SHELL_EXITED, 125},
        {"kill -9 $$", AMP_SHELL_SIGNALLED, 9},
        {"kill -TERM 0; sleep 60", AMP_SHELL_SIGNALLED, 15},
        {"sleep 60", AMP_SHELL_TIMED_OUT, 0},
        {"trap '' TERM; while :; do :; done", AMP_SHELL_TIMED_OUT, 0},
        {"kill -STOP $$", AMP_SHELL_TIMED_OUT, 0},
        {"sleep 60 & exit 3", AMP_SHELL_EXITED, 3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_shell_call call = {
            .command = cases[i].command, .variable = "X", .text = "", .timeout = 0.2};
        struct amp_shell_result result;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_shell_run(&call, &result, &err), AMP_OK);
        assert_int_equal(result.end, cases[i].end);
        assert_int_equal(result.number, cases[i].number);
        assert_true(result.seconds < 20);
    }
}

/* What CALL prints last, of a command that ends by itself. */
static const char *said_by(const struct amp_shell_call *call)
{
    static struct amp_shell_result result;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_shell_run(call, &result, &err), AMP_OK);
    assert_int_equal(result.end, AMP_SHELL_EXITED);
    assert_int_equal(result.number, 0);
    return result.line;
}

/* Commands have the environment of this process but for one variable, which they have once, the
   input that they are given or none, and signals as they usually are. */
static void commands_start_as_usual(void **state)
{
    static const struct {
        const char *command, *line;
    } cases[] = {{"echo $X", "new"},
                 {"env | grep -c ^X=", "1"},
                 {"echo $XY", "kept"},
                 {"echo $X_", "kept too"},
                 {"cat", ""},
                 {"echo; cat", ""},
                 {"echo \"$0 $#\"", "sh 0"}};
    struct amp_shell_call call = {.variable = "X", .text = "new", .timeout = 60};
    struct amp_shell_result result;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(setenv("X", "old", 1), 0);
    assert_int_equal(setenv("XY", "kept", 1), 0);
    assert_int_equal(setenv("X_", "kept too", 1), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        call.command = cases[i].command;
        assert_string_equal(said_by(&call), cases[i].line);
    }
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 8];
    scratch_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/given", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("one\ntwo\n", file);
    fclose(file);
    /* All of it, from the first variable on; and no descriptor stays or goes. */
    char first[256], command[512];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(environ[0], "="), environ[0]);
    snprintf(command, sizeof command, "env | grep -c '^%s='", first);
    int next = dup(STDIN_FILENO);
    close(next);
    call.command = command;
    assert_string_equal(said_by(&call), "1");
    int after = dup(STDIN_FILENO);
    assert_int_equal(after, next);
    close(after);
    call.timeout = 0; /* none */
    call.command = "sleep 0.05; echo later";
    assert_string_equal(said_by(&call), "later");
    call.command = "cat";
    call.input = path;
    assert_string_equal(said_by(&call), "two");
    call.input = NULL;
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    call.command = "kill -XFSZ $$";
    assert_int_equal(amp_shell_run(&call, &result, &err), AMP_OK);
    assert_int_equal(result.end, AMP_SHELL_SIGNALLED);
    assert_int_equal(result.number, SIGXFSZ);
    assert_true(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    unsetenv("X");
    unsetenv("XY");
    unsetenv("X_");
}

/* A command whose time is over may say something before it ends. */
static void commands_are_asked_to_end(void **state)
{
    struct amp_shell_call call = {.command = "trap 'echo bye; exit' TERM; sleep 600 & wait",
                                  .variable = "X",
                                  .text = "",
                                  .timeout = 2,
                                  .grace_ms = 60000};
    struct amp_shell_result result;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_shell_run(&call, &result, &err), AMP_OK);
    assert_int_equal(result.end, AMP_SHELL_TIMED_OUT);
    assert_string_equal(result.line, "bye");
    assert_true(result.seconds >= 2 && result.seconds < 60);

    /* The end is waited for of the command that says no more, and of those that it has left. */
    char folder[SCRATCH_MAX];
    scratch_folder(folder, sizeof folder);
    call.text = folder;
    call.command = "trap 'sleep 0.2; rmdir $X; exit' TERM; exec >&-; sleep 600 & wait";
    assert_int_equal(amp_shell_run(&call, &result, &err), AMP_OK);
    assert_int_equal(result.end, AMP_SHELL_TIMED_OUT);
    assert_int_not_equal(access(folder, F_OK), 0);
    assert_true(result.seconds < 60);
    call.command = "trap exit TERM; (trap 'sleep 0.2; echo late; exit' TERM; sleep 600 & wait) & "
                   "wait";
    assert_int_equal(amp_shell_run(&call, &result, &err), AMP_OK);
    assert_int_equal(result.end, AMP_SHELL_TIMED_OUT);
    assert_string_equal(result.line, "late");
}

/* What COMMAND says of a model at PATH, as text. */
static const char *evaluated(const char *command, const char *path)
{
    static char text[1024];
    static const char *const verdicts[] = {"none", "scored", "passed", "failed", "unsure"};
    struct amp_eval eval = {.command = command, .timeout = 60};
    struct amp_eval_outcome outcome;
    struct amp_error err = {.status = AMP_OK};
    if (amp_eval_run(&eval, path, &outcome, &err) != AMP_OK)
        return memcpy(text, err.text, sizeof text - 1);
    if (outcome.verdict == AMP_EVAL_SCORED)
        snprintf(text, sizeof text, "%g", outcome.score);
    else
        snprintf(text, sizeof text, "%s%s%s", verdicts[outcome.verdict],
                 outcome.reason[0] ? ": " : "", outcome.reason);
    return text;
}

static void commands_judge_models(void **state)
{
    static const struct {
        const char *command, *said;
    } cases[] = {
        {"echo 0.5", "0.5"},
        {"echo ' -1e3 '", "-1000"},
        {"printf '2\\r\\n'", "2"},
        {"true", "passed"},
        {"echo", "passed"},
        {"echo accuracy: 0.5", "passed"},
        {"echo 0.5 ok", "passed"},
        {"echo 1e999", "failed: a score that is not finite: 1e999"},
        {"echo inf", "failed: a score that is not finite: inf"},
        {"echo NaN", "failed: a score that is not finite: NaN"},
        {"exit 1", "failed: exit code 1"},
        {"echo 0.5; exit 124", "failed: exit code 124; its last line: '0.5'"},
        {"exit 125", "unsure: exit code 125, it cannot tell"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(evaluated(cases[i].command, "m.onnx"), cases[i].said);
    assert_non_null(strstr(evaluated("exit 126", "m.onnx"), "--eval: exit code 126"));
    has_no_pipe = true;
    assert_string_equal(evaluated("true", "m.onnx"), "/bin/sh: cannot start: Too many open files");
    assert_non_null(strstr(evaluated("kill -9 $$", "m.onnx"), "ended by signal 9"));
}

/* The path stands in {} and in the variable; as a word of the shell's, whatever is in it. */
static void commands_get_the_path(void **state)
{
    static const char *const paths[] = {"/a/b.onnx", "/a b/c'd\"$HOME`e`\\.onnx", "/{}/*"};
    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++) {
        assert_string_equal(evaluated("[ {} = \"$AMPCONV_MODEL\" ]", paths[i]), "passed");
        setenv("EXPECTED", paths[i], 1);
        assert_string_equal(evaluated("[ {} = \"$EXPECTED\" ] && [ {} = {} ]", paths[i]), "passed");
    }
    assert_string_equal(evaluated("[ \"{}\" = '{}' ] && [ '{}' = /a/b.onnx ]", "/a/b.onnx"),
                        "passed");
    assert_string_equal(evaluated("[ {} = \"$PWD\"/x.onnx ]", "x.onnx"), "passed");
}

/* ---- two models ---- */

/* Bounds with one on the score, MOST; none where that is NULL. */
static struct amp_task_bounds score_bounds(const char *most)
{
    struct amp_task_bounds bounds = {.items = {{.is_set = false}}};
    struct amp_error err = {.status = AMP_OK};
    if (most != NULL)
        assert_int_equal(
            amp_task_bounds_set(&bounds, amp_task_metric_find("eval-drop"), most, &err), AMP_OK);
    return bounds;
}

static void references_have_to_pass(void **state)
{
    static const struct {
        const char *command, *most, *said; /* said NULL: it begins, scored where there is a most */
    } cases[] = {
        {"echo 5", "1", NULL},
        {"echo 5", NULL, NULL},
        {"true", NULL, NULL},
        {"exit 1", NULL, "--eval: the command does not pass the model as it was: exit code 1"},
        {"exit 125", NULL,
         "--eval: the command does not pass the model as it was: exit code 125, it cannot tell"},
        {"true", "1",
         "--eval: there is a bound on the score, and the last line that the command printed is no "
         "number"},
        {"kill -9 $$", NULL, "--eval: the command was ended by signal 9 (Killed)"},
        {"exit 126", NULL,
         "--eval: exit code 126: the command was not found or ended by a signal, or wants all to "
         "stop; 0 to 125 are judged"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_eval eval = {.command = cases[i].command, .timeout = 60};
        struct amp_task_bounds bounds = score_bounds(cases[i].most);
        struct amp_eval_check check;
        struct amp_error err = {.status = AMP_OK};
        enum amp_status status = amp_eval_reference(&eval, &bounds, "m.onnx", &check, &err);
        assert_int_equal(status, cases[i].said == NULL ? AMP_OK : AMP_IO);
        assert_string_equal(err.text, cases[i].said != NULL ? cases[i].said : "");
        if (status != AMP_OK)
            continue;
        bool is_scored = strcmp(cases[i].command, "echo 5") == 0;
        assert_int_equal(check.scores[0].is_scored, is_scored);
        assert_true(!is_scored || check.scores[0].score == 5);
        assert_ptr_equal(check.eval.command, cases[i].command);
    }
}

static void references_may_be_known(void **state)
{
    static const char bound[] = "there is a bound on the score: a number is needed";
    static const char number[] = "a score or passed is needed";
    static const struct {
        const char *text, *most, *said;
    } cases[] = {{"0.5", "1", NULL},     {"-1e3", NULL, NULL},     {"passed", NULL, NULL},
                 {"passed", "1", bound}, {"inf", NULL, number},    {"nan", NULL, number},
                 {"inf", "1", bound},    {"0.5 ", NULL, number},   {"0.5x", NULL, number},
                 {"", NULL, number},     {"failed", NULL, number}, {"", "1", bound}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_eval eval = {.command = "false", .timeout = 60, .is_lower_better = i % 2 == 0};
        struct amp_task_bounds bounds = score_bounds(cases[i].most);
        struct amp_eval_check check;
        struct amp_error err = {.status = AMP_OK};
        char said[128] = "";
        enum amp_status status =
            amp_eval_reference_known(&eval, &bounds, cases[i].text, &check, &err);
        if (cases[i].said != NULL)
            snprintf(said, sizeof said, "--eval-reference %s: %s", cases[i].text, cases[i].said);
        assert_string_equal(err.text, said);
        assert_int_equal(status, cases[i].said == NULL ? AMP_OK : AMP_USAGE);
        if (status != AMP_OK)
            continue;
        bool is_scored = strcmp(cases[i].text, "passed") != 0;
        assert_int_equal(check.outcomes[0].verdict, is_scored ? AMP_EVAL_SCORED : AMP_EVAL_PASSED);
        assert_int_equal(check.scores[0].is_scored, is_scored);
        assert_int_equal(check.scores[0].is_lower_better, i % 2 == 0);
        assert_true(check.scores[0].score == (is_scored ? atof(cases[i].text) : 0));
    }
}

static void candidates_are_set_against_the_reference(void **state)
{
    static const struct {
        const char *reference, *most;
        bool is_lower_better;
        const char *command, *reason;
        enum amp_status status;
    } cases[] = {
        {"5", "1", false, "echo 4", "", AMP_OK},
        {"5", "0.5", false, "echo 4", "eval-drop 1 (5 to 4); at most 0.5 allowed", AMP_MISMATCH},
        {"5", "0.5", true, "echo 4", "", AMP_OK},
        {"5", NULL, false, "echo 4", "", AMP_OK},
        {"5", NULL, false, "exit 3", "exit code 3", AMP_MISMATCH},
        {"5", NULL, false, "exit 125", "exit code 125, it cannot tell", AMP_MISMATCH},
        {"5", NULL, false, "true", "a score for the model before conversion alone", AMP_MISMATCH},
        {"passed", NULL, false, "echo 5", "a score for the model after conversion alone",
         AMP_MISMATCH},
        {"passed", NULL, false, "true", "", AMP_OK},
        {"passed", NULL, false, "exit 126", "", AMP_IO},
    };
    struct amp_eval_check check;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_eval eval = {
            .command = "false", .timeout = 60, .is_lower_better = cases[i].is_lower_better};
        struct amp_task_bounds bounds = score_bounds(cases[i].most);
        struct amp_error err = {.status = AMP_OK};
        char said[128] = "";
        assert_int_equal(amp_eval_reference_known(&eval, &bounds, cases[i].reference, &check, &err),
                         AMP_OK);
        check.eval.command = cases[i].command;
        strcpy(check.reason, cases[i].status == AMP_IO ? "" : "of another candidate");
        assert_int_equal(amp_eval_candidate(&check, "m.onnx", &err), cases[i].status);
        assert_string_equal(check.reason, cases[i].reason);
        if (cases[i].status == AMP_IO)
            continue;
        assert_int_equal(check.is_outside, cases[i].status != AMP_OK);
        if (check.is_outside)
            snprintf(said, sizeof said, "outside tolerance: --eval: %s", cases[i].reason);
        assert_string_equal(err.text, said);
    }
}

/* ---- files for the command ---- */

static bool is_there(const char *folder, const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* The data lie beside the model as they will, in folders of their own; a file of data that is
   called as the model is keeps its name. */
static void candidates_lie_as_they_will(void **state)
{
    static const char *const cases[][3] = {{"m.onnx", "w.data", "model.onnx"},
                                           {"out/m.onnx", "a/b/w.data", "model.onnx"},
                                           {"m.onnx", "model.onnx", "_model.onnx"},
                                           {"m.onnx", NULL, "model.onnx"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct amp_model_file file = {.model = NULL};
        struct amp_error err = {.status = AMP_OK};
        const struct amp_placement_options options = {
            .path = cases[i][0], .data_name = cases[i][1], .threshold = 1000};
        struct amp_placement *placement;
        const char *path;
        assert_int_equal(amp_model_read("models/digits_cnn.onnx", &file, &err), AMP_OK);
        assert_int_equal(amp_model_prepare(file.model, &options, &placement, &err), AMP_OK);
        assert_int_equal(amp_candidate_write(file.model, placement, &path, &err), AMP_OK);
        char folder[4096];
        snprintf(folder, sizeof folder, "%s", path);
        char *slash = strrchr(folder, '/');
        assert_string_equal(slash + 1, cases[i][2]);
        *slash = '\0';
        assert_true(is_there(folder, cases[i][2]));
        assert_true(cases[i][1] == NULL || is_there(folder, cases[i][1]));
        amp_candidate_remove();
        assert_false(is_there(folder, "."));
        amp_model_close(&file);
    }
}

/* All that is in a folder for temporary files goes with it, and nothing that links lead to. */
static void scratch_goes_with_what_is_in_it(void **state)
{
    char outside[SCRATCH_MAX], command[5 * SCRATCH_MAX];
    const char *folder, *again;
    struct amp_error err = {.status = AMP_OK};
    struct stat info;
    (void)state;
    scratch_folder(outside, sizeof outside);
    snprintf(command, sizeof command, "echo kept >%s/kept", outside);
    assert_int_equal(system(command), 0);
    assert_int_equal(amp_scratch_open(&folder, &err), AMP_OK);
    assert_int_equal(stat(folder, &info), 0);
    assert_true(S_ISDIR(info.st_mode) && (info.st_mode & 0777) == 0700);
    char before[4096];
    snprintf(before, sizeof before, "%s", folder);
    snprintf(command, sizeof command,
             "cd %s && mkdir -p a/b/c d && ln -s %s link && ln -s none dangling && for i in "
             "$(seq 1500); do echo $i >a/b/some-name-that-is-not-short-$i; done && echo >a/b/c/x",
             folder, outside);
    assert_int_equal(system(command), 0);
    amp_scratch_close();
    assert_int_not_equal(lstat(before, &info), 0);
    assert_true(is_there(outside, "kept"));
    amp_scratch_close();                             /* there is none any more */
    for (int depth = 60; depth <= 70; depth += 10) { /* what is nested too deep for it stays */
        assert_int_equal(amp_scratch_open(&again, &err), AMP_OK);
        snprintf(before, sizeof before, "%s", again);
        snprintf(command, sizeof command, "cd %s && mkdir -p $(seq -s / %d)", again, depth);
        assert_int_equal(system(command), 0);
        amp_scratch_close();
        assert_int_equal(lstat(before, &info) == 0, depth == 70);
        snprintf(command, sizeof command, "rm -rf %s", before);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(amp_scratch_open(&again, &err), AMP_OK);
    assert_int_equal(stat(again, &info), 0);
    assert_string_not_equal(again, before);
    amp_scratch_close();
    snprintf(command, sizeof command, "rm -r %s", outside);
    assert_int_equal(system(command), 0);
}

/* $TMPDIR counts where it is set to something. */
static void scratch_lies_where_it_is_wanted(void **state)
{
    static const char *const values[] = {NULL, "", "/none/such", "/dev/null"};
    static const char *const said[] = {
        NULL, NULL,
        "a folder for temporary files in $TMPDIR cannot be created: No such file or directory",
        "a folder for temporary files in $TMPDIR cannot be created: Not a directory"};
    const char *folder, *is_set = getenv("TMPDIR");
    char *before = is_set != NULL ? strdup(is_set) : NULL;
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        struct amp_error err = {.status = AMP_OK};
        unsetenv("TMPDIR");
        if (values[i] != NULL)
            setenv("TMPDIR", values[i], 1);
        enum amp_status status = amp_scratch_open(&folder, &err);
        assert_int_equal(status, said[i] == NULL ? AMP_OK : AMP_IO);
        assert_string_equal(err.text, said[i] != NULL ? said[i] : "");
        if (status != AMP_OK)
            continue;
        assert_non_null(strstr(folder, "/ampconv-"));
        amp_scratch_close();
    }
    unsetenv("TMPDIR");
    if (before != NULL)
        setenv("TMPDIR", before, 1);
    free(before);
}

/* Where there is no room, or something else stands where a folder is to be, nothing stays. */
static void candidates_without_room_are_said(void **state)
{
    char root[SCRATCH_MAX], said[SCRATCH_MAX + 100];
    const struct amp_placement placement = {.path = "m.onnx", .data_path = "model.onnx/w.data"};
    const char *path, *is_set = getenv("TMPDIR");
    char *before = is_set != NULL ? strdup(is_set) : NULL;
    struct amp_model_file file = {.model = NULL};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_model_read("models/digits_cnn.onnx", &file, &err), AMP_OK);
    scratch_folder(root, sizeof root);
    snprintf(said, sizeof said, "%s/none", root);
    setenv("TMPDIR", said, 1);
    assert_int_equal(amp_candidate_write(file.model, &placement, &path, &err), AMP_IO);
    assert_string_equal(err.text, "a folder for temporary files in $TMPDIR cannot be created: No "
                                  "such file or directory");
    setenv("TMPDIR", root, 1);
    err.status = AMP_OK;
    char name[300];
    memset(name, 'n', sizeof name);
    memcpy(name + 290, "/w", 3);
    const struct amp_placement long_name = {.path = "m.onnx", .data_path = name};
    assert_int_equal(amp_candidate_write(file.model, &long_name, &path, &err), AMP_IO);
    assert_non_null(strstr(err.text, ": cannot create the folder: File name too long"));
    assert_int_equal(rmdir(root), 0); /* it is empty */
    if (before != NULL)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    amp_model_close(&file);
}

/* What came through a stream is copied, unless its data did not come with it. */
static void inputs_through_streams_become_files(void **state)
{
    char root[SCRATCH_MAX], model[SCRATCH_MAX + 16], data[SCRATCH_MAX + 16];
    struct amp_model_file file = {.model = NULL};
    struct amp_error err = {.status = AMP_OK};
    struct amp_placement *placement;
    const char *path;
    (void)state;
    assert_int_equal(amp_model_read("models/digits_cnn.onnx", &file, &err), AMP_OK);
    assert_int_equal(amp_candidate_of_input(&file, &path, &err), AMP_OK);
    assert_string_equal(path, "models/digits_cnn.onnx");
    file.path = "-";
    assert_int_equal(amp_candidate_of_input(&file, &path, &err), AMP_OK);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, file.bytes.size);
    assert_string_equal(evaluated("cmp {} models/digits_cnn.onnx", path), "passed");
    amp_candidate_remove();
    assert_int_not_equal(stat(path, &info), 0);
    scratch_folder(root, sizeof root);
    snprintf(model, sizeof model, "%s/m.onnx", root);
    snprintf(data, sizeof data, "%s/m.data", root);
    const struct amp_placement_options options = {
        .path = model, .data_name = "m.data", .threshold = 1000};
    assert_int_equal(amp_model_prepare(file.model, &options, &placement, &err), AMP_OK);
    assert_int_equal(amp_model_write(file.model, placement, &err), AMP_OK);
    amp_model_close(&file);
    assert_int_equal(amp_model_read(model, &file, &err), AMP_OK);
    file.path = "-";
    assert_int_equal(amp_candidate_of_input(&file, &path, &err), AMP_USAGE);
    assert_string_equal(err.text, "-: a model with external data came through a stream; a command "
                                  "that judges it needs a file");
    amp_model_close(&file);
    assert_int_equal(unlink(model) | unlink(data) | rmdir(root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy_takes_the_first_of_tied_scores),
        cmocka_unit_test(top5_counts_the_first_five),
        cmocka_unit_test(five_classes_have_no_top5),
        cmocka_unit_test(labels_go_row_by_row),
        cmocka_unit_test(regression_is_what_scikit_learn_says),
        cmocka_unit_test(each_column_has_its_mean),
        cmocka_unit_test(targets_without_spread_have_no_r2),
        cmocka_unit_test(nothing_is_defined_of_no_outputs),
        cmocka_unit_test(outputs_that_are_nan_show),
        cmocka_unit_test(targets_must_be_finite),
        cmocka_unit_test(labels_find_their_output),
        cmocka_unit_test(rows_of_targets_are_counted),
        cmocka_unit_test(bounds_are_on_what_is_lost),
        cmocka_unit_test(a_value_that_is_missing_is_outside),
        cmocka_unit_test(the_last_line_is_kept),
        cmocka_unit_test(commands_end_in_many_ways),
        cmocka_unit_test(commands_start_as_usual),
        cmocka_unit_test(commands_are_asked_to_end),
        cmocka_unit_test(commands_judge_models),
        cmocka_unit_test(commands_get_the_path),
        cmocka_unit_test(references_have_to_pass),
        cmocka_unit_test(references_may_be_known),
        cmocka_unit_test(candidates_are_set_against_the_reference),
        cmocka_unit_test(candidates_lie_as_they_will),
        cmocka_unit_test(scratch_goes_with_what_is_in_it),
        cmocka_unit_test(scratch_lies_where_it_is_wanted),
        cmocka_unit_test(candidates_without_room_are_said),
        cmocka_unit_test(inputs_through_streams_become_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Two models on the same inputs: what is passed on, what is measured, what makes them incomparable.
 * The models are those of tests/validate, read from the folder that the tests run in. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "check/validate.h"
#include "core/number/random.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_cast_and_outputs_compared),
        cmocka_unit_test(the_result_is_whole_when_outside),
        cmocka_unit_test(labels_count_for_both),
        cmocka_unit_test(models_that_do_not_match_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Sessions that compute nodes together give what strict ones give: on every model in models/ and
 * tests/ but those that are there to use up memory or time. Float16 and bfloat16 are held to what
 * conversions to them are held to, for what lies between nodes is not rounded.
 */
#include "check/compare.h"
#include "check/metric_bounds.h"
#include "check/random_input.h"
#include "core/memory.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "run/exec/session.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_OPEN = 16, SYMBOL_SIZE = 3 };

/* The second is made so that even the order of float32 sums can be seen. */
static const char *const left_out[] = {"build/cases/robust/", "models/digits_pedestal.onnx"};

static size_t n_agreed, n_refused, n_failed;

struct results {
    struct amp_error err;
    struct amp_tensor *outputs;
    size_t n_outputs;
};

/* Random values for the inputs of MODEL, which need no initializer; false: it takes others. */
static bool make_inputs(const struct amp_model_file *file, struct amp_tensor *inputs)
{
    const struct amp_model *model = file->model;
    struct amp_error err = {.status = AMP_OK};
    int64_t *sizes = amp_arena_array(file->arena, model->n_symbols, sizeof *sizes);
    for (size_t i = 0; i < model->n_symbols; i++)
        sizes[i] = SYMBOL_SIZE;
    for (size_t i = 0; i < model->graphs[0].inputs.count; i++) {
        uint32_t value = model->graphs[0].inputs.items[i];
        struct amp_random_input plan;
        if (amp_value_at(model, value)->constant == NULL &&
            (amp_random_input_plan(model, value, sizes, &plan, &err) != AMP_OK ||
             amp_random_input_make(&plan, 0, 0, &inputs[i], &err) != AMP_OK))
            return false;
    }
    return true;
}

static void run(const struct amp_model *model, bool is_strict, const struct amp_tensor *inputs,
                struct results *results)
{
    struct amp_session *session = NULL;
    results->n_outputs = model->graphs[0].outputs.count;
    results->outputs = amp_xcalloc(results->n_outputs + 1, sizeof *results->outputs);
    if (amp_session_open(model, is_strict, &session, &results->err) == AMP_OK)
        amp_session_run(session, inputs, results->outputs, &results->err);
    amp_session_destroy(session);
}

/* The lower dtype that MODEL computes in; float32: none. */
static enum amp_dtype lower_dtype(const struct amp_model *model)
{
    enum amp_dtype lower = AMP_FLOAT;
    for (uint32_t v = 0; v < model->n_values; v++) {
        enum amp_dtype dtype = amp_value_at(model, v)->dtype;
        if (dtype == AMP_BFLOAT16 || (dtype == AMP_FLOAT16 && lower == AMP_FLOAT))
            lower = dtype;
    }
    return lower;
}

static enum amp_status compare(const struct amp_tensor *fused, const struct amp_tensor *strict,
                               enum amp_dtype lower, struct amp_error *err)
{
    struct amp_metrics metrics = {.is_float = false};
    struct amp_metric_bounds bounds = amp_metric_bounds_default(lower);
    enum amp_status status =
        amp_tensor_compare(fused, strict, amp_tolerance_of(strict->dtype), err);
    if (status == AMP_OK || lower == AMP_FLOAT)
        return status;
    *err = (struct amp_error){.status = AMP_OK};
    AMP_TRY(amp_metrics_add(&metrics, strict, fused, err));
    return amp_metric_bounds_check(&bounds, &metrics, err);
}

static void compare_all(const struct amp_model *model, const struct results *fused,
                        const struct results *strict, const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    if (fused->err.status != strict->err.status || strcmp(fused->err.text, strict->err.text) != 0) {
        print_error("%s: fused: %s; strict: %s\n", path, fused->err.text, strict->err.text);
        n_failed++;
        return;
    }
    if (strict->err.status != AMP_OK) {
        n_refused++;
        return;
    }
    for (size_t i = 0; i < strict->n_outputs; i++)
        if (compare(&fused->outputs[i], &strict->outputs[i], lower_dtype(model), &err) != AMP_OK) {
            print_error("%s: output %zu: %s\n", path, i, err.text);
            n_failed++;
            return;
        }
    n_agreed++;
}

static void run_both(const struct amp_model_file *file, const char *path)
{
    size_t n_inputs = file->model->graphs[0].inputs.count;
    struct amp_tensor *inputs = amp_xcalloc(n_inputs + 1, sizeof *inputs);
    struct results results[2] = {{.outputs = NULL}, {.outputs = NULL}};
    if (make_inputs(file, inputs)) {
        for (int is_strict = 0; is_strict < 2; is_strict++)
            run(file->model, is_strict != 0, inputs, &results[is_strict]);
        compare_all(file->model, &results[0], &results[1], path);
    } else {
        n_refused++;
    }
    for (int i = 0; i < 2; i++) {
        amp_tensors_release(results[i].outputs, results[i].n_outputs);
        free(results[i].outputs);
    }
    amp_tensors_release(inputs, n_inputs);
    free(inputs);
}

static int visit(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    const char *dot = strrchr(path, '.');
    (void)info;
    (void)walk;
    if (type != FTW_F || dot == NULL || strcmp(dot, ".onnx") != 0)
        return 0;
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strncmp(path, left_out[i], strlen(left_out[i])) == 0)
            return 0;
    if (amp_model_read(path, &file, &err) != AMP_OK) {
        n_refused++;
        return 0;
    }
    if (amp_infer(file.model, &err) == AMP_OK)
        run_both(&file, path);
    else
        n_refused++;
    amp_model_close(&file);
    return 0;
}

static void fused_and_strict_agree(void **state)
{
    (void)state;
    assert_int_equal(nftw("models", visit, MAX_OPEN, FTW_PHYS), 0);
    assert_int_equal(nftw("build/cases", visit, MAX_OPEN, FTW_PHYS), 0);
    print_message("# %zu models agree, %zu are refused both ways\n", n_agreed, n_refused);
    assert_int_equal(n_failed, 0);
    assert_int_equal(amp_memory_used(), 0);
    assert_true(n_agreed > n_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fused_and_strict_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Attention whose length changes from run to run goes in slices in some runs and not in others, in
 * slices of other shapes, and gives the same as node by node.
 */
#include "check/random_input.h"
#include "core/memory.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "run/exec/session.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct amp_model_file file;
    struct amp_session *session, *strict;
    struct amp_tensor *inputs, *outputs;
    size_t n_inputs;
};

static void set_up(struct fixture *f, const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_model_read(path, &f->file, &err), AMP_OK);
    assert_int_equal(amp_infer(f->file.model, &err), AMP_OK);
    f->n_inputs = f->file.model->graphs[0].inputs.count;
    f->inputs = amp_xcalloc(f->n_inputs, sizeof *f->inputs);
    f->outputs = amp_xcalloc(2, sizeof *f->outputs);
    assert_int_equal(amp_session_open(f->file.model, false, &f->session, &err), AMP_OK);
    assert_int_equal(amp_session_open(f->file.model, true, &f->strict, &err), AMP_OK);
}

static void tear_down(struct fixture *f)
{
    free(f->inputs);
    free(f->outputs);
    amp_session_destroy(f->session);
    amp_session_destroy(f->strict);
    amp_model_close(&f->file);
}

static void make_inputs(struct fixture *f, int64_t size)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_random_input plan;
    for (size_t i = 0; i < f->n_inputs; i++) {
        uint32_t value = f->file.model->graphs[0].inputs.items[i];
        assert_int_equal(amp_random_input_plan(f->file.model, value, &size, &plan, &err), AMP_OK);
        assert_int_equal(amp_random_input_make(&plan, 0, 0, &f->inputs[i], &err), AMP_OK);
    }
}

static void compare(const struct amp_tensor *found, const struct amp_tensor *expected,
                    const char *path, int64_t size)
{
    assert_true(amp_shape_equal(&found->shape, &expected->shape));
    for (size_t i = 0; i < amp_tensor_count(found); i++) {
        double x = amp_tensor_double(found, i), y = amp_tensor_double(expected, i);
        if (!(fabs(x - y) <= 1e-4 + 1e-4 * fabs(y)) && !(isnan(x) && isnan(y)))
            fail_msg("%s: length %lld, element %zu: %g is not %g", path, (long long)size, i, x, y);
    }
}

static void run(struct fixture *f, const char *path, int64_t size)
{
    struct amp_error err = {.status = AMP_OK};
    make_inputs(f, size);
    if (amp_session_run(f->session, f->inputs, &f->outputs[0], &err) != AMP_OK ||
        amp_session_run(f->strict, f->inputs, &f->outputs[1], &err) != AMP_OK)
        fail_msg("%s: length %lld: %s", path, (long long)size, err.text);
    compare(&f->outputs[0], &f->outputs[1], path, size);
    amp_tensors_release(f->inputs, f->n_inputs);
    amp_tensors_release(f->outputs, 2);
}

static void follows_lengths(void **state)
{
    static const int64_t sizes[] = {7, 600, 850, 7, 431, 600, 1};
    glob_t models;
    (void)state;
    assert_int_equal(glob("build/cases/run/sliced/*.onnx", 0, NULL, &models), 0);
    amp_session_set_threads(1);
    for (size_t m = 0; m < models.gl_pathc; m++) {
        struct fixture f;
        set_up(&f, models.gl_pathv[m]);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            run(&f, models.gl_pathv[m], sizes[i]);
        tear_down(&f);
    }
    globfree(&models);
    assert_int_equal(amp_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

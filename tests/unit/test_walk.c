/*
 * A run step by step gives what a run as a whole does, byte for byte. A value that is replaced is
 * what later steps read.
 */
#include "check/compare.h"
#include "check/random_input.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "run/exec/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_TENSORS_MAX = 8 };

static const struct amp_tolerance exact = {.rtol = 0};

struct fixture {
    struct amp_model_file file;
    size_t n_inputs, n_outputs;
    struct amp_session *session, *other;
    struct amp_tensor inputs[N_TENSORS_MAX], outputs[N_TENSORS_MAX]; /* of a run as a whole */
    struct amp_error err;
};

static void check(const struct fixture *f, enum amp_status status)
{
    if (status != AMP_OK)
        fail_msg("%s", f->err.text);
}

static void make_inputs(struct fixture *f)
{
    const struct amp_model *model = f->file.model;
    int64_t *sizes = amp_arena_array(f->file.arena, model->n_symbols, sizeof *sizes);
    for (size_t s = 0; s < model->n_symbols; s++)
        sizes[s] = 3;
    for (size_t k = 0; k < f->n_inputs; k++) {
        struct amp_random_input random;
        uint32_t input = model->graphs[0].inputs.items[k];
        check(f, amp_random_input_plan(model, input, sizes, &random, &f->err));
        check(f, amp_random_input_make(&random, 1, 0, &f->inputs[k], &f->err));
    }
}

static void set_up(struct fixture *f, const char *path)
{
    memset(f, 0, sizeof *f);
    check(f, amp_model_read(path, &f->file, &f->err));
    check(f, amp_infer(f->file.model, &f->err));
    f->n_inputs = f->file.model->graphs[0].inputs.count;
    f->n_outputs = f->file.model->graphs[0].outputs.count;
    assert_in_range(f->n_inputs, 1, N_TENSORS_MAX);
    assert_in_range(f->n_outputs, 1, N_TENSORS_MAX);
    make_inputs(f);
    check(f, amp_session_open(f->file.model, AMP_ROUNDED, &f->session, &f->err));
    check(f, amp_session_open(f->file.model, AMP_ROUNDED, &f->other, &f->err));
    check(f, amp_session_run(f->session, f->inputs, f->outputs, &f->err));
}

static void tear_down(struct fixture *f)
{
    amp_session_destroy(f->session);
    amp_session_destroy(f->other);
    amp_tensors_release(f->inputs, f->n_inputs);
    amp_tensors_release(f->outputs, f->n_outputs);
    amp_model_close(&f->file);
}

/* Walks SESSION from step FROM to before step TO. */
static void walk(struct fixture *f, struct amp_session *session, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        check(f, amp_walk_compute(session, i, &f->err));
        amp_walk_release(session, i);
    }
}

/* Ends the walk of SESSION, whose outputs are those of the run as a whole. */
static void end(struct fixture *f, struct amp_session *session)
{
    struct amp_tensor outputs[N_TENSORS_MAX] = {{.dtype = AMP_UNDEFINED}};
    check(f, amp_walk_end(session, outputs, &f->err));
    for (size_t i = 0; i < f->n_outputs; i++)
        check(f, amp_tensor_compare(&outputs[i], &f->outputs[i], exact, &f->err));
    amp_tensors_release(outputs, f->n_outputs);
}

static const char *const models[] = {"models/digits_cnn.onnx", "models/digits_transformer.onnx",
                                     "build/cases/constants/loop/model.onnx",
                                     "build/cases/constants/recurrent/model.onnx"};

static void a_walk_is_a_run(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct fixture f;
        set_up(&f, models[m]);
        for (int turn = 0; turn < 2; turn++) {
            check(&f, amp_walk_begin(f.other, f.inputs, &f.err));
            walk(&f, f.other, 0, amp_walk_count(f.other));
            end(&f, f.other);
        }
        tear_down(&f);
    }
}

/* The step whose output 0 is graph output 0. */
static size_t last_step(const struct amp_session *session)
{
    const struct amp_model *model = amp_walk_model(session);
    size_t i = 0;
    while (amp_value_at(model, model->graphs[0].outputs.items[0])->producer !=
           amp_walk_node(session, i))
        i++;
    return i;
}

static void a_value_can_be_replaced(void **state)
{
    struct fixture f;
    struct amp_tensor changed = {.dtype = AMP_FLOAT}, seen = {.dtype = AMP_UNDEFINED};
    (void)state;
    set_up(&f, "models/digits_cnn.onnx");
    size_t last = last_step(f.session);
    const struct amp_model *model = amp_walk_model(f.session);
    uint32_t input = amp_node_at(model, amp_walk_node(f.session, last))->inputs[0];
    check(&f, amp_walk_begin(f.session, f.inputs, &f.err));
    walk(&f, f.session, 0, last);
    check(&f, amp_walk_get(f.session, input, &seen, &f.err));
    changed.shape = seen.shape;
    check(&f, amp_tensor_alloc(&changed, &f.err));
    memset(changed.data, 0, amp_tensor_size(&changed));
    check(&f, amp_walk_set(f.session, input, &changed, &f.err));
    check(&f, amp_walk_compute(f.session, last, &f.err));
    struct amp_tensor outputs[N_TENSORS_MAX] = {{.dtype = AMP_UNDEFINED}};
    check(&f, amp_walk_end(f.session, outputs, &f.err));
    size_t classes = (size_t)outputs[0].shape.dims[1];
    assert_memory_not_equal(outputs[0].data, f.outputs[0].data, amp_tensor_size(&outputs[0]));
    assert_memory_equal(outputs[0].data, (float *)outputs[0].data + classes,
                        classes * sizeof(float)); /* rows of zeros give equal scores */
    changed.dtype = AMP_FLOAT16;
    assert_int_equal(amp_walk_set(f.session, input, &changed, &f.err), AMP_MODEL);
    amp_tensors_release(outputs, f.n_outputs);
    amp_tensor_release(&changed);
    amp_tensor_release(&seen);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_is_a_run),
        cmocka_unit_test(a_value_can_be_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sessions: several at a time on one plan, runs after others, and runs step by step. */
#include "check/compare.h"
#include "check/random_input.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "run/exec/session.h"
#include "run/exec/walk.h"
#include "trial.h"

#include <glob.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * Sessions of one plan in two threads at the same time give what one session alone gives, byte for
 * byte: with other inputs in each thread, in shapes that change from run to run.
 * A session that runs again and again gives what one gives that has not run before.
 */

enum { N_THREADS = 2, N_SAMPLES = 4, N_RUNS = 12, N_TENSORS_MAX = 8 };

struct sample {
    struct amp_tensor inputs[N_TENSORS_MAX], outputs[N_TENSORS_MAX];
};

struct fixture {
    struct amp_model_file file;
    const struct amp_plan *plan;
    size_t n_inputs, n_outputs;
    struct sample samples[N_SAMPLES]; /* with the outputs of a session that ran alone */
};

/* What one thread does. */
struct job {
    const struct fixture *fixture;
    size_t first;         /* the sample that it begins with */
    size_t n_wrong;       /* runs that failed or gave something else */
    struct amp_error err; /* of the last that failed */
};

/* Inputs of SAMPLE number I, with symbolic dims of SIZE. */
static void make_inputs(struct fixture *f, struct sample *sample, size_t i, int64_t size)
{
    struct amp_error err = {.status = AMP_OK};
    const struct amp_model *model = f->file.model;
    const struct amp_ids *ids = &model->graphs[0].inputs;
    int64_t *sizes = amp_arena_array(f->file.arena, model->n_symbols, sizeof *sizes);
    for (size_t s = 0; s < model->n_symbols; s++)
        sizes[s] = size;
    for (size_t k = 0; k < ids->count; k++) {
        struct amp_random_input random;
        if (amp_value_at(model, ids->items[k])->constant != NULL)
            continue;
        assert_int_equal(amp_random_input_plan(model, ids->items[k], sizes, &random, &err), AMP_OK);
        assert_int_equal(amp_random_input_make(&random, i, 0, &sample->inputs[k], &err), AMP_OK);
    }
}

/* The model at PATH, planned, and what one session gives for samples of other SIZES. */
static void set_up(struct fixture *f, const char *path, const int64_t *sizes)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_session *session;
    *f = (struct fixture){.n_inputs = 0};
    assert_int_equal(amp_model_read(path, &f->file, &err), AMP_OK);
    assert_int_equal(amp_infer(f->file.model, &err), AMP_OK);
    f->n_inputs = f->file.model->graphs[0].inputs.count;
    f->n_outputs = f->file.model->graphs[0].outputs.count;
    assert_in_range(f->n_inputs, 1, N_TENSORS_MAX);
    assert_in_range(f->n_outputs, 1, N_TENSORS_MAX);
    assert_int_equal(amp_plan_create(f->file.model, false, &f->plan, &err), AMP_OK);
    assert_int_equal(amp_session_create(f->plan, &session, &err), AMP_OK);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct sample *sample = &f->samples[i];
        make_inputs(f, sample, i, sizes[i]);
        if (amp_session_run(session, sample->inputs, sample->outputs, &err) != AMP_OK)
            fail_msg("%s: %s", path, err.text);
    }
    amp_session_destroy(session);
}

static void tear_down(struct fixture *f)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        amp_tensors_release(f->samples[i].inputs, f->n_inputs);
        amp_tensors_release(f->samples[i].outputs, f->n_outputs);
    }
    amp_plan_destroy(f->plan);
    amp_model_close(&f->file);
}

static bool is_same(const struct amp_tensor *a, const struct amp_tensor *b)
{
    return a->dtype == b->dtype && amp_shape_equal(&a->shape, &b->shape) &&
           memcmp(a->data, b->data, amp_tensor_size(a)) == 0;
}

/* Runs SESSION on SAMPLE; false: it fails or gives something else. */
static bool runs_right(const struct fixture *f, struct amp_session *session,
                       const struct sample *sample, struct amp_error *err)
{
    struct amp_tensor outputs[N_TENSORS_MAX] = {{.dtype = AMP_UNDEFINED}};
    bool is_right = amp_session_run(session, sample->inputs, outputs, err) == AMP_OK;
    for (size_t i = 0; i < f->n_outputs && is_right; i++)
        is_right = is_same(&outputs[i], &sample->outputs[i]);
    amp_tensors_release(outputs, f->n_outputs);
    return is_right;
}

/* A thread: its own session of the plan, which it also destroys. */
static void *run_session(void *data)
{
    struct job *job = data;
    struct amp_session *session;
    if (amp_session_create(job->fixture->plan, &session, &job->err) != AMP_OK) {
        job->n_wrong = N_RUNS;
        return NULL;
    }
    for (size_t i = 0; i < N_RUNS; i++) {
        const struct sample *sample = &job->fixture->samples[(job->first + i) % N_SAMPLES];
        job->n_wrong += !runs_right(job->fixture, session, sample, &job->err);
    }
    amp_session_destroy(session);
    return NULL;
}

static void sessions_run_at_once(void **state)
{
    static const struct {
        const char *path;
        int64_t sizes[N_SAMPLES]; /* of symbolic dims, per sample */
    } models[] = {{"models/digits_cnn.onnx", {4, 1, 4, 7}},
                  {"models/digits_transformer.onnx", {4, 1, 4, 7}},
                  {"build/cases/parity/bert.onnx", {4, 4, 4, 4}},
                  {"build/cases/run/sliced/exported.onnx", {700, 16, 700, 900}},
                  {"build/cases/constants/loop/model.onnx", {1, 1, 1, 1}},
                  {"build/cases/constants/halves_bf16/model.onnx", {1, 70, 1, 70}},
                  {"build/cases/constants/recurrent/model.onnx", {1, 1, 1, 1}},
                  {"build/cases/constants/shared/model.onnx", {1, 70, 1, 70}}};
    (void)state;
    amp_session_set_threads(2);
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct fixture f;
        struct job jobs[N_THREADS];
        pthread_t threads[N_THREADS];
        set_up(&f, models[m].path, models[m].sizes);
        for (size_t i = 0; i < N_THREADS; i++) {
            jobs[i] = (struct job){.fixture = &f, .first = i};
            assert_int_equal(pthread_create(&threads[i], NULL, run_session, &jobs[i]), 0);
        }
        for (size_t i = 0; i < N_THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            if (jobs[i].n_wrong > 0)
                fail_msg("%s: %zu runs of thread %zu are wrong: %s", models[m].path,
                         jobs[i].n_wrong, i, jobs[i].err.text);
        }
        tear_down(&f);
    }
}

/* Runs SAMPLE in a session that has not run before, to its outputs. */
static void run_fresh(const struct fixture *f, struct sample *sample)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_session *session;
    amp_tensors_release(sample->outputs, f->n_outputs);
    assert_int_equal(amp_session_create(f->plan, &session, &err), AMP_OK);
    assert_int_equal(amp_session_run(session, sample->inputs, sample->outputs, &err), AMP_OK);
    amp_session_destroy(session);
}

/* The same shapes with other values, other shapes, and those before once more; shapes of outputs
   that values decide; bodies. A run leaves the caller as many threads as there were. */
static void runs_do_not_depend_on_those_before(void **state)
{
    static const struct {
        const char *path;
        int64_t sizes[N_SAMPLES]; /* of symbolic dims, per sample */
    } models[] = {{"models/digits_cnn.onnx", {3, 3, 3, 5}},
                  {"models/digits_transformer.onnx", {3, 3, 3, 5}},
                  {"build/cases/ops/tensor/non_zero_signs/model.onnx", {1, 1, 1, 1}},
                  {"build/cases/ops/tensor/unique_nan/model.onnx", {1, 1, 1, 1}},
                  {"build/cases/parity/mobilenet.onnx", {4, 4, 4, 4}},
                  {"build/cases/run/sliced/exported.onnx", {700, 700, 16, 900}},
                  {"build/cases/constants/loop/model.onnx", {1, 1, 1, 1}},
                  {"build/cases/constants/halves_bf16/model.onnx", {1, 1, 70, 1}},
                  {"build/cases/constants/halves_fp16/model.onnx", {1, 1, 70, 1}},
                  {"build/cases/constants/recurrent/model.onnx", {1, 1, 1, 1}}};
    static const size_t turns[] = {0, 0, 0, 1, 2, 3, 3, 3, 0, 1, 2, 2, 3, 1};
    (void)state;
    amp_session_set_threads(2);
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct fixture f;
        struct amp_error err = {.status = AMP_OK};
        struct amp_session *session;
        set_up(&f, models[m].path, models[m].sizes);
        for (size_t i = 0; i < N_SAMPLES; i++)
            run_fresh(&f, &f.samples[i]);
        assert_int_equal(amp_session_create(f.plan, &session, &err), AMP_OK);
        for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
            if (!runs_right(&f, session, &f.samples[turns[i]], &err))
                fail_msg("%s: run %zu is wrong: %s", models[m].path, i, err.text);
            assert_int_equal(omp_get_max_threads(), 2);
        }
        amp_session_destroy(session);
        tear_down(&f);
    }
}

/* ---- operators ------------------------------------------------------------------------------- */

/* The operators' cases, each in one session with its sample, with the same elements in reverse, and
   with the sample again: what an input that is no constant held before is no part of what a run
   gives. Some inputs in reverse are refused, in a session that has run as in one that has not. */

enum { N_TURNS = 3 };

/* What a run gave. */
struct turn {
    enum amp_status status;
    struct amp_error err;
    struct amp_tensor *outputs;
};

static void reverse_elements(const struct amp_tensor *from, struct amp_tensor *to)
{
    struct amp_error err;
    size_t count = amp_tensor_count(from), width = amp_tensor_size(from) / (count > 0 ? count : 1);
    to->shape = from->shape;
    assert_int_equal(amp_tensor_alloc(to, &err), AMP_OK);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)to->data + i * width, (const char *)from->data + (count - 1 - i) * width,
               width);
}

/* The inputs of TRIAL in reverse: those of whole bytes, which are no lists. */
static struct amp_tensor *reverse_inputs(const struct trial *trial)
{
    struct amp_tensor *inputs = amp_xcalloc(trial->n_inputs + 1, sizeof *inputs);
    for (size_t i = 0; i < trial->n_inputs; i++) {
        const struct amp_tensor *from = &trial->inputs[i];
        inputs[i].dtype = from->dtype;
        if (from->data == NULL || amp_tensor_is_list(from) || from->dtype == AMP_STRING ||
            amp_dtype_bits(from->dtype) % 8 != 0)
            amp_tensor_refer(&inputs[i], from);
        else
            reverse_elements(from, &inputs[i]);
    }
    return inputs;
}

static void run_turn(const struct trial *trial, struct amp_session *session,
                     const struct amp_tensor *inputs, struct turn *turn)
{
    *turn = (struct turn){.outputs = amp_xcalloc(trial->n_outputs + 1, sizeof *turn->outputs)};
    turn->status = amp_session_run(session, inputs, turn->outputs, &turn->err);
}

static void run_fresh_turn(const struct trial *trial, const struct amp_tensor *inputs,
                           struct turn *turn)
{
    struct amp_session *session;
    struct amp_error err;
    if (amp_session_open(trial->file.model, true, &session, &err) != AMP_OK)
        fail_msg("%s: %s", trial->path, err.text);
    run_turn(trial, session, inputs, turn);
    amp_session_destroy(session);
}

static bool is_same_turn(const struct trial *trial, const struct turn *a, const struct turn *b)
{
    if (a->status != b->status || strcmp(a->err.text, b->err.text) != 0)
        return false;
    for (size_t i = 0; i < trial->n_outputs && a->status == AMP_OK; i++)
        if (!amp_tensor_is_list(&a->outputs[i]) && a->outputs[i].dtype != AMP_STRING &&
            !is_same(&a->outputs[i], &b->outputs[i]))
            return false;
    return true;
}

static void end_turn(const struct trial *trial, struct turn *turn)
{
    amp_tensors_release(turn->outputs, trial->n_outputs);
    free(turn->outputs);
}

/* False where there is no kernel for the case. */
static bool take_turns(const struct trial *trial)
{
    struct amp_error err;
    struct amp_session *session;
    if (amp_session_open(trial->file.model, true, &session, &err) != AMP_OK)
        return false;
    struct amp_tensor *reversed = reverse_inputs(trial);
    const struct amp_tensor *inputs[N_TURNS] = {trial->inputs, reversed, trial->inputs};
    for (size_t i = 0; i < N_TURNS; i++) {
        struct turn fresh, turn;
        run_fresh_turn(trial, inputs[i], &fresh);
        run_turn(trial, session, inputs[i], &turn);
        if (!is_same_turn(trial, &fresh, &turn))
            fail_msg("%s: run %zu is another than a first one: '%s', '%s'", trial->path, i,
                     turn.err.text, fresh.err.text);
        end_turn(trial, &fresh);
        end_turn(trial, &turn);
    }
    amp_session_destroy(session);
    amp_tensors_release(reversed, trial->n_inputs);
    free(reversed);
    return true;
}

static void operators_do_not_depend_on_runs_before(void **state)
{
    glob_t paths;
    size_t count = 0;
    (void)state;
    assert_int_equal(glob("build/cases/ops/*/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        struct trial trial = {.path = paths.gl_pathv[i]};
        count += trial_open(&trial) && !trial_is_random(&trial) && take_turns(&trial);
        trial_close(&trial);
    }
    globfree(&paths);
    assert_true(count > 1000);
}

/* ---- walk ------------------------------------------------------------------------------------ */

/*
 * A run step by step gives what a run as a whole does, byte for byte. A value that is replaced is
 * what later steps read.
 */

enum { N_WALKED_MAX = 8 };

static const struct amp_tolerance exact = {.rtol = 0};

struct walk {
    struct amp_model_file file;
    size_t n_inputs, n_outputs;
    struct amp_session *session, *other;
    struct amp_tensor inputs[N_WALKED_MAX], outputs[N_WALKED_MAX]; /* of a run as a whole */
    struct amp_error err;
};

static void check(const struct walk *f, enum amp_status status)
{
    if (status != AMP_OK)
        fail_msg("%s", f->err.text);
}

static void make_walk_inputs(struct walk *f)
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

static void begin_walk(struct walk *f, const char *path)
{
    memset(f, 0, sizeof *f);
    check(f, amp_model_read(path, &f->file, &f->err));
    check(f, amp_infer(f->file.model, &f->err));
    f->n_inputs = f->file.model->graphs[0].inputs.count;
    f->n_outputs = f->file.model->graphs[0].outputs.count;
    assert_in_range(f->n_inputs, 1, N_WALKED_MAX);
    assert_in_range(f->n_outputs, 1, N_WALKED_MAX);
    make_walk_inputs(f);
    check(f, amp_session_open(f->file.model, AMP_ROUNDED, &f->session, &f->err));
    check(f, amp_session_open(f->file.model, AMP_ROUNDED, &f->other, &f->err));
    check(f, amp_session_run(f->session, f->inputs, f->outputs, &f->err));
}

static void end_walk(struct walk *f)
{
    amp_session_destroy(f->session);
    amp_session_destroy(f->other);
    amp_tensors_release(f->inputs, f->n_inputs);
    amp_tensors_release(f->outputs, f->n_outputs);
    amp_model_close(&f->file);
}

/* Walks SESSION from step FROM to before step TO. */
static void walk(struct walk *f, struct amp_session *session, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        check(f, amp_walk_compute(session, i, &f->err));
        amp_walk_release(session, i);
    }
}

/* Ends the walk of SESSION, whose outputs are those of the run as a whole. */
static void end(struct walk *f, struct amp_session *session)
{
    struct amp_tensor outputs[N_WALKED_MAX] = {{.dtype = AMP_UNDEFINED}};
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
        struct walk f;
        begin_walk(&f, models[m]);
        for (int turn = 0; turn < 2; turn++) {
            check(&f, amp_walk_begin(f.other, f.inputs, &f.err));
            walk(&f, f.other, 0, amp_walk_count(f.other));
            end(&f, f.other);
        }
        end_walk(&f);
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
    struct walk f;
    struct amp_tensor changed = {.dtype = AMP_FLOAT}, seen = {.dtype = AMP_UNDEFINED};
    (void)state;
    begin_walk(&f, "models/digits_cnn.onnx");
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
    struct amp_tensor outputs[N_WALKED_MAX] = {{.dtype = AMP_UNDEFINED}};
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
    end_walk(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_do_not_depend_on_those_before),
        cmocka_unit_test(sessions_run_at_once),
        cmocka_unit_test(operators_do_not_depend_on_runs_before),
        cmocka_unit_test(a_walk_is_a_run),
        cmocka_unit_test(a_value_can_be_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Attention whose length changes from run to run goes in slices in some runs and not in others, in
 * slices of other shapes, and gives the same as node by node. Slices are as many as have to be.
 */
#include "net.h"
#include "check/random_input.h"
#include "core/memory.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "run/exec/session.h"

#include <dlfcn.h>
#include <dnnl.h>
#include <glob.h>
#include <math.h>

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

/* ---- how many there are ---- */

static int n_products;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the library's are its own */
dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                     int count, const dnnl_exec_arg_t *args)
{
    static dnnl_status_t (*execute)(const_dnnl_primitive_t, dnnl_stream_t, int,
                                    const dnnl_exec_arg_t *);
    const_dnnl_primitive_desc_t desc;
    dnnl_primitive_kind_t kind;
    if (execute == NULL)
        *(void **)&execute = dlsym(RTLD_NEXT, "dnnl_primitive_execute");
    assert_int_equal(dnnl_primitive_get_primitive_desc(primitive, &desc), dnnl_success);
    assert_int_equal(dnnl_primitive_desc_query(desc, dnnl_query_primitive_kind, 0, &kind),
                     dnnl_success);
    n_products += kind == dnnl_matmul;
    return execute(primitive, stream, count, args);
}

/* Of attention with HEADS of ROWS by COLUMNS scores in float32: the products of a run. */
static int count_products(struct amp_shape heads, int64_t rows, int64_t columns)
{
    struct amp_session *session = NULL;
    struct amp_shape q = heads, k = heads, v = heads;
    enum { WIDTH = 2 };
    q.dims[q.rank++] = rows, q.dims[q.rank++] = WIDTH;
    k.dims[k.rank++] = WIDTH, k.dims[k.rank++] = columns;
    v.dims[v.rank++] = columns, v.dims[v.rank++] = WIDTH;
    const struct amp_shape shapes[] = {q, k, v};
    struct amp_tensor inputs[3];
    net_start(17);
    uint32_t scores = NODE("MatMul", "s", input("q", AMP_FLOAT, q), input("k", AMP_FLOAT, k));
    output(NODE("MatMul", "y", NODE("Softmax", "p", scores), input("v", AMP_FLOAT, v)));
    infer_all();
    for (int i = 0; i < 3; i++) {
        inputs[i] = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = shapes[i]};
        assert_int_equal(amp_tensor_alloc(&inputs[i], &net.err), AMP_OK);
        memset(inputs[i].data, 0, amp_tensor_size(&inputs[i]));
    }
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    for (int i = 0; i < 2; i++) {
        n_products = 0;
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session, inputs, net.outputs, &net.err), AMP_OK);
    }
    amp_session_destroy(session);
    amp_tensors_release(inputs, 3);
    return n_products;
}

/* Of 2 MiB at most for the one thread, but of 32 rows at least: two products each. */
static void are_no_more_than_needed(void **state)
{
    static const struct {
        struct amp_shape heads;
        int64_t rows, columns;
        int slices;
    } cases[] = {
        {{1, {6}}, 32, 32, 1},       /* all is smaller */
        {{0, {0}}, 1024, 1024, 2},   /* no heads: 512 rows and 512 */
        {{1, {2}}, 512, 512, 1},     /* all is as large */
        {{1, {6}}, 416, 420, 2},     /* three heads are as large: 3 and 3 */
        {{1, {7}}, 416, 420, 3},     /* 3, 3 and 1 */
        {{1, {4}}, 416, 420, 2},     /* 2 and 2 */
        {{1, {8}}, 512, 512, 4},     /* two heads are as large */
        {{1, {3}}, 512, 1024, 3},    /* one is */
        {{1, {1}}, 1024, 1024, 2},   /* half of one is: 512 rows and 512 */
        {{1, {1}}, 1025, 1024, 3},   /* 352, 352 and 321 */
        {{1, {2}}, 1024, 1024, 4},   /* the rows of each */
        {{1, {1}}, 96, 16384, 3},    /* 32 rows are */
        {{1, {1}}, 97, 16384, 4},    /* 32, 32, 32 and 1 */
        {{1, {1}}, 33, 600000, 2},   /* a row is larger: 32 and 1 */
        {{2, {2, 3}}, 416, 420, 2},  /* three heads each */
        {{2, {2, 4}}, 416, 420, 4},  /* two heads each */
        {{2, {2, 2}}, 1024, 800, 8}, /* 512 rows each */
    };
    (void)state;
    amp_session_set_threads(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int found = count_products(cases[i].heads, cases[i].rows, cases[i].columns);
        if (found != 2 * cases[i].slices)
            fail_msg("case %zu: %d products; %d slices are needed", i, found, cases[i].slices);
    }
}

/* ---- what has the same form in runs whose scores have not ---- */

enum { HEADS = 6, COLUMNS = 420, DEPTH = 4, MAX_ROWS = 1500 };

/* Numbers that differ from one to the next, below 1. */
static struct amp_tensor numbers(struct amp_shape shape, int seed)
{
    struct amp_tensor tensor = {.dtype = AMP_FLOAT, .shape = shape};
    assert_int_equal(amp_tensor_alloc(&tensor, &net.err), AMP_OK);
    for (size_t i = 0; i < amp_tensor_count(&tensor); i++)
        ((float *)tensor.data)[i] =
            (float)((i * 7 + i / 13 * 5 + (size_t)seed) % 31) / 16 - 15.0f / 16;
    return tensor;
}

/* Queries of any number, each with what is added to its scores, and what hides some of them. */
static void start_queries(void)
{
    net_start(17);
    uint32_t q = input("q", AMP_FLOAT, DIMS(HEADS, -1, DEPTH));
    uint32_t k = input("k", AMP_FLOAT, DIMS(HEADS, DEPTH, COLUMNS));
    uint32_t v = input("v", AMP_FLOAT, DIMS(HEADS, COLUMNS, DEPTH));
    uint32_t mask = input("mask", AMP_FLOAT, DIMS(HEADS, 1, COLUMNS));
    uint32_t low = input("low", AMP_FLOAT, DIMS(HEADS, 1, COLUMNS));
    uint32_t bias = input("bias", AMP_FLOAT, DIMS(HEADS, -1, COLUMNS));
    uint32_t s = NODE("Add", "a", NODE("MatMul", "s", q, k), bias);
    uint32_t w = NODE("Where", "w", NODE("Less", "l", mask, low), s, low);
    output(NODE("MatMul", "y", NODE("Softmax", "p", w), v));
    infer_all();
}

/* Some heads a slice, one, or some rows: what has the same form as before is cut anew where that
   changes, with the scores or with the threads. */
static void cuts_follow_the_scores(void **state)
{
    static const struct {
        int64_t rows;
        int threads;
    } runs[] = {{416, 1}, {832, 1}, {MAX_ROWS, 1}, {416, 1}, {MAX_ROWS, 1}, {MAX_ROWS, 2},
                {832, 2}, {832, 1}, {MAX_ROWS, 1}, {400, 1}, {416, 1}};
    struct amp_session *session = NULL, *strict = NULL;
    struct amp_tensor inputs[6], found = {.dtype = AMP_UNDEFINED}, wanted = found;
    (void)state;
    start_queries();
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    assert_int_equal(amp_session_open(net.model, true, &strict, &net.err), AMP_OK);
    inputs[1] = numbers(DIMS(HEADS, DEPTH, COLUMNS), 1);
    inputs[2] = numbers(DIMS(HEADS, COLUMNS, DEPTH), 2);
    inputs[3] = numbers(DIMS(HEADS, 1, COLUMNS), 3);
    inputs[4] = numbers(DIMS(HEADS, 1, COLUMNS), 8);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        amp_session_set_threads(runs[i].threads);
        inputs[0] = numbers(DIMS(HEADS, runs[i].rows, DEPTH), (int)i);
        inputs[5] = numbers(DIMS(HEADS, runs[i].rows, COLUMNS), (int)i + 3);
        assert_int_equal(amp_session_run(session, inputs, &found, &net.err), AMP_OK);
        assert_int_equal(amp_session_run(strict, inputs, &wanted, &net.err), AMP_OK);
        compare(&found, &wanted, "queries", runs[i].rows);
        amp_tensor_release(&found);
        amp_tensor_release(&wanted);
        amp_tensor_release(&inputs[0]);
        amp_tensor_release(&inputs[5]);
    }
    amp_tensors_release(inputs + 1, 4);
    amp_session_destroy(session);
    amp_session_destroy(strict);
}

/* What kernels of whole tensors have forms of is wanted again in slices. */
static void constants_come_back(void **state)
{
    static const int64_t rows[] = {3, 3, 1400, 3, 1400, 1400};
    struct amp_session *session = NULL, *strict = NULL;
    struct amp_tensor found = {.dtype = AMP_UNDEFINED}, wanted = found;
    (void)state;
    amp_session_set_threads(1);
    net_start(17);
    struct amp_tensor k = numbers(DIMS(DEPTH, COLUMNS), 1), v = numbers(DIMS(COLUMNS, DEPTH), 2);
    struct amp_tensor bias = numbers(DIMS(COLUMNS), 3);
    uint32_t s = NODE("MatMul", "s", input("q", AMP_FLOAT, DIMS(-1, DEPTH)),
                      constant("k", AMP_FLOAT, k.shape, k.data));
    s = NODE("Add", "a", s, constant("b", AMP_FLOAT, bias.shape, bias.data));
    output(NODE("MatMul", "y", NODE("Softmax", "p", s), constant("v", AMP_FLOAT, v.shape, v.data)));
    infer_all();
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    assert_int_equal(amp_session_open(net.model, true, &strict, &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_tensor q = numbers(DIMS(rows[i], DEPTH), (int)i);
        assert_int_equal(amp_session_run(session, &q, &found, &net.err), AMP_OK);
        assert_int_equal(amp_session_run(strict, &q, &wanted, &net.err), AMP_OK);
        compare(&found, &wanted, "constants", rows[i]);
        amp_tensor_release(&found);
        amp_tensor_release(&wanted);
        amp_tensor_release(&q);
    }
    amp_tensor_release(&k);
    amp_tensor_release(&v);
    amp_tensor_release(&bias);
    amp_session_destroy(session);
    amp_session_destroy(strict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_lengths), NET_TEST(are_no_more_than_needed),
        NET_TEST(cuts_follow_the_scores), NET_TEST(constants_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Repeated runs with the same shapes allocate nothing, make no primitive and decide nothing anew:
 * counts the calls of the allocator, and calls of kernels that are prepared, from the third run on.
 * What oneDNN does within an execution (it lists the arguments there, and may chain primitives) is
 * not counted.
 */
#include "net.h"
#include "check/random_input.h"
#include "core/clock.h"
#include "core/memory.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "ops/dnnl/profile.h"
#include "run/exec/kernel_call.h"
#include "run/exec/session.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <cmocka.h>

enum { WARM_RUNS = 2, RUNS = 3 };

#ifndef __SANITIZE_ADDRESS__
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
static size_t n_calls;
static bool is_executing;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size);

static void note(void)
{
    n_calls += !is_executing;
}

dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                     int count, const dnnl_exec_arg_t *args)
{
    static dnnl_status_t (*execute)(const_dnnl_primitive_t, dnnl_stream_t, int,
                                    const dnnl_exec_arg_t *);
    is_executing = true;
    if (execute == NULL)
        *(void **)&execute = dlsym(RTLD_NEXT, "dnnl_primitive_execute");
    dnnl_status_t status = execute(primitive, stream, count, args);
    is_executing = false;
    return status;
}

void *malloc(size_t size)
{
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    note();
    return __libc_realloc(old, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    note();
    *memory = __libc_memalign(alignment, size);
    return *memory == NULL;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
#else
static const size_t n_calls = 0;
#endif

static size_t n_prepared;

enum amp_status __real_amp_kernel_call_run(struct amp_kernel_call *call);
enum amp_status __wrap_amp_kernel_call_run(struct amp_kernel_call *call);

enum amp_status __wrap_amp_kernel_call_run(struct amp_kernel_call *call)
{
    n_prepared++;
    return __real_amp_kernel_call_run(call);
}

struct fixture {
    struct amp_model_file file;
    struct amp_session *session;
    struct amp_tensor *inputs, *outputs;
    size_t n_inputs, n_outputs;
};

/* With symbolic dims of SIZE. */
static void set_up(struct fixture *f, const char *path, int64_t size)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_model_read(path, &f->file, &err), AMP_OK);
    assert_int_equal(amp_infer(f->file.model, &err), AMP_OK);
    const struct amp_graph *graph = &f->file.model->graphs[0];
    f->n_inputs = graph->inputs.count;
    f->n_outputs = graph->outputs.count;
    f->inputs = amp_xcalloc(f->n_inputs, sizeof *f->inputs);
    f->outputs = amp_xcalloc(f->n_outputs, sizeof *f->outputs);
    int64_t *sizes = amp_arena_array(f->file.arena, f->file.model->n_symbols, sizeof *sizes);
    for (size_t i = 0; i < f->file.model->n_symbols; i++)
        sizes[i] = size;
    for (size_t i = 0; i < f->n_inputs; i++) {
        struct amp_random_input plan;
        if (amp_value_at(f->file.model, graph->inputs.items[i])->constant != NULL)
            continue;
        assert_int_equal(
            amp_random_input_plan(f->file.model, graph->inputs.items[i], sizes, &plan, &err),
            AMP_OK);
        assert_int_equal(amp_random_input_make(&plan, 0, 0, &f->inputs[i], &err), AMP_OK);
    }
    assert_int_equal(amp_session_open(f->file.model, false, &f->session, &err), AMP_OK);
}

static void tear_down(struct fixture *f)
{
    amp_tensors_release(f->inputs, f->n_inputs);
    free(f->inputs);
    free(f->outputs);
    amp_session_destroy(f->session);
    amp_model_close(&f->file);
}

static void run(struct fixture *f)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_session_run(f->session, f->inputs, f->outputs, &err), AMP_OK);
    amp_tensors_release(f->outputs, f->n_outputs);
}

static void runs_as_before(void **state)
{
    static const struct {
        const char *path;
        int64_t size;
        int threads;
        bool is_prepared; /* in slices: calls are made for each */
    } models[] = {{"models/digits_cnn.onnx", 4, 2, false},
                  {"models/digits_transformer.onnx", 4, 2, false},
                  {"build/cases/parity/bert.onnx", 4, 2, false},
                  {"build/cases/parity/mobilenet.onnx", 4, 2, false},
                  {"build/cases/parity/cnn.onnx", 4, 2, false},
                  {"build/cases/run/sliced/exported.onnx", 1100, 1, true}};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct fixture f;
        amp_session_set_threads(models[m].threads);
        set_up(&f, models[m].path, models[m].size);
        for (int i = 0; i < WARM_RUNS; i++)
            run(&f);
        size_t calls = n_calls, prepared = n_prepared, used = amp_memory_used();
        for (int i = 0; i < RUNS; i++)
            run(&f);
        if (n_calls != calls)
            fail_msg("%s: %zu allocations in %d runs", models[m].path, n_calls - calls, RUNS);
        assert_int_equal(amp_memory_used(), used);
        assert_int_equal(n_prepared > prepared, models[m].is_prepared);
        tear_down(&f);
    }
    assert_int_equal(amp_memory_used(), 0);
}

/* An operand of more dims than a product has, of which nobody knew, is no post-op: that is tried
   once, as inputs lie, which is row-major; what runs in its place is prepared twice and kept. */
static void add_more_dims(int64_t count)
{
    static const size_t prepared[] = {3, 2, 0, 0};
    static const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const float b[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const double sums[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    struct amp_session *session = NULL;
    const struct amp_shape shape = DIMS(count, 3, 2);
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(3, 3)), w = input("w", AMP_FLOAT, DIMS(3, 2));
    output(NODE("Add", "y", NODE("MatMul", "m", x, w), input("b", AMP_FLOAT, ANY_DIMS)));
    infer_all();
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    const struct amp_tensor *inputs =
        TENSORS(*net_tensor(AMP_FLOAT, DIMS(3, 3), ones), *net_tensor(AMP_FLOAT, DIMS(3, 2), ones),
                *net_tensor(AMP_FLOAT, shape, b));
    for (size_t i = 0; i < sizeof prepared / sizeof *prepared; i++) {
        size_t before = n_prepared;
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session, inputs, net.outputs, &net.err), AMP_OK);
        assert_int_equal(n_prepared - before, prepared[i]);
        assert_true(amp_shape_equal(&net.outputs[0].shape, &shape));
        expect_doubles(0, sums, (size_t)(count * 6), 0);
    }
    amp_session_destroy(session);
}

static void what_is_refused_is_not_tried_again(void **state)
{
    (void)state;
    for (int64_t count = 1; count <= 2; count++)
        add_more_dims(count);
}

/* Shapes that depend on data follow them, in runs that are as those before in all else. */
static void shapes_follow_data(void **state)
{
    static const int64_t sizes[][2] = {{2, 6}, {2, 6}, {2, 6}, {3, 4}, {12, 1}, {3, 4}};
    static const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct amp_session *session = NULL;
    (void)state;
    net_start(17);
    uint32_t s = input("s", AMP_INT64, DIMS(2));
    output(NODE("Reshape", "y", input("x", AMP_FLOAT, DIMS(12)), s));
    output(NODE("Expand", "z", FLOATS("c", 5), s));
    output(NODE("ConstantOfShape", "o", s));
    infer_all();
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session,
                                         TENSORS(*net_tensor(AMP_INT64, DIMS(2), sizes[i]),
                                                 *net_tensor(AMP_FLOAT, DIMS(12), x)),
                                         net.outputs, &net.err),
                         AMP_OK);
        for (int k = 0; k < 3; k++)
            assert_true(amp_shape_equal(&net.outputs[k].shape, &DIMS(sizes[i][0], sizes[i][1])));
        EXPECT_OUTPUT(0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        EXPECT_OUTPUT(1, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5);
        EXPECT_OUTPUT(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
    amp_session_destroy(session);
}

/* A call is made again while inputs come in the same forms; each other one is prepared once. */
static void other_shapes_are_prepared_once(void **state)
{
    static const struct {
        int64_t a, b;
        size_t prepared;
    } runs[] = {{4, 4, 1}, {4, 4, 1}, {4, 4, 0}, {5, 5, 1}, {5, 5, 0}, {4, 4, 1},
                {4, 1, 1}, {4, 1, 0}, {1, 4, 1}, {1, 4, 0}, {0, 1, 1}, {0, 1, 0}};
    static const float numbers[] = {1, 2, 3, 4, 5};
    struct amp_session *session = NULL;
    (void)state;
    net_start(17);
    uint32_t a = input("a", AMP_FLOAT, DIMS(-1)), b = input("b", AMP_FLOAT, DIMS(-1));
    output(NODE("Sub", "y", a, b));
    infer_all();
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        size_t before = n_prepared;
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session,
                                         TENSORS(*net_tensor(AMP_FLOAT, DIMS(runs[i].a), numbers),
                                                 *net_tensor(AMP_FLOAT, DIMS(runs[i].b), numbers)),
                                         net.outputs, &net.err),
                         AMP_OK);
        assert_int_equal(n_prepared - before, runs[i].prepared);
        int64_t count = runs[i].a == 1 ? runs[i].b : runs[i].a;
        assert_int_equal(amp_tensor_count(&net.outputs[0]), count);
        for (int64_t k = 0; k < count; k++)
            assert_true(amp_tensor_double(&net.outputs[0], (size_t)k) ==
                        (double)numbers[runs[i].a == 1 ? 0 : k] - numbers[runs[i].b == 1 ? 0 : k]);
    }
    amp_session_destroy(session);
}

/* ---- memory that is used again ---- */

enum { COUNT = 1 << 20 };

enum chain { NEGATED, SUMMED, READ_TWICE, GIVEN_OUT, OF_OTHER_DTYPE, SHARED, SHARED_TWICE };

/* Nodes that map COUNT numbers to as many; the last of them. */
static uint32_t make_chain(enum chain chain, uint32_t x)
{
    uint32_t a = NODE("Neg", "a", x), b;
    switch (chain) {
    case NEGATED:
        return NODE("Neg", "d", NODE("Neg", "c", NODE("Neg", "b", a)));
    case SUMMED:
        return NODE("Add", "c", a, NODE("Abs", "b", x));
    case READ_TWICE:
        return NODE("Add", "c", NODE("Abs", "b", a), a);
    case GIVEN_OUT:
        output(a);
        return NODE("Neg", "b", a);
    case OF_OTHER_DTYPE:
        b = NODE("Cast", "b", a);
        set_int(b, "to", AMP_INT32);
        return b;
    case SHARED:
        return NODE("Neg", "c", NODE("Reshape", "b", a, NUMBERS("s", 1, COUNT)));
    case SHARED_TWICE:
        b = NODE("Reshape", "b", a, NUMBERS("s", 1, COUNT));
        output(NODE("Neg", "c", a));
        return NODE("Neg", "d", b);
    }
    return a;
}

/* What is computed element by element is so in the place of what nobody needs any more. */
static void results_take_the_place_of_operands(void **state)
{
    static const struct {
        double at_3; /* the last element, of x = 3 */
        size_t n;    /* arrays that are there at a time */
    } expected[] = {
        [NEGATED] = {3, 1},         [SUMMED] = {0, 2}, [READ_TWICE] = {0, 2},  [GIVEN_OUT] = {3, 2},
        [OF_OTHER_DTYPE] = {-3, 2}, [SHARED] = {3, 1}, [SHARED_TWICE] = {3, 2}};
    static float x[COUNT];
    (void)state;
    x[COUNT - 1] = 3;
    for (enum chain chain = NEGATED; chain <= SHARED_TWICE; chain++) {
        struct amp_session *session = NULL;
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        net_start(17);
        output(make_chain(chain, input("x", AMP_FLOAT, DIMS(COUNT))));
        infer_all();
        const struct amp_tensor *in = net_tensor(AMP_FLOAT, DIMS(COUNT), x);
        size_t last = net.model->graphs[0].outputs.count - 1, before = amp_memory_used();
        assert_int_equal(amp_session_open(net.model, AMP_ROUNDED, &session, &net.err), AMP_OK);
        for (int i = 0; i < 4; i++) {
            amp_tensors_release(net.outputs, NET_OUTPUTS);
            amp_memory_restart_peak();
            assert_int_equal(amp_session_run(session, in, net.outputs, &net.err), AMP_OK);
            size_t n = (amp_memory_peak() - before + sizeof x / 2) / sizeof x;
            if (n != expected[chain].n)
                fail_msg("chain %d, run %d: %zu arrays", (int)chain, i, n);
            assert_true(amp_tensor_double(&net.outputs[last], COUNT - 1) == expected[chain].at_3);
            assert_true(last == 0 || amp_tensor_double(&net.outputs[0], COUNT - 1) ==
                                         (chain == GIVEN_OUT ? -3 : 3));
        }
        amp_session_destroy(session);
    }
}

/* What is computed once is needed in each run, by the last of its readers, too. */
static void what_is_computed_once_keeps_its_place(void **state)
{
    static const char *const ops[] = {"Add", "Mul", "Sub", "PRelu"};
    static const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct amp_session *session = NULL;
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4, 4)),
                 a = constant("a", AMP_FLOAT, DIMS(4, 4), ones);
        uint32_t c = NODE("MatMul", "c", a, a);
        output(i % 2 == 0 ? NODE(ops[i / 2], "y", x, c) : NODE(ops[i / 2], "y", c, x));
        infer_all();
        assert_int_equal(amp_session_open(net.model, AMP_ROUNDED, &session, &net.err), AMP_OK);
        for (int run = 1; run < 6; run++) {
            float numbers[16];
            for (int k = 0; k < 16; k++)
                numbers[k] = (float)-run;
            const double left = i % 2 == 0 ? -run : 4, right = i % 2 == 0 ? 4 : -run;
            const double expected[] = {left + right, left * right, left - right,
                                       left < 0 ? left * right : left};
            amp_tensors_release(net.outputs, NET_OUTPUTS);
            assert_int_equal(amp_session_run(session, net_tensor(AMP_FLOAT, DIMS(4, 4), numbers),
                                             net.outputs, &net.err),
                             AMP_OK);
            for (size_t k = 0; k < 16; k++)
                if (amp_tensor_double(&net.outputs[0], k) != expected[i / 2])
                    fail_msg("%s %d, run %d: %g", ops[i / 2], i % 2, run,
                             amp_tensor_double(&net.outputs[0], k));
        }
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        amp_session_destroy(session);
    }
}

/* ---- profiles ---- */

enum { ROWS = 128, INNER = 200, COLUMNS = 150 };

static uint32_t add_product(uint32_t owner, const char *name, uint32_t a, uint32_t b)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    uint32_t node = net_node(graph, "MatMul", name, 1, IDS(a, b)), y = net_out(node, 0);
    amp_value_at(net.model, y)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, y);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
    return node;
}

static void expect_entry(const struct amp_profile_node *entry, size_t calls, double flops,
                         double bytes)
{
    assert_int_equal(entry->calls, calls);
    assert_true(entry->flops == (double)calls * flops);
    assert_true(entry->bytes == (double)calls * bytes);
    assert_true(entry->seconds > 0);
}

/* A node's figures are of all its calls; its seconds are not those of the nodes of its body. */
static void profiles_add_up(void **state)
{
    static float a[ROWS * INNER], b[INNER * COLUMNS];
    static const bool yes = true;
    const double flops = 2. * ROWS * INNER * COLUMNS;
    const double bytes = 4. * (ROWS * INNER + INNER * COLUMNS + ROWS * COLUMNS);
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    size_t count;
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(ROWS, INNER));
    uint32_t w = input("w", AMP_FLOAT, DIMS(INNER, COLUMNS)), c = input("c", AMP_BOOL, SCALAR);
    output(NODE("MatMul", "y", x, w));
    uint32_t owner = net_node(0, "If", "z", 1, IDS(c));
    output(net_out(owner, 0));
    uint32_t run = add_product(owner, "then_branch", x, w);
    uint32_t left = add_product(owner, "else_branch", x, w);
    infer_all();
    assert_int_equal(amp_session_open(net.model, AMP_ROUNDED, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    double start = amp_clock_seconds();
    for (int i = 0; i < 5; i++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session,
                                         TENSORS(*net_tensor(AMP_FLOAT, DIMS(ROWS, INNER), a),
                                                 *net_tensor(AMP_FLOAT, DIMS(INNER, COLUMNS), b),
                                                 *net_tensor(AMP_BOOL, SCALAR, &yes)),
                                         net.outputs, &net.err),
                         AMP_OK);
    }
    double all = amp_clock_seconds() - start, sum = 0;
    const struct amp_profile_node *nodes = amp_profile_nodes(profile, &count);
    for (size_t i = 0; i < count; i++)
        sum += nodes[i].seconds;
    assert_true(sum <= all);
    expect_entry(&nodes[0], 5, flops, bytes);
    expect_entry(&nodes[run], 5, flops, bytes);
    expect_entry(&nodes[owner], 5, 0, 1 + 4. * ROWS * COLUMNS);
    assert_true(left >= count || nodes[left].calls == 0);
    amp_session_destroy(session);
    amp_profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_as_before),
                                       NET_TEST(what_is_refused_is_not_tried_again),
                                       NET_TEST(shapes_follow_data),
                                       NET_TEST(other_shapes_are_prepared_once),
                                       NET_TEST(results_take_the_place_of_operands),
                                       NET_TEST(what_is_computed_once_keeps_its_place),
                                       NET_TEST(profiles_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

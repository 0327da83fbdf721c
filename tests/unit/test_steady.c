/*
 * Repeated runs with the same shapes allocate nothing, make no primitive and decide nothing anew:
 * counts the calls of the allocator, and calls of kernels that are prepared, from the third run on.
 * What oneDNN does within an execution (it lists the arguments there, and may chain primitives) is
 * not counted.
 */
#include "net.h"
#include "check/random_input.h"
#include "core/clock.h"
#include "core/convert.h"
#include "core/cpu.h"
#include "core/memory.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/profile.h"
#include "run/exec/constants.h"
#include "run/exec/kernel_call.h"
#include "run/exec/session.h"
#include "run/exec/walk.h"

#include <dlfcn.h>
#include <omp.h>
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

static size_t n_prepared, n_converted, n_reordered, n_stored, n_released, n_given, n_asked,
    n_single, n_allocated, n_wrong_threads;

enum amp_status __real_amp_kernel_call_run(struct amp_kernel_call *call);
enum amp_status __wrap_amp_kernel_call_run(struct amp_kernel_call *call);

enum amp_status __wrap_amp_kernel_call_run(struct amp_kernel_call *call)
{
    n_prepared++;
    return __real_amp_kernel_call_run(call);
}

enum amp_status __real_amp_kernel_call_store(const struct amp_kernel_call *call);
enum amp_status __wrap_amp_kernel_call_store(const struct amp_kernel_call *call);

enum amp_status __wrap_amp_kernel_call_store(const struct amp_kernel_call *call)
{
    n_stored++;
    return __real_amp_kernel_call_store(call);
}

void __real_amp_kernel_call_release(const struct amp_kernel_call *call);
void __wrap_amp_kernel_call_release(const struct amp_kernel_call *call);

void __wrap_amp_kernel_call_release(const struct amp_kernel_call *call)
{
    n_released++;
    __real_amp_kernel_call_release(call);
}

struct amp_buffer *__real_amp_buffer_create_again(const struct amp_buffer *former, size_t size);
struct amp_buffer *__wrap_amp_buffer_create_again(const struct amp_buffer *former, size_t size);

struct amp_buffer *__wrap_amp_buffer_create_again(const struct amp_buffer *former, size_t size)
{
    n_given++;
    return __real_amp_buffer_create_again(former, size);
}

enum amp_status __real_amp_shape_same(struct amp_ctx *ctx);
enum amp_status __wrap_amp_shape_same(struct amp_ctx *ctx);
enum amp_status __real_amp_zip_shape(struct amp_ctx *ctx);
enum amp_status __wrap_amp_zip_shape(struct amp_ctx *ctx);
enum amp_status __real_amp_ctx_ints(const struct amp_ctx *ctx, uint32_t i, int64_t *values, int max,
                                    int *count);
enum amp_status __wrap_amp_ctx_ints(const struct amp_ctx *ctx, uint32_t i, int64_t *values, int max,
                                    int *count);

enum amp_status __wrap_amp_shape_same(struct amp_ctx *ctx)
{
    n_asked++;
    return __real_amp_shape_same(ctx);
}

enum amp_status __wrap_amp_zip_shape(struct amp_ctx *ctx)
{
    n_asked++;
    return __real_amp_zip_shape(ctx);
}

enum amp_status __wrap_amp_ctx_ints(const struct amp_ctx *ctx, uint32_t i, int64_t *values, int max,
                                    int *count)
{
    n_asked++;
    return __real_amp_ctx_ints(ctx, i, values, max, count);
}

void __real_amp_session_take_threads(struct amp_session *session, bool is_single);
void __wrap_amp_session_take_threads(struct amp_session *session, bool is_single);

void __wrap_amp_session_take_threads(struct amp_session *session, bool is_single)
{
    n_single += is_single;
    __real_amp_session_take_threads(session, is_single);
    n_wrong_threads += omp_get_max_threads() != (is_single ? 1 : session->threads);
}

void __real_amp_dtype_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                              void *to, size_t count);
void __wrap_amp_dtype_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                              void *to, size_t count);

void __wrap_amp_dtype_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                              void *to, size_t count)
{
    n_converted++;
    __real_amp_dtype_convert(from_dtype, from, to_dtype, to, count);
}

enum amp_status __real_amp_layout_undo(const struct amp_ctx *ctx, const struct amp_tensor *from,
                                       struct amp_tensor *to);
enum amp_status __wrap_amp_layout_undo(const struct amp_ctx *ctx, const struct amp_tensor *from,
                                       struct amp_tensor *to);

enum amp_status __wrap_amp_layout_undo(const struct amp_ctx *ctx, const struct amp_tensor *from,
                                       struct amp_tensor *to)
{
    n_reordered++;
    return __real_amp_layout_undo(ctx, from, to);
}

enum amp_status __real_amp_ctx_alloc(struct amp_ctx *ctx, uint32_t i);
enum amp_status __wrap_amp_ctx_alloc(struct amp_ctx *ctx, uint32_t i);

enum amp_status __wrap_amp_ctx_alloc(struct amp_ctx *ctx, uint32_t i)
{
    n_allocated++;
    return __real_amp_ctx_alloc(ctx, i);
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

/* ---- threads ---- */

/* OpenMP's until they are set, by whichever thread; then those of all threads that run. This is the
   first test: there is no way back. */
static void runs_have_the_threads_that_are_set(void **state)
{
    (void)state;
    omp_set_num_threads(3);
    amp_session_use_threads();
    assert_int_equal(omp_get_max_threads(), 3);
    for (int count = 1; count <= 2; count++) {
        amp_session_set_threads(count);
        assert_int_equal(amp_session_threads(), count);
        omp_set_num_threads(3);
        amp_session_use_threads();
        assert_int_equal(omp_get_max_threads(), count);
        amp_session_use_threads();
        assert_int_equal(omp_get_max_threads(), count);
    }
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

/* ---- what a run does --------------------------------------------------------------------------
 */

static const struct amp_shape square = {2, {4, 4}};

/* Whole numbers from -2 to 2 in DTYPE: products of four are exact in 16 bits. Others for each SEED;
   but a condition is false. */
static struct amp_tensor whole_numbers(enum amp_dtype dtype, struct amp_shape shape, size_t seed)
{
    struct amp_tensor tensor = {.dtype = dtype, .shape = shape};
    tensor.data = amp_arena_array(net.arena, amp_tensor_size(&tensor), 1);
    for (size_t i = 0; i < amp_tensor_count(&tensor); i++) {
        int value = (int)((i * 7 + i / 3 * 5 + seed * 3) % 5) - 2;
        if (dtype == AMP_INT64)
            ((int64_t *)tensor.data)[i] = value;
        else if (dtype != AMP_BOOL)
            amp_tensor_set_double(&tensor, i, value);
    }
    return tensor;
}

static uint32_t low_input(const char *name)
{
    return input(name, AMP_BFLOAT16, square);
}

static uint32_t low_constant(const char *name, struct amp_shape shape)
{
    struct amp_tensor tensor = whole_numbers(AMP_BFLOAT16, shape, 1);
    return constant(name, AMP_BFLOAT16, shape, tensor.data);
}

static uint32_t float_constant(const char *name, struct amp_shape shape)
{
    struct amp_tensor tensor = whole_numbers(AMP_FLOAT, shape, 1);
    return constant(name, AMP_FLOAT, shape, tensor.data);
}

static void expect_same(const struct amp_tensor *found, const struct amp_tensor *wanted,
                        const char *what, int run)
{
    if (found->dtype != wanted->dtype || !amp_shape_equal(&found->shape, &wanted->shape))
        fail_msg("%s, run %d: another type", what, run);
    for (size_t i = 0; i < amp_tensor_count(found); i++)
        if (amp_tensor_double(found, i) != amp_tensor_double(wanted, i))
            fail_msg("%s, run %d, element %zu: %g is not %g", what, run, i,
                     amp_tensor_double(found, i), amp_tensor_double(wanted, i));
}

/* Opens the model on a CPU that computes in no lower dtype. */
static struct amp_session *open_net(enum amp_strictness strictness)
{
    const uint32_t all =
        UINT32_C(1) << AMP_CPU_BF16 | UINT32_C(1) << AMP_CPU_F16 | UINT32_C(1) << AMP_CPU_FAST_F16;
    struct amp_session *session = NULL;
    amp_cpu_detected = amp_cpu_detect() & ~all;
    if (amp_session_open(net.model, strictness, &session, &net.err) != AMP_OK)
        fail_msg("%s", net.err.text);
    return session;
}

/* What the same inputs give node by node the first time. */
static void expect_as_alone(const struct amp_tensor *inputs, const struct amp_tensor *outputs,
                            const char *what, int run)
{
    struct amp_tensor wanted[NET_OUTPUTS] = {{.dtype = AMP_UNDEFINED}};
    struct amp_session *session = open_net(AMP_ROUNDED);
    assert_int_equal(amp_session_run(session, inputs, wanted, &net.err), AMP_OK);
    for (size_t i = 0; i < net.model->graphs[0].outputs.count; i++) {
        assert_int_equal(outputs[i].dtype,
                         amp_value_at(net.model, net.model->graphs[0].outputs.items[i])->dtype);
        expect_same(&outputs[i], &wanted[i], what, run);
    }
    amp_tensors_release(wanted, NET_OUTPUTS);
    amp_session_destroy(session);
}

/* Calls leave no tensors behind but constants. */
static void expect_nothing_left(const struct amp_session *session, const char *what)
{
    const struct amp_model *model = session->model;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        const struct amp_step_state *held = &session->states[id];
        for (size_t i = 0; held->step != NULL && i < node->n_inputs + held->step->n_posts; i++)
            if (held->frame.temporary[i].data != NULL)
                fail_msg("%s: node %u holds input %zu", what, id, i);
        for (size_t i = 0; held->step != NULL && i < node->n_outputs; i++)
            if (held->frame.outs[i].data != NULL)
                fail_msg("%s: node %u holds output %zu", what, id, i);
    }
    for (uint32_t v = 0; v < model->n_values; v++)
        if (session->values[v].data != NULL && !amp_constant_is(session, v))
            fail_msg("%s: '%s' holds data", what, amp_value_at(model, v)->name);
    assert_false(session->is_single);
    assert_int_equal(session->threads, 0);
}

/* For four runs, other numbers each. */
static void make_inputs(struct amp_tensor inputs[4][4])
{
    const struct amp_ids *ids = &net.model->graphs[0].inputs;
    for (size_t run = 0; run < 4; run++)
        for (size_t i = 0; i < ids->count; i++) {
            const struct amp_value *value = amp_value_at(net.model, ids->items[i]);
            struct amp_shape shape;
            amp_value_shape(value, &shape);
            inputs[run][i] = whole_numbers(value->dtype, shape, run + i);
        }
}

/* Runs the model four times, on other numbers each: what it gives is what it gives alone. Appends
   to TEXT for each run how many calls are prepared, conversions made, tensors reordered, and
   outputs given memory that is not known by its size; for the last also how many calls move what
   they give to its values, leave something in the frame, get memory by its size, ask for shapes,
   and run in one thread; and how many nodes are widened. */
static void expect_runs(const char *what, enum amp_strictness strictness, const char *expected)
{
    char text[200] = "";
    struct amp_tensor inputs[4][4];
    infer_all();
    make_inputs(inputs);
    size_t used_before = amp_memory_used();
    struct amp_session *session = open_net(strictness);
    for (int run = 0; run < 4; run++) {
        size_t used = strlen(text);
        n_prepared = n_converted = n_reordered = n_stored = n_released = n_given = n_asked =
            n_single = n_allocated = 0;
        if (amp_session_run(session, inputs[run], net.outputs, &net.err) != AMP_OK)
            fail_msg("%s, run %d: %s", what, run, net.err.text);
        snprintf(text + used, sizeof text - used, "%s%zu/%zu/%zu/%zu", run > 0 ? " " : "",
                 n_prepared, n_converted, n_reordered, n_allocated);
        used = strlen(text);
        if (run == 3)
            snprintf(text + used, sizeof text - used, "; %zu/%zu/%zu/%zu/%zu %zu", n_stored,
                     n_released, n_given, n_asked, n_single, amp_session_widened(session));
        expect_as_alone(inputs[run], net.outputs, what, run);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        expect_nothing_left(session, what);
        assert_int_equal(omp_get_max_threads(), 2);
    }
    assert_int_equal(n_wrong_threads, 0);
    amp_session_destroy(session);
    amp_cpu_detect();
    assert_int_equal(amp_memory_used(), used_before);
    if (expected != NULL && strcmp(text, expected) != 0)
        fail_msg("%s: %s; %s is right", what, text, expected);
}

static uint32_t low_product(uint32_t x)
{
    return NODE("MatMul", "m", x, low_constant("w", square));
}

static uint32_t low_convolution(const char *name)
{
    uint32_t x = input("x", AMP_BFLOAT16, DIMS(1, 8, 4, 4));
    return NODE("Conv", name, x, low_constant("w", DIMS(8, 8, 1, 1)));
}

static uint32_t convolution(const char *name)
{
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, 8, 4, 4));
    return NODE("Conv", name, x, float_constant("w", DIMS(8, 8, 1, 1)));
}

static void add_body(uint32_t owner, const char *name, uint32_t x)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    uint32_t y = net_out(net_node(graph, "Neg", name, 1, IDS(x)), 0);
    amp_value_at(net.model, y)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, y);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
}

/* A GRU that gives N_OUTPUTS, the first of them under no name; its last. */
static uint32_t recurrent(enum amp_dtype dtype, uint32_t n_outputs)
{
    uint32_t x = input("x", dtype, DIMS(2, 1, 4)), w = input("gw", dtype, DIMS(1, 12, 4));
    uint32_t id = net_node(0, "GRU", "g", n_outputs, IDS(x, w, input("r", dtype, DIMS(1, 12, 4))));
    amp_node_set_int(net.model, id, "hidden_size", 4);
    if (n_outputs > 0)
        amp_node_set_output(net.model, id, 0, AMP_NONE);
    return n_outputs > 0 ? net_out(id, n_outputs - 1) : AMP_NONE;
}

static uint32_t low_cast(void)
{
    return to_dtype("c", input("x", AMP_FLOAT, square), AMP_BFLOAT16);
}

static void pool(uint32_t x, uint32_t n_outputs)
{
    uint32_t id = net_node(0, "MaxPool", "p", n_outputs, IDS(x));
    SET_INTS(net_out(id, 0), "kernel_shape", 2, 2);
    for (uint32_t i = 0; i < n_outputs; i++)
        output(net_out(id, i));
}

static void build_mapped(void)
{
    output(NODE("Abs", "y", low_input("x")));
}

static void build_product(void)
{
    output(low_product(low_input("x")));
}

static void build_product_of_inputs(void)
{
    output(NODE("MatMul", "y", low_input("x"), low_input("w")));
}

static void build_chain(void)
{
    uint32_t m = low_product(low_input("x"));
    output(NODE("Relu", "y", NODE("Add", "a", m, low_constant("b", DIMS(4)))));
}

static void build_chain_with_input(void)
{
    uint32_t m = low_product(low_input("x"));
    output(NODE("Relu", "y", NODE("Add", "a", m, low_input("b"))));
}

static void build_moved(void)
{
    output(turn("y", low_input("x")));
}

static void build_moved_and_mapped(void)
{
    output(NODE("Neg", "n", turn("y", low_input("x"))));
}

static void build_omitted_input(void)
{
    output(NODE("Clip", "y", low_product(low_input("x")), AMP_NONE, low_constant("high", SCALAR)));
}

static void build_of_lists(void)
{
    uint32_t x = input("x", AMP_FLOAT, square),
             list = NODE("SequenceConstruct", "l", x, NODE("Neg", "n", x));
    output(NODE("SequenceAt", "y", list, constant("i", AMP_INT64, SCALAR, &(int64_t){1})));
}

static void build_optional(void)
{
    output(NODE("OptionalGetElement", "y",
                NODE("Optional", "o", NODE("Neg", "n", input("x", AMP_FLOAT, square)))));
}

static void build_sum_of_mapped(void)
{
    uint32_t x = low_input("x");
    output(NODE("Add", "y", NODE("Neg", "a", x), NODE("Abs", "b", x)));
}

static void build_between_casts(void)
{
    output(to_dtype("y", NODE("Neg", "n", low_product(low_cast())), AMP_FLOAT));
}

static void build_split_between_casts(void)
{
    uint32_t id = net_node(0, "Split", "h", 2, IDS(low_product(low_cast())));
    output(to_dtype("y", net_out(id, 0), AMP_FLOAT));
    output(net_out(id, 1));
}

static void build_product_of_cast(void)
{
    output(NODE("MatMul", "y", to_dtype("f", low_input("l"), AMP_FLOAT),
                input("x", AMP_FLOAT, square)));
}

static void build_wide_readers(void)
{
    output(NODE("MatMul", "y", NODE("Neg", "n", low_product(low_cast())), low_input("u")));
}

static void build_in_layouts(void)
{
    uint32_t y = NODE("Add", "a", convolution("c"), input("b", AMP_FLOAT, DIMS(4)));
    output(NODE("CumSum", "y", y, NUMBERS("axis", 1)));
}

static void build_low_in_layouts(void)
{
    pool(NODE("Neg", "n", low_convolution("c")), 1);
}

static void build_low_with_image(void)
{
    output(NODE("Sub", "y", low_convolution("c"), input("b", AMP_BFLOAT16, DIMS(1, 1, 4, 4))));
}

static void build_indices(void)
{
    pool(convolution("c"), 2);
}

static void build_low_indices(void)
{
    pool(low_convolution("c"), 2);
}

static void build_without_shape(void)
{
    output(NODE("NonZero", "y", input("x", AMP_FLOAT, square)));
}

static void build_shape_of_data(void)
{
    output(NODE("ConstantOfShape", "y", NODE("Abs", "a", input("s", AMP_INT64, DIMS(2)))));
}

static void build_constant_shape(void)
{
    output(NODE("Expand", "y", input("x", AMP_FLOAT, DIMS(4)), NUMBERS("s", 4, 4)));
}

static void build_bodies(void)
{
    uint32_t x = input("x", AMP_FLOAT, square), a = NODE("Abs", "a", x);
    uint32_t id = net_node(0, "If", "if", 1, IDS(input("c", AMP_BOOL, SCALAR)));
    add_body(id, "then_branch", a);
    add_body(id, "else_branch", x);
    output(net_out(id, 0));
}

static void build_no_outputs(void)
{
    recurrent(AMP_FLOAT, 0);
    output(NODE("Neg", "n", input("v", AMP_FLOAT, square)));
}

static void build_second_output(void)
{
    output(recurrent(AMP_FLOAT, 2));
}

static void build_low_second_output(void)
{
    output(recurrent(AMP_BFLOAT16, 2));
}

static void build_map_of_cast(void)
{
    output(NODE("Abs", "y", to_dtype("c", low_input("x"), AMP_FLOAT)));
}

static void build_sum_of_casts(void)
{
    uint32_t a = to_dtype("a", low_input("x"), AMP_FLOAT);
    output(NODE("Sub", "y", a, to_dtype("b", low_input("z"), AMP_FLOAT)));
}

static void build_bounds_of_input(void)
{
    uint32_t x = low_input("x");
    output(NODE("Clip", "y", x, AMP_NONE, input("high", AMP_BFLOAT16, SCALAR)));
}

static void build_forced(void)
{
    output(NODE("Hardmax", "y", low_input("x")));
}

static void build_slow_convolution(void)
{
    uint32_t x = input("x", AMP_FLOAT16, DIMS(1, 8, 4, 4));
    output(NODE("Conv", "y", x, input("w", AMP_FLOAT16, DIMS(8, 8, 1, 1))));
}

static void build_convolutions_beside_others(void)
{
    uint32_t c = low_convolution("c");
    output(NODE("Conv", "y", c, low_constant("u", DIMS(8, 8, 1, 1))));
    output(NODE("CumSum", "s", c, NUMBERS("axis", 1)));
}

static void build_channels_that_fill_no_block(void)
{
    uint32_t x = input("x", AMP_BFLOAT16, DIMS(1, 3, 4, 4));
    uint32_t c = NODE("Conv", "c", x, low_constant("w", DIMS(3, 3, 1, 1)));
    output(NODE("Conv", "y", c, low_constant("u", DIMS(3, 3, 1, 1))));
    output(NODE("Neg", "s", NODE("Sign", "g", c)));
}

static void build_cast_in_layouts(void)
{
    pool(to_dtype("l", convolution("c"), AMP_FLOAT16), 1);
}

static void build_cast_of_layouts(void)
{
    uint32_t c = low_convolution("c");
    output(NODE("Abs", "y", to_dtype("f", c, AMP_FLOAT)));
    output(NODE("Neg", "n", c));
}

static void build_turned_product(void)
{
    output(turn("y",
                NODE("MatMul", "m", input("x", AMP_FLOAT, square), input("w", AMP_FLOAT, square))));
}

static void build_attention(void)
{
    uint32_t s = NODE("MatMul", "s", input("q", AMP_FLOAT, square), input("k", AMP_FLOAT, square));
    output(NODE("MatMul", "y", NODE("Softmax", "p", s), input("v", AMP_FLOAT, square)));
}

static void build_large_product(void)
{
    struct amp_shape large = DIMS(256, 256);
    output(NODE("MatMul", "y", input("x", AMP_FLOAT, large), input("w", AMP_FLOAT, large)));
}

static void build_row_by_weights(void)
{
    output(NODE("MatMul", "y", input("x", AMP_BFLOAT16, DIMS(1, 128)),
                low_constant("w", DIMS(128, 1024))));
}

static void build_unwanted_output(void)
{
    uint32_t id = net_node(0, "MaxPool", "p", 2, IDS(input("x", AMP_FLOAT, DIMS(1, 1, 4, 4))));
    SET_INTS(net_out(id, 0), "kernel_shape", 2, 2);
    amp_node_set_output(net.model, id, 1, AMP_NONE);
    output(net_out(id, 0));
}

static void build_row_by_input(void)
{
    output(NODE("MatMul", "y", input("x", AMP_BFLOAT16, DIMS(1, 128)),
                input("w", AMP_BFLOAT16, DIMS(128, 512))));
}

static void build_turned_between_products(void)
{
    uint32_t t = turn(
        "t", NODE("MatMul", "m", input("x", AMP_FLOAT, square), input("w", AMP_FLOAT, square)));
    output(NODE("MatMul", "y", t, input("u", AMP_FLOAT, square)));
}

static void build_low_turned_between_products(void)
{
    uint32_t t = turn("t", low_product(low_input("x")));
    output(NODE("MatMul", "y", t, low_input("u")));
}

static void build_turned_for_products_and_others(void)
{
    uint32_t t = turn("t", low_input("x"));
    output(NODE("MatMul", "y", t, low_input("u")));
    output(NODE("MatMul", "z", t, low_input("v")));
}

static void build_cast_of_low_layouts(void)
{
    uint32_t c = low_convolution("c");
    output(NODE("Abs", "y", to_dtype("f", c, AMP_FLOAT)));
    output(NODE("CumSum", "s", c, NUMBERS("axis", 1)));
}

static void build_convolution_of_cast(void)
{
    uint32_t x = to_dtype("l", input("x", AMP_BFLOAT16, DIMS(1, 8, 4, 4)), AMP_FLOAT);
    output(NODE("Conv", "y", x, float_constant("w", DIMS(8, 8, 1, 1))));
}

static void build_slow_convolution_with_operand(void)
{
    uint32_t x = input("x", AMP_FLOAT16, DIMS(1, 8, 4, 4));
    uint32_t c = NODE("Conv", "c", x, input("w", AMP_FLOAT16, DIMS(8, 8, 1, 1)));
    output(NODE("Add", "y", c, input("b", AMP_FLOAT16, DIMS(1, 8, 4, 4))));
}

static void build_low_attention(void)
{
    uint32_t q = low_input("q"), k = low_input("k"), s = NODE("MatMul", "s", q, k);
    output(NODE("MatMul", "y", NODE("Softmax", "p", s), low_input("v")));
}

static void build_small_beside_large(void)
{
    struct amp_shape large = DIMS(256, 256);
    output(NODE("Neg", "n", input("v", AMP_FLOAT, square)));
    output(NODE("MatMul", "y", input("x", AMP_FLOAT, large), input("w", AMP_FLOAT, large)));
    output(NODE("Abs", "a", input("u", AMP_FLOAT, square)));
}

/* Constants are converted once, what a step reads and gives no more than once each; calls are
   prepared in the first two runs. With post-ops: on machines for whose instructions oneDNN has
   kernels with such. */
static void runs_do_no_more_than_they_have_to(void **state)
{
    static const struct {
        const char *name;
        void (*build)(void);
        const char *free, *rounded;
    } nets[] = {
        {"mapped", build_mapped, "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 0/0/1/0/1 0",
         "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 0/0/1/0/1 0"},
        {"product", build_product, "1/3/0/1 1/2/0/0 0/2/0/0 0/2/0/0; 1/1/1/0/1 1",
         "1/3/0/1 1/2/0/0 0/2/0/0 0/2/0/0; 1/1/1/0/1 1"},
        {"product of inputs", build_product_of_inputs,
         "1/3/0/1 1/3/0/0 0/3/0/0 0/3/0/0; 1/1/1/0/1 1",
         "1/3/0/1 1/3/0/0 0/3/0/0 0/3/0/0; 1/1/1/0/1 1"},
        {"chain", build_chain, "1/4/0/1 1/2/0/0 0/2/0/0 0/2/0/0; 1/1/1/0/1 1",
         "3/4/0/1 3/2/0/0 0/2/0/0 0/2/0/0; 1/2/1/0/3 1"},
        {"chain with input", build_chain_with_input, "1/4/0/1 1/3/0/0 0/3/0/0 0/3/0/0; 1/1/1/0/1 1",
         "3/8/0/1 3/7/0/0 0/7/0/0 0/7/0/0; 1/1/1/0/3 1"},
        {"moved", build_moved, "1/0/0/1 1/0/0/1 0/0/0/1 0/0/0/1; 0/0/0/0/1 0",
         "1/0/0/1 1/0/0/1 0/0/0/1 0/0/0/1; 0/0/0/0/1 0"},
        {"moved and mapped", build_moved_and_mapped, "2/2/0/1 2/2/0/1 0/2/0/1 0/2/0/1; 0/0/0/0/2 0",
         "2/2/0/1 2/2/0/1 0/2/0/1 0/2/0/1; 0/0/0/0/2 0"},
        {"omitted input", build_omitted_input, "1/3/0/1 1/2/0/0 0/2/0/0 0/2/0/0; 1/1/1/0/1 1",
         "2/4/0/1 2/2/0/0 0/2/0/0 0/2/0/0; 1/2/1/0/2 1"},
        {"of lists", build_of_lists, "3/0/0/1 3/0/0/1 1/0/0/0 1/0/0/0; 2/2/1/1/1 0",
         "3/0/0/1 3/0/0/1 1/0/0/0 1/0/0/0; 2/2/1/1/1 0"},
        {"optional", build_optional, "3/0/0/1 3/0/0/1 1/0/0/0 1/0/0/0; 2/2/1/0/1 0",
         "3/0/0/1 3/0/0/1 1/0/0/0 1/0/0/0; 2/2/1/0/1 0"},
        {"sum of mapped", build_sum_of_mapped, "3/7/0/2 3/7/0/2 0/7/0/0 0/7/0/0; 0/0/2/0/3 0",
         "3/7/0/2 3/7/0/2 0/7/0/0 0/7/0/0; 0/0/2/0/3 0"},
        {"between casts", build_between_casts, "4/1/0/2 4/0/0/1 0/0/0/0 0/0/0/0; 0/0/2/0/4 1",
         "4/1/0/2 4/0/0/1 0/0/0/0 0/0/0/0; 0/0/2/0/4 1"},
        {"split between casts", build_split_between_casts,
         "4/4/0/3 4/3/0/2 0/3/0/0 0/3/0/0; 1/1/3/0/4 1",
         "4/4/0/3 4/3/0/2 0/3/0/0 0/3/0/0; 1/1/3/0/4 1"},
        {"product of cast", build_product_of_cast, "2/1/0/2 2/1/0/1 0/1/0/0 0/1/0/0; 0/0/2/0/2 0",
         "2/1/0/2 2/1/0/1 0/1/0/0 0/1/0/0; 0/0/2/0/2 0"},
        {"wide readers", build_wide_readers, "4/3/0/3 4/2/0/1 0/2/0/0 0/2/0/0; 1/1/3/0/4 2",
         "4/3/0/3 4/2/0/1 0/2/0/0 0/2/0/0; 1/1/3/0/4 2"},
        {"in layouts", build_in_layouts, "4/0/1/2 3/0/1/2 0/0/1/0 0/0/1/0; 1/2/3/1/2 0",
         "3/0/1/1 3/0/1/1 0/0/1/0 0/0/1/0; 1/2/2/1/2 0"},
        {"low in layouts", build_low_in_layouts, "3/3/1/0 3/2/1/0 0/2/1/0 0/2/1/0; 2/3/2/0/3 2",
         "3/3/1/0 3/2/1/0 0/2/1/0 0/2/1/0; 2/3/2/0/3 2"},
        {"low with image", build_low_with_image, "3/6/1/1 2/3/1/1 0/3/1/0 0/3/1/0; 1/2/2/0/2 1",
         "2/6/1/0 2/5/1/0 0/5/1/0 0/5/1/0; 2/2/1/0/2 1"},
        {"indices", build_indices, "3/0/1/3 3/0/1/3 0/0/1/1 0/0/1/1; 0/1/2/0/2 0",
         "3/0/1/3 3/0/1/3 0/0/1/1 0/0/1/1; 0/1/2/0/2 0"},
        {"low indices", build_low_indices, "4/5/1/4 3/5/1/3 0/4/1/1 0/4/1/1; 2/2/2/0/2 2",
         "4/5/1/4 3/5/1/3 0/4/1/1 0/4/1/1; 2/2/2/0/2 2"},
        {"without shape", build_without_shape, "1/0/0/1 1/0/0/1 0/0/0/1 0/0/0/1; 0/0/0/0/0 0",
         "1/0/0/1 1/0/0/1 0/0/0/1 0/0/0/1; 0/0/0/0/0 0"},
        {"shape of data", build_shape_of_data, "2/0/0/2 2/0/0/2 0/0/0/1 0/0/0/1; 0/0/1/1/1 0",
         "2/0/0/2 2/0/0/2 0/0/0/1 0/0/0/1; 0/0/1/1/1 0"},
        {"constant shape", build_constant_shape, "1/0/0/1 1/0/0/1 0/0/0/0 0/0/0/0; 0/0/1/0/1 0",
         "1/0/0/1 1/0/0/1 0/0/0/0 0/0/0/0; 0/0/1/0/1 0"},
        {"bodies", build_bodies, "3/0/0/2 3/0/0/2 0/0/0/0 0/0/0/0; 0/0/2/0/2 0",
         "3/0/0/2 3/0/0/2 0/0/0/0 0/0/0/0; 0/0/2/0/2 0"},
        {"no outputs", build_no_outputs, "2/0/0/1 2/0/0/1 1/0/0/0 1/0/0/0; 1/1/1/0/2 0",
         "2/0/0/1 2/0/0/1 1/0/0/0 1/0/0/0; 1/1/1/0/2 0"},
        {"second output", build_second_output, "1/0/0/1 1/0/0/1 0/0/0/0 0/0/0/0; 0/0/1/0/1 0",
         "1/0/0/1 1/0/0/1 0/0/0/0 0/0/0/0; 0/0/1/0/1 0"},
        {"low second output", build_low_second_output,
         "2/4/0/2 1/4/0/1 0/4/0/0 0/4/0/0; 1/1/1/0/1 1",
         "2/4/0/2 1/4/0/1 0/4/0/0 0/4/0/0; 1/1/1/0/1 1"},
        {"map of cast", build_map_of_cast, "1/1/0/1 1/1/0/1 0/1/0/0 0/1/0/0; 0/0/1/0/1 0",
         "2/1/0/1 2/1/0/1 0/1/0/0 0/1/0/0; 0/0/1/0/2 0"},
        {"sum of casts", build_sum_of_casts, "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 0/0/1/0/1 0",
         "3/2/0/2 3/2/0/2 0/2/0/0 0/2/0/0; 0/0/2/0/3 0"},
        {"bounds of input", build_bounds_of_input, "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 0/0/1/0/1 0",
         "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 0/0/1/0/1 0"},
        {"forced", build_forced, "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 1/1/1/0/0 1",
         "1/2/0/1 1/2/0/1 0/2/0/0 0/2/0/0; 1/1/1/0/0 1"},
        {"slow convolution", build_slow_convolution, "1/3/1/0 1/3/1/0 0/3/1/0 0/3/1/0; 1/1/1/0/1 0",
         "1/3/1/0 1/3/1/0 0/3/1/0 0/3/1/0; 1/1/1/0/1 0"},
        {"convolutions beside others", build_convolutions_beside_others,
         "3/6/2/1 3/4/2/1 0/4/2/0 0/4/2/0; 2/3/3/1/2 2",
         "3/6/2/1 3/4/2/1 0/4/2/0 0/4/2/0; 2/3/3/1/2 2"},
        {"channels that fill no block", build_channels_that_fill_no_block,
         "4/5/2/0 4/3/2/0 0/3/2/0 0/3/2/0; 3/4/2/0/4 2", NULL},
        {"cast in layouts", build_cast_in_layouts, "4/3/1/1 3/3/1/1 0/3/1/0 0/3/1/0; 2/2/3/0/3 0",
         "3/1/1/0 3/1/1/0 0/1/1/0 0/1/1/0; 2/2/2/0/3 0"},
        {"cast of layouts", build_cast_of_layouts, "3/3/2/1 3/2/2/1 0/2/2/0 0/2/2/0; 2/3/2/0/3 1",
         "4/3/2/1 4/2/2/1 0/2/2/0 0/2/2/0; 3/4/2/0/4 1"},
        {"turned product", build_turned_product, "2/0/0/2 2/0/0/1 0/0/0/1 0/0/0/1; 0/0/1/0/2 0",
         "2/0/0/2 2/0/0/1 0/0/0/1 0/0/0/1; 0/0/1/0/2 0"},
        {"attention", build_attention, "3/0/0/3 3/0/0/1 0/0/0/0 0/0/0/0; 0/0/3/0/3 0",
         "3/0/0/3 3/0/0/1 0/0/0/0 0/0/0/0; 0/0/3/0/3 0"},
        {"large product", build_large_product, "1/0/0/1 1/0/0/0 0/0/0/0 0/0/0/0; 0/0/1/0/0 0",
         "1/0/0/1 1/0/0/0 0/0/0/0 0/0/0/0; 0/0/1/0/0 0"},
        {"row by weights", build_row_by_weights, "1/2/0/1 1/2/0/1 0/2/0/1 0/2/0/1; 1/1/0/0/1 1",
         NULL},
        {"unwanted output", build_unwanted_output, "1/0/0/0 1/0/0/0 0/0/0/0 0/0/0/0; 0/0/1/0/1 0",
         "1/0/0/0 1/0/0/0 0/0/0/0 0/0/0/0; 0/0/1/0/1 0"},
        {"row by input", build_row_by_input, "1/3/0/1 1/3/0/1 0/3/0/1 0/3/0/1; 1/1/0/0/1 1", NULL},
        {"turned between products", build_turned_between_products,
         "3/0/0/2 3/0/0/0 0/0/0/0 0/0/0/0; 0/0/2/0/3 0",
         "3/0/0/2 3/0/0/0 0/0/0/0 0/0/0/0; 0/0/2/0/3 0"},
        {"low turned between products", build_low_turned_between_products,
         "3/4/0/2 3/3/0/0 0/3/0/0 0/3/0/0; 1/2/2/0/3 2",
         "3/4/0/2 3/3/0/0 0/3/0/0 0/3/0/0; 1/2/2/0/3 2"},
        {"turned for products and others", build_turned_for_products_and_others,
         "3/6/0/2 3/6/0/0 0/6/0/0 0/6/0/0; 2/2/2/0/3 2",
         "3/6/0/2 3/6/0/0 0/6/0/0 0/6/0/0; 2/2/2/0/3 2"},
        {"cast of low layouts", build_cast_of_low_layouts,
         "3/4/2/2 3/3/2/2 0/3/2/0 0/3/2/0; 2/3/3/1/2 1",
         "4/4/2/2 4/3/2/2 0/3/2/0 0/3/2/0; 3/4/3/1/3 1"},
        {"convolution of cast", build_convolution_of_cast,
         "1/1/1/0 1/1/1/0 0/1/1/0 0/1/1/0; 0/0/1/0/1 0",
         "2/1/1/1 2/1/1/1 0/1/1/0 0/1/1/0; 0/0/2/0/2 0"},
        {"slow convolution with operand", build_slow_convolution_with_operand,
         "3/6/1/1 2/4/1/1 0/4/1/0 0/4/1/0; 1/2/2/0/2 0",
         "2/6/1/0 2/6/1/0 0/6/1/0 0/6/1/0; 1/2/1/0/2 0"},
        {"low attention", build_low_attention, "3/4/0/3 3/4/0/1 0/4/0/0 0/4/0/0; 1/2/3/0/3 3",
         "3/4/0/3 3/4/0/1 0/4/0/0 0/4/0/0; 1/2/3/0/3 3"},
        {"small beside large", build_small_beside_large,
         "3/0/0/3 3/0/0/2 0/0/0/0 0/0/0/0; 0/0/3/0/2 0",
         "3/0/0/3 3/0/0/2 0/0/0/0 0/0/0/0; 0/0/3/0/2 0"},
    };
    unsigned isa = dnnl_get_effective_cpu_isa();
    bool is_known = (isa & dnnl_cpu_isa_sse41) == dnnl_cpu_isa_sse41;
    bool has_posts = (isa & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
    (void)state;
    n_wrong_threads = 0;
    amp_session_set_threads(2);
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            net_start(22);
            nets[i].build();
            expect_runs(nets[i].name, is_strict ? AMP_ROUNDED : AMP_FREE,
                        (is_strict ? !is_known : !has_posts) ? NULL
                        : is_strict                          ? nets[i].rounded
                                                             : nets[i].free);
        }
}

/* Few rows that lie as columns, by weights that are read in the lower dtype: in each of three runs
   what the definition says, rounded once. */
static void columns_are_multiplied_as_rows(void **state)
{
    enum { N = 256, ROWS = 2 };
    (void)state;
    net_start(22);
    uint32_t x = turn("t", input("x", AMP_BFLOAT16, DIMS(N, ROWS)));
    output(NODE("MatMul", "y", x, low_constant("w", DIMS(N, N))));
    infer_all();
    struct amp_session *session = open_net(AMP_FREE);
    for (size_t seed = 0; seed < 3; seed++) {
        struct amp_tensor a = whole_numbers(AMP_BFLOAT16, DIMS(N, ROWS), seed),
                          w = whole_numbers(AMP_BFLOAT16, DIMS(N, N), 1);
        assert_int_equal(amp_session_run(session, &a, net.outputs, &net.err), AMP_OK);
        for (size_t i = 0; i < ROWS * N; i++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++)
                sum +=
                    amp_tensor_double(&a, k * ROWS + i / N) * amp_tensor_double(&w, k * N + i % N);
            assert_true(amp_tensor_double(&net.outputs[0], i) ==
                        (double)amp_bf16_to_f32(amp_f64_to_bf16(sum)));
        }
        amp_tensors_release(net.outputs, NET_OUTPUTS);
    }
    amp_session_destroy(session);
    amp_cpu_detect();
}

/* A product or a convolution between casts, and a function of what it gives; the model gives what
   is between the casts, too, if GIVES_ALL. */
static void build_for_rounding(int form, bool gives_all)
{
    static const float w[] = {0.75f, -1.25f, 0.5f, 1.5f, 0.25f, -0.625f, 1, 0.875f, -0.375f};
    struct amp_shape shape = form == 0 ? DIMS(5, 3) : form == 1 ? DIMS(1, 3, 5, 4) : DIMS(1, 3);
    net_start(22);
    uint32_t x = to_dtype("l", input("x", AMP_FLOAT, shape), AMP_BFLOAT16);
    struct amp_tensor low =
        whole_numbers(AMP_BFLOAT16, form == 1 ? DIMS(3, 3, 1, 1) : DIMS(3, 3), 0);
    amp_dtype_convert(AMP_FLOAT, w, AMP_BFLOAT16, low.data, 9);
    uint32_t weights = constant("w", AMP_BFLOAT16, low.shape, low.data);
    uint32_t m = NODE(form == 1 ? "Conv" : "MatMul", "m", x, weights);
    uint32_t t = NODE("Transpose", "t", NODE("Sigmoid", "s", m));
    output(to_dtype("y", t, AMP_FLOAT));
    if (gives_all) {
        output(m);
        output(net_out(node_of(t), 0));
        output(amp_node_at(net.model, node_of(t))->inputs[0]);
    }
    infer_all();
}

/* What stays float32 in place of bfloat16 has the same values as where it does not. */
static void what_stays_float32_is_rounded(void **state)
{
    float numbers[60], wanted[60];
    (void)state;
    for (int i = 0; i < 60; i++)
        numbers[i] = (float)(i * 37 % 101 - 50) / 32;
    for (int form = 0; form < 3; form++)
        for (int stays = 0; stays < 2; stays++) {
            build_for_rounding(form, !stays);
            struct amp_shape shape;
            amp_value_shape(amp_value_at(net.model, net.model->graphs[0].inputs.items[0]), &shape);
            const struct amp_tensor *x = net_tensor(AMP_FLOAT, shape, numbers);
            struct amp_session *session = open_net(AMP_ROUNDED);
            for (int run = 0; run < 4; run++) {
                assert_int_equal(amp_session_run(session, x, net.outputs, &net.err), AMP_OK);
                size_t size = amp_tensor_size(&net.outputs[0]);
                assert_int_equal(size, amp_tensor_size(x));
                if (!stays && run == 0)
                    memcpy(wanted, net.outputs[0].data, size);
                assert_memory_equal(net.outputs[0].data, wanted, size);
                amp_tensors_release(net.outputs, NET_OUTPUTS);
            }
            amp_session_destroy(session);
        }
    amp_cpu_detect();
}

/* ---- room ---- */

enum { SIDE = 512 };

/* Two arrays as large as the input in turn, in one's place; a view of it; a product as large. */
static void build_for_room(int form)
{
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(SIDE, SIDE));
    if (form == 0)
        output(NODE("Abs", "y", NODE("Neg", "n", x)));
    else if (form == 1)
        output(NODE("Reshape", "y", NODE("Neg", "n", x), NUMBERS("s", SIDE * SIDE)));
    else if (form == 2)
        output(NODE("MatMul", "y", input("c", AMP_FLOAT, DIMS(SIDE, 1)),
                    input("r", AMP_FLOAT, DIMS(1, SIDE))));
    else
        output(NODE("MatMul", "y", input("c", AMP_FLOAT, DIMS(1 << 20, 1)),
                    input("r", AMP_FLOAT, DIMS(1, 1 << 20))));
    infer_all();
}

/* Runs need room for what they hold at a time, and say what is too large. */
static void outputs_need_room(void **state)
{
    static const char *const texts[] = {NULL, NULL,
                                        "out of memory: float32 [512, 512] takes 1.0 MB",
                                        "out of memory: float32 [1048576, 1048576] takes 4.4 TB"};
    static float numbers[1 << 20];
    (void)state;
    for (int form = 0; form < 4; form++)
        for (int has_room = 0; has_room < 2; has_room++) {
            build_for_room(form);
            struct amp_tensor inputs[3];
            const struct amp_ids *ids = &net.model->graphs[0].inputs;
            for (size_t i = 0; i < ids->count; i++) {
                inputs[i] = (struct amp_tensor){.dtype = AMP_FLOAT, .data = numbers};
                amp_value_shape(amp_value_at(net.model, ids->items[i]), &inputs[i].shape);
            }
            struct amp_session *session = open_net(AMP_ROUNDED);
            size_t limit = amp_memory_limit(), size = sizeof(float) * SIDE * SIDE;
            bool is_right = texts[form] == NULL || (form == 2 && has_room);
            amp_memory_set_limit(amp_memory_used() +
                                 (has_room || form < 2 ? size * 3 / 2 : size / 2));
            net.err = (struct amp_error){.status = AMP_OK};
            enum amp_status status = amp_session_run(session, inputs, net.outputs, &net.err);
            amp_memory_set_limit(limit);
            assert_int_equal(status == AMP_OK, is_right);
            assert_true(is_right || strstr(net.err.text, texts[form]) != NULL);
            amp_tensors_release(net.outputs, NET_OUTPUTS);
            amp_session_destroy(session);
        }
    amp_cpu_detect();
}

/* ---- constants ---- */

/* Uses of VALUE that need what it holds: *IS_ALIGNED, whether they all take it anywhere. */
static uint32_t count_uses(const struct amp_session *session, uint32_t value, bool *is_anywhere)
{
    const struct amp_model *model = session->model;
    uint32_t count = 0;
    *is_anywhere = true;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        const struct amp_step_state *held = &session->states[id];
        for (uint32_t i = 0; held->step != NULL && i < node->n_inputs; i++) {
            if (node->inputs[i] != value)
                continue;
            count += !held->frame.is_served[i];
            *is_anywhere &= i < 32 && (held->step->op->reads_unaligned & AMP_INPUT(i)) != 0;
        }
    }
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            if (model->graphs[g].outputs.items[i] == value) {
                count++;
                *is_anywhere = false;
            }
    return count;
}

/* Each constant has as many readers as there are uses without a form of their own; it is held as
   long as it has any, or was wanted again. */
static void expect_constants(const struct amp_session *session, const char *what, int run)
{
    size_t folded = 0;
    for (uint32_t v = 0; v < session->model->n_values; v++) {
        const struct amp_constant *constant = &session->constants[v];
        const struct amp_tensor *held = &session->values[v];
        bool is_anywhere;
        if (!amp_constant_is(session, v))
            continue;
        uint32_t count = count_uses(session, v, &is_anywhere);
        if (constant->n_readers != count || constant->needs_alignment == is_anywhere)
            fail_msg("%s, run %d: '%s' has %u readers; %u are right", what, run,
                     amp_value_at(session->model, v)->name, constant->n_readers, count);
        if (held->data != NULL && count == 0 && !constant->is_kept)
            fail_msg("%s, run %d: '%s' is held", what, run, amp_value_at(session->model, v)->name);
        assert_true(!constant->is_kept || constant->was_let_go);
        assert_true(held->data == NULL || is_anywhere || (uintptr_t)held->data % 64 == 0);
        folded += constant->source != NULL && held->data != NULL ? amp_tensor_size(held) : 0;
    }
    assert_int_equal(session->folded_bytes, folded);
}

/* Whether the step of STATE, or one that does it as a post-op, has made something of input I, which
   is constant. */
static bool has_made(const struct amp_session *session, const struct amp_step_state *state,
                     uint32_t i)
{
    bool has = state->frame.has_form[i] || (state->wide != NULL && state->wide[i].data != NULL);
    for (uint32_t id = 0; id < session->model->n_nodes; id++) {
        const struct amp_step_state *other = &session->states[id];
        uint32_t n_in = amp_node_at(session->model, id)->n_inputs;
        for (size_t k = 0; other->step != NULL && k < other->step->n_posts; k++)
            has |= other->step->post_steps[k].node == state->step->node &&
                   other->step->posts[k].kind == AMP_POST_BINARY && other->step->posts[k].in == i &&
                   other->wide != NULL && other->wide[n_in + k].data != NULL;
    }
    return has;
}

/* What is made of a constant input is there instead of it, and not beside it. */
static void expect_forms(const struct amp_session *session, const char *what, int run)
{
    for (uint32_t id = 0; id < session->model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(session->model, id);
        const struct amp_step_state *held = &session->states[id];
        for (uint32_t i = 0; held->step != NULL && i < node->n_inputs; i++) {
            uint32_t value = node->inputs[i];
            if (value == AMP_NONE || !amp_constant_is(session, value))
                continue;
            bool has_wide = held->wide != NULL && held->wide[i].data != NULL;
            if (has_wide && held->frame.has_form[i] && !session->constants[value].is_kept)
                fail_msg("%s, run %d: node %u has input %u in two forms", what, run, id, i);
            if (held->frame.is_served[i] != (held->is_done || has_made(session, held, i)))
                fail_msg("%s, run %d: node %u is served with input %u: %d", what, run, id, i,
                         held->frame.is_served[i]);
        }
    }
}

/* Constants can be had between runs as they are. */
static void expect_data(struct amp_session *session)
{
    for (uint32_t v = 0; v < session->model->n_values; v++) {
        struct amp_tensor seen = {.dtype = AMP_UNDEFINED};
        const struct amp_tensor *data = amp_value_at(session->model, v)->constant;
        if (!amp_constant_is(session, v) || session->values[v].data == NULL)
            continue;
        assert_int_equal(amp_walk_get(session, v, &seen, &net.err), AMP_OK);
        assert_int_equal((uintptr_t)seen.data % 64, 0);
        if (data != NULL)
            expect_same(&seen, data, amp_value_at(session->model, v)->name, 0);
        amp_tensor_release(&seen);
    }
}

/* Bytes of a constant that lie as in a file. */
static uint32_t unaligned_constant(const char *name, struct amp_shape shape)
{
    struct amp_tensor from = whole_numbers(AMP_FLOAT, shape, 2);
    size_t size = amp_tensor_size(&from);
    char *bytes = amp_arena_array(net.arena, size + 1, 1);
    memcpy(bytes + 1, from.data, size);
    struct amp_tensor *tensor = amp_arena_memdup(net.arena, &from, sizeof from);
    tensor->data = bytes + 1;
    return amp_graph_add_initializer(net.model, 0, name, tensor);
}

static uint32_t rows_input(enum amp_dtype dtype)
{
    return input("x", dtype, DIMS(-1, 4));
}

static void weigh_low_rows(void)
{
    uint32_t m = NODE("MatMul", "m", rows_input(AMP_BFLOAT16), low_constant("w", square));
    m = NODE("Mul", "f", NODE("Add", "a", m, low_constant("b", DIMS(4))),
             low_constant("c", DIMS(4)));
    output(m);
}

static void weigh_columns(void)
{
    uint32_t w = low_constant("w", square);
    output(NODE("MatMul", "y", w, turn("t", rows_input(AMP_BFLOAT16))));
}

static void attend_to_constants(void)
{
    uint32_t k = unaligned_constant("k", DIMS(4, 6)), v = unaligned_constant("v", DIMS(6, 4));
    uint32_t s = NODE("MatMul", "s", rows_input(AMP_FLOAT), k);
    s = NODE("Add", "a", s, unaligned_constant("b", DIMS(6)));
    output(NODE("MatMul", "y", NODE("Softmax", "p", s), v));
}

static void join_constants(void)
{
    uint32_t ids[40];
    for (int i = 0; i < 40; i++)
        ids[i] = i == 36 ? rows_input(AMP_FLOAT)
                         : unaligned_constant(amp_model_unique_name(net.model, "c"), DIMS(1, 4));
    uint32_t y = net_out(net_node(0, "Concat", "y", 1, ids, 40), 0);
    set_int(y, "axis", 0);
    output(y);
}

static void weigh_rows(void)
{
    uint32_t w = unaligned_constant("w", square), x = rows_input(AMP_FLOAT);
    output(NODE("Add", "a", NODE("MatMul", "m", x, w), unaligned_constant("b", DIMS(4))));
    output(NODE("MatMul", "n", x, NODE("Neg", "neg", NODE("Abs", "abs", w))));
}

static void weigh_rows_twice(void)
{
    uint32_t w = unaligned_constant("w", square), x = rows_input(AMP_FLOAT);
    output(NODE("MatMul", "m", NODE("Neg", "n", NODE("MatMul", "o", x, w)), w));
    output(w);
}

static void take_rows(void)
{
    uint32_t table = unaligned_constant("table", square);
    uint32_t i = to_dtype("i", NODE("Abs", "abs", rows_input(AMP_FLOAT)), AMP_INT64);
    output(NODE("Gather", "y", table, i));
}

static void add_constants(void)
{
    uint32_t a = NODE("Add", "a", unaligned_constant("c", DIMS(4)), FLOATS("d", 1, 2, 3, 4));
    uint32_t b = NODE("Neg", "b", a);
    output(NODE("Add", "y", rows_input(AMP_FLOAT), b));
    output(a);
    output(NODE("Mul", "z", b, b));
}

static void gated_rows(void)
{
    uint32_t x = input("x", AMP_FLOAT, DIMS(3, -1, 4));
    uint32_t w = unaligned_constant("w", DIMS(1, 12, 4)), r = NODE("Neg", "r", w);
    uint32_t id = net_node(0, "GRU", "y", 2, IDS(x, w, r, unaligned_constant("b", DIMS(1, 24))));
    amp_node_set_int(net.model, id, "hidden_size", 4);
    output(net_out(id, 1));
}

/* Rows of another number from run to run: constants that kernels want again are the same. */
static void constants_are_held_as_long_as_they_are_read(void **state)
{
    static const struct {
        const char *name;
        void (*build)(void);
    } nets[] = {{"low rows", weigh_low_rows},
                {"columns", weigh_columns},
                {"attention", attend_to_constants},
                {"joined", join_constants},
                {"rows", weigh_rows},
                {"rows twice", weigh_rows_twice},
                {"a table", take_rows},
                {"sums", add_constants},
                {"a GRU", gated_rows}};
    static const int64_t rows[] = {3, 3, 20, 20, 3, 1, 1, 20, 1, 3};
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            net_start(22);
            nets[i].build();
            infer_all();
            struct amp_session *session = open_net(is_strict ? AMP_ROUNDED : AMP_FREE);
            const struct amp_value *x =
                amp_value_at(net.model, net.model->graphs[0].inputs.items[0]);
            expect_constants(session, nets[i].name, -1);
            size_t size = 0;
            for (uint32_t v = 0; v < session->model->n_values; v++)
                if (amp_value_at(session->model, v)->constant != NULL)
                    size += amp_tensor_size(amp_value_at(session->model, v)->constant);
            assert_int_equal(session->host.constants_size, size);
            for (int run = 0; run < (int)(sizeof rows / sizeof *rows); run++) {
                struct amp_shape shape;
                amp_value_shape(x, &shape);
                shape.dims[shape.rank - 2] = rows[run];
                struct amp_tensor in = whole_numbers(x->dtype, shape, (size_t)run);
                net.err = (struct amp_error){.status = AMP_OK};
                if (amp_session_run(session, &in, net.outputs, &net.err) != AMP_OK)
                    fail_msg("%s: %s", nets[i].name, net.err.text);
                expect_as_alone(&in, net.outputs, nets[i].name, run);
                amp_tensors_release(net.outputs, NET_OUTPUTS);
                expect_nothing_left(session, nets[i].name);
                expect_constants(session, nets[i].name, run);
                expect_forms(session, nets[i].name, run);
            }
            expect_data(session);
            amp_session_destroy(session);
        }
    amp_cpu_detect();
}

/* ---- walks ---- */

/* VALUE of a walk is of the dtype that the model declares. */
static struct amp_tensor walked(struct amp_session *session, uint32_t value)
{
    struct amp_tensor seen = {.dtype = AMP_UNDEFINED};
    assert_int_equal(amp_walk_get(session, value, &seen, &net.err), AMP_OK);
    assert_int_equal(seen.dtype, amp_value_at(net.model, value)->dtype);
    return seen;
}

/* Between steps values have their dtypes, as what stays float32 within them has not; at the end of
   a walk nothing is left. */
static void walks_give_what_is_declared(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, square), c = to_dtype("c", x, AMP_BFLOAT16);
    uint32_t m = NODE("MatMul", "m", c, low_constant("w", square)), n = NODE("Neg", "n", m);
    uint32_t y = to_dtype("y", n, AMP_FLOAT);
    output(y);
    infer_all();
    struct amp_session *session = open_net(AMP_ROUNDED);
    for (int run = 0; run < 4; run++) {
        struct amp_tensor numbers = whole_numbers(AMP_FLOAT, square, (size_t)run);
        struct amp_tensor outputs[1] = {{.dtype = AMP_UNDEFINED}}, none = outputs[0];
        assert_int_equal(amp_walk_begin(session, &numbers, &net.err), AMP_OK);
        assert_int_equal(amp_walk_get(session, n, &none, &net.err), AMP_OK);
        assert_null(none.data);
        struct amp_tensor seen[4];
        assert_int_equal(amp_walk_count(session), 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(amp_walk_compute(session, i, &net.err), AMP_OK);
            seen[i] = walked(session, net_out(amp_walk_node(session, i), 0));
        }
        const struct amp_tensor low = seen[0], product = seen[1], negated = seen[2],
                                given = seen[3];
        for (size_t i = 0; i < 16; i++) {
            assert_true(amp_tensor_double(&low, i) == amp_tensor_double(&numbers, i));
            assert_true(amp_tensor_double(&product, i) == -amp_tensor_double(&negated, i));
            assert_true(amp_tensor_double(&given, i) == amp_tensor_double(&negated, i));
        }
        assert_int_equal(amp_walk_set(session, m, &numbers, &net.err), AMP_MODEL);
        assert_int_equal(amp_walk_set(session, m, &negated, &net.err), AMP_OK);
        assert_int_equal(amp_walk_end(session, run % 2 == 0 ? outputs : NULL, &net.err), AMP_OK);
        if (run % 2 == 0)
            expect_same(&outputs[0], &given, "a walk", run);
        amp_tensors_release(seen, 4);
        amp_tensor_release(&outputs[0]);
        expect_nothing_left(session, "a walk");
    }
    amp_session_destroy(session);
    amp_cpu_detect();
}

/* ---- what fails ---- */

/* Runs SESSION on INPUTS: it fails with TEXT, which NULL says that it does not. */
static void expect_text(struct amp_session *session, const struct amp_tensor *inputs,
                        const char *text)
{
    net.err = (struct amp_error){.status = AMP_OK};
    enum amp_status status = amp_session_run(session, inputs, net.outputs, &net.err);
    assert_int_equal(status, text == NULL ? AMP_OK : AMP_MODEL);
    assert_string_equal(net.err.text, text == NULL ? "" : text);
    amp_tensors_release(net.outputs, NET_OUTPUTS);
}

/* And leaves nothing. */
static void expect_end(struct amp_session *session, const struct amp_tensor *inputs,
                       const char *text)
{
    expect_text(session, inputs, text);
    expect_nothing_left(session, text == NULL ? "a run" : text);
}

/* What fails after runs that did not does so as it had at first, and the next run is as those. */
static void failures_are_the_same_in_any_run(void **state)
{
    static const char text[] = "net.onnx: node 1 with output 'g' (Gather-13): indices: element 1 "
                               "is 4; axis 0 of size 4 allows -4 to 3";
    static const int64_t good[] = {0, 3}, bad[] = {0, 4};
    (void)state;
    net_start(17);
    uint32_t x = NODE("Neg", "n", input("x", AMP_FLOAT, square));
    output(NODE("Abs", "a", NODE("Gather", "g", x, input("i", AMP_INT64, DIMS(2)))));
    infer_all();
    const struct amp_tensor numbers = whole_numbers(AMP_FLOAT, square, 0);
    const struct amp_tensor *fine = TENSORS(numbers, *net_tensor(AMP_INT64, DIMS(2), good)),
                            *broken = TENSORS(numbers, *net_tensor(AMP_INT64, DIMS(2), bad));
    size_t used = amp_memory_used();
    for (int n_before = 0; n_before < 4; n_before++) {
        struct amp_session *session = open_net(AMP_ROUNDED);
        for (int i = 0; i < n_before; i++)
            expect_end(session, fine, NULL);
        expect_end(session, broken, text);
        expect_end(session, fine, NULL);
        expect_end(session, broken, text);
        amp_session_destroy(session);
        assert_int_equal(amp_memory_used(), used);
    }
    amp_cpu_detect();
}

/* A branch that gives another dtype than its model says, from the first run on or later. */
static void dtypes_are_those_of_the_model(void **state)
{
    static const char text[] = "net.onnx: node 0 with output 'y' (If-16): output 0: the body gives "
                               "float16; float32 is declared";
    static const bool yes = true, no = false;
    static float zeros[16];
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, square);
    uint32_t id = net_node(0, "If", "y", 1, IDS(input("c", AMP_BOOL, SCALAR)));
    add_body(id, "then_branch", x);
    add_body(id, "else_branch", x);
    output(NODE("Neg", "n", net_out(id, 0)));
    infer_all();
    struct amp_graph *graph = &net.model->graphs[2];
    uint32_t low =
        amp_graph_add_initializer(net.model, 2, "low", net_tensor(AMP_FLOAT16, square, zeros));
    amp_value_at(net.model, low)->is_output = true;
    amp_value_at(net.model, graph->outputs.items[0])->is_output = false;
    graph->outputs.items[0] = low;
    const struct amp_tensor numbers = whole_numbers(AMP_FLOAT, square, 0);
    const struct amp_tensor *fine = TENSORS(numbers, *net_tensor(AMP_BOOL, SCALAR, &yes)),
                            *broken = TENSORS(numbers, *net_tensor(AMP_BOOL, SCALAR, &no));
    for (int n_before = 0; n_before < 4; n_before++) {
        struct amp_session *session = open_net(AMP_ROUNDED);
        for (int i = 0; i < n_before; i++)
            expect_end(session, fine, NULL);
        expect_end(session, broken, text);
        expect_end(session, fine, NULL);
        amp_session_destroy(session);
    }
    net_start(17);
    uint32_t half = input("x", AMP_FLOAT16, square), list = NODE("SequenceConstruct", "l", half);
    uint32_t y = NODE("SequenceAt", "y", list, constant("i", AMP_INT64, SCALAR, &(int64_t){0}));
    output(NODE("Neg", "n", y));
    infer_all();
    amp_value_at(net.model, y)->dtype = AMP_FLOAT;
    struct amp_session *session = open_net(AMP_ROUNDED);
    expect_end(session, TENSORS(*net_tensor(AMP_FLOAT16, square, zeros)),
               "net.onnx: node 1 with output 'y' (SequenceAt-11): output 0 is float16; the model "
               "wants float32");
    amp_session_destroy(session);
    amp_cpu_detect();
}

/* ---- what is given ---- */

/* Inputs of N rows, of which one has three columns and a value of its own, the other any. */
static void build_declared(void)
{
    static uint16_t own[] = {0x3F80, 0x4000, 0x4040}; /* 1, 2, 3 in bfloat16 */
    static const struct amp_tensor source = {
        .dtype = AMP_BFLOAT16, .shape = {2, {1, 3}}, .data = own};
    static const float zeros[3];
    net_start(17);
    int64_t n = amp_symbol_dim(net.model, "N"), m = amp_symbol_dim(net.model, "M");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, 3)), b = input("b", AMP_FLOAT, DIMS(n, m, n));
    uint32_t c = input("c", AMP_FLOAT, ANY_DIMS), d = input("d", AMP_FLOAT, DIMS(-1));
    struct amp_tensor *initial = net_tensor(AMP_FLOAT, DIMS(1, 3), zeros);
    initial->data = NULL;
    initial->source = &source;
    amp_value_at(net.model, a)->initial = initial;
    output(NODE("Neg", "y", a));
    output(NODE("Neg", "z", b));
    output(NODE("Neg", "u", c));
    output(NODE("Neg", "v", d));
    infer_all();
}

static void inputs_are_as_declared(void **state)
{
    static float x[64];
    const struct amp_shape none = {.rank = 0};
    const struct {
        enum amp_dtype dtype;
        struct amp_shape a, b, c, d; /* D without dims: it is not given; A: its own value */
        const char *text;
    } cases[] = {
        {AMP_FLOAT, DIMS(2, 3), DIMS(2, 4, 2), DIMS(1), DIMS(2), NULL},
        {AMP_FLOAT, none, DIMS(1, 4, 1), DIMS(1, 1), DIMS(5), NULL},
        {AMP_FLOAT, DIMS(4, 3), DIMS(4, 1, 4), none, DIMS(1), NULL},
        {AMP_FLOAT16, DIMS(2, 3), DIMS(2, 4, 2), none, DIMS(2),
         "input 'a': dtype float16; the model wants float32"},
        {AMP_FLOAT, DIMS(2, 4), DIMS(2, 4, 2), none, DIMS(2),
         "input 'a': shape [2, 4]; the model wants [?, 3]"},
        {AMP_FLOAT, DIMS(2), DIMS(2, 4, 2), none, DIMS(2),
         "input 'a': shape [2]; the model wants [?, 3]"},
        {AMP_FLOAT, DIMS(2, 3, 1), DIMS(2, 4, 2), none, DIMS(2),
         "input 'a': shape [2, 3, 1]; the model wants [?, 3]"},
        {AMP_FLOAT, DIMS(2, 3), DIMS(3, 4, 2), none, DIMS(2),
         "input 'b': dim 0 is 3, but 'N' is 2 elsewhere"},
        {AMP_FLOAT, DIMS(2, 3), DIMS(2, 4, 3), none, DIMS(2),
         "input 'b': dim 2 is 3, but 'N' is 2 elsewhere"},
        {AMP_FLOAT, none, DIMS(2, 4, 2), none, DIMS(2),
         "input 'b': dim 0 is 2, but 'N' is 1 elsewhere"},
        {AMP_FLOAT, DIMS(0, 3), DIMS(1, 4, 0), none, DIMS(2),
         "input 'b': dim 0 is 1, but 'N' is 0 elsewhere"},
        {AMP_FLOAT, DIMS(2, 3), DIMS(2, 4, 2), none, none, "input 'd' is not given"},
    };
    (void)state;
    build_declared();
    struct amp_session *session = open_net(AMP_ROUNDED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_tensor inputs[] = {
            {.dtype = cases[i].dtype, .shape = cases[i].a, .data = cases[i].a.rank > 0 ? x : NULL},
            {.dtype = AMP_FLOAT, .shape = cases[i].b, .data = x},
            {.dtype = AMP_FLOAT, .shape = cases[i].c, .data = x},
            {.dtype = AMP_FLOAT, .shape = cases[i].d, .data = cases[i].d.rank > 0 ? x : NULL}};
        expect_end(session, inputs, cases[i].text);
        if (cases[i].text != NULL)
            continue;
        assert_int_equal(amp_session_run(session, inputs, net.outputs, &net.err), AMP_OK);
        assert_true(amp_shape_equal(&net.outputs[2].shape, &cases[i].c));
        assert_true(amp_tensor_double(&net.outputs[0], 2) == (inputs[0].data == NULL ? -3 : 0));
        amp_tensors_release(net.outputs, NET_OUTPUTS);
    }
    amp_session_destroy(session);
    for (int rank = 0; rank < 2; rank++) {
        net_start(17);
        struct amp_shape shape = {rank, {0}}, other = {1 - rank, {1}}, one = DIMS(1);
        output(NODE("Neg", "y", input("x", AMP_FLOAT, shape)));
        infer_all();
        session = open_net(AMP_ROUNDED);
        const char *text = rank == 0 ? "input 'x': shape [1]; the model wants []"
                                     : "input 'x': shape [1]; the model wants [0]";
        expect_end(session, TENSORS({.dtype = AMP_FLOAT, .shape = shape, .data = x}), NULL);
        expect_end(session, TENSORS({.dtype = AMP_FLOAT, .shape = one, .data = x}), text);
        expect_end(session, TENSORS({.dtype = AMP_FLOAT, .shape = other, .data = x}),
                   rank == 0 ? text : "input 'x': shape []; the model wants [0]");
        amp_session_destroy(session);
    }
    amp_cpu_detect();
}

/* What a body gives of the graph around it is still there behind it. */
static void bodies_give_what_is_not_theirs(void **state)
{
    static const bool yes = true, no = false;
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, square), a = NODE("Neg", "a", x);
    uint32_t id = net_node(0, "If", "y", 1, IDS(input("c", AMP_BOOL, SCALAR)));
    add_body(id, "then_branch", a);
    add_body(id, "else_branch", a);
    amp_value_at(net.model, net.model->graphs[1].outputs.items[0])->is_output = false;
    net.model->graphs[1].outputs.items[0] = a;
    output(net_out(id, 0));
    output(NODE("Abs", "z", a));
    infer_all();
    struct amp_session *session = open_net(AMP_ROUNDED);
    for (int run = 0; run < 5; run++) {
        struct amp_tensor numbers = whole_numbers(AMP_FLOAT, square, (size_t)run);
        const bool *which = run == 3 ? &no : &yes;
        assert_int_equal(amp_session_run(session,
                                         TENSORS(numbers, *net_tensor(AMP_BOOL, SCALAR, which)),
                                         net.outputs, &net.err),
                         AMP_OK);
        for (size_t i = 0; i < 16; i++) {
            double number = amp_tensor_double(&numbers, i);
            assert_true(amp_tensor_double(&net.outputs[0], i) == (run == 3 ? number : -number));
            assert_true(amp_tensor_double(&net.outputs[1], i) == (number < 0 ? -number : number));
        }
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        expect_nothing_left(session, "a body");
    }
    amp_session_destroy(session);
    amp_cpu_detect();
}

/* An element where an optional is declared becomes one that holds it, in each run. */
static void elements_become_optional(void **state)
{
    (void)state;
    net_start(17);
    uint32_t y = NODE("Neg", "y", input("x", AMP_FLOAT, square));
    output(y);
    infer_all();
    amp_value_at(net.model, y)->kind = AMP_KIND_OPTIONAL;
    struct amp_session *session = open_net(AMP_ROUNDED);
    for (int run = 0; run < 4; run++) {
        struct amp_tensor numbers = whole_numbers(AMP_FLOAT, square, (size_t)run);
        assert_int_equal(amp_session_run(session, &numbers, net.outputs, &net.err), AMP_OK);
        assert_int_equal(net.outputs[0].form, AMP_FORM_OPTIONAL);
        assert_int_equal(amp_tensor_count(&net.outputs[0]), 1);
        const struct amp_tensor *item = amp_list_items(&net.outputs[0]);
        assert_true(amp_shape_equal(&item->shape, &square));
        for (size_t i = 0; i < 16; i++)
            assert_true(amp_tensor_double(item, i) == -amp_tensor_double(&numbers, i));
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        expect_nothing_left(session, "an optional");
    }
    amp_session_destroy(session);
    amp_cpu_detect();
}

/* A body takes what it declares, a list what its elements are declared to be. */
static void values_are_as_declared(void **state)
{
    static float zeros[16];
    (void)state;
    for (int is_low = 0; is_low < 2; is_low++) {
        net_start(17);
        enum amp_dtype dtype = is_low ? AMP_FLOAT16 : AMP_FLOAT;
        uint32_t x = input("x", dtype, square);
        uint32_t list = NODE("Identity", "i", NODE("SequenceConstruct", "l", x, x));
        output(NODE("SequenceLength", "n", list));
        infer_all();
        amp_value_at(net.model, list)->dtype = is_low ? AMP_FLOAT : AMP_FLOAT16;
        struct amp_session *session = open_net(AMP_ROUNDED);
        expect_text(session, TENSORS(*net_tensor(dtype, square, zeros)),
                    is_low ? "net.onnx: node 1 with output 'i' (Identity-16): 'i': element 0 is "
                             "float16; the model wants float32"
                           : "net.onnx: node 1 with output 'i' (Identity-16): 'i': element 0 is "
                             "float32; the model wants float16");
        amp_session_destroy(session);
    }
    for (int i = 0; i < 3; i++) {
        static const enum amp_kind kinds[] = {AMP_KIND_TENSOR, AMP_KIND_OPTIONAL,
                                              AMP_KIND_SEQUENCE};
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, square), list = NODE("SequenceConstruct", "l", x, x);
        uint32_t n = NODE("Neg", "l", x);
        output(NODE("SequenceLength", "n", list));
        infer_all();
        amp_value_at(net.model, i < 2 ? list : n)->kind = kinds[i];
        struct amp_session *session = open_net(AMP_ROUNDED);
        expect_text(session, TENSORS(*net_tensor(AMP_FLOAT, square, zeros)),
                    i < 2 ? "net.onnx: node 0 with output 'l' (SequenceConstruct-11): 'l' gets a "
                            "value of type sequence; the model wants a value of type tensor"
                          : "net.onnx: node 1 with output 'l_1' (Neg-13): 'l_1' gets a value of "
                            "type tensor; the model wants a value of type sequence");
        amp_session_destroy(session);
    }
    amp_cpu_detect();
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_have_the_threads_that_are_set),
                                       cmocka_unit_test(runs_as_before),
                                       NET_TEST(what_is_refused_is_not_tried_again),
                                       NET_TEST(shapes_follow_data),
                                       NET_TEST(other_shapes_are_prepared_once),
                                       NET_TEST(results_take_the_place_of_operands),
                                       NET_TEST(what_is_computed_once_keeps_its_place),
                                       NET_TEST(runs_do_no_more_than_they_have_to),
                                       NET_TEST(columns_are_multiplied_as_rows),
                                       NET_TEST(constants_are_held_as_long_as_they_are_read),
                                       NET_TEST(what_stays_float32_is_rounded),
                                       NET_TEST(outputs_need_room),
                                       NET_TEST(failures_are_the_same_in_any_run),
                                       NET_TEST(dtypes_are_those_of_the_model),
                                       NET_TEST(inputs_are_as_declared),
                                       NET_TEST(bodies_give_what_is_not_theirs),
                                       NET_TEST(walks_give_what_is_declared),
                                       NET_TEST(elements_become_optional),
                                       NET_TEST(values_are_as_declared),
                                       NET_TEST(profiles_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Every operator on inputs that its model did not expect: the models of one node in ONNX's tests
 * and the project's own, with one input at a time (and all together) made empty, a scalar, of eight
 * dims, or of extreme values, and with attributes of extreme values and wrong types. It runs or is
 * refused with a message that names the node; the sanitizers watch for the rest.
 */
#include "core/memory.h"
#include "node_case.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    ELEMENTS_MAX = 1 << 16, /* of an input that is looked at */
    MEMORY_MAX = 64 << 20,  /* bytes of tensors */
    SECONDS_MAX = 10,       /* of CPU time for one run, which takes milliseconds */
    CASES_MAX = 3,          /* of one operator's version */
    FAULTS_MAX = 100        /* then it is enough */
};

/* What the worker tells, a process that goes through the runs: one that ends it is one failure. */
static struct shared {
    size_t number;     /* of the run at hand */
    char at_hand[512]; /* what it is */
    size_t run, refused, faults;
} * shared;

static size_t first, number; /* the run to begin with, the next one */

/* Whether the next run is to be done; CASE and WHAT is done in it. */
__attribute__((format(printf, 2, 3))) static bool begin_run(const char *folder, const char *format,
                                                            ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (number++ < first)
        return false;
    shared->number = number - 1;
    snprintf(shared->at_hand, sizeof shared->at_hand, "%s: %s", strrchr(folder, '/') + 1, what);
    return true;
}

/* Large requests fail, as they do where memory is short. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=1";
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Gives TENSOR the shape, with what it held repeated, or zeros. */
static void reshape(struct amp_tensor *tensor, const struct amp_shape *shape)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor from = *tensor;
    struct amp_tensor to = {.dtype = tensor->dtype, .shape = *shape};
    assert_int_equal(amp_tensor_alloc(&to, &err), AMP_OK);
    size_t size = amp_tensor_size(&to), given = amp_tensor_size(&from);
    memset(to.data, 0, size);
    /* The bytes of strings go with the tensor that they were in. */
    for (size_t i = 0; tensor->dtype == AMP_STRING && i < amp_tensor_count(&to); i++)
        ((struct amp_str *)to.data)[i] = (struct amp_str){"1ab", i % 4};
    if (tensor->dtype == AMP_STRING)
        given = 0;
    for (size_t at = 0; given > 0 && at < size; at += given)
        memcpy((char *)to.data + at, from.data, given < size - at ? given : size - at);
    amp_tensor_release(tensor);
    *tensor = to;
}

static void make_empty(struct amp_tensor *tensor)
{
    struct amp_shape shape = tensor->shape;
    if (shape.rank == 0)
        shape.rank = 1;
    shape.dims[0] = 0;
    reshape(tensor, &shape);
}

static void make_empty_inside(struct amp_tensor *tensor)
{
    struct amp_shape shape = tensor->shape;
    if (shape.rank == 0)
        shape.rank = 1;
    shape.dims[shape.rank - 1] = 0;
    reshape(tensor, &shape);
}

static void make_scalar(struct amp_tensor *tensor)
{
    reshape(tensor, &(struct amp_shape){.rank = 0});
}

static void make_vector(struct amp_tensor *tensor)
{
    reshape(tensor, &(struct amp_shape){.rank = 1, .dims = {amp_shape_count(&tensor->shape)}});
}

static void make_8d(struct amp_tensor *tensor)
{
    struct amp_shape shape = {.rank = 8};
    int missing = tensor->shape.rank < 8 ? 8 - tensor->shape.rank : 0;
    for (int i = 0; i < 8; i++)
        shape.dims[i] = i < missing ? 1 : tensor->shape.dims[i - missing];
    reshape(tensor, &shape);
}

static void make_8d_of_2(struct amp_tensor *tensor)
{
    reshape(tensor, &(struct amp_shape){.rank = 8, .dims = {2, 1, 2, 1, 2, 2, 1, 2}});
}

static void make_larger(struct amp_tensor *tensor)
{
    struct amp_shape shape = tensor->shape;
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i]++;
    reshape(tensor, &shape);
}

/* Sets the elements in turn to VALUES, as bytes or doubles. */
static void set_values(struct amp_tensor *tensor, const int64_t *integers, const double *floats,
                       size_t n)
{
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    struct amp_shape same = tensor->shape;
    reshape(tensor, &same); /* in memory of its own */
    for (size_t i = 0; i < count; i++)
        switch ((int)amp_dtype_class(tensor->dtype)) {
        case AMP_CLASS_FLOAT:
            if (amp_dtype_is_autocast(tensor->dtype) || tensor->dtype == AMP_DOUBLE)
                amp_tensor_set_double(tensor, i, floats[i % n]);
            break;
        case AMP_CLASS_INT:
        case AMP_CLASS_UINT:
        case AMP_CLASS_BOOL:
            if (width > 0)
                memcpy((char *)tensor->data + i * width, &integers[i % n], width);
            break;
        default:
            break;
        }
}

static void make_zero(struct amp_tensor *tensor)
{
    set_values(tensor, (int64_t[]){0}, (double[]){0}, 1);
}

static void make_negative(struct amp_tensor *tensor)
{
    set_values(tensor, (int64_t[]){-1, -2}, (double[]){-1, -2.5}, 2);
}

/* The least of each width: -1 is what divides them badly. */
static void make_least(struct amp_tensor *tensor)
{
    int64_t least = (int64_t)(UINT64_C(1) << 63),
            by_width[] = {0, INT8_MIN, INT16_MIN, 0, INT32_MIN, 0, 0, 0, least};
    unsigned width = amp_dtype_bits(tensor->dtype) / 8;
    set_values(tensor, &by_width[width <= 8 ? width : 0], (double[]){(double)-INFINITY}, 1);
}

static void make_greatest(struct amp_tensor *tensor)
{
    set_values(tensor, (int64_t[]){INT64_MAX, 0x7FFFFFFF7FFFFFFF}, (double[]){1e300, INFINITY}, 2);
}

static void make_nan(struct amp_tensor *tensor)
{
    set_values(tensor, (int64_t[]){1, 0, -1, 1 << 20}, (double[]){NAN, -0.0, 1e-310, 3e9}, 4);
}

static const struct change {
    const char *name;
    void (*apply)(struct amp_tensor *tensor);
} changes[] = {
    {"empty", make_empty},
    {"empty inside", make_empty_inside},
    {"scalar", make_scalar},
    {"vector", make_vector},
    {"8-d", make_8d},
    {"8-d of 2", make_8d_of_2},
    {"larger", make_larger},
    {"zero", make_zero},
    {"negative", make_negative},
    {"least", make_least},
    {"greatest", make_greatest},
    {"nan", make_nan},
};

enum { N_CHANGES = sizeof changes / sizeof changes[0] };

static void change_input(struct node_case *test, uint32_t i, const struct change *change)
{
    struct amp_tensor *tensor = node_case_input(test, i);
    if (tensor == NULL || tensor->data == NULL || amp_tensor_is_list(tensor) ||
        amp_tensor_count(tensor) > ELEMENTS_MAX)
        return;
    change->apply(tensor);
    node_case_declare(test, i);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Another value, of the same type or (KIND at its end) of another one. */
static const int64_t odd_ints[] = {0, -1, INT64_MIN, INT64_MAX, INT32_MIN, 1 << 30, 7};
static const float odd_floats[] = {0, -1, NAN, INFINITY, 1e-40F, 3e38F, -1e9F};
enum { N_ODD = sizeof odd_ints / sizeof odd_ints[0], N_KINDS = N_ODD + 3 };

static void change_attr(struct node_case *test, struct amp_attr *attr, size_t kind)
{
    struct amp_arena *arena = test->model->arena;
    static const struct amp_str words[] = {{"", 0}, {"nothing like it", 15}};
    int64_t *ints = amp_arena_array(arena, attr->count + 1, sizeof *ints);
    float *floats = amp_arena_array(arena, attr->count + 1, sizeof *floats);
    for (size_t i = 0; i <= attr->count; i++) {
        ints[i] = odd_ints[kind % N_ODD];
        floats[i] = odd_floats[kind % N_ODD];
    }
    if (kind == N_ODD) {
        bool is_list = attr->type >= AMP_ATTR_FLOATS && attr->type <= AMP_ATTR_GRAPHS;
        attr->count = is_list ? 0 : attr->count;
    } else if (kind == N_ODD + 1) {
        attr->type = attr->type == AMP_ATTR_STRING ? AMP_ATTR_INT : AMP_ATTR_STRING;
        attr->count = 1;
    } else if (kind == N_ODD + 2) {
        attr->type = attr->type == AMP_ATTR_INTS ? AMP_ATTR_FLOATS : AMP_ATTR_INTS;
        attr->count++;
    }
    if (attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_INTS)
        attr->ints = ints;
    else if (attr->type == AMP_ATTR_FLOAT || attr->type == AMP_ATTR_FLOATS)
        attr->floats = floats;
    else if (attr->type == AMP_ATTR_STRING)
        attr->strings = &words[kind % 2];
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_case(struct node_case *test)
{
    struct amp_error err;
    struct itimerval limit = {.it_value.tv_sec = SECONDS_MAX};
    setitimer(ITIMER_PROF, &limit, NULL);
    enum amp_status status = node_case_run(test, NULL, &err);
    shared->run += status == AMP_OK;
    shared->refused += status != AMP_OK;
    if (status == AMP_OK || strstr(err.text, test->node->op_type) != NULL ||
        strstr(err.text, "input '") != NULL || strstr(err.text, "; the model wants") != NULL)
        return; /* it names the node, or what is wrong with an input of the model */
    shared->faults++;
    fprintf(stderr, "%s: the message does not name the node: %s\n", shared->at_hand, err.text);
}

/* INPUT -1: all of them. */
static void run_changed_input(const char *folder, int input, const struct change *change)
{
    struct node_case test;
    if (!begin_run(folder, "input %d: %s", input, change->name))
        return;
    assert_true(node_case_open(&test, folder));
    for (uint32_t i = 0; i < test.node->n_inputs; i++)
        if (input < 0 || i == (uint32_t)input)
            change_input(&test, i, change);
    run_case(&test);
    node_case_close(&test);
}

static void run_changed_attr(const char *folder, uint32_t a, size_t kind)
{
    struct node_case test;
    if (!begin_run(folder, "attribute %u, kind %zu", a, kind))
        return;
    assert_true(node_case_open(&test, folder));
    change_attr(&test, &test.node->attrs[a], kind);
    run_case(&test);
    node_case_close(&test);
}

/* Whether enough cases of the operator's version were seen. */
static bool was_seen(const struct amp_schema *schema)
{
    static struct {
        const struct amp_schema *schema;
        size_t count;
    } seen[1024];
    size_t i = 0;
    while (seen[i].schema != NULL && seen[i].schema != schema)
        i++;
    assert_true(i < 1023);
    seen[i].schema = schema;
    return seen[i].count++ >= CASES_MAX;
}

static void hold_case(const char *folder)
{
    struct node_case test;
    if (!node_case_open(&test, folder))
        return;
    uint32_t n_inputs = test.node->n_inputs, n_attrs = test.node->n_attrs;
    bool is_wanted = !was_seen(test.node->schema);
    node_case_close(&test);
    for (size_t k = 0; k < N_CHANGES && is_wanted; k++)
        for (int i = -1; i < (int)n_inputs; i++)
            run_changed_input(folder, i, &changes[k]);
    for (uint32_t a = 0; a < n_attrs && is_wanted; a++)
        for (size_t kind = 0; kind < N_KINDS; kind++)
            run_changed_attr(folder, a, kind);
}

/* ---- the worker ------------------------------------------------------------------------------ */

/* cmocka catches these to report a failed test; a worker is to end by them. */
static void leave_signals(void)
{
    static const int caught[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        signal(caught[i], SIG_DFL);
}

static _Noreturn void work(void)
{
    glob_t folders;
    leave_signals();
    node_cases_find(&folders);
    amp_memory_set_limit(MEMORY_MAX);
    for (size_t i = 0; i < folders.gl_pathc; i++)
        hold_case(folders.gl_pathv[i]);
    globfree(&folders);
    if (amp_memory_used() != 0) {
        shared->faults++;
        fprintf(stderr, "tensors were not released\n");
    }
    exit(0); /* looks for leaks */
}

/* One worker, from run FIRST on; false when it came to the end. */
static bool run_worker(void)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        work();
    assert_int_equal(waitpid(child, &status, 0), child);
    first = shared->number + 1;
    if (status == 0)
        return false;
    shared->faults++;
    fprintf(stderr, "%s: %s\n", shared->at_hand,
            WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "it hangs" : "it crashed");
    return true;
}

static void extremes_run_or_are_refused(void **unused)
{
    (void)unused;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    while (run_worker() && shared->faults < FAULTS_MAX) {
    }
    fprintf(stderr, "# %zu ran, %zu were refused\n", shared->run, shared->refused);
    assert_int_equal(shared->faults, 0);
    assert_true(shared->run > 1000 && shared->refused > 1000);
    munmap(shared, sizeof *shared);
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes_run_or_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

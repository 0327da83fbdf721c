/* What a session takes for the inputs of its model, which sizes are found for those, how the
   outputs of models are measured where they are lists, which of them are class scores, what is
   selected in both of two models, and what goes into steps of training and comes of them. */
#include "chance.h"
#include "net.h"

#include "check/alignment.h"
#include "check/calibrate.h"
#include "check/class_scores.h"
#include "check/compare.h"
#include "check/deviations.h"
#include "check/elements.h"
#include "check/input_dims.h"
#include "check/metrics.h"
#include "check/noise/sources.h"
#include "check/noise/twin.h"
#include "check/pairs.h"
#include "check/selection.h"
#include "core/array.h"
#include "core/graph/copy.h"
#include "onnx/sample/output_stems.h"
#include "onnx/sample/samples.h"
#include "scratch.h"
#include "train/history.h"
#include "train/rows.h"
#include "train/trainer.h"

#include <math.h>
#include <sys/stat.h>

/* ---- inputs ---- */

static struct amp_tensor ones(enum amp_dtype dtype, struct amp_shape shape)
{
    static const char data[256];
    return *net_tensor(dtype, shape, data);
}

static void start_neg(enum amp_dtype dtype, struct amp_shape shape)
{
    net_start(22);
    output(NODE("Neg", "y", input("x", dtype, shape)));
}

static void inputs_have_the_declared_dims(void **state)
{
    (void)state;
    start_neg(AMP_FLOAT, DIMS(2, 3));
    run_on(TENSORS(ones(AMP_FLOAT, DIMS(2, 3))));
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(2, 4))), AMP_MODEL,
            "input 'x': shape [2, 4]; the model wants [2, 3]");
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(1, 3))), AMP_MODEL,
            "input 'x': shape [1, 3]; the model wants [2, 3]");
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(2))), AMP_MODEL,
            "input 'x': shape [2]; the model wants [2, 3]");
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(2, 3, 1))), AMP_MODEL,
            "input 'x': shape [2, 3, 1]; the model wants [2, 3]");
    start_neg(AMP_FLOAT, DIMS(0));
    run_on(TENSORS(ones(AMP_FLOAT, DIMS(0))));
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(2))), AMP_MODEL,
            "input 'x': shape [2]; the model wants [0]");
    start_neg(AMP_FLOAT, SCALAR);
    run_on(TENSORS(ones(AMP_FLOAT, SCALAR)));
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(1))), AMP_MODEL,
            "input 'x': shape [1]; the model wants []");
    start_neg(AMP_FLOAT, DIMS(AMP_DIM_UNKNOWN, 3));
    run_on(TENSORS(ones(AMP_FLOAT, DIMS(5, 3))));
    start_neg(AMP_FLOAT, ANY_DIMS);
    run_on(TENSORS(ones(AMP_FLOAT, DIMS(5, 3))));
    run_on(TENSORS(ones(AMP_FLOAT, SCALAR)));
}

static void inputs_have_the_declared_type(void **state)
{
    (void)state;
    start_neg(AMP_FLOAT, DIMS(2));
    refuses(TENSORS(ones(AMP_DOUBLE, DIMS(2))), AMP_MODEL,
            "input 'x': dtype float64; the model wants float32");
    refuses(TENSORS({.dtype = AMP_FLOAT, .shape = DIMS(2)}), AMP_MODEL, "input 'x' is not given");
}

static void a_symbol_is_one_size(void **state)
{
    (void)state;
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n"), m = amp_symbol_dim(net.model, "m");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, m)), b = input("b", AMP_FLOAT, DIMS(m, n));
    output(NODE("MatMul", "y", a, b));
    run_on(TENSORS(ones(AMP_FLOAT, DIMS(2, 3)), ones(AMP_FLOAT, DIMS(3, 2))));
    run_on(TENSORS(ones(AMP_FLOAT, DIMS(4, 1)), ones(AMP_FLOAT, DIMS(1, 4))));
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(2, 3)), ones(AMP_FLOAT, DIMS(4, 2))), AMP_MODEL,
            "input 'b': dim 0 is 4, but 'm' is 3 elsewhere");
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(2, 3)), ones(AMP_FLOAT, DIMS(3, 0))), AMP_MODEL,
            "input 'b': dim 1 is 0, but 'n' is 2 elsewhere");
    refuses(TENSORS(ones(AMP_FLOAT, DIMS(0, 3)), ones(AMP_FLOAT, DIMS(3, 2))), AMP_MODEL,
            "input 'b': dim 1 is 2, but 'n' is 0 elsewhere");
}

/* ---- sizes of open dims ---- */

/* What a run is to say of sizes: it takes the text that FAILS writes, or works where that is none.
 */
struct sizes_trial {
    const char *(*fails)(const int64_t *sizes);
    enum amp_status status; /* of a failure */
    int64_t tried[40][3];   /* the dims at the places below */
    size_t n_tried;
};

/* n and m of a, n and u of b: the first two are called so. b[1] has no name. */
static struct amp_input_dims *dims;
static struct sizes_trial trial;
static struct place {
    size_t input;
    int dim;
} places[3];
static bool shares_symbol; /* the first dims of both inputs are one */

static void open_sizes(const char *(*fails)(const int64_t *sizes))
{
    int64_t n, m;
    amp_input_dims_destroy(dims);
    net_start(22);
    n = amp_symbol_dim(net.model, "n");
    m = amp_symbol_dim(net.model, "m");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, m));
    uint32_t b = input("b", AMP_FLOAT, DIMS(n, AMP_DIM_UNKNOWN));
    output(NODE("NonZero", "y", a));
    output(NODE("NonZero", "z", b));
    infer_all();
    dims = amp_input_dims_create(net.model);
    shares_symbol = true;
    trial = (struct sizes_trial){.fails = fails, .status = AMP_MODEL};
    for (int i = 0; i < 3; i++)
        places[i] = (struct place){i / 2, i == 0 ? 0 : 1};
}

static int close_sizes(void **state)
{
    amp_input_dims_destroy(dims);
    dims = NULL;
    return net_close(state);
}

#define SIZES_TEST(name) cmocka_unit_test_setup_teardown(name, net_open, close_sizes)

static int64_t dim_of(const struct amp_model *model, size_t i, int d)
{
    return amp_value_at(model, model->graphs[0].inputs.items[i])->dims[d];
}

static enum amp_status try_sizes(void *context, const struct amp_model *bound,
                                 struct amp_error *err)
{
    char node[128];
    assert_ptr_equal(context, &trial);
    assert_in_range(trial.n_tried, 0, 39);
    int64_t *sizes = trial.tried[trial.n_tried++];
    for (int i = 0; i < 3; i++)
        sizes[i] = dim_of(bound, places[i].input, places[i].dim);
    assert_true(!shares_symbol || places[0].dim > 0 || dim_of(bound, 1, 0) == sizes[0]);
    const char *text = trial.fails(sizes);
    amp_node_text(bound, bound->graphs[0].nodes.items[0], node, sizeof node);
    return text == NULL ? AMP_OK : amp_fail(err, trial.status, "%s: %s", node, text);
}

static void find_sizes(enum amp_status status, const char *said)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_input_dims_find(dims, try_sizes, &trial, &err), status);
    assert_string_equal(err.text, said);
}

static void expect_tried(const int64_t (*tried)[3], size_t n)
{
    assert_int_equal(trial.n_tried, n);
    for (size_t i = 0; i < n; i++)
        if (memcmp(tried[i], trial.tried[i], sizeof *tried) != 0)
            fail_msg("attempt %zu: %d, %d, %d", i, (int)trial.tried[i][0], (int)trial.tried[i][1],
                     (int)trial.tried[i][2]);
}

#define TRIED(...) \
    expect_tried((const int64_t[][3]){__VA_ARGS__}, sizeof((int64_t[][3]){__VA_ARGS__}) / 24)

static void expect_found(size_t k, const char *name, int64_t size)
{
    char text[16] = "";
    assert_true(amp_input_dims_found(dims, k, text, sizeof text) == size);
    assert_string_equal(text, name);
}

static const char *works(const int64_t *sizes)
{
    (void)sizes;
    return NULL;
}

static const char *wants_m_of_7(const int64_t *sizes)
{
    return sizes[1] == 7 ? NULL : "7 is what the second is to be, and 1 is not";
}

static const char *wants_both_behind(const int64_t *sizes)
{
    return sizes[1] == 3 && sizes[2] == 3 ? NULL : "no";
}

static const char *wants_first_and_last(const int64_t *sizes)
{
    return sizes[0] == 3 && sizes[2] == 3 ? NULL : "no";
}

static const char *works_never(const int64_t *sizes)
{
    (void)sizes;
    return "no";
}

static const char *says_sizes(const int64_t *sizes)
{
    static char text[64];
    snprintf(text, sizeof text, "sizes %d %d %d", (int)sizes[0], (int)sizes[1], (int)sizes[2]);
    return text;
}

/* As much as leaves no room for what is said of the sizes. */
static const char *says_much(const int64_t *sizes)
{
    static char text[1800];
    memset(text, sizes[0] > 1 ? 'b' : 'a', sizeof text - 1);
    return text;
}

static const char *says_many(const int64_t *sizes)
{
    (void)sizes;
    return "1 4097 0 4096 9 9 8 x10 11.12, 17; -14 15 16 18";
}

static void sizes_that_work_are_left(void **state)
{
    (void)state;
    open_sizes(works);
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1});
    expect_found(0, "", 0);
}

/* Those that a message names first, each dim alone; what is needed stays. */
static void sizes_that_are_named_come_first(void **state)
{
    (void)state;
    open_sizes(wants_m_of_7);
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1}, {7, 1, 1}, {1, 7, 1}, {1, 1, 1});
    expect_found(0, "m", 7);
    expect_found(1, "", 0);
}

/* Dims of a kind together behind each alone; those that need not be more are 1 again. */
static void dims_of_a_kind_have_one_size(void **state)
{
    (void)state;
    open_sizes(wants_both_behind);
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 2, 2}, {2, 1, 1}, {2, 2, 2}, {3, 1, 1},
          {1, 3, 1}, {1, 1, 3}, {1, 3, 3}, {1, 1, 3}, {1, 3, 1});
    expect_found(0, "m", 3);
    expect_found(1, "b[1]", 3);
    expect_found(2, "", 0);
    open_sizes(wants_first_and_last);
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 2, 2}, {2, 1, 1}, {2, 2, 2}, {3, 1, 1},
          {1, 3, 1}, {1, 1, 3}, {1, 3, 3}, {3, 1, 1}, {3, 3, 3}, {1, 3, 3}, {3, 1, 3}, {3, 1, 1});
    expect_found(0, "n", 3);
    expect_found(1, "b[1]", 3);
    expect_found(2, "", 0);
}

/* The places behind the second of an image are of a kind, and of those behind the first. */
static void spatial_dims_have_one_size(void **state)
{
    (void)state;
    open_sizes(wants_both_behind);
    amp_input_dims_destroy(dims);
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN));
    uint32_t z = input("z", AMP_FLOAT, DIMS(1, 1, AMP_DIM_UNKNOWN));
    output(NODE("NonZero", "y", x));
    output(NODE("NonZero", "v", z));
    infer_all();
    dims = amp_input_dims_create(net.model);
    places[0] = (struct place){0, 1};
    places[1] = (struct place){0, 2};
    places[2] = (struct place){1, 2};
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 2, 2}, {2, 2, 2}, {2, 2, 2}, {3, 1, 1},
          {1, 3, 1}, {1, 1, 3}, {1, 3, 3}, {1, 1, 3}, {1, 3, 1});
    expect_found(0, "x[2]", 3);
    expect_found(1, "z[2]", 3);
}

/* With some set there are those alone that are left. */
static void sizes_that_are_set_stay(void **state)
{
    (void)state;
    open_sizes(wants_m_of_7);
    assert_true(amp_input_dims_set(dims, "n", 5));
    assert_true(amp_input_dims_set(dims, "m", 4));
    assert_false(amp_input_dims_set(dims, "b[1]", 4));
    assert_false(amp_input_dims_set(dims, "k", 4));
    find_sizes(AMP_OK, "");
    assert_int_equal(trial.n_tried, 24);
    for (size_t i = 0; i < trial.n_tried; i++)
        assert_true(trial.tried[i][0] == 5 && trial.tried[i][1] == 4);
    expect_found(0, "", 0);
    open_sizes(works_never);
    assert_int_equal(amp_input_dims_set_shape(dims, 0, &DIMS(5, 4), &net.err), AMP_OK);
    assert_int_equal(amp_input_dims_set_shape(dims, 1, &DIMS(5, 6), &net.err), AMP_OK);
    find_sizes(AMP_OK, "");
    assert_int_equal(trial.n_tried, 0); /* nothing is to be found */
}

static const char *wants_one_after_the_other(const int64_t *sizes)
{
    return sizes[1] != 3 ? "the first is to be 3" : sizes[2] != 4 ? "the second is to be 4" : NULL;
}

/* Where something else is said, the first size that came to it stays, and what that names is next.
 */
static void sizes_are_found_one_after_the_other(void **state)
{
    enum { MANY = 1 << 22 }; /* rows: no size beyond 4 is tried */
    (void)state;
    open_sizes(wants_one_after_the_other);
    assert_true(amp_input_dims_set(dims, "n", MANY));
    find_sizes(AMP_OK, "");
    TRIED({MANY, 1, 1}, {MANY, 3, 1}, {MANY, 1, 3}, {MANY, 3, 3}, {MANY, 3, 3}, {MANY, 2, 1},
          {MANY, 1, 2}, {MANY, 2, 2}, {MANY, 2, 2}, {MANY, 4, 1}, {MANY, 1, 4}, {MANY, 4, 4},
          {MANY, 4, 4}, {MANY, 4, 1}, {MANY, 3, 4}, {MANY, 1, 4}, {MANY, 3, 1});
    expect_found(0, "m", 3);
    expect_found(1, "b[1]", 4);
    expect_found(2, "", 0);
}

static const char *wants_first_of_6(const int64_t *sizes)
{
    return sizes[0] == 6 ? NULL : "no";
}

/* The places where the sizes of [n, m] and [6, 1] stand, of which OP_TYPE makes what is looked at.
 */
static void open_matrices(const char *(*fails)(const int64_t *sizes), const char *op_type)
{
    open_sizes(fails);
    amp_input_dims_destroy(dims);
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n"), m = amp_symbol_dim(net.model, "m");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, m)), b = input("b", AMP_FLOAT, DIMS(6, 1));
    output(NODE("NonZero", "y", NODE(op_type, "result", a, b)));
    infer_all();
    dims = amp_input_dims_create(net.model);
    places[0] = (struct place){0, 0};
    places[1] = (struct place){0, 1};
    places[2] = (struct place){1, 1};
    shares_symbol = false;
}

/* What inference refuses is not run: rows that do not broadcast. */
static void sizes_that_do_not_fit_are_not_run(void **state)
{
    (void)state;
    open_matrices(wants_first_of_6, "Add");
    assert_true(amp_input_dims_set(dims, "m", 3));
    find_sizes(AMP_OK, "");
    TRIED({1, 3, 1}, {6, 3, 1}, {1, 3, 1});
    expect_found(0, "n", 6);
}

/* What has no declared dims may be given none. */
static void inputs_become_scalars(void **state)
{
    (void)state;
    open_sizes(works);
    amp_input_dims_destroy(dims);
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, ANY_DIMS);
    output(NODE("Neg", "y", x));
    output(NODE("Neg", "z", input("a", AMP_FLOAT, DIMS(2)))); /* which has its dims */
    infer_all();
    dims = amp_input_dims_create(net.model);
    assert_int_equal(amp_value_at(amp_input_dims_bind(dims, net.arena), x)->rank, -1);
    assert_int_equal(amp_input_dims_set_shape(dims, 0, &SCALAR, &net.err), AMP_OK);
    assert_int_equal(amp_value_at(amp_input_dims_bind(dims, net.arena), x)->rank, 0);
    assert_int_equal(amp_value_at(net.model, x)->rank, -1);
}

/* Of the first sizes a run has the last word, whatever inference says of them. */
static void the_first_sizes_are_run(void **state)
{
    (void)state;
    open_sizes(works);
    amp_input_dims_destroy(dims);
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n"), m = amp_symbol_dim(net.model, "m");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, m)), b = input("b", AMP_FLOAT, DIMS(6, 1));
    output(NODE("MatMul", "y", a, b));
    infer_all();
    dims = amp_input_dims_create(net.model);
    places[0] = (struct place){0, 0};
    places[1] = (struct place){0, 1};
    places[2] = (struct place){1, 1};
    shares_symbol = false;
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1});
    expect_found(0, "", 0);
}

/* Nothing is run where inference tells the shapes of the first sizes and refuses none; of others a
   run has the last word. */
static void sizes_that_inference_takes_are_run_if_they_are_not_the_first(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    for (int i = 0; i < 2; i++) {
        open_matrices(works_never, "MatMul");
        amp_input_dims_destroy(dims);
        net_start(22);
        int64_t n = amp_symbol_dim(net.model, "n"), m = amp_symbol_dim(net.model, "m");
        output(NODE("MatMul", "y", input("a", AMP_FLOAT, DIMS(n, m)),
                    input("b", AMP_FLOAT, DIMS(i == 0 ? 1 : 6, 1))));
        infer_all();
        dims = amp_input_dims_create(net.model);
        assert_int_equal(amp_input_dims_find(dims, try_sizes, &trial, &err),
                         i == 0 ? AMP_OK : AMP_MODEL);
        assert_int_equal(trial.n_tried > 1, i == 1);
        assert_true(i == 0 ? trial.n_tried == 0 : trial.tried[1][1] == 6);
    }
}

static const char *wants_more(const int64_t *sizes)
{
    return sizes[0] > 1 ? NULL : "no";
}

/* Products, each of which wants another size of a dim of its own, are come to one after the other,
   as long as there are few. */
static void sizes_of_few_dims_are_found(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static const int64_t wanted[] = {3, 4, 6, 8, 16};
    (void)state;
    for (size_t n = 4; n <= 5; n++) {
        struct amp_error err = {.status = AMP_OK};
        open_matrices(wants_more, "MatMul");
        amp_input_dims_destroy(dims);
        net_start(22);
        for (size_t i = 0; i < n; i++)
            output(NODE("MatMul", "y",
                        input("x", AMP_FLOAT, DIMS(1, amp_symbol_dim(net.model, names[i]))),
                        input("w", AMP_FLOAT, DIMS(wanted[i], 1))));
        infer_all();
        dims = amp_input_dims_create(net.model);
        for (size_t i = 0; i < 3; i++)
            places[i] = (struct place){2 * i, 1};
        enum amp_status status = amp_input_dims_find(dims, try_sizes, &trial, &err);
        assert_int_equal(status, n == 4 ? AMP_OK : AMP_MODEL);
        for (size_t i = 0; i < n && n == 4; i++)
            expect_found(i, names[i], wanted[i]);
        expect_found(4, "", 0);
    }
}

/* Other words each time. */
static const char *says_more(const int64_t *sizes)
{
    static char text[64];
    (void)sizes;
    memset(text, 'a', sizeof text);
    text[trial.n_tried] = '\0';
    return text;
}

/* Six times something is settled on. */
static void there_are_six_rounds(void **state)
{
    enum { MANY = 1 << 22 }; /* rows: no size beyond 4 is tried */
    (void)state;
    open_sizes(says_more);
    assert_true(amp_input_dims_set(dims, "n", MANY));
    assert_true(amp_input_dims_set(dims, "m", 1));
    find_sizes(AMP_MODEL,
               "node 0 with output 'y' (NonZero-13): a; none of the sizes tried for 'b[1]' works: "
               "give one with --input-shape NAME=1,3,224,224");
    TRIED({MANY, 1, 1}, {MANY, 1, 2}, {MANY, 1, 3}, {MANY, 1, 4}, {MANY, 1, 3}, {MANY, 1, 4},
          {MANY, 1, 2}, {MANY, 1, 4}, {MANY, 1, 3}, {MANY, 1, 4}, {MANY, 1, 2}, {MANY, 1, 4},
          {MANY, 1, 3}, {MANY, 1, 4});
}

static const char *wants_second_of_6(const int64_t *sizes)
{
    return sizes[1] == 6 ? NULL : "6 is what the second is to be";
}

/* Nor is what inference refuses run to see whether less would do. */
static void sizes_that_inference_needs_stay(void **state)
{
    (void)state;
    open_matrices(wants_second_of_6, "MatMul");
    find_sizes(AMP_OK, "");
    TRIED({1, 1, 1}, {1, 6, 1});
    expect_found(0, "m", 6);
    expect_found(1, "", 0);
}

/* The same that is said of all sizes has nothing to do with them; else it is said how to give some.
 */
static void what_never_works_is_said(void **state)
{
    (void)state;
    open_sizes(works_never);
    find_sizes(AMP_OK, "");
    assert_int_equal(trial.n_tried, 24);
    open_sizes(says_sizes);
    find_sizes(AMP_MODEL, "node 0 with output 'y' (NonZero-13): sizes 1 1 1; none of the sizes "
                          "tried for 'n', 'm', 'b[1]' works: give one with --dim NAME=N or "
                          "--input-shape NAME=1,3,224,224");
    assert_int_equal(trial.n_tried, 24);
    expect_found(0, "", 0);
    open_sizes(says_sizes);
    assert_true(amp_input_dims_set(dims, "n", 5));
    assert_true(amp_input_dims_set(dims, "m", 4));
    find_sizes(AMP_MODEL, "node 0 with output 'y' (NonZero-13): sizes 5 4 1; none of the sizes "
                          "tried for 'b[1]' works: give one with --input-shape NAME=1,3,224,224");
    open_sizes(says_sizes);
    trial.status = AMP_KERNEL;
    assert_int_equal(amp_input_dims_set_shape(dims, 1, &DIMS(5, 4), &net.err), AMP_OK);
    find_sizes(AMP_KERNEL, "node 0 with output 'y' (NonZero-13): sizes 5 1 4; none of the sizes "
                           "tried for 'm' works: give one with --dim NAME=N");
}

/* Names are said as far as there is room: 127 bytes of each, 511 of all, and no more than a message
   holds. */
static void long_names_are_cut(void **state)
{
    struct {
        struct amp_error err;
        char behind[sizeof(struct amp_error)];
    } room;
    char long_names[5][151], said[sizeof room.err.text];
    const char *end = "works: give one with --dim NAME=N";
    (void)state;
    for (int before = 0; before < 2; before++) {
        open_sizes(before == 0 ? says_sizes : says_much);
        amp_input_dims_destroy(dims);
        net_start(22);
        struct amp_shape shape = {.rank = 5};
        for (int i = 0; i < 5; i++) {
            memset(long_names[i], 'a' + i, 150);
            long_names[i][150] = '\0';
            shape.dims[i] = amp_symbol_dim(net.model, amp_arena_strdup(net.arena, long_names[i]));
        }
        output(NODE("NonZero", "y", input("a", AMP_FLOAT, shape)));
        infer_all();
        dims = amp_input_dims_create(net.model);
        shares_symbol = false;
        for (int i = 0; i < 3; i++)
            places[i] = (struct place){0, i};
        memset(&room, 0, sizeof room);
        memset(room.behind, 'x', sizeof room.behind);
        assert_int_equal(amp_input_dims_find(dims, try_sizes, &trial, &room.err), AMP_MODEL);
        for (size_t i = 0; i < sizeof room.behind; i++)
            assert_int_equal(room.behind[i], 'x');
        int length =
            snprintf(said, sizeof said,
                     "; none of the sizes tried for '%.127s', '%.127s', '%.127s', '%.117s %s",
                     long_names[0], long_names[1], long_names[2], long_names[3], end);
        if (before == 0)
            assert_string_equal(room.err.text + strlen(room.err.text) - (size_t)length, said);
        else
            assert_int_equal(strlen(room.err.text), sizeof room.err.text - 1);
    }
}

/* Failures of other kinds are no reason to look for sizes. */
static void other_failures_are_left(void **state)
{
    static const enum amp_status others[] = {AMP_USAGE, AMP_UNSUPPORTED, AMP_IO};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        open_sizes(says_sizes);
        trial.status = others[i];
        find_sizes(AMP_OK, "");
        TRIED({1, 1, 1});
    }
}

static const char *is_refused_from_2(const int64_t *sizes)
{
    trial.status = sizes[0] + sizes[1] + sizes[2] > 3 ? AMP_IO : AMP_MODEL;
    return says_sizes(sizes);
}

/* The first size that the system refused is what is said. */
static void refused_sizes_are_said(void **state)
{
    (void)state;
    open_sizes(is_refused_from_2);
    find_sizes(AMP_IO, "node 0 with output 'y' (NonZero-13): sizes 2 1 1; none of the sizes tried "
                       "for 'n', 'm', 'b[1]' works: give one with --dim NAME=N or --input-shape "
                       "NAME=1,3,224,224");
}

static const char *is_refused_alike(const int64_t *sizes)
{
    trial.status = sizes[0] + sizes[1] + sizes[2] > 3 ? AMP_IO : AMP_MODEL;
    return "no";
}

/* Also where the system's words are the same for all sizes. */
static void refused_sizes_are_said_in_any_words(void **state)
{
    (void)state;
    open_sizes(is_refused_alike);
    find_sizes(AMP_IO, "node 0 with output 'y' (NonZero-13): no; none of the sizes tried for 'n', "
                       "'m', 'b[1]' works: give one with --dim NAME=N or --input-shape "
                       "NAME=1,3,224,224");
}

/* The numbers of a message from 2 to 4096, eight of them, each once; then common ones. */
static void numbers_are_tried_once(void **state)
{
    static const int64_t sizes[24] = {1, 4096, 9,  8,  10, 11, 12, 17, 14,  2,   3,   4,
                                      6, 16,   24, 32, 48, 64, 80, 96, 112, 128, 160, 192};
    (void)state;
    open_sizes(says_many);
    assert_true(amp_input_dims_set(dims, "n", 5));
    assert_true(amp_input_dims_set(dims, "m", 4));
    find_sizes(AMP_OK, "");
    assert_int_equal(trial.n_tried, 24);
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(trial.tried[i][2], sizes[i]);
}

/* No input of more than 2^24 elements is made. */
static void large_inputs_are_not_tried(void **state)
{
    (void)state;
    open_sizes(works_never);
    assert_true(amp_input_dims_set(dims, "n", 1 << 22));
    assert_true(amp_input_dims_set(dims, "m", 1));
    find_sizes(AMP_OK, "");
    TRIED({1 << 22, 1, 1}, {1 << 22, 1, 2}, {1 << 22, 1, 3}, {1 << 22, 1, 4});
    open_sizes(works_never); /* nor one whose elements cannot be counted */
    assert_true(amp_input_dims_set(dims, "n", INT64_C(1) << 40));
    assert_true(amp_input_dims_set(dims, "m", INT64_C(1) << 40));
    find_sizes(AMP_OK, "");
    TRIED({INT64_C(1) << 40, INT64_C(1) << 40, 1});
    open_sizes(works_never);
    assert_true(amp_input_dims_set(dims, "n", 4));
    assert_true(amp_input_dims_set(dims, "m", INT64_C(1) << 62));
    find_sizes(AMP_OK, "");
    TRIED({4, INT64_C(1) << 62, 1});
}

static void shapes_are_of_the_declared_kind(void **state)
{
    static const struct {
        size_t input;
        struct amp_shape shape;
        const char *said;
    } wrong[] = {
        {0, {.rank = 3, .dims = {1, 1, 1}}, "the input has 2 dims"},
        {0, {.rank = 1, .dims = {1}}, "the input has 2 dims"},
        {1, {.rank = 2, .dims = {4, 2}}, "dim 0 of the input, 'n', is set to 3 already"},
        {2, {.rank = 2, .dims = {5, 7}}, "dim 1 of the input is 6"},
    };
    (void)state;
    amp_input_dims_destroy(dims);
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, 2)), b = input("b", AMP_FLOAT, DIMS(n, 2));
    uint32_t c = input("c", AMP_FLOAT, DIMS(AMP_DIM_UNKNOWN, 6)),
             d = input("d", AMP_FLOAT, ANY_DIMS);
    output(NODE("Add", "y", a, b));
    output(NODE("Neg", "z", c));
    output(NODE("Neg", "v", d));
    infer_all();
    dims = amp_input_dims_create(net.model);
    assert_int_equal(amp_input_dims_set_shape(dims, 0, &DIMS(3, 2), &net.err), AMP_OK);
    assert_int_equal(amp_input_dims_set_shape(dims, 1, &DIMS(3, 2), &net.err), AMP_OK);
    assert_int_equal(amp_input_dims_set_shape(dims, 3, &DIMS(4, 5), &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_input_dims_set_shape(dims, wrong[i].input, &wrong[i].shape, &err),
                         AMP_USAGE);
        assert_string_equal(err.text, wrong[i].said);
    }
    struct amp_arena *arena = amp_arena_create();
    const struct amp_model *bound = amp_input_dims_bind(dims, arena);
    assert_ptr_not_equal(bound, net.model);
    assert_true(dim_of(bound, 0, 0) == 3 && dim_of(bound, 1, 0) == 3 && dim_of(bound, 2, 0) == 5);
    assert_int_equal(amp_value_at(bound, d)->rank, 2);
    assert_true(dim_of(bound, 3, 0) == 4 && dim_of(bound, 3, 1) == 5);
    const struct amp_value *sum = amp_value_at(bound, bound->graphs[0].outputs.items[0]);
    assert_true(sum->rank == 2 && sum->dims[0] == 3 && sum->dims[1] == 2);
    amp_arena_destroy(arena);
}

/* What is declared for other sizes does not stay; a model without open dims is as it is. */
static void shapes_follow_the_sizes(void **state)
{
    (void)state;
    amp_input_dims_destroy(dims);
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n");
    uint32_t a = input("a", AMP_FLOAT, DIMS(n, 2)), y = NODE("Neg", "y", a);
    uint32_t z = NODE("NonZero", "z", a);
    output(y);
    output(z);
    infer_all();
    amp_value_set_shape(net.model, y, &DIMS(9, 2));
    amp_value_set_shape(net.model, z, &DIMS(2, 18));
    static const float ones[3] = {1, 1, 1};
    uint32_t made = net_out(net_node(0, "Mystery", "made", 2, IDS(a)), 0);
    amp_node_at(net.model, node_of(made))->outputs[1] = AMP_NONE;
    amp_value_at(net.model, made)->constant = net_tensor(AMP_FLOAT, DIMS(3), ones);
    amp_value_set_shape(net.model, made, &DIMS(3));
    uint32_t odd = NODE("Mystery", "odd", a);
    amp_value_set_shape(net.model, odd, &DIMS(9));
    dims = amp_input_dims_create(net.model);
    assert_true(amp_input_dims_set(dims, "n", 4));
    struct amp_arena *arena = amp_arena_create();
    const struct amp_model *bound = amp_input_dims_bind(dims, arena);
    assert_true(amp_value_at(bound, y)->dims[0] == 4);
    assert_true(amp_value_at(net.model, y)->dims[0] == 9);
    assert_true(amp_value_at(bound, z)->dims[0] == 2 && amp_value_at(bound, z)->dims[1] < 0);
    assert_true(amp_value_at(bound, made)->rank == 1 && amp_value_at(bound, made)->dims[0] == 3);
    assert_int_equal(amp_value_at(bound, odd)->rank, -1);
    amp_arena_destroy(arena);
    amp_input_dims_destroy(dims);
    start_neg(AMP_FLOAT, DIMS(2, 3));
    infer_all();
    dims = amp_input_dims_create(net.model);
    arena = amp_arena_create();
    assert_ptr_equal(amp_input_dims_bind(dims, arena), net.model);
    amp_arena_destroy(arena);
}

/* ---- operators without a kernel ---- */

static void operators_without_a_kernel_are_found_at_once(void **state)
{
    struct amp_session *session = NULL;
    (void)state;
    start_neg(AMP_FLOAT, DIMS(2));
    infer_all();
    uint32_t lacking = net_node(0, "Mystery", "z", 1, IDS(net.model->graphs[0].outputs.items[0]));
    amp_node_at(net.model, lacking)->domain = "org.example";
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_UNSUPPORTED);
    amp_session_destroy(session);
    assert_non_null(strstr(net.err.text, "org.example.Mystery"));
}

/* ---- class scores ---- */

static struct amp_tensor row_of(struct amp_shape shape, const float *row)
{
    return *net_tensor(AMP_FLOAT, shape, row);
}

/* What a product gives, moved, cast or with a constant added, and nothing else. */
static void products_are_class_scores(void **state)
{
    static const float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(3, 3)), c = constant("c", AMP_FLOAT, DIMS(3, 3), ones);
    uint32_t later = input("later", AMP_FLOAT, DIMS(3, 3));
    amp_value_at(net.model, later)->initial = net_tensor(AMP_FLOAT, DIMS(3, 3), ones);
    uint32_t m = NODE("MatMul", "m", x, c), t = NODE("Transpose", "t", m);
    uint32_t h = NODE("Cast", "h", t);
    set_int(h, "to", AMP_FLOAT16);
    uint32_t other = NODE("Relu", "other", x), normal = NODE("Softplus", "normal", m);
    uint32_t known = NODE("Neg", "known", c);
    amp_value_at(net.model, known)->constant = net_tensor(AMP_FLOAT, DIMS(3, 3), ones);
    const struct {
        uint32_t value;
        bool are_scores;
    } cases[] = {
        {m, true},
        {t, true},
        {h, true},
        {NODE("Add", "a", m, c), true},
        {NODE("Add", "b", c, t), true},
        {NODE("Add", "d", later, m), true},
        {NODE("Add", "n", m, known), true},
        {NODE("Add", "e", m, other), false},
        {NODE("Sub", "f", m, c), false},
        {NODE("Add", "g", other, c), false},
        {NODE("Mystery", "i", m), false},
        {NODE("Gemm", "j", x, c), true},
        {NODE("LSTM", "k", x, c, c), false},
        {NODE("BatchNormalization", "l", m, c, c, c, c), false},
        {normal, false},
        {other, false},
        {x, false},
    };
    const struct amp_tensor output = row_of(DIMS(3, 3), ones);
    const struct amp_tensor integers = *net_tensor(AMP_INT32, DIMS(3, 3), ones);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (amp_class_scores_are(net.model, cases[i].value, &output) != cases[i].are_scores)
            fail_msg("'%s'", amp_value_at(net.model, cases[i].value)->name);
        assert_false(amp_class_scores_are(net.model, cases[i].value, &integers));
    }
}

/* Of the first row, and what rounding leaves of that. */
static void probabilities_are_class_scores(void **state)
{
    static const struct {
        float row[3];
        bool are_scores;
    } cases[] = {
        {{0.25f, 0.75f, 0}, true},
        {{0.25f, 0.75f, 0.0195f}, true},
        {{0.25f, 0.75f, 0.0205f}, false},
        {{0.25f, 0.7305f, 0}, true},
        {{0.25f, 0.7295f, 0}, false},
        {{-0.25f, 1.25f, 0}, false},
        {{-1.3862944f, -0.2876821f, -INFINITY}, true}, /* logarithms of 1/4 and 3/4 */
        {{-1.3862944f, -0.2876821f, -4}, true},
        {{-1.3862944f, -0.2876821f, -3.8f}, false},
        {{0, -INFINITY, -INFINITY}, true},
        {{0.01f, -INFINITY, -INFINITY}, false},
        {{0, 0, 0}, false},
        {{NAN, 1, 0}, false},
    };
    (void)state;
    net_start(22);
    uint32_t y = NODE("Softmax", "y", input("x", AMP_FLOAT, DIMS(2, 3)));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float rows[6] = {0, 0, 0, 5, 6, 7};
        memcpy(rows, cases[i].row, sizeof cases[i].row);
        const struct amp_tensor output = row_of(DIMS(2, 3), rows);
        if (amp_class_scores_are(net.model, y, &output) != cases[i].are_scores)
            fail_msg("case %zu", i);
    }
    struct amp_tensor none = row_of(DIMS(1, 3), cases[0].row);
    assert_true(amp_class_scores_are(net.model, y, &none));
    none.shape = DIMS(0, 3);
    assert_false(amp_class_scores_are(net.model, y, &none));
}

/* The class that is put first is one of those that the other puts first; rows of NaN alone agree.
 */
static void the_first_of_equals_agrees(void **state)
{
    static const struct {
        float reference[3], converted[3];
        bool agree;
    } cases[] = {
        {{1, 2, 3}, {0, 0, 1}, true},
        {{1, 2, 3}, {0, 1, 0}, false},
        {{3, 2, 3}, {0, 0, 1}, true},
        {{1, 2, 3}, {0, 1, 1}, false},
        {{NAN, 2, 1}, {NAN, 1, 0}, true},
        {{NAN, 2, 1}, {5, 1, 0}, false},
        {{NAN, NAN, NAN}, {NAN, NAN, NAN}, true},
        {{NAN, NAN, NAN}, {1, 0, 0}, false},
        {{1, 0, 0}, {NAN, NAN, NAN}, false},
        {{-INFINITY, NAN, NAN}, {-INFINITY, NAN, NAN}, true},
        {{-3, -1, -2}, {-3, -1, -2}, true},
        {{-3, -1, -2}, {-1, -2, -3}, false},
        {{0, -1, -2}, {NAN, NAN, NAN}, false}, /* as the last of the row before */
    };
    static const struct amp_class_scores scores = {.rows = 2, .n_classes = 3};
    (void)state;
    net_start(22);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float reference[6] = {0, 0, 0}, converted[6] = {0, 0, 0};
        memcpy(reference + 3, cases[i].reference, sizeof cases[i].reference);
        memcpy(converted + 3, cases[i].converted, sizeof cases[i].converted);
        const struct amp_tensor a = row_of(DIMS(2, 3), reference),
                                b = row_of(DIMS(2, 3), converted);
        assert_int_equal(amp_class_scores_agree(&a, &b, &scores, 1), cases[i].agree);
        assert_true(amp_class_scores_agree(&a, &b, &scores, 0));
    }
}

/* The rank of a class is how many are put before it: those of greater scores, and of equal ones the
   former. What has no place among the classes, or among numbers, comes last. */
static void classes_have_ranks(void **state)
{
    static const float rows[3][4] = {{4, 3, 2, 1}, {1, 3, 3, 7}, {NAN, 2, -INFINITY, 2}};
    static const size_t wanted[3][4] = {{0, 1, 2, 3}, {3, 1, 2, 0}, {4, 0, 2, 1}};
    static const struct amp_class_scores scores = {.rows = 3, .n_classes = 4};
    (void)state;
    net_start(22);
    const struct amp_tensor tensor = row_of(DIMS(3, 4), rows[0]);
    for (size_t row = 0; row < 3; row++) {
        for (int64_t class = 0; class < 4; class ++)
            assert_int_equal(amp_class_scores_rank(&tensor, &scores, row, class),
                             wanted[row][class]);
        assert_int_equal(amp_class_scores_rank(&tensor, &scores, row, -1), 4);
        assert_int_equal(amp_class_scores_rank(&tensor, &scores, row, 4), 4);
        assert_int_equal(amp_class_scores_top(&tensor, &scores, row), row == 0   ? 0
                                                                      : row == 1 ? 3
                                                                                 : 1);
    }
}

/* Numbers of two parts and of one have nothing to be set against each other. */
static void complex_numbers_do_not_deviate_from_floats(void **state)
{
    (void)state;
    static const float parts[4] = {1, 2, 3, 4};
    net_start(22);
    const struct amp_tensor two = row_of(DIMS(2), parts);
    const struct amp_tensor pair = *net_tensor(AMP_COMPLEX64, DIMS(2), parts);
    struct amp_deviations deviations = {.seen = 0};
    amp_deviations_add(&deviations, &pair, &two);
    amp_deviations_add(&deviations, &two, &pair);
    const struct amp_tensor whole = *net_tensor(AMP_INT64, DIMS(2), parts);
    amp_deviations_add(&deviations, &two, &whole);
    amp_deviations_add(&deviations, &whole, &two);
    assert_int_equal(deviations.seen, 0);
    amp_deviations_add(&deviations, &two, &two);
    assert_int_equal(deviations.seen, 2);
    amp_deviations_add(&deviations, &pair, &pair);
    assert_int_equal(deviations.seen, 6);
}

/* ---- what is selected ---- */

static void cast_to(uint32_t value, enum amp_dtype dtype)
{
    set_int(value, "to", dtype);
}

/* A body of OWNER that gives out VALUE, of the main graph. */
static void add_branch(uint32_t owner, const char *name, uint32_t value)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, value);
    amp_node_set_attr(
        net.model, owner,
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_GRAPH,
                          .count = 1,
                          .graphs = amp_arena_memdup(net.arena, &graph, sizeof graph)});
}

enum { N_SELECTED = 11 };

/* n selects by h, i by g. What is read of them, also in a body, or has their shape is behind them;
   z is selected by an input of truth values, and q by a shape that is the same in all runs. */
static const struct {
    const char *name;
    bool is_behind[2]; /* n and i */
} selected_outputs[N_SELECTED] = {
    {"n", {true, false}},     {"y", {false, false}}, {"i", {false, true}},
    {"taken", {true, false}}, {"z", {false, false}}, {"shape", {true, false}},
    {"own", {false, false}},  {"q", {false, false}}, {"if", {true, false}},
    {"both", {true, true}},   {"odd", {true, false}}};

static void start_selections(bool has_product)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), c = input("c", AMP_BOOL, DIMS(4));
    uint32_t truth = input("truth", AMP_BOOL, SCALAR);
    uint32_t h = NODE("Exp", "h", x), g = NODE("Neg", "g", x);
    uint32_t n = NODE("NonZero", "n", NODE("Greater", "b", h, x));
    uint32_t i = net_out(net_node(0, "TopK", "v", 2, IDS(g, NUMBERS("k", 2))), 1);
    uint32_t taken = NODE("Gather", "taken", h, n), own = NODE("Shape", "own", h);
    uint32_t dropout = net_node(0, "Dropout", "kept", 2, IDS(h));
    amp_node_at(net.model, dropout)->outputs[1] = AMP_NONE;
    amp_value_at(net.model, i)->name = "i";
    if (has_product)
        taken = NODE("MatMul", "product", taken, input("w", AMP_FLOAT, ANY_DIMS));
    uint32_t branch = net_node(0, "If", "if", 1, IDS(truth));
    add_branch(branch, "then_branch", n);
    add_branch(branch, "else_branch", n);
    const uint32_t outputs[] = {n,
                                NODE("Clip", "y", net_out(dropout, 0), AMP_NONE, h),
                                i,
                                taken,
                                NODE("NonZero", "z", c),
                                NODE("Shape", "shape", n),
                                own,
                                NODE("NonZero", "q", own),
                                net_out(branch, 0),
                                NODE("Add", "both", i, n)};
    for (size_t o = 0; o < AMP_COUNT(outputs); o++)
        output(outputs[o]);
    infer_all();
    /* An operator that nobody knows. */
    uint32_t odd = NODE("Neg", "odd", n);
    amp_node_at(net.model, node_of(odd))->domain = "unknown";
    output(odd);
}

static uint32_t value_called(const struct amp_model *model, const char *name)
{
    for (uint32_t v = 0; v < model->n_values; v++)
        if (strcmp(amp_value_at(model, v)->name, name) == 0)
            return v;
    fail_msg("no value '%s'", name);
    return AMP_NONE;
}

static void outputs_of_are(const struct amp_model *model, const char *wanted)
{
    char found[128] = "";
    const struct amp_ids *outputs = &model->graphs[0].outputs;
    for (size_t o = 0; o < outputs->count; o++) {
        assert_true(amp_value_at(model, outputs->items[o])->is_output);
        strcat(strcat(found, amp_value_at(model, outputs->items[o])->name), " ");
    }
    assert_string_equal(found, wanted);
}

static void outputs_are_behind_selections(void **state)
{
    (void)state;
    start_selections(false);
    struct amp_selections found = amp_selections_find(net.model);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.n_outputs, N_SELECTED);
    assert_int_equal(found.items[0].values[0], value_called(net.model, "n"));
    assert_int_equal(found.items[1].values[0], value_called(net.model, "i"));
    for (size_t o = 0; o < N_SELECTED; o++) {
        const bool *wanted = selected_outputs[o].is_behind;
        for (size_t i = 0; i < 2; i++)
            if (amp_selections_reach(&found, o, i) != wanted[i])
                fail_msg("%s: %d", selected_outputs[o].name, (int)i);
        assert_int_equal(amp_output_is_selected(&found, o), wanted[0] || wanted[1]);
    }
    assert_int_equal(found.sources.count, 2);
    assert_int_equal(found.sources.items[0], value_called(net.model, "h"));
    assert_int_equal(found.sources.items[1], value_called(net.model, "g"));
    assert_false(found.has_products);
    for (uint64_t other = 1; other <= 3; other++) { /* of 10: the first of equals is the worst */
        found.items[0].larger = found.items[1].larger = 10;
        found.items[0].otherwise = 2;
        found.items[1].otherwise = other;
        assert_ptr_equal(amp_selection_worst(&found, 9), &found.items[other > 2]);
        assert_ptr_equal(amp_selection_worst(&found, 2), &found.items[1]);
        assert_null(amp_selection_worst(&found, 1));
    }
    char text[32];
    amp_selection_node_text(&found, &found.items[0], text, sizeof text);
    assert_string_equal(text, "NonZero 'n'");
    amp_node_at(net.model, found.items[0].node)->name = "named";
    amp_selection_node_text(&found, &found.items[0], text, sizeof text);
    assert_string_equal(text, "NonZero 'named'");
    amp_selections_free(&found);
    assert_true(found.count == 0 && found.arena == NULL);
    start_selections(true);
    found = amp_selections_find(net.model);
    assert_true(found.has_products);
    assert_ptr_equal(amp_selections_expose(&found, net.model, net.arena), net.model);
    amp_selections_free(&found);
    assert_true(found.count == 0 && found.arena == NULL);
}

/* A selection that the converted model has not counts for no output, nor another that an output of
   it is behind. */
static void selections_are_those_of_both_models(void **state)
{
    (void)state;
    start_selections(false);
    struct amp_selections found = amp_selections_find(net.model);
    struct amp_model *converted = amp_model_copy(net.model, net.arena);
    amp_selections_pair(&found, converted);
    assert_int_equal(found.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(found.items[i].values[1], found.items[i].values[0]);
    outputs_of_are(amp_selections_watch(&found, converted, 1),
                   "n y i taken z shape own q if both odd n i ");
    outputs_of_are(amp_selections_expose(&found, converted, net.arena), "y z own q h g ");
    uint32_t i = found.items[1].values[0];
    amp_value_at(converted, i)->name = "gone";
    amp_node_remove(converted, amp_value_at(converted, i)->producer);
    found.items[0].values[1] = found.items[1].values[1] = AMP_NONE;
    amp_selections_pair(&found, converted);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].values[0], value_called(net.model, "n"));
    for (size_t o = 0; o < N_SELECTED; o++)
        assert_int_equal(amp_selections_reach(&found, o, 0),
                         selected_outputs[o].is_behind[0] && !selected_outputs[o].is_behind[1]);
    outputs_of_are(amp_selections_watch(&found, net.model, 0),
                   "n y i taken z shape own q if both odd n ");
    outputs_of_are(amp_selections_expose(&found, net.model, net.arena), "y i z own q both h g ");
    /* What the sources are called leads to them, unless it is a constant by now. */
    uint32_t h = value_called(converted, "h");
    static const float zeros[4];
    amp_value_at(converted, h)->constant = net_tensor(AMP_FLOAT, DIMS(4), zeros);
    assert_ptr_equal(amp_selections_expose(&found, converted, net.arena), converted);
    amp_value_at(converted, h)->constant = NULL;
    assert_ptr_not_equal(amp_selections_expose(&found, converted, net.arena), converted);
    amp_value_at(converted, h)->name = "other";
    assert_ptr_equal(amp_selections_expose(&found, converted, net.arena), converted);
    amp_selections_free(&found);
    assert_true(found.count == 0 && found.arena == NULL);
}

/* Of floats that only lend their shape to what is selected, no elements are asked for: neither by
   an operator that reads a shape nor on the way to one. */
static void shapes_of_floats_are_no_sources(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), h = NODE("Exp", "h", x), g = NODE("Abs", "g", x);
    uint32_t taken = NODE("Gather", "taken", h, NODE("NonZero", "n", x));
    output(NODE("Expand", "y", taken, NODE("Shape", "s", g)));
    infer_all();
    struct amp_selections found = amp_selections_find(net.model);
    assert_int_equal(found.count, 1);
    assert_true(amp_output_is_selected(&found, 0));
    assert_int_equal(found.sources.count, 1);
    assert_int_equal(found.sources.items[0], h);
    amp_selections_free(&found);
}

/* The sources of the selections of the model at hand, whose outputs are complete. */
static void sources_are(size_t n_selections, const char *wanted, bool has_products)
{
    char found[128] = "";
    infer_all();
    struct amp_selections selections = amp_selections_find(net.model);
    assert_int_equal(selections.count, n_selections);
    for (size_t i = 0; i < selections.sources.count; i++)
        strcat(strcat(found, amp_value_at(net.model, selections.sources.items[i])->name), " ");
    assert_string_equal(found, wanted);
    assert_int_equal(selections.has_products, has_products);
    if (wanted[0] == '\0')
        assert_ptr_equal(amp_selections_expose(&selections, net.model, net.arena), net.model);
    amp_selections_free(&selections);
}

/* What selects is no float that is given, no constant, no text and no integer that is made of
   integers, in bodies as elsewhere; a float that is made of integers is one. */
static void what_selects_by_floats_is_a_selection(void **state)
{
    static const float numbers[4] = {1, 0, 2, 0};
    static const int64_t found[2] = {0, 2};
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), c = input("c", AMP_BOOL, DIMS(4));
    output(NODE("NonZero", "n", x));
    sources_are(1, "", false); /* of what is given */
    net_start(22);
    c = input("c", AMP_BOOL, DIMS(4));
    uint32_t f = NODE("Cast", "f", c);
    cast_to(f, AMP_FLOAT);
    output(NODE("NonZero", "n", NODE("Greater", "b", f, FLOATS("w", 1, 2, 3, 4))));
    sources_are(1, "f ", false);
    net_start(22);
    x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t known = NODE("NonZero", "known", NODE("Exp", "h", x));
    amp_value_at(net.model, known)->constant = net_tensor(AMP_INT64, DIMS(1, 2), found);
    output(known);
    uint32_t text = NODE("Cast", "text", NODE("Neg", "g", x));
    cast_to(text, AMP_STRING);
    output(NODE("Unique", "u", text));
    sources_are(0, "", false);
    net_start(22);
    x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t taken =
        NODE("Gather", "taken", NODE("Exp", "h", x), NODE("NonZero", "n", NODE("Neg", "g", x)));
    uint32_t folded = NODE("Neg", "folded", FLOATS("w", 1, 0, 2, 0));
    amp_value_at(net.model, folded)->constant = net_tensor(AMP_FLOAT, DIMS(4), numbers);
    output(NODE("Expand", "y", taken, NODE("Shape", "s", folded)));
    output(NODE("Mul", "z", taken, folded));
    output(NODE("MatMul", "apart", x, x)); /* a product, behind no selection */
    sources_are(1, "h g ", false);
    net_start(22);
    uint32_t k = input("k", AMP_INT64, DIMS(2)), truth = input("truth", AMP_BOOL, SCALAR);
    uint32_t owner = net_node(0, "If", "if", 1, IDS(truth)), w = FLOATS("w", 1, 2, 3, 4);
    for (int b = 0; b < 2; b++) {
        add_branch(owner, b == 0 ? "then_branch" : "else_branch", k);
        uint32_t body = (uint32_t)net.model->n_graphs - 1;
        uint32_t real = net_out(net_node(body, "Cast", "real", 1, IDS(k)), 0);
        cast_to(real, AMP_FLOAT);
        uint32_t sum = net_out(net_node(body, "Max", "sum", 1, IDS(real, w)), 0);
        net.model->graphs[body].outputs.items[0] =
            net_out(net_node(body, "Shape", "inner", 1, IDS(sum)), 0);
    }
    output(NODE("NonZero", "n", net_out(owner, 0)));
    sources_are(0, "", false);
    uint32_t apart = amp_graph_add(net.model, "apart", AMP_NONE); /* in no node */
    net_node(apart, "Neg", "lost", 1, IDS(k));
    sources_are(0, "", false);
}

/* On the way to a shape floats lend theirs, also beside what is selected, and integers their
   elements. */
static void shapes_are_of_floats_and_of_integers(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), k = input("k", AMP_FLOAT, DIMS(1));
    uint32_t h = NODE("Exp", "h", x), g = NODE("Abs", "g", x);
    uint32_t taken = NODE("Gather", "taken", x, NODE("NonZero", "n", h));
    output(NODE("Expand", "y", k, NODE("Shape", "s", NODE("Add", "sum", taken, g))));
    sources_are(1, "h ", false);
    net_start(22);
    x = input("x", AMP_FLOAT, DIMS(4)), k = input("k", AMP_FLOAT, DIMS(1));
    h = NODE("Exp", "h", x), g = NODE("Abs", "g", x);
    taken = NODE("Gather", "taken", x, NODE("NonZero", "n", h));
    uint32_t d = NODE("Cast", "d", g);
    cast_to(d, AMP_INT64);
    output(NODE("Expand", "y", k, NODE("Shape", "s", NODE("Expand", "wide", taken, d))));
    sources_are(1, "h g ", false);
}

/* Each selection is behind one output alone, in whatever order. */
static void selections_of_the_last_output_stay(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4));
        uint32_t n = NODE("NonZero", "n", NODE("Exp", "h", x));
        uint32_t i =
            net_out(net_node(0, "TopK", "v", 2, IDS(NODE("Neg", "g", x), NUMBERS("k", 2))), 1);
        output(NODE("Abs", "a", x));
        output(order == 0 ? n : i);
        output(order == 0 ? i : n);
        infer_all();
        struct amp_selections found = amp_selections_find(net.model);
        assert_int_equal(found.count, 2);
        amp_selections_pair(&found, net.model);
        assert_int_equal(found.count, 2);
        for (size_t o = 0; o < 3; o++)
            for (size_t k = 0; k < 2; k++)
                assert_int_equal(amp_selections_reach(&found, o, k),
                                 o > 0 && k == (order == 0 ? o - 1 : 2 - o));
        amp_selections_free(&found);
    }
}

/* ---- ranges of values ---- */

static const float calibrated[2][2] = {{1, -4}, {3, 0.5f}};
static size_t n_loaded;

/* Samples beyond the second have inputs of another shape. */
static enum amp_status load_calibrated(void *context, size_t sample, struct amp_tensor *inputs,
                                       struct amp_error *err)
{
    static const double wide[] = {7, 9};
    static const int64_t numbers[] = {5, 6};
    (void)context;
    n_loaded++;
    if (sample == 2)
        return amp_fail(err, AMP_IO, "there is no third");
    amp_tensor_refer(&inputs[0], net_tensor(AMP_FLOAT, DIMS(2), calibrated[sample]));
    amp_tensor_refer(&inputs[1], net_tensor(AMP_DOUBLE, DIMS(2), wide));
    amp_tensor_refer(&inputs[2], net_tensor(AMP_INT64, DIMS(2), numbers));
    return AMP_OK;
}

/* Of floats of all samples, of inputs and of what nodes give; not of constants, integers and
   results that are left out. A sample that fails is the last. */
static void ranges_are_of_all_floats_of_all_samples(void **state)
{
    static const float ones[] = {1, 1};
    static const struct {
        const char *name;
        double minimum, maximum;
    } wanted[] = {{"x", -4, 3}, {"w", 7, 9}, {"y", -3, 4}, {"z", -9, -7}, {"kept", -4, 3}};
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), w = input("w", AMP_DOUBLE, DIMS(2));
    uint32_t n = input("n", AMP_INT64, DIMS(2)), c = constant("c", AMP_FLOAT, DIMS(2), ones);
    output(NODE("Add", "y", x, c));
    output(NODE("Neg", "z", w));
    output(NODE("Neg", "whole", n));
    uint32_t dropout = net_node(0, "Dropout", "kept", 2, IDS(x));
    amp_value_at(net.model, net_out(dropout, 0))->name = "kept";
    amp_node_at(net.model, dropout)->outputs[1] = AMP_NONE;
    output(net_out(dropout, 0));
    infer_all();
    for (size_t count = 1; count <= 4; count++) {
        struct amp_error err = {.status = AMP_OK};
        const struct amp_source source = {.count = count, .load = load_calibrated};
        struct amp_ranges *ranges = amp_ranges_create(net.arena);
        n_loaded = 0;
        assert_int_equal(amp_calibrate(net.model, &source, ranges, &err),
                         count > 2 ? AMP_IO : AMP_OK);
        assert_string_equal(err.text, count > 2 ? "there is no third" : "");
        assert_int_equal(n_loaded, count > 2 ? 3 : count);
        size_t n_samples = count > 2 ? 2 : count;
        assert_int_equal(ranges->n_samples, n_samples);
        assert_int_equal(ranges->count, AMP_COUNT(wanted));
        for (size_t i = 0; i < AMP_COUNT(wanted); i++) {
            const struct amp_range *seen = &amp_ranges_entry(ranges, wanted[i].name)->seen;
            assert_int_equal(seen->count, 2 * n_samples);
            if (n_samples == 2)
                assert_true(seen->minimum == wanted[i].minimum &&
                            seen->maximum == wanted[i].maximum);
        }
        assert_int_equal(ranges->count, AMP_COUNT(wanted));
    }
}

/* ---- folders of samples ---- */

/* Makes the files of a list, folders where a slash ends a name, in the new FOLDER. */
static void fill_folder(char *folder, const char *files)
{
    char list[256], path[SCRATCH_MAX + 64];
    scratch_folder(folder, SCRATCH_MAX);
    snprintf(list, sizeof list, "%s", files);
    for (char *rest, *name = strtok_r(list, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest)) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (path[strlen(path) - 1] == '/') {
            assert_int_equal(mkdir(path, 0700), 0);
            continue;
        }
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
}

static void remove_folder(const char *folder)
{
    char command[SCRATCH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* SAMPLES from the one at BEFORE on are those of FOLDER in the list WANTED, "." the folder. */
static void samples_are(const struct amp_samples *samples, size_t before, const char *folder,
                        const char *wanted)
{
    char found[512] = "";
    size_t length = strlen(folder);
    for (size_t i = before; i < samples->count; i++) {
        const char *path = samples->paths[i];
        assert_memory_equal(path, folder, length);
        assert_true(path[length] == '/' || path[length] == '\0');
        strcat(strcat(found, found[0] != '\0' ? " " : ""),
               path[length] == '/' ? path + length + 1 : ".");
    }
    assert_string_equal(found, wanted);
}

/* The first of several kinds of samples that a folder has, in the order of their numbers. */
static void samples_are_of_one_kind(void **state)
{
    static const struct {
        const char *files, *opened, *added, *expected; /* NULL: there are none */
    } rows[] = {
        {"test_data_set_0/ test_data_set_10/ test_data_set_9/ sample_1/ a.npz",
         "test_data_set_0 test_data_set_9 test_data_set_10",
         "test_data_set_0 test_data_set_9 test_data_set_10",
         "test_data_set_0 test_data_set_9 test_data_set_10"},
        {"sample_2/ sample_1/ a.npz x.npy", "sample_1 sample_2", "sample_1 sample_2",
         "sample_1 sample_2"},
        {"a8.npz a7.npz a6.npz a5.npz a4.npz a3.npz a2.npz a1.npz a0.npz .a.npz input_0.pb",
         "a0.npz a1.npz a2.npz a3.npz a4.npz a5.npz a6.npz a7.npz a8.npz",
         "a0.npz a1.npz a2.npz a3.npz a4.npz a5.npz a6.npz a7.npz a8.npz",
         "a0.npz a1.npz a2.npz a3.npz a4.npz a5.npz a6.npz a7.npz a8.npz"},
        {"a.npz", "a.npz", "a.npz", "a.npz"},
        {"input_0.pb y.npy", ".", ".", "."},
        {"input_0.npy y.npy", ".", ".", "."},
        {"input_1.npy input_1.pb", NULL, "input_1.npy", "."},
        {"x.npy y.npy", NULL, ".", "."},
        {"second.npy y.npy", NULL, ".", "."},
        {"y10.npy y9.npy a.npy .b.npy c.pb", NULL, "a.npy y9.npy y10.npy", "."},
        {"c.pb", NULL, NULL, "."},
        {"", NULL, NULL, "."},
    };
    static const char none[] = "no samples; test_data_set_N folders, input_K.pb";
    char folder[SCRATCH_MAX], said[SCRATCH_MAX + 128];
    (void)state;
    net_start(22);
    input("x", AMP_FLOAT, DIMS(2));
    input("second", AMP_FLOAT, DIMS(2));
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_samples samples, all = {.count = 0};
        struct amp_error err = {.status = AMP_OK};
        fill_folder(folder, rows[i].files);
        snprintf(said, sizeof said, "%s: %s or .npz files are read", folder, none);
        assert_int_equal(amp_samples_open(folder, &samples, &err),
                         rows[i].opened != NULL ? AMP_OK : AMP_MODEL);
        assert_string_equal(err.text, rows[i].opened != NULL ? "" : said);
        samples_are(&samples, 0, folder, rows[i].opened != NULL ? rows[i].opened : "");
        amp_samples_close(&samples);
        err = (struct amp_error){.status = AMP_OK};
        snprintf(said, sizeof said, "%s: %s, NAME.npy or .npz files are read", folder, none);
        assert_int_equal(amp_samples_add("z.npz", net.model, &all, &err), AMP_OK);
        assert_int_equal(amp_samples_add(folder, net.model, &all, &err),
                         rows[i].added != NULL ? AMP_OK : AMP_MODEL);
        assert_string_equal(err.text, rows[i].added != NULL ? "" : said);
        assert_string_equal(all.paths[0], "z.npz");
        samples_are(&all, 1, folder, rows[i].added != NULL ? rows[i].added : "");
        amp_samples_close(&all);
        err = (struct amp_error){.status = AMP_OK};
        assert_int_equal(amp_samples_open_expected(folder, &samples, &err), AMP_OK);
        samples_are(&samples, 0, folder, rows[i].expected);
        amp_samples_close(&samples);
        remove_folder(folder);
    }
}

/* Files are samples by their ending, unless a folder is called so. */
static void samples_are_files_or_folders(void **state)
{
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 64], said[SCRATCH_MAX + 128];
    struct amp_samples samples = {.count = 0};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    net_start(22);
    input("x", AMP_FLOAT, DIMS(2));
    fill_folder(folder, "a.npz b.npy c.npz/ c.npz/sample_1/ d.npy/ d.npy/x.npy");
    static const char *const names[] = {"b.npy", "a.npz", "c.npz", "d.npy"};
    for (size_t i = 0; i < AMP_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(amp_samples_add(path, net.model, &samples, &err), AMP_OK);
    }
    samples_are(&samples, 0, folder, "b.npy a.npz c.npz/sample_1 d.npy");
    assert_true(amp_path_exists(folder, "a.npz") && amp_path_exists(folder, ""));
    assert_false(amp_path_exists(folder, "e.npz"));
    amp_samples_close(&samples);
    remove_folder(folder);
    snprintf(said, sizeof said, "%s: cannot read the folder: No such file or directory", folder);
    for (int i = 0; i < 3; i++) {
        err = (struct amp_error){.status = AMP_OK};
        samples = (struct amp_samples){.count = 0};
        enum amp_status status = i == 0   ? amp_samples_open(folder, &samples, &err)
                                 : i == 1 ? amp_samples_add(folder, net.model, &samples, &err)
                                          : amp_samples_open_expected(folder, &samples, &err);
        assert_int_equal(status, AMP_IO);
        assert_string_equal(err.text, said);
        assert_int_equal(samples.count, 0);
        amp_samples_close(&samples);
    }
}

/* ---- what steps read and make ---- */

/* Whether node ID reads VALUE, itself or in its bodies, whose outputs are read, too. */
static bool node_reads(const struct amp_model *model, uint32_t id, uint32_t value)
{
    const struct amp_node *node = amp_node_at(model, id);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == value)
            return true;
    for (uint32_t a = 0; a < node->n_attrs; a++)
        for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++) {
            const struct amp_graph *body = &model->graphs[node->attrs[a].graphs[k]];
            for (size_t i = 0; i < body->nodes.count; i++)
                if (node_reads(model, body->nodes.items[i], value))
                    return true;
            for (size_t i = 0; i < body->outputs.count; i++)
                if (body->outputs.items[i] == value)
                    return true;
        }
    return false;
}

static bool step_reads(const struct amp_noise_steps *steps, size_t step, uint32_t value)
{
    return node_reads(steps->model, steps->items[step].node, value);
}

/* Whether STEP reads VALUE or what constant steps make of it. */
static bool step_depends(const struct amp_noise_steps *steps, size_t step, uint32_t value)
{
    if (step_reads(steps, step, value))
        return true;
    for (size_t i = 0; i < step; i++) {
        const struct amp_node *node = amp_node_at(steps->model, steps->items[i].node);
        for (uint32_t k = 0; k < node->n_outputs && steps->items[i].is_constant; k++)
            if (node->outputs[k] != AMP_NONE && step_reads(steps, i, value) &&
                step_depends(steps, step, node->outputs[k]))
                return true;
    }
    return false;
}

/* All that is said of the values and steps of a walk, by its definition. */
static void steps_are_right(const struct amp_noise_steps *steps)
{
    const struct amp_model *model = steps->model;
    for (uint32_t v = 0; v < model->n_values; v++) {
        const struct amp_value *value = amp_value_at(model, v);
        if (value->graph != 0)
            continue;
        size_t from = SIZE_MAX, death = 0, maker = SIZE_MAX;
        for (size_t i = steps->count; i-- > 0;) {
            from = !steps->items[i].is_constant && step_depends(steps, i, v) ? i : from;
            death = death == 0 && step_reads(steps, i, v) ? i : death;
            maker = steps->items[i].node == value->producer ? i : maker;
        }
        bool is_input = value->producer == AMP_NONE && value->constant == NULL;
        bool is_made = maker != SIZE_MAX && !steps->items[maker].is_constant;
        assert_int_equal(steps->from[v], from);
        assert_int_equal(steps->birth[v], is_input ? 0 : is_made ? maker + 1 : SIZE_MAX);
        assert_int_equal(steps->death[v], value->is_output ? SIZE_MAX : death);
        for (size_t i = 0; i < steps->count; i++) {
            bool is_read = false;
            for (size_t k = 0; k < steps->items[i].reads.count; k++)
                is_read |= steps->items[i].reads.items[k] == v;
            assert_int_equal(is_read, step_reads(steps, i, v));
        }
    }
    for (size_t i = 0; i < steps->count; i++) {
        const struct amp_noise_step *step = &steps->items[i];
        size_t n = 0;
        assert_int_equal(steps->of_node[step->node], i);
        for (size_t k = 0; k < step->reads.count; k++)
            assert_int_equal(amp_value_at(model, step->reads.items[k])->graph, 0);
        for (size_t k = 0; k < i && !step->is_constant; k++) {
            const struct amp_node *node = amp_node_at(model, steps->items[k].node);
            bool is_in_chain = false;
            for (uint32_t o = 0; o < node->n_outputs && steps->items[k].is_constant; o++)
                is_in_chain |= step_depends(steps, i, node->outputs[o]);
            if (!is_in_chain)
                continue;
            assert_true(n < step->chain.count);
            assert_int_equal(step->chain.items[n++], k);
        }
        assert_int_equal(step->chain.count, n);
    }
}

/* Constants that nodes make in turn, of which bodies read some and outputs none; values that are
   read late or never. */
static void steps_read_what_nodes_and_bodies_do(void **state)
{
    struct amp_session *session;
    size_t n_constant = 0, n_chained = 0;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), truth = input("truth", AMP_BOOL, SCALAR);
    uint32_t w = FLOATS("w", 1, 2, 3, 4), y = NODE("Exp", "y", x);
    uint32_t first = NODE("Neg", "first", w), second = NODE("Abs", "second", first);
    uint32_t third = NODE("Add", "third", second, first),
             owner = net_node(0, "If", "if", 1, IDS(truth));
    uint32_t body = amp_graph_add(net.model, "body", owner);
    uint32_t inner = net_out(net_node(body, "Add", "inner", 1, IDS(y, second)), 0);
    amp_ids_push(net.model, &net.model->graphs[body].outputs, inner);
    struct amp_attr attr = {"then_branch", .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &body, sizeof body);
    amp_node_set_attr(net.model, owner, attr);
    add_branch(owner, "else_branch", third);
    uint32_t gone = net_node(body, "Neg", "gone", 1, IDS(x));
    uint32_t parts = net_node(0, "Split", "part", 2, IDS(w));
    set_int(net_out(parts, 0), "num_outputs", 2);
    output(NODE("Exp", "early",
                NODE("Max", "early_sum", net_out(parts, 0), NODE("ReduceSum", "r", x))));
    output(NODE("Mul", "product", x, first));
    output(NODE("Sub", "difference", net_out(owner, 0), NODE("Sin", "sine", w)));
    output(NODE("Add", "sum", NODE("Add", "both", third, x), x));
    output(NODE("Cos", "cosine", x));
    output(NODE("Max", "late", net_out(parts, 1), NODE("ReduceSum", "late_sum", x)));
    infer_all();
    amp_node_at(net.model, gone)->is_removed = true;
    amp_graph_drop_removed(net.model);
    assert_int_equal(amp_session_open(net.model, AMP_ROUNDED, &session, &net.err), AMP_OK);
    struct amp_arena *arena = amp_arena_create();
    const struct amp_noise_steps steps = amp_noise_steps_create(session, arena);
    for (size_t i = 0; i < steps.count; i++) {
        n_constant += steps.items[i].is_constant;
        n_chained += steps.items[i].chain.count > 1;
    }
    assert_true(steps.count == 17 && n_constant == 5 && n_chained == 2);
    steps_are_right(&steps);
    amp_session_destroy(session);
    amp_arena_destroy(arena);
}

/* What models are lowered to, of which constants were DATA before, if there are any. */
static enum amp_dtype lowered_dtype = AMP_BFLOAT16;

static uint32_t lowered_constant(const char *name, const float *data)
{
    static const uint16_t bits[4] = {0x3f80, 0x4000, 0x4040, 0x4080};
    uint32_t value = constant(name, lowered_dtype, DIMS(2, 2), bits);
    struct amp_tensor *low = net_tensor(lowered_dtype, DIMS(2, 2), bits);
    low->source = data != NULL ? net_tensor(AMP_FLOAT, DIMS(2, 2), data) : NULL;
    amp_value_at(net.model, value)->constant = amp_value_at(net.model, value)->initial = low;
    return value;
}

static uint32_t cast_node(const char *name, uint32_t x, enum amp_dtype dtype)
{
    uint32_t value = NODE("Cast", name, x);
    set_int(value, "to", dtype);
    return value;
}

/* A model as it was, or with what is computed in the lower dtype: h and what comes of it was so
 * before. */
static struct amp_model *start_lowered(bool is_lowered)
{
    static const float data[4] = {1, 2, 3, 4};
    enum amp_dtype dtype = is_lowered ? lowered_dtype : AMP_FLOAT;
    net_start(22);
    uint32_t x = input("x", dtype, DIMS(2, 2)), h = input("h", lowered_dtype, DIMS(2, 2));
    uint32_t f = input("f", AMP_FLOAT, DIMS(2, 2)), list = input("list", dtype, DIMS(2, 2));
    input("number", AMP_INT64, SCALAR);
    amp_value_at(net.model, list)->kind = AMP_KIND_SEQUENCE;
    uint32_t w =
        is_lowered ? lowered_constant("w", data) : constant("w", AMP_FLOAT, DIMS(2, 2), data);
    uint32_t exact = lowered_constant("exact", NULL);
    NUMBERS("whole", 1, 2);
    if (is_lowered)
        lowered_constant("unread", data);
    uint32_t a = NODE("Mul", "a", x, NODE("Neg", "wn", w));
    uint32_t owner = net_node(0, "If", "if", 1, IDS(input("truth", AMP_BOOL, SCALAR)));
    add_branch(owner, "then_branch", a);
    add_branch(owner, "else_branch", a);
    output(NODE("Transpose", "moved", a));
    output(NODE("Sin", "sine", f));
    output(cast_node("same", h, lowered_dtype));
    output(NODE("CastLike", "alike", f, h));
    output(NODE("CastLike", "as_before", h, h));
    output(NODE("Mul", "hm", h, exact));
    uint32_t b = NODE("Exp", "b", is_lowered ? cast_node("c", f, lowered_dtype) : f);
    output(is_lowered ? cast_node("back", b, AMP_FLOAT) : b);
    output(is_lowered ? cast_node("again", cast_node("wide", h, AMP_FLOAT), lowered_dtype) : h);
    output(net_out(owner, 0));
    uint32_t made =
        is_lowered ? lowered_constant("low", NULL) : constant("low", AMP_FLOAT, DIMS(2, 2), data);
    output(NODE("Mul", "a2", a, NODE("Neg", "made", made)));
    infer_all();
    return net.model;
}

/* Inputs first, then in the order of the steps that give or read what is rounded. */
static void check_sources(void)
{
    static const struct {
        const char *value, *name, *step; /* STEP: the value that the first step gives; NULL: none */
        enum amp_noise_kind kind;
        bool is_constant, is_open;
    } wanted[] = {{"x", "x", NULL, AMP_NOISE_VALUE, false, false},
                  {"w", "w", "a", AMP_NOISE_WEIGHT, true, true},
                  {"wn", "wn", "a", AMP_NOISE_VALUE, true, false},
                  {"a", "a", "a", AMP_NOISE_VALUE, false, false},
                  {"if", "if", "if", AMP_NOISE_BODIES, false, false},
                  {"c", "f", "c", AMP_NOISE_CAST, false, false},
                  {"b", "b", "b", AMP_NOISE_VALUE, false, false},
                  {"again", "wide", "again", AMP_NOISE_CAST, false, false},
                  {"made", "made", "a2", AMP_NOISE_VALUE, true, true},
                  {"a2", "a2", "a2", AMP_NOISE_VALUE, false, false}};
    struct amp_session *session;
    const struct amp_model *reference = start_lowered(false), *converted = start_lowered(true);
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *twin = amp_twin_create(converted, arena);
    uint32_t more = amp_graph_add_value(twin, 0, "more");
    amp_value_at(twin, more)->kind = AMP_KIND_TENSOR;
    amp_value_at(twin, more)->dtype = lowered_dtype;
    amp_ids_push(twin, &twin->graphs[0].inputs, more);
    assert_int_equal(amp_session_open(twin, AMP_ROUNDED, &session, &net.err), AMP_OK);
    const struct amp_noise_steps steps = amp_noise_steps_create(session, arena);
    bool *has_bodies = amp_arena_array(arena, converted->n_nodes, sizeof *has_bodies);
    has_bodies[amp_value_at(converted, value_called(converted, "if"))->producer] = true;
    struct amp_noise_sources found =
        amp_noise_sources_find(reference, converted, &steps, has_bodies, arena);
    bool keeps[AMP_COUNT(wanted)];
    assert_int_equal(found.count, AMP_COUNT(wanted));
    for (size_t i = 0; i < found.count; i++) {
        const struct amp_noise_source *source = &found.items[i];
        const struct amp_noise_place *place = &found.places[i];
        uint32_t value = value_called(converted, wanted[i].value);
        assert_string_equal(amp_value_at(converted, source->value_id)->name, wanted[i].value);
        assert_string_equal(source->name, wanted[i].name);
        assert_int_equal(source->kind, wanted[i].kind);
        assert_int_equal(source->dtype, lowered_dtype);
        assert_int_equal(found.of_value[value], i);
        assert_int_equal(place->is_input, wanted[i].step == NULL);
        assert_int_equal(place->is_constant, wanted[i].is_constant);
        assert_int_equal(place->is_open, wanted[i].is_open);
        keeps[i] = i % 3 != 1;
        if (wanted[i].step == NULL) {
            assert_true(source->node_id == AMP_NONE && source->node[0] == '\0');
            continue;
        }
        uint32_t first = amp_value_at(converted, value_called(converted, wanted[i].step))->producer;
        uint32_t node = source->kind == AMP_NOISE_WEIGHT
                            ? amp_value_at(converted, value_called(converted, "a"))->producer
                            : amp_value_at(converted, value)->producer;
        assert_int_equal(place->from, steps.of_node[first]);
        assert_int_equal(source->node_id, node);
        assert_string_equal(source->op_type, amp_node_at(converted, node)->op_type);
    }
    amp_noise_sources_keep(&found, keeps);
    for (size_t i = 0, n = 0; i < AMP_COUNT(wanted); i++) {
        uint32_t value = value_called(converted, wanted[i].value);
        assert_int_equal(found.of_value[value], keeps[i] ? (uint32_t)n : AMP_NONE);
        if (keeps[i])
            assert_int_equal(found.items[n++].value_id, value);
        assert_true(i + 1 < AMP_COUNT(wanted) || n == found.count);
    }
    amp_session_destroy(session);
    amp_arena_destroy(arena);
}

/* What is made of a source is not open, also by way of what is none, and whatever else is read;
   what nothing reads is no source. Bodies count for the first result that is a tensor. The name of
   a node is said as far as there is room. */
static void sources_are_made_of_sources(void **state)
{
    static const float data[4] = {1, 2, 3, 4};
    static const struct {
        const char *value;
        bool is_open;
    } wanted[] = {{"w", true}, {"mw", false}, {"wx", false}, {"made", true}, {"next", false}};
    const struct amp_model *models[2];
    char long_name[301], text[512];
    (void)state;
    memset(long_name, 'n', 300);
    long_name[300] = '\0';
    lowered_dtype = AMP_BFLOAT16;
    for (int is_lowered = 0; is_lowered < 2; is_lowered++) {
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2));
        uint32_t w =
            is_lowered ? lowered_constant("w", data) : constant("w", AMP_FLOAT, DIMS(2, 2), data);
        uint32_t low = is_lowered ? lowered_constant("low", NULL)
                                  : constant("low", AMP_FLOAT, DIMS(2, 2), data);
        uint32_t mw = NODE("Neg", "mw", NODE("Transpose", "moved", w));
        uint32_t wx = NODE("Mul", "wx", mw, low), made = NODE("Neg", "made", low);
        amp_node_at(net.model, node_of(mw))->name = amp_arena_strdup(net.arena, long_name);
        uint32_t next = NODE("Abs", "next", made);
        uint32_t split = net_node(0, "Split", "part", 3, IDS(x));
        set_int(net_out(split, 1), "num_outputs", 3);
        amp_node_at(net.model, split)->outputs[0] = AMP_NONE;
        const uint32_t constants[] = {w, mw, wx, made, next};
        uint32_t low_x = x;
        if (is_lowered)
            low_x = cast_node("low_x", x, lowered_dtype);
        for (size_t i = 0; i < AMP_COUNT(constants); i++)
            output(NODE("Max", "max", low_x, constants[i]));
        output(NODE("Exp", "lone", low));
        output(net_out(split, 1));
        output(net_out(split, 2));
        infer_all();
        models[is_lowered] = net.model;
    }
    struct amp_session *session;
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *twin = amp_twin_create(models[1], arena);
    uint32_t second = value_called(twin, "part_1"), third = value_called(twin, "part_2");
    uint32_t split = amp_value_at(twin, third)->producer;
    assert_int_equal(amp_session_open(twin, AMP_ROUNDED, &session, &net.err), AMP_OK);
    struct amp_noise_steps steps = amp_noise_steps_create(session, arena);
    struct amp_model *model = amp_model_copy(steps.model, arena);
    amp_value_at(model, second)->kind = AMP_KIND_SEQUENCE;
    steps.model = model;
    bool *has_bodies = amp_arena_array(arena, model->n_nodes, sizeof *has_bodies);
    has_bodies[split] = true;
    struct amp_noise_sources found =
        amp_noise_sources_find(models[0], models[1], &steps, has_bodies, arena);
    for (size_t i = 0; i < AMP_COUNT(wanted); i++) {
        uint32_t at = found.of_value[value_called(models[1], wanted[i].value)];
        assert_in_range(at, 0, found.count - 1);
        if (found.places[at].is_open != wanted[i].is_open)
            fail_msg("'%s'", wanted[i].value);
    }
    assert_int_equal(found.of_value[value_called(models[1], "lone")], AMP_NONE);
    assert_int_equal(found.of_value[second], AMP_NONE);
    assert_int_equal(found.items[found.of_value[third]].kind, AMP_NOISE_BODIES);
    uint32_t mw = found.of_value[value_called(models[1], "mw")];
    assert_string_equal(found.items[mw].node,
                        amp_node_text(model, found.items[mw].node_id, text, sizeof text));
    assert_true(strlen(text) > 300);
    amp_session_destroy(session);
    amp_arena_destroy(arena);
}

static void sources_are_what_a_conversion_rounds(void **state)
{
    (void)state;
    lowered_dtype = AMP_FLOAT16;
    check_sources();
    lowered_dtype = AMP_BFLOAT16;
    check_sources();
}

static uint32_t node_of_value(const struct amp_model *model, const char *name)
{
    return amp_value_at(model, value_called(model, name))->producer;
}

/* The twin has the same ids, all in float32: constants as they were where that is known, casts to
   float32. What is no lower float stays. */
static void check_twin(void)
{
    static const struct {
        const char *value;
        bool rounds;
    } results[] = {{"a", true},         {"wn", true},    {"moved", false}, {"hm", true},
                   {"c", true},         {"b", true},     {"back", false},  {"wide", false},
                   {"again", true},     {"sine", false}, {"same", false},  {"alike", true},
                   {"as_before", false}};
    const struct amp_model *converted = start_lowered(true);
    struct amp_arena *arena = amp_arena_create();
    const struct amp_model *twin = amp_twin_create(converted, arena);
    assert_true(twin->n_values == converted->n_values && twin->n_nodes == converted->n_nodes);
    for (uint32_t v = 0; v < twin->n_values; v++) {
        const struct amp_value *low = amp_value_at(converted, v), *wide = amp_value_at(twin, v);
        assert_string_equal(wide->name, low->name);
        assert_int_equal(wide->dtype, low->dtype == lowered_dtype ? AMP_FLOAT : low->dtype);
        assert_ptr_equal(wide->constant, wide->initial);
        assert_int_equal(wide->constant == NULL, low->constant == NULL);
        if (low->constant == NULL || low->dtype == AMP_INT64) {
            assert_ptr_equal(wide->constant, low->constant);
            continue;
        }
        assert_int_equal(wide->constant->dtype, AMP_FLOAT);
        if (low->constant->source != NULL)
            assert_ptr_equal(wide->constant->data, low->constant->source->data);
        else
            assert_ptr_equal(wide->constant->source, low->constant);
        assert_int_equal(low->constant->dtype, lowered_dtype);
    }
    for (uint32_t id = 0; id < twin->n_nodes; id++)
        if (strcmp(amp_node_at(twin, id)->op_type, "Cast") == 0)
            assert_int_equal(amp_node_int(amp_node_at(twin, id), "to", 0), AMP_FLOAT);
    assert_int_equal(amp_node_int(amp_node_at(converted, node_of_value(converted, "c")), "to", 0),
                     lowered_dtype);
    for (size_t i = 0; i < AMP_COUNT(results); i++) {
        uint32_t value = value_called(converted, results[i].value);
        if (amp_twin_rounds(converted, amp_value_at(converted, value)->producer, value) !=
            results[i].rounds)
            fail_msg("'%s'", results[i].value);
    }
    uint32_t odd = NODE("Mystery", "odd", value_called(converted, "x"));
    amp_value_at(net.model, odd)->kind = AMP_KIND_TENSOR;
    amp_value_at(net.model, odd)->dtype = lowered_dtype;
    assert_false(amp_twin_rounds(converted, node_of(odd), odd));
    uint32_t list = value_called(converted, "a");
    amp_value_at(net.model, list)->kind = AMP_KIND_SEQUENCE;
    assert_false(amp_twin_rounds(converted, node_of(list), list));
    amp_arena_destroy(arena);
}

static void twins_are_in_float32(void **state)
{
    (void)state;
    lowered_dtype = AMP_FLOAT16;
    check_twin();
    lowered_dtype = AMP_BFLOAT16;
    check_twin();
}

/* What is opened is set from outside: no constant and no node makes it, and a node that makes
   nothing else is gone. */
static void opened_values_are_values_alone(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), w = FLOATS("w", 1, 2, 3, 4);
    uint32_t split = net_node(0, "Split", "first", 3, IDS(x));
    amp_node_at(net.model, split)->outputs[2] = AMP_NONE;
    uint32_t first = net_out(split, 0), second = net_out(split, 1);
    uint32_t sum = NODE("Add", "sum", first, w);
    output(NODE("Mul", "y", sum, second));
    struct amp_arena *arena = amp_arena_create();
    const uint32_t some[] = {w, first, sum}, both[] = {second, first};
    const struct amp_model *open = amp_twin_open(net.model, some, 3, arena);
    for (int i = 0; i < 3; i++) {
        const struct amp_value *value = amp_value_at(open, some[i]);
        assert_true(value->constant == NULL && value->initial == NULL && !value->is_initializer);
        assert_int_equal(value->producer, AMP_NONE);
    }
    assert_int_equal(open->graphs[0].nodes.count, 2);
    assert_int_equal(amp_node_at(open, split)->outputs[0], AMP_NONE);
    assert_int_equal(amp_node_at(open, split)->outputs[1], second);
    assert_int_equal(amp_value_at(open, second)->producer, split);
    open = amp_twin_open(net.model, both, 2, arena);
    assert_int_equal(open->graphs[0].nodes.count, 2);
    assert_non_null(amp_value_at(open, w)->constant);
    assert_int_equal(amp_value_at(open, sum)->producer, amp_value_at(net.model, sum)->producer);
    assert_int_equal(net.model->graphs[0].nodes.count, 3);
    assert_int_equal(amp_value_at(net.model, first)->producer, split);
    amp_arena_destroy(arena);
}

/* A body of OWNER that computes in the lower dtype, with a constant that was float32, or not at
 * all. */
static void add_body(uint32_t owner, const char *name, uint32_t x, bool rounds)
{
    static const float data[4] = {1, 2, 3, 4};
    uint32_t graph = amp_graph_add(net.model, name, owner), made = x;
    if (rounds) {
        uint32_t like = lowered_constant("like", data);
        uint32_t weight = amp_graph_add_initializer(net.model, graph, "weight",
                                                    amp_value_at(net.model, like)->constant);
        made = net_out(net_node(graph, "Mul", "inner", 1, IDS(x, weight)), 0);
    } else {
        uint32_t like = lowered_constant("kept", NULL), whole = NUMBERS("number", 1);
        amp_graph_add_initializer(net.model, graph, "inner_kept",
                                  amp_value_at(net.model, like)->constant);
        amp_graph_add_initializer(net.model, graph, "inner_number",
                                  amp_value_at(net.model, whole)->constant);
        made = net_out(net_node(graph, "Identity", "inner", 1, IDS(x)), 0);
    }
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, made);
    amp_node_set_attr(
        net.model, owner,
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_GRAPH,
                          .count = 1,
                          .graphs = amp_arena_memdup(net.arena, &graph, sizeof graph)});
}

/* In bodies, what is computed is cast to the lower dtype and back, and constants are what the
   conversion made of them; the main graph stays exact. */
static void check_bodies(void)
{
    static const uint16_t bits[4] = {0x3f80, 0x4000, 0x4040, 0x4080};
    struct amp_twin_bodies bodies;
    for (int rounds = 0; rounds < 2; rounds++) {
        net_start(22);
        uint32_t x = input("x", lowered_dtype, DIMS(2, 2)), a = NODE("Neg", "a", x);
        uint32_t truth = input("truth", AMP_BOOL, SCALAR), owners[2];
        for (int i = 0; i < 2; i++) {
            owners[i] = net_node(0, "If", i == 0 ? "if" : "other", 1, IDS(truth));
            add_body(owners[i], "then_branch", a, false);
            add_body(owners[i], "else_branch", a, rounds == 1 && i == 0);
            output(net_out(owners[i], 0));
        }
        infer_all();
        struct amp_arena *arena = amp_arena_create();
        struct amp_model *twin = amp_twin_create(net.model, arena);
        size_t n_nodes = twin->n_nodes;
        assert_int_equal(amp_twin_round_bodies(twin, net.model, arena, &bodies, &net.err), AMP_OK);
        assert_int_equal(bodies.model != NULL, rounds);
        for (uint32_t id = 0; id < n_nodes; id++)
            assert_int_equal(bodies.found[id], rounds == 1 && id == owners[0]);
        assert_int_equal(twin->n_nodes, n_nodes);
        if (rounds == 1) {
            const struct amp_node *owner = amp_node_at(bodies.model, owners[0]);
            uint32_t graph = amp_node_attr(owner, "else_branch")->graphs[0];
            const struct amp_ids *nodes = &bodies.model->graphs[graph].nodes;
            uint32_t at = bodies.model->graphs[graph].outputs.items[0];
            static const char *const types[] = {"Mul", "Cast", "Cast"};
            const enum amp_dtype dtypes[] = {AMP_FLOAT, lowered_dtype, AMP_FLOAT};
            assert_int_equal(bodies.model->n_nodes, n_nodes + 2);
            assert_int_equal(nodes->count, 3);
            for (size_t i = 3; i-- > 0;) {
                const struct amp_node *node = amp_node_at(bodies.model, nodes->items[i]);
                assert_string_equal(node->op_type, types[i]);
                assert_int_equal(node->outputs[0], at);
                assert_int_equal(amp_value_at(bodies.model, at)->dtype, dtypes[i]);
                assert_int_equal(amp_value_at(bodies.model, at)->rank, 2);
                if (i > 0) {
                    assert_int_equal(amp_node_int(node, "to", 0), dtypes[i]);
                    assert_non_null(node->schema);
                    assert_int_equal(node->since_version, 21);
                }
                at = node->inputs[0];
            }
            const struct amp_tensor *made =
                amp_value_at(bodies.model, value_called(bodies.model, "weight"))->constant;
            assert_int_equal(made->dtype, AMP_FLOAT);
            assert_int_equal(made->source->dtype, lowered_dtype);
            assert_memory_equal(made->source->data, bits, sizeof bits);
        }
        amp_arena_destroy(arena);
    }
}

/* Also where nothing is computed of it. */
static void constants_of_bodies_round_alone(void **state)
{
    static const float data[4] = {1, 2, 3, 4};
    struct amp_twin_bodies bodies;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_BFLOAT16, DIMS(2, 2));
    uint32_t owner = net_node(0, "If", "if", 1, IDS(input("truth", AMP_BOOL, SCALAR)));
    add_body(owner, "then_branch", x, false);
    uint32_t like = lowered_constant("like", data);
    uint32_t graph = amp_graph_add(net.model, "else_branch", owner);
    uint32_t weight = amp_graph_add_initializer(net.model, graph, "weight",
                                                amp_value_at(net.model, like)->constant);
    uint32_t made = net_out(net_node(graph, "Identity", "copy", 1, IDS(weight)), 0);
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, made);
    amp_node_set_attr(
        net.model, owner,
        (struct amp_attr){.name = "else_branch",
                          .type = AMP_ATTR_GRAPH,
                          .count = 1,
                          .graphs = amp_arena_memdup(net.arena, &graph, sizeof graph)});
    output(net_out(owner, 0));
    infer_all();
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *twin = amp_twin_create(net.model, arena);
    assert_int_equal(amp_twin_round_bodies(twin, net.model, arena, &bodies, &net.err), AMP_OK);
    assert_true(bodies.model != NULL && bodies.found[owner]);
    amp_arena_destroy(arena);
}

/* Nothing rounds in bodies that has the dtype it had, is known, is gone, or is in the twin alone.
 */
static void what_bodies_do_not_round_stays(void **state)
{
    static const double doubles[4] = {0.1, 0.2, 0.3, 0.4};
    struct amp_twin_bodies bodies;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_BFLOAT16, DIMS(2, 2));
    uint32_t owner = net_node(0, "If", "if", 1, IDS(input("truth", AMP_BOOL, SCALAR)));
    add_body(owner, "then_branch", x, false);
    add_body(owner, "else_branch", x, false);
    uint32_t body = (uint32_t)net.model->n_graphs - 1;
    struct amp_tensor deferred = {.dtype = AMP_FLOAT, .shape = DIMS(2, 2)};
    deferred.source = net_tensor(AMP_DOUBLE, DIMS(2, 2), doubles);
    amp_graph_add_initializer(net.model, body, "deferred", &deferred);
    uint32_t split = net_node(body, "Split", "part", 2, IDS(x));
    amp_node_at(net.model, split)->outputs[1] = AMP_NONE;
    uint32_t known = net_out(net_node(body, "Neg", "known", 1, IDS(x)), 0);
    uint32_t gone = net_node(body, "Neg", "gone", 1, IDS(x));
    uint32_t other = net_node(body, "Neg", "other", 1, IDS(x));
    output(net_out(owner, 0));
    infer_all();
    uint32_t like = lowered_constant("like", NULL);
    amp_value_at(net.model, known)->constant = amp_value_at(net.model, like)->constant;
    amp_node_at(net.model, gone)->is_removed = true;
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *twin = amp_twin_create(net.model, arena);
    amp_node_set_output(twin, other, 0, amp_graph_add_value(twin, body, "another"));
    uint32_t more = amp_graph_add_node(twin, body, "Neg", 1, 1);
    amp_node_at(twin, more)->inputs[0] = x;
    amp_node_set_output(twin, more, 0, amp_graph_add_value(twin, body, "more"));
    assert_int_equal(amp_twin_round_bodies(twin, net.model, arena, &bodies, &net.err), AMP_OK);
    for (uint32_t id = 0; id < twin->n_nodes; id++)
        assert_false(bodies.found[id]);
    assert_null(bodies.model);
    amp_arena_destroy(arena);
}

/* Tensors that nodes name are in float32 as well, one or many; what is a list or of no lower dtype
   stays, and so does a dtype that is none. */
static void attributes_of_twins_are_in_float32(void **state)
{
    static const uint16_t bits[2] = {0x3f80, 0x4000};
    static const float numbers[2] = {1, 2};
    (void)state;
    net_start(22);
    struct amp_tensor *low = net_tensor(AMP_BFLOAT16, DIMS(2), bits),
                      *wide = net_tensor(AMP_FLOAT, DIMS(2), numbers);
    struct amp_tensor *tensors[2] = {low, wide};
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), counted = cast_node("counted", x, AMP_INT64);
    for (int i = 0; i < 2; i++) {
        uint32_t made = NODE("Mystery", "made", x);
        amp_node_set_attr(
            net.model, node_of(made),
            (struct amp_attr){.name = "value",
                              .type = i == 0 ? AMP_ATTR_TENSOR : AMP_ATTR_TENSORS,
                              .count = (size_t)i + 1,
                              .tensors = amp_arena_memdup(net.arena, tensors, sizeof tensors)});
    }
    struct amp_tensor *list = net_tensor(AMP_BFLOAT16, DIMS(2), bits);
    list->form = AMP_FORM_SEQUENCE;
    amp_value_at(net.model, counted)->constant = list;
    struct amp_arena *arena = amp_arena_create();
    const struct amp_model *twin = amp_twin_create(net.model, arena);
    assert_int_equal(amp_node_int(amp_node_at(twin, node_of(counted)), "to", 0), AMP_INT64);
    assert_ptr_equal(amp_value_at(twin, counted)->constant, list);
    for (uint32_t id = 1; id < 3; id++) {
        const struct amp_attr *attr = amp_node_attr(amp_node_at(twin, id), "value");
        assert_int_equal(attr->tensors[0]->dtype, AMP_FLOAT);
        assert_ptr_equal(attr->tensors[0]->source, low);
        assert_true(id == 1 || attr->tensors[1] == wide);
        assert_ptr_equal(amp_node_attr(amp_node_at(net.model, id), "value")->tensors[0], low);
    }
    amp_arena_destroy(arena);
}

static void bodies_round_by_casts(void **state)
{
    (void)state;
    lowered_dtype = AMP_FLOAT16;
    check_bodies();
    lowered_dtype = AMP_BFLOAT16;
    check_bodies();
}

/* ---- which values are in the same place ---- */

enum { LIST_MOST = 12, LONG_LIST = 5000 };

/* The length of a longest common subsequence, by its definition. */
static size_t longest(const struct amp_aligned *a, size_t n, const struct amp_aligned *b, size_t m)
{
    size_t lengths[LIST_MOST + 1][LIST_MOST + 1] = {{0}};
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            bool is_same = a[i - 1].key == b[j - 1].key && a[i - 1].is_paired == b[j - 1].is_paired;
            size_t without =
                lengths[i - 1][j] > lengths[i][j - 1] ? lengths[i - 1][j] : lengths[i][j - 1];
            lengths[i][j] = is_same ? lengths[i - 1][j - 1] + 1 : without;
        }
    return lengths[n][m];
}

/* Partners are each other's, alike and in order; how many there are. */
static size_t count_partners(const struct amp_aligned *a, size_t n, const struct amp_aligned *b,
                             size_t m)
{
    size_t count = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        if (a[i].partner == AMP_NONE)
            continue;
        while (next < m && b[next].value != a[i].partner)
            assert_int_equal(b[next++].partner, AMP_NONE);
        assert_true(next < m && b[next].partner == a[i].value);
        assert_true(b[next].key == a[i].key && b[next].is_paired == a[i].is_paired);
        count++;
        next++;
    }
    while (next < m)
        assert_int_equal(b[next++].partner, AMP_NONE);
    return count;
}

static size_t make_list(struct amp_aligned *list, uint32_t first, uint64_t *state)
{
    size_t n = below(state, LIST_MOST + 1);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct amp_aligned){.value = first + (uint32_t)i,
                                       .key = (uint32_t)below(state, 3),
                                       .is_paired = one_in(state, 4),
                                       .partner = 77};
    return n;
}

static void short_lists_are_aligned_best(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct amp_aligned a[LIST_MOST], b[LIST_MOST];
        size_t n = make_list(a, 100, &seed), m = make_list(b, 200, &seed);
        amp_alignment_find(a, n, b, m);
        assert_int_equal(count_partners(a, n, b, m), longest(a, n, b, m));
    }
}

/* Lists of thousands that differ in few places, one of them with a stretch of its own: all others
   are found, whatever stretches they are taken in. */
static void long_lists_are_aligned(void **state)
{
    struct amp_aligned *a = amp_xcalloc(LONG_LIST, sizeof *a);
    struct amp_aligned *b = amp_xcalloc(LONG_LIST, sizeof *b);
    (void)state;
    for (size_t stretch = 0; stretch <= 900; stretch += 300) {
        size_t m = 0, n_own = 0;
        for (uint32_t i = 0; i < LONG_LIST; i++)
            a[i] = (struct amp_aligned){.value = i, .key = i};
        for (uint32_t i = 0; i < LONG_LIST; i++)
            if (i < 1500 || i >= 1500 + stretch) {
                bool is_own = i % 1000 == 999;
                b[m++] = (struct amp_aligned){.value = 10000 + i, .key = is_own ? 20000 + i : i};
                n_own += is_own;
            }
        amp_alignment_find(a, LONG_LIST, b, m);
        assert_int_equal(count_partners(a, LONG_LIST, b, m), m - n_own);
        amp_alignment_find(b, m, a, LONG_LIST);
        assert_int_equal(count_partners(b, m, a, LONG_LIST), m - n_own);
    }
    /* One that is taken at once beside one that is not. */
    for (uint32_t i = 0; i < 3000; i++) {
        bool is_own = i >= 500 && i < 1500;
        b[i] = (struct amp_aligned){.value = 10000 + i,
                                    .key = is_own    ? 20000 + i
                                           : i < 500 ? i
                                                     : i - 1000};
    }
    amp_alignment_find(a, 2000, b, 3000);
    assert_int_equal(count_partners(a, 2000, b, 3000), 2000);
    amp_alignment_find(b, 3000, a, 2000);
    assert_int_equal(count_partners(b, 3000, a, 2000), 2000);
    free(a);
    free(b);
}

/* ---- which values are the same ---- */

/* The reference and the converted model; each begins with the input x of two by four floats. */
static struct amp_model *pair_of[2];
static uint32_t pair_x;

static void start_side(int side)
{
    net_start(22);
    pair_of[side] = net.model;
    pair_x = input("x", AMP_FLOAT, DIMS(2, 4));
}

struct wanted_pair {
    const char *converted, *reference; /* reference NULL: it is compared with none */
    enum amp_pairing_kind kind;
    const char *source; /* NULL: none */
};

/* The pairs of both models, whose nodes are complete, are the N WANTED ones; and as many values of
   each have none. */
static void pairs_are(const struct wanted_pair *wanted, size_t n, size_t n_reference,
                      size_t n_converted)
{
    struct amp_pairs pairs = amp_pairs_create(pair_of[0], pair_of[1]);
    assert_int_equal(pairs.count, pair_of[1]->n_values);
    for (size_t i = 0; i < n; i++) {
        uint32_t c = value_called(pair_of[1], wanted[i].converted);
        const char *of =
            pairs.of[c] == AMP_NONE ? "-" : amp_value_at(pair_of[0], pairs.of[c])->name;
        const char *source =
            pairs.source[c] == AMP_NONE ? "-" : amp_value_at(pair_of[0], pairs.source[c])->name;
        const char *reference = wanted[i].reference != NULL ? wanted[i].reference : "-";
        if (strcmp(of, reference) != 0 ||
            strcmp(source, wanted[i].source != NULL ? wanted[i].source : "-") != 0)
            fail_msg("%s: of %s, source %s", wanted[i].converted, of, source);
        if (wanted[i].reference != NULL && pairs.kind[c] != wanted[i].kind)
            fail_msg("%s: kind %d", wanted[i].converted, (int)pairs.kind[c]);
    }
    assert_int_equal(pairs.n_unpaired[0], n_reference);
    assert_int_equal(pairs.n_unpaired[1], n_converted);
    amp_pairs_destroy(&pairs);
    assert_null(pairs.of);
}

#define PAIRS_ARE(n_reference, n_converted, ...)                                              \
    pairs_are((const struct wanted_pair[]){__VA_ARGS__},                                      \
              sizeof((const struct wanted_pair[]){__VA_ARGS__}) / sizeof(struct wanted_pair), \
              n_reference, n_converted)

/* A name says it, where the types can be compared at all; inputs and what is the same in all runs
   are compared with none. */
static void values_are_paired_by_name(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        start_side(side);
        uint32_t x = pair_x, w = FLOATS("w", 1, 2, 3, 4);
        enum amp_dtype low = side == 0 ? AMP_FLOAT : AMP_BFLOAT16;
        uint32_t to_low = NODE("Cast", "to_low", x);
        cast_to(to_low, low);
        output(NODE("Neg", "floats", to_low));
        uint32_t whole = NODE("Cast", "whole", x);
        cast_to(whole, side == 0 ? AMP_INT64 : AMP_INT32);
        output(NODE("Neg", "integers", whole));
        output(NODE("Abs", "same", NODE("Neg", "fixed", w)));
        output(NODE("Exp", side == 0 ? "lone" : "alone", NODE("Abs", "abs", x)));
        uint32_t owner = net_node(0, "If", "if", 1, IDS(input("c", AMP_BOOL, SCALAR)));
        uint32_t body = amp_graph_add(net.model, "body", owner);
        uint32_t inner = net_out(net_node(body, "Neg", "inner", 1, IDS(x)), 0);
        amp_ids_push(net.model, &net.model->graphs[body].outputs, inner);
        struct amp_attr attr = {"then_branch", .type = AMP_ATTR_GRAPH, .count = 1};
        attr.graphs = amp_arena_memdup(net.arena, &body, sizeof body);
        amp_node_set_attr(net.model, owner, attr);
        add_branch(owner, "else_branch", x);
        output(net_out(owner, 0));
        infer_all();
    }
    PAIRS_ARE(1, 1, {"x", NULL, 0, "x"}, {"floats", "floats", AMP_PAIRED_BY_NAME, "floats"},
              {"abs", "abs", AMP_PAIRED_BY_NAME, "abs"}, {"integers", NULL, 0, NULL},
              {"w", NULL, 0, NULL}, {"fixed", NULL, 0, NULL}, {"same", NULL, 0, NULL},
              {"if", "if", AMP_PAIRED_BY_NAME, "if"}, {"inner", NULL, 0, NULL},
              {"alone", "lone", AMP_PAIRED_BY_POSITION, "lone"});
    amp_value_at(pair_of[0], value_called(pair_of[0], "abs"))->kind = AMP_KIND_SEQUENCE;
    amp_value_at(pair_of[0], value_called(pair_of[0], "lone"))->is_removed = true;
    PAIRS_ARE(2, 3, {"abs", NULL, 0, NULL}, {"alone", NULL, 0, NULL});
}

/* What has the name of something else, of another class, that is an input, the same in all runs or
   no more than a name, is compared with nothing and hinders no other pair. */
static void names_of_other_things_pair_nothing(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        start_side(side);
        uint32_t x = pair_x;
        uint32_t p = side == 0 ? input("p", AMP_FLOAT, DIMS(2, 4)) : NODE("Tan", "p", x);
        uint32_t q = side == 1 ? input("q", AMP_FLOAT, DIMS(2, 4)) : NODE("Tan", "q", x);
        uint32_t k = side == 1 ? FLOATS("k", 1, 2, 3, 4) : NODE("Sin", "k", x);
        uint32_t l = side == 0 ? FLOATS("l", 1, 2, 3, 4) : NODE("Cos", "l", x);
        if (side == 0)
            net_value_in(0, "orphan", AMP_FLOAT, DIMS(2, 4));
        output(NODE("Exp", side == 0 ? "other" : "orphan", x));
        output(NODE("Add", "pq", p, q));
        output(NODE("Add", "kl", k, l));
        uint32_t whole = NODE("Cast", side == 0 ? "whole0" : "whole1", x);
        cast_to(whole, AMP_INT32);
        output(NODE("Sign", side == 0 ? "mixed" : "mixed2", whole));
        output(NODE("Ceil", side == 0 ? "mixed2" : "mixed", x));
        infer_all();
    }
    PAIRS_ARE(1, 1, {"p", NULL, 0, "p"}, {"q", NULL, 0, "q"}, {"k", NULL, 0, NULL},
              {"l", NULL, 0, NULL}, {"orphan", "other", AMP_PAIRED_BY_POSITION, "other"},
              {"pq", "pq", AMP_PAIRED_BY_NAME, "pq"}, {"kl", "kl", AMP_PAIRED_BY_NAME, "kl"},
              {"mixed", "mixed2", AMP_PAIRED_BY_POSITION, "mixed2"},
              {"mixed2", "mixed", AMP_PAIRED_BY_POSITION, "mixed"});
}

/* Casts to compare by are between floats that conversions choose from. */
static void casts_to_compare_by_are_of_floats(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16, AMP_INT32,
                                            AMP_DOUBLE};
    (void)state;
    for (size_t from = 0; from < AMP_COUNT(dtypes); from++)
        for (size_t to = 0; to < AMP_COUNT(dtypes); to++) {
            net_start(22);
            uint32_t y = NODE("Cast", "y", input("x", dtypes[from], DIMS(2)));
            cast_to(y, dtypes[to]);
            output(y);
            infer_all();
            struct amp_node *node = amp_node_at(net.model, node_of(y));
            assert_int_equal(amp_pairs_is_cast(net.model, node), from < 3 && to < 3);
        }
    net_start(22);
    uint32_t y = NODE("Neg", "y", input("x", AMP_FLOAT, DIMS(2)));
    output(y);
    infer_all();
    assert_false(amp_pairs_is_cast(net.model, amp_node_at(net.model, node_of(y))));
}

/* Values that names pair stand between others, of which those on the same side of them are the same
   ones. Random numbers are not the same in all runs, whatever is left out of what nodes give. */
static void values_between_pairs_have_their_places(void **state)
{
    (void)state;
    for (int is_last = 0; is_last < 2; is_last++) {
        for (int side = 0; side < 2; side++) {
            start_side(side);
            uint32_t x = pair_x, kept = net_node(0, "Dropout", "kept", 2, IDS(x));
            uint32_t drawn = net_node(0, "RandomNormal", "drawn", 1, &x, 0);
            int64_t two = 2;
            struct amp_attr shape = {"shape", .type = AMP_ATTR_INTS, .count = 1};
            shape.ints = amp_arena_memdup(net.arena, &two, sizeof two);
            amp_node_set_attr(net.model, drawn, shape);
            amp_node_at(net.model, kept)->outputs[1] = AMP_NONE;
            output(net_out(kept, 0));
            output(net_out(drawn, 0));
            if (side == 0 || !is_last)
                output(NODE("Exp", side == 0 ? "first" : "only", x));
            output(NODE("Neg", "between", x));
            if (side == 0 || is_last)
                output(NODE("Exp", side == 0 ? "last" : "only", x));
            infer_all();
        }
        const char *wanted = is_last ? "last" : "first";
        PAIRS_ARE(1, 0, {"only", wanted, AMP_PAIRED_BY_POSITION, wanted},
                  {"between", "between", AMP_PAIRED_BY_NAME, "between"},
                  {"kept", "kept", AMP_PAIRED_BY_NAME, "kept"},
                  {"drawn", "drawn", AMP_PAIRED_BY_NAME, "drawn"});
    }
}

/* Where a cast that loses nothing has the name, what is before it is compared; one that loses bits
   is compared itself, and so is one of a graph input. */
static void values_are_paired_through_casts(void **state)
{
    (void)state;
    start_side(0);
    output(NODE("Neg", "y", NODE("Exp", "v", pair_x)));
    output(NODE("Abs", "z", pair_x));
    output(NODE("Sin", "own", pair_x));
    output(NODE("Identity", "f", NODE("Tan", "e", pair_x)));
    infer_all();
    start_side(1);
    uint32_t h = input("h", AMP_BFLOAT16, DIMS(2, 4)), low = NODE("Cast", "low", pair_x);
    cast_to(low, AMP_BFLOAT16);
    uint32_t wide = NODE("Cast", "wide", NODE("Neg", "y_low", NODE("Exp", "v", low)));
    cast_to(wide, AMP_FLOAT);
    uint32_t y = NODE("Cast", "y", wide), z = NODE("Cast", "z", NODE("Abs", "z_wide", pair_x));
    cast_to(y, AMP_FLOAT);
    cast_to(z, AMP_FLOAT16);
    output(y);
    output(z);
    uint32_t own = NODE("Cast", "own", h);
    cast_to(own, AMP_FLOAT);
    output(own);
    uint32_t e = NODE("Tan", "e", pair_x), f = NODE("Cast", "f", e);
    uint32_t lone = NODE("Cast", "lone_cast", NODE("Cos", "lone", pair_x)); /* both have no pair */
    cast_to(f, AMP_FLOAT);
    cast_to(lone, AMP_FLOAT16);
    output(f);
    output(lone);
    infer_all();
    PAIRS_ARE(0, 1, {"e", "e", AMP_PAIRED_BY_NAME, "e"}, {"f", "f", AMP_PAIRED_BY_NAME, "f"},
              {"low", NULL, 0, "x"}, {"v", "v", AMP_PAIRED_BY_NAME, "v"},
              {"y_low", "y", AMP_PAIRED_BY_CASTS, "y"}, {"wide", NULL, 0, "y"}, {"y", NULL, 0, "y"},
              {"z", "z", AMP_PAIRED_BY_NAME, "z"}, {"z_wide", NULL, 0, NULL},
              {"own", "own", AMP_PAIRED_BY_NAME, "own"}, {"h", NULL, 0, NULL});
}

/* Whether two results in one place are taken for the same, which have names of their own. MAKE
   makes that of a side of a, which is Exp of x, b, which is Neg of a, and p, which the other side
   does not have. */
static bool are_paired(uint32_t (*make)(int side, uint32_t a, uint32_t b, uint32_t p))
{
    for (int side = 0; side < 2; side++) {
        start_side(side);
        uint32_t a = NODE("Exp", "a", pair_x), b = NODE("Neg", "b", a);
        uint32_t p = NODE(side == 0 ? "Sin" : "Cos", side == 0 ? "p0" : "p1", pair_x);
        output(b);
        uint32_t made = make(side, a, b, p);
        amp_value_at(net.model, made)->name = side == 0 ? "made0" : "made1";
        output(made);
        output(NODE("Abs", "end", a));
        infer_all();
    }
    struct amp_pairs pairs = amp_pairs_create(pair_of[0], pair_of[1]);
    uint32_t of = pairs.of[value_called(pair_of[1], "made1")];
    bool found = of == value_called(pair_of[0], "made0");
    assert_true(found || of == AMP_NONE);
    amp_pairs_destroy(&pairs);
    return found;
}

#define MADE(name, expression)                                         \
    static uint32_t name(int side, uint32_t a, uint32_t b, uint32_t p) \
    {                                                                  \
        (void)side, (void)a, (void)b, (void)p;                         \
        return expression;                                             \
    }

MADE(same_read, NODE("Abs", "m", b))
MADE(other_read, NODE("Abs", "m", side == 0 ? a : b))
MADE(other_operator, NODE(side == 0 ? "Abs" : "Ceil", "m", b))
MADE(swapped_sum, side == 0 ? NODE("Add", "m", a, b) : NODE("Add", "m", b, a))
MADE(half_swapped_sum, side == 0 ? NODE("Add", "m", a, b) : NODE("Add", "m", b, b))
MADE(swapped_difference, side == 0 ? NODE("Sub", "m", a, b) : NODE("Sub", "m", b, a))
MADE(more_reads, side == 0 ? NODE("Max", "m", a, b) : NODE("Max", "m", a, b, b))
MADE(swapped_maximum, side == 0 ? NODE("Max", "m", a, b, p) : NODE("Max", "m", b, a, p))
MADE(swapped_maximum_of_two, side == 0 ? NODE("Max", "m", a, b) : NODE("Max", "m", b, a))
MADE(unknown_read, NODE("Abs", "m", p))
MADE(unknown_moved, NODE("Identity", "m", p))
MADE(known_moved, NODE("Identity", "m", b))
MADE(unknown_sum, side == 0 ? NODE("Add", "m", a, p) : NODE("Add", "m", p, a))
MADE(missing_read, NODE("Clip", "m", b, AMP_NONE, AMP_NONE))
MADE(missing_in_one,
     NODE("Clip", "m", b, AMP_NONE,
          side == 0 ? AMP_NONE : constant("c", AMP_FLOAT, SCALAR, (const float[]){1})))
MADE(missing_in_the_other,
     NODE("Clip", "m", b, AMP_NONE,
          side == 1 ? AMP_NONE : constant("c", AMP_FLOAT, SCALAR, (const float[]){1})))
MADE(fixed_with_a_gap, NODE("Add", "m", b, NODE("Clip", "f", FLOATS("w", 1, 2, 3, 4), AMP_NONE)))
MADE(fixed_in_both, NODE("Add", "m", b, NODE("Neg", "f", FLOATS("w", 1, 2, 3, 4))))
MADE(fixed_before, NODE("Add", "m", a, side == 0 ? NODE("Neg", "f", FLOATS("w", 1, 2, 3, 4)) : p))
MADE(fixed_after, NODE("Add", "m", a, side == 1 ? NODE("Neg", "f", FLOATS("w", 1, 2, 3, 4)) : p))
MADE(weight_before, NODE("Add", "m", a, side == 0 ? FLOATS("w", 1, 2, 3, 4) : p))
MADE(fixed_in_one, NODE("Add", "m", a, side == 0 ? NODE("Neg", "f", FLOATS("w", 1, 2, 3, 4)) : b))

/* Integers of what is not known to be the same. */
static uint32_t unknown_integers(int side, uint32_t a, uint32_t b, uint32_t p)
{
    (void)a, (void)b;
    uint32_t whole = NODE("Cast", side == 0 ? "whole0" : "whole1", p);
    cast_to(whole, AMP_INT32);
    return NODE("Neg", "m", whole);
}

static uint32_t cast_read(int side, uint32_t a, uint32_t b, uint32_t p)
{
    (void)a, (void)p;
    if (side == 0)
        return NODE("Abs", "m", b);
    uint32_t down = NODE("Cast", "down", b), up;
    cast_to(down, AMP_INT32);
    up = NODE("Cast", "up", down);
    cast_to(up, AMP_FLOAT);
    return NODE("Abs", "m", up);
}

/* The constant of each side in a sum. */
static struct amp_tensor weights[2];

static uint32_t weighted(int side, uint32_t a, uint32_t b, uint32_t p)
{
    (void)a, (void)p;
    uint32_t w = amp_graph_add_initializer(
        net.model, 0, "w", amp_arena_memdup(net.arena, &weights[side], sizeof weights[side]));
    return NODE("Add", "m", b, w);
}

/* An operator that nobody knows. */
static uint32_t odd_operator(int side, uint32_t a, uint32_t b, uint32_t p)
{
    (void)side, (void)a, (void)p;
    uint32_t made = NODE("Mystery", "m", b);
    amp_value_at(net.model, made)->kind = AMP_KIND_TENSOR;
    amp_value_at(net.model, made)->dtype = AMP_FLOAT;
    return made;
}

/* The constant of each side in a shape that is computed. */
static uint32_t reshaped(int side, uint32_t a, uint32_t b, uint32_t p)
{
    (void)a, (void)p;
    uint32_t w = amp_graph_add_initializer(
        net.model, 0, "w", amp_arena_memdup(net.arena, &weights[side], sizeof weights[side]));
    uint32_t at = NODE("Cast", "at", b);
    cast_to(at, AMP_INT64);
    return NODE("Reshape", "m", w, at);
}

/* Constants whose elements are no numbers that can be read one by one are told by their shape. */
static void other_constants_are_told_by_shape(void **state)
{
    static const struct amp_str words[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}},
                                others[] = {{"e", 1}, {"f", 1}, {"g", 1}, {"h", 1}};
    static const uint8_t nibbles[] = {0x21, 0x43}, negated[] = {0xef, 0xcd};
    static const float pairs[] = {1, 2, 3, 4, 5, 6, 7, 8},
                       opposite[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    static const int8_t bytes[] = {1, 2, 3, 4}, minus[] = {-1, -2, -3, -4};
    static const struct {
        enum amp_dtype dtype;
        const void *a, *b;
        bool are_paired;
    } rows[] = {{AMP_STRING, words, others, true},      {AMP_INT4, nibbles, negated, true},
                {AMP_COMPLEX64, pairs, opposite, true}, {AMP_INT8, bytes, bytes, true},
                {AMP_INT8, bytes, minus, false},        {AMP_FLOAT, pairs, opposite, false}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        for (int is_flat = 0; is_flat < 2; is_flat++) {
            struct amp_shape shape = is_flat ? DIMS(4) : DIMS(2, 2);
            weights[0] = *net_tensor(rows[i].dtype, DIMS(4), rows[i].a);
            weights[1] = *net_tensor(rows[i].dtype, shape, rows[i].b);
            if (are_paired(reshaped) != (rows[i].are_paired && is_flat))
                fail_msg("row %zu", i);
        }
    assert_false(are_paired(odd_operator));
}

static void values_are_paired_by_position(void **state)
{
    static const struct {
        uint32_t (*make)(int side, uint32_t a, uint32_t b, uint32_t p);
        bool are_paired;
    } rows[] = {{same_read, true},
                {other_read, false},
                {other_operator, false},
                {swapped_sum, true},
                {half_swapped_sum, false},
                {swapped_difference, false},
                {more_reads, false},
                {unknown_read, true},
                {unknown_moved, false},
                {known_moved, true},
                {unknown_sum, true},
                {missing_read, true},
                {missing_in_one, false},
                {fixed_in_both, true},
                {fixed_before, false},
                {fixed_after, false},
                {weight_before, false},
                {fixed_in_one, false},
                {cast_read, true},
                {missing_in_the_other, false},
                {fixed_with_a_gap, true},
                {swapped_maximum, false},
                {swapped_maximum_of_two, true},
                {unknown_integers, false}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        if (are_paired(rows[i].make) != rows[i].are_paired)
            fail_msg("row %zu", i);
}

/* Weights may be rounded and damaged, as long as they point in one direction: their cosine is 0.9
   and more where both are finite, which zeros are not to be told from. */
static void weights_point_in_one_direction(void **state)
{
    static const float one[] = {1, 2, 3, 4}, negated[] = {-1, -2, -3, -4}, zeros[4],
                       tenth[] = {1, 2, 3, 4.01f}, damaged[] = {1, NAN, 3, 4},
                       infinite[] = {1, 2, 3, INFINITY}, turned[] = {4, 3, 2, 1},
                       near[] = {1, 0, 0, 0.48f}, far[] = {1, 0, 0, 0.49f}, unit[] = {1, 0, 0, 0};
    static const struct {
        const float *a, *b;
        bool are_paired;
    } rows[] = {{one, one, true},         {one, negated, false}, {one, zeros, true},
                {zeros, zeros, true},     {one, tenth, true},    {one, damaged, true},
                {damaged, one, true},     {one, infinite, true}, {one, turned, false},
                {unit, near, true},       {unit, far, false},    {near, unit, true},
                {damaged, negated, false}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        weights[0] = *net_tensor(AMP_FLOAT, DIMS(4), rows[i].a);
        weights[1] = *net_tensor(AMP_FLOAT, DIMS(4), rows[i].b);
        if (are_paired(weighted) != rows[i].are_paired)
            fail_msg("row %zu", i);
    }
    weights[1] = *net_tensor(AMP_FLOAT, DIMS(1, 4), one); /* another shape */
    weights[0] = *net_tensor(AMP_FLOAT, DIMS(4), one);
    assert_false(are_paired(weighted));
    /* What is converted when it is read. */
    static const uint16_t halves[] = {0x3f80, 0x4000, 0x4040, 0x4080}; /* 1 to 4 */
    struct amp_tensor low = *net_tensor(AMP_BFLOAT16, DIMS(4), halves);
    weights[1] = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(4), .source = &low};
    assert_true(are_paired(weighted));
    weights[0] = *net_tensor(AMP_FLOAT, DIMS(4), negated);
    assert_false(are_paired(weighted));
    weights[0] = *net_tensor(AMP_FLOAT, DIMS(4), turned);
    assert_false(are_paired(weighted));
    /* Of many elements some are looked at, from the first to the last. */
    float many[200], half[200];
    for (int i = 0; i < 200; i++) {
        many[i] = 1;
        half[i] = i < 100 ? 1 : -1;
    }
    weights[0] = *net_tensor(AMP_FLOAT, DIMS(50, 1, 4), many);
    weights[1] = *net_tensor(AMP_FLOAT, DIMS(50, 1, 4), half);
    assert_false(are_paired(weighted));
    weights[1] = weights[0];
    assert_true(are_paired(weighted));
}

/* In the same order, of whatever type. */
static void selections_are_the_same_or_not(void **state)
{
    static const float floats[] = {1, -0.0f, 3}, others[] = {1, 0, 4};
    static const int64_t numbers[] = {1, 0, 3};
    (void)state;
    net_start(22);
    struct amp_tensor a = row_of(DIMS(3), floats), b = row_of(DIMS(3), others),
                      first = row_of(DIMS(2), others), flat = row_of(DIMS(1, 3), floats),
                      whole = *net_tensor(AMP_INT64, DIMS(3), numbers), same = whole;
    assert_true(amp_selection_is_same(&a, &a) && amp_selection_is_same(&whole, &same));
    assert_false(amp_selection_is_same(&a, &b) || amp_selection_is_same(&a, &flat));
    static const float small[] = {0x1p-100f, 0, 3}, smaller[] = {0x1p-101f, 0, 3};
    struct amp_tensor c = row_of(DIMS(3), small), d = row_of(DIMS(3), smaller);
    assert_true(amp_selection_is_same(&c, &c));
    assert_false(amp_selection_is_same(&c, &d));
    a.shape = DIMS(2);
    assert_true(amp_selection_is_same(&a, &first));
}

/* What two models select, as a node OP with the attribute axis, if that is not 9, says it. */
struct selected {
    const char *op;
    int64_t axis;
    enum amp_dtype dtype;
    struct amp_shape shapes[2];
    int64_t items[2][8];
    uint64_t counts[2], otherwise;
};

static void check_selected(const struct selected *c)
{
    net_start(22);
    uint32_t value = NODE(c->op, "y", input("x", AMP_FLOAT, ANY_DIMS));
    if (c->axis != 9)
        set_int(value, "axis", c->axis);
    struct amp_selection selection = {.node = node_of(value), .values = {value, value}};
    const struct amp_selections selections = {.model = net.model, .items = &selection, .count = 1};
    struct amp_tensor tensors[2];
    for (int i = 0; i < 2; i++) {
        bool data[8];
        for (int k = 0; k < 8; k++)
            data[k] = c->items[i][k] != 0;
        tensors[i] = *net_tensor(c->dtype, c->shapes[i],
                                 c->dtype == AMP_BOOL ? (const void *)data : c->items[i]);
    }
    assert_true(amp_selection_differ(&selection) == 0);
    for (uint64_t n = 1; n <= 2; n++) {
        amp_selection_add(&selections, 0, &tensors[0], &tensors[1]);
        uint64_t larger = c->counts[0] > c->counts[1] ? c->counts[0] : c->counts[1];
        assert_int_equal(selection.items[0], n * c->counts[0]);
        assert_int_equal(selection.items[1], n * c->counts[1]);
        assert_int_equal(selection.larger, n * larger);
        assert_int_equal(selection.otherwise, n * c->otherwise);
        assert_true(amp_selection_differ(&selection) ==
                    (larger > 0 ? (double)c->otherwise / (double)larger : 0));
    }
}

/* Sets, whatever their order: rows or columns, elements of a line, places of what is true. */
static void selections_are_compared_as_sets(void **state)
{
    static const struct selected cases[] = {
        {"TopK", 9, AMP_INT64, {{0, {0}}, {0, {0}}}, {{3}, {3}}, {1, 1}, 0},
        {"TopK", 0, AMP_INT64, {{0, {0}}, {0, {0}}}, {{3}, {4}}, {1, 1}, 1},
        /* the largest of each line, the last dim or the one that the attribute says */
        {"TopK", 9, AMP_INT64, {{2, {2, 2}}, {2, {2, 2}}}, {{0, 1, 2, 3}, {1, 0, 3, 2}}, {4, 4}, 0},
        {"TopK", 9, AMP_INT64, {{2, {2, 2}}, {2, {2, 2}}}, {{0, 1, 2, 3}, {0, 1, 1, 2}}, {4, 4}, 1},
        {"TopK", 9, AMP_INT64, {{2, {2, 2}}, {2, {2, 2}}}, {{0, 1, 2, 3}, {2, 3, 0, 1}}, {4, 4}, 4},
        {"TopK", 0, AMP_INT64, {{2, {2, 2}}, {2, {2, 2}}}, {{0, 1, 2, 3}, {2, 3, 0, 1}}, {4, 4}, 0},
        {"TopK",
         -2,
         AMP_INT64,
         {{2, {2, 2}}, {2, {2, 2}}},
         {{0, 1, 2, 3}, {2, 3, 0, 1}},
         {4, 4},
         0},
        {"TopK", 0, AMP_INT64, {{2, {2, 2}}, {2, {2, 2}}}, {{0, 1, 2, 3}, {1, 0, 3, 2}}, {4, 4}, 4},
        {"TopK", 9, AMP_INT64, {{1, {3}}, {1, {2}}}, {{4, 5, 6}, {6, 4}}, {3, 2}, 1},
        {"TopK", 9, AMP_INT64, {{1, {0}}, {1, {2}}}, {{0}, {6, 4}}, {0, 2}, 2},
        {"TopK", 9, AMP_INT64, {{1, {3}}, {1, {3}}}, {{4, 4, 5}, {4, 5, 5}}, {3, 3}, 1},
        /* places, one in each column */
        {"NonZero",
         9,
         AMP_INT64,
         {{2, {2, 2}}, {2, {2, 2}}},
         {{0, 1, 2, 3}, {1, 0, 3, 2}},
         {2, 2},
         0},
        {"NonZero",
         9,
         AMP_INT64,
         {{2, {2, 2}}, {2, {2, 2}}},
         {{0, 1, 2, 3}, {0, 1, 3, 2}},
         {2, 2},
         2},
        {"NonZero",
         9,
         AMP_INT64,
         {{2, {2, 2}}, {2, {2, 3}}},
         {{0, 1, 2, 3}, {0, 5, 1, 2, 6, 3}},
         {2, 3},
         1},
        /* entries of the dims that differ are others */
        {"NonZero", 9, AMP_INT64, {{2, {2, 2}}, {2, {1, 2}}}, {{0, 1, 2, 3}, {0, 1}}, {2, 2}, 2},
        {"NonZero", 9, AMP_INT64, {{2, {2, 0}}, {2, {2, 0}}}, {{0}, {0}}, {0, 0}, 0},
        /* a row for each box */
        {"NonMaxSuppression",
         9,
         AMP_INT64,
         {{2, {2, 3}}, {2, {2, 3}}},
         {{0, 1, 2, 0, 0, 5}, {0, 0, 5, 0, 1, 2}},
         {2, 2},
         0},
        {"NonMaxSuppression",
         9,
         AMP_INT64,
         {{2, {2, 3}}, {2, {1, 3}}},
         {{0, 1, 2, 0, 0, 5}, {0, 0, 5}},
         {2, 1},
         1},
        {"NonZero", 9, AMP_INT64, {{2, {0, 2}}, {2, {0, 2}}}, {{0}, {0}}, {2, 2}, 0},
        /* what is true */
        {"Compress", 9, AMP_BOOL, {{1, {0}}, {1, {0}}}, {{0}, {0}}, {0, 0}, 0},
        {"Compress", 9, AMP_BOOL, {{1, {4}}, {1, {4}}}, {{1, 0, 1, 1}, {1, 1, 1, 0}}, {3, 3}, 1},
        {"Compress", 9, AMP_BOOL, {{1, {4}}, {1, {4}}}, {{0, 0, 0, 0}, {0, 1, 0, 0}}, {0, 1}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_selected(&cases[i]);
}

/* ---- lists ---- */

/* A sequence of COUNT vectors, whose elements are FIRST, FIRST + 1 and so on. */
static struct amp_tensor sequence(size_t count, float first)
{
    struct amp_tensor list = {.dtype = AMP_FLOAT};
    assert_int_equal(amp_list_alloc(&list, AMP_FORM_SEQUENCE, count, &net.err), AMP_OK);
    for (size_t i = 0; i < count; i++) {
        struct amp_tensor *item = &amp_list_items(&list)[i];
        *item = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(2)};
        assert_int_equal(amp_tensor_alloc(item, &net.err), AMP_OK);
        for (size_t k = 0; k < 2; k++)
            ((float *)item->data)[k] = first + (float)(2 * i + k);
    }
    return list;
}

static void lists_are_compared_item_by_item(void **state)
{
    struct amp_tensor a = sequence(2, 1), b = sequence(2, 1), other = sequence(2, 1);
    struct amp_tensor longer = sequence(3, 1), plain = ones(AMP_FLOAT, DIMS(2));
    const struct amp_tolerance exact = {.atol = 0};
    (void)state;
    ((float *)amp_list_items(&other)[1].data)[1] = 9;
    assert_int_equal(amp_tensor_compare(&a, &b, exact, &net.err), AMP_OK);
    const struct {
        const struct amp_tensor *got, *want;
        const char *text;
    } cases[] = {
        {&a, &longer, "a list of 2, expected 3"},
        {&longer, &a, "a list of 3, expected 2"},
        {&a, &plain, "a list of tensors, or a tensor, where the other is not"},
        {&plain, &a, "a list of tensors, or a tensor, where the other is not"},
        {&other, &a,
         "element 1 of the list: 1 of 2 elements differ; the worst is element [1]: 9, "
         "expected 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_tensor_compare(cases[i].got, cases[i].want, exact, &err),
                         AMP_MISMATCH);
        assert_string_equal(err.text, cases[i].text);
    }
    amp_tensor_release(&a);
    amp_tensor_release(&b);
    amp_tensor_release(&other);
    amp_tensor_release(&longer);
}

static double value_of(const struct amp_metrics *metrics, const char *name)
{
    double value = -1;
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        if (strcmp(amp_metric_name_at(row), name) == 0)
            assert_true(amp_metric_value(amp_metric_at(row), metrics, &value));
    return value;
}

static void lists_are_measured_item_by_item(void **state)
{
    static const char apart[] = "the reference and the converted model give lists of different "
                                "lengths, or only one gives a list";
    struct amp_tensor a = sequence(2, 1), b = sequence(2, 2), longer = sequence(3, 1);
    struct amp_tensor plain = ones(AMP_FLOAT, DIMS(2));
    const struct amp_tensor *const wrong[][2] = {{&a, &longer}, {&a, &plain}, {&plain, &a}};
    struct amp_metrics metrics = {.count = 0};
    struct amp_summary summary = {.count = 0};
    (void)state;
    assert_int_equal(amp_metrics_add(&metrics, &a, &b, &net.err), AMP_OK);
    assert_int_equal(metrics.count, 4);
    assert_int_equal(metrics.different, 4);
    assert_true(value_of(&metrics, "max_abs") == 1);
    for (size_t i = 0; i < 3; i++) {
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_metrics_add(&metrics, wrong[i][0], wrong[i][1], &err), AMP_MISMATCH);
        assert_string_equal(err.text, apart);
        assert_int_equal(metrics.count, 4);
    }
    amp_summary_add(&summary, &a);
    amp_summary_add(&summary, &plain);
    assert_int_equal(summary.count, 6);
    assert_true(summary.minimum == 0 && summary.maximum == 4 && summary.sum == 10);
    amp_tensor_release(&a);
    amp_tensor_release(&b);
    amp_tensor_release(&longer);
}

/* ---- rows of samples ------------------------------------------------------------------------- */

enum { X, T, SAME, N_INPUTS };

/* Inputs x of N_ROWS rows (-1: any), t of any number of integers, and a number. */
static void start_rows(struct amp_rows *rows, int64_t n_rows)
{
    struct amp_shape any = DIMS(1);
    net_start(17);
    any.dims[0] = AMP_DIM_UNKNOWN;
    struct amp_shape pairs = {2, {n_rows, AMP_DIM_UNKNOWN}};
    input("x", AMP_FLOAT, pairs);
    input("t", AMP_INT64, any);
    input("same", AMP_FLOAT, SCALAR);
    net.err = (struct amp_error){.status = AMP_OK};
    amp_rows_open(rows, net.model, N_INPUTS);
}

/* A sample whose rows of x are (FIRST, -FIRST), (FIRST + 1, -FIRST - 1) and so on, and of t FIRST
   and so on. */
static enum amp_status add_rows(struct amp_rows *rows, int64_t first, int64_t count)
{
    float pairs[2 * 128];
    int64_t numbers[128];
    for (int64_t i = 0; i < count; i++) {
        pairs[2 * i] = (float)(first + i);
        pairs[2 * i + 1] = -(float)(first + i);
        numbers[i] = first + i;
    }
    return amp_rows_add(rows,
                        TENSORS(*net_tensor(AMP_FLOAT, DIMS(count, 2), pairs),
                                *net_tensor(AMP_INT64, DIMS(count), numbers), {.dtype = AMP_FLOAT}),
                        "here", &net.err);
}

/* Batch I has the rows NUMBERS of x and of t. */
static void assert_batch(const struct amp_rows *rows, size_t i, const int64_t *numbers,
                         size_t count)
{
    struct amp_tensor batch[N_INPUTS] = {{.data = NULL}};
    assert_int_equal(amp_rows_take(rows, i, batch, &net.err), AMP_OK);
    assert_int_equal(batch[X].dtype, AMP_FLOAT);
    assert_true(amp_shape_equal(&batch[X].shape, &DIMS((int64_t)count, 2)));
    for (size_t k = 0; k < count; k++) {
        assert_true(amp_tensor_double(&batch[X], 2 * k) == (double)numbers[k]);
        assert_true(amp_tensor_double(&batch[X], 2 * k + 1) == -(double)numbers[k]);
        if (batch[T].data != NULL)
            assert_int_equal(amp_tensor_int(&batch[T], k), numbers[k]);
    }
    if (batch[T].data != NULL)
        assert_true(amp_shape_equal(&batch[T].shape, &DIMS((int64_t)count)));
    amp_tensors_release(batch, N_INPUTS);
}

#define ASSERT_BATCH(rows, i, ...)                        \
    assert_batch(rows, i, (const int64_t[]){__VA_ARGS__}, \
                 sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Of a size across samples, the last smaller; without a size a sample each. */
static void rows_come_in_batches(void **state)
{
    struct amp_rows rows;
    const float seven = 7;
    (void)state;
    for (size_t size = 0; size < 6; size++) {
        start_rows(&rows, AMP_DIM_UNKNOWN);
        amp_rows_give(&rows, SAME, AMP_ROWS_SAME, net_tensor(AMP_FLOAT, SCALAR, &seven));
        assert_int_equal(add_rows(&rows, 10, 3), AMP_OK);
        assert_int_equal(add_rows(&rows, 13, 0), AMP_OK);
        assert_int_equal(add_rows(&rows, 13, 2), AMP_OK);
        assert_int_equal(amp_rows_cut(&rows, size, &net.err), AMP_OK);
        assert_int_equal(rows.n_rows, 5);
        assert_int_equal(rows.left_out, 0);
        const size_t n_batches[] = {2, 5, 3, 2, 2, 1};
        assert_int_equal(rows.n_batches, n_batches[size]);
        if (size == 0 || size == 3) {
            ASSERT_BATCH(&rows, 0, 10, 11, 12);
            ASSERT_BATCH(&rows, 1, 13, 14);
        } else if (size == 1) {
            for (int64_t i = 0; i < 5; i++)
                ASSERT_BATCH(&rows, (size_t)i, 10 + i);
        } else if (size == 2) {
            ASSERT_BATCH(&rows, 0, 10, 11);
            ASSERT_BATCH(&rows, 1, 12, 13);
            ASSERT_BATCH(&rows, 2, 14);
        } else if (size == 5) {
            ASSERT_BATCH(&rows, 0, 10, 11, 12, 13, 14);
        }
        struct amp_tensor batch[N_INPUTS] = {{.data = NULL}};
        assert_int_equal(amp_rows_take(&rows, 0, batch, &net.err), AMP_OK);
        assert_int_equal(batch[SAME].shape.rank, 0);
        assert_true(amp_tensor_double(&batch[SAME], 0) == 7);
        amp_tensors_release(batch, N_INPUTS);
        amp_rows_close(&rows);
    }
}

/* A tensor for all samples goes row by row with theirs; what no sample has stays away. */
static void targets_go_with_their_rows(void **state)
{
    static const int64_t targets[] = {0, 1, 2, 3, 4};
    struct amp_rows rows;
    (void)state;
    start_rows(&rows, AMP_DIM_UNKNOWN);
    amp_rows_give(&rows, T, AMP_ROWS_OF_ALL, net_tensor(AMP_INT64, DIMS(4), targets));
    amp_rows_give(&rows, T, AMP_ROWS_OF_ALL, net_tensor(AMP_INT64, DIMS(5), targets));
    for (int64_t first = 0; first < 5; first += 3) {
        const float pairs[] = {(float)first,      -(float)first,    (float)first + 1,
                               -(float)first - 1, (float)first + 2, -(float)first - 2};
        assert_int_equal(
            amp_rows_add(&rows,
                         TENSORS(*net_tensor(AMP_FLOAT, DIMS(first == 0 ? 3 : 2, 2), pairs),
                                 {.dtype = AMP_INT64}, {.dtype = AMP_FLOAT}),
                         "here", &net.err),
            AMP_OK);
    }
    assert_int_equal(amp_rows_cut(&rows, 2, &net.err), AMP_OK);
    ASSERT_BATCH(&rows, 0, 0, 1);
    ASSERT_BATCH(&rows, 1, 2, 3);
    ASSERT_BATCH(&rows, 2, 4);
    struct amp_tensor batch[N_INPUTS] = {{.data = NULL}};
    assert_int_equal(amp_rows_take(&rows, 0, batch, &net.err), AMP_OK);
    assert_null(batch[SAME].data);
    assert_non_null(batch[T].data);
    amp_tensors_release(batch, N_INPUTS);
    amp_rows_close(&rows);
}

/* Where the model has a number of rows, batches have it; but not where it has a default, or the
   input is whole in every step. */
static void a_fixed_number_of_rows_is_kept(void **state)
{
    enum { FIXED, DEFAULT, WHOLE, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++)
        for (size_t size = 0; size < 4; size++) {
            struct amp_rows rows;
            start_rows(&rows, 2);
            if (i == DEFAULT)
                amp_value_at(net.model, net.model->graphs[0].inputs.items[X])->initial =
                    net_tensor(AMP_FLOAT, DIMS(1), &(float){1});
            assert_int_equal(add_rows(&rows, 0, 3), AMP_OK);
            assert_int_equal(add_rows(&rows, 3, 2), AMP_OK);
            if (i == WHOLE)
                rows.sources[X] = AMP_ROWS_SAME;
            enum amp_status status = amp_rows_cut(&rows, size, &net.err);
            if (i == FIXED && (size == 1 || size == 3)) {
                char text[80];
                snprintf(text, sizeof text, "--batch %zu: input 'x' has 2 rows in the model", size);
                assert_int_equal(status, AMP_USAGE);
                assert_string_equal(net.err.text, text);
            } else {
                const size_t n_batches[] = {2, 5, 3, 2};
                bool is_cut = i == FIXED && size == 2;
                assert_int_equal(status, AMP_OK);
                assert_int_equal(rows.n_batches, is_cut ? 2 : n_batches[size]);
                assert_int_equal(rows.left_out, is_cut ? 1 : 0);
            }
            amp_rows_close(&rows);
        }
    struct amp_rows short_rows; /* of samples as they are, which no batch was asked for */
    start_rows(&short_rows, 2);
    assert_int_equal(add_rows(&short_rows, 0, 1), AMP_OK);
    assert_int_equal(amp_rows_cut(&short_rows, 0, &net.err), AMP_OK);
    assert_int_equal(short_rows.n_batches, 1);
    assert_int_equal(short_rows.left_out, 0);
    amp_rows_close(&short_rows);
    for (int64_t n_rows = 0; n_rows < 2; n_rows++) {
        char text[80];
        struct amp_rows rows;
        start_rows(&rows, 2);
        assert_int_equal(add_rows(&rows, 0, n_rows), AMP_OK);
        assert_int_equal(amp_rows_cut(&rows, 2, &net.err), AMP_USAGE);
        snprintf(text, sizeof text, "--batch 2: there are %d rows", (int)n_rows);
        assert_string_equal(net.err.text, text);
        amp_rows_close(&rows);
    }
}

/* What has no rows, not as many, or other ones than before, is named. */
static void rows_that_do_not_go_together_are_refused(void **state)
{
    static int64_t numbers[8];
    static float pairs[8];
    const struct amp_tensor none = {.dtype = AMP_FLOAT},
                            x = *net_tensor(AMP_FLOAT, DIMS(2, 2), pairs),
                            t = *net_tensor(AMP_INT64, DIMS(2), numbers),
                            three = *net_tensor(AMP_INT64, DIMS(3), numbers),
                            wide = *net_tensor(AMP_FLOAT, DIMS(2, 3), pairs),
                            flat = *net_tensor(AMP_FLOAT, DIMS(2), pairs),
                            integers = *net_tensor(AMP_INT64, DIMS(2, 2), numbers),
                            number = *net_tensor(AMP_FLOAT, SCALAR, pairs),
                            texts = {.dtype = AMP_STRING, .shape = DIMS(2), .data = pairs};
    struct amp_tensor list = sequence(2, 1);
    const struct {
        struct amp_tensor x, t;
        bool is_first;
        enum amp_status status;
        const char *text;
    } wrong[] = {
        {list, t, true, AMP_UNSUPPORTED, "input 'x': only tensors of numbers have batches"},
        {texts, t, true, AMP_UNSUPPORTED, "input 'x': only tensors of numbers have batches"},
        {number, t, true, AMP_MODEL, "input 'x': a number alone has no rows for batches"},
        {x, number, true, AMP_MODEL, "input 't': a number alone has no rows for batches"},
        {x, three, true, AMP_MODEL, "input 't' has 3 rows, and 'x' 2"},
        {x, three, false, AMP_MODEL, "input 't' has 3 rows, and 'x' 2"},
        {none, t, false, AMP_MODEL, "input 'x': some samples have it and some do not"},
        {x, none, false, AMP_MODEL, "input 't': some samples have it and some do not"},
        {wide, t, false, AMP_MODEL,
         "input 'x': float32[2, 3] does not go with float32[2, 2] of the first sample"},
        {flat, t, false, AMP_MODEL,
         "input 'x': float32[2] does not go with float32[2, 2] of the first sample"},
        {integers, t, false, AMP_MODEL,
         "input 'x': int64[2, 2] does not go with float32[2, 2] of the first sample"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct amp_rows rows;
        char text[160];
        start_rows(&rows, AMP_DIM_UNKNOWN);
        if (!wrong[i].is_first)
            assert_int_equal(amp_rows_add(&rows, TENSORS(x, t, none), "first", &net.err), AMP_OK);
        assert_int_equal(
            amp_rows_add(&rows, TENSORS(wrong[i].x, wrong[i].t, none), "here", &net.err),
            wrong[i].status);
        snprintf(text, sizeof text, "here: %s", wrong[i].text);
        assert_string_equal(net.err.text, text);
        amp_rows_close(&rows);
    }
    amp_tensor_release(&list);
}

static void targets_that_do_not_go_with_the_rows_are_refused(void **state)
{
    static int64_t numbers[4];
    const struct {
        struct amp_tensor whole;
        enum amp_status status;
        const char *text;
    } wrong[] = {
        {*net_tensor(AMP_INT64, DIMS(1), numbers), AMP_MODEL,
         "input 'same': 1 rows for 2 rows of samples"},
        {*net_tensor(AMP_INT64, DIMS(3), numbers), AMP_MODEL,
         "input 'same': 3 rows for 2 rows of samples"},
        {*net_tensor(AMP_INT64, SCALAR, numbers), AMP_MODEL,
         "input 'same': a number alone has no rows for batches"},
        {{.dtype = AMP_STRING, .shape = DIMS(2), .data = numbers},
         AMP_UNSUPPORTED,
         "input 'same': only tensors of numbers have batches"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct amp_rows rows;
        start_rows(&rows, AMP_DIM_UNKNOWN);
        amp_rows_give(&rows, SAME, AMP_ROWS_OF_ALL, &wrong[i].whole);
        assert_int_equal(add_rows(&rows, 0, 2), AMP_OK);
        assert_int_equal(amp_rows_cut(&rows, 0, &net.err), wrong[i].status);
        assert_string_equal(net.err.text, wrong[i].text);
        amp_rows_close(&rows);
    }
}

/* The order of ROWS as one number: 012, 021 and so on. */
static int order_of(const struct amp_rows *rows)
{
    int order = 0;
    for (size_t i = 0; i < rows->n_batches; i++) {
        struct amp_tensor batch[N_INPUTS] = {{.data = NULL}};
        assert_int_equal(amp_rows_take(rows, i, batch, &net.err), AMP_OK);
        int64_t number = amp_tensor_int(&batch[T], 0);
        assert_true(amp_tensor_double(&batch[X], 0) == (double)number);
        order = 10 * order + (int)number;
        amp_tensors_release(batch, N_INPUTS);
    }
    return order;
}

/* Each order is as frequent as another, whatever was before: of 1200 epochs 200, give or take five
   standard deviations. */
static void epochs_have_orders_of_their_own(void **state)
{
    static const int orders[] = {12, 21, 102, 120, 201, 210};
    enum { EPOCHS = 1200 };
    static int first[EPOCHS];
    int counts[6] = {0};
    struct amp_rows rows;
    (void)state;
    start_rows(&rows, AMP_DIM_UNKNOWN);
    assert_int_equal(add_rows(&rows, 0, 2), AMP_OK);
    assert_int_equal(add_rows(&rows, 2, 1), AMP_OK);
    assert_int_equal(amp_rows_cut(&rows, 1, &net.err), AMP_OK);
    assert_int_equal(order_of(&rows), 12);
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        amp_rows_shuffle(&rows, 1, epoch);
        first[epoch] = order_of(&rows);
        for (int i = 0; i < 6; i++)
            counts[i] += first[epoch] == orders[i];
    }
    for (int i = 0; i < 6; i++)
        assert_in_range(counts[i], 200 - 65, 200 + 65);
    int n_differing = 0;
    for (size_t epoch = EPOCHS; epoch-- > 0;) {
        amp_rows_shuffle(&rows, 1, epoch);
        assert_int_equal(order_of(&rows), first[epoch]);
        amp_rows_shuffle(&rows, 2, epoch);
        n_differing += order_of(&rows) != first[epoch];
    }
    assert_in_range(n_differing, 1000 - 65, 1000 + 65); /* by another seed in five of six */
    amp_rows_close(&rows);
}

/* ---- what steps give out --------------------------------------------------------------------- */

enum { STEP_OUTPUTS = 13, LIST = 10, ABSENT = 11 };

/* The numbers of a float type among the algorithm's outputs are noted, and what the scaler says. */
static void histories_have_the_numbers_of_steps(void **state)
{
    static const struct {
        const char *name, *word; /* NULL: it is not noted */
        enum amp_dtype dtype;
        struct amp_shape shape;
    } outputs[STEP_OUTPUTS] = {{"y", NULL, AMP_FLOAT, {0}},
                               {"loss", "loss", AMP_FLOAT, {0}},
                               {"one", "one", AMP_DOUBLE, {2, {1, 1}}},
                               {"two", NULL, AMP_FLOAT, {1, {2}}},
                               {"none", NULL, AMP_FLOAT, {1, {0}}},
                               {"half", "half", AMP_FLOAT16, {0}},
                               {"integer", NULL, AMP_INT64, {0}},
                               {"flag", NULL, AMP_BOOL, {0}},
                               {"grad_scaler/skipped", "skipped", AMP_BOOL, {1, {1}}},
                               {"grad_scaler/next_scale", NULL, AMP_INT64, {0}},
                               {"list", NULL, AMP_FLOAT, {1, {1}}},
                               {"absent", NULL, AMP_FLOAT, {0}},
                               {"last", NULL, AMP_FLOAT, {0}}};
    struct amp_tensor tensors[STEP_OUTPUTS] = {{.data = NULL}};
    struct amp_trainer trainer = {.outputs = tensors, .n_outputs = STEP_OUTPUTS};
    struct amp_train_history history = {.n_series = 0};
    (void)state;
    net_start(17);
    for (size_t i = 0; i < STEP_OUTPUTS; i++) {
        output(net_value_in(0, outputs[i].name, outputs[i].dtype, outputs[i].shape));
        tensors[i] = (struct amp_tensor){.dtype = outputs[i].dtype, .shape = outputs[i].shape};
        if (i == LIST || i == ABSENT)
            continue;
        assert_int_equal(amp_tensor_alloc(&tensors[i], &net.err), AMP_OK);
        memset(tensors[i].data, 0, amp_tensor_size(&tensors[i]));
    }
    assert_int_equal(amp_list_alloc(&tensors[LIST], AMP_FORM_SEQUENCE, 1, &net.err), AMP_OK);
    trainer.step =
        (struct amp_training_step){.model = net.model, .first_own = 1, .n_own = STEP_OUTPUTS - 2};
    for (int step = 0; step < 200; step++) {
        amp_tensor_set_double(&tensors[1], 0, step);
        amp_tensor_set_double(&tensors[5], 0, 2 * step);
        *(bool *)tensors[8].data = step % 2 == 1;
        amp_train_history_add(&history, &trainer, 0.25);
        assert_int_equal(history.n_steps, step + 1);
        assert_true(amp_train_history_last(&history, 0) == step);
    }
    tensors[1].shape = DIMS(0);
    amp_train_history_add(&history, &trainer, 0);
    assert_true(isnan(amp_train_history_last(&history, 0)));
    assert_true(history.seconds == 50);
    size_t n_series = 0;
    for (size_t i = 0; i < STEP_OUTPUTS; i++) {
        if (outputs[i].word == NULL) {
            assert_null(amp_train_history_find(&history, outputs[i].name));
            continue;
        }
        const struct amp_train_series *series = amp_train_history_find(&history, outputs[i].word);
        assert_ptr_equal(series, &history.series[n_series++]);
        assert_int_equal(series->output, i);
        for (int step = 0; step < 200; step++)
            assert_true(series->values[step] == (i == 1   ? step
                                                 : i == 5 ? 2 * step
                                                 : i == 8 ? step % 2
                                                          : 0));
    }
    assert_int_equal(history.n_series, n_series);
    amp_train_history_free(&history);
    assert_int_equal(history.n_series, 0);
    tensors[1].shape = SCALAR;
    amp_tensors_release(tensors, STEP_OUTPUTS);
}

/* ---- names of files ---- */

/* The COUNT values called NAMES have files called WANTED, as inputs and as outputs. */
static void stems_are(const char *const *names, const char *const *wanted, size_t count)
{
    net_start(22);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = input(names[i], AMP_FLOAT, SCALAR);
        amp_ids_push(net.model, &net.model->graphs[0].outputs, id);
    }
    const char *const *inputs = amp_input_stems(net.model, net.arena);
    const char *const *outputs = amp_output_stems(net.model, net.arena);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(inputs[i], wanted[i]);
        assert_string_equal(outputs[i], wanted[i]);
    }
}

/* What no file system, or not every one, takes in a name becomes _; a name is not too long, no
   hidden file's, and nobody else's where large letters are small ones. */
static void names_of_values_become_names_of_files(void **state)
{
    static const char *const plain[][2] = {{"logits", "logits"},
                                           {"a b~(1).x-Y", "a b~(1).x-Y"},
                                           {"\xc3\xb6\x7f", "\xc3\xb6\x7f"},
                                           {"/a\\b:c*d?e\"f<g>h|i", "_a_b_c_d_e_f_g_h_i"},
                                           {"a\nb\x1f\x01 ", "a_b__ "},
                                           {"", "_"},
                                           {".", "_"},
                                           {"..", "_."},
                                           {".a", "_a"}};
    static const char *const alike[] = {"a/b", "a:b", "A?B", "a_b.1", "b.5", "b", "B"};
    static const char *const apart[] = {"a_b", "a_b.1", "A_B.2", "a_b.1.3", "b.5", "b", "B.6"};
    static const char *const again[] = {"b.2", "b", "B"};
    static const char *const other[] = {"b.2", "b", "B.2.2"};
    char text[130], cut[128];
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(plain); i++)
        stems_are(&plain[i][0], &plain[i][1], 1);
    stems_are(alike, apart, AMP_COUNT(alike));
    stems_are(again, other, AMP_COUNT(again));
    memset(text, 'a', sizeof text);
    memset(cut, 'a', sizeof cut);
    cut[127] = text[129] = '\0';
    stems_are((const char *const[]){text}, (const char *const[]){cut}, 1);
    text[128] = '\0';
    stems_are((const char *const[]){text}, (const char *const[]){cut}, 1);
    text[127] = '\0';
    stems_are((const char *const[]){text}, (const char *const[]){cut}, 1);
    cut[126] = text[126] = '\0';
    stems_are((const char *const[]){text}, (const char *const[]){cut}, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(inputs_have_the_declared_dims),
        NET_TEST(inputs_have_the_declared_type),
        NET_TEST(a_symbol_is_one_size),
        SIZES_TEST(sizes_that_work_are_left),
        SIZES_TEST(sizes_that_are_named_come_first),
        SIZES_TEST(dims_of_a_kind_have_one_size),
        SIZES_TEST(spatial_dims_have_one_size),
        SIZES_TEST(sizes_that_are_set_stay),
        SIZES_TEST(sizes_are_found_one_after_the_other),
        SIZES_TEST(sizes_that_do_not_fit_are_not_run),
        SIZES_TEST(inputs_become_scalars),
        SIZES_TEST(the_first_sizes_are_run),
        SIZES_TEST(sizes_that_inference_takes_are_run_if_they_are_not_the_first),
        SIZES_TEST(sizes_of_few_dims_are_found),
        SIZES_TEST(there_are_six_rounds),
        SIZES_TEST(what_never_works_is_said),
        SIZES_TEST(long_names_are_cut),
        SIZES_TEST(sizes_that_inference_needs_stay),
        SIZES_TEST(other_failures_are_left),
        SIZES_TEST(refused_sizes_are_said),
        SIZES_TEST(refused_sizes_are_said_in_any_words),
        SIZES_TEST(numbers_are_tried_once),
        SIZES_TEST(large_inputs_are_not_tried),
        SIZES_TEST(shapes_are_of_the_declared_kind),
        SIZES_TEST(shapes_follow_the_sizes),
        NET_TEST(operators_without_a_kernel_are_found_at_once),
        NET_TEST(products_are_class_scores),
        NET_TEST(probabilities_are_class_scores),
        NET_TEST(the_first_of_equals_agrees),
        NET_TEST(classes_have_ranks),
        NET_TEST(complex_numbers_do_not_deviate_from_floats),
        NET_TEST(outputs_are_behind_selections),
        NET_TEST(selections_are_those_of_both_models),
        NET_TEST(values_are_paired_by_name),
        NET_TEST(values_are_paired_through_casts),
        NET_TEST(names_of_other_things_pair_nothing),
        NET_TEST(casts_to_compare_by_are_of_floats),
        NET_TEST(values_between_pairs_have_their_places),
        NET_TEST(values_are_paired_by_position),
        NET_TEST(weights_point_in_one_direction),
        NET_TEST(ranges_are_of_all_floats_of_all_samples),
        NET_TEST(steps_read_what_nodes_and_bodies_do),
        NET_TEST(sources_are_what_a_conversion_rounds),
        NET_TEST(sources_are_made_of_sources),
        NET_TEST(twins_are_in_float32),
        NET_TEST(opened_values_are_values_alone),
        NET_TEST(bodies_round_by_casts),
        NET_TEST(what_bodies_do_not_round_stays),
        NET_TEST(attributes_of_twins_are_in_float32),
        NET_TEST(constants_of_bodies_round_alone),
        NET_TEST(samples_are_of_one_kind),
        NET_TEST(samples_are_files_or_folders),
        NET_TEST(short_lists_are_aligned_best),
        NET_TEST(long_lists_are_aligned),
        NET_TEST(other_constants_are_told_by_shape),
        NET_TEST(selections_are_the_same_or_not),
        NET_TEST(shapes_of_floats_are_no_sources),
        NET_TEST(what_selects_by_floats_is_a_selection),
        NET_TEST(shapes_are_of_floats_and_of_integers),
        NET_TEST(selections_of_the_last_output_stay),
        NET_TEST(selections_are_compared_as_sets),
        NET_TEST(lists_are_compared_item_by_item),
        NET_TEST(lists_are_measured_item_by_item),
        NET_TEST(rows_come_in_batches),
        NET_TEST(targets_go_with_their_rows),
        NET_TEST(a_fixed_number_of_rows_is_kept),
        NET_TEST(rows_that_do_not_go_together_are_refused),
        NET_TEST(targets_that_do_not_go_with_the_rows_are_refused),
        NET_TEST(epochs_have_orders_of_their_own),
        NET_TEST(histories_have_the_numbers_of_steps),
        NET_TEST(names_of_values_become_names_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Random inputs: the numbers are those of the published generators on every machine, and what an
 * input gets follows from its type, its name and what it indexes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/random_input.h"
#include "core/number/random.h"

static void numbers_are_those_of_xoshiro(void **state)
{
    (void)state;
    /* The first results for the state 1, 2, 3, 4, as in the reference implementation's tests. */
    static const uint64_t published[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    struct amp_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < 4; i++)
        assert_true(amp_random_next(&random) == published[i]);
}

/* Computed from the same definitions in another language. */
static void seeds_and_streams_differ(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, first;
    } cases[] = {{0, 0, UINT64_C(0xfb5405f7bd79c540)},
                 {1, 0, UINT64_C(0xee127fe613436e33)},
                 {0, 1, UINT64_C(0xef75d62a19ba94ed)},
                 {42, 7, UINT64_C(0x4150452ab869a892)}};
    for (size_t i = 0; i < 4; i++) {
        struct amp_random random = amp_random_start(cases[i].seed, cases[i].stream);
        assert_true(amp_random_next(&random) == cases[i].first);
    }
}

static void normal_numbers_are_exact_and_normal(void **state)
{
    (void)state;
    static const float first[] = {0x1.ce343ap-3f, 0x1.b13996p-5f, -0x1.cfaa16p-1f};
    struct amp_random random = amp_random_start(0, 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(amp_random_normal(&random) == first[i]);
    double sum = 0, squares = 0;
    for (int i = 0; i < 100000; i++) {
        double x = (double)amp_random_normal(&random);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / 1e5) < 0.02 && fabs(squares / 1e5 - 1) < 0.02);
}

static void spans_are_kept(void **state)
{
    (void)state;
    struct amp_random random = amp_random_start(3, 0);
    bool is_seen[5] = {false};
    for (int i = 0; i < 200; i++) {
        int64_t x = amp_random_between(&random, -2, 2);
        assert_true(x >= -2 && x <= 2);
        is_seen[x + 2] = true;
    }
    for (int i = 0; i < 5; i++)
        assert_true(is_seen[i]);
    amp_random_between(&random, INT64_MIN, INT64_MAX);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

struct fixture {
    struct amp_arena *arena;
    struct amp_model *model;
};

static struct fixture create(void)
{
    struct fixture f = {.arena = amp_arena_create()};
    f.model = amp_model_create(f.arena, "test");
    amp_graph_add(f.model, "main", AMP_NONE);
    return f;
}

static uint32_t add_value(struct fixture *f, const char *name, enum amp_dtype dtype, int rank,
                          const int64_t *dims)
{
    uint32_t id = amp_graph_add_value(f->model, 0, name);
    struct amp_shape shape = {.rank = rank};
    if (rank > 0)
        memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
    amp_value_at(f->model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(f->model, id)->dtype = dtype;
    amp_value_set_shape(f->model, id, &shape);
    return id;
}

static uint32_t add_node(struct fixture *f, const char *op, uint32_t a, uint32_t b, uint32_t out)
{
    uint32_t node = amp_graph_add_node(f->model, 0, op, b == AMP_NONE ? 1 : 2, 1);
    amp_node_at(f->model, node)->inputs[0] = a;
    if (b != AMP_NONE)
        amp_node_at(f->model, node)->inputs[1] = b;
    amp_node_set_output(f->model, node, 0, out);
    return node;
}

static void is_planned(struct fixture *f, uint32_t value, const char *text)
{
    int64_t sizes[] = {5};
    char found[64];
    struct amp_random_input plan;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_random_input_plan(f->model, value, sizes, &plan, &err), AMP_OK);
    assert_string_equal(amp_random_input_text(&plan, found, sizeof found), text);
    if (plan.kind == AMP_RANDOM_CONSTANT)
        assert_int_equal(plan.lowest, strcmp(text, "false") != 0);
}

static void kinds_follow_types_and_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum amp_dtype dtype;
        const char *text;
    } cases[] = {
        {"a", AMP_FLOAT, "random"},
        {"b", AMP_BFLOAT16, "random"},
        {"c", AMP_BOOL, "random"},
        {"d", AMP_INT64, "random, 0 to 1"},
        {"attention_mask", AMP_INT64, "ones"},
        {"MaskIndex", AMP_INT32, "ones"},
        {"e", AMP_UINT8, "random, 0 to 255"},
        {"f", AMP_INT8, "random, -128 to 127"},
        {"g", AMP_INT4, "random, -8 to 7"},
        {"h", AMP_UINT16, "random, 0 to 1"},
        {"i", AMP_STRING, "empty"},
    };
    struct fixture f = create();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_planned(&f, add_value(&f, cases[i].name, cases[i].dtype, 0, NULL), cases[i].text);
    amp_arena_destroy(f.arena);
}

static void truth_values_are_two(void **state)
{
    (void)state;
    double low, high;
    struct fixture f = create();
    struct amp_random_input plan;
    struct amp_error err = {.status = AMP_OK};
    uint32_t value = add_value(&f, "b", AMP_BOOL, 0, NULL);
    assert_int_equal(amp_random_input_plan(f.model, value, NULL, &plan, &err), AMP_OK);
    assert_false(amp_random_input_range(&plan, &low, &high));
    assert_true(low == 0 && high == 1);
    amp_arena_destroy(f.arena);
}

static void integers_stay_within_what_they_index(void **state)
{
    (void)state;
    struct fixture f = create();
    const int64_t table[] = {30, 4}, narrow[] = {7, 20}, one[] = {1};
    uint32_t ids = add_value(&f, "ids", AMP_INT64, 1, one);
    uint32_t cast = add_value(&f, "cast", AMP_INT32, 1, one);
    uint32_t moved = add_value(&f, "moved", AMP_INT32, 1, one);
    uint32_t data = add_value(&f, "table", AMP_FLOAT, 2, table);
    uint32_t other = add_value(&f, "narrow", AMP_FLOAT, 2, narrow);
    uint32_t out = add_value(&f, "out", AMP_FLOAT, -1, NULL);
    uint32_t out2 = add_value(&f, "out2", AMP_FLOAT, -1, NULL);
    add_node(&f, "Gather", data, ids, out);
    is_planned(&f, ids, "random indices, 0 to 29");
    /* A second table, through what only moves and casts; its axis is the second. */
    add_node(&f, "Cast", ids, AMP_NONE, cast);
    add_node(&f, "Identity", cast, AMP_NONE, moved);
    uint32_t gather = add_node(&f, "Gather", other, moved, out2);
    amp_node_set_int(f.model, gather, "axis", -1);
    is_planned(&f, ids, "random indices, 0 to 19");
    static const int64_t wrong[] = {-9, -3, 2, 9}; /* no reason to stop here */
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        amp_node_set_int(f.model, gather, "axis", wrong[i]);
        is_planned(&f, ids, "random indices, 0 to 29");
    }
    amp_arena_destroy(f.arena);
}

/* What is computed of indices, or says how to move others, is none; the dims of a table may be more
   than 32 bits count. */
static void other_uses_say_nothing_of_indices(void **state)
{
    static const struct {
        const char *op;
        int slot; /* of the ids, whose result indexes the table */
        const char *text;
    } cases[] = {{"Identity", 0, "random indices, 0 to 2999999999"},
                 {"Squeeze", 0, "random indices, 0 to 2999999999"},
                 {"Neg", 0, "random, 0 to 1"},
                 {"Add", 0, "random, 0 to 1"},
                 {"Add", 1, "random, 0 to 1"},
                 {"Squeeze", 1, "random, 0 to 1"},
                 {"Reshape", 1, "ones"}};
    static const int64_t table[] = {3000000000, 4}, one[] = {1}, two[] = {2, 2};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        uint32_t other = add_value(&f, "other", AMP_INT64, 2, two);
        uint32_t data = add_value(&f, "table", AMP_FLOAT, 2, table);
        uint32_t ids = add_value(&f, "ids", AMP_INT64, 1, one);
        uint32_t made = add_value(&f, "made", AMP_INT64, 1, one);
        if (cases[i].slot == 0)
            add_node(&f, cases[i].op, ids, strcmp(cases[i].op, "Add") == 0 ? other : AMP_NONE,
                     made);
        else
            add_node(&f, cases[i].op, other, ids, made);
        add_node(&f, "Gather", data, made, add_value(&f, "y", AMP_FLOAT, -1, NULL));
        is_planned(&f, ids, cases[i].text);
        amp_arena_destroy(f.arena);
    }
}

/* The first operator that says what an input means has the last word, one that lacks its first
   input says nothing, and a result that is left out leads nowhere. */
static void the_first_meaning_counts(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_INT64, AMP_FLOAT, AMP_UINT32};
    static const int64_t one[] = {1}, table[] = {30};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        struct fixture f = create();
        uint32_t x = add_value(&f, "x", AMP_FLOAT, -1, NULL);
        uint32_t sizes = add_value(&f, "s", dtypes[i], 1, one);
        add_node(&f, "Upsample", x, sizes, add_value(&f, "y", AMP_FLOAT, -1, NULL));
        is_planned(&f, sizes, "ones");
        amp_arena_destroy(f.arena);
    }
    struct fixture f = create();
    uint32_t x = add_value(&f, "x", AMP_FLOAT, -1, NULL);
    uint32_t most = add_value(&f, "k", AMP_INT64, 1, one);
    add_node(&f, "TopK", AMP_NONE, most, add_value(&f, "none", AMP_FLOAT, -1, NULL));
    is_planned(&f, most, "random, 0 to 1");
    add_node(&f, "TopK", x, most, add_value(&f, "top", AMP_FLOAT, -1, NULL));
    is_planned(&f, most, "ones");
    add_node(&f, "OneHot", x, most, add_value(&f, "hot", AMP_FLOAT, -1, NULL));
    is_planned(&f, most, "ones");
    uint32_t depth = add_value(&f, "depth", AMP_INT64, 1, one);
    add_node(&f, "OneHot", x, depth, add_value(&f, "other", AMP_FLOAT, -1, NULL));
    is_planned(&f, depth, "random count, 1 to 4");
    add_node(&f, "Reshape", x, depth, add_value(&f, "y", AMP_FLOAT, -1, NULL));
    is_planned(&f, depth, "random count, 1 to 4");
    uint32_t ids = add_value(&f, "ids", AMP_INT64, 1, one);
    uint32_t dropout = add_node(&f, "Dropout", ids, AMP_NONE, most);
    amp_node_at(f.model, dropout)->outputs[0] = AMP_NONE;
    add_node(&f, "Gather", add_value(&f, "table", AMP_FLOAT, 1, table), ids,
             add_value(&f, "z", AMP_FLOAT, -1, NULL));
    is_planned(&f, ids, "random indices, 0 to 29");
    amp_arena_destroy(f.arena);
}

/* An input of one element of DTYPE, or of one image, that input SLOT of a node OP is, the others
   being numbers. */
static uint32_t add_operand(struct fixture *f, const char *op, uint32_t slot, enum amp_dtype dtype,
                            bool is_image)
{
    static const int64_t dims[] = {1, 3, 5, 5};
    uint32_t number = add_value(f, "number", AMP_FLOAT, 2, dims);
    uint32_t value = add_value(f, "x", dtype, is_image ? 4 : 1, dims);
    uint32_t id = amp_graph_add_node(f->model, 0, op, 5, 1);
    for (uint32_t i = 0; i < 5; i++)
        amp_node_at(f->model, id)->inputs[i] = i == slot ? value : number;
    amp_node_set_output(f->model, id, 0, add_value(f, "y", AMP_FLOAT, -1, NULL));
    return value;
}

/* What operators say of their inputs counts for those of fitting types; others may be cast. */
static void meanings_are_of_types(void **state)
{
    static const struct {
        const char *op;
        uint32_t slot;
        enum amp_dtype dtype;
        bool is_image;
        const char *text;
    } cases[] = {
        {"Loop", 1, AMP_BOOL, false, "true"},
        {"Loop", 1, AMP_INT64, false, "random, 0 to 1"},
        {"Loop", 0, AMP_INT64, false, "random count, 1 to 4"},
        {"Loop", 0, AMP_FLOAT, false, "random"},
        {"Reshape", 1, AMP_INT64, false, "ones"},
        {"Reshape", 1, AMP_FLOAT, false, "ones"},
        {"Reshape", 1, AMP_BOOL, false, "random"},
        {"LSTM", 4, AMP_INT32, false, "random lengths, 1 to 1"},
        {"LSTM", 4, AMP_FLOAT, false, "random"},
        {"NonMaxSuppression", 1, AMP_FLOAT, false, "random scores, 0 to 1"},
        {"NonMaxSuppression", 1, AMP_INT64, false, "random, 0 to 1"},
        {"NonMaxSuppression", 0, AMP_FLOAT, true, "random boxes, 0 to 1"},
        {"NonMaxSuppression", 0, AMP_INT64, true, "random, 0 to 1"},
        {"ImageScaler", 0, AMP_FLOAT, true, "random pixels, 0 to 255"},
        {"ImageScaler", 0, AMP_FLOAT, false, "random"},
        {"ImageScaler", 0, AMP_INT32, true, "random, 0 to 1"},
        {"Gather", 1, AMP_INT32, false, "random indices, 0 to 0"},
        {"Gather", 1, AMP_INT16, false, "random, 0 to 1"},
        {"Gather", 0, AMP_INT32, false, "random, 0 to 1"},
        {"ScatterElements", 2, AMP_INT32, false, "random, 0 to 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        is_planned(&f,
                   add_operand(&f, cases[i].op, cases[i].slot, cases[i].dtype, cases[i].is_image),
                   cases[i].text);
        amp_arena_destroy(f.arena);
    }
}

/* The least dim that is known counts where any may be indexed, wherever it is. */
static void indices_of_all_dims_are_of_the_least(void **state)
{
    static const struct {
        int64_t dims[2];
        const char *text;
    } cases[] = {{{4, 30}, "random indices, 0 to 3"},
                 {{30, 4}, "random indices, 0 to 3"},
                 {{AMP_DIM_UNKNOWN, 30}, "random indices, 0 to 29"},
                 {{30, AMP_DIM_UNKNOWN}, "random indices, 0 to 29"},
                 {{0, 30}, "random indices, 0 to 0"}};
    static const int64_t one[] = {1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        uint32_t ids = add_value(&f, "ids", AMP_INT64, 1, one);
        add_node(&f, "GatherND", add_value(&f, "table", AMP_FLOAT, 2, cases[i].dims), ids,
                 add_value(&f, "y", AMP_FLOAT, -1, NULL));
        is_planned(&f, ids, cases[i].text);
        amp_arena_destroy(f.arena);
    }
    struct fixture f = create();
    uint32_t ids = add_value(&f, "ids", AMP_INT64, 1, one);
    add_node(&f, "Gather", AMP_NONE, ids, add_value(&f, "y", AMP_FLOAT, -1, NULL));
    is_planned(&f, ids, "random, 0 to 1");
    amp_arena_destroy(f.arena);
}

/* A dim that is not known is no bound: what indexes it is drawn as what indexes nothing. */
static void indices_into_an_unknown_dim_are_small(void **state)
{
    (void)state;
    struct fixture f = create();
    const int64_t table[] = {AMP_DIM_UNKNOWN, 4}, one[] = {1};
    uint32_t ids = add_value(&f, "ids", AMP_INT64, 1, one);
    uint32_t data = add_value(&f, "table", AMP_FLOAT, 2, table);
    add_node(&f, "Gather", data, ids, add_value(&f, "out", AMP_FLOAT, -1, NULL));
    is_planned(&f, ids, "random, 0 to 1");
    amp_arena_destroy(f.arena);
    for (int rank = -1; rank <= 0; rank++) {
        f = create();
        ids = add_value(&f, "ids", AMP_INT64, 1, one);
        data = add_value(&f, "table", AMP_FLOAT, rank, NULL);
        add_node(&f, "Gather", data, ids, add_value(&f, "out", AMP_FLOAT, -1, NULL));
        is_planned(&f, ids, "random, 0 to 1");
        amp_arena_destroy(f.arena);
    }
}

/* Which image a box is of: of as many as there are, where that is known. */
static void boxes_are_of_images(void **state)
{
    static const struct {
        int rank;
        int64_t n_images;
        const char *text;
    } cases[] = {{4, 3, "random indices, 0 to 2"}, {4, 1, "random indices, 0 to 0"},
                 {4, 0, "random, 0 to 1"},         {4, AMP_DIM_UNKNOWN, "random, 0 to 1"},
                 {0, 3, "random, 0 to 1"},         {-1, 3, "random, 0 to 1"}};
    static const int64_t corners[] = {7, 4}, each[] = {7};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        const int64_t dims[] = {cases[i].n_images, 1, 8, 8};
        const uint32_t inputs[] = {add_value(&f, "image", AMP_FLOAT, cases[i].rank, dims),
                                   add_value(&f, "boxes", AMP_FLOAT, 2, corners),
                                   add_value(&f, "of", AMP_INT64, 1, each)};
        uint32_t node = amp_graph_add_node(f.model, 0, "RoiAlign", 3, 1);
        memcpy(amp_node_at(f.model, node)->inputs, inputs, sizeof inputs);
        amp_node_set_output(f.model, node, 0, add_value(&f, "y", AMP_FLOAT, -1, NULL));
        is_planned(&f, inputs[2], cases[i].text);
        amp_arena_destroy(f.arena);
    }
}

static void dims_get_sizes_and_values_repeat(void **state)
{
    (void)state;
    struct fixture f = create();
    const int64_t dims[] = {amp_symbol_dim(f.model, "batch"), AMP_DIM_UNKNOWN, 3}, sizes[] = {5};
    uint32_t a = add_value(&f, "a", AMP_FLOAT, 3, dims), b = add_value(&f, "b", AMP_FLOAT, 3, dims);
    struct amp_random_input plan_a, plan_b;
    struct amp_tensor once, again, other, next;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_random_input_plan(f.model, a, sizes, &plan_a, &err), AMP_OK);
    assert_int_equal(amp_random_input_plan(f.model, b, sizes, &plan_b, &err), AMP_OK);
    assert_int_equal(plan_a.shape.dims[0], 5);
    assert_int_equal(plan_a.shape.dims[1], 1);
    assert_int_equal(amp_random_input_make(&plan_a, 0, 0, &once, &err), AMP_OK);
    assert_int_equal(amp_random_input_make(&plan_a, 0, 0, &again, &err), AMP_OK);
    assert_int_equal(amp_random_input_make(&plan_b, 0, 0, &other, &err), AMP_OK);
    assert_int_equal(amp_random_input_make(&plan_a, 0, 1, &next, &err), AMP_OK);
    assert_memory_equal(once.data, again.data, 15 * sizeof(float));
    assert_memory_not_equal(once.data, other.data, 15 * sizeof(float));
    assert_memory_not_equal(once.data, next.data, 15 * sizeof(float));
    amp_tensor_release(&once);
    amp_tensor_release(&again);
    amp_tensor_release(&other);
    amp_tensor_release(&next);
    amp_arena_destroy(f.arena);
}

static void what_has_no_random_values_is_said(void **state)
{
    (void)state;
    struct fixture f = create();
    struct amp_random_input plan;
    struct amp_error err = {.status = AMP_OK};
    uint32_t value = add_value(&f, "z", AMP_COMPLEX64, 0, NULL);
    assert_int_equal(amp_random_input_plan(f.model, value, NULL, &plan, &err), AMP_UNSUPPORTED);
    assert_string_equal(err.text,
                        "input 'z': no random values of type complex64; give it with --input");
    err = (struct amp_error){.status = AMP_OK};
    value = add_value(&f, "s", AMP_FLOAT, 0, NULL);
    amp_value_at(f.model, value)->kind = AMP_KIND_SEQUENCE;
    assert_int_equal(amp_random_input_plan(f.model, value, NULL, &plan, &err), AMP_UNSUPPORTED);
    assert_string_equal(
        err.text, "input 's': no random values of type sequence; give it with --input or --data");
    err = (struct amp_error){.status = AMP_OK};
    value = add_value(&f, "u", AMP_FLOAT, 0, NULL);
    amp_value_at(f.model, value)->kind = AMP_KIND_UNKNOWN;
    is_planned(&f, value, "random");
    value = add_value(&f, "x", AMP_FLOAT, -1, NULL);
    assert_int_equal(amp_random_input_plan(f.model, value, NULL, &plan, &err), AMP_USAGE);
    assert_string_equal(
        err.text, "input 'x' has no declared rank: give it with --input-shape, --input or --data");
    amp_arena_destroy(f.arena);
}

/* The whole numbers that a type has, and the floats; both ends count. */
static void limits_are_of_the_type(void **state)
{
    static const char whole[] = "; integers that it has are needed";
    static const struct {
        enum amp_dtype dtype;
        double low, high;
        const char *said; /* behind the type; NULL: it is taken */
    } cases[] = {
        {AMP_INT8, -128, 127, NULL},
        {AMP_INT8, -129, 0, whole},
        {AMP_INT8, 0, 128, whole},
        {AMP_INT8, 0.5, 1, whole},
        {AMP_INT8, 0, 0.5, whole},
        {AMP_INT8, 3, 3, NULL},
        {AMP_UINT8, 0, 255, NULL},
        {AMP_UINT8, -1, 255, whole},
        {AMP_UINT8, 0, 256, whole},
        {AMP_BOOL, 0, 1, NULL},
        {AMP_BOOL, 0, 2, whole},
        {AMP_INT64, -0x1p53, 0x1p53 - 1, NULL},
        {AMP_INT64, -0x1p53 - 2, 0, whole},
        {AMP_INT64, 0, 0x1p53, whole},
        {AMP_UINT64, 0, 0x1p53, whole},
        {AMP_FLOAT16, -65504, 65504, NULL},
        {AMP_FLOAT16, 0, 65505, ", whose greatest number is 65504"},
        {AMP_FLOAT16, -65505, 0, ", whose greatest number is 65504"},
        {AMP_STRING, 0, 1, "; ranges are of numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_random_input plan = {.dtype = cases[i].dtype};
        struct amp_error err = {.status = AMP_OK};
        char said[128] = "";
        double low, high;
        if (cases[i].said != NULL)
            snprintf(said, sizeof said, "the input is of type %s%s", amp_dtype_name(plan.dtype),
                     cases[i].said);
        enum amp_status status = amp_random_input_limit(&plan, cases[i].low, cases[i].high, &err);
        assert_int_equal(status, cases[i].said != NULL ? AMP_USAGE : AMP_OK);
        assert_string_equal(err.text, said);
        if (status != AMP_OK)
            continue;
        assert_int_equal(amp_random_input_range(&plan, &low, &high), plan.dtype != AMP_BOOL);
        assert_true(low == cases[i].low && high == cases[i].high);
        assert_true(amp_random_input_is_drawn(&plan));
    }
    struct amp_error err = {.status = AMP_OK};
    struct amp_random_input plan = {.dtype = AMP_INT8};
    assert_int_equal(amp_random_input_limit(&plan, 1, 0, &err), AMP_USAGE);
    assert_string_equal(err.text, "LO is greater than HI");
}

/* Images have 1, 3 or 4 channels, first or last. */
static void images_are_told_by_their_shape(void **state)
{
    static const struct {
        int rank;
        int64_t dims[6];
        bool is_image;
    } cases[] = {
        {2, {3, 3}, false},          {3, {1, 5, 5}, true},
        {3, {3, 5, 5}, true},        {3, {4, 5, 5}, true},
        {3, {2, 5, 5}, false},       {3, {5, 3, 5}, false},
        {3, {5, 5, 1}, true},        {3, {5, 5, 3}, true},
        {3, {5, 5, 4}, true},        {4, {3, 5, 5, 5}, false},
        {4, {5, 3, 5, 5}, true},     {4, {5, 5, 3, 5}, false},
        {4, {5, 5, 5, 3}, true},     {5, {5, 3, 5, 5, 5}, true},
        {5, {5, 5, 5, 5, 5}, false}, {6, {5, 3, 5, 5, 5, 3}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        uint32_t bytes = add_value(&f, "x", AMP_UINT8, cases[i].rank, cases[i].dims);
        uint32_t floats = add_value(&f, "y", AMP_FLOAT, cases[i].rank, cases[i].dims);
        is_planned(&f, bytes, cases[i].is_image ? "random pixels, 0 to 255" : "random, 0 to 255");
        uint32_t whole = add_value(&f, "z", AMP_INT32, cases[i].rank, cases[i].dims);
        f.model->pixel_range = "NominalRange_16_235";
        is_planned(&f, floats, cases[i].is_image ? "random pixels, 16 to 235" : "random");
        is_planned(&f, bytes, cases[i].is_image ? "random pixels, 0 to 255" : "random, 0 to 255");
        is_planned(&f, whole, "random, 0 to 1"); /* the metadata are of floats */
        amp_arena_destroy(f.arena);
    }
}

static void metadata_say_the_range_of_pixels(void **state)
{
    static const char *const ranges[][2] = {{"NominalRange_0_255", "random pixels, 0 to 255"},
                                            {"NominalRange_16_235", "random pixels, 16 to 235"},
                                            {"Normalized_0_1", "random pixels, 0 to 1"},
                                            {"Normalized_1_1", "random pixels, -1 to 1"},
                                            {"Normalized", "random"}};
    static const int64_t dims[] = {1, 3, 5, 5};
    (void)state;
    struct fixture f = create();
    uint32_t image = add_value(&f, "x", AMP_FLOAT, 4, dims);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        f.model->pixel_range = ranges[i][0];
        is_planned(&f, image, ranges[i][1]);
    }
    amp_arena_destroy(f.arena);
}

/* Constants of 50 to 256, or their inverses as factors, are taken off pixels, on either side. */
static void pixels_are_rescaled(void **state)
{
    static const struct {
        const char *op;
        float constant;
        bool is_second, are_pixels;
    } cases[] = {
        {"Sub", 50, true, true},        {"Sub", -256, true, true},       {"Sub", 49, true, false},
        {"Sub", 257, true, false},      {"Add", -127, true, true},       {"Add", 127, false, true},
        {"Add", 49, false, false},      {"Div", 255, true, true},        {"Div", 1, true, false},
        {"Mul", 1.f / 255, true, true}, {"Mul", 1.f / 255, false, true}, {"Mul", 255, true, false},
        {"Mul", 0.021f, true, false},   {"Max", 127, true, false},
    };
    static const int64_t dims[] = {1, 3, 5, 5};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        float number = cases[i].constant;
        struct amp_tensor tensor = {.dtype = AMP_FLOAT, .shape = {.rank = 0}, .data = &number};
        uint32_t image = add_value(&f, "x", AMP_FLOAT, 4, dims);
        uint32_t constant = amp_graph_add_initializer(f.model, 0, "c", &tensor);
        add_node(&f, cases[i].op, cases[i].is_second ? image : constant,
                 cases[i].is_second ? constant : image, add_value(&f, "y", AMP_FLOAT, 4, dims));
        is_planned(&f, image, cases[i].are_pixels ? "random pixels, 0 to 255" : "random");
        amp_arena_destroy(f.arena);
    }
}

/* Of a constant the first 64 elements are looked at, if they are floats; what rescales is the mean
   of a normalization, not what it normalizes. */
static void constants_are_looked_at_in_part(void **state)
{
    static const int64_t dims[] = {1, 3, 5, 5};
    (void)state;
    for (size_t at = 63; at <= 64; at++) {
        struct fixture f = create();
        float numbers[65] = {255};
        numbers[at] = 1000;
        struct amp_tensor tensor = {.dtype = AMP_FLOAT, .shape = {1, {65}}, .data = numbers};
        uint32_t image = add_value(&f, "x", AMP_FLOAT, 4, dims);
        uint32_t constant = amp_graph_add_initializer(f.model, 0, "c", &tensor);
        add_node(&f, "Sub", image, constant, add_value(&f, "y", AMP_FLOAT, 4, dims));
        is_planned(&f, image, at == 64 ? "random pixels, 0 to 255" : "random");
        amp_arena_destroy(f.arena);
    }
    struct fixture f = create();
    int32_t whole = 127;
    struct amp_tensor tensor = {.dtype = AMP_INT32, .shape = {.rank = 0}, .data = &whole};
    uint32_t image = add_value(&f, "x", AMP_FLOAT, 4, dims);
    uint32_t cast = add_value(&f, "cast", AMP_INT32, 4, dims);
    add_node(&f, "Cast", image, AMP_NONE, cast);
    add_node(&f, "Sub", cast, amp_graph_add_initializer(f.model, 0, "c", &tensor),
             add_value(&f, "y", AMP_INT32, 4, dims));
    is_planned(&f, image, "random");
    for (uint32_t slot = 0; slot < 2; slot++) {
        float number = 127;
        struct amp_tensor mean = {.dtype = AMP_FLOAT, .shape = {.rank = 0}, .data = &number};
        uint32_t scale = add_operand(&f, "BatchNormalization", slot, AMP_FLOAT, true);
        struct amp_node *node = amp_node_at(f.model, (uint32_t)f.model->n_nodes - 1);
        node->inputs[slot == 0 ? 3 : 0] = amp_graph_add_initializer(f.model, 0, "m", &mean);
        is_planned(&f, scale, slot == 0 ? "random pixels, 0 to 255" : "random");
    }
    amp_arena_destroy(f.arena);
}

/* Constants that are converted when they are read are not looked at. */
static void deferred_constants_rescale_nothing(void **state)
{
    static const int64_t dims[] = {1, 3, 5, 5};
    float number = 255;
    struct amp_tensor source = {.dtype = AMP_FLOAT, .shape = {.rank = 0}, .data = &number};
    struct amp_tensor tensor = {.dtype = AMP_BFLOAT16, .shape = {.rank = 0}, .source = &source};
    (void)state;
    struct fixture f = create();
    uint32_t image = add_value(&f, "x", AMP_FLOAT, 4, dims);
    uint32_t constant = amp_graph_add_initializer(f.model, 0, "c", &tensor);
    add_node(&f, "Div", image, constant, add_value(&f, "y", AMP_FLOAT, 4, dims));
    is_planned(&f, image, "random");
    amp_arena_destroy(f.arena);
}

/* Boxes are of the lesser side of their image, in its pixels times the scale; relative without. */
static void boxes_lie_in_their_image(void **state)
{
    static const struct {
        int rank;
        int64_t image[5];
        float scale;
        int64_t width;
        const char *text;
    } cases[] = {
        {4, {1, 1, 8, 6}, 0.5f, 4, "random boxes, 0 to 12"},
        {4, {1, 1, 6, 8}, 2, 5, "random boxes, 0 to 3"},
        {4, {1, 1, 6, 8}, 2, 3, "random"},
        {4, {1, 1, 6, 8}, NAN, 4, "random boxes, 0 to 6"}, /* without the attribute */
        {4, {1, 1, 1, 8}, 0.5f, 4, "random boxes, 0 to 2"},
        {4, {1, 1, 8, 1}, 0.5f, 4, "random boxes, 0 to 2"},
        {3, {1, 8, 6}, 0.5f, 4, "random boxes, 0 to 1"},
        {4, {1, 1, 6, 8}, 0, 4, "random boxes, 0 to 1"},
        {4, {1, 1, 6, 8}, -1, 4, "random boxes, 0 to 1"},
        {4, {1, 1, AMP_DIM_UNKNOWN, 8}, 1, 4, "random boxes, 0 to 1"},
        {4, {1, 1, 8, AMP_DIM_UNKNOWN}, 1, 4, "random boxes, 0 to 1"},
        {4, {1, 1, 0, 8}, 1, 4, "random boxes, 0 to 1"},
        {4, {1, 1, 8, 0}, 1, 4, "random boxes, 0 to 1"},
        {4, {1, 1, 1, 1}, 1, 4, "random boxes, 0 to 1"},
        {-1, {0}, 1, 4, "random boxes, 0 to 1"},
        {0, {0}, 1, 4, "random boxes, 0 to 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        const int64_t dims[] = {7, cases[i].width};
        uint32_t image = add_value(&f, "image", AMP_FLOAT, cases[i].rank, cases[i].image);
        uint32_t boxes = add_value(&f, "boxes", AMP_FLOAT, 2, dims);
        uint32_t node =
            add_node(&f, "RoiAlign", image, boxes, add_value(&f, "y", AMP_FLOAT, -1, NULL));
        float scale = cases[i].scale;
        if (!isnan(scale))
            amp_node_set_attr(
                f.model, node,
                (struct amp_attr){
                    .name = "spatial_scale", .type = AMP_ATTR_FLOAT, .count = 1, .floats = &scale});
        is_planned(&f, boxes, cases[i].text);
        amp_arena_destroy(f.arena);
    }
}

/* Lengths end with the sequences, along the dim that the layout says. */
static void lengths_are_of_sequences(void **state)
{
    static const struct {
        int rank;
        int64_t layout;
        const char *text;
    } cases[] = {{3, 0, "random lengths, 1 to 9"},  {3, 1, "random lengths, 1 to 2"},
                 {3, 3, "random lengths, 1 to 1"},  {3, -1, "random lengths, 1 to 1"},
                 {-1, 0, "random lengths, 1 to 1"}, {0, 0, "random lengths, 1 to 1"}};
    static const int64_t dims[] = {9, 2, 3}, batch[] = {2};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = create();
        uint32_t x = add_value(&f, "x", AMP_FLOAT, cases[i].rank, dims);
        uint32_t w = add_value(&f, "w", AMP_FLOAT, -1, NULL);
        uint32_t lengths = add_value(&f, "lengths", AMP_INT32, 1, batch);
        uint32_t node = amp_graph_add_node(f.model, 0, "LSTM", 5, 1);
        const uint32_t inputs[] = {x, w, w, AMP_NONE, lengths};
        memcpy(amp_node_at(f.model, node)->inputs, inputs, sizeof inputs);
        amp_node_set_output(f.model, node, 0, add_value(&f, "y", AMP_FLOAT, -1, NULL));
        amp_node_set_int(f.model, node, "layout", cases[i].layout);
        is_planned(&f, lengths, cases[i].text);
        amp_arena_destroy(f.arena);
    }
}

static void scores_are_shares(void **state)
{
    static const int64_t corners[] = {1, 7, 4}, classes[] = {1, 2, 7};
    (void)state;
    struct fixture f = create();
    uint32_t boxes = add_value(&f, "boxes", AMP_FLOAT, 3, corners);
    uint32_t scores = add_value(&f, "scores", AMP_FLOAT, 3, classes);
    add_node(&f, "NonMaxSuppression", boxes, scores, add_value(&f, "y", AMP_INT64, -1, NULL));
    is_planned(&f, boxes, "random boxes, 0 to 1");
    is_planned(&f, scores, "random scores, 0 to 1");
    amp_arena_destroy(f.arena);
}

/* The last four columns are corners, the lesser first; those before are 0. */
static void boxes_have_two_corners(void **state)
{
    struct amp_random_input plan = {.kind = AMP_RANDOM_BOXES,
                                    .dtype = AMP_FLOAT,
                                    .shape = {.rank = 2, .dims = {50, 6}},
                                    .low = 2,
                                    .high = 5};
    struct amp_tensor tensor;
    struct amp_error err = {.status = AMP_OK};
    double least = INFINITY, most = 0;
    (void)state;
    assert_int_equal(amp_random_input_make(&plan, 1, 0, &tensor, &err), AMP_OK);
    for (size_t i = 0; i < 50; i++) {
        const float *box = (const float *)tensor.data + 6 * i;
        assert_true(box[0] == 0 && box[1] == 0);
        for (size_t k = 2; k < 4; k++) {
            assert_true(box[k] >= 2 && box[k] < box[k + 2] && box[k + 2] <= 5);
            least = fmin(least, (double)box[k]);
            most = fmax(most, (double)box[k + 2]);
        }
    }
    assert_true(least < 2.1 && most > 4.9);
    amp_tensor_release(&tensor);
}

/* Along the last dim, from 0 again behind the highest. */
static void positions_count_up(void **state)
{
    static const int64_t expected[2][10] = {{0, 1, 2, 3, 4, 0, 1, 2, 3, 4},
                                            {0, 1, 2, 0, 1, 0, 1, 2, 0, 1}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct amp_random_input plan = {.kind = AMP_RANDOM_POSITIONS,
                                        .dtype = AMP_INT64,
                                        .shape = {.rank = 2, .dims = {2, 5}},
                                        .highest = i == 0 ? 4 : 2};
        struct amp_tensor tensor;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_random_input_make(&plan, 1, 0, &tensor, &err), AMP_OK);
        assert_memory_equal(tensor.data, expected[i], sizeof expected[i]);
        amp_tensor_release(&tensor);
        assert_false(amp_random_input_is_drawn(&plan));
    }
}

/* All elements are as the plan says, from the first to the last, those that are drawn by the
   generators with the seed and, of the sample and the input's name, a stream. */
static void elements_are_drawn_in_order(void **state)
{
    enum { COUNT = 3, SEED = 5, SAMPLE = 6 };
    (void)state;
    for (int rank = 0; rank <= 1; rank++)
        for (int kind = AMP_RANDOM_NORMAL; kind <= AMP_RANDOM_EMPTY; kind++) {
            struct amp_random_input plan = {.kind = (enum amp_random_kind)kind,
                                            .dtype = AMP_DOUBLE,
                                            .shape = {rank, {COUNT}},
                                            .low = -2,
                                            .high = 3,
                                            .lowest = 3,
                                            .highest = 9,
                                            .stream = 0xe40c292c};
            struct amp_random random = amp_random_start(SEED, UINT64_C(6) << 32 | 0xe40c292c);
            struct amp_tensor tensor;
            struct amp_error err = {.status = AMP_OK};
            if (kind == AMP_RANDOM_BOXES)
                continue;
            if (kind == AMP_RANDOM_EMPTY)
                plan.dtype = AMP_STRING;
            assert_int_equal(amp_random_input_make(&plan, SEED, SAMPLE, &tensor, &err), AMP_OK);
            for (int i = 0; i < (rank == 0 ? 1 : COUNT); i++) {
                double wanted = kind == AMP_RANDOM_POSITIONS ? i : 3;
                if (kind == AMP_RANDOM_NORMAL)
                    wanted = (double)amp_random_normal(&random);
                else if (kind == AMP_RANDOM_INTEGERS)
                    wanted = (double)amp_random_between(&random, 3, 9);
                else if (kind == AMP_RANDOM_UNIFORM)
                    wanted = 5 * ((double)(amp_random_next(&random) >> 11) / 0x1p53) - 2;
                if (kind != AMP_RANDOM_EMPTY)
                    assert_true(fabs(((double *)tensor.data)[i] - wanted) < 1e-14);
                else
                    assert_true(((struct amp_str *)tensor.data)[i].data != NULL &&
                                ((struct amp_str *)tensor.data)[i].size == 0);
            }
            amp_tensor_release(&tensor);
        }
    struct fixture f = create();
    struct amp_random_input plan;
    struct amp_error err = {.status = AMP_OK};
    const int64_t dims[] = {0, 3};
    uint32_t value = add_value(&f, "a", AMP_FLOAT, 2, dims);
    assert_int_equal(amp_random_input_plan(f.model, value, NULL, &plan, &err), AMP_OK);
    const uint32_t hash = 0xe40c292c; /* FNV-1a of "a", as published */
    assert_int_equal(plan.stream, (hash ^ hash >> 15) * 2246822519u);
    assert_int_equal(plan.shape.dims[0], 0);
    amp_arena_destroy(f.arena);
}

static void positions_are_told_by_name_and_type(void **state)
{
    static const int64_t ids[] = {2, 7}, none[] = {2, 0}, table[] = {4, 3};
    (void)state;
    struct fixture f = create();
    is_planned(&f, add_value(&f, "Position_Ids", AMP_INT64, 2, ids), "positions, 0 to 6");
    is_planned(&f, add_value(&f, "pos_id", AMP_INT32, 0, NULL), "positions, 0 to 0");
    is_planned(&f, add_value(&f, "pos_id_row", AMP_INT64, 1, ids + 1), "positions, 0 to 6");
    is_planned(&f, add_value(&f, "pos_id_none", AMP_INT64, 2, none), "positions, 0 to 0");
    is_planned(&f, add_value(&f, "position_ids16", AMP_INT16, 2, ids), "random, 0 to 1");
    is_planned(&f, add_value(&f, "position_idsf", AMP_FLOAT, 2, ids), "random");
    uint32_t few = add_value(&f, "few_position_ids", AMP_INT64, 2, ids);
    uint32_t data = add_value(&f, "table", AMP_FLOAT, 2, table);
    add_node(&f, "Gather", data, few, add_value(&f, "y", AMP_FLOAT, -1, NULL));
    is_planned(&f, few, "positions, 0 to 3");
    amp_arena_destroy(f.arena);
}

static void masks_are_told_by_name_and_type(void **state)
{
    (void)state;
    struct fixture f = create();
    is_planned(&f, add_value(&f, "x_attention_mask", AMP_FLOAT, 0, NULL), "ones");
    is_planned(&f, add_value(&f, "mask", AMP_FLOAT, 0, NULL), "random");
    is_planned(&f, add_value(&f, "input_mask", AMP_FLOAT, 0, NULL), "ones");
    is_planned(&f, add_value(&f, "src_key_padding_mask", AMP_BOOL, 0, NULL), "false");
    is_planned(&f, add_value(&f, "padding_mask8", AMP_INT64, 0, NULL), "ones");
    is_planned(&f, add_value(&f, "mask_bool", AMP_BOOL, 0, NULL), "ones");
    amp_arena_destroy(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_xoshiro),
        cmocka_unit_test(seeds_and_streams_differ),
        cmocka_unit_test(normal_numbers_are_exact_and_normal),
        cmocka_unit_test(spans_are_kept),
        cmocka_unit_test(kinds_follow_types_and_names),
        cmocka_unit_test(truth_values_are_two),
        cmocka_unit_test(integers_stay_within_what_they_index),
        cmocka_unit_test(indices_into_an_unknown_dim_are_small),
        cmocka_unit_test(indices_of_all_dims_are_of_the_least),
        cmocka_unit_test(meanings_are_of_types),
        cmocka_unit_test(other_uses_say_nothing_of_indices),
        cmocka_unit_test(the_first_meaning_counts),
        cmocka_unit_test(boxes_are_of_images),
        cmocka_unit_test(dims_get_sizes_and_values_repeat),
        cmocka_unit_test(limits_are_of_the_type),
        cmocka_unit_test(images_are_told_by_their_shape),
        cmocka_unit_test(metadata_say_the_range_of_pixels),
        cmocka_unit_test(pixels_are_rescaled),
        cmocka_unit_test(constants_are_looked_at_in_part),
        cmocka_unit_test(deferred_constants_rescale_nothing),
        cmocka_unit_test(boxes_lie_in_their_image),
        cmocka_unit_test(lengths_are_of_sequences),
        cmocka_unit_test(scores_are_shares),
        cmocka_unit_test(boxes_have_two_corners),
        cmocka_unit_test(positions_count_up),
        cmocka_unit_test(elements_are_drawn_in_order),
        cmocka_unit_test(positions_are_told_by_name_and_type),
        cmocka_unit_test(masks_are_told_by_name_and_type),
        cmocka_unit_test(what_has_no_random_values_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

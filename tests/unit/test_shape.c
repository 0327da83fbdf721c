/* Shapes of outputs, and the work that they come to. */
#include "ops/flops.h"
#include "shape_call.h"
#include "trial.h"

#include <glob.h>
#include <math.h>

#include <cmocka.h>

/* ---- shape ----------------------------------------------------------------------------------- */

/* Shape functions of the operators that move elements, where dims are symbols or not known.
   Expected shapes follow from ONNX's operator documentation by hand. */

/* Reshape of an input whose dims are a LIST by the values that follow. */
#define RESHAPE(input, ...)           \
    do {                              \
        start("Reshape", 14);         \
        next_input(AMP_FLOAT, input); \
        VALUES(__VA_ARGS__);          \
    } while (0)

static void reshape_keeps_the_symbol_that_is_copied_or_left(void **state)
{
    (void)state;
    RESHAPE(LIST(B, 4, 8), 0, -1);
    EXPECT(B, 32);
    RESHAPE(LIST(B, 4, 8), -1, 32);
    EXPECT(B, 32);
    RESHAPE(LIST(B, 4, 8), 0, 0, -1);
    EXPECT(B, 4, 8);
    RESHAPE(LIST(B, 1, 8), -1, 8);
    EXPECT(B, 8);
    RESHAPE(LIST(B, S, 8), 0, -1, 8);
    EXPECT(B, S, 8);
    RESHAPE(LIST(B, S, 8), 0, 0, 2, 4);
    EXPECT(B, S, 2, 4);
}

static void reshape_infers_what_symbols_allow(void **state)
{
    (void)state;
    RESHAPE(LIST(6, 4), 3, -1);
    EXPECT(3, 8);
    RESHAPE(LIST(B, 4), -1);
    EXPECT(Q);
    RESHAPE(LIST(B, 4), 2, -1);
    EXPECT(2, Q);
    RESHAPE(LIST(B, S, 8), -1, 8);
    EXPECT(Q, 8);
    RESHAPE(LIST(Q, 4, 8), 0, -1);
    EXPECT(Q, 32);
    RESHAPE(LIST(0, 4, 8), 0, -1);
    EXPECT(0, 32);
    RESHAPE(LIST(B, 4), 7, 2);
    EXPECT(7, 2);
}

static void reshape_knows_the_rank_from_the_length_of_its_shape(void **state)
{
    (void)state;
    start("Reshape", 14);
    TENSOR(B, 4);
    NO_VALUES(3);
    EXPECT(Q, Q, Q);
    start("Reshape", 14);
    TENSOR(B, 4);
    NO_VALUES(Q);
    EXPECT_ANY_RANK();
    start("Reshape", 14);
    ANY_RANK();
    VALUES(2, 0, -1);
    EXPECT(2, Q, Q);
    start("Reshape", 14);
    TENSOR(1, 1);
    next_input(AMP_INT64, LIST(0))->data = call.values[1];
    EXPECT_SCALAR();
}

static void reshape_takes_zero_as_zero_when_asked(void **state)
{
    (void)state;
    RESHAPE(LIST(0, 5), 3, 0);
    INT("allowzero", 1);
    EXPECT(3, 0);
    RESHAPE(LIST(0, 5), 0, -1);
    INT("allowzero", 1);
    expect_failure("shape has both 0 and -1, which allowzero forbids");
}

static void reshape_names_what_does_not_fit(void **state)
{
    (void)state;
    RESHAPE(LIST(4, 6), 5, 5);
    expect_failure("[4, 6] cannot be reshaped to [5, 5]");
    RESHAPE(LIST(4, 6), 5, -1);
    expect_failure("[4, 6] cannot be reshaped to [5, ?] (? is inferred)");
    RESHAPE(LIST(4, 6), -1, 2, -1);
    expect_failure("shape[0] and shape[2] are both -1; only one can be inferred");
    RESHAPE(LIST(4, 6), 4, 6, 0);
    expect_failure("shape[2] is 0, but the input has only 2 dims");
    RESHAPE(LIST(4, 6), -4, 6);
    expect_failure("shape[0] is -4; -1, 0 and positive values are possible");
    RESHAPE(LIST(4, 6), INT64_MAX, INT64_MAX);
    expect_failure("dimension 9223372036854775807 * 9223372036854775807 overflows");
}

static void shapes_and_axes_are_integers(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        const char *said;
    } cases[] = {
        {AMP_INT64, NULL},
        {AMP_INT32, NULL},
        {AMP_UINT8, NULL},
        {AMP_FLOAT, "input 1: dtype float32; an integer type is needed"},
        {AMP_BOOL, "input 1: dtype bool; an integer type is needed"},
        {AMP_DOUBLE, "input 1: dtype float64; an integer type is needed"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RESHAPE(LIST(6, 4), 0); /* a little-endian 0 is one in all types */
        call.in[1].dtype = cases[i].dtype;
        call.in[0].shape = (struct amp_shape){1, {6}};
        if (cases[i].said != NULL)
            expect_failure(cases[i].said);
        else
            EXPECT(6);
    }
}

static void flatten(int64_t axis)
{
    start("Flatten", 13);
    TENSOR(B, 4, 8);
    INT("axis", axis);
}

static void flatten_multiplies_on_either_side(void **state)
{
    (void)state;
    flatten(1);
    EXPECT(B, 32);
    flatten(0);
    EXPECT(1, Q);
    flatten(2);
    EXPECT(Q, 8);
    flatten(-1);
    EXPECT(Q, 8);
    flatten(3);
    EXPECT(Q, 1);
    flatten(4);
    expect_failure("axis 4; rank 3 allows -3 to 3");
}

/* Of a dim that is not known a slice is known where it takes all of it, either way round. */
static void slices_of_unknown_dims_are_known_where_they_are_whole(void **state)
{
    static const struct {
        int64_t start, end, step;
        bool is_whole;
    } cases[] = {
        {0, INT64_MAX, 1, true},
        {0, INT32_MAX, 1, true},
        {0, 10, 1, false},
        {1, INT64_MAX, 1, false},
        {-1, INT64_MAX, 1, false},
        {0, INT64_MAX, 2, false},
        {0, -1, 1, false},
        {-1, INT64_MIN, -1, true},
        {-1, INT32_MIN, -1, true},
        {-1, -10, -1, false},
        {-2, INT64_MIN, -1, false},
        {-1, INT64_MIN, -2, false},
        {0, INT32_MAX - 1, 1, false},
        {1, INT32_MAX, 1, false},
        {0, INT32_MAX, 2, false},
        {-1, INT32_MAX, 1, false},
        {-1, INT32_MIN + 1, -1, false},
        {0, INT32_MIN, -1, false},
        {-2, INT32_MIN, -1, false},
        {-1, INT32_MIN, -2, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start("Slice", 13);
        TENSOR(B, 4);
        VALUES(cases[i].start);
        VALUES(cases[i].end);
        VALUES(0);
        VALUES(cases[i].step);
        EXPECT(cases[i].is_whole ? B : Q, 4);
    }
}

static void squeeze_drops_what_is_named(void **state)
{
    (void)state;
    start("Squeeze", 13);
    TENSOR(B, 1, 8);
    VALUES(-2);
    EXPECT(B, 8);
    start("Squeeze", 1);
    TENSOR(B, 1, 8);
    INTS("axes", 0, 1);
    EXPECT(8);
    start("Squeeze", 13);
    TENSOR(3, 1, 8);
    EXPECT(3, 8);
    start("Squeeze", 13);
    TENSOR(B, 1, 8); /* B may be 1 */
    EXPECT_ANY_RANK();
    start("Squeeze", 13);
    TENSOR(B, 1, 8);
    NO_VALUES(2);
    EXPECT(Q);
    start("Squeeze", 13);
    TENSOR(3, 1, 8);
    VALUES(2);
    expect_failure("axis 2 has size 8; only 1 can be squeezed");
}

static void unsqueeze_counts_axes_in_the_output(void **state)
{
    (void)state;
    start("Unsqueeze", 13);
    TENSOR(B, 8);
    VALUES(-1, 0);
    EXPECT(1, B, 8, 1);
    start("Unsqueeze", 13);
    TENSOR(B, 8);
    NO_VALUES(1);
    EXPECT(Q, Q, Q);
    start("Unsqueeze", 13);
    TENSOR(B, 8);
    VALUES(1, -2);
    EXPECT(B, 1, 1, 8);
    start("Unsqueeze", 13);
    TENSOR(B, 8);
    VALUES(1, -3);
    expect_failure("axis 1 is listed twice");
}

static void shape_has_as_many_values_as_dims_are_told(void **state)
{
    (void)state;
    start("Shape", 15);
    TENSOR(B, S, 8);
    EXPECT(3);
    start("Shape", 15);
    TENSOR(B, S, 8);
    INT("start", -2);
    INT("end", 9);
    EXPECT(2);
    start("Shape", 15);
    TENSOR(B, S, 8);
    INT("start", 2);
    INT("end", 1);
    EXPECT(0);
    start("Shape", 15);
    ANY_RANK();
    EXPECT(Q);
    start("Size", 13);
    TENSOR(B, S, 8);
    EXPECT_SCALAR();
}

static void transpose_carries_symbols_along(void **state)
{
    (void)state;
    start("Transpose", 13);
    TENSOR(B, S, 8);
    EXPECT(8, S, B);
    start("Transpose", 13);
    TENSOR(B, S, 8);
    INTS("perm", 1, 0, 2);
    EXPECT(S, B, 8);
    start("Transpose", 13);
    ANY_RANK();
    INTS("perm", 1, 0, 2);
    EXPECT(Q, Q, Q);
    start("Transpose", 13);
    TENSOR(B, S, 8);
    INTS("perm", 0, 2, 2);
    expect_failure("perm has 2 twice");
    start("DepthToSpace", 13);
    TENSOR(B, 12, S, 5);
    INT("blocksize", 2);
    EXPECT(B, 3, Q, 10);
    start("SpaceToDepth", 13);
    TENSOR(B, 3, S, 6);
    INT("blocksize", 2);
    EXPECT(B, 12, Q, 3);
}

static void concat(int64_t axis)
{
    start("Concat", 13);
    INT("axis", axis);
}

static void concat_adds_one_dim_and_merges_the_others(void **state)
{
    (void)state;
    concat(1);
    TENSOR(B, 4);
    TENSOR(B, 6);
    EXPECT(B, 10);
    concat(-1);
    TENSOR(B, 4);
    TENSOR(B, S);
    EXPECT(B, Q);
    concat(1);
    TENSOR(Q, 4);
    TENSOR(B, 4);
    EXPECT(B, 8);
    concat(1);
    TENSOR(B, 4);
    TENSOR(5, 4);
    TENSOR(Q, 4);
    EXPECT(5, 12);
    concat(0);
    TENSOR(B, 4);
    TENSOR(0, 4);
    EXPECT(B, 4);
    concat(0);
    TENSOR(B, 4);
    TENSOR(B, 4);
    EXPECT(Q, 4);
    concat(0);
    TENSOR(3, 4);
    TENSOR(3, 5);
    expect_failure("input 1: shape [3, 5] does not go with [3, 4] along axis 0");
}

static void split_expect(const int64_t *sizes, size_t n)
{
    if (infer((uint32_t)n) != AMP_OK)
        fail_msg("%s", call.err.text);
    for (size_t i = 0; i < n; i++)
        expect_dims(&call.out[i].shape, LIST(B, sizes[i]));
}

static void split(int64_t dim)
{
    start("Split", 18);
    TENSOR(B, dim);
    INT("axis", 1);
}

static void split_gives_the_last_parts_what_is_left(void **state)
{
    (void)state;
    split(10);
    INT("num_outputs", 3);
    split_expect(LIST(4, 4, 2));
    split(5);
    INT("num_outputs", 4);
    split_expect(LIST(2, 2, 1, 0));
    split(6);
    split_expect(LIST(3, 3));
    split(S);
    INT("num_outputs", 2);
    split_expect(LIST(Q, Q));
    split(S);
    split_expect(LIST(S));
    split(S);
    VALUES(2, 3);
    split_expect(LIST(2, 3));
    split(7);
    NO_VALUES(2);
    split_expect(LIST(Q, Q));
    split(7);
    VALUES(8);
    expect_failure("the sizes in split sum up to 8; the dim is 7");
}

static void tile(int64_t first, int64_t second)
{
    start("Tile", 13);
    TENSOR(B, 4);
    VALUES(first, second);
}

static void tile_multiplies_each_dim(void **state)
{
    (void)state;
    tile(1, 3);
    EXPECT(B, 12);
    tile(2, 1);
    EXPECT(Q, 4);
    tile(0, 1);
    EXPECT(0, 4);
    tile(-1, 1);
    expect_failure("repeats[0] is -1; at least 0 is needed");
    start("Tile", 13);
    TENSOR(B, 4);
    NO_VALUES(2);
    EXPECT(Q, Q);
}

static void expand_broadcasts_both_ways(void **state)
{
    (void)state;
    start("Expand", 13);
    TENSOR(B, 1);
    VALUES(1, 5);
    EXPECT(B, 5);
    start("Expand", 13);
    TENSOR(B, 4);
    VALUES(3, 1, 1);
    EXPECT(3, B, 4);
    start("Expand", 13);
    TENSOR(B, 4);
    NO_VALUES(2);
    EXPECT(Q, 4);
    start("Expand", 13);
    TENSOR(B, 4);
    NO_VALUES(Q);
    EXPECT_ANY_RANK();
    start("Expand", 13);
    TENSOR(3, 4);
    VALUES(2, 4);
    expect_failure("shapes [3, 4] and [2, 4] do not broadcast");
}

static int64_t broadcast(int64_t a, int64_t b)
{
    struct amp_shape shape_a = {1, {a}}, shape_b = {1, {b}};
    assert_int_equal(amp_broadcast(&shape_a, &shape_b, &shape_a, NULL), AMP_OK);
    assert_int_equal(shape_a.rank, 1);
    return shape_a.dims[0];
}

static void broadcasting_knows_equal_symbols(void **state)
{
    (void)state;
    assert_int_equal(broadcast(B, B), B);
    assert_int_equal(broadcast(B, 1), B);
    assert_int_equal(broadcast(1, B), B);
    assert_int_equal(broadcast(B, S), Q);
    assert_int_equal(broadcast(B, Q), Q);
    assert_int_equal(broadcast(B, 7), 7);
    assert_int_equal(broadcast(Q, 7), 7);
    assert_int_equal(broadcast(1, 0), 0);
}

/* Slice of [B, 10] on AXIS. */
static void slice(int64_t first, int64_t end, int64_t axis, int64_t step)
{
    start("Slice", 13);
    TENSOR(B, 10);
    VALUES(first);
    VALUES(end);
    VALUES(axis);
    VALUES(step);
}

static void slice_counts_steps(void **state)
{
    (void)state;
    slice(2, 8, 1, 2);
    EXPECT(B, 3);
    slice(8, 2, -1, -3);
    EXPECT(B, 2);
    slice(-3, INT64_MAX, 1, 1);
    EXPECT(B, 3);
    slice(5, 5, 1, 1);
    EXPECT(B, 0);
    slice(INT64_MAX, INT64_MIN, 1, -1);
    EXPECT(B, 10);
    slice(INT64_MAX, INT64_MIN, 1, INT64_MIN);
    EXPECT(B, 1);
    slice(INT64_MIN, INT64_MAX, 1, INT64_MAX);
    EXPECT(B, 1);
    slice(0, 5, 1, 0);
    expect_failure("steps[0] is 0");
}

static void slice_keeps_a_symbol_that_is_taken_whole(void **state)
{
    (void)state;
    slice(0, INT64_MAX, 0, 1);
    EXPECT(B, 10);
    slice(-1, INT64_MIN, 0, -1);
    EXPECT(B, 10);
    slice(1, INT64_MAX, 0, 1);
    EXPECT(Q, 10);
    slice(0, 3, 0, 1);
    EXPECT(Q, 10);
    start("Slice", 13);
    TENSOR(B, 10);
    NO_VALUES(1);
    VALUES(3);
    VALUES(1);
    EXPECT(B, Q);
    start("Slice", 13);
    TENSOR(B, 10);
    NO_VALUES(1);
    NO_VALUES(1);
    NO_VALUES(1);
    EXPECT(Q, Q);
}

static void pad_adds_to_either_end(void **state)
{
    (void)state;
    start("Pad", 18);
    TENSOR(B, 10);
    VALUES(0, 1, 0, 2);
    EXPECT(B, 13);
    start("Pad", 18);
    TENSOR(B, 10);
    VALUES(1, 0, 0, -4);
    EXPECT(Q, 6);
    start("Pad", 18);
    TENSOR(B, 10);
    VALUES(3, 4);
    OMITTED();
    VALUES(-1);
    EXPECT(B, 17);
    start("Pad", 2);
    TENSOR(B, 10);
    INTS("pads", 0, 1, 0, 2);
    EXPECT(B, 13);
    start("Pad", 18);
    TENSOR(B, 10);
    NO_VALUES(4);
    EXPECT(Q, Q);
    start("Pad", 18);
    TENSOR(B, 10);
    VALUES(0, -6, 0, -5);
    expect_failure("axis 1 of size 10 cannot be padded by -6 and -5");
}

static void gather_puts_the_dims_of_indices_in_place_of_the_axis(void **state)
{
    (void)state;
    start("Gather", 13);
    TENSOR(30522, 768);
    NO_VALUES(Q)->shape = (struct amp_shape){2, {B, S}};
    EXPECT(B, S, 768);
    start("Gather", 13);
    TENSOR(B, S, 8);
    NO_VALUES(Q)->shape.rank = 0;
    INT("axis", 1);
    EXPECT(B, 8);
    start("GatherElements", 13);
    TENSOR(B, S, 8);
    NO_VALUES(Q)->shape = (struct amp_shape){3, {B, 2, 8}};
    INT("axis", 1);
    EXPECT(B, 2, 8);
    start("GatherND", 13);
    TENSOR(B, S, 8);
    NO_VALUES(Q)->shape = (struct amp_shape){3, {B, 5, 1}};
    INT("batch_dims", 1);
    EXPECT(B, 5, 8);
    start("GatherND", 13);
    TENSOR(B, S, 8);
    NO_VALUES(Q)->shape = (struct amp_shape){2, {5, 4}};
    expect_failure("the last dim of indices is 4; 1 to 3 are possible");
    start("ScatterND", 18);
    TENSOR(B, S, 8);
    NO_VALUES(Q)->shape = (struct amp_shape){2, {5, 2}};
    TENSOR(5, 8);
    EXPECT(B, S, 8);
}

static void range(int64_t first, int64_t limit, int64_t delta)
{
    start("Range", 11);
    VALUES(first);
    VALUES(limit);
    VALUES(delta);
}

static void range_counts_up_and_down(void **state)
{
    (void)state;
    range(3, 9, 3);
    EXPECT(2);
    range(10, 4, -2);
    EXPECT(3);
    range(3, 10, 3);
    EXPECT(3);
    range(4, 3, 1);
    EXPECT(0);
    range(INT64_MIN, INT64_MAX, INT64_MAX);
    EXPECT(3);
    range(INT64_MAX, INT64_MIN, INT64_MIN);
    EXPECT(2);
    range(0, 1, 0);
    expect_failure("delta is 0");
    range(INT64_MIN, INT64_MAX, 1);
    expect_failure("-9223372036854775808 to 9223372036854775807 by 1 has too many elements");
    start("Range", 11);
    VALUES(0);
    NO_VALUES(1);
    VALUES(1);
    EXPECT(Q);
    start("Range", 11);
    add_float(1);
    add_float(2);
    add_float(0.25f);
    EXPECT(4);
    start("Range", 11);
    add_float(1);
    add_float(2);
    add_float(-1);
    EXPECT(0);
}

static void grids_tell_the_rank_of_samples(void **state)
{
    (void)state;
    start("GridSample", 20);
    ANY_RANK();
    TENSOR(B, 3, S, 2);
    EXPECT(Q, Q, 3, S);
    start("GridSample", 20);
    TENSOR(B, 4, 5, 6);
    ANY_RANK();
    EXPECT(B, 4, Q, Q);
}

static void generators_take_dims_from_values(void **state)
{
    (void)state;
    start("ConstantOfShape", 9);
    VALUES(2, 0, 3);
    EXPECT(2, 0, 3);
    start("ConstantOfShape", 9);
    NO_VALUES(2);
    EXPECT(Q, Q);
    start("ConstantOfShape", 9);
    VALUES(2, -1);
    expect_failure("input[1] is -1; at least 0 is needed");
    start("OneHot", 11);
    TENSOR(B, S);
    VALUES(5);
    TENSOR(2);
    EXPECT(B, S, 5);
    start("OneHot", 11);
    TENSOR(B, S);
    NO_VALUES(1);
    TENSOR(2);
    INT("axis", 0);
    EXPECT(Q, B, S);
    start("EyeLike", 9);
    TENSOR(B, S);
    EXPECT(B, S);
}

static void sizes_that_depend_on_values_stay_open(void **state)
{
    (void)state;
    start("NonZero", 13);
    TENSOR(B, 4, 8);
    EXPECT(3, Q);
    start("Compress", 11);
    TENSOR(B, 4);
    NO_VALUES(4);
    INT("axis", 1);
    EXPECT(B, Q);
    start("Compress", 11);
    TENSOR(B, 4);
    NO_VALUES(4);
    EXPECT(Q);
    start("Unique", 11);
    TENSOR(B, 4);
    INT("axis", 0);
    EXPECT(Q, 4);
}

static void ranks_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    start("Unsqueeze", 13);
    TENSOR(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    VALUES(0);
    expect_failure("rank 13; at most 12 is supported");
    start("Gather", 13);
    TENSOR(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    NO_VALUES(Q)->shape = (struct amp_shape){2, {B, S}};
    expect_failure("the output would have rank 13; at most 12 is supported");
}

/* What dims alone tell is refused before anything runs. */
static void dims_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    start("Compress", 11);
    TENSOR(B, 4);
    NO_VALUES(4);
    INT("axis", 2);
    expect_failure("axis 2; rank 2 allows -2 to 1");
    start("ConvTranspose", 11);
    TENSOR(1, 2);
    TENSOR(2, 3, 1);
    expect_failure("input 0 has shape [1, 2]; rank 3 or more is needed");
    start("ConvTranspose", 11);
    TENSOR(1, 2, 3);
    TENSOR(2, INT64_C(2147483648), 1);
    expect_failure("weights for 2147483648 output channels; up to 2147483647 are supported");
    start("DeformConv", 19);
    TENSOR(1, 2, 3);
    TENSOR(4, 2, 1);
    TENSOR(1, 1, 3);
    TENSOR(3);
    expect_failure("bias has shape [3]; one value for each of 4 output channels is needed");
    start("LSTM", 14);
    TENSOR(B, 2);
    TENSOR(1, 12, 2);
    TENSOR(1, 12, 3);
    expect_failure("input 0 has rank 2; 3 is needed");
    start("MatMulInteger", 10);
    TENSOR(4, 5);
    TENSOR(5, 6);
    TENSOR(3);
    expect_failure("input 2 of shape [3] does not broadcast to a matrix of shape [4, 5]");
    start("Split", 13);
    TENSOR(B, 4);
    VALUES(INT64_MAX, 1);
    assert_int_equal(infer(2), AMP_MODEL);
    assert_string_equal(call.err.text, "dimension 9223372036854775807 + 1 overflows");
}

/* An input of three dims holds no rows: that is known before anything is read of it. */
static void linear_models_take_rows(void **state)
{
    static const char *const operators[] = {"LinearClassifier", "LinearRegressor"};
    (void)state;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        start(operators[i], 1);
        call.node.domain = "ai.onnx.ml";
        TENSOR(B, 2, 3);
        INTS("classlabels_ints", 4, 5);
        expect_failure("input 0 has rank 3; rows of features or one row are needed");
    }
}

/* ONNX knows keepdims 0 and 1; its shape inference takes all but 1 for 0. */
static void reductions_keep_dims_where_keepdims_is_1(void **state)
{
    static const char *const operators[] = {"ReduceMean", "ArgMax"};
    (void)state;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        for (int64_t keepdims = 0; keepdims < 4; keepdims++) {
            start(operators[i], 13);
            TENSOR(B, 4);
            INT("keepdims", keepdims);
            if (i == 0)
                INTS("axes", 1);
            else
                INT("axis", 1);
            if (keepdims == 1)
                EXPECT(B, 1);
            else
                EXPECT(B);
        }
}

/* Axes whose values are not known, but how many they are. */
static void reductions_by_unknown_axes_have_a_rank(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, Q, B};
    (void)state;
    start("ReduceSum", 13), TENSOR(B, 4, 5), next_input(AMP_INT64, LIST(1, 2)); /* no list */
    INT("keepdims", 0);
    EXPECT_ANY_RANK();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        start("ReduceSum", 13), TENSOR(B, 4, 5), NO_VALUES(counts[i]);
        EXPECT(Q, Q, Q);
        start("ReduceSum", 13), TENSOR(B, 4, 5), NO_VALUES(counts[i]), INT("keepdims", 0);
        if (counts[i] == 1)
            EXPECT(Q, Q);
        else if (counts[i] == 2)
            EXPECT(Q);
        else if (counts[i] == 3)
            EXPECT_SCALAR();
        else
            EXPECT_ANY_RANK();
        start("ReduceSum", 13), ANY_RANK(), NO_VALUES(counts[i]), INT("keepdims", 0);
        EXPECT_ANY_RANK();
    }
    start("ReduceSum", 13), TENSOR(B, 4, 5), ANY_RANK(), INT("keepdims", 0);
    EXPECT_ANY_RANK();
    start("ReduceSum", 13), TENSOR(B, 4, 5), VALUES(-1, 0), INT("keepdims", 0);
    EXPECT(4);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/*
 * However little is known of the inputs of a case, what is inferred of its outputs is true of what
 * it gives. Of each input a way has the dims, none of them but the rank, nothing, every other dim,
 * or all that is in it.
 */

enum known { KNOWN, RANKED, UNKNOWN, EVEN_DIMS, ODD_DIMS, CONSTANT };

static const struct {
    enum known first, others;
} ways[] = {
    {KNOWN, KNOWN},       {RANKED, RANKED},       {UNKNOWN, UNKNOWN},    {KNOWN, RANKED},
    {KNOWN, UNKNOWN},     {RANKED, KNOWN},        {UNKNOWN, KNOWN},      {RANKED, UNKNOWN},
    {UNKNOWN, RANKED},    {EVEN_DIMS, EVEN_DIMS}, {ODD_DIMS, ODD_DIMS},  {KNOWN, EVEN_DIMS},
    {EVEN_DIMS, KNOWN},   {KNOWN, ODD_DIMS},      {ODD_DIMS, KNOWN},     {KNOWN, CONSTANT},
    {RANKED, CONSTANT},   {UNKNOWN, CONSTANT},    {EVEN_DIMS, CONSTANT}, {ODD_DIMS, CONSTANT},
    {CONSTANT, CONSTANT}, {CONSTANT, KNOWN},      {CONSTANT, RANKED},    {CONSTANT, UNKNOWN}};

static bool is_hidden(enum known known, int d)
{
    return known == RANKED || (known == EVEN_DIMS && d % 2 != 0) ||
           (known == ODD_DIMS && d % 2 == 0);
}

/* Puts what TENSOR holds in the place of VALUE wherever a node takes it. */
static void make_constant(struct amp_model *model, uint32_t value, struct amp_tensor *tensor)
{
    uint32_t constant =
        amp_graph_add_initializer(model, 0, amp_model_unique_name(model, "constant"), tensor);
    for (size_t id = 0; id < model->n_nodes; id++) {
        struct amp_node *node = amp_node_at(model, (uint32_t)id);
        for (uint32_t i = 0; i < node->n_inputs; i++)
            if (node->inputs[i] == value)
                node->inputs[i] = constant;
    }
}

static void hide_input(struct amp_model *model, uint32_t input, enum known known)
{
    struct amp_shape shape;
    amp_value_shape(amp_value_at(model, input), &shape);
    if (known == UNKNOWN)
        shape.rank = -1;
    for (int d = 0; d < shape.rank; d++)
        if (is_hidden(known, d))
            shape.dims[d] = AMP_DIM_UNKNOWN;
    amp_value_set_shape(model, input, &shape);
}

/* Leaves of all shapes only what WAY has of the inputs. */
static void hide_shapes(const struct trial *trial, size_t way)
{
    struct amp_model *model = trial->file.model;
    for (size_t v = 0; v < model->n_values; v++) {
        const struct amp_value *value = amp_value_at(model, (uint32_t)v);
        if (!value->is_input && value->constant == NULL && value->initial == NULL &&
            value->kind == AMP_KIND_TENSOR)
            amp_value_set_shape(model, (uint32_t)v, &(struct amp_shape){.rank = -1});
    }
    for (size_t i = 0; i < trial->n_inputs; i++) {
        enum known known = i == 0 ? ways[way].first : ways[way].others;
        uint32_t input = model->graphs[0].inputs.items[i];
        const struct amp_value *value = amp_value_at(model, input);
        if (value->kind != AMP_KIND_TENSOR || value->initial != NULL)
            continue;
        if (known == CONSTANT)
            make_constant(model, input, &trial->inputs[i]);
        else
            hide_input(model, input, known);
    }
}

/* Whether TRIAL is one node of whose inputs WAY has all, so that its outputs have no other shape
   than one. */
static bool is_all_known(const struct trial *trial, size_t way)
{
    static const char *const find[] = {
        "NonMaxSuppression", "SplitToSequence", "Compress",    "Unique",
        "StringNormalizer",  "NonZero",         "StringSplit", "CastMap",
        "OptionalGetElement"};
    const struct amp_model *model = trial->file.model;
    bool finds = false;
    for (size_t i = 0; i < sizeof find / sizeof *find; i++)
        finds |= strcmp(amp_node_at(model, 0)->op_type, find[i]) == 0;
    for (size_t i = 0; i < trial->n_inputs; i++)
        finds |= amp_value_at(model, model->graphs[0].inputs.items[i])->kind != AMP_KIND_TENSOR;
    return model->n_nodes == 1 && ways[way].first == CONSTANT && ways[way].others == CONSTANT &&
           !finds;
}

static bool is_true_of(const struct amp_shape *inferred, const struct amp_shape *found,
                       bool is_all_known)
{
    bool is_true = (inferred->rank < 0 && !is_all_known) || inferred->rank == found->rank;
    for (int d = 0; d < inferred->rank && is_true; d++)
        is_true = (inferred->dims[d] < 0 && !is_all_known) || inferred->dims[d] == found->dims[d];
    return is_true;
}

/* Whether what is inferred of the outputs of TRIAL, which has been run, is true; says what is not.
 */
static bool is_inferred(const struct trial *trial, size_t way)
{
    const struct amp_model *model = trial->file.model;
    struct amp_error err = {.status = AMP_OK};
    struct amp_shape inferred;
    bool is_told;
    if (amp_infer(trial->file.model, &err) != AMP_OK ||
        amp_infer_check_shapes(trial->file.model, &is_told, &err) != AMP_OK) {
        print_error("%s (way %zu): %s\n", trial->path, way, err.text);
        return false;
    }
    for (size_t i = 0; i < trial->n_outputs; i++) {
        const struct amp_value *value = amp_value_at(model, model->graphs[0].outputs.items[i]);
        amp_value_shape(value, &inferred);
        if (value->kind == AMP_KIND_TENSOR &&
            !is_true_of(&inferred, &trial->outputs[i].shape, is_all_known(trial, way))) {
            char a[256], b[256];
            print_error("%s (way %zu): output %zu is %s, inferred as %s\n", trial->path, way, i,
                        amp_shape_text(&trial->outputs[i].shape, a, sizeof a),
                        amp_shape_text(&inferred, b, sizeof b));
            return false;
        }
    }
    return true;
}

/* False: something else is inferred of the case at PATH than what it gives; else it counts if it
   runs. */
static bool is_inferred_truly(const char *path, size_t *n_run)
{
    bool is_true = true, runs = true;
    for (size_t way = 0; way < sizeof ways / sizeof *ways && is_true && runs; way++) {
        struct amp_error err;
        struct trial trial = {.path = path};
        runs = trial_open(&trial) && trial_run(&trial, trial.outputs, &err) == AMP_OK;
        if (runs) {
            hide_shapes(&trial, way);
            is_true = is_inferred(&trial, way);
        }
        trial_close(&trial);
    }
    *n_run += runs;
    return is_true;
}

static void what_is_inferred_of_cases_is_true(void **state)
{
    glob_t paths;
    size_t n_run = 0;
    bool are_true = true;
    (void)state;
    assert_int_equal(glob("build/cases/ops/*/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        are_true &= is_inferred_truly(paths.gl_pathv[i], &n_run);
    globfree(&paths);
    assert_true(are_true && n_run > 1000);
}

/* ---- flops ----------------------------------------------------------------------------------- */

/* The arithmetic of nodes: numbers of multiplications with additions counted by hand, twice. */

static void output(const int64_t *dims, size_t rank)
{
    call.out[0].shape.rank = (int)rank;
    for (size_t i = 0; i < rank; i++)
        call.out[0].shape.dims[i] = dims[i];
}
#define OUTPUT(...) output(LIST(__VA_ARGS__))

static double count(double (*counter)(const struct amp_ctx *ctx))
{
    const struct amp_tensor *in[MOST];
    for (uint32_t i = 0; i < call.n_in; i++)
        in[i] = call.in[i].dtype == AMP_UNDEFINED ? NULL : &call.in[i];
    struct amp_tensor *out[] = {&call.out[0]};
    const struct amp_ctx ctx = {
        .node = &call.node, .in = in, .n_in = call.n_in, .out = out, .n_out = 1};
    return counter(&ctx);
}
#define EXPECT_FLOPS(number) assert_true(count(amp_flops) == 2.0 * (number))

/* What a node that gives float32 takes one thread. */
static void expect_seconds(double least, double most)
{
    call.out[0].dtype = AMP_FLOAT;
    double seconds = count(amp_work_seconds);
    assert_true(seconds >= least && seconds <= most);
}

static void convolutions(void **state)
{
    (void)state;
    start("Conv", 11);
    TENSOR(2, 8, 10, 10), TENSOR(16, 4, 3, 3); /* two groups */
    OUTPUT(2, 16, 5, 5);
    EXPECT_FLOPS(2 * 16 * 25 * (4 * 9));
    start("ConvTranspose", 11);
    TENSOR(2, 16, 5, 5), TENSOR(16, 4, 3, 3);
    OUTPUT(2, 8, 10, 10);
    EXPECT_FLOPS(2 * 16 * 25 * (4 * 9));
    start("QLinearConv", 10);
    TENSOR(1, 3, 8), TENSOR(), TENSOR(), TENSOR(6, 3, 2);
    OUTPUT(1, 6, 7);
    EXPECT_FLOPS(6 * 7 * (3 * 2));
}

static void products(void **state)
{
    (void)state;
    start("MatMul", 13);
    TENSOR(5, 1, 7, 3), TENSOR(2, 3, 4);
    OUTPUT(5, 2, 7, 4);
    EXPECT_FLOPS(5 * 2 * 7 * 4 * 3);
    start("MatMul", 13);
    TENSOR(3), TENSOR(3, 4);
    OUTPUT(4);
    EXPECT_FLOPS(4 * 3);
    start("Gemm", 13);
    TENSOR(3, 7), TENSOR(3, 4);
    INT("transA", 1);
    OUTPUT(7, 4);
    EXPECT_FLOPS(7 * 4 * 3);
    start("Einsum", 12);
    TENSOR(5, 7, 3), TENSOR(5, 3, 4);
    WORD("equation", "bij,bjk->bik");
    OUTPUT(5, 7, 4);
    EXPECT_FLOPS(5 * 7 * 3 * 4);
    start("Einsum", 12);
    TENSOR(5, 7), TENSOR(7, 3), TENSOR(3, 4);
    WORD("equation", "ij,jk,kl->il");
    OUTPUT(5, 4);
    EXPECT_FLOPS(2 * 5 * 7 * 3 * 4);
    start("Einsum", 12);
    TENSOR(5, 7);
    WORD("equation", "ij->i");
    OUTPUT(5);
    EXPECT_FLOPS(0);
    start("Einsum", 12);
    TENSOR(5, 7), TENSOR(7, 3);
    WORD("equation", "ij");
    EXPECT_FLOPS(0);
}

/* A letter that the output lacks; what stands behind the equation is no part of it. */
static void equations_sum_over_what_the_output_lacks(void **state)
{
    static const struct {
        const char *equation;
        uint32_t n_inputs;
        bool contracts;
    } cases[] = {{"ij,jk->ik", 2, true},
                 {"ij,kl->ijkl", 2, false},
                 {"i,i", 2, true},
                 {"i,j", 2, false},
                 {"ij,j", 2, true},
                 {"ab,ab->ab", 2, false},
                 {"ab,ab->ba", 2, false},
                 {"ij->i", 1, false},
                 {"ii", 1, false},
                 {" i , j -> i j ", 2, false},
                 {" i , j -> i ", 2, true},
                 {"ba,cd", 2, false},
                 {"...i,...j->...ij", 2, false},
                 {"...i,...i", 2, true},
                 {"a,a->", 2, true},
                 {"i,j\0j", 2, false},
                 {"A,a->aA", 2, false},
                 {"A,a->a", 2, true},
                 {"a,b,b->ab", 3, false},
                 {"a,b,c->ab", 3, true},
                 {"z,Z", 2, false}};
    const struct amp_op *op = amp_op_find("", "Einsum");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start("Einsum", 12);
        WORD("equation", cases[i].equation);
        call.node.n_inputs = cases[i].n_inputs;
        if (op->contracts(&call.node) != cases[i].contracts)
            fail_msg("%s", cases[i].equation);
    }
}

/* Within a hundredth of SECONDS. */
#define EXPECT_SECONDS(seconds) expect_seconds((seconds)*0.99, (seconds)*1.01)

/* 5e10 operations a second, four times as many on bytes, and 1e10 bytes a second, three times as
   many where they are multiplied. */
static void work(void **state)
{
    (void)state;
    start("MatMul", 13);
    TENSOR(8, 8), TENSOR(8, 8);
    OUTPUT(8, 8);
    EXPECT_SECONDS(1024 / 5e10 + 768 / 3e10);
    start("MatMul", 13);
    TENSOR(512, 512), TENSOR(512, 512);
    OUTPUT(512, 512);
    EXPECT_SECONDS(268435456 / 5e10 + 3145728 / 3e10);
    for (int i = 0; i < 3; i++) {
        enum amp_dtype dtype = i == 0 ? AMP_INT8 : i == 1 ? AMP_UINT8 : AMP_INT32;
        start(i < 2 ? "MatMulInteger" : "MatMul", i < 2 ? 10 : 13);
        next_input(dtype, LIST(512, 512)), next_input(dtype, LIST(512, 512));
        OUTPUT(512, 512);
        EXPECT_SECONDS(i < 2 ? 268435456 / 2e11 + 1572864 / 3e10
                             : 268435456 / 5e10 + 3145728 / 3e10);
    }
    start("MatMul", 13);
    TENSOR(512, 512), next_input(AMP_INT8, LIST(512, 512));
    OUTPUT(512, 512);
    EXPECT_SECONDS(268435456 / 5e10 + 2359296 / 3e10);
    static const char *const others[] = {"Relu", "Transpose", "Softmax"};
    for (int i = 0; i < 3; i++) {
        start(others[i], 14);
        TENSOR(1000, 1000);
        OUTPUT(1000, 1000);
        EXPECT_SECONDS(8e6 / 1e10);
    }
    start("Random", 14); /* there is none */
    TENSOR(1000, 1000);
    OUTPUT(1000, 1000);
    expect_seconds(1e9, HUGE_VAL);
    start("CumSum", 14); /* one after the other */
    TENSOR(1000, 1000);
    OUTPUT(1000, 1000);
    expect_seconds(1e9, HUGE_VAL);
    start("If", 13); /* what its branches do is theirs */
    TENSOR(1);
    OUTPUT(1000, 1000);
    expect_seconds(1e9, HUGE_VAL);
    start("NonMaxSuppression", 11); /* its boxes do not tell */
    TENSOR(1, 4, 4), TENSOR(1, 1, 4);
    OUTPUT(1, 3);
    expect_seconds(1e9, HUGE_VAL);
    start("Relu", 14);
    TENSOR(1000, 1000);
    call.out[0].shape.rank = -1;
    expect_seconds(1e9, HUGE_VAL);
    start("Conv", 11); /* of bytes that are not there */
    TENSOR(1, 8, 100), TENSOR(8, 8, 1), OMITTED();
    OUTPUT(1, 8, 100);
    EXPECT_SECONDS(12800 / 5e10 + 6656 / 3e10);
    start("Relu", 14);
    OMITTED();
    OUTPUT(1000, 1000);
    EXPECT_SECONDS(4e6 / 1e10);
    start("Relu", 14); /* nobody asks for its output */
    TENSOR(1000, 1000);
    call.out[0].shape.rank = -1;
    assert_true(fabs(count(amp_work_seconds) - 4e6 / 1e10) < 1e-9);
    static const char *const drawn[] = {"RandomNormalLike", "RandomUniformLike", "Bernoulli",
                                        "Multinomial"};
    for (int i = 0; i < 4; i++) {
        start(drawn[i], 15);
        TENSOR(1000, 1000);
        OUTPUT(1000, 1000);
        expect_seconds(1e9, HUGE_VAL);
    }
    static const char *const products[] = {"Einsum", "DeformConv", "ConvInteger", "QLinearMatMul"};
    for (int i = 0; i < 4; i++) { /* with and without a primitive */
        start(products[i], 19);
        TENSOR(1, 8, 10), TENSOR(8, 8, 1), TENSOR(), TENSOR();
        WORD("equation", "abc,bde->adec");
        OUTPUT(1, 8, 10);
        expect_seconds(1e-9, 1e-5);
    }
}

/* A rank that the operator cannot have. */
static void missing_dims_count_nothing(void **state)
{
    (void)state;
    start("Gemm", 13);
    TENSOR(3), TENSOR(3, 4);
    INT("transA", 1);
    OUTPUT(7, 4);
    EXPECT_FLOPS(0);
    start("Gemm", 13);
    TENSOR(3, 7), TENSOR(3, 4);
    INT("transA", 1);
    OUTPUT(1);
    EXPECT_FLOPS(3);
    start("Attention", 23);
    TENSOR(2, 6, 8), TENSOR(2), TENSOR(2, 9, 8);
    call.in[1].shape.dims[1] = 9; /* behind the last */
    OUTPUT(2, 6, 8);
    EXPECT_FLOPS(0);
    start("Nothing", 1);
    TENSOR(2, 6);
    EXPECT_FLOPS(0);
}

static void attention(void **state)
{
    (void)state;
    start("Attention", 23);
    TENSOR(2, 4, 6, 8), TENSOR(2, 4, 9, 8), TENSOR(2, 4, 9, 8);
    OUTPUT(2, 4, 6, 8);
    EXPECT_FLOPS(2 * 4 * 6 * 9 * 8 + 2 * 4 * 6 * 9 * 8);
    start("Attention", 23);
    TENSOR(2, 6, 32), TENSOR(2, 9, 32), TENSOR(2, 9, 32), OMITTED(), TENSOR(2, 4, 5, 8);
    OUTPUT(2, 6, 32);
    EXPECT_FLOPS(2 * (2 * 4 * 6 * (9 + 5) * 8));
}

static void recurrent_layers(void **state)
{
    (void)state;
    start("LSTM", 14);
    TENSOR(10, 2, 5), TENSOR(2, 12, 5), TENSOR(2, 12, 3);
    OUTPUT(10, 2, 2, 3);
    EXPECT_FLOPS(10 * 2 * 2 * (4 * 3 * 5 + 4 * 3 * 3));
}

static void others_count_nothing(void **state)
{
    (void)state;
    start("Add", 14);
    TENSOR(10, 2), TENSOR(10, 2);
    OUTPUT(10, 2);
    EXPECT_FLOPS(0);
}

#define INTEGERS(...) next_input(AMP_INT64, LIST(__VA_ARGS__))

/* Known dims and symbols stay where nothing changes them; what follows of unknown ones is unknown.
 */
static void padding_keeps_what_it_does_not_touch(void **state)
{
    (void)state;
    start("Pad", 13), TENSOR(B, 4), VALUES(0, 0, 0, 2);
    EXPECT(B, 6);
    start("Pad", 13), TENSOR(B, 4), VALUES(1, 0, 0, 0);
    EXPECT(Q, 4);
    start("Pad", 13), TENSOR(B, 4), VALUES(0, 0, 1, 0);
    EXPECT(Q, 4);
    start("Pad", 13), TENSOR(B, 4), VALUES(1, -3, -1, 1);
    EXPECT(Q, 2);
    start("Pad", 13), TENSOR(B, 4), NO_VALUES(4);
    EXPECT(Q, Q);
    start("Pad", 18), TENSOR(B, 4, S), VALUES(1, 2), OMITTED(), VALUES(-2);
    EXPECT(B, 7, S);
    start("Pad", 18), TENSOR(B, 4, S), VALUES(1, 2), OMITTED(), NO_VALUES(1);
    EXPECT(Q, Q, Q);
    start("Pad", 13), ANY_RANK(), VALUES(0, 0, 0, 2);
    EXPECT_ANY_RANK();
    start("CenterCropPad", 18), TENSOR(B, 3), VALUES(2, 5);
    EXPECT(2, 5);
    start("CenterCropPad", 18), TENSOR(B, 3), VALUES(4), INTS("axes", 1);
    EXPECT(B, 4);
    start("CenterCropPad", 18), TENSOR(B, 3), NO_VALUES(1), INTS("axes", -1);
    EXPECT(Q, Q);
}

static void parts_have_what_is_known_of_the_whole(void **state)
{
    (void)state;
    start("Split", 13), TENSOR(B, 6), INT("axis", 1);
    assert_int_equal(infer(2), AMP_OK);
    expect_dims(&call.out[0].shape, LIST(B, 3));
    expect_dims(&call.out[1].shape, LIST(B, 3));
    start("Split", 13), TENSOR(Q, 6);
    assert_int_equal(infer(2), AMP_OK);
    expect_dims(&call.out[0].shape, LIST(Q, 6));
    start("Split", 13), TENSOR(B, 6), VALUES(1, 5), INT("axis", -1);
    assert_int_equal(infer(2), AMP_OK);
    expect_dims(&call.out[0].shape, LIST(B, 1));
    expect_dims(&call.out[1].shape, LIST(B, 5));
    start("Split", 18), TENSOR(7), INT("num_outputs", 3);
    assert_int_equal(infer(3), AMP_OK);
    expect_dims(&call.out[0].shape, LIST(3));
    expect_dims(&call.out[2].shape, LIST(1));
    start("Concat", 13), TENSOR(B, 3), TENSOR(S, 3), INT("axis", 0);
    EXPECT(Q, 3);
    start("Concat", 13), TENSOR(2, Q), TENSOR(3, 4), INT("axis", 0);
    EXPECT(5, 4);
    start("Concat", 13), TENSOR(2, B), TENSOR(3, Q), INT("axis", 0);
    EXPECT(5, B);
    start("Concat", 13), TENSOR(B, 3), TENSOR(0, 3), INT("axis", 0);
    EXPECT(B, 3);
    start("Concat", 13), TENSOR(B, 3), INT("axis", 0);
    EXPECT(B, 3);
    start("Tile", 13), TENSOR(B, 3), VALUES(1, 2);
    EXPECT(B, 6);
    start("Tile", 13), TENSOR(B, 3), VALUES(2, 1);
    EXPECT(Q, 3);
    start("Tile", 13), TENSOR(B, 3), VALUES(0, 1);
    EXPECT(0, 3);
    start("Tile", 13), TENSOR(B, 3), NO_VALUES(2);
    EXPECT(Q, Q);
}

static void picked_elements_have_the_dims_of_their_indices(void **state)
{
    (void)state;
    start("Gather", 13), TENSOR(B, 4), INTEGERS(S);
    EXPECT(S, 4);
    start("Gather", 13), TENSOR(B, 4), INTEGERS(S, 2), INT("axis", -1);
    EXPECT(B, S, 2);
    start("Gather", 13), TENSOR(B, 4), next_input(AMP_INT64, NULL, 0);
    EXPECT(4);
    start("Gather", 13), ANY_RANK(), INTEGERS(2);
    EXPECT_ANY_RANK();
    start("GatherElements", 13), TENSOR(B, 4), INTEGERS(S, Q), INT("axis", 1);
    EXPECT(S, Q);
    start("GatherND", 13), TENSOR(B, 3, 4), INTEGERS(S, 2);
    EXPECT(S, 4);
    start("GatherND", 13), TENSOR(2, 3, 4), INTEGERS(2, 5, 1), INT("batch_dims", 1);
    EXPECT(2, 5, 4);
    start("GatherND", 13), TENSOR(2, 3), INTEGERS(2);
    EXPECT_SCALAR();
    start("GatherND", 13), TENSOR(B, 3, 4), INTEGERS(S, Q);
    EXPECT_ANY_RANK();
    start("ScatterND", 18), TENSOR(B, 3), INTEGERS(S, 1), TENSOR(S, 3);
    EXPECT(B, 3);
    start("OneHot", 11), INTEGERS(B), VALUES(5), TENSOR(2);
    EXPECT(B, 5);
    start("OneHot", 11), INTEGERS(B, 3), VALUES(5), TENSOR(2), INT("axis", 0);
    EXPECT(5, B, 3);
    start("OneHot", 11), INTEGERS(B, 3), VALUES(5), TENSOR(2), INT("axis", -2);
    EXPECT(B, 5, 3);
    start("OneHot", 11), INTEGERS(B), NO_VALUES(1), TENSOR(2);
    EXPECT(B, Q);
    start("Compress", 11), TENSOR(3, B), next_input(AMP_BOOL, LIST(3)), INT("axis", 0);
    EXPECT(Q, B);
    start("Compress", 11), TENSOR(3, B), next_input(AMP_BOOL, LIST(3));
    EXPECT(Q);
    start("Unique", 11), TENSOR(B, 3), INT("axis", 1);
    EXPECT(B, Q);
    start("Unique", 11), TENSOR(B, 3);
    EXPECT(Q);
    start("NonZero", 13), TENSOR(B, 3);
    EXPECT(2, Q);
    start("NonZero", 13), ANY_RANK();
    EXPECT(Q, Q);
}

static void other_forms_have_what_is_known_of_the_elements(void **state)
{
    (void)state;
    start("Flatten", 13), TENSOR(B, 3, 4);
    EXPECT(B, 12);
    start("Flatten", 13), TENSOR(B, 3, 4), INT("axis", 2);
    EXPECT(Q, 4);
    start("Flatten", 13), TENSOR(B, 3, 4), INT("axis", 0);
    EXPECT(1, Q);
    start("Flatten", 13), TENSOR(2, 3, 4), INT("axis", 3);
    EXPECT(24, 1);
    start("Flatten", 13), TENSOR(2, 3, 4), INT("axis", -1);
    EXPECT(6, 4);
    start("Flatten", 13), ANY_RANK();
    EXPECT(Q, Q);
    start("DepthToSpace", 13), TENSOR(B, 8, S, 3), INT("blocksize", 2);
    EXPECT(B, 2, Q, 6);
    start("DepthToSpace", 13), TENSOR(B, Q, 5, 3), INT("blocksize", 2);
    EXPECT(B, Q, 10, 6);
    start("SpaceToDepth", 13), TENSOR(B, 2, S, 6), INT("blocksize", 2);
    EXPECT(B, 8, Q, 3);
    start("SpaceToDepth", 13), TENSOR(B, Q, 4, 6), INT("blocksize", 2);
    EXPECT(B, Q, 2, 3);
    start("Squeeze", 13), TENSOR(Q, 3), VALUES(0);
    EXPECT(3);
    start("Squeeze", 13), TENSOR(Q, 1, 3);
    EXPECT_ANY_RANK();
    start("Squeeze", 13), TENSOR(1, 3, 1);
    EXPECT(3);
    start("Squeeze", 13), TENSOR(B, 3, 1), VALUES(-1);
    EXPECT(B, 3);
    start("Unsqueeze", 13), TENSOR(B), VALUES(0, -1);
    EXPECT(1, B, 1);
    start("Shape", 15), TENSOR(2, Q, 4);
    EXPECT(3);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", 1);
    EXPECT(2);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", -1);
    EXPECT(1);
    start("Shape", 15), TENSOR(2, Q, 4), INT("end", -1);
    EXPECT(2);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", 1), INT("end", 2);
    EXPECT(1);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", 2), INT("end", 1);
    EXPECT(0);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", -9), INT("end", 9);
    EXPECT(3);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", 9);
    EXPECT(0);
    start("Shape", 15), TENSOR(2, Q, 4), INT("start", 1), INT("end", -9);
    EXPECT(0);
    start("EyeLike", 9), TENSOR(B, 3);
    EXPECT(B, 3);
    start("Transpose", 13), next_input(AMP_FLOAT, NULL, 0);
    EXPECT_SCALAR();
    start("Transpose", 13), ANY_RANK();
    EXPECT_ANY_RANK();
    start("Transpose", 13), ANY_RANK(), INTS("perm", 1, 0);
    EXPECT(Q, Q);
    start("Reshape", 13), next_input(AMP_FLOAT, NULL, 0), VALUES(1, 1);
    EXPECT(1, 1);
    start("Reshape", 13), next_input(AMP_FLOAT, NULL, 0), VALUES(-1);
    EXPECT(1);
    start("Size", 13), ANY_RANK();
    EXPECT_SCALAR();
}

/* Before opset 7 the second operand lies at an axis of the first, whose shape is the result's. */
static void old_operands_lie_at_an_axis(void **state)
{
    (void)state;
    start("Add", 6), TENSOR(2, 3, 4), TENSOR(3), INT("broadcast", 1), INT("axis", 1);
    EXPECT(2, 3, 4);
    start("Add", 6), TENSOR(B, 3, S), TENSOR(3), INT("broadcast", 1), INT("axis", 1);
    EXPECT(B, 3, S);
    start("Add", 6), ANY_RANK(), TENSOR(3), INT("broadcast", 1), INT("axis", 1);
    EXPECT_ANY_RANK();
    start("Add", 6), TENSOR(2, 3), ANY_RANK(), INT("broadcast", 1), INT("axis", 1);
    EXPECT(2, 3);
    start("Add", 6), TENSOR(2, 3, 4), TENSOR(4), INT("broadcast", 1);
    EXPECT(2, 3, 4);
    start("Add", 6), TENSOR(1, 3), TENSOR(2, 3), INT("broadcast", 1);
    expect_failure("shape [2, 3] does not broadcast to [1, 3]");
    start("Add", 7), TENSOR(1, 3), TENSOR(2, 3);
    EXPECT(2, 3);
}

/* An operand of any rank, each in turn. */
static void ranks_may_be_unknown(void **state)
{
    (void)state;
    start("Gather", 13), TENSOR(B, 4), ANY_RANK();
    EXPECT_ANY_RANK();
    start("GatherElements", 13), ANY_RANK(), INTEGERS(S, 2);
    EXPECT(S, 2);
    start("GatherElements", 13), TENSOR(B, 4), ANY_RANK();
    EXPECT_ANY_RANK();
    start("GatherND", 13), ANY_RANK(), INTEGERS(S, 2);
    EXPECT_ANY_RANK();
    start("GatherND", 13), TENSOR(B, 4), ANY_RANK();
    EXPECT_ANY_RANK();
    start("ScatterND", 18), ANY_RANK(), INTEGERS(S, 1), TENSOR(S, 3);
    EXPECT_ANY_RANK();
    start("ScatterND", 18), TENSOR(B, 3), ANY_RANK(), TENSOR(S, 3);
    EXPECT(B, 3);
    start("ScatterND", 18), TENSOR(B, 3), INTEGERS(S, 1), ANY_RANK();
    EXPECT(B, 3);
    start("ScatterElements", 18), ANY_RANK(), INTEGERS(S, 1), TENSOR(S, 1);
    EXPECT_ANY_RANK();
    start("ScatterElements", 18), TENSOR(B, 3), ANY_RANK(), TENSOR(S, 1);
    EXPECT(B, 3);
    start("ScatterElements", 18), TENSOR(B, 3), INTEGERS(S, 1), ANY_RANK();
    EXPECT(B, 3);
    start("TensorScatter", 24), ANY_RANK(), TENSOR(2, 1, 4);
    EXPECT_ANY_RANK();
    start("TensorScatter", 24), TENSOR(2, 3, 4), ANY_RANK();
    EXPECT(2, 3, 4);
    start("ReverseSequence", 10), ANY_RANK(), INTEGERS(3);
    EXPECT_ANY_RANK();
    start("ReverseSequence", 10), TENSOR(B, 3), ANY_RANK();
    EXPECT(B, 3);
    start("OneHot", 11), ANY_RANK(), VALUES(5), TENSOR(2);
    EXPECT_ANY_RANK();
    start("Compress", 11), ANY_RANK(), next_input(AMP_BOOL, LIST(3)), INT("axis", 0);
    EXPECT_ANY_RANK();
    start("Compress", 11), ANY_RANK(), next_input(AMP_BOOL, LIST(3));
    EXPECT(Q);
    start("Unique", 11), ANY_RANK(), INT("axis", 0);
    EXPECT_ANY_RANK();
    start("Concat", 13), ANY_RANK(), TENSOR(S, 3), INT("axis", 0);
    EXPECT_ANY_RANK();
    start("Split", 13), ANY_RANK();
    EXPECT_ANY_RANK();
    start("Tile", 13), ANY_RANK(), VALUES(1, 2);
    EXPECT_ANY_RANK();
    start("Expand", 13), ANY_RANK(), VALUES(1, 2);
    EXPECT_ANY_RANK();
    start("Slice", 13), ANY_RANK(), VALUES(0), VALUES(1);
    EXPECT_ANY_RANK();
    start("Squeeze", 13), ANY_RANK(), VALUES(0);
    EXPECT_ANY_RANK();
    start("Unsqueeze", 13), ANY_RANK(), VALUES(0);
    EXPECT_ANY_RANK();
    start("STFT", 17), ANY_RANK(), VALUES(2), TENSOR(4);
    EXPECT(Q, Q, Q, 2);
    start("STFT", 17), TENSOR(B, 8, 1), VALUES(2), ANY_RANK();
    EXPECT(B, Q, Q, 2);
    start("STFT", 17), TENSOR(B, 8, 1), VALUES(2), ANY_RANK(), VALUES(4);
    EXPECT(B, 3, 3, 2);
    start("STFT", 17), TENSOR(B, 8, 1), VALUES(2), TENSOR(Q);
    EXPECT(B, Q, Q, 2);
    start("STFT", 17), TENSOR(B, 8, 1), NO_VALUES(1), TENSOR(4);
    EXPECT(B, Q, 3, 2);
    start("STFT", 17), TENSOR(B, S, 1), VALUES(2), TENSOR(4);
    EXPECT(B, Q, 3, 2);
    start("DFT", 20), ANY_RANK();
    EXPECT_ANY_RANK();
    start("DFT", 20), TENSOR(B, 8, 1), NO_VALUES(1);
    EXPECT(B, Q, 2);
    start("DFT", 20), TENSOR(B, 8, S, 1), OMITTED(), NO_VALUES(1);
    EXPECT(Q, Q, Q, 2);
    start("DepthToSpace", 13), TENSOR(B, S, 4, 5), INT("blocksize", 1);
    EXPECT(B, S, 4, 5);
    start("SpaceToDepth", 13), TENSOR(B, 3, S, 4), INT("blocksize", 1);
    EXPECT(B, 3, S, 4);
    start("SpaceToDepth", 13), TENSOR(B, 3, S, 4), INT("blocksize", 2);
    EXPECT(B, 12, Q, 2);
    start("Split", 13), TENSOR(B, 3), NO_VALUES(1);
    EXPECT(B, 3);
    start("SwiGLU", 28), ANY_RANK(), TENSOR(B, 4);
    EXPECT(B, 4);
    start("SwiGLU", 28), TENSOR(B, 4), ANY_RANK();
    EXPECT(B, 4);
    start("Slice", 13), TENSOR(6, 4), VALUES(1), VALUES(3), VALUES(0), NO_VALUES(1);
    EXPECT(Q, 4);
    start("Slice", 13), TENSOR(6, 4), VALUES(1), NO_VALUES(1), VALUES(0);
    EXPECT(Q, 4);
    start("Slice", 13), TENSOR(6, 4), NO_VALUES(1), VALUES(3), VALUES(0);
    EXPECT(Q, 4);
    start("Reshape", 14), TENSOR(6, 4), VALUES(-1, 8), INT("allowzero", 1);
    EXPECT(3, 8);
    start("Split", 13), TENSOR(6, 4), next_input(AMP_INT64, LIST(Q));
    EXPECT(6, 4);
    start("StringSplit", 20), next_input(AMP_STRING, LIST(0))->shape.rank = 0;
    EXPECT(Q);
    start("StringSplit", 20), next_input(AMP_STRING, LIST(B, 2));
    EXPECT(B, 2, Q);
    start("StringSplit", 20), next_input(AMP_STRING, LIST(0))->shape.rank = -1;
    EXPECT_ANY_RANK();
    start("Reshape", 13), TENSOR(S, 3), VALUES(-1, 2);
    EXPECT(Q, 2);
    start("Reshape", 13), ANY_RANK(), VALUES(-1, 2);
    EXPECT(Q, 2);
    start("Reshape", 13), ANY_RANK(), VALUES(2, -1);
    EXPECT(2, Q);
    start("Reshape", 13), TENSOR(4, 3), VALUES(-1, 5);
    expect_failure("[4, 3] cannot be reshaped to [?, 5] (? is inferred)");
    start("DepthToSpace", 13), ANY_RANK(), INT("blocksize", 2);
    EXPECT(Q, Q, Q, Q);
    start("SpaceToDepth", 13), ANY_RANK(), INT("blocksize", 2);
    EXPECT(Q, Q, Q, Q);
    start("Shape", 15), ANY_RANK();
    EXPECT(Q);
    start("CenterCropPad", 18), ANY_RANK(), VALUES(1, 2);
    EXPECT_ANY_RANK();
    start("EyeLike", 9), ANY_RANK();
    EXPECT(Q, Q);
    start("Trilu", 14), ANY_RANK();
    EXPECT_ANY_RANK();
    start("Where", 16), ANY_RANK(), TENSOR(2), TENSOR(2);
    EXPECT_ANY_RANK();
    start("Where", 16), next_input(AMP_BOOL, LIST(2)), TENSOR(2), ANY_RANK();
    EXPECT_ANY_RANK();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape_keeps_the_symbol_that_is_copied_or_left),
        cmocka_unit_test(reshape_infers_what_symbols_allow),
        cmocka_unit_test(reshape_knows_the_rank_from_the_length_of_its_shape),
        cmocka_unit_test(reshape_takes_zero_as_zero_when_asked),
        cmocka_unit_test(reshape_names_what_does_not_fit),
        cmocka_unit_test(shapes_and_axes_are_integers),
        cmocka_unit_test(flatten_multiplies_on_either_side),
        cmocka_unit_test(slices_of_unknown_dims_are_known_where_they_are_whole),
        cmocka_unit_test(squeeze_drops_what_is_named),
        cmocka_unit_test(unsqueeze_counts_axes_in_the_output),
        cmocka_unit_test(shape_has_as_many_values_as_dims_are_told),
        cmocka_unit_test(transpose_carries_symbols_along),
        cmocka_unit_test(concat_adds_one_dim_and_merges_the_others),
        cmocka_unit_test(split_gives_the_last_parts_what_is_left),
        cmocka_unit_test(tile_multiplies_each_dim),
        cmocka_unit_test(padding_keeps_what_it_does_not_touch),
        cmocka_unit_test(parts_have_what_is_known_of_the_whole),
        cmocka_unit_test(picked_elements_have_the_dims_of_their_indices),
        cmocka_unit_test(other_forms_have_what_is_known_of_the_elements),
        cmocka_unit_test(old_operands_lie_at_an_axis),
        cmocka_unit_test(ranks_may_be_unknown),
        cmocka_unit_test(expand_broadcasts_both_ways),
        cmocka_unit_test(broadcasting_knows_equal_symbols),
        cmocka_unit_test(slice_counts_steps),
        cmocka_unit_test(slice_keeps_a_symbol_that_is_taken_whole),
        cmocka_unit_test(pad_adds_to_either_end),
        cmocka_unit_test(gather_puts_the_dims_of_indices_in_place_of_the_axis),
        cmocka_unit_test(range_counts_up_and_down),
        cmocka_unit_test(grids_tell_the_rank_of_samples),
        cmocka_unit_test(generators_take_dims_from_values),
        cmocka_unit_test(sizes_that_depend_on_values_stay_open),
        cmocka_unit_test(ranks_beyond_the_limit_are_refused),
        cmocka_unit_test(dims_that_do_not_fit_are_refused),
        cmocka_unit_test(linear_models_take_rows),
        cmocka_unit_test(reductions_keep_dims_where_keepdims_is_1),
        cmocka_unit_test(reductions_by_unknown_axes_have_a_rank),
        cmocka_unit_test(equations_sum_over_what_the_output_lacks),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(products),
        cmocka_unit_test(work),
        cmocka_unit_test(missing_dims_count_nothing),
        cmocka_unit_test(attention),
        cmocka_unit_test(recurrent_layers),
        cmocka_unit_test(others_count_nothing),
        cmocka_unit_test(what_is_inferred_of_cases_is_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

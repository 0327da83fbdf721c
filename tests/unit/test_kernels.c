/* Kernels on hand-made nodes, and what runs in oneDNN. */
#include "net.h"
#include "one_node.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/profile.h"
#include "ops/kernel/kernel.h"

#include <dnnl.h>
#include <math.h>

#include <cmocka.h>

/* ---- kernels --------------------------------------------------------------------------------- */

/* Kernels where there is next to nothing to compute, where data are no numbers, and where what was
   constant changes. Expected values follow from ONNX's definitions by hand; Hardmax takes the first
   NaN for the largest as NumPy's argmax does. */

static const enum amp_dtype floats[] = {AMP_FLOAT, AMP_DOUBLE};

/* A model of one operator on one input, which has SHAPE. */
static uint32_t start_one(const char *op_type, int opset, enum amp_dtype dtype,
                          struct amp_shape shape)
{
    net_start(opset);
    uint32_t y = NODE(op_type, "y", input("x", dtype, shape));
    output(y);
    return y;
}

/* Runs it on values, which are float32 or float64. */
static void run_one(enum amp_dtype dtype, struct amp_shape shape, const double *values)
{
    float narrow[64];
    for (int64_t i = 0; i < amp_shape_count(&shape); i++)
        narrow[i] = (float)values[i];
    run_on(net_tensor(dtype, shape, dtype == AMP_FLOAT ? (const void *)narrow : values));
}

#define RUN(dtype, shape, ...) run_one(dtype, shape, (const double[]){__VA_ARGS__})

/* ---- pooling ---- */

static void averages_of_nothing_but_padding_are_zero(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_one("AveragePool", 19, floats[i], DIMS(1, 1, 2));
        SET_INTS(y, "kernel_shape", 1);
        SET_INTS(y, "pads", 1, 1);
        RUN(floats[i], DIMS(1, 1, 2), 3, 5);
        EXPECT_OUTPUT(0, 0, 0, 3, 5, 0);
    }
}

/* The second window has two elements and one that only ceil_mode adds. */
static void what_ceil_mode_adds_is_not_counted_as_padding(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_one("AveragePool", 19, floats[i], DIMS(1, 1, 4));
        SET_INTS(y, "kernel_shape", 3);
        SET_INTS(y, "strides", 2);
        set_int(y, "ceil_mode", 1);
        set_int(y, "count_include_pad", 1);
        RUN(floats[i], DIMS(1, 1, 4), 1, 2, 3, 5);
        EXPECT_OUTPUT(0, 1e-6, 2, 4);
    }
}

/* ---- rows ---- */

static void rows_far_below_zero_have_a_softmax(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        start_one("Softmax", 13, floats[i], DIMS(1, 4));
        RUN(floats[i], DIMS(1, 4), -1000, -1000, -1000, -1000);
        EXPECT_OUTPUT(0, 1e-7, 0.25, 0.25, 0.25, 0.25);
        start_one("LogSoftmax", 13, floats[i], DIMS(1, 2));
        RUN(floats[i], DIMS(1, 2), -1000, -1000);
        EXPECT_OUTPUT(0, 1e-5, -log(2), -log(2));
    }
}

static void hardmax_takes_the_first_nan_for_the_largest(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        start_one("Hardmax", 13, floats[i], DIMS(1, 5));
        RUN(floats[i], DIMS(1, 5), 1, NAN, 2, NAN, 3);
        EXPECT_OUTPUT(0, 0, 0, 1, 0, 0, 0);
        RUN(floats[i], DIMS(1, 5), 1, 3, 2, 3, -INFINITY);
        EXPECT_OUTPUT(0, 0, 0, 1, 0, 0, 0);
    }
}

/* The index counts, not the value; of NaNs the first, or the last if that is asked for. */
static void nan_is_the_greatest_and_the_least(void **state)
{
    static const char *const ops[] = {"ArgMax", "ArgMin"};
    (void)state;
    for (int op = 0; op < 2; op++)
        for (int i = 0; i < 2; i++)
            for (int is_last = 0; is_last < 2; is_last++) {
                uint32_t y = start_one(ops[op], 13, floats[i], DIMS(5));
                set_int(y, "select_last_index", is_last);
                RUN(floats[i], DIMS(5), 1, NAN, 3, NAN, 0);
                EXPECT_OUTPUT(0, 0, is_last ? 3 : 1);
                RUN(floats[i], DIMS(5), 2, 7, 2, 7, 5);
                EXPECT_OUTPUT(0, 0, op == 0 ? (is_last ? 3 : 1) : (is_last ? 2 : 0));
            }
}

/* ---- reductions over axes that are not the last ---- */

/* What reductions make of the elements of an output, by definition. */
static double largest(double acc, double x)
{
    return isnan(acc) || acc > x ? acc : x;
}
static double smallest(double acc, double x)
{
    return isnan(acc) || acc < x ? acc : x;
}
static double sum(double acc, double x)
{
    return acc + x;
}
static double sum_of_sizes(double acc, double x)
{
    return acc + fabs(x);
}
static double sum_of_powers(double acc, double x)
{
    return acc + exp(x);
}

static const struct column_op {
    const char *op_type;
    double first;
    double (*step)(double acc, double x);
    bool is_mean, is_log;
} column_ops[] = {{"ReduceMax", -INFINITY, largest, false, false},
                  {"ReduceMin", INFINITY, smallest, false, false},
                  {"ReduceMean", 0, sum, true, false},
                  {"ReduceL1", 0, sum_of_sizes, false, false},
                  {"ReduceLogSumExp", 0, sum_of_powers, false, true}};

/* Dims 0 and 2 of these are reduced: few columns and many, rows by fours and not, more than a page
   of each, so many elements that threads share the rows of a column. */
static const int64_t column_dims[][4] = {{1, 2, 37, 1300}, {3, 2, 6, 3},     {2, 1, 9, 64},
                                         {1, 1, 80001, 2}, {1, 1, 701, 257}, {1, 3, 4, 1},
                                         {5, 1, 700, 240}, {2, 2, 0, 7},     {1, 700, 5, 2}};

static double reduced_column(const struct column_op *op, const struct amp_tensor *x, int64_t row,
                             int64_t column)
{
    const int64_t *dims = x->shape.dims;
    double acc = op->first;
    for (int64_t i = 0; i < dims[0]; i++)
        for (int64_t k = 0; k < dims[2]; k++)
            acc = op->step(
                acc, amp_tensor_double(
                         x, (size_t)(((i * dims[1] + row) * dims[2] + k) * dims[3] + column)));
    if (op->is_mean)
        acc /= (double)(dims[0] * dims[2]);
    return op->is_log ? log(acc) : acc;
}

/* X as it is reduced, rounded to its dtype, is output 0. */
static void expect_columns(const struct column_op *op, const struct amp_tensor *x)
{
    const int64_t *dims = x->shape.dims;
    double unit = x->dtype == AMP_BFLOAT16 ? 0x1p-7 : x->dtype == AMP_FLOAT16 ? 0x1p-10 : 1e-6;
    struct amp_tensor *rounded = net_tensor(x->dtype, DIMS(1), (const double[]){0});
    for (int64_t i = 0; i < dims[1] * dims[3]; i++) {
        amp_tensor_set_double(rounded, 0, reduced_column(op, x, i / dims[3], i % dims[3]));
        double expected = amp_tensor_double(rounded, 0),
               found = amp_tensor_double(&net.outputs[0], (size_t)i);
        if (found == expected || (isnan(found) && isnan(expected)))
            continue;
        if (!(fabs(found - expected) <= unit * fabs(expected)))
            fail_msg("%s of %s: column %d is %g, expected %g", op->op_type,
                     amp_dtype_name(x->dtype), (int)i, found, expected);
    }
}

/* Small numbers, which all dtypes hold; a NaN in the last column of its row, infinities in others.
 */
static void fill_columns(const struct amp_tensor *x)
{
    size_t count = amp_tensor_count(x), width = (size_t)x->shape.dims[3];
    for (size_t i = 0; i < count; i++)
        amp_tensor_set_double(x, i, (double)((int64_t)(i * 7919 % 17) - 8) / 4);
    if (count > 0 && width > 2) {
        amp_tensor_set_double(x, count / width / 2 * width + width - 1, NAN);
        amp_tensor_set_double(x, count - width, INFINITY);
        amp_tensor_set_double(x, 1, -INFINITY);
    }
}

static void columns_are_reduced_whole(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_FLOAT16, AMP_BFLOAT16};
    (void)state;
    for (size_t op = 0; op < sizeof column_ops / sizeof *column_ops; op++)
        for (size_t i = 0; i < sizeof column_dims / sizeof *column_dims; i++)
            for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
                const int64_t *d = column_dims[i];
                struct amp_shape shape = DIMS(d[0], d[1], d[2], d[3]);
                struct amp_tensor x = {.dtype = dtypes[k], .shape = shape};
                uint32_t y = start_one(column_ops[op].op_type, 13, dtypes[k], shape);
                SET_INTS(y, "axes", 0, 2);
                x.data = amp_arena_alloc(net.arena, amp_tensor_size(&x) + 1);
                fill_columns(&x);
                run_on(&x);
                expect_columns(&column_ops[op], &x);
            }
}

/* ---- reductions of integers ---- */

enum { WHOLE_ROWS = 3, WHOLE_WIDTH = 4 };

/* What is reduced to nothing: the neutral element, in the bits of the type. */
static int64_t reduced_to(const char *op_type, enum amp_dtype dtype)
{
    unsigned bits = amp_dtype_bits(dtype);
    bool is_signed = amp_dtype_class(dtype) == AMP_CLASS_INT;
    if (strcmp(op_type, "ReduceProd") == 0)
        return 1;
    if (strcmp(op_type, "ReduceMin") == 0)
        return dtype == AMP_BOOL ? 1
               : is_signed       ? INT64_MAX >> (64 - bits)
                                 : (int64_t)(UINT64_MAX >> (64 - bits));
    return strcmp(op_type, "ReduceMax") == 0 && is_signed ? INT64_MIN >> (64 - bits) : 0;
}

static int64_t reduce_one(const char *op_type, int64_t acc, int64_t x)
{
    if (strcmp(op_type, "ReduceMax") == 0)
        return x > acc ? x : acc;
    if (strcmp(op_type, "ReduceMin") == 0)
        return x < acc ? x : acc;
    if (strcmp(op_type, "ReduceProd") == 0)
        return acc * x;
    if (strcmp(op_type, "ReduceL1") == 0)
        return acc + (x < 0 ? -x : x);
    return acc + (strcmp(op_type, "ReduceSumSquare") == 0 ? x * x : x);
}

/* WIDTH elements are reduced, in ROWS, or without the rows' axis in columns; 0: none. */
static void check_whole(const char *op_type, enum amp_dtype dtype, int axis, int64_t width)
{
    struct amp_shape shape = axis == 1 ? DIMS(WHOLE_ROWS, width) : DIMS(width, WHOLE_ROWS);
    bool is_signed = amp_dtype_class(dtype) == AMP_CLASS_INT;
    bool is_extreme = strcmp(op_type, "ReduceMax") == 0 || strcmp(op_type, "ReduceMin") == 0;
    size_t size = amp_dtype_bits(dtype) / 8;
    int64_t room[WHOLE_ROWS * WHOLE_WIDTH] = {0};
    int64_t values[WHOLE_ROWS * WHOLE_WIDTH];
    net_start(20);
    uint32_t x = input("x", dtype, shape), y = NODE(op_type, "y", x, NUMBERS("axes", axis));
    output(y);
    for (int i = 0; i < WHOLE_ROWS * (int)width; i++) {
        values[i] = dtype == AMP_BOOL ? i / 3 % 2 : (i * 5 + 3) % 7 - (is_signed ? 4 : 0);
        memcpy((char *)room + (size_t)i * size, &values[i], size); /* the low bytes */
    }
    run_on(net_tensor(dtype, shape, room));
    assert_int_equal(amp_tensor_count(&net.outputs[0]), WHOLE_ROWS);
    for (int r = 0; r < WHOLE_ROWS; r++) {
        int64_t expected = reduced_to(op_type, dtype);
        for (int k = 0; k < width; k++) {
            int64_t value = values[axis == 1 ? r * (int)width + k : k * WHOLE_ROWS + r];
            expected = is_extreme && k == 0 ? value : reduce_one(op_type, expected, value);
        }
        if (strcmp(op_type, "ReduceMean") == 0 && width > 0)
            expected /= width; /* cut, as NumPy's mean when it becomes an integer */
        int64_t found = 0;
        memcpy(&found, (const char *)net.outputs[0].data + (size_t)r * size, size);
        if (memcmp(&found, &expected, size) != 0)
            fail_msg("%s of %s: %lld; %lld is right", op_type, amp_dtype_name(dtype),
                     (long long)found, (long long)expected);
    }
}

/* Unsigned numbers have no sign to lose. */
static void large_numbers_keep_their_size(void **state)
{
    static const uint64_t x[] = {(UINT64_C(1) << 63) + 5, 7};
    static const char *const ops[] = {"ReduceL1", "ReduceSum", "ReduceMax"};
    static const uint64_t found[] = {(UINT64_C(1) << 63) + 12, (UINT64_C(1) << 63) + 12,
                                     (UINT64_C(1) << 63) + 5};
    (void)state;
    for (int i = 0; i < 3; i++) {
        net_start(18);
        output(NODE(ops[i], "y", input("x", AMP_UINT64, DIMS(2)), NUMBERS("axes", 0)));
        run_on(net_tensor(AMP_UINT64, DIMS(2), x));
        assert_memory_equal(net.outputs[0].data, &found[i], sizeof found[i]);
    }
}

/* Logarithms of sums of integers are those of the numbers, cut. */
static void logarithms_of_integers_are_cut(void **state)
{
    static const int32_t x[] = {1, 2, 3, 4, 4, 14};
    (void)state;
    for (int64_t axis = 0; axis < 2; axis++) {
        net_start(18);
        output(NODE("ReduceLogSum", "y", input("x", AMP_INT32, DIMS(3, 2)), NUMBERS("axes", axis)));
        run_on(net_tensor(AMP_INT32, DIMS(3, 2), x));
        const int32_t *found = net.outputs[0].data;
        for (int i = 0; i < (axis == 0 ? 2 : 3); i++) {
            int sum_of = axis == 0 ? x[i] + x[2 + i] + x[4 + i] : x[2 * i] + x[2 * i + 1];
            assert_int_equal(found[i], (int)log(sum_of));
        }
    }
}

static void integers_are_reduced_exactly(void **state)
{
    static const char *const ops[] = {"ReduceMax",       "ReduceMin", "ReduceSum", "ReduceProd",
                                      "ReduceSumSquare", "ReduceL1",  "ReduceMean"};
    static const enum amp_dtype dtypes[] = {AMP_INT32, AMP_INT64, AMP_UINT32, AMP_UINT64,
                                            AMP_INT8,  AMP_UINT8, AMP_BOOL};
    (void)state;
    for (int op = 0; op < 7; op++)
        for (int i = 0; i < (op < 2 ? 7 : 4); i++)
            for (int axis = 0; axis < 2; axis++)
                for (int64_t width = 0; width <= WHOLE_WIDTH; width++)
                    check_whole(ops[op], dtypes[i], axis, width);
}

/* What each is of a single element. */
static void reductions_of_one_element_are_more_than_copies(void **state)
{
    const struct {
        const char *op_type;
        double of[3]; /* of -2, 0.5 and 4 */
    } ops[] = {{"ReduceL1", {2, 0.5, 4}},         {"ReduceL2", {2, 0.5, 4}},
               {"ReduceSum", {-2, 0.5, 4}},       {"ReduceSumSquare", {4, 0.25, 16}},
               {"ReduceMax", {-2, 0.5, 4}},       {"ReduceMin", {-2, 0.5, 4}},
               {"ReduceMean", {-2, 0.5, 4}},      {"ReduceProd", {-2, 0.5, 4}},
               {"ReduceLogSumExp", {-2, 0.5, 4}}, {"ReduceLogSum", {NAN, log(0.5), log(4)}}};
    (void)state;
    for (int i = 0; i < 2; i++)
        for (size_t op = 0; op < sizeof ops / sizeof *ops; op++) {
            net_start(18);
            output(
                NODE(ops[op].op_type, "y", input("x", floats[i], DIMS(3, 1)), NUMBERS("axes", 1)));
            RUN(floats[i], DIMS(3, 1), -2, 0.5, 4);
            expect_doubles(0, ops[op].of, 3, 1e-6);
        }
}

/* Of equal values the first, or the last if that is asked for, along either axis. */
static void ties_are_decided_along_each_axis(void **state)
{
    static const float x[] = {2, 1, 3, 2, 0, 3, 1, 1, 3, 2, 0, 1};
    static const double found[2][2][2][4] = {
        {{{0, 0, 0}, {2, 2, 2, 0}}, {{3, 2, 2}, {2, 2, 2, 0}}},
        {{{2, 1, 3}, {1, 1, 0, 1}}, {{2, 3, 3}, {1, 1, 1, 1}}}};
    (void)state;
    for (int op = 0; op < 2; op++)
        for (int is_last = 0; is_last < 2; is_last++)
            for (int axis = 0; axis < 2; axis++) {
                uint32_t y = start_one(op == 0 ? "ArgMax" : "ArgMin", 13, AMP_FLOAT, DIMS(4, 3));
                set_int(y, "select_last_index", is_last);
                set_int(y, "axis", axis);
                run_on(net_tensor(AMP_FLOAT, DIMS(4, 3), x));
                expect_doubles(0, found[op][is_last][axis], axis == 0 ? 3 : 4, 0);
            }
}

/* x / (1 + sum of squares) over three channels, of which the first and the last have but two. */
static void response_normalization_ends_with_the_channels(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_one("LRN", 13, floats[i], DIMS(2, 4, 1));
        set_int(y, "size", 3);
        set_number(y, "alpha", 3);
        set_number(y, "beta", 1);
        set_number(y, "bias", 1);
        RUN(floats[i], DIMS(2, 4, 1), 1, 2, 3, 4, 5, 6, 7, 8);
        EXPECT_OUTPUT(0, 1e-6, 1. / 6, 2. / 15, 3. / 30, 4. / 26, 5. / 62, 6. / 111, 7. / 150,
                      8. / 114);
    }
}

/* Half of the elements go unless a ratio is given; the others are doubled. */
static void dropout_drops_a_half(void **state)
{
    enum { COUNT = 4000 };
    static const bool yes = true;
    static float x[COUNT];
    size_t kept = 0;
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 3;
    net_start(13);
    uint32_t in = input("x", AMP_FLOAT, DIMS(COUNT));
    uint32_t y = NODE("Dropout", "y", in, AMP_NONE, constant("t", AMP_BOOL, SCALAR, &yes));
    set_int(y, "seed", 1);
    output(y);
    run_on(net_tensor(AMP_FLOAT, DIMS(COUNT), x));
    for (size_t i = 0; i < COUNT; i++) {
        double value = amp_tensor_double(&net.outputs[0], i);
        assert_true(value == 0 || value == 6);
        kept += value == 6;
    }
    assert_in_range(kept, COUNT / 2 - 200, COUNT / 2 + 200);
}

/* The first versions train unless they are told that this is a test; the ones after them never. */
static void old_dropouts_train_unless_it_is_a_test(void **state)
{
    static const struct {
        int opset, is_test; /* below 0: not said */
        bool drops;
    } cases[] = {{1, -1, true}, {1, 0, true},   {1, 1, false},   {6, -1, true},  {6, 0, true},
                 {6, 1, false}, {7, -1, false}, {10, -1, false}, {13, -1, false}};
    enum { COUNT = 64 };
    float x[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int dropped = 0;
        net_start(cases[i].opset);
        uint32_t y = NODE("Dropout", "y", input("x", AMP_FLOAT, DIMS(COUNT)));
        if (cases[i].is_test >= 0)
            set_int(y, "is_test", cases[i].is_test);
        output(y);
        run_on(net_tensor(AMP_FLOAT, DIMS(COUNT), x));
        for (size_t k = 0; k < COUNT; k++) {
            double value = amp_tensor_double(&net.outputs[0], k);
            assert_true(cases[i].drops ? value == 0 || value == 6 : value == 3);
            dropped += value == 0;
        }
        assert_true(cases[i].drops == (dropped > 0));
    }
}

/* Newer ones train where their last input says so. */
static void dropouts_train_when_they_are_told_to(void **state)
{
    static const float x[4] = {3, -1, 2, 5}, most = 0.99f;
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool trains = i % 2, flag = trains;
        net_start(i < 2 ? 12 : 13);
        output(NODE("Dropout", "y", input("x", AMP_FLOAT, DIMS(4)),
                    constant("ratio", AMP_FLOAT, SCALAR, &most),
                    constant("trains", AMP_BOOL, SCALAR, &flag)));
        run_on(net_tensor(AMP_FLOAT, DIMS(4), x));
        bool is_kept = memcmp(net.outputs[0].data, x, sizeof x) == 0;
        assert_true(is_kept == !trains);
    }
}

/* ---- elements ---- */

/* Exponents that have a kernel of their own, and ones beside them. */
static void powers_are_those_of_pow(void **state)
{
    static const float exponents[] = {0, 0.5f, 1, 2, 3, 4, -1, -0.5f, -2, 1.5f};
    static const double x[] = {0.25, 1, 2, 9};
    (void)state;
    for (int i = 0; i < 2; i++)
        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
            double expected[4];
            for (int k = 0; k < 4; k++)
                expected[k] = pow(x[k], (double)exponents[e]);
            net_start(15);
            uint32_t in = input("x", floats[i], DIMS(4));
            output(NODE("Pow", "y", in, constant("e", AMP_FLOAT, SCALAR, &exponents[e])));
            run_one(floats[i], DIMS(4), x);
            expect_doubles(0, expected, 4, 1e-3);
        }
}

/* A root of an integer is no power by a whole number. */
static void integers_have_roots(void **state)
{
    static const int32_t x[] = {4, 9};
    static const float half = 0.5f;
    (void)state;
    net_start(15);
    output(
        NODE("Pow", "y", input("x", AMP_INT32, DIMS(2)), constant("e", AMP_FLOAT, SCALAR, &half)));
    run_on(net_tensor(AMP_INT32, DIMS(2), x));
    assert_int_equal(((const int32_t *)net.outputs[0].data)[0], 2);
    assert_int_equal(((const int32_t *)net.outputs[0].data)[1], 3);
}

/* The model of an Imputer that puts 5 for REPLACED. */
static void start_imputer(enum amp_dtype dtype, float replaced)
{
    static const float five = 5;
    net_start(17);
    amp_model_import(net.model, "ai.onnx.ml", 1);
    uint32_t y = NODE("Imputer", "y", input("x", dtype, DIMS(1, 3)));
    struct amp_node *node = amp_node_at(net.model, node_of(y));
    node->domain = "ai.onnx.ml";
    node->schema = amp_schema_find("ai.onnx.ml", "Imputer", 1);
    node->since_version = 1;
    set_number(y, "replaced_value_float", replaced);
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){
            .name = "imputed_value_floats", .type = AMP_ATTR_FLOATS, .count = 1, .floats = &five});
    output(y);
}

static void imputers_replace_one_value(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        start_imputer(floats[i], 0);
        RUN(floats[i], DIMS(1, 3), NAN, 0, 1);
        EXPECT_OUTPUT(0, 0, NAN, 5, 1);
        start_imputer(floats[i], NAN);
        RUN(floats[i], DIMS(1, 3), NAN, 0, 1);
        EXPECT_OUTPUT(0, 0, 5, 0, 1);
    }
}

/* Hann's window of 4 samples is 0, 1/2, 1, 1/2; whole numbers are cut. */
static void windows_come_in_any_type(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64, AMP_UINT8};
    static const int64_t four = 4;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        double half = i < 2 ? 0.5 : 0;
        net_start(17);
        uint32_t y = NODE("HannWindow", "y", constant("n", AMP_INT64, SCALAR, &four));
        set_int(y, "output_datatype", dtypes[i]);
        output(y);
        run_on(NULL);
        EXPECT_OUTPUT(0, 1e-6, 0, half, 1, half);
    }
}

/* ---- transforms ---- */

enum { LINES = 2, COLUMNS = 3, MOST_BINS = 150 };

/* A transform along the middle of [LINES, dim, COLUMNS, parts]; N: its length, 0: not given. */
struct dft_case {
    int64_t dim, parts, n;
    bool is_inverse, is_half;
};

/* Small numbers without an order, some of them below 0. */
static double signal_at(int64_t i)
{
    return (double)((i * i + 7 * i + 3) % 13 - 6);
}

/* Part PART of element J of the signal, which the transform has cut or continued with 0; of half a
   spectrum the other half is the mirror of it. */
static double dft_input(const struct dft_case *test, int64_t n, const int64_t at[2], int64_t j,
                        int64_t part)
{
    bool is_mirror = test->is_half && test->is_inverse;
    if (is_mirror && part == 1 && (j == 0 || 2 * j == n))
        return 0;
    if (is_mirror && 2 * j > n)
        return (part == 1 ? -1 : 1) * dft_input(test, n, at, n - j, part);
    if (j >= test->dim || part >= test->parts)
        return 0;
    return signal_at(((at[0] * test->dim + j) * COLUMNS + at[1]) * test->parts + part);
}

/* Part PART of element K of the transform by its definition. */
static double dft_output(const struct dft_case *test, int64_t n, const int64_t at[2], int64_t k,
                         int64_t part)
{
    double sum = 0, sign = test->is_inverse ? 1 : -1;
    for (int64_t j = 0; j < n; j++) {
        double angle = sign * 2 * acos(-1) * (double)(j * k % n) / (double)n;
        double re = dft_input(test, n, at, j, 0), im = dft_input(test, n, at, j, 1);
        sum += part == 0 ? re * cos(angle) - im * sin(angle) : re * sin(angle) + im * cos(angle);
    }
    return test->is_inverse ? sum / (double)n : sum;
}

static void check_dft(const struct dft_case *test, int opset)
{
    static double x[LINES * MOST_BINS * COLUMNS * 2], expected[LINES * MOST_BINS * COLUMNS * 2];
    static const int64_t one_axis = 1;
    struct amp_shape shape = DIMS(LINES, test->dim, COLUMNS, test->parts);
    bool is_mirror = test->is_half && test->is_inverse;
    int64_t whole = is_mirror ? (test->dim > 1 ? 2 * test->dim - 2 : 1) : test->dim;
    int64_t n = test->n > 0 ? test->n : whole;
    int64_t bins = test->is_half && !test->is_inverse ? n / 2 + 1 : n;
    size_t count = 0;
    net_start(opset);
    uint32_t from = input("x", AMP_DOUBLE, shape), length = AMP_NONE, y;
    if (test->n > 0)
        length = constant("n", AMP_INT64, SCALAR, &test->n);
    if (opset < 20)
        y = NODE("DFT", "y", from, length);
    else
        y = NODE("DFT", "y", from, length, constant("axis", AMP_INT64, SCALAR, &one_axis));
    set_int(y, "inverse", test->is_inverse);
    set_int(y, "onesided", test->is_half);
    output(y);
    for (int64_t i = 0; i < amp_shape_count(&shape); i++)
        x[i] = signal_at(i);
    run_on(net_tensor(AMP_DOUBLE, shape, x));
    for (int64_t line = 0; line < LINES; line++)
        for (int64_t k = 0; k < bins; k++)
            for (int64_t column = 0; column < COLUMNS; column++)
                for (int64_t part = 0; part < (is_mirror ? 1 : 2); part++)
                    expected[count++] = dft_output(test, n, (int64_t[]){line, column}, k, part);
    expect_doubles(0, expected, count, 1e-9);
}

static void transforms_are_those_of_the_definition(void **state)
{
    (void)state;
    for (int ways = 0; ways < 8; ways++) {
        bool is_inverse = ways & 1, is_half = ways & 2;
        int64_t parts = ways & 4 ? 2 : 1;
        if (is_half && parts == (is_inverse ? 1 : 2))
            continue;
        for (int64_t dim = 1; dim < 7; dim++)
            for (int64_t n = 0; n < 8; n++)
                check_dft(&(struct dft_case){dim, parts, n, is_inverse, is_half},
                          (dim + n) % 2 == 0 ? 17 : 20);
        check_dft(&(struct dft_case){MOST_BINS / 2, parts, 0, is_inverse, is_half}, 20);
    }
}

/* A signal [LINES, SAMPLES, parts] in frames of LENGTH, which begin STEP apart. */
enum { SAMPLES = 11, FRAME = 5 };

static void check_stft(int64_t parts, int64_t step, bool is_half, bool has_window)
{
    static const float weights[FRAME] = {0.5f, 1, 2, -1, 0.25f};
    static const int64_t length = FRAME;
    float x[LINES * SAMPLES * 2];
    double expected[LINES * SAMPLES * FRAME * 2];
    struct amp_shape shape = DIMS(LINES, SAMPLES, parts);
    int64_t frames = (SAMPLES - FRAME) / step + 1, bins = is_half ? FRAME / 2 + 1 : FRAME;
    size_t count = 0;
    net_start(17);
    uint32_t y =
        NODE("STFT", "y", input("x", AMP_FLOAT, shape), constant("step", AMP_INT64, SCALAR, &step),
             has_window ? constant("w", AMP_FLOAT, DIMS(FRAME), weights) : AMP_NONE,
             has_window ? AMP_NONE : constant("n", AMP_INT64, SCALAR, &length));
    set_int(y, "onesided", is_half);
    output(y);
    for (int64_t i = 0; i < amp_shape_count(&shape); i++)
        x[i] = (float)signal_at(i);
    run_on(net_tensor(AMP_FLOAT, shape, x));
    for (int64_t line = 0; line < LINES; line++)
        for (int64_t frame = 0; frame < frames; frame++)
            for (int64_t k = 0; k < bins; k++) {
                double re = 0, im = 0;
                for (int64_t j = 0; j < FRAME; j++) {
                    const float *at = x + (line * SAMPLES + frame * step + j) * parts;
                    double angle = -2 * acos(-1) * (double)(j * k) / FRAME;
                    double weight = has_window ? (double)weights[j] : 1;
                    double a = weight * (double)at[0], b = parts > 1 ? weight * (double)at[1] : 0;
                    re += a * cos(angle) - b * sin(angle);
                    im += a * sin(angle) + b * cos(angle);
                }
                expected[count++] = re;
                expected[count++] = im;
            }
    assert_int_equal(net.outputs[0].shape.dims[1], frames);
    assert_int_equal(net.outputs[0].shape.dims[2], bins);
    expect_doubles(0, expected, count, 1e-5);
}

static void frames_are_transformed_one_by_one(void **state)
{
    (void)state;
    for (int64_t step = 1; step < 8; step++)
        for (int has_window = 0; has_window < 2; has_window++) {
            check_stft(1, step, true, has_window);
            check_stft(1, step, false, has_window);
            check_stft(2, step, false, has_window);
        }
}

/* The only sample of a symmetric window is its first. */
static void windows_may_have_one_sample(void **state)
{
    static const struct {
        const char *op_type;
        double first;
    } windows[] = {{"HannWindow", 0}, {"HammingWindow", 4.0 / 46}, {"BlackmanWindow", 0}};
    static const int64_t one_sample = 1;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int is_periodic = 0; is_periodic < 2; is_periodic++) {
            net_start(17);
            uint32_t y =
                NODE(windows[i].op_type, "y", constant("n", AMP_INT64, SCALAR, &one_sample));
            set_int(y, "periodic", is_periodic);
            output(y);
            run_on(NULL);
            EXPECT_OUTPUT(0, 1e-7, windows[i].first);
        }
}

/* Triangles from the edge of one band over the next to the one after it, which stand at whole bins,
   as ONNX's reference evaluator makes them; whole numbers are cut. */
static void check_mel(int64_t bands, int64_t length, double lower, enum amp_dtype dtype)
{
    enum { RATE = 8000, MOST = 40 };
    static double expected[MOST * MOST];
    const int64_t numbers[] = {bands, length, RATE};
    const float ends[] = {(float)lower, RATE / 2};
    double low = 2595 * log10(1 + lower / 700), high = 2595 * log10(1 + RATE / 2 / 700.0);
    memset(expected, 0, sizeof expected);
    for (int64_t band = 0; band < bands; band++) {
        int64_t at[3];
        for (int i = 0; i < 3; i++) {
            double mel = low + (double)(band + i) * (high - low) / (double)(bands + 2);
            at[i] = (int64_t)((double)(length + 1) * 700 * (pow(10, mel / 2595) - 1) / RATE);
        }
        for (int64_t bin = at[0]; bin < at[1]; bin++)
            expected[bin * bands + band] = (double)(bin - at[0]) / (double)(at[1] - at[0]);
        for (int64_t bin = at[1]; bin < at[2]; bin++)
            expected[bin * bands + band] = (double)(at[2] - bin) / (double)(at[2] - at[1]);
        expected[at[1] * bands + band] = 1;
    }
    for (size_t i = 0; i < MOST * MOST && dtype == AMP_INT32; i++)
        expected[i] = trunc(expected[i]);
    net_start(17);
    uint32_t y = NODE("MelWeightMatrix", "y", constant("bands", AMP_INT64, SCALAR, &numbers[0]),
                      constant("length", AMP_INT64, SCALAR, &numbers[1]),
                      constant("rate", AMP_INT64, SCALAR, &numbers[2]),
                      constant("lower", AMP_FLOAT, SCALAR, &ends[0]),
                      constant("upper", AMP_FLOAT, SCALAR, &ends[1]));
    set_int(y, "output_datatype", dtype);
    output(y);
    run_on(NULL);
    expect_doubles(0, expected, (size_t)((length / 2 + 1) * bands), 1e-6);
}

static void bands_are_triangles_of_bins(void **state)
{
    (void)state;
    for (int64_t bands = 1; bands < 30; bands += 4)
        for (int64_t length = 16; length < 70; length += 17) {
            check_mel(bands, length, 0, AMP_DOUBLE);
            check_mel(bands, length, 333, AMP_FLOAT);
            check_mel(bands, length, 0, AMP_INT32);
        }
}

/* ---- sampling ---- */

/* What is beyond a border has its value: the element itself, not a mean of equal elements, which
   rounds. */
static void points_beyond_a_border_have_its_value(void **state)
{
    const double image[] = {0.7, 1.3}, points[] = {1.02, 0, 1.3, 0, 1.9, 0, 9, 0, -1.02, 0};
    (void)state;
    net_start(20);
    uint32_t y = NODE("GridSample", "y", input("x", AMP_DOUBLE, DIMS(1, 1, 1, 2)),
                      input("grid", AMP_DOUBLE, DIMS(1, 1, 5, 2)));
    set_word(y, "padding_mode", "border");
    set_int(y, "align_corners", 1);
    output(y);
    run_on(TENSORS(*net_tensor(AMP_DOUBLE, DIMS(1, 1, 1, 2), image),
                   *net_tensor(AMP_DOUBLE, DIMS(1, 1, 5, 2), points)));
    EXPECT_OUTPUT(0, 0, 1.3, 1.3, 1.3, 1.3, 0.7);
}

/* ---- quantization ---- */

/* Blocks of 3, 3 and 1, each with a scale of its own. */
static void the_last_block_may_be_partial(void **state)
{
    static const float x[14] = {2, 4, 6, 2, 4, 6, 2, 2, 4, 6, 2, 4, 6, 2};
    (void)state;
    net_start(21);
    uint32_t in = input("x", AMP_FLOAT, DIMS(2, 7));
    uint32_t scale =
        constant("scale", AMP_FLOAT, DIMS(2, 3), (const float[]){1, 2, 0.5f, 2, 1, 0.25f});
    uint32_t zero = constant("zero", AMP_INT8, DIMS(2, 3), (const int8_t[]){0, 1, 2, 3, 4, 5});
    uint32_t q = NODE("QuantizeLinear", "q", in, scale, zero);
    uint32_t back = NODE("DequantizeLinear", "back", q, scale, zero);
    set_int(q, "axis", 1);
    set_int(q, "block_size", 3);
    set_int(back, "axis", 1);
    set_int(back, "block_size", 3);
    output(q);
    output(back);
    run_on(net_tensor(AMP_FLOAT, DIMS(2, 7), x));
    EXPECT_OUTPUT(0, 0, 2, 4, 6, 2, 3, 4, 6, 4, 5, 6, 6, 8, 10, 13);
    EXPECT_OUTPUT(1, 0, 2, 4, 6, 2, 4, 6, 2, 2, 4, 6, 2, 4, 6, 2);
}

static void zeros_have_the_scale_one(void **state)
{
    (void)state;
    net_start(11);
    uint32_t node =
        net_node(0, "DynamicQuantizeLinear", "y", 3, IDS(input("x", AMP_FLOAT, DIMS(3))));
    for (uint32_t i = 0; i < 3; i++)
        output(net_out(node, i));
    RUN(AMP_FLOAT, DIMS(3), 0, 0, 0);
    EXPECT_OUTPUT(0, 0, 0, 0, 0);
    EXPECT_OUTPUT(1, 0, 1);
    EXPECT_OUTPUT(2, 0, 0);
}

/* The least and the largest value count wherever they are, and 0 is always between them. */
static void ranges_are_of_all_values(void **state)
{
    static const int counts[] = {1, 31, 32, 33, 64, 70};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int i = 0; i < counts[c]; i++) {
            float x[70] = {0};
            int least = (i * 37 + 11) % counts[c], n = counts[c];
            double low = least != i ? -2 : 0;
            net_start(11);
            uint32_t node =
                net_node(0, "DynamicQuantizeLinear", "y", 3, IDS(input("x", AMP_FLOAT, DIMS(n))));
            for (uint32_t k = 0; k < 3; k++)
                output(net_out(node, k));
            x[least] = -2;
            x[i] = 3;
            run_on(net_tensor(AMP_FLOAT, DIMS(n), x));
            EXPECT_OUTPUT(1, 1e-7, (3 - low) / 255);
            EXPECT_OUTPUT(2, 0, rint(-low * 255 / (3 - low)));
        }
}

/* What com.microsoft's QLinearAdd and QLinearMul are by their definition, of all ways to broadcast.
 */
static void check_quantized_pair(bool is_product, bool is_signed, bool has_zeros,
                                 const struct amp_shape *a, const struct amp_shape *b)
{
    static const float scales[] = {0.5f, 0.25f, 2};
    enum amp_dtype dtype = is_signed ? AMP_INT8 : AMP_UINT8;
    const int64_t zeros[] = {is_signed ? -3 : 120, is_signed ? 5 : 131, is_signed ? 1 : 100};
    uint8_t items[2][512], zero_bytes[3];
    uint32_t inputs[8];
    const struct amp_shape *shapes[] = {a, b};
    struct amp_shape shape;
    net_start(22);
    amp_model_import(net.model, "com.microsoft", 1);
    for (int k = 0; k < 3; k++) {
        zero_bytes[k] = (uint8_t)(has_zeros ? zeros[k] : 0);
        if (k < 2)
            inputs[3 * k] = input(k == 0 ? "a" : "b", dtype, *shapes[k]);
        uint32_t scale =
            constant(amp_arena_printf(net.arena, "scale%d", k), AMP_FLOAT, SCALAR, &scales[k]);
        uint32_t zero = AMP_NONE;
        if (has_zeros)
            zero =
                constant(amp_arena_printf(net.arena, "zero%d", k), dtype, SCALAR, &zero_bytes[k]);
        inputs[k < 2 ? 3 * k + 1 : 6] = scale;
        inputs[k < 2 ? 3 * k + 2 : 7] = zero;
    }
    const char *op_type = is_product ? "QLinearMul" : "QLinearAdd";
    uint32_t id = net_node(0, op_type, "y", 1, inputs, 8);
    one_operator(id, "com.microsoft", op_type, 1);
    output(net_out(id, 0));
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof items[k]; i++)
            items[k][i] = (uint8_t)(i * 37 + (size_t)k * 11);
    run_on(TENSORS(*net_tensor(dtype, *a, items[0]), *net_tensor(dtype, *b, items[1])));
    assert_int_equal(amp_broadcast(a, b, &shape, NULL), AMP_OK);
    assert_true(amp_shape_equal(&net.outputs[0].shape, &shape));
    int64_t index[AMP_RANK_MAX] = {0};
    size_t at = 0;
    do {
        double value[2];
        for (int k = 0; k < 2; k++) {
            size_t flat = 0;
            for (int d = 0; d < shapes[k]->rank; d++) {
                int64_t i = index[shape.rank - shapes[k]->rank + d];
                flat =
                    flat * (size_t)shapes[k]->dims[d] + (size_t)(shapes[k]->dims[d] == 1 ? 0 : i);
            }
            double q = is_signed ? (double)(int8_t)items[k][flat] : (double)items[k][flat];
            value[k] = (q - (has_zeros ? (double)zeros[k] : 0)) * (double)scales[k];
        }
        double y = is_product ? value[0] * value[1] : value[0] + value[1];
        y = rint(y / 2) + (has_zeros ? (double)zeros[2] : 0);
        y = fmin(fmax(y, is_signed ? -128 : 0), is_signed ? 127 : 255);
        double found = is_signed ? (double)((const int8_t *)net.outputs[0].data)[at]
                                 : (double)((const uint8_t *)net.outputs[0].data)[at];
        if (found != y)
            fail_msg("%s, element %zu: %g; %g is right", op_type, at, found, y);
        at++;
    } while (amp_index_next(shape.rank, shape.dims, index));
}

static void quantized_pairs_broadcast(void **state)
{
    static const struct amp_shape pairs[][2] = {
        {{1, {37}}, {1, {37}}},       {{1, {37}}, {0, {0}}},       {{0, {0}}, {1, {37}}},
        {{2, {5, 1}}, {2, {1, 33}}},  {{2, {5, 33}}, {2, {5, 1}}}, {{2, {5, 1}}, {2, {5, 33}}},
        {{2, {5, 33}}, {1, {33}}},    {{1, {33}}, {2, {5, 33}}},   {{3, {2, 1, 33}}, {2, {5, 1}}},
        {{2, {200, 1}}, {2, {1, 2}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int way = 0; way < 8; way++)
            check_quantized_pair((way & 1) != 0, (way & 2) != 0, (way & 4) != 0, &pairs[i][0],
                                 &pairs[i][1]);
}

/* ---- losses ---- */

struct values_case {
    const char *line;
    size_t output, count;
    double values[12];
};

#define GIVES(...)                                          \
    sizeof((const double[]){__VA_ARGS__}) / sizeof(double), \
    {                                                       \
        __VA_ARGS__                                         \
    }

/* TENSOR with other numbers, where these are no indices. */
static struct amp_tensor other_than(const struct amp_tensor *tensor)
{
    struct amp_tensor other = *tensor;
    const bool is_float = amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT;
    other.data = amp_arena_alloc(net.arena, amp_tensor_size(tensor) + 1);
    memcpy(other.data, tensor->data, amp_tensor_size(tensor));
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        if (is_float)
            amp_tensor_set_double(&other, i, 1 - 2 * amp_tensor_double(tensor, i));
        else if (amp_dtype_bits(tensor->dtype) == 8)
            ((uint8_t *)other.data)[i] ^= 1;
    return other;
}

/* Runs the model after a run on other numbers, of which nothing may stay. */
static enum amp_status run_after_others(void)
{
    struct amp_session *session = NULL;
    struct amp_tensor others[sizeof one.inputs / sizeof *one.inputs];
    for (size_t i = 0; i < one.n_inputs; i++)
        others[i] = other_than(&one.inputs[i]);
    enum amp_status first = net_infer(), status = first;
    if (first == AMP_OK)
        status = amp_session_open(net.model, true, &session, &net.err);
    if (status == AMP_OK) {
        first = amp_session_run(session, others, net.outputs, &net.err);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        net.err.status = AMP_OK;
        status = amp_session_run(session, one.inputs, net.outputs, &net.err);
    }
    amp_session_destroy(session);
    return status;
}

static void expect_one(const struct values_case *one_case, enum one_way way)
{
    const struct amp_tensor *found = &net.outputs[one_case->output];
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    one_node(one_case->line, way);
    if (run_after_others() != AMP_OK)
        fail_msg("%s: %s", one_case->line, net.err.text);
    if (amp_tensor_count(found) != one_case->count)
        fail_msg("%s: %zu elements", one_case->line, amp_tensor_count(found));
    for (size_t k = 0; k < one_case->count; k++)
        if (!(fabs(amp_tensor_double(found, k) - one_case->values[k]) <=
              1e-6 * fmax(1, fabs(one_case->values[k]))))
            fail_msg("%s (way %d): element %zu is %g; %g is expected", one_case->line, (int)way, k,
                     amp_tensor_double(found, k), one_case->values[k]);
}

/* To the last digits of float32, with all inputs given, all but the first constant, and all. */
static void expect_values(const struct values_case *cases, size_t count)
{
    static const enum one_way ways[] = {ONE_GIVEN, ONE_WEIGHTS, ONE_CONSTANT};
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            expect_one(&cases[i], ways[w]);
}

/* By ONNX's definition: what is ignored is 0 and has no weight; a mean is one by the weights. */
static void losses_pass_over_what_is_ignored(void **state)
{
#define LOSS "NegativeLogLikelihoodLoss-13 f[2,3]=1,2,3,4,5,7 "
    static const struct values_case cases[] = {
        {LOSS "i[2]=0,2 reduction=none", 0, GIVES(-1, -7)},
        {LOSS "i[2]=0,2 reduction=sum", 0, GIVES(-8)},
        {LOSS "i[2]=0,2", 0, GIVES(-4)},
        {LOSS "i[2]=0,2 reduction=none ignore_index=2", 0, GIVES(-1, 0)},
        {LOSS "i[2]=0,2 reduction=sum ignore_index=2", 0, GIVES(-1)},
        {LOSS "i[2]=0,2 ignore_index=2", 0, GIVES(-1)},
        {LOSS "i[2]=0,2 ignore_index=0", 0, GIVES(-7)},
        {LOSS "i[2]=0,2 ignore_index=1", 0, GIVES(-4)},
        {LOSS "i[2]=0,9 ignore_index=9", 0, GIVES(-1)},
        {LOSS "i[2]=0,2 f[3]=3,5,1 reduction=none", 0, GIVES(-3, -7)},
        {LOSS "i[2]=0,2 f[3]=3,5,1 reduction=sum", 0, GIVES(-10)},
        {LOSS "i[2]=0,2 f[3]=3,5,1", 0, GIVES(-2.5)},
        {LOSS "i[2]=0,2 f[3]=3,5,1 ignore_index=2", 0, GIVES(-1)},
        {"NegativeLogLikelihoodLoss-13 f[1,2,3]=1,2,3,4,5,7 i[1,3]=1,0,1 reduction=none", 0,
         GIVES(-4, -2, -7)},
        {"NegativeLogLikelihoodLoss-13 f[1,2,3]=1,2,3,4,5,7 i[1,3]=1,0,1 ignore_index=0", 0,
         GIVES(-5.5)},
    };
#undef LOSS
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- boxes ---- */

/* A [0, 0, 2, 2], half of which is B, and C, which has half of A and as much beside it: they have
   1/2 and 1/3 of their union in common. */
static void boxes_go_that_overlap_by_more_than_the_threshold(void **state)
{
#define BOXES "NonMaxSuppression-11 f[1,4,4]=0,0,2,2,0,0,2,1,0,1,2,3,5,5,5,5 "
    static const struct values_case cases[] = {
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.5", 0, GIVES(0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.375", 0, GIVES(0, 0, 0, 0, 0, 2, 0, 0, 3)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.25", 0, GIVES(0, 0, 0, 0, 0, 3)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9", 0, GIVES(0, 0, 0, 0, 0, 3)},
        {BOXES "f[1,1,4]=1,3,2,4 i[]=9", 0, GIVES(0, 0, 3, 0, 0, 1, 0, 0, 2)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=2 f[]=0.5", 0, GIVES(0, 0, 0, 0, 0, 1)},
        {BOXES "f[1,1,4]=2,2,2,2 i[]=2 f[]=0.5", 0, GIVES(0, 0, 0, 0, 0, 1)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.5 f[]=3", 0, GIVES(0, 0, 0)},
        {BOXES "f[1,1,4]=4,3,nan,1 i[]=9 f[]=0.5 f[]=1", 0, GIVES(0, 0, 0, 0, 0, 1)},
        {BOXES "f[1,1,4]=-4,-3,-2,-1 i[]=9 f[]=0.5", 0, GIVES(0, 0, 3, 0, 0, 2, 0, 0, 1, 0, 0, 0)},
        {BOXES "f[1,2,4]=4,3,2,1,1,2,3,4 i[]=1", 0, GIVES(0, 0, 0, 0, 1, 3)},
        {"NonMaxSuppression-11 f[2,1,4] f[2,1,1] i[]=1", 0, GIVES(0, 0, 0, 1, 0, 0)},
        {"NonMaxSuppression-11 f[1,2,4]=2,2,0,0,0,1,2,0 f[1,1,2]=2,1 i[]=9 f[]=0.5", 0,
         GIVES(0, 0, 0, 0, 0, 1)},
        {"NonMaxSuppression-11 f[1,2,4]=2,2,0,0,0,1,2,0 f[1,1,2]=2,1 i[]=9 f[]=0.375", 0,
         GIVES(0, 0, 0)},
        {"NonMaxSuppression-11 f[1,2,4]=1,2,2,4,1,1,2,2 f[1,1,2]=2,1 i[]=9 f[]=0.5 "
         "center_point_box=1",
         0, GIVES(0, 0, 0, 0, 0, 1)},
        {"NonMaxSuppression-11 f[1,2,4]=1,2,2,4,1,1,2,2 f[1,1,2]=2,1 i[]=9 f[]=0.375 "
         "center_point_box=1",
         0, GIVES(0, 0, 0)},
    };
#undef BOXES
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- recurrences along a line ---- */

/* Taps 1 and 10 on a line and what came before it; the last element is handed on. */
static void causal_convolutions_hand_on_their_last_elements(void **state)
{
#define LINE "CausalConvWithState-27 f[1,2,3]=1,2,3,4,5,6 f[2,1,2]=1,10,1,100 "
    static const struct values_case cases[] = {
        {LINE "_ _ >2", 0, GIVES(10, 21, 32, 400, 504, 605)},
        {LINE "_ _ >2", 1, GIVES(3, 6)},
        {LINE "f[2]=1000,2000 f[1,2,1]=7,8 >2", 0, GIVES(1017, 1021, 1032, 2408, 2504, 2605)},
        {LINE "f[2]=1000,2000 f[1,2,1]=7,8 >2", 1, GIVES(3, 6)},
        {"CausalConvWithState-27 f[1,1,1]=1 f[1,1,3]=1,10,100 _ f[1,1,2]=2,3 >2", 0, GIVES(132)},
        {"CausalConvWithState-27 f[1,1,1]=1 f[1,1,3]=1,10,100 _ f[1,1,2]=2,3 >2", 1, GIVES(3, 1)},
        {"CausalConvWithState-27 f[1,1,1]=1 f[1,1,3]=1,10,100 _ _ >2", 1, GIVES(0, 1)},
    };
#undef LINE
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- regions ---- */

/* Elements 1 to 16 in rows of four: the one at row r and column c, or between elements, is
   4 r + c + 1. */
static void regions_are_pooled_by_bins(void **state)
{
#define IMAGE "f[1,1,4,4]=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 "
#define MAX "MaxRoiPool-1 " IMAGE
#define ALIGN "RoiAlign-16 " IMAGE
    static const struct values_case cases[] = {
        {MAX "f[1,5]=0,0,0,3,3 pooled_shape=[2,2]", 0, GIVES(6, 8, 14, 16)},
        {MAX "f[1,5]=0,0,0,3,3 pooled_shape=[3,1]", 0, GIVES(8, 12, 16)},
        {MAX "f[1,5]=0,1,1,2,2 pooled_shape=[1,1]", 0, GIVES(11)},
        {MAX "f[1,5]=0,2,1,1,2 pooled_shape=[1,1]", 0, GIVES(11)},
        {MAX "f[1,5]=0,5,5,6,6 pooled_shape=[1,1]", 0, GIVES(0)},
        {MAX "f[1,5]=0,-2,-2,1,1 pooled_shape=[2,2]", 0, GIVES(0, 0, 0, 6)},
        {MAX "f[1,5]=0,0,2,3,3 pooled_shape=[1,2]", 0, GIVES(14, 16)},
        {MAX "f[1,5]=0,1,1,5,5 pooled_shape=[1,1] spatial_scale=0.5", 0, GIVES(16)},
        {MAX "f[1,5]=0,1,1,3,3 pooled_shape=[1,1] spatial_scale=0.5", 0, GIVES(11)},
        {"MaxRoiPool-1 f[1,1,2,2]=-1,-2,-3,-4 f[1,5]=0,0,0,1,1 pooled_shape=[1,1]", 0, GIVES(-1)},
        {"MaxRoiPool-1 f[2,1,1,1]=3,4 f[2,5]=1,0,0,0,0,0,0,0,0,0 pooled_shape=[1,1]", 0,
         GIVES(4, 3)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 sampling_ratio=1", 0,
         GIVES(3.5, 5.5, 11.5, 13.5)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 sampling_ratio=2", 0,
         GIVES(3.5, 5.5, 11.5, 13.5)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 sampling_ratio=2 mode=max", 0,
         GIVES(6, 8, 14, 16)},
        {ALIGN "f[1,4]=0,0,4,2 i[1] output_width=2 sampling_ratio=1", 0, GIVES(3.5, 5.5)},
        {ALIGN
         "f[1,4]=0,0,8,8 i[1] output_height=2 output_width=2 sampling_ratio=1 spatial_scale=0.5",
         0, GIVES(3.5, 5.5, 11.5, 13.5)},
        {ALIGN "f[1,4]=1,1,1,1 i[1] sampling_ratio=1", 0, GIVES(3.5)},
        {ALIGN "f[1,4]=10,10,12,12 i[1]", 0, GIVES(0)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 "
               "coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(6, 8, 14, 16)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 "
               "coordinate_transformation_mode=output_half_pixel",
         0, GIVES(6, 7.75, 13, 14.75)},
        {ALIGN
         "f[1,4]=1,1,1,1 i[1] coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(8.5)},
        {ALIGN
         "f[1,4]=-2,-2,0,0 i[1] coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(1)},
        {ALIGN "f[1,4]=-2.5,-2.5,-0.5,-0.5 i[1] coordinate_transformation_mode=output_half_pixel "
               "sampling_ratio=1",
         0, GIVES(0)},
        {ALIGN
         "f[1,4]=3,3,5,5 i[1] coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(16)},
        {ALIGN "f[1,4]=3.5,3.5,5.5,5.5 i[1] coordinate_transformation_mode=output_half_pixel "
               "sampling_ratio=1",
         0, GIVES(0)},
        {"RoiAlign-16 f[2,1,1,1]=3,4 f[2,4]=0,0,1,1,0,0,1,1 i[2]=1,0", 0, GIVES(4, 3)},
        {"MaxRoiPool-1 f[2,2,1,1]=1,2,3,4 f[2,5]=1,0,0,0,0,0,0,0,0,0 pooled_shape=[1,1]", 0,
         GIVES(3, 4, 1, 2)},
        {"MaxRoiPool-1 f[1,2,2,3]=1,2,3,4,5,6,7,8,9,10,11,12 f[1,5]=0,1,0,2,1 pooled_shape=[2,1]",
         0, GIVES(3, 6, 9, 12)},
        {"RoiAlign-16 f[2,2,1,1]=1,2,3,4 f[2,4]=0,0,1,1,0,0,1,1 i[2]=1,0", 0, GIVES(3, 4, 1, 2)},
        {"RoiAlign-16 f[1,2,2,3]=1,2,3,4,5,6,7,8,9,10,11,12 f[1,4]=0,0,3,2 i[1] output_height=2 "
         "output_width=3 sampling_ratio=1",
         0, GIVES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)},
    };
#undef IMAGE
#undef MAX
#undef ALIGN
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* By ONNX's definitions, with numbers whose norms and means are whole. */
static void windows_are_pooled(void **state)
{
    static const struct values_case cases[] = {
        {"GlobalLpPool-2 f[1,1,3]=2,-4,4 p=1", 0, GIVES(10)},
        {"GlobalLpPool-2 f[1,1,3]=2,-4,4 p=2", 0, GIVES(6)},
        {"GlobalLpPool-2 f[1,1,3]=2,-4,4", 0, GIVES(6)},
        {"GlobalLpPool-2 f[1,1,3]=0,-4,0 p=3", 0, GIVES(4)},
        {"LpPool-11 f[1,1,4]=2,-4,4,3 kernel_shape=[3] p=1", 0, GIVES(10, 11)},
        {"LpPool-11 f[1,1,4]=2,-4,4,-2 kernel_shape=[3]", 0, GIVES(6, 6)},
        {"LpPool-11 f[1,1,4]=0,-4,0,0 kernel_shape=[2] p=3", 0, GIVES(4, 4, 0)},
        {"GlobalMaxPool-1 d[1,2,3]=-3,-2,-5,-7,-9,-8", 0, GIVES(-2, -7)},
        {"GlobalMaxPool-1 f[1,2,3,1,1,1]=-3,-2,-5,-7,-9,-8", 0, GIVES(-2, -7)},
        {"GlobalAveragePool-1 d[1,2,3]=-3,-2,-4,-7,-9,-8", 0, GIVES(-3, -8)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[2,2] >2", 0, GIVES(9, 9)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[2,2] >2", 1, GIVES(1, 1)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[2,2] storage_order=1 >2", 1, GIVES(2, 2)},
        {"MaxPool-12 f[2,1,2]=1,2,4,3 kernel_shape=[2] >2", 1, GIVES(1, 2)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[1,1] storage_order=1 >2", 1,
         GIVES(0, 2, 4, 1, 3, 5)},
        {"MaxPool-12 f[1,1,2]=-5,-6 kernel_shape=[2] pads=[1,1] >2", 0, GIVES(-5, -5, -6)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[2] pads=[1,1]", 0, GIVES(2, 3, 5, 7, 8)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[2] pads=[1,1] count_include_pad=1", 0,
         GIVES(1, 3, 5, 7, 4)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[2] dilations=[2] pads=[2,0]", 0,
         GIVES(2, 4, 4, 6)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[3] strides=[3] ceil_mode=1 "
         "count_include_pad=1",
         0, GIVES(4, 8)},
        {"MaxUnpool-11 f[1,1,2]=5,6 i[1,1,2]=1,2 kernel_shape=[2] strides=[2]", 0,
         GIVES(0, 5, 6, 0)},
        {"MaxUnpool-11 f[1,1,1,2]=5,6 i[1,1,1,2]=1,6 i[4]=1,1,2,5 kernel_shape=[2,2] strides=[2,2]",
         0, GIVES(0, 5, 0, 0, 0, 0, 0, 6, 0, 0)},
        {"Col2Im-18 f[1,2,2]=1,2,3,4 i[1]=3 i[1]=2", 0, GIVES(1, 5, 4)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* Taps of 1 and 10: each sum shows its elements by their digits. */
static void taps_meet_their_elements(void **state)
{
    static const struct values_case cases[] = {
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 "
         "f[1,4,1,4]=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 pads=[0,1,0,1]",
         0, GIVES(10, 21, 42, 4)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0", 0,
         GIVES(21, 42)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0 pads=[0,1,0,1] "
         "strides=[1,2]",
         0, GIVES(10, 42)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,1]=0,0,0,0 dilations=[1,2]", 0,
         GIVES(41)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0.5,0.5,0,0,0,0", 0,
         GIVES(21.5, 43)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0.5,0.5", 0,
         GIVES(31, 22)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0.5,0.5,0,0,0,0,0,0", 0,
         GIVES(20.5, 41)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,-0.5,1.5,0,0,0,-9", 0,
         GIVES(20.5, 2)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0 f[1]=100 "
         "f[1,2,1,2]=2,3,4,5",
         0, GIVES(182, 306)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[2,1,1,1]=1,10 f[1,2,1,2]=0,0,0,0 group=2", 0,
         GIVES(1, 2, 40, 80)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0.5,-0.5 "
         "offset_group=2",
         0, GIVES(61, 62)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0 _ "
         "f[1,2,1,2]=1,2,3,4 offset_group=2",
         0, GIVES(121, 324)},
        {"DeformConv-19 f[2,1,1,1]=1,2 f[1,1,1,1]=1 f[2,2,1,1]=0,0,0,-0.5", 0, GIVES(1, 1)},
        {"DeformConv-19 d[1,1,1,3]=1,2,4 d[1,1,1,2]=1,10 d[1,4,1,2]=0,0,0,0,0,0,0,0", 0,
         GIVES(21, 42)},
        {"Conv-11 f[1,1,3]=1,2,4 f[1,1,2]=1,10 pads=[1,1]", 0, GIVES(10, 21, 42, 4)},
        {"Conv-11 d[1,1,3]=1,2,4 d[1,1,2]=1,10 pads=[1,1]", 0, GIVES(10, 21, 42, 4)},
        {"Conv-11 d[1,1,3]=1,2,4 d[1,1,2]=1,10 d[1]=100 pads=[1,1] strides=[2]", 0,
         GIVES(110, 142)},
        {"Conv-11 d[1,1,3]=1,2,4 d[1,1,2]=1,10 dilations=[2]", 0, GIVES(41)},
        {"Conv-11 d[1,2,2]=1,2,4,8 d[2,1,1]=1,10 group=2", 0, GIVES(1, 2, 40, 80)},
        {"Conv-11 d[2,1,1]=3,5 d[2,1,1]=1,10", 0, GIVES(3, 30, 5, 50)},
        {"Conv-11 f[1,2,3]=1,2,4,8,16,32 f[2,1,2]=1,10,1,100 group=2 pads=[1,1]", 0,
         GIVES(10, 21, 42, 4, 800, 1608, 3216, 32)},
        {"Conv-11 f[1,2,3]=1,2,4,8,16,32 f[2,1,2]=1,10,1,100 f[2]=1000,2000 group=2 strides=[2] "
         "pads=[1,1]",
         0, GIVES(1010, 1042, 2800, 5216)},
        {"Conv-11 f[1,2,4]=1,2,4,8,1,2,4,8 f[2,1,2]=1,10,1,100 group=2 dilations=[2] strides=[2] "
         "pads=[1,1]",
         0, GIVES(20, 82, 200, 802)},
        {"ConvTranspose-11 d[1,1,2]=1,2 d[1,1,2]=1,10", 0, GIVES(1, 12, 20)},
        {"ConvTranspose-11 d[1,1,2]=1,2 d[1,1,2]=1,10 d[1]=100 strides=[2]", 0,
         GIVES(101, 110, 102, 120)},
        {"ConvTranspose-11 d[1,1,2]=1,2 d[1,1,2]=1,10 strides=[2] pads=[1,0] output_padding=[1]", 0,
         GIVES(10, 2, 20, 0)},
        {"ConvTranspose-11 d[1,2,1]=1,2 d[2,1,1]=1,10 group=2", 0, GIVES(1, 20)},
        {"ConvTranspose-11 d[1,2,1]=1,2 d[2,2,1]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"ConvTranspose-11 f[1,2,1]=1,2 f[2,2,1]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"ConvTranspose-11 f[1,2,1]=1,2 f[2,2,1]=1,10,100,1000 group=2", 0,
         GIVES(1, 10, 200, 2000)},
        {"ConvInteger-10 u[1,1,3]=1,2,4 u[1,1,2]=1,10 u[]=1 u[]=2 pads=[1,1]", 0,
         GIVES(0, 8, 23, -3)},
        {"ConvInteger-10 u[1,2,1]=3,5 u[2,1,1]=7,9 u[]=1 u[2]=2,3 group=2", 0, GIVES(10, 24)},
        {"ConvInteger-10 c[1,1,2]=-128,127 c[1,1,1]=-128 c[]=0", 0, GIVES(16384, -16256)},
        {"QLinearConv-10 u[1,1,3]=1,2,4 f[]=0.5 u[]=1 u[1,1,2]=3,5 f[1]=2 u[1]=1 f[]=1 u[]=10 "
         "pads=[1,1]",
         0, GIVES(10, 14, 24, 16)},
        {"QLinearConv-10 u[1,1,1]=3 f[]=1 u[]=1 c[2,1,1]=1,-1 f[2]=2,4 c[2]=0,0 f[]=2 u[]=10 "
         "j[2]=1,2",
         0, GIVES(13, 10)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- optimizers ---- */

/* One step each, by the equations of ai.onnx.preview.training; defaults are 0.9 and 0.999. */
static void optimizers_take_their_steps(void **state)
{
#define ADAGRAD "ai.onnx.preview.training.Adagrad-1 "
#define ADAM "ai.onnx.preview.training.Adam-1 "
#define MOMENTUM "ai.onnx.preview.training.Momentum-1 "
    static const struct values_case cases[] = {
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 >2", 0, GIVES(0)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 >2", 1, GIVES(4)},
        {ADAGRAD "f[]=1 i[]=1 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 decay_factor=1.0 >2", 0, GIVES(0.5)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 norm_coefficient=1.0 >2", 0,
         GIVES(0)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 norm_coefficient=1.0 >2", 1,
         GIVES(9)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=2.0 >2", 0, GIVES(0.5)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=4 f[1]=48 epsilon=0.0 >2", 0, GIVES(0.5)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=4 f[1]=48 epsilon=0.0 >2", 1, GIVES(64)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=0.0 >3", 0,
         GIVES(0)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=0.0 >3", 1,
         GIVES(1)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=0.0 >3", 2,
         GIVES(1)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=1.0 >3", 0,
         GIVES(0.5)},
        {ADAM "f[]=1 i[]=1 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.75 beta=0.75 epsilon=0.0 >3", 0,
         GIVES(0)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.75 beta=0.75 epsilon=0.0 >3", 0,
         GIVES(0.5)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.75 beta=0.75 epsilon=0.0 "
              "norm_coefficient_post=0.5 >3",
         0, GIVES(0.25)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 norm_coefficient=2.0 >3",
         1, GIVES(2)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 norm_coefficient=2.0 >3",
         2, GIVES(4)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=0 f[1]=10 f[1]=1000 >3", 1, GIVES(9)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=0 f[1]=10 f[1]=1000 >3", 2, GIVES(999)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         0, GIVES(3)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(2)},
        {MOMENTUM "f[]=1 i[]=0 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         0, GIVES(0)},
        {MOMENTUM "f[]=1 i[]=0 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(5)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=nesterov norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         0, GIVES(0)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=nesterov norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(2)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=1.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(3.25)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         0, GIVES(3)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         1, GIVES(30)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         2, GIVES(2)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         3, GIVES(20)},
    };
#undef ADAGRAD
#undef ADAM
#undef MOMENTUM
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- places between elements ---- */

/* An element is its place, so that linear sampling gives the place that an output comes from. Cubic
   weights half between elements are 19/32 and -3/32, or 9/16 and -1/16 for -0.5. */
static void resized_elements_come_from_their_places(void **state)
{
    static const struct values_case cases[] = {
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 mode=linear", 0,
         GIVES(0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 mode=linear coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0.5, 1, 1.5, 2, 2.5, 3, 3)},
        {"Resize-19 d[3]=0,1,2 _ _ i[1]=5 mode=linear coordinate_transformation_mode=align_corners",
         0, GIVES(0, 0.5, 1, 1.5, 2)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=1 mode=linear "
         "coordinate_transformation_mode=align_corners",
         0, GIVES(0)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=1 mode=linear "
         "coordinate_transformation_mode=pytorch_half_pixel",
         0, GIVES(0)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=2 mode=linear "
         "coordinate_transformation_mode=pytorch_half_pixel",
         0, GIVES(0.5, 2.5)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=1 mode=linear", 0, GIVES(1.5)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.625 mode=linear", 0, GIVES(0.3, 1.9)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.625 mode=linear "
         "coordinate_transformation_mode=half_pixel_symmetric",
         0, GIVES(0.7, 2.3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 mode=linear "
         "coordinate_transformation_mode=half_pixel_symmetric",
         0, GIVES(0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=0.25,0.75 _ i[1]=3 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(0.75, 1.5, 2.25)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=0.25,0.75 _ i[1]=1 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(1.5)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=-0.5,1.5 _ i[1]=3 mode=linear extrapolation_value=9.0 "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(9, 1.5, 9)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=-0.5,1.5 _ i[1]=3 extrapolation_value=9.0 "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(9, 1, 9)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=0,1 _ i[1]=4 mode=linear extrapolation_value=9.0 "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(0, 1, 2, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric "
         "nearest_mode=round_prefer_ceil",
         0, GIVES(0, 1, 1, 2, 2, 3, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric "
         "nearest_mode=floor",
         0, GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric "
         "nearest_mode=ceil",
         0, GIVES(0, 1, 1, 2, 2, 3, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 nearest_mode=floor", 0, GIVES(0, 0, 0, 1, 1, 2, 2, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 nearest_mode=ceil", 0, GIVES(0, 1, 1, 2, 2, 3, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2", 0, GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 nearest_mode=round_prefer_ceil", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-11 d[4]=0,1,2,3 f[0] f[1]=0.5 nearest_mode=floor "
         "coordinate_transformation_mode=tf_half_pixel_for_nn",
         0, GIVES(1, 3)},
        {"Resize-11 d[4]=0,1,2,3 f[0] f[1]=2 nearest_mode=floor "
         "coordinate_transformation_mode=tf_half_pixel_for_nn",
         0, GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,0,16,16 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=cubic",
         0, GIVES(0, -1.5, 0, 8, 16, 17.5, 16, 16)},
        {"Resize-19 d[4]=0,0,16,16 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=cubic "
         "cubic_coeff_a=-0.5",
         0, GIVES(0, -1, 0, 8, 16, 17, 16, 16)},
        {"Resize-19 d[4]=0,0,16,16 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=cubic "
         "exclude_outside=1",
         0, GIVES(0, -48.0 / 35, 0, 8, 16, 608.0 / 35, 16, 16)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.5 mode=linear antialias=1", 0, GIVES(0.625, 2.375)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.5 mode=linear antialias=1 exclude_outside=1", 0,
         GIVES(5.0 / 7, 16.0 / 7)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.5 mode=linear", 0, GIVES(0.5, 2.5)},
        {"Resize-19 u[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=linear", 0,
         GIVES(0, 0, 1, 2, 2, 2, 3, 3)},
        {"Resize-19 f[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 u[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 f[2]=5,6 _ f[1]=3 coordinate_transformation_mode=asymmetric nearest_mode=floor",
         0, GIVES(5, 5, 5, 6, 6, 6)},
        {"Resize-19 f[1,2]=1,2 _ f[2]=2,2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(1, 1, 2, 2, 1, 1, 2, 2)},
        {"Resize-19 f[2,2]=1,2,3,4 _ f[2]=2,1 coordinate_transformation_mode=asymmetric", 0,
         GIVES(1, 2, 1, 2, 3, 4, 3, 4)},
        {"Resize-19 f[1,2]=1,2 _ f[2]=2,2 mode=linear coordinate_transformation_mode=asymmetric", 0,
         GIVES(1, 1.5, 2, 2, 1, 1.5, 2, 2)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

static void grids_lead_to_their_places(void **state)
{
    static const struct values_case cases[] = {
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=-1,0,1", 0, GIVES(0, 1.5, 1.5)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=-1,0,1 padding_mode=border", 0, GIVES(0, 1.5, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=-1,0,1 align_corners=1", 0, GIVES(0, 1.5, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=1.25,1.5,-1.5 padding_mode=reflection", 0,
         GIVES(3, 2.5, 0.5)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,4,1]=2,-2,3,5 padding_mode=reflection align_corners=1",
         0, GIVES(1.5, 1.5, 0, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,2,1]=-2,2 padding_mode=border align_corners=1", 0,
         GIVES(0, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,2,1]=-2,2 align_corners=1", 0, GIVES(0, 0)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,4,1]=-0.5,0,0.5,1 mode=nearest", 0, GIVES(0, 2, 2, 0)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,4,1]=-0.5,0,0.5,1 mode=nearest padding_mode=border", 0,
         GIVES(0, 2, 2, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,5,1]=-0.5,0,0.5,1,-1.5 mode=nearest "
         "padding_mode=reflection",
         0, GIVES(0, 2, 2, 3, 1)},
        {"GridSample-20 d[1,1,4]=0,0,16,16 d[1,3,1]=-0.5,0,0.5 mode=cubic", 0, GIVES(-1.5, 8, 19)},
        {"GridSample-20 d[1,1,4]=0,0,16,16 d[1,3,1]=-0.5,0,0.5 mode=cubic padding_mode=border", 0,
         GIVES(-1.5, 8, 17.5)},
        {"GridSample-20 d[1,1,4]=0,0,16,16 d[1,3,1]=-0.5,0,0.5 mode=cubic padding_mode=reflection",
         0, GIVES(-1.5, 8, 17.5)},
        {"GridSample-20 d[1,2,4]=0,1,2,3,4,5,6,7 d[1,2,1]=-0.5,0.5", 0, GIVES(0.5, 2.5, 4.5, 6.5)},
        {"GridSample-20 d[1,1,2,2]=1,2,3,4 d[1,1,2,2]=0.5,-0.5,-0.5,0.5", 0, GIVES(2, 3)},
        {"GridSample-20 d[1,1,2,2]=1,2,3,4 d[1,1,1,2]=0,0", 0, GIVES(2.5)},
        {"GridSample-20 d[2,1,2]=1,2,3,4 d[2,1,1]=0.5,-0.5", 0, GIVES(2, 3)},
        {"AffineGrid-20 d[1,2,3]=1,0,0,0,1,0 i[4]=1,1,2,2", 0,
         GIVES(-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5)},
        {"AffineGrid-20 d[1,2,3]=1,0,0,0,1,0 i[4]=1,1,2,2 align_corners=1", 0,
         GIVES(-1, -1, 1, -1, -1, 1, 1, 1)},
        {"AffineGrid-20 d[1,2,3]=1,0,5,0,1,7 i[4]=1,1,2,2", 0,
         GIVES(4.5, 6.5, 5.5, 6.5, 4.5, 7.5, 5.5, 7.5)},
        {"AffineGrid-20 d[1,2,3]=0,1,0,1,0,0 i[4]=1,1,2,2", 0,
         GIVES(-0.5, -0.5, -0.5, 0.5, 0.5, -0.5, 0.5, 0.5)},
        {"AffineGrid-20 d[1,2,3]=1,0,0,0,1,0 i[4]=1,1,1,2 align_corners=1", 0, GIVES(-1, 0, 1, 0)},
        {"AffineGrid-20 f[2,2,3]=1,0,0,0,1,0,1,0,2,0,1,3 i[4]=2,1,1,1", 0, GIVES(0, 0, 2, 3)},
        {"AffineGrid-20 f[1,3,4]=1,0,0,7,0,1,0,8,0,0,1,9 i[5]=1,1,1,1,2", 0,
         GIVES(6.5, 8, 9, 7.5, 8, 9)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- products ---- */

/* Ones and tens, so that no element can stand in another's place. */
static void products_are_sums_over_the_inner_dim(void **state)
{
    static const struct values_case cases[] = {
        {"MatMul-13 f[1,2]=1,2 f[2,2]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"MatMul-13 f[3,2]=1,0,0,1,1,2 f[2,2]=1,10,100,1000", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"MatMul-13 d[3,2]=1,0,0,1,1,2 d[2,2]=1,10,100,1000", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"MatMul-13 i[1,2]=1,2 i[2,2]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"MatMul-13 f[2]=1,2 f[2,2]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"MatMul-13 f[2,2]=1,10,100,1000 f[2]=1,2", 0, GIVES(21, 2100)},
        {"MatMul-13 f[2]=1,2 f[2]=3,4", 0, GIVES(11)},
        {"MatMul-13 f[2,1,2]=1,2,3,4 f[2,1]=1,10", 0, GIVES(21, 43)},
        {"MatMul-13 f[2,1,2]=1,2,3,4 f[2,2,1]=1,10,100,1000", 0, GIVES(21, 4300)},
        {"MatMul-13 f[1,2]=1,2 f[2,2,1]=1,10,100,1000", 0, GIVES(21, 2100)},
        {"Gemm-13 f[2,1]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 transA=1", 0, GIVES(204, 2014)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 transB=1", 0, GIVES(24, 2104)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 alpha=0.5 beta=2.0", 0,
         GIVES(106.5, 1013)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 alpha=0.5", 0, GIVES(103.5, 1009)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 beta=2.0", 0, GIVES(207, 2018)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[1]=3", 0, GIVES(204, 2013)},
        {"Gemm-13 f[2,1]=1,2 f[1,2]=1,10 f[2,2]=1,2,3,4", 0, GIVES(2, 12, 5, 24)},
        {"Gemm-13 f[2,1]=1,2 f[1,2]=1,10 f[2,1]=100,200", 0, GIVES(101, 110, 202, 220)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[3,1]=100,200,300 beta=0.5", 0,
         GIVES(51, 60, 102, 120, 153, 180)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[1,2]=100,200", 0, GIVES(101, 210, 102, 220, 103, 230)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[]=100", 0, GIVES(101, 110, 102, 120, 103, 130)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[3,2]=1,2,3,4,5,6 alpha=2.0", 0,
         GIVES(3, 22, 7, 44, 11, 66)},
        {"Gemm-13 d[1,2]=1,2 d[2,2]=1,10,100,1000 d[2]=3,4 alpha=0.5 beta=2.0", 0,
         GIVES(106.5, 1013)},
        {"Gemm-13 f[2,3]=1,0,1,0,1,2 f[2,2]=1,10,100,1000 transA=1", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"Gemm-13 f[1,0] f[0,2] f[2]=3,4 beta=2.0", 0, GIVES(6, 8)},
        {"Gemm-13 f[1,0] f[0,2]", 0, GIVES(0, 0)},
        {"MatMul-13 f[1,0] f[0,2]", 0, GIVES(0, 0)},
        {"com.microsoft.FusedMatMul-1 f[1,2]=1,2 f[2,2]=1,10,100,1000 alpha=0.5", 0,
         GIVES(100.5, 1005)},
        {"com.microsoft.FusedMatMul-1 f[2,1]=1,2 f[2,2]=1,10,100,1000 transA=1 transB=1", 0,
         GIVES(21, 2100)},
        {"com.microsoft.FusedMatMul-1 f[3,2]=1,0,0,1,1,2 f[2,2]=1,10,100,1000", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"com.microsoft.FusedMatMul-1 f[1,2,2]=1,2,3,4 f[2,2,1]=1,10,100,1000 transBatchA=1", 0,
         GIVES(21, 4300)},
        {"com.microsoft.FusedMatMul-1 f[2,1,2]=1,2,3,4 f[2,2,1]=1,10,100,1000 transBatchB=1", 0,
         GIVES(201, 4030)},
        {"com.microsoft.FusedGemm-1 f[1,2]=1,2 f[2,2]=1,-10,100,1000 f[2]=3,-9999 activation=Relu",
         0, GIVES(204, 0)},
        {"com.microsoft.FusedGemm-1 f[1,1]=1 f[1,2]=1,-8 f[2]=0,0 activation=LeakyRelu "
         "activation_alpha=0.25",
         0, GIVES(1, -2)},
        {"com.microsoft.FusedConv-1 f[1,1,3]=1,2,4 f[1,1,2]=1,-10 f[1]=10 activation=Relu", 0,
         GIVES(0, 0)},
        {"com.microsoft.FusedConv-1 f[1,1,2]=1,2 f[1,1,1]=-8 f[1]=0 activation=LeakyRelu "
         "activation_params=(0.25)",
         0, GIVES(-2, -4)},
        {"com.microsoft.FusedConv-1 f[1,1,2]=1,2 f[1,1,1]=10 f[1]=100 f[1,1,2]=1000,-2000 "
         "activation=Relu",
         0, GIVES(1110, 0)},
        {"Einsum-12 f[2]=1,2 f[2]=10,100 equation=i,j->ij", 0, GIVES(10, 100, 20, 200)},
        {"Einsum-12 f[2]=1,2 f[2]=10,100 equation=i,j->ji", 0, GIVES(10, 20, 100, 200)},
        {"Einsum-12 f[2]=1,2 f[2]=10,100 equation=i,i", 0, GIVES(210)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ii", 0, GIVES(5)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ii->i", 0, GIVES(1, 4)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ij->j", 0, GIVES(4, 6)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ji", 0, GIVES(1, 3, 2, 4)},
        {"Einsum-12 f[2,2]=1,0,0,1 f[2,2]=1,2,3,4 f[2]=1,10 equation=ij,jk,k->i", 0, GIVES(21, 43)},
        {"Einsum-12 f[1,2]=1,2 f[2,2]=3,4,5,6 equation=...a,...a->...", 0, GIVES(11, 17)},
        {"Einsum-12 f[2,1,2]=1,2,3,4 f[2,2,1]=1,10,100,1000 equation=bij,bjk->bik", 0,
         GIVES(21, 4300)},
        {"Det-11 f[2,2]=1,2,3,4", 0, GIVES(-2)},
        {"Det-11 f[2,2]=0,2,3,4", 0, GIVES(-6)},
        {"Det-11 f[2,2,2]=1,2,2,4,2,0,0,3", 0, GIVES(0, 6)},
        {"Det-11 f[3,3]=0,0,1,0,2,0,4,0,0", 0, GIVES(-8)},
        {"Det-11 f[0,0]", 0, GIVES(1)},
        {"Det-11 d[1,1]=-3", 0, GIVES(-3)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- products of bytes ---- */

/* Zero points may be one, of rows or columns, or of all elements. */
static void products_are_without_zero_points(void **state)
{
    static const struct values_case cases[] = {
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6", 0, GIVES(39)},
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6 u[1,2]=1,2", 0, GIVES(22)},
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6 _ u[2,1]=1,2", 0, GIVES(28)},
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6 u[1,2]=1,2 u[2,1]=1,2", 0, GIVES(16)},
        {"MatMulInteger-10 u[2,2]=1,2,3,4 u[2,1]=1,1 u[2]=1,2", 0, GIVES(1, 3)},
        {"MatMulInteger-10 u[1,2]=1,2 u[2,2]=3,4,5,6 u[]=1 u[2]=1,2", 0, GIVES(4, 4)},
        {"MatMulInteger-10 c[1,2]=-1,-128 c[2,1]=-128,127 c[]=-128 c[1]=127", 0, GIVES(-32385)},
        {"MatMulInteger-10 u[2]=3,4 u[2]=5,6 u[]=1 u[]=2", 0, GIVES(18)},
        {"QLinearMatMul-10 u[1,2]=3,4 f[]=0.5 u[]=1 u[2,2]=5,6,7,8 f[2]=1,2 u[2]=1,2 f[]=2 u[]=10",
         0, GIVES(16, 23)},
        {"QLinearMatMul-10 u[2,1]=3,4 f[2]=1,2 u[2]=1,2 u[1,1]=5 f[]=1 u[]=0 f[]=4 u[]=1", 0,
         GIVES(3, 6)},
        {"QLinearMatMul-10 u[1,1]=255 f[] u[] u[1,1]=255 f[] u[] f[] u[]", 0, GIVES(255)},
        {"QLinearMatMul-10 c[1,1]=-128 f[] c[] c[1,1]=127 f[] c[] f[] c[]", 0, GIVES(-128)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- attention ---- */

/* A query of 0 finds all keys alike: its output is the mean of the values that it sees. What is
   turned is turned by nothing or a quarter. */
static void queries_see_what_they_may(void **state)
{
    static const struct values_case cases[] = {
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0, GIVES(7, 7, 7)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 is_causal=1", 0,
         GIVES(3, 4.5, 7)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 b[1,3]=1,0,1", 0,
         GIVES(7.5, 7.5, 7.5)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 "
         "f[3,3]=0,-inf,-inf,0,0,-inf,-inf,0,0",
         0, GIVES(3, 4.5, 9)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[3,1]=1,2,3", 0,
         GIVES(7, 7, 7)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[1,1,1,3]=0,0,-inf "
         "is_causal=1",
         0, GIVES(3, 4.5, 4.5)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[]=5", 0, GIVES(7, 7, 7)},
        {"Attention-23 f[2,1,1,1]=0,0 f[2,1,2,1] f[2,1,2,1]=1,2,4,8 b[2,1,1,2]=1,0,0,1", 0,
         GIVES(1, 8)},
        {"Attention-23 f[1,2,1,1]=0,0 f[1,2,2,1] f[1,2,2,1]=1,2,4,8 b[2,1,2]=1,0,0,1", 0,
         GIVES(1, 8)},
        {"Attention-23 f[1,2,1,1]=0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0, GIVES(7, 7)},
        {"Attention-23 f[1,4,1,1]=0,0,0,0 f[1,2,2,1] f[1,2,2,1]=1,2,4,8", 0, GIVES(1.5, 1.5, 6, 6)},
        {"Attention-23 f[1,1,2]=0,0 f[1,3,2] f[1,3,2]=3,1,6,1,12,4 q_num_heads=2 kv_num_heads=2", 0,
         GIVES(7, 2)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 >3",
         0, GIVES(11.25, 11.25)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 is_causal=1 >3",
         0, GIVES(7, 11.25)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 >3",
         1, GIVES(2, 2, 1, 1)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 >3",
         2, GIVES(3, 6, 12, 24)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[3,2]=0,0,0,0,0,0", 0,
         GIVES(4.5, 4.5, 4.5)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 b[1,1]=1", 0, GIVES(3, 3, 3)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 b[1,1]=1", 0, GIVES(7, 7, 7)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=2", 0,
         GIVES(4.5, 4.5, 4.5)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=9", 0,
         GIVES(7, 7, 7)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=1", 0,
         GIVES(3, 3, 3)},
        {"Attention-24 f[1,1,1,1]=0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=2 is_causal=1", 0,
         GIVES(4.5)},
        {"Attention-24 f[2,1,1,1]=0,0 f[2,1,2,1] f[2,1,2,1]=3,6,12,24 _ _ _ i[2]=1,2", 0,
         GIVES(3, 18)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=1", 0,
         GIVES(7, 7, 9)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 right_window_size=0", 0,
         GIVES(3, 4.5, 7)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=0 "
         "right_window_size=1",
         0, GIVES(4.5, 9, 12)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=1 "
         "right_window_size=1 is_causal=1",
         0, GIVES(3, 4.5, 9)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=9 "
         "right_window_size=9",
         0, GIVES(7, 7, 7)},
        {"RotaryEmbedding-23 f[1,1,1,4]=1,2,3,4 f[1,1,2]=0,1 f[1,1,2]=1,0", 0, GIVES(-3, 2, 1, 4)},
        {"RotaryEmbedding-23 f[1,1,1,4]=1,2,3,4 f[1,1,2]=0,1 f[1,1,2]=1,0 interleaved=1", 0,
         GIVES(-2, 1, 3, 4)},
        {"RotaryEmbedding-23 f[1,1,1,4]=1,2,3,4 f[1,1,1]=0 f[1,1,1]=1 rotary_embedding_dim=2", 0,
         GIVES(-2, 1, 3, 4)},
        {"RotaryEmbedding-23 f[1,1,1,2]=1,2 f[2,1]=1,0 f[2,1]=0,1 i[1,1]=1", 0, GIVES(-2, 1)},
        {"RotaryEmbedding-23 f[1,1,4]=1,2,3,4 f[1,1,1]=0 f[1,1,1]=1 num_heads=2", 0,
         GIVES(-2, 1, -4, 3)},
        {"RotaryEmbedding-23 f[1,1,2,2]=1,2,3,4 f[1,2,1]=1,0 f[1,2,1]=0,1", 0, GIVES(1, 2, -4, 3)},
        {"com.microsoft.RotaryEmbedding-1 f[1,1,2,2]=1,2,3,4 i[1]=1 f[3,1]=1,0,1 f[3,1]=0,1,0", 0,
         GIVES(-2, 1, 3, 4)},
        {"com.microsoft.RotaryEmbedding-1 f[1,1,2,2]=1,2,3,4 i[1,2]=1,1 f[3,1]=1,0,1 f[3,1]=0,1,0",
         0, GIVES(-2, 1, -4, 3)},
        {"com.microsoft.RotaryEmbedding-1 f[2,1,1,2]=1,2,3,4 i[1]=1 f[3,1]=1,0,1 f[3,1]=0,1,0", 0,
         GIVES(-2, 1, -4, 3)},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,2]=1,2,3,4 i[1]=0 f[3,1]=1,0,1 f[3,1]=0,1,0", 0,
         GIVES(1, 2, -4, 3)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=3,6 _ _ j[1]=1 j[]=2 "
         "num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,3]=0,1,3,0,1,6 _ _ _ _ j[1]=1 j[]=2 "
         "num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,3]=0,1,3,0,1,6 _ _ _ _ j[1]=1 j[]=2 "
         "num_heads=1 kv_num_heads=1 >3",
         2, GIVES(3, 6)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=6,12 f[1,1,1,1]=2 "
         "f[1,1,1,1]=3 j[1]=2 j[]=3 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(4.5, 7)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=6,12 f[1,1,1,1]=2 "
         "f[1,1,1,1]=3 j[1]=2 j[]=3 num_heads=1 kv_num_heads=1 >3",
         1, GIVES(2, 1, 1)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=6,12 f[1,1,1,1]=2 "
         "f[1,1,1,1]=3 j[1]=2 j[]=3 num_heads=1 kv_num_heads=1 >3",
         2, GIVES(3, 6, 12)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=6 f[1,1,2,1] "
         "f[1,1,2,1]=3,99 j[1]=1 j[]=3 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=6 f[1,1,2,1] "
         "f[1,1,2,1]=3,99 j[1]=1 j[]=3 num_heads=1 kv_num_heads=1 >3",
         2, GIVES(3, 6, 0)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,2]=0,0 f[1,1,1] f[1,1,1]=6 f[1,1,1,1] "
         "f[1,1,1,1]=3 j[1]=1 j[]=2 num_heads=2 kv_num_heads=1 >3",
         0, GIVES(4.5, 4.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 num_heads=1",
         0, GIVES(7, 7, 7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 num_heads=1 "
         "unidirectional=1",
         0, GIVES(3, 4.5, 7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 f[3]=0,0,1 "
         "num_heads=1",
         0, GIVES(8, 8, 8)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ "
         "j[1,3]=1,0,1 num_heads=1",
         0, GIVES(7.5, 7.5, 7.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ j[1]=2 "
         "num_heads=1",
         0, GIVES(4.5, 4.5, 4.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ j[2]=3,1 "
         "num_heads=1",
         0, GIVES(9, 9, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ "
         "j[1,3,3]=1,0,0,1,1,0,0,1,1 num_heads=1",
         0, GIVES(3, 4.5, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ _ "
         "f[1,1,3,3]=0,-inf,-inf,0,0,-inf,-inf,0,0 num_heads=1",
         0, GIVES(3, 4.5, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=100 f[1,3,1]=0,100,0 f[1,3,1]=3,6,12 _ "
         "j[1,3]=1,0,1 num_heads=1",
         0, GIVES(7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=100 f[1,3,1]=0,100,0 f[1,3,1]=3,6,12 _ "
         "j[1,3]=1,0,1 mask_filter_value=-20000.0 num_heads=1",
         0, GIVES(7.5)},
        {"com.microsoft.MultiHeadAttention-1 f[2,1,1]=0,0 f[2,2,1] f[2,2,1]=3,6,12,24 _ j[2]=1,2 "
         "num_heads=1",
         0, GIVES(3, 18)},
        {"com.microsoft.MultiHeadAttention-1 f[2,1,1]=0,0 f[2,2,1] f[2,2,1]=3,6,12,24 _ "
         "j[4]=2,2,1,0 num_heads=1",
         0, GIVES(6, 18)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=12 _ _ _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 num_heads=1 >3",
         0, GIVES(7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=12 _ _ _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 num_heads=1 >3",
         1, GIVES(2, 2, 1)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=12 _ _ _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 num_heads=1 >3",
         2, GIVES(3, 6, 12)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,2,2,2,1]=1,3,1,4,1,6,1,8 num_heads=2",
         0, GIVES(4.5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,2,1,3,1]=0,1,3,0,1,6 num_heads=1", 0,
         GIVES(4.5, 4.5)},
        {"com.microsoft.Attention-1 f[1,2,1]=3,6 f[1,3]=0,0,1 f[3]=0,0,1 num_heads=1", 0,
         GIVES(5.5, 5.5)},
        {"com.microsoft.Attention-1 f[1,2,1]=3,6 f[1,3]=0,0,1 f[3]=0,0,1 num_heads=1 "
         "unidirectional=1",
         0, GIVES(4, 5.5)},
        {"com.microsoft.Attention-1 f[1,1,1]=12 f[1,3]=0,1,1 f[3]=0,0,0 _ f[2,1,1,2,1]=1,2,3,6 "
         "num_heads=1 >2",
         0, GIVES(7)},
        {"com.microsoft.Attention-1 f[1,1,1]=12 f[1,3]=0,1,1 f[3]=0,0,0 _ f[2,1,1,2,1]=1,2,3,6 "
         "num_heads=1 >2",
         1, GIVES(1, 2, 12, 3, 6, 12)},
        {"ai.onnx.preview.FlexAttention-1 f[1,1,2,1]=0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0,
         GIVES(7, 7)},
        {"ai.onnx.preview.FlexAttention-1 f[1,2,1,1]=0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0,
         GIVES(7, 7)},
        {"ai.onnx.preview.FlexAttention-1 d[1,1,1,1]=0 d[1,1,2,1] d[1,1,2,1]=3,6", 0, GIVES(4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2] f[1,2,2]=3,1,6,2 _ _ "
         "j[1]=1 j[]=2 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 1, 4.5, 1.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,6]=0,0,1,1,3,1,0,0,1,1,6,2 _ _ _ _ j[1]=1 "
         "j[]=2 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 1, 4.5, 1.5)},
        {"com.microsoft.GroupQueryAttention-1 f[2,1,2]=0,0,0,0 f[2,1,2] f[2,1,2]=3,1,6,2 "
         "f[2,1,1,2] f[2,1,1,2]=9,3,12,4 j[2]=1,1 j[]=2 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(6, 2, 9, 3)},
        {"com.microsoft.GroupQueryAttention-1 f[2,1,2]=0,0,0,0 f[2,1,2] f[2,1,2]=3,1,6,2 "
         "f[2,1,1,2] f[2,1,1,2]=9,3,12,4 j[2]=1,1 j[]=2 num_heads=1 kv_num_heads=1 >3",
         2, GIVES(9, 3, 3, 1, 12, 4, 6, 2)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,4]=0,0,0,0 f[1,1,2] f[1,1,2]=3,1 _ _ j[1]=0 "
         "j[]=1 num_heads=2 kv_num_heads=1 >3",
         0, GIVES(3, 1, 3, 1)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,6]=0,0,0,0,0,0 f[1,1,6] f[1,1,6]=1,2,3,4,5,6 _ "
         "_ j[1]=0 j[]=1 num_heads=3 kv_num_heads=3 >3",
         0, GIVES(1, 2, 3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,2,2] f[1,2,2]=3,1,6,2 num_heads=1", 0,
         GIVES(4.5, 1.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,2,1,2,2]=1,1,3,1,1,1,6,2 num_heads=1",
         0, GIVES(4.5, 1.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,2,1,3,2]=0,0,1,1,3,1,0,0,1,1,6,2 num_heads=1", 0,
         GIVES(4.5, 1.5, 4.5, 1.5)},
        {"com.microsoft.MultiHeadAttention-1 f[2,1,2,3,1]=0,1,3,0,1,5,0,1,7,0,1,9 num_heads=2", 0,
         GIVES(3, 5, 7, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,2,4] f[1,2,4]=1,2,3,4,5,6,7,8 "
         "num_heads=2",
         0, GIVES(3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,2,2,2] "
         "f[1,2,2,2]=1,2,5,6,3,4,7,8 num_heads=2",
         0, GIVES(3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ _ _ "
         "f[1,2,1,2] f[1,2,1,2]=1,2,3,4 num_heads=2 >3",
         0, GIVES(3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ _ _ "
         "f[1,2,1,2] f[1,2,1,2]=1,2,3,4 num_heads=2 >3",
         2, GIVES(1, 2, 5, 6, 3, 4, 7, 8)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,1,2] f[1,1,2]=1,2 f[6]=0,0,0,0,10,20 "
         "num_heads=2",
         0, GIVES(11, 22)},
        {"com.microsoft.Attention-1 f[1,2,2]=3,1,6,2 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 "
         "f[6]=0,0,0,0,10,20 num_heads=1",
         0, GIVES(14.5, 21.5, 14.5, 21.5)},
        {"com.microsoft.Attention-1 f[1,2,2]=3,1,6,2 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 "
         "f[6]=0,0,0,0,10,20 num_heads=2",
         0, GIVES(14.5, 21.5, 14.5, 21.5)},
        {"com.microsoft.Attention-1 f[1,1,2]=3,1 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 f[6]=0,0,0,0,10,20 "
         "_ f[2,1,2,1,1]=1,2,7,9 num_heads=2 >2",
         0, GIVES(10, 15)},
        {"com.microsoft.Attention-1 f[1,1,2]=3,1 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 f[6]=0,0,0,0,10,20 "
         "_ f[2,1,2,1,1]=1,2,7,9 num_heads=2 >2",
         1, GIVES(1, 0, 2, 0, 7, 13, 9, 21)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,2,4] f[1,2,4]=1,2,3,4,5,6,7,8 q_num_heads=2 "
         "kv_num_heads=2",
         0, GIVES(3, 4, 5, 6)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,2,2] f[1,2,2]=1,2,5,6 q_num_heads=2 kv_num_heads=1", 0,
         GIVES(3, 4, 3, 4)},
        {"Attention-23 f[2,1,1,2]=0,0,0,0 f[2,1,2,2] f[2,1,2,2]=1,2,5,6,11,12,15,16", 0,
         GIVES(3, 4, 13, 14)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ f[1,2,1,2] f[1,2,1,2]=1,2,3,4 "
         "q_num_heads=2 kv_num_heads=2 >3",
         0, GIVES(3, 4, 5, 6)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ f[1,2,1,2] f[1,2,1,2]=1,2,3,4 "
         "q_num_heads=2 kv_num_heads=2 >3",
         2, GIVES(1, 2, 5, 6, 3, 4, 7, 8)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- norms ---- */

/* Rows whose means and deviations are whole; 1 / sqrt(1e-5) shows the default epsilon. */
static void rows_are_normalized(void **state)
{
    static const struct values_case cases[] = {
        {"BatchNormalization-15 f[1,2,2]=1,2,3,4 f[2]=2,3 f[2]=10,20 f[2]=1,3 f[2]=3,8 epsilon=1.0",
         0, GIVES(10, 11, 20, 21)},
        {"BatchNormalization-15 f[1,1,1]=1 f[1]=1 f[1]=0 f[1]=0 f[1]=0", 0, GIVES(316.2277699)},
        {"BatchNormalization-15 d[1,2,2]=1,2,3,4 d[2]=2,3 d[2]=10,20 d[2]=1,3 d[2]=3,8 epsilon=1.0",
         0, GIVES(10, 11, 20, 21)},
        {"BatchNormalization-15 d[1,1,1]=1 d[1]=1 d[1]=0 d[1]=0 d[1]=0", 0, GIVES(316.2277699)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 momentum=0.5 >3",
         0, GIVES(-1, 1)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 momentum=0.5 >3",
         1, GIVES(6)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 momentum=0.5 >3",
         2, GIVES(10.5)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 >3",
         1, GIVES(9.2)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 >3",
         2, GIVES(18.1)},
        {"InstanceNormalization-6 f[1,2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0", 0,
         GIVES(8, 12, 17, 23)},
        {"InstanceNormalization-6 d[1,2,2]=1,3,2,6 d[2]=2,3 d[2]=10,20 epsilon=0.0", 0,
         GIVES(8, 12, 17, 23)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0 >3", 0,
         GIVES(8, 23, 8, 23)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0 >3", 1, GIVES(2, 4)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0 >3", 2,
         GIVES(1, 0.5)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 epsilon=0.0", 0, GIVES(-2, 3, -2, 3)},
        {"LayerNormalization-17 f[2,2]=1,3,1,3 f[2,2]=1,2,3,4 axis=0 epsilon=0.0", 0,
         GIVES(-1, 2, -3, 4)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2,1]=2,3 epsilon=0.0", 0, GIVES(-2, 2, -3, 3)},
        {"RMSNormalization-23 f[1,2]=1,7 f[2]=2,3 epsilon=0.0", 0, GIVES(0.4, 4.2)},
        {"GroupNormalization-21 f[1,4,1]=1,3,2,6 f[4]=1,2,3,4 f[4]=10,20,30,40 num_groups=2 "
         "epsilon=0.0",
         0, GIVES(9, 22, 27, 44)},
        {"GroupNormalization-18 f[1,4,1]=1,3,2,6 f[2]=1,2 f[2]=10,20 num_groups=2 epsilon=0.0", 0,
         GIVES(9, 11, 18, 22)},
        {"LpNormalization-1 f[1,2]=3,4", 0, GIVES(0.6, 0.8)},
        {"LpNormalization-1 f[1,2]=1,-3 p=1", 0, GIVES(0.25, -0.75)},
        {"LpNormalization-1 f[2,2]=3,0,4,1 axis=0", 0, GIVES(0.6, 0, 0.8, 1)},
        {"MeanVarianceNormalization-13 f[1,2,1,2]=1,3,2,6", 0, GIVES(-1, 1, -1, 1)},
        {"MeanVarianceNormalization-13 f[1,2,1,2]=1,2,3,6 axes=[1]", 0, GIVES(-1, -1, 1, 1)},
        {"Softmax-13 f[2,2]=0,0,1,1", 0, GIVES(0.5, 0.5, 0.5, 0.5)},
        {"Softmax-13 f[1,3]=-9,-inf,-9", 0, GIVES(0.5, 0, 0.5)},
        {"Softmax-13 f[2,2]=0,-inf,0,5 axis=0", 0, GIVES(0.5, 0, 0.5, 1)},
        {"Softmax-11 f[1,2,2]=7,7,7,7", 0, GIVES(0.25, 0.25, 0.25, 0.25)},
        {"Hardmax-13 f[2,2]=-1,-2,-2,-1", 0, GIVES(1, 0, 0, 1)},
        {"LRN-13 f[1,3,1]=1,1,1 size=3 alpha=1.0 beta=1.0 bias=1.0", 0, GIVES(0.6, 0.5, 0.6)},
        {"Softmax-13 d[2,2]=0,0,1,1", 0, GIVES(0.5, 0.5, 0.5, 0.5)},
        {"Softmax-13 d[1,3]=-9,-inf,-9", 0, GIVES(0.5, 0, 0.5)},
        {"Softmax-13 d[2,2]=0,-inf,0,5 axis=0", 0, GIVES(0.5, 0, 0.5, 1)},
        {"Softmax-11 d[1,2,2]=7,7,7,7", 0, GIVES(0.25, 0.25, 0.25, 0.25)},
        {"LogSoftmax-13 d[1,2]=-5,-5", 0, GIVES(-0.69314718, -0.69314718)},
        {"Hardmax-13 d[2,2]=-1,-2,-2,-1", 0, GIVES(1, 0, 0, 1)},
        {"LRN-13 d[1,3,1]=1,1,1 size=3 alpha=1.0 beta=1.0 bias=1.0", 0, GIVES(0.6, 0.5, 0.6)},
        {"LRN-13 d[1,1,1]=100 size=1", 0, GIVES(59.4603558)},
        {"LRN-13 f[1,4,1]=1,1,1,1 size=2 alpha=1.0 beta=1.0 bias=1.0", 0,
         GIVES(0.5, 0.5, 0.5, 2.0 / 3)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "epsilon=0.0",
         0, GIVES(8, 23)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0",
         0, GIVES(8, 23)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0 >4",
         3, GIVES(1, 5)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 _ f[2]=0,2 "
         "epsilon=0.0",
         0, GIVES(-2, 3)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 epsilon=0.0", 0,
         GIVES(-2, 3)},
        {"com.microsoft.SkipSimplifiedLayerNormalization-1 f[1,1,2]=1,3 f[1,1,2]=0,4 f[2]=2,3 "
         "epsilon=0.0",
         0, GIVES(0.4, 4.2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 _ epsilon=0.0 >2",
         0, GIVES(8, 23, 8, 23)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,0 epsilon=0.0 >2",
         1, GIVES(1)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,1 epsilon=0.0 >2",
         1, GIVES(2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 j[1,2]=1,0 f[2,2]=1,2,3,5 "
         "f[2,2]=0,1,0,0 f[2,2]=0,0,5,1 f[2]=2,3 f[2]=10,20 _ epsilon=0.0 >3",
         2, GIVES(8, 7, 1, 2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 _ j[1,2]=1,0 epsilon=0.0 >3",
         2, GIVES(3, 5, 1, 3)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- steps ---- */

/* Weights of powers of ten show what came from which step. */
static void steps_follow_one_another(void **state)
{
    static const struct values_case cases[] = {
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 0,
         GIVES(1, 12)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 1,
         GIVES(12)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 direction=reverse hidden_size=1 "
         "activations={Relu} >2",
         0, GIVES(21, 2)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 direction=reverse hidden_size=1 "
         "activations={Relu} >2",
         1, GIVES(21)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 f[1,2]=100,1000 hidden_size=1 "
         "activations={Relu} >2",
         0, GIVES(1101, 12112)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 _ _ f[1,1,1]=3 hidden_size=1 "
         "activations={Relu} >2",
         0, GIVES(31, 312)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 _ j[1]=1 hidden_size=1 activations={Relu} >2",
         0, GIVES(1, 0)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 _ j[1]=1 hidden_size=1 activations={Relu} >2",
         1, GIVES(1)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 clip=5.0 hidden_size=1 activations={Relu} >2",
         0, GIVES(1, 5)},
        {"RNN-14 f[2,1,1]=1,2 f[2,1,1]=1,1 f[2,1,1]=10,10 direction=bidirectional hidden_size=1 "
         "activations={Relu,Relu} >2",
         0, GIVES(1, 21, 12, 2)},
        {"RNN-14 f[2,1,1]=1,2 f[2,1,1]=1,1 f[2,1,1]=10,10 direction=bidirectional hidden_size=1 "
         "activations={Relu,Relu} >2",
         1, GIVES(12, 21)},
        {"RNN-14 f[1,2,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 0,
         GIVES(1, 2)},
        {"RNN-14 f[2,2,1]=1,2,3,4 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 0,
         GIVES(1, 2, 13, 24)},
        {"RNN-14 f[2,2,1]=1,2,3,4 f[1,1,1]=1 f[1,1,1]=10 layout=1 hidden_size=1 activations={Relu} "
         ">2",
         0, GIVES(1, 12, 3, 34)},
        {"RNN-14 f[2,2,1]=1,2,3,4 f[1,1,1]=1 f[1,1,1]=10 layout=1 hidden_size=1 activations={Relu} "
         ">2",
         1, GIVES(12, 34)},
        {"RNN-14 f[1,1,2]=1,2 f[1,2,2]=1,10,100,1000 f[1,2,2]=0,0,0,0 hidden_size=2 "
         "activations={Relu}",
         0, GIVES(21, 2100)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 hidden_size=1 "
         "activations={Relu,Relu,Relu} >3",
         0, GIVES(8)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 hidden_size=1 "
         "activations={Relu,Relu,Relu} >3",
         2, GIVES(4)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 _ _ _ f[1,1,1]=3 hidden_size=1 "
         "activations={Relu,Relu,Relu} >3",
         0, GIVES(20)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 _ _ _ f[1,1,1]=3 input_forget=1 "
         "hidden_size=1 activations={Relu,Relu,Relu} >3",
         0, GIVES(2)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 _ _ _ f[1,1,1]=1 f[1,3]=1,10,100 "
         "hidden_size=1 activations={Relu,Relu,Relu} >3",
         0, GIVES(116856)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 f[1,8]=1,2,3,4,0,0,0,0 _ _ "
         "f[1,1,1]=1 hidden_size=1 activations={Relu,Relu,Relu} >3",
         0, GIVES(92)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,0 hidden_size=1 activations={Relu,Relu}",
         0, GIVES(0.25)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,1 _ _ f[1,1,1]=1 hidden_size=1 "
         "activations={Relu,Relu}",
         0, GIVES(1)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,1 f[1,6]=0,0,0,0,0,2 _ f[1,1,1]=1 "
         "linear_before_reset=1 hidden_size=1 activations={Relu,Relu}",
         0, GIVES(1.5)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,1 f[1,6]=0,0,0,0,0,2 _ f[1,1,1]=1 "
         "hidden_size=1 activations={Relu,Relu}",
         0, GIVES(2)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- shapes that change ---- */

/* One session, one image after the other, of more and of fewer rows; each is normalized to -1 and
   1, times the scale, plus the bias. */
static void scales_and_biases_stay_apart_when_shapes_change(void **state)
{
    static const char *const ops[] = {"BatchNormalization", "LayerNormalization"};
    static const float scale[2] = {2, 3}, bias[2] = {10, 20}, mean[2] = {1, 1},
                       variance[2] = {4, 4};
    static const float x[8] = {-1, 3, -1, 3, -1, 3, -1, 3};
    static const double y[8] = {8, 23, 8, 23, 8, 23, 8, 23};
    struct amp_session *session;
    (void)state;
    for (size_t op = 0; op < 2; op++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            net_start(17);
            uint32_t in = input("x", AMP_FLOAT, DIMS(AMP_DIM_UNKNOWN, 2));
            uint32_t s = constant("s", AMP_FLOAT, DIMS(2), scale);
            uint32_t b = constant("b", AMP_FLOAT, DIMS(2), bias);
            uint32_t m = constant("m", AMP_FLOAT, DIMS(2), mean);
            uint32_t v = constant("v", AMP_FLOAT, DIMS(2), variance);
            output(op == 0 ? NODE(ops[op], "y", in, s, b, m, v) : NODE(ops[op], "y", in, s, b));
            infer_all();
            assert_int_equal(amp_session_open(net.model, is_strict != 0, &session, &net.err),
                             AMP_OK);
            for (int64_t rows = 1; rows < 5; rows++) {
                amp_tensors_release(net.outputs, NET_OUTPUTS);
                assert_int_equal(amp_session_run(session, net_tensor(AMP_FLOAT, DIMS(rows, 2), x),
                                                 net.outputs, &net.err),
                                 AMP_OK);
                expect_doubles(0, y, 2 * (size_t)rows, 1e-4);
            }
            amp_session_destroy(session);
        }
}

/* ---- recurrent layers ---- */

/* An RNN of one hidden unit with weights 1 that keeps what is above 0: h = x + R h. */
static void start_rnn(struct amp_shape lengths, bool has_lengths)
{
    net_start(14);
    uint32_t x = input("x", AMP_FLOAT, DIMS(3, 1, 1));
    uint32_t w = constant("w", AMP_FLOAT, DIMS(1, 1, 1), (const float[]){1});
    uint32_t r = input("r", AMP_FLOAT, DIMS(1, 1, 1));
    uint32_t n = has_lengths ? input("n", AMP_INT32, lengths) : AMP_NONE;
    uint32_t y = NODE("RNN", "y", x, w, r, AMP_NONE, n);
    struct amp_str *relu = amp_arena_alloc(net.arena, sizeof *relu);
    *relu = (struct amp_str){"Relu", 4};
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){
            .name = "activations", .type = AMP_ATTR_STRINGS, .count = 1, .strings = relu});
    set_int(y, "hidden_size", 1);
    output(y);
}

static struct amp_tensor three_steps(void)
{
    return *net_tensor(AMP_FLOAT, DIMS(3, 1, 1), (const float[]){1, 2, 4});
}

static struct amp_tensor recurrence(float r)
{
    return *net_tensor(AMP_FLOAT, DIMS(1, 1, 1), &r);
}

static struct amp_tensor length(int32_t n)
{
    return *net_tensor(AMP_INT32, DIMS(1), &n);
}

static void recurrences_that_are_no_constants_may_change(void **state)
{
    struct amp_session *session;
    (void)state;
    start_rnn(SCALAR, false);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    for (int r = 1; r < 4; r++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session, TENSORS(three_steps(), recurrence((float)r)),
                                         net.outputs, &net.err),
                         AMP_OK);
        EXPECT_OUTPUT(0, 0, 1, 2 + r, 4 + r * (2 + r));
    }
    amp_session_destroy(session);
}

static void sequences_are_no_longer_than_the_steps(void **state)
{
    (void)state;
    start_rnn(DIMS(1), true);
    run_on(TENSORS(three_steps(), recurrence(1), length(3)));
    EXPECT_OUTPUT(0, 0, 1, 3, 7);
    run_on(TENSORS(three_steps(), recurrence(1), length(0)));
    EXPECT_OUTPUT(0, 0, 0, 0, 0);
    refuses(TENSORS(three_steps(), recurrence(1), length(4)), AMP_MODEL,
            "sequence 0 has length 4; there are 3 steps");
    refuses(TENSORS(three_steps(), recurrence(1), length(-1)), AMP_MODEL,
            "sequence 0 has length -1; there are 3 steps");
}

/* ---- trees ---- */

/* Random trees, evaluated node by node as ai.onnx.ml says. All numbers are halves, which sums have
   exactly and comparisons meet. */
enum { TREES = 3, DEPTH = 4, NODES = TREES << (DEPTH + 1), FEATURES = 3, TARGETS = 3, ROWS = 19 };
enum { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF };
enum { AVERAGE, SUM, MIN, MAX };

struct forest_node {
    int mode, feature, yes, no; /* children in nodes */
    bool missing_yes;
    double split, weights[TARGETS];
    bool has[TARGETS]; /* of a leaf */
    double members[2]; /* of a set */
};

static struct {
    struct forest_node nodes[NODES];
    int n_nodes, tree_of[NODES], id_of[NODES], roots[TREES], order[NODES];
    double base[TARGETS];
    int n_base, targets, aggregate;
    double rows[ROWS][FEATURES];
} forest;

static uint32_t forest_state;

static int any_of(int count)
{
    forest_state = forest_state * 1664525u + 1013904223u;
    return (int)((forest_state >> 8) % (uint32_t)count);
}

static double any_half(void)
{
    return any_of(9) / 2.0 - 2;
}

/* MODE below 0: any of the first -MODE for each node. */
static int grow(int tree, int depth, int mode, bool may_miss, bool has_all)
{
    int i = forest.n_nodes++;
    struct forest_node *node = &forest.nodes[i];
    *node = (struct forest_node){.mode = LEAF};
    forest.tree_of[i] = tree;
    forest.id_of[i] = (i * 37 + 11) % 101;
    if (depth == DEPTH || (depth > 0 && any_of(4) == 0)) {
        int only = any_of(forest.targets);
        for (int t = 0; t < forest.targets; t++) {
            node->has[t] = has_all ? t == only : any_of(3) == 0;
            node->weights[t] = any_half();
        }
        return i;
    }
    node->mode = mode < 0 ? any_of(-mode) : mode;
    node->feature = any_of(FEATURES);
    node->split = any_half();
    node->members[0] = any_half();
    node->members[1] = any_half();
    node->missing_yes = may_miss && any_of(2) == 0;
    int yes = grow(tree, depth + 1, mode, may_miss, has_all);
    int no = grow(tree, depth + 1, mode, may_miss, has_all);
    node->yes = yes;
    node->no = no;
    return i;
}

/* ONE_WEIGHT: a leaf has one weight, as TreeEnsemble wants it; others have any number of them. */
static void plant(uint32_t seed, int mode, bool may_miss, bool one_weight)
{
    forest_state = seed;
    forest.n_nodes = 0;
    forest.targets = 1 + any_of(TARGETS);
    forest.n_base = one_weight || any_of(2) == 0 ? 0 : forest.targets;
    forest.aggregate = any_of(4);
    for (int t = 0; t < TARGETS; t++)
        forest.base[t] = t < forest.n_base ? any_half() : 0;
    for (int k = 0; k < TREES; k++)
        forest.roots[k] = grow(k, 0, mode, may_miss, one_weight);
    for (int r = 0; r < ROWS; r++)
        for (int f = 0; f < FEATURES; f++)
            forest.rows[r][f] = any_of(8) == 0 ? (double)NAN : any_half();
    /* The roots are listed before the other nodes, which come in any order. */
    int n = 0;
    for (int k = 0; k < TREES; k++)
        forest.order[n++] = forest.roots[k];
    for (int i = 0; i < forest.n_nodes; i++)
        if (i != forest.roots[0] && i != forest.roots[1] && i != forest.roots[2]) {
            int at = TREES + any_of(n - TREES + 1);
            memmove(forest.order + at + 1, forest.order + at, (size_t)(n - at) * sizeof(int));
            forest.order[at] = i;
            n++;
        }
}

static bool forest_answer(const struct forest_node *node, double value)
{
    if (isnan(value) && node->missing_yes)
        return true;
    switch (node->mode) {
    case LEQ:
        return value <= node->split;
    case LT:
        return value < node->split;
    case GTE:
        return value >= node->split;
    case GT:
        return value > node->split;
    case EQ:
        return value == node->split;
    case NEQ:
        return value != node->split;
    default:
        return value == node->members[0] || value == node->members[1];
    }
}

/* The scores of ROW, and which targets have any. */
static void forest_scores(const double *row, double *scores, bool *has)
{
    for (int t = 0; t < forest.targets; t++) {
        scores[t] = 0;
        has[t] = false;
    }
    for (int k = 0; k < TREES; k++) {
        const struct forest_node *node = &forest.nodes[forest.roots[k]];
        while (node->mode != LEAF)
            node = &forest.nodes[forest_answer(node, row[node->feature]) ? node->yes : node->no];
        for (int t = 0; t < forest.targets; t++) {
            double w = node->weights[t];
            if (!node->has[t])
                continue;
            if (forest.aggregate == AVERAGE || forest.aggregate == SUM || !has[t])
                scores[t] += w;
            else
                scores[t] = forest.aggregate == MIN ? fmin(scores[t], w) : fmax(scores[t], w);
            has[t] = true;
        }
    }
    for (int t = 0; t < forest.targets; t++)
        scores[t] = scores[t] / (forest.aggregate == AVERAGE ? TREES : 1) + forest.base[t];
}

static void set_floats(uint32_t y, const char *name, size_t count, const float *items)
{
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_FLOATS,
                          .count = count,
                          .floats = amp_arena_memdup(net.arena, items, count * sizeof *items)});
}

/* The attributes of the nodes, one list each. */
static void set_nodes(uint32_t y)
{
    static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "",           "LEAF"};
    static const int64_t tree_ids[TREES] = {7, 3, 9};
    int64_t trees[NODES], ids[NODES], features[NODES], yes[NODES], no[NODES], missing[NODES];
    struct amp_str *words = amp_arena_array(net.arena, NODES, sizeof *words);
    float splits[NODES + 1];
    size_t n = (size_t)forest.n_nodes;
    for (size_t k = 0; k < n; k++) {
        int i = forest.order[k];
        const struct forest_node *node = &forest.nodes[i];
        trees[k] = tree_ids[forest.tree_of[i]];
        ids[k] = forest.id_of[i];
        features[k] = node->feature;
        yes[k] = forest.id_of[node->yes];
        no[k] = forest.id_of[node->no];
        missing[k] = node->missing_yes;
        splits[k] = (float)node->split;
        words[k] = (struct amp_str){modes[node->mode], strlen(modes[node->mode])};
    }
    set_list(y, "nodes_treeids", n, trees);
    set_list(y, "nodes_nodeids", n, ids);
    set_list(y, "nodes_featureids", n, features);
    set_list(y, "nodes_truenodeids", n, yes);
    set_list(y, "nodes_falsenodeids", n, no);
    set_list(y, "nodes_missing_value_tracks_true", n, missing);
    set_floats(y, "nodes_values", n, splits);
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){
            .name = "nodes_modes", .type = AMP_ATTR_STRINGS, .count = n, .strings = words});
}

/* The leaves' weights, in PREFIX_... */
static void set_weights(uint32_t y, const char *prefix)
{
    static const int64_t tree_ids[TREES] = {7, 3, 9};
    int64_t targets[NODES * TARGETS], ids[NODES * TARGETS], trees[NODES * TARGETS];
    float weights[NODES * TARGETS + 1];
    size_t n = 0;
    for (int t = 0; t < forest.targets; t++)
        for (int i = forest.n_nodes - 1; i >= 0; i--)
            if (forest.nodes[i].mode == LEAF && forest.nodes[i].has[t]) {
                targets[n] = t;
                ids[n] = forest.id_of[i];
                trees[n] = tree_ids[forest.tree_of[i]];
                weights[n++] = (float)forest.nodes[i].weights[t];
            }
    set_list(y, amp_arena_printf(net.arena, "%s_ids", prefix), n, targets);
    set_list(y, amp_arena_printf(net.arena, "%s_nodeids", prefix), n, ids);
    set_list(y, amp_arena_printf(net.arena, "%s_treeids", prefix), n, trees);
    set_floats(y, amp_arena_printf(net.arena, "%s_weights", prefix), n, weights);
}

static void set_base(uint32_t y)
{
    float base[TARGETS + 1];
    for (int t = 0; t < TARGETS; t++)
        base[t] = (float)forest.base[t];
    if (forest.n_base > 0)
        set_floats(y, "base_values", (size_t)forest.n_base, base);
}

static uint32_t start_ml(const char *op_type, int version, enum amp_dtype dtype,
                         struct amp_shape shape)
{
    net_start(22);
    amp_model_import(net.model, "ai.onnx.ml", version);
    uint32_t x = input("x", dtype, shape);
    uint32_t id = net_node(0, op_type, "y", 1, &x, 1);
    one_operator(id, "ai.onnx.ml", op_type, version);
    output(net_out(id, 0));
    return net_out(id, 0);
}

static uint32_t start_forest(const char *op_type, int version, enum amp_dtype dtype, int64_t rows,
                             uint32_t n_outputs)
{
    net_start(22);
    amp_model_import(net.model, "ai.onnx.ml", version);
    uint32_t x = input("x", dtype, DIMS(rows, FEATURES));
    uint32_t id = net_node(0, op_type, "y", n_outputs, &x, 1);
    one_operator(id, "ai.onnx.ml", op_type, version);
    for (uint32_t i = 0; i < n_outputs; i++)
        output(net_out(id, i));
    return net_out(id, 0);
}

/* Integers have neither halves nor NaN. */
static void run_forest(enum amp_dtype dtype, int64_t rows)
{
    struct amp_shape shape = DIMS(rows, FEATURES);
    int64_t wide[ROWS * FEATURES] = {0};
    struct amp_tensor *x = net_tensor(dtype, shape, wide);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t f = 0; f < FEATURES; f++) {
            double *value = &forest.rows[r][f];
            size_t at = (size_t)(r * FEATURES + f);
            bool is_float = dtype == AMP_FLOAT || dtype == AMP_DOUBLE;
            *value = is_float ? *value : isnan(*value) ? 0 : floor(*value);
            if (dtype == AMP_INT64)
                ((int64_t *)x->data)[at] = (int64_t)*value;
            else if (dtype == AMP_INT32)
                ((int32_t *)x->data)[at] = (int32_t)*value;
            else
                amp_tensor_set_double(x, at, *value);
        }
    run_on(x);
}

static void expect_scores(uint32_t i, int64_t rows)
{
    double expected[ROWS * TARGETS];
    bool has[TARGETS];
    for (int64_t r = 0; r < rows; r++)
        forest_scores(forest.rows[r], expected + r * forest.targets, has);
    expect_doubles(i, expected, (size_t)(rows * forest.targets), 1e-6);
}

static const enum amp_dtype forest_dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64, AMP_INT32};
static const int64_t forest_rows[] = {1, 7, 8, 9, 16, ROWS};

static void ensembles_are_the_sum_of_their_trees(void **state)
{
    static const char *const aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    (void)state;
    for (uint32_t seed = 1; seed <= 96; seed++) {
        enum amp_dtype dtype = forest_dtypes[seed % 8 < 4 ? 0 : seed % 4];
        int64_t rows = forest_rows[seed % 6];
        plant(seed, seed % 7 == 6 ? -6 : (int)(seed % 7), seed % 3 == 0, false);
        uint32_t y = start_forest("TreeEnsembleRegressor", 3, dtype, rows, 1);
        set_nodes(y);
        set_weights(y, "target");
        set_int(y, "n_targets", forest.targets);
        set_word(y, "aggregate_function", aggregates[forest.aggregate]);
        set_base(y);
        run_forest(dtype, rows);
        expect_scores(0, rows);
    }
}

/* The class is that of the greatest score of those that a row has: all, with base values. */
static void classes_have_the_greatest_score(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 48; seed++) {
        enum amp_dtype dtype = forest_dtypes[seed % 4];
        plant(seed + 1000, -4, seed % 3 == 0, false);
        if (forest.targets < TARGETS)
            continue;
        forest.aggregate = SUM;
        uint32_t y = start_forest("TreeEnsembleClassifier", 3, dtype, ROWS, 2);
        set_nodes(y);
        set_weights(y, "class");
        set_base(y);
        SET_INTS(y, "classlabels_int64s", 30, 10, 20);
        run_forest(dtype, ROWS);
        expect_scores(1, ROWS);
        for (int r = 0; r < ROWS; r++) {
            static const int64_t labels[TARGETS] = {30, 10, 20};
            double scores[TARGETS];
            bool has[TARGETS];
            int top = -1;
            forest_scores(forest.rows[r], scores, has);
            for (int t = 0; t < TARGETS; t++)
                if ((has[t] || forest.n_base > 0) && (top < 0 || scores[t] > scores[top]))
                    top = t;
            assert_int_equal(((const int64_t *)net.outputs[0].data)[r], labels[top < 0 ? 0 : top]);
        }
    }
}

static void set_tensor(uint32_t y, const char *name, enum amp_dtype dtype, int64_t count,
                       const double *items)
{
    double room[NODES * 3] = {0};
    struct amp_tensor *tensor = net_tensor(dtype, DIMS(count), room);
    for (int64_t i = 0; i < count; i++)
        if (dtype == AMP_UINT8)
            ((uint8_t *)tensor->data)[i] = (uint8_t)items[i];
        else
            amp_tensor_set_double(tensor, (size_t)i, items[i]);
    struct amp_tensor **tensors = amp_arena_memdup(net.arena, &tensor, sizeof(struct amp_tensor *));
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){.name = name, .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
}

/* Branches and leaves, numbered apart, with sets that end with a NaN. */
static void set_parts(uint32_t y, enum amp_dtype dtype)
{
    int64_t number[NODES], yes[NODES], no[NODES], is_yes[NODES], is_no[NODES], features[NODES];
    int64_t missing[NODES], targets[NODES], roots[TREES];
    double modes[NODES], splits[NODES], weights[NODES], members[NODES * 3];
    int64_t branches = 0, leaves = 0, n_members = 0;
    for (int k = 0; k < forest.n_nodes; k++) {
        const struct forest_node *node = &forest.nodes[forest.order[k]];
        number[forest.order[k]] = node->mode == LEAF ? leaves++ : branches++;
    }
    for (int k = 0; k < forest.n_nodes; k++) {
        const struct forest_node *node = &forest.nodes[forest.order[k]];
        int64_t at = number[forest.order[k]];
        if (node->mode == LEAF) {
            for (int t = 0; t < forest.targets; t++)
                if (node->has[t]) {
                    targets[at] = t;
                    weights[at] = node->weights[t];
                }
            continue;
        }
        modes[at] = node->mode;
        splits[at] = node->split;
        features[at] = node->feature;
        missing[at] = node->missing_yes;
        yes[at] = number[node->yes];
        no[at] = number[node->no];
        is_yes[at] = forest.nodes[node->yes].mode == LEAF;
        is_no[at] = forest.nodes[node->no].mode == LEAF;
        if (node->mode == MEMBER) {
            members[n_members++] = node->members[0];
            members[n_members++] = node->members[1];
            members[n_members++] = (double)NAN;
        }
    }
    for (int k = 0; k < TREES; k++)
        roots[k] = number[forest.roots[k]];
    set_list(y, "nodes_featureids", (size_t)branches, features);
    set_list(y, "nodes_truenodeids", (size_t)branches, yes);
    set_list(y, "nodes_falsenodeids", (size_t)branches, no);
    set_list(y, "nodes_trueleafs", (size_t)branches, is_yes);
    set_list(y, "nodes_falseleafs", (size_t)branches, is_no);
    set_list(y, "nodes_missing_value_tracks_true", (size_t)branches, missing);
    set_list(y, "tree_roots", TREES, roots);
    set_list(y, "leaf_targetids", (size_t)leaves, targets);
    set_tensor(y, "nodes_modes", AMP_UINT8, branches, modes);
    set_tensor(y, "nodes_splits", dtype, branches, splits);
    set_tensor(y, "leaf_weights", dtype, leaves, weights);
    if (n_members > 0)
        set_tensor(y, "membership_values", dtype, n_members, members);
}

static void newer_ensembles_are_the_sum_of_their_trees(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 64; seed++) {
        enum amp_dtype dtype = seed % 2 == 0 ? AMP_FLOAT : AMP_DOUBLE;
        int64_t rows = forest_rows[seed % 6];
        plant(seed + 2000, seed % 4 == 0 ? (int)(seed / 4 % 7) : -7, seed % 3 == 0, true);
        uint32_t y = start_forest("TreeEnsemble", 5, dtype, rows, 1);
        set_parts(y, dtype);
        set_int(y, "n_targets", forest.targets);
        set_int(y, "aggregate_function", forest.aggregate);
        run_forest(dtype, rows);
        expect_scores(0, rows);
    }
}

/* Numbers of nodes and weights are floats, codes of modes small integers. */
static void integers_are_no_numbers_of_trees(void **state)
{
    static const char *const lists[] = {"nodes_values", "target_weights", "base_values"};
    static const char *const parts[] = {"nodes_splits", "nodes_modes", "leaf_weights",
                                        "membership_values"};
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    struct amp_tensor *tensor;
    char expected[80];
    (void)state;
    for (int i = 0; i < 3 + 4; i++) {
        const char *name = i < 3 ? lists[i] : parts[i - 3];
        uint32_t y = start_forest(i < 3 ? "TreeEnsembleRegressor" : "TreeEnsemble", i < 3 ? 3 : 5,
                                  AMP_FLOAT, 1, 1);
        plant(i < 3 ? 6 : 5, i < 3 ? -6 : -7, false, true);
        if (i < 3) {
            set_nodes(y);
            set_weights(y, "target");
        } else {
            set_parts(y, AMP_FLOAT);
        }
        set_int(y, "n_targets", forest.targets);
        run_on(&row);
        if (i < 3)
            set_floats(y, name, 0, NULL);
        const char *attr = amp_arena_printf(net.arena, i < 3 ? "%s_as_tensor" : "%s", name);
        int64_t zeros[NODES * 3] = {0};
        tensor = net_tensor(AMP_INT64, DIMS(NODES * 3), zeros);
        struct amp_tensor **tensors = amp_arena_memdup(net.arena, &tensor, sizeof(void *));
        amp_node_set_attr(
            net.model, node_of(y),
            (struct amp_attr){
                .name = attr, .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
        snprintf(expected, sizeof expected, "attribute '%s' is of int64", name);
        refuses(&row, AMP_MODEL, expected);
    }
}

/* LIBSVM's least probability of one class against another is 1e-7. Its coupling makes 1e-7 of that
   for the second class; for the first, where it begins, thrice its square. */
static void probabilities_of_classes_are_not_0(void **state)
{
    static const float ones[6] = {1, 1, 1, 1, 1, 1};
    static const float far[] = {-100, 100};
    static const double least[] = {1e-7, 3e-14};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
        SET_INTS(y, "classlabels_ints", 7, 8);
        SET_INTS(y, "vectors_per_class", 1, 1);
        set_floats(y, "support_vectors", 6, ones);
        set_floats(y, "coefficients", 2, ones);
        set_floats(y, "rho", 1, (const float[]){0});
        set_floats(y, "prob_a", 1, (const float[]){0});
        set_floats(y, "prob_b", 1, &far[i]);
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), ones));
        assert_true(fabs(amp_tensor_double(&net.outputs[1], (size_t)i) - 1) < 1e-6);
        assert_true(fabs(amp_tensor_double(&net.outputs[1], (size_t)(1 - i)) / least[i] - 1) <
                    0.01);
    }
}

/* As ONNX Runtime: with weights for each of two classes and no support vectors, the second class is
   chosen when the greater score is above 0 or, where no weight is below 0, at least a half. */
static void one_of_two_linear_classes(void **state)
{
    static const struct {
        float weights[2];
        int64_t label;
    } cases[] = {
        {{0.25f, 0.125f}, 7}, {{0.125f, 0.25f}, 8}, {{0.5f, 0.125f}, 8},  {{0.75f, 0.5f}, 8},
        {{0, 0}, 7},          {{0.25f, -1}, 8},     {{0.75f, -0.5f}, 8},  {{-0.5f, -0.25f}, 8},
        {{-0.25f, -0.5f}, 7}, {{0, -0.5f}, 7},      {{-0.5f, 0.125f}, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float *w = cases[i].weights;
        uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
        SET_INTS(y, "classlabels_ints", 7, 8);
        set_floats(y, "coefficients", 6, (const float[]){w[0], 0, 0, w[1], 0, 0});
        set_floats(y, "rho", 1, (const float[]){0});
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 2, 3}));
        if (((const int64_t *)net.outputs[0].data)[0] != cases[i].label)
            fail_msg("%g, %g: %d", (double)w[0], (double)w[1],
                     (int)((const int64_t *)net.outputs[0].data)[0]);
        EXPECT_OUTPUT(1, 0, (double)w[0], (double)w[1]);
    }
}

/* Scores of three classes as LinearClassifier has them of a row of one 1. */
static void run_scores(const float *scores, const char *transform)
{
    uint32_t y = start_forest("LinearClassifier", 1, AMP_FLOAT, 1, 2);
    float weights[9] = {0};
    for (int c = 0; c < 3; c++)
        weights[c * FEATURES] = scores[c];
    SET_INTS(y, "classlabels_ints", 30, 10, 20);
    set_floats(y, "coefficients", 9, weights);
    set_word(y, "post_transform", transform);
    run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
}

/* An empty list of words is none: the integers are the labels. */
static void labels_are_integers_where_there_are_no_words(void **state)
{
    static const char *const ops[] = {"LinearClassifier", "SVMClassifier"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_forest(ops[i], 1, AMP_FLOAT, 1, 2);
        amp_node_set_attr(net.model, node_of(y),
                          (struct amp_attr){.name = "classlabels_strings",
                                            .type = AMP_ATTR_STRINGS,
                                            .strings = (struct amp_str[]){{"", 0}}});
        SET_INTS(y, "classlabels_ints", 30, 10, 20);
        set_floats(y, "coefficients", 9, (const float[]){0, 0, 0, 1, 0, 0, 0, 0, 0});
        if (i == 1)
            set_floats(y, "rho", 1, (const float[]){0});
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
        assert_int_equal(net.outputs[0].dtype, AMP_INT64);
        assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 10);
    }
}

/* Four classes have six pairs: without probabilities the scores are those of the pairs AB, AC, AD,
   BC, BD and CD; with them, or without vectors, those of the classes. */
static void pairs_of_four_classes_are_six(void **state)
{
    static const float vectors[4 * FEATURES] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1};
    static const float weights[12] = {1, -2, 3, -4, 5, 6, -7, 8, -9, 10, 11, -12};
    static const float rho[6] = {0.5f, 1, 1.5f, 2, 2.5f, 3}, ones[6] = {1, 1, 1, 1, 1, 1};
    static const float row[FEATURES] = {1, 2, 3};
    static const double kernels[4] = {1, 4, 9, 6};
    (void)state;
    for (int way = 0; way < 3; way++) {
        uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
        SET_INTS(y, "classlabels_ints", 7, 8, 9, 10);
        set_floats(y, "coefficients", 12, weights);
        set_floats(y, "rho", 6, rho);
        if (way < 2) {
            SET_INTS(y, "vectors_per_class", 1, 1, 1, 1);
            set_floats(y, "support_vectors", 4 * FEATURES, vectors);
        }
        if (way == 1) {
            set_floats(y, "prob_a", 6, ones);
            set_floats(y, "prob_b", 6, ones);
        }
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), row));
        assert_int_equal(net.outputs[1].shape.dims[1], way == 0 ? 6 : 4);
        double expected[6], sum = 0;
        size_t pair = 0;
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++, pair++)
                expected[pair] = (double)rho[pair] + (double)weights[(j - 1) * 4 + i] * kernels[i] +
                                 (double)weights[i * 4 + j] * kernels[j];
        if (way == 0)
            expect_doubles(1, expected, 6, 1e-5);
        for (size_t k = 0; k < 4 && way == 1; k++)
            sum += amp_tensor_double(&net.outputs[1], k);
        assert_true(way != 1 || fabs(sum - 1) < 1e-6);
        for (int k = 0; k < 4; k++)
            expected[k] = (double)rho[0] + (double)weights[k * 3] + 2 * (double)weights[k * 3 + 1] +
                          3 * (double)weights[k * 3 + 2];
        if (way == 2)
            expect_doubles(1, expected, 4, 1e-5);
    }
}

/* A tree that asks for nothing needs no features, whatever its leaf names. */
static void leaves_need_no_features(void **state)
{
    (void)state;
    uint32_t y = start_ml("TreeEnsembleRegressor", 3, AMP_FLOAT, DIMS(2, 0));
    SET_INTS(y, "nodes_treeids", 0);
    SET_INTS(y, "nodes_nodeids", 0);
    SET_INTS(y, "nodes_featureids", 9);
    SET_INTS(y, "nodes_truenodeids", 0);
    SET_INTS(y, "nodes_falsenodeids", 0);
    set_floats(y, "nodes_values", 1, (const float[]){0});
    refuses(net_tensor(AMP_FLOAT, DIMS(2, 0), NULL), AMP_MODEL,
            "attribute 'nodes_modes' has 0 values; one for each of 1 nodes is needed");
    amp_node_set_attr(net.model, node_of(y),
                      (struct amp_attr){.name = "nodes_modes",
                                        .type = AMP_ATTR_STRINGS,
                                        .count = 1,
                                        .strings = (struct amp_str[]){{"LEAF", 4}}});
    SET_INTS(y, "target_ids", 0);
    SET_INTS(y, "target_nodeids", 0);
    SET_INTS(y, "target_treeids", 0);
    set_floats(y, "target_weights", 1, (const float[]){2.5f});
    run_on(net_tensor(AMP_FLOAT, DIMS(2, 0), NULL));
    EXPECT_OUTPUT(0, 0, 2.5, 2.5);
}

/* Trees whose leaves say nothing leave the scores at 0. */
static void leaves_may_have_no_weights(void **state)
{
    (void)state;
    plant(1003, -4, false, false);
    uint32_t y = start_forest("TreeEnsembleClassifier", 3, AMP_FLOAT, ROWS, 2);
    double zeros[ROWS * 2] = {0};
    set_nodes(y);
    SET_INTS(y, "classlabels_int64s", 30, 10);
    run_forest(AMP_FLOAT, ROWS);
    expect_doubles(1, zeros, ROWS * 2, 0);
    for (int r = 0; r < ROWS; r++)
        assert_int_equal(((const int64_t *)net.outputs[0].data)[r], 30);
    for (size_t n = 0; n < 4; n++) { /* one of two classes may have a base value alone */
        set_floats(y, "base_values", n, (const float[]){1, 2, 3});
        if (n < 3)
            run_forest(AMP_FLOAT, ROWS);
        else
            refuses(net_tensor(AMP_FLOAT, DIMS(ROWS, FEATURES), forest.rows), AMP_MODEL,
                    "attribute 'base_values' has 3 values; one for each of 2 classes is needed");
    }
    SET_INTS(y, "classlabels_int64s", 30, 10, 20);
    run_forest(AMP_FLOAT, ROWS);
    set_floats(y, "base_values", 1, (const float[]){1});
    refuses(net_tensor(AMP_FLOAT, DIMS(ROWS, FEATURES), forest.rows), AMP_MODEL,
            "attribute 'base_values' has 1 values; one for each of 3 classes is needed");
}

/* The greater of two scores is told in the precision of the input. */
static void scores_are_compared_as_precisely_as_the_input(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double rows[FEATURES] = {0};
        uint32_t y = start_forest("TreeEnsembleClassifier", 3, dtypes[i], 1, 2);
        SET_INTS(y, "nodes_treeids", 0);
        SET_INTS(y, "nodes_nodeids", 0);
        SET_INTS(y, "nodes_featureids", 0);
        SET_INTS(y, "nodes_truenodeids", 0);
        SET_INTS(y, "nodes_falsenodeids", 0);
        set_floats(y, "nodes_values", 1, (const float[]){0});
        amp_node_set_attr(net.model, node_of(y),
                          (struct amp_attr){.name = "nodes_modes",
                                            .type = AMP_ATTR_STRINGS,
                                            .count = 1,
                                            .strings = (struct amp_str[]){{"LEAF", 4}}});
        SET_INTS(y, "class_ids", 0, 1);
        SET_INTS(y, "class_nodeids", 0, 0);
        SET_INTS(y, "class_treeids", 0, 0);
        set_tensor(y, "class_weights_as_tensor", AMP_DOUBLE, 2, (const double[]){1, 1 + 1e-12});
        SET_INTS(y, "classlabels_int64s", 30, 10, 20);
        run_on(net_tensor(dtypes[i], DIMS(1, FEATURES), rows));
        assert_int_equal(((const int64_t *)net.outputs[0].data)[0], i == 0 ? 30 : 10);
    }
}

/* Ways to add up and transforms have numbers in newer ensembles. */
static void ways_of_trees_are_numbered(void **state)
{
    static const struct {
        const char *name;
        int64_t most;
    } attrs[] = {{"aggregate_function", 3}, {"post_transform", 4}};
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    char expected[80];
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int64_t value = -1; value <= attrs[i].most + 1; value++) {
            plant(5, -7, false, true);
            uint32_t y = start_forest("TreeEnsemble", 5, AMP_FLOAT, 1, 1);
            set_parts(y, AMP_FLOAT);
            set_int(y, "n_targets", forest.targets);
            set_int(y, attrs[i].name, value);
            snprintf(expected, sizeof expected, "attribute '%s' is %d; 0 to %d are possible",
                     attrs[i].name, (int)value, (int)attrs[i].most);
            if (value >= 0 && value <= attrs[i].most)
                run_on(&row);
            else
                refuses(&row, AMP_MODEL, expected);
        }
}

/* Numbers of nodes, leaves and roots begin at 0. */
static void nodes_of_trees_are_there(void **state)
{
    static const char *const lists[] = {"nodes_truenodeids", "nodes_falsenodeids", "tree_roots"};
    static const char *const says[] = {
        "leads to leaf -1, which is not there", "leads to leaf -1, which is not there",
        "attribute 'tree_roots' has the value -1; there are 1 nodes"};
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint32_t y = start_forest("TreeEnsemble", 5, AMP_FLOAT, 1, 1);
        SET_INTS(y, "nodes_featureids", 0);
        SET_INTS(y, "nodes_truenodeids", 0);
        SET_INTS(y, "nodes_falsenodeids", 1);
        SET_INTS(y, "nodes_trueleafs", 1);
        SET_INTS(y, "nodes_falseleafs", 1);
        SET_INTS(y, "tree_roots", 0);
        SET_INTS(y, "leaf_targetids", 0, 0);
        set_tensor(y, "nodes_modes", AMP_UINT8, 1, (const double[]){0});
        set_tensor(y, "nodes_splits", AMP_FLOAT, 1, (const double[]){0.5});
        set_tensor(y, "leaf_weights", AMP_FLOAT, 2, (const double[]){3, 4});
        set_int(y, "n_targets", 1);
        if (i < 3)
            SET_INTS(y, lists[i], -1);
        if (i < 3)
            refuses(&row, AMP_MODEL, says[i]);
        else
            run_on(&row);
    }
    EXPECT_OUTPUT(0, 0, 3);
}

/* Where one score tells two classes apart, both get the quantile of the normal distribution. */
static void pairs_of_classes_have_quantiles(void **state)
{
    (void)state;
    uint32_t y = start_forest("LinearClassifier", 1, AMP_FLOAT, 1, 2);
    SET_INTS(y, "classlabels_ints", 30, 10);
    set_floats(y, "coefficients", 3, (const float[]){0.75f, 0, 0});
    run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
    EXPECT_OUTPUT(1, 0, 0.25, 0.75);
    set_word(y, "post_transform", "PROBIT");
    run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
    EXPECT_OUTPUT(1, 5e-3, -0.67449, 0.67449);
}

/* Scores within 1e-7 of 0 take no part in a SOFTMAX_ZERO, and the first of equal ones is chosen. */
static void scores_become_what_is_asked_for(void **state)
{
    const double third = exp(2e-7 - 1), e = exp(1);
    (void)state;
    run_scores((const float[]){1, 0.5e-7f, 2e-7f}, "SOFTMAX_ZERO");
    EXPECT_OUTPUT(1, 1e-6, 1 / (1 + third), 0, third / (1 + third));
    run_scores((const float[]){-1, -0.5e-7f, -2e-7f}, "SOFTMAX_ZERO");
    EXPECT_OUTPUT(1, 1e-6, 1 / (1 + e), 0, e / (1 + e));
    run_scores((const float[]){1, 0, 2}, "SOFTMAX");
    EXPECT_OUTPUT(1, 1e-6, e / (1 + e + e * e), 1 / (1 + e + e * e), e * e / (1 + e + e * e));
    run_scores((const float[]){1, 0, -2}, "LOGISTIC");
    EXPECT_OUTPUT(1, 1e-6, e / (1 + e), 0.5, 1 / (1 + e * e));
    run_scores((const float[]){0.5f, 0.8413447f, 0.1586553f}, "PROBIT");
    EXPECT_OUTPUT(1, 2e-3, 0, 1, -1); /* an approximation */
    run_scores((const float[]){0.25f, -3, 0.25f}, "NONE");
    EXPECT_OUTPUT(1, 0, 0.25, -3, 0.25);
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 30);
    run_scores((const float[]){-3, 0.25f, 0.25f}, "NONE");
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 10);
    run_scores((const float[]){-3, -4, -2}, "SOFTMAX");
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 20);
}

/* ---- constants ---- */

static void set_attr(uint32_t y, const char *name, enum amp_attr_type type, size_t count,
                     const void *items, size_t size)
{
    struct amp_attr attr = {.name = name, .type = type, .count = count};
    attr.ints = amp_arena_memdup(net.arena, items, count * size);
    amp_node_set_attr(net.model, node_of(y), attr);
}

static uint32_t start_constant(enum amp_dtype dtype)
{
    net_start(22);
    uint32_t y = net_out(net_node(0, "Constant", "y", 1, (const uint32_t[]){0}, 0), 0);
    amp_value_at(net.model, y)->dtype = dtype;
    output(y);
    return y;
}

static void expect_constant(enum amp_dtype dtype, int rank)
{
    run_on(NULL);
    assert_int_equal(net.outputs[0].dtype, dtype);
    assert_int_equal(net.outputs[0].shape.rank, rank);
}

static void constants_are_what_their_attribute_holds(void **state)
{
    static const struct amp_str words[] = {{"ab", 2}, {"", 0}, {"c", 1}};
    (void)state;
    set_attr(start_constant(AMP_FLOAT), "value_float", AMP_ATTR_FLOAT, 1, (float[]){2.5f},
             sizeof(float));
    expect_constant(AMP_FLOAT, 0);
    EXPECT_OUTPUT(0, 0, 2.5);
    set_attr(start_constant(AMP_FLOAT), "value_floats", AMP_ATTR_FLOATS, 3, (float[]){2.5f, -1, 4},
             sizeof(float));
    expect_constant(AMP_FLOAT, 1);
    EXPECT_OUTPUT(0, 0, 2.5, -1, 4);
    set_attr(start_constant(AMP_INT64), "value_int", AMP_ATTR_INT, 1, (int64_t[]){-7},
             sizeof(int64_t));
    expect_constant(AMP_INT64, 0);
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], -7);
    set_attr(start_constant(AMP_INT64), "value_ints", AMP_ATTR_INTS, 2, (int64_t[]){-7, 9},
             sizeof(int64_t));
    expect_constant(AMP_INT64, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 2);
    assert_int_equal(((const int64_t *)net.outputs[0].data)[1], 9);
    set_attr(start_constant(AMP_STRING), "value_string", AMP_ATTR_STRING, 1, words, sizeof *words);
    expect_constant(AMP_STRING, 0);
    assert_memory_equal(((const struct amp_str *)net.outputs[0].data)[0].data, "ab", 2);
    set_attr(start_constant(AMP_STRING), "value_strings", AMP_ATTR_STRINGS, 3, words,
             sizeof *words);
    expect_constant(AMP_STRING, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 3);
    assert_int_equal(((const struct amp_str *)net.outputs[0].data)[1].size, 0);
    assert_memory_equal(((const struct amp_str *)net.outputs[0].data)[2].data, "c", 1);
    set_attr(start_constant(AMP_INT64), "value_ints", AMP_ATTR_INTS, 0, words, 0);
    expect_constant(AMP_INT64, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 0);
    start_constant(AMP_FLOAT);
    refuses(NULL, AMP_MODEL,
            "no value; one of value, sparse_value, value_float, value_floats, value_int, "
            "value_ints, value_string and value_strings is needed");
}

/* Where the tensor lies, aligned or not, does not matter. */
static void constants_are_tensors_wherever_they_lie(void **state)
{
    static const float values[] = {1, -2.5f, 3};
    (void)state;
    for (size_t offset = 0; offset < 2 * sizeof(float); offset += sizeof(float)) {
        uint32_t y = start_constant(AMP_FLOAT);
        char *room = amp_arena_alloc(net.arena, 256);
        room += 64 - (uintptr_t)room % 64 + offset;
        struct amp_tensor *tensor = net_tensor(AMP_FLOAT, DIMS(3, 1), values);
        tensor->data = memcpy(room, values, sizeof values);
        set_attr(y, "value", AMP_ATTR_TENSOR, 1, &tensor, sizeof(struct amp_tensor *));
        expect_constant(AMP_FLOAT, 2);
        EXPECT_OUTPUT(0, 0, 1, -2.5, 3);
    }
}

/* ---- tables ---- */

enum { KEYS_MOST = 100 };

/* Keys and what is no key; any number of them, so that tables of any size are full. */
static void encoders_look_every_key_up(void **state)
{
    static const int counts[] = {1, 2, 4, 5, 8, 9, KEYS_MOST};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int64_t keys[KEYS_MOST], x[2 * KEYS_MOST];
        float values[KEYS_MOST];
        double expected[2 * KEYS_MOST];
        int n = counts[k];
        for (int i = 0; i < n; i++) {
            keys[i] = i * i * 7 - 50;
            values[i] = (float)i + 0.5f;
            x[i] = keys[i];
            expected[i] = i + 0.5;
            x[n + i] = keys[i] + 3;
            expected[n + i] = -9;
        }
        uint32_t y = start_ml("LabelEncoder", 4, AMP_INT64, DIMS(2 * n));
        set_list(y, "keys_int64s", (size_t)n, keys);
        set_floats(y, "values_floats", (size_t)n, values);
        set_number(y, "default_float", -9);
        run_on(net_tensor(AMP_INT64, DIMS(2 * n), x));
        expect_doubles(0, expected, (size_t)(2 * n), 0);
        y = start_ml("OneHotEncoder", 1, AMP_INT64, DIMS(2 * n));
        set_list(y, "cats_int64s", (size_t)n, keys);
        run_on(net_tensor(AMP_INT64, DIMS(2 * n), x));
        assert_int_equal(amp_tensor_count(&net.outputs[0]), 2 * n * n);
        for (int i = 0; i < 2 * n * n; i++)
            assert_true(amp_tensor_double(&net.outputs[0], (size_t)i) == (i % n == i / n));
    }
}

/* NaN is a key as others, -0 is 0, and the last byte of a string counts. */
static void encoders_tell_keys_apart(void **state)
{
    static const struct amp_str words[] = {{"", 0}, {"a", 1}, {"ab", 2}, {"ac", 2}, {"a\0", 2}};
    static const struct amp_str texts[] = {{"ac", 2}, {"b", 1},   {"a", 1},   {"", 0},
                                           {"ab", 2}, {"a\0", 2}, {"abc", 3}, {"\0", 1}};
    (void)state;
    uint32_t y = start_ml("LabelEncoder", 4, AMP_FLOAT, DIMS(5));
    set_floats(y, "keys_floats", 3, (const float[]){NAN, 0, 2});
    set_floats(y, "values_floats", 3, (const float[]){10, 20, 30});
    set_number(y, "default_float", 5);
    run_on(net_tensor(AMP_FLOAT, DIMS(5), (const float[]){2, -0.0f, -NAN, 1, 0}));
    EXPECT_OUTPUT(0, 0, 30, 20, 10, 5, 20);
    y = start_ml("LabelEncoder", 4, AMP_STRING, DIMS(8));
    set_attr(y, "keys_strings", AMP_ATTR_STRINGS, 5, words, sizeof *words);
    SET_INTS(y, "values_int64s", 10, 20, 30, 40, 50);
    set_int(y, "default_int64", 7);
    run_on(net_tensor(AMP_STRING, DIMS(8), texts));
    static const int64_t expected[] = {40, 7, 20, 10, 30, 50, 7, 7};
    assert_memory_equal(net.outputs[0].data, expected, sizeof expected);
}

/* ---- scalars and diagonals ---- */

static void scalars_have_no_border(void **state)
{
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    static const float x = 3.5f;
    (void)state;
    for (int i = 0; i < 4; i++) {
        net_start(19);
        uint32_t y = NODE("Pad", "y", input("x", AMP_FLOAT, SCALAR),
                          constant("pads", AMP_INT64, DIMS(0), (const int64_t[]){0}));
        set_word(y, "mode", modes[i]);
        output(y);
        run_on(net_tensor(AMP_FLOAT, SCALAR, &x));
        EXPECT_OUTPUT(0, 0, 3.5);
    }
}

/* [2, 3, 2], each dim up to thrice. */
static void tiles_are_copies_side_by_side(void **state)
{
    float x[12];
    double expected[12 * 27];
    (void)state;
    for (int i = 0; i < 12; i++)
        x[i] = (float)i;
    for (int way = 0; way < 64; way++) {
        const int64_t repeats[] = {way / 16, way / 4 % 4, way % 4};
        size_t count = 0;
        for (int a = 0; a < 2 * (int)repeats[0]; a++)
            for (int b = 0; b < 3 * (int)repeats[1]; b++)
                for (int c = 0; c < 2 * (int)repeats[2]; c++)
                    expected[count++] = a % 2 * 6 + b % 3 * 2 + c % 2;
        net_start(13);
        output(NODE("Tile", "y", input("x", AMP_FLOAT, DIMS(2, 3, 2)),
                    constant("repeats", AMP_INT64, DIMS(3), repeats)));
        run_on(net_tensor(AMP_FLOAT, DIMS(2, 3, 2), x));
        expect_doubles(0, expected, count, 0);
    }
}

/* Old slopes of one dim are of channels, others those of the elements. */
static void old_slopes_belong_to_channels_or_elements(void **state)
{
    (void)state;
    for (int is_row = 0; is_row < 2; is_row++) {
        net_start(6);
        uint32_t slope = constant("slope", AMP_FLOAT, is_row ? DIMS(2) : DIMS(2, 3),
                                  (const float[]){1, 2, 3, 4, 5, 6});
        output(NODE("PRelu", "y", input("x", AMP_FLOAT, DIMS(1, 2, 3)), slope));
        run_on(net_tensor(AMP_FLOAT, DIMS(1, 2, 3), (const float[]){-1, -1, -1, -1, -1, 7}));
        if (is_row)
            EXPECT_OUTPUT(0, 0, -1, -1, -1, -2, -2, 7);
        else
            EXPECT_OUTPUT(0, 0, -1, -2, -3, -4, -5, 7);
    }
}

static void diagonals_lie_anywhere(void **state)
{
    static const int64_t places[] = {INT64_MIN, -3, -2, -1, 0, 1, 2, 3, 4, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double expected[2 * 3];
        for (int k = 0; k < 6; k++)
            expected[k] = places[i] == k % 3 - k / 3;
        uint32_t y = start_one("EyeLike", 9, AMP_DOUBLE, DIMS(2, 3));
        set_int(y, "k", places[i]);
        RUN(AMP_DOUBLE, DIMS(2, 3), 5, 5, 5, 5, 5, 5);
        expect_doubles(0, expected, 6, 0);
    }
}

/* ---- slices ---- */

/* Elements START, START + STEP and so on, as far as END, as Python has them; not before the first
   element with a step back, where ONNX begins at the first. */
static void check_slice(int64_t n, int64_t start, int64_t end, int64_t step)
{
    double x[2 * 5], expected[2 * 5];
    size_t count = 0;
    int64_t first = start < 0 ? start + n : start, last = end < 0 ? end + n : end;
    first = first < 0 ? 0 : step < 0 && first >= n ? n - 1 : first;
    last = last < 0 ? -1 : last;
    for (int64_t i = first; i >= 0 && i < n && (step > 0 ? i < last : i > last); i += step > n ? n
                                                                                      : step < -n
                                                                                          ? -n
                                                                                          : step)
        for (int64_t k = 0; k < 2; k++)
            expected[count++] = (double)(2 * i + k);
    net_start(13);
    output(NODE("Slice", "y", input("x", AMP_DOUBLE, DIMS(n, 2)), NUMBERS("starts", start),
                NUMBERS("ends", end), NUMBERS("axes", 0), NUMBERS("steps", step)));
    for (int i = 0; i < 2 * (int)n; i++)
        x[i] = i;
    run_on(net_tensor(AMP_DOUBLE, DIMS(n, 2), x));
    expect_doubles(0, expected, count, 0);
}

static void slices_are_those_of_python(void **state)
{
    static const int64_t places[] = {INT64_MIN, -6, -5, -2, -1, 0, 1, 4, 5, 6, INT64_MAX};
    static const int64_t steps[] = {-3, -1, 1, 2, INT64_MAX, INT64_MIN};
    static const int64_t dims[] = {1, 2, 5};
    enum { PLACES = sizeof places / sizeof *places };
    (void)state;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < PLACES * PLACES; i++)
            for (int k = 0; k < 6; k++)
                if (steps[k] > 0 || places[i / PLACES] >= -dims[d])
                    check_slice(dims[d], places[i / PLACES], places[i % PLACES], steps[k]);
}

/* What a product of matrices, a convolution or another turn has left in another order. */
static void reductions_follow_any_order(void **state)
{
    static const int64_t perms[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t dims[] = {2, 3, 4};
    float x[24];
    (void)state;
    for (int i = 0; i < 24; i++)
        x[i] = (float)(i * i % 29);
    for (int p = 0; p < 6; p++)
        for (int axes = 1; axes < 8; axes++) {
            const int64_t *perm = perms[p];
            int64_t list[3], to[3] = {1, 1, 1};
            double expected[24] = {0};
            size_t n = 0;
            for (int d = 0; d < 3; d++)
                if (axes >> d & 1)
                    list[n++] = d;
                else
                    to[d] = dims[perm[d]];
            for (int i = 0; i < 24; i++) {
                int64_t at[3] = {i / 12, i / 4 % 3, i % 4}, place = 0;
                for (int d = 0; d < 3; d++)
                    place = place * to[d] + (axes >> d & 1 ? 0 : at[perm[d]]);
                expected[place] += (double)x[i];
            }
            net_start(13);
            uint32_t turned = NODE("Transpose", "t", input("x", AMP_FLOAT, DIMS(2, 3, 4)));
            set_list(turned, "perm", 3, perm);
            output(NODE("ReduceSum", "y", turned,
                        constant("axes", AMP_INT64, DIMS((int64_t)n), list)));
            run_on(net_tensor(AMP_FLOAT, DIMS(2, 3, 4), x));
            expect_doubles(0, expected, (size_t)(to[0] * to[1] * to[2]), 0);
        }
}

/* Scales for all, for each row or column, or for blocks of them belong to the elements wherever
   they lie. */
static void scales_follow_any_order(void **state)
{
    enum { ROWS_OF = 4, WIDTH = 6 };
    static const float scales[ROWS_OF * WIDTH] = {1,    2, 0.5f, 4, 0.25f, 8, 2, 1, 4, 0.5f, 1, 2,
                                                  0.5f, 4, 1,    2, 8,     1, 1, 2, 2, 4,    4, 8};
    float x[ROWS_OF * WIDTH];
    (void)state;
    for (int i = 0; i < ROWS_OF * WIDTH; i++)
        x[i] = (float)(i * 7 % 23 - 9);
    for (int way = 0; way < 5; way++)
        for (int is_turned = 0; is_turned < 2; is_turned++) {
            int axis = way % 2, is_block = way > 2;
            int64_t to[2] = {ROWS_OF, WIDTH};
            double expected[ROWS_OF * WIDTH];
            to[axis] /= is_block ? 2 : 1;
            struct amp_shape shape = way == 0   ? SCALAR
                                     : is_block ? DIMS(to[0], to[1])
                                                : DIMS(to[axis]);
            net_start(21);
            uint32_t in =
                input("x", AMP_FLOAT, is_turned ? DIMS(WIDTH, ROWS_OF) : DIMS(ROWS_OF, WIDTH));
            if (is_turned)
                in = NODE("Transpose", "t", in);
            uint32_t y =
                NODE("QuantizeLinear", "y", in, constant("scale", AMP_FLOAT, shape, scales));
            set_int(y, "axis", axis);
            if (is_block)
                set_int(y, "block_size", 2);
            output(y);
            run_on(
                net_tensor(AMP_FLOAT, is_turned ? DIMS(WIDTH, ROWS_OF) : DIMS(ROWS_OF, WIDTH), x));
            for (int r = 0; r < ROWS_OF; r++)
                for (int c = 0; c < WIDTH; c++) {
                    int at[2] = {r, c};
                    at[axis] /= is_block ? 2 : 1;
                    double scale = (double)scales[way == 0   ? 0
                                                  : is_block ? at[0] * (int)to[1] + at[1]
                                                             : at[axis]];
                    double value = (double)x[is_turned ? c * ROWS_OF + r : r * WIDTH + c];
                    expected[r * WIDTH + c] = fmin(fmax(rint(value / scale), 0), 255);
                }
            expect_doubles(0, expected, ROWS_OF * WIDTH, 0);
        }
}

/* Lists without values are as good as none. */
static void empty_lists_of_values_do_not_count(void **state)
{
    (void)state;
    uint32_t y = start_ml("LabelEncoder", 2, AMP_INT64, DIMS(3));
    set_attr(y, "values_strings", AMP_ATTR_STRINGS, 0, NULL, sizeof(struct amp_str));
    SET_INTS(y, "keys_int64s", 1, 2);
    set_floats(y, "values_floats", 2, (const float[]){0.5f, 1.5f});
    run_on(net_tensor(AMP_INT64, DIMS(3), (const int64_t[]){2, 1, 2}));
    assert_int_equal(net.outputs[0].dtype, AMP_FLOAT);
    EXPECT_OUTPUT(0, 0, 1.5, 0.5, 1.5);
}

/* A word that begins as another is another, whatever the case. */
static void stop_words_are_whole(void **state)
{
    static const struct amp_str words[] = {{"AB", 2}, {"abc", 3}, {"a", 1}, {"", 0}, {"aB", 2}};
    static const struct amp_str stops[] = {{"ab", 2}};
    static const char *const left[] = {"abc", "a", ""};
    (void)state;
    net_start(10);
    uint32_t y = NODE("StringNormalizer", "y", input("x", AMP_STRING, DIMS(5)));
    set_attr(y, "stopwords", AMP_ATTR_STRINGS, 1, stops, sizeof *stops);
    set_int(y, "is_case_sensitive", 0);
    output(y);
    run_on(net_tensor(AMP_STRING, DIMS(5), words));
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 3);
    for (int i = 0; i < 3; i++) {
        struct amp_str found = ((const struct amp_str *)net.outputs[0].data)[i];
        assert_int_equal(found.size, strlen(left[i]));
        assert_true(found.size == 0 || memcmp(found.data, left[i], found.size) == 0);
    }
}

/* ---- unique elements ---- */

enum { UNIQUE_ROWS = 9, UNIQUE_WIDTH = 3 };

/* The elements of row R of X, or of column R: one each where AXIS is below 0. */
static void unique_row(const int64_t *x, int axis, int r, int64_t *row, int *size)
{
    *size = axis < 0 ? 1 : axis == 0 ? UNIQUE_WIDTH : UNIQUE_ROWS;
    for (int i = 0; i < *size; i++)
        row[i] = axis < 0 ? x[r] : axis == 0 ? x[r * UNIQUE_WIDTH + i] : x[i * UNIQUE_WIDTH + r];
}

static int compare_rows(const int64_t *a, const int64_t *b, int size)
{
    for (int i = 0; i < size; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* By comparing each row with each: sorted, or in the order in which they first come. */
static void check_unique(enum amp_dtype dtype, int axis, bool is_sorted, const int64_t *x)
{
    enum { MOST = UNIQUE_ROWS * UNIQUE_WIDTH };
    int n = axis < 0 ? MOST : axis == 0 ? UNIQUE_ROWS : UNIQUE_WIDTH, size, found = 0;
    int64_t rows[MOST][UNIQUE_ROWS], inverse[MOST], counts[MOST] = {0};
    int firsts[MOST], order[MOST];
    for (int r = 0; r < n; r++) {
        unique_row(x, axis, r, rows[r], &size);
        int same = 0;
        while (same < r && compare_rows(rows[same], rows[r], size) != 0)
            same++;
        if (same == r)
            firsts[found++] = r;
    }
    for (int k = 0; k < found; k++) { /* into the place that the others leave */
        int at = k;
        for (; is_sorted && at > 0 && compare_rows(rows[firsts[k]], rows[order[at - 1]], size) < 0;
             at--)
            order[at] = order[at - 1];
        order[at] = firsts[k];
    }
    for (int r = 0; r < n; r++)
        for (int k = 0; k < found; k++)
            if (compare_rows(rows[r], rows[order[k]], size) == 0) {
                inverse[r] = k;
                counts[k]++;
            }
    net_start(11);
    struct amp_shape shape = DIMS(UNIQUE_ROWS, UNIQUE_WIDTH);
    uint32_t in = input("x", dtype, shape), id = net_node(0, "Unique", "y", 4, &in, 1);
    for (uint32_t i = 0; i < 4; i++)
        output(net_out(id, i));
    if (axis >= 0)
        set_int(net_out(id, 0), "axis", axis - 2 * (x[0] % 2));
    set_int(net_out(id, 0), "sorted", is_sorted);
    double room[MOST];
    struct amp_tensor *tensor = net_tensor(dtype, shape, room);
    for (size_t i = 0; i < MOST; i++)
        if (dtype == AMP_INT64)
            ((int64_t *)tensor->data)[i] = x[i];
        else if (dtype == AMP_BOOL)
            ((uint8_t *)tensor->data)[i] = (uint8_t)x[i];
        else
            amp_tensor_set_double(tensor, i, (double)x[i]);
    run_on(tensor);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), found * size);
    assert_int_equal(amp_tensor_count(&net.outputs[1]), found);
    assert_int_equal(amp_tensor_count(&net.outputs[2]), n);
    assert_int_equal(amp_tensor_count(&net.outputs[3]), found);
    assert_memory_equal(net.outputs[2].data, inverse, (size_t)n * sizeof *inverse);
    for (int k = 0; k < found; k++) {
        assert_int_equal(((const int64_t *)net.outputs[1].data)[k], order[k]);
        assert_int_equal(((const int64_t *)net.outputs[3].data)[k], counts[k]);
        for (int i = 0; i < size; i++) {
            size_t at = (size_t)(axis == 1 ? i * found + k : k * size + i);
            bool is_whole = dtype == AMP_INT64 || dtype == AMP_BOOL;
            double value = is_whole ? (double)amp_tensor_int(&net.outputs[0], at)
                                    : amp_tensor_double(&net.outputs[0], at);
            assert_true(value == (double)rows[order[k]][i]);
        }
    }
}

static void each_element_is_unique_once(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_INT64, AMP_FLOAT, AMP_DOUBLE, AMP_BOOL};
    int64_t x[UNIQUE_ROWS * UNIQUE_WIDTH];
    (void)state;
    forest_state = 77;
    for (int round = 0; round < 120; round++) {
        enum amp_dtype dtype = dtypes[round / 3 % 4];
        for (int i = 0; i < UNIQUE_ROWS * UNIQUE_WIDTH; i++)
            x[i] = any_of(dtype == AMP_BOOL ? 2 : round % 3 + 1);
        for (int axis = -1; axis < 2; axis++)
            check_unique(dtype, axis, round % 2 == 0, x);
    }
}

/* ---- random numbers ---- */

/* Those of NumPy's RandomState with the same seed, as ONNX's reference evaluator draws them. */
static uint32_t draw(const char *op_type, float seed, int64_t count)
{
    net_start(22);
    uint32_t y = net_out(net_node(0, op_type, "y", 1, (const uint32_t[]){0}, 0), 0);
    output(y);
    set_number(y, "seed", seed);
    set_int(y, "dtype", AMP_DOUBLE);
    SET_INTS(y, "shape", count);
    return y;
}

static void uniform_numbers_are_numpys(void **state)
{
    (void)state;
    draw("RandomUniform", 1, 320);
    run_on(NULL);
    const double *found = net.outputs[0].data;
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 320);
    assert_true(found[0] == 0.417022004702574 && found[1] == 0.7203244934421581 &&
                found[2] == 0.00011437481734488664);
    assert_true(found[311] == 0.9096355249515571 && found[312] == 0.2571182937821962 &&
                found[319] == 0.851671874936367);
    uint32_t y = draw("RandomUniform", 0, 2);
    set_number(y, "low", -2);
    set_number(y, "high", 6);
    run_on(NULL);
    EXPECT_OUTPUT(0, 1e-15, 0.5488135039273248 * 8 - 2, 0.7151893663724195 * 8 - 2);
}

static void normal_numbers_are_numpys(void **state)
{
    (void)state;
    draw("RandomNormal", 1, 5);
    run_on(NULL);
    EXPECT_OUTPUT(0, 1e-14, 1.6243453636632417, -0.6117564136500754, -0.5281717522634557,
                  -1.0729686221561705, 0.8654076293246785);
    uint32_t y = draw("RandomNormal", 3, 2);
    set_number(y, "mean", 10);
    set_number(y, "scale", 2);
    run_on(NULL);
    EXPECT_OUTPUT(0, 1e-14, 10 + 2 * 1.7886284734303186, 10 + 2 * 0.43650985051198943);
}

static void bernoulli_is_below_the_probability(void **state)
{
    static const double chances[] = {0.436, 0.025926231827891333, 0.55, 0.4353, 0.42, 0.34, 0.2,
                                     0.62};
    (void)state;
    uint32_t y = start_one("Bernoulli", 22, AMP_DOUBLE, DIMS(8));
    set_number(y, "seed", 2);
    run_on(net_tensor(AMP_DOUBLE, DIMS(8), chances));
    EXPECT_OUTPUT(0, 0, 1, 0, 1, 0, 0, 1, 0, 1);
}

/* Classes 0 to 3 with the chances 0.1, 0.2, 0.3 and 0.4, then all alike. */
static void multinomial_divides_the_unit_by_chances(void **state)
{
    (void)state;
    uint32_t y = start_one("Multinomial", 22, AMP_DOUBLE, DIMS(2, 4));
    set_number(y, "seed", 5);
    set_int(y, "sample_size", 6);
    RUN(AMP_DOUBLE, DIMS(2, 4), log(1), log(2), log(3), log(4), 800, 800, 800, 800);
    EXPECT_OUTPUT(0, 0, 1, 3, 1, 3, 2, 3, 3, 2, 1, 0, 0, 2);
    y = start_one("Multinomial", 22, AMP_FLOAT, DIMS(1, 1));
    set_int(y, "sample_size", 0);
    RUN(AMP_FLOAT, DIMS(1, 1), 0);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 0);
}

static void expect_dropout(float ratio, const double *values, const double *mask)
{
    static const double threes[] = {3, 3, 3, 3, 3, 3, 3, 3};
    net_start(22);
    const uint32_t inputs[] = {input("x", AMP_DOUBLE, DIMS(8)),
                               constant("ratio", AMP_FLOAT, SCALAR, &ratio),
                               constant("training", AMP_BOOL, SCALAR, (const uint8_t[]){1})};
    uint32_t node = net_node(0, "Dropout", "y", 2, inputs, 3);
    output(net_out(node, 0));
    output(net_out(node, 1));
    set_int(net_out(node, 0), "seed", 5);
    run_on(net_tensor(AMP_DOUBLE, DIMS(8), threes));
    expect_doubles(0, values, 8, 1e-6);
    expect_doubles(1, mask, 8, 0);
}

static void dropout_keeps_what_is_drawn_from_the_ratio_on(void **state)
{
    (void)state;
#define VALUES(...) ((const double[]){__VA_ARGS__})
    expect_dropout(0.5f, VALUES(0, 6, 0, 6, 0, 6, 6, 6), VALUES(0, 1, 0, 1, 0, 1, 1, 1));
    expect_dropout(0.25f, VALUES(0, 4, 0, 4, 4, 4, 4, 4), VALUES(0, 1, 0, 1, 1, 1, 1, 1));
    expect_dropout(0, VALUES(3, 3, 3, 3, 3, 3, 3, 3), VALUES(1, 1, 1, 1, 1, 1, 1, 1));
    expect_dropout(1, VALUES(0, 0, 0, 0, 0, 0, 0, 0), VALUES(0, 0, 0, 0, 0, 0, 0, 0));
#undef VALUES
}

/* ---- patterns ---- */

/* What RE2's wiki on its syntax says of patterns: texts that they match as a whole, and texts that
   they do not. */
static void run_pattern(const char *pattern, const struct amp_str *texts, int64_t count)
{
    net_start(20);
    uint32_t y = NODE("RegexFullMatch", "y", input("x", AMP_STRING, DIMS(count)));
    output(y);
    set_word(y, "pattern", pattern);
    run_on(net_tensor(AMP_STRING, DIMS(count), texts));
}

static struct amp_str text_of(const char *text)
{
    return (struct amp_str){text, strlen(text)};
}

static void expect_match(const char *pattern, struct amp_str text, bool expected)
{
    run_pattern(pattern, &text, 1);
    if (((const uint8_t *)net.outputs[0].data)[0] != expected)
        fail_msg("'%s' %s '%s'", pattern, expected ? "matches" : "does not match", text.data);
}

enum { TEXTS = 6 };

struct pattern_case {
    const char *pattern, *whole[TEXTS], *others[TEXTS];
};

static void expect_matches(const struct pattern_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < TEXTS; k++) {
            if (cases[i].whole[k] != NULL)
                expect_match(cases[i].pattern, text_of(cases[i].whole[k]), true);
            if (cases[i].others[k] != NULL)
                expect_match(cases[i].pattern, text_of(cases[i].others[k]), false);
        }
}

static void patterns_have_re2s_characters(void **state)
{
    static const struct pattern_case cases[] = {
        {"\\x41\\x4a\\x4F\\xaf", {"AJO\u00af"}, {"AJO\xaf", "AJO"}},
        {"\\x411", {"A1"}, {"\u0411", "A"}},
        {"\\x{41}\\x{00000041}", {"AA"}, {"A"}},
        {"\\x{d7ff}\\x{e000}\\x{10ffff}", {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"}, {"\x7f"}},
        {"\\x{FfFf}", {"\uffff"}, {"\ufffe"}},
        {"\\07\\101\\1010\\0101", {"\aAA0\b1"}, {"\aAA\bA"}},
        {"\\12\\77\\777", {"\n?\u01ff"}, {"\n??7"}},
        {"\\a\\f\\t\\n\\r\\v", {"\a\f\t\n\r\v"}, {"aftnrv"}},
        {"\\.\\-\\\\\\]\\/\\_", {".-\\]/_"}, {"x-\\]/_"}},
        {"\\Qa.b\\E.", {"a.bx", "a.b."}, {"axbx", "a.b"}},
        {"\\Qa(", {"a("}, {"a", "a(a"}},
        {"\\Q\\d\\\\E", {"\\d\\"}, {"5", "\\d\\\\E"}},
        {"\\Qab\\E+", {"ab", "abbb"}, {"abab", "a"}},
        {"{", {"{"}, {""}},
        {"a{+}", {"a{}", "a{{}"}, {"a}", "aa}"}},
        {"a{x}", {"a{x}"}, {"ax"}},
        {"a{2", {"a{2"}, {"aa"}},
        {"a{2,", {"a{2,"}, {"aa"}},
        {"a{2,x}", {"a{2,x}"}, {"aa"}},
        {"a{,2}", {"a{,2}"}, {"", "a", "aa"}},
        {"a{02}", {"a{02}"}, {"aa"}},
        {"a{1,02}", {"a{1,02}"}, {"aa"}},
        {"\u00e9\u732b", {"\u00e9\u732b"}, {"\u00e9", "\u732b"}},
        {".", {"a", "\u732b"}, {"", "\n", "ab"}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
    expect_match("\\0a\\000", (struct amp_str){"\0a\0", 3}, true);
    expect_match("\\0a\\000", (struct amp_str){"\0a", 2}, false);
}

static void patterns_have_re2s_classes(void **state)
{
    static const struct pattern_case cases[] = {
        {"[a-c]", {"a", "b", "c"}, {"d", "-", "", "`"}},
        {"[ac-]", {"a", "c", "-"}, {"b"}},
        {"[-ac]", {"a", "c", "-"}, {"b"}},
        {"[b-b]", {"b"}, {"a", "c", "-"}},
        {"[^a-c]", {"d", "\n", "-", "^", "\u732b"}, {"a", "b", "c", ""}},
        {"[a^]", {"a", "^"}, {"b"}},
        {"[]-a]", {"]", "^", "a"}, {"-", "b"}},
        {"[^]]", {"a", "["}, {"]"}},
        {"[\\x41-\\x{43}\\n]", {"A", "B", "C", "\n"}, {"D", "-"}},
        {"[[:a]", {"[", ":", "a"}, {"]"}},
        {"[+--]", {"+", ",", "-"}, {"*", "."}},
        {"[[:alpha:]5]", {"a", "Z", "5"}, {"4", ":", "["}},
        {"[[:^digit:]]", {"a", "\n"}, {"4"}},
        {"[[a]", {"[", "a"}, {":"}},
        {"[a:]", {":", "a"}, {"b"}},
        {"\\pN", {"5", "\u00b2"}, {"a"}},
        {"\\pLu", {"Au", "au"}, {"A", "1u"}},
        {"\\p{Lu}", {"A", "\u00c9"}, {"a", "1"}},
        {"\\P{Lu}", {"a", "1"}, {"A"}},
        {"\\PL", {"1"}, {"a"}},
        {"\\p{^Lu}", {"a", "1"}, {"A"}},
        {"\\P{^Lu}", {"A"}, {"a", "1"}},
        {"\\p{Greek}", {"\u03b1"}, {"a", "\u0342"}},
        {"\\P{Greek}", {"a", "\u0342"}, {"\u03b1"}},
        {"\\p{Han}", {"\u732b"}, {"\u3001"}},
        {"\\p{Any}", {"\u03b1", "\n"}, {""}},
        {"[\\p{Lu}\\pN-]", {"A", "5", "-"}, {"a"}},
        {"[\\P{Lu}]", {"a"}, {"A"}},
        {"[^\\p{^Greek}]", {"\u03b1"}, {"a"}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
}

/* \d, \w, \s and their opposites, in a class and alone: of ASCII only, and \s without \v. */
static void patterns_have_perls_classes(void **state)
{
    static const char *const texts[] = {"0",  "9",      "a",      "Z",      "_",      " ",
                                        "\t", "\n",     "\v",     "\f",     "\r",     "-",
                                        "~",  "\u00e9", "\u0660", "\u00a0", "\u017f", "\u2028"};
    static const char all[] = "dws";
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *class = all; *class != '\0'; class ++) {
            const char *members = *class == 'd'   ? "0123456789"
                                  : *class == 's' ? " \t\n\f\r"
                                                  : "09aZ_";
            bool is_member = texts[i][1] == '\0' && strchr(members, texts[i][0]) != NULL;
            const char lower[] = {'\\', *class, '\0'};
            const char upper[] = {'\\', (char)(*class - 'a' + 'A'), '\0'};
            const char in_class[] = {'[', '\\', *class, ']', '\0'};
            const char in_opposite[] = {'[', '\\', (char)(*class - 'a' + 'A'), ']', '\0'};
            expect_match(lower, text_of(texts[i]), is_member);
            expect_match(upper, text_of(texts[i]), !is_member);
            expect_match(in_class, text_of(texts[i]), is_member);
            expect_match(in_opposite, text_of(texts[i]), !is_member);
        }
}

static void patterns_have_re2s_groups(void **state)
{
    static const struct pattern_case cases[] = {
        {"(?P<n1_A>a)(?<_>b)(?:c)(d)", {"abcd"}, {"abc"}},
        {"a|bc|", {"a", "bc", ""}, {"ac", "b"}},
        {"(|a)b", {"b", "ab"}, {"a", ""}},
        {"()*a", {"a"}, {""}},
        {"(?)a", {"a"}, {"A"}},
        {"(?i)a(?-i)b", {"ab", "Ab"}, {"aB"}},
        {"(?i:a)b", {"ab", "Ab"}, {"aB"}},
        {"((?i)a)b", {"ab", "Ab"}, {"aB"}},
        {"(?is)a.", {"A\n"}, {"A"}},
        {"(?i-s)a.", {"Ab"}, {"A\n"}},
        {"(?s)(?-s:.).", {"a\n"}, {"\na"}},
        {"(?U)a*b", {"b", "aab"}, {"a"}},
        {"(?-U)a*?b", {"b", "aab"}, {"a"}},
        {"a$\nb", {NULL}, {"a\nb"}},
        {"a\n^b", {NULL}, {"a\nb"}},
        {"(?m)a$\n^b", {"a\nb"}, {"ab"}},
        {"(?m:a$)\nb", {"a\nb"}, {"ab"}},
        {"(?m:a$)\nb$\nc", {NULL}, {"a\nb\nc"}},
        {"(?m)(a$)\nb$\nc", {"a\nb\nc"}, {"ab"}},
        {"((?m)a$)\nb$\nc", {NULL}, {"a\nb\nc"}},
        {"((?m)a$)\nb$", {"a\nb"}, {"ab"}},
        {"(?m:(a$)\n(?i:b$))\nc", {"a\nb\nc", "a\nB\nc"}, {"abc"}},
        {"(?m)a(?-m)$\nb", {NULL}, {"a\nb"}},
        {"(?m)(?-m:a$)\nb", {NULL}, {"a\nb"}},
        {"(?m)(?-m:a\n)b$\nc", {"a\nb\nc"}, {"abc"}},
        {"(?m)(?<x>a$)\n(?P<y>b$)\nc", {"a\nb\nc"}, {"abc"}},
        {"\\Aa\\z", {"a"}, {"a\n"}},
        {"\\ba\\b\\B", {NULL}, {"a"}},
        {"\\ba\\Bb\\b", {"ab"}, {"a b"}},
        {"(?m)\\Aa\n\\Ab", {NULL}, {"a\nb"}},
        {"(?m)a\\z\nb", {NULL}, {"a\nb"}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
}

static void patterns_have_re2s_repetitions(void **state)
{
    static const struct pattern_case cases[] = {
        {"a*", {"", "a", "aaa"}, {"b", "ab"}},
        {"a+", {"a", "aaa"}, {"", "b"}},
        {"a?", {"", "a"}, {"aa"}},
        {"a*?a+?a??", {"a", "aaa"}, {""}},
        {"(ab)+", {"ab", "abab"}, {"", "aba", "abb"}},
        {"[ab]+c", {"abc"}, {"c"}},
        {"\\d+\\.+", {"15..", "1."}, {"1", "."}},
        {"\\pN+x", {"15x"}, {"x"}},
        {"a(b+c)+", {"abcbbc"}, {"a", "abcc"}},
        {"a{2}", {"aa"}, {"a", "aaa"}},
        {"a{2}?b", {"aab"}, {"ab"}},
        {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
        {"a{2,2}", {"aa"}, {"a", "aaa"}},
        {"a{2,}", {"aa", "aaaaa"}, {"a"}},
        {"a{0,1}", {"", "a"}, {"aa"}},
        {"a{0}b", {"b"}, {"ab"}},
        {"(a{0}){1000}", {""}, {"a"}},
        {"ab{2}", {"abb"}, {"abab"}},
        {"(ab){2}c{2}", {"ababcc"}, {"abbcc"}},
        {"a{10}{", {"aaaaaaaaaa{"}, {"aaaaaaaaaa"}},
        {"(a{1,10}b{20}|c){50}", {"cccccccccccccccccccccccccccccccccccccccccccccccccc"}, {"c"}},
        {"((a{1,10}){1,10}){1,10}", {"a"}, {""}},
        {"(a{0,1000})(b{1000})?", {"", "aa"}, {"b"}},
        {"(^|$|\\b|\\B)+a$*", {"a"}, {""}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
}

/* COUNT groups, one in the other, with a repetition in the innermost. */
static char *nest(int count)
{
    char *pattern = amp_arena_alloc(net.arena, (size_t)(2 * count) + 3), *to = pattern;
    for (int i = 0; i < count; i++)
        *to++ = '(';
    to = stpcpy(to, "a+");
    for (int i = 0; i < count; i++)
        *to++ = ')';
    *to = '\0';
    return pattern;
}

static void refuses_bytes(const struct amp_str *pattern, const char *text)
{
    struct amp_str x = {"a", 1};
    net_start(20);
    uint32_t y = NODE("RegexFullMatch", "y", input("x", AMP_STRING, DIMS(1)));
    output(y);
    set_attr(y, "pattern", AMP_ATTR_STRING, 1, pattern, sizeof *pattern);
    refuses(net_tensor(AMP_STRING, DIMS(1), &x), AMP_MODEL, text);
}

static void refuses_pattern(const char *pattern, const char *text)
{
    refuses_bytes(&(struct amp_str){pattern, strlen(pattern)}, text);
}

#define ONLY "RE2 has groups ( (?: (?P<name> (?<name> and flags of i, m, s, U, no others"
#define NAME "RE2 has no look-around, and a name is letters, digits and _"

static void what_re2_refuses_is_refused(void **state)
{
    static const struct {
        const char *pattern, *why;
    } cases[] = {
        {"a\\x4", "'\\x4' at 1: not a code point"},
        {"a\\x4g", "'\\x4' at 1: not a code point"},
        {"\\x{}", "'\\x{' at 0: not a code point"},
        {"\\x{41", "'\\x{41' at 0: not a code point"},
        {"\\x{d800}", "'\\x{d800}' at 0: not a code point"},
        {"\\x{100000041}", "'\\x{1000000' at 0: not a code point"},
        {"\\x{110000}", "'\\x{110000}' at 0: not a code point"},
        {"\\x{dfff}", "'\\x{dfff}' at 0: not a code point"},
        {"\\x", "'\\x' at 0: not a code point"},
        {"\\7", "'\\7' at 0: RE2 has no backreferences"},
        {"\\18", "'\\1' at 0: RE2 has no backreferences"},
        {"\\1-", "'\\1' at 0: RE2 has no backreferences"},
        {"\\8", "'\\8' at 0: RE2 has no such escape"},
        {"\\9", "'\\9' at 0: RE2 has no such escape"},
        {"\\e", "'\\e' at 0: RE2 has no such escape"},
        {"\\\u00e9", "'\\\\xC3' at 0: RE2 has no such escape"},
        {"\\y", "'\\y' at 0: RE2 has no such escape"},
        {"\\G", "'\\G' at 0: RE2 has no such escape"},
        {"[a-\\d]", "'[a-\\d' at 0: RE2 has no such escape"},
        {"ab[", "'[' at 2: the class has no end"},
        {"[a-", "'[a-' at 0: the class has no end"},
        {"[a", "'[a' at 0: the class has no end"},
        {"[]", "'[]' at 0: the class has no end"},
        {"[^]", "'[^]' at 0: the class has no end"},
        {"x[b-a]", "'[b-a' at 1: a range that ends before it begins"},
        {"\\p", "'\\p' at 0: not a property of characters"},
        {"\\p{}", "'\\p{' at 0: not a property of characters"},
        {"\\p5", "'\\p' at 0: not a property of characters"},
        {"\\p^L", "'\\p' at 0: not a property of characters"},
        {"[\\p{L]", "'[\\p{L' at 0: not a property of characters"},
        {"(?P<>a)", "'(?P<' at 0: " NAME},
        {"(?P<a-b>x)", "'(?P<a' at 0: " NAME},
        {"(?<n", "'(?<n' at 0: " NAME},
        {"(?", "'(?' at 0: " ONLY},
        {"(?i", "'(?i' at 0: " ONLY},
        {"(?-)a", "'(?-)' at 0: " ONLY},
        {"(?i-)a", "'(?i-)' at 0: " ONLY},
        {"(?i-:a)", "'(?i-:' at 0: " ONLY},
        {"(?-i-s)a", "'(?-i-' at 0: " ONLY},
        {"(?ia)", "'(?ia' at 0: " ONLY},
        {"(?I)a", "'(?I' at 0: " ONLY},
        {")", "')' at 0: no group is open"},
        {"(a))", "')' at 3: no group is open"},
        {"(", "'' at 1: a group has no end"},
        {"*", "'*' at 0: nothing to repeat"},
        {"?", "'?' at 0: nothing to repeat"},
        {"a|+", "'+' at 2: nothing to repeat"},
        {"(*a)", "'*' at 1: nothing to repeat"},
        {"{2}", "'{2}' at 0: nothing to repeat"},
        {"a|{2,}", "'{2,}' at 2: nothing to repeat"},
        {"a**", "'*' at 2: a repetition of a repetition"},
        {"a*+", "'+' at 2: a repetition of a repetition"},
        {"a+??", "'?' at 3: a repetition of a repetition"},
        {"a{2}{3}", "'{3}' at 4: a repetition of a repetition"},
        {"a{2}*", "'*' at 4: a repetition of a repetition"},
        {"a{2,1}", "'{2,1}' at 1: counts out of order"},
        {"a{1001}", "'{1001}' at 1: more than 1000 repetitions"},
        {"a{1001,}", "'{1001,}' at 1: more than 1000 repetitions"},
        {"a{0,1001}", "'{0,1001}' at 1: more than 1000 repetitions"},
        {"a{99999999999}", "'{99999999999}' at 1: more than 1000 repetitions"},
        {"a{99999999999,99999999999}",
         "'{99999999999,99999999999}' at 1: more than 1000 repetitions"},
        {"(a{10}){101}", "'{101}' at 7: more than 1000 repetitions"},
        {"(a{10}b{20}c{5}){51}", "'{51}' at 16: more than 1000 repetitions"},
        {"((a{10}){10}){11}", "'{11}' at 13: more than 1000 repetitions"},
        {"((a{10})b){101}", "'{101}' at 10: more than 1000 repetitions"},
        {"(a{11,}){91}", "'{91}' at 8: more than 1000 repetitions"},
        {"\u00e9[", "'[' at 2: the class has no end"},
        {"a\xff", "the pattern is not UTF-8 at byte 1"},
        {"\u00e9\xe9z", "the pattern is not UTF-8 at byte 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses_pattern(cases[i].pattern, cases[i].why);
    refuses_bytes(&(struct amp_str){"(?\0)a", 5}, "at 0: " ONLY);
    expect_match(nest(1000), text_of("aa"), true);
    refuses_pattern(nest(1001), "'(' at 1000: groups are nested too deep");
}

/* A message has no more of a pattern than 200 bytes, and 40 of the item that is refused. */
static void long_patterns_are_cut_in_messages(void **state)
{
    char pattern[202], text[400];
    (void)state;
    for (int length = 200; length <= 201; length++) {
        memset(pattern, 'b', (size_t)length);
        memcpy(pattern + length - 1, ")", 2);
        snprintf(text, sizeof text, "pattern '%.200s': ')' at %d: no group is open", pattern,
                 length - 1);
        refuses_pattern(pattern, text);
    }
    for (int length = 40; length <= 41; length++) {
        memset(pattern, 'b', (size_t)length);
        pattern[0] = '[';
        pattern[length] = '\0';
        snprintf(text, sizeof text, "pattern '%s': '%.40s' at 0: the class has no end", pattern,
                 pattern);
        refuses_pattern(pattern, text);
    }
}

/* Any of the letters may be the last but 200: as many ways through the pattern are open at once. */
static void many_ways_are_followed_at_once(void **state)
{
    char text[401];
    (void)state;
    memset(text, 'a', 400);
    text[400] = '\0';
    expect_match("[ab]*a[ab]{200}", text_of(text), true);
    text[199] = 'b';
    expect_match("[ab]*a[ab]{200}", text_of(text), false);
    text[198] = 'b', text[199] = 'a';
    expect_match("[ab]*a[ab]{200}", text_of(text), true);
}

/* ---- texts ---- */

static uint32_t start_split(const char *delimiter, int64_t most, int64_t count)
{
    net_start(20);
    const uint32_t x = input("x", AMP_STRING, DIMS(count));
    uint32_t node = net_node(0, "StringSplit", "y", 2, &x, 1);
    output(net_out(node, 0));
    output(net_out(node, 1));
    if (delimiter != NULL)
        set_word(net_out(node, 0), "delimiter", delimiter);
    set_int(net_out(node, 0), "maxsplit", most);
    return net_out(node, 0);
}

/* What Python's str.split gives, without spaces at the end of what is left when no more is split.
 */
static void texts_are_split_as_in_python(void **state)
{
    static const struct {
        const char *text, *delimiter;
        int most, count;
        const char *parts[6];
    } cases[] = {
        {"", NULL, -1, 0, {NULL}},
        {"", NULL, 0, 0, {NULL}},
        {"", NULL, 1, 0, {NULL}},
        {"", NULL, 2, 0, {NULL}},
        {"", NULL, 3, 0, {NULL}},
        {"  ", NULL, -1, 0, {NULL}},
        {"  ", NULL, 0, 0, {NULL}},
        {"  ", NULL, 1, 0, {NULL}},
        {"  ", NULL, 2, 0, {NULL}},
        {"  ", NULL, 3, 0, {NULL}},
        {" a ", NULL, -1, 1, {"a"}},
        {" a ", NULL, 0, 1, {"a"}},
        {" a ", NULL, 1, 1, {"a"}},
        {" a ", NULL, 2, 1, {"a"}},
        {" a ", NULL, 3, 1, {"a"}},
        {"a  b c ", NULL, -1, 3, {"a", "b", "c"}},
        {"a  b c ", NULL, 0, 1, {"a  b c"}},
        {"a  b c ", NULL, 1, 2, {"a", "b c"}},
        {"a  b c ", NULL, 2, 3, {"a", "b", "c"}},
        {"a  b c ", NULL, 3, 3, {"a", "b", "c"}},
        {"a\302\240\343\200\200b\011c", NULL, -1, 3, {"a", "b", "c"}},
        {"a\302\240\343\200\200b\011c", NULL, 0, 1, {"a\302\240\343\200\200b\011c"}},
        {"a\302\240\343\200\200b\011c", NULL, 1, 2, {"a", "b\011c"}},
        {"a\302\240\343\200\200b\011c", NULL, 2, 3, {"a", "b", "c"}},
        {"a\302\240\343\200\200b\011c", NULL, 3, 3, {"a", "b", "c"}},
        {"\303\251 \303\250", NULL, -1, 2, {"\303\251", "\303\250"}},
        {"\303\251 \303\250", NULL, 0, 1, {"\303\251 \303\250"}},
        {"\303\251 \303\250", NULL, 1, 2, {"\303\251", "\303\250"}},
        {"\303\251 \303\250", NULL, 2, 2, {"\303\251", "\303\250"}},
        {"\303\251 \303\250", NULL, 3, 2, {"\303\251", "\303\250"}},
        {"", ",", -1, 1, {""}},
        {"", ",", 0, 1, {""}},
        {"", ",", 1, 1, {""}},
        {"", ",", 2, 1, {""}},
        {"", ",", 4, 1, {""}},
        {",", ",", -1, 2, {"", ""}},
        {",", ",", 0, 1, {","}},
        {",", ",", 1, 2, {"", ""}},
        {",", ",", 2, 2, {"", ""}},
        {",", ",", 4, 2, {"", ""}},
        {"a,b", ",", -1, 2, {"a", "b"}},
        {"a,b", ",", 0, 1, {"a,b"}},
        {"a,b", ",", 1, 2, {"a", "b"}},
        {"a,b", ",", 2, 2, {"a", "b"}},
        {"a,b", ",", 4, 2, {"a", "b"}},
        {",a,,b,", ",", -1, 5, {"", "a", "", "b", ""}},
        {",a,,b,", ",", 0, 1, {",a,,b,"}},
        {",a,,b,", ",", 1, 2, {"", "a,,b,"}},
        {",a,,b,", ",", 2, 3, {"", "a", ",b,"}},
        {",a,,b,", ",", 4, 5, {"", "a", "", "b", ""}},
        {"abc", ",", -1, 1, {"abc"}},
        {"abc", ",", 0, 1, {"abc"}},
        {"abc", ",", 1, 1, {"abc"}},
        {"abc", ",", 2, 1, {"abc"}},
        {"abc", ",", 4, 1, {"abc"}},
        {"aaaa", "aa", -1, 3, {"", "", ""}},
        {"aaaa", "aa", 0, 1, {"aaaa"}},
        {"aaaa", "aa", 1, 2, {"", "aa"}},
        {"aa", "aa", -1, 2, {"", ""}},
        {"aa", "aa", 0, 1, {"aa"}},
        {"aa", "aa", 1, 2, {"", ""}},
        {"a", "aa", -1, 1, {"a"}},
        {"a", "aa", 0, 1, {"a"}},
        {"a", "aa", 1, 1, {"a"}},
        {"baabaac", "aa", -1, 3, {"b", "b", "c"}},
        {"baabaac", "aa", 0, 1, {"baabaac"}},
        {"baabaac", "aa", 1, 2, {"b", "baac"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_str text = text_of(cases[i].text);
        start_split(cases[i].delimiter, cases[i].most, 1);
        run_on(net_tensor(AMP_STRING, DIMS(1), &text));
        const struct amp_str *parts = net.outputs[0].data;
        assert_int_equal(((const int64_t *)net.outputs[1].data)[0], cases[i].count);
        assert_int_equal(amp_tensor_count(&net.outputs[0]), cases[i].count);
        for (int k = 0; k < cases[i].count; k++) {
            assert_int_equal(parts[k].size, strlen(cases[i].parts[k]));
            if (parts[k].size > 0)
                assert_memory_equal(parts[k].data, cases[i].parts[k], parts[k].size);
        }
    }
}

/* Python's str.isspace, of all characters of up to three bytes. */
static void spaces_are_those_of_python(void **state)
{
    static const uint16_t spaces[] = {
        0x09,   0x0a,   0x0b,   0x0c,   0x0d,   0x1c,   0x1d,   0x1e,   0x1f,   0x20,
        0x85,   0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
        0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    enum { FIRST = 1, LAST = 0xd7ff };
    struct amp_str *texts = calloc(LAST, sizeof *texts);
    char *room = calloc(LAST, 8);
    size_t next = 0;
    (void)state;
    assert_true(texts != NULL && room != NULL);
    for (unsigned code = FIRST; code <= LAST; code++) {
        char *text = room + (size_t)(code - FIRST) * 8, *at = text;
        *at++ = 'a';
        if (code < 0x80) {
            *at++ = (char)code;
        } else if (code < 0x800) {
            *at++ = (char)(0xc0 | code >> 6);
            *at++ = (char)(0x80 | (code & 0x3f));
        } else {
            *at++ = (char)(0xe0 | code >> 12);
            *at++ = (char)(0x80 | (code >> 6 & 0x3f));
            *at++ = (char)(0x80 | (code & 0x3f));
        }
        *at++ = 'b';
        texts[code - FIRST] = (struct amp_str){text, (size_t)(at - text)};
    }
    start_split(NULL, -1, LAST);
    run_on(net_tensor(AMP_STRING, DIMS(LAST), texts));
    for (unsigned code = FIRST; code <= LAST; code++) {
        bool is_space = next < sizeof spaces / sizeof *spaces && spaces[next] == code;
        next += is_space;
        if (((const int64_t *)net.outputs[1].data)[code - FIRST] != (is_space ? 2 : 1))
            fail_msg("U+%04X is %s", code, is_space ? "a space" : "none");
    }
    assert_int_equal(next, sizeof spaces / sizeof *spaces);
    free(texts);
    free(room);
}

enum { GRAMS = 12, LONGEST = 3, ITEMS = 9 };

/* N-grams, of 1 to 3 items below 4, each only once. */
static struct {
    int64_t items[GRAMS][LONGEST], columns[GRAMS];
    int lengths[GRAMS], n;
} pool;

static void fill_pool(void)
{
    pool.n = 0;
    for (int length = 1; length <= LONGEST; length++)
        for (int k = 0; k < GRAMS / LONGEST; k++) {
            int64_t gram[LONGEST] = {0};
            bool is_there = false;
            for (int i = 0; i < length; i++)
                gram[i] = 1 + any_of(3);
            for (int i = 0; i < pool.n; i++)
                is_there |=
                    pool.lengths[i] == length && memcmp(pool.items[i], gram, sizeof gram) == 0;
            if (is_there)
                continue;
            memcpy(pool.items[pool.n], gram, sizeof gram);
            pool.lengths[pool.n++] = length;
        }
    for (int i = 0; i < pool.n; i++)
        pool.columns[i] = pool.n - 1 - i;
}

/* How often gram I is in ROW, its items one to SKIPS + 1 apart, all by the same distance. */
static int count_gram(int i, const int64_t *row, int n, int skips)
{
    int count = 0, length = pool.lengths[i];
    for (int distance = 1; distance <= (length == 1 ? 1 : skips + 1); distance++)
        for (int first = 0; first + (length - 1) * distance < n; first++) {
            bool is_same = true;
            for (int k = 0; k < length; k++)
                is_same &= row[first + k * distance] == pool.items[i][k];
            count += is_same;
        }
    return count;
}

static void grams_are_counted_at_all_distances(void **state)
{
    static const char *const modes[] = {"TF", "IDF", "TFIDF"};
    (void)state;
    for (uint32_t seed = 1; seed <= 120; seed++) {
        forest_state = seed;
        fill_pool();
        int mode = any_of(3), skips = any_of(4), least = 1 + any_of(3), n = any_of(ITEMS + 1);
        int most = least + any_of(LONGEST + 1 - least), n_listed = 0;
        int64_t row[ITEMS], listed[GRAMS * LONGEST], starts[LONGEST] = {0};
        float weights[GRAMS];
        double expected[GRAMS];
        for (int i = 0; i < pool.n; i++) {
            if (i == 0 || pool.lengths[i] != pool.lengths[i - 1])
                starts[pool.lengths[i] - 1] = n_listed;
            for (int k = 0; k < pool.lengths[i]; k++)
                listed[n_listed++] = pool.items[i][k];
            weights[i] = 0.5f + (float)i;
        }
        for (int i = 0; i < n; i++)
            row[i] = 1 + any_of(4);
        for (int i = 0; i < pool.n; i++) {
            bool is_wanted = pool.lengths[i] >= least && pool.lengths[i] <= most;
            int count = is_wanted ? count_gram(i, row, n, skips) : 0;
            expected[pool.columns[i]] = (mode == 1 ? count > 0 : count) *
                                        (mode == 0 ? 1.0 : (double)weights[pool.columns[i]]);
        }
        uint32_t y = start_one("TfIdfVectorizer", 9, AMP_INT64, DIMS(n));
        set_word(y, "mode", modes[mode]);
        set_int(y, "max_skip_count", skips);
        set_int(y, "min_gram_length", least);
        set_int(y, "max_gram_length", most);
        set_list(y, "ngram_counts", LONGEST, starts);
        set_list(y, "ngram_indexes", (size_t)pool.n, pool.columns);
        set_list(y, "pool_int64s", (size_t)n_listed, listed);
        if (mode > 0)
            set_floats(y, "weights", (size_t)pool.n, weights);
        run_on(net_tensor(AMP_INT64, DIMS(n), row));
        expect_doubles(0, expected, (size_t)pool.n, 0);
    }
}

/* ---- gather ---------------------------------------------------------------------------------- */

/* Blocks are copied whole, small and large, where indices are read on the way: each begins and ends
   with its number. */
static void blocks_of_any_size_are_gathered(void **state)
{
    static const int64_t sizes[] = {1, 2, 63, 64, 65, 4096, 8191, 8192, 8193, 16384, 16385, 40000};
    static const int64_t indices[] = {2, 0, 1, 2};
    static float blocks[3 * 40000];
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n = sizes[i];
        for (int64_t k = 0; k < 3; k++)
            blocks[k * n] = blocks[k * n + n - 1] = (float)k + 1;
        net_start(13);
        output(NODE("GatherND", "y", input("x", AMP_FLOAT, DIMS(3, n)),
                    input("i", AMP_INT64, DIMS(4, 1))));
        run_on(TENSORS(*net_tensor(AMP_FLOAT, DIMS(3, n), blocks),
                       *net_tensor(AMP_INT64, DIMS(4, 1), indices)));
        const float *found = net.outputs[0].data;
        for (int64_t k = 0; k < 4; k++)
            assert_true(found[k * n] == (float)indices[k] + 1 &&
                        found[k * n + n - 1] == (float)indices[k] + 1);
        memset(blocks, 0, sizeof blocks);
    }
}

/* ---- dnnl ------------------------------------------------------------------------------------ */

/* What oneDNN does. An operator whose primitive cannot be made runs in C all the same, slowly, so
   that its results do not show it. Each line is a model of one node and the kinds of the primitives
   that it runs, reorders aside, on machines with the instructions that oneDNN has kernels for. */

/* The kinds of primitives in PROFILE to TEXT. */
static void list_kinds(const struct amp_profile *profile, char *text, size_t size)
{
    size_t count, length = 0;
    const struct amp_profile_primitive *items = amp_profile_primitives(profile, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].kind, "reorder") != 0)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? " " : "",
                                       items[i].kind);
}

static void expect_kinds(const char *line, const char *expected)
{
    char text[256];
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    one_node(line, ONE_GIVEN);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    if (amp_session_run(session, one.inputs, net.outputs, &net.err) != AMP_OK)
        fail_msg("%s: %s", line, net.err.text);
    list_kinds(profile, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s: '%s'; '%s' is expected", line, text, expected);
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    amp_session_destroy(session);
    amp_profile_destroy(profile);
}

static void expect_all_kinds(const struct one_case *cases, size_t count)
{
    unsigned has = dnnl_get_effective_cpu_isa(), wanted = dnnl_cpu_isa_avx512_core_vnni;
    if ((has & wanted) != wanted)
        skip();
    for (size_t i = 0; i < count; i++)
        expect_kinds(cases[i].line, cases[i].expected);
}

static void windows_are_run_by_onednn(void **state)
{
    static const struct one_case cases[] = {
        {"Conv-11 f[2,4,9] f[6,4,3]", "convolution"},
        {"Conv-11 f[2,4,9,8] f[6,4,3,2] f[6] strides=[2,1] pads=[1,0,0,2] dilations=[1,2]",
         "convolution"},
        {"Conv-11 f[2,4,5,6,7] f[6,2,3,2,1] group=2", "convolution"},
        {"Conv-11 f[2,4,9,8] f[4,1,3,3] group=4", "convolution"},
        {"Conv-11 f[2,4,9,8] f[6,4,3,2] auto_pad=SAME_UPPER", "convolution"},
        {"ConvTranspose-11 f[2,4,9] f[4,3,3]", "deconvolution"},
        {"ConvTranspose-11 f[2,4,5,6] f[4,2,3,2] f[4] group=2 strides=[2,3] pads=[1,0,0,1]",
         "deconvolution"},
        {"ConvTranspose-11 f[2,4,5,6] f[4,2,3,2] f[8] group=4 dilations=[2,1]", "deconvolution"},
        {"ConvTranspose-11 f[2,4,3,4,5] f[4,3,2,2,2] output_padding=[0,1,0] strides=[2,2,2]",
         "deconvolution"},
        {"ConvInteger-10 u[1,4,5,5] u[3,4,2,2] u[]=3 u[]=2", "convolution"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[] c[6,2,2,2] f[] c[] f[] u[] group=2", "convolution"},
        {"MaxPool-12 f[2,4,9,8] kernel_shape=[3,2] strides=[2,1] pads=[1,0,1,1]", "pooling"},
        {"MaxPool-12 f[2,4,9] kernel_shape=[3]", "pooling"},
        {"MaxPool-12 f[2,4,5,6,7] kernel_shape=[3,2,2] ceil_mode=1 strides=[2,2,2]", "pooling"},
        {"AveragePool-19 f[2,4,9] kernel_shape=[3]", "pooling"},
        {"AveragePool-19 f[2,4,9,8] kernel_shape=[3,2] count_include_pad=1 pads=[1,0,1,1]",
         "pooling"},
        {"GlobalAveragePool-1 f[2,4,5,6]", "pooling"},
        {"GlobalMaxPool-1 f[2,4,5,6,7]", "pooling"},
        {"GlobalMaxPool-1 f[2,4]", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,3 mode=linear", "resampling"},
        {"LRN-13 f[2,5,3,4] size=3", "lrn"},
    };
    (void)state;
    expect_all_kinds(cases, sizeof cases / sizeof *cases);
}

static void products_and_norms_are_run_by_onednn(void **state)
{
    static const struct one_case cases[] = {
        {"MatMul-13 f[4,5] f[5,6]", "matmul"},
        {"MatMul-13 f[3] f[3]", "matmul"},
        {"MatMul-13 f[2,3,4,5] f[3,5,6]", "matmul"},
        {"MatMul-13 f[3,4,5] f[5]", "matmul"},
        {"Gemm-13 f[4,5] f[6,5] f[6] transB=1 alpha=0.5", "matmul"},
        {"Gemm-13 f[5,4] f[5,6] f[4,6] transA=1 beta=2.0", "matmul"},
        {"MatMulInteger-10 u[4,5] c[5,6]", "matmul"},
        {"MatMulInteger-10 u[4,5] u[5,6] u[]=1 u[6]=1,2,3,4,5,6", "matmul"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[] f[] u[]", "matmul"},
        {"Einsum-12 f[2,3,4] f[2,4,5] equation=bij,bjk->bik", "matmul"},
        {"LayerNormalization-17 f[4,5,64] f[64] f[64] >3", "layer_normalization"},
        {"BatchNormalization-15 f[2,3,5] f[3] f[3] f[3] f[3]", "batch_normalization"},
        {"GroupNormalization-21 f[2,6,4,5] f[6] f[6] num_groups=3", "group_normalization"},
        {"InstanceNormalization-6 f[2,6,4,5] f[6] f[6]", "group_normalization"},
        {"Softmax-13 f[3,4,5] axis=1", "softmax"},
        {"LogSoftmax-13 f[3,4,5]", "softmax"},
    };
    (void)state;
    expect_all_kinds(cases, sizeof cases / sizeof *cases);
}

/* What stands at a bound of what oneDNN has, or of what it is as fast at, and what lies behind. */
static void what_onednn_has_not_is_run_in_c(void **state)
{
    static const struct one_case cases[] = {
        {"LRN-13 f[2,5,2,3,4] size=3", "lrn"},
        {"LRN-13 f[2,5,1,2,3,4] size=3", ""},
        {"LRN-13 f[2,5,3,4] size=2", ""},
        {"Conv-11 f[2,4,2,2,2] f[6,4,1,1,1]", "convolution"},
        {"Conv-11 f[2,4,2,2,2,2] f[6,4,1,1,1,1]", ""},
        {"Conv-11 d[2,4,9] d[6,4,3]", ""},
        {"Conv-11 f[2,4,9] f[8,1,3] group=4", "convolution"},
        {"ConvTranspose-11 f[2,4,2,2,2,2] f[4,3,1,1,1,1]", ""},
        {"MaxPool-12 f[2,4,2,2,2] kernel_shape=[1,1,2]", "pooling"},
        {"MaxPool-12 f[2,4,2,2,2,2] kernel_shape=[1,1,1,2]", ""},
        {"MaxPool-12 f[2,4,9] kernel_shape=[3] >2", ""},
        {"AveragePool-19 f[2,4,2,2,2,2] kernel_shape=[1,1,1,2]", ""},
        {"AveragePool-19 f[2,4,9] kernel_shape=[2] strides=[3] ceil_mode=1 count_include_pad=1",
         "pooling"},
        {"AveragePool-19 f[2,4,10] kernel_shape=[2] strides=[3] ceil_mode=1 count_include_pad=1",
         ""},
        {"AveragePool-19 f[2,4,10] kernel_shape=[2] strides=[3] ceil_mode=1", "pooling"},
        {"AveragePool-19 f[2,4,10] kernel_shape=[2] strides=[3] ceil_mode=1 count_include_pad=1 "
         "pads=[0,1]",
         "pooling"},
        {"GlobalAveragePool-1 f[2,4]", ""},
        {"GlobalAveragePool-1 f[2,4,1,2,3,4]", ""},
        {"BatchNormalization-15 f[2,3] f[3] f[3] f[3] f[3]", "batch_normalization"},
        {"BatchNormalization-15 f[2,3,15] f[3] f[3] f[3] f[3]", "batch_normalization"},
        {"BatchNormalization-15 f[2,3,16] f[3] f[3] f[3] f[3]", ""},
        {"BatchNormalization-15 d[2,3,5] d[3] d[3] d[3] d[3]", ""},
        {"BatchNormalization-15 f[2,3,5] f[3] f[3] f[3] f[3] training_mode=1 >3", ""},
        {"LayerNormalization-17 f[4,5,64] f[64] >3", "layer_normalization"},
        {"LayerNormalization-17 f[4,5,64] f[5,64] f[5,64] axis=1 >3", "layer_normalization"},
        {"LayerNormalization-17 f[4,5,64] f[5,64] f[64] >3", ""},
        {"LayerNormalization-17 f[4,5,64] f[64] f[5,64] >3", ""},
        {"LayerNormalization-17 f[4,5,64] f[1] f[64] >3", ""},
        {"LayerNormalization-17 f[4,5,64] f[64] f[1] >3", ""},
        {"LayerNormalization-17 d[4,5,64] d[64] d[64]", ""},
        {"GroupNormalization-21 f[2,6] f[6] f[6] num_groups=3", "group_normalization"},
        {"InstanceNormalization-6 d[2,6,4] d[6] d[6]", ""},
        {"Softmax-13 d[3,4,5] axis=1", ""},
        {"LogSoftmax-13 d[3,4,5]", ""},
        {"Resize-13 f[1,2,4] _ f[3]=1,1,2 mode=linear", "resampling"},
        {"Resize-13 f[1,1,2,4,5] _ f[5]=1,1,2,2,3 mode=linear", "resampling"},
        {"Resize-13 f[1,1,1,2,4,5] _ f[6]=1,1,1,2,2,3 mode=linear", ""},
        {"Resize-13 f[4,5] _ f[2]=2,3 mode=linear", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,2,2,3 mode=linear", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=2,1,2,3 mode=linear", ""},
        {"Resize-13 f[1,2,4,1] _ f[4]=1,1,2,3 mode=linear", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,1.5 mode=linear", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,3", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,3 mode=cubic", ""},
        {"Resize-13 d[1,2,4,5] _ f[4]=1,1,2,3 mode=linear", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,3 mode=linear "
         "coordinate_transformation_mode=asymmetric",
         ""},
        {"Resize-19 f[1,2,4,6] _ f[4]=1,1,2,2 mode=linear antialias=1", "resampling"},
        {"Resize-19 f[1,2,4,6] _ f[4]=1,1,0.5,0.5 mode=linear", "resampling"},
        {"Resize-19 f[1,2,4,6] _ f[4]=1,1,0.5,0.5 mode=linear antialias=1", ""},
        {"MatMul-13 f[1,5] f[5,6]", ""},
        {"MatMul-13 f[5] f[5,6]", ""},
        {"MatMul-13 f[2,5] f[5,6]", ""},
        {"MatMul-13 f[3,5] f[5,6]", "matmul"},
        {"MatMul-13 f[2,1,5] f[5,6]", ""},
        {"MatMul-13 f[2,2,5] f[5,6]", "matmul"},
        {"MatMul-13 f[1,5] f[1,5,6]", "matmul"},
        {"MatMul-13 d[4,5] d[5,6]", ""},
        {"MatMul-13 i[4,5] i[5,6]", ""},
        {"Gemm-13 f[1,5] f[6,5] transB=1", ""},
        {"Gemm-13 f[5,1] f[5,6] transA=1", "matmul"},
        {"Gemm-13 f[5,2] f[5,6] transA=1", "matmul"},
        {"Einsum-12 f[2,3] f[2,3] equation=ij,ij->ij", ""},
        {"Einsum-12 f[3,3] f[3,4] f[4,5] equation=ij,jk,kl->il", "matmul matmul"},
    };
    (void)state;
    expect_all_kinds(cases, sizeof cases / sizeof *cases);
}

/* What oneDNN may do to the results of the node before, with the numbers of ONNX's definitions. */
static void activations_are_post_ops_of_onednn(void **state)
{
    static const struct {
        const char *line;
        dnnl_alg_kind_t alg; /* 0: none */
        float alpha, beta;
    } cases[] = {
        {"Clip-13 f[2] f[]=-1 f[]=2", dnnl_eltwise_clip, -1, 2},
        {"Clip-13 f[2] f[]=2 f[]=2", dnnl_eltwise_clip, 2, 2},
        {"Clip-13 f[2] f[]=3 f[]=2", 0, 0, 0},
        {"Clip-13 f[2]", dnnl_eltwise_clip, -INFINITY, INFINITY},
        {"Clip-13 f[2] _ f[]=2", dnnl_eltwise_clip, -INFINITY, 2},
        {"Clip-13 f[2] f[]=-1", dnnl_eltwise_clip, -1, INFINITY},
        {"Clip-13 f[2] f[1]=-1 f[1]=2", dnnl_eltwise_clip, -1, 2},
        {"Clip-6 f[2] min=-1.0 max=2.0", dnnl_eltwise_clip, -1, 2},
        {"Relu-14 f[2]", dnnl_eltwise_relu, 0, 0},
        {"LeakyRelu-16 f[2]", dnnl_eltwise_relu, 0.01f, 0},
        {"LeakyRelu-16 f[2] alpha=0.25", dnnl_eltwise_relu, 0.25f, 0},
        {"Elu-22 f[2]", dnnl_eltwise_elu, 1, 0},
        {"Elu-22 f[2] alpha=0.5", dnnl_eltwise_elu, 0.5f, 0},
        {"HardSigmoid-22 f[2]", dnnl_eltwise_hardsigmoid, 0.2f, 0.5f},
        {"HardSigmoid-22 f[2] alpha=0.5 beta=0.25", dnnl_eltwise_hardsigmoid, 0.5f, 0.25f},
        {"HardSwish-22 f[2]", dnnl_eltwise_hardswish, 1 / 6.f, 0.5f},
        {"Mish-22 f[2]", dnnl_eltwise_mish, 0, 0},
        {"Sigmoid-13 f[2]", dnnl_eltwise_logistic, 0, 0},
        {"Swish-24 f[2]", dnnl_eltwise_swish, 1, 0},
        {"Swish-24 f[2] alpha=2.0", dnnl_eltwise_swish, 2, 0},
        {"Gelu-20 f[2]", dnnl_eltwise_gelu_erf, 0, 0},
        {"Gelu-20 f[2] approximate=none", dnnl_eltwise_gelu_erf, 0, 0},
        {"Gelu-20 f[2] approximate=tanh", dnnl_eltwise_gelu_tanh, 0, 0},
        {"Celu-12 f[2]", 0, 0, 0},
        {"Softplus-22 f[2]", 0, 0, 0},
    };
    (void)state;
    for (int way = ONE_GIVEN; way <= ONE_CONSTANT; way += ONE_CONSTANT)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct amp_post post = {.operand = NULL};
            one_node(cases[i].line, (enum one_way)way);
            infer_all();
            const struct amp_node *node =
                amp_node_at(net.model, net.model->graphs[0].nodes.items[0]);
            bool has_numbers = node->n_inputs == 1 || way == ONE_CONSTANT; /* that are constants */
            bool found = amp_post_of(net.model, node, 0, &post);
            if (found != (has_numbers && cases[i].alg != 0) ||
                (found && (post.alg != cases[i].alg || post.alpha != cases[i].alpha ||
                           post.beta != cases[i].beta)))
                fail_msg("%s: %d, %g, %g", cases[i].line, (int)found, (double)post.alpha,
                         (double)post.beta);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(averages_of_nothing_but_padding_are_zero),
        NET_TEST(what_ceil_mode_adds_is_not_counted_as_padding),
        NET_TEST(rows_far_below_zero_have_a_softmax),
        NET_TEST(hardmax_takes_the_first_nan_for_the_largest),
        NET_TEST(nan_is_the_greatest_and_the_least),
        NET_TEST(columns_are_reduced_whole),
        NET_TEST(integers_are_reduced_exactly),
        NET_TEST(logarithms_of_integers_are_cut),
        NET_TEST(large_numbers_keep_their_size),
        NET_TEST(reductions_of_one_element_are_more_than_copies),
        NET_TEST(ties_are_decided_along_each_axis),
        NET_TEST(response_normalization_ends_with_the_channels),
        NET_TEST(dropout_drops_a_half),
        NET_TEST(old_dropouts_train_unless_it_is_a_test),
        NET_TEST(dropouts_train_when_they_are_told_to),
        NET_TEST(powers_are_those_of_pow),
        NET_TEST(integers_have_roots),
        NET_TEST(imputers_replace_one_value),
        NET_TEST(windows_come_in_any_type),
        NET_TEST(transforms_are_those_of_the_definition),
        NET_TEST(frames_are_transformed_one_by_one),
        NET_TEST(windows_may_have_one_sample),
        NET_TEST(bands_are_triangles_of_bins),
        NET_TEST(points_beyond_a_border_have_its_value),
        NET_TEST(the_last_block_may_be_partial),
        NET_TEST(zeros_have_the_scale_one),
        NET_TEST(ranges_are_of_all_values),
        NET_TEST(quantized_pairs_broadcast),
        NET_TEST(losses_pass_over_what_is_ignored),
        NET_TEST(boxes_go_that_overlap_by_more_than_the_threshold),
        NET_TEST(resized_elements_come_from_their_places),
        NET_TEST(grids_lead_to_their_places),
        NET_TEST(products_are_without_zero_points),
        NET_TEST(queries_see_what_they_may),
        NET_TEST(taps_meet_their_elements),
        NET_TEST(products_are_sums_over_the_inner_dim),
        NET_TEST(rows_are_normalized),
        NET_TEST(steps_follow_one_another),
        NET_TEST(regions_are_pooled_by_bins),
        NET_TEST(windows_are_pooled),
        NET_TEST(optimizers_take_their_steps),
        NET_TEST(causal_convolutions_hand_on_their_last_elements),
        NET_TEST(scales_and_biases_stay_apart_when_shapes_change),
        NET_TEST(recurrences_that_are_no_constants_may_change),
        NET_TEST(sequences_are_no_longer_than_the_steps),
        NET_TEST(ensembles_are_the_sum_of_their_trees),
        NET_TEST(classes_have_the_greatest_score),
        NET_TEST(newer_ensembles_are_the_sum_of_their_trees),
        NET_TEST(integers_are_no_numbers_of_trees),
        NET_TEST(probabilities_of_classes_are_not_0),
        NET_TEST(one_of_two_linear_classes),
        NET_TEST(labels_are_integers_where_there_are_no_words),
        NET_TEST(pairs_of_four_classes_are_six),
        NET_TEST(leaves_need_no_features),
        NET_TEST(leaves_may_have_no_weights),
        NET_TEST(scores_are_compared_as_precisely_as_the_input),
        NET_TEST(ways_of_trees_are_numbered),
        NET_TEST(nodes_of_trees_are_there),
        NET_TEST(pairs_of_classes_have_quantiles),
        NET_TEST(scores_become_what_is_asked_for),
        NET_TEST(constants_are_what_their_attribute_holds),
        NET_TEST(constants_are_tensors_wherever_they_lie),
        NET_TEST(encoders_look_every_key_up),
        NET_TEST(encoders_tell_keys_apart),
        NET_TEST(scalars_have_no_border),
        NET_TEST(tiles_are_copies_side_by_side),
        NET_TEST(old_slopes_belong_to_channels_or_elements),
        NET_TEST(diagonals_lie_anywhere),
        NET_TEST(slices_are_those_of_python),
        NET_TEST(reductions_follow_any_order),
        NET_TEST(scales_follow_any_order),
        NET_TEST(empty_lists_of_values_do_not_count),
        NET_TEST(stop_words_are_whole),
        NET_TEST(each_element_is_unique_once),
        NET_TEST(uniform_numbers_are_numpys),
        NET_TEST(normal_numbers_are_numpys),
        NET_TEST(bernoulli_is_below_the_probability),
        NET_TEST(multinomial_divides_the_unit_by_chances),
        NET_TEST(dropout_keeps_what_is_drawn_from_the_ratio_on),
        NET_TEST(patterns_have_re2s_characters),
        NET_TEST(patterns_have_re2s_classes),
        NET_TEST(patterns_have_perls_classes),
        NET_TEST(patterns_have_re2s_groups),
        NET_TEST(patterns_have_re2s_repetitions),
        NET_TEST(what_re2_refuses_is_refused),
        NET_TEST(long_patterns_are_cut_in_messages),
        NET_TEST(many_ways_are_followed_at_once),
        NET_TEST(texts_are_split_as_in_python),
        NET_TEST(spaces_are_those_of_python),
        NET_TEST(grams_are_counted_at_all_distances),
        NET_TEST(activations_are_post_ops_of_onednn),
        NET_TEST(blocks_of_any_size_are_gathered),
        NET_TEST(windows_are_run_by_onednn),
        NET_TEST(products_and_norms_are_run_by_onednn),
        NET_TEST(what_onednn_has_not_is_run_in_c),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

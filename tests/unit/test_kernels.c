/* Kernels on hand-made nodes, and what runs in oneDNN. */
#include "chance.h"
#include "net.h"
#include "one_node.h"
#include "core/cpu.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/profile.h"
#include "ops/kernel/block.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/index_offsets.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/tensor_cast.h"

#include <dnnl.h>
#include <math.h>

#include <cmocka.h>

/* ---- kernels --------------------------------------------------------------------------------- */

/* Kernels where there is next to nothing to compute, where data are no numbers, and where what was
   constant changes. Expected values follow from ONNX's definitions by hand; Hardmax takes the first
   NaN for the largest as NumPy's argmax does. */

static const enum amp_dtype floats[] = {AMP_FLOAT, AMP_DOUBLE};

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
                RUN(floats[i], DIMS(5), 2e-30, 1e-30, 3e-30, 1e-30, 3e-30);
                EXPECT_OUTPUT(0, 0, op == 0 ? (is_last ? 4 : 2) : (is_last ? 3 : 1));
                RUN(floats[i], DIMS(5), -0.0, 0, -0.0, 0, -0.0);
                EXPECT_OUTPUT(0, 0, is_last ? 4 : 0);
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

/* Lines of lengths around a block's; each line's best stands in two places, and what lies next to
   the line is better still. */
enum { MANY_LINES = 300 };

static struct {
    int64_t length, count;
    int sign, axis;
    bool is_last;
} lines;

static int64_t best_place(int64_t line, bool is_last)
{
    int64_t a = line * 3 % lines.length, b = lines.length / 2 + line % (lines.length / 2 + 1);
    b = b < lines.length ? b : 0;
    return (a < b) == is_last ? b : a;
}

static float line_element(int64_t line, int64_t at)
{
    bool is_best = at == best_place(line, false) || at == best_place(line, true);
    return (float)(lines.sign * ((is_best ? 1000 : (line * 7 + at * 5) % 11) + 2000 * (line % 3)));
}

static void expect_best(const char *op_type)
{
    float *x = amp_arena_alloc(net.arena, (size_t)(lines.length * lines.count) * sizeof *x);
    const bool is_top = strcmp(op_type, "TopK") == 0;
    struct amp_shape shape =
        lines.axis == 0 ? DIMS(lines.length, lines.count) : DIMS(lines.count, lines.length);
    for (int64_t line = 0; line < lines.count; line++)
        for (int64_t at = 0; at < lines.length; at++)
            x[lines.axis == 0 ? at * lines.count + line : line * lines.length + at] =
                line_element(line, at);
    net_start(13);
    uint32_t of = input("x", AMP_FLOAT, shape);
    uint32_t y = is_top ? net_out(net_node(0, "TopK", "y", 2, IDS(of, NUMBERS("k", 1))), 0)
                        : NODE(op_type, "y", of);
    set_int(y, "axis", lines.axis);
    set_int(y, is_top ? "largest" : "select_last_index", is_top ? lines.sign > 0 : lines.is_last);
    output(is_top ? net_out(node_of(y), 1) : y);
    run_on(net_tensor(AMP_FLOAT, shape, x));
    for (int64_t line = 0; line < lines.count; line++) {
        int64_t found = amp_tensor_int(&net.outputs[0], (size_t)line);
        if (found != best_place(line, lines.is_last && !is_top))
            fail_msg("%s of %lld lines of %lld along axis %d: line %lld has %lld", op_type,
                     (long long)lines.count, (long long)lines.length, lines.axis, (long long)line,
                     (long long)found);
    }
}

static void the_best_of_long_lines_is_their_own(void **state)
{
    static const int64_t lengths[] = {1, 2, 255, 256, 257, 300, 512, 600};
    static const int64_t counts[] = {1, 3, 256, MANY_LINES};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (int way = 0; way < 8; way++) {
                lines.length = lengths[i], lines.count = counts[k];
                lines.axis = way & 1, lines.is_last = (way & 2) != 0;
                lines.sign = way & 4 ? 1 : -1;
                expect_best(lines.sign > 0 ? "ArgMax" : "ArgMin");
                expect_best("TopK");
            }
}

/* ---- reductions of any axes, by their definition ---- */

enum { REDUCED_RANK = 4, REDUCED_MOST = 1 << 19 };

static const char *const reduced_ops[] = {"ReduceSum", "ReduceSumSquare", "ReduceMax",
                                          "ReduceLogSumExp"};

static double combine_by(size_t op, double sum, double x)
{
    return op == 0 ? sum + x : op == 1 ? sum + x * x : op == 2 ? fmax(sum, x) : sum + exp(x);
}

/* Holds OP of X over the axes that are the bits of AXES. */
static void expect_reduction(size_t op, const int64_t *dims, unsigned axes,
                             const struct amp_tensor *x)
{
    static double expected[REDUCED_MOST];
    int64_t at[REDUCED_RANK] = {0}, list[REDUCED_RANK], count = 1, i = 0;
    size_t n = 0;
    for (int d = 0; d < REDUCED_RANK; d++)
        if (axes >> d & 1)
            list[n++] = d;
        else
            count *= dims[d];
    for (int64_t k = 0; k < count; k++)
        expected[k] = op == 2 ? -INFINITY : 0;
    do {
        int64_t place = 0;
        for (int d = 0; d < REDUCED_RANK; d++)
            place = axes >> d & 1 ? place : place * dims[d] + at[d];
        double number = x->dtype == AMP_INT64 ? (double)((const int64_t *)x->data)[i]
                                              : amp_tensor_double(x, (size_t)i);
        expected[place] = combine_by(op, expected[place], number);
        i++;
    } while (amp_index_next(REDUCED_RANK, dims, at));
    net_start(18);
    output(NODE(reduced_ops[op], "y", input("x", x->dtype, x->shape),
                constant("axes", AMP_INT64, DIMS((int64_t)n), list)));
    run_on(x);
    for (int64_t k = 0; k < count; k++) {
        const struct amp_tensor *y = &net.outputs[0];
        double right = op == 3 ? log(expected[k]) : expected[k];
        double found = y->dtype == AMP_INT64 ? (double)((const int64_t *)y->data)[k]
                                             : amp_tensor_double(y, (size_t)k);
        if (!(fabs(found - right) <= (op == 3 ? 1e-5 * fabs(right) : 0)))
            fail_msg("%s of [%d, %d, %d, %d], axes %x: element %d is %g; %g is right",
                     reduced_ops[op], (int)dims[0], (int)dims[1], (int)dims[2], (int)dims[3], axes,
                     (int)k, found, right);
    }
}

/* Of whole numbers, of which sums are exact; so many that threads share them. */
static void reductions_are_of_all_elements(void **state)
{
    static const int64_t sizes[][REDUCED_RANK] = {{7, 300, 3, 5}, {2, 9, 700, 3},  {20, 3, 70, 9},
                                                  {2, 3, 2, 1},   {3, 10, 2, 600}, {5, 2, 6000, 5}};
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT, AMP_INT64, AMP_DOUBLE};
    static int64_t numbers[REDUCED_MOST];
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 4; i++) {
        const int64_t *dims = sizes[i / 4];
        for (unsigned axes = 1; axes < 1 << REDUCED_RANK; axes += i < 20 ? 1 : 4) {
            struct amp_tensor x = {.dtype = dtypes[i % 4],
                                   .shape = DIMS(dims[0], dims[1], dims[2], dims[3]),
                                   .data = numbers};
            for (size_t k = 0; k < amp_tensor_count(&x); k++)
                if (x.dtype == AMP_INT64)
                    numbers[k] = (int64_t)(k * 7919 % 10007) - 5000;
                else
                    amp_tensor_set_double(&x, k, (double)(k * 31 % 13) - 6);
            expect_reduction(i % 4, dims, axes, &x);
        }
    }
}

/* ---- running sums and products, and the first of a line, by their definitions ---- */

static struct {
    int64_t outer, length, inner;
    enum amp_dtype dtype;
    bool is_product, is_exclusive, is_reverse;
} running;

static double running_element(const struct amp_tensor *tensor, int64_t i)
{
    return tensor->dtype == AMP_INT64 ? (double)((const int64_t *)tensor->data)[i]
                                      : amp_tensor_double(tensor, (size_t)i);
}

/* Numbers of which sums and products are exact. */
static struct amp_tensor *running_numbers(void)
{
    const struct amp_shape shape = DIMS(running.outer, running.length, running.inner);
    struct amp_tensor *tensor = amp_arena_alloc(net.arena, sizeof *tensor);
    int64_t count = amp_shape_count(&shape);
    *tensor = (struct amp_tensor){.dtype = running.dtype, .shape = shape};
    tensor->data = amp_arena_alloc(net.arena, (size_t)count * 8);
    for (int64_t i = 0; i < count; i++) {
        int64_t sign = i * 7 % 5 < 2 ? -1 : 1;
        int64_t number = running.is_product ? sign * (1 + (i * 3 % 41 == 0)) : i * 7 % 23 - 9;
        if (running.dtype == AMP_INT64)
            ((int64_t *)tensor->data)[i] = number;
        else
            amp_tensor_set_double(tensor, (size_t)i, (double)number);
    }
    return tensor;
}

static void expect_running(const struct amp_tensor *in, const struct amp_tensor *out)
{
    for (int64_t line = 0; line < running.outer * running.inner; line++) {
        int64_t first =
            line / running.inner * running.length * running.inner + line % running.inner;
        double now = running.is_product ? 1 : 0;
        for (int64_t i = 0; i < running.length; i++) {
            int64_t row = running.is_reverse ? running.length - 1 - i : i;
            int64_t at = first + row * running.inner;
            double x = running_element(in, at), next = running.is_product ? now * x : now + x;
            if (running_element(out, at) != (running.is_exclusive ? now : next))
                fail_msg("%s of [%d, %d, %d], %s%s: element %d is %g",
                         running.is_product ? "products" : "sums", (int)running.outer,
                         (int)running.length, (int)running.inner,
                         running.is_exclusive ? "exclusive " : "",
                         running.is_reverse ? "reverse" : "", (int)at, running_element(out, at));
            now = next;
        }
    }
}

/* Around the lines that are taken side by side and the elements that are taken at a time. */
static void running_sums_and_products_are_exact(void **state)
{
    static const int64_t sizes[][3] = {{2, 3, 1},   {1, 600, 1},  {2, 257, 3}, {2, 256, 15},
                                       {1, 5, 16},  {2, 4, 17},   {1, 3, 256}, {2, 2, 257},
                                       {2, 3, 300}, {300, 90, 1}, {2, 1, 40}};
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 24; i++) {
        const int64_t *size = sizes[i / 24];
        running.outer = size[0], running.length = size[1], running.inner = size[2];
        running.dtype = dtypes[i % 3];
        running.is_product = i / 3 & 1, running.is_exclusive = i / 3 & 2;
        running.is_reverse = i / 3 & 4;
        net_start(26);
        const struct amp_tensor *in = running_numbers();
        uint32_t y = NODE(running.is_product ? "CumProd" : "CumSum", "y",
                          input("x", running.dtype, in->shape), NUMBERS("axis", 1));
        set_int(y, "exclusive", running.is_exclusive);
        set_int(y, "reverse", running.is_reverse);
        output(y);
        run_on(in);
        expect_running(in, &net.outputs[0]);
    }
}

/* Which element of a line is the one at PLACE in order: of equals the one before comes first. */
static int64_t element_at(const float *line, int64_t length, int64_t step, int sign, int64_t place)
{
    for (int64_t i = 0; i < length; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < length; j++)
            before += (float)sign * line[j * step] > (float)sign * line[i * step] ||
                      (line[j * step] == line[i * step] && j < i);
        if (before == place)
            return i;
    }
    return -1;
}

static void expect_first(int64_t outer, int64_t length, int64_t inner, int64_t k, int sign)
{
    const int64_t count = outer * length * inner;
    net_start(11);
    float *x = amp_arena_alloc(net.arena, (size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(i * 31 % 47 - i % 3 * 20);
    const struct amp_shape shape = DIMS(outer, length, inner);
    uint32_t id = net_node(0, "TopK", "y", 2, IDS(input("x", AMP_FLOAT, shape), NUMBERS("k", k)));
    set_int(net_out(id, 0), "axis", 1);
    set_int(net_out(id, 0), "largest", sign > 0);
    output(net_out(id, 0)), output(net_out(id, 1));
    run_on(net_tensor(AMP_FLOAT, shape, x));
    for (int64_t i = 0; i < outer * k * inner; i++) {
        const float *line = x + i / inner / k * length * inner + i % inner;
        int64_t right = element_at(line, length, inner, sign, i / inner % k);
        int64_t found = amp_tensor_int(&net.outputs[1], (size_t)i);
        double value = amp_tensor_double(&net.outputs[0], (size_t)i);
        if (found != right || value != (double)line[right * inner])
            fail_msg("the first %d of [%d, %d, %d], sign %d: place %d has %g, element %d; element "
                     "%d is right",
                     (int)k, (int)outer, (int)length, (int)inner, sign, (int)i, value, (int)found,
                     (int)right);
    }
}

static void the_first_of_a_line_are_in_order(void **state)
{
    static const int64_t sizes[][4] = {{2, 5, 1, 2},   {2, 5, 3, 5},    {1, 16, 1, 7},
                                       {3, 17, 2, 16}, {1, 40, 1, 40},  {1, 300, 1, 20},
                                       {2, 257, 2, 3}, {1, 270, 1, 30}, {1, 33, 20, 12},
                                       {90, 40, 3, 4}, {2, 1, 4, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int sign = -1; sign <= 1; sign += 2)
            expect_first(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], sign);
}

/* Over nothing the least value is the greatest of the type, and the other way round; ONNX. */
static void extremes_of_nothing_are_those_of_the_type(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        double least, greatest;
    } types[] = {{AMP_FLOAT, INFINITY, -INFINITY},   {AMP_DOUBLE, INFINITY, -INFINITY},
                 {AMP_FLOAT16, INFINITY, -INFINITY}, {AMP_INT32, INT32_MAX, INT32_MIN},
                 {AMP_INT64, 0x1p63, -0x1p63},       {AMP_INT8, INT8_MAX, INT8_MIN},
                 {AMP_UINT8, UINT8_MAX, 0},          {AMP_BOOL, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int is_max = 0; is_max < 2; is_max++) {
            double right = is_max ? types[i].greatest : types[i].least;
            net_start(20);
            output(NODE(is_max ? "ReduceMax" : "ReduceMin", "y",
                        input("x", types[i].dtype, DIMS(2, 0)), NUMBERS("axes", 1)));
            run_on(net_tensor(types[i].dtype, DIMS(2, 0), ""));
            expect_doubles(0, (double[]){right, right}, 2, 0);
        }
}

/* Updates along the first axis, whose lines threads share where what lies within is long. */
static void long_lines_are_scattered_whole(void **state)
{
    enum { TO = 4, FROM = 3, LONGEST = 200 };
    static const int64_t widths[] = {1, 63, 64, 127, 128, 129, 191, 192, LONGEST};
    static const char *const reductions[] = {"none", "add"};
    float data[TO * LONGEST], updates[FROM * LONGEST];
    int64_t places[FROM * LONGEST];
    double expected[TO * LONGEST];
    (void)state;
    for (size_t w = 0; w < 2 * sizeof widths / sizeof *widths; w++) {
        const int64_t width = widths[w / 2];
        const bool adds = w % 2 != 0;
        for (int64_t i = 0; i < TO * width; i++)
            expected[i] = data[i] = (float)(i % 17);
        for (int64_t i = 0; i < FROM * width; i++) {
            int64_t k = i / width, at = i % width, place = (k + at * 3) % TO;
            places[i] = at % 2 == 0 ? place : place - TO;
            updates[i] = (float)(100 + i);
            expected[place * width + at] = updates[i] + (adds ? data[place * width + at] : 0);
        }
        net_start(16);
        uint32_t y = NODE("ScatterElements", "y", input("data", AMP_FLOAT, DIMS(TO, width)),
                          input("places", AMP_INT64, DIMS(FROM, width)),
                          input("updates", AMP_FLOAT, DIMS(FROM, width)));
        set_word(y, "reduction", reductions[adds]);
        output(y);
        run_on(TENSORS(*net_tensor(AMP_FLOAT, DIMS(TO, width), data),
                       *net_tensor(AMP_INT64, DIMS(FROM, width), places),
                       *net_tensor(AMP_FLOAT, DIMS(FROM, width), updates)));
        expect_doubles(0, expected, (size_t)(TO * width), 0);
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

/* The coordinate that is place K of LENGTH where the corners are aligned. */
static float corner_place(int64_t k, int64_t length)
{
    return (float)(2 * (double)k / (double)(length - 1) - 1);
}

/* More points of each image than are looked up together: each is an element itself, and a channel
   has ten times what the one before it has. */
static void check_many_points(const char *mode, int n)
{
    enum { POINTS = 3 * 64, IMAGES = 2, CHANNELS = 2, SIDE = 3, MOST = 27 };
    static float x[IMAGES * CHANNELS * MOST], grid[IMAGES * POINTS * 3];
    static double expected[IMAGES * CHANNELS * POINTS];
    int64_t all = n == 1 ? SIDE : n == 2 ? SIDE * SIDE : MOST;
    struct amp_shape in = {2 + n, {IMAGES, CHANNELS}}, at = {2 + n, {IMAGES, POINTS}};
    for (int d = 0; d < n; d++) {
        in.dims[2 + d] = SIDE;
        at.dims[1 + d] = d == 0 ? POINTS : 1;
    }
    at.dims[n + 1] = n;
    for (int64_t i = 0; i < IMAGES * CHANNELS * all; i++)
        x[i] =
            (float)((1 + i % all + i / all / CHANNELS * 30) * (i / all % CHANNELS == 0 ? 1 : 10));
    for (int64_t p = 0; p < IMAGES * POINTS; p++) {
        int64_t left = p * 7 % all, image = p / POINTS;
        for (int64_t c = 0; c < CHANNELS; c++)
            expected[(image * CHANNELS + c) * POINTS + p % POINTS] =
                (double)x[(image * CHANNELS + c) * all + left];
        for (int d = 0; d < n; d++, left /= SIDE) /* the innermost dim comes first */
            grid[p * n + d] = corner_place(left % SIDE, SIDE);
    }
    net_start(20);
    uint32_t y = NODE("GridSample", "y", input("x", AMP_FLOAT, in), input("grid", AMP_FLOAT, at));
    set_word(y, "mode", mode);
    set_int(y, "align_corners", 1);
    output(y);
    run_on(TENSORS(*net_tensor(AMP_FLOAT, in, x), *net_tensor(AMP_FLOAT, at, grid)));
    expect_doubles(0, expected, IMAGES * CHANNELS * POINTS, 0);
}

static void many_points_are_looked_up(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++) {
        check_many_points("linear", n);
        check_many_points("nearest", n);
        check_many_points("cubic", n);
    }
}

/* A grid may be of another type than what is sampled. */
static void grids_have_types_of_their_own(void **state)
{
    static const float x[] = {0, 1, 2, 3}, narrow[] = {-1, -1, 1, 1, 0, 0, 1, -1};
    static const double wide[] = {-1, -1, 1, 1, 0, 0, 1, -1};
    (void)state;
    for (int is_double = 0; is_double < 2; is_double++) {
        enum amp_dtype dtype = is_double ? AMP_DOUBLE : AMP_FLOAT;
        net_start(20);
        uint32_t y = NODE("GridSample", "y", input("x", AMP_FLOAT, DIMS(1, 1, 2, 2)),
                          input("grid", dtype, DIMS(1, 1, 4, 2)));
        set_int(y, "align_corners", 1);
        output(y);
        run_on(
            TENSORS(*net_tensor(AMP_FLOAT, DIMS(1, 1, 2, 2), x),
                    *net_tensor(dtype, DIMS(1, 1, 4, 2), is_double ? (const void *)wide : narrow)));
        EXPECT_OUTPUT(0, 0, 0, 3, 1.5, 1);
    }
}

/* More elements than a thread has at a time, alone and in rows of 2: 64 steps from each to the
   next, and none beyond the last. */
static void long_dims_are_resized(void **state)
{
    enum { ALL = 3 * 64 };
    static const float x[] = {0, 64, 128, 1, 65, 129};
    static double expected[2 * ALL], rows[2 * ALL];
    (void)state;
    for (int i = 0; i < ALL; i++) {
        expected[i] = i < 128 ? i : 128;
        expected[ALL + i] = expected[i] + 1;
        rows[2 * i] = expected[i];
        rows[2 * i + 1] = expected[ALL + i];
    }
    for (int is_row = 0; is_row < 2; is_row++) {
        const float turned[] = {0, 1, 64, 65, 128, 129};
        net_start(19);
        uint32_t in = input("x", AMP_FLOAT, is_row ? DIMS(3, 2) : DIMS(2, 3));
        uint32_t y = NODE("Resize", "y", in, AMP_NONE,
                          is_row ? FLOATS("scales", 64, 1) : FLOATS("scales", 1, 64));
        set_word(y, "mode", "linear");
        set_word(y, "coordinate_transformation_mode", "asymmetric");
        output(y);
        run_on(net_tensor(AMP_FLOAT, is_row ? DIMS(3, 2) : DIMS(2, 3), is_row ? turned : x));
        expect_doubles(0, is_row ? rows : expected, 2 * ALL, 0);
    }
}

/* At quarters of the way from one element to the next: which of the two is taken. */
static void places_are_rounded(void **state)
{
    static const struct {
        const char *mode;
        double expected[8];
    } checks[] = {{"floor", {0, 0, 0, 0, 1, 1, 1, 1}},
                  {"ceil", {0, 1, 1, 1, 1, 1, 1, 1}},
                  {"round_prefer_floor", {0, 0, 0, 1, 1, 1, 1, 1}},
                  {"round_prefer_ceil", {0, 0, 1, 1, 1, 1, 1, 1}}};
    static const float x[] = {0, 1};
    (void)state;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        net_start(19);
        uint32_t y =
            NODE("Resize", "y", input("x", AMP_FLOAT, DIMS(2)), AMP_NONE, FLOATS("scales", 4));
        set_word(y, "coordinate_transformation_mode", "asymmetric");
        set_word(y, "nearest_mode", checks[i].mode);
        output(y);
        run_on(net_tensor(AMP_FLOAT, DIMS(2), x));
        expect_doubles(0, checks[i].expected, 8, 0);
    }
}

/* Integers between others, here without a rest; what is no number is copied. */
static void integers_and_others_are_resized(void **state)
{
    static const double from_minus[] = {-4, -2, 2, 4}, from_0[] = {0, 2, 6, 8};
    static const int8_t bytes[] = {-4, 4};
    static const uint8_t words[] = {0, 8};
    static const int16_t shorts[] = {-4, 4};
    static const int32_t ints[] = {-4, 4};
    static const int64_t longs[] = {-4, 4};
    static const struct {
        enum amp_dtype dtype;
        const void *x;
        const double *expected;
    } checks[] = {{AMP_INT8, bytes, from_minus},
                  {AMP_UINT8, words, from_0},
                  {AMP_INT16, shorts, from_minus},
                  {AMP_INT32, ints, from_minus},
                  {AMP_INT64, longs, from_minus}};
    static const float pairs[] = {1, 2, 3, 4}, doubled[] = {1, 2, 1, 2, 3, 4, 3, 4};
    (void)state;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        net_start(19);
        uint32_t y = NODE("Resize", "y", input("x", checks[i].dtype, DIMS(2)), AMP_NONE,
                          FLOATS("scales", 2));
        set_word(y, "mode", "linear");
        output(y);
        run_on(net_tensor(checks[i].dtype, DIMS(2), checks[i].x));
        expect_doubles(0, checks[i].expected, 4, 0);
    }
    net_start(19);
    output(NODE("Resize", "y", input("x", AMP_COMPLEX64, DIMS(2)), AMP_NONE, FLOATS("scales", 2)));
    run_on(net_tensor(AMP_COMPLEX64, DIMS(2), pairs));
    assert_memory_equal(net.outputs[0].data, doubled, sizeof doubled);
}

/* ---- boxes ---- */

/* Boxes of which none touches another, each twice: more than are compared at a time, of
   two images with three classes, enough for threads of their own. */
static void of_equal_boxes_the_first_is_kept(void **state)
{
    enum { PLACES = 400, BOXES = 2 * PLACES, IMAGES = 2, CLASSES = 3 };
    static float boxes[IMAGES * BOXES * 4], scores[IMAGES * CLASSES * BOXES];
    static double expected[IMAGES * CLASSES * PLACES * 3];
    (void)state;
    for (int i = 0; i < IMAGES * BOXES; i++) {
        float left = (float)(2 * (i % PLACES) + i / BOXES);
        memcpy(boxes + 4 * i, (const float[]){left, 0, left + 1, 1}, 4 * sizeof *boxes);
    }
    for (int i = 0; i < IMAGES * CLASSES; i++)
        for (int k = 0; k < BOXES; k++) /* in class 1 the later one of two has the higher score */
            scores[i * BOXES + k] = (float)(i % CLASSES == 1 ? 1 + k : BOXES - k);
    for (int i = 0; i < IMAGES * CLASSES; i++)
        for (int k = 0; k < PLACES; k++) {
            double *row = expected + 3 * (i * PLACES + k);
            row[0] = i / CLASSES;
            row[1] = i % CLASSES;
            row[2] = i % CLASSES == 1 ? BOXES - 1 - k : k;
        }
    net_start(11);
    output(NODE("NonMaxSuppression", "y", input("boxes", AMP_FLOAT, DIMS(IMAGES, BOXES, 4)),
                input("scores", AMP_FLOAT, DIMS(IMAGES, CLASSES, BOXES)), NUMBERS("most", BOXES),
                FLOATS("least", 0.5f)));
    run_on(TENSORS(*net_tensor(AMP_FLOAT, DIMS(IMAGES, BOXES, 4), boxes),
                   *net_tensor(AMP_FLOAT, DIMS(IMAGES, CLASSES, BOXES), scores)));
    expect_doubles(0, expected, IMAGES * CLASSES * PLACES * 3, 0);
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

/* ... and of no others, also where threads have a part of them each. */
static void ranges_end_with_their_values(void **state)
{
    static const int64_t counts[] = {AMP_PARALLEL_MIN - 1, AMP_PARALLEL_MIN, AMP_PARALLEL_MIN + 5,
                                     2 * AMP_PARALLEL_MIN + 40};
    float *x = calloc(6 * (size_t)AMP_PARALLEL_MIN, sizeof *x);
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const int64_t n = counts[c];
        for (int64_t i = 0; i < 6 * AMP_PARALLEL_MIN; i++)
            x[i] = i < n ? (float)(i % 7) / 7 : 1000;
        x[n - 1] = 3;
        x[n / 2] = -2;
        net_start(11);
        uint32_t node =
            net_node(0, "DynamicQuantizeLinear", "y", 3, IDS(input("x", AMP_FLOAT, DIMS(n))));
        for (uint32_t k = 0; k < 3; k++)
            output(net_out(node, k));
        run_on(&(struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(n), .data = x});
        EXPECT_OUTPUT(1, 1e-7, 5.0 / 255);
        EXPECT_OUTPUT(2, 0, 102);
        assert_int_equal(((const uint8_t *)net.outputs[0].data)[n - 1], 255);
        assert_int_equal(((const uint8_t *)net.outputs[0].data)[n / 2], 0);
    }
    free(x);
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

/* QLinearMatMul by its definition. Scales are powers of two, so that float32 has all products. */
struct quantized_product {
    enum amp_dtype a, b, y;
    int a_rank, b_rank;
    bool has_a_rows, has_y_rows, has_b_columns; /* parameters are of each row or column */
    bool has_b_zero, are_constant;
};

enum { PRODUCT_ROWS = 3, PRODUCT_DEPTH = 5, PRODUCT_COLUMNS = 6 };

static struct {
    uint8_t a[2 * PRODUCT_ROWS * PRODUCT_DEPTH], b[PRODUCT_DEPTH * PRODUCT_COLUMNS];
    uint8_t a_zero[PRODUCT_ROWS], b_zero[PRODUCT_COLUMNS], y_zero[PRODUCT_ROWS];
    float a_scale[PRODUCT_ROWS], b_scale[PRODUCT_COLUMNS], y_scale[PRODUCT_ROWS];
} bytes;

static double byte_of(enum amp_dtype dtype, const uint8_t *items, int64_t i)
{
    return dtype == AMP_INT8 ? (double)(int8_t)items[i] : (double)items[i];
}

static void fill_quantized(const struct quantized_product *q, int turn)
{
    for (size_t i = 0; i < sizeof bytes.a; i++)
        bytes.a[i] = (uint8_t)(i * 37 + 11 + (size_t)turn * 101);
    const int change = q->are_constant ? 0 : turn; /* of what is no constant */
    for (size_t i = 0; i < sizeof bytes.b; i++)
        bytes.b[i] = (uint8_t)(i * 53 + 7 + (size_t)change * 29);
    for (int i = 0; i < PRODUCT_COLUMNS; i++) {
        bytes.b_zero[i] = (uint8_t)(q->has_b_zero ? i + 3 + change : 0);
        bytes.b_scale[i] = (float)(1 << i % 3) / (float)(32 << change);
    }
    for (int i = 0; i < PRODUCT_ROWS; i++) {
        bytes.a_zero[i] = (uint8_t)(i + 2 + change),
        bytes.y_zero[i] = (uint8_t)(10 + 9 * i - change);
        bytes.a_scale[i] = (float)(1 << i) / 64, bytes.y_scale[i] = (float)(1 << i % 2) / 4;
    }
}

/* Element C of row R of matrix BATCH. */
static double quantized_element(const struct quantized_product *q, int64_t batch, int64_t r,
                                int64_t c)
{
    const int64_t rows = q->a_rank == 1 ? 1 : PRODUCT_ROWS;
    const int64_t columns = q->b_rank == 1 ? 1 : PRODUCT_COLUMNS;
    const int64_t ar = q->has_a_rows ? r : 0, yr = q->has_y_rows ? r : 0;
    const int64_t bc = q->has_b_columns ? c : 0;
    double sum = 0;
    for (int64_t k = 0; k < PRODUCT_DEPTH; k++)
        sum += (byte_of(q->a, bytes.a, (batch * rows + r) * PRODUCT_DEPTH + k) -
                byte_of(q->a, bytes.a_zero, ar)) *
               (byte_of(q->b, bytes.b, k * columns + c) - byte_of(q->b, bytes.b_zero, bc));
    double y = rint(sum * (double)bytes.a_scale[ar] * (double)bytes.b_scale[bc] /
                    (double)bytes.y_scale[yr]) +
               byte_of(q->y, bytes.y_zero, yr);
    return fmin(fmax(y, q->y == AMP_INT8 ? -128 : 0), q->y == AMP_INT8 ? 127 : 255);
}

static void expect_quantized(const struct quantized_product *q, const struct amp_tensor *y)
{
    const int64_t batches = q->a_rank == 3 ? 2 : 1, rows = q->a_rank == 1 ? 1 : PRODUCT_ROWS;
    const int64_t columns = q->b_rank == 1 ? 1 : PRODUCT_COLUMNS;
    assert_int_equal(amp_tensor_count(y), batches * rows * columns);
    assert_int_equal(y->shape.rank, q->a_rank + q->b_rank - 2);
    for (int64_t i = 0; i < batches * rows * columns; i++) {
        double right = quantized_element(q, i / columns / rows, i / columns % rows, i % columns);
        if (byte_of(q->y, y->data, i) != right)
            fail_msg("%s %s of rank %d and %d to %s, parameters %d%d%d%d%d: element %d is %g; %g "
                     "is right",
                     amp_dtype_name(q->a), amp_dtype_name(q->b), q->a_rank, q->b_rank,
                     amp_dtype_name(q->y), q->has_a_rows, q->has_y_rows, q->has_b_columns,
                     q->has_b_zero, q->are_constant, (int)i, byte_of(q->y, y->data, i), right);
    }
}

/* In two runs of one session, of which the second may make the first's calls again. */
static void check_quantized_product(const struct quantized_product *q)
{
    const struct amp_shape a_shapes[] = {DIMS(PRODUCT_DEPTH), DIMS(PRODUCT_ROWS, PRODUCT_DEPTH),
                                         DIMS(2, PRODUCT_ROWS, PRODUCT_DEPTH)};
    const struct amp_shape b_shapes[] = {DIMS(PRODUCT_DEPTH), DIMS(PRODUCT_DEPTH, PRODUCT_COLUMNS)};
    const struct amp_shape scalar = SCALAR, rows = DIMS(PRODUCT_ROWS),
                           columns = DIMS(PRODUCT_COLUMNS);
    const struct amp_shape of_a = q->has_a_rows ? rows : scalar,
                           of_y = q->has_y_rows ? rows : scalar,
                           of_b = q->has_b_columns ? columns : scalar;
    const struct amp_tensor tensors[] = {
        {.dtype = q->a, .shape = a_shapes[q->a_rank - 1], .data = bytes.a},
        {.dtype = AMP_FLOAT, .shape = of_a, .data = bytes.a_scale},
        {.dtype = q->a, .shape = of_a, .data = bytes.a_zero},
        {.dtype = q->b, .shape = b_shapes[q->b_rank - 1], .data = bytes.b},
        {.dtype = AMP_FLOAT, .shape = of_b, .data = bytes.b_scale},
        {.dtype = q->b, .shape = of_b, .data = bytes.b_zero},
        {.dtype = AMP_FLOAT, .shape = of_y, .data = bytes.y_scale},
        {.dtype = q->y, .shape = of_y, .data = bytes.y_zero}};
    uint32_t ids[8];
    struct amp_session *session;
    fill_quantized(q, 0);
    net_start(21);
    for (size_t i = 0; i < 8; i++) {
        const char *name = amp_arena_printf(net.arena, "x%zu", i);
        const struct amp_tensor *t = &tensors[i];
        ids[i] = i > 0 && q->are_constant ? constant(name, t->dtype, t->shape, t->data)
                                          : input(name, t->dtype, t->shape);
    }
    output(net_out(net_node(0, "QLinearMatMul", "y", 1, ids, 8), 0));
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    for (int turn = 0; turn < 3; turn++) {
        fill_quantized(q, turn);
        assert_int_equal(amp_session_run(session, tensors, net.outputs, &net.err), AMP_OK);
        expect_quantized(q, &net.outputs[0]);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
    }
    amp_session_destroy(session);
}

static void quantized_products_are_rounded_once(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_INT8, AMP_UINT8};
    (void)state;
    for (int type = 0; type < 8; type++)
        for (int way = 0; way < 32; way++) {
            struct quantized_product q = {.a = dtypes[type & 1],
                                          .b = dtypes[type >> 1 & 1],
                                          .y = dtypes[type >> 2],
                                          .a_rank = 2,
                                          .b_rank = 2,
                                          .has_a_rows = way & 1,
                                          .has_y_rows = way >> 1 & 1,
                                          .has_b_columns = way >> 2 & 1,
                                          .has_b_zero = way >> 3 & 1,
                                          .are_constant = way >> 4};
            check_quantized_product(&q);
            if (q.has_a_rows || q.has_y_rows)
                continue;
            q.a_rank = 3;
            check_quantized_product(&q);
            q.a_rank = 1;
            check_quantized_product(&q);
            q.has_b_columns = false, q.b_rank = 1;
            check_quantized_product(&q);
            q.a_rank = 2;
            check_quantized_product(&q);
        }
}

/* ---- Gemm by its definition ---- */

struct gemm_case {
    enum amp_dtype dtype;
    int64_t m, k, c_dims[2]; /* of C; rank C_RANK, below 0: there is none */
    int c_rank, transposed;  /* bits: A, B */
    double alpha, beta;
};

enum { GEMM_COLUMNS = 4 };

static double gemm_number(int64_t i, int64_t factor)
{
    return (double)(i * factor % 7 - 3);
}

static double gemm_element(const struct gemm_case *g, int64_t i, int64_t j)
{
    double sum = 0, c = 0;
    for (int64_t l = 0; l < g->k; l++)
        sum += gemm_number(g->transposed & 1 ? l * g->m + i : i * g->k + l, 5) *
               gemm_number(g->transposed & 2 ? j * g->k + l : l * GEMM_COLUMNS + j, 3);
    int64_t row = g->c_rank < 2 || g->c_dims[0] == 1 ? 0 : i;
    int64_t columns = g->c_rank < 1 ? 1 : g->c_dims[g->c_rank - 1];
    if (g->c_rank >= 0)
        c = gemm_number(row * columns + (columns == 1 ? 0 : j), 2);
    return g->alpha * sum + g->beta * c;
}

static uint32_t gemm_input(const char *name, enum amp_dtype dtype, struct amp_shape shape,
                           int64_t factor, struct amp_tensor *tensor)
{
    *tensor = (struct amp_tensor){.dtype = dtype, .shape = shape};
    tensor->data = amp_arena_alloc(net.arena, amp_tensor_size(tensor) + 1);
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        amp_tensor_set_double(tensor, i, gemm_number((int64_t)i, factor));
    return input(name, dtype, shape);
}

static void check_gemm(const struct gemm_case *g)
{
    struct amp_tensor in[3];
    uint32_t ids[3];
    net_start(13);
    struct amp_shape a = g->transposed & 1 ? DIMS(g->k, g->m) : DIMS(g->m, g->k);
    struct amp_shape b = g->transposed & 2 ? DIMS(GEMM_COLUMNS, g->k) : DIMS(g->k, GEMM_COLUMNS);
    const struct amp_shape c = {.rank = g->c_rank, .dims = {g->c_dims[0], g->c_dims[1]}};
    ids[0] = gemm_input("a", g->dtype, a, 5, &in[0]);
    ids[1] = gemm_input("b", g->dtype, b, 3, &in[1]);
    if (g->c_rank >= 0)
        ids[2] = gemm_input("c", g->dtype, c, 2, &in[2]);
    uint32_t y = net_out(net_node(0, "Gemm", "y", 1, ids, g->c_rank >= 0 ? 3 : 2), 0);
    set_int(y, "transA", g->transposed & 1);
    set_int(y, "transB", g->transposed >> 1);
    set_number(y, "alpha", (float)g->alpha);
    set_number(y, "beta", (float)g->beta);
    output(y);
    run_on(in);
    for (int64_t i = 0; i < g->m * GEMM_COLUMNS; i++) {
        double right = gemm_element(g, i / GEMM_COLUMNS, i % GEMM_COLUMNS);
        double found = amp_tensor_double(&net.outputs[0], (size_t)i);
        if (found != right)
            fail_msg("%s, m %d, k %d, transposed %d, alpha %g, beta %g, C of rank %d [%d, %d]: "
                     "element %d is %g; %g is right",
                     amp_dtype_name(g->dtype), (int)g->m, (int)g->k, g->transposed, g->alpha,
                     g->beta, g->c_rank, (int)g->c_dims[0], (int)g->c_dims[1], (int)i, found,
                     right);
    }
}

/* Few rows and more, sums over nothing, and every C that broadcasts. */
static void products_are_scaled_and_added_to(void **state)
{
    static const double factors[][2] = {{1, 1}, {2, 1}, {1, 2}, {-1, 0.5}, {1, 0}, {2, 0}};
    (void)state;
    for (int64_t m = 1; m <= 3; m++)
        for (int way = 0; way < 2 * 2 * 4 * 6; way++) {
            const struct gemm_case cases[] = {{.c_rank = -1},
                                              {.c_rank = 0},
                                              {.c_rank = 1, .c_dims = {GEMM_COLUMNS}},
                                              {.c_rank = 2, .c_dims = {1, GEMM_COLUMNS}},
                                              {.c_rank = 2, .c_dims = {m, 1}},
                                              {.c_rank = 2, .c_dims = {m, GEMM_COLUMNS}}};
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                struct gemm_case g = cases[c];
                g.dtype = way & 1 ? AMP_DOUBLE : AMP_FLOAT;
                g.k = way & 2 ? 3 : 0;
                g.transposed = way >> 2 & 3;
                g.m = m, g.alpha = factors[way >> 4][0], g.beta = factors[way >> 4][1];
                if (g.k > 0 || g.transposed == 0)
                    check_gemm(&g);
            }
        }
}

/* ---- shapes that change ---- */

/* Einsum where dims of 1 decide in which order a matrix lies, of products of the same size: label c
   of 4 elements is summed, of a and b one has 3 elements and the other 1, in turns. */
static void matrices_of_one_size_may_lie_in_either_order(void **state)
{
    enum { C = 4, D = 5, LONG = 3 };
    static const char *const equations[] = {"acb,cd->abd", "cd,acb->dab", "abc,cd->abd"};
    float x[LONG * C], w[C * D];
    struct amp_session *session;
    (void)state;
    for (int i = 0; i < LONG * C; i++)
        x[i] = (float)(i * 5 % 7 - 3);
    for (int i = 0; i < C * D; i++)
        w[i] = (float)(i * 3 % 11 - 4);
    for (int e = 0; e < 3; e++) {
        const struct amp_shape any = DIMS(AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN);
        net_start(12);
        uint32_t of_x = input("x", AMP_FLOAT, any), of_w = input("w", AMP_FLOAT, DIMS(C, D));
        uint32_t y = e == 1 ? NODE("Einsum", "y", of_w, of_x) : NODE("Einsum", "y", of_x, of_w);
        set_word(y, "equation", equations[e]);
        output(y);
        infer_all();
        assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
        for (int turn = 0; turn < 4; turn++) {
            const int64_t a = turn % 2 == 0 ? 1 : LONG, b = turn % 2 == 0 ? LONG : 1;
            const struct amp_shape shape = e == 2 ? DIMS(a, b, C) : DIMS(a, C, b);
            assert_int_equal(amp_session_run(session,
                                             TENSORS(*net_tensor(AMP_FLOAT, shape, x),
                                                     *net_tensor(AMP_FLOAT, DIMS(C, D), w)),
                                             net.outputs, &net.err),
                             AMP_OK);
            for (int64_t i = 0; i < LONG * D; i++) {
                int64_t row = e == 1 ? i % LONG : i / D, d = e == 1 ? i / LONG : i % D;
                double sum = 0;
                for (int64_t c = 0; c < C; c++) /* a row has a, or b */
                    sum += (double)x[e == 2 || a > 1 ? row * C + c : c * LONG + row] *
                           (double)w[c * D + d];
                assert_true(amp_tensor_double(&net.outputs[0], (size_t)i) == sum);
            }
            amp_tensors_release(net.outputs, NET_OUTPUTS);
        }
        amp_session_destroy(session);
    }
}

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

/* ---- constants ---- */

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
    set_array(start_constant(AMP_FLOAT), "value_float", AMP_ATTR_FLOAT, 1, (float[]){2.5f},
              sizeof(float));
    expect_constant(AMP_FLOAT, 0);
    EXPECT_OUTPUT(0, 0, 2.5);
    set_array(start_constant(AMP_FLOAT), "value_floats", AMP_ATTR_FLOATS, 3, (float[]){2.5f, -1, 4},
              sizeof(float));
    expect_constant(AMP_FLOAT, 1);
    EXPECT_OUTPUT(0, 0, 2.5, -1, 4);
    set_array(start_constant(AMP_INT64), "value_int", AMP_ATTR_INT, 1, (int64_t[]){-7},
              sizeof(int64_t));
    expect_constant(AMP_INT64, 0);
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], -7);
    set_array(start_constant(AMP_INT64), "value_ints", AMP_ATTR_INTS, 2, (int64_t[]){-7, 9},
              sizeof(int64_t));
    expect_constant(AMP_INT64, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 2);
    assert_int_equal(((const int64_t *)net.outputs[0].data)[1], 9);
    set_array(start_constant(AMP_STRING), "value_string", AMP_ATTR_STRING, 1, words, sizeof *words);
    expect_constant(AMP_STRING, 0);
    assert_memory_equal(((const struct amp_str *)net.outputs[0].data)[0].data, "ab", 2);
    set_array(start_constant(AMP_STRING), "value_strings", AMP_ATTR_STRINGS, 3, words,
              sizeof *words);
    expect_constant(AMP_STRING, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 3);
    assert_int_equal(((const struct amp_str *)net.outputs[0].data)[1].size, 0);
    assert_memory_equal(((const struct amp_str *)net.outputs[0].data)[2].data, "c", 1);
    set_array(start_constant(AMP_INT64), "value_ints", AMP_ATTR_INTS, 0, words, 0);
    expect_constant(AMP_INT64, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 0);
    start_constant(AMP_FLOAT);
    refuses(NULL, AMP_MODEL,
            "no value; one of value, sparse_value, value_float, value_floats, value_int, "
            "value_ints, value_string and value_strings is needed");
}

/* Where the tensor lies, aligned or not, does not matter, nor whether the file has all elements. */
static void constants_are_tensors_wherever_they_lie(void **state)
{
    static const float values[] = {1, -2.5f, 3};
    (void)state;
    for (size_t way = 0; way < 4; way++) {
        const bool is_sparse = way / 2 == 1;
        uint32_t y = start_constant(AMP_FLOAT);
        char *room = amp_arena_alloc(net.arena, 256);
        room += 64 - (uintptr_t)room % 64 + way % 2 * sizeof(float);
        struct amp_tensor *tensor = net_tensor(AMP_FLOAT, DIMS(3, 1), values);
        tensor->data = memcpy(room, values, sizeof values);
        set_array(y, is_sparse ? "sparse_value" : "value",
                  is_sparse ? AMP_ATTR_SPARSE_TENSOR : AMP_ATTR_TENSOR, 1, &tensor,
                  sizeof(struct amp_tensor *));
        expect_constant(AMP_FLOAT, 2);
        EXPECT_OUTPUT(0, 0, 1, -2.5, 3);
    }
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

/* A slice that takes all elements in their order is no copy. */
static void slices_of_all_are_no_copies(void **state)
{
    static const struct {
        int64_t rows, start, end, step;
        bool is_shared;
    } cases[] = {
        {3, 0, 3, 1, true},    {3, -9, INT64_MAX, 1, true}, {3, 0, 2, 1, false},
        {3, 1, 3, 1, false},   {3, -1, -9, -1, false},      {2, -1, -9, -1, false},
        {1, -1, -9, -1, true}, {1, 0, 1, 5, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t values[] = {cases[i].start, cases[i].end, 0, cases[i].step};
        struct amp_error err = {.status = AMP_OK};
        struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = {2, {cases[i].rows, 2}}};
        struct amp_tensor y = {.dtype = AMP_FLOAT, .shape.rank = -1}, *out = &y, lists[4];
        const struct amp_tensor *in[5] = {&x};
        struct amp_node node = {.op_type = "Slice", .domain = "", .since_version = 13};
        for (int k = 0; k < 4; k++) {
            lists[k] =
                (struct amp_tensor){.dtype = AMP_INT64, .shape = {1, {1}}, .data = &values[k]};
            in[k + 1] = &lists[k];
        }
        assert_int_equal(amp_tensor_alloc(&x, &err), AMP_OK);
        struct amp_ctx ctx = {
            .node = &node, .in = in, .n_in = 5, .out = &out, .n_out = 1, .err = &err};
        const struct amp_op *op = amp_op_find("", "Slice");
        assert_int_equal(op->shape(&ctx), AMP_OK);
        assert_int_equal(amp_tensor_alloc(&y, &err), AMP_OK);
        assert_int_equal(op->run(&ctx), AMP_OK);
        assert_int_equal(y.data == x.data, cases[i].is_shared);
        amp_tensor_release(&x);
        amp_tensor_release(&y);
    }
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

/* A word that begins as another is another, whatever the case. */
static void stop_words_are_whole(void **state)
{
    static const struct amp_str words[] = {{"AB", 2}, {"abc", 3}, {"a", 1},
                                           {"", 0},   {"aB", 2},  {"ab", 2}};
    static const struct amp_str stops[] = {{"ab", 2}};
    static const struct {
        size_t count;
        const char *left[5];
    } cases[] = {{3, {"abc", "a", ""}}, {5, {"AB", "abc", "a", "", "aB"}}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        net_start(10);
        uint32_t y = NODE("StringNormalizer", "y", input("x", AMP_STRING, DIMS(6)));
        set_array(y, "stopwords", AMP_ATTR_STRINGS, 1, stops, sizeof *stops);
        set_int(y, "is_case_sensitive", k);
        output(y);
        run_on(net_tensor(AMP_STRING, DIMS(6), words));
        assert_int_equal(amp_tensor_count(&net.outputs[0]), cases[k].count);
        for (size_t i = 0; i < cases[k].count; i++) {
            struct amp_str found = ((const struct amp_str *)net.outputs[0].data)[i];
            assert_int_equal(found.size, strlen(cases[k].left[i]));
            assert_true(found.size == 0 || memcmp(found.data, cases[k].left[i], found.size) == 0);
        }
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
    uint64_t chance = 77;
    for (int round = 0; round < 120; round++) {
        enum amp_dtype dtype = dtypes[round / 3 % 4];
        for (int i = 0; i < UNIQUE_ROWS * UNIQUE_WIDTH; i++)
            x[i] = (int64_t)below(&chance, dtype == AMP_BOOL ? 2 : (size_t)round % 3 + 1);
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

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Elements in their widest form, held against the same done one by one: exact with small whole
   numbers, of which sums and products are exact in all types. */

static const enum amp_dtype wide_dtypes[] = {
    AMP_FLOAT, AMP_DOUBLE, AMP_FLOAT16, AMP_BFLOAT16, AMP_INT8,   AMP_INT16, AMP_INT32,
    AMP_INT64, AMP_UINT8,  AMP_UINT16,  AMP_UINT32,   AMP_UINT64, AMP_BOOL};
enum { WIDE_DTYPES = sizeof wide_dtypes / sizeof *wide_dtypes };

static double wide_number(enum amp_wide_kind kind, union amp_wide wide)
{
    return kind == AMP_WIDE_FLOAT ? wide.f : kind == AMP_WIDE_INT ? (double)wide.i : (double)wide.u;
}

static union amp_wide wide_of(enum amp_wide_kind kind, double number)
{
    union amp_wide wide;
    if (kind == AMP_WIDE_FLOAT)
        wide.f = number;
    else
        wide.i = (int64_t)number; /* the same bits unsigned */
    return wide;
}

/* Element I of a tensor, as a number, and back. */
static double number_at(enum amp_dtype dtype, const void *data, int64_t i)
{
    const struct amp_tensor tensor = {
        .dtype = dtype, .shape = DIMS(i + 1), .data = (void *)(uintptr_t)data};
    bool is_float = amp_dtype_class(dtype) == AMP_CLASS_FLOAT;
    return is_float ? amp_tensor_double(&tensor, (size_t)i)
                    : (double)amp_tensor_int(&tensor, (size_t)i);
}

static void put_number(enum amp_dtype dtype, void *data, int64_t i, double number)
{
    struct amp_tensor tensor = {.dtype = dtype, .shape = DIMS(i + 1), .data = data};
    if (amp_dtype_class(dtype) == AMP_CLASS_FLOAT) {
        amp_tensor_set_double(&tensor, (size_t)i, number);
        return;
    }
    int64_t whole = (int64_t)number; /* its low bytes */
    memcpy((char *)data + i * (amp_dtype_bits(dtype) / 8), &whole, amp_dtype_bits(dtype) / 8);
}

/* A small number that DTYPE has. */
static double small_number(enum amp_dtype dtype, int64_t i)
{
    double number = (double)(i * 7919 % 23);
    bool is_unsigned = amp_wide_kind_of(dtype) == AMP_WIDE_UINT;
    return dtype == AMP_BOOL ? (double)(i % 3 == 0) : number - (is_unsigned ? 0 : 11);
}

static void elements_of_all_types_are_loaded_and_stored(void **state)
{
    enum { MOST = 40, STEP = 4 };
    static const int64_t strides[] = {1, 2, 3, -1, -2, 0};
    (void)state;
    for (int t = 0; t < WIDE_DTYPES; t++)
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
            for (int64_t n = 0; n < MOST; n++) {
                enum amp_dtype dtype = wide_dtypes[t];
                enum amp_wide_kind kind = amp_wide_kind_of(dtype);
                double room[MOST * STEP], copy[MOST * STEP];
                union amp_wide wide[MOST];
                int64_t stride = strides[s], first = stride < 0 ? MOST * STEP - 2 : 1;
                size_t size = amp_dtype_bits(dtype) / 8;
                memset(wide, 0xEE, sizeof wide);
                for (int64_t i = 0; i < MOST * STEP; i++)
                    put_number(dtype, room, i, small_number(dtype, i));
                amp_wide_load((struct amp_stretch){dtype, room, first, stride, n}, wide);
                for (int64_t i = 0; i < n; i++)
                    assert_true(wide_number(kind, wide[i]) ==
                                small_number(dtype, first + i * stride));
                assert_int_equal(wide[n].u, UINT64_C(0xEEEEEEEEEEEEEEEE));
                memset(room, 0, sizeof room);
                memset(copy, 0, sizeof copy);
                for (int64_t i = 0; i < n; i++)
                    put_number(dtype, copy, first + i * stride, wide_number(kind, wide[i]));
                amp_wide_store(wide, (struct amp_stretch){dtype, room, first, stride, n});
                assert_memory_equal(room, copy, MOST * STEP * size);
            }
}

/* What A and B come to; a NaN is the largest and the smallest. */
static double combined(enum amp_combination how, double a, double b)
{
    return how == AMP_SUM       ? a + b
           : how == AMP_PRODUCT ? a * b
           : isnan(a)           ? a
           : isnan(b)           ? b
           : how == AMP_LARGEST ? (a > b ? a : b)
                                : (a < b ? a : b);
}

static bool is_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Numbers of both signs and all orders; signed ones below 0 are large as unsigned ones. */
static void wide_elements_are_combined(void **state)
{
    static const double numbers[] = {0, 3, -2, 7, -9, 1, NAN};
    enum { N = sizeof numbers / sizeof *numbers };
    (void)state;
    for (int how = 0; how < AMP_COMBINATIONS; how++)
        for (int kind = AMP_WIDE_FLOAT; kind <= AMP_WIDE_UINT; kind++) {
            int count = kind == AMP_WIDE_FLOAT ? N : N - 1;
            union amp_wide acc[N * N + 1], x[N * N + 1];
            for (int i = 0; i <= count * count; i++) {
                acc[i] = wide_of((enum amp_wide_kind)kind, numbers[i / count % count]);
                x[i] = wide_of((enum amp_wide_kind)kind, numbers[i % count]);
            }
            union amp_wide last = acc[count * count];
            amp_wide_combine((enum amp_combination)how, (enum amp_wide_kind)kind, acc, x,
                             (int64_t)count * count);
            assert_int_equal(acc[count * count].u, last.u);
            for (int i = 0; i < count * count; i++) {
                double a = numbers[i / count], b = numbers[i % count];
                bool is_extreme = how == AMP_LARGEST || how == AMP_SMALLEST;
                double expected = combined((enum amp_combination)how, a, b);
                if (kind == AMP_WIDE_UINT && is_extreme && (a < 0) != (b < 0))
                    expected = (how == AMP_LARGEST) == (a < 0) ? a : b;
                if (kind == AMP_WIDE_FLOAT)
                    assert_true(is_same_number(acc[i].f, expected));
                else
                    assert_true(acc[i].i == (int64_t)expected);
            }
        }
}

enum { MOST_ROWS = 11, MOST_ROW = 2100 };

/* N of what rows come to: each combination begins with 1, and a number that is none comes last in
   one of the rows of floats. */
static void check_rows(enum amp_combination how, struct amp_stretch row, int64_t step,
                       int64_t count)
{
    static union amp_wide acc[MOST_ROW + 1];
    enum amp_wide_kind kind = amp_wide_kind_of(row.dtype);
    for (int64_t i = 0; i <= row.n; i++)
        acc[i] = wide_of(kind, 1);
    amp_wide_combine_rows(how, row, step, count, acc);
    for (int64_t i = 0; i <= row.n; i++) {
        double expected = 1;
        for (int64_t r = 0; r < count && i < row.n; r++)
            expected =
                combined(how, expected,
                         number_at(row.dtype, row.data, row.first + r * step + i * row.stride));
        if (!is_same_number(wide_number(kind, acc[i]), expected))
            fail_msg("%d of %d rows of %d of %s, stride %d: column %d is %g; %g is right", (int)how,
                     (int)count, (int)row.n, amp_dtype_name(row.dtype), (int)row.stride, (int)i,
                     wide_number(kind, acc[i]), expected);
    }
}

/* What the elements of each row come to. */
static void check_each(enum amp_combination how, struct amp_stretch row, int64_t step,
                       int64_t count)
{
    union amp_wide acc[MOST_ROWS + 1];
    for (int64_t r = 0; r <= count; r++)
        acc[r].f = how == AMP_SUM ? 1 : how == AMP_LARGEST ? -INFINITY : INFINITY;
    double start = acc[0].f;
    amp_wide_combine_each(how, row, step, count, acc);
    for (int64_t r = 0; r <= count; r++) {
        double expected = start;
        for (int64_t i = 0; i < row.n && r < count; i++)
            expected =
                combined(how, expected, number_at(row.dtype, row.data, row.first + r * step + i));
        if (!is_same_number(acc[r].f, expected))
            fail_msg("%d of %d rows of %d of %s: row %d is %g; %g is right", (int)how, (int)count,
                     (int)row.n, amp_dtype_name(row.dtype), (int)r, acc[r].f, expected);
    }
}

/* Numbers of which products, too, are exact: -1 and 1; NaN and infinities among them. */
static void fill_rows(enum amp_dtype dtype, double *room, bool has_factors, bool has_nan)
{
    bool is_float = amp_dtype_class(dtype) == AMP_CLASS_FLOAT;
    for (int64_t i = 0; i < (int64_t)MOST_ROWS * MOST_ROW; i++) {
        double number = small_number(dtype, i);
        if (has_factors && amp_wide_kind_of(dtype) != AMP_WIDE_UINT)
            number = number < 0 ? -1 : 1;
        else if (has_factors)
            number = 1;
        put_number(dtype, room, i, is_float && has_nan && i % 997 == 30 ? NAN : number);
    }
}

static void rows_of_all_types_are_combined(void **state)
{
    static const int64_t sizes[] = {0,  1,  3,   4,   31,   32,   33,   40,
                                    64, 67, 255, 257, 1023, 1024, 1025, 2050};
    static double room[MOST_ROWS * MOST_ROW];
    (void)state;
    for (int t = 0; t < WIDE_DTYPES; t++)
        for (int way = 0; way < 2 * AMP_COMBINATIONS; way++) {
            enum amp_combination how = (enum amp_combination)(way / 2);
            enum amp_dtype dtype = wide_dtypes[t];
            bool is_narrow = dtype == AMP_FLOAT || amp_dtype_is_lower(dtype);
            fill_rows(dtype, room, how == AMP_PRODUCT, way % 2 == 1);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                for (int64_t count = 0; count<MOST_ROWS; count += sizes[s]> 300 ? 3 : 1) {
                    int64_t n = sizes[s], step = s % 2 == 0 ? n : n + 5 < MOST_ROW ? n + 5 : n;
                    struct amp_stretch row = {dtype, room, 2, 1, n}, wide = row, back = row;
                    wide.stride = 2;
                    back.stride = -1;
                    back.first = n + 1;
                    check_rows(how, row, step, count);
                    check_rows(how, back, step, count);
                    if (2 * n < MOST_ROW)
                        check_rows(how, wide, step, count);
                    assert_int_equal(amp_wide_can_combine_each(how, row),
                                     is_narrow && how != AMP_PRODUCT);
                    assert_false(amp_wide_can_combine_each(how, wide));
                    if (is_narrow && how != AMP_PRODUCT)
                        check_each(how, row, step, count);
                }
        }
}

/* Towards zero, saturating, NaN to 0. */
static void wide_floats_become_integers(void **state)
{
    static const struct {
        double number;
        int64_t i;
        uint64_t u;
    } cases[] = {{0, 0, 0},
                 {1.75, 1, 1},
                 {-1.75, -1, 0},
                 {-0.5, 0, 0},
                 {NAN, 0, 0},
                 {0x1p62, INT64_C(1) << 62, UINT64_C(1) << 62},
                 {0x1p63, INT64_MAX, UINT64_C(1) << 63},
                 {0x1.fffffffffffffp62, INT64_MAX - 1023, (UINT64_C(1) << 63) - 1024},
                 {0x1.fffffffffffffp63, INT64_MAX, UINT64_MAX - 2047},
                 {0x1p64, INT64_MAX, UINT64_MAX},
                 {INFINITY, INT64_MAX, UINT64_MAX},
                 {-0x1p63, INT64_MIN, 0},
                 {-0x1p64, INT64_MIN, 0},
                 {-INFINITY, INT64_MIN, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union amp_wide wide[2];
        wide[0].f = wide[1].f = cases[i].number;
        amp_wide_from_float(AMP_WIDE_INT, wide, 1);
        assert_true(wide[0].i == cases[i].i);
        wide[0].f = cases[i].number;
        amp_wide_from_float(AMP_WIDE_UINT, wide, 1);
        assert_true(wide[0].u == cases[i].u);
        wide[0].f = cases[i].number;
        amp_wide_from_float(AMP_WIDE_FLOAT, wide, 1);
        assert_true(is_same_number(wide[0].f, cases[i].number));
        assert_true(is_same_number(wide[1].f, cases[i].number));
    }
    for (int kind = AMP_WIDE_FLOAT; kind <= AMP_WIDE_UINT; kind++) {
        union amp_wide wide[] = {{.i = 7}, {.i = 7}, {.i = -1}};
        amp_wide_to_float((enum amp_wide_kind)kind, wide, 2);
        assert_true(kind == AMP_WIDE_FLOAT ? wide[1].i == 7 : wide[1].f == 7);
        assert_true(wide[2].i == -1);
        amp_wide_to_float((enum amp_wide_kind)kind, wide + 2, 1);
        assert_true(kind == AMP_WIDE_FLOAT ? wide[2].i == -1
                    : kind == AMP_WIDE_INT ? wide[2].f == -1
                                           : wide[2].f == 0x1p64);
    }
}

/* ---- what kernels read ----------------------------------------------------------------------- */

/* The call of a node with one input, as kernels and shape functions read it. */
static struct amp_error read_error;
static struct amp_attr read_attr;
static struct amp_node read_node;
static struct amp_tensor read_tensor;
static const struct amp_tensor *read_in[1];

static struct amp_ctx reading(enum amp_dtype dtype, struct amp_shape shape, const void *data)
{
    read_error = (struct amp_error){.status = AMP_OK};
    read_node = (struct amp_node){.op_type = "X", .domain = "", .attrs = &read_attr};
    read_tensor =
        (struct amp_tensor){.dtype = dtype, .shape = shape, .data = (void *)(uintptr_t)data};
    read_in[0] = &read_tensor;
    return (struct amp_ctx){.node = &read_node, .in = read_in, .n_in = 1, .err = &read_error};
}

/* All of them or none; nothing where they are not known; the attribute before the input. */
static void integers_are_read_as_many_as_there_may_be(void **state)
{
    static const int64_t numbers[] = {5, -6, 7, 8};
    static const int32_t fewer[] = {5, -6, 7, 8};
    int64_t found[4];
    int count = 7;
    (void)state;
    for (int max = 0; max < 4; max++)
        for (int n = 0; n < 5; n++)
            for (int way = 0; way < 3; way++) {
                struct amp_ctx ctx = reading(way == 1 ? AMP_INT32 : AMP_INT64, DIMS(n),
                                             way == 1 ? (const void *)fewer : numbers);
                struct amp_ints_place place = {"axes", way == 2 ? 7 : 0};
                char text[80] = "";
                read_attr = (struct amp_attr){
                    .name = "axes", .type = AMP_ATTR_INTS, .count = (size_t)n, .ints = numbers};
                read_node.n_attrs = way == 2;
                memset(found, 0, sizeof found);
                enum amp_status status = amp_ctx_ints_attr(&ctx, place, found, max, &count);
                assert_int_equal(status, n > max ? AMP_MODEL : AMP_OK);
                if (n > max && way == 2)
                    snprintf(text, sizeof text,
                             "attribute 'axes' has %d values; at most %d are possible", n, max);
                else if (n > max)
                    snprintf(text, sizeof text, "input 0 has %d values; at most %d are possible", n,
                             max);
                assert_string_equal(read_error.text, text);
                if (n > max)
                    continue;
                assert_int_equal(count, n);
                for (int i = 0; i < 4; i++)
                    assert_int_equal(found[i], i < n ? numbers[i] : 0);
            }
    struct amp_ctx ctx = reading(AMP_INT64, DIMS(2), NULL);
    assert_int_equal(amp_ctx_ints(&ctx, 0, found, 1, &count), AMP_OK);
    assert_int_equal(count, -1);
    ctx = reading(AMP_INT64, DIMS(AMP_DIM_UNKNOWN), numbers);
    assert_int_equal(amp_ctx_ints(&ctx, 0, found, 1, &count), AMP_OK);
    assert_int_equal(count, -1);
    ctx = reading(AMP_INT64, DIMS(0), NULL);
    assert_int_equal(amp_ctx_ints(&ctx, 0, found, 0, &count), AMP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(amp_ctx_ints(&ctx, 1, found, 0, &count), AMP_OK);
    assert_int_equal(count, 0);
    ctx = reading(AMP_UINT8, DIMS(1), (const uint8_t[]){200});
    assert_int_equal(amp_ctx_ints(&ctx, 0, found, 1, &count), AMP_OK);
    assert_int_equal(found[0], 200);
    static const enum amp_dtype others[] = {AMP_FLOAT, AMP_DOUBLE, AMP_BOOL};
    for (int i = 0; i < 3; i++) {
        char text[80];
        ctx = reading(others[i], DIMS(1), numbers);
        assert_int_equal(amp_ctx_ints(&ctx, 0, found, 1, &count), AMP_MODEL);
        snprintf(text, sizeof text, "input 0: dtype %s; an integer type is needed",
                 amp_dtype_name(others[i]));
        assert_string_equal(read_error.text, text);
    }
}

/* The nearest below that an integer of 64 bits holds. */
static void whole_numbers_are_of_64_bits(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        double number;
        bool is_whole;
        int64_t value;
    } cases[] = {{AMP_DOUBLE, 2.75, true, 2},
                 {AMP_DOUBLE, -2.75, true, -2},
                 {AMP_DOUBLE, NAN, false, 0},
                 {AMP_DOUBLE, 0x1p63, false, 0},
                 {AMP_DOUBLE, 0x1.fffffffffffffp62, true, INT64_MAX - 1023},
                 {AMP_DOUBLE, -0x1p63, true, INT64_MIN},
                 {AMP_DOUBLE, -0x1.0000000000001p63, false, 0},
                 {AMP_FLOAT, 3.5, true, 3},
                 {AMP_FLOAT, INFINITY, false, 0},
                 {AMP_FLOAT16, 3.5, true, 3},
                 {AMP_BFLOAT16, -3.5, true, -3}};
    static const uint64_t most[] = {UINT64_MAX, (UINT64_C(1) << 63) - 1};
    int64_t value = 0;
    bool is_known = false;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double room = 0;
        put_number(cases[i].dtype, &room, 0, cases[i].number);
        struct amp_ctx ctx = reading(cases[i].dtype, DIMS(1), &room);
        assert_int_equal(amp_ctx_whole(&ctx, 0, &value, &is_known),
                         cases[i].is_whole ? AMP_OK : AMP_MODEL);
        assert_true(is_known);
        if (cases[i].is_whole)
            assert_true(value == cases[i].value);
    }
    struct amp_ctx ctx = reading(AMP_UINT64, DIMS(2), most);
    assert_false(amp_tensor_whole(&read_tensor, 0, &value));
    assert_true(amp_tensor_whole(&read_tensor, 1, &value));
    assert_true(value == INT64_MAX);
    assert_int_equal(amp_ctx_whole(&ctx, 0, &value, &is_known), AMP_MODEL);
    assert_string_equal(read_error.text, "input 0 has 2 elements; one is needed");
    ctx = reading(AMP_UINT64, SCALAR, most);
    assert_int_equal(amp_ctx_whole(&ctx, 0, &value, &is_known), AMP_MODEL);
    assert_string_equal(read_error.text, "input 0: the uint64 in it is no integer of 64 bits");
    ctx = reading(AMP_INT64, DIMS(-1), most);
    assert_int_equal(amp_ctx_whole(&ctx, 0, &value, &is_known), AMP_OK);
    assert_false(is_known);
    ctx = reading(AMP_INT64, DIMS(2), NULL);
    assert_int_equal(amp_ctx_whole(&ctx, 0, &value, &is_known), AMP_OK);
    assert_false(is_known);
    reading(AMP_BOOL, DIMS(1), most);
    assert_false(amp_tensor_whole(&read_tensor, 0, &value));
}

/* Operators are known by domain and name: whatever other domains' names hash to. */
static void operators_are_found_by_both_names(void **state)
{
    static const char *const names[] = {"Relu", "Attention", "FusedMatMul"};
    static const char *const domains[] = {"", "com.microsoft"};
    static const bool is_known[3][2] = {{true, false}, {true, true}, {false, true}};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            const struct amp_op *op = amp_op_find(domains[k], names[i]);
            assert_int_equal(op != NULL, is_known[i][k]);
            if (op != NULL)
                assert_string_equal(op->name, names[i]);
        }
    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i);
        assert_null(amp_op_find(name, "Relu"));
        assert_null(amp_op_find("", name));
    }
    reading(AMP_FLOAT, DIMS(1), NULL);
    assert_false(amp_node_has_role(&read_node, AMP_ROLE_CAST)); /* X is none */
    assert_false(amp_op_name_has_role("X", AMP_ROLE_CAST));
    assert_false(amp_op_name_has_role("Relu", AMP_ROLE_CAST));
    assert_true(amp_op_name_has_role("Cast", AMP_ROLE_CAST));
}

/* Of ONNX's own operators before opset 7, those that have the attribute. */
static void old_operators_broadcast_by_attributes(void **state)
{
    static const char *const domains[] = {"", "com.microsoft"};
    static const int64_t axis = 1;
    (void)state;
    for (int version = 6; version < 8; version++)
        for (int i = 0; i < 4; i++) {
            reading(AMP_FLOAT, DIMS(1), NULL);
            read_attr =
                (struct amp_attr){.name = "axis", .type = AMP_ATTR_INT, .count = 1, .ints = &axis};
            read_node.domain = domains[i / 2];
            read_node.since_version = version;
            read_node.n_attrs = i % 2;
            bool is_old = version < 7 && i < 2;
            assert_int_equal(amp_broadcasts_by_attributes(&read_node), is_old);
            assert_int_equal(amp_broadcasts_from_axis(&read_node), is_old && i % 2 != 0);
        }
}

/* All outputs have the shape of input 0, if there is one. */
static void shapes_are_those_of_the_first_input(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct amp_tensor outs[2] = {{.shape = DIMS(7)}, {.shape = DIMS(8)}};
        struct amp_tensor *out[] = {&outs[0], &outs[1]};
        struct amp_ctx ctx = reading(AMP_FLOAT, DIMS(2, 3), NULL);
        read_in[0] = way == 1 ? NULL : &read_tensor;
        ctx.n_in = way != 2;
        ctx.out = out;
        ctx.n_out = 2;
        assert_int_equal(amp_shape_same(&ctx), AMP_OK);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(outs[i].shape.rank, way == 0 ? 2 : 1);
            assert_int_equal(outs[i].shape.dims[0], way == 0 ? 2 : 7 + i);
        }
    }
}

/* All ranks and axes around them. */
static void axes_are_those_of_the_rank(void **state)
{
    (void)state;
    for (int rank = 0; rank < 5; rank++)
        for (int axis = -6; axis < 6; axis++) {
            struct amp_ctx ctx = reading(AMP_FLOAT, DIMS(1), NULL);
            bool fits = axis >= -rank && axis < rank;
            char text[80];
            int found = 9;
            assert_int_equal(amp_ctx_axis(&ctx, axis, rank, &found), fits ? AMP_OK : AMP_MODEL);
            assert_int_equal(found, !fits ? 9 : axis < 0 ? axis + rank : axis);
            snprintf(text, sizeof text, "axis %d; rank %d allows %d to %d", axis, rank, -rank,
                     rank - 1);
            if (!fits)
                assert_string_equal(read_error.text, text);
        }
}

/* Values for N axes: those that are listed, or the first; as many as there are dims at most. */
static void values_have_an_axis_each(void **state)
{
    static const int64_t listed[] = {-1, 0, 1, 2};
    (void)state;
    for (int way = 0; way < 3; way++) /* not listed, by the input, by the attribute */
        for (int n_listed = 0; n_listed < 4; n_listed++)
            for (int n = 0; n < 4; n++)
                for (int rank = 1; rank < 4; rank++) {
                    struct amp_ctx ctx = reading(AMP_INT64, DIMS(n_listed), listed);
                    int axes[AMP_RANK_MAX], count = 0;
                    read_attr = (struct amp_attr){.name = "axes",
                                                  .type = AMP_ATTR_INTS,
                                                  .count = (size_t)n_listed,
                                                  .ints = listed};
                    read_node.n_attrs = way == 2;
                    int given = way == 0 ? n : n_listed;
                    bool are_as_many = given == n && n <= rank;
                    bool are_axes = are_as_many && (way == 0 || n < rank + 2);
                    const struct amp_axes_wanted wanted = {way == 1 ? 0 : 1, rank, n};
                    enum amp_status status = amp_ctx_axes(&ctx, wanted, axes, &count);
                    assert_int_equal(status, are_axes ? AMP_OK : AMP_MODEL);
                    char text[80];
                    snprintf(text, sizeof text,
                             "values for %d axes, but %d axes; the input has %d dims", n, given,
                             rank);
                    if (!are_as_many)
                        assert_string_equal(read_error.text, text);
                    for (int k = 0; k < n && are_axes; k++)
                        assert_int_equal(axes[k], way == 0        ? k
                                                  : listed[k] < 0 ? rank - 1
                                                                  : listed[k]);
                }
    struct amp_ctx ctx = reading(AMP_INT64, DIMS(2), NULL);
    int axes[AMP_RANK_MAX], count = 0;
    read_node.n_attrs = 0;
    assert_int_equal(amp_ctx_axes(&ctx, (struct amp_axes_wanted){0, 1, 3}, axes, &count), AMP_OK);
    assert_true(count < 0);
}

/* As far as dims are known: symbols pass where nothing changes them. */
static void dims_are_counted_as_far_as_they_are_known(void **state)
{
    static const int64_t dims[] = {AMP_DIM_UNKNOWN, -2, -3, 0, 1, 2, 3, INT64_MAX};
    enum { N = sizeof dims / sizeof *dims };
    (void)state;
    for (int i = 0; i < N * N; i++) {
        int64_t a = dims[i / N], b = dims[i % N], sum = 99, product = 99, merged = 99;
        struct amp_error err = {.status = AMP_OK};
        bool are_known = a >= 0 && b >= 0, is_large = a == INT64_MAX || b == INT64_MAX;
        bool overflows = are_known && is_large && a > 0 && b > 0;
        char text[80];
        assert_int_equal(amp_dim_add(a, b, &sum, &err), overflows ? AMP_MODEL : AMP_OK);
        if (overflows) {
            snprintf(text, sizeof text, "dimension %lld + %lld overflows", (long long)a,
                     (long long)b);
            assert_string_equal(err.text, text);
        } else
            assert_true(sum == (a == 0 ? b : b == 0 ? a : are_known ? a + b : AMP_DIM_UNKNOWN));
        err = (struct amp_error){.status = AMP_OK};
        overflows = overflows && a > 1 && b > 1;
        assert_int_equal(amp_dim_mul(a, b, &product, &err), overflows ? AMP_MODEL : AMP_OK);
        if (overflows) {
            snprintf(text, sizeof text, "dimension %lld * %lld overflows", (long long)a,
                     (long long)b);
            assert_string_equal(err.text, text);
        } else
            assert_true(product == (a == 0 || b == 0 ? 0
                                    : a == 1         ? b
                                    : b == 1         ? a
                                    : are_known      ? a * b
                                                     : AMP_DIM_UNKNOWN));
        assert_int_equal(amp_dim_merge(a, b, &merged), !are_known || a == b);
        if (!are_known || a == b)
            assert_true(merged == (a >= 0 ? a : b >= 0 ? b : a == AMP_DIM_UNKNOWN ? b : a));
        for (int from = 0; from < 3 && !overflows; from++) {
            const struct amp_shape shape = DIMS(a, b);
            for (int to = from; to < 3; to++) {
                int64_t found = 99;
                assert_int_equal(amp_dim_product(&shape, from, to, &found, &err), AMP_OK);
                assert_true(found == (to - from == 2   ? product
                                      : to - from == 0 ? 1
                                      : from == 0      ? a
                                                       : b));
            }
        }
        if (is_large)
            continue;
        struct amp_shape plain = DIMS(a), other = DIMS(b), both = DIMS(5, a), out;
        bool fits = !are_known || a == b || a == 1 || b == 1;
        int64_t expected = a == b || b == 1 ? a
                           : a == 1         ? b
                           : a < 0 && b < 0 ? AMP_DIM_UNKNOWN
                           : a < 0          ? b
                                            : a;
        for (int way = 0; way < 3; way++) {
            assert_int_equal(amp_broadcast(way == 0   ? &plain
                                           : way == 1 ? &both
                                                      : &other,
                                           way == 2 ? &both : &other, &out, &err),
                             fits ? AMP_OK : AMP_MODEL);
            if (!fits)
                continue;
            assert_int_equal(out.rank, way == 0 ? 1 : 2);
            assert_true(out.dims[out.rank - 1] == expected);
            assert_true(way == 0 || out.dims[0] == 5);
        }
    }
    for (int i = 0; i < 2; i++) {
        const struct amp_shape known = DIMS(2), unknown = {.rank = -1};
        struct amp_shape out;
        assert_int_equal(
            amp_broadcast(i == 0 ? &known : &unknown, i == 0 ? &unknown : &known, &out, NULL),
            AMP_OK);
        assert_int_equal(out.rank, -1);
    }
    for (int64_t rank = -2; rank < AMP_RANK_MAX + 3; rank++) {
        struct amp_shape shape;
        amp_shape_unknown(&shape, rank);
        assert_int_equal(shape.rank, rank < 0 || rank > AMP_RANK_MAX ? -1 : rank);
        for (int d = 0; d < shape.rank; d++)
            assert_int_equal(shape.dims[d], AMP_DIM_UNKNOWN);
    }
}

/* Elements of 2 and 4 bits and of bytes, from any place to any place; their neighbours stay. */
static void elements_are_copied_to_any_place(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_UINT4, AMP_INT4, AMP_UINT8, AMP_INT16, AMP_FLOAT};
    enum { ROOM = 11 };
    (void)state;
    for (int t = 0; t < 5; t++)
        for (size_t first = 0; first < 5; first++)
            for (size_t at = 0; at < 5; at++)
                for (size_t n = 0; n < 6; n++) {
                    unsigned bits = amp_dtype_bits(dtypes[t]);
                    uint8_t from[4 * ROOM], to[4 * ROOM], copy[4 * ROOM];
                    for (size_t i = 0; i < sizeof from; i++) {
                        from[i] = (uint8_t)(i * 37 + 11);
                        copy[i] = to[i] = (uint8_t) ~(i * 59);
                    }
                    for (size_t b = 0; b < n * bits; b++) { /* bit by bit */
                        size_t source = first * bits + b, place = at * bits + b;
                        unsigned bit = from[source / 8] >> source % 8 & 1u;
                        copy[place / 8] =
                            (uint8_t)((copy[place / 8] & ~(1u << place % 8)) | bit << place % 8);
                    }
                    amp_elements_copy(dtypes[t], (struct amp_element){from, first},
                                      (struct amp_element){to, at}, n);
                    assert_memory_equal(to, copy, sizeof to);
                }
}

/* Up to more than a thread takes; what is behind stays. */
static void memory_is_filled_to_the_end(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 341, 512, 1365, 1366, 4096, 4097, 100000, 300001};
    static uint8_t room[3 * 300001 + 16];
    static const uint8_t element[] = {1, 2, 3};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int is_zero = 0; is_zero < 2; is_zero++) {
            size_t size = sizeof element * counts[i];
            memset(room, 0xEE, sizeof room);
            amp_fill(room, is_zero ? NULL : element, sizeof element, counts[i]);
            for (size_t k = 0; k < size; k++)
                if (room[k] != (is_zero ? 0 : element[k % 3]))
                    fail_msg("byte %zu of %zu is %d", k, size, room[k]);
            for (size_t k = size; k < size + 16; k++)
                assert_int_equal(room[k], 0xEE);
            if (is_zero || size == 0)
                continue;
            static uint8_t copy[sizeof room];
            memset(copy, 0xEE, sizeof copy);
            amp_copy(copy, room, size);
            assert_memory_equal(copy, room, sizeof copy);
        }
}

/* A shape of indices, and what is said of it where it does not fit. */
static void indices_have_fitting_shapes(void **state)
{
    static const struct amp_shape data = {3, {2, 3, AMP_DIM_UNKNOWN}};
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = 0; i < 64; i++) {
            struct amp_shape indices = DIMS(i / 16 + 1, i / 4 % 4 + 1, i % 4 + 1);
            struct amp_ctx ctx = reading(AMP_FLOAT, DIMS(1), NULL);
            int wrong = axis != 0 && indices.dims[0] > 2   ? 0
                        : axis != 1 && indices.dims[1] > 3 ? 1
                                                           : -1;
            char text[80] = "";
            assert_int_equal(amp_offsets_check_elements(&ctx, &data, axis, &indices),
                             wrong < 0 ? AMP_OK : AMP_MODEL);
            if (wrong >= 0)
                snprintf(text, sizeof text, "axis %d has size %d in indices; data has %d", wrong,
                         (int)indices.dims[wrong], (int)data.dims[wrong]);
            assert_string_equal(read_error.text, text);
        }
    for (int rank = 0; rank < 5; rank++)
        for (int n = 0; n < 5; n++)
            for (int64_t depth = -1; depth < 6; depth++)
                for (int batch = 0; batch < 2; batch++) {
                    struct amp_shape indices = {.rank = rank}, of = {n, {2, 2, 2, 2}};
                    struct amp_ctx ctx = reading(AMP_FLOAT, DIMS(1), NULL);
                    char text[80] = "";
                    for (int d = 0; d < rank; d++)
                        indices.dims[d] = depth;
                    bool has_ranks = rank > 0 && n > 0;
                    bool fits = has_ranks && depth != 0 && depth <= n - batch;
                    assert_int_equal(amp_offsets_check_tuples(&ctx, &of, batch, &indices),
                                     fits ? AMP_OK : AMP_MODEL);
                    if (!has_ranks)
                        snprintf(text, sizeof text,
                                 "data and indices have ranks %d and %d; at least 1 is needed", n,
                                 rank);
                    else if (!fits)
                        snprintf(text, sizeof text,
                                 "the last dim of indices is %d; 1 to %d are possible", (int)depth,
                                 n - batch);
                    assert_string_equal(read_error.text, text);
                }
}

/* Each index in turn is wrong, at both ends, in a list that several stretches and threads share. */
static void wrong_indices_are_named(void **state)
{
    enum { MANY = 9001 };
    static const int64_t places[] = {0, 1, 4095, 4096, 4097, 8192, MANY - 1};
    static const struct amp_shape data = {2, {3, 5}};
    static int32_t numbers[MANY];
    (void)state;
    for (int axis = 0; axis < 2; axis++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            for (int64_t index = -6; index <= 6; index++) {
                int64_t size = data.dims[axis];
                bool fits = index >= -size && index < size;
                struct amp_ctx ctx = reading(AMP_INT32, DIMS(MANY), numbers);
                struct amp_offsets offsets = amp_offsets_axis(&data, axis, &read_tensor);
                struct amp_buffer *list;
                char text[120] = "";
                numbers[places[i]] = (int32_t)index;
                assert_int_equal(amp_offsets_list(&ctx, &offsets, &list),
                                 fits ? AMP_OK : AMP_MODEL);
                if (!fits)
                    snprintf(text, sizeof text,
                             "indices: element %d is %d; axis %d of size %d allows %d to %d",
                             (int)places[i], (int)index, axis, (int)size, -(int)size,
                             (int)size - 1);
                assert_string_equal(read_error.text, text);
                for (int64_t k = 0; k < MANY && fits; k++)
                    assert_true(((const int64_t *)list->data)[k] == (k != places[i] ? 0
                                                                     : index < 0    ? index + size
                                                                                    : index));
                if (fits)
                    amp_buffer_unref(list);
                numbers[places[i]] = 0;
            }
    struct amp_ctx ctx = reading(AMP_INT8, DIMS(2), numbers);
    struct amp_offsets offsets = amp_offsets_axis(&data, 0, &read_tensor);
    struct amp_buffer *list;
    assert_int_equal(amp_offsets_list(&ctx, &offsets, &list), AMP_UNSUPPORTED);
    assert_string_equal(read_error.text, "no kernel for int8");
}

/* Data [a, b, c] and indices of all smaller shapes, of each axis; tuples of each depth. */
static void offsets_are_those_of_the_definition(void **state)
{
    static const struct amp_shape data = {3, {3, 4, 5}};
    static int64_t numbers[3 * 4 * 5];
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = 0; i < 27; i++) {
            struct amp_shape shape = DIMS(i / 9 + 1, i / 3 % 3 + 2, i % 3 + 3);
            int64_t count = amp_shape_count(&shape), at[3], found[60];
            reading(AMP_INT64, shape, numbers);
            for (int64_t k = 0; k < count; k++)
                numbers[k] = (k * 7 + 3) % (2 * data.dims[axis]) - data.dims[axis];
            struct amp_offsets offsets = amp_offsets_elements(&data, axis, &read_tensor);
            assert_int_equal(offsets.count, count);
            for (int64_t first = 0; first < count; first++) {
                assert_true(offsets.read(&offsets, first, count - first, found));
                for (int64_t k = first; k < count; k++) {
                    amp_index_at(3, shape.dims, k, at);
                    at[axis] = numbers[k] + (numbers[k] < 0 ? data.dims[axis] : 0);
                    assert_int_equal(found[k - first], (at[0] * 4 + at[1]) * 5 + at[2]);
                }
            }
        }
    for (int64_t depth = 1; depth < 4; depth++)
        for (int batch = 0; batch + depth < 4; batch++) {
            struct amp_shape shape = batch == 0   ? DIMS(4, depth)
                                     : batch == 1 ? DIMS(3, 2, depth)
                                                  : DIMS(3, 4, 1, depth);
            int64_t count = amp_shape_product(&shape, 0, shape.rank - 1), found[60];
            for (int64_t k = 0; k < count * depth; k++) {
                int64_t size = data.dims[batch + k % depth];
                numbers[k] = (k * 5 + 2) % (2 * size) - size;
            }
            reading(AMP_INT64, shape, numbers);
            struct amp_offsets offsets = amp_offsets_tuples(&data, batch, &read_tensor);
            assert_int_equal(offsets.count, count);
            for (int64_t first = 0; first < count; first++) {
                assert_true(offsets.read(&offsets, first, count - first, found));
                for (int64_t k = first; k < count; k++) {
                    int64_t place = batch == 0 ? 0 : batch == 1 ? k / 2 : k;
                    for (int64_t d = 0; d < depth; d++) {
                        int64_t size = data.dims[batch + d], index = numbers[k * depth + d];
                        place = place * size + index + (index < 0 ? size : 0);
                    }
                    assert_int_equal(found[k - first], place);
                }
            }
        }
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Each element in turn, whatever its shape; none is left where one cannot be cast. */
static void lists_are_cast_element_by_element(void **state)
{
    static const float numbers[] = {1, 2.5f, -3, 4};
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_BFLOAT16, AMP_INT32};
    (void)state;
    for (int form = AMP_FORM_SEQUENCE; form <= AMP_FORM_OPTIONAL; form++)
        for (size_t count = 0; count < 4; count++)
            for (int t = 0; t < 4; t++) {
                struct amp_error err = {.status = AMP_OK};
                struct amp_tensor list = {.dtype = AMP_FLOAT}, cast;
                if (form == AMP_FORM_MAP || (form == AMP_FORM_OPTIONAL && count > 1))
                    continue;
                assert_int_equal(amp_list_alloc(&list, (enum amp_form)form, count, &err), AMP_OK);
                for (size_t i = 0; i < count; i++)
                    amp_tensor_refer(&amp_list_items(&list)[i],
                                     net_tensor(AMP_FLOAT, DIMS((int64_t)i + 1), numbers));
                assert_int_equal(amp_tensor_cast_copy(&list, dtypes[t], &cast, &err), AMP_OK);
                assert_int_equal(cast.form, form);
                assert_int_equal(cast.dtype, dtypes[t]);
                assert_int_equal(amp_tensor_count(&cast), count);
                for (size_t i = 0; i < count; i++) {
                    const struct amp_tensor *item = &amp_list_items(&cast)[i];
                    assert_int_equal(item->dtype, dtypes[t]);
                    assert_int_equal(amp_tensor_count(item), i + 1);
                    for (size_t k = 0; k <= i; k++)
                        assert_true(number_at(dtypes[t], item->data, (int64_t)k) ==
                                    (dtypes[t] == AMP_INT32 ? trunc((double)numbers[k])
                                                            : (double)numbers[k]));
                }
                amp_tensor_release(&cast);
                amp_tensor_release(&list);
            }
    const struct amp_str texts[] = {{"1", 1}, {"x", 1}};
    struct amp_tensor list = {.dtype = AMP_STRING}, cast;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_list_alloc(&list, AMP_FORM_SEQUENCE, 2, &err), AMP_OK);
    for (size_t i = 0; i < 2; i++)
        amp_tensor_refer(&amp_list_items(&list)[i], net_tensor(AMP_STRING, DIMS(1), &texts[i]));
    assert_int_equal(amp_tensor_cast_copy(&list, AMP_FLOAT, &cast, &err), AMP_MODEL);
    assert_string_equal(err.text, "element 0 is 'x': not a number");
    assert_null(cast.data);
    amp_tensor_release(&list);
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

static void expect_kinds(const char *line, enum one_way way, const char *expected)
{
    char text[256];
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    one_node(line, way);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    if (amp_session_run(session, one.inputs, net.outputs, &net.err) != AMP_OK)
        fail_msg("%s: %s", line, net.err.text);
    list_kinds(profile, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s (way %d): '%s'; '%s' is expected", line, (int)way, text, expected);
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
        expect_kinds(cases[i].line, ONE_GIVEN, cases[i].expected);
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
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2.000001,3 mode=linear", "resampling"},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2.000003,3 mode=linear", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,3 mode=linear "
         "coordinate_transformation_mode=pytorch_half_pixel",
         "resampling"},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,0.25,3 mode=linear", "resampling"},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,0.25,3 mode=linear "
         "coordinate_transformation_mode=pytorch_half_pixel",
         ""},
        {"Resize-19 f[1,2,4,5] _ f[4]=1,1,2,3 mode=linear "
         "coordinate_transformation_mode=half_pixel_symmetric",
         "resampling"},
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

/* Many sequences in float32, all as long as there are steps, with the activations that oneDNN has;
   where the CPU hides its caches, none. */
static void recurrent_layers_are_run_by_onednn(void **state)
{
#define PLAIN "RNN-14 f[3,12,4] f[1,5,4] f[1,5,5] f[1,10] hidden_size=5"
#define PLAIN_2 "RNN-14 f[3,12,4] f[2,5,4] f[2,5,5] f[2,10] hidden_size=5 direction=bidirectional"
#define LSTM "LSTM-14 f[3,12,4] f[1,20,4] f[1,20,5] f[1,40] hidden_size=5"
#define LSTM_2 "LSTM-14 f[3,12,4] f[2,20,4] f[2,20,5] f[2,40] hidden_size=5 direction=bidirectional"
#define GRU "GRU-14 f[3,12,4] f[1,15,4] f[1,15,5] f[1,30] hidden_size=5"
    static const struct one_case cases[] = {
        {PLAIN, "rnn"},
        {"RNN-14 f[3,11,4] f[1,5,4] f[1,5,5] f[1,10] hidden_size=5", ""},
        {"RNN-14 d[3,12,4] d[1,5,4] d[1,5,5] d[1,10] hidden_size=5", ""},
        {"RNN-14 f[0,12,4] f[1,5,4] f[1,5,5] f[1,10] hidden_size=5", ""},
        {"RNN-14 f[3,12,0] f[1,5,0] f[1,5,5] f[1,10] hidden_size=5", ""},
        {"RNN-14 f[3,12,4] f[1,5,4] f[1,5,5] f[1,10] hidden_size=5", "rnn"},
        {"RNN-14 f[3,12,4] f[1,5,4] f[1,5,5] f[1,10] _ f[1,12,5] hidden_size=5", "rnn"},
        {"RNN-14 f[3,12,4] f[1,5,4] f[1,5,5] f[1,10] j[12]=3,3,3,3,3,3,3,3,3,3,3,3 hidden_size=5",
         "rnn"},
        {"RNN-14 f[3,12,4] f[1,5,4] f[1,5,5] f[1,10] j[12]=3,3,3,3,3,3,3,3,3,3,3,2 hidden_size=5",
         ""},
        {"RNN-14 f[3,12,4] f[1,5,4] f[1,5,5] f[1,10] j[12]=2,3,3,3,3,3,3,3,3,3,3,3 hidden_size=5",
         ""},
        {PLAIN " direction=reverse", "rnn"},
        {PLAIN " clip=1.0", ""},
        {PLAIN " activations={Relu}", "rnn"},
        {PLAIN " activations={Sigmoid}", "rnn"},
        {PLAIN " activations={Tanh}", "rnn"},
        {PLAIN " activations={Elu}", ""},
        {PLAIN " activations={Softsign}", ""},
        {PLAIN_2, "rnn"},
        {PLAIN_2 " activations={Relu,Relu}", "rnn"},
        {PLAIN_2 " activations={Relu,Tanh}", ""},
        {PLAIN_2 " activations={Tanh,Relu}", ""},
        {LSTM, "rnn"},
        {"LSTM-14 f[3,11,4] f[1,20,4] f[1,20,5] f[1,40] hidden_size=5", ""},
        {"LSTM-14 f[3,12,4] f[1,20,4] f[1,20,5] f[1,40] _ f[1,12,5] f[1,12,5] f[1,15] "
         "hidden_size=5",
         "rnn"},
        {LSTM " input_forget=1", ""},
        {LSTM " clip=1.0", ""},
        {LSTM " activations={Sigmoid,Tanh,Tanh}", "rnn"},
        {LSTM " activations={Tanh,Tanh,Tanh}", ""},
        {LSTM " activations={Sigmoid,Sigmoid,Tanh}", ""},
        {LSTM " activations={Sigmoid,Tanh,Sigmoid}", ""},
        {LSTM_2, "rnn"},
        {LSTM_2 " activations={Sigmoid,Tanh,Tanh,Sigmoid,Tanh,Sigmoid}", ""},
        {LSTM_2 " activations={Sigmoid,Tanh,Sigmoid,Sigmoid,Tanh,Tanh}", ""},
        {"GRU-14 f[3,11,4] f[1,15,4] f[1,15,5] f[1,30] hidden_size=5 linear_before_reset=1", ""},
        {GRU " linear_before_reset=1", "rnn"},
        {GRU " linear_before_reset=1 activations={Sigmoid,Tanh}", "rnn"},
        {GRU " linear_before_reset=1 activations={Tanh,Tanh}", ""},
        {GRU " linear_before_reset=1 activations={Sigmoid,Sigmoid}", ""},
    };
    (void)state;
    if (amp_cpu_tells_caches())
        expect_all_kinds(cases, sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !amp_cpu_tells_caches(); i++)
        expect_kinds(cases[i].line, ONE_GIVEN, "");
#undef PLAIN
#undef PLAIN_2
#undef LSTM
#undef LSTM_2
#undef GRU
}

/* The dtype of what the first primitive of the model of LINE gives, reorders aside, where all
   inputs but the first are constants. */
static void expect_result(const char *line, const char *expected)
{
    size_t count, at = 0;
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    one_node(line, ONE_WEIGHTS);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    assert_int_equal(amp_session_run(session, one.inputs, net.outputs, &net.err), AMP_OK);
    const struct amp_profile_primitive *items = amp_profile_primitives(profile, &count);
    while (at < count && strcmp(items[at].kind, "reorder") == 0)
        at++;
    const char *arrow = at < count ? strstr(items[at].layouts, "-> ") : NULL;
    if (arrow == NULL || strncmp(arrow + 3, expected, strlen(expected)) != 0)
        fail_msg("%s: '%s'; '-> %s' is expected", line, at < count ? items[at].layouts : "nothing",
                 expected);
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    amp_session_destroy(session);
    amp_profile_destroy(profile);
}

/* Skips a test of what oneDNN does with bytes where the CPU adds up their products. */
static void skip_without_byte_sums(void)
{
    const unsigned wanted = dnnl_cpu_isa_avx512_core_vnni;
    if ((dnnl_get_effective_cpu_isa() & wanted) != wanted)
        skip();
}

/* Where oneDNN can do it all, its convolution gives bytes; where weights have zero points or are
   unsigned, sums. */
static void constant_scales_are_part_of_convolutions_of_bytes(void **state)
{
    static const struct one_case cases[] = {
        {"QLinearConv-10 u[1,4,5,5] f[] u[] c[6,4,2,2] f[] c[] f[] u[]", "u8:"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[] c[6,4,2,2] f[] c[] f[] c[]", "s8:"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[]=3 c[6,4,2,2] f[6] c[6] f[] u[]=7 pads=[1,1,1,1]",
         "u8:"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[]=3 c[6,4,2,2] f[6] c[6] f[] u[]=7 j[6]", "u8:"},
        {"QLinearConv-10 c[1,4,5,5] f[] c[]=3 c[6,4,2,2] f[] c[] f[] c[]", "s8:"},
        {"QLinearConv-10 c[1,4,5,5] f[] c[]=3 c[6,4,2,2] f[] c[] f[] c[] pads=[1,1,1,1]", "s8:"},
        {"QLinearConv-10 c[1,4,5,5] f[] c[]=3 c[6,2,2,2] f[] c[] f[] u[] group=2 pads=[1,1,1,1]",
         "u8:"},
        {"QLinearConv-10 u[1,4,5] f[] u[]=3 c[6,4,2] f[] c[] f[] u[] pads=[1,1]", "u8:"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[] u[6,4,2,2] f[] u[] f[] u[]", "s32:"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[] c[6,4,2,2] f[] c[]=1 f[] u[]", "s32:"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[] c[6,4,2,2] f[] c[6]=0,0,0,0,0,1 f[] u[]", "s32:"},
    };
    (void)state;
    skip_without_byte_sums();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_result(cases[i].line, cases[i].expected);
}

/* The same of products; where parameters are not one for a matrix or a column, sums. */
static void constant_scales_are_part_of_products_of_bytes(void **state)
{
    static const struct one_case cases[] = {
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[] f[] u[]", "u8:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[] f[] c[]", "s8:"},
        {"QLinearMatMul-21 c[4,5] f[] c[]=3 c[5,6] f[] c[] f[] u[]=7", "u8:"},
        {"QLinearMatMul-21 u[4,5] f[1] u[1]=3 c[5,6] f[1] c[1] f[1] u[1]", "u8:"},
        {"QLinearMatMul-21 u[4,5] f[] u[]=3 c[5,6] f[6] c[6] f[] u[]", "u8:"},
        {"QLinearMatMul-21 u[4,5] f[] u[]=3 c[5,6] f[1,6] c[1,6] f[] u[]", "u8:"},
        {"QLinearMatMul-21 u[2,4,5] f[] u[] c[5,6] f[] c[] f[] u[]", "u8:"},
        {"QLinearMatMul-21 u[5] f[] u[] c[5,6] f[] c[] f[] u[]", "u8:"},
        {"QLinearMatMul-21 u[4,5] h[] u[] c[5,6] h[] c[] h[] u[]", "u8:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[1,5,6] f[] c[] f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[2,4,5] f[] u[] c[2,5,6] f[] c[] f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5] f[] c[] f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] u[5,6] f[] u[] f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[4] u[] c[5,6] f[] c[] f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[4] c[5,6] f[] c[] f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[]=1 f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[6]=0,0,0,0,0,1 f[] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[] f[4] u[]", "s32:"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[] f[] u[4]", "s32:"},
    };
    (void)state;
    skip_without_byte_sums();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_result(cases[i].line, cases[i].expected);
}

/* How many reorders there are in the second run of the model of LINE. */
static size_t count_reorders(const char *line, enum one_way way)
{
    size_t count, reorders = 0;
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    one_node(line, way);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    for (int i = 0; i < 2; i++) {
        amp_session_observe(session, i == 0 ? NULL : profile);
        assert_int_equal(amp_session_run(session, one.inputs, net.outputs, &net.err), AMP_OK);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
    }
    const struct amp_profile_primitive *items = amp_profile_primitives(profile, &count);
    for (size_t i = 0; i < count; i++)
        reorders += strcmp(items[i].kind, "reorder") == 0;
    amp_session_destroy(session);
    amp_profile_destroy(profile);
    return reorders;
}

/* Weights that are constants are brought into the kernel's form once, others in each run. */
static void constant_weights_are_reordered_once(void **state)
{
    static const char *const models[] = {
        "Conv-11 f[2,16,9,8] f[16,16,3,3]",
        "Conv-11 f[2,32,9] f[32,16,3] f[32] group=2",
        "ConvTranspose-11 f[2,16,5,6] f[16,16,3,2]",
        "ConvInteger-10 u[1,16,5,5] c[16,16,2,2]",
        "ConvInteger-10 c[1,16,5,5] u[16,16,2,2] c[]=3 u[]=2",
        "QLinearConv-10 u[1,16,5,5] f[] u[] c[16,16,2,2] f[] c[] f[] u[]",
        "QLinearConv-10 c[1,16,5,5] f[] c[]=3 c[16,16,2,2] f[] c[] f[] c[] j[16] pads=[1,1,1,1]",
        "QLinearConv-10 u[1,16,5,5] f[] u[] u[16,16,2,2] f[] u[]=2 f[] u[]",
    };
    (void)state;
    skip_without_byte_sums();
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        size_t always = count_reorders(models[i], ONE_GIVEN);
        size_t once = count_reorders(models[i], ONE_WEIGHTS);
        if (once + 1 != always)
            fail_msg("%s: %zu reorders with constants, %zu without", models[i], once, always);
    }
}

/* The weights of a product that also rounds are; what it adds lies as oneDNN takes it. */
static void constant_weights_of_products_of_bytes_are_reordered_once(void **state)
{
    static const char line[] = "QLinearMatMul-21 u[4,64] f[] u[]=3 c[64,64] f[64] c[64] f[] u[]";
    (void)state;
    skip_without_byte_sums();
    assert_int_equal(count_reorders(line, ONE_WEIGHTS), 0);
    expect_kinds(line, ONE_WEIGHTS, "matmul");
}

/* Sums over nothing are 0, and the result is the zero point. */
static void quantized_products_of_nothing_are_zero_points(void **state)
{
    static const enum one_way ways[] = {ONE_GIVEN, ONE_WEIGHTS};
    (void)state;
    for (int i = 0; i < 2; i++) {
        one_node("QLinearMatMul-21 u[2,0] f[] u[]=3 c[0,3] f[] c[] f[] u[]=7", ways[i]);
        assert_int_equal(net_run(true, one.inputs), AMP_OK);
        for (size_t k = 0; k < 6; k++)
            assert_int_equal(amp_tensor_int(&net.outputs[0], k), 7);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        one_node("QLinearMatMul-21 u[0,2] f[] u[]=3 c[2,3] f[] c[] f[] u[]=7", ways[i]);
        assert_int_equal(net_run(true, one.inputs), AMP_OK);
        assert_int_equal(amp_tensor_count(&net.outputs[0]), 0);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
    }
}

/* Few rows in float32 are for us where the model says that they are few and its constants stay in
   the cache. */
static void few_rows_that_may_be_many_are_run_by_onednn(void **state)
{
    static const struct {
        const char *line;
        enum one_way way;
        const char *expected;
    } cases[] = {
        {"MatMul-13 f[2,5] f[5,6]", ONE_WEIGHTS, "matmul"},
        {"MatMul-13 f[2,5] f[5,6]", ONE_RANKED, "matmul"},
        {"MatMul-13 f[2,5] f[5,6]", ONE_UNKNOWN, "matmul"},
        {"MatMul-13 f[2,5] f[5,6]", ONE_FIRST, ""},
        {"MatMul-13 f[2,5] f[5,6]", ONE_LAST, "matmul"},
        {"Gemm-13 f[2,5] f[6,5] f[6] transB=1", ONE_WEIGHTS, "matmul"},
        {"Gemm-13 f[2,5] f[6,5] f[6] transB=1", ONE_FIRST, ""},
        {"Gemm-13 f[5,2] f[5,6] f[6] transA=1", ONE_FIRST, "matmul"},
    };
    unsigned has = dnnl_get_effective_cpu_isa(), wanted = dnnl_cpu_isa_avx512_core_vnni;
    (void)state;
    if ((has & wanted) != wanted)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_kinds(cases[i].line, cases[i].way, cases[i].expected);
    /* 16 MiB of constants, and a number more */
    static const float weights[(4 << 20) + 8];
    for (int more = 0; more <= 8; more += 8) {
        char text[256];
        struct amp_session *session = NULL;
        struct amp_profile *profile = amp_profile_create();
        net_start(13);
        uint32_t x = input("x", AMP_FLOAT, DIMS(1, 8));
        output(NODE("MatMul", "y", x,
                    constant("w", AMP_FLOAT, DIMS(8, (4 << 17) + more / 8), weights)));
        infer_all();
        assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
        amp_session_observe(session, profile);
        assert_int_equal(amp_session_run(session, net_tensor(AMP_FLOAT, DIMS(1, 8), weights),
                                         net.outputs, &net.err),
                         AMP_OK);
        list_kinds(profile, text, sizeof text);
        assert_string_equal(text, more == 0 ? "" : "matmul");
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        amp_session_destroy(session);
        amp_profile_destroy(profile);
    }
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
        {"Clip-13 f[2] f[2]=1,2 f[]=3", 0, 0, 0},
        {"Clip-13 f[2] f[]=1 f[2]=3,4", 0, 0, 0},
        {"Clip-13 f[2] f[0] f[]=3", 0, 0, 0},
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
        NET_TEST(the_best_of_long_lines_is_their_own),
        NET_TEST(running_sums_and_products_are_exact),
        NET_TEST(the_first_of_a_line_are_in_order),
        NET_TEST(extremes_of_nothing_are_those_of_the_type),
        NET_TEST(long_lines_are_scattered_whole),
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
        NET_TEST(many_points_are_looked_up),
        NET_TEST(long_dims_are_resized),
        NET_TEST(integers_and_others_are_resized),
        NET_TEST(grids_have_types_of_their_own),
        NET_TEST(places_are_rounded),
        NET_TEST(of_equal_boxes_the_first_is_kept),
        NET_TEST(the_last_block_may_be_partial),
        NET_TEST(zeros_have_the_scale_one),
        NET_TEST(ranges_are_of_all_values),
        NET_TEST(ranges_end_with_their_values),
        NET_TEST(quantized_pairs_broadcast),
        NET_TEST(quantized_products_are_rounded_once),
        NET_TEST(products_are_scaled_and_added_to),
        NET_TEST(matrices_of_one_size_may_lie_in_either_order),
        NET_TEST(scales_and_biases_stay_apart_when_shapes_change),
        NET_TEST(recurrences_that_are_no_constants_may_change),
        NET_TEST(sequences_are_no_longer_than_the_steps),
        NET_TEST(constants_are_what_their_attribute_holds),
        NET_TEST(constants_are_tensors_wherever_they_lie),
        NET_TEST(scalars_have_no_border),
        NET_TEST(tiles_are_copies_side_by_side),
        NET_TEST(old_slopes_belong_to_channels_or_elements),
        NET_TEST(diagonals_lie_anywhere),
        NET_TEST(slices_are_those_of_python),
        NET_TEST(slices_of_all_are_no_copies),
        NET_TEST(reductions_follow_any_order),
        NET_TEST(reductions_are_of_all_elements),
        NET_TEST(scales_follow_any_order),
        NET_TEST(stop_words_are_whole),
        NET_TEST(each_element_is_unique_once),
        NET_TEST(uniform_numbers_are_numpys),
        NET_TEST(normal_numbers_are_numpys),
        NET_TEST(bernoulli_is_below_the_probability),
        NET_TEST(multinomial_divides_the_unit_by_chances),
        NET_TEST(dropout_keeps_what_is_drawn_from_the_ratio_on),
        NET_TEST(recurrent_layers_are_run_by_onednn),
        NET_TEST(constant_weights_are_reordered_once),
        NET_TEST(constant_scales_are_part_of_convolutions_of_bytes),
        NET_TEST(constant_scales_are_part_of_products_of_bytes),
        NET_TEST(constant_weights_of_products_of_bytes_are_reordered_once),
        NET_TEST(quantized_products_of_nothing_are_zero_points),
        NET_TEST(few_rows_that_may_be_many_are_run_by_onednn),
        NET_TEST(activations_are_post_ops_of_onednn),
        NET_TEST(blocks_of_any_size_are_gathered),
        NET_TEST(elements_of_all_types_are_loaded_and_stored),
        NET_TEST(wide_elements_are_combined),
        NET_TEST(rows_of_all_types_are_combined),
        NET_TEST(wide_floats_become_integers),
        NET_TEST(integers_are_read_as_many_as_there_may_be),
        NET_TEST(whole_numbers_are_of_64_bits),
        NET_TEST(operators_are_found_by_both_names),
        NET_TEST(old_operators_broadcast_by_attributes),
        NET_TEST(shapes_are_those_of_the_first_input),
        NET_TEST(axes_are_those_of_the_rank),
        NET_TEST(values_have_an_axis_each),
        NET_TEST(dims_are_counted_as_far_as_they_are_known),
        NET_TEST(elements_are_copied_to_any_place),
        NET_TEST(memory_is_filled_to_the_end),
        NET_TEST(indices_have_fitting_shapes),
        NET_TEST(wrong_indices_are_named),
        NET_TEST(offsets_are_those_of_the_definition),
        NET_TEST(lists_are_cast_element_by_element),
        NET_TEST(windows_are_run_by_onednn),
        NET_TEST(products_and_norms_are_run_by_onednn),
        NET_TEST(what_onednn_has_not_is_run_in_c),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

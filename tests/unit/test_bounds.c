/* What is known of values: bounds that are proved, intervals, ranges of what was seen, and files of
   them. */
#include "autocast/ranges/bounds.h"
#include "autocast/ranges/file.h"
#include "check/calibrate.h"
#include "check/random_input.h"
#include "core/number/interval.h"
#include "core/number/random.h"
#include "core/number/range.h"
#include "core/tensor.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "one_node.h"
#include "ops/bound.h"
#include "ops/op.h"
#include "scratch.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- bounds ---------------------------------------------------------------------------------- */

/*
 * Proved bounds are never exceeded: every test network that runs on random inputs is run, as it is
 * and with random weights, and what is seen of each value is held against what is proved of it.
 */

enum { SAMPLES = 2, DIM = 3 /* of symbols */ };

struct network {
    struct amp_model_file file;
    int64_t *sizes;
    double scale; /* of inputs */
    struct amp_error err;
};

/* What was held against bounds. */
static struct {
    size_t networks, values, tight;
} tally;

/* ---- a network and its inputs ---------------------------------------------------------------- */

static enum amp_status make_inputs(void *context, size_t sample, struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    struct network *n = context;
    const struct amp_ids *ids = &n->file.model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_random_input plan;
        const struct amp_value *value = amp_value_at(n->file.model, ids->items[i]);
        if (value->constant != NULL || value->is_initializer)
            continue;
        AMP_TRY(amp_random_input_plan(n->file.model, ids->items[i], n->sizes, &plan, err));
        AMP_TRY(amp_random_input_make(&plan, 7, sample, &inputs[i], err));
        float *items = inputs[i].data;
        for (size_t k = 0; inputs[i].dtype == AMP_FLOAT && k < amp_tensor_count(&inputs[i]); k++)
            items[k] *= (float)n->scale;
    }
    return AMP_OK;
}

/* Puts random numbers in the place of all constants of float32. */
static void scramble(struct amp_model *model)
{
    struct amp_random random = amp_random_start(1, 2);
    for (uint32_t v = 0; v < model->n_values; v++) {
        struct amp_value *value = amp_value_at(model, v);
        struct amp_tensor *tensor = value->constant;
        if (tensor == NULL || amp_tensor_is_list(tensor) || tensor->dtype != AMP_FLOAT)
            continue;
        size_t count = amp_tensor_count(tensor);
        float *items = amp_arena_array(model->arena, count, sizeof *items);
        for (size_t k = 0; k < count; k++)
            items[k] = amp_random_normal(&random) * 3;
        struct amp_tensor *made = amp_arena_alloc(model->arena, sizeof *made);
        *made = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = tensor->shape, .data = items};
        value->constant = value->initial = made;
        value->constant_max = -1;
    }
}

/* ---- seen and proved ------------------------------------------------------------------------- */

static void compare(const char *path, const struct amp_value_range *range)
{
    const struct amp_range *seen = &range->seen;
    if (range->rule == NULL || seen->count == 0 || seen->count == seen->nan)
        return;
    tally.values++;
    bool is_finite = seen->count > seen->nan + seen->infinite;
    bool is_wide = isinf(range->proved.low) || isinf(range->proved.high);
    tally.tight += !is_wide;
    if ((is_finite && (seen->minimum < range->proved.low || seen->maximum > range->proved.high)) ||
        (seen->infinite > 0 && !is_wide))
        fail_msg("%s: '%s' is from %.9g to %.9g, %llu infinite; by %s from %.9g to %.9g", path,
                 range->name, seen->minimum, seen->maximum, (unsigned long long)seen->infinite,
                 range->rule, range->proved.low, range->proved.high);
}

static void hold(const char *path, struct network *n)
{
    struct amp_source source = {SAMPLES, make_inputs, n};
    struct amp_ranges *ranges = amp_ranges_create(n->file.arena);
    if (amp_calibrate(n->file.model, &source, ranges, &n->err) != AMP_OK)
        return;
    amp_bounds_note(n->file.model, ranges);
    tally.networks++;
    for (size_t i = 0; i < ranges->count && ranges->items[i].seen.nan == 0; i++)
        compare(path, &ranges->items[i]);
}

/* Holds the network at PATH, its inputs times SCALE, against its bounds; where it runs. */
static void hold_file(const char *path, double scale, bool is_scrambled)
{
    struct network n = {.scale = scale, .err = {.status = AMP_OK}};
    if (amp_model_read(path, &n.file, &n.err) != AMP_OK)
        return;
    if (amp_infer(n.file.model, &n.err) == AMP_OK) {
        n.sizes = amp_arena_array(n.file.arena, n.file.model->n_symbols, sizeof *n.sizes);
        for (size_t s = 0; s < n.file.model->n_symbols; s++)
            n.sizes[s] = DIM;
        if (is_scrambled)
            scramble(n.file.model);
        hold(path, &n);
    }
    amp_model_close(&n.file);
}

static void hold_all(const char *folder, const char *pattern)
{
    char path[1024];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", folder, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        hold_file(found.gl_pathv[i], 1, false);
        hold_file(found.gl_pathv[i], 30, false);
        hold_file(found.gl_pathv[i], 1, true);
    }
    globfree(&found);
}

static void no_bound_is_exceeded(void **state)
{
    (void)state;
    const char *cases = getenv("CASES"), *data = getenv("TESTDATA");
    assert_non_null(cases);
    hold_all("models", "*.onnx");
    /* Those of robust/ are made to be more than a machine takes. */
    hold_all(cases, "[!r]*/*/model.onnx");
    hold_all(cases, "r[!o]*/*/model.onnx");
    hold_all(cases, "ops/*/*/model.onnx");
    if (data != NULL)
        hold_all(data, "node/*/model.onnx");
    print_message("%zu runs of networks, %zu values with bounds, %zu of them on both sides\n",
                  tally.networks, tally.values, tally.tight);
    assert_true(tally.networks > 5000 && tally.tight > 1000);
}

/* ---- one operator ---------------------------------------------------------------------------- */

/*
 * What is proved of one operator's result, neither more nor less: the ends by hand, from the
 * smallest and the largest element of each input. Each line is a model of one node.
 */

struct bound_case {
    const char *line;
    double low, high;
};

/* The rounding of a sum of some hundred elements is within that. */
static bool is_near(double found, double wanted)
{
    return found == wanted || (isfinite(wanted) && fabs(found - wanted) <= fabs(wanted) * 2e-3);
}

static bool is_bound_as(const struct bound_case *wanted, enum one_way way)
{
    one_node(wanted->line, way);
    infer_all();
    uint32_t y = net.model->graphs[0].outputs.items[0];
    struct amp_bounds *bounds = amp_bounds_create(net.model, NULL, true);
    struct amp_interval found = amp_bounds_of(bounds, y);
    amp_bounds_destroy(bounds);
    if (is_near(found.low, wanted->low) && is_near(found.high, wanted->high))
        return true;
    print_error("%s: from %.9g to %.9g; from %.9g to %.9g is right\n", wanted->line, found.low,
                found.high, wanted->low, wanted->high);
    return false;
}

static void bounds_are_all(const struct bound_case *cases, size_t count, enum one_way way)
{
    bool are_all = true;
    for (size_t i = 0; i < count; i++)
        are_all &= is_bound_as(&cases[i], way);
    assert_true(are_all);
}

#define BOUNDS_ARE(cases, way) bounds_are_all(cases, sizeof(cases) / sizeof *(cases), way)

static void products_are_bounded_by_their_weights(void **state)
{
    static const struct bound_case cases[] = {
        /* 2 times the largest sum of magnitudes of a filter, a column or a row: 3.5, 4 or 5 */
        {"Conv-11 f[1,2,3]=-1,0,2,1,0,0 f[2,2,1]=1,-2,3,0.5", -7, 7},
        {"Conv-11 f[1,2,3]=-1,0,-2,1,0,0 f[2,2,1]=3,-0.5,1,2", -7, 7},
        {"Conv-11 f[1,2,3]=-1,0,2,1,0,0 f[2,2,1]=1,-2,3,0.5 f[2]=1,-4", -11, 11},
        {"Conv-11 f[1,2,3]=0,0,0,0,0,0 f[2,2,1]=1,-2,3,0.5", 0, 0},
        {"ConvTranspose-11 f[1,2,3]=-1,0,2,1,0,0 f[2,2,1]=1,-2,3,0.5", -8, 8},
        {"ConvTranspose-11 f[1,2,3]=-1,0,2,1,0,0 f[2,2,2]=1,-2,3,0.5,1,1,0,-1", -10, 10},
        {"MatMul-13 f[2,3]=-1,0,2,1,0,0 f[3,2]=1,-2,3,0.5,0,1", -8, 8},
        {"MatMul-13 h[2,3]=-1,0,2,1,0,0 h[3,2]=1,-2,3,0.5,0,1", -8, 8},
        {"MatMul-13 d[2,3]=-1,0,2,1,0,0 d[3,2]=1,-2,3,0.5,0,1", -8, 8},
        {"Gemm-13 f[2,3]=-1,0,2,1,0,0 f[3,2]=1,-2,3,0.5,0,1", -8, 8},
        {"Gemm-13 f[2,2]=-1,0,2,1 f[3,2]=1,-2,3,0.5,0,1 transB=1", -7, 7},
        {"Gemm-13 f[2,3]=-1,0,2,1,0,0 f[3,2]=1,-2,3,0.5,0,1 alpha=-0.5", -4, 4},
        {"Gemm-13 f[2,3]=-1,0,2,1,0,0 f[3,2]=1,-2,3,0.5,0,1 f[2]=1,-3 beta=-2.0", -14, 14},
        {"Gemm-13 f[2,3]=-1,0,2,1,0,0 f[3,2]=1,-2,3,0.5,0,1 f[2]=1,-3 alpha=0.5", -7, 7},
        /* of more than one matrix and of vectors: 2 times the largest magnitude, times the depth */
        {"MatMul-13 f[2,3]=-1,0,2,1,0,0 f[1,3,2]=1,-2,3,0.5,0,1", -18, 18},
        {"MatMul-13 f[2,3]=-1,0,2,1,0,0 f[3]=1,-2,0", -12, 12},
        {"MatMul-13 f[2,0] f[1,0,2]", -INFINITY, INFINITY},
        /* many elements, of which the first is 5 and all others 1 */
        {"Conv-11 f[1,700,1] f[3,700,1]=5", -704, 704},
        {"ConvTranspose-11 f[1,40,1] f[40,3,20]=5", -804, 804},
        {"ConvTranspose-11 f[1,2,1] f[2,3,700]=5", -1404, 1404},
        {"MatMul-13 f[1,700] f[700,3]=5", -704, 704},
        {"Gemm-13 f[1,700] f[3,700]=5 transB=1", -704, 704},
    };
    static const struct bound_case unknown[] = {
        {"Conv-11 f[1,2,3] f[2,2,1]", -INFINITY, INFINITY},
        {"Gemm-13 f[2,3] f[3,2] f[2]", -INFINITY, INFINITY},
    };
    (void)state;
    BOUNDS_ARE(cases, ONE_CONSTANT);
    BOUNDS_ARE(unknown, ONE_GIVEN);
}

/* The rounding of a sum is that of as many elements as the weights have, up to a million; of a
   million where their shape is not known. */
static void sums_are_rounded_by_the_number_of_weights(void **state)
{
    enum { MILLION = 1 << 20 };
    static const struct {
        int64_t columns; /* -1: no shape is known */
        double depth;
    } cases[] = {{300, 1200},
                 {MILLION / 8, MILLION / 2.0},
                 {MILLION / 4, MILLION},
                 {MILLION / 2, MILLION},
                 {-1, MILLION}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_shape shape = cases[i].columns < 0 ? ANY_DIMS : DIMS(4, cases[i].columns);
        net_start(17);
        uint32_t x = NODE("Sigmoid", "x", input("in", AMP_FLOAT, DIMS(1, 4)));
        output(NODE("MatMul", "y", x, NODE("Sigmoid", "w", input("weights", AMP_FLOAT, shape))));
        infer_all();
        struct amp_bounds *bounds = amp_bounds_create(net.model, NULL, true);
        struct amp_interval found = amp_bounds_of(bounds, net.model->graphs[0].outputs.items[0]);
        amp_bounds_destroy(bounds);
        double wanted = 4 * (1 + cases[i].depth * 0x1p-23);
        if (!(fabs(found.high - wanted) <= wanted * 5e-6) || found.low != -found.high)
            fail_msg("case %zu: from %.9g to %.9g; %.9g is right", i, found.low, found.high,
                     wanted);
    }
    const struct amp_shape open[] = {DIMS(1, AMP_DIM_UNKNOWN), ANY_DIMS};
    for (int i = 0; i < 2; i++) { /* nobody knows of how many products */
        net_start(17);
        uint32_t x = NODE("Sigmoid", "x", input("in", AMP_FLOAT, open[i]));
        uint32_t w = NODE("Sigmoid", "w", input("weights", AMP_FLOAT, ANY_DIMS));
        output(NODE("MatMul", "y", x, w));
        infer_all();
        struct amp_bounds *bounds = amp_bounds_create(net.model, NULL, true);
        struct amp_interval found = amp_bounds_of(bounds, net.model->graphs[0].outputs.items[0]);
        amp_bounds_destroy(bounds);
        assert_true(isinf(found.low) && isinf(found.high));
    }
}

/* Neither are the elements counted over which a layer of no known dims is normalized. */
static void norms_of_unknown_dims_have_no_bounds(void **state)
{
    static const char *const names[] = {"LayerNormalization", "InstanceNormalization"};
    const struct amp_shape shapes[] = {ANY_DIMS, DIMS(2, 1, AMP_DIM_UNKNOWN), DIMS(2, 1, 0),
                                       DIMS(2, AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN), DIMS(2, 1, 4)};
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, shapes[i / 2]);
        uint32_t scale = NODE("Sigmoid", "s", input("scale", AMP_FLOAT, ANY_DIMS));
        uint32_t bias = NODE("Sigmoid", "b", input("bias", AMP_FLOAT, ANY_DIMS));
        uint32_t y = NODE(names[i % 2], "y", x, scale, bias);
        if (i % 2 == 0)
            set_int(y, "axis", 1);
        output(y);
        infer_all();
        struct amp_bounds *bounds = amp_bounds_create(net.model, NULL, true);
        struct amp_interval found = amp_bounds_of(bounds, net.model->graphs[0].outputs.items[0]);
        amp_bounds_destroy(bounds);
        bool is_known = i / 2 == 4; /* sqrt(4) times a scale up to 1, and a bias from 0 to 1 */
        if (is_known != (is_near(found.low, -2) && is_near(found.high, 3)) ||
            is_known == (isinf(found.low) && isinf(found.high)))
            fail_msg("case %zu: from %g to %g", i, found.low, found.high);
    }
}

static void normalized_elements_are_bounded_by_their_number(void **state)
{
    static const struct bound_case cases[] = {
        {"LayerNormalization-17 f[2,3,4] f[4]=1,-2,3,0.5 f[4]=1,2,3,4", -5, 10},
        {"LayerNormalization-17 f[2,3,4] f[4]=1,-2,3,0.5", -6, 6},
        {"LayerNormalization-17 f[5,2,2] f[2,2] axis=-2", -2, 2},
        {"LayerNormalization-17 f[5,3,3] f[3,3] axis=1", -3, 3},
        {"LayerNormalization-17 f[4,2,2] f[4,2,2] axis=0", -4, 4},
        {"LayerNormalization-17 f[2,0] f[0]", -INFINITY, INFINITY},
        {"RMSNormalization-23 f[2,9] f[9]=1,-2", -6, 6},
        {"InstanceNormalization-6 f[2,3,4,3] f[3]=1,-2,1 f[3]=1,0,0", -12, 13},
        {"InstanceNormalization-6 f[2,1,4] f[1] f[1]=0", -2, 2},
        {"InstanceNormalization-6 f[2,3,0] f[3] f[3]", -INFINITY, INFINITY},
        {"GroupNormalization-21 f[2,4,2,2] f[4] f[4] num_groups=2", -3, 5},
        {"BatchNormalization-15 f[1,2,2]=-1,0,3,1 f[2]=2,-1 f[2]=1,0 f[2]=0.5,1 f[2]=4,1 "
         "epsilon=0.0",
         -2, 3.5},
        {"BatchNormalization-15 f[1,1,2]=-1,3 f[1]=2 f[1]=1 f[1]=0.5 f[1]=3 epsilon=1.0", -0.5,
         3.5},
        {"BatchNormalization-15 f[1,1,2]=-1,3 f[1] f[1] f[1] f[1]=0 epsilon=0.0", -INFINITY,
         INFINITY},
        {"BatchNormalization-15 f[1,1,2] f[1] f[1] f[1] f[1] training_mode=1 >3", -INFINITY,
         INFINITY},
        {"BatchNormalization-15 f[1,1,2] f[1] f[1] f[1] f[1] training_mode=1", -INFINITY, INFINITY},
        {"BatchNormalization-15 f[1,1,2]=1,3 f[1] f[1] f[1]=0 f[1] epsilon=0.0", 2, 4},
        {"BatchNormalization-15 f[1,1,2]=1,3 f[1]=-1 f[1]=0 f[1]=0 f[1] epsilon=0.0", -3, -1},
        {"BatchNormalization-7 f[1,1,2] f[1] f[1] f[1] f[1]", -INFINITY, INFINITY},
        {"BatchNormalization-9 f[1,1,2] f[1] f[1] f[1] f[1] >5", -INFINITY, INFINITY},
        {"BatchNormalization-15 f[1,1,2] f[1] f[1]=inf f[1] f[1]", -INFINITY, INFINITY},
        {"BatchNormalization-15 f[1,1,2] f[1]=0 f[1] f[1]=0 f[1]=0 epsilon=0.0", -INFINITY,
         INFINITY},
        {"BatchNormalization-15 f[1,0,2] f[0] f[0] f[0] f[0]", -INFINITY, INFINITY},
        {"BatchNormalization-9 f[1,1,2]=-1,3 f[1] f[1]=0 f[1]=0 f[1] epsilon=0.0", -1, 3},
        {"Softmax-13 f[2,3]", 0, 1},
        {"Hardmax-13 f[2,3]", 0, 1},
        {"LogSoftmax-13 f[2,3]", -INFINITY, 1e-3},
        {"LpNormalization-1 f[2,3]", -1, 1},
        {"DequantizeLinear-13 c[2]=-4,6 f[]=0.5", -2, 3},
        {"DequantizeLinear-13 c[2]=-4,6 f[]=0.5 _", -2, 3},
        {"DequantizeLinear-13 c[2]=-4,6 f[]=0.5 c[]=1", -2.5, 2.5},
    };
    static const struct bound_case unknown[] = {
        {"LayerNormalization-17 f[2,4] f[4]", -INFINITY, INFINITY},
        {"BatchNormalization-15 f[1,1,2] f[1] f[1] f[1] f[1]", -INFINITY, INFINITY},
        {"Softmax-13 f[2,3]", 0, 1},
    };
    (void)state;
    BOUNDS_ARE(cases, ONE_CONSTANT);
    BOUNDS_ARE(unknown, ONE_GIVEN);
}

/* Nobody has checked whether there are as many of each parameter where x has no known dims. */
static void channels_have_a_number_of_each_parameter(void **state)
{
    (void)state;
    for (int one_more = 0; one_more <= 4; one_more++) {
        net_start(15);
        uint32_t x = NODE("Sigmoid", "x", input("in", AMP_FLOAT, ANY_DIMS)), parameters[4];
        for (int i = 0; i < 4; i++)
            parameters[i] = i + 1 == one_more ? FLOATS("p", 1, 1, 1) : FLOATS("q", 1, 1);
        uint32_t y = NODE("BatchNormalization", "y", x, parameters[0], parameters[1], parameters[2],
                          parameters[3]);
        output(y);
        infer_all();
        struct amp_bounds *bounds = amp_bounds_create(net.model, NULL, true);
        struct amp_interval found = amp_bounds_of(bounds, y);
        amp_bounds_destroy(bounds);
        assert_true(one_more == 0 ? is_near(found.low, 0) || fabs(found.low) < 1e-3
                                  : isinf(found.low));
        assert_true(one_more == 0 ? is_near(found.high, 1) : isinf(found.high));
    }
}

static void reductions_are_bounded_by_what_goes_into_one(void **state)
{
    static const struct bound_case cases[] = {
        {"ReduceSum-13 f[2,3]=-1,0,2,1,0,0 i[1]=1", -3, 6},
        {"ReduceSum-13 f[2,3]=-1,0,2,1,0,0 i[1]=1 keepdims=0", -3, 6},
        {"ReduceSum-13 f[2,3]=-1,0,2,1,0,0 i[1]=0", -2, 4},
        {"ReduceSum-13 f[2,3]=-1,0,2,1,0,0", -6, 12},
        {"ReduceSum-13 f[2,2]=-1,0,2,1 i[1]=1", -2, 4},
        {"ReduceSum-13 f[2,2]=-1,0,2,1 i[1]=0 keepdims=0", -2, 4},
        {"ReduceMean-18 f[2,3]=-1,0,2,1,0,0 i[1]=1", -1, 2},
        {"ReduceL1-18 f[2,3]=-1,0,2,1,0,0 i[1]=1", 0, 6},
        {"ReduceL1-18 f[2,3]=-1,-4,-2,-1,-3,-3 i[1]=1", 3, 12},
        {"ReduceSumSquare-18 f[2,3]=-1,0,2,1,0,0 i[1]=1", 0, 12},
        {"ReduceSumSquare-18 f[2,3]=-1,-3,-2,-1,-1,-1 i[1]=1", 3, 27},
        {"ReduceL2-18 f[2,4]=-1,0,2,1,0,0,0,0 i[1]=1", 0, 4},
        {"ReduceMax-18 f[2,3]=-1,0,2,1,0,0 i[1]=1", -1, 2},
        {"ReduceMin-18 f[2,3]=-1,0,2,1,0,0 i[1]=1", -1, 2},
        {"ReduceMax-20 f[2,0] i[1]=1", -INFINITY, INFINITY},
        {"AveragePool-11 f[1,1,4]=1,2,3,4 kernel_shape=[2]", 0, 4},
        {"AveragePool-11 f[1,1,4]=-1,-2,-3,-4 kernel_shape=[2]", -4, 0},
        {"GlobalAveragePool-1 f[1,1,4]=1,2,3,4", 0, 4},
        {"MaxPool-12 f[1,1,4]=1,2,3,4 kernel_shape=[2]", 1, 4},
        {"GlobalMaxPool-1 f[1,1,4]=1,2,3,4", 1, 4},
    };
    static const struct bound_case unknown[] = {
        {"ReduceSum-13 f[2,3] i[1]", -INFINITY, INFINITY},
        {"ReduceMean-18 f[2,3] i[1]", -INFINITY, INFINITY},
        {"ReduceL1-18 f[2,3] i[1]", 0, INFINITY},
        {"ReduceSumSquare-18 f[2,3] i[1]", 0, INFINITY},
        {"ReduceL2-18 f[2,3] i[1]", 0, INFINITY},
    };
    (void)state;
    BOUNDS_ARE(cases, ONE_CONSTANT);
    BOUNDS_ARE(unknown, ONE_GIVEN);
    BOUNDS_ARE(unknown, ONE_UNKNOWN);
}

/* Of a constant of more elements than are read at a time. */
static void all_elements_of_constants_are_seen(void **state)
{
    enum { COUNT = 2500 };
    static const size_t places[] = {0, 1023, 1024, 2047, 2048, 2499};
    static float items[COUNT];
    struct amp_tensor tensor = {
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {COUNT}}, .data = items};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            items[places[i]] = (float)sign * 3;
            struct amp_interval found = amp_bound_elements(&tensor);
            assert_true(found.low == (sign < 0 ? -3 : 0) && found.high == (sign < 0 ? 0 : 3));
            items[places[i]] = 0;
        }
}

/* Numbers are, wherever they are to be converted from; many only where weights are read. */
static void constants_that_bound_are_numbers(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        bool is;
    } cases[] = {{AMP_FLOAT, true},         {AMP_FLOAT16, true},   {AMP_BFLOAT16, true},
                 {AMP_DOUBLE, true},        {AMP_UINT8, true},     {AMP_INT8, true},
                 {AMP_UINT16, true},        {AMP_INT16, true},     {AMP_UINT32, true},
                 {AMP_INT32, true},         {AMP_UINT64, true},    {AMP_INT64, true},
                 {AMP_BOOL, false},         {AMP_INT4, false},     {AMP_STRING, false},
                 {AMP_FLOAT8E4M3FN, false}, {AMP_COMPLEX64, false}};
    static float items[4097 * 2];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_tensor source = {.dtype = cases[i].dtype, .shape = {1, {2}}, .data = items};
        struct amp_tensor converted = {.dtype = AMP_FLOAT, .shape = {1, {2}}, .source = &source};
        struct amp_value value = {.constant = &source};
        assert_ptr_equal(amp_bound_data(&value, false), cases[i].is ? &source : NULL);
        value.constant = &converted;
        assert_ptr_equal(amp_bound_data(&value, false), cases[i].is ? &source : NULL);
    }
    struct amp_tensor unread = {.dtype = AMP_FLOAT, .shape = {1, {2}}};
    struct amp_tensor of_unread = {.dtype = AMP_FLOAT, .shape = {1, {2}}, .source = &unread};
    struct amp_value no_data[] = {{.constant = &unread}, {.constant = &of_unread}};
    for (int i = 0; i < 2; i++)
        assert_null(amp_bound_data(&no_data[i], true));
    struct amp_tensor list = {.dtype = AMP_FLOAT, .form = AMP_FORM_SEQUENCE, .data = items};
    struct amp_value value = {.constant = NULL};
    assert_null(amp_bound_data(&value, true));
    value.constant = &list;
    assert_null(amp_bound_data(&value, true));
    for (int64_t n = 4096; n <= 4097; n++) {
        struct amp_tensor many = {.dtype = AMP_FLOAT, .shape = {1, {n}}, .data = items};
        value.constant = &many;
        assert_ptr_equal(amp_bound_data(&value, true), &many);
        assert_ptr_equal(amp_bound_data(&value, false), n == 4096 ? &many : NULL);
    }
}

/* ---- interval -------------------------------------------------------------------------------- */

/* Interval arithmetic: results that are worked out by hand, and that random numbers within operands
   give results within (IEEE 1788-2015, 10.5). */

static void is(struct amp_interval found, double low, double high)
{
    assert_true(found.low == low && found.high == high);
}

static void ends_are_right(void **state)
{
    const struct amp_interval a = {-2, 3}, b = {4, 5}, zero = {0, 0};
    (void)state;
    is(amp_interval_add(a, b), 2, 8);
    is(amp_interval_sub(a, b), -7, -1);
    is(amp_interval_mul(a, b), -10, 15);
    is(amp_interval_mul(a, a), -6, 9);
    is(amp_interval_div(a, b), -0.5, 0.75);
    is(amp_interval_div(b, a), -INFINITY, INFINITY);
    is(amp_interval_square(a), 0, 9);
    is(amp_interval_abs(a), 0, 3);
    is(amp_interval_union(a, b), -2, 5);
    is(amp_interval_min(a, b), -2, 3);
    is(amp_interval_max(a, b), 4, 5);
    is(amp_interval_map(b, sqrt), 2, sqrt(5));
    is(amp_interval_widen(a, 0.5), -3, 4.5);
    is(amp_interval_widen(zero, 0.5), 0, 0);
    assert_true(amp_interval_least(a) == 0 && amp_interval_least(b) == 4);
    assert_true(amp_interval_largest(a) == 3);
}

/* An infinite end is a bound that there is not; what is 0 stays 0. */
static void infinite_ends_say_nothing(void **state)
{
    const struct amp_interval all = amp_interval_all(), zero = {0, 0}, above = {0, INFINITY};
    (void)state;
    is(amp_interval_sub(above, above), -INFINITY, INFINITY);
    is(amp_interval_mul(zero, all), 0, 0);
    is(amp_interval_mul(above, (struct amp_interval){1, 2}), 0, INFINITY);
    is(amp_interval_div((struct amp_interval){1, 1}, (struct amp_interval){2, INFINITY}), 0, 0.5);
    assert_false(amp_interval_is_bounded(all));
    assert_true(amp_interval_is_bounded(above));
}

static double between(struct amp_random *random, struct amp_interval a)
{
    double share = (double)(amp_random_next(random) >> 11) * 0x1p-53;
    return fmin(fmax(a.low + (a.high - a.low) * share, a.low), a.high);
}

static struct amp_interval any(struct amp_random *random)
{
    double x = (double)amp_random_normal(random), y = (double)amp_random_normal(random);
    return (struct amp_interval){fmin(x, y), fmax(x, y)};
}

static void holds(struct amp_interval a, double x)
{
    assert_true(isnan(x) || (a.low <= x && x <= a.high));
}

static void results_are_within(void **state)
{
    struct amp_random random = amp_random_start(5, 0);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct amp_interval a = any(&random), b = any(&random);
        double x = between(&random, a), y = between(&random, b);
        holds(amp_interval_add(a, b), x + y);
        holds(amp_interval_sub(a, b), x - y);
        holds(amp_interval_mul(a, b), x * y);
        holds(amp_interval_widen(amp_interval_div(a, b), 0x1p-50), x / y);
        holds(amp_interval_square(a), x * x);
        holds(amp_interval_abs(a), fabs(x));
        holds(amp_interval_min(a, b), fmin(x, y));
        holds(amp_interval_max(a, b), fmax(x, y));
        holds(amp_interval_union(a, b), y);
        holds(amp_interval_map(a, tanh), tanh(x));
    }
}

/* ---- operators ------------------------------------------------------------------------------- */

/* What a node's results lie between when its inputs do, by its definition; says: whether anything
   is known. The inputs are constants. */
struct operator_case {
    const char *line;
    struct amp_interval in[3], out;
    bool says;
};

static void expect_bound(const struct operator_case *test)
{
    struct amp_interval out = amp_interval_all();
    one_node(test->line, ONE_CONSTANT);
    const struct amp_node *node = amp_node_at(net.model, net.model->graphs[0].nodes.items[0]);
    const struct amp_op *op = amp_op_find(node->domain, node->op_type);
    const struct amp_bound_call call = {
        .model = net.model, .node = node, .in = test->in, .enough = INFINITY};
    if (op == NULL || op->bound == NULL)
        fail_msg("%s has no bound", test->line);
    bool says = op->bound(&call, &out);
    if (says != test->says ||
        (says && !(fabs(out.low - test->out.low) <= 1e-6 || out.low == test->out.low)) ||
        (says && !(fabs(out.high - test->out.high) <= 1e-6 || out.high == test->out.high)))
        fail_msg("%s: %s %g to %g", test->line, says ? "from" : "nothing is known, not from",
                 out.low, out.high);
}

#define ALL                 \
    {                       \
        -INFINITY, INFINITY \
    }
static const struct operator_case operator_cases[] = {
    {"Atan-22 f[2]", {{-1, 2}}, {-0.7853981634, 1.1071487178}, true},
    {"Ceil-13 f[2]", {{-1.5, 2.5}}, {-1, 3}, true},
    {"Floor-13 f[2]", {{-1.5, 2.5}}, {-2, 2}, true},
    {"Round-22 f[2]", {{-1.6, 2.6}}, {-2, 3}, true},
    {"Erf-13 f[2]", {{-1, 2}}, {-0.8427007929, 0.9953222650}, true},
    {"Exp-13 f[2]", {{-1, 2}}, {0.3678794412, 7.3890560989}, true},
    {"Log-13 f[2]", {{1, 7.3890560989}}, {0, 2}, true},
    {"Log-13 f[2]", {{-1, 1}}, {-INFINITY, 0}, true},
    {"Neg-13 f[2]", {{-1, 2}}, {-2, 1}, true},
    {"Abs-13 f[2]", {{-3, 2}}, {0, 3}, true},
    {"Abs-13 f[2]", {{-3, -2}}, {2, 3}, true},
    {"Reciprocal-13 f[2]", {{2, 4}}, {0.25, 0.5}, true},
    {"Reciprocal-13 f[2]", {{-1, 4}}, ALL, true},
    {"Sqrt-13 f[2]", {{-4, 9}}, {0, 3}, true},
    {"Sqrt-13 f[2]", {{4, 9}}, {2, 3}, true},
    {"Tanh-13 f[2]", {{-1, 2}}, {-0.7615941560, 0.9640275801}, true},
    {"Cos-22 f[2]", {{-1, 2}}, {-1, 1}, true},
    {"Sin-22 f[2]", {{-9, 9}}, {-1, 1}, true},
    {"Sign-13 f[2]", {{-9, 9}}, {-1, 1}, true},
    {"Sigmoid-13 f[2]", {{-9, 9}}, {0, 1}, true},
    {"Softsign-22 f[2]", {{-9, 9}}, {-1, 1}, true},
    {"HardSigmoid-22 f[2]", {{-9, 9}}, {0, 1}, true},
    {"Relu-14 f[2]", {{-3, 2}}, {0, 2}, true},
    {"Relu-14 f[2]", {{1, 2}}, {1, 2}, true},
    {"Relu-14 f[2]", {{-2, -1}}, {0, 0}, true},
    {"Elu-22 f[2]", {{-3, 2}}, {-1, 2}, true},
    {"Elu-22 f[2] alpha=0.5", {{-3, -2}}, {-0.5, 0}, true},
    {"Elu-22 f[2] alpha=-0.5", {{-3, 2}}, ALL, false},
    {"Elu-22 f[2] alpha=0.0", {{-3, 2}}, ALL, false},
    {"Celu-12 f[2] alpha=2.0", {{-3, 2}}, {-2, 2}, true},
    {"Swish-24 f[2]", {{-9, 2}}, {-0.2785, 2}, true},
    {"Swish-24 f[2]", {{-9, -2}}, {-0.2785, 0}, true},
    {"Swish-24 f[2] alpha=2.0", {{-9, 2}}, ALL, false},
    {"Mish-22 f[2]", {{-9, 2}}, {-0.3089, 2}, true},
    {"HardSwish-22 f[2]", {{-9, 2}}, {-0.3751, 2}, true},
    {"Gelu-20 f[2]", {{-9, 2}}, {-0.1701, 2}, true},
    {"Gelu-20 f[2]", {{-9, -2}}, {-0.1701, 0}, true},
    {"LeakyRelu-16 f[2]", {{-4, 2}}, {-4, 2}, true},
    {"LeakyRelu-16 f[2] alpha=3.0", {{-4, 2}}, {-12, 6}, true},
    {"LeakyRelu-16 f[2] alpha=-0.5", {{-4, 1}}, {-4, 2}, true},
    {"Softplus-22 f[2]", {{-4, 2}}, {0, 3}, true},
    {"Softplus-22 f[2]", {{-4, -2}}, {0, 1}, true},
    {"ThresholdedRelu-22 f[2]", {{2, 3}}, {0, 3}, true},
    {"ThresholdedRelu-22 f[2]", {{-2, 3}}, {-2, 3}, true},
    {"Add-14 f[2] f[2]", {{-1, 2}, {10, 20}}, {9, 22}, true},
    {"Sub-14 f[2] f[2]", {{-1, 2}, {10, 20}}, {-21, -8}, true},
    {"Mul-14 f[2] f[2]", {{-1, 2}, {10, 20}}, {-20, 40}, true},
    {"Div-14 f[2] f[2]", {{-1, 2}, {10, 20}}, {-0.1, 0.2}, true},
    {"Div-14 f[2] f[2]", {{-1, 2}, {-1, 1}}, ALL, true},
    {"Pow-15 f[2] f[]=2", {{-3, 2}}, {0, 9}, true},
    {"Pow-15 f[2] f[]=2", {{2, 3}}, {4, 9}, true},
    {"Pow-15 f[2] f[]=-2", {{2, 4}}, {0.0625, 0.25}, true},
    {"Pow-15 f[2] f[]=3", {{2, 3}}, {8, 27}, true},
    {"Pow-15 f[2] f[]=3", {{0, 3}}, {0, 27}, true},
    {"Pow-15 f[2] f[]=3", {{-2, 3}}, ALL, false},
    {"Pow-15 f[2] f[]=0.5", {{-4, 9}}, {0, 3}, true},
    {"Pow-15 f[2] f[]=0.5", {{4, 9}}, {2, 3}, true},
    {"Pow-15 f[2] f[]=-0.5", {{4, 16}}, {0.25, 0.5}, true},
    {"Pow-15 f[2] f[2]=2,2", {{2, 3}}, ALL, false},
    {"Clip-13 f[2] f[] f[]", {{-5, 5}, {-1, -1}, {2, 2}}, {-1, 2}, true},
    {"Clip-13 f[2] f[]", {{-5, 5}, {-1, -1}, ALL}, {-1, 5}, true},
    {"Clip-13 f[2] _ f[]", {{-5, 5}, ALL, {2, 2}}, {-5, 2}, true},
    {"Clip-13 f[2]", {{-5, 5}, {0, 0}, {0, 0}}, {-5, 5}, true},
    {"Clip-13 f[2] f[] f[]", {{-5, 5}, {3, 3}, {2, 2}}, {2, 2}, true},
    {"Clip-6 f[2] min=-1.0 max=2.0", {{-5, 5}}, {-1, 2}, true},
    {"Clip-6 f[2] min=-1.0", {{-5, 5}}, {-1, 5}, true},
    {"Clip-6 f[2] max=2.0", {{-5, 5}}, {-5, 2}, true},
    {"Max-13 f[2] f[2] f[2]", {{-1, 2}, {0, 1}, {-5, 3}}, {0, 3}, true},
    {"Min-13 f[2] f[2] f[2]", {{-1, 2}, {0, 1}, {-5, 3}}, {-5, 1}, true},
    {"Sum-13 f[2] f[2] f[2]", {{-1, 2}, {0, 1}, {-5, 3}}, {-6, 6}, true},
    {"Sum-13 f[2]", {{-1, 2}}, {-1, 2}, true},
    {"DequantizeLinear-13 u[2] f[] u[]", {{0, 255}, {2, 2}, {10, 10}}, {-20, 490}, true},
    {"DequantizeLinear-13 u[2] f[]", {{0, 255}, {2, 2}, {10, 10}}, {0, 510}, true},
    {"DequantizeLinear-13 u[2] f[] _", {{0, 255}, {2, 2}, {10, 10}}, {0, 510}, true},
    {"DequantizeLinear-13 u[2] f[2] u[2]", {{0, 255}, {1, 2}, {0, 10}}, {-20, 510}, true},
    {"Dropout-13 f[2] f[]", {{-1, 2}}, {-1, 2}, true},
    {"Dropout-13 f[2] f[] b[]", {{-1, 2}}, ALL, false},
    {"Dropout-7 f[2]", {{-1, 2}}, {-1, 2}, true},
    {"Dropout-6 f[2]", {{-1, 2}}, ALL, false},
    {"Cast-13 f[2] to=11", {{-1, 2}}, {-1, 2}, true},
    /* Of a number of elements that is not known. */
    {"ReduceMean-18 f[4]", {{1, 2}}, {0, INFINITY}, true},
    {"ReduceMean-18 f[4]", {{-2, -1}}, {-INFINITY, 0}, true},
    {"ReduceMean-18 f[4]", {{-2, 1}}, ALL, true},
    {"ReduceSum-13 f[4]", {{1, 2}}, {0, INFINITY}, true},
    {"ReduceSum-13 f[4]", {{-2, -1}}, {-INFINITY, 0}, true},
    {"ReduceSum-13 f[4]", {{-2, 1}}, ALL, true},
    {"ReduceL1-18 f[4]", {{-2, 1}}, {0, INFINITY}, true},
    {"ReduceSumSquare-18 f[4]", {{-2, 1}}, {0, INFINITY}, true},
    {"ReduceL2-18 f[4]", {{-2, 1}}, {0, INFINITY}, true},
    {"ReduceMax-18 f[4]", {{-2, 1}}, {-2, 1}, true},
    {"ReduceMin-18 f[4]", {{-2, 1}}, {-2, 1}, true},
};
#undef ALL

static void operators_bound_their_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof operator_cases / sizeof *operator_cases; i++)
        expect_bound(&operator_cases[i]);
    /* What is multiplied with itself. */
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), y = NODE("Mul", "y", x, x);
    const struct amp_interval in[] = {{-3, 2}, {-3, 2}};
    const struct amp_bound_call call = {
        .model = net.model, .node = amp_node_at(net.model, node_of(y)), .in = in};
    struct amp_interval out;
    assert_true(amp_op_find("", "Mul")->bound(&call, &out));
    assert_true(out.low == 0 && out.high == 9);
}

/* The call of the only node of LINE, whose inputs are constants or not. */
static struct amp_bound_call call_of(const char *line, enum one_way way,
                                     const struct amp_interval *in)
{
    one_node(line, way);
    return (struct amp_bound_call){.model = net.model,
                                   .node =
                                       amp_node_at(net.model, net.model->graphs[0].nodes.items[0]),
                                   .in = in};
}

/* The largest sum of magnitudes, or the number of weights times their largest magnitude, where that
   is known and enough. */
static void weights_are_read_where_their_largest_is_not_enough(void **state)
{
    static const struct {
        double largest, enough, bound;
    } cases[] = {{3, 6, 6}, {3, INFINITY, 6}, {3, 5.9, 3.5}, {0, 0, 0}, {-1, INFINITY, 3.5}};
    static const struct amp_interval in[] = {{-1, 1}, {-2, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_bound_call call =
            call_of("Conv-11 f[1,2,3] f[2,2,1]=1,-2,3,0.5 strides=[1]", ONE_CONSTANT, in);
        struct amp_interval out;
        amp_value_at(net.model, call.node->inputs[1])->constant_max = cases[i].largest;
        call.enough = cases[i].enough;
        assert_true(amp_bound_product(&call, &out));
        assert_true(fabs(out.high - cases[i].bound) < 1e-5 && out.low == -out.high);
    }
    static const char *const nan[] = {"Conv-11 f[1,2,3] f[2,2,1]=1,nan,3,0.5",
                                      "Conv-11 f[1,2,3] f[2,2,1]=1,2.5,3,nan"};
    for (size_t i = 0; i < 2;
         i++) { /* the channel's results are NaN, the other's 3.5 at the most */
        struct amp_bound_call call = call_of(nan[i], ONE_CONSTANT, in);
        struct amp_interval out;
        assert_true(amp_bound_product(&call, &out) && fabs(out.high - 3.5) < 1e-5);
    }
}

/* Nothing is known of sums of what is not bounded; nor of weights that have no channels, or are not
   known, unless the depth is. */
static void products_of_unbounded_elements_are_unknown(void **state)
{
    static const struct amp_interval bounded[] = {{-1, 1}, {-2, 3}, {-4, 5}},
                                     left[] = {{-INFINITY, 1}, {-2, 3}, {-4, 5}},
                                     added[] = {{-1, 1}, {-2, 3}, {-4, INFINITY}},
                                     zero[] = {{0, 0}, {-2, 3}, {-4, 5}};
    static const struct {
        const char *line;
        enum one_way way;
        const struct amp_interval *in;
        double bound; /* negative: nothing is said */
    } cases[] = {
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 f[1] alpha=-3.0 beta=2.0", ONE_CONSTANT, bounded, 25},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 f[1]", ONE_CONSTANT, bounded, 10},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 f[1]", ONE_CONSTANT, left, -1},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 f[1] alpha=0.0", ONE_CONSTANT, left, -1},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 f[1]", ONE_CONSTANT, added, -1},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 f[1] beta=0.0", ONE_CONSTANT, added, -1},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2 _", ONE_CONSTANT, added, 5},
        {"Gemm-13 f[2,4] f[4,1]=1,1,1,2", ONE_CONSTANT, added, 5},
        {"MatMul-13 f[2,4] f[4,1]=1,1,1,2", ONE_CONSTANT, added, 5},
        {"Conv-11 f[1,4,1] f[1,4,1]=1,1,1,2 f[1]", ONE_CONSTANT, added, -1},
        {"Conv-11 f[1,4,1] f[1,4,1]=1,1,1,2 f[1]", ONE_CONSTANT, bounded, 10},
        {"MatMul-13 f[2,4] f[4,1]", ONE_GIVEN, bounded, 12},
        {"MatMul-13 f[2,4] f[4,1]", ONE_UNKNOWN, bounded, INFINITY},
        {"MatMul-13 f[2,4] f[4,1]", ONE_HEAD, bounded, 13.5}, /* of 2^20 */
        {"MatMul-13 f[2,4] f[4,1]", ONE_FIRST, bounded, 13.5},
        {"MatMul-13 f[2,4] f[4,0]", ONE_GIVEN, bounded, 13.5},
        {"MatMul-13 f[2,4] _", ONE_GIVEN, bounded, 13.5},
        {"MatMul-13 f[2,4] f[4,1]=1,1,1,2 f[1]", ONE_CONSTANT, bounded, 5}, /* it takes two */
        {"Conv-11 f[1,4,1] f[1,4,1]", ONE_GIVEN, bounded, INFINITY},
        {"Conv-11 f[1,4,1] f[4]", ONE_CONSTANT, bounded, INFINITY},
        {"Conv-11 f[1,4,1] f[4]", ONE_CONSTANT, zero, 0},
        {"MatMul-13 f[2,4] f[4,1]", ONE_UNKNOWN, zero, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_bound_call call = call_of(cases[i].line, cases[i].way, cases[i].in);
        struct amp_interval out = {7, 7};
        call.reads_weights = true;
        bool says = amp_bound_product(&call, &out);
        bool is_right = fabs(out.high - cases[i].bound) < 1e-4 || out.high == cases[i].bound;
        if (says != (cases[i].bound >= 0) || (says && (!is_right || out.low != -out.high)))
            fail_msg("%s: %g to %g", cases[i].line, out.low, out.high);
    }
}

/* What is known of an input, which may be omitted or not be there. */
static void inputs_tell_their_dims_and_numbers(void **state)
{
    struct amp_bound_call call = call_of("Clip-13 f[2,3]=1,2,3,4,5,6 _ f[]=7", ONE_CONSTANT, NULL);
    static const int64_t dims[] = {0, 2, 3, 2, 3, 0}; /* -3 to 2 */
    double number = 0;
    (void)state;
    for (int d = -3; d < 3; d++) {
        assert_int_equal(amp_bound_dim(&call, 0, d), dims[d + 3]);
        for (uint32_t i = 1; i < 4; i++)
            assert_int_equal(amp_bound_dim(&call, i, d), 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(amp_bound_constant(&call, i) != NULL, i == 0 || i == 2);
        assert_int_equal(amp_bound_number(&call, i, &number), i == 2);
        assert_true(number == (i < 2 ? 0 : 7));
    }
    call = call_of("Clip-13 f[2,3] f[] f[]", ONE_RANKED, NULL);
    assert_int_equal(amp_bound_dim(&call, 0, 0), 0);
    assert_false(amp_bound_number(&call, 1, &number));
    call = call_of("Clip-13 f[2,3] f[] f[]", ONE_UNKNOWN, NULL);
    assert_int_equal(amp_bound_dim(&call, 0, 0), 0);
    assert_int_equal(amp_bound_dim(&call, 0, -1), 0);
}

/* By the dims of what goes in that those of the result lack. */
static void elements_of_one_result_are_counted(void **state)
{
    enum { A = -2, B = -3, ANY = AMP_DIM_UNKNOWN };
    const struct {
        struct amp_shape in, out;
        int64_t count;
    } cases[] = {{DIMS(2, 3, 5), DIMS(2, 5), 3},
                 {DIMS(2, 3, 5), DIMS(2, 1, 5), 3},
                 {DIMS(2, 3, 5), DIMS(1, 1, 1), 30},
                 {DIMS(2, 3, 5), {.rank = 0}, 30},
                 {DIMS(2, 3, 5), DIMS(2, 3, 5), 1},
                 {DIMS(3, 3), DIMS(3), 3},
                 {DIMS(2, 0), DIMS(2), 0},
                 {DIMS(A, 3), DIMS(A), 3},
                 {DIMS(A, B), DIMS(B, 1), -1},
                 {DIMS(A, 3), DIMS(3), -1},
                 {DIMS(A, ANY), DIMS(A), -1},
                 {DIMS(ANY, 3), DIMS(ANY), -1},
                 {DIMS(2, 3), DIMS(ANY), -1},
                 {DIMS(2, 3), DIMS(2, 4), -1},
                 {DIMS(2, 3), ANY_DIMS, -1},
                 {ANY_DIMS, DIMS(2, 3), -1},
                 {ANY_DIMS, DIMS(1, 1), -1},
                 {ANY_DIMS, {.rank = 0}, -1},
                 {ANY_DIMS, ANY_DIMS, -1},
                 {DIMS(INT64_MAX), {.rank = 0}, INT64_MAX},
                 {DIMS(INT64_MAX, 2), {.rank = 0}, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_bound_call call = call_of("ReduceSum-13 f[2,3]", ONE_GIVEN, NULL);
        amp_value_set_shape(net.model, call.node->inputs[0], &cases[i].in);
        amp_value_set_shape(net.model, call.node->outputs[0], &cases[i].out);
        if (amp_bound_reduced(&call) != cases[i].count)
            fail_msg("case %zu: %lld elements", i, (long long)amp_bound_reduced(&call));
    }
    struct amp_bound_call call = call_of("ReduceSum-13 _ i[1]", ONE_GIVEN, NULL);
    assert_int_equal(amp_bound_reduced(&call), -1);
}

/* ---- range ----------------------------------------------------------------------------------- */

/* What is seen of the elements of a value: counts, magnitudes and energies of known elements. The
   limits of float16 are those of IEEE 754. */

static struct amp_tensor tensor_of(enum amp_dtype dtype, void *data, int64_t count)
{
    return (struct amp_tensor){.dtype = dtype, .shape = {.rank = 1, .dims = {count}}, .data = data};
}

static void elements_are_counted(void **state)
{
    static float items[] = {3, -4, 0, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-25f, 0x1.8p-25f};
    struct amp_tensor tensor = tensor_of(AMP_FLOAT, items, 9);
    struct amp_range range = {.count = 0};
    (void)state;
    amp_range_add(&range, &tensor);
    assert_int_equal(range.count, 9);
    assert_int_equal(range.nan, 1);
    assert_int_equal(range.infinite, 2);
    assert_int_equal(range.zeros, 2);
    assert_true(range.minimum == -4 && range.maximum == 3 && amp_range_largest(&range) == 4);
    assert_true(range.smallest == 0x1p-25);
    assert_true(range.energy >= 25 && range.energy < 25 + 0x1p-40);
    assert_true(range.flushed == 0x1p-50); /* 2^-25 ties to 0, which is even */
}

static void nothing_finite_gives_no_numbers(void **state)
{
    static double items[] = {NAN, INFINITY};
    struct amp_tensor tensor = tensor_of(AMP_DOUBLE, items, 2);
    struct amp_range range = {.count = 0};
    (void)state;
    amp_range_add(&range, &tensor);
    assert_int_equal(range.count, 2);
    assert_true(amp_range_largest(&range) == 0 && range.smallest == 0 && range.energy == 0);
    static double later[] = {5, 7};
    tensor = tensor_of(AMP_DOUBLE, later, 2);
    amp_range_add(&range, &tensor);
    assert_true(range.minimum == 5 && range.maximum == 7 && range.smallest == 5);
    assert_int_equal(range.count, 4);
}

static void halves_and_lists_count_and_integers_do_not(void **state)
{
    static uint16_t halves[] = {0x3c00, 0xfbff}, bfloats[] = {0x4040}; /* 1, -65504; 3 */
    static int64_t integers[] = {9};
    struct amp_tensor items[] = {tensor_of(AMP_FLOAT16, halves, 2),
                                 tensor_of(AMP_INT64, integers, 1),
                                 tensor_of(AMP_BFLOAT16, bfloats, 1)};
    struct amp_tensor list = tensor_of(AMP_FLOAT, items, 3);
    struct amp_range range = {.count = 0};
    (void)state;
    list.form = AMP_FORM_SEQUENCE;
    amp_range_add(&range, &list);
    assert_int_equal(range.count, 3);
    assert_true(range.minimum == -65504 && range.maximum == 3 && range.smallest == 1);
}

static void many_elements_are_all_seen(void **state)
{
    enum { COUNT = 200001 };
    float *items = calloc(COUNT, sizeof *items);
    struct amp_tensor tensor = tensor_of(AMP_FLOAT, items, COUNT);
    (void)state;
    static const size_t places[] = {0, 1023, 1024, 65535, 65536, 199999, 200000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct amp_range range = {.count = 0};
        items[places[i]] = 2;
        amp_range_add(&range, &tensor);
        assert_int_equal(range.count, COUNT);
        assert_int_equal(range.zeros, COUNT - 1);
        assert_true(range.maximum == 2 && range.energy == 4 && range.smallest == 2);
        items[places[i]] = 0;
    }
    free(items);
}

/* ---- what dtypes make of bounds -------------------------------------------------------------- */

/* The interval of VALUE where X is told to be within LOW and HIGH. */
static struct amp_interval bounds_given(uint32_t x, double low, double high, uint32_t value)
{
    struct amp_ranges *known = amp_ranges_create(net.arena);
    struct amp_value_range *entry = amp_ranges_entry(known, amp_value_at(net.model, x)->name);
    entry->proved = (struct amp_interval){low, high};
    entry->rule = "given";
    infer_all();
    struct amp_bounds *bounds = amp_bounds_create(net.model, known, true);
    struct amp_interval found = amp_bounds_of(bounds, value);
    amp_bounds_destroy(bounds);
    return found;
}

/* Integers have the ends of their types, which a sum may wrap around; floats and texts have none.
 */
static void dtypes_have_their_ends(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        double low, high;
    } rows[] = {{AMP_BOOL, 0, 1},
                {AMP_UINT4, 0, 15},
                {AMP_INT4, -8, 7},
                {AMP_UINT8, 0, 255},
                {AMP_INT8, -128, 127},
                {AMP_UINT16, 0, 65535},
                {AMP_INT16, -32768, 32767},
                {AMP_UINT32, 0, 4294967295.0},
                {AMP_INT32, -2147483648.0, 2147483648.0},
                {AMP_UINT64, 0, 18446744073709551616.0},
                {AMP_INT64, -9223372036854775808.0, 9223372036854775808.0},
                {AMP_FLOAT, -INFINITY, INFINITY},
                {AMP_DOUBLE, -INFINITY, INFINITY},
                {AMP_FLOAT16, -INFINITY, INFINITY},
                {AMP_BFLOAT16, -INFINITY, INFINITY},
                {AMP_STRING, -INFINITY, INFINITY}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t y = start_one("Identity", 22, rows[i].dtype, DIMS(2));
        uint32_t x = net.model->graphs[0].inputs.items[0];
        infer_all();
        struct amp_bounds *bounds = amp_bounds_create(net.model, NULL, true);
        is(amp_bounds_of(bounds, x), rows[i].low, rows[i].high);
        is(amp_bounds_of(bounds, y), rows[i].low, rows[i].high);
        amp_bounds_destroy(bounds);
    }
    net_start(22);
    uint32_t x = input("x", AMP_INT8, DIMS(2)), y = NODE("Add", "y", x, x);
    output(y);
    is(bounds_given(x, 1, 2, y), -128, 127);
}

/* Results are rounded: up to an infinity, down to the least number or to 0, and a little off in
   between. What is only moved stays what it is. */
static void results_are_rounded_to_their_dtype(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        double share, tiny, largest;
    } rows[] = {{AMP_FLOAT, 0x1p-20, 0x1p-126, 0x1.fffffep127},
                {AMP_FLOAT16, 0x1p-9, 0x1p-24, 65504},
                {AMP_BFLOAT16, 0x1p-6, 0x1p-126, 0x1.fep127},
                {AMP_DOUBLE, 0x1p-40, 0x1p-1022, 0x1.fffffffffffffp1023}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double tiny = rows[i].tiny, largest = rows[i].largest, share = rows[i].share;
        const struct amp_interval cases[][2] = {
            {{2, 4}, {2 - 2 * share, 4 + 4 * share}},
            {{-4, 2}, {-4 - 4 * share, 2 + 2 * share}},
            {{0, 0}, {0, 0}},
            {{tiny / 4, tiny / 2}, {0, tiny}},
            {{-tiny / 2, -tiny / 4}, {-tiny, 0}},
            {{-tiny / 4, tiny / 4}, {-tiny, tiny}},
            {{tiny * 4, 1}, {tiny * 4 - tiny * 4 * share, 1 + share}},
            {{1, largest}, {1 - share, INFINITY}},
            {{-largest, -1}, {-INFINITY, -1 + share}},
            {{1, largest / 2}, {1 - share, largest / 2 + largest / 2 * share}},
            {{largest * 2, largest * 4}, {largest, INFINITY}},
            {{-largest * 4, -largest * 2}, {-INFINITY, -largest}}};
        size_t count = sizeof cases / sizeof *cases - (rows[i].dtype == AMP_DOUBLE ? 2 : 0);
        for (size_t k = 0; k < count; k++) {
            net_start(22);
            uint32_t x = input("x", rows[i].dtype, DIMS(2));
            uint32_t y = NODE("Neg", "y", NODE("Neg", "negative", NODE("Identity", "moved", x)));
            output(y);
            uint32_t moved = net_out(0, 0), negative = net_out(1, 0);
            struct amp_interval given = cases[k][0], wanted = cases[k][1];
            is(bounds_given(x, given.low, given.high, moved), given.low, given.high);
            is(bounds_given(x, given.low, given.high, negative), -wanted.high, -wanted.low);
        }
    }
}

/* Moved elements are within the inputs of their dtype, or 0 where gaps may be; all outputs are. */
static void moved_elements_stay_what_they_are(void **state)
{
    static const int64_t zero = 0, two = 2, one_step = 1;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t slice = NODE("Slice", "slice", x, constant("from", AMP_INT64, DIMS(1), &zero),
                          constant("to", AMP_INT64, DIMS(1), &two), AMP_NONE,
                          constant("step", AMP_INT64, DIMS(1), &one_step));
    uint32_t split = net_node(0, "Split", "split", 2, IDS(x));
    amp_node_set_int(net.model, split, "num_outputs", 2);
    uint32_t joined = NODE("Concat", "joined", x, FLOATS("c", 9, 5));
    set_int(joined, "axis", 0);
    uint32_t shaped = NODE("Reshape", "shaped", x, constant("shape", AMP_INT64, DIMS(1), &two));
    amp_node_at(net.model, node_of(shaped))->inputs[1] = NUMBERS("dims", 2, 2);
    output(slice);
    output(net_out(split, 0));
    output(net_out(split, 1));
    output(joined);
    output(shaped);
    is(bounds_given(x, 3, 4, shaped), 3, 4);
    assert_true(bounds_given(x, 3, 4, slice).high == 4);
    assert_true(bounds_given(x, -4, -3, slice).low == -4);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(bounds_given(x, 3, 4, net_out(split, i)).high == 4);
    assert_true(bounds_given(x, 3, 4, joined).high == 9);
    assert_true(bounds_given(x, -3, 4, joined).low == -3);
    assert_true(bounds_given(x, 3, 12, joined).high == 12);
}

/* What is noted: of the main graph's floats that are no constants what is proved. */
static void proofs_are_noted_by_name(void **state)
{
    struct amp_ranges *ranges = amp_ranges_create(net.arena);
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2)), n = input("n", AMP_INT8, DIMS(2));
    uint32_t c = FLOATS("c", 1, 2);
    output(NODE("Sigmoid", "s", x));
    output(NODE("Relu", "r", x));
    output(NODE("Identity", "moved", n));
    output(NODE("Neg", "negative", x));
    output(NODE("Identity", "constant", c));
    infer_all();
    amp_bounds_note(net.model, ranges);
    assert_int_equal(ranges->count, 2);
    assert_string_equal(ranges->items[0].name, "s");
    assert_string_equal(ranges->items[0].rule, "Sigmoid");
    is(ranges->items[0].proved, 0, 1 + 0x1p-20);
    assert_string_equal(ranges->items[1].name, "r");
    assert_string_equal(ranges->items[1].rule, "Relu");
    is(ranges->items[1].proved, 0, INFINITY);
}

/* ---- files of ranges ------------------------------------------------------------------------- */

/* Reads TEXT as a file: what it says, or what is said of it behind the path. */
static const char *read_ranges(struct amp_arena *arena, const char *text,
                               struct amp_ranges **ranges)
{
    char folder[SCRATCH_MAX];
    scratch_folder(folder, sizeof folder);
    const char *path = amp_arena_printf(arena, "%s/r.json", folder);
    struct amp_error err = {.status = AMP_OK};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
    enum amp_status status = amp_ranges_read(path, arena, ranges, &err);
    unlink(path);
    rmdir(folder);
    if (status == AMP_OK)
        return NULL;
    assert_int_equal(status, AMP_RULES);
    assert_memory_equal(err.text, path, strlen(path));
    return amp_arena_strdup(arena, err.text + strlen(path));
}

#define FILE_OF(entry)                                                                  \
    "{\"ampconv-ranges\": 1, \"inputs\": \"k\", \"source\": \"data\", \"samples\": 2, " \
    "\"values\": {\"x\": " entry "}}"
#define COUNTS(count, nan, infinite) \
    "{\"count\": " count ", \"nan\": " nan ", \"infinite\": " infinite ", \"zeros\": 0, "
#define SUMMARY(min, max, smallest, energy, flushed)                                      \
    "\"min\": " min ", \"max\": " max ", \"smallest\": " smallest ", \"energy\": " energy \
    ", \"flushed\": " flushed

/* Numbers that agree with each other, also where they are as near as can be; others are named. */
static void files_of_ranges_have_numbers_that_agree(void **state)
{
    static const char *const right[] = {
        FILE_OF(COUNTS("4", "1", "1") SUMMARY("-1.5", "2", "0.5", "8", "1") "}"),
        FILE_OF(COUNTS("2", "1", "1") SUMMARY("2", "2", "0", "8", "8") "}"),
        FILE_OF(COUNTS("0", "0", "0") SUMMARY("0", "0", "0", "0", "0") "}"),
        FILE_OF("{\"bound\": [1, 1], \"rule\": \"Clip\"}"),
        FILE_OF("{\"bound\": [null, null], \"rule\": \"Clip\"}"),
        FILE_OF("{}"),
        "{\"ampconv-ranges\": 1, \"inputs\": \"\", \"source\": \"none\", \"samples\": 0, "
        "\"values\": {}}"};
    static const struct {
        const char *text, *said;
    } wrong[] = {
        {FILE_OF(COUNTS("-1", "0", "0") SUMMARY("0", "0", "0", "0", "0") "}"),
         ": values.'x'.count: -1; accepted: a number of elements"},
        {FILE_OF(COUNTS("1.5", "0", "0") SUMMARY("0", "0", "0", "0", "0") "}"),
         ": values.'x'.count: 1.5; accepted: a number of elements"},
        {FILE_OF(COUNTS("4", "null", "0") SUMMARY("0", "0", "0", "0", "0") "}"),
         ": values.'x'.nan: null; accepted: a number of elements"},
        {FILE_OF("{\"count\": 4}"), ": values.'x'.nan: nothing; accepted: a number of elements"},
        {FILE_OF(COUNTS("4", "5", "0") SUMMARY("0", "0", "0", "0", "0") "}"),
         ": values.'x'.count: 4; accepted: at least nan and infinite together"},
        {FILE_OF(COUNTS("4", "2", "3") SUMMARY("0", "0", "0", "0", "0") "}"),
         ": values.'x'.count: 4; accepted: at least nan and infinite together"},
        {FILE_OF(COUNTS("4", "0", "0") SUMMARY("true", "0", "0", "0", "0") "}"),
         ": values.'x'.min: true; accepted: a finite number"},
        {FILE_OF(COUNTS("4", "0", "0") SUMMARY("2.5", "2", "0", "0", "0") "}"),
         ": values.'x'.min: 2.5; accepted: at most max"},
        {FILE_OF(COUNTS("4", "0", "0") SUMMARY("0", "2", "-0.5", "0", "0") "}"),
         ": values.'x'.smallest: -0.5; accepted: a finite number, 0 or more"},
        {FILE_OF(COUNTS("4", "0", "0") SUMMARY("0", "2", "0", "0.5", "1") "}"),
         ": values.'x'.flushed: 1; accepted: at most energy"},
        {FILE_OF("{\"bound\": [1, 1]}"), ": values.'x'.rule: nothing; accepted: a text"},
        {FILE_OF("{\"bound\": [1, 0.5], \"rule\": \"Clip\"}"),
         ": values.'x'.bound: 1; accepted: the lower number first"},
        {FILE_OF("{\"bound\": [1, 2, 3], \"rule\": \"Clip\"}"),
         ": values.'x'.bound: a list; accepted: a list of two numbers, null for none"},
        {FILE_OF("{\"bound\": [1], \"rule\": \"Clip\"}"),
         ": values.'x'.bound: a list; accepted: a list of two numbers, null for none"},
        {FILE_OF("{\"bound\": 1, \"rule\": \"Clip\"}"),
         ": values.'x'.bound: 1; accepted: a list of two numbers, null for none"},
        {FILE_OF("{\"bound\": [false, 1], \"rule\": \"Clip\"}"),
         ": values.'x'.bound: false; accepted: two numbers, null for none"},
        {FILE_OF("{\"bound\": [1, {}], \"rule\": \"Clip\"}"),
         ": values.'x'.bound: an object; accepted: two numbers, null for none"},
        {FILE_OF("{\"lowest\": 1}"), ": values.'x'.lowest: 1; accepted: count, nan, infinite, "
                                     "zeros, min, max, smallest, energy, flushed, bound and rule"},
        {FILE_OF("[]"), ": x: a list; accepted: an object"},
        {"{\"ampconv-ranges\": 2}",
         ": ampconv-ranges: 2; accepted: 1, in a file that ampconv calibrate wrote"},
        {"{\"ampconv-ranges\": \"1\"}",
         ": ampconv-ranges: \"1\"; accepted: 1, in a file that ampconv calibrate wrote"},
        {"{}", ": ampconv-ranges: nothing; accepted: 1, in a file that ampconv calibrate wrote"},
        {"{\"ampconv-ranges\": 1}",
         ": source: nothing; accepted: \"data\", \"random\" or \"none\""},
        {"{\"ampconv-ranges\": 1, \"source\": \"non\"}",
         ": source: \"non\"; accepted: \"data\", \"random\" or \"none\""},
        {"{\"ampconv-ranges\": 1, \"source\": \"none\"}",
         ": samples: nothing; accepted: a number of samples"},
        {"{\"ampconv-ranges\": 1, \"source\": \"none\", \"samples\": -1}",
         ": samples: -1; accepted: a number of samples"},
        {"{\"ampconv-ranges\": 1, \"source\": \"none\", \"samples\": 0, \"inputs\": 1}",
         ": inputs: 1; accepted: the hash of a model's inputs"},
        {"{\"ampconv-ranges\": 1, \"source\": \"none\", \"samples\": 0, \"inputs\": \"\"}",
         ": values: nothing; accepted: an object, of an entry per value"},
        {"[1]", ": the file: a list; accepted: an object"},
        {"", ":1:0: '[' or '{' expected near end of file; accepted: JSON"}};
    struct amp_arena *arena = amp_arena_create();
    struct amp_ranges *ranges;
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const char *said = read_ranges(arena, right[i], &ranges);
        if (said != NULL)
            fail_msg("file %zu%s", i, said);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *said = read_ranges(arena, wrong[i].text, &ranges);
        assert_non_null(said);
        assert_string_equal(said, wrong[i].said);
    }
    assert_null(read_ranges(arena, right[0], &ranges));
    assert_int_equal(ranges->source, AMP_RANGES_DATA);
    assert_int_equal(ranges->n_samples, 2);
    assert_string_equal(ranges->inputs, "k");
    assert_int_equal(ranges->count, 1);
    const struct amp_value_range *x = amp_ranges_find(ranges, "x");
    assert_ptr_equal(x, ranges->items);
    assert_true(x->seen.count == 4 && x->seen.nan == 1 && x->seen.infinite == 1);
    assert_true(x->seen.minimum == -1.5 && x->seen.maximum == 2 && x->seen.smallest == 0.5);
    assert_true(x->seen.energy == 8 && x->seen.flushed == 1);
    assert_null(x->rule);
    assert_null(read_ranges(arena, FILE_OF("{\"bound\": [null, 3], \"rule\": \"Clip\"}"), &ranges));
    x = amp_ranges_find(ranges, "x");
    assert_int_equal(x->seen.count, 0);
    assert_string_equal(x->rule, "Clip");
    assert_true(isinf(x->proved.low) && x->proved.low < 0 && x->proved.high == 3);
    assert_null(amp_ranges_find(ranges, "y"));
    amp_arena_destroy(arena);
}

/* ---- ranges of a model's values -------------------------------------------------------------- */

static const char *key_of_inputs(const char *first, enum amp_dtype dtype, struct amp_shape shape,
                                 const char *second)
{
    net_start(17);
    input(first, dtype, shape);
    if (second != NULL)
        input(second, AMP_INT64, DIMS(4));
    const char *key = amp_ranges_key(net.model, net.arena);
    assert_int_equal(strlen(key), 16);
    assert_memory_not_equal(key, key + 8, 8); /* two hashes, of seeds of their own */
    return key;
}

/* The key is of the inputs' names, dtypes and known dims, in their order, and of nothing else. */
static void keys_tell_inputs_apart(void **state)
{
    (void)state;
    const char *keys[] = {key_of_inputs("x", AMP_FLOAT, DIMS(2, 3), NULL),
                          key_of_inputs("y", AMP_FLOAT, DIMS(2, 3), NULL),
                          key_of_inputs("xx", AMP_FLOAT, DIMS(2, 3), NULL),
                          key_of_inputs("x", AMP_DOUBLE, DIMS(2, 3), NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(2, 4), NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(1, 3), NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(2, 3, 1), NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(2, -1), NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(-1, 3), NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(0, 3), NULL),
                          key_of_inputs("x", AMP_FLOAT, SCALAR, NULL),
                          key_of_inputs("x", AMP_FLOAT, DIMS(2, 3), "n"),
                          key_of_inputs("x", AMP_FLOAT, DIMS(2, 3), "m")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    assert_string_equal(key_of_inputs("x", AMP_FLOAT, DIMS(2, -7), NULL), keys[7]);
    assert_string_equal(key_of_inputs("x", AMP_FLOAT, DIMS(-2, 3), NULL), keys[8]);
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    output(NODE("Neg", "y", x));
    assert_string_equal(amp_ranges_key(net.model, net.arena), keys[0]);
}

/* Entries are found by name, and those count as unknown that name no value of the main graph. */
static void entries_are_of_values_by_name(void **state)
{
    struct amp_ranges *ranges = amp_ranges_create(net.arena);
    const char *first = NULL;
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), y = NODE("If", "y", input("c", AMP_BOOL, SCALAR));
    uint32_t body = amp_graph_add(net.model, "body", node_of(y));
    net_value_in(body, "inner", AMP_FLOAT, DIMS(2));
    output(y);
    output(NODE("Neg", "z", x));
    assert_int_equal(amp_ranges_count_unknown(ranges, net.model, &first), 0);
    assert_null(first);
    struct amp_value_range *entry = amp_ranges_entry(ranges, "x");
    assert_null(entry->rule);
    assert_true(entry->proved.low == -INFINITY && entry->proved.high == INFINITY);
    assert_int_equal(entry->seen.count, 0);
    entry->rule = "given";
    assert_string_equal(amp_ranges_entry(ranges, "x")->rule, "given");
    assert_int_equal(ranges->count, 1);
    assert_int_equal(amp_ranges_count_unknown(ranges, net.model, &first), 0);
    amp_ranges_entry(ranges, "inner");
    assert_int_equal(amp_ranges_count_unknown(ranges, net.model, &first), 1);
    assert_string_equal(first, "inner");
    amp_ranges_entry(ranges, "nobody");
    amp_ranges_entry(ranges, "z");
    assert_int_equal(amp_ranges_count_unknown(ranges, net.model, &first), 2);
    assert_string_equal(first, "inner");
    assert_ptr_equal(amp_ranges_find(ranges, "nobody"), &ranges->items[2]);
    assert_null(amp_ranges_find(ranges, "y"));
}

/* What is written of ranges is read again, with all its digits and ends; where it was seen has its
   words. */
static void ranges_are_written_as_they_are(void **state)
{
    static const char *const names[] = {"none", "data", "random"};
    static const char *const evidence[] = {"proved", "in data", "in random inputs"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char folder[SCRATCH_MAX];
        struct amp_ranges *ranges = amp_ranges_create(net.arena), *back = NULL;
        ranges->source = (enum amp_range_source)i;
        ranges->inputs = "0123456789abcdef";
        ranges->n_samples = 7;
        struct amp_value_range *x = amp_ranges_entry(ranges, "x");
        x->seen = (struct amp_range){.count = 9,
                                     .nan = 1,
                                     .infinite = 2,
                                     .zeros = 3,
                                     .minimum = -1.0 / 3,
                                     .maximum = 0x1.fffffffffffffp1,
                                     .smallest = 0x1p-60,
                                     .energy = 5,
                                     .flushed = 4};
        struct amp_value_range *y = amp_ranges_entry(ranges, "y");
        y->rule = "Relu";
        y->proved = (struct amp_interval){0.1, INFINITY};
        amp_ranges_entry(ranges, "z")->rule = "given";
        scratch_folder(folder, sizeof folder);
        const char *path = amp_arena_printf(net.arena, "%s/r.json", folder);
        assert_int_equal(amp_ranges_write(ranges, "m.onnx", path, &net.err), AMP_OK);
        assert_int_equal(amp_ranges_read(path, net.arena, &back, &net.err), AMP_OK);
        char text[4096] = "";
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_true(fread(text, 1, sizeof text - 1, file) > 0);
        fclose(file);
        const char *counts = strstr(text, "\"count\"");
        assert_non_null(counts); /* of x alone, as nothing was seen of others */
        assert_null(strstr(counts + 1, "\"count\""));
        unlink(path);
        rmdir(folder);
        assert_int_equal(back->source, ranges->source);
        assert_string_equal(back->inputs, ranges->inputs);
        assert_int_equal(back->n_samples, 7);
        assert_int_equal(back->count, 3);
        for (size_t k = 0; k < 3; k++) {
            const struct amp_value_range *was = &ranges->items[k];
            const struct amp_value_range *is = amp_ranges_find(back, was->name);
            assert_non_null(is);
            assert_memory_equal(&is->seen, &was->seen, sizeof is->seen);
            assert_true(is->proved.low == was->proved.low && is->proved.high == was->proved.high);
            assert_int_equal(is->rule != NULL, was->rule != NULL);
            if (is->rule != NULL)
                assert_string_equal(is->rule, was->rule);
        }
        assert_string_equal(amp_range_source_name(ranges->source), names[i]);
        assert_string_equal(amp_range_evidence(ranges->source), evidence[i]);
    }
}

/* ---- what is asked for bounds ---------------------------------------------------------------- */

/* A node OP_TYPE of N_INPUTS, all of them X, with N_OUTPUTS float32 tensors, which nothing checks.
 */
static struct amp_node *add_unchecked(const char *op_type, uint32_t x, uint32_t n_inputs,
                                      uint32_t n_outputs)
{
    const uint32_t inputs[] = {x, x, x, x};
    uint32_t id = net_node(0, op_type, "y", n_outputs, inputs, n_inputs);
    for (uint32_t i = 0; i < n_outputs; i++) {
        amp_value_at(net.model, net_out(id, i))->kind = AMP_KIND_TENSOR;
        amp_value_at(net.model, net_out(id, i))->dtype = AMP_FLOAT;
    }
    return amp_node_at(net.model, id);
}

/* The bounds of VALUE where those of what is called x are known to be 3 and 4. */
static struct amp_interval bounds_by_hand(uint32_t value)
{
    struct amp_ranges *known = amp_ranges_create(net.arena);
    struct amp_value_range *x = amp_ranges_entry(known, "x");
    x->proved = (struct amp_interval){3, 4};
    x->rule = "given";
    struct amp_value_range *y = amp_ranges_entry(known, "y"); /* no input */
    y->proved = (struct amp_interval){1, 2};
    y->rule = "given";
    amp_ranges_entry(known, "z")->proved = (struct amp_interval){1, 2}; /* by no rule */
    struct amp_bounds *bounds = amp_bounds_create(net.model, known, false);
    struct amp_interval found = amp_bounds_of(bounds, value);
    amp_bounds_destroy(bounds);
    return found;
}

/* Nodes have bounds where their operators know some, and they have the inputs and outputs that
   these need. */
static void nodes_without_what_they_need_have_no_bounds(void **state)
{
    enum {
        PLAIN,
        UNKNOWN,
        NO_INPUT,
        TOO_FEW,
        NO_SCHEMA,
        NO_SCHEMA_TWO,
        ABSENT_INPUT,
        NO_OUTPUT,
        ABSENT_OUTPUT,
        SEQUENCE,
        CONSTANT,
        CASES
    };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        static const float half = 0.5f;
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2));
        const char *op_type = i == UNKNOWN ? "Any" : i == TOO_FEW ? "Add" : "Sigmoid";
        struct amp_node *node = add_unchecked(op_type, x,
                                              i == NO_INPUT                        ? 0
                                              : i == NO_SCHEMA_TWO || i == UNKNOWN ? 2
                                                                                   : 1,
                                              i == NO_OUTPUT ? 0 : 1);
        uint32_t y = i == NO_OUTPUT ? x : node->outputs[0];
        if (i == NO_SCHEMA || i == NO_SCHEMA_TWO)
            node->schema = NULL;
        if (i == ABSENT_INPUT)
            node->inputs[0] = AMP_NONE;
        if (i == ABSENT_OUTPUT)
            node->outputs[0] = AMP_NONE;
        if (i == SEQUENCE)
            amp_value_at(net.model, y)->kind = AMP_KIND_SEQUENCE;
        if (i == CONSTANT)
            amp_value_at(net.model, y)->constant = net_tensor(AMP_FLOAT, SCALAR, &half);
        struct amp_interval found = bounds_by_hand(y);
        bool is_bounded = i == PLAIN || i == NO_SCHEMA_TWO;
        if (i == NO_OUTPUT)
            is(found, 3, 4);
        else if (i == CONSTANT)
            is(found, 0.5, 0.5);
        else if (!is_bounded)
            is(found, -INFINITY, INFINITY);
        else
            assert_true(found.low >= 0 && found.low < 1 && found.high >= 0.98 && found.high < 1.01);
    }
}

/* Outputs of moved elements are bounded where they are of the dtype of what is moved, which are
   tensors; operators that neither move nor know bounds give none. */
static void moved_elements_are_of_one_dtype(void **state)
{
    const struct amp_schema *schema;
    bool is_any = false;
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), z = input("z", AMP_FLOAT, DIMS(2));
    struct amp_node *split = add_unchecked("Split", x, 1, 3);
    amp_value_at(net.model, split->outputs[1])->dtype = AMP_INT8;
    uint32_t first = split->outputs[0], second = split->outputs[1], third = split->outputs[2];
    is(bounds_by_hand(first), 0, 4);
    is(bounds_by_hand(second), -128, 127);
    is(bounds_by_hand(third), 0, 4);
    is(bounds_by_hand(x), 3, 4);
    is(bounds_by_hand(z), -INFINITY, INFINITY);
    split->outputs[1] = AMP_NONE;
    is(bounds_by_hand(third), 0, 4);
    uint32_t other = add_unchecked("Transpose", x, 1, 1)->outputs[0];
    amp_value_at(net.model, other)->dtype = AMP_INT8;
    is(bounds_by_hand(other), -128, 127);
    amp_value_at(net.model, x)->kind = AMP_KIND_SEQUENCE;
    is(bounds_by_hand(first), -INFINITY, INFINITY);
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++) {
        const struct amp_op *op = amp_op_find(schema->domain, schema->name);
        if (op == NULL || op->bound != NULL || op->effect == AMP_PRESERVES_VALUES ||
            schema->domain[0] != '\0' || schema->min_inputs > 4)
            continue;
        net_start(17);
        x = input("x", AMP_FLOAT, DIMS(2));
        struct amp_node *node = add_unchecked(schema->name, x, 4, 1);
        is(bounds_by_hand(node->outputs[0]), -INFINITY, INFINITY);
        is_any = true;
    }
    assert_true(is_any);
}

/* What is known is known of inputs of the main graph. */
static void bodies_have_inputs_of_their_own(void **state)
{
    (void)state;
    net_start(17);
    uint32_t c = input("c", AMP_BOOL, SCALAR), y = NODE("If", "out", c);
    uint32_t body = amp_graph_add(net.model, "body", node_of(y));
    uint32_t inner = net_value_in(body, "x", AMP_FLOAT, DIMS(2));
    amp_value_at(net.model, inner)->is_input = true;
    is(bounds_by_hand(inner), -INFINITY, INFINITY);
    is(bounds_by_hand(c), 0, 1);
}

/* Weights of any size are read where bounds are noted, and for the sums of a product. */
static void large_weights_are_read(void **state)
{
    static float weights[64 * 65];
    const struct amp_interval in[] = {{-1, 1}, {-INFINITY, INFINITY}};
    struct amp_ranges *ranges = amp_ranges_create(net.arena);
    (void)state;
    for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
        weights[k] = 2;
    net_start(17);
    uint32_t s = NODE("Sigmoid", "s", input("x", AMP_FLOAT, DIMS(1, 64)));
    uint32_t y = NODE("MatMul", "m", s, constant("w", AMP_FLOAT, DIMS(64, 65), weights));
    output(y);
    infer_all();
    struct amp_interval found =
        amp_bounds_from(net.model, amp_node_at(net.model, node_of(y)), in, INFINITY);
    assert_true(found.low <= -128 && found.low > -129 && found.high >= 128 && found.high < 129);
    amp_bounds_note(net.model, ranges);
    const struct amp_value_range *noted = amp_ranges_find(ranges, "m");
    assert_non_null(noted);
    assert_string_equal(noted->rule, "MatMul");
    assert_true(noted->proved.high >= 128 && noted->proved.high < 129);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(operators_bound_their_results),
        cmocka_unit_test(no_bound_is_exceeded),
        NET_TEST(products_are_bounded_by_their_weights),
        NET_TEST(sums_are_rounded_by_the_number_of_weights),
        NET_TEST(norms_of_unknown_dims_have_no_bounds),
        NET_TEST(dtypes_have_their_ends),
        NET_TEST(results_are_rounded_to_their_dtype),
        NET_TEST(moved_elements_stay_what_they_are),
        NET_TEST(proofs_are_noted_by_name),
        NET_TEST(channels_have_a_number_of_each_parameter),
        NET_TEST(normalized_elements_are_bounded_by_their_number),
        NET_TEST(reductions_are_bounded_by_what_goes_into_one),
        NET_TEST(weights_are_read_where_their_largest_is_not_enough),
        NET_TEST(products_of_unbounded_elements_are_unknown),
        NET_TEST(inputs_tell_their_dims_and_numbers),
        NET_TEST(elements_of_one_result_are_counted),
        cmocka_unit_test(all_elements_of_constants_are_seen),
        cmocka_unit_test(constants_that_bound_are_numbers),
        cmocka_unit_test(ends_are_right),
        cmocka_unit_test(infinite_ends_say_nothing),
        cmocka_unit_test(results_are_within),
        cmocka_unit_test(elements_are_counted),
        cmocka_unit_test(nothing_finite_gives_no_numbers),
        cmocka_unit_test(halves_and_lists_count_and_integers_do_not),
        cmocka_unit_test(many_elements_are_all_seen),
        cmocka_unit_test(files_of_ranges_have_numbers_that_agree),
        NET_TEST(keys_tell_inputs_apart),
        NET_TEST(nodes_without_what_they_need_have_no_bounds),
        NET_TEST(moved_elements_are_of_one_dtype),
        NET_TEST(bodies_have_inputs_of_their_own),
        NET_TEST(large_weights_are_read),
        NET_TEST(entries_are_of_values_by_name),
        NET_TEST(ranges_are_written_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

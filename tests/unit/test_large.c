/*
 * Kernels on tensors large enough to be shared out among threads. An operator that treats the
 * elements of a batch apart must give for a large batch, on three threads, bit by bit what it gives
 * for each element of the batch alone, on one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "ops/kernel/kernel.h"

enum { INPUTS_MAX = 6, OUTPUTS_MAX = 3, ATTRS_MAX = 4 };

/* What an input holds: floats between -2 and 2, or integers from 0 to BELOW-1, or where that is
   below 0 all -BELOW. One without the
   batch, SHARED, goes to all of its elements. */
struct input {
    enum amp_dtype dtype;
    struct amp_shape shape;
    int64_t below;
    bool is_shared;
};

struct large_case {
    const char *domain, *operator;
    int version;
    struct input in[INPUTS_MAX];
    enum amp_dtype out[OUTPUTS_MAX];
    struct amp_attr attrs[ATTRS_MAX];
};

/* clang-format off */
#define DIMS(...) {sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), {__VA_ARGS__}}
#define EACH(DTYPE, ...) {AMP_##DTYPE, DIMS(__VA_ARGS__), 0, false}
#define SHARED(DTYPE, ...) {AMP_##DTYPE, DIMS(__VA_ARGS__), 0, true}
#define EACH_BELOW(DTYPE, BELOW, ...) {AMP_##DTYPE, DIMS(__VA_ARGS__), BELOW, false}
#define SHARED_BELOW(DTYPE, BELOW, ...) {AMP_##DTYPE, DIMS(__VA_ARGS__), BELOW, true}
#define SHARED_ONE(VALUE) {AMP_INT64, DIMS(1), -(VALUE), true}
#define NONE {.name = NULL}
#define INT(NAME, VALUE) \
    {.name = NAME, .type = AMP_ATTR_INT, .count = 1, .ints = (const int64_t[]){VALUE}}
#define FLOAT(NAME, VALUE) \
    {.name = NAME, .type = AMP_ATTR_FLOATS, .count = 1, .floats = (const float[]){VALUE}}
#define INTS(NAME, VALUE) \
    {.name = NAME, .type = AMP_ATTR_INTS, .count = 1, .ints = (const int64_t[]){VALUE}}
#define TEXT(NAME, VALUE)                                \
    {.name = NAME, .type = AMP_ATTR_STRING, .count = 1, \
     .strings = (const struct amp_str[]){{VALUE, sizeof VALUE - 1}}}
#define MICROSOFT "com.microsoft"

static const struct large_case cases[] = {
    {"", "RotaryEmbedding", 23,
     {EACH(FLOAT, 3, 5, 40, 72), EACH(FLOAT, 3, 40, 34), EACH(FLOAT, 3, 40, 34)},
     {AMP_FLOAT}, {INT("rotary_embedding_dim", 68)}},
    {"", "RotaryEmbedding", 23,
     {EACH(FLOAT, 3, 40, 360), SHARED(FLOAT, 50, 36), SHARED(FLOAT, 50, 36), EACH_BELOW(INT64, 50, 3, 40)},
     {AMP_FLOAT}, {INT("interleaved", 1), INT("num_heads", 5)}},
    {"", "RMSNormalization", 23,
     {EACH(FLOAT, 7, 13, 401), SHARED(FLOAT, 401)}, {AMP_FLOAT}, {INT("axis", -1)}},
    {"", "RMSNormalization", 23,
     {EACH(BFLOAT16, 7, 13, 401), SHARED(BFLOAT16, 401)}, {AMP_BFLOAT16}, {INT("axis", -1)}},
    {MICROSOFT, "SimplifiedLayerNormalization", 1,
     {EACH(DOUBLE, 7, 13, 401), SHARED(DOUBLE, 401)}, {AMP_DOUBLE, AMP_FLOAT}, {INT("axis", -1)}},
    {"", "Gather", 13,
     {EACH(FLOAT, 3, 60, 80), SHARED_BELOW(INT32, 60, 70, 9)}, {AMP_FLOAT}, {INT("axis", 1)}},
    {"", "GatherElements", 13,
     {EACH(FLOAT, 3, 60, 290), EACH_BELOW(INT64, 60, 3, 70, 190)}, {AMP_FLOAT}, {INT("axis", 1)}},
    {"", "GatherElements", 13,
     {EACH(FLOAT16, 3, 60, 200), EACH_BELOW(INT32, 200, 3, 50, 300)}, {AMP_FLOAT16}, {INT("axis", 2)}},
    {"", "GatherND", 13,
     {EACH(DOUBLE, 3, 60, 200, 3), EACH_BELOW(INT64, 60, 3, 9000, 2)}, {AMP_DOUBLE}, {INT("batch_dims", 1)}},
    {"", "GatherND", 13,
     {EACH(FLOAT, 3, 7, 9000), EACH_BELOW(INT64, 7, 3, 5, 1)}, {AMP_FLOAT}, {INT("batch_dims", 1)}},
    {"", "GatherND", 13,
     {EACH(FLOAT, 3, 7, 6000), EACH_BELOW(INT64, 7, 3, 5, 1)}, {AMP_FLOAT}, {INT("batch_dims", 1)}},
    {"", "ReverseSequence", 10,
     {EACH(FLOAT, 3, 60, 400), EACH_BELOW(INT64, 61, 3)}, {AMP_FLOAT}, {INT("batch_axis", 0), INT("time_axis", 1)}},
    {"", "OneHot", 11,
     {EACH_BELOW(INT32, 7, 3, 9000), SHARED_ONE(7), SHARED(FLOAT, 2)}, {AMP_FLOAT}, {INT("axis", 1)}},
    {"", "Trilu", 14, {EACH(FLOAT16, 3, 190, 200), SHARED_ONE(2)}, {AMP_FLOAT16}, {NONE}},
    {"", "TensorScatter", 24,
     {EACH(FLOAT, 3, 40, 90, 9), EACH(FLOAT, 3, 40, 5, 9), EACH_BELOW(INT64, 90, 3)}, {AMP_FLOAT}, {TEXT("mode", "circular")}},
    {"", "QuantizeLinear", 21,
     {EACH(FLOAT, 3, 40, 900), SHARED(FLOAT, 40), SHARED_BELOW(UINT8, 99, 40)}, {AMP_UINT8}, {INT("axis", 1)}},
    {"", "QuantizeLinear", 21,
     {EACH(FLOAT16, 3, 40, 900), EACH(FLOAT16, 3, 40, 30)}, {AMP_UINT8}, {INT("axis", 2), INT("block_size", 30)}},
    {"", "DequantizeLinear", 21,
     {EACH_BELOW(UINT8, 256, 3, 40, 900), SHARED(FLOAT, 40), SHARED_BELOW(UINT8, 99, 40)}, {AMP_FLOAT}, {INT("axis", 1)}},
    {"", "DequantizeLinear", 21,
     {EACH_BELOW(UINT8, 256, 3, 40, 900), EACH(FLOAT, 3, 8, 900)}, {AMP_FLOAT}, {INT("axis", 1), INT("block_size", 5)}},
    {"", "Cast", 13, {EACH(FLOAT, 3, 30001)}, {AMP_INT8}, {NONE}},
    {"", "Cast", 13, {EACH(DOUBLE, 3, 30001)}, {AMP_BFLOAT16}, {NONE}},
    {"", "Cast", 13, {EACH_BELOW(INT64, 70000, 3, 30001)}, {AMP_FLOAT16}, {NONE}},
    {"ai.onnx.ml", "LabelEncoder", 4,
     {EACH_BELOW(INT64, 9, 3, 30001)}, {AMP_INT64}, {INTS("keys_int64s", 5), INTS("values_int64s", 70)}},
    {"", "ScatterElements", 18,
     {EACH(FLOAT, 3, 60, 290), EACH_BELOW(INT64, 60, 3, 70, 190), EACH(FLOAT, 3, 70, 190)},
     {AMP_FLOAT}, {INT("axis", 1), TEXT("reduction", "add")}},
    {"", "ScatterElements", 18,
     {EACH(DOUBLE, 2, 30, 600), EACH_BELOW(INT32, 30, 2, 90, 590), EACH(DOUBLE, 2, 90, 590)},
     {AMP_DOUBLE}, {INT("axis", 1)}},
    {"", "ScatterElements", 18,
     {EACH(FLOAT, 3, 60, 200), EACH_BELOW(INT64, 200, 3, 50, 300), EACH(FLOAT, 3, 50, 300)},
     {AMP_FLOAT}, {INT("axis", -1), TEXT("reduction", "mul")}},
    {"", "CumSum", 14,
     {EACH(FLOAT, 3, 40, 300), SHARED_ONE(1)}, {AMP_FLOAT}, {INT("exclusive", 1)}},
    {"", "CumSum", 14,
     {EACH(BFLOAT16, 3, 40, 300), SHARED_ONE(2)}, {AMP_BFLOAT16}, {INT("reverse", 1)}},
    {"", "CumSum", 14,
     {EACH_BELOW(INT32, 99, 3, 40, 300), SHARED_ONE(1)}, {AMP_INT32}, {INT("reverse", 1)}},
    {"", "CumProd", 26,
     {EACH(DOUBLE, 3, 40, 300), SHARED_ONE(1)}, {AMP_DOUBLE}, {INT("exclusive", 1)}},
    {"", "ReduceLogSumExp", 18,
     {EACH(FLOAT, 5, 40, 330), SHARED_ONE(1)}, {AMP_FLOAT}, {INT("keepdims", 1)}},
    {"", "ReduceLogSumExp", 18,
     {EACH(FLOAT, 5, 40, 330), SHARED_ONE(2)}, {AMP_FLOAT}, {INT("keepdims", 1)}},
    {"", "DFT", 17, {EACH(FLOAT, 2, 96, 90, 2)}, {AMP_FLOAT}, {INT("axis", 1)}},
    {"", "DFT", 17, {EACH(DOUBLE, 3, 160, 128, 1)}, {AMP_DOUBLE}, {INT("axis", 2), INT("onesided", 1)}},
    {"", "LpPool", 18, {EACH(FLOAT, 3, 40, 450)}, {AMP_FLOAT}, {INTS("kernel_shape", 5), INT("p", 3)}},
    {"", "LpPool", 18,
     {EACH(DOUBLE, 3, 40, 450)}, {AMP_DOUBLE}, {INTS("kernel_shape", 5), INTS("strides", 2), INT("p", 2)}},
    {"", "GridSample", 20,
     {EACH(FLOAT, 3, 5, 33, 40), EACH(FLOAT, 3, 50, 61, 2)}, {AMP_FLOAT}, {TEXT("mode", "linear"), TEXT("padding_mode", "zeros")}},
    {"", "GridSample", 20,
     {EACH(FLOAT, 3, 5, 33, 40), EACH(FLOAT, 3, 50, 61, 2)}, {AMP_FLOAT}, {TEXT("mode", "nearest"), TEXT("padding_mode", "zeros")}},
    {"", "GridSample", 20,
     {EACH(FLOAT, 3, 5, 33, 40), EACH(FLOAT, 3, 50, 61, 2)}, {AMP_FLOAT}, {TEXT("mode", "cubic"), TEXT("padding_mode", "border")}},
    {"ai.onnx.ml", "Scaler", 1,
     {EACH(DOUBLE, 2, 20000)}, {AMP_FLOAT}, {FLOAT("offset", 0.75f), FLOAT("scale", 0.3f)}},
    {"", "STFT", 17,
     {EACH(FLOAT, 3, 12000, 1), SHARED_ONE(100), SHARED(FLOAT, 400), SHARED_ONE(400)}, {AMP_FLOAT}, {NONE}},
};

/* The same, of which only the number of threads is changed: all elements belong together. */
static const struct large_case wholes[] = {
    {"", "ReduceSum", 13, {EACH(FLOAT, 400, 501)}, {AMP_FLOAT}, {INT("keepdims", 0)}},
    {"", "ReduceLogSumExp", 13, {EACH(FLOAT, 400, 501)}, {AMP_FLOAT}, {INT("keepdims", 0)}},
    {"", "ReduceMin", 13, {EACH_BELOW(INT64, 9000, 400, 501)}, {AMP_INT64}, {INT("keepdims", 0)}},
    {"", "NonZero", 13, {EACH_BELOW(BOOL, 2, 17, 61, 43)}, {AMP_INT64}, {NONE}},
    {"", "NonZero", 13, {EACH(FLOAT, 44000)}, {AMP_INT64}, {NONE}},
    {"", "NonMaxSuppression", 11,
     {EACH(FLOAT, 2, 700, 4), EACH(FLOAT, 2, 40, 700), SHARED_ONE(90), SHARED(FLOAT, 1), SHARED(FLOAT, 1)},
     {AMP_INT64}, {NONE}},
    {"", "Compress", 11, {EACH(FLOAT, 99, 400), EACH_BELOW(BOOL, 2, 39000)}, {AMP_FLOAT}, {NONE}},
};
/* clang-format on */

static uint32_t random_state = 1;

static int64_t any(int64_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return below < 1 ? 0 : (int64_t)((random_state >> 8) % (uint32_t)below);
}

static struct amp_tensor made(enum amp_dtype dtype, const struct amp_shape *shape)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor tensor = {.dtype = dtype, .shape = *shape};
    assert_int_equal(amp_tensor_alloc(&tensor, &err), AMP_OK);
    return tensor;
}

static void put(const struct amp_tensor *tensor, size_t i, int64_t value)
{
    switch (amp_dtype_bits(tensor->dtype)) {
    case 8:
        ((uint8_t *)tensor->data)[i] = (uint8_t)value;
        break;
    case 32:
        ((int32_t *)tensor->data)[i] = (int32_t)value;
        break;
    default:
        ((int64_t *)tensor->data)[i] = value;
    }
}

static struct amp_tensor filled(const struct input *input)
{
    struct amp_tensor tensor = made(input->dtype, &input->shape);
    for (size_t i = 0; i < amp_tensor_count(&tensor); i++)
        if (amp_dtype_class(input->dtype) == AMP_CLASS_FLOAT)
            amp_tensor_set_double(&tensor, i, (double)(any(4001) - 2000) / 1000);
        else
            put(&tensor, i, input->below < 0 ? -input->below : any(input->below));
    return tensor;
}

/* Fills IN with what TEST takes. */
static void make_inputs(const struct large_case *test, struct amp_tensor *in)
{
    for (int i = 0; i < INPUTS_MAX && test->in[i].dtype != AMP_UNDEFINED; i++)
        in[i] = filled(&test->in[i]);
}

/* Elements that OUT has memory for are kept; one of a shape that values decide gets its own. */
static void run(const struct large_case *test, struct amp_tensor *in, struct amp_tensor *out)
{
    struct amp_error err = {.status = AMP_OK};
    const struct amp_tensor *ins[INPUTS_MAX];
    struct amp_tensor *outs[OUTPUTS_MAX];
    struct amp_attr attrs[ATTRS_MAX];
    const bool is_constant[INPUTS_MAX] = {false};
    void *kept = NULL;
    memcpy(attrs, test->attrs, sizeof attrs);
    struct amp_node node = {.name = "",
                            .op_type = test->operator,
                            .domain = test->domain,
                            .since_version = test->version,
                            .attrs = attrs};
    struct amp_ctx ctx = {.node = &node,
                          .in = ins,
                          .out = outs,
                          .is_constant = is_constant,
                          .state = &kept,
                          .err = &err};
    while (node.n_attrs < ATTRS_MAX && attrs[node.n_attrs].name != NULL)
        node.n_attrs++;
    for (; ctx.n_in < INPUTS_MAX && test->in[ctx.n_in].dtype != AMP_UNDEFINED; ctx.n_in++)
        ins[ctx.n_in] = &in[ctx.n_in];
    for (; ctx.n_out < OUTPUTS_MAX && test->out[ctx.n_out] != AMP_UNDEFINED; ctx.n_out++) {
        outs[ctx.n_out] = &out[ctx.n_out];
        out[ctx.n_out] = (struct amp_tensor){.dtype = test->out[ctx.n_out]};
    }
    const struct amp_op *op = amp_op_find(test->domain, test->operator);
    assert_non_null(op);
    if (op->shape(&ctx) != AMP_OK)
        fail_msg("%s: %s", test->operator, err.text);
    for (uint32_t i = 0; i < ctx.n_out; i++)
        if (amp_shape_is_known(&out[i].shape))
            assert_int_equal(amp_ctx_alloc(&ctx, i), AMP_OK);
    if (op->run(&ctx) != AMP_OK)
        fail_msg("%s: %s", test->operator, err.text);
    if (op->destroy != NULL && kept != NULL)
        op->destroy(kept);
}

static void release(struct amp_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        amp_tensor_release(&tensors[i]);
}

static struct amp_tensor shared(const struct amp_tensor *tensor)
{
    struct amp_tensor view = {.dtype = tensor->dtype, .shape = tensor->shape};
    amp_tensor_share(&view, tensor);
    return view;
}

/* Element BATCH of those that TENSOR has along its first dim, as a tensor of its own. */
static struct amp_tensor slice(const struct amp_tensor *tensor, int64_t batch)
{
    struct amp_shape shape = tensor->shape;
    shape.dims[0] = 1;
    struct amp_tensor part = made(tensor->dtype, &shape);
    size_t size = amp_tensor_size(&part);
    memcpy(part.data, (const char *)tensor->data + (size_t)batch * size, size);
    return part;
}

/* What TEST gives of element BATCH of IN must be that element of OUT. */
static void assert_slice(const struct large_case *test, const struct amp_tensor *in,
                         const struct amp_tensor *out, int64_t batch)
{
    struct amp_tensor parts[INPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
    struct amp_tensor alone[OUTPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
    for (int i = 0; i < INPUTS_MAX && test->in[i].dtype != AMP_UNDEFINED; i++)
        parts[i] = test->in[i].is_shared ? shared(&in[i]) : slice(&in[i], batch);
    run(test, parts, alone);
    for (int i = 0; i < OUTPUTS_MAX && test->out[i] != AMP_UNDEFINED; i++) {
        struct amp_tensor expected = slice(&out[i], batch);
        assert_true(amp_shape_equal(&expected.shape, &alone[i].shape));
        if (memcmp(expected.data, alone[i].data, amp_tensor_size(&expected)) != 0)
            fail_msg("%s: output %d, batch %lld", test->operator, i, (long long)batch);
        amp_tensor_release(&expected);
    }
    release(parts, INPUTS_MAX);
    release(alone, OUTPUTS_MAX);
}

static void batches_are_their_elements(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct large_case *test = &cases[k];
        struct amp_tensor in[INPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
        struct amp_tensor out[OUTPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
        make_inputs(test, in);
        omp_set_num_threads(3);
        run(test, in, out);
        assert_true(amp_tensor_count(&in[0]) + amp_tensor_count(&out[0]) >=
                    (size_t)2 * AMP_PARALLEL_MIN);
        omp_set_num_threads(1);
        for (int64_t batch = 0; batch < in[0].shape.dims[0]; batch++)
            assert_slice(test, in, out, batch);
        release(in, INPUTS_MAX);
        release(out, OUTPUTS_MAX);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof wholes / sizeof wholes[0]; k++) {
        struct amp_tensor in[INPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
        struct amp_tensor one[OUTPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
        struct amp_tensor three[OUTPUTS_MAX] = {{.dtype = AMP_UNDEFINED}};
        make_inputs(&wholes[k], in);
        omp_set_num_threads(1);
        run(&wholes[k], in, one);
        omp_set_num_threads(3);
        run(&wholes[k], in, three);
        assert_true(amp_tensor_count(&one[0]) > 0);
        assert_true(amp_shape_equal(&one[0].shape, &three[0].shape));
        assert_memory_equal(one[0].data, three[0].data, amp_tensor_size(&one[0]));
        release(in, INPUTS_MAX);
        release(one, OUTPUTS_MAX);
        release(three, OUTPUTS_MAX);
    }
}

static void sums_are_of_all_elements(void **state)
{
    (void)state;
    const struct large_case test = {"",          "ReduceSum",
                                    13,          {{AMP_INT64, {3, {1001, 3, 70}}, 1 << 20, false}},
                                    {AMP_INT64}, {INT("keepdims", 0)}};
    struct amp_tensor in[INPUTS_MAX], out[OUTPUTS_MAX];
    int64_t sum = 0;
    make_inputs(&test, in);
    for (size_t i = 0; i < amp_tensor_count(&in[0]); i++)
        sum += ((int64_t *)in[0].data)[i];
    omp_set_num_threads(3);
    run(&test, in, out);
    assert_int_equal(*(int64_t *)out[0].data, sum);
    release(in, 1);
    release(out, 1);
}

static void nonzero_finds_all_in_order(void **state)
{
    (void)state;
    const struct large_case test = {
        "", "NonZero", 13, {{AMP_INT32, {3, {23, 37, 61}}, 3, false}}, {AMP_INT64}, {NONE}};
    struct amp_tensor in[INPUTS_MAX], out[OUTPUTS_MAX];
    int64_t at[AMP_RANK_MAX] = {0}, found = 0;
    make_inputs(&test, in);
    omp_set_num_threads(3);
    run(&test, in, out);
    const int64_t *places = out[0].data, all = out[0].shape.dims[1];
    for (size_t i = 0; i < amp_tensor_count(&in[0]); i++) {
        if (((int32_t *)in[0].data)[i] != 0) {
            for (int d = 0; d < 3; d++)
                assert_int_equal(places[d * all + found], at[d]);
            found++;
        }
        amp_index_next(3, in[0].shape.dims, at);
    }
    assert_int_equal(found, all);
    release(in, 1);
    release(out, 1);
}

/* Windows of 3 that begin STRIDE apart: in each plane the first of the largest, and where it is. */
static void assert_maxima(int64_t stride)
{
    const struct large_case test = {"",
                                    "MaxPool",
                                    12,
                                    {EACH(FLOAT, 3, 50, 311)},
                                    {AMP_FLOAT, AMP_INT64},
                                    {INTS("kernel_shape", 3), INTS("strides", stride)}};
    struct amp_tensor in[INPUTS_MAX], out[OUTPUTS_MAX];
    make_inputs(&test, in);
    omp_set_num_threads(3);
    run(&test, in, out);
    int64_t steps = out[0].shape.dims[2];
    assert_int_equal(steps, (311 - 3) / stride + 1);
    for (int64_t i = 0; i < 150 * steps; i++) {
        const float *x = (const float *)in[0].data;
        int64_t best = i / steps * 311 + i % steps * stride, first = best;
        for (int64_t k = first; k < first + 3; k++)
            best = x[k] > x[best] ? k : best;
        assert_int_equal(((int64_t *)out[1].data)[i], best);
        assert_true(((float *)out[0].data)[i] == x[best]);
    }
    release(in, 1);
    release(out, 2);
}

static void maxima_are_the_first(void **state)
{
    (void)state;
    for (int64_t stride = 1; stride <= 3; stride++)
        assert_maxima(stride);
}

/* Runs OPERATOR-18 along axis 0 of DATA, on three threads. */
static struct amp_tensor scattered(const char *operator, struct amp_tensor * in)
{
    const struct large_case test = {"",
                                    operator,
                                    18,
                                    {{in[0].dtype, in[0].shape, 0, false},
                                     {in[1].dtype, in[1].shape, 0, false},
                                     {in[2].dtype, in[2].shape, 0, false}},
                                    {in[0].dtype},
                                    {TEXT("reduction", "add")}};
    struct amp_tensor out[OUTPUTS_MAX];
    omp_set_num_threads(3);
    run(&test, in, out);
    return out[0];
}

/* Duplicates are added in their order, whichever thread has them: floats tell. */
static void scatter_keeps_the_order(void **state)
{
    (void)state;
    const struct input inputs[] = {EACH(FLOAT, 20, 500), EACH_BELOW(INT64, 20, 90, 500),
                                   EACH(FLOAT, 90, 500)};
    const struct input rows = EACH_BELOW(INT64, 20, 90, 1);
    struct amp_tensor in[] = {filled(&inputs[0]), filled(&inputs[1]), filled(&inputs[2])};
    struct amp_tensor expected = made(AMP_FLOAT, &in[0].shape),
                      out = scattered("ScatterElements", in);
    const int64_t *index = in[1].data;
    memcpy(expected.data, in[0].data, amp_tensor_size(&expected));
    for (size_t i = 0; i < (size_t)90 * 500; i++)
        ((float *)expected.data)[(size_t)index[i] * 500 + i % 500] += ((float *)in[2].data)[i];
    assert_memory_equal(out.data, expected.data, amp_tensor_size(&out));
    amp_tensor_release(&out);
    amp_tensor_release(&in[1]);
    in[1] = filled(&rows);
    memcpy(expected.data, in[0].data, amp_tensor_size(&expected));
    index = in[1].data;
    for (size_t i = 0; i < (size_t)90 * 500; i++)
        ((float *)expected.data)[(size_t)index[i / 500] * 500 + i % 500] +=
            ((float *)in[2].data)[i];
    out = scattered("ScatterND", in);
    assert_memory_equal(out.data, expected.data, amp_tensor_size(&out));
    amp_tensor_release(&out);
    amp_tensor_release(&expected);
    release(in, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_their_elements), cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(sums_are_of_all_elements),   cmocka_unit_test(nonzero_finds_all_in_order),
        cmocka_unit_test(maxima_are_the_first),       cmocka_unit_test(scatter_keeps_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

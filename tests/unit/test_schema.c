/* The operator table: known facts of ONNX's definitions, lookups, what is compatible with what. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include "core/dtype.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "onnx/schema/check.h"
#include "onnx/schema/difference.h"
#include "onnx/schema/slices.h"
#include "onnx/schema/schema.h"
#include "check/compare.h"
#include "trial.h"

#include <glob.h>

#define F32 AMP_DTYPE_BIT(AMP_FLOAT)
#define F64 AMP_DTYPE_BIT(AMP_DOUBLE)
#define F16 AMP_DTYPE_BIT(AMP_FLOAT16)
#define BF16 AMP_DTYPE_BIT(AMP_BFLOAT16)
#define I64 AMP_DTYPE_BIT(AMP_INT64)

static const struct amp_schema *find(const char *op, int opset)
{
    const struct amp_schema *s = amp_schema_find("", op, opset);

    assert_non_null(s);
    return s;
}

/* The dtypes that input I of OP takes at OPSET. */
static uint32_t takes(const char *op, int opset, size_t i)
{
    const struct amp_schema *s = find(op, opset);
    const struct amp_schema_param *param = amp_schema_input(s, i);

    assert_non_null(param);
    return amp_schema_type(s, param)->tensors;
}

static void lookup_takes_the_version_that_counts(void **state)
{
    (void)state;
    assert_int_equal(find("Conv", 1)->since_version, 1);
    assert_int_equal(find("Conv", 10)->since_version, 1);
    assert_int_equal(find("Conv", 11)->since_version, 11);
    assert_int_equal(find("Conv", 21)->since_version, 11);
    assert_int_equal(find("Conv", 22)->since_version, 22);
    assert_int_equal(find("Conv", 1000)->since_version, 22);
    assert_ptr_equal(amp_schema_find("ai.onnx", "Conv", 13), amp_schema_find("", "Conv", 13));
    assert_ptr_equal(amp_schema_find(NULL, "Conv", 13), amp_schema_find("", "Conv", 13));
    assert_null(amp_schema_find("", "Gelu", 19));
    assert_null(amp_schema_find("", "Convolution", 13));
    assert_null(amp_schema_find("", "", 13));
    assert_null(amp_schema_find("com.microsoft", "Conv", 13));
    assert_null(amp_schema_find("ai.onnx.ml", "Conv", 13));
    assert_int_equal(amp_schema_find("ai.onnx.ml", "Scaler", 3)->since_version, 1);
}

static void table_is_sorted_and_whole(void **state)
{
    const struct amp_schema *before = NULL, *s;
    size_t count = 0;

    (void)state;
    for (; (s = amp_schema_at(count)) != NULL; before = s, count++) {
        assert_ptr_equal(amp_schema_find(s->domain, s->name, s->since_version), s);
        char other[64]; /* a domain right behind the operator's, which nobody knows */
        snprintf(other, sizeof other, "%s!", s->domain);
        assert_null(amp_schema_find(other, s->name, INT_MAX));
        for (size_t i = 0; i < s->n_inputs; i++)
            assert_in_range(s->inputs[i].type, 0, s->n_types - 1);
        for (size_t i = 0; i < s->n_outputs; i++)
            assert_in_range(s->outputs[i].type, 0, s->n_types - 1);
        assert_true(s->min_inputs <= s->max_inputs && s->min_outputs <= s->max_outputs);
        if (before != NULL && amp_schema_next(before) != NULL)
            assert_ptr_equal(amp_schema_next(before), s);
    }
    assert_in_range(count, 600, 2000);
    assert_null(amp_schema_next(before));
}

static void lower_dtypes(void **state)
{
    (void)state;
    assert_int_equal(takes("Conv", 11, 0), F32 | F64 | F16);
    assert_int_equal(takes("Conv", 22, 0), F32 | F64 | F16 | BF16);
    assert_false(takes("LSTM", 14, 0) & BF16);
    assert_true(takes("LSTM", 22, 0) & BF16);
    assert_false(takes("MatMul", 9, 0) & BF16);
    assert_true(takes("MatMul", 13, 1) & BF16);
    assert_false(takes("TopK", 11, 0) & BF16);
    assert_true(takes("TopK", 24, 0) & BF16);
    assert_int_equal(takes("Celu", 27, 0), F32);
    assert_int_equal(takes("NonMaxSuppression", 22, 0), F32);
}

static void parameters_that_are_not_the_data(void **state)
{
    const struct amp_schema *bn = find("BatchNormalization", 15), *resize = find("Resize", 13);

    (void)state;
    assert_int_equal(takes("Resize", 13, 2), F32);
    assert_string_equal(amp_schema_input(resize, 2)->name, "scales");
    assert_null(amp_schema_type(resize, amp_schema_input(resize, 2))->name);
    assert_int_equal(takes("Resize", 13, 3), I64);
    assert_string_equal(amp_schema_type(bn, amp_schema_input(bn, 0))->name, "T");
    assert_string_equal(amp_schema_type(bn, amp_schema_input(bn, 1))->name, "T1");
    assert_string_equal(amp_schema_type(bn, amp_schema_input(bn, 3))->name, "T2");
    assert_string_equal(amp_schema_type(bn, amp_schema_output(bn, 0))->name, "T");
    assert_int_equal(amp_schema_input(resize, 1)->option, AMP_PARAM_OPTIONAL);
    assert_null(amp_schema_input(resize, 4));
}

/* Behind the last parameter there is none, unless that one repeats; no type number that there is
   not is shared. */
static void parameters_end_or_repeat(void **state)
{
    const struct amp_schema *s;
    (void)state;
    for (size_t k = 0; (s = amp_schema_at(k)) != NULL; k++)
        for (size_t i = 0; i < 20; i++) {
            bool goes_on =
                s->n_inputs > 0 && s->inputs[s->n_inputs - 1].option == AMP_PARAM_VARIADIC;
            const struct amp_schema_param *last = goes_on ? &s->inputs[s->n_inputs - 1] : NULL;
            assert_ptr_equal(amp_schema_input(s, i), i < s->n_inputs ? &s->inputs[i] : last);
            goes_on = s->n_outputs > 0 && s->outputs[s->n_outputs - 1].option == AMP_PARAM_VARIADIC;
            last = goes_on ? &s->outputs[s->n_outputs - 1] : NULL;
            assert_ptr_equal(amp_schema_output(s, i), i < s->n_outputs ? &s->outputs[i] : last);
            if (i >= s->n_inputs)
                continue;
            assert_false(amp_schema_shares(s, -1, &s->inputs[i]));
            for (size_t j = 0; j < s->n_inputs; j++)
                if (s->inputs[i].type == s->inputs[j].type)
                    assert_true(amp_schema_shares(s, s->inputs[i].type, &s->inputs[j]));
                else
                    assert_int_equal(amp_schema_shares(s, s->inputs[i].type, &s->inputs[j]),
                                     amp_schema_shares(s, s->inputs[j].type, &s->inputs[i]));
        }
}

static void variadic_parameters_repeat(void **state)
{
    const struct amp_schema *concat = find("Concat", 13), *loop = find("Loop", 21);

    (void)state;
    assert_int_equal(concat->max_inputs, INT_MAX);
    assert_ptr_equal(amp_schema_input(concat, 40), amp_schema_input(concat, 0));
    assert_true(amp_schema_input(concat, 0)->homogeneous);
    assert_int_equal(amp_schema_input(loop, 9)->option, AMP_PARAM_VARIADIC);
    assert_false(amp_schema_input(loop, 9)->homogeneous);
    assert_int_equal(amp_schema_input(loop, 9)->min_arity, 0);
    assert_int_equal(loop->min_inputs, 2);
    assert_true(amp_schema_type(loop, amp_schema_input(loop, 2))->optional_sequences & BF16);
}

static void attributes(void **state)
{
    const struct amp_schema *lstm = find("LSTM", 22);

    (void)state;
    assert_int_equal(amp_schema_attr(lstm, "hidden_size")->type, AMP_ATTR_INT);
    assert_string_equal(amp_schema_attr(lstm, "direction")->default_text, "forward");
    assert_null(amp_schema_attr(lstm, "clip")->default_text);
    assert_null(amp_schema_attr(lstm, "axis"));
    assert_true(amp_schema_attr(find("Cast", 13), "to")->required);
    assert_string_equal(amp_schema_attr(find("Selu", 22), "alpha")->default_text, "1.6732632");
    assert_string_equal(amp_schema_attr(find("RNN", 14), "activations")->default_text,
                        "[Tanh, Tanh]");
    assert_string_equal(amp_schema_attr(find("BatchNormalization", 15), "epsilon")->default_text,
                        "1e-05");
    assert_int_equal(amp_schema_attr(find("If", 11), "then_branch")->type, AMP_ATTR_GRAPH);
}

static void flags(void **state)
{
    (void)state;
    assert_true(find("Upsample", 10)->deprecated);
    assert_false(find("Upsample", 9)->deprecated);
    assert_true(find("Gelu", 20)->has_function);
    assert_false(find("Conv", 22)->has_function);
}

static void opsets_and_ir_versions(void **state)
{
    static const int pairs[][2] = {{1, 3},   {8, 3},   {9, 4},   {10, 5},  {11, 6},
                                   {12, 7},  {14, 7},  {15, 8},  {18, 8},  {19, 9},
                                   {20, 9},  {21, 10}, {22, 10}, {23, 11}, {24, 12},
                                   {25, 13}, {26, 13}, {27, 13}, {28, 13}};

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        assert_int_equal(amp_schema_ir_version(pairs[i][0]), pairs[i][1]);
    assert_true(amp_schema_newest_opset("ai.onnx") >= amp_schema_released_opset());
    assert_true(amp_schema_released_opset() >= 27);
    assert_int_equal(amp_schema_newest_opset("ai.onnx.ml"), 5);
    assert_int_equal(amp_schema_newest_opset("com.microsoft"), 0);
}

static void partial_domains(void **state)
{
    const struct amp_schema *s = amp_schema_find("com.microsoft", "FusedMatMul", 1);

    (void)state;
    assert_non_null(s);
    assert_int_equal(amp_schema_type(s, amp_schema_input(s, 0))->tensors, F32 | F64 | F16 | BF16);
    s = amp_schema_find("com.microsoft", "MultiHeadAttention", 1);
    assert_int_equal(amp_schema_type(s, amp_schema_input(s, 0))->tensors, F32 | F16);
    assert_true(amp_schema_is_partial("com.microsoft"));
    assert_true(amp_schema_is_partial("ai.onnx.preview"));
    assert_false(amp_schema_is_partial("ai.onnx.preview.training"));
    assert_false(amp_schema_is_partial("ai.onnx.ml"));
    assert_false(amp_schema_is_partial(NULL));
    assert_null(
        amp_schema_difference(find("LayerNormalization", 16), find("LayerNormalization", 17)));
}

static void variables_of_the_same_data(void **state)
{
    const struct amp_schema *rms = find("RMSNormalization", 23);
    const struct amp_schema *norm = find("BatchNormalization", 15);

    (void)state;
    assert_int_not_equal(rms->inputs[0].type, rms->inputs[1].type);
    assert_true(amp_schema_shares(rms, rms->inputs[0].type, &rms->inputs[1]));
    assert_true(amp_schema_shares(rms, rms->inputs[1].type, &rms->inputs[0]));
    assert_true(amp_schema_shares(norm, norm->inputs[0].type, &norm->inputs[0]));
    assert_false(amp_schema_shares(norm, norm->inputs[0].type, &norm->inputs[1]));
    assert_false(amp_schema_shares(norm, norm->inputs[0].type, NULL));
    assert_false(amp_schema_shares(norm, -1, &norm->inputs[0]));
    static const struct {
        const char *op;
        int opset;
        const char *first, *second; /* NULL: each variable is of data of its own */
    } ops[] = {{"Attention", 23, "T1", "T2"},      {"GridSample", 20, "T1", "T2"},
               {"RMSNormalization", 23, "T", "V"}, {"BatchNormalization", 15, NULL, NULL},
               {"Where", 16, NULL, NULL},          {"QuantizeLinear", 21, NULL, NULL}};
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
        const struct amp_schema *s = find(ops[k].op, ops[k].opset);
        for (int i = 0; i < s->n_inputs; i++)
            for (int j = 0; j < s->n_inputs; j++) {
                int a = s->inputs[i].type, b = s->inputs[j].type;
                const char *one = s->types[a].name, *other = s->types[b].name;
                bool are_twins =
                    ops[k].first != NULL && one != NULL && other != NULL &&
                    ((strcmp(one, ops[k].first) == 0 && strcmp(other, ops[k].second) == 0) ||
                     (strcmp(one, ops[k].second) == 0 && strcmp(other, ops[k].first) == 0));
                assert_int_equal(amp_schema_shares(s, a, &s->inputs[j]), a == b || are_twins);
            }
    }
}

static void near_names(void **state)
{
    (void)state;
    assert_string_equal(amp_schema_nearest("conv"), "Conv");
    assert_string_equal(amp_schema_nearest("Matmull"), "MatMul");
    assert_string_equal(amp_schema_nearest("Sofmax"), "Softmax");
    assert_null(amp_schema_nearest("xyzzyplugh"));
    assert_null(amp_schema_nearest(""));
    assert_null(
        amp_schema_nearest("a name that is longer than any operator's name, by a good deal"));
}

static bool compatible(const char *op, int from, int to)
{
    return amp_schema_difference(find(op, from), find(op, to)) == NULL;
}

static void carried_over(void **state)
{
    (void)state;
    assert_true(compatible("Conv", 1, 22));
    assert_true(compatible("MatMul", 1, 13));
    assert_true(compatible("Relu", 6, 14));
    assert_true(compatible("LSTM", 7, 22));
    assert_true(compatible("Cast", 6, 25));
    assert_true(compatible("Gemm", 7, 13));
    assert_true(compatible("Erf", 9, 13));
    assert_true(compatible("MaxPool", 1, 22));
    assert_true(compatible("Loop", 1, 25));
    assert_true(compatible("Reshape", 5, 25));
    assert_true(compatible("Softmax", 1, 11));
    assert_true(compatible("Softmax", 13, 13));
    assert_true(compatible("BatchNormalization", 14, 15));
}

static void changed(void **state)
{
    static const struct {
        const char *op;
        int from, to;
    } steps[] = {
        {"Softmax", 11, 13},    {"LogSoftmax", 1, 13}, {"Hardmax", 11, 13},
        {"Dropout", 7, 10},     {"Dropout", 10, 12},   {"BatchNormalization", 9, 14},
        {"Squeeze", 11, 13},    {"Unsqueeze", 11, 13}, {"ReduceSum", 11, 13},
        {"ReduceMean", 13, 18}, {"Split", 11, 13},     {"Split", 13, 18},
        {"Slice", 1, 10},       {"Pad", 2, 11},        {"Clip", 6, 11},
        {"TopK", 1, 10},        {"Upsample", 9, 10},   {"Resize", 10, 11},
        {"Resize", 11, 13},     {"Reshape", 1, 5},     {"Add", 6, 7},
        {"GridSample", 16, 20}, {"RoiAlign", 10, 16},  {"GroupNormalization", 18, 21},
        {"PRelu", 6, 7},        {"Scan", 8, 9},        {"Scatter", 9, 11},
        {"DFT", 17, 20},        {"Cast", 1, 6},        {"Concat", 1, 4},
        {"Conv", 22, 11},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct amp_schema *from = find(steps[i].op, steps[i].from);
        const struct amp_schema *to = find(steps[i].op, steps[i].to);
        if (amp_schema_difference(from, to) == NULL)
            fail_msg("%s %d -> %d passes as compatible", from->name, steps[i].from, steps[i].to);
        assert_non_null(amp_schema_difference(from, to));
    }
}

/* Two versions of an operator that nobody has, alike; rows below change one of them. */
struct versions {
    struct amp_schema_param inputs[2][3], outputs[2][3];
    struct amp_schema_type types[2][2];
    struct amp_schema_attr attrs[2][2];
    struct amp_schema schemas[3];
};

static void make_versions(struct versions *v)
{
    memset(v, 0, sizeof *v);
    for (int i = 0; i < 2; i++) {
        v->types[i][0] = (struct amp_schema_type){"T", F32, F32, F32, F32, false};
        v->attrs[i][0] = (struct amp_schema_attr){"axis", AMP_ATTR_INT, false, "0"};
        v->schemas[i] = (struct amp_schema){.name = "Nobodys",
                                            .domain = "test",
                                            .since_version = i + 1,
                                            .inputs = v->inputs[i],
                                            .n_inputs = 2,
                                            .outputs = v->outputs[i],
                                            .n_outputs = 1,
                                            .types = v->types[i],
                                            .n_types = 2,
                                            .attrs = v->attrs[i],
                                            .n_attrs = 1};
    }
    v->schemas[2] = (struct amp_schema){.name = "Other", .domain = "test"};
}

/* What is said of the two versions must be WANTED; NULL: that they are the same. */
static void expect_difference(const struct versions *v, const char *wanted)
{
    const char *found = amp_schema_difference(&v->schemas[0], &v->schemas[1]);
    if (wanted == NULL)
        assert_null(found);
    else if (found == NULL)
        fail_msg("nothing; wanted: %s", wanted);
    else
        assert_string_equal(found, wanted);
}

static void differences_of_attributes(void **state)
{
    static const char removed[] = "an attribute was removed", required[] = "an attribute became "
                                                                           "required";
    static const char other_default[] = "an attribute changed its default";
    static const struct {
        struct amp_schema_attr old, new; /* a NULL name: there is none */
        const char *wanted;
    } rows[] = {
        {{"a", AMP_ATTR_INT, false, "1"}, {"a", AMP_ATTR_INT, false, "1"}, NULL},
        {{"a", AMP_ATTR_INT, false, NULL}, {"a", AMP_ATTR_INT, false, NULL}, NULL},
        {{"a", AMP_ATTR_INT, true, NULL}, {"a", AMP_ATTR_INT, true, NULL}, NULL},
        {{"a", AMP_ATTR_INT, true, NULL}, {"a", AMP_ATTR_INT, false, NULL}, NULL},
        {{"a", AMP_ATTR_INT, false, NULL}, {"a", AMP_ATTR_INT, true, NULL}, required},
        {{"a", AMP_ATTR_INT, false, "1"}, {"a", AMP_ATTR_INT, false, "2"}, other_default},
        {{"a", AMP_ATTR_INT, false, NULL}, {"a", AMP_ATTR_INT, false, "2"}, other_default},
        {{"a", AMP_ATTR_INT, false, "1"}, {"a", AMP_ATTR_INT, false, NULL}, other_default},
        {{"a", AMP_ATTR_INT, false, "1"},
         {"a", AMP_ATTR_FLOAT, false, "1"},
         "an attribute changed its type"},
        {{"a", AMP_ATTR_INT, false, "1"}, {NULL, 0, false, NULL}, removed},
        {{"a", AMP_ATTR_INT, false, "1"}, {"b", AMP_ATTR_INT, false, "1"}, removed},
        {{"consumed_inputs", AMP_ATTR_INTS, false, NULL}, {NULL, 0, false, NULL}, NULL},
        {{NULL, 0, false, NULL}, {"a", AMP_ATTR_INT, false, "1"}, NULL},
        {{NULL, 0, false, NULL}, {"a", AMP_ATTR_INT, true, NULL}, "a required attribute was added"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct versions v;
        make_versions(&v);
        v.attrs[0][1] = rows[i].old;
        v.attrs[1][1] = rows[i].new;
        v.schemas[0].n_attrs = rows[i].old.name != NULL ? 2 : 1;
        v.schemas[1].n_attrs = rows[i].new.name != NULL ? 2 : 1;
        expect_difference(&v, rows[i].wanted);
    }
}

/* Puts OLD and NEW at the end of the lists of inputs, or of outputs, and asks what is said. */
static void expect_params(const struct amp_schema_param *old, const struct amp_schema_param *new,
                          const char *wanted)
{
    for (int is_output = 0; is_output < 2; is_output++) {
        struct versions v;
        make_versions(&v);
        for (int i = 0; i < 2; i++) {
            const struct amp_schema_param *param = i == 0 ? old : new;
            struct amp_schema_param *list = is_output ? v.outputs[i] : v.inputs[i];
            uint8_t *count = is_output ? &v.schemas[i].n_outputs : &v.schemas[i].n_inputs;
            if (param != NULL)
                list[(*count)++] = *param;
        }
        expect_difference(&v, wanted);
    }
}

static void differences_of_parameters(void **state)
{
    enum { ONE = AMP_PARAM_SINGLE, MAYBE = AMP_PARAM_OPTIONAL, MANY = AMP_PARAM_VARIADIC };
    static const char other[] = "an input or output became required or another";
    static const struct {
        struct amp_schema_param old, new;
        const char *wanted;
    } rows[] = {
        {{"x", 0, ONE, true, 0}, {"x", 0, ONE, true, 0}, NULL},
        {{"x", 0, ONE, true, 0}, {"x", 0, MAYBE, true, 0}, NULL},
        {{"x", 0, MAYBE, true, 0}, {"x", 0, MAYBE, true, 0}, NULL},
        {{"x", 0, MAYBE, true, 0}, {"x", 0, ONE, true, 0}, other},
        {{"x", 0, ONE, true, 0}, {"x", 0, MANY, true, 0}, other},
        {{"x", 0, MAYBE, true, 0}, {"x", 0, MANY, true, 0}, other},
        {{"x", 0, MANY, true, 0}, {"x", 0, ONE, true, 0}, other},
        {{"x", 0, MANY, true, 0}, {"x", 0, MAYBE, true, 0}, other},
        {{"x", 0, MANY, true, 1}, {"x", 0, MANY, true, 1}, NULL},
        {{"x", 0, MANY, true, 2}, {"x", 0, MANY, true, 1}, NULL},
        {{"x", 0, MANY, true, 1}, {"x", 0, MANY, true, 2}, other},
        {{"x", 0, MANY, true, 1}, {"x", 0, MANY, false, 1}, NULL},
        {{"x", 0, MANY, false, 1}, {"x", 0, MANY, false, 1}, NULL},
        {{"x", 0, MANY, false, 1}, {"x", 0, MANY, true, 1}, other},
    };
    static const struct amp_schema_param one = {"x", 0, ONE, true, 0};
    static const struct amp_schema_param maybe = {"x", 0, MAYBE, true, 0};
    static const struct amp_schema_param many = {"x", 0, MANY, true, 1};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_params(&rows[i].old, &rows[i].new, rows[i].wanted);
    expect_params(&one, NULL, "an input or output was removed");
    expect_params(&maybe, NULL, "an input or output was removed");
    expect_params(NULL, &one, "a required input or output was added");
    expect_params(NULL, &maybe, NULL);
    expect_params(NULL, &many, NULL);
}

static void differences_of_types(void **state)
{
    static const struct {
        struct amp_schema_type old, new;
        bool is_less;
    } rows[] = {
        {{"T", F32, 0, 0, 0, false}, {"T", F32 | F16, F16, F16, F16, true}, false},
        {{"T", F32, F32, F32, F32, true}, {"T", F32, F32, F32, F32, true}, false},
        {{"T", F32 | F16, 0, 0, 0, false}, {"T", F32, F16, F16, F16, true}, true},
        {{"T", 0, F32 | F16, 0, 0, false}, {"T", F16, F32, F16, F16, true}, true},
        {{"T", 0, 0, F32 | F16, 0, false}, {"T", F16, F16, F32, F16, true}, true},
        {{"T", 0, 0, 0, F32 | F16, false}, {"T", F16, F16, F16, F32, true}, true},
        {{"T", F32, 0, 0, 0, true}, {"T", F32, F32, F32, F32, false}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int is_output = 0; is_output < 2; is_output++) {
            struct versions v;
            make_versions(&v);
            v.types[0][1] = rows[i].old;
            v.types[1][1] = rows[i].new;
            for (int k = 0; k < 2; k++)
                (is_output ? &v.outputs[k][0] : &v.inputs[k][1])->type = 1;
            expect_difference(&v, rows[i].is_less ? "an input or output takes fewer types" : NULL);
        }
}

static void differences_of_versions(void **state)
{
    struct versions v;
    (void)state;
    make_versions(&v);
    expect_difference(&v, NULL);
    assert_null(amp_schema_difference(&v.schemas[1], &v.schemas[1]));
    assert_string_equal(amp_schema_difference(&v.schemas[1], &v.schemas[0]),
                        "not a newer version of the operator");
    assert_string_equal(amp_schema_difference(&v.schemas[0], &v.schemas[2]),
                        "not a newer version of the operator");
    v.schemas[1].deprecated = true;
    expect_difference(&v, "deprecated");
}

/* ---- what may be left out ---- */

/*
 * What an operator does without an attribute is what it does with the default that its definition
 * has; inputs that are omitted may be missing at the end; outputs that nobody wants are not there.
 * Each case is tried with such changes, and gives what it gave.
 */

/* Makes of ATTR, one number or text, what the definition has as its default; false: none. */
static bool make_default(struct amp_arena *arena, const struct amp_schema_attr *attr,
                         struct amp_attr *made)
{
    const char *text = attr->default_text;
    *made = (struct amp_attr){.name = attr->name, .type = attr->type, .count = 1};
    if (text == NULL)
        return false;
    if (attr->type == AMP_ATTR_INT)
        made->ints = amp_arena_memdup(arena, &(int64_t){strtoll(text, NULL, 10)}, sizeof(int64_t));
    else if (attr->type == AMP_ATTR_FLOAT)
        made->floats = amp_arena_memdup(arena, &(float){strtof(text, NULL)}, sizeof(float));
    else
        made->strings =
            amp_arena_memdup(arena, &(struct amp_str){text, strlen(text)}, sizeof(struct amp_str));
    return attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_FLOAT ||
           attr->type == AMP_ATTR_STRING;
}

/* Whether two attributes of one number or text are the same. */
static bool is_same_attr(const struct amp_attr *a, const struct amp_attr *b)
{
    if (a->type != b->type || a->count != 1)
        return false;
    return a->type == AMP_ATTR_INT ? *a->ints == *b->ints
           : a->type == AMP_ATTR_FLOAT
               ? *a->floats == *b->floats
               : a->strings->size == b->strings->size &&
                     memcmp(a->strings->data, b->strings->data, a->strings->size) == 0;
}

/* Changes node ID, in what I says where there are several things; false: there is nothing to
   change. */
typedef bool edit_node(struct amp_model_file *file, uint32_t id, uint32_t i);

/* Gives it all defaults that it leaves out (I 1), or takes those that it has. */
static bool change_defaults(struct amp_model_file *file, uint32_t id, uint32_t gives)
{
    const struct amp_node *node = amp_node_at(file->model, id);
    bool is_changed = false;
    for (size_t i = 0; i < node->schema->n_attrs; i++) {
        struct amp_attr made;
        if (!make_default(file->arena, &node->schema->attrs[i], &made))
            continue;
        const struct amp_attr *own = amp_node_attr(node, made.name);
        if (gives ? own != NULL : own == NULL || !is_same_attr(own, &made))
            continue;
        if (gives)
            amp_node_set_attr(file->model, id, made);
        else
            amp_node_remove_attr(file->model, id, made.name);
        is_changed = true;
    }
    return is_changed;
}

/* Adds all inputs that are missing at the end, as omitted ones. */
static bool give_inputs(struct amp_model_file *file, uint32_t id, uint32_t i)
{
    (void)i;
    struct amp_node *node = amp_node_at(file->model, id);
    uint32_t n = node->schema->n_inputs;
    if (n == 0 || node->n_inputs >= n || node->schema->inputs[n - 1].option == AMP_PARAM_VARIADIC)
        return false;
    uint32_t *inputs = amp_arena_array(file->arena, n, sizeof *inputs);
    memcpy(inputs, node->inputs, node->n_inputs * sizeof *inputs);
    for (uint32_t k = node->n_inputs; k < n; k++)
        inputs[k] = AMP_NONE;
    node->inputs = inputs;
    node->n_inputs = n;
    return true;
}

/* Whether a node takes VALUE, or may name it as a Gradient does. */
static bool is_used(const struct amp_model *model, uint32_t value)
{
    for (size_t k = 0; k < model->n_nodes; k++) {
        const struct amp_node *node = amp_node_at(model, (uint32_t)k);
        if (strcmp(node->op_type, "Gradient") == 0)
            return true;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            if (node->inputs[i] == value)
                return true;
    }
    return false;
}

/* Omits output I of a node of the main graph that nothing but the graph's outputs has of it. */
static bool take_output(struct amp_model_file *file, uint32_t id, uint32_t i)
{
    const struct amp_model *model = file->model;
    struct amp_node *node = amp_node_at(model, id);
    struct amp_ids *outputs = &model->graphs[0].outputs;
    const struct amp_schema_param *param = amp_schema_output(node->schema, i);
    size_t kept = 0;
    if (node->graph != 0 || i >= node->n_outputs || node->outputs[i] == AMP_NONE || param == NULL ||
        param->option != AMP_PARAM_OPTIONAL || outputs->count < 2)
        return false;
    if (is_used(model, node->outputs[i]))
        return false;
    for (size_t k = 0; k < outputs->count; k++)
        if (outputs->items[k] != node->outputs[i])
            outputs->items[kept++] = outputs->items[k];
    outputs->count = kept;
    amp_value_at(model, node->outputs[i])->is_output = false;
    node->outputs[i] = AMP_NONE;
    return true;
}

/* Whether the case of TRIAL, which had the outputs IDS, gives as much of them as it has now. */
static bool is_unchanged(const struct trial *trial, const uint32_t *ids)
{
    const struct amp_tolerance exact = {.rtol = 0};
    const struct amp_ids *now = &trial->file.model->graphs[0].outputs;
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor *outputs = amp_xcalloc(trial->n_outputs, sizeof *outputs);
    bool is_same =
        amp_infer(trial->file.model, &err) == AMP_OK && trial_run(trial, outputs, &err) == AMP_OK;
    for (size_t i = 0, k = 0; i < now->count && is_same; i++, k++) {
        while (ids[k] != now->items[i])
            k++;
        is_same = amp_tensor_compare(&outputs[i], &trial->outputs[k], exact, &err) == AMP_OK;
    }
    if (!is_same)
        print_error("%s: %s\n", trial->path, err.text);
    amp_tensors_release(outputs, trial->n_outputs);
    free(outputs);
    return is_same;
}

/* Tries the case at PATH with EDIT made of each of its nodes, in WHAT; counts those that were
   changed. False: it gives something else. */
static bool may_change(const char *path, edit_node *edit, uint32_t what, size_t *n_changed)
{
    bool is_changed = false, is_same = true;
    struct amp_error err;
    struct trial trial = {.path = path};
    if (trial_open(&trial) && !trial_is_random(&trial) &&
        trial_run(&trial, trial.outputs, &err) == AMP_OK) {
        const struct amp_model *model = trial.file.model;
        const uint32_t *ids = amp_arena_memdup(trial.file.arena, model->graphs[0].outputs.items,
                                               trial.n_outputs * sizeof *ids);
        for (size_t id = 0; id < model->n_nodes; id++)
            if (amp_node_at(model, (uint32_t)id)->schema != NULL)
                is_changed |= edit(&trial.file, (uint32_t)id, what);
        if (is_changed)
            is_same = is_unchanged(&trial, ids);
    }
    *n_changed += is_changed;
    trial_close(&trial);
    return is_same;
}

static bool try_each(const char *folder, const char *pattern, edit_node *edit, uint32_t what,
                     size_t *n_changed)
{
    char path[1024];
    glob_t paths;
    bool are_same = true;
    snprintf(path, sizeof path, "%s/%s/model.onnx", folder, pattern);
    assert_int_equal(glob(path, 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        are_same &= may_change(paths.gl_pathv[i], edit, what, n_changed);
    globfree(&paths);
    return are_same;
}

/* The cases of operators, and ONNX's own where they are. */
static void try_all(edit_node *edit, uint32_t what, size_t least)
{
    size_t n_changed = 0;
    const char *data = getenv("TESTDATA");
    bool are_same = try_each("build/cases/ops", "*/*", edit, what, &n_changed);
    if (data != NULL)
        are_same &= try_each(data, "node/*", edit, what, &n_changed);
    print_message("%zu cases changed\n", n_changed);
    assert_true(are_same && n_changed >= least);
}

static void attributes_may_be_left_out(void **state)
{
    (void)state;
    try_all(change_defaults, 1, 500);
    try_all(change_defaults, 0, 50);
}

static void inputs_may_be_missing_at_the_end(void **state)
{
    (void)state;
    try_all(give_inputs, 0, 200);
}

static void outputs_may_be_left_out(void **state)
{
    (void)state;
    try_all(take_output, 0, 1);
    try_all(take_output, 1, 50);
    try_all(take_output, 2, 10);
    try_all(take_output, 3, 5);
}

/* ---- nodes against the table: each definition, with one thing wrong at a time ---- */

struct bench {
    struct amp_arena *arena;
    struct amp_model *model;
    uint32_t node, x;
};

/* A model of one node of S with N_INPUTS inputs 'x' and N_OUTPUTS outputs 'x', whose type is not
   known, and with the attributes that S requires. */
static void bench_open(struct bench *b, const struct amp_schema *s, int n_inputs, int n_outputs)
{
    b->arena = amp_arena_create();
    b->model = amp_model_create(b->arena, "test.onnx");
    amp_graph_add(b->model, "main", AMP_NONE);
    b->x = amp_graph_add_value(b->model, 0, "x");
    amp_value_at(b->model, b->x)->kind = AMP_KIND_TENSOR;
    b->node = amp_graph_add_node(b->model, 0, s->name, (uint32_t)n_inputs, (uint32_t)n_outputs);
    struct amp_node *node = amp_node_at(b->model, b->node);
    node->name = "n";
    node->domain = s->domain;
    node->schema = s;
    node->since_version = s->since_version;
    for (int i = 0; i < n_inputs; i++)
        node->inputs[i] = b->x;
    for (int i = 0; i < n_outputs; i++)
        node->outputs[i] = b->x;
    for (size_t i = 0; i < s->n_attrs; i++)
        if (s->attrs[i].required)
            amp_node_set_attr(b->model, b->node,
                              (struct amp_attr){.name = s->attrs[i].name,
                                                .type = (enum amp_attr_type)s->attrs[i].type});
}

static void bench_close(struct bench *b)
{
    amp_arena_destroy(b->arena);
}

/* Expects of the node, by CHECK, the failure of which PROBLEM tells behind the node's name; NULL:
   none. */
static void judged(const struct bench *b,
                   enum amp_status (*check)(const struct amp_model *, uint32_t, struct amp_error *),
                   const char *problem)
{
    char text[700], message[1400];
    struct amp_error err = {.status = AMP_OK};
    amp_node_text(b->model, b->node, text, sizeof text);
    snprintf(message, sizeof message, "%s%s", text, problem != NULL ? problem : "");
    enum amp_status status = check(b->model, b->node, &err);
    if (problem == NULL && status != AMP_OK)
        fail_msg("%s: nothing is wrong, but: %s", text, err.text);
    if (problem == NULL)
        return;
    if (status != AMP_MODEL)
        fail_msg("not refused: %s", message);
    assert_string_equal(err.text, message);
}

static const struct amp_schema *next_in_use(size_t *at)
{
    const struct amp_schema *s = amp_schema_at((*at)++);
    while (s != NULL && s->deprecated)
        s = amp_schema_at((*at)++);
    return s;
}

/* Judges a node with COUNT of what S has MIN to MAX of. */
static void judge_count(const struct amp_schema *s, bool is_input, int count, int min, int max)
{
    struct bench b;
    char problem[200];
    const char *what = is_input ? "input" : "output";
    bench_open(&b, s, is_input ? count : s->min_inputs, is_input ? s->min_outputs : count);
    if (min == max)
        snprintf(problem, sizeof problem, ": %d %ss; %d needed", count, what, min);
    else if (max == INT_MAX)
        snprintf(problem, sizeof problem, ": %d %ss; at least %d needed", count, what, min);
    else
        snprintf(problem, sizeof problem, ": %d %ss; %d to %d allowed", count, what, min, max);
    judged(&b, amp_check_node, count < min || count > max ? problem : NULL);
    bench_close(&b);
}

static void numbers_of_inputs_and_outputs_are_checked(void **state)
{
    const struct amp_schema *s;
    (void)state;
    for (size_t at = 0; (s = next_in_use(&at)) != NULL;) {
        for (int n = s->min_inputs > 0 ? s->min_inputs - 1 : 0; n <= s->n_inputs + 1; n++)
            judge_count(s, true, n, s->min_inputs, s->max_inputs);
        for (int n = s->min_outputs > 0 ? s->min_outputs - 1 : 0; n <= s->n_outputs + 1; n++)
            judge_count(s, false, n, s->min_outputs, s->max_outputs);
    }
}

/* Judges a node of S without input or output I. */
static void judge_missing(const struct amp_schema *s, bool is_input, int i)
{
    struct bench b;
    char problem[200];
    const struct amp_schema_param *param = is_input ? &s->inputs[i] : &s->outputs[i];
    bool is_needed = param->option == AMP_PARAM_SINGLE ||
                     (is_input && param->option == AMP_PARAM_VARIADIC && param->homogeneous);
    int n_inputs = s->min_inputs > s->n_inputs ? s->min_inputs : s->n_inputs;
    int n_outputs = s->min_outputs > s->n_outputs ? s->min_outputs : s->n_outputs;
    bench_open(&b, s, n_inputs, n_outputs);
    struct amp_node *node = amp_node_at(b.model, b.node);
    judged(&b, amp_check_node, NULL);
    (is_input ? node->inputs : node->outputs)[i] = AMP_NONE;
    snprintf(problem, sizeof problem, ": %s %d (%s) is missing", is_input ? "input" : "output", i,
             param->name);
    judged(&b, amp_check_node, is_needed ? problem : NULL);
    bench_close(&b);
}

static void what_is_needed_is_missed(void **state)
{
    const struct amp_schema *s;
    (void)state;
    for (size_t at = 0; (s = next_in_use(&at)) != NULL;) {
        for (int i = 0; i < s->n_inputs; i++)
            judge_missing(s, true, i);
        for (int i = 0; i < s->n_outputs; i++)
            judge_missing(s, false, i);
    }
}

static void attributes_are_checked(void **state)
{
    /* as AttributeProto numbers its types */
    static const char *const types[] = {"undefined",      "a float", "an int", "a string",
                                        "a tensor",       "a graph", "floats", "ints",
                                        "strings",        "tensors", "graphs", "a sparse tensor",
                                        "sparse tensors", "a type",  "types"};
    const struct amp_schema *s;
    (void)state;
    for (size_t at = 0; (s = next_in_use(&at)) != NULL;) {
        struct bench b;
        char problem[200];
        bench_open(&b, s, s->min_inputs, s->min_outputs);
        struct amp_attr unknown = {.name = "no_such_attribute", .type = AMP_ATTR_INT};
        amp_node_set_attr(b.model, b.node, unknown);
        judged(&b, amp_check_node, ": unknown attribute 'no_such_attribute'");
        amp_node_remove_attr(b.model, b.node, unknown.name);
        for (size_t i = 0; i < s->n_attrs; i++) {
            const char *name = s->attrs[i].name;
            int right = s->attrs[i].type;
            for (int type = 0; type < (int)(sizeof types / sizeof *types); type++) {
                struct amp_attr attr = {.name = name, .type = (enum amp_attr_type)type};
                amp_node_set_attr(b.model, b.node, attr);
                snprintf(problem, sizeof problem, ": attribute '%s' holds %s; %s is needed", name,
                         types[type], types[right]);
                judged(&b, amp_check_node, type == right ? NULL : problem);
            }
            amp_node_remove_attr(b.model, b.node, name);
            snprintf(problem, sizeof problem, ": attribute '%s' is missing", name);
            judged(&b, amp_check_node, s->attrs[i].required ? problem : NULL);
            if (s->attrs[i].required)
                amp_node_set_attr(
                    b.model, b.node,
                    (struct amp_attr){.name = name, .type = (enum amp_attr_type)right});
        }
        bench_close(&b);
    }
}

static void deprecated_operators_are_refused(void **state)
{
    const struct amp_schema *s;
    size_t count = 0;
    (void)state;
    for (size_t i = 0; (s = amp_schema_at(i)) != NULL; i++) {
        struct bench b;
        char problem[200];
        if (!s->deprecated)
            continue;
        bench_open(&b, s, s->min_inputs, s->min_outputs);
        snprintf(problem, sizeof problem, ": the operator is deprecated since opset %d",
                 s->since_version);
        judged(&b, amp_check_node, problem);
        amp_node_at(b.model, b.node)->schema = NULL;
        judged(&b, amp_check_node, NULL);
        judged(&b, amp_check_types, NULL);
        bench_close(&b);
        count++;
    }
    assert_true(count > 0);
}

/* The names of the dtypes in MASK, as they stand in a message. */
static const char *names_of(uint32_t mask)
{
    static char text[512];
    text[0] = '\0';
    for (int d = 1; d < AMP_DTYPE_COUNT; d++)
        if (mask & AMP_DTYPE_BIT(d))
            strcat(strcat(text, text[0] != '\0' ? ", " : ""), amp_dtype_name((enum amp_dtype)d));
    return text;
}

static const char *kinds_of(const struct amp_schema_type *type)
{
    static char text[200];
    const uint32_t masks[] = {type->has_maps, type->tensors, type->sequences, type->optionals,
                              type->optional_sequences};
    static const char *const names[] = {"map", "tensor", "sequence", "optional",
                                        "optional sequence"};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        if (masks[i] != 0)
            strcat(strcat(text, text[0] != '\0' ? ", " : ""), names[i]);
    return text;
}

/* Judges a node of S whose input or output I has each type in turn, where those of the others are
   not known. */
static void judge_types(const struct amp_schema *s, bool is_input, int i)
{
    const struct amp_schema_param *param = is_input ? &s->inputs[i] : &s->outputs[i];
    const struct amp_schema_type *type = &s->types[param->type];
    const uint32_t masks[] = {type->tensors, type->sequences, type->optionals,
                              type->optional_sequences};
    static const enum amp_kind kinds[] = {AMP_KIND_TENSOR, AMP_KIND_SEQUENCE, AMP_KIND_OPTIONAL,
                                          AMP_KIND_OPTIONAL_SEQUENCE};
    struct bench b;
    bench_open(&b, s, s->n_inputs, s->n_outputs);
    uint32_t v = amp_graph_add_value(b.model, 0, "v");
    struct amp_node *node = amp_node_at(b.model, b.node);
    struct amp_value *value = amp_value_at(b.model, v);
    (is_input ? node->inputs : node->outputs)[i] = v;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int d = 0; d < AMP_DTYPE_COUNT; d++) {
            char problem[800], place[40];
            value->kind = kinds[k];
            value->dtype = (enum amp_dtype)d;
            snprintf(place, sizeof place, ", %s %d ('v'): ", is_input ? "input" : "output", i);
            if (masks[k] == 0)
                snprintf(problem, sizeof problem, "%sits type is %s; allowed: %s", place,
                         amp_kind_name(kinds[k]), kinds_of(type));
            else
                snprintf(problem, sizeof problem, "%sdtype %s; allowed: %s", place,
                         amp_dtype_name(value->dtype), names_of(masks[k]));
            bool is_allowed = d == AMP_UNDEFINED || (masks[k] & AMP_DTYPE_BIT(d)) != 0;
            judged(&b, amp_check_types, is_allowed ? NULL : problem);
        }
    bench_close(&b);
}

static void types_are_checked(void **state)
{
    const struct amp_schema *s;
    (void)state;
    for (size_t at = 0; (s = next_in_use(&at)) != NULL;) {
        for (int i = 0; i < s->n_inputs; i++)
            judge_types(s, true, i);
        for (int i = 0; i < s->n_outputs; i++)
            judge_types(s, false, i);
    }
}

/* Judges a node of S that has tensors of two dtypes as its parameters I and K, inputs before
   outputs; false: they cannot be, or need not be, of one type. */
static bool judge_pair(const struct amp_schema *s, int i, int k)
{
    const struct amp_schema_param *a =
        i < s->n_inputs ? &s->inputs[i] : &s->outputs[i - s->n_inputs];
    const struct amp_schema_param *c =
        k < s->n_inputs ? &s->inputs[k] : &s->outputs[k - s->n_inputs];
    const struct amp_schema_type *type = &s->types[a->type];
    uint32_t rest = type->tensors & (type->tensors - 1);
    struct bench b;
    char problem[300];
    if (a->type != c->type || rest == 0)
        return false;
    bench_open(&b, s, s->n_inputs, s->n_outputs);
    uint32_t v = amp_graph_add_value(b.model, 0, "v"), w = amp_graph_add_value(b.model, 0, "w");
    struct amp_node *node = amp_node_at(b.model, b.node);
    *(i < s->n_inputs ? &node->inputs[i] : &node->outputs[i - s->n_inputs]) = v;
    *(k < s->n_inputs ? &node->inputs[k] : &node->outputs[k - s->n_inputs]) = w;
    amp_value_at(b.model, v)->kind = amp_value_at(b.model, w)->kind = AMP_KIND_TENSOR;
    amp_value_at(b.model, v)->dtype = (enum amp_dtype)__builtin_ctz(type->tensors);
    amp_value_at(b.model, w)->dtype = amp_value_at(b.model, v)->dtype;
    judged(&b, amp_check_types, NULL);
    amp_value_at(b.model, w)->dtype = (enum amp_dtype)__builtin_ctz(rest);
    bool is_one = type->name != NULL && (a->option != AMP_PARAM_VARIADIC || a->homogeneous) &&
                  (c->option != AMP_PARAM_VARIADIC || c->homogeneous);
    if (is_one)
        snprintf(problem, sizeof problem,
                 ", %s %d ('w'): dtype %s; %s needed, as other parameters of type %s have it",
                 k < s->n_inputs ? "input" : "output", k < s->n_inputs ? k : k - s->n_inputs,
                 amp_dtype_name(amp_value_at(b.model, w)->dtype),
                 amp_dtype_name(amp_value_at(b.model, v)->dtype), type->name);
    judged(&b, amp_check_types, is_one ? problem : NULL);
    bench_close(&b);
    return true;
}

static void variables_are_of_one_dtype(void **state)
{
    const struct amp_schema *s;
    size_t n_judged = 0;
    (void)state;
    for (size_t at = 0; (s = next_in_use(&at)) != NULL;)
        for (int i = 0; i < s->n_inputs + s->n_outputs; i++)
            for (int k = i + 1; k < s->n_inputs + s->n_outputs; k++)
                n_judged += judge_pair(s, i, k);
    assert_true(n_judged > 500);
}

/* ---- slices that lose the dim that they were cut along ---- */

struct cut {
    struct amp_arena *arena;
    struct amp_model *model;
    uint32_t split, sequence, slice;
};

static uint32_t add_op(struct cut *cut, const char *op, uint32_t a, uint32_t b, const char *output)
{
    uint32_t id = amp_graph_add_node(cut->model, 0, op, b == AMP_NONE ? 1 : 2, 1);
    uint32_t y = amp_graph_add_value(cut->model, 0, output);
    struct amp_node *node = amp_node_at(cut->model, id);
    node->schema = amp_schema_find("", op, 18);
    node->since_version = node->schema->since_version;
    node->inputs[0] = a;
    if (b != AMP_NONE)
        node->inputs[1] = b;
    amp_value_at(cut->model, y)->kind = AMP_KIND_TENSOR;
    amp_node_set_output(cut->model, id, 0, y);
    return y;
}

/* x of 2x3x4 cut along AXIS, where keepdims is 0, into slices of which one is taken. */
static void cut_open(struct cut *cut, int rank, int axis)
{
    struct amp_shape shape = {3, {2, 3, 4}};
    cut->arena = amp_arena_create();
    cut->model = amp_model_create(cut->arena, "test.onnx");
    amp_model_import(cut->model, "", 18);
    amp_graph_add(cut->model, "main", AMP_NONE);
    uint32_t x = amp_graph_add_value(cut->model, 0, "x");
    amp_value_set_shape(cut->model, x, &shape);
    amp_value_at(cut->model, x)->kind = AMP_KIND_TENSOR;
    amp_value_at(cut->model, x)->rank = (int8_t)rank;
    struct amp_tensor *one = amp_arena_alloc(cut->arena, sizeof *one);
    *one = (struct amp_tensor){.dtype = AMP_INT64, .data = amp_arena_alloc(cut->arena, 8)};
    *(int64_t *)one->data = 1;
    uint32_t length = amp_graph_add_initializer(cut->model, 0, "one", one);
    cut->sequence = add_op(cut, "SplitToSequence", x, length, "s");
    amp_value_at(cut->model, cut->sequence)->kind = AMP_KIND_SEQUENCE;
    cut->split = amp_value_at(cut->model, cut->sequence)->producer;
    amp_node_set_int(cut->model, cut->split, "keepdims", 0);
    amp_node_set_int(cut->model, cut->split, "axis", axis);
}

/* Whether the slices lose the dim; closes. */
static bool cut_loses(struct cut *cut)
{
    struct amp_uses uses = amp_uses_create(cut->model);
    bool loses = amp_slices_lose_dim(cut->model, &uses, cut->split);
    amp_uses_destroy(&uses);
    amp_arena_destroy(cut->arena);
    return loses;
}

/* Only where the node says keepdims 0 and cuts single ones by a scalar that is known. */
static void only_single_slices_lose_a_dim(void **state)
{
    struct cut cut;
    (void)state;
    for (int i = 0; i < 11; i++) {
        cut_open(&cut, 3, 1);
        struct amp_node *node = amp_node_at(cut.model, cut.split);
        struct amp_value *length = amp_value_at(cut.model, node->inputs[1]);
        if (i == 1)
            amp_node_set_int(cut.model, cut.split, "keepdims", 1);
        if (i == 2)
            amp_node_remove_attr(cut.model, cut.split, "keepdims");
        if (i == 3)
            *(int64_t *)length->constant->data = 2;
        if (i == 4)
            *(int64_t *)length->constant->data = 0;
        if (i == 5)
            length->constant->shape = (struct amp_shape){1, {1}};
        if (i == 6)
            length->constant = NULL;
        if (i == 7)
            node->inputs[1] = AMP_NONE;
        if (i == 8)
            node->n_inputs = 1;
        if (i == 9)
            node->is_removed = true;
        if (i == 10)
            node->outputs[0] = AMP_NONE;
        assert_int_equal(cut_loses(&cut), i == 0);
    }
    cut_open(&cut, 3, 1);
    amp_node_change(cut.model, cut.split, "", "Concat", 13);
    assert_false(cut_loses(&cut));
}

/* What the file says of a slice, by its rank, of what is joined of all or of the sequence itself:
   they lose the dim unless somebody says that they keep it. */
static void ranks_tell_whether_slices_lose_a_dim(void **state)
{
    (void)state;
    for (int source = -1; source <= 3; source += 4)
        for (int axis = -4; axis <= 3; axis++)
            for (int rank = -1; rank <= 4; rank++)
                for (int who = 0; who < 5; who++) {
                    struct cut cut;
                    cut_open(&cut, source, axis);
                    bool is_cut = source == 3 && axis >= -3 && axis < 3;
                    uint32_t y = cut.sequence;
                    if (who == 0)
                        y = add_op(&cut, "SequenceAt", y, y, "y");
                    else if (who < 3)
                        y = add_op(&cut, "ConcatFromSequence", y, AMP_NONE, "y");
                    else if (who == 3)
                        y = add_op(&cut, "SequenceLength", y, AMP_NONE, "y");
                    if (who == 2)
                        amp_node_set_int(cut.model, amp_value_at(cut.model, y)->producer,
                                         "new_axis", 1);
                    amp_value_at(cut.model, y)->rank = (int8_t)rank;
                    if (rank > 0)
                        amp_value_set_shape(cut.model, y, &(struct amp_shape){rank, {0}});
                    bool keeps = is_cut && who != 3 && rank == (who == 2 ? 4 : 3);
                    if (cut_loses(&cut) != !keeps)
                        fail_msg("rank %d along %d, said by %d of rank %d", source, axis, who,
                                 rank);
                }
}

/* A slice goes before the sequence, also where nothing is left of its dims. */
static void slices_go_before_their_sequence(void **state)
{
    (void)state;
    for (int rank = 0; rank <= 1; rank++) {
        struct cut cut;
        cut_open(&cut, 1, 0);
        uint32_t y = add_op(&cut, "SequenceAt", cut.sequence, cut.sequence, "y");
        amp_value_at(cut.model, y)->rank = (int8_t)rank;
        amp_value_at(cut.model, cut.sequence)->rank = (int8_t)(1 - rank);
        assert_int_equal(cut_loses(&cut), rank == 0);
    }
}

/* A slice of 2x4 or 2x1x4 is multiplied by what takes one of them alone, or both. */
static void readers_tell_whether_slices_lose_a_dim(void **state)
{
    static const struct {
        struct amp_shape other, product;
        bool loses;
    } lines[] = {{{2, {4, 5}}, {.rank = -1}, true}, /* both fit */
                 {{2, {4, 5}}, {3, {2, 1, 5}}, false},
                 {{2, {4, 5}}, {2, {2, 5}}, true},
                 {{3, {7, 4, 5}}, {.rank = -1}, true},
                 {{3, {2, 4, 5}}, {3, {2, 1, 5}}, true},
                 {{1, {4}}, {2, {2, 1}}, false},
                 {{1, {4}}, {1, {2}}, true},
                 {{4, {7, 3, 4, 5}}, {4, {7, 3, 2, 5}}, true}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int n_readers = 1; n_readers <= 2; n_readers++) {
            struct cut cut;
            cut_open(&cut, 3, 1);
            uint32_t slice = add_op(&cut, "SequenceAt", cut.sequence, cut.sequence, "y");
            uint32_t other = amp_graph_add_value(cut.model, 0, "o");
            amp_value_set_shape(cut.model, other, &lines[i].other);
            amp_value_at(cut.model, other)->kind = AMP_KIND_TENSOR;
            if (n_readers == 2) /* says nothing */
                add_op(&cut, "Relu", slice, AMP_NONE, "z");
            uint32_t product = add_op(&cut, "MatMul", slice, other, "p");
            if (lines[i].product.rank >= 0)
                amp_value_set_shape(cut.model, product, &lines[i].product);
            if (cut_loses(&cut) != lines[i].loses)
                fail_msg("line %zu with %d readers", i, n_readers);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_inputs_and_outputs_are_checked),
        cmocka_unit_test(what_is_needed_is_missed),
        cmocka_unit_test(attributes_are_checked),
        cmocka_unit_test(deprecated_operators_are_refused),
        cmocka_unit_test(types_are_checked),
        cmocka_unit_test(variables_are_of_one_dtype),
        cmocka_unit_test(only_single_slices_lose_a_dim),
        cmocka_unit_test(ranks_tell_whether_slices_lose_a_dim),
        cmocka_unit_test(slices_go_before_their_sequence),
        cmocka_unit_test(readers_tell_whether_slices_lose_a_dim),
        cmocka_unit_test(lookup_takes_the_version_that_counts),
        cmocka_unit_test(table_is_sorted_and_whole),
        cmocka_unit_test(lower_dtypes),
        cmocka_unit_test(parameters_that_are_not_the_data),
        cmocka_unit_test(parameters_end_or_repeat),
        cmocka_unit_test(variadic_parameters_repeat),
        cmocka_unit_test(attributes),
        cmocka_unit_test(flags),
        cmocka_unit_test(opsets_and_ir_versions),
        cmocka_unit_test(partial_domains),
        cmocka_unit_test(variables_of_the_same_data),
        cmocka_unit_test(near_names),
        cmocka_unit_test(carried_over),
        cmocka_unit_test(changed),
        cmocka_unit_test(differences_of_attributes),
        cmocka_unit_test(differences_of_parameters),
        cmocka_unit_test(differences_of_types),
        cmocka_unit_test(differences_of_versions),
        cmocka_unit_test(attributes_may_be_left_out),
        cmocka_unit_test(inputs_may_be_missing_at_the_end),
        cmocka_unit_test(outputs_may_be_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The verdict on two models built in memory: rounding between nodes, outputs of which one is bad,
   shapes that differ. Values are computed by hand. */
#include "net.h"

#include <math.h>

#include "check/validate.h"

/* One sample of the values that CONTEXT, a float32 tensor, has. */
static enum amp_status load(void *context, size_t sample, struct amp_tensor *inputs,
                            struct amp_error *err)
{
    const struct amp_tensor *from = context;
    (void)sample;
    inputs[0] = (struct amp_tensor){.dtype = from->dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(&inputs[0], err));
    amp_tensor_copy(from, inputs[0].data);
    return AMP_OK;
}

static enum amp_status validate(const struct amp_model *reference, struct amp_tensor *x,
                                const struct amp_labels *labels, struct amp_validation *result)
{
    struct amp_validate_options options = {.source = {.count = 1, .load = load, .context = x},
                                           .bounds = amp_metric_bounds_default(AMP_BFLOAT16),
                                           .labels = labels,
                                           .n_labels = labels != NULL};
    infer_all();
    net.err = (struct amp_error){.status = AMP_OK};
    return amp_validate(reference, net.model, &options, result, &net.err);
}

/* x a + b, with a = 1 + 2^-7 and b = -(1 + 2^-6): all of them are bfloat16 numbers. */
static void start_sum(enum amp_dtype dtype)
{
    static const float a = 1.0078125f, b = -1.015625f;
    static const uint16_t a16 = 0x3f81, b16 = 0xbf82;
    bool is_lower = dtype == AMP_BFLOAT16;
    net_start(22);
    uint32_t x = input("x", dtype, DIMS(1, 1));
    uint32_t factor = constant("a", dtype, DIMS(1, 1), is_lower ? (const void *)&a16 : &a);
    uint32_t sum = constant("b", dtype, DIMS(1), is_lower ? (const void *)&b16 : &b);
    output(NODE("Add", "y", NODE("MatMul", "p", x, factor), sum));
    infer_all();
}

/* Of x = 1 + 2^-7 the product is 1 + 2^-6 + 2^-14, rounded to bfloat16 1 + 2^-6. */
static void nodes_round_one_by_one(void **state)
{
    static const float value = 1.0078125f;
    struct amp_validation result;
    double error;
    size_t row = 0;
    (void)state;
    while (strcmp(amp_metric_name_at(row), "max_abs") != 0)
        row++;
    start_sum(AMP_FLOAT);
    struct amp_model *reference = net.model;
    start_sum(AMP_BFLOAT16);
    validate(reference, net_tensor(AMP_FLOAT, DIMS(1, 1), &value), NULL, &result);
    assert_int_equal(result.samples, 1);
    assert_true(amp_metric_value(amp_metric_at(row), &result.outputs[0].metrics, &error));
    assert_true(error == ldexp(1, -14));
    amp_validation_free(&result);
}

/* Two outputs, of which those in WRONG (bits) are negated. */
static struct amp_model *two_outputs(int wrong)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 4));
    output(NODE(wrong & 1 ? "Neg" : "Identity", "first", x));
    output(NODE(wrong & 2 ? "Neg" : "Identity", "second", x));
    infer_all();
    return net.model;
}

static const float numbers[8] = {1, 2, 3, 4, 8, 7, 6, 5};

static void each_output_must_be_within_its_tolerance(void **state)
{
    static const char *const names[] = {NULL, "first", "second", "first"};
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        struct amp_validation result;
        char text[64];
        struct amp_model *reference = two_outputs(0);
        two_outputs(wrong);
        enum amp_status status =
            validate(reference, net_tensor(AMP_FLOAT, DIMS(2, 4), numbers), NULL, &result);
        assert_int_equal(status, wrong == 0 ? AMP_OK : AMP_MISMATCH);
        assert_int_equal(result.is_within, wrong == 0);
        assert_int_equal(result.outputs[0].is_outside, wrong & 1);
        assert_int_equal(result.outputs[1].is_outside, wrong >> 1);
        snprintf(text, sizeof text, "outside tolerance: output '%s': ", names[wrong]);
        assert_true(wrong == 0 || strncmp(net.err.text, text, strlen(text)) == 0);
        amp_validation_free(&result);
    }
}

/* Labels count for the reference alone where the converted model's scores have another shape. */
static void scores_of_another_shape_are_not_counted(void **state)
{
    static const int64_t classes[2] = {3, 1};
    struct amp_labels labels = {.tensor = {.dtype = AMP_INT64, .shape = DIMS(2)}};
    struct amp_validation result;
    (void)state;
    labels.tensor.data = net_tensor(AMP_INT64, DIMS(2), classes)->data;
    net_start(22);
    output(NODE("Identity", "y", input("x", AMP_FLOAT, DIMS(2, 4))));
    infer_all();
    struct amp_model *reference = net.model;
    net_start(22);
    output(NODE("Transpose", "y", input("x", AMP_FLOAT, DIMS(2, 4))));
    assert_int_equal(
        validate(reference, net_tensor(AMP_FLOAT, DIMS(2, 4), numbers), &labels, &result),
        AMP_MISMATCH);
    const struct amp_task *task = &result.tasks[0];
    assert_string_equal(task->name, "y");
    assert_int_equal(task->scores[0].rows, 2);
    assert_int_equal(task->scores[0].right, 1); /* 3 of the first row, 0 of the second */
    assert_int_equal(task->scores[1].rows, 0);
    assert_false(result.is_within);
    amp_validation_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(nodes_round_one_by_one),
        NET_TEST(each_output_must_be_within_its_tolerance),
        NET_TEST(scores_of_another_shape_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

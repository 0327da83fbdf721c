/* What a session takes for the inputs of its model, and how the outputs of models are measured
   where they are lists. */
#include "net.h"

#include "check/compare.h"
#include "check/elements.h"
#include "check/metrics.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(inputs_have_the_declared_dims),
        NET_TEST(inputs_have_the_declared_type),
        NET_TEST(a_symbol_is_one_size),
        NET_TEST(operators_without_a_kernel_are_found_at_once),
        NET_TEST(lists_are_compared_item_by_item),
        NET_TEST(lists_are_measured_item_by_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

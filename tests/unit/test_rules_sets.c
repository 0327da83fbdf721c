/* Rule sets: how they extend each other, what the default set says, and the names of PyTorch that
   rules may have. */
#include "rules_fixture.h"

/* ---- sets ---- */

static void extended_sets_come_first(void **state)
{
    struct fixture *f = *state;
    static const char base[] =
        "version: 1\nname: base\ndescription: d\ndtypes: [fp16]\nunlisted: fp32\n"
        "rules:\n  - {precision: lower, ops: [Conv]}\n"
        "limits:\n  fp16: {weight_max: 100, activation_max: 200}\n";
    uint32_t conv = add_node(f, "Conv", "");

    write_bytes(f, "b.yaml", base, sizeof base - 1);
    load(f, "rules:\n  - {precision: fp32, ops: [Conv]}\n"
            "limits: {fp16: {weight_max: 50}}\n" HEAD "extends: [b.yaml]\n");
    assert_int_equal(f->rules->count, 2);
    assert_int_equal(amp_rules_match(f->rules, f->model, conv)->precision, AMP_FP32);
    assert_int_equal(f->rules->unlisted, AMP_FP32);
    assert_int_equal(f->rules->n_sets, 1);
    assert_string_equal(f->rules->sets[0].name, "test");
    assert_string_equal(f->rules->sets[0].description, "");
    assert_int_equal(f->rules->sets[0].dtypes, AMP_DTYPE_BIT(AMP_FLOAT16));
    assert_true(amp_rules_limits(f->rules, AMP_FLOAT16)->weight_max == 50);
    assert_true(amp_rules_limits(f->rules, AMP_FLOAT16)->activation_max == 200);
    assert_true(amp_rules_limits(f->rules, AMP_BFLOAT16)->weight_max ==
                amp_dtype_max(AMP_BFLOAT16));
    assert_null(amp_rules_limits(f->rules, AMP_FLOAT));
    assert_int_equal(amp_rules_set_dtype(f->rules, AMP_FLOAT16, &f->err), AMP_OK);
    assert_int_equal(amp_rules_set_dtype(f->rules, AMP_BFLOAT16, &f->err), AMP_RULES);
    assert_non_null(strstr(f->err.text, "a.yaml: rule set 'test' is not for bf16; accepted: fp16"));
}

static void a_set_may_widen_what_it_extends(void **state)
{
    struct fixture *f = *state;
    static const char base[] = "version: 1\nname: base\ndtypes: [fp16]\nunlisted: fp32\n";

    write_bytes(f, "b.yaml", base, sizeof base - 1);
    load(f, HEAD "extends: [b.yaml]\ndtypes: [bf16]\nunlisted: follow\n");
    assert_int_equal(f->rules->sets[0].dtypes, AMP_DTYPE_BIT(AMP_BFLOAT16));
    assert_int_equal(f->rules->unlisted, AMP_FOLLOW);
}

/* Which precision the default set gives a node of an operator. */
static const struct {
    const char *op;
    int rank;
    const char *mode;      /* the attribute of that name; NULL: absent */
    const char *precision; /* NULL: unlisted */
} default_cases[] = {
    {"Conv", 4, NULL, "lower"},
    {"Conv", 3, NULL, "lower"},
    {"ConvTranspose", 5, NULL, "lower"},
    {"MatMul", 2, NULL, "lower"},
    {"Gemm", 2, NULL, "lower"},
    {"LSTM", 3, NULL, "lower"},
    {"GRU", 3, NULL, NULL}, /* its products alone are lowered, which ONNX's operator cannot do */
    {"RNN", 3, NULL, "lower"},
    {"PRelu", 4, NULL, "lower"},
    {"Attention", 4, NULL, "lower"},
    {"AveragePool", 5, NULL, "fp32"},
    {"AveragePool", 4, NULL, NULL},
    {"AveragePool", -1, NULL, NULL},
    {"GlobalAveragePool", 5, NULL, "fp32"},
    {"GlobalAveragePool", 4, NULL, NULL},
    {"MaxPool", 5, NULL, "fp32"},
    {"MaxPool", 4, NULL, NULL},
    {"GlobalMaxPool", 5, NULL, "fp32"},
    {"MaxUnpool", 4, NULL, "fp32"},
    {"GridSample", 4, NULL, "fp32"},
    {"Pad", 3, "reflect", "fp32"},
    {"Pad", 4, "reflect", "fp32"},
    {"Pad", 5, "reflect", NULL}, /* reflection_pad3d */
    {"Pad", 5, "edge", "fp32"},
    {"Pad", 4, "constant", NULL},
    {"Pad", 4, NULL, NULL},
    {"Pad", 4, "wrap", NULL},
    {"ReduceProd", 2, NULL, "fp32"},
    {"ReduceSum", 2, NULL, NULL},
    {"STFT", 2, NULL, "fp32"},
    {"DFT", 3, NULL, "fp32"},
    {"NegativeLogLikelihoodLoss", 2, NULL, "fp32"},
    {"SoftmaxCrossEntropyLoss", 2, NULL, "fp32"},
    {"QuantizeLinear", 2, NULL, "fp32"},
    {"Concat", 2, NULL, "widest"},
    {"ScatterElements", 2, NULL, "widest"},
    {"Softmax", 2, NULL, NULL},
    {"LayerNormalization", 2, NULL, NULL},
    {"CumSum", 2, NULL, NULL},
    {"Det", 2, NULL, NULL},
    {"Add", 2, NULL, NULL},
};

static void default_set(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(amp_rules_load(f->rules, "torch-cpu", &f->err), AMP_OK);
    assert_int_equal(f->rules->unlisted, AMP_FOLLOW);
    assert_int_equal(f->rules->sets[0].dtypes, AMP_RULES_DTYPES);
    for (size_t i = 0; i < sizeof default_cases / sizeof default_cases[0]; i++) {
        uint32_t node = add_ranked(f, default_cases[i].op, default_cases[i].rank);
        if (default_cases[i].mode != NULL)
            set_text(f, node, "mode", default_cases[i].mode);
        const struct amp_rule *rule = amp_rules_match(f->rules, f->model, node);
        const char *found = rule != NULL ? amp_precision_name(rule->precision) : "none";
        if (strcmp(found, default_cases[i].precision ? default_cases[i].precision : "none") != 0)
            fail_msg("%s of rank %d, mode %s: %s", default_cases[i].op, default_cases[i].rank,
                     default_cases[i].mode ? default_cases[i].mode : "absent", found);
    }
}

static void every_set_loads(void **state)
{
    struct fixture *f = *state;
    const char *const *names;
    size_t count;

    assert_int_equal(amp_rules_names(f->arena, &names, &count, &f->err), AMP_OK);
    assert_in_range(count, 1, 1000);
    for (size_t i = 0; i < count; i++) {
        if (amp_rules_load(f->rules, names[i], &f->err) != AMP_OK)
            fail_msg("%s", f->err.text);
        assert_string_equal(f->rules->sets[i].name, names[i]);
    }
}

/* ---- PyTorch's names ---- */

static void set_ranks(struct fixture *f, uint32_t node, int first, int second)
{
    const int ranks[] = {first, second};
    const struct amp_node *at = amp_node_at(f->model, node);

    for (uint32_t i = 0; i < at->n_inputs && i < 2; i++) {
        struct amp_shape shape = {.rank = ranks[i]};
        amp_value_set_shape(f->model, at->inputs[i], &shape);
    }
}

/* torch.einsum is bmm where it sums over a label, mul where it does not. */
static void einsums_that_sum(void **state)
{
    static const struct {
        const char *equation;
        bool is_lowered;
    } cases[] = {{"ij,jk->ik", true},      {"i,j->ij", false}, {"ij,ij->ij", false},
                 {"ij->i", false},         {"bij, bjk", true}, {"i,j", false},
                 {"...i,...i->...", true}, {"ii->i", false}};
    struct fixture *f = *state;
    assert_int_equal(amp_rules_load(f->rules, "torch-cpu", &f->err), AMP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t node = add_node(f, "Einsum", "");
        bool has_two = strchr(cases[i].equation, ',') != NULL;
        set_ranks(f, node, 2, has_two ? 2 : -1);
        amp_node_at(f->model, node)->n_inputs = has_two ? 2 : 1;
        set_text(f, node, "equation", cases[i].equation);
        const struct amp_rule *rule = amp_rules_match(f->rules, f->model, node);
        if ((rule != NULL) != cases[i].is_lowered)
            fail_msg("%s: %s", cases[i].equation, rule != NULL ? "lowered" : "not lowered");
    }
}

/* A node with two inputs of the given ranks. */
static uint32_t add_binary(struct fixture *f, const char *op, int first, int second)
{
    uint32_t id = amp_graph_add_node(f->model, 0, op, 2, 1);
    uint32_t x = add_value(f, "x", first), w = add_value(f, "w", second), y = add_value(f, "y", 4);
    struct amp_node *node = amp_node_at(f->model, id);

    node->name = "";
    node->schema = amp_schema_find("", op, 22);
    node->inputs[0] = x;
    node->inputs[1] = w;
    amp_node_set_output(f->model, id, 0, y);
    return id;
}

/* The name under which the one rule of TEXT, a list of operators, matches NODE; "" when not. */
static const char *word_for(struct fixture *f, const char *text, uint32_t node)
{
    char rules[256];
    struct amp_rule_subject subject = amp_rule_subject(f->model, node);

    snprintf(rules, sizeof rules, HEAD "rules:\n  - {precision: fp32, ops: [%s]}\n", text);
    reload(f, rules);
    const struct amp_rule *rule = amp_rules_match_subject(f->rules, &subject);
    return rule != NULL ? amp_rule_named_op(f->rules, rule, &subject)->word : "";
}

static void names_of_pytorch_stand_for_operators(void **state)
{
    struct fixture *f = *state;
    uint32_t conv = add_binary(f, "Conv", 4, 4), softmax = add_node(f, "Softmax", "");
    uint32_t pad = add_node(f, "Pad", "");

    assert_string_equal(word_for(f, "softmax", softmax), "softmax");
    assert_string_equal(word_for(f, "log_softmax, Softmax", softmax), "Softmax");
    assert_string_equal(word_for(f, "log_softmax", softmax), "");
    assert_string_equal(word_for(f, "conv1d, conv2d, conv3d", conv), "conv2d");
    assert_string_equal(word_for(f, "conv1d, conv_transpose2d", conv), "");
    assert_string_equal(word_for(f, "qr, conv_tbc, _convolution", conv), "_convolution");
    /* without a form: never, neither it nor its variants */
    assert_string_equal(word_for(f, "qr, svd, softmax_, conv2d_out, conv2d.out", conv), "");
    assert_string_equal(word_for(f, "reflection_pad2d", pad), "");
    set_text(f, pad, "mode", "reflect");
    assert_string_equal(word_for(f, "reflection_pad1d, reflection_pad2d", pad), "reflection_pad2d");
    write_bytes(f, "a.yaml", HEAD "rules:\n  - {precision: fp32, ops: [SoftMax]}\n",
                strlen(HEAD "rules:\n  - {precision: fp32, ops: [SoftMax]}\n"));
    assert_int_equal(load_file(f, "a.yaml"), AMP_RULES);
}

static void ranks_of_both_inputs_count(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int first, second;
        const char *word;
    } products[] = {{2, 2, "mm"},     {2, 1, "mv"},     {1, 1, "dot"},      {3, 3, "bmm"},
                    {3, 2, "linear"}, {4, 4, "matmul"}, {-1, -1, "matmul"}, {-1, 2, "linear"}};

    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        assert_string_equal(
            word_for(f, "mm, mv, dot, bmm, linear, matmul",
                     add_binary(f, "MatMul", products[i].first, products[i].second)),
            products[i].word);
}

static void a_kernel_tells_an_unknown_rank(void **state)
{
    struct fixture *f = *state;
    static const char convolutions[] = "conv1d, conv2d, conv3d";
    static const int64_t kernel[] = {3, 3, 3};
    uint32_t conv = add_binary(f, "Conv", -1, -1);

    assert_string_equal(word_for(f, convolutions, conv), "");
    set_ranks(f, conv, -1, 3);
    assert_string_equal(word_for(f, convolutions, conv), "conv1d");
    set_ints(f, conv, "kernel_shape", 3, kernel);
    assert_string_equal(word_for(f, convolutions, conv), "conv3d");
    set_ranks(f, conv, 4, 3);
    assert_string_equal(word_for(f, convolutions, conv), "conv2d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULES_TEST(extended_sets_come_first),
        RULES_TEST(a_set_may_widen_what_it_extends),
        RULES_TEST(default_set),
        RULES_TEST(einsums_that_sum),
        RULES_TEST(every_set_loads),
        RULES_TEST(names_of_pytorch_stand_for_operators),
        RULES_TEST(ranks_of_both_inputs_count),
        RULES_TEST(a_kernel_tells_an_unknown_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rules: lists of them, the sets that files and PyTorch's names make, and files that are broken or
 * costly. */
#include "autocast/rules/check.h"
#include "autocast/rules/excerpt.h"
#include "autocast/rules/op_list.h"
#include "mutate_rules.h"
#include "rules_fixture.h"

#include <cmocka.h>

/* ---- rules ----------------------------------------------------------------------------------- */

/* Rules: what matches what, and in which order. */

static void last_match_decides(void **state)
{
    struct fixture *f = *state;
    uint32_t conv = add_node(f, "Conv", "/a/conv"), gemm = add_node(f, "Gemm", "/a/gemm"),
             relu = add_node(f, "Relu", "/b/relu");

    load(f, HEAD "unlisted: fp32\n"
                 "rules:\n"
                 "  - {precision: lower, ops: [Conv, Gemm]}\n"
                 "  - {precision: fp32, nodes: [/a/*]}\n"
                 "  - {precision: widest, ops: [Gemm]}\n");
    assert_int_equal(line_of(f, conv), 6);
    assert_int_equal(line_of(f, gemm), 7);
    assert_int_equal(amp_rules_match(f->rules, f->model, gemm)->precision, AMP_WIDEST);
    assert_null(amp_rules_match(f->rules, f->model, relu));
    assert_int_equal(f->rules->unlisted, AMP_FP32);
}

static void later_sets_and_overrides_come_last(void **state)
{
    struct fixture *f = *state;
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    uint32_t conv = add_node(f, "Conv", "/a/conv");

    load(f, HEAD "unlisted: lower\nrules:\n  - {precision: lower, ops: [Conv]}\n");
    load(f, HEAD "rules:\n  - {precision: fp32, ops: [Conv]}\n");
    assert_int_equal(amp_rules_match(f->rules, f->model, conv)->precision, AMP_FP32);
    assert_int_equal(f->rules->unlisted, AMP_LOWER);
    assert_int_equal(f->rules->n_sets, 2);
    assert_int_equal(amp_rules_add_op(f->rules, "Conv", AMP_WIDEST, source, &f->err), AMP_OK);
    assert_int_equal(amp_rules_match(f->rules, f->model, conv)->precision, AMP_WIDEST);
    assert_int_equal(amp_rules_add_node(f->rules, "*/conv", AMP_FOLLOW, source, &f->err), AMP_OK);
    assert_int_equal(amp_rules_match(f->rules, f->model, conv)->precision, AMP_FOLLOW);
    assert_string_equal(amp_rules_match(f->rules, f->model, conv)->source.file, "command line");
}

static void overrides_name_operators(void **state)
{
    struct fixture *f = *state;
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};

    assert_int_equal(amp_rules_add_op(f->rules, "com.example::Any", AMP_LOWER, source, &f->err),
                     AMP_OK);
    assert_int_equal(amp_rules_add_op(f->rules, "Convv", AMP_LOWER, source, &f->err), AMP_USAGE);
    assert_string_equal(f->err.text,
                        "unknown operator 'Convv' (did you mean 'Conv'?); accepted: an "
                        "operator of ONNX or PyTorch, or DOMAIN::NAME of another domain");
}

static void precisions_have_names(void **state)
{
    enum amp_precision precision;
    struct amp_error err = {.status = AMP_OK};

    (void)state;
    for (int i = 0; i < AMP_PRECISION_COUNT; i++) {
        assert_int_equal(
            amp_precision_parse(amp_precision_name((enum amp_precision)i), &precision, &err),
            AMP_OK);
        assert_int_equal(precision, i);
    }
    assert_int_equal(amp_precision_parse("lowr", &precision, &err), AMP_USAGE);
    assert_string_equal(err.text, "unknown precision 'lowr' (did you mean 'lower'?); accepted: "
                                  "follow, lower, fp32, bf16, fp16, widest, infer, clear");
}

static void operators_match_with_their_domain(void **state)
{
    struct fixture *f = *state;
    uint32_t own = add_node(f, "Conv", ""), custom = add_node(f, "Conv", "");

    amp_node_at(f->model, custom)->domain = "com.example";
    amp_node_at(f->model, custom)->schema = NULL;
    assert_true(selects(f, "ops: [Gemm, Conv]", own));
    assert_true(selects(f, "ops: ['ai.onnx::Conv']", own));
    assert_false(selects(f, "ops: [Conv]", custom));
    assert_true(selects(f, "ops: ['com.example::Conv']", custom));
    assert_false(selects(f, "ops: ['com.example::Conv']", own));
}

static void globs_match_names(void **state)
{
    struct fixture *f = *state;
    uint32_t node = add_node(f, "Conv", "/encoder/layer.11/conv[0]"),
             unnamed = add_node(f, "Conv", "");

    assert_true(selects(f, "nodes: ['/encoder/*']", node));
    assert_true(selects(f, "nodes: ['/decoder/*', '*layer.1?/*']", node));
    assert_true(selects(f, "nodes: ['/encoder/layer.[0-9][0-9]/conv*']", node));
    assert_true(selects(f, "nodes: ['/encoder/layer.11/conv[0]']", node)); /* the name itself */
    assert_true(selects(f, "nodes: ['/encoder/layer.11/conv\\[0\\]']", node));
    assert_false(selects(f, "nodes: ['encoder/*']", node));
    assert_false(selects(f, "nodes: ['/encoder/']", node));
    assert_true(selects(f, "nodes: ['*']", unnamed));
    assert_false(selects(f, "nodes: ['?*']", unnamed));
}

static void expressions_match_whole_names(void **state)
{
    struct fixture *f = *state;
    uint32_t node = add_node(f, "Conv", "/layer.7/conv");

    assert_true(selects(f, "nodes_regex: ['/layer\\.[0-9]+/(conv|gemm)']", node));
    assert_true(
        selects(f, "nodes_regex: ['/layer|/layer.*conv']", node)); /* the longer one counts */
    assert_false(selects(f, "nodes_regex: ['layer\\.[0-9]+/conv']", node));
    assert_false(selects(f, "nodes_regex: ['/layer\\.[0-9]+/con']", node));
    assert_false(selects(f, "nodes_regex: ['']", node));
    assert_true(selects(f, "nodes_regex: ['.{13}']", node));
}

static void tensors_select_their_producer(void **state)
{
    struct fixture *f = *state;
    uint32_t node = add_node(f, "Conv", "conv");
    const char *output = amp_value_at(f->model, amp_node_at(f->model, node)->outputs[0])->name;
    char selectors[64];

    snprintf(selectors, sizeof selectors, "tensors: [%s]", output);
    assert_true(selects(f, selectors, node));
    assert_true(selects(f, "tensors: ['[yz]*']", node));
    assert_false(selects(f, "tensors: ['x*', conv]", node));
}

static void tensors_select_by_any_output(void **state)
{
    struct fixture *f = *state;
    uint32_t node = amp_graph_add_node(f->model, 0, "Split", 1, 3);

    amp_node_at(f->model, node)->schema = amp_schema_find("", "Split", 22);
    amp_node_set_output(f->model, node, 0, add_value(f, "left", 2));
    amp_node_set_output(f->model, node, 2, add_value(f, "right", 2));
    assert_true(selects(f, "tensors: [left]", node));
    assert_true(selects(f, "tensors: [right]", node));
    assert_true(selects(f, "tensors: [middle, right]", node));
    assert_false(selects(f, "tensors: [middle]", node));
}

static void all_selectors_must_match(void **state)
{
    struct fixture *f = *state;
    uint32_t node = add_node(f, "Conv", "/a");

    assert_true(selects(f,
                        "ops: [Conv], nodes: [/a], nodes_regex: [./?a], tensors: ['y*'], "
                        "when: {input_rank: 4, group: 1}",
                        node));
    assert_false(selects(f, "ops: [Gemm], nodes: [/a]", node));
    assert_false(selects(f, "ops: [Conv], nodes: [/b]", node));
    assert_false(selects(f, "nodes: [/a], nodes_regex: [b]", node));
    assert_false(selects(f, "nodes: [/a], tensors: [x]", node));
    assert_false(selects(f, "nodes: [/a], when: {input_rank: 3}", node));
    assert_false(selects(f, "ops: [Conv], when: {input_rank: 4, group: 2}", node));
}

static void ranks(void **state)
{
    struct fixture *f = *state;
    uint32_t scalar = add_ranked(f, "Relu", 0), known = add_ranked(f, "Relu", 5),
             unknown = add_ranked(f, "Relu", -1), none = add_node(f, "RandomNormal", "");

    amp_node_at(f->model, none)->inputs[0] = AMP_NONE;
    assert_true(selects(f, "when: {input_rank: 0}", scalar));
    assert_true(selects(f, "when: {input_rank: [4, 5]}", known));
    assert_false(selects(f, "when: {input_rank: [3, 4]}", known));
    assert_false(selects(f, "when: {input_rank: [0, 1, 2, 3, 4, 5]}", unknown));
    assert_false(selects(f, "when: {input_rank: 0}", none));
}

static void attributes_are_compared(void **state)
{
    struct fixture *f = *state;
    static const int64_t kernel[] = {3, 3};
    static const float alpha = 0.1f;
    uint32_t conv = add_node(f, "Conv", ""), elu = add_node(f, "Elu", ""),
             pad = add_node(f, "Pad", "");

    amp_node_set_int(f->model, conv, "group", 8);
    set_ints(f, conv, "kernel_shape", 2, kernel);
    set_float(f, elu, "alpha", &alpha);
    set_text(f, pad, "mode", "reflect");
    assert_true(selects(f, "ops: [Conv], when: {group: 8}", conv));
    assert_true(selects(f, "ops: [Conv], when: {group: [4, 8]}", conv));
    assert_false(selects(f, "ops: [Conv], when: {group: 1}", conv));
    assert_true(selects(f, "when: {kernel_shape: [3, 3]}", conv));
    assert_true(selects(f, "when: {kernel_shape: [[1, 1], [3, 3]]}", conv));
    assert_false(selects(f, "when: {kernel_shape: [3]}", conv));
    assert_false(selects(f, "when: {kernel_shape: [3, 1]}", conv));
    assert_false(selects(f, "when: {kernel_shape: []}", conv));
    assert_true(selects(f, "ops: [Elu], when: {alpha: 0.1}", elu)); /* as float32 */
    assert_true(selects(f, "ops: [Elu], when: {alpha: [1, 1.0e-1]}", elu));
    assert_false(selects(f, "ops: [Elu], when: {alpha: 0.2}", elu));
    assert_true(selects(f, "ops: [Pad], when: {mode: [edge, reflect]}", pad));
    assert_false(selects(f, "ops: [Pad], when: {mode: reflec}", pad));
    assert_false(selects(f, "ops: [Pad], when: {mode: Reflect}", pad));
}

static void absent_attributes_have_the_default(void **state)
{
    struct fixture *f = *state;
    uint32_t conv = add_node(f, "Conv", ""), elu = add_node(f, "Elu", ""),
             pad = add_node(f, "Pad", ""), mvn = add_node(f, "MeanVarianceNormalization", ""),
             rnn = add_node(f, "RNN", "");

    assert_true(selects(f, "ops: [Conv], when: {group: 1, auto_pad: NOTSET}", conv));
    assert_false(selects(f, "ops: [Conv], when: {group: 2}", conv));
    assert_true(selects(f, "ops: [Elu], when: {alpha: 1}", elu));
    assert_true(selects(f, "ops: [Pad], when: {mode: constant}", pad));
    assert_true(selects(f, "ops: [MeanVarianceNormalization], when: {axes: [0, 2, 3]}", mvn));
    assert_true(selects(f, "ops: [RNN], when: {activations: [Tanh, Tanh]}", rnn));
    assert_false(selects(f, "ops: [RNN], when: {activations: [Tanh]}", rnn));
    /* Without a default, absent is unlike any value. */
    assert_false(selects(f, "ops: [Conv], when: {kernel_shape: []}", conv));
    amp_node_at(f->model, conv)->schema = NULL;
    assert_false(selects(f, "ops: [Conv], when: {group: 1}", conv));
}

static void a_group_is_matched_as_one_operator(void **state)
{
    struct fixture *f = *state;
    uint32_t node = add_node(f, "Mul", "/norm/mul");
    struct amp_rule_subject subject = amp_rule_subject(f->model, node);

    subject.domain = AMP_RULES_COMPOSITE;
    subject.op_type = "LayerNormalization";
    load(f, HEAD "rules:\n"
                 "  - {precision: fp32, ops: [LayerNormalization], nodes: [/norm/*]}\n"
                 "  - {precision: lower, ops: [Mul]}\n"
                 "  - {precision: lower, ops: [LayerNormalization], when: {axis: -1}}\n");
    assert_int_equal(amp_rules_match_subject(f->rules, &subject)->source.line, 4);
    assert_int_equal(line_of(f, node), 5);
    reload(f, HEAD "rules:\n"
                   "  - {precision: lower, ops: [layer_norm]}\n"
                   "  - {precision: fp32, ops: [\"composite::Swish\"]}\n");
    const struct amp_rule *rule = amp_rules_match_subject(f->rules, &subject);
    assert_int_equal(rule->source.line, 4);
    assert_string_equal(amp_rule_named_op(f->rules, rule, &subject)->word, "layer_norm");
    subject.op_type = "Swish";
    assert_int_equal(amp_rules_match_subject(f->rules, &subject)->source.line, 5);
    assert_int_equal(line_of(f, add_node(f, "Swish", "")), 0);
}

/* ---- rules sets ------------------------------------------------------------------------------ */

/* Rule sets: how they extend each other, what the default set says, and the names of PyTorch that
   rules may have. */

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

/* ---- what is odd about rules ----------------------------------------------------------------- */

/* What is found in a set of RULES, the lines of their list from line 4 on. */
static size_t find_in(struct fixture *f, const char *rules, struct amp_rule_finding **findings)
{
    char text[800];
    size_t count;

    snprintf(text, sizeof text, HEAD "rules:\n%s", rules);
    reload(f, text);
    if (amp_rules_check(f->rules, findings, &count, &f->err) != AMP_OK)
        fail_msg("%s", f->err.text);
    return count;
}

#define HIDDEN_BY(line)                                                            \
    "the rule never decides: that of line " #line " matches all that it matches, " \
    "and comes later"
#define OTHER_RANKS \
    "the rule can never match: the name stands for other ranks than the rule asks for"
#define NO_ATTRIBUTE "the rule can never match: it has no attribute that the rule asks for"

/* The first of two rules is hidden where each node that it matches is matched by the second. */
static void rules_hide_what_they_match_too(void **state)
{
    static const struct {
        const char *first, *second;
        bool is_hidden;
    } pairs[] = {
        {"nodes: [a]", "nodes: [a]", true},
        {"nodes: [a]", "nodes: [b]", false},
        {"nodes: [a]", "nodes: ['*']", true},
        {"nodes: ['*']", "nodes: [a]", false},
        {"nodes: [a, b]", "nodes: [a]", false},
        {"nodes: [a, b]", "nodes: [c, b, a]", true},
        {"nodes: [a]", "tensors: [a]", false},
        {"nodes: [a]", "nodes_regex: [a]", false},
        {"nodes: [a]", "nodes_regex: ['.*']", true},
        {"nodes: [a]", "tensors: ['*']", true},
        {"nodes: [a], tensors: [t]", "tensors: [t]", true},
        {"tensors: [t]", "nodes: [a], tensors: [t]", false},
        {"nodes_regex: [a, b]", "nodes_regex: [b, a]", true},
        {"nodes_regex: [a, b]", "nodes_regex: [b]", false},
        {"ops: [Conv]", "ops: [Conv]", true},
        {"ops: [Conv]", "ops: [Relu]", false},
        {"ops: [Conv]", "ops: [Relu, Conv]", true},
        {"ops: [Conv, Relu]", "ops: [Conv]", false},
        {"ops: [Relu, Conv]", "ops: [Conv]", false},
        {"ops: [Conv]", "nodes: ['*']", true},
        {"nodes: [a]", "ops: [Conv]", false},
        {"ops: [Conv]", "ops: [Conv], nodes: [a]", false},
        {"ops: [Conv], nodes: [a]", "ops: [Conv]", true},
        {"ops: ['com.example::Any']", "ops: ['com.example::Any']", true},
        {"ops: ['com.example::Any']", "ops: ['com.other::Any']", false},
        {"ops: ['com.example::Any']", "ops: ['com.example::All']", false},
        {"ops: [Conv], when: {input_rank: 2}", "ops: [Conv], when: {input_rank: 2}", true},
        {"ops: [Conv], when: {input_rank: 2}", "ops: [Conv], when: {input_rank: 3}", false},
        {"ops: [Conv], when: {input_rank: 2}", "ops: [Conv], when: {input_rank: [2, 3]}", true},
        {"ops: [Conv], when: {input_rank: 3}", "ops: [Conv], when: {input_rank: [2, 3]}", true},
        {"ops: [Conv], when: {input_rank: [2, 3]}", "ops: [Conv], when: {input_rank: 2}", false},
        {"ops: [Conv], when: {input_rank: [2, 3]}", "ops: [Conv], when: {input_rank: 3}", false},
        {"ops: [Conv], when: {input_rank: [2, 3]}", "ops: [Conv], when: {input_rank: [3, 2]}",
         true},
        {"ops: [Conv]", "ops: [Conv], when: {input_rank: 2}", false},
        {"ops: [Conv], when: {input_rank: 2}", "ops: [Conv]", true},
        {"ops: [mv]", "ops: [mv]", true},
        {"ops: [mv]", "ops: [MatMul]", true},
        {"ops: [MatMul]", "ops: [mv]", false},
        {"ops: [mv]", "ops: [dot]", false},
        {"ops: [mv]", "ops: [MatMul], when: {input_rank: 2}", true},
        {"ops: [mv]", "ops: [MatMul], when: {input_rank: 1}", false},
        {"ops: [mv], when: {input_rank: [2, 3]}", "ops: [MatMul], when: {input_rank: 2}", true},
        {"ops: [mv], when: {input_rank: [3, 2]}", "ops: [MatMul], when: {input_rank: 2}", true},
        {"ops: [mv], when: {input_rank: [3, 2]}", "ops: [MatMul], when: {input_rank: 3}", false},
        {"ops: [LeakyRelu], when: {alpha: 1}", "ops: [LeakyRelu], when: {alpha: 1}", true},
        {"ops: [LeakyRelu], when: {alpha: 1}", "ops: [LeakyRelu], when: {alpha: 2}", false},
        {"ops: [LeakyRelu], when: {alpha: [1, 2]}", "ops: [LeakyRelu], when: {alpha: [1, 2]}",
         true},
        {"ops: [LeakyRelu], when: {alpha: [1, 2]}", "ops: [LeakyRelu], when: {alpha: [1, 3]}",
         false},
        {"ops: [LeakyRelu], when: {alpha: [1, 2]}", "ops: [LeakyRelu], when: {alpha: [1]}", false},
        {"ops: [LeakyRelu]", "ops: [LeakyRelu], when: {alpha: 1}", false},
        {"ops: [LeakyRelu], when: {alpha: 1}", "ops: [LeakyRelu]", true},
        {"ops: [Conv], when: {group: 1}", "ops: [Conv], when: {auto_pad: VALID}", false},
        {"ops: [Conv], when: {group: 1, auto_pad: VALID}", "ops: [Conv], when: {auto_pad: VALID}",
         true},
        {"ops: [Conv], when: {group: 1}", "ops: [Conv], when: {group: 1, auto_pad: VALID}", false},
        {"ops: [Conv], when: {kernel_shape: [[1, 1], [3, 3]]}",
         "ops: [Conv], when: {kernel_shape: [[1, 1], [3, 3]]}", true},
        {"ops: [Conv], when: {kernel_shape: [[1, 1], [3, 3]]}",
         "ops: [Conv], when: {kernel_shape: [[1, 1], [3, 4]]}", false},
        {"ops: [Conv], when: {kernel_shape: [[1, 1], [3, 3]]}",
         "ops: [Conv], when: {kernel_shape: [[1, 1]]}", false},
        {"ops: [Conv], when: {kernel_shape: [[1, 1]]}",
         "ops: [Conv], when: {kernel_shape: [[1, 1], [3, 3]]}", false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct amp_rule_finding *findings;
        char rules[400];
        snprintf(rules, sizeof rules,
                 "  - {precision: fp32, %s}\n"
                 "  - {precision: lower, %s}\n",
                 pairs[i].first, pairs[i].second);
        if (find_in(f, rules, &findings) != pairs[i].is_hidden)
            fail_msg("'%s' and '%s'", pairs[i].first, pairs[i].second);
        if (pairs[i].is_hidden) {
            assert_string_equal(findings[0].text, HIDDEN_BY(5));
            assert_int_equal(findings[0].line, 4);
            assert_ptr_equal(findings[0].rule, &f->rules->items[0]);
            assert_false(findings[0].is_note);
        }
    }
}

/* What no node can match is said, and which of several later rules comes first. */
static void findings_say_which_rules_and_why(void **state)
{
    static const struct {
        const char *rules, *text; /* NULL: nothing */
        int line;
        bool is_note;
    } sets[] = {
        {"  - {precision: fp32, ops: [mv], when: {input_rank: 3}}\n", OTHER_RANKS, 4, false},
        {"  - {precision: fp32, ops: [mv], when: {input_rank: [3, 4]}}\n", OTHER_RANKS, 4, false},
        {"  - {precision: fp32, ops: [mv], when: {input_rank: [2, 3]}}\n", NULL, 0, false},
        {"  - {precision: fp32, ops: [mv], when: {input_rank: [3, 2]}}\n", NULL, 0, false},
        {"  - {precision: fp32, ops: [mv, bmm], when: {input_rank: 3}}\n", NULL, 0, false},
        {"  - {precision: fp32, ops: [mv, dot], when: {input_rank: 3}}\n", OTHER_RANKS, 4, false},
        {"  - {precision: fp32, ops: [Softmax, LeakyRelu], when: {axis: 1, alpha: 1}}\n",
         NO_ATTRIBUTE, 4, false},
        {"  - {precision: fp32, ops: [Relu, LeakyRelu], when: {alpha: 1}}\n", NULL, 0, false},
        {"  - {precision: fp32, ops: ['com.example::Any'], when: {alpha: 1}}\n", NULL, 0, false},
        {"  - {precision: fp32, ops: [Conv, Relu]}\n"
         "  - {precision: fp32, ops: [Relu]}\n"
         "  - {precision: lower, ops: [Conv]}\n",
         HIDDEN_BY(5), 4, false},
        {"  - {precision: fp32, ops: [Conv, Relu]}\n"
         "  - {precision: fp32, ops: [Conv]}\n"
         "  - {precision: lower, ops: [Relu]}\n",
         HIDDEN_BY(5), 4, false},
        {"  - precision: fp32\n    ops: [Conv,\n      qr]\n",
         "'qr' matches nothing: ONNX has no operators for decompositions and solving; exporters "
         "refuse it",
         6, true},
        {"  - {precision: fp32, ops: [Conv, qr]}\n"
         "  - {precision: fp32, nodes: ['*']}\n",
         HIDDEN_BY(5), 4, false},
        {"  - {precision: fp32, nodes: [a], ops: [mv], when: {input_rank: 3}}\n"
         "  - {precision: fp32, nodes: ['*']}\n",
         OTHER_RANKS, 4, false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct amp_rule_finding *findings;
        size_t count = find_in(f, sets[i].rules, &findings);
        if ((count > 0) != (sets[i].text != NULL))
            fail_msg("%zu findings in '%s'", count, sets[i].rules);
        if (count == 0)
            continue;
        assert_string_equal(findings[0].text, sets[i].text);
        assert_int_equal(findings[0].line, sets[i].line);
        assert_int_equal(findings[0].is_note, sets[i].is_note);
    }
}

/* ---- lists of operators ---------------------------------------------------------------------- */

static enum amp_status read_list(struct fixture *f, const char *text, struct amp_op_list *list)
{
    char path[SCRATCH_MAX + 32];

    write_bytes(f, "b.yaml", text, strlen(text));
    snprintf(path, sizeof path, "%s/b.yaml", f->folder);
    f->err = (struct amp_error){.status = AMP_OK};
    return amp_op_list_read(f->rules, path, list, &f->err);
}

/* What is said ends with TEXT behind the place, in the file. */
static void assert_said(const struct fixture *f, const char *text)
{
    size_t folder = strlen(f->folder);

    assert_memory_equal(f->err.text, f->folder, folder);
    assert_string_equal(f->err.text + folder, text);
}

static void lists_have_a_name_per_line(void **state)
{
    static const char text[] = "\n# names\n  Conv\n\tRelu\t \r\n \t\r\n\nTanh# no more\n"
                               "Exp #\n \f\v\n   #\ncom.example::Any\nLog";
    static const struct {
        const char *name, *domain;
        int line;
    } names[] = {{"Conv", "", 3},
                 {"Relu", "", 4},
                 {"Tanh", "", 7},
                 {"Exp", "", 8},
                 {"Any", "com.example", 11},
                 {"Log", "", 12}};
    struct fixture *f = *state;
    struct amp_op_list list = {.keeps_unknown = false};

    assert_int_equal(read_list(f, text, &list), AMP_OK);
    assert_int_equal(list.ops.count, sizeof names / sizeof *names);
    for (size_t i = 0; i < list.ops.count; i++) {
        assert_string_equal(list.ops.items[i].name, names[i].name);
        assert_string_equal(list.ops.items[i].domain, names[i].domain);
        assert_int_equal(list.ops.items[i].line, names[i].line);
    }
    assert_int_equal(list.source.line, 1);
    assert_null(list.unknown);
    list = (struct amp_op_list){.keeps_unknown = false};
    assert_int_equal(read_list(f, "", &list), AMP_OK);
    assert_int_equal(list.ops.count, 0);
    assert_int_equal(read_list(f, " \n# Conv", &list), AMP_OK);
    assert_int_equal(list.ops.count, 0);
}

static void lists_name_up_to_three_unknown_words(void **state)
{
    static const char *const words[] = {"one", "two", "three", "four", "five"};
    static const char *const said[] = {"'one' (line 2)", "'one' (line 2), 'two' (line 3)",
                                       "'one' (line 2), 'two' (line 3), 'three' (line 4)"};
    struct fixture *f = *state;

    for (size_t n = 1; n <= 5; n++) {
        char text[64] = "Conv\n";
        for (size_t i = 0; i < n; i++)
            strcat(strcat(text, words[i]), "\n");
        struct amp_op_list list = {.keeps_unknown = true};
        assert_int_equal(read_list(f, text, &list), AMP_OK);
        assert_int_equal(list.n_unknown, n);
        assert_string_equal(list.unknown, said[n < 3 ? n - 1 : 2]);
        assert_int_equal(list.ops.count, 1);
        list = (struct amp_op_list){.keeps_unknown = false};
        assert_int_equal(read_list(f, text, &list), AMP_RULES);
        assert_non_null(strstr(f->err.text, "b.yaml:2: "));
    }
}

static void lists_have_an_end(void **state)
{
    enum { MOST = 10000, BYTES = 1 << 20 };
    struct fixture *f = *state;
    char *text = calloc(1, BYTES + 2);

    for (int i = 0; i < MOST; i++)
        memcpy(text + 4 * i, "Exp\n", 4);
    struct amp_op_list list = {.keeps_unknown = false};
    assert_int_equal(read_list(f, text, &list), AMP_OK);
    assert_int_equal(list.ops.count, MOST);
    strcpy(text + 4 * MOST, "\n# one more\nLog");
    list = (struct amp_op_list){.keeps_unknown = false};
    assert_int_equal(read_list(f, text, &list), AMP_RULES);
    assert_said(f, "/b.yaml:10003: too many operators; accepted: a list of 10000 at most");
    memset(text, ' ', BYTES);
    list = (struct amp_op_list){.keeps_unknown = false};
    assert_int_equal(read_list(f, text, &list), AMP_OK);
    text[BYTES] = ' ';
    assert_int_equal(read_list(f, text, &list), AMP_RULES);
    assert_said(f, "/b.yaml: 1048577 bytes; accepted: a list of operators of at most 1048576");
    free(text);
    write_bytes(f, "b.yaml", "Exp\0\n", 5);
    f->err = (struct amp_error){.status = AMP_OK};
    char path[SCRATCH_MAX + 32];
    snprintf(path, sizeof path, "%s/b.yaml", f->folder);
    assert_int_equal(amp_op_list_read(f->rules, path, &list, &f->err), AMP_RULES);
    assert_said(f, "/b.yaml: not a text; accepted: a name of an operator per line");
}

/* ---- places in texts ------------------------------------------------------------------------- */

/* Lines end where YAML 1.1 ends them, columns are characters, or bytes that are none. */
static void places_are_lines_and_characters(void **state)
{
    static const struct {
        const char *text;
        int line, column; /* of its end */
    } ends[] = {{"", 1, 1},
                {"ab", 1, 3},
                {"a\n", 2, 1},
                {"a\nb", 2, 2},
                {"\n\n\n", 4, 1},
                {"a\r\nb", 2, 2},
                {"a\r", 2, 1},
                {"\r\rb", 3, 2},
                {"\n\rb", 3, 2},
                {"a\xc2\x85"
                 "b",
                 2, 2},
                {"a\xe2\x80\xa8", 2, 1},
                {"a\xe2\x80\xa9"
                 "bc",
                 2, 3},
                {"a\xe2\x80\xaa", 1, 3},
                {"a\xc2\x84", 1, 3},
                {"\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80", 1, 4},
                {"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf4\x80\x80\x80", 1, 7},
                {"\x80", 1, 2},
                {"\xff\xff", 1, 3},
                {"\xc1\x81", 1, 3},
                {"\xf5\x80\x80\x80", 1, 5},
                {"\xc3(", 1, 3},
                {"\xc3", 1, 2},
                {"\xe2\x82", 1, 3},
                {"\xe2\x28\x80", 1, 4},
                {"\xf0\x9f\x98", 1, 4},
                {"\xf0\x9f\x98(", 1, 5}};
    struct amp_excerpt excerpt;

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t size = strlen(ends[i].text);
        struct amp_place place = amp_place_of(ends[i].text, size, size);
        if (place.line != ends[i].line || place.column != ends[i].column)
            fail_msg("text %zu: %d:%d", i, place.line, place.column);
        amp_excerpt(ends[i].text, size, place, &excerpt);
        assert_int_equal(strlen(excerpt.caret), place.column);
    }
    struct amp_place place = amp_place_of("a\r\nb\nc", 6, 3);
    assert_true(place.line == 2 && place.column == 1);
    place = amp_place_of("a\r\nb\nc", 6, 4);
    assert_true(place.line == 2 && place.column == 2);
}

static void assert_excerpt(const char *text, int line, int column, const char *shown,
                           const char *caret)
{
    struct amp_excerpt excerpt;

    amp_excerpt(text, strlen(text), (struct amp_place){line, column}, &excerpt);
    assert_string_equal(excerpt.line, shown);
    assert_string_equal(excerpt.caret, caret);
}

/* The line of a place, of which at most 100 characters are shown, with a caret under the column. */
static void excerpts_show_what_surrounds_a_place(void **state)
{
    enum { LONG = 300, WIDTH = 100, BEFORE = 70 };
    char text[LONG + 1], shown[WIDTH + 8], caret[WIDTH + 8];

    (void)state;
    assert_excerpt("one\ntwo\nthree", 1, 1, "one", "^");
    assert_excerpt("one\ntwo\nthree", 2, 3, "two", "  ^");
    assert_excerpt("one\r\ntwo\xe2\x80\xa8three", 2, 4, "two", "   ^");
    assert_excerpt("one\r\ntwo\xe2\x80\xa8three", 3, 6, "three", "     ^");
    assert_excerpt("one\n", 2, 1, "", "^");
    assert_excerpt("one\ntwo", 5, 3, "", "  ^");
    assert_excerpt("\ta\tb", 1, 5, "\ta\tb", "\t \t ^");
    assert_excerpt("a\x01\xff\xc3\xb6z", 1, 5, "a??\xc3\xb6z", "    ^");
    assert_excerpt("\xe2\x82", 1, 2, "??", " ^");
    for (int length = WIDTH - 1; length <= WIDTH + 1; length++) {
        memset(text, 'x', (size_t)length);
        text[length] = '\0';
        snprintf(shown, sizeof shown, "%.100s%s", text, length > WIDTH ? "..." : "");
        assert_excerpt(text, 1, 1, shown, "^");
        strcpy(text + length, "\ny");
        assert_excerpt(text, 1, 1, shown, "^");
    }
    for (int i = 0; i < LONG; i++)
        text[i] = (char)('a' + i % 26);
    text[LONG] = '\0';
    for (int column = WIDTH - 1; column <= LONG; column++) {
        int skipped = column > WIDTH ? column - BEFORE : 0;
        bool is_cut = skipped + WIDTH < LONG;
        snprintf(shown, sizeof shown, "%s%.100s%s", skipped > 0 ? "..." : "", text + skipped,
                 is_cut ? "..." : "");
        snprintf(caret, sizeof caret, "%*s^", column - skipped - 1 + (skipped > 0 ? 3 : 0), "");
        assert_excerpt(text, 1, column, shown, caret);
    }
}

/* ---- rules hostile --------------------------------------------------------------------------- */

/* Rule files that are wrong: no input crashes the reader. */

static const char whole[] = HEAD
    "description: \"all keys: \\x41 \xc3\xb6\"\n"
    "dtypes: [bf16, fp16]\n"
    "extends: []\n"
    "unlisted: follow\n"
    "rules:\n"
    "  - precision: &p lower\n"
    "    ops: &ops [Conv, \"ai.onnx::Gemm\", 'com.example::Any']\n"
    "  - {precision: *p, ops: *ops, nodes: ['/a/*', \"b?\"], tensors: [logits]}\n"
    "  - precision: fp32\n"
    "    nodes_regex: ['/layer\\.[0-9]{1,3}/(conv|gemm)[[:digit:]]*']\n"
    "    when: {input_rank: [2, 3], kernel_shape: [[1, 1], [3, 3]], alpha: 1.5e-3, mode: edge}\n"
    "limits:\n"
    "  fp16: {weight_max: 65504, activation_max: 1e4}\n"
    "  bf16:\n    weight_max: 1\n";

/* Loads SIZE bytes as a rule file; whatever they are, it ends in a rule list or a message with a
 * place. */
static void survive(struct fixture *f, const char *bytes, size_t size)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_rules *kept = f->rules;

    f->rules = amp_rules_create(arena);
    write_bytes(f, "c.yaml", bytes, size);
    enum amp_status status = load_file(f, "c.yaml");
    if (status != AMP_OK) {
        assert_int_equal(status, AMP_RULES);
        assert_non_null(strstr(f->err.text, "c.yaml:"));
        assert_int_equal(f->err.text[strlen(f->err.text) - 1], '^');
    }
    amp_rules_destroy(f->rules);
    amp_arena_destroy(arena);
    f->rules = kept;
}

static void mutated_files(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 1;

    load(f, whole);
    for (int i = 0; i < 3000; i++) {
        struct bytes text = {.arena = amp_arena_create()};
        put(&text, whole, sizeof whole - 1);
        mutate_bytes(&text, yaml_special, sizeof yaml_special - 1, &seed);
        survive(f, (const char *)text.data, text.size);
        amp_arena_destroy(text.arena);
    }
}

static void truncated_files(void **state)
{
    for (size_t size = 0; size < sizeof whole; size++)
        survive(*state, whole, size);
}

static void costly_expressions(void **state)
{
    struct fixture *f = *state;
    char pattern[2001], text[2200];

    memset(pattern, '(', 1000);
    memset(pattern + 1000, ')', 1000);
    pattern[2000] = '\0';
    snprintf(text, sizeof text, HEAD "rules:\n  - {precision: lower, nodes_regex: ['%s']}\n",
             pattern);
    survive(f, text, strlen(text));
    assert_false(
        selects(f, "nodes_regex: ['(((a{1,4}){1,4}){1,4})*b']", add_node(f, "Conv", "aaaa")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULES_TEST(last_match_decides),
        RULES_TEST(later_sets_and_overrides_come_last),
        RULES_TEST(overrides_name_operators),
        RULES_TEST(precisions_have_names),
        RULES_TEST(operators_match_with_their_domain),
        RULES_TEST(globs_match_names),
        RULES_TEST(expressions_match_whole_names),
        RULES_TEST(tensors_select_their_producer),
        RULES_TEST(tensors_select_by_any_output),
        RULES_TEST(all_selectors_must_match),
        RULES_TEST(ranks),
        RULES_TEST(attributes_are_compared),
        RULES_TEST(absent_attributes_have_the_default),
        RULES_TEST(a_group_is_matched_as_one_operator),
        RULES_TEST(extended_sets_come_first),
        RULES_TEST(a_set_may_widen_what_it_extends),
        RULES_TEST(default_set),
        RULES_TEST(einsums_that_sum),
        RULES_TEST(every_set_loads),
        RULES_TEST(names_of_pytorch_stand_for_operators),
        RULES_TEST(ranks_of_both_inputs_count),
        RULES_TEST(a_kernel_tells_an_unknown_rank),
        RULES_TEST(rules_hide_what_they_match_too),
        RULES_TEST(findings_say_which_rules_and_why),
        RULES_TEST(lists_have_a_name_per_line),
        RULES_TEST(lists_name_up_to_three_unknown_words),
        RULES_TEST(lists_have_an_end),
        RULES_TEST(places_are_lines_and_characters),
        RULES_TEST(excerpts_show_what_surrounds_a_place),
        RULES_TEST(mutated_files),
        RULES_TEST(truncated_files),
        RULES_TEST(costly_expressions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rules: what matches what, and in which order. */
#include "rules_fixture.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

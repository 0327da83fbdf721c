/* Rules: lists of them, what is odd about them, the sets and PyTorch's names, and files that are
 * hostile. */
#include "autocast/rules/check.h"
#include "autocast/rules/name_pattern.h"
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
    /* what is no number or text is like none */
    uint32_t any = add_node(f, "Any", "");
    amp_node_at(f->model, any)->domain = "com.example";
    amp_node_set_attr(f->model, any,
                      (struct amp_attr){.name = "any", .type = AMP_ATTR_TENSOR, .count = 1});
    assert_true(selects(f, "ops: ['com.example::Any']", any));
    assert_false(selects(f, "ops: ['com.example::Any'], when: {any: 1}", any));
    assert_false(selects(f, "ops: ['com.example::Any'], when: {any: [[1]]}", any));
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

/* A part of a group is matched as the group, as its head where it has one, or as the node that it
   is where the rule is about nodes; names are those of the node. */
static void parts_are_matched_as_groups_or_nodes(void **state)
{
    enum { NO = 0, WHOLE = 1, HEAD_OP = 2, SELF = 4 };
    static const struct {
        const char *selectors;
        int as;           /* what they match it as, the first that is there */
        const char *word; /* of the operator; NULL: the rule names none */
    } rules[] = {
        {"ops: [LayerNormalization]", WHOLE, "LayerNormalization"},
        {"ops: [layer_norm]", WHOLE, "layer_norm"},
        {"ops: [LayerNormalization], nodes: [part]", WHOLE, "LayerNormalization"},
        {"ops: [LayerNormalization], nodes: [whole]", NO, NULL},
        {"ops: [LayerNormalization], tensors: [whole]", NO, NULL},
        {"nodes: [part]", WHOLE, NULL},
        {"nodes: [whole]", NO, NULL},
        {"ops: [Sqrt]", HEAD_OP, "Sqrt"},
        {"ops: [sqrt]", HEAD_OP, "sqrt"},
        {"ops: [sqrt], nodes: [part]", HEAD_OP, "sqrt"},
        {"ops: [sqrt], nodes: [head]", NO, NULL},
        {"ops: [Mul]", SELF, "Mul"},
        {"ops: [Add, Mul]", SELF, "Mul"},
        {"ops: [Add]", NO, NULL},
        {"ops: [mul]", NO, NULL},
        {"ops: [mul, Add]", NO, NULL},
        {"ops: [mul], nodes: [part]", SELF, "mul"},
        {"ops: [mul], nodes: ['*']", SELF, "mul"},
        {"ops: [mul], nodes_regex: ['p.*']", SELF, "mul"},
        {"ops: [mul], tensors: ['*']", SELF, "mul"},
        {"ops: [mul], nodes: [whole]", NO, NULL},
        {"ops: [Mul], when: {input_rank: 3}", NO, NULL},
        {"ops: [Mul], when: {input_rank: 4}", SELF, "Mul"},
    };
    struct fixture *f = *state;
    uint32_t node = add_node(f, "Mul", "part");
    struct amp_rule_part part = {.self = amp_rule_subject(f->model, node)};

    part.whole = part.head = part.self;
    part.whole.domain = AMP_RULES_COMPOSITE;
    part.whole.op_type = "LayerNormalization";
    part.head.op_type = "Sqrt";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int has_head = 0; has_head < 2; has_head++) {
            char text[300];
            const struct amp_rule_op *op;
            bool matches = rules[i].as == HEAD_OP ? has_head : rules[i].as != NO;
            snprintf(text, sizeof text, HEAD "rules:\n  - {precision: fp32, %s}\n",
                     rules[i].selectors);
            reload(f, text);
            part.has_head = has_head;
            const struct amp_rule *rule = amp_rules_match_part(f->rules, &part, &op);
            if ((rule != NULL) != matches)
                fail_msg("%s, %d", rules[i].selectors, has_head);
            if (!matches || rules[i].word == NULL)
                assert_null(op);
            else
                assert_string_equal(op->word, rules[i].word);
            bool noted[1] = {false};
            amp_rules_note_matches(f->rules, &part, false, noted);
            assert_int_equal(noted[0], matches);
            noted[0] = false;
            amp_rules_note_matches(f->rules, &part, true, noted);
            assert_int_equal(noted[0], amp_rules_match(f->rules, f->model, node) != NULL);
            noted[0] = true; /* what has matched a node has matched */
            amp_rules_note_matches(f->rules, &part, false, noted);
            assert_true(noted[0]);
        }
}

/* What the exporter noted counts alone: PyTorch's names, and composites by theirs. */
static void notes_are_matched_alone(void **state)
{
    static const struct {
        const char *ops;
        bool is_noted;
    } rules[] = {{"softmax", true},
                 {"log_softmax, softmax", true},
                 {"gelu", true},
                 {"log_softmax", false},
                 {"Softmax", false},
                 {"Conv", false},
                 {"conv2d", false},
                 {"composite::Swish", true},
                 {"composite::Gelu", true},
                 {"Gelu", true},
                 {"composite::LayerNormalization", false},
                 {"LayerNormalization", false},
                 {"com.example::Gelu", false}};
    static const char *const names[] = {"gelu", "softmax"}, *const composites[] = {"Swish", "Gelu"};
    struct fixture *f = *state;
    struct amp_rule_subject subject = amp_rule_subject(f->model, add_node(f, "Conv", ""));
    char text[200];

    subject.is_noted = true;
    subject.names = names;
    subject.composites = composites;
    subject.n_names = subject.n_composites = 2;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        snprintf(text, sizeof text, HEAD "rules:\n  - precision: fp32\n    ops: [%s%s%s]\n",
                 strchr(rules[i].ops, ':') ? "'" : "", rules[i].ops,
                 strchr(rules[i].ops, ':') ? "'" : "");
        reload(f, text);
        if ((amp_rules_match_subject(f->rules, &subject) != NULL) != rules[i].is_noted)
            fail_msg("%s", rules[i].ops);
    }
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
#define NO_QR "ONNX has no operators for decompositions and solving; exporters refuse it"
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
        {"ops: ['com.example::Any'], when: {any: [1]}",
         "ops: ['com.example::Any'], when: {any: [[1]]}", false},
        {"ops: [MatMul], when: {second_rank: 2}", "ops: [MatMul], when: {second_rank: 2}", true},
        {"ops: [MatMul], when: {second_rank: 2}", "ops: [MatMul], when: {input_rank: 2}", false},
        {"ops: [MatMul], when: {input_rank: 2, second_rank: 2}",
         "ops: [MatMul], when: {second_rank: 2}", true},
        {"ops: [mv], when: {second_rank: 1}", "ops: [MatMul], when: {input_rank: 2}", true},
        {"ops: [Einsum], when: {contracts: 1}", "ops: [Einsum], when: {contracts: 1}", true},
        {"ops: [Einsum]", "ops: [Einsum], when: {contracts: 1}", false},
        {"ops: [Einsum], when: {contracts: 1}", "ops: [Einsum]", true},
        {"ops: [Einsum], when: {contracts: 1}", "ops: [einsum]", true},
        {"ops: [Einsum]", "ops: [einsum]", false},
        {"ops: [Conv], dtypes: [fp16]", "ops: [Conv]", true},
        {"ops: [Conv]", "ops: [Conv], dtypes: [fp16]", false},
        {"ops: [Conv]", "ops: [Conv], dtypes: [fp16, bf16]", false},
        {"ops: [Conv], dtypes: [bf16]", "ops: [Conv], dtypes: [fp16]", false},
        {"ops: [Conv], dtypes: [bf16]", "ops: [Conv], dtypes: [fp16, bf16]", true},
        {"ops: [Conv], dtypes: [fp16, bf16]", "ops: [Conv], dtypes: [bf16]", false},
        {"ops: ['composite::Swish']", "ops: ['composite::Swish']", true},
        {"ops: ['composite::LayerNormalization']", "ops: [LayerNormalization]", true},
        {"ops: [LayerNormalization]", "ops: ['composite::LayerNormalization']", false},
        {"ops: ['composite::LayerNormalization']", "ops: ['com.example::LayerNormalization']",
         false},
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
        {"  - precision: fp32\n    ops: [Conv,\n      qr]\n", "'qr' matches nothing: " NO_QR, 6,
         true},
        {"  - {precision: fp32, ops: [Conv, qr]}\n"
         "  - {precision: fp32, nodes: ['*']}\n",
         HIDDEN_BY(5), 4, false},
        {"  - {precision: fp32, nodes: [a], ops: [mv], when: {input_rank: 3}}\n"
         "  - {precision: fp32, nodes: ['*']}\n",
         OTHER_RANKS, 4, false},
        {"  - {precision: fp32, ops: [qr, Conv]}\n"
         "  - {precision: fp32, ops: [Conv]}\n",
         HIDDEN_BY(5), 4, false},
        {"  - {precision: fp32, ops: [Conv]}\n"
         "  - {precision: fp32, ops: [qr, Conv]}\n",
         HIDDEN_BY(5), 4, false},
        {"  - {precision: fp32, ops: [Conv]}\n"
         "  - {precision: fp32, ops: [qr]}\n",
         "the rule can never match: " NO_QR, 5, false},
        {"  - {precision: fp32, ops: [qr, mv], when: {input_rank: 3}}\n",
         "the rule can never match: " NO_QR, 4, false},
        {"  - {precision: fp32, ops: [mv, qr], when: {input_rank: 3}}\n", OTHER_RANKS, 4, false},
        {"  - {precision: fp32, ops: ['composite::Swish'], when: {alpha: 1}}\n", NO_ATTRIBUTE, 4,
         false},
        {"  - {precision: fp32, ops: ['com.microsoft::BiasGelu'], when: {alpha: 1}}\n", NULL, 0,
         false},
        {"  - {precision: fp32, ops: [Relu, 'ai.onnx.ml::Scaler'], when: {offset: [1]}}\n", NULL, 0,
         false},
        {"  - {precision: fp32, ops: [MatMul], when: {second_rank: 2}}\n", NULL, 0, false},
        {"  - {precision: fp32, ops: [mm], when: {second_rank: 3}}\n", OTHER_RANKS, 4, false},
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

/* A list without a set has no file to look at. */
static void without_sets_nothing_is_found(void **state)
{
    struct fixture *f = *state;
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    struct amp_rule_finding *findings;
    size_t count = 1;

    for (int i = 0; i < 2; i++)
        assert_int_equal(amp_rules_add_op(f->rules, "Conv", AMP_FP32, source, &f->err), AMP_OK);
    assert_int_equal(amp_rules_check(f->rules, &findings, &count, &f->err), AMP_OK);
    assert_int_equal(count, 0);
}

/* What is looked at is counted: a rule as 2, an operator as 2, a pattern and a value as 1, more for
   what takes longer, as match.c and name_pattern.c say. */
static void steps_of_matching(void **state)
{
#define CS "cccccccccccccccc" /* bytes that are compared in the time of a step */
    static const struct {
        const char *selectors;
        size_t steps;
    } rules[] = {
        {"nodes: [z]", 2 + (1 + 1)},
        {"nodes: [v, w, x, y, z]", 2 + (1 + 5)},
        {"nodes: [r, s, t, u, v, w, x, y, z]", 2 + 1}, /* looked up */
        {"nodes: [z], ops: [Conv]", 2 + (1 + 1)},
        {"ops: [Relu]", 2 + 2},
        {"ops: [Relu, Neg]", 2 + 2 * 2},
        {"ops: [Conv]", 2 + 2},
        {"ops: [Conv, Relu]", 2 + 2},
        {"ops: [Conv], tensors: [z]", 2 + 2 + (1 + 1)},
        /* of an attribute's default, and of one of two that the node has */
        {"ops: [Conv], when: {auto_pad: VALID}", 2 + 2 + (1 + 2) + 30 + 1},
        {"ops: [Conv], when: {group: 8}", 2 + 2 + (1 + 2) + 1},
        {"ops: [Conv], when: {group: [1, 2, 4, 8]}", 2 + 2 + (1 + 2) + 4},
        {"ops: [Conv], when: {group: 8, auto_pad: VALID}", 2 + 2 + 2 * (1 + 2) + 1 + 30 + 1},
        {"ops: [Conv], when: {kernel_shape: [3, 3]}", 2 + 2 + (1 + 2) + 1 + 2},
        {"ops: [Conv], when: {kernel_shape: [3, 1]}", 2 + 2 + (1 + 2) + 1 + 2},
        {"ops: [Conv], when: {kernel_shape: [1, 3]}", 2 + 2 + (1 + 2) + 1 + 1},
        {"ops: [Conv], when: {kernel_shape: [3]}", 2 + 2 + (1 + 2) + 1},
        {"ops: [Conv], when: {kernel_shape: [[3], [3, 3]]}", 2 + 2 + (1 + 2) + 1 + 1 + 2},
        {"ops: [Conv], when: {input_rank: [3, 5]}", 2 + 2 + 10 + 2},
        {"ops: [Conv], when: {input_rank: [3, 4]}", 2 + 2 + 10 + 2},
        {"ops: [Conv], when: {input_rank: 4, second_rank: [1, 2]}", 2 + 2 + (10 + 1) + (10 + 2)},
        /* beginnings and parts of patterns, of a name of 33 bytes and 17 behind its x */
        {"nodes: ['b" CS CS "*']", 2 + (1 + 1) + 2 + 2},
        {"nodes: ['" CS "b*']", 2 + (1 + 1) + 2 + 1},
        {"nodes: ['*b*']", 2 + (1 + 1) + 2 + (5 + 3)},
        {"nodes: ['*x*b*']", 2 + (1 + 1) + 2 + (5 + 2) + (5 + 1)},
        {"nodes: ['*xb*', '" CS "b*']", 2 + (1 + 2) + 2 + (5 + 3) + 2 + 1},
    };
    struct fixture *f = *state;
    static const int64_t kernel[] = {3, 3};
    uint32_t node = add_node(f, "Conv", CS CS "cx" CS "c");

    amp_node_set_int(f->model, node, "group", 8);
    set_ints(f, node, "kernel_shape", 2, kernel);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char text[400];
        snprintf(text, sizeof text, HEAD "rules:\n  - {precision: fp32, %s}\n", rules[i].selectors);
        reload(f, text);
        (void)amp_rules_match(f->rules, f->model, node);
        if (f->rules->work->matcher.steps != rules[i].steps)
            fail_msg("%s: %zu steps instead of %zu", rules[i].selectors,
                     (size_t)f->rules->work->matcher.steps, rules[i].steps);
    }
#undef CS
}

/* Two rules that are compared take 4 steps, one more for each operator of the second, those of the
   patterns, and one for each look at an operator; one for each definition that is asked for an
   attribute. */
static void steps_of_checking(void **state)
{
    struct fixture *f = *state;
    struct amp_rule_finding *findings;
    size_t n_definitions = 0;

    while (amp_schema_at(n_definitions) != NULL)
        n_definitions++;
    find_in(f, "  - {precision: fp32, nodes: [a]}\n  - {precision: fp32, nodes: [b]}\n", &findings);
    assert_int_equal(f->rules->work->matcher.steps, 4 + 2 + 2);
    find_in(f, "  - {precision: fp32, ops: [Conv]}\n  - {precision: fp32, ops: [Relu, Neg]}\n",
            &findings);
    assert_int_equal(f->rules->work->matcher.steps, (1 + 1 + 4 + 2) + (1 + 1));
    find_in(f, "  - {precision: fp32, ops: ['com.example::Any'], when: {any: 1}}\n", &findings);
    assert_int_equal(f->rules->work->matcher.steps, 2 * (1 + n_definitions));
}

/* When the steps are used up, nothing matches any more, and it is said at which rule. */
static void steps_are_used_up(void **state)
{
    struct fixture *f = *state;
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    struct amp_rule_finding *findings;
    uint32_t node = add_node(f, "Conv", "conv");
    size_t count;

    for (int left = 4; left >= 3; left--) {
        reload(f, HEAD "rules:\n  - {precision: fp32, ops: [Conv]}\n");
        f->rules->work->matcher.limit = (size_t)left;
        assert_int_equal(amp_rules_match(f->rules, f->model, node) != NULL, left == 4);
        assert_int_equal(amp_rules_check_work(f->rules, &f->err), left == 4 ? AMP_OK : AMP_RULES);
    }
    assert_said(f, "/a.yaml:4:5: too much to match: 300000000 steps were used up at this rule; "
                   "accepted: fewer rules, operators, values and patterns, or shorter names in the "
                   "model");
    f->rules->work->matcher.limit = 1000;
    assert_null(amp_rules_match(f->rules, f->model, node));
    reload(f, HEAD);
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_add_op(f->rules, "Conv", AMP_FP32, source, &f->err), AMP_OK);
    f->rules->work->matcher.limit = 3;
    assert_null(amp_rules_match(f->rules, f->model, node));
    assert_int_equal(amp_rules_check_work(f->rules, &f->err), AMP_RULES);
    assert_non_null(strstr(f->err.text, "command line: too much to match: "));
    for (int left = 8; left >= 7; left--) {
        reload(f, HEAD "rules:\n  - {precision: fp32, nodes: [a]}\n"
                       "  - {precision: fp32, nodes: [b]}\n");
        f->rules->work->matcher.limit = (size_t)left;
        f->err = (struct amp_error){.status = AMP_OK};
        assert_int_equal(amp_rules_check(f->rules, &findings, &count, &f->err),
                         left == 8 ? AMP_OK : AMP_RULES);
    }
    assert_said(f, "/a.yaml: too much to compare: 300000000 steps were used up; accepted: fewer "
                   "rules, operators and values");
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
    static const char bytes[] = "Exp\0\n"; /* a 0 among others, and alone */
    for (size_t first = 0; first <= 3; first += 3) {
        char path[SCRATCH_MAX + 32];
        write_bytes(f, "b.yaml", bytes + first, first == 0 ? 5 : 1);
        f->err = (struct amp_error){.status = AMP_OK};
        snprintf(path, sizeof path, "%s/b.yaml", f->folder);
        assert_int_equal(amp_op_list_read(f->rules, path, &list, &f->err), AMP_RULES);
        assert_said(f, "/b.yaml: not a text; accepted: a name of an operator per line");
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
        RULES_TEST(parts_are_matched_as_groups_or_nodes),
        RULES_TEST(notes_are_matched_alone),
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
        RULES_TEST(without_sets_nothing_is_found),
        RULES_TEST(steps_of_matching),
        RULES_TEST(steps_of_checking),
        RULES_TEST(steps_are_used_up),
        RULES_TEST(lists_have_a_name_per_line),
        RULES_TEST(lists_name_up_to_three_unknown_words),
        RULES_TEST(lists_have_an_end),
        RULES_TEST(mutated_files),
        RULES_TEST(truncated_files),
        RULES_TEST(costly_expressions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

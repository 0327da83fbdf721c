/* Rule sets: what matches what, in which order, what the default set says, and that no input
 * crashes the reader. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autocast/rules.h"
#include "onnx/schema.h"

#define HEAD "version: 1\nname: test\n"

/* ---- a folder for rule files, an arena and a model for each test ---- */

struct fixture {
    char folder[64];
    struct amp_arena *arena;
    struct amp_rules *rules;
    struct amp_model *model;
    struct amp_error err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    strcpy(f->folder, "/tmp/ampconv-rules-XXXXXX");
    if (mkdtemp(f->folder) == NULL) {
        free(f);
        return 1;
    }
    f->arena = amp_arena_create();
    f->rules = amp_rules_create(f->arena);
    f->model = amp_model_create(f->arena, "test.onnx");
    amp_graph_add(f->model, "main", AMP_NONE);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml"};
    char path[96];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
        unlink(path);
    }
    rmdir(f->folder);
    amp_rules_destroy(f->rules);
    amp_arena_destroy(f->arena);
    free(f);
    return 0;
}

static void write_bytes(struct fixture *f, const char *name, const void *bytes, size_t size)
{
    char path[96];

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static enum amp_status load_file(struct fixture *f, const char *name)
{
    char path[96];

    f->err = (struct amp_error){.status = AMP_OK};
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return amp_rules_load(f->rules, path, &f->err);
}

/* Loads TEXT as a rule file. */
static void load(struct fixture *f, const char *text)
{
    write_bytes(f, "a.yaml", text, strlen(text));
    if (load_file(f, "a.yaml") != AMP_OK)
        fail_msg("%s", f->err.text);
}

/* Forgets all rules and loads TEXT. */
static void reload(struct fixture *f, const char *text)
{
    amp_rules_destroy(f->rules);
    f->rules = amp_rules_create(f->arena);
    load(f, text);
}

/* ---- nodes ---- */

static uint32_t add_value(struct fixture *f, const char *name, int rank)
{
    struct amp_shape shape = {.rank = rank};
    uint32_t id = amp_graph_add_value(f->model, 0, amp_model_unique_name(f->model, name));

    amp_value_set_shape(f->model, id, &shape);
    return id;
}

/* A node at opset 22 with an input "x" of rank 4 and an output "y", or names near those. */
static uint32_t add_node(struct fixture *f, const char *op, const char *name)
{
    uint32_t id = amp_graph_add_node(f->model, 0, op, 1, 1);
    uint32_t x = add_value(f, "x", 4), y = add_value(f, "y", 4);
    struct amp_node *node = amp_node_at(f->model, id);

    node->name = name;
    node->schema = amp_schema_find("", op, 22);
    node->inputs[0] = x;
    amp_node_set_output(f->model, id, 0, y);
    return id;
}

static uint32_t add_ranked(struct fixture *f, const char *op, int rank)
{
    uint32_t id = add_node(f, op, "");

    amp_node_at(f->model, id)->inputs[0] = add_value(f, "x", rank);
    return id;
}

static void set_text(struct fixture *f, uint32_t node, const char *name, const char *text)
{
    struct amp_str *string = amp_arena_alloc(f->arena, sizeof *string);

    *string = (struct amp_str){text, strlen(text)};
    amp_node_set_attr(
        f->model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_STRING, .count = 1, .strings = string});
}

static void set_ints(struct fixture *f, uint32_t node, const char *name, size_t count,
                     const int64_t *items)
{
    amp_node_set_attr(
        f->model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_INTS, .count = count, .ints = items});
}

static void set_float(struct fixture *f, uint32_t node, const char *name, const float *value)
{
    amp_node_set_attr(
        f->model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_FLOAT, .count = 1, .floats = value});
}

/* ---- expectations ---- */

/* The line of the rule that decides; 0: none does. */
static int line_of(struct fixture *f, uint32_t node)
{
    const struct amp_rule *rule = amp_rules_match(f->rules, f->model, node);

    return rule != NULL ? rule->source.line : 0;
}

/* Whether a rule with these selectors, written in flow style, matches NODE. */
static bool selects(struct fixture *f, const char *selectors, uint32_t node)
{
    char text[1024];

    snprintf(text, sizeof text, HEAD "rules:\n  - {precision: fp32, %s}\n", selectors);
    reload(f, text);
    return line_of(f, node) == 4;
}

/* ---- tests ---- */

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
    amp_rules_add_node(f->rules, "*/conv", AMP_FOLLOW, source);
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
                                  "follow, lower, fp32, widest, infer, clear");
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
    assert_string_equal(amp_rule_named_op(rule, &subject)->word, "layer_norm");
    subject.op_type = "Swish";
    assert_int_equal(amp_rules_match_subject(f->rules, &subject)->source.line, 5);
    assert_int_equal(line_of(f, add_node(f, "Swish", "")), 0);
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
    return rule != NULL ? amp_rule_named_op(rule, &subject)->word : "";
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
static void default_set(void **state)
{
    static const struct {
        const char *op;
        int rank;
        const char *mode;      /* the attribute of that name; NULL: absent */
        const char *precision; /* NULL: unlisted */
    } cases[] = {
        {"Conv", 4, NULL, "lower"},
        {"Conv", 3, NULL, "lower"},
        {"ConvTranspose", 5, NULL, "lower"},
        {"MatMul", 2, NULL, "lower"},
        {"Gemm", 2, NULL, "lower"},
        {"Einsum", 3, NULL, "lower"},
        {"LSTM", 3, NULL, "lower"},
        {"GRU", 3, NULL, "lower"},
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
    struct fixture *f = *state;

    assert_int_equal(amp_rules_load(f->rules, "torch-cpu", &f->err), AMP_OK);
    assert_int_equal(f->rules->unlisted, AMP_FOLLOW);
    assert_int_equal(f->rules->sets[0].dtypes, AMP_RULES_DTYPES);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t node = add_ranked(f, cases[i].op, cases[i].rank);
        if (cases[i].mode != NULL)
            set_text(f, node, "mode", cases[i].mode);
        const struct amp_rule *rule = amp_rules_match(f->rules, f->model, node);
        const char *found = rule != NULL ? amp_precision_name(rule->precision) : "none";
        if (strcmp(found, cases[i].precision ? cases[i].precision : "none") != 0)
            fail_msg("%s of rank %d, mode %s: %s", cases[i].op, cases[i].rank,
                     cases[i].mode ? cases[i].mode : "absent", found);
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

/* ---- wrong files ---- */

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

/* The same numbers everywhere (Knuth, MMIX). */
static unsigned next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33);
}

/* Overwrites, drops or repeats a few bytes of TEXT, which has room for one more for each. */
static size_t mutate(char *text, size_t size, uint64_t *seed)
{
    static const char special[] = "[]{}:,-&*!|>'\"%@`#\n\t \\?~\0\xc3\xff\x1b";

    for (unsigned n = 1 + next_random(seed) % 4; n > 0 && size > 0; n--) {
        size_t at = next_random(seed) % size;
        switch (next_random(seed) % 4) {
        case 0:
            text[at] = (char)next_random(seed);
            break;
        case 1:
            text[at] = special[next_random(seed) % (sizeof special - 1)];
            break;
        case 2:
            memmove(text + at, text + at + 1, --size - at);
            break;
        default:
            memmove(text + at + 1, text + at, size++ - at);
        }
    }
    return size;
}

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
    char text[sizeof whole + 4];

    load(f, whole);
    for (int i = 0; i < 3000; i++) {
        memcpy(text, whole, sizeof whole);
        survive(f, text, mutate(text, sizeof whole - 1, &seed));
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(last_match_decides),
        TEST(later_sets_and_overrides_come_last),
        TEST(overrides_name_operators),
        TEST(precisions_have_names),
        TEST(operators_match_with_their_domain),
        TEST(globs_match_names),
        TEST(expressions_match_whole_names),
        TEST(tensors_select_their_producer),
        TEST(all_selectors_must_match),
        TEST(ranks),
        TEST(attributes_are_compared),
        TEST(absent_attributes_have_the_default),
        TEST(a_group_is_matched_as_one_operator),
        TEST(names_of_pytorch_stand_for_operators),
        TEST(ranks_of_both_inputs_count),
        TEST(a_kernel_tells_an_unknown_rank),
        TEST(extended_sets_come_first),
        TEST(a_set_may_widen_what_it_extends),
        TEST(default_set),
        TEST(every_set_loads),
        TEST(mutated_files),
        TEST(truncated_files),
        TEST(costly_expressions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

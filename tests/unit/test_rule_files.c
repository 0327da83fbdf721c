/* Files of rules: what they say and where, the trees they are read as, the files of sets and the
 * table of PyTorch's names. */
#include "autocast/rules/excerpt.h"
#include "autocast/rules/name_pattern.h"
#include "autocast/rules/op_name.h"
#include "autocast/rules/torch_map.h"
#include "autocast/rules/when.h"
#include "autocast/rules/yaml.h"
#include "core/arena.h"
#include "mutate_rules.h"
#include "rules_fixture.h"

#include <cmocka.h>

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

/* ---- what a file says ------------------------------------------------------------------------ */

/* Numbers are those of YAML's core schema, without infinities and NaN; quotes make them texts. */
static void numbers_are_those_of_yaml(void **state)
{
    static const struct {
        const char *text;
        bool is_number, is_integer;
        double number;
    } texts[] = {{"0", true, true, 0},
                 {"7", true, true, 7},
                 {"+3", true, true, 3},
                 {"-3", true, true, -3},
                 {"007", true, true, 7},
                 {"9223372036854775807", true, true, 9223372036854775808.0},
                 {"-9223372036854775808", true, true, -9223372036854775808.0},
                 {"9223372036854775808", true, false, 9223372036854775808.0},
                 {"3.", true, false, 3},
                 {".5", true, false, 0.5},
                 {"+.5", true, false, 0.5},
                 {"1.25", true, false, 1.25},
                 {"1e3", true, false, 1000},
                 {"1E+3", true, false, 1000},
                 {"-.5e-1", true, false, -0.05},
                 {"2.e1", true, false, 20},
                 {"", false, false, 0},
                 {"-", false, false, 0},
                 {"+", false, false, 0},
                 {".", false, false, 0},
                 {"-.", false, false, 0},
                 {"--1", false, false, 0},
                 {"+-1", false, false, 0},
                 {"e5", false, false, 0},
                 {".e5", false, false, 0},
                 {"1e", false, false, 0},
                 {"1e+", false, false, 0},
                 {"1e5x", false, false, 0},
                 {"1e1.5", false, false, 0},
                 {"1.2.3", false, false, 0},
                 {"1x", false, false, 0},
                 {"1.x", false, false, 0},
                 {" 1", false, false, 0},
                 {"1 ", false, false, 0},
                 {"0x10", false, false, 0},
                 {".inf", false, false, 0},
                 {".nan", false, false, 0},
                 {"inf", false, false, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct amp_yaml_node node = {.text = texts[i].text, .is_plain = true};
        struct amp_rule_scalar scalar = amp_rule_scalar_of(&node);
        if (scalar.is_number != texts[i].is_number || scalar.is_integer != texts[i].is_integer ||
            scalar.number != texts[i].number)
            fail_msg("'%s': %d %d %g", texts[i].text, scalar.is_number, scalar.is_integer,
                     scalar.number);
        if (scalar.is_integer)
            assert_true(scalar.integer == strtoll(texts[i].text, NULL, 10));
        assert_ptr_equal(scalar.text, texts[i].text);
        node.is_plain = false;
        scalar = amp_rule_scalar_of(&node);
        assert_false(scalar.is_number || scalar.is_integer);
    }
}

static enum amp_status load_text(struct fixture *f, const char *text)
{
    amp_rules_destroy(f->rules);
    f->rules = amp_rules_create(f->arena);
    write_bytes(f, "a.yaml", text, strlen(text));
    return load_file(f, "a.yaml");
}

/* What is said of TEXT, behind the file's name, begins with SAID; NULL: it is loaded. */
static void expect_said(struct fixture *f, const char *text, const char *said)
{
    char start[SCRATCH_MAX + 16];
    enum amp_status status = load_text(f, text);

    if (said == NULL) {
        if (status != AMP_OK)
            fail_msg("%s", f->err.text);
        return;
    }
    size_t length = (size_t)snprintf(start, sizeof start, "%s/a.yaml:", f->folder);
    if (status != AMP_RULES || strncmp(f->err.text, start, length) != 0 ||
        strncmp(f->err.text + length, said, strlen(said)) != 0)
        fail_msg("%s\nis said of\n%s\ninstead of %s", status == AMP_OK ? "nothing" : f->err.text,
                 text, said);
}

#define LARGEST_BF16 "3.3895313892515355e+38"

/* Limits are numbers within bounds, which belong to them. */
static void limits_have_bounds(void **state)
{
    static const struct {
        const char *limits, *said; /* NULL: taken */
    } lines[] = {
        {"fp16: {weight_max: 65504}", NULL},
        {"fp16: {weight_max: 65504.0001}", "3:29: weight_max: '65504.0001'; accepted: a number "
                                           "above 0 and at most 65504\n"},
        {"fp16: {activation_max: 1e-30}", NULL},
        {"fp16: {activation_max: -0}", "3:33: activation_max: '-0'; accepted: a number above 0 "
                                       "and at most 65504\n"},
        {"bf16: {weight_max: " LARGEST_BF16 "}", NULL},
        {"bf16: {activation_max: " LARGEST_BF16 "}", NULL},
        {"bf16: {weight_max: 3.39e38}", "3:29: weight_max: '3.39e38'; accepted: a number above 0 "
                                        "and at most " LARGEST_BF16 "\n"},
        {"bf16: {weight_max: [1]}", "3:29: weight_max: a list; accepted: a number above 0 and at "
                                    "most " LARGEST_BF16 "\n"},
        {"bf16: {margin: 1}", NULL},
        {"fp16: {margin: 1000}", NULL},
        {"fp16: {margin: 0.5}", "3:25: margin: '0.5'; accepted: a number from 1 to 1000\n"},
        {"fp16: {margin: 1000.5}", "3:25: margin: '1000.5'; accepted: a number from 1 to 1000\n"},
        {"fp16: {margin: much}", "3:25: margin: 'much'; accepted: a number from 1 to 1000\n"},
        {"fp16: {margin: }", "3:25: margin: nothing; accepted: a number from 1 to 1000\n"},
        {"fp16: {flush_max: 1}", NULL},
        {"fp16: {flush_max: 1.0001}", "3:28: flush_max: '1.0001'; accepted: a number above 0 and "
                                      "at most 1\n"},
        {"fp16: {flush_max: all}", "3:28: flush_max: 'all'; accepted: a number above 0 and at "
                                   "most 1\n"},
        {"fp16: {guards: on}", NULL},
        {"fp16: {guards: onn}", "3:25: guards: unknown word 'onn' (did you mean 'on'?); accepted: "
                                "on, off\n"},
        {"fp16: 1", "3:16: fp16: '1'; accepted: a mapping\n"},
    };
    char text[300];

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, HEAD "limits: {%s}\n", lines[i].limits);
        expect_said(*state, text, lines[i].said);
    }
}

/* Conditions are on attributes that the rule's operators have, with values of their types, and on
   ranks. */
static void conditions_are_checked(void **state)
{
    static const struct {
        const char *rule, *said; /* NULL: taken */
    } rules[] = {
        {"ops: [Conv], when: {input_rank: 0}", NULL},
        {"ops: [Conv], when: {second_rank: [0, 12]}", NULL},
        {"ops: [Conv], when: {second_rank: 13}",
         "4:56: second_rank: '13'; accepted: 0 to 12, or a list of such numbers\n"},
        {"ops: [Conv], when: {second_rank: -1}",
         "4:56: second_rank: '-1'; accepted: 0 to 12, or a list of such numbers\n"},
        {"ops: [Conv], when: {input_rank: 2.5}",
         "4:55: input_rank: '2.5'; accepted: 0 to 12, or a list of such numbers\n"},
        {"ops: [Conv], when: {input_rank: \"2\"}",
         "4:55: input_rank: the quoted text '2'; accepted: 0 to 12, or a list of such numbers\n"},
        {"ops: [Conv], when: {input_rank: [1, [2]]}",
         "4:59: input_rank: a list; accepted: 0 to 12, or a list of such numbers\n"},
        {"ops: [Conv], when: {input_rank: []}",
         "4:55: input_rank: an empty list; accepted: one rank or more\n"},
        {"ops: [Einsum], when: {contracts: 1}", NULL},
        {"ops: [Einsum], when: {contracts: 0}", "4:56: contracts: '0'; accepted: 1\n"},
        {"ops: [Einsum], when: {contracts: 2}", "4:56: contracts: '2'; accepted: 1\n"},
        {"ops: [Einsum], when: {contracts: 1.5}", "4:56: contracts: '1.5'; accepted: 1\n"},
        {"ops: [Einsum], when: {contracts: true}", "4:56: contracts: 'true'; accepted: 1\n"},
        {"ops: [Conv], when: [group]",
         "4:42: when: a list; accepted: a mapping of attributes to values\n"},
        {"ops: [Conv], when: {}",
         "4:42: when: an empty mapping; accepted: one attribute or more\n"},
        {"ops: [Conv], when: {group: 1.5}",
         "4:50: group: '1.5'; accepted: an integer or a list of integers\n"},
        {"ops: [Conv], when: {group: []}",
         "4:50: group: an empty list; accepted: an integer or a list of integers\n"},
        {"ops: [Conv], when: {group: [1, x]}",
         "4:50: group: a list of something else; accepted: an integer or a list of integers\n"},
        {"ops: [Conv], when: {group: {a: 1}}",
         "4:50: group: a mapping; accepted: an integer or a list of integers\n"},
        {"ops: [Conv], when: {auto_pad: ~}",
         "4:53: auto_pad: nothing; accepted: a text or a list of texts\n"},
        {"ops: [Conv], when: {auto_pad: '~'}", NULL},
        {"ops: [Conv], when: {kernel_shape: []}", NULL},
        {"ops: [Conv], when: {kernel_shape: [[], [3]]}", NULL},
        {"ops: [Conv], when: {kernel_shape: 3}",
         "4:57: kernel_shape: '3'; accepted: a list of integers or a list of such lists\n"},
        {"ops: [Conv], when: {kernel_shape: [[3], 3]}",
         "4:57: kernel_shape: a list of something else; accepted: a list of integers or a list of "
         "such lists\n"},
        {"ops: [Conv], when: {kernel_shape: [[3], [x]]}",
         "4:57: kernel_shape: a list of something else; accepted: a list of integers or a list of "
         "such lists\n"},
        {"ops: [Cast], when: {to: 10}", NULL},
        {"ops: [Cast], when: {to: FLOAT16}", NULL}, /* of Cast-1 */
        {"ops: [Cast], when: {to: []}", "4:47: to: an empty list; accepted: an integer or a list "
                                        "of integers, or a text or a list of texts\n"},
        {"ops: [LeakyRelu], when: {alpha: [1, .5]}", NULL},
        {"ops: [LeakyRelu], when: {alpha: \"1\"}",
         "4:55: alpha: the quoted text '1'; accepted: a number or a list of numbers\n"},
        {"ops: [Relu], when: {group: 1}",
         "4:43: unknown attribute 'group' of the rule's operators; accepted: input_rank, "
         "second_rank"},
        {"ops: [Relu, Conv], when: {group: 1}", NULL},
        {"ops: [qr, Conv], when: {group: 1}", NULL},
        {"ops: ['ai.onnx.ml::Scaler'], when: {offset: [1, 2]}", NULL},
        {"ops: ['ai.onnx.ml::Scaler'], when: {group: 1}",
         "4:59: unknown attribute 'group' of the rule's operators; accepted: input_rank, "
         "second_rank, offset, scale\n"},
        {"ops: ['com.example::Any'], when: {any: thing}", NULL},
        {"ops: [Conv, 'com.example::Any'], when: {any: [thing, 1]}", NULL},
        {"ops: ['com.example::Any'], when: {any: []}", NULL},
        {"ops: ['com.example::Any'], when: {any: [[1], [2]]}", NULL},
        {"ops: ['com.example::Any'], when: {any: ~}",
         "4:62: any: nothing; accepted: a value, a list of values or a list of such lists\n"},
        {"ops: ['com.example::Any'], when: {any: {a: 1}}",
         "4:62: any: a mapping; accepted: a value, a list of values or a list of such lists\n"},
        {"ops: ['com.example::Any'], when: {any: [1, [2]]}",
         "4:62: any: a list of something else; accepted: a value, a list of values or a list of "
         "such lists\n"},
        {"when: {group: 1}", NULL},
        {"when: {grup: 1}",
         "4:30: unknown attribute 'grup' (did you mean 'group'?); accepted: input_rank, "
         "second_rank, an attribute of an operator of ONNX\n"},
        {"when: {body: 1}",
         "4:30: 'body' holds no numbers or texts; accepted: input_rank, attributes that hold "
         "integers, floats or strings\n"},
    };
    char text[300];

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        snprintf(text, sizeof text, HEAD "rules:\n  - {precision: fp32, %s}\n", rules[i].rule);
        expect_said(*state, text, rules[i].said);
    }
}

/* A rule has a precision, or what it is like, and says which nodes it is about. */
static void rules_say_what_and_about_which(void **state)
{
    static const struct {
        const char *rule, *said; /* NULL: taken */
    } rules[] = {
        {"precision: fp32, ops: [Conv]", NULL},
        {"precision: fp32, nodes: [a]", NULL},
        {"precision: fp32, nodes_regex: [a]", NULL},
        {"precision: fp32, tensors: [a]", NULL},
        {"precision: fp32, when: {input_rank: 1}", NULL},
        {"precision: fp32, ops: [Conv], tensors: [a]", NULL},
        {"precision: fp32, nodes_regex: [a], tensors: [a]", NULL},
        {"precision: fp32, ops: [Conv], nodes_regex: [a]", NULL},
        {"like: Conv, ops: [Relu]", NULL},
        {"precision: fp32",
         "4:5: a rule for no node; accepted: one of ops, nodes, nodes_regex, tensors, when, and "
         "nodes: [\"*\"] for all nodes\n"},
        {"precision: fp32, dtypes: [bf16]", "4:5: a rule for no node; accepted: one of ops, "},
        {"ops: [Conv]",
         "4:5: a rule without 'precision'; accepted: a rule with it, or with 'like'\n"},
        {"precision: follow, like: Conv, ops: [Relu]",
         "4:5: a rule with 'precision' and 'like'; accepted: one of them\n"},
        {"precision: fp32, nodes: [a], ops_from: [LIST]",
         "4:45: ops_from without 'ops'; accepted: ops_from beside the operators that it may "
         "replace\n"},
        {"like: [Conv], ops: [Relu]", "4:12: like: a list; accepted: a text\n"},
        {"like: Convv, ops: [Relu]", "4:12: unknown operator 'Convv' (did you mean 'Conv'?)"},
        {"precision: fp32, nodes: []", "4:30: nodes: an empty list; accepted: one text or more\n"},
        {"precision: fp32, nodes: [a, ~]", "4:34: nodes: nothing; accepted: a text\n"},
        {"precision: fp32, nodes_regex: [a, '(']", "4:40: '(': "},
        {"precision: fp32, dtypes: []",
         "4:31: dtypes: an empty list; accepted: one text or more\n"},
        {"precision: fp32, dtypes: [bf16, fp32]",
         "4:38: dtypes: unknown dtype 'fp32' (did you mean 'fp16'?); accepted: bf16, fp16\n"},
    };
    char text[300];

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        snprintf(text, sizeof text, HEAD "rules:\n  - {%s}\n", rules[i].rule);
        expect_said(*state, text, rules[i].said);
    }
}

/* What YAML takes for nothing is no text, unless it stands in quotes. */
static void nothing_has_five_words(void **state)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    static const char *const texts[] = {"nULL", "nul", "none", "false", "0"};
    char text[200];
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(text, sizeof text, "version: 1\nname: %s\n", words[i]);
        expect_said(f, text,
                    *words[i] != '\0' ? "2:7: name: nothing; accepted: a text\n"
                                      : "2:6: name: nothing; accepted: a text\n");
        snprintf(text, sizeof text, "version: 1\nname: '%s'\n", words[i]);
        expect_said(f, text, NULL);
        assert_string_equal(f->rules->sets[0].name, words[i]);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(text, sizeof text, "version: 1\nname: %s\n", texts[i]);
        expect_said(f, text, NULL);
        assert_string_equal(f->rules->sets[0].name, texts[i]);
    }
    expect_said(f, "version: 1\nname: []\n", "2:7: name: an empty list; accepted: a text\n");
    expect_said(f, "version: 1\nname: [a]\n", "2:7: name: a list; accepted: a text\n");
    expect_said(f, "version: 1\nname: {a: 1}\n", "2:7: name: a mapping; accepted: a text\n");
    expect_said(f, "version: '1'\nname: a\n", "1:10: version: the quoted text '1'; accepted: 1\n");
    expect_said(f, "version: [1]\nname: a\n", "1:10: version: a list; accepted: 1\n");
    expect_said(f, "name: a\nversion: 11\nkey: of 11\n", "2:10: version: '11'; accepted: 1\n");
}

/* What is like an operator has the precision of the last rule of the file that lists it, whatever
   the node; without one the rule is about no node. */
static void likes_follow_lists(void **state)
{
    static const struct {
        const char *lists, *like, *precision; /* of Relu; NULL: none decides */
    } files[] = {
        {"{precision: lower, ops: [Conv]}", "Conv", "lower"},
        {"{precision: lower, ops: [Gemm, Conv]}", "Conv", "lower"},
        {"{precision: lower, ops: [conv2d]}", "conv2d", "lower"},
        {"{precision: lower, ops: [conv2d]}", "Conv", NULL},
        {"{precision: lower, ops: ['ai.onnx::Conv']}", "Conv", "lower"},
        {"{precision: lower, ops: [Gemm]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], when: {group: 1}}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], dtypes: [bf16]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], nodes: [a]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], nodes_regex: [a]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], tensors: [a]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], nodes: [a], tensors: [a]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], nodes_regex: [a], tensors: [a]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv], nodes: [a], nodes_regex: [a]}", "Conv", NULL},
        {"{precision: lower, ops: [Conv]}\n  - {precision: fp32, ops: [Conv]}", "Conv", "fp32"},
        {"{precision: lower, ops: [Conv]}\n  - {precision: fp32, ops: [Conv], nodes: [a]}", "Conv",
         "lower"},
        {"{precision: lower, ops: [Gemm]}\n  - {like: Gemm, ops: [Conv]}", "Conv", NULL},
    };
    struct fixture *f = *state;
    uint32_t relu = add_node(f, "Relu", "relu");
    char text[400];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int is_first = 0; is_first < 2; is_first++) {
            char like[60];
            snprintf(like, sizeof like, "{like: %s, ops: [Relu]}", files[i].like);
            snprintf(text, sizeof text, HEAD "rules:\n  - %s\n  - %s\n",
                     is_first ? like : files[i].lists, is_first ? files[i].lists : like);
            reload(f, text);
            const struct amp_rule *rule = amp_rules_match(f->rules, f->model, relu);
            const char *found = rule != NULL ? amp_precision_name(rule->precision) : "none";
            if (strcmp(found, files[i].precision != NULL ? files[i].precision : "none") != 0)
                fail_msg("%s: %s", text, found);
        }
}

/* ---- trees of YAML --------------------------------------------------------------------------- */

static enum amp_status read_tree(struct fixture *f, const char *text, size_t size,
                                 struct amp_yaml *yaml)
{
    char path[SCRATCH_MAX + 32];

    write_bytes(f, "c.yaml", text, size);
    snprintf(path, sizeof path, "%s/c.yaml", f->folder);
    f->err = (struct amp_error){.status = AMP_OK};
    return amp_yaml_read(yaml, f->arena, amp_arena_strdup(f->arena, path), &f->err);
}

/* Aliases stand for copies, which are counted, and lie where they are written. */
static void aliases_are_copies(void **state)
{
    static const char text[] = "a: &x [one, {two: &t three}]\nb: *x\nc: [*t, &x four]\nd: *x\n";
    struct fixture *f = *state;
    struct amp_yaml yaml;

    assert_int_equal(read_tree(f, text, sizeof text - 1, &yaml), AMP_OK);
    const struct amp_yaml_node *root = yaml.root, *list = root->items[1], *copy = root->items[3];
    assert_int_equal(root->kind, AMP_YAML_MAPPING);
    assert_int_equal(root->count, 8);
    /* the root, four keys, twice the list and what is in it, the list of two, one text */
    assert_int_equal(root->weight, 1 + 4 + 2 * 5 + 3 + 1);
    assert_int_equal(yaml.n_nodes, root->weight);
    assert_int_equal(list->size, strlen("onetwothree"));
    assert_int_equal(root->size, 4 + 2 * list->size + strlen("three") + 2 * strlen("four"));
    assert_int_equal(copy->kind, AMP_YAML_LIST);
    assert_int_equal(copy->count, 2);
    assert_true(copy->line == 2 && copy->column == 4);
    assert_true(list->line == 1 && list->column == 4);
    assert_true(copy->items[0]->line == 1 && copy->items[0]->column == 8);
    assert_string_equal(root->items[5]->items[0]->text, "three");
    assert_true(root->items[5]->items[0]->line == 3 && root->items[5]->items[0]->column == 5);
    assert_string_equal(root->items[7]->text, "four"); /* of the last anchor of that name */
    assert_true(root->items[7]->is_plain);
}

/* The rules of a file that stand for others, anchored as a whole. */
static void rules_may_be_aliases(void **state)
{
    struct fixture *f = *state;

    expect_said(f,
                HEAD "rules:\n  - &r {precision: fp32, ops: [Conv]}\n  - *r\n  - {precision: "
                     "lower, ops: [Relu]}\n",
                NULL);
    assert_int_equal(f->rules->count, 3);
    assert_int_equal(f->rules->items[1].source.line, 5);
    assert_int_equal(f->rules->items[1].source.column, 5);
    assert_string_equal(f->rules->items[1].ops[0].name, "Conv");
}

/* What is no document of the kind that is read is refused where it stands. */
static void trees_are_texts_lists_and_mappings(void **state)
{
    static const struct {
        const char *text, *said;
    } files[] = {
        {"a: !t b", "1:4: a tag; accepted: values without tags\n"},
        {"a: !t [b]", "1:4: a tag; accepted: values without tags\n"},
        {"a: !t {b: c}", "1:4: a tag; accepted: values without tags\n"},
        {"{[a]: b}", "1:2: a key that is a list; accepted: text\n"},
        {"{{a: b}: c}", "1:2: a key that is a mapping; accepted: text\n"},
        {"[a, a]", NULL},
        {"{a: b, c: b}", NULL},
        {"{a: b, c: d,\n c: e}", "2:2: key 'c' again, as in line 1; accepted: each key once\n"},
        {"{a: {b: c}, b: c}", NULL},
        {"a\n---\nb", "2:1: a second document; accepted: one document\n"},
        {"a\n...\n", NULL},
        {"", "1:1: nothing in the file; accepted: a mapping with the keys of a rule set\n\n^"},
        {"\xef\xbb\xbf",
         "1:1: nothing in the file; accepted: a mapping with the keys of a rule set\n\n^"},
        {"\xef\xbb\xbf[", "2:1: not YAML: "},
        {"\xef\xbb\xbf*", "1:1: a '*' without quotes begins an alias in YAML; "},
        {"a: \"\\0\"", "1:4: text with a NUL character; accepted: text without\n"},
        {"a: [b, *]", "1:8: a '*' without quotes begins an alias in YAML; accepted: text that "
                      "begins with it in quotes, as \"*\" or \"*/layer.0/*\"\n"},
        {"a: [b, & c]", "1:9: not YAML: did not find expected alphabetic or numeric character, "
                        "while scanning an anchor from line 1\n"},
        {"a: [b\nc: d", "2:2: not YAML: did not find expected ',' or ']', while parsing a flow "
                        "sequence from line 1\n"},
        {"%YAML 1.1\na: b", "2:1: not YAML: did not find expected <document start>\n"},
        {"a: \xc3", "1:4: not text: incomplete UTF-8 octet sequence; accepted: YAML in UTF-8\n"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct amp_yaml yaml;
        enum amp_status status = read_tree(f, files[i].text, strlen(files[i].text), &yaml);
        if ((status == AMP_OK) != (files[i].said == NULL))
            fail_msg("'%s': %s", files[i].text, status == AMP_OK ? "taken" : f->err.text);
        if (status == AMP_OK)
            continue;
        size_t place = strlen(f->folder) + strlen("/c.yaml:");
        assert_int_equal(status, AMP_RULES);
        if (strncmp(f->err.text + place, files[i].said, strlen(files[i].said)) != 0)
            fail_msg("'%s': %s", files[i].text, f->err.text);
    }
}

/* What is said of TEXT, which one thing too many makes end with SAID. */
static void expect_end(struct fixture *f, const char *text, size_t size, const char *said)
{
    struct amp_yaml yaml;
    enum amp_status status = read_tree(f, text, size, &yaml);

    if (said == NULL ? status != AMP_OK : status != AMP_RULES || strstr(f->err.text, said) == NULL)
        fail_msg("%s instead of %s", status == AMP_OK ? "taken" : f->err.text,
                 said == NULL ? "taken" : said);
}

/* Files have an end: as many values, bytes, levels and keys as are accepted, and one more. */
static void trees_have_an_end(void **state)
{
    enum { VALUES = 100000, BYTES = 1 << 20, DEPTH = 32, KEYS = 64 };
    static const char *const many = "too many values; accepted: 100000 at most, aliased ones "
                                    "counted each time\n",
                             *const much = "too much text; accepted: 1 MiB at most, aliased ones "
                                           "counted each time\n";
    struct fixture *f = *state;
    char *text = calloc(1, BYTES + 100);
    size_t size = 0;

    /* a list and what is in it */
    text[size++] = '[';
    for (int i = 0; i < VALUES - 2; i++, size += 2)
        memcpy(text + size, "a,", 2);
    memcpy(text + size, "a]", 3);
    expect_end(f, text, size + 2, NULL);
    memcpy(text + size, "a,a]", 5);
    expect_end(f, text, size + 4, many);
    /* 1000 bytes, 1048 times by aliases, and 576 */
    memcpy(text, "[&a ", 4);
    memset(text + 4, 'b', 1000);
    size = 1004;
    for (int i = 0; i < 1047; i++, size += 4)
        memcpy(text + size, ",*a ", 4);
    text[size++] = ',';
    memset(text + size, 'c', 577);
    text[size + 576] = ']';
    expect_end(f, text, size + 577, NULL);
    memcpy(text + size + 576, "c]", 2);
    expect_end(f, text, size + 578, much);
    /* the file itself */
    memset(text, ' ', BYTES + 1);
    text[0] = 'a';
    expect_end(f, text, BYTES, NULL);
    expect_end(f, text, BYTES + 1,
               "/c.yaml: more than 1 MiB; accepted: rule files of 1 MiB at most");
    memset(text, '[', DEPTH + 1);
    memset(text + DEPTH, ']', DEPTH);
    expect_end(f, text, 2 * DEPTH, NULL);
    memset(text, '[', DEPTH + 1);
    memset(text + DEPTH + 1, ']', DEPTH + 1);
    expect_end(f, text, 2 * DEPTH + 2, ":1:33: nested too deep; accepted: 32 levels at most\n");
    /* levels that have ended do not count */
    size = (size_t)sprintf(text, "[[[a]], [[b]], {c: [d]}, ");
    memset(text + size, '[', DEPTH - 1);
    memset(text + size + DEPTH - 1, ']', DEPTH);
    expect_end(f, text, size + 2 * DEPTH - 1, NULL);
    size = 0;
    for (int i = 0; i <= KEYS; i++) {
        if (i == KEYS)
            expect_end(f, text, size, NULL);
        size += (size_t)sprintf(text + size, "k%d: v\n", i);
    }
    expect_end(f, text, size, ":65:1: too many keys in one mapping; accepted: 64 at most\n");
    free(text);
}

/* ---- files of sets --------------------------------------------------------------------------- */

/* Limits are those of the dtype at first; each that a set gives replaces that of the sets before.
 */
static void each_limit_replaces_its_own(void **state)
{
    static const char base[] =
        "version: 1\nname: base\nlimits:\n"
        "  bf16: {weight_max: 10, activation_max: 20, margin: 30, guards: off}\n"
        "  fp16: {weight_max: 11, activation_max: 21, margin: 31, flush_max: 0.75, guards: off}\n";
    static const struct {
        const char *given;
        struct amp_rule_limits bf16, fp16;
    } sets[] = {
        {"bf16: {}", {10, 20, 30, 1, AMP_GUARDS_OFF}, {11, 21, 31, 0.75, AMP_GUARDS_OFF}},
        {"bf16: {weight_max: 0.5}",
         {0.5, 20, 30, 1, AMP_GUARDS_OFF},
         {11, 21, 31, 0.75, AMP_GUARDS_OFF}},
        {"bf16: {activation_max: 0.5}",
         {10, 0.5, 30, 1, AMP_GUARDS_OFF},
         {11, 21, 31, 0.75, AMP_GUARDS_OFF}},
        {"bf16: {margin: 1}", {10, 20, 1, 1, AMP_GUARDS_OFF}, {11, 21, 31, 0.75, AMP_GUARDS_OFF}},
        {"bf16: {guards: on}", {10, 20, 30, 1, AMP_GUARDS_ON}, {11, 21, 31, 0.75, AMP_GUARDS_OFF}},
        {"fp16: {weight_max: 0.5}",
         {10, 20, 30, 1, AMP_GUARDS_OFF},
         {0.5, 21, 31, 0.75, AMP_GUARDS_OFF}},
        {"fp16: {activation_max: 0.5}",
         {10, 20, 30, 1, AMP_GUARDS_OFF},
         {11, 0.5, 31, 0.75, AMP_GUARDS_OFF}},
        {"fp16: {margin: 1}", {10, 20, 30, 1, AMP_GUARDS_OFF}, {11, 21, 1, 0.75, AMP_GUARDS_OFF}},
        {"fp16: {flush_max: 0.25}",
         {10, 20, 30, 1, AMP_GUARDS_OFF},
         {11, 21, 31, 0.25, AMP_GUARDS_OFF}},
        {"fp16: {guards: on}", {10, 20, 30, 1, AMP_GUARDS_OFF}, {11, 21, 31, 0.75, AMP_GUARDS_ON}},
    };
    struct fixture *f = *state;
    char text[200];

    assert_true(f->rules->bf16.weight_max == amp_dtype_max(AMP_BFLOAT16) &&
                f->rules->bf16.activation_max == amp_dtype_max(AMP_BFLOAT16));
    assert_true(f->rules->fp16.weight_max == 65504 && f->rules->fp16.activation_max == 65504);
    assert_true(f->rules->bf16.margin == 1.3 && f->rules->fp16.margin == 1.3);
    assert_true(f->rules->bf16.flush_max == 1 && f->rules->fp16.flush_max == 1e-4);
    assert_true(f->rules->bf16.guards == AMP_GUARDS_UNSAID);
    write_bytes(f, "b.yaml", base, sizeof base - 1);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        snprintf(text, sizeof text, HEAD "extends: [b.yaml]\nlimits: {%s}\n", sets[i].given);
        reload(f, text);
        for (int k = 0; k < 2; k++) {
            const struct amp_rule_limits *wanted = k == 0 ? &sets[i].bf16 : &sets[i].fp16,
                                         *found = k == 0 ? &f->rules->bf16 : &f->rules->fp16;
            if (found->weight_max != wanted->weight_max ||
                found->activation_max != wanted->activation_max ||
                found->margin != wanted->margin || found->flush_max != wanted->flush_max ||
                found->guards != wanted->guards)
                fail_msg("%s of %s", k == 0 ? "bf16" : "fp16", sets[i].given);
        }
    }
}

/* A path is relative to the file that has it, or absolute; what is no path is a set's name. */
static void files_are_found_from_where_they_are_named(void **state)
{
    static const char base[] = "version: 1\nname: base\nunlisted: lower\n";
    static const char *const paths[] = {"b.yaml", "./b.yaml", NULL};
    struct fixture *f = *state;
    char text[SCRATCH_MAX + 100], absolute[SCRATCH_MAX + 16], long_name[300];

    assert_true(amp_rules_is_path("a/b") && amp_rules_is_path("a.yaml") &&
                amp_rules_is_path("a.yml"));
    assert_false(amp_rules_is_path("a") || amp_rules_is_path("a.yaml.old"));
    write_bytes(f, "b.yaml", base, sizeof base - 1);
    snprintf(absolute, sizeof absolute, "%s/b.yaml", f->folder);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(text, sizeof text,
                 HEAD "extends: [%s]\nrules:\n  - {precision: fp32, ops: [Conv]}\n",
                 paths[i] != NULL ? paths[i] : absolute);
        reload(f, text);
        assert_int_equal(f->rules->unlisted, AMP_LOWER);
        assert_int_equal(f->rules->n_files, 2);
        snprintf(text, sizeof text, "%s/a.yaml:5", f->folder);
        assert_string_equal(f->rules->items[0].place, text);
    }
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_load(f->rules, long_name, &f->err), AMP_IO);
    assert_non_null(strstr(f->err.text, "cannot open: File name too long"));
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_load(f->rules, "none.yaml", &f->err), AMP_IO);
    assert_non_null(strstr(f->err.text, "none.yaml: cannot open: No such file or directory"));
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_load(f->rules, "torch-cpv", &f->err), AMP_USAGE);
    assert_non_null(
        strstr(f->err.text, "unknown rule set 'torch-cpv' (did you mean 'torch-cpu'?)"));
    snprintf(text, sizeof text, HEAD "extends: [%s]\n", long_name);
    assert_int_equal(load_text(f, text), AMP_RULES);
    assert_non_null(strstr(f->err.text, "a.yaml:3:11: cannot open '"));
    assert_non_null(
        strstr(f->err.text, "': File name too long; accepted: a rule set, or a file\n"));
    expect_said(f, HEAD "extends: [none.yaml]\n", "3:11: cannot open '");
    expect_said(f, HEAD "extends: [torch-cpv]\n",
                "3:11: unknown rule set 'torch-cpv' (did you mean 'torch-cpu'?)");
    expect_said(f, HEAD "extends: [./]\n", "3:11: ");
    assert_non_null(strstr(f->err.text, "is a directory; a regular file is needed\n"));
}

/* A file NAME that extends b.yaml COUNT times, with a comment that makes it SIZE bytes where that
   is more. */
static void write_extending(struct fixture *f, const char *name, size_t count, size_t size)
{
    char *text = calloc(1, size + 9 * count + 100);
    size_t used = (size_t)sprintf(text, HEAD "extends: [");

    for (size_t i = 0; i < count; i++)
        used += (size_t)sprintf(text + used, "%sb.yaml", i > 0 ? ", " : "");
    used += (size_t)sprintf(text + used, "]\n#");
    while (used < size)
        text[used++] = '.';
    write_bytes(f, name, text, used);
    free(text);
}

static enum amp_status load_again(struct fixture *f, const char *name)
{
    amp_rules_destroy(f->rules);
    f->rules = amp_rules_create(f->arena);
    return load_file(f, name);
}

/* What all files of a list come to: 100 files, 4 MiB, 200000 values. */
static void files_of_a_list_have_an_end(void **state)
{
    enum { FILES = 100, MIB = 1 << 20, VALUES = 200000 };
    static const char *const much = "/b.yaml: too much with the files before it; accepted: rule "
                                    "files of 4 MiB and 200000 values in all";
    struct fixture *f = *state;
    char *text = calloc(1, VALUES + 100);

    write_bytes(f, "b.yaml", HEAD, strlen(HEAD));
    write_extending(f, "a.yaml", FILES - 1, 0);
    assert_int_equal(load_again(f, "a.yaml"), AMP_OK);
    assert_int_equal(f->rules->n_files, FILES);
    write_extending(f, "a.yaml", FILES, 0);
    assert_int_equal(load_again(f, "a.yaml"), AMP_RULES);
    assert_non_null(strstr(f->err.text, "extends: too many files; accepted: chains of 16 files, "
                                        "and 100 files in all, at most\n"));
    write_extending(f, "b.yaml", 0, MIB - 100);
    write_extending(f, "a.yaml", 4, 400);
    assert_int_equal(load_again(f, "a.yaml"), AMP_OK);
    assert_int_equal(f->rules->n_bytes, 4 * MIB);
    write_extending(f, "a.yaml", 4, 401);
    assert_int_equal(load_again(f, "a.yaml"), AMP_RULES);
    assert_said(f, much);
    /* 12 values and its nodes in b.yaml, which is read twice; 12 in a.yaml, and one more */
    size_t used = (size_t)sprintf(text, HEAD "rules: [{precision: lower, nodes: [a");
    for (size_t i = 1; i < (VALUES - 3 * 12) / 2; i++, used += 2)
        memcpy(text + used, ",a", 2);
    memcpy(text + used, "]}]\n", 4);
    write_bytes(f, "b.yaml", text, used + 4);
    expect_said(f, HEAD "extends: [b.yaml, b.yaml]\ndtypes: [bf16]\n", NULL);
    assert_int_equal(f->rules->n_values, VALUES);
    write_bytes(f, "a.yaml", HEAD "extends: [b.yaml, b.yaml]\ndtypes: [bf16, fp16]\n",
                strlen(HEAD "extends: [b.yaml, b.yaml]\ndtypes: [bf16, fp16]\n"));
    assert_int_equal(load_again(f, "a.yaml"), AMP_RULES);
    assert_said(f, much);
    free(text);
}

/* Rules for other dtypes are dropped, and the others stay in order. */
static void rules_of_other_dtypes_are_dropped(void **state)
{
    struct fixture *f = *state;
    static const int lines[2][4] = {{4, 5, 7}, {4, 6, 7}};

    for (int i = 0; i < 2; i++) {
        reload(f, HEAD "rules:\n  - {precision: fp32, ops: [Conv]}\n"
                       "  - {precision: fp32, ops: [Relu], dtypes: [bf16]}\n"
                       "  - {precision: fp32, ops: [Neg], dtypes: [fp16]}\n"
                       "  - {precision: fp32, ops: [Exp], dtypes: [fp16, bf16]}\n");
        assert_int_equal(
            amp_rules_set_dtype(f->rules, i == 0 ? AMP_BFLOAT16 : AMP_FLOAT16, &f->err), AMP_OK);
        assert_int_equal(f->rules->count, 3);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(f->rules->items[k].source.line, lines[i][k]);
    }
}

/* The dtypes that rules ask for by name, and how masks of them are written. */
static void dtypes_that_rules_name(void **state)
{
    static const struct {
        const char *precisions[3];
        uint32_t dtypes;
    } sets[] = {{{"lower", "fp32", "widest"}, 0},
                {{"bf16", "fp32", "follow"}, AMP_DTYPE_BIT(AMP_BFLOAT16)},
                {{"infer", "clear", "fp16"}, AMP_DTYPE_BIT(AMP_FLOAT16)},
                {{"fp16", "lower", "bf16"}, AMP_RULES_DTYPES}};
    struct fixture *f = *state;
    char text[300];

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        size_t used = (size_t)sprintf(text, HEAD "rules:\n");
        for (int k = 0; k < 3; k++)
            used += (size_t)sprintf(text + used, "  - {precision: %s, ops: [Conv]}\n",
                                    sets[i].precisions[k]);
        reload(f, text);
        assert_int_equal(amp_rules_named_dtypes(f->rules), sets[i].dtypes);
    }
    assert_string_equal(amp_rules_dtypes_text(AMP_RULES_DTYPES), "bf16, fp16");
    assert_string_equal(amp_rules_dtypes_text(AMP_DTYPE_BIT(AMP_BFLOAT16)), "bf16");
    assert_string_equal(amp_rules_dtypes_text(AMP_DTYPE_BIT(AMP_FLOAT16)), "fp16");
}

/* What is added to a copy is not in the list that was copied. */
static void copies_are_lists_of_their_own(void **state)
{
    struct fixture *f = *state;
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    uint32_t conv = add_node(f, "Conv", "conv");

    load(f, HEAD "rules:\n  - {precision: lower, ops: [Conv]}\n");
    struct amp_rules *copy = amp_rules_copy(f->rules, f->arena);
    assert_int_equal(amp_rules_match(copy, f->model, conv)->precision, AMP_LOWER);
    for (int i = 0; i < 20; i++)
        assert_int_equal(amp_rules_add_node(copy, "*", AMP_FP32, source, &f->err), AMP_OK);
    assert_int_equal(copy->count, 21);
    assert_int_equal(amp_rules_match(copy, f->model, conv)->precision, AMP_FP32);
    assert_int_equal(f->rules->count, 1);
    assert_int_equal(amp_rules_match(f->rules, f->model, conv)->precision, AMP_LOWER);
    amp_rules_destroy(copy);
    amp_rules_destroy(NULL);
}

/* Names and lists that are empty make no rule, names are no patterns, and patterns have an end. */
static void rules_of_the_command_line(void **state)
{
    struct fixture *f = *state;
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    static const char *const names[] = {"none", "y*"};
    uint32_t node = add_node(f, "Conv", "conv");
    char path[SCRATCH_MAX + 32];

    assert_int_equal(amp_rules_add_tensors(f->rules, names, 0, AMP_FP32, &f->err), AMP_OK);
    write_bytes(f, "b.yaml", "# none\n", 7);
    snprintf(path, sizeof path, "%s/b.yaml", f->folder);
    assert_int_equal(amp_rules_load_op_list(f->rules, path, AMP_FP32, &f->err), AMP_OK);
    assert_int_equal(f->rules->count, 0);
    assert_int_equal(amp_rules_add_tensors(f->rules, names, 2, AMP_FP32, &f->err), AMP_OK);
    assert_null(amp_rules_match(f->rules, f->model, node));
    amp_value_at(f->model, amp_node_at(f->model, node)->outputs[0])->name = "y*";
    assert_int_equal(amp_rules_match(f->rules, f->model, node)->precision, AMP_FP32);
    write_bytes(f, "b.yaml", "Conv\n", 5);
    assert_int_equal(amp_rules_load_op_list(f->rules, path, AMP_LOWER, &f->err), AMP_OK);
    assert_int_equal(amp_rules_match(f->rules, f->model, node)->precision, AMP_LOWER);
    write_bytes(f, "b.yaml", "Convv\n", 6);
    assert_int_equal(amp_rules_load_op_list(f->rules, path, AMP_LOWER, &f->err), AMP_RULES);
    assert_said(f, "/b.yaml:1: unknown operator 'Convv' (did you mean 'Conv'?); accepted: an "
                   "operator of ONNX or PyTorch, or DOMAIN::NAME of another domain");
    for (int more = 0; more < 2; more++) {
        f->err = (struct amp_error){.status = AMP_OK};
        f->rules->work->n_code = 0;
        assert_int_equal(amp_rules_add_node(f->rules, "a*b", AMP_FP32, source, &f->err), AMP_OK);
        size_t left = AMP_RULE_CODE_MAX - f->rules->work->n_code;
        f->rules->work->n_code = left + (size_t)more;
        assert_int_equal(amp_rules_add_node(f->rules, "a*b", AMP_FP32, source, &f->err),
                         more ? AMP_USAGE : AMP_OK);
        f->rules->work->n_code = AMP_RULE_CODE_MAX;
        assert_int_equal(amp_rules_add_tensors(f->rules, names, 1, AMP_FP32, &f->err), AMP_OK);
    }
    assert_string_equal(f->err.text,
                        "'a*b': with this one, the patterns come to more than 1000000 characters "
                        "and operators; accepted: fewer or shorter patterns");
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_add_tensors(f->rules, names, 2, AMP_FP32, &f->err), AMP_USAGE);
    assert_non_null(strstr(f->err.text, "'y*': with this one, the patterns come to more than "));
}

/* ---- the table of PyTorch's names ------------------------------------------------------------ */

/* The folder of the sets and of the table: that which comes with the program, or another. */
static const char *other_folder;
const char *__real_amp_rules_dir(void);
const char *__wrap_amp_rules_dir(void);

const char *__wrap_amp_rules_dir(void)
{
    return other_folder != NULL ? other_folder : __real_amp_rules_dir();
}

static int tear_down_folder(void **state)
{
    other_folder = NULL;
    return tear_down(state);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_folder)

/* Files that are no sets are not listed; without any it is said that there are none. */
static void sets_are_the_files_of_a_folder(void **state)
{
    static const char *const files[] = {".a.yaml", ".yaml", "a.yml",   "b.yaml",
                                        "a.yaml",  "yaml",  "a.yaml~", "aa.yaml"};
    static const char *const wanted[] = {"a", "aa", "b"};
    struct fixture *f = *state;
    const char *const *names;
    char path[SCRATCH_MAX + 32], said[SCRATCH_MAX + 100];
    size_t count;

    other_folder = f->folder;
    snprintf(said, sizeof said,
             "unknown rule set 'zzzz', and none in %s; accepted: a file FILE.yaml", f->folder);
    assert_int_equal(amp_rules_names(f->arena, &names, &count, &f->err), AMP_OK);
    assert_int_equal(count, 0);
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_load(f->rules, "zzzz", &f->err), AMP_USAGE);
    assert_string_equal(f->err.text, said);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_bytes(f, files[i], HEAD "rules: [{precision: fp32, nodes: [a]}]\n",
                    strlen(HEAD "rules: [{precision: fp32, nodes: [a]}]\n"));
    assert_int_equal(amp_rules_names(f->arena, &names, &count, &f->err), AMP_OK);
    assert_int_equal(count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(names[i], wanted[i]);
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_load(f->rules, "zzzz", &f->err), AMP_USAGE);
    assert_string_equal(f->err.text,
                        "unknown rule set 'zzzz'; accepted: a, aa, b, or a file FILE.yaml");
    /* what comes with the program is not the user's own */
    assert_int_equal(amp_rules_load(f->rules, "aa", &f->err), AMP_OK);
    assert_null(f->rules->items[0].place);
    assert_string_equal(f->rules->items[0].source.file, "aa.yaml");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/none", f->folder);
    snprintf(said, sizeof said, "%s: cannot open: No such file or directory", path);
    other_folder = path;
    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_rules_names(f->arena, &names, &count, &f->err), AMP_IO);
    assert_string_equal(f->err.text, said);
}

/* A table, each key of which may be another: KEY is written with VALUE, or left out (NULL). */
static void write_map(struct fixture *f, const char *key, const char *value)
{
    static const char *const lines[][2] = {
        {"variants", "[{ending: _, none: in place}]"},
        {"composites", "[{composite: [Swish], runs: whole, why: w}]"},
        {"calls", "[call]"},
        {"constants", "[constant]"},
        {"apart", "[{torch: [a], into: [b]}]"},
        {"rows", "[{torch: [relu], onnx: [Relu]}]"}};
    char text[2000];
    size_t used = 0;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool is_key = strcmp(lines[i][0], key) == 0;
        if (!is_key || value != NULL)
            used +=
                (size_t)sprintf(text + used, "%s: %s\n", lines[i][0], is_key ? value : lines[i][1]);
    }
    write_bytes(f, "pytorch.map", text, used);
    amp_rules_destroy(f->rules);
    f->rules = amp_rules_create(f->arena);
    f->err = (struct amp_error){.status = AMP_OK};
}

#define ONE_FORM                                                                             \
    "a row with a form and without one; accepted: onnx, composite or both, none, or a note " \
    "alone\n"
#define FORMS(name) "'" name "' has a form in one row and none in another; accepted: one of them\n"

/* What is wrong in a table is said with its place in the file. */
static void tables_are_checked(void **state)
{
    static const struct {
        const char *key, *value, *said; /* said NULL: taken */
    } tables[] = {
        {"rows", "[{torch: [relu], onnx: [Relu]}]", NULL},
        {"rows", "{}", "6:7: rows: a mapping; accepted: a list of rows\n"},
        {"rows", "[a]", "6:8: rows: 'a'; accepted: a mapping\n"},
        {"rows", "[{onnx: [Relu]}]", "6:8: a row without 'torch'; accepted: a row with it\n"},
        {"rows", "[{torch: [], onnx: [Relu]}]",
         "6:16: torch: an empty list; accepted: one text or more\n"},
        {"rows", "[{torch: [a], onnx: [Relu, Convv]}]",
         "6:34: unknown operator 'Convv' (did you mean 'Conv'?); accepted: an operator of ONNX, or "
         "DOMAIN::NAME of another domain\n"},
        {"rows", "[{torch: [a], onnx: [relu]}]", "6:28: unknown operator 'relu'"},
        {"rows", "[{torch: [a], composite: [Swish, Swis]}]", "6:40: unknown composite 'Swis'\n"},
        {"rows", "[{torch: [a], onnx: [Relu], when: {zzz: 1}}]", "6:42: unknown attribute 'zzz'"},
        {"rows", "[{torch: [a]}]", "6:8: " ONE_FORM},
        {"rows", "[{torch: [a], onnx: [Relu], none: w}]", "6:8: " ONE_FORM},
        {"rows", "[{torch: [a], composite: [Swish], none: w}]", "6:8: " ONE_FORM},
        {"rows", "[{torch: [a], onnx: [Relu], composite: [Swish]}]", NULL},
        {"rows", "[{torch: [a], aten: [b]}]", NULL},
        {"rows", "[{torch: [a], modules: [b]}]", NULL},
        {"rows", "[{torch: [a], none: w, aten: [b]}]", NULL},
        {"rows", "[{torch: [a], none: w}, {torch: [b, a], onnx: [Relu]}]", "6:43: " FORMS("a")},
        {"rows", "[{torch: [a], onnx: [Relu]}, {torch: [b, a], none: w}]", "6:48: " FORMS("a")},
        {"rows", "[{torch: [a], none: w}, {torch: [a], aten: [b]}]", NULL},
        {"rows", "[{torch: [a], onnx: [Relu]}, {torch: [a], onnx: [Neg]}]", NULL},
        {"rows", NULL, "1:1: the table without 'rows'; accepted: the table with it\n"},
        {"variants", "a", "1:11: variants: 'a'; accepted: a list of variants\n"},
        {"variants", "[a]", "1:12: variants: 'a'; accepted: a mapping\n"},
        {"variants", "[{ending: a}]",
         "1:12: a variant without 'none'; accepted: a variant with it\n"},
        {"variants", NULL, "1:1: the table without 'variants'; "},
        {"composites", "a", "2:13: composites: 'a'; accepted: a list of rows\n"},
        {"composites", "[{composite: [Swis], runs: whole, why: w}]",
         "2:27: unknown composite 'Swis'\n"},
        {"composites", "[{composite: [Swish], runs: hole, why: w}]",
         "2:41: runs: unknown what PyTorch runs 'hole' (did you mean 'whole'?); accepted: whole, "
         "parts, by form\n"},
        {"composites", "[{composite: [Swish], runs: whole}]",
         "2:14: a row of composites without 'why'; accepted: a row of composites with it\n"},
        {"calls", "[]", "3:8: calls: an empty list; accepted: one text or more\n"},
        {"constants", "a", "4:12: constants: 'a'; accepted: a list of texts, as in [a, b]\n"},
        {"apart", "a", "5:8: apart: 'a'; accepted: a list of rows\n"},
        {"apart", "[{torch: [a]}]",
         "5:9: a row of apart without 'into'; accepted: a row of apart with it\n"},
    };
    struct fixture *f = *state;
    struct amp_rule_ops ops = {.items = NULL};
    const char *problem;

    other_folder = f->folder;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        write_map(f, tables[i].key, tables[i].value);
        enum amp_status status = amp_torch_map_get(f->rules, &f->err);
        size_t place = strlen(f->folder) + strlen("/pytorch.map:");
        if (tables[i].said == NULL
                ? status != AMP_OK
                : status != AMP_RULES ||
                      strncmp(f->err.text + place, tables[i].said, strlen(tables[i].said)) != 0)
            fail_msg("'%s': %s", tables[i].value, status == AMP_OK ? "taken" : f->err.text);
        assert_int_equal(f->rules->torch != NULL, status == AMP_OK);
    }
    /* ONNX's names need no table, others do */
    write_map(f, "rows", "a");
    assert_int_equal(
        amp_op_name_resolve(f->rules, (struct amp_op_name){"Relu", 0}, &ops, &problem, &f->err),
        AMP_OK);
    assert_int_equal(
        amp_op_name_resolve(f->rules, (struct amp_op_name){"relu", 0}, &ops, &problem, &f->err),
        AMP_RULES);
}

/* A name of 63 characters: the longest that has variants. */
#define LONGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* What the rows of a table come to: the forms of names, their kinds and what is noted of them. */
static void tables_say_what_names_are(void **state)
{
    static const char rows[] =
        "\n- {torch: [both, mapped], onnx: [Relu]}"
        "\n- {torch: [none], none: why}"
        "\n- {torch: [both], composite: [Swish]}"
        "\n- {torch: [group], composite: [Swish, Gelu]}"
        "\n- {torch: [tied], onnx: [LeakyRelu], when: {alpha: 1}, aten: [leak], modules: [m.Leak]}"
        "\n- {torch: [tied_or_group], onnx: [LeakyRelu], when: {alpha: 1}}"
        "\n- {torch: [tied_or_group, group_or_tied], composite: [Swish]}"
        "\n- {torch: [group_or_tied, group_], onnx: [LeakyRelu], when: {alpha: 1}}"
        "\n- {torch: [tied_or_mapped], onnx: [LeakyRelu], when: {alpha: 1}}"
        "\n- {torch: [tied_or_mapped], onnx: [Relu]}"
        "\n- {torch: [noted, noted_too], aten: [first, second]}"
        "\n- {torch: [" LONGEST "], onnx: [Relu]}"
        "\n- {torch: [" LONGEST "b], onnx: [Relu]}\n";
    static const struct {
        const char *name;
        enum amp_torch_kind kind;
        size_t n_forms;
    } names[] = {{"both", AMP_TORCH_MAPPED, 2},
                 {"mapped", AMP_TORCH_MAPPED, 1},
                 {"none", AMP_TORCH_NONE, 1},
                 {"group", AMP_TORCH_COMPOSITE, 2},
                 {"tied", AMP_TORCH_CONDITIONAL, 1},
                 {"tied_or_group", AMP_TORCH_CONDITIONAL, 2},
                 {"group_or_tied", AMP_TORCH_CONDITIONAL, 2},
                 {"group_", AMP_TORCH_CONDITIONAL, 1},
                 {"tied_or_mapped", AMP_TORCH_MAPPED, 2},
                 {"noted", AMP_TORCH_NONE, 0},
                 {"noted_too", AMP_TORCH_NONE, 0}};
    struct fixture *f = *state;

    other_folder = f->folder;
    write_map(f, "rows", rows);
    if (amp_torch_map_get(f->rules, &f->err) != AMP_OK)
        fail_msg("%s", f->err.text);
    const struct amp_torch_map *map = f->rules->torch;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct amp_torch_name *name = amp_torch_map_find(map, names[i].name);
        assert_non_null(name);
        assert_string_equal(name->name, names[i].name);
        if (amp_torch_kind(name) != names[i].kind || name->forms.count != names[i].n_forms)
            fail_msg("%s: %s of %zu forms", names[i].name,
                     amp_torch_kind_name(amp_torch_kind(name)), name->forms.count);
        for (size_t k = 0; k < name->forms.count; k++)
            assert_true(name->forms.items[k].is_torch);
    }
    assert_string_equal(amp_torch_map_find(map, "none")->forms.items[0].reason, "why");
    assert_string_equal(amp_torch_map_at(map, 0)->name, "both");
    assert_string_equal(amp_torch_map_at(map, 12)->name, LONGEST "b");
    assert_null(amp_torch_map_at(map, 13));
    assert_string_equal(amp_torch_map_nearest(map, "mappd"), "mapped");
    /* endings are those of variants, of names whose length has an end */
    const struct amp_torch_name *variant = amp_torch_map_find(map, "mapped_");
    assert_string_equal(variant->name, "_");
    assert_string_equal(variant->forms.items[0].reason, "in place");
    assert_true(variant->forms.items[0].is_torch);
    assert_ptr_equal(amp_torch_map_find(map, LONGEST "_"), variant);
    assert_null(amp_torch_map_find(map, LONGEST "b_"));
    assert_null(amp_torch_map_find(map, "other_"));
    assert_null(amp_torch_map_find(map, "_"));
    assert_null(amp_torch_map_find(map, "other"));
    /* notes, each text for each name */
    const struct amp_torch_notes *aten = amp_torch_map_aten(map);
    assert_int_equal(aten->count, 5);
    assert_string_equal(aten->items[0].text, "leak");
    assert_string_equal(aten->items[0].name, "tied");
    assert_int_equal(aten->items[0].condition->n_when, 1);
    assert_string_equal(aten->items[0].forms->items[0].name, "LeakyRelu");
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(aten->items[1 + i].text, i < 2 ? "first" : "second");
        assert_string_equal(aten->items[1 + i].name, i % 2 == 0 ? "noted" : "noted_too");
        assert_null(aten->items[1 + i].condition);
        assert_int_equal(aten->items[1 + i].forms->count, 0);
    }
    assert_int_equal(amp_torch_map_modules(map)->count, 1);
    assert_string_equal(amp_torch_map_modules(map)->items[0].text, "m.Leak");
    assert_string_equal(amp_torch_map_calls(map)->items[0], "call");
    assert_string_equal(amp_torch_map_constants(map)->items[0], "constant");
    assert_string_equal(amp_torch_map_apart(map)->items[0].names.items[0], "a");
    assert_string_equal(amp_torch_map_apart(map)->items[0].into.items[0], "b");
    assert_int_equal(amp_torch_map_composite(map, "Swish")->runs, AMP_TORCH_RUNS_WHOLE);
    assert_null(amp_torch_map_composite(map, "Gelu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULES_TEST(places_are_lines_and_characters),
        RULES_TEST(excerpts_show_what_surrounds_a_place),
        RULES_TEST(numbers_are_those_of_yaml),
        RULES_TEST(limits_have_bounds),
        RULES_TEST(conditions_are_checked),
        RULES_TEST(rules_say_what_and_about_which),
        RULES_TEST(nothing_has_five_words),
        RULES_TEST(likes_follow_lists),
        RULES_TEST(aliases_are_copies),
        RULES_TEST(rules_may_be_aliases),
        RULES_TEST(trees_are_texts_lists_and_mappings),
        RULES_TEST(trees_have_an_end),
        RULES_TEST(each_limit_replaces_its_own),
        RULES_TEST(files_are_found_from_where_they_are_named),
        RULES_TEST(files_of_a_list_have_an_end),
        RULES_TEST(rules_of_other_dtypes_are_dropped),
        RULES_TEST(dtypes_that_rules_name),
        RULES_TEST(copies_are_lists_of_their_own),
        RULES_TEST(rules_of_the_command_line),
        TABLE_TEST(sets_are_the_files_of_a_folder),
        TABLE_TEST(tables_are_checked),
        TABLE_TEST(tables_say_what_names_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

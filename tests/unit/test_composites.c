/* Composites: patterns of nodes, and the conditions on their attributes. */
#include "core/array.h"
#include "core/status.h"
#include "net.h"
#include "pattern/composites.h"
#include "pattern/condition.h"
#include "pattern/constant.h"
#include "pattern/matcher.h"
#include "pattern/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- composites ------------------------------------------------------------------------------ */

/* The list of composites: every pattern can be read, and what stands for what. Which graphs they
 * fit is tests/composites' matter. */

static void test_list(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    const struct amp_composite *composite;
    (void)state;
    for (size_t i = 0; (composite = amp_composite_at(i)) != NULL; i++) {
        struct amp_error err = {.status = AMP_OK};
        size_t count;
        struct amp_pattern *pattern = amp_pattern_parse(arena, composite->text, &err);
        if (pattern == NULL)
            fail_msg("%s: %s", composite->name, err.text);
        assert_non_null(amp_pattern_roots(pattern, &count));
        assert_true(count > 0);
        assert_string_equal(amp_composite_find(composite->name)->name, composite->name);
    }
    assert_null(amp_composite_find("Conv1"));
    amp_arena_destroy(arena);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *at, *what;
    } wrong[] = {
        {"", "", "an expression is missing"},
        {"x", "", "the output is not an operator's"},
        {"_", "", "the output is not an operator's"},
        {"2", "", "the output is not an operator's"},
        {"Add", "", "a sign is missing"},
        {"Add x", "x", "a sign is missing"},
        {"Add(x", "", "a sign is missing"},
        {"(Add(x, y)", "", "a sign is missing"},
        {"Add(x, y) z", "z", "more than an expression"},
        {"Add(x:kind, y)", ", y)", "unknown kind of value"},
        {"Add(x:, y)", ", y)", "unknown kind of value"},
        {"Add(x,, y)", ", y)", "an expression is missing"},
        {"a = Add(x, y)", "", "a sign is missing"},
        {"Add(x){axes}", "}", "a sign is missing"},
        {"Add(x){axes=}", "}", "the value of an attribute is missing"},
        {"Add(x){axes=all 1}", "1}", "a sign is missing"},
        {"Concat(x..., y...)", " y...)", "too many arguments"},
        {"Add(x, y){axes=[1, }", "}", "a number is missing"},
        {"Add(x, y){axes=[1, 2}", "}", "a sign is missing"},
        {"Add(x, y){axes=[1]", "", "a sign is missing"},
        {"Add(x, y){=1}", "=1}", "the name of an attribute is missing"},
        {"Add(x, y){axes=1, }", "}", "the name of an attribute is missing"},
        {"Add(x, y){a=[1, 2, 3, 4, 5, 6, 7, 8, 9]}", " 9]}", "too many numbers"},
        {"Add(x, y){a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1}", " i=1}", "too many conditions"},
        {"Add(a, b, c, d, e, f, g, h, i)", " i)", "too many arguments"},
        {"Add(Add(a, b, c, d, e, f, g, h), Add(i, j, k, l, m, n, o, p), q)", ")", "too many names"},
        {"A(x) | B(x) | C(x) | D(x) | E(x) | F(x) | G(x) | H(x) | I(x)", " I(x)",
         "too many alternatives"},
        {"(A(x) | B(x)) | C(x) | D(x) | E(x) | F(x) | G(x) | H(x) | I(x)", "",
         "too many operators for the output"},
        {"Add(x...,)", ")", "too many arguments"},
        {"Add(x | , y)", ", y)", "an expression is missing"},
        {"Add(x, y); ", "; ", "more than an expression"},
        {"a = Add(x, y); b", "", "the output is not an operator's"},
        {"= Add(x, y)", "= Add(x, y)", "an expression is missing"},
    };
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        struct amp_error err = {.status = AMP_OK};
        char said[160];
        if (amp_pattern_parse(arena, wrong[i].text, &err) != NULL)
            fail_msg("'%s' is taken for a pattern", wrong[i].text);
        snprintf(said, sizeof said, "pattern '%.40s...', at '%s': %s", wrong[i].text, wrong[i].at,
                 wrong[i].what);
        assert_int_equal(err.status, AMP_RULES);
        assert_string_equal(err.text, said);
    }
    amp_arena_destroy(arena);
}

/* What is as long as it can be. */
static void test_limits(void **state)
{
    static const char *const right[] = {
        "Add(x, y){a=[1, 2, 3, 4, 5, 6, 7, 8]}",
        "Add(x, y){a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1}",
        "Add(a, b, c, d, e, f, g, h)",
        "Add(x, y...)",
        "Add(Add(a, b, c, d, e, f, g, h), Add(i, j, k, l, m, n, o, p))",
        "A(x) | B(x) | C(x) | D(x) | E(x) | F(x) | G(x) | H(x)",
        "(A(x) | A(y)) | B(x) | C(x) | D(x) | E(x) | F(x) | G(x)",
        " \n a_1  =\tAdd ( x : weight , y ... ) { k = [ -1 , 2 ] , l = w } ; "
        "( Mul ( a_1 , -0.5 ) | Sub ( a_1 , _ ) { m = A } ) \n"};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct amp_error err = {.status = AMP_OK};
        if (amp_pattern_parse(arena, right[i], &err) == NULL)
            fail_msg("'%s': %s", right[i], err.text);
    }
    amp_arena_destroy(arena);
}

static void test_names(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_error err = {.status = AMP_OK};
    struct amp_pattern *pattern = amp_pattern_parse(arena, "d = Sub(x, y); Mul(d, d) | d", &err);
    size_t count;
    (void)state;
    assert_non_null(pattern);
    const char *const *roots = amp_pattern_roots(pattern, &count);
    assert_int_equal(count, 2);
    assert_string_equal(roots[0], "Mul");
    assert_string_equal(roots[1], "Sub");
    assert_int_equal(amp_pattern_value(pattern, "d"), 0);
    assert_int_equal(amp_pattern_value(pattern, "y"), 2);
    assert_int_equal(amp_pattern_value(pattern, "z"), -1);
    pattern = amp_pattern_parse(arena, "Mul(x, y) | (Mul(_, x) | Sub(x, 1)) | Mul(y, z)", &err);
    assert_non_null(pattern);
    roots = amp_pattern_roots(pattern, &count);
    assert_int_equal(count, 2); /* each once */
    assert_string_equal(roots[0], "Mul");
    assert_string_equal(roots[1], "Sub");
    assert_int_equal(amp_pattern_value(pattern, "_"), -1);
    assert_int_equal(amp_pattern_value(pattern, "z"), 2);
    pattern = amp_pattern_parse(arena, "Add(x){a=A, b=Z, c=z, d=AB}", &err);
    assert_non_null(pattern);
    const struct amp_condition *conditions = pattern->root->conditions;
    assert_int_equal(conditions[0].kind, AMP_CONDITION_LETTER);
    assert_int_equal(conditions[0].letter, 0);
    assert_int_equal(conditions[1].kind, AMP_CONDITION_LETTER);
    assert_int_equal(conditions[1].letter, 25);
    assert_int_equal(conditions[2].kind, AMP_CONDITION_TEXT);
    assert_string_equal(conditions[2].text, "z");
    assert_int_equal(conditions[3].kind, AMP_CONDITION_TEXT);
    assert_string_equal(conditions[3].text, "AB");
    amp_arena_destroy(arena);
}

/* Four digits, or what the dtype has where it has fewer. */
static void test_numbers(void **state)
{
    (void)state;
    assert_true(amp_pattern_is_near(1.00009, 1, AMP_FLOAT));
    assert_false(amp_pattern_is_near(1.00011, 1, AMP_FLOAT));
    assert_false(amp_pattern_is_near(1.00011, 1, AMP_DOUBLE));
    assert_true(amp_pattern_is_near(1 + 0.9 / 2048, 1, AMP_FLOAT16));
    assert_false(amp_pattern_is_near(1 - 1.1 / 2048, 1, AMP_FLOAT16));
    assert_true(amp_pattern_is_near(-1 - 0.9 / 256, -1, AMP_BFLOAT16));
    assert_false(amp_pattern_is_near(1 + 1.1 / 256, 1, AMP_BFLOAT16));
    assert_false(amp_pattern_is_near(-1, 1, AMP_BFLOAT16));
    assert_true(amp_pattern_is_eps(1e-12, AMP_FLOAT));
    assert_true(amp_pattern_is_eps(0.1, AMP_BFLOAT16));
    assert_false(amp_pattern_is_eps(0.11, AMP_FLOAT));
    assert_false(amp_pattern_is_eps(-1e-5, AMP_FLOAT16));
    assert_true(amp_pattern_is_eps(0, AMP_FLOAT16));
    assert_false(amp_pattern_is_eps(0, AMP_BFLOAT16));
    assert_false(amp_pattern_is_eps(0, AMP_FLOAT));
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* The conditions of patterns on attributes, each on a node of its own: a line is an operator, the
   rank of its input (-1: unknown), the attribute with its numbers, and the condition. What the
   words mean is said in pattern/pattern.h. */

enum { RANK_MAX = 4, UNKNOWN = -1 };

struct line {
    const char *op_type;
    int rank;
    const char *name;
    size_t count; /* of numbers; 0: the attribute is not there */
    int64_t numbers[4];
    enum amp_condition_kind kind;
    bool holds;
};

#define LIST(...)                                       \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
    {                                                   \
        __VA_ARGS__                                     \
    }
#define REDUCE(rank, kind, holds, ...)                                             \
    {                                                                              \
        "ReduceMean", rank, "axes", LIST(__VA_ARGS__), AMP_CONDITION_##kind, holds \
    }
#define SWAP(rank, holds, ...)                                                     \
    {                                                                              \
        "Transpose", rank, "perm", LIST(__VA_ARGS__), AMP_CONDITION_SWAPPED, holds \
    }

static const struct line lines[] = {
    REDUCE(3, LAST, true, -1),
    REDUCE(3, LAST, true, 2),
    REDUCE(3, LAST, false, 1),
    REDUCE(3, LAST, false, -2),
    REDUCE(3, LAST, false, 1, 2),
    REDUCE(1, LAST, true, 0),
    REDUCE(UNKNOWN, LAST, true, -1),
    REDUCE(UNKNOWN, LAST, false, -2),
    REDUCE(UNKNOWN, LAST, false, 2),
    REDUCE(3, TRAILING, true, 2),
    REDUCE(3, TRAILING, true, 1, 2),
    REDUCE(3, TRAILING, true, -1, -2),
    REDUCE(3, TRAILING, true, -1, 1),
    REDUCE(3, TRAILING, true, 0, 1, 2),
    REDUCE(3, TRAILING, false, 0, 1),
    REDUCE(3, TRAILING, false, 0, 2),
    REDUCE(3, TRAILING, false, 1),
    REDUCE(UNKNOWN, TRAILING, true, -2, -1),
    REDUCE(UNKNOWN, TRAILING, false, -3, -1),
    REDUCE(UNKNOWN, TRAILING, false, 0, 1),
    REDUCE(4, INNER, true, 2, 3),
    REDUCE(4, INNER, true, -1, -2),
    REDUCE(3, INNER, true, 2),
    REDUCE(4, INNER, false, 3),
    REDUCE(4, INNER, false, 2),
    REDUCE(4, INNER, false, 1, 2, 3),
    REDUCE(2, INNER, false, 1),
    REDUCE(UNKNOWN, INNER, false, -2, -1),
    REDUCE(2, ALL, true, 0, 1),
    REDUCE(2, ALL, true, -2, -1),
    REDUCE(1, ALL, true, 0),
    REDUCE(3, ALL, true, 2, 0, 1),
    REDUCE(2, ALL, false, 1),
    REDUCE(3, ALL, false, 1, 2),
    REDUCE(UNKNOWN, ALL, false, -2, -1),
    {"ReduceMean", 2, "axes", 0, {0}, AMP_CONDITION_ALL, true},
    {"ReduceMean", 2, "axes", 0, {0}, AMP_CONDITION_LAST, false},
    {"Unsqueeze", 2, "axes", LIST(2), AMP_CONDITION_LAST, true},
    {"Unsqueeze", 2, "axes", LIST(-1), AMP_CONDITION_LAST, true},
    {"Unsqueeze", 2, "axes", LIST(1), AMP_CONDITION_LAST, false},
    {"Softmax", 3, "axis", LIST(2), AMP_CONDITION_LAST, true},
    {"Softmax", 3, "axis", LIST(1), AMP_CONDITION_LAST, false},
    {"Softmax", 2, "axis", 0, {0}, AMP_CONDITION_LAST, true}, /* 1 by default before opset 13 */
    {"Softmax", 3, "axis", 0, {0}, AMP_CONDITION_LAST, false},
    SWAP(2, true, 1, 0),
    SWAP(3, true, 0, 2, 1),
    SWAP(4, true, 0, 1, 3, 2),
    SWAP(2, false, 0, 1),
    SWAP(3, false, 2, 1, 0),
    SWAP(3, false, 1, 0, 2),
    SWAP(3, false, 1, 2, 0),
    SWAP(4, false, 1, 0, 3, 2),
    SWAP(1, false, 0),
};

static uint32_t make_node(const struct line *line)
{
    static const int64_t dims[RANK_MAX] = {2, 3, 4, 5};
    struct amp_shape shape = {.rank = line->rank};
    for (int i = 0; i < line->rank; i++)
        shape.dims[i] = dims[i];
    net_start(11);
    uint32_t y = NODE(line->op_type, "y", input("x", AMP_FLOAT, shape));
    if (strcmp(line->name, "axis") == 0 && line->count > 0)
        set_int(y, line->name, line->numbers[0]);
    else if (line->count > 0)
        set_list(y, line->name, line->count, line->numbers);
    output(y);
    infer_all();
    return node_of(y);
}

static void words_hold_for_the_axes_that_they_mean(void **state)
{
    bool are_all = true;
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct amp_axes_letters letters = {.known = 0};
        const struct amp_condition condition = {.name = lines[i].name, .kind = lines[i].kind};
        uint32_t node = make_node(&lines[i]);
        if (amp_condition_holds(net.model, node, &condition, &letters) == lines[i].holds)
            continue;
        print_error("line %zu: %s of rank %d %s\n", i, lines[i].op_type, lines[i].rank,
                    lines[i].holds ? "is refused" : "is taken");
        are_all = false;
    }
    assert_true(are_all);
}

/* Of all orders of up to four axes one is the same, and one has the last two exchanged. */
static void orders_of_axes(void **state)
{
    (void)state;
    for (int rank = 1; rank <= 4; rank++)
        for (int code = 0; code < 256; code++) {
            struct line line = {"Transpose", rank, "perm", (size_t)rank, {0}, 0, false};
            int seen = 0, n_same = 0;
            for (int i = 0; i < rank; i++) {
                line.numbers[i] = code >> 2 * i & 3;
                seen |= 1 << line.numbers[i];
                n_same += line.numbers[i] == i;
            }
            if (seen != (1 << rank) - 1 || code >> 2 * rank != 0)
                continue;
            struct amp_axes_letters letters = {.known = 0};
            const struct amp_condition same = {.name = "perm", .kind = AMP_CONDITION_SAME},
                                       swapped = {.name = "perm", .kind = AMP_CONDITION_SWAPPED};
            bool is_swapped = rank > 1 && n_same == rank - 2 && line.numbers[rank - 1] == rank - 2;
            uint32_t node = make_node(&line);
            assert_int_equal(amp_condition_holds(net.model, node, &same, &letters), n_same == rank);
            assert_int_equal(amp_condition_holds(net.model, node, &swapped, &letters), is_swapped);
            amp_node_remove_attr(net.model, node, "perm"); /* then all are turned round */
            assert_false(amp_condition_holds(net.model, node, &same, &letters));
            assert_false(amp_condition_holds(net.model, node, &swapped, &letters));
            amp_node_set_attr(net.model, node,
                              (struct amp_attr){.name = "perm", .type = AMP_ATTR_INTS});
            assert_false(amp_condition_holds(net.model, node, &same, &letters));
            assert_false(amp_condition_holds(net.model, node, &swapped, &letters));
        }
}

/* A letter stands for the axes of the first node that it is asked about. */
static void letters_stand_for_one_set_of_axes(void **state)
{
    static const struct line first = REDUCE(3, LETTER, true, 1, -1),
                             others[] = {
                                 REDUCE(3, LETTER, true, 2, 1),     REDUCE(3, LETTER, false, 1),
                                 REDUCE(3, LETTER, false, 2),       REDUCE(3, LETTER, false, 0, 2),
                                 REDUCE(3, LETTER, false, 0, 1, 2), REDUCE(4, LETTER, false, 1, -1),
                                 REDUCE(4, LETTER, true, 1, 2)};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct amp_axes_letters letters = {.known = 0};
        const struct amp_condition a = {.name = "axes", .kind = AMP_CONDITION_LETTER, .letter = 0},
                                   b = {.name = "axes", .kind = AMP_CONDITION_LETTER, .letter = 1};
        assert_true(amp_condition_holds(net.model, make_node(&first), &a, &letters));
        uint32_t node = make_node(&others[i]);
        assert_int_equal(amp_condition_holds(net.model, node, &a, &letters), others[i].holds);
        assert_true(amp_condition_holds(net.model, node, &b, &letters));
    }
}

/* Numbers are axes, counted from the front, or values; a word is a text. */
static void numbers_and_texts_are_compared(void **state)
{
    const struct amp_condition
        one = {.name = "axes", .kind = AMP_CONDITION_NUMBERS, .n_numbers = 1, .numbers = {1}},
        two = {.name = "axes", .kind = AMP_CONDITION_NUMBERS, .n_numbers = 2, .numbers = {0, 1}},
        mean = {.name = "reduction", .kind = AMP_CONDITION_TEXT, .text = "mean"},
        alpha = {.name = "alpha", .kind = AMP_CONDITION_NUMBERS, .n_numbers = 1, .numbers = {0.5}},
        eps = {.name = "epsilon", .kind = AMP_CONDITION_EPS};
    static const struct line of_one = REDUCE(2, NUMBERS, true, -1),
                             of_two = REDUCE(2, NUMBERS, true, -1, 0),
                             of_others = REDUCE(3, NUMBERS, true, 0, 2),
                             leaky = {"LeakyRelu", 2, "axes", 0, {0}, AMP_CONDITION_NUMBERS, true},
                             norm = {"LpNormalization", 2, "axis", 0, {0}, AMP_CONDITION_EPS, true};
    struct amp_axes_letters letters = {.known = 0};
    (void)state;
    uint32_t node = make_node(&of_one);
    assert_true(amp_condition_holds(net.model, node, &one, &letters));
    assert_false(amp_condition_holds(net.model, node, &two, &letters));
    assert_false(amp_condition_holds(net.model, node, &mean, &letters));
    node = make_node(&of_two);
    assert_false(amp_condition_holds(net.model, node, &one, &letters));
    assert_true(amp_condition_holds(net.model, node, &two, &letters));
    node = make_node(&of_others);
    assert_false(amp_condition_holds(net.model, node, &two, &letters));
    node = make_node(&leaky);
    set_number(net.model->graphs[0].outputs.items[0], "alpha", 0.5f);
    assert_true(amp_condition_holds(net.model, node, &alpha, &letters));
    set_number(net.model->graphs[0].outputs.items[0], "alpha", 0.51f);
    assert_false(amp_condition_holds(net.model, node, &alpha, &letters));
    set_word(net.model->graphs[0].outputs.items[0], "reduction", "mean");
    assert_true(amp_condition_holds(net.model, node, &mean, &letters));
    set_word(net.model->graphs[0].outputs.items[0], "reduction", "sum");
    assert_false(amp_condition_holds(net.model, node, &mean, &letters));
    node = make_node(&norm);
    assert_false(amp_condition_holds(net.model, node, &eps, &letters));
    set_number(net.model->graphs[0].outputs.items[0], "epsilon", 1e-5f);
    assert_true(amp_condition_holds(net.model, node, &eps, &letters));
    set_number(net.model->graphs[0].outputs.items[0], "epsilon", 0.2f);
    assert_false(amp_condition_holds(net.model, node, &eps, &letters));
}

/* What is no axis of any tensor is none of a letter either. */
static void axes_beyond_all_ranks_are_none(void **state)
{
    static const int64_t far[] = {AMP_RANK_MAX + 1, -AMP_RANK_MAX - 1, INT64_MAX, INT64_MIN};
    const struct amp_condition letter = {.name = "axes", .kind = AMP_CONDITION_LETTER, .letter = 0};
    struct amp_axes_letters letters = {.known = 0};
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        net_start(11);
        uint32_t y = NODE("ReduceMean", "y", input("x", AMP_FLOAT, ANY_DIMS));
        set_list(y, "axes", 1, &far[i]);
        assert_false(amp_condition_holds(net.model, node_of(y), &letter, &letters));
        assert_int_equal(letters.known, 0);
    }
    for (int i = 0; i < 2; i++) {
        const int64_t farthest = i == 0 ? AMP_RANK_MAX - 1 : -AMP_RANK_MAX;
        letters.known = 0;
        net_start(11);
        uint32_t y = NODE("ReduceMean", "y", input("x", AMP_FLOAT, ANY_DIMS));
        set_list(y, "axes", 1, &farthest);
        assert_true(amp_condition_holds(net.model, node_of(y), &letter, &letters));
        assert_int_equal(letters.known, 1);
    }
}

/* Axes that the tensor does not have are none of its last ones, even where they adjoin them. */
static void axes_beyond_the_rank_are_not_the_last(void **state)
{
    static const struct {
        int rank;
        size_t count;
        int64_t axes[4];
    } beyond[] = {{0, 1, {-1}},        {0, 1, {0}},           {0, 2, {-2, -1}},
                  {1, 2, {-2, 0}},     {1, 2, {-2, -1}},      {1, 3, {-3, -2, 0}},
                  {2, 3, {-3, -2, 1}}, {2, 4, {-4, 1, 0, -3}}};
    static const enum amp_condition_kind kinds[] = {AMP_CONDITION_LAST, AMP_CONDITION_TRAILING,
                                                    AMP_CONDITION_INNER, AMP_CONDITION_ALL};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(beyond); i++)
        for (size_t k = 0; k < AMP_COUNT(kinds); k++) {
            struct amp_axes_letters letters = {.known = 0};
            const struct amp_condition condition = {.name = "axes", .kind = kinds[k]};
            net_start(11);
            struct amp_shape shape = {.rank = beyond[i].rank, .dims = {2, 3}};
            uint32_t y = NODE("ReduceMean", "y", input("x", AMP_FLOAT, shape));
            set_list(y, "axes", beyond[i].count, beyond[i].axes);
            if (amp_condition_holds(net.model, node_of(y), &condition, &letters))
                fail_msg("axes %zu, condition %zu", i, k);
        }
}

/* As many numbers as there are, not the first ones of them, nor those and zeros. */
static void all_numbers_are_compared(void **state)
{
    static const char *const texts[] = {"1", "[1, 0]", "[1, 2]", "[1, 2, 0]", "[1, 2, 3]"};
    static const int64_t numbers[][3] = {{1}, {1, 0}, {1, 2}, {1, 2, 0}, {1, 2, 3}};
    static const size_t counts[] = {1, 2, 2, 3, 3};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(texts); i++)
        for (size_t k = 0; k < AMP_COUNT(texts); k++) {
            struct amp_error err = {.status = AMP_OK};
            struct amp_axes_letters letters = {.known = 0};
            char text[64];
            net_start(17);
            uint32_t y = NODE("MaxPool", "y", input("x", AMP_FLOAT, ANY_DIMS));
            set_list(y, "strides", counts[i], numbers[i]);
            snprintf(text, sizeof text, "MaxPool(x){strides=%s}", texts[k]);
            const struct amp_pattern *pattern = amp_pattern_parse(net.arena, text, &err);
            assert_non_null(pattern);
            assert_int_equal(
                amp_condition_holds(net.model, node_of(y), &pattern->root->conditions[0], &letters),
                i == k);
        }
}

/* Neither a text, nor no number, nor more numbers than any tensor has dims. */
static void what_lists_no_axes_has_none(void **state)
{
    static const int64_t many[AMP_RANK_MAX + 1] = {0, 1, 2, 3};
    static const enum amp_condition_kind kinds[] = {AMP_CONDITION_LETTER, AMP_CONDITION_LAST,
                                                    AMP_CONDITION_TRAILING, AMP_CONDITION_NUMBERS};
    struct amp_axes_letters letters = {.known = 0};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const struct amp_condition condition = {.name = "axes", .kind = kinds[k]};
            net_start(11);
            uint32_t y = NODE("ReduceMean", "y", input("x", AMP_FLOAT, ANY_DIMS));
            if (i == 0)
                set_word(y, "axes", "last");
            else
                set_list(y, "axes", i == 1 ? 0 : AMP_RANK_MAX + 1, many);
            assert_false(amp_condition_holds(net.model, node_of(y), &condition, &letters));
            assert_int_equal(letters.known, 0);
        }
}

/* ---- matching -------------------------------------------------------------------------------- */

/* The last match, whose nodes outlive the matcher. */
static struct {
    struct amp_pattern *pattern;
    struct amp_pattern_match match;
    uint32_t nodes[8];
} found;

/* Whether the pattern TEXT fits with VALUE as its output. */
static bool fits(const char *text, uint32_t value)
{
    struct amp_error err = {.status = AMP_OK};
    found.pattern = amp_pattern_parse(net.arena, text, &err);
    if (found.pattern == NULL)
        fail_msg("'%s': %s", text, err.text);
    struct amp_pattern_matcher *matcher = amp_pattern_matcher_create(net.model);
    bool once = amp_pattern_matcher_match(matcher, found.pattern, node_of(value), &found.match);
    bool again = amp_pattern_matcher_match(matcher, found.pattern, node_of(value), &found.match);
    assert_int_equal(once, again);
    if (once)
        for (size_t i = 0; i < found.match.n_nodes && i < 8; i++)
            found.nodes[i] = found.match.nodes[i];
    amp_pattern_matcher_destroy(matcher);
    return once;
}

/* The value that the last match has for NAME. */
static uint32_t bound(const char *name)
{
    int index = amp_pattern_value(found.pattern, name);
    assert_true(index >= 0);
    return found.match.values[index];
}

/* The last match has the nodes that make VALUES, and no others. */
static void assert_parts(const uint32_t *values, size_t count)
{
    assert_int_equal(found.match.n_nodes, count);
    for (size_t i = 0; i < count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < count; k++)
            is_there |= found.nodes[k] == node_of(values[i]);
        if (!is_there)
            fail_msg("'%s' is no part", amp_value_at(net.model, values[i])->name);
    }
}

static uint32_t floats_in(const char *name)
{
    return input(name, AMP_FLOAT, DIMS(2, 3, 4));
}

static void operands_fit_in_either_order(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), y = floats_in("y"), r = NODE("Relu", "r", x);
    uint32_t sum = NODE("Add", "sum", y, r);
    output(sum);
    infer_all();
    assert_true(fits("Add(Relu(a), b)", sum));
    assert_int_equal(bound("a"), x);
    assert_int_equal(bound("b"), y);
    assert_parts(IDS(sum, r));
    assert_true(fits("Add(b, Relu(a))", sum));
    assert_false(fits("Add(Relu(a), a)", sum));
    assert_false(fits("Add(Relu(a), b:weight)", sum));
    assert_false(fits("Add(Relu(a), b, c)", sum));
    assert_false(fits("Mul(Relu(a), b)", sum));
    assert_false(fits("Add(Relu(a), b){axis=1}", sum)); /* nor without the attribute, either way */
    assert_false(fits("Add(b, Relu(a)){axis=1}", sum));

    net_start(17);
    x = floats_in("x"), y = floats_in("y"), r = NODE("Relu", "r", x);
    uint32_t difference = NODE("Sub", "difference", y, r);
    output(difference);
    infer_all();
    assert_false(fits("Sub(Relu(a), b)", difference));
    assert_true(fits("Sub(b, Relu(a))", difference));

    net_start(17);
    x = floats_in("x"), r = NODE("Relu", "r", x);
    uint32_t largest = NODE("Max", "largest", FLOATS("c", 1), r, FLOATS("d", 2));
    output(largest);
    infer_all();
    assert_false(fits("Max(Relu(a), b)", largest)); /* of two in either order, but not of three */
    assert_true(fits("Max(b, Relu(a))", largest));
}

/* What was tried first, and did not lead to the end, leaves nothing. */
static void what_was_tried_is_taken_back(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), y = floats_in("y"), product = NODE("Mul", "product", x, y);
    uint32_t sum = NODE("Add", "sum", product, x);
    output(sum);
    infer_all();
    assert_true(fits("Add(Mul(a, b), b)", sum));
    assert_int_equal(bound("a"), y);
    assert_int_equal(bound("b"), x);
    assert_true(fits("Add(Mul(a, c), b) | Add(Mul(a, b), b)", sum));
    assert_int_equal(bound("c"), y);
    assert_true(fits("Add(Mul(a, c), 1) | Add(Mul(a, b), b)", sum));
    assert_int_equal(bound("c"), AMP_NONE);

    net_start(17);
    x = floats_in("x");
    uint32_t r = NODE("Relu", "r", x), t = NODE("Tanh", "t", x);
    product = NODE("Mul", "product", r, t);
    output(product);
    infer_all();
    assert_true(fits("Mul(Relu(a), Sigmoid(a)) | Mul(b, Tanh(a))", product));
    assert_parts(IDS(product, t));
    assert_int_equal(bound("b"), r);
    assert_true(fits("d = Tanh(Exp(x)); e = Tanh(x); Mul(Relu(_), d | e)", product));
    assert_parts(IDS(product, r, t));
    assert_int_equal(bound("d"), AMP_NONE);
    assert_int_equal(bound("e"), t);

    net_start(17);
    x = floats_in("x");
    uint32_t mean = NODE("ReduceMean", "mean", x), most = NODE("ReduceMax", "most", x);
    SET_INTS(mean, "axes", 1);
    SET_INTS(most, "axes", 0);
    sum = NODE("Add", "sum", mean, most);
    output(sum);
    infer_all();
    assert_true(
        fits("Add(ReduceMean(Relu(a)){axes=A} | ReduceMean(a), ReduceMax(a){axes=A})", sum));
    assert_true(
        fits("Add(ReduceMean(a){axes=A, keepdims=0} | ReduceMean(a), ReduceMax(a){axes=A})", sum));
    assert_true(fits("Add(ReduceMean(a){axes=A}, ReduceMax(a){axes=B})", sum));
    assert_false(fits("Add(ReduceMean(a){axes=A}, ReduceMax(a){axes=A})", sum));
}

/* A Max whose last input is to be LAST, behind five choices of four and one of WIDTH that make no
   difference. */
static bool fits_after(int width, const char *last)
{
    uint32_t inputs[8];
    char text[256] = "Max(a | b";
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < (i == 0 ? width : 4); k++)
            strcat(text, k == 0 ? ", _" : " | _");
    strcat(strcat(strcat(text, ", "), last), ")");
    net_start(17);
    for (int i = 0; i < 8; i++)
        inputs[i] = floats_in(amp_model_unique_name(net.model, "x"));
    uint32_t most = net_node(0, "Max", "most", 1, inputs, 8);
    output(net_out(most, 0));
    infer_all();
    return fits(text, net_out(most, 0));
}

/* 2^14 things that must hold are tried. What stands behind a choice is tried again for each of its
   items, so that with 'a' as the first what follows takes 2 + (1 + 4094) * WIDTH of them. */
static void tries_are_bounded(void **state)
{
    (void)state;
    for (int width = 1; width <= 4; width++) {
        assert_true(fits_after(width, "c"));
        assert_int_equal(fits_after(width, "a"), width <= 3); /* once 'b' is the first */
        assert_false(fits_after(width, "Exp(_)"));
    }
}

static void no_matcher_is_destroyed(void **state)
{
    (void)state;
    amp_pattern_matcher_destroy(NULL);
}

/* A matcher's matches know nothing of each other. */
static void letters_begin_anew_with_each_match(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), outputs[2];
    for (int64_t i = 0; i < 2; i++) {
        outputs[i] = NODE("ReduceMean", "mean", x);
        set_list(outputs[i], "axes", 1, &i);
        output(outputs[i]);
    }
    infer_all();
    struct amp_pattern *pattern =
        amp_pattern_parse(net.arena, "ReduceMean(x){axes=A, axes=A}", &err);
    struct amp_pattern_matcher *matcher = amp_pattern_matcher_create(net.model);
    for (int i = 0; i < 2; i++) {
        assert_true(amp_pattern_matcher_match(matcher, pattern, node_of(outputs[i]), &found.match));
        assert_int_equal(found.match.n_nodes, 1);
        assert_int_equal(found.match.nodes[0], node_of(outputs[i]));
    }
    amp_pattern_matcher_destroy(matcher);
}

/* Nodes that change nothing lie between the others, and become parts; they end no pattern. */
static void what_changes_nothing_lies_between(void **state)
{
    static const struct {
        const char *op_type;
        enum amp_dtype to; /* of Cast */
        bool is_passed;
    } between[] = {{"Identity", AMP_UNDEFINED, true},
                   {"Dropout", AMP_UNDEFINED, true},
                   {"Cast", AMP_FLOAT, true},
                   {"Cast", AMP_DOUBLE, false},
                   {"Neg", AMP_UNDEFINED, false}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(between); i++) {
        bool is_passed = between[i].is_passed;
        net_start(17);
        input("unused", AMP_DOUBLE, SCALAR);
        uint32_t x = floats_in("x"), r = NODE("Relu", "r", x);
        uint32_t first = NODE(between[i].op_type, "first", r);
        uint32_t second = NODE(between[i].op_type, "second", first);
        uint32_t sum = NODE("Add", "sum", second, second), last = NODE("Identity", "last", sum);
        if (between[i].to != AMP_UNDEFINED) {
            set_int(first, "to", between[i].to);
            set_int(second, "to", between[i].to);
        }
        output(last);
        infer_all();
        assert_int_equal(fits("Add(Relu(x), _)", sum), is_passed);
        assert_int_equal(fits("d = Relu(x); Add(d, d)", sum), is_passed);
        if (is_passed) {
            assert_parts(IDS(sum, first, second, r));
            assert_int_equal(bound("d"), r);
            assert_int_equal(bound("x"), x);
        }
        assert_true(fits("Add(d, d)", sum));
        assert_int_equal(bound("d"), second);
        assert_parts(IDS(sum));
        assert_false(fits("Add(x, x)", last));
        assert_false(fits("Identity(Relu(x))", last));
    }
}

/* What takes nothing has nothing to pass on. */
static void what_takes_nothing_is_data(void **state)
{
    static const char *const ops[] = {"Identity", "Dropout", "Cast", "RandomNormal"};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(ops); i++)
        for (size_t n_inputs = 0; n_inputs < 2; n_inputs++) {
            const uint32_t none = AMP_NONE;
            net_start(17);
            uint32_t data = net_out(net_node(0, ops[i], "data", 1, &none, n_inputs), 0);
            uint32_t r = NODE("Relu", "r", data);
            output(r);
            assert_true(fits("Relu(a)", r));
            assert_int_equal(bound("a"), data);
            assert_false(fits("Relu(Exp(a))", r));
            assert_false(fits("Relu(_:weight)", r));
            assert_false(fits("Relu(1)", r));
            assert_false(fits("Relu(Relu(a))", r));
            assert_false(fits("e = Exp(a); Relu(e)", r));
            assert_true(fits("e = Exp(a); Relu(e | b)", r));
            assert_int_equal(bound("b"), data);
            assert_parts(IDS(r));
        }
}

/* Only first outputs are passed on: the mask of Dropout is not its data. */
static void other_outputs_are_no_parts(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), r = NODE("Relu", "r", x);
    uint32_t dropout = net_node(0, "Dropout", "dropout", 2, IDS(r));
    uint32_t mask = NODE("Cast", "mask", net_out(dropout, 1));
    uint32_t data = NODE("Neg", "data", net_out(dropout, 0));
    set_int(mask, "to", AMP_FLOAT);
    output(mask);
    output(data);
    infer_all();
    assert_false(fits("Cast(Relu(x))", mask));
    assert_false(fits("d = Relu(x); Cast(d)", mask));
    assert_false(fits("Cast(Dropout(x))", mask));
    assert_false(fits("Neg(Relu(x))", data)); /* the mask goes elsewhere */
    assert_false(fits("Neg(Dropout(x))", data));

    net_start(17);
    x = floats_in("x"), r = NODE("Relu", "r", x);
    dropout = net_node(0, "Dropout", "dropout", 2, IDS(r));
    data = NODE("Neg", "data", net_out(dropout, 0));
    output(data);
    infer_all();
    assert_true(fits("Neg(Relu(x))", data));
    assert_true(fits("Neg(Dropout(Relu(x)))", data));

    net_start(17);
    x = floats_in("x"), r = NODE("Relu", "r", x);
    dropout = net_node(0, "Dropout", "dropout", 2, IDS(r));
    mask = NODE("Cast", "mask", net_out(dropout, 1));
    set_int(mask, "to", AMP_FLOAT);
    output(mask);
    infer_all();
    assert_false(fits("Cast(Relu(x))", mask));
    assert_false(fits("Cast(Dropout(x))", mask));
    assert_false(fits("d = Relu(x); Cast(d)", mask));
    assert_true(fits("Cast(x)", mask));
}

/* What a part gives is taken by parts alone; what the root gives by anyone. */
static void nothing_leaves_a_match_but_its_output(void **state)
{
    enum { NOTHING, AN_OUTPUT, A_NODE, THE_ROOT_TWICE, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        net_start(17);
        uint32_t x = floats_in("x"), r = NODE("Relu", "r", x), same = NODE("Identity", "same", r);
        uint32_t y = NODE("Exp", "y", same);
        output(y);
        if (i == AN_OUTPUT)
            output(r);
        if (i == A_NODE)
            output(NODE("Neg", "other", same));
        if (i == THE_ROOT_TWICE)
            output(NODE("Neg", "other", y));
        infer_all();
        bool is_closed = i == NOTHING || i == THE_ROOT_TWICE;
        assert_int_equal(fits("Exp(Relu(x))", y), is_closed);
        assert_int_equal(fits("d = Relu(x); Exp(d)", y), is_closed);
        assert_true(fits("Exp(d)", y));
    }
}

/* A node of a body takes no part of the graph around it. */
static void a_match_is_of_one_graph(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), r = NODE("Relu", "r", x);
    uint32_t body = amp_graph_add(net.model, "body", AMP_NONE);
    uint32_t inner = net_out(net_node(body, "Relu", "inner", 1, IDS(x)), 0);
    uint32_t a = net_out(net_node(body, "Exp", "a", 1, IDS(r)), 0);
    uint32_t b = net_out(net_node(body, "Exp", "b", 1, IDS(inner)), 0);
    assert_false(fits("Exp(Relu(x))", a));
    assert_false(fits("d = Relu(x); Exp(d)", a));
    assert_true(fits("Exp(Relu(x))", b));
}

/* Inputs beyond those that are written are constants, also such as a caller may override, or left
   out. */
static void further_inputs_are_settings(void **state)
{
    enum { CONSTANT, DEFAULT, DATA, LEFT_OUT, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        net_start(17);
        const float six = 6;
        uint32_t x = floats_in("x"), most;
        if (i == CONSTANT || i == DEFAULT)
            most = constant("most", AMP_FLOAT, SCALAR, &six);
        else
            most = i == DATA ? input("most", AMP_FLOAT, SCALAR) : AMP_NONE;
        if (i == DEFAULT) {
            amp_value_at(net.model, most)->is_input = true;
            amp_value_at(net.model, most)->constant = NULL;
            amp_ids_push(net.model, &net.model->graphs[0].inputs, most);
        }
        uint32_t none = AMP_NONE, y = NODE("Clip", "y", x, none, most);
        output(y);
        infer_all();
        assert_int_equal(fits("Clip(x)", y), i != DATA);
        assert_false(fits("Clip(x, a)", y)); /* what is left out is no value */
        assert_int_equal(fits("Clip(x){max=6}", y), i == CONSTANT);
    }
}

/* Integers that come through what changes nothing are settings too; what is computed is data, and
   so is what somebody else's operator makes. */
static void settings_come_through_others(void **state)
{
    static const char *const ops[] = {"Identity", "Cast", "Neg", "Abs"};
    static const int64_t last = 2;
    static const float two = 2;
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        net_start(17);
        uint32_t axes = NODE(ops[i], "axes", constant("c", AMP_INT64, DIMS(1), &last));
        if (i == 1)
            set_int(axes, "to", AMP_INT64);
        uint32_t y = NODE("ReduceSum", "y", floats_in("x"), axes);
        output(y);
        infer_all();
        assert_int_equal(fits("ReduceSum(x)", y), i < 2);
        assert_int_equal(fits("ReduceSum(x){axes=last}", y), i < 2);
        assert_false(fits("ReduceSum(x){axes=all}", y));
        assert_int_equal(fits("ReduceSum(x, 2)", y), i < 2);
        assert_true(fits("ReduceSum(x, a)", y));
    }
    net_start(17);
    uint32_t other = NODE("Neg", "other", constant("c", AMP_FLOAT, SCALAR, &two));
    uint32_t y = NODE("Mul", "y", floats_in("x"), other);
    output(y);
    infer_all();
    amp_node_at(net.model, node_of(other))->domain = "com.example";
    amp_node_at(net.model, node_of(other))->schema = NULL;
    assert_false(fits("Mul(x, 2)", y));
    assert_false(fits("Mul(x, Neg(2))", y));
    assert_false(fits("Mul(x, a:scalar)", y));
    assert_true(fits("Mul(x, a)", y));
}

/* "a..." stands for one input or more. */
static void arguments_repeat(void **state)
{
    enum { MOST = 1024 };
    static uint32_t many[MOST + 1];
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), parts[4];
    for (int i = 0; i < 3; i++)
        parts[i] = NODE("Relu", "part", x);
    parts[3] = x;
    uint32_t joined[3] = {net_out(net_node(0, "Concat", "one", 1, parts, 1), 0),
                          net_out(net_node(0, "Concat", "two", 1, parts + 1, 2), 0),
                          net_out(net_node(0, "Concat", "data", 1, parts + 2, 2), 0)};
    for (int i = 0; i < 3; i++) {
        set_int(joined[i], "axis", 0);
        output(joined[i]);
    }
    infer_all();
    assert_true(fits("Concat(Relu(x)...)", joined[0]));
    assert_parts(IDS(joined[0], parts[0]));
    assert_true(fits("Concat(_...)", joined[1]));
    assert_false(fits("Concat(_, Relu(x)...)", joined[0]));
    assert_false(fits("Concat(Relu(x)...)", joined[2]));
    assert_false(fits("Concat(Relu(x))", joined[1]));

    for (int i = 0; i < 2; i++) {
        net_start(17);
        many[0] = floats_in("x");
        for (size_t k = 1; k < AMP_COUNT(many); k++)
            many[k] = many[0];
        uint32_t sum = net_out(net_node(0, "Sum", "sum", 1, many, MOST + (size_t)i), 0);
        output(sum);
        infer_all();
        assert_int_equal(fits("Sum(x...)", sum), i == 0);
    }
}

/* A name that stands twice is one value, or two constants that are equal numbers. */
static void names_stand_for_one_value(void **state)
{
    static const float numbers[][2] = {{2, 2}, {2, 3}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(numbers); i++)
        for (int64_t count = 1; count < 3; count++) {
            const float pair[] = {2, 2};
            net_start(17);
            uint32_t x = input("x", AMP_FLOAT, DIMS(2));
            uint32_t a = constant("a", AMP_FLOAT, DIMS(count), count > 1 ? pair : &numbers[i][0]);
            uint32_t b = constant("b", AMP_FLOAT, SCALAR, &numbers[i][1]);
            uint32_t y = NODE("Sub", "y", NODE("Sub", "d", x, a), b);
            uint32_t z = NODE("Sub", "z", NODE("Sub", "e", x, a), a);
            output(y);
            output(z);
            infer_all();
            assert_int_equal(fits("Sub(Sub(_, s), s)", y), i == 0 && count == 1);
            assert_true(fits("Sub(Sub(_, s), s)", z));
            assert_true(fits("Sub(Sub(_, s), t)", y));
            assert_int_equal(fits("Sub(Sub(_, s:scalar), _)", y), count == 1);
            assert_int_equal(fits("Sub(_, 2)", y), i == 0);
            assert_int_equal(fits("Sub(_, 3)", y), i == 1);
        }
}

/* A number is a constant of any numeric type, behind casts. */
static void numbers_are_constants_of_one_element(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT8,    AMP_INT64,
                                            AMP_UINT8, AMP_UINT64, AMP_FLOAT16, AMP_BOOL};
    static const unsigned char one[] = {1, 0, 0, 0, 0, 0, 0, 0};
    static const float float_one = 1;
    static const double double_one = 1;
    static const uint16_t half_one = 0x3c00;
    enum { LONGEST = 4 };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        const void *data = dtypes[i] == AMP_FLOAT     ? (const void *)&float_one
                           : dtypes[i] == AMP_DOUBLE  ? (const void *)&double_one
                           : dtypes[i] == AMP_FLOAT16 ? (const void *)&half_one
                                                      : (const void *)one;
        net_start(17);
        uint32_t x = floats_in("x"), c = constant("c", dtypes[i], SCALAR, data);
        for (int length = 0; length <= LONGEST; length++) {
            const char *passed[] = {"Cast", "Identity", "CastLike"};
            uint32_t y = NODE("Where", "y", FLOATS("w", 1), x, c); /* of any types: not inferred */
            assert_int_equal(fits("Where(_, _, 1)", y), dtypes[i] != AMP_BOOL && length < LONGEST);
            assert_int_equal(fits("Where(_, _, _:scalar)", y),
                             dtypes[i] != AMP_BOOL && length < LONGEST);
            assert_int_equal(fits("Where(_, _, _:weight)", y), length < LONGEST);
            assert_false(fits("Where(_, _, 2)", y));
            c = length == 2 ? NODE(passed[2], "cast", c, x) : NODE(passed[length % 2], "cast", c);
        }
        uint32_t negative = NODE("Neg", "negative", constant("d", dtypes[i], SCALAR, data));
        assert_false(fits("Where(_, _, 1)", NODE("Where", "y", FLOATS("w", 1), x, negative)));
    }
}

/* ---- kinds of values ------------------------------------------------------------------------- */

enum source { OF_CONSTANT, OF_INPUT, OF_DEFAULT, OF_NODE };

/* A value, subtracted from one of RANK, and the kinds that it is of. */
static const struct {
    enum source source;
    int rank;
    struct amp_shape shape;
    float number; /* of all elements */
    const char *kinds;
} values[] = {
    {OF_CONSTANT, 3, SCALAR, 0.5f, "weight scalar single"},
    {OF_CONSTANT, 3, SCALAR, 0.0625f, "weight scalar eps single"},
    {OF_CONSTANT, 3, SCALAR, 0, "weight scalar single"},
    {OF_CONSTANT, 3, {1, {1}}, 0.0625f, "weight scalar eps item single vector"},
    {OF_CONSTANT, 3, {1, {1}}, 0.5f, "weight scalar item single vector"},
    {OF_CONSTANT, 3, {2, {1, 1}}, 0.5f, "weight scalar single vector channel"},
    {OF_CONSTANT, 3, {1, {4}}, 0.0625f, "weight vector"},
    {OF_CONSTANT, 3, {2, {3, 1}}, 0.0625f, "weight channel"},
    {OF_CONSTANT, 3, {2, {1, 4}}, 0.0625f, "weight vector"},
    {OF_CONSTANT, 3, {2, {3, 4}}, 0.0625f, "weight"},
    {OF_CONSTANT, 3, {3, {1, 3, 1}}, 0.0625f, "weight channel"},
    {OF_CONSTANT, 3, {3, {1, 1, 4}}, 0.0625f, "weight vector"},
    {OF_CONSTANT, 3, {3, {2, 3, 1}}, 0.0625f, "weight"},
    {OF_CONSTANT, 3, {3, {2, 1, 1}}, 0.0625f, "weight"},
    {OF_CONSTANT, 2, {2, {1, 3}}, 0.0625f, "weight vector"},
    {OF_CONSTANT, 2, {2, {2, 1}}, 0.0625f, "weight"},
    {OF_CONSTANT, 4, {3, {3, 1, 1}}, 0.0625f, "weight channel"},
    {OF_CONSTANT, 4, {2, {4, 1}}, 0.0625f, "weight"},
    {OF_DEFAULT, 3, {1, {1}}, 0.0625f, "weight single vector"},
    {OF_DEFAULT, 3, {2, {3, 1}}, 0.0625f, "weight channel"},
    {OF_INPUT, 3, SCALAR, 0, "single live"},
    {OF_INPUT, 3, {2, {1, 1}}, 0, "single live"},
    {OF_INPUT, 3, {2, {3, 1}}, 0, "live"},
    {OF_INPUT, 3, {2, {1, 4}}, 0, "live"},
    {OF_INPUT, 3, {.rank = -1}, 0, "live"},
    {OF_NODE, 3, {1, {1}}, 0.0625f, "single live"},
};

static uint32_t subtract(size_t i)
{
    static const int64_t dims[] = {2, 3, 4, 5};
    float data[24];
    struct amp_shape shape = {.rank = values[i].rank};
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = dims[d];
    for (size_t k = 0; k < AMP_COUNT(data); k++)
        data[k] = values[i].number;
    net_start(17);
    input("unused", AMP_FLOAT, SCALAR);
    uint32_t x = input("x", AMP_FLOAT, shape), value;
    if (values[i].source == OF_CONSTANT || values[i].source == OF_DEFAULT)
        value = constant("value", AMP_FLOAT, values[i].shape, data);
    else
        value = input("value", AMP_FLOAT, values[i].shape);
    if (values[i].source == OF_DEFAULT) {
        amp_value_at(net.model, value)->is_input = true;
        amp_value_at(net.model, value)->constant = NULL;
        amp_ids_push(net.model, &net.model->graphs[0].inputs, value);
    }
    if (values[i].source == OF_NODE)
        value = NODE("Neg", "negative", value);
    uint32_t y = NODE("Sub", "y", x, value);
    output(y);
    infer_all();
    return y;
}

static void values_are_of_the_kinds_that_they_are(void **state)
{
    static const char *const kinds[] = {"weight", "scalar", "eps",     "item",
                                        "single", "vector", "channel", "live"};
    bool are_all = true;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(values); i++) {
        char text[64], list[100];
        uint32_t y = subtract(i);
        snprintf(list, sizeof list, " %s ", values[i].kinds);
        for (size_t k = 0; k < AMP_COUNT(kinds); k++) {
            snprintf(text, sizeof text, " %s ", kinds[k]);
            bool is_one = strstr(list, text) != NULL;
            snprintf(text, sizeof text, "Sub(x, _:%s)", kinds[k]);
            if (fits(text, y) == is_one)
                continue;
            print_error("value %zu: '%s' %s\n", i, kinds[k], is_one ? "is missing" : "is wrong");
            are_all = false;
        }
    }
    assert_true(are_all);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* What a node does not say of itself is as the operator's default has it, of any type. */
static void what_is_not_said_is_the_default(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = floats_in("x"), picture = input("p", AMP_FLOAT, DIMS(1, 4, 2, 2));
    uint32_t leaky = NODE("LeakyRelu", "leaky", x), mean = NODE("ReduceMean", "mean", x);
    uint32_t depth = NODE("DepthToSpace", "depth", picture), turned = NODE("Transpose", "t", x);
    uint32_t other = NODE("Nobody", "other", x);
    set_int(depth, "blocksize", 2);
    assert_true(fits("LeakyRelu(x){alpha=0.01}", leaky));
    assert_false(fits("LeakyRelu(x){alpha=0.02}", leaky));
    set_number(leaky, "alpha", 0.010003f); /* attributes have the digits of float32 */
    assert_false(fits("LeakyRelu(x){alpha=0.01}", leaky));
    set_number(leaky, "alpha", 0);
    assert_false(fits("LeakyRelu(x){alpha=eps}", leaky));
    set_number(leaky, "alpha", 0.010000001f);
    assert_true(fits("LeakyRelu(x){alpha=0.01}", leaky));
    assert_true(fits("LeakyRelu(x){alpha=eps}", leaky));
    assert_true(fits("ReduceMean(x){keepdims=1}", mean));
    assert_false(fits("ReduceMean(x){keepdims=0}", mean));
    assert_false(fits("ReduceMean(x){keepdims=one}", mean));
    assert_true(fits("DepthToSpace(x){mode=DCR}", depth));
    assert_false(fits("DepthToSpace(x){mode=CRD}", depth));
    assert_false(fits("DepthToSpace(x){mode=0}", depth));
    assert_true(fits("DepthToSpace(x){blocksize=2, mode=DCR}", depth));
    assert_false(fits("DepthToSpace(x){blocksize=2, mode=CRD}", depth));
    set_word(depth, "mode", "CRD");
    assert_true(fits("DepthToSpace(x){mode=CRD}", depth));
    assert_false(fits("DepthToSpace(x){mode=DCR}", depth));
    assert_false(fits("Transpose(x){perm=same}", turned)); /* it has no default */
    assert_false(fits("Transpose(x){perm=swapped}", turned));
    assert_false(fits("Transpose(x){nothing=1}", turned));
    assert_true(fits("Transpose(x){axes=all}", turned));
    assert_false(fits("Nobody(x){a=1}", other)); /* nobody knows what it would be */
    assert_true(fits("Nobody(x){axes=all}", other));
    assert_true(fits("Nobody(x)", other));
}

/* Axes that are an input count where it is a constant, and all of them where it is left out. */
static void inputs_are_settings_too(void **state)
{
    static const unsigned char yes = 1;
    (void)state;
    net_start(18);
    uint32_t x = floats_in("x"), none = AMP_NONE, any = input("any", AMP_INT64, DIMS(1));
    const uint32_t axes[] = {NUMBERS("last", -1),
                             NUMBERS("first", 0),
                             NUMBERS("every", 1, 0, 2),
                             constant("empty", AMP_INT64, DIMS(0), ""),
                             none,
                             any,
                             constant("yes", AMP_BOOL, DIMS(1), &yes)};
    static const bool is_last[] = {true, false, false, false, false, false, false},
                      is_trailing[] = {true, false, true, false, false, false, false},
                      is_all[] = {false, false, true, true, true, false, false};
    for (size_t i = 0; i < AMP_COUNT(axes); i++) {
        uint32_t mean = NODE("ReduceMean", "mean", x, axes[i]);
        assert_int_equal(fits("ReduceMean(x){axes=last}", mean), is_last[i]);
        assert_int_equal(fits("ReduceMean(x, _){axes=last}", mean), is_last[i]);
        assert_int_equal(fits("ReduceMean(x){axes=trailing, keepdims=1}", mean), is_trailing[i]);
        assert_int_equal(fits("ReduceMean(x, _){axes=all}", mean), is_all[i] && axes[i] != none);
        assert_int_equal(fits("ReduceMean(x){axes=all}", mean), is_all[i]);
    }
    assert_true(fits("ReduceMean(x){axes=all}", NODE("ReduceMean", "mean", x)));
}

/* A setting has as many digits as its type, and up to 16 numbers. */
static void settings_are_numbers_of_their_type(void **state)
{
    static const uint16_t halves[] = {0x2e66, 0}; /* a tenth as float16 has it, 0.0999756 */
    static const float floats[] = {0.0999756f, 0};
    int64_t places[17];
    (void)state;
    net_start(18);
    uint32_t h = input("h", AMP_FLOAT16, DIMS(2)), x = input("x", AMP_FLOAT, DIMS(2));
    for (size_t i = 0; i < 2; i++) {
        uint32_t of_halves = NODE("Clip", "y", h, constant("low", AMP_FLOAT16, SCALAR, &halves[i]));
        uint32_t of_floats = NODE("Clip", "z", x, constant("low", AMP_FLOAT, SCALAR, &floats[i]));
        assert_int_equal(fits("Clip(x){min=0.1}", of_halves), i == 0);
        assert_false(fits("Clip(x){min=0.1}", of_floats));
        assert_int_equal(fits("Clip(x){min=0}", of_floats), i == 1);
        assert_true(fits("Clip(x){min=eps}", of_halves)); /* what float16 does not hold is 0 */
        assert_int_equal(fits("Clip(x){min=eps}", of_floats), i == 0);
        assert_false(fits("Clip(x){max=eps}", of_floats));
    }
    /* The digits are those of the pattern's number, of which 0.99609375 is a 256th away. */
    uint32_t b = input("b", AMP_BFLOAT16, DIMS(2));
    uint32_t near =
        NODE("Clip", "near", b, constant("near", AMP_BFLOAT16, SCALAR, &(const uint16_t){0x3f7f}));
    assert_true(fits("Clip(x){min=1}", near));
    uint32_t two = NODE("Clip", "two", x, FLOATS("lows", 0.05f, 0.05f));
    assert_false(fits("Clip(x){min=eps}", two));
    assert_false(fits("Clip(x){min=0.05}", two));
    assert_true(fits("Clip(x){min=[0.05, 0.05]}", two));
    assert_false(fits("Clip(x){min=[0.05, 0.06]}", two));
    for (int64_t i = 0; i < 17; i++)
        places[i] = i;
    uint32_t eight = NODE("Transpose", "eight", x);
    set_list(eight, "perm", 8, places);
    assert_true(fits("Transpose(x){perm=[0, 1, 2, 3, 4, 5, 6, 7]}", eight));
    assert_false(fits("Transpose(x){perm=[0, 1, 2, 3, 4, 5, 6, 8]}", eight));
    assert_false(fits("Transpose(x){perm=[0, 1, 2, 3, 4, 5, 6]}", eight));
    for (size_t count = 16; count <= 17; count++) {
        uint32_t turned = NODE("Transpose", "t", x);
        set_list(turned, "perm", count, places);
        assert_int_equal(fits("Transpose(x){perm=same}", turned), count == 16);
        uint32_t list = constant("list", AMP_INT64, DIMS((int64_t)count), places);
        uint32_t shaped = NODE("Reshape", "r", x, list);
        assert_int_equal(fits("Reshape(x){shape=same}", shaped), count == 16);
    }
    uint32_t turned = NODE("Transpose", "t", x);
    set_list(turned, "perm", 0, places);
    assert_false(fits("Transpose(x){perm=same}", turned));
    assert_false(fits("Transpose(x){perm=swapped}", turned));
    set_word(turned, "perm", "same");
    assert_false(fits("Transpose(x){perm=same}", turned));
    amp_node_set_attr(net.model, node_of(turned),
                      (struct amp_attr){.name = "perm", .type = AMP_ATTR_TENSOR, .count = 1});
    assert_false(fits("Transpose(x){perm=same}", turned));
}

/* What Cast and Identity make of a constant is one; a large one that loses nothing is left to those
   who need its data, where it comes from floats. */
static void casts_of_constants_are_constants(void **state)
{
    static const struct {
        enum amp_dtype from, to;
        int64_t count;
        bool has_data;
    } casts[] = {{AMP_FLOAT16, AMP_FLOAT, 1023, true}, {AMP_FLOAT16, AMP_FLOAT, 1024, false},
                 {AMP_FLOAT, AMP_FLOAT16, 1024, true}, {AMP_BFLOAT16, AMP_FLOAT, 1024, false},
                 {AMP_INT8, AMP_FLOAT, 1024, true},    {AMP_BOOL, AMP_FLOAT16, 1024, true},
                 {AMP_FLOAT, AMP_FLOAT, 1024, true},   {AMP_BFLOAT16, AMP_FLOAT16, 1024, true}};
    static const float zeros[1024];
    (void)state;
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) {
        net_start(17);
        uint32_t c = constant("c", casts[i].from, DIMS(casts[i].count), zeros);
        uint32_t y = NODE("Cast", "y", c), z = NODE("Identity", "z", y);
        set_int(y, "to", casts[i].to);
        output(z);
        infer_all();
        const struct amp_tensor *cast = amp_value_at(net.model, y)->constant;
        assert_non_null(cast);
        assert_int_equal(cast->dtype, casts[i].to);
        if ((cast->data != NULL) != casts[i].has_data)
            fail_msg("%zu", i);
        assert_ptr_equal(amp_value_at(net.model, z)->constant, cast);
        if (casts[i].from == casts[i].to)
            assert_ptr_equal(cast, amp_value_at(net.model, c)->constant);
    }
    net_start(17);
    uint32_t y = NODE("Cast", "y", constant("c", AMP_FLOAT, DIMS(4), zeros));
    set_int(y, "to", AMP_INT64); /* is no float */
    output(y);
    infer_all();
    assert_null(amp_value_at(net.model, y)->constant);
}

/* ---- what counts ----------------------------------------------------------------------------- */

static bool accepts_sums(const void *context, const struct amp_composite *composite,
                         const uint32_t *nodes, size_t n_nodes)
{
    assert_ptr_equal(context, &net);
    assert_non_null(composite);
    assert_true(n_nodes > 1);
    return amp_node_is(amp_node_at(net.model, nodes[0]), "", "Add");
}

/* What is computed on integers, as shapes are, is no composite. */
static void composites_are_of_floats(void **state)
{
    static const int64_t first = 0;
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16, AMP_INT64,
                                            AMP_DOUBLE};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        struct amp_composites matches;
        net_start(17);
        uint32_t axes = constant("axes", AMP_INT64, DIMS(1), &first), parts[2];
        for (int k = 0; k < 2; k++)
            parts[k] = NODE("Unsqueeze", k == 0 ? "a" : "b",
                            input(k == 0 ? "x" : "v", dtypes[i], DIMS(3)), axes);
        uint32_t y = NODE("Concat", "y", parts[0], parts[1]);
        set_int(y, "axis", 0);
        output(y);
        infer_all();
        amp_composites_find(net.model, NULL, &matches);
        assert_int_equal(matches.n_matches, i < 3);
        if (i < 3)
            assert_string_equal(matches.matches[0].composite->name, "stack");
    }
}

static bool accepts_softplus(const void *context, const struct amp_composite *composite,
                             const uint32_t *nodes, size_t n_nodes)
{
    (void)context, (void)nodes;
    return n_nodes == 3 && strcmp(composite->name, "Softplus") == 0;
}

/* A node is part of one match: of the larger, if that counts. */
static void what_lies_within_another_is_no_match(void **state)
{
    static const float one = 1;
    const struct amp_composite_filter filter = {accepts_softplus, NULL};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct amp_composites matches;
        net_start(17);
        uint32_t x = floats_in("x"), e = NODE("Exp", "e", x);
        uint32_t sum = NODE("Add", "sum", e, constant("one", AMP_FLOAT, SCALAR, &one));
        uint32_t l = NODE("Log", "l", sum), t = NODE(i == 1 ? "Neg" : "Tanh", "t", l);
        uint32_t y = NODE("Mul", "y", x, t);
        output(y);
        infer_all();
        amp_composites_find(net.model, i == 2 ? &filter : NULL, &matches);
        assert_int_equal(matches.n_matches, 1);
        assert_string_equal(matches.matches[0].composite->name, i == 0 ? "Mish" : "Softplus");
        assert_int_equal(matches.matches[0].n_nodes, i == 0 ? 5 : 3);
        assert_int_equal(matches.matches[0].root, node_of(i == 0 ? y : l));
        assert_int_equal(matches.matches[0].entry, node_of(e));
        const uint32_t within[] = {e, sum, l}, around[] = {t, y};
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(matches.match_of[node_of(within[k])], 0);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(matches.match_of[node_of(around[k])], i == 0 ? 0 : AMP_NONE);
    }
}

/* The only match of the model, which is of COMPOSITE, has ROOT, ENTRY and the nodes that make the
   COUNT values at PARTS, in this order. */
static void assert_match(const char *composite, uint32_t root, uint32_t entry,
                         const uint32_t *parts, size_t count)
{
    struct amp_composites matches;
    infer_all();
    amp_composites_find(net.model, NULL, &matches);
    assert_int_equal(matches.n_matches, 1);
    const struct amp_composite_match *match = &matches.matches[0];
    assert_string_equal(match->composite->name, composite);
    assert_int_equal(match->root, node_of(root));
    assert_int_equal(match->entry, node_of(entry));
    assert_int_equal(match->n_nodes, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(match->nodes[i], node_of(parts[i]));
}

/* What the patterns do not expect of a node: fewer outputs, more inputs, other operators. */
static void odd_nodes_fit_nothing(void **state)
{
    static const float numbers[4] = {1, 2, 3, 4};
    struct amp_composites matches;
    (void)state;
    net_start(18);
    uint32_t x = floats_in("x"), y = floats_in("y"), axes = NUMBERS("axes", 2);
    uint32_t none = net_node(0, "Add", "none", 1, IDS(x, y));
    uint32_t mute = net_node(0, "Log", "mute", 0, IDS(x));
    amp_node_at(net.model, none)->outputs[0] = AMP_NONE;
    uint32_t joined = NODE("Concat", "joined", FLOATS("v", 1), FLOATS("w", 2));
    set_int(joined, "axis", 0);
    uint32_t mean = NODE("ReduceMean", "mean", x, axes, axes),
             bare = NODE("ReduceMean", "bare", x, AMP_NONE, axes);
    uint32_t other = NODE("Nobody", "other", x, NODE("Relu", "r", y));
    amp_value_at(net.model, joined)->dtype = AMP_FLOAT;
    amp_composites_find(net.model, NULL, &matches);
    assert_int_equal(matches.n_matches, 0);
    struct amp_error err = {.status = AMP_OK};
    struct amp_pattern_match match;
    struct amp_pattern *pattern = amp_pattern_parse(net.arena, "Log(x) | Add(x, y)", &err);
    struct amp_pattern_matcher *matcher = amp_pattern_matcher_create(net.model);
    assert_false(amp_pattern_matcher_match(matcher, pattern, none, &match));
    assert_false(amp_pattern_matcher_match(matcher, pattern, mute, &match));
    amp_pattern_matcher_destroy(matcher);
    assert_true(fits("ReduceMean(x){axes=last}", mean));
    assert_false(fits("ReduceMean(x){axes=all}", mean));
    assert_false(fits("ReduceMean(x){axes=last}", bare));
    assert_true(fits("ReduceMean(x){axes=all}", bare));
    assert_false(fits("Nobody(Relu(a), b)", other)); /* nobody knows that it is commutative */
    assert_true(fits("Nobody(b, Relu(a))", other));

    net_start(17);
    x = floats_in("x");
    uint32_t r = NODE("Relu", "r", x), dropout = net_node(0, "Dropout", "d", 2, IDS(r));
    amp_node_at(net.model, dropout)->outputs[1] = AMP_NONE;
    uint32_t n = NODE("Neg", "n", net_out(dropout, 0));
    output(n);
    assert_true(fits("Neg(Dropout(Relu(x)))", n));
    uint32_t c = constant("c", AMP_FLOAT, DIMS(4), numbers);
    uint32_t left = NODE("Add", "left", NODE("Exp", "e", x), c);
    uint32_t right = NODE("Add", "right", c, NODE("Exp", "f", x));
    assert_true(fits("Add(Exp(a))", left)); /* the rest are settings, if they stand behind it */
    assert_false(fits("Add(Exp(a))", right));
    assert_true(fits("Add(_, Exp(a))", right));
    uint32_t most = NODE("Max", "most", x, x, c);
    assert_false(fits("Max(a, a, Exp(_))", most));
    assert_true(fits("Max(a, a, _)", most));
    uint32_t turned = NODE("Transpose", "turned", x), soft = NODE("Softmax", "soft", x);
    SET_INTS(turned, "perm", 1, 0, 2);
    set_int(soft, "axis", -1);
    infer_all();
    assert_true(fits("Transpose(x){perm=A}", turned));
    assert_false(fits("Transpose(x){perm=swapped}", turned));
    SET_INTS(turned, "perm", 0, 2, 2);
    assert_false(fits("Transpose(x){perm=swapped}", turned));
    SET_INTS(turned, "perm", 0, 1, 1);
    assert_false(fits("Transpose(x){perm=swapped}", turned));
    SET_INTS(turned, "perm", 2, 1);
    assert_false(fits("Transpose(x){perm=swapped}", turned));
    assert_true(fits("Softmax(x){axis=2}", soft)); /* counted from the end */
    assert_false(fits("Softmax(x){axis=-1}", soft));
    uint32_t larger = NODE("Upsample", "larger", x);
    amp_node_at(net.model, node_of(larger))->schema = amp_schema_find("", "Upsample", 7);
    set_floats(larger, "scales", 2, numbers);
    assert_true(fits("Upsample(x){scales=[1, 2]}", larger));
    assert_false(fits("Upsample(x){scales=[1, 3]}", larger));
    assert_false(fits("Upsample(x){scales=1}", larger));
}

/* A name stands for what lies behind an Identity, unless the graph gives that out itself. */
static void outputs_keep_their_names(void **state)
{
    (void)state;
    for (int is_output = 0; is_output < 2; is_output++) {
        net_start(17);
        uint32_t x = floats_in("x"), r = NODE("Relu", "r", x), i = NODE("Identity", "i", r);
        uint32_t n = NODE("Neg", "n", i);
        output(n);
        if (is_output)
            output(i);
        infer_all();
        assert_true(fits("d = Relu(a) | _; Neg(d)", n));
        assert_int_equal(bound("d"), is_output ? i : r);
        assert_int_equal(found.match.n_nodes, is_output ? 1 : 3);
    }
}

/* Of matches that share a node the one with more nodes counts, then that of the upper pattern, then
   the one whose root is earlier. */
static void the_better_match_counts(void **state)
{
    static const float one = 1, three = 3;
    (void)state;
    net_start(17); /* 'Softplus' with a beta is below the one without, which lies in it */
    uint32_t beta = constant("beta", AMP_FLOAT, SCALAR, &three);
    uint32_t m = NODE("Mul", "m", floats_in("x"), beta), e = NODE("Exp", "e", m);
    uint32_t sum = NODE("Add", "sum", e, constant("one", AMP_FLOAT, SCALAR, &one));
    uint32_t l = NODE("Log", "l", sum), y = NODE("Div", "y", l, beta);
    output(y);
    assert_match("Softplus", y, m, IDS(m, e, sum, l, y));

    net_start(17); /* 'softmin' is below 'LogSoftmax'; its root is earlier */
    uint32_t n = NODE("Neg", "n", floats_in("x")), s = NODE("Softmax", "s", n);
    y = NODE("Log", "y", s);
    output(y);
    assert_match("LogSoftmax", y, s, IDS(s, y));

    net_start(17);
    uint32_t shape = NUMBERS("shape", 2, 2, 18), w = FLOATS("w", 1, 2);
    uint32_t last = input("x", AMP_FLOAT, DIMS(2, 6, 6)), made[5];
    for (int i = 0; i < 5; i++)
        last = made[i] = i % 2 == 0 ? NODE("Reshape", "r", last, shape)
                                    : NODE("InstanceNormalization", "i", last, w, w);
    output(last);
    assert_match("GroupNormalization", made[2], made[0], made, 3);
}

/* The parts are in the order of the graph, whatever the pattern's is; the entry takes x first. */
static void parts_are_in_the_order_of_the_graph(void **state)
{
    static const float half = 0.5f, root = 1.41421356f, one = 1, low = 0, six = 6, three = 3;
    (void)state;
    for (int i = 0; i < 2; i++) {
        net_start(17);
        uint32_t x = floats_in("x"), h = 0;
        uint32_t factor = constant("half", AMP_FLOAT, SCALAR, &half);
        if (i == 0)
            h = NODE("Mul", "h", factor, x);
        uint32_t d = NODE("Div", "d", x, constant("root", AMP_FLOAT, SCALAR, &root));
        uint32_t e = NODE("Erf", "e", d);
        uint32_t sum = NODE("Add", "sum", e, constant("one", AMP_FLOAT, SCALAR, &one));
        if (i == 1)
            h = NODE("Mul", "h", x, factor);
        uint32_t y = NODE("Mul", "y", h, sum);
        output(y);
        if (i == 0)
            assert_match("Gelu", y, d, IDS(h, d, e, sum, y));
        else
            assert_match("Gelu", y, d, IDS(d, e, sum, h, y));
    }
    for (int i = 0; i < 2; i++) {
        net_start(17);
        uint32_t x = floats_in("x");
        uint32_t a = NODE("Add", "a", constant("three", AMP_FLOAT, SCALAR, &three), x);
        uint32_t h = NODE("Clip", "h", a, constant("low", AMP_FLOAT, SCALAR, &low),
                          constant("high", AMP_FLOAT, SCALAR, &six));
        uint32_t p = i == 0 ? NODE("Mul", "p", x, h) : NODE("Mul", "p", h, x);
        uint32_t y = NODE("Div", "y", p, constant("six", AMP_FLOAT, SCALAR, &six));
        output(y);
        assert_match("HardSwish", y, i == 0 ? p : y, IDS(a, h, p, y)); /* else it is the root */
    }
}

/* Parts are in the order of the graph; the entry is the head, or who takes the data first. */
static void matches_say_where_they_are(void **state)
{
    static const float three = 3, low = 0, six = 6, weights[16];
    struct amp_composites matches;
    const struct amp_composite_filter filter = {accepts_sums, &net};
    (void)state;
    net_start(17);
    uint32_t data = NODE("Neg", "data", floats_in("x"));
    uint32_t a = NODE("Add", "a", data, constant("three", AMP_FLOAT, SCALAR, &three));
    uint32_t b = NODE("Exp", "b", data);
    uint32_t h = NODE("Clip", "h", a, constant("low", AMP_FLOAT, SCALAR, &low),
                      constant("high", AMP_FLOAT, SCALAR, &six));
    uint32_t p = NODE("Mul", "p", data, h);
    uint32_t y = NODE("Div", "y", p, constant("six", AMP_FLOAT, SCALAR, &six));
    uint32_t m = NODE("MatMul", "m", b, constant("w", AMP_FLOAT, DIMS(4, 4), weights));
    uint32_t z = NODE("Add", "z", FLOATS("v", 1, 2, 3, 4), m);
    output(y);
    output(z);
    infer_all();
    amp_composites_find(net.model, NULL, &matches);
    assert_int_equal(matches.n_matches, 2);
    const struct amp_composite_match *first = &matches.matches[0], *second = first + 1;
    assert_string_equal(first->composite->name, "HardSwish");
    assert_int_equal(first->root, node_of(y));
    assert_int_equal(first->entry, node_of(a));
    assert_int_equal(first->n_nodes, 4);
    const uint32_t parts[] = {a, h, p, y}, sums[] = {m, z};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(first->nodes[i], node_of(parts[i]));
    assert_string_equal(second->composite->name, "linear");
    assert_int_equal(second->root, node_of(z));
    assert_int_equal(second->entry, node_of(m));
    assert_int_equal(second->n_nodes, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(second->nodes[i], node_of(sums[i]));
    const uint32_t makers[] = {data, a, b, h, p, y, m, z};
    const uint32_t match_of[] = {AMP_NONE, 0, AMP_NONE, 0, 0, 0, 1, 1};
    assert_int_equal(matches.n_nodes, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(matches.match_of[node_of(makers[i])], match_of[i]);
    amp_composites_find(net.model, &filter, &matches);
    assert_int_equal(matches.n_matches, 1);
    assert_int_equal(matches.matches[0].root, node_of(z));
    assert_int_equal(matches.match_of[node_of(y)], AMP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_numbers),
        NET_TEST(words_hold_for_the_axes_that_they_mean),
        NET_TEST(orders_of_axes),
        NET_TEST(letters_stand_for_one_set_of_axes),
        NET_TEST(numbers_and_texts_are_compared),
        NET_TEST(axes_beyond_all_ranks_are_none),
        NET_TEST(axes_beyond_the_rank_are_not_the_last),
        NET_TEST(all_numbers_are_compared),
        NET_TEST(what_lists_no_axes_has_none),
        NET_TEST(operands_fit_in_either_order),
        NET_TEST(what_was_tried_is_taken_back),
        NET_TEST(tries_are_bounded),
        cmocka_unit_test(no_matcher_is_destroyed),
        NET_TEST(letters_begin_anew_with_each_match),
        NET_TEST(what_changes_nothing_lies_between),
        NET_TEST(what_takes_nothing_is_data),
        NET_TEST(other_outputs_are_no_parts),
        NET_TEST(nothing_leaves_a_match_but_its_output),
        NET_TEST(a_match_is_of_one_graph),
        NET_TEST(further_inputs_are_settings),
        NET_TEST(settings_come_through_others),
        NET_TEST(arguments_repeat),
        NET_TEST(names_stand_for_one_value),
        NET_TEST(numbers_are_constants_of_one_element),
        NET_TEST(values_are_of_the_kinds_that_they_are),
        NET_TEST(what_is_not_said_is_the_default),
        NET_TEST(inputs_are_settings_too),
        NET_TEST(settings_are_numbers_of_their_type),
        NET_TEST(casts_of_constants_are_constants),
        NET_TEST(composites_are_of_floats),
        NET_TEST(what_lies_within_another_is_no_match),
        NET_TEST(odd_nodes_fit_nothing),
        NET_TEST(outputs_keep_their_names),
        NET_TEST(the_better_match_counts),
        NET_TEST(parts_are_in_the_order_of_the_graph),
        NET_TEST(matches_say_where_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

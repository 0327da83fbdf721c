/* Composites: patterns of nodes, and the conditions on their attributes. */
#include "core/status.h"
#include "net.h"
#include "pattern/composites.h"
#include "pattern/condition.h"
#include "pattern/constant.h"
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
    static const char *const wrong[] = {"",
                                        "x",
                                        "Add(x",
                                        "Add(x, y) z",
                                        "Add(x:kind, y)",
                                        "Add(x,, y)",
                                        "a = Add(x, y)",
                                        "Add(x){axes}",
                                        "Add(x){axes=}",
                                        "Concat(x..., y...)",
                                        "Add(x, y){axes=[1, }",
                                        "Add(x, y){axes=[1, 2}",
                                        "Add(x, y){axes=[1]",
                                        "Add(x, y){=1}",
                                        "Add(x, y){axes=1, }",
                                        "Add(x, y){a=[1, 2, 3, 4, 5, 6, 7, 8, 9]}",
                                        "Add(x, y){a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1}",
                                        "Add(a, b, c, d, e, f, g, h, i)",
                                        "Add(x...,)",
                                        "Add(x | , y)",
                                        "Add(x, y); ",
                                        "a = Add(x, y); b",
                                        "= Add(x, y)"};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct amp_error err = {.status = AMP_OK};
        if (amp_pattern_parse(arena, wrong[i], &err) != NULL)
            fail_msg("'%s' is taken for a pattern", wrong[i]);
        assert_int_equal(err.status, AMP_RULES);
    }
    amp_arena_destroy(arena);
}

/* What is as long as it can be. */
static void test_limits(void **state)
{
    static const char *const right[] = {"Add(x, y){a=[1, 2, 3, 4, 5, 6, 7, 8]}",
                                        "Add(x, y){a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1}",
                                        "Add(a, b, c, d, e, f, g, h)", "Add(x, y...)"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_numbers),
        NET_TEST(words_hold_for_the_axes_that_they_mean),
        NET_TEST(letters_stand_for_one_set_of_axes),
        NET_TEST(numbers_and_texts_are_compared),
        NET_TEST(axes_beyond_all_ranks_are_none),
        NET_TEST(what_lists_no_axes_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The list of composites: every pattern can be read, and what stands for what. Which graphs they
 * fit is tests/composites' matter. */
#include "core/status.h"
#include "pattern/composites.h"
#include "pattern/constant.h"
#include "pattern/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The order of graphs and what patterns see in them. Orders follow from who needs whom. */
#include "net.h"

#include "core/graph/order.h"
#include "pattern/matcher.h"
#include "pattern/pattern.h"

/* ---- order ---- */

/* A body of OWNER that gives out VALUE, which is of the graph around it. */
static void add_passing_body(uint32_t owner, const char *name, uint32_t value)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, value);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
}

static void what_a_body_gives_out_comes_before_its_owner(void **state)
{
    bool moved = false;
    (void)state;
    net_start(22);
    uint32_t c = input("c", AMP_BOOL, SCALAR), x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t owner = net_node(0, "If", "y", 1, IDS(c));
    output(net_out(owner, 0));
    uint32_t first = NODE("Neg", "v", x), second = NODE("Abs", "u", x);
    add_passing_body(owner, "then_branch", first);
    add_passing_body(owner, "else_branch", second);
    assert_int_equal(amp_graph_sort(net.model, &moved, &net.err), AMP_OK);
    const struct amp_ids *nodes = &net.model->graphs[0].nodes;
    assert_int_equal(nodes->items[0], node_of(first));
    assert_int_equal(nodes->items[1], node_of(second));
    assert_int_equal(nodes->items[2], owner);
}

static void a_node_moves_right_before_the_first_that_needs_it(void **state)
{
    bool moved = true;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Neg", "a", x), b = NODE("Abs", "b", a), c = NODE("Exp", "c", x);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    assert_int_equal(amp_graph_sort(net.model, &moved, &net.err), AMP_OK);
    assert_false(moved);
    nodes->items[0] = node_of(c);
    nodes->items[1] = node_of(b);
    nodes->items[2] = node_of(a);
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_OK);
    assert_int_equal(nodes->items[0], node_of(c));
    assert_int_equal(nodes->items[1], node_of(a));
    assert_int_equal(nodes->items[2], node_of(b));
}

static void a_circle_has_no_order(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Add", "a", x, x), b = NODE("Neg", "b", a);
    amp_node_at(net.model, node_of(a))->inputs[1] = b;
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_MODEL);
    assert_non_null(strstr(net.err.text, "cycle"));
}

/* ---- patterns ---- */

/* Whether a pattern of one input fits a Clip whose minimum is a constant, or is not. */
static bool fits_clip(bool is_constant)
{
    static const float zero, six = 6;
    struct amp_error err = {.status = AMP_OK};
    struct amp_pattern_match match;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t low =
        is_constant ? constant("low", AMP_FLOAT, SCALAR, &zero) : input("low", AMP_FLOAT, SCALAR);
    uint32_t y = NODE("Clip", "y", x, low, constant("high", AMP_FLOAT, SCALAR, &six));
    output(y);
    infer_all();
    struct amp_pattern *pattern = amp_pattern_parse(net.arena, "Clip(x)", &err);
    struct amp_pattern_matcher *matcher = amp_pattern_matcher_create(net.model);
    bool found = amp_pattern_matcher_match(matcher, pattern, node_of(y), &match);
    amp_pattern_matcher_destroy(matcher);
    return found;
}

static void inputs_beyond_those_of_a_pattern_are_constants(void **state)
{
    (void)state;
    assert_true(fits_clip(true));
    assert_false(fits_clip(false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(what_a_body_gives_out_comes_before_its_owner),
        NET_TEST(a_node_moves_right_before_the_first_that_needs_it),
        NET_TEST(a_circle_has_no_order),
        NET_TEST(inputs_beyond_those_of_a_pattern_are_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

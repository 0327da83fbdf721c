/* Graphs: their order and form, edits, what leads to what; as text. And what the cases of commands
   print, of which most are graphs. */
#include "cli/bench.h"
#include "cli/calibrate.h"
#include "cli/compare.h"
#include "cli/convert/convert.h"
#include "cli/destination.h"
#include "cli/options/command_line.h"
#include "cli/rules.h"
#include "cli/run.h"
#include "cli/train.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/graph/check.h"
#include "core/graph/order.h"
#include "core/graph/reach.h"
#include "core/graph/uses.h"
#include "core/number/interval.h"
#include "core/status.h"
#include "core/strmap.h"
#include "core/tensor.h"
#include "net.h"
#include "onnx/file/read.h"
#include "scratch.h"

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include <cmocka.h>

/* ---- graph ----------------------------------------------------------------------------------- */

/* The order of graphs and what patterns see in them. Orders follow from who needs whom. */

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
    assert_string_equal(net.err.text,
                        "net.onnx: node 0 with output 'a' (Add-14) is part of a cycle");
}

/* Of two circles the first is named; what is not part of one is not, and moves nowhere. */
static void the_first_circle_is_named(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t z = NODE("Exp", "z", x), a = NODE("Neg", "a", z), b = NODE("Neg", "b", a);
    uint32_t c = NODE("Abs", "c", z), d = NODE("Abs", "d", c);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    amp_node_at(net.model, node_of(a))->inputs[0] = b;
    amp_node_at(net.model, node_of(c))->inputs[0] = d;
    nodes->items[0] = node_of(b);
    nodes->items[2] = node_of(z);
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_MODEL);
    assert_string_equal(net.err.text,
                        "net.onnx: node 2 with output 'b' (Neg-13) is part of a cycle");
    assert_int_equal(nodes->items[0], node_of(b));
    assert_int_equal(nodes->items[2], node_of(z));
}

/* Two thousand nodes in a row, the last first. */
static void long_chains_are_sorted(void **state)
{
    enum { N = 2000 };
    bool moved = false;
    (void)state;
    net_start(22);
    uint32_t value = input("x", AMP_FLOAT, DIMS(4));
    for (int i = 0; i < N; i++)
        value = NODE("Neg", "v", value);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    for (uint32_t i = 0; i < N; i++)
        nodes->items[i] = N - 1 - i;
    assert_int_equal(amp_graph_sort(net.model, &moved, &net.err), AMP_OK);
    assert_true(moved);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(nodes->items[i], i);
}

/* ---- form ---- */

/* The graph of the net must be refused, with TEXT behind its path. */
static void form_is_refused(const char *text)
{
    char wanted[200];
    struct amp_error err = {.status = AMP_OK};
    snprintf(wanted, sizeof wanted, "net.onnx: %s", text);
    assert_int_equal(amp_graph_check(net.model, &err), AMP_MODEL);
    assert_string_equal(err.text, wanted);
}

static void values_have_one_producer_before_their_use(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Neg", "a", x), b = NODE("Add", "b", x, a), c = NODE("Abs", "c", b);
    output(c);
    const uint32_t first = node_of(a), second = node_of(b);
    struct amp_ids *nodes = &net.model->graphs[0].nodes;
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    nodes->items[0] = second;
    nodes->items[1] = first;
    form_is_refused("node 1 with output 'b' (Add-14), input 1: value 'a' is used before it is "
                    "defined");
    nodes->items[1] = second;
    nodes->items[0] = first;
    amp_node_at(net.model, second)->outputs[0] = a;
    form_is_refused("node 1 with output 'a' (Add-14), output 0: value 'a' has another producer");
    amp_value_at(net.model, a)->producer = second;
    form_is_refused("node 0 with output 'a' (Neg-13), output 0: value 'a' has another producer");
    amp_value_at(net.model, a)->producer = first;
    amp_node_at(net.model, second)->outputs[0] = b;
    amp_value_at(net.model, b)->graph = 1;
    form_is_refused("node 1 with output 'b' (Add-14), output 0: value 'b' has another producer");
    amp_value_at(net.model, b)->graph = 0;
    nodes->items[1] = first;
    form_is_refused("node 0 with output 'a' (Neg-13), output 0: value 'a' has another producer");
    nodes->items[1] = second;
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    nodes->count = 2;
    form_is_refused("graph output 'c' is not defined");
}

/* ---- edits ---- */

static void domains_and_symbols_are_found(void **state)
{
    (void)state;
    net_start(22);
    amp_model_import(net.model, "ai.onnx.ml", 4);
    assert_int_equal(amp_model_opset(net.model, ""), 22);
    assert_int_equal(amp_model_opset(net.model, "ai.onnx"), 22);
    assert_int_equal(amp_model_opset(net.model, "ai.onnx.ml"), 4);
    assert_int_equal(amp_model_opset(net.model, "none"), 0);
    int64_t n = amp_symbol_dim(net.model, "n"), m = amp_symbol_dim(net.model, "m");
    assert_true(n < AMP_DIM_UNKNOWN && m < AMP_DIM_UNKNOWN && n != m);
    assert_true(amp_symbol_dim(net.model, "n") == n);
    assert_string_equal(amp_dim_symbol(net.model, n), "n");
    assert_string_equal(amp_dim_symbol(net.model, m), "m");
    assert_null(amp_dim_symbol(net.model, AMP_DIM_UNKNOWN));
    assert_null(amp_dim_symbol(net.model, 0));
}

/* Initializers that are no inputs came with IR version 4; in the main graph they can be both. */
static void initializers_come_and_go(void **state)
{
    static const struct {
        int64_t before;
        bool is_inner;
        int64_t after;
    } rows[] = {{3, false, 3}, {3, true, 4}, {4, true, 4}, {7, true, 7}};
    static const int64_t numbers[] = {5, 6};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        net_start(22);
        uint32_t c = input("c", AMP_BOOL, SCALAR);
        uint32_t body = amp_graph_add(net.model, "body", net_node(0, "If", "y", 1, IDS(c)));
        net.model->ir_version = rows[i].before;
        uint32_t graph = rows[i].is_inner ? body : 0;
        uint32_t two = amp_graph_add_ints(net.model, graph, "two", numbers, 2);
        uint32_t none = amp_graph_add_ints(net.model, graph, "none", NULL, 0);
        assert_int_equal(net.model->ir_version, rows[i].after);
        const struct amp_value *value = amp_value_at(net.model, two);
        assert_true(value->is_initializer && value->constant == value->initial);
        assert_true(value->rank == 1 && value->dims[0] == 2 && value->dtype == AMP_INT64);
        assert_memory_equal(value->constant->data, numbers, sizeof numbers);
        assert_int_equal(amp_tensor_count(amp_value_at(net.model, none)->constant), 0);
        amp_graph_remove_initializer(net.model, two);
        amp_graph_drop_removed(net.model);
        const struct amp_ids *left = &net.model->graphs[graph].initializers;
        assert_int_equal(left->count, 1);
        assert_int_equal(left->items[0], none);
    }
}

static void unique_names_count_on(void **state)
{
    static const char *const wanted[] = {"a", "a_1", "a_3", "a_4"};
    (void)state;
    net_start(22);
    input("a_2", AMP_FLOAT, SCALAR);
    for (size_t i = 0; i < AMP_COUNT(wanted); i++)
        assert_string_equal(amp_model_unique_name(net.model, "a"), wanted[i]);
    assert_string_equal(amp_model_unique_name(net.model, "a_3"), "a_3_1");
}

static void nodes_get_inputs_and_outputs(void **state)
{
    char text[64];
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t split = net_node(0, "Split", "y", 2, IDS(x));
    uint32_t y = net_out(split, 0), z = net_out(split, 1);
    struct amp_node *node = amp_node_at(net.model, split);
    amp_node_grow_inputs(net.model, split, 3);
    assert_true(node->n_inputs == 3 && node->inputs[0] == x && node->inputs[1] == AMP_NONE &&
                node->inputs[2] == AMP_NONE);
    node->inputs[2] = x;
    const uint32_t *before = node->inputs;
    amp_node_grow_inputs(net.model, split, 3);
    amp_node_grow_inputs(net.model, split, 2);
    assert_true(node->n_inputs == 3 && node->inputs == before && node->inputs[2] == x);
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output 'y' (Split-18)");
    node->outputs[0] = AMP_NONE;
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output 'y_1' (Split-18)");
    node->since_version = 0;
    node->domain = "d";
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output 'y_1' (d.Split)");
    node->name = "named";
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 'named' (d.Split)");
    assert_true(amp_node_is(node, "d", "Split"));
    assert_false(amp_node_is(node, "", "Split") || amp_node_is(node, "d", "Neg"));
    amp_node_clear_outputs(net.model, split, 3);
    assert_true(node->n_outputs == 3 && node->outputs[0] == AMP_NONE &&
                node->outputs[2] == AMP_NONE);
    node->name = "";
    assert_string_equal(amp_node_text(net.model, split, text, sizeof text),
                        "node 0 with output '' (d.Split)");
    uint32_t other = node_of(NODE("Neg", "v", x));
    amp_node_set_output(net.model, other, 0, z);
    assert_int_equal(node_of(z), other);
    amp_node_set_output(net.model, other, 0, AMP_NONE);
    assert_int_equal(net_out(other, 0), AMP_NONE);
    /* What a removed node gave and another one gives has a producer. */
    node->outputs[0] = y;
    node->outputs[1] = z;
    amp_node_remove(net.model, split);
    assert_true(node->is_removed && node_of(y) == AMP_NONE && node_of(z) == other);
}

static void attributes_are_read_by_type(void **state)
{
    static int64_t two[] = {3, 4};
    static float half = 0.5f;
    size_t count = 7;
    (void)state;
    net_start(22);
    uint32_t c = input("c", AMP_BOOL, SCALAR);
    uint32_t id = net_node(0, "If", "y", 1, IDS(c));
    const struct amp_node *node = amp_node_at(net.model, id);
    amp_node_set_attr(net.model, id,
                      (struct amp_attr){"i", .type = AMP_ATTR_INTS, .count = 2, .ints = two});
    amp_node_set_attr(net.model, id,
                      (struct amp_attr){"f", .type = AMP_ATTR_FLOAT, .count = 1, .floats = &half});
    set_word(net_out(id, 0), "s", "word");
    assert_true(amp_node_ints(node, "i", &count) == two && count == 2);
    assert_null(amp_node_ints(node, "f", &count));
    assert_int_equal(count, 0);
    assert_null(amp_node_ints(node, "none", &count));
    assert_true(amp_node_float(node, "f", 2) == half && amp_node_float(node, "i", 2) == 2);
    assert_string_equal(amp_node_string(node, "s", "none"), "word");
    assert_string_equal(amp_node_string(node, "x", "none"), "none");
    assert_int_equal(amp_node_int(node, "i", 9), 9);
    assert_null(amp_node_attr(node, "none"));
    assert_false(amp_node_has_bodies(node));
    uint32_t body = amp_graph_add(net.model, "body", id);
    uint32_t graphs[] = {body, body};
    amp_node_set_attr(net.model, id, (struct amp_attr){"g", .type = AMP_ATTR_GRAPHS, .count = 0});
    assert_false(amp_node_has_bodies(node));
    amp_node_set_attr(
        net.model, id,
        (struct amp_attr){"g", .type = AMP_ATTR_GRAPHS, .count = 2, .graphs = graphs});
    assert_true(amp_node_has_bodies(node));
    assert_int_equal(amp_attr_graph_count(amp_node_attr(node, "g")), 2);
    uint32_t inner = net_node(body, "Neg", "v", 1, IDS(c));
    assert_int_equal(amp_graph_container(net.model, inner, 0), id);
    assert_int_equal(amp_graph_container(net.model, inner, body), inner);
    assert_int_equal(amp_graph_container(net.model, id, body), AMP_NONE);
    assert_int_equal(amp_graph_container(net.model, AMP_NONE, 0), AMP_NONE);
}

/* ---- as text ---- */

static void set_attr(uint32_t value, struct amp_attr attr)
{
    amp_node_set_attr(net.model, node_of(value), attr);
}

/* All that is told of a graph: types of values, attributes of each kind, of which eight items are
   shown, tensors of one number with it, and bodies. */
/* Each body is told four spaces further in than the node that has it. */
static void bodies_are_told_further_in(void **state)
{
    char *text = NULL;
    size_t size;
    (void)state;
    net_start(22);
    uint32_t c = input("c", AMP_BOOL, SCALAR), x = input("x", AMP_FLOAT, SCALAR);
    uint32_t graph = 0;
    for (uint32_t depth = 0; depth < 3; depth++) {
        uint32_t owner = net_node(graph, "If", "v", 1, IDS(c));
        add_passing_body(owner, "then_branch", x);
        graph = (uint32_t)net.model->n_graphs - 1;
    }
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    amp_model_dump(file, net.model, NULL, NULL);
    fclose(file);
    assert_non_null(strstr(text, "\nnode If-"));
    assert_non_null(strstr(text, "\n  then_branch:\n    node If-"));
    assert_non_null(strstr(text, "\n      then_branch:\n        node If-"));
    assert_non_null(strstr(text, "\n          then_branch:\n            output "));
    free(text);
}

static void graphs_are_told_as_text(void **state)
{
    static float floats[] = {0.5f, -1};
    static int64_t ints[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static struct amp_str strings[] = {{"a\nb", 3}, {"c", 1}};
    const double two = 2, pair[] = {1, 2};
    const bool truth = true;
    (void)state;
    net_start(22);
    int64_t n = amp_symbol_dim(net.model, "n");
    struct amp_tensor *tensors[] = {
        net_tensor(AMP_DOUBLE, SCALAR, &two), net_tensor(AMP_BOOL, DIMS(1), &truth),
        net_tensor(AMP_COMPLEX64, DIMS(1), floats), net_tensor(AMP_STRING, DIMS(1), strings),
        net_tensor(AMP_DOUBLE, DIMS(2), pair)};
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, n, AMP_DIM_UNKNOWN));
    uint32_t s = input("s", AMP_INT64, ANY_DIMS), c = input("c", AMP_BOOL, SCALAR);
    amp_value_at(net.model, s)->kind = AMP_KIND_SEQUENCE;
    uint32_t w = FLOATS("w", 1, 2);
    uint32_t y = NODE("Sum", "y", x, AMP_NONE, w), z = NODE("Neg", "z", y);
    amp_node_at(net.model, node_of(y))->name = "named";
    amp_node_at(net.model, node_of(z))->domain = "other";
    amp_node_at(net.model, node_of(z))->since_version = 0;
    set_attr(y, (struct amp_attr){"f", .type = AMP_ATTR_FLOAT, .count = 1, .floats = floats});
    set_attr(y, (struct amp_attr){"fs", .type = AMP_ATTR_FLOATS, .count = 1, .floats = floats + 1});
    set_attr(y, (struct amp_attr){"i", .type = AMP_ATTR_INT, .count = 1, .ints = ints + 6});
    set_attr(y, (struct amp_attr){"i1", .type = AMP_ATTR_INTS, .count = 1, .ints = ints});
    set_attr(y, (struct amp_attr){"i8", .type = AMP_ATTR_INTS, .count = 8, .ints = ints});
    set_attr(y, (struct amp_attr){"i9", .type = AMP_ATTR_INTS, .count = 9, .ints = ints});
    set_attr(y, (struct amp_attr){"i0", .type = AMP_ATTR_INTS, .count = 0});
    set_attr(y, (struct amp_attr){"t", .type = AMP_ATTR_STRING, .count = 1, .strings = strings});
    set_attr(y, (struct amp_attr){"t2", .type = AMP_ATTR_STRINGS, .count = 1, .strings = strings});
    set_attr(z, (struct amp_attr){"d", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
    set_attr(z, (struct amp_attr){"ds", .type = AMP_ATTR_TENSORS, .count = 5, .tensors = tensors});
    set_attr(z, (struct amp_attr){"k", .type = AMP_ATTR_TYPE, .count = 1});
    uint32_t owner = net_node(0, "If", "v", 2, IDS(c));
    amp_node_at(net.model, owner)->outputs[1] = AMP_NONE;
    add_passing_body(owner, "then_branch", y);
    output(z);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    amp_model_dump(file, net.model, NULL, NULL);
    fclose(file);
    assert_string_equal(
        text, "ir 10, opset 22\n"
              "input x float32 [2, n, ?]\n"
              "input s sequence of int64\n"
              "input c bool []\n"
              "weight w float32 [2]\n"
              "node Sum-13 'named' (x, -, w) -> y undefined f=0.5 fs=[-1] i=7 i1=[1] "
              "i8=[1, 2, 3, 4, 5, 6, 7, 8] i9=[1, 2, 3, 4, 5, 6, 7, 8, ...] i0=[] t='a\\nb' "
              "t2=['a\\nb']\n"
              "node other.Neg (y) -> z undefined d=float64 [] 2 ds=[float64 [] 2, bool [1] 1, "
              "complex64 [1], string [1], float64 [2]] k=type\n"
              "node If-21 (c) -> v undefined, - then_branch=graph\n"
              "  then_branch:\n"
              "    output y undefined\n"
              "output z undefined\n");
    free(text);
}

/* ---- what leads to what ---- */

static const char reached[] = "xcaqrsyzu"; /* the values of the main graph, by their letters */

/* y is given by an If whose first body takes a and holds another If, on q, that passes r; its
   second body passes a. z comes of y; u of s alone. */
static void start_reach(void)
{
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), c = input("c", AMP_BOOL, SCALAR);
    uint32_t a = NODE("Neg", "a", x), q = NODE("Not", "q", x), r = NODE("Exp", "r", x);
    uint32_t s = NODE("Sin", "s", x);
    uint32_t owner = net_node(0, "If", "y", 1, IDS(c));
    uint32_t then = amp_graph_add(net.model, "then", owner);
    uint32_t v = net_out(net_node(then, "Neg", "v", 1, IDS(a)), 0);
    uint32_t inner = net_node(then, "If", "w", 1, IDS(q));
    add_passing_body(inner, "then_branch", r);
    add_passing_body(inner, "else_branch", v);
    amp_ids_push(net.model, &net.model->graphs[then].outputs, net_out(inner, 0));
    struct amp_attr attr = {.name = "then_branch", .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &then, sizeof then);
    amp_node_set_attr(net.model, owner, attr);
    add_passing_body(owner, "else_branch", a);
    output(NODE("Cos", "z", net_out(owner, 0)));
    output(NODE("Tan", "u", s));
}

static uint32_t value_called(char letter)
{
    const char name[] = {letter, '\0'};
    for (uint32_t id = 0; id < net.model->n_values; id++)
        if (strcmp(amp_value_at(net.model, id)->name, name) == 0)
            return id;
    fail();
    return AMP_NONE;
}

/* From value FROM all of the main graph that is called as the letters of WANTED, and no other, is
   reached: ahead, or back but not through what gives WALL ('\0': none). */
static void reach_is(bool is_ahead, char from, char wall, const char *wanted)
{
    bool *values = calloc(net.model->n_values, sizeof *values);
    bool *walls = calloc(net.model->n_nodes, sizeof *walls);
    char found[sizeof reached] = "";
    values[value_called(from)] = true;
    if (wall != '\0')
        walls[amp_value_at(net.model, value_called(wall))->producer] = true;
    if (is_ahead)
        amp_reach_ahead(net.model, values);
    else
        amp_reach_back(net.model, wall != '\0' ? walls : NULL, values);
    for (size_t i = 0, n = 0; reached[i] != '\0'; i++)
        if (values[value_called(reached[i])])
            found[n++] = reached[i];
    assert_string_equal(found, wanted);
    free(values);
    free(walls);
}

static void bodies_lead_on_what_they_take(void **state)
{
    (void)state;
    start_reach();
    reach_is(true, 'a', '\0', "ayz");
    reach_is(true, 'q', '\0', "qyz");
    reach_is(true, 'r', '\0', "ryz");
    reach_is(true, 'c', '\0', "cyz");
    reach_is(true, 's', '\0', "su");
    reach_is(true, 'x', '\0', "xaqrsyzu");
    reach_is(false, 'z', '\0', "xcaqryz");
    reach_is(false, 'u', '\0', "xsu");
    reach_is(false, 'z', 'y', "yz");
    reach_is(false, 'z', 'z', "z");
    reach_is(false, 'z', 'r', "xcaqryz");
    reach_is(false, 'r', 'r', "r");
    amp_node_remove(net.model, amp_value_at(net.model, value_called('w'))->producer);
    reach_is(true, 'q', '\0', "q");
}

static void uses_are_listed_and_counted(void **state)
{
    struct amp_use use;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    uint32_t a = NODE("Neg", "a", x), b = NODE("Add", "b", a, a), d = NODE("Abs", "d", x);
    uint32_t e = NODE("Exp", "e", d);
    output(b);
    output(e);
    output(e);
    struct amp_uses uses = amp_uses_create(net.model);
    uint32_t *counts = amp_uses_count(net.model);
    uint32_t *outputs = amp_uses_count_outputs(net.model);
    const uint32_t ids[] = {x, a, b, d, e}, n_uses[] = {2, 2, 0, 1, 0}, n_out[] = {0, 0, 1, 0, 2};
    for (size_t i = 0; i < AMP_COUNT(ids); i++) {
        assert_int_equal(uses.first[ids[i] + 1] - uses.first[ids[i]], n_uses[i]);
        assert_int_equal(outputs[ids[i]], n_out[i]);
        assert_int_equal(counts[ids[i]], n_uses[i] + n_out[i]);
        assert_int_equal(amp_uses_only(net.model, &uses, ids[i], &use), ids[i] == d);
    }
    assert_true(use.node == node_of(e) && use.slot == 0);
    assert_int_equal(uses.items[uses.first[a]].node, node_of(b));
    assert_int_equal(uses.items[uses.first[a]].slot, 0);
    assert_int_equal(uses.items[uses.first[a] + 1].slot, 1);
    amp_value_at(net.model, d)->is_output = true;
    assert_false(amp_uses_only(net.model, &uses, d, &use));
    amp_value_at(net.model, d)->is_output = false;
    amp_value_at(net.model, d)->graph = 1;
    assert_false(amp_uses_only(net.model, &uses, d, &use));
    amp_uses_destroy(&uses);
    free(counts);
    free(outputs);
    amp_value_at(net.model, d)->graph = 0;
    amp_node_remove(net.model, node_of(e));
    counts = amp_uses_count(net.model);
    assert_int_equal(counts[d], 0);
    free(counts);
    amp_node_remove(net.model, node_of(d));
    uses = amp_uses_create(net.model);
    assert_int_equal(uses.first[d + 1] - uses.first[d], 0);
    assert_true(amp_uses_only(net.model, &uses, x, &use) && use.node == node_of(a));
    assert_int_equal(uses.first[a + 1] - uses.first[a], 2);
    assert_int_equal(uses.items[uses.first[a]].node, node_of(b));
    assert_int_equal(uses.items[uses.first[a] + 1].node, node_of(b));
    amp_uses_destroy(&uses);
}

/* ---- names and attributes ---- */

/* Of several nodes of one name the first keeps it; those without one stay so. */
static void names_differ(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4));
    static const char *const before[] = {"n", "n", "", "", "m", "n_0", "n"};
    uint32_t ids[AMP_COUNT(before)];
    for (size_t i = 0; i < AMP_COUNT(before); i++) {
        ids[i] = node_of(NODE("Neg", amp_model_unique_name(net.model, "v"), x));
        amp_node_at(net.model, ids[i])->name = before[i];
        if (before[i][0] != '\0' && !amp_strmap_get(&net.model->names, before[i], NULL))
            amp_strmap_put(&net.model->names, net.arena, before[i], 1);
    }
    amp_model_rename_nodes(net.model);
    for (size_t i = 0; i < AMP_COUNT(before); i++) {
        bool is_kept = i != 1 && i != 6;
        const char *name = amp_node_at(net.model, ids[i])->name;
        assert_int_equal(strcmp(name, before[i]) == 0, is_kept);
        assert_memory_equal(name, before[i], strlen(before[i]));
        for (size_t k = 0; k < i; k++)
            assert_true(name[0] == '\0' || strcmp(name, amp_node_at(net.model, ids[k])->name) != 0);
    }
}

static void attributes_come_and_go(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    (void)state;
    for (size_t gone = 0; gone < AMP_COUNT(names); gone++) {
        net_start(22);
        uint32_t id = node_of(NODE("Neg", "y", input("x", AMP_FLOAT, DIMS(4))));
        for (size_t i = 0; i < AMP_COUNT(names); i++)
            amp_node_set_int(net.model, id, names[i], (int64_t)i + 10);
        amp_node_set_int(net.model, id, "b", 7);
        const struct amp_node *node = amp_node_at(net.model, id);
        assert_int_equal(node->n_attrs, 3);
        assert_int_equal(amp_node_int(node, "b", 0), 7);
        amp_node_remove_attr(net.model, id, "d");
        assert_int_equal(node->n_attrs, 3);
        amp_node_remove_attr(net.model, id, names[gone]);
        assert_int_equal(node->n_attrs, 2);
        for (size_t i = 0; i < AMP_COUNT(names); i++)
            assert_int_equal(amp_node_int(node, names[i], -1), i == gone ? -1
                                                               : i == 1  ? 7
                                                                         : (int64_t)i + 10);
        assert_true(amp_node_float(node, "a", 0.5f) == 0.5f); /* of another type */
        assert_string_equal(amp_node_string(node, "a", "none"), "none");
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* What holds of the graphs of many cases, counted out. */

static bool graph_takes(const struct amp_model *model, uint32_t graph, const bool *values);

/* Whether node ID takes one of VALUES, itself or in the graphs that it holds. */
static bool node_takes(const struct amp_model *model, uint32_t id, const bool *values)
{
    const struct amp_node *node = amp_node_at(model, id);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && values[node->inputs[i]])
            return true;
    for (uint32_t a = 0; a < node->n_attrs; a++)
        for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
            if (graph_takes(model, node->attrs[a].graphs[k], values))
                return true;
    return false;
}

static bool graph_takes(const struct amp_model *model, uint32_t graph, const bool *values)
{
    const struct amp_graph *body = &model->graphs[graph];
    for (size_t i = 0; i < body->outputs.count; i++)
        if (values[body->outputs.items[i]])
            return true;
    for (size_t i = 0; i < body->nodes.count; i++)
        if (node_takes(model, body->nodes.items[i], values))
            return true;
    return false;
}

/* Each value alone is marked, and what that leads to; then all that lead to it. */
static void reach_is_what_nodes_take(const struct amp_model *model)
{
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    size_t n = model->n_values;
    bool *ahead = amp_xcalloc(n * n, sizeof *ahead), *wanted = amp_xcalloc(n, sizeof *wanted);
    bool *back = amp_xcalloc(n, sizeof *back);
    for (uint32_t v = 0; v < n; v++) {
        memset(wanted, 0, n);
        wanted[v] = ahead[v * n + v] = true;
        for (size_t i = 0; i < nodes->count; i++)
            if (node_takes(model, nodes->items[i], wanted)) {
                const struct amp_node *node = amp_node_at(model, nodes->items[i]);
                for (uint32_t k = 0; k < node->n_outputs; k++)
                    if (node->outputs[k] != AMP_NONE)
                        wanted[node->outputs[k]] = true;
            }
        amp_reach_ahead(model, ahead + v * n);
        assert_memory_equal(ahead + v * n, wanted, n);
    }
    for (uint32_t v = 0; v < n; v++) {
        memset(back, 0, n);
        back[v] = true;
        amp_reach_back(model, NULL, back);
        for (uint32_t w = 0; w < n && amp_value_at(model, v)->graph == 0; w++)
            assert_true(back[w] == ahead[w * n + v] || amp_value_at(model, w)->graph != 0);
    }
    free(ahead);
    free(wanted);
    free(back);
}

static void uses_are_what_nodes_take(const struct amp_model *model)
{
    struct amp_uses uses = amp_uses_create(model);
    uint32_t *counts = amp_uses_count(model), *outputs = amp_uses_count_outputs(model);
    for (uint32_t v = 0; v < model->n_values; v++) {
        uint32_t at = uses.first[v], n_outputs = 0, last = AMP_NONE;
        struct amp_use use;
        for (uint32_t id = 0; id < model->n_nodes; id++)
            for (uint32_t i = 0; i < amp_node_at(model, id)->n_inputs; i++)
                if (amp_node_at(model, id)->inputs[i] == v) {
                    assert_true(uses.items[at].node == id && uses.items[at].slot == i);
                    at++;
                    last = id;
                }
        for (size_t g = 0; g < model->n_graphs; g++)
            for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
                n_outputs += model->graphs[g].outputs.items[i] == v;
        uint32_t n = at - uses.first[v];
        assert_true(at == uses.first[v + 1] && outputs[v] == n_outputs &&
                    counts[v] == n + n_outputs);
        bool is_only = n == 1 && !amp_value_at(model, v)->is_output &&
                       amp_node_at(model, last)->graph == amp_value_at(model, v)->graph;
        assert_int_equal(amp_uses_only(model, &uses, v, &use), is_only);
    }
    amp_uses_destroy(&uses);
    free(counts);
    free(outputs);
}

/* A node that takes what it gives, and one whose output another gives, are refused wherever they
   are. */
static void wrong_nodes_are_refused(const struct amp_model *model)
{
    char wanted[1024], text[512];
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        struct amp_node *node = amp_node_at(model, id);
        if (node->n_outputs == 0 || node->outputs[0] == AMP_NONE || node->is_removed)
            continue;
        struct amp_value *output = amp_value_at(model, node->outputs[0]);
        amp_node_text(model, id, text, sizeof text);
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            uint32_t before = node->inputs[i];
            struct amp_error err = {.status = AMP_OK};
            node->inputs[i] = node->outputs[0];
            snprintf(wanted, sizeof wanted,
                     "%s: %s, input %u: value '%s' is used before it is defined", model->path, text,
                     i, output->name);
            assert_int_equal(amp_graph_check(model, &err), AMP_MODEL);
            assert_string_equal(err.text, wanted);
            node->inputs[i] = before;
        }
        struct amp_error err = {.status = AMP_OK};
        output->producer++;
        snprintf(wanted, sizeof wanted, "%s: %s, output 0: value '%s' has another producer",
                 model->path, text, output->name);
        assert_int_equal(amp_graph_check(model, &err), AMP_MODEL);
        assert_string_equal(err.text, wanted);
        output->producer--;
    }
}

/* Nodes that stand the other way round are put into an order, in which they stay. */
static void nodes_are_sorted_again(struct amp_model *model)
{
    bool has_moved = true, is_wrong = false;
    struct amp_error err = {.status = AMP_OK};
    for (int round = 0; round < 2; round++) {
        assert_int_equal(amp_graph_sort(model, &has_moved, &err), AMP_OK);
        assert_int_equal(has_moved, round != 0 && is_wrong);
        assert_int_equal(amp_graph_check(model, &err), AMP_OK);
        for (size_t g = 0; g < model->n_graphs && round == 0; g++) {
            struct amp_ids *nodes = &model->graphs[g].nodes;
            for (size_t i = 0; i < nodes->count / 2; i++) {
                uint32_t first = nodes->items[i];
                nodes->items[i] = nodes->items[nodes->count - 1 - i];
                nodes->items[nodes->count - 1 - i] = first;
            }
        }
        is_wrong = amp_graph_check(model, &err) != AMP_OK;
        err.status = AMP_OK;
    }
    assert_int_equal(amp_graph_sort(model, &has_moved, &err), AMP_OK);
    assert_false(has_moved);
}

/* Values know whether they are inputs or outputs of a graph. */
static void interfaces_are_marked(const struct amp_model *model)
{
    bool *is_input = calloc(model->n_values, 1), *is_output = calloc(model->n_values, 1);
    assert_true(is_input != NULL && is_output != NULL);
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        for (size_t i = 0; i < graph->inputs.count; i++)
            is_input[graph->inputs.items[i]] = true;
        for (size_t i = 0; i < graph->outputs.count; i++)
            is_output[graph->outputs.items[i]] = true;
    }
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        if (value->is_input != is_input[id] || value->is_output != is_output[id])
            fail_msg("value '%s': is_input %d, is_output %d", value->name, value->is_input,
                     value->is_output);
    }
    free(is_input);
    free(is_output);
}

static void graphs_of_cases_are_whole(void **state)
{
    size_t n_models = 0;
    glob_t paths;
    (void)state;
    assert_int_equal(glob("build/cases/{convert,constants,composites,ops/control}/*/model.onnx",
                          GLOB_BRACE, NULL, &paths),
                     0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        struct amp_model_file file = {.arena = NULL};
        struct amp_error err = {.status = AMP_OK};
        if (amp_model_read(paths.gl_pathv[i], &file, &err) == AMP_OK &&
            file.model->n_values < 200) {
            interfaces_are_marked(file.model);
            reach_is_what_nodes_take(file.model);
            uses_are_what_nodes_take(file.model);
            wrong_nodes_are_refused(file.model);
            nodes_are_sorted_again(file.model);
            n_models++;
        }
        amp_model_close(&file);
    }
    globfree(&paths);
    assert_true(n_models > 400);
}

/* ---- the cases of commands ------------------------------------------------------------------- */

enum { WORDS_MAX = 32 };

static enum amp_status (*const commands[])(const struct amp_options *, struct amp_error *) = {
    [AMP_CMD_CONVERT] = amp_command_convert, [AMP_CMD_RUN] = amp_command_run,
    [AMP_CMD_RULES] = amp_command_rules,     [AMP_CMD_BENCH] = amp_command_bench,
    [AMP_CMD_COMPARE] = amp_command_compare, [AMP_CMD_CALIBRATE] = amp_command_calibrate,
    [AMP_CMD_TRAIN] = amp_command_train};

/* What the file PATH holds; "" where there is none. The caller frees it. */
static char *text_of(const char *path)
{
    char *text = NULL;
    size_t size = 0, n;
    FILE *file = fopen(path, "rb"), *all = open_memstream(&text, &size);
    char block[4096];
    assert_non_null(all);
    while (file != NULL && (n = fread(block, 1, sizeof block, file)) > 0)
        assert_int_equal(fwrite(block, 1, n, all), n);
    if (file != NULL)
        fclose(file);
    fclose(all);
    return text;
}

/* Has what is printed to the descriptor OF go to PATH; returns what it was. */
static int redirect(FILE *stream, int of, const char *path)
{
    fflush(stream);
    int kept = dup(of), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, of) == of);
    close(file);
    return kept;
}

static void restore(FILE *stream, int of, int kept)
{
    fflush(stream);
    assert_int_equal(dup2(kept, of), of);
    close(kept);
}

/* Whether one of WORDS begins with one of N BEGINNINGS. */
static bool has_any(char *const *words, const char *const *beginnings, size_t n)
{
    for (size_t i = 0; words[i] != NULL; i++)
        for (size_t k = 0; k < n; k++)
            if (strncmp(words[i], beginnings[k], strlen(beginnings[k])) == 0)
                return true;
    return false;
}

/* Whether nothing of what WORDS ask for stays with this process, or is digits that the CPU's
   instructions decide on, as those of losses are. */
static bool is_of_one_run(char *const *words)
{
    static const char *const others[] = {"--max-memory", "--threads", "--output-dir", "--help",
                                         "--log"};
    return !has_any(words, others, AMP_COUNT(others));
}

/* Whether WORDS have files read and not written. */
static bool is_printed_only(char *const *words)
{
    static const char *const prints[] = {"--dump-after", "--list", "rules"};
    static const char *const writes[] = {"-o",          "--output", "--json=", "--report",
                                         "--rules-out", "--eval",   "--tune",  "--costs-out"};
    return has_any(words, prints, AMP_COUNT(prints)) && !has_any(words, writes, AMP_COUNT(writes));
}

/* Goes to the case of FOLDER, or to a copy of it. */
static void enter_case(const char *folder, const char *scratch, bool is_copied)
{
    char command[4096];
    assert_int_equal(chdir(scratch), 0);
    snprintf(command, sizeof command, "rm -rf case && cp -rL '%s' case", folder);
    if (is_copied)
        assert_int_equal(system(command), 0);
    assert_int_equal(chdir(is_copied ? "case" : folder), 0);
}

/* Takes the lines out of TEXT that say what the machine does. */
static void strip(char *text)
{
    char *to = text;
    for (char *at = text, *end; *at != '\0'; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        bool is_taken = strncmp(at, "  widened  ", strlen("  widened  ")) != 0;
        memmove(to, at, is_taken ? (size_t)(end - at) : 0);
        to += is_taken ? end - at : 0;
    }
    *to = '\0';
}

/* Runs the case of FOLDER, where this process is; what it prints goes to OUT and ERRORS. */
static void run_words(const char *folder, char **argv, int argc, const char *out,
                      const char *errors)
{
    struct amp_options options;
    struct amp_error err = {.status = AMP_OK};
    int kept[] = {redirect(stdout, 1, out), redirect(stderr, 2, errors)};
    enum amp_status status = amp_command_line_parse(argc, argv, &options, &err);
    if (status == AMP_OK)
        status = amp_destinations_check(&options, &err);
    if (status == AMP_OK)
        status = commands[options.command](&options, &err);
    if (err.text[0] != '\0')
        fprintf(stderr, "ampconv: %s\n", err.text);
    amp_command_line_free(&options);
    restore(stdout, 1, kept[0]);
    restore(stderr, 2, kept[1]);
    char *wanted = text_of("exit");
    if (amp_status_exit_code(status) != atoi(wanted))
        fail_msg("%s: exit code %d, %s", folder, amp_status_exit_code(status), err.text);
    free(wanted);
}

/* False: it is none of those. */
static bool run_case(const char *folder, const char *scratch)
{
    char *argv[WORDS_MAX + 2] = {(char[]){"ampconv"}}, out[2][SCRATCH_MAX + 8];
    static const char *const names[] = {"stdout", "stderr"};
    wordexp_t words;
    char line[4096] = "";
    enter_case(folder, scratch, false);
    char *text = text_of("args");
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    if (wordexp(line, &words, WRDE_NOCMD) != 0)
        fail_msg("%s: %s", folder, line);
    bool is_taken =
        access("setup", F_OK) != 0 && words.we_wordc < WORDS_MAX && is_of_one_run(words.we_wordv);
    if (is_taken)
        enter_case(folder, scratch, !is_printed_only(words.we_wordv));
    for (size_t i = 0; is_taken && i < words.we_wordc; i++)
        argv[1 + i] = words.we_wordv[i];
    for (int i = 0; i < 2; i++)
        snprintf(out[i], sizeof out[i], "%s/%s", scratch, names[i]);
    if (is_taken)
        run_words(folder, argv, 1 + (int)words.we_wordc, out[0], out[1]);
    for (int i = 0; is_taken && i < 2; i++) {
        char *wanted = text_of(names[i]), *found = text_of(out[i]);
        strip(wanted);
        strip(found);
        if (strcmp(wanted, found) != 0)
            fail_msg("%s: %s is\n%s", folder, names[i], found);
        free(wanted);
        free(found);
    }
    wordfree(&words);
    return is_taken;
}

/* What needs no process of its own, one case after the other. */
static void cases_print_what_is_expected(void **state)
{
    static const char *const stages[] = {"convert",   "functions",  "ranges", "rules",  "training",
                                         "constants", "composites", "read",   "robust", "upgrade"};
    const char *cases = getenv("CASES");
    size_t n = 0;
    assert_non_null(cases);
    for (size_t k = 0; k < AMP_COUNT(stages); k++) {
        char pattern[2048];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s/*/args", cases, stages[k]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            *strrchr(found.gl_pathv[i], '/') = '\0';
            n += run_case(found.gl_pathv[i], *state);
        }
        globfree(&found);
    }
    assert_int_equal(chdir(*state), 0);
    assert_true(n > 500);
}

/* Outputs that are not there are no values. */
static void missing_outputs_are_not_reached(void **state)
{
    uint32_t outputs[2] = {AMP_NONE, 1};
    struct amp_node node = {.outputs = outputs, .n_outputs = 2};
    const bool first[2] = {true, false}, second[2] = {false, true};
    (void)state;
    assert_false(amp_reach_has_output(&node, first));
    assert_true(amp_reach_has_output(&node, second));
    outputs[0] = 0;
    assert_true(amp_reach_has_output(&node, first));
    node.n_outputs = 1;
    assert_false(amp_reach_has_output(&node, second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(what_a_body_gives_out_comes_before_its_owner),
        NET_TEST(a_node_moves_right_before_the_first_that_needs_it),
        NET_TEST(a_circle_has_no_order),
        NET_TEST(the_first_circle_is_named),
        NET_TEST(long_chains_are_sorted),
        NET_TEST(values_have_one_producer_before_their_use),
        NET_TEST(domains_and_symbols_are_found),
        NET_TEST(initializers_come_and_go),
        NET_TEST(unique_names_count_on),
        NET_TEST(nodes_get_inputs_and_outputs),
        NET_TEST(attributes_are_read_by_type),
        NET_TEST(graphs_are_told_as_text),
        NET_TEST(bodies_are_told_further_in),
        NET_TEST(bodies_lead_on_what_they_take),
        NET_TEST(uses_are_listed_and_counted),
        NET_TEST(names_differ),
        NET_TEST(attributes_come_and_go),
        cmocka_unit_test(missing_outputs_are_not_reached),
        cmocka_unit_test(cases_print_what_is_expected),
    };

    const struct CMUnitTest of_cases[] = {cmocka_unit_test(graphs_of_cases_are_whole)};

    return cmocka_run_group_tests(of_cases, NULL, NULL) +
           cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

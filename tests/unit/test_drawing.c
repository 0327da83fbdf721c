/* Drawings: names cut to a length, axes, graphs folded and laid out in layers. */
#include "cli/report/html/graph_layout.h"
#include "cli/report/html/svg.h"
#include "core/memory.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

static void assert_short(const char *text, size_t most, const char *expected)
{
    char short_text[AMP_HTML_SHORT];
    assert_string_equal(amp_html_short(text, most, short_text), expected);
}

static void names_are_cut_in_the_middle(void **state)
{
    char name[5000];

    (void)state;
    assert_short("abcdefgh", 8, "abcdefgh");
    assert_short("abcdefghi", 8,
                 "abc\xe2\x80\xa6"
                 "fghi");
    assert_short("\xc3\xa4\xc3\xb6\xc3\xbc", 2, "\xe2\x80\xa6\xc3\xbc");
    assert_short("", 8, "");
    memset(name, '\xff', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_short(name, 3, "\xff\xe2\x80\xa6\xff");
    for (size_t i = 0; i + 4 < sizeof name; i += 4)
        memcpy(name + i, "\xf0\x9f\x98\x80", 5);
    char short_text[AMP_HTML_SHORT];
    assert_in_range(strlen(amp_html_short(name, 100000, short_text)), 400, AMP_HTML_SHORT - 1);
}

static void axes_end_at_round_numbers(void **state)
{
    struct amp_svg_axis axis = amp_svg_axis_over("", false, 0.3, 9.7);

    (void)state;
    assert_true(axis.low == 0 && axis.high == 10);
    axis.from = 100;
    axis.to = 200;
    assert_true(amp_svg_at(&axis, 5) == 150 && amp_svg_at(&axis, 99) == 200 &&
                amp_svg_at(&axis, NAN) == 100);
    axis = amp_svg_axis_over("", false, 7, 7);
    assert_true(axis.low < 7 && axis.high > 7);
    axis = amp_svg_axis_over("", false, 70, 70); /* a tenth on both sides: from 63 to 77 */
    assert_true(axis.low == 60 && axis.high == 80);
    axis = amp_svg_axis_over("", false, 0, 0);
    assert_true(axis.low == -1 && axis.high == 1);
    axis = amp_svg_axis_over("", true, 0.003, 700);
    assert_true(fabs(axis.low - 1e-3) < 1e-9 && fabs(axis.high - 1e3) < 1e-6);
    axis.from = 0;
    axis.to = 60;
    assert_true(fabs(amp_svg_at(&axis, 1) - 30) < 1e-9 && amp_svg_at(&axis, 0) == 0);
    axis = amp_svg_axis_over("", true, 0, 5);
    assert_true(axis.low > 0 && axis.low < axis.high);
}

static void numbers_are_short(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},       {0.25, "0.25"},   {65504, "65504"},   {780470, "780470"},
                 {4e10, "4e10"}, {1e-12, "1e-12"}, {-2.5e6, "-2.5e6"}, {6.1e-5, "6.1e-5"}};
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(amp_svg_number(cases[i].value, text), cases[i].text);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

struct sketch {
    struct amp_arena *arena;
    struct amp_model *model;
};

static struct sketch sketch(void)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *model = amp_model_create(arena, "m.onnx");
    amp_graph_add(model, "g", AMP_NONE);
    return (struct sketch){arena, model};
}

static uint32_t add_value(struct sketch *s, const char *name, enum amp_dtype dtype)
{
    uint32_t value = amp_graph_add_value(s->model, 0, amp_arena_strdup(s->arena, name));
    amp_value_at(s->model, value)->dtype = dtype;
    return value;
}

/* A node that gives a value of its name, made of values A and B (AMP_NONE: not). */
static uint32_t add_node(struct sketch *s, const char *op_type, const char *name, uint32_t a,
                         uint32_t b, enum amp_dtype dtype)
{
    uint32_t node = amp_graph_add_node(s->model, 0, op_type, b == AMP_NONE ? 1 : 2, 1);
    amp_node_at(s->model, node)->name = amp_arena_strdup(s->arena, name);
    amp_node_at(s->model, node)->inputs[0] = a;
    if (b != AMP_NONE)
        amp_node_at(s->model, node)->inputs[1] = b;
    uint32_t value = add_value(s, name, dtype);
    amp_node_set_output(s->model, node, 0, value);
    return value;
}

static uint32_t add_input(struct sketch *s, const char *name)
{
    uint32_t value = add_value(s, name, AMP_FLOAT);
    amp_value_at(s->model, value)->is_input = true;
    amp_ids_push(s->model, &s->model->graphs[0].inputs, value);
    return value;
}

/* Edges go from earlier boxes to later ones; every float node is in one box. */
static void assert_folded(const struct sketch *s, const struct amp_fold *fold, size_t most,
                          size_t n_nodes)
{
    size_t boxes = 0, nodes = 0;
    for (size_t b = 0; b < fold->n_boxes; b++) {
        boxes += fold->boxes[b].kind == AMP_FOLD_NODES;
        nodes += fold->boxes[b].n_nodes;
    }
    assert_in_range(boxes, 1, most);
    assert_int_equal(nodes, n_nodes);
    for (size_t e = 0; e < fold->n_edges; e++)
        assert_true(fold->edges[e].from < fold->edges[e].to);
    (void)s;
}

/* A box lies below those that lead to it; those of a layer do not overlap; links join layers that
   are next to each other. */
static void assert_laid_out(const struct amp_fold *fold, const struct amp_layout *layout,
                            double width)
{
    for (size_t e = 0; e < fold->n_edges; e++)
        assert_true(layout->spots[fold->edges[e].from].layer <
                    layout->spots[fold->edges[e].to].layer);
    for (size_t i = 0; i < layout->n_links; i++)
        assert_int_equal(layout->spots[layout->links[i].from].layer + 1,
                         layout->spots[layout->links[i].to].layer);
    for (size_t a = 0; a < fold->n_boxes; a++) {
        assert_true(layout->spots[a].x > width / 2 - 0.01);
        for (size_t b = 0; b < a; b++)
            assert_true(layout->spots[a].layer != layout->spots[b].layer ||
                        fabs(layout->spots[a].x - layout->spots[b].x) > width - 0.01);
    }
}

static void small_graphs_are_drawn_node_by_node(void **state)
{
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x");
    uint32_t low = add_node(&s, "Cast", "cast", x, AMP_NONE, AMP_BFLOAT16);
    uint32_t a = add_node(&s, "Relu", "a", low, AMP_NONE, AMP_BFLOAT16);
    uint32_t b = add_node(&s, "Add", "b", a, low, AMP_BFLOAT16);
    add_node(&s, "Shape", "size", x, AMP_NONE, AMP_INT64);
    amp_value_at(s.model, b)->is_output = true;
    amp_ids_push(s.model, &s.model->graphs[0].outputs, b);

    (void)state;
    struct amp_fold fold = amp_fold_graph(s.model, 10, s.arena);
    assert_folded(&s, &fold, 2, 2);
    assert_int_equal(fold.n_boxes, 4); /* x, a, b and the output */
    assert_int_equal(fold.n_left_out, 1);
    assert_int_equal(fold.n_edges, 4); /* x a, x b, a b, b out */
    assert_true(fold.edges[0].has_cast && fold.edges[1].has_cast && !fold.edges[2].has_cast);
    assert_int_equal(fold.edges[0].dtype, AMP_FLOAT);
    assert_int_equal(fold.boxes[2].n_casts, 1);
    assert_int_equal(fold.boxes[1].n_low, 1);
    struct amp_layout layout = amp_layout_fold(&fold, 100, 10, s.arena);
    assert_laid_out(&fold, &layout, 100);
    assert_int_equal(layout.n_layers, 4);
    amp_arena_destroy(s.arena);
}

static void large_graphs_are_folded_by_name(void **state)
{
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");

    (void)state;
    for (int layer = 0; layer < 24; layer++)
        for (int part = 0; part < 3; part++)
            for (int i = 0; i < 10; i++) {
                char name[64];
                snprintf(name, sizeof name, "/encoder/layer.%d/part%d/op_%d", layer, part, i);
                at = add_node(&s, "Relu", name, at, AMP_NONE, part == 1 ? AMP_FLOAT : AMP_BFLOAT16);
            }
    struct amp_fold fold = amp_fold_graph(s.model, 30, s.arena);
    assert_folded(&s, &fold, 30, 720);
    assert_string_equal(fold.boxes[1].prefix, "/encoder/layer.0/part0");
    assert_string_equal(fold.boxes[fold.n_boxes - 1].prefix, "/encoder/layer.23");
    assert_int_equal(fold.boxes[fold.n_boxes - 1].n_full, 10);
    assert_int_equal(fold.boxes[fold.n_boxes - 1].n_low, 20);
    amp_arena_destroy(s.arena);
}

/* Names that say nothing: runs of nodes in the order of the graph. */
static void names_that_do_not_help_give_runs(void **state)
{
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");

    (void)state;
    for (int i = 0; i < 500; i++) {
        char name[64];
        snprintf(name, sizeof name, "node_%d", i);
        at = add_node(&s, "Relu", i < 400 ? name : "", at, AMP_NONE, AMP_FLOAT);
    }
    struct amp_fold fold = amp_fold_graph(s.model, 40, s.arena);
    assert_folded(&s, &fold, 40, 500);
    assert_true(fold.n_boxes > 20);
    amp_arena_destroy(s.arena);
}

/* Two groups whose nodes take turns: the values that go back are marked. */
static void groups_that_take_turns_have_edges_back(void **state)
{
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");

    (void)state;
    for (int i = 0; i < 40; i++) {
        char name[64];
        snprintf(name, sizeof name, "/%s/op_%d", i % 2 == 0 ? "a" : "b", i);
        at = add_node(&s, "Relu", name, at, AMP_NONE, AMP_FLOAT);
    }
    struct amp_fold fold = amp_fold_graph(s.model, 2, s.arena);
    assert_folded(&s, &fold, 2, 40);
    assert_int_equal(fold.n_edges, 2); /* x to a, a to b; b to a is the same line */
    struct amp_layout layout = amp_layout_fold(&fold, 100, 10, s.arena);
    assert_laid_out(&fold, &layout, 100);
    amp_arena_destroy(s.arena);
}

/* Names of a million parts, alike but for the end, are not taken apart part by part. */
static void long_names_take_no_time(void **state)
{
    enum { SIZE = 1 << 20 };
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    char *name = malloc(SIZE + 1);
    assert_non_null(name);

    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        name[i] = i % 2 == 0 ? '/' : 'a';
    name[SIZE] = '\0';
    for (int i = 0; i < 12; i++) {
        name[SIZE - 1] = (char)('a' + i);
        at = add_node(&s, "Relu", name, at, AMP_NONE, AMP_FLOAT);
    }
    struct amp_fold fold = amp_fold_graph(s.model, 5, s.arena);
    assert_folded(&s, &fold, 5, 12);
    free(name);
    amp_arena_destroy(s.arena);
}

/* Nodes that are all called the same are not told apart part by part: a copy of each name for each
   part would take 24 MB. */
static void one_name_takes_no_room(void **state)
{
    enum { NODES = 1000, SIZE = 400, ROOM = 4 << 20 };
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    char name[SIZE + 1];

    (void)state;
    memset(name, 'a', SIZE);
    name[SIZE] = '\0';
    for (int i = 0; i < NODES; i++)
        at = add_node(&s, "Relu", name, at, AMP_NONE, AMP_FLOAT);
    size_t before = amp_memory_used();
    struct amp_fold fold = amp_fold_graph(s.model, 10, s.arena);
    assert_folded(&s, &fold, 10, NODES);
    assert_in_range(amp_memory_used() - before, 0, ROOM);
    amp_arena_destroy(s.arena);
}

/* Graphs at random: what must hold of every layout. */
static void any_graph_has_a_layout(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct sketch s = sketch();
        uint64_t draw = 88172645463325252ULL + seed;
        uint32_t values[160], count = 0;
        values[count++] = add_input(&s, "x");
        values[count++] = add_input(&s, "y");
        while (count < 20 + 4 * seed) {
            char name[32];
            uint32_t picks[2];
            for (int i = 0; i < 2; i++) {
                draw ^= draw << 13;
                draw ^= draw >> 7;
                draw ^= draw << 17;
                picks[i] = values[draw % count];
            }
            snprintf(name, sizeof name, "n%u", count);
            values[count] = add_node(&s, "Add", name, picks[0], picks[1], AMP_FLOAT);
            count++;
        }
        struct amp_fold fold = amp_fold_graph(s.model, seed % 2 == 0 ? 200 : 15, s.arena);
        struct amp_layout layout = amp_layout_fold(&fold, 100, 10, s.arena);
        assert_folded(&s, &fold, seed % 2 == 0 ? 200 : 15, count - 2);
        assert_laid_out(&fold, &layout, 100);
        amp_arena_destroy(s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut_in_the_middle),
        cmocka_unit_test(axes_end_at_round_numbers),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(small_graphs_are_drawn_node_by_node),
        cmocka_unit_test(large_graphs_are_folded_by_name),
        cmocka_unit_test(names_that_do_not_help_give_runs),
        cmocka_unit_test(groups_that_take_turns_have_edges_back),
        cmocka_unit_test(long_names_take_no_time),
        cmocka_unit_test(one_name_takes_no_room),
        cmocka_unit_test(any_graph_has_a_layout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

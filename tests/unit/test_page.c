/* Pages and the drawings on them: of searches, conversions, runs, times and training. */
#include "autocast/rules/rule.h"
#include "check/deviations.h"
#include "check/validate.h"
#include "cli/report/bench.h"
#include "cli/report/conversion.h"
#include "cli/report/explanation.h"
#include "cli/report/html/bench_page.h"
#include "cli/report/html/compare_page.h"
#include "cli/report/html/convert_page.h"
#include "cli/report/html/decisions.h"
#include "cli/report/html/findings.h"
#include "cli/report/html/graph_drawing.h"
#include "cli/report/html/graph_layout.h"
#include "cli/report/html/layers.h"
#include "cli/report/html/models.h"
#include "cli/report/html/node_precision.h"
#include "cli/report/html/noise.h"
#include "cli/report/html/outputs.h"
#include "cli/report/html/ranges.h"
#include "cli/report/html/run_page.h"
#include "cli/report/html/svg.h"
#include "cli/report/html/timing.h"
#include "cli/report/html/train_page.h"
#include "cli/report/html/tuning.h"
#include "cli/report/html/verdict.h"
#include "cli/report/inputs.h"
#include "cli/report/json.h"
#include "cli/report/losses.h"
#include "cli/report/noise.h"
#include "cli/report/profile.h"
#include "cli/report/ranges.h"
#include "cli/report/run.h"
#include "cli/report/text.h"
#include "cli/report/training.h"
#include "cli/report/tuning.h"
#include "cli/report/validation.h"
#include "core/array.h"
#include "core/convert.h"
#include "core/memory.h"
#include "ops/dnnl/profile.h"
#include "ops/dnnl/roofline.h"
#include "ops/op.h"
#include "report_case.h"
#include "scratch.h"
#include "tune/tuning.h"

#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- drawing --------------------------------------------------------------------------------- */

/* Drawings: names cut to a length, axes, graphs folded and laid out in layers. */

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
    assert_string_equal(amp_html_base("a/b.onnx"), "b.onnx");
    assert_string_equal(amp_html_base("/b"), "b");
    assert_string_equal(amp_html_base("a/"), "a/");
    assert_string_equal(amp_html_base("b"), "b");
    for (int dtype = 0; dtype < AMP_DTYPE_COUNT; dtype++) {
        bool is_low = dtype == AMP_FLOAT16 || dtype == AMP_BFLOAT16;
        bool is_full = dtype == AMP_FLOAT || dtype == AMP_DOUBLE;
        assert_string_equal(amp_html_dtype_class((enum amp_dtype)dtype), is_low    ? "low"
                                                                         : is_full ? "full"
                                                                                   : "other");
    }
    assert_string_equal(amp_html_dtype_text(AMP_UNDEFINED), "no floats");
    assert_string_equal(amp_html_dtype_text(AMP_BFLOAT16), "bf16");
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

/* Marks what of FOLD an input leads to. */
static void mark_held(const struct amp_fold *fold, bool *is_held)
{
    for (size_t e = 0; e < fold->n_edges; e++)
        if (is_held[fold->edges[e].from] || fold->boxes[fold->edges[e].from].kind == AMP_FOLD_INPUT)
            is_held[fold->edges[e].to] = true;
}

/* What an input leads to lies below all that lead to it, by one layer; what none leads to lies one
   above the first that it leads to. */
static void assert_layers(const struct amp_fold *fold, const struct amp_layout *layout)
{
    bool *is_held = calloc(fold->n_boxes, sizeof *is_held);
    uint32_t *most = malloc(fold->n_boxes * sizeof *most),
             *longest = calloc(fold->n_boxes, sizeof *longest);
    assert_true(is_held != NULL && most != NULL && longest != NULL);
    memset(most, 0xff, fold->n_boxes * sizeof *most);
    mark_held(fold, is_held);
    for (size_t e = 0; e < fold->n_edges; e++) {
        uint32_t from = fold->edges[e].from, to = fold->edges[e].to;
        longest[to] = longest[to] > longest[from] ? longest[to] : longest[from] + 1;
        most[from] = most[from] < layout->spots[to].layer ? most[from] : layout->spots[to].layer;
    }
    for (size_t b = 0; b < fold->n_boxes; b++)
        assert_int_equal(layout->spots[b].layer,
                         is_held[b] || most[b] == UINT32_MAX ? longest[b] : most[b] - 1);
    free(is_held);
    free(most);
    free(longest);
}

/* Each edge has a way down over crossings, one in each layer for all edges of a box. */
static void assert_linked(const struct amp_fold *fold, const struct amp_layout *layout)
{
    size_t crossings = 0;
    uint32_t *above = malloc(layout->n_spots * sizeof *above); /* of a crossing */
    assert_non_null(above);
    memset(above, 0xff, layout->n_spots * sizeof *above);
    for (size_t i = 0; i < layout->n_links; i++) {
        const struct amp_layout_link *link = &layout->links[i];
        assert_int_equal(layout->spots[link->from].layer + 1, layout->spots[link->to].layer);
        assert_int_equal(fold->edges[link->edge].from, layout->spots[link->from].source);
        if (layout->spots[link->to].box == AMP_NONE) {
            assert_int_equal(above[link->to], AMP_NONE);
            above[link->to] = link->from;
            assert_int_equal(layout->spots[link->to].source, layout->spots[link->from].source);
        }
    }
    for (uint32_t b = 0; b < fold->n_boxes; b++) {
        uint32_t last = layout->spots[b].layer;
        for (size_t e = 0; e < fold->n_edges; e++) {
            size_t ends = 0;
            for (size_t i = 0; i < layout->n_links; i++)
                ends += layout->links[i].edge == e && layout->links[i].to == fold->edges[e].to &&
                        layout->spots[layout->links[i].from].source == fold->edges[e].from;
            assert_int_equal(ends, 1);
            if (fold->edges[e].from == b && layout->spots[fold->edges[e].to].layer > last)
                last = layout->spots[fold->edges[e].to].layer;
        }
        crossings += last > layout->spots[b].layer ? last - layout->spots[b].layer - 1 : 0;
    }
    assert_int_equal(layout->n_spots, fold->n_boxes + crossings);
    assert_int_equal(layout->n_links, fold->n_edges + crossings);
    free(above);
}

/* The spots of a layer from left to right: how many there are. */
static size_t row_of(const struct amp_layout *layout, uint32_t layer, uint32_t *row)
{
    size_t count = 0;
    for (uint32_t s = 0; s < layout->n_spots; s++) {
        if (layout->spots[s].layer != layer)
            continue;
        size_t at = count++;
        for (; at > 0 && layout->spots[row[at - 1]].x > layout->spots[s].x; at--)
            row[at] = row[at - 1];
        row[at] = s;
    }
    return count;
}

/* The mean of the places PLACE of the spots above SPOT, or of those below; NAN: there are none. */
static double mean_place(const struct amp_layout *layout, const double *place, uint32_t spot,
                         bool is_above)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < layout->n_links; i++) {
        const struct amp_layout_link *link = &layout->links[i];
        if ((is_above ? link->to : link->from) != spot)
            continue;
        sum += place[is_above ? link->from : link->to];
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

/* Spots of a layer are in the order of the means of their neighbours below, and lie as near to the
   means of those above as their widths allow, by least squares in which crossings count four times:
   where spots touch, none of them would rather go apart, and together they are at rest. */
static void assert_placed(const struct amp_layout *layout, double width, double gap)
{
    uint32_t *row = malloc(layout->n_spots * sizeof *row);
    double *place = malloc(layout->n_spots * sizeof *place),
           *index = malloc(layout->n_spots * sizeof *index), least = (double)INFINITY;
    assert_true(row != NULL && place != NULL && index != NULL);
    for (uint32_t s = 0; s < layout->n_spots; s++) {
        place[s] = layout->spots[s].x;
        least = fmin(least, place[s] - (layout->spots[s].box == AMP_NONE ? 0 : width / 2));
    }
    assert_true(fabs(least) < 1e-9);
    for (uint32_t layer = layout->n_layers; layer-- > 0;) {
        size_t count = row_of(layout, layer, row);
        double wish = -(double)INFINITY;
        for (size_t i = 0; i < count; i++)
            index[row[i]] = (double)i;
        for (size_t i = 0; i < count; i++) {
            double mean = mean_place(layout, index, row[i], false);
            assert_true(isnan(mean) || mean >= wish - 1e-9);
            wish = isnan(mean) ? wish : mean;
        }
        for (size_t i = 0; i < count && layer > 0;) {
            double pull = 0;
            do {
                double mean = mean_place(layout, place, row[i], true);
                assert_true(pull > -1e-6); /* those at the left press to the right */
                if (isnan(mean))           /* what nothing leads to keeps where it was */
                    pull = (double)NAN;
                pull += (mean - place[row[i]]) * (layout->spots[row[i]].box == AMP_NONE ? 4 : 1);
                if (isnan(pull))
                    break;
                i++;
            } while (i < count &&
                     place[row[i]] - place[row[i - 1]] <
                         gap + 1e-6 + (layout->spots[row[i]].box == AMP_NONE ? 0 : width / 2) +
                             (layout->spots[row[i - 1]].box == AMP_NONE ? 0 : width / 2));
            if (isnan(pull))
                break;
            assert_true(fabs(pull) < 1e-6);
        }
        for (size_t i = 1; i < count; i++)
            assert_true(place[row[i]] - place[row[i - 1]] >
                        gap - 1e-6 + (layout->spots[row[i]].box == AMP_NONE ? 0 : width / 2) +
                            (layout->spots[row[i - 1]].box == AMP_NONE ? 0 : width / 2));
    }
    free(row);
    free(place);
    free(index);
}

/* A box lies below those that lead to it; those of a layer do not overlap; links join layers that
   are next to each other. */
static void assert_laid_out(const struct amp_fold *fold, const struct amp_layout *layout,
                            double width, double gap)
{
    for (size_t e = 0; e < fold->n_edges; e++)
        assert_true(layout->spots[fold->edges[e].from].layer <
                    layout->spots[fold->edges[e].to].layer);
    for (size_t a = 0; a < fold->n_boxes; a++) {
        assert_int_equal(layout->spots[a].box, a);
        assert_int_equal(layout->spots[a].source, a);
        assert_true(layout->spots[a].layer < layout->n_layers);
    }
    assert_layers(fold, layout);
    assert_linked(fold, layout);
    assert_placed(layout, width, gap);
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
    assert_laid_out(&fold, &layout, 100, 10);
    assert_int_equal(layout.n_layers, 4);
    amp_arena_destroy(s.arena);
}

/* What no input leads to stands right above what it leads to, of several the first. */
static void sources_stand_above_their_uses(void **state)
{
    struct sketch s = sketch();
    uint32_t a = add_node(&s, "Relu", "a", add_input(&s, "x"), AMP_NONE, AMP_FLOAT);
    uint32_t late = add_node(&s, "RandomNormal", "late", AMP_NONE, AMP_NONE, AMP_FLOAT);
    uint32_t early = add_node(&s, "RandomNormal", "early", AMP_NONE, AMP_NONE, AMP_FLOAT);
    uint32_t b = add_node(&s, "Relu", "b", a, AMP_NONE, AMP_FLOAT);
    uint32_t c = add_node(&s, "Add", "c", b, early, AMP_FLOAT);
    uint32_t d = add_node(&s, "Add", "d", c, late, AMP_FLOAT);
    add_node(&s, "Add", "e", d, early, AMP_FLOAT);
    static const uint32_t layers[] = {0, 1, 3, 2, 2, 3, 4, 5}; /* x, a, late, early, b, c, d, e */
    (void)state;
    struct amp_fold fold = amp_fold_graph(s.model, 10, s.arena);
    struct amp_layout layout = amp_layout_fold(&fold, 100, 10, s.arena);
    assert_int_equal(fold.n_boxes, AMP_COUNT(layers));
    for (size_t i = 0; i < AMP_COUNT(layers); i++)
        assert_int_equal(layout.spots[i].layer, layers[i]);
    amp_arena_destroy(s.arena);
}

static size_t count_boxes(const struct amp_fold *fold, enum amp_fold_kind kind)
{
    size_t count = 0;
    for (size_t b = 0; b < fold->n_boxes; b++)
        count += fold->boxes[b].kind == kind;
    return count;
}

/* The boxes of FOLD as text, to be freed: "/a*3 /b/1" */
static char *boxes_of(const struct sketch *s, const struct amp_fold *fold)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    for (size_t b = 0; b < fold->n_boxes; b++) {
        const struct amp_fold_box *box = &fold->boxes[b];
        if (box->kind != AMP_FOLD_NODES)
            continue;
        assert_true((box->prefix == NULL) == (box->n_nodes == 1));
        fprintf(file, "%s%s", b > 0 ? " " : "",
                box->prefix != NULL ? box->prefix : amp_node_at(s->model, box->node)->name);
        if (box->n_nodes > 1)
            fprintf(file, "*%zu", box->n_nodes);
    }
    fclose(file);
    return text;
}

/* Nodes with the COUNT NAMES are folded to at most MOST boxes: EXPECTED. */
static void assert_boxes(const char *const *names, size_t count, size_t most, const char *expected)
{
    struct sketch s = sketch();
    uint32_t at = AMP_NONE;
    for (size_t i = 0; i < count; i++)
        at = add_node(&s, "Relu", names[i], at, AMP_NONE, AMP_FLOAT);
    struct amp_fold fold = amp_fold_graph(s.model, most, s.arena);
    char *text = boxes_of(&s, &fold);
    assert_string_equal(text, expected);
    free(text);
    amp_arena_destroy(s.arena);
}

#define NAMES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__       \
    }

/* The largest group is split at the next part of its names, of equal ones the first, as long as
   there is room for all its parts. */
static void names_are_split_part_by_part(void **state)
{
    (void)state;
    assert_boxes(NAMES("/a/1", "/a/2", "/b/1"), 3, 3, "/a/1 /a/2 /b/1");
    assert_boxes(NAMES("/a/1", "/a/2", "/a/3", "/b/1"), 4, 3, "/a*3 /b/1");
    assert_boxes(NAMES("/a/1", "/a/2", "/a/3", "/b/1", "/b/2"), 5, 4, "/a/1 /a/2 /a/3 /b*2");
    assert_boxes(NAMES("/b/1", "/a/1", "/a/2", "/a/3", "/b/2"), 5, 4, "/b*2 /a/1 /a/2 /a/3");
    assert_boxes(NAMES("/a/1", "/a/2", "/b/1", "/b/2"), 4, 3, "/a/1 /a/2 /b*2");
    assert_boxes(NAMES("/a/1", "/a/2", "/b/1", "/b/2"), 4, 2, "/a*2 /b*2");
    assert_boxes(NAMES("/a/1", "/a/2", "/b/1", "/b/2"), 4, 1, "*4");
    assert_boxes(NAMES("//a//1", "//a//2", "//b/c", "//b/c"), 4, 3, "//a//1 //a//2 //b/c*2");
    assert_boxes(NAMES("a.0.x", "a.0.y", "a.1.x", "b"), 4, 3, "a.0*2 a.1.x b");
    assert_boxes(NAMES("a.0/x", "a.0/y", "a.1/x", "b"), 4, 3, "a.0*2 a.1/x b");
    /* Prefixes end with a part. */
    assert_boxes(NAMES("/a/bc1", "/a/bc2", "/a/bc3"), 3, 2, "/a*3");
    assert_boxes(NAMES("/a/b", "/a/b", "/a/b/c"), 3, 1, "/a/b*3");
    assert_boxes(NAMES("/a/b/c", "/a/b", "/a/b/c"), 3, 1, "/a/b*3");
    assert_boxes(NAMES("ab.c1", "ab.c2"), 2, 1, "ab*2");
    assert_boxes(NAMES("ab1", "ab2"), 2, 1, "*2");
}

/* Names are told apart in their first 400 bytes and 60 parts. */
static void names_are_told_apart_so_far(void **state)
{
    char names[2][512], expected[1200];
    (void)state;
    for (size_t length = 399; length <= 400; length++) {
        memset(names, 'n', sizeof names);
        for (int i = 0; i < 2; i++) {
            names[i][length] = (char)('a' + i);
            names[i][length + 1] = '\0';
        }
        snprintf(expected, sizeof expected, "%s*2 %s", names[0], names[1]);
        assert_boxes(NAMES(names[0], names[0], names[1]), 3, 2, length == 399 ? expected : "*3");
    }
    for (size_t parts = 60; parts <= 61; parts++) {
        for (size_t i = 0; i < parts; i++)
            for (size_t k = 0; k < 2; k++)
                snprintf(names[k] + 2 * i, 3, "/%c", i + 1 < parts ? 'x' : k == 0 ? 'a' : 'b');
        snprintf(expected, sizeof expected, "%s*2 %s", names[0], names[1]);
        char prefix[256];
        snprintf(prefix, sizeof prefix, "%.*s*3", (int)(2 * parts - 2), names[0]);
        assert_boxes(NAMES(names[0], names[0], names[1]), 3, 2, parts == 60 ? expected : prefix);
    }
}

/* What names do not part is cut into runs of a dozen or fewer, alike in length, or of what room
   there is. */
static void runs_are_alike_in_length(void **state)
{
    static const struct {
        size_t count, most;
        bool is_one_name;
        const char *expected;
    } rows[] = {{11, 10, true, "n*11"},
                {12, 11, true, "n*12"},
                {13, 12, true, "n*7 n*6"},
                {24, 20, true, "n*12 n*12"},
                {25, 20, true, "n*9 n*8 n*8"},
                {30, 2, true, "n*15 n*15"},
                {30, 3, true, "n*10 n*10 n*10"},
                {30, 1, true, "n*30"},
                {5, 3, false, "*5"},
                {40, 3, false, "*14 *13 *13"},
                {40, 39, false, "*10 *10 *10 *10"}};
    char names[40][8];
    const char *list[40];
    (void)state;
    for (size_t r = 0; r < AMP_COUNT(rows); r++) {
        for (size_t i = 0; i < rows[r].count; i++) {
            snprintf(names[i], sizeof names[i], rows[r].is_one_name ? "n" : "n%02zu", i);
            list[i] = names[i];
        }
        assert_boxes(list, rows[r].count, rows[r].most, rows[r].expected);
    }
}

/* The next of some numbers at random. */
static uint64_t draw_next(uint64_t *draw)
{
    *draw ^= *draw << 13;
    *draw ^= *draw >> 7;
    *draw ^= *draw << 17;
    return *draw >> 20;
}

static bool is_float_value(const struct amp_model *model, uint32_t value)
{
    return amp_dtype_class(amp_value_at(model, value)->dtype) == AMP_CLASS_FLOAT;
}

static bool is_float_cast(const struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    return strcmp(node->op_type, "Cast") == 0 && is_float_value(model, node->inputs[0]) &&
           is_float_value(model, node->outputs[0]);
}

/* Adds to the edges that are EXPECTED, one for each pair of boxes, what VALUE brings to box TO. */
static void expect_edge(const struct amp_model *model, const struct amp_fold *fold,
                        struct amp_fold_edge *expected, size_t *n_casts, uint32_t value,
                        uint32_t to)
{
    bool has_cast = false;
    uint32_t node, from = AMP_NONE;
    while ((node = amp_value_at(model, value)->producer) != AMP_NONE &&
           is_float_cast(model, node)) {
        has_cast = true;
        value = amp_node_at(model, node)->inputs[0];
    }
    n_casts[to] += has_cast;
    if (node != AMP_NONE)
        from = fold->box_of[node];
    for (uint32_t b = 0; node == AMP_NONE && b < fold->n_boxes; b++)
        if (fold->boxes[b].kind == AMP_FOLD_INPUT && fold->boxes[b].value == value)
            from = b;
    if (from == AMP_NONE || from == to)
        return;
    uint32_t first = from < to ? from : to, last = from < to ? to : from;
    struct amp_fold_edge *edge = &expected[first * fold->n_boxes + last];
    enum amp_dtype dtype = amp_value_at(model, value)->dtype;
    bool is_new = edge->to == 0, is_float = amp_dtype_class(dtype) == AMP_CLASS_FLOAT,
         was_float = !is_new && amp_dtype_class(edge->dtype) == AMP_CLASS_FLOAT;
    if (is_new || (is_float && !was_float) || (is_float == was_float && dtype < edge->dtype))
        edge->dtype = dtype;
    edge->is_back = (is_new || edge->is_back) && from > to;
    edge->has_cast |= has_cast;
    edge->from = first;
    edge->to = last;
}

/* Boxes and edges of FOLD are those that MODEL, whose nodes all are in the main graph, has. */
static void assert_edges(const struct amp_model *model, const struct amp_fold *fold)
{
    size_t n = fold->n_boxes, all = 0, drawn = 0, edges = 0;
    struct amp_fold_edge *expected = calloc(n * n + 1, sizeof *expected);
    size_t *n_casts = calloc(n + 1, sizeof *n_casts), *n_low = calloc(n + 1, sizeof *n_low),
           *n_full = calloc(n + 1, sizeof *n_full);
    assert_true(expected != NULL && n_casts != NULL && n_low != NULL && n_full != NULL);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        uint32_t box = fold->box_of[id];
        if (is_float_cast(model, id) || strcmp(node->op_type, "Constant") == 0) {
            assert_int_equal(box, AMP_NONE);
            continue;
        }
        enum amp_dtype dtype = amp_value_at(model, node->outputs[0])->dtype;
        all++;
        drawn += is_float_value(model, node->outputs[0]);
        assert_true((box != AMP_NONE) == is_float_value(model, node->outputs[0]));
        if (box == AMP_NONE)
            continue;
        assert_true(fold->boxes[box].node <= id);
        n_low[box] += dtype == AMP_BFLOAT16 || dtype == AMP_FLOAT16;
        n_full[box] += dtype == AMP_FLOAT || dtype == AMP_DOUBLE;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            if (node->inputs[i] != AMP_NONE)
                expect_edge(model, fold, expected, n_casts, node->inputs[i], box);
    }
    for (uint32_t b = 0; b < n; b++)
        if (fold->boxes[b].kind == AMP_FOLD_OUTPUT)
            expect_edge(model, fold, expected, n_casts, fold->boxes[b].value, b);
    assert_int_equal(fold->n_left_out, all - drawn);
    for (size_t b = 0; b < n; b++) {
        assert_int_equal(fold->boxes[b].n_casts, n_casts[b]);
        assert_int_equal(fold->boxes[b].n_low, n_low[b]);
        assert_int_equal(fold->boxes[b].n_full, n_full[b]);
    }
    for (size_t i = 0; i < n * n; i++) {
        if (expected[i].to == 0)
            continue;
        assert_true(edges < fold->n_edges);
        const struct amp_fold_edge *edge = &fold->edges[edges++];
        assert_int_equal(edge->from, expected[i].from);
        assert_int_equal(edge->to, expected[i].to);
        assert_int_equal(edge->dtype, expected[i].dtype);
        assert_int_equal(edge->has_cast, expected[i].has_cast);
        assert_int_equal(edge->is_back, expected[i].is_back);
    }
    assert_int_equal(edges, fold->n_edges);
    free(expected);
    free(n_casts);
    free(n_low);
    free(n_full);
}

/* Graphs at random, of nodes of all kinds in groups that take turns: what leads to what, in which
   dtype, through casts. */
static void any_graph_is_folded(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_DOUBLE, AMP_BFLOAT16,
                                            AMP_INT64};
    static const char *const ops[] = {"Add", "Cast", "Mul", "Cast", "Constant", "Sub"};
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct sketch s = sketch();
        struct amp_tensor weight = {.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {1}}};
        uint64_t draw = 88172645463325252ULL + seed;
        uint32_t values[64], count = 0;
        for (; count < 3; count++)
            values[count] = add_input(&s, "x");
        amp_value_at(s.model, values[1])->initial = &weight;
        for (; count < 43; count++) {
            char name[32];
            const char *op = ops[draw_next(&draw) % 6];
            bool is_binary = op[0] != 'C', is_constant = op[1] == 'o';
            snprintf(name, sizeof name, "/%c/n%u", (char)('a' + draw_next(&draw) % 6), count);
            uint32_t a = values[draw_next(&draw) % count], b = values[draw_next(&draw) % count];
            values[count] = add_node(&s, op, name, is_constant ? AMP_NONE : a,
                                     is_binary ? b : AMP_NONE, dtypes[draw_next(&draw) % 5]);
        }
        for (int i = 0; i < 3; i++) {
            uint32_t value = values[3 + draw_next(&draw) % 40];
            amp_value_at(s.model, value)->is_output = true;
            amp_ids_push(s.model, &s.model->graphs[0].outputs, value);
        }
        struct amp_fold fold = amp_fold_graph(s.model, seed % 2 == 0 ? 50 : 6, s.arena);
        struct amp_layout layout = amp_layout_fold(&fold, 156, 14, s.arena);
        assert_int_equal(count_boxes(&fold, AMP_FOLD_INPUT), 2);
        assert_int_equal(count_boxes(&fold, AMP_FOLD_OUTPUT), 3);
        assert_edges(s.model, &fold);
        assert_laid_out(&fold, &layout, 156, 14);
        amp_arena_destroy(s.arena);
    }
}

/* Nodes without floats are drawn where there are no others; nothing is no box. */
static void graphs_without_floats_are_drawn(void **state)
{
    struct sketch s = sketch();
    (void)state;
    struct amp_fold fold = amp_fold_graph(s.model, 5, s.arena);
    assert_int_equal(fold.n_boxes, 0);
    assert_int_equal(fold.n_edges, 0);
    assert_int_equal(fold.n_left_out, 0);
    uint32_t a = add_node(&s, "Shape", "a", add_input(&s, "x"), AMP_NONE, AMP_INT64);
    uint32_t b = add_node(&s, "Neg", "b", a, AMP_NONE, AMP_INT64);
    fold = amp_fold_graph(s.model, 5, s.arena);
    assert_int_equal(count_boxes(&fold, AMP_FOLD_NODES), 2);
    assert_int_equal(fold.n_left_out, 0);
    assert_int_equal(fold.n_edges, 2);
    assert_int_equal(fold.edges[1].dtype, AMP_INT64);
    add_node(&s, "Cast", "c", b, AMP_NONE, AMP_FLOAT);
    fold = amp_fold_graph(s.model, 5, s.arena);
    assert_int_equal(count_boxes(&fold, AMP_FOLD_NODES), 1);
    assert_int_equal(fold.n_left_out, 2);
    amp_arena_destroy(s.arena);
}

/* Bodies are drawn as their owners: what they take of outside leads there, each cast counted where
   a node takes what it gives; nodes that were removed lead nowhere. */
static void bodies_lead_to_their_owners(void **state)
{
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x"), y = add_input(&s, "y"), z = add_input(&s, "z");
    uint32_t owned = add_node(&s, "If", "owner", z, AMP_NONE, AMP_FLOAT);
    uint32_t owner = amp_value_at(s.model, owned)->producer;
    uint32_t body = amp_graph_add(s.model, "body", owner), at = x;
    static const struct {
        const char *op;
        enum amp_dtype dtype;
    } nodes[] = {{"Cast", AMP_FLOAT16}, {"Cast", AMP_BFLOAT16}, {"Relu", AMP_BFLOAT16}};
    (void)state;
    for (size_t i = 0; i <= AMP_COUNT(nodes); i++) {
        bool is_last = i == AMP_COUNT(nodes);
        uint32_t node = amp_graph_add_node(s.model, body, is_last ? "Relu" : nodes[i].op, 1, 1);
        amp_node_at(s.model, node)->inputs[0] = is_last ? y : at;
        at = amp_graph_add_value(s.model, body, is_last ? "gone" : "v");
        amp_value_at(s.model, at)->dtype = is_last ? AMP_FLOAT : nodes[i].dtype;
        amp_node_set_output(s.model, node, 0, at);
        amp_node_at(s.model, node)->is_removed = is_last;
    }
    struct amp_fold fold = amp_fold_graph(s.model, 10, s.arena);
    assert_int_equal(fold.n_boxes, 4);
    assert_int_equal(fold.boxes[3].n_casts, 1);
    assert_int_equal(fold.n_edges, 2);
    assert_int_equal(fold.edges[0].from, 0);
    assert_int_equal(fold.edges[0].to, 3);
    assert_true(fold.edges[0].has_cast);
    assert_int_equal(fold.edges[0].dtype, AMP_FLOAT);
    assert_int_equal(fold.edges[1].from, 2);
    assert_false(fold.edges[1].has_cast);
    amp_arena_destroy(s.arena);
}

/* Inputs are drawn where there are no more than 24, and so are outputs. */
static void inputs_and_outputs_are_drawn_where_they_are_few(void **state)
{
    (void)state;
    for (size_t n_inputs = 24; n_inputs <= 25; n_inputs++)
        for (size_t n_outputs = 24; n_outputs <= 25; n_outputs++) {
            struct sketch s = sketch();
            uint32_t inputs[25];
            for (size_t i = 0; i < n_inputs; i++)
                inputs[i] = add_input(&s, "x");
            for (size_t i = 0; i < n_outputs; i++) {
                uint32_t y =
                    add_node(&s, "Add", "y", inputs[i % n_inputs], inputs[n_inputs - 1], AMP_FLOAT);
                amp_value_at(s.model, y)->is_output = true;
                amp_ids_push(s.model, &s.model->graphs[0].outputs, y);
            }
            struct amp_fold fold = amp_fold_graph(s.model, 30, s.arena);
            assert_int_equal(count_boxes(&fold, AMP_FOLD_INPUT), n_inputs <= 24 ? n_inputs : 0);
            assert_int_equal(count_boxes(&fold, AMP_FOLD_OUTPUT), n_outputs <= 24 ? n_outputs : 0);
            assert_int_equal(count_boxes(&fold, AMP_FOLD_NODES), n_outputs);
            amp_arena_destroy(s.arena);
        }
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
    assert_laid_out(&fold, &layout, 100, 10);
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
            bool is_source = seed % 3 == 2 && draw % 5 == 0;
            values[count] = add_node(&s, is_source ? "RandomNormal" : "Add", name,
                                     is_source ? AMP_NONE : picks[0],
                                     is_source ? AMP_NONE : picks[1], AMP_FLOAT);
            count++;
        }
        struct amp_fold fold = amp_fold_graph(s.model, seed % 2 == 0 ? 200 : 15, s.arena);
        struct amp_layout layout = amp_layout_fold(&fold, 100, 10, s.arena);
        assert_folded(&s, &fold, seed % 2 == 0 ? 200 : 15, count - 2);
        assert_laid_out(&fold, &layout, 100, 10);
        amp_arena_destroy(s.arena);
    }
}

/* ---- html tuning ----------------------------------------------------------------------------- */

/* What a search came to as a section of a page: well-formed, self-contained, and what it says. */

enum { UNITS = 30, TRIALS = 5 };

/* A search made up, with what it points to. */
struct made {
    struct amp_unit units[UNITS];
    uint32_t nodes[2];
    struct amp_problem_noise noises[UNITS];
    struct amp_problem problem;
    struct amp_strategy strategy;
    bool keeps[TRIALS][UNITS];
    struct amp_trial trials[TRIALS], *items[TRIALS];
    double removes[UNITS];
    struct amp_tuning tuning;
};

static double power_of(double decibels)
{
    return pow(10, -decibels / 10);
}

/* Trial NUMBER, which keeps the first N_KEPT units. */
static void add_trial(struct made *made, size_t number, const char *phase, size_t n_kept)
{
    struct amp_trial *trial = &made->trials[number];
    for (size_t u = 0; u < n_kept; u++)
        made->keeps[number][u] = true;
    *trial = (struct amp_trial){.number = number,
                                .phase = phase,
                                .keeps = made->keeps[number],
                                .loss = amp_problem_loss(&made->problem, made->keeps[number]),
                                .power = amp_problem_power(&made->problem, made->keeps[number]),
                                .measured = (double)NAN,
                                .score = (double)NAN,
                                .seconds = 0.25};
    made->items[number] = trial;
}

static void judge(struct made *made, size_t number, enum amp_trial_verdict verdict,
                  const char *reason)
{
    struct amp_trial *trial = &made->trials[number];
    trial->verdict = verdict;
    trial->measured = trial->power * 1.25;
    snprintf(trial->reason, sizeof trial->reason, "%s", reason);
}

static void make_problem(struct made *made)
{
    for (size_t u = 0; u < UNITS; u++) {
        made->units[u] = (struct amp_unit){.name = "node '</svg><script>' & co",
                                           .op = "<b>",
                                           .nodes = made->nodes,
                                           .n_nodes = 2,
                                           .loss = 0.0025};
        made->noises[u] =
            (struct amp_problem_noise){(uint32_t)u, (uint32_t)u, power_of(30 + (double)u / 2)};
        made->removes[u] = made->noises[u].power;
    }
    made->units[3].name = "node 'conv3' (Conv-3)";
    made->problem = (struct amp_problem){.units = made->units,
                                         .n_units = UNITS,
                                         .noises = made->noises,
                                         .n_noises = UNITS,
                                         .floor = power_of(90),
                                         .base = 0.0625,
                                         .origin = "measured <here>"};
}

/* A search of five trials, the fourth of which is the answer. */
static void make(struct made *made)
{
    static const char *const phases[] = {"all low", "bracket", "bracket", "shrink", "shrink"};
    static const size_t n_kept[] = {0, 8, 28, 24, 23};
    memset(made, 0, sizeof *made);
    make_problem(made);
    for (size_t i = 0; i < TRIALS; i++)
        add_trial(made, i, phases[i], n_kept[i]);
    judge(made, 0, AMP_TRIAL_MISSED, "output 'y</text>': snr 21.9 dB < 38 dB");
    judge(made, 1, AMP_TRIAL_UNSURE, "the command cannot tell");
    judge(made, 2, AMP_TRIAL_MET, "");
    judge(made, 3, AMP_TRIAL_MET, "");
    judge(made, 4, AMP_TRIAL_MISSED, "snr 37.6 dB < 38 dB");
    made->strategy = (struct amp_strategy){.name = "min-cut", .text = "by prices"};
    made->tuning =
        (struct amp_tuning){.problem = &made->problem,
                            .strategy = &made->strategy,
                            .trials = {.items = made->items, .count = TRIALS, .n_replayed = 2},
                            .costs = {.unit = AMP_COSTS_TIME},
                            .removes = made->removes,
                            .answer = &made->trials[3],
                            .budget = power_of(38),
                            .is_minimal = true,
                            .n_nodes = 71,
                            .plain_runs = 31.5,
                            .seconds = 12.5};
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The page of TUNING alone, to be freed; it is well-formed and needs nothing else. */
static char *page_of(const struct amp_tuning *tuning)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_html *html = amp_html_create("a search");
    amp_html_tuning(html, tuning);
    assert_int_equal(amp_html_write(html, "page.html", &err), AMP_OK);
    amp_html_destroy(html);
    assert_xml("page.html");
    char *text = read_text("page.html");
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "href"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "nan"));
    return text;
}

/* TEXT is the member `page` of the case NAME in tests/cli. */
static void assert_page(const char *name, const char *text)
{
    char path[SCRATCH_MAX];
    const char *cases = getenv("CASES");
    if (cases == NULL)
        skip();
    snprintf(path, sizeof path, "%s/cli/%s/page", cases, name);
    char *expected = read_text(path);
    if (strcmp(text, expected) != 0) {
        fputs(text, stderr);
        fail_msg("the page is not that of the case %s", name);
    }
    free(expected);
}

/* Parts of pages that a case has one after the other. */
struct parts {
    char *text;
    size_t size;
    FILE *file;
};

static void begin_parts(struct parts *parts)
{
    *parts = (struct parts){.text = NULL};
    parts->file = open_memstream(&parts->text, &parts->size);
    assert_non_null(parts->file);
}

static void end_parts(struct parts *parts, const char *name)
{
    fclose(parts->file);
    assert_page(name, parts->text);
    free(parts->text);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* What stands in each place: with an answer that is none of the ends, and where nothing meets the
   criterion. */
static void the_whole_section_is_as_reviewed(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.tuning.previews.count = 1;
    made.tuning.n_preview_samples = 2;
    char *text = page_of(&made.tuning);
    assert_page("page_tuned", strstr(text, "<main>"));
    free(text);
    make(&made);
    made.tuning.answer = NULL;
    made.tuning.nearest = &made.trials[0];
    made.tuning.budget = power_of(95);
    made.problem.base = 0;
    made.tuning.trials.n_replayed = 0;
    made.trials[2].score = 0.5;
    text = page_of(&made.tuning);
    assert_page("page_not_tuned", strstr(text, "<main>"));
    free(text);
}

static void an_answer_is_told(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    char *text = page_of(&made.tuning);
    assert_says(text, "The criterion holds with 48 of 71 nodes in float32");
    assert_says(text, "These are 24 of the 30 units");
    assert_says(text, "Predicted: a loss of 96 % of the cost of a run with all low; all of them in "
                      "float32: a loss of 120 %.");
    assert_says(text, "Strategy <code>min-cut</code>: 5 trials, 2 of them from the log of an "
                      "earlier search; 12.5 s in all; finding the noise took the time of 31.5 "
                      "plain runs; costs: measured &lt;here&gt;; the answer is 1-minimal");
    assert_says(text, ">criterion: 38.0 dB or more<");
    assert_says(text, "all float32: 120 %, 90.0 dB");
    assert_says(text, "answer: trial 3, 96 %, ");
    assert_says(text, "What remains in float32, that first which most noise hangs on: 20 of 24");
    assert_says(text, "conv3&#39; (Conv-3)</td>");
    free(text);
}

static void each_trial_has_a_row_and_two_marks(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    char *text = page_of(&made.tuning);
    assert_int_equal(count_of(text, "d=\"M"), count_of(text, "<path "));
    assert_int_equal(count_of(text, "<path class=\"end\""), TRIALS + 1);
    assert_int_equal(count_of(text, "<path class=\"solidgood\""), 2 + 1);
    assert_int_equal(count_of(text, "<path class=\"solidbad\""), 2 + 1);
    assert_int_equal(count_of(text, "<path class=\"solidother\""), 1 + 1);
    assert_int_equal(count_of(text, "<path class=\"ring\""), 1 + 1);
    assert_says(text, "<td class=\"n\">answer: 3</td><td>shrink</td><td class=\"n\">48</td>"
                      "<td class=\"n\">24</td><td class=\"n\">96</td>");
    assert_says(text, "snr 37.6 dB &lt; 38 dB</td><td class=\"n\">0.25</td>");
    assert_null(strstr(text, "score"));
    free(text);
}

static void scores_have_a_column(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.trials[2].score = 0.875;
    made.tuning.budget = (double)NAN;
    for (size_t i = 0; i < TRIALS; i++)
        made.trials[i].measured = (double)NAN;
    char *text = page_of(&made.tuning);
    assert_says(text, "score, higher is better");
    assert_says(text, "<td class=\"n\">0.875</td>");
    assert_null(strstr(text, "criterion: "));
    assert_int_equal(count_of(text, "<path class=\"solidgood\""), 2 + 1);
    free(text);
}

static void what_was_not_met_is_told(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.tuning.answer = NULL;
    made.tuning.nearest = &made.trials[4];
    made.tuning.budget = power_of(95);
    made.trials[0].measured = (double)INFINITY;
    char *text = page_of(&made.tuning);
    assert_says(text, "Nothing that was tried meets the criterion");
    assert_says(text, "The nearest is trial 4 (shrink): ");
    assert_says(text, "With all units in float32, 90.0 dB are predicted, and the criterion is "
                      "95.0 dB");
    assert_says(text, "nearest: trial 4, 92 %, ");
    assert_says(text, "\xe2\x9c\x97 lost</td>");
    assert_says(text, "What the nearest trial keeps in float32");
    assert_null(strstr(text, "minimal"));
    assert_null(strstr(text, "<path class=\"ring\""));
    free(text);
}

static void nothing_tried_is_a_page(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.tuning.answer = NULL;
    made.tuning.trials = (struct amp_trials){.count = 0};
    char *text = page_of(&made.tuning);
    assert_says(text, "Nothing that was tried meets the criterion");
    assert_null(strstr(text, "<table"));
    free(text);
}

static void no_units_are_a_page(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.problem = (struct amp_problem){.n_units = 0};
    add_trial(&made, 0, "all low", 0);
    judge(&made, 0, AMP_TRIAL_MET, "");
    made.tuning.trials = (struct amp_trials){.items = made.items, .count = 1};
    made.tuning.answer = &made.trials[0];
    made.tuning.removes = NULL;
    made.tuning.costs = (struct amp_costs){.unit = AMP_COSTS_TIME};
    made.tuning.plain_runs = 0;
    char *text = page_of(&made.tuning);
    assert_says(text, "All low meets the criterion");
    assert_says(text, "<code>min-cut</code>: 1 trial; 12.5 s in all.");
    assert_null(strstr(text, "redicted"));
    assert_null(strstr(text, "<figure"));
    assert_null(strstr(text, "What remains"));
    free(text);
    made.tuning.plain_runs = 0.5;
    made.tuning.trials.n_replayed = 1;
    text = page_of(&made.tuning);
    assert_says(text, "1 trial, 1 of them from the log of an earlier search; 12.5 s in all; "
                      "finding the noise took the time of 0.5 plain runs.");
    free(text);
    made.tuning.previews.count = made.tuning.n_preview_samples = 1;
    text = page_of(&made.tuning);
    assert_says(text, "; 1 choice previewed on 1 sample; finding the noise and the previews took "
                      "the time of 0.5 plain runs.");
    free(text);
}

static void previews_are_counted(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.tuning.previews.count = 9;
    made.tuning.n_preview_samples = 1;
    char *text = page_of(&made.tuning);
    assert_says(text,
                "; 9 choices previewed on 1 sample; finding the noise and the previews took the "
                "time of 31.5 plain runs");
    free(text);
}

static void nodes_are_counted_as_they_are(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    for (size_t u = 0; u < UNITS; u++)
        made.units[u].loss = 2;
    for (size_t i = 0; i < TRIALS; i++)
        made.trials[i].loss = amp_problem_loss(&made.problem, made.keeps[i]);
    made.tuning.costs = (struct amp_costs){.unit = AMP_COSTS_NODES};
    made.problem.base = 0;
    made.problem.origin = "counted";
    char *text = page_of(&made.tuning);
    assert_says(text, "predicted loss in nodes: less is better");
    assert_says(text, "answer: trial 3, 48 nodes, ");
    free(text);
}

static void gains_are_called_so(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.trials[3].loss = -0.0125;
    made.tuning.budget = 0; /* no error at all: no height of the picture */
    char *text = page_of(&made.tuning);
    assert_null(strstr(text, "criterion: "));
    assert_says(text, "Predicted: a gain of 20 % of the cost");
    assert_says(text, "answer: trial 3, -20 %, ");
    free(text);
}

/* Marks and rows for 1200 trials; the answer has a row wherever it is. */
static void trials_are_left_out(void **state)
{
    enum { MANY = 1202 };
    static struct amp_trial *items[MANY];
    struct made made;
    (void)state;
    make(&made);
    for (size_t i = 0; i < MANY; i++)
        items[i] = made.items[i == 0 ? 0 : 2];
    made.tuning.trials.items = items;
    for (size_t count = MANY - 2; count <= MANY; count++) {
        made.tuning.answer = count < MANY ? &made.trials[0] : &made.trials[3];
        items[MANY - 1] = &made.trials[3];
        made.tuning.trials.count = count;
        char *text = page_of(&made.tuning);
        assert_int_equal(count_of(text, "\xe2\x9c\x93 met</td>"), count < MANY ? 1199 : 1200);
        assert_int_equal(count_of(text, "<td class=\"n\">answer: 3</td>"), count == MANY);
        assert_int_equal(count_of(text, "<path class=\"lineother\" "), 1200);
        assert_int_equal(count_of(text, "<path class=\"end\" "), 1200 + 1);
        assert_int_equal(count_of(text, "trials the first 1200 and the answer are shown"),
                         count > 1200);
        if (count == 1201)
            assert_says(text, "<p>Of 1201 trials the first 1200 and the answer are shown; "
                              "<code>--tune-log</code> has all.</p>\n");
        free(text);
    }
}

/* Units of equal noise are in their order; those that are fine, of two lower dtypes, are none. */
static void units_that_remain_have_rows(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    for (size_t u = 0; u < UNITS; u++) {
        made.units[u].name = u % 2 == 0 ? "even" : "odd";
        made.units[u].op = "Op";
        made.removes[u] = u < 3 ? 1.5 : u < 5 ? 0 : u < 7 ? 0.0625 : 0.001;
    }
    made.units[6].is_fine = true;
    for (size_t n = 19; n <= 22; n++) {
        made.tuning.answer = &made.trials[4];
        for (size_t u = 0; u < UNITS; u++)
            made.keeps[4][u] = u < n;
        char *text = page_of(&made.tuning), expected[128];
        size_t kept = n - 1;
        snprintf(expected, sizeof expected,
                 "What remains in float32, that first which most noise hangs on: %zu of %zu units.",
                 kept < 20 ? kept : 20, kept);
        assert_says(text, expected);
        const char *table = strstr(text, expected);
        assert_int_equal(count_of(table, "<td>Op</td>"), kept < 20 ? kept : 20);
        assert_says(table,
                    "<tbody>\n<tr><td>even</td><td>Op</td><td class=\"n\">2</td><td class=\"n\">4"
                    "</td><td class=\"n\">0 dB or less</td></tr>\n<tr><td>odd</td>");
        assert_int_equal(count_of(table, "<td class=\"n\">12.0 dB</td>"), 1);
        assert_int_equal(count_of(table, "<td class=\"n\">no error</td>"), kept <= 20 ? 2 : 1);
        free(text);
    }
}

/* Costs have three digits, or all of a whole number; errors have words where they are no decibels.
 */
static void costs_and_errors_have_their_forms(void **state)
{
    static const struct {
        double loss, measured;
        const char *cost, *error;
    } rows[] = {{0.0625, 1e-4, "100", "40.0 dB"},
                {0.06249, 1, "100", "0 dB or less"},
                {0.0125, 0.99, "20", "0.0 dB"},
                {0.01254, 0, "20.1", "no error"},
                {0.7716, (double)INFINITY, "1235", "\xe2\x9c\x97 lost"},
                {-0.0625, (double)NAN, "-100", "\xe2\x80\x93"}};
    struct made made;
    (void)state;
    for (size_t r = 0; r < AMP_COUNT(rows); r++) {
        make(&made);
        made.trials[4].loss = rows[r].loss;
        made.trials[4].measured = rows[r].measured;
        char *text = page_of(&made.tuning), expected[256];
        snprintf(expected, sizeof expected, "<td class=\"n\">23</td><td class=\"n\">%s</td>",
                 rows[r].cost);
        assert_says(text, expected);
        snprintf(expected, sizeof expected, "<td class=\"n\">%s</td><td>\xe2\x9c\x97 missed: snr",
                 rows[r].error);
        assert_says(text, expected);
        free(text);
    }
}

/* Costs are no share of a run that costs nothing. */
static void costs_of_nothing_are_no_share(void **state)
{
    struct made made;
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        make(&made);
        made.problem.base = i == 0 ? 0.0625 : 0;
        amp_report_tuning(file, &made.tuning, 0);
        fclose(file);
        assert_int_equal(count_of(text, " more than all low (96.0 % of 62.5 ms), predicted"),
                         i == 0);
        assert_int_equal(count_of(text, " more than all low, predicted"), i == 1);
        free(text);
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

/* What a bench came to: times that are made up, of more nodes and operators than are shown. */

enum { OPS = 17, BENCH_NODES = 27, SIDES = 3, RUNS = 2 };

/* 90 letters, longer than any place for a name. */
static const char long_text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "zyxwvutsrqponmlkjihgfedcbaZY";

/* A model of BENCH_NODES nodes, among whose operators Conv, MatMul and Gemm are products. */
static struct amp_model *make_timed(struct sketch *s)
{
    static const char *const ops[OPS] = {"Relu", "Add",     "Mul",     "Sub",  "Div",  "Tanh",
                                         "Exp",  "Cast",    long_text, "Conv", "Gemm", "MatMul",
                                         "Tile", "Softmax", "Neg",     "Pad",  "Where"};
    uint32_t at = add_input(s, "x");
    for (int i = 0; i < BENCH_NODES; i++) {
        char name[128] = "";
        if (i != 4)
            snprintf(name, sizeof name, "body.%d/node%s", i, i % 17 == 9 ? long_text : "");
        at = add_node(s, ops[i % OPS], name, at, AMP_NONE, AMP_FLOAT);
    }
    return s->model;
}

/* Adds two primitives of node 0, two alike of others, and reorders of a node and of the cast. */
static void add_primitives(struct amp_profile *profile, const struct amp_model *model, double speed)
{
    static const struct {
        uint32_t node;
        double seconds;
        const char *kind, *implementation, *layouts;
    } made[] = {{0, 0.002, "reorder", "strided copy", "a -> b"},
                {0, 0.016, "convolution", "direct", "a -> b"},
                {1, 0.008, "matmul", "gemm", "b"},
                {2, 0.0625, "matmul", "gemm", "b"},
                {2, 0.001, "matmul", "gemm", "c"},
                {2, 0.003, "matmul", "reference", "c"},
                {7, 0.032, "reorder", "strided copy", "a -> b"}};
    const dnnl_dims_t dims = {1};
    dnnl_memory_desc_t desc;
    size_t count;
    dnnl_memory_desc_create_with_tag(&desc, 1, dims, dnnl_f32, dnnl_a);
    for (size_t i = 0; i < AMP_COUNT(made); i++)
        amp_profile_note_reorder(
            profile, &(struct amp_ctx){.model = model, .node = &model->nodes[made[i].node]},
            &(struct amp_profile_reorder){.id = &made[i], .from = desc, .to = desc},
            RUNS * made[i].seconds / speed);
    dnnl_memory_desc_destroy(desc);
    struct amp_profile_primitive *all =
        (struct amp_profile_primitive *)(uintptr_t)amp_profile_primitives(profile, &count);
    assert_int_equal(count, AMP_COUNT(made));
    for (size_t i = 0; i < count; i++) {
        all[i].calls = RUNS * (i + 1);
        all[i].kind = made[i].kind;
        snprintf(all[i].implementation, sizeof all[i].implementation, "%s", made[i].implementation);
        snprintf(all[i].layouts, sizeof all[i].layouts, "%s", made[i].layouts);
    }
}

/* The profile of a side that is SPEED times as fast as the first. */
static struct amp_profile *make_profile(const struct amp_model *model, double speed)
{
    size_t count;
    struct amp_profile *profile = amp_profile_create();
    for (uint32_t id = 0; id < BENCH_NODES; id++)
        amp_profile_credit(profile, &(struct amp_ctx){.model = model, .node = &model->nodes[id]},
                           RUNS * 0.001 * (id + 1) / speed);
    struct amp_profile_node *nodes =
        (struct amp_profile_node *)(uintptr_t)amp_profile_nodes(profile, &count);
    assert_int_equal(count, BENCH_NODES);
    for (uint32_t id = 0; id < BENCH_NODES; id++) {
        nodes[id].calls = (size_t)RUNS * (1 + id % 2);
        nodes[id].flops = id % OPS >= 9 && id % OPS < 12 ? RUNS * 1e7 * (id + 1) : 0;
        if (id + 1 == BENCH_NODES) /* the one of the most time is far from the others */
            nodes[id].flops *= 16;
        nodes[id].bytes = RUNS * 1e5 * (1 + id % 5);
        snprintf(nodes[id].way, sizeof nodes[id].way, "way %u", id % 3);
    }
    add_primitives(profile, model, speed);
    return profile;
}

/* All that is said of BENCH: the parts of its page, lines of text, and JSON, for which profiles
   behind the first are taken away. To be freed. */
static char *said_of(const struct amp_bench *bench)
{
    char *all = NULL;
    size_t size = 0;
    struct amp_error err = {.status = AMP_OK};
    struct amp_html *html = amp_html_create("times");
    FILE *file = open_memstream(&all, &size);
    amp_html_times(html, bench);
    amp_html_operator_times(html, bench);
    amp_html_roofline(html, bench);
    amp_html_node_times(html, bench);
    assert_int_equal(amp_html_write(html, "page.html", &err), AMP_OK);
    amp_html_destroy(html);
    assert_xml("page.html");
    char *text = read_text("page.html");
    fputs(strstr(text, "<main>"), file);
    amp_report_bench(file, "a/m.onnx", bench);
    amp_report_profile(file, &bench->sides[0], RUNS, 0);
    amp_report_profile(file, &bench->sides[1], RUNS, 1);
    for (size_t i = 1; i < bench->n_sides; i++)
        bench->sides[i].profile = NULL;
    char *json = amp_json_dump(amp_json_bench("a/m.onnx", bench), JSON_INDENT(1));
    fprintf(file, "%s\n", json);
    fclose(file);
    free(text);
    free(json);
    return all;
}

/* Of a clock that saw nothing pass there are no shares. */
static void no_times_have_no_shares(void **state)
{
    struct sketch s = sketch();
    struct amp_model *model = make_timed(&s);
    struct amp_bench_side side = {.dtype = AMP_FLOAT,
                                  .profile = make_profile(model, (double)INFINITY)};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    amp_report_profile(file, &side, RUNS, 0);
    char *json = amp_json_dump(amp_json_profile(&side, RUNS), JSON_COMPACT);
    fprintf(file, "%s\n", json);
    fclose(file);
    assert_says(text, "fp32: 0.000 ms in nodes; reorders 0.0 %, casts 0.0 %\n");
    assert_says(text, "      0.000   0.0      1        -  Relu body.0/node  way 0\n");
    assert_says(text, "{\"ms\":0.0,\"reorder_share\":null,\"cast_share\":null,");
    assert_null(strstr(text, "nan"));
    free(text);
    free(json);
    amp_profile_destroy(side.profile);

    /* Nodes that were not run take no time. */
    text = NULL;
    side.profile = amp_profile_create();
    amp_profile_credit(side.profile, &(struct amp_ctx){.model = model, .node = &model->nodes[2]},
                       RUNS * 0.004);
    file = open_memstream(&text, &size);
    amp_report_profile(file, &side, RUNS, 0);
    fclose(file);
    assert_says(text, "fp32: 4.000 ms in nodes; ");
    free(text);
    amp_profile_destroy(side.profile);
    amp_arena_destroy(s.arena);
}

static void times_stand_in_their_places(void **state)
{
    static const double speeds[SIDES] = {1, 4, 2};
    struct sketch s = sketch();
    struct amp_model *model = make_timed(&s);
    struct amp_bench_side sides[SIDES] = {
        {.dtype = AMP_FLOAT, .roofline = AMP_ROOFLINE_FLOPS / 5e11, .ratio = 0.5, .peak_bytes = 1},
        {.dtype = AMP_BFLOAT16,
         .roofline = AMP_ROOFLINE_FLOPS / 4e12,
         .ratio = 0.25,
         .peak_bytes = 2500000,
         .widened = 3},
        {.dtype = AMP_FLOAT16, .peak_bytes = 0}};
    struct amp_profile *profiles[SIDES];
    struct amp_bench bench = {.sides = sides, .n_sides = SIDES, .n_runs = RUNS, .flops = 1e9};
    (void)state;
    for (int i = 0; i < SIDES; i++) {
        sides[i].model = model;
        sides[i].median = 0.5 / speeds[i];
        sides[i].minimum = 0.4375 / speeds[i];
        sides[i].profile = profiles[i] = make_profile(model, speeds[i]);
    }
    char *text = said_of(&bench);
    assert_page("page_times", text);
    free(text);
    for (int i = 0; i < SIDES; i++)
        amp_profile_destroy(profiles[i]);
    amp_arena_destroy(s.arena);
}

/* ---- noise ----------------------------------------------------------------------------------- */

/* What is said of sources of error that are made up: more groups than are shown, two of which have
   several sources. */

enum { SOURCES = 26, GROUPS = 23 };

static struct amp_noise make_noise(struct amp_noise_source sources[SOURCES])
{
    static const char *const ops[] = {"Conv", "", "MatMul", "Add"};
    static const char *const names[SOURCES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                               "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                               "s", "t", "u", "v", "w", "x", "y", "z"};
    struct amp_noise noise = {.sources = sources,
                              .n_sources = SOURCES,
                              .n_groups = GROUPS,
                              .joint = power_of(41),
                              .measured = power_of(40),
                              .chance = 1.5,
                              .n_outputs = 2,
                              .n_counted = 2,
                              .n_samples = 9,
                              .n_probed = 4,
                              .plain_runs = 17.5};
    for (size_t i = 0; i < SOURCES; i++) {
        /* Groups 3 and 7 have three and two sources. */
        size_t group = i < 4 ? i : i < 6 ? 3 : i < 10 ? i - 2 : i - 3;
        sources[i] = (struct amp_noise_source){.kind = (enum amp_noise_kind)(i % 4),
                                               .name = names[i],
                                               .node = i % 4 == 1 ? "" : "node 'n' (Op-1)",
                                               .op_type = ops[i % 4],
                                               .dtype = i % 3 == 0 ? AMP_FLOAT16 : AMP_BFLOAT16,
                                               .group = group,
                                               .power = ldexp(1, -16) * (double)(i % 13 + 1)};
        noise.predicted += sources[i].power;
    }
    return noise;
}

/* The part of a page, the lines and the JSON of NOISE, to be freed. */
static char *said_of_noise(const struct amp_noise *noise)
{
    char *all = NULL;
    size_t size = 0;
    struct amp_error err = {.status = AMP_OK};
    struct amp_html *html = amp_html_create("noise");
    FILE *file = open_memstream(&all, &size);
    amp_html_findings(html, NULL, noise);
    amp_html_noise(html, noise);
    assert_int_equal(amp_html_write(html, "page.html", &err), AMP_OK);
    amp_html_destroy(html);
    assert_xml("page.html");
    char *text = read_text("page.html"), *json = amp_json_dump(amp_json_noise(noise), JSON_COMPACT);
    fprintf(file, "%s%s\n", strstr(text, "<main>"), json);
    amp_report_noise(file, noise);
    fclose(file);
    free(text);
    free(json);
    return all;
}

static void sources_stand_in_their_places(void **state)
{
    struct amp_noise_source sources[SOURCES];
    struct amp_noise noise = make_noise(sources);
    (void)state;
    char *text = said_of_noise(&noise);
    assert_page("page_noise", text);
    free(text);
    noise.n_sources = 6;
    noise.n_groups = 4;
    noise.n_lost = 3;
    noise.n_nonfinite = 1;
    noise.n_selected = 1;
    noise.n_counted = 1;
    noise.n_samples = noise.n_probed = 1;
    sources[1].n_lost = 1;
    for (size_t i = 3; i < 6; i++)
        sources[i].n_lost = 2;
    text = said_of_noise(&noise);
    assert_page("page_noise_lost", text);
    int n_bars = (int)count_of(text, "<rect ");
    free(text);
    /* A source that adds no error, but has elements lost, has its bar too. */
    sources[1].power = 0;
    text = said_of_noise(&noise);
    assert_int_equal(count_of(text, "<rect "), n_bars);
    free(text);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What commands print of results that are made up. */

static void put_search(FILE *file, const struct amp_tuning *tuning)
{
    char *json = amp_json_dump(amp_json_tuning(tuning), JSON_COMPACT);
    for (int verbosity = 0; verbosity < 2; verbosity++)
        amp_report_tuning(file, tuning, verbosity);
    fprintf(file, "%s\n", json);
    free(json);
}

/* Searches with an answer and without one, with one lower dtype and with two, by time, bytes and
   nodes. */
static void put_searches(FILE *file)
{
    struct made made;
    make(&made);
    put_search(file, &made.tuning);
    made.tuning.previews.count = 1;
    made.tuning.n_preview_samples = 2;
    made.tuning.is_minimal = false;
    made.tuning.costs.unit = AMP_COSTS_BYTES;
    made.tuning.answer = &made.trials[0];
    put_search(file, &made.tuning);
    made.tuning.previews.count = 2;
    made.tuning.n_preview_samples = 1;
    for (size_t u = 0; u < 6; u += 2)
        made.units[u].is_fine = true;
    for (size_t u = 20; u < UNITS; u += 2)
        made.units[u].is_fine = true;
    made.tuning.answer = NULL;
    made.tuning.nearest = &made.trials[1];
    made.trials[1].score = -0.5;
    put_search(file, &made.tuning);
    made.tuning.plain_runs = made.tuning.previews.count = 0;
    made.tuning.trials.n_replayed = 0;
    made.tuning.costs.unit = AMP_COSTS_NODES;
    made.tuning.answer = &made.trials[3];
    put_search(file, &made.tuning);
    made.trials[0].loss = 0.005; /* costs are what is more than the first has */
    put_search(file, &made.tuning);
    made.tuning.trials.count = 1;
    made.tuning.previews.count = 1;
    made.tuning.answer = &made.trials[0];
    put_search(file, &made.tuning);
}

/* Why VALIDATION is not within tolerance. */
static void put_reason(FILE *file, const struct amp_validation *validation)
{
    json_t *json = amp_json_validation(validation);
    fprintf(file, "%s\n", json_string_value(json_object_get(json, "reason")));
    json_decref(json);
}

/* Validations within and outside, with one output and with two, with and without samples. */
static void put_validations(FILE *file)
{
    struct amp_output_check outputs[2];
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation = made_up(outputs, &task, &eval);
    outputs[1] = outputs[0];
    outputs[1].name = "z";
    outputs[1].is_outside = false;
    outputs[1].metrics = (struct amp_metrics){.count = 0};
    amp_report_validation(file, &validation, 0);
    amp_report_validation(file, &validation, 1);
    validation.n_outputs = 2;
    validation.samples = 1;
    amp_report_validation(file, &validation, 0);
    amp_report_validation(file, &validation, 1);
    outputs[0].is_outside = false;
    put_reason(file, &validation);
    task.is_outside = false;
    snprintf(eval.reason, sizeof eval.reason, "worse");
    put_reason(file, &validation);
    validation.step_reason = "the step";
    put_reason(file, &validation);
    for (size_t n = 0; n < 3; n++) {
        amp_report_widened(file, n);
        amp_report_squeezed(file, n);
        amp_report_integers(file, n);
    }
    validation.n_outputs = 0;
    validation.samples = 0;
    validation.is_within = true;
    validation.eval = NULL;
    validation.task_bounds.items[0].is_set = false;
    amp_report_validation(file, &validation, 1);
}

/* Steps of training: none, one, several, and what they are before and after a conversion. */
static void put_training(FILE *file)
{
    double loss[] = {2.5, 1.25}, scale[] = {65536, 32768}, skipped[] = {0, 1};
    struct amp_train_series series[] = {
        {"loss", 0, loss}, {"scale", 1, scale}, {"skipped", 2, skipped}};
    struct amp_training_result result = {.history = {.series = series,
                                                     .n_series = 3,
                                                     .n_steps = 2,
                                                     .seconds = 0.25,
                                                     .peak_bytes = 3000},
                                         .n_variables = 4};
    struct amp_step_check check = {.history = {result.history, result.history},
                                   .n_variables = 4,
                                   .cosine = 0.5,
                                   .length = 0.75};
    struct amp_error none = {.status = AMP_OK}, failed = {.status = AMP_MODEL, .text = "why"};
    struct amp_train_series other = {"loss", 0, skipped};
    check.history[1].series = &other;
    check.history[1].n_series = 1;
    for (size_t n = 0; n <= 2; n++) {
        result.history.n_steps = n;
        amp_report_training(file, &result, 1);
        amp_report_training(file, &result, 2);
    }
    result.history.n_series = 1;
    amp_report_training(file, &result, 0);
    for (int i = 0; i < 6; i++) {
        check.is_skipped = i == 1;
        check.cosine = i >= 2 ? (double)NAN : 0.5;
        check.is_outside = i == 3;
        check.history[0].n_series = i == 4 ? 0 : 3;
        amp_report_step(file, &check, i == 5 ? &failed : &none);
        char *json = amp_json_dump(amp_json_step(&check, i == 5 ? &failed : &none), JSON_COMPACT);
        fprintf(file, "%s\n", json);
        free(json);
    }
}

/* Ranges that were seen in data, at random and not at all. */
static void put_ranges(FILE *file)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_ranges *ranges = amp_ranges_create(arena);
    amp_report_calibration(file, "m.onnx", ranges);
    amp_ranges_entry(ranges, "none");
    amp_ranges_entry(ranges, "most")->seen =
        (struct amp_range){.count = 2, .minimum = -65504, .maximum = 3};
    ranges->source = AMP_RANGES_DATA;
    ranges->n_samples = 1;
    amp_report_calibration(file, "m.onnx", ranges);
    amp_ranges_entry(ranges, "more")->seen = (struct amp_range){.count = 1, .maximum = 65536};
    amp_ranges_entry(ranges, "less")->seen = (struct amp_range){.count = 1, .minimum = -70000};
    ranges->source = AMP_RANGES_RANDOM;
    ranges->n_samples = 2;
    ranges->path = "r.json";
    amp_report_calibration(file, "m.onnx", ranges);
    amp_report_evidence(file, AMP_REASON_WEIGHT_FLUSH, 0.25, AMP_RANGES_DATA);
    amp_report_evidence(file, AMP_REASON_FLUSH, 0.25, AMP_RANGES_DATA);
    amp_report_evidence(file, AMP_REASON_MASK, (double)INFINITY, AMP_RANGES_DATA);
    char *json = amp_json_dump(amp_json_ranges(ranges), JSON_COMPACT);
    fprintf(file, "\n%s\n", json);
    free(json);
    amp_arena_destroy(arena);
}

static void lines_say_each_number_by_its_name(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    put_searches(file);
    put_validations(file);
    put_training(file);
    put_ranges(file);
    fclose(file);
    assert_page("page_lines", text);
    free(text);
}

/* ---- parts of pages -------------------------------------------------------------------------- */

/* What pages say of results that are made up, part by part. */

/* What HTML, which is destroyed, has below its title: to be freed. */
static char *written_html(struct amp_html *html)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_html_write(html, "page.html", &err), AMP_OK);
    amp_html_destroy(html);
    assert_xml("page.html");
    char *text = read_text("page.html"), *part = strdup(strstr(text, "</h1>") + 6);
    free(text);
    return part;
}

/* The part of TEXT between BEGIN and END, of which there are some, to be freed. */
static char *part_of(const char *text, const char *begin, const char *end)
{
    const char *first = strstr(text, begin);
    assert_non_null(first);
    const char *last = strstr(first, end);
    assert_non_null(last);
    return strndup(first, (size_t)(last - first));
}

static void assert_part(const char *text, const char *begin, const char *end, const char *expected)
{
    char *part = part_of(text, begin, end);
    assert_string_equal(part, expected);
    free(part);
}

static char *findings_of(const struct amp_layers *layers)
{
    struct amp_html *html = amp_html_create("findings");
    amp_html_findings(html, layers, NULL);
    return written_html(html);
}

static void assert_findings(const struct amp_layers *layers, const char *expected)
{
    char *text = findings_of(layers);
    assert_string_equal(text, expected);
    free(text);
}

#define FINDINGS_BEGIN "<ol class=\"findings\">\n"
#define FINDINGS_END "</ol>\n</main>\n</body>\n</html>\n"

/* Each finding has its sentence, none without its reason. */
static void findings_have_reasons(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    (void)state;
    make_layers(&layers, items);
    layers.count = 3;
    for (size_t i = 0; i < 3; i++) {
        items[i].has_local = i == 1;
        items[i].dtype[1] = i == 2 ? AMP_FLOAT : AMP_FLOAT16;
        items[i].range[0] = (struct amp_range){.count = 9, .maximum = 65504};
        items[i].range[1] = (struct amp_range){.count = 9, .nan = 1 + i, .infinite = 4 + i};
    }
    items[1].error = 0.02;
    items[1].before = 0.01;
    static const char local[] = "<li>By itself, given the reference's values, node "
                                "<strong><code>node</code></strong> (Op, fp16) is the least exact: "
                                "40.0 dB. To keep it in float32: <code><span class=\"k\">--node"
                                "</span> 'node=fp32'</code>.</li>\n";
    char expected[4096];
    snprintf(expected, sizeof expected, FINDINGS_BEGIN "%s" FINDINGS_END, local);
    assert_findings(&layers, expected);

    /* A jump of 6 dB is one, one of 2.9 dB is not; what is behind it, is said once. */
    layers.largest_jump = 1;
    snprintf(expected, sizeof expected,
             FINDINGS_BEGIN "<li>The error grows most at node <strong><code>node</code></strong> "
                            "(Op, fp16): what it takes has 40.0 dB, what it gives 34.0 dB. To keep "
                            "it in float32: <code><span class=\"k\">--node</span> "
                            "'node=fp32'</code>.</li>\n<li>By itself, given the "
                            "reference's values, node <strong><code>node</code></strong> (Op, "
                            "fp16) is the least exact: 40.0 dB.</li>\n" FINDINGS_END);
    assert_findings(&layers, expected);
    for (int i = 0; i < 4; i++) {
        items[1].error = i == 1 ? 0.0139 : i == 3 ? (double)INFINITY : 0.02;
        items[1].before = i == 0 ? 0 : i == 2 ? (double)INFINITY : 0.01;
        char *text = findings_of(&layers);
        assert_int_equal(count_of(text, "The error grows most"), i == 0);
        if (i == 0)
            assert_says(text, "what it takes has no error, what it gives 34.0 dB.");
        free(text);
    }
    layers.largest_jump = 0;
    items[0].error = 0.5;
    char *text = findings_of(&layers);
    assert_says(text, "The error grows most at the node that gives "
                      "<strong><code>other</code></strong> (Op, fp16): what it takes has no error, "
                      "what it gives 6.0 dB.</li>\n");
    assert_says(text, local);
    free(text);

    /* What is lost: whether the value is too large, or what is computed on the way. */
    layers.largest_jump = SIZE_MAX;
    items[1].has_local = false;
    layers.first_overflow = 1;
    assert_findings(
        &layers, FINDINGS_BEGIN
        "<li>The first infinity is given by node <strong><code>node</code></strong> (Op, fp16): 2 "
        "NaN and 5 infinite elements of 9. In the reference the value reaches "
        "<strong>65504</strong>; the largest float16 is 65504, so it is what is computed on the "
        "way "
        "that is too large. To keep it in float32: <code><span class=\"k\">--node</span> "
        "'node=fp32'</code>.</li>\n" FINDINGS_END);
    items[1].range[0].maximum = 70000;
    layers.first_nan = 1;
    assert_findings(
        &layers, FINDINGS_BEGIN
        "<li>The first infinity is given by node <strong><code>node</code></strong> (Op, fp16): 2 "
        "NaN and 5 infinite elements of 9. In the reference the value reaches "
        "<strong>70000</strong>; the largest float16 is 65504; nodes that take the value need "
        "float32 too. To keep it in float32: <code><span class=\"k\">--node</span> "
        "'node=fp32'</code>.</li>\n<li>In all, <strong>1 of 3 values</strong> are larger "
        "in "
        "the reference than float16 holds (see Ranges); bfloat16 would hold them.</li>"
        "\n" FINDINGS_END);
    items[1].has_local = true;
    items[1].local.stray = 1;
    text = findings_of(&layers);
    assert_null(strstr(text, "By itself"));
    free(text);
    items[1].has_local = false;
    items[1].range[0].maximum = 1;
    layers.first_nan = 2;
    text = findings_of(&layers);
    assert_says(text, "<li>The first NaN is given by the node that gives <strong><code>other</code>"
                      "</strong> (Op, fp32): 3 NaN and 6 infinite elements of 9. It comes behind "
                      "the first infinity, and most likely of it.</li>\n");
    free(text);
    layers.first_nan = 0;
    items[2].range[0].maximum = 1e39;
    items[0].dtype[1] = AMP_BFLOAT16;
    items[0].range[0].maximum = 3.4e38;
    text = findings_of(&layers);
    assert_says(text, "<li>The first NaN is given by the node that gives <strong><code>other</code>"
                      "</strong> (Op, bf16): 1 NaN and 4 infinite elements of 9. In the reference "
                      "the value reaches <strong>3.4e38</strong>; the largest bfloat16 is "
                      "3.39e38; nodes that take the value need float32 too.</li>\n"
                      "<li>In all, <strong>1 of 3 values</strong> are larger in the reference than "
                      "bfloat16 holds (see Ranges).</li>\n");
    free(text);
    layers.first_overflow = layers.first_nan = 2;
    items[0].range[0].maximum = 1;
    text = findings_of(&layers);
    assert_says(text, "<li>The first infinity is given by the node that gives <strong><code>other"
                      "</code></strong> (Op, fp32): 3 NaN and 6 infinite elements of 9.</li>\n");
    assert_null(strstr(text, "In all"));
    free(text);
}

/* Each metric that is shown has its column, and no other. */
static void metrics_have_columns(void **state)
{
    const struct amp_metric *metric;
    const struct amp_metrics metrics = metrics_of(1, 2);
    (void)state;
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++) {
        char column[128];
        struct amp_html *html = amp_html_create("metrics");
        amp_html_metrics_head(html, "caption", i % 2 == 0, UINT32_C(1) << i);
        amp_html_put(html, "<tr>");
        amp_html_metrics_cells(html, &metrics, UINT32_C(1) << i);
        amp_html_put(html, "</tr>\n");
        amp_html_table_end(html);
        char *text = written_html(html);
        snprintf(column, sizeof column, "<th scope=\"col\" class=\"n\">%s</th>",
                 metric->text.label);
        assert_says(text, column);
        assert_int_equal(count_of(text, "<th scope=\"col\" class=\"n\">"), 3);
        assert_int_equal(count_of(text, "<td class=\"n\">"), 3);
        assert_int_equal(count_of(text, "<th scope=\"col\">verdict</th>"), i % 2 == 0);
        free(text);
    }
}

static char *deviations_of(const struct amp_deviations *deviations)
{
    struct amp_html *html = amp_html_create("outputs");
    amp_html_deviations(html, "y", deviations);
    return written_html(html);
}

/* Errors by size as bars, each with its words; elements as dots, the worst with words. */
static void deviations_are_drawn(void **state)
{
    static const double reference[] = {0, 1, 2, 4, 8, 10},
                        converted[] = {0, 1, 1.75, 4.25, 8.5, 10};
    static struct amp_deviations deviations;
    struct amp_tensor from = number_of((double *)(uintptr_t)reference, 6),
                      to = number_of((double *)(uintptr_t)converted, 6);
    struct parts parts;
    (void)state;
    begin_parts(&parts);
    memset(&deviations, 0, sizeof deviations);
    amp_deviations_add(&deviations, &from, &to);
    char *text = deviations_of(&deviations);
    fputs(text, parts.file);
    assert_memory_equal(text, "<h3>Output <code>y</code></h3>\n<div class=\"pair\">\n", 48);
    assert_int_equal(count_of(text, "<rect "), 3);
    /* From 0.25 to 1 on the axis, decades from 0.1 to 1, -1 to 1 elements. */
    assert_says(text, "<title>1 elements are 0.25 to 0.5 too small</title>");
    assert_says(text, "<title>1 elements are 0.25 to 0.5 too large</title>");
    assert_says(text, "<title>1 elements are 0.5 to 1 too large</title>");
    assert_says(text, "<rect class=\"full\" x=\"239.2\" y=\"142.0\" width=\"132.7\" "
                      "height=\"118.0\">");
    assert_says(text, "<rect class=\"low\" x=\"239.2\" y=\"24.0\" width=\"132.7\" "
                      "height=\"118.0\">");
    assert_says(text, "<rect class=\"low\" x=\"372.8\" y=\"24.0\" width=\"132.7\" "
                      "height=\"118.0\">");
    assert_int_equal(count_of(text, "<rect class=\"low\""), 2);
    assert_says(text, "Errors by size. 3 of 6 elements have none.");
    assert_says(text, "<path class=\"dots low\" d=\"M62.0 260.0h0M106.4 236.4h0");
    assert_says(text, "<title>element 4: 8 became 8.5</title>");
    assert_says(text, "<title>element 2: 2 became 1.75</title>");
    assert_int_equal(count_of(text, "<title>element "), 3);
    assert_says(text, "Each dot is an element, 6 of 6; on the line it is as in the reference. "
                      "Triangles: the 3 largest errors, the largest 8.5 in place of 8.<");
    assert_null(strstr(text, "infinite"));
    free(text);

    deviations.seen = 7;
    text = deviations_of(&deviations);
    assert_says(text, "<strong>1 of 7 elements are NaN or infinite</strong>");
    free(text);
    deviations.seen = 8;
    text = deviations_of(&deviations);
    fputs(text, parts.file);
    assert_says(text, "<p><strong>2 of 8 elements are NaN or infinite</strong> in one of the "
                      "models; the pictures have the others.</p>\n<div class=\"pair\">");
    free(text);
    memset(&deviations, 0, sizeof deviations);
    deviations.seen = 4;
    text = deviations_of(&deviations);
    fputs(text, parts.file);
    assert_says(text, "<strong>4 of 4 elements are NaN or infinite</strong>");
    assert_null(strstr(text, "<svg"));
    free(text);
    memset(&deviations, 0, sizeof deviations);
    amp_deviations_add(&deviations, &from, &from);
    text = deviations_of(&deviations);
    fputs(text, parts.file);
    assert_says(text, "<p>All 6 elements are equal.</p>\n<div class=\"pair\">\n<figure>\n");
    assert_int_equal(count_of(text, "<figure>"), 1);
    assert_says(text, "Triangles: the 0 largest errors.<");
    free(text);

    /* Bars hold two bins where there are more than 48 of them. */
    for (int n_bins = 48; n_bins <= 49; n_bins++) {
        memset(&deviations, 0, sizeof deviations);
        deviations.finite = deviations.seen = 2 * (uint64_t)n_bins;
        for (int i = 0; i < n_bins; i++)
            deviations.bins[1][160 + i] = 2;
        text = deviations_of(&deviations);
        assert_int_equal(count_of(text, "<rect "), n_bins == 48 ? 48 : 25);
        assert_says(text, n_bins == 48 ? "<title>2 elements are 1 to 2 too large"
                                       : "<title>4 elements are 1 to 4 too large");
        if (n_bins == 49)
            assert_says(text, "<title>2 elements are 2.81e+14 to 1.13e+15 too large");
        free(text);
    }
    /* Of 300 bins a bar holds seven, the last one six. */
    memset(&deviations, 0, sizeof deviations);
    deviations.finite = deviations.seen = 8;
    deviations.bins[0][AMP_DEVIATION_BINS - 1] = 3;
    deviations.bins[1][0] = 5;
    text = deviations_of(&deviations);
    assert_int_equal(count_of(text, "<rect "), 2);
    assert_says(text, "<title>3 elements are ");
    assert_says(text, "<title>5 elements are ");
    free(text);
    end_parts(&parts, "page_deviations");
}

/* Six outputs are drawn, those outside first; those without errors to draw are none. */
static void six_outputs_are_drawn(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    static struct amp_deviations deviations, none;
    struct amp_output_check outputs[9] = {{.name = NULL}};
    struct amp_validation validation = {.outputs = outputs, .n_outputs = 9};
    (void)state;
    deviations.seen = deviations.finite = deviations.equal = 1;
    for (size_t i = 0; i < 9; i++)
        outputs[i].name = names[i];
    assert_false(amp_html_has_deviations(&validation));
    outputs[0].deviations = &none;
    assert_false(amp_html_has_deviations(&validation));
    for (size_t i = 1; i < 9; i++)
        outputs[i].deviations = &deviations;
    assert_true(amp_html_has_deviations(&validation));
    outputs[8].is_outside = true;
    for (size_t n_outputs = 7; n_outputs <= 9; n_outputs += 2) {
        validation.n_outputs = n_outputs;
        struct amp_html *html = amp_html_create("outputs");
        amp_html_outputs(html, &validation);
        char *text = written_html(html), found[16] = "";
        size_t count = 0;
        for (const char *at = text; (at = strstr(at, "Output <code>")) != NULL; at++)
            found[count++] = at[13];
        assert_string_equal(found, n_outputs == 7 ? "bcdefg" : "ibcdef");
        assert_int_equal(count_of(text, "left out"), n_outputs == 9);
        if (n_outputs == 9)
            assert_says(text, "<p>2 more outputs are left out.</p>\n");
        free(text);
    }
}

enum { BARS = 60 };

static char *ranges_of(const struct amp_html_range *ranges, size_t count)
{
    struct amp_html *html = amp_html_create("ranges");
    amp_html_ranges(html, ranges, count);
    return written_html(html);
}

/* Bars from the least to the largest magnitude: those beyond what their dtype holds first, then the
   28 largest; below, the 12 smallest of those that float16 does not hold in full. */
static void ranges_are_drawn(void **state)
{
    static struct amp_html_range ranges[BARS];
    static char names[BARS][8];
    struct parts parts;
    (void)state;
    begin_parts(&parts);
    for (size_t i = 0; i < BARS; i++) {
        snprintf(names[i], sizeof names[i], "v%02zu", i);
        ranges[i] = (struct amp_html_range){
            .name = names[i],
            .op_type = "Op",
            .dtype = AMP_FLOAT16,
            .range = {.count = 1, .maximum = (double)(i + 1), .smallest = (double)(i + 1) * 4e-6}};
    }
    ranges[3].range.minimum = -65504; /* the most that it holds */
    ranges[10].range.maximum = 1e6;
    ranges[10].dtype = AMP_FLOAT;
    char *text = ranges_of(ranges, BARS);
    assert_memory_equal(text,
                        "<p>From the smallest magnitude that is not 0 to the largest, in the "
                        "reference. 0 of 60 values",
                        93);
    assert_int_equal(count_of(text, "<h3>"), 2);
    assert_int_equal(count_of(text, "<rect "), 28 + 12);
    assert_says(text, "v03 (Op) in fp16: from 1.6e-05 to 65504<");
    const char *first = strstr(strstr(text, "<rect "), "<title>");
    assert_true(strncmp(first, "<title>v10", 10) == 0);
    assert_true(strncmp(strstr(first + 1, "<title>"), "<title>v03", 10) == 0);
    assert_true(strncmp(strstr(strstr(first + 1, "<title>") + 1, "<title>"), "<title>v59", 10) ==
                0);
    /* The first row is 36 from the top, each 17 high. */
    assert_says(text, "<text x=\"240.0\" y=\"46.0\" font-size=\"11\" text-anchor=\"end\">v10"
                      "</text><text class=\"soft\" x=\"322.0\" y=\"46.0\" font-size=\"10\" "
                      "text-anchor=\"end\">Op fp32</text>\n<rect class=\"full\" x=\"");
    assert_says(text, "\" y=\"38.0\" width=\"");
    assert_says(text, "\" y=\"55.0\" width=\"");
    assert_int_equal(count_of(text, "\" height=\"11.0\"><title>v"), 40);
    assert_null(strstr(text, "v33 (Op)"));
    assert_non_null(strstr(text, "v34 (Op)"));
    const char *small = strstr(text, "The smallest magnitudes");
    assert_true(strncmp(strstr(strstr(small, "<rect "), "<title>"), "<title>v00", 10) == 0);
    assert_null(strstr(small, "v12 (Op)"));
    assert_non_null(strstr(small, "v11 (Op)"));
    assert_null(strstr(text, "beyond the dtype"));
    assert_null(strstr(text, "bf16 least"));
    assert_null(strstr(text, "bf16 largest"));
    assert_int_equal(count_of(text, "fp16 least normal"), 2);
    free(text);

    ranges[7].range.maximum = 65505;
    ranges[8].range.maximum = 65505;
    ranges[8].dtype = AMP_BFLOAT16;
    ranges[9].range.maximum = 2e38;
    ranges[9].dtype = AMP_FLOAT;
    text = ranges_of(ranges, BARS);
    fputs(text, parts.file);
    assert_says(text,
                "\xe2\x9c\x97 1 of 60 values go beyond what their dtype in the converted model "
                "holds: they become infinite there. ");
    assert_says(text, "v07 (Op) in fp16: from 3.2e-05 to 65505, beyond the dtype&#39;s largest<");
    assert_says(text, "v08 (Op) in bf16: from 3.6e-05 to 65505<");
    assert_true(strncmp(strstr(strstr(text, "<rect "), "<title>"), "<title>v07", 10) == 0);
    assert_int_equal(count_of(text, "<rect class=\"wrong\""), 2);
    assert_int_equal(count_of(text, "<path class=\"solidbad\""), 2);
    assert_says(text, ">65505</text>");
    free(text);

    /* Nothing at all, and what was not seen or is 0, has no bar. */
    text = ranges_of(ranges, 0);
    fputs(text, parts.file);
    assert_int_equal(count_of(text, "<svg"), 0);
    assert_says(text, "reference. 0 of 0 values go beyond what their dtype in the converted model "
                      "holds. bf16");
    free(text);
    ranges[0].range = (struct amp_range){.count = 1, .maximum = 5, .smallest = 6.103515625e-5};
    text = ranges_of(ranges, 1);
    fputs(text, parts.file);
    assert_int_equal(count_of(text, "<rect "), 1);
    assert_int_equal(count_of(text, "<h3>"), 1);
    free(text);
    ranges[0].range.smallest = 6.1e-5;
    text = ranges_of(ranges, 1);
    fputs(text, parts.file);
    assert_int_equal(count_of(text, "<h3>"), 2);
    free(text);
    end_parts(&parts, "page_ranges");
}

/* Two hundred guarded nodes and four thousand of all have rows; alike decisions are one row, those
   first that most nodes have. */
static void decisions_have_rows(void **state)
{
    static struct amp_explained_node nodes[4001];
    static const struct amp_rule_op op = {.word = "conv2d", .is_torch = true, .line = 15};
    static const struct amp_rule_op own = {.word = "Conv"};
    static const struct amp_rule rule = {.precision = AMP_LOWER, .source = {"a.yaml", 3, 1}},
                                 line = {.precision = AMP_FP32,
                                         .source = {.file = AMP_RULES_COMMAND_LINE}};
    struct amp_explained_cast casts[] = {{&casts[1], "x", "x_bf16", AMP_BFLOAT16},
                                         {NULL, "y", "y_f32", AMP_FLOAT}};
    const struct amp_decision decisions[] = {
        {.reason = AMP_REASON_MASK, .dtype = AMP_FLOAT, .number = (double)INFINITY},
        {.reason = AMP_REASON_VALUE_RANGE,
         .rule = &rule,
         .op = &op,
         .dtype = AMP_FLOAT,
         .number = 70000,
         .seen = AMP_RANGES_DATA},
        {.rule = &rule, .op = &own, .dtype = AMP_BFLOAT16},
        {.rule = &line, .dtype = AMP_FLOAT},
        {.reason = AMP_REASON_NOT_FLOAT}};
    struct amp_explanation explanation = {.nodes = nodes};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(nodes); i++)
        nodes[i] = (struct amp_explained_node){.decision = &decisions[i == 0     ? 0
                                                                      : i <= 200 ? 1
                                                                      : i == 201 ? 2
                                                                      : i < 300  ? 3
                                                                                 : 4],
                                               .text = i == 201 ? "the one" : "node",
                                               .constant = i == 0     ? NULL
                                                           : i <= 200 ? "v"
                                                                      : NULL,
                                               .casts = i == 201   ? &casts[0]
                                                        : i == 202 ? &casts[1]
                                                                   : NULL};
    for (int i = 0; i < 3; i++) {
        explanation.n_nodes = i == 0 ? 4001 : i == 1 ? 200 : 203;
        explanation.nodes = i == 2 ? nodes + 201 : nodes;
        struct amp_html *html = amp_html_create("decisions");
        amp_html_decisions(html, &explanation);
        char *text = written_html(html);
        static const char left_out[] = "<p>1 more are left out.</p>\n";
        static const char nodes_left_out[] =
            "<p>1 more are left out; <code>--list</code> has them.</p>\n";
        assert_int_equal(count_of(text, left_out), i == 0);
        assert_int_equal(count_of(text, " more are left out"), i == 0 ? 2 : 0);
        assert_int_equal(count_of(text, nodes_left_out), i == 0);
        assert_int_equal(count_of(text, "Nodes that rules would lower"), i < 2);
        assert_int_equal(count_of(text, "<tr><td>"), i == 0   ? 5 + 200 + 4000
                                                     : i == 1 ? 2 + 200 + 200
                                                              : 3 + 203);
        if (i == 0) {
            assert_says(text, "<tbody>\n<tr><td>no float data</td><td><span class=\"tag "
                              "other\">as it was</span></td><td class=\"n\">3701</td>"
                              "<td class=\"n\"></td><td>node</td></tr>\n"
                              "<tr><td>a value is beyond the lower type&#39;s range (lower by "
                              "a.yaml:15, conv2d)</td><td><span class=\"tag full\">fp32</span></td>"
                              "<td class=\"n\">200</td>");
            assert_says(text, "<tr><td>fp32 by command line</td><td><span class=\"tag full\">fp32"
                              "</span></td><td class=\"n\">98</td><td class=\"n\">1</td>"
                              "<td>node</td></tr>\n<tr><td>a mask plus scores would be infinite in "
                              "the lower type</td>");
            assert_says(text, "<tr><td>lower by a.yaml:3</td><td><span class=\"tag low\">bf16"
                              "</span></td><td class=\"n\">1</td><td class=\"n\">2</td>"
                              "<td>the one</td></tr>\n</tbody>");
            assert_says(text, "<td><code></code></td><td class=\"n\">of any size</td>"
                              "<td>proved</td></tr>\n");
            assert_says(text, "<td><code>v</code></td><td class=\"n\">70000</td>"
                              "<td>in data</td></tr>\n");
            assert_says(text, "a.yaml:15, conv2d): v</td><td class=\"n\"></td></tr>\n");
            assert_says(text, "<td>lower by a.yaml:3</td><td class=\"n\">2</td></tr>\n");
        }
        free(text);
    }
}

/* The verdict's head counts what is within, or what is outside. */
static void verdicts_count_outputs(void **state)
{
    struct amp_output_check outputs[2];
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation = made_up(outputs, &task, &eval);
    static const struct {
        size_t n_outputs, samples;
        bool is_outside, is_within;
        const char *text;
    } rows[] = {
        {1, 10, true, false,
         "<p class=\"verdict bad\"><strong>\xe2\x9c\x97 Outside tolerance</strong><br/>1 of 1 "
         "output "
         "outside tolerance; 10 samples. A note.</p>\n<p class=\"dim\">Tolerance: max_abs at most "
         "0.125; accuracy-drop at most 6.25 %; eval-drop at most 50 %, where they are "
         "defined.</p>"},
        {2, 1, true, false,
         "Outside tolerance</strong><br/>1 of 2 outputs outside tolerance; 1 sample. A note.</p>"},
        {2, 1, false, true,
         "<p class=\"verdict good\"><strong>\xe2\x9c\x93 Within tolerance</strong><br/>2 of 2 "
         "outputs "
         "within tolerance; 1 sample. A note."},
        {0, 1, false, true, "Within tolerance</strong><br/>A note.</p>\n"}};
    struct parts parts;
    (void)state;
    begin_parts(&parts);
    validation.task_bounds.items[0].most = 0.0625;
    outputs[1] = outputs[0];
    outputs[1].name = "z";
    outputs[1].is_outside = false;
    outputs[1].is_given = true;
    outputs[1].metrics = (struct amp_metrics){.count = 0};
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        validation.n_outputs = rows[i].n_outputs;
        validation.samples = rows[i].samples;
        validation.is_within = rows[i].is_within;
        validation.widened[1] = i;
        outputs[0].is_outside = rows[i].is_outside;
        struct amp_html *html = amp_html_create("verdict");
        amp_html_verdict(html, &validation, "A note.");
        char *text = written_html(html);
        fputs(text, parts.file);
        assert_says(text, rows[i].text);
        assert_int_equal(count_of(text, "<p>The worst output is <code>y</code>: far off.</p>"),
                         rows[i].is_outside);
        assert_int_equal(count_of(text, "nodes were computed in float32 and rounded"), i > 0);
        assert_int_equal(count_of(text, "The outputs of the converted model"),
                         rows[i].n_outputs > 0);
        if (i == 0) {
            assert_says(
                text,
                "<th scope=\"col\">output</th><th scope=\"col\">verdict</th>"
                "<th scope=\"col\">type</th><th scope=\"col\" class=\"n\">elements that differ</th>"
                "<th scope=\"col\" class=\"n\">NaN</th>");
            assert_says(text,
                        "<tr class=\"bad\"><td><code>y</code></td><td class=\"w\">far off</td>"
                        "<td class=\"w\">bfloat16 [2, 3]</td><td class=\"n\">25 %</td>"
                        "<td class=\"n\">1 \xe2\x86\x92 2</td><td class=\"n\">3 \xe2\x86\x92 4"
                        "</td></tr>\n");
            assert_says(text, "<tr class=\"bad\"><td>accuracy</td><td><code>y</code></td>"
                              "<td class=\"n\">75.00 % (15 of 20)</td>"
                              "<td class=\"n\">25.00 % (5 of 20)</td><td>a drop</td></tr>\n");
            assert_says(text, "The command <code>try {}</code> says: reference <strong>4</strong>; "
                              "converted <strong>3</strong>. </p>");
        }
        if (i == 2) {
            assert_says(text, "<tr class=\"good\"><td><code>y</code></td><td class=\"w\">within "
                              "tolerance</td>");
            assert_says(text, "<tr class=\"good\"><td><code>z</code></td><td class=\"w\">within "
                              "tolerance, on the reference&#39;s selection</td><td class=\"w\">"
                              "bfloat16 [2, 3]</td><td class=\"n\">\xe2\x80\x93</td>");
        }
        free(text);
    }
    struct amp_html *html = amp_html_create("tasks");
    task = (struct amp_task){.name = "y", .scores = {{.count = 4, .squared = 4, .spread = 16}}};
    amp_html_tasks(html, &task, 0, true);
    amp_html_tasks(html, &task, 1, false);
    amp_html_tasks(html, &task, 1, true);
    char *text = written_html(html);
    fputs(text, parts.file);
    assert_int_equal(count_of(text, "Against the labels."), 2);
    assert_int_equal(count_of(text, "class=\"n\">converted</th>"), 1);
    assert_int_equal(count_of(text, "class=\"n\">reference</th>"), 1);
    assert_int_equal(count_of(text, "class=\"n\">model</th>"), 1);
    assert_says(text,
                "<tr class=\"good\"><td>rmse</td><td><code>y</code></td><td class=\"n\">1</td>"
                "<td></td></tr>\n");
    assert_says(text, "<td class=\"n\">1</td><td class=\"n\">\xe2\x80\x93</td><td></td></tr>\n");
    free(text);
    eval.outcomes[1].verdict = AMP_EVAL_FAILED;
    strcpy(eval.reason, "Worse.");
    html = amp_html_create("eval");
    amp_html_verdict(html, &validation, "");
    text = written_html(html);
    fputs(text, parts.file);
    assert_says(text, "converted <strong>failed</strong>. Worse.</p>");
    free(text);
    assert_true(isnan(amp_html_snr_bound(&validation)));
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        validation.bounds.items[row] = (double)row;
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        if (strcmp(amp_metric_name_at(row), "snr") == 0)
            assert_true(amp_html_snr_bound(&validation) == (double)row);
    end_parts(&parts, "page_verdicts");
}

static char *graph_of(const struct amp_model *model, const struct amp_drawing_note *notes)
{
    struct amp_html *html = amp_html_create("graph");
    amp_html_graph(html, model, notes);
    return written_html(html);
}

/* Boxes say what their nodes compute in, by class, corners and words; casts are marks on lines. */
static void boxes_and_lines_have_their_classes(void **state)
{
    struct amp_drawing_note notes[6] = {
        [1] = {.is_known = true, .decibels = 34.5},
        [2] = {.is_known = true, .decibels = (double)INFINITY, .warning = "worst by itself"}};
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x");
    uint32_t low = add_node(&s, "Cast", "cast", x, AMP_NONE, AMP_BFLOAT16);
    uint32_t a = add_node(&s, "Relu", "a", low, AMP_NONE, AMP_BFLOAT16);
    uint32_t b = add_node(&s, "Add", "b", x, a, AMP_FLOAT);
    add_node(&s, "Shape", "size", x, AMP_NONE, AMP_INT64);
    (void)state;
    amp_value_at(s.model, b)->is_output = true;
    amp_ids_push(s.model, &s.model->graphs[0].outputs, b);
    char *text = graph_of(s.model, NULL);
    assert_says(text, " 1 nodes that give no floats are left out.</p>\n");
    assert_null(strstr(text, "share a box"));
    assert_null(strstr(text, "what Where to look names"));
    assert_null(strstr(text, "local "));
    assert_int_equal(count_of(text, "<title>The graph, layers 1 to 4 of 4</title>"), 1);
    assert_int_equal(count_of(text, "<g>"), 4);
    assert_says(text, "<g><title>input x, float32</title><rect class=\"end\" ");
    assert_says(text, "<g><title>output b, float32</title><rect class=\"end\" ");
    assert_says(text, "<g><title>a (Relu) in bf16, takes 1 cast.</title><rect class=\"low\" ");
    assert_says(text, "<g><title>b (Add) in fp32, takes 0 casts.</title><rect class=\"full\" ");
    assert_int_equal(count_of(text, "height=\"46\" rx=\"22\"/>"), 2);
    assert_int_equal(count_of(text, "height=\"46\" rx=\"9\"/>"), 1);
    assert_int_equal(count_of(text, "height=\"46\" rx=\"0\"/>"), 1);
    /* The first layer begins at 6 + 70 / 2, each is 70 high. */
    for (int layer = 0; layer < 4; layer++) {
        char part[64];
        snprintf(part, sizeof part, "\" y=\"%d.0\" width=\"156\"", 41 + 70 * layer);
        assert_says(text, part);
    }
    assert_says(text, " font-weight=\"600\">input</text>");
    assert_says(text, " font-weight=\"600\">output</text>");
    assert_says(text, " font-weight=\"600\">Relu</text>");
    assert_says(text, " font-size=\"10\" text-anchor=\"end\">bf16</text>");
    assert_says(text, " font-size=\"10\" text-anchor=\"end\">fp32</text>");
    assert_int_equal(count_of(text, "<title>cast from fp32</title>"), 1);
    assert_int_equal(count_of(text, "<path class=\"linelow\" "), 1);
    assert_int_equal(count_of(text, " back\""), 0);
    /* x to b passes the layer of a: two parts, the first of which goes on downward. */
    assert_int_equal(count_of(text, "<path class=\"linefull\" "), 4);
    assert_int_equal(count_of(text, "v46\"/>"), 1);
    free(text);

    text = graph_of(s.model, notes);
    assert_says(text, "what Where to look names");
    assert_int_equal(count_of(text, "font-size=\"10\">local "), 1);
    assert_says(text, "font-size=\"10\">local 34.5 dB</text></g>");
    assert_says(text, "<g><title>b (Add) in fp32, takes 0 casts. worst by itself</title><rect "
                      "class=\"full heavy\" ");
    assert_int_equal(count_of(text, "l9 15h-18z"), 1);
    free(text);
    amp_arena_destroy(s.arena);
}

/* Of several nodes in a box the worst is known, and how many compute in what; a long graph goes on
   in the next column. */
static void folded_boxes_have_shares(void **state)
{
    enum { NODES = 16 * 30 };
    static struct amp_drawing_note notes[NODES];
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    (void)state;
    for (int i = 0; i < NODES; i++) {
        char name[32];
        snprintf(name, sizeof name, "/layer.%d/op_%d", i / 30, i);
        at = add_node(&s, "Relu", name, at, AMP_NONE,
                      i % 30 < 20   ? AMP_BFLOAT16
                      : i % 30 < 25 ? AMP_FLOAT
                                    : AMP_INT64);
    }
    notes[182] = (struct amp_drawing_note){.is_known = true, .warning = "first"};
    notes[185] = (struct amp_drawing_note){.is_known = true, .warning = "second"};
    char *text = graph_of(s.model, notes);
    assert_says(text, "share a box");
    assert_says(text, " 80 nodes that give no floats are left out.");
    assert_says(text, "<g><title>/layer.6: 9 nodes, 9 in bf16 or fp16, 0 in fp32. first</title>"
                      "<rect class=\"low heavy\" ");
    assert_says(text, "<g><title>/layer.6: 8 nodes, 3 in bf16 or fp16, 5 in fp32.</title>"
                      "<rect class=\"full\" ");
    assert_says(text, " font-weight=\"600\">/layer.6</text>");
    assert_says(text, " font-size=\"10\">9 nodes</text><rect class=\"solidlow\" ");
    assert_says(text, " width=\"140.0\" height=\"5\"/><path class=\"solidbad\"");
    assert_says(text, " width=\"52.5\" height=\"5\"/><rect class=\"solidfull\" ");
    assert_says(text, " width=\"87.5\" height=\"5\"/></g>");
    assert_null(strstr(text, "second"));
    assert_null(strstr(text, "font-size=\"10\">local "));
    assert_int_equal(count_of(text, "<svg role=\"img\""), 2);
    assert_says(text, "<title>The graph, layers 1 to 15 of 26</title>");
    assert_says(text, "<title>The graph, layers 16 to 26 of 26</title>");
    free(text);
    amp_arena_destroy(s.arena);
}

/* A small graph, whole: a cast, a value that passes a layer, a node without floats, notes. */
static void a_small_graph_is_drawn(void **state)
{
    struct amp_drawing_note notes[6] = {
        [1] = {.is_known = true, .decibels = 34.5},
        [2] = {.is_known = true, .decibels = (double)INFINITY, .warning = "worst by itself"}};
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x");
    uint32_t low = add_node(&s, "Cast", "cast", x, AMP_NONE, AMP_BFLOAT16);
    uint32_t a = add_node(&s, "Relu", "a", low, AMP_NONE, AMP_BFLOAT16);
    uint32_t b = add_node(&s, "Add", "b", x, a, AMP_FLOAT);
    (void)state;
    amp_value_at(s.model, b)->is_output = true;
    amp_ids_push(s.model, &s.model->graphs[0].outputs, b);
    char *text = graph_of(s.model, notes);
    assert_part(
        text, "<p>Values go", "</main>",
        "<p>Values go from top to bottom; on the right the graph goes on. Lines have the colour of "
        "the dtype in which the value was made. Point at a box to read its name.</p>\n"
        "<ul class=\"legend\"><li><svg width=\"26\" height=\"16\" aria-hidden=\"true\"><rect "
        "class=\"low\" x=\"1\" y=\"1\" width=\"24\" height=\"14\" rx=\"6\"/></svg>computes in bf16 "
        "or fp16 (round corners)</li><li><svg width=\"26\" height=\"16\" "
        "aria-hidden=\"true\"><rect class=\"full\" x=\"1\" y=\"1\" width=\"24\" height=\"14\" "
        "rx=\"0\"/></svg>computes in fp32 (square corners)</li><li><svg width=\"26\" height=\"16\" "
        "aria-hidden=\"true\"><rect class=\"other\" x=\"1\" y=\"1\" width=\"24\" height=\"14\" "
        "rx=\"0\"/></svg>gives no floats (dashed)</li><li><svg width=\"12\" height=\"16\" "
        "aria-hidden=\"true\"><path class=\"solidcast\" d=\"M6 3l5 5l-5 5l-5 -5z\"/></svg>a "
        "cast</li><li><svg width=\"16\" height=\"16\" aria-hidden=\"true\"><path "
        "class=\"solidbad\" d=\"M8 1l7 13h-14z\"/></svg>what Where to look names</li></ul>\n"
        "<div class=\"columns\">\n"
        "<svg role=\"img\" viewBox=\"0 0 262 327\" width=\"262\" height=\"327\"><title>The graph, "
        "layers 1 to 4 of 4</title>\n"
        "<path class=\"linefull\" d=\"M167.6 87.0C167.6 99.0 94.0 99.0 94.0 111.0\"/>\n"
        "<path class=\"solidcast\" d=\"M94.0 100.0l5 5l-5 5l-5 -5z\"><title>cast from "
        "fp32</title></path>\n"
        "<path class=\"linefull\" d=\"M167.6 87.0C167.6 99.0 186.0 99.0 186.0 111.0v46\"/>\n"
        "<path class=\"linefull\" d=\"M186.0 157.0C186.0 169.0 140.0 169.0 140.0 181.0\"/>\n"
        "<path class=\"linelow\" d=\"M94.0 157.0C94.0 169.0 140.0 169.0 140.0 181.0\"/>\n"
        "<path class=\"linefull\" d=\"M140.0 227.0C140.0 239.0 140.0 239.0 140.0 251.0\"/>\n"
        "<g><title>input x, float32</title><rect class=\"end\" x=\"89.6\" y=\"41.0\" width=\"156\" "
        "height=\"46\" rx=\"22\"/><text x=\"97.6\" y=\"57.0\" "
        "font-weight=\"600\">input</text><text class=\"soft\" x=\"97.6\" y=\"70.0\" "
        "font-size=\"10\">x</text></g>\n"
        "<g><title>a (Relu) in bf16, takes 1 cast.</title><rect class=\"low\" x=\"16.0\" "
        "y=\"111.0\" width=\"156\" height=\"46\" rx=\"9\"/><text x=\"24.0\" y=\"127.0\" "
        "font-weight=\"600\">Relu</text><text class=\"soft\" x=\"24.0\" y=\"140.0\" "
        "font-size=\"10\">a</text><text x=\"164.0\" y=\"126.0\" font-size=\"10\" "
        "text-anchor=\"end\">bf16</text><text class=\"soft\" x=\"24.0\" y=\"152.0\" "
        "font-size=\"10\">local 34.5 dB</text></g>\n"
        "<g><title>b (Add) in fp32, takes 0 casts. worst by itself</title><rect class=\"full "
        "heavy\" x=\"62.0\" y=\"181.0\" width=\"156\" height=\"46\" rx=\"0\"/><text x=\"70.0\" "
        "y=\"197.0\" font-weight=\"600\">Add</text><text class=\"soft\" x=\"70.0\" y=\"210.0\" "
        "font-size=\"10\">b</text><text x=\"210.0\" y=\"196.0\" font-size=\"10\" "
        "text-anchor=\"end\">fp32</text><path class=\"solidbad\" d=\"M214.0 172.0l9 "
        "15h-18z\"/></g>\n"
        "<g><title>output b, float32</title><rect class=\"end\" x=\"62.0\" y=\"251.0\" "
        "width=\"156\" height=\"46\" rx=\"22\"/><text x=\"70.0\" y=\"267.0\" "
        "font-weight=\"600\">output</text><text class=\"soft\" x=\"70.0\" y=\"280.0\" "
        "font-size=\"10\">b</text></g>\n"
        "</svg>\n"
        "</div>\n");
    free(text);
    amp_arena_destroy(s.arena);
}

/* A chain of nodes that share boxes, whole: two columns, each box below the one before, its bar as
   long as its nodes are many. */
static void a_chain_of_boxes_is_drawn(void **state)
{
    enum { NODES = 200, RUNS_OF = 17, IN_COLUMN = 15 };
    static const enum amp_dtype dtypes[] = {AMP_BFLOAT16, AMP_FLOAT, AMP_FLOAT8E5M2};
    static const char *const bars[] = {"solidlow", "solidfull", "solidother"}, *const lines[] = {
                                                                                   "linelow",
                                                                                   "linefull",
                                                                                   "lineother"};
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    int counts[RUNS_OF][3] = {{0}}, ends[RUNS_OF] = {0};
    (void)state;
    for (int i = 0; i < NODES; i++) {
        int kind = i < 50 || i >= 195 ? 0 : i < 120 ? 1 : i < 160 ? 2 : i % 2;
        at = add_node(&s, "Relu", "n", at, AMP_NONE, dtypes[kind]);
        counts[i * RUNS_OF / NODES][kind]++;
        ends[i * RUNS_OF / NODES] = kind;
    }
    char *text = graph_of(s.model, NULL), *expected = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&expected, &size);
    fputs("<div class=\"columns\">\n", file);
    for (int first = 0; first < RUNS_OF + 1; first += IN_COLUMN) {
        int end = first + IN_COLUMN < RUNS_OF + 1 ? first + IN_COLUMN : RUNS_OF + 1;
        fprintf(file,
                "<svg role=\"img\" viewBox=\"0 0 188 %d\" width=\"188\" height=\"%d\"><title>The "
                "graph, layers %d to %d of 18</title>\n",
                47 + 70 * (end - first), 47 + 70 * (end - first), first + 1, end);
        for (int layer = first > 0 ? first - 1 : 0; layer < end && layer < RUNS_OF; layer++) {
            double y = 41 + 70 * (layer - first);
            fprintf(file, "<path class=\"%s\" d=\"M94.0 %.1fC94.0 %.1f 94.0 %.1f 94.0 %.1f\"/>\n",
                    lines[layer == 0 ? 1 : ends[layer - 1]], y + 46, y + 58, y + 58, y + 70);
        }
        for (int layer = first; layer < end; layer++) {
            double y = 41 + 70 * (layer - first), x = 24;
            if (layer == 0) {
                fprintf(file, "<g><title>input x, float32</title><rect class=\"end\" x=\"16.0\" "
                              "y=\"41.0\" width=\"156\" height=\"46\" rx=\"22\"/><text x=\"24.0\" "
                              "y=\"57.0\" font-weight=\"600\">input</text><text class=\"soft\" "
                              "x=\"24.0\" y=\"70.0\" font-size=\"10\">x</text></g>\n");
                continue;
            }
            const int *n = counts[layer - 1];
            int all = n[0] + n[1] + n[2];
            int kind = n[0] + n[1] == 0 ? 2 : n[0] >= n[1] ? 0 : 1;
            fprintf(file,
                    "<g><title>n: %d nodes, %d in bf16 or fp16, %d in fp32.</title><rect "
                    "class=\"%s\" x=\"16.0\" y=\"%.1f\" width=\"156\" height=\"46\" rx=\"%d\"/>"
                    "<text x=\"24.0\" y=\"%.1f\" font-weight=\"600\">n</text><text class=\"soft\" "
                    "x=\"24.0\" y=\"%.1f\" font-size=\"10\">%d nodes</text>",
                    all, n[0], n[1], bars[kind] + 5, y, kind == 0 ? 9 : 0, y + 16, y + 29, all);
            for (int k = 0; k < 3; k++) {
                if (n[k] > 0)
                    fprintf(
                        file,
                        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"5\"/>",
                        bars[k], x, y + 37, 140.0 / all * n[k]);
                x += 140.0 / all * n[k];
            }
            fputs("</g>\n", file);
        }
        fputs("</svg>\n", file);
    }
    fputs("</div>\n", file);
    fclose(file);
    assert_part(text, "<div class=\"columns\">", "</main>", expected);
    free(expected);
    free(text);
    amp_arena_destroy(s.arena);
}

/* Runs whose names have nothing in common are called by their operator and their first node. */
static void runs_are_called_by_their_first(void **state)
{
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    char name[64];
    (void)state;
    for (int i = 0; i < 171; i++) {
        snprintf(name, sizeof name, "%c%d_abcdefghijklm", 'a' + i % 7, i);
        at = add_node(&s, i == 0 ? "AveragePoolOfManyPlanes" : "Relu", name, at, AMP_NONE,
                      AMP_FLOAT);
    }
    char *text = graph_of(s.model, NULL);
    assert_says(text, " font-weight=\"600\">AveragePo\xe2\x80\xa6"
                      "anyPlanes</text><text class=\"soft\" x=\"24.0\" y=\"140.0\" font-size="
                      "\"10\">12 nodes from a0_ab\xe2\x80\xa6"
                      "ijklm</text>");
    free(text);
    amp_arena_destroy(s.arena);
}

/* Two rows beside each other in a column: how wide the drawing is, and where lines begin that come
   from the column before. */
static void columns_are_as_wide_as_their_boxes(void **state)
{
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x"), at = x, side = AMP_NONE;
    (void)state;
    for (int i = 0; i < 16; i++) {
        at = add_node(&s, "Relu", "a", at, AMP_NONE, AMP_FLOAT);
        side = i == 14 ? add_node(&s, "Relu", "b", x, AMP_NONE, AMP_FLOAT) : side;
    }
    add_node(&s, "Add", "c", at, side, AMP_FLOAT);
    char *text = graph_of(s.model, NULL);
    const char *second = strstr(strstr(text, "<title>The graph"), "<svg role");
    assert_part(
        second, "<svg", "</main>",
        "<svg role=\"img\" viewBox=\"0 0 288 257\" width=\"288\" height=\"257\"><title>The graph, "
        "layers 16 to 18 of 18</title>\n"
        "<path class=\"linefull\" d=\"M94.0 17.0C94.0 29.0 94.0 29.0 94.0 41.0\"/>\n"
        "<path class=\"linefull\" d=\"M94.0 87.0C94.0 99.0 94.0 99.0 94.0 111.0\"/>\n"
        "<path class=\"linefull\" d=\"M264.0 17.0C264.0 29.0 264.0 29.0 264.0 41.0v46\"/>\n"
        "<path class=\"linefull\" d=\"M264.0 87.0C264.0 99.0 264.0 99.0 264.0 111.0v46\"/>\n"
        "<path class=\"linefull\" d=\"M264.0 157.0C264.0 169.0 179.0 169.0 179.0 181.0\"/>\n"
        "<path class=\"linefull\" d=\"M94.0 157.0C94.0 169.0 179.0 169.0 179.0 181.0\"/>\n"
        "<g><title>a (Relu) in fp32, takes 0 casts.</title><rect class=\"full\" x=\"16.0\" "
        "y=\"41.0\" width=\"156\" height=\"46\" rx=\"0\"/><text x=\"24.0\" y=\"57.0\" "
        "font-weight=\"600\">Relu</text><text class=\"soft\" x=\"24.0\" y=\"70.0\" "
        "font-size=\"10\">a</text><text x=\"164.0\" y=\"56.0\" font-size=\"10\" "
        "text-anchor=\"end\">fp32</text></g>\n"
        "<g><title>a (Relu) in fp32, takes 0 casts.</title><rect class=\"full\" x=\"16.0\" "
        "y=\"111.0\" width=\"156\" height=\"46\" rx=\"0\"/><text x=\"24.0\" y=\"127.0\" "
        "font-weight=\"600\">Relu</text><text class=\"soft\" x=\"24.0\" y=\"140.0\" "
        "font-size=\"10\">a</text><text x=\"164.0\" y=\"126.0\" font-size=\"10\" "
        "text-anchor=\"end\">fp32</text></g>\n"
        "<g><title>c (Add) in fp32, takes 0 casts.</title><rect class=\"full\" x=\"101.0\" "
        "y=\"181.0\" width=\"156\" height=\"46\" rx=\"0\"/><text x=\"109.0\" y=\"197.0\" "
        "font-weight=\"600\">Add</text><text class=\"soft\" x=\"109.0\" y=\"210.0\" "
        "font-size=\"10\">c</text><text x=\"249.0\" y=\"196.0\" font-size=\"10\" "
        "text-anchor=\"end\">fp32</text></g>\n"
        "</svg>\n"
        "</div>\n");
    free(text);
    amp_arena_destroy(s.arena);

    /* Of two boxes of the column before, 85 to each side, the lines are seen, and 8 beyond. */
    s = sketch();
    x = at = side = add_input(&s, "x");
    for (int i = 0; i < 14; i++) {
        at = add_node(&s, "Relu", "a", at, AMP_NONE, AMP_FLOAT);
        side = add_node(&s, "Relu", "b", side, AMP_NONE, AMP_FLOAT);
    }
    add_node(&s, "Add", "c", at, side, AMP_FLOAT);
    text = graph_of(s.model, NULL);
    second = strstr(strstr(text, "<title>The graph"), "<svg role");
    assert_non_null(second);
    assert_int_equal(strncmp(second, "<svg role=\"img\" viewBox=\"0 0 218 ", 33), 0);
    assert_says(second, "layers 16 to 16 of 16");
    free(text);
    amp_arena_destroy(s.arena);
}

/* Between numbers that are next to each other there is no tick; those that are drawn have an end.
 */
static void ticks_have_an_end(void **state)
{
    struct amp_html *html = amp_html_create("ticks");
    struct amp_svg_plot plot = {.width = 200,
                                .height = 100,
                                .right = 190,
                                .bottom = 90,
                                .x = {.low = 1e17, .high = 1e17 + 32, .to = 190}};
    (void)state;
    amp_svg_begin(html, plot.width, plot.height, "ticks");
    amp_svg_put_x(html, &plot);
    amp_svg_end(html);
    char *text = written_html(html);
    assert_in_range(count_of(text, "class=\"grid\""), 2, 100);
    free(text);
}

/* Axes and what is drawn on them, whole: by counts, by numbers, and by decades, few and many. */
static void axes_are_drawn(void **state)
{
    struct amp_html *html = amp_html_create("axes");
    struct amp_svg_plot plots[] = {{.width = 176,
                                    .height = 164,
                                    .x = {.title = "steps", .is_whole = true, .low = 1, .high = 3},
                                    .y = amp_svg_axis_over("numbers", false, -0.3, 0.2)},
                                   {.width = 176,
                                    .height = 174,
                                    .strip = 10,
                                    .x = amp_svg_axis_over("decades", true, 0.02, 900),
                                    .y = amp_svg_axis_over("many", true, 1e-30, 1e10)}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(plots); i++) {
        amp_svg_plot_begin(html, &plots[i], i == 0 ? "first" : "second");
        amp_svg_put_level(html, &plots[i], i == 0 ? 0.1 : 1, "bound", "a level");
        amp_svg_end(html);
    }
    char *text = written_html(html);
    assert_part(
        text, "<svg", "</main>",
        "<svg role=\"img\" viewBox=\"0 0 176 164\" width=\"176\" "
        "height=\"164\"><title>first</title>\n"
        "<path class=\"grid\" d=\"M62.0 124.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"128.0\" "
        "text-anchor=\"end\">-0.3</text>\n"
        "<path class=\"grid\" d=\"M62.0 104.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"108.0\" "
        "text-anchor=\"end\">-0.2</text>\n"
        "<path class=\"grid\" d=\"M62.0 84.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"88.0\" "
        "text-anchor=\"end\">-0.1</text>\n"
        "<path class=\"grid\" d=\"M62.0 64.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"68.0\" "
        "text-anchor=\"end\">0</text>\n"
        "<path class=\"grid\" d=\"M62.0 44.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"48.0\" "
        "text-anchor=\"end\">0.1</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"28.0\" "
        "text-anchor=\"end\">0.2</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0V124.0\"/><text class=\"soft\" x=\"62.0\" y=\"139.0\" "
        "text-anchor=\"middle\">1</text>\n"
        "<path class=\"grid\" d=\"M112.0 24.0V124.0\"/><text class=\"soft\" x=\"112.0\" "
        "y=\"139.0\" text-anchor=\"middle\">2</text>\n"
        "<path class=\"grid\" d=\"M162.0 24.0V124.0\"/><text class=\"soft\" x=\"162.0\" "
        "y=\"139.0\" text-anchor=\"middle\">3</text>\n"
        "<text x=\"162.0\" y=\"156.0\" text-anchor=\"end\">steps</text>\n"
        "<text x=\"4\" y=\"13\">numbers</text>\n"
        "<path class=\"axis\" d=\"M62.0 24.0V124.0H162.0\"/>\n"
        "<path class=\"bound\" d=\"M62.0 44.0H162.0\"/><text x=\"68.0\" y=\"40.0\">a level</text>\n"
        "</svg>\n"
        "<svg role=\"img\" viewBox=\"0 0 176 174\" width=\"176\" "
        "height=\"174\"><title>second</title>\n"
        "<path class=\"grid\" d=\"M62.0 124.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"128.0\" "
        "text-anchor=\"end\">1e-30</text>\n"
        "<path class=\"grid\" d=\"M62.0 114.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"118.0\" "
        "text-anchor=\"end\">1e-26</text>\n"
        "<path class=\"grid\" d=\"M62.0 104.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"108.0\" "
        "text-anchor=\"end\">1e-22</text>\n"
        "<path class=\"grid\" d=\"M62.0 94.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"98.0\" "
        "text-anchor=\"end\">1e-18</text>\n"
        "<path class=\"grid\" d=\"M62.0 84.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"88.0\" "
        "text-anchor=\"end\">1e-14</text>\n"
        "<path class=\"grid\" d=\"M62.0 74.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"78.0\" "
        "text-anchor=\"end\">1e-10</text>\n"
        "<path class=\"grid\" d=\"M62.0 64.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"68.0\" "
        "text-anchor=\"end\">1e-6</text>\n"
        "<path class=\"grid\" d=\"M62.0 54.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"58.0\" "
        "text-anchor=\"end\">0.01</text>\n"
        "<path class=\"grid\" d=\"M62.0 44.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"48.0\" "
        "text-anchor=\"end\">100</text>\n"
        "<path class=\"grid\" d=\"M62.0 34.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"38.0\" "
        "text-anchor=\"end\">1e6</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0H162.0\"/><text class=\"soft\" x=\"56.0\" y=\"28.0\" "
        "text-anchor=\"end\">1e10</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0V124.0\"/><text class=\"soft\" x=\"62.0\" y=\"149.0\" "
        "text-anchor=\"middle\">0.01</text>\n"
        "<path class=\"grid\" d=\"M82.0 24.0V124.0\"/><text class=\"soft\" x=\"82.0\" y=\"149.0\" "
        "text-anchor=\"middle\">0.1</text>\n"
        "<path class=\"grid\" d=\"M102.0 24.0V124.0\"/><text class=\"soft\" x=\"102.0\" "
        "y=\"149.0\" text-anchor=\"middle\">1</text>\n"
        "<path class=\"grid\" d=\"M122.0 24.0V124.0\"/><text class=\"soft\" x=\"122.0\" "
        "y=\"149.0\" text-anchor=\"middle\">10</text>\n"
        "<path class=\"grid\" d=\"M142.0 24.0V124.0\"/><text class=\"soft\" x=\"142.0\" "
        "y=\"149.0\" text-anchor=\"middle\">100</text>\n"
        "<path class=\"grid\" d=\"M162.0 24.0V124.0\"/><text class=\"soft\" x=\"162.0\" "
        "y=\"149.0\" text-anchor=\"middle\">1000</text>\n"
        "<text x=\"162.0\" y=\"166.0\" text-anchor=\"end\">decades</text>\n"
        "<text x=\"4\" y=\"13\">many</text>\n"
        "<path class=\"axis\" d=\"M62.0 24.0V124.0H162.0\"/>\n"
        "<path class=\"bound\" d=\"M62.0 49.0H162.0\"/><text x=\"68.0\" y=\"45.0\">a level</text>\n"
        "</svg>\n");
    free(text);
}

/* An axis goes over what it is for, by steps of 1, 2 or 5 times a power of ten, of which there are
   few, and not a step further. */
static void axes_have_few_steps(void **state)
{
    uint64_t draw = 88172645463325252ULL;
    (void)state;
    for (int i = 0; i < 400; i++) {
        double scale = pow(10, (double)(draw_next(&draw) % 9) - 4),
               low = scale * ((double)(draw_next(&draw) % 2000) - 1000),
               high = low + scale * (double)(1 + draw_next(&draw) % 1500);
        struct amp_svg_axis axis = amp_svg_axis_over("", false, low, high);
        double least = (high - low) / 6, step = pow(10, floor(log10(least)) - 1);
        static const double factors[] = {2, 2.5, 2};
        for (int k = 0; step < least * (1 - 1e-9); k++)
            step *= factors[k % 3];
        if (step < least * (1 + 1e-9)) /* a step more or less, by rounding */
            continue;
        assert_true(fabs(axis.low - step * floor(low / step + 1e-9)) < 1e-6 * step ||
                    fabs(axis.low - step * floor(low / step - 1e-9)) < 1e-6 * step);
        assert_true(fabs(axis.high - step * ceil(high / step - 1e-9)) < 1e-6 * step ||
                    fabs(axis.high - step * ceil(high / step + 1e-9)) < 1e-6 * step);
        assert_true(!axis.is_log && !axis.is_whole);
    }
    for (int first = -8; first < 8; first++)
        for (int last = first; last < 8; last++) {
            struct amp_svg_axis axis =
                amp_svg_axis_over("", true, 1.5 * pow(10, first), 9.5 * pow(10, last));
            assert_true(axis.is_log);
            assert_true(fabs(axis.low / pow(10, first) - 1) < 1e-9);
            assert_true(fabs(axis.high / pow(10, last + 1) - 1) < 1e-9);
        }
    /* A decade at least, three hundred at most, and no less than what is above 0. */
    struct amp_svg_axis axis = amp_svg_axis_over("", true, 100, 100);
    assert_true(fabs(axis.low - 10) < 1e-9 && fabs(axis.high - 100) < 1e-9);
    axis = amp_svg_axis_over("", true, 1e-300, 1);
    assert_true(fabs(log10(axis.low) + 300) < 1e-9);
    axis = amp_svg_axis_over("", true, 1e-300, 10);
    assert_true(fabs(log10(axis.low) + 299) < 1e-9);
    axis = amp_svg_axis_over("", true, -5, 500);
    assert_true(fabs(axis.low - 100) < 1e-9 && fabs(axis.high - 1000) < 1e-9);
    axis = amp_svg_axis_over("", false, -70, -70);
    assert_true(axis.low == -80 && axis.high == -60);
}

/* The chart along the graph: a place per value, a circle per local error, a diamond per cast, a
   strip of dtypes, lines at what stands out; tables below. */
static void errors_along_the_graph_are_drawn(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x");
    uint32_t low = add_node(&s, "Cast", "cast", x, AMP_NONE, AMP_BFLOAT16);
    uint32_t twice = add_node(&s, "Cast", "twice", x, AMP_NONE, AMP_FLOAT16);
    (void)twice;
    add_node(&s, "Relu", "a", low, AMP_NONE, AMP_BFLOAT16);
    struct parts parts;
    (void)state;
    begin_parts(&parts);
    make_layers(&layers, items);
    layers.count = 6;
    for (size_t i = 0; i < 6; i++) {
        items[i].values[1] = i == 2 ? x : i == 3 ? 1000 : 3 + (uint32_t)i;
        items[i].nodes[1] = (uint32_t)i;
        items[i].dtype[1] = i < 3 ? AMP_FLOAT16 : AMP_FLOAT;
        items[i].range[0] = items[i].range[1] = (struct amp_range){.count = 1, .maximum = 2};
    }
    items[1].local = items[1].accumulated = metrics_of(1, 1);
    items[2].has_local = false;
    items[3].accumulated = metrics_of(1, (double)NAN);
    items[4].dtype[0] = AMP_BFLOAT16;
    items[4].accumulated = (struct amp_metrics){.count = 4, .different = 1};
    items[4].local = (struct amp_metrics){.count = 0};
    layers.largest_jump = 0;
    struct amp_html *html = amp_html_create("layers");
    amp_html_layers(html, &layers, s.model, 20);
    char *text = written_html(html);
    fputs(text, parts.file);
    /* From 62 to 1106, 6 values: a step of 208.8. From 0 to 50 dB between 340 and 24. */
    assert_says(text, "<circle class=\"low\" cx=\"62.0\" cy=\"");
    assert_says(text, "<title>other (Op): 46.0 dB by itself, 40.0 dB accumulated</title>");
    assert_int_equal(count_of(text, "r=\"3\"><title>"), 3);
    assert_says(text, "<title>other (Op): 34.0 dB by itself, lost accumulated</title>");
    assert_int_equal(count_of(text, "<title>a cast</title>"), 1);
    assert_says(text, "<path class=\"solidcast\" d=\"M479.6 339.0l4 4");
    assert_int_equal(count_of(text, " values in fp"), 2);
    assert_says(text, "<title>3 values in fp16 and the like</title>");
    assert_says(text, "<title>3 values in fp32 and the like</title>");
    assert_int_equal(count_of(text, "<path class=\"linebad\" "), 2);
    assert_says(text, "text-anchor=\"end\">worst by itself</text>");
    assert_says(text, "text-anchor=\"start\">largest jump</text>");
    assert_says(text, ">least allowed for outputs</text>");
    assert_says(text, "<path class=\"linefull\" d=\"M62.0 ");
    assert_says(text, "L479.6 ");
    assert_says(text, "L688.4 340.0L1106.0 ");
    assert_null(strstr(text, "not finite (reference)"));
    assert_int_equal(count_of(text, "<tr class=\"bad\">"), 2);
    assert_int_equal(count_of(text, "<tr class=\""), 12);
    assert_says(text, "<td class=\"n\">bf16 \xe2\x86\x92 fp32</td><td class=\"n\">differs</td>"
                      "<td class=\"n\">\xe2\x80\x93</td>");
    assert_says(text, "<td class=\"n\">fp32 \xe2\x86\x92 fp16</td><td class=\"n\">equal</td>"
                      "<td class=\"n\">equal</td>");
    assert_says(text, "<td class=\"n\">fp32</td><td class=\"n\">\xe2\x9c\x97 lost</td>"
                      "<td class=\"n\">34.0 dB</td>");
    assert_says(text, "All 6 values that both models have");
    free(text);

    /* What differs and is no float has no circle. */
    layers.count = 2;
    layers.largest_jump = SIZE_MAX;
    items[1].local = (struct amp_metrics){.count = 4, .different = 1};
    html = amp_html_create("layers");
    amp_html_layers(html, &layers, s.model, 20);
    text = written_html(html);
    assert_int_equal(count_of(text, "r=\"3\"><title>"), 1);
    free(text);

    /* Of one value only, and what is lost. */
    layers.count = 1;
    items[0].range[1].nan = 2;
    items[0].range[0].infinite = 1;
    items[0].accumulated = metrics_of(1, 10001); /* -80 dB, of which the chart shows -60 */
    html = amp_html_create("layers");
    amp_html_layers(html, &layers, s.model, (double)NAN);
    text = written_html(html);
    fputs(text, parts.file);
    assert_says(text, "not finite (reference)");
    assert_says(text, "<td>2 NaN, 0 infinite (0, 1)</td>");
    assert_null(strstr(text, "least allowed"));
    free(text);
    amp_arena_destroy(s.arena);
    end_parts(&parts, "page_layers");
}

/* ---- errors along a graph -------------------------------------------------------------------- */

/* Decibels of each form of metrics: floats by their error, others are equal or not. */
static void errors_have_decibels(void **state)
{
    struct amp_metrics lost = metrics_of(1, (double)NAN), partly = metrics_of(100, 101),
                       whole = {.count = 1, .is_float = true, .finite = 0};
    (void)state;
    partly.stray = 1;
    assert_true(amp_html_decibels(&(struct amp_metrics){.count = 0}) == (double)INFINITY);
    assert_true(amp_html_decibels(&(struct amp_metrics){.count = 0, .is_float = true}) ==
                (double)INFINITY);
    assert_true(isnan(
        amp_html_decibels(&(struct amp_metrics){.count = 0, .is_float = true, .different = 1})));
    assert_true(amp_html_decibels(&(struct amp_metrics){.count = 4}) == (double)INFINITY);
    assert_true(isnan(amp_html_decibels(&(struct amp_metrics){.count = 4, .different = 1})));
    assert_true(isnan(amp_html_decibels(&(struct amp_metrics){
        .count = 4, .finite = 4, .different = 1}))); /* of integers, as of strings */
    assert_true(isnan(amp_html_decibels(&lost)));
    assert_true(isnan(amp_html_decibels(&partly)));
    assert_true(isnan(amp_html_decibels(&whole)));
    struct amp_metrics near = metrics_of(100, 101), zero = metrics_of(0, 1),
                       equal = metrics_of(3, 3);
    assert_true(fabs(amp_html_decibels(&near) - 40) < 1e-9);
    assert_true(isnan(amp_html_decibels(&zero)));
    assert_true(amp_html_decibels(&equal) == (double)INFINITY);
}

/* Each thing that stands out has its mark, in one order; the worst by itself is one only where it
   was measured and differs. */
static void what_stands_out_is_marked(void **state)
{
    static const char *const labels[] = {"first infinity", "first NaN", "largest jump",
                                         "worst by itself"};
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct amp_html_mark marks[AMP_HTML_MARKS];
    (void)state;
    for (unsigned there = 0; there < 16; there++) {
        size_t places[] = {1, 2, 0, 3}, count = 0; /* the last item has the largest error */
        make_layers(&layers, items);
        layers.count = 4;
        layers.first_overflow = (there & 1) != 0 ? places[0] : SIZE_MAX;
        layers.first_nan = (there & 2) != 0 ? places[1] : SIZE_MAX;
        layers.largest_jump = (there & 4) != 0 ? places[2] : SIZE_MAX;
        for (size_t i = 0; i < 4 && (there & 8) == 0; i++) {
            items[i].has_local = i % 2 == 0;
            items[i].local = i % 2 == 0 ? metrics_of(1, 1) : items[i].local;
        }
        size_t n_marks = amp_html_layer_marks(&layers, marks);
        for (size_t i = 0; i < 4; i++) {
            if ((there >> i & 1) == 0)
                continue;
            assert_int_equal(marks[count].item, places[i]);
            assert_string_equal(marks[count++].label, labels[i]);
        }
        assert_int_equal(n_marks, count);
    }
}

static char *compared_graph_of(const struct amp_model *model, const struct amp_layers *layers)
{
    struct amp_html *html = amp_html_create("graph");
    amp_html_compared_graph(html, model, layers);
    return written_html(html);
}

/* A graph says of each node the worst of its values, and the first thing that stands out. */
static void nodes_have_the_worst_of_their_values(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    for (int i = 0; i < 6; i++)
        at = add_node(&s, "Relu", "n", at, AMP_NONE, AMP_FLOAT);
    struct amp_drawing_note notes[6] = {[0] = {true, amp_layers_decibels(4.0 / 200), NULL},
                                        [1] = {true, amp_layers_decibels(5.0 / 200), "first NaN"},
                                        [2] = {true, amp_layers_decibels(0.1), "worst by itself"},
                                        [3] = {true, (double)INFINITY, "largest jump"},
                                        [4] = {true, amp_layers_decibels(0.25), NULL}};
    static const uint32_t nodes[] = {0, 0, 0, 1, 1, 2, 3, 4, 6, 7, 2, 5};
    (void)state;
    make_layers(&layers, items);
    layers.count = AMP_COUNT(nodes);
    for (size_t i = 0; i < layers.count; i++)
        items[i].nodes[1] = nodes[i];
    for (size_t i = 0; i < 2; i++) /* of node 0 the worst is in the middle */
        items[i + 1].local = metrics_of(200, 204 - (double)i);
    items[2].local = metrics_of(200, 202);
    items[1].local = metrics_of(200, 204);
    items[3].local = metrics_of(200, 203);
    items[4].local = metrics_of(200, 205);
    items[5].local = metrics_of(1, (double)NAN);
    items[6].local = metrics_of(1, (double)NAN);
    items[10].local = metrics_of(100, 110);
    items[11].has_local = false;
    items[7].local = metrics_of(4, 5);
    items[8].local = items[9].local = metrics_of(100, 101);
    layers.first_nan = 3;
    layers.largest_jump = 6;
    layers.first_overflow = 8; /* of a node of the reference */
    char *text = compared_graph_of(s.model, &layers), *expected = graph_of(s.model, notes);
    assert_string_equal(text, expected);
    free(text);
    free(expected);

    /* What is named first is kept. */
    layers.first_overflow = layers.largest_jump = 3;
    notes[1].warning = "first infinity";
    notes[3] = (struct amp_drawing_note){.is_known = false};
    text = compared_graph_of(s.model, &layers);
    expected = graph_of(s.model, notes);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    text = compared_graph_of(s.model, NULL);
    expected = graph_of(s.model, NULL);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    amp_arena_destroy(s.arena);
}

/* Ranges are those of the reference by the dtype of the converted model, of what was seen. */
static void layers_have_ranges(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct amp_html_range ranges[2];
    (void)state;
    make_layers(&layers, items);
    layers.count = 3;
    for (size_t i = 0; i < 3; i++) {
        items[i].dtype[1] = i == 0 ? AMP_FLOAT16 : AMP_BFLOAT16;
        items[i].names[1] = i == 0 ? "p" : i == 1 ? "q" : "r";
        items[i].op_type = i == 0 ? "First" : "Other";
        items[i].range[0] = (struct amp_range){
            .count = i != 1, .minimum = -70000, .maximum = (double)i, .smallest = 0.5};
        items[i].range[1] = (struct amp_range){.count = 7, .maximum = 3, .smallest = 0.25};
    }
    ranges[0] = (struct amp_html_range){"p", "First", AMP_FLOAT16, items[0].range[0]};
    ranges[1] = (struct amp_html_range){"r", "Other", AMP_BFLOAT16, items[2].range[0]};
    struct amp_html *html = amp_html_create("ranges");
    amp_html_layer_ranges(html, &layers);
    char *text = written_html(html), *expected = ranges_of(ranges, 2);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

static char *layers_of(const struct amp_layers *layers, const struct amp_model *model, double bound)
{
    struct amp_html *html = amp_html_create("layers");
    amp_html_layers(html, layers, model, bound);
    return written_html(html);
}

/* Charts of one value and of two, whole. */
static void small_charts_are_drawn(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct sketch s = sketch();
    uint32_t x = add_input(&s, "x");
    (void)state;
    add_node(&s, "Relu", "a", x, AMP_NONE, AMP_FLOAT);
    uint32_t cast = add_node(&s, "Cast", "cast", x, AMP_NONE, AMP_BFLOAT16);
    make_layers(&layers, items);
    layers.count = 1;
    items[0].values[1] = x;
    items[0].dtype[1] = AMP_FLOAT;
    amp_node_at(s.model, amp_value_at(s.model, cast)->producer)->is_removed = true;
    char *text = layers_of(&layers, s.model, (double)NAN);
    assert_part(
        text, "<figure>", "</svg>",
        "<figure>\n"
        "<svg role=\"img\" viewBox=\"0 0 1120 400\" width=\"1120\" height=\"400\"><title>Signal to "
        "noise along the graph</title>\n"
        "<path class=\"grid\" d=\"M62.0 340.0H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"344.0\" text-anchor=\"end\">0</text>\n"
        "<path class=\"grid\" d=\"M62.0 287.3H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"291.3\" text-anchor=\"end\">10</text>\n"
        "<path class=\"grid\" d=\"M62.0 234.7H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"238.7\" text-anchor=\"end\">20</text>\n"
        "<path class=\"grid\" d=\"M62.0 182.0H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"186.0\" text-anchor=\"end\">30</text>\n"
        "<path class=\"grid\" d=\"M62.0 129.3H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"133.3\" text-anchor=\"end\">40</text>\n"
        "<path class=\"grid\" d=\"M62.0 76.7H1106.0\"/><text class=\"soft\" x=\"56.0\" y=\"80.7\" "
        "text-anchor=\"end\">50</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0H1106.0\"/><text class=\"soft\" x=\"56.0\" y=\"28.0\" "
        "text-anchor=\"end\">60</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0V340.0\"/><text class=\"soft\" x=\"62.0\" y=\"375.0\" "
        "text-anchor=\"middle\">0</text>\n"
        "<path class=\"grid\" d=\"M1106.0 24.0V340.0\"/><text class=\"soft\" x=\"1106.0\" "
        "y=\"375.0\" text-anchor=\"middle\">1</text>\n"
        "<text x=\"1106.0\" y=\"392.0\" text-anchor=\"end\">values in the order of the "
        "graph</text>\n"
        "<text x=\"4\" y=\"13\">signal to noise in dB: higher is better</text>\n"
        "<path class=\"axis\" d=\"M62.0 24.0V340.0H1106.0\"/>\n"
        "<rect class=\"full\" x=\"62.0\" y=\"349.0\" width=\"522.0\" height=\"6.0\"><title>1 "
        "values in fp32 and the like</title></rect>\n"
        "<path class=\"linefull\" d=\"M62.0 129.3\"/>\n"
        "<path class=\"dots low\" d=\"M0 0\"/>\n"
        "<circle class=\"full\" cx=\"62.0\" cy=\"97.6\" r=\"3\"><title>other (Op): 46.0 dB by "
        "itself, 40.0 dB accumulated</title></circle>\n"
        "<path class=\"linebad\" d=\"M62.0 38.0V340.0\"/><text class=\"badtext\" x=\"70.0\" "
        "y=\"47.0\" text-anchor=\"start\">worst by itself</text>\n"
        "<path class=\"solidbad\" d=\"M62.0 38.0l7 12h-14z\"><title>other (Op)</title></path>\n");
    free(text);

    layers.count = 2;
    layers.first_nan = 1;
    items[1].values[1] = x;
    items[1].dtype[1] = AMP_INT64;
    items[1].has_local = false;
    items[0].accumulated = metrics_of(1, 3); /* -6 dB */
    items[1].accumulated = metrics_of(1, 1);
    text = layers_of(&layers, s.model, 70);
    assert_part(
        text, "<figure>", "</svg>",
        "<figure>\n"
        "<svg role=\"img\" viewBox=\"0 0 1120 400\" width=\"1120\" height=\"400\"><title>Signal to "
        "noise along the graph</title>\n"
        "<path class=\"grid\" d=\"M62.0 340.0H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"344.0\" text-anchor=\"end\">-20</text>\n"
        "<path class=\"grid\" d=\"M62.0 276.8H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"280.8\" text-anchor=\"end\">0</text>\n"
        "<path class=\"grid\" d=\"M62.0 213.6H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"217.6\" text-anchor=\"end\">20</text>\n"
        "<path class=\"grid\" d=\"M62.0 150.4H1106.0\"/><text class=\"soft\" x=\"56.0\" "
        "y=\"154.4\" text-anchor=\"end\">40</text>\n"
        "<path class=\"grid\" d=\"M62.0 87.2H1106.0\"/><text class=\"soft\" x=\"56.0\" y=\"91.2\" "
        "text-anchor=\"end\">60</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0H1106.0\"/><text class=\"soft\" x=\"56.0\" y=\"28.0\" "
        "text-anchor=\"end\">80</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0V340.0\"/><text class=\"soft\" x=\"62.0\" y=\"375.0\" "
        "text-anchor=\"middle\">0</text>\n"
        "<path class=\"grid\" d=\"M1106.0 24.0V340.0\"/><text class=\"soft\" x=\"1106.0\" "
        "y=\"375.0\" text-anchor=\"middle\">1</text>\n"
        "<text x=\"1106.0\" y=\"392.0\" text-anchor=\"end\">values in the order of the "
        "graph</text>\n"
        "<text x=\"4\" y=\"13\">signal to noise in dB: higher is better</text>\n"
        "<path class=\"axis\" d=\"M62.0 24.0V340.0H1106.0\"/>\n"
        "<path class=\"bound\" d=\"M62.0 55.6H1106.0\"/><text x=\"68.0\" y=\"51.6\">least allowed "
        "for outputs</text>\n"
        "<rect class=\"full\" x=\"62.0\" y=\"349.0\" width=\"261.0\" height=\"6.0\"><title>1 "
        "values in fp32 and the like</title></rect>\n"
        "<rect class=\"other\" x=\"845.0\" y=\"349.0\" width=\"261.0\" height=\"3.0\"><title>1 "
        "values in int64 and the like</title></rect>\n"
        "<path class=\"linefull\" d=\"M62.0 295.8\"/>\n"
        "<path class=\"dots low\" d=\"M0 0\"/>\n"
        "<circle class=\"full\" cx=\"62.0\" cy=\"131.4\" r=\"3\"><title>other (Op): 46.0 dB by "
        "itself, -6.0 dB accumulated</title></circle>\n"
        "<path class=\"linebad\" d=\"M1106.0 38.0V340.0\"/><text class=\"badtext\" x=\"1098.0\" "
        "y=\"47.0\" text-anchor=\"end\">first NaN</text>\n"
        "<path class=\"solidbad\" d=\"M1106.0 38.0l7 12h-14z\"><title>other (Op)</title></path>\n"
        "<path class=\"linebad\" d=\"M62.0 53.0V340.0\"/><text class=\"badtext\" x=\"70.0\" "
        "y=\"62.0\" text-anchor=\"start\">worst by itself</text>\n"
        "<path class=\"solidbad\" d=\"M62.0 53.0l7 12h-14z\"><title>other (Op)</title></path>\n");
    free(text);

    /* From -60 dB, whatever was lost; to 25 where nothing is better. */
    for (int i = 0; i < 4; i++) {
        items[0].accumulated = i == 0   ? metrics_of(1, 10001)
                               : i == 1 ? metrics_of(1, 1.2)
                               : i == 2 ? metrics_of(1, 1)
                                        : metrics_of(1, (double)NAN);
        items[0].has_local = false;
        text = layers_of(&layers, s.model, i == 3 ? 20 : (double)NAN);
        static const char *const first[] = {">-60<", ">0<", ">0<", ">0<"}, *const last[] = {
                                                                               ">40<", ">25<",
                                                                               ">25<", ">25<"};
        char *part = part_of(text, "<svg role", "<text x=\"1106");
        const char *at = strstr(part, "anchor=\"end\""), *end = at;
        for (const char *next; (next = strstr(end + 1, "anchor=\"end\"")) != NULL;)
            end = next;
        assert_int_equal(strncmp(at + 12, first[i], strlen(first[i])), 0);
        assert_int_equal(strncmp(end + 12, last[i], strlen(last[i])), 0);
        free(part);
        free(text);
    }
    amp_arena_destroy(s.arena);
}

/* Circles for the four hundred worst, dots for the others that differ; rows for 1200 values. */
static void long_charts_are_drawn(void **state)
{
    enum { MANY = 1201, CIRCLES = 400 };
    static struct amp_layer items[MANY];
    struct amp_layers layers;
    struct amp_layer few[LAYERS];
    struct sketch s = sketch();
    (void)state;
    add_node(&s, "Relu", "a", add_input(&s, "x"), AMP_NONE, AMP_FLOAT);
    make_layers(&layers, few);
    layers.items = items;
    for (size_t i = 0; i < MANY; i++)
        items[i] = few[0];
    for (size_t count = CIRCLES; count <= CIRCLES + 5; count += 5) {
        layers.count = count;
        items[401].local = metrics_of(200, 200);
        items[402].local = (struct amp_metrics){.count = 1000, .different = 1};
        items[403].has_local = false;
        char *text = layers_of(&layers, s.model, (double)NAN);
        assert_int_equal(count_of(text, "by itself, 40.0 dB accumulated</title></circle>"),
                         CIRCLES);
        /* 1044 wide, 404 steps; from 0 to 60 dB. */
        assert_part(text, "<path class=\"dots low\"", "\n",
                    count == CIRCLES ? "<path class=\"dots low\" d=\"M0 0\"/>"
                                     : "<path class=\"dots low\" d=\"M0 0M1095.7 97.6h0"
                                       "M1106.0 97.6h0\"/>");
        free(text);
    }
    for (size_t count = MANY - 1; count <= MANY; count++) {
        layers.count = count;
        char *text = layers_of(&layers, s.model, (double)NAN);
        assert_int_equal(count_of(text, "<tr class=\""), 15 + 1200);
        assert_int_equal(count_of(text, "<p>1 more are left out; <code>compare --layers "
                                        "--json</code> has them.</p>\n"),
                         count == MANY);
        assert_int_equal(count_of(text, "left out;"), count == MANY);
        free(text);
    }
    amp_arena_destroy(s.arena);
}

/* The tables of what was measured: heads with their classes, every form of a row. */
static void rows_of_values_have_their_forms(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct sketch s = sketch();
    (void)state;
    add_node(&s, "Relu", "a", add_input(&s, "x"), AMP_NONE, AMP_FLOAT);
    make_layers(&layers, items);
    layers.count = 3;
    items[1].dtype[0] = AMP_FLOAT16;
    items[1].range[0] = (struct amp_range){.count = 4, .nan = 1, .minimum = -8, .maximum = 2};
    items[1].worst.values[0] = 1.5;
    items[1].worst.values[1] = 0.25;
    items[2].accumulated = (struct amp_metrics){.count = 0};
    items[2].local = (struct amp_metrics){.count = 2, .different = 0};
    items[2].dtype[0] = AMP_UNDEFINED;
    static const char head[] =
        "<thead><tr><th scope=\"col\">node, or value of one without a name</th>"
        "<th scope=\"col\">operator</th><th scope=\"col\">dtype</th>"
        "<th scope=\"col\" class=\"n\">accumulated</th>"
        "<th scope=\"col\" class=\"n\">by itself</th>"
        "<th scope=\"col\" class=\"n\">largest magnitude</th>"
        "<th scope=\"col\" class=\"n\">worst element</th>%s</tr></thead>\n<tbody>\n";
    static const char lost_head[] = "<th scope=\"col\">not finite (reference)</th>";
    char heads[2][1024];
    snprintf(heads[0], sizeof heads[0], head, "");
    snprintf(heads[1], sizeof heads[1], head, lost_head);
    for (int i = 0; i < 6; i++) {
        items[1].range[0].nan = i == 1;
        items[1].range[0].infinite = i == 2;
        items[1].range[1].nan = i == 3;
        items[1].range[1].infinite = i == 4;
        layers.largest_jump = i == 5 ? 0 : SIZE_MAX;
        char *text = layers_of(&layers, s.model, (double)NAN);
        bool is_lost = i >= 1 && i <= 4;
        assert_int_equal(count_of(text, heads[is_lost]), 2);
        char rows[3][256], lost[64] = "";
        if (is_lost)
            snprintf(lost, sizeof lost, "<td>%d NaN, %d infinite (%d, %d)</td>", i == 3, i == 4,
                     i == 1, i == 2);
        snprintf(rows[0], sizeof rows[0],
                 "\"><td><code>other</code></td><td>Op</td><td class=\"n\">fp32 \xe2\x86\x92 fp16"
                 "</td><td class=\"n\">40.0 dB</td><td class=\"n\">46.0 dB</td><td class=\"n\">2"
                 "</td><td class=\"n\">0 \xe2\x86\x92 0</td>%s</tr>\n",
                 is_lost ? "<td></td>" : "");
        snprintf(rows[1], sizeof rows[1],
                 "\"><td><code>node</code></td><td>Op</td><td class=\"n\">fp16</td>"
                 "<td class=\"n\">34.0 dB</td><td class=\"n\">40.0 dB</td><td class=\"n\">8</td>"
                 "<td class=\"n\">1.5 \xe2\x86\x92 0.25</td>%s</tr>\n",
                 lost);
        snprintf(rows[2], sizeof rows[2],
                 "\"><td><code>other</code></td><td>Op</td><td class=\"n\">no floats \xe2\x86\x92 "
                 "fp16</td><td class=\"n\">\xe2\x80\x93</td><td class=\"n\">equal</td>"
                 "<td class=\"n\">2</td><td class=\"n\">0 \xe2\x86\x92 0</td>%s</tr>\n",
                 is_lost ? "<td></td>" : "");
        char worst[2048], all[2048];
        snprintf(worst, sizeof worst,
                 "%s<tr class=\"bad%s<tr class=\"%s%s<tr class=\"%s</tbody></table></div>\n"
                 "<details><summary>All 3 values that both models have</summary>\n",
                 heads[is_lost], rows[1], i == 5 ? "bad" : "", rows[0], rows[2]);
        snprintf(all, sizeof all,
                 "%s<tr class=\"%s<tr class=\"%s<tr class=\"%s</tbody></table></div>\n"
                 "</details>\n</main>\n",
                 heads[is_lost], rows[0], rows[1], rows[2]);
        assert_says(text, worst);
        assert_says(text, all);
        free(text);
    }
    amp_arena_destroy(s.arena);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Outputs of each form, of which the first two were compared. */
static void make_run(struct amp_run_result *result, struct amp_run_output outputs[6])
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    *result = (struct amp_run_result){.model_path = "dir/m.onnx",
                                      .samples = 2,
                                      .n_outputs = 6,
                                      .outputs = outputs,
                                      .compared = 3,
                                      .mismatch = "",
                                      .seconds = 0.25};
    for (size_t i = 0; i < 6; i++)
        outputs[i] = (struct amp_run_output){
            .name = names[i], .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {3}}};
    outputs[0].summary = (struct amp_summary){.count = 8,
                                              .finite = 4,
                                              .minimum = -1.5,
                                              .maximum = 2.5,
                                              .sum = 6,
                                              .nan = 1,
                                              .infinite = 3};
    outputs[0].compared = 2;
    outputs[0].metrics = metrics_of(100, 101);
    outputs[1].dtype = AMP_INT64;
    outputs[1].summary =
        (struct amp_summary){.count = 2, .finite = 2, .minimum = 1, .maximum = 3, .sum = 4};
    outputs[1].compared = 1;
    outputs[1].metrics = (struct amp_metrics){.count = 4, .different = 1};
    outputs[2].summary = (struct amp_summary){.count = 5, .infinite = 5};
    outputs[3].summary = (struct amp_summary){.count = 0};
    outputs[4].dtype = AMP_STRING;
    outputs[4].form = AMP_FORM_SEQUENCE;
    outputs[4].summary = (struct amp_summary){.count = 7};
    outputs[5].dtype = AMP_UNDEFINED;
    outputs[5].form = AMP_FORM_MAP;
    outputs[5].summary = (struct amp_summary){
        .count = 1, .finite = 1, .minimum = 1, .maximum = 1, .sum = 1, .nan = 2};
}

static void assert_run(const struct amp_run_result *result, int verbosity, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    amp_report_run(file, result, verbosity);
    assert_written(file, &text, expected);
}

#define FIRST_OUTPUTS(behind_a, behind_b)                                                     \
    "  output     'a' float32 [3]: min -1.5, max 2.5, mean 1.5, 1 NaN, 3 infinite\n" behind_a \
    "  output     'b' int64 [3]: min 1, max 3, mean 2\n" behind_b                             \
    "  output     'c' float32 [3]: no finite element, 0 NaN, 5 infinite\n"                    \
    "  output     'd' float32 [3]: empty\n"

/* Four outputs of six, or all with what they were compared with. */
static void a_run_says_what_its_outputs_are(void **state)
{
    struct amp_run_output outputs[6];
    struct amp_run_result result;
    (void)state;
    make_run(&result, outputs);
    assert_run(&result, 0,
               FIRST_OUTPUTS("", "") "             2 more outputs; -v lists them\n"
                                     "  expected   3 tensors compared: within tolerance\n");
    assert_run(
        &result, 1,
        FIRST_OUTPUTS(
            "             snr 40 dB, cosine 1, max abs error 1\n",
            "             elements that differ 25 %\n") "  output     'e' sequence of string [3]: "
                                                        "7 strings\n"
                                                        "  output     'f' map of keys and values "
                                                        "[3]: min 1, max 1, mean 1, 2 NaN, 0 "
                                                        "infinite\n"
                                                        "  expected   3 tensors compared: within "
                                                        "tolerance\n"
                                                        "  run        2 samples, 0.25 s\n");
    result.n_outputs = 5;
    result.compared = 1;
    result.mismatch = "far off";
    outputs[4].dtype = AMP_UNDEFINED;
    assert_run(&result, 0,
               FIRST_OUTPUTS("", "") "  output     'e' sequence of maps [3]: no finite element\n"
                                     "  expected   1 tensor compared: outside tolerance\n");
    result.n_outputs = 1;
    result.compared = 0;
    result.samples = 1;
    assert_run(&result, 1,
               "  output     'a' float32 [3]: min -1.5, max 2.5, mean 1.5, 1 NaN, 3 infinite\n"
               "             snr 40 dB, cosine 1, max abs error 1\n"
               "  run        1 sample, 0.25 s\n");
}

static void a_run_is_json(void **state)
{
    struct amp_run_output outputs[6];
    struct amp_run_result result;
    struct amp_input_notes none = {.model = NULL};
    char *text;
    (void)state;
    make_run(&result, outputs);
    text = amp_json_dump(amp_json_run(&result, &none), JSON_COMPACT);
    assert_says(text,
                "{\"name\":\"b\",\"type\":\"tensor\",\"dtype\":\"int64\",\"shape\":[3],"
                "\"elements\":2,\"min\":1.0,\"max\":3.0,\"mean\":2.0,\"nan\":0,\"infinite\":0,"
                "\"metrics\":{\"differ\":0.25}},{\"name\":\"c\",\"type\":\"tensor\","
                "\"dtype\":\"float32\",\"shape\":[3],\"elements\":5,\"min\":null,"
                "\"max\":null,\"mean\":null,\"nan\":0,\"infinite\":5},");
    assert_says(text, "{\"name\":\"f\",\"type\":\"map\",\"dtype\":null,\"shape\":[3],"
                      "\"elements\":1,\"min\":1.0,\"max\":1.0,\"mean\":1.0,\"nan\":2,"
                      "\"infinite\":0}],\"expected\":{\"compared\":3,\"within\":true},"
                      "\"widened_nodes\":0,");
    free(text);
    result.n_outputs = 0;
    result.mismatch = "far off";
    text = amp_json_dump(amp_json_run(&result, &none), JSON_COMPACT);
    assert_says(text, "\"expected\":{\"compared\":3,\"within\":false,\"reason\":\"far off\"},");
    free(text);
    result.compared = 0;
    result.widened = 1;
    result.squeezed = 2;
    result.integers = 3;
    text = amp_json_dump(amp_json_run(&result, &none), JSON_COMPACT);
    assert_null(strstr(text, "expected"));
    assert_null(strstr(text, "accuracy"));
    assert_null(strstr(text, "tasks"));
    assert_says(text, "\"widened_nodes\":1,\"squeezed_nodes\":2,\"integer_nodes\":3,"
                      "\"seconds\":0.25}");
    free(text);
}

static char *run_page_of(const struct amp_run_page *page)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_html_run_page(page, "page.html", &err), AMP_OK);
    assert_xml("page.html");
    char *text = read_text("page.html"), *part = strdup(strstr(text, "<main>"));
    free(text);
    return part;
}

/* The page of a run: whether it is as expected, a row for each output, six pictures. */
static void a_run_has_a_page(void **state)
{
    static struct amp_deviations deviations;
    struct amp_run_output outputs[8];
    struct amp_run_result result;
    struct sketch s = sketch();
    struct amp_input_notes none = {.model = NULL};
    struct amp_run_page page = {.result = &result,
                                .inputs = &none,
                                .model = {.role = "model", .path = "m.onnx", .model = s.model}};
    (void)state;
    add_node(&s, "Relu", "n", add_input(&s, "x"), AMP_NONE, AMP_FLOAT);
    make_run(&result, outputs);
    outputs[6] = outputs[7] = outputs[2];
    result.n_outputs = 8;
    deviations.seen = deviations.finite = deviations.equal = 1;
    for (size_t i = 1; i < 8; i++)
        outputs[i].deviations = &deviations;
    char *text = run_page_of(&page);
    assert_says(text, "<h1>Run of m.onnx</h1>");
    assert_says(text, "<p class=\"verdict good\"><strong>\xe2\x9c\x93 As expected</strong><br/>2 "
                      "samples, 3 expected outputs. </p>");
    assert_says(text, "<tr><td><code>a</code></td><td>float32 [3]</td><td class=\"n\">8</td>"
                      "<td class=\"n\">-1.5</td><td class=\"n\">2.5</td><td class=\"n\">1.5</td>"
                      "<td class=\"n\">1</td><td class=\"n\">3</td></tr>\n");
    assert_says(text, "<tr><td><code>c</code></td><td>float32 [3]</td><td class=\"n\">5</td>"
                      "<td></td><td></td><td></td><td class=\"n\">0</td><td class=\"n\">5</td>"
                      "</tr>\n");
    assert_int_equal(count_of(text, "<tr><td><code>a</code></td><td>float32</td>"), 1);
    assert_int_equal(count_of(text, "<tr><td><code>b</code></td><td>int64</td>"), 1);
    assert_int_equal(count_of(text, "<tr><td><code>c</code></td><td>float32</td>"), 0);
    assert_int_equal(count_of(text, "<h3>Output <code>"), 6);
    assert_null(strstr(text, "rounded"));
    free(text);
    result.samples = result.compared = 1;
    result.mismatch = "far off";
    result.widened = 2;
    outputs[1].deviations = NULL;
    deviations.seen = 0;
    text = run_page_of(&page);
    assert_says(text,
                "<p class=\"verdict bad\"><strong>\xe2\x9c\x97 Not as expected</strong><br/>1 "
                "sample, 1 expected output. far off</p>\n<p>2 nodes were computed in float32 "
                "and rounded: ");
    assert_int_equal(count_of(text, "<h3>Output <code>"), 0);
    free(text);
    result.compared = 0;
    result.mismatch = "";
    text = run_page_of(&page);
    assert_says(text, "<p class=\"verdict plain\"><strong>It ran; nothing was expected</strong>"
                      "<br/>1 sample, 0 expected outputs. </p>");
    assert_null(strstr(text, "The outputs against the expected ones"));
    free(text);
    amp_arena_destroy(s.arena);
}

/* The page of a conversion: whether it was validated and written, and its sections. */
static void a_conversion_has_a_page(void **state)
{
    static const char *const names[] = {"torch-cpu", "fast"};
    struct sketch s = sketch();
    struct amp_conversion conversion = make_unchanged();
    struct amp_output_check outputs[2];
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation = made_up(outputs, &task, &eval);
    struct amp_convert_page page = {
        .compared = {.models = {{"reference", "m", s.model, 40}, {"converted", "o", s.model, 0}}},
        .conversion = &conversion};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    amp_model_import(s.model, "", 17);
    add_node(&s, "Relu", "n", add_input(&s, "x"), AMP_NONE, AMP_FLOAT);
    for (int i = 0; i < 4; i++) {
        page.is_written = i % 2 == 0;
        page.compared.validation = i >= 2 ? &validation : NULL;
        conversion.keeps_types = i == 1;
        conversion.rule_names = names;
        conversion.n_rule_names = i == 2 ? 2 : 0;
        conversion.opset_obstacle = i == 3 ? "too old" : NULL;
        conversion.runs_on.is_known = i == 3;
        conversion.runs_on.gaps[3].opset = 21;
        assert_int_equal(amp_html_convert_page(&page, "page.html", &err), AMP_OK);
        assert_xml("page.html");
        char *text = read_text("page.html");
        assert_says(text, "<h1>Conversion of m to bfloat16</h1>");
        assert_int_equal(
            count_of(text, "<strong>Not validated</strong><br/>Neither model was run."), i < 2);
        assert_int_equal(count_of(text, "Outside tolerance"), i >= 2);
        assert_int_equal(count_of(text, "The model was written to o."), i % 2 == 0);
        assert_int_equal(count_of(text, "No model was written; --accept writes it all the same."),
                         i % 2 == 1);
        assert_int_equal(count_of(text, "<td>none: only the opset was raised</td>"), i == 1);
        assert_int_equal(count_of(text, "<th scope=\"row\">lower dtype</th><td>bfloat16</td>"),
                         i != 1);
        assert_int_equal(count_of(text, "<th scope=\"row\">rules</th>"), i == 2 ? 2 : 0);
        assert_int_equal(count_of(text, "<th scope=\"row\">opset</th><td>too old</td>"), i == 3);
        assert_int_equal(count_of(text, "<th scope=\"row\">runs on</th>"), i == 3);
        assert_int_equal(count_of(text, "<h2>"), 5);
        assert_says(text, "<th scope=\"row\">size of the file</th><td class=\"n\">40 bytes</td>"
                          "<td class=\"n\"></td></tr>");
        assert_says(text, "<th scope=\"row\">nodes</th><td class=\"n\">1</td><td class=\"n\">1</td>"
                          "</tr>\n<tr><th scope=\"row\">of those, in float32</th>");
        assert_says(text, "<th scope=\"row\">opset</th><td class=\"n\">17</td>");
        free(text);
    }
    amp_arena_destroy(s.arena);
}

/* Rows of what models are made of: nodes that are left, casts on their own, weights; operators by
   how many nodes they have. */
static void models_are_counted(void **state)
{
    struct sketch s = sketch();
    struct amp_tensor weight = {.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {5}}};
    struct amp_html_model model = {.role = "model", .path = "m", .model = s.model};
    (void)state;
    uint32_t x = add_input(&s, "x");
    uint32_t low = add_node(&s, "Cast", "cast", x, AMP_NONE, AMP_BFLOAT16);
    uint32_t a = add_node(&s, "Relu", "a", low, AMP_NONE, AMP_BFLOAT16);
    add_node(&s, "Shape", "size", a, AMP_NONE, AMP_INT64);
    add_node(&s, "Cast", "index", a, AMP_NONE, AMP_INT64);
    uint32_t gone = add_node(&s, "Exp", "gone", x, AMP_NONE, AMP_DOUBLE);
    add_node(&s, "Relu", "d", x, AMP_NONE, AMP_DOUBLE);
    amp_node_at(s.model, amp_value_at(s.model, gone)->producer)->is_removed = true;
    for (int i = 0; i < 3; i++) {
        uint32_t id = add_value(&s, i == 0 ? "w" : i == 1 ? "v" : "u", AMP_FLOAT);
        struct amp_value *value = amp_value_at(s.model, id);
        value->is_initializer = i != 1;
        value->is_removed = i == 2;
        value->initial = &weight;
    }
    s.model->producer = "someone";
    s.model->ir_version = 8;
    struct amp_html *html = amp_html_create("models");
    amp_html_models(html, &model, 1);
    amp_html_operators(html, s.model);
    char *text = written_html(html);
    assert_says(text, "<th scope=\"row\">nodes</th><td class=\"n\">5</td></tr>\n"
                      "<tr><th scope=\"row\">of those, without floats</th><td class=\"n\">2</td>"
                      "</tr>\n<tr><th scope=\"row\">of those, in float64</th><td class=\"n\">1</td>"
                      "</tr>\n<tr><th scope=\"row\">of those, in bfloat16</th><td class=\"n\">1"
                      "</td></tr>\n<tr><th scope=\"row\">casts between float types</th>"
                      "<td class=\"n\">1</td></tr>\n<tr><th scope=\"row\">parameters</th>"
                      "<td class=\"n\">5 (20 bytes)</td></tr>\n");
    assert_says(text, "<th scope=\"row\">IR version</th><td class=\"n\">8</td></tr>\n"
                      "<tr><th scope=\"row\">written by</th><td class=\"n\">someone</td></tr>");
    assert_says(text, "<tbody>\n<tr><td>Cast</td><td class=\"n\">2</td><td class=\"n\">1</td>"
                      "<td class=\"n\"></td><td class=\"n\">1</td></tr>\n"
                      "<tr><td>Relu</td><td class=\"n\">2</td><td class=\"n\">1</td>"
                      "<td class=\"n\">1</td><td class=\"n\"></td></tr>\n"
                      "<tr><td>Shape</td><td class=\"n\">1</td><td class=\"n\"></td>"
                      "<td class=\"n\"></td><td class=\"n\">1</td></tr>\n</tbody>");
    assert_null(strstr(text, "left out"));
    free(text);
    for (int n = 0; n < 198; n++) {
        char name[16];
        snprintf(name, sizeof name, "Op%d", n);
        amp_graph_add_node(s.model, 0, amp_arena_strdup(s.arena, name), 0, 0);
        if (n < 196)
            continue;
        html = amp_html_create("operators");
        amp_html_operators(html, s.model);
        text = written_html(html);
        assert_int_equal(count_of(text, "<tr><td>"), 200);
        assert_int_equal(count_of(text, "<p>1 more operators are left out.</p>"), n == 197);
        assert_int_equal(count_of(text, "left out"), n == 197);
        free(text);
    }
    amp_arena_destroy(s.arena);
}

/* Numbers in cells, also those that are none. */
static void cells_have_numbers(void **state)
{
    static const double numbers[] = {
        0, -0.25, 12345.678, 1e-9, (double)NAN, (double)INFINITY, -(double)INFINITY};
    struct amp_html *html = amp_html_create("cells");
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(numbers); i++) {
        amp_html_number_cell(html, numbers[i]);
        amp_html_put(html, "\n");
    }
    char *text = written_html(html);
    assert_part(text, "<td", "</main>",
                "<td class=\"n\">0</td>\n<td class=\"n\">-0.25</td>\n<td class=\"n\">1.235e+04"
                "</td>\n<td class=\"n\">1e-09</td>\n<td class=\"n\">NaN</td>\n<td class=\"n\">"
                "\xe2\x88\x9e</td>\n<td class=\"n\">-\xe2\x88\x9e</td>\n");
    free(text);
}

/* What nodes of both models selected, a row each; metrics that are infinite. */
static void selections_have_rows(void **state)
{
    struct sketch s = sketch();
    struct amp_selection items[] = {{.node = 0, .items = {3, 4}, .larger = 10, .otherwise = 1},
                                    {.node = 1, .items = {5, 6}, .larger = 7, .otherwise = 2}};
    struct amp_output_check output = {.name = "y",
                                      .dtype = {AMP_FLOAT, AMP_FLOAT},
                                      .shape = {.rank = 1, .dims = {1}},
                                      .metrics = metrics_of(3, 3)};
    struct amp_validation validation = {
        .is_within = true, .samples = 1, .n_outputs = 1, .outputs = &output};
    static const char caption[] = "<caption>What nodes selected by comparing values.";
    (void)state;
    add_node(&s, "TopK", "a", AMP_NONE, AMP_NONE, AMP_FLOAT);
    add_node(&s, "TopK", "b", AMP_NONE, AMP_NONE, AMP_FLOAT);
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        validation.bounds.items[row] = (double)NAN;
    for (size_t n = 0; n <= 2; n++) {
        validation.selections =
            (struct amp_selections){.model = s.model, .items = items, .count = n};
        struct amp_html *html = amp_html_create("verdict");
        amp_html_verdict(html, &validation, "A note.");
        char *text = written_html(html);
        assert_int_equal(count_of(text, caption), n > 0);
        assert_int_equal(count_of(text, "<tr><td><code>TopK &#39;a&#39;</code></td><td "
                                        "class=\"n\">3</td><td class=\"n\">4</td><td class=\"n\">1 "
                                        "of 10</td></tr>\n"),
                         n > 0);
        assert_int_equal(count_of(text, "<tr><td><code>TopK &#39;b&#39;</code></td><td "
                                        "class=\"n\">5</td><td class=\"n\">6</td><td class=\"n\">2 "
                                        "of 7</td></tr>\n</tbody></table></div>\n"),
                         n > 1);
        assert_says(text, "A note.</p>\n<p class=\"dim\"></p>\n");
        assert_says(text, "<td class=\"w\">float32 [1]</td><td class=\"n\">\xe2\x88\x9e</td>");
        free(text);
    }
    amp_arena_destroy(s.arena);
}

/* Groups of sources by what they do: those that lose elements, then those of the most power, of
   equal ones the first; none where none does anything. */
static void the_largest_source_is_found(void **state)
{
    struct amp_noise_source sources[4];
    struct amp_noise noise = {.sources = sources, .n_sources = 4, .n_groups = 3};
    static const struct {
        double power[4];
        uint64_t lost[4];
        size_t largest;
    } rows[] = {{{0, 0, 0, 0}, {0}, SIZE_MAX},    {{1, 1, 1, 3}, {0}, 3},
                {{1, 2, 2, 3}, {0}, 1},           {{3, 1, 2, 3}, {0}, 0},
                {{9, 1, 2, 9}, {0, 1, 1, 0}, 1},  {{0, 0, 0, 0}, {0, 0, 0, 2}, 3},
                {{0, 3, 3, 7}, {1, 1, 1, 1}, 3},  {{7, 3, 3, 6}, {1, 1, 1, 1}, 0},
                {{6, 3, 3, 6}, {1, 1, 1, 1}, 0},  {{9, 0, 0, 0}, {0, 0, 0, 1}, 3},
                {{0, 0.5, 0, 0}, {0, 0, 0, 0}, 1}};
    (void)state;
    for (size_t r = 0; r < AMP_COUNT(rows); r++) {
        for (size_t i = 0; i < 4; i++)
            sources[i] = (struct amp_noise_source){.name = "v",
                                                   .node = "",
                                                   .op_type = "Op",
                                                   .group = i == 0  ? 0
                                                            : i < 3 ? 1
                                                                    : 2,
                                                   .power = rows[r].power[i],
                                                   .n_lost = rows[r].lost[i]};
        assert_int_equal(amp_html_noise_largest(&noise), rows[r].largest);
    }
    noise.n_groups = noise.n_sources = 0;
    assert_int_equal(amp_html_noise_largest(&noise), SIZE_MAX);
}

static void assert_sum(const struct amp_noise *noise, const char *expected)
{
    struct amp_html *html = amp_html_create("noise");
    amp_html_noise(html, noise);
    char *text = written_html(html);
    assert_part(text, "<p>", "\n", expected);
    free(text);
}

/* The sum of the sources and what was measured, where there are such; sources that do nothing have
   no bar, and without power there is no table. */
static void noise_is_summed_up(void **state)
{
    struct amp_noise_source source = {.name = "v", .node = "", .op_type = "Op"};
    struct amp_noise noise = {
        .sources = &source, .n_sources = 1, .n_groups = 1, .n_probed = 1, .chance = (double)NAN};
    static const char head[] = "<p>1 places where the conversion rounds were tried, each alone, in "
                               "1 groups on %s. %s</p>";
    static const char *const says[] = {
        "",
        "Together they give a signal to noise of <strong>40.0 dB</strong>.",
        "Together they give a signal to noise of <strong>40.0 dB</strong>; measured: "
        "<strong>30.0 dB</strong>, a difference of 10.0 dB.",
        "Together they give a signal to noise of <strong>40.0 dB</strong>; measured: "
        "<strong>30.0 dB</strong>, a difference of 10.0 dB, where chance makes 1.5 dB.",
        "Together they give a signal to noise of <strong>40.0 dB</strong>; measured: "
        "<strong>30.0 dB</strong>. <strong>1 elements of the outputs are lost</strong>: finite in "
        "the reference, NaN or infinite in the converted model.",
        ""};
    char expected[1024];
    (void)state;
    for (int i = 0; i < 6; i++) {
        noise.predicted = i > 0 && i < 5 ? 1e-4 : 0;
        source.power = i > 1 ? noise.predicted : 0;
        noise.measured = i > 1 ? 1e-3 : 0;
        noise.chance = i > 2 ? 1.5 : (double)NAN;
        noise.n_lost = i == 4;
        noise.n_probed = i == 5 ? 2 : 1;
        snprintf(expected, sizeof expected, head, i == 5 ? "2 samples" : "1 sample", says[i]);
        assert_sum(&noise, expected);
        struct amp_html *html = amp_html_create("noise");
        amp_html_noise(html, &noise);
        char *text = written_html(html);
        assert_int_equal(count_of(text, "<svg"), i > 1 && i < 5);
        assert_int_equal(count_of(text, "The error by operator."), i > 0 && i < 5);
        free(text);
    }
}

/* Bars to all of the error, whole. */
static void bars_of_noise_are_drawn(void **state)
{
    struct amp_noise_source sources[] = {{.name = "w",
                                          .node = "node 'n' (Op)",
                                          .op_type = "Op",
                                          .kind = AMP_NOISE_WEIGHT,
                                          .group = 0,
                                          .power = 1.0 / 4096},
                                         {.name = "v",
                                          .node = "",
                                          .op_type = "",
                                          .kind = AMP_NOISE_CAST,
                                          .group = 1,
                                          .power = 3.0 / 4096}};
    struct amp_noise noise = {.sources = sources,
                              .n_sources = 2,
                              .n_groups = 2,
                              .n_probed = 1,
                              .predicted = 4.0 / 4096,
                              .chance = (double)NAN};
    (void)state;
    struct amp_html *html = amp_html_create("noise");
    amp_html_noise(html, &noise);
    char *text = written_html(html);
    assert_part(
        text, "<figure>", "</main>",
        "<figure>\n"
        "<svg role=\"img\" viewBox=\"0 0 1120 96\" width=\"1120\" height=\"96\"><title>The largest "
        "sources of the error</title>\n"
        "<path class=\"grid\" d=\"M470.0 4.0V56.0\"/><text class=\"soft\" x=\"470.0\" y=\"71.0\" "
        "text-anchor=\"middle\">0</text>\n"
        "<path class=\"grid\" d=\"M595.0 4.0V56.0\"/><text class=\"soft\" x=\"595.0\" y=\"71.0\" "
        "text-anchor=\"middle\">20</text>\n"
        "<path class=\"grid\" d=\"M720.0 4.0V56.0\"/><text class=\"soft\" x=\"720.0\" y=\"71.0\" "
        "text-anchor=\"middle\">40</text>\n"
        "<path class=\"grid\" d=\"M845.0 4.0V56.0\"/><text class=\"soft\" x=\"845.0\" y=\"71.0\" "
        "text-anchor=\"middle\">60</text>\n"
        "<path class=\"grid\" d=\"M970.0 4.0V56.0\"/><text class=\"soft\" x=\"970.0\" y=\"71.0\" "
        "text-anchor=\"middle\">80</text>\n"
        "<text x=\"970.0\" y=\"88.0\" text-anchor=\"end\">% of the error</text>\n"
        "<text x=\"462.0\" y=\"14.0\" text-anchor=\"end\">v</text><text class=\"soft\" x=\"462.0\" "
        "y=\"24.0\" font-size=\"10\" text-anchor=\"end\">cast of an input</text>\n"
        "<rect class=\"low\" x=\"470.0\" y=\"7.0\" width=\"468.8\" height=\"16.0\"><title>v, cast "
        "of an input: 75 % of the error, 31.4 dB alone</title></rect>\n"
        "<text x=\"943.8\" y=\"19.0\">75 %</text>\n"
        "<text x=\"462.0\" y=\"38.0\" text-anchor=\"end\">w</text><text class=\"soft\" x=\"462.0\" "
        "y=\"48.0\" font-size=\"10\" text-anchor=\"end\">weight of node &#39;n&#39; (Op)</text>\n"
        "<rect class=\"third\" x=\"470.0\" y=\"31.0\" width=\"156.2\" height=\"16.0\"><title>w, "
        "weight of node &#39;n&#39; (Op): 25 % of the error, 36.1 dB alone</title></rect>\n"
        "<text x=\"631.2\" y=\"43.0\">25 %</text>\n"
        "</svg>\n"
        "<figcaption>The 2 largest of 2 groups of sources: what each adds to the outputs' squared "
        "error when it alone is rounded. Filled: values and casts; outlined: "
        "weights.</figcaption>\n"
        "</figure>\n"
        "<div class=\"wide\"><table>\n"
        "<caption>The error by operator.</caption>\n"
        "<thead><tr><th scope=\"col\">operator</th><th scope=\"col\" class=\"n\">sources</th><th "
        "scope=\"col\" class=\"n\">% by weights</th><th scope=\"col\" class=\"n\">% by "
        "values</th></tr></thead>\n"
        "<tbody>\n"
        "<tr><td>graph input</td><td class=\"n\">1</td><td class=\"n\">0</td><td "
        "class=\"n\">75</td></tr>\n"
        "<tr><td>Op</td><td class=\"n\">1</td><td class=\"n\">25</td><td class=\"n\">0</td></tr>\n"
        "</tbody></table></div>\n");
    free(text);
}

/* A roofline, whole: nodes without operations, bytes or time are no products; what takes less than
   a hundredth of the time says nothing of how fast bytes move. */
static void rooflines_are_drawn(void **state)
{
    static const struct {
        double seconds, flops, bytes;
    } rows[] = {
        {0.5, 4e9, 1e9}, {0.25, 4e9, 0}, {0, 1e9, 1e9}, {0.125, 0, 5e8}, {0.0009765625, 0, 1e9}};
    struct sketch s = sketch();
    uint32_t at = add_input(&s, "x");
    struct amp_bench_side sides[] = {{.dtype = AMP_FLOAT, .roofline = AMP_ROOFLINE_FLOPS / 1e11},
                                     {.dtype = AMP_BFLOAT16}};
    struct amp_bench bench = {.sides = sides, .n_sides = 2, .n_runs = 1, .flops = 4e9};
    struct amp_profile *profiles[2];
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        at = add_node(&s, "MatMul", "n", at, AMP_NONE, AMP_FLOAT);
    for (int k = 0; k < 2; k++) {
        size_t count;
        sides[k].model = s.model;
        sides[k].profile = profiles[k] = amp_profile_create();
        for (size_t i = 0; i < AMP_COUNT(rows); i++)
            amp_profile_credit(profiles[k],
                               &(struct amp_ctx){.model = s.model, .node = &s.model->nodes[i]},
                               rows[i].seconds / (k == 0 ? 1 : 2));
        struct amp_profile_node *nodes =
            (struct amp_profile_node *)(uintptr_t)amp_profile_nodes(profiles[k], &count);
        for (size_t i = 0; i < AMP_COUNT(rows); i++) {
            nodes[i].flops = rows[i].flops;
            nodes[i].bytes = rows[i].bytes / (k == 0 ? 1 : 4);
        }
    }
    struct amp_html *html = amp_html_create("nodes");
    amp_html_node_times(html, &bench);
    char *text = written_html(html);
    assert_int_equal(count_of(text, "<tr><td>"), 2 * AMP_COUNT(rows));
    free(text);
    html = amp_html_create("roofline");
    amp_html_roofline(html, &bench);
    text = written_html(html);
    assert_part(
        text, "<ul", "</main>",
        "<ul class=\"legend\"><li><svg width=\"26\" height=\"16\" aria-hidden=\"true\"><rect "
        "class=\"full\" x=\"1\" y=\"1\" width=\"24\" height=\"14\"/></svg>fp32</li><li><svg "
        "width=\"26\" height=\"16\" aria-hidden=\"true\"><rect class=\"low\" x=\"1\" y=\"1\" "
        "width=\"24\" height=\"14\"/></svg>bf16</li></ul>\n"
        "<figure>\n"
        "<svg role=\"img\" viewBox=\"0 0 860 420\" width=\"860\" "
        "height=\"420\"><title>Roofline</title>\n"
        "<path class=\"grid\" d=\"M62.0 380.0H846.0\"/><text class=\"soft\" x=\"56.0\" y=\"384.0\" "
        "text-anchor=\"end\">1</text>\n"
        "<path class=\"grid\" d=\"M62.0 202.0H846.0\"/><text class=\"soft\" x=\"56.0\" y=\"206.0\" "
        "text-anchor=\"end\">10</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0H846.0\"/><text class=\"soft\" x=\"56.0\" y=\"28.0\" "
        "text-anchor=\"end\">100</text>\n"
        "<path class=\"grid\" d=\"M62.0 24.0V380.0\"/><text class=\"soft\" x=\"62.0\" y=\"395.0\" "
        "text-anchor=\"middle\">1</text>\n"
        "<path class=\"grid\" d=\"M454.0 24.0V380.0\"/><text class=\"soft\" x=\"454.0\" "
        "y=\"395.0\" text-anchor=\"middle\">10</text>\n"
        "<path class=\"grid\" d=\"M846.0 24.0V380.0\"/><text class=\"soft\" x=\"846.0\" "
        "y=\"395.0\" text-anchor=\"middle\">100</text>\n"
        "<text x=\"846.0\" y=\"412.0\" text-anchor=\"end\">operations per byte</text>\n"
        "<text x=\"4\" y=\"13\">GFLOP/s</text>\n"
        "<path class=\"axis\" d=\"M62.0 24.0V380.0H846.0\"/>\n"
        "<path class=\"lineother\" d=\"M62.0 272.8L610.0 24.0\"><title>4 GB/s</title></path>\n"
        "<path class=\"bound\" d=\"M62.0 24.0H846.0\"/><text x=\"70.0\" y=\"20.0\">product in "
        "fp32: 100</text>\n"
        "<rect class=\"full\" x=\"294.0\" y=\"215.2\" width=\"8\" height=\"8\"><title>MatMul n in "
        "fp32: 8 GFLOP/s, 4 operations per byte, 500 ms</title></rect>\n"
        "<circle class=\"low\" cx=\"534.0\" cy=\"165.7\" r=\"4.5\"><title>MatMul n in bf16: 16 "
        "GFLOP/s, 16 operations per byte, 250 ms</title></circle>\n"
        "</svg>\n"
        "<figcaption>A mark for each node with products: squares fp32, circles bf16, triangles "
        "fp16. Dashed: what the machine's product of matrices reaches. Sloped: the most bytes in a "
        "second that any node here moved, 4 GB/s. What lies far below both lines has room to be "
        "faster.</figcaption>\n"
        "</figure>\n");
    free(text);

    /* No byte in a time that counts, so slowly that the slope lies below all. */
    bench.n_sides = 1;
    for (int k = 0; k < 2; k++) {
        size_t count;
        struct amp_profile *profile = amp_profile_create();
        for (size_t i = 0; i < 2; i++)
            amp_profile_credit(profile,
                               &(struct amp_ctx){.model = s.model, .node = &s.model->nodes[i]},
                               i == 0 ? 0.001 : 1);
        struct amp_profile_node *nodes =
            (struct amp_profile_node *)(uintptr_t)amp_profile_nodes(profile, &count);
        nodes[0].flops = 4e9;
        nodes[0].bytes = 1e9;
        nodes[1].bytes = k == 0 ? 0 : 1000;
        sides[0].profile = profile;
        html = amp_html_create("roofline");
        amp_html_roofline(html, &bench);
        text = written_html(html);
        assert_int_equal(count_of(text, "<path class=\"lineother\""), 0);
        assert_int_equal(count_of(text, "<rect class=\"full\" x=\"1\" y=\"1\""), 1);
        assert_int_equal(count_of(text, "width=\"8\" height=\"8\">"), 1);
        assert_says(text, k == 0 ? "moved, 0 GB/s." : "moved, 1e-06 GB/s.");
        free(text);
        amp_profile_destroy(profile);
    }
    for (int k = 0; k < 2; k++)
        amp_profile_destroy(profiles[k]);
    amp_arena_destroy(s.arena);
}

/* Ranges, whole: one beyond its dtype, one within, one so small that the axis ends at 1e-45. */
static void a_few_ranges_are_drawn(void **state)
{
    static const struct amp_html_range ranges[] = {
        {"a", "Op", AMP_FLOAT16, {.count = 1, .minimum = -100000, .smallest = 0.001}},
        {"b", "Op", AMP_BFLOAT16, {.count = 1, .maximum = 1000, .smallest = 1e-9}},
        {"c", "Op", AMP_UNDEFINED, {.count = 1, .maximum = 0.1, .smallest = 0.1}},
        {"d", "Op", AMP_FLOAT, {.count = 1}}};
    (void)state;
    char *text = ranges_of(ranges, AMP_COUNT(ranges));
    assert_part(
        text, "<h3>The largest", "</svg>",
        "<h3>The largest magnitudes</h3>\n"
        "<figure>\n"
        "<svg role=\"img\" viewBox=\"0 0 1120 121\" width=\"1120\" height=\"121\"><title>The "
        "largest magnitudes</title>\n"
        "<path class=\"grid\" d=\"M330.0 36.0V83.0\"/><text class=\"soft\" x=\"330.0\" y=\"98.0\" "
        "text-anchor=\"middle\">1e-9</text>\n"
        "<path class=\"grid\" d=\"M432.7 36.0V83.0\"/><text class=\"soft\" x=\"432.7\" y=\"98.0\" "
        "text-anchor=\"middle\">1e-7</text>\n"
        "<path class=\"grid\" d=\"M535.3 36.0V83.0\"/><text class=\"soft\" x=\"535.3\" y=\"98.0\" "
        "text-anchor=\"middle\">1e-5</text>\n"
        "<path class=\"grid\" d=\"M638.0 36.0V83.0\"/><text class=\"soft\" x=\"638.0\" y=\"98.0\" "
        "text-anchor=\"middle\">0.001</text>\n"
        "<path class=\"grid\" d=\"M740.7 36.0V83.0\"/><text class=\"soft\" x=\"740.7\" y=\"98.0\" "
        "text-anchor=\"middle\">0.1</text>\n"
        "<path class=\"grid\" d=\"M843.3 36.0V83.0\"/><text class=\"soft\" x=\"843.3\" y=\"98.0\" "
        "text-anchor=\"middle\">10</text>\n"
        "<path class=\"grid\" d=\"M946.0 36.0V83.0\"/><text class=\"soft\" x=\"946.0\" y=\"98.0\" "
        "text-anchor=\"middle\">1000</text>\n"
        "<path class=\"grid\" d=\"M1048.7 36.0V83.0\"/><text class=\"soft\" x=\"1048.7\" "
        "y=\"98.0\" text-anchor=\"middle\">100000</text>\n"
        "<text x=\"1100.0\" y=\"115.0\" text-anchor=\"end\">magnitude</text>\n"
        "<path class=\"limit\" d=\"M421.1 32.0V83.0\"/><text x=\"421.1\" y=\"27.0\" "
        "font-size=\"11\" text-anchor=\"middle\">fp16 least</text>\n"
        "<path class=\"limit\" d=\"M575.7 32.0V83.0\"/><text x=\"575.7\" y=\"14.0\" "
        "font-size=\"11\" text-anchor=\"middle\">fp16 least normal</text>\n"
        "<path class=\"limit\" d=\"M1039.2 32.0V83.0\"/><text x=\"1039.2\" y=\"27.0\" "
        "font-size=\"11\" text-anchor=\"middle\">fp16 largest</text>\n"
        "<text x=\"240.0\" y=\"46.0\" font-size=\"11\" text-anchor=\"end\">a</text><text "
        "class=\"soft\" x=\"322.0\" y=\"46.0\" font-size=\"10\" text-anchor=\"end\">Op "
        "fp16</text>\n"
        "<rect class=\"wrong\" x=\"638.0\" y=\"38.0\" width=\"410.7\" height=\"11.0\"><title>a "
        "(Op) in fp16: from 0.001 to 1e+05, beyond the dtype&#39;s largest</title></rect>\n"
        "<path class=\"solidbad\" d=\"M1058.7 38.0l6 11h-12z\"/><text class=\"badtext\" "
        "x=\"1068.7\" y=\"47.0\" font-size=\"11\">100000</text>\n"
        "<text x=\"240.0\" y=\"63.0\" font-size=\"11\" text-anchor=\"end\">b</text><text "
        "class=\"soft\" x=\"322.0\" y=\"63.0\" font-size=\"10\" text-anchor=\"end\">Op "
        "bf16</text>\n"
        "<rect class=\"low\" x=\"330.0\" y=\"55.0\" width=\"616.0\" height=\"11.0\"><title>b (Op) "
        "in bf16: from 1e-09 to 1000</title></rect>\n"
        "<text x=\"240.0\" y=\"80.0\" font-size=\"11\" text-anchor=\"end\">c</text><text "
        "class=\"soft\" x=\"322.0\" y=\"80.0\" font-size=\"10\" text-anchor=\"end\">Op no "
        "floats</text>\n"
        "<rect class=\"other\" x=\"740.7\" y=\"72.0\" width=\"2.0\" height=\"11.0\"><title>c (Op) "
        "in no floats: from 0.1 to 0.1</title></rect>\n");
    const char *small = strstr(text, "<h3>The smallest");
    assert_part(small, "<svg", "</svg>",
                "<svg role=\"img\" viewBox=\"0 0 1120 87\" width=\"1120\" height=\"87\"><title>The "
                "smallest magnitudes, below what fp16 holds in full</title>\n"
                "<path class=\"grid\" d=\"M330.0 36.0V49.0\"/><text class=\"soft\" x=\"330.0\" "
                "y=\"64.0\" text-anchor=\"middle\">1e-9</text>\n"
                "<path class=\"grid\" d=\"M432.7 36.0V49.0\"/><text class=\"soft\" x=\"432.7\" "
                "y=\"64.0\" text-anchor=\"middle\">1e-7</text>\n"
                "<path class=\"grid\" d=\"M535.3 36.0V49.0\"/><text class=\"soft\" x=\"535.3\" "
                "y=\"64.0\" text-anchor=\"middle\">1e-5</text>\n"
                "<path class=\"grid\" d=\"M638.0 36.0V49.0\"/><text class=\"soft\" x=\"638.0\" "
                "y=\"64.0\" text-anchor=\"middle\">0.001</text>\n"
                "<path class=\"grid\" d=\"M740.7 36.0V49.0\"/><text class=\"soft\" x=\"740.7\" "
                "y=\"64.0\" text-anchor=\"middle\">0.1</text>\n"
                "<path class=\"grid\" d=\"M843.3 36.0V49.0\"/><text class=\"soft\" x=\"843.3\" "
                "y=\"64.0\" text-anchor=\"middle\">10</text>\n"
                "<path class=\"grid\" d=\"M946.0 36.0V49.0\"/><text class=\"soft\" x=\"946.0\" "
                "y=\"64.0\" text-anchor=\"middle\">1000</text>\n"
                "<path class=\"grid\" d=\"M1048.7 36.0V49.0\"/><text class=\"soft\" x=\"1048.7\" "
                "y=\"64.0\" text-anchor=\"middle\">100000</text>\n"
                "<text x=\"1100.0\" y=\"81.0\" text-anchor=\"end\">magnitude</text>\n"
                "<path class=\"limit\" d=\"M421.1 32.0V49.0\"/><text x=\"421.1\" y=\"27.0\" "
                "font-size=\"11\" text-anchor=\"middle\">fp16 least</text>\n"
                "<path class=\"limit\" d=\"M575.7 32.0V49.0\"/><text x=\"575.7\" y=\"14.0\" "
                "font-size=\"11\" text-anchor=\"middle\">fp16 least normal</text>\n"
                "<path class=\"limit\" d=\"M1039.2 32.0V49.0\"/><text x=\"1039.2\" y=\"27.0\" "
                "font-size=\"11\" text-anchor=\"middle\">fp16 largest</text>\n"
                "<text x=\"240.0\" y=\"46.0\" font-size=\"11\" text-anchor=\"end\">b</text><text "
                "class=\"soft\" x=\"322.0\" y=\"46.0\" font-size=\"10\" text-anchor=\"end\">Op "
                "bf16</text>\n"
                "<rect class=\"low\" x=\"330.0\" y=\"38.0\" width=\"616.0\" "
                "height=\"11.0\"><title>b (Op) in bf16: from 1e-09 to 1000</title></rect>\n");
    free(text);
    struct amp_html_range least = {"e", "Op", AMP_FLOAT, {.count = 1, .maximum = 1}};
    for (int i = 0; i < 2; i++) {
        least.range.smallest = i == 0 ? 1e-60 : 1e-39;
        text = ranges_of(&least, 1);
        assert_int_equal(count_of(text, i == 0 ? ">1e-45<" : ">1e-39<"), 2);
        assert_int_equal(count_of(text, "bf16 least normal"), 2);
        free(text);
    }
}

/* Lines on the noise: one source and several, the sum below what was measured, equal and above,
   with and without what chance makes; nothing at all. */
static void noise_has_lines(void **state)
{
    struct amp_noise_source sources[2] = {{.kind = AMP_NOISE_WEIGHT,
                                           .name = "v",
                                           .node = "",
                                           .op_type = "Op",
                                           .dtype = AMP_FLOAT16,
                                           .power = 1e-4}};
    static const char *const differences[] = {"10.0 dB too low", "0.0 dB too high",
                                              "10.0 dB too high"};
    struct amp_noise noise = {.sources = sources,
                              .n_sources = 1,
                              .n_groups = 1,
                              .predicted = 1e-4,
                              .joint = 1e-4,
                              .n_probed = 1,
                              .n_samples = 1,
                              .plain_runs = 2};
    char expected[1024], *text;
    size_t size;
    (void)state;
    for (int i = 0; i < 4; i++) {
        FILE *file = open_memstream(&text, &size);
        noise.measured = i == 0 ? 1e-3 : i == 1 ? 1e-4 : i == 2 ? 1e-5 : 0;
        noise.chance = i == 2 ? 0.5 : (double)NAN;
        noise.n_samples = i == 3 ? 2 : 1;
        amp_report_noise(file, &noise);
        snprintf(expected, sizeof expected,
                 "noise: snr 40.0 dB predicted by the sum over 1 source, %s dB measured%s%s%s\n"
                 "    probed on 1 of %d sample%s in 1 group, for 2.0 plain runs; all rounded at "
                 "once there: 40.0 dB\n"
                 "    100.0 %%    40.0 dB  weight 'v' float16, an input\n",
                 i == 0   ? "30.0"
                 : i == 1 ? "40.0"
                 : i == 2 ? "50.0"
                          : "inf",
                 i < 3 ? ": the sum is " : "", i < 3 ? differences[i] : "",
                 i == 2 ? ", where chance makes 0.5 dB" : "", i == 3 ? 2 : 1, i == 3 ? "s" : "");
        assert_written(file, &text, expected);
    }
    FILE *file = open_memstream(&text, &size);
    noise = (struct amp_noise){.n_outputs = 1, .n_counted = 1};
    amp_report_noise(file, &noise);
    assert_written(file, &text, "noise: nothing is rounded\n");
}

/* ---- pages of sections ----------------------------------------------------------------------- */

/* Pages, whole, made of sections that are written one by one. */

enum { SECTIONS_MAX = 16 };

struct whole {
    const char *titles[SECTIONS_MAX];
    char *texts[SECTIONS_MAX];
    size_t count;
};

static struct amp_html *begin_section(struct whole *whole, const char *title)
{
    whole->titles[whole->count] = title;
    return amp_html_create("a section");
}

static void end_section(struct whole *whole, struct amp_html *html)
{
    static const char tail[] = "</main>\n</body>\n</html>\n";
    char *text = written_html(html);
    text[strlen(text) - (sizeof tail - 1)] = '\0';
    whole->texts[whole->count++] = text;
}

/* Writes the sections of WHOLE, numbered from FIRST, to FILE. */
static void write_whole(FILE *file, const struct whole *whole, size_t first)
{
    fputs("<nav><ul>\n", file);
    for (size_t i = 0; i < whole->count; i++)
        fprintf(file, "<li><a href=\"#s%zu\">%s</a></li>\n", first + i, whole->titles[i]);
    fputs("</ul></nav>\n", file);
    for (size_t i = 0; i < whole->count; i++)
        fprintf(file, "<section id=\"s%zu\">\n<h2>%s</h2>\n%s</section>\n", first + i,
                whole->titles[i], whole->texts[i]);
}

static void free_whole(struct whole *whole)
{
    for (size_t i = 0; i < whole->count; i++)
        free(whole->texts[i]);
}

/* The page at PATH is called TITLE and is made of WHOLE, which is freed. */
static void assert_whole(const char *path, const char *title, struct whole *whole)
{
    char *text = read_text(path), *expected = NULL, head[512];
    size_t size = 0;
    FILE *file = open_memstream(&expected, &size);
    fprintf(file, "<main>\n<h1>%s</h1>\n", title);
    write_whole(file, whole, 1);
    fputs("</main>\n</body>\n</html>\n", file);
    fclose(file);
    snprintf(head, sizeof head, "<title>%s</title>\n", title);
    assert_says(text, head);
    assert_string_equal(strstr(text, "<main>"), expected);
    free(expected);
    free(text);
    free_whole(whole);
}

/* What a comparison has: two models, of which the second has a graph of its own. */
struct compared {
    struct sketch sketches[2];
    struct amp_output_check outputs[2];
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation;
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    struct amp_noise_source sources[SOURCES];
    struct amp_noise noise;
    struct amp_deviations deviations;
    struct amp_html_compared all;
};

static void make_compared(struct compared *made)
{
    memset(made, 0, sizeof *made);
    for (int i = 0; i < 2; i++) {
        struct sketch *s = &made->sketches[i];
        *s = sketch();
        add_node(s, i == 0 ? "Relu" : "Exp", "n", add_input(s, "x"), AMP_NONE,
                 i == 0 ? AMP_FLOAT : AMP_FLOAT16);
    }
    made->validation = made_up(made->outputs, &made->task, &made->eval);
    for (size_t i = 0; amp_metric_at(i) != NULL; i++)
        made->validation.bounds.items[i] = (double)i + 20;
    made->deviations.seen = made->deviations.finite = made->deviations.equal = 1;
    made->outputs[0].deviations = &made->deviations;
    make_layers(&made->layers, made->items);
    made->items[0].nodes[1] = 0;
    made->noise = make_noise(made->sources);
    made->all = (struct amp_html_compared){
        .models = {{"reference", "dir/m.onnx", made->sketches[0].model, 40},
                   {"other", "o.onnx", made->sketches[1].model, 30}},
        .validation = &made->validation,
        .layers = &made->layers,
        .noise = &made->noise};
}

static void free_compared(struct compared *made)
{
    for (int i = 0; i < 2; i++)
        amp_arena_destroy(made->sketches[i].arena);
}

/* The sections that pages of two models have in common, from findings to operators. */
static void add_compared(struct whole *whole, const struct amp_html_compared *all)
{
    struct amp_html *html;
    if (all->layers != NULL || all->noise != NULL) {
        html = begin_section(whole, "Where to look");
        amp_html_findings(html, all->layers, all->noise);
        end_section(whole, html);
    }
    if (all->layers != NULL) {
        html = begin_section(whole, "Error along the graph");
        amp_html_layers(html, all->layers, all->models[1].model,
                        amp_html_snr_bound(all->validation));
        end_section(whole, html);
    }
    if (all->noise != NULL) {
        html = begin_section(whole, "Error by source");
        amp_html_noise(html, all->noise);
        end_section(whole, html);
    }
    if (all->layers != NULL) {
        html = begin_section(whole, "Ranges");
        amp_html_layer_ranges(html, all->layers);
        end_section(whole, html);
    }
    if (all->validation != NULL && all->validation->outputs[0].deviations != NULL) {
        html = begin_section(whole, "Outputs");
        amp_html_outputs(html, all->validation);
        end_section(whole, html);
    }
    html = begin_section(whole, "Graph");
    amp_html_compared_graph(html, all->models[1].model, all->layers);
    end_section(whole, html);
    html = begin_section(whole, "Models");
    amp_html_models(html, all->models, 2);
    end_section(whole, html);
    html = begin_section(whole, "Operators");
    amp_html_operators(html, all->models[1].model);
    end_section(whole, html);
}

static void a_comparison_has_its_sections(void **state)
{
    static struct compared made;
    struct amp_error err = {.status = AMP_OK};
    struct amp_input_notes none = {.model = NULL};
    (void)state;
    for (int i = 0; i < 5; i++) {
        make_compared(&made);
        if (i == 1 || i == 4)
            made.all.layers = NULL;
        if (i == 2 || i == 4)
            made.all.noise = NULL;
        if (i == 3)
            made.outputs[0].deviations = NULL;
        made.all.inputs = i == 1 ? &none : NULL;
        struct amp_compare_page page = {made.all, i == 2 ? "bf16" : NULL};
        struct whole whole = {.count = 0};
        struct amp_html *html = begin_section(&whole, "Verdict");
        amp_html_verdict(html, &made.validation, "");
        end_section(&whole, html);
        add_compared(&whole, &made.all);
        html = begin_section(&whole, "Settings");
        amp_html_settings_begin(html, made.all.inputs);
        if (i == 2)
            amp_html_setting(html, "lower dtype", "bf16");
        amp_html_settings_end(html);
        end_section(&whole, html);
        assert_int_equal(amp_html_compare_page(&page, "page.html", &err), AMP_OK);
        assert_whole("page.html",
                     i == 2 ? "m.onnx against itself in bf16" : "m.onnx against o.onnx", &whole);
        free_compared(&made);
    }
}

static void a_conversion_has_its_sections(void **state)
{
    static struct compared made;
    static struct made search;
    static const struct amp_decision decision = {.reason = AMP_REASON_NOT_FLOAT};
    struct amp_explained_node node = {.decision = &decision, .text = "the node"};
    struct amp_explanation explanation = {.nodes = &node, .n_nodes = 1};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    for (int i = 0; i < 4; i++) {
        make_compared(&made);
        make(&search);
        struct amp_conversion conversion = make_unchanged();
        conversion.casts_before = 1;
        conversion.casts.count = 2;
        conversion.casts_folded = 3;
        conversion.casts_after = 4;
        if (i == 3) {
            made.all.validation = NULL;
            made.all.layers = NULL;
            made.all.noise = NULL;
        }
        struct amp_convert_page page = {.compared = made.all,
                                        .conversion = &conversion,
                                        .explanation = i == 0 || i == 1 ? &explanation : NULL,
                                        .tuning = i == 0 || i == 2 ? &search.tuning : NULL,
                                        .is_written = true};
        struct whole whole = {.count = 0};
        struct amp_html *html = begin_section(&whole, "Verdict");
        if (i < 3)
            amp_html_verdict(html, &made.validation, "The model was written to o.");
        else
            amp_html_put(html, "<p class=\"verdict plain\"><strong>Not validated</strong><br/>"
                               "Neither model was run. The model was written to o.</p>\n");
        end_section(&whole, html);
        if (page.tuning != NULL) {
            html = begin_section(&whole, "Tuning");
            amp_html_tuning(html, &search.tuning);
            end_section(&whole, html);
        }
        add_compared(&whole, &made.all);
        if (page.explanation != NULL) {
            html = begin_section(&whole, "Rules");
            amp_html_decisions(html, &explanation);
            end_section(&whole, html);
        }
        html = begin_section(&whole, "Settings");
        amp_html_settings_begin(html, NULL);
        amp_html_setting(html, "lower dtype", "bfloat16");
        amp_html_setting(html, "casts", "1 before; 2 inserted, 3 folded; 4 now");
        amp_html_settings_end(html);
        end_section(&whole, html);
        assert_int_equal(amp_html_convert_page(&page, "page.html", &err), AMP_OK);
        assert_whole("page.html", "Conversion of m to bfloat16", &whole);
        free_compared(&made);
    }
}

/* Sections of BENCH of the model that is called PATH. */
static void add_bench(struct whole *whole, const char *path, const struct amp_bench *bench)
{
    struct amp_html_model models[SIDES];
    struct amp_html *html = begin_section(whole, "Times");
    amp_html_times(html, bench);
    end_section(whole, html);
    html = begin_section(whole, "By operator");
    amp_html_operator_times(html, bench);
    end_section(whole, html);
    if (bench->flops > 0) {
        html = begin_section(whole, "Roofline");
        amp_html_roofline(html, bench);
        end_section(whole, html);
    }
    html = begin_section(whole, "By node");
    amp_html_node_times(html, bench);
    end_section(whole, html);
    for (size_t i = 0; i < bench->n_sides; i++)
        models[i] = (struct amp_html_model){.role = i == 0   ? "fp32"
                                                    : i == 1 ? "bf16"
                                                             : "fp16",
                                            .path = path,
                                            .model = bench->sides[i].model};
    html = begin_section(whole, "Models");
    amp_html_models(html, models, bench->n_sides);
    end_section(whole, html);
    html = begin_section(whole, "Graph");
    amp_html_graph(html, bench->sides[bench->n_sides - 1].model, NULL);
    end_section(whole, html);
}

/* Two models on one page: the sections of the second are numbered on; a model without products has
   no roofline. */
static void a_bench_has_its_sections(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    struct sketch s = sketch(), other = sketch();
    struct amp_model *model = make_timed(&s);
    struct amp_bench_side sides[SIDES];
    struct amp_profile *profile = make_profile(model, 1);
    struct amp_bench bench = {.sides = sides, .n_runs = RUNS};
    struct amp_error err = {.status = AMP_OK};
    char *expected = NULL;
    size_t size = 0, first = 1;
    FILE *file = open_memstream(&expected, &size);
    (void)state;
    add_node(&other, "Exp", "n", add_input(&other, "x"), AMP_NONE, AMP_FLOAT);
    for (int i = 0; i < SIDES; i++)
        sides[i] = (struct amp_bench_side){.dtype = dtypes[i],
                                           .roofline = AMP_ROOFLINE_FLOPS / 5e11,
                                           .model = i == 1 ? other.model : model,
                                           .median = 0.5,
                                           .minimum = 0.25,
                                           .profile = profile};
    struct amp_html *page = amp_html_bench_begin(7), *html = amp_html_create("Times of models");
    amp_html_settings_begin(html, NULL);
    amp_html_setting(html, "runs", "7 of every model and dtype, in turns; times are medians");
    amp_html_settings_end(html);
    struct whole whole = {.count = 0};
    whole.titles[0] = "";
    end_section(&whole, html);
    fputs(whole.texts[0], file);
    free_whole(&whole);
    for (int i = 0; i < 2; i++) {
        bench.n_sides = i == 0 ? SIDES : 2;
        bench.flops = i == 0 ? 1e9 : 0;
        whole.count = 0;
        add_bench(&whole, i == 0 ? "dir/m.onnx" : "o.onnx", &bench);
        fprintf(file, "<h1>%s</h1>\n", i == 0 ? "m.onnx" : "o.onnx");
        write_whole(file, &whole, first);
        first += whole.count;
        free_whole(&whole);
        amp_html_bench_add(page, i == 0 ? "dir/m.onnx" : "o.onnx", &bench);
    }
    fputs("</main>\n</body>\n</html>\n", file);
    fclose(file);
    assert_int_equal(amp_html_write(page, "page.html", &err), AMP_OK);
    amp_html_destroy(page);
    assert_xml("page.html");
    char *text = read_text("page.html");
    assert_string_equal(strstr(text, "</h1>\n") + 6, expected);
    free(text);
    free(expected);
    amp_profile_destroy(profile);
    amp_arena_destroy(s.arena);
    amp_arena_destroy(other.arena);
}

/* Forty inputs are named, those that are constant are none; a warning where all are random. */
static void inputs_are_settings(void **state)
{
    struct sketch s = sketch();
    struct amp_input_note note = {.shape = {.rank = 0}};
    char name[256];
    (void)state;
    for (int i = 0; i < 43; i++) {
        snprintf(name, sizeof name, "%s%s%d", long_text, i == 2 ? "" : long_text, i);
        add_input(&s, i < 3 ? name : "x");
    }
    for (size_t n = 40; n <= 43; n++) {
        struct amp_input_notes notes = amp_input_notes_create(s.model);
        notes.are_random = n % 2 == 1;
        for (size_t i = 1; i < n; i++)
            amp_input_notes_set(&notes, i, &note, "a.npy");
        struct amp_html *html = amp_html_create("settings");
        amp_html_settings_begin(html, &notes);
        amp_html_settings_end(html);
        char *text = written_html(html);
        assert_int_equal(count_of(text, "<tr><th scope=\"row\">input</th><td>"),
                         n - 1 < 40 ? n - 1 : 40);
        assert_int_equal(
            count_of(text, "<tr><th scope=\"row\">note</th><td>All inputs are random: errors on "
                           "real data can be quite different.</td></tr>\n"),
            n % 2);
        assert_says(text, "<caption>How it was made.</caption>\n<tbody>\n<tr><th scope=\"row\">"
                          "ampconv</th><td>" AMP_VERSION "</td></tr>\n<tr><th scope=\"row\">"
                          "computed by</th><td>oneDNN ");
        /* 120 characters, of which the middle is left out; all of the shorter one. */
        const char *at = strstr(text, "input</th><td>") + 14;
        assert_int_equal(strchr(at, '<') - at, 119 + 2 * 4 + 3);
        assert_non_null(strstr(at, "&#39; float32 []: a.npy</td>"));
        snprintf(name, sizeof name, "<td>&#39;%s2&#39; float32 []: a.npy</td>", long_text);
        assert_says(text, name);
        free(text);
        amp_input_notes_destroy(&notes);
    }
    amp_arena_destroy(s.arena);
}

/* ---- training -------------------------------------------------------------------------------- */

static char *train_page_of(const struct amp_train_page *page)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_html_train_page(page, "page.html", &err), AMP_OK);
    assert_xml("page.html");
    char *text = read_text("page.html"), *part = strdup(strstr(text, "<main>"));
    free(text);
    return part;
}

/* Curves by step, through what is finite: of many steps through the least and the greatest of
   neighbours, on a logarithmic axis where they differ by more than a hundred times. */
static void training_has_curves(void **state)
{
    static double values[9][501];
    static const char *const names[] = {"loss", "b", "c", "d", "e", "f", "g", "h", "i"};
    struct amp_train_series series[9];
    struct sketch s = sketch();
    struct amp_input_notes none = {.model = NULL};
    struct amp_training_result result = {.model_path = "dir/m.onnx",
                                         .history = {.series = series,
                                                     .n_series = 2,
                                                     .n_steps = 4,
                                                     .seconds = 0.5,
                                                     .peak_bytes = 3000},
                                         .n_variables = 5};
    struct amp_train_page page = {.result = &result,
                                  .inputs = &none,
                                  .model = {.role = "step", .path = "m.onnx", .model = s.model}};
    (void)state;
    add_node(&s, "Relu", "n", add_input(&s, "x"), AMP_NONE, AMP_FLOAT);
    for (size_t i = 0; i < 9; i++)
        series[i] = (struct amp_train_series){names[i], 0, values[i]};
    memcpy(values[0], (const double[]){4, 2, (double)NAN, 1}, 4 * sizeof(double));
    memcpy(values[1], (const double[]){1, 1000, 10, 1}, 4 * sizeof(double));
    char *text = train_page_of(&page);
    assert_says(text, "<h1>Training of m.onnx</h1>");
    assert_says(text,
                "<p class=\"verdict plain\"><strong>4 steps</strong><br/>5 initializers. loss "
                "4 at first, 1 at last. 125 ms a step, 3.0 KB at most.</p>");
    /* From 62 to 1106 and from 280 up to 24. */
    assert_says(text, "d=\"M0 0M62.0 24.0L410.0 194.7M1106.0 280.0\"/>");
    assert_says(text, "d=\"M0 0M62.0 280.0L410.0 24.0L758.0 194.7L1106.0 280.0\"/>");
    assert_says(text, "<code>loss</code> by step: 4 at first, 1 at last.</figcaption>");
    assert_int_equal(count_of(text, " by step: "), 2);
    free(text);

    memcpy(values[0],
           (const double[]){(double)NAN, (double)INFINITY, -(double)INFINITY, (double)NAN},
           4 * sizeof(double));
    memcpy(values[1], (const double[]){1, 100, 50.5, 1}, 4 * sizeof(double));
    text = train_page_of(&page);
    assert_says(text, "<p class=\"verdict bad\"><strong>4 steps</strong>");
    assert_says(text, "<p><code>loss</code> is no number at any step.</p>\n");
    /* Not by decades: from 0 to 100. */
    assert_says(text, "d=\"M0 0M62.0 277.4L410.0 24.0L758.0 150.7L1106.0 277.4\"/>");
    free(text);
    /* Nor with numbers that have no logarithm. */
    memcpy(values[1], (const double[]){0, 100, 50, 0}, 4 * sizeof(double));
    text = train_page_of(&page);
    assert_says(text, "d=\"M0 0M62.0 280.0L410.0 24.0L758.0 152.0L1106.0 280.0\"/>");
    free(text);

    result.history.n_series = 9;
    for (size_t n_steps = 500; n_steps <= 501; n_steps++) {
        result.history.n_steps = n_steps;
        for (size_t i = 0; i < 9; i++)
            for (size_t k = 0; k < n_steps; k++)
                values[i][k] = (double)(k % 7);
        text = train_page_of(&page);
        assert_int_equal(count_of(text, " by step: "), 8);
        const char *line = strstr(text, "d=\"M0 0M");
        char *end = strchr(line + 3, '"');
        *end = '\0';
        assert_int_equal(count_of(line, "M"), 2);
        assert_int_equal(count_of(line, "L"), n_steps == 500 ? 499 : 500);
        double first[2], second[2];
        assert_int_equal(
            sscanf(line, "d=\"M0 0M%lf %lfL%lf %lf", &first[0], &first[1], &second[0], &second[1]),
            4);
        assert_int_equal(first[0] != second[0], n_steps == 500);
        free(text);
    }
    /* Where two neighbours are no numbers there is a gap; one that is none does not matter. */
    values[0][2] = values[0][3] = values[0][9] = (double)NAN;
    text = train_page_of(&page);
    char *gap = strstr(text, "d=\"M0 0M");
    *strchr(gap + 3, '"') = '\0';
    assert_int_equal(count_of(gap, "M"), 3);
    assert_int_equal(count_of(gap, "L"), 497);
    free(text);
    result.history.n_steps = 1;
    values[0][0] = 2;
    text = train_page_of(&page);
    assert_says(text, "<strong>1 step</strong><br/>5 initializers. loss 2 at first, 2 at last.");
    assert_says(text, "d=\"M0 0M62.0 152.0\"/>");
    free(text);
    result.history.n_steps = 0;
    text = train_page_of(&page);
    assert_says(text,
                "<p class=\"verdict plain\"><strong>0 steps</strong><br/>5 initializers.</p>");
    assert_null(strstr(text, "Curves"));
    free(text);
    result.history.n_steps = 1;
    result.history.n_series = 0;
    text = train_page_of(&page);
    assert_says(text, "<strong>1 step</strong><br/>5 initializers. 500 ms a step,");
    assert_null(strstr(text, "Curves"));
    free(text);
    amp_arena_destroy(s.arena);
}

/* A scaler is told of where a step gives out both its scale and whether it was skipped; a loss
   where both models have one. */
static void steps_say_what_both_models_have(void **state)
{
    double numbers[] = {1, 2};
    struct amp_train_series both[] = {{"loss", 0, numbers}, {"scale", 1, numbers}},
                            other[] = {{"loss", 0, numbers}, {"skipped", 1, numbers}};
    struct amp_training_result result = {.history = {.n_series = 2, .n_steps = 2}};
    struct amp_step_check check = {.n_variables = 3, .cosine = 0.5, .length = 2};
    const struct amp_error none = {.status = AMP_OK};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        result.history.series = i == 0 ? both : other;
        amp_report_training(file, &result, 0);
        check.history[i] = (struct amp_train_history){.series = both, .n_series = 1, .n_steps = 1};
        check.history[1 - i].n_series = 0;
        amp_report_step(file, &check, &none);
        assert_written(file, &text,
                       "  training   2 steps, 0 initializers; loss 1 at first, 2 at last\n"
                       "  step       of training: update of 3 initializers: cosine 0.5000, 2 times "
                       "as long\n");
    }
}

/* What weights lost is summed up over initializers and attributes, and told of each to who asks. */
static void losses_are_summed_up(void **state)
{
    struct sketch s = sketch();
    struct amp_losses lost[] = {{2, 0, 1}, {0, 0, 0}, {0, 5, 0}};
    struct amp_tensor tensors[3], *attr = &tensors[2];
    static const char *const names[] = {"w", "v", "u"};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    amp_report_losses(file, s.model, 1);
    for (size_t i = 0; i < 3; i++) {
        tensors[i] = (struct amp_tensor){
            .dtype = AMP_FLOAT16, .shape = {.rank = 1, .dims = {8}}, .losses = &lost[i]};
        if (i < 2)
            amp_graph_add_initializer(s.model, 0, names[i], &tensors[i]);
    }
    /* What was not converted, or is none, has lost nothing; nor have attributes of other kinds. */
    struct amp_tensor kept = {.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {8}}};
    int64_t numbers[] = {1, 2, 3};
    amp_graph_add_initializer(s.model, 0, "kept", &kept);
    uint32_t out = add_node(&s, "ConstantOfShape", "fill", AMP_NONE, AMP_NONE, AMP_FLOAT16);
    amp_node_set_attr(
        s.model, amp_value_at(s.model, out)->producer,
        (struct amp_attr){.name = "a", .type = AMP_ATTR_INTS, .count = 3, .ints = numbers});
    amp_node_set_attr(
        s.model, amp_value_at(s.model, out)->producer,
        (struct amp_attr){.name = "value", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = &attr});
    amp_report_losses(file, s.model, 0);
    amp_report_losses(file, s.model, 1);
    lost[0] = (struct amp_losses){0, 0, 0};
    amp_report_losses(file, s.model, 0);
    assert_written(file, &text,
                   "  weights    2 saturated, 5 rounded to zero, 1 subnormal now; in 2 tensors (-v "
                   "names them)\n"
                   "  weights    2 saturated, 5 rounded to zero, 1 subnormal now; in 2 tensors\n"
                   "    'w' float16, of 8: 2 saturated, 1 subnormal now\n"
                   "    'fill' float16, of 8: 5 rounded to zero\n"
                   "  weights    5 rounded to zero; in 1 tensor (-v names them)\n");
    assert_json(amp_json_losses(s.model),
                "{\"saturated\":0,\"zeroed\":5,\"subnormal\":0,\"tensors\":[{\"name\":\"fill\","
                "\"dtype\":\"float16\",\"elements\":8,\"saturated\":0,\"zeroed\":5,"
                "\"subnormal\":0}]}");
    amp_arena_destroy(s.arena);
}

/* Casts that are left stand with the node that caused them, in their order; what was folded, or has
   become another operator, is none. */
static void casts_that_are_left_are_explained(void **state)
{
    struct sketch s = sketch();
    struct amp_decision decisions[2] = {{.value = AMP_NONE}, {.value = AMP_NONE}};
    const struct amp_assignment assignment = {.nodes = decisions, .n_nodes = 2};
    struct amp_explanation explanation = {.n_nodes = 0};
    static const char *const ops[] = {"Cast", "Cast", "Relu", "Cast", "Cast"};
    struct amp_inserted_cast items[5];
    const struct amp_inserted_casts casts = {.items = items, .count = 5};
    uint32_t x = add_input(&s, "x"), a = add_node(&s, "Relu", "a", x, AMP_NONE, AMP_FLOAT);
    (void)state;
    add_node(&s, "Relu", "b", a, AMP_NONE, AMP_FLOAT);
    amp_explanation_begin(&explanation, s.model, &assignment);
    assert_int_equal(explanation.n_nodes, 2);
    assert_string_equal(explanation.nodes[1].output, "b");
    for (size_t i = 0; i < 5; i++) {
        char name[2] = {(char)('p' + i)};
        uint32_t value = add_node(&s, ops[i], name, a, AMP_NONE, AMP_BFLOAT16);
        items[i] = (struct amp_inserted_cast){amp_value_at(s.model, value)->producer,
                                              i == 4 ? AMP_NONE : 1};
    }
    amp_node_at(s.model, items[1].cast)->is_removed = true;
    amp_explanation_end(&explanation, s.model, &casts);
    assert_int_equal(explanation.n_casts, 3);
    assert_null(explanation.nodes[0].casts);
    const struct amp_explained_cast *first = explanation.nodes[1].casts;
    assert_string_equal(first->output, "p");
    assert_string_equal(first->input, "a");
    assert_int_equal(first->dtype, AMP_BFLOAT16);
    assert_string_equal(first->next->output, "s");
    assert_null(first->next->next);
    assert_string_equal(explanation.casts->output, "t");
    assert_null(explanation.casts->next);
    amp_arena_destroy(s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut_in_the_middle),
        cmocka_unit_test(axes_end_at_round_numbers),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(small_graphs_are_drawn_node_by_node),
        cmocka_unit_test(inputs_and_outputs_are_drawn_where_they_are_few),
        cmocka_unit_test(sources_stand_above_their_uses),
        cmocka_unit_test(large_graphs_are_folded_by_name),
        cmocka_unit_test(names_that_do_not_help_give_runs),
        cmocka_unit_test(names_are_split_part_by_part),
        cmocka_unit_test(names_are_told_apart_so_far),
        cmocka_unit_test(runs_are_alike_in_length),
        cmocka_unit_test(any_graph_is_folded),
        cmocka_unit_test(graphs_without_floats_are_drawn),
        cmocka_unit_test(groups_that_take_turns_have_edges_back),
        cmocka_unit_test(long_names_take_no_time),
        cmocka_unit_test(one_name_takes_no_room),
        cmocka_unit_test(any_graph_has_a_layout),
        cmocka_unit_test(the_whole_section_is_as_reviewed),
        cmocka_unit_test(times_stand_in_their_places),
        cmocka_unit_test(no_times_have_no_shares),
        cmocka_unit_test(sources_stand_in_their_places),
        cmocka_unit_test(lines_say_each_number_by_its_name),
        cmocka_unit_test(findings_have_reasons),
        cmocka_unit_test(metrics_have_columns),
        cmocka_unit_test(deviations_are_drawn),
        cmocka_unit_test(six_outputs_are_drawn),
        cmocka_unit_test(ranges_are_drawn),
        cmocka_unit_test(decisions_have_rows),
        cmocka_unit_test(verdicts_count_outputs),
        cmocka_unit_test(boxes_and_lines_have_their_classes),
        cmocka_unit_test(folded_boxes_have_shares),
        cmocka_unit_test(a_small_graph_is_drawn),
        cmocka_unit_test(a_chain_of_boxes_is_drawn),
        cmocka_unit_test(runs_are_called_by_their_first),
        cmocka_unit_test(columns_are_as_wide_as_their_boxes),
        cmocka_unit_test(ticks_have_an_end),
        cmocka_unit_test(axes_are_drawn),
        cmocka_unit_test(axes_have_few_steps),
        cmocka_unit_test(errors_along_the_graph_are_drawn),
        cmocka_unit_test(errors_have_decibels),
        cmocka_unit_test(what_stands_out_is_marked),
        cmocka_unit_test(nodes_have_the_worst_of_their_values),
        cmocka_unit_test(layers_have_ranges),
        cmocka_unit_test(small_charts_are_drawn),
        cmocka_unit_test(long_charts_are_drawn),
        cmocka_unit_test(rows_of_values_have_their_forms),
        cmocka_unit_test(a_run_says_what_its_outputs_are),
        cmocka_unit_test(a_run_is_json),
        cmocka_unit_test(a_run_has_a_page),
        cmocka_unit_test(a_conversion_has_a_page),
        cmocka_unit_test(models_are_counted),
        cmocka_unit_test(bodies_lead_to_their_owners),
        cmocka_unit_test(cells_have_numbers),
        cmocka_unit_test(selections_have_rows),
        cmocka_unit_test(the_largest_source_is_found),
        cmocka_unit_test(noise_is_summed_up),
        cmocka_unit_test(bars_of_noise_are_drawn),
        cmocka_unit_test(noise_has_lines),
        cmocka_unit_test(rooflines_are_drawn),
        cmocka_unit_test(a_few_ranges_are_drawn),
        cmocka_unit_test(a_comparison_has_its_sections),
        cmocka_unit_test(a_conversion_has_its_sections),
        cmocka_unit_test(a_bench_has_its_sections),
        cmocka_unit_test(inputs_are_settings),
        cmocka_unit_test(training_has_curves),
        cmocka_unit_test(steps_say_what_both_models_have),
        cmocka_unit_test(losses_are_summed_up),
        cmocka_unit_test(casts_that_are_left_are_explained),
        cmocka_unit_test(costs_of_nothing_are_no_share),
        cmocka_unit_test(trials_are_left_out),
        cmocka_unit_test(units_that_remain_have_rows),
        cmocka_unit_test(costs_and_errors_have_their_forms),
        cmocka_unit_test(an_answer_is_told),
        cmocka_unit_test(each_trial_has_a_row_and_two_marks),
        cmocka_unit_test(scores_have_a_column),
        cmocka_unit_test(what_was_not_met_is_told),
        cmocka_unit_test(nothing_tried_is_a_page),
        cmocka_unit_test(no_units_are_a_page),
        cmocka_unit_test(gains_are_called_so),
        cmocka_unit_test(previews_are_counted),
        cmocka_unit_test(nodes_are_counted_as_they_are),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

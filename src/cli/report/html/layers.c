/*
 * The error of a conversion along the graph: a chart by value in the order of the graph, and tables
 * of the values that stand out. Takes what check/layers.c measured.
 */
#include "cli/report/html/layers.h"

#include "check/layers.h"
#include "cli/report/html/graph_drawing.h"
#include "cli/report/html/node_precision.h"
#include "cli/report/html/ranges.h"
#include "cli/report/html/svg.h"
#include "core/arena.h"
#include "core/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1120, HEIGHT = 400, STRIP = 10, TITLED = 400, WORST = 15, ALL_MAX = 1200 };

/* Floats that are equal are drawn at this height where no other is higher. */
static const double LEAST_TOP = 20;

double amp_html_decibels(const struct amp_metrics *metrics)
{
    double error = amp_layers_relative_error(metrics);
    if (metrics->count == 0 || !metrics->is_float)
        return metrics->different == 0 ? INFINITY : NAN;
    return metrics->finite == 0 || metrics->stray > 0 || isinf(error) ? NAN
                                                                      : amp_layers_decibels(error);
}

/* ---- what stands out ------------------------------------------------------------------------- */

/* The value of the worst local error; SIZE_MAX: none has one. */
static size_t worst_local(const struct amp_layers *layers)
{
    size_t *order = amp_layers_sort(layers, AMP_LAYERS_BY_LOCAL), worst = SIZE_MAX;
    const struct amp_layer *first = &layers->items[order[0]];
    if (first->has_local && first->local.different > 0)
        worst = order[0];
    free(order);
    return worst;
}

size_t amp_html_layer_marks(const struct amp_layers *layers,
                            struct amp_html_mark marks[AMP_HTML_MARKS])
{
    const struct amp_html_mark all[] = {{layers->first_overflow, "first infinity"},
                                        {layers->first_nan, "first NaN"},
                                        {layers->largest_jump, "largest jump"},
                                        {worst_local(layers), "worst by itself"}};
    size_t count = 0;
    for (size_t i = 0; i < AMP_COUNT(all); i++)
        if (all[i].item != SIZE_MAX)
            marks[count++] = all[i];
    return count;
}

static struct amp_drawing_note *make_notes(const struct amp_layers *layers,
                                           const struct amp_model *converted)
{
    struct amp_html_mark marks[AMP_HTML_MARKS];
    struct amp_drawing_note *notes = amp_xcalloc(converted->n_nodes, sizeof *notes);
    for (size_t i = 0; i < layers->count; i++) {
        const struct amp_layer *layer = &layers->items[i];
        double decibels = amp_html_decibels(&layer->local);
        if (layer->nodes[1] >= converted->n_nodes || !layer->has_local || isnan(decibels))
            continue;
        struct amp_drawing_note *note = &notes[layer->nodes[1]];
        if (!note->is_known || decibels < note->decibels)
            note->decibels = decibels;
        note->is_known = true;
    }
    for (size_t i = amp_html_layer_marks(layers, marks); i-- > 0;) {
        uint32_t node = layers->items[marks[i].item].nodes[1];
        if (node >= converted->n_nodes)
            continue;
        struct amp_drawing_note *note = &notes[node];
        note->decibels = note->is_known ? note->decibels : INFINITY;
        note->is_known = true;
        note->warning = marks[i].label;
    }
    return notes;
}

/* ---- the chart ------------------------------------------------------------------------------- */

struct chart {
    struct amp_html *html;
    const struct amp_layers *layers;
    struct amp_svg_plot plot;
};

static double x_of(const struct chart *c, size_t item)
{
    return amp_svg_at(&c->plot.x, (double)item);
}

/* Where a signal to noise lies: at the top where all is equal, at the bottom where it is none. */
static double y_of(const struct chart *c, double decibels)
{
    return isnan(decibels) ? c->plot.bottom : amp_svg_at(&c->plot.y, decibels);
}

static struct amp_svg_plot plot_of(const struct amp_layers *layers, double bound)
{
    double low = 0, high = LEAST_TOP;
    for (size_t i = 0; i < layers->count; i++) {
        double values[] = {amp_html_decibels(&layers->items[i].accumulated),
                           layers->items[i].has_local ? amp_html_decibels(&layers->items[i].local)
                                                      : NAN};
        for (int k = 0; k < 2; k++) {
            low = isfinite(values[k]) ? fmin(low, values[k]) : low;
            high = isfinite(values[k]) ? fmax(high, values[k]) : high;
        }
    }
    high = fmax(high, isnan(bound) ? 0 : bound);
    return (struct amp_svg_plot){.width = WIDTH,
                                 .height = HEIGHT,
                                 .strip = STRIP + 10,
                                 .x = {.title = "values in the order of the graph",
                                       .is_whole = true,
                                       .high = layers->count > 1 ? (double)(layers->count - 1) : 1},
                                 .y = amp_svg_axis_over("signal to noise in dB: higher is better",
                                                        false, fmax(low, -60), high + 5)};
}

static void put_accumulated(const struct chart *c)
{
    bool is_open = false;
    amp_html_put(c->html, "<path class=\"linefull\" d=\"");
    for (size_t i = 0; i < c->layers->count; i++) {
        const struct amp_layer *layer = &c->layers->items[i];
        double decibels = amp_html_decibels(&layer->accumulated);
        if (!layer->accumulated.is_float || isinf(decibels))
            continue;
        amp_html_put(c->html, "%s%.1f %.1f", is_open ? "L" : "M", x_of(c, i), y_of(c, decibels));
        is_open = true;
    }
    amp_html_put(c->html, is_open ? "\"/>\n" : "M0 0\"/>\n");
}

static const char *value_text(const struct amp_layer *layer, char *text, size_t size)
{
    char name[AMP_HTML_SHORT];
    snprintf(text, size, "%s (%.40s)", amp_html_short(layer->names[1], 70, name), layer->op_type);
    return text;
}

/* "45.1 dB", "equal" or "lost" */
static const char *decibels_text(const struct amp_metrics *metrics, char text[32])
{
    double decibels = amp_html_decibels(metrics);
    if (isfinite(decibels))
        snprintf(text, 32, "%.1f dB", decibels);
    else
        snprintf(text, 32, "%s", isnan(decibels) ? "lost" : "equal");
    return text;
}

static void put_local(const struct chart *c, size_t item)
{
    char text[AMP_HTML_SHORT + 64], local[32], accumulated[32];
    const struct amp_layer *layer = &c->layers->items[item];
    amp_html_put(c->html,
                 "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: %s by "
                 "itself, %s accumulated</title></circle>\n",
                 amp_html_dtype_class(layer->dtype[1]), x_of(c, item),
                 y_of(c, amp_html_decibels(&layer->local)), value_text(layer, text, sizeof text),
                 decibels_text(&layer->local, local),
                 decibels_text(&layer->accumulated, accumulated));
}

/* The local errors, the worst of them with names; those of values that are exact are left out. */
static void put_locals(const struct chart *c)
{
    size_t *order = amp_layers_sort(c->layers, AMP_LAYERS_BY_LOCAL), i = 0,
           count = c->layers->count;
    amp_html_put(c->html, "<path class=\"dots low\" d=\"M0 0");
    for (size_t k = TITLED; k < count; k++) {
        const struct amp_layer *layer = &c->layers->items[order[k]];
        if (layer->has_local && layer->local.is_float && layer->local.different > 0)
            amp_html_put(c->html, "M%.1f %.1fh0", x_of(c, order[k]),
                         y_of(c, amp_html_decibels(&layer->local)));
    }
    amp_html_put(c->html, "\"/>\n");
    for (; i < TITLED && i < count; i++) {
        const struct amp_layer *layer = &c->layers->items[order[i]];
        if (layer->has_local && layer->local.is_float && layer->local.different > 0)
            put_local(c, order[i]);
    }
    free(order);
}

/* A strip below the chart: the dtype of the values. */
static void put_strip(const struct chart *c)
{
    double half = (c->plot.right - c->plot.left) / (double)c->layers->count / 2;
    for (size_t i = 0, next; i < c->layers->count; i = next) {
        const char *class = amp_html_dtype_class(c->layers->items[i].dtype[1]);
        for (next = i + 1; next < c->layers->count &&
                           amp_html_dtype_class(c->layers->items[next].dtype[1]) == class;)
            next++;
        double left = fmax(x_of(c, i) - half, c->plot.left),
               right = fmin(x_of(c, next - 1) + half, c->plot.right);
        char title[96];
        snprintf(title, sizeof title, "%zu values in %s and the like", next - i,
                 amp_html_dtype_text(c->layers->items[i].dtype[1]));
        amp_svg_put_box(c->html, &(struct amp_svg_box){.x = left,
                                                       .y = c->plot.bottom + 9,
                                                       .width = right - left,
                                                       .height = class[0] == 'l'   ? STRIP
                                                                 : class[0] == 'f' ? STRIP - 4
                                                                                   : STRIP - 7,
                                                       .class = class,
                                                       .title = title});
    }
}

/* Diamonds at the values that are cast. */
static void put_casts(const struct chart *c, const struct amp_model *converted)
{
    size_t *item_of = amp_xcalloc(converted->n_values, sizeof *item_of);
    bool *is_marked = amp_xcalloc(c->layers->count, sizeof *is_marked);
    for (size_t i = 0; i < c->layers->count; i++)
        if (c->layers->items[i].values[1] < converted->n_values)
            item_of[c->layers->items[i].values[1]] = i + 1;
    for (uint32_t id = 0; id < converted->n_nodes; id++) {
        if (amp_node_at(converted, id)->is_removed || !amp_html_is_cast(converted, id))
            continue;
        size_t item = item_of[amp_node_at(converted, id)->inputs[0]];
        if (item == 0 || is_marked[item - 1])
            continue;
        is_marked[item - 1] = true;
        amp_html_put(c->html,
                     "<path class=\"solidcast\" d=\"M%.1f %.1fl4 4l-4 4l-4 -4z\"><title>a "
                     "cast</title></path>\n",
                     x_of(c, item - 1), c->plot.bottom - 1);
    }
    free(item_of);
    free(is_marked);
}

/* Lines down the chart at what stands out, their names at different heights. */
static void put_marks(const struct chart *c)
{
    struct amp_html_mark marks[AMP_HTML_MARKS];
    size_t count = amp_html_layer_marks(c->layers, marks);
    for (size_t i = 0; i < count; i++) {
        char text[AMP_HTML_SHORT + 64];
        double x = x_of(c, marks[i].item), y = c->plot.top + 14 + 15 * (double)i;
        bool is_right = x > (c->plot.left + c->plot.right) / 2;
        amp_html_put(c->html,
                     "<path class=\"linebad\" d=\"M%.1f %.1fV%.1f\"/><text class=\"badtext\" "
                     "x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
                     x, y, c->plot.bottom, is_right ? x - 8 : x + 8, y + 9,
                     is_right ? "end" : "start", marks[i].label);
        amp_svg_put_warning(c->html, x, y,
                            value_text(&c->layers->items[marks[i].item], text, sizeof text));
    }
}

static void put_legend(struct amp_html *html)
{
    amp_html_put(html, "<ul class=\"legend\"><li><svg width=\"26\" height=\"12\" "
                       "aria-hidden=\"true\"><path class=\"linefull\" d=\"M0 6H26\"/></svg>"
                       "accumulated: both models run from the inputs</li>"
                       "<li><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><circle "
                       "class=\"low\" cx=\"6\" cy=\"6\" r=\"4\"/></svg>by itself: the node is "
                       "given the reference's values</li>"
                       "<li><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><path "
                       "class=\"solidcast\" d=\"M6 1l5 5l-5 5l-5 -5z\"/></svg>a cast</li>"
                       "<li><svg width=\"26\" height=\"12\" aria-hidden=\"true\"><rect "
                       "class=\"low\" x=\"1\" y=\"1\" width=\"24\" height=\"10\"/></svg>bf16 or "
                       "fp16</li><li><svg width=\"26\" height=\"12\" aria-hidden=\"true\"><rect "
                       "class=\"full\" x=\"1\" y=\"1\" width=\"24\" height=\"6\"/></svg>fp32"
                       "</li></ul>\n");
}

static void put_chart(struct amp_html *html, const struct amp_layers *layers,
                      const struct amp_model *converted, double bound)
{
    struct chart c = {.html = html, .layers = layers, .plot = plot_of(layers, bound)};
    amp_html_put(html, "<figure>\n");
    amp_svg_plot_begin(html, &c.plot, "Signal to noise along the graph");
    if (!isnan(bound))
        amp_svg_put_level(html, &c.plot, bound, "bound", "least allowed for outputs");
    put_strip(&c);
    put_casts(&c, converted);
    put_accumulated(&c);
    put_locals(&c);
    put_marks(&c);
    amp_svg_end(html);
    amp_html_put(html, "<figcaption>A place for each value that both models have. The line at the "
                       "bottom: NaN or infinite, or nothing that can be compared. Values that are "
                       "equal are left out.</figcaption>"
                       "\n</figure>\n");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_decibels(struct amp_html *html, const struct amp_metrics *metrics, bool is_there)
{
    double decibels = amp_html_decibels(metrics);
    if (!is_there)
        amp_html_put(html, "<td class=\"n\">\xe2\x80\x93</td>");
    else if (isnan(decibels))
        amp_html_put(html, "<td class=\"n\">%s</td>",
                     metrics->is_float ? "\xe2\x9c\x97 lost" : "differs");
    else if (isinf(decibels))
        amp_html_put(html, "<td class=\"n\">equal</td>");
    else
        amp_html_put(html, "<td class=\"n\">%.1f dB</td>", decibels);
}

static bool is_finite(const struct amp_layer *layer)
{
    const struct amp_range *range = layer->range;
    return range[1].nan + range[1].infinite + range[0].nan + range[0].infinite == 0;
}

/* Whether any value has elements that are not finite. */
static bool has_lost_any(const struct amp_layers *layers)
{
    for (size_t i = 0; i < layers->count; i++)
        if (!is_finite(&layers->items[i]))
            return true;
    return false;
}

static void put_lost(struct amp_html *html, const struct amp_layer *layer)
{
    const struct amp_range *range = layer->range;
    if (is_finite(layer))
        amp_html_put(html, "<td></td>");
    else
        amp_html_put(html, "<td>%llu NaN, %llu infinite (%llu, %llu)</td>",
                     (unsigned long long)range[1].nan, (unsigned long long)range[1].infinite,
                     (unsigned long long)range[0].nan, (unsigned long long)range[0].infinite);
}

static void put_row(struct amp_html *html, const struct amp_layer *layer, bool is_marked,
                    bool has_lost)
{
    char name[AMP_HTML_SHORT];
    bool is_named = layer->node_names[1][0] != '\0', is_same = layer->dtype[0] == layer->dtype[1];
    amp_html_put(html, "<tr class=\"%s\"><td><code>%s</code></td><td>%.60s</td>",
                 is_marked ? "bad" : "",
                 amp_html_short(is_named ? layer->node_names[1] : layer->names[1], 52, name),
                 layer->op_type);
    amp_html_put(html, "<td class=\"n\">%s%s%s</td>",
                 is_same ? "" : amp_html_dtype_text(layer->dtype[0]),
                 is_same ? "" : " \xe2\x86\x92 ", amp_html_dtype_text(layer->dtype[1]));
    put_decibels(html, &layer->accumulated, layer->accumulated.count > 0);
    put_decibels(html, &layer->local, layer->has_local && layer->local.count > 0);
    amp_html_put(html, "<td class=\"n\">%.5g</td><td class=\"n\">%.5g \xe2\x86\x92 %.5g</td>",
                 amp_range_largest(&layer->range[0]), layer->worst.values[0],
                 layer->worst.values[1]);
    if (has_lost)
        put_lost(html, layer);
    amp_html_put(html, "</tr>\n");
}

static void begin_table(struct amp_html *html, const char *caption, bool has_lost)
{
    static const struct amp_html_column columns[] = {
        {"node, or value of one without a name", false},
        {"operator", false},
        {"dtype", false},
        {"accumulated", true},
        {"by itself", true},
        {"largest magnitude", true},
        {"worst element", true},
        {"not finite (reference)", false}};
    amp_html_table_begin(html, caption, columns, AMP_COUNT(columns) - !has_lost);
}

static void put_worst(struct amp_html *html, const struct amp_layers *layers, bool has_lost)
{
    struct amp_html_mark marks[AMP_HTML_MARKS];
    size_t *order = amp_layers_sort(layers, AMP_LAYERS_BY_LOCAL);
    size_t n_marks = amp_html_layer_marks(layers, marks);
    begin_table(html,
                "The values with the largest errors by themselves: the places that make the "
                "error, not those that hand it on.",
                has_lost);
    for (size_t i = 0; i < layers->count && i < WORST; i++) {
        bool is_marked = false;
        for (size_t m = 0; m < n_marks; m++)
            is_marked |= marks[m].item == order[i];
        put_row(html, &layers->items[order[i]], is_marked, has_lost);
    }
    amp_html_table_end(html);
    free(order);
}

static void put_all(struct amp_html *html, const struct amp_layers *layers, bool has_lost)
{
    char text[64];
    snprintf(text, sizeof text, "All %zu values that both models have", layers->count);
    amp_html_details_begin(html, text);
    begin_table(html, "The values in the order of the graph.", has_lost);
    for (size_t i = 0; i < layers->count && i < ALL_MAX; i++)
        put_row(html, &layers->items[i], false, has_lost);
    amp_html_table_end(html);
    if (layers->count > ALL_MAX)
        amp_html_put(html,
                     "<p>%zu more are left out; <code>compare --layers --json</code> has "
                     "them.</p>\n",
                     layers->count - ALL_MAX);
    amp_html_details_end(html);
}

void amp_html_layers(struct amp_html *html, const struct amp_layers *layers,
                     const struct amp_model *converted, double bound)
{
    put_legend(html);
    put_chart(html, layers, converted, bound);
    bool has_lost = has_lost_any(layers);
    put_worst(html, layers, has_lost);
    put_all(html, layers, has_lost);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

void amp_html_layer_ranges(struct amp_html *html, const struct amp_layers *layers)
{
    struct amp_html_range *ranges = amp_xcalloc(layers->count, sizeof *ranges);
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++) {
        const struct amp_layer *layer = &layers->items[i];
        if (layer->range[0].count > 0)
            ranges[count++] = (struct amp_html_range){.name = layer->names[1],
                                                      .op_type = layer->op_type,
                                                      .dtype = layer->dtype[1],
                                                      .range = layer->range[0]};
    }
    amp_html_ranges(html, ranges, count);
    free(ranges);
}

/* ---- the graph ------------------------------------------------------------------------------- */

void amp_html_compared_graph(struct amp_html *html, const struct amp_model *converted,
                             const struct amp_layers *layers)
{
    struct amp_drawing_note *notes = layers != NULL ? make_notes(layers, converted) : NULL;
    amp_html_graph(html, converted, notes);
    free(notes);
}

/*
 * Draws a graph: boxes for nodes or for folded groups of them, curves for values, diamonds for
 * casts. A long graph is cut into columns of some layers each, which stand beside each other on a
 * screen and under each other on paper. Takes the layout of graph_layout.c.
 */
#include "cli/report/html/graph_drawing.h"

#include "cli/report/html/graph_layout.h"
#include "cli/report/html/node_precision.h"
#include "cli/report/html/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BOXES_MAX = 170, LAYERS = 15, WIDTH = 156, HEIGHT = 46, PITCH = 70, GAP = 14, EDGE = 6 };

struct drawing {
    struct amp_html *html;
    const struct amp_model *model;
    const struct amp_drawing_note *notes;
    const struct amp_fold *fold;
    const struct amp_layout *layout;
    struct amp_drawing_note *box_notes; /* per box */
    uint32_t first, end;                /* layers of the column at hand */
    double left;                        /* of the column, in the layout */
};

/* ---- notes ----------------------------------------------------------------------------------- */

static void note_boxes(struct drawing *d, struct amp_arena *arena)
{
    d->box_notes = amp_arena_array(arena, d->fold->n_boxes, sizeof *d->box_notes);
    for (uint32_t id = 0; d->notes != NULL && id < d->model->n_nodes; id++) {
        uint32_t outer = amp_graph_container(d->model, id, 0);
        uint32_t box = outer == AMP_NONE ? AMP_NONE : d->fold->box_of[outer];
        const struct amp_drawing_note *note = &d->notes[id];
        if (box == AMP_NONE || !note->is_known)
            continue;
        struct amp_drawing_note *sum = &d->box_notes[box];
        if (!sum->is_known || note->decibels < sum->decibels)
            sum->decibels = note->decibels;
        sum->is_known = true;
        if (sum->warning == NULL)
            sum->warning = note->warning;
    }
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static double x_of(const struct drawing *d, uint32_t spot)
{
    return d->layout->spots[spot].x - d->left;
}

static double top_of(const struct drawing *d, uint32_t layer)
{
    return EDGE + PITCH / 2.0 + ((double)layer - (double)d->first) * PITCH;
}

static const char *box_class(const struct amp_fold_box *box)
{
    return box->kind != AMP_FOLD_NODES     ? "end"
           : box->n_low + box->n_full == 0 ? "other"
           : box->n_low >= box->n_full     ? "low"
                                           : "full";
}

/* What is said of a box when it is pointed at. */
static const char *box_title(const struct drawing *d, uint32_t at, char *text, size_t size)
{
    const struct amp_fold_box *box = &d->fold->boxes[at];
    char name[AMP_HTML_SHORT], warning[320] = "";
    if (d->box_notes[at].warning != NULL)
        snprintf(warning, sizeof warning, " %.300s", d->box_notes[at].warning);
    if (box->kind != AMP_FOLD_NODES) {
        const struct amp_value *value = amp_value_at(d->model, box->value);
        snprintf(text, size, "%s %s, %s", box->kind == AMP_FOLD_INPUT ? "input" : "output",
                 amp_html_short(value->name, 60, name), amp_dtype_name(value->dtype));
        return text;
    }
    const struct amp_node *node = amp_node_at(d->model, box->node);
    if (box->n_nodes > 1)
        snprintf(text, size, "%s: %zu nodes, %zu in bf16 or fp16, %zu in fp32.%s",
                 amp_html_short(box->prefix, 80, name), box->n_nodes, box->n_low, box->n_full,
                 warning);
    else
        snprintf(text, size, "%s (%.60s) in %s, takes %zu cast%s.%s",
                 amp_html_short(node->name, 80, name), node->op_type,
                 amp_html_dtype_text(amp_html_precision(d->model, box->node)), box->n_casts,
                 box->n_casts == 1 ? "" : "s", warning);
    return text;
}

/* The two lines in a box. */
struct lines {
    char first[AMP_HTML_SHORT], second[AMP_HTML_SHORT];
};

static struct lines box_lines(const struct drawing *d, const struct amp_fold_box *box)
{
    struct lines lines = {.first = ""};
    char name[AMP_HTML_SHORT];
    enum { FIRST = 19, SECOND = 25 };
    if (box->kind != AMP_FOLD_NODES) {
        const struct amp_value *value = amp_value_at(d->model, box->value);
        snprintf(lines.first, sizeof lines.first, "%s",
                 box->kind == AMP_FOLD_INPUT ? "input" : "output");
        amp_html_short(value->name, SECOND, lines.second);
        return lines;
    }
    const struct amp_node *node = amp_node_at(d->model, box->node);
    if (box->n_nodes == 1) {
        amp_html_short(node->op_type, FIRST - 5, lines.first);
        amp_html_short(node->name, SECOND, lines.second);
        return lines;
    }
    amp_html_short(box->prefix[0] != '\0' ? box->prefix : node->op_type, FIRST, lines.first);
    snprintf(lines.second, sizeof lines.second, "%zu nodes%s%s", box->n_nodes,
             box->prefix[0] != '\0' ? "" : " from ",
             box->prefix[0] != '\0' ? "" : amp_html_short(node->name, SECOND - 14, name));
    return lines;
}

/* Below the text of a box of several nodes: how many compute in what. */
static void put_shares(const struct drawing *d, const struct amp_fold_box *box, double x, double y)
{
    static const char *const classes[] = {"solidlow", "solidfull", "solidother"};
    const size_t counts[] = {box->n_low, box->n_full, box->n_nodes - box->n_low - box->n_full};
    double at = x + 8, unit = (WIDTH - 16) / (double)box->n_nodes;
    for (int i = 0; i < 3; i++) {
        if (counts[i] > 0)
            amp_html_put(d->html,
                         "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"5\"/>",
                         classes[i], at, y + HEIGHT - 9, unit * (double)counts[i]);
        at += unit * (double)counts[i];
    }
}

/* The corners say what the colour says: round for bf16 and fp16, square for float32. */
static int corner_of(const char *class)
{
    return class[0] == 'l' ? 9 : class[0] == 'e' ? 22 : 0;
}

static void put_note(const struct drawing *d, uint32_t at, double x, double y)
{
    const struct amp_drawing_note *note = &d->box_notes[at];
    const struct amp_fold_box *box = &d->fold->boxes[at];
    if (note->is_known && isfinite(note->decibels) && box->n_nodes == 1)
        amp_html_put(d->html,
                     "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"10\">local "
                     "%.1f dB</text>",
                     x + 8, y + HEIGHT - 5, note->decibels);
    if (note->warning != NULL)
        amp_html_put(d->html, "<path class=\"solidbad\" d=\"M%.1f %.1fl9 15h-18z\"/>",
                     x + WIDTH - 4, y - 9);
}

static void put_box(const struct drawing *d, uint32_t at)
{
    char title[512];
    const struct amp_fold_box *box = &d->fold->boxes[at];
    const char *class = box_class(box);
    bool is_wrong = d->box_notes[at].warning != NULL;
    double x = x_of(d, at) - WIDTH / 2.0, y = top_of(d, d->layout->spots[at].layer);
    struct lines lines = box_lines(d, box);
    amp_html_put(d->html,
                 "<g><title>%s</title><rect class=\"%s%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" "
                 "height=\"%d\" rx=\"%d\"/>",
                 box_title(d, at, title, sizeof title), class, is_wrong ? " heavy" : "", x, y,
                 WIDTH, HEIGHT, corner_of(class));
    amp_html_put(d->html,
                 "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"600\">%s</text>"
                 "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"10\">%s</text>",
                 x + 8, y + 16, lines.first, x + 8, y + 29, lines.second);
    if (box->n_nodes == 1)
        amp_html_put(d->html,
                     "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" text-anchor=\"end\">%s</text>",
                     x + WIDTH - 8, y + 15,
                     box->n_low + box->n_full == 0
                         ? ""
                         : amp_html_dtype_text(amp_html_precision(d->model, box->node)));
    else if (box->n_nodes > 1)
        put_shares(d, box, x, y);
    put_note(d, at, x, y);
    amp_html_put(d->html, "</g>\n");
}

/* ---- edges ----------------------------------------------------------------------------------- */

static const char *line_class(const struct amp_fold_edge *edge)
{
    const char *class = amp_html_dtype_class(edge->dtype);
    return class[0] == 'l' ? "linelow" : class[0] == 'f' ? "linefull" : "lineother";
}

/* Where a link leaves a spot, and where it reaches the next one: crossings have no height. */
static double leave(const struct drawing *d, uint32_t spot)
{
    const struct amp_layout_spot *at = &d->layout->spots[spot];
    return top_of(d, at->layer) + HEIGHT;
}

static void put_link(const struct drawing *d, const struct amp_layout_link *link)
{
    const struct amp_fold_edge *edge = &d->fold->edges[link->edge];
    const struct amp_layout_spot *to = &d->layout->spots[link->to];
    double x1 = x_of(d, link->from), x2 = x_of(d, link->to), y1 = leave(d, link->from),
           y2 = top_of(d, to->layer), middle = (y1 + y2) / 2;
    bool ends = to->box != AMP_NONE;
    amp_html_put(d->html, "<path class=\"%s%s\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f",
                 line_class(edge), edge->is_back ? " back" : "", x1, y1, x1, middle, x2, middle, x2,
                 y2);
    if (!ends)
        amp_html_put(d->html, "v%d", HEIGHT);
    amp_html_put(d->html, "\"/>\n");
    if (ends && edge->has_cast)
        amp_html_put(d->html,
                     "<path class=\"solidcast\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"><title>cast from "
                     "%s</title></path>\n",
                     x2, y2 - 11, amp_html_dtype_text(edge->dtype));
}

/* ---- columns --------------------------------------------------------------------------------- */

static bool is_in(const struct drawing *d, uint32_t layer)
{
    return layer >= d->first && layer < d->end;
}

/* Whether a link is seen in the column: it may begin in the one before or end in the next. */
static bool is_link_in(const struct drawing *d, const struct amp_layout_link *link)
{
    const struct amp_layout_spot *spots = d->layout->spots;
    return is_in(d, spots[link->from].layer) || is_in(d, spots[link->to].layer);
}

static void widen(const struct drawing *d, uint32_t spot, double *left, double *right)
{
    const struct amp_layout_spot *at = &d->layout->spots[spot];
    double half = at->box == AMP_NONE || !is_in(d, at->layer) ? 8 : WIDTH / 2.0;
    *left = fmin(*left, at->x - half);
    *right = fmax(*right, at->x + half);
}

static void put_column(struct drawing *d)
{
    double left = INFINITY, right = -INFINITY;
    for (uint32_t s = 0; s < d->layout->n_spots; s++)
        if (is_in(d, d->layout->spots[s].layer))
            widen(d, s, &left, &right);
    for (size_t i = 0; i < d->layout->n_links; i++)
        if (is_link_in(d, &d->layout->links[i])) {
            widen(d, d->layout->links[i].from, &left, &right);
            widen(d, d->layout->links[i].to, &left, &right);
        }
    char title[96];
    d->left = left - 16;
    snprintf(title, sizeof title, "The graph, layers %u to %u of %u", d->first + 1, d->end,
             d->layout->n_layers);
    amp_svg_begin(d->html, right - left + 32,
                  2 * EDGE + PITCH / 2.0 + (double)(d->end - d->first) * PITCH, title);
    for (size_t i = 0; i < d->layout->n_links; i++)
        if (is_link_in(d, &d->layout->links[i]))
            put_link(d, &d->layout->links[i]);
    for (uint32_t b = 0; b < d->fold->n_boxes; b++)
        if (is_in(d, d->layout->spots[b].layer))
            put_box(d, b);
    amp_svg_end(d->html);
}

static bool is_folded(const struct amp_fold *fold)
{
    for (size_t b = 0; b < fold->n_boxes; b++)
        if (fold->boxes[b].n_nodes > 1)
            return true;
    return false;
}

static void put_legend(struct amp_html *html, bool has_notes)
{
    static const struct {
        const char *class, *text;
        int corner;
    } entries[] = {{"low", "computes in bf16 or fp16 (round corners)", 6},
                   {"full", "computes in fp32 (square corners)", 0},
                   {"other", "gives no floats (dashed)", 0}};
    amp_html_put(html, "<ul class=\"legend\">");
    for (int i = 0; i < 3; i++)
        amp_html_put(html,
                     "<li><svg width=\"26\" height=\"16\" aria-hidden=\"true\"><rect class=\"%s\" "
                     "x=\"1\" y=\"1\" width=\"24\" height=\"14\" rx=\"%d\"/></svg>%s</li>",
                     entries[i].class, entries[i].corner, entries[i].text);
    amp_html_put(html, "<li><svg width=\"12\" height=\"16\" aria-hidden=\"true\"><path class=\""
                       "solidcast\" d=\"M6 3l5 5l-5 5l-5 -5z\"/></svg>a cast</li>");
    if (has_notes)
        amp_html_put(html, "<li><svg width=\"16\" height=\"16\" aria-hidden=\"true\"><path class=\""
                           "solidbad\" d=\"M8 1l7 13h-14z\"/></svg>what Where to look names</li>");
    amp_html_put(html, "</ul>\n");
}

void amp_html_graph(struct amp_html *html, const struct amp_model *model,
                    const struct amp_drawing_note *notes)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_fold fold = amp_fold_graph(model, BOXES_MAX, arena);
    struct amp_layout layout = amp_layout_fold(&fold, WIDTH, GAP, arena);
    struct drawing d = {
        .html = html, .model = model, .notes = notes, .fold = &fold, .layout = &layout};
    note_boxes(&d, arena);
    amp_html_put(html,
                 "<p>Values go from top to bottom; on the right the graph goes on. Lines have "
                 "the colour of the dtype in which the value was made. Point at a box to "
                 "read its name.");
    if (fold.n_left_out > 0)
        amp_html_put(html, " %zu nodes that give no floats are left out.", fold.n_left_out);
    if (is_folded(&fold))
        amp_html_put(html, " Nodes whose names begin alike, or that follow each other where names "
                           "do not help, share a box, with a bar of how many "
                           "compute in which dtype.");
    amp_html_put(html, "</p>\n");
    put_legend(html, notes != NULL);
    amp_html_put(html, "<div class=\"columns\">\n");
    for (d.first = 0; d.first < layout.n_layers; d.first += LAYERS) {
        d.end = d.first + LAYERS < layout.n_layers ? d.first + LAYERS : layout.n_layers;
        put_column(&d);
    }
    amp_html_put(html, "</div>\n");
    amp_arena_destroy(arena);
}

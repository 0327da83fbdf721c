/*
 * The error of the outputs by source: bars of the largest sources, a table by operator, and the sum
 * against what was measured. Takes what check/noise.c found.
 */
#include "cli/report/html/noise.h"

#include "check/noise.h"
#include "cli/report/html/node_precision.h"
#include "cli/report/html/svg.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/strmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20, WIDTH = 1120, ROW = 24, LABEL = 470 };

static const char *kind_text(enum amp_noise_kind kind)
{
    switch (kind) {
    case AMP_NOISE_WEIGHT:
        return "weight";
    case AMP_NOISE_VALUE:
        return "value";
    case AMP_NOISE_CAST:
        return "cast";
    case AMP_NOISE_BODIES:
        return "bodies";
    default:
        return "";
    }
}

static double decibels(double power)
{
    return power > 0 ? -10 * log10(power) : INFINITY;
}

/* The sources of a group, which are next to each other. */
struct span {
    const struct amp_noise_source *first;
    size_t count;
    double power;
};

/* Those that lose elements come first, then by power. */
static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    bool x_loses = x->first->n_lost > 0, y_loses = y->first->n_lost > 0;
    if (x_loses != y_loses)
        return x_loses ? -1 : 1;
    if (x->power != y->power)
        return x->power > y->power ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* The groups of sources, the largest first: to be freed. */
static struct span *sort_spans(const struct amp_noise *noise)
{
    struct span *spans = amp_xcalloc(noise->n_groups + 1, sizeof *spans);
    for (size_t i = 0; i < noise->n_sources; i++) {
        struct span *span = &spans[noise->sources[i].group];
        span->first = span->count++ == 0 ? &noise->sources[i] : span->first;
        span->power += noise->sources[i].power;
    }
    qsort(spans, noise->n_groups, sizeof *spans, compare_spans);
    return spans;
}

size_t amp_html_noise_largest(const struct amp_noise *noise)
{
    struct span *spans = sort_spans(noise);
    bool is_there = noise->n_groups > 0 && (spans[0].power > 0 || spans[0].first->n_lost > 0);
    size_t largest = is_there ? (size_t)(spans[0].first - noise->sources) : SIZE_MAX;
    free(spans);
    return largest;
}

/* ---- the sum --------------------------------------------------------------------------------- */

static void put_sum(struct amp_html *html, const struct amp_noise *noise)
{
    double difference = amp_noise_difference(noise);
    amp_html_put(html,
                 "<p>%zu places where the conversion rounds were tried, each alone, in %zu groups "
                 "on %zu sample%s. ",
                 noise->n_sources, noise->n_groups, noise->n_probed,
                 noise->n_probed == 1 ? "" : "s");
    if (noise->predicted > 0)
        amp_html_put(html, "Together they give a signal to noise of <strong>%.1f dB</strong>",
                     decibels(noise->predicted));
    if (noise->predicted > 0 && noise->measured > 0)
        amp_html_put(html, "; measured: <strong>%.1f dB</strong>", decibels(noise->measured));
    if (isfinite(difference))
        amp_html_put(html, ", a difference of %.1f dB", fabs(difference));
    if (isfinite(difference) && isfinite(noise->chance))
        amp_html_put(html, ", where chance makes %.1f dB", noise->chance);
    if (noise->predicted > 0)
        amp_html_put(html, ".");
    if (noise->n_lost > 0)
        amp_html_put(html,
                     " <strong>%llu elements of the outputs are lost</strong>: finite in the "
                     "reference, NaN or infinite in the converted model.",
                     (unsigned long long)noise->n_lost);
    amp_html_put(html, "</p>\n");
}

/* ---- bars ------------------------------------------------------------------------------------ */

static double share_of(const struct amp_noise *noise, double power)
{
    return noise->predicted > 0 ? 100 * power / noise->predicted : 0;
}

/* What is written beside a bar, and said where it is pointed at. */
struct label {
    char name[AMP_HTML_SHORT], detail[2 * AMP_HTML_SHORT], title[4 * AMP_HTML_SHORT];
};

static struct label label_of(const struct amp_noise *noise, const struct span *span)
{
    struct label label;
    char node[AMP_HTML_SHORT], last[AMP_HTML_SHORT];
    const struct amp_noise_source *source = span->first;
    amp_html_short(source->name, 40, label.name);
    amp_html_short(source->node[0] != '\0' ? source->node : "an input", 56, node);
    if (span->count > 1)
        snprintf(label.detail, sizeof label.detail, "%zu sources, to %s", span->count,
                 amp_html_short(source[span->count - 1].name, 40, last));
    else
        snprintf(label.detail, sizeof label.detail, "%s of %s", kind_text(source->kind), node);
    snprintf(label.title, sizeof label.title, "%s, %s", label.name, label.detail);
    if (span->power > 0)
        snprintf(label.title, sizeof label.title, "%s, %s: %.3g %% of the error, %.1f dB alone",
                 label.name, label.detail, share_of(noise, span->power), decibels(span->power));
    return label;
}

static void put_span(struct amp_html *html, const struct amp_svg_plot *plot,
                     const struct amp_noise *noise, const struct span *span, double y)
{
    struct label label = label_of(noise, span);
    const struct amp_noise_source *source = span->first;
    double share = share_of(noise, span->power), right = amp_svg_at(&plot->x, share);
    amp_html_put(html,
                 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text><text class=\"soft\" "
                 "x=\"%.1f\" y=\"%.1f\" font-size=\"10\" text-anchor=\"end\">%s</text>\n",
                 plot->left - 8, y + 10, label.name, plot->left - 8, y + 20, label.detail);
    amp_svg_put_box(html,
                    &(struct amp_svg_box){.x = plot->left,
                                          .y = y + 3,
                                          .width = right - plot->left,
                                          .height = ROW - 8,
                                          .class = source->n_lost > 0                 ? "wrong"
                                                   : source->kind == AMP_NOISE_WEIGHT ? "third"
                                                                                      : "low",
                                          .title = label.title});
    if (source->n_lost > 0)
        amp_html_put(html,
                     "<text class=\"badtext\" x=\"%.1f\" y=\"%.1f\">\xe2\x9c\x97 loses %llu "
                     "elements</text>\n",
                     right + 5, y + 15, (unsigned long long)source->n_lost);
    else
        amp_html_put(html, "<text x=\"%.1f\" y=\"%.1f\">%.3g %%</text>\n", right + 5, y + 15,
                     share);
}

static void put_bars(struct amp_html *html, const struct amp_noise *noise, const struct span *spans,
                     size_t count)
{
    double most = 1;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, share_of(noise, spans[i].power));
    struct amp_svg_plot plot = {.left = LABEL,
                                .right = WIDTH - 150,
                                .top = 4,
                                .bottom = 8 + ROW * (double)count,
                                .x = amp_svg_axis_over("% of the error", false, 0, most)};
    plot.x.from = plot.left;
    plot.x.to = plot.right;
    amp_html_put(html, "<figure>\n");
    amp_svg_begin(html, WIDTH, plot.bottom + 40, "The largest sources of the error");
    amp_svg_put_x(html, &plot);
    for (size_t i = 0; i < count; i++)
        put_span(html, &plot, noise, &spans[i], plot.top + ROW * (double)i);
    amp_svg_end(html);
    amp_html_put(html,
                 "<figcaption>The %zu largest of %zu groups of sources: what each adds to the "
                 "outputs' squared error when it alone is rounded. Filled: values and casts; "
                 "outlined: weights.</figcaption>\n</figure>\n",
                 count, noise->n_groups);
}

/* ---- by operator ----------------------------------------------------------------------------- */

struct op_noise {
    const char *group;
    size_t sources;
    double power[2]; /* of weights, of the rest */
};

static int compare_ops(const void *a, const void *b)
{
    const struct op_noise *x = a, *y = b;
    double p = x->power[0] + x->power[1], q = y->power[0] + y->power[1];
    return p != q ? (p < q) - (p > q) : strcmp(x->group, y->group);
}

static void put_operators(struct amp_html *html, const struct amp_noise *noise)
{
    static const struct amp_html_column columns[] = {
        {"operator", false}, {"sources", true}, {"% by weights", true}, {"% by values", true}};
    struct op_noise *ops = amp_xcalloc(noise->n_sources, sizeof *ops);
    struct amp_strmap places = {.count = 0};
    struct amp_arena *arena = amp_arena_create();
    size_t count = 0;
    for (size_t i = 0; i < noise->n_sources; i++) {
        const struct amp_noise_source *source = &noise->sources[i];
        uint32_t at = (uint32_t)count;
        if (!amp_strmap_get(&places, source->op_type, &at))
            amp_strmap_put(&places, arena, source->op_type, (uint32_t)count++);
        ops[at].group = source->op_type;
        ops[at].sources++;
        ops[at].power[source->kind != AMP_NOISE_WEIGHT] += source->power;
    }
    qsort(ops, count, sizeof *ops, compare_ops);
    amp_html_table_begin(html, "The error by operator.", columns, AMP_COUNT(columns));
    for (size_t i = 0; i < count && i < SHOWN; i++)
        amp_html_put(html,
                     "<tr><td>%.60s</td><td class=\"n\">%zu</td><td class=\"n\">%.3g</td>"
                     "<td class=\"n\">%.3g</td></tr>\n",
                     ops[i].group[0] != '\0' ? ops[i].group : "graph input", ops[i].sources,
                     100 * ops[i].power[0] / noise->predicted,
                     100 * ops[i].power[1] / noise->predicted);
    amp_html_table_end(html);
    amp_arena_destroy(arena);
    free(ops);
}

void amp_html_noise(struct amp_html *html, const struct amp_noise *noise)
{
    struct span *spans = sort_spans(noise);
    size_t count = 0;
    while (count < noise->n_groups && count < SHOWN &&
           (spans[count].power > 0 || spans[count].first->n_lost > 0))
        count++;
    put_sum(html, noise);
    if (count > 0)
        put_bars(html, noise, spans, count);
    if (noise->predicted > 0)
        put_operators(html, noise);
    free(spans);
}

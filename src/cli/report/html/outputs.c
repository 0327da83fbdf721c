/*
 * Pictures of the errors of an output: a histogram over magnitudes, by sign, and a scatter of
 * converted values over the reference's with the line where both are equal. Takes what
 * check/deviations.c gathered.
 */
#include "cli/report/html/outputs.h"

#include "check/validate.h"
#include "cli/report/html/svg.h"
#include "core/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BARS_MAX = 48, WIDTH = 520, HEIGHT = 300, OUTPUTS_MAX = 6 };

/* ---- the histogram --------------------------------------------------------------------------- */

/* The bins that are shown: from FIRST to END, PER_BAR of them as one bar. */
struct span {
    int first, end, per_bar;
};

static struct span span_of(const struct amp_deviations *d)
{
    struct span span = {AMP_DEVIATION_BINS, 0, 1};
    for (int i = 0; i < AMP_DEVIATION_BINS; i++) {
        if (d->bins[0][i] + d->bins[1][i] == 0)
            continue;
        span.first = i < span.first ? i : span.first;
        span.end = i + 1;
    }
    span.per_bar = (span.end - span.first + BARS_MAX - 1) / BARS_MAX;
    return span;
}

static uint64_t sum_of(const struct amp_deviations *d, const struct span *span, int sign, int first)
{
    uint64_t sum = 0;
    for (int i = first; i < first + span->per_bar && i < span->end; i++)
        sum += d->bins[sign][i];
    return sum;
}

static double least_of(int bin)
{
    return ldexp(1, bin + AMP_DEVIATION_LEAST);
}

static void put_bar(struct amp_html *html, const struct amp_svg_plot *plot, int sign,
                    const double edges[2], uint64_t count)
{
    char title[160];
    double x = amp_svg_at(&plot->x, edges[0]), zero = amp_svg_at(&plot->y, 0);
    double y = amp_svg_at(&plot->y, sign ? (double)count : -(double)count);
    if (count == 0)
        return;
    snprintf(title, sizeof title, "%llu elements are %.3g to %.3g too %s",
             (unsigned long long)count, edges[0], edges[1], sign ? "large" : "small");
    amp_svg_put_box(html, &(struct amp_svg_box){.x = x + 0.5,
                                                .y = sign ? y : zero,
                                                .width = amp_svg_at(&plot->x, edges[1]) - x - 1,
                                                .height = fabs(zero - y),
                                                .class = sign ? "low" : "full",
                                                .title = title});
}

static void put_histogram(struct amp_html *html, const struct amp_deviations *d,
                          const struct span *span)
{
    double most = 1;
    for (int i = span->first; i < span->end; i += span->per_bar)
        for (int sign = 0; sign < 2; sign++)
            most = fmax(most, (double)sum_of(d, span, sign, i));
    struct amp_svg_plot plot = {
        .width = WIDTH,
        .height = HEIGHT,
        .x = amp_svg_axis_over("size of the error", true, least_of(span->first),
                               least_of(span->end)),
        .y = amp_svg_axis_over("elements: up too large, down too small", false, -most, most)};
    amp_html_put(html, "<figure>\n");
    amp_svg_plot_begin(html, &plot, "Histogram of the errors");
    for (int i = span->first; i < span->end; i += span->per_bar)
        for (int sign = 0; sign < 2; sign++) {
            double edges[2] = {least_of(i), least_of(i + span->per_bar)};
            put_bar(html, &plot, sign, edges, sum_of(d, span, sign, i));
        }
    amp_html_put(html, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", plot.left,
                 amp_svg_at(&plot.y, 0), plot.right);
    amp_svg_end(html);
    amp_html_put(html,
                 "<figcaption>Errors by size. %llu of %llu elements have none.</figcaption>\n"
                 "</figure>\n",
                 (unsigned long long)d->equal, (unsigned long long)d->finite);
}

/* ---- the scatter ----------------------------------------------------------------------------- */

static struct amp_svg_plot scatter_plot(const struct amp_deviations *d)
{
    double low = INFINITY, high = -INFINITY;
    const struct amp_deviation_point *lists[] = {d->points, d->worst};
    const size_t counts[] = {d->n_points, d->n_worst};
    for (size_t l = 0; l < AMP_COUNT(lists); l++)
        for (size_t i = 0; i < counts[l]; i++) {
            const struct amp_deviation_point *point = &lists[l][i];
            low = fmin(low, fmin(point->reference, point->converted));
            high = fmax(high, fmax(point->reference, point->converted));
        }
    return (struct amp_svg_plot){.width = WIDTH,
                                 .height = HEIGHT,
                                 .x = amp_svg_axis_over("reference", false, low, high),
                                 .y = amp_svg_axis_over("converted", false, low, high)};
}

static void put_points(struct amp_html *html, const struct amp_svg_plot *plot,
                       const struct amp_deviations *d)
{
    amp_html_put(html, "<path class=\"dots low\" d=\"");
    for (size_t i = 0; i < d->n_points; i++)
        amp_html_put(html, "M%.1f %.1fh0", amp_svg_at(&plot->x, d->points[i].reference),
                     amp_svg_at(&plot->y, d->points[i].converted));
    amp_html_put(html, "\"/>\n");
}

static void put_worst(struct amp_html *html, const struct amp_svg_plot *plot,
                      const struct amp_deviations *d)
{
    for (size_t i = d->n_worst; i > 0; i--) {
        char title[160];
        const struct amp_deviation_point *point = &d->worst[i - 1];
        snprintf(title, sizeof title, "element %llu: %.6g became %.6g",
                 (unsigned long long)point->index, point->reference, point->converted);
        amp_svg_put_warning(html, amp_svg_at(&plot->x, point->reference),
                            amp_svg_at(&plot->y, point->converted), title);
    }
}

static void put_scatter(struct amp_html *html, const struct amp_deviations *d)
{
    struct amp_svg_plot plot = scatter_plot(d);
    amp_html_put(html, "<figure>\n");
    amp_svg_plot_begin(html, &plot, "Converted values over the reference's");
    amp_html_put(html, "<path class=\"axis\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", plot.left,
                 plot.bottom, plot.right, plot.top);
    put_points(html, &plot, d);
    put_worst(html, &plot, d);
    amp_svg_end(html);
    amp_html_put(html,
                 "<figcaption>Each dot is an element, %zu of %llu; on the line it is as in the "
                 "reference. Triangles: the %zu largest errors",
                 d->n_points, (unsigned long long)d->finite, d->n_worst);
    if (d->n_worst > 0)
        amp_html_put(html, ", the largest %.6g in place of %.6g", d->worst[0].converted,
                     d->worst[0].reference);
    amp_html_put(html, ".</figcaption>\n</figure>\n");
}

void amp_html_deviations(struct amp_html *html, const char *name,
                         const struct amp_deviations *deviations)
{
    char short_text[AMP_HTML_SHORT];
    struct span span = span_of(deviations);
    uint64_t lost = deviations->seen - deviations->finite;
    amp_html_put(html, "<h3>Output <code>%s</code></h3>\n", amp_html_short(name, 80, short_text));
    if (lost > 0)
        amp_html_put(html,
                     "<p><strong>%llu of %llu elements are NaN or infinite</strong> in one of "
                     "the models; the pictures have the others.</p>\n",
                     (unsigned long long)lost, (unsigned long long)deviations->seen);
    if (deviations->finite == 0)
        return;
    if (deviations->equal == deviations->finite)
        amp_html_put(html, "<p>All %llu elements are equal.</p>\n",
                     (unsigned long long)deviations->finite);
    amp_html_put(html, "<div class=\"pair\">\n");
    if (span.end > span.first)
        put_histogram(html, deviations, &span);
    put_scatter(html, deviations);
    amp_html_put(html, "</div>\n");
}

/* ---- all outputs ----------------------------------------------------------------------------- */

static bool is_shown(const struct amp_output_check *check)
{
    return check->deviations != NULL && check->deviations->seen > 0;
}

bool amp_html_has_deviations(const struct amp_validation *validation)
{
    for (size_t i = 0; i < validation->n_outputs; i++)
        if (is_shown(&validation->outputs[i]))
            return true;
    return false;
}

void amp_html_outputs(struct amp_html *html, const struct amp_validation *validation)
{
    size_t shown = 0, left_out = 0;
    for (int is_outside = 1; is_outside >= 0; is_outside--)
        for (size_t i = 0; i < validation->n_outputs; i++) {
            const struct amp_output_check *check = &validation->outputs[i];
            if (!is_shown(check) || check->is_outside != (bool)is_outside)
                continue;
            if (shown < OUTPUTS_MAX)
                amp_html_deviations(html, check->name, check->deviations);
            left_out += shown++ >= OUTPUTS_MAX;
        }
    if (left_out > 0)
        amp_html_put(html, "<p>%zu more outputs are left out.</p>\n", left_out);
}

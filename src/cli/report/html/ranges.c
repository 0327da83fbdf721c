/*
 * Ranges of values as bars on a logarithmic axis, from the smallest magnitude that is not 0 to the
 * largest, with lines where the lower dtypes end.
 */
#include "cli/report/html/ranges.h"

#include "cli/report/html/node_precision.h"
#include "cli/report/html/svg.h"
#include "core/arena.h"
#include "core/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 28, SMALLEST = 12, WIDTH = 1120, ROW = 17, LABEL = 330 };

/* The ends of the dtypes: IEEE 754-2019, 3.6, and bfloat16 with the exponents of binary32. */
static const struct {
    double value;
    const char *text, *class;
} limits[] = {
    {5.960464477539063e-8, "fp16 least", "limit"},
    {6.103515625e-5, "fp16 least normal", "limit"},
    {65504, "fp16 largest", "limit"},
    {1.1754943508222875e-38, "bf16 least normal", "limit2"},
    {3.3895313892515355e38, "bf16 largest", "limit2"},
};

static double largest(const struct amp_html_range *range)
{
    return amp_range_largest(&range->range);
}

/* The magnitude beyond which values of RANGE are lost; infinity where nothing is lowered. */
static double limit_of(const struct amp_html_range *range)
{
    return amp_dtype_is_lower(range->dtype) ? amp_dtype_max(range->dtype) : INFINITY;
}

static int compare_largest(const void *a, const void *b)
{
    const struct amp_html_range *const *x = a, *const *y = b;
    double p = largest(*x) / limit_of(*x) > 1 ? INFINITY : largest(*x),
           q = largest(*y) / limit_of(*y) > 1 ? INFINITY : largest(*y);
    return p != q ? (p < q) - (p > q) : (*x > *y) - (*x < *y);
}

static int compare_smallest(const void *a, const void *b)
{
    const struct amp_html_range *const *x = a, *const *y = b;
    double p = (*x)->range.smallest, q = (*y)->range.smallest;
    return p != q ? (p > q) - (p < q) : (*x > *y) - (*x < *y);
}

static struct amp_svg_plot plot_of(const struct amp_html_range *const *ranges, size_t count)
{
    double low = limits[0].value, high = limits[2].value;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, fmax(ranges[i]->range.smallest, 1e-45));
        high = fmax(high, largest(ranges[i]));
    }
    struct amp_svg_plot plot = {.width = WIDTH,
                                .height = 70 + ROW * (double)count,
                                .left = LABEL,
                                .right = WIDTH - 20,
                                .top = 36,
                                .bottom = 32 + ROW * (double)count,
                                .x = amp_svg_axis_over("magnitude", true, low, high * 10)};
    plot.x.from = plot.left;
    plot.x.to = plot.right;
    return plot;
}

static void put_limits(struct amp_html *html, const struct amp_svg_plot *plot)
{
    for (size_t i = 0; i < AMP_COUNT(limits); i++) {
        bool is_shown = limits[i].value >= plot->x.low && limits[i].value <= plot->x.high;
        double x = amp_svg_at(&plot->x, limits[i].value);
        if (is_shown)
            amp_html_put(html,
                         "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                         "font-size=\"11\" text-anchor=\"middle\">%s</text>\n",
                         limits[i].class, x, plot->top - 4, plot->bottom, x,
                         plot->top - (i % 2 == 1 ? 22 : 9), limits[i].text);
    }
}

static void put_range(struct amp_html *html, const struct amp_svg_plot *plot,
                      const struct amp_html_range *range, double y)
{
    char name[AMP_HTML_SHORT], text[AMP_HTML_SHORT + 160], size[32];
    bool is_beyond = largest(range) > limit_of(range);
    double left = amp_svg_at(&plot->x, range->range.smallest),
           right = amp_svg_at(&plot->x, largest(range));
    amp_html_short(range->name, 34, name);
    snprintf(text, sizeof text, "%s (%.40s) in %s: from %.5g to %.5g%s", name, range->op_type,
             amp_html_dtype_text(range->dtype), range->range.smallest, largest(range),
             is_beyond ? ", beyond the dtype's largest" : "");
    amp_html_put(html,
                 "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"end\">%s</text>"
                 "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"10\" "
                 "text-anchor=\"end\">%.12s %s</text>\n",
                 plot->left - 90.0, y + 10, name, plot->left - 8.0, y + 10, range->op_type,
                 amp_html_dtype_text(range->dtype));
    amp_svg_put_box(html, &(struct amp_svg_box){
                              .x = left,
                              .y = y + 2,
                              .width = fmax(right - left, 2),
                              .height = ROW - 6,
                              .class = is_beyond ? "wrong" : amp_html_dtype_class(range->dtype),
                              .title = text});
    if (is_beyond)
        amp_html_put(html,
                     "<path class=\"solidbad\" d=\"M%.1f %.1fl6 11h-12z\"/><text class=\"badtext\" "
                     "x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%s</text>\n",
                     right + 10, y + 2, right + 20, y + 11, amp_svg_number(largest(range), size));
}

/* Draws what is listed, in that order. */
static void put_chart(struct amp_html *html, const struct amp_html_range *const *ranges,
                      size_t count, const char *title)
{
    struct amp_svg_plot plot = plot_of(ranges, count);
    amp_html_put(html, "<h3>%s</h3>\n<figure>\n", title);
    amp_svg_begin(html, plot.width, plot.height, title);
    amp_svg_put_x(html, &plot);
    put_limits(html, &plot);
    for (size_t i = 0; i < count; i++)
        put_range(html, &plot, ranges[i], plot.top + ROW * (double)i);
    amp_svg_end(html);
    amp_html_put(html, "</figure>\n");
}

static size_t count_beyond(const struct amp_html_range *ranges, size_t count)
{
    size_t beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond += largest(&ranges[i]) > limit_of(&ranges[i]);
    return beyond;
}

void amp_html_ranges(struct amp_html *html, const struct amp_html_range *ranges, size_t count)
{
    const struct amp_html_range **order = amp_xmalloc(count, sizeof *order);
    size_t kept = 0, beyond = count_beyond(ranges, count), small = 0;
    for (size_t i = 0; i < count; i++)
        if (largest(&ranges[i]) > 0)
            order[kept++] = &ranges[i];
    amp_html_put(html,
                 "<p>From the smallest magnitude that is not 0 to the largest, in the reference. "
                 "%s%zu of %zu values go beyond what their dtype in the converted model holds%s. "
                 "bf16 reaches from 1.2e-38 to 3.4e38.</p>\n",
                 beyond > 0 ? "\xe2\x9c\x97 " : "", beyond, count,
                 beyond > 0 ? ": they become infinite there" : "");
    if (kept > 0) {
        qsort(order, kept, sizeof *order, compare_largest);
        put_chart(html, order, kept < LARGEST ? kept : LARGEST, "The largest magnitudes");
        qsort(order, kept, sizeof *order, compare_smallest);
        while (small < kept && small < SMALLEST && order[small]->range.smallest < limits[1].value)
            small++;
    }
    if (small > 0)
        put_chart(html, order, small, "The smallest magnitudes, below what fp16 holds in full");
    free(order);
}

/*
 * Times as tables and pictures: of runs, operators and nodes in several dtypes, and a roofline
 * (Williams, Waterman and Patterson, "Roofline", 2009), whose roofs are the machine's product of
 * matrices and the most bytes in a second that any node here moved.
 */
#include "cli/report/html/timing.h"

#include "cli/report/bench.h"
#include "cli/report/html/svg.h"
#include "cli/report/profile.h"
#include "core/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATORS = 16, NODES = 25, WIDTH = 860 };

/* The class of the page's style that stands for DTYPE in pictures of times. */
static const char *class_of(enum amp_dtype dtype)
{
    return dtype == AMP_BFLOAT16 ? "low" : dtype == AMP_FLOAT16 ? "third" : "full";
}

static void put_legend(struct amp_html *html, const struct amp_bench *bench)
{
    amp_html_put(html, "<ul class=\"legend\">");
    for (size_t i = 0; i < bench->n_sides; i++)
        amp_html_put(html,
                     "<li><svg width=\"26\" height=\"16\" aria-hidden=\"true\"><rect class=\"%s\" "
                     "x=\"1\" y=\"1\" width=\"24\" height=\"14\"/></svg>%s</li>",
                     class_of(bench->sides[i].dtype), amp_dtype_short_name(bench->sides[i].dtype));
    amp_html_put(html, "</ul>\n");
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Puts a cell with VALUE, "–" where it is 0. */
static void put_number(struct amp_html *html, double value)
{
    if (value > 0)
        amp_html_number_cell(html, value);
    else
        amp_html_put(html, "<td class=\"n\">\xe2\x80\x93</td>");
}

static void put_time_table(struct amp_html *html, const struct amp_bench *bench)
{
    static const struct amp_html_column columns[] = {
        {"dtype", false},     {"median ms", true},
        {"minimum ms", true}, {"speed-up", true},
        {"GFLOP/s", true},    {"% of the machine's product", true},
        {"peak MB", true},    {"nodes computed in fp32 instead", true}};
    amp_html_table_begin(html,
                         "A run in each dtype. Speed-up: over fp32. The product is that of "
                         "two matrices of 1024 x 1024 in the dtype.",
                         columns, AMP_COUNT(columns));
    for (size_t i = 0; i < bench->n_sides; i++) {
        const struct amp_bench_side *side = &bench->sides[i];
        amp_html_put(html, "<tr><td>%s</td>", amp_dtype_short_name(side->dtype));
        put_number(html, 1e3 * side->median);
        put_number(html, 1e3 * side->minimum);
        put_number(html, amp_bench_speedup(bench, side));
        put_number(html, amp_bench_gflops(bench, side));
        put_number(html, 100 * amp_bench_share(bench, side));
        put_number(html, 1e-6 * (double)side->peak_bytes);
        amp_html_put(html, "<td class=\"n\">%.0zu</td></tr>\n", side->widened);
    }
    amp_html_table_end(html);
}

/* A bar from the left with a text behind it. */
struct bar {
    double y, height; /* in pixels */
    double milliseconds;
    enum amp_dtype dtype;
    const char *title;
};

static void put_bar(struct amp_html *html, const struct amp_svg_plot *plot, const struct bar *bar)
{
    amp_svg_put_box(
        html, &(struct amp_svg_box){.x = plot->left,
                                    .y = bar->y,
                                    .width = amp_svg_at(&plot->x, bar->milliseconds) - plot->left,
                                    .height = bar->height,
                                    .class = class_of(bar->dtype),
                                    .title = bar->title});
    amp_html_put(html, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"10\">%.3g</text>\n",
                 amp_svg_at(&plot->x, bar->milliseconds) + 4, bar->y + bar->height / 2 + 3.5,
                 bar->milliseconds);
}

/* A plot of bars that lie below each other, HEIGHT of them, to MOST milliseconds. */
static struct amp_svg_plot bar_plot(double height, double most)
{
    struct amp_svg_plot plot = {.width = WIDTH,
                                .height = height + 60,
                                .left = 190,
                                .right = WIDTH - 50,
                                .top = 8,
                                .bottom = height + 16,
                                .x = amp_svg_axis_over("ms", false, 0, most)};
    plot.x.from = plot.left;
    plot.x.to = plot.right;
    return plot;
}

void amp_html_times(struct amp_html *html, const struct amp_bench *bench)
{
    enum { ROW = 34 };
    double most = 0;
    for (size_t i = 0; i < bench->n_sides; i++)
        most = fmax(most, 1e3 * bench->sides[i].median);
    struct amp_svg_plot plot = bar_plot((double)bench->n_sides * ROW, most);
    put_time_table(html, bench);
    amp_html_put(html, "<figure>\n");
    amp_svg_begin(html, plot.width, plot.height, "Median time of a run by dtype");
    amp_svg_put_x(html, &plot);
    for (size_t i = 0; i < bench->n_sides; i++) {
        const struct amp_bench_side *side = &bench->sides[i];
        double y = plot.top + 6 + (double)i * ROW;
        const char *name = amp_dtype_short_name(side->dtype);
        amp_html_put(html, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                     plot.left - 8, y + 15, name);
        put_bar(html, &plot, &(struct bar){y, ROW - 12, 1e3 * side->median, side->dtype, name});
    }
    amp_svg_end(html);
    amp_html_put(html, "</figure>\n");
}

/* ---- operators ------------------------------------------------------------------------------- */

/* The milliseconds of an operator in each side. */
struct op_time {
    const char *group;
    double ms[AMP_BENCH_SIDES], all, calls;
};

struct op_times {
    struct op_time *items;
    size_t count;
};

static struct op_time *time_of(struct op_times *times, const char *group)
{
    for (size_t i = 0; i < times->count; i++)
        if (strcmp(times->items[i].group, group) == 0)
            return &times->items[i];
    times->items = amp_xrealloc(times->items, times->count + 1, sizeof *times->items);
    times->items[times->count] = (struct op_time){.group = group};
    return &times->items[times->count++];
}

static int compare_times(const void *a, const void *b)
{
    const struct op_time *x = a, *y = b;
    return (x->all < y->all) - (x->all > y->all);
}

static struct op_times collect(const struct amp_bench *bench)
{
    struct op_times times = {.count = 0};
    for (size_t s = 0; s < bench->n_sides; s++) {
        struct amp_profile_lines lines =
            amp_profile_collect(&bench->sides[s], bench->n_runs, false);
        for (size_t i = 0; i < lines.count; i++) {
            struct op_time *time = time_of(&times, lines.items[i].group);
            time->ms[s] = 1e3 * lines.items[i].seconds;
            time->all += time->ms[s];
            time->calls = fmax(time->calls, lines.items[i].calls);
        }
        free(lines.items);
    }
    if (times.count > 0)
        qsort(times.items, times.count, sizeof *times.items, compare_times);
    return times;
}

static void put_operator_bars(struct amp_html *html, const struct amp_bench *bench,
                              const struct op_times *times)
{
    enum { BAR = 11, SPACE = 9 };
    size_t count = times->count < OPERATORS ? times->count : OPERATORS;
    double row = BAR * (double)bench->n_sides + SPACE, most = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < bench->n_sides; s++)
            most = fmax(most, times->items[i].ms[s]);
    struct amp_svg_plot plot = bar_plot(row * (double)count, most);
    amp_html_put(html, "<figure>\n");
    amp_svg_begin(html, plot.width, plot.height, "Time by operator and dtype");
    amp_svg_put_x(html, &plot);
    for (size_t i = 0; i < count; i++) {
        char title[128], name[AMP_HTML_SHORT];
        const struct op_time *time = &times->items[i];
        double y = plot.top + 4 + (double)i * row;
        amp_html_put(html, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                     plot.left - 8, y + row / 2, amp_html_short(time->group, 26, name));
        for (size_t s = 0; s < bench->n_sides; s++) {
            snprintf(title, sizeof title, "%.60s in %s: %.4g ms", time->group,
                     amp_dtype_short_name(bench->sides[s].dtype), time->ms[s]);
            put_bar(html, &plot,
                    &(struct bar){y + (double)s * BAR, BAR - 1, time->ms[s], bench->sides[s].dtype,
                                  title});
        }
    }
    amp_svg_end(html);
    amp_html_put(html, "</figure>\n");
}

static void put_operator_table(struct amp_html *html, const struct amp_bench *bench,
                               const struct op_times *times)
{
    char name[AMP_HTML_SHORT];
    amp_html_put(html, "<div class=\"wide\"><table>\n<caption>Milliseconds of a run by operator, "
                       "measured with the profile on.</caption>\n<thead><tr><th scope=\"col\">"
                       "operator</th><th scope=\"col\" class=\"n\">calls</th>");
    for (size_t s = 0; s < bench->n_sides; s++)
        amp_html_put(html, "<th scope=\"col\" class=\"n\">%s</th>",
                     amp_dtype_short_name(bench->sides[s].dtype));
    amp_html_put(html, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < times->count; i++) {
        amp_html_put(html, "<tr><td>%s</td><td class=\"n\">%.4g</td>",
                     amp_html_short(times->items[i].group, 60, name), times->items[i].calls);
        for (size_t s = 0; s < bench->n_sides; s++)
            put_number(html, times->items[i].ms[s]);
        amp_html_put(html, "</tr>\n");
    }
    amp_html_table_end(html);
}

void amp_html_operator_times(struct amp_html *html, const struct amp_bench *bench)
{
    struct op_times times = collect(bench);
    put_legend(html, bench);
    put_operator_bars(html, bench, &times);
    put_operator_table(html, bench, &times);
    free(times.items);
}

/* ---- roofline -------------------------------------------------------------------------------- */

/* What the axes go over, and the most bytes in a second. */
struct roofline {
    struct amp_profile_lines lines[AMP_BENCH_SIDES];
    double low[2], high[2]; /* of operations per byte, and of GFLOP/s */
    double bandwidth;       /* GB/s */
};

static double intensity(const struct amp_profile_line *line)
{
    return line->flops / line->bytes;
}

static double speed(const struct amp_profile_line *line)
{
    return 1e-9 * line->flops / line->seconds;
}

static bool is_product(const struct amp_profile_line *line)
{
    return line->flops > 0 && line->bytes > 0 && line->seconds > 0;
}

/* Adds the speeds at which nodes of a hundredth of the time or more moved bytes: what takes no time
   moves none. */
static void add_bandwidth(struct roofline *r, const struct amp_profile_lines *lines)
{
    double all = 0;
    for (size_t i = 0; i < lines->count; i++)
        all += lines->items[i].seconds;
    for (size_t i = 0; i < lines->count; i++) {
        const struct amp_profile_line *line = &lines->items[i];
        if (line->seconds > 0 && line->seconds >= 0.01 * all)
            r->bandwidth = fmax(r->bandwidth, 1e-9 * line->bytes / line->seconds);
    }
}

static struct roofline measure(const struct amp_bench *bench)
{
    struct roofline r = {.low = {INFINITY, INFINITY}};
    for (size_t s = 0; s < bench->n_sides; s++) {
        r.lines[s] = amp_profile_collect(&bench->sides[s], bench->n_runs, true);
        r.high[1] = fmax(r.high[1], amp_bench_roofline(&bench->sides[s]));
        add_bandwidth(&r, &r.lines[s]);
        for (size_t i = 0; i < r.lines[s].count; i++) {
            const struct amp_profile_line *line = &r.lines[s].items[i];
            if (!is_product(line))
                continue;
            r.low[0] = fmin(r.low[0], intensity(line));
            r.high[0] = fmax(r.high[0], intensity(line));
            r.low[1] = fmin(r.low[1], speed(line));
            r.high[1] = fmax(r.high[1], speed(line));
        }
    }
    return r;
}

static void put_dot(struct amp_html *html, const struct amp_svg_plot *plot,
                    const struct amp_profile_line *line, enum amp_dtype dtype)
{
    char name[AMP_HTML_SHORT];
    double x = amp_svg_at(&plot->x, intensity(line)), y = amp_svg_at(&plot->y, speed(line));
    if (dtype == AMP_FLOAT)
        amp_html_put(html, "<rect class=\"full\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\">",
                     x - 4, y - 4);
    else if (dtype == AMP_BFLOAT16)
        amp_html_put(html, "<circle class=\"low\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\">", x, y);
    else
        amp_html_put(html, "<path class=\"third\" d=\"M%.1f %.1fl5 9h-10z\">", x, y - 5);
    amp_html_put(html,
                 "<title>%s %s in %s: %.4g GFLOP/s, %.4g operations per byte, %.4g ms</title>",
                 line->group, amp_html_short(line->node->name, 60, name),
                 amp_dtype_short_name(dtype), speed(line), intensity(line), 1e3 * line->seconds);
    amp_html_put(html, dtype == AMP_FLOAT      ? "</rect>\n"
                       : dtype == AMP_BFLOAT16 ? "</circle>\n"
                                               : "</path>\n");
}

/* The slope along which bytes are the bound, up to where it meets the highest roof. */
static void put_slope(struct amp_html *html, const struct amp_svg_plot *plot, double bandwidth)
{
    double first = fmax(plot->x.low, plot->y.low / bandwidth);
    double last = fmin(plot->x.high, plot->y.high / bandwidth);
    if (first >= last)
        return;
    amp_html_put(html,
                 "<path class=\"lineother\" d=\"M%.1f %.1fL%.1f %.1f\"><title>%.3g GB/s"
                 "</title></path>\n",
                 amp_svg_at(&plot->x, first), amp_svg_at(&plot->y, first * bandwidth),
                 amp_svg_at(&plot->x, last), amp_svg_at(&plot->y, last * bandwidth), bandwidth);
}

/* What the machine's product reaches in the dtype of SIDE, with its name at X. */
static void put_roof(struct amp_html *html, const struct amp_svg_plot *plot,
                     const struct amp_bench_side *side, double x)
{
    double y = amp_svg_at(&plot->y, amp_bench_roofline(side));
    amp_html_put(html,
                 "<path class=\"bound\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\">product "
                 "in %s: %.0f</text>\n",
                 plot->left, y, plot->right, x, y - 4, amp_dtype_short_name(side->dtype),
                 amp_bench_roofline(side));
}

void amp_html_roofline(struct amp_html *html, const struct amp_bench *bench)
{
    struct roofline r = measure(bench);
    struct amp_svg_plot plot = {
        .width = WIDTH,
        .height = 420,
        .x = amp_svg_axis_over("operations per byte", true, r.low[0], fmax(r.high[0], 1)),
        .y = amp_svg_axis_over("GFLOP/s", true, r.low[1], r.high[1])};
    put_legend(html, bench);
    amp_html_put(html, "<figure>\n");
    amp_svg_plot_begin(html, &plot, "Roofline");
    if (r.bandwidth > 0)
        put_slope(html, &plot, r.bandwidth);
    for (size_t s = 0; s < bench->n_sides; s++) {
        const struct amp_bench_side *side = &bench->sides[s];
        if (amp_bench_roofline(side) > 0)
            put_roof(html, &plot, side, plot.left + 8 + 150 * (double)s);
        for (size_t i = 0; i < r.lines[s].count; i++)
            if (is_product(&r.lines[s].items[i]))
                put_dot(html, &plot, &r.lines[s].items[i], side->dtype);
        free(r.lines[s].items);
    }
    amp_svg_end(html);
    amp_html_put(html,
                 "<figcaption>A mark for each node with products: squares fp32, circles bf16, "
                 "triangles fp16. Dashed: what the machine's product of matrices reaches. "
                 "Sloped: the most bytes in a second that any node here moved, %.3g GB/s. "
                 "What lies far below both lines has room to be faster.</figcaption>\n"
                 "</figure>\n",
                 r.bandwidth);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void put_nodes(struct amp_html *html, const struct amp_bench_side *side, size_t n_runs)
{
    static const struct amp_html_column columns[] = {
        {"node", false}, {"operator", false}, {"ms", true},
        {"%", true},     {"GFLOP/s", true},   {"the way it ran in", false}};
    char caption[128], name[AMP_HTML_SHORT];
    double all = 0;
    struct amp_profile_lines lines = amp_profile_collect(side, n_runs, true);
    for (size_t i = 0; i < lines.count; i++)
        all += lines.items[i].seconds;
    snprintf(caption, sizeof caption, "In %s: the nodes of the most time, of %zu.",
             amp_dtype_short_name(side->dtype), lines.count);
    amp_html_table_begin(html, caption, columns, AMP_COUNT(columns));
    for (size_t i = 0; i < lines.count && i < NODES; i++) {
        const struct amp_profile_line *line = &lines.items[i];
        amp_html_put(html, "<tr><td>%s</td><td>%s</td>", amp_html_short(line->node->name, 60, name),
                     line->group);
        put_number(html, 1e3 * line->seconds);
        put_number(html, all > 0 ? 100 * line->seconds / all : 0);
        put_number(html, line->seconds > 0 ? speed(line) : 0);
        amp_html_put(html, "<td>%s</td></tr>\n", line->way);
    }
    amp_html_table_end(html);
    free(lines.items);
}

void amp_html_node_times(struct amp_html *html, const struct amp_bench *bench)
{
    for (size_t s = 0; s < bench->n_sides; s++)
        put_nodes(html, &bench->sides[s], bench->n_runs);
}

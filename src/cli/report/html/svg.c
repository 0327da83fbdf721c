/*
 * Drawings: axes, lines, boxes and marks, as inline SVG whose colours are classes of the page's
 * style. Takes values and places on the drawing; coordinates have one decimal, so that the same
 * values give the same bytes on all machines.
 */
#include "cli/report/html/svg.h"

#include <math.h>
#include <stdio.h>

enum { TICKS = 6, TICKS_MAX = 40, DECADES_MAX = 300 };

/* ---- axes ------------------------------------------------------------------------------------ */

/* The round number (1, 2 or 5 times a power of ten) that is SIZE or a little more. */
static double round_up(double size)
{
    double power = pow(10, floor(log10(size))), rest = size / power;
    return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

static double step_of(const struct amp_svg_axis *axis)
{
    double step = round_up((axis->high - axis->low) / TICKS);
    return axis->is_whole && step < 1 ? 1 : step;
}

struct amp_svg_axis amp_svg_axis_over(const char *title, bool is_log, double low, double high)
{
    struct amp_svg_axis axis = {.title = title, .is_log = is_log, .low = low, .high = high};
    if (is_log) {
        low = low > 0 ? low : high;
        int last = (int)ceil(log10(high)), first = (int)floor(log10(low));
        first = first < last - DECADES_MAX ? last - DECADES_MAX : first == last ? last - 1 : first;
        axis.low = pow(10, first);
        axis.high = pow(10, last);
        return axis;
    }
    if (!(high - low > 1e-12 * (fabs(low) + fabs(high)))) {
        axis.low = low - (low != 0 ? 0.1 * fabs(low) : 1);
        axis.high = high + (high != 0 ? 0.1 * fabs(high) : 1);
    }
    double step = step_of(&axis);
    axis.low = step * floor(axis.low / step);
    axis.high = step * ceil(axis.high / step);
    return axis;
}

double amp_svg_at(const struct amp_svg_axis *axis, double value)
{
    double share = axis->is_log ? log10(value / axis->low) / log10(axis->high / axis->low)
                                : (value - axis->low) / (axis->high - axis->low);
    share = share > 0 ? share < 1 ? share : 1 : 0;
    return axis->from + share * (axis->to - axis->from);
}

const char *amp_svg_number(double value, char text[32])
{
    double size = fabs(value);
    if (size > 0 && (size < 1e-3 || size >= 1e6))
        snprintf(text, 32, "%.3ge%d", value / pow(10, floor(log10(size))), (int)floor(log10(size)));
    else
        snprintf(text, 32, "%.6g", value);
    return text;
}

/* The tick after TICK. */
static double next_tick(const struct amp_svg_axis *axis, double tick)
{
    if (!axis->is_log)
        return tick + step_of(axis);
    double decades = ceil(log10(axis->high / axis->low) / (2 * TICKS));
    return tick * pow(10, decades);
}

/* A number next to 0 that is 0 but for rounding. */
static double tidy(const struct amp_svg_axis *axis, double tick)
{
    return !axis->is_log && fabs(tick) < 1e-6 * (axis->high - axis->low) ? 0 : tick;
}

static void put_tick(struct amp_html *html, const struct amp_svg_plot *plot, bool is_x, double tick)
{
    char text[32];
    if (is_x) {
        double x = amp_svg_at(&plot->x, tick);
        amp_html_put(html,
                     "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"soft\" x=\"%.1f\" "
                     "y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                     x, plot->top, plot->bottom, x, plot->bottom + plot->strip + 15,
                     amp_svg_number(tick, text));
        return;
    }
    double y = amp_svg_at(&plot->y, tick);
    amp_html_put(html,
                 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"soft\" x=\"%.1f\" "
                 "y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                 plot->left, y, plot->right, plot->left - 6, y + 4, amp_svg_number(tick, text));
}

static void put_ticks(struct amp_html *html, const struct amp_svg_plot *plot, bool is_x)
{
    const struct amp_svg_axis *axis = is_x ? &plot->x : &plot->y;
    double end = axis->high + 1e-6 * fabs(axis->high - axis->low);
    double tick = axis->low;
    for (int i = 0; i < TICKS_MAX && tick <= end; i++, tick = next_tick(axis, tick))
        put_tick(html, plot, is_x, tidy(axis, tick));
}

void amp_svg_put_x(struct amp_html *html, const struct amp_svg_plot *plot)
{
    put_ticks(html, plot, true);
    amp_html_put(html, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", plot->right,
                 plot->bottom + plot->strip + 32, plot->x.title);
}

/* ---- drawings -------------------------------------------------------------------------------- */

void amp_svg_begin(struct amp_html *html, double width, double height, const char *title)
{
    amp_html_put(html,
                 "<svg role=\"img\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">"
                 "<title>%s</title>\n",
                 width, height, width, height, title);
}

void amp_svg_end(struct amp_html *html)
{
    amp_html_put(html, "</svg>\n");
}

void amp_svg_plot_begin(struct amp_html *html, struct amp_svg_plot *plot, const char *title)
{
    plot->left = 62;
    plot->right = plot->width - 14;
    plot->top = 24;
    plot->bottom = plot->height - 40 - plot->strip;
    plot->x.from = plot->left;
    plot->x.to = plot->right;
    plot->y.from = plot->bottom;
    plot->y.to = plot->top;
    amp_svg_begin(html, plot->width, plot->height, title);
    put_ticks(html, plot, false);
    amp_svg_put_x(html, plot);
    amp_html_put(html, "<text x=\"4\" y=\"13\">%s</text>\n", plot->y.title);
    amp_html_put(html, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", plot->left, plot->top,
                 plot->bottom, plot->right);
}

void amp_svg_put_level(struct amp_html *html, const struct amp_svg_plot *plot, double y,
                       const char *class, const char *text)
{
    double at = amp_svg_at(&plot->y, y);
    amp_html_put(html,
                 "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\">%s"
                 "</text>\n",
                 class, plot->left, at, plot->right, plot->left + 6, at - 4, text);
}

void amp_svg_put_box(struct amp_html *html, const struct amp_svg_box *box)
{
    amp_html_put(html,
                 "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                 "<title>%s</title></rect>\n",
                 box->class, box->x, box->y, box->width, box->height, box->title);
}

void amp_svg_put_warning(struct amp_html *html, double x, double y, const char *title)
{
    amp_html_put(html,
                 "<path class=\"solidbad\" d=\"M%.1f %.1fl7 12h-14z\"><title>%s</title></path>\n",
                 x, y, title);
}

/*
 * The report of training in HTML: the numbers that the steps gave out, as curves. Takes what the
 * command gathered, gives one file.
 */
#include "cli/report/html/train_page.h"

#include "cli/report/html/svg.h"
#include "cli/report/html/verdict.h"
#include "core/array.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1120, HEIGHT = 320, POINTS = 500, CURVES_MAX = 8 };

static void write_verdict(struct amp_html *html, const void *data)
{
    const struct amp_train_page *page = data;
    const struct amp_train_history *history = &page->result->history;
    bool has_loss = history->n_steps > 0 && history->n_series > 0;
    double last = has_loss ? amp_train_history_last(history, 0) : 0;
    char memory[32];
    amp_html_put(html, "<p class=\"verdict %s\"><strong>%zu step%s</strong><br/>%zu initializers.",
                 isfinite(last) ? "plain" : "bad", history->n_steps,
                 history->n_steps == 1 ? "" : "s", page->result->n_variables);
    if (has_loss)
        amp_html_put(html, " %s %.6g at first, %.6g at last.", history->series[0].name,
                     history->series[0].values[0], last);
    if (history->n_steps > 0)
        amp_html_put(html, " %.3g ms a step, %s at most.",
                     1e3 * history->seconds / (double)history->n_steps,
                     amp_memory_text(history->peak_bytes, memory));
    amp_html_put(html, "</p>\n");
}

static void write_settings(struct amp_html *html, const void *data)
{
    const struct amp_train_page *page = data;
    amp_html_settings_begin(html, page->inputs);
    amp_html_settings_end(html);
}

static void write_model(struct amp_html *html, const void *data)
{
    const struct amp_train_page *page = data;
    amp_html_models(html, &page->model, 1);
    amp_html_operators(html, page->model.model);
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* The least and the greatest finite value of the COUNT at VALUES; false: none is. */
static bool find_span(const double *values, size_t count, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            *low = fmin(*low, values[i]);
            *high = fmax(*high, values[i]);
        }
    return *low <= *high;
}

/* A line through the values; of more than can be told apart, through the least and the greatest of
   neighbours. Where none is finite it has a gap. */
static void put_line(struct amp_html *html, const struct amp_svg_plot *plot, const double *values,
                     size_t count)
{
    size_t width = (count + POINTS - 1) / POINTS;
    bool is_open = false;
    amp_html_put(html, "<path class=\"linelow\" d=\"M0 0");
    for (size_t first = 0; first < count; first += width) {
        size_t n = count - first < width ? count - first : width;
        double low, high, x = amp_svg_at(&plot->x, (double)(first + 1));
        bool is_there = find_span(&values[first], n, &low, &high);
        if (is_there)
            amp_html_put(html, "%s%.1f %.1f", is_open ? "L" : "M", x, amp_svg_at(&plot->y, low));
        if (is_there && n > 1)
            amp_html_put(html, "L%.1f %.1f", x, amp_svg_at(&plot->y, high));
        is_open = is_there;
    }
    amp_html_put(html, "\"/>\n");
}

static void put_curve(struct amp_html *html, const struct amp_train_series *series, size_t count)
{
    double low, high;
    char name[AMP_HTML_SHORT];
    amp_html_short(series->name, 60, name);
    if (!find_span(series->values, count, &low, &high)) {
        amp_html_put(html, "<p><code>%s</code> is no number at any step.</p>\n", name);
        return;
    }
    struct amp_svg_plot plot = {
        .width = WIDTH,
        .height = HEIGHT,
        .x = {.title = "step", .is_whole = true, .low = 1, .high = count > 1 ? (double)count : 2},
        .y = amp_svg_axis_over(name, low > 0 && high > 100 * low, low, high)};
    amp_html_put(html, "<figure>\n");
    amp_svg_plot_begin(html, &plot, name);
    put_line(html, &plot, series->values, count);
    amp_svg_end(html);
    amp_html_put(html,
                 "<figcaption><code>%s</code> by step: %.6g at first, %.6g at "
                 "last.</figcaption>\n</figure>\n",
                 name, series->values[0], series->values[count - 1]);
}

static bool has_curves(const void *data)
{
    const struct amp_train_page *page = data;
    return page->result->history.n_steps > 0 && page->result->history.n_series > 0;
}

static void write_curves(struct amp_html *html, const void *data)
{
    const struct amp_train_page *page = data;
    const struct amp_train_history *history = &page->result->history;
    for (size_t i = 0; i < history->n_series && i < CURVES_MAX; i++)
        put_curve(html, &history->series[i], history->n_steps);
}

static const struct amp_html_section sections[] = {
    {"Training", NULL, write_verdict},
    {"Settings", NULL, write_settings},
    {"A step", NULL, write_model},
    {"Curves", has_curves, write_curves},
};

enum amp_status amp_html_train_page(const struct amp_train_page *page, const char *path,
                                    struct amp_error *err)
{
    char title[AMP_HTML_SHORT + 32], short_text[AMP_HTML_SHORT];
    snprintf(title, sizeof title, "Training of %s",
             amp_html_short(amp_html_base(page->result->model_path), 90, short_text));
    struct amp_html *html = amp_html_create(title);
    amp_html_sections(html, sections, AMP_COUNT(sections), page);
    enum amp_status status = amp_html_write(html, path, err);
    amp_html_destroy(html);
    return status;
}

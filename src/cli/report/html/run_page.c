/*
 * The report of a run in HTML: what the outputs are like, and how far they are from what was
 * expected. Takes what the command gathered, gives one file.
 */
#include "cli/report/html/run_page.h"

#include "cli/report/html/graph_drawing.h"
#include "cli/report/html/outputs.h"
#include "cli/report/html/verdict.h"
#include "core/array.h"

#include <stdio.h>

static void write_verdict(struct amp_html *html, const void *data)
{
    const struct amp_run_page *page = data;
    const struct amp_run_result *result = page->result;
    bool is_compared = result->compared > 0, is_within = result->mismatch[0] == '\0';
    amp_html_put(html,
                 "<p class=\"verdict %s\"><strong>%s</strong><br/>%zu sample%s, %zu expected "
                 "output%s. %s</p>\n",
                 !is_compared ? "plain"
                 : is_within  ? "good"
                              : "bad",
                 !is_compared ? "It ran; nothing was expected"
                 : is_within  ? "\xe2\x9c\x93 As expected"
                              : "\xe2\x9c\x97 Not as expected",
                 result->samples, result->samples == 1 ? "" : "s", result->compared,
                 result->compared == 1 ? "" : "s", result->mismatch);
    amp_html_tasks(html, result->tasks, result->n_tasks, false);
    if (result->widened > 0)
        amp_html_put(html,
                     "<p>%zu nodes were computed in float32 and rounded: this machine has no "
                     "kernel for their dtype.</p>\n",
                     result->widened);
}

static void write_settings(struct amp_html *html, const void *data)
{
    const struct amp_run_page *page = data;
    amp_html_settings_begin(html, page->inputs);
    amp_html_settings_end(html);
}

static void write_model(struct amp_html *html, const void *data)
{
    const struct amp_run_page *page = data;
    amp_html_models(html, &page->model, 1);
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void put_summary(struct amp_html *html, const struct amp_run_output *output)
{
    char name[AMP_HTML_SHORT], shape[256];
    const struct amp_summary *summary = &output->summary;
    amp_html_put(html, "<tr><td><code>%s</code></td><td>%s %s</td><td class=\"n\">%llu</td>",
                 amp_html_short(output->name, 60, name), amp_dtype_name(output->dtype),
                 amp_shape_text(&output->shape, shape, sizeof shape),
                 (unsigned long long)summary->count);
    if (summary->finite > 0) {
        amp_html_number_cell(html, summary->minimum);
        amp_html_number_cell(html, summary->maximum);
        amp_html_number_cell(html, summary->sum / (double)summary->finite);
    } else {
        amp_html_put(html, "<td></td><td></td><td></td>");
    }
    amp_html_put(html, "<td class=\"n\">%llu</td><td class=\"n\">%llu</td></tr>\n",
                 (unsigned long long)summary->nan, (unsigned long long)summary->infinite);
}

static void put_metrics(struct amp_html *html, const struct amp_run_result *result)
{
    char name[AMP_HTML_SHORT];
    uint32_t shown = 0;
    for (size_t i = 0; i < result->n_outputs; i++)
        shown |= amp_html_metrics_defined(&result->outputs[i].metrics);
    amp_html_metrics_head(html,
                          "The outputs against the expected ones. NaN and infinite: elements "
                          "that were expected, then those that there are.",
                          false, shown);
    for (size_t i = 0; i < result->n_outputs; i++) {
        const struct amp_run_output *output = &result->outputs[i];
        if (output->compared == 0)
            continue;
        amp_html_put(html, "<tr><td><code>%s</code></td><td>%s</td>",
                     amp_html_short(output->name, 60, name), amp_dtype_name(output->dtype));
        amp_html_metrics_cells(html, &output->metrics, shown);
        amp_html_put(html, "</tr>\n");
    }
    amp_html_table_end(html);
}

static void write_outputs(struct amp_html *html, const void *data)
{
    static const struct amp_html_column columns[] = {
        {"output", false},  {"type", false}, {"elements", true}, {"least", true},
        {"greatest", true}, {"mean", true},  {"NaN", true},      {"infinite", true}};
    enum { PICTURES_MAX = 6 };
    const struct amp_run_page *page = data;
    const struct amp_run_result *result = page->result;
    size_t pictures = 0;
    amp_html_table_begin(html, "The outputs over all samples.", columns, AMP_COUNT(columns));
    for (size_t i = 0; i < result->n_outputs; i++)
        put_summary(html, &result->outputs[i]);
    amp_html_table_end(html);
    if (result->compared > 0)
        put_metrics(html, result);
    for (size_t i = 0; i < result->n_outputs && pictures < PICTURES_MAX; i++) {
        const struct amp_run_output *output = &result->outputs[i];
        if (output->deviations == NULL || output->deviations->seen == 0)
            continue;
        amp_html_deviations(html, output->name, output->deviations);
        pictures++;
    }
}

static void write_operators(struct amp_html *html, const void *data)
{
    const struct amp_run_page *page = data;
    amp_html_operators(html, page->model.model);
}

static void write_graph(struct amp_html *html, const void *data)
{
    const struct amp_run_page *page = data;
    amp_html_graph(html, page->model.model, NULL);
}

static const struct amp_html_section sections[] = {
    {"Verdict", NULL, write_verdict},     {"Settings", NULL, write_settings},
    {"Model", NULL, write_model},         {"Outputs", NULL, write_outputs},
    {"Operators", NULL, write_operators}, {"Graph", NULL, write_graph},
};

enum amp_status amp_html_run_page(const struct amp_run_page *page, const char *path,
                                  struct amp_error *err)
{
    char title[AMP_HTML_SHORT + 32], short_text[AMP_HTML_SHORT];
    snprintf(title, sizeof title, "Run of %s",
             amp_html_short(amp_html_base(page->result->model_path), 90, short_text));
    struct amp_html *html = amp_html_create(title);
    amp_html_sections(html, sections, AMP_COUNT(sections), page);
    enum amp_status status = amp_html_write(html, path, err);
    amp_html_destroy(html);
    return status;
}

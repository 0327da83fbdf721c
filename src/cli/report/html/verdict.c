/*
 * The head of a report: the verdict of a validation with its outputs and bounds, and the settings.
 * Takes what check/validate.c gives; times are left out, so that the same runs give the same page.
 */
#include "cli/report/html/verdict.h"

#include "check/validate.h"
#include "cli/report/inputs.h"
#include "core/cpu.h"
#include "run/exec/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS_MAX = 40 };

/* ---- settings -------------------------------------------------------------------------------- */

void amp_html_setting(struct amp_html *html, const char *name, const char *value)
{
    amp_html_put(html, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", name, value);
}

static void put_inputs(struct amp_html *html, const struct amp_input_notes *inputs)
{
    char short_text[AMP_HTML_SHORT];
    size_t count = inputs->model == NULL ? 0 : inputs->model->graphs[0].inputs.count, shown = 0;
    for (size_t i = 0; i < count && shown < INPUTS_MAX; i++) {
        if (inputs->items[i] == NULL)
            continue;
        amp_html_setting(html, "input", amp_html_short(inputs->items[i], 120, short_text));
        shown++;
    }
    if (inputs->model != NULL && inputs->are_random)
        amp_html_setting(html, "note",
                         "All inputs are random: errors on real data can be quite different.");
}

void amp_html_settings_begin(struct amp_html *html, const struct amp_input_notes *inputs)
{
    char text[64], library[96];
    int n_threads = amp_session_threads();
    amp_html_put(html,
                 "<div class=\"wide\"><table>\n<caption>How it was made.</caption>\n<tbody>\n");
    amp_html_setting(html, "ampconv", AMP_VERSION);
    snprintf(library, sizeof library, "oneDNN %s on %s, %d thread%s",
             amp_session_library(text, sizeof text), amp_cpu_isa(), n_threads,
             n_threads == 1 ? "" : "s");
    amp_html_setting(html, "computed by", library);
    if (inputs != NULL)
        put_inputs(html, inputs);
}

void amp_html_settings_end(struct amp_html *html)
{
    amp_html_table_end(html);
}

/* ---- metrics --------------------------------------------------------------------------------- */

uint32_t amp_html_metrics_defined(const struct amp_metrics *metrics)
{
    uint32_t defined = 0;
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++) {
        double unused;
        if (amp_metric_value(metric, metrics, &unused))
            defined |= UINT32_C(1) << i;
    }
    return defined;
}

void amp_html_metrics_head(struct amp_html *html, const char *caption, bool has_verdict,
                           uint32_t shown)
{
    const struct amp_metric *metric;
    amp_html_put(html,
                 "<div class=\"wide\"><table>\n<caption>%s</caption>\n<thead><tr>"
                 "<th scope=\"col\">output</th>",
                 caption);
    if (has_verdict)
        amp_html_put(html, "<th scope=\"col\">verdict</th>");
    amp_html_put(html, "<th scope=\"col\">type</th>");
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++)
        if ((shown >> i & 1) != 0)
            amp_html_put(html, "<th scope=\"col\" class=\"n\">%s</th>", metric->text.label);
    amp_html_put(html, "<th scope=\"col\" class=\"n\">NaN</th><th scope=\"col\" class=\"n\">"
                       "infinite</th></tr></thead>\n<tbody>\n");
}

void amp_html_metrics_cells(struct amp_html *html, const struct amp_metrics *metrics,
                            uint32_t shown)
{
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++) {
        double value;
        if ((shown >> i & 1) == 0)
            continue;
        if (!amp_metric_value(metric, metrics, &value))
            amp_html_put(html, "<td class=\"n\">\xe2\x80\x93</td>");
        else if (isfinite(value))
            amp_html_put(html, "<td class=\"n\">%.*g%s</td>", metric->text.digits,
                         metric->text.is_percent ? 100 * value : value,
                         metric->text.is_percent ? " %" : metric->unit);
        else
            amp_html_number_cell(html, value);
    }
    amp_html_put(html,
                 "<td class=\"n\">%llu \xe2\x86\x92 %llu</td><td class=\"n\">%llu "
                 "\xe2\x86\x92 %llu</td>",
                 (unsigned long long)metrics->nan[0], (unsigned long long)metrics->nan[1],
                 (unsigned long long)metrics->inf[0], (unsigned long long)metrics->inf[1]);
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void put_output(struct amp_html *html, const struct amp_output_check *check, uint32_t shown)
{
    char short_text[AMP_HTML_SHORT], shape[256];
    amp_html_put(html,
                 "<tr class=\"%s\"><td><code>%s</code></td><td class=\"w\">%s</td>"
                 "<td class=\"w\">%s %s</td>",
                 check->is_outside ? "bad" : "good", amp_html_short(check->name, 48, short_text),
                 check->is_outside ? check->reason
                 : check->is_given ? "within tolerance, on the reference's selection"
                                   : "within tolerance",
                 amp_dtype_name(check->dtype[1]),
                 amp_shape_text(&check->shape, shape, sizeof shape));
    amp_html_metrics_cells(html, &check->metrics, shown);
    amp_html_put(html, "</tr>\n");
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void put_task_value(struct amp_html *html, const struct amp_task_metric *metric,
                           const struct amp_task_score *score)
{
    double value;
    if (!amp_task_metric_value(metric, score, &value)) {
        amp_html_put(html, "<td class=\"n\">\xe2\x80\x93</td>");
    } else if (metric->part != NULL) {
        struct amp_task_part part = metric->part(score);
        amp_html_put(html, "<td class=\"n\">%.2f %% (%llu of %llu)</td>", 100 * value,
                     (unsigned long long)part.part, (unsigned long long)part.whole);
    } else {
        amp_html_put(html, "<td class=\"n\">%.6g</td>", value);
    }
}

static void put_task(struct amp_html *html, const struct amp_task *task, bool is_pair)
{
    char name[AMP_HTML_SHORT];
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        if (!metric->is_defined(&task->scores[0]))
            continue;
        amp_html_put(html, "<tr class=\"%s\"><td>%s</td><td><code>%s</code></td>",
                     task->is_outside ? "bad" : "good", metric->label,
                     amp_html_short(task->name, 48, name));
        for (int side = 0; side < 1 + is_pair; side++)
            put_task_value(html, metric, &task->scores[side]);
        amp_html_put(html, "<td>%s</td></tr>\n", task->reason);
    }
}

void amp_html_tasks(struct amp_html *html, const struct amp_task *tasks, size_t count, bool is_pair)
{
    if (count == 0)
        return;
    amp_html_put(html,
                 "<div class=\"wide\"><table>\n<caption>Against the labels.</caption>\n<thead><tr>"
                 "<th scope=\"col\">metric</th><th scope=\"col\">output</th>"
                 "<th scope=\"col\" class=\"n\">%s</th>",
                 is_pair ? "reference" : "model");
    if (is_pair)
        amp_html_put(html, "<th scope=\"col\" class=\"n\">converted</th>");
    amp_html_put(html, "<th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < count; i++)
        put_task(html, &tasks[i], is_pair);
    amp_html_table_end(html);
}

/* What the user's command said of both models; seconds are left out. */
static void put_eval(struct amp_html *html, const struct amp_eval_check *check)
{
    static const char *const sides[] = {"reference", "converted"};
    char command[AMP_HTML_SHORT];
    amp_html_put(html, "<p>The command <code>%s</code> says:",
                 amp_html_short(check->eval.command, 120, command));
    for (int side = 0; side < 2; side++) {
        const struct amp_eval_outcome *outcome = &check->outcomes[side];
        amp_html_put(html, "%s %s <strong>", side > 0 ? ";" : "", sides[side]);
        if (outcome->verdict == AMP_EVAL_SCORED)
            amp_html_put(html, "%.6g</strong>", outcome->score);
        else
            amp_html_put(html, "%s</strong>", amp_eval_verdict_name(outcome->verdict));
    }
    amp_html_put(html, ". %s</p>\n", check->reason);
}

static const char *put_task_bounds(struct amp_html *html, const struct amp_task_bounds *bounds,
                                   const char *mark)
{
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        char text[32];
        if (!bounds->items[i].is_set)
            continue;
        amp_html_put(html, "%s%s at most %s", mark, metric->bound,
                     amp_task_bound_text(metric, bounds->items[i], text, sizeof text));
        mark = "; ";
    }
    return mark;
}

/* ---- verdict --------------------------------------------------------------------------------- */

static void put_bounds(struct amp_html *html, const struct amp_validation *validation)
{
    const struct amp_metric *metric;
    const char *mark = "Tolerance: ";
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++) {
        double bound = amp_metric_bounds_get(&validation->bounds, metric);
        if (isnan(bound))
            continue;
        amp_html_put(html, "%s%s %s %.5g%s", mark, metric->name,
                     metric->is_minimum ? "at least" : "at most", bound, metric->unit);
        mark = "; ";
    }
    mark = put_task_bounds(html, &validation->task_bounds, mark);
    if (validation->eval != NULL)
        mark = put_task_bounds(html, &validation->eval->bounds, mark);
    if (mark[0] == ';')
        amp_html_put(html, ", where they are defined.");
}

static size_t count_outside(const struct amp_validation *validation)
{
    size_t count = 0;
    for (size_t i = 0; i < validation->n_outputs; i++)
        count += validation->outputs[i].is_outside;
    return count;
}

/* What is measured of the outputs, of models that were run. */
static void put_outputs(struct amp_html *html, const struct amp_validation *validation)
{
    char short_text[AMP_HTML_SHORT];
    uint32_t shown = 0;
    for (size_t i = 0; i < validation->n_outputs; i++)
        shown |= amp_html_metrics_defined(&validation->outputs[i].metrics);
    if (count_outside(validation) > 0) {
        const struct amp_output_check *worst = amp_validation_worst(validation);
        amp_html_put(html, "<p>The worst output is <code>%s</code>: %s.</p>\n",
                     amp_html_short(worst->name, 60, short_text), worst->reason);
    }
    amp_html_metrics_head(html,
                          "The outputs of the converted model against the reference's, over "
                          "all samples. NaN and infinite: elements of the reference, then "
                          "of the converted model.",
                          true, shown);
    for (size_t i = 0; i < validation->n_outputs; i++)
        put_output(html, &validation->outputs[i], shown);
    amp_html_table_end(html);
}

/* What nodes of both models selected. */
static void put_selections(struct amp_html *html, const struct amp_selections *selections)
{
    char text[256], short_text[AMP_HTML_SHORT];
    if (selections->count == 0)
        return;
    amp_html_put(html,
                 "<div class=\"wide\"><table>\n<caption>What nodes selected by comparing "
                 "values. Where elements of an output behind them cannot be compared, it is "
                 "judged by what is selected otherwise, and by what the converted model "
                 "makes of the reference's selection.</caption>\n<thead><tr>"
                 "<th scope=\"col\">selection</th><th scope=\"col\" class=\"n\">reference</th>"
                 "<th scope=\"col\" class=\"n\">converted</th>"
                 "<th scope=\"col\" class=\"n\">otherwise</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < selections->count; i++) {
        const struct amp_selection *at = &selections->items[i];
        amp_selection_node_text(selections, at, text, sizeof text);
        amp_html_put(
            html,
            "<tr><td><code>%s</code></td><td class=\"n\">%llu</td><td class=\"n\">%llu</td>"
            "<td class=\"n\">%llu of %llu</td></tr>\n",
            amp_html_short(text, 60, short_text), (unsigned long long)at->items[0],
            (unsigned long long)at->items[1], (unsigned long long)at->otherwise,
            (unsigned long long)at->larger);
    }
    amp_html_table_end(html);
}

void amp_html_verdict(struct amp_html *html, const struct amp_validation *validation,
                      const char *note)
{
    size_t outside = count_outside(validation), count = validation->n_outputs;
    amp_html_put(html, "<p class=\"verdict %s\"><strong>%s</strong><br/>",
                 validation->is_within ? "good" : "bad",
                 validation->is_within ? "\xe2\x9c\x93 Within tolerance"
                                       : "\xe2\x9c\x97 Outside tolerance");
    if (count > 0)
        amp_html_put(html, "%zu of %zu output%s %s tolerance; %zu sample%s. ",
                     outside == 0 ? count : outside, count, count == 1 ? "" : "s",
                     outside == 0 ? "within" : "outside", validation->samples,
                     validation->samples == 1 ? "" : "s");
    amp_html_put(html, "%s</p>\n<p class=\"dim\">", note);
    put_bounds(html, validation);
    amp_html_put(html, "</p>\n");
    amp_html_tasks(html, validation->tasks, validation->n_tasks, true);
    if (validation->eval != NULL)
        put_eval(html, validation->eval);
    if (count > 0)
        put_outputs(html, validation);
    put_selections(html, &validation->selections);
    if (validation->widened[1] > 0)
        amp_html_put(html,
                     "<p>%zu nodes were computed in float32 and rounded: this machine has no "
                     "kernel for the lower dtype.</p>\n",
                     validation->widened[1]);
}

/* The metric whose unit is that of a signal to noise. */
double amp_html_snr_bound(const struct amp_validation *validation)
{
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_at(i)) != NULL; i++)
        if (strcmp(metric->unit, " dB") == 0)
            return amp_metric_bounds_get(&validation->bounds, metric);
    return NAN;
}

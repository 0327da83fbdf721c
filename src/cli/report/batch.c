/*
 * The report of several models: takes the reports of each, in JSON, and gives a line and a row of a
 * table for each, and all of them as one.
 */
#include "cli/report/batch.h"

#include "cli/report/head.h"
#include "cli/report/html/document.h"
#include "cli/report/json.h"
#include "core/array.h"
#include "core/print.h"

#include <math.h>
#include <string.h>

/* A model's report, taken apart. */
struct view {
    const char *model, *output;
    const char *message; /* why it failed or what it is outside of; NULL: neither */
    const char *dtype;
    int exit_code;
    bool is_written;
    long long n_lower, n_wide;
    double error;         /* signal to noise, dB; NaN: not measured */
    double before, after; /* bytes */
};

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static double number_at(const json_t *object, const char *key)
{
    return amp_json_number_of(json_object_get(object, key));
}

static struct view view_of(const struct amp_batch_report *report, size_t i)
{
    const json_t *root = json_array_get(report->models, i);
    const json_t *error = json_object_get(root, "error");
    const json_t *nodes = json_object_get(root, "nodes"), *bytes = json_object_get(root, "bytes");
    const json_t *validation = json_object_get(root, "validation");
    struct view view = {.model = text_at(root, "model"),
                        .output = text_at(root, "output"),
                        .message = text_at(error != NULL ? error : validation,
                                           error != NULL ? "message" : "reason"),
                        .dtype = text_at(root, "dtype"),
                        .exit_code = (int)json_integer_value(json_object_get(root, "exit_code")),
                        .is_written = json_is_true(json_object_get(root, "written")),
                        .error = -10 * log10(number_at(validation, "error_power")),
                        .before = number_at(bytes, "before"),
                        .after = number_at(bytes, "after")};
    if (view.model == NULL)
        view.model = json_string_value(json_array_get(json_object_get(root, "operands"), 0));
    view.n_lower = view.dtype != NULL ? json_integer_value(json_object_get(nodes, view.dtype)) : 0;
    view.n_wide = json_integer_value(json_object_get(nodes, "float32"));
    return view;
}

static bool is_outside(const struct view *view)
{
    return view->exit_code == amp_status_exit_code(AMP_MISMATCH);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* One line of a model that failed; messages about the model begin with its path, others do not. */
static void put_failure(FILE *file, const struct view *view)
{
    size_t length = strlen(view->model);
    bool is_named =
        strncmp(view->message, view->model, length) == 0 && view->message[length] == ':';
    amp_print(file, "%s%s%s; exit code %d\n", is_named ? "" : view->model, is_named ? "" : ": ",
              view->message, view->exit_code);
}

void amp_report_batch_line(FILE *file, const struct amp_batch_report *report, size_t i,
                           bool failures_only)
{
    struct view view = view_of(report, i);
    if (view.exit_code == 0 && failures_only)
        return;
    if (is_outside(&view))
        amp_print(file, "%s: outside tolerance: %s%s\n", view.model, view.message,
                  view.is_written ? "" : "; not written");
    else if (view.exit_code != 0)
        put_failure(file, &view);
    else {
        amp_print(file, "%s -> %s: %lld nodes %s, %lld float32", view.model, view.output,
                  view.n_lower, view.dtype, view.n_wide);
        if (isfinite(view.error))
            amp_print(file, "; snr %.1f dB", view.error);
        fputc('\n', file);
    }
}

enum amp_status amp_batch_report_end(struct amp_batch_report *report)
{
    /* By their exit codes. */
    static const enum amp_status statuses[] = {AMP_OK, AMP_MISMATCH, AMP_IO, AMP_MODEL,
                                               AMP_UNSUPPORTED};
    int worst = 0;
    size_t n = json_array_size(report->models);
    for (size_t i = 0; i < n; i++) {
        struct view view = view_of(report, i);
        report->n_converted += view.exit_code == 0;
        report->n_outside += is_outside(&view);
        worst = view.exit_code > worst ? view.exit_code : worst;
    }
    report->n_failed = n - report->n_converted - report->n_outside;
    snprintf(report->summary, sizeof report->summary,
             "%zu model%s: %zu converted, %zu outside tolerance, %zu failed", n, n == 1 ? "" : "s",
             report->n_converted, report->n_outside, report->n_failed);
    return statuses[worst];
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *amp_json_batch(const struct amp_batch_report *report)
{
    json_t *root = amp_report_begin("batch"), *summary = json_object();
    amp_json_set(summary, "models", amp_json_count(json_array_size(report->models)));
    amp_json_set(summary, "converted", amp_json_count(report->n_converted));
    amp_json_set(summary, "outside", amp_json_count(report->n_outside));
    amp_json_set(summary, "failed", amp_json_count(report->n_failed));
    amp_json_set(root, "summary", summary);
    json_object_set(root, "models", report->models);
    return root;
}

/* ---- HTML ------------------------------------------------------------------------------------ */

static void put_row(struct amp_html *html, const struct view *view)
{
    const char *verdict = view->exit_code == 0 ? "converted"
                          : is_outside(view)   ? "outside tolerance"
                                               : "failed";
    amp_html_put(html, "<tr><td>%s</td><td>%s</td>", view->model, verdict);
    if (view->output != NULL) {
        amp_html_put(html, "<td class=\"n\">%lld</td><td class=\"n\">%lld</td>", view->n_lower,
                     view->n_wide);
        if (isnan(view->error))
            amp_html_put(html, "<td></td>");
        else
            amp_html_number_cell(html, view->error);
        amp_html_number_cell(html, view->after / view->before);
    } else {
        amp_html_put(html, "<td></td><td></td><td></td><td></td>");
    }
    amp_html_put(html, "<td>%s</td></tr>\n", view->message != NULL ? view->message : view->output);
}

enum amp_status amp_html_batch_page(const struct amp_batch_report *report, const char *path,
                                    struct amp_error *err)
{
    static const struct amp_html_column columns[] = {
        {"model", false},  {"verdict", false}, {"low nodes", true},        {"float32 nodes", true},
        {"snr, dB", true}, {"size", true},     {"file, or why not", false}};
    struct amp_html *html = amp_html_create("Conversions of models");
    amp_html_table_begin(html, report->summary, columns, AMP_COUNT(columns));
    for (size_t i = 0; i < json_array_size(report->models); i++) {
        struct view view = view_of(report, i);
        put_row(html, &view);
    }
    amp_html_table_end(html);
    enum amp_status status = amp_html_write(html, path, err);
    amp_html_destroy(html);
    return status;
}

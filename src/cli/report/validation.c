/*
 * The report of a validation, as text and as JSON: takes the result of check/validate.c, gives what
 * the outputs of the converted model are like beside the reference's, and the verdict with its
 * bounds.
 */
#include "cli/report/validation.h"

#include "cli/report/json.h"
#include "cli/report/metrics.h"
#include "cli/report/task.h"
#include "cli/report/text.h"
#include "core/print.h"

#include <math.h>

/* ---- text ------------------------------------------------------------------------------------ */

static void print_output(FILE *file, const struct amp_output_check *check, const char *note,
                         bool is_brief)
{
    char text[256];
    amp_print(file, AMP_REPORT_LABEL "'%s' %s %s%s: ", "output", check->name,
              amp_dtype_name(check->dtype[1]), amp_shape_text(&check->shape, text, sizeof text),
              note);
    if (check->is_given)
        amp_print(file, "on the reference's selection, ");
    if (check->metrics.count == 0)
        amp_print(file, "%s", check->is_outside ? check->reason : "empty");
    else
        amp_report_metrics(file, &check->metrics, is_brief);
    fputc('\n', file);
}

static void print_outputs(FILE *file, const struct amp_validation *validation, int verbosity)
{
    char note[64] = "";
    for (size_t i = 0; verbosity > 0 && i < validation->n_outputs; i++)
        print_output(file, &validation->outputs[i], "", false);
    if (verbosity > 0 || validation->n_outputs == 0)
        return;
    if (validation->n_outputs > 1)
        snprintf(note, sizeof note, ", the worst of %zu", validation->n_outputs);
    print_output(file, amp_validation_worst(validation), note, true);
}

static void print_selection(FILE *file, const struct amp_selections *selections,
                            const struct amp_selection *selection, const char *note)
{
    char text[256];
    amp_print(file, AMP_REPORT_LABEL "%s%s: %llu in fp32, %llu converted, %llu of %llu otherwise\n",
              "selection", amp_selection_node_text(selections, selection, text, sizeof text), note,
              (unsigned long long)selection->items[0], (unsigned long long)selection->items[1],
              (unsigned long long)selection->otherwise, (unsigned long long)selection->larger);
}

/* The selections, with few words the one that differs most, if one does. */
static void print_selections(FILE *file, const struct amp_selections *selections, int verbosity)
{
    char note[64] = "";
    const struct amp_selection *worst = NULL;
    for (size_t i = 0; i < selections->count; i++) {
        const struct amp_selection *at = &selections->items[i];
        if (verbosity > 0)
            print_selection(file, selections, at, "");
        if (at->otherwise > 0 &&
            (worst == NULL || amp_selection_differ(at) > amp_selection_differ(worst)))
            worst = at;
    }
    if (verbosity > 0 || worst == NULL)
        return;
    if (selections->count > 1)
        snprintf(note, sizeof note, ", the worst of %zu", selections->count);
    print_selection(file, selections, worst, note);
}

/* Whether a bound on METRIC decided anything. */
static bool is_used(const struct amp_validation *validation, const struct amp_metric *metric)
{
    double value;
    if (isnan(amp_metric_bounds_get(&validation->bounds, metric)))
        return false;
    for (size_t i = 0; i < validation->n_outputs; i++)
        if (amp_metric_value(metric, &validation->outputs[i].metrics, &value))
            return true;
    return false;
}

/* " (snr >= 20 dB, cosine >= 0.99)" */
static void print_bounds(FILE *file, const struct amp_validation *validation)
{
    const char *mark = " (";
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++) {
        if (!is_used(validation, metric))
            continue;
        amp_print(file, "%s%s %s %.5g%s", mark, metric->name, metric->is_minimum ? ">=" : "<=",
                  amp_metric_bounds_get(&validation->bounds, metric), metric->unit);
        mark = ", ";
    }
    mark = amp_report_task_bounds(file, &validation->task_bounds, mark);
    if (validation->eval != NULL)
        mark = amp_report_task_bounds(file, &validation->eval->bounds, mark);
    fputs(mark[0] == ',' ? ")" : "", file);
}

void amp_report_validation(FILE *file, const struct amp_validation *validation, int verbosity)
{
    print_outputs(file, validation, verbosity);
    print_selections(file, &validation->selections, verbosity);
    for (size_t i = 0; i < validation->n_tasks; i++)
        amp_report_task(file, &validation->tasks[i], validation->n_outputs > 1, true);
    if (validation->eval != NULL)
        amp_report_eval(file, validation->eval);
    amp_report_widened(file, validation->widened[1]);
    amp_report_squeezed(file, validation->squeezed);
    amp_print(file, AMP_REPORT_LABEL "%s tolerance", "verdict",
              validation->is_within ? "within" : "outside");
    print_bounds(file, validation);
    if (validation->samples > 0)
        amp_print(file, "; %zu sample%s", validation->samples, validation->samples == 1 ? "" : "s");
    if (validation->samples > 0 && verbosity > 0)
        amp_print(file, ", %.3g s in fp32, %.3g s converted, set-up included",
                  validation->seconds[0], validation->seconds[1]);
    fputc('\n', file);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_bounds(const struct amp_validation *validation)
{
    const struct amp_metric_bounds *bounds = &validation->bounds;
    json_t *object = json_object();
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_at(i)) != NULL; i++)
        if (!isnan(amp_metric_bounds_get(bounds, metric)))
            amp_json_set(object, metric->name,
                         amp_json_number(amp_metric_bounds_get(bounds, metric)));
    amp_json_task_bounds(object, &validation->task_bounds);
    if (validation->eval != NULL)
        amp_json_task_bounds(object, &validation->eval->bounds);
    return object;
}

static json_t *json_both(uint64_t reference, uint64_t converted)
{
    return amp_json_pair("reference", reference, "converted", converted);
}

static json_t *json_selections(const struct amp_selections *selections)
{
    char text[256];
    json_t *array = json_array();
    for (size_t i = 0; i < selections->count; i++) {
        const struct amp_selection *at = &selections->items[i];
        json_t *object = json_object();
        amp_json_set(object, "node",
                     amp_json_text(amp_selection_node_text(selections, at, text, sizeof text)));
        amp_json_set(object, "items", json_both(at->items[0], at->items[1]));
        amp_json_set(object, "larger", amp_json_count(at->larger));
        amp_json_set(object, "otherwise", amp_json_count(at->otherwise));
        json_array_append_new(array, object);
    }
    return array;
}

/* Adds to OBJECT what the output in place I is behind. */
static void set_selection(json_t *object, const struct amp_validation *validation, size_t i)
{
    char text[256];
    const struct amp_selections *selections = &validation->selections;
    const struct amp_output_check *check = &validation->outputs[i];
    if (!check->is_selected)
        return;
    const struct amp_selection *worst = amp_selection_worst(selections, i);
    amp_json_set(object, "selection",
                 amp_json_text(amp_selection_node_text(selections, worst, text, sizeof text)));
    amp_json_set(object, "selected_otherwise", json_boolean(check->is_selected_otherwise));
    amp_json_set(object, "given_selection", json_boolean(check->is_given));
}

static json_t *json_output(const struct amp_validation *validation, size_t i)
{
    const struct amp_output_check *check = &validation->outputs[i];
    json_t *object = json_object();
    amp_json_set(object, "name", amp_json_text(check->name));
    amp_json_set(object, "dtype", json_string(amp_dtype_name(check->dtype[1])));
    amp_json_set(object, "shape", amp_json_shape(&check->shape));
    amp_json_set(object, "elements", amp_json_count(check->metrics.count));
    amp_json_set(object, "metrics", amp_json_metrics(&check->metrics));
    amp_json_set(object, "nan", json_both(check->metrics.nan[0], check->metrics.nan[1]));
    amp_json_set(object, "infinite", json_both(check->metrics.inf[0], check->metrics.inf[1]));
    set_selection(object, validation, i);
    amp_json_set(object, "within", json_boolean(!check->is_outside));
    if (check->is_outside)
        amp_json_set(object, "reason", amp_json_text(check->reason));
    return object;
}

/* Writes the first bound that the converted model is outside into TEXT. */
static char *reason_text(const struct amp_validation *validation, char *text, size_t size)
{
    static const char format[] = "output '%s': %s";
    for (size_t i = 0; i < validation->n_outputs; i++) {
        const struct amp_output_check *check = &validation->outputs[i];
        if (check->is_outside) {
            snprintf(text, size, format, check->name, check->reason);
            return text;
        }
    }
    for (size_t i = 0; i < validation->n_tasks; i++) {
        const struct amp_task *task = &validation->tasks[i];
        if (task->is_outside) {
            snprintf(text, size, format, task->name, task->reason);
            return text;
        }
    }
    if (validation->step_reason != NULL)
        snprintf(text, size, "%s", validation->step_reason);
    else
        snprintf(text, size, "--eval: %s",
                 validation->eval != NULL ? validation->eval->reason : "");
    return text;
}

json_t *amp_json_validation(const struct amp_validation *validation)
{
    char text[1024];
    json_t *object = json_object(), *outputs = json_array(), *seconds = json_object();
    for (size_t i = 0; i < validation->n_outputs; i++)
        json_array_append_new(outputs, json_output(validation, i));
    amp_json_set(seconds, "reference", amp_json_number(validation->seconds[0]));
    amp_json_set(seconds, "converted", amp_json_number(validation->seconds[1]));
    amp_json_set(object, "within", json_boolean(validation->is_within));
    if (!validation->is_within)
        amp_json_set(object, "reason", amp_json_text(reason_text(validation, text, sizeof text)));
    amp_json_set(object, "samples", amp_json_count(validation->samples));
    amp_json_set(object, "error_power", amp_json_number(amp_validation_error_power(validation)));
    amp_json_set(object, "tolerances", json_bounds(validation));
    amp_json_set(object, "outputs", outputs);
    if (validation->selections.count > 0)
        amp_json_set(object, "selections", json_selections(&validation->selections));
    json_t *accuracy = amp_json_accuracy(validation->tasks, validation->n_tasks, true);
    if (accuracy != NULL)
        amp_json_set(object, "accuracy", accuracy);
    if (validation->n_tasks > 0)
        amp_json_set(object, "tasks", amp_json_tasks(validation->tasks, validation->n_tasks, true));
    if (validation->eval != NULL)
        amp_json_set(object, "eval", amp_json_eval(validation->eval));
    amp_json_set(object, "widened_nodes",
                 json_both(validation->widened[0], validation->widened[1]));
    amp_json_set(object, "squeezed_nodes", amp_json_count(validation->squeezed));
    amp_json_set(object, "seconds", seconds);
    return object;
}

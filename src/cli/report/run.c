/*
 * The report of `ampconv run`, as text and as JSON: takes the result of a run, gives what the
 * outputs are like and how they compare with expected ones.
 */
#include "cli/report/run.h"

#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/metrics.h"
#include "cli/report/task.h"
#include "cli/report/text.h"
#include "core/print.h"

/* ---- text ------------------------------------------------------------------------------------ */

static void print_summary(FILE *file, const struct amp_run_output *output)
{
    const struct amp_summary *summary = &output->summary;
    if (output->dtype == AMP_STRING)
        amp_print(file, "%llu strings", (unsigned long long)summary->count);
    else if (summary->count == 0)
        fputs("empty", file);
    else if (summary->finite > 0)
        amp_print(file, "min %.6g, max %.6g, mean %.6g", summary->minimum, summary->maximum,
                  summary->sum / (double)summary->finite);
    else
        fputs("no finite element", file);
    if (summary->nan + summary->infinite > 0)
        amp_print(file, ", %llu NaN, %llu infinite", (unsigned long long)summary->nan,
                  (unsigned long long)summary->infinite);
}

/* The type of the elements of an output, or what a list consists of where they have several
   types. */
static const char *elements_of(const struct amp_run_output *output)
{
    if (output->dtype != AMP_UNDEFINED)
        return amp_dtype_name(output->dtype);
    return output->form == AMP_FORM_MAP ? "keys and values" : "maps";
}

static void print_output(FILE *file, const struct amp_run_output *output, int verbosity)
{
    char text[256];
    const char *form = output->form == AMP_FORM_TENSOR ? "" : amp_form_name(output->form);
    amp_print(file, AMP_REPORT_LABEL "'%s' %s%s%s %s: ", "output", output->name, form,
              form[0] ? " of " : "", elements_of(output),
              amp_shape_text(&output->shape, text, sizeof text));
    print_summary(file, output);
    fputc('\n', file);
    if (verbosity > 0 && output->compared > 0) {
        amp_print(file, AMP_REPORT_LABEL, "");
        amp_report_metrics(file, &output->metrics, true);
        fputc('\n', file);
    }
}

void amp_report_run(FILE *file, const struct amp_run_result *result, int verbosity)
{
    enum { LINES_MAX = 5 };
    size_t count = result->n_outputs;
    size_t n_lines = verbosity > 0 || count <= LINES_MAX ? count : LINES_MAX - 1;
    for (size_t i = 0; i < n_lines; i++)
        print_output(file, &result->outputs[i], verbosity);
    if (n_lines < count)
        amp_print(file, AMP_REPORT_LABEL "%zu more outputs; -v lists them\n", "", count - n_lines);
    for (size_t i = 0; i < result->n_tasks; i++)
        amp_report_task(file, &result->tasks[i], count > 1, false);
    if (result->compared > 0)
        amp_print(file, AMP_REPORT_LABEL "%zu tensor%s compared: %s\n", "expected",
                  result->compared, result->compared == 1 ? "" : "s",
                  result->mismatch[0] == '\0' ? "within tolerance" : "outside tolerance");
    amp_report_widened(file, result->widened);
    amp_report_squeezed(file, result->squeezed);
    amp_report_integers(file, result->integers);
    if (verbosity > 0)
        amp_print(file, AMP_REPORT_LABEL "%zu sample%s, %.3g s\n", "run", result->samples,
                  result->samples == 1 ? "" : "s", result->seconds);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_output(const struct amp_run_output *output)
{
    json_t *object = json_object();
    const struct amp_summary *summary = &output->summary;
    bool has_numbers = summary->finite > 0;
    amp_json_set(object, "name", amp_json_text(output->name));
    amp_json_set(object, "type", json_string(amp_form_name(output->form)));
    amp_json_set(object, "dtype", amp_json_dtype(output->dtype));
    amp_json_set(object, "shape", amp_json_shape(&output->shape));
    amp_json_set(object, "elements", amp_json_count(summary->count));
    amp_json_set(object, "min", has_numbers ? amp_json_number(summary->minimum) : json_null());
    amp_json_set(object, "max", has_numbers ? amp_json_number(summary->maximum) : json_null());
    amp_json_set(object, "mean",
                 has_numbers ? amp_json_number(summary->sum / (double)summary->finite)
                             : json_null());
    amp_json_set(object, "nan", amp_json_count(summary->nan));
    amp_json_set(object, "infinite", amp_json_count(summary->infinite));
    if (output->compared > 0)
        amp_json_set(object, "metrics", amp_json_metrics(&output->metrics));
    return object;
}

static json_t *json_expected(const struct amp_run_result *result)
{
    json_t *object = json_object();
    bool is_within = result->mismatch[0] == '\0';
    amp_json_set(object, "compared", amp_json_count(result->compared));
    amp_json_set(object, "within", json_boolean(is_within));
    if (!is_within)
        amp_json_set(object, "reason", amp_json_text(result->mismatch));
    return object;
}

json_t *amp_json_run(const struct amp_run_result *result, const struct amp_input_notes *inputs)
{
    json_t *object = amp_report_begin("run"), *outputs = json_array();
    for (size_t i = 0; i < result->n_outputs; i++)
        json_array_append_new(outputs, json_output(&result->outputs[i]));
    amp_json_set(object, "model", amp_json_text(result->model_path));
    amp_json_set(object, "inputs", amp_json_inputs(inputs));
    amp_json_set(object, "samples", amp_json_count(result->samples));
    amp_json_set(object, "outputs", outputs);
    if (result->compared > 0)
        amp_json_set(object, "expected", json_expected(result));
    json_t *accuracy = amp_json_accuracy(result->tasks, result->n_tasks, false);
    if (accuracy != NULL)
        amp_json_set(object, "accuracy", accuracy);
    if (result->n_tasks > 0)
        amp_json_set(object, "tasks", amp_json_tasks(result->tasks, result->n_tasks, false));
    amp_json_set(object, "widened_nodes", amp_json_count(result->widened));
    amp_json_set(object, "squeezed_nodes", amp_json_count(result->squeezed));
    amp_json_set(object, "integer_nodes", amp_json_count(result->integers));
    amp_json_set(object, "seconds", amp_json_number(result->seconds));
    return object;
}

/*
 * What was measured, in lines that a person reads.
 */
#include "cli/report/text.h"

#include "core/array.h"
#include "core/print.h"

#include <math.h>

/* ---- inputs ---------------------------------------------------------------------------------- */

void amp_report_inputs(FILE *file, const struct amp_inputs *inputs, int verbosity)
{
    enum { LINES_MAX = 3 };
    size_t n_lines = 0, n_left_out = 0;
    if (inputs->model == NULL || (verbosity == 0 && inputs->random == NULL))
        return;
    for (size_t i = 0; i < inputs->model->graphs[0].inputs.count; i++) {
        const char *note = amp_inputs_note(inputs, i);
        if (note == NULL)
            continue;
        if (verbosity == 0 && n_lines == LINES_MAX)
            n_left_out++;
        else if (++n_lines > 0)
            amp_print(file, AMP_REPORT_LABEL "%s\n", "input", note);
    }
    if (n_left_out > 0)
        amp_print(file, AMP_REPORT_LABEL "%zu more inputs; -v lists them\n", "", n_left_out);
}

/* ---- validation ------------------------------------------------------------------------------ */

/* What one line says of an output, in this order; with -v all of it. */
static const struct {
    enum amp_metric metric;
    const char *label;
    int digits;
    const char *unit;
    double factor;
    bool is_brief;
} shown[] = {
    {AMP_METRIC_SNR, "snr", 3, " dB", 1, true},
    {AMP_METRIC_COSINE, "cosine", 5, "", 1, true},
    {AMP_METRIC_MAX_ABS, "max abs error", 2, "", 1, true},
    {AMP_METRIC_MEAN_ABS, "mean", 2, "", 1, false},
    {AMP_METRIC_RMSE, "rmse", 2, "", 1, false},
    {AMP_METRIC_MAX_REL, "max rel error", 2, "", 1, false},
    {AMP_METRIC_TOP1, "top-1", 4, " %", 100, true},
    {AMP_METRIC_DIFFER, "elements that differ", 3, " %", 100, true},
};

static void print_specials(FILE *file, const struct amp_metrics *m)
{
    static const char *const sides[] = {"reference", "converted"};
    for (int side = 0; side < 2; side++)
        if (m->nan[side] > 0 || m->inf[side] > 0)
            amp_print(file, ", %s: %llu NaN, %llu infinite", sides[side],
                      (unsigned long long)m->nan[side], (unsigned long long)m->inf[side]);
}

void amp_report_metrics(FILE *file, const struct amp_metrics *metrics, bool is_brief)
{
    const char *comma = "";
    for (size_t i = 0; i < AMP_COUNT(shown); i++) {
        double value;
        if ((is_brief && !shown[i].is_brief) ||
            !amp_metrics_value(metrics, shown[i].metric, &value))
            continue;
        amp_print(file, "%s%s %.*g%s", comma, shown[i].label, shown[i].digits,
                  value * shown[i].factor, shown[i].unit);
        comma = ", ";
    }
    if (metrics->finite == 0 && metrics->is_float)
        amp_print(file, "%sno element that is finite on both sides", comma);
    print_specials(file, metrics);
}

static void print_output(FILE *file, const struct amp_output_check *check, const char *note,
                         bool is_brief)
{
    char text[256];
    amp_print(file, AMP_REPORT_LABEL "'%s' %s %s%s: ", "output", check->name,
              amp_dtype_name(check->dtype[1]), amp_shape_text(&check->shape, text, sizeof text),
              note);
    if (check->metrics.count == 0)
        amp_print(file, "%s", check->is_outside ? check->reason : "empty");
    else
        amp_report_metrics(file, &check->metrics, is_brief);
    fputc('\n', file);
}

/* How good an output is, only to find the worst: those outside first, then by signal to noise. */
static double rank(const struct amp_output_check *check)
{
    double snr, differ;
    if (check->is_outside)
        return -INFINITY;
    if (amp_metrics_value(&check->metrics, AMP_METRIC_SNR, &snr))
        return snr;
    bool differs = amp_metrics_value(&check->metrics, AMP_METRIC_DIFFER, &differ) && differ > 0;
    return differs ? 0 : INFINITY;
}

static const struct amp_output_check *worst_output(const struct amp_validation *validation)
{
    const struct amp_output_check *worst = &validation->outputs[0];
    for (size_t i = 1; i < validation->n_outputs; i++)
        if (rank(&validation->outputs[i]) < rank(worst))
            worst = &validation->outputs[i];
    return worst;
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
    print_output(file, worst_output(validation), note, true);
}

void amp_report_accuracy(FILE *file, const char *scores, const struct amp_accuracy *accuracy,
                         size_t n_models)
{
    static const char *const sides[] = {" in fp32, ", " converted"};
    amp_print(file, AMP_REPORT_LABEL, "accuracy");
    if (scores != NULL)
        amp_print(file, "'%s': ", scores);
    for (size_t i = 0; i < n_models; i++) {
        double percent = 100.0 * (double)accuracy[i].right / (double)accuracy[i].rows;
        amp_print(file, "%.2f %% (%llu of %llu)%s", accuracy[i].rows > 0 ? percent : 0.0,
                  (unsigned long long)accuracy[i].right, (unsigned long long)accuracy[i].rows,
                  n_models > 1 ? sides[i] : "");
    }
    fputc('\n', file);
}

void amp_report_widened(FILE *file, size_t widened)
{
    if (widened > 0)
        amp_print(file,
                  AMP_REPORT_LABEL "%zu node%s computed in float32 and rounded: no kernel for the "
                                   "lower dtype\n",
                  "widened", widened, widened == 1 ? "" : "s");
}

/* Whether a bound on METRIC decided anything. */
static bool applies(const struct amp_validation *validation, enum amp_metric metric)
{
    double value;
    for (size_t i = 0; i < validation->n_outputs; i++)
        if (amp_metrics_value(&validation->outputs[i].metrics, metric, &value))
            return !isnan(validation->tolerances.bounds[metric]);
    return false;
}

/* " (snr >= 20 dB, cosine >= 0.99)" */
static void print_bounds(FILE *file, const struct amp_validation *validation)
{
    const char *mark = " (";
    for (size_t i = 0; i < AMP_COUNT(shown); i++) {
        enum amp_metric metric = shown[i].metric;
        if (!applies(validation, metric))
            continue;
        amp_print(file, "%s%s %s %.5g%s", mark, amp_metric_name(metric),
                  amp_metric_is_minimum(metric) ? ">=" : "<=",
                  validation->tolerances.bounds[metric], amp_metric_unit(metric));
        mark = ", ";
    }
    fputs(mark[0] == ',' ? ")" : "", file);
}

void amp_report_validation(FILE *file, const struct amp_validation *validation, int verbosity)
{
    print_outputs(file, validation, verbosity);
    if (validation->scores != NULL)
        amp_report_accuracy(file, validation->n_outputs > 1 ? validation->scores : NULL,
                            validation->accuracy, 2);
    amp_report_widened(file, validation->widened[1]);
    amp_print(file, AMP_REPORT_LABEL "%s tolerance", "verdict",
              validation->is_within ? "within" : "outside");
    print_bounds(file, validation);
    amp_print(file, "; %zu sample%s", validation->samples, validation->samples == 1 ? "" : "s");
    if (verbosity > 0)
        amp_print(file, ", %.3g s in fp32, %.3g s converted, set-up included",
                  validation->seconds[0], validation->seconds[1]);
    fputc('\n', file);
}

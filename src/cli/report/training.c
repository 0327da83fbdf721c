/*
 * The reports of training, as text and as JSON: of `ampconv train`, where the steps began and
 * ended, and all of it; of a conversion, how far a step before and after it are apart.
 */
#include "cli/report/training.h"

#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/memory.h"
#include "core/print.h"

#include <math.h>

/* "; 2 skipped, scale 32768 at last" */
static void print_scaler(FILE *file, const struct amp_train_history *history)
{
    const struct amp_train_series *scale = amp_train_history_find(history, "scale");
    const struct amp_train_series *skipped = amp_train_history_find(history, "skipped");
    size_t count = 0;
    if (history->n_steps == 0 || scale == NULL || skipped == NULL)
        return;
    for (size_t i = 0; i < history->n_steps; i++)
        count += skipped->values[i] != 0;
    amp_print(file, "; %zu skipped, scale %g at last", count, scale->values[history->n_steps - 1]);
}

void amp_report_training(FILE *file, const struct amp_training_result *result, int verbosity)
{
    const struct amp_train_history *history = &result->history;
    char memory[32];
    amp_print(file, AMP_REPORT_LABEL "%zu step%s, %zu initializers", "training", history->n_steps,
              history->n_steps == 1 ? "" : "s", result->n_variables);
    if (history->n_steps > 0 && history->n_series > 0)
        amp_print(file, "; %s %.6g at first, %.6g at last", history->series[0].name,
                  history->series[0].values[0], amp_train_history_last(history, 0));
    print_scaler(file, history);
    amp_print(file, "\n");
    if (verbosity > 1 && history->n_steps > 0)
        amp_print(file, AMP_REPORT_LABEL "%.3g ms a step, %s at most\n", "",
                  1e3 * history->seconds / (double)history->n_steps,
                  amp_memory_text(history->peak_bytes, memory));
}

/* The loss of one model's step. */
static double loss_of(const struct amp_train_history *history)
{
    return history->n_series > 0 ? amp_train_history_last(history, 0) : (double)NAN;
}

void amp_report_step(FILE *file, const struct amp_step_check *check, const struct amp_error *failed)
{
    if (failed->status != AMP_OK) {
        amp_print(file, AMP_REPORT_LABEL "of training not run: %s\n", "step", failed->text);
        return;
    }
    amp_print(file, AMP_REPORT_LABEL "of training:", "step");
    if (check->history[0].n_series > 0 && check->history[1].n_series > 0)
        amp_print(file, " %s %.6g in fp32, %.6g converted;", check->history[0].series[0].name,
                  loss_of(&check->history[0]), loss_of(&check->history[1]));
    if (check->is_skipped)
        amp_print(file, " update skipped: gradients are not finite at this scale\n");
    else if (isnan(check->cosine))
        amp_print(file, " update %s\n",
                  check->is_outside ? "not finite" : "of nothing in one of them");
    else
        amp_print(file, " update of %zu initializers: cosine %.4f, %.4g times as long\n",
                  check->n_variables, check->cosine, check->length);
}

json_t *amp_json_step(const struct amp_step_check *check, const struct amp_error *failed)
{
    json_t *root = json_object(), *loss = json_object();
    if (failed->status != AMP_OK) {
        json_decref(loss);
        amp_json_set(root, "obstacle", amp_json_text(failed->text));
        return root;
    }
    amp_json_set(loss, "reference", amp_json_number(loss_of(&check->history[0])));
    amp_json_set(loss, "converted", amp_json_number(loss_of(&check->history[1])));
    amp_json_set(root, "loss", loss);
    amp_json_set(root, "variables", amp_json_count(check->n_variables));
    amp_json_set(root, "cosine", amp_json_number(check->cosine));
    amp_json_set(root, "length", amp_json_number(check->length));
    amp_json_set(root, "skipped", json_boolean(check->is_skipped));
    amp_json_set(root, "within", json_boolean(!check->is_outside));
    return root;
}

static json_t *json_series(const struct amp_train_history *history, size_t i)
{
    json_t *one = json_object(), *values = json_array();
    for (size_t k = 0; k < history->n_steps; k++)
        json_array_append_new(values, amp_json_number(history->series[i].values[k]));
    amp_json_set(one, "name", amp_json_text(history->series[i].name));
    amp_json_set(one, "first", amp_json_number(history->series[i].values[0]));
    amp_json_set(one, "last", amp_json_number(amp_train_history_last(history, i)));
    amp_json_set(one, "values", values);
    return one;
}

json_t *amp_json_training(const struct amp_training_result *result,
                          const struct amp_input_notes *inputs)
{
    json_t *root = amp_report_begin("training"), *series = json_array();
    const struct amp_train_history *history = &result->history;
    for (size_t i = 0; i < history->n_series; i++)
        json_array_append_new(series, json_series(history, i));
    amp_json_set(root, "model", amp_json_text(result->model_path));
    amp_json_set(root, "output", amp_json_text_or_null(result->output));
    amp_json_set(root, "inputs", amp_json_inputs(inputs));
    amp_json_set(root, "steps", amp_json_count(history->n_steps));
    amp_json_set(root, "variables", amp_json_count(result->n_variables));
    amp_json_set(root, "series", series);
    amp_json_set(root, "seconds", amp_json_number(history->seconds));
    amp_json_set(root, "peak_bytes", amp_json_count(history->peak_bytes));
    return root;
}

json_t *amp_json_training_step(const struct amp_train_history *history)
{
    json_t *line = json_object();
    amp_json_set(line, "step", amp_json_count(history->n_steps));
    for (size_t i = 0; i < history->n_series; i++)
        amp_json_set(line, history->series[i].name,
                     amp_json_number(amp_train_history_last(history, i)));
    return line;
}

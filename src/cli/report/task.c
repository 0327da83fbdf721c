/*
 * The accuracy of one model or of two in what they are for: takes what labels and commands said,
 * gives lines and JSON. Takes names, order and labels from the table of task metrics
 * (check/task/task_metrics.c); knows no task metric by itself.
 */
#include "cli/report/task.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/print.h"

static const char *const sides[] = {"reference", "converted"};

/* ---- text ------------------------------------------------------------------------------------ */

/* "99.72 % (359 of 360)", "0.1234"; "-" where it is not defined */
static void print_value(FILE *file, const struct amp_task_metric *metric,
                        const struct amp_task_score *score)
{
    double value;
    if (!amp_task_metric_value(metric, score, &value)) {
        fputs("-", file);
    } else if (metric->part != NULL) {
        struct amp_task_part part = metric->part(score);
        amp_print(file, "%.2f %% (%llu of %llu)", 100 * value, (unsigned long long)part.part,
                  (unsigned long long)part.whole);
    } else {
        amp_print(file, "%.6g", value);
    }
}

void amp_report_task(FILE *file, const struct amp_task *task, bool is_named, bool is_pair)
{
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        if (!metric->is_defined(&task->scores[0]))
            continue;
        amp_print(file, AMP_REPORT_LABEL, metric->label);
        if (is_named)
            amp_print(file, "'%s': ", task->name);
        print_value(file, metric, &task->scores[0]);
        if (is_pair) {
            fputs(" in fp32, ", file);
            print_value(file, metric, &task->scores[1]);
            fputs(" converted", file);
        }
        fputc('\n', file);
    }
}

static void print_outcome(FILE *file, const struct amp_eval_outcome *outcome)
{
    if (outcome->verdict == AMP_EVAL_SCORED)
        amp_print(file, "%.6g", outcome->score);
    else
        amp_print(file, "%s", amp_eval_verdict_name(outcome->verdict));
}

void amp_report_eval(FILE *file, const struct amp_eval_check *check)
{
    amp_print(file, AMP_REPORT_LABEL, "eval");
    print_outcome(file, &check->outcomes[0]);
    fputs(" in fp32, ", file);
    print_outcome(file, &check->outcomes[1]);
    fputs(" converted", file);
    if (check->outcomes[1].reason[0] != '\0')
        amp_print(file, ": %s", check->outcomes[1].reason);
    fputc('\n', file);
}

const char *amp_report_task_bounds(FILE *file, const struct amp_task_bounds *bounds,
                                   const char *mark)
{
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        char text[32];
        if (!bounds->items[i].is_set)
            continue;
        amp_print(file, "%s%s <= %s", mark, metric->bound,
                  amp_task_bound_text(metric, bounds->items[i], text, sizeof text));
        mark = ", ";
    }
    return mark;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void amp_json_task_bounds(json_t *object, const struct amp_task_bounds *bounds)
{
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        char text[32];
        struct amp_task_bound bound = bounds->items[i];
        if (!bound.is_set)
            continue;
        amp_task_bound_text(metric, bound, text, sizeof text);
        amp_json_set(object, metric->bound,
                     bound.is_relative ? json_string(text) : amp_json_number(bound.most));
    }
}

/* A number of one model; of two an object. */
static json_t *json_value(const struct amp_task_metric *metric,
                          const struct amp_task_score scores[2], bool is_pair)
{
    double value;
    if (!is_pair)
        return amp_json_number(metric->value(&scores[0]));
    json_t *object = json_object();
    amp_json_set(object, sides[0], amp_json_number(metric->value(&scores[0])));
    bool has_both = amp_task_metric_value(metric, &scores[1], &value);
    amp_json_set(object, sides[1], has_both ? amp_json_number(value) : json_null());
    amp_json_set(object, "loss",
                 has_both ? amp_json_number(amp_task_metric_loss(metric, scores)) : json_null());
    return object;
}

static json_t *json_task(const struct amp_task *task, bool is_pair)
{
    json_t *object = json_object(), *metrics = json_object();
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++)
        if (metric->is_defined(&task->scores[0]))
            amp_json_set(metrics, metric->name, json_value(metric, task->scores, is_pair));
    amp_json_set(object, "output", amp_json_text(task->name));
    amp_json_set(object, "labels", amp_json_text(task->path));
    amp_json_set(object, "metrics", metrics);
    if (is_pair)
        amp_json_set(object, "within", json_boolean(!task->is_outside));
    if (task->is_outside)
        amp_json_set(object, "reason", amp_json_text(task->reason));
    return object;
}

json_t *amp_json_tasks(const struct amp_task *tasks, size_t count, bool is_pair)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_task(&tasks[i], is_pair));
    return array;
}

static void set_rows(json_t *object, const struct amp_task_score *score)
{
    amp_json_set(object, "rows", amp_json_count(score->rows));
    amp_json_set(object, "right", amp_json_count(score->right));
    amp_json_set(object, "percent",
                 amp_json_number(100.0 * (double)score->right / (double)score->rows));
}

json_t *amp_json_accuracy(const struct amp_task *tasks, size_t count, bool is_pair)
{
    size_t i = 0;
    while (i < count && tasks[i].scores[0].rows == 0)
        i++;
    if (i == count)
        return NULL;
    json_t *object = json_object();
    if (!is_pair)
        set_rows(object, &tasks[i].scores[0]);
    amp_json_set(object, "output", amp_json_text(tasks[i].name));
    for (int side = 0; side < 2 && is_pair; side++) {
        json_t *rows = json_object();
        set_rows(rows, &tasks[i].scores[side]);
        amp_json_set(object, sides[side], rows);
    }
    return object;
}

static json_t *json_outcome(const struct amp_eval_outcome *outcome)
{
    json_t *object = json_object();
    amp_json_set(object, "verdict", json_string(amp_eval_verdict_name(outcome->verdict)));
    if (outcome->verdict == AMP_EVAL_SCORED)
        amp_json_set(object, "score", amp_json_number(outcome->score));
    amp_json_set(object, "seconds", amp_json_number(outcome->seconds));
    if (outcome->reason[0] != '\0')
        amp_json_set(object, "reason", amp_json_text(outcome->reason));
    return object;
}

json_t *amp_json_eval(const struct amp_eval_check *check)
{
    json_t *object = json_object();
    const struct amp_task_metric *metric;
    amp_json_set(object, "command", amp_json_text(check->eval.command));
    for (int side = 0; side < 2; side++)
        amp_json_set(object, sides[side], json_outcome(&check->outcomes[side]));
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++)
        if (metric->is_defined(&check->scores[0]) && metric->is_defined(&check->scores[1]))
            amp_json_set(object, "loss",
                         amp_json_number(amp_task_metric_loss(metric, check->scores)));
    amp_json_set(object, "within", json_boolean(!check->is_outside));
    if (check->is_outside)
        amp_json_set(object, "reason", amp_json_text(check->reason));
    return object;
}

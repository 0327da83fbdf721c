/*
 * The metrics of one output, as part of a line and as JSON. Takes names, order and format from the
 * table of metrics (check/metrics.c); knows no metric by itself.
 */
#include "cli/report/metrics.h"

#include "cli/report/json.h"
#include "core/print.h"

static void print_specials(FILE *file, const struct amp_metrics *metrics)
{
    static const char *const sides[] = {"reference", "converted"};
    for (int side = 0; side < 2; side++)
        if (metrics->nan[side] > 0 || metrics->inf[side] > 0)
            amp_print(file, ", %s: %llu NaN, %llu infinite", sides[side],
                      (unsigned long long)metrics->nan[side],
                      (unsigned long long)metrics->inf[side]);
}

void amp_report_metrics(FILE *file, const struct amp_metrics *metrics, bool is_brief)
{
    const char *comma = "";
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_shown_at(i)) != NULL; i++) {
        double value;
        if ((is_brief && !metric->text.is_brief) || !amp_metric_value(metric, metrics, &value))
            continue;
        bool is_percent = metric->text.is_percent;
        bool is_choice = metrics->selected > 0 && metric->text.selected != NULL;
        amp_print(file, "%s%s %.*g%s", comma,
                  is_choice ? metric->text.selected : metric->text.label, metric->text.digits,
                  is_percent ? 100 * value : value, is_percent ? " %" : metric->unit);
        comma = ", ";
    }
    if (metrics->finite == 0 && metrics->is_float)
        amp_print(file, "%sno element that is finite on both sides", comma);
    print_specials(file, metrics);
}

json_t *amp_json_metrics(const struct amp_metrics *metrics)
{
    json_t *object = json_object();
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_at(i)) != NULL; i++) {
        double value;
        if (amp_metric_value(metric, metrics, &value))
            amp_json_set(object, metric->name, amp_json_number(value));
    }
    return object;
}

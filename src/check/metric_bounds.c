/*
 * Bounds on metrics: those that a conversion has to keep unless the user names others. Takes the
 * table of metrics and the metrics of an output, says whether each of them is within its bound.
 * Knows no metric by name.
 */
#include "check/metric_bounds.h"

#include "check/task/task_metrics.h"
#include "core/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double default_bound(const struct amp_metric *metric, enum amp_dtype dtype)
{
    return dtype == AMP_BFLOAT16  ? metric->bounds.bf16
           : dtype == AMP_FLOAT16 ? metric->bounds.fp16
           : dtype == AMP_FLOAT   ? metric->bounds.fp32
                                  : NAN;
}

struct amp_metric_bounds amp_metric_bounds_default(enum amp_dtype dtype)
{
    struct amp_metric_bounds bounds;
    for (size_t i = 0; i < AMP_METRICS_MAX; i++) {
        const struct amp_metric *metric = amp_metric_at(i);
        bounds.items[i] = metric != NULL ? default_bound(metric, dtype) : NAN;
    }
    return bounds;
}

double amp_metric_bounds_get(const struct amp_metric_bounds *bounds,
                             const struct amp_metric *metric)
{
    return bounds->items[metric - amp_metric_at(0)];
}

/* What --tolerance may name: metrics, and the bounds on task metrics. */
static const char *word_at(size_t i)
{
    size_t n_metrics = 0;
    while (amp_metric_name_at(n_metrics) != NULL)
        n_metrics++;
    return i < n_metrics ? amp_metric_name_at(i) : amp_task_bound_name_at(i - n_metrics);
}

static enum amp_status unknown_metric(const char *name, struct amp_error *err)
{
    char names[512];
    const char *nearest = amp_word_nearest_at(name, word_at);
    if (nearest != NULL)
        return amp_fail(err, AMP_USAGE, "unknown metric '%s'; did you mean '%s'?", name, nearest);
    return amp_fail(err, AMP_USAGE, "unknown metric '%s'; known: %s", name,
                    amp_metric_names(names, sizeof names));
}

enum amp_status amp_metric_bounds_set(struct amp_metric_bounds *bounds, const char *name,
                                      const char *text, struct amp_error *err)
{
    for (size_t i = 0; amp_metric_name_at(i) != NULL; i++) {
        if (strcmp(amp_metric_name_at(i), name) != 0)
            continue;
        char *end;
        double bound = strtod(text, &end);
        if (end == text || *end != '\0' || isnan(bound))
            return amp_fail(err, AMP_USAGE, "the tolerance of %s: '%s' is no number", name, text);
        bounds->items[i] = bound;
        return AMP_OK;
    }
    return unknown_metric(name, err);
}

bool amp_metric_bounds_want_scores(const struct amp_metric_bounds *bounds)
{
    for (size_t i = 0; amp_metric_at(i) != NULL; i++)
        if (amp_metric_at(i)->is_of_scores && !isnan(bounds->items[i]))
            return true;
    return false;
}

/* AMP_MISMATCH when VALUE is beyond BOUND. The comparison is written so that a NaN is outside. */
static enum amp_status check_bound(const struct amp_metric *metric, double value, double bound,
                                   struct amp_error *err)
{
    if (metric->is_minimum ? value >= bound : value <= bound)
        return AMP_OK;
    return amp_fail(err, AMP_MISMATCH, "%s %.4g%s; at %s %.4g %s", metric->name, value,
                    metric->unit, metric->is_minimum ? "least" : "most", bound,
                    metric->is_minimum ? "needed" : "allowed");
}

enum amp_status amp_metric_bounds_check(const struct amp_metric_bounds *bounds,
                                        const struct amp_metrics *metrics, struct amp_error *err)
{
    if (metrics->stray > 0)
        return amp_fail(err, AMP_MISMATCH,
                        "%llu of %llu elements are NaN or infinite in one model and not in the "
                        "other",
                        (unsigned long long)metrics->stray, (unsigned long long)metrics->count);
    if (metrics->count > 0 && metrics->nan[0] == metrics->count)
        return amp_fail(err, AMP_MISMATCH,
                        "all elements are NaN in both models: these inputs tell nothing");
    for (size_t i = 0; amp_metric_at(i) != NULL; i++) {
        double value, bound = bounds->items[i];
        if (!isnan(bound) && amp_metric_value(amp_metric_at(i), metrics, &value))
            AMP_TRY(check_bound(amp_metric_at(i), value, bound, err));
    }
    return AMP_OK;
}

/*
 * Bounds on task metrics: takes the table of them and what was seen of two models, says whether the
 * second is worse than it may be. Knows no task metric by name.
 */
#include "check/task/task_bounds.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum amp_status amp_task_bounds_set(struct amp_task_bounds *bounds,
                                    const struct amp_task_metric *metric, const char *text,
                                    struct amp_error *err)
{
    char *end;
    double most = strtod(text, &end);
    bool is_percent = end != text && strcmp(end, "%") == 0;
    if (end == text || isnan(most) || (*end != '\0' && !is_percent))
        return amp_fail(err, AMP_USAGE, "the tolerance of %s: '%s' is no number and no percentage",
                        metric->bound, text);
    bounds->items[metric - amp_task_metric_at(0)] =
        (struct amp_task_bound){.is_set = true,
                                .is_relative = is_percent && !metric->is_share,
                                .most = is_percent ? most / 100 : most};
    return AMP_OK;
}

struct amp_task_bounds amp_task_bounds_of(const struct amp_task_bounds *bounds, const char *source)
{
    struct amp_task_bounds some = *bounds;
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++)
        if (strcmp(metric->source, source) != 0)
            some.items[i].is_set = false;
    return some;
}

bool amp_task_bounds_any(const struct amp_task_bounds *bounds)
{
    for (size_t i = 0; i < AMP_TASK_METRICS_MAX; i++)
        if (bounds->items[i].is_set)
            return true;
    return false;
}

/* Writes an amount in the unit of BOUND. */
static char *amount_text(const struct amp_task_metric *metric, struct amp_task_bound bound,
                         double amount, char *text, size_t size)
{
    bool is_percent = bound.is_relative || metric->is_share;
    snprintf(text, size, "%.4g%s", is_percent ? 100 * amount : amount, is_percent ? " %" : "");
    return text;
}

char *amp_task_bound_text(const struct amp_task_metric *metric, struct amp_task_bound bound,
                          char *text, size_t size)
{
    return amount_text(metric, bound, bound.most, text, size);
}

/* How much worse the second model is, in the unit of BOUND. What a reference of 0 loses is beyond
   every fraction of it. What the difference of two values is off by rounding counts for nothing: 98
   of 100 are one percent less than 99. */
static double loss_of(const struct amp_task_metric *metric, const struct amp_task_score scores[2],
                      struct amp_task_bound bound)
{
    double a = fabs(metric->value(&scores[0])), b = fabs(metric->value(&scores[1]));
    double loss = amp_task_metric_loss(metric, scores);
    if (fabs(loss) <= 4 * DBL_EPSILON * (a + b))
        return 0;
    loss -= 4 * DBL_EPSILON * (a + b);
    return bound.is_relative ? loss / a : loss;
}

/* AMP_MISMATCH when models that have SCORES are beyond BOUND. Written so that a NaN is outside. */
static enum amp_status check_bound(const struct amp_task_metric *metric,
                                   const struct amp_task_score scores[2],
                                   struct amp_task_bound bound, struct amp_error *err)
{
    char found[32], most[32];
    double loss = loss_of(metric, scores, bound);
    if (loss <= bound.most)
        return AMP_OK;
    return amp_fail(err, AMP_MISMATCH, "%s %s (%.6g to %.6g); at most %s allowed", metric->bound,
                    amount_text(metric, bound, loss, found, sizeof found),
                    metric->value(&scores[0]), metric->value(&scores[1]),
                    amp_task_bound_text(metric, bound, most, sizeof most));
}

enum amp_status amp_task_bounds_check(const struct amp_task_bounds *bounds,
                                      const struct amp_task_score scores[2], struct amp_error *err)
{
    const struct amp_task_metric *metric;
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        double value;
        if (!bounds->items[i].is_set || !amp_task_metric_value(metric, &scores[0], &value))
            continue;
        if (!amp_task_metric_value(metric, &scores[1], &value))
            return amp_fail(err, AMP_MISMATCH, "%s: the converted model has no value of it",
                            metric->bound);
        AMP_TRY(check_bound(metric, scores, bounds->items[i], err));
    }
    return AMP_OK;
}

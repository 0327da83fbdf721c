/*
 * How well a model does what it is for: takes counts and sums over labelled outputs, or the score
 * that a command gave, and gives the task metrics of the table below. Knows no labels and runs
 * nothing.
 */
#include "check/task/task_metrics.h"

#include "core/array.h"

#include <math.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

static bool has_rows(const struct amp_task_score *s)
{
    return s->rows > 0;
}

static bool has_rows_of_many(const struct amp_task_score *s)
{
    return s->rows_of_many > 0;
}

static bool has_targets(const struct amp_task_score *s)
{
    return s->count > 0;
}

static bool has_spread(const struct amp_task_score *s)
{
    return s->count > 0 && s->spread > 0;
}

static bool is_scored(const struct amp_task_score *s)
{
    return s->is_scored;
}

static struct amp_task_part first_part(const struct amp_task_score *s)
{
    return (struct amp_task_part){s->right, s->rows};
}

static struct amp_task_part first_5_part(const struct amp_task_score *s)
{
    return (struct amp_task_part){s->right_of_5, s->rows_of_many};
}

static double accuracy(const struct amp_task_score *s)
{
    return (double)s->right / (double)s->rows;
}

static double top5(const struct amp_task_score *s)
{
    return (double)s->right_of_5 / (double)s->rows_of_many;
}

static double rmse(const struct amp_task_score *s)
{
    return sqrt(s->squared / (double)s->count);
}

static double mae(const struct amp_task_score *s)
{
    return s->absolute / (double)s->count;
}

static double r2(const struct amp_task_score *s)
{
    return 1 - s->squared / s->spread;
}

static double score(const struct amp_task_score *s)
{
    return s->score;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The comment on a row defines the metric; the manual is made of it (man/metrics.awk). */
static const struct amp_task_metric task_metrics_table[] = {
    /* The fraction of labelled rows with the greatest score at the label; of equal scores the first
       counts, a NaN is never the greatest. */
    {.name = "accuracy",
     .bound = "accuracy-drop",
     .source = "labels",
     .better = AMP_HIGHER_IS_BETTER,
     .is_share = true,
     .is_defined = has_rows,
     .value = accuracy,
     .part = first_part,
     .label = "accuracy"},
    /* The fraction of labelled rows with the label among the five greatest scores, where there are
       more than 5 classes. */
    {.name = "top5",
     .bound = "top5-drop",
     .source = "labels",
     .better = AMP_HIGHER_IS_BETTER,
     .is_share = true,
     .is_defined = has_rows_of_many,
     .value = top5,
     .part = first_5_part,
     .label = "top-5"},
    /* The square root of the mean of (y - t)^2, with y an output's elements and t the targets. */
    {.name = "rmse",
     .bound = "rmse-rise",
     .source = "labels",
     .better = AMP_LOWER_IS_BETTER,
     .is_defined = has_targets,
     .value = rmse,
     .label = "rmse"},
    /* The mean of |y - t|. */
    {.name = "mae",
     .bound = "mae-rise",
     .source = "labels",
     .better = AMP_LOWER_IS_BETTER,
     .is_defined = has_targets,
     .value = mae,
     .label = "mae"},
    /* The coefficient of determination: 1 - sum((y - t)^2) / sum((t - m)^2), with m the mean of the
       targets in the same place of all rows; not defined where all targets are their mean. */
    {.name = "r2",
     .bound = "r2-drop",
     .source = "labels",
     .better = AMP_HIGHER_IS_BETTER,
     .is_share = true,
     .is_defined = has_spread,
     .value = r2,
     .label = "r2"},
    /* The score that the command of --eval gives. */
    {.name = "eval",
     .bound = "eval-drop",
     .source = "eval",
     .better = AMP_BETTER_AS_SAID,
     .is_defined = is_scored,
     .value = score,
     .label = "eval"},
};

_Static_assert(AMP_COUNT(task_metrics_table) <= AMP_TASK_METRICS_MAX,
               "bounds have room for all task metrics");

const struct amp_task_metric *amp_task_metric_at(size_t i)
{
    return i < AMP_COUNT(task_metrics_table) ? &task_metrics_table[i] : NULL;
}

const char *amp_task_bound_name_at(size_t i)
{
    return i < AMP_COUNT(task_metrics_table) ? task_metrics_table[i].bound : NULL;
}

const struct amp_task_metric *amp_task_metric_find(const char *name)
{
    for (size_t i = 0; i < AMP_COUNT(task_metrics_table); i++)
        if (strcmp(task_metrics_table[i].bound, name) == 0)
            return &task_metrics_table[i];
    return NULL;
}

bool amp_task_metric_value(const struct amp_task_metric *metric, const struct amp_task_score *score,
                           double *value)
{
    if (!metric->is_defined(score))
        return false;
    *value = metric->value(score);
    return true;
}

double amp_task_metric_loss(const struct amp_task_metric *metric,
                            const struct amp_task_score scores[2])
{
    double rise = metric->value(&scores[1]) - metric->value(&scores[0]);
    bool is_lower_better = metric->better == AMP_LOWER_IS_BETTER ||
                           (metric->better == AMP_BETTER_AS_SAID && scores[0].is_lower_better);
    return is_lower_better ? rise : 0 - rise;
}

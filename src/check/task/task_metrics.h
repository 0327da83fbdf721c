#ifndef AMP_CHECK_TASK_TASK_METRICS_H
#define AMP_CHECK_TASK_TASK_METRICS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AMP_TASK_METRICS_MAX = 8 }; /* rows of the table of task metrics */

/*
 * What was seen of one model's work in one task: against labels, over any number of samples, or by
 * a command of the user's. All zero to start with.
 */
struct amp_task_score {
    uint64_t rows, right; /* of class scores; those with the label first */
    uint64_t rows_of_many,
        right_of_5;           /* those of more than 5 classes; with the label in front of 5 */
    uint64_t count;           /* elements y that have a target t */
    double squared, absolute; /* sums over them of (y - t)^2 and |y - t| */
    double spread;            /* of all targets: the sum of (t - their column's mean)^2 */
    bool is_scored, is_lower_better; /* by a command; which way that goes */
    double score;
};

/* Which of two values of a task metric is better. */
enum amp_task_better { AMP_HIGHER_IS_BETTER, AMP_LOWER_IS_BETTER, AMP_BETTER_AS_SAID };

/* A part and the whole that a fraction is of. */
struct amp_task_part {
    uint64_t part, whole;
};

/*
 * A task metric: a value for each model, and a bound on how much worse the converted model's may
 * be. The table in task_metrics.c says of each what it is; --tolerance, the reports as text and as
 * JSON, the help and the manual take all they say of task metrics from there.
 */
struct amp_task_metric {
    const char *name;   /* "accuracy": for JSON */
    const char *bound;  /* "accuracy-drop": for --tolerance and messages */
    const char *source; /* the option without which there is no value: "labels" */
    enum amp_task_better better;
    bool is_share; /* at best 1: percent in a bound are of that, else of the reference's value */
    bool (*is_defined)(const struct amp_task_score *score);
    double (*value)(const struct amp_task_score *score);
    struct amp_task_part (*part)(const struct amp_task_score *score); /* NULL: no fraction */
    const char *label;                                                /* in the line on it */
};

/* The task metric in row I of the table, the order of reports and --help; NULL behind the last. */
const struct amp_task_metric *amp_task_metric_at(size_t i);

/* The name of the bound on the metric in row I; NULL behind the last. */
const char *amp_task_bound_name_at(size_t i);

/* The metric whose bound is called NAME; NULL: none is. */
const struct amp_task_metric *amp_task_metric_find(const char *name);

/* Sets *VALUE and returns true when METRIC is defined for what was seen. */
bool amp_task_metric_value(const struct amp_task_metric *metric, const struct amp_task_score *score,
                           double *value);

/* How much worse the second of two models is than the first, in the metric's unit: negative when it
   is better. Both have a value. */
double amp_task_metric_loss(const struct amp_task_metric *metric,
                            const struct amp_task_score scores[2]);

#endif

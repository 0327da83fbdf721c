#ifndef AMP_CHECK_TASK_TASK_BOUNDS_H
#define AMP_CHECK_TASK_TASK_BOUNDS_H

#include "check/task/task_metrics.h"

/* A bound on how much worse a converted model may be, inclusive: in the metric's unit, or as a
   fraction of the magnitude of the reference's value. */
struct amp_task_bound {
    bool is_set; /* false: there is none */
    bool is_relative;
    double most;
};

/* By row of the table of task metrics (amp_task_metric_at). All zero: none. */
struct amp_task_bounds {
    struct amp_task_bound items[AMP_TASK_METRICS_MAX];
};

/* Sets the bound on METRIC from TEXT, a number, or percent: 1% is 0.01 of a share, and a hundredth
   of the reference's value of another metric. AMP_USAGE for what is neither. */
enum amp_status amp_task_bounds_set(struct amp_task_bounds *bounds,
                                    const struct amp_task_metric *metric, const char *text,
                                    struct amp_error *err);

/* Those of BOUNDS that are on metrics of SOURCE alone. */
struct amp_task_bounds amp_task_bounds_of(const struct amp_task_bounds *bounds, const char *source);

/* Whether there is a bound. */
bool amp_task_bounds_any(const struct amp_task_bounds *bounds);

/* Writes the bound on METRIC into TEXT, which it returns: "1 %", "0.01". */
char *amp_task_bound_text(const struct amp_task_metric *metric, struct amp_task_bound bound,
                          char *text, size_t size);

/* AMP_MISMATCH when the second of two models is worse by more than BOUNDS allow, or has no value
   where the first has one: "accuracy-drop 1.1 %; at most 1 % allowed". */
enum amp_status amp_task_bounds_check(const struct amp_task_bounds *bounds,
                                      const struct amp_task_score scores[2], struct amp_error *err);

#endif

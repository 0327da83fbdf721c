#ifndef AMP_CHECK_METRIC_BOUNDS_H
#define AMP_CHECK_METRIC_BOUNDS_H

#include "check/metrics.h"

/* Bounds on metrics, inclusive, by row of the table of metrics (amp_metric_at); NaN: none. */
struct amp_metric_bounds {
    double items[AMP_METRICS_MAX];
};

/* The bounds of conversions where the coarsest type that the models compute in is DTYPE, bfloat16
   or float16; of float32, where only the form of the model changed. Other types have none. */
struct amp_metric_bounds amp_metric_bounds_default(enum amp_dtype dtype);

/* Sets the bound of the metric called NAME from TEXT. AMP_USAGE for an unknown name, with the
   nearest known one, and for what is no number. */
enum amp_status amp_metric_bounds_set(struct amp_metric_bounds *bounds, const char *name,
                                      const char *text, struct amp_error *err);

/* The bound on METRIC, which is one of the table; NaN: none. */
double amp_metric_bounds_get(const struct amp_metric_bounds *bounds,
                             const struct amp_metric *metric);

/* Whether there is a bound on a metric that only class scores have. */
bool amp_metric_bounds_want_scores(const struct amp_metric_bounds *bounds);

/* AMP_MISMATCH when METRICS are outside BOUNDS, or when no element is finite in both so that they
   say nothing: "snr 12.1 dB; at least 20 needed". */
enum amp_status amp_metric_bounds_check(const struct amp_metric_bounds *bounds,
                                        const struct amp_metrics *metrics, struct amp_error *err);

#endif

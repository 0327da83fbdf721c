#ifndef AMP_CHECK_METRICS_H
#define AMP_CHECK_METRICS_H

#include "core/tensor.h"

/*
 * How far one output of a converted model is from the reference's, over any number of samples.
 * With r and c the elements of the two, over the elements that are finite in both:
 *
 *   max_abs   max |c - r|
 *   mean_abs  mean |c - r|
 *   max_rel   max |c - r| / |r| where r is not 0
 *   rmse      sqrt(mean (c - r)^2)
 *   cosine    sum c r / sqrt(sum c^2 sum r^2); 1 when all elements are equal, 0 when only one side
 *             is all zero
 *   snr       10 log10(sum r^2 / sum (c - r)^2), in dB; infinite when all elements are equal
 *   top1      the fraction of rows in which c has its greatest element where r has it (ties of r
 *             count for it), of outputs that look like class scores: see check/class_scores.h
 *   differ    the fraction of elements that are not equal, of outputs that are not of a float type
 *
 * An element that is not finite is equal to its like (NaN to NaN, an infinity to the same one);
 * where only one side has it, or the other sign, nothing is within tolerance.
 */
enum amp_metric {
    AMP_METRIC_MAX_ABS,
    AMP_METRIC_MEAN_ABS,
    AMP_METRIC_MAX_REL,
    AMP_METRIC_RMSE,
    AMP_METRIC_COSINE,
    AMP_METRIC_SNR,
    AMP_METRIC_TOP1,
    AMP_METRIC_DIFFER,
    AMP_METRIC_COUNT
};

const char *amp_metric_name(enum amp_metric metric); /* "max_abs" */
const char *amp_metric_unit(enum amp_metric metric); /* " dB" or "" */
/* Whether a tolerance on METRIC is a lower bound: cosine, snr, top1. */
bool amp_metric_is_minimum(enum amp_metric metric);

/* Sums over the elements seen so far; all zero to start with. Index 0: reference, 1: converted. */
struct amp_metrics {
    bool is_float;      /* elements were compared as numbers, not only for equality */
    uint64_t count;     /* elements */
    uint64_t finite;    /* of those, finite in both; what the sums are over */
    uint64_t different; /* elements that are not equal */
    uint64_t nan[2], inf[2];
    uint64_t
        stray; /* elements that are not finite on one side only, or infinite in opposite ways */
    double max_abs, sum_abs, max_rel, sum_squared_error;
    double sum_squared[2], sum_product;
    uint64_t rows, agreed; /* class scores */
};

/* Adds the elements of two tensors. AMP_MISMATCH when their shapes differ, or when one is of a
   float type and the other is not; what METRICS holds is unchanged then. Complex elements count as
   two real ones; of lists the elements are added, up to the first that does not fit. */
enum amp_status amp_metrics_add(struct amp_metrics *metrics, const struct amp_tensor *reference,
                                const struct amp_tensor *converted, struct amp_error *err);

/* Sets *VALUE and returns true when METRIC is defined for what was seen. */
bool amp_metrics_value(const struct amp_metrics *metrics, enum amp_metric metric, double *value);

/* Bounds on metrics, inclusive; NaN: none. */
struct amp_tolerances {
    double bounds[AMP_METRIC_COUNT];
};

/* The bounds of conversions to DTYPE, float16 or bfloat16; float32: where only the form changed.
   None for other dtypes. */
struct amp_tolerances amp_tolerances_default(enum amp_dtype dtype);

/* Sets the bound of the metric called NAME from TEXT. AMP_USAGE for an unknown name, with the
   nearest known one, and for what is no number. */
enum amp_status amp_tolerances_set(struct amp_tolerances *tolerances, const char *name,
                                   const char *text, struct amp_error *err);

/* AMP_MISMATCH when METRICS are outside TOLERANCES, or when no element is finite in both so that
   they say nothing: "snr 12.1 dB; at least 20 needed". */
enum amp_status amp_tolerances_check(const struct amp_tolerances *tolerances,
                                     const struct amp_metrics *metrics, struct amp_error *err);

#endif

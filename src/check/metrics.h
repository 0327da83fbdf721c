#ifndef AMP_CHECK_METRICS_H
#define AMP_CHECK_METRICS_H

#include "core/tensor.h"

enum {
    AMP_METRICS_MAX = 16,     /* rows of the table of metrics */
    AMP_METRICS_SUMS_MAX = 16 /* sums that metrics are computed from */
};

/* The element of the largest error. */
struct amp_worst_element {
    double error;     /* |converted - reference|; infinite: it is not finite in one of them alone,
                         or an infinity of the other sign; 0: all elements are equal */
    uint64_t index;   /* among all elements of all samples, in their order */
    double values[2]; /* of the reference, of the converted model */
};

/*
 * What was seen of one output of a converted model and of the reference's, over any number of
 * samples: counts and sums over elements. All zero to start with, but for what the output is.
 * Index 0: reference, 1: converted.
 */
struct amp_metrics {
    bool are_scores;    /* set beforehand: rows of class scores, where the output has their form */
    bool is_float;      /* elements were compared as numbers, not only for equality */
    uint64_t count;     /* elements */
    uint64_t finite;    /* of those, finite in both; what the sums are over */
    uint64_t different; /* elements that are not equal */
    uint64_t nan[2], inf[2];
    uint64_t stray; /* elements that are not finite on one side only, or infinities of opposite
                       signs */
    uint64_t rows, agreed; /* class scores: rows, and those with the same class first */
    /* Set by who knows what the output is behind (check/selection.h): items that were selected for
       it, and those of them that only one model selects. */
    uint64_t selected, otherwise;
    struct amp_worst_element worst;    /* of equal ones the first; unset for strings */
    double sums[AMP_METRICS_SUMS_MAX]; /* private to metrics.c */
};

/*
 * A metric: how far a converted output is from the reference's. The table of metrics in metrics.c
 * says of each what it is; --tolerance, the reports as text and as JSON, the help and the manual
 * take all they say of metrics from there.
 */
struct amp_metric {
    const char *name;  /* "max_abs": for --tolerance, JSON and messages */
    const char *unit;  /* what follows a value: " dB" or "" */
    bool is_minimum;   /* whether more is better, so that a bound is the least that is allowed */
    bool is_of_scores; /* defined for class scores alone */
    bool (*is_defined)(const struct amp_metrics *metrics); /* whether there is a value */
    double (*value)(const struct amp_metrics *metrics);
    struct {
        double bf16, fp16, fp32; /* by what the models compute in; NAN: none */
    } bounds;                    /* of conversions, unless --tolerance says otherwise */
    struct {
        int place;            /* in the line on an output, from 0 */
        const char *label;    /* "max abs error" */
        const char *selected; /* the label where it is of a selection; NULL: as ever */
        int digits;           /* significant ones */
        bool is_percent;      /* a fraction is printed in percent */
        bool is_brief;        /* also without -v */
    } text;
};

/* The metric in row I of the table, the order of JSON and --help; NULL behind the last. */
const struct amp_metric *amp_metric_at(size_t i);

/* The metric in place I of the line on an output; NULL behind the last. */
const struct amp_metric *amp_metric_shown_at(size_t i);

/* The name of the metric in row I; NULL behind the last. */
const char *amp_metric_name_at(size_t i);

/* Writes the names of all metrics into TEXT, which it returns: "max_abs, mean_abs, ...". */
char *amp_metric_names(char *text, size_t size);

/* Sets *VALUE and returns true when METRIC is defined for what was seen. */
bool amp_metric_value(const struct amp_metric *metric, const struct amp_metrics *metrics,
                      double *value);

/* Adds the elements of two tensors; the sums do not depend on the number of threads. AMP_MISMATCH
   when their shapes differ, or when one is of a float type and the other is not; METRICS is
   unchanged then. Complex elements count as two real ones; of lists the elements are added, up to
   the first that does not fit. */
enum amp_status amp_metrics_add(struct amp_metrics *metrics, const struct amp_tensor *reference,
                                const struct amp_tensor *converted, struct amp_error *err);

/* How good an output is, only to compare outputs: the signal to noise in dB of floats; infinity
   where all elements are equal, 0 where others differ. */
double amp_metrics_quality(const struct amp_metrics *metrics);

#endif

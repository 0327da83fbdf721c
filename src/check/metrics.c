/*
 * How far apart two tensors are, in sums that grow sample by sample, and whether that is within
 * bounds. Elements that are not finite stay out of the sums and are counted.
 */
#include "check/metrics.h"

#include "check/class_scores.h"
#include "check/elements.h"
#include "core/array.h"
#include "core/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
    bool is_minimum;
} table[AMP_METRIC_COUNT] = {
    [AMP_METRIC_MAX_ABS] = {"max_abs", "", false}, [AMP_METRIC_MEAN_ABS] = {"mean_abs", "", false},
    [AMP_METRIC_MAX_REL] = {"max_rel", "", false}, [AMP_METRIC_RMSE] = {"rmse", "", false},
    [AMP_METRIC_COSINE] = {"cosine", "", true},    [AMP_METRIC_SNR] = {"snr", " dB", true},
    [AMP_METRIC_TOP1] = {"top1", "", true},        [AMP_METRIC_DIFFER] = {"differ", "", false},
};

const char *amp_metric_name(enum amp_metric metric)
{
    return table[metric].name;
}

const char *amp_metric_unit(enum amp_metric metric)
{
    return table[metric].unit;
}

bool amp_metric_is_minimum(enum amp_metric metric)
{
    return table[metric].is_minimum;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_classes(struct amp_metrics *metrics, const struct amp_tensor *reference,
                        const struct amp_tensor *converted)
{
    struct amp_class_scores scores;
    if (!amp_class_scores_view(reference, &scores))
        return;
    metrics->rows += scores.rows;
    for (size_t row = 0; row < scores.rows; row++)
        metrics->agreed += amp_class_scores_agree(reference, converted, &scores, row);
}

static void add_not_finite(struct amp_metrics *metrics, double r, double c)
{
    bool is_equal = r == c || (isnan(r) && isnan(c));
    metrics->nan[0] += isnan(r);
    metrics->nan[1] += isnan(c);
    metrics->inf[0] += isinf(r) != 0;
    metrics->inf[1] += isinf(c) != 0;
    metrics->stray += !is_equal;
    metrics->different += !is_equal;
}

static void add_finite(struct amp_metrics *metrics, double r, double c)
{
    double d = fabs(c - r);
    metrics->finite++;
    metrics->different += d != 0;
    metrics->max_abs = fmax(metrics->max_abs, d);
    if (r != 0)
        metrics->max_rel = fmax(metrics->max_rel, d / fabs(r));
    metrics->sum_abs += d;
    metrics->sum_squared_error += d * d;
    metrics->sum_squared[0] += r * r;
    metrics->sum_squared[1] += c * c;
    metrics->sum_product += r * c;
}

static void add_floats(struct amp_metrics *metrics, const struct amp_tensor *reference,
                       const struct amp_tensor *converted)
{
    size_t count;
    struct amp_tensor r = amp_elements_real(reference, &count),
                      c = amp_elements_real(converted, &count);
    metrics->is_float = true;
    metrics->count += count;
    for (size_t i = 0; i < count; i++) {
        double a = amp_tensor_double(&r, i), b = amp_tensor_double(&c, i);
        if (isfinite(a) && isfinite(b))
            add_finite(metrics, a, b);
        else
            add_not_finite(metrics, a, b);
    }
    add_classes(metrics, reference, converted);
}

static void add_others(struct amp_metrics *metrics, const struct amp_tensor *reference,
                       const struct amp_tensor *converted)
{
    size_t count = amp_tensor_count(reference);
    metrics->count += count;
    for (size_t i = 0; i < count; i++)
        metrics->different += reference->dtype == AMP_STRING
                                  ? !amp_elements_equal_strings(reference, converted, i)
                                  : amp_tensor_int(reference, i) != amp_tensor_int(converted, i);
}

/* Lists have their elements added, one by one. */
static enum amp_status add_lists(struct amp_metrics *metrics, const struct amp_tensor *reference,
                                 const struct amp_tensor *converted, struct amp_error *err)
{
    bool are_lists = amp_tensor_is_list(reference) && amp_tensor_is_list(converted);
    if (!are_lists || amp_tensor_count(reference) != amp_tensor_count(converted))
        return amp_fail(err, AMP_MISMATCH,
                        "the reference and the converted model give lists of "
                        "different lengths, or only one gives a list");
    for (size_t i = 0; i < amp_tensor_count(reference); i++)
        AMP_TRY(amp_metrics_add(metrics, &amp_list_items(reference)[i],
                                &amp_list_items(converted)[i], err));
    return AMP_OK;
}

enum amp_status amp_metrics_add(struct amp_metrics *metrics, const struct amp_tensor *reference,
                                const struct amp_tensor *converted, struct amp_error *err)
{
    char a[256], b[256];
    if (amp_tensor_is_list(reference) || amp_tensor_is_list(converted))
        return add_lists(metrics, reference, converted, err);
    enum amp_dtype_class class = amp_dtype_class(reference->dtype);
    bool is_float = class == AMP_CLASS_FLOAT || class == AMP_CLASS_COMPLEX;
    if (class != amp_dtype_class(converted->dtype) ||
        (!is_float && reference->dtype != converted->dtype))
        return amp_fail(err, AMP_MISMATCH, "the reference gives %s, the converted model %s",
                        amp_dtype_name(reference->dtype), amp_dtype_name(converted->dtype));
    if (!amp_shape_equal(&reference->shape, &converted->shape))
        return amp_fail(err, AMP_MISMATCH, "the reference gives shape %s, the converted model %s",
                        amp_shape_text(&reference->shape, a, sizeof a),
                        amp_shape_text(&converted->shape, b, sizeof b));
    if (is_float)
        add_floats(metrics, reference, converted);
    else
        add_others(metrics, reference, converted);
    return AMP_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static double cosine(const struct amp_metrics *m)
{
    double scale = sqrt(m->sum_squared[0]) * sqrt(m->sum_squared[1]);
    if (m->sum_squared_error == 0)
        return 1;
    return scale == 0 ? 0 : fmin(1, fmax(-1, m->sum_product / scale));
}

static double snr(const struct amp_metrics *m)
{
    if (m->sum_squared_error == 0)
        return INFINITY;
    return 10 * log10(m->sum_squared[0] / m->sum_squared_error);
}

bool amp_metrics_value(const struct amp_metrics *metrics, enum amp_metric metric, double *value)
{
    double finite = (double)metrics->finite;
    switch (metric) {
    case AMP_METRIC_MAX_ABS:
        *value = metrics->max_abs;
        return metrics->finite > 0;
    case AMP_METRIC_MEAN_ABS:
        *value = metrics->sum_abs / finite;
        return metrics->finite > 0;
    case AMP_METRIC_MAX_REL:
        *value = metrics->max_rel;
        return metrics->finite > 0;
    case AMP_METRIC_RMSE:
        *value = sqrt(metrics->sum_squared_error / finite);
        return metrics->finite > 0;
    case AMP_METRIC_COSINE:
        *value = cosine(metrics);
        return metrics->finite > 0;
    case AMP_METRIC_SNR:
        *value = snr(metrics);
        return metrics->finite > 0;
    case AMP_METRIC_TOP1:
        *value = (double)metrics->agreed / (double)metrics->rows;
        return metrics->rows > 0;
    case AMP_METRIC_DIFFER:
        *value = (double)metrics->different / (double)metrics->count;
        return !metrics->is_float && metrics->count > 0;
    case AMP_METRIC_COUNT:
        break;
    }
    return false;
}

/* ---- tolerances ------------------------------------------------------------------------------ */

/*
 * A rounding to bfloat16 (8 significand bits) is 56 dB below the value at the root mean square, one
 * to float16 (11 bits) 74 dB, one to float32 (24 bits) 152 dB; a hundred layers add some 20 dB of
 * noise. The defaults leave 15 dB more, and are far above what unrelated outputs have: 0 dB and
 * less. Float32 against float32 is the same computation written otherwise: long sums in another
 * order may cost some more there, but what is no float must be the same.
 */
static const struct {
    enum amp_dtype dtype;
    double cosine, snr, differ;
} defaults[] = {
    {AMP_BFLOAT16, .cosine = 0.99, .snr = 20, .differ = 0.1},
    {AMP_FLOAT16, .cosine = 0.999, .snr = 35, .differ = 0.05},
    {AMP_FLOAT, .cosine = 0.9999, .snr = 100, .differ = 0},
};

struct amp_tolerances amp_tolerances_default(enum amp_dtype dtype)
{
    struct amp_tolerances tolerances;
    for (int metric = 0; metric < AMP_METRIC_COUNT; metric++)
        tolerances.bounds[metric] = NAN;
    for (size_t i = 0; i < AMP_COUNT(defaults); i++)
        if (defaults[i].dtype == dtype) {
            tolerances.bounds[AMP_METRIC_COSINE] = defaults[i].cosine;
            tolerances.bounds[AMP_METRIC_SNR] = defaults[i].snr;
            tolerances.bounds[AMP_METRIC_DIFFER] = defaults[i].differ;
        }
    return tolerances;
}

static const char *name_at(size_t i)
{
    return i < AMP_METRIC_COUNT ? table[i].name : NULL;
}

static enum amp_status unknown_metric(const char *name, struct amp_error *err)
{
    const char *nearest = amp_word_nearest_at(name, name_at);
    if (nearest != NULL)
        return amp_fail(err, AMP_USAGE, "unknown metric '%s'; did you mean '%s'?", name, nearest);
    return amp_fail(err, AMP_USAGE,
                    "unknown metric '%s'; known: max_abs, mean_abs, max_rel, rmse, cosine, snr, "
                    "top1, differ",
                    name);
}

enum amp_status amp_tolerances_set(struct amp_tolerances *tolerances, const char *name,
                                   const char *text, struct amp_error *err)
{
    for (int metric = 0; metric < AMP_METRIC_COUNT; metric++) {
        if (strcmp(table[metric].name, name) != 0)
            continue;
        char *end;
        double bound = strtod(text, &end);
        if (end == text || *end != '\0' || isnan(bound))
            return amp_fail(err, AMP_USAGE, "the tolerance of %s: '%s' is no number", name, text);
        tolerances->bounds[metric] = bound;
        return AMP_OK;
    }
    return unknown_metric(name, err);
}

/* Written so that a NaN is outside. */
static enum amp_status check_bound(enum amp_metric metric, double value, double bound,
                                   struct amp_error *err)
{
    bool is_minimum = table[metric].is_minimum;
    if (is_minimum ? value >= bound : value <= bound)
        return AMP_OK;
    return amp_fail(err, AMP_MISMATCH, "%s %.4g%s; at %s %.4g %s", table[metric].name, value,
                    table[metric].unit, is_minimum ? "least" : "most", bound,
                    is_minimum ? "needed" : "allowed");
}

enum amp_status amp_tolerances_check(const struct amp_tolerances *tolerances,
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
    for (int metric = 0; metric < AMP_METRIC_COUNT; metric++) {
        double value, bound = tolerances->bounds[metric];
        if (!isnan(bound) && amp_metrics_value(metrics, metric, &value))
            AMP_TRY(check_bound(metric, value, bound, err));
    }
    return AMP_OK;
}

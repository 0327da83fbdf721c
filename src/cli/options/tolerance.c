/*
 * What --tolerance means: takes the words, gives bounds on metrics and on task metrics and, where
 * outputs are held against expected ones, a tolerance for elements. Compares nothing.
 */
#include "cli/options/tolerance.h"

#include "cli/options/option_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the option that METRIC is measured by is given. */
static bool is_measured(const struct amp_options *options, const struct amp_task_metric *metric)
{
    return strcmp(metric->source, "eval") == 0 ? options->eval != NULL : options->labels.count > 0;
}

static enum amp_status parse_bound(const struct amp_options *options, const char *text,
                                   struct amp_metric_bounds *bounds,
                                   struct amp_task_bounds *task_bounds, struct amp_error *err)
{
    struct amp_option_pair pair;
    AMP_TRY(amp_option_pair_split("tolerance", text, &pair, err));
    const struct amp_task_metric *metric = amp_task_metric_find(pair.name);
    if (metric == NULL)
        return amp_metric_bounds_set(bounds, pair.name, pair.value, err);
    if (!is_measured(options, metric))
        return amp_fail(err, AMP_USAGE, "--tolerance %s goes with --%s", text, metric->source);
    return amp_task_bounds_set(task_bounds, metric, pair.value, err);
}

enum amp_status amp_tolerance_parse(const struct amp_options *options, enum amp_dtype dtype,
                                    struct amp_metric_bounds *bounds,
                                    struct amp_task_bounds *task_bounds, struct amp_error *err)
{
    *bounds = amp_metric_bounds_default(dtype);
    *task_bounds = (struct amp_task_bounds){.items = {{.is_set = false}}};
    for (size_t i = 0; i < options->tolerances.count; i++)
        AMP_TRY(parse_bound(options, options->tolerances.items[i], bounds, task_bounds, err));
    return AMP_OK;
}

static enum amp_status parse_one(struct amp_expected_tolerance *tolerance, const char *text,
                                 struct amp_error *err)
{
    struct amp_option_pair pair;
    char *end;
    AMP_TRY(amp_option_pair_split("tolerance", text, &pair, err));
    bool is_rtol = strcmp(pair.name, "rtol") == 0;
    if (amp_task_metric_find(pair.name) != NULL)
        return amp_fail(err, AMP_USAGE, "--tolerance %s compares two models: 'ampconv run' has one",
                        text);
    if (!is_rtol && strcmp(pair.name, "atol") != 0) {
        tolerance->by_metric = true;
        return amp_metric_bounds_set(&tolerance->bounds, pair.name, pair.value, err);
    }
    double bound = strtod(pair.value, &end);
    if (*end != '\0' || !(bound >= 0))
        return amp_fail(err, AMP_USAGE, "--tolerance %s: a number of 0 or more is needed", text);
    tolerance->by_element = true;
    *(is_rtol ? &tolerance->rtol : &tolerance->atol) = bound;
    return AMP_OK;
}

enum amp_status amp_expected_tolerance_parse(const struct amp_options *options,
                                             struct amp_expected_tolerance *tolerance,
                                             struct amp_error *err)
{
    *tolerance = (struct amp_expected_tolerance){
        .rtol = NAN, .atol = NAN, .bounds = amp_metric_bounds_default(AMP_UNDEFINED)};
    for (size_t i = 0; i < options->tolerances.count; i++)
        AMP_TRY(parse_one(tolerance, options->tolerances.items[i], err));
    tolerance->by_element = tolerance->by_element || !tolerance->by_metric;
    return AMP_OK;
}

struct amp_tolerance amp_expected_tolerance_of(const struct amp_expected_tolerance *tolerance,
                                               enum amp_dtype dtype)
{
    struct amp_tolerance own = amp_tolerance_of(dtype);
    if (!isnan(tolerance->rtol))
        own.rtol = tolerance->rtol;
    if (!isnan(tolerance->atol))
        own.atol = tolerance->atol;
    return own;
}

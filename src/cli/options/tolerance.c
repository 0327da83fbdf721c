/*
 * What --tolerance, --target and --max-drop mean: takes the words, gives bounds on metrics and on
 * task metrics and, where outputs are held against expected ones, a tolerance for elements.
 * Compares nothing.
 */
#include "cli/options/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the bounds that options name ------------------------------------------------------------ */

/* Whether the option that METRIC is measured by is given. */
static bool is_measured(const struct amp_options *options, const struct amp_task_metric *metric)
{
    return strcmp(metric->source, "eval") == 0 ? options->eval != NULL : options->labels.count > 0;
}

/* Whether METRIC is the first of those that its option gives: the score. */
static bool is_score(const struct amp_task_metric *metric)
{
    const struct amp_task_metric *first = amp_task_metric_at(0);
    while (strcmp(first->source, metric->source) != 0)
        first++;
    return first == metric;
}

/* The score in place I of those that the options given have measured; NULL behind the last. */
static const struct amp_task_metric *score_at(const struct amp_options *options, size_t i)
{
    const struct amp_task_metric *metric;
    for (size_t row = 0; (metric = amp_task_metric_at(row)) != NULL; row++)
        if (is_score(metric) && is_measured(options, metric) && i-- == 0)
            return metric;
    return NULL;
}

/* Whether more of the metric called NAME is better: *IS_MINIMUM; false for what is no metric. */
static bool find_direction(const char *name, bool *is_minimum)
{
    const struct amp_metric *metric;
    for (size_t i = 0; (metric = amp_metric_at(i)) != NULL; i++) {
        *is_minimum = metric->is_minimum;
        if (strcmp(metric->name, name) == 0)
            return true;
    }
    *is_minimum = false;
    return amp_task_metric_find(name) != NULL;
}

static enum amp_status split_target(const char *text, struct amp_option_pair *pair,
                                    struct amp_error *err)
{
    bool is_minimum;
    const char *sign = strpbrk(text, "<>=");
    size_t length = sign != NULL ? (size_t)(sign - text) : 0;
    if (length == 0 || length >= sizeof pair->name || *sign == '=' || sign[1] != '=' ||
        sign[2] == '\0')
        return amp_fail(err, AMP_USAGE,
                        "--target %s: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed",
                        text);
    memcpy(pair->name, text, length);
    pair->name[length] = '\0';
    pair->value = sign + 2;
    if (find_direction(pair->name, &is_minimum) && is_minimum != (*sign == '>'))
        return amp_fail(err, AMP_USAGE, "--target %s: %s of %s is better: %s%sVALUE is needed",
                        text, is_minimum ? "more" : "less", pair->name, pair->name,
                        is_minimum ? ">=" : "<=");
    return AMP_OK;
}

size_t amp_named_bound_count(const struct amp_options *options)
{
    size_t count = options->tolerances.count + options->targets.count;
    for (size_t i = 0; options->max_drop != NULL && score_at(options, i) != NULL; i++)
        count++;
    return count;
}

enum amp_status amp_named_bound_at(const struct amp_options *options, size_t i,
                                   struct amp_named_bound *bound, struct amp_error *err)
{
    const struct amp_texts *tolerances = &options->tolerances, *targets = &options->targets;
    if (i < tolerances->count) {
        *bound = (struct amp_named_bound){.option = "tolerance", .text = tolerances->items[i]};
        return amp_option_pair_split("tolerance", bound->text, &bound->pair, err);
    }
    i -= tolerances->count;
    if (i < targets->count) {
        *bound = (struct amp_named_bound){.option = "target", .text = targets->items[i]};
        return split_target(bound->text, &bound->pair, err);
    }
    *bound = (struct amp_named_bound){
        .option = "max-drop", .text = options->max_drop, .pair.value = options->max_drop};
    snprintf(bound->pair.name, sizeof bound->pair.name, "%s",
             score_at(options, i - targets->count)->bound);
    return AMP_OK;
}

/* ---- of conversions -------------------------------------------------------------------------- */

static enum amp_status set_bound(const struct amp_options *options,
                                 const struct amp_named_bound *bound,
                                 struct amp_metric_bounds *bounds,
                                 struct amp_task_bounds *task_bounds, struct amp_error *err)
{
    const struct amp_task_metric *metric = amp_task_metric_find(bound->pair.name);
    if (metric == NULL)
        return amp_metric_bounds_set(bounds, bound->pair.name, bound->pair.value, err);
    if (!is_measured(options, metric))
        return amp_fail(err, AMP_USAGE, "--%s %s goes with --%s", bound->option, bound->text,
                        metric->source);
    return amp_task_bounds_set(task_bounds, metric, bound->pair.value, err);
}

enum amp_status amp_tolerance_parse(const struct amp_options *options, enum amp_dtype dtype,
                                    struct amp_metric_bounds *bounds,
                                    struct amp_task_bounds *task_bounds, struct amp_error *err)
{
    size_t count = amp_named_bound_count(options);
    struct amp_named_bound bound;
    *bounds = amp_metric_bounds_default(dtype);
    *task_bounds = (struct amp_task_bounds){.items = {{.is_set = false}}};
    if (options->max_drop != NULL && score_at(options, 0) == NULL)
        return amp_fail(err, AMP_USAGE, "--max-drop %s goes with --labels or --eval",
                        options->max_drop);
    for (size_t i = 0; i < count; i++) {
        AMP_TRY(amp_named_bound_at(options, i, &bound, err));
        AMP_TRY(set_bound(options, &bound, bounds, task_bounds, err));
    }
    return AMP_OK;
}

/* ---- against expected outputs ---------------------------------------------------------------- */

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

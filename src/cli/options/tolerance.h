#ifndef AMP_CLI_OPTIONS_TOLERANCE_H
#define AMP_CLI_OPTIONS_TOLERANCE_H

#include "check/compare.h"
#include "check/metric_bounds.h"
#include "check/task/task_bounds.h"
#include "cli/options/option_pair.h"
#include "cli/options/options.h"

/* A bound that an option names, in the form that --tolerance has. */
struct amp_named_bound {
    const char *option, *text; /* the option without dashes, and its value */
    struct amp_option_pair pair;
};

/* How many bounds --tolerance, --target and --max-drop name, and the one in place I, of which later
   ones win. AMP_USAGE for what is no bound and for a direction that the metric does not have. */
size_t amp_named_bound_count(const struct amp_options *options);
enum amp_status amp_named_bound_at(const struct amp_options *options, size_t i,
                                   struct amp_named_bound *bound, struct amp_error *err);

/* Reads those bounds for a conversion in which DTYPE is the coarsest type that the models compute
   in: *BOUNDS are the defaults for it with those that the user named, *TASK_BOUNDS those on what it
   costs in the task. AMP_USAGE for what is wrong, and for a bound on what an option that is not
   given would measure. */
enum amp_status amp_tolerance_parse(const struct amp_options *options, enum amp_dtype dtype,
                                    struct amp_metric_bounds *bounds,
                                    struct amp_task_bounds *task_bounds, struct amp_error *err);

/* How outputs are held against expected ones: element by element, by metrics where --tolerance
   names some, by both where it names rtol or atol too. */
struct amp_expected_tolerance {
    bool by_element, by_metric;
    double rtol, atol; /* NaN: the dtype's own */
    struct amp_metric_bounds bounds;
};

/* Reads --tolerance rtol=, atol= and METRIC= for outputs that are held against expected ones.
   AMP_USAGE for what is wrong. */
enum amp_status amp_expected_tolerance_parse(const struct amp_options *options,
                                             struct amp_expected_tolerance *tolerance,
                                             struct amp_error *err);

/* The tolerance for elements of DTYPE. */
struct amp_tolerance amp_expected_tolerance_of(const struct amp_expected_tolerance *tolerance,
                                               enum amp_dtype dtype);

#endif

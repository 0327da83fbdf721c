#ifndef AMP_CLI_TOLERANCE_H
#define AMP_CLI_TOLERANCE_H

#include "check/compare.h"
#include "check/metrics.h"
#include "cli/options.h"

/* How outputs are held against expected ones: element by element, by metrics where --tolerance
   names some, by both where it names rtol or atol too. */
struct amp_bounds {
    bool by_element, by_metric;
    double rtol, atol; /* NaN: the dtype's own */
    struct amp_tolerances metrics;
};

/* Takes apart --tolerance rtol=, atol= and METRIC=. AMP_USAGE for what is wrong. */
enum amp_status amp_bounds_parse(const struct amp_options *options, struct amp_bounds *bounds,
                                 struct amp_error *err);

/* The tolerance for elements of DTYPE. */
struct amp_tolerance amp_bounds_of(const struct amp_bounds *bounds, enum amp_dtype dtype);

#endif

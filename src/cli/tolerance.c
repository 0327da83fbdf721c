/*
 * What --tolerance means where there are expected values.
 */
#include "cli/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum amp_status parse_bound(struct amp_bounds *bounds, const char *text,
                                   struct amp_error *err)
{
    char name[64], *end;
    const char *value;
    AMP_TRY(amp_option_pair("tolerance", text, name, sizeof name, &value, err));
    bool is_rtol = strcmp(name, "rtol") == 0;
    if (!is_rtol && strcmp(name, "atol") != 0) {
        bounds->by_metric = true;
        return amp_tolerances_set(&bounds->metrics, name, value, err);
    }
    double bound = strtod(value, &end);
    if (*end != '\0' || !(bound >= 0))
        return amp_fail(err, AMP_USAGE, "--tolerance %s: a number of 0 or more is needed", text);
    bounds->by_element = true;
    *(is_rtol ? &bounds->rtol : &bounds->atol) = bound;
    return AMP_OK;
}

enum amp_status amp_bounds_parse(const struct amp_options *options, struct amp_bounds *bounds,
                                 struct amp_error *err)
{
    *bounds = (struct amp_bounds){
        .rtol = NAN, .atol = NAN, .metrics = amp_tolerances_default(AMP_UNDEFINED)};
    for (size_t i = 0; i < options->tolerances.count; i++)
        AMP_TRY(parse_bound(bounds, options->tolerances.items[i], err));
    bounds->by_element = bounds->by_element || !bounds->by_metric;
    return AMP_OK;
}

struct amp_tolerance amp_bounds_of(const struct amp_bounds *bounds, enum amp_dtype dtype)
{
    struct amp_tolerance tolerance = amp_tolerance_of(dtype);
    if (!isnan(bounds->rtol))
        tolerance.rtol = bounds->rtol;
    if (!isnan(bounds->atol))
        tolerance.atol = bounds->atol;
    return tolerance;
}

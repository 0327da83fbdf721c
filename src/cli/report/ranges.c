/*
 * What ranges are of, and what a calibration saw, as text and JSON. Takes ranges; judges no node.
 */
#include "cli/report/ranges.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/print.h"
#include "core/graph/graph.h"

#include <math.h>

const char *amp_ranges_text(const struct amp_ranges *ranges, char *text, size_t size)
{
    const char *plural = ranges->n_samples == 1 ? "" : "s";
    if (ranges->source == AMP_RANGES_UNSEEN)
        snprintf(text, size, "only what is proved");
    else
        snprintf(text, size, "seen in %zu sample%s of %s%s%s", ranges->n_samples, plural,
                 ranges->source == AMP_RANGES_DATA ? "data" : "random inputs",
                 ranges->path != NULL ? ", by " : "", ranges->path != NULL ? ranges->path : "");
    return text;
}

void amp_report_calibration(FILE *file, const char *model_path, const struct amp_ranges *ranges)
{
    char text[512];
    size_t n_seen = 0, n_beyond = 0;
    const struct amp_value_range *largest = NULL;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct amp_value_range *range = &ranges->items[i];
        double magnitude = amp_range_largest(&range->seen);
        n_seen += range->seen.count > 0;
        n_beyond += magnitude > amp_dtype_max(AMP_FLOAT16);
        if (largest == NULL || magnitude > amp_range_largest(&largest->seen))
            largest = range;
    }
    amp_print(file, "%s: %zu values %s; %zu beyond float16\n", model_path, n_seen,
              amp_ranges_text(ranges, text, sizeof text), n_beyond);
    if (largest != NULL)
        amp_print(file, AMP_REPORT_LABEL "'%s' reaches %.4g\n", "largest", largest->name,
                  amp_range_largest(&largest->seen));
}

void amp_report_unknown_ranges(FILE *file, const struct amp_ranges *ranges,
                               const struct amp_model *model)
{
    const char *first;
    size_t count = amp_ranges_count_unknown(ranges, model, &first);
    if (count > 0)
        amp_print(file, "ampconv: warning: %s: %zu of %zu values are not in %s, '%s' first\n",
                  ranges->path, count, ranges->count, model->path, first);
}

void amp_report_evidence(FILE *file, enum amp_reason reason, double number,
                         enum amp_range_source seen)
{
    if (reason == AMP_REASON_WEIGHT_FLUSH)
        amp_print(file, ": %.3g %% of its energy", 100 * number);
    else if (isfinite(number))
        amp_print(file, ": %.4g %s", number, amp_range_evidence(seen));
    else
        fputs(": of any size", file);
}

json_t *amp_json_ranges(const struct amp_ranges *ranges)
{
    if (ranges == NULL)
        return json_null();
    json_t *object = json_object();
    amp_json_set(object, "source", json_string(amp_range_source_name(ranges->source)));
    amp_json_set(object, "samples", amp_json_count(ranges->n_samples));
    amp_json_set(object, "file", amp_json_text_or_null(ranges->path));
    return object;
}

#ifndef AMP_CLI_REPORT_RANGES_H
#define AMP_CLI_REPORT_RANGES_H

#include "autocast/ranges/ranges.h"
#include "autocast/reason.h"

#include <stdio.h>

#include <jansson.h>

/* Prints how many values of the model at MODEL_PATH were looked at, on what, and how many reach
   beyond float16; then the value of the largest magnitude. */
void amp_report_calibration(FILE *file, const char *model_path, const struct amp_ranges *ranges);

/* "seen in 3 samples of data", "seen in 1 sample of random inputs", "r.json: ...": what RANGES are
   of, in TEXT of SIZE bytes, which it returns. */
const char *amp_ranges_text(const struct amp_ranges *ranges, char *text, size_t size);

/* Warns of entries of RANGES that MODEL has no value for; nothing where there are none. */
void amp_report_unknown_ranges(FILE *file, const struct amp_ranges *ranges,
                               const struct amp_model *model);

/* Prints what a guard of REASON goes by: ": 4.1e+10 in data", ": 1e-12 proved", ": 27 % of its
   energy" or, of a number that is not finite, ": of any size". */
void amp_report_evidence(FILE *file, enum amp_reason reason, double number,
                         enum amp_range_source seen);

/* {"source", "samples", "file"}: a new reference; null where RANGES is NULL. */
json_t *amp_json_ranges(const struct amp_ranges *ranges);

#endif

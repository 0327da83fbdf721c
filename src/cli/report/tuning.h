#ifndef AMP_CLI_REPORT_TUNING_H
#define AMP_CLI_REPORT_TUNING_H

#include "tune/tuning.h"

#include <jansson.h>
#include <stdio.h>

/* What a search came to, in five lines: what the model was, what it is, what that costs, what
   remains float32, and why. VERBOSITY 1 and above: all trials and units. */
void amp_report_tuning(FILE *file, const struct amp_tuning *tuning, int verbosity);

/* The same with all trials and what the answer keeps, as a new reference. */
json_t *amp_json_tuning(const struct amp_tuning *tuning);

#endif

#ifndef AMP_CLI_REPORT_LOSSES_H
#define AMP_CLI_REPORT_LOSSES_H

#include "core/graph/graph.h"

#include <stdio.h>

#include <jansson.h>

/*
 * Both report what the constants of MODEL lost beyond rounding when they were converted (struct
 * amp_losses). Large constants are converted when they are written or run: call these afterwards.
 */

/* Prints a line with the totals, and one for each tensor when VERBOSITY is above 0; nothing when
   nothing was lost. */
void amp_report_losses(FILE *file, const struct amp_model *model, int verbosity);

/* {"saturated": 2, "zeroed": 0, "subnormal": 1, "tensors": [{"name": "mask", "dtype": "float16",
   "elements": 64, "saturated": 2, ...}, ...]}; a new reference. */
json_t *amp_json_losses(const struct amp_model *model);

#endif

#ifndef AMP_CLI_REPORT_VALIDATION_H
#define AMP_CLI_REPORT_VALIDATION_H

#include "check/validate.h"

#include <stdio.h>

#include <jansson.h>

/*
 * Prints a line for the worst output (VERBOSITY above 0: a line per output with all metrics), one
 * for the selection that differs most, if one does (VERBOSITY above 0: a line per selection), one
 * for each task metric where there are labels, one for what a command said, one for nodes that had
 * no native kernel, one for nodes that cut without the dim, and the verdict with its bounds.
 */
void amp_report_validation(FILE *file, const struct amp_validation *validation, int verbosity);

/*
 * {"within": true, "reason", "samples": 1, "error_power": 0.01, "tolerances": {"snr": 20.0, ...},
 * "outputs": [{"name", "dtype", "shape", "elements", "metrics": {"snr": ...}, "nan": {"reference",
 * "converted"}, "infinite", "selection", "selected_otherwise", "given_selection", "within",
 * "reason"}, ...], "selections": [{"node", "items", "larger", "otherwise"}, ...], "accuracy":
 * {"output", "reference": {"rows", "right", "percent"}, "converted"}, "tasks": [...], "eval":
 * {...}, "widened_nodes": {"reference", "converted"}, "squeezed_nodes", "seconds": {...}}: a new
 * reference. "selection" to "given_selection" only of outputs that are behind one, "selections"
 * only where there are any; "reason" only where something is outside, the first of it;
 * "error_power" is amp_validation_error_power, null where that is infinite; "accuracy" only with
 * labels of classes, "tasks" only with labels, "eval" only with a command (cli/report/task.h).
 */
json_t *amp_json_validation(const struct amp_validation *validation);

#endif

#ifndef AMP_CLI_REPORT_JSON_H
#define AMP_CLI_REPORT_JSON_H

#include "cli/inputs.h"

#include <jansson.h>

/* New references throughout; numbers that JSON does not have (NaN, infinities) are null. */

/* [{"name": "image", "source": "'image' float32 [1, 1, 8, 8]: random, seed 0"}, ...] */
json_t *amp_json_inputs(const struct amp_inputs *inputs);

/*
 * {"within": true, "samples": 1, "tolerances": {"snr": 20.0, ...}, "outputs": [{"name", "dtype",
 * "shape", "elements", "metrics": {"snr": ...}, "nan": {"reference", "converted"}, "infinite",
 * "within", "reason"}, ...], "accuracy": {"output", "reference": {"rows", "right", "percent"},
 * "converted"}, "widened_nodes": {"reference", "converted"}, "seconds": {...}}; "reason" only where
 * an output is outside, "accuracy" only with labels.
 */
json_t *amp_json_validation(const struct amp_validation *validation);

json_t *amp_json_metrics(const struct amp_metrics *metrics);    /* those that are defined */
json_t *amp_json_accuracy(const struct amp_accuracy *accuracy); /* rows, right, percent */
json_t *amp_json_number(double value);
json_t *amp_json_count(uint64_t count);
json_t *amp_json_shape(const struct amp_shape *shape);
/* {FIRST: A, SECOND: B} */
json_t *amp_json_pair(const char *first, uint64_t a, const char *second, uint64_t b);
json_t *amp_json_text(const char *text); /* names in a model need not be UTF-8 */

/* Sets KEY of OBJECT to VALUE, whose reference it takes over. */
void amp_json_set(json_t *object, const char *key, json_t *value);

/* ROOT as text, to be freed, with jansson's FLAGS; drops the reference. NULL when memory is out.
   Characters that are not shown (core/print.h) are escaped, so that the text is fit for a terminal
   and means the same. */
char *amp_json_dump(json_t *root, size_t flags);

/* Writes ROOT to PATH ("-": stdout), whole or not at all, and drops the reference. */
enum amp_status amp_json_write(json_t *root, const char *path, struct amp_error *err);

#endif

#ifndef AMP_CLI_REPORT_JSON_H
#define AMP_CLI_REPORT_JSON_H

#include "cli/inputs.h"

#include <jansson.h>

/* New references throughout; numbers that JSON does not have (NaN, infinities) are null. */

/* [{"name": "image", "source": "input 'image' float32 [1, 1, 8, 8]: random, seed 0"}, ...] */
json_t *amp_json_inputs(const struct amp_inputs *inputs);

/* {"within": true, "samples": 1, "outputs": [{"name", "metrics": {"snr": ...}, ...}], ...} */
json_t *amp_json_validation(const struct amp_validation *validation);

json_t *amp_json_number(double value);
json_t *amp_json_shape(const struct amp_shape *shape);

/* Writes ROOT to PATH ("-": stdout), whole or not at all, and drops the reference. */
enum amp_status amp_json_write(json_t *root, const char *path, struct amp_error *err);

#endif

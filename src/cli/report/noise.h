#ifndef AMP_CLI_REPORT_NOISE_H
#define AMP_CLI_REPORT_NOISE_H

#include "check/noise.h"

#include <jansson.h>
#include <stdio.h>

/* Prints the total, predicted and measured, and the sources that add most to it. */
void amp_report_noise(FILE *file, const struct amp_noise *noise);

/* NOISE as JSON, all sources of it: a new reference. */
json_t *amp_json_noise(const struct amp_noise *noise);

#endif

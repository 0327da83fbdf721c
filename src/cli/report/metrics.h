#ifndef AMP_CLI_REPORT_METRICS_H
#define AMP_CLI_REPORT_METRICS_H

#include "check/metrics.h"

#include <stdio.h>

#include <jansson.h>

/* Prints the metrics that are defined as a part of a line: "snr 45.1 dB, cosine 0.99998"; only the
   brief ones of the table of metrics if IS_BRIEF. */
void amp_report_metrics(FILE *file, const struct amp_metrics *metrics, bool is_brief);

/* {"snr": 45.1, ...}, the metrics that are defined: a new reference. */
json_t *amp_json_metrics(const struct amp_metrics *metrics);

#endif

#ifndef AMP_CLI_REPORT_BATCH_H
#define AMP_CLI_REPORT_BATCH_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* What became of several models. */
struct amp_batch_report {
    json_t *models;                          /* the report of each, as ampconv-report(5) has it */
    size_t n_converted, n_outside, n_failed; /* set at the end */
    char summary[128]; /* "3 models: 1 converted, 1 outside tolerance, 1 failed" */
};

/* Prints a line of model I; with FAILURES_ONLY nothing of one that was converted. */
void amp_report_batch_line(FILE *file, const struct amp_batch_report *report, size_t i,
                           bool failures_only);

/* Counts what became of the models. The status that goes with the highest of their exit codes. */
enum amp_status amp_batch_report_end(struct amp_batch_report *report);

/* {"summary": {"models", "converted", "outside", "failed"}, "models": [...]}: a new reference. */
json_t *amp_json_batch(const struct amp_batch_report *report);

/* Writes a table of the models as a page of HTML to PATH, whole or not at all. AMP_IO when that
   fails. */
enum amp_status amp_html_batch_page(const struct amp_batch_report *report, const char *path,
                                    struct amp_error *err);

#endif

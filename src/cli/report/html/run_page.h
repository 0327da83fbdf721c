#ifndef AMP_CLI_REPORT_HTML_RUN_PAGE_H
#define AMP_CLI_REPORT_HTML_RUN_PAGE_H

#include "cli/report/html/models.h"
#include "cli/report/run.h"

/* What the report of a run shows. */
struct amp_run_page {
    const struct amp_run_result *result;
    const struct amp_input_notes *inputs;
    struct amp_html_model model;
};

/* Writes the report to PATH, whole or not at all. */
enum amp_status amp_html_run_page(const struct amp_run_page *page, const char *path,
                                  struct amp_error *err);

#endif

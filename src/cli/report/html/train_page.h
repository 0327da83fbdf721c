#ifndef AMP_CLI_REPORT_HTML_TRAIN_PAGE_H
#define AMP_CLI_REPORT_HTML_TRAIN_PAGE_H

#include "cli/report/html/models.h"
#include "cli/report/training.h"

/* What the report of training shows. */
struct amp_train_page {
    const struct amp_training_result *result;
    const struct amp_input_notes *inputs;
    struct amp_html_model model; /* a step */
};

/* Writes the report to PATH, whole or not at all. */
enum amp_status amp_html_train_page(const struct amp_train_page *page, const char *path,
                                    struct amp_error *err);

#endif

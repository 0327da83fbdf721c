#ifndef AMP_CLI_REPORT_HTML_COMPARE_PAGE_H
#define AMP_CLI_REPORT_HTML_COMPARE_PAGE_H

#include "cli/report/html/compared.h"

/* What the report of a comparison shows. */
struct amp_compare_page {
    struct amp_html_compared compared;
    const char *dtype; /* to which the reference was converted; NULL: there are two models */
};

/* Writes the report to PATH, whole or not at all. */
enum amp_status amp_html_compare_page(const struct amp_compare_page *page, const char *path,
                                      struct amp_error *err);

#endif

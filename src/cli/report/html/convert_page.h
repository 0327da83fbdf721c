#ifndef AMP_CLI_REPORT_HTML_CONVERT_PAGE_H
#define AMP_CLI_REPORT_HTML_CONVERT_PAGE_H

#include "cli/report/html/compared.h"

struct amp_conversion;  /* cli/report/conversion.h */
struct amp_explanation; /* cli/report/explanation.h */
struct amp_tuning;      /* tune/tuning.h */

/* What the report of a conversion shows. */
struct amp_convert_page {
    struct amp_html_compared compared;
    const struct amp_conversion *conversion;
    const struct amp_explanation *explanation; /* NULL: there is none */
    const struct amp_tuning *tuning;           /* NULL: not tuned */
    bool is_written;                           /* the model */
};

/* Writes the report to PATH, whole or not at all. */
enum amp_status amp_html_convert_page(const struct amp_convert_page *page, const char *path,
                                      struct amp_error *err);

#endif

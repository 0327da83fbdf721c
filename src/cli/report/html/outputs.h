#ifndef AMP_CLI_REPORT_HTML_OUTPUTS_H
#define AMP_CLI_REPORT_HTML_OUTPUTS_H

#include "cli/report/html/document.h"

struct amp_deviations; /* check/deviations.h */
struct amp_validation; /* check/validate.h */

/* Draws how the errors of the output called NAME are spread: a histogram of their magnitudes, and
   the converted values against the reference's. */
void amp_html_deviations(struct amp_html *html, const char *name,
                         const struct amp_deviations *deviations);

/* Whether anything was gathered on the errors of an output. */
bool amp_html_has_deviations(const struct amp_validation *validation);

/* Draws that for the outputs of VALIDATION, those outside their tolerance first, a few of many. */
void amp_html_outputs(struct amp_html *html, const struct amp_validation *validation);

#endif

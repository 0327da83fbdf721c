#ifndef AMP_CLI_REPORT_HTML_TUNING_H
#define AMP_CLI_REPORT_HTML_TUNING_H

#include "cli/report/html/document.h"

struct amp_tuning; /* tune/tuning.h */

/* Writes what TUNING came to: whether the criterion can be met, cost against error of all that was
   tried, the trials, and the units that remain in float32, the largest twenty with their names. */
void amp_html_tuning(struct amp_html *html, const struct amp_tuning *tuning);

#endif

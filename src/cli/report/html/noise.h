#ifndef AMP_CLI_REPORT_HTML_NOISE_H
#define AMP_CLI_REPORT_HTML_NOISE_H

#include "cli/report/html/document.h"

struct amp_noise; /* check/noise.h */

/* Draws what the sources of NOISE add to the outputs' error, the largest twenty with their names,
   and holds the sum against what was measured. */
void amp_html_noise(struct amp_html *html, const struct amp_noise *noise);

/* The index of the source that adds most; SIZE_MAX: none adds anything. */
size_t amp_html_noise_largest(const struct amp_noise *noise);

#endif

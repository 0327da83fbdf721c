#ifndef AMP_CLI_REPORT_HTML_FINDINGS_H
#define AMP_CLI_REPORT_HTML_FINDINGS_H

#include "cli/report/html/document.h"

struct amp_layers; /* check/layers.h */
struct amp_noise;  /* check/noise.h */

/* Says in sentences where the error comes from, the most likely place first, and how that node is
   kept in float32. LAYERS, NOISE: NULL where there are none. */
void amp_html_findings(struct amp_html *html, const struct amp_layers *layers,
                       const struct amp_noise *noise);

#endif

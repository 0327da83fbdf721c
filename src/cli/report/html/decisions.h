#ifndef AMP_CLI_REPORT_HTML_DECISIONS_H
#define AMP_CLI_REPORT_HTML_DECISIONS_H

#include "cli/report/html/document.h"

struct amp_explanation; /* cli/report/explanation.h */

/* Writes a table of the rules and constraints that decided, with how many nodes each, the one of
   the most nodes first, and one of all nodes, which the reader opens. */
void amp_html_decisions(struct amp_html *html, const struct amp_explanation *explanation);

#endif

#ifndef AMP_CLI_REPORT_HTML_TIMING_H
#define AMP_CLI_REPORT_HTML_TIMING_H

#include "check/bench.h"
#include "cli/report/html/document.h"

/* Each writes a part of what BENCH says; those after the first need profiles. */

/* The times of a run by dtype. */
void amp_html_times(struct amp_html *html, const struct amp_bench *bench);

/* What the time goes to, by operator, the dtypes beside each other. */
void amp_html_operator_times(struct amp_html *html, const struct amp_bench *bench);

/* How fast nodes with products are, over their operations per byte, and what bounds them. */
void amp_html_roofline(struct amp_html *html, const struct amp_bench *bench);

/* The nodes that take the most time, with the ways in which they ran. */
void amp_html_node_times(struct amp_html *html, const struct amp_bench *bench);

#endif

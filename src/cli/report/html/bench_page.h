#ifndef AMP_CLI_REPORT_HTML_BENCH_PAGE_H
#define AMP_CLI_REPORT_HTML_BENCH_PAGE_H

#include "check/bench.h"
#include "cli/report/html/document.h"

/* Begins the report of a bench of N_RUNS of every model and dtype. The models follow, one by one;
   then amp_html_write. To be destroyed. */
struct amp_html *amp_html_bench_begin(size_t n_runs);

/* Adds the model at PATH, whose BENCH is profiled. */
void amp_html_bench_add(struct amp_html *html, const char *path, const struct amp_bench *bench);

#endif

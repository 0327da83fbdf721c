#ifndef AMP_CLI_REPORT_BENCH_H
#define AMP_CLI_REPORT_BENCH_H

#include "check/bench.h"

#include <stdio.h>

#include <jansson.h>

/* Prints the table's first lines: the machine, then the columns. N_RUNS: of every model and dtype.
 */
void amp_report_bench_head(FILE *file, size_t n_runs);

/* Prints a line per side of the model at PATH. */
void amp_report_bench(FILE *file, const char *path, const struct amp_bench *bench);

/* {"model", "flops", "results": [{"dtype", "median_ms", "min_ms", "speedup", "gflops", "roofline",
   "share", "peak_bytes", "widened_nodes", "profile"}, ...]}: see man ampconv. A new reference. */
json_t *amp_json_bench(const char *path, const struct amp_bench *bench);

/* {"threads", "isa", "onednn", "runs", "models": MODELS}: a new reference; takes over MODELS. */
json_t *amp_json_bench_all(size_t n_runs, json_t *models);

#endif

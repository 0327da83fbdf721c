#ifndef AMP_CLI_REPORT_BENCH_H
#define AMP_CLI_REPORT_BENCH_H

#include "check/bench.h"

#include <stdio.h>

#include <jansson.h>

/* How many times as fast as the side in float32 SIDE is; 0 when there is no side in float32. */
double amp_bench_speedup(const struct amp_bench *bench, const struct amp_bench_side *side);

/* GFLOP/s of products in a run of SIDE. */
double amp_bench_gflops(const struct amp_bench *bench, const struct amp_bench_side *side);

/* GFLOP/s of the machine's product of matrices in the side's dtype; 0 when it has none. */
double amp_bench_roofline(const struct amp_bench_side *side);

/* The fraction of the product's speed that a run reaches; 0 when there is no product. */
double amp_bench_share(const struct amp_bench *bench, const struct amp_bench_side *side);

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

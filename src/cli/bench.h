#ifndef AMP_CLI_BENCH_H
#define AMP_CLI_BENCH_H

#include "check/bench.h"

#include <stdio.h>

#include <jansson.h>

/* The table's first lines: the machine, then the columns. */
void amp_report_bench_head(FILE *file, size_t n_runs);

/* A line per side of the model at PATH. */
void amp_report_bench(FILE *file, const char *path, const struct amp_bench *bench);

/* {"model", "flops", "results": [{"dtype", "median_ms", "min_ms", "speedup", "gflops", "roofline",
   "share", "peak_bytes", "widened_nodes", "profile"}, ...]}: see man ampconv. A new reference. */
json_t *amp_json_bench(const char *path, const struct amp_bench *bench);

/* {"threads", "isa", "onednn", "runs", "models": MODELS}; takes over MODELS. */
json_t *amp_json_bench_all(size_t n_runs, json_t *models);

/* Where SIDE's time goes, sorted: by operator, node and oneDNN primitive, and the shares of
   reorders and casts. The longest 15 of each; all of them when VERBOSITY is above 0. */
void amp_report_profile(FILE *file, const struct amp_bench_side *side, size_t n_runs,
                        int verbosity);

/* The same: {"ms", "reorder_share", "cast_share", "nodes": [{"name", "op", "ms", "gflops"}, ...],
   "primitives": [{"kind", "implementation", "layouts", "calls", "ms"}, ...]}, of one run. */
json_t *amp_json_profile(const struct amp_bench_side *side, size_t n_runs);

#endif

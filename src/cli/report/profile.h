#ifndef AMP_CLI_REPORT_PROFILE_H
#define AMP_CLI_REPORT_PROFILE_H

#include "check/bench.h"

#include <stdio.h>

#include <jansson.h>

/* Prints where SIDE's time goes in one of its N_RUNS profiled runs: by operator, node and oneDNN
   primitive, longest first, and the shares of reorders and casts. The longest 15 of each; all of
   them when VERBOSITY is above 0. */
void amp_report_profile(FILE *file, const struct amp_bench_side *side, size_t n_runs,
                        int verbosity);

/* {"ms", "reorder_share", "cast_share", "nodes": [{"name", "op", "ms", "gflops"}, ...],
   "primitives": [{"kind", "implementation", "layouts", "calls", "ms"}, ...]}, of one of N_RUNS
   profiled runs: a new reference. */
json_t *amp_json_profile(const struct amp_bench_side *side, size_t n_runs);

#endif

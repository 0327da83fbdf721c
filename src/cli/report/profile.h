#ifndef AMP_CLI_REPORT_PROFILE_H
#define AMP_CLI_REPORT_PROFILE_H

#include "check/bench.h"

#include <stdio.h>

#include <jansson.h>

/* A line of a table: nodes or primitives that are summed. */
struct amp_profile_line {
    const char *group;            /* operator, or kind of primitive */
    const char *detail, *extra;   /* implementation and layouts; "" for nodes */
    const struct amp_node *node;  /* one of the nodes; NULL for primitives */
    const char *way;              /* in which it ran, and why; NULL for primitives */
    double calls, seconds, flops; /* of one run */
    double bytes;                 /* taken and given in one run; 0 for primitives */
};

struct amp_profile_lines {
    struct amp_profile_line *items; /* those of the most time first; to be freed */
    size_t count;
};

/* Sums the nodes of SIDE's profile of N_RUNS by operator; where BY_NODE each has a line of its own.
 */
struct amp_profile_lines amp_profile_collect(const struct amp_bench_side *side, size_t n_runs,
                                             bool by_node);

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

#ifndef AMP_TUNE_MIN_CUT_H
#define AMP_TUNE_MIN_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it costs when the two nodes are on different sides. */
struct amp_cut_edge {
    uint32_t a, b;
    int64_t weight; /* >= 0 */
};

/* Whole numbers, so that which choice is best is no matter of rounding. The magnitudes of all gains
   and twice all weights together are below 2^62. */
struct amp_min_cut {
    size_t n_nodes;
    const int64_t *gains; /* per node: what it gains to be on the source side; may be below 0 */
    const struct amp_cut_edge *edges;
    size_t n_edges; /* below 2^31 */
};

/*
 * Sets IS_SOURCE, an entry per node, to the least set that minimises the weights of the edges it
 * parts less the gains of its nodes: a minimum cut, found as a maximum flow by pushing and
 * relabelling, first in, first out (Goldberg and Tarjan, 1988; Cherkassky and Goldberg, 1997).
 * Returns a measure of the work that it took, about one per node at least, the same everywhere.
 */
size_t amp_min_cut_solve(const struct amp_min_cut *cut, bool *is_source);

#endif

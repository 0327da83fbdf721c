#ifndef AMP_RUN_REWRITE_FUSE_COMPOSITES_H
#define AMP_RUN_REWRITE_FUSE_COMPOSITES_H

#include "core/graph/graph.h"

/*
 * Private to run/: gives a copy of MODEL, in ARENA, that computes the same with fewer nodes.
 * Composites (pattern/composites.h) become the operators that they stand for, what a node only
 * reshapes of a constant becomes a constant, a Sum of two becomes an Add, a BatchNormalization
 * after a Conv goes into its weights, and a Reshape between a product and its post-ops moves behind
 * them; and nodes of quantized models work on integers (run/rewrite/integer_nodes.h), which sets
 * *N_INTEGER to their number. Results differ from MODEL's by the roundings to a dtype that no
 * longer happen in between.
 */
struct amp_model *amp_composites_fuse(const struct amp_model *model, struct amp_arena *arena,
                                      size_t *n_integer);

#endif

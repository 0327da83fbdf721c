#ifndef AMP_AUTOCAST_RANGES_BOUNDS_H
#define AMP_AUTOCAST_RANGES_BOUNDS_H

#include "autocast/ranges/ranges.h"

#include <stdint.h>

struct amp_node; /* core/graph/graph.h */

/*
 * Bounds of a model's values that hold whatever its inputs are: interval arithmetic from
 * constants, types of integers, and what operators say of their results (amp_op.bound). They say
 * nothing of NaN and of what is computed from it; dims that are not known count as 1 at least.
 */
struct amp_bounds;

/*
 * Bounds of all values of MODEL, whose types are inferred and which must not change before they are
 * destroyed. KNOWN (NULL: none) may have bounds of graph inputs, which are taken for true.
 * READS_WEIGHTS: sums over all constants are made where they matter; without that only small
 * constants are read, and products with others have no bound.
 */
struct amp_bounds *amp_bounds_create(const struct amp_model *model, const struct amp_ranges *known,
                                     bool reads_weights);
void amp_bounds_destroy(struct amp_bounds *bounds); /* NULL is fine */

/* What is proved of VALUE. */
struct amp_interval amp_bounds_of(const struct amp_bounds *bounds, uint32_t value);

/* What output 0 of NODE, a product, and its partial sums would be within if its inputs were within
   IN, weights read; bounds of magnitude ENOUGH need not be any closer. */
struct amp_interval amp_bounds_from(const struct amp_model *model, const struct amp_node *node,
                                    const struct amp_interval *in, double enough);

/* Adds to RANGES what is proved of the inputs of MODEL's main graph and of the outputs of its
   nodes. */
void amp_bounds_note(const struct amp_model *model, struct amp_ranges *ranges);

#endif

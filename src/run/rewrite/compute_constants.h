#ifndef AMP_RUN_REWRITE_COMPUTE_CONSTANTS_H
#define AMP_RUN_REWRITE_COMPUTE_CONSTANTS_H

#include "core/graph/graph.h"

/*
 * Private to run/: makes constants of values that nodes compute of nothing but constants, for all
 * that looks for constants after this. That is done where it takes next to no memory: what a
 * reshaping operator gives, and vectors of a few KB (scales, shifts, axes, shapes); and where it
 * pays, for weights into which a chain of scales can then be folded. Kernels in C compute them in
 * the model's own dtypes, as a run would. Outputs of graphs and what needs a kernel of oneDNN stay
 * as they are, and so do other weights, which a run lets go when kernels have forms of their own.
 */

/* Weights that have been made constants. */
struct amp_computed {
    struct amp_computed_value {
        uint32_t id;
        void *memory; /* of the model's arena: SIZE bytes, in which the data lie */
        size_t size;
    } * values;
    size_t count, capacity;
};

void amp_constants_compute(struct amp_model *model, struct amp_computed *computed);

/* Gives up the data of those that nothing reads any more. */
void amp_constants_drop_unread(struct amp_model *model, const struct amp_computed *computed);

#endif

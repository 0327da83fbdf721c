#ifndef AMP_OPS_ML_TREE_CHECK_H
#define AMP_OPS_ML_TREE_CHECK_H

#include "ops/ml/tree.h"

/*
 * Steps of making an ensemble of trees (ops/ml/tree_read.c). All fail with AMP_MODEL.
 */

/* More nodes than this do not fit the numbers of a node's children. */
enum { AMP_TREE_NODES_MAX = INT32_MAX / 2 };

/* How messages name nodes: by the numbers that the attributes give them. */
struct amp_tree_names {
    const int64_t *trees, *nodes; /* NULL: nodes are numbered as they come */
};

/* The name of NODE, an index, in TEXT. */
const char *amp_tree_name(const struct amp_tree_names *names, int64_t node, char text[64]);

/* That there are nodes, and not too many. */
enum amp_status amp_trees_check_count(struct amp_ctx *ctx, int64_t n_nodes);

/* The list of ints in attribute NAME with COUNT elements, one for each of WHAT. */
enum amp_status amp_tree_ints(struct amp_ctx *ctx, const char *name, int64_t count,
                              const char *what, const int64_t **ints);

/* The list of ints in attribute NAME with COUNT elements, one for each of WHAT; NULL where it is
   absent or empty. */
enum amp_status amp_tree_ints_any(struct amp_ctx *ctx, const char *name, int64_t count,
                                  const char *what, const int64_t **ints);

/* Gives node NODE the number of its feature. */
enum amp_status amp_tree_set_feature(struct amp_ctx *ctx, struct amp_trees *trees, int64_t node,
                                     int64_t feature, const struct amp_tree_names *names);

/* That targets of weights are below n_targets and no node leads back to itself; children are in
   range already. Counts the features;
   sets trees->mode and where leaves lead. */
enum amp_status amp_trees_check(struct amp_ctx *ctx, struct amp_trees *trees,
                                const struct amp_tree_names *names);

#endif

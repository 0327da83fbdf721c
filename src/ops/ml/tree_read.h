#ifndef AMP_OPS_ML_TREE_READ_H
#define AMP_OPS_ML_TREE_READ_H

#include "ops/ml/tree.h"

/*
 * Makes ensembles of trees from the attributes of ai.onnx.ml's operators. AMP_MODEL, with the
 * node's numbers, unless the attributes make trees: children exist and no node leads back to itself
 * (two may share a child), targets are below N_TARGETS. The contents are to be destroyed in any
 * case.
 */

/* TreeEnsembleClassifier and TreeEnsembleRegressor (ai.onnx.ml 1 to 5): lists of nodes of all trees
   and, under PREFIX_ids, PREFIX_nodeids ..., of weights: "class" or "target". */
enum amp_status amp_trees_read_lists(struct amp_ctx *ctx, const char *prefix, int64_t n_targets,
                                     struct amp_trees *trees);

/* TreeEnsemble (ai.onnx.ml 5): lists of branches, leaves and roots. */
enum amp_status amp_trees_read(struct amp_ctx *ctx, int64_t n_targets, struct amp_trees *trees);

void amp_trees_destroy(struct amp_trees *trees);

#endif

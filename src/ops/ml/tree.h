#ifndef AMP_OPS_ML_TREE_H
#define AMP_OPS_ML_TREE_H

#include "ops/ml/ml.h"

/*
 * Ensembles of decision trees as they are evaluated, made once from a node's attributes.
 */

/* Branches as TreeEnsemble-5 numbers them, and leaves, which lead to themselves. */
enum amp_tree_mode {
    AMP_TREE_LEQ,
    AMP_TREE_LT,
    AMP_TREE_GTE,
    AMP_TREE_GT,
    AMP_TREE_EQ,
    AMP_TREE_NEQ,
    AMP_TREE_MEMBER,
    AMP_TREE_LEAF
};

struct amp_tree_node {
    double split;          /* what the feature is compared with, but for AMP_TREE_MEMBER */
    uint32_t yes, no;      /* where a branch leads: nodes */
    uint32_t first, count; /* the members of a branch's set, or the weights of a leaf */
    int32_t feature;       /* >= 0 */
    uint8_t mode;          /* enum amp_tree_mode */
    bool missing_yes;      /* a NaN goes to YES */
};

struct amp_tree_weight {
    int64_t target; /* >= 0, < n_targets */
    double value;
};

enum amp_aggregate {
    AMP_AGGREGATE_AVERAGE,
    AMP_AGGREGATE_SUM,
    AMP_AGGREGATE_MIN,
    AMP_AGGREGATE_MAX
};

struct amp_trees {
    struct amp_tree_node *nodes;
    int64_t n_nodes;
    uint32_t *roots; /* nodes, one for each tree */
    int64_t n_roots;
    struct amp_tree_weight *weights; /* those of one leaf in a row */
    int64_t n_weights;
    double *members; /* those of one set in a row, ascending */
    double *base;    /* [n_base] */
    int64_t n_base;
    uint8_t mode; /* of all branches, of which none sends a NaN to YES; AMP_TREE_LEAF: of no such */
    int64_t n_targets;  /* or classes; >= 1 */
    int64_t n_features; /* the greatest feature that a branch asks for + 1 */
    enum amp_aggregate aggregate;
    enum amp_transform transform;
};

#endif

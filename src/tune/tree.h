#ifndef AMP_TUNE_TREE_H
#define AMP_TUNE_TREE_H

#include "tune/cuts.h"

/* A search for the choice of least loss within a budget of power. */
struct amp_tree {
    const struct amp_problem *problem;
    const struct amp_ties *ties; /* of PROBLEM */
    struct amp_cuts *cuts;       /* of TIES */
    double budget;
};

/*
 * Sets KEEPS to the choice within BOUNDS and the budget of least loss that it finds: the first one
 * of the path within the budget, or one that is better. When the tree ends before the work it may
 * do does, the loss is the least but for a ten-thousandth. The bounds are the ends of a path, the
 * lower one beyond the budget and the higher one within.
 */
void amp_tree_search(const struct amp_tree *tree, struct amp_cut_bounds bounds, bool *keeps);

#endif

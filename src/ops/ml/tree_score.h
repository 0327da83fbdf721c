#ifndef AMP_OPS_ML_TREE_SCORE_H
#define AMP_OPS_ML_TREE_SCORE_H

#include "ops/ml/tree.h"

/* The rows that amp_trees_score is given at a time: trees stay in the cache meanwhile. */
enum { AMP_TREE_ROWS = 32 };

/* What trees give for rows; both [rows, targets]. */
struct amp_tree_scores {
    double *scores; /* 0 where no leaf had a weight for the target */
    bool *has;      /* whether one had */
};

/* Evaluates TREES for rows FIRST to FIRST + N - 1 of ROWS, which are of float32, double, int32 or
   int64 and have the features that the trees ask for; aggregates the leaves' weights into TO. */
void amp_trees_score(const struct amp_trees *trees, const struct amp_rows *rows, int64_t first,
                     int64_t n, const struct amp_tree_scores *to);

#endif

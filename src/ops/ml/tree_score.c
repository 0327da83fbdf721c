/*
 * Evaluates ensembles of trees: from the root of each to the leaf of a row, then the leaves'
 * weights into the row's scores.
 */
#include "ops/ml/tree_score.h"

#include "ops/kernel/kernel.h"

#include <string.h>

static bool is_member(const double *members, uint32_t count, double value)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (members[middle] == value)
            return true;
        if (members[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* The answer to the question of branch NODE, of MODE, about VALUE. */
static inline bool answer(const struct amp_trees *trees, enum amp_tree_mode mode,
                          const struct amp_tree_node *node, double value)
{
    if (node->missing_yes && isnan(value))
        return true;
    switch (mode) {
    case AMP_TREE_LEQ:
        return value <= node->split;
    case AMP_TREE_LT:
        return value < node->split;
    case AMP_TREE_GTE:
        return value >= node->split;
    case AMP_TREE_GT:
        return value > node->split;
    case AMP_TREE_EQ:
        return value == node->split;
    case AMP_TREE_NEQ:
        return value != node->split;
    case AMP_TREE_MEMBER:
        return is_member(trees->members + node->first, node->count, value);
    case AMP_TREE_LEAF:
        break;
    }
    return false;
}

/* The leaf of a row of the tree whose root is AT; FIRST is the row's first element in DATA. */
typedef const struct amp_tree_node *walk_fn(const struct amp_trees *trees, uint32_t at,
                                            const void *data, int64_t first);

#define WALK(DTYPE, T)                                                                          \
    static const struct amp_tree_node *walk_##DTYPE(const struct amp_trees *trees, uint32_t at, \
                                                    const void *data, int64_t first)            \
    {                                                                                           \
        const T *row = (const T *)data + first;                                                 \
        const struct amp_tree_node *node = &trees->nodes[at];                                   \
        while (node->mode != AMP_TREE_LEAF) {                                                   \
            bool is_yes = answer(trees, node->mode, node, (double)row[node->feature]);          \
            node = &trees->nodes[is_yes ? node->yes : node->no];                                \
        }                                                                                       \
        return node;                                                                            \
    }
AMP_FLOAT_TYPES(WALK)
WALK(INT32, int32_t)
WALK(INT64, int64_t)

static void add_leaf(const struct amp_trees *trees, const struct amp_tree_node *leaf,
                     double *scores, bool *has)
{
    for (uint32_t i = 0; i < leaf->count; i++) {
        const struct amp_tree_weight *weight = &trees->weights[leaf->first + i];
        double *score = &scores[weight->target], value = weight->value;
        bool is_sum =
            trees->aggregate == AMP_AGGREGATE_SUM || trees->aggregate == AMP_AGGREGATE_AVERAGE;
        if (is_sum)
            *score += value;
        else if (!has[weight->target] ||
                 (trees->aggregate == AMP_AGGREGATE_MIN ? value < *score : value > *score))
            *score = value;
        has[weight->target] = true;
    }
}

/* ---- rows side by side ----------------------------------------------------------------------- */

enum { LANES = 8 };

/* Where LANES rows of float32 begin, and how far apart. */
struct lanes {
    const float *x;
    int64_t step;
};

/* What answer() says where all branches compare alike and no NaN goes to YES, without a jump that
   would have to be guessed: NODE's child. */
static inline uint32_t child(const struct amp_tree_node *node, bool is_yes)
{
    return node->no ^ ((node->no ^ node->yes) & -(uint32_t)is_yes);
}

/* Sets LEAVES to those of LANES rows of the tree whose root is AT. A row's next step waits for its
   last one, so that rows one after the other take as long as all of these together. A leaf leads to
   itself. */
#define WALK_LANES(name, op)                                                                      \
    static void walk_##name(const struct amp_trees *trees, uint32_t at, const struct lanes *rows, \
                            const struct amp_tree_node **leaves)                                  \
    {                                                                                             \
        bool is_over = false;                                                                     \
        for (int i = 0; i < LANES; i++)                                                           \
            leaves[i] = &trees->nodes[at];                                                        \
        while (!is_over) {                                                                        \
            is_over = true;                                                                       \
            for (int i = 0; i < LANES; i++) {                                                     \
                const struct amp_tree_node *node = leaves[i];                                     \
                double value = (double)rows->x[i * rows->step + node->feature];                   \
                leaves[i] = &trees->nodes[child(node, value op node->split)];                     \
                is_over &= leaves[i]->mode == AMP_TREE_LEAF;                                      \
            }                                                                                     \
        }                                                                                         \
    }
WALK_LANES(leq, <=)
WALK_LANES(lt, <)
WALK_LANES(gte, >=)
WALK_LANES(gt, >)

/* How LANES rows of X go through TREES at once; NULL: they do not. */
typedef void walk_lanes_fn(const struct amp_trees *trees, uint32_t at, const struct lanes *rows,
                           const struct amp_tree_node **leaves);

static walk_lanes_fn *lanes_of(const struct amp_trees *trees, const struct amp_tensor *x)
{
    static walk_lanes_fn *const walks[AMP_TREE_LEAF + 1] = {[AMP_TREE_LEQ] = walk_leq,
                                                            [AMP_TREE_LT] = walk_lt,
                                                            [AMP_TREE_GTE] = walk_gte,
                                                            [AMP_TREE_GT] = walk_gt};
    return x->dtype == AMP_FLOAT ? walks[trees->mode] : NULL;
}

/* Adds the leaves of N rows from FIRST on of the tree whose root is AT, LANES at a time; returns
   how many that were. */
static int64_t add_lanes(const struct amp_trees *trees, const struct amp_rows *rows, uint32_t at,
                         int64_t first, int64_t n, const struct amp_tree_scores *to)
{
    walk_lanes_fn *walk = lanes_of(trees, rows->x);
    const struct amp_tree_node *leaves[LANES];
    int64_t done = 0;
    for (; walk != NULL && done + LANES <= n; done += LANES) {
        const float *x = (const float *)rows->x->data + (first + done) * rows->features;
        walk(trees, at, &(struct lanes){x, rows->features}, leaves);
        for (int64_t i = 0; i < LANES; i++)
            add_leaf(trees, leaves[i], to->scores + (done + i) * trees->n_targets,
                     to->has + (done + i) * trees->n_targets);
    }
    return done;
}

void amp_trees_score(const struct amp_trees *trees, const struct amp_rows *rows, int64_t first,
                     int64_t n, const struct amp_tree_scores *to)
{
    static walk_fn *const walks[AMP_DTYPE_COUNT] = {[AMP_FLOAT] = walk_FLOAT,
                                                    [AMP_DOUBLE] = walk_DOUBLE,
                                                    [AMP_INT32] = walk_INT32,
                                                    [AMP_INT64] = walk_INT64};
    walk_fn *walk = walks[rows->x->dtype];
    size_t count = (size_t)(n * trees->n_targets);
    memset(to->scores, 0, count * sizeof *to->scores);
    memset(to->has, 0, count * sizeof *to->has);
    for (int64_t t = 0; t < trees->n_roots; t++)
        for (int64_t i = add_lanes(trees, rows, trees->roots[t], first, n, to); i < n; i++)
            add_leaf(trees,
                     walk(trees, trees->roots[t], rows->x->data, (first + i) * rows->features),
                     to->scores + i * trees->n_targets, to->has + i * trees->n_targets);
    for (size_t i = 0; i < count && trees->aggregate == AMP_AGGREGATE_AVERAGE; i++)
        to->scores[i] /= (double)trees->n_roots;
}

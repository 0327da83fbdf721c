/*
 * Checks that both forms of tree ensembles share: lists have the right length, features and targets
 * are in range, and no node leads back to itself.
 */
#include "ops/ml/tree_check.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>

const char *amp_tree_name(const struct amp_tree_names *names, int64_t node, char text[64])
{
    if (names->nodes == NULL)
        snprintf(text, 64, "node %lld", (long long)node);
    else
        snprintf(text, 64, "node %lld of tree %lld", (long long)names->nodes[node],
                 (long long)names->trees[node]);
    return text;
}

enum amp_status amp_trees_check_count(struct amp_ctx *ctx, int64_t n_nodes)
{
    if (n_nodes > 0 && n_nodes <= AMP_TREE_NODES_MAX)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "%lld nodes; 1 to %d are possible", (long long)n_nodes,
                        AMP_TREE_NODES_MAX);
}

enum color { NEW, OPEN, DONE };

/* One node further down, or back up when both children are done. STACK holds the open nodes. *DEPTH
   is their number. The child that leads back to an open node; -1: none. */
static int64_t search_step(const struct amp_trees *trees, uint32_t *stack, int64_t *depth,
                           uint8_t *colors)
{
    const struct amp_tree_node *node = &trees->nodes[stack[*depth - 1]];
    uint32_t children[] = {node->yes, node->no};
    for (size_t k = 0; k < AMP_COUNT(children) && node->mode != AMP_TREE_LEAF; k++) {
        if (colors[children[k]] == OPEN)
            return children[k];
        if (colors[children[k]] == NEW) {
            colors[children[k]] = OPEN;
            stack[(*depth)++] = children[k];
            return -1;
        }
    }
    colors[stack[--*depth]] = DONE;
    return -1;
}

/* A node that leads back to itself; -1: there is none. */
static int64_t find_cycle(const struct amp_trees *trees)
{
    uint32_t *stack = amp_xmalloc((size_t)trees->n_nodes, sizeof *stack);
    uint8_t *colors = amp_xcalloc((size_t)trees->n_nodes, sizeof *colors);
    int64_t found = -1;
    for (int64_t i = 0; i < trees->n_nodes && found < 0; i++) {
        int64_t depth = 0;
        if (colors[i] != NEW)
            continue;
        colors[i] = OPEN;
        stack[depth++] = (uint32_t)i;
        while (depth > 0 && found < 0)
            found = search_step(trees, stack, &depth, colors);
    }
    free(stack);
    free(colors);
    return found;
}

/* Notes what branches have in common, and has leaves lead to themselves. */
static void settle(struct amp_trees *trees)
{
    bool is_alike = true;
    trees->mode = AMP_TREE_LEAF;
    for (int64_t i = 0; i < trees->n_nodes; i++) {
        struct amp_tree_node *node = &trees->nodes[i];
        if (node->mode == AMP_TREE_LEAF) {
            node->yes = node->no = (uint32_t)i;
            continue;
        }
        is_alike &=
            !node->missing_yes && (trees->mode == AMP_TREE_LEAF || trees->mode == node->mode);
        trees->mode = node->mode;
    }
    if (!is_alike)
        trees->mode = AMP_TREE_LEAF;
}

enum amp_status amp_trees_check(struct amp_ctx *ctx, struct amp_trees *trees,
                                const struct amp_tree_names *names)
{
    char text[64];
    for (int64_t i = 0; i < trees->n_nodes; i++) {
        int64_t feature = trees->nodes[i].feature;
        if (trees->nodes[i].mode != AMP_TREE_LEAF && feature >= trees->n_features)
            trees->n_features = feature + 1;
    }
    for (int64_t i = 0; i < trees->n_weights; i++) {
        int64_t target = trees->weights[i].target;
        if (target < 0 || target >= trees->n_targets)
            return AMP_CTX_FAIL(ctx, "a weight is for target or class %lld; there are %lld",
                                (long long)target, (long long)trees->n_targets);
    }
    int64_t cycle = find_cycle(trees);
    if (cycle >= 0)
        return AMP_CTX_FAIL(ctx, "%s leads back to itself", amp_tree_name(names, cycle, text));
    settle(trees);
    return AMP_OK;
}

enum amp_status amp_tree_set_feature(struct amp_ctx *ctx, struct amp_trees *trees, int64_t node,
                                     int64_t feature, const struct amp_tree_names *names)
{
    char text[64];
    if (feature < 0 || feature > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "%s asks for feature %lld", amp_tree_name(names, node, text),
                            (long long)feature);
    trees->nodes[node].feature = (int32_t)feature;
    return AMP_OK;
}

enum amp_status amp_tree_ints(struct amp_ctx *ctx, const char *name, int64_t count,
                              const char *what, const int64_t **ints)
{
    size_t given;
    *ints = amp_node_ints(ctx->node, name, &given);
    return amp_list_check(ctx, name, (int64_t)given, count, what);
}

enum amp_status amp_tree_ints_any(struct amp_ctx *ctx, const char *name, int64_t count,
                                  const char *what, const int64_t **ints)
{
    size_t given;
    *ints = amp_node_ints(ctx->node, name, &given);
    if (given == 0)
        *ints = NULL;
    return amp_list_check_any(ctx, name, (int64_t)given, count, what);
}

/*
 * Makes ensembles of trees from the attributes of ai.onnx.ml's operators. Whatever the attributes
 * say, what comes out can be walked: children are nodes, every path ends in a leaf.
 */
#include "ops/ml/tree_read.h"

#include "core/array.h"
#include "ops/ml/tree_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists of nodes of all trees ---- */

/* The attributes, n_nodes or n_weights elements each; values and weights are lists or tensors. */
struct lists {
    const char *prefix;
    int64_t n_nodes, n_weights;
    const int64_t *trees, *ids, *features, *yes, *no;
    const int64_t *missing; /* NULL: no NaN is special */
    const struct amp_str *modes;
    struct amp_tensor values, weights, base;
    const int64_t *weight_trees, *weight_ids, *targets;
    struct place *places; /* of all nodes, sorted */
};

/* A node's numbers and its index. */
struct place {
    int64_t tree, id;
    uint32_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The index of a node; -1: there is none. */
static int64_t find_node(const struct lists *lists, int64_t tree, int64_t id)
{
    struct place wanted = {tree, id, 0};
    const struct place *found =
        bsearch(&wanted, lists->places, (size_t)lists->n_nodes, sizeof wanted, compare_places);
    return found ? (int64_t)found->index : -1;
}

/* A list of floats in attribute NAME, or a tensor in NAME_as_tensor. */
static enum amp_status read_numbers(struct amp_ctx *ctx, const char *name, struct amp_tensor *list)
{
    char tensor_name[64];
    snprintf(tensor_name, sizeof tensor_name, "%s_as_tensor", name);
    AMP_TRY(amp_list_of(ctx, name, list));
    if (amp_list_count(list) == 0)
        AMP_TRY(amp_list_of(ctx, tensor_name, list));
    if (amp_list_count(list) > 0 && amp_dtype_class(list->dtype) != AMP_CLASS_FLOAT)
        return AMP_CTX_FAIL(ctx, "attribute '%s' is of %s", name, amp_dtype_name(list->dtype));
    return AMP_OK;
}

static enum amp_status read_node_lists(struct amp_ctx *ctx, struct lists *lists)
{
    const struct amp_attr *modes = amp_node_attr(ctx->node, "nodes_modes");
    size_t count;
    lists->ids = amp_node_ints(ctx->node, "nodes_nodeids", &count);
    int64_t n = lists->n_nodes = (int64_t)count;
    AMP_TRY(amp_trees_check_count(ctx, n));
    AMP_TRY(amp_tree_ints(ctx, "nodes_treeids", n, "nodes", &lists->trees));
    AMP_TRY(amp_tree_ints(ctx, "nodes_featureids", n, "nodes", &lists->features));
    AMP_TRY(amp_tree_ints(ctx, "nodes_truenodeids", n, "nodes", &lists->yes));
    AMP_TRY(amp_tree_ints(ctx, "nodes_falsenodeids", n, "nodes", &lists->no));
    AMP_TRY(amp_tree_ints_any(ctx, "nodes_missing_value_tracks_true", n, "nodes", &lists->missing));
    bool has_modes = modes != NULL && modes->type == AMP_ATTR_STRINGS;
    AMP_TRY(amp_list_check(ctx, "nodes_modes", has_modes ? (int64_t)modes->count : 0, n, "nodes"));
    lists->modes = has_modes ? modes->strings : NULL;
    AMP_TRY(read_numbers(ctx, "nodes_values", &lists->values));
    return amp_list_check(ctx, "nodes_values", amp_list_count(&lists->values), n, "nodes");
}

static enum amp_status read_weight_lists(struct amp_ctx *ctx, struct lists *lists)
{
    char ids[32], nodes[32], trees[32], weights[32];
    snprintf(ids, sizeof ids, "%s_ids", lists->prefix);
    snprintf(nodes, sizeof nodes, "%s_nodeids", lists->prefix);
    snprintf(trees, sizeof trees, "%s_treeids", lists->prefix);
    snprintf(weights, sizeof weights, "%s_weights", lists->prefix);
    AMP_TRY(read_numbers(ctx, weights, &lists->weights));
    int64_t n = lists->n_weights = amp_list_count(&lists->weights);
    if (n > AMP_TREE_NODES_MAX)
        return AMP_CTX_FAIL(ctx, "%lld weights; at most %d are possible", (long long)n,
                            AMP_TREE_NODES_MAX);
    AMP_TRY(amp_tree_ints(ctx, ids, n, "weights", &lists->targets));
    AMP_TRY(amp_tree_ints(ctx, nodes, n, "weights", &lists->weight_ids));
    return amp_tree_ints(ctx, trees, n, "weights", &lists->weight_trees);
}

/* Sorts the nodes by their numbers, which must be unique. */
static enum amp_status sort_places(struct amp_ctx *ctx, struct lists *lists)
{
    struct place *places = amp_xmalloc((size_t)lists->n_nodes, sizeof *places);
    lists->places = places;
    for (int64_t i = 0; i < lists->n_nodes; i++)
        places[i] = (struct place){lists->trees[i], lists->ids[i], (uint32_t)i};
    qsort(places, (size_t)lists->n_nodes, sizeof *places, compare_places);
    for (int64_t i = 1; i < lists->n_nodes; i++)
        if (compare_places(&places[i - 1], &places[i]) == 0)
            return AMP_CTX_FAIL(ctx, "node %lld of tree %lld is there twice",
                                (long long)places[i].id, (long long)places[i].tree);
    return AMP_OK;
}

static enum amp_status parse_mode(struct amp_ctx *ctx, const struct amp_str *text, uint8_t *mode)
{
    static const char *const names[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", NULL,         "LEAF"};
    for (size_t i = 0; i < AMP_COUNT(names); i++)
        if (names[i] != NULL && text->size == strlen(names[i]) &&
            memcmp(text->data, names[i], text->size) == 0) {
            *mode = (uint8_t)i;
            return AMP_OK;
        }
    return AMP_CTX_FAIL(ctx, "attribute 'nodes_modes' has the value '%.*s'",
                        (int)(text->size < 64 ? text->size : 64), text->data);
}

static enum amp_status make_node(struct amp_ctx *ctx, const struct lists *lists, int64_t i,
                                 struct amp_trees *trees)
{
    const struct amp_tree_names names = {lists->trees, lists->ids};
    struct amp_tree_node *node = &trees->nodes[i];
    char text[64];
    AMP_TRY(parse_mode(ctx, &lists->modes[i], &node->mode));
    if (node->mode == AMP_TREE_LEAF)
        return AMP_OK;
    AMP_TRY(amp_tree_set_feature(ctx, trees, i, lists->features[i], &names));
    node->split = amp_tensor_double(&lists->values, (size_t)i);
    node->missing_yes = lists->missing != NULL && lists->missing[i] == 1;
    int64_t yes = find_node(lists, lists->trees[i], lists->yes[i]);
    int64_t no = find_node(lists, lists->trees[i], lists->no[i]);
    if (yes < 0 || no < 0)
        return AMP_CTX_FAIL(ctx, "%s leads to node %lld, which is not there",
                            amp_tree_name(&names, i, text),
                            (long long)(yes < 0 ? lists->yes[i] : lists->no[i]));
    node->yes = (uint32_t)yes;
    node->no = (uint32_t)no;
    return AMP_OK;
}

/* The root of a tree is the one of its nodes that comes first. */
static void find_roots(const struct lists *lists, struct amp_trees *trees)
{
    trees->roots = amp_xmalloc((size_t)lists->n_nodes, sizeof *trees->roots);
    for (int64_t i = 0; i < lists->n_nodes; i++) {
        const struct place *place = &lists->places[i];
        if (i == 0 || place->tree != place[-1].tree)
            trees->roots[trees->n_roots++] = place->index;
        else if (place->index < trees->roots[trees->n_roots - 1])
            trees->roots[trees->n_roots - 1] = place->index;
    }
}

/* Weights go to the leaves, each leaf's in a row. Old converters gave some to branches too, where
   they have no effect. */
static enum amp_status make_weights(struct amp_ctx *ctx, const struct lists *lists,
                                    struct amp_trees *trees)
{
    int64_t n = lists->n_weights;
    uint32_t first = 0;
    trees->weights = amp_xcalloc((size_t)n, sizeof *trees->weights);
    trees->n_weights = n;
    for (int64_t i = 0; i < n; i++) {
        int64_t node = find_node(lists, lists->weight_trees[i], lists->weight_ids[i]);
        if (node < 0)
            return AMP_CTX_FAIL(ctx, "a weight is for node %lld of tree %lld, which is not there",
                                (long long)lists->weight_ids[i], (long long)lists->weight_trees[i]);
        trees->nodes[node].count++;
    }
    for (int64_t i = 0; i < trees->n_nodes; i++) {
        trees->nodes[i].first = first;
        first += trees->nodes[i].count;
        trees->nodes[i].count = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        struct amp_tree_node *node =
            &trees->nodes[find_node(lists, lists->weight_trees[i], lists->weight_ids[i])];
        trees->weights[node->first + node->count++] = (struct amp_tree_weight){
            lists->targets[i], amp_tensor_double(&lists->weights, (size_t)i)};
    }
    return AMP_OK;
}

static enum amp_status make_base(struct amp_ctx *ctx, struct lists *lists, struct amp_trees *trees)
{
    AMP_TRY(read_numbers(ctx, "base_values", &lists->base));
    trees->n_base = amp_list_count(&lists->base);
    trees->base = amp_xmalloc((size_t)trees->n_base, sizeof *trees->base);
    for (int64_t i = 0; i < trees->n_base; i++)
        trees->base[i] = amp_tensor_double(&lists->base, (size_t)i);
    return AMP_OK;
}

static enum amp_status make_from_lists(struct amp_ctx *ctx, struct lists *lists,
                                       struct amp_trees *trees)
{
    AMP_TRY(read_node_lists(ctx, lists));
    AMP_TRY(read_weight_lists(ctx, lists));
    AMP_TRY(sort_places(ctx, lists));
    trees->n_nodes = lists->n_nodes;
    trees->nodes = amp_xcalloc((size_t)lists->n_nodes, sizeof *trees->nodes);
    for (int64_t i = 0; i < lists->n_nodes; i++)
        AMP_TRY(make_node(ctx, lists, i, trees));
    find_roots(lists, trees);
    AMP_TRY(make_weights(ctx, lists, trees));
    AMP_TRY(make_base(ctx, lists, trees));
    return amp_trees_check(ctx, trees, &(struct amp_tree_names){lists->trees, lists->ids});
}

enum amp_status amp_trees_read_lists(struct amp_ctx *ctx, const char *prefix, int64_t n_targets,
                                     struct amp_trees *trees)
{
    static const char *const aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX", NULL};
    struct lists lists = {.prefix = prefix};
    int aggregate = AMP_AGGREGATE_SUM;
    *trees = (struct amp_trees){.n_targets = n_targets};
    AMP_TRY(amp_transform_read(ctx, &trees->transform));
    AMP_TRY(amp_ctx_choice(ctx, "aggregate_function", aggregates, &aggregate));
    trees->aggregate = (enum amp_aggregate)aggregate;
    enum amp_status status = make_from_lists(ctx, &lists, trees);
    amp_tensor_release(&lists.values);
    amp_tensor_release(&lists.weights);
    amp_tensor_release(&lists.base);
    free(lists.places);
    return status;
}

/* ---- Lists of branches and leaves ---- */

/* n_branches or n_leaves elements each; in *_IS_LEAF 0 says that the child is a branch. */
struct parts {
    int64_t n_branches, n_leaves, n_members, n_roots;
    const int64_t *features, *yes, *no, *yes_is_leaf, *no_is_leaf, *missing, *targets, *roots;
    struct amp_tensor modes, splits, weights, members;
};

/* A tensor attribute, to be released, with COUNT numbers; below 0: any number of them. */
static enum amp_status read_tensor(struct amp_ctx *ctx, const char *name, int64_t count,
                                   const char *what, struct amp_tensor *list)
{
    AMP_TRY(amp_list_of(ctx, name, list));
    enum amp_dtype_class class = amp_dtype_class(list->dtype);
    if (amp_list_count(list) > 0 && class != AMP_CLASS_FLOAT && class != AMP_CLASS_UINT)
        return AMP_CTX_FAIL(ctx, "attribute '%s' is of %s", name, amp_dtype_name(list->dtype));
    return count < 0 ? AMP_OK : amp_list_check(ctx, name, amp_list_count(list), count, what);
}

static enum amp_status read_parts(struct amp_ctx *ctx, struct parts *p)
{
    size_t branches, leaves, roots;
    p->features = amp_node_ints(ctx->node, "nodes_featureids", &branches);
    p->targets = amp_node_ints(ctx->node, "leaf_targetids", &leaves);
    p->roots = amp_node_ints(ctx->node, "tree_roots", &roots);
    int64_t n = p->n_branches = (int64_t)branches;
    p->n_leaves = (int64_t)leaves;
    p->n_roots = (int64_t)roots;
    AMP_TRY(amp_trees_check_count(ctx, n));
    AMP_TRY(amp_trees_check_count(ctx, p->n_leaves));
    AMP_TRY(amp_tree_ints(ctx, "nodes_truenodeids", n, "nodes", &p->yes));
    AMP_TRY(amp_tree_ints(ctx, "nodes_falsenodeids", n, "nodes", &p->no));
    AMP_TRY(amp_tree_ints(ctx, "nodes_trueleafs", n, "nodes", &p->yes_is_leaf));
    AMP_TRY(amp_tree_ints(ctx, "nodes_falseleafs", n, "nodes", &p->no_is_leaf));
    AMP_TRY(amp_tree_ints_any(ctx, "nodes_missing_value_tracks_true", n, "nodes", &p->missing));
    AMP_TRY(read_tensor(ctx, "nodes_modes", n, "nodes", &p->modes));
    AMP_TRY(read_tensor(ctx, "nodes_splits", n, "nodes", &p->splits));
    AMP_TRY(read_tensor(ctx, "leaf_weights", p->n_leaves, "leaves", &p->weights));
    AMP_TRY(read_tensor(ctx, "membership_values", -1, "members", &p->members));
    p->n_members = amp_list_count(&p->members);
    if (p->n_members > AMP_TREE_NODES_MAX)
        return AMP_CTX_FAIL(ctx, "%lld members of sets; at most %d are possible",
                            (long long)p->n_members, AMP_TREE_NODES_MAX);
    return AMP_OK;
}

/* The node to which BRANCH leads where the answer is yes, or no: leaves come after the branches. */
static enum amp_status find_child(struct amp_ctx *ctx, const struct parts *p, int64_t branch,
                                  bool is_yes, uint32_t *child)
{
    int64_t id = is_yes ? p->yes[branch] : p->no[branch];
    bool is_leaf = (is_yes ? p->yes_is_leaf : p->no_is_leaf)[branch] != 0;
    if (id < 0 || id >= (is_leaf ? p->n_leaves : p->n_branches))
        return AMP_CTX_FAIL(ctx, "node %lld leads to %s %lld, which is not there",
                            (long long)branch, is_leaf ? "leaf" : "node", (long long)id);
    *child = (uint32_t)(is_leaf ? p->n_branches + id : id);
    return AMP_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Gives NODE the set that begins at member *AT: up to the next NaN, which ends a set. */
static enum amp_status take_set(struct amp_ctx *ctx, const struct parts *p, int64_t *at,
                                struct amp_trees *trees, struct amp_tree_node *node)
{
    int64_t first = *at;
    if (first >= p->n_members)
        return AMP_CTX_FAIL(ctx,
                            "attribute 'membership_values' has fewer sets than there are nodes "
                            "that ask for one");
    while (*at < p->n_members && !isnan(trees->members[*at]))
        ++*at;
    node->first = (uint32_t)first;
    node->count = (uint32_t)(*at - first);
    qsort(trees->members + first, node->count, sizeof *trees->members, compare_doubles);
    ++*at;
    return AMP_OK;
}

static enum amp_status make_branch(struct amp_ctx *ctx, const struct parts *p, int64_t i,
                                   int64_t *member, struct amp_trees *trees)
{
    struct amp_tree_node *node = &trees->nodes[i];
    double mode = amp_tensor_double(&p->modes, (size_t)i);
    if (!(mode >= AMP_TREE_LEQ && mode <= AMP_TREE_MEMBER))
        return AMP_CTX_FAIL(ctx, "attribute 'nodes_modes' has the value %g; 0 to %d are possible",
                            mode, AMP_TREE_MEMBER);
    node->mode = (uint8_t)mode;
    node->split = amp_tensor_double(&p->splits, (size_t)i);
    node->missing_yes = p->missing != NULL && p->missing[i] == 1;
    AMP_TRY(
        amp_tree_set_feature(ctx, trees, i, p->features[i], &(struct amp_tree_names){NULL, NULL}));
    AMP_TRY(find_child(ctx, p, i, true, &node->yes));
    AMP_TRY(find_child(ctx, p, i, false, &node->no));
    return node->mode == AMP_TREE_MEMBER ? take_set(ctx, p, member, trees, node) : AMP_OK;
}

static enum amp_status make_roots(struct amp_ctx *ctx, const struct parts *p,
                                  struct amp_trees *trees)
{
    trees->roots = amp_xmalloc((size_t)p->n_roots, sizeof *trees->roots);
    for (int64_t i = 0; i < p->n_roots; i++) {
        if (p->roots[i] < 0 || p->roots[i] >= p->n_branches)
            return AMP_CTX_FAIL(ctx,
                                "attribute 'tree_roots' has the value %lld; there are %lld "
                                "nodes",
                                (long long)p->roots[i], (long long)p->n_branches);
        trees->roots[trees->n_roots++] = (uint32_t)p->roots[i];
    }
    return AMP_OK;
}

static enum amp_status make_from_parts(struct amp_ctx *ctx, struct parts *p,
                                       struct amp_trees *trees)
{
    int64_t member = 0;
    AMP_TRY(read_parts(ctx, p));
    trees->n_nodes = p->n_branches + p->n_leaves;
    trees->nodes = amp_xcalloc((size_t)trees->n_nodes, sizeof *trees->nodes);
    trees->members = amp_xmalloc((size_t)p->n_members, sizeof *trees->members);
    for (int64_t i = 0; i < p->n_members; i++)
        trees->members[i] = amp_tensor_double(&p->members, (size_t)i);
    for (int64_t i = 0; i < p->n_branches; i++)
        AMP_TRY(make_branch(ctx, p, i, &member, trees));
    trees->n_weights = p->n_leaves;
    trees->weights = amp_xmalloc((size_t)p->n_leaves, sizeof *trees->weights);
    for (int64_t i = 0; i < p->n_leaves; i++) {
        trees->weights[i] =
            (struct amp_tree_weight){p->targets[i], amp_tensor_double(&p->weights, (size_t)i)};
        trees->nodes[p->n_branches + i] =
            (struct amp_tree_node){.mode = AMP_TREE_LEAF, .first = (uint32_t)i, .count = 1};
    }
    AMP_TRY(make_roots(ctx, p, trees));
    return amp_trees_check(ctx, trees, &(struct amp_tree_names){NULL, NULL});
}

enum amp_status amp_trees_read(struct amp_ctx *ctx, int64_t n_targets, struct amp_trees *trees)
{
    struct parts parts = {.n_branches = 0};
    int64_t aggregate = amp_node_int(ctx->node, "aggregate_function", AMP_AGGREGATE_SUM);
    int64_t transform = amp_node_int(ctx->node, "post_transform", AMP_TRANSFORM_NONE);
    *trees = (struct amp_trees){.n_targets = n_targets};
    if (aggregate < AMP_AGGREGATE_AVERAGE || aggregate > AMP_AGGREGATE_MAX)
        return AMP_CTX_FAIL(ctx, "attribute 'aggregate_function' is %lld; 0 to 3 are possible",
                            (long long)aggregate);
    if (transform < AMP_TRANSFORM_NONE || transform > AMP_TRANSFORM_PROBIT)
        return AMP_CTX_FAIL(ctx, "attribute 'post_transform' is %lld; 0 to 4 are possible",
                            (long long)transform);
    trees->aggregate = (enum amp_aggregate)aggregate;
    trees->transform = (enum amp_transform)transform;
    enum amp_status status = make_from_parts(ctx, &parts, trees);
    amp_tensor_release(&parts.modes);
    amp_tensor_release(&parts.splits);
    amp_tensor_release(&parts.weights);
    amp_tensor_release(&parts.members);
    return status;
}

void amp_trees_destroy(struct amp_trees *trees)
{
    free(trees->nodes);
    free(trees->roots);
    free(trees->weights);
    free(trees->members);
    free(trees->base);
    *trees = (struct amp_trees){.n_nodes = 0};
}

/* Operators of ai.onnx.ml and of texts: trees, classes, tables, patterns and words. */
#include "chance.h"
#include "cli/options/command_line.h"
#include "cli/run.h"
#include "core/array.h"
#include "net.h"
#include "one_node.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/kernel.h"
#include "ops/text/regex_syntax.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <pcre2.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- trees ---- */

/* Random trees, evaluated node by node as ai.onnx.ml says. All numbers are halves, which sums have
   exactly and comparisons meet. */
enum { TREES = 3, DEPTH = 4, NODES = TREES << (DEPTH + 1), FEATURES = 3, TARGETS = 3, ROWS = 19 };
enum { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF };
enum { AVERAGE, SUM, MIN, MAX };

struct forest_node {
    int mode, feature, yes, no; /* children in nodes */
    bool missing_yes;
    double split, weights[TARGETS];
    bool has[TARGETS]; /* of a leaf */
    double members[2]; /* of a set */
};

static struct {
    struct forest_node nodes[NODES];
    int n_nodes, tree_of[NODES], id_of[NODES], roots[TREES], order[NODES];
    double base[TARGETS];
    int n_base, targets, aggregate;
    double rows[ROWS][FEATURES];
} forest;

static uint32_t forest_state;

static int any_of(int count)
{
    forest_state = forest_state * 1664525u + 1013904223u;
    return (int)((forest_state >> 8) % (uint32_t)count);
}

static double any_half(void)
{
    return any_of(9) / 2.0 - 2;
}

/* MODE below 0: any of the first -MODE for each node. */
static int grow(int tree, int depth, int mode, bool may_miss, bool has_all)
{
    int i = forest.n_nodes++;
    struct forest_node *node = &forest.nodes[i];
    *node = (struct forest_node){.mode = LEAF};
    forest.tree_of[i] = tree;
    forest.id_of[i] = (i * 37 + 11) % 101;
    if (depth == DEPTH || (depth > 0 && any_of(4) == 0)) {
        int only = any_of(forest.targets);
        for (int t = 0; t < forest.targets; t++) {
            node->has[t] = has_all ? t == only : any_of(3) == 0;
            node->weights[t] = any_half();
        }
        return i;
    }
    node->mode = mode < 0 ? any_of(-mode) : mode;
    node->feature = any_of(FEATURES);
    node->split = any_half();
    node->members[0] = any_half();
    node->members[1] = any_half();
    node->missing_yes = may_miss && any_of(2) == 0;
    int yes = grow(tree, depth + 1, mode, may_miss, has_all);
    int no = grow(tree, depth + 1, mode, may_miss, has_all);
    node->yes = yes;
    node->no = no;
    return i;
}

/* ONE_WEIGHT: a leaf has one weight, as TreeEnsemble wants it; others have any number of them. */
static void plant(uint32_t seed, int mode, bool may_miss, bool one_weight)
{
    forest_state = seed;
    forest.n_nodes = 0;
    forest.targets = 1 + any_of(TARGETS);
    forest.n_base = one_weight || any_of(2) == 0 ? 0 : forest.targets;
    forest.aggregate = any_of(4);
    for (int t = 0; t < TARGETS; t++)
        forest.base[t] = t < forest.n_base ? any_half() : 0;
    for (int k = 0; k < TREES; k++)
        forest.roots[k] = grow(k, 0, mode, may_miss, one_weight);
    for (int r = 0; r < ROWS; r++)
        for (int f = 0; f < FEATURES; f++)
            forest.rows[r][f] = any_of(8) == 0 ? (double)NAN : any_half();
    /* The roots are listed before the other nodes, which come in any order. */
    int n = 0;
    for (int k = 0; k < TREES; k++)
        forest.order[n++] = forest.roots[k];
    for (int i = 0; i < forest.n_nodes; i++)
        if (i != forest.roots[0] && i != forest.roots[1] && i != forest.roots[2]) {
            int at = TREES + any_of(n - TREES + 1);
            memmove(forest.order + at + 1, forest.order + at, (size_t)(n - at) * sizeof(int));
            forest.order[at] = i;
            n++;
        }
}

static bool forest_answer(const struct forest_node *node, double value)
{
    if (isnan(value) && node->missing_yes)
        return true;
    switch (node->mode) {
    case LEQ:
        return value <= node->split;
    case LT:
        return value < node->split;
    case GTE:
        return value >= node->split;
    case GT:
        return value > node->split;
    case EQ:
        return value == node->split;
    case NEQ:
        return value != node->split;
    default:
        return value == node->members[0] || value == node->members[1];
    }
}

/* The scores of ROW, and which targets have any. */
static void forest_scores(const double *row, double *scores, bool *has)
{
    for (int t = 0; t < forest.targets; t++) {
        scores[t] = 0;
        has[t] = false;
    }
    for (int k = 0; k < TREES; k++) {
        const struct forest_node *node = &forest.nodes[forest.roots[k]];
        while (node->mode != LEAF)
            node = &forest.nodes[forest_answer(node, row[node->feature]) ? node->yes : node->no];
        for (int t = 0; t < forest.targets; t++) {
            double w = node->weights[t];
            if (!node->has[t])
                continue;
            if (forest.aggregate == AVERAGE || forest.aggregate == SUM || !has[t])
                scores[t] += w;
            else
                scores[t] = forest.aggregate == MIN ? fmin(scores[t], w) : fmax(scores[t], w);
            has[t] = true;
        }
    }
    for (int t = 0; t < forest.targets; t++)
        scores[t] = scores[t] / (forest.aggregate == AVERAGE ? TREES : 1) + forest.base[t];
}

/* The attributes of the nodes, one list each. */
static void set_nodes(uint32_t y)
{
    static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "",           "LEAF"};
    static const int64_t tree_ids[TREES] = {7, 3, 9};
    int64_t trees[NODES], ids[NODES], features[NODES], yes[NODES], no[NODES], missing[NODES];
    struct amp_str *words = amp_arena_array(net.arena, NODES, sizeof *words);
    float splits[NODES + 1];
    size_t n = (size_t)forest.n_nodes;
    for (size_t k = 0; k < n; k++) {
        int i = forest.order[k];
        const struct forest_node *node = &forest.nodes[i];
        trees[k] = tree_ids[forest.tree_of[i]];
        ids[k] = forest.id_of[i];
        features[k] = node->feature;
        yes[k] = forest.id_of[node->yes];
        no[k] = forest.id_of[node->no];
        missing[k] = node->missing_yes;
        splits[k] = (float)node->split;
        words[k] = (struct amp_str){modes[node->mode], strlen(modes[node->mode])};
    }
    set_list(y, "nodes_treeids", n, trees);
    set_list(y, "nodes_nodeids", n, ids);
    set_list(y, "nodes_featureids", n, features);
    set_list(y, "nodes_truenodeids", n, yes);
    set_list(y, "nodes_falsenodeids", n, no);
    set_list(y, "nodes_missing_value_tracks_true", n, missing);
    set_floats(y, "nodes_values", n, splits);
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){
            .name = "nodes_modes", .type = AMP_ATTR_STRINGS, .count = n, .strings = words});
}

/* The leaves' weights, in PREFIX_... */
static void set_weights(uint32_t y, const char *prefix)
{
    static const int64_t tree_ids[TREES] = {7, 3, 9};
    int64_t targets[NODES * TARGETS], ids[NODES * TARGETS], trees[NODES * TARGETS];
    float weights[NODES * TARGETS + 1];
    size_t n = 0;
    for (int t = 0; t < forest.targets; t++)
        for (int i = forest.n_nodes - 1; i >= 0; i--)
            if (forest.nodes[i].mode == LEAF && forest.nodes[i].has[t]) {
                targets[n] = t;
                ids[n] = forest.id_of[i];
                trees[n] = tree_ids[forest.tree_of[i]];
                weights[n++] = (float)forest.nodes[i].weights[t];
            }
    set_list(y, amp_arena_printf(net.arena, "%s_ids", prefix), n, targets);
    set_list(y, amp_arena_printf(net.arena, "%s_nodeids", prefix), n, ids);
    set_list(y, amp_arena_printf(net.arena, "%s_treeids", prefix), n, trees);
    set_floats(y, amp_arena_printf(net.arena, "%s_weights", prefix), n, weights);
}

static void set_base(uint32_t y)
{
    float base[TARGETS + 1];
    for (int t = 0; t < TARGETS; t++)
        base[t] = (float)forest.base[t];
    if (forest.n_base > 0)
        set_floats(y, "base_values", (size_t)forest.n_base, base);
}

static uint32_t start_ml(const char *op_type, int version, enum amp_dtype dtype,
                         struct amp_shape shape)
{
    net_start(22);
    amp_model_import(net.model, "ai.onnx.ml", version);
    uint32_t x = input("x", dtype, shape);
    uint32_t id = net_node(0, op_type, "y", 1, &x, 1);
    one_operator(id, "ai.onnx.ml", op_type, version);
    output(net_out(id, 0));
    return net_out(id, 0);
}

static uint32_t start_forest(const char *op_type, int version, enum amp_dtype dtype, int64_t rows,
                             uint32_t n_outputs)
{
    net_start(22);
    amp_model_import(net.model, "ai.onnx.ml", version);
    uint32_t x = input("x", dtype, DIMS(rows, FEATURES));
    uint32_t id = net_node(0, op_type, "y", n_outputs, &x, 1);
    one_operator(id, "ai.onnx.ml", op_type, version);
    for (uint32_t i = 0; i < n_outputs; i++)
        output(net_out(id, i));
    return net_out(id, 0);
}

/* Integers have neither halves nor NaN. */
static void run_forest(enum amp_dtype dtype, int64_t rows)
{
    struct amp_shape shape = DIMS(rows, FEATURES);
    int64_t wide[ROWS * FEATURES] = {0};
    struct amp_tensor *x = net_tensor(dtype, shape, wide);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t f = 0; f < FEATURES; f++) {
            double *value = &forest.rows[r][f];
            size_t at = (size_t)(r * FEATURES + f);
            bool is_float = dtype == AMP_FLOAT || dtype == AMP_DOUBLE;
            *value = is_float ? *value : isnan(*value) ? 0 : floor(*value);
            if (dtype == AMP_INT64)
                ((int64_t *)x->data)[at] = (int64_t)*value;
            else if (dtype == AMP_INT32)
                ((int32_t *)x->data)[at] = (int32_t)*value;
            else
                amp_tensor_set_double(x, at, *value);
        }
    run_on(x);
}

static void expect_scores(uint32_t i, int64_t rows)
{
    double expected[ROWS * TARGETS];
    bool has[TARGETS];
    for (int64_t r = 0; r < rows; r++)
        forest_scores(forest.rows[r], expected + r * forest.targets, has);
    expect_doubles(i, expected, (size_t)(rows * forest.targets), 1e-6);
}

static const enum amp_dtype forest_dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64, AMP_INT32};
static const int64_t forest_rows[] = {1, 7, 8, 9, 16, ROWS};

static void ensembles_are_the_sum_of_their_trees(void **state)
{
    static const char *const aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    (void)state;
    for (uint32_t seed = 1; seed <= 96; seed++) {
        enum amp_dtype dtype = forest_dtypes[seed % 8 < 4 ? 0 : seed % 4];
        int64_t rows = forest_rows[seed % 6];
        plant(seed, seed % 7 == 6 ? -6 : (int)(seed % 7), seed % 3 == 0, false);
        uint32_t y = start_forest("TreeEnsembleRegressor", 3, dtype, rows, 1);
        set_nodes(y);
        set_weights(y, "target");
        set_int(y, "n_targets", forest.targets);
        set_word(y, "aggregate_function", aggregates[forest.aggregate]);
        set_base(y);
        run_forest(dtype, rows);
        expect_scores(0, rows);
    }
}

/* The class is that of the greatest score of those that a row has: all, with base values. */
static void classes_have_the_greatest_score(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 48; seed++) {
        enum amp_dtype dtype = forest_dtypes[seed % 4];
        plant(seed + 1000, -4, seed % 3 == 0, false);
        if (forest.targets < TARGETS)
            continue;
        forest.aggregate = SUM;
        for (int i = 0; seed % 2 == 0 && i < forest.n_nodes; i++) /* one class has all weights */
            forest.nodes[i].has[0] = forest.nodes[i].has[2] = false;
        uint32_t y = start_forest("TreeEnsembleClassifier", 3, dtype, ROWS, 2);
        set_nodes(y);
        set_weights(y, "class");
        set_base(y);
        SET_INTS(y, "classlabels_int64s", 30, 10, 20);
        run_forest(dtype, ROWS);
        expect_scores(1, ROWS);
        for (int r = 0; r < ROWS; r++) {
            static const int64_t labels[TARGETS] = {30, 10, 20};
            double scores[TARGETS];
            bool has[TARGETS];
            int top = -1;
            forest_scores(forest.rows[r], scores, has);
            for (int t = 0; t < TARGETS; t++)
                if ((has[t] || forest.n_base > 0) && (top < 0 || scores[t] > scores[top]))
                    top = t;
            assert_int_equal(((const int64_t *)net.outputs[0].data)[r], labels[top < 0 ? 0 : top]);
        }
    }
}

static void set_tensor(uint32_t y, const char *name, enum amp_dtype dtype, int64_t count,
                       const double *items)
{
    double room[NODES * 3] = {0};
    struct amp_tensor *tensor = net_tensor(dtype, DIMS(count), room);
    for (int64_t i = 0; i < count; i++)
        if (dtype == AMP_UINT8)
            ((uint8_t *)tensor->data)[i] = (uint8_t)items[i];
        else
            amp_tensor_set_double(tensor, (size_t)i, items[i]);
    struct amp_tensor **tensors = amp_arena_memdup(net.arena, &tensor, sizeof(struct amp_tensor *));
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){.name = name, .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
}

/* Branches and leaves, numbered apart, with sets that end with a NaN. */
static void set_parts(uint32_t y, enum amp_dtype dtype)
{
    int64_t number[NODES], yes[NODES], no[NODES], is_yes[NODES], is_no[NODES], features[NODES];
    int64_t missing[NODES], targets[NODES], roots[TREES];
    double modes[NODES], splits[NODES], weights[NODES], members[NODES * 3];
    int64_t branches = 0, leaves = 0, n_members = 0;
    for (int k = 0; k < forest.n_nodes; k++) {
        const struct forest_node *node = &forest.nodes[forest.order[k]];
        number[forest.order[k]] = node->mode == LEAF ? leaves++ : branches++;
    }
    for (int k = 0; k < forest.n_nodes; k++) {
        const struct forest_node *node = &forest.nodes[forest.order[k]];
        int64_t at = number[forest.order[k]];
        if (node->mode == LEAF) {
            for (int t = 0; t < forest.targets; t++)
                if (node->has[t]) {
                    targets[at] = t;
                    weights[at] = node->weights[t];
                }
            continue;
        }
        modes[at] = node->mode;
        splits[at] = node->split;
        features[at] = node->feature;
        missing[at] = node->missing_yes;
        yes[at] = number[node->yes];
        no[at] = number[node->no];
        is_yes[at] = forest.nodes[node->yes].mode == LEAF;
        is_no[at] = forest.nodes[node->no].mode == LEAF;
        if (node->mode == MEMBER) {
            members[n_members++] = node->members[0];
            members[n_members++] = node->members[1];
            members[n_members++] = (double)NAN;
        }
    }
    for (int k = 0; k < TREES; k++)
        roots[k] = number[forest.roots[k]];
    set_list(y, "nodes_featureids", (size_t)branches, features);
    set_list(y, "nodes_truenodeids", (size_t)branches, yes);
    set_list(y, "nodes_falsenodeids", (size_t)branches, no);
    set_list(y, "nodes_trueleafs", (size_t)branches, is_yes);
    set_list(y, "nodes_falseleafs", (size_t)branches, is_no);
    set_list(y, "nodes_missing_value_tracks_true", (size_t)branches, missing);
    set_list(y, "tree_roots", TREES, roots);
    set_list(y, "leaf_targetids", (size_t)leaves, targets);
    set_tensor(y, "nodes_modes", AMP_UINT8, branches, modes);
    set_tensor(y, "nodes_splits", dtype, branches, splits);
    set_tensor(y, "leaf_weights", dtype, leaves, weights);
    if (n_members > 0)
        set_tensor(y, "membership_values", dtype, n_members, members);
}

static void newer_ensembles_are_the_sum_of_their_trees(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 64; seed++) {
        enum amp_dtype dtype = seed % 2 == 0 ? AMP_FLOAT : AMP_DOUBLE;
        int64_t rows = forest_rows[seed % 6];
        plant(seed + 2000, seed % 4 == 0 ? (int)(seed / 4 % 7) : -7, seed % 3 == 0, true);
        uint32_t y = start_forest("TreeEnsemble", 5, dtype, rows, 1);
        set_parts(y, dtype);
        set_int(y, "n_targets", forest.targets);
        set_int(y, "aggregate_function", forest.aggregate);
        run_forest(dtype, rows);
        expect_scores(0, rows);
    }
}

/* Numbers of nodes and weights are floats, codes of modes small integers. */
static void integers_are_no_numbers_of_trees(void **state)
{
    static const char *const lists[] = {"nodes_values", "target_weights", "base_values"};
    static const char *const parts[] = {"nodes_splits", "nodes_modes", "leaf_weights",
                                        "membership_values"};
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    struct amp_tensor *tensor;
    char expected[80];
    (void)state;
    for (int i = 0; i < 3 + 4; i++) {
        const char *name = i < 3 ? lists[i] : parts[i - 3];
        uint32_t y = start_forest(i < 3 ? "TreeEnsembleRegressor" : "TreeEnsemble", i < 3 ? 3 : 5,
                                  AMP_FLOAT, 1, 1);
        plant(i < 3 ? 6 : 5, i < 3 ? -6 : -7, false, true);
        if (i < 3) {
            set_nodes(y);
            set_weights(y, "target");
        } else {
            set_parts(y, AMP_FLOAT);
        }
        set_int(y, "n_targets", forest.targets);
        run_on(&row);
        if (i < 3)
            set_floats(y, name, 0, NULL);
        const char *attr = amp_arena_printf(net.arena, i < 3 ? "%s_as_tensor" : "%s", name);
        int64_t zeros[NODES * 3] = {0};
        tensor = net_tensor(AMP_INT64, DIMS(NODES * 3), zeros);
        struct amp_tensor **tensors = amp_arena_memdup(net.arena, &tensor, sizeof(void *));
        amp_node_set_attr(
            net.model, node_of(y),
            (struct amp_attr){
                .name = attr, .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
        snprintf(expected, sizeof expected, "attribute '%s' is of int64", name);
        refuses(&row, AMP_MODEL, expected);
    }
}

/* LIBSVM's least probability of one class against another is 1e-7. Its coupling makes 1e-7 of that
   for the second class; for the first, where it begins, thrice its square. */
static void probabilities_of_classes_are_not_0(void **state)
{
    static const float ones[6] = {1, 1, 1, 1, 1, 1};
    static const float far[] = {-100, 100};
    static const double least[] = {1e-7, 3e-14};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
        SET_INTS(y, "classlabels_ints", 7, 8);
        SET_INTS(y, "vectors_per_class", 1, 1);
        set_floats(y, "support_vectors", 6, ones);
        set_floats(y, "coefficients", 2, ones);
        set_floats(y, "rho", 1, (const float[]){0});
        set_floats(y, "prob_a", 1, (const float[]){0});
        set_floats(y, "prob_b", 1, &far[i]);
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), ones));
        assert_true(fabs(amp_tensor_double(&net.outputs[1], (size_t)i) - 1) < 1e-6);
        assert_true(fabs(amp_tensor_double(&net.outputs[1], (size_t)(1 - i)) / least[i] - 1) <
                    0.01);
    }
}

/* As ONNX Runtime: with weights for each of two classes and no support vectors, the second class is
   chosen when the greater score is above 0 or, where no weight is below 0, at least a half. */
static void one_of_two_linear_classes(void **state)
{
    static const struct {
        float weights[2];
        int64_t label;
    } cases[] = {
        {{0.25f, 0.125f}, 7}, {{0.125f, 0.25f}, 8}, {{0.5f, 0.125f}, 8},  {{0.75f, 0.5f}, 8},
        {{0, 0}, 7},          {{0.25f, -1}, 8},     {{0.75f, -0.5f}, 8},  {{-0.5f, -0.25f}, 8},
        {{-0.25f, -0.5f}, 7}, {{0, -0.5f}, 7},      {{-0.5f, 0.125f}, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float *w = cases[i].weights;
        uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
        SET_INTS(y, "classlabels_ints", 7, 8);
        set_floats(y, "coefficients", 6, (const float[]){w[0], 0, 0, w[1], 0, 0});
        set_floats(y, "rho", 1, (const float[]){0});
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 2, 3}));
        if (((const int64_t *)net.outputs[0].data)[0] != cases[i].label)
            fail_msg("%g, %g: %d", (double)w[0], (double)w[1],
                     (int)((const int64_t *)net.outputs[0].data)[0]);
        EXPECT_OUTPUT(1, 0, (double)w[0], (double)w[1]);
    }
}

/* Scores of three classes as LinearClassifier has them of a row of one 1. */
static void run_scores(const float *scores, const char *transform)
{
    uint32_t y = start_forest("LinearClassifier", 1, AMP_FLOAT, 1, 2);
    float weights[9] = {0};
    for (int c = 0; c < 3; c++)
        weights[c * FEATURES] = scores[c];
    SET_INTS(y, "classlabels_ints", 30, 10, 20);
    set_floats(y, "coefficients", 9, weights);
    set_word(y, "post_transform", transform);
    run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
}

/* An empty list of words is none: the integers are the labels. */
static void labels_are_integers_where_there_are_no_words(void **state)
{
    static const char *const ops[] = {"LinearClassifier", "SVMClassifier"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t y = start_forest(ops[i], 1, AMP_FLOAT, 1, 2);
        amp_node_set_attr(net.model, node_of(y),
                          (struct amp_attr){.name = "classlabels_strings",
                                            .type = AMP_ATTR_STRINGS,
                                            .strings = (struct amp_str[]){{"", 0}}});
        SET_INTS(y, "classlabels_ints", 30, 10, 20);
        set_floats(y, "coefficients", 9, (const float[]){0, 0, 0, 1, 0, 0, 0, 0, 0});
        if (i == 1)
            set_floats(y, "rho", 1, (const float[]){0});
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
        assert_int_equal(net.outputs[0].dtype, AMP_INT64);
        assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 10);
    }
}

/* Four classes have six pairs: without probabilities the scores are those of the pairs AB, AC, AD,
   BC, BD and CD; with them, or without vectors, those of the classes. */
static void pairs_of_four_classes_are_six(void **state)
{
    static const float vectors[4 * FEATURES] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1};
    static const float weights[12] = {1, -2, 3, -4, 5, 6, -7, 8, -9, 10, 11, -12};
    static const float rho[6] = {0.5f, 1, 1.5f, 2, 2.5f, 3}, ones[6] = {1, 1, 1, 1, 1, 1};
    static const float row[FEATURES] = {1, 2, 3};
    static const double kernels[4] = {1, 4, 9, 6};
    (void)state;
    for (int way = 0; way < 3; way++) {
        uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
        SET_INTS(y, "classlabels_ints", 7, 8, 9, 10);
        set_floats(y, "coefficients", 12, weights);
        set_floats(y, "rho", 6, rho);
        if (way < 2) {
            SET_INTS(y, "vectors_per_class", 1, 1, 1, 1);
            set_floats(y, "support_vectors", 4 * FEATURES, vectors);
        }
        if (way == 1) {
            set_floats(y, "prob_a", 6, ones);
            set_floats(y, "prob_b", 6, ones);
        }
        run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), row));
        assert_int_equal(net.outputs[1].shape.dims[1], way == 0 ? 6 : 4);
        double expected[6], sum = 0;
        size_t pair = 0;
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++, pair++)
                expected[pair] = (double)rho[pair] + (double)weights[(j - 1) * 4 + i] * kernels[i] +
                                 (double)weights[i * 4 + j] * kernels[j];
        if (way == 0)
            expect_doubles(1, expected, 6, 1e-5);
        for (size_t k = 0; k < 4 && way == 1; k++)
            sum += amp_tensor_double(&net.outputs[1], k);
        assert_true(way != 1 || fabs(sum - 1) < 1e-6);
        for (int k = 0; k < 4; k++)
            expected[k] = (double)rho[0] + (double)weights[k * 3] + 2 * (double)weights[k * 3 + 1] +
                          3 * (double)weights[k * 3 + 2];
        if (way == 2)
            expect_doubles(1, expected, 4, 1e-5);
    }
}

/* A tree that asks for nothing needs no features, whatever its leaf names. */
static void leaves_need_no_features(void **state)
{
    (void)state;
    uint32_t y = start_ml("TreeEnsembleRegressor", 3, AMP_FLOAT, DIMS(2, 0));
    SET_INTS(y, "nodes_treeids", 0);
    SET_INTS(y, "nodes_nodeids", 0);
    SET_INTS(y, "nodes_featureids", 9);
    SET_INTS(y, "nodes_truenodeids", 0);
    SET_INTS(y, "nodes_falsenodeids", 0);
    set_floats(y, "nodes_values", 1, (const float[]){0});
    refuses(net_tensor(AMP_FLOAT, DIMS(2, 0), NULL), AMP_MODEL,
            "attribute 'nodes_modes' has 0 values; one for each of 1 nodes is needed");
    amp_node_set_attr(net.model, node_of(y),
                      (struct amp_attr){.name = "nodes_modes",
                                        .type = AMP_ATTR_STRINGS,
                                        .count = 1,
                                        .strings = (struct amp_str[]){{"LEAF", 4}}});
    SET_INTS(y, "target_ids", 0);
    SET_INTS(y, "target_nodeids", 0);
    SET_INTS(y, "target_treeids", 0);
    set_floats(y, "target_weights", 1, (const float[]){2.5f});
    run_on(net_tensor(AMP_FLOAT, DIMS(2, 0), NULL));
    EXPECT_OUTPUT(0, 0, 2.5, 2.5);
}

/* Trees whose leaves say nothing leave the scores at 0. */
static void leaves_may_have_no_weights(void **state)
{
    (void)state;
    plant(1003, -4, false, false);
    uint32_t y = start_forest("TreeEnsembleClassifier", 3, AMP_FLOAT, ROWS, 2);
    double zeros[ROWS * 2] = {0};
    set_nodes(y);
    SET_INTS(y, "classlabels_int64s", 30, 10);
    run_forest(AMP_FLOAT, ROWS);
    expect_doubles(1, zeros, ROWS * 2, 0);
    for (int r = 0; r < ROWS; r++)
        assert_int_equal(((const int64_t *)net.outputs[0].data)[r], 30);
    for (size_t n = 0; n < 4; n++) { /* one of two classes may have a base value alone */
        set_floats(y, "base_values", n, (const float[]){1, 2, 3});
        if (n < 3)
            run_forest(AMP_FLOAT, ROWS);
        else
            refuses(net_tensor(AMP_FLOAT, DIMS(ROWS, FEATURES), forest.rows), AMP_MODEL,
                    "attribute 'base_values' has 3 values; one for each of 2 classes is needed");
    }
    SET_INTS(y, "classlabels_int64s", 30, 10, 20);
    run_forest(AMP_FLOAT, ROWS);
    set_floats(y, "base_values", 1, (const float[]){1});
    refuses(net_tensor(AMP_FLOAT, DIMS(ROWS, FEATURES), forest.rows), AMP_MODEL,
            "attribute 'base_values' has 1 values; one for each of 3 classes is needed");
}

/* The greater of two scores is told in the precision of the input. */
static void scores_are_compared_as_precisely_as_the_input(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double rows[FEATURES] = {0};
        uint32_t y = start_forest("TreeEnsembleClassifier", 3, dtypes[i], 1, 2);
        SET_INTS(y, "nodes_treeids", 0);
        SET_INTS(y, "nodes_nodeids", 0);
        SET_INTS(y, "nodes_featureids", 0);
        SET_INTS(y, "nodes_truenodeids", 0);
        SET_INTS(y, "nodes_falsenodeids", 0);
        set_floats(y, "nodes_values", 1, (const float[]){0});
        amp_node_set_attr(net.model, node_of(y),
                          (struct amp_attr){.name = "nodes_modes",
                                            .type = AMP_ATTR_STRINGS,
                                            .count = 1,
                                            .strings = (struct amp_str[]){{"LEAF", 4}}});
        SET_INTS(y, "class_ids", 0, 1);
        SET_INTS(y, "class_nodeids", 0, 0);
        SET_INTS(y, "class_treeids", 0, 0);
        set_tensor(y, "class_weights_as_tensor", AMP_DOUBLE, 2, (const double[]){1, 1 + 1e-12});
        SET_INTS(y, "classlabels_int64s", 30, 10, 20);
        run_on(net_tensor(dtypes[i], DIMS(1, FEATURES), rows));
        assert_int_equal(((const int64_t *)net.outputs[0].data)[0], i == 0 ? 30 : 10);
    }
}

/* Ways to add up and transforms have numbers in newer ensembles. */
static void ways_of_trees_are_numbered(void **state)
{
    static const struct {
        const char *name;
        int64_t most;
    } attrs[] = {{"aggregate_function", 3}, {"post_transform", 4}};
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    char expected[80];
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int64_t value = -1; value <= attrs[i].most + 1; value++) {
            plant(5, -7, false, true);
            uint32_t y = start_forest("TreeEnsemble", 5, AMP_FLOAT, 1, 1);
            set_parts(y, AMP_FLOAT);
            set_int(y, "n_targets", forest.targets);
            set_int(y, attrs[i].name, value);
            snprintf(expected, sizeof expected, "attribute '%s' is %d; 0 to %d are possible",
                     attrs[i].name, (int)value, (int)attrs[i].most);
            if (value >= 0 && value <= attrs[i].most)
                run_on(&row);
            else
                refuses(&row, AMP_MODEL, expected);
        }
}

/* Numbers of nodes, leaves and roots begin at 0. */
static void nodes_of_trees_are_there(void **state)
{
    static const char *const lists[] = {"nodes_truenodeids", "nodes_falsenodeids", "tree_roots"};
    static const char *const says[] = {
        "leads to leaf -1, which is not there", "leads to leaf -1, which is not there",
        "attribute 'tree_roots' has the value -1; there are 1 nodes"};
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint32_t y = start_forest("TreeEnsemble", 5, AMP_FLOAT, 1, 1);
        SET_INTS(y, "nodes_featureids", 0);
        SET_INTS(y, "nodes_truenodeids", 0);
        SET_INTS(y, "nodes_falsenodeids", 1);
        SET_INTS(y, "nodes_trueleafs", 1);
        SET_INTS(y, "nodes_falseleafs", 1);
        SET_INTS(y, "tree_roots", 0);
        SET_INTS(y, "leaf_targetids", 0, 0);
        set_tensor(y, "nodes_modes", AMP_UINT8, 1, (const double[]){0});
        set_tensor(y, "nodes_splits", AMP_FLOAT, 1, (const double[]){0.5});
        set_tensor(y, "leaf_weights", AMP_FLOAT, 2, (const double[]){3, 4});
        set_int(y, "n_targets", 1);
        if (i < 3)
            SET_INTS(y, lists[i], -1);
        if (i < 3)
            refuses(&row, AMP_MODEL, says[i]);
        else
            run_on(&row);
    }
    EXPECT_OUTPUT(0, 0, 3);
}

/* As many classes as 16 bits number. */
static void classes_of_vector_machines_are_numbered(void **state)
{
    enum { MOST_CLASSES = 65535 };
    static int64_t labels[MOST_CLASSES + 1];
    const struct amp_tensor row = {
        .dtype = AMP_FLOAT, .shape = DIMS(1, FEATURES), .data = (float[FEATURES]){0}};
    (void)state;
    for (int i = 0; i < MOST_CLASSES + 1; i++)
        labels[i] = i;
    uint32_t y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
    set_list(y, "classlabels_ints", MOST_CLASSES + 1, labels);
    refuses(&row, AMP_MODEL, "65536 labels of classes; 1 to 65535 are possible");
    y = start_forest("SVMClassifier", 1, AMP_FLOAT, 1, 2);
    SET_INTS(y, "vectors_per_class", 1);
    refuses(&row, AMP_MODEL, "0 labels of classes; 1 to 65535 are possible");
}

/* Where one score tells two classes apart, both get the quantile of the normal distribution. */
static void pairs_of_classes_have_quantiles(void **state)
{
    (void)state;
    uint32_t y = start_forest("LinearClassifier", 1, AMP_FLOAT, 1, 2);
    SET_INTS(y, "classlabels_ints", 30, 10);
    set_floats(y, "coefficients", 3, (const float[]){0.75f, 0, 0});
    run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
    EXPECT_OUTPUT(1, 0, 0.25, 0.75);
    set_word(y, "post_transform", "PROBIT");
    run_on(net_tensor(AMP_FLOAT, DIMS(1, FEATURES), (const float[]){1, 0, 0}));
    EXPECT_OUTPUT(1, 5e-3, -0.67449, 0.67449);
}

/* Scores within 1e-7 of 0 take no part in a SOFTMAX_ZERO, and the first of equal ones is chosen. */
static void scores_become_what_is_asked_for(void **state)
{
    const double third = exp(2e-7 - 1), e = exp(1);
    (void)state;
    run_scores((const float[]){1, 0.9e-7f, 1.1e-7f}, "SOFTMAX_ZERO");
    EXPECT_OUTPUT(1, 1e-6, 1 / (1 + 1 / e), 0, 1 / e / (1 + 1 / e));
    run_scores((const float[]){1, 0.5e-7f, 2e-7f}, "SOFTMAX_ZERO");
    EXPECT_OUTPUT(1, 1e-6, 1 / (1 + third), 0, third / (1 + third));
    run_scores((const float[]){-1, -0.5e-7f, -2e-7f}, "SOFTMAX_ZERO");
    EXPECT_OUTPUT(1, 1e-6, 1 / (1 + e), 0, e / (1 + e));
    run_scores((const float[]){1, 0, 2}, "SOFTMAX");
    EXPECT_OUTPUT(1, 1e-6, e / (1 + e + e * e), 1 / (1 + e + e * e), e * e / (1 + e + e * e));
    run_scores((const float[]){-1001, -1002, -1000}, "SOFTMAX");
    EXPECT_OUTPUT(1, 1e-6, e / (1 + e + e * e), 1 / (1 + e + e * e), e * e / (1 + e + e * e));
    run_scores((const float[]){1001, 1000, 1002}, "SOFTMAX");
    EXPECT_OUTPUT(1, 1e-6, e / (1 + e + e * e), 1 / (1 + e + e * e), e * e / (1 + e + e * e));
    run_scores((const float[]){1, 0, -2}, "LOGISTIC");
    EXPECT_OUTPUT(1, 1e-6, e / (1 + e), 0.5, 1 / (1 + e * e));
    run_scores((const float[]){0.5f, 0.8413447f, 0.1586553f}, "PROBIT");
    EXPECT_OUTPUT(1, 2e-3, 0, 1, -1); /* an approximation */
    run_scores((const float[]){0.25f, -3, 0.25f}, "NONE");
    EXPECT_OUTPUT(1, 0, 0.25, -3, 0.25);
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 30);
    run_scores((const float[]){-3, 0.25f, 0.25f}, "NONE");
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 10);
    run_scores((const float[]){-3, -4, -2}, "SOFTMAX");
    assert_int_equal(((const int64_t *)net.outputs[0].data)[0], 20);
}

/* ---- tables ---- */

enum { KEYS_MOST = 100 };

/* Keys and what is no key; any number of them, so that tables of any size are full. */
static void encoders_look_every_key_up(void **state)
{
    static const int counts[] = {1, 2, 4, 5, 8, 9, KEYS_MOST};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int64_t keys[KEYS_MOST], x[2 * KEYS_MOST];
        float values[KEYS_MOST];
        double expected[2 * KEYS_MOST];
        int n = counts[k];
        for (int i = 0; i < n; i++) {
            keys[i] = i * i * 7 - 50;
            values[i] = (float)i + 0.5f;
            x[i] = keys[i];
            expected[i] = i + 0.5;
            x[n + i] = keys[i] + 3;
            expected[n + i] = -9;
        }
        uint32_t y = start_ml("LabelEncoder", 4, AMP_INT64, DIMS(2 * n));
        set_list(y, "keys_int64s", (size_t)n, keys);
        set_floats(y, "values_floats", (size_t)n, values);
        set_number(y, "default_float", -9);
        run_on(net_tensor(AMP_INT64, DIMS(2 * n), x));
        expect_doubles(0, expected, (size_t)(2 * n), 0);
        y = start_ml("OneHotEncoder", 1, AMP_INT64, DIMS(2 * n));
        set_list(y, "cats_int64s", (size_t)n, keys);
        run_on(net_tensor(AMP_INT64, DIMS(2 * n), x));
        assert_int_equal(amp_tensor_count(&net.outputs[0]), 2 * n * n);
        for (int i = 0; i < 2 * n * n; i++)
            assert_true(amp_tensor_double(&net.outputs[0], (size_t)i) == (i % n == i / n));
    }
}

/* NaN is a key as others, -0 is 0, and the last byte of a string counts. */
static void encoders_tell_keys_apart(void **state)
{
    static const struct amp_str words[] = {{"", 0}, {"a", 1}, {"ab", 2}, {"ac", 2}, {"a\0", 2}};
    static const struct amp_str texts[] = {{"ac", 2}, {"b", 1},   {"a", 1},   {"", 0},
                                           {"ab", 2}, {"a\0", 2}, {"abc", 3}, {"\0", 1}};
    (void)state;
    uint32_t y = start_ml("LabelEncoder", 4, AMP_FLOAT, DIMS(5));
    set_floats(y, "keys_floats", 3, (const float[]){NAN, 0, 2});
    set_floats(y, "values_floats", 3, (const float[]){10, 20, 30});
    set_number(y, "default_float", 5);
    run_on(net_tensor(AMP_FLOAT, DIMS(5), (const float[]){2, -0.0f, -NAN, 1, 0}));
    EXPECT_OUTPUT(0, 0, 30, 20, 10, 5, 20);
    y = start_ml("LabelEncoder", 4, AMP_FLOAT, DIMS(5));
    set_floats(y, "keys_floats", 3, (const float[]){1e-30f, 2e-30f, -1e-30f});
    set_floats(y, "values_floats", 3, (const float[]){10, 20, 30});
    set_number(y, "default_float", 5);
    run_on(net_tensor(AMP_FLOAT, DIMS(5), (const float[]){2e-30f, -1e-30f, 3e-30f, 0, 1e-30f}));
    EXPECT_OUTPUT(0, 0, 20, 30, 5, 5, 10);
    y = start_ml("LabelEncoder", 4, AMP_STRING, DIMS(8));
    set_array(y, "keys_strings", AMP_ATTR_STRINGS, 5, words, sizeof *words);
    SET_INTS(y, "values_int64s", 10, 20, 30, 40, 50);
    set_int(y, "default_int64", 7);
    run_on(net_tensor(AMP_STRING, DIMS(8), texts));
    static const int64_t expected[] = {40, 7, 20, 10, 30, 50, 7, 7};
    assert_memory_equal(net.outputs[0].data, expected, sizeof expected);
}

/* What is no key becomes what the standard says where no attribute does, with the sign of the zero;
   of equal keys the first counts. */
static void encoders_have_defaults(void **state)
{
    static const struct amp_str words[] = {{"a", 1}, {"b", 1}};
    (void)state;
    for (int version = 2; version <= 4; version += 2)
        for (int i = 0; i < 3; i++) {
            uint32_t y = start_ml("LabelEncoder", version, AMP_INT64, DIMS(2));
            SET_INTS(y, "keys_int64s", 7, 7);
            if (i == 0)
                set_array(y, "values_strings", AMP_ATTR_STRINGS, 2, words, sizeof *words);
            else if (i == 1)
                SET_INTS(y, "values_int64s", 5, 6);
            else
                set_floats(y, "values_floats", 2, (const float[]){0.5f, 1.5f});
            run_on(net_tensor(AMP_INT64, DIMS(2), (const int64_t[]){7, 8}));
            const struct amp_tensor *out = &net.outputs[0];
            if (i == 0) {
                const struct amp_str *texts = out->data;
                assert_int_equal(texts[0].size, 1);
                assert_memory_equal(texts[0].data, "a", 1);
                assert_int_equal(texts[1].size, strlen("_Unused"));
                assert_memory_equal(texts[1].data, "_Unused", strlen("_Unused"));
            } else if (i == 1) {
                EXPECT_OUTPUT(0, 0, 5, -1);
            } else {
                EXPECT_OUTPUT(0, 0, 0.5, 0);
                assert_true(signbit(((const float *)out->data)[1]));
            }
        }
}

/* Categories are one more dim, for which there has to be room. */
static void encoders_add_a_dim(void **state)
{
    static const int64_t x[] = {4};
    char expected[80];
    (void)state;
    for (int rank = AMP_RANK_MAX - 1; rank <= AMP_RANK_MAX; rank++) {
        struct amp_shape shape = {.rank = rank};
        for (int d = 0; d < rank; d++)
            shape.dims[d] = 1;
        uint32_t y = start_ml("OneHotEncoder", 1, AMP_INT64, shape);
        SET_INTS(y, "cats_int64s", 3, 4);
        snprintf(expected, sizeof expected, "input 0 has rank %d; at most %d are possible", rank,
                 AMP_RANK_MAX - 1);
        if (rank == AMP_RANK_MAX) {
            refuses(net_tensor(AMP_INT64, shape, x), AMP_MODEL, expected);
        } else {
            run_on(net_tensor(AMP_INT64, shape, x));
            assert_int_equal(net.outputs[0].shape.rank, AMP_RANK_MAX);
            EXPECT_OUTPUT(0, 0, 0, 1);
        }
    }
}

/* Lists without values are as good as none. */
static void empty_lists_of_values_do_not_count(void **state)
{
    (void)state;
    uint32_t y = start_ml("LabelEncoder", 2, AMP_INT64, DIMS(3));
    set_array(y, "values_strings", AMP_ATTR_STRINGS, 0, NULL, sizeof(struct amp_str));
    SET_INTS(y, "keys_int64s", 1, 2);
    set_floats(y, "values_floats", 2, (const float[]){0.5f, 1.5f});
    run_on(net_tensor(AMP_INT64, DIMS(3), (const int64_t[]){2, 1, 2}));
    assert_int_equal(net.outputs[0].dtype, AMP_FLOAT);
    EXPECT_OUTPUT(0, 0, 1.5, 0.5, 1.5);
}

/* ---- patterns ---- */

/* What RE2's wiki on its syntax says of patterns: texts that they match as a whole, and texts that
   they do not. */
static void run_pattern(const char *pattern, const struct amp_str *texts, int64_t count)
{
    net_start(20);
    uint32_t y = NODE("RegexFullMatch", "y", input("x", AMP_STRING, DIMS(count)));
    output(y);
    set_word(y, "pattern", pattern);
    run_on(net_tensor(AMP_STRING, DIMS(count), texts));
}

static struct amp_str text_of(const char *text)
{
    return (struct amp_str){text, strlen(text)};
}

static void expect_match(const char *pattern, struct amp_str text, bool expected)
{
    run_pattern(pattern, &text, 1);
    if (((const uint8_t *)net.outputs[0].data)[0] != expected)
        fail_msg("'%s' %s '%s'", pattern, expected ? "matches" : "does not match", text.data);
}

enum { TEXTS = 6 };

struct pattern_case {
    const char *pattern, *whole[TEXTS], *others[TEXTS];
};

static void expect_matches(const struct pattern_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < TEXTS; k++) {
            if (cases[i].whole[k] != NULL)
                expect_match(cases[i].pattern, text_of(cases[i].whole[k]), true);
            if (cases[i].others[k] != NULL)
                expect_match(cases[i].pattern, text_of(cases[i].others[k]), false);
        }
}

static void patterns_have_re2s_characters(void **state)
{
    static const struct pattern_case cases[] = {
        {"\\x41\\x4a\\x4F\\xaf", {"AJO\u00af"}, {"AJO\xaf", "AJO"}},
        {"\\x411", {"A1"}, {"\u0411", "A"}},
        {"\\x{41}\\x{00000041}", {"AA"}, {"A"}},
        {"\\x{0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "0000000000000000000000000000000000000041}",
         {"A"},
         {"\\x{41}", ""}},
        {"\\x{d7ff}\\x{e000}\\x{10ffff}", {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"}, {"\x7f"}},
        {"\\x{FfFf}", {"\uffff"}, {"\ufffe"}},
        {"\\07\\101\\1010\\0101", {"\aAA0\b1"}, {"\aAA\bA"}},
        {"\\12\\77\\777", {"\n?\u01ff"}, {"\n??7"}},
        {"\\a\\f\\t\\n\\r\\v", {"\a\f\t\n\r\v"}, {"aftnrv"}},
        {"\\.\\-\\\\\\]\\/\\_", {".-\\]/_"}, {"x-\\]/_"}},
        {"\\Qa.b\\E.", {"a.bx", "a.b."}, {"axbx", "a.b"}},
        {"\\Qa(", {"a("}, {"a", "a(a"}},
        {"\\Q\\d\\\\E", {"\\d\\"}, {"5", "\\d\\\\E"}},
        {"\\Qab\\E+", {"ab", "abbb"}, {"abab", "a"}},
        {"{", {"{"}, {""}},
        {"a{+}", {"a{}", "a{{}"}, {"a}", "aa}"}},
        {"a{x}", {"a{x}"}, {"ax"}},
        {"a{2", {"a{2"}, {"aa"}},
        {"a{2,", {"a{2,"}, {"aa"}},
        {"a{2,x}", {"a{2,x}"}, {"aa"}},
        {"a{,2}", {"a{,2}"}, {"", "a", "aa"}},
        {"a{02}", {"a{02}"}, {"aa"}},
        {"a{1,02}", {"a{1,02}"}, {"aa"}},
        {"\u00e9\u732b", {"\u00e9\u732b"}, {"\u00e9", "\u732b"}},
        {".", {"a", "\u732b"}, {"", "\n", "ab"}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
    expect_match("\\0a\\000", (struct amp_str){"\0a\0", 3}, true);
    expect_match("\\0a\\000", (struct amp_str){"\0a", 2}, false);
}

static void patterns_have_re2s_classes(void **state)
{
    static const struct pattern_case cases[] = {
        {"[a-c]", {"a", "b", "c"}, {"d", "-", "", "`"}},
        {"[ac-]", {"a", "c", "-"}, {"b"}},
        {"[-ac]", {"a", "c", "-"}, {"b"}},
        {"[b-b]", {"b"}, {"a", "c", "-"}},
        {"[^a-c]", {"d", "\n", "-", "^", "\u732b"}, {"a", "b", "c", ""}},
        {"[a^]", {"a", "^"}, {"b"}},
        {"[]-a]", {"]", "^", "a"}, {"-", "b"}},
        {"[^]]", {"a", "["}, {"]"}},
        {"[\\x41-\\x{43}\\n]", {"A", "B", "C", "\n"}, {"D", "-"}},
        {"[[:a]", {"[", ":", "a"}, {"]"}},
        {"[+--]", {"+", ",", "-"}, {"*", "."}},
        {"[[:alpha:]5]", {"a", "Z", "5"}, {"4", ":", "["}},
        {"[[:^digit:]]", {"a", "\n"}, {"4"}},
        {"[[a]", {"[", "a"}, {":"}},
        {"[a:]", {":", "a"}, {"b"}},
        {"\\pN", {"5", "\u00b2"}, {"a"}},
        {"\\pLu", {"Au", "au"}, {"A", "1u"}},
        {"\\p{Lu}", {"A", "\u00c9"}, {"a", "1"}},
        {"\\P{Lu}", {"a", "1"}, {"A"}},
        {"\\PL", {"1"}, {"a"}},
        {"\\p{^Lu}", {"a", "1"}, {"A"}},
        {"\\P{^Lu}", {"A"}, {"a", "1"}},
        {"\\p{Greek}", {"\u03b1"}, {"a", "\u0342"}},
        {"\\P{Greek}", {"a", "\u0342"}, {"\u03b1"}},
        {"\\p{Old_Italic}+", {"\U00010300\U00010301"}, {"a"}},
        {"\\p{Han}", {"\u732b"}, {"\u3001"}},
        {"\\p{Any}", {"\u03b1", "\n"}, {""}},
        {"[\\p{Lu}\\pN-]", {"A", "5", "-"}, {"a"}},
        {"[\\P{Lu}]", {"a"}, {"A"}},
        {"[^\\p{^Greek}]", {"\u03b1"}, {"a"}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
}

/* \d, \w, \s and their opposites, in a class and alone: of ASCII only, and \s without \v. */
static void patterns_have_perls_classes(void **state)
{
    static const char *const texts[] = {"0",  "9",      "a",      "Z",      "_",      " ",
                                        "\t", "\n",     "\v",     "\f",     "\r",     "-",
                                        "~",  "\u00e9", "\u0660", "\u00a0", "\u017f", "\u2028"};
    static const char all[] = "dws";
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *class = all; *class != '\0'; class ++) {
            const char *members = *class == 'd'   ? "0123456789"
                                  : *class == 's' ? " \t\n\f\r"
                                                  : "09aZ_";
            bool is_member = texts[i][1] == '\0' && strchr(members, texts[i][0]) != NULL;
            const char lower[] = {'\\', *class, '\0'};
            const char upper[] = {'\\', (char)(*class - 'a' + 'A'), '\0'};
            const char in_class[] = {'[', '\\', *class, ']', '\0'};
            const char in_opposite[] = {'[', '\\', (char)(*class - 'a' + 'A'), ']', '\0'};
            expect_match(lower, text_of(texts[i]), is_member);
            expect_match(upper, text_of(texts[i]), !is_member);
            expect_match(in_class, text_of(texts[i]), is_member);
            expect_match(in_opposite, text_of(texts[i]), !is_member);
        }
}

static void patterns_have_re2s_groups(void **state)
{
    static const struct pattern_case cases[] = {
        {"(?P<n1_A>a)(?<_>b)(?:c)(d)", {"abcd"}, {"abc"}},
        {"a|bc|", {"a", "bc", ""}, {"ac", "b"}},
        {"(|a)b", {"b", "ab"}, {"a", ""}},
        {"()*a", {"a"}, {""}},
        {"(?)a", {"a"}, {"A"}},
        {"(?i)a(?-i)b", {"ab", "Ab"}, {"aB"}},
        {"(?i:a)b", {"ab", "Ab"}, {"aB"}},
        {"((?i)a)b", {"ab", "Ab"}, {"aB"}},
        {"(?is)a.", {"A\n"}, {"A"}},
        {"(?i-s)a.", {"Ab"}, {"A\n"}},
        {"(?s)(?-s:.).", {"a\n"}, {"\na"}},
        {"(?U)a*b", {"b", "aab"}, {"a"}},
        {"(?-U)a*?b", {"b", "aab"}, {"a"}},
        {"a$\nb", {NULL}, {"a\nb"}},
        {"a\n^b", {NULL}, {"a\nb"}},
        {"(?m)a$\n^b", {"a\nb"}, {"ab"}},
        {"(?m:a$)\nb", {"a\nb"}, {"ab"}},
        {"(?m:a$)\nb$\nc", {NULL}, {"a\nb\nc"}},
        {"(?m)(a$)\nb$\nc", {"a\nb\nc"}, {"ab"}},
        {"((?m)a$)\nb$\nc", {NULL}, {"a\nb\nc"}},
        {"((?m)a$)\nb$", {"a\nb"}, {"ab"}},
        {"(?m:(a$)\n(?i:b$))\nc", {"a\nb\nc", "a\nB\nc"}, {"abc"}},
        {"(?m)a(?-m)$\nb", {NULL}, {"a\nb"}},
        {"(?m)(?-m:a$)\nb", {NULL}, {"a\nb"}},
        {"(?m)(?-m:a\n)b$\nc", {"a\nb\nc"}, {"abc"}},
        {"(?m)(?<x>a$)\n(?P<y>b$)\nc", {"a\nb\nc"}, {"abc"}},
        {"\\Aa\\z", {"a"}, {"a\n"}},
        {"\\ba\\b\\B", {NULL}, {"a"}},
        {"\\ba\\Bb\\b", {"ab"}, {"a b"}},
        {"(?m)\\Aa\n\\Ab", {NULL}, {"a\nb"}},
        {"(?m)a\\z\nb", {NULL}, {"a\nb"}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
}

static void patterns_have_re2s_repetitions(void **state)
{
    static const struct pattern_case cases[] = {
        {"a*", {"", "a", "aaa"}, {"b", "ab"}},
        {"a+", {"a", "aaa"}, {"", "b"}},
        {"a?", {"", "a"}, {"aa"}},
        {"a*?a+?a??", {"a", "aaa"}, {""}},
        {"(ab)+", {"ab", "abab"}, {"", "aba", "abb"}},
        {"[ab]+c", {"abc"}, {"c"}},
        {"\\d+\\.+", {"15..", "1."}, {"1", "."}},
        {"\\pN+x", {"15x"}, {"x"}},
        {"a(b+c)+", {"abcbbc"}, {"a", "abcc"}},
        {"a{2}", {"aa"}, {"a", "aaa"}},
        {"a{2}?b", {"aab"}, {"ab"}},
        {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
        {"a{2,2}", {"aa"}, {"a", "aaa"}},
        {"a{2,}", {"aa", "aaaaa"}, {"a"}},
        {"a{0,1}", {"", "a"}, {"aa"}},
        {"a{0}b", {"b"}, {"ab"}},
        {"(a{0}){1000}", {""}, {"a"}},
        {"ab{2}", {"abb"}, {"abab"}},
        {"(ab){2}c{2}", {"ababcc"}, {"abbcc"}},
        {"a{10}{", {"aaaaaaaaaa{"}, {"aaaaaaaaaa"}},
        {"(a{1,10}b{20}|c){50}", {"cccccccccccccccccccccccccccccccccccccccccccccccccc"}, {"c"}},
        {"((a{1,10}){1,10}){1,10}", {"a"}, {""}},
        {"(a{0,1000})(b{1000})?", {"", "aa"}, {"b"}},
        {"(^|$|\\b|\\B)+a$*", {"a"}, {""}},
    };
    (void)state;
    expect_matches(cases, sizeof cases / sizeof *cases);
}

/* COUNT groups, one in the other, with a repetition in the innermost. */
static char *nest(int count)
{
    char *pattern = amp_arena_alloc(net.arena, (size_t)(2 * count) + 3), *to = pattern;
    for (int i = 0; i < count; i++)
        *to++ = '(';
    to = stpcpy(to, "a+");
    for (int i = 0; i < count; i++)
        *to++ = ')';
    *to = '\0';
    return pattern;
}

static void refuses_bytes(const struct amp_str *pattern, const char *text)
{
    struct amp_str x = {"a", 1};
    net_start(20);
    uint32_t y = NODE("RegexFullMatch", "y", input("x", AMP_STRING, DIMS(1)));
    output(y);
    set_array(y, "pattern", AMP_ATTR_STRING, 1, pattern, sizeof *pattern);
    refuses(net_tensor(AMP_STRING, DIMS(1), &x), AMP_MODEL, text);
}

static void refuses_pattern(const char *pattern, const char *text)
{
    refuses_bytes(&(struct amp_str){pattern, strlen(pattern)}, text);
}

#define ONLY "RE2 has groups ( (?: (?P<name> (?<name> and flags of i, m, s, U, no others"
#define NAME "RE2 has no look-around, and a name is letters, digits and _"

static void what_re2_refuses_is_refused(void **state)
{
    static const struct {
        const char *pattern, *why;
    } cases[] = {
        {"a\\x4", "'\\x4' at 1: not a code point"},
        {"a\\x4g", "'\\x4' at 1: not a code point"},
        {"\\x{}", "'\\x{' at 0: not a code point"},
        {"\\x{41", "'\\x{41' at 0: not a code point"},
        {"\\x{d800}", "'\\x{d800}' at 0: not a code point"},
        {"\\x{100000041}", "'\\x{1000000' at 0: not a code point"},
        {"\\x{110000}", "'\\x{110000}' at 0: not a code point"},
        {"\\x{dfff}", "'\\x{dfff}' at 0: not a code point"},
        {"\\x", "'\\x' at 0: not a code point"},
        {"\\7", "'\\7' at 0: RE2 has no backreferences"},
        {"\\18", "'\\1' at 0: RE2 has no backreferences"},
        {"\\1-", "'\\1' at 0: RE2 has no backreferences"},
        {"\\8", "'\\8' at 0: RE2 has no such escape"},
        {"\\9", "'\\9' at 0: RE2 has no such escape"},
        {"\\e", "'\\e' at 0: RE2 has no such escape"},
        {"\\\u00e9", "'\\\\xC3' at 0: RE2 has no such escape"},
        {"\\y", "'\\y' at 0: RE2 has no such escape"},
        {"\\G", "'\\G' at 0: RE2 has no such escape"},
        {"[a-\\d]", "'[a-\\d' at 0: RE2 has no such escape"},
        {"ab[", "'[' at 2: the class has no end"},
        {"[a-", "'[a-' at 0: the class has no end"},
        {"[a", "'[a' at 0: the class has no end"},
        {"[]", "'[]' at 0: the class has no end"},
        {"[^]", "'[^]' at 0: the class has no end"},
        {"x[b-a]", "'[b-a' at 1: a range that ends before it begins"},
        {"\\p", "'\\p' at 0: not a property of characters"},
        {"\\p{}", "'\\p{' at 0: not a property of characters"},
        {"\\p5", "'\\p' at 0: not a property of characters"},
        {"\\p^L", "'\\p' at 0: not a property of characters"},
        {"[\\p{L]", "'[\\p{L' at 0: not a property of characters"},
        {"(?P<>a)", "'(?P<' at 0: " NAME},
        {"(?P<a-b>x)", "'(?P<a' at 0: " NAME},
        {"(?<n", "'(?<n' at 0: " NAME},
        {"(?", "'(?' at 0: " ONLY},
        {"(?i", "'(?i' at 0: " ONLY},
        {"(?-)a", "'(?-)' at 0: " ONLY},
        {"(?i-)a", "'(?i-)' at 0: " ONLY},
        {"(?i-:a)", "'(?i-:' at 0: " ONLY},
        {"(?-i-s)a", "'(?-i-' at 0: " ONLY},
        {"(?ia)", "'(?ia' at 0: " ONLY},
        {"(?I)a", "'(?I' at 0: " ONLY},
        {")", "')' at 0: no group is open"},
        {"(a))", "')' at 3: no group is open"},
        {"(", "'' at 1: a group has no end"},
        {"*", "'*' at 0: nothing to repeat"},
        {"?", "'?' at 0: nothing to repeat"},
        {"a|+", "'+' at 2: nothing to repeat"},
        {"(*a)", "'*' at 1: nothing to repeat"},
        {"{2}", "'{2}' at 0: nothing to repeat"},
        {"a|{2,}", "'{2,}' at 2: nothing to repeat"},
        {"a**", "'*' at 2: a repetition of a repetition"},
        {"a*+", "'+' at 2: a repetition of a repetition"},
        {"a+??", "'?' at 3: a repetition of a repetition"},
        {"a{2}{3}", "'{3}' at 4: a repetition of a repetition"},
        {"a{2}*", "'*' at 4: a repetition of a repetition"},
        {"a{2,1}", "'{2,1}' at 1: counts out of order"},
        {"a{1001}", "'{1001}' at 1: more than 1000 repetitions"},
        {"a{1001,}", "'{1001,}' at 1: more than 1000 repetitions"},
        {"a{0,1001}", "'{0,1001}' at 1: more than 1000 repetitions"},
        {"a{99999999999}", "'{99999999999}' at 1: more than 1000 repetitions"},
        {"a{99999999999,99999999999}",
         "'{99999999999,99999999999}' at 1: more than 1000 repetitions"},
        {"(a{10}){101}", "'{101}' at 7: more than 1000 repetitions"},
        {"(a{10}b{20}c{5}){51}", "'{51}' at 16: more than 1000 repetitions"},
        {"((a{10}){10}){11}", "'{11}' at 13: more than 1000 repetitions"},
        {"((a{10})b){101}", "'{101}' at 10: more than 1000 repetitions"},
        {"(a{11,}){91}", "'{91}' at 8: more than 1000 repetitions"},
        {"\u00e9[", "'[' at 2: the class has no end"},
        {"a\xff", "the pattern is not UTF-8 at byte 1"},
        {"\u00e9\xe9z", "the pattern is not UTF-8 at byte 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses_pattern(cases[i].pattern, cases[i].why);
    refuses_bytes(&(struct amp_str){"(?\0)a", 5}, "at 0: " ONLY);
    expect_match(nest(1000), text_of("aa"), true);
    refuses_pattern(nest(1001), "'(' at 1000: groups are nested too deep");
}

/* Patterns of whole models are followed by other bytes in memory. Cut off anywhere, each becomes,
   or is refused as, what it does with nothing behind. */
static void patterns_end_where_their_sizes_say(void **state)
{
    static const char *const patterns[] = {
        "(?P<n1_>a)(?<Y9>b)>",    "(?im-s:a$)(?U)",      "a{12,34}?b{5,}c{6}+",
        "[^a-\\x{41}-[:alpha:]]", "[\\p{^Lu}\\d\\-]--]", "\\p{^Greek}\\P{L}\\pN}",
        "\\x{10ffff}\\x41\\1017", "\\Qab\\E+\\Ac\\z",    "(a|\xc3\xa9*)+?b**",
    };
    enum amp_status found[2];
    char opened[211] = "(", *const last = opened + sizeof opened - 1;
    struct amp_error errors[2];
    char *translated[2];
    (void)state;
    memset(opened + 1, 'b', (size_t)(last - opened) - 1);
    *last = '\0';
    for (size_t i = 0; i <= sizeof patterns / sizeof *patterns; i++) {
        const char *pattern = i < sizeof patterns / sizeof *patterns ? patterns[i] : opened;
        for (size_t size = 0; size <= strlen(pattern); size++) {
            char alone[sizeof opened] = "";
            memcpy(alone, pattern, size);
            const char *const places[] = {alone, pattern};
            for (int k = 0; k < 2; k++) {
                errors[k] = (struct amp_error){.status = AMP_OK};
                translated[k] = NULL;
                found[k] = amp_regex_translate((struct amp_str){places[k], size}, &translated[k],
                                               &errors[k]);
            }
            assert_int_equal(found[0], found[1]);
            assert_string_equal(errors[0].text, errors[1].text);
            assert_int_equal(translated[0] == NULL, found[0] != AMP_OK);
            if (translated[0] != NULL)
                assert_string_equal(translated[0], translated[1]);
            free(translated[0]);
            free(translated[1]);
        }
    }
}

/* The calls of PCRE2 that get memory: which one from now on gets none; 0: all do. */
static int pcre_fails_at;

static bool pcre_fails(void)
{
    return pcre_fails_at > 0 && --pcre_fails_at == 0;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the library's are other */
/* In the place of the library's. */
pcre2_compile_context *pcre2_compile_context_create(pcre2_general_context *general)
{
    pcre2_compile_context *(*create)(pcre2_general_context *);
    *(void **)&create = dlsym(RTLD_NEXT, "pcre2_compile_context_create_8");
    return pcre_fails() ? NULL : create(general);
}

pcre2_match_data *pcre2_match_data_create(uint32_t pairs, pcre2_general_context *general)
{
    pcre2_match_data *(*create)(uint32_t, pcre2_general_context *);
    *(void **)&create = dlsym(RTLD_NEXT, "pcre2_match_data_create_8");
    return pcre_fails() ? NULL : create(pairs, general);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void patterns_without_memory_fail(void **state)
{
    struct amp_str x = {"a", 1};
    (void)state;
    for (int call = 1; call <= 2; call++) {
        net_start(20);
        uint32_t y = NODE("RegexFullMatch", "y", input("x", AMP_STRING, DIMS(1)));
        output(y);
        set_word(y, "pattern", "a");
        pcre_fails_at = call;
        refuses(net_tensor(AMP_STRING, DIMS(1), &x), AMP_IO, "out of memory");
        assert_int_equal(pcre_fails_at, 0);
    }
}

/* A message has no more of a pattern than 200 bytes, and 40 of the item that is refused. */
static void long_patterns_are_cut_in_messages(void **state)
{
    char pattern[202], text[400];
    (void)state;
    for (int length = 200; length <= 201; length++) {
        memset(pattern, 'b', (size_t)length);
        memcpy(pattern + length - 1, ")", 2);
        snprintf(text, sizeof text, "pattern '%.200s': ')' at %d: no group is open", pattern,
                 length - 1);
        refuses_pattern(pattern, text);
    }
    for (int length = 40; length <= 41; length++) {
        memset(pattern, 'b', (size_t)length);
        pattern[0] = '[';
        pattern[length] = '\0';
        snprintf(text, sizeof text, "pattern '%s': '%.40s' at 0: the class has no end", pattern,
                 pattern);
        refuses_pattern(pattern, text);
    }
}

/* Any of the letters may be the last but 200: as many ways through the pattern are open at once. */
static void many_ways_are_followed_at_once(void **state)
{
    char text[401];
    (void)state;
    memset(text, 'a', 400);
    text[400] = '\0';
    expect_match("[ab]*a[ab]{200}", text_of(text), true);
    text[199] = 'b';
    expect_match("[ab]*a[ab]{200}", text_of(text), false);
    text[198] = 'b', text[199] = 'a';
    expect_match("[ab]*a[ab]{200}", text_of(text), true);
}

/* Each of eight ways through the pattern is open from any of the letters on, which is more than
   there is room for. */
static void too_many_ways_are_refused(void **state)
{
    enum { WAYS = 8, LENGTH = 2000 };
    static const char said[] = "the pattern has too many ways to match: ";
    char pattern[WAYS * 40] = "", text[LENGTH + 1];
    (void)state;
    for (int i = 0; i < WAYS; i++)
        sprintf(pattern + strlen(pattern), "%s[ab]*a[ab]{%d}", i == 0 ? "" : "|", 980 + i);
    memset(text, 'a', LENGTH);
    text[LENGTH] = '\0';
    net_start(20);
    uint32_t y = NODE("RegexFullMatch", "y", input("x", AMP_STRING, DIMS(1)));
    output(y);
    set_word(y, "pattern", pattern);
    const struct amp_str words[] = {text_of(text)};
    assert_int_equal(net_run(true, net_tensor(AMP_STRING, DIMS(1), words)), AMP_MODEL);
    if (strstr(net.err.text, said) == NULL)
        fail_msg("%s", net.err.text);
}

/* ---- texts ---- */

static uint32_t start_split(const char *delimiter, int64_t most, int64_t count)
{
    net_start(20);
    const uint32_t x = input("x", AMP_STRING, DIMS(count));
    uint32_t node = net_node(0, "StringSplit", "y", 2, &x, 1);
    output(net_out(node, 0));
    output(net_out(node, 1));
    if (delimiter != NULL)
        set_word(net_out(node, 0), "delimiter", delimiter);
    set_int(net_out(node, 0), "maxsplit", most);
    return net_out(node, 0);
}

/* What Python's str.split gives, without spaces at the end of what is left when no more is split.
 */
static void texts_are_split_as_in_python(void **state)
{
    static const struct {
        const char *text, *delimiter;
        int most, count;
        const char *parts[6];
    } cases[] = {
        {"", NULL, -1, 0, {NULL}},
        {"", NULL, 0, 0, {NULL}},
        {"", NULL, 1, 0, {NULL}},
        {"", NULL, 2, 0, {NULL}},
        {"", NULL, 3, 0, {NULL}},
        {"  ", NULL, -1, 0, {NULL}},
        {"  ", NULL, 0, 0, {NULL}},
        {"  ", NULL, 1, 0, {NULL}},
        {"  ", NULL, 2, 0, {NULL}},
        {"  ", NULL, 3, 0, {NULL}},
        {" a ", NULL, -1, 1, {"a"}},
        {" a ", NULL, 0, 1, {"a"}},
        {" a ", NULL, 1, 1, {"a"}},
        {" a ", NULL, 2, 1, {"a"}},
        {" a ", NULL, 3, 1, {"a"}},
        {"a  b c ", NULL, -1, 3, {"a", "b", "c"}},
        {"a  b c ", NULL, 0, 1, {"a  b c"}},
        {"a  b c ", NULL, 1, 2, {"a", "b c"}},
        {"a  b c ", NULL, 2, 3, {"a", "b", "c"}},
        {"a  b c ", NULL, 3, 3, {"a", "b", "c"}},
        {"a\302\240\343\200\200b\011c", NULL, -1, 3, {"a", "b", "c"}},
        {"a\302\240\343\200\200b\011c", NULL, 0, 1, {"a\302\240\343\200\200b\011c"}},
        {"a\302\240\343\200\200b\011c", NULL, 1, 2, {"a", "b\011c"}},
        {"a\302\240\343\200\200b\011c", NULL, 2, 3, {"a", "b", "c"}},
        {"a\302\240\343\200\200b\011c", NULL, 3, 3, {"a", "b", "c"}},
        {"\303\251 \303\250", NULL, -1, 2, {"\303\251", "\303\250"}},
        {"\303\251 \303\250", NULL, 0, 1, {"\303\251 \303\250"}},
        {"\303\251 \303\250", NULL, 1, 2, {"\303\251", "\303\250"}},
        {"\303\251 \303\250", NULL, 2, 2, {"\303\251", "\303\250"}},
        {"\303\251 \303\250", NULL, 3, 2, {"\303\251", "\303\250"}},
        {"", ",", -1, 1, {""}},
        {"", ",", 0, 1, {""}},
        {"", ",", 1, 1, {""}},
        {"", ",", 2, 1, {""}},
        {"", ",", 4, 1, {""}},
        {",", ",", -1, 2, {"", ""}},
        {",", ",", 0, 1, {","}},
        {",", ",", 1, 2, {"", ""}},
        {",", ",", 2, 2, {"", ""}},
        {",", ",", 4, 2, {"", ""}},
        {"a,b", ",", -1, 2, {"a", "b"}},
        {"a,b", ",", 0, 1, {"a,b"}},
        {"a,b", ",", 1, 2, {"a", "b"}},
        {"a,b", ",", 2, 2, {"a", "b"}},
        {"a,b", ",", 4, 2, {"a", "b"}},
        {",a,,b,", ",", -1, 5, {"", "a", "", "b", ""}},
        {",a,,b,", ",", 0, 1, {",a,,b,"}},
        {",a,,b,", ",", 1, 2, {"", "a,,b,"}},
        {",a,,b,", ",", 2, 3, {"", "a", ",b,"}},
        {",a,,b,", ",", 4, 5, {"", "a", "", "b", ""}},
        {"abc", ",", -1, 1, {"abc"}},
        {"abc", ",", 0, 1, {"abc"}},
        {"abc", ",", 1, 1, {"abc"}},
        {"abc", ",", 2, 1, {"abc"}},
        {"abc", ",", 4, 1, {"abc"}},
        {"aaaa", "aa", -1, 3, {"", "", ""}},
        {"aaaa", "aa", 0, 1, {"aaaa"}},
        {"aaaa", "aa", 1, 2, {"", "aa"}},
        {"aa", "aa", -1, 2, {"", ""}},
        {"aa", "aa", 0, 1, {"aa"}},
        {"aa", "aa", 1, 2, {"", ""}},
        {"a", "aa", -1, 1, {"a"}},
        {"a", "aa", 0, 1, {"a"}},
        {"a", "aa", 1, 1, {"a"}},
        {"baabaac", "aa", -1, 3, {"b", "b", "c"}},
        {"baabaac", "aa", 0, 1, {"baabaac"}},
        {"baabaac", "aa", 1, 2, {"b", "baac"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_str text = text_of(cases[i].text);
        start_split(cases[i].delimiter, cases[i].most, 1);
        run_on(net_tensor(AMP_STRING, DIMS(1), &text));
        const struct amp_str *parts = net.outputs[0].data;
        assert_int_equal(((const int64_t *)net.outputs[1].data)[0], cases[i].count);
        assert_int_equal(amp_tensor_count(&net.outputs[0]), cases[i].count);
        for (int k = 0; k < cases[i].count; k++) {
            assert_int_equal(parts[k].size, strlen(cases[i].parts[k]));
            if (parts[k].size > 0)
                assert_memory_equal(parts[k].data, cases[i].parts[k], parts[k].size);
        }
    }
}

/* Python's str.isspace, of all characters of up to three bytes. */
static void spaces_are_those_of_python(void **state)
{
    static const uint16_t spaces[] = {
        0x09,   0x0a,   0x0b,   0x0c,   0x0d,   0x1c,   0x1d,   0x1e,   0x1f,   0x20,
        0x85,   0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
        0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    enum { FIRST = 1, LAST = 0xd7ff };
    struct amp_str *texts = calloc(LAST, sizeof *texts);
    char *room = calloc(LAST, 8);
    size_t next = 0;
    (void)state;
    assert_true(texts != NULL && room != NULL);
    for (unsigned code = FIRST; code <= LAST; code++) {
        char *text = room + (size_t)(code - FIRST) * 8, *at = text;
        *at++ = 'a';
        if (code < 0x80) {
            *at++ = (char)code;
        } else if (code < 0x800) {
            *at++ = (char)(0xc0 | code >> 6);
            *at++ = (char)(0x80 | (code & 0x3f));
        } else {
            *at++ = (char)(0xe0 | code >> 12);
            *at++ = (char)(0x80 | (code >> 6 & 0x3f));
            *at++ = (char)(0x80 | (code & 0x3f));
        }
        *at++ = 'b';
        texts[code - FIRST] = (struct amp_str){text, (size_t)(at - text)};
    }
    start_split(NULL, -1, LAST);
    run_on(net_tensor(AMP_STRING, DIMS(LAST), texts));
    for (unsigned code = FIRST; code <= LAST; code++) {
        bool is_space = next < sizeof spaces / sizeof *spaces && spaces[next] == code;
        next += is_space;
        if (((const int64_t *)net.outputs[1].data)[code - FIRST] != (is_space ? 2 : 1))
            fail_msg("U+%04X is %s", code, is_space ? "a space" : "none");
    }
    assert_int_equal(next, sizeof spaces / sizeof *spaces);
    free(texts);
    free(room);
}

/* A pool's items are numbered in 32 bits, and its tables have twice the room. */
static void pools_may_be_too_large(void **state)
{
    static const int64_t zero, item = 1;
    (void)state;
    net_start(9);
    uint32_t y = NODE("TfIdfVectorizer", "y", input("x", AMP_INT64, DIMS(1)));
    output(y);
    set_word(y, "mode", "TF");
    set_int(y, "min_gram_length", 1);
    set_int(y, "max_gram_length", 1);
    set_int(y, "max_skip_count", 0);
    set_array(y, "ngram_counts", AMP_ATTR_INTS, 1, &zero, sizeof zero);
    set_array(y, "ngram_indexes", AMP_ATTR_INTS, 1, &zero, sizeof zero);
    amp_node_set_attr(
        net.model, node_of(y),
        (struct amp_attr){
            .name = "pool_int64s", .type = AMP_ATTR_INTS, .count = UINT32_MAX / 4, .ints = &item});
    refuses(net_tensor(AMP_INT64, DIMS(1), &item), AMP_MODEL,
            "a pool of 1073741823 items is too large");
}

/* The bytes of all texts that come are more than a size_t counts: when one is there twice, or when
   both have as many. Nothing is read of them. */
static void texts_may_be_too_long(void **state)
{
    static const size_t sizes[][2] = {{SIZE_MAX / 2 + 1, 0}, {SIZE_MAX / 2, SIZE_MAX / 2 + 2}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct amp_str x = {"", sizes[k][0]}, y[] = {{"", sizes[k][1]}, {"", 0}};
        net_start(20);
        uint32_t joined = NODE("StringConcat", "z", input("x", AMP_STRING, DIMS(1)),
                               input("y", AMP_STRING, DIMS(k == 0 ? 2 : 1)));
        output(joined);
        const struct amp_tensor inputs[] = {*net_tensor(AMP_STRING, DIMS(1), &x),
                                            *net_tensor(AMP_STRING, DIMS(k == 0 ? 2 : 1), y)};
        refuses(inputs, AMP_MODEL, "the size of the output overflows");
    }
}

enum { GRAMS = 12, LONGEST = 3, ITEMS = 9 };

/* N-grams, of 1 to 3 items below 4, each only once. */
static struct {
    int64_t items[GRAMS][LONGEST], columns[GRAMS];
    int lengths[GRAMS], n;
} pool;

static void fill_pool(void)
{
    pool.n = 0;
    for (int length = 1; length <= LONGEST; length++)
        for (int k = 0; k < GRAMS / LONGEST; k++) {
            int64_t gram[LONGEST] = {0};
            bool is_there = false;
            for (int i = 0; i < length; i++)
                gram[i] = 1 + any_of(3);
            for (int i = 0; i < pool.n; i++)
                is_there |=
                    pool.lengths[i] == length && memcmp(pool.items[i], gram, sizeof gram) == 0;
            if (is_there)
                continue;
            memcpy(pool.items[pool.n], gram, sizeof gram);
            pool.lengths[pool.n++] = length;
        }
    for (int i = 0; i < pool.n; i++)
        pool.columns[i] = pool.n - 1 - i;
}

/* How often gram I is in ROW, its items one to SKIPS + 1 apart, all by the same distance. */
static int count_gram(int i, const int64_t *row, int n, int skips)
{
    int count = 0, length = pool.lengths[i];
    for (int distance = 1; distance <= (length == 1 ? 1 : skips + 1); distance++)
        for (int first = 0; first + (length - 1) * distance < n; first++) {
            bool is_same = true;
            for (int k = 0; k < length; k++)
                is_same &= row[first + k * distance] == pool.items[i][k];
            count += is_same;
        }
    return count;
}

static void grams_are_counted_at_all_distances(void **state)
{
    static const char *const modes[] = {"TF", "IDF", "TFIDF"};
    (void)state;
    for (uint32_t seed = 1; seed <= 120; seed++) {
        forest_state = seed;
        fill_pool();
        int mode = any_of(3), skips = any_of(4), least = 1 + any_of(3), n = any_of(ITEMS + 1);
        int most = least + any_of(LONGEST + 1 - least), n_listed = 0;
        int64_t row[ITEMS], listed[GRAMS * LONGEST], starts[LONGEST] = {0};
        float weights[GRAMS];
        double expected[GRAMS];
        for (int i = 0; i < pool.n; i++) {
            if (i == 0 || pool.lengths[i] != pool.lengths[i - 1])
                starts[pool.lengths[i] - 1] = n_listed;
            for (int k = 0; k < pool.lengths[i]; k++)
                listed[n_listed++] = pool.items[i][k];
            weights[i] = 0.5f + (float)i;
        }
        for (int i = 0; i < n; i++)
            row[i] = 1 + any_of(4);
        for (int i = 0; i < pool.n; i++) {
            bool is_wanted = pool.lengths[i] >= least && pool.lengths[i] <= most;
            int count = is_wanted ? count_gram(i, row, n, skips) : 0;
            expected[pool.columns[i]] = (mode == 1 ? count > 0 : count) *
                                        (mode == 0 ? 1.0 : (double)weights[pool.columns[i]]);
        }
        struct amp_shape shape = n == 1 && seed % 2 == 0 ? SCALAR : DIMS(n);
        uint32_t y = start_one("TfIdfVectorizer", 9, AMP_INT64, shape);
        set_word(y, "mode", modes[mode]);
        set_int(y, "max_skip_count", skips);
        set_int(y, "min_gram_length", least);
        set_int(y, "max_gram_length", most);
        set_list(y, "ngram_counts", LONGEST, starts);
        set_list(y, "ngram_indexes", (size_t)pool.n, pool.columns);
        set_list(y, "pool_int64s", (size_t)n_listed, listed);
        if (mode > 0)
            set_floats(y, "weights", (size_t)pool.n, weights);
        run_on(net_tensor(AMP_INT64, shape, row));
        expect_doubles(0, expected, (size_t)pool.n, 0);
    }
}

/* ---- cases ---- */

/* Has the cases of FAMILY run as a user would; returns all that is said, for the caller to free. */
static char *run_family(char *family)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_options options;
    char *argv[] = {(char[]){"ampconv"},      (char[]){"run"}, (char[]){"-v"},
                    (char[]){"--test-suite"}, family,          NULL};
    FILE *said = tmpfile();
    assert_non_null(said);
    int out = dup(1), errors = dup(2);
    assert_int_equal(amp_command_line_parse(5, argv, &options, &err), AMP_OK);
    fflush(stdout);
    fflush(stderr);
    assert_true(dup2(fileno(said), 1) == 1 && dup2(fileno(said), 2) == 2);
    AMP_IGNORE(amp_command_run(&options, &err));
    fflush(stdout);
    fflush(stderr);
    assert_true(dup2(out, 1) == 1 && dup2(errors, 2) == 2);
    close(out);
    close(errors);
    amp_command_line_free(&options);
    size_t size = (size_t)lseek(fileno(said), 0, SEEK_END);
    char *text = calloc(size + 2, 1);
    assert_non_null(text);
    text[0] = '\n';
    assert_true(pread(fileno(said), text + 1, size, 0) == (ssize_t)size);
    fclose(said);
    return text;
}

/* Each is passed, or refused with the words that it has for that. */
static void cases_pass_or_are_refused(void **state)
{
    char *const families[] = {(char[]){"ml"}, (char[]){"ml_tree"}, (char[]){"text"}};
    const char *cases = getenv("CASES");
    char place[1024], folder[1024];
    (void)state;
    assert_non_null(cases);
    assert_non_null(getcwd(place, sizeof place));
    snprintf(folder, sizeof folder, "%s/ops", cases);
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < AMP_COUNT(families); i++) {
        char *said = run_family(families[i]);
        char pattern[64];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/*", families[i]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++) {
            const char *path = found.gl_pathv[k], *name = strrchr(path, '/') + 1;
            char refused[1024], why[2048] = "", expected[4096];
            snprintf(refused, sizeof refused, "%s/refused", path);
            FILE *file = fopen(refused, "r");
            if (file != NULL)
                why[fread(why, 1, sizeof why - 1, file)] = '\0';
            if (file == NULL)
                snprintf(expected, sizeof expected, "\npassed %s\n", name);
            else
                snprintf(expected, sizeof expected, " %s: %s/model.onnx: ", name, path);
            if (file != NULL)
                fclose(file);
            const char *at = strstr(said, expected);
            if (at == NULL || strncmp(at + strlen(expected), why, strlen(why)) != 0)
                fail_msg("%s: %s%s in\n%s", path, expected, why, said);
        }
        globfree(&found);
        free(said);
    }
    assert_int_equal(chdir(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(ensembles_are_the_sum_of_their_trees),
        NET_TEST(classes_have_the_greatest_score),
        NET_TEST(newer_ensembles_are_the_sum_of_their_trees),
        NET_TEST(integers_are_no_numbers_of_trees),
        NET_TEST(probabilities_of_classes_are_not_0),
        NET_TEST(one_of_two_linear_classes),
        NET_TEST(labels_are_integers_where_there_are_no_words),
        NET_TEST(pairs_of_four_classes_are_six),
        NET_TEST(leaves_need_no_features),
        NET_TEST(leaves_may_have_no_weights),
        NET_TEST(scores_are_compared_as_precisely_as_the_input),
        NET_TEST(ways_of_trees_are_numbered),
        NET_TEST(nodes_of_trees_are_there),
        NET_TEST(classes_of_vector_machines_are_numbered),
        NET_TEST(pairs_of_classes_have_quantiles),
        NET_TEST(scores_become_what_is_asked_for),
        NET_TEST(encoders_look_every_key_up),
        NET_TEST(encoders_tell_keys_apart),
        NET_TEST(empty_lists_of_values_do_not_count),
        NET_TEST(encoders_have_defaults),
        NET_TEST(encoders_add_a_dim),
        NET_TEST(patterns_have_re2s_characters),
        NET_TEST(patterns_have_re2s_classes),
        NET_TEST(patterns_have_perls_classes),
        NET_TEST(patterns_have_re2s_groups),
        NET_TEST(patterns_have_re2s_repetitions),
        NET_TEST(what_re2_refuses_is_refused),
        NET_TEST(patterns_end_where_their_sizes_say),
        NET_TEST(patterns_without_memory_fail),
        NET_TEST(long_patterns_are_cut_in_messages),
        NET_TEST(many_ways_are_followed_at_once),
        NET_TEST(too_many_ways_are_refused),
        NET_TEST(texts_are_split_as_in_python),
        NET_TEST(spaces_are_those_of_python),
        NET_TEST(pools_may_be_too_large),
        NET_TEST(texts_may_be_too_long),
        NET_TEST(grams_are_counted_at_all_distances),
        cmocka_unit_test(cases_pass_or_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

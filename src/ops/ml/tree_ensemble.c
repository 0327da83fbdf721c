/*
 * TreeEnsembleClassifier, TreeEnsembleRegressor (ai.onnx.ml 1 to 5) and TreeEnsemble (5): reads the
 * trees on the first run, evaluates them for blocks of rows and makes labels and scores of what
 * comes out.
 *
 * Where a classifier has two classes and weights for one of them alone, that one score decides, as
 * in ONNX Runtime. With weights for both, the greater score does; ONNX Runtime takes class 1
 * whenever its score is above 0.
 */
#include "ops/kernel/kernel.h"
#include "ops/ml/tree_read.h"
#include "ops/ml/tree_score.h"

#include <omp.h>
#include <stdlib.h>

struct ensemble {
    struct amp_trees trees;
    struct amp_labels labels; /* of a classifier */
    bool is_single;           /* two classes, one of which has all the weights */
    bool is_positive;         /* no weight is below 0 */
};

static void destroy_ensemble(void *state)
{
    struct ensemble *ensemble = state;
    amp_trees_destroy(&ensemble->trees);
    free(ensemble);
}

/* Row INDEX's scores, which it may change, and HAS, as amp_trees_score has them. */
typedef void finish_fn(void *param, const struct ensemble *ensemble, int64_t index, double *scores,
                       const bool *has);

static void add_base(const struct amp_trees *trees, double *scores)
{
    for (int64_t i = 0; i < trees->n_base; i++)
        scores[i] += trees->base[i];
}

static enum amp_status check_rows(struct amp_ctx *ctx, const struct amp_trees *trees,
                                  struct amp_rows *rows)
{
    AMP_TRY(amp_rows_of(ctx, rows));
    if (rows->features >= trees->n_features)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "a node asks for feature %lld; input 0 has %lld features",
                        (long long)(trees->n_features - 1), (long long)rows->features);
}

/* Scores all rows and hands them to FINISH with PARAM, from several threads. */
static enum amp_status run_ensemble(struct amp_ctx *ctx, const struct ensemble *ensemble,
                                    finish_fn *finish, void *param)
{
    const struct amp_trees *trees = &ensemble->trees;
    struct amp_rows rows;
    AMP_TRY(check_rows(ctx, trees, &rows));
    int64_t n = trees->n_targets, threads = omp_get_max_threads();
    struct amp_tensor scratch = {.dtype = AMP_DOUBLE, .shape = {3, {threads, AMP_TREE_ROWS, n}}};
    struct amp_tensor flags = {.dtype = AMP_BOOL, .shape = scratch.shape};
    if (rows.count == 0)
        return AMP_OK;
    AMP_TRY(amp_tensor_alloc(&scratch, ctx->err));
    enum amp_status status = amp_tensor_alloc(&flags, ctx->err);
    bool is_large = rows.count * trees->n_roots >= AMP_PARALLEL_MIN / 16;
    int64_t last = status == AMP_OK ? rows.count : 0;
#pragma omp parallel for if (is_large)
    for (int64_t first = 0; first < last; first += AMP_TREE_ROWS) {
        int64_t count = last - first < AMP_TREE_ROWS ? last - first : AMP_TREE_ROWS;
        int64_t place = (int64_t)omp_get_thread_num() * AMP_TREE_ROWS * n;
        struct amp_tree_scores block = {(double *)scratch.data + place, (bool *)flags.data + place};
        amp_trees_score(trees, &rows, first, count, &block);
        for (int64_t i = 0; i < count; i++)
            finish(param, ensemble, first + i, block.scores + i * n, block.has + i * n);
    }
    amp_tensor_release(&scratch);
    amp_tensor_release(&flags);
    return status;
}

/* ---- Regression ---- */

static enum amp_status regressor_shape(struct amp_ctx *ctx)
{
    struct amp_rows rows;
    int64_t targets = amp_node_int(ctx->node, "n_targets", 1);
    AMP_TRY(amp_rows_of(ctx, &rows));
    if (targets < 1)
        return AMP_CTX_FAIL(ctx, "attribute 'n_targets' is %lld; 1 or more are needed",
                            (long long)targets);
    ctx->out[0]->shape = (struct amp_shape){2, {rows.count, targets}};
    return AMP_OK;
}

static void finish_regression(void *param, const struct ensemble *ensemble, int64_t index,
                              double *scores, const bool *has)
{
    const struct amp_trees *trees = &ensemble->trees;
    const struct amp_tensor *out = param;
    (void)has;
    add_base(trees, scores);
    amp_scores_transform(trees->transform, scores, trees->n_targets);
    for (int64_t i = 0; i < trees->n_targets; i++)
        amp_tensor_set_double(out, (size_t)(index * trees->n_targets + i), scores[i]);
}

/* The state, made when there is none; READ_OTHERS: TreeEnsemble's attributes. */
static enum amp_status read_regressor(struct amp_ctx *ctx, bool is_newer)
{
    int64_t targets = amp_node_int(ctx->node, "n_targets", 1);
    if (*ctx->state != NULL)
        return AMP_OK;
    struct ensemble *ensemble = amp_xcalloc(1, sizeof *ensemble);
    struct amp_trees *trees = &ensemble->trees;
    enum amp_status status = is_newer ? amp_trees_read(ctx, targets, trees)
                                      : amp_trees_read_lists(ctx, "target", targets, trees);
    if (status == AMP_OK)
        status = amp_list_check_any(ctx, "base_values", trees->n_base, targets, "targets");
    if (status == AMP_OK)
        *ctx->state = ensemble;
    else
        destroy_ensemble(ensemble);
    return status;
}

static enum amp_status regressor_run(struct amp_ctx *ctx)
{
    AMP_TRY(read_regressor(ctx, false));
    return run_ensemble(ctx, *ctx->state, finish_regression, ctx->out[0]);
}

const struct amp_op amp_op_tree_ensemble_regressor = {.name = "TreeEnsembleRegressor",
                                                      .domain = AMP_ML_DOMAIN,
                                                      .newest = 5,
                                                      .effect = AMP_COMPUTES,
                                                      .native = AMP_NATIVE_C,
                                                      .shape = regressor_shape,
                                                      .run = regressor_run,
                                                      .destroy = destroy_ensemble};

static enum amp_status ensemble_run(struct amp_ctx *ctx)
{
    AMP_TRY(read_regressor(ctx, true));
    return run_ensemble(ctx, *ctx->state, finish_regression, ctx->out[0]);
}

const struct amp_op amp_op_tree_ensemble = {.name = "TreeEnsemble",
                                            .domain = AMP_ML_DOMAIN,
                                            .newest = 5,
                                            .effect = AMP_COMPUTES,
                                            .native = AMP_NATIVE_C,
                                            .shape = regressor_shape,
                                            .run = ensemble_run,
                                            .destroy = destroy_ensemble};

/* ---- Classification ---- */

enum { OUT_LABELS, OUT_SCORES };

static enum amp_status classifier_shape(struct amp_ctx *ctx)
{
    struct amp_rows rows;
    struct amp_labels labels;
    AMP_TRY(amp_rows_of(ctx, &rows));
    amp_labels_read(ctx->node, "classlabels_int64s", &labels);
    if (labels.count < 1)
        return AMP_CTX_FAIL(ctx, "there are no labels of classes");
    ctx->out[OUT_LABELS]->shape = (struct amp_shape){1, {rows.count}};
    if (ctx->n_out > OUT_SCORES)
        ctx->out[OUT_SCORES]->shape = (struct amp_shape){2, {rows.count, labels.count}};
    return AMP_OK;
}

/* What is said of all weights together. */
static void survey_weights(struct ensemble *ensemble)
{
    const struct amp_trees *trees = &ensemble->trees;
    ensemble->is_single = trees->n_targets == 2 && trees->n_weights > 0;
    ensemble->is_positive = true;
    for (int64_t i = 0; i < trees->n_weights; i++) {
        ensemble->is_single =
            ensemble->is_single && trees->weights[i].target == trees->weights[0].target;
        ensemble->is_positive = ensemble->is_positive && trees->weights[i].value >= 0;
    }
}

static enum amp_status read_classifier(struct amp_ctx *ctx)
{
    if (*ctx->state != NULL)
        return AMP_OK;
    struct ensemble *ensemble = amp_xcalloc(1, sizeof *ensemble);
    struct amp_trees *trees = &ensemble->trees;
    amp_labels_read(ctx->node, "classlabels_int64s", &ensemble->labels);
    int64_t classes = ensemble->labels.count;
    enum amp_status status = amp_trees_read_lists(ctx, "class", classes, trees);
    bool is_one_of_two = classes == 2 && trees->n_base == 1;
    if (status == AMP_OK && !is_one_of_two)
        status = amp_list_check_any(ctx, "base_values", trees->n_base, classes, "classes");
    if (status == AMP_OK) {
        survey_weights(ensemble);
        *ctx->state = ensemble;
    } else {
        destroy_ensemble(ensemble);
    }
    return status;
}

/* The class with the greatest of the scores that a row has; 0 when it has none. */
static int64_t top_class(const struct ensemble *ensemble, const double *scores, const bool *has)
{
    const struct amp_trees *trees = &ensemble->trees;
    int64_t top = -1;
    for (int64_t i = 0; i < trees->n_targets; i++)
        if ((has[i] || i < trees->n_base) && (top < 0 || scores[i] > scores[top]))
            top = i;
    return top < 0 ? 0 : top;
}

/* Two classes, weights for one: their scores, transformed, from the one there is. */
static int64_t finish_single(const struct ensemble *ensemble, double *scores, const bool *has)
{
    const struct amp_trees *trees = &ensemble->trees;
    double score = has[1] ? scores[1] : scores[0];
    bool is_top = ensemble->is_positive ? score > 0.5 : score > 0;
    if (has[1] && trees->n_base == 2)
        scores[0] = -scores[1];
    if (has[1] || trees->n_base == 2)
        amp_scores_transform(trees->transform, scores, 2);
    else
        amp_scores_pair(ensemble->is_positive ? AMP_PAIR_COMPLEMENT : AMP_PAIR_MIRROR,
                        trees->transform, scores);
    return is_top;
}

struct classified {
    float *scores; /* NULL: not wanted */
    int64_t *tops;
    bool is_double; /* otherwise scores are rounded to float32 before labels are chosen */
};

static void finish_class(void *param, const struct ensemble *ensemble, int64_t index,
                         double *scores, const bool *has)
{
    const struct classified *classified = param;
    const struct amp_trees *trees = &ensemble->trees;
    int64_t n = trees->n_targets;
    add_base(trees, scores);
    for (int64_t i = 0; i < n && !classified->is_double; i++)
        scores[i] = (float)scores[i];
    if (ensemble->is_single) {
        classified->tops[index] = finish_single(ensemble, scores, has);
    } else {
        classified->tops[index] = n == 1 ? scores[0] > 0 : top_class(ensemble, scores, has);
        amp_scores_transform(trees->transform, scores, n);
    }
    for (int64_t i = 0; i < n && classified->scores != NULL; i++)
        classified->scores[index * n + i] = (float)scores[i];
}

static enum amp_status classifier_run(struct amp_ctx *ctx)
{
    AMP_TRY(read_classifier(ctx));
    const struct ensemble *ensemble = *ctx->state;
    struct amp_rows rows;
    AMP_TRY(amp_rows_of(ctx, &rows));
    struct amp_buffer *buffer =
        amp_scratch(ctx, "the classes of the rows", (size_t)rows.count, sizeof(int64_t));
    if (buffer == NULL)
        return ctx->err->status;
    struct classified classified = {
        .scores = amp_has_out(ctx, OUT_SCORES) ? ctx->out[OUT_SCORES]->data : NULL,
        .tops = buffer->data,
        .is_double = rows.x->dtype == AMP_DOUBLE};
    enum amp_status status = run_ensemble(ctx, ensemble, finish_class, &classified);
    if (status == AMP_OK)
        status = amp_labels_put(ctx, &ensemble->labels, classified.tops, rows.count,
                                ensemble->labels.count == 1);
    amp_buffer_unref(buffer);
    return status;
}

const struct amp_op amp_op_tree_ensemble_classifier = {.name = "TreeEnsembleClassifier",
                                                       .domain = AMP_ML_DOMAIN,
                                                       .newest = 5,
                                                       .effect = AMP_COMPUTES,
                                                       .native = AMP_NATIVE_C,
                                                       .dtype = amp_labels_dtype,
                                                       .shape = classifier_shape,
                                                       .run = classifier_run,
                                                       .destroy = destroy_ensemble};

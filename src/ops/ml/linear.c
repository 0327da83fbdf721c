/*
 * LinearClassifier and LinearRegressor (ai.onnx.ml 1): X * coefficients^T + intercepts, labels from
 * the greatest score. Sums are in double, scores are rounded to float32 before labels are chosen.
 */
#include "core/simd.h"
#include "ops/kernel/kernel.h"
#include "ops/ml/ml.h"

#include <stdlib.h>

struct linear {
    struct amp_rows rows;
    const float *coefficients; /* [targets, features] */
    const float *intercepts;   /* [targets]; NULL: 0 */
    int64_t targets;
    enum amp_transform transform;
};

/* What row INDEX gives for every target. ROW has room for the features. */
static void score_row(const struct linear *linear, int64_t index, union amp_wide *row,
                      double *scores)
{
    int64_t features = linear->rows.features;
    amp_rows_load(&linear->rows, index, row);
    for (int64_t t = 0; t < linear->targets; t++) {
        double sum = amp_rows_dot(row, linear->coefficients + t * features, features);
        scores[t] = (float)(sum + (linear->intercepts ? (double)linear->intercepts[t] : 0));
    }
}

/* The scores of all rows, double [rows, targets]; NULL, and the error is told, when there is not
   enough memory. */
static struct amp_buffer *score_rows(struct amp_ctx *ctx, const struct linear *linear)
{
    int64_t rows = linear->rows.count, targets = linear->targets;
    struct amp_buffer *buffer =
        amp_scratch(ctx, "scores", (size_t)rows, (size_t)targets * sizeof(double));
    if (buffer == NULL)
        return NULL;
    double *scores = buffer->data;
    bool is_large = rows * targets * linear->rows.features >= AMP_PARALLEL_MIN;
#pragma omp parallel if (is_large)
    {
        union amp_wide *row = amp_xmalloc((size_t)linear->rows.features, sizeof *row);
#pragma omp for
        for (int64_t i = 0; i < rows; i++)
            score_row(linear, i, row, scores + i * targets);
        free(row);
    }
    return buffer;
}

static enum amp_status read_linear(struct amp_ctx *ctx, int64_t targets, struct linear *linear)
{
    int64_t n_coefficients, n_intercepts;
    linear->targets = targets;
    linear->coefficients = amp_node_floats(ctx->node, "coefficients", &n_coefficients);
    linear->intercepts = amp_node_floats(ctx->node, "intercepts", &n_intercepts);
    AMP_TRY(amp_rows_of(ctx, &linear->rows));
    AMP_TRY(amp_transform_read(ctx, &linear->transform));
    AMP_TRY(amp_list_check_any(ctx, "intercepts", n_intercepts, targets, "targets"));
    if (n_intercepts == 0)
        linear->intercepts = NULL;
    if (linear->rows.features > 0 ? n_coefficients % linear->rows.features != 0 ||
                                        n_coefficients / linear->rows.features != targets
                                  : n_coefficients != 0)
        return AMP_CTX_FAIL(ctx,
                            "attribute 'coefficients' has %lld values; %lld for each of %lld "
                            "targets are needed",
                            (long long)n_coefficients, (long long)linear->rows.features,
                            (long long)targets);
    return AMP_OK;
}

/* ---- LinearRegressor ---- */

static enum amp_status regressor_shape(struct amp_ctx *ctx)
{
    struct amp_rows rows;
    int64_t targets = amp_node_int(ctx->node, "targets", 1);
    AMP_TRY(amp_rows_of(ctx, &rows));
    if (targets < 1)
        return AMP_CTX_FAIL(ctx, "attribute 'targets' is %lld; 1 or more are needed",
                            (long long)targets);
    ctx->out[0]->shape = (struct amp_shape){2, {rows.count, targets}};
    return AMP_OK;
}

static enum amp_status regressor_run(struct amp_ctx *ctx)
{
    struct linear linear;
    AMP_TRY(read_linear(ctx, amp_node_int(ctx->node, "targets", 1), &linear));
    struct amp_buffer *buffer = score_rows(ctx, &linear);
    if (buffer == NULL)
        return ctx->err->status;
    double *scores = buffer->data;
    float *out = ctx->out[0]->data;
    for (int64_t i = 0; i < linear.rows.count; i++)
        amp_scores_transform(linear.transform, scores + i * linear.targets, linear.targets);
    for (int64_t i = 0; i < linear.rows.count * linear.targets; i++)
        out[i] = (float)scores[i];
    amp_buffer_unref(buffer);
    return AMP_OK;
}

const struct amp_op amp_op_linear_regressor = {.name = "LinearRegressor",
                                               .domain = AMP_ML_DOMAIN,
                                               .newest = 1,
                                               .effect = AMP_COMPUTES,
                                               .native = AMP_NATIVE_C,
                                               .shape = regressor_shape,
                                               .run = regressor_run};

/* ---- LinearClassifier ---- */

enum { OUT_LABELS, OUT_SCORES };

/* Sets of weights and columns of scores: one set serves two classes where there are labels for
   both. */
struct classes {
    struct amp_rows rows;
    struct amp_labels labels;
    int64_t sets, columns;
};

static enum amp_status read_classes(struct amp_ctx *ctx, struct classes *classes)
{
    int64_t n_intercepts, n_coefficients;
    amp_labels_read(ctx->node, "classlabels_ints", &classes->labels);
    amp_node_floats(ctx->node, "intercepts", &n_intercepts);
    amp_node_floats(ctx->node, "coefficients", &n_coefficients);
    AMP_TRY(amp_rows_of(ctx, &classes->rows));
    classes->sets = n_intercepts;
    if (n_intercepts == 0)
        classes->sets = classes->rows.features > 0 ? n_coefficients / classes->rows.features
                                                   : classes->labels.count;
    classes->columns = classes->sets == 1 && classes->labels.count == 2 ? 2 : classes->sets;
    if (classes->sets < 1 || (classes->sets > 1 && classes->labels.count != classes->sets))
        return AMP_CTX_FAIL(ctx, "%lld labels for %lld sets of weights",
                            (long long)classes->labels.count, (long long)classes->sets);
    return AMP_OK;
}

static enum amp_status classifier_shape(struct amp_ctx *ctx)
{
    struct classes classes;
    AMP_TRY(read_classes(ctx, &classes));
    ctx->out[OUT_LABELS]->shape = (struct amp_shape){1, {classes.rows.count}};
    if (ctx->n_out > OUT_SCORES)
        ctx->out[OUT_SCORES]->shape = (struct amp_shape){2, {classes.rows.count, classes.columns}};
    return AMP_OK;
}

/* The class of a row and, where wanted, its scores to OUT. */
static int64_t finish_row(const struct linear *linear, const struct classes *classes,
                          double *scores, float *out)
{
    double pair[2] = {scores[0], 0};
    int64_t top = classes->sets == 1 ? scores[0] > 0 : amp_scores_top(scores, classes->sets);
    if (classes->columns > classes->sets) {
        amp_scores_pair(AMP_PAIR_COMPLEMENT, linear->transform, pair);
        scores = pair;
    } else {
        amp_scores_transform(linear->transform, scores, classes->columns);
    }
    for (int64_t c = 0; c < classes->columns && out != NULL; c++)
        out[c] = (float)scores[c];
    return top;
}

static enum amp_status classifier_run(struct amp_ctx *ctx)
{
    struct linear linear;
    struct classes classes;
    AMP_TRY(read_classes(ctx, &classes));
    AMP_TRY(read_linear(ctx, classes.sets, &linear));
    int64_t rows = linear.rows.count;
    struct amp_buffer *buffer = score_rows(ctx, &linear), *tops_buffer;
    if (buffer == NULL)
        return ctx->err->status;
    tops_buffer = amp_scratch(ctx, "the classes of the rows", (size_t)rows, sizeof(int64_t));
    if (tops_buffer == NULL) {
        amp_buffer_unref(buffer);
        return ctx->err->status;
    }
    double *scores = buffer->data;
    int64_t *tops = tops_buffer->data;
    float *out = amp_has_out(ctx, OUT_SCORES) ? ctx->out[OUT_SCORES]->data : NULL;
    for (int64_t i = 0; i < rows; i++)
        tops[i] = finish_row(&linear, &classes, scores + i * classes.sets,
                             out ? out + i * classes.columns : NULL);
    bool is_number = classes.sets == 1 && classes.labels.count != 2;
    enum amp_status status = amp_labels_put(ctx, &classes.labels, tops, rows, is_number);
    amp_buffer_unref(tops_buffer);
    amp_buffer_unref(buffer);
    return status;
}

const struct amp_op amp_op_linear_classifier = {.name = "LinearClassifier",
                                                .domain = AMP_ML_DOMAIN,
                                                .newest = 1,
                                                .effect = AMP_COMPUTES,
                                                .native = AMP_NATIVE_C,
                                                .dtype = amp_labels_dtype,
                                                .shape = classifier_shape,
                                                .run = classifier_run};

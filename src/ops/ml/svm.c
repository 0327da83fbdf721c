/*
 * SVMClassifier and SVMRegressor (ai.onnx.ml 1): kernels between rows and support vectors, or plain
 * products where there are none. Classes are decided by the votes of all pairs; probabilities of
 * pairs are coupled by the second method of Wu, Lin and Weng, "Probability Estimates for
 * Multi-class Classification by Pairwise Coupling" (2004), as libsvm has it.
 */
#include "core/simd.h"
#include "ops/kernel/kernel.h"
#include "ops/ml/ml.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum kernel { LINEAR, POLY, RBF, SIGMOID };

struct svm {
    struct amp_rows rows;
    enum kernel kernel;
    double gamma, coef0, degree;
    const float *vectors; /* [n_vectors, features] */
    int64_t n_vectors;
    const float *coefficients;
    int64_t n_coefficients;
    const float *rho;
    int64_t n_rho;
    enum amp_transform transform;
};

static double squared_distance(const union amp_wide *a, const float *b, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (a[i].f - (double)b[i]) * (a[i].f - (double)b[i]);
    return sum;
}

/* The kernel function of ROW and support vector VECTOR. */
static double apply_kernel(const struct svm *svm, const union amp_wide *row, const float *vector)
{
    int64_t n = svm->rows.features;
    if (svm->kernel == RBF)
        return exp(-svm->gamma * squared_distance(row, vector, n));
    double product = amp_rows_dot(row, vector, n);
    if (svm->kernel == POLY)
        return pow(svm->gamma * product + svm->coef0, svm->degree);
    if (svm->kernel == SIGMOID)
        return tanh(svm->gamma * product + svm->coef0);
    return product;
}

static enum amp_status read_kernel(struct amp_ctx *ctx, struct svm *svm)
{
    static const char *const kernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID", NULL};
    int choice = LINEAR;
    int64_t count;
    const float *params = amp_node_floats(ctx->node, "kernel_params", &count);
    AMP_TRY(amp_ctx_choice(ctx, "kernel_type", kernels, &choice));
    svm->kernel = (enum kernel)choice;
    if (count != 0 && count != 3)
        return AMP_CTX_FAIL(ctx,
                            "attribute 'kernel_params' has %lld values; gamma, coef0 and degree "
                            "are needed",
                            (long long)count);
    if (count == 3) {
        svm->gamma = params[0];
        svm->coef0 = params[1];
        svm->degree = params[2];
    }
    return AMP_OK;
}

/* What both operators have. N_VECTORS: the number of support vectors; 0: LINEAR it is. */
static enum amp_status read_svm(struct amp_ctx *ctx, int64_t n_vectors, struct svm *svm)
{
    int64_t count;
    *svm = (struct svm){.n_vectors = n_vectors};
    AMP_TRY(amp_rows_of(ctx, &svm->rows));
    AMP_TRY(read_kernel(ctx, svm));
    AMP_TRY(amp_transform_read(ctx, &svm->transform));
    svm->vectors = amp_node_floats(ctx->node, "support_vectors", &count);
    svm->coefficients = amp_node_floats(ctx->node, "coefficients", &svm->n_coefficients);
    svm->rho = amp_node_floats(ctx->node, "rho", &svm->n_rho);
    if (n_vectors == 0) {
        svm->kernel = LINEAR;
        return AMP_OK;
    }
    int64_t features = svm->rows.features;
    if (features > 0 ? count % features != 0 || count / features != n_vectors : count != 0)
        return AMP_CTX_FAIL(ctx,
                            "attribute 'support_vectors' has %lld values; %lld vectors of %lld "
                            "features are needed",
                            (long long)count, (long long)n_vectors, (long long)features);
    return AMP_OK;
}

static enum amp_status check_least(struct amp_ctx *ctx, const char *name, int64_t count,
                                   int64_t least)
{
    if (count >= least)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "attribute '%s' has %lld values; %lld are needed", name,
                        (long long)count, (long long)least);
}

/* ---- SVMRegressor ---- */

static enum amp_status regressor_shape(struct amp_ctx *ctx)
{
    struct amp_rows rows;
    AMP_TRY(amp_rows_of(ctx, &rows));
    ctx->out[0]->shape = (struct amp_shape){2, {rows.count, 1}};
    return AMP_OK;
}

static double regress(const struct svm *svm, int64_t index, union amp_wide *row)
{
    amp_rows_load(&svm->rows, index, row);
    double sum = svm->rho[0];
    if (svm->n_vectors == 0)
        return sum + amp_rows_dot(row, svm->coefficients, svm->rows.features);
    for (int64_t v = 0; v < svm->n_vectors; v++)
        sum += (double)svm->coefficients[v] *
               apply_kernel(svm, row, svm->vectors + v * svm->rows.features);
    return sum;
}

static enum amp_status read_regressor(struct amp_ctx *ctx, struct svm *svm)
{
    int64_t n_vectors = amp_node_int(ctx->node, "n_supports", 0);
    if (n_vectors < 0)
        return AMP_CTX_FAIL(ctx, "attribute 'n_supports' is %lld", (long long)n_vectors);
    AMP_TRY(read_svm(ctx, n_vectors, svm));
    AMP_TRY(check_least(ctx, "rho", svm->n_rho, 1));
    return check_least(ctx, "coefficients", svm->n_coefficients,
                       n_vectors > 0 ? n_vectors : svm->rows.features);
}

static enum amp_status regressor_run(struct amp_ctx *ctx)
{
    struct svm svm;
    AMP_TRY(read_regressor(ctx, &svm));
    bool is_one_class = amp_node_int(ctx->node, "one_class", 0) != 0;
    float *out = ctx->out[0]->data;
    bool is_large = svm.rows.count * (svm.n_vectors + 1) * svm.rows.features >= AMP_PARALLEL_MIN;
#pragma omp parallel if (is_large)
    {
        union amp_wide *row = amp_xmalloc((size_t)svm.rows.features, sizeof *row);
#pragma omp for
        for (int64_t i = 0; i < svm.rows.count; i++) {
            double value = regress(&svm, i, row);
            out[i] = is_one_class ? value > 0 ? 1 : -1 : (float)value;
        }
        free(row);
    }
    return AMP_OK;
}

const struct amp_op amp_op_svm_regressor = {.name = "SVMRegressor",
                                            .domain = AMP_ML_DOMAIN,
                                            .newest = 1,
                                            .effect = AMP_COMPUTES,
                                            .native = AMP_NATIVE_C,
                                            .shape = regressor_shape,
                                            .run = regressor_run};

/* ---- SVMClassifier ---- */

enum { OUT_LABELS, OUT_SCORES };

/* Pairs of classes are numbered AB, AC, ..., BC, ...; columns are those of the scores. */
struct classifier {
    struct svm svm;
    struct amp_labels labels;
    const int64_t *per_class;     /* support vectors of each class; NULL: none, weights per class */
    const float *prob_a, *prob_b; /* [pairs]; NULL: no probabilities */
    int64_t n_classes, n_pairs, n_columns;
    bool is_positive; /* no coefficient is below 0 */
};

/* What the decision about one row needs. */
struct scratch {
    union amp_wide *row; /* [features] */
    double *kernels;     /* [vectors] */
    double *scores;      /* [pairs], [classes] or [columns], whichever are most */
    double *matrix;      /* [classes, classes]: pairwise probabilities, then Q of the coupling */
    double *estimate;    /* [classes] */
    double *product;     /* [classes] */
    int64_t *votes;      /* [classes] */
};

enum { MAX_CLASSES = 65535 };

/* The numbers of classes, pairs and columns; *N_VECTORS: the support vectors of all classes. */
static enum amp_status read_counts(struct amp_ctx *ctx, struct classifier *c, int64_t *n_vectors)
{
    size_t count;
    int64_t n_prob;
    const int64_t *per_class = amp_node_ints(ctx->node, "vectors_per_class", &count);
    *c = (struct classifier){.n_classes = 0};
    *n_vectors = 0;
    amp_labels_read(ctx->node, "classlabels_ints", &c->labels);
    c->n_classes = c->labels.count;
    if (c->n_classes < 1 || c->n_classes > MAX_CLASSES)
        return AMP_CTX_FAIL(ctx, "%lld labels of classes; 1 to %d are possible",
                            (long long)c->n_classes, MAX_CLASSES);
    for (size_t i = 0; i < count; i++) {
        if (per_class[i] < 0 || per_class[i] > INT32_MAX ||
            (*n_vectors += per_class[i]) > INT32_MAX)
            return AMP_CTX_FAIL(ctx, "attribute 'vectors_per_class' has the value %lld",
                                (long long)per_class[i]);
    }
    if (*n_vectors > 0) {
        AMP_TRY(amp_list_check(ctx, "vectors_per_class", (int64_t)count, c->n_classes, "classes"));
        c->per_class = per_class;
    }
    c->prob_a = amp_node_floats(ctx->node, "prob_a", &n_prob);
    c->n_pairs = c->n_classes * (c->n_classes - 1) / 2;
    c->n_columns = c->n_classes;
    if (c->per_class != NULL && n_prob == 0)
        c->n_columns = c->n_classes > 2 ? c->n_pairs : 2;
    return AMP_OK;
}

static enum amp_status read_probabilities(struct amp_ctx *ctx, struct classifier *c)
{
    int64_t n_a, n_b;
    c->prob_a = amp_node_floats(ctx->node, "prob_a", &n_a);
    c->prob_b = amp_node_floats(ctx->node, "prob_b", &n_b);
    if (n_a == 0 && n_b == 0) {
        c->prob_a = NULL;
        return AMP_OK;
    }
    AMP_TRY(check_least(ctx, "prob_a", n_a, c->n_pairs));
    return check_least(ctx, "prob_b", n_b, c->n_pairs);
}

static enum amp_status read_classifier(struct amp_ctx *ctx, struct classifier *c)
{
    int64_t n_vectors;
    AMP_TRY(read_counts(ctx, c, &n_vectors));
    AMP_TRY(read_svm(ctx, n_vectors, &c->svm));
    AMP_TRY(read_probabilities(ctx, c));
    int64_t features = c->svm.rows.features, given = c->svm.n_coefficients;
    if (c->per_class != NULL) {
        AMP_TRY(check_least(ctx, "coefficients", given, (c->n_classes - 1) * n_vectors));
        AMP_TRY(check_least(ctx, "rho", c->svm.n_rho, c->n_pairs));
    } else if (given % c->n_classes != 0 || given / c->n_classes != features) {
        return AMP_CTX_FAIL(ctx,
                            "attribute 'coefficients' has %lld values; %lld for each of %lld "
                            "classes are needed",
                            (long long)given, (long long)features, (long long)c->n_classes);
    } else {
        AMP_TRY(check_least(ctx, "rho", c->svm.n_rho, 1));
    }
    c->is_positive = true;
    for (int64_t i = 0; i < given; i++)
        c->is_positive = c->is_positive && c->svm.coefficients[i] >= 0;
    return AMP_OK;
}

static enum amp_status classifier_shape(struct amp_ctx *ctx)
{
    struct amp_rows rows;
    struct classifier c;
    int64_t n_vectors;
    AMP_TRY(amp_rows_of(ctx, &rows));
    AMP_TRY(read_counts(ctx, &c, &n_vectors));
    ctx->out[OUT_LABELS]->shape = (struct amp_shape){1, {rows.count}};
    if (ctx->n_out > OUT_SCORES)
        ctx->out[OUT_SCORES]->shape = (struct amp_shape){2, {rows.count, c.n_columns}};
    return AMP_OK;
}

static double weighted_sum(const float *weights, const double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)weights[i] * values[i];
    return sum;
}

/* The scores of all pairs, and the votes that follow from them. Row K of the coefficients holds for
   each vector that of its class against the K-th of the others. */
static void vote(const struct classifier *c, struct scratch *s)
{
    const float *weights = c->svm.coefficients;
    int64_t n_vectors = c->svm.n_vectors, start_i = 0, pair = 0;
    memset(s->votes, 0, (size_t)c->n_classes * sizeof *s->votes);
    for (int64_t i = 0; i < c->n_classes; i++) {
        int64_t start_j = start_i + c->per_class[i];
        for (int64_t j = i + 1; j < c->n_classes; j++, pair++) {
            double sum = (double)c->svm.rho[pair];
            sum += weighted_sum(weights + (j - 1) * n_vectors + start_i, s->kernels + start_i,
                                c->per_class[i]);
            sum += weighted_sum(weights + i * n_vectors + start_j, s->kernels + start_j,
                                c->per_class[j]);
            s->scores[pair] = (float)sum;
            s->votes[sum > 0 ? i : j]++;
            start_j += c->per_class[j];
        }
        start_i += c->per_class[i];
    }
}

/* One step of the coupling: every estimate in turn is set to its best, the others staying in
   proportion. */
static void improve(int64_t n, const double *q, double *p, double *qp, double pqp)
{
    for (int64_t i = 0; i < n; i++) {
        double diagonal = q[i * n + i], diff = (pqp - qp[i]) / diagonal;
        p[i] += diff;
        pqp = (pqp + diff * (diff * diagonal + 2 * qp[i])) / (1 + diff) / (1 + diff);
        for (int64_t j = 0; j < n; j++) {
            qp[j] = (qp[j] + diff * q[i * n + j]) / (1 + diff);
            p[j] /= 1 + diff;
        }
    }
}

/* P, the probabilities of N classes with the least p^T Q p, all below 0.005 / N from it. */
static void couple(int64_t n, const double *q, double *p, double *qp)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = 1 / (double)n;
    for (int step = 0; step < 100; step++) {
        double pqp = 0, error = 0;
        for (int64_t i = 0; i < n; i++) {
            qp[i] = 0;
            for (int64_t j = 0; j < n; j++)
                qp[i] += q[i * n + j] * p[j];
            pqp += p[i] * qp[i];
        }
        for (int64_t i = 0; i < n; i++)
            error = fmax(error, fabs(qp[i] - pqp));
        if (error < 0.005 / (double)n)
            return;
        improve(n, q, p, qp, pqp);
    }
}

/* From the pairs' scores the classes' probabilities, to s->scores. Q[i][j] = -r[j][i] * r[i][j],
   and the sum of r[j][i] squared on the diagonal, r[i][j] being the probability of i against j. */
static void estimate(const struct classifier *c, struct scratch *s)
{
    int64_t n = c->n_classes, pair = 0;
    memset(s->matrix, 0, (size_t)(n * n) * sizeof *s->matrix);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++, pair++) {
            double margin = s->scores[pair] * (double)c->prob_a[pair] + (double)c->prob_b[pair];
            double r = fmin(fmax(1 - amp_logistic(margin), 1e-7), 1 - 1e-7);
            s->matrix[i * n + j] = s->matrix[j * n + i] = -r * (1 - r);
            s->matrix[i * n + i] += (1 - r) * (1 - r);
            s->matrix[j * n + j] += r * r;
        }
    couple(n, s->matrix, s->estimate, s->product);
    memcpy(s->scores, s->estimate, (size_t)n * sizeof *s->scores);
}

/* The class of a row without votes, one of two (0 and 1) where there is but one pair: with weights
   that are all positive a score is a probability. */
static int64_t choose(const struct classifier *c, const double *scores)
{
    int64_t top = amp_scores_top(scores, c->n_classes);
    bool is_pair = c->n_pairs == 1 && c->prob_a == NULL;
    return is_pair && scores[top] > 0 && (!c->is_positive || scores[top] >= 0.5) ? 1 : top;
}

static int64_t most_votes(const int64_t *votes, int64_t n)
{
    int64_t top = 0;
    for (int64_t i = 1; i < n; i++)
        top = votes[i] > votes[top] ? i : top;
    return top;
}

/* The class of row INDEX and, where wanted, its scores to OUT. */
static int64_t classify(const struct classifier *c, int64_t index, struct scratch *s, float *out)
{
    const struct svm *svm = &c->svm;
    int64_t features = svm->rows.features, top;
    amp_rows_load(&svm->rows, index, s->row);
    if (c->per_class == NULL) {
        for (int64_t k = 0; k < c->n_classes; k++)
            s->scores[k] =
                (float)(amp_rows_dot(s->row, svm->coefficients + k * features, features) +
                        (double)svm->rho[0]);
        top = choose(c, s->scores);
    } else {
        for (int64_t v = 0; v < svm->n_vectors; v++)
            s->kernels[v] = apply_kernel(svm, s->row, svm->vectors + v * features);
        vote(c, s);
        if (c->prob_a != NULL)
            estimate(c, s);
        top = most_votes(s->votes, c->n_classes);
    }
    if (c->per_class != NULL && c->prob_a == NULL && c->n_classes <= 2) {
        bool is_plain = svm->transform == AMP_TRANSFORM_NONE;
        amp_scores_pair(is_plain ? AMP_PAIR_MIRROR : AMP_PAIR_COMPLEMENT, svm->transform,
                        s->scores);
    } else {
        amp_scores_transform(svm->transform, s->scores, c->n_columns);
    }
    for (int64_t k = 0; k < c->n_columns && out != NULL; k++)
        out[k] = (float)s->scores[k];
    return top;
}

/* Lays S (NULL: only counted) out from DATA on, the memory of one thread, in elements of 8 bytes,
   and returns how many they are: what needs n_classes squared only where there is use for it. */
static size_t lay_out(const struct classifier *c, double *data, struct scratch *s)
{
    size_t n = (size_t)c->n_classes, scores = (size_t)c->n_columns;
    bool has_votes = c->per_class != NULL, has_estimates = has_votes && c->prob_a != NULL;
    scores = has_votes && (size_t)c->n_pairs > scores ? (size_t)c->n_pairs : scores;
    scores = scores > 2 ? scores : 2;
    size_t row = scores + (size_t)c->svm.n_vectors;
    size_t matrix = row + (size_t)c->svm.rows.features * sizeof(union amp_wide) / sizeof *data;
    size_t estimate = matrix + (has_estimates ? n * n : 0);
    if (s == NULL)
        return estimate + 3 * n;
    *s = (struct scratch){.scores = data,
                          .kernels = data + scores,
                          .row = (union amp_wide *)(data + row),
                          .matrix = data + matrix,
                          .estimate = data + estimate,
                          .product = data + estimate + n,
                          .votes = (void *)(data + estimate + 2 * n)};
    memset(data, 0, scores * sizeof *data);
    return estimate + 3 * n;
}

static void classify_rows(const struct classifier *c, double *memory, int64_t *tops, float *out)
{
    int64_t rows = c->svm.rows.count;
    size_t size = lay_out(c, NULL, NULL);
    bool is_large = rows * (c->svm.n_coefficients + c->n_classes) >= AMP_PARALLEL_MIN;
#pragma omp parallel if (is_large)
    {
        struct scratch scratch = {.row = NULL};
        lay_out(c, memory + size * (size_t)omp_get_thread_num(), &scratch);
#pragma omp for
        for (int64_t i = 0; i < rows; i++)
            tops[i] = classify(c, i, &scratch, out ? out + i * c->n_columns : NULL);
    }
}

static enum amp_status classifier_run(struct amp_ctx *ctx)
{
    struct classifier c;
    AMP_TRY(read_classifier(ctx, &c));
    size_t rows = (size_t)c.svm.rows.count, threads = (size_t)omp_get_max_threads();
    float *out = amp_has_out(ctx, OUT_SCORES) ? ctx->out[OUT_SCORES]->data : NULL;
    struct amp_buffer *tops = amp_scratch(ctx, "the classes of the rows", rows, sizeof(int64_t));
    struct amp_buffer *memory = NULL;
    if (tops != NULL)
        memory = amp_scratch(ctx, "the work of a support vector machine", lay_out(&c, NULL, NULL),
                             threads * sizeof(double));
    enum amp_status status = ctx->err->status;
    if (memory != NULL) {
        classify_rows(&c, memory->data, tops->data, out);
        status = amp_labels_put(ctx, &c.labels, tops->data, (int64_t)rows, false);
    }
    amp_buffer_unref(memory);
    amp_buffer_unref(tops);
    return status;
}

const struct amp_op amp_op_svm_classifier = {.name = "SVMClassifier",
                                             .domain = AMP_ML_DOMAIN,
                                             .newest = 1,
                                             .effect = AMP_COMPUTES,
                                             .native = AMP_NATIVE_C,
                                             .dtype = amp_labels_dtype,
                                             .shape = classifier_shape,
                                             .run = classifier_run};

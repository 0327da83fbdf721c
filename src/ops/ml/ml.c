/*
 * What the operators of ai.onnx.ml share: access to rows and attributes, labels, and transforms of
 * scores. Computes in double and leaves rounding to whoever stores the results.
 */
#include "ops/ml/ml.h"

#include "ops/kernel/data_movement.h"

#include <math.h>
#include <string.h>

enum amp_status amp_rows_of(struct amp_ctx *ctx, struct amp_rows *rows)
{
    const struct amp_shape *shape = &ctx->in[0]->shape;
    *rows = (struct amp_rows){ctx->in[0], AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN};
    if (shape->rank < 0)
        return AMP_OK;
    if (shape->rank != 1 && shape->rank != 2)
        return AMP_CTX_FAIL(ctx, "input 0 has rank %d; rows of features or one row are needed",
                            shape->rank);
    rows->count = shape->rank == 1 ? 1 : shape->dims[0];
    rows->features = shape->dims[shape->rank - 1];
    return AMP_OK;
}

void amp_rows_load(const struct amp_rows *rows, int64_t index, union amp_wide *row)
{
    const struct amp_tensor *x = rows->x;
    amp_wide_load(
        (struct amp_stretch){x->dtype, x->data, index * rows->features, 1, rows->features}, row);
    if (amp_wide_kind_of(x->dtype) != AMP_WIDE_FLOAT)
        amp_wide_to_float(amp_wide_kind_of(x->dtype), row, rows->features);
}

double amp_rows_dot(const union amp_wide *a, const float *b, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i].f * (double)b[i];
    return sum;
}

/* ---- Attributes ---- */

static enum amp_status copy_tensor(struct amp_ctx *ctx, const struct amp_tensor *from,
                                   struct amp_tensor *list)
{
    int64_t count = amp_shape_count(&from->shape);
    *list = (struct amp_tensor){.dtype = from->dtype, .shape = {1, {count}}};
    AMP_TRY(amp_tensor_alloc(list, ctx->err));
    amp_tensor_copy(from, list->data);
    return AMP_OK;
}

/* A pointer to constant data in a tensor, which no one writes to. */
static void *borrow(const void *data)
{
    union {
        const void *constant;
        void *data;
    } pun = {.constant = data};
    return pun.data;
}

enum amp_status amp_list_of(struct amp_ctx *ctx, const char *name, struct amp_tensor *list)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, name);
    *list = (struct amp_tensor){.shape = {1, {0}}};
    if (attr == NULL)
        return AMP_OK;
    list->shape.dims[0] = (int64_t)attr->count;
    if (attr->type == AMP_ATTR_TENSOR && attr->count == 1)
        return copy_tensor(ctx, attr->tensors[0], list);
    if (attr->type == AMP_ATTR_FLOATS) {
        list->dtype = AMP_FLOAT;
        list->data = borrow(attr->floats);
    } else if (attr->type == AMP_ATTR_INTS) {
        list->dtype = AMP_INT64;
        list->data = borrow(attr->ints);
    } else if (attr->type == AMP_ATTR_STRINGS) {
        list->dtype = AMP_STRING;
        list->data = borrow(attr->strings);
    } else {
        return AMP_CTX_FAIL(ctx, "attribute '%s' holds no list", name);
    }
    return AMP_OK;
}

enum amp_status amp_list_check(struct amp_ctx *ctx, const char *name, int64_t count, int64_t wanted,
                               const char *what)
{
    if (count == wanted)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "attribute '%s' has %lld values; one for each of %lld %s is needed",
                        name, (long long)count, (long long)wanted, what);
}

enum amp_status amp_list_check_any(struct amp_ctx *ctx, const char *name, int64_t count,
                                   int64_t wanted, const char *what)
{
    return count == 0 ? AMP_OK : amp_list_check(ctx, name, count, wanted, what);
}

const float *amp_node_floats(const struct amp_node *node, const char *name, int64_t *count)
{
    const struct amp_attr *attr = amp_node_attr(node, name);
    *count = attr != NULL ? (int64_t)attr->count : 0;
    return attr != NULL ? attr->floats : NULL;
}

/* ---- Labels ---- */

void amp_labels_read(const struct amp_node *node, const char *ints_name, struct amp_labels *labels)
{
    const struct amp_attr *attr = amp_node_attr(node, "classlabels_strings");
    size_t count;
    *labels = (struct amp_labels){.count = 0};
    if (attr != NULL && attr->count > 0) {
        labels->strings = attr->strings;
        labels->count = (int64_t)attr->count;
        return;
    }
    labels->ints = amp_node_ints(node, ints_name, &count);
    labels->count = (int64_t)count;
}

enum amp_dtype amp_labels_dtype(const struct amp_model *model, const struct amp_node *node,
                                uint32_t i)
{
    (void)model;
    const struct amp_attr *strings = amp_node_attr(node, "classlabels_strings");
    if (i > 0)
        return AMP_UNDEFINED;
    return strings != NULL && strings->count > 0 ? AMP_STRING : AMP_INT64;
}

enum amp_status amp_labels_put(struct amp_ctx *ctx, const struct amp_labels *labels,
                               const int64_t *indices, int64_t rows, bool is_number)
{
    static const struct amp_str numbers[] = {{"0", 1}, {"1", 1}};
    if (!amp_has_out(ctx, 0))
        return AMP_OK;
    struct amp_tensor *out = ctx->out[0];
    for (int64_t i = 0; i < rows; i++) {
        int64_t index = indices[i];
        if (out->dtype == AMP_STRING)
            ((struct amp_str *)out->data)[i] = is_number ? numbers[index] : labels->strings[index];
        else
            ((int64_t *)out->data)[i] = is_number ? index : labels->ints[index];
    }
    return amp_move_done(ctx, 0);
}

/* ---- Scores ---- */

enum amp_status amp_transform_read(const struct amp_ctx *ctx, enum amp_transform *transform)
{
    static const char *const names[] = {"NONE",         "SOFTMAX", "LOGISTIC",
                                        "SOFTMAX_ZERO", "PROBIT",  NULL};
    int choice = AMP_TRANSFORM_NONE;
    AMP_TRY(amp_ctx_choice(ctx, "post_transform", names, &choice));
    *transform = (enum amp_transform)choice;
    return AMP_OK;
}

double amp_logistic(double x)
{
    double y = 1 / (1 + exp(-fabs(x)));
    return x < 0 ? 1 - y : y;
}

/* The quantile of the normal distribution, by S. Winitzki's approximation of the inverse error
   function with a = 0.147, as ONNX's reference implementation has it. */
static double probit(double p)
{
    double x = 2 * p - 1, logarithm = log((1 - x) * (1 + x));
    double v = 2 / (3.14159 * 0.147) + 0.5 * logarithm;
    double root = sqrt(sqrt(v * v - logarithm / 0.147) - v);
    return sqrt(2) * (x < 0 ? -root : root);
}

static double greatest(const double *scores, int64_t n)
{
    double most = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, scores[i]);
    return most;
}

/* With SKIPS_ZERO scores that are as good as 0 stay so and take no part in the sum. */
static void softmax(double *scores, int64_t n, bool skips_zero)
{
    double most = greatest(scores, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (skips_zero && fabs(scores[i]) <= 1e-7) {
            scores[i] *= exp(-most);
            continue;
        }
        scores[i] = exp(scores[i] - most);
        sum += scores[i];
    }
    for (int64_t i = 0; i < n; i++)
        scores[i] /= sum;
}

void amp_scores_transform(enum amp_transform transform, double *scores, int64_t n)
{
    bool is_each =
        transform == AMP_TRANSFORM_PROBIT || (transform == AMP_TRANSFORM_LOGISTIC && n > 1);
    for (int64_t i = 0; i < n && is_each; i++)
        scores[i] = transform == AMP_TRANSFORM_PROBIT ? probit(scores[i]) : amp_logistic(scores[i]);
    if (n > 1 && (transform == AMP_TRANSFORM_SOFTMAX || transform == AMP_TRANSFORM_SOFTMAX_ZERO))
        softmax(scores, n, transform == AMP_TRANSFORM_SOFTMAX_ZERO);
}

void amp_scores_pair(enum amp_pair pair, enum amp_transform transform, double *scores)
{
    scores[1] = scores[0];
    scores[0] = pair == AMP_PAIR_COMPLEMENT ? 1 - scores[1] : -scores[1];
    if (transform == AMP_TRANSFORM_PROBIT ||
        (transform == AMP_TRANSFORM_LOGISTIC && pair == AMP_PAIR_MIRROR))
        amp_scores_transform(transform, scores, 2);
}

int64_t amp_scores_top(const double *scores, int64_t n)
{
    int64_t top = 0;
    for (int64_t i = 1; i < n; i++)
        if (scores[i] > scores[top])
            top = i;
    return top;
}

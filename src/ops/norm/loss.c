/*
 * NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. The second is the first on the logarithm
 * of the softmax, of which it needs one element per sample, unless the whole is an output too.
 */
#include "ops/kernel/kernel.h"
#include "ops/kernel/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN_SCORES, IN_LABELS, IN_WEIGHTS };
enum { OUT_LOSS, OUT_LOG_PROB };

enum { NONE, MEAN, SUM };

struct loss {
    const struct amp_tensor *scores;   /* [N, C, D1, ...] */
    const struct amp_tensor *labels;   /* [N, D1, ...] */
    const struct amp_tensor *weights;  /* [C]; NULL: 1 */
    const struct amp_tensor *log_prob; /* as scores; NULL: not wanted */
    int64_t classes, inner;            /* inner: D1 * ... */
    int64_t ignored;                   /* a label, with has_ignored */
    bool has_ignored, is_softmax;
    int reduction; /* NONE, MEAN or SUM */
};

/* What a sample adds to the sum of losses and to that of weights. */
struct sample {
    double loss, weight;
};

static double load_one(const struct amp_tensor *tensor, int64_t index)
{
    union amp_wide value;
    amp_wide_load((struct amp_stretch){tensor->dtype, tensor->data, index, 1, 1}, &value);
    return value.f;
}

static void store_one(const struct amp_tensor *tensor, int64_t index, double value)
{
    union amp_wide wide = {.f = value};
    amp_wide_store(&wide, (struct amp_stretch){tensor->dtype, tensor->data, index, 1, 1});
}

/* The logarithm of the sum of the exponentials of a sample's scores, the first at index FIRST. */
static double log_sum(const struct loss *loss, int64_t first)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < loss->classes; c++)
        largest = fmax(largest, load_one(loss->scores, first + c * loss->inner));
    for (int64_t c = 0; c < loss->classes; c++)
        sum += exp(load_one(loss->scores, first + c * loss->inner) - largest);
    return sum > 0 ? largest + log(sum) : largest;
}

static struct sample run_sample(const struct loss *loss, int64_t index)
{
    int64_t label = amp_tensor_int(loss->labels, (size_t)index), inner = loss->inner;
    int64_t first = index / inner * loss->classes * inner + index % inner;
    double shift = loss->is_softmax ? log_sum(loss, first) : 0;
    for (int64_t c = 0; c < loss->classes && loss->log_prob != NULL; c++)
        store_one(loss->log_prob, first + c * inner,
                  load_one(loss->scores, first + c * inner) - shift);
    if (loss->has_ignored && label == loss->ignored)
        return (struct sample){0, 0};
    double weight = loss->weights ? load_one(loss->weights, label) : 1;
    return (struct sample){(shift - load_one(loss->scores, first + label * inner)) * weight,
                           weight};
}

/* Dims of the labels, as the scores have them. */
static void label_shape(const struct amp_shape *scores, struct amp_shape *labels)
{
    *labels = *scores;
    if (scores->rank < 2)
        return;
    labels->rank--;
    memmove(labels->dims + 1, labels->dims + 2, (size_t)(labels->rank - 1) * sizeof *labels->dims);
}

static enum amp_status read_reduction(const struct amp_ctx *ctx, int *reduction)
{
    static const char *const reductions[] = {"none", "mean", "sum", NULL};
    *reduction = MEAN;
    return amp_ctx_choice(ctx, "reduction", reductions, reduction);
}

static enum amp_status loss_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *scores = &ctx->in[IN_SCORES]->shape;
    int reduction;
    AMP_TRY(read_reduction(ctx, &reduction));
    if (scores->rank >= 0 && scores->rank < 2)
        return AMP_CTX_FAIL(ctx, "input 0 has rank %d; 2 or more is needed", scores->rank);
    label_shape(scores, &ctx->out[OUT_LOSS]->shape);
    if (reduction != NONE)
        ctx->out[OUT_LOSS]->shape.rank = 0;
    if (ctx->n_out > OUT_LOG_PROB)
        ctx->out[OUT_LOG_PROB]->shape = *scores;
    return AMP_OK;
}

static enum amp_status check_inputs(struct amp_ctx *ctx, const struct loss *loss)
{
    struct amp_shape wanted;
    label_shape(&loss->scores->shape, &wanted);
    AMP_TRY(amp_wide_check(ctx, loss->scores->dtype));
    if (!amp_shape_equal(&wanted, &loss->labels->shape))
        return AMP_CTX_FAIL(ctx, "input 1 has not the shape of input 0 without its classes");
    if (loss->weights != NULL && amp_shape_count(&loss->weights->shape) != loss->classes)
        return AMP_CTX_FAIL(ctx, "input 2 has not one weight for each of %lld classes",
                            (long long)loss->classes);
    for (int64_t i = 0; i < amp_shape_count(&wanted); i++) {
        int64_t label = amp_tensor_int(loss->labels, (size_t)i);
        if ((label < 0 || label >= loss->classes) && !(loss->has_ignored && label == loss->ignored))
            return AMP_CTX_FAIL(ctx, "label %lld; there are %lld classes", (long long)label,
                                (long long)loss->classes);
    }
    return AMP_OK;
}

static void put_loss(const struct amp_tensor *out, int reduction, const struct sample *samples,
                     int64_t count)
{
    struct sample sum = {0, 0};
    for (int64_t i = 0; i < count; i++) {
        if (reduction == NONE)
            store_one(out, i, samples[i].loss);
        sum.loss += samples[i].loss;
        sum.weight += samples[i].weight;
    }
    if (reduction != NONE)
        store_one(out, 0, reduction == SUM ? sum.loss : sum.loss / sum.weight);
}

static enum amp_status loss_run(struct amp_ctx *ctx, bool is_softmax)
{
    const struct amp_shape *shape = &ctx->in[IN_SCORES]->shape;
    struct loss loss = {.scores = ctx->in[IN_SCORES],
                        .labels = ctx->in[IN_LABELS],
                        .weights = amp_has_in(ctx, IN_WEIGHTS) ? ctx->in[IN_WEIGHTS] : NULL,
                        .log_prob = amp_has_out(ctx, OUT_LOG_PROB) ? ctx->out[OUT_LOG_PROB] : NULL,
                        .classes = shape->dims[1],
                        .inner = amp_shape_product(shape, 2, shape->rank),
                        .ignored = amp_node_int(ctx->node, "ignore_index", 0),
                        .has_ignored = amp_node_attr(ctx->node, "ignore_index") != NULL,
                        .is_softmax = is_softmax};
    AMP_TRY(read_reduction(ctx, &loss.reduction));
    AMP_TRY(check_inputs(ctx, &loss));
    int64_t count = amp_shape_count(&loss.labels->shape);
    struct amp_buffer *buffer =
        amp_scratch(ctx, "the losses of the samples", (size_t)count, sizeof(struct sample));
    if (buffer == NULL)
        return ctx->err->status;
    struct sample *samples = buffer->data;
    bool is_large = count * loss.classes >= AMP_PARALLEL_MIN;
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < count; i++)
        samples[i] = run_sample(&loss, i);
    if (amp_has_out(ctx, OUT_LOSS))
        put_loss(ctx->out[OUT_LOSS], loss.reduction, samples, count);
    amp_buffer_unref(buffer);
    return AMP_OK;
}

static enum amp_status likelihood_run(struct amp_ctx *ctx)
{
    return loss_run(ctx, false);
}

static enum amp_status entropy_run(struct amp_ctx *ctx)
{
    return loss_run(ctx, true);
}

const struct amp_op amp_op_negative_log_likelihood_loss = {
    .name = "NegativeLogLikelihoodLoss",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "Neg(Mul(shares, hits))"}),
    .shape = loss_shape,
    .run = likelihood_run};

const struct amp_op amp_op_softmax_cross_entropy_loss = {
    .name = "SoftmaxCrossEntropyLoss",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "Mul(shares, Sub(Softmax(a; axis=1), hits))"}),
    .shape = loss_shape,
    .run = entropy_run};

/*
 * Attention of many heads as ONNX Runtime's operators have it: gathers queries, keys and values
 * head by head, with biases and after those of a cache, and gives the masks as numbers that are
 * added to the scores. A masked key gets mask_filter_value, a key in the future the lowest float: a
 * query whose keys are all masked still sees them all. The last query has no future, also where
 * there are more keys than queries.
 */
#include "ops/attention/multi_head.h"

#include "ops/kernel/elementwise.h"

#include <float.h>
#include <math.h>

static int64_t total_of(const struct amp_multi_head *multi)
{
    return multi->past + multi->keys;
}

/* ---- checks -------------------------------------------------------------------------------- */

static bool has_dims(const struct amp_tensor *tensor, int rank, const int64_t *dims)
{
    struct amp_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dims[i] = dims[i];
    return amp_shape_equal(&tensor->shape, &shape);
}

static enum amp_status check_mask(const struct amp_multi_head *multi)
{
    const struct amp_shape *mask = &multi->mask->shape;
    const int64_t all[] = {multi->batch, multi->queries, total_of(multi)};
    const int64_t keys[] = {multi->batch, total_of(multi)};
    char text[200];
    if (has_dims(multi->mask, 3, all) || has_dims(multi->mask, 2, keys) ||
        (mask->rank == 1 && (mask->dims[0] == multi->batch || mask->dims[0] == 2 * multi->batch)))
        return AMP_OK;
    return amp_fail(multi->ctx->err, AMP_UNSUPPORTED,
                    "no kernel for a mask of shape %s; [%lld, %lld], [%lld, %lld, %lld], [%lld] or "
                    "[%lld] is possible",
                    amp_shape_text(mask, text, sizeof text), (long long)keys[0], (long long)keys[1],
                    (long long)all[0], (long long)all[1], (long long)all[2],
                    (long long)multi->batch, 2 * (long long)multi->batch);
}

static enum amp_status check_attention_bias(const struct amp_multi_head *multi)
{
    const struct amp_shape *bias = &multi->attention_bias->shape;
    struct amp_shape scores = {4, {multi->batch, multi->heads, multi->queries, total_of(multi)}};
    char text[200], text_scores[200];
    bool fits = bias->rank == 4;
    for (int i = 0; fits && i < 4; i++)
        fits = bias->dims[i] == scores.dims[i] || (i < 2 && bias->dims[i] == 1);
    if (fits)
        return AMP_OK;
    return AMP_CTX_FAIL(multi->ctx, "attention_bias of shape %s; the scores have %s",
                        amp_shape_text(bias, text, sizeof text),
                        amp_shape_text(&scores, text_scores, sizeof text_scores));
}

enum amp_status amp_multi_head_check(const struct amp_multi_head *multi)
{
    int64_t width = multi->heads * (2 * multi->size + multi->v_size);
    char text[200];
    if (multi->bias != NULL && !has_dims(multi->bias, 1, &width))
        return AMP_CTX_FAIL(multi->ctx, "bias of shape %s; [%lld] is needed",
                            amp_shape_text(&multi->bias->shape, text, sizeof text),
                            (long long)width);
    if (multi->mask != NULL)
        AMP_TRY(check_mask(multi));
    return multi->attention_bias != NULL ? check_attention_bias(multi) : AMP_OK;
}

/* ---- queries, keys and values -------------------------------------------------------------- */

AMP_ZIP(FLOAT, float, add, x + y)

/* Adds the part of the bias from FIRST on to the elements of TO, of SHAPE. */
static void add_bias(const struct amp_multi_head *multi, int64_t first, const struct amp_heads *to,
                     const struct amp_shape *shape)
{
    const int64_t strides[] = {0, shape->dims[3], 0, 1};
    float *data = (float *)to->tensor->data + to->first;
    struct amp_loop loop;
    amp_loop_init(&loop, AMP_HEADS_RANK, shape->dims);
    amp_loop_view(&loop, data, sizeof *data, to->strides);
    amp_loop_view(&loop, data, sizeof *data, to->strides);
    amp_loop_view(&loop, (float *)multi->bias->data + first, sizeof *data, strides);
    amp_loop_run(&loop, add_FLOAT, NULL);
}

/* Sets TO, [batch, heads, length, size], whose memory may be there, to PAST (tensor NULL: none)
   and, after it, FROM with the part of the bias from FIRST on. */
static enum amp_status gather(const struct amp_multi_head *multi, const struct amp_heads *past,
                              const struct amp_heads *from, int64_t first, struct amp_tensor *to)
{
    struct amp_shape shape = to->shape;
    if (to->data == NULL)
        AMP_TRY(amp_tensor_alloc(to, multi->ctx->err));
    struct amp_heads target = amp_heads_of(to, &to->shape, false);
    if (past->tensor != NULL) {
        shape.dims[2] = multi->past;
        amp_heads_copy(&target, past, &shape);
        target.first = multi->past * target.strides[2];
        shape.dims[2] = multi->keys;
    }
    amp_heads_copy(&target, from, &shape);
    if (multi->bias != NULL)
        add_bias(multi, first, &target, &shape);
    return AMP_OK;
}

/* ---- masks --------------------------------------------------------------------------------- */

/* What the run of one node adds to its scores. */
struct masks {
    const struct amp_multi_head *multi;
    float filter;
    bool is_causal;
};

/* Whether the mask allows key I. */
static bool is_allowed(const struct amp_multi_head *multi, int64_t batch, int64_t query, int64_t i)
{
    const int32_t *mask = multi->mask->data;
    int64_t total = total_of(multi);
    switch (multi->mask->shape.rank) {
    case 3:
        return mask[(batch * multi->queries + query) * total + i] > 0;
    case 2:
        return mask[batch * total + i] > 0;
    default:
        break;
    }
    bool has_starts = multi->mask->shape.dims[0] != multi->batch;
    return i < mask[batch] && !(has_starts && i < mask[multi->batch + batch]);
}

/* The attention bias of one query, TOTAL values; NULL: none. */
static const float *bias_row(const struct amp_multi_head *multi, const int64_t *index)
{
    if (multi->attention_bias == NULL)
        return NULL;
    const int64_t *dims = multi->attention_bias->shape.dims;
    int64_t batch = dims[0] == 1 ? 0 : index[0], head = dims[1] == 1 ? 0 : index[1];
    return (const float *)multi->attention_bias->data +
           ((batch * dims[1] + head) * dims[2] + index[2]) * dims[3];
}

static bool add_masks(const struct amp_attention *attention, const int64_t *index, void *row)
{
    const struct masks *masks = attention->owner;
    const struct amp_multi_head *multi = masks->multi;
    const float *bias = bias_row(multi, index);
    bool is_last = index[2] == multi->queries - 1;
    float *scores = row;
    for (int64_t i = 0; i < attention->keys; i++) {
        float added = bias == NULL ? 0 : bias[i];
        if (masks->is_causal && !is_last && i > multi->past + index[2])
            added += -FLT_MAX;
        else if (multi->mask != NULL && !is_allowed(multi, index[0], index[2], i))
            added += masks->filter;
        scores[i] += added;
    }
    return false;
}

/* ---- run ----------------------------------------------------------------------------------- */

static enum amp_status attend(const struct amp_multi_head *multi, const struct amp_tensor *q,
                              const struct amp_tensor *k, const struct amp_tensor *v)
{
    const struct amp_node *node = multi->ctx->node;
    struct masks masks = {.multi = multi,
                          .filter = amp_node_float(node, "mask_filter_value", -10000),
                          .is_causal = amp_node_int(node, "unidirectional", 0) != 0};
    double scale = (double)amp_node_float(node, "scale", 0);
    bool is_biased = masks.is_causal || multi->mask != NULL || multi->attention_bias != NULL;
    struct amp_attention attention = {.ctx = multi->ctx,
                                      .batch = multi->batch,
                                      .heads = multi->heads,
                                      .kv_heads = multi->heads,
                                      .queries = multi->queries,
                                      .keys = total_of(multi),
                                      .size = multi->size,
                                      .v_size = multi->v_size,
                                      .scale = scale == 0 ? 1 / sqrt((double)multi->size) : scale,
                                      .q = q,
                                      .k = k,
                                      .v = v,
                                      .bias = is_biased ? add_masks : NULL,
                                      .owner = &masks};
    return amp_attention_run(&attention, multi->ctx->out[0], true);
}

enum amp_status amp_multi_head_run(const struct amp_multi_head *multi)
{
    static const struct amp_heads none = {.tensor = NULL};
    int64_t hidden = multi->heads * multi->size;
    struct amp_tensor q = {.dtype = AMP_FLOAT,
                           .shape = {4, {multi->batch, multi->heads, multi->queries, multi->size}}};
    struct amp_tensor k = multi->present_k, v = multi->present_v;
    k.dtype = v.dtype = AMP_FLOAT;
    k.shape = v.shape = q.shape;
    k.shape.dims[2] = v.shape.dims[2] = total_of(multi);
    v.shape.dims[3] = multi->v_size;
    enum amp_status status = gather(multi, &none, &multi->q, 0, &q);
    if (status == AMP_OK)
        status = gather(multi, &multi->past_k, &multi->k, hidden, &k);
    if (status == AMP_OK)
        status = gather(multi, &multi->past_v, &multi->v, 2 * hidden, &v);
    if (status == AMP_OK)
        status = attend(multi, &q, &k, &v);
    struct amp_tensor *owned[] = {&q, &k, &v};
    for (size_t i = 0; i < sizeof owned / sizeof(struct amp_tensor *); i++)
        amp_tensor_release(owned[i]);
    return status;
}

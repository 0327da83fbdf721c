/*
 * NonMaxSuppression: per batch and class, boxes in the order of their scores, each kept unless it
 * overlaps one that was kept by more than a threshold.
 */
#include "ops/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN_BOXES, IN_SCORES, IN_MAX_BOXES, IN_IOU_THRESHOLD, IN_SCORE_THRESHOLD };

/* A box as corners, lower ones first. */
struct box {
    float y1, x1, y2, x2;
};

struct candidate {
    float score;
    int64_t index;
};

/* Triples of batch, class and box index. */
struct selection {
    int64_t (*items)[3];
    size_t count, capacity;
};

struct nms {
    int64_t batches, classes, boxes;
    int64_t max_boxes; /* per batch and class */
    float iou_threshold;
    float score_threshold; /* a score must be above it; used with has_score_threshold */
    bool has_score_threshold, is_centered;
    struct candidate *candidates; /* [boxes] */
    struct box *kept;             /* [boxes] */
    struct selection selection;
};

static float lower(float a, float b)
{
    return a < b ? a : b;
}

static float upper(float a, float b)
{
    return a > b ? a : b;
}

static struct box load_box(const struct nms *nms, const float *data)
{
    if (nms->is_centered) {
        float half_width = data[2] / 2, half_height = data[3] / 2;
        return (struct box){data[1] - half_height, data[0] - half_width, data[1] + half_height,
                            data[0] + half_width};
    }
    return (struct box){lower(data[0], data[2]), lower(data[1], data[3]), upper(data[0], data[2]),
                        upper(data[1], data[3])};
}

static float area(const struct box *box)
{
    return (box->y2 - box->y1) * (box->x2 - box->x1);
}

/* Whether the intersection of A and B over their union is above THRESHOLD; never without an area.
 */
static bool overlap(const struct box *a, const struct box *b, float threshold)
{
    float height = lower(a->y2, b->y2) - upper(a->y1, b->y1);
    float width = lower(a->x2, b->x2) - upper(a->x1, b->x1);
    if (!(height > 0 && width > 0))
        return false;
    float both = height * width, area_a = area(a), area_b = area(b);
    float either = area_a + area_b - both;
    return area_a > 0 && area_b > 0 && either > 0 && both / either > threshold;
}

/* For qsort: the higher score first, then the lower index. */
static int compare(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The boxes of one class whose score is above the threshold, in order. A NaN never is. */
static size_t find_candidates(const struct nms *nms, const float *scores)
{
    size_t count = 0;
    for (int64_t i = 0; i < nms->boxes; i++)
        if (nms->has_score_threshold ? scores[i] > nms->score_threshold : !isnan(scores[i]))
            nms->candidates[count++] = (struct candidate){scores[i], i};
    qsort(nms->candidates, count, sizeof *nms->candidates, compare);
    return count;
}

static void select_box(struct selection *selection, int64_t batch, int64_t class, int64_t box)
{
    if (selection->count == selection->capacity) {
        selection->capacity = selection->capacity ? 2 * selection->capacity : 64;
        selection->items =
            amp_xrealloc(selection->items, selection->capacity, sizeof *selection->items);
    }
    int64_t *item = selection->items[selection->count++];
    item[0] = batch;
    item[1] = class;
    item[2] = box;
}

/* Goes through one class; BOXES are those of the batch. */
static void run_class(struct nms *nms, const float *boxes, const float *scores, int64_t batch,
                      int64_t class)
{
    size_t count = find_candidates(nms, scores);
    int64_t n_kept = 0;
    for (size_t i = 0; i < count && n_kept < nms->max_boxes; i++) {
        int64_t index = nms->candidates[i].index, k = 0;
        struct box box = load_box(nms, boxes + index * 4);
        while (k < n_kept && !overlap(&box, &nms->kept[k], nms->iou_threshold))
            k++;
        if (k < n_kept)
            continue;
        nms->kept[n_kept++] = box;
        select_box(&nms->selection, batch, class, index);
    }
}

static enum amp_status nms_shape(struct amp_ctx *ctx)
{
    ctx->out[0]->shape = (struct amp_shape){.rank = 2, .dims = {AMP_DIM_UNKNOWN, 3}};
    return AMP_OK;
}

static enum amp_status read_sizes(const struct amp_ctx *ctx, struct nms *nms)
{
    const struct amp_shape *boxes = &ctx->in[IN_BOXES]->shape;
    const struct amp_shape *scores = &ctx->in[IN_SCORES]->shape;
    char boxes_text[200], scores_text[200];
    if (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 ||
        boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
        return AMP_CTX_FAIL(ctx,
                            "boxes have shape %s and scores %s; [batch, boxes, 4] and "
                            "[batch, classes, boxes] are needed",
                            amp_shape_text(boxes, boxes_text, sizeof boxes_text),
                            amp_shape_text(scores, scores_text, sizeof scores_text));
    nms->batches = scores->dims[0];
    nms->classes = scores->dims[1];
    nms->boxes = scores->dims[2];
    return AMP_OK;
}

/* Input I, a number, or FALLBACK. */
static float float_at(const struct amp_ctx *ctx, uint32_t i, float fallback)
{
    if (!amp_has_in(ctx, i) || amp_shape_count(&ctx->in[i]->shape) < 1)
        return fallback;
    return (float)amp_tensor_double(ctx->in[i], 0);
}

static enum amp_status put_out(struct amp_ctx *ctx, const struct selection *selection)
{
    ctx->out[0]->shape = (struct amp_shape){.rank = 2, .dims = {(int64_t)selection->count, 3}};
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    if (selection->count > 0)
        memcpy(ctx->out[0]->data, selection->items, selection->count * sizeof *selection->items);
    return AMP_OK;
}

static enum amp_status nms_run(struct amp_ctx *ctx)
{
    struct nms nms = {.is_centered = amp_node_int(ctx->node, "center_point_box", 0) != 0,
                      .iou_threshold = float_at(ctx, IN_IOU_THRESHOLD, 0),
                      .score_threshold = float_at(ctx, IN_SCORE_THRESHOLD, 0),
                      .has_score_threshold = amp_has_in(ctx, IN_SCORE_THRESHOLD)};
    int count;
    AMP_TRY(read_sizes(ctx, &nms));
    AMP_TRY(amp_ctx_ints(ctx, IN_MAX_BOXES, &nms.max_boxes, 1, &count));
    nms.max_boxes = count > 0 ? nms.max_boxes : 0;
    if (nms.batches * nms.classes == 0)
        return put_out(ctx, &nms.selection);
    struct amp_buffer *buffer = amp_scratch(ctx, "the candidates of a class", (size_t)nms.boxes,
                                            sizeof *nms.candidates + sizeof *nms.kept);
    if (buffer == NULL)
        return ctx->err->status;
    nms.candidates = buffer->data;
    nms.kept = (struct box *)(nms.candidates + nms.boxes);
    const float *boxes = ctx->in[IN_BOXES]->data, *scores = ctx->in[IN_SCORES]->data;
    for (int64_t i = 0; i < nms.batches * nms.classes; i++)
        run_class(&nms, boxes + i / nms.classes * nms.boxes * 4, scores + i * nms.boxes,
                  i / nms.classes, i % nms.classes);
    enum amp_status status = put_out(ctx, &nms.selection);
    amp_buffer_unref(buffer);
    free(nms.selection.items);
    return status;
}

const struct amp_op amp_op_non_max_suppression = {.name = "NonMaxSuppression",
                                                  .newest = 11,
                                                  .effect = AMP_COMPUTES,
                                                  .native = AMP_NATIVE_F32,
                                                  .shape = nms_shape,
                                                  .run = nms_run};

/*
 * NonMaxSuppression. Takes the boxes of each batch entry and class in the order of their scores and
 * keeps a box unless it overlaps a kept one by more than the threshold.
 */
#include "core/simd.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <omp.h>

enum { IN_BOXES, IN_SCORES, IN_MAX_BOXES, IN_IOU_THRESHOLD, IN_SCORE_THRESHOLD };

/* A box as corners, lower ones first. */
struct box {
    float y1, x1, y2, x2;
};

struct candidate {
    float score;
    int64_t index;
};

struct nms {
    int64_t batches, classes, boxes;
    int64_t max_boxes; /* per batch and class; at most all */
    float iou_threshold;
    float score_threshold; /* a score must be above it; used with has_score_threshold */
    bool has_score_threshold, is_centered;
    int64_t *selected; /* [batches * classes, max_boxes]: indices of boxes */
    int64_t *counts;   /* [batches * classes]: how many of them there are */
};

/* What is kept of boxes that may overlap the next ones: their corners and areas, each a row, so
   that many are looked at together. */
enum { Y1, X1, Y2, X2, AREA, N_ROWS };

/* Room for the boxes of one class: one for each thread. */
struct room {
    struct candidate *candidates; /* [boxes] */
    float *kept;                  /* [N_ROWS, boxes] */
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

/* How many of N boxes, in rows of LENGTH from KEPT on, have with BOX an intersection that is above
   THRESHOLD times the union, as a quotient; those without an area never. */
AMP_CLONES(int, count_overlaps,
           (const struct box *box, const float *kept, int64_t length, int64_t n, float threshold),
           (box, kept, length, n, threshold))
{
    const float *y1 = kept + Y1 * length, *x1 = kept + X1 * length, *y2 = kept + Y2 * length;
    const float *x2 = kept + X2 * length, *areas = kept + AREA * length;
    const struct box b = *box;
    const float own = area(box);
    int count = 0;
    _Pragma("omp simd reduction(+ : count)") for (int64_t i = 0; i < n; i++)
    {
        float height = lower(b.y2, y2[i]) - upper(b.y1, y1[i]);
        float width = lower(b.x2, x2[i]) - upper(b.x1, x1[i]);
        float both = height * width, either = own + areas[i] - both;
        count += (height > 0) & (width > 0) & (own > 0) & (areas[i] > 0) & (either > 0) &
                 (both / either > threshold);
    }
    return count;
}

/* Whether BOX overlaps one of the N_KEPT boxes that are kept. */
static bool overlaps(const struct nms *nms, const struct box *box, const float *kept,
                     int64_t n_kept)
{
    enum { TOGETHER = 64 };
    for (int64_t i = 0; i < n_kept; i += TOGETHER)
        if (count_overlaps(box, kept + i, nms->boxes, n_kept - i < TOGETHER ? n_kept - i : TOGETHER,
                           nms->iou_threshold) > 0)
            return true;
    return false;
}

static void keep(const struct nms *nms, const struct box *box, float *kept, int64_t place)
{
    const float row[N_ROWS] = {box->y1, box->x1, box->y2, box->x2, area(box)};
    for (int i = 0; i < N_ROWS; i++)
        kept[i * nms->boxes + place] = row[i];
}

/* Whether A comes before B: the higher score, then the lower index. */
static bool comes_first(const struct candidate *a, const struct candidate *b)
{
    return a->score > b->score || (a->score == b->score && a->index < b->index);
}

/* Lets candidate PLACE of a heap of COUNT, whose first comes before all others, sink to where it
   belongs. */
static void sink(struct candidate *heap, size_t count, size_t place)
{
    const struct candidate moved = heap[place];
    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        child += child + 1 < count && comes_first(&heap[child + 1], &heap[child]);
        if (!comes_first(&heap[child], &moved))
            break;
        heap[place] = heap[child];
    }
    heap[place] = moved;
}

/* Takes the first candidate out of a heap of COUNT. */
static int64_t take_first(struct candidate *heap, size_t count)
{
    int64_t index = heap[0].index;
    heap[0] = heap[count - 1];
    sink(heap, count - 1, 0);
    return index;
}

/* The boxes of one class whose score is above the threshold, as a heap: few of them may be needed.
   A NaN never is. */
static size_t find_candidates(const struct nms *nms, const float *scores,
                              struct candidate *candidates)
{
    size_t count = 0;
    for (int64_t i = 0; i < nms->boxes; i++)
        if (nms->has_score_threshold ? scores[i] > nms->score_threshold : !isnan(scores[i]))
            candidates[count++] = (struct candidate){scores[i], i};
    for (size_t i = count / 2; i-- > 0;)
        sink(candidates, count, i);
    return count;
}

/* Goes through CLASS, counted through all batches; BOXES are those of its batch. */
static void run_class(const struct nms *nms, const float *boxes, const float *scores, int64_t class,
                      struct room room)
{
    size_t count = find_candidates(nms, scores, room.candidates);
    int64_t n_kept = 0, *selected = nms->selected + class * nms->max_boxes;
    for (; count > 0 && n_kept < nms->max_boxes; count--) {
        int64_t index = take_first(room.candidates, count);
        struct box box = load_box(nms, boxes + index * 4);
        if (overlaps(nms, &box, room.kept, n_kept))
            continue;
        selected[n_kept] = index;
        keep(nms, &box, room.kept, n_kept++);
    }
    nms->counts[class] = n_kept;
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

/* Triples of batch, class and box index. */
static enum amp_status put_out(struct amp_ctx *ctx, const struct nms *nms)
{
    int64_t all = 0;
    for (int64_t i = 0; i < nms->batches * nms->classes; i++)
        all += nms->counts[i];
    ctx->out[0]->shape = (struct amp_shape){.rank = 2, .dims = {all, 3}};
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    int64_t *item = ctx->out[0]->data;
    for (int64_t i = 0; i < nms->batches * nms->classes; i++)
        for (int64_t k = 0; k < nms->counts[i]; k++, item += 3) {
            item[0] = i / nms->classes;
            item[1] = i % nms->classes;
            item[2] = nms->selected[i * nms->max_boxes + k];
        }
    return AMP_OK;
}

/* Goes through all classes, threads with ROOMS of their own. */
static void run_classes(const struct amp_ctx *ctx, const struct nms *nms, struct candidate *rooms)
{
    const float *boxes = ctx->in[IN_BOXES]->data, *scores = ctx->in[IN_SCORES]->data;
    int64_t classes = nms->batches * nms->classes;
    float *kept = (float *)(rooms + omp_get_max_threads() * nms->boxes);
#pragma omp parallel for schedule(dynamic) if (classes * nms->boxes >= AMP_PARALLEL_MIN / 8)
    for (int64_t i = 0; i < classes; i++) {
        int64_t own = omp_get_thread_num() * nms->boxes;
        run_class(nms, boxes + i / nms->classes * nms->boxes * 4, scores + i * nms->boxes, i,
                  (struct room){rooms + own, kept + own * N_ROWS});
    }
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
    nms.max_boxes = nms.max_boxes > 0 ? nms.max_boxes : 0; /* 0: omitted */
    nms.max_boxes = nms.max_boxes < nms.boxes ? nms.max_boxes : nms.boxes;
    size_t classes = (size_t)(nms.batches * nms.classes);
    struct amp_buffer *selected = amp_scratch(
        ctx, "the boxes of all classes", classes * (size_t)(nms.max_boxes + 1), sizeof(int64_t));
    if (selected == NULL)
        return ctx->err->status;
    struct amp_buffer *rooms = amp_scratch(ctx, "the candidates of a class",
                                           (size_t)omp_get_max_threads() * (size_t)nms.boxes,
                                           sizeof(struct candidate) + N_ROWS * sizeof(float));
    enum amp_status status = ctx->err->status;
    nms.counts = selected->data;
    nms.selected = nms.counts + classes;
    if (rooms != NULL) {
        run_classes(ctx, &nms, rooms->data);
        status = put_out(ctx, &nms);
    }
    amp_buffer_unref(rooms);
    amp_buffer_unref(selected);
    return status;
}

const struct amp_op amp_op_non_max_suppression = {
    .name = "NonMaxSuppression",
    .meanings = AMP_MEANINGS({AMP_MEANS_BOXES, 0, NULL}, {AMP_MEANS_SCORES, 1, NULL},
                             {AMP_MEANS_COUNT, 2, NULL}),
    .selects = {.items = AMP_ITEMS_ENTRIES, .outputs = AMP_INPUT(0)},
    .newest = 11,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .shape = nms_shape,
    .run = nms_run};

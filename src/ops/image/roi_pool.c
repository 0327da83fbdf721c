/*
 * Pooling over regions of an image (ONNX RoiAlign, MaxRoiPool): X [N, C, H, W] and a list of R
 * rectangles give [R, C, height, width]. RoiAlign samples points between the elements, MaxRoiPool
 * takes whole elements.
 */
#include "ops/kernel/kernel.h"

#include <inttypes.h>
#include <math.h>

/* A region's samples along one dim, in one bin: a sane model has far fewer. */
enum { SAMPLES_MAX = 1 << 16 };

/* Input I must have RANK dims; LAST, when not 0, is the last of them. */
static enum amp_status check_shape(const struct amp_ctx *ctx, uint32_t i, int rank, int64_t last)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    char text[256];
    if (shape->rank < 0)
        return AMP_OK;
    if (shape->rank != rank)
        return AMP_CTX_FAIL(ctx, "input %u has shape %s; rank %d is needed", i,
                            amp_shape_text(shape, text, sizeof text), rank);
    if (last > 0 && shape->dims[rank - 1] >= 0 && shape->dims[rank - 1] != last)
        return AMP_CTX_FAIL(ctx, "input %u has shape %s; its last dim must be %" PRId64, i,
                            amp_shape_text(shape, text, sizeof text), last);
    return AMP_OK;
}

/* Output 0 becomes [R, C, HEIGHT, WIDTH]. */
static enum amp_status set_shape(struct amp_ctx *ctx, int64_t height, int64_t width)
{
    const struct amp_shape *x = &ctx->in[0]->shape, *rois = &ctx->in[1]->shape;
    if (height < 1 || height > INT32_MAX || width < 1 || width > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "an output of %" PRId64 " x %" PRId64 "; 1 to %d allowed", height,
                            width, INT32_MAX);
    ctx->out[0]->shape =
        (struct amp_shape){.rank = 4,
                           .dims = {rois->rank < 0 ? AMP_DIM_UNKNOWN : rois->dims[0],
                                    x->rank < 0 ? AMP_DIM_UNKNOWN : x->dims[1], height, width}};
    return AMP_OK;
}

/* ---- RoiAlign ---- */

struct align {
    int64_t height, width; /* of the output */
    int64_t ratio;         /* samples per bin and dim; 0: as many as elements */
    double scale;
    bool is_half_pixel, is_max;
};

static enum amp_status align_read(const struct amp_ctx *ctx, struct align *align)
{
    static const char *const places[] = {"output_half_pixel", "half_pixel", NULL};
    static const char *const modes[] = {"avg", "max", NULL};
    int place = ctx->node->since_version >= 16, mode = 0;
    AMP_TRY(amp_ctx_choice(ctx, "coordinate_transformation_mode", places, &place));
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &mode));
    *align = (struct align){.height = amp_node_int(ctx->node, "output_height", 1),
                            .width = amp_node_int(ctx->node, "output_width", 1),
                            .ratio = amp_node_int(ctx->node, "sampling_ratio", 0),
                            .scale = (double)amp_node_float(ctx->node, "spatial_scale", 1),
                            .is_half_pixel = place == 1,
                            .is_max = mode == 1};
    if (align->ratio < 0 || align->ratio > SAMPLES_MAX)
        return AMP_CTX_FAIL(ctx, "attribute 'sampling_ratio' is %" PRId64 "; 0 to %d allowed",
                            align->ratio, SAMPLES_MAX);
    return AMP_OK;
}

static enum amp_status align_shape(struct amp_ctx *ctx)
{
    struct align align;
    AMP_TRY(align_read(ctx, &align));
    AMP_TRY(check_shape(ctx, 0, 4, 0));
    AMP_TRY(check_shape(ctx, 1, 2, 4));
    AMP_TRY(check_shape(ctx, 2, 1, 0));
    return set_shape(ctx, align.height, align.width);
}

/* A region along one dim of the image. */
struct span {
    double start, bin;       /* elements: where it begins, and the length of a bin */
    int64_t samples;         /* per bin */
    int64_t size;            /* of the image */
    const struct sample *at; /* SAMPLES for each bin */
};

/* A sample lies between two elements: UPPER counts for PART. */
struct sample {
    int64_t lower, upper;
    double part;
    bool is_inside;
};

static struct sample sample_at(const struct span *span, int64_t bin, int64_t i)
{
    double last = (double)(span->size - 1);
    double at = span->start + (double)bin * span->bin +
                ((double)i + 0.5) * span->bin / (double)span->samples;
    if (!(at >= -1 && at <= last + 1))
        return (struct sample){.is_inside = false};
    at = at < 0 ? 0 : at > last ? last : at;
    struct sample sample = {.lower = (int64_t)at, .is_inside = true};
    sample.upper = sample.lower < span->size - 1 ? sample.lower + 1 : sample.lower;
    sample.part = at - (double)sample.lower;
    return sample;
}

/* SPAN of BINS from ENDS[0] to ENDS[1], in the coordinates of the region. */
static enum amp_status make_span(const struct amp_ctx *ctx, const struct align *align,
                                 const double ends[2], int64_t bins, struct span *span)
{
    double start = ends[0], end = ends[1];
    double shift = align->is_half_pixel ? 0.5 : 0;
    double length = end * align->scale - start * align->scale;
    if (!align->is_half_pixel && length < 1)
        length = 1;
    span->start = start * align->scale - shift;
    span->bin = length / (double)bins;
    double samples = align->ratio > 0 ? (double)align->ratio : ceil(span->bin);
    if (!(samples <= SAMPLES_MAX))
        return AMP_CTX_FAIL(ctx,
                            "a region from %g to %g takes %g samples per bin; at most %d are "
                            "supported",
                            start, end, samples, SAMPLES_MAX);
    span->samples = samples > 0 ? (int64_t)samples : 0;
    return AMP_OK;
}

/* The greatest of four weighted elements, or their sum. */
static double blend(bool is_max, double a, double b, double c, double d)
{
    return is_max ? fmax(fmax(a, b), fmax(c, d)) : a + b + c + d;
}

/* One bin of one channel, IMAGE. */
#define BIN(DTYPE, T)                                                                           \
    static double bin_##DTYPE(const void *image, const struct span *y, const struct span *x,    \
                              int64_t row, int64_t column, bool is_max)                         \
    {                                                                                           \
        double result = 0;                                                                      \
        for (int64_t i = 0; i < y->samples; i++)                                                \
            for (int64_t j = 0; j < x->samples; j++) {                                          \
                struct sample v = y->at[row * y->samples + i];                                  \
                struct sample h = x->at[column * x->samples + j];                               \
                const T *lower = (const T *)image + v.lower * x->size;                          \
                const T *upper = (const T *)image + v.upper * x->size;                          \
                double value = 0;                                                               \
                if (v.is_inside && h.is_inside)                                                 \
                    value = blend(is_max, (1 - v.part) * (1 - h.part) * (double)lower[h.lower], \
                                  (1 - v.part) * h.part * (double)lower[h.upper],               \
                                  v.part * (1 - h.part) * (double)upper[h.lower],               \
                                  v.part * h.part * (double)upper[h.upper]);                    \
                if (!is_max)                                                                    \
                    result += value;                                                            \
                else if ((i == 0 && j == 0) || value > result)                                  \
                    result = value;                                                             \
            }                                                                                   \
        int64_t count = y->samples * x->samples;                                                \
        return is_max || count == 0 ? result : result / (double)count;                          \
    }                                                                                           \
    static void align_plane_##DTYPE(const struct align *align, const struct span *y,            \
                                    const struct span *x, const void *image, void *out)         \
    {                                                                                           \
        for (int64_t row = 0; row < align->height; row++)                                       \
            for (int64_t column = 0; column < align->width; column++)                           \
                ((T *)out)[row * align->width + column] =                                       \
                    (T)bin_##DTYPE(image, y, x, row, column, align->is_max);                    \
    }
AMP_FLOAT_TYPES(BIN)

typedef void align_plane_fn(const struct align *align, const struct span *y, const struct span *x,
                            const void *image, void *out);

static align_plane_fn *const align_planes[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, align_plane)};

/* The batch entry that region R lies in. */
static enum amp_status check_batch(const struct amp_ctx *ctx, int64_t r, int64_t batch)
{
    int64_t count = ctx->in[0]->shape.dims[0];
    if (batch < 0 || batch >= count)
        return AMP_CTX_FAIL(
            ctx, "region %" PRId64 " lies in batch entry %" PRId64 "; there are %" PRId64, r, batch,
            count);
    return AMP_OK;
}

/* Gives the BINS of SPAN their samples, from *SAMPLES on, which moves behind them. */
static void sample_span(struct span *span, int64_t bins, struct sample **samples)
{
    span->at = *samples;
    for (int64_t bin = 0; bin < bins; bin++)
        for (int64_t i = 0; i < span->samples; i++)
            *(*samples)++ = sample_at(span, bin, i);
}

static enum amp_status align_region(struct amp_ctx *ctx, const struct align *align,
                                    align_plane_fn *plane, int64_t r)
{
    const struct amp_tensor *image = ctx->in[0], *out = ctx->out[0];
    const int64_t *dims = image->shape.dims;
    struct span y = {.size = dims[2]}, x = {.size = dims[3]};
    double ends[2][2]; /* of x and of y */
    int64_t batch = amp_tensor_int(ctx->in[2], (size_t)r);
    for (size_t k = 0; k < 4; k++)
        ends[k % 2][k / 2] = amp_tensor_double(ctx->in[1], (size_t)r * 4 + k);
    AMP_TRY(check_batch(ctx, r, batch));
    AMP_TRY(make_span(ctx, align, ends[0], align->width, &x));
    AMP_TRY(make_span(ctx, align, ends[1], align->height, &y));
    int64_t size = amp_dtype_bits(image->dtype) / 8;
    size_t count = (size_t)(align->height * y.samples + align->width * x.samples);
    struct amp_buffer *samples =
        amp_scratch(ctx, "the samples of a region", count, sizeof(struct sample));
    if (samples == NULL)
        return ctx->err->status;
    struct sample *next = samples->data;
    sample_span(&y, align->height, &next);
    sample_span(&x, align->width, &next);
#pragma omp parallel for
    for (int64_t c = 0; c < dims[1]; c++)
        plane(align, &y, &x,
              (const char *)image->data + (batch * dims[1] + c) * dims[2] * dims[3] * size,
              (char *)out->data + (r * dims[1] + c) * align->height * align->width * size);
    amp_buffer_unref(samples);
    return AMP_OK;
}

static enum amp_status align_run(struct amp_ctx *ctx)
{
    struct align align;
    align_plane_fn *plane;
    const struct amp_shape *x = &ctx->in[0]->shape;
    AMP_TRY(align_read(ctx, &align));
    AMP_PICK(ctx, plane, align_planes, ctx->in[0]->dtype);
    int64_t regions = ctx->in[1]->shape.dims[0];
    if (ctx->in[2]->shape.dims[0] != regions)
        return AMP_CTX_FAIL(ctx, "%" PRId64 " regions and %" PRId64 " batch indices", regions,
                            ctx->in[2]->shape.dims[0]);
    if (amp_shape_count(&ctx->out[0]->shape) > 0 && x->dims[2] * x->dims[3] == 0)
        return AMP_CTX_FAIL(ctx, "the image is empty");
    for (int64_t r = 0; r < regions; r++)
        AMP_TRY(align_region(ctx, &align, plane, r));
    return AMP_OK;
}

/* ---- MaxRoiPool ---- */

static enum amp_status pool_shape(struct amp_ctx *ctx)
{
    size_t n;
    const int64_t *pooled = amp_node_ints(ctx->node, "pooled_shape", &n);
    if (n != 2)
        return AMP_CTX_FAIL(ctx, "attribute 'pooled_shape' has %zu values; 2 are needed", n);
    AMP_TRY(check_shape(ctx, 0, 4, 0));
    AMP_TRY(check_shape(ctx, 1, 2, 5));
    return set_shape(ctx, pooled[0], pooled[1]);
}

/* A region of whole elements along one dim, divided into BINS that may share elements. */
struct cells {
    int64_t start, length, bins, size;
};

/* Far enough outside of any image, and products with a number of bins still fit. */
static double clamp_cell(double at)
{
    return fmin(fmax(round(at), INT32_MIN / 2), INT32_MAX / 2);
}

static struct cells make_cells(double start, double end, double scale, int64_t bins, int64_t size)
{
    double first = clamp_cell(start * scale);
    double last = clamp_cell(end * scale);
    double length = last - first + 1;
    return (struct cells){(int64_t)first, length > 1 ? (int64_t)length : 1, bins, size};
}

/* Elements *FROM to *TO-1 of the image are in BIN. */
static void find_bin(const struct cells *cells, int64_t bin, int64_t *from, int64_t *to)
{
    int64_t first = cells->start + bin * cells->length / cells->bins;
    int64_t end = cells->start + ((bin + 1) * cells->length + cells->bins - 1) / cells->bins;
    *from = first < 0 ? 0 : first;
    *to = end > cells->size ? cells->size : end;
}

/* One channel: the greatest element of every bin, 0 where the bin is empty. */
#define POOL(DTYPE, T)                                                           \
    static void pool_plane_##DTYPE(const struct cells *y, const struct cells *x, \
                                   const void *image, void *out)                 \
    {                                                                            \
        for (int64_t bin = 0; bin < y->bins * x->bins; bin++) {                  \
            int64_t top, bottom, left, right;                                    \
            find_bin(y, bin / x->bins, &top, &bottom);                           \
            find_bin(x, bin % x->bins, &left, &right);                           \
            bool is_empty = top >= bottom || left >= right;                      \
            T best = is_empty ? 0 : ((const T *)image)[top * x->size + left];    \
            for (int64_t row = top; row < bottom; row++)                         \
                for (int64_t column = left; column < right; column++) {          \
                    T value = ((const T *)image)[row * x->size + column];        \
                    best = value > best ? value : best;                          \
                }                                                                \
            ((T *)out)[bin] = best;                                              \
        }                                                                        \
    }
AMP_FLOAT_TYPES(POOL)

typedef void pool_plane_fn(const struct cells *y, const struct cells *x, const void *image,
                           void *out);

static pool_plane_fn *const pool_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, pool_plane)};

static enum amp_status pool_region(struct amp_ctx *ctx, pool_plane_fn *plane, int64_t r)
{
    const struct amp_tensor *image = ctx->in[0], *out = ctx->out[0];
    const int64_t *dims = image->shape.dims;
    int64_t height = out->shape.dims[2], width = out->shape.dims[3];
    double scale = (double)amp_node_float(ctx->node, "spatial_scale", 1), roi[5];
    for (size_t k = 0; k < 5; k++) {
        roi[k] = amp_tensor_double(ctx->in[1], (size_t)r * 5 + k);
        if (!isfinite(roi[k]))
            return AMP_CTX_FAIL(ctx, "region %" PRId64 " holds %g", r, roi[k]);
    }
    int64_t batch = (int64_t)fmin(fmax(roi[0], -1), INT32_MAX);
    AMP_TRY(check_batch(ctx, r, batch));
    struct cells x = make_cells(roi[1], roi[3], scale, width, dims[3]);
    struct cells y = make_cells(roi[2], roi[4], scale, height, dims[2]);
    int64_t size = amp_dtype_bits(image->dtype) / 8;
#pragma omp parallel for
    for (int64_t c = 0; c < dims[1]; c++)
        plane(&y, &x, (const char *)image->data + (batch * dims[1] + c) * dims[2] * dims[3] * size,
              (char *)out->data + (r * dims[1] + c) * height * width * size);
    return AMP_OK;
}

static enum amp_status pool_run(struct amp_ctx *ctx)
{
    pool_plane_fn *plane;
    AMP_PICK(ctx, plane, pool_planes, ctx->in[0]->dtype);
    for (int64_t r = 0; r < ctx->in[1]->shape.dims[0]; r++)
        AMP_TRY(pool_region(ctx, plane, r));
    return AMP_OK;
}

const struct amp_op amp_op_max_roi_pool = {
    .name = "MaxRoiPool",
    .meanings = AMP_MEANINGS({AMP_MEANS_BOXES, 1, "spatial_scale"}),
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = pool_shape,
    .run = pool_run,
};

const struct amp_op amp_op_roi_align = {
    .name = "RoiAlign",
    .meanings = AMP_MEANINGS({AMP_MEANS_BOXES, 1, "spatial_scale"}, {AMP_MEANS_INDICES, 2, NULL}),
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .changes = AMP_CHANGES({16, "the default coordinates are shifted by half a pixel"}),
    .shape = align_shape,
    .run = align_run,
};

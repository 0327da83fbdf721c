/*
 * GridSample and AffineGrid: X [N, C, D...] sampled at the points of a grid [N, O..., r], whose
 * last dim holds coordinates from -1 to 1, innermost dim first; and the grid of an affine map.
 */
#include "ops/kernel/data_movement.h"
#include "ops/image/interpolation.h"
#include "ops/conv/window.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum mode { LINEAR, NEAREST, CUBIC };
enum padding { ZEROS, BORDER, REFLECTION };
enum { TAPS_MAX = 1024 }; /* elements that one point may draw on: 10 dims linear, 5 cubic */

struct sampler {
    enum mode mode;
    enum padding padding;
    bool is_aligned; /* -1 and 1 are centres of elements, not their outer borders */
    bool is_double;  /* coordinates are computed in the grid's precision */
    int n;
    const int64_t *dims; /* the n spatial dims of X */
};

static enum amp_status sampler_read(const struct amp_ctx *ctx, struct sampler *sampler)
{
    static const char *const modes[] = {"linear", "nearest", "cubic", "bilinear", "bicubic", NULL};
    static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
    static const enum mode meant[] = {LINEAR, NEAREST, CUBIC, LINEAR, CUBIC};
    int mode = 0, padding = 0;
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &mode));
    AMP_TRY(amp_ctx_choice(ctx, "padding_mode", paddings, &padding));
    *sampler = (struct sampler){.mode = meant[mode],
                                .padding = (enum padding)padding,
                                .is_aligned = amp_node_int(ctx->node, "align_corners", 0) != 0,
                                .is_double = ctx->in[1]->dtype == AMP_DOUBLE,
                                .n = ctx->in[0]->shape.rank - 2,
                                .dims = ctx->in[0]->shape.dims + 2};
    return AMP_OK;
}

static enum amp_status sample_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *x = &ctx->in[0]->shape, *grid = &ctx->in[1]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    struct sampler sampler;
    int n;
    char text[256];
    AMP_TRY(sampler_read(ctx, &sampler));
    AMP_TRY(amp_window_rank(ctx, 0, 1, &n));
    amp_shape_unknown(out, x->rank < 0 ? grid->rank : x->rank);
    if (x->rank >= 0) {
        out->dims[0] = x->dims[0];
        out->dims[1] = x->dims[1];
    }
    if (grid->rank < 0)
        return AMP_OK;
    bool fits = grid->rank >= 3 && (x->rank < 0 || grid->rank == x->rank);
    if (!fits ||
        (grid->dims[grid->rank - 1] >= 0 && grid->dims[grid->rank - 1] != (int64_t)grid->rank - 2))
        return AMP_CTX_FAIL(ctx,
                            "grid has shape %s; the rank of X, and the number of spatial dims "
                            "as last dim, are needed",
                            amp_shape_text(grid, text, sizeof text));
    memcpy(out->dims + 2, grid->dims + 1, (size_t)(grid->rank - 2) * sizeof *out->dims);
    return AMP_OK;
}

/* Coordinate V of -1 to 1 as a place among SIZE elements. */
static double place_of(const struct sampler *sampler, double v, int64_t size)
{
    if (sampler->is_double)
        return sampler->is_aligned ? (v + 1) / 2 * (double)(size - 1)
                                   : ((v + 1) * (double)size - 1) / 2;
    float single = (float)v, place = sampler->is_aligned ? (single + 1) / 2 * (float)(size - 1)
                                                         : ((single + 1) * (float)size - 1) / 2;
    return (double)place;
}

/* X reflected between LOW and HIGH until it is inside. */
static double reflect(double x, double low, double high)
{
    double range = high - low, beyond = x < low ? low - x : x > high ? x - high : 0;
    if (beyond == 0 || range <= 0 || !isfinite(x))
        return beyond == 0 ? x : low;
    double times = floor(beyond / range), rest = beyond - times * range;
    bool is_even = fmod(times, 2) == 0;
    return (x < low) == is_even ? low + rest : high - rest;
}

/* The element that stands at X, which is whole; -1 when that is none. */
static int64_t element_at(const struct sampler *sampler, double x, int64_t size)
{
    double last = (double)(size - 1);
    if (x >= 0 && x <= last)
        return (int64_t)x;
    if (sampler->padding == ZEROS || size == 0)
        return -1;
    if (sampler->padding == REFLECTION)
        x = trunc(sampler->is_aligned ? reflect(x, 0, last) : reflect(x, -0.5, last + 0.5));
    return x > 0 ? (int64_t)fmin(x, last) : 0;
}

/* Where a point outside the borders is taken from. */
static double pull_inside(const struct sampler *sampler, double x, int64_t size)
{
    double low = sampler->is_aligned ? 0 : -0.5, high = (double)size - 1 - low;
    if (sampler->padding == ZEROS || (x >= low && x <= high))
        return x;
    if (sampler->padding == REFLECTION)
        return reflect(x, low, high);
    if (sampler->mode == CUBIC)
        return x; /* as PyTorch has it: each element of the border counts where it would lie */
    return fmin(fmax(x, 0), (double)(size - 1));
}

/* The elements along one dim that a point draws on. */
struct line {
    int count;
    int64_t element[4]; /* -1: zero */
    double weight[4];
};

static void find_line(const struct sampler *sampler, double coordinate, int64_t size,
                      struct line *line)
{
    double x = place_of(sampler, coordinate, size);
    if (sampler->mode == NEAREST)
        x = nearbyint(x);
    x = pull_inside(sampler, x, size);
    double first = sampler->mode == NEAREST ? x : floor(x) - (sampler->mode == CUBIC);
    line->count = sampler->mode == NEAREST ? 1 : sampler->mode == CUBIC ? 4 : 2;
    for (int k = 0; k < line->count; k++) {
        double distance = fabs(first + k - x);
        line->element[k] = element_at(sampler, first + k, size);
        line->weight[k] = sampler->mode == CUBIC ? amp_cubic_weight(distance, -0.75) : 1 - distance;
    }
}

/* The elements of a channel that a point draws on: COUNT of them, none of them zero padding. */
struct taps {
    int count;
    int64_t *element;
    double *weight;
};

/* Each of the taps becomes the taps of LINE, along a further dim of SIZE; what is below 0 stays so.
   In place, from the last tap on. */
static void cross(struct taps *taps, const struct line *line, int64_t size)
{
    for (int i = taps->count - 1; i >= 0; i--) {
        int64_t element = taps->element[i];
        double weight = taps->weight[i];
        for (int k = line->count - 1; k >= 0; k--) {
            taps->element[i * line->count + k] =
                line->element[k] < 0 ? -1 : element * size + line->element[k];
            taps->weight[i * line->count + k] = weight * line->weight[k];
        }
    }
    taps->count *= line->count;
}

static void drop_padding(struct taps *taps)
{
    int used = 0;
    for (int i = 0; i < taps->count; i++) {
        if (taps->element[i] < 0)
            continue;
        taps->element[used] = taps->element[i];
        taps->weight[used++] = taps->weight[i];
    }
    taps->count = used;
}

static void find_taps(const struct sampler *sampler, const struct amp_tensor *grid, int64_t point,
                      struct taps *taps)
{
    taps->count = 1;
    taps->element[0] = 0;
    taps->weight[0] = 1;
    for (int d = 0; d < sampler->n; d++) {
        struct line line;
        size_t at = (size_t)(point * sampler->n + sampler->n - 1 - d);
        find_line(sampler, amp_tensor_double(grid, at), sampler->dims[d], &line);
        cross(taps, &line, sampler->dims[d]);
    }
    drop_padding(taps);
}

/* Adjacent points, which go through the channels together, so that what is written lies together:
   the taps of point P are those from BEGIN[P] on, before BEGIN[P + 1]. */
enum { POINTS_MAX = 64 };

struct block {
    int count;
    int begin[POINTS_MAX + 1];
    int64_t element[TAPS_MAX];
    double weight[TAPS_MAX];
};

/* Points from POINT of GRID on, N at most. */
static void find_block(const struct sampler *sampler, const struct amp_tensor *grid, int64_t point,
                       int64_t n, struct block *block)
{
    block->begin[0] = 0;
    for (block->count = 0; block->count < n; block->count++) {
        int begin = block->begin[block->count];
        struct taps taps = {.element = block->element + begin, .weight = block->weight + begin};
        find_taps(sampler, grid, point + block->count, &taps);
        block->begin[block->count + 1] = begin + taps.count;
    }
}

/* A block of points of all channels: from TO on in each of the planes. */
typedef void block_fn(const struct block *block, int64_t channels, int64_t in_plane,
                      int64_t out_plane, const void *from, void *to);

#define BLOCK(name, T, value_of)                                                       \
    static void name(const struct block *block, int64_t channels, int64_t in_plane,    \
                     int64_t out_plane, const void *from, void *to)                    \
    {                                                                                  \
        for (int64_t c = 0; c < channels; c++) {                                       \
            const T *plane = (const T *)from + c * in_plane;                           \
            T *out = (T *)to + c * out_plane;                                          \
            for (int p = 0; p < block->count; p++)                                     \
                out[p] = value_of(block, block->begin[p], block->begin[p + 1], plane); \
        }                                                                              \
    }

/* A value computed in double, as T: cut off where T is an integer, kept in range. Four taps at a
   time, as two dims have them. */
#define TAP(i) sum += weight[i] * (double)plane[element[i]]
#define POINT(DTYPE, T)                                                                      \
    static inline T point_##DTYPE(const struct block *block, int k, int end, const T *plane) \
    {                                                                                        \
        const double *weight = block->weight + k;                                            \
        const int64_t *element = block->element + k;                                         \
        double sum = 0;                                                                      \
        for (; end - k >= 4; k += 4, weight += 4, element += 4) {                            \
            TAP(0);                                                                          \
            TAP(1);                                                                          \
            TAP(2);                                                                          \
            TAP(3);                                                                          \
        }                                                                                    \
        for (int i = 0; i < end - k; i++)                                                    \
            TAP(i);                                                                          \
        return sum <= (double)AMP_LOWEST(T)    ? AMP_LOWEST(T)                               \
               : sum >= (double)AMP_HIGHEST(T) ? AMP_HIGHEST(T)                              \
                                               : (T)sum;                                     \
    }                                                                                        \
    BLOCK(block_##DTYPE, T, point_##DTYPE)
AMP_REAL_TYPES(POINT)

static block_fn *const blocks[AMP_DTYPE_COUNT] = {AMP_REAL_TYPES(AMP_ROW, block)};

/* Nearest copies elements of any dtype. */
#define COPY(SIZE, T)                                                                        \
    static inline T copied_##SIZE(const struct block *block, int k, int end, const T *plane) \
    {                                                                                        \
        static const T zero;                                                                 \
        return k < end ? plane[block->element[k]] : zero;                                    \
    }                                                                                        \
    BLOCK(copy_##SIZE, T, copied_##SIZE)
AMP_SIZED_TYPES(COPY)

static block_fn *copy_of(enum amp_dtype dtype)
{
#define ROW(SIZE, T) [SIZE] = copy_##SIZE,
    static block_fn *const table[] = {AMP_SIZED_TYPES(ROW)};
#undef ROW
    return table[amp_dtype_bits(dtype) / 8];
}

static enum amp_status check_run(struct amp_ctx *ctx, const struct sampler *sampler)
{
    int64_t images = ctx->in[0]->shape.dims[0], grids = ctx->in[1]->shape.dims[0];
    double taps = pow(sampler->mode == CUBIC ? 4 : 2, sampler->n);
    if (images != grids)
        return AMP_CTX_FAIL(ctx, "a batch of %" PRId64 " and grids for %" PRId64, images, grids);
    if (taps > TAPS_MAX)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "no kernel for cubic sampling of %d dims",
                        sampler->n);
    if (sampler->mode != NEAREST && blocks[ctx->in[0]->dtype] == NULL)
        return amp_no_kernel(ctx, ctx->in[0]->dtype);
    return AMP_OK;
}

/* Points of a block: as many as have room for their taps. */
static int64_t points_of(const struct sampler *sampler)
{
    int64_t taps = 1;
    for (int d = 0; d < sampler->n && sampler->mode != NEAREST; d++)
        taps *= sampler->mode == CUBIC ? 4 : 2;
    return TAPS_MAX / taps < POINTS_MAX ? TAPS_MAX / taps : POINTS_MAX;
}

static enum amp_status sample_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *x = ctx->in[0], *grid = ctx->in[1], *out = ctx->out[0];
    struct sampler sampler;
    AMP_TRY(sampler_read(ctx, &sampler));
    AMP_TRY(check_run(ctx, &sampler));
    int64_t channels = x->shape.dims[1], size = amp_dtype_bits(x->dtype) / 8;
    int64_t in_plane = amp_shape_product(&x->shape, 2, x->shape.rank);
    int64_t out_plane = amp_shape_product(&out->shape, 2, out->shape.rank);
    int64_t n = points_of(&sampler), per_image = (out_plane + n - 1) / n;
    block_fn *run = sampler.mode == NEAREST ? copy_of(x->dtype) : blocks[x->dtype];
#pragma omp parallel for
    for (int64_t i = 0; i < x->shape.dims[0] * per_image; i++) {
        int64_t batch = i / per_image, point = i % per_image * n;
        struct block block;
        find_block(&sampler, grid, batch * out_plane + point,
                   out_plane - point < n ? out_plane - point : n, &block);
        run(&block, channels, in_plane, out_plane,
            (const char *)x->data + batch * channels * in_plane * size,
            (char *)out->data + (batch * channels * out_plane + point) * size);
    }
    return amp_move_done(ctx, 0);
}

/* ---- AffineGrid ---- */

static enum amp_status affine_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *theta = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t size[5], length = amp_ctx_length(ctx, 1);
    int count;
    char text[256];
    AMP_TRY(amp_ctx_ints(ctx, 1, size, 5, &count));
    out->rank = -1;
    if (count >= 0)
        length = count;
    if (length >= 0 && length != 4 && length != 5)
        return AMP_CTX_FAIL(ctx, "size has %" PRId64 " values; 4 or 5 are needed", length);
    if (length < 0)
        return AMP_OK;
    int n = (int)length - 2;
    if (theta->rank >= 0 && (theta->rank != 3 || (theta->dims[1] >= 0 && theta->dims[1] != n) ||
                             (theta->dims[2] >= 0 && theta->dims[2] != (int64_t)n + 1)))
        return AMP_CTX_FAIL(ctx, "theta has shape %s; [N, %d, %d] is needed",
                            amp_shape_text(theta, text, sizeof text), n, n + 1);
    amp_shape_unknown(out, n + 2);
    out->dims[0] = theta->rank < 0 ? AMP_DIM_UNKNOWN : theta->dims[0];
    out->dims[n + 1] = n;
    for (int d = 0; d < n && count > 0; d++) {
        out->dims[d + 1] = size[d + 2];
        if (size[d + 2] < 0 || size[d + 2] > INT32_MAX)
            return AMP_CTX_FAIL(ctx, "size holds %" PRId64 "; 0 to %d allowed", size[d + 2],
                                INT32_MAX);
    }
    return AMP_OK;
}

/* Element I of COUNT that divide -1 to 1 evenly. */
static double spread(int64_t i, int64_t count, bool is_aligned)
{
    if (!is_aligned)
        return -1 + (2 * (double)i + 1) / (double)count;
    return count > 1 ? -1 + 2 * (double)i / (double)(count - 1) : 0;
}

static enum amp_status affine_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *theta = ctx->in[0], *out = ctx->out[0];
    bool is_aligned = amp_node_int(ctx->node, "align_corners", 0) != 0;
    int n = out->shape.rank - 2;
#pragma omp parallel for
    for (int64_t i = 0; i < amp_shape_product(&out->shape, 0, n + 1); i++) {
        int64_t at[AMP_RANK_MAX];
        amp_index_at(n + 1, out->shape.dims, i, at);
        for (int row = 0; row < n; row++) {
            size_t matrix = (size_t)((at[0] * n + row) * (n + 1));
            double sum = amp_tensor_double(theta, matrix + (size_t)n);
            for (int d = 0; d < n; d++) /* x, the innermost dim, comes first */
                sum += amp_tensor_double(theta, matrix + (size_t)d) *
                       spread(at[n - d], out->shape.dims[n - d], is_aligned);
            if (out->dtype == AMP_DOUBLE)
                ((double *)out->data)[i * n + row] = sum;
            else
                ((float *)out->data)[i * n + row] = (float)sum;
        }
    }
    return AMP_OK;
}

const struct amp_op amp_op_affine_grid = {
    .name = "AffineGrid",
    .newest = 20,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = affine_shape,
    .run = affine_run,
};

const struct amp_op amp_op_grid_sample = {
    .name = "GridSample",
    .newest = 22,
    .twins = {"T1", "T2"},
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = sample_shape,
    .run = sample_run,
};

/*
 * Interpolation along one dim, in double precision as ONNX's reference has it: coordinates, nearest
 * elements, and the weights of linear and cubic interpolation, stretched for antialiasing.
 */
#include "ops/image/interpolation.h"

#include "core/buffer.h"

#include <math.h>

static double half_pixel(const struct amp_resample_dim *dim, double x)
{
    return (x + 0.5) / dim->scale - 0.5;
}

static double half_pixel_symmetric(const struct amp_resample_dim *dim, double x)
{
    double center = (double)dim->in / 2;
    double adjustment = (double)dim->out / ((double)dim->in * dim->scale);
    return center * (1 - adjustment) + (x + 0.5) / dim->scale - 0.5;
}

static double pytorch_half_pixel(const struct amp_resample_dim *dim, double x)
{
    return dim->out > 1 ? half_pixel(dim, x) : 0;
}

static double align_corners(const struct amp_resample_dim *dim, double x)
{
    return dim->length == 1 ? 0 : x * (double)(dim->in - 1) / (dim->length - 1);
}

static double asymmetric(const struct amp_resample_dim *dim, double x)
{
    return x / dim->scale;
}

/* A dim that is not scaled stays as it is, as in ONNX Runtime: half an element would move it. */
static double tf_half_pixel_for_nn(const struct amp_resample_dim *dim, double x)
{
    return dim->scale == 1 ? x : (x + 0.5) / dim->scale;
}

static double tf_crop_and_resize(const struct amp_resample_dim *dim, double x)
{
    double last = (double)(dim->in - 1);
    if (dim->length == 1)
        return 0.5 * (dim->start + dim->end) * last;
    return dim->start * last + x * (dim->end - dim->start) * last / (dim->length - 1);
}

typedef double coordinate_fn(const struct amp_resample_dim *dim, double x);

static coordinate_fn *const coordinates[] = {
    [AMP_HALF_PIXEL] = half_pixel,
    [AMP_HALF_PIXEL_SYMMETRIC] = half_pixel_symmetric,
    [AMP_PYTORCH_HALF_PIXEL] = pytorch_half_pixel,
    [AMP_ALIGN_CORNERS] = align_corners,
    [AMP_ASYMMETRIC] = asymmetric,
    [AMP_TF_CROP_AND_RESIZE] = tf_crop_and_resize,
    [AMP_TF_HALF_PIXEL_FOR_NN] = tf_half_pixel_for_nn,
};

static double prefer_floor(const struct amp_resample_dim *dim, double x)
{
    (void)dim;
    return ceil(x - 0.5);
}

static double prefer_ceil(const struct amp_resample_dim *dim, double x)
{
    (void)dim;
    return floor(x + 0.5);
}

static double down(const struct amp_resample_dim *dim, double x)
{
    (void)dim;
    return floor(x);
}

static double up(const struct amp_resample_dim *dim, double x)
{
    (void)dim;
    return ceil(x);
}

static double old(const struct amp_resample_dim *dim, double x)
{
    return dim->scale < 1 ? ceil(x) : floor(x);
}

static coordinate_fn *const nearest[] = {
    [AMP_NEAREST_PREFER_FLOOR] = prefer_floor,
    [AMP_NEAREST_PREFER_CEIL] = prefer_ceil,
    [AMP_NEAREST_FLOOR] = down,
    [AMP_NEAREST_CEIL] = up,
    [AMP_NEAREST_OLD] = old,
};

bool amp_resample_is_identity(const struct amp_resample *how, const struct amp_resample_dim *dim)
{
    bool is_whole =
        how->coordinates != AMP_TF_CROP_AND_RESIZE || (dim->start == 0 && dim->end == 1);
    return is_whole && dim->in == dim->out && dim->scale == 1;
}

double amp_cubic_weight(double t, double a)
{
    t = fabs(t);
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

static double weight_at(const struct amp_resample *how, double t)
{
    if (how->mode == AMP_RESAMPLE_CUBIC)
        return amp_cubic_weight(t, how->cubic_a);
    return fabs(t) < 1 ? 1 - fabs(t) : 0;
}

/* By how much the filter is narrower than a stretched one: 1 without antialiasing. */
static double squeeze(const struct amp_resample *how, const struct amp_resample_dim *dim)
{
    return how->is_antialiased && dim->scale < 1 ? dim->scale : 1;
}

/* How far before the element left of an output element its taps begin: 0 or negative. */
static int64_t first_tap(const struct amp_resample *how, const struct amp_resample_dim *dim)
{
    double reach = how->mode == AMP_RESAMPLE_CUBIC ? 2 : 1;
    return (int64_t)floor(-reach / squeeze(how, dim)) + 1;
}

/* How many taps an output element has: they reach as far to the right as to the left. */
static int64_t count_taps(const struct amp_resample *how, const struct amp_resample_dim *dim)
{
    return how->mode == AMP_RESAMPLE_NEAREST ? 1 : 2 - 2 * first_tap(how, dim);
}

static int64_t clamp(double x, int64_t in)
{
    if (!(x > 0))
        return 0;
    return x < (double)in ? (int64_t)x : in - 1;
}

/* The weights made to sum up to 1. */
static void normalize(double *weight, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += weight[i];
    for (int64_t i = 0; i < count && sum != 0; i++)
        weight[i] /= sum;
}

/* The taps of output element I, around X: the element left of it counts as whole when X lies on the
   one right of that, which decides what is inside and what is not. */
static void weigh(const struct amp_resample *how, const struct amp_resample_dim *dim, double x,
                  int64_t i, struct amp_taps *taps)
{
    int64_t count = taps->count, *index = taps->index + i * count;
    double *weight = taps->weight + i * count;
    double left = ceil(x) - 1, narrow = squeeze(how, dim);
    int64_t first = first_tap(how, dim);
    for (int64_t k = 0; k < count; k++) {
        double at = left + (double)(first + k);
        bool is_inside = at >= 0 && at < (double)dim->in;
        index[k] = clamp(at, dim->in);
        weight[k] = is_inside || !how->excludes_outside ? weight_at(how, (at - x) * narrow) : 0;
    }
    if (how->is_antialiased || how->excludes_outside)
        normalize(weight, count);
}

static enum amp_status allocate(struct amp_taps *taps, bool is_weighted, struct amp_error *err)
{
    size_t n, out = (size_t)taps->out, size;
    size_t per_tap = sizeof *taps->index + (is_weighted ? sizeof *taps->weight : 0);
    if (__builtin_mul_overflow(out, (size_t)taps->count, &n) ||
        __builtin_mul_overflow(n, per_tap, &size) || __builtin_add_overflow(size, out, &size))
        return amp_fail(err, AMP_IO, "out of memory: a resize to %zu elements", out);
    taps->buffer = amp_buffer_create(size);
    if (taps->buffer == NULL)
        return amp_fail(err, AMP_IO, "out of memory: a resize to %zu elements", out);
    char *data = taps->buffer->data;
    taps->index = (void *)data;
    if (is_weighted)
        taps->weight = (void *)(data + n * sizeof *taps->index);
    taps->is_outside = (void *)(data + n * per_tap);
    return AMP_OK;
}

enum amp_status amp_taps_create(const struct amp_resample *how, const struct amp_resample_dim *dim,
                                struct amp_taps *taps, struct amp_error *err)
{
    *taps = (struct amp_taps){.out = dim->out, .count = count_taps(how, dim)};
    AMP_TRY(allocate(taps, how->mode != AMP_RESAMPLE_NEAREST, err));
    bool can_leave = how->coordinates == AMP_TF_CROP_AND_RESIZE;
    for (int64_t i = 0; i < taps->out; i++) {
        double x = coordinates[how->coordinates](dim, (double)i);
        taps->is_outside[i] = can_leave && !(x >= 0 && x <= (double)(dim->in - 1));
        taps->has_outside |= taps->is_outside[i];
        if (taps->weight == NULL)
            taps->index[i] = clamp(nearest[how->nearest](dim, x), dim->in);
        else
            weigh(how, dim, x, i, taps);
    }
    return AMP_OK;
}

void amp_taps_destroy(struct amp_taps *taps)
{
    amp_buffer_unref(taps->buffer);
    taps->buffer = NULL;
}

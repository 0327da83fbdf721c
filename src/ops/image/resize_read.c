/*
 * Reads what Resize and Upsample, of all versions, say of each dim: scale or size, the part of the
 * input and how to sample it.
 */
#include "ops/image/resize_read.h"

#include <inttypes.h>
#include <math.h>

/* Upsample and the first Resize have no roi, no sizes and one way to find coordinates. */
static bool is_old(const struct amp_ctx *ctx)
{
    return ctx->node->since_version < 11;
}

static enum amp_status read_modes(const struct amp_ctx *ctx, struct amp_resize *resize)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", "bilinear", NULL};
    static const char *const coordinates[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",   "align_corners",
        "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn", NULL};
    static const char *const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                          "ceil", NULL};
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    int mode = 0, place = is_old(ctx) ? AMP_ASYMMETRIC : AMP_HALF_PIXEL;
    int rounding = is_old(ctx) ? AMP_NEAREST_OLD : AMP_NEAREST_PREFER_FLOOR,
        policy = AMP_RESIZE_STRETCH;
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &mode));
    AMP_TRY(amp_ctx_choice(ctx, "coordinate_transformation_mode", coordinates, &place));
    AMP_TRY(amp_ctx_choice(ctx, "nearest_mode", nearest, &rounding));
    AMP_TRY(amp_ctx_choice(ctx, "keep_aspect_ratio_policy", policies, &policy));
    resize->how = (struct amp_resample){
        .mode = mode > AMP_RESAMPLE_CUBIC ? AMP_RESAMPLE_LINEAR : (enum amp_resample_mode)mode,
        .coordinates = (enum amp_coordinates)place,
        .nearest = (enum amp_nearest)rounding,
        .is_antialiased = amp_node_int(ctx->node, "antialias", 0) != 0,
        .excludes_outside = amp_node_int(ctx->node, "exclude_outside", 0) != 0,
        .cubic_a = (double)amp_node_float(ctx->node, "cubic_coeff_a", -0.75f)};
    resize->policy = (enum amp_resize_policy)policy;
    resize->extrapolation = amp_node_float(ctx->node, "extrapolation_value", 0);
    return AMP_OK;
}

static enum amp_status read_axes(const struct amp_ctx *ctx, struct amp_resize *resize)
{
    size_t n;
    const int64_t *axes = amp_node_ints(ctx->node, "axes", &n);
    bool is_taken[AMP_RANK_MAX] = {false};
    if (n > (size_t)resize->rank)
        return AMP_CTX_FAIL(ctx, "attribute 'axes' has %zu values; input 0 has rank %d", n,
                            resize->rank);
    resize->n_axes = axes == NULL ? resize->rank : (int)n;
    for (int i = 0; i < resize->n_axes; i++) {
        int *axis = &resize->axes[i];
        *axis = i;
        if (axes != NULL)
            AMP_TRY(amp_ctx_axis(ctx, axes[i], resize->rank, axis));
        if (is_taken[*axis])
            return AMP_CTX_FAIL(ctx, "attribute 'axes' names axis %d twice", *axis);
        is_taken[*axis] = true;
    }
    return AMP_OK;
}

/* Input I as at most MAX doubles; *COUNT -1: not known, 0: omitted or empty. */
static enum amp_status read_floats(const struct amp_ctx *ctx, uint32_t i, double *values, int max,
                                   int *count)
{
    *count = 0;
    if (!amp_has_in(ctx, i))
        return AMP_OK;
    const struct amp_tensor *tensor = ctx->in[i];
    int64_t n = amp_shape_count(&tensor->shape);
    *count = n == 0 ? 0 : -1;
    if (n > max)
        return AMP_CTX_FAIL(ctx, "input %u has %" PRId64 " values; %d are needed", i, n, max);
    if (n <= 0 || tensor->data == NULL)
        return AMP_OK;
    for (int k = 0; k < n; k++)
        values[k] = amp_tensor_double(tensor, (size_t)k);
    *count = (int)n;
    return AMP_OK;
}

/* Attribute NAME as floats. */
static enum amp_status attr_floats(const struct amp_ctx *ctx, const char *name, double *values,
                                   int max, int *count)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, name);
    if (attr == NULL || attr->count > (size_t)max)
        return AMP_CTX_FAIL(ctx, "attribute '%s' is missing or has more than %d values", name, max);
    for (size_t k = 0; k < attr->count; k++)
        values[k] = (double)attr->floats[k];
    *count = (int)attr->count;
    return AMP_OK;
}

/* The scales of all axes, from where the operator's version has them. */
static enum amp_status read_scales(const struct amp_ctx *ctx, const struct amp_resize *resize,
                                   double *scales, int *count)
{
    int version = ctx->node->since_version;
    if (version >= 9) /* as all of Resize are */
        return read_floats(ctx, is_old(ctx) ? 1 : 2, scales, resize->n_axes, count);
    if (version >= 7)
        return attr_floats(ctx, "scales", scales, resize->n_axes, count);
    if (resize->rank != 4)
        return AMP_CTX_FAIL(ctx, "input 0 has rank %d; rank 4 is needed", resize->rank);
    scales[0] = scales[1] = 1;
    AMP_TRY(attr_floats(ctx, "height_scale", scales + 2, 1, count));
    AMP_TRY(attr_floats(ctx, "width_scale", scales + 3, 1, count));
    *count = 4;
    return AMP_OK;
}

static enum amp_status check_count(const struct amp_ctx *ctx, const struct amp_resize *resize,
                                   const char *what, int count)
{
    if (count == resize->n_axes)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "%d %s; %d are needed, one per axis", count, what, resize->n_axes);
}

static enum amp_status apply_scales(const struct amp_ctx *ctx, struct amp_resize *resize,
                                    const double *scales, int count)
{
    AMP_TRY(check_count(ctx, resize, "scales", count));
    if (resize->policy != AMP_RESIZE_STRETCH)
        return AMP_CTX_FAIL(ctx, "attribute 'keep_aspect_ratio_policy' other than stretch needs "
                                 "sizes, not scales");
    for (int i = 0; i < count; i++) {
        struct amp_resample_dim *dim = &resize->dims[resize->axes[i]];
        if (!(scales[i] > 0) || !isfinite(scales[i]))
            return AMP_CTX_FAIL(ctx, "scale %g; a positive number is needed", scales[i]);
        dim->scale = scales[i];
        dim->length = (double)dim->in * scales[i];
        if (dim->in >= 0 && dim->length >= INT32_MAX)
            return AMP_CTX_FAIL(ctx,
                                "scale %g makes %g of %" PRId64 " elements; up to %d are "
                                "supported",
                                scales[i], dim->length, dim->in, INT32_MAX);
        if (dim->in >= 0)
            dim->out = (int64_t)dim->length;
        else if (scales[i] != 1)
            dim->out = AMP_DIM_UNKNOWN;
    }
    return AMP_OK;
}

/* The one scale of all axes that a policy other than AMP_RESIZE_STRETCH takes; 0 when dims are not
 * known. */
static double common_scale(const struct amp_resize *resize, const int64_t *sizes)
{
    double scale = 0;
    for (int i = 0; i < resize->n_axes; i++) {
        int64_t in = resize->dims[resize->axes[i]].in;
        if (in <= 0)
            return 0;
        double own = (double)sizes[i] / (double)in;
        if (i == 0 || (resize->policy == AMP_RESIZE_NOT_LARGER ? own < scale : own > scale))
            scale = own;
    }
    return scale;
}

static enum amp_status apply_sizes(const struct amp_ctx *ctx, struct amp_resize *resize,
                                   const int64_t *sizes, int count)
{
    AMP_TRY(check_count(ctx, resize, "sizes", count));
    double common = common_scale(resize, sizes);
    for (int i = 0; i < count; i++) {
        struct amp_resample_dim *dim = &resize->dims[resize->axes[i]];
        if (sizes[i] < 0 || sizes[i] > INT32_MAX || (sizes[i] > 0 && dim->in == 0))
            return AMP_CTX_FAIL(ctx, "size %" PRId64 " for %" PRId64 " elements; 0 to %d allowed",
                                sizes[i], dim->in, dim->in == 0 ? 0 : INT32_MAX);
        bool is_common = resize->policy != AMP_RESIZE_STRETCH;
        dim->out = sizes[i];
        if (is_common)
            dim->out = common > 0 ? (int64_t)(common * (double)dim->in + 0.5) : AMP_DIM_UNKNOWN;
        dim->scale = is_common ? common : (double)sizes[i] / (double)dim->in;
        dim->length = (double)dim->out;
    }
    return AMP_OK;
}

static enum amp_status read_roi(const struct amp_ctx *ctx, struct amp_resize *resize)
{
    double roi[2 * AMP_RANK_MAX];
    int count, n = resize->n_axes;
    if (resize->how.coordinates != AMP_TF_CROP_AND_RESIZE)
        return AMP_OK;
    AMP_TRY(read_floats(ctx, 1, roi, 2 * n, &count));
    if (count < 0)
        return AMP_OK;
    if (count != 2 * n)
        return AMP_CTX_FAIL(ctx, "roi has %d values; %d are needed for tf_crop_and_resize", count,
                            2 * n);
    for (int i = 0; i < n; i++) {
        resize->dims[resize->axes[i]].start = roi[i];
        resize->dims[resize->axes[i]].end = roi[n + i];
    }
    return AMP_OK;
}

enum amp_status amp_resize_read(const struct amp_ctx *ctx, struct amp_resize *resize)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    double scales[AMP_RANK_MAX] = {0};
    int64_t sizes[AMP_RANK_MAX];
    int n_scales, n_sizes = 0;
    *resize = (struct amp_resize){.rank = in->rank};
    for (int d = 0; d < in->rank; d++)
        resize->dims[d] = (struct amp_resample_dim){.in = in->dims[d],
                                                    .out = in->dims[d],
                                                    .scale = 1,
                                                    .length = (double)in->dims[d],
                                                    .end = 1};
    AMP_TRY(read_modes(ctx, resize));
    AMP_TRY(read_axes(ctx, resize));
    AMP_TRY(read_scales(ctx, resize, scales, &n_scales));
    if (!is_old(ctx))
        AMP_TRY(amp_ctx_ints(ctx, 3, sizes, resize->n_axes, &n_sizes));
    AMP_TRY(read_roi(ctx, resize));
    if ((n_scales > 0 && n_sizes > 0) || (n_scales == 0 && n_sizes == 0 && resize->n_axes > 0))
        return AMP_CTX_FAIL(ctx, "either scales or sizes must be given, and not both");
    if (n_scales > 0)
        return apply_scales(ctx, resize, scales, n_scales);
    if (n_sizes > 0)
        return apply_sizes(ctx, resize, sizes, n_sizes);
    for (int i = 0; i < resize->n_axes; i++)
        resize->dims[resize->axes[i]].out = AMP_DIM_UNKNOWN;
    return AMP_OK;
}

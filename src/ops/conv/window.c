/*
 * Window arithmetic of convolutions and poolings: turns attributes into pads and output dims, with
 * unknown dims allowed, and walks over pairs of steps and image elements. Every number that comes
 * from the model is at most INT32_MAX before it is computed with, so that sums of products fit 64
 * bits.
 */
#include "ops/conv/window.h"

#include "ops/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

enum amp_status amp_window_rank(const struct amp_ctx *ctx, uint32_t i, int n_min, int *n)
{
    *n = -1;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    if (shape->rank < 0)
        return AMP_OK;
    char text[256];
    if (shape->rank < n_min + 2)
        return AMP_CTX_FAIL(ctx, "input %u has shape %s; rank %d or more is needed", i,
                            amp_shape_text(shape, text, sizeof text), n_min + 2);
    *n = shape->rank - 2;
    for (int d = 0; d < *n; d++)
        if (shape->dims[2 + d] > INT32_MAX)
            return AMP_CTX_FAIL(ctx, "input %u has shape %s; spatial dims up to %d are supported",
                                i, amp_shape_text(shape, text, sizeof text), INT32_MAX);
    return AMP_OK;
}

/* A list attribute. */
struct list {
    const char *name;
    int n;       /* values that it must have */
    int64_t low; /* the least that each may be, up to INT32_MAX */
};

/* Reads LIST to VALUES; *IS_THERE says whether it is given. */
static enum amp_status read_ints(const struct amp_ctx *ctx, struct list list, int64_t *values,
                                 bool *is_there)
{
    size_t n;
    const int64_t *ints = amp_node_ints(ctx->node, list.name, &n);
    *is_there = ints != NULL;
    if (ints == NULL)
        return AMP_OK;
    if (n != (size_t)list.n)
        return AMP_CTX_FAIL(ctx, "attribute '%s' has %zu values; %d are needed", list.name, n,
                            list.n);
    for (int i = 0; i < list.n; i++)
        if (ints[i] < list.low || ints[i] > INT32_MAX)
            return AMP_CTX_FAIL(ctx, "attribute '%s' holds %" PRId64 "; %" PRId64 " to %d allowed",
                                list.name, ints[i], list.low, INT32_MAX);
    memcpy(values, ints, n * sizeof *values);
    return AMP_OK;
}

/* Reads LIST to VALUES; all of them are FALLBACK where it is absent. */
static enum amp_status read_ints_or(const struct amp_ctx *ctx, struct list list, int64_t fallback,
                                    int64_t *values)
{
    bool is_there;
    AMP_TRY(read_ints(ctx, list, values, &is_there));
    for (int d = 0; d < list.n && !is_there; d++)
        values[d] = fallback;
    return AMP_OK;
}

static enum amp_status read_auto_pad(const struct amp_ctx *ctx, struct amp_window *window)
{
    static const char *const names[] = {[AMP_PAD_NOTSET] = "NOTSET",
                                        [AMP_PAD_SAME_UPPER] = "SAME_UPPER",
                                        [AMP_PAD_SAME_LOWER] = "SAME_LOWER",
                                        [AMP_PAD_VALID] = "VALID",
                                        NULL};
    int choice = AMP_PAD_NOTSET;
    AMP_TRY(amp_ctx_choice(ctx, "auto_pad", names, &choice));
    window->auto_pad = (enum amp_auto_pad)choice;
    return AMP_OK;
}

static enum amp_status read_kernel(const struct amp_ctx *ctx, const int64_t *kernel,
                                   struct amp_window *window)
{
    bool is_there;
    AMP_TRY(read_ints(ctx, (struct list){"kernel_shape", window->n, 1}, window->kernel, &is_there));
    if (!is_there && kernel == NULL)
        return AMP_CTX_FAIL(ctx, "attribute 'kernel_shape' is missing");
    for (int d = 0; d < window->n && kernel != NULL; d++) {
        if (!is_there)
            window->kernel[d] = kernel[d] < 0 ? AMP_DIM_UNKNOWN : kernel[d];
        else if (kernel[d] >= 0 && kernel[d] != window->kernel[d])
            return AMP_CTX_FAIL(ctx,
                                "attribute 'kernel_shape' says %" PRId64
                                " in spatial dim %d, the weights have %" PRId64,
                                window->kernel[d], d, kernel[d]);
        if (kernel[d] == 0 || kernel[d] > INT32_MAX)
            return AMP_CTX_FAIL(ctx,
                                "weights with %" PRId64 " taps in spatial dim %d; 1 to %d "
                                "allowed",
                                kernel[d], d, INT32_MAX);
    }
    return AMP_OK;
}

enum amp_status amp_window_read(const struct amp_ctx *ctx, int n, const int64_t *kernel,
                                struct amp_window *window)
{
    *window = (struct amp_window){.n = n};
    window->ceil_mode = amp_node_int(ctx->node, "ceil_mode", 0) != 0;
    int64_t pads[2 * AMP_SPATIAL_MAX];
    AMP_TRY(read_auto_pad(ctx, window));
    AMP_TRY(read_kernel(ctx, kernel, window));
    AMP_TRY(read_ints_or(ctx, (struct list){"strides", n, 1}, 1, window->stride));
    AMP_TRY(read_ints_or(ctx, (struct list){"dilations", n, 1}, 1, window->dilation));
    AMP_TRY(read_ints_or(ctx, (struct list){"pads", 2 * n, 0}, 0, pads));
    for (int d = 0; d < n && window->auto_pad == AMP_PAD_NOTSET; d++) {
        window->pad_begin[d] = pads[d];
        window->pad_end[d] = pads[n + d];
    }
    return AMP_OK;
}

/* Splits TOTAL padding of dim D between both sides; an odd one is longer behind for SAME_UPPER, in
   front otherwise. */
static void split_pad(struct amp_window *window, int d, int64_t total)
{
    if (total < 0)
        total = 0;
    int64_t half = total / 2;
    window->pad_begin[d] = window->auto_pad == AMP_PAD_SAME_UPPER ? half : total - half;
    window->pad_end[d] = total - window->pad_begin[d];
}

static bool is_same(const struct amp_window *window)
{
    return window->auto_pad == AMP_PAD_SAME_UPPER || window->auto_pad == AMP_PAD_SAME_LOWER;
}

/* ceil(image / stride) steps, with the padding that takes */
static void pad_same(struct amp_window *window, int d)
{
    int64_t image = window->image[d], stride = window->stride[d];
    int64_t steps = (image + stride - 1) / stride;
    split_pad(window, d, (steps - 1) * stride + amp_window_extent(window, d) - image);
}

/* The number of steps on a known image; 0 or less where the window does not fit. */
static int64_t count_steps(const struct amp_window *window, int d)
{
    int64_t stride = window->stride[d], begin = window->pad_begin[d];
    int64_t room = window->image[d] + begin + window->pad_end[d] - amp_window_extent(window, d);
    if (room < 0)
        return 0;
    int64_t steps = (room + (window->ceil_mode ? stride - 1 : 0)) / stride + 1;
    /* A last window that starts behind the image and its leading padding is left out. */
    if (window->ceil_mode && (steps - 1) * stride >= window->image[d] + begin)
        steps--;
    return steps;
}

/* Where the padding makes up for the extent of the window, a symbol passes through. */
static int64_t unknown_steps(const struct amp_window *window, int d)
{
    bool is_kept = window->kernel[d] > 0 && window->stride[d] == 1 &&
                   (is_same(window) ||
                    window->pad_begin[d] + window->pad_end[d] == amp_window_extent(window, d) - 1);
    return is_kept ? window->image[d] : AMP_DIM_UNKNOWN;
}

static enum amp_status slide_dim(const struct amp_ctx *ctx, struct amp_window *window, int d)
{
    if (window->image[d] < 0 || window->kernel[d] < 0) {
        window->steps[d] = unknown_steps(window, d);
        return AMP_OK;
    }
    if (is_same(window))
        pad_same(window, d);
    window->steps[d] = count_steps(window, d);
    if (window->steps[d] > 0)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx,
                        "a window of %" PRId64 " (kernel %" PRId64 ", dilation %" PRId64
                        ") does not fit spatial dim %d: %" PRId64 " with pads %" PRId64
                        " and %" PRId64,
                        amp_window_extent(window, d), window->kernel[d], window->dilation[d], d,
                        window->image[d], window->pad_begin[d], window->pad_end[d]);
}

/* Taps in the padding take their time too: a window that is larger than its image has so many at
   most. */
enum { TAPS_MAX = 1 << 24 };

static enum amp_status check_taps(const struct amp_ctx *ctx, const struct amp_window *window)
{
    bool is_larger = false;
    int64_t taps = 1;
    for (int d = 0; d < window->n; d++) {
        if (window->kernel[d] < 0 || window->image[d] < 0)
            return AMP_OK;
        is_larger |= window->kernel[d] > window->image[d];
        taps = taps > TAPS_MAX / (window->kernel[d] > 0 ? window->kernel[d] : 1)
                   ? TAPS_MAX + 1
                   : taps * window->kernel[d];
    }
    if (is_larger && taps > TAPS_MAX)
        return AMP_CTX_FAIL(ctx, "a window larger than its image has more than %d taps", TAPS_MAX);
    return AMP_OK;
}

enum amp_status amp_window_slide(const struct amp_ctx *ctx, const int64_t *image,
                                 struct amp_window *window)
{
    for (int d = 0; d < window->n; d++) {
        window->image[d] = image[d];
        AMP_TRY(slide_dim(ctx, window, d));
    }
    return check_taps(ctx, window);
}

/* The pads and the image of a known number of steps: WANTED, when given, is padded to; elements
   that no step reaches then lie behind. */
static void unslide_dim(struct amp_window *window, int d, int64_t extra, const int64_t *wanted)
{
    int64_t stride = window->stride[d], steps = window->steps[d];
    int64_t full = stride * (steps - 1) + extra + amp_window_extent(window, d);
    if (wanted != NULL)
        split_pad(window, d, full - wanted[d]);
    else if (is_same(window))
        split_pad(window, d, full - steps * stride);
    window->image[d] =
        wanted != NULL ? wanted[d] : full - window->pad_begin[d] - window->pad_end[d];
}

enum amp_status amp_window_unslide(const struct amp_ctx *ctx, const int64_t *steps,
                                   struct amp_window *window)
{
    int64_t extra[AMP_SPATIAL_MAX] = {0}, wanted[AMP_SPATIAL_MAX] = {0};
    bool is_wanted;
    AMP_TRY(read_ints_or(ctx, (struct list){"output_padding", window->n, 0}, 0, extra));
    AMP_TRY(read_ints(ctx, (struct list){"output_shape", window->n, 1}, wanted, &is_wanted));
    for (int d = 0; d < window->n; d++) {
        window->steps[d] = steps[d];
        window->image[d] = is_wanted ? wanted[d] : AMP_DIM_UNKNOWN;
        if (steps[d] < 0 || window->kernel[d] < 0)
            continue;
        unslide_dim(window, d, extra[d], is_wanted ? wanted : NULL);
        if (window->image[d] <= 0 || window->image[d] > INT32_MAX)
            return AMP_CTX_FAIL(
                ctx, "spatial dim %d of the output would be %" PRId64 "; 1 to %d allowed", d,
                window->image[d], INT32_MAX);
    }
    return AMP_OK;
}

int64_t amp_window_reach(const struct amp_window *window, int d)
{
    return (window->steps[d] - 1) * window->stride[d] + amp_window_extent(window, d) -
           window->image[d] - window->pad_begin[d];
}

/* The steps in dim D whose tap K lies inside the image: from *FIRST, *COUNT many. */
static void steps_inside(const struct amp_window *window, int d, int64_t k, int64_t *first,
                         int64_t *count)
{
    int64_t stride = window->stride[d];
    int64_t before = window->pad_begin[d] - k * window->dilation[d]; /* image element 0 */
    int64_t last = window->image[d] - 1 + before;
    *first = before > 0 ? (before + stride - 1) / stride : 0;
    int64_t end = last < 0 ? 0 : last / stride + 1;
    if (end > window->steps[d])
        end = window->steps[d];
    *count = end > *first ? end - *first : 0;
}

int64_t amp_window_product(int n, const int64_t *dims)
{
    int64_t product = 1;
    for (int d = 0; d < n; d++)
        product *= dims[d];
    return product;
}

void amp_runs_start(struct amp_runs *runs, const struct amp_window *window, const int64_t *tap)
{
    int64_t step_stride = 1, image_stride = 1;
    *runs = (struct amp_runs){.window = window, .count = 1, .stride = 1};
    for (int d = window->n - 1; d >= 0; d--) {
        int64_t first;
        steps_inside(window, d, tap[d], &first, &runs->dims[d]);
        runs->step_strides[d] = step_stride;
        runs->image_strides[d] = image_stride * window->stride[d];
        runs->first_step += first * step_stride;
        runs->first_image +=
            (first * window->stride[d] - window->pad_begin[d] + tap[d] * window->dilation[d]) *
            image_stride;
        step_stride *= window->steps[d];
        image_stride *= window->image[d];
    }
    if (window->n > 0) {
        runs->count = runs->dims[window->n - 1];
        runs->stride = window->stride[window->n - 1];
    }
}

bool amp_runs_next(struct amp_runs *runs)
{
    int outer = runs->window->n - 1;
    if (runs->is_started && !amp_index_next(outer, runs->dims, runs->index))
        return false;
    if (!runs->is_started && amp_window_product(runs->window->n, runs->dims) == 0)
        return false;
    runs->is_started = true;
    runs->step = runs->first_step;
    runs->image = runs->first_image;
    for (int d = 0; d < outer; d++) {
        runs->step += runs->index[d] * runs->step_strides[d];
        runs->image += runs->index[d] * runs->image_strides[d];
    }
    return true;
}

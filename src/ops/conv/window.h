#ifndef AMP_OPS_CONV_WINDOW_H
#define AMP_OPS_CONV_WINDOW_H

#include "ops/op.h"

/*
 * The arithmetic that convolutions, poolings and their inverses share: a window of KERNEL taps,
 * DILATION apart, takes STEPS positions, STRIDE apart, on an image that is padded on both sides.
 * Tap k of position s lies over image element s * stride - pad_begin + k * dilation. A convolution
 * reads the image and writes the steps; a transposed one reads the steps and writes the image.
 */
enum { AMP_SPATIAL_MAX = AMP_RANK_MAX }; /* more than there are: oneDNN wants arrays of 12 */

enum amp_auto_pad { AMP_PAD_NOTSET, AMP_PAD_SAME_UPPER, AMP_PAD_SAME_LOWER, AMP_PAD_VALID };

struct amp_window {
    int n; /* spatial dims */
    enum amp_auto_pad auto_pad;
    bool ceil_mode;
    int64_t kernel[AMP_SPATIAL_MAX]; /* AMP_DIM_UNKNOWN: weights of unknown shape */
    int64_t stride[AMP_SPATIAL_MAX], dilation[AMP_SPATIAL_MAX];
    int64_t pad_begin[AMP_SPATIAL_MAX], pad_end[AMP_SPATIAL_MAX];
    int64_t image[AMP_SPATIAL_MAX], steps[AMP_SPATIAL_MAX]; /* unknown dims allowed */
};

/* Checks that input I has N + 2 dims or more (batch, channels, N spatial ones) and gives its number
   of spatial dims; -1 when its rank is not known. */
enum amp_status amp_window_rank(const struct amp_ctx *ctx, uint32_t i, int n_min, int *n);

/* Reads auto_pad, ceil_mode, kernel_shape, strides, dilations and pads for N spatial dims. KERNEL,
   the spatial dims of the weights, stands for kernel_shape, which may be absent then and must not
   differ; NULL: there are no weights. */
enum amp_status amp_window_read(const struct amp_ctx *ctx, int n, const int64_t *kernel,
                                struct amp_window *window);

/* The pads and the number of steps on IMAGE (ONNX Conv, MaxPool: auto_pad, ceil_mode). */
enum amp_status amp_window_slide(const struct amp_ctx *ctx, const int64_t *image,
                                 struct amp_window *window);

/* The pads and the image that STEPS make (ONNX ConvTranspose: auto_pad, output_padding,
   output_shape). */
enum amp_status amp_window_unslide(const struct amp_ctx *ctx, const int64_t *steps,
                                   struct amp_window *window);

/* The extent of the dilated kernel in dim D. */
static inline int64_t amp_window_extent(const struct amp_window *window, int d)
{
    return (window->kernel[d] - 1) * window->dilation[d] + 1;
}

/* The padding behind the image in dim D that the last step covers: in ceil mode more than pad_end;
   negative where the steps leave a part of the image out. */
int64_t amp_window_reach(const struct amp_window *window, int d);

/* The product of N dims. */
int64_t amp_window_product(int n, const int64_t *dims);

/*
 * All pairs of a step and the image element that one tap lies over, in runs along the last dim:
 *
 *     struct amp_runs runs;
 *     amp_runs_start(&runs, window, tap);
 *     while (amp_runs_next(&runs))
 *         for (int64_t i = 0; i < runs.count; i++)
 *             ... steps[runs.step + i] ... image[runs.image + i * runs.stride] ...
 */
struct amp_runs {
    const struct amp_window *window;
    int64_t step, image, count, stride;
    bool is_started;
    int64_t first_step, first_image;       /* of the very first run */
    int64_t dims[AMP_SPATIAL_MAX];         /* steps inside, per dim */
    int64_t index[AMP_SPATIAL_MAX];        /* of the run */
    int64_t step_strides[AMP_SPATIAL_MAX]; /* elements from one step of a dim to the next */
    int64_t image_strides[AMP_SPATIAL_MAX];
};

/* TAP has window->n coordinates below the kernel's dims. */
void amp_runs_start(struct amp_runs *runs, const struct amp_window *window, const int64_t *tap);
bool amp_runs_next(struct amp_runs *runs);

#endif

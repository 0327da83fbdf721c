#ifndef AMP_OPS_IMAGE_RESIZE_READ_H
#define AMP_OPS_IMAGE_RESIZE_READ_H

#include "ops/kernel/kernel.h"
#include "ops/image/interpolation.h"

/* ONNX's keep_aspect_ratio_policy. */
enum amp_resize_policy { AMP_RESIZE_STRETCH, AMP_RESIZE_NOT_LARGER, AMP_RESIZE_NOT_SMALLER };

/* A node of Resize or Upsample. */
struct amp_resize {
    struct amp_resample how;
    enum amp_resize_policy policy;
    float extrapolation;
    int rank;
    int n_axes, axes[AMP_RANK_MAX]; /* those that scales, sizes and roi speak of */
    struct amp_resample_dim dims[AMP_RANK_MAX];
};

/* Reads the node of CTX; the rank of input 0 must be known. Output dims are unknown where their
   inputs are. AMP_KERNEL when attributes and inputs do not go together. */
enum amp_status amp_resize_read(const struct amp_ctx *ctx, struct amp_resize *resize);

#endif

#ifndef AMP_OPS_IMAGE_INTERPOLATION_H
#define AMP_OPS_IMAGE_INTERPOLATION_H

#include "core/status.h"
#include "core/tensor.h"

/*
 * How one dim of a tensor is resized (ONNX Resize): where each output element lies in the input,
 * and which input elements count for it how much. Resizing is separable, so a tensor is resized dim
 * by dim.
 */
enum amp_resample_mode { AMP_RESAMPLE_NEAREST, AMP_RESAMPLE_LINEAR, AMP_RESAMPLE_CUBIC };

/* ONNX's coordinate_transformation_mode. */
enum amp_coordinates {
    AMP_HALF_PIXEL,
    AMP_HALF_PIXEL_SYMMETRIC,
    AMP_PYTORCH_HALF_PIXEL,
    AMP_ALIGN_CORNERS,
    AMP_ASYMMETRIC,
    AMP_TF_CROP_AND_RESIZE,
    AMP_TF_HALF_PIXEL_FOR_NN /* Resize-11 only */
};

/* ONNX's nearest_mode; NEAREST_OLD is what operators without that attribute do: towards the start,
   when the dim shrinks towards the end. */
enum amp_nearest {
    AMP_NEAREST_PREFER_FLOOR,
    AMP_NEAREST_PREFER_CEIL,
    AMP_NEAREST_FLOOR,
    AMP_NEAREST_CEIL,
    AMP_NEAREST_OLD
};

struct amp_resample {
    enum amp_resample_mode mode;
    enum amp_coordinates coordinates;
    enum amp_nearest nearest;
    bool is_antialiased, excludes_outside;
    double cubic_a;
};

struct amp_resample_dim {
    int64_t in, out;
    double scale;      /* as the model gives it, else out / in */
    double length;     /* where its corners lie: in * scale, not rounded, or a given size */
    double start, end; /* of the part of the input, 0 to 1, that TF_CROP_AND_RESIZE takes */
};

/* Whether the dim comes out as it goes in. */
bool amp_resample_is_identity(const struct amp_resample *how, const struct amp_resample_dim *dim);

/* For each output element COUNT input elements and their weights (NULL for nearest: COUNT is 1). */
struct amp_taps {
    int64_t out, count;
    int64_t *index;
    double *weight;
    bool *is_outside; /* per output element: it lies outside the input and gets a fixed value */
    bool has_outside; /* any of them */
    struct amp_buffer *buffer;
};

/* The taps of DIM, whose in and out are at least 1. To be destroyed, also on failure (AMP_IO). */
enum amp_status amp_taps_create(const struct amp_resample *how, const struct amp_resample_dim *dim,
                                struct amp_taps *taps, struct amp_error *err);
void amp_taps_destroy(struct amp_taps *taps);

/* Cubic convolution's weight at distance T (Keys 1981, eq. 4), 0 from 2 on. */
double amp_cubic_weight(double t, double a);

#endif

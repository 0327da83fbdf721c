#ifndef AMP_OPS_DNNL_REQUANTIZE_H
#define AMP_OPS_DNNL_REQUANTIZE_H

#include "core/tensor.h"
#include "ops/dnnl/post_op.h"

/*
 * Products of bytes whose sums one primitive scales and rounds to bytes again (ONNX QLinearConv,
 * QLinearMatMul): y = saturate(round(sum * factor) + zero), ties to even, the factor and the
 * product of float32. oneDNN does that to sums in float32, which are right as long as all of them
 * are integers that float32 has.
 */

/* Sums of products of X, bytes of dtype X less X_ZERO, with weights, from an int32 bias on. */
struct amp_byte_sums {
    enum amp_dtype x;
    int64_t x_zero;
    const struct amp_tensor *w, *bias; /* int8, with data; BIAS: NULL: none */
    int64_t group;                     /* of a convolution; 0: none */
    int channel;                       /* the dim of W that each sum has one of */
};

/* How they can be computed. */
enum amp_byte_way {
    AMP_BYTES_APART, /* not by one primitive */
    AMP_BYTES_WHOLE, /* in integers */
    AMP_BYTES_SUMMED /* the sums by one, of X as uint8, and what is done to them apart: float32 may
                        not have them, or what a bias makes of them */
};
enum amp_byte_way amp_byte_sums_way(const struct amp_byte_sums *sums);

/* Whether weights W, [M, C, K...] or a matrix, see more than one place of an image, and so may see
   what pads it. */
bool amp_byte_sums_may_pad(const struct amp_tensor *w);

/* COUNT bytes as the other type of bytes: int8 and 128, uint8 less 128. */
void amp_bytes_flip(const void *from, void *to, size_t count);

/* What is done to them. */
struct amp_requantize {
    struct amp_tensor factors; /* float32: one for each channel, to be broadcast to the result */
    float zero;
};

/* Sets POSTS to that as post-ops of a primitive that stores bytes; returns their number. */
enum { AMP_REQUANTIZE_POSTS = 3 };
size_t amp_requantize_posts(const struct amp_requantize *requantize, struct amp_post *posts);

#endif

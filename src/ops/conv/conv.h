#ifndef AMP_OPS_CONV_CONV_H
#define AMP_OPS_CONV_CONV_H

#include "core/simd.h"
#include "core/simd.h"
#include "ops/conv/window.h"

/*
 * What convolutions of all kinds share: what they read and check.
 */

/* The number of spatial dims from inputs X and W, which must agree; -1 when neither tells it. */
enum amp_status amp_conv_rank(const struct amp_ctx *ctx, uint32_t x, uint32_t w, int *n);

/* Attribute group, 1 or more, which must divide CHANNELS and FILTERS where they are known. */
enum amp_status amp_conv_group(const struct amp_ctx *ctx, int64_t channels, int64_t filters,
                               int64_t *group);

/* The dims of SHAPE: UNKNOWN, filled with unknown ones, where its rank is. */
const int64_t *amp_conv_dims(const struct amp_shape *shape, int64_t unknown[AMP_RANK_MAX]);

/* Input I, when it is there, must have the shape [FILTERS]. */
enum amp_status amp_conv_bias(const struct amp_ctx *ctx, uint32_t i, int64_t filters);

/* Which input is which. */
struct amp_conv_inputs {
    uint32_t x, x_zero, w, w_zero, bias;
};

struct amp_conv {
    const struct amp_conv_inputs *inputs;
    struct amp_window window;
    int64_t group, batch, channels, filters; /* dims unknown where the shapes do not tell */
};

/* One output plane, that of filter M: of the kernels in C. */
typedef void amp_conv_plane(const struct amp_ctx *ctx, const struct amp_conv *conv, int64_t batch,
                            int64_t m);

/* Runs PLANE for all filters of all of CONV's batch. */
void amp_conv_planes(const struct amp_ctx *ctx, const struct amp_conv *conv, amp_conv_plane *plane);

/* Gives output 0 the shape [batch, filters, SIZES...] of CONV, N sizes. */
void amp_conv_set_shape(struct amp_ctx *ctx, const struct amp_conv *conv, int n,
                        const int64_t *sizes);

struct amp_prim;

/* Runs what MAKE makes, or PLAIN where oneDNN has nothing, unless output 0 is empty. */
enum amp_status amp_conv_run(struct amp_ctx *ctx,
                             enum amp_status (*make)(struct amp_ctx *ctx, struct amp_prim *prim),
                             enum amp_status (*plain)(struct amp_ctx *ctx));

/* Everything from attributes and shapes, unknown dims allowed, with N spatial dims. */
enum amp_status amp_conv_read(const struct amp_ctx *ctx, const struct amp_conv_inputs *inputs,
                              int n, struct amp_conv *conv);

/* The shape of output 0. */
enum amp_status amp_conv_shape(struct amp_ctx *ctx, const struct amp_conv_inputs *inputs);

/* A function: sum[step] += weight * (image - zero) over all steps that one tap has inside the
   image. ACC: unsigned for integers, whose sums may wrap. */
#define AMP_CONV_TAP(DTYPE, T, ACC)                                                                \
    AMP_CLONES(void, tap_row_##DTYPE,                                                              \
               (const T *from, int64_t stride, int64_t n, ACC weight, ACC zero, ACC *to),          \
               (from, stride, n, weight, zero, to))                                                \
    {                                                                                              \
        if (stride != 1) {                                                                         \
            for (int64_t i = 0; i < n; i++)                                                        \
                to[i] += weight * ((ACC)from[i * stride] - zero);                                  \
            return;                                                                                \
        }                                                                                          \
        AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] += weight * ((ACC)from[i] - zero);          \
    }                                                                                              \
    static void tap_##DTYPE(struct amp_runs *runs, const T *image, ACC weight, ACC zero, ACC *sum) \
    {                                                                                              \
        while (amp_runs_next(runs))                                                                \
            tap_row_##DTYPE(image + runs->image, runs->stride, runs->count, weight, zero,          \
                            sum + runs->step);                                                     \
    }

#endif

#ifndef AMP_OPS_NORM_ROW_NORM_H
#define AMP_OPS_NORM_ROW_NORM_H

#include "ops/dnnl/prim.h"

/*
 * What normalizations share: rows are normalized by their own statistics in plain C, computed in
 * double, then scaled and shifted: on the way, or by a loop that broadcasts.
 */
struct amp_rows {
    const void *x;
    void *y;          /* may be x */
    int64_t count, n; /* rows, elements in each */
    double epsilon;
    const void *scale, *shift; /* N elements each, of the type that is computed in: a row is
                                  multiplied by the one, the other is added; NULL: none */
    const struct amp_tensor *mean, *inverse; /* for the mean and the 1 / sqrt(variance + epsilon) of
                                                each row; NULL: not wanted */
};

enum amp_rows_kind {
    AMP_ROWS_STANDARDIZE,   /* (x - mean) / sqrt(variance + epsilon) */
    AMP_ROWS_RMS,           /* x / sqrt(mean of x^2 + epsilon), the inverse of the root kept */
    AMP_ROWS_MEAN_VARIANCE, /* (x - mean) / (sqrt(variance) + epsilon) */
    AMP_ROWS_MEAN,          /* x - mean */
    AMP_ROWS_L1,            /* x / sum of |x|; 0 where that is 0 */
    AMP_ROWS_L2,            /* x / sqrt(sum of x^2); 0 where that is 0 */
    AMP_ROWS_KINDS
};

/* Normalizes ROWS, elements of input 0's dtype; float16 and bfloat16 are computed in float32. */
enum amp_status amp_rows_run(struct amp_ctx *ctx, enum amp_rows_kind kind,
                             const struct amp_rows *rows);

/* Multiplies output 0, seen as VIEW, by input 1 and adds input 2 if there, both seen as PARAMETERS
   (NULL: as they are), which broadcast to VIEW. */
enum amp_status amp_scale_shift(struct amp_ctx *ctx, const struct amp_shape *view,
                                const struct amp_shape *parameters);

/* Binds input 1 and, if there, input 2, N elements each, as scale and shift. */
enum amp_status amp_prim_bind_scale_shift(struct amp_ctx *ctx, struct amp_prim *prim, int64_t n);

/* "input 1 of shape [..] WHY X, shape [..]" */
enum amp_status amp_parameter_fail(struct amp_ctx *ctx, uint32_t input, const char *why);

/* The attribute, or ONNX's default of 1e-5. */
float amp_epsilon(const struct amp_ctx *ctx);

#endif

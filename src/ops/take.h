#ifndef AMP_OPS_TAKE_H
#define AMP_OPS_TAKE_H

#include "ops/op.h"

/*
 * Taking blocks by index: FROM is [outer, dim, block], TO is [outer, n, block], both row-major;
 * to[o][k] = from[o][indices[k]]. Indices are in 0 to dim-1.
 */
struct amp_take {
    const void *from;
    void *to;
    size_t block; /* bytes */
    int64_t outer, dim;
    const int64_t *indices;
    int64_t n;
};

void amp_take_run(const struct amp_take *take);

/*
 * Indices of ONNX's Gather and Scatter families: checked against the dims of DATA, negative ones
 * counted from the end. The result, *OFFSETS, holds int64_t and is the caller's to drop. AMP_MODEL
 * names the index and what is allowed.
 */

/* What the shapes must be, for amp_op.shape; unknown dims are passed over, ranks are known. */

/* INDICES of GatherElements and ScatterElements: of DATA's rank and outside of AXIS no larger. */
enum amp_status amp_check_elements(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                   const struct amp_shape *indices);

/* INDICES of GatherND and ScatterND: the last dim holds tuples of 1 to as many values as DATA has
   dims behind the first BATCH_DIMS. */
enum amp_status amp_check_tuples(struct amp_ctx *ctx, const struct amp_shape *data, int batch_dims,
                                 const struct amp_shape *indices);

/* Gather: the position on AXIS of DATA for each element of INDICES. */
enum amp_status amp_offsets_axis(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                 const struct amp_tensor *indices, struct amp_buffer **offsets);

/* GatherElements, ScatterElements: for each element of INDICES the element of DATA whose
   coordinates are the same but for AXIS, where it is the index itself. */
enum amp_status amp_offsets_elements(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                     const struct amp_tensor *indices, struct amp_buffer **offsets);

/* GatherND, ScatterND: for each tuple of INDICES the block of DATA that it stands for, counted in
   blocks. */
enum amp_status amp_offsets_nd(struct amp_ctx *ctx, const struct amp_shape *data, int batch_dims,
                               const struct amp_tensor *indices, struct amp_buffer **offsets);

#endif

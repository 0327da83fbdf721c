#ifndef AMP_OPS_KERNEL_INDEX_OFFSETS_H
#define AMP_OPS_KERNEL_INDEX_OFFSETS_H

#include "ops/op.h"

/*
 * Indices of ONNX's Gather and Scatter families (versions 1 to 18) as offsets into DATA: checked
 * against its dims, negative ones counted from the end. Indices are int32 or int64.
 */

/* What the shapes must be, for amp_op.shape; unknown dims are passed over, ranks are known. */

/* INDICES of GatherElements and ScatterElements: of DATA's rank and outside of AXIS no larger. */
enum amp_status amp_offsets_check_elements(struct amp_ctx *ctx, const struct amp_shape *data,
                                           int axis, const struct amp_shape *indices);

/* INDICES of GatherND and ScatterND: the last dim holds tuples of 1 to as many values as DATA has
   dims behind the first BATCH_DIMS. */
enum amp_status amp_offsets_check_tuples(struct amp_ctx *ctx, const struct amp_shape *data,
                                         int batch_dims, const struct amp_shape *indices);

struct amp_offsets;

/* Reads offsets FIRST to FIRST+N-1 to TO. False: an index is out of range, and TO is not to be
 * used.
 */
typedef bool amp_offsets_fn(const struct amp_offsets *offsets, int64_t first, int64_t n,
                            int64_t *to);

struct amp_offsets {
    const struct amp_tensor *indices;
    const struct amp_shape *data;
    amp_offsets_fn *read;
    int axis;      /* the first one that an index is for */
    int depth;     /* indices for each offset: adjacent ones, for adjacent axes */
    int64_t count; /* offsets */
};

/* For Gather: the position on AXIS of DATA for each element of INDICES. */
struct amp_offsets amp_offsets_axis(const struct amp_shape *data, int axis,
                                    const struct amp_tensor *indices);

/* For GatherElements, ScatterElements: for each element of INDICES the element of DATA whose
   coordinates are the same but for AXIS, where it is the index itself. */
struct amp_offsets amp_offsets_elements(const struct amp_shape *data, int axis,
                                        const struct amp_tensor *indices);

/* For GatherND, ScatterND: for each tuple of INDICES the block of DATA that it stands for, counted
   in blocks. */
struct amp_offsets amp_offsets_tuples(const struct amp_shape *data, int batch_dims,
                                      const struct amp_tensor *indices);

/* AMP_MODEL, naming the first index that is out of range and what is allowed: after a read that
   failed. AMP_UNSUPPORTED for a dtype that indices do not have. */
enum amp_status amp_offsets_fail(struct amp_ctx *ctx, const struct amp_offsets *offsets);

/* All offsets, int64_t in *BUFFER, which is the caller's to drop. */
enum amp_status amp_offsets_list(struct amp_ctx *ctx, const struct amp_offsets *offsets,
                                 struct amp_buffer **buffer);

#endif

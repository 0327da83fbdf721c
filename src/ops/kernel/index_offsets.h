#ifndef AMP_OPS_KERNEL_INDEX_OFFSETS_H
#define AMP_OPS_KERNEL_INDEX_OFFSETS_H

#include "ops/op.h"

/*
 * Indices of ONNX's Gather and Scatter families, seen as places of DATA: checked against its dims,
 * negative ones counted from the end. They are int32 or int64.
 */

/* What the shapes must be, for amp_op.shape; unknown dims are passed over, ranks are known. */

/* INDICES of GatherElements and ScatterElements: of DATA's rank and outside of AXIS no larger. */
enum amp_status amp_check_elements(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                   const struct amp_shape *indices);

/* INDICES of GatherND and ScatterND: the last dim holds tuples of 1 to as many values as DATA has
   dims behind the first BATCH_DIMS. */
enum amp_status amp_check_tuples(struct amp_ctx *ctx, const struct amp_shape *data, int batch_dims,
                                 const struct amp_shape *indices);

struct amp_places;

/* Reads places FIRST to FIRST+N-1 to TO, unchecked values apart: false when one is none. */
typedef bool amp_places_fn(const struct amp_places *places, int64_t first, int64_t n, int64_t *to);

struct amp_places {
    const struct amp_tensor *indices;
    const struct amp_shape *data;
    amp_places_fn *read;
    int axis;      /* the first one that an index is for */
    int depth;     /* indices for each place: adjacent ones, for adjacent axes */
    int64_t count; /* places */
};

/* Gather: the position on AXIS of DATA for each element of INDICES. */
struct amp_places amp_places_axis(const struct amp_shape *data, int axis,
                                  const struct amp_tensor *indices);

/* GatherElements, ScatterElements: for each element of INDICES the element of DATA whose
   coordinates are the same but for AXIS, where it is the index itself. */
struct amp_places amp_places_elements(const struct amp_shape *data, int axis,
                                      const struct amp_tensor *indices);

/* GatherND, ScatterND: for each tuple of INDICES the block of DATA that it stands for, counted in
   blocks. */
struct amp_places amp_places_tuples(const struct amp_shape *data, int batch_dims,
                                    const struct amp_tensor *indices);

/* AMP_MODEL, naming the first index that is no place and what is allowed: after a read that failed.
   AMP_UNSUPPORTED for a dtype that indices do not have. */
enum amp_status amp_places_fail(struct amp_ctx *ctx, const struct amp_places *places);

/* All places, int64_t in *BUFFER, which is the caller's to drop. */
enum amp_status amp_places_list(struct amp_ctx *ctx, const struct amp_places *places,
                                struct amp_buffer **buffer);

#endif

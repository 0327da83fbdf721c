#ifndef AMP_ONNX_SCHEMA_SLICES_H
#define AMP_ONNX_SCHEMA_SLICES_H

#include <stdbool.h>
#include <stdint.h>

struct amp_model; /* core/graph/graph.h */
struct amp_uses;  /* core/graph/uses.h */

/*
 * Whether node ID is a SplitToSequence with a scalar split of 1 and keepdims 0, which is how
 * PyTorch's dynamo exporter writes unbind, and its slices are to lose the dim. ONNX
 * (SplitToSequence-11) ignores keepdims where split is given, so that slices keep a dim of 1; ONNX
 * Runtime takes the dim away, and the exporter counts on it. False where a declared rank, or an
 * operator that takes a slice, needs the dim. USES are those of MODEL.
 */
bool amp_slices_lose_dim(const struct amp_model *model, const struct amp_uses *uses, uint32_t id);

#endif

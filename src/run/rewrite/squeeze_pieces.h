#ifndef AMP_RUN_REWRITE_SQUEEZE_PIECES_H
#define AMP_RUN_REWRITE_SQUEEZE_PIECES_H

#include <stddef.h>

struct amp_arena; /* core/arena.h */
struct amp_model; /* core/graph/graph.h */

/*
 * Private to run/: SplitToSequence with a scalar split of 1 and keepdims 0, which is how PyTorch's
 * dynamo exporter writes unbind. ONNX (SplitToSequence-11) ignores keepdims where split is given,
 * so that slices keep a dim of 1; ONNX Runtime takes the dim away, and the exporter counts on it.
 * Gives a copy of MODEL in ARENA in which such nodes have no split, so that keepdims counts, and
 * sets *COUNT to their number; MODEL itself where there are none. A node stays as it is where a
 * declared rank, or an operator that takes a slice, needs the dim.
 */
const struct amp_model *amp_pieces_squeeze(const struct amp_model *model, struct amp_arena *arena,
                                           size_t *count);

#endif

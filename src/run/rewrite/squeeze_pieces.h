#ifndef AMP_RUN_REWRITE_SQUEEZE_PIECES_H
#define AMP_RUN_REWRITE_SQUEEZE_PIECES_H

#include <stddef.h>

struct amp_arena; /* core/arena.h */
struct amp_model; /* core/graph/graph.h */

/*
 * Private to run/: gives a copy of MODEL in ARENA in which the nodes whose slices lose their dim
 * against ONNX's letter (onnx/schema/slices.h) have no split, so that keepdims counts, and sets
 * *COUNT to their number; MODEL itself where there are none.
 */
const struct amp_model *amp_pieces_squeeze(const struct amp_model *model, struct amp_arena *arena,
                                           size_t *count);

#endif

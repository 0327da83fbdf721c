#ifndef AMP_AUTOCAST_CAST_FOLD_H
#define AMP_AUTOCAST_CAST_FOLD_H

#include "core/graph/graph.h"

/*
 * Removes casts where the result stays the same to the bit, but for overflows of constants:
 *   - a cast to the dtype that its input has;
 *   - the second of two casts of one value to one dtype;
 *   - the first of two in a chain, when it loses nothing (bf16 -> fp32 -> bf16);
 *   - the cast of a constant, which is stored cast unless that takes more room;
 *   - the cast of a ConstantOfShape, whose value is converted instead: to a finite one if it is
 *     finite and the cast is one of the nodes from FIRST_INSERTED on, which mean no infinity.
 * A narrowing round trip (fp32 -> bf16 -> fp32) stays, and so does every graph output under its
 * name. Casts that nothing uses any more go; what was unused before stays. Without IS_SHARED, each
 * use keeps a cast of its own: only constants are then cast once per dtype. Returns how many Cast
 * nodes went.
 */
size_t amp_cast_fold(struct amp_model *model, bool is_shared, uint32_t first_inserted);

/* The number of Cast nodes in the model. */
size_t amp_cast_count(const struct amp_model *model);

#endif

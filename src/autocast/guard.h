#ifndef AMP_AUTOCAST_GUARD_H
#define AMP_AUTOCAST_GUARD_H

#include "ops/facts.h"

struct amp_node;   /* core/graph/graph.h */
struct amp_tensor; /* core/tensor.h */

/*
 * Guards: constants whose values beyond a dtype's range mean "further than any other value" rather
 * than a number, so that the dtype's largest finite value does as well. Whether they are depends on
 * what the operator does with them:
 *   - where it bounds, compares or fills with them (Clip, Max, Where, Pad, Less ...), all are;
 *   - where it adds or subtracts them, those of a mask are: one and the same value wherever it is
 *     beyond the range, else 0 or 1, and both there;
 *   - anywhere, magnitudes from 1e30 on are: no data come near.
 * Which operators do which is amp_op.guard_use (ops/op.h).
 */
enum amp_guard_use amp_guard_use(const struct amp_node *node);

/* What the values of a constant with magnitudes beyond a limit are. */
struct amp_guard_values {
    bool is_huge; /* those beyond the limit are 1e30 and more */
    bool is_mask;
};

/* The lower bound of magnitudes that are no data. */
#define AMP_GUARD_HUGE 1e30

/* Looks at CONSTANT, of float32, float16 or bfloat16; without data it must be its source's without
   loss. */
struct amp_guard_values amp_guard_values(const struct amp_tensor *constant, double limit);

/* Whether values beyond the limit are guards where they are put to USE. */
bool amp_guard_is(enum amp_guard_use use, struct amp_guard_values values);

#endif

#ifndef AMP_OPS_CONTROL_LIST_H
#define AMP_OPS_CONTROL_LIST_H

#include "ops/kernel/kernel.h"

/* What the operators on sequences and optionals share. */

/* The descriptor of operator NAME, whose newest version is SINCE. Its lists hold any dtype. What
   else is known of it comes last, as designated initializers. */
#define AMP_LIST_OP(lower, NAME, since, SHAPE, RUN, ...)            \
    const struct amp_op amp_op_##lower = {.name = NAME,             \
                                          .newest = since,          \
                                          .effect = AMP_OPAQUE,     \
                                          .native = AMP_NATIVE_ALL, \
                                          .shape = SHAPE,           \
                                          .run = RUN,               \
                                          __VA_ARGS__};

/* For amp_op.shape: output 0 is a scalar. */
enum amp_status amp_list_scalar(struct amp_ctx *ctx);

#endif

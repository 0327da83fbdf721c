#ifndef AMP_OPS_MATMUL_EINSUM_EQUATION_H
#define AMP_OPS_MATMUL_EINSUM_EQUATION_H

#include "ops/op.h"

/*
 * The equation of an Einsum with its operands' shapes: every dim has a label. Labels 0 to 51 are
 * the letters in the order of ASCII, those from 52 on the dims of an ellipsis, counted from its
 * last one, so that ellipses broadcast as shapes do.
 */
enum { AMP_EINSUM_LABELS = 52 + AMP_RANK_MAX, AMP_EINSUM_OPERANDS = 32 };

struct amp_einsum_term {
    int n;
    unsigned char labels[AMP_EINSUM_LABELS];
};

struct amp_einsum {
    int n_operands;
    struct amp_einsum_term operands[AMP_EINSUM_OPERANDS], output;
    int64_t dims[AMP_EINSUM_LABELS]; /* of each label, all operands broadcast; 1: of no operand */
};

/* Reads attribute "equation" for the inputs of CTX, whose ranks must be known; dims may be unknown.
   AMP_MODEL when the equation is malformed or does not fit the shapes. */
enum amp_status amp_einsum_read(struct amp_ctx *ctx, struct amp_einsum *einsum);

#endif

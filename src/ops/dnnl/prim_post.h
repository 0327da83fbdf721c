#ifndef AMP_OPS_DNNL_PRIM_POST_H
#define AMP_OPS_DNNL_PRIM_POST_H

#include "ops/dnnl/binding.h"
#include "ops/dnnl/descs.h"

/* What a primitive's post-ops read. */
struct amp_post_operands {
    struct {
        uint32_t post; /* of the call */
        int position;  /* of the post-op in the primitive */
        dnnl_memory_desc_t user;
    } at[8];
    int n;
};

/* Appends the post-ops of CTX to OPS, for a primitive that writes output 0 as DIMS of RANK; what
   they read goes to OPERANDS, described in DESCS. AMP_UNSUPPORTED when one of them has an operand
   that does not broadcast to DIMS as it does to the output. */
struct amp_post_target {
    struct amp_descs *descs;
    struct amp_post_operands *operands;
    dnnl_post_ops_t ops;
    int rank;
    const int64_t *dims;
};
enum amp_status amp_post_operands_append(struct amp_ctx *ctx, const struct amp_post_target *target);

/* Binds OPERANDS for the primitive of PD. */
enum amp_status amp_post_operands_bind(struct amp_ctx *ctx,
                                       const struct amp_post_operands *operands,
                                       const_dnnl_primitive_desc_t pd,
                                       struct amp_bindings *bindings);

/* Whether a post-op of CTX divides what pads the destination of PD to whole blocks. Zeros by zeros
   are NaNs, which some of oneDNN's kernels leave there, and which reach what counts in the next
   product: multiplied by the zeros that pad its weights they are NaNs still. */
bool amp_post_divides_padding(const struct amp_ctx *ctx, const_dnnl_primitive_desc_t pd);

#endif

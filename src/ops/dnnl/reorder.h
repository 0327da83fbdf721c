#ifndef AMP_OPS_DNNL_REORDER_H
#define AMP_OPS_DNNL_REORDER_H

#include "ops/op.h"

#include <oneapi/dnnl/dnnl.h>

/*
 * Copies a tensor from one layout to another. oneDNN's own reorders (3.7.2, jit:uni) leave elements
 * out or divide by 0 where the CPU tells no sizes of caches, as in some virtual machines: they are
 * for layouts that nobody else can read.
 */
struct amp_reorder;

/* Makes a reorder of tensors of layout FROM to layout TO, of the same dims; dtypes may differ. It
   is to be destroyed. Fails as oneDNN does, *REORDER is NULL then. */
dnnl_status_t amp_reorder_create(dnnl_engine_t engine, const_dnnl_memory_desc_t from,
                                 const_dnnl_memory_desc_t to, struct amp_reorder **reorder);
void amp_reorder_destroy(struct amp_reorder *reorder); /* NULL is fine */

/* Copies what is at FROM to TO, for the node of CTX. What lies in TO's layout beyond the elements
   becomes 0. */
enum amp_status amp_reorder_run(const struct amp_ctx *ctx, struct amp_reorder *reorder,
                                const void *from, void *to);

#endif

#ifndef AMP_OPS_DNNL_LAYOUT_H
#define AMP_OPS_DNNL_LAYOUT_H

#include "ops/op.h"

#include <oneapi/dnnl/dnnl.h>

/*
 * Layouts that oneDNN chose for tensors which go from one primitive to another as they are
 * (amp_tensor.layout). Each is kept once, with the reorder that makes its tensors row-major, until
 * the session goes: equal layouts are one pointer.
 */
struct amp_layouts;

struct amp_layouts *amp_layouts_create(dnnl_engine_t engine);
void amp_layouts_destroy(struct amp_layouts *layouts); /* NULL is fine */

/* The layout that DESC describes, for tensors of that dtype and those dims; NULL when it is
   row-major. */
const struct amp_layout *amp_layout_of(struct amp_layouts *layouts, const_dnnl_memory_desc_t desc);

const_dnnl_memory_desc_t amp_layout_desc(const struct amp_layout *layout);

/* Sets *PERMUTED to the layout in which the elements of IN, where they lie, are a tensor whose dim
   i is dim PERM[i] of IN; NULL: row-major. False: oneDNN has no such tensor. */
bool amp_layout_permute(struct amp_layouts *layouts, const struct amp_tensor *in, const int *perm,
                        const struct amp_layout **permuted);

/* The distances between neighbours along each dim, in elements; NULL when they lie in blocks. */
const int64_t *amp_layout_strides(const struct amp_layout *layout);

/* The layout of a part of TENSOR, of SHAPE, which leaves the elements where they are; TENSOR's must
   have strides. NULL: row-major. */
const struct amp_layout *amp_layout_part(struct amp_layouts *layouts,
                                         const struct amp_tensor *tensor,
                                         const struct amp_shape *shape);

/* Sets *LIES to the shape as which the elements of a tensor in LAYOUT lie row by row, without its
   dims of 1, and OF[i] to the dim of the tensor that dim i of that is, or is a part of. False:
   there are gaps between elements, or there are too many dims. */
bool amp_layout_lies(const struct amp_layout *layout, struct amp_shape *lies, int *of);

/* Makes *TO, which gets memory of its own, the row-major form of *FROM, on the stream of CTX's
   host; CTX says for whom. */
enum amp_status amp_layout_undo(const struct amp_ctx *ctx, const struct amp_tensor *from,
                                struct amp_tensor *to);

/* Makes output I of CTX row-major, which it may be already. */
enum amp_status amp_ctx_plain(struct amp_ctx *ctx, uint32_t i);

#endif

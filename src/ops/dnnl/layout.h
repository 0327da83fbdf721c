#ifndef AMP_OPS_DNNL_LAYOUT_H
#define AMP_OPS_DNNL_LAYOUT_H

#include "ops/op.h"

#include <oneapi/dnnl/dnnl.h>

/*
 * Layouts that oneDNN chose for tensors which go from one primitive to another as they are
 * (amp_tensor.layout; NULL there stands for row-major). Each is kept once, with the reorder that
 * makes its tensors row-major, until the session goes: equal layouts are one pointer.
 */
struct amp_layouts;

struct amp_layouts *amp_layouts_create(dnnl_engine_t engine);
void amp_layouts_destroy(struct amp_layouts *layouts); /* NULL is fine */

/* Returns the layout that DESC describes, for tensors of its dtype and dims; NULL when it is
   row-major. */
const struct amp_layout *amp_layout_of(struct amp_layouts *layouts, const_dnnl_memory_desc_t desc);

/* LAYOUT as oneDNN has it. */
const_dnnl_memory_desc_t amp_layout_desc(const struct amp_layout *layout);

/* Sets *PERMUTED to the layout in which the elements of IN, where they lie, are a tensor whose dim
   i is dim PERM[i] of IN; NULL: row-major. False: oneDNN has no such tensor. */
bool amp_layout_permute(struct amp_layouts *layouts, const struct amp_tensor *in, const int *perm,
                        const struct amp_layout **permuted);

/* A tensor in another shape. */
struct amp_reshaped {
    const struct amp_layout *layout; /* NULL: row-major */
    bool is_moved; /* the elements cannot stay where they are: element [0, .., 1, .., 0] along dim
                      D of the tensor is STRIDES[D] elements from the first then */
    int64_t strides[AMP_RANK_MAX];
};

/* Sets *RESHAPED to what IN, which has a layout, is in SHAPE, of as many elements: where they are,
   or else in the order that its dims have where these stay what they are. False: IN lies in blocks,
   or oneDNN has no such tensor. */
bool amp_layout_reshape(struct amp_layouts *layouts, const struct amp_tensor *in,
                        const struct amp_shape *shape, struct amp_reshaped *reshaped);

/* Sets *LAYOUT to the one in which a tensor of SHAPE lies in the order of MODEL's dims; MODEL, of
   as many dims, has a layout. NULL: row-major. False: none is known, as MODEL lies in blocks. */
bool amp_layout_like(struct amp_layouts *layouts, const struct amp_tensor *model,
                     const struct amp_shape *shape, const struct amp_layout **layout);

/* The distances between neighbours along each dim, in elements; NULL when they lie in blocks. */
const int64_t *amp_layout_strides(const struct amp_layout *layout);

/* Sets *PART to the layout of a part of TENSOR, of SHAPE, whose elements stay where they are;
   TENSOR's layout must have strides. NULL: row-major. False: oneDNN has no such tensor. */
bool amp_layout_part(struct amp_layouts *layouts, const struct amp_tensor *tensor,
                     const struct amp_shape *shape, const struct amp_layout **part);

/* Sets *SAME to the layout of a tensor of DTYPE whose elements lie as those of TENSOR, which must
   have no gaps. NULL: row-major. False: oneDNN has no such tensor, or none is known. */
bool amp_layout_in_dtype(struct amp_layouts *layouts, const struct amp_tensor *tensor,
                         enum amp_dtype dtype, const struct amp_layout **same);

/* Whether the elements of TENSOR, which has a layout, lie without gaps; and by strides besides. */
bool amp_layout_is_full(const struct amp_tensor *tensor);
bool amp_layout_is_dense(const struct amp_tensor *tensor);

/* Sets *VIEW to a shape in which the elements of a tensor in LAYOUT are row-major where they lie:
   its dims from the slowest to the fastest, blocks as dims of their own, without dims of 1. OF[i]
   is the dim of the tensor that dim i of *VIEW is, or is a part of. A block that is not full counts
   as if it were: *VIEW has more elements then. False: there are gaps of another kind, or there are
   too many dims. */
bool amp_layout_view(const struct amp_layout *layout, struct amp_shape *view, int *of);

/* Sets to 0 what fills the blocks of DATA, in LAYOUT, beside elements of SIZE bytes, as oneDNN
   wants it. */
void amp_layout_clear_rest(const struct amp_layout *layout, size_t size, void *data);

/* Makes *TO, which gets memory of its own, the row-major form of *FROM, on the stream of CTX's
   host; CTX says for whom. */
enum amp_status amp_layout_undo(const struct amp_ctx *ctx, const struct amp_tensor *from,
                                struct amp_tensor *to);

/* Output I of CTX becomes the elements of *FROM, which has a layout, row-major, in its own shape.
 */
enum amp_status amp_layout_undo_to(struct amp_ctx *ctx, const struct amp_tensor *from, uint32_t i);

/* Makes output I of CTX row-major, which it may be already. */
enum amp_status amp_layout_undo_output(struct amp_ctx *ctx, uint32_t i);

#endif

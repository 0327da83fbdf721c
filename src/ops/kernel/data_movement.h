#ifndef AMP_OPS_KERNEL_DATA_MOVEMENT_H
#define AMP_OPS_KERNEL_DATA_MOVEMENT_H

#include "ops/kernel/kernel.h"

/*
 * What operators that move elements without computing on them share.
 */

/*
 * Dimensions that may be unknown or symbols. A symbol passes where arithmetic leaves it as it is
 * (x + 0, x * 1); elsewhere the result is AMP_DIM_UNKNOWN. AMP_MODEL when a result overflows.
 */
enum amp_status amp_dim_add(int64_t a, int64_t b, int64_t *sum, struct amp_error *err);
enum amp_status amp_dim_mul(int64_t a, int64_t b, int64_t *product, struct amp_error *err);

/* The product of dims FROM to TO-1; 1 when empty. */
enum amp_status amp_dim_product(const struct amp_shape *shape, int from, int to, int64_t *product,
                                struct amp_error *err);

/* What is known of two dims that must be equal; false when they are not. */
bool amp_dim_merge(int64_t a, int64_t b, int64_t *merged);

/* A shape of RANK unknown dims; of unknown rank when RANK is not in 0 to AMP_RANK_MAX. */
void amp_shape_unknown(struct amp_shape *shape, int64_t rank);

/* The elements of input I, which is omitted or a vector: 0 when omitted, below 0 when not known. */
int64_t amp_ctx_length(const struct amp_ctx *ctx, uint32_t i);

/* Element INDEX of a float or integer tensor as an integer, its fraction cut off; false when it is
   not a number or too large. */
bool amp_tensor_whole(const struct amp_tensor *tensor, size_t index, int64_t *value);

/* The one element of input I, a float or integer tensor, as amp_tensor_whole has it. *IS_KNOWN:
   false when the data is not known. AMP_MODEL when there is not exactly one, or it has no integer
   value. */
enum amp_status amp_ctx_whole(const struct amp_ctx *ctx, uint32_t i, int64_t *value,
                              bool *is_known);

/* The axes of a tensor that some values, such as pads or starts, apply to. */
struct amp_axes_wanted {
    uint32_t input; /* where the operator may have them, when attribute axes does not */
    int rank;       /* of the tensor */
    int n;          /* values: so many axes there must be */
};

/* Reads WANTED to AXES, room for AMP_RANK_MAX; without attribute and input they are 0 to n-1.
 *N_AXES below 0: not known. AMP_MODEL when there are not n. */
enum amp_status amp_ctx_axes(struct amp_ctx *ctx, struct amp_axes_wanted wanted, int *axes,
                             int *n_axes);

/* Output 0 becomes the data of input 0 in output 0's own shape, without a copy. For amp_op.run of
   whatever changes nothing but the shape. */
enum amp_status amp_run_share(struct amp_ctx *ctx);

/* The last step of a kernel that moved elements to output I: strings get memory of their own, which
   outlives the input's. */
enum amp_status amp_move_done(struct amp_ctx *ctx, uint32_t i);

/* Fills TO with COUNT times the element of SIZE bytes at ELEMENT (NULL: all bits 0). */
void amp_fill(void *to, const void *element, size_t size, size_t count);

/* Element INDEX of the elements at DATA. */
struct amp_element {
    void *data;
    size_t index;
};

/* Copies COUNT elements of DTYPE, of any size, that begin with FROM to those that begin with TO.
   Strings still point where they did. */
void amp_elements_copy(enum amp_dtype dtype, struct amp_element from, struct amp_element to,
                       size_t count);

/* Copies the elements of FROM, of a dtype below a byte, into *BYTES, a tensor of UINT8 that the
   caller releases; and packs BYTES into TO, which has memory for as many elements. */
enum amp_status amp_bytes_unpack(const struct amp_tensor *from, struct amp_tensor *bytes,
                                 struct amp_error *err);
void amp_bytes_pack(const struct amp_tensor *bytes, struct amp_tensor *to);

static inline bool amp_is_packed(enum amp_dtype dtype)
{
    return amp_dtype_bits(dtype) < 8;
}

#endif

#ifndef AMP_OPS_DNNL_PRIM_H
#define AMP_OPS_DNNL_PRIM_H

#include "ops/dnnl/descs.h"
#include "ops/dnnl/dnnl.h"

/*
 * A oneDNN primitive with its memories, made for the shapes and dtypes of a node's inputs and kept
 * in the node's state while they stay the same. Its make function creates the primitive descriptor
 * and binds each argument to an input or output of the node; what oneDNN wants in another layout
 * than the node's plain one is reordered, constants once.
 */
struct amp_prim;

/* Makes PRIM for the inputs of CTX; WHAT is the argument that amp_prim_run_call was given. */
typedef enum amp_status amp_prim_make(struct amp_ctx *ctx, struct amp_prim *prim);
typedef enum amp_status amp_prim_make_for(struct amp_ctx *ctx, struct amp_prim *prim, void *what);

/* Runs the node's primitive, made by MAKE unless the state holds one for these inputs. Where oneDNN
   has nothing for the shapes or the dtype of input 0, or MAKE is NULL, PLAIN runs in its place
   (NULL: AMP_UNSUPPORTED). Not so for float16 and bfloat16, which PLAIN need not know:
   AMP_UNSUPPORTED. */
enum amp_status amp_prim_run_or(struct amp_ctx *ctx, amp_prim_make *make,
                                enum amp_status (*plain)(struct amp_ctx *ctx));

/* Does what amp_prim_run_or does, for functions that need to know more than the call of the
   operator tells: WHAT goes to both. */
struct amp_prim_call {
    amp_prim_make_for *make;
    enum amp_status (*plain)(struct amp_ctx *ctx, void *what);
    void *what;
};
enum amp_status amp_prim_run_call(struct amp_ctx *ctx, const struct amp_prim_call *call);

/* Runs PLAIN, the kernel in C of an operator that has_layouts: on inputs that are row-major,
   without post-ops, else AMP_UNSUPPORTED; with memory for output 0. */
enum amp_status amp_prim_run_plain(struct amp_ctx *ctx,
                                   enum amp_status (*plain)(struct amp_ctx *ctx));

/* For amp_op.destroy. */
void amp_prim_destroy(void *state);

/* For amp_op.repeat, of an operator whose run does nothing beside its primitive, or says so
   (amp_prim_set_partial). */
extern const struct amp_repeat amp_prim_repeat;

/* For amp_op.reads, of an operator that reads what it binds through its bindings alone. */
bool amp_prim_reads(const void *state, size_t index);

/* ---- for make functions ---- */

/* Sets *DESC to a descriptor of FORM, or of TENSOR as it is, where a scalar becomes [1]. It lives
   until the primitive is destroyed. AMP_UNSUPPORTED for a dtype or a rank that oneDNN does not
   have. */
enum amp_status amp_prim_desc(struct amp_prim *prim, struct amp_error *err,
                              struct amp_desc_form form, dnnl_memory_desc_t *desc);
enum amp_status amp_prim_desc_tensor(struct amp_prim *prim, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc);

/* Attributes for the primitive descriptor: scratchpad by the user, as the runs want it. Owned by
   PRIM; post-ops and the like may be added. */
enum amp_status amp_prim_attr(struct amp_prim *prim, struct amp_error *err,
                              dnnl_primitive_attr_t *attr);

/* Gives the attributes of PRIM, which writes output 0 as DIMS of RANK, the post-ops OPS (NULL:
   none), which go with that, and after them those of CTX. AMP_UNSUPPORTED when one of these has an
   operand that does not broadcast to DIMS as it does to the output. */
enum amp_status amp_prim_set_posts(struct amp_ctx *ctx, struct amp_prim *prim, dnnl_post_ops_t ops,
                                   int rank, const int64_t *dims);

/* Run does more than PRIM, which is not to be repeated without. */
void amp_prim_set_partial(struct amp_prim *prim);

/* Takes over PD, made with amp_prim_attr, and creates the primitive, or the kernel of our own that
   runs in its place (ops/dnnl/own_kernel.h). To be called before the bindings. */
enum amp_status amp_prim_create(struct amp_ctx *ctx, struct amp_prim *prim,
                                dnnl_primitive_desc_t pd);

/* Does what amp_prim_create does, but AMP_UNSUPPORTED when PD is oneDNN's reference implementation,
   which is slower than a kernel in plain C. */
enum amp_status amp_prim_create_fast(struct amp_ctx *ctx, struct amp_prim *prim,
                                     dnnl_primitive_desc_t pd);

/* Binds argument ARG (DNNL_ARG_...) to input or output INDEX of the node, whose data have layout
   USER (of this prim); the layout the primitive wants is asked from its descriptor. Descriptors may
   view the same data with other dims: only the number of bytes must fit. */
enum amp_status amp_prim_bind_in(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                 uint32_t index, const_dnnl_memory_desc_t user);
enum amp_status amp_prim_bind_out(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                  uint32_t index, const_dnnl_memory_desc_t user);
/* Binds ARG to output 0, of an operator that has_layouts, in whatever layout PRIM gives. */
enum amp_status amp_prim_bind_free(struct amp_ctx *ctx, struct amp_prim *prim, int arg);
/* Binds ARG to output 0, viewed as DESC, which comes to have LAYOUT (NULL: row-major). */
enum amp_status amp_prim_bind_layout(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                     const_dnnl_memory_desc_t desc,
                                     const struct amp_layout *layout);
/* Binds ARG to memory of the primitive's own, of layout DESC, for what is no input of the node:
 *DATA is to be filled now and stays. */
enum amp_status amp_prim_bind_data(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   const_dnnl_memory_desc_t desc, void **data);

#endif

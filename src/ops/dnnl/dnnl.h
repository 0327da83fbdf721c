#ifndef AMP_OPS_DNNL_DNNL_H
#define AMP_OPS_DNNL_DNNL_H

#include "ops/dnnl/layout.h"

#include <oneapi/dnnl/dnnl.h>

/* The CPU engine, its stream, and the layouts of tensors between primitives. */
struct amp_dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct amp_layouts *layouts;
};

enum amp_status amp_dnnl_create(struct amp_dnnl **dnnl, struct amp_error *err);
void amp_dnnl_destroy(struct amp_dnnl *dnnl);

/* oneDNN's version, "3.7.2". */
const char *amp_dnnl_version(char *text, size_t size);
/* oneDNN's name of DTYPE; dnnl_data_type_undef when it has none. */
dnnl_data_type_t amp_dnnl_dtype(enum amp_dtype dtype);

/* Whether oneDNN's sums of K products of uint8 with int8 are exact: without VNNI pairs of products
   saturate at 16 bits. Its own zero points never are, they go through float32. */
bool amp_dnnl_adds_bytes(int64_t k);

/* AMP_OK for dnnl_success; AMP_UNSUPPORTED when oneDNN has no implementation or does not take the
   arguments, which are right by ONNX when they get here, so that another dtype or kernel can be
   tried; AMP_KERNEL otherwise. WHAT names the call. */
enum amp_status amp_dnnl_check(struct amp_error *err, dnnl_status_t status, const char *what);

/* Makes output I row-major. */
enum amp_status amp_ctx_plain(struct amp_ctx *ctx, uint32_t i);

/* Runs PRIMITIVE for the node of CTX. */
enum amp_status amp_dnnl_execute(const struct amp_ctx *ctx, dnnl_primitive_t primitive, int n,
                                 const dnnl_exec_arg_t *args);

/*
 * A oneDNN primitive with its memories, made for the shapes and dtypes of a node's inputs and kept
 * in the node's state while they stay the same. Its make function creates the primitive descriptor
 * and binds each argument to an input or output of the node; what oneDNN wants in another layout
 * than the node's plain one is reordered, constants once.
 */
struct amp_prim;

typedef enum amp_status amp_prim_make(struct amp_ctx *ctx, struct amp_prim *prim);

/* Runs the node's primitive, made by MAKE unless the state holds one for these inputs. Where oneDNN
   has nothing for the shapes or the dtype of input 0, or MAKE is NULL, PLAIN runs in its place
   (NULL: AMP_UNSUPPORTED). Not so for float16 and bfloat16, which PLAIN need not know:
   AMP_UNSUPPORTED. */
enum amp_status amp_prim_run_or(struct amp_ctx *ctx, amp_prim_make *make,
                                enum amp_status (*plain)(struct amp_ctx *ctx));

/* Runs PLAIN, the kernel in C of an operator that has_layouts: on inputs that are row-major,
   without post-ops, else AMP_UNSUPPORTED; with memory for output 0. */
enum amp_status amp_prim_run_plain(struct amp_ctx *ctx,
                                   enum amp_status (*plain)(struct amp_ctx *ctx));

/* For amp_op.destroy. */
void amp_prim_destroy(void *state);

/* For amp_op.reads, of an operator that reads what it binds through its bindings alone. */
bool amp_prim_reads(const void *state, size_t index);

/* In MAKE: descriptors live until the primitive is destroyed. */
/* Row-major, or with STRIDES (in elements; NULL: row-major). AMP_UNSUPPORTED for a dtype or a rank
   that oneDNN does not have. */
enum amp_status amp_prim_desc(struct amp_prim *prim, struct amp_error *err, enum amp_dtype dtype,
                              int rank, const int64_t *dims, const int64_t *strides,
                              dnnl_memory_desc_t *desc);
/* The same in the layout of TAG; that of dnnl_format_tag_any is for oneDNN to choose. */
enum amp_status amp_prim_desc_tag(struct amp_prim *prim, struct amp_error *err,
                                  enum amp_dtype dtype, int rank, const int64_t *dims,
                                  dnnl_format_tag_t tag, dnnl_memory_desc_t *desc);
/* Of TENSOR as it is; a scalar becomes [1]. */
enum amp_status amp_prim_desc_tensor(struct amp_prim *prim, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc);

/* Attributes for the primitive descriptor: scratchpad by the user, as amp_prim_run_or wants it.
   Owned by PRIM; post-ops and the like may be added. */
enum amp_status amp_prim_attr(struct amp_prim *prim, struct amp_error *err,
                              dnnl_primitive_attr_t *attr);

/* Gives ATTR, for a primitive that writes output 0 as DIMS of RANK, the post-ops OPS (NULL: none),
   which go with that, and after them those of CTX. AMP_UNSUPPORTED when one of these has an operand
   that does not broadcast to DIMS as it does to the output. */
enum amp_status amp_prim_set_posts(struct amp_ctx *ctx, struct amp_prim *prim,
                                   dnnl_primitive_attr_t attr, dnnl_post_ops_t ops, int rank,
                                   const int64_t *dims);

/* Takes over PD, made with amp_prim_attr, and creates the primitive, or the tiles that run in its
   place (ops/own/amx_matmul.h). Call before the bindings. */
enum amp_status amp_prim_create(struct amp_ctx *ctx, struct amp_prim *prim,
                                dnnl_primitive_desc_t pd);

/* The same, but AMP_UNSUPPORTED when PD is oneDNN's reference implementation, which is slower than
   a kernel in plain C. */
enum amp_status amp_prim_create_fast(struct amp_ctx *ctx, struct amp_prim *prim,
                                     dnnl_primitive_desc_t pd);

/* Binds argument ARG (DNNL_ARG_...) to input or output INDEX of the node, whose data have layout
   USER (of this prim); the layout the primitive wants is asked from its descriptor. Descriptors may
   view the same data with other dims: only the number of bytes must fit. */
enum amp_status amp_prim_bind_in(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                 uint32_t index, const_dnnl_memory_desc_t user);
enum amp_status amp_prim_bind_out(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                  uint32_t index, const_dnnl_memory_desc_t user);
/* Binds ARG to output INDEX, of an operator that has_layouts, in whatever layout PRIM gives. */
enum amp_status amp_prim_bind_free(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   uint32_t index);
/* Binds ARG to memory of the primitive's own, of layout DESC, for what is no input of the node:
 *DATA is to be filled now and stays. */
enum amp_status amp_prim_bind_data(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   const_dnnl_memory_desc_t desc, void **data);

#endif

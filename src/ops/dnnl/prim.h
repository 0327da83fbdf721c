#ifndef AMP_OPS_DNNL_PRIM_H
#define AMP_OPS_DNNL_PRIM_H

#include "ops/dnnl/dnnl.h"
#include "ops/own/amx_matmul.h"

/* Private to the primitives of ops/dnnl/dnnl.h: what one is made of. */

enum { MAX_ARGS = 24, MAX_DESCS = 64, MAX_INPUTS = 32, MAX_OPERANDS = 8 };

/* An argument of the primitive: USER views the node's tensor, OWN is the primitive's layout. They
   are one memory where the layouts agree. */
struct binding {
    int arg;
    uint32_t index; /* of the node's input or output */
    bool is_output, is_constant, is_data;
    bool is_operand; /* INDEX is that of a post-op, whose operand it is */
    bool is_free;    /* the output comes to have LAYOUT, NULL: row-major, and memory of this size */
    const struct amp_layout *layout;
    size_t size;
    bool is_ready; /* a constant that has been reordered */
    dnnl_memory_t user, own;
    struct amp_buffer *buffer;
    dnnl_primitive_t reorder; /* NULL where user is own */
};

/* What the primitive was made for: a change of any of it makes another one. */
struct signature {
    size_t n_in, n_posts; /* the operands of post-ops stand behind the inputs */
    struct form {
        enum amp_dtype dtype; /* AMP_UNDEFINED: omitted */
        struct amp_shape shape;
        const struct amp_layout *layout;
    } in[MAX_INPUTS];
};

/* What a post-op reads: input of the call's post-op POST, the primitive's at POSITION. */
struct operand {
    uint32_t post;
    int position;
    dnnl_memory_desc_t user;
};

struct amp_prim {
    struct signature signature;
    bool is_refused; /* oneDNN has no primitive for the signature; nothing else is set */
    size_t claimed;  /* of the account of memory, beside the buffers */
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive; /* NULL where TILES run in its place */
    struct amp_tiles *tiles;
    dnnl_primitive_attr_t attr;
    dnnl_memory_desc_t descs[MAX_DESCS];
    int n_descs;
    struct binding bindings[MAX_ARGS];
    int n_bindings;
    struct binding former[MAX_ARGS]; /* while it is made: constants that the one before had ready */
    int n_former;
    struct operand operands[MAX_OPERANDS];
    int n_operands;
    dnnl_memory_t scratchpad;
    struct amp_buffer *scratchpad_buffer;
};

/* Moves the constants that FROM, which may be NULL, has ready to TO, which takes its place: until
   they are dropped, bindings may take them. */
void amp_prim_keep_former(struct amp_prim *from, struct amp_prim *to);
void amp_prim_drop_former(struct amp_prim *prim);

/* Whether BINDING, a constant of layout USER that PRIM wants in WANTED, was ready before: it is
   then. */
bool amp_prim_take_former(struct amp_prim *prim, struct binding *binding,
                          const_dnnl_memory_desc_t user, const_dnnl_memory_desc_t wanted);

void amp_binding_destroy(struct binding *binding);

/* Binds ARG of PRIM, as BINDING says, to data of layout USER: where the primitive wants another
   one, a reorder goes between. */
enum amp_status amp_prim_bind(struct amp_ctx *ctx, struct amp_prim *prim, struct binding binding,
                              const_dnnl_memory_desc_t user);

/* Binds ARG to output INDEX, viewed as DESC, which comes to have LAYOUT. */
enum amp_status amp_prim_bind_laid(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   uint32_t index, const_dnnl_memory_desc_t desc,
                                   const struct amp_layout *layout);

/* Whether a post-op of CTX divides what pads the destination of PD to whole blocks. Zeros by zeros
   are NaNs, which some of oneDNN's kernels leave there, and which reach what counts in the next
   product: multiplied by the zeros that pad its weights they are NaNs still. */
bool amp_prim_divides_padding(const struct amp_ctx *ctx, const_dnnl_primitive_desc_t pd);

/* Binds the operands of post-ops, which amp_prim_set_posts described. */
enum amp_status amp_prim_bind_posts(struct amp_ctx *ctx, struct amp_prim *prim);

#endif

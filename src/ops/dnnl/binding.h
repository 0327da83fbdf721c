#ifndef AMP_OPS_DNNL_BINDING_H
#define AMP_OPS_DNNL_BINDING_H

#include "ops/dnnl/reorder.h"
#include "ops/op.h"

#include <oneapi/dnnl/dnnl.h>

/* An argument of a primitive: USER views the node's tensor, OWN has the primitive's layout. They
   are one memory where the layouts agree. */
struct amp_binding {
    int arg;        /* DNNL_ARG_... */
    uint32_t index; /* of the node's input or output, or of a post-op */
    bool is_output, is_constant;
    bool is_data;    /* memory of the primitive's own, which was filled when it was made */
    bool is_operand; /* INDEX is that of a post-op, whose operand it is */
    bool is_free;    /* the output comes to have LAYOUT, NULL: row-major */
    const struct amp_layout *layout;
    size_t size;                     /* of an output's memory; 0: not known yet */
    const struct amp_buffer *former; /* the memory that it had last */
    bool is_ready;                   /* a constant that has been reordered */
    void *data;                      /* that USER is set to */
    dnnl_memory_t user, own;
    struct amp_buffer *buffer;   /* of OWN, or of data; NULL where user is own */
    struct amp_reorder *reorder; /* NULL where user is own */
};

/* The arguments of one primitive. */
struct amp_bindings {
    struct amp_binding at[24];
    int n;
    struct amp_binding former[24]; /* ready constants of the primitive before, to be reused */
    int n_former;
};

/* Releases all that the bindings have, former ones too. */
void amp_bindings_release(struct amp_bindings *bindings);

/* Moves the constants that FROM has ready to TO's former ones: until they are dropped, bindings
   that are added to TO reuse them where layouts are equal. */
void amp_bindings_keep_ready(struct amp_bindings *from, struct amp_bindings *to);
void amp_bindings_drop_former(struct amp_bindings *bindings);

/* Adds BINDING to data of layout USER for the primitive of PD: where that wants another layout, a
   reorder goes between. AMP_UNSUPPORTED: there are too many, or oneDNN has no such reorder. */
enum amp_status amp_bindings_add(struct amp_ctx *ctx, struct amp_bindings *bindings,
                                 const_dnnl_primitive_desc_t pd, struct amp_binding binding,
                                 const_dnnl_memory_desc_t user);

/* Adds argument ARG with memory of its own, of layout DESC: *DATA is to be filled at once. */
enum amp_status amp_bindings_add_data(struct amp_ctx *ctx, struct amp_bindings *bindings, int arg,
                                      const_dnnl_memory_desc_t desc, void **data);

/* Before the primitive runs: points all bindings to the data of CTX, gives outputs memory, reorders
   inputs, and sets ARGS to the N bindings' arguments. AMP_AGAIN: a constant has no data. */
enum amp_status amp_bindings_load(struct amp_ctx *ctx, struct amp_bindings *bindings,
                                  dnnl_exec_arg_t *args);

/* After it: reorders the outputs. */
enum amp_status amp_bindings_store(struct amp_ctx *ctx, struct amp_bindings *bindings);

/* Whether the data of input INDEX (behind the N_IN inputs: the operands of post-ops) are read by
   another run, which they are not where a ready constant has taken their place. */
bool amp_bindings_read(const struct amp_bindings *bindings, size_t n_in, size_t index);

/* Makes *MEMORY of layout DESC in *BUFFER, a new one, which the caller releases with it. */
enum amp_status amp_binding_alloc(struct amp_ctx *ctx, const_dnnl_memory_desc_t desc,
                                  dnnl_memory_t *memory, struct amp_buffer **buffer);

#endif

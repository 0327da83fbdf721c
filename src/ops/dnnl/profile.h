#ifndef AMP_OPS_DNNL_PROFILE_H
#define AMP_OPS_DNNL_PROFILE_H

#include "ops/op.h"

struct dnnl_memory_desc;
struct dnnl_primitive_desc;

/*
 * Where the time of runs goes: what the executor and the bridge to oneDNN note here when they are
 * given a profile (amp_host.profile). NULL in its place notes nothing. Not for several threads at
 * once.
 */
struct amp_profile;

enum { AMP_PROFILE_WAY_SIZE = 128 };

/* A node over all runs. SECONDS are its own, without the nodes of its bodies. */
struct amp_profile_node {
    const struct amp_node *node; /* NULL: it did not run */
    size_t calls;
    double seconds, flops;
    double bytes; /* of the tensors that it took and gave, as if each were moved once */
    char way[AMP_PROFILE_WAY_SIZE]; /* the way it last ran in, and why: "post-ops" */
};

/* A oneDNN primitive of a node over all runs, or a copy from one of its layouts to another. */
struct amp_profile_primitive {
    const struct amp_node *node;
    const void *id;          /* its descriptor, or what stands for the copy */
    const char *kind;        /* oneDNN's word: "convolution" */
    char implementation[64]; /* "brg_conv_fwd:avx10_1_512_amx" */
    char layouts[160];       /* "bf16:aBcd32b * bf16:ABcd16b32a2b -> bf16:aBcd32b" */
    size_t calls;
    double seconds;
};

struct amp_profile *amp_profile_create(void);
void amp_profile_destroy(struct amp_profile *profile); /* NULL is fine */

/* The entries are by node id; they point into the model that ran. */
const struct amp_profile_node *amp_profile_nodes(const struct amp_profile *profile, size_t *count);
const struct amp_profile_primitive *amp_profile_primitives(const struct amp_profile *profile,
                                                           size_t *count);

/* Around a node: what begin gives goes to end, with the node's inputs and outputs as they are then
   (amp_ctx; only model, node, in and out are looked at) and the WAY in which it ran. */
struct amp_profile_mark {
    double start, inner;
};
struct amp_profile_mark amp_profile_begin(struct amp_profile *profile);
void amp_profile_end(struct amp_profile *profile, struct amp_profile_mark mark,
                     const struct amp_ctx *ctx, const char *way);

/* SECONDS of the node that has begun were another's, that of CTX, which has ended before. */
void amp_profile_credit(struct amp_profile *profile, const struct amp_ctx *ctx, double seconds);

/* The primitive of PD, or in its place IMPLEMENTATION (NULL: its own), ran for the node of CTX in
   SECONDS. */
void amp_profile_note(struct amp_profile *profile, const struct amp_ctx *ctx,
                      const struct dnnl_primitive_desc *pd, const char *implementation,
                      double seconds);

/* The copy that ID stands for. */
struct amp_profile_reorder {
    const void *id;
    const struct dnnl_memory_desc *from, *to;
};

/* REORDER was done for the node of CTX in SECONDS. */
void amp_profile_note_reorder(struct amp_profile *profile, const struct amp_ctx *ctx,
                              const struct amp_profile_reorder *reorder, double seconds);

#endif

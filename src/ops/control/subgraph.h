#ifndef AMP_OPS_CONTROL_SUBGRAPH_H
#define AMP_OPS_CONTROL_SUBGRAPH_H

#include "ops/kernel/kernel.h"

/* What the body gave for one output, by slot; dtype AMP_UNDEFINED where it gave nothing. */
struct amp_pile {
    struct amp_tensor *items;
    size_t count, capacity;
};

/* Where the slots of a pile go: dims put into the items' shape before dimension AXIS. */
struct amp_stacking {
    int n_dims;
    int64_t dims[2];
    int64_t axis; /* of the result, may be negative */
    bool is_reverse;
};

/* A body of Loop or Scan. Inputs are: `extra_in` others, the state, what Scan iterates over;
   outputs: `extra_out` others, the state, what is gathered. Each iteration's state is the next
   one's input. */
struct amp_subgraph {
    struct amp_ctx *ctx;
    const struct amp_graph *graph;
    uint32_t id;
    size_t n_in, n_out, extra_in, extra_out, n_state, n_gathered;
    struct amp_tensor *in, *out;
    struct amp_tensor **in_pointers; /* to each of in */
    struct amp_pile *piles;          /* n_state, then n_gathered: as the node's outputs */
};

/* The graph that is attribute NAME of the node, which has it, as the schema says. */
uint32_t amp_subgraph_id(const struct amp_ctx *ctx, const char *name);

/* Makes the arrays of BODY, of which ctx, id, n_in, extra_in, extra_out and n_state are set.
   AMP_KERNEL when the graph has other numbers of inputs and outputs. Destroy it in any case. */
enum amp_status amp_subgraph_create(struct amp_subgraph *body);
void amp_subgraph_destroy(struct amp_subgraph *body);

/* State variable I. */
struct amp_tensor *amp_subgraph_state(struct amp_subgraph *body, size_t i);

/* Makes state variable I share the data of FROM; AMP_KERNEL when that is NULL. */
enum amp_status amp_subgraph_set_state(struct amp_subgraph *body, size_t i,
                                       const struct amp_tensor *from);

/* One iteration: state to state, the rest, where the node wants it, to SLOT of the piles. */
enum amp_status amp_subgraph_run(struct amp_subgraph *body, size_t slot);

/* Moves *ITEM to SLOT of pile I; AMP_IO when that needs more memory than there may be. */
enum amp_status amp_subgraph_put(struct amp_subgraph *body, size_t i, size_t slot,
                                 struct amp_tensor *item);

/* Makes output I of the node from pile I: its items in one tensor, put where STACKING says, zeros
   where there is none. AMP_KERNEL when their shapes differ. */
enum amp_status amp_subgraph_stack(struct amp_subgraph *body, size_t i,
                                   const struct amp_stacking *stacking);

/* Makes output I of the node, where it has one, refer to TENSOR, which a body gave; AMP_KERNEL when
   that has another dtype than the output. */
enum amp_status amp_subgraph_give(const struct amp_ctx *ctx, size_t i,
                                  const struct amp_tensor *tensor);

#endif

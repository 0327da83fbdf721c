#ifndef AMP_RUN_REWRITE_SCALE_CHAIN_H
#define AMP_RUN_REWRITE_SCALE_CHAIN_H

#include "ops/op.h"

struct amp_uses; /* core/graph/uses.h */

/* Private to run/rewrite: how nodes with constants scale and shift the channels of an operator's
   result. */

/* The inputs of an operator that is linear (amp_op.linear): it is so in both. */
enum { AMP_WEIGHTS = 1, AMP_ADDED = 2 };

/* A linear node and those after it, each the only use of what is before it, that multiply its
   channels by constants and add constants to them. */
enum { AMP_SCALE_CHAIN_MAX = 8 };

struct amp_scale_chain {
    const struct amp_linear *linear;
    uint32_t node, nodes[AMP_SCALE_CHAIN_MAX];
    size_t n_nodes;
    bool is_sum;        /* none multiplies */
    bool adds;          /* the linear node has input AMP_ADDED */
    int rank, axis;     /* of the result, and of its channels in it */
    int64_t n_channels; /* of all parts */
    int64_t n_parts;
    int channel;              /* the weights' dim */
    double *factors, *shifts; /* by channel: the chain is factor times the first result + shift */
};

/* The longest chain that begins with NODE; false: there is none. To be released if there is. */
bool amp_scale_chain_find(const struct amp_model *model, const struct amp_uses *uses, uint32_t node,
                          struct amp_scale_chain *chain);
void amp_scale_chain_release(struct amp_scale_chain *chain);

/* The value that the last node of CHAIN gives. */
uint32_t amp_scale_chain_result(const struct amp_model *model, const struct amp_scale_chain *chain);

/* Input I of NODE if it is a constant in float32, float16 or bfloat16, else NULL. */
const struct amp_tensor *amp_scale_chain_constant(const struct amp_model *model,
                                                  const struct amp_node *node, uint32_t i);

/* The elements of TENSOR, to be freed. */
double *amp_scale_chain_load(const struct amp_tensor *tensor);

#endif

#ifndef AMP_TUNE_COST_WORK_H
#define AMP_TUNE_COST_WORK_H

#include "core/status.h"
#include "tune/costs.h"

/* What a node does in a run. */
struct amp_node_work {
    double bytes; /* of its inputs, weights and outputs */
    double flops; /* of products: ops/flops.h */
    bool is_low;  /* it takes or gives the lower dtype */
};

/* What a run of the reference and one of its conversion come to, by id in the reference. What
   nodes give that is the same in every run is not counted. */
struct amp_cost_work {
    struct amp_node_work *wide, *low; /* per node: in the reference, in the conversion */
    double *elements;                 /* per value that is a float and no constant; 0 for others */
};

/* Runs both models once, node by node; WORK is in ARENA. Fails as sessions do. */
enum amp_status amp_cost_work_find(const struct amp_costs_request *request, struct amp_arena *arena,
                                   struct amp_cost_work *work, struct amp_error *err);

/* Makes *INPUTS the inputs of the conversion: those of REQUEST, cast where it takes other dtypes.
   The caller gives them to amp_cost_inputs_free, also on failure. */
enum amp_status amp_cost_inputs_cast(const struct amp_costs_request *request,
                                     struct amp_tensor **inputs, struct amp_error *err);
void amp_cost_inputs_free(const struct amp_costs_request *request, struct amp_tensor *inputs);

#endif

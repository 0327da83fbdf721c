#ifndef AMP_AUTOCAST_RUNTIMES_LACKING_H
#define AMP_AUTOCAST_RUNTIMES_LACKING_H

#include "autocast/decision.h"
#include "autocast/runtimes/runtime.h"
#include "autocast/types.h"

/* Private to autocast/: what the runtimes that a model is for keep from the lower dtype. */

/* The runtime that does not have NODE in the dtype of DECISION at *OPSET or any newer opset,
   however new the model may become; NULL: all have it, and *OPSET is the first at which they do.
   Nodes that were of the dtype before are the user's: nobody lacks them. */
const struct amp_runtime *amp_lacking_runtime(const struct amp_runtimes *runtimes,
                                              const struct amp_types *types,
                                              const struct amp_node *node,
                                              const struct amp_decision *decision, int *opset);

/* Whether all RUNTIMES have SCHEMA with DTYPE for its first input and output. */
bool amp_runtimes_have(const struct amp_runtimes *runtimes, const struct amp_schema *schema,
                       enum amp_dtype dtype);

/* Takes from CARRIES, per value of MODEL (sequences.h), all sequences where the RUNTIMES lack one
   of the operators that make them or take them apart. */
void amp_sequences_restrict(bool *carries, const struct amp_model *model,
                            const struct amp_runtimes *runtimes, enum amp_dtype lower);

#endif

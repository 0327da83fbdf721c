#ifndef AMP_AUTOCAST_ELIGIBLE_H
#define AMP_AUTOCAST_ELIGIBLE_H

#include "autocast/decision.h"
#include "onnx/schema/schema.h"

struct amp_model; /* core/graph/graph.h */
struct amp_node;  /* core/graph/graph.h */
struct amp_uses;  /* core/graph/uses.h */

/* Private to autocast/: which nodes can have another dtype at all. */

/* The node's definition at the newest opset in reach, CAP: types only grow, and it is there that a
   newer operator separates what may be cast from what may not (BatchNormalization's statistics). */
const struct amp_schema *amp_schema_in_reach(const struct amp_node *node, int cap);

/* Whether float32 is among the types that the variable can have. */
bool amp_is_float_variable(const struct amp_schema_type *type);

/* Whether the rules may decide NODE's dtype, at opsets up to CAP; sets the type variable that the
   decision is about. If not, sets the reason, and the dtype where it is a float all the same. */
bool amp_is_eligible(const struct amp_model *model, const struct amp_uses *uses, int cap,
                     const struct amp_node *node, struct amp_decision *decision);

#endif

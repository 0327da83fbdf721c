#ifndef AMP_AUTOCAST_CUSTOM_H
#define AMP_AUTOCAST_CUSTOM_H

#include "core/dtype.h"
#include "core/status.h"

#include <stdbool.h>

struct amp_decision; /* autocast/decision.h */
struct amp_model;    /* core/graph/graph.h */
struct amp_node;     /* core/graph/graph.h */
struct amp_value;    /* core/graph/graph.h */

/* Private to autocast/: nodes of operators that no table defines, such as users make. */

/* Whether VALUE, an input or output of such a node, is data of the kind that its precision is
   about: a tensor of float32, float16 or bfloat16. */
bool amp_custom_is_float(const struct amp_value *value);

/* Whether the rules may decide the dtype of NODE, which has no schema: a rule names its operator,
   and the model says the types of all that it takes and gives. If not, sets the reason. */
bool amp_custom_is_eligible(const struct amp_model *model, const struct amp_node *node,
                            struct amp_decision *decision);

/* AMP_RULES with the node and the reason where an override names the operator of a node that cannot
   have the dtype, and does not have it already. DECISIONS are those on the nodes of MODEL, by id;
   LOWER is the lower dtype. */
enum amp_status amp_custom_check(const struct amp_model *model,
                                 const struct amp_decision *decisions, enum amp_dtype lower,
                                 struct amp_error *err);

#endif

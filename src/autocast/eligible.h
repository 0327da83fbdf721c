#ifndef AMP_AUTOCAST_ELIGIBLE_H
#define AMP_AUTOCAST_ELIGIBLE_H

#include "autocast/decision.h"
#include "onnx/schema/schema.h"

struct amp_model; /* core/graph/graph.h */
struct amp_node;  /* core/graph/graph.h */
struct amp_uses;  /* core/graph/uses.h */

/* Private to autocast/: which nodes can have another dtype at all. */

/* The definition of NODE, which has a schema, at opset CAP, the newest that the model may be raised
   to; of another domain than ai.onnx: the node's own. Types only grow, and a newer definition
   separates what may be cast from what may not (BatchNormalization's statistics). */
const struct amp_schema *amp_schema_at_cap(const struct amp_node *node, int cap);

/* Whether float32 is among the types that the variable can have. */
bool amp_schema_type_is_float(const struct amp_schema_type *type);

/* Whether NODE makes random numbers like its input, in a model of torch.onnx's: PyTorch's rand_like
   gives the input's dtype, which the exporter writes down as it is when it exports. */
bool amp_node_is_like(const struct amp_model *model, const struct amp_node *node);

/* What eligibility depends on beside the node. */
struct amp_eligibility {
    const struct amp_model *model;
    const struct amp_uses *uses;
    int cap;             /* the newest opset */
    bool gives_sequence; /* output 0 is a sequence that may have another dtype (sequences.h) */
};

/* Whether the rules may decide NODE's dtype; sets the type variable that the
   decision is about. If not, sets the reason, and the dtype where it is a float all the same. */
bool amp_node_is_eligible(const struct amp_eligibility *eligibility, const struct amp_node *node,
                          struct amp_decision *decision);

#endif

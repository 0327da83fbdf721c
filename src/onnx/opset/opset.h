#ifndef AMP_ONNX_OPSET_OPSET_H
#define AMP_ONNX_OPSET_OPSET_H

#include "core/graph/graph.h"
#include "core/status.h"

/* What keeps a model from being raised. */
struct amp_opset_limit {
    uint32_t node; /* the node that cannot follow */
    int opset;     /* the highest opset that this node can follow to */
};

/*
 * Raises MODEL to opset TARGET of ai.onnx: nodes of all graphs are carried over where their
 * definition means the same, adapted where it changed (attributes that became inputs, other
 * defaults, operators that were replaced); the opset import and, where needed, the IR version are
 * set. Nodes that are added stand before or after the one they serve, so that the order stays
 * topological; new constants are initializers of the node's graph. Values must have their element
 * types where inference can tell them. A TARGET at or below the model's opset changes nothing, and
 * neither does a model without nodes of ai.onnx.
 *
 * AMP_UNSUPPORTED with operator and versions when a node cannot be raised (*LIMIT, which may be
 * NULL, says which and how far it could go) or the table does not know TARGET; the model is then as
 * it was. Source: the definitions in ONNX's Changelog.md, version by version.
 */
enum amp_status amp_opset_raise(struct amp_model *model, int target, struct amp_opset_limit *limit,
                                struct amp_error *err);

#endif

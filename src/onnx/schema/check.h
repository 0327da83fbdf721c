#ifndef AMP_ONNX_SCHEMA_CHECK_H
#define AMP_ONNX_SCHEMA_CHECK_H

#include "core/graph/graph.h"
#include "core/status.h"

/* Checks of a model against the schema table. */

/* Node ID against its schema: the number of inputs and outputs, none of the required ones omitted,
   required attributes, attribute types. A node of an unknown operator passes. AMP_MODEL with the
   node, what was found and what is accepted. */
enum amp_status amp_check_node(const struct amp_model *model, uint32_t id, struct amp_error *err);

/* Of node ID, for which a check failed with *ERR: where the schema table may know an older form of
   the operator (amp_schema_is_partial), the node loses its schema, as an unknown operator has none,
   and it is AMP_OK; else the failure stays. */
enum amp_status amp_check_forgive(struct amp_model *model, uint32_t id, struct amp_error *err);

/* The dtypes of node ID's inputs and outputs against the type rules of its schema: those that each
   type variable allows, and one for all parameters that share it. Unknown dtypes and unknown
   operators pass, and what has_newer_types of the node says. AMP_MODEL with the node, the value,
   what was found and what is accepted. */
enum amp_status amp_check_types(const struct amp_model *model, uint32_t id, struct amp_error *err);

/* Of node ID of a model as it was read, for which amp_check_types failed with *ERR: where a newer
   version of its operator takes the dtypes, it is noted as has_newer_types and AMP_OK. Exporters
   wrote integers into Concat-1 and Constant-1 for years, and no checker minded. Else as
   amp_check_forgive. */
enum amp_status amp_check_forgive_types(struct amp_model *model, uint32_t id,
                                        struct amp_error *err);

/* How many nodes have dtypes that only newer versions of their operators take; TEXT says of the
   first what was found, what is accepted and by which version. */
size_t amp_check_newer_types(const struct amp_model *model, char *text, size_t size);

/* The whole model: the graph's form (amp_graph_check), then amp_check_node and amp_check_types for
   every node. */
enum amp_status amp_check_model(const struct amp_model *model, struct amp_error *err);

#endif

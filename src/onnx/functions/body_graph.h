#ifndef AMP_ONNX_FUNCTIONS_BODY_GRAPH_H
#define AMP_ONNX_FUNCTIONS_BODY_GRAPH_H

#include "onnx/functions/call.h"

/* Private to onnx/functions: graphs that nodes of a body hold (the branches of an If), copied for
   one call but for their nodes. */

/* Before the nodes: GRAPH, a shallow copy of one in the body, gets inputs of its own, PARTS its
   initializers, and SCOPE the names of what it defines. Initializers that all calls share go to the
   main graph. AMP_MODEL when a name is defined twice. */
enum amp_status amp_body_graph_begin(const struct amp_call *call, struct amp_scope *scope,
                                     Onnx__GraphProto *graph, struct amp_graph_parts *parts);

/* After the nodes: GRAPH gets outputs of its own and consists of PARTS. AMP_MODEL when an output is
   not defined. */
enum amp_status amp_body_graph_end(const struct amp_call *call, const struct amp_scope *scope,
                                   Onnx__GraphProto *graph, struct amp_graph_parts *parts);

/* Copies those of the COUNT entries at INFOS to PARTS that are of values which SCOPE, not one
   around it, has named. */
void amp_body_graph_copy_infos(const struct amp_scope *scope, Onnx__ValueInfoProto *const *infos,
                               size_t count, struct amp_graph_parts *parts);

#endif

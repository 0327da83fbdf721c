#ifndef AMP_ONNX_FUNCTIONS_GRAPH_PARTS_H
#define AMP_ONNX_FUNCTIONS_GRAPH_PARTS_H

#include "core/arena.h"

#include "onnx.pb-c.h"

/* Private to onnx/functions: the parts of a graph that is being put together, nodes, types of
   values, initializers. Growing arrays; the messages are referred to. */
struct amp_graph_parts {
    struct amp_arena *arena;
    Onnx__NodeProto **nodes;
    size_t n_nodes, nodes_capacity;
    Onnx__ValueInfoProto **infos;
    size_t n_infos, infos_capacity;
    Onnx__TensorProto **tensors; /* initializers */
    size_t n_tensors, tensors_capacity;
    Onnx__SparseTensorProto **sparse; /* initializers */
    size_t n_sparse, sparse_capacity;
};

/* Appends one part. */
void amp_graph_parts_add_node(struct amp_graph_parts *parts, Onnx__NodeProto *node);
void amp_graph_parts_add_info(struct amp_graph_parts *parts, Onnx__ValueInfoProto *info);
void amp_graph_parts_add_tensor(struct amp_graph_parts *parts, Onnx__TensorProto *tensor);
void amp_graph_parts_add_sparse(struct amp_graph_parts *parts, Onnx__SparseTensorProto *sparse);

/* GRAPH consists of PARTS from here on; its inputs and outputs stay. */
void amp_graph_parts_move(const struct amp_graph_parts *parts, Onnx__GraphProto *graph);

#endif

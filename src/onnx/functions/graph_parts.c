/*
 * Puts a graph's message together from nodes, types of values and initializers, which come one by
 * one in any number. Copies none of them and knows nothing of what they mean.
 */
#include "onnx/functions/graph_parts.h"

void amp_graph_parts_add_node(struct amp_graph_parts *parts, Onnx__NodeProto *node)
{
    Onnx__NodeProto **last = amp_arena_push(parts->arena, &parts->nodes, &parts->n_nodes,
                                            &parts->nodes_capacity, sizeof(Onnx__NodeProto *));
    *last = node;
}

void amp_graph_parts_add_info(struct amp_graph_parts *parts, Onnx__ValueInfoProto *info)
{
    Onnx__ValueInfoProto **last =
        amp_arena_push(parts->arena, &parts->infos, &parts->n_infos, &parts->infos_capacity,
                       sizeof(Onnx__ValueInfoProto *));
    *last = info;
}

void amp_graph_parts_add_tensor(struct amp_graph_parts *parts, Onnx__TensorProto *tensor)
{
    Onnx__TensorProto **last =
        amp_arena_push(parts->arena, &parts->tensors, &parts->n_tensors, &parts->tensors_capacity,
                       sizeof(Onnx__TensorProto *));
    *last = tensor;
}

void amp_graph_parts_add_sparse(struct amp_graph_parts *parts, Onnx__SparseTensorProto *sparse)
{
    Onnx__SparseTensorProto **last =
        amp_arena_push(parts->arena, &parts->sparse, &parts->n_sparse, &parts->sparse_capacity,
                       sizeof(Onnx__SparseTensorProto *));
    *last = sparse;
}

void amp_graph_parts_move(const struct amp_graph_parts *parts, Onnx__GraphProto *graph)
{
    graph->node = parts->nodes;
    graph->n_node = parts->n_nodes;
    graph->value_info = parts->infos;
    graph->n_value_info = parts->n_infos;
    graph->initializer = parts->tensors;
    graph->n_initializer = parts->n_tensors;
    graph->sparse_initializer = parts->sparse;
    graph->n_sparse_initializer = parts->n_sparse;
}

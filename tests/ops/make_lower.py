#!/usr/bin/env python3
"""Makes lower/: models of one operator each for tests/unit/test_precision.c, which makes up the inputs. They are of operators that
neither ONNX's backend tests nor the other folders here have in a form that it can use, and of sums over so many terms that they show how
they are accumulated. Needs onnx and numpy. Run it in this folder; the same versions give the same bytes.
"""
import os
import shutil

import onnx
from onnx import TensorProto, helper

MS = "com.microsoft"


def case(name, op, inputs, opset, domain="", outputs=1, output=TensorProto.FLOAT, **attributes):
    """INPUTS: shapes, or element types of scalars."""
    infos = []
    for i, shape in enumerate(inputs):
        kind, dims = (shape, []) if isinstance(shape, int) else (TensorProto.FLOAT, shape)
        infos.append(helper.make_tensor_value_info(f"x{i}", kind, dims))
    results = [helper.make_tensor_value_info(f"y{i}", output, None) for i in range(outputs)]
    node = helper.make_node(op, [i.name for i in infos], [r.name for r in results], domain=domain, **attributes)
    save(name, [node], infos, results, opset, domain)


def save(name, nodes, infos, results, opset, domain=""):
    graph = helper.make_graph(nodes, name, infos, results)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), f"lower/{name}.onnx")


def list_case(name, op, result, index=False, **attributes):
    """An operator on a sequence of three tensors; RESULT: "tensor", "sequence", "optional" or an element type of the tensor."""
    tensors = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [2, 3]) for i in range(3)]
    names = [t.name for t in tensors]
    at = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    make = helper.make_node("SequenceConstruct", names, ["s"])
    from_list = op not in ("SequenceConstruct", "SequenceEmpty", "Optional")
    inputs = ["s"] if from_list else {"SequenceConstruct": names, "Optional": names[:1]}.get(op, [])
    node = helper.make_node(op, inputs + ["i"] * index, ["y"], **attributes)
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    kinds = {"tensor": tensor, "sequence": helper.make_sequence_type_proto(tensor), "optional": helper.make_optional_type_proto(tensor)}
    kind = kinds[result] if isinstance(result, str) else helper.make_tensor_type_proto(result, [])
    infos = [i for i in tensors + [at] if i.name in inputs or (from_list and i != at) or (index and i == at)]
    save(name, [make, node] if from_list else [node], infos, [helper.make_value_info("y", kind)], 17)


shutil.rmtree("lower", ignore_errors=True)
os.mkdir("lower")
case("cum_prod", "CumProd", [[2, 3, 8], TensorProto.INT64], 26)
case("layer_norm_contrib", "LayerNormalization", [[2, 3, 8], [8], [8]], 17, MS)
case("multinomial", "Multinomial", [[3, 8]], 15, output=TensorProto.INT32, sample_size=5)
case("random_normal", "RandomNormal", [], 15, shape=[3, 5])
case("random_normal_like", "RandomNormalLike", [[3, 5]], 15)
case("random_uniform", "RandomUniform", [], 15, shape=[3, 5])
case("random_uniform_like", "RandomUniformLike", [[3, 5]], 15)
case("rms_norm_contrib", "SimplifiedLayerNormalization", [[2, 3, 8], [8]], 17, MS)
list_case("concat_from_sequence", "ConcatFromSequence", "tensor", axis=0)
list_case("optional", "Optional", "optional")
list_case("sequence_at", "SequenceAt", "tensor", index=True)
list_case("sequence_construct", "SequenceConstruct", "sequence")
list_case("sequence_empty", "SequenceEmpty", "sequence", dtype=TensorProto.FLOAT)
list_case("sequence_erase", "SequenceErase", "sequence", index=True)
list_case("sequence_length", "SequenceLength", TensorProto.INT64)
case("swish", "Swish", [[2, 3, 8]], 24, alpha=1.5)

for op in "L1", "L2", "LogSum", "LogSumExp", "Mean", "Prod", "Sum", "SumSquare":
    case(f"reduce_{op.lower()}", f"Reduce{op}", [[3, 2000, 4]], 17, **({} if op == "Sum" else {"axes": [1]}))
case("attention", "Attention", [[1, 4, 40, 64]] * 3, 23)
case("attention_contrib", "Attention", [[2, 20, 64], [64, 192], [192]], 17, MS, num_heads=4)
case("average_pool", "AveragePool", [[1, 4, 40, 40]], 17, kernel_shape=[20, 20])
case("batch_norm", "BatchNormalization", [[4, 16, 10]] + [[16]] * 4, 15, outputs=3, training_mode=1)
case("conv", "Conv", [[2, 64, 9, 9], [48, 64, 3, 3], [48]], 17)
case("conv_groups", "Conv", [[2, 64, 9, 9], [64, 4, 3, 3], [64]], 17, group=16)
case("conv_depthwise", "Conv", [[2, 64, 9, 9], [64, 1, 5, 5], [64]], 17, group=64)
case("conv_transpose", "ConvTranspose", [[2, 64, 9, 9], [64, 48, 3, 3], [48]], 17, strides=[2, 2])
case("cum_sum", "CumSum", [[2, 2000], TensorProto.INT64], 17, reverse=0)
case("einsum", "Einsum", [[4, 30, 300], [4, 300, 20]], 17, equation="bij,bjk->bik")
case("gemm", "Gemm", [[30, 500], [40, 500], [40]], 17, transB=1, alpha=0.3, beta=1.7)
case("global_average_pool", "GlobalAveragePool", [[2, 8, 40, 40]], 17)
case("group_norm", "GroupNormalization", [[2, 16, 30, 30], [16], [16]], 21, num_groups=4)
case("gru", "GRU", [[4, 3, 8], [1, 24, 8], [1, 24, 8], [1, 48]], 17, outputs=2, hidden_size=8)
case("instance_norm", "InstanceNormalization", [[2, 16, 30, 30], [16], [16]], 17)
case("layer_norm", "LayerNormalization", [[20, 768], [768], [768]], 17, outputs=3)
case("log_softmax", "LogSoftmax", [[20, 1000]], 17)
case("lrn", "LRN", [[2, 64, 8, 8]], 17, size=31)
case("lstm", "LSTM", [[4, 3, 8], [1, 32, 8], [1, 32, 8], [1, 64]], 17, outputs=3, hidden_size=8)
case("matmul", "MatMul", [[30, 500], [500, 40]], 17)
case("matmul_vector", "MatMul", [[3, 2, 500], [500]], 17)
case("mean_variance", "MeanVarianceNormalization", [[2, 16, 30, 30]], 17)
case("rms_norm", "RMSNormalization", [[20, 768], [768]], 23)
case("rnn", "RNN", [[4, 3, 8], [1, 8, 8], [1, 8, 8], [1, 16]], 17, outputs=2, hidden_size=8)
case("softmax", "Softmax", [[20, 1000]], 17)

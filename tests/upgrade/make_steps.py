#!/usr/bin/env python3
"""Makes steps/: for every change that an operator went through, a small model of before it, with inputs and the outputs that it
must keep. Each is a folder in the layout of ONNX's backend tests (model.onnx, test_data_set_0/input_K.pb and output_K.pb).

The outputs come from ONNX Runtime on the model as it is. Where ONNX Runtime does not go back that far, they come from a model of
today that is written out by hand from the old definition (`now` in CASES). Needs onnx 1.17, onnxruntime 1.21 and numpy; same
input, same bytes. Argument: the folder to write to (default: steps/ beside this script).
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "steps"
random = np.random.default_rng(7)
node = helper.make_node
ANY = None  # a dim, or all of them, that the model does not say


def floats(*dims):
    return random.standard_normal(dims).astype(np.float32)


def ints(*items):
    return np.array(items, np.int64)


def lines(*items):
    return np.array(items, np.float32)


def info(name, array, dims=...):
    dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, dtype, array.shape if dims is ... else dims)


def model(nodes, inputs, outputs, weights, opset, dims):
    """INPUTS and WEIGHTS: arrays by name; OUTPUTS: dtypes by name; DIMS: what is declared of inputs, where it is not all; ANY: they go
    through a Reshape to dims that are an input, too, so that nothing is known of their shape."""
    nodes, inputs = list(nodes), dict(inputs)
    for name in [n for n, d in dims.items() if d is ANY]:
        inputs[f"{name}_dims"] = ints(*inputs[name].shape)
        dims = {**dims, name: [None] * inputs[name].ndim, f"{name}_dims": [None]}
        copies = [onnx.NodeProto.FromString(n.SerializeToString()) for n in nodes]
        for copy in copies:
            copy.input[:] = [f"{name}_any" if i == name else i for i in copy.input]
        nodes = [node("Reshape", [name, f"{name}_dims"], [f"{name}_any"]), *copies]
    graph = helper.make_graph(nodes, "graph", [info(n, a, dims.get(n, ...)) for n, a in inputs.items()],
                              [helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()],
                              [numpy_helper.from_array(a, n) for n, a in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4 if opset < 15 else 8)


def run(proto, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def save(folder, kind, names, arrays):
    for i, (name, array) in enumerate(zip(names, arrays)):
        (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array), name).SerializeToString())


def write(name, proto, inputs, now=None):
    folder = root / name / "test_data_set_0"
    folder.mkdir(parents=True)
    for value in proto.graph.input[len(inputs):]:
        inputs = {**inputs, value.name: ints(*inputs[value.name[:-5]].shape)}
    outputs = run(proto if now is None else now, inputs)
    for value, array in zip(proto.graph.output, outputs):
        value.CopyFrom(info(value.name, array, [None] * array.ndim))
    onnx.save(proto, root / name / "model.onnx")
    save(folder, "input", inputs, inputs.values())
    save(folder, "output", [o.name for o in proto.graph.output], outputs)


def case(name, opset, nodes, inputs, weights=None, outputs=None, dims=None, now=None):
    """NOW: (opset, nodes, weights) of today's model with the same inputs and outputs."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    weights, dims, outputs = weights or {}, dims or {}, outputs or {"y": TensorProto.FLOAT}
    proto = model(nodes, inputs, outputs, weights, opset, dims)
    if now is not None:
        now = model(now[1] if isinstance(now[1], list) else [now[1]], inputs, outputs, now[2], now[0], dims)
    write(name, proto, inputs, now)


def in_branch(name, opset, operator, inputs, weights):
    """The node in both branches of an If that is within a Loop's body; its weights are two levels out."""
    def branch(which):
        renamed = onnx.NodeProto()
        renamed.CopyFrom(operator)
        renamed.output[0] = which
        return helper.make_graph([renamed], which, [], [helper.make_tensor_value_info(which, TensorProto.FLOAT, None)])
    body = helper.make_graph(
        [node("If", ["go"], ["r"], then_branch=branch("yes"), else_branch=branch("no")), node("Identity", ["go"], ["on"]),
         node("Identity", ["a"], ["same"])], "body",
        [helper.make_tensor_value_info(n, t, []) for n, t in (("i", TensorProto.INT64), ("go", TensorProto.BOOL), ("a", TensorProto.FLOAT))],
        [helper.make_tensor_value_info(n, t, d) for n, t, d in
         (("on", TensorProto.BOOL, []), ("same", TensorProto.FLOAT, []), ("r", TensorProto.FLOAT, None))])
    case(name, opset, node("Loop", ["count", "start", "zero"], ["last", "y"], body=body), inputs,
         {**weights, "count": np.array(2, np.int64), "start": np.array(True), "zero": np.float32(0)})


def in_function(name, opset, operator, inputs, weights):
    """The node in a function that a function calls; the model imports the same opset."""
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    names = [n for n in operator.input if n]
    inner = helper.make_function("local", "Inner", names, ["y"], [operator], imports)
    outer = helper.make_function("local", "Outer", names, ["z"], [node("Inner", names, ["z"], domain="local")], imports)
    proto = model([node("Outer", names, ["y"], domain="local")], inputs, {"y": TensorProto.FLOAT}, weights, opset, {})
    proto.ir_version = 8
    proto.opset_import.append(helper.make_opsetid("local", 1))
    proto.functions.extend([inner, outer])
    write(name, proto, inputs)


shutil.rmtree(root, ignore_errors=True)

# ---- softmax and its kin: dims from the axis on are one up to opset 12
X = {"x": floats(2, 3, 2, 4)}
for op, opset in (("Softmax", 7), ("LogSoftmax", 9), ("Hardmax", 11)):
    case(f"{op.lower()}_default", opset, node(op, ["x"], ["y"]), X)
    case(f"{op.lower()}_any_rank", opset, node(op, ["x"], ["y"], axis=2), X, dims={"x": ANY})
case("softmax_first", 11, node("Softmax", ["x"], ["y"], axis=0), X)
case("softmax_negative", 11, node("Softmax", ["x"], ["y"], axis=-2), X)
case("softmax_last", 11, node("Softmax", ["x"], ["y"], axis=-1), X, dims={"x": ANY})
case("softmax_batch", 11, node("Softmax", ["x"], ["y"]), X, dims={"x": ["n", 3, 2, 4]})

# ---- dropout: the mask became bool, the ratio an input
case("dropout_7", 7, node("Dropout", ["x"], ["y"], ratio=0.25), X)
for opset in (8, 10):  # what the mask holds is open, its shape is not
    case(f"dropout_{opset}_mask", opset, [node("Dropout", ["x"], ["y", "m"], ratio=0.25), node("Shape", ["m"], ["d"])], X,
         outputs={"y": TensorProto.FLOAT, "d": TensorProto.INT64})
case("dropout_6", 6, node("Dropout", ["x"], ["y", "m"], ratio=0.25, is_test=1), X, now=(22, node("Identity", ["x"], ["y"]), {}))

# ---- batch normalization
STATS = {"s": floats(3), "b": floats(3), "m": floats(3), "v": floats(3) ** 2 + 1}
EACH = {"s": floats(3, 2, 4), "b": floats(3, 2, 4), "m": floats(3, 2, 4), "v": floats(3, 2, 4) ** 2 + 1}
FIVE = ["y", "rm", "rv", "sm", "sv"]
NORM = ["x", "s", "b", "m", "v"]
TRAINED = {"y": TensorProto.FLOAT, "rm": TensorProto.FLOAT, "rv": TensorProto.FLOAT}
case("batch_norm_1", 1, node("BatchNormalization", NORM, ["y"], consumed_inputs=[0, 0, 0, 1, 1], is_test=1, epsilon=1e-3), X, STATS,
     now=(22, node("BatchNormalization", NORM, ["y"], epsilon=1e-3), STATS))
case("batch_norm_6", 6, node("BatchNormalization", NORM, ["y"]), X, STATS, now=(22, node("BatchNormalization", NORM, ["y"]), STATS))
case("batch_norm_7", 7, node("BatchNormalization", NORM, ["y"]), X, STATS)
case("batch_norm_7_each", 7, node("BatchNormalization", NORM, ["y"], spatial=0), X, EACH)
case("batch_norm_7_each_input", 7, node("BatchNormalization", NORM, ["y"], spatial=0), {**X, **EACH}, dims={"x": ["n", 3, 2, 4]})
case("batch_norm_7_each_flat", 7, node("BatchNormalization", NORM, ["y"], spatial=0), {"x": floats(4, 3)}, STATS)
case("batch_norm_7_training", 7, node("BatchNormalization", NORM, FIVE, momentum=0.75), X, STATS, outputs=TRAINED)
case("batch_norm_9_training", 9, node("BatchNormalization", NORM, FIVE), X, STATS, outputs=TRAINED)
case("batch_norm_9_training_unused", 9, node("BatchNormalization", NORM, FIVE), X, STATS)

# ---- group normalization: scale and bias per group became per channel
GROUPS = {"s": floats(2), "b": floats(2)}
GROUP = node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)
SIX = {"x": floats(2, 6, 3)}
PER_CHANNEL = (21, GROUP, {name: np.repeat(array, 3) for name, array in GROUPS.items()})
case("group_norm", 18, GROUP, SIX, GROUPS, now=PER_CHANNEL)
case("group_norm_channels", 20, GROUP, SIX, GROUPS, dims={"x": [2, "c", 3]}, now=PER_CHANNEL)
REPEAT = [node("Expand", ["col", "to"], ["e"]), node("Reshape", ["e", "flat"], ["c"])]
PER_INPUT = (21, [node("Reshape", ["s", "as"], ["col"]), *REPEAT, node("GroupNormalization", ["x", "c", "b6"], ["y"], num_groups=2)],
             {"as": ints(2, 1), "to": ints(2, 3), "flat": ints(-1), "b6": np.repeat(GROUPS["b"], 3)})
case("group_norm_input", 18, GROUP, {**SIX, "s": GROUPS["s"]}, {"b": GROUPS["b"]}, now=PER_INPUT)
case("group_norm_input_channels", 18, GROUP, {**SIX, "s": GROUPS["s"]}, {"b": GROUPS["b"]}, dims={"x": ANY}, now=PER_INPUT)

# ---- attributes that became inputs
for op in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
    positive = {"x": np.abs(X["x"]) + 0.5}
    case(f"reduce_{op.lower()}_7", 7, node(f"Reduce{op}", ["x"], ["y"], axes=[1, 3], keepdims=0), positive)
    case(f"reduce_{op.lower()}_11", 11, node(f"Reduce{op}", ["x"], ["y"], axes=[-1]), positive)
    case(f"reduce_{op.lower()}_all", 12, node(f"Reduce{op}", ["x"], ["y"]), positive)
case("squeeze", 11, node("Squeeze", ["x"], ["y"], axes=[0, -1]), {"x": floats(1, 3, 1)})
case("squeeze_all", 7, node("Squeeze", ["x"], ["y"]), {"x": floats(1, 3, 1)})
case("unsqueeze", 11, node("Unsqueeze", ["x"], ["y"], axes=[0, -1]), {"x": floats(2, 3)})
case("slice_1", 7, node("Slice", ["x"], ["y"], axes=[1, 3], starts=[1, -2], ends=[1000, -1]), X)
case("slice_1_no_axes", 9, node("Slice", ["x"], ["y"], starts=[0, 1], ends=[-1, 3]), X)
case("split_2", 7, node("Split", ["x"], ["y", "z"], axis=3, split=[1, 3]), X, outputs={"y": 1, "z": 1})
case("split_2_even", 11, node("Split", ["x"], ["y", "z"], axis=-1), X, outputs={"y": 1, "z": 1})
case("split_13_even", 13, node("Split", ["x"], ["y", "z"]), X, outputs={"y": 1, "z": 1})
case("split_1", 1, node("Split", ["x", "at"], ["y", "z"], axis=1), X, {"at": lines(1, 2)}, outputs={"y": 1, "z": 1},
     now=(11, node("Split", ["x"], ["y", "z"], axis=1, split=[1, 2]), {}))
case("clip", 7, node("Clip", ["x"], ["y"], min=-0.5, max=0.25), X)
case("clip_min", 10, node("Clip", ["x"], ["y"], min=-0.5), X)
case("clip_none", 7, node("Clip", ["x"], ["y"]), {"x": lines(-3e38, 0, 3e38)})
case("clip_1", 1, node("Clip", ["x"], ["y"], max=0.5, consumed_inputs=[0]), X, now=(7, node("Clip", ["x"], ["y"], max=0.5), {}))
case("pad_constant", 7, node("Pad", ["x"], ["y"], pads=[0, 0, 1, 0, 0, 0, 0, 2], value=0.5), X)
case("pad_crop", 10, node("Pad", ["x"], ["y"], pads=[0, -1, 1, 0, 0, 0, 0, 0]), X)
case("pad_reflect", 10, node("Pad", ["x"], ["y"], mode="reflect", pads=[0, 0, 1, 1, 0, 0, 1, 1]), X)
case("pad_edge", 7, node("Pad", ["x"], ["y"], mode="edge", pads=[1, 0, 1, 0, 0, 0, 0, 2]), X)
case("pad_1", 1, node("Pad", ["x"], ["y"], paddings=[0, 0, 1, 0, 0, 0, 0, 2], value=2.0), X,
     now=(10, node("Pad", ["x"], ["y"], pads=[0, 0, 1, 0, 0, 0, 0, 2], value=2.0), {}))
case("top_k_1", 9, node("TopK", ["x"], ["y", "i"], k=2, axis=1), X, outputs={"y": 1, "i": 7})
case("top_k_10", 10, node("TopK", ["x", "k"], ["y", "i"]), {**X, "k": ints(3)}, outputs={"y": 1, "i": 7})
case("reshape_1", 1, node("Reshape", ["x"], ["y"], shape=[0, -1]), X, now=(22, node("Reshape", ["x", "to"], ["y"]), {"to": ints(0, -1)}))
case("tile_1", 1, node("Tile", ["x", "times", "axis"], ["y"]), X, {"times": lines(2)[0], "axis": lines(1)[0]},
     now=(22, node("Tile", ["x", "to"], ["y"]), {"to": ints(1, 2, 1, 1)}))
case("upsample_1", 1, node("Upsample", ["x"], ["y"], height_scale=2.0, width_scale=3.0), X,
     now=(9, node("Upsample", ["x", "by"], ["y"]), {"by": lines(1, 1, 2, 3)}))
case("scatter_9", 9, node("Scatter", ["x", "i", "u"], ["y"], axis=1), {"x": floats(1, 5), "i": np.array([[1, 3]]), "u": floats(1, 2)})
case("dft", 17, node("DFT", ["x"], ["y"], axis=1), {"x": floats(2, 8, 2)})
case("dft_default", 17, node("DFT", ["x"], ["y"]), {"x": floats(2, 4, 3, 2)})
case("dft_length", 17, node("DFT", ["x", "n"], ["y"], axis=1, inverse=1), {"x": floats(2, 8, 2)}, {"n": np.array(6, np.int64)})

# ---- sampling between elements
IMAGE = {"x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)}
for mode in ("nearest", "linear"):
    case(f"upsample_7_{mode}", 7, node("Upsample", ["x"], ["y"], mode=mode, scales=[1.0, 1.0, 2.0, 3.0]), IMAGE)
    case(f"upsample_9_{mode}", 9, node("Upsample", ["x", "by"], ["y"], mode=mode), {**IMAGE, "by": lines(1, 1, 1.5, 2)})
    for name, scales in {"up": (1, 1, 2, 2.5), "down": (1, 1, 0.6, 0.5), "mixed": (1, 1, 2, 0.6)}.items():
        case(f"resize_10_{mode}_{name}", 10, node("Resize", ["x", "by"], ["y"], mode=mode), IMAGE, {"by": lines(*scales)})
        case(f"resize_10_{mode}_{name}_input", 10, node("Resize", ["x", "by"], ["y"], mode=mode), {**IMAGE, "by": lines(*scales)})
BY = {"roi": lines(), "by": lines(1, 1, 2.7, 0.7)}
for rounding in ("floor", "round_prefer_floor"):
    case(f"resize_11_tf_{rounding}", 11, node("Resize", ["x", "roi", "by"], ["y"], coordinate_transformation_mode="tf_half_pixel_for_nn",
                                              nearest_mode=rounding), IMAGE, BY)
case("resize_11_cubic", 11, node("Resize", ["x", "roi", "by"], ["y"], mode="cubic"), IMAGE, BY)
case("resize_11_sizes", 11, node("Resize", ["x", "roi", "none", "to"], ["y"], mode="linear"), IMAGE,
     {"roi": lines(), "none": lines(), "to": ints(1, 1, 7, 3)})
case("resize_11_crop", 11, node("Resize", ["x", "roi", "none", "to"], ["y"], mode="linear", extrapolation_value=9.0,
                                coordinate_transformation_mode="tf_crop_and_resize"), IMAGE,
     {"roi": lines(0, 0, 0.4, 0.6, 1, 1, 1.2, 0.9), "none": lines(), "to": ints(1, 1, 3, 3)})
case("roi_align_10", 10, node("RoiAlign", ["x", "rois", "i"], ["y"], output_height=2, output_width=2, sampling_ratio=2), IMAGE,
     {"rois": lines(0, 0, 3, 2).reshape(1, 4), "i": ints(0)})
for mode in ("bilinear", "nearest", "bicubic"):
    case(f"grid_sample_{mode}", 16, node("GridSample", ["x", "g"], ["y"], mode=mode), {**IMAGE, "g": floats(1, 3, 3, 2)})
case("grid_sample_default", 16, node("GridSample", ["x", "g"], ["y"], align_corners=1), {**IMAGE, "g": floats(1, 3, 3, 2)})

# ---- broadcasting before opset 7
A, PER_AXIS = {"x": floats(2, 3, 4), "b": floats(3)}, {"to": ints(3, 1)}
for op in ("Add", "Sub", "Mul", "Div", "Pow"):
    a = {"x": np.abs(A["x"]) + 0.5, "b": A["b"]}
    case(f"{op.lower()}_6_axis", 6, node(op, ["x", "b"], ["y"], axis=1, broadcast=1), a,
         now=(14, [node("Reshape", ["b", "to"], ["c"]), node(op, ["x", "c"], ["y"])], PER_AXIS))
for op in ("Greater", "Less"):
    case(f"{op.lower()}_1_axis", 1, node(op, ["x", "b"], ["y"], axis=-2, broadcast=1), A, outputs={"y": TensorProto.BOOL},
         now=(13, [node("Reshape", ["b", "to"], ["c"]), node(op, ["x", "c"], ["y"])], PER_AXIS))
BOOLS = {"x": A["x"] > 0, "b": A["b"] > 0}
for op in ("And", "Or", "Xor", "Equal"):
    case(f"{op.lower()}_1_axis", 1, node(op, ["x", "b"], ["y"], axis=1, broadcast=1), BOOLS, outputs={"y": TensorProto.BOOL},
         now=(13, [node("Reshape", ["b", "to"], ["c"]), node(op, ["x", "c"], ["y"])], PER_AXIS))
case("add_6_weight", 6, node("Add", ["x", "b"], ["y"], axis=1, broadcast=1), {"x": A["x"]}, {"b": A["b"]},
     now=(14, node("Add", ["x", "c"], ["y"]), {"c": A["b"].reshape(3, 1)}))
case("add_1", 1, node("Add", ["x", "b"], ["y"], broadcast=1, consumed_inputs=[0, 0]), {"x": A["x"], "b": floats(4)},
     now=(14, node("Add", ["x", "b"], ["y"]), {}))
GEMM = {"x": floats(2, 3), "w": floats(3, 4), "c": floats(4)}
case("gemm_6", 6, node("Gemm", ["x", "w", "c"], ["y"], alpha=0.5, broadcast=1), GEMM,
     now=(13, node("Gemm", ["x", "w", "c"], ["y"], alpha=0.5), {}))
case("prelu_6", 6, node("PRelu", ["x", "b"], ["y"]), A,
     now=(16, [node("Reshape", ["b", "to"], ["c"]), node("PRelu", ["x", "c"], ["y"])], PER_AXIS))

# ---- other definitions of the first opsets
case("cast_1", 1, node("Cast", ["x"], ["y"], to="INT32"), {"x": lines(1.5, -2.5)}, outputs={"y": TensorProto.INT32},
     now=(13, node("Cast", ["x"], ["y"], to=TensorProto.INT32), {}))
case("concat_1", 1, node("Concat", ["x", "x"], ["y"]), X, now=(13, node("Concat", ["x", "x"], ["y"], axis=1), {}))
case("selu_1", 1, node("Selu", ["x"], ["y"]), X, now=(6, node("Selu", ["x"], ["y"], alpha=1.6732, gamma=1.0507), {}))
case("lp_pool_1", 1, node("LpPool", ["x"], ["y"], kernel_shape=[2, 2], p=3.0), X,
     now=(18, node("LpPool", ["x"], ["y"], kernel_shape=[2, 2], p=3), {}))
case("global_lp_pool_1", 1, node("GlobalLpPool", ["x"], ["y"], p=1.0), X, now=(2, node("GlobalLpPool", ["x"], ["y"], p=1), {}))

# ---- recurrences
SEQUENCE = {"x": floats(4, 2, 3)}
for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    weights = {"w": floats(2, gates * 2, 3), "r": floats(2, gates * 2, 2), "b": floats(2, gates * 4), "n": np.array([4, 2], np.int32)}
    words = ["x", "w", "r", "b", "n"]
    both = {"y": 1, "h": 1}
    case(f"{op.lower()}_7", 7, node(op, words, ["y", "h"], hidden_size=2, direction="bidirectional"), SEQUENCE, weights, both)
    case(f"{op.lower()}_1", 1, node(op, words, ["y", "h"], hidden_size=2, direction="bidirectional", output_sequence=1), SEQUENCE, weights,
         both, now=(14, node(op, words, ["y", "h"], hidden_size=2, direction="bidirectional"), weights))

# ---- operators that are the same today, or only take more
case("average_pool_7", 7, node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1), X)
case("average_pool_10", 10, node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), {"x": floats(1, 2, 5, 5)})
case("max_pool_8", 8, node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2]), X, outputs={"y": 1, "i": 7})
case("arg_max_1", 7, node("ArgMax", ["x"], ["y"], axis=1, keepdims=0), X, outputs={"y": TensorProto.INT64})
case("one_hot_9", 9, node("OneHot", ["i", "d", "v"], ["y"]), {"i": ints(0, 2, 5)}, {"d": ints(3), "v": lines(0, 1)})
case("eye_like_9", 9, node("EyeLike", ["x"], ["y"], k=1), {"x": floats(3, 4)})
case("quantize_10", 10, [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])], X,
     {"s": np.array(0.05, np.float32), "z": np.array(128, np.uint8)})
case("conv_transpose_1", 7, node("ConvTranspose", ["x", "w"], ["y"], strides=[2], output_shape=[6]), {"x": floats(1, 1, 3)},
     {"w": floats(1, 1, 3)})
case("instance_norm_6", 6, node("InstanceNormalization", ["x", "s", "b"], ["y"]), X, {"s": STATS["s"], "b": STATS["b"]})
case("constant_9", 9, [node("Constant", [], ["c"], value=numpy_helper.from_array(floats(4), "c")), node("Add", ["x", "c"], ["y"])], X)

# ---- Scan-8: a batch around the scan, sequence by sequence
BODY = helper.make_graph(
    [node("Mul", ["item", "k"], ["scaled"]), node("Add", ["sum", "scaled"], ["next"]), node("Softmax", ["next"], ["part"], axis=0)], "body",
    [helper.make_tensor_value_info("sum", 1, [2]), helper.make_tensor_value_info("item", 1, [2])],
    [helper.make_tensor_value_info("next", 1, [2]), helper.make_tensor_value_info("part", 1, [2])])
SCANNED = {"s": floats(3, 2), "x": floats(3, 4, 2)}
for name, attributes in (("forward", {}), ("reverse", {"directions": [1]})):
    case(f"scan_8_{name}", 8, node("Scan", ["", "s", "x"], ["z", "y"], body=BODY, num_scan_inputs=1, **attributes), SCANNED,
         {"k": lines(0.5)}, outputs={"z": 1, "y": 1})
case("scan_8_any_rank", 8, node("Scan", ["", "s", "x"], ["z", "y"], body=BODY, num_scan_inputs=1), SCANNED, {"k": lines(0.5)},
     outputs={"z": 1, "y": 1}, dims={"s": ["n", 2], "x": ["n", "t", 2]})

# ---- in bodies and in functions
WITHIN = {
    "softmax": (11, node("Softmax", ["x"], ["y"]), X, {}),
    "clip": (10, node("Clip", ["x"], ["y"], min=-0.5, max=0.5), X, {}),
    "reduce_mean": (11, node("ReduceMean", ["x"], ["y"], axes=[1, 2]), X, {}),
    "pad": (10, node("Pad", ["x"], ["y"], pads=[0, 0, 1, 0, 0, 0, 0, 2], value=0.5), X, {}),
    "resize": (10, node("Resize", ["x", "by"], ["y"]), IMAGE, {"by": lines(1, 1, 2, 0.5)}),
    "batch_norm_each": (8, node("BatchNormalization", NORM, ["y"], spatial=0), X, EACH),
    "dropout": (11, node("Dropout", ["x"], ["y"], ratio=0.25), X, {}),
    "group_norm": (18, GROUP, SIX, {"s": np.full(2, 0.5, np.float32), "b": np.full(2, 0.25, np.float32)}),
}
for name, (opset, operator, inputs, weights) in WITHIN.items():
    if name != "group_norm":
        in_branch(f"branch_{name}", opset, operator, inputs, weights)
    in_function(f"function_{name}", opset, operator, inputs, weights)
print(len(list(root.iterdir())), "cases")

#!/usr/bin/env python3
"""Makes cases/: operators in the layout of ONNX's backend tests, where those say too little.

Expected outputs are ONNX Runtime's for recurrent layers and control flow, NumPy's for reductions and searches.
Needs onnx, onnxruntime and numpy. Run it in this folder; the same versions give the same bytes.
"""
import itertools
import os
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(11)
info = helper.make_tensor_value_info


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def write(path, array, name):
    with open(path, "wb") as file:
        file.write(numpy_helper.from_array(np.array(array, order="C"), name).SerializeToString())


def save(name, graph, inputs, opset, expected=None):
    """Writes one case; EXPECTED by output name, ONNX Runtime's outputs where it is None."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    names = [output.name for output in graph.output]
    if expected is None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expected = dict(zip(names, session.run(names, inputs)))
    data = f"cases/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"cases/{name}/model.onnx")
    for i, value in enumerate(graph.input):
        write(f"{data}/input_{i}.pb", inputs[value.name], value.name)
    for i, output in enumerate(names):
        write(f"{data}/output_{i}.pb", expected[output], output)


def graph_of(nodes, inputs, outputs):
    """OUTPUTS: name -> element type."""
    return helper.make_graph(nodes, "g", [info(n, type_of(v), v.shape) for n, v in inputs.items()],
                             [info(n, t, None) for n, t in outputs.items()])


# ---- recurrent layers

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(name, op, direction="forward", steps=5, batch=3, optional="BLHCP", dtype="float32", layout=0, hidden=6,
              **attributes):
    """OPTIONAL: which optional inputs are there. Layout 1 and float64, which ONNX Runtime does not have, are compared with what
    it gives for layout 0 in float32."""
    size, directions, gates = 4, 2 if direction == "bidirectional" else 1, GATES[op]
    shapes = {"X": (steps, batch, size), "W": (directions, gates * hidden, size), "R": (directions, gates * hidden, hidden)}
    if "B" in optional:
        shapes["B"] = (directions, 2 * gates * hidden)
    if "H" in optional:
        shapes["H"] = (directions, batch, hidden)
    if "C" in optional and op == "LSTM":
        shapes["C"] = (directions, batch, hidden)
    if "P" in optional and op == "LSTM":
        shapes["P"] = (directions, 3 * hidden)
    inputs = {n: rng.uniform(-1, 1, s).astype(np.float32) for n, s in shapes.items()}
    inputs["R"] *= np.float32(6 / hidden)
    if "L" in optional:
        inputs["L"] = rng.permutation([steps, 1, 3, 2, 4][:batch]).astype(np.int32)
    order = ["X", "W", "R", "B", "L", "H"] + (["C", "P"] if op == "LSTM" else [])
    outputs = ["Y", "Yh"] + (["Yc"] if op == "LSTM" else [])
    attributes.update(hidden_size=hidden, direction=direction)

    def graph(arrays, **more):
        node = helper.make_node(op, [n if n in arrays else "" for n in order], outputs, **attributes, **more)
        return graph_of([node], arrays, dict.fromkeys(outputs, type_of(arrays["X"])))

    model = helper.make_model(graph(inputs), opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    expected = dict(zip(outputs, onnxruntime.InferenceSession(model.SerializeToString()).run(outputs, inputs)))
    if layout:
        for n in {"X", "H", "C"} & inputs.keys():
            inputs[n] = inputs[n].transpose(1, 0, 2)
        expected = {n: v.transpose(2, 0, 1, 3) if n == "Y" else v.transpose(1, 0, 2) for n, v in expected.items()}
    cast = {n: v if n == "L" else v.astype(dtype) for n, v in inputs.items()}
    more = {"layout": 1} if layout else {}
    save(name, graph(cast, **more), cast, 14, {n: v.astype(dtype) for n, v in expected.items()})


def make_recurrent():
    for op, direction in itertools.product(GATES, ("forward", "reverse", "bidirectional")):
        recurrent(f"{op.lower()}_{direction}", op, direction)
    for op in GATES:
        recurrent(f"{op.lower()}_plain", op, optional="")
        recurrent(f"{op.lower()}_batch_first", op, "bidirectional", layout=1, dtype="float64")
        recurrent(f"{op.lower()}_clip", op, "bidirectional", clip=0.3)
    recurrent("gru_linear_before_reset", "GRU", "bidirectional", linear_before_reset=1)
    recurrent("gru_linear_before_reset_no_bias", "GRU", optional="H", linear_before_reset=1)
    recurrent("lstm_input_forget", "LSTM", input_forget=1)
    recurrent("lstm_activations", "LSTM", "bidirectional", activation_alpha=[0.3, 0.7, 0.2, 1.5], activation_beta=[0.4, 0.6],
              activations=["HardSigmoid", "LeakyRelu", "Elu", "Sigmoid", "ScaledTanh", "Softsign"])
    recurrent("gru_activations", "GRU", "bidirectional", activation_alpha=[0.5, 0.1], activation_beta=[0.25],
              activations=["Affine", "Softplus", "Sigmoid", "ThresholdedRelu"])
    recurrent("rnn_activations", "RNN", "bidirectional", activations=["Relu", "Sigmoid"])


def make_recurrent_wide():
    """As many units as keep two threads busy, the last of them a few."""
    for op in ("GRU", "LSTM"):
        recurrent(f"{op.lower()}_wide", op, "reverse", batch=5, hidden=70)


# ---- control flow

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
NODE = helper.make_node


def array(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def make_if():
    then = helper.make_graph([], "then", [], [info("w", F, [2])], [numpy_helper.from_array(np.float32([1, 2]), "w")])
    inner = [helper.make_graph([NODE(op, ["x", "k"], [op])], op, [], [info(op, F, [2])]) for op in ("Add", "Mul")]
    otherwise = helper.make_graph(
        [NODE("Neg", ["x"], ["k"]), NODE("If", ["second"], ["o"], then_branch=inner[0], else_branch=inner[1])], "else", [],
        [info("o", F, [2])])
    node = NODE("If", ["first"], ["y"], then_branch=then, else_branch=otherwise)
    for first, second in ((True, True), (False, True), (False, False)):
        inputs = {"first": np.array(first), "second": np.array([second]), "x": array(2)}
        save(f"if_{first}_{second}".lower(), graph_of([node], inputs, {"y": F}), inputs, 13)


def make_loop():
    """A state, a gathered tensor, a gathered counter, a captured value; ends by trip count or condition."""
    body = helper.make_graph(
        [NODE("Add", ["s", "x"], ["s2"]), NODE("ReduceSum", ["s2"], ["sum"], keepdims=0), NODE("Less", ["sum", "limit"], ["on"]),
         NODE("Mul", ["s2", "x"], ["gathered"]), NODE("Identity", ["i"], ["count"])],
        "body", [info("i", I, []), info("c", B, []), info("s", F, [2, 3])],
        [info("on", B, []), info("s2", F, [2, 3]), info("gathered", F, [2, 3]), info("count", I, [])])
    for name, trips, condition, limit in (("trips", 5, True, 1e9), ("none", 0, True, 1e9), ("false", 5, False, 1e9),
                                          ("while", None, True, 20), ("both", 30, True, 15), ("many", 40, True, 1e9)):
        inputs = {"s0": array(2, 3), "x": np.abs(array(2, 3)), "limit": np.float32(limit), "condition": np.array(condition)}
        if trips is not None:
            inputs["trips"] = np.int64(trips)
        inputs = {n: np.asarray(v) for n, v in inputs.items()}
        node = NODE("Loop", ["trips" if "trips" in inputs else "", "condition", "s0"], ["s", "all", "counts"], body=body)
        save(f"loop_{name}", graph_of([node], inputs, {"s": F, "all": F, "counts": I}), inputs, 13)


def make_loop_growing():
    """The state changes its shape; the condition is left out and what the body gives for it ignored."""
    body = helper.make_graph(
        [NODE("Concat", ["s", "x"], ["s2"], axis=0), NODE("Identity", ["c"], ["on"])], "body",
        [info("i", I, []), info("c", B, []), info("s", F, ["n"])], [info("on", B, []), info("s2", F, ["m"])])
    inputs = {"trips": np.int64([4]), "s0": array(1), "x": array(2)}
    save("loop_growing", graph_of([NODE("Loop", ["trips", "", "s0"], ["s"], body=body)], inputs, {"s": F}), inputs, 13)


def make_scan():
    body = helper.make_graph(
        [NODE("Add", ["s", "b"], ["s2"]), NODE("Mul", ["s2", "x"], ["p"]), NODE("Add", ["a", "s2"], ["q"])], "body",
        [info("s", F, [3]), info("a", F, [2, 3]), info("b", F, [3])],
        [info("s2", F, [3]), info("p", F, [3]), info("q", F, [2, 3])])
    cases = (("default", {}, (4, 2, 3), (4, 3)),
             ("axes", dict(scan_input_axes=[1, 1], scan_output_axes=[1, 2]), (2, 4, 3), (3, 4)),
             ("negative_axes", dict(scan_input_axes=[-1, -2], scan_output_axes=[-1, -2]), (2, 3, 4), (4, 3)),
             ("reverse", dict(scan_input_directions=[1, 0], scan_output_directions=[0, 1]), (4, 2, 3), (4, 3)))
    for name, attributes, a, b in cases:
        inputs = {"s0": array(3), "a": array(*a), "b": array(*b), "x": array(3)}
        node = NODE("Scan", ["s0", "a", "b"], ["s", "ps", "qs"], body=body, num_scan_inputs=2, **attributes)
        save(f"scan_{name}", graph_of([node], inputs, {"s": F, "ps": F, "qs": F}), inputs, 11)


def make_scan_batch():
    """Version 8: a batch dimension, lengths, directions."""
    body = helper.make_graph([NODE("Add", ["s", "b"], ["s2"]), NODE("Add", ["a", "s2"], ["q"])], "body",
                             [info("s", F, [3]), info("a", F, [2, 3]), info("b", F, [3])], [info("s2", F, [3]), info("q", F, [2, 3])])
    for lengths, directions in itertools.product((False, True), ([0, 0], [1, 0])):
        inputs = {"s0": array(2, 3), "a": array(2, 4, 2, 3), "b": array(2, 4, 3)}
        if lengths:
            inputs["lengths"] = np.int64([4, 2])
        node = NODE("Scan", ["lengths" if lengths else "", "s0", "a", "b"], ["s", "qs"], body=body, num_scan_inputs=2,
                    directions=directions)
        name = f"scan_8_{'lengths' if lengths else 'full'}_{'reverse' if directions[0] else 'forward'}"
        save(name, graph_of([node], inputs, {"s": F, "qs": F}), inputs, 8)


# ---- reductions and searches

def one(name, op, arrays, opset, expected, **attributes):
    """One node with ARRAYS as its inputs and EXPECTED as its outputs, both by name."""
    node = NODE(op, list(arrays), list(expected), **attributes)
    save(name, graph_of([node], arrays, {n: type_of(v) for n, v in expected.items()}), arrays, opset, expected)


def make_reductions():
    """Shapes that take each way through the kernel: short and long rows and columns, several runs of axes."""
    for shape, axes in (((600,), (0,)), ((3, 600), (1,)), ((600, 3), (0,)), ((600, 3), (1,)), ((20, 270), (0,)), ((5, 2, 30, 1, 4), (1, 3, 4)),
                        ((4, 20, 3, 20), (0, 2)), ((2, 3), ())):
        x = array(*shape)
        text = "x".join(map(str, shape)) + "_" + ("".join(map(str, axes)) or "all")
        axis = axes or None
        one(f"reduce_mean_{text}", "ReduceMean", {"x": x, "axes": np.int64(axes)}, 18,
            {"y": np.mean(x, axis, np.float64, keepdims=True).astype(np.float32)})
    large = np.full((2, 5000), 0.1, np.float16)
    one("reduce_sum_float16_long", "ReduceSum", {"x": large, "axes": np.int64([1])}, 13,
        {"y": large.sum(1, np.float64, keepdims=True).astype(np.float16)})
    x = np.float32([[1, np.nan, 3], [-np.inf, -np.inf, -np.inf], [np.inf, 1, 2]])
    one("reduce_max_nan", "ReduceMax", {"x": x, "axes": np.int64([1])}, 18, {"y": x.max(1)}, keepdims=0)
    one("reduce_log_sum_exp_infinite", "ReduceLogSumExp", {"x": x[1:], "axes": np.int64([1])}, 18,
        {"y": np.float32([-np.inf, np.inf])}, keepdims=0)
    x = rng.integers(-2**62, 2**62, (3, 4))
    one("reduce_max_int64", "ReduceMax", {"x": x, "axes": np.int64([0])}, 18, {"y": x.max(0)}, keepdims=0)
    x = rng.integers(-9, 9, (3, 4)).astype(np.int32)
    one("reduce_mean_int32", "ReduceMean", {"x": x, "axes": np.int64([1])}, 18,
        {"y": np.trunc(x.mean(1)).astype(np.int32)}, keepdims=0)
    x = array(2, 3)
    one("reduce_sum_square_noop", "ReduceSumSquare", {"x": x}, 18, {"y": x * x}, noop_with_empty_axes=1)


def make_searches():
    x = np.float32([[1, np.nan, 3, np.nan], [2, 5, 5, 1], [-0.0, 0.0, -1, 0]])
    for op, find in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        one(f"{op.lower()}_first", op, {"x": x}, 13, {"y": find(x, 1)}, axis=1, keepdims=0)
        one(f"{op.lower()}_last", op, {"x": x}, 13, {"y": 3 - find(x[:, ::-1], 1)}, axis=1, keepdims=0, select_last_index=1)
    for name, x, axis, k in (("columns", array(5, 40), 0, 3), ("ties", rng.integers(0, 4, (3, 600)).astype(np.int64), 1, 20),
                             ("uint64", rng.integers(0, 2**64, (4, 30), np.uint64), 1, 30), ("zero", array(3, 4), 1, 0)):
        order = np.argsort(np.iinfo(np.uint64).max - x if x.dtype == np.uint64 else -x, axis, "stable").take(range(k), axis)
        one(f"topk_{name}", "TopK", {"x": x, "k": np.int64([k])}, 11,
            {"values": np.take_along_axis(x, order, axis), "indices": order.astype(np.int64)}, axis=axis)
    x = array(3, 600, 2)
    sums = np.flip(np.cumsum(np.flip(x, 1), 1, np.float64), 1) - x
    one("cumsum_long", "CumSum", {"x": x, "axis": np.array(1)}, 14, {"y": sums.astype(np.float32)}, exclusive=1, reverse=1)


shutil.rmtree("cases", ignore_errors=True)
for make in (make_recurrent, make_if, make_loop, make_loop_growing, make_scan, make_scan_batch, make_reductions, make_searches,
             make_recurrent_wide):
    make()

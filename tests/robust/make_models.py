#!/usr/bin/env python3
"""Makes the cases of --max-memory: models of a few nodes that want more memory than there is, by sizes that stand in the model or
come with the data, or by going on for ever. For each a folder beside this script (or under the folder named as the argument)
with `args` and model.onnx. What the program must print and return is not made here: those files are reviewed (tests/run.sh).
Needs the onnx Python package (1.17) and numpy; same input, same bytes.
"""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
HUGE = 1 << 40
node = helper.make_node
root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent


def value(name, dtype, *dims):
    return helper.make_tensor_value_info(name, dtype, dims)


def number(name, *values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


def scalar(name, item, dtype=np.int64):
    return numpy_helper.from_array(np.array(item, dtype), name)


def model(nodes, outputs, initializers=(), inputs=(), opset=18):
    graph = helper.make_graph(nodes, "graph", list(inputs), outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


Y = [value("y", FLOAT, None)]
X = [value("x", FLOAT, 2, 3)]


def one(op, names, *initializers, inputs=X, **attributes):
    """A node with the input x and constants, after one that needs little."""
    return model([node("Relu", ["x"], ["a"], "small"), node(op, names, ["y"], "large", **attributes)], Y, initializers, inputs)


def loop(gathers, condition=True):
    """A body that says to go on each time; what it gives is gathered, or grows."""
    step = [node("Identity", ["go"], ["on"]), node("Identity" if gathers else "Concat", ["v"] if gathers else ["v", "v"], ["w"],
                                                   "grow", **({} if gathers else {"axis": 0}))]
    outputs = [value("on", BOOL), value("w", FLOAT, None)] + ([value("g", FLOAT, None)] if gathers else [])
    if gathers:
        step.append(node("Identity", ["v"], ["g"]))
    body = helper.make_graph(step, "body", [value("i", INT64), value("go", BOOL), value("v", FLOAT, None)], outputs)
    names = ["", "go_on"] if condition else ["trips", ""]
    return model([node("Loop", names + ["x"], ["y"] + (["all"] if gathers else []), "for_ever", body=body)],
                 Y + ([value("all", FLOAT, None, None)] if gathers else []),
                 [scalar("go_on", True, np.bool_)] if condition else [scalar("trips", (1 << 63) - 1)], [value("x", FLOAT, 100)])


CASES = {
    "constant_of_shape": one("ConstantOfShape", ["s"], number("s", HUGE, 3)),
    "expand": one("Expand", ["a", "s"], number("s", 1 << 30, 2, 3)),
    "tile": one("Tile", ["a", "s"], number("s", 1 << 20, 1 << 20)),
    "range": one("Range", ["b", "e", "d"], scalar("b", 0, np.float32), scalar("e", 1e12, np.float32), scalar("d", 0.5, np.float32)),
    "resize": one("Resize", ["a", "", "s"], number("s", 1e6, 1e6, dtype=np.float32)),
    "resize_sizes": one("Resize", ["a", "", "", "s"], number("s", 2, HUGE)),
    "pad": one("Pad", ["a", "s"], number("s", 0, HUGE, 0, 0)),
    "one_hot": model([node("Relu", ["x"], ["a"], "small"), node("OneHot", ["i", "d", "v"], ["y"], "large")], Y,
                     [number("i", 1, 2, 3), scalar("d", HUGE), number("v", 0, 1, dtype=np.float32)], X),
    "top_k": model([node("TopK", ["x", "k"], ["y", "i"], "large")], Y + [value("i", INT64, None)], [number("k", HUGE)], X),
    "eye": model([node("ConstantOfShape", ["s"], ["c"], "small"), node("EyeLike", ["c"], ["e"], "eye"),
                  node("Expand", ["e", "l"], ["y"], "large")], Y, [number("s", 10, 10), number("l", HUGE, 1, 1)]),
    "overflow": one("ConstantOfShape", ["s"], number("s", HUGE, HUGE, HUGE)),
    "product": model([node("MatMul", ["x", "v"], ["y"], "large")], Y, inputs=[value("x", FLOAT, 100000, 1), value("v", FLOAT, 1, 100000)]),
    "weight": model([node("Add", ["x", "w"], ["y"], "sum")], Y,
                    [helper.make_tensor("w", FLOAT, [1000], np.arange(1000, dtype=np.float32))], [value("x", FLOAT, 1)]),
    "input": model([node("Relu", ["x"], ["y"], "relu")], Y, inputs=[value("x", FLOAT, 1 << 20, 1 << 10)]),
    "loop_gathers": loop(True),
    "loop_grows": loop(False),
    "loop_trips": loop(True, condition=False),
    "fits": one("Expand", ["a", "s"], number("s", 1000, 2, 3)),
}
CASES["validation"] = CASES["expand"]
LIMITS = {"weight": "2K", "fits": "1Mi", "resize": "1G", "product": "10M"}


def main():
    for name, made in CASES.items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(made.SerializeToString(deterministic=True))
        words = "model.onnx -o out.onnx -q" if name == "validation" else "run model.onnx"
        (folder / "args").write_text(f"{words} --max-memory {LIMITS.get(name, '1M')}\n")


main()

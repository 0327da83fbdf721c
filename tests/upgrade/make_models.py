#!/usr/bin/env python3
"""Makes the cases of --opset and --io: for each a folder beside this script (or under the folder named as the argument) with
`args` and model.onnx. What the program must print and return is not made here: those files are reviewed (tests/run.sh).
Needs the onnx Python package (1.17) and numpy; same input, same bytes.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent


def value(name, dtype, *dims):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, initializers=(), opset=11, ir=6, domains=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset)] if opset else []
    imports += [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


# ---- models

WEIGHT = numpy_helper.from_array(np.array([[1, 0.5], [-2, 0.25], [4, 1]], np.float32), "w")
XY = [value("x", FLOAT, 2, 3)], [value("y", FLOAT, 2, 2)]


def layer(opset=11, ir=6):
    """A product and a softmax, which opset 13 defines otherwise."""
    return model([node("MatMul", ["x", "w"], ["p"], "product"), node("Softmax", ["p"], ["y"], "scores")], *XY, [WEIGHT],
                 opset, ir)


def casts():
    """A cast to the type that is there, and a way there and back that loses nothing."""
    return model([node("Cast", ["x"], ["a"], "same", to=FLOAT),
                  node("Cast", ["a"], ["b"], "up", to=TensorProto.DOUBLE),
                  node("Cast", ["b"], ["c"], "down", to=FLOAT),
                  node("MatMul", ["c", "w"], ["y"], "product")], *XY, [WEIGHT])


def per_activation():
    """A BatchNormalization-7 with statistics for every activation: opset 9 has no such thing."""
    vectors = [numpy_helper.from_array(np.ones((3, 2), np.float32), name) for name in "sbmv"]
    return model([node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], "norm", spatial=0)],
                 [value("x", FLOAT, 1, 3, 2)], [value("y", FLOAT, 1, 3, 2)], vectors, opset=8, ir=3)


def tile(axis=1):
    """Tile-1 has the axis and the count as inputs."""
    numbers = [numpy_helper.from_array(np.float32(number), name) for name, number in (("tiles", 2), ("axis", axis))]
    return model([node("Tile", ["x", "tiles", "axis"], ["y"], "tile")], [value("x", FLOAT, 2, 3)],
                 [value("y", FLOAT, 2, 6)], numbers, opset=5, ir=4)


def foreign():
    """No operator of ai.onnx and no opset of it."""
    return model([node("Mystery", ["x"], ["y"], "what", domain="example.org")], [value("x", FLOAT, 2)],
                 [value("y", FLOAT, 2)], opset=None, domains=["example.org"])


# ---- cases: name -> (model, args)

CASES = {
    "auto": (layer(), "-q --dump-after fold"),
    "keep": (layer(), "--opset keep --no-validate -v -o out.onnx"),
    "keep_fp16": (layer(), "--opset keep -d fp16 -q --dump-after fold"),
    "exact": (layer(), "--opset 22 -q --dump-after fold"),
    "exact_same": (layer(13, 7), "--opset 13 -q --dump-after fold"),
    "exact_below": (layer(), "--opset 10 -o out.onnx"),
    "exact_unreleased": (layer(), "--opset 99 -o out.onnx"),
    "exact_blocked": (per_activation(), "--opset 13 -o out.onnx"),
    "exact_foreign": (foreign(), "--opset 13 -o out.onnx"),
    "opset_word": (layer(), "--opset newest -o out.onnx"),
    "opset_zero": (layer(), "--opset 0 -o out.onnx"),
    "fp32": (layer(), "--dtype fp32 --opset 22"),
    "fp32_dump": (layer(), "--dtype fp32 --opset 22 --dump-after fold"),
    "fp32_casts": (casts(), "--dtype fp32 --opset 22 --dump-after fold"),
    "fp32_no_opset": (layer(), "--dtype fp32 -o out.onnx"),
    "fp32_keep": (layer(), "--dtype fp32 --opset keep -o out.onnx"),
    "fp32_rules": (layer(), "--dtype fp32 --opset 22 --op MatMul=lower -o out.onnx"),
    "tile": (tile(), "--dtype fp32 --opset 6 --dump-after fold"),
    "tile_far": (tile(axis=2), "--dtype fp32 --opset 6 -o out.onnx"),
}

for name, (proto, args) in CASES.items():
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(proto, folder / "model.onnx")
    (folder / "args").write_text(f"model.onnx {args}\n")

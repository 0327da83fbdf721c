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


def shifted():
    """A Resize-11 by coordinates that opset 13 has no more and no other way to say."""
    numbers = [numpy_helper.from_array(np.array(n, np.float32), name) for name, n in (("roi", []), ("scales", [1, 1, 2]))]
    return model([node("Resize", ["x", "roi", "scales"], ["y"], "resize", mode="linear",
                       coordinate_transformation_mode="tf_half_pixel_for_nn")],
                 [value("x", FLOAT, 1, 3, 2)], [value("y", FLOAT, 1, 3, 4)], numbers)


def unknown():
    """An operator that is none of opset 13, with the name of one of opset 20."""
    return model([node("Gelu", ["x"], ["g"], "gelu"), node("MatMul", ["g", "w"], ["y"], "product")], *XY, [WEIGHT], 13, 7)


def tile(axis=1):
    """Tile-1 has the axis and the count as inputs."""
    numbers = [numpy_helper.from_array(np.float32(number), name) for name, number in (("tiles", 2), ("axis", axis))]
    return model([node("Tile", ["x", "tiles", "axis"], ["y"], "tile")], [value("x", FLOAT, 2, 3)],
                 [value("y", FLOAT, 2, 6)], numbers, opset=5, ir=4)


def foreign():
    """No operator of ai.onnx and no opset of it."""
    return model([node("Mystery", ["x"], ["y"], "what", domain="example.org")], [value("x", FLOAT, 2)],
                 [value("y", FLOAT, 2)], opset=None, domains=["example.org"])


def many(opset=13, ir=7):
    """An input that is an output too and that both branches of an If give; one that only an unlisted integer operator takes; one
    with a default; an output that is consumed; one that is no float."""
    then = helper.make_graph([node("Identity", ["x"], ["t"], "then")], "yes", [], [value("t", FLOAT, 2, 3)])
    other = helper.make_graph([node("Neg", ["x"], ["e"], "else")], "no", [], [value("e", FLOAT, 2, 3)])
    nodes = [node("If", ["c"], ["i"], "if", then_branch=then, else_branch=other),
             node("Add", ["i", "d"], ["s"], "sum"),
             node("MatMul", ["s", "w"], ["p"], "product"),
             node("Relu", ["p"], ["y"], "relu"),
             node("Shape", ["n"], ["k"], "shape")]
    default = numpy_helper.from_array(np.ones((2, 3), np.float32), "d")
    return model(nodes, [value("c", BOOL), value("x", FLOAT, 2, 3), value("n", FLOAT, 4), value("d", FLOAT, 2, 3)],
                 [value("p", FLOAT, 2, 2), value("y", FLOAT, 2, 2), value("x", FLOAT, 2, 3), value("k", INT64, 1)],
                 [WEIGHT, default], opset, ir)


def cast_edges():
    """Casts at the edges that the lower interface makes needless."""
    return model([node("Cast", ["x"], ["a"], "down", to=TensorProto.BFLOAT16),
                  node("Cast", ["a"], ["b"], "up", to=FLOAT),
                  node("MatMul", ["b", "w"], ["p"], "product"),
                  node("Cast", ["p"], ["y"], "same", to=FLOAT)], *XY, [WEIGHT], 13, 7)


def casts_shared():
    """Two equal casts: the first loses its only consumer, another cast, before the second's is reached."""
    return model([node("Cast", ["x"], ["a"], "first", to=FLOAT),
                  node("Cast", ["x"], ["b"], "second", to=FLOAT),
                  node("Cast", ["a"], ["c"], "back", to=TensorProto.FLOAT16),
                  node("Relu", ["c"], ["z"], "relu"),
                  node("Exp", ["b"], ["y"], "exp")], [value("x", TensorProto.FLOAT16, 2, 3)],
                 [value("y", FLOAT, 2, 3), value("z", TensorProto.FLOAT16, 2, 3)], (), 13, 7)


# ---- cases: name -> (model, args)

CASES = {
    "auto": (layer(), "-q --dump-after fold"),
    "keep": (layer(), "--opset keep --no-validate -v -o out.onnx"),
    "keep_fp16": (layer(), "--opset keep -d fp16 -q --dump-after fold"),
    "exact": (layer(), "--opset 22 -q --dump-after fold"),
    "exact_same": (layer(13, 7), "--opset 13 -q --dump-after fold"),
    "exact_below": (layer(), "--opset 10 -o out.onnx"),
    "exact_unreleased": (layer(), "--opset 99 -o out.onnx"),
    "exact_blocked": (shifted(), "--opset 13 -o out.onnx"),
    "exact_unknown": (unknown(), "--opset 22 --no-validate -o out.onnx"),
    "unknown_below": (unknown(), "--opset 19 --no-validate -o out.onnx"),
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
    "io_lower": (layer(), "--io lower -q --dump-after fold"),
    "io_lower_report": (layer(), "--io lower -o out.onnx"),
    "io_lower_fp16": (layer(), "--io lower -d fp16 --opset keep -q --dump-after fold"),
    "io_input": (layer(), "--io x=lower -q --dump-after fold"),
    "io_output": (layer(), "--io y=lower -q --dump-after fold"),
    "io_later_wins": (layer(), "--io x=lower --io lower --io x=keep -q --dump-after fold"),
    "io_fp32_nodes": (layer(), "--io lower --op MatMul=fp32 -q --dump-after fold"),
    "io_many": (many(), "--io lower -q --dump-after fold"),
    "io_many_some": (many(), "--io p=lower --io y=lower -q --dump-after fold"),
    "io_casts": (cast_edges(), "--io lower -q --dump-after fold"),
    "casts_shared": (casts_shared(), "--op Exp=fp32 -d fp16 -q --dump-after fold"),
    "io_opset": (layer(), "--io lower --opset keep -o out.onnx"),
    "io_word": (layer(), "--io low -o out.onnx"),
    "io_word_of_one": (layer(), "--io x=bf16 -o out.onnx"),
    "io_unknown": (many(), "--io out=lower -o out.onnx"),
    "io_integer": (many(), "--io k=lower -o out.onnx"),
    "io_default": (many(), "--io d=lower -o out.onnx"),
    "fp32_io": (layer(), "--dtype fp32 --opset 22 --io lower -o out.onnx"),
}

for name, (proto, args) in CASES.items():
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(proto, folder / "model.onnx")
    (folder / "args").write_text(f"model.onnx {args}\n")

#!/usr/bin/env python3
"""Makes the models of the validation's tests, beside this script or in the folder named as the argument. Each shows one
thing that two models can do on the same inputs. Needs the onnx Python package (1.17) and numpy; same input, same bytes.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BFLOAT16 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BFLOAT16
node, value = helper.make_node, helper.make_tensor_value_info
root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent


def save(name, nodes, inputs, outputs, initializers=(), opset=17):
    tensors = [t if isinstance(t, onnx.TensorProto) else numpy_helper.from_array(np.array(t[1]), t[0]) for t in initializers]
    graph = helper.make_graph(nodes, name, inputs, outputs, tensors)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("example.org", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), root / f"{name}.onnx")


product = node("MatMul", ["x", "w"], ["product"], name="product")
weights = [("w", np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32))]
x, scores = value("x", FLOAT, ["n", 8]), value("scores", FLOAT, ["n", 4])

# Class scores, the class, and how many there are: a float output and two of integers.
save("classes", [product, node("Identity", ["product"], ["scores"]), node("ArgMax", ["product"], ["class"], axis=1, keepdims=0),
                 node("Shape", ["product"], ["shape"])], [x],
     [scores, value("class", INT64, ["n"]), value("shape", INT64, [2])], weights)

# The scores alone, in bfloat16 from input to output; and with an input more.
bits = (weights[0][1].view(np.uint32) + 0x8000 >> 16).astype(np.uint16)
half = onnx.TensorProto(name="w", dims=[8, 4], data_type=BFLOAT16, raw_data=bits.tobytes())
save("scores_bf16", [node("MatMul", ["x", "w"], ["scores"])], [value("x", BFLOAT16, ["n", 8])], [value("scores", BFLOAT16, ["n", 4])], [half])
save("scores", [node("MatMul", ["x", "w"], ["scores"])], [x], [scores], weights)
save("scores_scaled", [product, node("Mul", ["product", "scale"], ["scores"])], [x, value("scale", FLOAT, [1])], [scores], weights)

# 1e4 times 1e4 times what comes in: beyond float16, whose largest value is 65504.
save("overflow", [product, node("Mul", ["product", "large"], ["larger"]), node("Mul", ["larger", "large"], ["scores"])],
     [x], [scores], weights + [("large", np.float32(1e4))])

# The logarithm of a negative number: NaN in any type.
save("nan", [product, node("Abs", ["product"], ["positive"]), node("Neg", ["positive"], ["negative"]), node("Log", ["negative"], ["scores"])],
     [x], [scores], weights)

# Zeros throughout.
save("zeros", [product, node("Mul", ["product", "zero"], ["scores"])], [x], [scores], weights + [("zero", np.float32(0))])

# How many places are not zero after 256 was added and taken away: fewer in a type with few digits.
save("places", [node("Add", ["x", "large"], ["sum"]), node("Sub", ["sum", "large"], ["rest"]), node("NonZero", ["rest"], ["places"])],
     [x], [value("places", INT64, [2, "count"])], [("large", np.float32(256))])

# An operator without a kernel.
save("mystery", [product, node("Mystery", ["product"], ["scores"], domain="example.org", name="what")], [x], [scores], weights)

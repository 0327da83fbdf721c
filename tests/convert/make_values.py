#!/usr/bin/env python3
"""Makes the models whose values, names, declarations or imports are out of the ordinary; cases.py says what a case is."""
from onnx import TensorProto, helper

from cases import DUMP, case

REPORT = "model.onnx --no-validate -o out.onnx"
chain = """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        b = Relu(a)
        y = MatMul(b, w)
    }"""

# ---- order and use


def reverse(graph):
    """The nodes of the graph and of its bodies in the opposite order."""
    nodes = list(graph.node)[::-1]
    del graph.node[:]
    graph.node.extend(nodes)
    for node in graph.node:
        for attribute in node.attribute:
            reverse(attribute.g)


case("unsorted_report", "nodes out of order in the file: the report says that they were put in order", chain,
     lambda model: reverse(model.graph), args=REPORT)

case("unsorted_bodies", "nodes out of order in a body, and a captured value that is made behind it", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        b = If (c) <
            then_branch = t () => (float[2,4] p) { r = MatMul(a, w)  p = Relu(r) },
            else_branch = e () => (float[2,4] q) { s = Neg(a)  q = Celu(s) }
        >
        y = Relu(b)
    }""", lambda model: reverse(model.graph), inputs={"c": True}, variants={"report": REPORT})

case("dead_nodes", "nodes that nothing uses are converted like others and stay, in bodies too", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w, float[4,4] u> {
        dead = MatMul(x, u)
        dead_too = Softmax(dead)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { dead_there = MatMul(x, u)  p = MatMul(x, w) },
            else_branch = e () => (float[2,4] q) <float[4] k> { q = Relu(x) }
        >
    }""", inputs={"c": True})

case("output_twice_used", "an output that lowered and float32 nodes and a body use as well", """
    g (float[4,4] x, bool c) => (float[4,4] h, float[4,4] y, float[4,4] z, float[4,4] v) <float[4,4] w> {
        h = MatMul(x, w)
        y = MatMul(h, h)
        z = Celu(h)
        v = If (c) <
            then_branch = t () => (float[4,4] p) { p = MatMul(h, w) },
            else_branch = e () => (float[4,4] q) { q = Celu(h) }
        >
    }""", inputs={"c": True})

case("weights_only", "no nodes, no inputs: weights alone", "g () => (float[2,2] w) <float[2,2] w> {}")

case("input_default_output", "a graph input with a value of its own that is a graph output too, and a weight of a lowered node", """
    g (float[2,4] x, float[4,4] w) => (float[4,4] w, float[2,4] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""", ir=8)

# ---- declarations


def declare(*infos):
    return lambda model: model.graph.value_info.extend(helper.make_tensor_value_info(*info) for info in infos)


FLOAT = TensorProto.FLOAT
case("declared_stale", "declarations of values that are no longer there, and of a graph input and output, go", chain,
     declare(("gone", FLOAT, [2, 4]), ("x", FLOAT, [2, 4]), ("a", FLOAT, [2, 4]), ("y", FLOAT, [2, 4])))
case("declared_wrong_type", "a value declared with another type than its operator gives has the operator's", chain,
     declare(("a", TensorProto.FLOAT16, [2, 4]), ("b", TensorProto.INT64, [2, 4])))
case("declared_wrong_shape", "a value declared with another shape than its operator gives has the operator's", chain,
     declare(("a", FLOAT, [2, 5]), ("b", FLOAT, [2, 4, 1])))
case("declared_wrong_output", "a graph output declared with another shape than its operator gives has the operator's", """
    g (float[2,4] x) => (float[2,5] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""")
case("declared_twice", "a value declared twice", chain, declare(("a", FLOAT, [2, 4]), ("a", FLOAT, [2, 4])))
case("declared_in_part", "declarations without a shape, with unknown dims, and with a weight's own shape", chain,
     declare(("a", FLOAT, None), ("b", FLOAT, ["n", None]), ("w", FLOAT, [4, 4])))

# ---- imports


def imports(*pairs):
    def edit(model):
        del model.opset_import[:]
        model.opset_import.extend(helper.make_opsetid(*pair) for pair in pairs)
    return edit


case("opset_twice", "an opset imported twice, in the same version: both are raised", chain, imports(("", 11), ("ai.onnx", 11)), opset=11, ir=6)
case("opset_twice_other", "an opset imported twice, in different versions: the last holds, as for ONNX's checker and ONNX Runtime", """
    g (float[1,2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = Squeeze<axes = [0]>(x)
        y = MatMul(a, w)
    }""", imports(("", 13), ("", 11)), opset=11, ir=6, variants={"fp16": DUMP + " -d fp16"})
case("opset_unused", "opsets that nothing uses, known and unknown, stay imported as they are", chain,
     imports(("", 11), ("ai.onnx.ml", 2), ("com.microsoft", 1), ("unheard.of", 7)), opset=11, ir=6)

# ---- names

case("names_taken_body", "names that we would make, taken in a body, where they must not hide ours from outside", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        y = If (c) <
            then_branch = t () => (float[2,4] p) { x_bf16 = Neg(x)  x_fp16 = MatMul(x, w)  p = Add(x_bf16, x_fp16) },
            else_branch = e () => (float[2,4] q) <float[4,4] w_bf16> { r = MatMul(x, w_bf16)  s = Celu(w)  z = MatMul(r, s)  q = MatMul(z, w) }
        >
    }""", inputs={"c": True})

case("io_near", "an unknown name of an input: the nearest is said", """
    g (float[2,4] pixels) => (float[2,4] scores) <float[4,4] w> {
        scores = MatMul(pixels, w)
    }""", args="model.onnx -o out.onnx --io pixel=lower")

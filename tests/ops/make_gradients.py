#!/usr/bin/env python3
"""Makes gradients/ and gradients_refused/: Gradient of ai.onnx.preview.training, in the layout of ONNX's backend tests.

Expected outputs are difference quotients in float64 of what ONNX's reference evaluator computes. What is said of gradients_refused/
is in gradients_refused.txt. Needs onnx and numpy. Run it in this folder; the same versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(3)
FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
TRAINING = "ai.onnx.preview.training"


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def quotients(graph, opset, values, name):
    """The derivative of the sum of y by the tensor NAME, at VALUES."""
    graph = onnx.GraphProto.FromString(graph.SerializeToString())
    for info in list(graph.input) + list(graph.output):
        if info.type.tensor_type.elem_type == FLOAT:
            info.type.tensor_type.elem_type = DOUBLE
    evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]))
    values = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in values.items()}

    def total(at, change):
        moved = dict(values)
        moved[name] = values[name].copy()
        moved[name][at] += change
        return evaluator.run(None, moved)[0].sum()

    step, found = 1e-5, np.zeros_like(values[name])
    for at in np.ndindex(found.shape):
        found[at] = (total(at, step) - total(at, -step)) / (2 * step)
    return found


def tensors(folder, kind, arrays):
    for i, (name, value) in enumerate(arrays):
        with open(f"{folder}/{kind}_{i}.pb", "wb") as file:
            file.write(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def save(folder, name, nodes, values, xs, zs=(), at=None, opset=20, dtype=np.float32, expected=None, gradient=None):
    """Nodes from the tensors VALUES to y, derived by XS, at the values AT where they are other ones."""
    values = {k: np.asarray(v, dtype if np.asarray(v).dtype.kind == "f" else None) for k, v in values.items()}
    type_of = lambda v: helper.np_dtype_to_tensor_dtype(v.dtype)
    inputs = [helper.make_tensor_value_info(k, type_of(v), v.shape) for k, v in values.items()]
    plain = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", type_of(values[xs[0]]), None)])
    at = {k: np.asarray(v, values[k].dtype) for k, v in (at or {}).items()}
    points = [f"at_{k}" if k in at else k for k in (*xs, *zs)]
    inputs += [helper.make_tensor_value_info(f"at_{k}", type_of(v), v.shape) for k, v in at.items()]
    last = gradient or helper.make_node("Gradient", points, [f"d{x}" for x in xs], domain=TRAINING, xs=list(xs), y="y",
                                        **({"zs": list(zs)} if zs else {}))
    outputs = [helper.make_tensor_value_info(o, type_of(values[xs[0]]), None) for o in last.output]
    graph = helper.make_graph([*nodes, last], "g", inputs, outputs)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), f"{folder}/{name}/model.onnx")
    tensors(data, "input", [*values.items(), *((f"at_{k}", v) for k, v in at.items())])
    if folder == "gradients":
        found = expected or [quotients(plain, opset, {**values, **at}, x) for x in xs]
        tensors(data, "output", [(f"d{x}", f.astype(dtype)) for x, f in zip(xs, found)])


def case(name, nodes, *arguments, **options):
    save("gradients", name, nodes, *arguments, **options)


def refuse(name, nodes, *arguments, **options):
    save("gradients_refused", name, nodes, *arguments, **options)


def away(*shape):
    """Values of both signs, none of them near 0."""
    return rng.uniform(0.3, 1.5, shape) * rng.choice([-1, 1], shape)


def make_operators():
    for op in ("Abs", "Cos", "Erf", "Exp", "Identity", "Neg", "Reciprocal", "Relu", "Sigmoid", "Sin", "Softplus", "Tanh"):
        case(op.lower(), [node(op, "a", "y")], {"a": away(2, 3)}, ["a"])
    for op in ("Log", "Sqrt"):
        case(op.lower(), [node(op, "a", "y")], {"a": rng.uniform(0.5, 2, (2, 3))}, ["a"])
    for op in ("Add", "Sub", "Mul", "Div"):
        for name, a, b in (("same", (2, 3), (2, 3)), ("row", (2, 3), (3,)), ("scalar", (), (2, 3)), ("both", (3, 1, 2), (4, 1)),
                           ("rank", (1, 2), (2, 1, 2))):
            case(f"{op.lower()}_{name}", [node(op, "a b", "y")], {"a": away(*a), "b": away(*b)}, ["a", "b"])
    case("mul_twice", [node("Mul", "a a", "y")], {"a": away(4)}, ["a"])
    case("mul_double", [node("Mul", "a b", "y")], {"a": away(2, 2), "b": away(2)}, ["a", "b"], dtype=np.float64)
    case("pow", [node("Pow", "a b", "y")], {"a": rng.uniform(0.5, 2, (2, 3)), "b": away(3)}, ["a", "b"])
    case("pow_constant", [node("Constant", "", "two", value=numpy_helper.from_array(np.int64(3))), node("Pow", "a two", "y")],
         {"a": away(5)}, ["a"])
    case("pow_at_0", [node("Pow", "a b", "y")], {"a": [0.0, 0, 0], "b": [0.0, 1, 2]}, ["a"], expected=[np.array([0.0, 1, 0])])
    case("relu_at_0", [node("Relu", "a", "y")], {"a": [0.0, -1, 1]}, ["a"], expected=[np.array([0.0, 0, 1])])
    case("sum", [node("Sum", "a b a", "y")], {"a": away(2, 1), "b": away(3)}, ["a", "b"])
    case("where", [node("Where", "c a b", "y")], {"c": np.array([True, False, True]), "a": away(2, 3), "b": away(1)}, ["a", "b"])
    case("cast", [node("Cast", "a", "d", to=DOUBLE), node("Mul", "d d", "e"), node("Cast", "e", "y", to=FLOAT)], {"a": [1.5, -2.0]}, ["a"],
         expected=[np.array([3.0, -4.0])])
    for name, a, b in (("matrices", (2, 3), (3, 4)), ("batch", (2, 2, 3), (3, 4)), ("batches", (2, 1, 2, 3), (3, 3, 2)),
                       ("vector_matrix", (3,), (2, 3, 4)), ("matrix_vector", (2, 2, 3), (3,)), ("vectors", (3,), (3,))):
        case(f"matmul_{name}", [node("MatMul", "a b", "m"), node("Mul", "m m", "y")], {"a": away(*a), "b": away(*b)}, ["a", "b"])
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            gemm = node("Gemm", "a b c", "m", transA=trans_a, transB=trans_b, alpha=0.5, beta=2.0)
            case(f"gemm_{trans_a}{trans_b}", [gemm, node("Mul", "m m", "y")],
                 {"a": away(*((3, 2) if trans_a else (2, 3))), "b": away(*((4, 3) if trans_b else (3, 4))), "c": away(4)}, ["a", "b", "c"])


def make_shapes():
    axes = lambda *v: node("Constant", "", "axes", value=numpy_helper.from_array(np.array(v, np.int64)))
    a = {"a": away(2, 3, 4)}
    square = node("Mul", "r r", "y")
    for op in ("ReduceSum", "ReduceMean"):
        for keep in (0, 1):
            case(f"{op.lower()}_{keep}", [axes(0, -1), node(op, "a axes", "r", keepdims=keep), square], a, ["a"])
            case(f"{op.lower()}_all_{keep}", [node(op, "a", "r", keepdims=keep), square], a, ["a"])
            case(f"{op.lower()}_11_{keep}", [node(op, "a", "r", keepdims=keep, axes=[1]), square], a, ["a"], opset=11)
    case("reducesum_none", [axes(), node("ReduceSum", "a axes", "r", keepdims=0, noop_with_empty_axes=1), square], a, ["a"])
    case("reducemean_scalar", [node("ReduceMean", "a", "r", keepdims=0), square], {"a": away()}, ["a"])
    case("transpose", [node("Transpose", "a", "t", perm=[2, 0, 1]), node("Mul", "t w", "y")], {**a, "w": away(4, 2, 3)}, ["a"])
    case("transpose_reverse", [node("Transpose", "a", "t"), node("Mul", "t w", "y")], {**a, "w": away(4, 3, 2)}, ["a"])
    case("reshape", [axes(6, -1), node("Reshape", "a axes", "r"), node("Mul", "r w", "y")], {**a, "w": away(4)}, ["a", "w"])
    case("flatten", [node("Flatten", "a", "r"), square], a, ["a"])
    case("unsqueeze", [axes(1), node("Unsqueeze", "a axes", "r"), square], a, ["a"])
    case("squeeze", [axes(1), node("Squeeze", "a axes", "r"), square], {"a": away(2, 1, 3)}, ["a"])
    case("expand", [axes(2, 3, 2), node("Expand", "a axes", "r"), square], {"a": away(3, 1)}, ["a"])
    case("empty", [node("Add", "a b", "s"), node("Mul", "s s", "y")], {"a": np.zeros((0, 3)), "b": away(3)}, ["a", "b"])


def make_graphs():
    chain = [node("Mul", "a b", "c"), node("Exp", "c", "e"), node("Add", "e a", "y")]
    values = {"a": away(2, 2), "b": away(2)}
    case("chain", chain, values, ["a", "b"])
    case("chain_other_point", chain, values, ["a", "b"], at={"a": away(2, 2), "b": away(2)})
    case("chain_one_other_point", chain, values, ["a"], zs=["b"], at={"b": away(2)})
    case("other_shape", [node("Add", "a b", "y")], {"a": away(3), "b": away(3)}, ["a", "b"], at={"a": away(2, 3)})
    case("inner", chain, values, ["a"], expected=[np.exp(values["a"] * values["b"])],
         gradient=helper.make_node("Gradient", ["c"], ["da"], domain=TRAINING, xs=["c"], y="y"))
    case("unrelated", [node("Mul", "b b", "y")], values, ["a", "b"])
    case("diamond", [node("Sigmoid", "a", "s"), node("Mul", "s a", "u"), node("Sub", "s u", "v"), node("Mul", "u v", "y")], {"a": away(5)},
         ["a"])
    case("integers_between", [node("Shape", "a", "n"), node("CastLike", "n a", "f"), node("ReduceSum", "f", "k"), node("Mul", "a k", "y")],
         {"a": away(2, 3)}, ["a"])


def make_nested():
    """A gradient of a gradient, and steps of gradient descent in the body of a Loop."""
    derive = lambda x, y, out: helper.make_node("Gradient", [x], [out], domain=TRAINING, xs=[x], y=y)
    a = np.array([0.5, -2.0])
    case("second", [node("Mul", "a a", "s"), node("Mul", "s a", "y"), derive("a", "y", "d")], {"a": a}, ["a"], expected=[6 * a],
         gradient=derive("a", "d", "da"))
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Mul", "w w", "v"), derive("w", "v", "dw"), node("Mul", "dw rate", "step"), node("Sub", "w step", "next"),
         node("Identity", "on", "still")], "body",
        [info("i", TensorProto.INT64, []), info("on", TensorProto.BOOL, []), info("w", FLOAT, [2])],
        [info("still", TensorProto.BOOL, []), info("next", FLOAT, [2])])
    case("descent", [node("Constant", "", "n", value=numpy_helper.from_array(np.int64(3))), helper.make_node("Loop", ["n", "", "a"], ["y"], body=body)],
         {"a": a, "rate": 0.25}, ["a"], expected=[a / 8], gradient=node("Identity", "y", "da"))


def make_refused():
    a = {"a": away(1, 1, 4, 4)}
    gradient = lambda **k: helper.make_node("Gradient", ["a"], ["da"], domain=TRAINING, **k)
    refuse("operator", [node("MaxPool", "a", "y", kernel_shape=[2, 2], name="pool")], a, ["a"])
    refuse("no_y", [node("Exp", "a", "y")], a, ["a"], gradient=gradient(xs=["a"]))
    refuse("no_xs", [node("Exp", "a", "y")], a, ["a"], gradient=gradient(y="y"))
    refuse("unknown_y", [node("Exp", "a", "y")], a, ["a"], gradient=gradient(xs=["a"], y="z"))
    refuse("unknown_x", [node("Exp", "a", "y")], a, ["a"], gradient=gradient(xs=["b"], y="y"))
    refuse("counts", [node("Exp", "a", "y")], a, ["a"], gradient=gradient(xs=["a"], zs=["a"], y="y"))
    refuse("twice", [node("Exp", "a", "y")], a, ["a"], gradient=helper.make_node(
        "Gradient", ["a", "a"], ["da"], domain=TRAINING, xs=["a"], zs=["a"], y="y"))
    branch = helper.make_graph([node("Exp", "a", "z")], "branch", [], [helper.make_tensor_value_info("z", FLOAT, None)])
    refuse("body", [node("If", "c", "y", then_branch=branch, else_branch=branch, name="choice")], {**a, "c": np.array(True)}, ["a"])
    refuse("integer", [node("Cast", "b", "f", to=FLOAT), node("Mul", "f a", "y")], {**a, "b": np.int64([1])}, ["a"],
           gradient=helper.make_node("Gradient", ["b"], ["da"], domain=TRAINING, xs=["b"], y="y"))


for folder in ("gradients", "gradients_refused"):
    shutil.rmtree(folder, ignore_errors=True)
for make in (make_operators, make_shapes, make_graphs, make_nested, make_refused):
    make()

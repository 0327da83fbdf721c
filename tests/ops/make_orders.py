#!/usr/bin/env python3
"""Makes orders/: graphs in which tensors lie in another order than row by row on their way, in the layout of ONNX's backend tests:
Transpose before and after matrix products, convolutions, elementwise operators and other Transposes, with takers of every kind.

Expected outputs are computed by NumPy (convolutions: PyTorch) in float64 from the inputs as stored, and rounded once to the dtype of the
output. Needs onnx, numpy and torch. Run it in this folder; the same versions give the same bytes.
"""
import os
import random
import shutil

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

random.seed(7)
rng = np.random.default_rng(7)
TYPES = {"f32": TensorProto.FLOAT, "bf16": TensorProto.BFLOAT16, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE,
         "i32": TensorProto.INT32, "i64": TensorProto.INT64}
TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}


def stored(value, dtype):
    """VALUE as DTYPE holds it, and its bytes."""
    if dtype in ("i32", "i64"):
        array = np.asarray(value).astype(np.int32 if dtype == "i32" else np.int64)
        return array, array.tobytes()
    rounded = torch.tensor(np.ascontiguousarray(value), dtype=torch.float64).to(TORCH[dtype])
    raw = rounded.view(torch.int16) if dtype in ("bf16", "f16") else rounded
    return rounded.double().numpy(), raw.numpy().tobytes()


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def lrn(x, size, alpha):
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        first = max(0, c - (size - 1) // 2)
        y[:, c] = x[:, c] / (1 + alpha / size * np.square(x[:, first:c + size // 2 + 1]).sum(1)) ** 0.75
    return y


OPS = {
    "LRN": lrn,
    "MatMul": np.matmul, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "PRelu": lambda x, s: np.where(x < 0, s * x, x),
    "Div": np.divide, "Max": np.maximum, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True), "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0),
    "Transpose": lambda x, perm=None: np.transpose(x, perm),
    "Gemm": lambda a, b, transA=0, transB=0: (a.T if transA else a) @ (b.T if transB else b),
    "Softmax": lambda x, axis: softmax(x), "Reshape": lambda x, shape: x.reshape(shape), "Identity": lambda x: x,
    "Concat": lambda *x, axis: np.concatenate(x, axis),
    "Conv": lambda x, w, **a: torch.conv2d(torch.tensor(x.copy()), torch.tensor(w.copy())).numpy(),
}


def case(name, dtype, inputs, nodes, outputs, constants=(), opset=17):
    """INPUTS: name to values. NODES: (op, input names, output name, attributes). CONSTANTS: inputs that are initializers."""
    values, tensors = {}, {}
    for key, value in inputs.items():
        kind = "i64" if np.asarray(value).dtype == np.int64 else dtype
        values[key], raw = stored(value, kind)
        tensors[key] = helper.make_tensor(key, TYPES[kind], values[key].shape, raw, raw=True)
    made = []
    for op, names, output, attributes in nodes:
        given = [values[n] for n in names]
        if op == "Split":
            values.update(zip(output, np.split(*given, len(output), attributes["axis"])))
        else:
            values[output] = OPS[op](*given, **attributes)
        made.append(helper.make_node(op, names, output if op == "Split" else [output], **attributes))
    given = [t for k, t in tensors.items() if k not in constants]
    graph = helper.make_graph(made, "g", [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in given],
                              [helper.make_tensor_value_info(o, TYPES[dtype], None) for o in outputs],
                              [tensors[k] for k in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 22 else 10)
    data = f"orders/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"orders/{name}/model.onnx")
    for i, tensor in enumerate(given):
        write(f"{data}/input_{i}.pb", tensor)
    for i, output in enumerate(outputs):
        value, raw = stored(values[output], dtype)
        write(f"{data}/output_{i}.pb", helper.make_tensor(output, TYPES[dtype], value.shape, raw, raw=True))


def write(path, tensor):
    with open(path, "wb") as file:
        file.write(tensor.SerializeToString())


def normal(*shape):
    return rng.standard_normal(shape) / 4


def whole(*shape):
    return rng.integers(-9, 10, shape).astype(float)


def transpose(source, target, *perm):
    return ("Transpose", [source], target, {"perm": list(perm)} if perm else {})


def attention(name, batch, heads, length, size, dtype="f32", masked=True):
    shape = (batch, length, heads, size)
    nodes = [transpose("q", "qt", 0, 2, 1, 3), transpose("k", "kt", 0, 2, 3, 1), transpose("v", "vt", 0, 2, 1, 3),
             ("MatMul", ["qt", "kt"], "s", {}), ("Mul", ["s", "scale"], "scaled", {})]
    if masked:
        nodes.append(("Add", ["scaled", "mask"], "added", {}))
    nodes += [("Softmax", ["added" if masked else "scaled"], "p", {"axis": -1}), ("MatMul", ["p", "vt"], "o", {}),
              transpose("o", "ot", 0, 2, 1, 3), ("Reshape", ["ot", "shape"], "y", {})]
    inputs = {"q": normal(*shape), "k": normal(*shape), "v": normal(*shape), "scale": np.array(size ** -0.5),
              "shape": np.array([batch, length, heads * size])}
    if masked:
        inputs["mask"] = np.where(rng.random((batch, 1, 1, length)) < 0.2, -1e4, 0.0)
    case(name, dtype, inputs, nodes, ["y"], ["scale", "shape"])


def attentions():
    attention("attention", 1, 3, 8, 16)
    attention("attention_batch", 2, 4, 17, 8)
    attention("attention_plain", 2, 2, 33, 5, masked=False)
    attention("attention_one_head", 2, 1, 6, 8)
    attention("attention_float64", 2, 3, 5, 4, "f64")


def shuffled(rank, keeps_last):
    perm = list(range(rank - keeps_last))
    random.shuffle(perm)
    return perm + [rank - 1] * keeps_last


def products():
    """Both operands and the product through random Transposes, batches of 0 to 3 dims, some broadcast."""
    for i in range(40):
        dtype = random.choice(["f32", "f32", "f32", "bf16", "f16", "f64", "i32"])
        batch = [random.choice([1, 2, 3]) for _ in range(random.choice([0, 1, 1, 2, 2, 3]))]
        m, k, n = (random.choice([1, 4, 7, 16, 33]) for _ in range(3))
        make = whole if dtype == "i32" else normal
        nodes, inputs = [], {}
        for key, rows, columns in (("a", m, k), ("b", k, n)):
            shape = [1 if random.random() < 0.2 else d for d in batch] + [rows, columns]
            perm = shuffled(len(shape), random.random() < 0.5)
            inputs[key] = make(*[shape[d] for d in perm])
            nodes.append(transpose(key, key + "t", *np.argsort(perm).tolist()))
        nodes.append(("MatMul", ["at", "bt"], "p", {}))
        rank = max(len(inputs["a"].shape), len(inputs["b"].shape))
        nodes.append(transpose("p", "y", *shuffled(rank, random.random() < 0.7)))
        case(f"product_{i:02}_{dtype}", dtype, inputs, nodes, ["y"], ["b"] if random.random() < 0.3 else [])


def posts():
    x, w, bias = normal(2, 6, 8), normal(8, 8), normal(8)
    case("bias_and_tanh_before_transpose", "f32", {"x": x, "w": w, "bias": bias},
         [("MatMul", ["x", "w"], "p", {}), ("Add", ["p", "bias"], "s", {}), ("Tanh", ["s"], "t", {}), transpose("t", "y", 1, 0, 2)],
         ["y"], ["w", "bias"])
    case("batch_bias_before_transpose", "f32", {"x": x, "w": normal(2, 8, 8), "bias": bias},
         [("MatMul", ["x", "w"], "p", {}), ("Add", ["p", "bias"], "s", {}), transpose("s", "y", 1, 0, 2)], ["y"], ["bias"])
    case("relu_before_transpose", "f32", {"x": x, "w": normal(2, 8, 5)},
         [("MatMul", ["x", "w"], "p", {}), ("Relu", ["p"], "s", {}), transpose("s", "y", 1, 0, 2)], ["y"])
    case("transposed_operand_of_add", "f32", {"x": x, "w": w, "z": normal(8, 2, 6)},
         [transpose("z", "zt", 1, 2, 0), ("MatMul", ["x", "w"], "p", {}), ("Add", ["p", "zt"], "y", {})], ["y"], ["w"])
    case("transposed_broadcast_operand", "f32", {"x": normal(2, 3, 4, 5), "w": normal(5, 5), "z": normal(4, 1, 5)},
         [transpose("z", "zt", 1, 0, 2), ("MatMul", ["x", "w"], "p", {}), ("Mul", ["p", "zt"], "y", {})], ["y"], ["w"])


def takers():
    x = normal(3, 4, 5)
    case("taken_by_all_kinds", "f32", {"x": x, "w": normal(3, 4, 6), "one": np.array(0.5)},
         [transpose("x", "t", 0, 2, 1), ("MatMul", ["t", "w"], "y0", {}), ("Softmax", ["t"], "y1", {"axis": -1}),
          ("Mul", ["t", "one"], "y2", {}), transpose("t", "y3", 2, 1, 0), ("Identity", ["t"], "y4", {})],
         ["y0", "y1", "y2", "y3", "y4"], ["one"])
    case("output_and_taken", "f32", {"x": x, "w": normal(3, 4, 6)},
         [transpose("x", "y0", 0, 2, 1), ("MatMul", ["y0", "w"], "y1", {})], ["y0", "y1"])
    case("scaled_on_the_way", "f32", {"x": x, "w": normal(3, 4, 6), "two": np.array([2.0])},
         [transpose("x", "t", 0, 2, 1), ("Mul", ["t", "two"], "s", {}), ("Relu", ["s"], "r", {}), ("MatMul", ["r", "w"], "y", {})],
         ["y"], ["two"])
    case("twice_transposed", "f32", {"x": normal(2, 3, 4, 5), "w": normal(2, 5, 3, 7)},
         [transpose("x", "t", 0, 2, 1, 3), transpose("t", "u", 0, 3, 2, 1), transpose("u", "v", 0, 1, 3, 2),
          ("MatMul", ["v", "w"], "y", {})], ["y"])
    case("reversed", "f32", {"x": normal(4, 3), "w": normal(4, 5)}, [transpose("x", "t"), ("MatMul", ["t", "w"], "y", {})], ["y"])
    case("there_and_back", "f32", {"x": x, "w": normal(3, 5, 2)},
         [transpose("x", "t", 1, 2, 0), transpose("t", "u", 2, 0, 1), ("MatMul", ["u", "w"], "y", {})], ["y"])
    case("concat", "f32", {"x": x, "z": normal(3, 2, 5)},
         [transpose("x", "t", 2, 1, 0), transpose("z", "u", 2, 1, 0), ("Concat", ["t", "u"], "y", {"axis": 1})], ["y"])
    for a in (0, 1):
        for b in (0, 1):
            case(f"gemm_{a}{b}", "f32", {"a": normal(*((4, 6) if a else (6, 4))), "b": normal(*((5, 4) if not b else (4, 5)))},
                 [transpose("a", "at", 1, 0), transpose("b", "bt", 1, 0),
                  ("Gemm", ["at", "bt"], "y", {"transA": 1 - a, "transB": b})], ["y"])
    case("vector", "f32", {"x": normal(3, 4, 5), "v": normal(4)},
         [transpose("x", "t", 0, 2, 1), ("MatMul", ["t", "v"], "y", {})], ["y"])
    case("integers", "i32", {"x": whole(3, 4, 5), "w": whole(3, 4, 2)},
         [transpose("x", "t", 0, 2, 1), ("MatMul", ["t", "w"], "p", {}), transpose("p", "y", 1, 0, 2)], ["y"])


def convolutions():
    x, w, k = normal(2, 32, 9, 7), normal(32, 32, 3, 3), normal(16, 32, 1, 1)
    case("conv_transposed_product", "f32", {"x": x, "w": w, "b": normal(2, 7, 32, 4)},
         [("Conv", ["x", "w"], "c", {}), transpose("c", "t", 0, 2, 3, 1), ("MatMul", ["t", "b"], "y", {})], ["y"], ["w"])
    # Two in a row: of few binary digits, so that all sums are exact in whatever order they are taken.
    x_last, w_exact, k_exact = (np.round(q * a) / q for q, a in ((4, normal(2, 9, 7, 32)), (32, w), (32, k)))
    case("channels_last_conv", "f32", {"x": x_last, "w": w_exact, "k": k_exact},
         [transpose("x", "t", 0, 3, 1, 2), ("Conv", ["t", "w"], "c", {}), ("Relu", ["c"], "r", {}), ("Conv", ["r", "k"], "d", {}),
          transpose("d", "y", 0, 2, 3, 1)], ["y"], ["w", "k"])
    case("transposed_between_convs", "f32", {"x": x, "w": w, "k": k},
         [("Conv", ["x", "w"], "c", {}), transpose("c", "t", 0, 1, 3, 2), ("Relu", ["t"], "r", {}), ("Conv", ["r", "k"], "y", {})],
         ["y"], ["w", "k"])
    case("conv_is_output_and_transposed", "f32", {"x": x, "w": w},
         [("Conv", ["x", "w"], "y0", {}), transpose("y0", "y1", 0, 2, 3, 1)], ["y0", "y1"], ["w"])


def conv(source, weights, target):
    return ("Conv", [source, weights], target, {})


# What is broadcast to a tensor [N, C, H, W]; -1: all of that dim.
SHAPES = [(-1, 1, 1), (1, -1, 1, 1), (1,), (), (-1, -1, 1, 1), (-1,), (-1, 1), (-1, 1, -1), (-1, 1, 1, 1), (-1, -1, -1), (-1, -1, 1, -1),
          (-1, -1, -1, -1), (1, 1, 1, 1), (1, -1, -1), (-1, 1, -1, -1)]


def broadcasts():
    """Elementwise operators between convolutions, with operands of every shape that broadcasts to what a convolution gives; of whole
    numbers in lower dtypes, which hold what goes between them exactly."""
    for i in range(60):
        dtype = random.choice(["f32", "f32", "f32", "bf16", "f16"])
        batch, channels, height, width = random.choice([1, 2]), random.choice([3, 16, 20, 32, 64]), random.choice([1, 5]), random.choice([4, 9])
        full = (batch, channels, height, width)
        shape = SHAPES[i % len(SHAPES)]
        operand = [full[len(full) - len(shape) + d] if n < 0 else n for d, n in enumerate(shape)]
        op = random.choice(["Add", "Mul", "Sub", "Div", "PRelu", "Max"])
        pair = ["c", "z"] if op in ("PRelu", "Div") or random.random() < 0.7 else ["z", "c"]
        make = normal if dtype == "f32" else lambda *shape: rng.integers(-2, 3, shape).astype(float)
        inputs = {"x": make(batch, 16, height, width), "w": make(channels, 16, 1, 1), "k": make(16, channels, 1, 1),
                  "z": rng.choice([-4, -2, -1, -0.5, 0.5, 1, 2, 4], operand)}
        nodes = [conv("x", "w", "c"), (op, pair, "t", {}), conv("t", "k", "y0")]
        case(f"broadcast_{i:02}_{dtype}", dtype, inputs, nodes, random.choice([["y0"], ["y0", "t"]]),
             ["w", "k"] + random.choice([[], ["z"]]), opset=22)


def gates():
    """Channels times what a small network makes of their means."""
    for dtype in "f32", "f16":
        for channels in 32, 24:
            inputs = {"x": normal(2, 16, 6, 5), "w": normal(channels, 16, 1, 1), "a": normal(16, channels, 1, 1),
                      "b": normal(channels, 16, 1, 1), "k": normal(16, channels, 1, 1)}
            nodes = [conv("x", "w", "c"), ("GlobalAveragePool", ["c"], "m", {}), conv("m", "a", "p"), ("Relu", ["p"], "r", {}),
                     conv("r", "b", "q"), ("Sigmoid", ["q"], "s", {}), ("Mul", ["c", "s"], "t", {}), conv("t", "k", "y")]
            case(f"gate_{channels}_{dtype}", dtype, inputs, nodes, ["y"], ["w", "a", "b", "k"], opset=22)


def parts():
    """Parts of a tensor that go different ways, some of which change them where they lie."""
    for axis in 0, 1:
        for dtype in "f32", "bf16", "i64":
            x = rng.integers(-9, 10, (6, 4, 3)).astype(float)
            case(f"parts_{axis}_{dtype}", dtype, {"x": x},
                 [("Add", ["x", "x"], "t", {}), ("Split", ["t"], ["a", "b"], {"axis": axis}), ("Mul", ["b", "b"], "y0", {}),
                  ("Add", ["a", "a"], "c", {}), ("Sub", ["c", "y0"], "y1", {})], ["y0", "y1"])


def local_norms():
    """Before a convolution, in lower dtypes of what these hold exactly."""
    for dtype in "f32", "bf16", "f16":
        for channels, size in (32, 5), (32, 4), (20, 3):
            make = normal if dtype == "f32" else lambda *shape: rng.integers(-2, 3, shape).astype(float)
            nodes = [conv("x", "w", "c"), ("LRN", ["c"], "y0", {"size": size, "alpha": 0.5})]
            if dtype == "f32":
                nodes.append(conv("y0", "k", "y1"))
            case(f"lrn_{channels}_{size}_{dtype}", dtype,
                 {"x": make(2, 8, 5, 6), "w": make(channels, 8, 1, 1), "k": make(8, channels, 1, 1)}, nodes,
                 ["y1" if dtype == "f32" else "y0"], ["w", "k"], opset=22)


shutil.rmtree("orders", ignore_errors=True)
attentions()
products()
posts()
takers()
convolutions()
broadcasts()
gates()
local_norms()
parts()

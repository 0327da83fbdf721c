#!/usr/bin/env python3
"""Makes the models with numbers at and beyond the ends of the lower types' ranges that the tests of the conversion convert;
cases.py says what a case is. What comes of the numbers themselves is computed by NumPy and by PyTorch (2.6), which it needs."""
import os

import numpy as np
import torch
from onnx import numpy_helper

from cases import DUMP, case, here, weight

LISTS = " -d fp16 --rules torch-cpu"  # under which all nodes here that no constant keeps from it are lower
FP16 = {"fp16": DUMP + LISTS}
VERBOSE = "model.onnx --no-validate -o out.onnx -v"
LOWEST = np.finfo(np.float32).min
# Rows that are all masked get equal scores: ONNX Runtime does not round sums of fp16 that Softmax takes.
SCORES = {"x": [[0.25, -0.5, 1, 0.125], [0] * 4]}


def weights(**values):
    """An edit that gives each weight its values."""
    def edit(model):
        for name, items in values.items():
            weight(name, items)(model)
    return edit


# ---- guards where the other inputs are lower

case("mask_where", "the lowest float32 where Where masks becomes the lower type's lowest; the second row has nothing else", """
    g (float[2,4] x, bool[2,4] m) => (float[2,4] y) <float[4,4] w, float low> {
        a = MatMul(x, w)
        b = Where(m, a, low)
        y = Softmax(b)
    }""", weights(low=LOWEST), variants=FP16, inputs={"m": [[1, 0, 1, 0], [0, 0, 0, 0]], **SCORES})

mask = [[0, LOWEST, 0, LOWEST], [LOWEST] * 4]
case("mask_add", "a mask that is added: in a row of the lowest float32 alone, an infinity would give NaN", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[2,4] m> {
        a = MatMul(x, w)
        b = Add(a, m)
        y = Softmax(b)
    }""", weights(m=mask), variants=FP16, inputs=SCORES)

case("mask_add_1e9", "0 and -1e9 is a mask: -1e9 becomes fp16's lowest number; bf16 has it", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[2,4] m> {
        a = MatMul(x, w)
        b = Add(a, m)
        y = Softmax(b)
    }""", weights(m=[[0, -1e9, 0, -1e9], [-1e9] * 4]), variants=FP16, inputs=SCORES)

case("mask_mul", "(1 - m) times the lowest float32: 0 times an infinity would be NaN", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float one = {1}, float low> {
        a = MatMul(x, w)
        r = Relu(a)
        m = Sign(r)
        n = Sub(one, m)
        b = Mul(n, low)
        c = Add(a, b)
        y = Softmax(c)
    }""", weights(low=LOWEST), variants=FP16)

case("mask_wanted_lower", "a rule that lowers Where or Add leaves guards what they are", """
    g (float[2,4] x, bool[2,4] c) => (float[2,4] y, float[2,4] z) <float[4,4] w, float low, float[2,4] m> {
        a = MatMul(x, w)
        b = Where(c, a, low)
        y = Softmax(b)
        d = Add(a, m)
        z = Softmax(d)
    }""", weights(low=LOWEST, m=mask), args=DUMP + " --op Where=lower --op Add=lower",
     inputs={"c": [[1, 0, 1, 0], [0, 0, 0, 0]], **SCORES})

case("guards_compared", "limits that are compared with, padded with and taken the lesser of", """
    g (float[2,4] x) => (float[2,5] y, bool[2,4] b)
    <float[4,4] w, float high = {1e30}, float low, int64[4] p = {0, 0, 0, 1}> {
        a = MatMul(x, w)
        b = Less(a, high)
        c = Pad(a, p, low)
        d = Softmax(c)
        y = Min(d, high)
    }""", weights(low=LOWEST), variants=FP16)

case("guards_captured", "a Constant of the main graph that bounds in one body and fills in another", """
    g (float[2,4] x, bool c, bool[2,4] m) => (float[2,4] y) <float[4,4] w> {
        low = Constant<value_float = -3.4028234e38>()
        a = MatMul(x, w)
        b = If (c) <
            then_branch = t () => (float[2,4] p) { p = Clip(a, low) },
            else_branch = e () => (float[2,4] q) { q0 = Where(m, a, low) q = Softmax(q0) }
        >
        y = Relu(b)
    }""", variants=FP16, inputs={"c": False, "m": [[1, 0, 1, 0], [0, 0, 0, 0]], **SCORES})

case("guards_moved", "a mask that is reshaped and expanded first saturates offline; a cast behind it would make infinities", """
    g (float[2,1,4] x) => (float[2,3,4] y) <float[4,4] w, float[3,4] m, int64[1] axes = {0}, int64[3] s = {2, 3, 4}> {
        a = MatMul(x, w)
        u = Unsqueeze(m, axes)
        e = Expand(u, s)
        b = Add(a, e)
        y = Softmax(b)
    }""", weights(m=[[0, LOWEST, 0, LOWEST], [LOWEST] * 4, [0] * 4], w=np.full([4, 4], 0.3)), variants=FP16)

case("guards_moved_both", "a mask that a float32 node takes as well, once it is reshaped, would be cast: its nodes stay float32", """
    g (float[2,4] x) => (float[2,4] y, float[1,2,4] z) <float[4,4] w, float[2,4] m, int64[1] axes = {0}> {
        a = MatMul(x, w)
        u = Unsqueeze(m, axes)
        b = Add(a, u)
        i = Constant<value_ints = [0]>()
        c = Squeeze(b, i)
        y = Softmax(c)
        z = Celu(u)
    }""", weights(m=mask))

case("guards_computed", "what is computed from a guard may be anything: the node that adds it stays float32", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[2,4] m = {1, 0, 1, 0, 0, 0, 0, 0}, float one = {1}, float low> {
        a = MatMul(x, w)
        n = Sub(one, m)
        k = Mul(n, low)
        b = Add(a, k)
        y = Softmax(b)
    }""", weights(low=LOWEST), variants=FP16)

REVERSED = {"x": SCORES["x"][::-1]}
fill = """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, int64[2] s = {4, 4}, int64[1] st = {0}, int64[1] en = {2}, int64[1] ax = {0}> {
        a = MatMul(x, w)
        f = ConstantOfShape<value = float[1] {-3.4028234e38}>(s)
        t = Trilu(f)
        k = Slice(t, st, en, ax)
        b = Add(a, k)
        y = Softmax(b)
    }"""
case("guards_filled", "ConstantOfShape with the lowest float32 gives the lower type's lowest", fill, variants=FP16, inputs=REVERSED)
case("guards_filled_14", "before opset 20 ConstantOfShape has no bf16, and a cast would make infinities", fill, opset=14,
     variants=FP16, inputs=REVERSED)

case("guard_for_products", "a ConstantOfShape of the lowest float32 whose shape is not known, cast for a node that a rule lowers", """
    g (float[4,4] x, int64[2] s) => (float[4,4] y) <float[4,4] w> {
        f = ConstantOfShape<value = float[1] {-3.4028234e38}>(s)
        a = Gemm(x, w, f)
        y = Softmax(a)
    }""", variants=FP16, inputs={"s": [4, 4], "x": np.zeros([4, 4])})

# ---- data

case("data_beyond", "70000 and biases near it are data: their nodes stay float32 in fp16", """
    g (float[2,4] x) => (float[2,4] y, float[2,4] z, float[2,4] v) <float[4,4] w, float s = {70000}, float[4] b> {
        a = MatMul(x, w)
        y = Mul(a, s)
        z = Add(a, b)
        v = Sub(a, s)
    }""", weights(b=[0.5, 70000, 0, -70000]), args=VERBOSE + LISTS, variants={"bf16": DUMP})

case("data_transposed", "a weight beyond fp16 keeps MatMul in float32 behind a Transpose too", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        t = Transpose(w)
        y = MatMul(x, t)
    }""", weights(w=np.diag([70000, 1, 2, 3])), args=DUMP + LISTS)

case("data_huge", "a weight of MatMul is data whatever its size", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = Softmax(a)
    }""", weights(w=np.diag([LOWEST, 1, 2, 3])), args=VERBOSE)

case("data_many", "of the nodes that stay float32 against the rules three are named", """
    g (float[2,2] x) => (float[2,2] y) <float[2,2] w> {
        a = MatMul(x, w)
        b = MatMul(a, w)
        c = MatMul(b, w)
        d = MatMul(c, w)
        e = MatMul(d, w)
        y = Relu(e)
    }""", weights(w=[[1, 70000], [0, 1]]), args=VERBOSE + LISTS)


# ---- the numbers themselves

def saturated(values, name):
    """VALUES, float32, rounded to the type NAME, the finite ones to finite ones, in float32 again."""
    rounded = values.astype(np.float16).astype(np.float32) if name == "fp16" else torch.tensor(values).bfloat16().float().numpy()
    largest = float(np.finfo(np.float16).max) if name == "fp16" else torch.finfo(torch.bfloat16).max
    return np.where(np.isinf(rounded) & np.isfinite(values), np.copysign(np.float32(largest), values), rounded)


def save(folder, **arrays):
    os.makedirs(os.path.join(here, folder), exist_ok=True)
    for name, values in arrays.items():
        with open(os.path.join(here, folder, f"{name}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(values, name).SerializeToString())


def numbers():
    starts = np.array([65504, 65519.996, 65520, 1e9, 3.3895314e38, 3.3961775e38, 3.4028235e38, 6.1035156e-5, 6.1e-5, 5.9604645e-8,
                       2.9802322e-8, 2.9802326e-8, 1e-10, 1.1754944e-38, 9.2e-41, 4.6e-41, 1e-41, 1], np.float32)
    values = np.concatenate([starts, -starts, [np.inf, -np.inf, np.nan, 0.0, -0.0]]).astype(np.float32)
    zeros = np.array([-0.0, 0.0, -1e-41, 1e-41], np.float32)
    case("numbers", "finite values stay finite, infinities and NaN what they are; of what becomes zero the sign stays", f"""
        g (float[1,2] x, bool c) => (float[1,{len(values)}] y, float[1,4] z)
        <float[2,{len(values)}] w, float[2,4] v, float[{len(values)}] t, float[4] u> {{
            a = MatMul(x, w)
            y = Where(c, t, a)
            b = MatMul(x, v)
            d = Where(c, u, b)
            z = Reciprocal(d)
        }}""", weights(t=values, u=zeros), args=VERBOSE, variants={"fp16": VERBOSE + LISTS}, inputs={"c": False})
    x = np.zeros([1, 2], np.float32)
    save("numbers/shown", input_0=x, input_1=np.array(True))
    for name in "bf16", "fp16":
        with np.errstate(all="ignore"):
            save(f"numbers/{name}", output_0=saturated(values, name)[None], output_1=1 / saturated(zeros, name)[None])


numbers()


def tiny():
    """1600 elements: more than are converted before they are written."""
    values = np.full(1600, 0.5, np.float32)
    values[:100], values[100:150], values[150:153], values[153:160] = 1e-5, -1e-9, -0.0, 3e-39
    case("tiny", "weights that are converted while they are written are counted as well", """
        g (float[2,40] x) => (float[2,40] y) <float[40,40] w> {
            y = MatMul(x, w)
        }""", weights(w=values.reshape(40, 40)), args=VERBOSE + LISTS,
         variants={"outside": VERBOSE + LISTS + " --external-data w.bin --json -", "bf16": VERBOSE,
                   "brief": "model.onnx --no-validate -o out.onnx" + LISTS})


tiny()

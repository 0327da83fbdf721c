#!/usr/bin/env python3
"""Makes the models that have casts already, or are of 16 bits wholly or in part; cases.py says what a case is."""
from onnx import TensorProto

from cases import DUMP, case, weight_bits

FP16 = DUMP + " -d fp16"
FP32 = DUMP + " -d fp32"

# ---- casts that stay what they are

case("casts_of_lowered", "a lowered value that the model casts to every kind of type: in one step, no float32 between", """
    g (float[2,4] x) => (float16[2,4] a, bfloat16[2,4] b, double[2,4] c, int32[2,4] d, int64[2,4] e, bool[2,4] f, uint8[2,4] i) <float[4,4] w> {
        h = MatMul(x, w)
        a = Cast<to = 10>(h)
        b = Cast<to = 16>(h)
        c = Cast<to = 11>(h)
        d = Cast<to = 6>(h)
        e = Cast<to = 7>(h)
        f = Cast<to = 9>(h)
        r = Relu(h)
        i = Cast<to = 2>(r)
    }""", variants={"fp16": FP16})

case("casts_to_lowered", "what the model casts to float32 for a lowered node: in one step where that rounds once", """
    g (float16[2,4] a, bfloat16[2,4] b, double[2,4] c, int32[2,4] d, int16[2,4] e, bool[2,4] f) =>
      (float[2,4] ya, float[2,4] yb, float[2,4] yc, float[2,4] yd, float[2,4] ye, float[2,4] yf) <float[4,4] w> {
        ha = Cast<to = 1>(a)
        ya = MatMul(ha, w)
        hb = Cast<to = 1>(b)
        yb = MatMul(hb, w)
        hc = Cast<to = 1>(c)
        yc = MatMul(hc, w)
        hd = Cast<to = 1>(d)
        yd = MatMul(hd, w)
        he = Cast<to = 1>(e)
        ye = MatMul(he, w)
        hf = Cast<to = 1>(f)
        yf = MatMul(hf, w)
    }""", variants={"fp16": FP16})


def round_trips(name, about, *trips):
    """Trips of a value: its name and type, the types it is cast to one after the other, and the operator that takes it then."""
    inputs = ", ".join(f"{dtype}[2,4] {x}" for x, dtype, _, _ in trips)
    outputs = ", ".join(f"{dtype}[2,4] y{x}" for x, dtype, _, _ in trips)
    nodes = []
    for x, _, steps, takes in trips:
        for n, to in enumerate(steps, 1):
            nodes.append(f"{x}{n} = Cast<to = {to}>({x}{n - 1 if n > 1 else ''})")
        nodes.append(f"y{x} = {takes.replace('_', f'{x}{len(steps)}')}")
    case(name, about, f"g ({inputs}) => ({outputs}) {{\n" + "\n".join(nodes) + "\n}")


round_trips("round_trips_exact", "there and back without a loss goes, whatever is between",
            ("x", "float", (11, 1), "Celu(_)"), ("h", "float16", (1, 11, 10), "Relu(_)"), ("b", "bfloat16", (1, 16), "Relu(_)"),
            ("i", "int16", (1, 5), "Add(_, _)"), ("c", "bool", (1, 9), "Not(_)"))

round_trips("round_trips_lossy",
            "there and back with a loss stays: fp16 and bf16 hold each other only in part, int64 is more than float32",
            ("x", "float", (7, 1), "Celu(_)"), ("h", "float16", (16, 10), "Relu(_)"), ("b", "bfloat16", (10, 16), "Relu(_)"),
            ("i", "int64", (1, 7), "Add(_, _)"), ("d", "double", (1, 11), "Add(_, _)"))

case("cast_to_output", "a Cast to float32 that gives a graph output, and feeds a lowered node as well", """
    g (float16[2,4] h, int32[2,4] i) => (float[2,4] a, float[2,4] y, float[2,4] b, float[2,4] z) <float[4,4] w> {
        a = Cast<to = 1>(h)
        y = MatMul(a, w)
        b = Cast<to = 1>(i)
        z = MatMul(b, w)
    }""", variants={"fp16": FP16})

case("cast_of_lowered_output", "a Cast to float32 of a lowered value, whose result is a graph output: one cast gives it", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        h = MatMul(x, w)
        y = Cast<to = 1>(h)
    }""")

case("noop_cast_io", "a Cast that becomes needless when the input is lowered, and one before a lowered output", """
    g (float[2,4] x) => (float[2,4] y, bfloat16[2,4] z) <float[4,4] w> {
        a = Cast<to = 16>(x)
        z = Relu(a)
        b = Cast<to = 1>(a)
        h = MatMul(b, w)
        y = Cast<to = 1>(h)
    }""", args=DUMP + " --io lower")

case("noop_casts_chain", "Casts to the type that is there, one after the other and in a body", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        a = Cast<to = 1>(x)
        b = Cast<to = 1>(a)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { d = Cast<to = 1>(b)  p = MatMul(d, w) },
            else_branch = e () => (float[2,4] q) { q = Cast<to = 1>(b) }
        >
    }""", inputs={"c": True})

# ---- models of 16 bits

half = """
    g ({t}[2,4] x) => ({t}[2,4] y) <{t}[4,4] w, {t}[4] b, {t}[4] s> {{
        a = Gemm(x, w, b)
        c = Relu(a)
        d = ReduceProd<keepdims = 1>(c)
        e = Mul(c, s)
        y = Add(e, d)
    }}"""
modes = {"lower_io": DUMP + " --io lower", "raised": FP32, "raised_io": FP32 + " --io lower"}
case("half_model", "a float16 model in bf16: what a rule lowers goes from float16 straight to bfloat16; raised: all in float32",
     half.format(t="float16"), variants=modes)
case("brain_model", "a bfloat16 model in fp16: what a rule lowers goes from bfloat16 straight to float16; raised: all in float32",
     half.format(t="bfloat16"), args=FP16, variants={name: args + " -d fp16" * (name == "lower_io") for name, args in modes.items()})

case("half_in_part", "a model with one part in float16, between casts: in fp16 nothing is cast twice, in bf16 its rounding stays", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float16[4,4] w, float[4,4] u> {
        a = MatMul(x, v)
        b = Cast<to = 10>(a)
        c = MatMul(b, w)
        d = Relu(c)
        e = Cast<to = 1>(d)
        y = MatMul(e, u)
    }""", variants={"fp16": FP16, "raised": FP32})

case("half_weights", "a float32 model that stores its weights in float16, with casts, raised: the weights stay as small as they are", """
    g (float[2,4] x) => (float[2,4] y) <float16[4,4] w, float16[4] b> {
        v = Cast<to = 1>(w)
        a = MatMul(x, v)
        c = Cast<to = 1>(b)
        y = Add(a, c)
    }""", args=FP32)

case("half_in_bodies", "a float16 model with a Loop, raised: its nodes run in float32, its state keeps its type", """
    g (float16[2,4] x, int64 n, bool c) => (float16[2,4] y) <float16[4,4] w> {
        y = Loop (n, c, x) <
            body = b (int64 i, bool k, float16[2,4] s) => (bool l, float16[2,4] t) {
                l = Identity(k)
                a = MatMul(s, w)
                t = Tanh(a)
            }
        >
    }""", args=FP32, inputs={"n": 2, "c": True})

case("half_raised_casts", "raised, a model's own casts to float16 keep their rounding, and random numbers of float16 their type", """
    g (float[2,4] x, float16[2,4] z) => (float[2,4] y, float16[2,4] v) <float16[2,4] s> {
        a = Cast<to = 10>(x)
        b = Mul(a, s)
        y = Cast<to = 1>(b)
        r = RandomUniformLike<dtype = 10, seed = 1.0>(z)
        v = Add(r, z)
    }""", args=FP32)

case("float32_raised", "a float32 model has nothing to raise", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = Cast<to = 1>(x)
        y = MatMul(a, w)
    }""", args="model.onnx -d fp32 --no-validate -o out.onnx -v")

case("brain_overflow", "a bfloat16 weight beyond float16: its node is raised to float32", half.format(t="bfloat16"),
     weight_bits("w", TensorProto.BFLOAT16, [0x3F80, 0x4790, 0xBF80, 0x3F00] * 4), args=FP16)

case("io_constants", "outputs that are one constant under several names: each keeps its name; the weight itself does not change", """
    g (float[4,4] x) => (float[4,4] u, float[4,4] v, float[4,4] w, float[4,4] y) <float[4,4] w> {
        u = Identity(w)
        v = Identity(w)
        y = MatMul(x, u)
    }""", args=DUMP + " --io lower", variants={"lowered": DUMP + " --io lower --op Identity=lower"})

case("io_constant", "an output that is a constant and lowered keeps its name when the constant it was made from goes", """
    g (float[2,4] x) => (float[4,4] u, float[2,4] y) <float[4,4] w> {
        u = Identity(w)
        y = MatMul(x, w)
    }""", args=DUMP + " --io lower")

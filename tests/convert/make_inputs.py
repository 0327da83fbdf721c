#!/usr/bin/env python3
"""Makes the models with inputs that must not be cast, and operators that say their type; cases.py says what a case is."""
import numpy as np

from cases import DUMP, case, weight

FP16 = DUMP + " -d fp16"

# ---- Resize and Upsample: sizes, scales and regions

resize_head = """
    g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[2,2,1,1] w, {weights}> {{
        a = Conv(x, w)
        y = {call}
    }}"""


def resize(name, about, opset, weights, call, edit=None):
    case(name, about, resize_head.format(weights=weights, call=call), edit, args=FP16, opset=opset, ir=4,
         variants={"bf16": DUMP})


SCALES = "float[4] s = {1, 1, 2, 2}"
resize("upsample_9", "Upsample-9: scales keep their type; for bf16, which needs a newer opset, it becomes Resize", 9, SCALES,
       'Upsample<mode = "nearest">(a, s)')
resize("resize_10", "Resize-10: scales keep their type", 10, SCALES, 'Resize<mode = "nearest">(a, s)')
resize("resize_11", "Resize-11: roi, empty, and scales keep their types", 11, SCALES + ", float[0] r",
       'Resize<mode = "linear">(a, r, s)')
resize("resize_11_sizes", "Resize-11: roi and scales are empty, sizes are int64", 11,
       "float[0] s, float[0] r, int64[4] n = {1, 2, 6, 6}", 'Resize<mode = "nearest">(a, r, s, n)')
resize("resize_13_roi", "Resize-13: a region to crop keeps its type", 13, SCALES + ", float[8] r = {0, 0, 0.1, 0.1, 1, 1, 0.9, 0.9}",
       'Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(a, r, s)')
resize("resize_18", "Resize-18: scales of some axes keep their type", 18, "float[2] s = {2, 2}",
       'Resize<mode = "linear", axes = [2, 3]>(a, , s)')
resize("resize_19", "Resize-19: sizes of some axes", 19, "int64[2] n = {6, 6}",
       'Resize<mode = "cubic", axes = [2, 3], keep_aspect_ratio_policy = "not_larger">(a, , , n)')

case("upsample_7", "Upsample-7 has its scales in an attribute", """
    g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[2,2,1,1] w> {
        a = Conv(x, w)
        y = Upsample<scales = [1.0, 1.0, 2.0, 2.0]>(a)
    }""", opset=7, ir=4, args=FP16, variants={"bf16": DUMP})

case("resize_computed", "scales that a lowered node computes are cast back", """
    g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[2,2,1,1] w, float[1,4] o = {1, 1, 2, 2}, float[4,4] e, int64[1] n = {4}> {
        a = Conv(x, w)
        b = MatMul(o, e)
        s = Reshape(b, n)
        y = Resize<mode = "nearest">(a, , s)
    }""", weight("e", np.eye(4)))

# ---- limits, indices, conditions

case("range_limits", "Range has no lower type: limits that lowered nodes compute are cast back", """
    g (float[1,4] x) => (float[n] y) <float[4,1] w = {1, 0, 0, 0}, int64[0] none_, float step = {0.25}, float start = {-1}> {
        a = MatMul(x, w)
        b = Relu(a)
        limit = Reshape(b, none_)
        r = Range(start, limit, step)
        y = Neg(r)
    }""", inputs={"x": [[2, 3, 4, 5]]})

case("clip_limits_computed", "a limit of Clip from outside promotes it to float32, the other is cast along; limits of int64 data are int64", """
    g (float[2,4] x, float low, int64[2,4] i, int64 most) => (float[2,4] y, int64[2,4] j) <float[4,4] w> {
        a = MatMul(x, w)
        high = ReduceMax<keepdims = 0>(a)
        y = Clip(a, low, high)
        j = Clip(i, , most)
    }""", inputs={"low": -0.5, "most": 3})

case("pad_computed", "a constant_value from outside promotes Pad to float32; of integers it is an integer; axes are int64", """
    g (float[2,4] x, float c, int64[2,4] i, int64 k) => (float[2,6] y, int64[2,6] j)
    <float[4,4] w, int64[2] p = {1, 1}, int64[1] ax = {1}> {
        a = MatMul(x, w)
        y = Pad(a, p, c, ax)
        j = Pad(i, p, k, ax)
    }""", inputs={"c": 0.1, "k": 7})

case("indices", "starts, ends, axes, steps and indices of any kind stay integers", """
    g (float[4,4] x, int32[2] i, int64[1] first, int64[1] last, int64[4,4] e, int64[2,1] n) => (float[A,B] y, float[4,4] z, float[4,4] v)
    <float[4,4] w, int64[1] ax = {1}, int64[1] step = {2}, float[2,4] u> {
        a = MatMul(x, w)
        b = Slice(a, first, last, ax, step)
        y = Gather(b, i)
        z = GatherElements<axis = 1>(a, e)
        c = GatherND(a, n)
        d = Add(c, u)
        v = ScatterND(a, n, d)
    }""", inputs={"i": [2, 1], "first": [0], "last": [4], "e": [[0, 1, 2, 3]] * 4, "n": [[1], [3]]})

case("slice_9", "Slice-9 has its limits in attributes", """
    g (float[4,4] x) => (float[4,2] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = Slice<axes = [1], starts = [1], ends = [3]>(a)
    }""", opset=9, ir=4, args=FP16, variants={"bf16": DUMP})

case("nms_thresholds", "NonMaxSuppression: boxes, scores and thresholds from lowered nodes are cast back", """
    g (float[1,4,4] x, float[1,1,4] s) => (int64[M,3] y) <float[4,4] w, int64 most = {3}, float iou = {0.5}, float least = {0.1}> {
        a = MatMul(x, w)
        b = MatMul(s, w)
        y = NonMaxSuppression(a, b, most, iou, least)
    }""")

for version, call in (1, "TopK<k = 2>(a)"), (10, "TopK(a, k)"), (11, "TopK<largest = 0>(a, k)"):
    case(f"topk_{version}", f"TopK-{version}: k stays int64 and the indices too; bf16 it takes only from opset 24 on", f"""
        g (float[2,4] x) => (float[2,2] y, int64[2,2] i) <float[4,4] w{", int64[1] k = {2}" if version > 1 else ""}> {{
            a = MatMul(x, w)
            y, i = {call}
        }}""", weight("w", np.eye(4)), opset=max(version, 9), ir=4, args=FP16, variants={"bf16": DUMP})

case("where_computed", "Where: a condition computed from lowered values stays boolean; its choices are promoted", """
    g (float[2,4] x) => (float[2,4] y, float[2,4] z) <float[4,4] w, float zero = {0}> {
        a = MatMul(x, w)
        c = Greater(a, zero)
        y = Where(c, a, x)
        z = Where(c, a, zero)
    }""")

# ---- statistics, scales, lengths

statistics = """
    g (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[2,2,1,1] w, float[2] s, float[2] b, float[2] m, float[2] v = {0.3, 1.7}> {
        a = Conv(x, w)
        y = BatchNormalization(a, s, b, m, v)
    }"""
case("batch_normalization_7", "BatchNormalization-7: all inputs share one type", statistics, opset=7, ir=4, args=FP16)
case("batch_normalization_14", "BatchNormalization-14: mean and variance have a type of their own; 15 gives scale and bias one too", statistics,
     opset=14, args=FP16)
case("batch_normalization_training", "BatchNormalization that gives its running statistics too: they keep their type", """
    g (float[2,2,3,3] x) => (float[2,2,3,3] y, float[2] rm, float[2] rv)
    <float[2,2,1,1] w, float[2] s, float[2] b, float[2] m, float[2] v = {0.3, 1.7}> {
        a = Conv(x, w)
        y, rm, rv = BatchNormalization<training_mode = 1>(a, s, b, m, v)
    }""", opset=15)

case("quantize_scales", "scales of QuantizeLinear and DequantizeLinear keep their type, and weights stored in int8 their integers", """
    g (float[2,4] x, float t) => (float[2,4] y, float[2,4] v) <int8[4,4] w, float[4] ws = {0.1, 0.2, 0.3, 0.4}, float s = {0.1}> {
        d = DequantizeLinear<axis = 1>(w, ws)
        a = MatMul(x, d)
        q = QuantizeLinear(a, s)
        y = DequantizeLinear(q, s)
        r = QuantizeLinear(a, t)
        v = DequantizeLinear(r, t)
    }""", opset=13, inputs={"t": 0.05})

case("gru_lengths", "GRU: lengths stay int32, bias and initial state may be left out", """
    g (float[3,2,4] x, int32[2] n) => (float[3,1,2,2] y, float[1,2,2] z, float[1,2,2] v) <float[1,6,4] w, float[1,6,2] r, float[1,2,2] h> {
        y = GRU<hidden_size = 2>(x, w, r, , n)
        z0, z = GRU<hidden_size = 2, linear_before_reset = 1>(x, w, r, , , h)
        v0, v = GRU<hidden_size = 2>(x, w, r)
    }""", inputs={"n": [3, 2]}, opset=14)

case("rnn_lengths", "RNN: lengths stay int32, bias and initial state may be left out, so may the first output", """
    g (float[3,2,4] x, int32[2] n) => (float[3,1,2,2] y, float[1,2,2] z) <float[1,2,4] w, float[1,2,2] r, float[1,4] b, float[1,2,2] h> {
        y = RNN<hidden_size = 2>(x, w, r, b, n)
        unused, z = RNN<hidden_size = 2>(x, w, r, , , h)
    }""", edit=lambda model: model.graph.node[1].output.__setitem__(0, ""), inputs={"n": [3, 2]}, opset=14)

case("lstm_empty", "LSTM with all optional inputs left out, and with the last alone", """
    g (float[3,2,4] x) => (float[3,1,2,2] y, float[3,1,2,2] z) <float[1,8,4] w, float[1,8,2] r, float[1,6] p> {
        y = LSTM<hidden_size = 2>(x, w, r)
        z = LSTM<hidden_size = 2>(x, w, r, , , , , p)
    }""", opset=14)

# ---- operators that say their type, or take it from an input

case("types_like", "RandomNormalLike, RandomUniformLike, EyeLike and Bernoulli without a type: that of their input, which stays float32", """
    g (float[4,4] x) => (float[4,4] y, float[4,4] z, float[4,4] e, float[4,4] p) <float[4,4] w> {
        a = MatMul(x, w)
        s = Sigmoid(a)
        n = RandomNormalLike(a)
        y = MatMul(n, w)
        u = RandomUniformLike(a)
        z = MatMul(u, w)
        i = EyeLike(a)
        e = MatMul(i, w)
        p = Bernoulli(s)
    }""")

case("types_said", "operators that say their type, float32 or another one, keep it, whatever their input has", """
    g (float[4,4] x) => (float16[4,4] y, double[4,4] z, int64[4,4] e, float[4,4] p, float16[4,4] v, int32[4,3] m, int64[4,3] l) <float[4,4] w> {
        a = MatMul(x, w)
        s = Sigmoid(a)
        y = RandomNormalLike<dtype = 10>(a)
        z = RandomUniformLike<dtype = 11>(a)
        e = EyeLike<dtype = 7>(a)
        p = Bernoulli<dtype = 1>(s)
        v = Bernoulli<dtype = 10>(s)
        m = Multinomial<sample_size = 3>(s)
        l = Multinomial<sample_size = 3, dtype = 7>(s)
    }""")

case("types_of_nothing", "RandomNormal, RandomUniform and ConstantOfShape before lowered nodes: they give what they say", """
    g (float[4,4] x) => (float[4,4] y, float[4,4] z, float[4,4] v) <int64[2] n = {4, 4}> {
        r = RandomNormal<shape = [4, 4]>()
        y = MatMul(x, r)
        u = RandomUniform<shape = [4, 4], dtype = 10>()
        c = Cast<to = 1>(u)
        z = MatMul(x, c)
        f = ConstantOfShape<value = double[1] {0.5}>(n)
        d = Cast<to = 1>(f)
        v = MatMul(x, d)
    }""")

case("grid_sample", "GridSample widest: the grid, of a type variable of its own, keeps its type and counts as that", """
    g (float[1,1,3,2] x, float[1,2,4,2] grid) => (float[1,1,2,4] y) {
        y = GridSample<mode = "cubic">(x, grid)
    }""", opset=22, args=DUMP + " --io lower --rules torch-cuda")

case("optional_tensor", "OptionalGetElement of a tensor that is none: input and output keep one type", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        e = OptionalGetElement(a)
        y = MatMul(e, w)
    }""", opset=18, variants={"io": DUMP + " --io lower"})

case("sequence_empty", "SequenceEmpty with and without a type: its elements keep it", """
    g (float[2,4] x) => (float[2,4] y, float16[2,4] z) <float[4,4] w, int64 at = {0}> {
        a = MatMul(x, w)
        s = SequenceEmpty()
        t = SequenceInsert(s, a)
        y = SequenceAt(t, at)
        h = Cast<to = 10>(a)
        p = SequenceEmpty<dtype = 10>()
        q = SequenceInsert(p, h)
        z = SequenceAt(q, at)
    }""")

#!/usr/bin/env python3
"""Makes the models that the tests of the conversion convert.

Each case is a folder beside this script with model.onnx, `args`, `about`: one line that says what is special about it, and inputs
to run it with in data/. A variant is a folder of its own whose model is a link to the first one's. What must come out stands in
each folder's stdout, which is the review's work, not this script's. Needs the onnx Python package (1.17) and numpy; same input,
same bytes.
"""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cases import DUMP, case, here, leave_out, loop_body, weight, weight_bits


def add_function(model):
    """my.ops.Twice: its argument added to itself."""
    node = helper.make_node("Add", ["p", "p"], ["q"], "Add_q")
    model.functions.append(
        helper.make_function("my.ops", "Twice", ["p"], ["q"], [node], [helper.make_opsetid("", 21)], doc_string="kept:function;"))


# ---- casts and where they go

case("output_consumed", "a value that is both a graph output and consumed is cast back for the output alone", """
    g (float[2,4] x) => (float[2,4] h, float[2,4] y) <float[4,4] w> {
        h = MatMul(x, w)
        y = Relu(h)
    }""")

case("output_cast_shared", "a graph output that a float32 node takes too: one cast serves both", """
    g (float[2,4] x) => (float[2,4] h, float[2,4] y) <float[4,4] w> {
        h = MatMul(x, w)
        y = Celu(h)
    }""", variants={"uncached": DUMP + " --cast-cache off"})

case("same_input_twice", "a node that takes one value twice gets one cast", """
    g (float[4,4] x) => (float[4,4] y) {
        h = MatMul(x, x)
        y = Add(h, h)
    }""", variants={"uncached": DUMP + " --cast-cache off"})

case("cast_shared", "one cast of a value serves all consumers, whatever they are", """
    g (float[4,4] x) => (float[4,4] a, float[4,4] b, float[4,4] c) <float[4,4] w, float[4] s> {
        a = MatMul(x, w)
        b = PRelu(x, s)
        c = Gemm(x, w, s)
    }""", variants={"uncached": DUMP + " --cast-cache off"})

case("no_cast_same_type", "between lowered nodes there is no cast", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        b = Relu(a)
        y = MatMul(b, w)
    }""")

case("fp32_between", "a float32 node between lowered ones: a cast up, a cast down", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        b = Celu(a)
        y = MatMul(b, w)
    }""")

case("input_is_output", "a graph input that is a graph output too stays as it is", """
    g (float[2,4] x) => (float[2,4] x, float[2,4] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""")

case("weight_is_output", "an initializer that is a graph output too stays float32; its consumer gets a converted copy", """
    g (float[2,4] x) => (float[4,4] w, float[2,4] y) <float[4,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> {
        y = MatMul(x, w)
    }""")

case("empty_graph", "no nodes", "g (float[2,4] x) => (float[2,4] x) {}")

case("nothing_to_do", "no node that any rule lowers: comes out as it went in", """
    g (float[2,4] x) => (float[2,4] y) {
        a = Relu(x)
        y = Softmax(a)
    }""", opset=13)

case("unused", "what nothing uses stays: a node, a weight, an input", """
    g (float[2,4] x, float[2,4] unused_input) => (float[2,4] y) <float[4,4] w, float[4] unused_weight> {
        y = MatMul(x, w)
        unused_value = Relu(x)
    }""")

case("optional_inputs", "inputs that are left out stay left out", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float low> {
        a = MatMul(x, w)
        y = Clip(a, , low)
    }""")

# ---- folding

case("fold_chain", "bf16 -> fp32 -> bf16 loses nothing and goes", """
    g (bfloat16[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = Cast<to = 1>(x)
        y = MatMul(a, w)
    }""", variants={"insert": "model.onnx --dump-after=insert"})

case("fold_chain_output", "bf16 -> fp32 -> bf16 where the float32 between them is a graph output: both outputs stay", """
    g (bfloat16[2,4] x) => (float[2,4] a, bfloat16[2,4] b) {
        a = Cast<to = 1>(x)
        b = Cast<to = 16>(a)
    }""")

case("fold_widening", "bf16 -> fp32 -> fp64 goes in one step", """
    g (bfloat16[2,4] x) => (double[2,4] y) {
        a = Cast<to = 1>(x)
        y = Cast<to = 11>(a)
    }""")

case("round_trip_kept", "fp32 -> fp16 -> fp32 rounds: it stays", """
    g (float[2,4] x) => (float[2,4] y) {
        a = Cast<to = 10>(x)
        b = Cast<to = 1>(a)
        y = Relu(b)
    }""")

case("round_trip_narrow", "fp32 -> fp16 -> fp32 -> fp16 is fp32 -> fp16, and fp32 -> fp16 -> fp32 -> bf16 rounds twice", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = Cast<to = 10>(x)
        b = Cast<to = 1>(a)
        y = MatMul(b, w)
    }""", variants={"fp16": DUMP + " -d fp16"})

case("double_through_float", "fp64 -> fp32 -> bf16 rounds twice: it stays; int8 -> fp32 -> bf16 does not round before", """
    g (double[2,4] x, int8[4,4] i) => (float[2,4] y) {
        a = Cast<to = 1>(x)
        b = Cast<to = 1>(i)
        y = MatMul(a, b)
    }""")

case("noop_cast", "a Cast to the type that its input has goes", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = Cast<to = 1>(x)
        y = MatMul(a, w)
    }""")

case("noop_cast_output", "a Cast to the type that its input has stays when it makes a graph output", """
    g (float[2,4] x) => (float[2,4] a, float[2,4] y) <float[4,4] w> {
        a = Cast<to = 1>(x)
        y = MatMul(a, w)
    }""")

case("casts_merged", "two casts of one value to one type become one", """
    g (float[2,4] x) => (float16[2,4] y) {
        a = Cast<to = 10>(x)
        b = Cast<to = 10>(x)
        y = Add(a, b)
    }""", variants={"uncached": DUMP + " --cast-cache off"})

case("casts_not_merged", "two casts of one value to one type stay when each makes a graph output", """
    g (float[2,4] x) => (float16[2,4] a, float16[2,4] b) {
        a = Cast<to = 10>(x)
        b = Cast<to = 10>(x)
    }""")

case("cast_of_weight", "weights stored in fp16 with a Cast before their consumer: no cast of a constant remains", """
    g (float[1,4,5,5] x) => (float[1,2,3,3] y) <float16[2,4,3,3] w, float[2] b> {
        a = Cast<to = 1>(w)
        y = Conv(x, a, b)
    }""", variants={"fp16": DUMP + " -d fp16"})

case("cast_of_weight_up", "weights stored in fp16 for a float32 node stay so: in float32 they take twice the room", """
    g (float[4,4] x) => (float[4,4] y) <float16[4,4] w> {
        a = Cast<to = 1>(w)
        b = Mul(x, a)
        y = Celu(b)
    }""")

case("cast_of_weight_both", "weights stored in fp16, for nodes of both kinds", """
    g (float[4,4] x) => (float[4,4] y) <float16[4,4] w> {
        a = Cast<to = 1>(w)
        b = Mul(x, a)
        y = MatMul(b, a)
    }""", variants={"fp16": DUMP + " -d fp16"})

case("cast_of_weight_down", "a float32 constant that the model casts down itself is stored cast, once", """
    g (float16[2,4] x) => (float16[2,4] y, float16[2,4] z) <float[4] w> {
        a = Cast<to = 10>(w)
        c = Constant<value_float = 0.1>()
        b = Cast<to = 10>(c)
        d = Cast<to = 10>(w)
        e = Mul(x, a)
        y = Mul(e, b)
        z = Mul(x, d)
    }""", args=DUMP + " -d fp16", variants={"uncached": DUMP + " -d fp16 --cast-cache off"})

case("cast_of_weight_output", "a cast of a constant stays when it makes a graph output", """
    g (float16[2,4] x) => (float16[4] a, float16[2,4] y) <float[4] w> {
        a = Cast<to = 10>(w)
        y = Mul(x, a)
    }""", args=DUMP + " -d fp16")

case("cast_of_weight_range", "a bf16 weight beyond fp16, cast up to float32: its node stays float32 in fp16", """
    g (float[2,2] x) => (float[2,2] y) <bfloat16[2,2] w> {
        a = Cast<to = 1>(w)
        y = MatMul(x, a)
    }""", weight_bits("w", TensorProto.BFLOAT16, [0x3F80, 0x4790, 0xBF80, 0x3F00]), args=DUMP + " -d fp16")

case("cast_of_integers", "an integer constant that the model casts to float32 is a weight too", """
    g (float[2,4] x) => (float[2,4] y) <int8[4,4] w> {
        a = Cast<to = 1>(w)
        y = MatMul(x, a)
    }""")

case("weight_identity", "one weight under several names, by Identity, is converted once", """
    g (float[4,4] x) => (float[4,4] y, float[4,4] z) <float[4,4] w> {
        v = Identity(w)
        u = Identity(v)
        a = MatMul(x, w)
        b = MatMul(a, v)
        y = MatMul(b, u)
        z = Celu(u)
    }""")

case("weight_identity_lowered", "an Identity that the command line lowers, of a constant that float32 nodes use as well", """
    g (float[4,4] x) => (float[4,4] y, float[4,4] u) <float[4,4] w> {
        u = Identity(w)
        a = MatMul(x, u)
        y = Mul(a, w)
    }""", args=DUMP + " --op Identity=lower --op Mul=fp32")

case("fill_folded", "the cast of a ConstantOfShape becomes a ConstantOfShape of the lower type", """
    g (float[3,N,4] x, int64[3] s) => (float[3,1,N,2] y, float[1,N,2] z) <float[1,8,4] w, float[1,8,2] r> {
        h = ConstantOfShape<value = float[1] {0.5}>(s)
        c = ConstantOfShape(s)
        y, z = LSTM<hidden_size = 2>(x, w, r, , , h, c)
    }""", inputs={"s": [1, 2, 2]})

case("fill_shared", "a ConstantOfShape that float32 consumers use too stays, with one of the lower type beside it", """
    g (float[2,4] x, int64[2] s) => (float[2,4] y, float[4,4] z) {
        a = ConstantOfShape<value = float[1] {0.5}>(s)
        y = MatMul(x, a)
        z = Celu(a)
    }""", inputs={"s": [4, 4]})

# ---- weights

case("weight_shared_lower", "a weight of two lowered nodes is converted once", """
    g (float[2,4] x, float[2,4] z) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        b = MatMul(z, w)
        y = Add(a, b)
    }""", variants={"uncached": DUMP + " --cast-cache off"})

case("weight_shared_both", "a weight of a lowered and a float32 node is there in both types", """
    g (float[2,4] x, float[2,4] z) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        b = MatMul(z, w)
        y = Add(a, b)
    }""", args=DUMP + " --node MatMul_b=fp32")

case("bias_fp32", "a bias goes with its weight; one that float32 nodes use as well is kept for them", """
    g (float[2,4] x) => (float[2,4] y, float[4] z) <float[4,4] w, float[4] b> {
        y = Gemm(x, w, b)
        z = Celu(b)
    }""")

case("weight_constants", "weights as Constant nodes become initializers of the lower type; what is float32 stays a node", """
    g (float[2,4] x) => (float[2,4] y, float z) {
        w = Constant<value = float[4,4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}>()
        a = MatMul(x, w)
        f = Constant<value_floats = [1.0, 2.0, 3.0, 4.1]>()
        b = Mul(a, f)
        s = Constant<value_float = 0.1>()
        y = Add(b, s)
        z = Celu(s)
    }""")

case("weight_scalar", "a weight without dims, an empty one", """
    g (float[2,4] x) => (float[2,4] y, float[2,0] z) <float[4,4] w, float s, float[4,0] e> {
        a = MatMul(x, w)
        y = Mul(a, s)
        z = MatMul(a, e)
    }""")

case("weight_initializer_input", "IR 3: every initializer is an input too, and a weight all the same", """
    g (float[2,4] x, float[4,4] w) => (float[2,4] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""", ir=3, opset=8, variants={"fp16": DUMP + " -d fp16"})

case("weight_overridable", "IR 8: an initializer that is an input too may be overridden: it gets a cast", """
    g (float[2,4] x, float[4,4] w) => (float[2,4] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""", ir=8)

overflow = """
    g (float[2,2] x) => (float[2,2] y) <float[2,2] w> {
        a = MatMul(x, w)
        y = Relu(a)
    }"""
case("weight_overflow", "a weight beyond fp16 keeps its node in float32; in bf16 it is converted", overflow,
     weight("w", [[1, 70000], [-2, 0.5]]), args="model.onnx -d fp16 --explain --no-validate -o out.onnx -v",
     variants={"dump": DUMP + " -d fp16", "bf16": DUMP})
case("weight_overflow_rounded", "65519.99 rounds to 65504 in fp16, but is beyond the rule set's weight_max", overflow,
     weight("w", [[1, 65519.99], [-2, 0.5]]), args="model.onnx -d fp16 --explain --no-validate -o out.onnx -q")
case("weight_largest", "65504 is fp16's largest number: converted", overflow,
     weight("w", [[1, -65504], [-2, 0.5]]), args=DUMP + " -d fp16")
case("weight_overflow_bf16", "3.4e38 would become infinity in bf16: the node stays float32", overflow,
     weight("w", [[1, -2], [3.4e38, 0.5]]), args="model.onnx --explain --no-validate -o out.onnx -v")
case("weight_largest_bf16", "bf16's largest number: converted", overflow,
     weight("w", [[1, -2], [3.3895313892515355e38, 0.5]]))
case("weight_overflow_bf16_rounded", "3.39e38 rounds to bf16's largest number, but is beyond it: the node stays float32", overflow,
     weight("w", [[1, -2], [3.39e38, 0.5]]))
case("weight_not_finite", "NaN and infinities stay what they are in any type: converted", overflow,
     weight("w", [[np.nan, -np.inf], [np.inf, 0.5]]), variants={"fp16": DUMP + " -d fp16"})

# ---- which inputs are cast

case("batch_normalization_9", "before opset 15 all inputs of BatchNormalization share one type", """
    g (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[2,2,1,1] w, float[2] s, float[2] b, float[2] m, float[2] v = {0.3, 1.7}> {
        a = Conv(x, w)
        y = BatchNormalization(a, s, b, m, v)
    }""", opset=9, ir=4, args=DUMP + " -d fp16", variants={"bf16": DUMP})

case("batch_normalization_15", "from opset 15 on scale, bias and statistics of BatchNormalization keep their type", """
    g (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[2,2,1,1] w, float[2] s, float[2] b, float[2] m, float[2] v = {0.3, 1.7}> {
        a = Conv(x, w)
        y = BatchNormalization(a, s, b, m, v)
    }""", opset=15)

case("resize_scales", "Resize's scales keep their type", """
    g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[2,2,1,1] w, float[4] s = {1, 1, 2, 2}> {
        a = Conv(x, w)
        y = Resize<mode = "nearest">(a, , s)
    }""")

case("pad_value", "Pad's constant_value is cast, its pads are not", """
    g (float[2,4] x) => (float[2,6] y) <float[4,4] w, int64[4] p = {0, 1, 0, 1}, float c = {0.1}> {
        a = MatMul(x, w)
        y = Pad(a, p, c)
    }""")

case("clip_limits", "Clip's limits are cast", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float low = {0}, float high = {6}> {
        a = MatMul(x, w)
        y = Clip(a, low, high)
    }""")

case("clip_limit_range", "a limit that fp16 does not have becomes its lowest number where Clip follows a lowered node", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float low = {-3.4e38}> {
        a = MatMul(x, w)
        y = Clip(a, low)
    }""", args=DUMP + " -d fp16")

case("where_condition", "Where's condition stays boolean", """
    g (float[2,4] x, bool[2,4] c) => (float[2,4] y) <float[4,4] w, float zero = {0}> {
        a = MatMul(x, w)
        y = Where(c, a, zero)
    }""")

case("lstm_lengths", "LSTM: sequence_lens stays int32; weights, bias, initial states and peepholes go along", """
    g (float[3,2,4] x, int32[2] n, float[1,2,2] h, float[1,2,2] c) => (float[3,1,2,2] y, float[1,2,2] yh)
    <float[1,8,4] w, float[1,8,2] r, float[1,16] b, float[1,6] p> {
        y, yh = LSTM<hidden_size = 2>(x, w, r, b, n, h, c, p)
    }""", inputs={"n": [3, 2]}, opset=14)

case("gather_indices", "Gather: indices stay int64; from a weight it gives float32, from a lowered value the lower type", """
    g (int64[3] i) => (float[3,4] y) <float[8,4] table, float[4,4] w> {
        a = Gather(table, i)
        b = MatMul(a, w)
        y = Gather(b, i)
    }""", inputs={"i": [1, 2, 0]})

case("shape_of_lowered", "Shape of a lowered value: int64 all the same, and no cast", """
    g (float[N,4] x) => (int64[2] s, float[M] y) <float[4,4] w> {
        a = MatMul(x, w)
        s = Shape(a)
        f = ConstantOfShape(s)
        b = Add(a, f)
        n = Constant<value_ints = [-1]>()
        y = Reshape(b, n)
    }""")

case("promoted", "an unlisted operator with inputs of both types runs in float32; constants do not count", """
    g (float[2,4] x) => (float[2,4] y, float[2,4] z) <float[4,4] w, float[4] c> {
        a = MatMul(x, w)
        y = Add(a, x)
        z = Add(a, c)
    }""")

case("concat_widest", "Concat runs in the widest type of its inputs, constants too", """
    g (float[2,4] x) => (float[2,8] y, float[2,8] z, float[2,8] v) <float[4,4] w, float[2,4] c> {
        a = MatMul(x, w)
        b = Relu(a)
        y = Concat<axis = 1>(a, x)
        z = Concat<axis = 1>(a, c)
        v = Concat<axis = 1>(a, b)
    }""")

case("double_and_integers", "float64 and integer nodes are not touched", """
    g (double[2,2] x, int32[2,2] i) => (double[2,2] y, int32[2,2] j) <double[2,2] w, int32[2,2] v> {
        y = MatMul(x, w)
        j = MatMul(i, v)
    }""")

case("explicit_type", "operators that say their type keep it: Cast, CastLike, RandomNormalLike with dtype, EyeLike", """
    g (float[2,4] x) => (float[2,4] y, float[2,4] z, float[2,4] e) <float[4,4] w> {
        a = MatMul(x, w)
        i = Cast<to = 7>(a)
        y = CastLike(i, a)
        z = RandomNormalLike<dtype = 1>(a)
        e = EyeLike<dtype = 1>(a)
    }""")

case("sequences", "sequences keep the type that they were declared with", """
    g (float[2,4] x) => (float[2,8] y) <float[4,4] w> {
        a = MatMul(x, w)
        s = SequenceConstruct(a, x)
        y = ConcatFromSequence<axis = 1>(s)
    }""")

case("quantized", "quantization keeps its float32 side", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float s = {0.1}, uint8 z = {128}> {
        a = MatMul(x, w)
        q = QuantizeLinear(a, s, z)
        d = DequantizeLinear(q, s, z)
        y = MatMul(d, w)
    }""")

case("custom_op", "an operator of an unknown domain: float32 at its edges", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        b = my.ops.Strange<alpha = 1.5>(a)
        y = MatMul(b, w)
    }""", edit=lambda model: model.graph.value_info.append(
        helper.make_tensor_value_info("b", TensorProto.FLOAT, [2, 4])), domains=', "my.ops": 1')

case("custom_op_untyped", "what an unknown operator gives has no known type: its consumers stay as they are", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        b = my.ops.Strange(a)
        c = MatMul(b, w)
        y = my.ops.Strange(c)
    }""", variants={"explain": "model.onnx --explain --no-validate -o out.onnx -v"}, domains=', "my.ops": 1')

case("function", "a function of the model's own: the nodes of its body are converted where it is called", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v> {
        a = MatMul(x, v)
        b = my.ops.Twice(a)
        y = MatMul(b, v)
    }""", add_function, domains=', "my.ops": 1')

case("no_lower_type", "an operator whose data is float32 in every version", """
    g (float[1,4,4] x, float[1,1,4] s) => (int64[M,3] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = NonMaxSuppression(a, s)
    }""", args="model.onnx --explain --no-validate -o out.onnx -v", variants={"dump": DUMP})

case("rule_attribute", "a rule for an attribute's value: Pad that reflects is float32, Pad with a constant is not", """
    g (float[2,4] x) => (float[2,6] y, float[2,6] z) <float[4,4] w, int64[4] p = {0, 1, 0, 1}> {
        a = MatMul(x, w)
        y = Pad<mode = "reflect">(a, p)
        z = Pad(a, p)
    }""")

case("rule_rank", "a rule for a rank: pooling in three dimensions is float32, in two it is not", """
    g (float[1,2,4,4] x, float[1,2,4,4,4] z) => (float[1,2,3,3] y, float[1,2,3,3,3] v)
    <float[2,2,1,1] w, float[2,2,1,1,1] u> {
        a = Conv(x, w)
        y = MaxPool<kernel_shape = [2, 2]>(a)
        b = Conv(z, u)
        v = MaxPool<kernel_shape = [2, 2, 2]>(b)
    }""")

case("float16_model", "a float16 model: nothing to do in fp16; in bf16 autocast moves its matmul there, as torch does", """
    g (float16[2,4] x) => (float16[2,4] y) <float16[4,4] w> {
        a = MatMul(x, w)
        y = Softmax(a)
    }""", variants={"fp16": DUMP + " -d fp16"})

# ---- subgraphs

case("if_captured", "bodies of If take lowered values and weights from outside; their outputs keep their type", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p = MatMul(a, w) },
            else_branch = e () => (float[2,4] q) <float[4,4] u> { r = MatMul(a, u)  q = Celu(r) }
        >
    }""")

case("if_output_captured", "a body whose output is a value from outside", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p = Identity(a) },
            else_branch = e () => (float[2,4] q) { q = Relu(x) }
        >
    }""")

case("if_outer_input", "a value from outside that both bodies want lower is cast outside, once", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p = MatMul(x, w) },
            else_branch = e () => (float[2,4] q) { r = Identity(x)  q = MatMul(r, w) }
        >
    }""")

case("if_body_weight", "constants within a body: initializers and Constant nodes", """
    g (float[2,2] x, bool c) => (float[2,2] y) {
        y = If (c) <
            then_branch = t () => (float[2,2] p) {
                w = Constant<value = float[2,2] {1, 2, 3, 4.1}>()
                p = MatMul(x, w)
            },
            else_branch = e () => (float[2,2] q) <float[2,2] u = {1, 2, 3, 4.1}> {
                r = MatMul(x, u)
                q = Add(r, u)
            }
        >
    }""")

case("bodies_nested", "a body within a body: state, captured values and weights of every level", """
    g (float[2,4] x, int64 n, bool c) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = Loop (n, c, x) <
            body = b (int64 i, bool k, float[2,4] s) => (bool l, float[2,4] t) <float[4,4] v> {
                l = Identity(k)
                d = MatMul(s, v)
                t = If (k) <
                    then_branch = t2 () => (float[2,4] p) { e = Add(a, d)  p = MatMul(e, w) },
                    else_branch = e2 () => (float[2,4] q) { q = Celu(d) }
                >
            }
        >
    }""", inputs={"n": 3})

case("if_casts", "a cast in one body cannot serve the other, nor what stands outside", """
    g (float[2,4] x, bool c) => (float16[2,4] y, float16[2,4] z) {
        y = If (c) <
            then_branch = t () => (float16[2,4] p) { b = Cast<to = 10>(x)  p = Relu(b) },
            else_branch = e () => (float16[2,4] q) { d = Cast<to = 10>(x)  q = Neg(d) }
        >
        f = Cast<to = 10>(x)
        z = Relu(f)
    }""")

case("loop_state", "Loop: the carried state keeps its float32 between iterations, scan outputs too", f"""
    g (float[2,4] x, int64 n, bool c) => (float[2,4] y, float[M,2,4] z) <float[4,4] w> {{
        y, z = Loop (n, c, x) <{loop_body("a = MatMul(s, w)", "t = Tanh(a)", "u = MatMul(t, w)")}>
    }}""", inputs={"n": 3})

case("scan_state", "Scan: state and scanned slices keep their type", """
    g (float[4] h, float[3,4] x) => (float[4] y, float[3,4] z) <float[4,4] w> {
        y, z = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] v) => (float[4] t, float[4] u) {
            a = MatMul(s, w)
            t = Add(a, v)
            u = Relu(t)
        }> (h, x)
    }""")

# ---- rules on the command line

two = """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        y = MatMul(a, w)
    }"""
case("override_op", "--op decides over the rule set, --node over --op, the last of each over the first", two,
     args=DUMP.replace("fold", "assign") + " --op MatMul=fp32",
     variants={"node": DUMP.replace("fold", "assign") + " --node '*_y=lower' --op MatMul=fp32",
               "last": DUMP.replace("fold", "assign") + " --op MatMul=fp32 --op MatMul=lower --node '*=fp32' --node '*_a=lower'",
               "explain": "model.onnx --explain --no-validate -o out.onnx -q --op MatMul=fp32 --node MatMul_a=lower"})
case("override_follow", "follow and widest by the command line: what the inputs have", two,
     args=DUMP.replace("fold", "assign") + " --node MatMul_y=follow",
     variants={"widest": DUMP.replace("fold", "assign") + " --node MatMul_y=widest",
               "unmatched": DUMP.replace("fold", "assign") + " --node nowhere=fp32"})
case("override_softmax", "an operator that no rule lists, lowered by the command line", """
    g (float[2,4] x) => (float[2,4] y) {
        y = Softmax(x)
    }""", opset=11, args=DUMP + " --op Softmax=lower -d fp16", variants={"bf16": DUMP + " --op Softmax=lower"})
case("newer_opset", "Celu takes bf16 only at an opset that is not released yet: it stays float32, and the report says so", """
    g (float[2,4] x) => (float[2,4] y) {
        y = Celu(x)
    }""", args="model.onnx --op Celu=lower --explain --no-validate -o out.onnx -v")

# ---- opsets

case("raise_conv", "a bf16 Conv needs opset 22: BatchNormalization, Dropout, Reshape and Softmax of opset 9 are carried there", """
    g (float[1,2,3,3] x) => (float[1,18] y)
    <float[2,2,1,1] w, float[2] s, float[2] b, float[2] m, float[2] v = {0.3, 1.7}, int64[2] n = {1, 18}> {
        a = Conv(x, w)
        c = BatchNormalization<epsilon = 0.001, momentum = 0.8>(a, s, b, m, v)
        d = Dropout<ratio = 0.3>(c)
        e = Reshape(d, n)
        f = Squeeze<axes = [0]>(e)
        h = Unsqueeze<axes = [0]>(f)
        y = Softmax<axis = 1>(h)
    }""", opset=9, ir=4, variants={stage: f"model.onnx --dump-after={stage}" for stage in ("read", "infer", "opset")})
case("raise_matmul", "a bf16 MatMul needs opset 13 and no more", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = Softmax<axis = 1>(a)
    }""", opset=9, ir=4)
blocked = """
    g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[2,2,1,1] w, float[0] r, float[4] s = {1, 1, 2, 2}> {
        a = Conv(x, w)
        y = Resize<coordinate_transformation_mode = "tf_half_pixel_for_nn", nearest_mode = "round_prefer_ceil">(a, r, s)
    }"""
case("raise_blocked", "a Resize by tf_half_pixel_for_nn ends with opset 12: the Conv stays float32, and the report says so", blocked,
     opset=11, ir=3, args="model.onnx --explain --no-validate -o out.onnx -v",
     edit=lambda model: model.graph.input.extend(
         helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in model.graph.initializer),
     variants={"dump": DUMP, "fp16": DUMP + " -d fp16"})
case("raise_bodies", "nodes in bodies are raised too", """
    g (float[1,2,3,3] x, bool c) => (float[1,2,3,3] y) <float[2,2,1,1] w> {
        y = If (c) <
            then_branch = t () => (float[1,2,3,3] p) { a = Conv(x, w)  p = Clip<min = 0.0, max = 6.0>(a) },
            else_branch = e () => (float[1,2,3,3] q) { b = Dropout<ratio = 0.3>(x)  q = Relu(b) }
        >
    }""", opset=9, ir=4)
case("raise_scan", "Scan-8 has a batch; a Scan over the batch around it goes with a bf16 MatMul, which needs opset 13", """
    g (float[1,4] h, float[1,3,4] x) => (float[1,4] y, float[1,3,4] z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] v) => (float[4] t, float[4] u) {
            w = Constant<value = float[4,4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}>()
            a = MatMul(s, w)
            t = Add(a, v)
            u = Relu(t)
        }> (none, h, x)
    }""", leave_out, opset=8, ir=3, args="model.onnx --explain --no-validate -o out.onnx -v", variants={"fp16": DUMP + " -d fp16"})
case("raise_newest", "the newest opset that ONNX has released stays; nothing is raised beyond it", """
    g (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[2,2,1,1] w> {
        y = Conv(x, w)
    }""", opset=22)
case("raise_other_domain", "opsets of other domains stay", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = ai.onnx.ml.Binarizer<threshold = 0.5>(a)
    }""", opset=11, ir=6, domains=', "ai.onnx.ml": 2')

# ---- what the file says about values

case("declared_types", "what the file declares of values between nodes is kept, with their new types", """
    g (float[2,4] x) => (float[2,M] y) <float[4,4] w> {
        a = MatMul(x, w)
        b = my.ops.Strange(a)
        y = Relu(b)
    }""", lambda model: model.graph.value_info.extend([
        helper.make_tensor_value_info("a", TensorProto.FLOAT, ["rows", 4]),
        helper.make_tensor_value_info("b", TensorProto.FLOAT, [2, "columns"])]), domains=', "my.ops": 1')


def make_external(model):
    tensor = model.graph.initializer[0]
    with open(os.path.join(here, "weight_external", "weights.bin"), "wb") as file:
        file.write(b"\0" * 64 + tensor.raw_data)
    for key, value in ("location", "weights.bin"), ("offset", "64"), ("length", str(len(tensor.raw_data))):
        tensor.external_data.add(key=key, value=value)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")


os.makedirs(os.path.join(here, "weight_external"), exist_ok=True)
case("weight_external", "a weight in a file of its own comes into the model when it is converted", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""", make_external)


def make_sparse(model):
    values = numpy_helper.from_array(np.array([0.1, -3.3, 7], np.float32), "w")
    indices = numpy_helper.from_array(np.array([1, 6, 11], np.int64), "")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4, 4]))
    del model.graph.initializer[:]


case("weight_sparse", "a sparse weight becomes a dense one when it is converted", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        y = MatMul(x, w)
    }""", make_sparse)

# ---- names and order


def shuffle(model):
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([nodes[2], nodes[0], nodes[1]])


def rename(*names):
    def edit(model):
        for node, name in zip(model.graph.node, names):
            node.name = name
    return edit


chain = """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] v, float[4,4] w> {
        a = MatMul(x, v)
        b = Relu(a)
        y = MatMul(b, w)
    }"""
case("unsorted", "nodes out of order in the file are put in order", chain, shuffle)
case("names_missing", "nodes without a name", chain, rename("", "", ""),
     variants={"explain": "model.onnx --explain --no-validate -o out.onnx -q"})
case("names_duplicate", "of nodes that share a name all but the first get a new one; a rule for the name matches them all", chain,
     rename("n", "n", "n"),
     variants={"explain": "model.onnx --explain --no-validate -o out.onnx -q --node n=fp32"})
case("names_taken", "names that are taken already: ours get a number", """
    g (float[2,4] x, float[2,4] x_bf16) => (float[2,4] y, float[2,4] y_bf16) <float[4,4] w, float[4,4] w_bf16> {
        y = MatMul(x, w)
        a = MatMul(x_bf16, w_bf16)
        b = Celu(w)
        y_bf16 = MatMul(a, b)
    }""", lambda model: (rename("Cast/x_bf16", "Cast/y_fp32", "", "")(model)))


# ---- for the scripts


def bits_of(values, dtype):
    """VALUES, float32, rounded to nearest even, as a tensor y."""
    if dtype == TensorProto.FLOAT16:
        rounded = values.astype(np.float16).astype(np.float32)
    else:
        bits = values.view(np.uint32).astype(np.uint64)
        rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    return numpy_helper.from_array(np.where(np.isnan(values), values, rounded), "y")


def rounding():
    """Weights at and around the places where rounding to 8 and to 11 bits changes direction."""
    starts = np.array([1, -1, 3.14159, 1e-3, 6e-5, 6.1035156e-5, 5.9604645e-8, 2.9802322e-8, 1e-40, 65504, -65503.9, 0],
                      np.float32).view(np.uint32)
    offsets = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000, 0x8001, 0x17FFF, 0x18000, 0x18001]
    values = np.concatenate([(start + np.array(offsets, np.uint32)).view(np.float32) for start in starts])
    values = np.concatenate([values[np.abs(values) <= 65504], np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)])
    case("rounding", "weights are rounded to nearest even; an Identity that is lowered shows them", f"""
        g () => (float[{len(values)}] y) <float[{len(values)}] w> {{
            y = Identity(w)
        }}""", weight("w", values), args=DUMP + " --op Identity=lower")
    for name, dtype in ("bf16", TensorProto.BFLOAT16), ("fp16", TensorProto.FLOAT16):
        folder = os.path.join(here, "rounding", name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "output_0.pb"), "wb") as file:
            file.write(bits_of(values, dtype).SerializeToString())


rounding()


def annotate(model):
    """Text in every place that takes some, fields that no version of ONNX knows, a function that nobody calls."""
    def unknown(text):
        return b"\xc2\x3e" + bytes([len(text)]) + text.encode()  # field 1000, of bytes

    add_function(model)
    model.producer_name, model.producer_version, model.domain = "kept:producer;", "kept:version;", "kept:domain;"
    model.doc_string, model.model_version = "kept:model;", 7
    model.metadata_props.add(key="kept:key;", value="kept:value;")
    graph = model.graph
    graph.name, graph.doc_string = "kept:graph;", "kept:graph-doc;"
    graph.metadata_props.add(key="kept:graph-key;", value="kept:graph-value;")
    annotation = graph.quantization_annotation.add(tensor_name="a")
    annotation.quant_parameter_tensor_names.add(key="kept:SCALE_TENSOR;", value="u")
    for node in graph.node:
        node.doc_string = f"kept:doc-of-{node.op_type};"
        node.metadata_props.add(key="kept:node-key;", value=f"kept:value-of-{node.op_type};")
        if node.domain:
            node.attribute.add(name="kept:name;", doc_string="kept:attribute;", type=onnx.AttributeProto.INT, i=1)
    for i, info in enumerate(list(graph.input) + list(graph.output)):
        info.doc_string = f"kept:value-{i};"
        info.type.denotation = f"kept:denotation-{i};"
    for tensor in graph.initializer:
        if tensor.name == "u":
            tensor.doc_string = "kept:tensor;"
    graph.node[0].MergeFromString(unknown("kept:unknown-of-node;"))
    graph.MergeFromString(unknown("kept:unknown-of-graph;"))
    model.MergeFromString(unknown("kept:unknown-of-model;"))


case("untouched", "text in every place that takes some, and unknown fields, come out as they went in", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4] u> {
        a = MatMul(x, w)
        b = Celu(a)
        c = my.ops.Strange(b)
        y = Add(c, u)
    }""", annotate, domains=', "my.ops": 1')

#!/usr/bin/env python3
"""Makes the models with operators of other domains (com.microsoft, ai.onnx.ml, unknown ones), with types other than tensors, and
quantized ones; cases.py says what a case is."""
import numpy as np
from onnx import TensorProto, helper

from cases import DUMP, case, weight

MS = ', "com.microsoft": 1'
ML = ', "ai.onnx.ml": 3'
OPS = ', "my.ops": 1'
FP16 = DUMP + " -d fp16"
BOTH = {"fp16": FP16}


def add_sequence(name, dims):
    """An edit that declares sequence value NAME of float tensors as a graph output; the text form cannot."""
    def edit(model):
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, dims)
        model.graph.output.append(helper.make_value_info(name, helper.make_sequence_type_proto(tensor)))
    return edit


# ---- com.microsoft

case("contrib_encoder", "com.microsoft operators follow their inputs as far as their types go: bfloat16 is not for all of them", """
    g (int32[2,3] ids, int32[2,3] mask) => (float[2,3,4] y)
      <float[9,4] words, float[3,4] places, float[4] gamma, float[4] beta, float[4,4] p, float[4,12] w, float[12] b, float[4,4] o,
       float[4] bias, float[4,4] u> {
        e, counts = com.microsoft.EmbedLayerNormalization(ids, , words, places, , gamma, beta, mask)
        f = MatMul(e, p)
        a = com.microsoft.Attention<num_heads = 2>(f, w, b, counts)
        m = com.microsoft.FusedMatMul<transB = 1>(a, o)
        s = com.microsoft.SkipLayerNormalization<epsilon = 0.01>(m, f, gamma, beta, bias)
        n = MatMul(s, u)
        g = com.microsoft.BiasGelu(n, bias)
        h = com.microsoft.FastGelu(g)
        q = com.microsoft.QuickGelu(h)
        y = com.microsoft.Gelu(q)
    }""", opset=17, ir=8, domains=MS, variants=BOTH,
     inputs={"ids": [[1, 2, 3], [4, 5, 6]], "mask": [[1, 1, 1], [1, 1, 0]]})

case("contrib_rules", "a rule lowers com.microsoft operators by name; those of the same name in ai.onnx are others", """
    g (float[1,2,3,3] x) => (float[1,3,3,3] y) <float[3,2,1,1] w, float[3,3] v> {
        c = com.microsoft.FusedConv<activation = "Relu">(x, w)
        m = com.microsoft.FusedMatMul<alpha = 0.5>(c, v)
        g = com.microsoft.Gelu(m)
        y = Gelu(g)
    }""", opset=20, ir=9, domains=MS,
     args=FP16 + " --op com.microsoft::FusedConv=lower --op com.microsoft::FusedMatMul=lower --op com.microsoft::Gelu=fp32",
     variants={"bf16": DUMP + " --op com.microsoft::FusedConv=lower --op com.microsoft::FusedMatMul=lower"})

case("contrib_decoder", "positions and lengths keep their integers; caches keep the model's types", """
    g (float[1,2,64] x, float[1,2,4,16] past_k, float[1,2,4,16] past_v, int32[1] last, int32[1] total)
      => (float[1,2,64] y, float[1,2,6,16] k, float[1,2,6,16] v)
      <float[64,128] w, float[8,8] cosines, float[8,8] sines, float[64] gamma, float[64,64] o> {
        n = SimplifiedLayerNormalization(x, gamma)
        p = MatMul(n, w)
        a, k, v = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1>
            (p, , , past_k, past_v, last, total, cosines, sines)
        o2 = MatMul(a, o)
        y = com.microsoft.SkipSimplifiedLayerNormalization(o2, x, gamma)
    }""", opset=16, ir=8, domains=MS, variants=BOTH, inputs={"last": [5], "total": [6]})

case("contrib_heads", "MultiHeadAttention and RotaryEmbedding: an int32 mask, int64 positions", """
    g (float[2,3,8] x, int64[2,3] at, int32[2,3] mask) => (float[2,3,8] y) <float[8,8] w, float[5,2] cosines, float[5,2] sines> {
        q = MatMul(x, w)
        r = com.microsoft.RotaryEmbedding(q, at, cosines, sines)
        a = com.microsoft.MultiHeadAttention<num_heads = 2>(r, r, q, , mask)
        y = MatMul(a, w)
    }""", opset=17, ir=8, domains=MS, variants=BOTH,
     inputs={"at": [[0, 1, 2], [2, 3, 4]], "mask": [[1, 1, 1], [1, 0, 1]]})

case("contrib_unknown", "a com.microsoft operator that is not known: float32 at its edges", """
    g (float[2,3,3] x) => (float[2,3,3] y) <float[3,3] w> {
        a = MatMul(x, w)
        b = com.microsoft.Inverse(a)
        c = Identity(b)
        y = MatMul(a, w)
    }""", opset=17, ir=8, domains=MS, variants=BOTH)

case("contrib_newer", "attributes and inputs that the known com.microsoft operators do not have: others, with float32 at their edges", """
    g (float[2,3,3] x) => (float[2,3,3] y) <float[3,3] w> {
        a = MatMul(x, w)
        b = com.microsoft.Gelu<shift = 1>(a)
        c = MatMul(a, w)
        y = com.microsoft.BiasGelu(c, w, w)
    }""", opset=17, ir=8, domains=MS, variants=BOTH)

case("contrib_layer_norm", "ONNX Runtime's LayerNormalization of opsets before 17 follows its input, its scale with it", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4] gamma, float[4] beta> {
        a = MatMul(x, w)
        n = LayerNormalization<axis = -1>(a, gamma, beta)
        s = SimplifiedLayerNormalization(n, gamma)
        y = MatMul(s, w)
    }""", opset=16, ir=8, args=FP16, variants={"rule": FP16 + " --op SimplifiedLayerNormalization=lower --op LayerNormalization=lower"})

# ---- ai.onnx.ml

case("ml_between", "operators of ai.onnx.ml between lowered ones take and give float32", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        s = ai.onnx.ml.Scaler<offset = [0.5, 0.25, 0.0, 1.0], scale = [2.0, 1.0, 0.5, 1.0]>(a)
        b = MatMul(s, w)
        n = ai.onnx.ml.Normalizer<norm = "L2">(b)
        c = MatMul(n, w)
        y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 0.5, 0.25, 2.0, 0.5, 0.5, 1.0, 1.0, 1.0, 2.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.5],
                                       intercepts = [0.0, 1.0, 2.0, 3.0], targets = 4>(c)
    }""", domains=ML, variants=BOTH)

case("ml_trees", "TreeEnsemble takes float16 too, but its thresholds, which are attributes, keep it in float32", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[1,4] v> {
        a = MatMul(x, w)
        t = ai.onnx.ml.TreeEnsemble<nodes_featureids = [0], nodes_modes = uint8[1] {0}, nodes_splits = float[1] {0.0},
            nodes_truenodeids = [0], nodes_falsenodeids = [1], nodes_trueleafs = [1], nodes_falseleafs = [1], tree_roots = [0],
            leaf_targetids = [0, 0], leaf_weights = float[2] {1.5, -2.5}, n_targets = 1>(a)
        y = MatMul(t, v)
    }""", domains=', "ai.onnx.ml": 5', variants=BOTH)


def zip_map(model):
    """The map output, which the text form cannot declare."""
    model.graph.node.append(helper.make_node("ZipMap", ["p"], ["z"], "ZipMap_z", domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2]))
    value = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, value))
    model.graph.output.append(helper.make_value_info("z", kind))


case("ml_map", "a classifier's probabilities end in maps, its labels are integers", """
    g (float[2,4] x) => (int64[2] label) <float[4,4] w> {
        a = MatMul(x, w)
        label, p = ai.onnx.ml.LinearClassifier<classlabels_ints = [0, 1, 2], multi_class = 0, post_transform = "SOFTMAX",
            coefficients = [1.0, 0.5, 0.25, 2.0, 0.5, 0.5, 1.0, 1.0, 1.0, 2.0, 1.0, 0.5], intercepts = [0.0, 1.0, 2.0]>(a)
    }""", zip_map, domains=ML, variants=BOTH)

# ---- sequences and optionals

case("sequence_split", "a lowered value is split into a sequence, one of its tensors goes on, all are joined again", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[2,2] v, int64 i = {1}, int64 n = {2}> {
        a = MatMul(x, w)
        s = SplitToSequence<axis = 1>(a, n)
        t = SequenceAt(s, i)
        b = MatMul(t, v)
        l = SequenceInsert(s, b)
        r = SequenceErase(l, i)
        j = ConcatFromSequence<axis = 1>(r)
        y = MatMul(j, w)
    }""", variants=BOTH)

case("sequence_output", "a sequence of lowered values that is a graph output", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        b = Relu(a)
        s = SequenceConstruct(a, b, x)
        y = MatMul(b, w)
    }""", add_sequence("s", [2, 4]), variants=BOTH)

case("optional_value", "an optional of a lowered value", """
    g (float[2,4] x) => (float[2,4] y, bool has) <float[4,4] w> {
        a = MatMul(x, w)
        o = Optional(a)
        has = OptionalHasElement(o)
        e = OptionalGetElement(o)
        y = MatMul(e, w)
    }""", opset=18, ir=8, variants=BOTH)

# ---- unknown domains

case("custom_op_in_body", "an unknown operator in an If body, of a value captured from outside and a weight", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { q = my.ops.Strange(a, w)
                                                   p = Relu(q) },
            else_branch = e () => (float[2,4] r) { r = MatMul(a, w) }>
    }""", domains=OPS, variants=BOTH)

case("custom_op_no_type", "unknown operators in a row: nothing says a type between them, and nothing is cast there", """
    g (float[2,4] x) => (y) <float[4,4] w> {
        a = MatMul(x, w)
        b = my.ops.Strange(a)
        c = my.ops.Stranger(b, a)
        d = Relu(c)
        y = my.ops.Strange(d)
    }""", domains=OPS)

# ---- quantized models


def scales(*names):
    """An edit that makes the scales NAMES positive: 1/16, 1/8, 3/16, .."""
    def edit(model):
        for tensor in model.graph.initializer:
            if tensor.name in names:
                count = int(np.prod(list(tensor.dims), dtype=np.int64))
                values = (np.arange(count) + 1).reshape(list(tensor.dims)) / 16
                weight(tensor.name, values)(model)
    return edit


QDQ = """
    g (float[1,2,4,4] x) => (float[1,3,4,4] y)
      <float[2,2,1,1] u, int8[3,2,3,3] w, int32[3] b, float s, float[{n}] sw, float[{n}] sb, float so, uint8 z = {{128}}, uint8 zo = {{120}},
       int8[{n}] zw = {zeros}, int32[{n}] zb = {zeros}, float[3,3,1,1] v> {{
        a = Conv(x, u)
        q = QuantizeLinear(a, s, z)
        d = DequantizeLinear(q, s, z)
        dw = DequantizeLinear{axis}(w, sw, zw)
        db = DequantizeLinear{axis}(b, sb, zb)
        c = Conv<pads = [1, 1, 1, 1]>(d, dw, db)
        qc = QuantizeLinear(c, so, zo)
        dc = DequantizeLinear(qc, so, zo)
        y = Conv(dc, v)
    }}"""
PER_TENSOR = QDQ.format(n="", zeros="{0}", axis="").replace("float[] ", "float ").replace("int8[] ", "int8 ").replace("int32[] ", "int32 ")
PER_AXIS = QDQ.format(n="3", zeros="{0, 0, 0}", axis="<axis = 0>")
for name, text, opset, ir in (("qdq_conv_10", PER_TENSOR, 10, 5), ("qdq_conv_13", PER_AXIS, 13, 7), ("qdq_conv_19", PER_AXIS, 19, 9),
                              ("qdq_conv_21", PER_AXIS, 21, 10)):
    case(name, "a Conv between DequantizeLinear and QuantizeLinear stays what it is, those around are lowered", text,
         scales("s", "sw", "sb", "so"), opset=opset, ir=ir, args=FP16, variants={"bf16": DUMP})

case("qdq_explain", "what the report says of nodes in an integer island", PER_AXIS, scales("s", "sw", "sb", "so"), opset=13, ir=7,
     args="model.onnx --explain --no-validate -o out.onnx -v")

case("qdq_weight_only", "dequantized weights with float data: no island, the product is lowered", """
    g (float[2,4] x) => (float[2,3] y) <int8[4,3] w, float[3] s, int8[3] z = {0, 0, 0}> {
        d = DequantizeLinear<axis = 1>(w, s, z)
        y = MatMul(x, d)
    }""", scales("s"), opset=13, ir=7, variants=BOTH)

case("qdq_matmul_add", "an island of two operators with integers in between, and one whose output leaves it", """
    g (float[2,4] x) => (float[2,4] y, float[2,4] out) <int8[4,4] w, float s, int8 z = {3}, float[4,4] v> {
        q = QuantizeLinear(x, s, z)
        d = DequantizeLinear(q, s, z)
        dw = DequantizeLinear(w, s, z)
        m = MatMul(d, dw)
        qm = QuantizeLinear(m, s, z)
        dm = DequantizeLinear(qm, s, z)
        a = Add(dm, d)
        qa = QuantizeLinear(a, s, z)
        da = DequantizeLinear(qa, s, z)
        out = MatMul(da, dw)
        qo = QuantizeLinear(out, s, z)
        do = DequantizeLinear(qo, s, z)
        y = MatMul(do, v)
    }""", scales("s"), opset=13, ir=7, variants=BOTH)

case("qlinear_ops", "QLinearConv and QLinearMatMul: scales stay float32, integers are not touched", """
    g (float[1,2,3,3] x) => (float[1,2,3,3] y)
      <float[2,2,1,1] u, float s, uint8 z = {128}, uint8[2,2,1,1] w, float[2] sw, uint8[2] zw = {5, 5}, int32[2] b = {1, 2},
       uint8[3,3] m, float[3,3] v> {
        a = Conv(x, u)
        q = QuantizeLinear(a, s, z)
        c = QLinearConv(q, s, z, w, sw, zw, s, z, b)
        p = QLinearMatMul(c, s, z, m, s, z, s, z)
        d = DequantizeLinear(p, s, z)
        y = MatMul(d, v)
    }""", scales("s", "sw"), opset=10, ir=5, args=FP16, variants={"bf16": DUMP})

case("quantized_dynamically", "DynamicQuantizeLinear takes float32, MatMulInteger integers; the product of scales goes on lowered", """
    g (float[2,4] x) => (float[2,3] y) <float[4,4] u, uint8[4,3] w, float sw, uint8 zw = {3}, float[3,3] v> {
        a = MatMul(x, u)
        q, s, z = DynamicQuantizeLinear(a)
        i = MatMulInteger(q, w, z, zw)
        f = Cast<to = 1>(i)
        t = Mul(s, sw)
        r = Mul(f, t)
        y = MatMul(r, v)
    }""", scales("sw"), opset=13, ir=7, variants=BOTH)

case("quantized_contrib", "com.microsoft's quantized operators: QLinearAdd between lowered ones", """
    g (float[2,4] x) => (float[2,4] y) <float[4,4] u, float s, uint8 z = {128}> {
        a = MatMul(x, u)
        q = QuantizeLinear(a, s, z)
        c = com.microsoft.QLinearAdd(q, s, z, q, s, z, s, z)
        m = com.microsoft.QLinearMul(c, s, z, q, s, z, s, z)
        d = DequantizeLinear(m, s, z)
        y = MatMul(d, u)
    }""", scales("s"), opset=13, ir=7, domains=MS, variants=BOTH)

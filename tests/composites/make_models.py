#!/usr/bin/env python3
"""Makes the models of operators taken apart, as exporters other than torch.onnx write them, and the near misses.

Each case is a folder beside this script with model.onnx, about, and `composites`: a line "NODE COMPOSITE" for every node that must
be found to be part of one, in the graph's order; empty for a near miss. The scripts of the neighbouring folder fill weights with
values of no meaning and name nodes after their operator and output. Needs the onnx Python package (1.17) and numpy; same input,
same bytes.
"""
import os
import string
import sys
import textwrap

from onnx import parser

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "convert"))
from cases import fill_weights, name_nodes  # noqa: E402


def write(name, about, model, parts):
    folder = os.path.join(here, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    with open(os.path.join(folder, "about"), "w", encoding="utf-8") as file:
        file.write(about + "\n")
    with open(os.path.join(folder, "composites"), "w", encoding="utf-8") as file:
        file.writelines(f"{node} {composite}\n" for node, composite in parts)


def nodes_of(graph):
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)
        yield node


# Lines that several graphs share: `$name` in a graph's text.
SHARED = {
    # the standard deviation of the data, as layer normalisation takes it
    "deviation": """
        m = ReduceMean <axes = [-1]> (x)
        d = Sub(x, m)
        q = Mul(d, d)
        v = ReduceMean <axes = [-1]> (q)
        e = Add(v, eps)
        r = Sqrt(e)""",
    "erf": """
        a = Div(x, root)
        b = Erf(a)
        c = Add(b, one)
        d = Mul(x, c)
        y = Mul(d, half)""",
    "tanh_of_cubes": """
        b = Mul(a, k)
        c = Add(x, b)
        d = Mul(c, r)
        e = Tanh(d)
        f = Add(e, one)
        y = Mul(h, f)""",
    # what Softmax divides by, the largest subtracted first
    "powers": "m = ReduceMax(x, last)\n d = Sub(x, m)\n e = Exp(d)\n s = ReduceSum(e, last)",
    # attention's products of queries and keys
    "scores": """
        a = Mul(q, s)
        t = Transpose <perm = [0, 1, 3, 2]> (k)
        b = Mul(t, s)
        p = MatMul(a, b)""",
    # cross entropy of probabilities: what is known and found, then, from 1 - s = n on, the mean
    "chances": "u = Sigmoid(t)\n s = Sigmoid(x)",
    "entropy": """
        l = Log(s)
        m = Log(n)
        a = Mul(l, u)
        v = Sub(one, u)
        b = Mul(m, v)
        c = Add(b, a)
        d = Neg(c)
        y = ReduceMean <keepdims = 0> (d)""",
}


def case(name, about, text, whole=None, outside="", opset=17):
    """Makes case NAME. WHOLE: the composite of all nodes but those that make the values in OUTSIDE, or a dict of composite -> values."""
    ir = 8 if opset < 19 else 10
    text = string.Template(text).substitute(SHARED)
    model = parser.parse_model(f'<ir_version: {ir}, opset_import: ["": {opset}]> {textwrap.dedent(text)}')
    fill_weights(model.graph)
    name_nodes(model.graph)
    parts = []
    for node in nodes_of(model.graph):
        if isinstance(whole, dict):
            parts += [(node.name, composite) for composite, values in whole.items() if node.output[0] in values.split()]
        elif whole is not None and node.output[0] not in outside.split():
            parts.append((node.name, whole))
    write(name, about, model, parts)


# ---- layer normalisation

LAYER_NORM = """
    g (float[2,3,8] x) => (float[2,3,8] y) <float[8] s, float[8] b, float two = {{2.0}}, float eps = {{0.00001}}, float half = {{0.5}}> {{
        m = ReduceMean <axes = [{axes}]> (x)
        d = Sub(x, m)
        q = {square}
        v = ReduceMean <axes = [{axes2}]> (q)
        e = Add({sum})
        {root}
        n = {quotient}
        {affine}
    }}"""


def layer_norm(name, about, whole="LayerNormalization", outside="", opset=13, **parts):
    given = {"axes": "-1", "axes2": "-1", "square": "Mul(d, d)", "sum": "v, eps", "root": "r = Sqrt(e)", "quotient": "Div(d, r)",
             "affine": "t = Mul(n, s)\n y = Add(t, b)"}
    given.update({"axes2": parts.get("axes", "-1")} | parts)
    case(name, about, LAYER_NORM.format(**given), whole, outside, opset)


layer_norm("layer_norm", "squares as a product")
layer_norm("layer_norm_pow", "squares as a power, operands in the other order", square="Pow(d, two)", sum="eps, v",
           affine="t = Mul(s, n)\n y = Add(b, t)")
layer_norm("layer_norm_scale", "a scale and no shift", affine="y = Mul(n, s)")
layer_norm("layer_norm_plain", "no affine part", affine="y = Identity(n)", outside="y")
layer_norm("layer_norm_front", "the axis counted from the front, the other from the end", axes="2", axes2="-1")
layer_norm("layer_norm_axes", "two axes, in different orders", axes="1, 2", axes2="-1, 1")
layer_norm("layer_norm_reciprocal", "multiplied by the reciprocal of the root", root="o = Sqrt(e)\n r = Reciprocal(o)",
           quotient="Mul(r, d)")
layer_norm("layer_norm_power", "the root as a power", root="r = Pow(e, half)")
layer_norm("layer_norm_identity", "nodes that change nothing in between", root="i = Identity(e)\n r = Sqrt(i)",
           affine="o = Dropout(n)\n t = Mul(o, s)\n y = Add(t, b)")
layer_norm("miss_layer_norm_axis", "the mean and the variance over different axes: the rest is another normalisation",
           {"RMSNormalization": "q v e r n t"}, axes="1", axes2="-1")
layer_norm("miss_layer_norm_inner_axis", "over an axis that is not the last", None, axes="1")
layer_norm("miss_layer_norm_abs", "magnitudes instead of squares", None, square="Abs(d)")
layer_norm("miss_layer_norm_scale", "scaled by data: only the normalisation is one", {"LayerNormalization": "m d q v e r n"},
           affine="z = Relu(x)\n t = Mul(n, z)\n y = Add(t, b)")
layer_norm("miss_layer_norm_eps", "more than a guard is added", None, sum="v, two")
case("layer_norm_two_means", "the mean is subtracted once for the square and once for the quotient", """
    g (float[2,8] x) => (float[2,8] y) <float[8] s, float[8] b, float two = {2.0}, float eps = {0.00001}> {
        m = ReduceMean <axes = [-1]> (x)
        d = Sub(x, m)
        c = Sub(x, m)
        q = Pow(c, two)
        v = ReduceMean <axes = [-1]> (q)
        e = Add(v, eps)
        r = Sqrt(e)
        n = Div(d, r)
        t = Mul(n, s)
        y = Add(t, b)
    }""", "LayerNormalization", opset=13)
case("layer_norm_keras", "scale and shift gathered before they meet the data, as tf2onnx writes Keras' layer", """
    g (float[2,8] x) => (float[2,8] y) <float[8] s, float[8] b, float eps = {0.001}> {
        $deviation
        i = Reciprocal(r)
        k = Mul(i, s)
        p = Mul(x, k)
        o = Mul(m, k)
        l = Sub(b, o)
        y = Add(p, l)
    }""", "LayerNormalization", opset=13)
case("layer_norm_18", "axes as an input", """
    g (float[2,8] x) => (float[2,8] y) <float[8] s, float[8] b, float eps = {0.00001}, int64[1] last = {-1}, float two = {2.0}> {
        m = ReduceMean(x, last)
        d = Sub(x, m)
        q = Pow(d, two)
        v = ReduceMean(q, last)
        e = Add(v, eps)
        r = Sqrt(e)
        n = Div(d, r)
        t = Mul(n, s)
        y = Add(t, b)
    }""", "LayerNormalization", opset=18)
case("layer_norm_body", "in the body of an If, with data from outside", """
    g (float[2,8] x, bool c) => (float[2,8] z) <float[8] s, float[8] b, float eps = {0.00001}> {
        z = If (c) <then_branch = yes () => (float[2,8] y) {
            $deviation
            n = Div(d, r)
            t = Mul(n, s)
            y = Add(t, b)
        }, else_branch = no () => (float[2,8] o) { o = Relu(x) }>
    }""", "LayerNormalization", "z o", opset=13)
case("miss_layer_norm_shared", "the variance is used elsewhere", """
    g (float[2,8] x) => (float[2,8] y, float[2,1] u) <float eps = {0.00001}> {
        m = ReduceMean <axes = [-1]> (x)
        d = Sub(x, m)
        q = Mul(d, d)
        v = ReduceMean <axes = [-1]> (q)
        u = Relu(v)
        e = Add(v, eps)
        r = Sqrt(e)
        y = Div(d, r)
    }""", None, opset=13)
case("miss_layer_norm_output", "the mean is an output of the graph: what remains is another normalisation", """
    g (float[2,8] x) => (float[2,8] y, float[2,1] m) <float eps = {0.00001}> {
        $deviation
        y = Div(d, r)
    }""", {"RMSNormalization": "q v e r y"}, opset=13)
case("miss_layer_norm_body", "the variance is used in a body", """
    g (float[2,8] x, bool c) => (float[2,8] y, float[2,1] z) <float eps = {0.00001}> {
        $deviation
        y = Div(d, r)
        z = If (c) <then_branch = yes () => (float[2,1] a) { a = Relu(v) }, else_branch = no () => (float[2,1] o) { o = Neg(v) }>
    }""", None, opset=13)

# ---- root mean squares

case("rms_norm", "as language models write it, with a cast to the type that the data have", """
    g (float[2,8] x) => (float[2,8] y) <float[8] s, float two = {2.0}, float eps = {0.000001}, float one = {1.0}> {
        f = Cast <to = 1> (x)
        q = Pow(f, two)
        v = ReduceMean <axes = [-1]> (q)
        e = Add(v, eps)
        r = Sqrt(e)
        i = Div(one, r)
        n = Mul(f, i)
        c = Cast <to = 1> (n)
        y = Mul(s, c)
    }""", "RMSNormalization", "f")
case("rms_norm_plain", "no scale, products and a quotient", """
    g (float[2,8] x) => (float[2,8] y) <float eps = {0.000001}, int64[1] last = {1}> {
        q = Mul(x, x)
        v = ReduceMean(q, last)
        e = Add(eps, v)
        r = Sqrt(e)
        y = Div(x, r)
    }""", "RMSNormalization", opset=18)
case("miss_rms_norm_axis", "over the first axis", """
    g (float[2,8] x) => (float[2,8] y) <float eps = {0.000001}> {
        q = Mul(x, x)
        v = ReduceMean <axes = [0]> (q)
        e = Add(eps, v)
        r = Sqrt(e)
        y = Div(x, r)
    }""")
case("miss_rms_norm_other", "the quotient is of other data", """
    g (float[2,8] x, float[2,8] z) => (float[2,8] y) <float eps = {0.000001}> {
        q = Mul(x, x)
        v = ReduceMean <axes = [-1]> (q)
        e = Add(eps, v)
        r = Sqrt(e)
        y = Div(z, r)
    }""")

# ---- other normalisations

case("group_norm", "as instances, shapes as constants", """
    g (float[2,4,3,3] x) => (float[2,4,3,3] y) <int64[3] a = {2, 2, 18}, int64[4] b = {2, 4, 3, 3}, float[2] one = {1.0, 1.0},
       float[2] zero = {0.0, 0.0}, float[1,4,1,1] s, float[1,4,1,1] t> {
        r = Reshape(x, a)
        i = InstanceNormalization(r, one, zero)
        o = Reshape(i, b)
        m = Mul(o, s)
        y = Add(m, t)
    }""", "GroupNormalization")
case("group_norm_parts", "mean and variance over the axes of a group, as Keras writes it", """
    g (float[2,4,3,3] x) => (float[2,4,3,3] y) <int64[4] a = {2, 2, 18, 1}, int64[4] b = {2, 4, 3, 3}, float eps = {0.001},
       float[4,1,1] s, float[4,1,1] t> {
        r = Reshape(x, a)
        m = ReduceMean <axes = [2, 3]> (r)
        d = Sub(r, m)
        q = Mul(d, d)
        v = ReduceMean <axes = [2, 3]> (q)
        e = Add(v, eps)
        w = Sqrt(e)
        n = Div(d, w)
        o = Reshape(n, b)
        p = Mul(o, s)
        y = Add(p, t)
    }""", "GroupNormalization", opset=13)
case("miss_group_norm_axis", "the affine part is along another axis", """
    g (float[2,4,4,4] x) => (float[2,4,4,4] y) <int64[3] a = {2, 2, 32}, int64[4] b = {2, 4, 4, 4}, float[2] one = {1.0, 1.0},
       float[2] zero = {0.0, 0.0}, float[4,1] s, float[4,1] t> {
        r = Reshape(x, a)
        i = InstanceNormalization(r, one, zero)
        o = Reshape(i, b)
        m = Mul(o, s)
        y = Add(m, t)
    }""", {"GroupNormalization": "r i o"})
case("instance_norm", "over the spatial axes, with a scale and a shift per channel", """
    g (float[2,3,4,4] x) => (float[2,3,4,4] y) <float eps = {0.001}, float[3,1,1] s, float[3,1,1] t, float two = {2.0}> {
        m = ReduceMean <axes = [2, 3]> (x)
        d = Sub(x, m)
        q = Pow(d, two)
        v = ReduceMean <axes = [-1, -2]> (q)
        e = Add(v, eps)
        w = Sqrt(e)
        n = Div(d, w)
        p = Mul(n, s)
        y = Add(p, t)
    }""", "InstanceNormalization", opset=13)
case("batch_norm", "statistics as weights", """
    g (float[2,3,4,4] x) => (float[2,3,4,4] y) <float eps = {0.001}, float[1,3,1,1] m, float[1,3,1,1] v, float[1,3,1,1] s,
       float[1,3,1,1] t> {
        d = Sub(x, m)
        e = Add(v, eps)
        w = Sqrt(e)
        n = Div(d, w)
        p = Mul(n, s)
        y = Add(p, t)
    }""", "BatchNormalization")
case("l2_normalize", "by a sum of squares, as tf2onnx writes it", """
    g (float[2,8] x) => (float[2,8] y) <float eps = {0.000000000001}> {
        q = ReduceSumSquare <axes = [-1]> (x)
        c = Max(q, eps)
        r = Sqrt(c)
        i = Reciprocal(r)
        y = Mul(x, i)
    }""", "LpNormalization")
case("l2_normalize_div", "by a root of a sum", """
    g (float[2,8] x) => (float[2,8] y) <float eps = {0.000001}, int64[1] last = {-1}> {
        q = Mul(x, x)
        n = ReduceSum(q, last)
        r = Sqrt(n)
        c = Add(r, eps)
        y = Div(x, c)
    }""", "LpNormalization")
case("miss_l2_normalize_clip", "the norm is cut at 1", """
    g (float[2,8] x) => (float[2,8] y) <float one = {1.0}> {
        n = ReduceL2 <axes = [-1]> (x)
        c = Clip(n, one)
        y = Div(x, c)
    }""")

# ---- activations

GELU = """
    g (float[2,8] x) => (float[2,8] y) <float root = {{1.41421354}}, float inverse = {{0.70710677}}, float one = {{1.0}},
       float half = {{0.5}}, float two = {{2.0}}, float wrong = {{1.5}}> {{
        {text}
    }}"""


def gelu(name, about, text, whole="Gelu", outside=""):
    case(name, about, GELU.format(text=text), whole, outside)


gelu("gelu", "half of the data first, one first", "h = Mul(half, x)\n a = Mul(x, inverse)\n b = Erf(a)\n c = Add(one, b)\n y = Mul(h, c)")
gelu("gelu_inner_half", "half of the error function", "a = Div(x, root)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(half, c)\n y = Mul(x, d)")
gelu("gelu_halved", "divided by two", "a = Div(x, root)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(c, x)\n y = Div(d, two)")
gelu("miss_gelu_number", "not the root of two", "a = Div(x, wrong)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(x, c)\n y = Mul(d, half)", None)
gelu("miss_gelu_factor", "not half", "a = Div(x, root)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(x, c)\n y = Mul(d, two)", None)
gelu("miss_gelu_other", "times other data", "z = Relu(x)\n a = Div(x, root)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(z, c)\n y = Mul(d, half)",
     None)
case("miss_gelu_output", "the error function is an output", """
    g (float[2,8] x) => (float[2,8] y, float[2,8] b) <float root = {1.41421354}, float one = {1.0}, float half = {0.5}> {
        $erf
    }""")
case("miss_gelu_weight", "the root of two is an input with a default, which a caller may override", """
    g (float[2,8] x, float root = {1.41421354}) => (float[2,8] y) <float one = {1.0}, float half = {0.5}> {
        $erf
    }""")
case("gelu_tanh", "cubes as a power, half of the data first, as transformers write it", """
    g (float[2,8] x) => (float[2,8] y) <float three = {3.0}, float k = {0.044715}, float r = {0.797884583}, float one = {1.0},
       float half = {0.5}> {
        h = Mul(x, half)
        a = Pow(x, three)
        $tanh_of_cubes
    }""", "Gelu")
case("gelu_tanh_fast", "the polynomial drawn out", """
    g (float[2,8] x) => (float[2,8] y) <float k = {0.044715}, float r = {0.797884583}, float one = {1.0}, float half = {0.5}> {
        h = Mul(x, half)
        a = Mul(x, r)
        b = Mul(x, k)
        c = Mul(b, x)
        d = Add(c, one)
        i = Mul(a, d)
        e = Tanh(i)
        f = Add(one, e)
        y = Mul(h, f)
    }""", "Gelu")
case("miss_gelu_tanh_shared", "the cubes are used elsewhere", """
    g (float[2,8] x) => (float[2,8] y, float[2,8] z) <float three = {3.0}, float k = {0.044715}, float r = {0.797884583},
       float one = {1.0}, float half = {0.5}> {
        h = Mul(x, half)
        a = Pow(x, three)
        z = Relu(a)
        $tanh_of_cubes
    }""")
case("swish", "the sigmoid first", "g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Mul(s, x) }", "Swish")
case("swish_alpha", "with a factor, as some models approximate Gelu", """
    g (float[4] x) => (float[4] y) <float a = {1.702}> {
        b = Mul(a, x)
        s = Sigmoid(b)
        y = Mul(x, s)
    }""", "Swish")
case("miss_swish_gate", "a gate of other data", "g (float[4] x, float[4] z) => (float[4] y) { s = Sigmoid(z)\n y = Mul(s, x) }")
case("miss_swish_shared", "the sigmoid is used twice", """
    g (float[4] x) => (float[4] y, float[4] z) {
        s = Sigmoid(x)
        y = Mul(s, x)
        z = Neg(s)
    }""")

HARD = """
    g (float[4] x) => (float[4] y) <float zero = {{0.0}}, float one = {{1.0}}, float three = {{3.0}}, float six = {{6.0}},
       float sixth = {{0.166666672}}, float fifth = {{0.2}}, float half = {{0.5}}> {{
        {text}
    }}"""


def hard(name, about, text, whole, outside=""):
    case(name, about, HARD.format(text=text), whole, outside)


hard("hard_swish", "with Clip and a quotient", "a = Add(x, three)\n c = Clip(a, zero, six)\n p = Mul(x, c)\n y = Div(p, six)", "HardSwish")
hard("hard_swish_relu6", "with Relu and Min and a product", "a = Add(three, x)\n r = Relu(a)\n c = Min(r, six)\n p = Mul(c, sixth)\n y = Mul(p, x)",
     "HardSwish")
hard("hard_swish_sigmoid", "with HardSigmoid", "s = HardSigmoid <alpha = 0.166666672> (x)\n y = Mul(s, x)", "HardSwish")
hard("miss_hard_swish_alpha", "HardSigmoid with another slope", "s = HardSigmoid <alpha = 0.2> (x)\n y = Mul(s, x)", None)
hard("miss_hard_swish_limit", "cut at other limits", "a = Add(x, three)\n c = Clip(a, one, six)\n p = Mul(x, c)\n y = Div(p, six)", None)
hard("hard_sigmoid", "with Clip", "a = Add(x, three)\n c = Clip(a, zero, six)\n y = Div(c, six)", "HardSigmoid")
hard("hard_sigmoid_keras", "a line, cut", "p = Mul(x, fifth)\n a = Add(p, half)\n y = Clip(a, zero, one)", "HardSigmoid")
hard("hard_sigmoid_min_max", "cut with Max and Min", "p = Mul(x, fifth)\n a = Add(half, p)\n b = Max(a, zero)\n y = Min(one, b)", "HardSigmoid")
hard("miss_hard_sigmoid_limit", "cut at other limits", "p = Mul(x, fifth)\n a = Add(p, half)\n y = Clip(a, zero, six)", None)
case("hard_swish_6", "limits as attributes", """
    g (float[4] x) => (float[4] y) <float three = {3.0}, float six = {6.0}> {
        a = Add(x, three)
        c = Clip <min = 0.0, max = 6.0> (a)
        p = Mul(x, c)
        y = Div(p, six)
    }""", "HardSwish", opset=10)

case("mish", "of a Softplus", "g (float[4] x) => (float[4] y) { s = Softplus(x)\n t = Tanh(s)\n y = Mul(t, x) }", "Mish")
case("mish_parts", "all taken apart: the larger composite counts", """
    g (float[4] x) => (float[4] y) <float one = {1.0}> {
        e = Exp(x)
        a = Add(e, one)
        l = Log(a)
        t = Tanh(l)
        y = Mul(x, t)
    }""", "Mish")
case("miss_mish_other", "of other data", "g (float[4] x, float[4] z) => (float[4] y) { s = Softplus(z)\n t = Tanh(s)\n y = Mul(t, x) }")
case("softplus", "by its definition", """
    g (float[4] x) => (float[4] y) <float one = {1.0}> {
        e = Exp(x)
        a = Add(one, e)
        y = Log(a)
    }""", "Softplus")
case("softplus_beta", "with a factor", """
    g (float[4] x) => (float[4] y) <float b = {2.0}> {
        p = Mul(x, b)
        s = Softplus(p)
        y = Div(s, b)
    }""", "Softplus")
case("miss_softplus_number", "two is added: that is no logarithm of 1 + x either", """
    g (float[4] x) => (float[4] y) <float two = {2.0}> {
        e = Exp(x)
        a = Add(two, e)
        y = Log(a)
    }""")
case("miss_softplus_beta", "divided by another factor than it was multiplied with", """
    g (float[4] x) => (float[4] y) <float b = {2.0}, float c = {3.0}> {
        p = Mul(x, b)
        s = Softplus(p)
        y = Div(s, c)
    }""")

# ---- softmax

SOFTMAX = """
    g (float[2,8] x) => (float[2,8] y) <int64[1] last = {{-1}}, int64[1] first = {{0}}, float one = {{1.0}}> {{
        {text}
    }}"""


def softmax(name, about, text, whole, outside=""):
    case(name, about, SOFTMAX.format(text=text), whole, outside, opset=18)


softmax("softmax", "the largest subtracted first",
        "$powers\n y = Div(e, s)", "Softmax")
softmax("softmax_plain", "by its definition", "e = Exp(x)\n s = ReduceSum(e, last)\n y = Div(e, s)", "Softmax")
softmax("miss_softmax_axis", "the largest along another axis than the sum: the quotient alone is one",
        "m = ReduceMax(x, first)\n d = Sub(x, m)\n e = Exp(d)\n s = ReduceSum(e, last)\n y = Div(e, s)", {"Softmax": "e s y"})
softmax("miss_softmax_keepdims", "the sum loses its axis",
        "z = Concat <axis = 0> (x, x, x, x)\n e = Exp(z)\n s = ReduceSum <keepdims = 0> (e, last)\n q = Div(e, s)\n y, r = Split <axis = 0, num_outputs = 4> (q)"
        .replace("y, r", "y, r, t, u"), None)
softmax("miss_softmax_other", "divided by a sum of other data", "a = Abs(x)\n e = Exp(x)\n s = ReduceSum(a, last)\n y = Div(e, s)", None)
softmax("log_softmax", "the logarithm of Softmax", "s = Softmax(x)\n y = Log(s)", "LogSoftmax")
softmax("log_softmax_parts", "the largest subtracted first",
        "$powers\n l = Log(s)\n y = Sub(d, l)", "LogSoftmax")
softmax("log_softmax_sum", "with ReduceLogSumExp", "l = ReduceLogSumExp(x, last)\n y = Sub(x, l)", "LogSoftmax")
softmax("miss_log_softmax_shared", "Softmax is used elsewhere", "s = Softmax(x)\n l = Log(s)\n y = Sub(l, s)", None)
softmax("softmin", "of the negative", "n = Neg(x)\n y = Softmax(n)", "softmin")
case("miss_softmin_output", "the negative is an output", """
    g (float[2,8] x) => (float[2,8] y, float[2,8] n) {
        n = Neg(x)
        y = Softmax(n)
    }""")

# ---- products

case("linear", "the bias second", "g (float[2,3,4] x) => (float[2,3,5] y) <float[4,5] w, float[5] b> { p = MatMul(x, w)\n y = Add(p, b) }",
     "linear")
case("linear_transposed", "the weight transposed in the graph, the bias with more dimensions", """
    g (float[2,3,4] x) => (float[2,3,5] y) <float[5,4] w, float[1,1,5] b> {
        t = Transpose <perm = [1, 0]> (w)
        p = MatMul(x, t)
        y = Add(b, p)
    }""", "linear")
case("miss_linear_data", "data are added, as in a residual connection", """
    g (float[2,3,4] x) => (float[2,3,4] y) <float[4,4] w> {
        p = MatMul(x, w)
        y = Add(p, x)
    }""")
case("miss_linear_product", "a product of data", """
    g (float[2,3,4] x, float[2,4,3] z) => (float[2,3,3] y) <float[3] b> {
        p = MatMul(x, z)
        y = Add(p, b)
    }""")
case("miss_linear_matrix", "a matrix is added", """
    g (float[2,3,4] x) => (float[2,3,5] y) <float[4,5] w, float[3,1] b> {
        p = MatMul(x, w)
        y = Add(p, b)
    }""")
case("miss_linear_shared", "the product is used twice", """
    g (float[2,3,4] x) => (float[2,3,5] y, float[2,3,5] z) <float[4,5] w, float[5] b> {
        p = MatMul(x, w)
        y = Add(p, b)
        z = Relu(p)
    }""")
case("conv_bias", "a bias behind the convolution", """
    g (float[1,2,5,5] x) => (float[1,3,3,3] y) <float[3,2,3,3] w, float[1,3,1,1] b> {
        c = Conv(x, w)
        y = Add(c, b)
    }""", "Conv")
case("conv_bias_1d", "in one dimension, the bias first", """
    g (float[1,2,5] x) => (float[1,3,3] y) <float[3,2,3] w, float[3,1] b> {
        c = Conv(x, w)
        y = Add(b, c)
    }""", "Conv")
case("conv_transpose_bias", "behind the transposed convolution", """
    g (float[1,2,3,3] x) => (float[1,3,5,5] y) <float[2,3,3,3] w, float[3,1,1] b> {
        c = ConvTranspose(x, w)
        y = Add(c, b)
    }""", "ConvTranspose")
case("miss_conv_bias_axis", "along the last axis", """
    g (float[1,2,5,5] x) => (float[1,3,3,3] y) <float[3,2,3,3] w, float[3] b> {
        c = Conv(x, w)
        y = Add(c, b)
    }""")
case("baddbmm", "both factors", """
    g (float[2,3,4] x, float[2,4,5] z, float[2,3,5] a) => (float[2,3,5] y) <float alpha = {0.5}, float beta = {1.0}> {
        p = MatMul(x, z)
        s = Mul(p, alpha)
        t = Mul(beta, a)
        y = Add(t, s)
    }""", "baddbmm")
case("miss_baddbmm_gate", "a factor is data", """
    g (float[2,3,4] x, float[2,4,5] z, float[2,3,5] a) => (float[2,3,5] y) <float alpha = {0.5}> {
        p = MatMul(x, z)
        s = Mul(p, alpha)
        t = Mul(a, a)
        y = Add(t, s)
    }""")
case("einsum", "as a product of matrices", """
    g (float[2,3,4] x, float[4,5] w) => (float[5,2,3] y) <int64[2] a = {6, 4}, int64[3] b = {2, 3, 5}> {
        r = Reshape(x, a)
        p = MatMul(r, w)
        o = Reshape(p, b)
        y = Transpose <perm = [2, 0, 1]> (o)
    }""", "Einsum")
case("einsum_permuted", "both operands permuted first", """
    g (float[2,3,4] x, float[5,2,4] z) => (float[3,5] y) <int64[2] a = {3, 8}, int64[2] b = {8, 5}, int64[2] c = {3, 5}> {
        s = Transpose <perm = [1, 0, 2]> (x)
        r = Reshape(s, a)
        t = Transpose <perm = [1, 2, 0]> (z)
        u = Reshape(t, b)
        p = MatMul(r, u)
        y = Reshape(p, c)
    }""", "Einsum")
case("miss_einsum_shared", "an operand is used elsewhere", """
    g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y, float[6,4] z) <int64[2] a = {6, 4}, int64[3] b = {2, 3, 5}> {
        r = Reshape(x, a)
        z = Relu(r)
        p = MatMul(r, w)
        y = Reshape(p, b)
    }""")
case("tensordot", "Einsum of matrices", """
    g (float[2,3,4] x, float[4,5] z) => (float[2,3,5] y) <int64[2] a = {6, 4}, int64[2] c = {4, 5}, int64[3] b = {2, 3, 5}> {
        r = Reshape(x, a)
        u = Reshape(z, c)
        p = Einsum <equation = "ij,jk->ik"> (r, u)
        y = Reshape(p, b)
    }""", "tensordot")
case("miss_tensordot_output", "the product is an output", """
    g (float[2,3,4] x, float[4,5] z) => (float[2,3,5] y, float[6,5] p) <int64[2] a = {6, 4}, int64[2] c = {4, 5}, int64[3] b = {2, 3, 5}> {
        r = Reshape(x, a)
        u = Reshape(z, c)
        p = Einsum <equation = "ij,jk->ik"> (r, u)
        y = Reshape(p, b)
    }""")

ATTENTION = """
    g (float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v, float[1,1,3,3] m) => (float[1,2,3,4] y) <float s = {{0.7}}, float f = {{0.5}},
       int64[3] three = {{-1, 3, 4}}, int64[4] four = {{1, 2, 4, 3}}> {{
        {text}
    }}"""


def attention(name, about, text, whole="scaled_dot_product_attention", outside=""):
    case(name, about, ATTENTION.format(text=text), whole, outside)


attention("sdpa", "no mask", "$scores\n w = Softmax <axis = -1> (p)\n y = MatMul(w, v)")
attention("sdpa_mask", "a mask, and keys transposed as a batch of matrices, as torch.onnx's dynamo writes it",
          "a = Mul(q, s)\n r = Reshape(k, three)\n t = Transpose <perm = [0, 2, 1]> (r)\n u = Reshape(t, four)\n b = Mul(u, s)\n"
          "p = MatMul(a, b)\n l = Add(p, m)\n w = Softmax <axis = 3> (l)\n y = MatMul(w, v)")
attention("sdpa_keys_shared", "transposed keys that others use stay outside",
          "$scores\n w = Softmax <axis = -1> (p)\n z = MatMul(w, v)\n c = Transpose <perm = [0, 1, 3, 2]> (t)\n y = Add(z, c)",
          outside="t c y")
attention("miss_sdpa_eager", "the product is scaled: whoever wrote this has each part run for itself",
          "t = Transpose <perm = [0, 1, 3, 2]> (k)\n p = MatMul(q, t)\n a = Mul(p, f)\n w = Softmax <axis = -1> (a)\n y = MatMul(w, v)", None)
attention("miss_sdpa_axis", "Softmax along another axis", "$scores\n w = Softmax <axis = 2> (p)\n y = MatMul(w, v)", None)
case("miss_sdpa_output", "the attention's weights are an output", """
    g (float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v) => (float[1,2,3,4] y, float[1,2,3,3] w) <float s = {0.7}> {
        $scores
        w = Softmax <axis = -1> (p)
        y = MatMul(w, v)
    }""")

# ---- sums

case("addcmul", "the value first, as torch.onnx's dynamo writes it", """
    g (float[4] x, float[4] a, float[4] b) => (float[4] y) <float v = {2.0}> {
        p = Mul(v, a)
        q = Mul(p, b)
        y = Add(x, q)
    }""", "addcmul")
case("addcdiv", "the value first", """
    g (float[4] x, float[4] a, float[4] b) => (float[4] y) <float v = {2.0}, float one = {7.0}> {
        c = Abs(b)
        d = Add(c, one)
        p = Mul(v, a)
        q = Div(p, d)
        y = Add(x, q)
    }""", "addcdiv", "c d")
case("addcdiv_last", "the value last", """
    g (float[4] x, float[4] a, float[4] b) => (float[4] y) <float[1] v = {2.0}, float one = {7.0}> {
        c = Abs(b)
        d = Add(c, one)
        p = Div(a, d)
        q = Mul(p, v)
        y = Add(q, x)
    }""", "addcdiv", "c d")
case("miss_addcmul_value", "no value: a sum of a product like any other", """
    g (float[4] x, float[4] a, float[4] b) => (float[4] y) {
        q = Mul(a, b)
        y = Add(x, q)
    }""")
case("miss_addcdiv_value", "no value", """
    g (float[4] x, float[4] a, float[4] b) => (float[4] y) <float one = {7.0}> {
        c = Abs(b)
        d = Add(c, one)
        q = Div(a, d)
        y = Add(x, q)
    }""")
case("miss_addcmul_shared", "the product is used twice", """
    g (float[4] x, float[4] a, float[4] b) => (float[4] y, float[4] z) <float[1] v = {2.0}> {
        p = Mul(a, b)
        q = Mul(p, v)
        y = Add(x, q)
        z = Relu(p)
    }""")
case("stack", "one part is a weight that has the axis already", """
    g (float[4] x, float[4] z) => (float[3,4] y) <float[1,4] w, int64[1] first = {0}> {
        a = Unsqueeze(x, first)
        b = Unsqueeze(z, first)
        y = Concat <axis = 0> (a, w, b)
    }""", "stack")
case("stack_11", "axes as an attribute, counted from the end", """
    g (float[2,4] x, float[2,4] z) => (float[2,4,2] y) {
        a = Unsqueeze <axes = [-1]> (x)
        b = Unsqueeze <axes = [2]> (z)
        y = Concat <axis = -1> (a, b)
    }""", "stack", opset=11)
case("miss_stack_axis", "joined along another axis", """
    g (float[4] x, float[4] z) => (float[1,8] y) <int64[1] first = {0}> {
        a = Unsqueeze(x, first)
        b = Unsqueeze(z, first)
        y = Concat <axis = 1> (a, b)
    }""")
case("miss_stack_part", "one part is not unsqueezed", """
    g (float[4] x, float[1,4] z) => (float[2,4] y) <int64[1] first = {0}> {
        a = Unsqueeze(x, first)
        y = Concat <axis = 0> (a, z)
    }""")
case("miss_stack_integers", "shapes have no precision", """
    g (float[2,4] x) => (float[4,2] y) <int64[1] first = {0}, int64 zero = {0}, int64 one = {1}> {
        s = Shape(x)
        h = Gather(s, zero)
        w = Gather(s, one)
        a = Unsqueeze(w, first)
        b = Unsqueeze(h, first)
        t = Concat <axis = 0> (a, b)
        y = Reshape(x, t)
    }""")

COSINE = """
    g (float[2,8] a, float[2,8] b) => (float[2,1] y) <int64[1] last = {{-1}}, int64[1] first = {{0}}, float eps = {{0.00000001}}> {{
        {text}
    }}"""
case("cosine_similarity", "by the norms", COSINE.format(
    text="p = Mul(a, b)\n d = ReduceSum(p, last)\n m = ReduceL2(a, last)\n n = ReduceL2(b, last)\n q = Mul(n, m)\n c = Max(q, eps)\n y = Div(d, c)"),
     "cosine_similarity", opset=18)
case("cosine_similarity_squares", "by the squares", COSINE.format(
    text="p = Mul(a, b)\n d = ReduceSum(p, last)\n i = Mul(a, a)\n m = ReduceSum(i, last)\n j = Mul(b, b)\n n = ReduceSum(j, last)\n"
    "k = Sqrt(m)\n l = Sqrt(n)\n q = Mul(k, l)\n c = Clip(q, eps)\n y = Div(d, c)"), "cosine_similarity", opset=18)
case("miss_cosine_axis", "one norm along another axis", COSINE.format(
    text="p = Mul(a, b)\n d = ReduceSum(p, last)\n m = ReduceL2(a, last)\n n = ReduceL2 <keepdims = 1> (b, first)\n q = Mul(n, m)\n c = Max(q, eps)\n"
    "e = Div(d, c)\n y = ReduceMean(e, last)"), opset=18)
case("miss_cosine_other", "one norm of other data", COSINE.format(
    text="p = Mul(a, b)\n d = ReduceSum(p, last)\n m = ReduceL2(a, last)\n n = ReduceL2(p, last)\n q = Mul(n, m)\n c = Max(q, eps)\n y = Div(d, c)"),
     opset=18)

# ---- losses

LOSS = """
    g (float[4,5] x, int64[4] t) => (float y) <int64[1] last = {{1}}, int64[1] first = {{0}}> {{
        {text}
    }}"""


def loss(name, about, text, whole, outside=""):
    case(name, about, LOSS.format(text=text), whole, outside)


loss("cross_entropy", "LogSoftmax and the loss of its result", "l = LogSoftmax <axis = 1> (x)\n y = NegativeLogLikelihoodLoss(l, t)",
     "SoftmaxCrossEntropyLoss")
loss("cross_entropy_gather", "gathered by the classes",
     "l = LogSoftmax <axis = 1> (x)\n i = Unsqueeze(t, last)\n a = GatherElements <axis = 1> (l, i)\n b = Squeeze(a, last)\n n = Neg(b)\n"
     "y = ReduceMean <keepdims = 0> (n)", "SoftmaxCrossEntropyLoss", "i")
loss("nll_gather", "of logarithms that are given", "r = Relu(x)\n i = Unsqueeze(t, last)\n a = GatherElements <axis = 1> (r, i)\n n = Neg(a)\n"
     "y = ReduceMean <keepdims = 0> (n)", "NegativeLogLikelihoodLoss", "r i")
loss("miss_cross_entropy_axis", "LogSoftmax along another axis", "l = LogSoftmax <axis = 0> (x)\n y = NegativeLogLikelihoodLoss(l, t)", None)
loss("miss_nll_sign", "not negated", "i = Unsqueeze(t, last)\n a = GatherElements <axis = 1> (x, i)\n n = Abs(a)\n y = ReduceMean <keepdims = 0> (n)",
     None)
case("miss_cross_entropy_output", "the logarithms are an output", """
    g (float[4,5] x, int64[4] t) => (float y, float[4,5] l) {
        l = LogSoftmax <axis = 1> (x)
        y = NegativeLogLikelihoodLoss(l, t)
    }""")

PAIR = """
    g (float[4,5] x, float[4,5] t) => (float{shape} y) <float zero = {{0.0}}, float one = {{1.0}}, float two = {{2.0}}> {{
        {text}
    }}"""


def pair(name, about, text, whole, outside="", shape=""):
    case(name, about, PAIR.format(text=text, shape=shape), whole, outside)


pair("mse_loss", "a power of the difference", "d = Sub(x, t)\n q = Pow(d, two)\n y = ReduceMean <keepdims = 0> (q)", "mse_loss")
pair("mse_loss_axes", "all axes by their numbers", "d = Sub(x, t)\n q = Mul(d, d)\n y = ReduceMean <axes = [0, -1], keepdims = 0> (q)", "mse_loss")
pair("miss_mse_loss_axis", "over one axis", "d = Sub(x, t)\n q = Mul(d, d)\n y = ReduceMean <axes = [1], keepdims = 0> (q)", None, shape="[4]")
pair("miss_mse_loss_product", "the product of two differences", "d = Sub(x, t)\n e = Sub(t, x)\n q = Mul(d, e)\n y = ReduceMean <keepdims = 0> (q)",
     None)
pair("l1_loss", "the magnitude of the difference", "d = Sub(x, t)\n a = Abs(d)\n y = ReduceMean <keepdims = 0> (a)", "l1_loss")
pair("l1_loss_sum", "the sum", "d = Sub(x, t)\n a = Abs(d)\n y = ReduceSum <keepdims = 0> (a)", "l1_loss")
pair("miss_l1_loss_sign", "without magnitudes", "d = Sub(x, t)\n a = Neg(d)\n y = ReduceMean <keepdims = 0> (a)", None)
pair("kl_div", "zeros as a constant", "u = Sigmoid(t)\n l = Log(u)\n d = Sub(l, x)\n p = Mul(u, d)\n g = Greater(u, zero)\n w = Where(g, p, zero)\n"
     "y = ReduceSum <keepdims = 0> (w)", "kl_div", "u")
pair("miss_kl_div_other", "the logarithm of other data", "u = Sigmoid(t)\n v = Sigmoid(x)\n l = Log(v)\n d = Sub(l, x)\n p = Mul(u, d)\n g = Greater(u, zero)\n"
     "w = Where(g, p, zero)\n y = ReduceSum <keepdims = 0> (w)", {"logsigmoid": "v l"})
pair("bce_with_logits", "the operands in other orders", "$chances\n n = Sub(one, s)\n $entropy",
     "binary_cross_entropy_with_logits", "u")
pair("miss_bce_number", "two less the probability", "$chances\n n = Sub(two, s)\n $entropy", None)
case("cdist", "with a root", """
    g (float[1,2,4] x, float[1,3,4] z) => (float[1,2,3] y) <int64[1] a = {2}, int64[1] b = {1}, int64[1] last = {-1}, float two = {2.0}> {
        c = Unsqueeze(x, a)
        d = Unsqueeze(z, b)
        e = Sub(c, d)
        p = Pow(e, two)
        s = ReduceSum <keepdims = 0> (p, last)
        y = Sqrt(s)
    }""", "cdist")
case("miss_cdist_shared", "the differences are used elsewhere", """
    g (float[1,2,4] x, float[1,3,4] z) => (float[1,2,3] y, float[1,2,3,4] q)
      <int64[1] a = {2}, int64[1] b = {1}, int64[1] last = {-1}, float two = {2.0}> {
        c = Unsqueeze(x, a)
        d = Unsqueeze(z, b)
        e = Sub(c, d)
        q = Neg(e)
        p = Pow(e, two)
        s = ReduceSum <keepdims = 0> (p, last)
        y = Sqrt(s)
    }""")

# ---- functions of one value

UNARY = """
    g (float[4] x) => (float[4] y) <float one = {{1.0}}, float ln2 = {{0.693147182}}, float log10e = {{0.434294492}}, float two = {{2.0}}> {{
        p = Abs(x)
        a = Add(p, {shift})
        {text}
    }}"""


def unary(name, about, text, whole, outside="p a", shift="two"):
    case(name, about, UNARY.format(text=text, shift=shift), whole, outside)


unary("rsqrt", "one divided by the root", "r = Sqrt(a)\n y = Div(one, r)", "rsqrt")
unary("rsqrt_reciprocal", "the root's reciprocal", "r = Sqrt(a)\n y = Reciprocal(r)", "rsqrt")
unary("miss_rsqrt_number", "two divided by the root", "r = Sqrt(a)\n y = Div(two, r)", None)
unary("log1p", "the logarithm of one more", "y = Log(a)", "log1p", "p", "one")
unary("log2", "divided by a logarithm", "l = Log(a)\n y = Div(l, ln2)", "log2")
unary("log10", "multiplied by a logarithm", "l = Log(a)\n y = Mul(log10e, l)", "log10")
unary("miss_log2_number", "divided by two", "l = Log(a)\n y = Div(l, two)", None)
unary("expm1", "one less than the power", "e = Exp(a)\n y = Sub(e, one)", "expm1")
unary("miss_expm1_order", "subtracted from one", "e = Exp(a)\n y = Sub(one, e)", None)
unary("softsign", "by its definition", "b = Abs(a)\n c = Add(one, b)\n y = Div(a, c)", "Softsign")
unary("logsigmoid", "the logarithm of the sigmoid", "s = Sigmoid(a)\n y = Log(s)", "logsigmoid")
unary("tanhshrink", "what the tangent leaves", "t = Tanh(a)\n y = Sub(a, t)", "tanhshrink")
unary("miss_tanhshrink_order", "the other way round", "t = Tanh(a)\n y = Sub(t, a)", None)

# ---- the whole

case("several", "composites of different sizes that overlap: the larger counts, and what is left is found too", """
    g (float[2,3,8] x) => (float[2,3,8] y) <float[8,8] w, float[8] b, float[8] s, float[8] t, float eps = {0.00001}, float two = {2.0},
       float half = {0.5}, float root = {1.41421354}, float one = {1.0}> {
        p = MatMul(x, w)
        l = Add(p, b)
        m = ReduceMean <axes = [-1]> (l)
        d = Sub(l, m)
        q = Pow(d, two)
        v = ReduceMean <axes = [-1]> (q)
        e = Add(v, eps)
        r = Sqrt(e)
        n = Div(d, r)
        o = Mul(n, s)
        a = Add(o, t)
        f = Div(a, root)
        h = Erf(f)
        i = Add(h, one)
        j = Mul(a, i)
        y = Mul(j, half)
    }""", {"linear": "p l", "LayerNormalization": "m d q v e r n o a", "Gelu": "f h i j y"}, opset=13)
case("mixed_inputs", "one input of addcmul is lowered and comes before the others: the whole runs in one type all the same", """
    g (float[4,4] x, float[4,4] z, float[4,4] a) => (float[4,4] y) <float[4,4] w, float[1] v = {2.0}> {
        p = MatMul(x, w)
        c = Mul(p, z)
        d = Mul(c, v)
        r = Relu(a)
        y = Add(d, r)
    }""", "addcmul", "p r")

# ---- what the rules decide: the models above with `args`; what must come out stands in each folder's stdout, which is the review's
# work


def rules(name, about, model, args):
    folder = os.path.join(here, f"rules_{name}")
    os.makedirs(folder, exist_ok=True)
    for file, text in ("about", about), ("args", f"model.onnx --list {args}"):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(text + "\n")
    link = os.path.join(folder, "model.onnx")
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(f"../{model}/model.onnx", link)


rules("follow", "a composite that no rule is for follows what goes into it", "several", "--rules torch-cpu")
rules("whole", "a rule for the whole decides on all parts; those for the parts' operators in PyTorch do not", "several",
      "--rules torch-cuda")
rules("torch_part", "PyTorch's name of a part's operator is not about parts", "several", "--op pow=fp32")
rules("onnx_part", "ONNX's name of a part's operator is about the nodes of the graph", "several", "--op Pow=fp32")
rules("node_part", "a rule for a node decides on a part alone", "several", "--op layer_norm=lower --node Div_n=fp32")
rules("head", "a rule for the head decides on the whole", "several", "--op MatMul=fp32")
rules("composite", "a composite by its name", "several", "--op composite::linear=fp32 --op Gelu=lower")
rules("later", "of a rule for the whole and one for a part the later decides", "several", "--op Pow=fp32 --op LayerNormalization=lower")
rules("rank", "the rank of the whole's first input counts", "conv_bias_1d", "--op conv1d=fp32 --op conv2d=lower")
rules("inputs_follow", "the whole follows the widest of its inputs", "mixed_inputs", "--rules torch-cpu")
rules("inputs_widest", "numbers of the definition have no say in the widest type", "mixed_inputs", "--rules torch-cuda --op Relu=lower")

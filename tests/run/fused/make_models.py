"""Writes NAME.onnx for tests/run/test_strict.sh and tests/unit/test_fuse.c: small graphs in which nodes become part of
others, and some in which they must not. Python with onnx and numpy; run in this folder."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)


class Model:
    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, value, dtype=np.float32):
        self.count += 1
        name = f"k{self.count}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weights(self, *shape):
        return self.constant(random.normal(0, 0.5, shape))

    def factors(self, *shape):
        return self.constant(random.uniform(0.5, 2, shape) * random.choice([-1, 1], shape))

    def node(self, op, *inputs, out=None, **attributes):
        self.count += 1
        out = out or f"v{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
        return out

    def norm(self, x, n, **attributes):
        statistics = [self.factors(n), self.weights(n), self.weights(n), self.constant(random.uniform(0.3, 2, n))]
        return self.node("BatchNormalization", x, *statistics, **attributes)

    def save(self, name, shapes, outputs, opset=17):
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
        outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 22 else 10)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        del model.graph.value_info[:]
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, f"{name}.onnx")


IMAGE = {"x": [2, 4, 5, 6]}
ROWS = {"x": [3, 4]}


def conv(m, x="x", filters=6, bias=True):
    return m.node("Conv", x, m.weights(filters, 4, 3, 3), *([m.weights(filters)] if bias else []), pads=[1, 1, 1, 1])


def image(name, build, shapes=None, **options):
    m = Model()
    result = build(m)
    m.save(name, shapes or IMAGE, result if isinstance(result, list) else [result], **options)


def scaled(m, y, *shape):
    return m.node("Add", m.weights(*shape), m.node("Mul", y, m.factors(*shape)))


def transposed(m, group, bias):
    y = m.node("ConvTranspose", "x", m.weights(4, 3, 2, 2), *([m.weights(3 * group)] if bias else []), strides=[2, 2], group=group)
    return m.norm(y, 3 * group)


def gemm(m, flips, c, **attributes):
    b = m.weights(5, 4) if flips else m.weights(4, 5)
    return m.node("Gemm", "x", b, *([m.weights(*c)] if c is not None else []), transB=int(flips), **attributes)


# What becomes part of weights.
image("fold_conv", lambda m: m.norm(conv(m), 6))
image("fold_conv_group", lambda m: m.norm(m.node("Conv", "x", m.weights(8, 2, 1, 1), group=2), 8))
image("fold_conv_scale", lambda m: scaled(m, m.norm(conv(m, bias=False), 6, epsilon=0.01), 1, 6, 1, 1))
image("fold_conv_binary", lambda m: m.node("Relu", m.node("Sub", m.factors(6, 1, 1), m.node("Div", m.node("Sub", conv(m), m.weights(1)), m.factors(6, 1, 1)))))
image("fold_conv_sum", lambda m: m.node("Add", conv(m), m.weights(6, 1, 1)))
image("fold_deconv", lambda m: transposed(m, 1, True))
image("fold_deconv_groups", lambda m: transposed(m, 2, False))
image("fold_norm", lambda m: scaled(m, m.norm(m.node("Abs", "x"), 4), 4, 1, 1))
image("fold_gemm", lambda m: m.norm(gemm(m, False, None, alpha=0.5), 5), ROWS)
image("fold_gemm_flipped", lambda m: m.norm(gemm(m, True, [5], alpha=0.5, beta=2.0), 5), ROWS)
image("fold_gemm_scalar", lambda m: scaled(m, gemm(m, False, [], beta=0.25), 5), ROWS)
image("fold_gemm_column", lambda m: m.node("Mul", gemm(m, True, [3, 1], beta=0.25), m.factors(5)), ROWS)
image("fold_gemm_whole", lambda m: m.node("Add", gemm(m, False, [3, 5], alpha=3.0), m.weights(1, 5)), ROWS)
image("fold_matmul", lambda m: m.norm(m.node("Add", m.node("MatMul", "x", m.weights(4, 5)), m.weights(5)), 5), ROWS)
image("fold_matmul_scale", lambda m: m.node("Mul", m.node("MatMul", "x", m.weights(6, 5)), m.constant(0.3)), IMAGE)
image("fold_matmul_batch", lambda m: scaled(m, m.node("MatMul", "x", m.weights(6, 5)), 5), IMAGE)


# What must not.
def shared(m):
    y = conv(m)
    return [m.norm(y, 6), m.node("Relu", y)]


def given_out(m):
    y = conv(m)
    return [m.norm(y, 6), y]


image("keep_shared", shared)
image("keep_output", given_out)
image("keep_columns", lambda m: m.node("Mul", conv(m), m.factors(6)))
image("keep_whole", lambda m: m.node("Mul", conv(m), m.factors(1, 6, 5, 1)))
image("keep_rank", lambda m: m.node("Mul", conv(m), m.factors(1, 1, 6, 1, 1)))
image("keep_input", lambda m: m.node("Mul", conv(m), "s"), {**IMAGE, "s": [6, 1, 1]})
image("keep_matmul_sum", lambda m: m.node("Add", m.node("MatMul", "x", m.weights(6, 5)), m.weights(5)), IMAGE)
image("keep_matmul_norm", lambda m: m.norm(m.node("MatMul", "x", m.weights(6, 5)), 4), IMAGE)
image("keep_infinite", lambda m: m.node("Div", conv(m), m.constant(np.arange(6).reshape(6, 1, 1))))


def halves(weight, factor):
    """A product in float16 whose weights times FACTOR would leave that type's range."""
    def build(m):
        x = m.node("Cast", m.node("Mul", "x", m.constant(1 / (weight * factor))), to=TensorProto.FLOAT16)
        y = m.node("Conv", x, m.constant(random.normal(0, weight, (6, 4, 1, 1)), np.float16))
        return m.node("Cast", m.node("Mul", y, m.constant(factor, np.float16)), to=TensorProto.FLOAT)
    return build


image("fold_fp16", halves(10, 10))
image("keep_large_fp16", halves(100, 1000))
image("keep_small_fp16", halves(1e-3, 1e-3))


# Casts that their users read what is cast of, and casts that run.
DTYPES = {"fp32": TensorProto.FLOAT, "fp16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}


def cast(m, x, dtype):
    return m.node("Cast", x, to=DTYPES[dtype])


def lower(m, dtype, *shape):
    """A constant of DTYPE: the Cast of one is folded when the model is read as a whole, so it is made here."""
    name = m.weights(*shape)
    tensor = m.constants.pop()
    values = numpy_helper.to_array(tensor)
    m.constants.append(helper.make_tensor(name, DTYPES[dtype], shape, values.flatten().tolist()))
    return name


def lower_conv(m, x, dtype, *shape, **attributes):
    return m.node("Conv", x, lower(m, dtype, *shape), **attributes)


def for_each(name, build, shapes=None):
    for dtype in ["bf16", "fp16"]:
        image(f"{name}_{dtype}", lambda m: build(m, dtype), shapes, opset=22)


def cast_inputs(m, dtype):
    x = cast(m, "x", dtype)
    return cast(m, m.node("Add", lower_conv(m, x, dtype, 6, 4, 1, 1), lower_conv(m, x, dtype, 6, 4, 3, 3, pads=[1, 1, 1, 1])), "fp32")


def cast_sums(m, dtype):
    x = m.node("Relu", cast(m, "x", dtype))
    wide = cast(m, m.node("Neg", x), "fp32")
    y = cast(m, m.node("MatMul", x, lower(m, dtype, 6, 6)), "fp32")
    return m.node("Add", y, wide)


def cast_rows(op, *parameters, **attributes):
    def build(m, dtype):
        x = m.node("Neg", cast(m, "x", dtype))
        y = m.node(op, cast(m, x, "fp32"), *[m.weights(*p) for p in parameters], **attributes)
        return [y, m.node("Add", cast(m, m.node("Abs", x), "fp32"), y)]
    return build


def cast_shared(m, dtype):
    x = cast(m, "x", dtype)
    return [cast(m, lower_conv(m, x, dtype, 6, 4, 1, 1), "fp32"), cast(m, m.node("Transpose", x), "fp32")]


for_each("cast_conv", cast_inputs)
for_each("cast_conv_5d", lambda m, dtype: cast(m, lower_conv(m, cast(m, "x", dtype), dtype, 2, 1, 2, 2, 2, 2), "fp32"), {"x": [1, 1, 3, 3, 3, 3]})
for_each("cast_operand", cast_sums)
for_each("cast_norm", cast_rows("LayerNormalization", [6], [6]))
for_each("cast_softmax", cast_rows("Softmax", axis=1))
for_each("cast_elementwise", lambda m, dtype: m.node("Mul", cast(m, m.node("Abs", cast(m, "x", dtype)), "fp32"), "x"))
for_each("cast_shared", cast_shared)


# What would make a number of a NaN that weights bring along.
def spoilt(value, *shape):
    weight = random.normal(0, 0.5, shape)
    weight[2] = value
    return weight


def spoilt_conv(m, value, x="x"):
    return m.node("Conv", x, m.constant(spoilt(value, 6, 4, 1, 1)))


def spoilt_cast(m):
    weight = cast(m, m.constant(spoilt(np.nan, 6, 4, 1, 1)), "bf16")
    return cast(m, m.node("Relu", m.node("Conv", cast(m, "x", "bf16"), weight)), "fp32")


image("keep_nan_relu", lambda m: m.node("Relu", spoilt_conv(m, np.nan)))
image("keep_infinite_clip", lambda m: m.node("Clip", spoilt_conv(m, np.inf), m.constant(0), m.constant(6)))
image("keep_nan_hard_sigmoid", lambda m: m.node("HardSigmoid", m.node("Add", conv(m), m.constant(spoilt(np.nan, 6, 1, 1)))))
image("keep_nan_relu_bf16", spoilt_cast, opset=22)


# What moves out of the way of a product. GIVEN: its input; SHAPE: what the product is reshaped to.
def reshaped(m, *shape, given=None):
    product = m.node("Gemm", given or "x", m.weights(4, 6), m.weights(6))
    return m.node("Reshape", product, m.constant(shape, np.int64))


def given_product(m):
    m.node("Gelu", m.node("Reshape", m.node("MatMul", "x", m.weights(4, 6), out="y"), m.constant([9, 2], np.int64)), out="z")
    return ["y", "z"]


def used_twice(m):
    flat = reshaped(m, 9, 2)
    return m.node("Mul", m.node("Tanh", flat), m.node("Sigmoid", flat))


def attention(m, left=None, right=None, op="Mul", x="x"):
    first = m.node(op, *left(m, x)) if left else x
    second = m.node("Transpose", x, perm=[0, 1, 3, 2])
    return m.node("MatMul", first, m.node(op, *right(m, second)) if right else second)


def by(*shape):
    return lambda m, x: (x, m.constant(np.full(shape, 0.4)))


def scaled_by(*shape):
    return lambda m, x: (m.constant(np.full(shape, 0.4)), x)


image("sink_reshape", lambda m: m.node("Gelu", reshaped(m, 1, 3, 6)), ROWS, opset=20)
image("sink_reshape_copied", lambda m: m.node("Relu", reshaped(m, 0, 2, -1)), ROWS)
image("sink_reshape_chain", lambda m: m.node("Mul", m.node("Tanh", m.node("Sigmoid", reshaped(m, 9, 2))), m.weights(9, 2)), ROWS)
image("keep_reshape_given", given_product, ROWS, opset=20)
image("keep_reshape_twice", used_twice, ROWS)
image("keep_reshape_input", lambda m: m.node("Relu", m.node("Reshape", "x", m.constant([2, 6], np.int64))), ROWS)
image("sink_factor", lambda m: attention(m, by()))
image("sink_factor_both", lambda m: attention(m, scaled_by(1), by(1, 1)))
image("sink_divisor", lambda m: attention(m, None, by(1, 1, 1), op="Div"))
image("keep_dividend", lambda m: attention(m, scaled_by(), op="Div"))
image("keep_factors", lambda m: attention(m, lambda m, x: (x, m.factors(6))))
image("keep_factor_rank", lambda m: attention(m, by(1, 1, 1, 1, 1)))
image("sink_factor_bf16", lambda m: cast(m, attention(m, lambda m, x: (x, lower(m, "bf16", 1)), x=cast(m, "x", "bf16")), "fp32"), opset=22)
image("keep_factor_fp16", lambda m: cast(m, attention(m, lambda m, x: (x, lower(m, "fp16", 1)), x=cast(m, "x", "fp16")), "fp32"), opset=22)


# What old exports add with.
image("sum_two", lambda m: m.node("Relu", m.node("Sum", conv(m, filters=4), "x")))
image("sum_two_old", lambda m: m.node("Relu", m.node("Sum", conv(m, filters=4), "x")), opset=7)
image("keep_sum_three", lambda m: m.node("Sum", conv(m, filters=4), "x", "x"))


# Constants that nodes only give another shape.
def unsqueezed(m, y):
    """As Caffe's Scale is exported: vectors that a node makes ones of channels."""
    factor, shift = [m.node("Unsqueeze", v, m.constant([1, 2], np.int64)) for v in (m.factors(6), m.weights(6))]
    return m.node("Relu", m.node("Add", m.node("Mul", y, factor), shift))


image("fold_conv_unsqueezed", lambda m: unsqueezed(m, m.norm(conv(m, bias=False), 6)))
image("fold_conv_shared", lambda m: m.node("Mul", conv(m), m.node("Reshape", m.node("Identity", m.factors(6)), m.constant([6, 1, 1], np.int64))))

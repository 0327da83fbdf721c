"""Writes NAME.onnx for tests/run/test_sliced.sh and tests/unit/test_sliced.c: attention over "n" tokens, in the forms that exporters
give it and in some that they do not. Python with onnx; run in this folder."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Model:
    """Attention with queries q, keys k (transposed where they must be) and values v; what else it takes is inputs too."""

    def __init__(self, dtype=FLOAT):
        self.dtype, self.nodes, self.inputs, self.constants, self.count = dtype, [], [], [], 0

    def input(self, name, *shape, dtype=None):
        self.inputs.append(helper.make_tensor_value_info(name, dtype or self.dtype, shape))
        return name

    def constant(self, value, dtype=None):
        self.count += 1
        array = np.asarray(value, dtype or helper.tensor_dtype_to_np_dtype(self.dtype))
        self.constants.append(numpy_helper.from_array(array, f"k{self.count}"))
        return f"k{self.count}"

    def node(self, op, *inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{self.count}"], **attributes))
        return f"v{self.count}"

    def product(self, q=(2, 3, "n", 8), k=(2, 3, 8, "n"), scale=0.35):
        scores = self.node("MatMul", self.input("q", *q), self.input("k", *k))
        return self.node("Mul", scores, self.constant(scale)) if scale else scores

    def save(self, name, scores, v=(2, 3, "n", 8), after=None, axis=-1, opset=17):
        weights = self.node("Softmax", scores, axis=axis)
        y = self.node("MatMul", after(weights) if after else weights, self.input("v", *v))
        self.finish(name, y, opset)

    def finish(self, name, y, opset=17):
        output = helper.make_tensor_value_info(y, self.dtype, None)
        graph = helper.make_graph(self.nodes, name, self.inputs, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        del model.graph.value_info[:]
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, f"{name}.onnx")


def masked(name, *mask, q=(2, 3, "n", 8), k=(2, 3, 8, "n"), v=(2, 3, "n", 8), **options):
    """A mask of that shape is added to the scores."""
    m = Model()
    m.save(name, m.node("Add", m.product(q, k), m.input("mask", *mask)), v, **options)


m = Model()
m.save("plain", m.product(scale=None))
m = Model()
m.save("scale", m.product())
masked("mask_columns", 2, 1, 1, "n")
masked("mask_matrix", "n", "n")
masked("mask_batch", 2, 1, "n", "n")
masked("mask_heads", 1, 3, "n", "n")
masked("mask_whole", 2, 3, "n", "n")
masked("mask_rows", 2, 1, "n", 1)
masked("mask_number", 1)
masked("rank_2", "n", "n", q=("n", 8), k=(8, "n"), v=("n", 8))
masked("rank_3", 1, "n", "n", q=(5, "n", 8), k=(5, 8, "n"), v=(5, "n", 8))
masked("rank_5", "n", "n", q=(2, 1, 3, "n", 8), k=(2, 1, 3, 8, "n"), v=(2, 1, 3, "n", 8))
masked("ranks_differ", 3, 1, "n", q=("n", 8), k=(3, 8, "n"), v=(3, "n", 8))
masked("keys_shared", 2, 1, 1, "n", k=(2, 1, 8, "n"), v=(1, 1, "n", 8))
masked("queries_few", 2, 1, 3, "n", q=(2, 90, 3, 8), k=(2, 90, 8, "n"), v=(2, 90, "n", 8))
masked("opset_11", 2, 1, 1, "n", opset=11, axis=3)

# Not to be sliced: other axes of Softmax, and other users of what lies between.
masked("axis", 2, 1, 1, "n", axis=-2)
masked("axes_many", 2, 1, 1, "n", opset=11, axis=2)
m = Model()
scores = m.product()
m.nodes.append(helper.make_node("ReduceMax", [scores], ["largest"], axes=[-1], keepdims=1))
m.save("scores_used", m.node("Sub", scores, "largest"))
m = Model()
scores = m.product((2, 1, "n", 8), (2, 1, 8, "n"))
m.save("scores_grow", m.node("Add", scores, m.input("mask", 2, 3, 1, "n")))

# What GPT-2 does to the scores: where they are not to be seen they become a constant.
for name, hidden in ("where", -1e4), ("where_infinite", -np.inf):
    m = Model()
    seen = m.node("Greater", m.input("seen", 1, 1, "n", "n"), m.constant(0))
    m.save(name, m.node("Where", seen, m.product(), m.constant(hidden)))
# No key is seen by half of the queries: these come out as NaN.
m = Model()
seen = m.node("Greater", m.input("seen", 2, 1, "n", 1), m.constant(0))
m.save("rows_hidden", m.node("Where", seen, m.product(), m.constant(-np.inf)))

# More between the products than MatMul and Softmax take as post-ops.
m = Model()
m.save("between", m.node("Round", m.product(scale=5)),
       after=lambda x: m.node("Mul", m.node("Exp", x), m.input("kept", 1, 1, "n", "n")))
m = Model()
m.save("between_twice", m.node("Softmax", m.node("Neg", m.product()), axis=-1),
       after=lambda x: m.node("Floor", m.node("Mul", x, m.constant(1e4))))

m = Model(TensorProto.DOUBLE)
m.save("float64", m.node("Add", m.product(), m.input("mask", 1, 1, "n", "n")))

# As exported: heads are split off and joined by reshaping and transposing.
m = Model()


def heads(name, *perm):
    x = m.node("Reshape", m.input(name, 2, "n", 24), m.constant([2, -1, 3, 8], np.int64))
    return m.node("Transpose", x, perm=perm)


scores = m.node("Div", m.node("MatMul", heads("q", 0, 2, 1, 3), heads("k", 0, 2, 3, 1)), m.constant(8 ** 0.5))
weights = m.node("Softmax", m.node("Add", scores, m.input("mask", 2, 1, 1, "n")), axis=-1)
mixed = m.node("Transpose", m.node("MatMul", weights, heads("v", 0, 2, 1, 3)), perm=(0, 2, 1, 3))
m.finish("exported", m.node("Reshape", mixed, m.constant([2, -1, 24], np.int64)))

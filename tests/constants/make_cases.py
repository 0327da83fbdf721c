#!/usr/bin/env python3
"""Makes the cases of what is the same in every run: for each a folder beside this script (or under the folder named as the
argument) with `args`, `about`, the model and its samples, which run one after the other in one session. Their shapes go back
and forth, so that what was made of a constant has to be made again or taken over. What the program must print and return is
not made here: those files are reviewed (tests/run.sh).

The values are small integers, which float32, float16 and bfloat16 hold and add without loss; but for the recurrent layer's.
Needs the onnx Python package (1.17) and numpy; same input, same bytes.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, FLOAT16, BFLOAT16, INT64, BOOL = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT64,
                                         TensorProto.BOOL)
node = helper.make_node
root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent


def value(name, dtype, *dims):
    return helper.make_tensor_value_info(name, dtype, dims)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, initializers=(), opset=17):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def numbers(*shape, span=3):
    """Integers from -SPAN to SPAN, in no simple order."""
    count = int(np.prod(shape))
    return (np.arange(count) * 7919 % 104729 % (2 * span + 1) - span).astype(np.float32).reshape(shape)


def convolve(x, w):
    """Without padding, stride 1."""
    kernel = w.shape[2:]
    steps = [x.shape[2 + d] - kernel[d] + 1 for d in range(2)]
    y = np.zeros((x.shape[0], w.shape[0], *steps), np.float32)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            y += np.einsum("nchw,mc->nmhw", x[:, :, i:i + steps[0], j:j + steps[1]], w[:, :, i, j])
    return y


# ---- models, each with its samples: inputs and outputs, in order

def weights_made():
    """Weights of a convolution that nodes make."""
    filters, full = numbers(16, 1, 1, 1), [16, 8, 3, 3]
    made = model([node("ConstantOfShape", ["full"], ["ones"], value=helper.make_tensor("one", FLOAT, [1], [1])),
                  node("Mul", ["ones", "filters"], ["by_filter"]), node("Add", ["by_filter", "taps"], ["w"]),
                  node("Conv", ["x", "w"], ["y"])],
                 [value("x", FLOAT, "n", 8, "h", "w")], [value("y", FLOAT, "n", 16, "h2", "w2")],
                 [constant("full", full), constant("filters", filters), constant("taps", numbers(3, 3))])
    w = np.ones(full, np.float32) * filters + numbers(3, 3)
    return made, [([x], [convolve(x, w)]) for x in (numbers(1, 8, 12, 12), numbers(2, 8, 5, 40), numbers(1, 8, 12, 12, span=2),
                                                    numbers(2, 8, 5, 40, span=1))]


def weights_transposed():
    """Weights of a product through a chain of nodes, rows few and many."""
    made = model([node("Range", ["first", "end", "one"], ["range"]), node("Mod", ["range", "five"], ["fives"]),
                  node("Cast", ["fives"], ["floats"], to=FLOAT), node("Reshape", ["floats", "square"], ["matrix"]),
                  node("Transpose", ["matrix"], ["w"]), node("MatMul", ["x", "w"], ["y"])],
                 [value("x", FLOAT, "rows", 64)], [value("y", FLOAT, "rows", 64)],
                 [constant("first", 0), constant("end", 4096), constant("one", 1), constant("five", 5), constant("square", [64, 64])])
    w = (np.arange(4096) % 5).reshape(64, 64).T.astype(np.float32)
    return made, [([x], [x @ w]) for x in (numbers(1, 64), numbers(300, 64), numbers(1, 64, span=2), numbers(300, 64, span=2))]


def shared():
    """One matrix looked up in, multiplied with twice and given out."""
    w = numbers(64, 64)
    made = model([node("Gather", ["w", "ids"], ["rows"]), node("MatMul", ["rows", "w"], ["product"]),
                  node("Gemm", ["product", "w"], ["y"], transB=1)],
                 [value("ids", INT64, "n")], [value("y", FLOAT, "n", 64), value("w", FLOAT, 64, 64)], [constant("w", w)])
    samples = []
    for ids in ([3], list(range(60)), [63], list(range(4, 64))):
        samples.append(([np.array(ids)], [w[ids] @ w @ w.T, w]))
    return made, samples


def operand():
    """A constant that nodes make is added to a product and fits it now as a whole, now broadcast."""
    w, c = numbers(32, 64), numbers(4, 64)
    made = model([node("MatMul", ["x", "w"], ["product"]), node("Neg", ["c"], ["minus"]), node("Add", ["product", "minus"], ["sum"]),
                  node("Relu", ["sum"], ["y"])],
                 [value("x", FLOAT, "rows", 32)], [value("y", FLOAT, 4, 64)], [constant("w", w), constant("c", c)])
    return made, [([x], [np.maximum(x @ w - c, 0)]) for x in (numbers(4, 32), numbers(1, 32), numbers(4, 32, span=2), numbers(1, 32))]


def outputs():
    """What nodes make is given out, and used as well."""
    c = numbers(2, 3)
    made = model([node("Mul", ["c", "c"], ["squares"]), node("Add", ["x", "squares"], ["y"]), node("Identity", ["squares"], ["same"])],
                 [value("x", FLOAT, "n", 2, 3)], [value("squares", FLOAT, 2, 3), value("y", FLOAT, "n", 2, 3), value("same", FLOAT, 2, 3)],
                 [constant("c", c)])
    return made, [([x], [c * c, x + c * c, c * c]) for x in (numbers(1, 2, 3), numbers(4, 2, 3))]


def default():
    """An initializer that a caller may override is no constant."""
    made = model([node("Mul", ["scale", "two"], ["factor"]), node("Mul", ["x", "factor"], ["y"])],
                 [value("scale", FLOAT, 1), value("x", FLOAT, 3)], [value("y", FLOAT, 3)],
                 [constant("scale", np.float32([3])), constant("two", np.float32([2]))])
    x = numbers(3)
    return made, [([np.float32([s]), x], [x * 2 * s]) for s in (1, 5, -2)]


def choice(broken=False):
    """A body that is run now and then has weights of its own, and shares others."""
    w, v = numbers(48, 48), numbers(48, 48, span=2)
    index = 5 if broken else 1
    then = helper.make_graph([node("Gather", ["factors", "index"], ["factor"], name="inner"), node("Mul", ["v", "factor"], ["weights"]),
                              node("MatMul", ["x", "weights"], ["yes"])], "then", [], [value("yes", FLOAT, "rows", 48)],
                             [constant("factors", np.float32([1, 2])), constant("index", index)])
    other = helper.make_graph([node("MatMul", ["x", "w"], ["no"])], "else", [], [value("no", FLOAT, "rows", 48)])
    made = model([node("MatMul", ["x", "w"], ["product"]), node("If", ["c"], ["chosen"], then_branch=then, else_branch=other, name="choice"),
                  node("Add", ["product", "chosen"], ["y"])],
                 [value("x", FLOAT, "rows", 48), value("c", BOOL)], [value("y", FLOAT, "rows", 48)], [constant("w", w), constant("v", v)])
    return made, [([x, np.array(c)], [x @ w + x @ (2 * v if c else w)])
                  for x, c in ((numbers(2, 48), False), (numbers(90, 48), not broken), (numbers(2, 48), False), (numbers(2, 48), True))
                  if not (broken and c)]


def choice_broken():
    """Nodes on constants that fail stand in a body that never runs."""
    return choice(True)


def loop():
    """Nodes on constants within a body, and one around it that the body reads."""
    body = helper.make_graph([node("Mul", ["inner", "outer"], ["step"]), node("Add", ["before", "step"], ["after"]),
                              node("Identity", ["go"], ["on"])],
                             "body", [value("i", INT64), value("go", BOOL), value("before", FLOAT, 3)],
                             [value("on", BOOL), value("after", FLOAT, 3), value("step", FLOAT, 3)], [constant("inner", np.float32([1, 2, 3]))])
    made = model([node("Neg", ["c"], ["outer"]), node("Loop", ["trips", "", "x"], ["y", "steps"], body=body)],
                 [value("trips", INT64), value("x", FLOAT, 3)], [value("y", FLOAT, 3), value("steps", FLOAT, "trips", 3)],
                 [constant("c", np.float32([2]))])
    x, step = numbers(3), np.float32([-2, -4, -6])
    return made, [([np.array(trips), x], [x + trips * step, np.tile(step, (trips, 1))]) for trips in (3, 0, 5)]


def halves(dtype):
    """A product in 16 bits, of weights that nodes make and of others."""
    w, v = numbers(64, 64, span=1), numbers(64, 32, span=1)
    made = model([node("Cast", ["w"], ["w16"], to=dtype), node("Cast", ["x"], ["x16"], to=dtype), node("MatMul", ["x16", "w16"], ["product"]),
                  node("MatMul", ["product", "v16"], ["y16"]), node("Cast", ["y16"], ["y"], to=FLOAT)],
                 [value("x", FLOAT, "rows", 64)], [value("y", FLOAT, "rows", 32)],
                 [constant("w", w), helper.make_tensor("v16", dtype, [64, 32], v.flatten())])
    samples = []
    for x in (numbers(1, 64, span=1), numbers(70, 64, span=1), numbers(1, 64, span=1), numbers(70, 64, span=1)):
        x[:, 8:] = 0  # so that sums stay within the 8 bits of bfloat16
        samples.append(([x], [x @ w @ v]))
    return made, samples


def transposed_convolution():
    """Windows side by side."""
    w = numbers(8, 16, 2, 2)
    made = model([node("Neg", ["minus_w"], ["w"]), node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])],
                 [value("x", FLOAT, 1, 8, "h", "w")], [value("y", FLOAT, 1, 16, "h2", "w2")], [constant("minus_w", -w)])
    samples = []
    for h, width in ((4, 6), (30, 30), (4, 6)):
        x = numbers(1, 8, h, width)
        samples.append(([x], [np.einsum("ncij,cmab->nmiajb", x, w).reshape(1, 16, 2 * h, 2 * width)]))
    return made, samples


def recurrent():
    """An LSTM on few sequences and on many, which other kernels compute."""
    steps, inputs, hidden = 3, 16, 24
    w, r, b = (numbers(1, 4 * hidden, inputs) / 16, numbers(1, 4 * hidden, hidden) / 16, numbers(1, 8 * hidden) / 16)
    made = model([node("Transpose", ["minus_w"], ["turned"], perm=[0, 2, 1]), node("Neg", ["turned"], ["w"]),
                  node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=hidden)],
                 [value("x", FLOAT, steps, "batch", inputs)], [value("y", FLOAT, steps, 1, "batch", hidden)],
                 [constant("minus_w", -w.transpose(0, 2, 1)), constant("r", r), constant("b", b)])

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    samples = []
    for batch in (1, 20, 1, 20):
        x, h, c, y = numbers(steps, batch, inputs, span=2), 0, 0, []
        for step in x.astype(np.float64):
            gates = step @ w[0].T + (h @ r[0].T if y else 0) + b[0, :4 * hidden] + b[0, 4 * hidden:]
            i, o, f, g = np.split(gates, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            y.append(h)
        samples.append(([x], [np.float32(y).reshape(steps, 1, batch, hidden)]))
    return made, samples


def large():
    """What nodes make is too large to be kept: it is made in every run."""
    nodes, count = [], 4
    for i in range(count):
        nodes += [node("Expand", ["c", "size"], [f"row{i}"]), node("Add", [f"row{i}", "x"], [f"sums{i}"]),
                  node("ReduceMax", [f"sums{i}"], [f"most{i}"], keepdims=0)]
    made = model([*nodes, node("Sum", [f"most{i}" for i in range(count)], ["y"])], [value("x", FLOAT)], [value("y", FLOAT)],
                 [constant("c", np.float32([[2], [3]])), constant("size", [2, 20000])])
    return made, [([np.float32(x)], [np.float32(count * (x + 3))]) for x in (1, 5, 7)]


def random():
    """Nodes on random numbers."""
    made = model([node("RandomUniform", [], ["r"], shape=[3]), node("Floor", ["r"], ["zeros"]), node("Add", ["x", "zeros"], ["y"])],
                 [value("x", FLOAT, 3)], [value("y", FLOAT, 3)])
    return made, [([x], [x]) for x in (numbers(3), numbers(3, span=2))]


def broken():
    """A node on constants fails."""
    made = model([node("Gather", ["c", "index"], ["row"], name="row"), node("Add", ["x", "row"], ["y"])],
                 [value("x", FLOAT, 2)], [value("y", FLOAT, 2)], [constant("c", numbers(3, 2)), constant("index", 3)])
    return made, [([numbers(2)], [numbers(2)])]


def choice_fails():
    """Nodes on constants fail in a body once it runs."""
    made, samples = choice(True)
    x = numbers(2, 48)
    return made, [*samples[:1], ([x, np.array(True)], [x])]


CASES = {made.__name__: made for made in (weights_made, weights_transposed, shared, operand, outputs, default, choice, choice_broken,
                                          choice_fails, loop, transposed_convolution, recurrent, large, random, broken)}
CASES["halves_bf16"] = lambda: halves(BFLOAT16)
CASES["halves_fp16"] = lambda: halves(FLOAT16)
ARGS = {"large": " --max-memory 500K"}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main():
    for name, make in CASES.items():
        made, samples = make()
        onnx.checker.check_model(made, full_check=True)
        write(root / name / "model.onnx", made.SerializeToString(deterministic=True))
        write(root / name / "args", f"run -q model.onnx --data data{ARGS.get(name, '')}\n".encode())
        write(root / name / "about", ((make.__doc__ or halves.__doc__) + "\n").encode())
        for i, sample in enumerate(samples):
            for kind, arrays in zip(("input", "output"), sample):
                for k, array in enumerate(arrays):
                    tensor = numpy_helper.from_array(np.asarray(array))
                    write(root / name / f"data/test_data_set_{i}/{kind}_{k}.pb", tensor.SerializeToString())


main()

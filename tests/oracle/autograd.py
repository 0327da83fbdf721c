#!/usr/bin/env python3
"""What torch.autograd says of operators' derivatives, as the cases of ../ops/autograd.cases.

    autograd.py > ../ops/autograd.cases       where torch (2.6) is installed; about ten seconds

Each row of the table is an operator with attributes, in ONNX's text and as PyTorch has it. What is
derived is the sum of the result's elements, each times a random weight, in float64.
"""

import numpy as np
import torch
from torch.nn import functional as F

OPSET = 20

# name, ONNX's text of y, float inputs with their shapes, other inputs as text, the same in PyTorch
ROWS = [
    ("conv", "Conv<pads = [1, 1, 1, 1]>(x, w, b)", {"x": [1, 2, 3, 4], "w": [2, 2, 3, 3], "b": [2]}, {},
     lambda x, w, b: F.conv2d(x, w, b, padding=1)),
    ("conv_grouped", "Conv<group = 2, strides = [2, 1], dilations = [1, 2], pads = [0, 1, 0, 1]>(x, w)",
     {"x": [2, 2, 4, 4], "w": [4, 1, 2, 2]}, {},
     lambda x, w: F.conv2d(x, w, stride=(2, 1), dilation=(1, 2), padding=(0, 1), groups=2)),
    ("conv_1d", "Conv<strides = [2], pads = [2, 2]>(x, w)", {"x": [1, 3, 5], "w": [2, 3, 3]}, {},
     lambda x, w: F.conv1d(x, w, stride=2, padding=2)),
    ("conv_3d", "Conv(x, w)", {"x": [1, 1, 2, 3, 3], "w": [1, 1, 2, 2, 2]}, {}, F.conv3d),
    ("conv_transpose", "ConvTranspose<strides = [2, 2], pads = [1, 0, 1, 0], output_padding = [1, 0]>(x, w, b)",
     {"x": [1, 2, 2, 3], "w": [2, 1, 3, 2], "b": [1]}, {},
     lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=(1, 0), output_padding=(1, 0))),
    ("conv_transpose_grouped", "ConvTranspose<group = 2, dilations = [2, 1]>(x, w)",
     {"x": [1, 4, 2, 2], "w": [4, 1, 2, 2]}, {},
     lambda x, w: F.conv_transpose2d(x, w, groups=2, dilation=(2, 1))),
    ("max_pool", "MaxPool<kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 0]>(x)", {"x": [1, 2, 4, 3]}, {},
     lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0))),
    ("max_pool_dilated", "MaxPool<kernel_shape = [2, 2], dilations = [2, 1], ceil_mode = 1, strides = [2, 2]>(x)",
     {"x": [1, 1, 5, 5]}, {}, lambda x: F.max_pool2d(x, 2, 2, dilation=(2, 1), ceil_mode=True)),
    ("average_pool", "AveragePool<kernel_shape = [2, 3], strides = [1, 2], pads = [1, 1, 1, 1]>(x)", {"x": [1, 2, 3, 4]}, {},
     lambda x: F.avg_pool2d(x, (2, 3), (1, 2), (1, 1), count_include_pad=False)),
    ("average_pool_with_pads", "AveragePool<kernel_shape = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 1>(x)",
     {"x": [1, 1, 3, 3]}, {}, lambda x: F.avg_pool2d(x, 2, 1, 1)),
    ("global_average_pool", "GlobalAveragePool(x)", {"x": [2, 2, 2, 3]}, {}, lambda x: x.mean((2, 3), keepdim=True)),
    ("global_max_pool", "GlobalMaxPool(x)", {"x": [2, 2, 2, 3]}, {}, lambda x: x.amax((2, 3), keepdim=True)),
    ("batch_normalization", "BatchNormalization<epsilon = 0.01>(x, s, b, m, v)",
     {"x": [2, 2, 3], "s": [2], "b": [2], "m": [2], "v": ([2], 3, 0.25)}, {},
     lambda x, s, b, m, v: (x - m[:, None]) / (v[:, None] + 0.009999999776482582).sqrt() * s[:, None] + b[:, None]),
    ("instance_normalization", "InstanceNormalization<epsilon = 0.01>(x, s, b)", {"x": [2, 2, 4], "s": [2], "b": [2]}, {},
     lambda x, s, b: F.instance_norm(x, weight=s, bias=b, eps=0.009999999776482582)),
    ("layer_normalization", "LayerNormalization<axis = -1, epsilon = 0.01>(x, s, b)", {"x": [2, 2, 4], "s": [4], "b": [4]}, {},
     lambda x, s, b: F.layer_norm(x, (4,), s, b, 0.009999999776482582)),
    ("layer_normalization_axes", "LayerNormalization<axis = 1, epsilon = 0.01>(x, s)", {"x": [2, 2, 3], "s": [2, 3]}, {},
     lambda x, s: F.layer_norm(x, (2, 3), s, None, 0.009999999776482582)),
    ("softmax", "Softmax<axis = 1>(x)", {"x": [2, 3, 2]}, {}, lambda x: x.softmax(1)),
    ("log_softmax", "LogSoftmax<axis = -1>(x)", {"x": [3, 4]}, {}, lambda x: x.log_softmax(-1)),
    ("cross_entropy", "SoftmaxCrossEntropyLoss<reduction = \"none\", ignore_index = 1>(x, t, c)", {"x": [4, 3]},
     {"t": ("int64", [4], [0, 1, 2, 2]), "c": ("double", [3], [1.5, 2, 0.25])}, lambda x, t, c: F.cross_entropy(x, t, weight=c, ignore_index=1, reduction="none")),
    ("cross_entropy_mean", "SoftmaxCrossEntropyLoss(x, t, c)", {"x": [2, 3, 2]},
     {"t": ("int64", [2, 2], [0, 1, 2, 2]), "c": ("double", [3], [1.5, 2, 0.25])}, lambda x, t, c: F.cross_entropy(x, t, weight=c)),
    ("nll", "NegativeLogLikelihoodLoss<reduction = \"sum\", ignore_index = 2>(x, t)", {"x": [4, 3]},
     {"t": ("int64", [4], [0, 1, 2, 2])}, lambda x, t: F.nll_loss(x, t, ignore_index=2, reduction="sum")),
    ("gelu", "Gelu(x)", {"x": [6]}, {}, F.gelu),
    ("gelu_tanh", "Gelu<approximate = \"tanh\">(x)", {"x": [6]}, {}, lambda x: F.gelu(x, approximate="tanh")),
    ("relu", "Relu(x)", {"x": [6]}, {}, F.relu),
    ("leaky_relu", "LeakyRelu<alpha = 0.2>(x)", {"x": [6]}, {}, lambda x: F.leaky_relu(x, 0.20000000298023224)),
    ("prelu", "PRelu(x, a)", {"x": [2, 2, 3], "a": [2, 1]}, {}, lambda x, a: torch.where(x < 0, a * x, x)),
    ("elu", "Elu<alpha = 1.5>(x)", {"x": [6]}, {}, lambda x: F.elu(x, 1.5)),
    ("celu", "Celu<alpha = 0.5>(x)", {"x": ([6], 0, 1, "float")}, {}, lambda x: F.celu(x, 0.5)),
    ("selu", "Selu(x)", {"x": [6]}, {}, lambda x: 1.0507010221481323 * torch.where(x > 0, x, 1.6732631921768188 * (x.exp() - 1))),
    ("hard_swish", "HardSwish(x)", {"x": ([8], 0, 3)}, {}, F.hardswish),
    ("mish", "Mish(x)", {"x": [6]}, {}, F.mish),
    ("softplus", "Softplus(x)", {"x": [6]}, {}, F.softplus),
    ("softsign", "Softsign(x)", {"x": [6]}, {}, F.softsign),
    ("erf", "Erf(x)", {"x": [6]}, {}, torch.erf),
    ("pow", "Pow(x, e)", {"x": ([2, 3], 3, 0.5), "e": [3]}, {}, torch.pow),
    ("divided_broadcast", "Div(a, b)", {"a": [2, 1, 3], "b": ([2, 1], 3, 0.5)}, {}, torch.div),
    ("used_twice", "Mul(x, x)", {"x": [2, 3]}, {}, lambda x: x * x),
    ("maximum", "Max(a, b, c)", {"a": [2, 3], "b": [3], "c": [2, 1]}, {},
     lambda a, b, c: torch.maximum(torch.maximum(a, b), c)),
    ("clip", "Clip(x, l, h)", {"x": [8]}, {"l": ("double", [], [-0.5]), "h": ("double", [], [0.75])},
     lambda x, l, h: x.clamp(l, h)),
    ("where", "Where(c, a, b)", {"a": [2, 3], "b": [3]}, {"c": ("bool", [2, 1], [True, False])},
     lambda a, b, c: torch.where(c, a, b)),
    ("matmul_broadcast", "MatMul(a, b)", {"a": [2, 1, 2, 3], "b": [2, 3, 2]}, {}, torch.matmul),
    ("matmul_vector", "MatMul(a, b)", {"a": [3], "b": [2, 3, 2]}, {}, torch.matmul),
    ("gemm", "Gemm<alpha = 0.5, beta = 2.0, transA = 1, transB = 1>(a, b, c)", {"a": [3, 2], "b": [4, 3], "c": [4]}, {},
     lambda a, b, c: 0.5 * a.T @ b.T + 2 * c),
    ("einsum", "Einsum<equation = \"bij,bjk->kib\">(a, b)", {"a": [2, 2, 3], "b": [2, 3, 2]}, {},
     lambda a, b: torch.einsum("bij,bjk->kib", a, b)),
    ("reduce_mean", "ReduceMean<keepdims = 0>(x, a)", {"x": [2, 3, 2]}, {"a": ("int64", [2], [0, 2])},
     lambda x, a: x.mean((0, 2))),
    ("reduce_l2", "ReduceL2(x, a)", {"x": [2, 3]}, {"a": ("int64", [1], [1])}, lambda x, a: x.norm(dim=1, keepdim=True)),
    ("reduce_log_sum_exp", "ReduceLogSumExp(x, a)", {"x": [2, 3]}, {"a": ("int64", [1], [1])},
     lambda x, a: x.logsumexp(1, keepdim=True)),
    ("reduce_prod", "ReduceProd(x, a)", {"x": [2, 3]}, {"a": ("int64", [1], [1])}, lambda x, a: x.prod(1, keepdim=True)),
    ("reduce_max", "ReduceMax(x, a)", {"x": [2, 3]}, {"a": ("int64", [1], [0])}, lambda x, a: x.amax(0, keepdim=True)),
    ("cumsum", "CumSum<exclusive = 0, reverse = 1>(x, a)", {"x": [2, 3]}, {"a": ("int64", [], [1])},
     lambda x, a: x.flip(1).cumsum(1).flip(1)),
    ("gather", "Gather<axis = 1>(x, i)", {"x": [2, 3]}, {"i": ("int64", [2, 2], [0, 2, 2, -1])},
     lambda x, i: x[:, i]),
    ("gather_elements", "GatherElements<axis = 1>(x, i)", {"x": [2, 3]}, {"i": ("int64", [2, 2], [0, 2, 1, 1])},
     lambda x, i: x.gather(1, i)),
    ("concat", "Concat<axis = -1>(a, b, a)", {"a": [2, 2], "b": [2, 1]}, {}, lambda a, b: torch.cat([a, b, a], -1)),
    ("slice", "Slice(x, s, e, a, t)", {"x": [2, 5]},
     {"s": ("int64", [1], [4]), "e": ("int64", [1], [0]), "a": ("int64", [1], [1]), "t": ("int64", [1], [-2])},
     lambda x, s, e, a, t: x.flip(1)[:, 0:4:2]),
    ("pad_reflect", "Pad<mode = \"reflect\">(x, p)", {"x": [2, 4]}, {"p": ("int64", [4], [0, 2, 0, 1])},
     lambda x, p: F.pad(x[None], (2, 1), mode="reflect")[0]),
    ("pad_edge", "Pad<mode = \"edge\">(x, p)", {"x": [2, 3]}, {"p": ("int64", [4], [0, 1, 0, 2])},
     lambda x, p: F.pad(x[None], (1, 2), mode="replicate")[0]),
    ("transpose", "Transpose<perm = [2, 0, 1]>(x)", {"x": [2, 3, 2]}, {}, lambda x: x.permute(2, 0, 1)),
    ("expand", "Expand(x, s)", {"x": [2, 1]}, {"s": ("int64", [3], [2, 1, 3])}, lambda x, s: x.expand(2, 2, 3)),
    ("resize_nearest", "Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\">(x, \"\", \"\", s)",
     {"x": [1, 1, 2, 3]}, {"s": ("int64", [4], [1, 1, 5, 4])}, lambda x, s: F.interpolate(x, (5, 4), mode="nearest")),
    ("resize_linear", "Resize<mode = \"linear\", coordinate_transformation_mode = \"half_pixel\">(x, \"\", \"\", s)",
     {"x": [1, 1, 3, 2]}, {"s": ("int64", [4], [1, 1, 4, 5])},
     lambda x, s: F.interpolate(x, (4, 5), mode="bilinear", align_corners=False)),
    ("resize_corners", "Resize<mode = \"linear\", coordinate_transformation_mode = \"align_corners\">(x, \"\", \"\", s)",
     {"x": [1, 1, 3, 2]}, {"s": ("int64", [4], [1, 1, 5, 3])},
     lambda x, s: F.interpolate(x, (5, 3), mode="bilinear", align_corners=True)),
]


def lstm(x, w, r, b):
    cell = torch.nn.LSTM(x.shape[2], r.shape[2]).double()
    pick = lambda m: torch.cat([m.chunk(4)[k] for k in (0, 2, 3, 1)])  # noqa: E731 ONNX: i, o, f, c
    params = {"weight_ih_l0": pick(w[0]), "weight_hh_l0": pick(r[0]),
              "bias_ih_l0": pick(b[0].chunk(2)[0]), "bias_hh_l0": pick(b[0].chunk(2)[1])}
    return torch.func.functional_call(cell, params, (x,))[0][:, None]


def gru(x, w, r, b):
    cell = torch.nn.GRU(x.shape[2], r.shape[2]).double()
    pick = lambda m: torch.cat([m.chunk(3)[k] for k in (1, 0, 2)])  # noqa: E731 ONNX: z, r, h
    params = {"weight_ih_l0": pick(w[0]), "weight_hh_l0": pick(r[0]),
              "bias_ih_l0": pick(b[0].chunk(2)[0]), "bias_hh_l0": pick(b[0].chunk(2)[1])}
    return torch.func.functional_call(cell, params, (x,))[0][:, None]


ROWS += [
    ("lstm", "LSTM<hidden_size = 2>(x, w, r, b)", {"x": [3, 1, 2], "w": [1, 8, 2], "r": [1, 8, 2], "b": [1, 16]}, {}, lstm),
    ("gru", "GRU<hidden_size = 2, linear_before_reset = 1>(x, w, r, b)",
     {"x": [3, 1, 2], "w": [1, 6, 2], "r": [1, 6, 2], "b": [1, 12]}, {}, gru),
]

TORCH = {"int64": torch.int64, "double": torch.float64, "bool": torch.bool, "float": torch.float32}


def brackets(shape):
    return f"[{','.join(map(str, shape))}]"


def numbers(tensor):
    return ", ".join(f"{v:.7g}" for v in tensor.detach().double().numpy().ravel())


def draw(seed, spec):
    """The tensor that SPEC, a shape or (shape, offset, scale, dtype), stands for, and its text."""
    shape, offset, scale, kind = (*spec, *([], 0, 1, "double")[len(spec):]) if isinstance(spec, tuple) else (spec, 0, 1, "double")
    values = offset + scale * np.random.default_rng(seed).standard_normal(shape)
    data = torch.tensor(values).to(TORCH[kind]).requires_grad_()
    return data, kind, shape, f"normal {{{seed}, 0, {offset}, {scale}}}"


def put_case(row, seed):
    name, text, floats, others, function = row
    drawn = {key: draw(seed + i, spec) for i, (key, spec) in enumerate(floats.items())}
    fixed = {key: torch.tensor(values, dtype=TORCH[kind]).reshape(shape) for key, (kind, shape, values) in others.items()}
    y = function(*[data for data, *_ in drawn.values()], **fixed)
    weights, kind, shape, weights_text = draw(seed + 9, (list(y.shape), 0, 1, next(iter(drawn.values()))[1]))
    gradients = torch.autograd.grad((y * weights).sum(), [data for data, *_ in drawn.values()])
    inputs = [f"{k}{brackets(s)} {key}" for key, (_, k, s, _) in drawn.items()]
    inputs += [f"{k}{brackets(s)} {key}" for key, (k, s, _) in others.items()] + [f"{kind}{brackets(shape)} weights"]
    outputs = [f"{k}{brackets(s)} d{key}" for key, (_, k, s, _) in drawn.items()]
    print(f"\n== autograd_{name}\n# {text.split('(')[0].split('<')[0]}.\n-- model.onnx")
    print(f"g ({', '.join(inputs)}) => ({', '.join(outputs)}) {{")
    print(f"  y = {text}\n  product = Mul(y, weights)")
    names = ", ".join(f'"{key}"' for key in drawn)
    print(f"  {', '.join('d' + key for key in drawn)} = ai.onnx.preview.training.Gradient<xs = [{names}], y = \"product\">({', '.join(drawn)})")
    print("}\n-- test_data_set_0/")
    lines = [(k, s, key, t) for key, (_, k, s, t) in drawn.items()]
    lines += [(k, s, key, "{" + ", ".join(str(v + 0) for v in values) + "}") for key, (k, s, values) in others.items()]
    lines.append((kind, shape, "weights", weights_text))
    for i, (k, s, key, t) in enumerate(lines):
        declared = "" if s else f"{k}[] {key} "  # a model does not say of what is declared [] that it is a scalar
        print(f"input {i} {declared}= {t}")
    for i, (key, gradient) in enumerate(zip(drawn, gradients)):
        print(f"output {i} {drawn[key][1]}{brackets(drawn[key][2])} d{key} = {{{numbers(gradient)}}}")


def main():
    print("# Derivatives by what torch.autograd (PyTorch 2.6) says, recorded in float64 by ../oracle/autograd.py: the sum of an operator's results,")
    print("# each times a random weight.\nfiles: ops/autograd/*/")
    print(f'\n== <ir_version: 9, opset_import: ["" : {OPSET}, "ai.onnx.preview.training" : 1]>')
    for i, row in enumerate(ROWS):
        put_case(row, 100 * (i + 1))


if __name__ == "__main__":
    main()

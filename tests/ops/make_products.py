#!/usr/bin/env python3
"""Makes products/ and products_refused/: matrix products, Einsum, normalizations, softmax and attention, in the layout of ONNX's
backend tests, where those say too little.

products/: old versions, bfloat16 and float16, broadcasting, empty operands, 1-D operands, constant weights. Expected outputs are
computed in float64 by NumPy and PyTorch from the inputs as stored, and rounded once. products_refused/: shapes that do not fit; what is
said of them is in products_refused.txt. Needs onnx, numpy and torch. Run it in this folder; the same versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from torch.nn import functional

torch.manual_seed(3)
F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
TYPES = {F32: TensorProto.FLOAT, F64: TensorProto.DOUBLE, F16: TensorProto.FLOAT16, BF16: TensorProto.BFLOAT16,
         torch.int8: TensorProto.INT8, torch.uint8: TensorProto.UINT8, torch.int32: TensorProto.INT32,
         torch.uint32: TensorProto.UINT32, torch.int64: TensorProto.INT64, torch.uint64: TensorProto.UINT64,
         torch.bool: TensorProto.BOOL}


def proto(value, name):
    value = value.contiguous()
    raw = value.view(torch.int16) if value.dtype in (F16, BF16) else value
    return helper.make_tensor(name, TYPES[value.dtype], value.shape, raw.numpy().tobytes(), raw=True)


def write(path, tensor):
    with open(path, "wb") as file:
        file.write(tensor.SerializeToString())


def save(folder, name, op, opset, inputs, outputs, weights=(), **attributes):
    """INPUTS may hold None; those whose index is in WEIGHTS are initializers. OUTPUTS: tensors, None where not wanted."""
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    results = ["" if v is None else f"y{i}" for i, v in enumerate(outputs)]
    tensors = [proto(v, n) for v, n in zip(inputs, names) if n]
    constant = [t for t in tensors if int(t.name[1:]) in weights]
    given = [t for t in tensors if int(t.name[1:]) not in weights]
    expected = [proto(v, n) for v, n in zip(outputs, results) if n]
    node = helper.make_node(op, names, results, **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in given],
                              [helper.make_tensor_value_info(t.name, t.data_type, None) for t in expected], constant)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10 if opset > 20 else 8)
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"{folder}/{name}/model.onnx")
    for kind, written in (("input", given), ("output", expected)):
        for i, tensor in enumerate(written):
            write(f"{data}/{kind}_{i}.pb", tensor)


def case(name, op, opset, inputs, outputs, weights=(), **attributes):
    outputs = outputs if isinstance(outputs, list) else [outputs]
    save("products", name, op, opset, inputs, outputs, weights, **attributes)


def numbers(dtype, *shape):
    """Multiples of 1/8 from -2 to 2: products of them add up exactly in every order, as long as sums stay small."""
    values = torch.randint(-16, 17, shape)
    return (values.to(F64) / 8).to(dtype) if dtype.is_floating_point else values.to(dtype)


def short(dtype):
    return str(dtype).split(".")[1]


# ---- products

def make_matmul():
    shapes = {"vectors": ((5,), (5,)), "row": ((1, 70), (70, 33)), "column": ((9, 6), (6,)), "vector_batch": ((4,), (2, 4, 3)),
              "broadcast_left": ((2, 1, 3, 4), (5, 4, 2)), "broadcast_both": ((3, 1, 2, 4), (1, 2, 4, 3)),
              "shared_weights": ((2, 3, 5, 4), (4, 6)), "no_sum": ((2, 0), (0, 3)), "no_rows": ((2, 0, 4), (4, 3))}
    for name, (a, b) in shapes.items():
        for dtype in (F32, F64, F16, BF16) if name in ("row", "no_sum") else (F32, BF16):
            left, right = numbers(dtype, *a), numbers(dtype, *b)
            y = torch.matmul(left.to(F64), right.to(F64)).to(dtype)
            case(f"matmul_{name}_{short(dtype)}", "MatMul", 13, [left, right], y, weights=(1,) if name != "broadcast_both" else ())
    high = torch.tensor([[2**62 + 5, -3], [7, 2**61]])
    case("matmul_wraps_int64", "MatMul", 13, [high, high], torch.matmul(high, high))
    for dtype in (torch.uint32, torch.uint64):
        case(f"matmul_{short(dtype)}", "MatMul", 13, [torch.tensor([[3, 5]]).to(dtype), torch.tensor([[7], [11]]).to(dtype)],
             torch.tensor([[76]]).to(dtype))


def make_gemm():
    for dtype in (F32, F64, BF16):
        for name, c in {"none": None, "scalar": (), "one": (1,), "vector": (5,), "column": (3, 1), "matrix": (3, 5)}.items():
            for alpha, beta in ((1.0, 1.0), (0.5, 0.25)):
                a, b = numbers(dtype, 4, 3), numbers(dtype, 5, 4)
                y = alpha * a.to(F64).T @ b.to(F64).T
                inputs = [a, b] if c is None else [a, b, numbers(dtype, *c)]
                y = y if c is None else y + beta * inputs[2].to(F64)
                scaled = "" if alpha == 1 else "scaled_"
                if dtype != F64 or scaled:
                    case(f"gemm_{name}_{scaled}{short(dtype)}", "Gemm", 13, inputs, y.to(dtype), weights=(1, 2), transA=1, transB=1,
                         alpha=alpha, beta=beta)
    a, b, c = numbers(torch.int32, 2, 3), numbers(torch.int32, 3, 4), numbers(torch.int32, 4)
    case("gemm_int32", "Gemm", 11, [a, b, c], a @ b + c)
    case("gemm_int32_scaled", "Gemm", 11, [a, b, c], 2 * (a @ b) + 3 * c, alpha=2.0, beta=3.0)
    a, b, c = numbers(F32, 2, 3), numbers(F32, 3, 4), numbers(F32, 4)
    for opset in (1, 6):
        case(f"gemm_{opset}_broadcast", "Gemm", opset, [a, b, c], a @ b + c, broadcast=1)
        case(f"gemm_{opset}", "Gemm", opset, [a, b, a @ b], 2 * (a @ b))
    case("gemm_no_sum", "Gemm", 13, [numbers(F32, 2, 0), numbers(F32, 0, 4), c], c.expand(2, 4))


def make_integers():
    a, b = torch.randint(0, 256, (2, 3, 4)).to(torch.uint8), torch.randint(-128, 128, (4, 5)).to(torch.int8)
    rows, columns = torch.randint(0, 256, (3, 1)).to(torch.uint8), torch.randint(-128, 128, (5,)).to(torch.int8)
    zero = torch.tensor(9, dtype=torch.int8)

    def product(a, a_zero, b, b_zero):
        return (a.to(F64) - a_zero.to(F64)) @ (b.to(F64) - b_zero.to(F64))

    case("matmul_integer", "MatMulInteger", 10, [a, b], product(a, 0 * zero, b, 0 * zero).to(torch.int32))
    case("matmul_integer_b_zero", "MatMulInteger", 10, [a, b, None, zero], product(a, 0 * zero, b, zero).to(torch.int32))
    case("matmul_integer_rows", "MatMulInteger", 10, [a[0], b, rows[:, 0], columns], product(a[0], rows, b, columns).to(torch.int32))
    case("matmul_integer_rows_3d", "MatMulInteger", 10, [a, b, rows.expand(2, 3, 1), columns],
         product(a, rows, b, columns).to(torch.int32))

    def quantized(name, a, a_scale, a_zero, b, b_scale, b_zero, y_zero, opset=21):
        y_scale = torch.tensor(0.03125, dtype=a_scale.dtype)
        a_column = a_scale.reshape(-1, 1) if a_scale.dim() == 1 else a_scale
        zeros = a_zero.reshape(-1, 1) if a_zero.dim() == 1 else a_zero
        y = product(a, zeros, b, b_zero) * a_column.to(F64) * b_scale.to(F64) / y_scale.to(F64)
        info = torch.iinfo(y_zero.dtype)
        y = (torch.round(y) + y_zero).clamp(info.min, info.max).to(y_zero.dtype)
        case(name, "QLinearMatMul", opset, [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero], y)

    scale = torch.tensor(2.0**-9)
    for dtype in (torch.int8, torch.uint8):
        for scales in (F32, F16, BF16):
            quantized(f"qlinear_matmul_{short(dtype)}_{short(scales)}", a, scale.to(scales), rows[0, 0], b, scale.to(scales) * 4, zero,
                      torch.tensor(100).to(dtype))
    quantized("qlinear_matmul_rows", a[0], torch.tensor([1, 2, 3]) * scale, rows[:, 0], b, torch.tensor([1, 2, 1, 3, 1]) * scale, columns,
              torch.tensor(7, dtype=torch.int8), opset=10)


def make_einsum():
    equations = {
        "transpose": ("cab->abc", (2, 3, 4)),
        "diagonal": ("...ii->i...", (2, 3, 3)),
        "trace": ("ii", (4, 4)),
        "sum": ("i...->...", (3, 2, 4)),
        "implicit": ("bA,Ac", (3, 4), (4, 2)),
        "spaces": (" i j , j k -> k i ", (3, 4), (4, 2)),
        "outer": ("i,j->ji", (3,), (4,)),
        "dot": ("i,i->", (5,), (5,)),
        "elements": ("ij,ij->ij", (3, 4), (3, 4)),
        "heads": ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
        "heads_back": ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)),
        "two_sums": ("abcd,dcef->efab", (2, 3, 2, 4), (4, 2, 2, 3)),
        "broadcast": ("...ij,...jk->...ik", (2, 3, 4), (5, 1, 4, 2)),
        "one": ("ij,kj->ik", (3, 4), (1, 4)),
        "stretched": ("ij,jk->ik", (3, 1), (4, 5)),
        "sum_first": ("ab,cd->ac", (3, 4), (2, 5)),
        "three": ("ij,jk,kl->il", (3, 4), (4, 2), (2, 3)),
        "same_three": ("ab,ab,ab->a", (3, 4), (3, 4), (3, 4)),
        "scalars": (",ij->ji", (), (3, 4)),
        "no_sum": ("ij,jk->ik", (2, 0), (0, 3)),
        "diagonal_product": ("iij,jk->ik", (3, 3, 4), (4, 5)),
    }
    for name, (equation, *shapes) in equations.items():
        for dtype in (F32, F64, F16, torch.int32, torch.uint8) if name in ("diagonal", "heads", "three") else (F32,):
            values = [numbers(dtype, *s) for s in shapes]
            y = torch.from_numpy(np.array(np.einsum(equation.replace(" ", ""), *[v.to(F64).numpy() for v in values])))
            y = y.to(dtype) if dtype.is_floating_point else y.to(torch.int64).to(dtype)
            case(f"einsum_{name}_{short(dtype)}", "Einsum", 12, values, y, weights=(1,), equation=equation)


# ---- normalizations

def channelwise(parameter, rank):
    return parameter.to(F64).reshape((1, -1) + (1,) * (rank - 2))


def standardized(x, dims, epsilon=2.0**-10):
    x = x.to(F64)
    mean, variance = x.mean(dims, keepdim=True), x.var(dims, unbiased=False, keepdim=True)
    return (x - mean) / torch.sqrt(variance + epsilon), mean, 1 / torch.sqrt(variance + epsilon)


def make_batch_norm():
    epsilon = 2.0**-10
    for x_type, other in ((F32, F32), (F64, F64), (F16, F16), (BF16, BF16), (BF16, F32), (F16, F32), (F32, F64)):
        for shape in ((2, 3), (2, 3, 2, 2), (2, 3, 2, 1, 2, 2)) if x_type == BF16 else ((2, 3, 4),):
            x, (scale, bias, mean) = numbers(x_type, *shape), [numbers(other, 3) for _ in range(3)]
            variance = numbers(other, 3).abs() + 0.25
            per_channel = [channelwise(p, len(shape)) for p in (scale, bias, mean, variance)]
            y = (x.to(F64) - per_channel[2]) / torch.sqrt(per_channel[3] + epsilon) * per_channel[0] + per_channel[1]
            case(f"batch_norm_{len(shape)}d_{short(x_type)}_{short(other)}", "BatchNormalization", 15, [x, scale, bias, mean, variance],
                 y.to(x_type), weights=(1, 2, 3, 4), epsilon=epsilon)
    x, scale, bias, mean = numbers(F32, 4, 3, 5), numbers(F32, 3), numbers(F32, 3), numbers(F32, 3)
    variance = numbers(F32, 3).abs() + 0.25
    normal, batch_mean, _ = standardized(x, (0, 2))
    batch_variance = x.to(F64).var((0, 2), unbiased=False)
    y = (normal * channelwise(scale, 3) + channelwise(bias, 3)).to(F32)
    running = [(0.75 * mean + 0.25 * batch_mean.flatten()).to(F32), (0.75 * variance + 0.25 * batch_variance).to(F32)]
    inputs, attributes = [x, scale, bias, mean, variance], {"epsilon": epsilon, "momentum": 0.75}
    for opset in (14, 15):
        case(f"batch_norm_{opset}_training", "BatchNormalization", opset, inputs, [y, *running], training_mode=1, **attributes)
    case("batch_norm_training_variance", "BatchNormalization", 15, inputs, [y, None, running[1]], training_mode=1, **attributes)
    saved = [batch_mean.flatten().to(F32), batch_variance.to(F32)]
    case("batch_norm_9_training", "BatchNormalization", 9, inputs, [y, *running, *saved], **attributes)
    x, scale, bias, mean = [numbers(F32, *s) for s in ((2, 3, 4), (3, 4), (3, 4), (3, 4))]
    variance = numbers(F32, 3, 4).abs() + 0.25
    y = (x.to(F64) - mean) / torch.sqrt(variance.to(F64) + epsilon) * scale + bias
    case("batch_norm_7_not_spatial", "BatchNormalization", 7, [x, scale, bias, mean, variance], y.to(F32), spatial=0, epsilon=epsilon)


def make_layer_norm():
    for dtype in (F32, F64, BF16):
        for axis, of_scale in ((-1, (5,)), (1, (4, 5)), (0, (3, 4, 5)), (-1, (1, 1, 5))):
            x, scale, bias = numbers(dtype, 3, 4, 5), numbers(dtype, *of_scale), numbers(dtype, *of_scale)
            normal, mean, inverse = standardized(x, tuple(range(axis % 3, 3)))
            y = (normal * scale.to(F64) + bias.to(F64)).to(dtype)
            name = f"layer_norm_{axis}_{len(of_scale)}_{short(dtype)}"
            case(name, "LayerNormalization", 17, [x, scale, bias], [y, mean.to(F32), inverse.to(F32)], weights=(1, 2), axis=axis,
                 epsilon=2.0**-10)
    x, scale = numbers(F32, 3, 4), numbers(F32, 3, 1)
    normal, mean, inverse = standardized(x, (1,))
    case("layer_norm_no_bias", "LayerNormalization", 17, [x, x[0]], (normal * x[0]).to(F32), epsilon=2.0**-10)
    case("layer_norm_scale_by_row", "LayerNormalization", 17, [x, scale], (normal * scale).to(F32), epsilon=2.0**-10)
    y = (normal * x[:1]).to(F32)
    case("layer_norm_inverse_alone", "LayerNormalization", 17, [x, x[:1]], [y, None, inverse.to(F32)], epsilon=2.0**-10)
    case("layer_norm_bfloat16_statistics", "LayerNormalization", 17, [x, x[:1]], [y, mean.to(BF16), inverse.to(BF16)],
         epsilon=2.0**-10, stash_type=TensorProto.BFLOAT16)


def make_other_norms():
    epsilon = 2.0**-10
    for dtype in (F32, F64, F16, BF16):
        x = numbers(dtype, 2, 6, 3, 2)
        for groups in (3, 6) if dtype == BF16 else (3,):
            normal = standardized(x.reshape(2, groups, -1), (2,))[0].reshape(x.shape)
            scale, bias = numbers(dtype, 6), numbers(dtype, 6)
            case(f"group_norm_{groups}_{short(dtype)}", "GroupNormalization", 21, [x, scale, bias],
                 (normal * channelwise(scale, 4) + channelwise(bias, 4)).to(dtype), weights=(1, 2), num_groups=groups, epsilon=epsilon)
        normal = standardized(x, (2, 3))[0]
        case(f"instance_norm_{short(dtype)}", "InstanceNormalization", 22, [x, scale, bias],
             (normal * channelwise(scale, 4) + channelwise(bias, 4)).to(dtype), epsilon=epsilon)
        case(f"rms_norm_{short(dtype)}", "RMSNormalization", 23, [x, x[0, 0]],
             (functional.rms_norm(x.to(F64), (3, 2), eps=epsilon) * x[0, 0].to(F64)).to(dtype), axis=2, epsilon=epsilon)
        case(f"mean_variance_{short(dtype)}", "MeanVarianceNormalization", 13, [x], standardized(x, (1, 3), 0)[0].to(dtype),
             axes=[3, -3])
        for p in (1, 2):
            case(f"lp_norm_{p}_{short(dtype)}", "LpNormalization", 22, [x], functional.normalize(x.to(F64), p, 1).to(dtype), p=p, axis=1)
    scale, bias = numbers(F32, 3), numbers(F32, 3)
    x = numbers(F32, 2, 6, 3, 2)
    normal = standardized(x.reshape(2, 3, -1), (2,))[0].reshape(x.shape)
    each = [channelwise(p.repeat_interleave(2), 4) for p in (scale, bias)]
    case("group_norm_18", "GroupNormalization", 18, [x, scale, bias], (normal * each[0] + each[1]).to(F32), num_groups=3, epsilon=epsilon)
    case("lp_norm_zero", "LpNormalization", 1, [torch.zeros(2, 3)], torch.zeros(2, 3))


def make_softmax():
    for dtype in (F32, F64, BF16):
        x = numbers(dtype, 2, 3, 4, 5)
        x[0, 1, 2, 3] = -torch.inf
        for axis in (1, -1, 0):
            flat = x.to(F64).reshape(x.shape[:axis % 4].numel(), -1)
            for op, function in (("Softmax", torch.softmax), ("LogSoftmax", torch.log_softmax)):
                case(f"{op.lower()}_13_{axis}_{short(dtype)}", op, 13, [x], function(x.to(F64), axis).to(dtype), axis=axis)
                if dtype == F32:
                    case(f"{op.lower()}_11_{axis}_{short(dtype)}", op, 11, [x], function(flat, 1).reshape(x.shape).to(dtype), axis=axis)
    x = torch.tensor([[1.0, 3, 3, -1], [float("nan"), 0, 5, 1]])
    case("hardmax_first", "Hardmax", 13, [x], torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0]]))
    case("softmax_empty", "Softmax", 13, [torch.zeros(3, 0)], torch.zeros(3, 0))


# ---- attention

def make_attention():
    """PyTorch's attention has its causal mask at the top left; with a past the mask is given as one instead."""
    for dtype in (F32, F64, BF16):
        q, k, v = numbers(dtype, 2, 4, 3, 8), numbers(dtype, 2, 2, 5, 8), numbers(dtype, 2, 2, 5, 6)
        wide = [t.to(F64) for t in (q, k, v)]
        mask = torch.rand(3, 5) > 0.4
        mask[:, 0] = True

        def attend(mask=None, causal=False, scale=None, wide=wide):
            return functional.scaled_dot_product_attention(*wide, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=True)

        def flat(t):
            return t.transpose(1, 2).reshape(t.shape[0], t.shape[2], -1)

        name = short(dtype)
        case(f"attention_{name}", "Attention", 23, [q, k, v], attend().to(dtype))
        case(f"attention_causal_{name}", "Attention", 23, [q, k, v], attend(causal=True).to(dtype), is_causal=1)
        case(f"attention_mask_{name}", "Attention", 23, [q, k, v, mask], attend(mask, scale=0.5).to(dtype), scale=0.5)
        case(f"attention_flat_{name}", "Attention", 23, [flat(q), flat(k), flat(v)], flat(attend()).to(dtype), q_num_heads=4,
             kv_num_heads=2)
        past = torch.ones(3, 5, dtype=torch.bool).tril(2)
        case(f"attention_past_{name}", "Attention", 23, [q, k[:, :, 2:], v[:, :, 2:], None, k[:, :, :2], v[:, :, :2]],
             [attend(past).to(dtype), k, v], is_causal=1)
    nothing = torch.zeros(3, 5, dtype=torch.bool)
    q, k, v = numbers(F32, 1, 2, 3, 4), numbers(F32, 1, 2, 5, 4), numbers(F32, 1, 2, 5, 4)
    case("attention_masked", "Attention", 23, [q, k, v, nothing], torch.zeros_like(q))
    for dtype in (F32, F16, BF16):
        x, angles = numbers(dtype, 2, 3, 4, 6), torch.rand(2, 4, 3)
        cosines, sines = torch.cos(angles).to(dtype), torch.sin(angles).to(dtype)
        turned = torch.complex(x[..., :3].to(F64), x[..., 3:].to(F64)) * torch.complex(cosines.to(F64), sines.to(F64))[:, None]
        y = torch.cat((turned.real, turned.imag), -1).to(dtype)
        case(f"rotary_{short(dtype)}", "RotaryEmbedding", 23, [x, cosines, sines], y)


def make_refused():
    def refuse(name, op, opset, *shapes, types=F32, **attributes):
        inputs = [s if s is None or isinstance(s, torch.Tensor) else torch.ones(s, dtype=types) for s in shapes]
        save("products_refused", name, op, opset, inputs, [torch.zeros(1, dtype=types)], **attributes)

    refuse("matmul_inner", "MatMul", 13, (2, 3), (4, 5))
    refuse("matmul_batch", "MatMul", 13, (2, 3, 4), (5, 4, 2))
    refuse("matmul_scalar", "MatMul", 13, (), (4, 5))
    refuse("gemm_inner", "Gemm", 13, (2, 3), (4, 3))
    refuse("gemm_rank", "Gemm", 13, (2, 3, 4), (4, 3))
    refuse("gemm_c", "Gemm", 13, (2, 3), (3, 4), (3, 4))
    refuse("gemm_no_broadcast", "Gemm", 6, (2, 3), (3, 4), (4,))
    refuse("einsum_dim", "Einsum", 12, (2, 3), (4, 5), equation="ij,jk->ik")
    refuse("einsum_rank", "Einsum", 12, (2, 3), equation="ijk->i")
    refuse("einsum_terms", "Einsum", 12, (2, 3), (2, 3), equation="ij->i")
    refuse("einsum_output", "Einsum", 12, (2, 3), equation="ij->ik")
    refuse("einsum_text", "Einsum", 12, (2, 3), equation="i+j")
    refuse("batch_norm_scale", "BatchNormalization", 15, (2, 3, 4), (4,), (3,), (3,), (3,))
    refuse("batch_norm_rank", "BatchNormalization", 15, (2, 3, 4), (3,), (3, 1), (3,), (3,))
    refuse("layer_norm_scale", "LayerNormalization", 17, (2, 3), (4,))
    refuse("layer_norm_axis", "LayerNormalization", 17, (2, 3), (3,), axis=2)
    refuse("group_norm_groups", "GroupNormalization", 21, (2, 6, 4), (6,), (6,), num_groups=4)
    refuse("group_norm_scale", "GroupNormalization", 21, (2, 6, 4), (2,), (6,), num_groups=2)
    refuse("instance_norm_rank", "InstanceNormalization", 6, (6,), (6,), (6,))
    refuse("lp_norm_p", "LpNormalization", 1, (2, 3), p=3)
    refuse("mean_variance_axis", "MeanVarianceNormalization", 13, (2, 3))
    refuse("softmax_axis", "Softmax", 13, (2, 3), axis=-3)
    refuse("attention_heads", "Attention", 23, (1, 3, 2, 4), (1, 2, 2, 4), (1, 2, 2, 4))
    refuse("attention_size", "Attention", 23, (1, 2, 2, 4), (1, 2, 2, 5), (1, 2, 2, 4))
    refuse("attention_mask", "Attention", 23, (1, 2, 2, 4), (1, 2, 2, 4), (1, 2, 2, 4), (3, 2))
    refuse("rotary_position", "RotaryEmbedding", 23, (1, 1, 2, 4), (3, 2), (3, 2), torch.tensor([[0, 3]]))


def make_bytes():
    """Products of bytes at the ends of their ranges and beyond 2^24, where float32 would not do; zero points at the other ends."""
    shape_a, shape_b = (3, 700), (700, 21)
    for a_type, b_type in ((a, b) for a in (torch.uint8, torch.int8) for b in (torch.uint8, torch.int8)):
        ends = [(torch.iinfo(t).min, torch.iinfo(t).max) for t in (a_type, b_type)]
        name = f"matmul_integer_{a_type}_{b_type}".replace("torch.", "")

        def product(kind, a, b, a_zero, b_zero, weights):
            y = (a.long() - a_zero.long().reshape(-1, 1)) @ (b.long() - b_zero.long())
            case(f"{name}_{kind}", "MatMulInteger", 10, [a, b, a_zero, b_zero], y.int(), weights)

        for end in (0, 1):
            near = [e[end] + (1 - 2 * end) * torch.randint(0, 2, s) for e, s in zip(ends, (shape_a, shape_b))]
            product("highest" if end else "lowest", near[0].to(a_type), near[1].to(b_type), torch.tensor(ends[0][1 - end], dtype=a_type),
                    torch.tensor(ends[1][1 - end], dtype=b_type), (1, 3) if end else ())
        values = [torch.randint(e[0], e[1] + 1, s).to(t) for e, s, t in
                  zip(ends * 2, (shape_a, shape_b, (3,), (21,)), (a_type, b_type, a_type, b_type))]
        product("each", *values, (1,))


for made in ("products", "products_refused"):
    shutil.rmtree(made, ignore_errors=True)
for make in (make_matmul, make_gemm, make_integers, make_einsum, make_batch_norm, make_layer_norm, make_other_norms, make_softmax,
             make_attention, make_refused, make_bytes):
    make()

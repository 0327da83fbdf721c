#!/usr/bin/env python3
"""Makes newest/ and newest_refused/: operators that opsets 23 to 28 brought or changed, in the layout of ONNX's backend tests.

newest/: every dtype, optional inputs, attributes and empty operands. Expected outputs are computed here from the standard's text, in
float64 from the inputs as stored, and rounded once. newest_refused/: inputs that are wrong; what is said of them is in
newest_refused.txt. Needs onnx, numpy and torch (for bfloat16). Run it in this folder; the same versions give the same bytes.
"""
import math
import os
import shutil

import numpy as np
import onnx
import torch
from onnx import helper

torch.manual_seed(7)
F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
I64, I8, U8, BOOL = torch.int64, torch.int8, torch.uint8, torch.bool
# Numbers of TensorProto.DataType, some of which are newer than the onnx that this runs with.
UINT4, INT4, FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2 = 21, 22, 23, 24, 25, 26
FLOAT8E4M3FN, COMPLEX64, STRING = 17, 14, 8
TYPES = {F32: 1, U8: 2, I8: 3, torch.uint16: 4, torch.int16: 5, torch.int32: 6, I64: 7, BOOL: 9, F16: 10, F64: 11,
         torch.uint32: 12, torch.uint64: 13, torch.complex64: 14, BF16: 16}
BITS = {UINT4: 4, INT4: 4, FLOAT4E2M1: 4, UINT2: 2, INT2: 2}
FLOATS = {"f32": F32, "f64": F64, "f16": F16, "bf16": BF16}
REFUSED = []


class Raw:
    """A tensor of a dtype that torch has not: a code for each element."""

    def __init__(self, number, codes, shape=None):
        self.number, self.codes = number, list(codes)
        self.shape = list(shape if shape is not None else [len(self.codes)])

    def data(self):
        bits = BITS.get(self.number, 8)
        per_byte, mask = 8 // bits, (1 << bits) - 1
        parts = [self.codes[i:i + per_byte] for i in range(0, len(self.codes), per_byte)]
        return bytes(sum((code & mask) << bits * k for k, code in enumerate(part)) for part in parts)


def proto(value, name):
    if isinstance(value, list):
        return helper.make_tensor(name, STRING, [len(value)], value)
    tensor = onnx.TensorProto(name=name)
    if isinstance(value, Raw):
        tensor.data_type, tensor.raw_data = value.number, value.data()
    else:
        value = value.contiguous()
        raw = value.view(torch.int16) if value.dtype == BF16 else value
        tensor.data_type, tensor.raw_data = TYPES[value.dtype], raw.numpy().tobytes()
    tensor.dims.extend(value.shape)
    return tensor


def save(folder, name, op, opset, inputs, outputs, **attributes):
    """One node. INPUTS and OUTPUTS may hold None; an output that is a number is the dtype of what is not compared."""
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    results = ["" if v is None else f"y{i}" for i, v in enumerate(outputs)]
    given = [proto(v, n) for v, n in zip(inputs, names) if n]
    expected = [proto(v, n) for v, n in zip(outputs, results) if n and not isinstance(v, int)]
    types = [v if isinstance(v, int) else proto(v, n).data_type for v, n in zip(outputs, results) if n]
    store(folder, name, opset, [helper.make_node(op, names, results, **attributes)], given, expected, types)


def store(folder, name, opset, nodes, given, expected, types):
    """A model of NODES whose inputs are the tensors GIVEN and whose outputs y.. have TYPES, EXPECTED being those that are compared."""
    results = [r for node in nodes for r in node.output if r.startswith("y")]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in given],
        [helper.make_tensor_value_info(n, t, None) for n, t in zip(results, types)])
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in sorted({n.domain for n in nodes} - {""})]
    model = helper.make_model(graph, opset_imports=imports, ir_version=13)
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"{folder}/{name}/model.onnx")
    for kind, written in (("input", given), ("output", expected)):
        for i, tensor in enumerate(written):
            with open(f"{data}/{kind}_{i}.pb", "wb") as file:
                file.write(tensor.SerializeToString())


def case(name, op, opset, inputs, outputs, **attributes):
    save("newest", name, op, opset, inputs, outputs if isinstance(outputs, list) else [outputs], **attributes)


def refused(name, op, opset, inputs, said, outputs=(1,), **attributes):
    save("newest_refused", name, op, opset, inputs, list(outputs), **attributes)
    prefix = "ai.onnx.preview." if attributes.get("domain") else ""
    REFUSED.append(f"{name}: node 0 with output 'y0' ({prefix}{op}-{said}")


def random(dtype, *shape):
    return torch.randn(shape, dtype=F64).to(dtype)


# ---- TensorScatter ----

def scatter(cache, update, starts, axis=-2, circular=False):
    cache, axis = cache.clone(), axis % cache.dim()
    view, news = cache.movedim(axis, 1), update.movedim(axis, 1)
    for b in range(cache.shape[0]):
        for s in range(news.shape[1]):
            at = int(starts[b]) + s
            view[b, at % view.shape[1] if circular else at] = news[b, s]
    return cache


def tensor_scatter():
    starts = torch.tensor([1, 3])
    for name, dtype in {**FLOATS, "i8": I8, "i64": I64, "u16": torch.uint16, "bool": BOOL}.items():
        cache, update = (random(F32, 2, 3, 5, 4) * 9).to(dtype), (random(F32, 2, 3, 2, 4) * 9).to(dtype)
        case(f"tensor_scatter_{name}", "TensorScatter", 24, [cache, update, starts],
             scatter(cache.to(F64), update.to(F64), starts).to(dtype))
    cache, update = random(F32, 2, 6, 3), random(F32, 2, 4, 3)
    around = torch.tensor([4, -1])
    case("tensor_scatter_around", "TensorScatter", 24, [cache, update, around],
         scatter(cache, update, around, circular=True), mode="circular")
    far = torch.tensor([2**63 - 1, -2**63])
    case("tensor_scatter_far", "TensorScatter", 24, [cache, update, far], scatter(cache, update, far, circular=True), mode="circular")
    case("tensor_scatter_start", "TensorScatter", 24, [cache, update], scatter(cache, update, [0, 0]))
    update = random(F32, 2, 6, 1)
    case("tensor_scatter_last", "TensorScatter", 24, [cache, update, torch.tensor([2, 0])],
         scatter(cache, update, [2, 0], axis=-1), axis=-1)
    case("tensor_scatter_nothing", "TensorScatter", 24, [cache, torch.zeros(2, 0, 3), torch.tensor([6, 0])], cache, axis=1)
    case("tensor_scatter_no_batch", "TensorScatter", 24, [torch.zeros(0, 6, 3), torch.zeros(0, 2, 3), torch.zeros(0, dtype=I64)],
         torch.zeros(0, 6, 3))
    nibbles, news = torch.randint(0, 16, (1, 5, 3)), torch.randint(0, 16, (1, 2, 3))
    case("tensor_scatter_u4", "TensorScatter", 24,
         [Raw(UINT4, nibbles.flatten().tolist(), nibbles.shape), Raw(UINT4, news.flatten().tolist(), news.shape), torch.tensor([2])],
         Raw(UINT4, scatter(nibbles, news, [2]).flatten().tolist(), nibbles.shape))
    refused("tensor_scatter_end", "TensorScatter", 24, [cache, cache[:, :4], torch.tensor([0, 3])],
            "24): write_indices[1] is 3; 0 to 2 is possible")
    refused("tensor_scatter_before", "TensorScatter", 24, [cache, cache[:, :4], torch.tensor([-1, 0])],
            "24): write_indices[0] is -1; 0 to 2 is possible")
    refused("tensor_scatter_batch", "TensorScatter", 24, [cache, cache[:, :4], torch.tensor([0])],
            "24): updates have shape [1]; [2] is needed")
    refused("tensor_scatter_long", "TensorScatter", 24, [cache, random(F32, 2, 7, 3)],
            "24): an update of length 7; the cache has a length of 6", mode="circular")
    refused("tensor_scatter_shape", "TensorScatter", 24, [cache, random(F32, 2, 4, 2)],
            "24): updates have shape [2, 4, 2]; [2, 4, 3] is needed")
    refused("tensor_scatter_axis", "TensorScatter", 24, [cache, cache], "24): axis 0 is that of the batch; another one is needed", axis=-3)
    refused("tensor_scatter_mode", "TensorScatter", 24, [cache, cache],
            "24): attribute 'mode' is 'round'; allowed: linear, circular", mode="round")


# ---- BitCast, Cast, CumProd ----

def bit_cast():
    x = torch.tensor([0.0, -0.0, 1.5, math.inf, -math.nan, 1e-45], dtype=F32)
    for name, a, b in (("f32_u32", x, torch.uint32), ("u32_f32", x.view(torch.uint32), F32), ("f64_i64", x.double(), I64),
                       ("i64_u64", x.double().view(I64), torch.uint64), ("f16_bf16", x.half(), BF16), ("bf16_i16", x.bfloat16(), torch.int16),
                       ("i8_u8", torch.tensor([-1, 3], dtype=I8), U8), ("scalar", torch.tensor(-2, dtype=torch.int32), F32),
                       ("empty", torch.zeros(2, 0, dtype=F16), torch.uint16), ("c64_f64", torch.tensor([1 + 2j, -3j]), F64),
                       ("same", x, F32)):
        case(f"bit_cast_{name}", "BitCast", 26, [a], a.view(b), to=TYPES[b])
    codes = [0, 1, 7, 8, 15, 12, 3]
    case("bit_cast_i4_f4", "BitCast", 26, [Raw(INT4, codes)], Raw(FLOAT4E2M1, codes), to=FLOAT4E2M1)
    case("bit_cast_u2_i2", "BitCast", 26, [Raw(UINT2, [0, 1, 2, 3, 2])], Raw(INT2, [0, 1, 2, 3, 2]), to=INT2)
    case("bit_cast_u8_f8", "BitCast", 26, [torch.tensor([0x38, 0xB8], dtype=U8)], Raw(FLOAT8E4M3FN, [0x38, 0xB8]), to=FLOAT8E4M3FN)
    # No type is written down in between.
    steps = [helper.make_node("BitCast", ["x0"], ["a"], to=6), helper.make_node("Abs", ["a"], ["b"]),
             helper.make_node("BitCast", ["b"], ["c"], to=1), helper.make_node("Neg", ["c"], ["y0"])]
    y = -x.view(torch.int32).abs().view(F32)
    store("newest", "bit_cast_between", 26, steps, [proto(x, "x0")], [proto(y, "y0")], [1])
    refused("bit_cast_width", "BitCast", 26, [x], "26): the bits of float32 are not those of float16", outputs=[10], to=10)


def cast():
    x = torch.tensor([-9, -8.5, -1.5, -0.5, 0.5, 1.5, 2.5, 6.5, 7.5, 8, 100, math.inf, -math.inf, math.nan])
    rounded = np.rint(np.nan_to_num(x.double().numpy(), nan=0, posinf=0, neginf=0)).astype(int).tolist()
    for name, number, low, high in (("i4", INT4, -8, 7), ("u4", UINT4, 0, 15)):
        nearest = [0 if math.isnan(v) else int(np.rint(min(max(v, low), high))) for v in x.tolist()]
        case(f"cast_{name}_v21", "Cast", 21, [x], Raw(number, nearest), to=number)
        for kind, dtype in FLOATS.items():
            case(f"cast_{name}_{kind}", "Cast", 24, [x.to(dtype)], Raw(number, rounded), to=number)
    case("cast_i2", "Cast", 25, [x], Raw(INT2, rounded), to=INT2)
    case("cast_u2_f32", "Cast", 25, [Raw(UINT2, [3, 2, 1, 0, 3])], torch.tensor([3.0, 2, 1, 0, 3]), to=1)
    case("cast_i2_bf16", "Cast", 25, [Raw(INT2, [3, 2, 1, 0, 3])], torch.tensor([-1.0, -2, 1, 0, -1]).bfloat16(), to=16)
    case("cast_i2_i4", "Cast", 25, [Raw(INT2, [3, 2, 1, 0, 3])], Raw(INT4, [-1, -2, 1, 0, -1]), to=INT4)
    # The standard's table for FLOAT4E2M1: saturation, ties to even, NaN to 6.
    case("cast_f4", "Cast", 25, [torch.tensor([0.25, 0.75, -2.5, 5, 7, -math.inf, math.nan, -0.0])],
         Raw(FLOAT4E2M1, [0, 2, 12, 6, 7, 15, 7, 8]), to=FLOAT4E2M1)


def cum_prod():
    def expected(x, axis, exclusive=0, reverse=0):
        y = x.double() if x.dtype.is_floating_point else x.to(I64)
        y = y.flip(axis) if reverse else y
        if exclusive:
            y = torch.cat([torch.ones_like(y.narrow(axis, 0, 1)), y.narrow(axis, 0, y.shape[axis] - 1)], axis)
        y = y.cumprod(axis)
        return (y.flip(axis) if reverse else y).to(x.dtype)

    for name, dtype in {**FLOATS, "i32": torch.int32, "i64": I64}.items():
        x = (random(F32, 3, 4) * 3).to(dtype)
        for axis, exclusive, reverse in ((0, 0, 0), (-1, 1, 0), (1, 0, 1), (0, 1, 1)):
            case(f"cum_prod_{name}_{axis % 2}{exclusive}{reverse}", "CumProd", 26, [x, torch.tensor(axis)],
                 expected(x, axis, exclusive, reverse), exclusive=exclusive, reverse=reverse)
    case("cum_prod_empty", "CumProd", 26, [torch.zeros(0, 3), torch.tensor(0)], torch.zeros(0, 3))
    refused("cum_prod_axis", "CumProd", 26, [random(F32, 2, 3), torch.tensor(2)], "26): axis 2; rank 2 allows -2 to 1")


# ---- activations, Range, RMSNormalization, RotaryEmbedding ----

def activations():
    for name, dtype in FLOATS.items():
        a, b = random(dtype, 3, 5) * 3, random(dtype, 3, 5)
        x = a.double()
        for alpha in (1.0, 1.75):
            swish = x / (1 + torch.exp(-alpha * x))
            case(f"swish_{name}_{alpha}", "Swish", 24, [a], swish.to(dtype), alpha=alpha)
            case(f"swi_glu_{name}_{alpha}", "SwiGLU", 28, [a, b], (swish * b.double()).to(dtype), alpha=alpha)
        y = torch.clamp(x, min=0) + torch.clamp(0.5 * torch.expm1(x / 0.5), max=0)
        case(f"celu_{name}", "Celu", 28, [a], y.to(dtype), alpha=0.5)
    case("swi_glu_scalar", "SwiGLU", 28, [torch.tensor(0.0), torch.tensor(3.0)], torch.tensor(0.0))
    case("swi_glu_empty", "SwiGLU", 28, [torch.zeros(0, 2), torch.zeros(0, 2)], torch.zeros(0, 2))
    refused("swi_glu_shape", "SwiGLU", 28, [torch.zeros(2, 3), torch.zeros(1, 3)],
            "28): B has shape [1, 3]; that of A, [2, 3], is needed")


def ranges():
    for name, dtype in FLOATS.items():
        limits = [torch.tensor(v, dtype=dtype) for v in (1, 9, 1.5)]
        case(f"range_{name}", "Range", 27, limits, (1 + 1.5 * torch.arange(6, dtype=F64)).to(dtype))


def rms():
    for name, dtype in FLOATS.items():
        for axis in (-1, 1):
            x, scale = random(dtype, 2, 3, 4), random(dtype, *(2, 3, 4)[axis:])
            dims = list(range(axis % 3, 3))
            y = x.double() / torch.sqrt((x.double() ** 2).mean(dims, keepdim=True) + 1e-3) * scale.double()
            case(f"rms_{name}_{axis % 3}", "RMSNormalization", 23, [x, scale], y.to(dtype), axis=axis, epsilon=1e-3)
    x, scale = random(F64, 3, 8), random(F64, 8)
    case("rms_stash_f64", "RMSNormalization", 23, [x, scale],
         x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-5) * scale, stash_type=11)
    case("rms_one_scale", "RMSNormalization", 23, [x, scale[:1]],
         x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-5) * scale[0])
    refused("rms_scale", "RMSNormalization", 23, [torch.zeros(2, 3), torch.zeros(4)],
            "23): input 1 of shape [4] does not broadcast to X, shape [2, 3]")


def turn(x, cosines, sines, turned, interleaved):
    """x [batch, length, heads, size], the caches [batch, length, turned / 2]."""
    cosines, sines = cosines[:, :, None], sines[:, :, None]
    head, rest = x[..., :turned], x[..., turned:]
    a, b = (head[..., ::2], head[..., 1::2]) if interleaved else (head[..., :turned // 2], head[..., turned // 2:])
    real, imaginary = cosines * a - sines * b, sines * a + cosines * b
    head = torch.stack([real, imaginary], -1).flatten(-2) if interleaved else torch.cat([real, imaginary], -1)
    return torch.cat([head, rest], -1)


def rotary():
    def make(dtype, name, flat, interleaved, turned):
        batch, length, heads, size = 2, 3, 2, 8
        count = turned or size
        x, positions = random(dtype, batch, length, heads, size), torch.tensor([[5, 0, 2], [1, 1, 3]])
        given = x.flatten(2) if flat else x.transpose(1, 2)
        attributes = {"interleaved": interleaved}
        if flat:
            attributes["num_heads"] = heads
        if turned:
            attributes["rotary_embedding_dim"] = turned
        for kind in ("positions", "rows"):
            shape = (6, count // 2) if kind == "positions" else (batch, length, count // 2)
            caches = [random(dtype, *shape) for _ in range(2)]
            used = [(c[positions] if kind == "positions" else c).double() for c in caches]
            y = turn(x.double(), *used, count, interleaved).to(dtype)
            case(f"rotary_{name}_{kind}", "RotaryEmbedding", 23, [given, *caches, positions if kind == "positions" else None],
                 y.flatten(2) if flat else y.transpose(1, 2), **attributes)

    for flat in (False, True):
        for interleaved in (0, 1):
            for turned in (0, 4):
                shape, pairs = "flat" if flat else "heads", "pairs" if interleaved else "halves"
                make(F32, f"{shape}_{pairs}_{turned or 'all'}", flat, interleaved, turned)
    for name in ("f16", "bf16"):
        make(FLOATS[name], name, True, 1, 4)
    x, cache = torch.zeros(1, 2, 3, 8), torch.zeros(4, 4)
    refused("rotary_position", "RotaryEmbedding", 23, [x, cache, cache, torch.tensor([[0, 4, 1]])],
            "23): position 4; the caches hold 0 to 3")


# ---- Attention ----

def attend(q, k, v, mask=None, causal=False, cap=0.0, scale=None, left=-1, right=-1, past=0, lengths=None, mode=0):
    """q [batch, heads, queries, size], k and v of all keys; float64. Gives y and the scores at stage MODE."""
    group, queries, keys = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    stages = [q @ k.transpose(2, 3) * (1 / math.sqrt(q.shape[3]) if scale is None else scale)]
    stages.append(cap * torch.tanh(stages[0] / cap) if cap else stages[0])
    bias = torch.zeros(stages[0].shape, dtype=F64)
    if mask is not None:
        mask = torch.where(mask, 0.0, -math.inf) if mask.dtype == BOOL else mask.double()
        mask = torch.nn.functional.pad(mask, (0, keys - mask.shape[-1]), value=-math.inf)
        bias = bias + mask
    for b in range(q.shape[0]):
        for i in range(queries):
            position = i + (past if lengths is None else int(lengths[b]) - queries)
            for j in range(keys):
                hidden = lengths is not None and j >= lengths[b]
                hidden |= causal and j > position
                hidden |= left >= 0 and j < position - left
                hidden |= right >= 0 and j > position + right
                if hidden:
                    bias[b, :, i, j] = -math.inf
    stages.append(stages[1] + bias)
    stages.append(torch.nan_to_num(torch.softmax(stages[2], -1), nan=0.0))
    return stages[3] @ v, stages[mode]


def flatten(x):
    return x.transpose(1, 2).flatten(2)


def attention():
    def of(dtype, heads=4, kv_heads=2, queries=3, keys=5, size=4, v_size=6):
        return random(dtype, 2, heads, queries, size), random(dtype, 2, kv_heads, keys, size), random(dtype, 2, kv_heads, keys, v_size)

    def expected(inputs, **options):
        return attend(*[x.double() for x in inputs], **options)

    for name, dtype in FLOATS.items():
        inputs = of(dtype)
        mask = random(dtype, 2, 1, 3, 5)
        case(f"attention_{name}", "Attention", 23, [*inputs, mask], expected(inputs, mask=mask)[0].to(dtype))
        heads = {"q_num_heads": 4, "kv_num_heads": 2}
        case(f"attention_{name}_flat", "Attention", 23, [flatten(x) for x in inputs],
             flatten(expected(inputs, causal=True, cap=0.75)[0].to(dtype)), is_causal=1, softcap=0.75, **heads)
        past = random(dtype, 2, 2, 4, 4), random(dtype, 2, 2, 4, 6)
        k, v = torch.cat([past[0], inputs[1]], 2), torch.cat([past[1], inputs[2]], 2)
        case(f"attention_{name}_past", "Attention", 24, [*inputs, None, *past],
             [expected((inputs[0], k, v), causal=True, past=4)[0].to(dtype), k, v], is_causal=1)
    for name, q_dtype, v_dtype in (("f32_f64", F32, F64), ("f64_f16", F64, F16), ("f16_f32", F16, F32)):
        q, k, v = of(q_dtype)
        v = random(v_dtype, *v.shape)
        past = random(q_dtype, 2, 2, 4, 4), random(v_dtype, 2, 2, 4, 6)
        keys, values = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        case(f"attention_{name}", "Attention", 24, [q, k, v, None, *past], [expected((q, keys, values))[0].to(q_dtype), keys, values])
    inputs = of(F32)
    for mode in range(4):
        mask = random(F32, 3, 5)
        y, scores = expected(inputs, mask=mask, cap=0.5, mode=mode)
        case(f"attention_stage_{mode}", "Attention", 24, [*inputs, mask], [y.to(F32), None, None, scores.to(F32)],
             softcap=0.5, qk_matmul_output_mode=mode)
    mask = torch.rand(2, 1, 3, 5) > 0.5
    mask[0, 0, 1] = False
    case("attention_no_key", "Attention", 23, [*inputs, mask], expected(inputs, mask=mask)[0].to(F32))
    case("attention_short_mask", "Attention", 24, [*inputs, mask[..., :3]], expected(inputs, mask=mask[..., :3])[0].to(F32))
    lengths = torch.tensor([2, 5])
    for causal in (0, 1):
        case(f"attention_lengths_{causal}", "Attention", 24, [*inputs, None, None, None, lengths],
             expected(inputs, lengths=lengths, causal=bool(causal))[0].to(F32), is_causal=causal)
    for left, right, causal in ((1, -1, 0), (-1, 0, 0), (0, 1, 0), (2, 3, 1)):
        case(f"attention_window_{left}_{right}_{causal}", "Attention", 25, inputs,
             expected(inputs, left=left, right=right, causal=bool(causal))[0].to(F32),
             left_window_size=left, right_window_size=right, is_causal=causal)
        case(f"attention_window_lengths_{left}_{right}_{causal}", "Attention", 25, [*inputs, None, None, None, lengths],
             expected(inputs, left=left, right=right, causal=bool(causal), lengths=lengths)[0].to(F32),
             left_window_size=left, right_window_size=right, is_causal=causal)
    case("attention_no_keys", "Attention", 23, [inputs[0], inputs[1][:, :, :0], inputs[2][:, :, :0]], torch.zeros(2, 4, 3, 6))
    case("attention_softmax_f16", "Attention", 23, inputs, expected(inputs, scale=0.25)[0].to(F32), scale=0.25, softmax_precision=1)
    refused("attention_mask", "Attention", 23, [*inputs, torch.zeros(2, 1, 3, 4)],
            "23): a mask of shape [2, 1, 3, 4] does not broadcast to the scores, shape [2, 4, 3, 5]")
    refused("attention_heads", "Attention", 23, [flatten(x) for x in inputs],
            "23): q_num_heads 3; input 0 needs a divisor of its last dimension, 16", q_num_heads=3, kv_num_heads=2)
    refused("attention_keys", "Attention", 23, [inputs[0], inputs[1], inputs[2][:, :, :4]],
            "23): input 2 has a length of 4, 5 is needed")


def flex_attention():
    def graph(op, factor, number=1, inputs=("s",)):
        tensors = [helper.make_tensor_value_info(n, number, None) for n in (*inputs, "t")]
        value = onnx.TensorProto(data_type=1, dims=[], raw_data=np.float32(factor).tobytes())
        nodes = [helper.make_node("Constant", [], ["k"], value=value), helper.make_node("CastLike", ["k", "s"], ["l"]),
                 helper.make_node(op, ["s", "l"], ["t"])]
        return helper.make_graph(nodes, "change", tensors[:-1], tensors[-1:])

    domain = {"domain": "ai.onnx.preview"}
    for name, dtype in FLOATS.items():
        q, k, v = random(dtype, 2, 4, 3, 4), random(dtype, 2, 2, 5, 4), random(dtype, 2, 2, 5, 6)
        scores = q.double() @ k.double().repeat_interleave(2, 1).transpose(2, 3) / 2
        number = 11 if dtype == F64 else 1
        y = torch.softmax(scores * 0.75, -1) * 1.5 @ v.double().repeat_interleave(2, 1)
        case(f"flex_attention_{name}", "FlexAttention", 26, [q, k, v], y.to(dtype), score_mod=graph("Mul", 0.75, number),
             prob_mod=graph("Mul", 1.5, number), **domain)
        y = torch.softmax(scores * 2 * 0.3, -1) @ v.double().repeat_interleave(2, 1)
        case(f"flex_attention_{name}_plain", "FlexAttention", 26, [q, k, v], y.to(dtype), scale=0.3, **domain)
    # The graph sees float16.
    case("flex_attention_softmax_f16", "FlexAttention", 26, [q.float(), k.float(), v.float()],
         (torch.softmax((scores.half() * 4).double(), -1) @ v.double().repeat_interleave(2, 1)).to(F32), softmax_precision=10,
         score_mod=graph("Mul", 4, 10), **domain)
    refused("flex_attention_heads", "FlexAttention", 26, [q, k[:, :1].repeat(1, 3, 1, 1), v[:, :1].repeat(1, 3, 1, 1)],
            "1): 4 heads of queries; 3 of keys do not divide them", [16], **domain)
    refused("flex_attention_keys", "FlexAttention", 26, [q, k, v[:, :, :4]],
            "1): input 2 has shape [2, 2, 4, 6]; [2, 2, 5, ?] is needed", [16], **domain)
    refused("flex_attention_graph", "FlexAttention", 26, [q, k, v],
            "1): score_mod has 2 inputs and 1 outputs; one of each is needed", [16], score_mod=graph("Mul", 1, 1, ("s", "r")), **domain)
    refused("flex_attention_type", "FlexAttention", 26, [q, k, v], "1): softmax_precision is 7; a float type is needed", [16],
            score_mod=graph("Mul", 1), softmax_precision=7, **domain)


def recur(rule, q, k, v, heads, kv_heads, past=None, decay=None, beta=None, scale=0.0):
    """The recurrence of LinearAttention in float64, step by step as the standard writes it."""
    batch, length = q.shape[:2]
    q, k, v = (x.double().reshape(batch, length, h, x.shape[2] // h) for x, h in ((q, heads), (k, kv_heads), (v, kv_heads)))
    size = q.shape[3]
    state = past.double() if past is not None else torch.zeros(batch, kv_heads, size, v.shape[3], dtype=F64)
    y = torch.zeros(batch, length, heads, v.shape[3], dtype=F64)
    for t in range(length):
        if decay is not None:
            gate = decay[:, t].double()
            gate = gate.reshape(batch, kv_heads, -1) if gate.shape[1] != kv_heads else gate[..., None]
            state = state * torch.exp(gate)[..., None]
        value = v[:, t]
        if beta is not None:
            known = torch.einsum("bhdm,bhd->bhm", state, k[:, t])
            value = beta[:, t].double()[..., None] * (value - known)
        state = state + k[:, t][..., None] * value[..., None, :]
        for h in range(heads):
            y[:, t, h] = torch.einsum("bd,bdm->bm", q[:, t, h], state[:, h * kv_heads // heads]) * (scale or size ** -0.5)
    return y.flatten(2), state


def linear_attention():
    def make(name, rule, dtype=F32, heads=4, kv_heads=2, length=5, size=3, v_size=4, per_element=False, one_beta=False, past=None, scale=0.0):
        q, k = random(dtype, 2, length, heads * size), random(dtype, 2, length, kv_heads * size) / 2
        v = random(dtype, 2, length, kv_heads * v_size)
        decay = -random(dtype, 2, length, kv_heads * (size if per_element else 1)).abs() if "gated" in rule else None
        beta = torch.rand(2, length, 1 if one_beta else kv_heads).to(dtype) if "delta" in rule else None
        state = random(past, 2, kv_heads, size, v_size) if past else None
        y, left = recur(rule, q, k, v, heads, kv_heads, state, decay, beta, scale)
        case(f"linear_attention_{name}", "LinearAttention", 27, [q, k, v, state, decay, beta], [y.to(dtype), left.to(past or dtype)],
             update_rule=rule, q_num_heads=heads, kv_num_heads=kv_heads, scale=scale)

    for rule in ("linear", "gated", "delta", "gated_delta"):
        make(rule, rule)
        make(f"{rule}_past", rule, kv_heads=4, past=F32, scale=0.3)
        for name in ("f16", "bf16"):
            make(f"{rule}_{name}", rule, dtype=FLOATS[name], kv_heads=1, past=FLOATS[name])
    make("by_element", "gated_delta", per_element=True)
    make("by_element_f16", "gated", dtype=F16, per_element=True, past=F32)
    make("one_beta", "delta", one_beta=True)
    make("one_step", "gated_delta", length=1, past=F32)
    make("no_step", "gated_delta", length=0, past=F32)
    x, heads = torch.zeros(1, 2, 4), {"q_num_heads": 2, "kv_num_heads": 2}
    two = (1, 1)
    refused("linear_attention_gate", "LinearAttention", 27, [x, x, x], "27): update_rule 'gated' needs input decay", two,
            update_rule="gated", **heads)
    refused("linear_attention_no_gate", "LinearAttention", 27, [x, x, x, None, None, x], "27): update_rule 'linear' has no input beta",
            two, update_rule="linear", **heads)
    refused("linear_attention_heads", "LinearAttention", 27, [x, x, x],
            "27): q_num_heads is 2, kv_num_heads 0, which must divide it", two, update_rule="linear", q_num_heads=2, kv_num_heads=0)
    refused("linear_attention_size", "LinearAttention", 27, [x, x, torch.zeros(1, 2, 3)],
            "27): value has a last dimension of 3 for 2 heads", two, update_rule="linear", **heads)
    refused("linear_attention_past", "LinearAttention", 27, [x, x, x, torch.zeros(1, 2, 2, 3)],
            "27): past_state has a value size of 3; 2 is needed", two, update_rule="linear", **heads)
    refused("linear_attention_decay", "LinearAttention", 27, [x, x, x, None, torch.zeros(1, 2, 3)],
            "27): decay has a last dimension of 3; 2 or 4 is needed", two, update_rule="gated", **heads)


def causal_conv():
    def make(name, dtype=F32, length=6, kernel=3, bias=True, past=True, activation="none"):
        x, w = random(dtype, 2, 3, length), random(dtype, 3, 1, kernel)
        b = random(dtype, 3) if bias else None
        state = random(dtype, 2, 3, kernel - 1) if past else None
        line = torch.cat([state if past else torch.zeros(2, 3, kernel - 1, dtype=dtype), x], 2).double()
        y = sum(w[None, :, :, i].double() * line[:, :, i:i + length] for i in range(kernel))
        y = y + b.double()[None, :, None] if bias else y
        y = y if activation == "none" else y / (1 + torch.exp(-y))
        case(f"causal_conv_{name}", "CausalConvWithState", 27, [x, w, b, state],
             [y.to(dtype), line[:, :, length:].to(dtype)], activation=activation)

    for name in ("f32", "f16", "bf16"):
        make(name, FLOATS[name], activation="silu")
        make(f"{name}_plain", FLOATS[name], bias=False, past=False)
    make("swish", activation="swish", bias=False)
    make("one", kernel=1)
    make("short", length=2, kernel=5)
    make("short_start", length=2, kernel=5, past=False)
    make("nothing", length=0)
    x, w, two = torch.zeros(2, 3, 4), torch.zeros(3, 1, 2), (1, 1)
    refused("causal_conv_weight", "CausalConvWithState", 27, [x, torch.zeros(3, 2, 2)],
            "27): weight has shape [3, 2, 2]; [3, 1, ?] is needed", two)
    refused("causal_conv_kernel", "CausalConvWithState", 27, [x, torch.zeros(3, 1, 0)],
            "27): weight has a kernel of 0 elements; at least 1 is needed", two)
    refused("causal_conv_state", "CausalConvWithState", 27, [x, w, None, torch.zeros(2, 3, 2)],
            "27): past_state has shape [2, 3, 2]; [2, 3, 1] is needed", two)
    refused("causal_conv_activation", "CausalConvWithState", 27, [x, w],
            "27): attribute 'activation' is 'relu'; allowed: none, silu, swish", two, activation="relu")


# ---- types of any size ----

ANY = {"u4": (UINT4, 4), "i4": (INT4, 4), "f4": (FLOAT4E2M1, 4), "u2": (UINT2, 2), "i2": (INT2, 2), "f8": (FLOAT8E4M3FN, 8),
       "e8m0": (FLOAT8E8M0, 8)}


def loop_without_trips():
    values = [helper.make_tensor_value_info(n, t, []) for n, t in (("i", 7), ("g", 9), ("s", 1), ("h", 9), ("u", 1))]
    nodes = [helper.make_node("Identity", [a], [b]) for a, b in (("g", "h"), ("s", "u"))]
    refused("loop_trips", "Loop", 25, [torch.zeros(0, dtype=I64), None, torch.tensor(1.0)],
            "25): input 0 (M) is empty; one trip count is needed", body=helper.make_graph(nodes, "b", values[:3], values[3:]))


def any_type():
    """Operators that move elements of every type, with codes for elements; the bodies of Loop and Scan take rows and give them back."""
    for name, (number, bits) in ANY.items():
        codes = torch.randint(0, 1 << bits, (3, 5))

        def raw(y, number=number):
            return Raw(number, y.flatten().tolist(), y.shape)

        def ints(values):
            return helper.make_node("Constant", [], [f"c{len(constants)}"], value_ints=values)

        constants = []

        def given(values):
            constants.append(ints(values))
            return constants[-1].output[0]

        value = onnx.TensorProto(data_type=number, dims=[1], raw_data=Raw(number, [1]).data())
        nodes, outputs = [], []

        def add(op, inputs, y, **attributes):
            nodes.append(helper.make_node(op, inputs, [f"y{len(nodes)}"], **attributes))
            outputs.append(y)

        row = [helper.make_tensor_value_info("r", number, None)]
        taken = [helper.make_tensor_value_info("t", number, None)]
        scan = helper.make_graph([helper.make_node("Identity", ["r"], ["t"])], "rows", row, taken)
        loop_in = [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("g", 9, []),
                   helper.make_tensor_value_info("s", number, None)]
        loop_out = [helper.make_tensor_value_info(n, t, None) for n, t in (("h", 9), ("u", number), ("v", number))]
        loop = helper.make_graph([helper.make_node("Identity", ["g"], ["h"]), helper.make_node("Identity", ["s"], ["u"]),
                                  helper.make_node("Identity", ["s"], ["v"])], "again", loop_in, loop_out)
        branches = [helper.make_graph([helper.make_node(op, ["x0"], ["b"], **rest)], op, [], [helper.make_tensor_value_info("b", number, None)])
                    for op, rest in (("Identity", {}), ("Transpose", {}))]
        add("Transpose", ["x0"], raw(codes.T))
        add("Pad", ["x0", given([1, 0, 0, 2])], raw(torch.nn.functional.pad(codes, (0, 2, 1, 0))))
        add("Reshape", ["x0", given([5, -1])], raw(codes.reshape(5, 3)))
        add("Flatten", ["x0"], raw(codes), axis=1)
        add("Unsqueeze", ["x0", given([0])], raw(codes[None]))
        add("Squeeze", ["y4"], raw(codes))
        add("Identity", ["x0"], raw(codes))
        add("Shape", ["x0"], torch.tensor([3, 5]))
        add("Size", ["x0"], torch.tensor(15))
        add("ConstantOfShape", [given([2, 3])], raw(torch.ones(2, 3, dtype=I64)), value=value)
        add("Scan", ["x0"], raw(codes), num_scan_inputs=1, body=scan)
        add("Scan", ["x0"], raw(codes.T), num_scan_inputs=1, body=scan, scan_input_axes=[1], scan_input_directions=[0])
        add("If", ["x1"], raw(codes.T), then_branch=branches[1], else_branch=branches[0])
        nodes.append(helper.make_node("Loop", ["x2", "", "x0"], [f"y{len(nodes)}", f"y{len(nodes) + 1}"], body=loop))
        outputs += [raw(codes), raw(torch.stack([codes, codes]))]
        inputs = [raw(codes), torch.tensor(True), torch.tensor(2)]
        expected = [proto(y, f"y{i}") for i, y in enumerate(outputs)]
        store("newest", f"any_type_{name}", 25, constants + nodes, [proto(v, f"x{i}") for i, v in enumerate(inputs)], expected,
              [t.data_type for t in expected])


# ---- quantization ----

def quantization():
    x = torch.tensor([[0.3, -1.2, 2.6, 9.0], [-7.5, 0.9, 1.1, -0.6]])
    scale = torch.tensor([0.5, 1.5])
    steps = np.rint((x / scale[:, None]).numpy()).astype(int)
    for name, number, low, high in (("i2", INT2, -2, 1), ("u2", UINT2, 0, 3)):
        zero = [1, 0]
        codes = np.clip(steps + np.array(zero)[:, None], low, high)
        case(f"quantize_{name}", "QuantizeLinear", 25, [x, scale, Raw(number, zero)], Raw(number, codes.ravel().tolist(), x.shape), axis=0)
        back = (codes - np.array(zero)[:, None]) * scale[:, None].numpy()
        case(f"dequantize_{name}", "DequantizeLinear", 25, [Raw(number, codes.ravel().tolist(), x.shape), scale, Raw(number, zero)],
             torch.tensor(back, dtype=F32), axis=0)
    values = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    codes = list(range(16))
    floats = torch.tensor(values + [-v for v in values])
    case("quantize_f4", "QuantizeLinear", 23, [floats * 0.25, torch.tensor(0.25)], Raw(FLOAT4E2M1, codes), output_dtype=FLOAT4E2M1)
    for name, dtype in (("f32", F32), ("f16", F16), ("bf16", BF16)):
        case(f"dequantize_f4_{name}", "DequantizeLinear", 23, [Raw(FLOAT4E2M1, codes), torch.tensor(0.25, dtype=dtype)],
             (floats * 0.25).to(dtype))
    # Scales that are powers of two: 2 ** (code - 127).
    case("dequantize_e8m0", "DequantizeLinear", 24, [torch.tensor([[-3, 4], [5, 6]], dtype=I8), Raw(FLOAT8E8M0, [126, 129])],
         torch.tensor([[-1.5, 2], [20, 24]]), axis=0, output_dtype=1)
    case("quantize_e8m0", "QuantizeLinear", 24, [torch.tensor([[-1.5, 2], [20, 24]]), Raw(FLOAT8E8M0, [126, 129]), torch.tensor([0, 0], dtype=I8)],
         torch.tensor([[-3, 4], [5, 6]], dtype=I8), axis=0)
    # The quotient is rounded to the type of `precision`: 4.498 to 4.5, a tie.
    case("quantize_precision", "QuantizeLinear", 23, [torch.tensor([4.498, 3.498, 5.51]), torch.tensor(1.0), torch.tensor(0, dtype=I8)],
         torch.tensor([4, 4, 6], dtype=I8), precision=16)


if __name__ == "__main__":
    for folder in ("newest", "newest_refused"):
        shutil.rmtree(folder, ignore_errors=True)
    for make in (tensor_scatter, bit_cast, cast, cum_prod, activations, ranges, rms, rotary, attention, flex_attention, linear_attention,
                 causal_conv, any_type, loop_without_trips, quantization):
        make()
    with open("newest_refused.txt", "w") as file:
        file.write("".join(f"{line}\n" for line in sorted(REFUSED)))

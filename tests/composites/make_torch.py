#!/usr/bin/env python3
"""Makes the models of operators that torch.onnx (TorchScript) takes apart: one operator a model, at the opsets where it does.

As make_models.py says; needs PyTorch (2.6) too. Weights are random, from a fixed seed.
"""
import io
import warnings

import onnx
import torch
import torch.nn.functional as F

from make_models import nodes_of, write

warnings.filterwarnings("ignore")


class Call(torch.nn.Module):
    def __init__(self, function, *modules):
        super().__init__()
        self.function, self.parts = function, torch.nn.ModuleList(modules)

    def forward(self, *data):
        return self.function(*self.parts, *data)


def export(name, opset, whole, function, data, modules=(), outside="", other=None):
    """WHOLE: the composite of all nodes but Constant and those of the operators in OUTSIDE. OTHER: composite -> operators."""
    torch.manual_seed(0)
    modules = [make() for make in modules]
    for module in modules:
        for parameter in module.parameters():
            torch.nn.init.uniform_(parameter, 0.5, 1.0)
    file = io.BytesIO()
    with torch.no_grad():
        torch.onnx.export(Call(function, *modules).eval(), data, file, opset_version=opset, dynamo=False)
    model = onnx.load_from_string(file.getvalue())
    other = other or {}
    parts = []
    for node in nodes_of(model.graph):
        named = [composite for composite, names in other.items() if node.name in names.split()]
        if named:
            parts += [(node.name, composite) for composite in named if composite]
        elif node.op_type != "Constant" and node.op_type not in outside.split():
            parts.append((node.name, whole))
    write(f"torch_{name}_{opset}", f"torch.onnx, opset {opset}", model, parts)


def each(opsets, name, *args, **kwargs):
    for opset in opsets:
        export(name, opset, *args, **kwargs)


x, y, z = (torch.zeros(2, 4, 8) for _ in range(3))
image = torch.zeros(2, 4, 6, 6)
heads = torch.zeros(2, 2, 5, 8)


class RMSNorm(torch.nn.Module):
    """As language models write it."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))

    def forward(self, data):
        wide = data.to(torch.float32)
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(data.dtype)


each([9, 13], "layer_norm", "LayerNormalization", lambda m, a: m(a), (x,), [lambda: torch.nn.LayerNorm(8)])
each([11], "layer_norm_plain", "LayerNormalization", lambda a: F.layer_norm(a, (4, 8)), (x,))
each([13, 18], "rms_norm", "RMSNormalization", lambda m, a: m(a), (x,), [RMSNorm], other={None: "/parts.0/Cast"})
each([9, 17], "group_norm", "GroupNormalization", lambda m, a: m(a), (image,), [lambda: torch.nn.GroupNorm(2, 4)], "Shape")
each([9, 17], "normalize", "LpNormalization", lambda a: F.normalize(a, dim=-1), (x,), outside="Shape")
each([9, 17], "gelu", "Gelu", F.gelu, (x,))
each([9, 17], "gelu_tanh", "Gelu", lambda a: F.gelu(a, approximate="tanh"), (x,))
each([9, 17], "silu", "Swish", F.silu, (x,))
each([11, 13], "hardswish", "HardSwish", F.hardswish, (x,))
each([9, 17], "mish", "Mish", F.mish, (x,))
each([9, 17], "softplus", "Softplus", lambda a: F.softplus(a, beta=2.0), (x,))
each([9, 17], "softsign", "Softsign", F.softsign, (x,))
each([17], "logsigmoid", "logsigmoid", F.logsigmoid, (x,))
each([17], "tanhshrink", "tanhshrink", F.tanhshrink, (x,))
each([9, 17], "softmin", "softmin", lambda a: F.softmin(a, -1), (x,))
each([9, 17], "linear", "linear", lambda m, a: m(a), (x,), [lambda: torch.nn.Linear(8, 3)])
each([17], "baddbmm", "baddbmm", lambda a, b, c: torch.baddbmm(a[:, :, :4], b, c.transpose(1, 2)), (x, y, z), outside="Slice Transpose")
each([13], "tensordot", "tensordot", lambda a, b: torch.tensordot(a, b, dims=([2], [2])), (x, y),
     outside="Transpose Shape Slice Concat", other={None: "/Reshape /Reshape_2"})
each([9, 17], "addcmul", "addcmul", torch.addcmul, (x, y, z))
each([9, 17], "stack", "stack", lambda a, b: torch.stack([a, b], 1), (x, y))
each([11, 17], "cosine_similarity", "cosine_similarity", lambda a, b: F.cosine_similarity(a, b, dim=-1), (x + 1, y + 1))
each([9, 17], "rsqrt", "rsqrt", lambda a: torch.rsqrt(a), (x + 1,))
each([17], "log1p", "log1p", torch.log1p, (x,))
each([17], "log2", "log2", torch.log2, (x + 1,))
each([17], "log10", "log10", torch.log10, (x + 1,))
each([17], "atan2", "atan2", torch.atan2, (x, y + 1))
each([17], "norm", "norm", lambda a: torch.norm(a, p=3, dim=-1), (x,))

# What gives the shape that both are expanded to is no part of it.
each([17], "mse_loss", "mse_loss", F.mse_loss, (x, y), other={
    None: "/Shape /ConstantOfShape /Add /Add_1 /Shape_1 /Shape_2"})
each([17], "kl_div", "kl_div", lambda a, b: F.kl_div(a, b, reduction="batchmean"), (x, y + 0.5))
each([17], "bce_with_logits", "binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits, (x, y + 0.5))
each([17], "cdist", "cdist", torch.cdist, (x, y + 1))

shape = "Shape Slice Cast"
each([14, 17], "sdpa_scale", "scaled_dot_product_attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3),
     (heads, heads, heads))
each([14], "sdpa_mask", "scaled_dot_product_attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
     (heads, heads, heads, torch.zeros(5, 5)), outside=shape,
     other={"rsqrt": "/Sqrt /Div", None: "/Sqrt_1 /Sqrt_2"})
each([17], "sdpa_causal", "scaled_dot_product_attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
     (heads, heads, heads), outside=shape + " Concat Expand Trilu Equal Where",
     other={"rsqrt": "/Sqrt /Div", None: "/Sqrt_1 /Sqrt_2"})

#!/usr/bin/env python3
"""Makes windows/ and windows_refused/: convolution, pooling, resizing and sampling in the layout of ONNX's backend tests, where those
say too little.

Expected outputs are PyTorch's (in float64), ONNX Runtime's where PyTorch has no such operator, and NumPy's where neither has.
windows_refused/: data that are wrong; what is said of them is in windows_refused.txt. Needs onnx, onnxruntime, torch and numpy. Run it in
this folder; the same versions give the same bytes.
"""
import itertools
import os
import shutil

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)
I64 = np.int64


def proto(value, name):
    """An array, or a tensor of bfloat16, as a TensorProto."""
    if isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16:
        raw = value.contiguous().view(torch.int16).numpy().tobytes()
        return TensorProto(name=name, data_type=TensorProto.BFLOAT16, dims=value.shape, raw_data=raw)
    return numpy_helper.from_array(np.array(value, order="C"), name)


def write(path, tensor):
    with open(path, "wb") as file:
        file.write(tensor.SerializeToString())


def save(name, op, inputs, outputs, opset, constants=(), folder="windows", **attributes):
    """One node; INPUTS may hold None, those at CONSTANTS are initializers. OUTPUTS: arrays; None: what ONNX Runtime gives."""
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    given = {n: proto(v, n) for v, n in zip(inputs, names) if n}
    fixed = [given.pop(f"x{i}") for i in constants]
    node = helper.make_node(op, names, [f"y{i}" for i in range(len(outputs))], **attributes)

    def model(types):
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, t.data_type, list(t.dims)) for n, t in given.items()],
                                  [helper.make_tensor_value_info(f"y{i}", t, None) for i, t in enumerate(types)], fixed)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10 if opset > 20 else 8)

    if outputs[0] is None:
        types = [next(iter(given.values())).data_type, TensorProto.INT64][: len(outputs)]
        session = onnxruntime.InferenceSession(model(types).SerializeToString())
        outputs = session.run(None, {n: numpy_helper.to_array(t) for n, t in given.items()})
    expected = [proto(v, f"y{i}") for i, v in enumerate(outputs)]
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model([t.data_type for t in expected]), f"{folder}/{name}/model.onnx")
    for i, tensor in enumerate(given.values()):
        write(f"{data}/input_{i}.pb", tensor)
    for i, tensor in enumerate(expected):
        write(f"{data}/output_{i}.pb", tensor)


def normal(*shape):
    return rng.normal(size=shape)


def rounded(array, dtype):
    """ARRAY in DTYPE, a name, and as float64 tensor of the rounded values."""
    tensor = torch.tensor(array).to(getattr(torch, dtype))
    return (tensor if dtype == "bfloat16" else tensor.numpy()), tensor.double()


def result(tensor, dtype):
    tensor = tensor.to(getattr(torch, dtype))
    return tensor if dtype == "bfloat16" else tensor.numpy()


# ---- convolutions


def padded(x, pads):
    """PADS as ONNX has them: all beginnings, then all ends."""
    n = len(pads) // 2
    return F.pad(x, [p for d in reversed(range(n)) for p in (pads[d], pads[n + d])])


def conv(name, x, w, pads, dtype="float32", bias=True, opset=11, auto_pad=None, constants=(1,), **attributes):
    (x, dx), (w, dw), (b, db) = rounded(x, dtype), rounded(w, dtype), rounded(normal(w.shape[0]), dtype)
    run = (F.conv1d, F.conv2d, F.conv3d)[dx.ndim - 3]
    y = run(padded(dx, pads), dw, db if bias else None, stride=attributes.get("strides", 1), dilation=attributes.get("dilations", 1),
            groups=attributes.get("group", 1))
    attributes.update({"auto_pad": auto_pad} if auto_pad else {"pads": pads})
    save(f"conv_{name}", "Conv", [x, w, b] if bias else [x, w], [result(y, dtype)], opset, constants, **attributes)


def make_convs():
    conv("1d", normal(2, 3, 11), normal(4, 3, 3), [2, 1], strides=[2])
    conv("1d_float64", normal(2, 3, 11), normal(4, 3, 3), [1, 1], "float64", dilations=[3])
    conv("2d", normal(1, 3, 9, 8), normal(5, 3, 3, 2), [0, 1, 2, 0], strides=[2, 1], dilations=[1, 2], constants=())
    conv("3d", normal(1, 2, 5, 6, 7), normal(4, 2, 2, 3, 2), [1] * 6, bias=False, strides=[1, 2, 2])
    conv("groups", normal(2, 6, 7, 7), normal(9, 2, 3, 3), [1] * 4, group=3)
    conv("groups_float64", normal(2, 6, 7, 7), normal(9, 2, 3, 3), [1] * 4, "float64", group=3)
    conv("depthwise", normal(1, 8, 7, 7), normal(16, 1, 3, 3), [1] * 4, group=8, strides=[2, 2])
    conv("same_upper", normal(1, 2, 8, 8), normal(3, 2, 4, 3), [1, 0, 1, 1], auto_pad="SAME_UPPER", strides=[2, 2])
    conv("same_lower", normal(1, 2, 8, 8), normal(3, 2, 4, 3), [1, 1, 1, 0], auto_pad="SAME_LOWER", strides=[2, 2])
    conv("float16", normal(1, 4, 9, 9), normal(6, 4, 3, 3), [1] * 4, "float16")
    conv("bfloat16", normal(1, 4, 9, 9), normal(6, 4, 3, 3), [1] * 4, "bfloat16", opset=22)
    x, w = normal(1, 2, 3, 4, 3, 4), normal(3, 2, 2, 2, 2, 2)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3, 4, 5))
    y = np.einsum("ncabdeijkl,mcijkl->nmabde", windows, w)
    save("conv_4d", "Conv", [np.float32(x), np.float32(w)], [np.float32(y)], 11)
    x = np.zeros((2, 0, 4, 4), np.float32)
    save("conv_no_channels", "Conv", [x, np.zeros((3, 0, 3, 3), np.float32), np.float32([1, 2, 3])],
         [np.broadcast_to(np.float32([1, 2, 3])[None, :, None, None], (2, 3, 2, 2))], 11)


def deconv(name, x, w, size, begin, dtype="float32", opset=11, **attributes):
    """Elements BEGIN to BEGIN + SIZE of the full image; zero where nothing reaches."""
    (x, dx), (w, dw), (b, db) = rounded(x, dtype), rounded(w, dtype), rounded(normal(w.shape[1] * attributes.get("group", 1)), dtype)
    run = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[dx.ndim - 3]
    full = run(dx, dw, stride=attributes.get("strides", 1), dilation=attributes.get("dilations", 1), groups=attributes.get("group", 1))
    full = F.pad(full, [0, 20] * len(size))
    y = full[(slice(None), slice(None)) + tuple(slice(a, a + s) for a, s in zip(begin, size))]
    y = y + db.reshape([-1] + [1] * len(size))
    save(f"deconv_{name}", "ConvTranspose", [x, w, b], [result(y, dtype)], opset, (1, 2), **attributes)


def make_deconvs():
    deconv("1d", normal(2, 3, 5), normal(3, 4, 3), [9], [1], strides=[2], pads=[1, 1])
    deconv("1d_float64", normal(2, 3, 5), normal(3, 4, 3), [10], [1], "float64", strides=[2], pads=[1, 1], output_padding=[1])
    deconv("2d", normal(1, 4, 4, 5), normal(4, 3, 3, 2), [7, 11], [1, 0], strides=[2, 2], pads=[1, 0, 2, 0], output_padding=[1, 1])
    deconv("3d", normal(1, 2, 3, 3, 3), normal(2, 3, 2, 2, 2), [6, 6, 6], [0, 0, 0], strides=[2, 2, 2])
    deconv("groups", normal(1, 6, 4, 4), normal(6, 2, 3, 3), [4, 4], [1, 1], group=3, pads=[1] * 4)
    deconv("groups_float64", normal(1, 6, 4, 4), normal(6, 2, 3, 3), [4, 4], [1, 1], "float64", group=3, pads=[1] * 4)
    deconv("dilated", normal(1, 2, 4, 4), normal(2, 3, 3, 3), [11, 11], [0, 0], strides=[2, 2], dilations=[2, 2])
    deconv("wide_output_padding", normal(1, 2, 4), normal(2, 3, 2), [8], [0], dilations=[3], output_padding=[1])
    deconv("output_shape", normal(1, 2, 4, 4), normal(2, 3, 3, 3), [8, 8], [1, 1], strides=[2, 2], output_shape=[8, 8])
    deconv("output_shape_upper", normal(1, 2, 4, 4), normal(2, 3, 3, 3), [8, 8], [0, 0], strides=[2, 2], output_shape=[8, 8],
           auto_pad="SAME_UPPER")
    deconv("output_shape_beyond", normal(1, 2, 4), normal(2, 3, 3), [12], [0], strides=[2], output_shape=[12])
    deconv("cropped", normal(1, 2, 9), normal(2, 3, 3), [5], [3], strides=[1], pads=[3, 3])
    deconv("same_lower", normal(1, 2, 4, 4), normal(2, 3, 3, 3), [8, 8], [1, 1], strides=[2, 2], auto_pad="SAME_LOWER")
    deconv("float16", normal(1, 4, 5, 5), normal(4, 6, 3, 3), [9, 9], [1, 1], "float16", strides=[2, 2], pads=[1] * 4)
    deconv("bfloat16", normal(1, 4, 5, 5), normal(4, 6, 3, 3), [9, 9], [1, 1], "bfloat16", 22, strides=[2, 2], pads=[1] * 4)


def make_quantized():
    x, w = rng.integers(0, 256, (2, 4, 7, 7)).astype(np.uint8), rng.integers(-128, 128, (6, 2, 3, 3)).astype(np.int8)
    y = F.conv2d(padded(torch.tensor(x.astype(float) - 100), [1] * 4), torch.tensor(w.astype(float) - 5), groups=2, stride=2)
    save("conv_integer", "ConvInteger", [x, w, np.uint8(100), np.int8(5)], [y.numpy().astype(np.int32)], 10, pads=[1] * 4, group=2,
         strides=[2, 2])
    zeros = rng.integers(-9, 9, 6).astype(np.int8)
    y = F.conv2d(torch.tensor(x.astype(float)), torch.tensor(w.astype(float) - zeros.reshape(6, 1, 1, 1)), groups=2)
    save("conv_integer_per_channel", "ConvInteger", [x, w, None, zeros], [y.numpy().astype(np.int32)], 10, group=2)
    scales, bias = rng.uniform(0.01, 0.03, 6).astype(np.float32), rng.integers(-900, 900, 6).astype(np.int32)
    save("qlinear_conv", "QLinearConv", [x, np.float32(0.02), np.uint8(120), w, scales, np.zeros(6, np.int8), np.float32(0.3), np.uint8(90),
                                         bias], [None], 10, (3, 4, 5, 8), group=2)


# ---- pooling


def make_pools():
    x = np.float32(normal(2, 3, 5, 6, 4))
    save("max_pool_indices_column_major", "MaxPool", [x], [None, None], 12, kernel_shape=[2, 3, 2], strides=[2, 1, 1], storage_order=1,
         pads=[1, 1, 0, 0, 1, 1])
    y, index = F.max_pool2d(torch.tensor(x[:, :, 0]), 3, 2, padding=1, dilation=2, ceil_mode=True, return_indices=True)
    index = index.numpy() + np.arange(6).reshape(2, 3, 1, 1) * 24
    save("max_pool_indices_dilated", "MaxPool", [x[:, :, 0]], [y.numpy(), index], 12, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4,
         dilations=[2, 2], ceil_mode=1)
    save("max_pool_int8", "MaxPool", [rng.integers(-128, 128, (1, 2, 7, 7)).astype(np.int8)], [None], 12, kernel_shape=[2, 3],
         dilations=[2, 1])
    save("max_pool_dilated_same", "MaxPool", [np.float32([[[4, 1, 2, 3, 9]]])], [np.float32([[[1, 4, 3, 9, 3]]])], 12, kernel_shape=[2],
         dilations=[2], auto_pad="SAME_UPPER")
    dx = torch.tensor(x[:, :, 0]).double()
    y = F.avg_pool2d(F.pad(dx, (2, 1, 0, 1)), 3, 2, ceil_mode=True)
    save("average_pool_overhang", "AveragePool", [x[:, :, 0]], [np.float32(y)], 19, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1,
         count_include_pad=1, pads=[0, 2, 1, 1])
    ones = F.avg_pool2d(F.pad(torch.ones_like(dx), (2, 1, 0, 1)), 3, 2, ceil_mode=True)
    save("average_pool_overhang_excluded", "AveragePool", [x[:, :, 0]], [np.float32(y / ones)], 19, kernel_shape=[3, 3], strides=[2, 2],
         ceil_mode=1, pads=[0, 2, 1, 1])
    y = F.avg_pool3d(torch.tensor(x).double(), 2, 2, ceil_mode=True)
    save("average_pool_float64", "AveragePool", [x.astype(float)], [y.numpy()], 19, kernel_shape=[2] * 3, strides=[2] * 3, ceil_mode=1)
    save("lp_pool_3", "LpPool", [x[:, :, 0]], [None], 18, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], p=3)
    save("lp_pool_float64", "LpPool", [x.astype(float)], [np.abs(x.astype(float)).sum((2, 3, 4), keepdims=True)], 18,
         kernel_shape=[5, 6, 4], p=1)
    save("global_lp_pool", "GlobalLpPool", [x], [np.float32((np.abs(x.astype(float))**3).sum((2, 3, 4), keepdims=True)**(1 / 3))], 2, p=3)
    save("global_average_pool_float64", "GlobalAveragePool", [x.astype(float)], [x.astype(float).mean((2, 3, 4), keepdims=True)], 1)
    save("global_max_pool_nan", "GlobalMaxPool", [np.array([[[1, np.nan, 3], [3, -4, 1]]])], [np.array([[[np.nan], [3]]])], 1)
    save("max_unpool_smaller", "MaxUnpool", [np.float32([[[5, 6]]]), I64([[[1, 4]]]), I64([1, 1, 5])], [np.float32([[[0, 5, 0, 0, 6]]])],
         11, kernel_shape=[3], strides=[2])


def lrn(x, size, alpha, beta, bias):
    sums = [(x[:, max(0, c - (size - 1) // 2) : c + size // 2 + 1]**2).sum(1) for c in range(x.shape[1])]
    return x / (bias + alpha / size * np.stack(sums, 1))**beta


def make_lrns():
    x = normal(2, 7, 3, 4)
    for size in 3, 4:
        save(f"lrn_{size}", "LRN", [np.float32(x)], [np.float32(lrn(x, size, 0.5, 0.75, 2))], 13, size=size, alpha=0.5, beta=0.75, bias=2.0)
    save("lrn_float64", "LRN", [x], [lrn(x, 5, 0.5, 0.75, 2)], 13, size=5, alpha=0.5, beta=0.75, bias=2.0)


# ---- resizing and sampling


def make_resizes():
    x = np.float32(normal(1, 2, 5, 7))
    for mode, (name, scales) in itertools.product(("nearest", "linear"), {"up": [1, 1, 2, 3], "down": [1, 1, 0.7, 0.5]}.items()):
        save(f"resize_10_{mode}_{name}", "Resize", [x, np.float32(scales)], [None], 10, (1,), mode=mode)
    save("upsample_7", "Upsample", [x], [None], 7, mode="linear", scales=[1.0, 1.0, 1.5, 2.0])
    save("upsample_1", "Upsample", [x], [x.repeat(2, 2).repeat(3, 3)], 1, height_scale=2.0, width_scale=3.0)
    for mode, size in itertools.product(("linear", "cubic"), ([3, 4], [9, 4])):
        torch_mode = {"linear": "bilinear", "cubic": "bicubic"}[mode]
        y = F.interpolate(torch.tensor(x).double(), size=size, mode=torch_mode, antialias=True)
        more = {"cubic_coeff_a": -0.5} if mode == "cubic" else {}
        save(f"resize_antialias_{mode}_{size[0]}x{size[1]}", "Resize", [x, None, None, I64([1, 2] + size)], [np.float32(y)], 18, (3,), mode=mode,
             antialias=1, exclude_outside=1, **more)
    y = F.interpolate(torch.tensor(x[None]).double(), size=[4, 9, 5], mode="trilinear")
    save("resize_trilinear", "Resize", [x[None], None, None, I64([1, 1, 4, 9, 5])], [np.float32(y)], 18, (3,), mode="linear")
    save("resize_trilinear_float64", "Resize", [x[None].astype(float), None, None, I64([1, 1, 4, 9, 5])], [y.numpy()], 18, (3,),
         mode="linear")
    y = F.interpolate(torch.tensor(x).double(), size=[9, 4], mode="bicubic", align_corners=True)
    save("resize_cubic_align_corners", "Resize", [x, None, None, I64([9, 4])], [np.float32(y)], 18, (3,), mode="cubic", axes=[-2, -1],
         coordinate_transformation_mode="align_corners")
    half = torch.tensor(x).to(torch.bfloat16)
    y = F.interpolate(half.double(), size=[10, 14], mode="bilinear").to(torch.bfloat16)
    save("resize_linear_bfloat16", "Resize", [half, None, np.float32([1, 1, 2, 2])], [y], 19, (2,), mode="linear")
    bytes_ = rng.integers(0, 256, (1, 1, 3, 4)).astype(np.uint8)
    y = F.interpolate(torch.tensor(bytes_).double(), size=[7, 5], mode="bicubic").round().clamp(0, 255)
    save("resize_cubic_uint8", "Resize", [bytes_, None, None, I64([1, 1, 7, 5])], [y.numpy().astype(np.uint8)], 18, (3,), mode="cubic")
    words = np.array([["a", "bc"], ["", "d"]], object)
    save("resize_nearest_string", "Resize", [words, None, np.float32([2, 1.5])], [words.repeat(2, 0)[:, [0, 0, 1]]], 18, (2,), mode="nearest")
    save("resize_tf_crop_nearest", "Resize", [x, np.float32([0, 0, -0.2, 0.3, 1, 1, 0.9, 1.4]), None, I64([1, 2, 6, 5])], [None], 18, (1, 3),
         mode="nearest", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)


def make_samples():
    x = rng.uniform(1, 2, (2, 3, 5, 6)).astype(np.float32)
    grid = rng.uniform(-1.4, 1.4, (2, 4, 3, 2)).astype(np.float32)
    for mode, padding, align in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (0, 1)):
        y = F.grid_sample(torch.tensor(x), torch.tensor(grid), mode, padding, bool(align))
        save(f"grid_sample_{mode}_{padding}_{align}", "GridSample", [x, grid], [y.numpy()], 16, mode=mode, padding_mode=padding, align_corners=align)
    x, grid = normal(1, 2, 3, 4, 5), rng.uniform(-1.2, 1.2, (1, 2, 3, 2, 3))
    y = F.grid_sample(torch.tensor(x), torch.tensor(grid), align_corners=False)
    save("grid_sample_volume_float64", "GridSample", [x, grid], [y.numpy()], 20)
    theta = np.float32(normal(2, 3, 4))
    y = F.affine_grid(torch.tensor(theta), [2, 1, 1, 3, 4], align_corners=True)
    save("affine_grid_flat", "AffineGrid", [theta, I64([2, 1, 1, 3, 4])], [y.numpy()], 20, align_corners=1)
    columns = np.float32(normal(2, 3 * 6, 6))
    y = F.fold(torch.tensor(columns), (6, 5), (3, 2), dilation=(1, 2), padding=(0, 1), stride=(2, 2))
    save("col2im", "Col2Im", [columns, I64([6, 5]), I64([3, 2])], [y.numpy()], 18, (1, 2), dilations=[1, 2], pads=[0, 1, 0, 1],
         strides=[2, 2])
    x = np.float32(normal(2, 3, 8, 9))
    regions = np.float32([[0, 0, 5, 4], [1.5, 2.5, 7.2, 3.1], [6, 5, 20, 18], [-3, -2, 4, 4]])
    for mode, ratio in itertools.product(("avg", "max"), (0, 2)):
        save(f"roi_align_{mode}_{ratio}", "RoiAlign", [x, regions, I64([0, 1, 1, 0])], [None], 16, mode=mode, sampling_ratio=ratio,
             output_height=2, output_width=3, spatial_scale=0.8)
    save("max_roi_pool", "MaxRoiPool", [x, np.concatenate([np.float32([[0], [1], [1], [0]]), regions], 1)], [None], 11, pooled_shape=[2, 3],
         spatial_scale=0.8)


def make_refused():
    x, byte = np.float32(np.ones((1, 3, 4, 4))), np.ones((1, 3, 4, 4), np.uint8)
    scale, zero = np.float32(1), np.uint8(0)
    cases = {
        "conv_integer_zeros": ("ConvInteger", [byte, byte[:, :, :2, :2].repeat(4, 0), None, np.zeros(3, np.uint8)], {}),
        "qlinear_conv_scales": ("QLinearConv", [byte, scale, zero, byte, np.float32([1, 2]), zero, scale, zero], {}),
        "max_unpool_index": ("MaxUnpool", [x[:, 0], I64(np.arange(16).reshape(1, 4, 4) * 3)], dict(kernel_shape=[2], strides=[2])),
        "max_unpool_shapes": ("MaxUnpool", [x[:, 0], I64([[[0]]])], dict(kernel_shape=[2])),
        "grid_sample_batch": ("GridSample", [x, np.float32(np.zeros((2, 1, 1, 2)))], {}),
        "roi_align_batch": ("RoiAlign", [x, np.float32([[0, 0, 1, 1]]), I64([1])], {}),
        "roi_align_count": ("RoiAlign", [x, np.float32([[0, 0, 1, 1]]), I64([0, 0])], {}),
        "roi_align_huge": ("RoiAlign", [x, np.float32([[0, 0, 1e9, 1]]), I64([0])], {}),
        "resize_nan": ("Resize", [x, None, np.float32([1, 1, np.nan, 1])], {}),
        "resize_huge": ("Resize", [x, None, np.float32([1, 1, 1e30, 1])], {}),
        "resize_roi": ("Resize", [x, np.float32([0, 1]), np.float32([1, 1, 2, 2])], dict(coordinate_transformation_mode="tf_crop_and_resize")),
        "col2im_columns": ("Col2Im", [x[:, 0], I64([5, 5]), I64([2, 2])], {}),
        "col2im_bool": ("Col2Im", [x[:, 0] > 0, I64([5, 5]), I64([2, 2])], {}),
        "affine_grid_theta": ("AffineGrid", [x[:, 0], I64([1, 1, 4, 4])], {}),
        "deform_conv_offset": ("DeformConv", [x, x[:, :, :2, :2], np.float32(np.zeros((1, 4, 3, 3)))], {}),
    }
    outputs = {"ConvInteger": np.int32, "QLinearConv": np.uint8}
    for name, (op, inputs, attributes) in cases.items():
        dtype = np.bool_ if name == "col2im_bool" else outputs.get(op, np.float32)
        save(name, op, inputs, [np.array(0, dtype)], 20, folder="windows_refused", **attributes)


def make_bytes():
    """Sums of bytes beyond 2^24, where float32 would not do, at the ends of their ranges; zero points at the other ends."""
    for x_type, w_type in itertools.product((np.uint8, np.int8), repeat=2):
        x_ends, w_ends = ([np.iinfo(t).min, np.iinfo(t).max] for t in (x_type, w_type))
        for end, name in enumerate(("lowest", "highest")):
            x = (x_ends[end] + (1 - 2 * end) * rng.integers(0, 2, (1, 60, 4, 5))).astype(x_type)
            w = (w_ends[end] + (1 - 2 * end) * rng.integers(0, 2, (3, 60, 3, 3))).astype(w_type)
            zeros = x_type(x_ends[1 - end]), w_type(w_ends[1 - end])
            images, weights = (torch.tensor(v.astype(float) - z) for v, z in zip((x, w), zeros))
            y = F.conv2d(padded(images, [1] * 4), weights)
            save(f"conv_integer_{x_type.__name__}_{w_type.__name__}_{name}", "ConvInteger", [x, w, *zeros], [y.numpy().astype(np.int32)], 10,
                 (1, 3) if end else (), pads=[1] * 4)


for made in ("windows", "windows_refused"):
    shutil.rmtree(made, ignore_errors=True)
for make in (make_convs, make_deconvs, make_quantized, make_pools, make_lrns, make_resizes, make_samples, make_refused,
             make_bytes):
    make()

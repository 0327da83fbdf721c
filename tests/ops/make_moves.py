#!/usr/bin/env python3
"""Makes moves/ and refused/: operators that move elements, in the layout of ONNX's backend tests, where those say too little.

moves/: old versions of operators, dtypes, strings, extremes; expected outputs are NumPy's. refused/: inputs that are wrong; what
is said of them is in refused.txt. Needs onnx and numpy. Run it in this folder; the same versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(5)
I64 = np.int64
LOW, HIGH = np.iinfo(I64).min, np.iinfo(I64).max


def proto(value, name):
    """An array as a TensorProto; a TensorProto (for dtypes that NumPy does not have) as it is."""
    if not isinstance(value, TensorProto):
        return numpy_helper.from_array(np.array(value, order="C"), name)
    value.name = name
    return value


def save(folder, name, op, inputs, outputs, opset, **attributes):
    """One node; INPUTS may hold None. OUTPUTS: arrays, or dtypes where nothing is expected."""
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    given = [proto(v, n) for v, n in zip(inputs, names) if n]
    expected = [v if isinstance(v, int) else proto(v, f"y{i}") for i, v in enumerate(outputs)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(len(outputs))], **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in given],
        [helper.make_tensor_value_info(f"y{i}", t if isinstance(t, int) else t.data_type, None) for i, t in enumerate(expected)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10 if opset > 20 else 8)
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"{folder}/{name}/model.onnx")
    for i, tensor in enumerate(given):
        write(f"{data}/input_{i}.pb", tensor)
    for i, tensor in enumerate(expected):
        if not isinstance(tensor, int):
            write(f"{data}/output_{i}.pb", tensor)


def write(path, tensor):
    with open(path, "wb") as file:
        file.write(tensor.SerializeToString())


def move(name, op, inputs, outputs, opset, **attributes):
    save("moves", name, op, inputs, outputs if isinstance(outputs, list) else [outputs], opset, **attributes)


def numbers(dtype, *shape):
    if dtype is object:
        return np.array([f"s{v}" for v in rng.integers(0, 99, shape).flat], object).reshape(shape)
    return rng.integers(0, 100, shape).astype(dtype)


def make_transposes():
    """Beyond one tile of every element size, in planes and with dims left over at the edges."""
    for dtype, shape in ((np.uint8, (70, 75)), (np.float16, (3, 35, 41)), (np.float32, (2, 18, 37)), (np.float64, (11, 2, 19)),
                         (object, (5, 7))):
        x = numbers(dtype, *shape)
        move(f"transpose_{np.dtype(dtype).name}", "Transpose", [x], x.T, 13)
        if x.ndim == 3:
            move(f"transpose_planes_{x.dtype.name}", "Transpose", [x], x.transpose(0, 2, 1), 1, perm=[0, 2, 1])
            move(f"transpose_rows_{x.dtype.name}", "Transpose", [x], x.transpose(1, 0, 2), 13, perm=[1, 0, 2])
    x = rng.integers(0, 16, (3, 5))
    pack = lambda a: helper.make_tensor("", TensorProto.UINT4, a.shape, a.ravel())
    move("transpose_uint4", "Transpose", [pack(x)], pack(x.T), 21)
    move("pad_uint4", "Pad", [pack(x), I64([0, 1, 1, 2]), pack(np.array(9))], pack(np.pad(x, ((0, 1), (1, 2)), constant_values=9)), 21)
    move("pad_uint4_wrap", "Pad", [pack(x), I64([0, 1, 1, 2])], pack(np.pad(x, ((0, 1), (1, 2)), "wrap")), 21, mode="wrap")


def make_old_versions():
    """What is an input today and was an attribute."""
    x = numbers(np.float32, 4, 6)
    move("reshape_1", "Reshape", [x], x.reshape(4, 2, 3), 1, shape=[0, 2, -1])
    move("concat_1", "Concat", [x, x], np.concatenate([x, x], 1), 1)
    move("split_1", "Split", [x], [x[:, :1], x[:, 1:]], 1, axis=1, split=[1, 5])
    move("split_2", "Split", [x], [x[:2], x[2:]], 2)
    move("slice_1", "Slice", [x], x[1:4, -3:-1], 1, starts=[1, -3], ends=[1000, -1])
    move("slice_1_axes", "Slice", [x], x[:, 2:5], 1, starts=[2], ends=[5], axes=[1])
    move("pad_1", "Pad", [x], np.pad(x, ((1, 2), (0, 3)), constant_values=2.5), 1, paddings=[1, 0, 2, 3], value=2.5)
    half = x.astype(np.float16)
    move("pad_2_float16", "Pad", [half], np.pad(half, ((1, 2), (0, 3)), constant_values=2.5), 2, pads=[1, 0, 2, 3], value=2.5)
    move("pad_2_reflect", "Pad", [x], np.pad(x, ((1, 2), (0, 3)), "reflect"), 2, pads=[1, 0, 2, 3], mode="reflect")
    move("squeeze_1", "Squeeze", [x.reshape(1, 4, 1, 6)], x.reshape(1, 4, 6), 1, axes=[2])
    move("unsqueeze_1", "Unsqueeze", [x], x.reshape(4, 1, 6, 1), 1, axes=[1, 3])
    move("tile_1", "Tile", [x, np.float32([3]), np.float32([1])], np.tile(x, (1, 3)), 1)
    move("gather_1", "Gather", [x, np.int32([[3, 0]])], x[[[3, 0]]], 1)
    move("scatter_9", "Scatter", [x, I64([[5, 2]]), np.float32([[7, 8]])], put(x, {(0, 5): 7, (0, 2): 8}), 9, axis=1)


def put(x, values):
    x = x.copy()
    for index, value in values.items():
        x[index] = value
    return x


def make_strings():
    x = numbers(object, 3, 4)
    text = np.array("edge", object)
    move("string_concat", "Concat", [x, x], np.concatenate([x, x]), 13, axis=0)
    move("string_slice", "Slice", [x, I64([3]), I64([LOW]), I64([1]), I64([-2])], x[:, ::-2], 13)
    move("string_gather", "Gather", [x, I64([-1, 0])], x[:, [-1, 0]], 13, axis=-1)
    move("string_pad", "Pad", [x, I64([1, 0, 0, 1]), text], np.pad(x, ((1, 0), (0, 1)), constant_values=text), 13)
    move("string_pad_empty", "Pad", [x, I64([0, 0, 0, 1])], np.pad(x, ((0, 0), (0, 1)), constant_values=""), 13)
    move("string_tile", "Tile", [x, I64([2, 1])], np.tile(x, (2, 1)), 13)
    move("string_expand", "Expand", [x, I64([2, 1, 1])], np.stack([x, x]), 13)
    move("string_scatter", "ScatterND", [x, I64([[1]]), x[:1]], put(x, {1: x[0]}), 13)
    move("string_split", "Split", [x], [x[:, :2], x[:, 2:]], 18, axis=1, num_outputs=2)
    move("string_one_hot", "OneHot", [I64([0, 1]), I64([2]), np.array(["off", "on"], object)],
         np.array([["on", "off"], ["off", "on"]], object), 11)
    x = np.array(["b", "a", "", "ab", "a"], object)
    move("string_unique", "Unique", [x], [np.array(["", "a", "ab", "b"], object), I64([2, 1, 3, 0]), I64([3, 1, 0, 2, 1]),
                                         I64([1, 2, 1, 1])], 11)
    move("string_non_zero", "NonZero", [x], I64([[0, 1, 3, 4]]), 13)


def make_extremes():
    x = numbers(np.float32, 4, 6)
    move("slice_lowest_step", "Slice", [x, I64([HIGH]), I64([LOW]), I64([1]), I64([LOW])], x[:, -1:], 13)
    move("slice_highest_step", "Slice", [x, I64([LOW]), I64([HIGH]), I64([1]), I64([HIGH])], x[:, :1], 13)
    move("slice_nothing", "Slice", [x, I64([4]), I64([2]), I64([1])], x[:, 4:2], 13)
    move("pad_reflect_far", "Pad", [x, I64([9, 0, 0, 13])], np.pad(x, ((9, 0), (0, 13)), "reflect"), 18, mode="reflect")
    move("pad_wrap_far", "Pad", [x, I64([9, 13]), None, I64([-2])], np.pad(x, ((9, 13), (0, 0)), "wrap"), 19, mode="wrap")
    move("pad_edge_crop", "Pad", [x, I64([0, -2, 0, 3])], np.pad(x[:, 2:], ((0, 0), (0, 3)), "edge"), 18, mode="edge")
    move("pad_constant_beyond", "Pad", [x, I64([0, -9, 0, 5])], np.zeros((4, 2), np.float32), 18)
    move("split_uneven", "Split", [x], [x[:, :2], x[:, 2:4], x[:, 4:6], x[:, 6:]], 18, axis=1, num_outputs=4)
    move("reshape_empty", "Reshape", [x[:0], I64([0, 2, -1])], np.zeros((0, 2, 3), np.float32), 14)
    move("gather_empty", "Gather", [x, np.zeros((2, 0), I64)], np.zeros((2, 0, 6), np.float32), 13)
    move("one_hot_outside", "OneHot", [np.float32([-4, -3, 2.9, 3, np.nan]), np.array(3.5, np.float32), np.float32([0, 1])],
         np.float32([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]), 11)
    move("one_hot_empty", "OneHot", [I64([]), I64([3]), x[0, :2]], np.zeros((0, 3), np.float32), 11)
    move("range_descending", "Range", [I64(HIGH), I64(LOW), I64(LOW)], I64([HIGH, -1]), 11)
    move("range_empty", "Range", [np.float32(1), np.float32(2), np.float32(-1)], np.float32([]), 11)
    move("non_zero_scalar", "NonZero", [np.float32(3)], np.zeros((0, 1), I64), 13)
    move("non_zero_signs", "NonZero", [np.float16([0, -0.0, np.nan, 6e-8])], I64([[2, 3]]), 13)
    move("unique_nan", "Unique", [np.float32([np.nan, np.inf, 1, np.nan])], [np.float32([1, np.inf, np.nan]), I64([2, 1, 0]),
                                                                            I64([2, 1, 0, 2]), I64([1, 1, 2])], 11)
    move("eye_like_float16", "EyeLike", [x], np.eye(4, 6, -2, np.float16), 9, k=-2, dtype=int(TensorProto.FLOAT16))
    move("eye_like_far", "EyeLike", [x], np.zeros((4, 6), np.float32), 9, k=HIGH)
    move("trilu_far", "Trilu", [x, I64(LOW)], x, 14)


def make_reductions():
    """Several updates of one place, in every class of dtypes."""
    index = I64([[0, 0, 2, 0]])
    combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for dtype in (np.int8, np.uint64, np.float16, np.float64, bool):
        x, updates = (numbers(dtype, 1, 4) % 3 + 1).astype(dtype), (numbers(dtype, 1, 4) % 2 + 2).astype(dtype)
        for reduction, function in combine.items():
            y = x.copy()
            for place, value in zip(index[0], updates[0]):
                y[0, place] = function(y[0, place], value)
            move(f"scatter_{reduction}_{np.dtype(dtype).name}", "ScatterElements", [x, index, updates], y, 18, axis=1, reduction=reduction)
    move("scatter_wraps", "ScatterND", [np.int8([100]), I64([[0]]), np.int8([100])], np.int8([-56]), 18, reduction="add")
    for reduction in ("max", "min"):
        move(f"scatter_{reduction}_nan", "ScatterND", [np.float32([1, np.nan]), I64([[0], [1]]), np.float32([np.nan, 1])],
             np.float32([np.nan, np.nan]), 18, reduction=reduction)
    x = numbers(np.float32, 3)
    move("scatter_last_wins", "ScatterElements", [x, I64([1, -2]), np.float32([7, 8])], put(x, {1: 8}), 13)


def make_constants():
    for name, value, expected in (("float", 2.5, np.float32(2.5)), ("floats", [1.0, 2.0], np.float32([1, 2])), ("int", 7, I64(7)),
                                  ("ints", [7, -8], I64([7, -8])), ("string", "one", np.array("one", object)),
                                  ("strings", ["one", "two"], np.array(["one", "two"], object))):
        move(f"constant_{name}", "Constant", [], expected, 13, **{f"value_{name}": value})
    sparse = helper.make_sparse_tensor(proto(np.float32([5, 6]), "values"), proto(I64([1, 5]), ""), [2, 3])
    move("constant_sparse", "Constant", [], np.float32([[0, 5, 0], [0, 0, 6]]), 13, sparse_value=sparse)
    move("constant_of_shape_bool", "ConstantOfShape", [I64([2, 3])], np.full((2, 3), True), 9, value=proto(np.array([True]), "v"))
    pack = lambda a: helper.make_tensor("", TensorProto.INT4, a.shape, a.ravel())
    move("constant_of_shape_int4", "ConstantOfShape", [I64([5])], pack(np.full(5, -3)), 21, value=pack(np.array([-3])))


def make_refused():
    F, I = int(TensorProto.FLOAT), int(TensorProto.INT64)
    x = numbers(np.float32, 2, 3)
    cases = {
        "gather": ("Gather", [x, I64([0, 3])], F, dict(axis=1)),
        "gather_elements": ("GatherElements", [x, I64([[0], [-3]])], F, {}),
        "gather_elements_shape": ("GatherElements", [x, I64([[0, 0, 0, 0]])], F, {}),
        "gather_nd": ("GatherND", [x, I64([[1, 2], [1, -4]])], F, {}),
        "scatter_elements": ("ScatterElements", [x, I64([[HIGH]]), x[:1, :1]], F, {}),
        "scatter_nd": ("ScatterND", [x, I64([[0], [1], [LOW]]), np.float32(np.ones((3, 3)))], F, {}),
        "scatter_nd_updates": ("ScatterND", [x, I64([[0], [1]]), x[:1]], F, {}),
        "scatter_reduction": ("ScatterND", [x, I64([[0]]), x[:1]], F, dict(reduction="mean")),
        "reverse_sequence": ("ReverseSequence", [x, I64([2, 0, 3])], F, {}),
        "pad_mode": ("Pad", [x, I64([0, 1, 0, 1])], F, dict(mode="mirror")),
        "pad_nothing": ("Pad", [x, I64([0, -3, 0, 4])], F, dict(mode="edge")),
        "pad_count": ("Pad", [x, I64([1, 1])], F, {}),
        "slice_axis": ("Slice", [x, I64([0]), I64([1]), I64([2])], F, {}),
        "slice_ends": ("Slice", [x, I64([0, 0]), I64([1])], F, {}),
        "one_hot_values": ("OneHot", [I64([0]), I64([2]), x[0]], F, {}),
        "one_hot_depth": ("OneHot", [I64([0]), np.float32([np.nan]), x[0, :2]], F, {}),
        "range_nan": ("Range", [np.float32(0), np.float32(np.nan), np.float32(1)], F, {}),
        "tile_huge": ("Tile", [x, I64([HIGH // 2, HIGH // 3])], F, {}),
        "expand": ("Expand", [x, I64([3, 3])], F, {}),
        "trilu": ("Trilu", [x[0]], F, {}),
        "depth_to_space": ("DepthToSpace", [x.reshape(1, 6, 1, 1)], F, dict(blocksize=2)),
    }
    for name, (op, inputs, output, attributes) in cases.items():
        save("refused", name, op, inputs, [output], 18, **attributes)


for folder in ("moves", "refused"):
    shutil.rmtree(folder, ignore_errors=True)
for make in (make_transposes, make_old_versions, make_strings, make_extremes, make_reductions, make_constants, make_refused):
    make()

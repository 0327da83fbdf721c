#!/usr/bin/env python3
"""Records what PyTorch's autocast does with the architectures of architectures.py: record.py [NAME...], none: all.

Writes exports.tar.xz, with NAME.FORM.onnx, each architecture's exports (exports.py says which forms there are), and NAME.FORM.tsv, a
line per node with float data: its name, the dtypes in which autocast ran the call that it is for on a CPU and on a GPU (autocast.py;
-: not recorded), and the operators that ran. A node of a function of the model's own is named CALL/NODE. Left out are nodes that
move data or compute shapes, and what an exporter makes of scalars, or of an operator's parameters alone. The weights in the exports
are no more than numbers of the right sign, by dynamo one number: no decision depends on them. Types of inner values, stack traces and
doc strings are left out.

Needs PyTorch 2.6, onnx 1.17 and onnxscript (February 2025); same versions, same bytes. Says which exports there are not and which
nodes have no call.
"""
import collections
import io
import logging
import lzma
import os
import re
import sys
import tarfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

import architectures
import autocast
import exports

HERE = os.path.dirname(os.path.abspath(__file__))
FX_NODE = "pkg.torch.onnx.fx_node"
CPU_ONLY = {"lstm", "rnn", "seq2seq"}
TS_ONLY = {"bert", "cnn", "gpt", "mobilenet", "rnn", "unet", "vit"}  # what the others are made of, as many kilobytes by dynamo
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]

MOVES = set("""Cast CastLike Constant ConstantOfShape DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND Identity
    If Loop OneHot Optional Range Reshape ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceInsert Shape Size
    Slice SpaceToDepth Split SplitToSequence Squeeze Tile Transpose Trilu Unsqueeze""".split())
COMPARISONS = {"ArgMax", "ArgMin", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
FLOATS = {onnx.TensorProto.UNDEFINED, onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE}

# Where a call runs operators in several dtypes: what the exporters write for each, alternatives of which the first counts whose
# nodes are all there.
NODES = {
    "_log_softmax": ["LogSoftmax"],
    "_softmax": ["Softmax"],
    "add": ["Add"],
    "addmm": ["GRU", "Gemm", "MatMul Add"],
    "bmm": ["Einsum", "MatMul"],
    "cat": ["Concat"],
    "mkldnn_rnn_layer": ["LSTM"],
    "mm": ["MatMul"],
    "mul": ["Mul"],
    "nll_loss2d_forward": ["SoftmaxCrossEntropyLoss"],
    "nll_loss_forward": ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"],
    "sigmoid": ["Sigmoid"],
    "sub": ["Sub"],
    "tanh": ["Tanh"],
}
BELOW = {"linear": ("addmm", "mm"), "matmul": ("bmm", "mm"), "softmax": ("_softmax",), "log_softmax": ("_log_softmax",),
         "nll_loss": ("nll_loss_forward",)}


def is_wide(tensor):
    return len(tensor.dims) > 0 and max(tensor.dims) > 1


def origins_of_data(graph):
    """Values made of data, which are inputs and tensors of more than an element, and of inputs."""
    inputs = {value.name for value in graph.input}
    data = inputs | {tensor.name for tensor in graph.initializer if is_wide(tensor)}
    for node in graph.node:
        if node.op_type == "Constant" and any(is_wide(attribute.t) for attribute in node.attribute if attribute.name == "value"):
            data.update(node.output)
        if node.op_type in ("Constant", "ConstantOfShape", "Shape", "Size"):
            continue
        sources = node.input[:1] if node.op_type == "CastLike" else node.input
        for values in data, inputs:
            if any(name in values for name in sources):
                values.update(node.output)
    return data, inputs


def computing(model, calls, moves=MOVES):
    """call -> [(node, its origin)] of the nodes with float data that do more than move it, as operators in MOVES do."""
    flat, origins = exports.inlined(model)
    graph = flat.graph
    kinds = {value.name: value.type.tensor_type.elem_type for value in [*graph.value_info, *graph.input, *graph.output]}
    kinds.update({tensor.name: tensor.data_type for tensor in graph.initializer})
    data, inputs = origins_of_data(graph)
    found = collections.defaultdict(list)
    for node, origin in zip(graph.node, origins):
        value = node.input[0] if node.op_type in COMPARISONS else node.output[0]
        if node.op_type not in moves and kinds.get(value, 0) in FLOATS and any(name in data for name in node.input):
            found[calls.get(origin.name)].append((node, origin))
    for call, nodes in found.items():
        fed = [pair for pair in nodes if any(name in inputs for name in pair[0].input)]
        found[call] = fed or nodes
    return found


def fx_node(node):
    """The name and the operator of the decomposed call that dynamo's exporter wrote NODE for."""
    text = next((entry.value for entry in node.metadata_props if entry.key == FX_NODE), "")
    name, operator = re.match(r"%(\w+)", text), re.search(r"target=torch\.ops\.\w+\.(\w+)", text)
    return name and name[1], operator and operator[1].rstrip("_")


def split(nodes, ran):
    """node's name -> (operator, dtype), for a call that runs operators in several dtypes."""
    steps = list(dict.fromkeys(fx_node(origin) for _, origin in nodes))
    same = lambda step, op: int(step[1] is not None and (op[0] == step[1] or op[0] in BELOW.get(step[1], ())))
    pairs = {steps[i]: ran[k] for i, k in autocast.align(steps, ran, same)}
    found = {node.name: pairs[fx_node(origin)] for node, origin in nodes if fx_node(origin) in pairs}
    if found:
        return found
    left = collections.defaultdict(collections.deque)
    for node, _ in nodes:
        left[node.op_type].append(node.name)
    for op in ran:
        for way in NODES.get(op[0], []):
            kinds = way.split()
            if all(len(left[kind]) >= kinds.count(kind) for kind in kinds):
                found.update({left[kind].popleft(): op for kind in kinds})
                break
    return found


def decided(nodes, ran):
    """node's name -> (operators, dtype) for the NODES of a call."""
    if len({dtype for _, dtype in ran}) > 1:
        return split(nodes, ran)
    names = "+".join(dict.fromkeys(name for name, _ in ran))
    return {node.name: (names, ran[0][1]) for node, _ in nodes}


def rows_of(model, calls, ran):
    """[(node, dtype per device, operators)], and the nodes that have none."""
    rows, alone = [], []
    for call, nodes in computing(model, calls).items():
        found = {device: decided(nodes, ops[call]) if ops.get(call) else {} for device, ops in ran.items()}
        for node, _ in nodes:
            if node.name not in found["cpu"]:
                alone.append(f"{node.name} ({call}: {' '.join(':'.join(op) for op in ran['cpu'].get(call, [])) or 'nothing ran'})")
                continue
            names, dtype = found["cpu"][node.name]
            rows.append((node.name, dtype, found.get("cuda", {}).get(node.name, ("", "-"))[1], names))
    return rows, alone


NUMBERS = np.random.default_rng(0).normal(0, 0.2, 251).astype(np.float32)


def shrink(tensor, numbers):
    """Large float weights become NUMBERS over and over; those that were positive still are."""
    if tensor.data_type == onnx.TensorProto.FLOAT and np.prod(tensor.dims) > 8:
        before, after = numpy_helper.to_array(tensor), np.resize(numbers, tuple(tensor.dims))
        if np.isfinite(before).all() and before.min() < before.max():
            tensor.CopyFrom(numpy_helper.from_array(np.abs(after) if before.min() >= 0 else after, tensor.name))
    tensor.ClearField("metadata_props")


def notes(node, frames):
    """What the exporter noted of NODE that tells which operator it is for: the FX node, recurrent layers, functions."""
    for entry in node.metadata_props:
        if entry.key == FX_NODE:
            operator, _, arguments = entry.value.partition("](")
            yield entry.key, operator + ("](torch.float32)" if "torch.float32" in arguments else "]")
        elif entry.key == "namespace" and "torch.nn.modules.rnn." in entry.value:
            yield entry.key, entry.value
        elif entry.key == exports.TRACE and frames.get(entry.value):
            yield entry.key, frames[entry.value]


def slim(model, numbers, frames):
    """Leaves out what says nothing about decisions and costs bytes."""
    graph = model.graph
    for tensor in graph.initializer:
        shrink(tensor, numbers)
    for nodes in [graph.node, *(function.node for function in model.functions)]:
        for node in nodes:
            kept = list(notes(node, frames))
            del node.metadata_props[:]
            node.metadata_props.extend(onnx.StringStringEntryProto(key=key, value=value) for key, value in kept)
            node.ClearField("doc_string")
    for part in [model, graph, *model.functions, *graph.input, *graph.output]:
        del part.metadata_props[:]
        part.ClearField("doc_string")
    for info in graph.value_info:
        del info.metadata_props[:]


def add(archive, name, data):
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def record(name, make, archive):
    program, calls = exports.program_of(make)
    devices = ["cpu"] if name in CPU_ONLY else ["cpu", "cuda"]
    ran = {device: autocast.record(exports.fresh(make), program, make.inputs, device) for device in devices}
    for form, model, names in exports.forms(make, program, calls, ["ts"] if name in TS_ONLY else exports.FORMS):
        if isinstance(model, Exception):
            print(f"{name}.{form}: no export: {str(model.__cause__ or model).splitlines()[0][:160]}", flush=True)
            continue
        rows, alone = rows_of(model, names, ran)
        slim(model, NUMBERS if form == "ts" else NUMBERS[:1], program.frames)
        add(archive, f"{name}.{form}.onnx", model.SerializeToString(deterministic=True))
        add(archive, f"{name}.{form}.tsv", "".join("\t".join(row) + "\n" for row in rows).encode())
        print(f"{name}.{form}: {len(rows)} nodes{', without a call: ' if alone else ''}{', '.join(alone)}", flush=True)


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    chosen = sys.argv[1:] or list(architectures.ARCHITECTURES)
    path = os.path.join(HERE, "exports.tar.xz")
    with lzma.open(path, "wb", filters=FILTERS) as out, tarfile.open(fileobj=out, mode="w") as archive:
        for name in chosen:
            record(name, architectures.ARCHITECTURES[name], archive)


if __name__ == "__main__":
    main()

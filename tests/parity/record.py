#!/usr/bin/env python3
"""Records what PyTorch's autocast does with the architectures of models.py.

For each of them: NAME.onnx, its export to ONNX, whose text (build/case_tool show) with random weights stands in models.cases, and NAME.DEVICE.tsv, a line per node of that for which an operator of PyTorch's
was found: the node's name, the dtype in which the operator ran under autocast, and the operator. Operators are recorded below
autocast, with their inputs cast, and belong to nodes of the same module: within a module each takes the next nodes of the kinds that
the exporter writes for it (NODES). What moves data or computes shapes is left out. Nodes and operators that found no partner are
counted and named on stdout: the latter must be none. Needs PyTorch 2.6 and onnx 1.17; same versions, same bytes.

For device cpu autocast's dtype is bfloat16; for cuda it is float16, and no GPU is needed: tensors that say they are on one pass
through autocast's casts for it, and what comes below is computed on the CPU. Left out there is what takes other ways on a GPU:
cuDNN's recurrent layers and fused attention.
"""
import collections
import os
import sys
import warnings

import onnx
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import models

HERE = os.path.dirname(os.path.abspath(__file__))
OPSET = 17
DTYPES = {"cpu": torch.bfloat16, "cuda": torch.float16}
CPU_ONLY = {"gpt", "rnn"}

# What the exporter writes for an operator: alternatives, of which the first counts whose nodes are all there.
NODES = {
    "_cdist_forward": ["Sub Pow ReduceSum Pow"],
    "_log_softmax": ["LogSoftmax", ""],  # "": as a part of the loss that follows
    "_prelu_kernel": ["PRelu"],
    "_scaled_dot_product_flash_attention_for_cpu": ["Mul Mul MatMul Add Softmax MatMul", "Mul Mul MatMul Softmax MatMul"],
    "_softmax": ["Softmax"],
    "abs": ["Abs"],
    "acos": ["Acos"],
    "add": ["Add"],
    "addcmul": ["Mul Mul Add"],
    "addmm": ["Gemm", "MatMul Add"],
    "amax": ["ReduceMax"],
    "atan2": ["Div Atan Greater Add Sub Where Less Where"],
    "avg_pool2d": ["AveragePool"],
    "avg_pool3d": ["AveragePool"],
    "baddbmm": ["MatMul Mul Add", "MatMul Add"],
    "binary_cross_entropy_with_logits": ["Sigmoid Log Sub Sub Log Mul Mul Add Neg ReduceMean"],
    "bmm": ["Einsum", "MatMul"],
    "cat": ["Concat"],
    "celu": ["Celu"],
    "clamp": ["Clip"],
    "clamp_min": ["Clip"],
    "constant_pad_nd": ["Pad"],
    "convolution": ["Conv", "ConvTranspose"],
    "cumsum": ["CumSum"],
    "div": ["Div"],
    "elu": ["Elu", "Selu"],
    "embedding": ["Gather"],
    "exp": ["Exp"],
    "floor": ["Floor"],
    "gelu": ["Div Erf Add Mul Mul", "Mul Mul Mul Add Mul Tanh Add Mul Mul"],
    "glu": ["Sigmoid Mul"],
    "grid_sampler_2d": ["GridSample"],
    "gt": ["Greater"],
    "hardsigmoid": ["HardSigmoid"],
    "hardswish": ["HardSwish"],
    "hardtanh": ["Clip"],
    "leaky_relu": ["LeakyRelu"],
    "linalg_vector_norm": ["ReduceL2"],
    "log": ["Log"],
    "log10": ["Log Div"],
    "log1p": ["Add Log"],
    "log2": ["Log Div"],
    "log_sigmoid_forward": ["Sigmoid Log"],
    "logsumexp": ["ReduceLogSumExp"],
    "max_pool2d_with_indices": ["MaxPool"],
    "max_pool3d_with_indices": ["MaxPool"],
    "maximum": ["Max"],
    "mean": ["GlobalAveragePool", "ReduceMean"],
    "mish": ["Softplus Tanh Mul"],
    "mkldnn_rnn_layer": ["LSTM"],
    "mm": ["MatMul"],
    "mse_loss": ["Add Add Sub Sub Mul ReduceMean"],
    "mul": ["Mul"],
    "native_batch_norm": ["BatchNormalization", "InstanceNormalization"],
    "native_group_norm": ["InstanceNormalization Mul Add"],
    "native_layer_norm": ["LayerNormalization"],
    "neg": ["Neg"],
    "nll_loss2d_forward": ["SoftmaxCrossEntropyLoss"],
    "nll_loss_forward": ["NegativeLogLikelihoodLoss"],
    "pow": ["Pow"],
    "prod": ["ReduceProd"],
    "reciprocal": ["Reciprocal"],
    "reflection_pad1d": ["Pad"],
    "reflection_pad2d": ["Pad"],
    "relu": ["Relu"],
    "replication_pad1d": ["Pad"],
    "replication_pad2d": ["Pad"],
    "rsqrt": ["Sqrt Div"],
    "rsub": ["Sub"],
    "sigmoid": ["Sigmoid"],
    "sign": ["Sign"],
    "silu": ["Sigmoid Mul"],
    "softplus": ["Softplus"],
    "sqrt": ["Sqrt"],
    "stack": ["Concat"],
    "sub": ["Sub"],
    "sum": ["ReduceSum"],
    "tan": ["Tan"],
    "tanh": ["Tanh"],
    "topk": ["TopK"],
    "upsample_bilinear2d": ["Resize"],
    "upsample_nearest2d": ["Resize"],
    "where": ["Where"],
    "xlogy": ["Log"],
}
KINDS = {kind for ways in NODES.values() for way in ways for kind in way.split()} | {"GRU"}

# Views, copies, casts, and what makes values out of nothing.
SILENT = {"_to_copy", "_unsafe_view", "as_strided", "clone", "copy_", "detach", "empty", "expand", "permute", "repeat", "select",
          "slice", "split", "squeeze", "squeeze_", "t", "transpose", "unbind", "unsafe_split", "unsqueeze", "view", "zeros", "lift_fresh",
          "alias", "resize_"}

Recorded = collections.namedtuple("Recorded", "scope name dtype")


def dtype_of(tensors):
    """The widest float dtype among TENSORS; None: there is none."""
    dtypes = [tensor.dtype for tensor in tensors if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()]
    widest = None
    for dtype in dtypes:
        widest = dtype if widest is None else torch.promote_types(widest, dtype)
    return widest and str(widest).removeprefix("torch.")


class OnGpu(torch.Tensor):
    """A tensor that says it is on a GPU, and is not."""

    @staticmethod
    def __new__(cls, held):
        tensor = torch.Tensor._make_wrapper_subclass(cls, held.size(), strides=held.stride(), dtype=held.dtype, device="cuda:0")
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{func} without a Recorder")


def real(item):
    return item.held if isinstance(item, OnGpu) else torch.device("cpu") if isinstance(item, torch.device) else item


def on_gpu(item):
    return OnGpu(item) if isinstance(item, torch.Tensor) and not isinstance(item, OnGpu) else item


def to(item, before, after):
    return item.to(after) if isinstance(item, torch.Tensor) and item.dtype == before else item


def compute(func, args, kwargs):
    """FUNC on the CPU; where that has no kernel for float16, in float32 and rounded."""
    if func.overloadpacket.__name__ in ("_softmax", "_log_softmax") and args[2]:  # from float16 to float32, as on GPUs only
        return func(args[0].float(), args[1], False)
    try:
        return func(*args, **kwargs)
    except RuntimeError:
        args, kwargs = tree_map(lambda item: to(item, torch.float16, torch.float32), (args, kwargs))
        return tree_map(lambda item: to(item, torch.float32, torch.float16), func(*args, **kwargs))


def move_to_gpu(module):
    for part in module.modules():
        for tensors in part._parameters, part._buffers:
            for name, tensor in tensors.items():
                tensors[name] = tensor if tensor is None else OnGpu(tensor.detach())


class Recorder(TorchDispatchMode):
    """Notes every operator with the module it runs in and its dtype: its first output's, or if that is no float its inputs'."""

    def __init__(self, module, device):
        super().__init__()
        self.recorded, self.stack, self.device = [], [], device
        for name, part in module.named_modules():
            if name:
                part.register_forward_pre_hook(lambda *_, segment=segment_of(name): self.stack.append(segment))
                part.register_forward_hook(lambda *_: self.stack.pop() and None)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(real, args), tree_map(real, kwargs or {})
        result = compute(func, args, kwargs) if self.device == "cuda" else func(*args, **kwargs)
        first = result[0] if isinstance(result, (tuple, list)) else result
        dtype = dtype_of([first]) or dtype_of(tree_leaves((args, kwargs)))
        name = func.overloadpacket.__name__
        if dtype and name not in SILENT:
            self.recorded.append(Recorded("".join(f"/{part}" for part in self.stack), name, dtype))
        return tree_map(on_gpu, result) if self.device == "cuda" else result


def segment_of(name):
    """How the exporter calls module NAME below its parent: its last word, or with a number the word before it too."""
    words = name.split(".")
    first = len(words) - 1
    while words[first].isdigit():
        first -= 1
    return ".".join(words[first:])


def export(module, inputs, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, path, opset_version=OPSET, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE)
    return onnx.shape_inference.infer_shapes(onnx.load(path))


def float_nodes(model):
    """scope -> kind -> names of the nodes with float data, in order."""
    graph = model.graph
    infos = [*graph.value_info, *graph.input, *graph.output]
    is_float = {info.name: info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT for info in infos}
    is_float |= {tensor.name: tensor.data_type == onnx.TensorProto.FLOAT for tensor in graph.initializer}
    nodes = collections.defaultdict(lambda: collections.defaultdict(collections.deque))
    for node in graph.node:
        if node.op_type in KINDS and (is_float.get(node.output[0]) or node.op_type in ("Greater", "Less")):
            nodes[os.path.dirname(node.name).rstrip("/")][node.op_type].append(node.name)
    return nodes


def take(nodes, name):
    """The next nodes for operator NAME among those of its module; None when there are none."""
    for way in NODES.get(name, []):
        kinds = way.split()
        if all(len(nodes[kind]) >= kinds.count(kind) for kind in kinds):
            return [nodes[kind].popleft() for kind in kinds]
    return None


def match(recorded, nodes):
    """[(node, dtype, operator)] and the operators without a node."""
    rows, alone, layers = [], [], set()
    for op in recorded:
        here = nodes[op.scope]
        name = op.name.removesuffix("_") if op.name.removesuffix("_") in NODES else op.name
        if here["GRU"] and name == "addmm":  # the first product says in which dtype the layer runs
            rows.append((here["GRU"].popleft(), op.dtype, "gru"))
            layers.add(op.scope)
        elif here["LSTM"] and name == "mkldnn_rnn_layer":
            layers.add(op.scope)
        if op.scope in layers and name != "mkldnn_rnn_layer":
            continue  # what is in the layer, or makes its last states
        found = take(here, name)
        if found is None:
            alone.append(op)
        rows.extend((node, op.dtype, name) for node in found or [])
    return rows, alone


def run(make, device):
    """The operators that ran in the architecture under autocast."""
    torch.manual_seed(0)
    module, inputs = make().eval(), make.inputs
    if device == "cuda":
        move_to_gpu(module)
        inputs = [OnGpu(tensor) for tensor in inputs]
    recorder = Recorder(module, device)
    # torch.autocast itself would find that there is no GPU.
    torch.set_autocast_enabled(device, True)
    torch.set_autocast_dtype(device, DTYPES[device])
    with torch.no_grad(), recorder:
        module(*inputs)
    torch.set_autocast_enabled(device, False)
    torch.clear_autocast_cache()
    return recorder.recorded


def record(name, make, device, model):
    recorded, nodes = run(make, device), float_nodes(model)
    rows, alone = match(recorded, nodes)
    left = [node for kinds in nodes.values() for names in kinds.values() for node in names]
    place = {node.name: i for i, node in enumerate(model.graph.node)}
    with open(os.path.join(HERE, f"{name}.{device}.tsv"), "w", encoding="utf-8") as file:
        file.write(f"# node, dtype and operator under autocast for {device}, {DTYPES[device]}, PyTorch {torch.__version__[:5]}\n")
        file.writelines("\t".join(row) + "\n" for row in sorted(rows, key=lambda row: place[row[0]]))
    print(f"{name} on {device}: {len(recorded)} operators recorded, {len(rows)} nodes matched, {len(left)} without an operator"
          f"{': ' if left else ''}{' '.join(left)}")
    for op in alone:
        print(f"{name} on {device}: no node for {op.name} in '{op.scope}'", file=sys.stderr)
    return not alone


def main():
    results = []
    for name, make in models.MODELS.items():
        torch.manual_seed(0)
        model = export(make().eval(), make.inputs, os.path.join(HERE, f"{name}.onnx"))
        devices = ["cpu"] if name in CPU_ONLY else ["cpu", "cuda"]
        results.extend(record(name, make, device, model) for device in devices)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

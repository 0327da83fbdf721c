"""What PyTorch's autocast does with a module: which operators run below it, in which dtype, and for which call.

A call is a node of the graph that torch.export gives, an operator as the program's text names it (linear, gelu, lstm). Operators
are recorded below autocast, with their inputs cast, once in the module itself and once in that graph, call by call; both run the same
operators in the same order, which is checked, and the module's dtypes count: its text may ask for a dtype that the graph has fixed.

For device cpu autocast's dtype is bfloat16; for cuda it is float16, and no GPU is needed: tensors that say they are on one pass
through autocast's casts for it, and what comes below is computed on the CPU. Recurrent layers, for which cuDNN has its own ways, are
left out there; fused attention counts as one operator in the dtype of its inputs.
"""
import collections
import ctypes

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DTYPES = {"cpu": torch.bfloat16, "cuda": torch.float16}

# Views, copies, casts, and what makes values out of nothing.
SILENT = {"_local_scalar_dense", "_reshape_alias", "_to_copy", "_unsafe_view", "alias", "arange", "as_strided", "clone",
          "contiguous", "copy_", "detach", "diagonal", "empty", "empty_like", "empty_strided", "expand", "fill_", "full",
          "full_like", "lift_fresh", "lift_fresh_copy", "new_full", "new_ones", "new_zeros", "ones", "ones_like", "permute",
          "repeat", "reshape", "resize_", "scalar_tensor", "select", "slice", "split", "split_with_sizes", "squeeze", "squeeze_",
          "t", "transpose", "unbind", "unfold", "unsafe_split", "unsqueeze", "view", "view_as_real", "zero_", "zeros",
          "zeros_like"}


def lend_guard():
    """Lets operators that guard the device of their tensors take the CPU's guard, which does nothing, where CUDA's is missing."""
    guards = (ctypes.c_void_p * 2).in_dll(ctypes.CDLL("libc10.so.2.6"), "_ZN3c104impl26device_guard_impl_registryE")
    guards[1] = guards[1] or guards[0]


lend_guard()
torch.backends.mha.set_fastpath_enabled(False)  # one operator of its own where autocast is off


def dtype_of(tensors):
    """The widest float dtype among TENSORS; None: there is none."""
    widest = None
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            widest = tensor.dtype if widest is None else torch.promote_types(widest, tensor.dtype)
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
    return OnGpu(item.detach()) if isinstance(item, torch.Tensor) and not isinstance(item, OnGpu) else item


def to(item, before, after):
    return item.to(after) if isinstance(item, torch.Tensor) and item.dtype == before else item


def compute(func, args, kwargs):
    """FUNC on the CPU; where that has no kernel for float16, in float32 and rounded."""
    if func.overloadpacket.__name__ in ("_softmax", "_log_softmax") and args[2]:  # from float16 to float32, as on GPUs only
        return func(args[0].float(), args[1], False)
    if func is torch.ops.aten.view.default:  # what attention gives lies otherwise on a GPU
        func = torch.ops.aten.reshape.default
    try:
        return func(*args, **kwargs)
    except RuntimeError:
        args, kwargs = tree_map(lambda item: to(item, torch.float16, torch.float32), (args, kwargs))
        return tree_map(lambda item: to(item, torch.float32, torch.float16), func(*args, **kwargs))


def move_to_gpu(module):
    for part in module.modules():
        for tensors in part._parameters, part._buffers:
            for name, tensor in tensors.items():
                tensors[name] = on_gpu(tensor)
        for name, item in list(vars(part).items()):
            if isinstance(item, torch.Tensor):
                setattr(part, name, on_gpu(item))


class Recorder(TorchDispatchMode):
    """Notes every operator with the call that it is for and its dtype: its first output's, or if that is no float its inputs'."""

    def __init__(self, device):
        super().__init__()
        self.recorded, self.device, self.call = [], device, None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(real, args), tree_map(real, kwargs or {})
        result = compute(func, args, kwargs) if self.device == "cuda" else func(*args, **kwargs)
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        dtype = dtype_of([first]) or dtype_of(tree_leaves((args, kwargs)))
        name = func.overloadpacket.__name__
        if dtype and name not in SILENT:
            self.recorded.append((self.call, name.rstrip("_") or name, dtype))
        return tree_map(on_gpu, result) if self.device == "cuda" else result


class Caller(torch.fx.Interpreter):
    """Runs a graph whose nodes carry their call's name as their stack trace."""

    def __init__(self, graph, recorder):
        super().__init__(graph)
        self.recorder, self.attentions = recorder, {}

    def run_node(self, n):
        self.recorder.call = n.meta.get("stack_trace")
        result = super().run_node(n)
        if "scaled_dot_product_attention" in str(n.target):
            self.attentions[self.recorder.call] = dtype_of([result])
        return result


def under_autocast(run, module, inputs, recorder):
    """What RUN gives for INPUTS, with MODULE's tensors and them on the device of RECORDER, which takes the operators."""
    device = recorder.device
    if device == "cuda":
        move_to_gpu(module)
        inputs = tree_map(on_gpu, inputs)
    # torch.autocast itself would find that there is no GPU.
    torch.set_autocast_enabled(device, True)
    torch.set_autocast_dtype(device, DTYPES[device])
    try:
        with torch.no_grad(), recorder:
            return run(*inputs)
    finally:
        torch.set_autocast_enabled(device, False)
        torch.clear_autocast_cache()


def align(one, two, score):
    """The pairs (i, j) of elements, both in order, with the highest sum of SCORE; what scores 0 is no pair."""
    best = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(two) - 1, -1, -1):
            found = score(one[i], two[j])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + found if found else 0)
    i = j = 0
    pairs = []
    while i < len(one) and j < len(two):
        found = score(one[i], two[j])
        if found and best[i][j] == best[i + 1][j + 1] + found:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def record(module, program, inputs, device):
    """call -> [(operator, dtype)] of MODULE, of which PROGRAM is torch.export's graph."""
    eager, called = Recorder(device), Recorder(device)
    under_autocast(module, module, inputs, eager)
    graph = program.module()
    caller = Caller(graph, called)
    under_autocast(caller.run, graph, inputs, called)
    if [name for _, name, _ in eager.recorded] != [name for _, name, _ in called.recorded]:
        raise ValueError("the module and its graph run other operators")
    ran = collections.defaultdict(list)
    for (_, name, dtype), (call, _, _) in zip(eager.recorded, called.recorded):
        ran[call].append((name, dtype))
    if device == "cuda":
        ran.update({call: [("scaled_dot_product_attention", dtype)] for call, dtype in caller.attentions.items()})
    return ran

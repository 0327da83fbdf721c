"""What the scripts that make the models of these tests share: a case is a graph in ONNX's text form, its folder and its inputs."""
import os
import textwrap

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

here = os.path.dirname(os.path.abspath(__file__))
DUMP = "model.onnx --dump-after=fold"


def filler(dims, dtype):
    """Values that no float of 16 bits holds exactly, few and small."""
    count = int(np.prod(dims, dtype=np.int64))
    values = np.arange(count) * 7 % 13 - 6
    if dtype in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE):
        values = values / 7
    return values.reshape(dims).astype(helper.tensor_dtype_to_np_dtype(dtype))


def tensor(name, values, elem_type):
    """A TensorProto, also of bfloat16, which NumPy does not have; VALUES are then float32."""
    made = numpy_helper.from_array(values, name)
    if elem_type == TensorProto.BFLOAT16:
        made.data_type = elem_type
        made.raw_data = (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return made


def fill_weights(graph):
    """Values that are declared, but made by no node, become initializers. In bodies too."""
    made = {output for node in graph.node for output in node.output}
    for info in [info for info in graph.value_info if info.name not in made]:
        declared = info.type.tensor_type
        dims = [dim.dim_value for dim in declared.shape.dim]
        graph.initializer.append(tensor(info.name, filler(dims, declared.elem_type), declared.elem_type))
        graph.value_info.remove(info)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                fill_weights(attribute.g)


def name_nodes(graph):
    """Conv of value y becomes Conv_y."""
    for node in graph.node:
        node.name = f"{node.op_type}_{next(filter(None, node.output), '')}"
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                name_nodes(attribute.g)


def write_inputs(folder, model, inputs):
    """input_K.pb for every input without an initializer; INPUTS: name -> values, where the filler does not fit."""
    weights = {initializer.name for initializer in model.graph.initializer}
    os.makedirs(os.path.join(folder, "data"), exist_ok=True)
    for i, info in enumerate(info for info in model.graph.input if info.name not in weights):
        declared = info.type.tensor_type
        dtype = helper.tensor_dtype_to_np_dtype(declared.elem_type)
        dims = [dim.dim_value or 2 for dim in declared.shape.dim]
        values = np.array(inputs[info.name], dtype) if info.name in inputs else filler(dims, declared.elem_type)
        array = tensor(info.name, values, declared.elem_type)
        with open(os.path.join(folder, "data", f"input_{i}.pb"), "wb") as file:
            file.write(array.SerializeToString())


def loop_body(*lines, dtype="float[2,4]", goes_on="Identity(k)"):
    """A body of Loop: iteration i, condition k and state s to condition l, state t, and u, which is gathered."""
    nodes = "\n".join((f"l = {goes_on}",) + lines)
    return f"body = b (int64 i, bool k, {dtype} s) => (bool l, {dtype} t, {dtype} u) {{\n{nodes}\n}}"


def case(name, about, text, edit=None, args=DUMP, variants=None, opset=21, ir=10, domains="", inputs=None):
    """Makes case NAME: a graph in ONNX's text form (weights are declared without data), which EDIT may change afterwards.
    VARIANTS: suffix of the name -> args. INPUTS: name -> values."""
    model = parser.parse_model(f'<ir_version: {ir}, opset_import: ["": {opset}{domains}]> {textwrap.dedent(text)}')
    fill_weights(model.graph)
    name_nodes(model.graph)
    if edit is not None:
        edit(model)
    folder = os.path.join(here, name)
    write(folder, about, args)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    write_inputs(folder, model, inputs or {})
    for suffix, other in (variants or {}).items():
        write(f"{folder}_{suffix}", about, other)
        link = f"{folder}_{suffix}/model.onnx"
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(f"../{name}/model.onnx", link)


def write(folder, about, args):
    os.makedirs(folder, exist_ok=True)
    for name, line in ("about", about), ("args", args):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(line + "\n")


def weight(name, values, dtype=np.float32):
    """An edit that gives weight NAME these VALUES."""
    def edit(model):
        for tensor in model.graph.initializer:
            if tensor.name == name:
                tensor.CopyFrom(numpy_helper.from_array(np.array(values, dtype), name))
    return edit


def leave_out(model):
    """The text form cannot leave out a first input: the value none stands for it."""
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = "" if name == "none" else name


def weight_bits(name, dtype, bits):
    """The same for a type that NumPy does not have, from the bits of its elements."""
    def edit(model):
        for tensor in model.graph.initializer:
            if tensor.name == name:
                dims = list(tensor.dims)
                tensor.Clear()
                tensor.name, tensor.data_type = name, dtype
                tensor.dims.extend(dims)
                tensor.raw_data = np.array(bits, np.uint16).tobytes()
    return edit

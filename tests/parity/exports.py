"""The three forms in which a module comes as ONNX, and for each of their nodes the call of torch.export's graph that it is for.

ts: TorchScript's exporter, opset 17. dy: the exporter behind dynamo=True, as it writes. opt: the same, optimized by onnxscript. The
latter two copy a call's stack trace to the nodes, and a call's name stands in that place while they work. The former is followed
node by node: the nodes that it makes for a node of the traced graph carry that one's number until they get their names; traced nodes
and calls are aligned by their names and lines of the program's text.
"""
import contextlib
import io
import os
import re

import onnx
import torch
from torch.onnx import utils
from torch.onnx._internal import jit_utils

import autocast

OPSET = 17
FORMS = ["ts", "dy", "opt"]
NUMBER = "parity"
TRACE = "pkg.torch.onnx.stack_trace"

# Traced nodes that have another name than their call.
SAME = {"_convolution": "conv", "conv1d": "conv", "conv2d": "conv", "conv3d": "conv", "conv_transpose1d": "conv",
        "conv_transpose2d": "conv", "conv_transpose3d": "conv", "nll_loss": "nll", "nll_loss2d": "nll", "nll_loss_nd": "nll",
        "type_as": "to", "_to_copy": "to", "view_as": "view", "_unsafe_view": "view", "__and__": "and"}


def plain(name):
    name = name if name.startswith("__") else name.rstrip("_")
    return SAME.get(name, name)


def fresh(make):
    torch.manual_seed(0)
    return make().eval()


def innermost(trace):
    """The last frame of TRACE: its function and its line of text, which often is a call of torch.nn.functional."""
    frame = re.search(r"(in \w+)\s*\n\s*([^\n]*)\s*$", trace)
    return "\n".join(frame.groups()) if frame else ""


def program_of(make):
    """torch.export's program, whose calls carry their names and which has their frames, and [(call, operator, lines of text)]."""
    program, calls = torch.export.export(fresh(make), make.inputs, strict=False), []
    program.frames = {}
    for i, node in enumerate(program.graph.nodes):
        program.frames[f"@{i}"] = innermost(node.meta.get("stack_trace") or "")
        if node.op == "call_function" and hasattr(node.target, "overloadpacket"):
            lines = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
            calls.append((f"@{i}", plain(node.target.overloadpacket.__name__), [(os.path.basename(f), int(l)) for f, l in lines]))
        node.meta["stack_trace"] = f"@{i}"
    return program, calls


@contextlib.contextmanager
def numbered(traced, names):
    """While this is in force, TRACED takes the traced nodes that are exported, (kind, lines), and NAMES the number of each node."""
    symbolic, create, name, check = (torch.onnx._run_symbolic_function, jit_utils._create_node,
                                     torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value, torch._C._check_onnx_proto)
    current = []

    def run(graph, block, node, *rest, **named):
        lines = re.findall(r"(\S+)\((\d+)\): ", node.sourceRange())[::-1]
        traced.append((node.kind(), [(os.path.basename(f), int(l)) for f, l in lines]))
        current.append(len(traced) - 1)
        try:
            return symbolic(graph, block, node, *rest, **named)
        finally:
            current.pop()

    def create_numbered(*args, **named):
        node = create(*args, **named)
        if current and node.kind().startswith("onnx::") and node.kind() != "onnx::Constant":  # which may have one attribute only
            node.i_(NUMBER, current[-1])
        return node

    def take_numbers(block):
        for node in block.nodes():
            if node.hasAttribute(NUMBER):
                names[node.s("onnx_name")] = node.i(NUMBER)
                node.removeAttribute(NUMBER)
            for body in node.blocks():
                take_numbers(body)

    def name_all(graph):
        name(graph)
        take_numbers(graph)

    torch.onnx._run_symbolic_function = utils._run_symbolic_function = run
    jit_utils._create_node, torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value = create_numbered, name_all
    torch._C._check_onnx_proto = lambda *_, **__: None
    try:
        yield
    finally:
        torch.onnx._run_symbolic_function = utils._run_symbolic_function = symbolic
        jit_utils._create_node, torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value = create, name
        torch._C._check_onnx_proto = check


def match(traced, calls):
    """number of a traced node -> call. Cells of recurrent layers, which are one call, are traced taken apart."""
    nodes = [(i, plain(kind.removeprefix("aten::")), lines) for i, (kind, lines) in enumerate(traced) if kind.startswith("aten::")]
    score = lambda node, call: 0 if node[1] != call[1] else 3 if node[2][-1:] and node[2][-1] in call[2] else 1
    found = {nodes[i][0]: k for i, k in autocast.align(nodes, calls, score)}
    before = -1
    for at, (i, _, lines) in enumerate(nodes):
        if i not in found:
            after = next((found[j] for j, _, _ in nodes[at:] if found.get(j, -1) > before), len(calls))
            here = [k for k in range(max(before, 0), after) if lines[-1:] and lines[-1] in calls[k][2]]
            cells = [k for k in here if calls[k][1].endswith("_cell")]
            if not cells:
                continue
            found[i] = cells[0]
        before = found[i]
    return {i: calls[k][0] for i, k in found.items()}


def by_torchscript(make, calls):
    out, traced, names = io.BytesIO(), [], {}
    with numbered(traced, names), contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(fresh(make), make.inputs, out, opset_version=OPSET, dynamo=False)
    found = match(traced, calls)
    return onnx.load_from_string(out.getvalue()), {name: found.get(number) for name, number in names.items()}


def by_dynamo(make, program, is_optimized):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model = torch.onnx.export(program, make.inputs, dynamo=True, verify=False, report=False, verbose=False,
                                  optimize=is_optimized).model_proto
    traces = {node.name: [entry.value for entry in node.metadata_props if entry.key == TRACE] for node in model.graph.node}
    return model, {name: (values or [None])[0] for name, values in traces.items()}


def forms(make, program, calls, chosen):
    """form, model and node's name -> call for each of the CHOSEN forms; the error instead of the model where there is none."""
    ways = {"ts": lambda: by_torchscript(make, calls), "dy": lambda: by_dynamo(make, program, False),
            "opt": lambda: by_dynamo(make, program, True)}
    for form in chosen:
        try:
            yield form, *ways[form]()
        except Exception as error:  # each exporter has its own kinds
            yield form, error, {}


def put_back(model, frames):
    """Puts the frames that MODEL's nodes had, FRAMES of their calls, in the place of the calls' names."""
    for node in model.graph.node:
        for entry in node.metadata_props:
            if entry.key == TRACE and frames.get(entry.value):
                entry.value = frames[entry.value]


def inlined(model):
    """MODEL with the calls of its own functions taken apart, their nodes named CALL/NODE, with types; and which node of MODEL each
    comes from."""
    functions = {(function.domain, function.name): function for function in model.functions}
    flat, origins = onnx.ModelProto(), []
    flat.CopyFrom(model)
    del flat.functions[:], flat.graph.node[:]

    def add(nodes, prefix, origin, values, given):
        for i, node in enumerate(nodes):
            copy = onnx.NodeProto(op_type=node.op_type, domain=node.domain)
            copy.name = f"{prefix}/{node.name or f'n{i}'}" if prefix else node.name
            for attribute in node.attribute:
                source = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
                if source is not None:
                    copy.attribute.add().CopyFrom(source)
                    copy.attribute[-1].name = attribute.name
            for ours, theirs in (copy.input, node.input), (copy.output, node.output):
                ours.extend(values.setdefault(name, f"{prefix}/{name}") if prefix and name else name for name in theirs)
            function = functions.get((node.domain, node.op_type))
            if function is None:
                flat.graph.node.append(copy)
                origins.append(origin or node)
                continue
            inner = dict(zip(function.input, [*copy.input] + [""] * len(function.input)))
            inner.update(zip(function.output, copy.output))
            attributes = {attribute.name: attribute for attribute in [*function.attribute_proto, *copy.attribute]}
            add(function.node, copy.name, origin or node, inner, attributes)

    add(model.graph.node, "", None, {}, {})
    return onnx.shape_inference.infer_shapes(flat), origins

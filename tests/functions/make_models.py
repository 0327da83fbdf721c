#!/usr/bin/env python3
"""Makes the models with model-local functions that the tests here convert and run.

Each model that must work is NAME.onnx with NAME/test_data_set_0, its inputs and the outputs that
ONNX Runtime computes after ONNX's own inliner. Each that must be refused is a folder of
tests/run.sh with model.onnx. Functions are written as PyTorch's exporter writes them: modules as
functions of domain pkg.torch that call functions of pkg.onnxscript.torch_lib, with attributes,
overloads, If in bodies, helpers without names of nodes. Same input, same bytes. Needs onnx 1.17,
numpy, onnxruntime. Takes the folder to write to (default: this one).
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, inliner, numpy_helper

OPSET, IR = 18, 10
LIB, COMMON, TORCH = "pkg.onnxscript.torch_lib", "pkg.onnxscript.torch_lib.common", "pkg.torch"
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
OUT = OUT if OUT.is_dir() else OUT.parent


def imports(*extra, opset=OPSET):
    return [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in extra]


def ref(node, name, kind, refers=None):
    """Gives NODE the attribute NAME with the value of the function's parameter."""
    attr = node.attribute.add()
    attr.name, attr.ref_attr_name, attr.type = name, refers or name, kind
    return node


def n(op, inputs, outputs, domain="", name="", **attrs):
    return helper.make_node(op, inputs, outputs, domain=domain, name=name, **attrs)


def function(domain, name, inputs, outputs, nodes, uses=(), attributes=(), defaults=(), opset=OPSET,
             overload=""):
    made = helper.make_function(domain, name, inputs, outputs, nodes, imports(*uses, opset=opset),
                                attributes, list(defaults))
    if overload:
        made.overload = overload
    return made


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weights(seed, *shape):
    return (np.random.RandomState(seed).standard_normal(shape) * 0.3).astype(np.float32)


def model(name, nodes, inputs, outputs, functions, initializers=(), domains=(), ir=IR, opset=OPSET):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    made = helper.make_model(graph, functions=functions, opset_imports=imports(*domains, opset=opset))
    made.ir_version, made.producer_name, made.producer_version = ir, "", ""
    return made


def simplified(made):
    """The same model for ONNX's inliner, which knows no overloads (they become part of the names), no
    outputs that are inputs, and no imports that only functions have."""
    made = onnx.ModelProto.FromString(made.SerializeToString())
    known = {entry.domain for entry in made.opset_import}
    for proto in made.functions:
        for node in proto.node:
            node.op_type, node.overload = node.op_type + node.overload, ""
        proto.name, proto.overload = proto.name + proto.overload, ""
        for i, name in enumerate(proto.output):
            if name in proto.input:
                proto.output[i] = name + "_given"
                proto.node.append(n("Identity", [name], [name + "_given"]))
        made.opset_import.extend(entry for entry in proto.opset_import if entry.domain not in known)
        known |= {entry.domain for entry in proto.opset_import}
    return made


RUN = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1] + '/m.onnx', providers=['CPUExecutionProvider'])
outputs = session.run(None, dict(numpy.load(sys.argv[1] + '/in.npz')))
numpy.savez(sys.argv[1] + '/out.npz', **{str(i): value for i, value in enumerate(outputs)})
"""


def reference(made, feeds):
    """What ONNX Runtime computes once ONNX's inliner has replaced the calls; in a process without the
    onnx package, as the two share symbols."""
    plain = inliner.inline_local_functions(simplified(made))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "m.onnx").write_bytes(plain.SerializeToString())
        np.savez(folder + "/in.npz", **feeds)
        subprocess.run([sys.executable, "-c", RUN, folder], check=True)
        with np.load(folder + "/out.npz") as outputs:
            return [outputs[str(i)] for i in range(len(made.graph.output))]


def save(name, made, feeds):
    (OUT / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    folder = OUT / name / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    for i, value in enumerate(made.graph.input):
        data = tensor(value.name, feeds[value.name])
        (folder / f"input_{i}.pb").write_bytes(data.SerializeToString())
    for i, value in enumerate(reference(made, feeds)):
        data = tensor(made.graph.output[i].name, value)
        (folder / f"output_{i}.pb").write_bytes(data.SerializeToString())


def refuse(name, made):
    folder = OUT / name
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(made.SerializeToString(deterministic=True))
    (folder / "args").write_text("model.onnx -o out.onnx\n")


# ---- the library, in the exporter's style ---------------------------------------------------------


def library():
    scalar = function(COMMON, "IsScalar", ["input"], ["return_val"], [
        n("Shape", ["input"], ["tmp"], name="n0"),
        n("Size", ["tmp"], ["tmp_0"], name="n1"),
        n("Constant", [], ["tmp_1"], name="n2", value_int=0),
        n("Equal", ["tmp_0", "tmp_1"], ["return_val"], name="n3")])
    linear = function(LIB, "aten_linear", ["input", "weight", "bias"], ["result"], [
        n("Transpose", ["weight"], ["tmp"], name="n0", perm=[1, 0]),
        n("MatMul", ["input", "tmp"], ["tmp_0"], name="n1"),
        n("Add", ["tmp_0", "bias"], ["result"], name="n2")])
    plain = function(LIB, "aten_linear", ["input", "weight"], ["result"], [
        n("Transpose", ["weight"], ["tmp"], name="n0", perm=[1, 0]),
        n("MatMul", ["input", "tmp"], ["result"], name="n1")], overload="no_bias")
    norm = function(LIB, "aten_layer_norm", ["input", "weight", "bias"], ["normalized"], [
        ref(ref(n("LayerNormalization", ["input", "weight", "bias"], ["normalized", "", ""], name="n0"),
                "axis", AttributeProto.INT), "epsilon", AttributeProto.FLOAT, "eps")],
        attributes=["axis"], defaults=[helper.make_attribute("eps", 1e-5)])
    then = helper.make_graph([n("Constant", [], ["tmp_3"], name="n0", value_ints=[0]),
                              n("Unsqueeze", ["self", "tmp_3"], ["self_4"], name="n1")],
                             "thenGraph", [], [info("self_4", None)])
    other = helper.make_graph([n("Identity", ["self"], ["self_5"], name="n0")],
                              "elseGraph", [], [info("self_5", None)])
    softmax = function(LIB, "aten_softmax", ["self"], ["result"], [
        n("IsScalar", ["self"], ["cond"], COMMON, "n0"),
        n("If", ["cond"], ["self_6"], name="n1", then_branch=then, else_branch=other),
        ref(n("Softmax", ["self_6"], ["result"], name="n2"), "axis", AttributeProto.INT, "dim")],
        uses=[COMMON], attributes=["dim"])
    gelu = function(LIB, "aten_gelu", ["self"], ["result"], [
        ref(n("Gelu", ["self"], ["result"], name="n0"), "approximate", AttributeProto.STRING)],
        defaults=[helper.make_attribute("approximate", "none")], opset=20)
    return [scalar, linear, plain, norm, softmax, gelu]


def exporter():
    """Two blocks of a transformer's kind, modules three deep; IR 10, overloads, value_info."""
    lib = [f for f in library() if f.name != "aten_gelu"]
    block = function(TORCH, "Block", ["x", "w1", "b1", "w2", "g", "b"], ["out", "scores"], [
        n("aten_layer_norm", ["x", "g", "b"], ["norm"], LIB, "norm", axis=-1, eps=1e-3),
        n("Linear", ["norm", "w1", "b1"], ["fc1"], TORCH, "fc1"),
        n("Relu", ["fc1"], ["relu"]),
        helper.make_node("aten_linear", ["relu", "w2"], ["fc2"], domain=LIB, name="fc2", overload="no_bias"),
        n("aten_softmax", ["fc2"], ["scores"], LIB, "softmax", dim=-1),
        n("Add", ["x", "fc2"], ["out"])], uses=[LIB, TORCH])
    block.value_info.append(info("fc1", ["batch", 16]))
    module = function(TORCH, "Linear", ["x", "weight", "bias"], ["y"], [
        n("aten_linear", ["x", "weight", "bias"], ["y"], LIB, "aten_linear_0")], uses=[LIB])
    nodes, init = [], []
    for i in range(2):
        names = [f"layers.{i}.{w}" for w in ("w1", "b1", "w2", "g", "b")]
        shapes = [(16, 8), (16,), (8, 16), (8,), (8,)]
        init += [tensor(w, weights(10 * i + k, *s)) for k, (w, s) in enumerate(zip(names, shapes))]
        outputs = [f"layers_{i}"] + (["scores"] if i else [])
        nodes.append(n("Block", [f"layers_{i - 1}" if i else "x"] + names, outputs, TORCH, f"layers_{i}"))
    nodes[1].metadata_props.add(key="pkg.torch.onnx.name_scopes", value="['', 'layers.1']")
    made = model("main_graph", nodes, [info("x", ["batch", 8])],
                 [info("layers_1", ["batch", 8]), info("scores", ["batch", 8])],
                 lib + [module, block], init, [LIB, COMMON, TORCH])
    save("exporter", made, {"x": weights(99, 3, 8)})


def edges():
    """An input that is an output, what is left out, loops and graphs, names that are taken, calls without
    names, calls in a graph's branch, a function with the name of an operator."""
    clamp = function("my", "Clamp", ["x", "low", "high"], ["y", "was"], [
        n("Clip", ["x", "low", "high"], ["y"]), n("Shape", ["x"], ["was"])])
    copies = function("my", "Copies", ["x", "unused"], ["x", "a", "b_"], [
        n("Neg", ["x"], ["a"]), n("Abs", ["a"], ["b_"]), n("Exp", ["b_"], ["dead"])])
    body = helper.make_graph([n("Scaled", ["carried"], ["next"], "my", "scale", by=0.5),
                              n("Add", ["next", "x"], ["sum"]), n("Identity", ["keep"], ["on"])], "body",
                             [info("i", [], TensorProto.INT64), info("keep", [], TensorProto.BOOL),
                              info("carried", None)],
                             [info("on", [], TensorProto.BOOL), info("sum", None)],
                             [tensor("unneeded", np.float32(1))])
    scaled = function("my", "Scaled", ["x"], ["y"], [
        ref(n("Constant", [], ["c"]), "value_float", AttributeProto.FLOAT, "by"),
        ref(n("LeakyRelu", ["x"], ["r"]), "alpha", AttributeProto.FLOAT, "slope"),
        n("Mul", ["r", "c"], ["y"])], attributes=["by", "slope"])
    loop = function("my", "Repeat", ["x", "count"], ["y"], [
        n("Constant", [], ["true"], value=tensor("t", np.bool_(True))),
        n("Loop", ["count", "true", "x"], ["y"], body=body)], uses=["my"])
    relu = function("", "Relu", ["x"], ["y"], [n("Identity", ["x"], ["y"])])
    branch = helper.make_graph([n("Scaled", ["x"], ["s"], "my", by=2.0, slope=0.5)], "then", [], [info("s", None)])
    rest = helper.make_graph([n("Identity", ["x"], ["s2"])], "else", [], [info("s2", None)])
    nodes = [
        n("Clamp", ["x", "", "high"], ["c"], "my", "call"),
        n("Copies", ["c", ""], ["same", "neg", "abs"], "my"),
        n("Copies", ["same"], ["", "neg2"], "my"),
        n("Sum", ["same", "neg", "abs", "neg2"], ["call/was"], name="call/Shape"),
        n("Repeat", ["call/was", "count"], ["repeated"], "my", "loop"),
        n("If", ["flag"], ["chosen"], name="choose", then_branch=branch, else_branch=rest),
        n("Add", ["repeated", "chosen"], ["added"]),
        n("Relu", ["added"], ["positive"]),
        n("Neg", ["positive"], ["y"]),
    ]
    made = model("edges", nodes, [info("x", [2, 3]), info("flag", [], TensorProto.BOOL)],
                 [info("positive", [2, 3]), info("y", [2, 3])],
                 [clamp, copies, scaled, loop, relu],
                 [tensor("high", np.float32(0.5)), tensor("count", np.int64(3))], ["my"])
    save("edges", made, {"x": weights(5, 2, 3) * 4, "flag": np.bool_(True)})


def imported():
    """A domain that only a function imports."""
    learned = function("my", "Binary", ["x"], ["y"], [
        n("Binarizer", ["x"], ["b"], "ai.onnx.ml", threshold=0.25), n("Sqrt", ["b"], ["y"])],
        uses=["ai.onnx.ml"])
    made = model("imported", [n("Binary", ["x"], ["y"], "my")], [info("x", [2])], [info("y", [2])],
                 [learned], (), ["my"])
    save("imported", made, {"x": np.float32([0.1, 0.3])})


def left():
    """Vote has no floats and stays with its calls; Spare is not called and stays, with what it calls;
    Double goes."""
    vote = function("logic", "Vote", ["a", "b", "c"], ["y"], [
        n("And", ["a", "b"], ["ab"]), n("Both", ["b", "c"], ["bc"], "logic"), n("Or", ["ab", "bc"], ["y"])],
        uses=["logic"])
    vote.doc_string = "at least two, the middle one among them"
    both = function("logic", "Both", ["a", "b"], ["y"], [n("And", ["a", "b"], ["y"])])
    half = function("my", "Half", ["x"], ["y"], [
        n("Constant", [], ["c"], value_float=0.5), n("Mul", ["x", "c"], ["y"])])
    double = function("my", "Double", ["x"], ["y"], [n("Add", ["x", "x"], ["y"])])
    spare = function("my", "Spare", ["x"], ["y"], [n("Half", ["x"], ["y"], "my")], uses=["my"])
    nodes = [n("Double", ["x"], ["d"], "my", "double"), n("Half", ["d"], ["h"], "my", "half"),
             n("MatMul", ["h", "w"], ["m"], name="product"),
             n("Greater", ["m", "x"], ["more"]), n("Less", ["m", "x"], ["less"]),
             n("Vote", ["more", "p", "less"], ["votes"], "logic", "vote")]
    made = model("left", nodes, [info("x", [2, 3]), info("p", [2, 3], TensorProto.BOOL)],
                 [info("m", [2, 3]), info("votes", [2, 3], TensorProto.BOOL)],
                 [vote, double, half, spare, both], [tensor("w", weights(3, 3, 3))], ["my", "logic"])
    save("left", made, {"x": weights(7, 2, 3), "p": np.array([[1, 0, 1], [0, 1, 1]], bool)})
    for kept in (vote, half, spare, both):
        (OUT / "left" / f"{kept.name}.function").write_bytes(kept.SerializeToString(deterministic=True))


def outside():
    """A function whose weight lies in a file beside the model."""
    linear = function("my", "Linear", ["x"], ["y"], [
        n("Constant", [], ["w"], value=tensor("w", weights(5, 16, 16))), n("MatMul", ["x", "w"], ["y"])])
    nodes = [n("Linear", ["x"], ["a"], "my", "first"), n("Relu", ["a"], ["r"]), n("Linear", ["r"], ["y"], "my", "second")]
    made = model("outside", nodes, [info("x", [2, 16])], [info("y", [2, 16])], [linear], (), ["my"])
    save("outside", made, {"x": weights(6, 2, 16)})
    held = made.functions[0].node[0].attribute[0].t
    (OUT / "outside.data").write_bytes(bytes(4096) + held.raw_data)
    for key, value in {"location": "outside.data", "offset": "4096", "length": str(len(held.raw_data))}.items():
        held.external_data.add(key=key, value=value)
    held.ClearField("raw_data")
    held.data_location = TensorProto.EXTERNAL
    (OUT / "outside.onnx").write_bytes(made.SerializeToString(deterministic=True))


# ---- what is refused -------------------------------------------------------------------------------


def refused():
    x, y = [info("x", [2])], [info("y", [2])]

    def one(name, functions, inputs=("x",), outputs=("y",), **attrs):
        refuse(name, model(name, [n("F", inputs, outputs, "my", "call", **attrs)], x, y, functions, (), ["my"]))

    def f(nodes, name="F", inputs=("x",), outputs=("y",), **more):
        return function("my", name, list(inputs), list(outputs), nodes, uses=["my"], **more)

    neg = n("Neg", ["x"], ["y"])
    one("cycle", [f([n("G", ["x"], ["y"], "my")]), f([n("F", ["x"], ["y"], "my")], "G")])
    one("deep", [f([n("F1", ["x"], ["y"], "my")])] + [
        f([n(f"F{i + 1}", ["x"], ["y"], "my")], f"F{i}") for i in range(1, 70)] + [f([neg], "F70")])
    twice = [n("", ["x"], ["a"], "my"), n("", ["a"], ["y"], "my")]
    chain = []
    for i in range(40):
        nodes = [onnx.NodeProto.FromString(t.SerializeToString()) for t in twice]
        for node in nodes:
            node.op_type = f"F{i + 1}"
        chain.append(f(nodes, f"F{i}" if i else "F"))
    one("many", chain + [f([neg], "F40")])
    one("twice", [f([neg]), f([n("Abs", ["x"], ["y"])])])
    one("other_opset", [f([n("Cast", ["x"], ["c"], to=1), neg], opset=12)])
    one("newer_opset", [f([neg], opset=99)])
    one("undefined", [f([n("Add", ["x", "z"], ["y"])])])
    one("no_output", [f([n("Neg", ["x"], ["z"])])])
    one("two_makers", [f([neg, n("Abs", ["x"], ["y"])])])
    one("inputs", [f([neg])], inputs=["x", "x"])
    one("left_out", [f([n("Neg", ["x"], ["z"])], inputs=["x", "y"])])
    graph = helper.make_graph([n("Neg", ["x"], ["z"])], "g", [], [info("z", None)])
    held = [ref(n("Constant", [], ["t"]), "value", AttributeProto.GRAPH, "g"), neg]
    one("graph_attribute", [f(held, attributes=["g"])], g=graph)


exporter()
edges()
imported()
left()
outside()
refused()

#!/usr/bin/env python3
"""Makes sequences/ and sequences_refused/: sequences, optionals and maps, in the layout of ONNX's backend tests.

Expected outputs are ONNX Runtime's; where it cannot run the model, those of ONNX's reference evaluator; a few are written here. What is said of sequences_refused/ is in
sequences_refused.txt. Needs onnx, onnxruntime and numpy. Run it in this folder; the same versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator  # before ONNX Runtime, whose operators it stumbles over
import onnxruntime
from onnx import MapProto, OptionalProto, SequenceProto, SparseTensorProto, TensorProto, helper, numpy_helper

rng = np.random.default_rng(11)
FLOAT, HALF, BFLOAT16, BOOL = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.BOOL
INT32, INT64, STRING = TensorProto.INT32, TensorProto.INT64, TensorProto.STRING
DTYPES = {"float": np.float32, "half": np.float16, "double": np.float64, "int8": np.int8, "uint16": np.uint16, "int64": np.int64,
          "bool": np.bool_, "text": object}


def tensor(dtype, shape=None):
    return helper.make_tensor_type_proto(dtype, shape)


def sequence(dtype):
    return helper.make_sequence_type_proto(tensor(dtype))


def optional(kind):
    return helper.make_optional_type_proto(kind)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(" ") if inputs else [], outputs.split(" "), **attributes)


def constant(name, value):
    return node("Constant", "", name, value=numpy_helper.from_array(np.array(value)))


def graph(nodes, inputs, outputs, name="g"):
    infos = lambda types: [helper.make_value_info(n, t) for n, t in types.items()]
    return helper.make_graph(nodes, name, infos(inputs), infos(outputs))


def proto(value, name, kind):
    """VALUE as the message that stands for KIND: an array, a list of them, a dict, or None."""
    if isinstance(value, bytes):
        return value
    if kind.HasField("optional_type"):
        element = OptionalProto(name=name, elem_type=OptionalProto.UNDEFINED)
        if value is not None and kind.optional_type.elem_type.HasField("sequence_type"):
            element.elem_type = OptionalProto.SEQUENCE
            element.sequence_value.ParseFromString(proto(value, "", kind.optional_type.elem_type))
        elif value is not None:
            element.elem_type = OptionalProto.TENSOR
            element.tensor_value.CopyFrom(array_proto(value, ""))
        return element.SerializeToString()
    if kind.HasField("sequence_type"):
        element = SequenceProto(name=name, elem_type=SequenceProto.TENSOR)
        element.tensor_values.extend(array_proto(v, "") for v in value)
        return element.SerializeToString()
    return array_proto(value, name).SerializeToString()


def array_proto(value, name):
    if isinstance(value, TensorProto):
        copy = TensorProto.FromString(value.SerializeToString())
        copy.name = name
        return copy
    value = np.asarray(value)
    if value.dtype.kind in "OU":
        return helper.make_tensor(name, STRING, value.shape, [str(v).encode() for v in value.ravel()])
    return numpy_helper.from_array(np.array(value, order="C"), name)


def compute(model, values):
    """What ONNX Runtime gives; where it cannot run the model, ONNX's reference evaluator."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, values)
    except Exception:
        return ReferenceEvaluator(model).run(None, values)


def save(folder, name, nodes, inputs, outputs, values, expected=None, opset=18):
    """INPUTS and OUTPUTS: names and types; VALUES by name; EXPECTED: in order, where not computed."""
    model = helper.make_model(graph(nodes, inputs, outputs), opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 24 else 12)
    values = {k: np.asarray(v) if isinstance(v, np.generic) else v for k, v in values.items()}
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    if not values:
        open(f"{data}/.gitkeep", "w").close()  # a case without inputs is refused before it has outputs
    onnx.save(model, f"{folder}/{name}/model.onnx")
    if folder == "sequences" and expected is None:
        expected = compute(model, values)
    for kind, types, found in (("input", inputs, list(values.values())), ("output", outputs, expected or [])):
        for i, ((name, type_proto), value) in enumerate(zip(types.items(), found)):
            with open(f"{data}/{kind}_{i}.pb", "wb") as file:
                file.write(proto(value, name, type_proto))


def case(name, *arguments, **options):
    save("sequences", name, *arguments, **options)


def refuse(name, *arguments, **options):
    save("sequences_refused", name, *arguments, **options)


def array(dtype, *shape):
    if dtype is object:
        return np.array([f"é{i}" * (i % 3) for i in range(int(np.prod(shape)))], object).reshape(shape)
    return (rng.uniform(-9, 9, shape) if np.dtype(dtype).kind == "f" else rng.integers(0, 2, shape)).astype(dtype)


def onnx_type(dtype):
    return STRING if dtype is object else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


# ---- sequences

def make_dtypes():
    """Every operator that only moves elements, on each dtype; ONNX Runtime lacks some of them."""
    for name, dtype in DTYPES.items():
        kind, given = onnx_type(dtype), {"a": array(dtype, 2, 3), "b": array(dtype, 4), "c": array(dtype)}
        case(f"move_{name}", [constant("at", np.int64(-2)), node("SequenceConstruct", "a b", "s"), node("SequenceInsert", "s c at", "t"),
                              node("SequenceErase", "t at", "u"), node("SequenceAt", "t at", "y"), node("SequenceLength", "t", "n")],
             {k: tensor(kind, v.shape) for k, v in given.items()},
             {"t": sequence(kind), "u": sequence(kind), "y": tensor(kind), "n": tensor(INT64, [])}, given)
        given = {"s": [array(dtype, 2, 3), array(dtype, 1, 3), array(dtype, 0, 3)]}
        case(f"concat_{name}", [node("ConcatFromSequence", "s", "y", axis=0)], {"s": sequence(kind)}, {"y": tensor(kind)}, given,
             expected=[np.concatenate(given["s"])])
        given = {"x": array(dtype, 3, 5)}
        case(f"split_{name}", [constant("two", np.int64(2)), node("SplitToSequence", "x two", "s", axis=-1)], {"x": tensor(kind, [3, 5])},
             {"s": sequence(kind)}, given, expected=[[given["x"][:, :2], given["x"][:, 2:4], given["x"][:, 4:]]])
    halves = lambda *v: helper.make_tensor("", BFLOAT16, [len(v)], v)
    case("split_bfloat16", [constant("two", np.int64(2)), node("SplitToSequence", "x two", "s")], {"x": tensor(BFLOAT16, [3])},
         {"s": sequence(BFLOAT16)}, {"x": halves(1, -2.5, 3e30)}, expected=[[halves(1, -2.5), halves(3e30)]], opset=24)


def make_places():
    three = {"s": [array(np.float32, i + 1) for i in range(3)]}
    for at in (-3, -1, 0, 2):
        case(f"at_{at}", [constant("at", np.int64(at)), node("SequenceAt", "s at", "y")], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)},
             three)
        case(f"erase_{at}", [constant("at", np.int64(at)), node("SequenceErase", "s at", "y")], {"s": sequence(FLOAT)},
             {"y": sequence(FLOAT)}, three)
    for at in (-3, -1, 0, 3):
        case(f"insert_{at}", [constant("at", np.int32(at)), node("SequenceInsert", "s x at", "y")],
             {"s": sequence(FLOAT), "x": tensor(FLOAT, [2, 1])}, {"y": sequence(FLOAT)}, {**three, "x": array(np.float32, 2, 1)})
    case("erase_last", [node("SequenceErase", "s", "y")], {"s": sequence(FLOAT)}, {"y": sequence(FLOAT)}, three)
    case("insert_last", [node("SequenceInsert", "s x", "y")], {"s": sequence(FLOAT), "x": tensor(FLOAT, [])}, {"y": sequence(FLOAT)},
         {**three, "x": np.float32(7)})


def make_empty():
    one = {"x": array(np.float32, 2)}
    case("empty", [node("SequenceEmpty", "", "y"), node("SequenceLength", "y", "n")], {}, {"y": sequence(FLOAT), "n": tensor(INT64, [])}, {})
    case("empty_int32", [node("SequenceEmpty", "", "y", dtype=INT32)], {}, {"y": sequence(INT32)}, {})
    case("empty_text", [node("SequenceEmpty", "", "y", dtype=STRING)], {}, {"y": sequence(STRING)}, {})
    case("empty_insert", [node("SequenceEmpty", "", "s"), node("SequenceInsert", "s x", "y")], {"x": tensor(FLOAT, [2])},
         {"y": sequence(FLOAT)}, one)
    case("empty_erase", [node("SequenceConstruct", "x", "s"), node("SequenceErase", "s", "y")], {"x": tensor(FLOAT, [2])},
         {"y": sequence(FLOAT)}, one)
    case("empty_given", [node("SequenceLength", "s", "n")], {"s": sequence(FLOAT)}, {"n": tensor(INT64, [])}, {"s": []},
         expected=[np.int64(0)])
    case("empty_split", [node("SplitToSequence", "x", "s")], {"x": tensor(FLOAT, [0, 2])}, {"s": sequence(FLOAT)},
         {"x": np.zeros((0, 2), np.float32)}, expected=[[]])
    case("identity", [node("Identity", "s", "y")], {"s": sequence(INT64)}, {"y": sequence(INT64)}, {"s": [np.int64([1, 2]), np.int64(3)]})


def make_splits():
    x = {"x": array(np.float32, 4, 6)}
    for name, split in (("scalar", np.int64(4)), ("scalar_exact", np.int64(3)), ("scalar_long", np.int64(9)), ("lengths", np.int64([1, 3, 2])),
                        ("lengths_zero", np.int64([0, 6])), ("int32", np.int32([5, 1]))):
        for keep in (0, 1):
            case(f"split_{name}_{keep}", [constant("split", split), node("SplitToSequence", "x split", "s", axis=1, keepdims=keep)],
                 {"x": tensor(FLOAT, [4, 6])}, {"s": sequence(FLOAT)}, x)
    for keep in (0, 1):
        for axis in (0, 1, -2):
            case(f"split_each_{keep}_axis_{axis}", [node("SplitToSequence", "x", "s", axis=axis, keepdims=keep)], {"x": tensor(FLOAT, [4, 6])},
                 {"s": sequence(FLOAT)}, x)


def make_concats():
    s = {"s": [array(np.float32, 2, 3) for _ in range(3)]}
    for new in (0, 1):
        for axis in (-2 - new, -1, 0, 1, 2)[:4 + new]:
            case(f"concat_axis_{axis}_{new}", [node("ConcatFromSequence", "s", "y", axis=axis, new_axis=new)], {"s": sequence(FLOAT)},
                 {"y": tensor(FLOAT)}, s)
    case("concat_one", [node("ConcatFromSequence", "s", "y", axis=0)], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)}, {"s": s["s"][:1]})
    case("stack_scalars", [node("ConcatFromSequence", "s", "y", axis=0, new_axis=1)], {"s": sequence(INT64)}, {"y": tensor(INT64)},
         {"s": [np.array(i, np.int64) for i in range(4)]})


# ---- optionals

def make_optionals():
    x, s = {"x": array(np.float32, 2)}, {"s": [array(np.float32, 2), array(np.float32, 3)]}
    tensors, sequences = optional(tensor(FLOAT)), optional(sequence(FLOAT))
    both = {"y": None, "h": tensor(BOOL, [])}
    ask = [node("OptionalGetElement", "o", "y"), node("OptionalHasElement", "o", "h")]
    case("optional_tensor", [node("Optional", "x", "o"), *ask], {"x": tensor(FLOAT, [2])}, {**both, "y": tensor(FLOAT)}, x)
    case("optional_sequence", [node("Optional", "s", "o"), *ask], {"s": sequence(FLOAT)}, {**both, "y": sequence(FLOAT)}, s)
    case("optional_given", ask, {"o": tensors}, {**both, "y": tensor(FLOAT)}, {"o": x["x"]})
    case("optional_given_sequence", ask, {"o": sequences}, {**both, "y": sequence(FLOAT)}, {"o": s["s"]})
    case("optional_given_empty", [node("OptionalHasElement", "o", "h")], {"o": tensors}, {"h": tensor(BOOL, [])}, {"o": None},
         expected=[np.array(False)])
    for name, kind, value in (("", tensors, x["x"]), ("_sequence", sequences, s["s"]), ("_empty", sequences, None)):
        case(f"optional_identity{name}", [node("Identity", "o", "y")], {"o": kind}, {"y": kind}, {"o": value}, expected=[value])
    case("optional_out", [node("Optional", "x", "o")], {"x": tensor(FLOAT, [2])}, {"o": tensors}, x, expected=[x["x"]])
    case("optional_out_sequence", [node("Optional", "s", "o")], {"s": sequence(FLOAT)}, {"o": sequences}, s, expected=[s["s"]])
    case("optional_out_empty", [node("Optional", "", "o", type=tensor(FLOAT))], {}, {"o": tensors}, {}, expected=[None])
    case("optional_has_tensor", [node("OptionalHasElement", "x", "h")], {"x": tensor(FLOAT, [2])}, {"h": tensor(BOOL, [])}, x)
    case("optional_has_nothing", [helper.make_node("OptionalHasElement", [], ["h"])], {}, {"h": tensor(BOOL, [])}, {},
         expected=[np.array(False)])
    case("optional_get_tensor", [node("OptionalGetElement", "x", "y")], {"x": tensor(FLOAT, [2])}, {"y": tensor(FLOAT)}, x)


# ---- in bodies of control flow

def make_bodies():
    x, s = {"x": array(np.float32, 2)}, {"s": [array(np.float32, 2), array(np.float32, 2)]}
    full = graph([node("Optional", "x", "f")], {}, {"f": optional(tensor(FLOAT))}, "full")
    none = graph([node("Optional", "", "e", type=tensor(FLOAT))], {}, {"e": optional(tensor(FLOAT))}, "none")
    for c in (True, False):
        case(f"if_optional_{c}".lower(), [node("If", "c", "o", then_branch=full, else_branch=none), node("OptionalHasElement", "o", "h")],
             {"c": tensor(BOOL, []), "x": tensor(FLOAT, [2])}, {"h": tensor(BOOL, [])}, {"c": np.array(c), **x}, expected=[np.array(c)])
        more = graph([node("SequenceInsert", "s x", "m")], {}, {"m": sequence(FLOAT)}, "more")
        same = graph([node("Identity", "s", "k")], {}, {"k": sequence(FLOAT)}, "same")
        case(f"if_sequence_{c}".lower(), [node("If", "c", "y", then_branch=more, else_branch=same)],
             {"c": tensor(BOOL, []), **{"s": sequence(FLOAT), "x": tensor(FLOAT, [2])}}, {"y": sequence(FLOAT)}, {"c": np.array(c), **s, **x})
    head = {"i": tensor(INT64, []), "on": tensor(BOOL, [])}
    grow = graph([node("Identity", "on", "still"), node("Cast", "i", "f", to=FLOAT), node("Add", "x f", "v"),
                  node("SequenceInsert", "t v", "u")], {**head, "t": sequence(FLOAT)}, {"still": tensor(BOOL, []), "u": sequence(FLOAT)}, "grow")
    for n in (0, 3):
        case(f"loop_sequence_{n}", [node("SequenceEmpty", "", "e"), node("Loop", "n  e", "y", body=grow)],
             {"n": tensor(INT64, []), "x": tensor(FLOAT, [2])}, {"y": sequence(FLOAT)}, {"n": np.array(n, np.int64), **x})
    fill = graph([node("Identity", "on", "still"), node("OptionalHasElement", "t", "had"), node("Optional", "x", "u"),
                  node("Identity", "had", "scan")], {**head, "t": optional(tensor(FLOAT))},
                 {"still": tensor(BOOL, []), "u": optional(tensor(FLOAT)), "scan": tensor(BOOL, [])}, "fill")
    case("loop_optional", [node("Optional", "", "e", type=tensor(FLOAT)), node("Loop", "n  e", "o h", body=fill),
                           node("OptionalGetElement", "o", "y")], {"n": tensor(INT64, []), "x": tensor(FLOAT, [2])},
         {"h": tensor(BOOL), "y": tensor(FLOAT)}, {"n": np.array(3, np.int64), **x}, expected=[np.array([False, True, True]), x["x"]])


def make_maps():
    s = {"s": [array(np.float32, 2, 3), array(np.float32, 1, 3), array(np.float32, 0, 3)]}
    t = {"t": [array(np.float32, 3) for _ in range(3)]}
    one = {"e": tensor(FLOAT)}
    case("map", [node("SequenceMap", "s", "y", body=graph([node("Neg", "e", "f")], one, {"f": tensor(FLOAT)}))], {"s": sequence(FLOAT)},
         {"y": sequence(FLOAT)}, s)
    two = graph([node("Add", "e d", "f"), node("Shape", "e", "k")], {**one, "d": tensor(FLOAT)}, {"f": tensor(FLOAT), "k": tensor(INT64)})
    case("map_two", [node("SequenceMap", "s t", "y z", body=two)], {"s": sequence(FLOAT), "t": sequence(FLOAT)},
         {"y": sequence(FLOAT), "z": sequence(INT64)}, {**s, **t})
    case("map_tensor", [node("SequenceMap", "s x", "y z", body=two)], {"s": sequence(FLOAT), "x": tensor(FLOAT, [3])},
         {"y": sequence(FLOAT), "z": sequence(INT64)}, {**s, "x": t["t"][0]})
    captured = graph([node("Mul", "e x", "f")], one, {"f": tensor(FLOAT)})
    case("map_captured", [node("SequenceMap", "s", "y", body=captured)], {"s": sequence(FLOAT), "x": tensor(FLOAT, [3])},
         {"y": sequence(FLOAT)}, {**s, "x": t["t"][0]}, expected=[[v * t["t"][0] for v in s["s"]]])
    case("map_empty", [node("SequenceMap", "s", "y", body=captured)], {"s": sequence(FLOAT), "x": tensor(FLOAT, [3])},
         {"y": sequence(FLOAT)}, {"s": [], "x": t["t"][0]}, expected=[[]])


# ---- what is refused

def make_refused_nodes():
    s, x = {"s": [array(np.float32, 2), array(np.float32, 3)]}, {"x": array(np.float32, 2)}
    for at in (-3, 2):
        refuse(f"at_{at}", [constant("at", np.int64(at)), node("SequenceAt", "s at", "y")], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)}, s)
        refuse(f"erase_{at}", [constant("at", np.int64(at)), node("SequenceErase", "s at", "y")], {"s": sequence(FLOAT)},
               {"y": sequence(FLOAT)}, s)
    for at in (-3, 3):
        refuse(f"insert_{at}", [constant("at", np.int64(at)), node("SequenceInsert", "s x at", "y")],
               {"s": sequence(FLOAT), "x": tensor(FLOAT, [2])}, {"y": sequence(FLOAT)}, {**s, **x})
    refuse("at_empty", [constant("at", np.int64(0)), node("SequenceAt", "s at", "y")], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)},
           {"s": []})
    refuse("erase_empty", [node("SequenceErase", "s", "y")], {"s": sequence(FLOAT)}, {"y": sequence(FLOAT)}, {"s": []})
    refuse("concat_empty", [node("ConcatFromSequence", "s", "y", axis=0)], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)}, {"s": []})
    refuse("concat_axis", [node("ConcatFromSequence", "s", "y", axis=1)], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)}, s)
    refuse("concat_shapes", [node("ConcatFromSequence", "s", "y", axis=0, new_axis=1)], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)}, s)
    for name, split in (("zero", np.int64(0)), ("negative", np.int64(-1)), ("sum", np.int64([1, 2])), ("length", np.int64([3, -1]))):
        refuse(f"split_{name}", [constant("split", split), node("SplitToSequence", "x split", "s")], {"x": tensor(FLOAT, [2])},
               {"s": sequence(FLOAT)}, x)
    refuse("split_axis", [node("SplitToSequence", "x", "s", axis=1)], {"x": tensor(FLOAT, [2])}, {"s": sequence(FLOAT)}, x)
    refuse("split_scalar", [node("SplitToSequence", "x", "s")], {"x": tensor(FLOAT, [])}, {"s": sequence(FLOAT)}, {"x": np.float32(1)})
    refuse("construct_mixed", [node("Cast", "x", "i", to=INT64), node("SequenceConstruct", "x i", "s")], {"x": tensor(FLOAT, [2])},
           {"s": sequence(FLOAT)}, x)
    refuse("insert_mixed", [node("Cast", "x", "i", to=INT64), node("SequenceInsert", "s i", "t")],
           {"s": sequence(FLOAT), "x": tensor(FLOAT, [2])}, {"t": sequence(FLOAT)}, {**s, **x})
    refuse("tensor_as_sequence", [node("SequenceLength", "x", "n")], {"x": tensor(FLOAT, [2])}, {"n": tensor(INT64, [])}, x)
    refuse("sequence_as_tensor", [node("Neg", "s", "y")], {"s": sequence(FLOAT)}, {"y": tensor(FLOAT)}, s)
    refuse("get_nothing", [node("Optional", "", "o", type=tensor(FLOAT)), node("OptionalGetElement", "o", "y")], {}, {"y": tensor(FLOAT)}, {})
    body = graph([node("Add", "e d", "f")], {"e": tensor(FLOAT), "d": tensor(FLOAT)}, {"f": tensor(FLOAT)})
    refuse("map_lengths", [node("SequenceMap", "s t", "y", body=body)], {"s": sequence(FLOAT), "t": sequence(FLOAT)}, {"y": sequence(FLOAT)},
           {**s, "t": s["s"][:1]})
    refuse("map_counts", [node("SequenceMap", "s", "y", body=body)], {"s": sequence(FLOAT)}, {"y": sequence(FLOAT)}, s)


def nested(depth):
    """A sequence in a sequence in ..., without making the messages."""
    data = SequenceProto(elem_type=SequenceProto.TENSOR).SerializeToString()
    for _ in range(depth):
        size, length = len(data), b""
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        data = bytes([SequenceProto.SEQUENCE_VALUES_FIELD_NUMBER << 3 | 2]) + length + bytes([size]) + data
    return data


def make_refused_files():
    kinds = {"sequence": sequence(FLOAT), "optional": optional(tensor(FLOAT)), "optional_sequence": optional(sequence(FLOAT)),
             "tensor": tensor(FLOAT)}
    floats = [np.float32([1, 2]), np.float32([3])]
    whole = proto(floats, "s", sequence(FLOAT))

    def file(name, kind, data):
        out = kinds[kind]
        refuse(f"file_{name}", [node("Identity", "s", "y")], {"s": out}, {"y": out}, {"s": data})

    file("tensor_for_sequence", "sequence", array_proto(floats[0], "s").SerializeToString())
    file("sequence_for_tensor", "tensor", whole)
    file("sequence_for_optional", "optional", proto(floats, "s", optional(sequence(FLOAT))))
    file("tensor_for_optional_sequence", "optional_sequence", proto(floats[0], "s", optional(tensor(FLOAT))))
    file("other_dtype", "sequence", proto([np.int64([1])], "s", sequence(INT64)))
    file("mixed_dtypes", "sequence", proto([floats[0], np.int64([1])], "s", sequence(FLOAT)))
    for i in (1, 12, len(whole) - 1):
        file(f"truncated_{i}", "sequence", whole[:i])
    file("nested", "sequence", nested(1))
    file("nested_deeply", "sequence", nested(20000))
    file("garbage", "sequence", bytes(range(1, 200)))
    sparse = SequenceProto(elem_type=SequenceProto.SPARSE_TENSOR)
    sparse.sparse_tensor_values.add(values=array_proto(floats[0], ""), indices=array_proto(np.int64([0, 3]), ""), dims=[4])
    file("sparse", "sequence", sparse.SerializeToString())
    maps = SequenceProto(elem_type=SequenceProto.MAP)
    maps.map_values.add(key_type=INT64, keys=[1], values=SequenceProto(elem_type=SequenceProto.TENSOR, tensor_values=[array_proto(floats[0][:1], "")]))
    file("maps", "sequence", maps.SerializeToString())
    maps.map_values[0].keys.append(2)
    file("maps_keys", "sequence", maps.SerializeToString())
    maps.map_values[0].values.tensor_values.append(array_proto(floats[0], ""))
    file("maps_values", "sequence", maps.SerializeToString())
    inner = OptionalProto(elem_type=OptionalProto.OPTIONAL)
    inner.optional_value.CopyFrom(OptionalProto(elem_type=OptionalProto.UNDEFINED))
    file("optional_of_optional", "optional", inner.SerializeToString())
    short = array_proto(floats[0], "")
    short.raw_data = short.raw_data[:5]
    file("short_element", "sequence", SequenceProto(elem_type=SequenceProto.TENSOR, tensor_values=[short]).SerializeToString())
    huge = TensorProto(data_type=FLOAT, dims=[1 << 40, 1 << 40])
    file("huge_element", "sequence", SequenceProto(elem_type=SequenceProto.TENSOR, tensor_values=[huge]).SerializeToString())


for folder in ("sequences", "sequences_refused"):
    shutil.rmtree(folder, ignore_errors=True)
for make in (make_dtypes, make_places, make_empty, make_splits, make_concats, make_optionals, make_bodies, make_maps, make_refused_nodes,
             make_refused_files):
    make()

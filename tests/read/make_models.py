#!/usr/bin/env python3
"""Makes the models that the tests of the reader read.

Each case is a folder beside this script (or under the folder named as the argument) with
model.onnx, the external data files it has, and `about`: one line that says what is special or
wrong. A case that must be read has test_data_set_0/ in the layout of ONNX's backend tests, so that
not only the reading but also the values are tested. Needs the onnx Python package (1.17) and numpy;
same input, same bytes. No case says what message the program must give: that is the test's.

The messages are built field by field, not with onnx.helper, so that each file holds just the field
that its case is about, and so that wrong models can be made at all.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

OPSET = 21
IR = 10

# Sample values for each element type: extremes, signs, and what a wrong width or sign would break.
SAMPLES = {
    "FLOAT": np.array([1.5, -0.0, 3.4028235e38, 1e-45, -np.inf, 0.1], np.float32),
    "DOUBLE": np.array([0.1, -2.5, 1.7976931348623157e308, 5e-324], np.float64),
    "INT8": np.array([-128, -1, 0, 127], np.int8),
    "INT16": np.array([-32768, -1, 0, 32767], np.int16),
    "INT32": np.array([-(2**31), -1, 0, 2**31 - 1], np.int32),
    "INT64": np.array([-(2**63), -1, 0, 2**63 - 1], np.int64),
    "UINT8": np.array([0, 1, 128, 255], np.uint8),
    "UINT16": np.array([0, 1, 32768, 65535], np.uint16),
    "UINT32": np.array([0, 1, 2**31, 2**32 - 1], np.uint32),
    "UINT64": np.array([0, 1, 2**63, 2**64 - 1], np.uint64),
    "BOOL": np.array([True, False, False, True]),
    "FLOAT16": np.array([1.5, -0.0, 65504.0, 6e-8, -np.inf], np.float16),
    # Bit patterns: 1, -2, the largest finite value, the smallest subnormal, minus infinity.
    "BFLOAT16": np.array([0x3F80, 0xC000, 0x7F7F, 0x0001, 0xFF80], np.uint16),
    "COMPLEX64": np.array([1 + 2j, -0.5 - 3j], np.complex64),
    "COMPLEX128": np.array([1 + 2j, -0.5 - 3j], np.complex128),
    # Bit patterns: zero, one, the largest finite value, its negative.
    "FLOAT8E4M3FN": np.array([0x00, 0x38, 0x7E, 0xFE], np.uint8),
    "FLOAT8E4M3FNUZ": np.array([0x00, 0x40, 0x7F, 0xFF], np.uint8),
    "FLOAT8E5M2": np.array([0x00, 0x3C, 0x7B, 0xFB], np.uint8),
    "FLOAT8E5M2FNUZ": np.array([0x00, 0x40, 0x7F, 0xFF], np.uint8),
    # Four bits each, here one a byte; an odd count, so that the last byte is half filled.
    "UINT4": np.array([0, 1, 8, 15, 7], np.uint8),
    "INT4": np.array([0, 1, 8, 15, 7], np.uint8),  # 0, 1, -8, -1, 7
}
PLAIN = [name for name in SAMPLES if not name.startswith(("COMPLEX", "FLOAT8", "UINT4", "INT4"))]
COMPLEX = ["COMPLEX64", "COMPLEX128"]
SMALL = [name for name in SAMPLES if name.startswith(("FLOAT8", "UINT4", "INT4"))]

CASES = {}  # name -> (one line for `about`, function that takes the case's folder)


def case(name, about):
    """Registers the decorated function, which writes the case's files, under NAME."""

    def register(make):
        assert name not in CASES, name
        CASES[name] = (about, make)
        return make

    return register


# Parts of a message


def value_info(name, dtype=TensorProto.FLOAT, dims=(2,)):
    return onnx.helper.make_tensor_value_info(name, dtype, dims)


def node(op, inputs, outputs, domain="", **attributes):
    """A node named after its first output; attributes are values or whole AttributeProtos."""
    made = NodeProto(op_type=op, input=inputs, output=outputs, name=f"make_{outputs[0]}")
    if domain:
        made.domain = domain
    for name, value in attributes.items():
        if not isinstance(value, AttributeProto):
            value = onnx.helper.make_attribute(name, value)
        made.attribute.append(value)
    return made


def model(nodes, inputs, outputs, weights=(), sparse=(), ir=IR, opset=OPSET):
    graph = GraphProto(
        name="test",
        node=nodes,
        input=inputs,
        output=outputs,
        initializer=weights,
        sparse_initializer=sparse,
    )
    made = ModelProto(ir_version=ir, graph=graph, producer_name="make_models")
    made.opset_import.add(domain="", version=opset)
    return made


def packed(dtype, values):
    """The bytes of raw_data: little endian, four-bit elements two a byte, low half first."""
    if dtype in ("UINT4", "INT4"):
        halves = np.append(values, [0] * (len(values) % 2)).astype(np.uint8)
        values = halves[0::2] | halves[1::2] << 4
    return values.tobytes()


def raw_tensor(name, dtype, values, dims=None):
    return TensorProto(
        name=name,
        data_type=TensorProto.DataType.Value(dtype),
        dims=values.shape if dims is None else dims,
        raw_data=packed(dtype, values),
    )


def floats(name, values):
    return raw_tensor(name, "FLOAT", np.array(values, np.float32))


def typed_tensor(name, dtype, values):
    """The same as raw_tensor, with the elements in the field that onnx.proto gives to DTYPE."""
    made = TensorProto(name=name, data_type=TensorProto.DataType.Value(dtype), dims=values.shape)
    if dtype in ("UINT4", "INT4"):
        made.int32_data.extend(packed(dtype, values))  # two elements an entry
    elif dtype == "FLOAT16":
        made.int32_data.extend(values.view(np.uint16).tolist())
    elif dtype in ("FLOAT", "COMPLEX64"):
        made.float_data.extend(values.view(np.float32).tolist())
    elif dtype in ("DOUBLE", "COMPLEX128"):
        made.double_data.extend(values.view(np.float64).tolist())
    elif dtype == "INT64":
        made.int64_data.extend(values.tolist())
    elif dtype in ("UINT32", "UINT64"):
        made.uint64_data.extend(values.tolist())
    else:
        made.int32_data.extend(values.astype(np.int32).tolist())
    return made


def string_tensor(name, values, dims):
    return TensorProto(name=name, data_type=TensorProto.STRING, dims=dims, string_data=values)


def external_tensor(name, dims, dtype=TensorProto.FLOAT, **entries):
    """A tensor whose data lies elsewhere: location, offset, length, checksum as they are given."""
    made = TensorProto(
        name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL
    )
    for key, value in entries.items():
        made.external_data.add(key=key, value=str(value))
    return made


def sparse_tensor(name, values, indices, index_dims, dims):
    """A SparseTensorProto; the name of the dense tensor is that of its values."""
    return onnx.SparseTensorProto(
        values=floats(name, values),
        indices=raw_tensor("", "INT64", np.array(indices, np.int64).reshape(index_dims)),
        dims=dims,
    )


# Whole cases


def save(folder, made):
    data = made if isinstance(made, bytes) else made.SerializeToString(deterministic=True)
    (folder / "model.onnx").write_bytes(data)


def save_tensor(folder, kind, number, tensor):
    data_set = folder / "test_data_set_0"
    data_set.mkdir(exist_ok=True)
    path = data_set / f"{kind}_{number}.pb"
    path.write_bytes(tensor.SerializeToString(deterministic=True))


def save_outputs(folder, tensors):
    for number, tensor in enumerate(tensors):
        save_tensor(folder, "output", number, tensor)


def sum_model(weight_names, weights, sparse=(), nodes=(), x=(1.0, 2.0), **options):
    """y = x + each of WEIGHT_NAMES in turn, all float32 of the shape of X."""
    chain, last = list(nodes), "x"
    for number, name in enumerate(weight_names):
        output = "y" if number + 1 == len(weight_names) else f"sum_{number}"
        chain.append(node("Add", [last, name], [output]))
        last = output
    dims = np.shape(x)
    inputs, outputs = [value_info("x", dims=dims)], [value_info("y", dims=dims)]
    return model(chain, inputs, outputs, weights, sparse, **options)


def save_sum(folder, made, total, x=(1.0, 2.0)):
    """A sum_model and its data set: input X, output X + TOTAL."""
    save(folder, made)
    save_tensor(folder, "input", 0, floats("x", x))
    y = np.array(x, np.float32) + np.array(total, np.float32)
    save_outputs(folder, [floats("y", y)])


def save_identities(folder, tensors, expected):
    """A model that gives each of TENSORS out again; EXPECTED are the same in raw_data."""
    nodes = [node("Identity", [t.name], [f"out_{t.name}"]) for t in tensors]
    outputs = [value_info(f"out_{t.name}", t.data_type, t.dims) for t in tensors]
    save(folder, model(nodes, [], outputs, tensors))
    for tensor in expected:
        tensor.name = f"out_{tensor.name}"
    save_outputs(folder, expected)


def register_data_fields():
    """One case per field of TensorProto, with every element type that may use it."""
    fields = {
        "float_data": ["FLOAT"],
        "int32_data": [
            *("INT32", "INT16", "INT8", "UINT16", "UINT8", "BOOL", "FLOAT16", "BFLOAT16")
        ],
        "int64_data": ["INT64"],
        "double_data": ["DOUBLE"],
        "uint64_data": ["UINT32", "UINT64"],
        "complex_data": COMPLEX,
        "int32_data_small": SMALL,
    }

    def add(name, about, build, dtypes):
        @case(name, about)
        def make(folder):
            tensors = [build(d.lower(), d, SAMPLES[d]) for d in dtypes]
            save_identities(folder, tensors, [raw_tensor(d.lower(), d, SAMPLES[d]) for d in dtypes])

    typed = "initializers in typed fields"
    for field, dtypes in fields.items():
        add(field, f"{typed}: {', '.join(dtypes).lower()}", typed_tensor, dtypes)
    raw = "initializers in raw_data"
    add("raw_data", f"{raw}: every common element type", raw_tensor, PLAIN)
    add("raw_data_complex", f"{raw}: complex64 and complex128", raw_tensor, COMPLEX)
    add("raw_data_small", f"{raw}: the types of eight and four bits, odd count", raw_tensor, SMALL)


register_data_fields()


@case("string_data", "a string initializer: plain, empty, with a zero byte, UTF-8")
def string_data(folder):
    values = [b"plain", b"", b"a\0b", "gr\u00fc\u00df".encode()]
    save_identities(
        folder, [string_tensor("text", values, [2, 2])], [string_tensor("text", values, [2, 2])]
    )


@case("scalar_and_empty", "initializers without dims (one element) and with a dim of zero")
def scalar_and_empty(folder):
    def tensors():
        return [
            floats("scalar", 2.5),
            raw_tensor("empty", "FLOAT", np.zeros((0, 3), np.float32)),
            TensorProto(name="bare", data_type=TensorProto.INT64, dims=[0]),
        ]

    save_identities(folder, tensors(), tensors())


def register_constants():
    """One case per form in which a Constant node holds its value."""
    dense = np.array([[0, 1.5, 0], [-2, 0, 0]], np.float32)
    names = [b"one", b"two"]
    forms = {
        "value": (floats("", dense), floats("y", dense)),
        "value_float": (2.5, floats("y", 2.5)),
        "value_floats": ([1.0, -2.5], floats("y", [1.0, -2.5])),
        "value_int": (-7, raw_tensor("y", "INT64", np.array(-7))),
        "value_ints": ([2**40, -1], raw_tensor("y", "INT64", np.array([2**40, -1]))),
        "value_string": (b"text", string_tensor("y", [b"text"], [])),
        "value_strings": (names, string_tensor("y", names, [2])),
        "sparse_value": (sparse_tensor("", [1.5, -2], [1, 3], [2], [2, 3]), floats("y", dense)),
    }

    def add(form, value, expected):
        @case(f"constant_{form}", f"a Constant node with the attribute {form}")
        def make(folder):
            output = value_info("y", expected.data_type, expected.dims)
            nodes = [
                node("Constant", [], ["constant"], **{form: value}),
                node("Identity", ["constant"], ["y"]),
            ]
            save(folder, model(nodes, [], [output]))
            save_outputs(folder, [expected])

    for form, (value, expected) in forms.items():
        add(form, value, expected)


register_constants()


@case("sparse_linear", "a sparse initializer whose indices are linear: [NNZ]")
def sparse_linear(folder):
    sparse = sparse_tensor("w", [1.5, -2], [1, 3], [2], [2, 3])
    zeros = np.zeros((2, 3), np.float32)
    made = sum_model(["w"], [], [sparse], x=zeros)
    save_sum(folder, made, [[0, 1.5, 0], [-2, 0, 0]], x=zeros)


@case("sparse_coordinates", "a sparse initializer whose indices are coordinates: [NNZ,rank]")
def sparse_coordinates(folder):
    sparse = sparse_tensor("w", [1.5, -2], [0, 1, 1, 0], [2, 2], [2, 3])
    zeros = np.zeros((2, 3), np.float32)
    made = sum_model(["w"], [], [sparse], x=zeros)
    save_sum(folder, made, [[0, 1.5, 0], [-2, 0, 0]], x=zeros)


# External data


def write_weights(folder, *parts, name="weights.bin"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(parts))


def float_bytes(*values):
    return np.array(values, np.float32).tobytes()


@case("external_unaligned", "external data at offset 3, length given")
def external_unaligned(folder):
    w = external_tensor("w", [2], location="weights.bin", offset=3, length=8)
    write_weights(folder, b"pad", float_bytes(10, 20), b"tail")
    save_sum(folder, sum_model(["w"], [w]), [10, 20])


@case("external_shared", "two tensors in one external file, the second before the first")
def external_shared(folder):
    a = external_tensor("a", [2], location="weights.bin", offset=8, length=8)
    b = external_tensor("b", [2], location="weights.bin", offset=0, length=8)
    write_weights(folder, float_bytes(1, 2), float_bytes(10, 20))
    save_sum(folder, sum_model(["a", "b"], [a, b]), [11, 22])


@case("external_no_length", "external data without length, and without offset")
def external_no_length(folder):
    a = external_tensor("a", [2], location="weights.bin", offset=8)
    b = external_tensor("b", [2], location="weights.bin")
    write_weights(folder, float_bytes(1, 2), float_bytes(10, 20))
    save_sum(folder, sum_model(["a", "b"], [a, b]), [11, 22])


@case("external_subfolder", "external data in a folder below the model's")
def external_subfolder(folder):
    w = external_tensor("w", [2], location="data/weights.bin", offset=0, length=8)
    write_weights(folder, float_bytes(10, 20), name="data/weights.bin")
    save_sum(folder, sum_model(["w"], [w]), [10, 20])


@case("external_constant", "external data of a Constant node's tensor")
def external_constant(folder):
    w = external_tensor("", [2], location="weights.bin", offset=4, length=8)
    write_weights(folder, b"skip", float_bytes(10, 20))
    save_sum(folder, sum_model(["w"], [], nodes=[node("Constant", [], ["w"], value=w)]), [10, 20])


@case("external_missing", "the external file does not exist")
def external_missing(folder):
    w = external_tensor("w", [2], location="weights.bin", offset=0, length=8)
    save(folder, sum_model(["w"], [w]))


@case("external_too_short", "the external file ends four bytes before the tensor does")
def external_too_short(folder):
    w = external_tensor("w", [2], location="weights.bin", offset=4, length=8)
    write_weights(folder, float_bytes(1, 2))
    save(folder, sum_model(["w"], [w]))


@case("external_offset_overflow", "offset + length of the external data overflows 64 bits")
def external_offset_overflow(folder):
    w = external_tensor("w", [2], location="weights.bin", offset=2**64 - 4, length=8)
    write_weights(folder, float_bytes(1, 2))
    save(folder, sum_model(["w"], [w]))


@case("external_bad_offset", "the offset of the external data is not a number")
def external_bad_offset(folder):
    w = external_tensor("w", [2], location="weights.bin", offset="4k", length=8)
    write_weights(folder, float_bytes(1, 2))
    save(folder, sum_model(["w"], [w]))


@case("external_wrong_length", "the length of the external data, 12, is not that of two floats")
def external_wrong_length(folder):
    w = external_tensor("w", [2], location="weights.bin", offset=0, length=12)
    write_weights(folder, float_bytes(1, 2, 3))
    save(folder, sum_model(["w"], [w]))


@case("external_no_location", "external data without a location")
def external_no_location(folder):
    save(folder, sum_model(["w"], [external_tensor("w", [2], offset=0, length=8)]))


@case("external_parent", "the external location ../make_models.py, which exists, leaves the folder")
def external_parent(folder):
    w = external_tensor("w", [2], location="../make_models.py", offset=0, length=8)
    save(folder, sum_model(["w"], [w]))


@case("external_parent_inside", "data/../../make_models.py, which exists, leaves the folder")
def external_parent_inside(folder):
    a = external_tensor("a", [2], location="data/weights.bin", offset=0, length=8)
    b = external_tensor("b", [2], location="data/../../make_models.py", offset=0, length=8)
    write_weights(folder, float_bytes(1, 2), name="data/weights.bin")
    save(folder, sum_model(["a", "b"], [a, b]))


@case("external_absolute", "the external location is absolute: /bin/sh, which exists")
def external_absolute(folder):
    w = external_tensor("w", [2], location="/bin/sh", offset=0, length=8)
    save(folder, sum_model(["w"], [w]))


@case("external_symlink", "the test links link.bin to ../make_models.py: it leaves the folder")
def external_symlink(folder):
    w = external_tensor("w", [2], location="link.bin", offset=0, length=8)
    save(folder, sum_model(["w"], [w]))


# Versions and inputs


def register_versions():
    def add(ir, opset):
        @case(f"ir_version_{ir}", f"IR version {ir}, opset {opset}")
        def make(folder):
            made = sum_model(["w"], [floats("w", [10, 20])], ir=ir, opset=opset)
            if ir < 4:  # before version 4 an initializer had to be an input too
                made.graph.input.append(value_info("w"))
            save_sum(folder, made, [10, 20])

    for ir, opset in {3: 7, 4: 9, 8: 17, 10: 21, 11: 23}.items():
        add(ir, opset)


register_versions()


@case("initializer_also_input", "IR 8: an initializer that is also an input, its default")
def initializer_also_input(folder):
    made = sum_model(["w"], [floats("w", [10, 20])], ir=8, opset=17)
    made.graph.input.append(value_info("w"))
    save_sum(folder, made, [10, 20])


@case("unknown_op", "an operator of a domain nobody knows: it can be read, not run")
def unknown_op(folder):
    made = model(
        [node("Frobnicate", ["x"], ["y"], domain="com.example", strength=3)],
        [value_info("x")],
        [value_info("y")],
    )
    made.opset_import.add(domain="com.example", version=1)
    save(folder, made)


@case("opset_missing", "no opset_import")
def opset_missing(folder):
    made = sum_model(["w"], [floats("w", [10, 20])])
    del made.opset_import[:]
    save(folder, made)


@case("opset_unknown", "opset 99 of ai.onnx, newer than any known")
def opset_unknown(folder):
    save(folder, sum_model(["w"], [floats("w", [10, 20])], opset=99))


# Files that are no model


@case("not_protobuf", "a text file")
def not_protobuf(folder):
    save(folder, b"This is a text file, not a model.\n")


@case("empty_file", "a file of zero bytes")
def empty_file(folder):
    save(folder, b"")


def cuttable():
    """A model whose file can be cut: nodes first, then 1 KB of initializer."""
    weight = np.arange(256, dtype=np.float32)
    data = sum_model(["w"], [floats("w", weight)], x=np.zeros(256)).SerializeToString(
        deterministic=True
    )
    return data, data.index(b"make_y"), data.index(weight.tobytes())


@case("truncated_initializer", "the file ends in the middle of an initializer's raw_data")
def truncated_initializer(folder):
    data, _, in_weight = cuttable()
    save(folder, data[: in_weight + 500])


@case("truncated_node", "the file ends in the middle of a node's name")
def truncated_node(folder):
    data, in_node, _ = cuttable()
    save(folder, data[: in_node + 3])


@case("no_graph", "a ModelProto without a graph")
def no_graph(folder):
    made = sum_model(["w"], [floats("w", [10, 20])])
    made.ClearField("graph")
    save(folder, made)


# Graphs that are none


@case("undefined_value", "a node takes the value 'ghost', which nobody makes")
def undefined_value(folder):
    save(folder, sum_model(["ghost"], []))


@case("undefined_output", "the graph gives the value 'ghost', which nobody makes")
def undefined_output(folder):
    made = sum_model(["w"], [floats("w", [10, 20])])
    made.graph.output.append(value_info("ghost"))
    save(folder, made)


@case("cycle", "two nodes take each other's output")
def cycle(folder):
    nodes = [node("Add", ["x", "y"], ["a"]), node("Relu", ["a"], ["y"])]
    save(folder, model(nodes, [value_info("x")], [value_info("y")]))


@case("duplicate_output", "two nodes make the value 'y'")
def duplicate_output(folder):
    nodes = [node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]
    save(folder, model(nodes, [value_info("x")], [value_info("y")]))


@case("duplicate_output_same_node", "one node makes the value 'y' twice")
def duplicate_output_same_node(folder):
    nodes = [node("Split", ["x"], ["y", "y"], axis=0, num_outputs=2)]
    save(folder, model(nodes, [value_info("x")], [value_info("y", dims=(1,))]))


@case("duplicate_initializer", "two initializers have the name 'w'")
def duplicate_initializer(folder):
    save(folder, sum_model(["w"], [floats("w", [1, 2]), floats("w", [3, 4])]))


@case("duplicate_initializer_sparse", "an initializer and a sparse initializer have the name 'w'")
def duplicate_initializer_sparse(folder):
    sparse = sparse_tensor("w", [1], [0], [1], [2])
    save(folder, sum_model(["w"], [floats("w", [1, 2])], [sparse]))


@case("duplicate_initializer_output", "a node makes the value 'w', which is an initializer")
def duplicate_initializer_output(folder):
    extra = node("Relu", ["x"], ["w"])
    save(folder, sum_model(["w"], [floats("w", [1, 2])], nodes=[extra]))


@case("duplicate_input", "the graph takes the value 'x' twice")
def duplicate_input(folder):
    made = sum_model(["w"], [floats("w", [1, 2])])
    made.graph.input.append(value_info("x"))
    save(folder, made)


# Tensors that are none


@case("unknown_dtype", "an initializer of data_type 99")
def unknown_dtype(folder):
    w = floats("w", [1, 2])
    w.data_type = 99
    save(folder, sum_model(["w"], [w]))


@case("undefined_dtype", "an initializer of data_type 0, undefined")
def undefined_dtype(folder):
    w = floats("w", [1, 2])
    w.data_type = TensorProto.UNDEFINED
    save(folder, sum_model(["w"], [w]))


@case("unknown_input_dtype", "a graph input of elem_type 99")
def unknown_input_dtype(folder):
    made = sum_model(["w"], [floats("w", [1, 2])])
    made.graph.input[0].type.tensor_type.elem_type = 99
    save(folder, made)


@case("raw_data_length", "raw_data of 8 bytes where the dims [3] of a float tensor need 12")
def raw_data_length(folder):
    w = raw_tensor("w", "FLOAT", np.array([1, 2], np.float32), dims=[3])
    save(folder, sum_model(["w"], [w]))


@case("float_data_count", "float_data of 2 elements where the dims are [3]")
def float_data_count(folder):
    w = typed_tensor("w", "FLOAT", np.array([1, 2], np.float32))
    w.dims[0] = 3
    save(folder, sum_model(["w"], [w]))


@case("wrong_data_field", "a float tensor with its elements in int64_data")
def wrong_data_field(folder):
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], int64_data=[1, 2])
    save(folder, sum_model(["w"], [w]))


@case("dims_overflow", "the product of the dims [4294967296,4294967296] overflows 64 bits")
def dims_overflow(folder):
    w = raw_tensor("w", "FLOAT", np.zeros(0, np.float32), dims=[2**32, 2**32])
    save(folder, sum_model(["w"], [w]))


@case("dims_overflow_bytes", "2^62 elements are countable in 64 bits, their 2^64 bytes are not")
def dims_overflow_bytes(folder):
    w = raw_tensor("w", "FLOAT", np.zeros(0, np.float32), dims=[2**31, 2**31])
    save(folder, sum_model(["w"], [w]))


@case("negative_dim", "an initializer with the dims [-2]")
def negative_dim(folder):
    w = floats("w", [1, 2])
    w.dims[0] = -2
    save(folder, sum_model(["w"], [w]))


@case("sparse_index_range", "a sparse initializer of 6 elements has the linear index 6")
def sparse_index_range(folder):
    sparse = sparse_tensor("w", [1.5, -2], [1, 6], [2], [2, 3])
    save(folder, sum_model(["w"], [], [sparse], x=np.zeros((2, 3))))


# Subgraphs


def wrapped(field, payload):
    """PAYLOAD as the length-delimited protobuf field number FIELD."""
    head, size = bytes([field << 3 | 2]), len(payload)
    while size > 127:
        head += bytes([size & 127 | 128])
        size >>= 7
    return head + bytes([size]) + payload


def nested_if(levels):
    """The bytes of a model with LEVELS of If, each in the then_branch of the one around it.

    Joined by hand: protobuf's own libraries give up at a depth of 100 messages, here 33 levels.
    Each branch gives 't', the graph input 'x' passed on; names may recur in branches side by side
    but not inside one another, so each level's value has its number.
    """

    def output(name):
        typed = name == "t0"  # the main graph's; a branch's output may go without a type
        made = value_info(name, dims=()) if typed else onnx.ValueInfoProto(name=name)
        return made.SerializeToString(deterministic=True)

    def branch(name, *nodes):
        return b"".join(wrapped(1, n) for n in nodes) + wrapped(2, b"g") + wrapped(12, output(name))

    def leaf(name):
        made = NodeProto(op_type="Neg", input=["x"], output=[name])
        return branch(name, made.SerializeToString(deterministic=True))

    def attribute(name, graph):
        head = AttributeProto(name=name, type=AttributeProto.GRAPH)
        return wrapped(5, head.SerializeToString(deterministic=True) + wrapped(6, graph))

    inner = leaf(f"t{levels}")
    for level in reversed(range(levels)):
        made = NodeProto(op_type="If", input=["c"], output=[f"t{level}"])
        head = made.SerializeToString(deterministic=True)
        branches = attribute("then_branch", inner), attribute("else_branch", leaf(f"e{level}"))
        inner = branch(f"t{level}", head + b"".join(branches))
    inputs = value_info("x", dims=()), value_info("c", TensorProto.BOOL, ())
    graph = inner + b"".join(wrapped(11, i.SerializeToString(deterministic=True)) for i in inputs)
    head = ModelProto(ir_version=IR)
    head.opset_import.add(domain="", version=OPSET)
    return head.SerializeToString(deterministic=True) + wrapped(7, graph)


def register_nesting():
    def add(name, about, levels):
        @case(name, about)
        def make(folder):
            save(folder, nested_if(levels))
            save_tensor(folder, "input", 0, floats("x", 3))
            save_tensor(folder, "input", 1, raw_tensor("c", "BOOL", np.array(True)))
            save_outputs(folder, [floats("t0", -3)])

    add("nesting", "If in If, 8 levels deep", 8)
    # ONNX's own type inference takes time exponential in the depth and does not come back here.
    add("nesting_deep", "If in If, 30 levels deep", 30)


register_nesting()


@case("nesting_too_deep", "If in If, 200 levels deep, beyond what is read")
def nesting_too_deep(folder):
    save(folder, nested_if(200))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root.parent if root.is_file() else root
    for name, (about, make) in CASES.items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        (folder / "about").write_text(about + "\n")


if __name__ == "__main__":
    main()

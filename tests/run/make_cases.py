#!/usr/bin/env python3
"""Makes the cases of `ampconv run`: for each a folder beside this script (or under the folder named as the argument)
with `args`, the model and the data files that the arguments name, and `about`, one line that says what the case is about.
What the program must print and return is not made here: those files are written by hand or reviewed (tests/run.sh).

The models compute what is exact in float32 on every machine. Needs the onnx Python package (1.17) and numpy; same input,
same bytes.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
node = helper.make_node
root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent


def value(name, dtype, *dims):
    """A graph input or output; no dims at all (None) is an unknown rank."""
    return helper.make_tensor_value_info(name, dtype, None if dims == (None,) else dims)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, initializers=(), ir=8, opset=17):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("example.org", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def reused_result(x):
    """Of the model below."""
    c = np.abs(x) - x
    return c - 2 * c * np.abs(c)


# ---- models

def double():
    """y = 2 x, of any number of rows."""
    return model([node("Add", ["x", "x"], ["y"])], [value("x", FLOAT, "rows", 3)], [value("y", FLOAT, "rows", 3)])


def reused():
    """Elementwise operators that may write where they read, and some that may not: c and x are needed later."""
    return model([node("Neg", ["x"], ["a"]), node("Abs", ["a"], ["b"]), node("Sub", ["b", "x"], ["c"]), node("Neg", ["c"], ["d"]),
                  node("Abs", ["d"], ["e"]), node("Mul", ["c", "e"], ["f"]), node("Add", ["f", "f"], ["g"]), node("Sub", ["c", "g"], ["y"])],
                 [value("x", FLOAT, "rows", 3)], [value("y", FLOAT, "rows", 3)])


def two_inputs():
    return model([node("Add", ["left", "right"], ["sum"])],
                 [value("left", FLOAT, 2), value("right", FLOAT, 2)], [value("sum", FLOAT, 2)])


def lookup():
    """Row numbers of a table of ten rows, and a mask that multiplies the rows."""
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    return model([node("Gather", ["table", "ids"], ["rows"]), node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
                  node("Unsqueeze", ["mask", "last"], ["column"]), node("Mul", ["rows", "column"], ["masked"])],
                 [value("ids", INT64, "batch", "length"), value("attention_mask", INT64, "batch", "length")],
                 [value("masked", FLOAT, "batch", "length", 2)],
                 [constant("table", table), constant("last", np.array([2]))])


def root_of():
    """y = sqrt x: NaN for what is negative."""
    return model([node("Sqrt", ["x"], ["y"])], [value("x", FLOAT, 3)], [value("y", FLOAT, 3)])


def many_outputs():
    return model([node("Identity", ["x"], [f"y{i}"]) for i in range(7)], [value("x", FLOAT, 2)],
                 [value(f"y{i}", FLOAT, 2) for i in range(7)])


def many_inputs():
    names = [f"x{i}" for i in range(5)]
    return model([node("Sum", names, ["y"])], [value(name, FLOAT, 2) for name in names], [value("y", FLOAT, 2)])


def with_initializers(ir):
    """Two initializers that are listed as inputs: constants up to IR version 3, defaults from 4 on."""
    return model([node("Mul", ["x", "scale"], ["scaled"]), node("Add", ["scaled", "shift"], ["y"])],
                 [value("scale", FLOAT, 1), value("x", FLOAT, 2), value("shift", FLOAT, 1)], [value("y", FLOAT, 2)],
                 [constant("scale", np.array([2], np.float32)), constant("shift", np.array([1], np.float32))], ir=ir, opset=8 if ir == 3 else 17)


def halves():
    """bfloat16 inside, float32 outside."""
    return model([node("Cast", ["x"], ["half"], to=TensorProto.BFLOAT16), node("Add", ["half", "half"], ["twice"]),
                  node("Cast", ["twice"], ["y"], to=FLOAT)], [value("x", FLOAT, 2)], [value("y", FLOAT, 2)])


def counter():
    return model([node("Add", ["n", "n"], ["m"])], [value("n", INT32, 2)], [value("m", INT32, 2)])


def scores(ending=()):
    """Class scores that are the input."""
    return model([node("Identity", ["x"], ["scores"])], [value("x", FLOAT, "n", 3, *ending)], [value("scores", FLOAT, "n", 3, *ending)])


def slashes():
    return model([node("Identity", ["x"], ["/a/b"]), node("Add", ["x", "x"], ["_a_b"])], [value("x", FLOAT, 2)],
                 [value("/a/b", FLOAT, 2), value("_a_b", FLOAT, 2)])


def text():
    return model([node("Identity", ["x"], ["y"])], [value("x", TensorProto.STRING, 2)], [value("y", TensorProto.STRING, 2)])


def no_rank():
    return model([node("Identity", ["x"], ["y"])], [value("x", FLOAT, None)], [value("y", FLOAT, None)])


def sequence():
    tensors = helper.make_tensor_sequence_value_info("x", FLOAT, [2])
    return model([node("SequenceLength", ["x"], ["y"])], [tensors], [value("y", INT64)])


def unknown_op():
    return model([node("Mystery", ["x"], ["y"], domain="example.org", name="what")], [value("x", FLOAT, 2)], [value("y", FLOAT, 2)])


# ---- cases

def npy(*values, dtype=np.float32, shape=None):
    array = np.array(values, dtype)
    return array if shape is None else array.reshape(shape)


def data_set(inputs, outputs):
    """The files of a test_data_set folder."""
    files = {f"input_{i}.pb": array for i, array in enumerate(inputs)}
    files.update({f"output_{i}.pb": array for i, array in enumerate(outputs)})
    return files


def folder_of(**sets):
    return {f"{name}/{file}": array for name, files in sets.items() for file, array in files.items()}


A, B = npy(1, 2, 3, shape=(1, 3)), npy(4, 5, 6, shape=(1, 3))
PAIR = folder_of(test_data_set_0=data_set([A], [2 * A]), test_data_set_1=data_set([B], [2 * B]))
IN_DATA = {f"data/{path}": array for path, array in PAIR.items()}
NEAR = npy(2.5, 4, 6, shape=(1, 3))
SIGNED = npy(-3, 2, -1, shape=(1, 3))
ROWS = npy(1, 2, 3, 6, 5, 4, shape=(2, 3))  # top classes 2 and 0

CASES = {
    # inputs: random
    "random": ("normal numbers", double(), "run model.onnx", {}),
    "random_rows": ("a symbolic dim, several samples, another seed", double(), "run model.onnx --dim rows=2 --samples 3 --seed 7", {}),
    "random_ids": ("integers within the table they index, a mask of ones", lookup(), "run model.onnx --dim length=4", {}),
    "random_many": ("three notes, then only how many more", many_inputs(), "run model.onnx", {}),
    "random_bytes": ("nothing of strings but their number", text(), "run model.onnx", {}),
    "random_sequence": ("an input that is no tensor", sequence(), "run model.onnx", {}),
    "random_no_rank": ("no shape to make values in", no_rank(), "run model.onnx", {}),
    "dim_unknown": ("a misspelled dim", double(), "run model.onnx --dim row=2", {}),
    "dim_none": ("there are no symbolic dims", two_inputs(), "run model.onnx --dim batch=2", {}),
    "dim_no_number": ("a size that is none", double(), "run model.onnx --dim rows=two", {}),
    "samples_zero": ("no sample at all", double(), "run model.onnx --samples 0", {}),
    # inputs: files
    "input_npy": ("one input from NumPy", double(), "run model.onnx --input x=x.npy", {"x.npy": B}),
    "input_pb": ("one input as TensorProto", double(), "run model.onnx -i x=x.pb", {"x.pb": A}),
    "input_float64": ("NumPy's usual float type", double(), "run model.onnx -i x=x.npy", {"x.npy": A.astype(np.float64)}),
    "input_int64_fits": ("NumPy's usual integer type", counter(), "run model.onnx -i n=n.npy", {"n.npy": npy(1, -2, dtype=np.int64)}),
    "input_int64_too_large": ("an integer beyond the model's type", counter(), "run model.onnx -i n=n.npy", {"n.npy": npy(1, 2**40, dtype=np.int64)}),
    "input_wrong_type": ("integers for floats", double(), "run model.onnx -i x=x.npy", {"x.npy": npy(1, 2, 3, dtype=np.int32, shape=(1, 3))}),
    "input_wrong_shape": ("four columns for three", double(), "run model.onnx -i x=x.npy", {"x.npy": npy(1, 2, 3, 4, shape=(1, 4))}),
    "input_near_name": ("a misspelled input", two_inputs(), "run model.onnx -i rihgt=x.npy", {"x.npy": A}),
    "input_far_name": ("an input that is nothing like it", two_inputs(), "run model.onnx -i temperature=x.npy", {"x.npy": A}),
    "input_twice": ("the same input again", double(), "run model.onnx -i x=x.npy -i x=x.npy", {"x.npy": A}),
    "input_missing": ("one of two inputs", two_inputs(), "run model.onnx -i left=x.npy", {"x.npy": npy(1, 2)}),
    "input_no_file": ("a file that is not there", double(), "run model.onnx -i x=none.npy", {}),
    "input_no_value": ("a name without a file", double(), "run model.onnx -i x", {}),
    "input_no_npy": ("a file that is no array", double(), "run model.onnx -i x=x.npy", {"x.npy": b"1, 2, 3\n"}),
    "input_no_ending": ("a file of an unknown kind", double(), "run model.onnx -i x=x.txt", {"x.txt": b"1, 2, 3\n"}),
    "input_constant": ("an initializer that IR version 3 lists as an input", with_initializers(3), "run model.onnx -i scale=x.npy", {"x.npy": npy(1)}),
    "input_default": ("only what has no default must be given", with_initializers(8), "run model.onnx -i x=x.npy", {"x.npy": npy(1, 2)}),
    "input_override": ("a default is replaced", with_initializers(8), "run model.onnx -i x=x.npy -i scale=s.npy", {"x.npy": npy(1, 2), "s.npy": npy(10)}),
    # inputs: data
    "data_sets": ("two samples with expected outputs", double(), "run model.onnx --data data", IN_DATA),
    "data_limited": ("the first of two samples", double(), "run model.onnx --data data --samples 1", IN_DATA),
    "data_files": ("the files of one sample in the folder itself", double(), "run model.onnx --data data", {f"data/{k}": v for k, v in data_set([A], [2 * A]).items()}),
    "data_reused": ("results in the memory of operands that nobody needs any more", reused(), "run model.onnx --data data",
                    {f"data/{k}": v for k, v in data_set([SIGNED], [reused_result(SIGNED)]).items()}),
    "data_npz": ("arrays by name, of inputs and of outputs", double(), "run model.onnx --data data", {"data/a.npz": {"x": B, "y": 2 * B}}),
    "data_npz_unknown": ("an array that is nothing of the model's", double(), "run model.onnx --data data", {"data/a.npz": {"x": B, "z": B}}),
    "data_mismatch": ("a second sample that is not as expected", double(), "run model.onnx --data data",
                      {**IN_DATA, "data/test_data_set_1/output_0.pb": 2 * A}),
    "data_tolerance": ("off, but within the tolerance that is asked for", double(), "run model.onnx --data data -t rtol=0.25",
                       {f"data/{k}": v for k, v in data_set([A], [NEAR]).items()}),
    "data_lacks_input": ("one of two inputs", two_inputs(), "run model.onnx --data data", {"data/input_0.pb": npy(1, 2)}),
    "data_with_input": ("one input of the sample, the other given", two_inputs(), "run model.onnx --data data -i right=r.npy",
                        {"data/input_0.pb": npy(1, 2), "r.npy": npy(10, 20)}),
    "data_surplus": ("more inputs than the model has", double(), "run model.onnx --data data", {"data/input_0.pb": A, "data/input_1.pb": A}),
    "data_constants": ("IR version 3: constants have no file", with_initializers(3), "run model.onnx --data data",
                       {f"data/{k}": v for k, v in data_set([npy(1, 2)], [npy(3, 5)]).items()}),
    "data_defaults": ("defaults may have a file", with_initializers(8), "run model.onnx --data data",
                      {f"data/{k}": v for k, v in data_set([npy(10), npy(1, 2), npy(5)], [npy(15, 25)]).items()}),
    "data_empty": ("a folder without samples", double(), "run model.onnx --data data", {"data/readme": b""}),
    "data_no_folder": ("no folder", double(), "run model.onnx --data data", {}),
    # expected outputs
    "expect_names": ("files by output names, characters replaced, the second of a kind numbered", slashes(), "run model.onnx -i x=x.npy --expect want",
                     {"x.npy": npy(1, 2), "want/_a_b.npy": npy(1, 2), "want/_a_b.1.npy": npy(2, 4)}),
    "expect_mismatch": ("the worst element is named", double(), "run model.onnx -i x=x.npy --expect want", {"x.npy": A, "want/y.npy": NEAR}),
    "expect_type": ("another type", double(), "run model.onnx -i x=x.npy --expect want", {"x.npy": A, "want/output_0.pb": NEAR.astype(np.int64)}),
    "expect_metric": ("a metric in place of elements", double(), "run model.onnx -i x=x.npy --expect want -t snr=20", {"x.npy": A, "want/y.npy": NEAR}),
    "expect_metric_outside": ("a metric that is not met", double(), "run model.onnx -i x=x.npy --expect want -t snr=30 -t cosine=0.9",
                              {"x.npy": A, "want/y.npy": NEAR}),
    "expect_nothing": ("a folder with nothing of the model's", double(), "run model.onnx -i x=x.npy --expect want", {"x.npy": A, "want/z.npy": A}),
    "expect_too_few": ("one expected sample for two", double(), "run model.onnx --data data --expect want", {**IN_DATA, "want/y.npy": 2 * A}),
    "tolerance_unknown": ("a misspelled metric", double(), "run model.onnx -t cosin=0.9", {}),
    "tolerance_no_number": ("a bound that is none", double(), "run model.onnx -t snr=high", {}),
    # labels
    "labels": ("right answers counted", scores(), "run model.onnx -i x=x.npy --labels l.npy", {"x.npy": ROWS, "l.npy": npy(2, 1, dtype=np.int64)}),
    "labels_bytes": ("labels as bytes, scores with trailing dims of 1", scores((1, 1)), "run model.onnx -i x=x.npy --labels l.npy",
                     {"x.npy": ROWS.reshape(2, 3, 1, 1), "l.npy": npy(2, 0, dtype=np.uint8)}),
    "labels_too_few": ("one label for two rows", scores(), "run model.onnx -i x=x.npy --labels l.npy", {"x.npy": ROWS, "l.npy": npy(2, dtype=np.int64)}),
    "labels_too_many": ("three labels for two rows", scores(), "run model.onnx -i x=x.npy --labels l.npy", {"x.npy": ROWS, "l.npy": npy(2, 0, 0, dtype=np.int32)}),
    "labels_floats": ("labels that are no integers", scores(), "run model.onnx -i x=x.npy --labels l.npy", {"x.npy": ROWS, "l.npy": npy(2, 0)}),
    "labels_no_scores": ("no output for them", two_inputs(), "run model.onnx --labels l.npy", {"l.npy": npy(2, dtype=np.int64)}),
    # the rest
    "outputs_many": ("five lines of outputs", many_outputs(), "run model.onnx -i x=x.npy", {"x.npy": npy(1, 2)}),
    "outputs_nan": ("what is no number is counted", root_of(), "run model.onnx -i x=x.npy", {"x.npy": npy(-1, 4, np.inf)}),
    "quiet": ("nothing to say", double(), "run -q model.onnx", {}),
    "halves": ("a model in bfloat16", halves(), "run model.onnx -i x=x.npy", {"x.npy": npy(1, 2.5)}),
    "format_unknown": ("neither npy nor pb", double(), "run model.onnx --format csv", {}),
    "format_strings": ("strings become NumPy text", text(), "run model.onnx --output-dir out", {}),
    "unknown_op": ("an operator without a kernel", unknown_op(), "run model.onnx", {}),
}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        np.savez(path, **content)
    elif path.suffix == ".npy":
        np.save(path, content)
    else:
        path.write_bytes(numpy_helper.from_array(content, path.stem).SerializeToString())


for name, (about, proto, args, files) in CASES.items():
    if name not in ("unknown_op", "random_no_rank"):  # the checker wants operators and shapes declared
        onnx.checker.check_model(proto, full_check=True)
    write(root / name / "model.onnx", proto.SerializeToString())
    write(root / name / "args", (args + "\n").encode())
    write(root / name / "about", (about + "\n").encode())
    for path, content in files.items():
        write(root / name / path, content)

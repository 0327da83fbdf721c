#!/usr/bin/env python3
"""Holds the expected outputs of the operators' cases against their oracles once more: drift.py FOLDER...

FOLDER is a family of cases as `make cases` expands them, build/cases/ops/FAMILY. Every case that is not one to be refused is computed
by ONNX Runtime and, where that has no kernel, by ONNX's reference implementation; what neither can compute comes from PyTorch, NumPy or
by hand, as the family's opening comment says, and is counted. Prints a line for each case that differs by more than the tolerance of its
dtype, and the counts; exits 1 when a case differs that drift.txt does not name with the reason. Needs onnx, onnxruntime and numpy.
"""
import fnmatch
import glob
import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper, reference  # before ONNX Runtime, which registers operators of its own
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCES = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-9}
PLAIN = {onnx.TensorProto.DataType.Value(name) for name in
         "FLOAT DOUBLE INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL STRING".split()}
ALLOWED = [line.split("\t")[0] for line in open(os.path.join(HERE, "drift.txt"), encoding="utf-8") if not line.startswith("#")]


def load(path):
    """The tensor in the file PATH; None: it holds a sequence, an optional or a map."""
    tensor = onnx.TensorProto()
    try:
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        return numpy_helper.to_array(tensor)
    except Exception:  # of whatever kind: protobuf, onnx and numpy each have their own
        return None


def samples(folder):
    """For each set of test data its inputs by place, and its outputs."""
    for data in sorted(glob.glob(os.path.join(folder, "test_data_set_*"))):
        def of(kind, data=data):
            return {int(path[:-3].rsplit("_", 1)[1]): load(path) for path in glob.glob(os.path.join(data, kind + "_*.pb"))}
        yield of("input"), of("output")


def by_runtime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def by_reference(model, feeds):
    """Only for types that NumPy has: the others it rounds in ways of its own."""
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.elem_type not in PLAIN:
            raise TypeError(value.name)
    return reference.ReferenceEvaluator(model).run(None, feeds)


def computed(model, feeds):
    """The outputs and who computed them; None: nobody can."""
    for name, oracle in (("ONNX Runtime", by_runtime), ("the reference", by_reference)):
        try:
            return oracle(model, feeds), name
        except Exception:  # no kernel, no such type, no such version: the next one
            continue
    return None, None


def texts(array):
    return array.shape, [item.decode() if isinstance(item, bytes) else str(item) for item in array.flatten()]


def differs(found, expected):
    """What is wrong with FOUND; None: nothing."""
    if expected is None or not isinstance(found, (np.ndarray, np.generic)):
        return None  # sequences, maps and sparse tensors are not looked at
    found = np.asarray(found)
    if expected.dtype == object:
        return None if texts(found) == texts(expected) else "other strings"
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    tolerance = TOLERANCES.get(str(expected.dtype), 0)
    if np.issubdtype(expected.dtype, np.inexact):
        if np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True):
            return None
        with np.errstate(all="ignore"):
            return f"off by {np.nanmax(np.abs(found - expected))}"
    return None if np.array_equal(found, expected) else "other numbers"


def check(folder):
    """Who agrees with the case in FOLDER, or what differs."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    names = [value.name for value in model.graph.input]
    oracle = None
    for inputs, outputs in samples(folder):
        if any(value is None for value in inputs.values()):
            return None, None
        found, oracle = computed(model, {names[i]: value for i, value in inputs.items() if i < len(names)})
        if found is None:
            return None, None
        for i, expected in outputs.items():
            fault = differs(found[i], expected)
            if fault:
                return oracle, f"output {i}: {fault}"
    return oracle, None


def check_apart(folder):
    """What check says, from a process of its own: ONNX Runtime does not survive all of the cases."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, "\t".join(part or "" for part in check(folder)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(child, 0)
    oracle, fault = said.split("\t", 1) if said else ("", "")
    return oracle, fault


def main():
    warnings.simplefilter("ignore")
    counts, unexpected = {}, 0
    for family in sys.argv[1:]:
        for folder in sorted(glob.glob(os.path.join(family, "*", ""))):
            if os.path.exists(folder + "refused") or not os.path.exists(folder + "model.onnx"):
                continue
            name = "/".join(folder.rstrip("/").split("/")[-2:])
            oracle, fault = check_apart(folder)
            counts[oracle] = counts.get(oracle, 0) + 1
            if not fault:
                continue
            known = any(fnmatch.fnmatchcase(name, like) for like in ALLOWED)
            unexpected += not known
            print(f"{name}: {oracle}: {fault}{' (known)' if known else ''}")
    print(", ".join(f"{count} by {oracle or 'no oracle here'}" for oracle, count in counts.items()))
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())

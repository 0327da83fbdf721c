"""Makes the tables of what runtimes have operators for out of what their makers publish.

Usage: kernels.py ort-cpu|ort-cuda OperatorKernels.md >ort_cpu.inc, of onnxruntime's docs/, a release's (1.21.0 made the tables: the
                  release whose kernels the tests compare with)
       kernels.py tensorrt operators.md >tensorrt.inc, of onnx-tensorrt's docs/ (release 10.1-GA made the table)
       kernels.py openvino supported_ops.md >openvino.inc, of OpenVINO's src/frontends/onnx/docs/ (commit 0ae60f0ffec9 made the table)

Nothing but operators, versions, type variables and whether these may be float32, float16 and bfloat16 is taken over. A row is about
the versions of an operator, as since_version counts them, from one to another. ONNX Runtime takes a kernel without an end, 11+, for
version 11 alone, as it cannot know what a later version changes.
TensorRT's page says the opsets of all operators in its text; OpenVINO takes float16 and bfloat16 wherever it takes float32, as it
converts what it reads to the precision that the device computes in."""

import re
import sys

FLOATS = {"float": "F32", "float16": "F16", "bfloat16": "BF16"}
NEWEST = 99
INTERNAL = ("com.ms.internal.nhwc", "com.microsoft.nchwc")  # what graph optimisation makes, no model has
PROVIDERS = {"ort-cpu": "CPUExecutionProvider", "ort-cuda": "CUDAExecutionProvider"}


def versions_of(text):
    """"11+", "13" or "[7, 12]" as a pair of since_versions."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return numbers[0], numbers[-1]


def constraints_of(text):
    """{variable: set of float types} of "**T** = tensor(float), tensor(int64)<br/> **T1** = ..."; without such of no float."""
    found = {}
    for part in text.split("<br/>"):
        match = re.match(r"\s*\*\*(\w+)\*\* = (.*)", part)
        if match:
            floats = frozenset(FLOATS[name] for name in re.findall(r"tensor\((\w+)\)", match[2]) if name in FLOATS)
            if floats:
                found[match[1]] = floats
    return found


def kernels_of_ort(lines, provider):
    """(domain, operator, from, to, variable, floats) of the section of PROVIDER; variable None: there is no float."""
    inside, domain, operator = False, "", ""
    for line in lines:
        if line.startswith("## "):
            inside = provider in line
        cells = [cell.strip() for cell in line.strip().split("|")]
        if not inside or len(cells) < 6 or cells[1] in ("Op Name", "---------"):
            continue
        found = re.match(r"\*\*Operator Domain:\*\* \*(.*)\*", cells[1])
        if found:
            domain = "" if found[1] == "ai.onnx" else found[1]
            continue
        if domain in INTERNAL:
            continue
        operator = cells[1] or operator
        first, last = versions_of(cells[3])
        constraints = constraints_of(cells[4])
        for variable, floats in sorted(constraints.items()):
            yield domain, operator, first, last, variable, floats
        if not constraints:
            yield domain, operator, first, last, None, frozenset()


def kernels_of_tensorrt(lines):
    text = "".join(lines)
    opsets = re.search(r"opset (\d+) to opset (\d+)", text)
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 4 and cells[2] == "Y":
            floats = frozenset(name for name, word in (("F32", "FP32"), ("F16", "FP16"), ("BF16", "BF16"))
                               if word in re.split(r"[ ,]+", cells[3]))
            yield "", cells[1], 1, int(opsets[2]), None, floats


def kernels_of_openvino(lines):
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 4 and re.match(r"\d", cells[3]):
            yield cells[1], cells[2], min(int(number) for number in cells[3].split(",")), NEWEST, None, frozenset(FLOATS.values())


def merged(kernels):
    """The rows in the order of strcmp, those that say the same of neighbouring versions as one."""
    rows = {}
    for domain, operator, first, last, variable, floats in kernels:
        key = domain, operator, variable or ""
        rows.setdefault(key, {}).setdefault((first, last), set()).update(floats)
    for key in sorted(rows):
        done = []
        for (first, last), floats in sorted(rows[key].items()):
            if done and done[-1][2] == floats and first <= done[-1][1] + 1:
                done[-1] = done[-1][0], max(last, done[-1][1]), floats
            else:
                done.append((first, last, floats))
        for first, last, floats in done:
            yield key[0], key[1], first, last, key[2], floats


def main():
    kind, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    if kind in PROVIDERS:
        kernels = kernels_of_ort(lines, PROVIDERS[kind])
    else:
        kernels = {"tensorrt": kernels_of_tensorrt, "openvino": kernels_of_openvino}[kind](lines)
    print("/* Made by runtimes/gen/kernels.py, which says from what: facts, not to be edited. */")
    print("/* clang-format off */")
    for domain, operator, first, last, variable, floats in merged(kernels):
        mask = " | ".join(sorted(floats, key=["F32", "F16", "BF16"].index)) or "0"
        variable = f'"{variable}"' if variable else "NULL"
        print(f'{{"{domain}", "{operator}", {first}, {last}, {variable}, {mask}}},')


main()

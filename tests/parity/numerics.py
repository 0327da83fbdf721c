#!/usr/bin/env python3
"""Holds the error that the program's conversions make against the one that PyTorch's autocast makes, both against float32.

    numerics.py make FOLDER [NAME...]  exports the architectures with their weights, NAME.FORM.onnx, and writes samples of inputs with
                                       what PyTorch gives for them in float32 and under autocast; needs what record.py needs
    numerics.py run FOLDER PROGRAM     converts each under torch-cpu, in bf16, and torch-cuda, in fp16, and runs it on the samples
    numerics.py count FOLDER           prints how many times PyTorch's error the program's is for each, and the geometric means;
                                       needs what record.py needs

An error is the root of the mean square over the samples of a float output, as a part of the same of the output itself, and the root
of the mean square of that over the outputs. For CUDA, PyTorch's is what autocast.py computes without a GPU.
"""
import collections
import glob
import math
import os
import re
import shutil
import subprocess
import sys

DTYPES = {"cpu": "bf16", "cuda": "fp16"}
N_SAMPLES = 32


def samples(inputs):
    """N_SAMPLES tuples like INPUTS: the floats others of the same range, the integers in another order."""
    import torch

    def other(tensor, generator):
        if tensor.is_floating_point():
            return torch.rand(tensor.shape, generator=generator)
        return tensor.flatten()[torch.randperm(tensor.numel(), generator=generator)].view_as(tensor)

    for n in range(N_SAMPLES):
        generator = torch.Generator().manual_seed(n)
        yield tuple(other(tensor, generator) for tensor in inputs)


def flat(result):
    from torch.utils._pytree import tree_leaves

    import autocast

    return [autocast.real(tensor).detach().float().numpy() for tensor in tree_leaves(result)]


def make(folder, names):
    import logging
    import warnings

    import numpy as np
    import onnx
    from onnx import numpy_helper
    import torch

    import architectures
    import autocast
    import exports
    import record

    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    for name in names or architectures.ARCHITECTURES:
        architecture = architectures.ARCHITECTURES[name]
        program, calls = exports.program_of(architecture)
        for form, model, _ in exports.forms(architecture, program, calls, exports.FORMS):
            if not isinstance(model, Exception):
                exports.put_back(model, program.frames)
                os.makedirs(folder, exist_ok=True)
                onnx.save(model, os.path.join(folder, f"{name}.{form}.onnx"))
        for n, inputs in enumerate(samples(architecture.inputs)):
            place = os.path.join(folder, name, f"test_data_set_{n}")
            os.makedirs(place, exist_ok=True)
            for k, tensor in enumerate(inputs):
                with open(os.path.join(place, f"input_{k}.pb"), "wb") as file:
                    file.write(numpy_helper.from_array(tensor.numpy()).SerializeToString())
            with torch.no_grad():
                given = {"float32": flat(exports.fresh(architecture)(*inputs))}
            for device in DTYPES if name not in record.CPU_ONLY else ["cpu"]:
                module = exports.fresh(architecture)
                given[device] = flat(autocast.under_autocast(module, module, inputs, autocast.Recorder(device)))
            for way, outputs in given.items():
                np.savez(os.path.join(folder, name, f"{way}.{n}.npz"), *outputs)
        print(name, flush=True)


def run(folder, program):
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        name, form, _ = os.path.basename(path).split(".")
        for device, dtype in DTYPES.items():
            place = os.path.join(folder, "ours", f"{name}.{form}.{device}")
            shutil.rmtree(place, ignore_errors=True)
            os.makedirs(place)
            lower = os.path.join(place, "lower.onnx")
            words = [[program, path, "-q", "-d", dtype, "-r", f"torch-{device}", "--no-validate", "-o", lower]]
            for n in range(N_SAMPLES):
                data = os.path.join(folder, name, f"test_data_set_{n}")
                outputs = os.path.join(place, str(n))
                words.append([program, "run", "-q", lower, "--data", data, "--output-dir", outputs, "--format", "pb"])
            for command in words:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    print(f"{name}.{form} torch-{device}: exit {done.returncode}: {done.stderr.strip()[:160]}", flush=True)
                    break


def error(found, wanted):
    """Of lists of samples, each a list of outputs."""
    import numpy as np

    parts = []
    for k in range(len(wanted[0])):
        one, other = (np.stack([sample[k] for sample in many]).astype(np.float64) for many in (found, wanted))
        size = np.sqrt(np.mean(np.square(other)))
        parts.append(np.sqrt(np.mean(np.square(one - other))) / size if size > 0 else 0)
    return math.sqrt(sum(part * part for part in parts) / len(parts))


def recorded(folder, way):
    import numpy as np

    return [list(np.load(os.path.join(folder, f"{way}.{n}.npz")).values()) for n in range(N_SAMPLES)]


def ours(place, model):
    """What run wrote, in the order of the outputs of MODEL."""
    import onnx
    from onnx import numpy_helper

    names, found = [value.name for value in onnx.load(model).graph.output], []
    for n in range(N_SAMPLES):
        found.append([])
        for name in names:
            with open(os.path.join(place, str(n), re.sub(r"[/:]", "_", name) + ".pb"), "rb") as file:
                found[-1].append(numpy_helper.to_array(onnx.TensorProto.FromString(file.read())))
    return found


def count(folder):
    ratios = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        name, form, _ = os.path.basename(path).split(".")
        place = os.path.join(folder, name)
        wanted = recorded(place, "float32")
        for device in DTYPES:
            if not os.path.exists(os.path.join(place, f"{device}.0.npz")):
                continue
            try:
                made = error(ours(os.path.join(folder, "ours", f"{name}.{form}.{device}"), path), wanted)
            except (OSError, ValueError) as reason:
                print(f"{name}.{form}\ttorch-{device}\tnot run: {reason}")
                continue
            theirs = error(recorded(place, device), wanted)
            ratio = made / theirs if theirs > 0 else 1 if made == 0 else math.inf
            ratios[form, device].append(ratio)
            print(f"{name}.{form}\ttorch-{device}\t{made:.3g}\t{theirs:.3g}\t{ratio:.2f}{'  more' if ratio > 1.25 else ''}")
    for (form, device), found in sorted(ratios.items()):
        mean = math.exp(sum(math.log(max(ratio, 1e-3)) for ratio in found) / len(found))
        above = sum(ratio > 1.25 for ratio in found)
        print(f"{form} torch-{device}: geometric mean {mean:.2f} of {len(found)}, highest {max(found):.2f}, {above} above 1.25")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) >= 3:
        make(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["run"] and len(sys.argv) == 4:
        run(*sys.argv[2:])
    elif sys.argv[1:2] == ["count"] and len(sys.argv) == 3:
        count(sys.argv[2])
    else:
        sys.exit(__doc__)

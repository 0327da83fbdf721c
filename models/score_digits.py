#!/usr/bin/env python3
"""Prints the accuracy of a digits model on the held-out images, in percent: for ampconv --eval.

    ampconv models/digits_pedestal.onnx -d fp16 --data models/digits --tune \\
      --eval 'python3 models/score_digits.py {}' --max-drop 0.5% -o out.onnx

Needs numpy and ONNX Runtime, whose CPU provider runs float16 models but few of bfloat16's operators: a model that it cannot
load ends with exit code 125, "cannot tell".
"""

import pathlib
import sys

import numpy as np
import onnxruntime

CANNOT_TELL = 125


def main():
    here = pathlib.Path(__file__).resolve().parent / "digits"
    images = np.load(here / "digits.npz")["image"]
    labels = np.load(here / "labels.npy")
    try:
        session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
    except Exception as problem:
        print(problem, file=sys.stderr)
        sys.exit(CANNOT_TELL)
    (logits,) = session.run(["logits"], {"image": images})
    print(f"{100 * (logits.argmax(1) == labels).mean():.4f}")


if __name__ == "__main__":
    main()

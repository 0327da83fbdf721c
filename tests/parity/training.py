#!/usr/bin/env python3
"""Loss curves of training in PyTorch and here, from the same weights on the same batches.

    training.py record FOLDER      where torch (2.6) and scikit-learn are installed: gives FOLDER/NAME.onnx, untrained, its batches in
                                   FOLDER/batches, and FOLDER/NAME.DTYPE.txt, the losses of 50 steps of SGD with momentum and autocast and, for
                                   fp16, GradScaler, the scale behind each; on stdout the accuracy on the held-out digits
    training.py compare LOG TXT    how far apart a log of `ampconv train` and such losses are

    ampconv train FOLDER/NAME.onnx --make-training loss=cross_entropy,optimizer=momentum,lr=0.05 --data FOLDER/batches --steps 50 --log LOG

BatchNormalization keeps its statistics in both, as ampconv trains it.
"""

import json
import pathlib
import sys

import numpy as np

STEPS, BATCH, RATE = 50, 64, 0.05
DTYPES = ("fp32", "bf16", "fp16")
NAMES = ("digits_cnn", "digits_transformer")


def record(folder):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
    import torch
    import train_digits as digits

    (images, labels), (held, held_labels) = digits.load_split()
    order = np.concatenate([np.random.RandomState(e).permutation(len(labels)) for e in range(3)])
    batches = [order[i * BATCH : (i + 1) * BATCH] for i in range(STEPS)]
    (folder / "batches").mkdir(parents=True, exist_ok=True)
    np.savez(folder / "held.npz", image=held)
    np.save(folder / "held.npy", held_labels)
    for i, batch in enumerate(batches):
        np.savez(folder / "batches" / f"{i:02}.npz", image=images[batch], target=labels[batch])
    lower = {"bf16": torch.bfloat16, "fp16": torch.float16}
    for name in NAMES:
        for dtype in DTYPES:
            torch.manual_seed(digits.TRAIN_SEED)
            model = digits.MODELS[name]().eval()
            for tensor in (*model.parameters(), *model.buffers()):
                if tensor.ndim == 1 and tensor.is_floating_point():  # the exporter makes one initializer of equal ones
                    tensor.data += 0.01 * torch.rand_like(tensor)
            if dtype == "fp32":
                digits.export(model, folder / f"{name}.onnx")
            optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
            scaler = torch.amp.GradScaler("cpu", enabled=dtype == "fp16")
            lines = []
            for batch in batches:
                optimizer.zero_grad()
                with torch.autocast("cpu", dtype=lower.get(dtype, torch.bfloat16), enabled=dtype in lower):
                    scores = model(torch.from_numpy(images[batch]))
                    loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(labels[batch]))
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                lines.append(f"{float(loss):.6g} {scaler.get_scale():g}")
            (folder / f"{name}.{dtype}.txt").write_text("\n".join(lines) + "\n")
            right = digits.torch_accuracy(model, held, held_labels)[0]
            print(f"{name} {dtype}: {right:.2f} % after {STEPS} steps", flush=True)


def compare(log, recorded):
    ours = [json.loads(line)["loss"] for line in open(log)]
    theirs = [float(line.split()[0]) for line in open(recorded)]
    apart = np.abs(np.subtract(ours, theirs[: len(ours)]))
    print(f"{len(ours)} steps, losses {ours[0]:.4f} to {ours[-1]:.4f}: at most {apart.max():.2g} apart, {apart.mean():.2g} in the mean")


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"] and len(sys.argv) == 3:
        record(pathlib.Path(sys.argv[2]))
    elif sys.argv[1:2] == ["compare"] and len(sys.argv) == 4:
        compare(*sys.argv[2:])
    else:
        sys.exit(__doc__)

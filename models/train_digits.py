#!/usr/bin/env python3
"""Trains the digit classifiers of this folder and exports them to ONNX.

Gives, beside this script (or under --out): digits_cnn.onnx, digits_transformer.onnx,
digits_gru.onnx and digits_pedestal.onnx, the held-out images digits/digits.npz and their labels digits/labels.npy, the
others and theirs in digits_train/; on stdout
the held-out accuracy in fp32 and under PyTorch's CPU autocast to bfloat16. With --logits DIR it
also records what ONNX Runtime computes for the held-out images, as DIR/<model>_logits.npy.

Needs torch, onnx, scikit-learn and numpy; onnxruntime for --logits. No network: the images are
those that scikit-learn brings along. Same versions and same CPU give the same bytes.
"""

import argparse
import pathlib
import warnings

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from torch import nn

HELD_OUT = 360  # of 1797 images
SPLIT_SEED = 0
TRAIN_SEED = 1
OPSET = 17
EPOCHS = 120
BATCH = 64
PEAK_RATE = 4e-3


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with batch normalisation and a shortcut: [N,C,H,W] -> [N,C,H,W]."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(y)))


class Cnn(nn.Module):
    """Convolution, residual block, max pooling, convolution, global average, linear."""

    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            ResidualBlock(width),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.head = nn.Linear(2 * width, 10)

    def forward(self, image):
        return self.head(self.body(image))


class EncoderLayer(nn.Module):
    """Pre-norm transformer layer, self-attention then feed-forward: [N,T,D] -> [N,T,D]."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.feed = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def attend(self, x):
        count, tokens, width = x.shape
        qkv = self.qkv(x).reshape(count, tokens, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-2, -1) / (width // self.heads) ** 0.5
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.merge(mixed.transpose(1, 2).reshape(count, tokens, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


class Transformer(nn.Module):
    """The 16 patches of 2x2 pixels are the tokens; the mean over tokens is classified."""

    def __init__(self, width=48, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.position = nn.Parameter(0.1 * torch.randn(16, width))
        self.layers = nn.Sequential(*(EncoderLayer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, image):
        patches = image.reshape(-1, 4, 2, 4, 2).transpose(2, 3).reshape(-1, 16, 4)
        x = self.layers(self.embed(patches) + self.position)
        return self.head(self.norm(x).mean(dim=1))


class Gru(nn.Module):
    """A GRU reads the eight rows from the top; its last state is classified."""

    def __init__(self, width=80):
        super().__init__()
        self.gru = nn.GRU(8, width, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, image):
        _, state = self.gru(image.squeeze(1))
        return self.head(state[-1])


class PedestalCnn(nn.Module):
    """A classifier of raw counts: a camera's converter adds a pedestal that dwarfs the image.

    The first convolution takes the counts, and the normalisation behind it takes the pedestal
    away: what float32 holds there, 16-bit floats do not.
    """

    PEDESTAL, GAIN = 8000.0, 16.0

    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            ResidualBlock(width),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.head = nn.Linear(2 * width, 10)

    def forward(self, image):
        return self.head(self.body(image * self.GAIN + self.PEDESTAL))


MODELS = {
    "digits_cnn": Cnn,
    "digits_transformer": Transformer,
    "digits_gru": Gru,
    "digits_pedestal": PedestalCnn,
}


def load_split():
    """Images float32 [n,1,8,8] in 0..1 and labels int64 [n]: training part, held-out part."""
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    labels = data.target.astype(np.int64)
    order = np.random.RandomState(SPLIT_SEED).permutation(len(labels))
    held, rest = order[:HELD_OUT], order[HELD_OUT:]
    return (images[rest], labels[rest]), (images[held], labels[held])


def save(folder, images, labels):
    """Writes a part of the data as FOLDER/digits.npz and FOLDER/labels.npy."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "digits.npz", image=images)
    np.save(folder / "labels.npy", labels)


def shifted(images, generator):
    """Each image moved by -1, 0 or 1 pixel in both directions; zeros come in at the edge."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    windows = padded.unfold(2, 8, 1).unfold(3, 8, 1)[:, 0]  # [n,3,3,8,8]
    moves = torch.randint(0, 3, (2, len(images)), generator=generator)
    return windows[torch.arange(len(images)), moves[0], moves[1]][:, None]


def train(model, images, labels):
    """Trains in place on all of IMAGES and leaves MODEL in evaluation mode."""
    generator = torch.Generator().manual_seed(TRAIN_SEED)
    images, labels = torch.from_numpy(images), torch.from_numpy(labels)
    steps = EPOCHS * -(-len(labels) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=steps)
    model.train()
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(labels), generator=generator).split(BATCH):
            logits = model(shifted(images[batch], generator))
            loss = nn.functional.cross_entropy(logits, labels[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()


def accuracy(logits, labels):
    """Top-1 accuracy in percent."""
    return 100 * float((np.asarray(logits).argmax(1) == labels).mean())


def torch_accuracy(model, images, labels):
    """Top-1 accuracy in percent: in fp32, and under CPU autocast to bfloat16."""
    images = torch.from_numpy(images)
    with torch.no_grad():
        plain = model(images)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            lowered = model(images)
    return accuracy(plain, labels), accuracy(lowered.float(), labels)


def export(model, path):
    """Writes MODEL with a free batch dimension N; BatchNormalization stays a node of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on tracing and on folding: the outputs are verified
        torch.onnx.export(
            model,
            torch.zeros(2, 1, 8, 8),
            str(path),
            dynamo=False,
            opset_version=OPSET,
            # The default mode would fuse the normalisation into the convolution before it.
            training=torch.onnx.TrainingMode.PRESERVE,
            input_names=["image"],
            output_names=["logits"],
            dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}},
        )
    onnx.checker.check_model(str(path), full_check=True)


def record_logits(model_path, images, labels, path):
    """What ONNX Runtime gives for IMAGES, checked to be the same one by one, goes to PATH."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        str(model_path), options, providers=["CPUExecutionProvider"]
    )
    (logits,) = session.run(["logits"], {"image": images})
    single = [session.run(["logits"], {"image": images[i : i + 1]})[0] for i in range(len(images))]
    np.testing.assert_allclose(np.concatenate(single), logits, rtol=1e-4, atol=1e-4)
    np.save(path, logits)
    print(f"{model_path.stem}: ONNX Runtime {accuracy(logits, labels):.2f} %")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=here, help="where models and data go")
    parser.add_argument("--only", choices=MODELS, help="train and export one model")
    parser.add_argument("--logits", type=pathlib.Path, help="record ONNX Runtime's outputs here")
    args = parser.parse_args()

    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    training_set, (images, labels) = load_split()
    save(args.out / "digits", images, labels)
    save(args.out / "digits_train", *training_set)
    names = [args.only] if args.only else list(MODELS)
    for name in names:
        torch.manual_seed(TRAIN_SEED)
        model = MODELS[name]()
        train(model, *training_set)
        plain, lowered = torch_accuracy(model, images, labels)
        print(f"{name}: torch fp32 {plain:.2f} %, torch bf16 autocast {lowered:.2f} %", flush=True)
        export(model, args.out / f"{name}.onnx")
    if args.logits:
        args.logits.mkdir(parents=True, exist_ok=True)
        for name in names:
            record_logits(
                args.out / f"{name}.onnx", images, labels, args.logits / f"{name}_logits.npy"
            )


if __name__ == "__main__":
    main()

"""The architectures that record.py exports and runs: small, in inference mode, each with the inputs to run it on."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(y)))


class Cnn(nn.Module):
    """Convolutions with batch normalization and a shortcut."""
    inputs = (torch.rand(2, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.block = Residual(8)
        self.pool = nn.AvgPool2d(2)
        self.spread = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = self.spread(self.pool(self.block(self.stem(x))))
        return F.log_softmax(self.head(self.drop(torch.flatten(x, 1))), dim=-1)


class Squeeze(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = nn.Conv2d(width, width // 4, 1)
        self.up = nn.Conv2d(width // 4, width, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        y = F.relu(self.down(x.mean((2, 3), keepdim=True)))
        return x * self.gate(self.up(y))


class Inverted(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(width, 2 * width, 1, bias=False), nn.BatchNorm2d(2 * width), act())
        self.depth = nn.Sequential(nn.Conv2d(2 * width, 2 * width, 3, padding=1, groups=2 * width, bias=False),
                                   nn.BatchNorm2d(2 * width), act())
        self.squeeze = Squeeze(2 * width)
        self.project = nn.Sequential(nn.Conv2d(2 * width, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return x + self.project(self.squeeze(self.depth(self.expand(x))))


class MobileNet(nn.Module):
    """Depthwise separable convolutions, gates, ReLU6, HardSwish, PReLU."""
    inputs = (torch.rand(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.PReLU())
        self.blocks = nn.Sequential(Inverted(8, nn.ReLU6), Inverted(8, nn.Hardswish))
        self.head = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(), nn.Linear(16, 10))

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return torch.softmax(self.head(x.mean((2, 3))), -1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        if mask is not None:
            scores = scores + mask
        context = scores.softmax(-1) @ v
        return self.out(context.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    """After the layers of BERT, normalized behind the sum, or of ViT, before it."""

    def __init__(self, width, heads, is_first):
        super().__init__()
        self.is_first = is_first
        self.attention = Attention(width, heads)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.act, self.down = nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)

    def forward(self, x, mask=None):
        if self.is_first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.down(self.act(self.up(self.norm2(x))))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.down(self.act(self.up(x))))


class Bert(nn.Module):
    inputs = (torch.arange(10).view(1, 10) % 7, torch.ones(1, 10, dtype=torch.int64))

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(30, 16), nn.Embedding(10, 16)
        self.norm = nn.LayerNorm(16)
        self.layers = nn.ModuleList(Layer(16, 2, False) for _ in range(2))
        self.pooler, self.act, self.head = nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2)

    def forward(self, ids, mask):
        x = self.norm(self.words(ids) + self.places.weight)
        bias = (1.0 - mask.unsqueeze(1).unsqueeze(1).float()) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return self.head(self.act(self.pooler(x.select(1, 0))))


class Vit(nn.Module):
    inputs = (torch.rand(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, stride=4)
        self.token, self.places = nn.Parameter(torch.rand(1, 1, 16)), nn.Parameter(torch.rand(1, 17, 16))
        self.layers = nn.ModuleList(Layer(16, 2, True) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).select(1, 0))


class Causal(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.act = nn.Linear(width, 2 * width), nn.GELU(approximate="tanh")
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, -1)
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(context.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Gpt(nn.Module):
    """Scaled dot product attention as one call, the embedding as the last layer's weight."""
    inputs = (torch.arange(12).view(1, 12) % 11,)

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(30, 16), nn.Embedding(12, 16)
        self.layers = nn.ModuleList(Causal(16, 2) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 30, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids):
        x = self.words(ids) + self.places.weight
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Rnn(nn.Module):
    """LSTM and GRU, the latter in both directions."""
    inputs = (torch.rand(2, 6, 8),)

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.gru = nn.GRU(8, 8, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        x, _ = self.lstm(torch.tanh(self.embed(x)))
        x, _ = self.gru(x)
        return torch.sigmoid(self.head(x.select(1, -1)))


class Level(nn.Module):
    def __init__(self, here, there):
        super().__init__()
        self.conv, self.norm, self.act = nn.Conv2d(here, there, 3, padding=1), nn.GroupNorm(2, there), nn.SiLU()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Unet(nn.Module):
    """Down and up again: transposed convolution, interpolation, group normalization, concatenation."""
    inputs = (torch.rand(1, 1, 16, 16),)

    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = Level(1, 4), Level(4, 8), Level(8, 8)
        self.up, self.join2, self.join1 = nn.ConvTranspose2d(8, 8, 2, stride=2), Level(16, 4), Level(8, 4)
        self.norm, self.head = nn.InstanceNorm2d(4, affine=True), nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.one(x)
        b = self.two(F.max_pool2d(a, 2))
        c = self.three(F.avg_pool2d(b, 2))
        b = self.join2(torch.cat([b, self.up(c)], 1))
        b = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        a = self.join1(torch.cat([a, b], 1))
        return F.interpolate(self.head(self.norm(a)), scale_factor=2, mode="nearest").sigmoid()


class Lists(nn.Module):
    """Operators of autocast's lists that the others do not have, each on what an operator in the lower dtype gave, and around
    them some that are in no list."""
    inputs = (torch.rand(1, 2, 4, 8, 8), torch.rand(1, 2, 8, 8), torch.rand(2, 4, 8))

    def __init__(self):
        super().__init__()
        self.conv3d, self.conv2d, self.conv1d = nn.Conv3d(2, 2, 1), nn.Conv2d(2, 2, 1), nn.Conv1d(4, 4, 1)
        self.deconv1d, self.deconv3d = nn.ConvTranspose1d(4, 4, 1), nn.ConvTranspose3d(2, 2, 1)
        self.avg3d, self.max3d = nn.AvgPool3d(2), nn.MaxPool3d(2)
        self.adaptive3d = nn.AdaptiveAvgPool3d(1)
        self.reflect2d, self.replicate2d = nn.ReflectionPad2d(1), nn.ReplicationPad2d(1)
        self.reflect1d, self.replicate1d = nn.ReflectionPad1d(1), nn.ReplicationPad1d(1)
        self.zero2d, self.grid = nn.ZeroPad2d(1), nn.Parameter(torch.rand(1, 4, 4, 2))
        self.weight, self.target = nn.Parameter(torch.rand(2, 8, 3)), nn.Parameter(torch.rand(2, 4, 8))
        self.scale = nn.Parameter(torch.rand(8))

    def forward(self, volume, image, row):
        volume = self.deconv3d(self.conv3d(volume))
        image, row = self.conv2d(image), self.deconv1d(self.conv1d(row))
        return (self.avg3d(volume), self.max3d(volume), self.adaptive3d(volume), self.reflect2d(image), self.replicate2d(image),
                self.reflect1d(row), self.replicate1d(row), self.zero2d(image),
                F.grid_sample(image, self.grid, align_corners=False),
                row.prod(1), torch.einsum("bij,bjk->bik", row, self.weight), torch.baddbmm(self.weight.narrow(1, 0, 4), row, self.weight),
                torch.addmm(self.weight.select(0, 0).narrow(0, 0, 4), row.select(0, 0), self.weight.select(0, 0)), F.mse_loss(row, self.target),
                F.cross_entropy(row, torch.zeros(2, 8, dtype=torch.int64)), torch.stack([row, self.target]),
                torch.cat([row, self.target]), row.exp(), row.sum(1), torch.cumsum(row, 1), F.softplus(row), F.elu(row),
                row.pow(2), F.normalize(row, dim=1), row.abs().sqrt().log(), torch.where(row > 0, row, self.target),
                torch.maximum(row, self.target), row.topk(2)[0], row.amax(1), row.norm(dim=1), row * self.scale,
                row.clamp(-0.5, 0.5) + 0.5)


class Call(nn.Module):
    """A function as a module: its operators and nodes are then told from all others."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Apart(nn.Module):
    """Losses and other operators that the exporter takes apart or that CUDA's lists have, on what an operator in the lower dtype
    gave."""
    inputs = (torch.rand(4, 6),)
    functions = {
        "kl_div": F.kl_div, "nll_loss": lambda x, _: F.nll_loss(x, torch.zeros(4, dtype=torch.int64)),
        "bce": F.binary_cross_entropy_with_logits, "cdist": torch.cdist, "addcmul": lambda x, y: torch.addcmul(x, x, y),
        "atan2": torch.atan2, "pow": torch.pow, "softmin": lambda x, _: F.softmin(x, 1), "rsqrt": lambda x, _: torch.rsqrt(x),
        "reciprocal": lambda x, _: torch.reciprocal(x), "acos": lambda x, _: torch.acos(x), "tan": lambda x, _: torch.tan(x),
        "log1p": lambda x, _: torch.log1p(x), "log2": lambda x, _: torch.log2(x), "log10": lambda x, _: torch.log10(x),
        "layer_norm": lambda x, _: F.layer_norm(x, (6,)), "mish": lambda x, _: F.mish(x), "glu": lambda x, _: F.glu(x),
        "celu": lambda x, _: F.celu(x), "selu": lambda x, _: F.selu(x), "logsigmoid": lambda x, _: F.logsigmoid(x),
        "softsign": lambda x, _: F.softsign(x), "tanhshrink": lambda x, _: F.tanhshrink(x), "relu6": lambda x, _: F.relu6(x),
        "logsumexp": lambda x, _: torch.logsumexp(x, 1), "floor": lambda x, _: torch.floor(x), "sign": lambda x, _: torch.sign(x),
    }

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)
        for name, function in self.functions.items():
            self.add_module(name, Call(function))

    def forward(self, x):
        x, y = self.one(x), self.two(x)
        return tuple(getattr(self, name)(x, y) for name in self.functions)


MODELS = {"cnn": Cnn, "mobilenet": MobileNet, "bert": Bert, "vit": Vit, "gpt": Gpt, "rnn": Rnn, "unet": Unet, "lists": Lists,
          "apart": Apart}

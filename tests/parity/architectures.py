"""Architectures that users export, small, in inference mode, each with the inputs to run it on; one operator to a line where it
matters, so that a line tells which operator a node comes from."""
import math

import torch
from torch import nn
from torch.nn import functional as F


def seeded(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(sum(shape)))


class ConvNext(nn.Module):
    """Depthwise convolution, LayerNorm over channels last, GELU, a layer scale."""
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, stride=4)
        self.depth = nn.Conv2d(8, 8, 7, padding=3, groups=8)
        self.norm, self.up, self.down = nn.LayerNorm(8, eps=1e-6), nn.Linear(8, 16), nn.Linear(16, 8)
        self.act, self.scale = nn.GELU(), nn.Parameter(torch.full((8,), 0.1))
        self.last, self.head = nn.LayerNorm(8), nn.Linear(8, 10)

    def forward(self, x):
        x = self.stem(x)
        y = self.depth(x)
        y = self.norm(y.permute(0, 2, 3, 1))
        y = self.act(self.up(y))
        y = self.down(y)
        y = self.scale * y
        x = x + y.permute(0, 3, 1, 2)
        x = x.mean((-2, -1))
        return self.head(self.last(x))


class Swin(nn.Module):
    """Shifted windows with a bias for relative positions."""
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.patch, self.norm1, self.norm2 = nn.Conv2d(3, 8, 2, stride=2), nn.LayerNorm(8), nn.LayerNorm(8)
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.table = nn.Parameter(seeded(49, 2))
        self.register_buffer("places", (torch.arange(256) % 49).view(16, 16))
        self.merge, self.norm3, self.head = nn.Linear(32, 16, bias=False), nn.LayerNorm(32), nn.Linear(16, 4)

    def windows(self, x):
        batch, height, width, channels = x.shape
        x = x.view(batch, height // 4, 4, width // 4, 4, channels)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)

    def attention(self, x):
        q, k, v = self.qkv(x).reshape(-1, 16, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        q = q * 0.5
        scores = q @ k.transpose(-2, -1)
        bias = self.table[self.places.view(-1)].view(16, 16, 2).permute(2, 0, 1)
        scores = scores + bias.unsqueeze(0)
        scores = scores.softmax(-1)
        x = scores @ v
        return self.out(x.transpose(1, 2).reshape(-1, 16, 8))

    def forward(self, x):
        x = self.patch(x).permute(0, 2, 3, 1)
        y = torch.roll(self.norm1(x), (-2, -2), (1, 2))
        y = self.attention(self.windows(y)).view(1, 2, 2, 4, 4, 8)
        y = torch.roll(y.permute(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 8), (2, 2), (1, 2))
        x = x + y
        y = self.down(F.gelu(self.up(self.norm2(x))))
        x = x + y
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        x = self.merge(self.norm3(x))
        return self.head(x.mean((1, 2)))


class EfficientNet(nn.Module):
    """Inverted residuals with squeeze and excitation, SiLU."""
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.stem, self.bn0 = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8)
        self.expand, self.bn1 = nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16)
        self.depth, self.bn2 = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), nn.BatchNorm2d(16)
        self.reduce, self.restore = nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1)
        self.project, self.bn3 = nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = F.silu(self.bn0(self.stem(x)))
        y = F.silu(self.bn1(self.expand(x)))
        y = F.silu(self.bn2(self.depth(y)))
        s = F.adaptive_avg_pool2d(y, 1)
        s = F.silu(self.reduce(s))
        s = self.restore(s)
        s = torch.sigmoid(s)
        y = s * y
        x = x + self.bn3(self.project(y))
        x = F.adaptive_avg_pool2d(x, 1)
        return self.head(torch.flatten(x, 1))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + 1e-6)
        return self.weight * x


class T5(nn.Module):
    """Relative positions in buckets, RMSNorm by hand, attention without a scale, a decoder with cross attention."""
    inputs = (torch.arange(10).view(1, 10) % 7, torch.arange(6).view(1, 6) % 5)

    def __init__(self):
        super().__init__()
        self.words, self.table = nn.Embedding(20, 16), nn.Embedding(8, 2)
        self.norms = nn.ModuleList(RmsNorm(16) for _ in range(4))
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.cq, self.ck, self.cv, self.co = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.wi, self.wo = nn.Linear(16, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.head = nn.Linear(16, 20, bias=False)

    def bias(self, queries, keys):
        distance = torch.arange(keys).unsqueeze(0) - torch.arange(queries).unsqueeze(1)
        far = distance.abs()
        large = 2 + (torch.log(far.float() / 2) / math.log(4) * 2).to(torch.int64)
        large = torch.min(large, torch.full_like(large, 3))
        bucket = (distance > 0).long() * 4 + torch.where(far < 2, far, large)
        return self.table(bucket).permute(2, 0, 1).unsqueeze(0)

    def heads(self, x):
        return x.view(1, -1, 2, 8).transpose(1, 2)

    def attend(self, q, k, v, bias=None):
        scores = torch.matmul(self.heads(q), self.heads(k).transpose(3, 2))
        if bias is not None:
            scores = scores + bias
        weights = F.softmax(scores.float(), dim=-1).to(scores.dtype)
        x = torch.matmul(weights, self.heads(v))
        return x.transpose(1, 2).reshape(1, -1, 16)

    def forward(self, ids, target):
        x = self.words(ids)
        y = self.norms[0](x)
        y = self.o(self.attend(self.q(y), self.k(y), self.v(y), self.bias(10, 10)))
        x = x + y
        y = self.norms[1](x)
        y = self.wo(F.relu(self.wi(y)))
        x = x + y
        d = self.words(target)
        y = self.norms[2](d)
        y = self.co(self.attend(self.cq(y), self.ck(x), self.cv(x)))
        d = d + y
        d = self.norms[3](d)
        d = d * (16 ** -0.5)
        return self.head(d)


class Conformer(nn.Module):
    """Half-step feed forward, attention, convolution with GLU and BatchNorm."""
    inputs = (seeded(1, 12, 16),)

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.norm3, self.norm4 = (nn.LayerNorm(16) for _ in range(4))
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.point1, self.depth = nn.Conv1d(16, 32, 1), nn.Conv1d(16, 16, 5, padding=2, groups=16)
        self.point2 = nn.Conv1d(16, 16, 1)
        self.batch = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, 8)

    def forward(self, x):
        y = self.down(F.silu(self.up(self.norm1(x))))
        y = 0.5 * y
        x = x + y
        y = self.norm2(x)
        y, _ = self.attention(y, y, y)
        x = x + y
        y = self.norm3(x).transpose(1, 2)
        y = self.point1(y)
        y = F.glu(y, dim=1)
        y = self.depth(y)
        y = self.batch(y)
        y = F.silu(y)
        y = self.point2(y).transpose(1, 2)
        x = x + y
        x = self.head(self.norm4(x))
        return F.log_softmax(x, dim=-1)


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates, skip connections."""
    inputs = (seeded(1, 1, 32),)

    def __init__(self):
        super().__init__()
        self.start = nn.Conv1d(1, 8, 1)
        self.gates = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2 ** i) for i in range(3))
        self.skips, self.ways = (nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(3)) for _ in range(2))
        self.end = nn.Conv1d(8, 4, 1)

    def forward(self, x):
        x = self.start(x)
        total = 0
        for i, gate in enumerate(self.gates):
            y = gate(F.pad(x, (2 ** i, 0)))
            a, b = y.chunk(2, 1)
            a = torch.tanh(a)
            b = torch.sigmoid(b)
            y = a * b
            total = total + self.skips[i](y)
            x = x + self.ways[i](y)
        y = F.relu(total)
        return self.end(y)


class Detr(nn.Module):
    """A backbone, positions by sine, an encoder and a decoder with learned queries, two heads."""
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.backbone, self.project = nn.Conv2d(3, 8, 4, stride=4), nn.Conv2d(8, 16, 1)
        self.encoder = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
        self.decoder = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
        self.queries = nn.Parameter(seeded(1, 5, 16))
        self.classes, self.box1, self.box2 = nn.Linear(16, 4), nn.Linear(16, 16), nn.Linear(16, 4)

    def positions(self, count):
        scale = torch.arange(8, dtype=torch.float32)
        scale = 10000 ** (2 * (scale // 2) / 8)
        place = torch.arange(count, dtype=torch.float32).unsqueeze(1) / scale
        return torch.cat([place.sin(), place.cos()], 1)

    def forward(self, x):
        x = self.project(F.relu(self.backbone(x)))
        x = x.flatten(2).transpose(1, 2)
        x = x + self.positions(16)
        x = self.encoder(x)
        y = self.decoder(self.queries, x)
        return self.classes(y), self.box2(F.relu(self.box1(y))).sigmoid()


class Diffusion(nn.Module):
    """A denoising U-Net: time embedding, GroupNorm, SiLU, attention in the middle, nearest upsampling."""
    inputs = (seeded(1, 4, 8, 8), torch.tensor([17.0]))

    def __init__(self):
        super().__init__()
        self.time1, self.time2, self.shift = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 8)
        self.start, self.norm1, self.conv1 = nn.Conv2d(4, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.Conv2d(8, 8, 3, padding=1)
        self.norm2, self.conv2, self.down = nn.GroupNorm(2, 8), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, 2, 1)
        self.norm3, self.qkv, self.out = nn.GroupNorm(2, 8), nn.Conv1d(8, 24, 1), nn.Conv1d(8, 8, 1)
        self.up, self.join, self.norm4 = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(16, 8, 1), nn.GroupNorm(2, 8)
        self.end = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x, t):
        rates = torch.exp(-math.log(10000) * torch.arange(4, dtype=torch.float32) / 4)
        angles = t[:, None] * rates[None]
        e = torch.cat([torch.cos(angles), torch.sin(angles)], -1)
        e = self.time2(F.silu(self.time1(e)))
        x = self.start(x)
        y = self.conv1(F.silu(self.norm1(x)))
        y = y + self.shift(F.silu(e))[:, :, None, None]
        y = self.conv2(F.silu(self.norm2(y)))
        x = x + y
        z = self.down(x)
        q, k, v = self.qkv(self.norm3(z).flatten(2)).chunk(3, 1)
        w = torch.einsum("bct,bcs->bts", q * 8 ** -0.25, k * 8 ** -0.25)
        w = torch.softmax(w.float(), -1).to(w.dtype)
        a = torch.einsum("bts,bcs->bct", w, v)
        z = z + self.out(a).view(z.shape)
        z = F.interpolate(z, scale_factor=2.0, mode="nearest")
        z = self.up(z)
        x = self.join(torch.cat([x, z], 1))
        return self.end(F.silu(self.norm4(x)))


class Seq2Seq(nn.Module):
    """A GRU that encodes, a GRUCell that decodes with additive attention."""
    inputs = (torch.arange(6).view(1, 6) % 5, torch.arange(3).view(1, 3) % 5)

    def __init__(self):
        super().__init__()
        self.words, self.encoder = nn.Embedding(10, 8), nn.GRU(8, 8, batch_first=True)
        self.cell, self.key, self.query, self.score = nn.GRUCell(16, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1)
        self.head = nn.Linear(16, 10)

    def forward(self, ids, target):
        memory, state = self.encoder(self.words(ids))
        state = state[0]
        keys = self.key(memory)
        steps = []
        for i in range(3):
            mixed = keys + self.query(state).unsqueeze(1)
            weights = self.score(torch.tanh(mixed)).softmax(1)
            context = (weights * memory).sum(1)
            state = self.cell(torch.cat([self.words(target[:, i]), context], 1), state)
            steps.append(self.head(torch.cat([state, context], 1)))
        return torch.stack(steps, 1)


class Mixer(nn.Module):
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.patch, self.norm1 = nn.Conv2d(3, 8, 4, stride=4), nn.LayerNorm(8)
        self.norm2, self.norm3 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.token1, self.token2 = nn.Linear(16, 32), nn.Linear(32, 16)
        self.channel1, self.channel2 = nn.Linear(8, 16), nn.Linear(16, 8)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        y = self.norm1(x).transpose(1, 2)
        y = self.token2(F.gelu(self.token1(y))).transpose(1, 2)
        x = x + y
        y = self.channel2(F.gelu(self.channel1(self.norm2(x))))
        x = x + y
        return self.head(self.norm3(x).mean(1))


class Dlrm(nn.Module):
    """Embedding bags, a bottom and a top network, dot products between features."""
    inputs = (seeded(2, 4), torch.arange(6).view(2, 3) % 5)

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(5, 4) for _ in range(3))
        self.bottom1, self.bottom2, self.top1, self.top2 = nn.Linear(4, 8), nn.Linear(8, 4), nn.Linear(10, 8), nn.Linear(8, 1)
        self.register_buffer("rows", torch.tensor([1, 2, 2, 3, 3, 3]))
        self.register_buffer("columns", torch.tensor([0, 0, 1, 0, 1, 2]))

    def forward(self, dense, ids):
        x = F.relu(self.bottom2(F.relu(self.bottom1(dense))))
        features = [x] + [table(ids[:, i]) for i, table in enumerate(self.tables)]
        t = torch.stack(features, 1)
        z = torch.bmm(t, t.transpose(1, 2))
        z = z.flatten(1)[:, self.rows * 4 + self.columns]
        x = torch.cat([x, z], 1)
        return torch.sigmoid(self.top2(F.relu(self.top1(x))))


class Nerf(nn.Module):
    """Positions by sine and cosine, a deep network with a skip, alpha compositing."""
    inputs = (seeded(4, 6, 3), seeded(4, 6))

    def __init__(self):
        super().__init__()
        self.one, self.two, self.density, self.color = nn.Linear(15, 16), nn.Linear(31, 16), nn.Linear(16, 1), nn.Linear(16, 3)
        self.register_buffer("bands", 2.0 ** torch.arange(2))

    def forward(self, points, distances):
        angles = (points.unsqueeze(-1) * self.bands).flatten(-2)
        x = torch.cat([points, torch.sin(angles), torch.cos(angles)], -1)
        y = F.relu(self.one(x))
        y = F.relu(self.two(torch.cat([y, x], -1)))
        sigma = F.softplus(self.density(y)).squeeze(-1)
        color = torch.sigmoid(self.color(y))
        product = sigma * distances
        alpha = 1.0 - torch.exp(-product)
        left = torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha[:, :-1] + 1e-10], -1)
        through = torch.exp(torch.cumsum(torch.log(left), -1))
        weights = alpha * through
        return (weights.unsqueeze(-1) * color).sum(1)


class PointNet(nn.Module):
    inputs = (seeded(1, 3, 20),)

    def __init__(self):
        super().__init__()
        self.t1, self.t2, self.t3 = nn.Conv1d(3, 8, 1), nn.Linear(8, 8), nn.Linear(8, 9)
        self.c1, self.b1, self.c2, self.b2 = nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.Conv1d(8, 16, 1), nn.BatchNorm1d(16)
        self.f1, self.b3, self.f2 = nn.Linear(16, 8), nn.BatchNorm1d(8), nn.Linear(8, 4)
        self.register_buffer("eye", torch.eye(3).flatten())

    def forward(self, x):
        t = F.relu(self.t1(x)).max(2)[0]
        t = self.t3(F.relu(self.t2(t)))
        t = (t + self.eye).view(-1, 3, 3)
        x = torch.bmm(x.transpose(2, 1), t).transpose(2, 1)
        x = F.relu(self.b1(self.c1(x)))
        x = self.b2(self.c2(x))
        x = torch.max(x, 2)[0]
        x = F.relu(self.b3(self.f1(x)))
        return F.log_softmax(self.f2(x), dim=1)


class Ssd(nn.Module):
    """Two levels of anchors, boxes decoded with exp, scores by softmax."""
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.base, self.extra = nn.Conv2d(3, 8, 3, 4, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.box1, self.box2 = nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(8, 8, 3, 1, 1)
        self.cls1, self.cls2 = nn.Conv2d(8, 6, 3, 1, 1), nn.Conv2d(8, 6, 3, 1, 1)
        self.scale = nn.Parameter(torch.full((1, 8, 1, 1), 20.0))
        self.register_buffer("anchors", seeded(1, 40, 4))

    def forward(self, x):
        a = F.relu6(self.base(x))
        b = F.leaky_relu(self.extra(a), 0.1)
        n = a.pow(2).sum(1, keepdim=True).sqrt() + 1e-6
        a = a / n
        a = a * self.scale
        boxes = [self.box1(a).permute(0, 2, 3, 1).reshape(1, -1, 4), self.box2(b).permute(0, 2, 3, 1).reshape(1, -1, 4)]
        boxes = torch.cat(boxes, 1)
        scores = [self.cls1(a).permute(0, 2, 3, 1).reshape(1, -1, 3), self.cls2(b).permute(0, 2, 3, 1).reshape(1, -1, 3)]
        scores = torch.cat(scores, 1)
        center = boxes[..., :2] * 0.1 * self.anchors[..., 2:]
        center = center + self.anchors[..., :2]
        size = torch.exp(boxes[..., 2:] * 0.2)
        size = size * self.anchors[..., 2:]
        low = center - size / 2
        return torch.cat([low, low + size], -1), F.softmax(scores, -1)


class Llama(nn.Module):
    """RMSNorm, rotary positions, grouped queries, SwiGLU."""
    inputs = (torch.arange(8).view(1, 8) % 7,)

    def __init__(self):
        super().__init__()
        self.words, self.norm1, self.norm2, self.norm3 = nn.Embedding(20, 16), RmsNorm(16), RmsNorm(16), RmsNorm(16)
        self.q, self.k = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False)
        self.v, self.o = nn.Linear(16, 8, bias=False), nn.Linear(16, 16, bias=False)
        self.gate, self.up = nn.Linear(16, 32, bias=False), nn.Linear(16, 32, bias=False)
        self.down = nn.Linear(32, 16, bias=False)
        self.head = nn.Linear(16, 20, bias=False)
        self.register_buffer("rates", 1.0 / (10000 ** (torch.arange(0, 4, 2).float() / 4)))

    def turn(self, x, cos, sin):
        half = torch.cat([-x[..., 2:], x[..., :2]], -1)
        a = x * cos
        b = half * sin
        return a + b

    def forward(self, ids):
        x = self.words(ids)
        places = torch.arange(8).float()
        angles = torch.outer(places, self.rates)
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos(), angles.sin()
        y = self.norm1(x)
        q = self.turn(self.q(y).view(1, 8, 4, 4).transpose(1, 2), cos, sin)
        k = self.turn(self.k(y).view(1, 8, 2, 4).transpose(1, 2), cos, sin)
        v = self.v(y).view(1, 8, 2, 4).transpose(1, 2)
        k = k[:, :, None].expand(1, 2, 2, 8, 4).reshape(1, 4, 8, 4)
        v = v[:, :, None].expand(1, 2, 2, 8, 4).reshape(1, 4, 8, 4)
        mask = torch.full((8, 8), float("-inf")).triu(1)
        scores = torch.matmul(q, k.transpose(2, 3)) / 2.0
        scores = scores + mask
        scores = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        y = torch.matmul(scores, v)
        y = self.o(y.transpose(1, 2).reshape(1, 8, 16))
        x = x + y
        y = self.norm2(x)
        g = F.silu(self.gate(y))
        y = g * self.up(y)
        x = x + self.down(y)
        return self.head(self.norm3(x))


class Gat(nn.Module):
    """Graph attention over a dense adjacency."""
    inputs = (seeded(6, 8), (torch.arange(36).view(6, 6) % 3 != 0).float())

    def __init__(self):
        super().__init__()
        self.project, self.left, self.right = nn.Linear(8, 8, bias=False), nn.Parameter(seeded(8, 1)), nn.Parameter(seeded(8, 1))
        self.head = nn.Linear(8, 3)

    def forward(self, x, adjacency):
        h = self.project(x)
        a = torch.matmul(h, self.left)
        b = torch.matmul(h, self.right)
        e = a + b.T
        e = F.leaky_relu(e, 0.2)
        e = torch.where(adjacency > 0, e, torch.full_like(e, -9e15))
        w = F.softmax(e, dim=1)
        h = torch.matmul(w, h)
        h = F.elu(h)
        return self.head(h)


class Raft(nn.Module):
    """Correlation volume, lookup by grid_sample, a convolutional GRU."""
    inputs = (seeded(1, 3, 8, 8), seeded(1, 3, 8, 8))

    def __init__(self):
        super().__init__()
        self.features, self.context = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.InstanceNorm2d(8)
        self.motion, self.z = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(16, 8, 3, padding=1)
        self.r, self.q = nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(16, 8, 3, padding=1)
        self.flow = nn.Conv2d(8, 2, 3, padding=1)
        self.register_buffer("grid", seeded(64, 1, 1, 2))

    def forward(self, one, two):
        a = self.norm(self.features(one)).flatten(2)
        b = self.norm(self.features(two)).flatten(2)
        volume = torch.matmul(a.transpose(1, 2), b)
        volume = volume / 8 ** 0.5
        volume = volume.view(64, 1, 8, 8)
        looked = F.grid_sample(volume, self.grid, align_corners=True)
        looked = looked.view(1, 1, 8, 8)
        h = torch.tanh(self.context(one))
        m = F.relu(self.motion(looked))
        hx = torch.cat([h, m], 1)
        z = torch.sigmoid(self.z(hx))
        r = torch.sigmoid(self.r(hx))
        rh = r * h
        q = torch.tanh(self.q(torch.cat([rh, m], 1)))
        h = (1 - z) * h + z * q
        return self.flow(h)


class VqVae(nn.Module):
    """Nearest codes by distances, a transposed convolution."""
    inputs = (seeded(1, 3, 8, 8),)

    def __init__(self):
        super().__init__()
        self.down, self.up, self.codes = nn.Conv2d(3, 4, 4, 2, 1), nn.ConvTranspose2d(4, 3, 4, 2, 1), nn.Embedding(6, 4)

    def forward(self, x):
        z = self.down(x).permute(0, 2, 3, 1)
        flat = z.reshape(-1, 4)
        far = torch.sum(flat ** 2, dim=1, keepdim=True) + torch.sum(self.codes.weight ** 2, dim=1)
        far = far - 2 * torch.matmul(flat, self.codes.weight.t())
        index = torch.argmin(far, dim=1)
        q = self.codes(index).view(z.shape)
        loss = F.mse_loss(q, z)
        q = z + (q - z)
        return torch.tanh(self.up(q.permute(0, 3, 1, 2))), loss


class Flow(nn.Module):
    """Affine coupling with log determinants."""
    inputs = (seeded(4, 6),)

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 8), nn.Linear(8, 6)
        self.scale, self.shift = nn.Parameter(torch.ones(6)), nn.Parameter(torch.zeros(6))

    def forward(self, x):
        x = x * torch.exp(self.scale) + self.shift
        a, b = x.chunk(2, 1)
        s, t = self.two(F.relu(self.one(a))).chunk(2, 1)
        s = torch.tanh(s)
        e = torch.exp(s)
        b = b * e + t
        logdet = s.sum(1) + self.scale.sum()
        z = torch.cat([a, b], 1)
        prior = -0.5 * (z ** 2 + math.log(2 * math.pi)).sum(1)
        return prior + logdet


class Ssm(nn.Module):
    """A selective state space: softplus steps, exponentials, a scan unrolled."""
    inputs = (seeded(1, 5, 8),)

    def __init__(self):
        super().__init__()
        self.inner, self.conv, self.x = nn.Linear(8, 16), nn.Conv1d(8, 8, 3, padding=2, groups=8), nn.Linear(8, 9)
        self.dt, self.out = nn.Linear(1, 8), nn.Linear(8, 8)
        self.log, self.skip = nn.Parameter(torch.log(torch.arange(1, 5).float()).repeat(8, 1)), nn.Parameter(torch.ones(8))

    def forward(self, u):
        x, z = self.inner(u).chunk(2, -1)
        x = self.conv(x.transpose(1, 2))[..., :5].transpose(1, 2)
        x = F.silu(x)
        dt, b, c = self.x(x).split([1, 4, 4], -1)
        dt = F.softplus(self.dt(dt))
        a = -torch.exp(self.log.float())
        da = torch.exp(dt.unsqueeze(-1) * a)
        db = dt.unsqueeze(-1) * b.unsqueeze(2)
        dbx = db * x.unsqueeze(-1)
        h = torch.zeros(1, 8, 4)
        rows = []
        for i in range(5):
            h = da[:, i] * h + dbx[:, i]
            rows.append((h * c[:, i].unsqueeze(1)).sum(-1))
        y = torch.stack(rows, 1)
        y = y + x * self.skip
        y = y * F.silu(z)
        return self.out(y)


class Lstm(nn.Module):
    """Layers of LSTM in both directions, packed by a linear layer; an LSTMCell."""
    inputs = (seeded(1, 5, 8),)

    def __init__(self):
        super().__init__()
        self.first, self.lstm = nn.Linear(8, 8), nn.LSTM(8, 8, num_layers=2, bidirectional=True, batch_first=True)
        self.cell, self.head = nn.LSTMCell(16, 8), nn.Linear(8, 4)

    def forward(self, x):
        x = F.relu(self.first(x))
        x, _ = self.lstm(x)
        h, c = self.cell(x[:, 0])
        h, c = self.cell(x[:, 1], (h, c))
        return self.head(h)


class Losses(nn.Module):
    """Losses that every exporter takes."""
    inputs = (seeded(4, 6), seeded(4, 6), torch.tensor([0, 1, 2, 3]))

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x, y, classes):
        a, b = self.one(x), self.two(y)
        return (F.cross_entropy(a, classes),
                F.mse_loss(a, b),
                F.binary_cross_entropy_with_logits(a, y),
                F.kl_div(F.log_softmax(a, 1), F.softmax(y, 1), reduction="batchmean"),
                F.nll_loss(F.log_softmax(b, 1), classes))


class Metrics(nn.Module):
    """Losses that TorchScript's exporter does not take."""
    inputs = (seeded(4, 6), seeded(4, 6), torch.tensor([0, 1, 2, 3]))

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x, y, classes):
        a, b = self.one(x), self.two(y)
        return (F.l1_loss(a, b),
                F.smooth_l1_loss(a, b),
                F.huber_loss(a, b),
                F.soft_margin_loss(a, y.sign()),
                F.hinge_embedding_loss(a, y.sign()),
                F.triplet_margin_loss(a, b, y),
                F.poisson_nll_loss(a, y),
                F.margin_ranking_loss(a, b, y.sign()),
                F.pairwise_distance(a, b),
                F.multi_margin_loss(a, classes))


class Gan(nn.Module):
    """A generator: transposed convolutions, BatchNorm, PReLU, pixel shuffle, tanh."""
    inputs = (seeded(1, 8, 4, 4),)

    def __init__(self):
        super().__init__()
        self.up, self.norm, self.act = nn.ConvTranspose2d(8, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.PReLU()
        self.spread, self.shuffle, self.end = nn.Conv2d(8, 16, 3, padding=1), nn.PixelShuffle(2), nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, x):
        x = self.act(self.norm(self.up(x)))
        x = self.shuffle(self.spread(x))
        x = F.pad(x, (1, 1, 1, 1), mode="reflect")
        return torch.tanh(self.end(x))


class DeepLab(nn.Module):
    """Atrous pyramid, bilinear upsampling, concatenation."""
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8)
        self.rates = nn.ModuleList(nn.Conv2d(8, 4, 3, padding=r, dilation=r) for r in (1, 2, 3))
        self.pool, self.join, self.head = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 8, 1), nn.Conv2d(8, 5, 1)

    def forward(self, x):
        x = F.hardswish(self.norm(self.stem(x)))
        parts = [rate(x) for rate in self.rates]
        p = F.adaptive_avg_pool2d(x, 1)
        p = self.pool(p)
        p = F.interpolate(p, size=(8, 8), mode="bilinear", align_corners=False)
        x = self.join(torch.cat([*parts, p], 1))
        x = self.head(F.relu(x))
        x = F.interpolate(x, size=(16, 16), mode="bilinear", align_corners=True)
        return x.argmax(1), F.softmax(x, 1)


class Clip(nn.Module):
    """Two towers, normalized, a learned temperature."""
    inputs = (seeded(2, 3, 8, 8), torch.arange(8).view(2, 4) % 5)

    def __init__(self):
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, 8, 4, stride=4), nn.Parameter(seeded(1, 1, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True, norm_first=True, dropout=0.0)
        self.norm = nn.LayerNorm(8)
        self.image, self.words, self.text = nn.Linear(8, 6, bias=False), nn.Embedding(9, 8), nn.Linear(8, 6, bias=False)
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, image, ids):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(2, -1, -1), x], 1)
        x = self.image(self.norm(self.layer(x))[:, 0])
        y = self.text(self.words(ids).mean(1))
        x = x / x.norm(dim=-1, keepdim=True)
        y = y / y.norm(dim=-1, keepdim=True)
        return self.scale.exp() * x @ y.t()


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
    inputs = (seeded(2, 3, 16, 16),)

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
    inputs = (seeded(1, 3, 16, 16),)

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
    inputs = (seeded(1, 3, 16, 16),)

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, stride=4)
        self.token, self.places = nn.Parameter(seeded(1, 1, 16)), nn.Parameter(seeded(1, 17, 16))
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
    inputs = (seeded(2, 6, 8),)

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
    inputs = (seeded(1, 1, 16, 16),)

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
    inputs = (seeded(1, 2, 4, 8, 8), seeded(1, 2, 8, 8), seeded(2, 4, 8))

    def __init__(self):
        super().__init__()
        self.conv3d, self.conv2d, self.conv1d = nn.Conv3d(2, 2, 1), nn.Conv2d(2, 2, 1), nn.Conv1d(4, 4, 1)
        self.deconv1d, self.deconv3d = nn.ConvTranspose1d(4, 4, 1), nn.ConvTranspose3d(2, 2, 1)
        self.avg3d, self.max3d = nn.AvgPool3d(2), nn.MaxPool3d(2)
        self.adaptive3d = nn.AdaptiveAvgPool3d(1)
        self.reflect2d, self.replicate2d = nn.ReflectionPad2d(1), nn.ReplicationPad2d(1)
        self.reflect1d, self.replicate1d = nn.ReflectionPad1d(1), nn.ReplicationPad1d(1)
        self.zero2d, self.grid = nn.ZeroPad2d(1), nn.Parameter(seeded(1, 4, 4, 2))
        self.weight, self.target = nn.Parameter(seeded(2, 8, 3)), nn.Parameter(seeded(2, 4, 8))
        self.scale = nn.Parameter(seeded(8))

    def forward(self, volume, image, row):
        volume = self.deconv3d(self.conv3d(volume))
        image, row = self.conv2d(image), self.deconv1d(self.conv1d(row))
        return (self.avg3d(volume), self.max3d(volume), self.adaptive3d(volume), self.reflect2d(image), self.replicate2d(image),
                self.reflect1d(row), self.replicate1d(row), self.zero2d(image),
                F.grid_sample(image, self.grid, align_corners=False),
                row.prod(1), torch.einsum("bij,bjk->bik", row, self.weight),
                torch.baddbmm(self.weight.narrow(1, 0, 4), row, self.weight),
                torch.addmm(self.weight.select(0, 0).narrow(0, 0, 4), row.select(0, 0), self.weight.select(0, 0)),
                F.mse_loss(row, self.target),
                F.cross_entropy(row, torch.zeros(2, 8, dtype=torch.int64)), torch.stack([row, self.target]),
                torch.cat([row, self.target]), row.exp(), row.sum(1), torch.cumsum(row, 1), F.softplus(row), F.elu(row),
                row.pow(2), row / row.norm(dim=1, keepdim=True), row.abs().sqrt().log(), torch.where(row > 0, row, self.target),
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
    inputs = (seeded(4, 6),)
    functions = {
        "kl_div": F.kl_div, "nll_loss": lambda x, _: F.nll_loss(x, torch.zeros(4, dtype=torch.int64)),
        "bce": F.binary_cross_entropy_with_logits, "addcmul": lambda x, y: torch.addcmul(x, x, y),
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


class Scripted(Apart):
    """What dynamo's exporter does not take."""
    functions = {
        "cdist": torch.cdist, "normalize": lambda x, _: F.normalize(x, dim=1),
        "cosine_similarity": lambda x, y: F.cosine_similarity(x, y),
    }


ARCHITECTURES = {"convnext": ConvNext, "swin": Swin, "efficientnet": EfficientNet, "t5": T5, "conformer": Conformer,
                 "wavenet": WaveNet, "detr": Detr, "diffusion": Diffusion, "seq2seq": Seq2Seq, "mixer": Mixer, "dlrm": Dlrm,
                 "nerf": Nerf, "pointnet": PointNet, "ssd": Ssd, "llama": Llama, "gat": Gat, "raft": Raft, "vqvae": VqVae,
                 "flow": Flow, "ssm": Ssm, "lstm": Lstm, "losses": Losses, "metrics": Metrics, "gan": Gan, "deeplab": DeepLab,
                 "clip": Clip, "cnn": Cnn, "mobilenet": MobileNet, "bert": Bert, "vit": Vit, "gpt": Gpt, "rnn": Rnn, "unet": Unet,
                 "lists": Lists, "apart": Apart, "scripted": Scripted}

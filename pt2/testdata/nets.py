"""Writes networks as PyTorch's torch.export has them, with inputs and what PyTorch computes of them.

    nets.py OUT [NAME...]      NAME.pt2, NAME.core.pt2 (after run_decompositions), NAME.K.npz (in0, in1, ..., out0, ...)
    nets.py --list             names, one a line, with their group
    nets.py --fixtures OUT     the small ones, without paths of this machine in them
    nets.py --onnx OUT NAME    NAME.onnx, by torch.onnx.export
    nets.py --case OUT NAME    NAME/model.pt2 and NAME/test_data_set_K, of what was written to OUT before

Networks of the groups vision and text need torchvision and transformers.
"""
import json
import os
import re
import sys
import warnings
import logging
import zipfile
import zlib

import numpy as np
import torch
from torch import nn
from torch.export import Dim, export, save

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

NETS = {}  # name: (group, function that returns module, list of inputs, dynamic shapes)


def net(group="small"):
    def add(f):
        NETS[f.__name__] = (group, f)
        return f
    return add


class Run(nn.Module):
    """A module of a function."""

    def __init__(self, f, **modules):
        super().__init__()
        for k, m in modules.items():
            if isinstance(m, nn.Module):
                setattr(self, k, m)
            elif isinstance(m, nn.Parameter):
                self.register_parameter(k, m)
            else:
                self.register_buffer(k, m)
        self.f = f

    def forward(self, *args):
        return self.f(self, *args)


def rand(*size):
    return torch.randn(*size)


AUTO = Dim.AUTO


@net()
def mlp():
    m = Run(lambda s, x: s.b(torch.relu(s.a(x))) * s.scale + torch.tensor([1.0, 2.0, 3.0]), a=nn.Linear(4, 8), b=nn.Linear(8, 3), scale=torch.ones(3) * 2)
    return m, [(rand(2, 4),), (rand(5, 4),)], ({0: Dim("batch", min=1, max=64)},)


@net()
def cnn():
    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.c1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
            self.bn = nn.BatchNorm2d(8)
            self.c2 = nn.Conv2d(8, 8, 3, groups=4, padding="same")
            self.c3 = nn.ConvTranspose2d(8, 4, 2, stride=2)
            self.fc = nn.Linear(4 * 16, 5)

        def forward(self, x):
            x = torch.nn.functional.relu(self.bn(self.c1(x)), inplace=True)
            x = torch.nn.functional.hardswish(self.c2(x)) + x
            x = torch.nn.functional.max_pool2d(x, 2)
            x = self.c3(x)
            x = torch.nn.functional.adaptive_avg_pool2d(x, 4)
            return self.fc(torch.flatten(x, 1))
    return CNN(), [(rand(2, 3, 16, 16),), (rand(3, 3, 16, 16),)], ({0: AUTO},)


@net()
def attention():
    class Block(nn.Module):
        def __init__(self, d=16, h=4):
            super().__init__()
            self.h, self.qkv, self.out, self.ln = h, nn.Linear(d, 3 * d), nn.Linear(d, d), nn.LayerNorm(d)
            self.emb = nn.Embedding(11, d)

        def forward(self, ids):
            x = self.emb(ids)
            b, s, d = x.shape
            q, k, v = self.qkv(self.ln(x)).view(b, s, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return x + self.out(y.transpose(1, 2).reshape(b, s, d))
    return Block(), [(torch.randint(0, 11, (2, 5)),), (torch.randint(0, 11, (3, 8)),)], ({0: AUTO, 1: AUTO},)


@net()
def lstm():
    m = Run(lambda s, x: s.fc(s.l(x)[0][:, -1]), l=nn.LSTM(3, 5, batch_first=True, bidirectional=True), fc=nn.Linear(10, 2))
    return m, [(rand(2, 4, 3),), (rand(3, 4, 3),)], ({0: AUTO},)


@net()
def gru_stateful():
    def f(s, x):
        y, h = s.g(x, s.h)
        s.h.copy_(h)
        s.count.add_(1)
        return y * s.count
    return Run(f, g=nn.GRU(3, 4), h=torch.zeros(1, 2, 4), count=torch.zeros(())), [(rand(3, 2, 3),), (rand(3, 2, 3),)], None


@net()
def control():
    from torch._higher_order_ops.scan import scan
    from torch._higher_order_ops.while_loop import while_loop

    def f(s, x):
        y = torch.cond(x.sum() > 0, lambda x: x * s.w, lambda x: x - s.w, (x,))
        i, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 1.5 + i), (torch.tensor(0), y))
        c, ys = scan(lambda c, x: (c + x, c * x), torch.zeros(4), y, dim=0)
        return c, ys, i
    return Run(f, w=nn.Parameter(rand(4))), [(torch.ones(3, 4),), (-torch.ones(5, 4),)], ({0: AUTO},)


@net()
def sizes():
    def f(s, x, y):
        b, l = x.shape[0], x.shape[1]
        mask = torch.full((l, l), float("-inf")).triu(1)
        z = x.reshape(b * 2, l // 2, -1) * l
        return z, mask, torch.arange(l) + b, torch.cat([x, y], 1).sum(1), x * (l / 4), x[:, : l // 2, 1:], max(b, l)
    return Run(f), [(rand(2, 6, 3), rand(2, 4, 3)), (rand(3, 10, 3), rand(3, 5, 3))], ({0: AUTO, 1: 2 * Dim("half", min=2)}, {0: AUTO, 1: AUTO})


@net()
def writes():
    def f(s, x):
        y = x.clone()
        y[:, 1] = 0
        y[:, 2:].mul_(2)
        t = y.t()
        t[0].add_(10)
        v = y.view(-1)
        v[3] = 7
        z = torch.zeros(3, 4)
        z[1] = x[0]
        z.masked_fill_(z > 1, -1.0)
        z[[0, 2], 1] = 5.0
        return y, t, z, v
    return Run(f), [(rand(2, 4),), (rand(2, 4),)], None


@net()
def indexing():
    def f(s, x, i, m):
        p = torch.zeros(4, 5, 6).index_put((torch.tensor([0, 2]), slice(None) if False else torch.tensor([1, 3])), torch.ones(6), accumulate=True)
        return (x[i], x[:, i], x[i, :, i], x[:, i, i], x[i[:, None], torch.tensor([0, 1])], x.gather(2, i.view(1, 1, -1).expand(4, 5, -1)), x[-1], x[..., -2], x[:, 1:-1:2],
                x[:, m].sum(1), torch.where(x > 0, x, 0.5), x.scatter(0, i.view(-1, 1, 1), 3.0), p, torch.topk(x, 3, 1)[0], x.sort(-1, descending=True)[0], x.argmax(1),
                x.cumsum(1), x.unfold(2, 3, 2), x.flip(0, 2), x.roll(1, 1), torch.nn.functional.one_hot(i, 4))
    return Run(f), [(rand(4, 5, 6), torch.tensor([0, 3, 1]), torch.tensor([True, False, True, True, False])),
                    (rand(4, 5, 6), torch.tensor([1, 2, 2]), torch.tensor([False, False, True, True, True]))], None


@net()
def elementwise():
    F = torch.nn.functional

    def f(s, x, n):
        return (x.sin() + x.cos().exp() - x.tanh(), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.softplus(x), F.elu(x, 0.5), F.leaky_relu(x), F.mish(x), F.celu(x), F.selu(x),
                F.hardtanh(x), F.relu6(x), F.hardsigmoid(x), F.softshrink(x), F.logsigmoid(x), F.softmax(x, 1), F.log_softmax(x, 0), F.normalize(x), x.clamp(-0.5, 0.5), x.clamp(min=0),
                x.abs().sqrt().rsqrt(), (x * 3).round() % 2, n // 3, n % 3, n / 2, n << 1, n & 5, ~n, n.float() ** 2, 2 ** x, x.abs() ** 0.5, x.floor().long(), (x > 0) & (n > 2), x.std(1), x.var(0, unbiased=False),
                x.mean(), x.amax(1), x.norm(), x.logsumexp(1), torch.lerp(x, x * 2, 0.25), torch.addcmul(x, x, x, value=0.5), x.log1p().nan_to_num(0.0, 1.0, -1.0), torch.atan(x), x.to(torch.float64),
                x.half().float(), F.glu(x, 1), 1 - x, 3 / (x + 10), x.sign(), F.rms_norm(x, (4,)), F.group_norm(x, 2), F.layer_norm(x, (4,)), x.prod(1), x.any(1), x.all(), x.maximum(n), x.diff(dim=1))
    return Run(f), [(rand(3, 4), torch.arange(12).view(3, 4))], None


@net()
def images():
    F = torch.nn.functional

    def f(s, x, g):
        return (F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=(5, 7), mode="bilinear"), F.interpolate(x, scale_factor=1.5, mode="bicubic"), F.interpolate(x, size=(4, 9), mode="bilinear", align_corners=True),
                F.pad(x, (1, 2), value=3.0), F.pad(x, (1, 1, 2, 0), mode="reflect"), F.pad(x, (1, 0, 0, 1), mode="replicate"), F.pad(x, (1, 1, 1, 1), mode="circular"),
                F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.max_pool2d(x, 3, 2, ceil_mode=True), F.adaptive_max_pool2d(x, 2), F.pixel_shuffle(x, 2), F.unfold(x, 2), F.grid_sample(x, g),
                F.instance_norm(x), F.local_response_norm(x, 2), F.conv1d(x[:, :, 0], torch.ones(2, 4, 2)), torch.einsum("bchw,bcxw->bhx", x, x), F.interpolate(x, size=(3, 3), mode="nearest-exact"))
    return Run(f), [(rand(2, 4, 5, 6), torch.rand(2, 3, 3, 2) * 2 - 1)], None


@net()
def dictionary():
    def f(s, x, pair):
        return {"sum": pair["a"] + pair["b"][0], "parts": [x * 2, x.chunk(2, 1)], "none": None, "number": 3}
    return Run(f), [(rand(2, 4), {"a": rand(2, 4), "b": [rand(2, 4)]}), (rand(3, 4), {"a": rand(3, 4), "b": [rand(3, 4)]})], ({0: AUTO}, {"a": {0: AUTO}, "b": [{0: AUTO}]})


@net()
def tied():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(7, 4)
            self.head = nn.Linear(4, 7, bias=False)
            self.head.weight = self.emb.weight
            self.register_buffer("factor", torch.full((4,), 0.5), persistent=False)

        def forward(self, ids):
            return self.head(self.emb(ids) * self.factor)
    return Tied(), [(torch.randint(0, 7, (2, 3)),), (torch.randint(0, 7, (4, 3)),)], ({0: AUTO},)


@net()
def values():
    def f(s, x, n):
        k = n.item()
        torch._check(k >= 0)
        torch._check(k <= x.shape[0])
        kept = x[x > 0]
        return x[:k] * k, torch.nonzero(x), kept * 2, kept.sum()
    return Run(f), [(rand(5, 2), torch.tensor(3)), (rand(5, 2), torch.tensor(1))], None


@net()
def input_write():
    def f(s, x):
        x.add_(1)
        return x * 2
    return Run(f), [(rand(2, 3),), (rand(2, 3),)], None


F = torch.nn.functional


@net()
def views():

    def f(s, x):
        y = x.clone().t()
        r = y.reshape(-1)
        r.add_(100)
        y[0, 1] = 5
        z = y.contiguous()
        z.mul_(2)
        a = torch.zeros(2, 3, 4)
        b = a.transpose(0, 2)[1:3]
        b[..., 0] = x[0, :3].unsqueeze(0)
        c = a.diagonal(0, 1, 2)
        c.add_(1)
        d = a.split(1)
        d[1].mul_(3)
        e = a.unbind(0)[0]
        e.sub_(1)
        return (r, y, z, a, b, c)
    return (Run(f), [(rand(2, 4),)] * 2, None)


@net()
def state():

    def f(s, x):
        v = s.buf[1:]
        old = s.buf.sum()
        s.buf.add_(x)
        return (v * 2, old, s.buf.clone(), s.buf)
    return (Run(f, buf=torch.arange(4.0)), [(rand(4),), (rand(4),)], None)


@net()
def promotion():

    def f(s, x, i, b):
        return (i / 2, i * 1.5, i + b, b + b, x * i, i.float() + torch.tensor(1.0, dtype=torch.float64), x.half() * 2.5, i // -2, -7 // torch.tensor(2), i % -3, torch.fmod(i, -3), i ** 2, 2 ** i, x.to(torch.bfloat16).float(), b * 2, b.sum(), i.sum(), i.float().mean(), b.any(), i.prod(), torch.where(b, i, 1.5), torch.clamp(i, 0.5, 3.5), i.max(), b.cumsum(0), torch.true_divide(i, 3), i >> 1, ~b, i.to(torch.uint8) - 5, i.to(torch.int8) * 100, torch.full((2,), True), torch.full((2,), 3), torch.arange(0, 1, 0.3), torch.arange(5, 0, -2), torch.linspace(0, 1, 5))
    return (Run(f), [(rand(4), torch.tensor([-3, 2, 5, 7]), torch.tensor([True, False, True, True]))] * 2, None)


@net()
def guarded():

    def f(s, x, y):
        if x.shape[0] % 2 == 0:
            x = x * 2
        n = x.shape[0] // 2
        return (x[:n], x[-1:], x[n:], torch.cat([x, y]), x.unsqueeze(1).expand(-1, 3, -1), y.reshape(-1), x.mean(0), x.view(2, -1), F.pad(x, (0, x.shape[0])), x.repeat(2, 1)[:x.shape[0] + 1], x.new_zeros(x.shape[0], 2))
    return (Run(f), [(rand(4, 3), rand(5, 3)), (rand(6, 3), rand(2, 3))], ({0: AUTO}, {0: AUTO}))


@net()
def edges():

    def f(s, x):
        return (x.sum(0), x.max(1)[0], x.argmin(), x[1:1], x[3:2], x[-100:100], x.squeeze(0), x.unsqueeze(-1).squeeze(-1), x.flatten(), x[::3], x[:, ::2], x.narrow(1, 1, 2), torch.zeros(0, 3).sum(), torch.cat([x, torch.zeros(0, 4)]), x.chunk(3, 1), x.topk(2, 0, largest=False)[1])
    return (Run(f), [(rand(3, 4),)] * 2, None)


@net()
def nested():
    from torch._higher_order_ops.while_loop import while_loop

    def f(s, x, n):

        def body(i, y):
            y = torch.cond(i % 2 == 0, lambda y: y * s.w + x.sum(), lambda y: y - s.w, (y,))
            return (i + 1, y)
        i, y = while_loop(lambda i, y: (i < n) & (y.sum() < 1000000.0), body, (torch.tensor(0), x * 1))
        z = torch.cond(y.sum() > 0, lambda a: (a.shape[0] * a, a.sum()), lambda a: (a * 2, a.sum() * 0), (y,))
        return (i, y, z[0], z[1])
    return (Run(f, w=nn.Parameter(rand(4))), [(rand(3, 4), torch.tensor(5)), (rand(5, 4), torch.tensor(0))], ({0: AUTO}, None))


@net()
def recurrent():

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.a = nn.LSTM(3, 4, 2, bias=False)
            s.b = nn.GRU(4, 4, batch_first=True, bidirectional=True)
            s.c = nn.RNN(8, 2, nonlinearity='relu')
            s.d = nn.LSTM(3, 4, proj_size=2)

        def forward(s, x, h):
            y, (hn, cn) = s.a(x, (h, h * 2))
            z, g = s.b(y)
            w, _ = s.c(z)
            return (y, hn, cn, z, g, w)
    return (M(), [(rand(5, 2, 3), rand(2, 2, 4)), (rand(5, 2, 3), rand(2, 2, 4))], None)


@net()
def puts():

    def f(s, x, i, m):
        a = x.clone()
        a[m] = 0
        b = x.clone()
        b[i] = rand0(x, 2)
        c = x.clone()
        c[:, i, 1] = 7.0
        d = x.clone()
        d[i, :, i] += 1
        e = x.clone()
        e[m] += x[m] * 2
        g = x.clone()
        g.index_add_(0, i, x[:2])
        g.index_fill_(1, i, 3.0)
        g.index_copy_(2, i, x[:, :, :2])
        h = x.scatter_add(1, i.view(1, 2, 1).expand(3, 2, 3), x)
        k = x.scatter_reduce(0, i.view(2, 1, 1).expand(2, 3, 3), x[:2], 'amax')
        return (a, b, c, d, e, g, h, k, x[i, i], x[:, i][..., i], x[i, :, 0], x[m.any(2)], x[None, i], torch.take_along_dim(x, x.argsort(1), 1), x.masked_fill(m, float('-inf')).softmax(-1), x[-1, [0, -1]])

    def rand0(x, n):
        return x[:n] * 3
    return (Run(f), [(rand(3, 3, 3), torch.tensor([0, 2]), torch.rand(3, 3, 3) > 0.5), (rand(3, 3, 3), torch.tensor([1, 0]), torch.rand(3, 3, 3) > 0.5)], None)


@net()
def reduces():

    def f(s, x, i, n):
        rows = i.unsqueeze(1).expand(i.shape[0], 3)
        out = [x.scatter_reduce(0, rows, x, how, include_self=own) for how in ('sum', 'prod', 'mean', 'amax', 'amin') for own in (True, False)]
        whole = [n.scatter_reduce(1, n.remainder(3)[:, :2], n, how, include_self=own) for how in ('sum', 'mean', 'amax') for own in (True, False)]
        size = x.shape[0]
        return (*out, *whole, x.roll((size // 2, -1), (0, 1)), x.roll((1, size - 1), (1, 0)), F.interpolate(x.view(1, 1, -1, 3), scale_factor=(1.7, 0.4), mode='bilinear'))
    return (Run(f), [(rand(4, 3), torch.tensor([0, 2, 2, 0]), torch.tensor([[7, -3, 5], [2, 2, -8]])), (rand(6, 3), torch.tensor([1, 1, 1, 3, 5, 3]), torch.tensor([[0, 9, -9], [4, -1, 3]]))], ({0: AUTO}, {0: AUTO}, None))


@net()
def bags():

    def f(s, i, at, v):
        whole = [F.embedding_bag(i, s.w, mode=how) for how in ('sum', 'mean', 'max')]
        flat = i.reshape(-1)
        parts = [F.embedding_bag(flat, s.w, torch.cat([at, torch.full((1,), i.numel())]) if last else at, mode=how, include_last_offset=last) for how in ('sum', 'mean', 'max') for last in (False, True)]
        return (*whole, *parts, F.embedding_bag(i, s.w, mode='sum', per_sample_weights=v), torch.arange(1, 3 * i.shape[0], i.shape[1]), torch.arange(i.shape[1], i.numel() + 1, i.shape[0]))
    return (Run(f, w=nn.Parameter(rand(7, 3))), [(torch.randint(0, 7, (3, 4)), torch.tensor([0, 5, 5]), rand(3, 4)), (torch.randint(0, 7, (5, 3)), torch.tensor([0, 2, 9]), rand(5, 3))], ({0: AUTO, 1: AUTO}, None, {0: AUTO, 1: AUTO}))


@net()
def forms():

    def f(s, x, w):
        return (F.conv2d(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2)), F.conv2d(x[0], w), F.conv_transpose2d(x, w.transpose(0, 1), stride=2, output_padding=1), F.conv1d(x[:, :, 0], w[:, :, 0], padding='same', dilation=2), F.conv3d(x.unsqueeze(2), w.unsqueeze(2)), F.avg_pool2d(x, 2, divisor_override=3), F.max_pool1d(x[:, :, 0], 2, return_indices=True), F.adaptive_avg_pool2d(x, (3, None)), F.max_pool2d(x, 3, 1, 1, dilation=1, return_indices=True), F.lp_pool2d(x, 2, 2), F.interpolate(x, scale_factor=(0.7, 1.3), mode='bilinear', recompute_scale_factor=True), F.interpolate(x, scale_factor=0.6), F.interpolate(x, size=4, mode='bilinear', antialias=False), F.fold(F.unfold(x, 2, stride=2), (6, 8), 2, stride=2), F.batch_norm(x, None, None, training=True), F.pdist(x[0, :, 0]) if False else x.sum(), torch.atan2(x, x.roll(1, 0)))
    return (Run(f), [(rand(2, 3, 6, 8), rand(4, 3, 2, 2))], None)


@net()
def sizes_as_values():

    def f(s, x, k):
        n = x.shape[0]
        m = (n + 1) // 2 * 2 - n
        return (x * n / (n + 1), x + int(k), torch.full((n,), n * 1.5), torch.ones(n + k), (x.sum() > n).float(), torch.tensor(3) * n, x ** (n % 3 + 1), x.view(n, 1, -1).expand(n, n, -1), n, x[n // 3], x[:, :1].repeat_interleave(3, 1), x.roll(n - 1, 0), torch.eye(n) @ x, torch.arange(n, 2 * n), torch.arange(0, n, 2))
    return (Run(f), [(rand(4, 3), 3), (rand(7, 3), 3)], ({0: AUTO}, None))


@net()
def shared():

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.l = nn.Linear(4, 4)
            s.blocks = nn.ModuleList([s.l, nn.Sequential(s.l, nn.ReLU())])
            s.t = torch.arange(4.0)
            s.register_buffer('v', s.l.weight.data[0])

        def forward(s, x):
            for b in s.blocks:
                x = b(x)
            return x + s.t + s.v
    return (M(), [(rand(2, 4),), (rand(3, 4),)], ({0: AUTO},))


@net()
def input_views():

    def f(s, x, y):
        x[:, 0].add_(1)
        y.copy_(x.sum(1, keepdim=True).expand_as(y))
        return (x.sum(), y * 2)
    return (Run(f), [(rand(3, 4), rand(3, 4)), (rand(3, 4), rand(3, 4))], None)


@net()
def precision():

    def f(s, x):
        h = x.half()
        d = x.double()
        return (h @ h.t(), d @ d.t(), h.softmax(-1), F.layer_norm(d, (4,)), h * 10000.0 * 10, h.sum(0), d.exp(), torch.float16 == h.dtype, x.to(torch.int32) + 1, F.gelu(h), h.mean())
    return (Run(f), [(rand(3, 4),)] * 2, None)


@net()
def strides():

    def f(s, x):
        return (x.as_strided((2, 2), (1, 2)), x.unfold(0, 2, 1), x.T.contiguous().view(-1), torch.meshgrid(x[0], x[1], indexing='xy'), torch.broadcast_tensors(x[0], x[:, :1]), torch.triu(torch.ones(3, 3), -1), torch.stack([x, x], -1).flatten(1), x.movedim(0, 1), x.swapaxes(0, 1), torch.einsum('ij,kj->ik', x, x), torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])))
    return (Run(f), [(rand(4, 4),)] * 2, None)


@net()
def mapped():
    from torch._higher_order_ops.map import map as tmap

    def f(s, x):
        return tmap(lambda r: r * s.w + r.sum(), x)
    return (Run(f, w=nn.Parameter(rand(4))), [(rand(3, 4),)] * 2, None)


@net()
def branches():

    def f(s, x, n):
        return (torch.cond(x.shape[0] > 3, lambda x: x.sum(0) * x.shape[0], lambda x: x.mean(0), (x,)), torch.cond(n > 2, lambda x: (x + n, x.shape[1] * x), lambda x: (x, x - n), (x,)))
    return (Run(f), [(rand(5, 4), torch.tensor(3)), (rand(7, 4), torch.tensor(1))], ({0: AUTO}, None))


@net()
def cache():

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.register_buffer('pos', torch.zeros(1, dtype=torch.long))
            s.register_buffer('c', torch.zeros(2, 6, 3))
            s.l = nn.Linear(3, 3)

        def forward(s, x):
            k = s.l(x)
            s.c.index_copy_(1, s.pos, k.unsqueeze(1))
            s.pos.add_(1)
            m = torch.arange(6) < s.pos
            return ((s.c * m[None, :, None]).sum(1), s.c[:, :2].clone(), s.pos * 1)
    return (M(), [(rand(2, 3),)] * 4, None)


@net()
def scanned():
    from torch._higher_order_ops.scan import scan

    def f(s, x, h):
        return scan(lambda h, v: (torch.tanh(h @ s.w + v), (h * 2).sum()), h, x, dim=0, reverse=True)
    return (Run(f, w=nn.Parameter(rand(4, 4))), [(rand(5, 2, 4), rand(2, 4)), (rand(3, 2, 4), rand(2, 4))], ({0: AUTO}, None))


def vision(name, size=64, batch=True, **kw):
    def make():
        import torchvision.models as V
        f = V
        for part in name.split("."):
            f = getattr(f, part)
        m = f(weights=None, **kw)
        return m, [(rand(2, 3, size, size),), (rand(1 if not batch else 3, 3, size, size),)], ({0: AUTO},) if batch else None
    make.__name__ = name.split(".")[-1]
    NETS[make.__name__] = ("vision", make)


for name in ["resnet18", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "densenet121", "squeezenet1_1", "shufflenet_v2_x0_5", "regnet_y_400mf", "mnasnet0_5", "convnext_tiny", "swin_t", "swin_v2_t"]:
    vision(name)
vision("googlenet", 64, init_weights=False, aux_logits=False)
vision("inception_v3", 96, init_weights=False, aux_logits=False)
vision("maxvit_t", 224)
vision("segmentation.fcn_resnet50", 32, weights_backbone=None)
vision("segmentation.deeplabv3_mobilenet_v3_large", 32, weights_backbone=None)
vision("segmentation.lraspp_mobilenet_v3_large", 32, weights_backbone=None)


def text(name, make_model, make_inputs, dynamic=None):
    def make():
        import transformers as T
        return make_model(T), make_inputs(), dynamic
    make.__name__ = name
    NETS[name] = ("text", make)


SMALL = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=99, max_position_embeddings=64)
GQA = dict(SMALL, num_key_value_heads=2)


def ids(b, s):
    return torch.randint(3, 99, (b, s))


def two(*sizes):
    return lambda: [tuple(ids(*s) if isinstance(s, tuple) else s for s in one) for one in sizes]


OPEN = ({0: AUTO, 1: AUTO},)
LM = two(((2, 7),), ((3, 9),))


class Kw(nn.Module):
    """Calls a transformer with keywords and returns tensors only."""

    def __init__(self, m, *names, **kw):
        super().__init__()
        self.m, self.names, self.kw = m, names, kw

    def forward(self, *args):
        out = self.m(**dict(zip(self.names, args)), **self.kw)
        for k in ("logits", "last_hidden_state", "logits_per_image"):
            if getattr(out, k, None) is not None:
                return getattr(out, k)


def lm(cls, cfg, **kw):
    return lambda T: Kw(getattr(T, cls)(getattr(T, cfg)(**kw)), "input_ids", use_cache=False)


text("llama", lm("LlamaForCausalLM", "LlamaConfig", **GQA), LM, OPEN)
text("qwen2", lm("Qwen2ForCausalLM", "Qwen2Config", **GQA), LM, OPEN)
text("gemma", lm("GemmaForCausalLM", "GemmaConfig", head_dim=8, **GQA), LM, OPEN)
text("mistral", lm("MistralForCausalLM", "MistralConfig", **GQA), LM, OPEN)
text("phi", lm("PhiForCausalLM", "PhiConfig", **SMALL), LM, OPEN)
text("gpt_neox", lm("GPTNeoXForCausalLM", "GPTNeoXConfig", **SMALL), LM, OPEN)
text("gpt2", lm("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64), LM, OPEN)
text("mamba", lm("MambaForCausalLM", "MambaConfig", hidden_size=32, state_size=4, num_hidden_layers=2, vocab_size=99), two(((2, 7),), ((2, 7),)), None)
text("bert", lambda T: Kw(T.BertModel(T.BertConfig(**SMALL)), "input_ids"), LM, OPEN)
text("distilbert", lambda T: Kw(T.DistilBertModel(T.DistilBertConfig(dim=32, hidden_dim=64, n_layers=2, n_heads=4, vocab_size=99)), "input_ids"), LM, OPEN)
text("deberta_v2", lambda T: Kw(T.DebertaV2Model(T.DebertaV2Config(relative_attention=True, pos_att_type=["p2c", "c2p"], **SMALL)), "input_ids"), LM, OPEN)
text("t5", lambda T: Kw(T.T5ForConditionalGeneration(T.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=99)), "input_ids", "decoder_input_ids", use_cache=False),
     two(((2, 7), (2, 5)), ((3, 9), (3, 4))), ({0: AUTO, 1: AUTO}, {0: AUTO, 1: AUTO}))
text("bart", lambda T: Kw(T.BartModel(T.BartConfig(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
     vocab_size=99, max_position_embeddings=64)), "input_ids", "decoder_input_ids", use_cache=False), two(((2, 7), (2, 5)), ((3, 9), (3, 4))), ({0: AUTO, 1: AUTO}, {0: AUTO, 1: AUTO}))
text("whisper", lambda T: Kw(T.WhisperForConditionalGeneration(T.WhisperConfig(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
     decoder_ffn_dim=64, vocab_size=99, num_mel_bins=8, max_source_positions=20, max_target_positions=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)),
     "input_features", "decoder_input_ids", use_cache=False), lambda: [(rand(2, 8, 40), ids(2, 5)), (rand(3, 8, 40), ids(3, 5))], ({0: AUTO}, {0: AUTO}))


def cached(T):
    """A decoder that keeps keys and values in buffers, a token a call."""
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache
    m = T.LlamaForCausalLM(T.LlamaConfig(**GQA)).eval()
    m.generation_config = T.GenerationConfig(use_cache=True, cache_implementation="static", max_length=16, cache_config={"batch_size": 1, "max_cache_len": 16})
    return Run(lambda s, ids, at: s.m(input_ids=ids, cache_position=at), m=TorchExportableModuleWithStaticCache(m, 1, 16, torch.device("cpu")))


text("llama_cached", cached, lambda: [(ids(1, 1), torch.tensor([k])) for k in range(4)], None)
IMAGE = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8)


def pixels(n=32):
    return lambda: [(rand(2, 3, n, n),), (rand(3, 3, n, n),)]


text("vit", lambda T: Kw(T.ViTModel(T.ViTConfig(**IMAGE)), "pixel_values"), pixels(), ({0: AUTO},))
text("siglip", lambda T: Kw(T.SiglipVisionModel(T.SiglipVisionConfig(**IMAGE)), "pixel_values"), pixels(), ({0: AUTO},))
text("dinov2", lambda T: Kw(T.Dinov2Model(T.Dinov2Config(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=28, patch_size=14)), "pixel_values"), pixels(28), ({0: AUTO},))
text("swin", lambda T: Kw(T.SwinModel(T.SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)), "pixel_values"), lambda: [(rand(2, 3, 32, 32),)] * 2, None)
text("clip", lambda T: Kw(T.CLIPModel(T.CLIPConfig(text_config=dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=99, max_position_embeddings=20, eos_token_id=2,
     bos_token_id=1), vision_config=IMAGE, projection_dim=16)), "input_ids", "pixel_values"), lambda: [(ids(2, 7), rand(2, 3, 32, 32)), (ids(3, 7), rand(3, 3, 32, 32))], ({0: AUTO}, {0: AUTO}))
text("wav2vec2", lambda T: Kw(T.Wav2Vec2Model(T.Wav2Vec2Config(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
     num_feat_extract_layers=2, vocab_size=32, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)), "input_values"), lambda: [(rand(2, 400),), (rand(3, 400),)], ({0: AUTO},))


@net()
def detached():
    """What counts as constant for gradients: detach of values, views and in place, and regions without gradients."""

    def f(s, x):
        y = x * s.w
        z = y.detach() * y + torch.tensor([1.0, 0.0, 2.0])
        with torch.no_grad():
            m, q, p = (y * 2).mean(), s.w * 3, y
        u = y.detach()[1:]
        k = torch.tanh(y).detach_() * y
        b = y.clone()
        b.detach()[0] = 5.0
        return (z * m + q + s.c).sum() + (u * y[1:]).sum() + (p * 2).sum() + k.sum() + (s.w.detach() * y + b * 0).sum()
    m = Run(f, w=nn.Parameter(torch.tensor([1.0, 2.0, 3.0])), c=torch.ones(3))
    m.trains = True
    return m, [(torch.tensor([1.0, -1.0, 2.0]),), (rand(3),)], None


def build(name):
    """The module in evaluation mode, its inputs, and which sizes are open."""
    torch.manual_seed(zlib.crc32(name.encode()))
    m, inputs, dynamic = NETS[name][1]()
    for b in m.modules():
        if isinstance(b, nn.modules.batchnorm._BatchNorm):
            b.running_mean.normal_(0, 0.2)
            b.running_var.uniform_(0.5, 1.5)
    return m.eval(), inputs, dynamic


def flat(x):
    return torch.utils._pytree.tree_leaves(x)


def program(m, inputs, dynamic):
    shapes = (dynamic,) if dynamic is not None else None  # forward(*args)
    return export(m, inputs[0], dynamic_shapes=shapes if isinstance(m, Run) or isinstance(m, Kw) else dynamic)


def arrays(values):
    return [v.numpy() if isinstance(v, torch.Tensor) else np.asarray(v) for v in flat(values) if v is not None]


def write(out, name):
    import copy
    m, inputs, dynamic = build(name)
    with torch.set_grad_enabled(getattr(m, "trains", False)):
        ep = program(copy.deepcopy(m), copy.deepcopy(inputs), dynamic)
        save(ep, f"{out}/{name}.pt2")
        try:
            save(program(copy.deepcopy(m), copy.deepcopy(inputs), dynamic).run_decompositions(), f"{out}/{name}.core.pt2")
        except Exception as e:
            print(name, "has no core ATen:", str(e).split("\n")[0][:200])
        for k, args in enumerate(inputs):  # one after the other: state goes on
            given = copy.deepcopy(args)
            tensors = [v for v in flat(given) if isinstance(v, torch.Tensor)]  # numbers are what the program was exported for
            a = {f"in{i}": v.numpy().copy() for i, v in enumerate(tensors)}
            found = m(*given)
            if getattr(m, "trains", False):  # a loss, and its gradient by the parameters
                a.update({f"grad{i}": g.numpy() for i, g in enumerate(torch.autograd.grad(found, list(m.parameters())))})
                found = found.detach()
            want = arrays(found)
            for i, (x, y) in enumerate(zip(flat(args), flat(given))):
                if isinstance(x, torch.Tensor) and not torch.equal(x, y):
                    want.append(y.numpy())  # what it wrote to an input
            a.update({f"out{i}": v for i, v in enumerate(want)})
            np.savez_compressed(f"{out}/{name}.{k}.npz", **a)


def onnx(out, name):
    m, inputs, dynamic = build(name)
    shapes = (dynamic,) if dynamic is not None else None
    with torch.no_grad():
        torch.onnx.export(m, inputs[0], f"{out}/{name}.onnx", dynamo=True, external_data=False, verbose=False,
                          dynamic_shapes=shapes if isinstance(m, (Run, Kw)) else dynamic)


def case(out, name):
    """A folder in the layout of ONNX's tests, of what was written before."""
    import shutil
    from onnx import numpy_helper
    os.makedirs(f"{out}/{name}", exist_ok=True)
    shutil.copy(f"{out}/{name}.pt2", f"{out}/{name}/model.pt2")
    for k in range(2):
        os.makedirs(f"{out}/{name}/test_data_set_{k}", exist_ok=True)
        for key, v in np.load(f"{out}/{name}.{k}.npz").items():
            kind, i = re.fullmatch("(in|out)([0-9]+)", key).groups()
            with open(f"{out}/{name}/test_data_set_{k}/{kind}put_{i}.pb", "wb") as f:
                f.write(numpy_helper.from_array(v).SerializeToString())


def scrub(path):
    """Takes paths of this machine, and sample inputs, out of an archive."""
    with zipfile.ZipFile(path) as z:
        files = [(i.filename, z.read(i)) for i in z.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files:
            if "sample_inputs" in name or "/.data/" in name:
                continue
            if "/models/" in name:
                text = data.decode()
                text = re.sub(r'File \\"[^"\\]*/site-packages/', r'File \\"', text)
                text = re.sub(r'File \\"[^"\\]*/(nets\.py)', r'File \\"\1', text)
                data = json.dumps(json.loads(text), separators=(",", ":")).encode()
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED if "/models/" in name else zipfile.ZIP_STORED)


def old(out, name):
    """An archive as PyTorch 2.1 to 2.7 wrote it: pickles in an archive without a folder."""
    import io
    import shutil
    m, inputs, dynamic = build(name)
    with torch.no_grad():
        ep = program(m, inputs, dynamic)
    with zipfile.ZipFile(f"{out}/{name}.pt2") as z:
        text = next(z.read(n) for n in z.namelist() if "/models/" in n)
    with zipfile.ZipFile(f"{out}/old_{name}.pt2", "w") as z:
        for member, value in (("serialized_state_dict.pt", dict(ep.state_dict)), ("serialized_constants.pt", {k: v for k, v in ep.constants.items()})):
            b = io.BytesIO()
            torch.save(value, b)
            z.writestr(zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0)), b.getvalue())
        z.writestr(zipfile.ZipInfo("serialized_exported_program.json", (1980, 1, 1, 0, 0, 0)), text)
        z.writestr(zipfile.ZipInfo("version", (1980, 1, 1, 0, 0, 0)), b"8.8")
    for k in range(len(inputs)):
        shutil.copy(f"{out}/{name}.{k}.npz", f"{out}/old_{name}.{k}.npz")


def main(args):
    if args[0] == "--list":
        for name, (group, _) in NETS.items():
            print(group, name)
    elif args[0] == "--onnx":
        for name in args[2:]:
            try:
                onnx(args[1], name)
            except Exception as e:
                print(name, "is not exported:", str(e).split("\n")[0][:300])
    elif args[0] == "--case":
        for name in args[2:]:
            case(args[1], name)
    elif args[0] == "--fixtures":
        for name, (group, _) in NETS.items():
            if group == "small":
                write(args[1], name)
                for kind in (".pt2", ".core.pt2"):
                    if os.path.exists(f"{args[1]}/{name}{kind}"):
                        scrub(f"{args[1]}/{name}{kind}")
        old(args[1], "mlp")
    else:
        failed = 0
        for name in args[1:] or NETS:
            try:
                write(args[0], name)
            except Exception as e:
                failed += 1
                print(name, "is not exported:", str(e).split("\n")[0][:300])
        sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])

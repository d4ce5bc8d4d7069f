"""Whole networks, as wide and deep as those of package models, with random
weights. prepare returns a function that runs one inference."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """A residual block: two convolutions of 3 by 3, or 1, 3 and 1."""

    def __init__(self, cin, width, stride, deep):
        super().__init__()
        cout = width * 4 if deep else width
        sizes = [(cin, width, 1, 1), (width, width, 3, stride), (width, cout, 1, 1)] if deep else [
            (cin, width, 3, stride), (width, width, 3, 1)]
        self.convs = nn.ModuleList(norm_conv(*s) for s in sizes)
        self.down = norm_conv(cin, cout, 1, stride) if stride != 1 or cin != cout else None

    def forward(self, x):
        y = x
        for i, c in enumerate(self.convs):
            y = c(y)
            if i + 1 < len(self.convs):
                y = torch.relu(y)
        if self.down is not None:
            x = self.down(x)
        return torch.relu(y + x)


def norm_conv(cin, cout, kernel, stride):
    return nn.Sequential(nn.Conv2d(cin, cout, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(cout))


def resnet(deep, depth):
    layers = [norm_conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    cin = 64
    for i, blocks in enumerate(depth):
        for j in range(blocks):
            layers.append(Block(cin, 64 << i, 2 if i > 0 and j == 0 else 1, deep))
            cin = (64 << i) * (4 if deep else 1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(cin, 1000))


class Layer(nn.Module):
    """One transformer layer; normalisation comes after the sums (BERT) or first (GPT-2)."""

    def __init__(self, width, heads, first):
        super().__init__()
        self.heads, self.first = heads, first
        self.qkv = nn.ModuleList([nn.Linear(width, 3 * width)] if first else [nn.Linear(width, width) for _ in range(3)])
        self.proj = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def attend(self, x, bias):
        n, s, w = x.shape
        qkv = self.qkv[0](x).chunk(3, -1) if self.first else [m(x) for m in self.qkv]
        q, k, v = (t.reshape(n, s, self.heads, w // self.heads).permute(0, 2, 1, 3) for t in qkv)
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(w // self.heads) + bias, -1)
        return self.proj((p @ v).permute(0, 2, 1, 3).reshape(n, s, w))

    def forward(self, x, bias):
        if self.first:
            x = x + self.attend(self.n1(x), bias)
            y = self.up(self.n2(x))
            y = 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y * y * y)))
            return x + self.down(y)
        x = self.n1(x + self.attend(x, bias))
        return self.n2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place, self.kind = nn.Embedding(30522, 768), nn.Embedding(512, 768), nn.Embedding(2, 768)
        self.norm = nn.LayerNorm(768)
        self.layers = nn.ModuleList(Layer(768, 12, False) for _ in range(12))
        self.pool = nn.Linear(768, 768)

    def forward(self, ids, mask):
        bias = (1 - mask[:, None, None, :].float()) * -1e30
        x = self.word(ids) + self.kind(torch.zeros_like(ids)) + self.place(torch.arange(ids.shape[1]))
        x = self.norm(x)
        for m in self.layers:
            x = m(x, bias)
        return x, torch.tanh(self.pool(x[:, 0]))


class GPT2(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.layers = nn.ModuleList(Layer(768, 12, True) for _ in range(12))
        self.norm = nn.LayerNorm(768)

    def forward(self, ids):
        s = ids.shape[1]
        bias = torch.full((s, s), -1e30).triu(1)
        x = self.word(ids) + self.place(torch.arange(s))
        for m in self.layers:
            x = m(x, bias)
        x = self.norm(x)
        return x, x @ self.word.weight.t()


MODELS = {
    "model/mlp": lambda: nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)),
    "model/resnet18": lambda: resnet(False, [2, 2, 2, 2]),
    "model/resnet50": lambda: resnet(True, [3, 4, 6, 3]),
    "model/bert_base": Bert,
    "model/gpt2": GPT2,
}


def make(op):
    torch.manual_seed(1)
    m = MODELS[op]()
    for p in m.parameters():
        p.requires_grad_(False)
    return m.eval()


def prepare(op, x, a, variant):
    m = make(op)
    if variant == "jit":
        with torch.no_grad():
            m = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(m, tuple(x))))
            for _ in range(3):
                m(*x)
    return lambda: m(*x)


def export(op, x, file):
    """Writes the network for ONNX Runtime, with the same weights."""
    with torch.no_grad():
        torch.onnx.export(make(op), tuple(x), file, opset_version=14)

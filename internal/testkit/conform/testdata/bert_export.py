"""Exports BERT as its authors write it, with random weights: small|base OPSET FILE.

Modules and sizes are those of models.Bert; batch and length are left open.
"""
import math
import sys
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")


class SelfAttention(nn.Module):
    def __init__(s, h, heads):
        super().__init__()
        s.heads, s.size = heads, h // heads
        s.query, s.key, s.value = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, h)

    def split(s, x):
        return x.view(x.size()[:-1] + (s.heads, s.size)).permute(0, 2, 1, 3)

    def forward(s, x, mask):
        q, k, v = s.split(s.query(x)), s.split(s.key(x)), s.split(s.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(s.size) + mask
        y = torch.matmul(torch.softmax(scores, -1), v).permute(0, 2, 1, 3).contiguous()
        return y.view(y.size()[:-2] + (s.heads * s.size,))


class Output(nn.Module):
    def __init__(s, i, h):
        super().__init__()
        s.dense, s.LayerNorm = nn.Linear(i, h), nn.LayerNorm(h, eps=1e-12)

    def forward(s, x, r):
        return s.LayerNorm(s.dense(x) + r)


class Attention(nn.Module):
    def __init__(s, h, heads):
        super().__init__()
        s.self, s.output = SelfAttention(h, heads), Output(h, h)

    def forward(s, x, mask):
        return s.output(s.self(x, mask), x)


class Layer(nn.Module):
    def __init__(s, h, heads, i):
        super().__init__()
        s.attention, s.dense, s.output = Attention(h, heads), nn.Linear(h, i), Output(i, h)

    def forward(s, x, mask):
        a = s.attention(x, mask)
        return s.output(nn.functional.gelu(s.dense(a)), a)


class Bert(nn.Module):
    def __init__(s, vocab, positions, h, layers, heads, i):
        super().__init__()
        s.word, s.position, s.kind = nn.Embedding(vocab, h), nn.Embedding(positions, h), nn.Embedding(2, h)
        s.LayerNorm = nn.LayerNorm(h, eps=1e-12)
        s.layer = nn.ModuleList(Layer(h, heads, i) for _ in range(layers))
        s.pooler = nn.Linear(h, h)
        s.register_buffer("position_ids", torch.arange(positions).expand((1, -1)))
        s.register_buffer("token_type_ids", torch.zeros((1, positions), dtype=torch.long))

    def forward(s, ids, mask):
        n, l = ids.size()
        x = s.word(ids) + s.kind(s.token_type_ids[:, :l].expand(n, l)) + s.position(s.position_ids[:, :l])
        x = s.LayerNorm(x)
        bias = (1.0 - mask[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min
        for m in s.layer:
            x = m(x, bias)
        return x, torch.tanh(s.pooler(x[:, 0]))


if __name__ == "__main__":
    torch.manual_seed(0)
    size = {"base": (30522, 512, 768, 12, 12, 3072), "small": (100, 64, 48, 2, 4, 96)}[sys.argv[1]]
    net = Bert(*size).eval()
    ids, mask = torch.randint(0, 100, (2, 7)), torch.ones((2, 7), dtype=torch.long)
    torch.onnx.export(net, (ids, mask), sys.argv[3], opset_version=int(sys.argv[2]), input_names=["input_ids", "attention_mask"],
                      output_names=["last_hidden_state", "pooler_output"], dynamic_axes={"input_ids": {0: "N", 1: "S"}, "attention_mask": {0: "N", 1: "S"}})

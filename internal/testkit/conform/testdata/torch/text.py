"""Exports a transformer with random weights: NAME OPSET FOLDER.

They are the networks of the fixtures, written with fewer and narrower layers, in the ways
in which their published implementations write them in PyTorch. The batch and the length of
the texts are left open; three of both are stored. Inputs and weights follow from a seed.
"""
import math
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision

import samples

warnings.filterwarnings("ignore")
WIDTH, HEADS, INNER, WORDS, LONGEST = 48, 4, 96, 211, 40
LOWEST = torch.finfo(torch.float32).min


class SelfAttention(nn.Module):
    """Post-norm attention of BERT, with a bias that is added to the scores."""

    def __init__(self, divide_query=False):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.divide_query = divide_query

    def heads(self, x):
        return x.view(x.size(0), x.size(1), HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

    def forward(self, x, bias=None, masked=None):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        root = math.sqrt(WIDTH // HEADS)
        scores = torch.matmul(q / root, k.transpose(2, 3)) if self.divide_query else torch.matmul(q, k.transpose(-1, -2)) / root
        if masked is not None:
            scores = scores.masked_fill(masked.view(x.size(0), 1, 1, x.size(1)).expand_as(scores), LOWEST)
        else:
            scores = scores + bias
        y = torch.matmul(F.softmax(scores, dim=-1), v).permute(0, 2, 1, 3).contiguous()
        return self.dense(y.view(y.size()[:-2] + (WIDTH,)))


class Layer(nn.Module):
    def __init__(self, eps, **kw):
        super().__init__()
        self.attention = SelfAttention(**kw)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=eps), nn.LayerNorm(WIDTH, eps=eps)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, **kw):
        x = self.norm1(self.attention(x, **kw) + x)
        return self.norm2(self.outer(F.gelu(self.inner(x))) + x)


class Bert(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.words, self.positions, self.types = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST + 2, WIDTH), nn.Embedding(2, WIDTH)
        self.register_buffer("position_ids", torch.arange(LONGEST).expand((1, -1)))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList([Layer(1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(WIDTH, WIDTH)

    def places(self, ids):
        return self.position_ids[:, :ids.size(1)]

    def forward(self, ids, mask):
        bias = (1.0 - mask[:, None, None, :].to(torch.float32)) * LOWEST
        x = self.words(ids) + self.types(torch.zeros_like(ids))
        x = self.norm(x + self.positions(self.places(ids)))
        for layer in self.layers:
            x = layer(x, bias=bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


class Roberta(Bert):
    def places(self, ids):
        mask = ids.ne(1).int()
        return (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + 1


class Distilbert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList([Layer(1e-12, divide_query=True) for _ in range(2)])

    def forward(self, ids, mask):
        places = torch.arange(ids.size(1), dtype=torch.long, device=ids.device).unsqueeze(0).expand_as(ids)
        x = self.norm(self.words(ids) + self.positions(places))
        for layer in self.layers:
            x = layer(x, masked=mask == 0)
        return x


class Conv1D(nn.Module):
    """A layer whose weight is [in, out]."""

    def __init__(self, out, wide):
        super().__init__()
        self.out = out
        self.weight, self.bias = nn.Parameter(torch.randn(wide, out) * wide**-0.5), nn.Parameter(torch.randn(out) * 0.1)

    def forward(self, x):
        size = x.size()[:-1] + (self.out,)
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(size)


class Gpt2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("allowed", torch.tril(torch.ones(LONGEST, LONGEST, dtype=torch.bool)).view(1, 1, LONGEST, LONGEST))
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = Conv1D(3 * WIDTH, WIDTH), Conv1D(WIDTH, WIDTH)
        self.c_fc, self.c_out = Conv1D(4 * WIDTH, WIDTH), Conv1D(WIDTH, 4 * WIDTH)

    def heads(self, x):
        return x.view(x.size()[:-1] + (HEADS, WIDTH // HEADS)).permute(0, 2, 1, 3)

    def attend(self, x):
        q, k, v = map(self.heads, self.c_attn(x).split(WIDTH, dim=2))
        w = torch.matmul(q, k.transpose(-1, -2)) / torch.full([], v.size(-1) ** 0.5, dtype=q.dtype)
        asked, known = q.size(-2), k.size(-2)
        w = torch.where(self.allowed[:, :, known - asked : known, :known], w, torch.full([], LOWEST, dtype=w.dtype))
        y = torch.matmul(F.softmax(w, dim=-1), v).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(y.view(y.size()[:-2] + (WIDTH,)))

    def gelu(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.c_out(self.gelu(self.c_fc(self.ln_2(x))))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks, self.ln_f = nn.ModuleList([Gpt2Block() for _ in range(2)]), nn.LayerNorm(WIDTH)

    def forward(self, ids):
        ids = ids.view(-1, ids.size(-1))
        places = torch.arange(0, ids.size(-1), dtype=torch.long).unsqueeze(0).view(-1, ids.size(-1))
        x = self.wte(ids) + self.wpe(places)
        for block in self.blocks:
            x = block(x)
        x = self.ln_f(x)
        return x, F.linear(x, self.wte.weight)


class DebertaLayer(nn.Module):
    """Attention to contents and to relative positions, both ways."""

    SPAN = 16

    def __init__(self):
        super().__init__()
        self.in_proj, self.pos_proj, self.pos_q_proj = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
        self.q_bias, self.v_bias = nn.Parameter(torch.randn(WIDTH) * 0.1), nn.Parameter(torch.randn(WIDTH) * 0.1)
        self.dense, self.inner, self.outer = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-7), nn.LayerNorm(WIDTH, eps=1e-7)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), HEADS, -1).permute(0, 2, 1, 3)

    def forward(self, x, allowed, table):
        q, k, v = self.heads(self.in_proj(x)).chunk(3, dim=-1)
        q = q + self.heads(self.q_bias[None, None])
        v = v + self.heads(self.v_bias[None, None])
        scale = 1 / math.sqrt(q.size(-1) * 3)
        n, span = q.size(-2), self.SPAN
        ids = torch.arange(n, dtype=torch.long)
        far = (ids[:, None] - ids.view(1, -1).repeat(n, 1)).unsqueeze(0).unsqueeze(0)
        keys, queries = self.heads(self.pos_proj(table.unsqueeze(0))), self.heads(self.pos_q_proj(table.unsqueeze(0)))
        scores = torch.matmul(q * scale, k.transpose(-1, -2))
        at = torch.clamp(far + span, 0, 2 * span - 1).expand(q.size(0), q.size(1), n, n)
        scores = scores + torch.gather(torch.matmul(q, keys.transpose(-1, -2)), dim=-1, index=at) * scale
        back = torch.clamp(-far + span, 0, 2 * span - 1).expand(q.size(0), q.size(1), n, n)
        scores = scores + torch.gather(torch.matmul(k, (queries * scale).transpose(-1, -2)), dim=-1, index=back).transpose(-1, -2)
        p = F.softmax(scores.masked_fill(~allowed, LOWEST), dim=-1).masked_fill(~allowed, 0)
        y = torch.matmul(p, v).permute(0, 2, 1, 3).contiguous()
        x = self.norm1(self.dense(y.view(y.size()[:-2] + (-1,))) + x)
        return self.norm2(self.outer(F.gelu(self.inner(x))) + x)


class Deberta(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH, eps=1e-7)
        self.table = nn.Parameter(torch.randn(2 * DebertaLayer.SPAN, WIDTH) * 0.3)
        self.layers = nn.ModuleList([DebertaLayer() for _ in range(2)])

    def forward(self, ids, mask):
        x = self.norm(self.words(ids)) * mask.unsqueeze(2).to(torch.float32)
        wide = mask.unsqueeze(1).unsqueeze(2)
        allowed = (wide * wide.squeeze(-2).unsqueeze(-1)).bool()
        for layer in self.layers:
            x = layer(x, allowed, self.table)
        return x


class Align(nn.Module):
    """A tower for texts, one for images, and how alike they are."""

    def __init__(self):
        super().__init__()
        self.text, self.project = Bert(), nn.Linear(WIDTH, 1280)
        self.vision = torchvision.models.efficientnet_b0(weights=None).features
        self.temperature = nn.Parameter(torch.tensor(0.5))

    def forward(self, ids, mask, pixels):
        image = self.vision(pixels).mean([2, 3])
        text = self.project(self.text(ids, mask)[0][:, 0])
        image = image / image.norm(p=2, dim=-1, keepdim=True)
        text = text / text.norm(p=2, dim=-1, keepdim=True)
        return image, text, torch.matmul(text, image.t()) / self.temperature


class Vit(nn.Module):
    """Patches, a token for the class, pre-norm blocks of PyTorch's own attention."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 8, 8)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, WIDTH)), nn.Parameter(torch.randn(1, 17, WIDTH) * 0.1)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH, eps=1e-6) for _ in range(5)])
        self.attention = nn.ModuleList([nn.MultiheadAttention(WIDTH, HEADS, batch_first=True) for _ in range(2)])
        self.mlp = nn.ModuleList([nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH)) for _ in range(2)])
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.token.expand(x.size(0), -1, -1), x], dim=1) + self.places
        for i in range(2):
            y = self.norms[2 * i](x)
            x = x + self.attention[i](y, y, y, need_weights=False)[0]
            x = x + self.mlp[i](self.norms[2 * i + 1](x))
        return self.head(self.norms[4](x)[:, 0])


def windows(x, size):
    n, h, w, c = x.shape
    return x.view(n, h // size, size, w // size, size, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size * size, c)


class SwinBlock(nn.Module):
    """Attention in windows of a map, moved by shift."""

    SIZE = 4

    def __init__(self, shift, side):
        super().__init__()
        n = self.SIZE
        self.shift, self.qkv, self.out = shift, nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.table = nn.Parameter(torch.randn((2 * n - 1) ** 2, HEADS) * 0.2)
        at = torch.stack(torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")).flatten(1)
        far = (at[:, :, None] - at[:, None]).permute(1, 2, 0) + n - 1
        self.register_buffer("index", (far[..., 0] * (2 * n - 1) + far[..., 1]).flatten())
        regions = torch.zeros(1, side, side, 1)
        cuts = (slice(0, -n), slice(-n, -shift), slice(-shift, None))
        for i, rows in enumerate(cuts if shift else ()):
            for k, cols in enumerate(cuts):
                regions[:, rows, cols] = 3 * i + k
        regions = windows(regions, n).squeeze(-1)
        self.register_buffer("apart", (regions[:, None] - regions[:, :, None]).ne(0) * -100.0)

    def attend(self, x):
        n, h, w, c = x.shape
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        x = windows(x, self.SIZE)
        q, k, v = self.qkv(x).reshape(x.size(0), x.size(1), 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        scores = (q * (c // HEADS) ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.table[self.index].view(x.size(1), x.size(1), HEADS).permute(2, 0, 1).contiguous().unsqueeze(0)
        if self.shift:
            many = self.apart.size(0)
            scores = scores.view(x.size(0) // many, many, HEADS, x.size(1), x.size(1)) + self.apart.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, HEADS, x.size(1), x.size(1))
        y = self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.size(0), x.size(1), c))
        s = self.SIZE
        y = y.view(n, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(n, h, w, c)
        return torch.roll(y, (self.shift, self.shift), (1, 2)) if self.shift else y

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.outer(F.gelu(self.inner(self.norm2(x))))


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.norm = nn.Conv2d(3, WIDTH, 4, 4), nn.LayerNorm(WIDTH)
        self.blocks = nn.Sequential(SwinBlock(0, 8), SwinBlock(2, 8))
        self.norm4, self.merge = nn.LayerNorm(4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.last, self.head = SwinBlock(0, 4), nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.blocks(self.norm(self.patches(x).permute(0, 2, 3, 1)))
        x = torch.cat([x[:, i::2, k::2] for k in (0, 1) for i in (0, 1)], -1)
        x = self.last(self.merge(self.norm4(x)))
        return self.head(x.mean([1, 2]))


class Seq2seq(nn.Module):
    """PyTorch's own encoder and decoder, with masks of paddings and of what comes later."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.net = nn.Transformer(WIDTH, HEADS, 2, 2, INNER, batch_first=True, norm_first=True)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, ids, mask, so_far):
        n = so_far.size(1)
        later = torch.full((n, n), float("-inf")).triu(1) if not torch.onnx.is_in_onnx_export() else (
            torch.arange(n)[None, :] > torch.arange(n)[:, None]).to(torch.float32) * -1e9
        pad = mask == 0
        return self.out(self.net(self.words(ids), self.words(so_far), tgt_mask=later, src_key_padding_mask=pad, memory_key_padding_mask=pad))


def text(n, length):
    return torch.randint(2, WORDS, (n, length))


def mask(ids):
    """The last tokens of all texts but the first are paddings."""
    m = torch.ones_like(ids)
    m[1:, -2:] = 0
    return m


def padded(n, length):
    ids = text(n, length)
    m = mask(ids)
    return ids.masked_fill(m == 0, 1), m


TOKENS = {"ids": {0: "N", 1: "S"}, "mask": {0: "N", 1: "S"}}
IMAGES = {"x": {0: "N"}}
SIZES = (2, 9), (1, 5), (3, 12)
NETWORKS = {
    "bert": (Bert, padded, TOKENS),
    "bert_deep": (lambda: Bert(5), padded, TOKENS),
    "roberta": (Roberta, padded, TOKENS),
    "distilbert": (Distilbert, padded, TOKENS),
    "gpt2": (Gpt2, lambda n, s: (text(n, s),), {"ids": TOKENS["ids"]}),
    "deberta": (Deberta, padded, TOKENS),
    "align": (Align, lambda n, s: (*padded(n, s), torch.rand(s % 4 + 1, 3, 64, 64)), {**TOKENS, "pixels": {0: "M"}}),
    "vit": (Vit, lambda n, s: (torch.rand(n, 3, 32, 32),), IMAGES),
    "swin": (Swin, lambda n, s: (torch.rand(n, 3, 32, 32),), IMAGES),
    "seq2seq": (Seq2seq, lambda n, s: (*padded(n, s), text(n, s - 2)), {**TOKENS, "so_far": {0: "N", 1: "T"}}),
}


def main(name, opset, folder):
    torch.manual_seed(0)
    make, sample, axes = NETWORKS[name]
    net = make().eval()
    samples.export(net, [sample(*size) for size in SIZES], folder, opset, list(axes), axes)


main(*sys.argv[1:])

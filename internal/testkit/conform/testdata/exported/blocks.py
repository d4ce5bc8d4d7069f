"""Networks of timm, and the layers of PyTorch that networks are made of, one by one."""
import timm
import torch
from torch import nn

from torchnet import net

CASES = {}


def image(name, model, size=64, opset=18, **kw):
    CASES.update(net("timm_" + name, "timm", lambda: timm.create_model(model, pretrained=False, num_classes=10, **kw), {"x": ("f32", ["N", 3, size, size])},
                     {"N": 2}, {"N": 3}, opset, positional=True))


def built(name, build, opset=18):
    CASES.update(net("timm_" + name, "timm", build, {"x": ("f32", ["N", 3, 32, 32])}, {"N": 2}, {"N": 3}, opset, positional=True))


VIT = dict(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4)
image("vit", "vit_tiny_patch16_224", 32, **VIT)
image("eva", "eva02_tiny_patch14_224", 32, 23, **VIT)
image("deit3", "deit3_small_patch16_224", 32, 20, **VIT)
image("cait", "cait_xxs24_224", 32, **VIT)
image("beitv2", "beitv2_base_patch16_224", 32, 21, **VIT)
image("xcit", "xcit_nano_12_p16_224", 32, img_size=32, patch_size=16, embed_dim=32, depth=2, num_heads=4)
built("mixer", lambda: timm.models.mlp_mixer.MlpMixer(10, 32, patch_size=8, num_blocks=2, embed_dim=32), 23)
built("convmixer", lambda: timm.models.convmixer.ConvMixer(16, 2, kernel_size=5, patch_size=4, num_classes=10))
image("resnetv2", "resnetv2_50", 32, 20, layers=[1, 1, 1, 1], channels=[16, 16, 32, 32], stem_chs=8)
image("ghostnet", "ghostnet_050")
image("mobilenetv4", "mobilenetv4_conv_small_050", opset=23)
image("efficientvit", "efficientvit_b0", widths=(8, 8, 16, 32, 32), depths=(1, 1, 1, 1, 1), head_dim=8)
image("edgenext", "edgenext_xx_small", dims=(8, 16, 24, 32), depths=(1, 1, 2, 1), heads=(2, 2, 2, 2))
image("res2net", "res2net50_26w_4s", 32, layers=[1, 1, 1, 1])


def block(name, build, dims, sizes, other, opset=18, call=None, kind="layer", spec="f32"):
    CASES.update(net("layer_" + name, kind, build, {"x": (spec, dims)}, sizes, other, opset, call or (lambda m, f: m(f["x"]))))


SEQ = dict(sizes={"N": 2, "S": 6}, other={"N": 3, "S": 9})
block("transformer_encoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 48, batch_first=True), 2), ["N", "S", 32], **SEQ)
block("transformer", lambda: nn.Transformer(32, 4, 1, 1, 48, batch_first=True), ["N", "S", 32], opset=23, **SEQ, call=lambda m, f: m(f["x"], f["x"] * 0.5, tgt_is_causal=False))
block("attention_causal", lambda: nn.MultiheadAttention(32, 4, batch_first=True), ["N", "S", 32], opset=21, **SEQ,
      call=lambda m, f: m(f["x"], f["x"], f["x"], attn_mask=torch.triu(torch.full((f["x"].shape[1],) * 2, float("-inf")), 1), is_causal=False))
block("lstm", lambda: nn.LSTM(8, 16, 2, bidirectional=True, batch_first=True), ["N", "S", 8], **SEQ)
block("gru", lambda: nn.GRU(8, 16, 2, batch_first=True), ["N", "S", 8], **SEQ, opset=20)
block("rnn", lambda: nn.RNN(8, 16, batch_first=True, nonlinearity="relu"), ["N", "S", 8], **SEQ)


class Rows(nn.Module):
    """Results whose sizes follow from values."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(32, 8)

    def forward(self, x):
        kept = x[x > 4]
        return self.table(kept), torch.nonzero(x), kept.unique(sorted=True)


class Branches(nn.Module):
    """A choice that a value makes."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda v: self.a(v).relu(), lambda v: self.b(v).sin(), (x,))


class Rounds(nn.Module):
    """As many rounds as values need."""

    def forward(self, x):
        done = torch._higher_order_ops.while_loop(lambda v, n: (v.abs().max() > 0.1) & (n < 20), lambda v, n: (v * 0.5, n + 1), (x, torch.tensor(0)))
        return done


class Sums(nn.Module):
    """A scan."""

    def forward(self, x):
        carry, out = torch._higher_order_ops.scan(lambda c, v: (c * 0.5 + v, c.sin()), torch.zeros_like(x[0]), x)
        return carry, out


class Signals(nn.Module):
    """Spectra and windows."""

    def forward(self, x):
        s = torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True)
        return s.abs(), torch.fft.rfft(x[:, :32]).real, torch.cumsum(x, 1), x.unfold(1, 8, 4).std(-1)


class Indices(nn.Module):
    """Sorting, searching and scattering."""

    def forward(self, x):
        v, i = torch.topk(x, 3)
        s, order = torch.sort(x)
        z = torch.zeros_like(x).scatter_add(1, order, s).index_add(0, torch.tensor([0, 1]), x[:2])
        return v, i, s, z, torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), x.roll(2, 1)


class Pictures(nn.Module):
    """What is done to pictures between networks."""

    def forward(self, x):
        f = nn.functional
        g = f.affine_grid(torch.tensor([[[0.8, 0.2, 0.1], [-0.1, 0.9, 0.0]]]).expand(x.shape[0], 2, 3), (x.shape[0], 3, 20, 24), align_corners=False)
        return (f.interpolate(x, scale_factor=1.7, mode="bilinear"), f.interpolate(x, size=(20, 24), mode="bicubic", align_corners=True), f.grid_sample(x, g, align_corners=False),
                f.pad(x, (1, 2, 3, 1), mode="reflect"), f.unfold(x, 3, padding=1), f.pixel_shuffle(x.repeat(1, 4, 1, 1), 2),
                f.max_pool2d(x, 3, 2, 1, ceil_mode=True), f.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), f.interpolate(x, size=(8, 9), mode="bilinear", antialias=True))


block("rows", Rows, ["N", "S"], **SEQ, spec="ids:32")
block("branches", Branches, ["N", 8], {"N": 2}, {"N": 5}, opset=20)
block("rounds", Rounds, ["N", 8], {"N": 2}, {"N": 5})
block("sums", Sums, ["S", 4], {"S": 6}, {"S": 9})
block("signals", Signals, ["N", "L"], {"N": 2, "L": 64}, {"N": 3, "L": 96}, opset=20)
block("indices", Indices, ["N", "L"], {"N": 2, "L": 12}, {"N": 3, "L": 17}, opset=21)
block("pictures", Pictures, ["N", 3, "H", "W"], {"N": 2, "H": 16, "W": 20}, {"N": 1, "H": 18, "W": 13}, opset=20)

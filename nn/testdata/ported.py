"""Writes ported.pt: weights, inputs and results of torch.nn modules, which ported_test.go compares.

    python3 nn/testdata/ported.py

Written with PyTorch 1.13. A tensor is named CASE/w/PARAMETER, CASE/in/N or CASE/out/N.
"""
import os
import torch
from torch import nn

torch.manual_seed(5)
tensors = {}


def case(name, module, *inputs, call=None):
    module.eval()
    for p in module.parameters():  # biases and norms start as constants
        p.data += 0.1 * torch.randn_like(p)
    with torch.no_grad():
        out = (call or module)(*inputs)
    for key, value in module.state_dict().items():
        tensors[f"{name}/w/{key}"] = value
    for i, x in enumerate(inputs):
        if x is not None:
            tensors[f"{name}/in/{i}"] = x
    tensors[f"{name}/out/0"] = out


N, T, S, E, H = 2, 3, 4, 8, 2
small = dict(dim_feedforward=12, dropout=0.0)
src, tgt = torch.randn(S, N, E), torch.randn(T, N, E)
padding = torch.tensor([[False, False, False, True], [False, True, False, False]])
causal = torch.ones(T, T).triu(1).bool()
bias = torch.randn(S, S)

case("encoder_layer", nn.TransformerEncoderLayer(E, H, **small), src, None, padding)
case("encoder_layer_first", nn.TransformerEncoderLayer(E, H, norm_first=True, activation="gelu", batch_first=True, **small), src.transpose(0, 1).contiguous(), bias, None)
layer = nn.TransformerEncoderLayer(E, H, layer_norm_eps=1e-3, **small)
case("encoder", nn.TransformerEncoder(layer, 2, nn.LayerNorm(E, eps=1e-3)), src, bias, None)
case("decoder_layer", nn.TransformerDecoderLayer(E, H, **small), tgt, src, causal, None, None, padding)
layer = nn.TransformerDecoderLayer(E, H, norm_first=True, **small)
case("decoder", nn.TransformerDecoder(layer, 2, nn.LayerNorm(E)), tgt, src, causal, None, None, padding)

x, y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
x[0, 0] = 0
edges = torch.tensor([-0.5, 0.5, -0.0, 0.3, float("inf"), float("-inf"), 2, -2])
case("cosine", nn.CosineSimilarity(), x, y)
case("cosine_last", nn.CosineSimilarity(dim=-1), x, y[:1])
case("pairwise", nn.PairwiseDistance(), x, y)
case("pairwise_l1", nn.PairwiseDistance(p=1, keepdim=True), x, y)
case("softshrink", nn.Softshrink(), edges)
case("hardshrink", nn.Hardshrink(), edges)
case("tanhshrink", nn.Tanhshrink(), edges[:4])

for name, pool, unpool, x in [
    ("unpool1d", nn.MaxPool1d(2, 2, return_indices=True), nn.MaxUnpool1d(2), torch.randn(2, 3, 8)),
    ("unpool2d", nn.MaxPool2d(3, 2, padding=1, return_indices=True), nn.MaxUnpool2d(3, 2, padding=1), torch.randn(2, 3, 7, 9)),
    ("unpool3d", nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2), torch.randn(1, 2, 4, 4, 6)),
]:
    values, indices = pool(x)
    case(name, unpool, values, indices)

torch.save(tensors, os.path.join(os.path.dirname(__file__), "ported.pt"))

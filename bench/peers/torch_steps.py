"""Steps of training as PyTorch's users write them: a module with the names of torchvision's
and Hugging Face's checkpoints, a loss, an optimiser. prepare returns the function of a step
and the losses of the first ones, which gofx is compared with: they tell whether forward,
gradients and updates agree. The variant compile has inductor compile network and loss
together, forwards and backwards. Optimisers are fused where PyTorch has them so."""

import math
import os

import torch
import torch.nn.functional as F
from torch import nn

import torch_networks

FIRST = 3  # steps whose losses are compared


class Block(nn.Module):
    """ResNet's block of two convolutions."""

    def __init__(self, of, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(of, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or of != width:
            self.downsample = nn.Sequential(nn.Conv2d(of, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
        self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
        self.layer3 = nn.Sequential(Block(128, 256, 2), Block(256, 256, 1))
        self.layer4 = nn.Sequential(Block(256, 512, 2), Block(512, 512, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x, labels):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return F.cross_entropy(self.fc(torch.flatten(self.avgpool(x), 1)), labels)


class Conv1D(nn.Module):
    """The linear map of GPT-2's checkpoints, its weight [in, out]."""

    def __init__(self, of, to):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(of, to)), nn.Parameter(torch.empty(to))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class GPT2Block(nn.Module):
    def __init__(self, width, heads, eps):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width, eps)
        self.attn = nn.ModuleDict({"c_attn": Conv1D(width, 3 * width), "c_proj": Conv1D(width, width)})
        self.ln_2 = nn.LayerNorm(width, eps)
        self.mlp = nn.ModuleDict({"c_fc": Conv1D(width, 4 * width), "c_proj": Conv1D(4 * width, width)})

    def attention(self, x):
        n, s, width = x.shape
        q, k, v = (t.view(n, s, self.heads, -1).transpose(1, 2) for t in self.attn["c_attn"](x).chunk(3, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            later = torch.ones(s, s, dtype=torch.bool).triu(1)
            scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
            y = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
        return self.attn["c_proj"](y.transpose(1, 2).reshape(n, s, width))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        y = self.mlp["c_fc"](self.ln_2(x))
        return x + self.mlp["c_proj"](F.gelu(y, approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, vocabulary, positions, width, layers, heads, eps):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList(GPT2Block(width, heads, eps) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width, eps)

    def forward(self, ids, following):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        return F.cross_entropy(F.linear(self.ln_f(x), self.wte.weight).flatten(0, 1), following.flatten())


class LSTM(nn.LSTM):
    def forward(self, x, target):
        return F.mse_loss(super().forward(x)[0], target)


NETWORKS = {"resnet18": ResNet18, "gpt2": GPT2, "lstm": LSTM}


def optimiser(name, params, settings):
    """The optimiser, fused into one loop over all parameters where it can be. PyTorch 1.13 reads
    them before it refuses to fuse Adam on a CPU."""
    of, params = getattr(torch.optim, name), list(params)
    try:
        return of(params, fused=True, **settings)
    except (TypeError, RuntimeError):
        return of(params, **settings)


class Step:
    def __init__(self, folder, attrs, inputs, variant):
        self.net = NETWORKS[attrs["network"]](*attrs.get("sizes", []))
        self.net.load_state_dict(torch_networks.network.oracle.read(os.path.join(folder, "weights.safetensors")))
        self.net.train()
        self.optimiser = optimiser(attrs["optimiser"], self.net.parameters(), attrs["settings"])
        self.inputs = inputs
        self.loss = self.net
        if variant == "compile":
            import torch._inductor.config as inductor

            inductor.freezing = False  # weights change
            self.loss = torch.compile(self.net, dynamic=False)
        self.first = [self.run() for _ in range(FIRST)]

    def run(self):
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.loss(*self.inputs)
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def __call__(self):
        with torch.inference_mode(False), torch.enable_grad():
            self.run()


def prepare(folder, attrs, inputs, variant):
    with torch.inference_mode(False), torch.enable_grad():
        return Step(folder, attrs, [x.clone() for x in inputs], variant)

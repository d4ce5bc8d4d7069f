"""Networks of PyTorch: what a row of a family says of one, and its export."""
import contextlib
import io
import logging

import numpy as np
import torch

from export import Case

torch.set_num_threads(1)
for quiet in ("torch.onnx", "torch.export", "torch.fx.experimental", "onnxscript", "onnx_ir", "transformers"):
    logging.getLogger(quiet).setLevel(logging.CRITICAL)


def draw(spec, sizes, rng):
    """Makes an input: (type, sizes), the type one of f32, ids:N, ones, mask and so on."""
    kind, dims = spec
    shape = [d if isinstance(d, int) else eval(d, {}, dict(sizes)) for d in dims]
    kind, _, most = kind.partition(":")
    if kind == "f32":
        return torch.from_numpy(rng.standard_normal(shape).astype(np.float32)) * float(most or 1)
    if kind == "unit":
        return torch.from_numpy(rng.random(shape).astype(np.float32))
    if kind == "ids":
        return torch.from_numpy(rng.integers(1, int(most), shape))
    if kind == "ones":
        return torch.ones(shape, dtype=torch.int64)
    if kind == "mask":  # the last tokens of all texts but the first are padding
        m = torch.ones(shape, dtype=torch.int64)
        m[1:, -(shape[1] // 3):] = 0
        return m
    if kind == "left":  # or some near the beginning, so that every token sees one
        m = torch.ones(shape, dtype=torch.int64)
        m[1:, 1 : 1 + shape[1] // 3] = 0
        return m
    if kind == "box":  # left, top, right, bottom
        return torch.from_numpy(np.sort(rng.integers(0, 63, shape), -1))
    if kind == "range":
        return torch.arange(int(np.prod(shape))).reshape(shape) + (int(eval(most, {}, dict(sizes))) if most else 0)
    raise ValueError(kind)


def dynamic(inputs, most):
    """Returns the dynamic shapes: letters are sizes that are left open, what they make follows."""
    open_ = {}

    def dim(d):
        if not d.isalpha():
            return torch.export.Dim.DYNAMIC
        return open_.setdefault(d, torch.export.Dim(d, min=0 if d == "P" else 1, max=most))

    return [{i: dim(d) for i, d in enumerate(shape) if isinstance(d, str)} for _, shape in inputs.values()]


def flat(v):
    """Lists the tensors of a result in their order."""
    if torch.is_tensor(v):
        return [v]
    if isinstance(v, dict):
        return [t for k in v for t in flat(v[k])]
    if isinstance(v, (list, tuple)):
        return [t for e in v for t in flat(e)]
    if v is None or isinstance(v, (int, float, bool, str)):
        return []
    if hasattr(v, "to_legacy_cache"):
        return flat(v.to_legacy_cache())
    if hasattr(v, "layers"):
        return [t for layer in v.layers for t in (layer.keys, layer.values)]
    raise TypeError(type(v))


class Flat(torch.nn.Module):
    """A network with its inputs by position and its results as a tuple."""

    def __init__(self, net, names, call):
        super().__init__()
        self.net, self.names, self.call = net, names, call

    def forward(self, *inputs):
        feeds = dict(zip(self.names, inputs))
        return tuple(flat(self.call(self.net, feeds)))


def enliven(module):
    """Makes every weight count: biases of zero and scales of one or 1e-6 would hide faults."""
    with torch.no_grad():
        for p in module.parameters():
            if not p.is_floating_point() or p.numel() < 2 or p.std() > 1e-4 * (1 + p.abs().mean()):
                continue
            if p.dim() > 1:
                p.normal_(std=p[0].numel() ** -0.5)
            else:
                p.add_(torch.randn_like(p) * 0.1)


def calibrate(module, inputs, call):
    """Gives normalisations the statistics of their inputs, so that results do not vanish."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
        m.train()
    if norms:
        with torch.no_grad():
            call(module, inputs)
    for m in norms:
        m.running_var.clamp_(min=0.01)  # small ones would make the noise of rounding larger than what is compared
    module.eval()


def net(name, kind, build, inputs, sizes, other, opset=18, call=None, seed=0, after=None, external=False, positional=False, most=1 << 16, dynamo=True):
    """Describes a network of PyTorch. Sizes are those of the export, other those of the second set."""

    def make():
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed + 1)
        module = build().eval()
        enliven(module)
        if after:
            after(module)
        how = call or (lambda m, feeds: m(*feeds.values()) if positional else m(**feeds))
        sets = [{k: draw(v, s, rng) for k, v in inputs.items()} for s in (sizes, other)]
        many = {**sizes, "N": 8} if "N" in sizes else sizes
        calibrate(module, {k: draw(v, many, np.random.default_rng(seed)) for k, v in inputs.items()}, how)
        wrapped = Flat(module, list(inputs), how).eval()

        def write(path):
            with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
                how = dict(dynamo=True, dynamic_shapes=(tuple(dynamic(inputs, most)),), external_data=external) if dynamo else dict(dynamo=False)
                torch.onnx.export(wrapped, tuple(t.clone() for t in sets[0].values()), path, opset_version=opset, input_names=list(inputs), verbose=False, **how)

        def run(feeds):
            with torch.no_grad():
                return [t.numpy() for t in wrapped(*(torch.from_numpy(v.copy()) for v in feeds.values()))]

        def closed(dims):
            letters = sorted({c for k, have in dims.items() for d, n in zip(inputs[k][1], have) if isinstance(d, str) and n for c in d if c.isalpha()})
            if letters:
                sets[1] = {k: draw(v, {**other, **{c: sizes[c] for c in letters}}, rng) for k, v in inputs.items()}
            return letters, {k: t.numpy() for k, t in sets[1].items()}

        return Case(name, kind, "torch.onnx" if dynamo else "torch.onnx, TorchScript", opset, write, run, [{k: t.numpy() for k, t in s.items()} for s in sets], closed)

    return {name: make}

"""Whole networks, as the graphs of package models: a folder has the calls and the
weights. prepare returns a function that runs one inference: eager, traced and frozen
(frozen), and optimised for inference besides (jit), which PyTorch 1.13 does wrongly
to some networks; or traced and frozen calls of the quantised engine (quantised)."""

import functools
import os
import sys

import torch
from torch.onnx import symbolic_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "oracle"))
import network  # noqa: E402
import onnx_quant  # noqa: E402
import torch_quant  # noqa: E402

opened = functools.lru_cache(1)(network.Network)
quantised = functools.lru_cache(1)(torch_quant.Network)


def forget():
    opened.cache_clear()
    quantised.cache_clear()


def prepare(folder, variant):
    if variant == "quantised":
        m = quantised(folder)
        call, x = m.frozen(), tuple(m.inputs)
        return lambda: call(*x)
    m = opened(folder)
    x = tuple(m.inputs)
    if variant:
        with torch.no_grad():
            m = torch.jit.freeze(torch.jit.trace(m, x, check_trace=False))
            if variant == "jit":
                m = torch.jit.optimize_for_inference(m)
            for _ in range(3):
                m(*x)
    return lambda: m(*x)


def unflatten(g, x, dim, sizes, *names):
    """What this PyTorch does not export."""
    dim, sizes = symbolic_helper._get_const(dim, "i", "dim"), symbolic_helper._get_const(sizes, "is", "sizes")
    old = x.type().sizes()
    dim %= len(old)
    return g.op("Reshape", x, g.op("Constant", value_t=torch.tensor(old[:dim] + list(sizes) + old[dim + 1:])))


def export(folder):
    """Writes the network for ONNX Runtime."""
    m = network.Network(folder, onnx_quant.INSTEAD)
    torch.onnx.register_custom_op_symbolic("aten::unflatten", unflatten, 14)
    with torch.no_grad():
        torch.onnx.export(m, tuple(m.inputs), os.path.join(folder, "network.onnx"), opset_version=14)

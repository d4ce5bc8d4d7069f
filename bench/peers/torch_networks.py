"""Whole networks, as the graphs of package models: a folder has the calls and the
weights. prepare returns a function that runs one inference: eager; compiled by inductor,
which takes weights as constants (compile), and tries several kernels of products besides
(autotune); traced, frozen and optimised for inference, which PyTorch 1.13 does wrongly to
some networks (jit), or without the last (frozen); in the quantised engine (quantised); or
with products of torchao's 8-bit weights, their operands quantised by the range of each run,
compiled (ao)."""

import functools
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "testkit", "oracle"))
import network  # noqa: E402
import torch_quant  # noqa: E402

opened = functools.lru_cache(1)(network.Network)
quantised = functools.lru_cache(1)(torch_quant.Network)


def forget():
    opened.cache_clear()
    quantised.cache_clear()
    if hasattr(torch, "_dynamo"):
        torch._dynamo.reset()


def hold_to_f32():
    """Products and convolutions of f32 do not round operands, whatever the processor has."""
    if hasattr(torch.backends, "fp32_precision"):
        torch.backends.fp32_precision = "ieee"
        torch.backends.mkldnn.matmul.fp32_precision = "ieee"
        torch.backends.mkldnn.conv.fp32_precision = "ieee"


def prepare(folder, variant):
    if variant == "quantised":
        m = quantised(folder)
        call, x = m.frozen(), tuple(m.inputs)
        return lambda: call(*x)
    m = opened(folder)
    x = tuple(m.inputs)
    if variant.startswith("bf16"):
        return brained(m, x, variant == "bf16-compile")
    if variant in ("compile", "autotune"):
        m = compiled(m, x, variant == "autotune")
    elif variant == "ao":
        m = compiled(of_bytes(folder), x, False)
    elif variant:
        with torch.no_grad():
            m = torch.jit.freeze(torch.jit.trace(m, x, check_trace=False))
            if variant == "jit":
                m = torch.jit.optimize_for_inference(m)
            for _ in range(3):
                m(*x)
    return lambda: m(*x)


def brained(m, x, compile):
    """The network under autocast: operators that PyTorch lists for it compute in bf16."""
    with torch.autocast("cpu", torch.bfloat16):
        m = compiled(m, x, False) if compile else m

    def call():
        with torch.autocast("cpu", torch.bfloat16):
            return [y.float() for y in m(*x)]

    call()
    return call


def compiled(m, x, autotune):
    import torch._inductor.config as inductor

    inductor.freezing = True
    m = torch.compile(m, dynamic=False, mode="max-autotune" if autotune else None)
    m(*x)
    return m


def of_bytes(folder):
    """The network with the weights of linear layers in 8 bits."""
    from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

    m = network.Network(folder)
    holder, linear = torch.nn.Module(), m.weights_of("linear")
    if not linear:
        raise ValueError("the network has no linear layers")
    for name in linear:
        w = m.get_buffer(name)
        layer = torch.nn.Linear(w.shape[1], w.shape[0], bias=False)
        layer.weight = torch.nn.Parameter(w, requires_grad=False)
        holder.add_module(name, layer)
    quantize_(holder, Int8DynamicActivationInt8WeightConfig())
    for name in linear:
        setattr(m, name, getattr(holder, name).weight.data)
    return m

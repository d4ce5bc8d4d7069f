"""Runs PyTorch for the benchmark: operators, networks, and what torch.fx does with graphs.
It runs on the newest PyTorch and on Debian's 1.13."""

import ctypes
import time

import peer  # noqa: I001
import torch

import torch_fx
import torch_networks
import torch_ops
import torch_steps


def tensors(y):
    """Results as arrays that peer.probe takes."""
    if isinstance(y, (tuple, list)):
        return [a for t in y for a in tensors(t)]
    if y.is_mkldnn:
        y = y.to_dense()
    if y.is_quantized:
        y = y.int_repr()
    return [y.detach().contiguous().numpy()]


def sgemm():
    """FLOP/s of a product of 1024, the best of several."""
    a, b = torch.ones(1024, 1024), torch.ones(1024, 1024)
    best = 1e9
    for _ in range(6):
        start = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - start)
    return {"rate": 2 * 1024**3 / best}


class PyTorch(peer.Peer):
    def hello(self, threads):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        # x86 takes FBGEMM or oneDNN, whichever suits; Debian's PyTorch is built without FBGEMM.
        known = torch.backends.quantized.supported_engines
        torch.backends.quantized.engine = "x86" if "x86" in known else "onednn"
        torch_networks.hold_to_f32()
        return "torch " + torch.__version__.split("+")[0]

    def load(self, q):
        attrs = q.get("attrs") or {}
        if q["op"] == "graph":
            return torch_fx.prepare(q["variant"], attrs["nodes"], q["file"]), lambda: []
        if q["op"] == "network":
            call = torch_networks.prepare(q["file"], q["variant"])
            return call, lambda: tensors(call())
        operands = [torch.from_numpy(peer.fill(t)) for t in q["inputs"]]
        if q["op"] == "step":
            step = torch_steps.prepare(q["file"], attrs, operands, q["variant"])
            return step, lambda: tensors(torch.tensor(step.first))
        call = torch_ops.prepare(q["op"], operands, attrs, q["variant"])
        return call, lambda: tensors(call())

    def call(self, q):
        call = self.cases[q["id"]]
        if not isinstance(call, torch_fx.OnCopy):
            return super().call(q)
        for _ in range(q.get("warm", 0)):
            call()
        return {"ns": sum(call() for _ in range(q["calls"]))}

    def handle(self, q):
        if q["do"] == "sgemm":
            return sgemm()
        if q["do"] in ("load", "run") and q.get("op") != "graph":
            with torch.inference_mode():
                return super().handle(q)
        answer = super().handle(q)
        if q["do"] == "drop":
            torch_networks.forget()
            getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # the memory of a network, back to the others
        return answer


PyTorch().serve()

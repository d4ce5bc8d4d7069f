"""Runs PyTorch operators for the benchmark: one request a line on standard
input, one answer a line on standard output. See peers.go for the messages."""

import ctypes
import gc
import json
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore")
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print must not mix with the answers

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch_fx  # noqa: E402
import torch_networks  # noqa: E402
import torch_ops  # noqa: E402

DTYPES = {"f32": np.float32, "u8": np.uint8, "s8": np.int8, "i32": np.int32, "i64": np.int64}
cases = {}


def fill(t):
    """The values that Go and JavaScript make too."""
    n = int(np.prod(t["shape"], dtype=np.int64))
    h = np.arange(1, n + 1, dtype=np.uint32)
    h *= np.uint32(0x9E3779B1)
    h += np.uint32((t["seed"] + 1) * 0x85EBCA77 & 0xFFFFFFFF)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0x2C1B3C6D)
    h ^= h >> np.uint32(12)
    u = (h >> np.uint32(8)).astype(np.float64) / 16777216
    if t["dtype"] == "f32":
        v = t["shift"] + t["scale"] * (2 * u - 1)
    else:
        v = t["shift"] + np.floor(u * t["scale"])
    return torch.from_numpy(v.astype(DTYPES[t["dtype"]]).reshape(t["shape"]))


def probe(y):
    """Values at eight places and the mean magnitude of about 4096, of each result."""
    if isinstance(y, (tuple, list)):
        return [v for t in y for v in probe(t)]
    if y.is_mkldnn:
        y = y.to_dense()
    if y.is_quantized:
        y = y.int_repr()
    y = y.contiguous().reshape(-1)
    n = y.numel()
    p = [float(y[(n - 1) * i // 7]) for i in range(8)]
    p.append(float(y[:: max(1, n // 4096)].double().abs().mean()))
    return p


def load(q):
    if q["op"] == "graph":
        cases[q["id"]] = torch_fx.prepare(q["variant"], q["attrs"]["nodes"], q["file"])
        cases[q["id"]]()
        return {"probe": []}
    if q["op"] == "network":
        call = torch_networks.prepare(q["file"], q["variant"])
    else:
        call = torch_ops.prepare(q["op"], [fill(t) for t in q["inputs"]], q.get("attrs") or {}, q["variant"])
    with torch.inference_mode():
        y = call()
        y = call()
        cases[q["id"]] = call
        return {"probe": probe(y)}


def run(q):
    call = cases[q["id"]]
    with torch.inference_mode():
        for _ in range(q.get("warm", 0)):
            call()
        if isinstance(call, torch_fx.OnCopy):
            return {"ns": sum(call() for _ in range(q["calls"]))}
        start = time.perf_counter_ns()
        for _ in range(q["calls"]):
            call()
        return {"ns": time.perf_counter_ns() - start}


def sgemm():
    """FLOP/s of a product of 1024, the best of several."""
    a, b = torch.ones(1024, 1024), torch.ones(1024, 1024)
    best = 1e9
    for _ in range(6):
        start = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - start)
    return {"rate": 2 * 1024**3 / best}


def handle(q):
    do = q["do"]
    if do == "hello":
        torch.set_num_threads(q["threads"])
        torch.set_num_interop_threads(1)
        torch.backends.quantized.engine = "onednn"
        return {"version": "torch " + torch.__version__}
    if do == "load":
        return load(q)
    if do == "run":
        return run(q)
    if do == "sgemm":
        return sgemm()
    if do == "export":
        torch_networks.export(q["file"])
        return {}
    if do == "drop":
        cases.pop(q["id"], None)
        torch_networks.forget()
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # the memory of a network, back to the others
        return {}
    raise ValueError("unknown request " + do)


for line in sys.stdin:
    try:
        answer = handle(json.loads(line))
    except Exception as e:
        answer = {"error": type(e).__name__ + ": " + str(e).split("\n")[0]}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()

"""What the peers that are written in Python share: the messages of peers.go, operands,
and the probes of results."""

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

DTYPES = {"f32": np.float32, "u8": np.uint8, "s8": np.int8, "i8": np.int8, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def fill(t):
    """The values of an operand: of a file, or those that Go and JavaScript make too."""
    n = int(np.prod(t["shape"], dtype=np.int64))
    kind = np.dtype(DTYPES[t["dtype"]])
    if t.get("file"):
        with open(t["file"], "rb") as f:
            f.seek(t.get("offset", 0))
            return np.fromfile(f, kind, n).reshape(t["shape"])
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
    return v.astype(kind).reshape(t["shape"])


def probe(results):
    """Values at eight places and the mean magnitude of about 4096, of each result."""
    p = []
    for y in results:
        y = np.ascontiguousarray(y).reshape(-1)
        n = y.size
        p += [float(y[(n - 1) * i // 7]) for i in range(8)]
        p.append(float(np.abs(y[:: max(1, n // 4096)].astype(np.float64)).mean()))
    return p


class Peer:
    """A library: a sub-class has hello(threads), which returns its version, and load(request),
    which returns a function of no arguments for one call and a function that returns the
    results of the last call."""

    def __init__(self):
        self.cases = {}

    def call(self, q):
        call = self.cases[q["id"]]
        for _ in range(q.get("warm", 0)):
            call()
        start = time.perf_counter_ns()
        for _ in range(q["calls"]):
            call()
        return {"ns": time.perf_counter_ns() - start}

    def handle(self, q):
        do = q["do"]
        if do == "hello":
            self.threads = q["threads"]
            return {"version": self.hello(q["threads"])}
        if do == "load":
            call, results = self.load(q)
            ns = timed(call)
            if ns < 5e9:  # the first call warms up: of PyTorch it takes over a second, whatever the network
                ns = min(timed(call) for _ in range(2))
            self.cases[q["id"]] = call
            return {"ns": ns, "probe": probe(results())}
        if do == "run":
            return self.call(q)
        if do == "drop":
            self.cases.pop(q["id"], None)
            gc.collect()
            return {}
        raise ValueError("unknown request " + do)

    def serve(self):
        for line in sys.stdin:
            try:
                answer = self.handle(json.loads(line))
            except Exception as e:
                answer = {"error": type(e).__name__ + ": " + first_line(e)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def timed(call):
    start = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - start


def first_line(e):
    """The line of an error that says most: the first, or the first that is called an error."""
    lines = [line.strip() for line in str(e).split("\n") if line.strip()]
    return ([line for line in lines if "error: " in line] + lines + ["no message"])[0][:300]

"""What torch.fx does with graphs, for the benchmark: the twins of cases_graph.go."""

import copy
import os
import pickle
import sys
import time

import torch
import torch.fx as fx
from torch.fx import subgraph_rewriter
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

sys.setrecursionlimit(1_000_000)  # its matcher goes down chains by recursion


def count_names():
    """Names are counted for each base, as in later versions: in 1.13 the search for a free one is quadratic."""
    space = fx.graph._Namespace
    search = space.create_name

    def create_name(self, candidate, obj):
        known = self.__dict__.setdefault("_counted", {})
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        base, _, number = candidate.rpartition("_")
        if not number.isdigit() or not base:
            base = candidate
        if base in known and candidate in self._used_names:
            candidate = f"{base}_{known[base]}"
        name = search(self, candidate, obj)
        _, _, number = name.rpartition("_")
        known[base] = max(known.get(base, 0), int(number) + 1 if number.isdigit() else 1)
        return name

    space.create_name = create_name


if torch.__version__.startswith("1."):
    count_names()


def chain(n):
    def f(x):
        for _ in range(n // 2):
            x = torch.relu(x + 1.0)
        return x

    return f


def twice(n):
    def f(x):
        for _ in range(n // 5):
            x = torch.relu(x + 1.0)
            x = torch.neg(x) + torch.neg(x)
        return x

    return f


def unused(n):
    def f(x):
        for _ in range(n // 5):
            x = torch.relu(x + 1.0) + 1.0
            torch.neg(x)
            x = torch.relu(x)
        return x

    return f


class Supported(OperatorSupportBase):
    """All calls but one in fifty."""

    def __init__(self, gm):
        calls = [n for n in gm.graph.nodes if n.op.startswith("call")]
        self.nodes = {n for i, n in enumerate(calls) if i % 50 != 49}

    def is_node_supported(self, submodules, node):
        return node in self.nodes


def save(gm, file):
    """Complete when it has its name, as gofx's is."""
    with open(file + ".new", "wb") as f:
        pickle.dump(gm, f)
        f.flush()
        os.fsync(f.fileno())
    os.rename(file + ".new", file)


def load(file):
    with open(file, "rb") as f:
        return pickle.load(f)


def pattern(x):
    return torch.relu(x + 1.0)


def replacement(x):
    return torch.nn.functional.gelu(x)


graphs = {}


def traced(f, n):
    """A graph of the function."""
    if (f, n) not in graphs:
        graphs[f, n] = fx.symbolic_trace(f(n))
    return graphs[f, n]


def prepare(do, n, file):
    """Returns what is to be called."""
    gm = traced({"cse": twice, "dce": unused}.get(do, chain), n)
    f, x = chain(n), torch.tensor([[-1.0, 0.0, 1.0, 2.0]])
    if do in ("dce", "rewrite", "partition"):
        return OnCopy(gm, {
            "dce": lambda g: g.graph.eliminate_dead_code(),
            "rewrite": lambda g: subgraph_rewriter.replace_pattern(g, pattern, replacement),
            "partition": lambda g: CapabilityBasedPartitioner(g, Supported(g)).partition_and_fuse(),
        }[do])
    if do == "load":
        save(gm, file)
    return {
        "trace": lambda: fx.symbolic_trace(f),
        "copy": lambda: copy.deepcopy(gm.graph),
        "lint": lambda: gm.graph.lint(),
        "cse": lambda: CSEPass()(gm),
        "print": lambda: str(gm.graph),
        "save": lambda: save(gm, file),
        "load": lambda: load(file),
        "interpret": lambda: fx.Interpreter(gm).run(x),
    }[do]


class OnCopy:
    """A call that uses up a graph: time is that of the call without the copy."""

    def __init__(self, gm, do):
        self.gm, self.do = gm, do

    def __call__(self):
        g = copy.deepcopy(self.gm)
        start = time.perf_counter_ns()
        self.do(g)
        return time.perf_counter_ns() - start

"""Compiles and runs StableHLO programs with XLA's client for the CPU, which jaxlib has.

Each line of standard input is a request: {"programs": [{"text", "runs": [[tensor, ...], ...]}, ...]},
where a tensor is {"dtype", "dims"}. The elements of all tensors follow the line, in order, as bytes.
The answer to a request has the same form: a line {"programs": [{"error"} or {"runs", "taken"}, ...]}, then
bytes. "taken" says of each run which arguments it has taken the memory of.
"""

import json
import math
import os
import sys

answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what libraries print is no answer

import jax
import ml_dtypes
import numpy as np
from jax.extend import backend
from jaxlib import _jax, xla_client

jax.config.update("jax_enable_x64", True)
client = backend.get_backend("cpu")
devices = _jax.DeviceList(tuple(client.local_devices()[:1]))


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def read(tensor):
    kind = dtype(tensor["dtype"])
    data = sys.stdin.buffer.read(math.prod(tensor["dims"]) * kind.itemsize)
    return np.frombuffer(data, kind).reshape(tensor["dims"])


def compiled(text):
    return client.compile_and_load(text, devices, xla_client.CompileOptions())


def run(program, args):
    args = [jax.device_put(a) for a in args]
    results = program.execute_sharded(args).disassemble_into_single_device_arrays()
    return [np.asarray(parts[0]) for parts in results], [i for i, a in enumerate(args) if a.is_deleted()]


def answer(text, runs):
    """Returns the answer about one program, and the results of all runs one after the other."""
    try:
        program = compiled(text)
        done = [run(program, args) for args in runs]
    except Exception as e:  # whatever it is, the next program can be asked about
        return {"error": str(e) or type(e).__name__}, []
    form = [[{"dtype": str(a.dtype), "dims": a.shape} for a in results] for results, _ in done]
    return {"runs": form, "taken": [taken for _, taken in done]}, [a for results, _ in done for a in results]


def serve():
    for line in sys.stdin.buffer:
        request = json.loads(line)
        programs = [(p["text"], [[read(t) for t in args] for args in p["runs"]]) for p in request["programs"]]
        said = [answer(*p) for p in programs]
        answers.write(json.dumps({"programs": [s for s, _ in said]}).encode() + b"\n")
        for _, arrays in said:
            for a in arrays:
                answers.write(a.tobytes())
        answers.flush()


serve()

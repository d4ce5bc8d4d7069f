"""Computes gradients of calls of operators with PyTorch's autograd.

    gradient.py CALLS_FOLDER RESULTS_FOLDER

CALLS_FOLDER is what oracle.DumpGradients wrote: calls as for oracle.py, and with each
the derivatives with respect to the results, null for those that are no floats. The file
gradients.safetensors is written with the results (KEY/0, KEY/1 and so on) and the
derivatives with respect to the operands (KEY/grad/0, by their places): zeros where the results
do not depend on one, none for one that PyTorch takes as a constant. What happened otherwise stands in the metadata as oracle.py
has it; "backward KEY" is an error of the backward pass alone.
"""
import json
import os
import re
import sys

import torch

import helpers
import oracle
from helpers import Lacks, Skip


# What PyTorch says where an operand of a call is a constant to it.
CONSTANT = re.compile(r"not differentiable with respect to argument '(?:running_)?(\w+)'")


def differentiable(s, f, attrs, ins):
    """The operands, of which floats are leaves to differentiate by, and the results. Statistics
    that a function takes as constants are no leaves."""
    names, constant = oracle.names_of(s), set()
    while True:
        leaves = [x.clone().requires_grad_() if oracle.floats(x, oracle.FLOATS) and i not in constant else x for i, x in enumerate(ins)]
        try:
            return leaves, oracle.listed(f(attrs, *oracle.copies(leaves)))
        except RuntimeError as e:
            found = CONSTANT.search(str(e))
            places = [i for i, n in enumerate(names) if found and n.rstrip("?").replace("running_", "") == found[1]]
            if not places or places[0] in constant:
                raise
            constant.add(places[0])


def gradients(s, inputs):
    try:
        return judged(s, inputs)
    except TimeoutError:
        return "lacks", "takes too long", []


def judged(s, inputs):
    """Returns what happened, a text, and the encoded results and derivatives by name."""
    attrs = {k: oracle.attribute(v) for k, v in s["Attrs"].items()}
    ins = [inputs[n] if n else None for n in s["In"]]
    f, key = oracle.function(s), s["Key"]
    helpers.NOTES.clear()
    try:
        if any(isinstance(x, (oracle.Untyped, oracle.Unsigned)) and n != "key" for n, x in zip(oracle.names_of(s), ins)):
            raise Lacks("PyTorch has no such type")
        leaves, out = differentiable(s, f, attrs, ins)
        named = [(key + "/" + str(k), oracle.encode(x)) for k, x in enumerate(out)]
    except Lacks as e:
        return "lacks", str(e), []
    except Skip as e:
        return "undefined", str(e), []
    except MemoryError:
        return "lacks", "takes too much memory", []
    except (RuntimeError, ValueError, IndexError, TypeError, AssertionError, ArithmeticError) as e:
        return "refused", str(e).split("\n")[0][:160], []
    seeds = [inputs[n] if n else None for n in s["Seeds"]]
    if len(seeds) != len(out) or any(d is not None and (d.shape != x.shape or d.dtype != x.dtype) for d, x in zip(seeds, out)):
        return "", "", named  # which is a difference of the results
    pairs = [(x, d) for x, d in zip(out, seeds) if d is not None and x.requires_grad]
    wanted = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor) and x.requires_grad]
    found = [None] * len(wanted)
    try:
        if pairs and wanted:
            found = torch.autograd.grad([x for x, _ in pairs], [leaves[i] for i in wanted], [d for _, d in pairs], allow_unused=True)
    except (RuntimeError, NotImplementedError, ValueError, IndexError) as e:
        return "backward", str(e).split("\n")[0][:160], named
    for i, d in zip(wanted, found):
        named.append((key + "/grad/" + str(i), oracle.encode(torch.zeros_like(leaves[i]) if d is None else d)))
    return "", "", named


def main():
    torch.set_num_threads(1)
    src, dst = sys.argv[1:3]
    with open(os.path.join(src, "samples.json")) as f:
        calls = json.load(f)
    inputs = oracle.read(os.path.join(src, "inputs.safetensors"))
    tensors, meta = [], {}
    for s, (what, text, out) in zip(calls, oracle.outcomes(calls, lambda s: gradients(s, inputs))):
        meta["sample " + s["Key"]] = s["Fingerprint"]
        if what:
            meta[what + " " + s["Key"]] = text
        tensors.extend(out)
    os.makedirs(dst, exist_ok=True)
    oracle.write(os.path.join(dst, "gradients.safetensors"), tensors, meta)


if __name__ == "__main__":
    main()

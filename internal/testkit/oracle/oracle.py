#!/usr/bin/env python3
"""Computes calls of operators with PyTorch and stores the results.

    oracle.py CALLS_FOLDER RESULTS_FOLDER [exact]

CALLS_FOLDER is what oracle.Dump wrote. One file a class of operators is written.
Its metadata has the fingerprint of every call ("sample KEY") and, where there is
no result to compare with, what happened:

    refused KEY      PyTorch raises an error, which is the text
    undefined KEY    PyTorch's result is undefined or depends on the machine
    lacks KEY        this PyTorch cannot compute it, though it has a meaning there
    note KEY         the result is that of an equivalent expression, because PyTorch
                     itself refuses the call as it is

The results of narrow floats are computed in f32 and rounded once; where PyTorch
itself has others, they come, too (KEY/native/0). With "exact", so do those
computed in f64 (KEY/exact/0) and those of the operands' magnitudes (KEY/scale/0).
Written for PyTorch 1.13 on a CPU; operators that it lacks are written out as
formulas on its tensors, and random ones as an independent Philox4x32-10.
"""
import itertools
import json
import os
import pickle
import re
import resource
import signal
import struct
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

import helpers
from helpers import Lacks, Skip
from philox import Unsigned

warnings.simplefilter("ignore")

DTYPES = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16,
          "I8": torch.int8, "U8": torch.uint8, "I16": torch.int16, "I32": torch.int32, "I64": torch.int64,
          "BOOL": torch.bool}
NUMPY = {"F32": np.float32, "F64": np.float64, "F16": np.float16, "I8": np.int8, "U8": np.uint8, "I16": np.int16,
         "I32": np.int32, "I64": np.int64, "BOOL": np.bool_, "BF16": np.int16,
         "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}


class Untyped:
    """A tensor of a type that neither PyTorch nor NumPy has, a float of 8 bits for instance."""

    def __init__(self, dtype):
        self.dtype = dtype


NAMES = {v: k for k, v in DTYPES.items()}
TYPES = {name.lower(): d for name, d in DTYPES.items()}
NARROW = (torch.float16, torch.bfloat16)
FLOATS = NARROW + (torch.float32, torch.float64)

# What PyTorch says where it has no code for a narrow type.
NO_NARROW = re.compile(r"not (implemented|supported) (for|on) .*(Half|BFloat16)|Half.* (is|are) not (implemented|supported)"
                       r"|(Half|BFloat16).*not (implemented|supported)|mkldnn.*bf16|bf16.*mkldnn|could not create a primitive")


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<Q", data[:8])[0]
    header, body, out = json.loads(data[8:8 + n]), data[8 + n:], {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        lo, hi = t["data_offsets"]
        if t["dtype"] not in NUMPY:
            out[name] = Untyped(t["dtype"])
            continue
        a = np.frombuffer(body[lo:hi], dtype=NUMPY[t["dtype"]]).reshape(t["shape"])
        if t["dtype"] not in DTYPES:
            out[name] = Unsigned(a)
            continue
        x = torch.from_numpy(a.copy())
        out[name] = x.view(torch.bfloat16) if t["dtype"] == "BF16" else x
    return out


def encode(x):
    """Returns type name, shape and bytes."""
    if isinstance(x, Unsigned):
        return "U%d" % (8 * x.values.dtype.itemsize), list(x.values.shape), x.values.tobytes()
    x = x.detach().contiguous()
    name, shape = NAMES[x.dtype], list(x.shape)
    if x.dtype == torch.bfloat16:
        x = x.reshape(-1).view(torch.int16) if x.numel() else torch.zeros(0, dtype=torch.int16)
    return name, shape, x.numpy().tobytes()


def write(path, tensors, meta):
    header, offset, parts = {"__metadata__": dict(sorted(meta.items()))}, 0, []
    for name, (dtype, shape, data) in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
        parts.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def function(s):
    """The operator of a call as a function of attributes and operands. Its expression
    has both by name; an attribute of an operand's name is another form of it. Without
    an expression PyTorch's function of the operator's name takes the operands."""
    text, names = s["Torch"], names_of(s)
    if text:
        code = compile(text, s["Op"], "eval")
    elif set(s["Attrs"]) <= set(names) and (hasattr(torch, s["Op"]) or hasattr(F, s["Op"])):
        f = getattr(torch, s["Op"], None) or getattr(F, s["Op"])
    else:
        sys.exit(s["Op"] + " has no PyTorch expression: write //gofx:torch EXPRESSION beside it")

    def call(attrs, *ins):
        values = bound(s["Operands"], attrs, ins)
        if not text:
            return f(*(values[n] for n in names))
        hidden = set(values) & set(vars(helpers))
        if hidden:
            sys.exit("%s has operands or attributes of the names of helpers: %s" % (s["Op"], hidden))
        return eval(code, {**vars(helpers), **values})

    return call


def names_of(s):
    return [n.rstrip("?.") for n in s["Operands"]]


def bound(operands, attrs, ins):
    """The values of operands, which are written as op.Args has them, and attributes."""
    values, rest = {}, list(ins)
    for n in operands:
        if n.endswith("..."):
            values[n[:-3]], rest = rest, []
            continue
        x = rest.pop(0) if rest else None
        if x is None and not n.endswith("?"):
            raise TypeError("missing operand " + n)
        values[n.rstrip("?")] = x
    if rest:
        raise TypeError("too many operands")
    for k, v in attrs.items():
        if k in values and (values[k] is None) == (v is None):
            raise ValueError("one of a tensor and a number")
        if k not in values or v is not None:
            values[k] = v
    dtype = values.get("dtype")
    if dtype is not None:
        if dtype not in TYPES:
            raise Lacks("PyTorch has no type " + dtype)
        values["dtype"] = TYPES[dtype]
    return values


def attribute(v):
    if isinstance(v, dict):
        return float(v["float"])
    if isinstance(v, str):
        try:
            return float(v)
        except ValueError:
            return v
    if isinstance(v, list):
        return [attribute(x) for x in v]
    return v


def floats(x, which):
    return isinstance(x, torch.Tensor) and x.dtype in which


def call(f, attrs, ins):
    """Calls f. With narrow floats among the operands, the values are those of f32
    rounded once, the types those of the call as it is. Returns as well the results
    of the call as it is, where PyTorch has code for the narrow type."""
    narrow = [x.dtype for x in ins if floats(x, NARROW)]
    to = attrs.get("dtype") in ("f16", "bf16")
    try:
        native = listed(f(attrs, *copies(ins)))
        if not narrow:
            return native, []
    except RuntimeError as e:
        same = narrow and len({x.dtype for x in ins if floats(x, FLOATS)}) == 1 and not to
        if not (narrow or to) or not same and not NO_NARROW.search(str(e)):
            raise
        native = None
    if not native and narrow and beyond(attrs, torch.finfo(narrow[0]).max):
        raise Lacks("no code for the narrow type, to which the numbers are converted")
    values = listed(f({**attrs, "dtype": "f32"} if to else attrs, *[x.float() if floats(x, NARROW) else x for x in copies(ins)]))
    if native:
        types = [x.dtype for x in native]
    else:
        best = TYPES[attrs["dtype"]] if to else narrow[0]
        types = [best if x.dtype == torch.float32 else x.dtype for x in values]
    return [x.to(t) for x, t in zip(values, types)], native or []


def beyond(attrs, most):
    """Whether a number is finite and greater than a type holds."""
    return any(isinstance(v, (int, float)) and most < abs(v) < float("inf") for v in attrs.values())


def copies(ins):
    return [x.clone() if isinstance(x, torch.Tensor) else x for x in ins]


def exactly(f, attrs, ins):
    """The results from operands of f64; None where that says nothing more."""
    low = NARROW + (torch.float32,)
    if not any(floats(x, low) for x in ins) and widest(attrs) == attrs:
        return []
    return attempt(f, widest(attrs), [x.double() if floats(x, low) else x for x in ins])


def scale(f, attrs, ins):
    """The results of the operands' finite magnitudes: how large the terms of sums are."""
    if not any(floats(x, FLOATS) for x in ins):
        return []
    helpers.TERMS = True
    try:
        return attempt(f, widest(attrs), [torch.nan_to_num(x.double(), 0, 0, 0).abs() if floats(x, FLOATS) else x for x in ins])
    finally:
        helpers.TERMS = False


def widest(attrs):
    return {k: "f64" if k == "dtype" and v in ("f16", "bf16", "f32") else v for k, v in attrs.items()}


def attempt(f, attrs, ins):
    try:
        return listed(f(attrs, *copies(ins)))
    except Exception:  # operands that must not be f64
        return []


def listed(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def evaluate(s, inputs, exact):
    """Returns what happened, a text, and the encoded results by name."""
    attrs = {k: attribute(v) for k, v in s["Attrs"].items()}
    ins = [inputs[n] if n else None for n in s["In"]]
    f, key = function(s), s["Key"]
    helpers.NOTES.clear()
    try:
        for x in ins:
            if isinstance(x, Untyped):
                raise Lacks("PyTorch has no type " + x.dtype)
        if any(isinstance(x, Unsigned) and n != "key" for n, x in itertools.zip_longest(names_of(s), ins)):
            raise Lacks("PyTorch has no unsigned types but u8")
        values, native = call(f, attrs, ins)
        notes = "; ".join(sorted(set(helpers.NOTES)))
        try:
            out = [(key + "/" + str(k), encode(x)) for k, x in enumerate(values)]
        except ValueError as e:  # NumPy has smaller limits
            raise Lacks(str(e))
        other = [(key + "/native/" + str(k), encode(x)) for k, x in enumerate(native)]
        if [e for _, e in other] != [e for _, e in out]:
            out += other
        if exact:
            out += [(key + "/exact/" + str(k), encode(x)) for k, x in enumerate(exactly(f, attrs, ins))]
            out += [(key + "/scale/" + str(k), encode(x)) for k, x in enumerate(scale(f, attrs, ins))]
        return "note" if notes else "", notes, out
    except Lacks as e:
        return "lacks", str(e), []
    except Skip as e:
        return "undefined", str(e), []
    except (MemoryError, TimeoutError) as e:
        return "lacks", "takes too long or too much memory", []
    except RuntimeError as e:
        return "lacks" if "allocate memory" in str(e) else "refused", str(e).split("\n")[0][:160], []
    except (ValueError, IndexError, TypeError, AssertionError, ArithmeticError) as e:
        return "refused", str(e).split("\n")[0][:160], []


def expired(*_):
    raise TimeoutError


def outcomes(samples, of):
    """The outcome of every call, which of computes. They are computed in a process of
    their own, so that one which PyTorch does not survive costs only itself."""
    out = []
    while len(out) < len(samples):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(r)
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(signal.SIGALRM, expired)
            with os.fdopen(w, "wb") as f:
                for s in samples[len(out):]:
                    signal.alarm(20)
                    pickle.dump(of(s), f)
                    f.flush()
            os._exit(0)
        os.close(w)
        with os.fdopen(r, "rb") as f:
            try:
                while len(out) < len(samples):
                    out.append(pickle.load(f))
            except (EOFError, pickle.UnpicklingError):
                pass
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            sys.exit("%s: its PyTorch expression is wrong" % samples[len(out)]["Op"])
        if len(out) < len(samples):
            out.append(("lacks", "PyTorch does not survive it (status %d)" % status, []))
    return out


def main():
    torch.set_num_threads(1)
    src, dst = sys.argv[1:3]
    with open(os.path.join(src, "samples.json")) as f:
        samples = json.load(f)
    inputs = read(os.path.join(src, "inputs.safetensors"))
    files, counts = {}, {}
    exact = sys.argv[3:] == ["exact"]
    for s, (what, text, out) in zip(samples, outcomes(samples, lambda s: evaluate(s, inputs, exact))):
        tensors, meta = files.setdefault(s["Class"], ([], {}))
        meta["sample " + s["Key"]] = s["Fingerprint"]
        if what:
            meta[what + " " + s["Key"]] = text
        tensors.extend(out)
        counts[what or "computed"] = counts.get(what or "computed", 0) + 1
    os.makedirs(dst, exist_ok=True)
    for family, (tensors, meta) in files.items():
        write(os.path.join(dst, family + ".safetensors"), tensors, meta)
    print(len(samples), "calls:", ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())))


if __name__ == "__main__":
    main()

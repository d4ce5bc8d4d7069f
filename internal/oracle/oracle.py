#!/usr/bin/env python3
"""Computes the operators' samples with PyTorch and stores the results.

    oracle.py SAMPLES_FOLDER GOLDEN_FOLDER

SAMPLES_FOLDER is what ./dump wrote. One file a class of operators is written;
its metadata has the fingerprint of every sample ("sample OP/INDEX") and, where
PyTorch gives no result to compare with, why ("reason OP/INDEX").
Written for PyTorch 1.13 on a CPU; operators that it lacks are written out as
formulas on its tensors, and random ones as an independent Philox4x32-10.
"""
import json
import os
import struct
import sys

import numpy as np
import torch

from philox import Unsigned
from table import OPS, Skip

torch.set_num_threads(1)

DTYPES = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16,
          "I8": torch.int8, "U8": torch.uint8, "I16": torch.int16, "I32": torch.int32, "I64": torch.int64,
          "BOOL": torch.bool}
NUMPY = {"F32": np.float32, "F64": np.float64, "F16": np.float16, "I8": np.int8, "U8": np.uint8, "I16": np.int16,
         "I32": np.int32, "I64": np.int64, "BOOL": np.bool_, "BF16": np.int16,
         "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}
NAMES = {v: k for k, v in DTYPES.items()}


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<Q", data[:8])[0]
    header, body, out = json.loads(data[8:8 + n]), data[8 + n:], {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        lo, hi = t["data_offsets"]
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
        x = x.view(torch.int16) if x.dim() else x.reshape(1).view(torch.int16)
    return name, shape, x.numpy().tobytes()


def write(path, tensors, meta):
    header, offset, parts = {"__metadata__": dict(sorted(meta.items()))}, 0, []
    for name, x in tensors:
        dtype, shape, data = encode(x)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
        parts.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def attribute(v):
    if isinstance(v, dict):
        return float(v["float"])
    if isinstance(v, str):
        try:
            return float(v)
        except ValueError:
            return v
    return v


def call(f, attrs, ins):
    """Calls f. With narrow floats among the operands, the values are those of f32
    rounded once, the types those of the call as it is; truth values are its own."""
    narrow = [x.dtype for x in ins if isinstance(x, torch.Tensor) and x.dtype in (torch.float16, torch.bfloat16)]
    if not narrow:
        return f(attrs, *ins)
    wide = [x.float() if isinstance(x, torch.Tensor) and x.dtype in (torch.float16, torch.bfloat16) else x for x in ins]
    values = listed(f(attrs, *wide))
    try:
        direct = listed(f(attrs, *ins))
        types = [x.dtype for x in direct]
        if all(t == torch.bool for t in types):
            return direct
    except RuntimeError:  # no kernel for the narrow type
        types = [narrow[0] if x.dtype == torch.float32 else x.dtype for x in values]
    return [x.to(t) for x, t in zip(values, types)]


def listed(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def main():
    src, dst = sys.argv[1:]
    with open(os.path.join(src, "samples.json")) as f:
        samples = json.load(f)
    inputs = read(os.path.join(src, "inputs.safetensors"))
    files, missing, skipped = {}, set(), 0
    for s in samples:
        tensors, meta = files.setdefault(s["Class"], ([], {}))
        key = s["Key"]
        meta["sample " + key] = s["Fingerprint"]
        if s["Op"] not in OPS:
            missing.add(s["Op"])
            meta["reason " + key] = "not in the oracle"
            continue
        attrs = {k: attribute(v) for k, v in s["Attrs"].items()}
        ins = [inputs[n].clone() if n and isinstance(inputs[n], torch.Tensor) else inputs[n] if n else None for n in s["In"]]
        try:
            if s["Op"] not in ("random_split", "fold_in", "rand", "randn", "randint") and any(isinstance(x, Unsigned) for x in ins):
                raise Skip("PyTorch has no unsigned types but u8")
            for k, x in enumerate(listed(call(OPS[s["Op"]], attrs, ins))):
                tensors.append((key + "/" + str(k), x))
        except Skip as e:
            meta["reason " + key] = str(e)
            skipped += 1
        except Exception as e:  # what PyTorch refuses is a fact worth keeping
            meta["reason " + key] = "PyTorch refuses: " + str(e).split("\n")[0][:160]
            print(key, s["Name"], attrs, [x if x is None else (x.dtype, tuple(x.shape)) if isinstance(x, torch.Tensor) else "unsigned" for x in ins],
                  type(e).__name__, str(e).split("\n")[0], file=sys.stderr)
            skipped += 1
    os.makedirs(dst, exist_ok=True)
    for family, (tensors, meta) in files.items():
        write(os.path.join(dst, family + ".safetensors"), tensors, meta)
    print(len(samples), "samples,", skipped, "without a result, operators missing:", sorted(missing))


if __name__ == "__main__":
    main()

"""Writes what a network computes in the layout of ONNX's tests: model.onnx beside
test_data_set_N/input_I.pb and output_I.pb."""
import os

import torch

ELEMENTS = {torch.float32: 1, torch.int32: 6, torch.int64: 7, torch.bool: 9}


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(t):
    """A TensorProto: dims, data_type, raw_data."""
    raw = t.detach().contiguous().numpy().tobytes()
    dims = b"".join(b"\x08" + varint(d) for d in t.shape)
    return dims + b"\x10" + varint(ELEMENTS[t.dtype]) + b"\x4a" + varint(len(raw)) + raw


def flat(x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for v in (x.values() if isinstance(x, dict) else x) for t in flat(v)]


def write(folder, kind, values):
    for i, x in enumerate(values):
        with open(os.path.join(folder, "%s_%d.pb" % (kind, i)), "wb") as f:
            f.write(message(x))


def export(net, batches, folder, opset, names, axes=None):
    """Exports a network with the first batch, and stores what it makes of all of them."""
    torch.onnx.export(net, batches[0], os.path.join(folder, "model.onnx"), opset_version=int(opset), input_names=names, dynamic_axes=axes)
    for i, x in enumerate(batches):
        values = os.path.join(folder, "test_data_set_%d" % i)
        os.makedirs(values)
        with torch.no_grad():
            outputs = flat(net(*x))
        write(values, "input", flat(x))
        write(values, "output", outputs)

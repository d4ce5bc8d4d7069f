"""Writes cases of ONNX's test layout with the exporters of today.

    export.py OUT [NAME ...]

For each network OUT/NAME gets model.onnx and two test data sets: with the sizes of the export and with
others. Results are those of the framework that the network is written in. A line is printed for each
network, its columns as COLUMNS says. A network that is there is not exported again.
"""
import collections
import dataclasses
import importlib
import os
import shutil
import sys
import traceback
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

warnings.filterwarnings("ignore")
COLUMNS = ["network", "kind", "exporter", "opset", "operators", "apart", "state"]
FAMILIES = ["decoders", "encoders", "audio", "vision", "pictures", "detection", "blocks", "breakers", "others"]


@dataclasses.dataclass
class Case:
    """A network, as a family's module describes it: write makes the file, run computes its results."""
    name: str
    kind: str
    exporter: str
    opset: int
    write: collections.abc.Callable  # (path)
    run: collections.abc.Callable  # (inputs by name) -> list of arrays
    sets: list  # inputs by name, once for each set of sizes
    closed: collections.abc.Callable | None = None  # (the file's dimensions by input) -> letters that it has numbers for, the second set with those of the export


def cases():
    """Returns what makes each case, by name; a network is built only where it is asked for."""
    found = {}
    for family in FAMILIES:
        if os.path.exists(os.path.join(os.path.dirname(__file__), family + ".py")):
            try:
                found.update(importlib.import_module(family).CASES)
            except ImportError as e:
                print(f"{family} is left out: {e}", file=sys.stderr)
    return found


def save(folder, prefix, i, name, a):
    a = np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a)
    with open(os.path.join(folder, f"{prefix}_{i}.pb"), "wb") as f:
        f.write(numpy_helper.from_array(a, name).SerializeToString())


def apart(path, sets, results):
    """Returns how far ONNX Runtime's results of the file are from the framework's, in units of
    1e-3 of an element and 1e-4, or why it has none."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(path, options)
        most = 0.0
        for feeds, want in zip(sets, results):
            names = {i.name for i in session.get_inputs()}
            for a, b in zip(session.run(None, {k: v for k, v in feeds.items() if k in names}), want):
                if a.shape != b.shape:
                    return f"shape {a.shape} for {b.shape}"
                if a.size:
                    a, b = a.astype(np.float64), b.astype(np.float64)
                    with np.errstate(all="ignore"):
                        d = np.where(a == b, 0, np.abs(a - b)) / (1e-4 + 1e-3 * np.abs(b))
                    most = max(most, float(np.max(np.where(np.isnan(a) & np.isnan(b), 0, d))))
        return f"{most:.2g}"
    except Exception as e:
        return "refused: " + " ".join(str(e).split())[:120]


def make(case, folder):
    """Writes a case and returns the number of operators and how far ONNX Runtime is from it."""
    path = os.path.join(folder, "model.onnx")
    case.write(path)
    model = onnx.load(path, load_external_data=False)
    order = [i.name for i in model.graph.input]
    exporter = case.exporter
    if case.closed:
        letters, case.sets[1] = case.closed({i.name: [d.dim_value or None for d in i.type.tensor_type.shape.dim] for i in model.graph.input})
        exporter += f", fixes {', '.join(letters)}" if letters else ""
    results = []
    for number, feeds in enumerate(case.sets):
        missing = set(order) - set(feeds)
        if missing:
            raise ValueError(f"the file has inputs {order}, the case {list(feeds)}")
        data = os.path.join(folder, f"test_data_set_{number}")
        os.makedirs(data)
        results.append([np.asarray(v) for v in case.run(feeds)])
        largest = max([float(np.max(np.abs(v))) for v in results[-1] if v.dtype.kind == "f" and v.size] or [1.0])
        if not 0.01 < largest < 1e6:
            raise ValueError(f"the largest result is {largest}: no comparison would mean much")
        for i, name in enumerate(order):
            save(data, "input", i, name, feeds[name])
        for i, (out, v) in enumerate(zip(model.graph.output, results[-1], strict=True)):
            save(data, "output", i, out.name, v)
    kinds = {n.op_type for g in [model.graph, *model.functions] for n in g.node}
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    with open(os.path.join(folder, "row.tsv"), "w", encoding="utf-8") as f:
        f.write("\t".join(map(str, [case.name, case.kind, exporter, opset, len(kinds), apart(path, case.sets, results), "ok"])) + "\n")


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    found = cases()
    for name in wanted or found:
        folder = os.path.join(out, name)
        row = os.path.join(folder, "row.tsv")
        if not os.path.exists(row):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            try:
                make(found[name](), folder)
            except Exception as e:  # one network's fault is a line of the report, not the end of it
                if os.environ.get("EXPORT_TRACE"):
                    traceback.print_exc()
                while e.__cause__ is not None:
                    e = e.__cause__
                why = " ".join(f"{type(e).__name__}: {e}".split())[:200]
                print(name, "", "", "", "", "", "not exported: " + why, sep="\t", flush=True)
                shutil.rmtree(folder)
                continue
        print(open(row, encoding="utf-8").read(), end="", flush=True)


if __name__ == "__main__":
    main()

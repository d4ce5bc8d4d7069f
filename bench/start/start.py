"""Reads an ONNX file, prepares the network, runs it once on ones, and prints what that took: see main.go."""

import json
import sys
import time

import numpy as np

engine, file, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])

if engine == "onnxruntime":
    import onnxruntime as ort

    begin = time.perf_counter()
    o = ort.SessionOptions()
    o.intra_op_num_threads = threads
    o.inter_op_num_threads = 1
    s = ort.InferenceSession(file, o, providers=["CPUExecutionProvider"])
    ready = time.perf_counter()
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    out = s.run(None, {x.name: np.ones(x.shape, types[x.type]) for x in s.get_inputs()})[0]
else:
    import openvino as ov

    core = ov.Core()
    begin = time.perf_counter()
    m = core.compile_model(core.read_model(file), "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"})
    r = m.create_infer_request()
    ready = time.perf_counter()
    out = r.infer([np.ones(list(x.shape), x.element_type.to_dtype()) for x in m.inputs])[m.outputs[0]]
end = time.perf_counter()

with open("/proc/self/status") as f:
    kib = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
print(json.dumps({"load_ms": (ready - begin) * 1e3, "first_ms": (end - ready) * 1e3, "kib": kib, "sum": float(np.abs(out.astype(np.float64)).sum())}))

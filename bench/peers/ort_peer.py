"""Runs ONNX models with ONNX Runtime's Python package."""

import os

import numpy as np
import onnxruntime as ort

import peer


class ONNXRuntime(peer.Peer):
    def hello(self, threads):
        ort.set_default_logger_severity(3)
        return "onnxruntime " + ort.__version__

    def dynamic(self, file):
        """The model with its products in 8 bits, as ONNX Runtime's own tool writes it."""
        from onnxruntime.quantization import QuantType, quantize_dynamic

        done = file + ".dynamic.onnx"
        if not os.path.exists(done):
            quantize_dynamic(file, done, weight_type=QuantType.QInt8, per_channel=True)
        return done

    def load(self, q):
        file = self.dynamic(q["file"]) if q["variant"] == "dynamic" else q["file"]
        o = ort.SessionOptions()
        o.intra_op_num_threads = self.threads
        o.inter_op_num_threads = 1
        o.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        o.log_severity_level = 3
        s = ort.InferenceSession(file, o, providers=["CPUExecutionProvider"])
        # Operands and results stay where they are: a call moves nothing.
        b = s.io_binding()
        for i, t in zip(s.get_inputs(), q["inputs"]):
            b.bind_ortvalue_input(i.name, ort.OrtValue.ortvalue_from_numpy(peer.fill(t)))
        names = [y.name for y in s.get_outputs()]
        for n in names:
            b.bind_output(n)
        s.run_with_iobinding(b)
        for n, v in zip(names, b.get_outputs()):
            b.bind_ortvalue_output(n, v)
        return lambda: s.run_with_iobinding(b), lambda: [np.array(v) for v in b.copy_outputs_to_cpu()]


ONNXRuntime().serve()

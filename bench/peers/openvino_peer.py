"""Runs ONNX models with OpenVINO, for the least time of one call."""

import openvino as ov
from openvino import properties

import peer

# Without the hint OpenVINO computes in bf16 where the processor has it.
PRECISIONS = {"": ov.Type.f32, "bf16": ov.Type.bf16}


class OpenVINO(peer.Peer):
    def hello(self, threads):
        self.core = ov.Core()
        return "openvino " + ov.__version__.split("-")[0]

    def load(self, q):
        c = self.core.compile_model(self.core.read_model(q["file"]), "CPU", {
            properties.hint.performance_mode: properties.hint.PerformanceMode.LATENCY,
            properties.hint.inference_precision: PRECISIONS[q["variant"]],
            properties.inference_num_threads: self.threads,
            properties.num_streams: 1,
        })
        r = c.create_infer_request()
        self.kept = {**getattr(self, "kept", {}), q["id"]: [ov.Tensor(peer.fill(t), shared_memory=True) for t in q["inputs"]]}
        for i, t in enumerate(self.kept[q["id"]]):
            r.set_input_tensor(i, t)
        return lambda: r.infer(share_outputs=True), lambda: [r.get_output_tensor(i).data for i in range(len(c.outputs))]

    def handle(self, q):
        if q["do"] == "drop":
            getattr(self, "kept", {}).pop(q["id"], None)
        return super().handle(q)


OpenVINO().serve()

"""Runs networks in torch_xla's sessions, which are LazyTensor's own line, on the CPU: each call is recorded again and computed at
its end."""

import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")

import peer  # noqa: E402
import torch  # noqa: E402
import torch_xla  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "testkit", "oracle"))
import network  # noqa: E402


class XLA(peer.Peer):
    def hello(self, threads):
        torch.set_num_threads(threads)
        # XLA's client makes as many threads as there are processors that it may run on.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
        self.device = torch_xla.device()
        torch.set_default_device(self.device)
        return "torch_xla " + torch_xla.__version__.split("+")[0]

    def load(self, q):
        if q["op"] != "network" or q["variant"]:
            raise ValueError("networks alone")
        with torch.device("cpu"):
            m = network.Network(q["file"])
        x = [v.to(self.device) for v in m.inputs]
        m.to(self.device)
        last = []

        def call():
            with torch.no_grad():
                out = m(*x)
            torch_xla.sync()
            last[:] = [v.cpu() for v in out]  # which waits for the results

        return call, lambda: [v.contiguous().numpy() for v in last]


XLA().serve()

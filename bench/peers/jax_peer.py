"""Runs StableHLO programs as jax.jit does: compiled by XLA for jaxlib's CPU client."""

import os
import sys

import peer  # noqa: I001

# XLA's CPU client has as many threads as this says (peers.go sets it).
assert os.environ.get("NPROC"), "NPROC is not set"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402

jax.config.update("jax_enable_x64", True)


class XLA(peer.Peer):
    def hello(self, threads):
        self.device = jax.devices("cpu")[0]
        return "jax " + jax.__version__ + ", jaxlib " + jax.lib.__version__

    def load(self, q):
        with open(q["file"], encoding="utf-8") as f:
            text = f.read()
        client = self.device.client
        run = client.compile_and_load(text, xla_client.DeviceList((self.device,)), xla_client.CompileOptions())
        operands = [jax.device_put(peer.fill(t), self.device) for t in q["inputs"] + q.get("weights", [])]
        last = []

        def call():
            last[:] = run.execute(operands)
            for y in last:
                y.block_until_ready()

        return call, lambda: [np.asarray(y) for y in last]


XLA().serve()

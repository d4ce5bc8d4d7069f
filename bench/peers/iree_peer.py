"""Compiles StableHLO programs with IREE for this processor and runs them. Compiled programs
are kept in a temporary folder, for the next number of threads and the next run."""

import hashlib
import importlib.metadata
import os
import tempfile

import iree.compiler
import iree.runtime as rt
import numpy as np

import peer

# Programs of whole networks have kernels whose scratch memory is more than the 32 KB that are the default.
FLAGS = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling", "--iree-input-demote-i64-to-i32=false",
         "--iree-llvmcpu-stack-allocation-limit=1048576"]


def cpu():
    """The flags of the processor, for which programs are compiled."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line for line in f if line.startswith(("flags", "Features"))), "")


class IREE(peer.Peer):
    def hello(self, threads):
        if threads > 1:
            rt.flags.parse_flags("--task_topology_group_count=%d" % threads)
        self.config = rt.Config("local-sync" if threads == 1 else "local-task")
        self.version = importlib.metadata.version("iree-base-runtime")
        return "iree " + self.version

    def compiled(self, file):
        with open(file, "rb") as f:
            key = hashlib.sha256(f.read() + repr((FLAGS, self.version, cpu())).encode()).hexdigest()
        folder = os.path.join(tempfile.gettempdir(), "gofx-bench-iree-%d" % os.getuid())
        os.makedirs(folder, 0o700, exist_ok=True)
        done = os.path.join(folder, key + ".vmfb")
        if not os.path.exists(done):
            iree.compiler.compile_file(file, input_type="stablehlo", target_backends=["llvm-cpu"], extra_args=FLAGS, output_file=done + ".new")
            os.rename(done + ".new", done)
        return done

    def load(self, q):
        module = rt.VmModule.mmap(self.config.vm_instance, self.compiled(q["file"]))
        context = rt.SystemContext(vm_modules=[module], config=self.config)
        main = getattr(context.modules, module.name).main
        device = self.config.device
        operands = [rt.asdevicearray(device, peer.fill(t)) for t in q["inputs"] + q.get("weights", [])]
        last = []

        def call():
            y = main(*operands)
            last[:] = y if isinstance(y, tuple) else [y]

        return call, lambda: [np.asarray(y) for y in last]


IREE().serve()

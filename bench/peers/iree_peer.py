"""Compiles StableHLO programs with IREE for this processor and runs them. Compiled programs
are kept beside their text, for the next number of threads."""

import importlib.metadata
import os

import iree.compiler
import iree.runtime as rt
import numpy as np

import peer

# Programs of whole networks have kernels whose scratch memory is more than the 32 KB that are the default.
FLAGS = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling", "--iree-input-demote-i64-to-i32=false",
         "--iree-llvmcpu-stack-allocation-limit=1048576"]


class IREE(peer.Peer):
    def hello(self, threads):
        if threads > 1:
            rt.flags.parse_flags("--task_topology_group_count=%d" % threads)
        self.config = rt.Config("local-sync" if threads == 1 else "local-task")
        return "iree " + importlib.metadata.version("iree-base-runtime")

    def load(self, q):
        done = q["file"] + ".vmfb"
        if not os.path.exists(done):
            iree.compiler.compile_file(q["file"], input_type="stablehlo", target_backends=["llvm-cpu"], extra_args=FLAGS, output_file=done)
        module = rt.VmModule.mmap(self.config.vm_instance, done)
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

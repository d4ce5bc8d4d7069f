"""Times PyTorch and JAX on a CUDA card, on the networks of the card's table and at their sizes.

    python3 peers.py torch|jax ROWS.json [FOLDER]

PyTorch runs torchvision's resnet50 and transformers' BERT and GPT-2 with random weights: eager, as
a recorded CUDA graph, and compiled by inductor. JAX runs the StableHLO of `fxgen lower`, files
NETWORK_BATCH.mlir in FOLDER, with random arguments: those of f32 as they are (products round nothing),
those of tf32 without the attribute that says so. Inputs and results stay on the card; a run ends when
its last result is there. A line of JSON is written for each row."""

import json
import os
import re
import statistics
import sys
import time

RUNS, WARM = 50, 5
BATCHES = (1, 32)


def timed(run, wait):
    for _ in range(WARM):
        run()
    wait()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        wait()
        times.append(1e3 * (time.perf_counter() - start))
    return {"median_ms": round(statistics.median(times), 3), "least_ms": round(min(times), 3)}


class Rows:
    def __init__(self, path):
        self.file = open(path, "a")

    def add(self, **row):
        print(json.dumps(row), flush=True)
        print(json.dumps(row), file=self.file, flush=True)

    def tried(self, f, **row):
        start = time.perf_counter()
        try:
            found = f()
        except Exception as e:  # one that fails leaves the others
            found = {"wrong": str(e)[:300]}
        self.add(**row, **found, whole_s=round(time.perf_counter() - start, 1))


def of_torch(rows):
    import torch
    import torchvision
    import transformers

    def resnet50(n):
        return torchvision.models.resnet50(), (torch.randn(n, 3, 224, 224),)

    def bert_base(n):
        m = transformers.BertModel(transformers.BertConfig())
        return Hidden(m), (torch.randint(0, 30522, (n, 128)), torch.ones(n, 128, dtype=torch.int64))

    def gpt2(n):
        m = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))
        return Hidden(m), (torch.randint(0, 50257, (n, 128)),)

    class Hidden(torch.nn.Module):
        def __init__(self, m):
            super().__init__()
            self.m = m

        def forward(self, *x):
            return tuple(self.m(*x[:1], attention_mask=x[1] if len(x) > 1 else None, return_dict=False)[:2])

    def graph(m, x):
        s = torch.cuda.Stream()
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            for _ in range(3):
                m(*x)
        torch.cuda.current_stream().wait_stream(s)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            m(*x)
        return g.replay

    version = "PyTorch " + torch.__version__
    limit = float(os.environ.get("COMPILE_SECONDS", "100"))
    start = time.perf_counter()
    for make in (resnet50, bert_base, gpt2):
        for n in BATCHES:
            for typ in ("f32", "tf32", "f16"):
                torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = typ == "tf32"
                torch.backends.cudnn.benchmark = True
                m, x = make(n)
                m, x = m.eval().cuda(), tuple(a.cuda() for a in x)
                if typ == "f16":
                    m, x = m.half(), tuple(a.half() if a.is_floating_point() else a for a in x)
                ways = {"eager": lambda: lambda: m(*x), "graph": lambda: graph(m, x)}
                if typ != "f32" and time.perf_counter() - start < limit:
                    c = torch.compile(m, mode="reduce-overhead", dynamic=False)
                    ways["compile"] = lambda: lambda: c(*x)
                with torch.inference_mode():
                    for way, prepare in ways.items():
                        rows.tried(lambda: timed(prepare(), torch.cuda.synchronize),
                                   peer=version, way=way, network=make.__name__, batch=n, type=typ)
                torch._dynamo.reset()
                torch.cuda.empty_cache()


TYPES = {"f32": "float32", "f64": "float64", "i64": "int64", "i32": "int32", "bool": "bool", "f16": "float16"}


def of_jax(rows, folder):
    import jax
    import numpy as np
    from jax._src.lib import xla_client

    jax.config.update("jax_enable_x64", True)
    device = jax.devices("gpu")[0]
    random = np.random.default_rng(1)

    def operands(text):
        found = re.findall(r'^//   (input|weight) "[^"]*" (\w+)\[([\d,]*)\]', text, re.M)
        for _, dtype, dims in found:
            shape = [int(d) for d in dims.split(",") if d]
            if dtype.startswith("f"):
                a = random.uniform(0.01, 0.1, shape).astype(TYPES[dtype])
            else:
                a = random.integers(0, 2, shape).astype(TYPES[dtype])
            yield jax.device_put(a, device)

    def run(text):
        start = time.perf_counter()
        code = device.client.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
        took = round(time.perf_counter() - start, 1)
        x, last = list(operands(text)), []

        def once():
            last[:] = code.execute(x)

        return {**timed(once, lambda: [y.block_until_ready() for y in last]), "compile_s": took}

    for name in ("resnet50", "learning_to_paint", "bert_base", "gpt2"):
        for n in BATCHES:
            with open(os.path.join(folder, "%s_%d.mlir" % (name, n))) as f:
                text = f.read()
            for typ in ("f32", "tf32"):
                if typ == "tf32":
                    text = re.sub(r", precision_config = \[[^\]]*\]", "", text)
                rows.tried(lambda: run(text), peer="JAX " + jax.__version__, way="xla", network=name, batch=n, type=typ)


if __name__ == "__main__":
    if sys.argv[1] == "torch":
        of_torch(Rows(sys.argv[2]))
    else:
        of_jax(Rows(sys.argv[2]), sys.argv[3])

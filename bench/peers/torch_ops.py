"""Single operators. prepare returns a function without arguments that runs one
call; results go into tensors that exist already where PyTorch can do that."""

import torch
import torch.nn.functional as F


def prepare(op, x, a, variant):
    if op == "calls":
        return calls(x, a, variant)
    make = OPS[op]
    if variant == "mkldnn":
        f = getattr(F if a["name"] == "gelu" else torch, a["name"])
        m = x[0].to_mkldnn()
        return lambda: f(m)
    if variant == "jit":
        return frozen(make, x, a)
    return make(x, a)


def frozen(make, x, a):
    """The operator as a module: traced, frozen and optimised for inference, so
    that oneDNN keeps weights in its own layout."""
    module = make(x, a, module=True)
    module.eval()
    with torch.no_grad():
        traced = torch.jit.trace(module, (x[0],))
        traced = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
        for _ in range(3):
            traced(x[0])
    return lambda: traced(x[0])


def matmul(x, a, module=False):
    if module:
        k, n = x[1].shape
        m = torch.nn.Linear(k, n, bias=False)
        m.weight = torch.nn.Parameter(x[1].t().contiguous(), requires_grad=False)
        return m
    shape = list(torch.broadcast_shapes(x[0].shape[:-2], x[1].shape[:-2])) + [x[0].shape[-2], x[1].shape[-1]]
    y = torch.empty(shape)
    return lambda: torch.matmul(x[0], x[1], out=y)


def conv(x, a, module=False):
    s, p, g = a["stride"], a["pad"], a["groups"]
    if module:
        w = x[1]
        m = torch.nn.Conv2d(x[0].shape[1], w.shape[0], w.shape[2], s, p, groups=g)
        m.weight = torch.nn.Parameter(w, requires_grad=False)
        m.bias = torch.nn.Parameter(x[2], requires_grad=False)
        return m
    return lambda: F.conv2d(x[0], x[1], x[2], s, p, 1, g)


BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}


def chain(x, a):
    """Every operator writes into one preallocated matrix."""
    ops = [BINARY[o] for o in a["ops"]]
    y = torch.empty_like(x[0])

    def call():
        v = x[0]
        for i, f in enumerate(ops):
            f(v, x[1 + i % 8], out=y)
            v = y
        return y

    return call


def calls(x, a, variant):
    """Ordinary code: every call has a result of its own. With branches every second group of
    eight goes backwards in the second of two calls."""
    ops = [BINARY[o] for o in a["ops"]]

    def chain(turned, *x):
        v = x[0]
        for i, f in enumerate(ops):
            if turned and i // 8 % 2 == 1:
                f = ops[i // 8 * 8 + 7 - i % 8]
            v = f(v, x[1 + i % 8])
        return v

    if variant == "jit":
        traced = torch.jit.freeze(torch.jit.trace(Chain(chain), tuple(x)).eval())
        return warmed(lambda: traced(*x))
    if variant == "compile":
        chain = torch.compile(chain)
    if not a["branches"]:
        return warmed(lambda: chain(False, *x))

    def both():
        chain(False, *x)
        return chain(True, *x)

    return warmed(both)


class Chain(torch.nn.Module):
    """A chain one way."""

    def __init__(self, chain):
        super().__init__()
        self.chain = chain

    def forward(self, *x):
        return self.chain(False, *x)


def warmed(call):
    for _ in range(3):
        call()
    return call


def unary(x, a):
    y = torch.empty_like(x[0])
    name = a["name"]
    if name in ("gelu", "silu"):
        f = getattr(torch.ops.aten, name)
        return lambda: f(x[0], out=y)
    f = getattr(torch, name)
    return lambda: f(x[0], out=y)


def softmax(x, a):
    y = torch.empty_like(x[0])
    return lambda: torch._softmax(x[0], a["dim"], False, out=y)


def batch_norm(x, a):
    return lambda: torch.batch_norm(x[0], x[3], x[4], x[1], x[2], False, 0.1, 1e-5, False)


def group_norm(x, a):
    return lambda: torch.nn.functional.group_norm(x[0], a["groups"], x[1], x[2], 1e-5)


def reduce(x, a):
    f = {"sum": torch.sum, "max": torch.amax, "argmax": torch.argmax}[a["kind"]]
    y = torch.empty(x[0].shape[1 - a["dim"]], dtype=torch.long if a["kind"] == "argmax" else torch.float)
    return lambda: f(x[0], a["dim"], out=y)


def layer_norm(x, a):
    shape = x[0].shape[-1:]
    stats = x[0].shape[:-1] + (1,)
    y, mean, rstd = torch.empty_like(x[0]), torch.empty(stats), torch.empty(stats)
    f = torch.ops.aten.native_layer_norm.out
    return lambda: f(x[0], shape, x[1], x[2], 1e-5, out0=y, out1=mean, out2=rstd)[0]


def move(x, a):
    v = x[0]
    if "perm" in a:
        v = v.permute(a["perm"])
    if "expand" in a:
        v = v.expand(a["expand"])
    y = torch.empty(v.shape)
    return lambda: y.copy_(v)


def attention(x, a):
    q, k, v = (t.permute(0, 2, 1, 3) for t in x[:3])
    scale = q.shape[-1] ** -0.5
    mask = None
    if a["causal"]:
        n = q.shape[-2]
        mask = torch.full((n, n), float("-inf")).triu(1)

    def call():
        s = torch.matmul(q, k.transpose(-1, -2)) * scale
        if mask is not None:
            s = s + mask
        return torch.matmul(torch.softmax(s, -1), v).permute(0, 2, 1, 3).contiguous()

    return call


def lstm(x, a):
    m = torch.nn.LSTM(a["input"], a["hidden"], a["layers"])
    for p, w in zip(m.parameters(), x[1:]):
        p.requires_grad_(False)
        p.copy_(w)
    m.flatten_parameters()
    return lambda: m(x[0])[0]


def quantized(x, a):
    xq = torch._make_per_tensor_quantized_tensor(x[0], a["x_scale"], a["x_zero"])
    w = x[1]
    n = w.shape[0]
    scales = torch.full((n,), a["w_scale"], dtype=torch.double)
    wq = torch._make_per_channel_quantized_tensor(w, scales, torch.zeros(n, dtype=torch.long), 0)
    return xq, wq, x[2].float() * (a["x_scale"] * a["w_scale"])


def qlinear(x, a):
    x[1] = x[1].t().contiguous()
    xq, wq, b = quantized(x, a)
    packed = torch.ops.quantized.linear_prepack(wq, b)
    return lambda: torch.ops.quantized.linear(xq, packed, a["y_scale"], a["y_zero"])


def qconv(x, a):
    xq, wq, b = quantized(x, a)
    s, p, g = a["stride"], a["pad"], a["groups"]
    packed = torch.ops.quantized.conv2d_prepack(wq, b, [s, s], [p, p], [1, 1], g)
    return lambda: torch.ops.quantized.conv2d(xq, packed, a["y_scale"], a["y_zero"])


OPS = {f.__name__: f for f in (
    matmul, conv, chain, unary, softmax, layer_norm, batch_norm,
    group_norm, reduce, move, attention, lstm, qlinear, qconv)}

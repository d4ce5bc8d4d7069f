"""What each operator is in PyTorch: name -> function of attributes and operands."""
import math

import numpy as np
import torch
import torch.nn.functional as F

import philox

OPS = {}


NOTES = []


class Skip(Exception):
    """PyTorch's result is undefined or depends on the machine, and why."""


class Lacks(Exception):
    """This PyTorch cannot compute what has a meaning in PyTorch, and why."""


def note(text):
    """Says that PyTorch itself refuses the call, of which the value is known."""
    NOTES.append(text)


TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
         "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}


def dtype(a, key="dtype", default=None):
    name = a.get(key)
    if name is None:
        return default
    if name not in TYPES:
        raise Lacks("PyTorch has no type " + name)
    return TYPES[name]


def op(*names):
    def add(f):
        for n in names:
            OPS[n] = f
        return f
    return add


def is_int(x):
    return not x.dtype.is_floating_point


# Elementwise.

for name in ("abs atan ceil cos erf exp expm1 floor isfinite isinf isnan log log1p log2 logical_not neg reciprocal relu "
             "round rsqrt sigmoid sign sin sqrt square tan tanh trunc bitwise_not").split():
    OPS[name] = lambda a, x, f=getattr(torch, name): f(x)
for name in "hardsigmoid hardswish logsigmoid mish selu silu softsign relu6".split():
    OPS[name] = lambda a, x, f=getattr(F, name): f(x)


def either(tensor, number):
    """The second operand, of which a tensor and a number are two forms."""
    if (tensor is None) == (number is None):
        raise ValueError("one of a tensor and a number")
    return number if tensor is None else tensor


def number(v, x):
    """A number beside x as a tensor, of the type that PyTorch gives it there."""
    return torch.tensor(v, dtype=torch.float64 if isinstance(v, float) else None).to(torch.result_type(x, v))


def operands(a, x, other=None, numbers=True):
    """Both operands of a binary operator; a reversed number is a tensor."""
    other = either(other, a["other"])
    if isinstance(other, torch.Tensor):
        if a.get("reverse"):
            raise ValueError("reversed tensors")
        return x, other
    if a.get("reverse"):
        return number(other, x), x
    if not numbers:
        note("a number")
        return x, number(other, x)
    return x, other


for name in "eq ne lt le gt ge mul bitwise_and bitwise_or bitwise_xor fmod remainder".split():
    OPS[name] = lambda a, x, other=None, f=getattr(torch, name): f(*operands(a, x, other))
OPS["pow"] = lambda a, x, other=None: torch.pow(*((a["other"], x) if a["reverse"] and other is None and a["other"] is not None else operands(a, x, other)))
for name in "maximum minimum".split():
    OPS[name] = lambda a, x, other=None, f=getattr(torch, name): f(*operands(a, x, other, False))
for name in "logical_and logical_or logical_xor".split():
    OPS[name] = lambda a, x, y, f=getattr(torch, name): f(x, y)


def shift(f):
    def g(a, x, other=None):
        x, n = operands(a, x, other)
        counts = n if isinstance(n, torch.Tensor) else torch.tensor(n)
        bits = 8 * torch.empty((), dtype=torch.result_type(x, n)).element_size()
        if ((counts < 0) | (counts >= bits)).any():
            raise Skip("shifts by a negative number or beyond the width")
        return f(x, n)
    return g


OPS["bitwise_left_shift"] = shift(torch.bitwise_left_shift)
OPS["bitwise_right_shift"] = shift(torch.bitwise_right_shift)
OPS["add"] = lambda a, x, other=None: torch.add(*operands(a, x, other), alpha=1 if a["alpha"] is None else a["alpha"])
OPS["sub"] = lambda a, x, other=None: torch.sub(*operands(a, x, other), alpha=1 if a["alpha"] is None else a["alpha"])


@op("div")
def _(a, x, other=None):
    if a.get("reverse") and not a["rounding_mode"] and is_int(x):
        x = x.float()  # before the number takes the type of x
    return torch.div(*operands(a, x, other), rounding_mode=a["rounding_mode"] or None)


OPS["floor_divide"] = lambda a, x, other=None: torch.div(*operands(a, x, other), rounding_mode="floor")
OPS["addcdiv"] = lambda a, x, t1, t2: torch.addcdiv(x, t1, t2, value=1 if a["value"] is None else a["value"])
OPS["addcmul"] = lambda a, x, t1, t2: torch.addcmul(x, t1, t2, value=1 if a["value"] is None else a["value"])


@op("cast")
def _(a, x):
    to = dtype(a)
    if to is None:
        raise ValueError("dtype")
    if x.dtype.is_floating_point and not to.is_floating_point and to != torch.bool:
        info = torch.iinfo(to)
        y = x.double()
        if not (torch.isfinite(y).all() and (y.trunc() >= info.min).all() and (y.trunc() <= info.max).all()):
            raise Skip("casts of floats that do not fit are undefined in PyTorch and saturate here")
    return x.to(to)


@op("clamp")
def _(a, x):
    return torch.clamp(x, min=a["min"], max=a["max"])


for name in "celu elu".split():
    OPS[name] = lambda a, x, f=getattr(F, name): f(x, alpha=a["alpha"])
OPS["gelu"] = lambda a, x: F.gelu(x, approximate=a["approximate"] or "none")
OPS["hardtanh"] = lambda a, x: F.hardtanh(x, a["min_val"], a["max_val"])
OPS["leaky_relu"] = lambda a, x: F.leaky_relu(x, a["negative_slope"])
OPS["softplus"] = lambda a, x: F.softplus(x, a["beta"], a["threshold"])


OPS["threshold"] = lambda a, x: F.threshold(x, a["threshold"], a["value"])
OPS["lerp"] = lambda a, x, end, weight=None: torch.lerp(x, end, either(weight, a["weight"]))
OPS["masked_fill"] = lambda a, x, mask: x.masked_fill(mask, a["value"])
OPS["nan_to_num"] = lambda a, x: torch.nan_to_num(x, a["nan"], a["posinf"], a["neginf"])
OPS["where"] = lambda a, cond, x, other=None: torch.where(cond, x, either(other, a["other"]))
OPS["prelu"] = lambda a, x, w: F.prelu(x, w)
OPS["glu"] = lambda a, x: F.glu(x, a["dim"])
OPS["tril"] = lambda a, x: torch.tril(x, a["diagonal"])
OPS["triu"] = lambda a, x: torch.triu(x, a["diagonal"])


@op("lstm_gates")
def _(a, i, f, g, o, c):
    to = c.dtype
    if is_int(c) or any(x.dtype != i.dtype for x in (f, g, o)) or i.dtype not in (to, torch.float32):
        raise ValueError("gates of the type of the state, or of f32")
    i, f, g, o, c = torch.broadcast_tensors(i, f, g, o, c)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return (torch.sigmoid(o) * torch.tanh(c)).to(to), c.to(to)


# Factories.

@op("arange")
def _(a):
    return torch.arange(a["start"], a["end"], a["step"] or 1, dtype=dtype(a, default=torch.int64))


OPS["eye"] = lambda a: torch.eye(a["n"], a["m"] or a["n"], dtype=dtype(a, default=torch.float32))
OPS["full"] = lambda a: torch.full(a["size"], a["value"], dtype=dtype(a))
OPS["full_like"] = lambda a, x: torch.full_like(x, a["value"], dtype=dtype(a))


@op("linspace")
def _(a):
    to = dtype(a, default=torch.float32)
    narrow = to in (torch.float16, torch.bfloat16)  # PyTorch adds narrow steps, which drift
    torch.linspace(a["start"], a["end"], a["steps"], dtype=to)
    return torch.linspace(a["start"], a["end"], a["steps"], dtype=torch.float32 if narrow else to).to(to)


OPS["ones"] = lambda a: torch.ones(a["size"], dtype=dtype(a, default=torch.float32))
OPS["zeros"] = lambda a: torch.zeros(a["size"], dtype=dtype(a, default=torch.float32))
OPS["ones_like"] = lambda a, x: torch.ones_like(x, dtype=dtype(a))
OPS["zeros_like"] = lambda a, x: torch.zeros_like(x, dtype=dtype(a))

# Reductions.


def axes(a, x):
    n = max(x.dim(), 1)
    dims = [d + n if d < 0 else d for d in a["dim"]]
    if any(d < 0 or d >= n for d in dims):
        raise IndexError("Dimension out of range")
    if len(set(dims)) < len(dims):
        raise RuntimeError("dim appears multiple times in the list of dims")
    return sorted(dims) if a["dim"] else list(range(x.dim()))


OPS["sum"] = lambda a, x: torch.sum(x, axes(a, x), keepdim=a["keep_dim"], dtype=dtype(a))
OPS["mean"] = lambda a, x: torch.mean(x, axes(a, x), keepdim=a["keep_dim"], dtype=dtype(a))


def stepwise(f, several):
    """Reduces one dimension after the other."""
    def g(a, x):
        if len(a["dim"]) > 1 and not several:
            note("several dimensions")
        if dtype(a) is not None:
            x = x.to(dtype(a))
        if x.dim() == 0:
            axes(a, x)
            x, a = x.reshape(1), {**a, "dim": [0], "keep_dim": False}
        for d in reversed(axes(a, x)):
            x = f(x, d, a["keep_dim"])
        return x if dtype(a) is None else x.to(dtype(a))
    return g


def untyped(f):
    """Reductions without an element type to compute in."""
    def g(a, x):
        if a["dtype"] is not None:
            raise ValueError("no dtype")
        return f(a, x)
    return g


OPS["prod"] = stepwise(lambda x, d, keep: torch.prod(x, d, keepdim=keep), False)
# PyTorch takes several dimensions since 2.2.
OPS["any"] = untyped(stepwise(lambda x, d, keep: torch.any(x, d, keepdim=keep), True))
OPS["all"] = untyped(stepwise(lambda x, d, keep: torch.all(x, d, keepdim=keep), True))
OPS["amax"] = untyped(lambda a, x: torch.amax(x, axes(a, x), keepdim=a["keep_dim"]))
OPS["amin"] = untyped(lambda a, x: torch.amin(x, axes(a, x), keepdim=a["keep_dim"]))
OPS["max"] = lambda a, x: torch.max(x)
OPS["min"] = lambda a, x: torch.min(x)
OPS["max_dim"] = lambda a, x: torch.max(x, a["dim"], keepdim=a["keep_dim"])
OPS["min_dim"] = lambda a, x: torch.min(x, a["dim"], keepdim=a["keep_dim"])


def arg(f):
    def g(a, x):
        if len(a["dim"]) > 1:
            raise ValueError("one dimension")
        if a["dim"]:
            return f(x, a["dim"][0], a["keep_dim"])
        out = f(x)
        return out.reshape([1] * x.dim()) if a["keep_dim"] else out
    return g


OPS["argmax"], OPS["argmin"] = arg(torch.argmax), arg(torch.argmin)


def spread(f):
    def g(a, x):
        c = 1 if a["correction"] is None else a["correction"]
        if c != c or abs(c) > 1 << 62 or c != int(c):
            raise Lacks("PyTorch takes a whole correction until 2.0")
        return f(x, axes(a, x), correction=int(c), keepdim=a["keep_dim"])
    return g


OPS["std"], OPS["var"] = spread(torch.std), spread(torch.var)
OPS["logsumexp"] = lambda a, x: torch.logsumexp(x, axes(a, x), a["keep_dim"])
OPS["norm"] = lambda a, x: torch.linalg.vector_norm(x, 2 if a["p"] is None else a["p"], axes(a, x), a["keep_dim"])
OPS["normalize"] = lambda a, x: F.normalize(x, a["p"], a["dim"], a["eps"])
for name in "softmax log_softmax softmin".split():
    OPS[name] = lambda a, x, f=getattr(F, name): f(x, a["dim"])
OPS["cumsum"] = lambda a, x: torch.cumsum(x, a["dim"], dtype=dtype(a))
OPS["cumprod"] = lambda a, x: torch.cumprod(x, a["dim"], dtype=dtype(a))

# Normalisation.


@op("batch_norm")
def _(a, x, mean=None, var=None, weight=None, bias=None):
    batch = a["training"] or mean is None or var is None
    if batch and not a["training"]:
        note("running statistics are missing")
    if not a["training"] and batch:
        mean = var = None
    return F.batch_norm(x, mean, var, weight, bias, batch, eps=a["eps"])


OPS["batch_norm_inference"] = lambda a, x, m, v, w=None, b=None: F.batch_norm(x, m, v, w, b, False, eps=a["eps"])


@op("batch_norm_stats")
def _(a, x):
    if x.dim() < 2 or is_int(x):
        raise ValueError("a batch of channels of floats")
    dims = [0] + list(range(2, x.dim()))
    x = x if x.dtype == torch.float64 else x.float()  # statistics are never narrow
    return x.mean(dims), x.var(dims, unbiased=False)


OPS["layer_norm"] = lambda a, x, w=None, b=None: F.layer_norm(x, a["normalized_shape"], w, b, a["eps"])
OPS["group_norm"] = lambda a, x, w=None, b=None: F.group_norm(x, a["num_groups"], w, b, a["eps"])


@op("instance_norm")
def _(a, x, mean=None, var=None, w=None, b=None):
    return F.instance_norm(x, mean, var, w, b, not a["use_running_stats"], eps=a["eps"])


@op("rms_norm")
def _(a, x, w=None):
    shape, n = a["normalized_shape"], len(a["normalized_shape"])
    if n == 0 or list(x.shape[-n:]) != shape or w is not None and list(w.shape) != shape:
        raise ValueError("normalized_shape")
    dims = list(range(x.dim() - len(a["normalized_shape"]), x.dim()))
    y = x * torch.rsqrt((x * x).mean(dims, keepdim=True) + a["eps"])
    return y if w is None else y * w


OPS["local_response_norm"] = lambda a, x: F.local_response_norm(x, a["size"], a["alpha"], a["beta"], a["k"])

# Contractions.

OPS["matmul"] = lambda a, x, y: torch.matmul(x, y)
OPS["bmm"] = lambda a, x, y: torch.bmm(x, y)
OPS["outer"] = lambda a, x, y: torch.outer(x, y)
OPS["linear"] = lambda a, x, w, b=None: F.linear(x, w, b)
OPS["addmm"] = lambda a, x, m, n: torch.addmm(x, m, n, beta=1 if a["beta"] is None else a["beta"], alpha=1 if a["alpha"] is None else a["alpha"])
OPS["einsum"] = lambda a, *xs: torch.einsum(a["equation"], *xs)


def one(v, default):
    """A setting of a convolution or pool: all dimensions, or one for all."""
    return default if not v else v if len(v) > 1 else v[0]


def kept_of(v, n, x):
    """The n output sizes; -1 keeps the operand's, which PyTorch spells None."""
    v = v * n if len(v) == 1 else v
    return [x.size(k - n) if s == -1 else s for k, s in enumerate(v)]


for n in (1, 2, 3):
    @op("conv%dd" % n)
    def _(a, x, w, b=None, f=getattr(F, "conv%dd" % n)):
        if a["pad_mode"] and any(a["padding"]):
            raise ValueError("one of padding and pad_mode")
        return f(x, w, b, one(a["stride"], 1), a["pad_mode"] or one(a["padding"], 0), one(a["dilation"], 1), a["groups"] or 1)

    @op("conv_transpose%dd" % n)
    def _(a, x, w, b=None, f=getattr(F, "conv_transpose%dd" % n)):
        return f(x, w, b, one(a["stride"], 1), one(a["padding"], 0), one(a["output_padding"], 0), a["groups"] or 1, one(a["dilation"], 1))

    def pool(a, x, indices, f=getattr(F, "max_pool%dd" % n)):
        return f(x, one(a["kernel_size"], None), one(a["stride"], None), one(a["padding"], 0), one(a["dilation"], 1), a["ceil_mode"], indices)

    OPS["max_pool%dd" % n] = lambda a, x, f=pool: f(a, x, False)
    OPS["max_pool%dd_with_indices" % n] = lambda a, x, f=pool: f(a, x, True)
    OPS["adaptive_avg_pool%dd" % n] = lambda a, x, n=n, f=getattr(F, "adaptive_avg_pool%dd" % n): f(x, kept_of(a["output_size"], n, x))
    OPS["adaptive_max_pool%dd" % n] = lambda a, x, n=n, f=getattr(F, "adaptive_max_pool%dd" % n): f(x, kept_of(a["output_size"], n, x))
    OPS["adaptive_max_pool%dd_with_indices" % n] = \
        lambda a, x, n=n, f=getattr(F, "adaptive_max_pool%dd" % n): f(x, kept_of(a["output_size"], n, x), True)


@op("avg_pool1d")
def _(a, x):
    if a["divisor_override"]:
        note("avg_pool1d has no divisor")
        two = [[1] + v if v else v for v in (a["kernel_size"], a["stride"])]
        return F.avg_pool2d(x.unsqueeze(-2), two[0], two[1] or None, [0] + (a["padding"] or [0]), a["ceil_mode"],
                            not a["count_exclude_pad"], a["divisor_override"]).squeeze(-2)
    return F.avg_pool1d(x, one(a["kernel_size"], None), one(a["stride"], None), one(a["padding"], 0), a["ceil_mode"], a["count_exclude_pad"] is False)


for n in (2, 3):
    OPS["avg_pool%dd" % n] = lambda a, x, f=getattr(F, "avg_pool%dd" % n): f(
        x, one(a["kernel_size"], None), one(a["stride"], None), one(a["padding"], 0), a["ceil_mode"],
        not a["count_exclude_pad"], a["divisor_override"] or None)
for n in (1, 2):
    OPS["lp_pool%dd" % n] = lambda a, x, f=getattr(F, "lp_pool%dd" % n): f(
        x, a["norm_type"], one(a["kernel_size"], None), one(a["stride"], None), a["ceil_mode"])


@op("lp_pool3d")
def _(a, x):
    # torch 1.13 has no lp_pool3d; this is how it defines the other two.
    kernel = one(a["kernel_size"], None)
    size = kernel ** 3 if isinstance(kernel, int) else math.prod(kernel)
    mean = F.avg_pool3d(x.pow(a["norm_type"]), kernel, one(a["stride"], None), 0, a["ceil_mode"])
    return (torch.sign(mean) * F.relu(torch.abs(mean))).mul(size).pow(1 / a["norm_type"])


@op("scaled_dot_product_attention")
def _(a, q, k, v, mask=None):
    if mask is not None and a["is_causal"]:
        raise ValueError("is_causal with a mask")
    if min(x.dim() for x in (q, k, v)) < 2:
        raise ValueError("two dimensions")
    if is_int(q) or k.dtype != q.dtype or v.dtype != q.dtype:
        raise ValueError("floats of one type")
    if a["enable_gqa"]:
        k = k.repeat_interleave(q.size(-3) // k.size(-3), -3)
        v = v.repeat_interleave(q.size(-3) // v.size(-3), -3)
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if a["scale"] is None else a["scale"])
    if a["is_causal"]:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    p = torch.softmax(scores, -1)
    if mask is not None and mask.dtype == torch.bool:
        p = torch.where(torch.isneginf(scores).all(-1, keepdim=True), torch.zeros(()).to(p), p)
    return p @ v


def recurrent(f, states):
    def g(a, x, *rest):
        h, weights = list(rest[:states]), list(rest[states:])
        layers, ways = a["num_layers"] or 1, 2 if a["bidirectional"] else 1
        bias, flat = not a["no_bias"], x.dim() == 2
        first = a["batch_first"] and not flat
        if flat:
            x, h = x.unsqueeze(1), [s if s is None else s.unsqueeze(1) for s in h]
        batch, hidden = x.size(0 if first else 1), weights[1].size(1)
        h = [torch.zeros(layers * ways, batch, hidden, dtype=x.dtype) if s is None else s for s in h]
        out = f(a)(x, h[0] if states == 1 else h, weights, bias, layers, 0.0, False, a["bidirectional"], first)
        return [t.squeeze(1) for t in out] if flat else out
    return g


OPS["lstm"] = recurrent(lambda a: torch._VF.lstm, 2)
OPS["gru"] = recurrent(lambda a: torch._VF.gru, 1)
def nonlinear(tanh, relu):
    def g(a):
        if a["nonlinearity"] not in ("", "tanh", "relu"):
            raise ValueError("nonlinearity")
        return relu if a["nonlinearity"] == "relu" else tanh
    return g


OPS["rnn"] = recurrent(nonlinear(torch._VF.rnn_tanh, torch._VF.rnn_relu), 1)


def cell(f, states):
    def g(a, x, *rest):
        h, weights, flat = list(rest[:states]), list(rest[states:]), x.dim() == 1
        if flat:
            x, h = x.unsqueeze(0), [s.unsqueeze(0) for s in h]
        weights += [None] * (4 - len(weights))
        if weights[2] is None or weights[3] is None:
            zero = torch.zeros(weights[0].size(0), dtype=x.dtype)
            weights = [zero if w is None else w for w in weights]
        out = f(a)(x, h[0] if states == 1 else h, *weights)
        out = out if isinstance(out, tuple) else [out]
        return [t.squeeze(0) for t in out] if flat else out
    return g


OPS["lstm_cell"] = cell(lambda a: torch.lstm_cell, 2)
OPS["gru_cell"] = cell(lambda a: torch.gru_cell, 1)
OPS["rnn_cell"] = cell(nonlinear(torch.rnn_tanh_cell, torch.rnn_relu_cell), 1)

# Movement.

OPS["cat"] = lambda a, *xs: torch.cat(xs, a["dim"])
OPS["stack"] = lambda a, *xs: torch.stack(xs, a["dim"])
OPS["chunk"] = lambda a, x: torch.chunk(x, a["chunks"], a["dim"])
OPS["split"] = lambda a, x: torch.split(x, a["sizes"], a["dim"])
@op("unbind")
def _(a, x):
    out = torch.unbind(x, a["dim"])
    if len(out) != a["count"]:  # part of the call here, for the number of results
        raise ValueError("count")
    return out


OPS["diagonal"] = lambda a, x: torch.diagonal(x, a["offset"], *((0, 1) if a["dim1"] == a["dim2"] == 0 else (a["dim1"], a["dim2"])))
OPS["expand"] = lambda a, x: x.expand(a["shape"])
OPS["flatten"] = lambda a, x: torch.flatten(x, a["start_dim"], a["end_dim"])
OPS["unflatten"] = lambda a, x: x.unflatten(a["dim"], a["sizes"])
OPS["flip"] = lambda a, x: torch.flip(x, a["dims"])
OPS["roll"] = lambda a, x: torch.roll(x, a["shifts"], a["dims"]) if a["dims"] else torch.roll(x, a["shifts"])
OPS["movedim"] = lambda a, x: torch.movedim(x, a["source"], a["destination"])
OPS["narrow"] = lambda a, x: torch.narrow(x, a["dim"], a["start"], a["length"])
OPS["permute"] = lambda a, x: x.permute(a["dims"])
OPS["transpose"] = lambda a, x: x.transpose(a["dim0"], a["dim1"])
OPS["t"] = lambda a, x: x.t()
OPS["reshape"] = OPS["view"] = lambda a, x: x.reshape(a["shape"])
OPS["view_as"] = lambda a, x, other: x.reshape(other.shape)
OPS["clone"] = lambda a, x: x.clone()
OPS["copy"] = lambda a, x, src: x.clone().copy_(src)
OPS["select_scatter"] = lambda a, x, src: torch.select_scatter(x, src, a["dim"], a["index"])
OPS["slice_scatter"] = lambda a, x, src: torch.slice_scatter(x, src, a["dim"], a["start"], a["stop"], min(a["step"] or 1, 1 << 40))
OPS["diagonal_scatter"] = lambda a, x, src: torch.diagonal_scatter(
    x, src, a["offset"], *((0, 1) if a["dim1"] == a["dim2"] == 0 else (a["dim1"], a["dim2"])))
OPS["repeat"] = lambda a, x: x.repeat(a["repeats"])
OPS["tile"] = lambda a, x: torch.tile(x, a["reps"])
OPS["repeat_interleave"] = lambda a, x: torch.repeat_interleave(x, a["repeats"], a["dim"])
OPS["select"] = lambda a, x: x.select(a["dim"], a["index"])
OPS["unsqueeze"] = lambda a, x: x.unsqueeze(a["dim"])


@op("slice")
def _(a, x):
    index = [slice(None)] * x.dim()
    index[a["dim"]] = slice(a["start"], a["stop"], a["step"] or 1)
    return x[tuple(index)]


@op("squeeze")
def _(a, x):
    if not a["dim"]:
        return x.squeeze()
    for d in reversed(axes(a, x)):
        x = x.squeeze(d)
    return x


@op("pad")
def _(a, x):
    mode, pad = a["mode"] or "constant", a["pad"]
    if mode == "constant":
        return F.pad(x, pad, mode, a["value"])
    want = len(pad) // 2
    try:
        return F.pad(x, pad, mode)
    except (RuntimeError, NotImplementedError, ValueError, AssertionError):
        if not (0 < want <= min(x.dim(), 3)):
            raise
    # PyTorch wants batch and channels before the padded dimensions, and floats.
    note("mode " + mode + " of other ranks and types")
    last = x.shape[x.dim() - want:]
    y = F.pad(torch.arange(math.prod(last)).double().reshape([1, 1] + list(last)), pad, mode).long()
    return x.flatten(x.dim() - want)[..., y.reshape(-1)].reshape(list(x.shape[:x.dim() - want]) + list(y.shape[2:]))


OPS["pixel_shuffle"] = lambda a, x: F.pixel_shuffle(x, a["upscale_factor"])


@op("pixel_unshuffle")
def _(a, x):
    return F.pixel_unshuffle(x, a["downscale_factor"])


def index(i):
    if i.dtype in (torch.int32, torch.int16, torch.int8, torch.uint8):
        note("indices of another integer type")
        return i.to(torch.int64)
    return i


OPS["gather"] = lambda a, x, i: torch.gather(x, a["dim"], index(i))
OPS["index_select"] = lambda a, x, i: torch.index_select(x, a["dim"], i)
OPS["embedding"] = lambda a, x, w: F.embedding(x, w)
OPS["one_hot"] = lambda a, x: F.one_hot(index(x), a["num_classes"])
OPS["unfold"] = lambda a, x: F.unfold(x, one(a["kernel_size"], None), one(a["dilation"], 1), one(a["padding"], 0), one(a["stride"], 1))
OPS["fold"] = lambda a, x: F.fold(x, a["output_size"], one(a["kernel_size"], None), one(a["dilation"], 1), one(a["padding"], 0), one(a["stride"], 1))


@op("embedding_bag")
def _(a, x, w, offsets=None, weights=None):
    return F.embedding_bag(x, w, offsets, mode=a["mode"] or "mean", include_last_offset=a["include_last_offset"], per_sample_weights=weights)


@op("scatter")
def _(a, x, i, src):
    if a["reduce"]:
        return x.scatter(a["dim"], index(i), src, reduce=a["reduce"])
    return x.scatter(a["dim"], index(i), src)


OPS["scatter_add"] = lambda a, x, i, src: x.scatter_add(a["dim"], index(i), src)
OPS["scatter_reduce"] = lambda a, x, i, src: x.scatter_reduce(a["dim"], index(i), src, a["reduce"])
OPS["sort"] = lambda a, x: torch.sort(x, dim=a["dim"], descending=a["descending"], stable=True)
OPS["argsort"] = lambda a, x: torch.sort(x, dim=a["dim"], descending=a["descending"], stable=True)[1]


@op("topk")
def _(a, x):
    # The first of equal elements comes first, which torch.topk does not promise.
    if x.dim() == 0 and not 0 <= a["k"] <= 1:
        raise RuntimeError("k out of range")
    v, i = torch.sort(x, dim=a["dim"], descending=not a["smallest"], stable=True)
    return (v, i) if x.dim() == 0 else (v.narrow(a["dim"], 0, a["k"]), i.narrow(a["dim"], 0, a["k"]))


# Images.

@op("interpolate")
def _(a, x):
    mode = a["mode"] or "nearest"
    kw = {} if mode.startswith("nearest") else {"align_corners": a["align_corners"]}
    if a["align_corners"]:
        kw["align_corners"] = True
    scale = a["scale_factor"]
    n = x.dim() - 2
    if scale and a["size"]:
        raise ValueError("one of size and scale_factor")
    if scale:
        kw["scale_factor"] = [float(s) for s in (scale * n if len(scale) == 1 else scale)]
    else:
        kw["size"] = a["size"] * n if len(a["size"]) == 1 else a["size"]
    if is_int(x) and x.dtype != torch.uint8 and mode.startswith("nearest"):
        note("integers")
        at = torch.arange(math.prod(x.shape[2:])).double().reshape([1, 1] + list(x.shape[2:]))
        at = F.interpolate(at, mode=mode, **kw).long()
        return x.flatten(2)[..., at.reshape(-1)].reshape(list(x.shape[:2]) + list(at.shape[2:]))
    return F.interpolate(x, mode=mode, **kw)


OPS["grid_sample"] = lambda a, x, g: F.grid_sample(x, g, a["mode"] or "bilinear", a["padding_mode"] or "zeros", a["align_corners"])

# Random numbers.

for name in "rand randn randint bernoulli dropout fold_in random_split".split():
    OPS[name] = getattr(philox, name)

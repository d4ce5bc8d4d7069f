"""What the PyTorch expressions of the operators call besides torch, F, math and
philox. An expression is one line beside the operator in op/std; what takes more
lines, or is the same for many operators, is a function here."""
import math

import torch
import torch.nn.functional as F

import philox

NOTES = []

# Whether functions are asked how large the terms of their sums are, of magnitudes.
TERMS = False


class Skip(Exception):
    """PyTorch's result is undefined or depends on the machine, and why."""


class Lacks(Exception):
    """This PyTorch cannot compute what has a meaning in PyTorch, and why."""


def note(text):
    """Says that PyTorch itself refuses the call, of which the value is known."""
    NOTES.append(text)


def is_int(x):
    return not x.dtype.is_floating_point


def given(v, default):
    """An attribute that may be absent."""
    return default if v is None else v


# Elementwise.


def number(v, x):
    """A number beside x as a tensor, of the type that PyTorch gives it there."""
    return torch.tensor(v, dtype=torch.float64 if isinstance(v, float) else None).to(torch.result_type(x, v))


def two(x, other, reverse=False):
    """Both operands of a binary operator; a reversed number is a tensor."""
    if reverse and isinstance(other, torch.Tensor):
        raise ValueError("reversed tensors")
    return (number(other, x), x) if reverse else (x, other)


def tensor_of(other, x):
    """The second operand of a function that takes no numbers."""
    if isinstance(other, torch.Tensor):
        return other
    note("a number")
    return number(other, x)


def shifted(f, x, other, reverse):
    x, n = two(x, other, reverse)
    counts = n if isinstance(n, torch.Tensor) else torch.tensor(n)
    bits = 8 * torch.empty((), dtype=torch.result_type(x, n)).element_size()
    if ((counts < 0) | (counts >= bits)).any():
        raise Skip("shifts by a negative number or beyond the width")
    return f(x, n)


def divide(x, other, reverse, rounding_mode):
    if reverse and not rounding_mode and is_int(x):
        x = x.float()  # before the number takes the type of x
    return torch.div(*two(x, other, reverse), rounding_mode=rounding_mode or None)


def cast(x, to):
    if to is None:
        raise ValueError("dtype")
    if x.dtype.is_floating_point and not to.is_floating_point and to != torch.bool:
        info = torch.iinfo(to)
        y = x.double()
        if not (torch.isfinite(y).all() and (y.trunc() >= info.min).all() and (y.trunc() <= info.max).all()):
            raise Skip("casts of floats that do not fit are undefined in PyTorch and saturate here")
    return x.to(to)


def gated(i, f, g, o, c):
    """The step of a long short-term memory from its gates."""
    to = c.dtype
    if is_int(c) or any(x.dtype != i.dtype for x in (f, g, o)) or i.dtype not in (to, torch.float32):
        raise ValueError("gates of the type of the state, or of f32")
    i, f, g, o, c = torch.broadcast_tensors(i, f, g, o, c)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return (torch.sigmoid(o) * torch.tanh(c)).to(to), c.to(to)


def lstm_sizes(steps, batch, hidden, operands):
    """Refuses operands, each after its shape, that are absent where they may not be, or not those of a layer."""
    shapes = {"TNH": [steps, batch, hidden], "TNG": [steps, batch, 4 * hidden], "NH": [batch, hidden], "GH": [4 * hidden, hidden], "G": [4 * hidden]}
    given = [x for _, x in operands if x is not None]
    if is_int(given[0]) or any(x.dtype != given[0].dtype for x in given):
        raise ValueError("types")
    for of, x in operands:
        if x is not None and list(x.shape) != (shapes[of] if isinstance(of, str) else of):
            raise ValueError("sizes")


def lstm_layer(x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, reverse):
    """A layer of a long short-term memory in one direction, with its cells and gates."""
    if x.dim() != 3 or weight_hh.dim() != 2:
        raise ValueError("ranks")
    steps, batch, features = x.shape
    hidden = weight_hh.size(1)
    lstm_sizes(steps, batch, hidden, [([steps, batch, features], x), ("NH", h0), ("NH", c0), ([4 * hidden, features], weight_ih),
                                      ("GH", weight_hh), ("G", bias_ih), ("G", bias_hh)])
    h = x.new_zeros(batch, hidden) if h0 is None else h0
    c = x.new_zeros(batch, hidden) if c0 is None else c0
    sums, rows = F.linear(x, weight_ih, bias_ih), [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        i, f, g, o = (sums[t] + F.linear(h, weight_hh, bias_hh)).chunk(4, 1)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        c = f * c + i * g
        h = o * torch.tanh(c)
        rows[t] = h, c, torch.cat([i, f, g, o], 1)
    if not rows:
        return tuple(x.new_zeros(0, batch, n) for n in (hidden, hidden, 4 * hidden))
    return tuple(torch.stack(v) for v in zip(*rows))


def lstm_layer_grad(gates, cells, c0, weight_hh, grad_output, grad_cells, grad_gates, reverse):
    """The way back through the steps of a layer, from the gates and cells that it kept."""
    if cells.dim() != 3 or weight_hh.dim() != 2:
        raise ValueError("ranks")
    steps, batch, hidden = cells.size(0), cells.size(1), weight_hh.size(1)
    lstm_sizes(steps, batch, hidden, [("TNG", gates), ("TNH", cells), ("NH", c0), ("GH", weight_hh), ("TNH", grad_output), ("TNH", grad_cells), ("TNG", grad_gates)])
    order = list(reversed(range(steps)) if reverse else range(steps))
    dh, dc, sums = cells.new_zeros(batch, hidden), cells.new_zeros(batch, hidden), [None] * steps
    for at, t in reversed(list(enumerate(order))):
        i, f, g, o = gates[t].chunk(4, 1)
        before = cells[order[at - 1]] if at > 0 else cells.new_zeros(batch, hidden) if c0 is None else c0
        dh = dh if grad_output is None else grad_output[t] + dh
        dc = dc if grad_cells is None else dc + grad_cells[t]
        u = torch.tanh(cells[t])
        dc = dc + dh * o * (1 - u * u)
        parts = [dc * g, dc * before, dc * i, dh * u]
        if grad_gates is not None:
            parts = [p + more for p, more in zip(parts, grad_gates[t].chunk(4, 1))]
        slopes = [(1 - i) * i, (1 - f) * f, 1 - g * g, (1 - o) * o]
        sums[t] = torch.cat([p * slope for p, slope in zip(parts, slopes)], 1)
        dc, dh = dc * f, sums[t] @ weight_hh
    return torch.stack(sums) if sums else gates.new_zeros(gates.shape), dh, dc


def linspace(start, end, steps, dtype):
    to = dtype or torch.float32
    narrow = to in (torch.float16, torch.bfloat16)  # PyTorch adds narrow steps, which drift
    torch.linspace(start, end, steps, dtype=to)
    return torch.linspace(start, end, steps, dtype=torch.float32 if narrow else to).to(to)


# Reductions.


def axes(dim, x):
    n = max(x.dim(), 1)
    dims = [d + n if d < 0 else d for d in dim]
    if any(d < 0 or d >= n for d in dims):
        raise IndexError("Dimension out of range")
    if len(set(dims)) < len(dims):
        raise RuntimeError("dim appears multiple times in the list of dims")
    return sorted(dims) if dim else list(range(x.dim()))


def stepwise(f, x, dim, keep_dim, dtype=None, several=True):
    """Reduces one dimension after the other; several tells that PyTorch takes them
    at once, as it does for some reductions since 2.2."""
    if len(dim) > 1 and not several:
        note("several dimensions")
    if dtype is not None:
        x = x.to(dtype)
    if x.dim() == 0:
        axes(dim, x)
        x, dim, keep_dim = x.reshape(1), [0], False
    for d in reversed(axes(dim, x)):
        x = f(x, d, keepdim=keep_dim)
    return x if dtype is None else x.to(dtype)


def untyped(dtype):
    """Refuses an element type to compute in."""
    if dtype is not None:
        raise ValueError("no dtype")
    return True


def arg(f, x, dim, keep_dim):
    if len(dim) > 1:
        raise ValueError("one dimension")
    if dim:
        return f(x, dim[0], keep_dim)
    out = f(x)
    return out.reshape([1] * x.dim()) if keep_dim else out


def spread(f, x, dim, correction, keep_dim):
    c = given(correction, 1)
    if c != c or abs(c) > 1 << 62 or c != int(c):
        raise Lacks("PyTorch takes a whole correction until 2.0")
    y = f(x, axes(dim, x), correction=int(c), keepdim=keep_dim)
    if TERMS and x.numel():  # equal numbers differ from a mean that is rounded
        most = x.amax(axes(dim, x), keepdim=keep_dim) * math.sqrt(torch.finfo(x.dtype).eps)
        y = y + (most if f is torch.std else most ** 2)
    return y


# Normalisation.


def layer_norm(x, shape, weight, bias, eps):
    y = F.layer_norm(x, shape, weight, bias, eps)
    if math.prod(shape) != 1:
        return y
    # PyTorch's moments round, so that a number differs from the mean that it is.
    y = (x - x) / torch.tensor(eps, dtype=x.dtype).sqrt()
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def batch_norm(x, mean, var, weight, bias, training, eps):
    batch = training or mean is None or var is None
    if batch and not training:
        note("running statistics are missing")
        mean = var = None
    return F.batch_norm(x, mean, var, weight, bias, batch, eps=eps)


def batch_norm_stats(x):
    if x.dim() < 2 or is_int(x):
        raise ValueError("a batch of channels of floats")
    dims = [0] + list(range(2, x.dim()))
    x = x if x.dtype == torch.float64 else x.float()  # statistics are never narrow
    return x.mean(dims), x.var(dims, unbiased=False)


def rms_norm(x, weight, shape, eps):
    n = len(shape)
    if n == 0 or list(x.shape[-n:]) != shape or weight is not None and list(weight.shape) != shape:
        raise ValueError("normalized_shape")
    y = x * torch.rsqrt((x * x).mean(list(range(x.dim() - n, x.dim())), keepdim=True) + eps)
    return y if weight is None else y * weight


# Convolutions and pools.


def one(v, default=None):
    """A setting of a convolution or pool: all dimensions, or one for all."""
    return default if not v else v if len(v) > 1 else v[0]


def padded(padding, pad_mode):
    if pad_mode and any(padding):
        raise ValueError("one of padding and pad_mode")
    return pad_mode or one(padding, 0)


def conv_weight_grad(n, x, grad, kernel_size, stride, padding, dilation, groups, pad_mode):
    """What autograd gives the weight of a convolution of x, padded so that there are as many windows as grad has."""
    if x.dim() != n + 2 or grad.dim() != n + 2 or x.size(0) != grad.size(0) or x.dtype != grad.dtype:
        raise ValueError("operands")
    stride, dilation, groups = stride or [1], dilation or [1], groups or 1
    k, s, p, d = (v * n if len(v) == 1 else v for v in (kernel_size, stride, padding or [0], dilation))
    if pad_mode == "same":
        if any(padding) or any(v != 1 for v in s):
            raise ValueError("padding and stride with pad_mode")
        p = [d[i] * (k[i] - 1) // 2 for i in range(n)]
    if any(v < 1 for v in [*k, *s, *d, groups]) or any(v < 0 for v in p) or x.size(1) % groups or grad.size(1) % groups:
        raise ValueError("attributes")
    w = torch.zeros([grad.size(1), x.size(1) // groups, *k], dtype=x.dtype, requires_grad=True)
    if 0 in grad.shape or 0 in x.shape:
        return w.detach()
    edges = []
    for i in reversed(range(n)):
        edges += [p[i], (grad.size(2 + i) - 1) * s[i] + d[i] * (k[i] - 1) + 1 - x.size(2 + i) - p[i]]
    y = (F.conv1d, F.conv2d, F.conv3d)[n - 1](F.pad(x, edges), w, None, s, 0, d, groups)
    return torch.autograd.grad(y, w, grad, create_graph=True)[0]


def kept(v, n, x):
    """The n output sizes; -1 keeps the operand's, which PyTorch spells None."""
    v = v * n if len(v) == 1 else v
    return [x.size(k - n) if s == -1 else s for k, s in enumerate(v)]


def avg_pool1d(x, kernel_size, stride, padding, ceil_mode, count_exclude_pad, divisor_override):
    if not divisor_override:
        return F.avg_pool1d(x, one(kernel_size), one(stride), one(padding, 0), ceil_mode, not count_exclude_pad)
    note("avg_pool1d has no divisor")
    kernel_size, stride = [[1] + v if v else v for v in (kernel_size, stride)]
    return F.avg_pool2d(x.unsqueeze(-2), kernel_size, stride or None, [0] + (padding or [0]), ceil_mode,
                        not count_exclude_pad, divisor_override).squeeze(-2)


def lp_pool3d(x, norm_type, kernel_size, stride, ceil_mode):
    """PyTorch 1.13 has no lp_pool3d; this is how it defines the other two."""
    kernel = one(kernel_size)
    size = kernel ** 3 if isinstance(kernel, int) else math.prod(kernel)
    mean = F.avg_pool3d(x.pow(norm_type), kernel, one(stride), 0, ceil_mode)
    return (torch.sign(mean) * F.relu(torch.abs(mean))).mul(size).pow(1 / norm_type)


# Networks.


def attention(q, k, v, mask, is_causal, scale, enable_gqa):
    if mask is not None and is_causal:
        raise ValueError("is_causal with a mask")
    if min(x.dim() for x in (q, k, v)) < 2:
        raise ValueError("two dimensions")
    if is_int(q) or k.dtype != q.dtype or v.dtype != q.dtype:
        raise ValueError("floats of one type")
    if enable_gqa:
        if q.size(-3) % k.size(-3) or q.size(-3) % v.size(-3):
            raise ValueError("heads")
        k = k.repeat_interleave(q.size(-3) // k.size(-3), -3)
        v = v.repeat_interleave(q.size(-3) // v.size(-3), -3)
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    p = torch.softmax(scores, -1)
    if mask is not None and mask.dtype == torch.bool:
        p = torch.where(torch.isneginf(scores).all(-1, keepdim=True), torch.zeros(()).to(p), p)
    return p @ v


def recurrent(f, x, states, weights, num_layers, bidirectional, batch_first, no_bias):
    layers, ways, flat = num_layers or 1, 2 if bidirectional else 1, x.dim() == 2
    first = batch_first and not flat
    if flat:
        x, states = x.unsqueeze(1), [s if s is None else s.unsqueeze(1) for s in states]
    batch, hidden = x.size(0 if first else 1), weights[1].size(1)
    states = [torch.zeros(layers * ways, batch, hidden, dtype=x.dtype) if s is None else s for s in states]
    out = f(x, states[0] if len(states) == 1 else states, weights, not no_bias, layers, 0.0, False, bidirectional, first)
    return [t.squeeze(1) for t in out] if flat else out


def cell(f, x, states, *weights):
    weights, flat = list(weights), x.dim() == 1
    if flat:
        x, states = x.unsqueeze(0), [s.unsqueeze(0) for s in states]
    if weights[2] is None or weights[3] is None:
        zero = torch.zeros(weights[0].size(0), dtype=x.dtype)
        weights = [zero if w is None else w for w in weights]
    out = f(x, states[0] if len(states) == 1 else states, *weights)
    if not flat:
        return out
    return [t.squeeze(0) for t in out] if isinstance(out, tuple) else out.squeeze(0)


def tanh_or_relu(nonlinearity, tanh, relu):
    if nonlinearity not in ("", "tanh", "relu"):
        raise ValueError("nonlinearity")
    return relu if nonlinearity == "relu" else tanh


# Movement.


def unbind(x, dim, count):
    out = torch.unbind(x, dim)
    if len(out) != count:  # part of the call here, for the number of results
        raise ValueError("count")
    return out


def plane(dim1, dim2):
    """The two dimensions of a diagonal, the first ones unless given."""
    return (0, 1) if dim1 == dim2 == 0 else (dim1, dim2)


def sliced(x, dim, start, stop, step):
    index = [slice(None)] * x.dim()
    index[dim] = slice(start, stop, step or 1)
    return x[tuple(index)]


def squeeze(x, dim):
    if not dim:
        return x.squeeze()
    for d in reversed(axes(dim, x)):
        x = x.squeeze(d)
    return x


def bordered(x, pad, mode, value):
    mode = mode or "constant"
    if mode == "constant":
        return F.pad(x, pad, mode, value)
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


def int64(i):
    """Indices, which PyTorch wants to be i64."""
    if i.dtype in (torch.int32, torch.int16, torch.int8, torch.uint8):
        note("indices of another integer type")
        return i.to(torch.int64)
    return i


def topk(x, k, dim, smallest):
    # The first of equal elements comes first, which torch.topk does not promise.
    if x.dim() == 0 and not 0 <= k <= 1:
        raise RuntimeError("k out of range")
    v, i = torch.sort(x, dim=dim, descending=not smallest, stable=True)
    return (v, i) if x.dim() == 0 else (v.narrow(dim, 0, k), i.narrow(dim, 0, k))


def interpolate(x, size, scale_factor, mode, align_corners):
    mode = mode or "nearest"
    kw = {} if mode.startswith("nearest") else {"align_corners": align_corners}
    if align_corners:
        kw["align_corners"] = True
    n = x.dim() - 2
    if scale_factor and size:
        raise ValueError("one of size and scale_factor")
    if scale_factor:
        kw["scale_factor"] = [float(s) for s in (scale_factor * n if len(scale_factor) == 1 else scale_factor)]
    else:
        kw["size"] = size * n if len(size) == 1 else size
    if is_int(x) and x.dtype != torch.uint8 and mode.startswith("nearest"):
        note("integers")
        at = torch.arange(math.prod(x.shape[2:])).double().reshape([1, 1] + list(x.shape[2:]))
        at = F.interpolate(at, mode=mode, **kw).long()
        return x.flatten(2)[..., at.reshape(-1)].reshape(list(x.shape[:2]) + list(at.shape[2:]))
    return F.interpolate(x, mode=mode, **kw)


def resized(x, size, scale_factor, mode, at, rounding, a, exclude, antialias, roi, beyond):
    """Resize by the words of ONNX's specification: a matrix for each dimension."""
    n, scale_factor, roi = len(size), scale_factor or [], roi or []
    crop = at == "tf_crop_and_resize"
    if not 1 <= n <= 3 or x.dim() < n or len(scale_factor) not in (0, n) or any(not 0 < float(f) < 1e9 for f in scale_factor):
        raise ValueError("sizes or factors")
    if len(roi) != (2 * n if crop else 0) or any(not abs(float(v)) < 1e9 for v in roi) or beyond and not crop or not abs(a) < 1e9:
        raise ValueError("roi, extrapolation_value or cubic_coeff_a")
    if mode == "nearest" and (antialias or exclude) or mode != "nearest" and is_int(x):
        raise ValueError("not for this mode")
    for d in range(n):
        axis = x.dim() - n + d
        had, has = x.shape[axis], size[d]
        s = float(scale_factor[d]) if scale_factor else has / max(had, 1)
        if had < 1 or has < 1 or not has / 2 <= s * had <= 2 * has:
            raise ValueError("sizes")
        region = (float(roi[d]), float(roi[n + d])) if crop else (0, 1)
        rows, out = [], []
        for i in range(has):
            p = resized_position(at, i, had, has, s, region)
            outside = crop and not 0 <= p <= had - 1
            out.append(outside)
            rows.append([0.0] * had if outside else resized_weights(mode, rounding, p, had, s, a, exclude, antialias))
        out = torch.tensor(out)
        if mode == "nearest":
            x = x.index_select(axis, torch.tensor([r.index(1.0) if 1.0 in r else 0 for r in rows]))
        else:
            x = torch.movedim(torch.tensordot(x, torch.tensor(rows, dtype=torch.float64).to(x.dtype), ([axis], [1])), -1, axis)
        fill = beyond if not is_int(x) else int(beyond)
        x = torch.where(out.reshape([-1] + [1] * (n - 1 - d)), torch.tensor(fill, dtype=x.dtype), x)
    return x


def resized_position(at, i, had, has, s, region):
    half = (i + 0.5) / s - 0.5
    if at == "align_corners":
        return i * (had - 1) / (has - 1) if has > 1 else 0
    if at == "asymmetric":
        return i / s
    if at == "tf_half_pixel_for_nn":
        return (i + 0.5) / s
    if at == "pytorch_half_pixel":
        return half if has > 1 else 0
    if at == "half_pixel_symmetric":
        return had / 2 * (1 - has / (s * had)) + half
    if at == "tf_crop_and_resize":
        lo, hi = region
        if has == 1:
            return 0.5 * (lo + hi) * (had - 1)
        return lo * (had - 1) + i * (hi - lo) * (had - 1) / (has - 1)
    if at != "half_pixel":
        raise ValueError(at)
    return half


def resized_weights(mode, rounding, p, had, s, a, exclude, antialias):
    row = [0.0] * had
    if mode == "nearest":
        k = {"floor": math.floor(p), "ceil": math.ceil(p), "round_prefer_floor": math.ceil(p - 0.5), "round_prefer_ceil": math.floor(p + 0.5)}[rounding]
        row[min(max(k, 0), had - 1)] = 1.0
        return row
    stretch = min(s, 1) if antialias else 1

    def weight(v):
        v = abs(v)
        if mode == "linear":
            return max(1 - v, 0)
        if v <= 1:
            return (a + 2) * v ** 3 - (a + 3) * v ** 2 + 1
        return a * v ** 3 - 5 * a * v ** 2 + 8 * a * v - 4 * a if v < 2 else 0

    reach = math.ceil(2 / stretch) + 1
    taps = {k: weight((k - p) * stretch) for k in range(math.floor(p) - reach, math.ceil(p) + reach + 1)}
    if exclude:
        taps = {k: f for k, f in taps.items() if 0 <= k < had}
    total = sum(taps.values()) if antialias or exclude else 1
    for k, f in taps.items():
        row[min(max(k, 0), had - 1)] += f / total if total else math.nan
    return row


def bitcast(x, dtype):
    sizes = {torch.tensor([], dtype=dtype).element_size(), x.element_size()}
    if sizes == {2, 4}:
        raise Lacks("narrow floats come as f32")
    if dtype == torch.bool or x.dtype == torch.bool or len(sizes) == 2:
        raise RuntimeError("sizes of types")
    return x.contiguous().view(dtype)


def roi_align(x, rois, batch, output_size, spatial_scale, sampling_ratio, aligned, mode):
    from torchvision.ops import roi_align as align
    if x.dim() != 4 or rois.dim() != 2 or rois.shape[1] != 4 or batch.dim() != 1 or len(batch) != len(rois) or x.shape[2] * x.shape[3] == 0:
        raise RuntimeError("shapes")
    if x.dtype != rois.dtype or is_int(x) or batch.dtype not in (torch.int32, torch.int64):
        raise RuntimeError("types")
    size = output_size * 2 if len(output_size) == 1 else output_size
    if len(size) != 2 or min(size) < 1 or not 0 < spatial_scale < float("inf") or not 0 <= sampling_ratio <= 256 or mode not in ("", "avg", "max", None):
        raise RuntimeError("attributes")
    if len(batch) and not 0 <= int(batch.min()) <= int(batch.max()) < x.shape[0]:
        raise IndexError("batch")
    if mode == "max":
        raise Lacks("regions by the greatest value")
    try:
        return align(x, torch.cat([batch.to(x.dtype)[:, None], rois], 1), size, spatial_scale, sampling_ratio, aligned)
    except (RuntimeError, ValueError) as e:
        if "std::vector" in str(e):
            raise Skip("torchvision reserves a negative number of points for regions of negative size")
        raise


# Quantised values. PyTorch multiplies by the reciprocal of a scale, ONNX divides by
# it: these are the words of ONNX's specification.

LIMITS = {torch.uint8: (0, 255), torch.int8: (-128, 127)}
WIDE = {**LIMITS, torch.int16: (-32768, 32767)}
FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def along(p, x, axis, name):
    """One element, or one for each index of an axis, laid out beside x."""
    if not -max(x.dim(), 1) <= axis < max(x.dim(), 1):
        raise IndexError("axis")
    if p.dim() > 1:
        raise ValueError(name + " is no vector")
    if p.numel() == 1:
        return p.reshape([])
    if x.dim() == 0 or p.numel() != x.shape[axis]:
        raise ValueError(name + " has another length")
    return p.reshape([-1 if i == axis % x.dim() else 1 for i in range(x.dim())])


def rounded(v, d, zero):
    """v rounded, shifted by the zero point and saturated in type d."""
    lo, hi = WIDE[d]
    zero = zero.float()
    v = torch.minimum(torch.maximum(torch.where(v != v, lo - zero, v), lo - zero), hi - zero)
    return (torch.round(v) + zero).to(d)


def quantize(x, scale, zero, axis, dtype, unsaturated=False):
    d = given(dtype, torch.uint8 if zero is None else zero.dtype)
    if unsaturated and d in WIDE:
        raise ValueError("integers saturate")
    if d not in WIDE or zero is not None and zero.dtype != d or x.dtype not in FLOATS or scale.dtype != x.dtype:
        raise TypeError("element types")
    zero = torch.zeros([], dtype=d) if zero is None else zero
    return rounded(x.float() / along(scale.float(), x, axis, "scale"), d, along(zero, x, axis, "zero"))


def dequantize(q, scale, zero, axis):
    if q.dtype not in (torch.uint8, torch.int8, torch.int16, torch.int32) or scale.dtype not in FLOATS or zero is not None and zero.dtype != q.dtype:
        raise TypeError("element types")
    v = q.to(torch.int32)
    if zero is not None:
        v = v - along(zero, q, axis, "zero").to(torch.int32)
    return (v.to(torch.float32) * along(scale.float(), q, axis, "scale")).to(scale.dtype)


class Straight(torch.autograd.Function):
    """Forwards y, backwards as if that were x."""

    @staticmethod
    def forward(ctx, x, y):
        return y.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def fake_quantize(x, scale, zero, dtype):
    """Forwards what quantize and dequantize give, backwards the formulas of learned step sizes."""
    d = given(dtype, torch.uint8)
    if d not in WIDE:
        raise Lacks("PyTorch has no such type")
    kind = torch.result_type(x, scale) if zero is None else torch.promote_types(torch.result_type(x, scale), zero.dtype)
    if kind not in FLOATS + (torch.float64,):
        raise TypeError("element types")
    work = torch.float32 if kind in (torch.float16, torch.bfloat16) else kind
    x, s = x.to(work), scale.to(work)
    lo, hi = (torch.tensor(v, dtype=work) for v in WIDE[d])
    if zero is not None:
        zero = zero.to(work)
        zero = Straight.apply(zero, torch.where(zero != zero, lo, torch.minimum(torch.maximum(torch.round(zero), lo), hi)))
        lo, hi = lo - zero, hi - zero
    v = (x / s).detach()
    r = torch.round(v) + 0
    inside = (r >= lo) & (r <= hi)
    r, v = (torch.where(inside, t, torch.zeros_like(t)) for t in (r, v))
    within = (r * s).detach() + (x - x.detach()) + (r - v) * (s - s.detach())
    outer = torch.where(inside, torch.ones_like(s), s)  # what is not selected gives no NaN backwards
    return torch.where(inside, within, torch.where((x / s).detach() > hi, hi, lo) * outer).to(kind)


def dynamic_quantize(x):
    if x.dtype != torch.float32:
        raise TypeError("element types")
    known = x[x == x]
    lo, hi = (min(known.min().item(), 0), max(known.max().item(), 0)) if known.numel() else (0, 0)
    lo, hi = torch.tensor(lo, dtype=torch.float32), torch.tensor(hi, dtype=torch.float32)
    scale = (hi - lo) / 255
    if scale == 0:
        scale = torch.tensor(1 / 255, dtype=torch.float32)
    if scale > torch.finfo(torch.float32).max:
        scale = hi / 255 - lo / 255
    zero = rounded(-lo / scale, torch.uint8, torch.zeros([]))
    return rounded(x / scale, torch.uint8, zero), scale, zero


def observe(x, seen, averaging):
    if x.dtype != torch.float32 or seen.dtype != torch.float64:
        raise TypeError("element types")
    if seen.dim() != 1 or len(seen) < 2 or len(seen) == 3 or not 0 <= averaging <= 1:
        raise ValueError("state")
    if x.numel() == 0:
        return seen.clone()
    x, inf = x.double().flatten(), float("inf")
    ends = []
    for old, new, none, choose in ((seen[0], x.min(), inf, torch.minimum), (seen[1], x.max(), -inf, torch.maximum)):
        if averaging == 0:
            ends.append(choose(old, new))
        else:
            jumps, stays = old == none or torch.isinf(new), torch.isinf(old) and not torch.isnan(new)
            ends.append(new if jumps else old if stays else old + averaging * (new - old))
    ends = torch.stack(ends)
    if len(seen) == 2:
        return ends
    first, counts = seen[2].item(), seen[3:]
    first = limit = first if 2.0**-30 <= first < inf else 2.0**-30
    known = x[torch.isfinite(x)].abs()
    while known.numel() and limit < known.max().item():
        limit *= 2
    half = len(counts) // 2
    middle = torch.arange(len(counts), dtype=torch.float64) - half
    if first < limit:
        counts = torch.zeros_like(counts).index_add(0, (torch.floor(middle * (first / limit)) + half).long(), counts)
    places = torch.floor(x * (half / limit))
    places = places[places == places].clamp(-half, len(counts) - half - 1) + half
    counts = counts + torch.bincount(places.long(), minlength=len(counts))
    return torch.cat([ends, torch.tensor([limit], dtype=torch.float64), counts])


# Integer operators: sums are exact, in f64, and rescaled once in f32.


def bytes_of(x, *zeros):
    """Requires 8-bit elements, and zero points of their type."""
    if x.dtype not in LIMITS or any(z is not None and z.dtype != x.dtype for z in zeros):
        raise TypeError("element types")


def whole(x, zero, axis=None, rank=None):
    """x less its zero point, of one element or one for each index of an axis."""
    if zero is None:
        return x.double()
    return x.double() - (single(zero) if axis is None else along(zero, x, axis, "zero")).double()


def single(p):
    """A parameter of one element, 0-dimensional."""
    if p.numel() != 1 or p.dim() > 1:
        raise ValueError("not one element")
    return p.reshape([])


def factor(scale):
    if scale is not None and scale.dtype != torch.float32:
        raise TypeError("element type of a scale")
    return torch.ones([]) if scale is None else scale


def wrapped(v):
    """Exact sums as i32, which wrap around."""
    v = v.to(torch.int64)
    return ((v + 2**31) % 2**32 - 2**31).to(torch.int32)


def scaled(sums, scale, d, zero, y_scale, relu, most, residual=0):
    """Sums times a factor, and a residual, in type d, limited by activations."""
    lo, hi = (v - zero.item() for v in LIMITS[d])
    if relu:
        lo = max(lo, 0)
    if most > 0:
        top = min(max((torch.tensor(most, dtype=torch.float32) / y_scale).item(), 0), 2.0**20)
        hi = min(hi, max(lo, float(torch.round(torch.tensor(top)))))
    v = sums * scale + residual
    v = torch.minimum(torch.maximum(torch.where(v != v, torch.tensor(float(lo)), v), torch.tensor(float(lo))), torch.tensor(float(hi)))
    return (torch.round(v) + zero.float()).to(d)


def lookup(y, table):
    if table.shape != (256,) or table.dtype not in LIMITS:
        raise ValueError("table")
    return table[y.to(torch.int64) & 255]


def q_product(product, channels, axis, x, w, y, bias, table, residual, dtype, relu, most):
    """A product of quantised values; x, w and y are values with their parameters, or
    parameters alone. The weight has its channels along one axis, the result along
    another."""
    (x, x_scale, x_zero), (w, w_scale, w_zero), (y_scale, y_zero) = x, w, y
    bytes_of(x, x_zero)
    bytes_of(w, w_zero)
    x_scale, w_scale, = single(factor(x_scale)), factor(w_scale)
    n = w.shape[channels]
    if w_scale.dim() > 1 or w_scale.numel() not in (1, n):
        raise ValueError("scales of the weight")
    d = given(dtype, x.dtype if y_zero is None else y_zero.dtype)
    if d in (torch.float32, torch.int32):
        if not (y_scale is None and y_zero is None and table is None and residual[0] is None) or relu or most > 0:
            raise ValueError("parameters of a result that has none")
    elif d not in LIMITS:
        raise TypeError("dtype")
    if not most >= 0 or y_zero is not None and y_zero.dtype != d:
        raise ValueError("max or y_zero")
    zero = torch.zeros([], dtype=torch.int32) if y_zero is None else single(y_zero)
    y_scale = single(factor(y_scale))
    if bias is not None and (bias.shape != (n,) or bias.dtype not in ((torch.int32, torch.float32) if d == torch.float32 else (torch.int32,))):
        raise ValueError("bias")
    if table is not None and table.dtype != d:
        raise TypeError("table")
    sums = product(whole(x, x_zero), whole(w, w_zero, channels))
    side = [1] * sums.dim()
    side[axis] = -1
    if bias is not None and bias.dtype == torch.int32:
        sums = sums + bias.double().reshape(side)
    sums = wrapped(sums)
    if d == torch.int32:
        return sums
    scale = (x_scale * w_scale) / y_scale
    scale = scale.reshape([]) if scale.numel() == 1 else scale.reshape(side)
    sums = sums.to(torch.float32)
    if d == torch.float32:
        sums = sums * scale
        return sums if bias is None or bias.dtype == torch.int32 else sums + bias.reshape(side)
    r, r_scale, r_zero = residual
    added = 0
    if r is not None:
        bytes_of(r, r_zero)
        if r.shape != sums.shape:
            raise ValueError("residual")
        added = whole(r, r_zero if r_zero is None else single(r_zero)).float() * (single(factor(r_scale)) / y_scale)
    out = scaled(sums, scale, d, zero, y_scale, relu, most, added)
    return out if table is None else lookup(out, table)


def q_linear(x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, residual, dtype, relu, most):
    if x.dim() == 0 or weight.dim() != 2:
        raise ValueError("ranks")
    return q_product(F.linear, 0, -1, (x, x_scale, x_zero), (weight, weight_scale, weight_zero), (y_scale, y_zero), bias, table, residual, dtype, relu, most)


def q_matmul(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, table, residual, dtype, relu, most):
    if x.dim() < 2 or w.dim() < 2:
        raise ValueError("ranks")
    return q_product(torch.matmul, -1, -1, (x, x_scale, x_zero), (w, w_scale, w_zero), (y_scale, y_zero), bias, table, residual, dtype, relu, most)


def q_conv(n, x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, residual, dtype, relu, most, stride, padding, dilation, groups, pad_mode):
    if x.dim() != n + 2 or weight.dim() != n + 2:
        raise ValueError("ranks")
    conv = [F.conv1d, F.conv2d, F.conv3d][n - 1]

    def product(x, w):
        return conv(x, w, None, one(stride, 1), padded(padding, pad_mode), one(dilation, 1), groups or 1)
    return q_product(product, 0, 1, (x, x_scale, x_zero), (weight, weight_scale, weight_zero), (y_scale, y_zero), bias, table, residual, dtype, relu, most)


def q_pair(multiply, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, relu):
    bytes_of(a, a_zero, y_zero)
    bytes_of(b, b_zero)
    if a.dtype != b.dtype:
        raise TypeError("operands")
    a_scale, b_scale, y_scale = (single(factor(s)) for s in (a_scale, b_scale, y_scale))
    zero = torch.zeros([], dtype=torch.int32) if y_zero is None else single(y_zero)
    x, y = whole(a, a_zero if a_zero is None else single(a_zero)).float(), whole(b, b_zero if b_zero is None else single(b_zero)).float()
    if multiply:
        return scaled(x * y, (a_scale * b_scale) / y_scale, a.dtype, zero, y_scale, relu, 0)
    return scaled(x * (a_scale / y_scale) + y * (b_scale / y_scale), torch.ones([]), a.dtype, zero, y_scale, relu, 0)


def q_max_pool(x, kernel_size, stride, padding, dilation, ceil_mode):
    bytes_of(x)
    n = len(kernel_size)
    if x.dim() != n + 2 or not 1 <= n <= 3:
        raise ValueError("ranks")
    y = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1](x.float(), one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode)
    return torch.clamp(y, *LIMITS[x.dtype]).to(x.dtype)


def q_avg_pool(x, x_scale, x_zero, y_scale, y_zero, kernel_size, stride, padding, ceil_mode, count_exclude_pad):
    bytes_of(x, x_zero, y_zero)
    n = len(kernel_size)
    if x.dim() != n + 2 or not 1 <= n <= 3 or y_zero is not None and y_scale is None:
        raise ValueError("ranks or parameters")
    if y_scale is None:
        y_scale, y_zero = x_scale, x_zero
    scale = single(factor(x_scale)) / single(factor(y_scale))
    zero = torch.zeros([], dtype=torch.int32) if y_zero is None else single(y_zero)
    v = whole(x, x_zero)
    v = v.unsqueeze(-1) if n == 1 else v
    ones = torch.ones_like(v)

    def all_of(l, beside):
        l = list(l) * n if len(l) == 1 else list(l)
        return l + [beside] if n == 1 else l
    pool = F.avg_pool3d if n == 3 else F.avg_pool2d
    args = (all_of(kernel_size, 1), all_of(stride or kernel_size, 1), all_of(padding or [0], 0), ceil_mode)
    # Sums of what windows read; the divisor is what counts of them.
    sums = pool(v, *args, divisor_override=1)
    own = torch.round(pool(ones, *args, divisor_override=1))
    count = own if count_exclude_pad else torch.round(own / pool(ones, *args, count_include_pad=True))
    if n == 1:
        sums, own, count = sums.squeeze(-1), own.squeeze(-1), count.squeeze(-1)
    by = scale / torch.where(own == 0, torch.ones_like(count), count).float()
    return scaled(sums.float(), by, x.dtype, zero, None, False, 0)


def q_concat(y_scale, y_zero, tensors, dim):
    if not tensors or len(tensors) % 3:
        raise TypeError("operands")
    parts = []
    factor(y_scale)
    for i in range(0, len(tensors), 3):
        q, scale, zero = tensors[i:i + 3]
        bytes_of(q, zero, y_zero)
        factor(scale)
        parts.append(dequantize(q, single(scale), single(zero), 0))
    if len({p.dim() for p in parts}) > 1:
        raise ValueError("ranks")
    return quantize(torch.cat(parts, dim), single(y_scale), single(y_zero), 0, None)


def q_table(x, table):
    bytes_of(x)
    return lookup(x, table)


def q_embedding(x, weight, scale, zero):
    bytes_of(weight, zero)
    if weight.dim() != 2:
        raise ValueError("rank of the weight")
    if x.dtype not in (torch.int32, torch.int64):
        raise TypeError("indices")
    factor(scale)
    return F.embedding(x, dequantize(weight, scale, zero, 0))


def q_recurrent(gates, x, states, weights, num_layers, bidirectional, batch_first, no_bias):
    layers, ways, each = num_layers or 1, 2 if bidirectional else 1, 4 if no_bias else 6
    if x.dtype != torch.float32 or x.dim() not in (2, 3) or len(weights) != layers * ways * each:
        raise ValueError("operands")
    flat = x.dim() == 2
    if flat:
        x, states = x.unsqueeze(1), [s if s is None else s.unsqueeze(1) for s in states]
    elif batch_first:
        x = x.transpose(0, 1)
    batch, hidden = x.shape[1], weights[2].shape[-1]
    if any(s is not None and (s.dtype != x.dtype or s.shape != (layers * ways, batch, hidden)) for s in states):
        raise ValueError("states")
    last = [[] for _ in states]
    for layer in range(layers):
        out = []
        for way in range(ways):
            at = layer * ways + way
            w = weights[at * each:(at + 1) * each]
            for q, scale, columns in ((w[0], w[1], x.shape[2]), (w[2], w[3], hidden)):
                if q.dtype != torch.int8 or scale.dtype != x.dtype or q.shape != (gates * hidden, columns) or scale.dim() > 1 or scale.numel() not in (1, len(q)):
                    raise ValueError("weights")
            if any(b.dtype != x.dtype or b.shape != (gates * hidden,) for b in w[4:]):
                raise ValueError("biases")
            state = [torch.zeros(batch, hidden) if s is None else s[at] for s in states]
            y, state = q_steps(gates, x, state, w, way == 1)
            out.append(y)
            for i, s in enumerate(state):
                last[i].append(s)
        x = torch.cat(out, 2)
    last = [torch.stack(l) for l in last]
    if flat:
        x, last = x.squeeze(1), [l.squeeze(1) for l in last]
    elif batch_first:
        x = x.transpose(0, 1)
    return [x] + last


def q_steps(gates, x, state, w, back):
    """One layer in one direction; products are of integers, rescaled in f32."""
    def product(x, q, scale):
        v, unit, zero = dynamic_quantize(x)
        sums = (v.double() - zero.double()) @ q.double().t()
        return sums.float() * (unit * scale.reshape(-1))
    biases = list(w[4:]) or [torch.zeros(len(w[0]))] * 2
    first = biases[0] + biases[1] if gates == 4 else biases[0]
    given = product(x, w[0], w[1]) + first
    out = [None] * len(x)
    for t in reversed(range(len(x))) if back else range(len(x)):
        g = given[t]
        if gates == 4:
            i, f, c, o = (product(state[0], w[2], w[3]) + g).chunk(4, -1)
            cell = f.sigmoid() * state[1] + i.sigmoid() * c.tanh()
            state = [o.sigmoid() * cell.tanh(), cell]
        else:
            r, z, n = (product(state[0], w[2], w[3]) + biases[1]).chunk(3, -1)
            gr, gz, gn = g.chunk(3, -1)
            new, keep = (gn + (gr + r).sigmoid() * n).tanh(), (gz + z).sigmoid()
            state = [(state[0] - new) * keep + new]
        out[t] = state[0]
    return torch.stack(out) if out else torch.zeros(0, *state[0].shape), state


def floats_beside(x, scale, bias):
    if x.dtype not in (torch.float32, torch.float64, torch.float16, torch.bfloat16) or bias is not None and bias.dtype != x.dtype:
        raise TypeError("element types")
    if scale.dtype not in (torch.float32, torch.float64) or scale.dtype == torch.float64 and x.dtype != scale.dtype:
        raise TypeError("element types")


def int8_linear(x, weight, scale, zero, bias):
    bytes_of(weight, zero)
    floats_beside(x, scale, bias)
    if weight.dim() != 2 or x.dim() == 0 or bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError("sizes")
    return F.linear(x, dequantize(weight, scale, zero, 0).to(x.dtype), bias)


def int4_weight(weight, scale, zero, k, group, dtype):
    groups = (k + group - 1) // group
    if group < 32 or group % 32 or weight.dtype != torch.uint8 or zero is not None and zero.dtype != torch.uint8:
        raise ValueError("group or element types")
    n = weight.shape[0]
    if weight.shape != (n, (k + 1) // 2) or scale.shape != (n, groups) or zero is not None and zero.shape != (n, groups):
        raise ValueError("sizes")
    q = torch.stack([weight & 15, weight >> 4], -1).flatten(1)[:, :k].to(dtype)
    spread = [p.to(dtype).repeat_interleave(group, 1)[:, :k] for p in (scale, torch.full_like(scale, 8) if zero is None else zero)]
    return (q - spread[1]) * spread[0]


def int4_linear(x, weight, scale, zero, bias, group):
    floats_beside(x, scale, bias)
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError("sizes")
    return F.linear(x, int4_weight(weight, scale, zero, x.shape[-1], group, x.dtype), bias)


def int4_embedding(x, weight, scale, zero, group):
    if x.dtype not in (torch.int32, torch.int64) or scale.dtype != torch.float32:
        raise TypeError("element types")
    if weight.dim() != 2:
        raise ValueError("rank of the weight")
    return F.embedding(x, int4_weight(weight, scale, zero, 2 * weight.shape[1], group, torch.float32))


def halves(b, at):
    """The floats of 16 bits that begin at a byte of blocks [n, count, bytes], as [n, count, 1]."""
    return b[..., at:at + 2].contiguous().view(torch.float16).float()


def runs(b, size, count, bits):
    """Elements of a few bits: each run of bytes holds count runs of elements."""
    b = b.unflatten(-1, (-1, 1, size)).int()
    by = bits * torch.arange(count, dtype=torch.int32).unsqueeze(-1)
    return ((b >> by) & (1 << bits) - 1).flatten(-3)


def six_bits(s):
    """The scales of eight groups, and their minima."""
    first, second, third = s.int().split(4, -1)
    scale = torch.cat([first & 63, third & 15 | first >> 6 << 4], -1)
    return scale, torch.cat([second & 63, third >> 4 | second >> 6 << 4], -1)


def block_32(b, format):
    d, low = halves(b, 0), 2
    least = halves(b, 2) if format.endswith("_1") else None
    low += 2 if least is not None else 0
    if format == "Q8_0":
        return b[..., 2:].contiguous().view(torch.int8) * d
    q = runs(b[..., -16:], 16, 2, 4)
    if format.startswith("Q5"):
        high = b[..., low:low + 4].int().unsqueeze(-1) >> torch.arange(8, dtype=torch.int32)
        q = q | (high.flatten(-2) & 1) << 4
    if least is not None:
        return q * d + least
    return (q - (16 if format.startswith("Q5") else 8)) * d


def block_256(b, format):
    group, least, d = 16, 0, halves(b, len(b[0, 0]) - 2 if b.numel() else 0)
    if format == "Q2_K":
        q, s = runs(b[..., 16:80], 32, 4, 2), b[..., :16].int()
        scale, least = (s & 15) * halves(b, 80), (s >> 4) * halves(b, 82)
    elif format == "Q3_K":
        s = runs(b[..., 96:104], 8, 2, 4) | runs(b[..., 104:108], 4, 4, 2) << 4
        q, scale = (runs(b[..., 32:96], 32, 4, 2) | runs(b[..., :32], 32, 8, 1) << 2) - 4, (s - 32) * d
    elif format == "Q6_K":
        q = (runs(b[..., :128], 64, 2, 4) | runs(b[..., 128:192], 32, 4, 2) << 4) - 32
        scale = b[..., 192:208].contiguous().view(torch.int8) * d
    else:
        group, q = 32, runs(b[..., -128:], 32, 2, 4)
        if format == "Q5_K":
            q = q | runs(b[..., 16:48], 32, 8, 1) << 4
        scale, least = six_bits(b[..., 4:16])
        scale, least = scale * halves(b, 0), least * halves(b, 2)
    of = lambda v: v.repeat_interleave(group, -1) if torch.is_tensor(v) else v
    return of(scale) * q - of(least)


BLOCKS = {"F16": 2, "BF16": 2, "Q8_0": 34, "Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q2_K": 84, "Q3_K": 110, "Q4_K": 144, "Q5_K": 176, "Q6_K": 210}


def block_weight(weight, format):
    size = BLOCKS[format]
    if weight.dim() != 2 or weight.dtype != torch.uint8 or weight.shape[1] % size:
        raise ValueError("weight")
    n, count = weight.shape[0], weight.shape[1] // size
    if size == 2:
        return weight.contiguous().view(torch.float16 if format == "F16" else torch.bfloat16).float()
    if n * count == 0:
        return torch.zeros(n, count * (256 if format.endswith("K") else 32))
    b = weight.reshape(n, count, size)
    return (block_256 if format.endswith("K") else block_32)(b, format).flatten(1)


def block_linear(x, weight, bias, format):
    floats_beside(x, torch.ones(1), bias)
    if x.dim() == 0 or bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError("sizes")
    return F.linear(x, block_weight(weight, format).to(x.dtype), bias)


def block_linear_dynamic(x, weight, bias, format):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() == 0 or format in ("F16", "BF16", "Q2_K", "Q3_K"):
        raise ValueError("operands")
    blocks = x.float().unflatten(-1, (x.shape[-1] // 32, 32)) if x.numel() else x.float()
    if x.numel():
        d = blocks.abs().amax(-1, keepdim=True) / 127
        by = torch.where(d >= 2.0**-126, 1 / d, torch.zeros_like(d))
        blocks = ((blocks * by).round() * d).flatten(-2)
    return block_linear(blocks, weight, None if bias is None else bias.float(), format).to(x.dtype)


def block_quantize(x, format):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() == 0 or format != "Q8_0" or x.shape[-1] % 32:
        raise ValueError("operands")
    blocks = x.float().reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    if not blocks.numel():
        return torch.zeros(*x.shape[:-1], x.shape[-1] // 32 * 34, dtype=torch.uint8)
    half = (blocks.abs().amax(-1, keepdim=True) / 127).half()
    d = half.float()
    good = (d > 0) & torch.isfinite(d)
    q = torch.where(good, (blocks * (1 / d)).round().clamp(-127, 127), torch.zeros_like(blocks)).to(torch.int8)
    return torch.cat([half.contiguous().view(torch.uint8), q.view(torch.uint8)], -1).flatten(-2)


def block_attention(q, k, v, attn_mask, format, is_causal, scale, enable_gqa):
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16) or format != "Q8_0" or q.dim() < 2 or k.dim() < 2 or v.dim() < 2:
        raise ValueError("operands")
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, q.dtype):
        raise TypeError("mask")

    def floats(t):
        w = block_weight(t.reshape(-1, t.shape[-1]) if t.numel() else t.new_zeros(0, t.shape[-1]), format)
        return w.reshape(*t.shape[:-1], t.shape[-1] // 34 * 32)

    x = q.float() * (scale if scale is not None else q.shape[-1] ** -0.5)
    if x.numel():
        blocks = x.unflatten(-1, (x.shape[-1] // 32, 32))
        d = blocks.abs().amax(-1, keepdim=True) / 127
        by = torch.where(d >= 2.0**-126, 1 / d, torch.zeros_like(d))
        x = ((blocks * by).round() * d).flatten(-2)
    mask = attn_mask if attn_mask is None or attn_mask.dtype == torch.bool else attn_mask.float()
    return attention(x, floats(k), floats(v), mask, is_causal, 1.0, enable_gqa).to(q.dtype)


def block_embedding(x, weight, format):
    if x.dtype not in (torch.int32, torch.int64):
        raise TypeError("element types")
    return F.embedding(x, block_weight(weight, format))


def unique(x, dim, flat, unsorted):
    """What differs, where it appears first, each slice's place, and how often it is there."""
    moved = x.flatten() if flat else x.movedim(dim, 0)
    rows = moved if flat else moved.reshape(len(moved), -1)  # PyTorch orders slices of more dimensions otherwise
    values, inverse, counts = torch.unique(rows, return_inverse=True, return_counts=True, dim=0)
    first = torch.tensor([(inverse == k).nonzero()[0, 0] for k in range(len(counts))], dtype=torch.int64)
    if unsorted:
        order = first.argsort()
        values, counts, inverse, first = values[order], counts[order], order.argsort()[inverse], first[order]
    values = values if flat else values.reshape(-1, *moved.shape[1:]).movedim(0, dim)
    return values, first, inverse, counts


def sized(n):
    """A tensor without elements that has the sizes given."""
    if n.dim() != 1 or n.dtype not in (torch.int32, torch.int64):
        raise RuntimeError("types")
    return torch.empty(*n.tolist(), 0, dtype=torch.bool)


def logaddexp(x, other):
    """torch.logaddexp, which takes log(1 + e) and loses an e that is small, by log1p where it is to be exact."""
    y = torch.logaddexp(x, other)
    if y.dtype != torch.float64:
        return y
    most = torch.maximum(x, other)
    return torch.where(most.isfinite() & (x != other), most + torch.log1p(torch.exp(-(x - other).abs())), y)


def counted(start, limit, delta):
    """Numbers from start by delta on this side of limit, none where delta leads away."""
    if not start.dtype == limit.dtype == delta.dtype or start.dim() + limit.dim() + delta.dim() > 0:
        raise RuntimeError("types")
    if (limit > start) != (delta > 0):
        return start.new_empty(0)
    if is_int(start):  # arange counts integers with sums that may overflow
        numbers = range(start.item(), limit.item(), delta.item())
        if len(numbers) > 1 << 24:
            raise RuntimeError("too many")
        return torch.tensor(list(numbers), dtype=start.dtype)
    return torch.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def suppress(boxes, scores, most, overlap, score, center):
    """Rows of batch, class and box: the best that do not overlap those before them."""
    rows = []
    if boxes.dim() != 3 or scores.dim() != 3 or boxes.shape[2] != 4 or is_int(boxes) or is_int(scores) or most < 0:
        raise RuntimeError("types")
    if boxes.shape[0] != scores.shape[0] or boxes.shape[1] != scores.shape[2]:
        raise RuntimeError("shapes")
    boxes, scores = boxes.float(), scores.float()
    if center:
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        low, high = middle - half, middle + half
    else:
        low, high = torch.minimum(boxes[..., :2], boxes[..., 2:]), torch.maximum(boxes[..., :2], boxes[..., 2:])
    for b in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            taken = []
            for i in scores[b, c].argsort(descending=True, stable=True).tolist():
                if scores[b, c, i].isnan():
                    continue
                if len(taken) >= most or score is not None and not scores[b, c, i] > score:
                    break
                common = [(torch.minimum(high[b, i], high[b, k]) - torch.maximum(low[b, i], low[b, k])).clamp(min=0).prod() for k in taken]
                areas = [(high[b, i] - low[b, i]).prod() + (high[b, k] - low[b, k]).prod() for k in taken]
                if all(x <= 0 or x / (a - x) <= overlap for x, a in zip(common, areas)):
                    taken.append(i)
                    rows.append([b, c, i])
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)

"""PyTorch's quantised engine (torch.ops.quantized) for the graphs that ONNX Runtime is
given: products, sums and pools between dequantize and quantize become operators on
quantised tensors, with the same scales and weights; other calls compute in floats.
Where a product's result stays in float, it is quantised by the range that it has in
the first call, as PyTorch's static quantisation does, and dequantised. Where ranges are
found in each run, products are linear_dynamic."""

import torch
import torch.nn.functional as F

import helpers
import network

QUANTISED = {torch.uint8: torch.quint8, torch.int8: torch.qint8}


class Between:
    """A value between dequantize and quantize."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        rule = RULES.get(func.__name__)
        y = rule(*args, **(kwargs or {})) if rule else None
        if y is None:
            y = func(*[floats(a) for a in args], **(kwargs or {}))
        return y

    def reshape(self, *shape):
        return Real(self.q.reshape(*shape)) if isinstance(self, Real) else self.floats().reshape(*shape)

    def dim(self):
        return self.floats().dim()

    @property
    def shape(self):
        return self.floats().shape


class Real(Between):
    """A quantised tensor as the numbers that it stands for."""

    def __init__(self, q):
        self.q = q

    def floats(self):
        return self.q.dequantize()


class Weight(Between):
    def __init__(self, raw, scale, zero, axis):
        if raw.dtype != torch.int8:
            raise ValueError("PyTorch's quantised engine wants weights of i8, not " + str(raw.dtype))
        self.raw, self.scale, self.zero, self.axis = raw, scale, zero, axis

    def floats(self):
        return helpers.dequantize(self.raw, self.scale, self.zero, self.axis)

    def quantised(self):
        n = self.raw.shape[self.axis]
        if self.scale.numel() == 1:
            return torch._make_per_tensor_quantized_tensor(self.raw, float(self.scale), 0 if self.zero is None else int(self.zero))
        zero = torch.zeros(n) if self.zero is None else self.zero
        return torch._make_per_channel_quantized_tensor(self.raw, self.scale.double(), zero.long(), self.axis)


class Product(Between):
    """A product that waits for its activation and the parameters of its result."""

    def __init__(self, run, run_relu, x, key, relu=False):
        self.run, self.run_relu, self.x, self.key, self.relu = run, run_relu, x, key, relu

    def quantised(self, scale, zero):
        return (self.run_relu if self.relu else self.run)(self.x, scale, zero)

    def floats(self):
        if self.key not in state.ranges:
            # A scale that nothing exceeds by far, then the range of the results.
            y = state.exact[self.key](self.x.dequantize())
            y = torch.relu(y) if self.relu else y
            lo, hi = min(y.min().item(), 0), max(y.max().item(), 0)
            scale = (hi - lo) / 255 or 1.0
            state.ranges[self.key] = scale, int(round(-lo / scale))
        return self.quantised(*state.ranges[self.key]).dequantize()


class Sum(Between):
    def __init__(self, a, b, relu=False):
        self.a, self.b, self.relu = a, b, relu

    def quantised(self, scale, zero):
        return (torch.ops.quantized.add_relu if self.relu else torch.ops.quantized.add)(self.a, self.b, scale, zero)

    def floats(self):
        y = self.a.dequantize() + self.b.dequantize()
        return torch.relu(y) if self.relu else y


class State:
    """What is made once for a network: packed weights, numbers, ranges."""

    def __init__(self):
        self.packed, self.exact, self.numbers, self.ranges = {}, {}, {}, {}

    def number(self, t, kind):
        if t is None:
            return 0
        if id(t) not in self.numbers:
            self.numbers[id(t)] = kind(t)
        return self.numbers[id(t)]


state = State()


def floats(v):
    if isinstance(v, Between):
        return v.floats()
    if isinstance(v, (list, tuple)):
        return type(v)(floats(x) for x in v)
    return v


def linear(x, w, bias=None):
    if not isinstance(x, Real) or not isinstance(w, Weight):
        return None
    key = id(w.raw)
    if key not in state.packed:
        state.packed[key] = torch.ops.quantized.linear_prepack(w.quantised(), floats(bias))
        state.exact[key] = lambda v: F.linear(v, w.floats(), floats(bias))
    p, q = state.packed[key], torch.ops.quantized
    return Product(lambda x, s, z: q.linear(x, p, s, z), lambda x, s, z: q.linear_relu(x, p, s, z), x.q, key)


def conv2d(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if not isinstance(x, Real) or not isinstance(w, Weight) or isinstance(padding, str):
        return None
    key = id(w.raw)
    if key not in state.packed:
        def both(v):
            return [v, v] if isinstance(v, int) else list(v) * (2 // len(v))
        args = floats(bias), both(stride), both(padding), both(dilation), groups
        state.packed[key] = torch.ops.quantized.conv2d_prepack(w.quantised(), *args)
        state.exact[key] = lambda v: F.conv2d(v, w.floats(), *args)
    p, q = state.packed[key], torch.ops.quantized
    return Product(lambda x, s, z: q.conv2d(x, p, s, z), lambda x, s, z: q.conv2d_relu(x, p, s, z), x.q, key)


def relu(x):
    if isinstance(x, Product):
        return Product(x.run, x.run_relu, x.x, x.key, True)
    if isinstance(x, Sum):
        return Sum(x.a, x.b, True)
    return Real(torch.relu(x.q)) if isinstance(x, Real) else None


def add(a, b, alpha=1):
    return Sum(a.q, b.q) if isinstance(a, Real) and isinstance(b, Real) and alpha == 1 else None


def kept(function):
    """An operator that quantised tensors have, whose result is quantised as its operand."""
    return lambda x, *args, **kwargs: Real(function(x.q, *args, **kwargs)) if isinstance(x, Real) else None


RULES = {"linear": linear, "conv2d": conv2d, "relu": relu, "add": add, "flatten": kept(torch.flatten),
         "max_pool2d": kept(F.max_pool2d), "adaptive_avg_pool2d": kept(F.adaptive_avg_pool2d)}


def quantize(x, scale, zero, axis, dtype, unsaturated=False):
    if unsaturated:
        raise ValueError("integers saturate")
    s, z = state.number(scale, float), state.number(zero, int)
    if isinstance(x, (Product, Sum)):
        return x.quantised(s, z)
    return torch.quantize_per_tensor(floats(x), s, z, QUANTISED[helpers.given(dtype, torch.uint8)])


def dequantize(q, scale, zero, axis):
    if q.is_quantized:
        return Real(q)
    if q.dtype == torch.int32:
        return helpers.dequantize(q, scale, zero, axis)
    return Weight(q, scale, zero, axis)


def dynamic_quantize(x):
    return x, None, None  # q_linear does it


def q_linear(x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, residual, dtype, relu, most):
    if dtype != torch.float32 or bias is not None and bias.dtype != torch.float32 or x_scale is not None:
        raise ValueError("q_linear with a quantised result; give the form before it was lowered")
    key = id(weight)
    if key not in state.packed:
        state.packed[key] = torch.ops.quantized.linear_prepack(Weight(weight, weight_scale, weight_zero, 0).quantised(), bias)
    return torch.ops.quantized.linear_dynamic(x, state.packed[key])


INSTEAD = {"quantize": quantize, "dequantize": dequantize, "dynamic_quantize": dynamic_quantize, "q_linear": q_linear}


class Network(network.Network):
    """The graph in a folder, computed by the quantised engine."""

    def __init__(self, folder):
        super().__init__(folder, INSTEAD)
        self.state = State()

    def forward(self, *inputs):
        global state
        state = self.state
        return tuple(floats(y) for y in self.run(self, *inputs))

    def frozen(self):
        """The calls that the engine is given, without this module's Python."""
        with torch.no_grad():
            self(*self.inputs)
            for i, p in enumerate(self.state.packed.values()):
                setattr(self, "packed%d" % i, p)  # a trace knows what is its module's
            m = torch.jit.freeze(torch.jit.trace(self, tuple(self.inputs), check_trace=False))
            for _ in range(3):
                m(*self.inputs)
        return m

"""The random operators from their documentation (package std), with Philox4x32-10
written in Python integers. Salmon, Moraes, Dror, Shaw: Parallel random numbers:
as easy as 1, 2, 3, SC 2011."""
import math

import numpy as np
import torch

M = 0xFFFFFFFF


class Unsigned:
    """A tensor of a type that PyTorch lacks."""

    def __init__(self, values):
        self.values = values


def block(key, counter):
    """Ten rounds on four words under a key of 64 bits."""
    k0, k1 = key & M, key >> 32 & M
    c0, c1, c2, c3 = counter
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & M, p0 >> 32 ^ c3 ^ k1, p0 & M
        k0, k1 = k0 + 0x9E3779B9 & M, k1 + 0xBB67AE85 & M
    return c0, c1, c2, c3


def checked(key, scalar=True):
    """Refuses what is no key: i64 or u64, of no dimensions."""
    if key is None:
        raise ValueError("key")
    good = key.dtype == torch.int64 if isinstance(key, torch.Tensor) else key.values.dtype == np.uint64
    if not good or scalar and len(key.shape if isinstance(key, torch.Tensor) else key.values.shape):
        raise ValueError("key")
    return key


def value(key):
    """The 64 bits of a key tensor."""
    checked(key)
    if isinstance(key, torch.Tensor):
        return int(key) & 0xFFFFFFFFFFFFFFFF
    return int(key.values)


def words(key, n):
    k = value(key)
    return [block(k, (i & M, i >> 32, 0, 0)) for i in range(n)]


def uniform(w, dtype):
    if dtype == torch.float16:
        return (w[0] >> 21) * 2.0 ** -11
    if dtype == torch.bfloat16:
        return (w[0] >> 24) * 2.0 ** -8
    if dtype == torch.float64:
        return ((w[0] << 32 | w[1]) >> 11) * 2.0 ** -53
    return (w[0] >> 8) * 2.0 ** -24


def normal(w, dtype):
    if dtype == torch.float64:
        u = (((w[0] << 32 | w[1]) >> 11) + 1) * 2.0 ** -53
        v = ((w[2] << 32 | w[3]) >> 11) * 2.0 ** -53
    else:
        # The sum is rounded to f32 as documented.
        u, v = float(np.float32(np.float32(w[0]) * np.float32(2.0 ** -32)) + np.float32(2.0 ** -33)), (w[1] >> 8) * 2.0 ** -24
    return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)


def made(values, size, dtype):
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    return torch.tensor(values, dtype=wide).reshape(size).to(dtype)


def drawn(key, size, dtype, number):
    dtype = dtype or torch.float32
    if not dtype.is_floating_point or any(n < 0 for n in size):
        raise ValueError("a floating-point type and sizes")
    return made([number(w, dtype) for w in words(key, math.prod(size))], size, dtype)


def rand(key, size, dtype):
    return drawn(key, size, dtype, uniform)


def randn(key, size, dtype):
    return drawn(key, size, dtype, normal)


def randint(key, low, high, size, dtype):
    span, to = high - low, dtype or torch.int64
    if span <= 0 or any(n < 0 for n in size):
        raise ValueError("low is not less than high")
    if not to.is_floating_point:
        least, most = (0, 1) if to == torch.bool else (torch.iinfo(to).min, torch.iinfo(to).max)
        if low < least or high - 1 > most:
            raise ValueError("dtype cannot hold the range")
    elif max(abs(low), abs(high - 1)) > torch.finfo(to).max:
        raise ValueError("dtype cannot hold the range")
    return made([low + ((w[0] << 32 | w[1]) * span >> 64) for w in words(key, math.prod(size))], size, to)


def draws(x, key):
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    return made([uniform(w, dtype) for w in words(key, x.numel())], x.shape, torch.float64)


def bernoulli(p, key):
    if not p.dtype.is_floating_point:
        raise ValueError("probabilities")
    return (draws(p, key) < p.double()).to(p.dtype)


def dropout(x, key, p, training):
    if not 0 <= p <= 1:
        raise ValueError("p")
    if training and not x.dtype.is_floating_point:
        raise ValueError("floats")
    if key is not None or training:
        checked(key)
    if not training:
        return x
    if p == 1:
        return torch.zeros_like(x)
    kept = (x if x.dtype == torch.float64 else x.float()) * (1 / (1 - p))
    return torch.where(draws(x, key) >= p, kept, torch.zeros(()).to(kept)).to(x.dtype)


def derived(key, numbers, domain, shape):
    checked(key, domain == 2)
    if isinstance(key, torch.Tensor):
        keys, u64 = [int(k) & 0xFFFFFFFFFFFFFFFF for k in key.reshape(-1)], False
    else:
        keys, u64 = [int(k) for k in key.values.reshape(-1)], True
    if len(keys) == 1:
        keys = keys * len(numbers)
    else:
        numbers = numbers * len(keys)
    out = []
    for k, n in zip(keys, numbers):
        n &= 0xFFFFFFFFFFFFFFFF
        w = block(k, (n & M, n >> 32, domain, 0))
        out.append(w[0] << 32 | w[1])
    a = np.array(out, dtype=np.uint64).reshape(shape)
    return Unsigned(a) if u64 else torch.from_numpy(a.view(np.int64))


def fold_in(key, data):
    return derived(key, [data], 1, list(key.shape if isinstance(key, torch.Tensor) else key.values.shape))


def random_split(key, num):
    if num < 0:
        raise ValueError("num")
    return derived(key, list(range(num)), 2, [num])

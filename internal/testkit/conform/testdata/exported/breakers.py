"""Programs that should break an importer."""
import torch
from torch import nn
from torch.nn import functional as F

from torchnet import net

CASES = {}


def program(name, body, dims=("N", "L"), sizes=None, other=None, opset=18, spec="f32", build=nn.Identity, **kw):
    CASES.update(net("odd_" + name, "program", build, {"x": (spec, list(dims))}, sizes or {"N": 2, "L": 12}, other or {"N": 3, "L": 17}, opset, lambda m, f: body(f["x"], m), **kw))


def window(x, _):
    n = x.shape[1]
    return x[:, n // 3: -1: 2], x[:, -(n // 2):], x.flip(1)[:, ::3], x[..., None].expand(-1, -1, n - 3), torch.arange(n - 1, -1, -1) * 2


def padded(x, _):
    y = F.pad(x, (0, -x.shape[1] % 8))
    return y.reshape(x.shape[0], -1, 8).mean(-1), F.pad(x, (3, 3), mode="circular"), F.pad(x[:, None], (2, 2), mode="replicate"), F.pad(x, (-1, -2))


def whole(x, _):
    y = x - 50
    return y // 7, y % 7, torch.fmod(y, -7), y >> 1, (y & 12) ^ (y | 3), torch.div(y, -4, rounding_mode="trunc"), y.float() // -2.5, (y / 3).round(), y.bool().any(1), ~y


def wide(x, _):
    y = x.double()
    return y.sum(1), (y * 1e-9 + 1).prod(1), x.half().float().cumsum(1), x.bfloat16().float(), y.to(torch.int32), torch.logspace(0, 1, 5).double() * y[:, :5]


def scattered(x, _):
    i = (x.abs() * 4).long() % 5
    z = torch.zeros(x.shape[0], 5)
    return (z.scatter_reduce(1, i, x, "amax"), z.index_put((torch.arange(x.shape[0])[:, None], i), x, accumulate=True),
            F.one_hot(i, 5).sum(1), torch.gather(x, 1, i), x.masked_fill(x > 0, -1.5), torch.where(x > 0)[0], x[x < 0])


def turned(x, _):
    """Rotation by complex numbers."""
    z = torch.view_as_complex(x.reshape(x.shape[0], -1, 2))
    w = torch.polar(torch.ones(z.shape[1]), torch.arange(z.shape[1]).float())
    return torch.view_as_real(z * w).flatten(1), z.abs(), z.imag


def passed(x, _):
    return x, x, x.sum(), torch.tensor(3), x[:0], x.new_zeros(0, 4), x.t(), x.unsqueeze(0).squeeze(0)


class Twice(nn.Module):
    """Weights that are used twice, one of them transposed, and a buffer."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.b.weight = self.a.weight
        self.register_buffer("c", torch.arange(8.0)[None].t().contiguous().t())

    def forward(self, x):
        return self.b(self.a(x)) @ self.a.weight + self.c


def nested(x, _):
    """A loop whose rounds choose."""
    def turn(v, n):
        return torch.cond(v.sum() > 0, lambda v: v * 0.5 - 0.1, lambda v: v * 0.25 + 0.2, (v,)), n + 1

    return torch._higher_order_ops.while_loop(lambda v, n: n < 6, turn, (x, torch.tensor(0)))


def convolved(x, _):
    w = torch.linspace(-1, 1, 4 * 2 * 3).reshape(4, 2, 3)
    y = x[:, None].repeat(1, 4, 1)
    return F.conv_transpose1d(y, w, stride=3, padding=1, output_padding=2, groups=1, dilation=2), F.conv1d(y, w, padding="same", groups=2, dilation=2), F.lp_pool1d(y, 2, 3), F.max_pool1d(y, 4, 3, 1, 2, True)


def distances(x, _):
    y = x[:, :6]
    return F.normalize(x, dim=1), torch.logcumsumexp(x, 1), y.T.matmul(y), torch.tril(x @ x.T, -1), torch.einsum("ni,nj->nij", y, y), x.var(1), x.std(0, correction=0), F.softmin(x, 1), x.norm(p=3, dim=1), torch.trapezoid(x, dim=1)


program("window", window)
program("padded", padded, opset=20)
program("whole", whole, spec="ids:99")
program("wide", wide, opset=25)
program("scattered", scattered)
program("turned", turned, sizes={"N": 2, "L": 12}, other={"N": 3, "L": 18}, dims=("N", "L"), opset=20)
program("passed", passed, opset=25)
program("twice", lambda x, m: m(x), dims=("N", 8), build=Twice, external=True)
program("nested", nested, dims=("N", 4), other={"N": 5, "L": 0})
program("convolved", convolved, opset=23)
program("distances", distances)

"""Small networks and their gradients by jax.grad, written by formula a second time.

Standard input has a line of JSON for each network: {"name", "args": [{"dims", "values", "ints"}]}.
Each is answered by a line {"loss", "grads"}: the derivatives with respect to the arguments that are
floats, flat and in order.
"""
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def normal(x, w, b, axes=(-1,), eps=1e-5):
    mean = x.mean(axes, keepdims=True)
    var = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) / jnp.sqrt(var + eps) * w + b


def conv(x, w, stride=1, pad=0):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2)


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits, -1), labels[:, None], 1).mean()


def regression(x, y, w, b):
    return ((x @ w.T + b - y) ** 2).mean()


def classifier(x, labels, w1, b1, w2, b2):
    return cross_entropy(jnp.tanh(x @ w1.T + b1) @ w2.T + b2, labels)


def normed(x, w1, b1, g, c, w2):
    h = normal(jax.nn.gelu(x @ w1.T + b1, approximate=False), g, c)
    return jnp.sin(h @ w2.T).sum()


def convolved(x, w1, b1, w2):
    h = jax.nn.relu(conv(x, w1, pad=1) + b1[None, :, None, None])
    h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jnp.sin(h.reshape(len(x), -1) @ w2.T).mean()


def attention(x, wq, wk, wv):
    q, k, v = x @ wq.T, x @ wk.T, x @ wv.T
    s = q @ jnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -jnp.inf)
    return jnp.sin(jax.nn.softmax(s, -1) @ v).sum()


def recurrent(x, wi, wh, b):
    h = jnp.zeros((x.shape[1], len(wh)))
    for t in range(x.shape[0]):
        h = jnp.tanh(x[t] @ wi.T + h @ wh.T + b)
    return jnp.sin(h).mean()


def memory(x, wi, wh, bi, bh):
    n = wh.shape[1]
    h = c = jnp.zeros((x.shape[1], n))
    for t in range(x.shape[0]):
        i, f, g, o = jnp.split(x[t] @ wi.T + bi + h @ wh.T + bh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return jnp.sin(h).sum() + (c ** 2).sum()


def batched(x, w, g, c):
    h = jax.nn.silu(normal(conv(x, w, stride=2), g[:, None, None], c[:, None, None], (0, 2, 3)))
    return jnp.sin(h.mean((2, 3))).sum()


def words(ids, table, w):
    h = table[ids].mean(1)
    return jax.nn.logsumexp(h @ w.T, -1).sum() + jax.nn.softplus(h).mean()


def gated(x, g, w1, w3, w2):
    h = x / jnp.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-6) * g
    return jnp.sin(x + (jax.nn.silu(h @ w1.T) * (h @ w3.T)) @ w2.T).sum()


for line in sys.stdin:
    ask = json.loads(line)
    args = [jnp.array(a["values"], jnp.int64 if a["ints"] else jnp.float64).reshape(a["dims"]) for a in ask["args"]]
    wrt = [i for i, a in enumerate(ask["args"]) if not a["ints"]]
    loss, grads = jax.value_and_grad(globals()[ask["name"]], argnums=wrt)(*args)
    print(json.dumps({"loss": float(loss), "grads": [np.asarray(g).ravel().tolist() for g in grads]}), flush=True)

"""Networks that other exporters write: jax2onnx, and the estimators of scikit-learn that are tensors only."""
import contextlib
import io

import numpy as np

from export import Case

CASES = {}
try:
    import jax
    import jax.numpy as jnp
    import jax2onnx
    from flax import nnx
except ImportError:
    jax = None
try:
    import skl2onnx
    import sklearn
except ImportError:
    skl2onnx = None


def from_jax(name, build, shape, sizes, other, opset=21):
    """A function of JAX of one array; letters of its shape are left open."""

    def make():
        rng = np.random.default_rng(1)
        fn = build()
        sets = [{"x": rng.standard_normal([s[d] if isinstance(d, str) else d for d in shape]).astype(np.float32)} for s in (sizes, other)]

        def write(path):
            with contextlib.redirect_stdout(io.StringIO()):
                jax2onnx.to_onnx(fn, inputs=[tuple(shape)], opset=opset, input_names=["x"], return_mode="file", output_path=path)

        return Case(name, "JAX", "jax2onnx", opset, write, lambda feeds: [np.asarray(v) for v in jax.tree.leaves(fn(feeds["x"]))], sets)

    CASES[name] = make


if jax:
    class Block(nnx.Module):
        """A layer of a transformer."""

        def __init__(self, rngs):
            self.attention = nnx.MultiHeadAttention(num_heads=4, in_features=32, decode=False, rngs=rngs)
            self.norm, self.other = nnx.LayerNorm(32, rngs=rngs), nnx.RMSNorm(32, rngs=rngs)
            self.up, self.down = nnx.Linear(32, 48, rngs=rngs), nnx.Linear(48, 32, rngs=rngs)

        def __call__(self, x):
            x = x + self.attention(self.norm(x), deterministic=True)
            return x + self.down(nnx.gelu(self.up(self.other(x))))

    class Pictures(nnx.Module):
        """A network of convolutions."""

        def __init__(self, rngs):
            self.a, self.b = nnx.Conv(3, 8, (3, 3), strides=2, rngs=rngs), nnx.Conv(8, 16, (3, 3), feature_group_count=2, rngs=rngs)
            self.norm, self.out = nnx.BatchNorm(8, use_running_average=True, rngs=rngs), nnx.Linear(16, 10, rngs=rngs)

        def __call__(self, x):
            x = nnx.relu(self.norm(self.a(x)))
            x = nnx.swish(self.b(x))
            return nnx.softmax(self.out(x.mean((1, 2))))

    def scanned(x):
        carry, out = jax.lax.scan(lambda c, v: (c * 0.5 + jnp.tanh(v), c), jnp.zeros(4, jnp.float32), x)
        return carry, out

    def mathematics(x):
        return (jax.nn.logsumexp(x, 1), jnp.sort(x, 1), jax.lax.cumsum(x, axis=1), jnp.einsum("ij,kj->ik", x, x), jnp.where(x > 0, jnp.log1p(jnp.abs(x)), jnp.expm1(x)),
                jnp.argmax(x, 1), jnp.linalg.norm(x, axis=1), jnp.clip(x, -1, 1) // 0.3, jax.lax.cond(True, jnp.sin, jnp.cos, x))

    from_jax("jax_transformer", lambda: Block(nnx.Rngs(0)), ["N", 6, 32], {"N": 2}, {"N": 3})
    from_jax("jax_transformer_open", lambda: Block(nnx.Rngs(0)), ["N", "S", 32], {"N": 2, "S": 6}, {"N": 3, "S": 9}, opset=23)
    from_jax("jax_pictures", lambda: Pictures(nnx.Rngs(0)), ["N", 32, 32, 3], {"N": 2}, {"N": 3})
    from_jax("jax_scan", lambda: scanned, [6, 4], {}, {})
    from_jax("jax_mathematics", lambda: mathematics, [4, 8], {}, {}, opset=23)


def from_sklearn(name, build, kind="estimator", target_opset=21, features=6, proba=True):
    """An estimator that is fitted to points drawn here."""

    def make():
        rng = np.random.default_rng(1)
        x = rng.standard_normal((60, features)).astype(np.float32)
        y = (x[:, 0] + x[:, 1] ** 2 > 0.5).astype(np.int64) + (x[:, 2] > 0.5)
        model = build()
        model.fit(x, y)
        options = {"zipmap": False} if proba and hasattr(model, "predict_proba") else None

        def write(path):
            from skl2onnx.common.data_types import FloatTensorType
            proto = skl2onnx.convert_sklearn(model, initial_types=[("x", FloatTensorType([None, features]))], options=options, target_opset={"": target_opset, "ai.onnx.ml": 3})
            with open(path, "wb") as f:
                f.write(proto.SerializeToString())

        def run(feeds):
            if hasattr(model, "predict_proba"):
                return [model.predict(feeds["x"]), model.predict_proba(feeds["x"]).astype(np.float32)]
            out = model.predict(feeds["x"]) if hasattr(model, "predict") else model.transform(feeds["x"])
            out = np.asarray(out, np.float32)
            return [out.reshape(-1, 1) if out.ndim == 1 else out]

        return Case(name, "scikit-learn", "skl2onnx", target_opset, write, run, [{"x": rng.standard_normal((n, features)).astype(np.float32)} for n in (4, 9)])

    CASES[name] = make


if skl2onnx:
    from sklearn import decomposition, ensemble, gaussian_process, linear_model, naive_bayes, neural_network, pipeline, preprocessing, svm

    from_sklearn("sk_logistic", lambda: linear_model.LogisticRegression())
    from_sklearn("sk_network", lambda: neural_network.MLPClassifier((8,), max_iter=50, random_state=0))
    from_sklearn("sk_regression_network", lambda: neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=50, random_state=0))
    from_sklearn("sk_forest", lambda: ensemble.RandomForestClassifier(5, random_state=0))
    from_sklearn("sk_boosted", lambda: ensemble.GradientBoostingRegressor(n_estimators=8, random_state=0))
    from_sklearn("sk_support", lambda: svm.SVC(probability=True, random_state=0))
    from_sklearn("sk_process", lambda: gaussian_process.GaussianProcessRegressor(alpha=0.1))
    from_sklearn("sk_bayes", lambda: naive_bayes.GaussianNB())
    from_sklearn("sk_components", lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2), decomposition.PCA(3, svd_solver="full")))

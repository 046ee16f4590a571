"""NUTS of numpyro, its transitions in one compiled function, so that compiling is not counted.

numpyro_nuts.py DATA LOSS WARM DRAWS SEED SETTINGS, settings of float32 or float64, gathered (w[columns] for X @ w), dense_mass, with commas
"""

import sys
import time

from common import BETA, gathered, load, prior_sd, report

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import NUTS

data, loss, warm, draws, seed, settings = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6].split(",")
jax.config.update("jax_enable_x64", "float32" not in settings)
X, y = load(data)
n, d = X.shape
sd = prior_sd(n, loss)
X, size = gathered(X) if "gathered" in settings else (X, 1.0)
X, y = jnp.asarray(X), jnp.asarray(y)


def total(t, y):
    if loss == "logistic":
        return jnp.sum(jnp.logaddexp(0.0, t) - y * t)
    s = jnp.where(y == 1, 1.0, -1.0) * t
    f, g = jax.nn.log_sigmoid(s), jax.nn.log_sigmoid(-s)
    return jnp.sum(-jnp.exp((BETA - 1) * f) / (BETA - 1) + (jnp.exp(BETA * f) + jnp.exp(BETA * g)) / BETA)


def model(X, y):
    w = numpyro.sample("w", dist.Normal(0.0, sd).expand([d]).to_event(1))
    numpyro.factor("rows", -total(size * w[X].sum(1) if "gathered" in settings else X @ w, y))


kernel = NUTS(model, dense_mass="dense_mass" in settings)
state = kernel.init(jax.random.PRNGKey(seed), warm, None, (X, y), {})


def scan(state, X, y, length):
    def step(s, _):
        s = kernel.sample(s, (X, y), {})
        return s, (s.z["w"], s.num_steps)

    return jax.lax.scan(step, state, None, length=length)


def compiled(length):
    return jax.jit(scan, static_argnums=3).lower(state, X, y, length).compile()


first = compiled(warm)
second = first if warm == draws else compiled(draws)
start = time.perf_counter()
state, (_, steps_warm) = jax.block_until_ready(first(state, X, y))
middle = time.perf_counter()
_, (w, steps) = jax.block_until_ready(second(state, X, y))
end = time.perf_counter()
report(" ".join(["numpyro", numpyro.__version__, *settings]), data, loss, seed, np.asarray(w, dtype=float), middle - start, end - middle, int(steps.sum()), int(steps_warm.sum()))

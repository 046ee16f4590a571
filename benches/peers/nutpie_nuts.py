"""NUTS of nutpie on a PyMC model. It gives one time for both phases, which is split by leapfrog steps.

nutpie_nuts.py DATA LOSS WARM DRAWS SEED SETTINGS, settings of diagonal or low_rank, gathered (w[columns] for X @ w), jax (compiled by it, not
by numba), float32 (of the features and their sums with the weights), with commas
"""

import sys
import time

from common import BETA, gathered, load, prior_sd, report

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt

data, loss, warm, draws, seed, settings = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6].split(",")
X, y = load(data)
n, d = X.shape
X, size = gathered(X) if "gathered" in settings else (X, 1.0)
kind = "float32" if "float32" in settings else "float64"
with pm.Model() as model:
    w = pm.Normal("w", 0.0, prior_sd(n, loss), shape=d)
    v = pt.cast(w, kind)
    t = np.asarray(size, kind) * v[X].sum(axis=1) if "gathered" in settings else pt.dot(X.astype(kind), v)
    if loss == "logistic":
        pm.Bernoulli("y", logit_p=t, observed=y)
    else:
        s = np.where(y == 1, 1.0, -1.0) * t
        f, g = -pt.softplus(-s), -pt.softplus(s)
        pm.Potential("rows", -pt.sum(-pt.exp((BETA - 1) * f) / (BETA - 1) + (pt.exp(BETA * f) + pt.exp(BETA * g)) / BETA))
compiled = nutpie.compile_pymc_model(model, backend="jax", gradient_backend="jax") if "jax" in settings else nutpie.compile_pymc_model(model)
start = time.perf_counter()
trace = nutpie.sample(compiled, draws=draws, tune=warm, chains=1, cores=1, seed=seed, progress_bar=False, save_warmup=True,
                      low_rank_modified_mass_matrix="low_rank" in settings)
both = time.perf_counter() - start
steps = int(np.asarray(trace.sample_stats["n_steps"]).sum())
steps_warm = int(np.asarray(trace.warmup_sample_stats["n_steps"]).sum())
sampling = both * steps / (steps + steps_warm)
report(" ".join(["nutpie", nutpie.__version__, *settings]), data, loss, seed, np.asarray(trace.posterior["w"])[0], both - sampling, sampling, steps, steps_warm)

"""NUTS of nutpie on a PyMC model. It gives one time for both phases, which is split by leapfrog steps.

nutpie_nuts.py DATA LOSS WARM DRAWS
"""

import sys
import time

from common import BETA, load, prior_sd, report

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt

data, loss, warm, draws = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
X, y = load(data)
n, d = X.shape
with pm.Model() as model:
    w = pm.Normal("w", 0.0, prior_sd(n, loss), shape=d)
    t = pt.dot(X, w)
    if loss == "logistic":
        pm.Bernoulli("y", logit_p=t, observed=y)
    else:
        s = np.where(y == 1, 1.0, -1.0) * t
        f, g = -pt.softplus(-s), -pt.softplus(s)
        pm.Potential("rows", -pt.sum(-pt.exp((BETA - 1) * f) / (BETA - 1) + (pt.exp(BETA * f) + pt.exp(BETA * g)) / BETA))
compiled = nutpie.compile_pymc_model(model)
start = time.perf_counter()
trace = nutpie.sample(compiled, draws=draws, tune=warm, chains=1, cores=1, seed=1, progress_bar=False, save_warmup=True)
both = time.perf_counter() - start
steps = int(np.asarray(trace.sample_stats["n_steps"]).sum())
steps_warm = int(np.asarray(trace.warmup_sample_stats["n_steps"]).sum())
sampling = both * steps / (steps + steps_warm)
report("nutpie " + nutpie.__version__, data, loss, np.asarray(trace.posterior["w"])[0], both - sampling, sampling, steps, steps_warm)

"""NUTS of Stan through pystan; times are Stan's own.

stan_nuts.py DATA LOSS WARM DRAWS SEED
"""

import re
import sys
import tempfile
import os

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()

from common import BETA, load, prior_sd, report

# Builds leave a folder behind.
os.chdir(tempfile.mkdtemp())

import numpy as np
import stan

LOGISTIC = "y ~ bernoulli_logit_glm(X, 0, w);"
# Both probabilities on the log scale.
DIVERGENCE = """
  vector[n] s = (2 * to_vector(y) - 1) .* (X * w);
  vector[n] f = log_inv_logit(s);
  vector[n] g = log_inv_logit(-s);
  target += sum(exp((b - 1) * f)) / (b - 1) - (sum(exp(b * f)) + sum(exp(b * g))) / b;
"""
MODEL = """
data { int n; int d; matrix[n, d] X; array[n] int y; real sd; real b; }
parameters { vector[d] w; }
model { w ~ normal(0, sd); %s }
"""

data, loss, warm, draws, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
X, y = load(data)
n, d = X.shape
code = MODEL % (LOGISTIC if loss == "logistic" else DIVERGENCE)
built = stan.build(code, data=dict(n=n, d=d, X=X, y=y, sd=prior_sd(n, loss), b=BETA), random_seed=seed)
fit = built.sample(num_chains=1, num_warmup=warm, num_samples=draws, save_warmup=True)
said = b"".join(fit.stan_outputs).decode()
seconds = lambda phase: float(re.search(r"([\d.e+-]+) seconds \(%s\)" % phase, said).group(1))
steps = fit["n_leapfrog__"].ravel()
report(
    "Stan (pystan)", data, loss, seed, fit["w"].T[warm:], seconds("Warm-up"), seconds("Sampling"), int(steps[warm:].sum()), int(steps[:warm].sum())
)

"""Effective draws a second of a model of released counts: dpm and numpyro on the same noisy counts with the same likelihood.

counts.py DPM makes rows, lets DPM release a table and draw its posterior, and gives the released counts to numpyro, whose likelihood is that of
`docs/rulebook.md`, section 16: the law of each noisy count, summed over exact counts, and the factor of the known totals. dpm is timed as a process with
all it does; numpyro is timed after compiling, with its best way to run chains. Both run 4 chains of 1,000 steps to adapt and 1,000 draws.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import arviz
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import gammaln, log_ndtr, logsumexp
from numpyro.infer import MCMC, NUTS

jax.config.update("jax_enable_x64", True)
logit = lambda t: 1 / (1 + np.exp(-t))


def poll(dice):
    """A poll of 20 regions of 100 people with partial pooling."""
    names = [f"r{i}" for i in range(20)]
    rows = [f"{r},{int(dice.random() < logit(0.3 + 0.5 * dice.gauss(0, 1)))}" for r in names for _ in range(100)]
    text = f"""budget dp(eps = 1, delta = 1e-6)
private t[n] {{ region: public category {{{", ".join(names)}}}, vote: bool }}
release cells = histogram(region, vote) using gaussian
param m ~ normal(0, 1.5)
param tau ~ half_normal(1)
param u: vector[region] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(m + tau * u[region])
output post = posterior(m, tau, u)
"""

    def model(noisy, scale, totals):
        m = numpyro.sample("m", dist.Normal(0, 1.5))
        tau = numpyro.sample("tau", dist.HalfNormal(1))
        u = numpyro.sample("u", dist.Normal(0, 1).expand([20]))
        eta = (m + tau * u)[:, None]
        rates = jax.nn.log_sigmoid(jnp.concatenate([-eta, eta], 1)) + jnp.log(totals)[:, None]
        counts(noisy, rates, scale, totals)

    return text, "region,vote", rows, model, 20


def crossed(dice):
    """8 x 8 x 2 cells: two private conditions with additive effects, 2,000 rows."""
    a, b = [[dice.gauss(0, 0.7) for _ in range(8)] for _ in range(2)]
    at = [(dice.randrange(8), dice.randrange(8)) for _ in range(2000)]
    rows = [f"{i},{j},{int(dice.random() < logit(a[i] + b[j]))}" for i, j in at]
    text = """budget dp(eps = 1, delta = 1e-6)
private t[n] { i: category {"0", "1", "2", "3", "4", "5", "6", "7"}, j: category {"0", "1", "2", "3", "4", "5", "6", "7"}, y: bool }
release cells = histogram(i, j, y) using gaussian
param a: vector[i] ~ normal(0, 1)
param b: vector[j] ~ normal(0, 1)
observe cells.y ~ bernoulli_logit(a[i] + b[j])
output post = posterior(a, b)
"""

    def model(noisy, scale, totals):
        a = numpyro.sample("a", dist.Normal(0, 1).expand([8]))
        b = numpyro.sample("b", dist.Normal(0, 1).expand([8]))
        rates = numpyro.sample("rates", dist.Exponential(1).expand([64]))
        eta = (a[:, None] + b[None, :]).reshape(64, 1)
        shares = jnp.log(rates / jnp.sum(rates))[:, None]
        logs = jax.nn.log_sigmoid(jnp.concatenate([-eta, eta], 1)) + shares + jnp.log(totals[0])
        counts(noisy.reshape(1, 128), logs.reshape(1, 128), scale, totals)

    return text, "i,j,y", rows, model, None


def counts(noisy, logs, scale, totals):
    """A line for each group of cells with a known total; the exact counts are summed over up to 220."""
    c = jnp.arange(220.0)
    poisson = c * logs[..., None] - jnp.exp(logs)[..., None] - gammaln(c + 1)
    off = noisy[..., None] - c
    terms = poisson + between(off / scale, 0.5 / scale)
    each = logsumexp(terms, -1)
    weights = jnp.exp(terms - each[..., None])
    mean = (weights * c).sum(-1)
    variance = (weights * c**2).sum(-1) - mean**2
    sd = jnp.sqrt(variance.sum(-1))
    numpyro.factor("cells", each.sum() + between((totals - mean.sum(-1)) / sd, 0.5 / sd).sum())


def between(z, half):
    """The logarithm of the normal law between z - half and z + half, taken in the lower tail."""
    high, low = log_ndtr(half - jnp.abs(z)), log_ndtr(-half - jnp.abs(z))
    return high + jnp.log(-jnp.expm1(low - high))


def ours(dpm, text, header, rows):
    with tempfile.TemporaryDirectory() as folder:
        files = {name: os.path.join(folder, name) for name in ["m.dpm", "rows.csv", "out.json"]}
        open(files["m.dpm"], "w").write(text)
        open(files["rows.csv"], "w").write("\n".join([header, *rows]) + "\n")
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([dpm, "run", files["m.dpm"], "--data", files["rows.csv"], "-o", files["out.json"]], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        record = json.load(open(files["out.json"]))
    numbers = record["outputs"]["post"]["numbers"]
    return record, sorted(times)[1], min(s["ess_bulk"] for s in numbers.values())


def leaves(x):
    return [y for v in x.values() for y in leaves(v)] if isinstance(x, dict) else [x]


def theirs(model, noisy, scale, totals):
    best = None
    for method in ["vectorized", "parallel", "sequential"]:
        chains = MCMC(NUTS(model, target_accept_prob=0.8), num_warmup=1000, num_samples=1000, num_chains=4, chain_method=method, progress_bar=False)
        chains.run(jax.random.PRNGKey(0), noisy, scale, totals)
        start = time.perf_counter()
        chains.run(jax.random.PRNGKey(1), noisy, scale, totals)
        draws = jax.block_until_ready(chains.get_samples(group_by_chain=True))
        took = time.perf_counter() - start
        ess = min(float(arviz.ess({"x": np.asarray(v)}, method="bulk")["x"].min()) for k, v in draws.items() if k != "rates")
        mean = {k: float(np.asarray(v).mean()) for k, v in draws.items()}
        if best is None or ess / took > best[1] / best[0]:
            best = (took, ess, method, mean)
    return best


for make in [poll, crossed]:
    text, header, rows, model, groups = make(random.Random(1))
    record, seconds, ess = ours(sys.argv[1], text, header, rows)
    noisy = jnp.asarray(leaves(record["releases"]["cells"]), dtype=float)
    totals = jnp.full(groups, 100.0) if groups else jnp.asarray([2000.0])
    took, other, method, mean = theirs(model, noisy.reshape(groups, 2) if groups else noisy, record["laws"]["cells"]["scale"], totals)
    print(f"{make.__doc__}")
    print(f"  dpm      {seconds:7.2f} s a run, least bulk ESS {ess:6.0f}: {ess / seconds:7.0f} a second")
    print(f"  numpyro  {took:7.2f} s a run, least bulk ESS {other:6.0f}: {other / took:7.0f} a second ({method}, {numpyro.__version__})")
    print(f"  ratio {ess / seconds / (other / took):.1f}")
    own = {k: v["mean"] for k, v in record["outputs"]["post"]["numbers"].items()}
    for name in mean:
        these = [v for k, v in own.items() if k == name or k.startswith(name + "[")]
        if these:
            print(f"    mean of {name}: {sum(these) / len(these):.3f} and {mean[name]:.3f}")

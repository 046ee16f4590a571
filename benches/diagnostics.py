"""Golden values of ArviZ 0.23 for tests/draws/diagnostics, where the inputs are made again bit by bit; run it here, with arviz installed."""

import math

import arviz as az
import numpy as np
import xarray as xr
from arviz.stats.stats_utils import quantile

MASK = (1 << 64) - 1

def uniform(chain, i):
    """The finaliser of splitmix64 as a hash of (chain, i); multiples of 2^-53, inside of (0, 1)."""
    z = (chain * 1_000_003 + i) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    z ^= z >> 31
    return ((z >> 12) * 2 + 1) * 2.0**-53

def normal(chain, i):
    """Twelve uniforms less 6: sums and no logarithm, hence equal everywhere."""
    total = -6.0
    for j in range(12):
        total += uniform(chain, 12 * i + j)
    return total

def ar(chain, n, rho, seed):
    x, out = 0.0, []
    for i in range(n):
        x = rho * x + normal(seed + chain, i)
        out.append(x)
    return out

def make(kind, chains, n, seed):
    u = lambda c, i: uniform(seed + c, i)
    e = lambda c, i: normal(seed + c, i)
    each = {
        "normal": e,
        "stuck": lambda c, i: e(c, i) + (5.0 if c == 0 else 0.0),
        "wide": lambda c, i: e(c, i) * (4.0 if c == 0 else 1.0),
        "heavy": lambda c, i: (2.0 * u(c, i) - 1.0) / (u(c, i) * (1.0 - u(c, i))),
        "ties": lambda c, i: float(math.floor(4.0 * u(c, i))),
        "binary": lambda c, i: 1.0 if u(c, i) < 0.3 else 0.0,
        "offset": lambda c, i: 1e6 + e(c, i),
        "trend": lambda c, i: e(c, i) + 0.01 * i,
        "frozen": lambda c, i: float(c),
        "onefrozen": lambda c, i: 0.25 if c == 0 else e(c, i),
    }
    slow = {"slow": 0.9, "slower": 0.99, "swinging": -0.4, "antithetic": -0.7, "alternating": -0.98}
    if kind in slow:
        return np.array([ar(c, n, slow[kind], seed) for c in range(chains)])
    return np.array([[each[kind](c, i) for i in range(n)] for c in range(chains)])

def likelihood(case, draws, points, seed, scale):
    """Log likelihoods of squares: sums and products only, equal everywhere."""
    out = []
    for s in range(draws):
        mu, extra = 0.3 * normal(seed, s), normal(seed + 1, s)
        row = []
        for i in range(points):
            y = 1.5 * normal(seed + 2, i)
            d = y - mu
            row.append(-0.9 - scale * (d * d + (0.1 * i * extra if case == "factor" else 0.0)))
        out.append(row)
    return np.array(out)

def loo(ll, reff):
    ll = ll.T
    d = xr.DataArray(ll[:, None, :], dims=["obs", "chain", "draw"]).transpose("chain", "draw", "obs")
    r = az.loo(az.from_dict(log_likelihood={"y": d.values}), reff=reff, pointwise=True)
    return r

def values(x):
    q = quantile(x.ravel(), [0.05, 0.5, 0.95])
    r = az.rhat(x, method="rank") if len(x) > 1 else math.nan
    return [x.mean(), x.std(ddof=1), *q, az.mcse(x), r, az.ess(x, method="bulk"), az.ess(x, method="tail")]

FIXED = [("normal", 4, 500, 1), ("slow", 4, 600, 2), ("stuck", 4, 300, 3), ("heavy", 4, 400, 4), ("antithetic", 4, 400, 5),
    ("alternating", 2, 300, 6), ("ties", 4, 250, 7), ("binary", 3, 200, 8), ("normal", 3, 251, 9), ("slow", 3, 333, 10),
    ("normal", 4, 8, 11), ("heavy", 2, 8, 12), ("normal", 2, 4, 13), ("normal", 2, 5, 14), ("normal", 1, 200, 15),
    ("wide", 4, 200, 16), ("offset", 4, 200, 17), ("trend", 2, 200, 18), ("slower", 2, 500, 19), ("onefrozen", 3, 100, 20), ("swinging", 4, 400, 21),
    ("wide", 3, 10, 43), ("trend", 4, 19, 35), ("wide", 4, 9, 7)]

LOO = [("plain", 400, 6, 101, 0.5, 1.0), ("plain", 400, 6, 101, 0.5, 0.4), ("plain", 300, 6, 101, 8.0, 1.0),
    ("factor", 500, 6, 201, 0.5, 0.9), ("factor", 57, 6, 301, 2.0, 1.0), ("plain", 12, 6, 101, 0.5, 1.0), ("factor", 400, 6, 401, 20.0, 1.0)]

def digits(x):
    return "f64::NAN" if math.isnan(x) else "f64::INFINITY" if math.isinf(x) else f"{x:.9e}"

def fixed():
    with open("../tests/draws/diagnostics/arviz.txt", "w") as f:
        f.write("[\n")
        for k, c, n, s in FIXED:
            f.write(f'    ("{k}", {c}, {n}, {s}, [{", ".join(digits(float(v)) for v in values(make(k, c, n, s)))}]),\n')
        f.write("]\n")
    with open("../tests/draws/diagnostics/loo.txt", "w") as f:
        f.write("[\n")
        for k, d, p, s, a, r in LOO:
            x = loo(likelihood(k, d, p, s, a), r)
            f.write(f'    (("{k}", {d}, {p}, {s}, {a:.1f}, {r:.1f}), [{", ".join(digits(float(v)) for v in (x.elpd_loo, x.se, x.p_loo))}],\n')
            f.write(f'        [{", ".join(digits(float(v)) for v in x.pareto_k.values)}],\n')
            f.write(f'        [{", ".join(digits(float(v)) for v in x.loo_i.values)}]),\n')
        f.write("]\n")
    # The second way to the difference: az.compare on the first and third.
    a, b = (az.from_dict(posterior={"m": np.zeros((1, 1))}, log_likelihood={"y": likelihood("plain", 400, 6, s, q)[None]}) for s, q in ((101, 0.5), (701, 0.4)))
    print(az.compare({"a": a, "b": b}, ic="loo")[["elpd_loo", "elpd_diff", "dse"]].map(digits).to_string())


fixed()

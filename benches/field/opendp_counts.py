"""OpenDP: noisy counts and means of a public number of rows, a row replaced (symmetric distance 2), then a conjugate update."""

import numpy as np
import opendp.prelude as dp
from scipy.stats import beta as Beta

from common import DELTA, EPSILONS, WORK, Recorder, load

dp.enable_features("contrib")


def total(n, lo, hi, epsilon, gaussian):
    """A measurement of the sum of n integers in [lo, hi] that meets the budget with the least noise."""
    space = dp.vector_domain(dp.atom_domain(bounds=(lo, hi)), size=n), dp.symmetric_distance()
    query = dp.t.make_sum(*space)
    if not gaussian:
        return dp.binary_search_chain(lambda s: query >> dp.m.then_laplace(s), d_in=2, d_out=epsilon, bounds=(1e-6, 1e9))
    fixed = lambda s: dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(query >> dp.m.then_gaussian(s)), delta=DELTA)
    return dp.binary_search_chain(fixed, d_in=2, d_out=(epsilon, DELTA), bounds=(0.05 * (hi - lo), 1e4 * (hi - lo)))


book = Recorder()
KINDS = (("OpenDP Laplace", "pure", False), ("OpenDP Gaussian", "dp", True))
for data in ("income", "income_small", "workday"):
    _, y = load(data)
    rows, n = [int(v) for v in y], len(y)
    exact = (1 + sum(rows)) / (2 + n)
    for epsilon in EPSILONS:
        for who, guarantee, gaussian in KINDS:
            measure = total(n, 0, 1, epsilon, gaussian)

            def run(repeat):
                s = min(max(measure(rows), 0), n)
                return {"error of the posterior mean": abs((1 + s) / (2 + n) - exact)}

            book.record("rate", data, epsilon, who, guarantee, "stated", run, 50)

# Intervals of 90 % from counts taken as exact, for rates drawn from the prior.
rates, successes = np.loadtxt(f"{WORK}/rates.csv"), np.loadtxt(f"{WORK}/successes.csv", dtype=int)
for epsilon in EPSILONS:
    for who, guarantee, gaussian in KINDS:
        measure = total(100, 0, 1, epsilon, gaussian)

        def run(repeat):
            s = min(max(measure([1] * int(successes[repeat]) + [0] * int(100 - successes[repeat])), 0), 100)
            lo, hi = Beta.ppf([0.05, 0.95], 1 + s, 101 - s)
            held = lo <= rates[repeat] <= hi
            return {"|coverage - 0.9| of 90 % intervals": float(held), "interval score": hi - lo + 20 * max(lo - rates[repeat], rates[repeat] - hi, 0)}

        book.record("rate", "simulated_100", epsilon, who, guarantee, "stated", run, 300)

# A normal mean of known spread 15, prior normal(40, 20), with the noisy mean taken as exact.
for n in (100, 1000):
    _, ages = load(f"age_{n}")
    rows = [int(v) for v in ages]
    precision = 1 / 400 + n / 225
    exact = (40 / 400 + sum(rows) / 225) / precision
    for epsilon in EPSILONS:
        for who, guarantee, gaussian in KINDS:
            measure = total(n, 16, 90, epsilon, gaussian)

            def run(repeat):
                return {"error of the posterior mean": abs((40 / 400 + measure(rows) / 225) / precision - exact)}

            book.record("mean", f"age_{n}", epsilon, who, guarantee, "stated", run, 50)

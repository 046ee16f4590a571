"""The papers' baselines on the same files: output perturbation and noisy gradients for logistic regression."""

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import norm

from common import DELTA, EPSILONS, Recorder, classified, load


def loss(w, x, s, precision):
    t = s * (x @ w)
    slope = -s / (1 + np.exp(t))
    return np.logaddexp(0, -t).sum() + precision * w @ w / 2, x.T @ slope + precision * w


def mode(x, s, precision):
    return minimize(loss, np.zeros(x.shape[1]), (x, s, precision), jac=True, method="L-BFGS-B").x


def gaussian_mu(epsilon):
    """The largest mu with (epsilon, DELTA)."""
    delta = lambda mu: norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    return brentq(lambda mu: delta(mu) - DELTA, 1e-6, 50)


book = Recorder()
for data in ("abalone", "breast", "adult"):
    (x, y), (tx, ty) = load(data + "_train"), load(data + "_test")
    s, (n, d) = 2 * y - 1, x.shape
    for precision in (1 / 9, n / 1000):
        centre = mode(x, s, precision)
        for epsilon in EPSILONS:

            def output(repeat):
                rng = np.random.default_rng(repeat)
                z = rng.normal(size=d)
                length = rng.gamma(d, 2 / (precision * epsilon))
                return classified(centre + length * z / np.linalg.norm(z), tx, ty)

            name = "prior" if precision < 1 else "0.001 n"
            book.record("logistic", data, epsilon, f"output perturbation ({name})", "pure", "stated", output)
    for epsilon in EPSILONS:
        mu = gaussian_mu(epsilon)

        def descent(repeat):
            """All rows in every batch: T Gaussian steps, exactly; 100 of them, clipped at 1, no tuning."""
            rng, w = np.random.default_rng(repeat), np.zeros(d)
            for _ in range(100):
                gradient = loss(w, x, s, 1 / 9)[1] + rng.normal(scale=2 * 10 / mu, size=d)
                w -= 8.0 / n * gradient
            return classified(w, tx, ty)

        book.record("logistic", data, epsilon, "noisy gradients", "dp", "stated", descent)

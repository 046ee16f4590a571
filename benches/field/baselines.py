"""The papers' baselines on the same files: for logistic regression output and objective perturbation and noisy gradients, AdaSSP for linear."""

import numpy as np
from dp_accounting import NeighboringRelation
from scipy.optimize import brentq, minimize
from scipy.stats import norm

from common import ADDED, CLASSIFIED, DELTA, LINEAR, OFTEN, WIDE, Recorder, classified, load, predicted


def loss(w, x, s, precision):
    t = s * (x @ w)
    slope = -s / (1 + np.exp(t))
    return np.logaddexp(0, -t).sum() + precision * w @ w / 2, x.T @ slope + precision * w


def mode(x, s, precision, tilt=0.0):
    """The minimum of the loss plus `tilt @ w`."""

    def tilted(w):
        value, slope = loss(w, x, s, precision)
        return value + np.sum(tilt * w), slope + tilt

    return minimize(tilted, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x


def gaussian_mu(epsilon):
    """The largest mu with (epsilon, DELTA)."""
    delta = lambda mu: norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    return brentq(lambda mu: delta(mu) - DELTA, 1e-6, 50)


def hockey_stick(epsilon, mu):
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def objective_noise(epsilon):
    """Precision and noise of objective perturbation (Redberg, Koskela, Wang 2023, Theorem 3.1); a quarter of epsilon to the determinant.

    A row's curvature is at most 1/4; the linear term moves by at most 2 where a row is replaced.
    """
    precision, left = 0.25 / (1 - np.exp(-epsilon / 8)), 0.75 * epsilon

    def excess(sigma):
        mu = 2 / sigma
        rest = left - mu * mu / 2
        delta = 2 * hockey_stick(left, mu) if rest >= 0 else (1 - np.exp(rest)) + np.exp(rest) * 2 * hockey_stick(mu * mu / 2, mu)
        return np.log(delta) - np.log(DELTA)

    return precision, brentq(excess, 0.1, 1e5)


def sampled_noise(epsilon, rate, steps, relation):
    """The least noise of so many steps on Poisson samples, by the grid of dp-accounting."""
    from dp_accounting import PoissonSampledDpEvent, GaussianDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant
    from dp_accounting import calibrate_dp_mechanism

    fresh = lambda: PLDAccountant(relation)
    event = lambda sigma: SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(sigma)), steps)
    return calibrate_dp_mechanism(fresh, event, epsilon, DELTA)


# What everything here protects is a row that is replaced; of DP-SGD also what is usually stated, a row added or removed.
SAMPLED = {"DP-SGD": NeighboringRelation.REPLACE_ONE, ADDED: NeighboringRelation.ADD_OR_REMOVE_ONE}

book = Recorder()
for data in CLASSIFIED:
    (x, y), (tx, ty) = load(data + "_train"), load(data + "_test")
    s, (n, d) = 2 * y - 1, x.shape
    for precision in (1 / 9, n / 1000):
        centre = mode(x, s, precision)
        for epsilon in WIDE:

            def output(repeat):
                rng = np.random.default_rng(repeat)
                z = rng.normal(size=d)
                length = rng.gamma(d, 2 / (precision * epsilon))
                return classified(centre + length * z / np.linalg.norm(z), tx, ty)

            name = "prior" if precision == 1 / 9 else "0.001 n"
            book.record("logistic", data, epsilon, f"output perturbation ({name})", "pure", "stated", output, OFTEN)
    for epsilon in WIDE:
        mu = gaussian_mu(epsilon)

        def descent(repeat):
            """All rows in every batch: T Gaussian steps, exactly; 100 of them, clipped at 1, no tuning."""
            rng, w = np.random.default_rng(repeat), np.zeros(d)
            for _ in range(100):
                gradient = loss(w, x, s, 1 / 9)[1] + rng.normal(scale=2 * 10 / mu, size=d)
                w -= 8.0 / n * gradient
            return classified(w, tx, ty)

        book.record("logistic", data, epsilon, "noisy gradients", "dp", "stated", descent, OFTEN)
        least, sigma = objective_noise(epsilon)

        def objective(repeat):
            tilt = sigma * np.random.default_rng(repeat).normal(size=d)
            return classified(mode(x, s, max(least, 1 / 9), tilt), tx, ty)

        book.record("logistic", data, epsilon, "objective perturbation", "dp", "stated", objective, OFTEN)
        # Ten epochs of samples of about 256 rows, or a quarter of them; rate 4 / (1 + t / 100), clipped at 1, no tuning.
        rate = min(0.25, 256 / n)
        steps = round(10 / rate)
        for who, relation in SAMPLED.items():
            noise = sampled_noise(epsilon, rate, steps, relation)

            def sampled(repeat):
                rng, w = np.random.default_rng(repeat), np.zeros(d)
                for t in range(steps):
                    take = rng.random(n) < rate
                    gradient = loss(w, x[take], s[take], 0)[1] + noise * rng.normal(size=d) + rate * w / 9
                    w -= 4 / (1 + t / 100) / (rate * n) * gradient
                return classified(w, tx, ty)

            book.record("logistic", data, epsilon, who, "dp", "stated", sampled, OFTEN)

for data, (scale, _) in LINEAR.items():
    (x, y), (tx, ty) = load(data + "_train"), load(data + "_test")
    n, d = x.shape
    # Wang 2018, Algorithm 2, each of its three releases by the exact Gaussian curve of a third of the budget (mu / sqrt 3); a row
    # replaced moves x x' by at most sqrt(2) |x|^2 and x y by 2 |x| |y|.
    square = float(d)
    for epsilon in WIDE:
        each = gaussian_mu(epsilon) / 3**0.5

        def adassp(repeat):
            rng = np.random.default_rng(repeat)
            gram, right = x.T @ x, x.T @ y
            least = np.linalg.eigvalsh(gram)[0] + square / each * rng.normal()
            least = max(least - square / each * norm.isf(DELTA / 3) / 2, 0)
            spread = 2**0.5 * square / each
            ridge = max(0, spread * (d * np.log(2 * d * d / 0.05)) ** 0.5 - least)
            e = rng.normal(scale=spread, size=(d, d))
            e = np.triu(e) + np.triu(e, 1).T
            right = right + rng.normal(scale=2 * square**0.5 / each, size=d)
            return predicted(np.linalg.solve(gram + e + ridge * np.eye(d), right), tx, ty, scale)

        book.record("linear", data, epsilon, "AdaSSP", "dp", "stated", adassp, OFTEN)

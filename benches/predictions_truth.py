"""What predictions are held against: posteriors of the rows themselves, and distances of what was released from them.

A truth has `mean`, the posterior mean, and where it can be `distance(released)`, the Hellinger distance of a released posterior from the
exact one. Conjugate posteriors are exact; logistic ones are summed by importance sampling around their mode, and for distances taken
for the normal law of the same mean and covariance.
"""

import math

import numpy as np
from scipy import stats
from scipy.special import gammaln, logsumexp

POINTS = 1200
SAMPLES = 1500


def mixture(released):
    """Weights and parameters of a released law, one component or many; negligible components are left out."""
    if released["family"] != "mixture":
        return np.ones(1), [released["parameters"]], released["family"]
    weights = np.array(released["weights"])
    kept = weights > 1e-7 * weights.max()
    parameters = [c["parameters"] for c, k in zip(released["components"], kept) if k]
    return weights[kept] / weights[kept].sum(), parameters, released["components"][0]["family"]


def log_density(family, p, x):
    """Of all components (rows of p) at all points (entries of x)."""
    a, b = p[:, :1], p[:, 1:2]
    if family == "beta":
        constant = gammaln(a + b) - gammaln(a) - gammaln(b)
        return constant + (a - 1) * np.log(x)[None, :] + (b - 1) * np.log1p(-x)[None, :]
    if family == "gamma":
        return a * np.log(b) - gammaln(a) + (a - 1) * np.log(x)[None, :] - b * x[None, :]
    return -0.5 * ((x[None, :] - a) / b) ** 2 - np.log(b) - 0.5 * math.log(2 * math.pi)


class Line:
    """A posterior of one number: beta(a, b), gamma(shape, rate) or normal(mean, sd)."""

    def __init__(self, family, a, b):
        self.family, self.p = family, np.array([[a, b]], float)
        law = {"beta": lambda: stats.beta(a, b), "gamma": lambda: stats.gamma(a, scale=1 / b), "normal": lambda: stats.norm(a, b)}[family]()
        self.mean = np.array([law.mean()])
        # Where the exact law is negligible the overlap is too.
        self.x = law.ppf(np.linspace(1e-9, 1 - 1e-9, 3)[[0, 2]])
        edge = (self.x[1] - self.x[0]) / (POINTS * 2)
        self.x = np.linspace(self.x[0] + edge, self.x[1] - edge, POINTS)
        self.own = log_density(family, self.p, self.x)[0]

    def distance(self, released):
        weights, parameters, family = mixture(released)
        q = logsumexp(log_density(family, np.array(parameters, float), self.x) + np.log(weights)[:, None], axis=0)
        overlap = np.exp(0.5 * (self.own + q)).sum() * (self.x[1] - self.x[0])
        return math.sqrt(max(0.0, 1 - overlap))


class Shares:
    """A Dirichlet posterior."""

    def __init__(self, alpha):
        self.alpha = np.array(alpha, float)
        self.mean = self.alpha / self.alpha.sum()
        x = np.clip(np.random.default_rng(1).dirichlet(self.alpha, SAMPLES), 1e-300, None)
        self.logs, self.own = np.log(x / x.sum(1, keepdims=True)), None
        self.own = self.at(self.alpha[None, :])[0]

    def at(self, alpha):
        constant = gammaln(alpha.sum(1)) - gammaln(alpha).sum(1)
        return constant[:, None] + (alpha - 1) @ self.logs.T

    def distance(self, released):
        weights, parameters, _ = mixture(released)
        p = np.array(parameters, float)
        if len(p) == 1:
            a, b = self.alpha, p[0]
            norm = lambda v: gammaln(v).sum() - gammaln(v.sum())
            overlap = math.exp(norm(0.5 * (a + b)) - 0.5 * norm(a) - 0.5 * norm(b))
        else:
            q = logsumexp(self.at(p) + np.log(weights)[:, None], axis=0)
            overlap = np.exp(0.5 * (q - self.own)).mean()
        return math.sqrt(max(0.0, 1 - overlap))


class Normal:
    """A normal posterior of several numbers."""

    def __init__(self, mean, covariance):
        self.mean, self.cov = np.array(mean, float), np.array(covariance, float)
        self.x = np.random.default_rng(1).multivariate_normal(self.mean, self.cov, SAMPLES)
        self.own = stats.multivariate_normal(self.mean, self.cov).logpdf(self.x)

    def distance(self, released):
        weights, parameters, _ = mixture(released)
        if len(parameters) == 1:
            mean, cov = (np.array(v) for v in parameters[0])
            both, gap = 0.5 * (self.cov + cov), self.mean - mean
            det = lambda m: np.linalg.slogdet(m)[1]
            log = 0.25 * (det(self.cov) + det(cov)) - 0.5 * det(both) - 0.125 * gap @ np.linalg.solve(both, gap)
            return math.sqrt(max(0.0, 1 - math.exp(log)))
        rows = []
        for w, (mean, cov) in zip(weights, parameters):
            root = np.linalg.cholesky(np.array(cov))
            z = np.linalg.solve(root, (self.x - np.array(mean)).T)
            constant = math.log(w) - np.log(np.diag(root)).sum() - 0.5 * len(mean) * math.log(2 * math.pi)
            rows.append(constant - 0.5 * (z * z).sum(0))
        q = logsumexp(np.array(rows), axis=0)
        return math.sqrt(max(0.0, 1 - np.exp(0.5 * (q - self.own)).mean()))


class Point:
    """A posterior of which only the mean is needed."""

    def __init__(self, mean):
        self.mean = np.atleast_1d(np.array(mean, float))


def linear(x, y, sd, prior_sd):
    """Of weights with independent normal(0, prior_sd) priors."""
    precision = x.T @ x / sd**2 + np.eye(x.shape[1]) / prior_sd**2
    covariance = np.linalg.inv(precision)
    return Normal(covariance @ (x.T @ y) / sd**2, covariance)


def logistic(x, y, prior_sd, reach=None):
    """Of weights with independent normal(0, prior_sd) priors, cut to a ball where `reach` is given."""
    d, dice = x.shape[1], np.random.default_rng(1)
    w = np.zeros(d)
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(d) / prior_sd**2
        step = np.linalg.solve(hessian, x.T @ (y - p) - w / prior_sd**2)
        w = w + step
        if np.abs(step).max() < 1e-12:
            break
    count = 8000
    root, df = np.linalg.cholesky(np.linalg.inv(hessian)), 6
    stretch = np.sqrt(df / dice.chisquare(df, count))
    z = dice.standard_normal((count, d)) * stretch[:, None]
    draws = w + z @ root.T
    proposal = -0.5 * (df + d) * np.log1p((z * z).sum(1) / df)
    target = np.empty(count)
    for part in np.array_split(np.arange(count), 80):
        t = draws[part] @ x.T
        target[part] = t @ y - np.logaddexp(0, t).sum(1) - 0.5 * (draws[part] ** 2).sum(1) / prior_sd**2
    if reach is not None:
        target[(draws**2).sum(1) > reach**2] = -np.inf
    weight = np.exp(target - proposal - (target - proposal).max())
    weight /= weight.sum()
    mean = weight @ draws
    gap = draws - mean
    return Normal(mean, (gap * weight[:, None]).T @ gap)

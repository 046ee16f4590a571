"""Files, budgets and scores that all tools share; results are lines of one file, and a line that is there is not computed again."""

import csv
import os

import numpy as np

WORK = os.environ["FIELD_WORK"]
REPEATS = int(os.environ.get("REPEATS", "10"))
EPSILONS = [0.3, 1.0, 3.0, 10.0]
# Of regressions, which are run twenty times.
WIDE, OFTEN = [0.1, *EPSILONS], int(os.environ.get("REPEATS", "20"))
CLASSIFIED = ("abalone", "bank", "breast", "pima", "adult_5000", "adult")
# The outcome's unit, and the sd of rows that is stated beforehand, of an outcome in [-1, 1].
LINEAR = {"plant": (50.0, 0.1), "protein": (10.5, 0.5), "wine": (5.0, 0.2)}
DELTA = 1e-5
# DP-SGD whose guarantee is for a row added or removed, about half of the others'.
ADDED = "DP-SGD (row added or removed)"
RESULTS = os.path.join(WORK, "results.csv")
KEYS = ["task", "data", "measure", "epsilon", "who", "guarantee", "status", "repeat"]


def load(name):
    """Features (all columns but the last) and outcome (the last) of a generated file."""
    table = np.loadtxt(os.path.join(WORK, name + ".csv"), delimiter=",", skiprows=1, ndmin=2)
    return table[:, :-1], table[:, -1]


def known():
    if not os.path.exists(RESULTS):
        with open(RESULTS, "w") as f:
            f.write(",".join(KEYS + ["value"]) + "\n")
    with open(RESULTS) as f:
        return {tuple(line[k] for k in KEYS) for line in csv.DictReader(f)}


class Recorder:
    """Writes down what a tool reached, for each repeat that is not yet known."""

    def __init__(self):
        self.known = known()

    def record(self, task, data, epsilon, who, guarantee, status, compute, repeats=None):
        """`compute(repeat)` gives a dictionary of measures; `guarantee` is pure, dp or none, `status` what the guarantee assumes."""
        done = {k[-1] for k in self.known if k[:2] == (task, data) and k[3:7] == (str(epsilon), who, guarantee, status)}
        for repeat in range(repeats or REPEATS):
            if str(repeat) in done:
                continue
            with open(RESULTS, "a") as f:
                for measure, value in compute(repeat).items():
                    key = (task, data, measure, str(epsilon), who, guarantee, status, str(repeat))
                    f.write(",".join(key) + f",{value:.9g}\n")
        print(task, data, epsilon, who, flush=True)


def classified(w, x, y):
    """Log-loss, share of wrong signs, and 1 - area under the curve of hits against false alarms."""
    t = x @ w
    order = np.argsort(t, kind="stable")
    ranks = np.empty(len(t))
    values = t[order]
    start = np.r_[True, values[1:] != values[:-1]]
    group = np.cumsum(start) - 1
    first = np.flatnonzero(start)
    last = np.r_[first[1:], len(t)]
    ranks[order] = ((first + last - 1) / 2.0)[group] + 1
    ones = y > 0.5
    m, n = ones.sum(), (~ones).sum()
    auc = (ranks[ones].sum() - m * (m + 1) / 2) / (m * n)
    return {"log-loss": np.mean(np.logaddexp(0, np.where(ones, -t, t))), "test error": np.mean((t > 0) != ones), "1 - AUC": 1 - auc}


def predicted(w, x, y, scale):
    """Root mean square error of a linear prediction, in the units of the file's outcome times `scale`."""
    return {"test RMSE": scale * np.sqrt(np.mean((x @ w - y) ** 2))}


def bayes_error(n, mean, variance, x, y):
    """Test error of Gaussian naive Bayes with these counts, means and variances of the two classes."""
    log = np.log(np.maximum(n, 1e-9)) - 0.5 * np.sum(
        np.log(variance)[None] + (x[:, None, :] - mean[None]) ** 2 / variance[None], axis=2
    )
    return {"test error": np.mean((log[:, 1] > log[:, 0]) != (y > 0.5))}


def ridge(products, d, precision):
    """Weights from noisy moments: x x' by its upper half, then x y. Negative eigenvalues are raised to 0, then the ridge is added."""
    gram = np.zeros((d, d))
    upper = [(i, j) for i in range(d) for j in range(i, d)]
    for value, (i, j) in zip(products, upper):
        gram[i, j] = gram[j, i] = value
    values, vectors = np.linalg.eigh(gram)
    return vectors @ ((vectors.T @ np.asarray(products[len(upper) :])) / (np.maximum(values, 0) + precision))

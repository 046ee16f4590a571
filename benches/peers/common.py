"""Data, priors and the one way in which all are judged: least bulk effective sample size over coefficients, a second."""

import os
import warnings

warnings.filterwarnings("ignore")

import numpy as np

DATA = os.path.abspath(os.environ["PEERS_DATA"])
# Solved from epsilon 6.
BETA = 4 / 3


def load(name):
    z = np.load(f"{DATA}/{name}.npz")
    return np.ascontiguousarray(z["X"]), z["y"].astype(np.int64)


def gathered(X):
    """Rows that have as many entries each, all of one size: their columns, and the size."""
    columns = np.nonzero(X)[1].reshape(len(X), -1).astype(np.int32)
    return columns, float(X[0, columns[0, 0]])


def prior_sd(n, loss):
    return 3.0 if loss == "beta" else (1e-3 * n) ** -0.5


def report(who, data, loss, seed, w, warm_s, draw_s, steps, steps_warm):
    import arviz

    ess = min(float(arviz.ess(w[None, :, j], method="bulk")) for j in range(w.shape[1]))
    print(
        f"{data:6} {loss:8} {who:44} seed {seed} {1e3 * draw_s / steps:8.3f} ms a step {ess / draw_s:9.3f} ESS/s"
        f" {ess / (draw_s + warm_s):9.3f} with warm-up   (least ESS {ess:.0f} of {len(w)} draws, {steps} steps,"
        f" {draw_s:.1f} s; warm-up {steps_warm} steps, {warm_s:.1f} s; |mean| {np.linalg.norm(w.mean(0)):.4f})",
        flush=True,
    )

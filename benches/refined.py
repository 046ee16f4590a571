#!/usr/bin/env python3
"""Logistic regression on the census data: log-loss on held-out rows of `gibbs` and `refined` at equal epsilon (delta 1e-5).

DPM_DATA holds the data sets (papers/README.md), DPM is the program (target/debug/dpm unless it is set), REPEATS how many runs of
each (3). Stopped and started again it goes on where it was: a line of benches/results/refined.csv that is there is not run again.
Writes refined.csv and refined.txt. Needs numpy.
"""

import csv
import gzip
import json
import os
import subprocess
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DPM = os.environ.get("DPM", os.path.join(HERE, "..", "target", "debug", "dpm"))
DATA, REPEATS = os.environ["DPM_DATA"], int(os.environ.get("REPEATS", "3"))
RESULTS, TEXT = (os.path.join(HERE, "results", "refined" + end) for end in (".csv", ".txt"))
EPSILONS = (0.1, 1.0)
# All rows, and the first 5,000.
SETS = {"adult": None, "adult 5,000": 5000}


def adult(name):
    """Five numbers scaled by public bounds to [-1, 1] and a constant, rows to norm 1, as in benches/field."""
    path = os.path.join(DATA, "adult", name)
    with (gzip.open(path, "rt") if name.endswith(".gz") else open(path)) as f:
        rows = [line.strip().split(",") for line in f][1:]
    x = np.array([[float(r[j]) for j in (0, 4, 10, 11, 12)] for r in rows])
    lo, hi = np.array([16, 1, 0, 0, 1.0]), np.array([90, 16, 99999, 5000, 99.0])
    x = np.column_stack([2 * (np.clip(x, lo, hi) - lo) / (hi - lo) - 1, np.ones(len(rows))])
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.array([r[14].startswith(">50K") for r in rows], float)


def loss(w, x, y):
    return float(np.mean(np.logaddexp(0, (1 - 2 * y) * (x @ w))))


def fitted(x, y, precision=1 / 9):
    """The posterior's mode without privacy, by Newton's method."""
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        w = w - np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + precision * np.eye(len(w)), x.T @ (p - y) + precision * w)
    return w


def released(x, y, using, epsilon):
    d = x.shape[1]
    program = (
        f"budget dp(eps = {epsilon}, delta = 1e-5)\nprivate rows[{len(y)}] {{ x: vector[{d}] in l2(1), y: bool }}\n"
        f"param w: vector[{d}] ~ normal(0, 3)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease w_hat = draw(w) using {using}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        source, file = os.path.join(folder, "m.dpm"), os.path.join(folder, "rows.csv")
        with open(source, "w") as f:
            f.write(program)
        header = ",".join([f"x_{j + 1}" for j in range(d)] + ["y"])
        np.savetxt(file, np.column_stack([x, y]), delimiter=",", header=header, comments="", fmt="%.9g")
        done = subprocess.run([DPM, "run", source, "--data", f"rows={file}", "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(program + done.stdout + done.stderr)
    return np.array([float(v) for v in json.loads(done.stdout)["releases"]["w_hat"]])


(x, y), (tx, ty) = adult("adult_train.csv.gz"), adult("adult_test.csv")
known = {}
if os.path.exists(RESULTS):
    with open(RESULTS) as f:
        known = {tuple(r[k] for k in ("data", "epsilon", "using", "repeat")): float(r["log_loss"]) for r in csv.DictReader(f)}
else:
    with open(RESULTS, "w") as f:
        f.write("data,epsilon,using,repeat,log_loss\n")
for repeat in range(REPEATS):
    for name, n in SETS.items():
        for epsilon in EPSILONS:
            for using in ("gibbs", "refined"):
                key = (name.replace(",", ""), str(epsilon), using, str(repeat))
                if key not in known:
                    known[key] = loss(released(x[:n], y[:n], using, epsilon), tx, ty)
                    with open(RESULTS, "a") as f:
                        f.write(",".join(key) + f",{known[key]:.6f}\n")
                    print(*key, round(known[key], 4), flush=True)
with open(TEXT, "w") as f:
    f.write("Log-loss on 16,281 held-out rows of the census, six features of norm 1, prior sd 3, delta 1e-5: mean of the runs, (their number)\n\n")
    f.write(f"{'':14}{'eps':>5}{'gibbs':>14}{'refined':>14}{'no privacy':>12}\n")
    for name, n in SETS.items():
        best = loss(fitted(x[:n], y[:n]), tx, ty)
        for epsilon in EPSILONS:
            runs = lambda using: [v for k, v in known.items() if k[:3] == (name.replace(",", ""), str(epsilon), using)]
            shown = "".join(f"{np.mean(runs(u)):>9.4f} ({len(runs(u)):>2})" for u in ("gibbs", "refined"))
            f.write(f"{name:14}{epsilon:>5}{shown}{best:>12.4f}\n")

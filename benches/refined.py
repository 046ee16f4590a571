#!/usr/bin/env python3
"""Logistic regression: log-loss on held-out rows of `gibbs` and `refined` at equal epsilon (delta 1e-6), and which of them `auto` takes.

DPM_DATA holds the data sets (papers/README.md), DPM is the program (target/release/dpm unless it is set), REPEATS how many runs of each
(20), one draw a run. Every third row of a table is held out; of the census its own test file. Stopped and started again it goes on where it
was: a line of benches/results/refined.csv that is there is not run again. Writes refined.csv and refined.txt. Needs numpy and scipy.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DPM = os.environ.get("DPM", os.path.join(HERE, "..", "target", "release", "dpm"))
DATA, REPEATS = os.environ["DPM_DATA"], int(os.environ.get("REPEATS", "20"))
RESULTS, TEXT = (os.path.join(HERE, "results", "refined" + end) for end in (".csv", ".txt"))
EPSILONS, SPREADS, BOTH = (0.1, 0.3, 1, 3, 10), (1, 3), ("gibbs", "refined")
# Log-losses that a simulation of the method had at delta 1e-5 under a prior of sd 3, with coordinates that may be wider than the prior; dpm's are
# not, so a wider prior is tried beside it.
FIGURES = {("adult", 0.1): 0.4307, ("adult", 1): 0.4142, ("adult 5,000", 1): 0.4242}
FIELDS = ["data", "sd", "epsilon", "using", "predicted", "log_loss", "error", "runs"]


def census(name):
    """Five numbers scaled by public bounds to [-1, 1] and a constant, rows to norm 1, as in benches/field."""
    path = os.path.join(DATA, "adult", name)
    with (gzip.open(path, "rt") if name.endswith(".gz") else open(path)) as f:
        rows = [line.strip().split(",") for line in f][1:]
    x = np.array([[float(r[j]) for j in (0, 4, 10, 11, 12)] for r in rows])
    lo, hi = np.array([16, 1, 0, 0, 1.0]), np.array([90, 16, 99999, 5000, 99.0])
    x = np.column_stack([2 * (np.clip(x, lo, hi) - lo) / (hi - lo) - 1, np.ones(len(rows))])
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.array([r[14].startswith(">50K") for r in rows], float)


def tables():
    """Features, outcomes and held-out ones by name: the logistic tables of predictions_pairs.py, and the census."""
    from predictions_pairs import pairs

    found = {}
    for one in pairs(DATA):
        pair = one["pair"]
        if "logistic" in pair.model and pair.data not in found:
            rows = np.array(pair.rows, float)
            held = np.arange(len(rows)) % 3 == 2
            found[pair.data] = (rows[~held, :-1], rows[~held, -1], rows[held, :-1], rows[held, -1])
    (x, y), (tx, ty) = census("adult_train.csv.gz"), census("adult_test.csv")
    return found | {"adult 5,000": (x[:5000], y[:5000], tx, ty), "adult": (x, y, tx, ty)}


def loss(w, x, y):
    return float(np.mean(np.logaddexp(0, (1 - 2 * y) * (x @ w))))


def fitted(x, y, sd):
    """The posterior's mode without privacy, by Newton's method."""
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        w = w - np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.eye(len(w)) / sd**2, x.T @ (p - y) + w / sd**2)
    return w


def dpm(*args):
    done = subprocess.run([DPM, *args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def released(x, y, sd, using, epsilon, delta=1e-6):
    """The predicted error, and independent draws at that budget, each of a release of its own."""
    d = x.shape[1]
    model = (
        f"private rows[{len(y)}] {{ x: vector[{d}] in l2(1), y: bool }}\n"
        f"param w: vector[{d}] ~ normal(0, {sd})\nobserve y ~ bernoulli_logit(dot(w, x))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        source, file = os.path.join(folder, "m.dpm"), os.path.join(folder, "rows.csv")
        with open(source, "w") as f:
            f.write(f"budget dp(eps = {epsilon}, delta = {delta})\n{model}release r = draw(w) using {using}\n")
        header = ",".join([f"x_{j + 1}" for j in range(d)] + ["y"])
        np.savetxt(file, np.column_stack([x, y]), delimiter=",", header=header, comments="", fmt="%.9g")
        predicted = json.loads(dpm("certify", source, "--json"))["releases"][0]["predicted_error"]["value"]
        line = next(l for l in dpm("lock", source, "--print").splitlines() if l.startswith("release r"))
        with open(source, "w") as f:
            f.write(model + "".join(line.replace("release r", f"release r{i}") + "\n" for i in range(REPEATS)))
        drawn = json.loads(dpm("run", source, "--data", f"rows={file}", "--json", "--anyway"))["releases"]
    return predicted, [np.array([float(v) for v in w]) for w in drawn.values()]


def finished():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as f:
        return {tuple(row[k] for k in FIELDS[:4]): row for row in csv.DictReader(f)}


def study():
    known = finished()
    for name, (x, y, tx, ty) in tables().items():
        places = [(s, e, u, 1e-6) for s in SPREADS for e in EPSILONS for u in BOTH]
        places += [(s, e, "refined", 1e-5) for s in (3, 5) for n, e in FIGURES if n == name]
        for sd, epsilon, using, delta in places:
            key = (name, str(sd), str(epsilon), using + (" at 1e-5" if delta == 1e-5 else ""))
            if key not in known:
                predicted, draws = released(x, y, sd, using, epsilon, delta)
                losses = [loss(w, tx, ty) for w in draws]
                error = np.std(losses, ddof=1) / np.sqrt(len(losses))
                known[key] = dict(zip(FIELDS, (*key, f"{predicted:.4g}", f"{np.mean(losses):.5f}", f"{error:.5f}", len(losses))))
                print(*known[key].values(), flush=True)
                with open(RESULTS, "w", newline="") as f:
                    writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(known.values())


def summary():
    known, sets = finished(), tables()
    lines = [f"Log-loss on held-out rows, mean of {REPEATS} draws, delta 1e-6, by benches/refined.py; + marks the one of which `auto` predicts the smaller error", ""]
    lines.append(f"{'':18}{'sd':>3}{'eps':>6}{'gibbs':>18}{'refined':>18}{'no privacy':>12}")
    right = wrong = 0
    for name, sd, epsilon in ((n, s, e) for n in sets for s in SPREADS for e in EPSILONS):
        pair = [known.get((name, str(sd), str(epsilon), using)) for using in BOTH]
        if None in pair:
            continue
        error, value, se = ([float(p[k]) for p in pair] for k in ("predicted", "log_loss", "error"))
        taken = int(error[1] < error[0])
        gap, noise = value[taken] - value[1 - taken], 2 * np.hypot(*se)
        right, wrong = right + (gap < -noise), wrong + (gap > noise)
        cells = [f"{'+' if i == taken else ' '}{value[i]:.4f} ({se[i]:.4f})" for i in (0, 1)]
        mark = "  behind" if gap > noise else ""
        x, y, tx, ty = sets[name]
        lines.append(f"{name:18}{sd:>3}{epsilon:>6}{cells[0]:>18}{cells[1]:>18}{loss(fitted(x, y, sd), tx, ty):>12.4f}{mark}")
    lines += ["", f"What `auto` takes is ahead of the other by more than two standard errors of the difference in {right} places, behind in {wrong}."]
    lines += ["", "Beside a simulation at delta 1e-5 and sd 3, whose draws may spread further than the prior allows:"]
    for (name, epsilon), figure in FIGURES.items():
        found = [(sd, known.get((name, str(sd), str(epsilon), "refined at 1e-5"))) for sd in (3, 5)]
        cells = [f"sd {sd}: {float(p['log_loss']):.4f} ({float(p['error']):.4f})" for sd, p in found if p]
        lines.append(f"{name:18} eps {epsilon:>4}  {figure:.4f}   refined {'   '.join(cells)}")
    text = "\n".join(lines) + "\n"
    with open(TEXT, "w") as f:
        f.write(text)
    print(text)


sys.path.insert(0, HERE)
if __name__ == "__main__":
    study()
    summary()

"""90 % intervals of `posterior(w) using refined` on real tables beside a bootstrap: rows are drawn with replacement from a table, so that the fit to the whole
table is the truth; benches/results/intervals.txt says how often intervals hold it, of dpm, of the same model without privacy, and how wide they are.

Uses the files of data.py; FIELD_WORK, DPM and REPEATS (20 resamples) as in run.sh. Its places are kept in FIELD_WORK/intervals.csv.
"""

import csv
import os

import numpy as np
from scipy.optimize import minimize

from command import budget, numbers, run
from common import LINEAR, WIDE, WORK, load

# Tables, and the sd of the prior.
LOGISTIC = ("abalone", "bank", "breast", "pima", "adult_5000")
PLACES = [(data, prior) for data in LOGISTIC for prior in (3, 10)] + [(data, 1) for data in LINEAR]
RESAMPLES = int(os.environ.get("REPEATS", "20"))
KEPT, TEXT = os.path.join(WORK, "intervals.csv"), "benches/results/intervals.txt"


def fit(x, y, precision, sd):
    """Mode and sds of the weights' posterior without privacy: exact for linear rows, else by the curvature at the mode."""
    if sd:
        h = x.T @ x / sd**2 + precision * np.eye(x.shape[1])
        return np.linalg.solve(h, x.T @ y / sd**2), np.sqrt(np.diag(np.linalg.inv(h)))
    s = 2 * y - 1

    def loss(w):
        t = s * (x @ w)
        return np.logaddexp(0, -t).sum() + precision * w @ w / 2, precision * w - x.T @ (s / (1 + np.exp(t)))

    w = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-8}).x
    p = 1 / (1 + np.exp(-x @ w))
    h = (x * (p * (1 - p))[:, None]).T @ x + precision * np.eye(len(w))
    return w, np.sqrt(np.diag(np.linalg.inv(h)))


def program(n, d, sd, prior, epsilon):
    norm, outcome = (d**0.5, "real in [-1, 1]") if sd else (1, "bool")
    rows = f"normal(dot(w, x), {sd})" if sd else "bernoulli_logit(dot(w, x))"
    return (
        f"{budget('dp', epsilon)}private rows[{n}] {{ x: vector[{d}] in l2({norm}), y: {outcome} }}\nparam w: vector[{d}] ~ normal(0, {prior})\n"
        f"observe y ~ {rows}\nrelease post = posterior(w) using refined\n" + "".join(f"output i{j} = interval(post[{j + 1}], 0.9)\n" for j in range(d))
    )


def place(data, prior):
    """A line an epsilon: shares of intervals that hold the truth, dpm's and without privacy, and widths over that of the bootstrap."""
    x, y = load(data + "_train")
    (n, d), sd = x.shape, LINEAR[data][1] if data in LINEAR else None
    precision = 1 / prior**2
    truth = fit(x, y, precision, sd)[0]
    rng = np.random.default_rng(7)
    picked = [rng.integers(n, size=n) for _ in range(RESAMPLES)]
    fits = [fit(x[rows], y[rows], precision, sd) for rows in picked]
    centres = np.array([w for w, _ in fits])
    bootstrap = 2 * 1.645 * centres.std(axis=0, ddof=1)
    plain = np.mean([np.abs(w - truth) <= 1.645 * s for w, s in fits])
    file = os.path.join(WORK, "resample.csv")
    for epsilon in WIDE:
        held, wide = [], []
        for rows in picked:
            np.savetxt(file, np.column_stack([x[rows], y[rows]]), delimiter=",", comments="", header=",".join([f"x_{j + 1}" for j in range(d)] + ["y"]))
            found = run(program(n, d, sd, prior, epsilon), file)
            low, high = np.array([numbers(found[f"i{j}"]) for j in range(d)]).T
            held.append((low <= truth) & (truth <= high))
            wide.append((high - low) / bootstrap)
        yield data, prior, n, d, np.max(np.abs(truth)), epsilon, np.mean(held), plain, np.median(wide)


def main():
    known = []
    if os.path.exists(KEPT):
        with open(KEPT) as f:
            known = list(csv.reader(f))
    for data, prior in PLACES:
        if [data, str(prior)] in [k[:2] for k in known]:
            continue
        for line in place(data, prior):
            known.append([*map(str, line)])
            print(*line, flush=True)
        with open(KEPT, "w") as f:
            csv.writer(f).writerows(known)
    lines = [__doc__.split("\n\n")[0].replace("\n", " "), "", f"{RESAMPLES} resamples of each table; widths are medians over the weights, over that of the bootstrap (3.29 sds of the fits without privacy).", ""]
    lines.append(f"{'':12}{'rows':>6}{'weights':>9}{'prior sd':>10}{'largest':>9}{'eps':>6}{'dpm holds':>11}{'without privacy':>17}{'width':>8}")
    for data, prior, n, d, largest, epsilon, held, plain, wide in known:
        lines.append(f"{data:12}{n:>6}{d:>9}{prior:>10}{float(largest):>9.3g}{epsilon:>6}{float(held):>11.3f}{float(plain):>17.3f}{float(wide):>8.2f}")
    for what, some in (("all", known), ("those whose largest weight is within two sds of the prior", [k for k in known if float(k[4]) <= 2 * float(k[1])])):
        good, low = sum(0.85 <= float(k[6]) for k in some), [f"{k[0]} {k[1]} eps {k[5]}" for k in some if float(k[6]) < 0.8]
        lines += ["", f"Of {what}: at least .85 in {good} of {len(some)} places, below .80 in {len(low)}: {', '.join(low) or 'none'}."]
    with open(TEXT, "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

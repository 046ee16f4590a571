#!/usr/bin/env python3
"""The programs that `dpm show --stan` prints, run in Stan, beside the same posteriors by dpm or by integration, on made-up rows.

A reference is dpm's where dpm has a road without noise that matters (a budget of 100,000, which protects nobody): whole
posteriors and models of released counts; for other models it is a sum over a fine grid. Means and standard
deviations agree if they differ by less than 4 Monte Carlo errors of both.

DPM is the program (target/debug/dpm unless it is set). Stopped and started again it goes on where it was: a model in
benches/results/stan.csv is not run again. Writes stan.csv and stan.txt. Needs numpy and pystan 3, which compiles each model.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DPM = os.environ.get("DPM", os.path.join(HERE, "..", "target", "debug", "dpm"))
RESULTS, TEXT = (os.path.join(HERE, "results", "stan" + end) for end in (".csv", ".txt"))
FIELDS = ["model", "number", "road", "mean", "mean_error", "sd", "sd_error", "stan_mean", "stan_mean_error", "stan_sd", "stan_sd_error", "rhat"]
N = 200
TABLE = (
    f"budget eps(100000)\nprivate t[{N}] {{ x: vector[2] in linf(1), y: bool, k: int in 0..4, o: int in 2..5, g: public category {{a, b, c}} }}\n"
)
RNG = np.random.default_rng(20)
X = np.round(RNG.uniform(-1, 1, (N, 2)), 3)
ROWS = {
    "x": X,
    "y": (RNG.uniform(size=N) < 1 / (1 + np.exp(-X @ [3, 2] - 0.2))).astype(int),
    "k": RNG.binomial(4, np.where(RNG.uniform(size=N) < 0.4, 0.2, 0.7)),
    "o": 2 + RNG.choice(4, N, p=[0.4, 0.35, 0.15, 0.1]),
    "g": 1 + RNG.choice(3, N),
}


def logistic(predictor):
    return np.sum(np.where(ROWS["y"] == 1, -np.logaddexp(0, -predictor), -np.logaddexp(0, predictor)), axis=-1)


def weighted(points, logs):
    """Mean and sd of every column of points with these log weights."""
    share = np.exp(logs - logs.max())
    share /= share.sum()
    mean = share @ points
    return [(m, 0.0, s, 0.0) for m, s in zip(mean, np.sqrt(share @ (points - mean) ** 2))]


def diamond():
    """Weights with |w1| + |w2| <= 1, standard normal before."""
    side = (np.arange(1600) + 0.5) / 800 - 1
    w = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    w = w[np.abs(w).sum(axis=1) <= 1]
    logs = np.concatenate([logistic(part @ X.T) for part in np.array_split(w, 200)])
    return weighted(w, logs - (w**2).sum(axis=1) / 2)


def cut():
    """Weights in [-1, 2], normal(0, 0.1 + s) before, which is divided by what it has there; s half normal(1)."""
    side = (np.arange(150) + 0.5) / 50 - 1
    w = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    fit = np.concatenate([logistic(part @ X.T) for part in np.array_split(w, 50)])
    s = (np.arange(300) + 0.5) / 60
    sd = 0.1 + s
    fine = (np.arange(3000) + 0.5) / 1000 - 1
    within = np.log(np.exp(-(fine[:, None] ** 2) / (2 * sd**2)).sum(axis=0) / 1000)
    logs = fit[:, None] - (w**2).sum(axis=1)[:, None] / (2 * sd**2) - 2 * within - s**2 / 2
    points = np.column_stack([np.repeat(s, len(w)), np.tile(w, (len(s), 1))])
    return weighted(points, logs.T.ravel())


# Of each the program that is printed, the numbers compared, and the reference.
MODELS = {
    "ball": (
        "param w: vector[2] in l2(0.3) ~ normal(0, 1)\nobserve y ~ bernoulli_logit(w[1] + w[2] * k)\nrelease d = draw(w)\n",
        ["w[1]", "w[2]"],
        "k, y",
    ),
    "l1 ball": (
        "param w: vector[2] in l1(1) ~ normal(0, 1)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease d = draw(w)\n",
        ["w[1]", "w[2]"],
        diamond,
    ),
    "cut prior": (
        "param s ~ half_normal(1)\nparam w: vector[2] in [-1, 2] ~ normal(0, 0.1 + s)\nobserve y ~ bernoulli_logit(dot(w, x))\n"
        "release d = draw(s, w)\n",
        ["s", "w[1]", "w[2]"],
        cut,
    ),
    "groups": (
        "each g of t {\n  param p ~ beta(2, 3)\n  observe y ~ bernoulli(p)\n  release d = posterior(p)\n}\n",
        ["p[1]", "p[2]", "p[3]"],
        "whole",
    ),
    "cut points": (
        "param c: ordered[3] in [-1, 1] ~ normal(0, 1)\nobserve o ~ ordered_logistic(0.5, c)\nrelease d = draw(c)\n",
        ["c[1]", "c[2]", "c[3]"],
        "o",
    ),
    "mixture": (
        "param w ~ beta(2, 2)\nparam p: ordered[2] ~ beta(1, 1)\n"
        "observe k ~ mixture([1 - w, w], binomial(4, p[1]), binomial(4, p[2]))\nrelease d = draw(w, p)\n",
        ["w", "p[1]", "p[2]"],
        "k",
    ),
}


def errors(chains):
    """Mean and sd of draws of shape (chains, draws), with errors from the means of 20 stretches of each chain."""
    mean, sd = chains.mean(), chains.std(ddof=1)
    stretches = lambda v: np.array([part.mean() for chain in v for part in np.array_split(chain, 20)])
    error = lambda v: stretches(v).std(ddof=1) / np.sqrt(20 * len(v))
    return mean, error(chains), sd, error((chains - mean) ** 2) / (2 * sd)


def dpm(program, *more):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "m.dpm"), "w") as f:
            f.write(TABLE + program)
        with open(os.path.join(folder, "t.csv"), "w") as f:
            out = csv.writer(f)
            out.writerow(["x_1", "x_2", "y", "k", "o", "g"])
            for (a, b), y, k, o, g in zip(*ROWS.values()):
                out.writerow([a, b, y, k, o, "abc"[g - 1]])
        done = subprocess.run([DPM, *more, "m.dpm"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stdout + done.stderr)
        return done.stdout


def run(program):
    return json.loads(dpm(program, "run", "--anyway", "--json", "--data", "t=t.csv"))


def reference(program, numbers, road):
    if callable(road):
        return "a grid", road()
    if road == "whole":
        out = run(program + "output m = mean(d)\noutput s = sd(d)\n")["outputs"]
        return "dpm: whole posteriors", [(m, 0.0, s, 0.0) for m, s in zip(out["m"].values(), out["s"].values())]
    model, _, release = program.partition("release")
    parameters = release.partition("(")[2].partition(")")[0]
    model = f"release cells = histogram({road})\n{model}output post = posterior({parameters})\n".replace("observe ", "observe cells.")
    post = run(model)["outputs"]["post"]["numbers"]
    found = [post[n] for n in numbers]
    return "dpm: model of counts", [(p["mean"], p["mcse"], p["sd"], p["sd"] / np.sqrt(2 * p["ess_tail"])) for p in found]


def in_stan(program, numbers):
    # This file has the name of the package.
    sys.path = [p for p in sys.path if os.path.abspath(p) != HERE]
    import stan

    text = dpm(program, "show", "--stan")
    read = [name for name in ROWS if f" t_{name};" in text]
    data = {"N_t": N, **{f"t_{name}": ROWS[name].tolist() for name in read}}
    fit = stan.build(text, data=data, random_seed=1).sample(num_chains=4, num_samples=5000)
    found = []
    for n in numbers:
        # Chains move fastest in the array of draws.
        draws = np.asarray(fit[n.partition("[")[0]])
        row = draws[int(n.partition("[")[2].rstrip("]") or 1) - 1]
        chains = row.reshape(5000, 4).T
        halves = chains.reshape(8, 2500)
        within = halves.var(axis=1, ddof=1).mean()
        rhat = np.sqrt(0.9996 + halves.mean(axis=1).var(ddof=1) / within)
        found.append((*errors(chains), rhat))
    return found


def table(rows):
    lines = [
        "The programs that `dpm show --stan` prints, run in Stan (pystan 3: four chains of 5,000 draws), beside the same posteriors by",
        f"dpm or by a sum over a grid, on {N} made-up rows (benches/stan.py). `apart`: the differences of means and of sds in Monte Carlo errors.",
        "",
        f"{'model':<11}{'number':<8}{'reference':<23}{'mean':>9}{'in Stan':>9}{'apart':>7}{'sd':>9}{'in Stan':>9}{'apart':>7}{'R-hat':>8}",
    ]
    worst = 0.0
    for r in rows:
        x = {k: float(v) for k, v in r.items() if k not in FIELDS[:3]}
        apart = [
            abs(x[k] - x["stan_" + k]) / np.hypot(x[k + "_error"], x["stan_" + k + "_error"]) for k in ("mean", "sd")
        ]
        worst = max(worst, *apart)
        lines.append(
            f"{r['model']:<11}{r['number']:<8}{r['road']:<23}{x['mean']:>9.4f}{x['stan_mean']:>9.4f}{apart[0]:>7.1f}"
            f"{x['sd']:>9.4f}{x['stan_sd']:>9.4f}{apart[1]:>7.1f}{x['rhat']:>8.3f}"
        )
    models = len({r["model"] for r in rows})
    verdict = "all agree" if worst < 4 else "THEY DO NOT AGREE"
    return "\n".join([*lines, "", f"{models} of {len(MODELS)} models; at most {worst:.1f} Monte Carlo errors apart: {verdict}.", ""])


def main():
    rows = list(csv.DictReader(open(RESULTS))) if os.path.exists(RESULTS) else []
    for name, (program, numbers, road) in MODELS.items():
        if any(r["model"] == name for r in rows):
            continue
        how, ours = reference(program, numbers, road)
        theirs = in_stan(program, numbers)
        for n, a, b in zip(numbers, ours, theirs):
            rows.append(dict(zip(FIELDS, [name, n, how, *(f"{v:.6g}" for v in (*a, *b))])))
        rows.sort(key=lambda r: list(MODELS).index(r["model"]))
        with open(RESULTS, "w", newline="") as f:
            out = csv.DictWriter(f, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
        with open(TEXT, "w") as f:
            f.write(table(rows))
    print(open(TEXT).read(), end="")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Linear regression: error on held-out rows of the mean of `posterior(w)` by `noise_aware` and by `refined` at equal epsilon (delta 1e-5), and what
their predicted errors say.

DPM_DATA holds the data sets (papers/README.md), DPM is the program, REPEATS how many runs of each (10; 6 in the committed run). Every third row is held out; columns are
scaled to [-1, 1] by their ends, the outcome too, and a constant is added; the prior is normal(0, 1), the sd of rows .2. Writes
benches/results/linear.txt. Needs numpy.
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
DPM, DATA = os.environ.get("DPM", os.path.join(HERE, "..", "target", "release", "dpm")), os.environ["DPM_DATA"]
REPEATS = int(os.environ.get("REPEATS", "10"))
TEXT = os.path.join(HERE, "results", "linear.txt")
TABLES = {
    "yacht": "yacht/yacht.csv", "boston": "boston/boston.csv", "energy": "energy/energy.csv", "concrete": "concrete/concrete.csv",
    "wine": "wine_quality/wine_white.csv", "kin8nm": "kin8nm/kin8nm.csv", "plant": "power_plant/power_plant.csv", "protein": "protein/protein.csv.gz",
}
EPSILONS, BOTH, SD = (0.1, 0.3, 1, 3, 10), ("noise_aware", "refined"), 0.2


def table(name):
    path = os.path.join(DATA, TABLES[name])
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        rows = np.array([[float(x) for x in line] for line in csv.reader(f) if line[0][:1] in "-0123456789."])
    lo, hi = rows.min(axis=0), rows.max(axis=0)
    rows = 2 * (rows - lo) / np.where(hi > lo, hi - lo, 1) - 1
    held = np.arange(len(rows)) % 3 == 2
    x = np.column_stack([rows[:, :-1], np.ones(len(rows))])
    return x[~held], rows[~held, -1], x[held], rows[held, -1]


def program(n, d, epsilon, using):
    return (
        f"budget dp(eps = {epsilon}, delta = 1e-5)\nprivate t[{n}] {{ x: vector[{d}] in l2({d**0.5}), y: real in [-1, 1] }}\n"
        f"param w: vector[{d}] ~ normal(0, 1)\nobserve y ~ normal(dot(w, x), {SD})\nrelease post = posterior(w) using {using}\noutput centre = mean(post)\n"
    )


def asked(folder, text, *arguments):
    path = os.path.join(folder, "p.dpm")
    with open(path, "w") as f:
        f.write(text)
    run = subprocess.run([DPM, *arguments[:1], path, *arguments[1:]], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout


def predicted(folder, n, d, epsilon):
    lines = asked(folder, program(n, d, epsilon, "?").replace("output centre = mean(post)\n", ""), "check").splitlines()
    return {line.split()[0]: float(line.split("error about")[1].split()[0]) for line in lines if line.split()[:1] and line.split()[0] in BOTH}


def main():
    lines = [__doc__.split("\n\n")[0].replace("\n", " "), ""]
    lines.append(f"{'':24}{'rows':>6} {'eps':>5}  {'noise_aware':>18} {'refined':>18}   predicted errors      without privacy; the mean alone")
    ahead, behind = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES:
            x, y, tx, ty = table(name)
            n, d = x.shape
            data = os.path.join(folder, name + ".csv")
            np.savetxt(data, np.column_stack([x, y]), delimiter=",", header=",".join([f"x_{j + 1}" for j in range(d)] + ["y"]), comments="")
            rmse = lambda w: float(np.sqrt(np.mean((ty - tx @ w) ** 2)))
            fit = np.linalg.solve(x.T @ x / SD**2 + np.eye(d), x.T @ y / SD**2)
            without, alone = rmse(fit), float(np.sqrt(np.mean((ty - y.mean()) ** 2)))
            for epsilon in EPSILONS:
                said, found = predicted(folder, n, d, epsilon), {}
                for using in BOTH:
                    text = program(n, d, epsilon, using)
                    runs = [json.loads(asked(folder, text, "run", f"--data=t={data}", "--json", "--anyway")) for _ in range(REPEATS)]
                    all = np.array([rmse(np.array(r["outputs"]["centre"], float)) for r in runs])
                    found[using] = (all.mean(), all.std(ddof=1) / REPEATS**0.5)
                (a, sa), (b, sb) = found["noise_aware"], found["refined"]
                apart = 2 * (sa**2 + sb**2) ** 0.5
                ahead, behind = ahead + (b < a - apart), behind + (b > a + apart)
                lines.append(f"{name:24}{n:6} {epsilon:5}  {a:9.4f} +- {sa:.4f} {b:9.4f} +- {sb:.4f}   {said['noise_aware']:8.3g} {said['refined']:8.3g}     {without:.4f}; {alone:.4f}")
                print(lines[-1], flush=True)
    lines += ["", f"`refined` is ahead by more than two standard errors of the difference in {ahead} of {len(TABLES) * len(EPSILONS)} places, behind in {behind}."]
    lines += ["Rows of protein lie .49 from the line, not the .2 that the model says: `refined` cuts what lies beyond three sd, and misses the line by that."]
    with open(TEXT, "w") as f:
        f.write("\n".join(lines) + "\n")
    print(lines[-1])


main()

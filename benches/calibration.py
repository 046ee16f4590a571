"""Are posteriors of released counts calibrated? Parameters from the prior, rows from the model, a noisy table, a chain: where the truth lies.

calibration.py DPM [SETS] appends to benches/results/calibration.csv until every model and epsilon has so many data sets (200 without a number), and
writes benches/results/calibration.txt: how often 90 % intervals cover the truth, and a chi-square test of its ranks in ten bins. It goes on where it was
stopped. One chain of 1,000 draws would do; the program runs its four.
"""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from math import exp, lgamma, log

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS = os.path.join(HERE, "results", "calibration.csv")
OUT = os.path.join(HERE, "results", "calibration.txt")
EPSILONS = [0.1, 0.3, 1, 3]
logit = lambda t: 1 / (1 + exp(-t))


def poll(dice):
    """Four regions with partial pooling, 600 rows."""
    m, tau = dice.gauss(0, 1.5), abs(dice.gauss(0, 1))
    u = [dice.gauss(0, 1) for _ in range(4)]
    rows = []
    for region, size in enumerate([240, 160, 120, 80]):
        rows += [f"{'abcd'[region]},{int(dice.random() < logit(m + tau * u[region]))}" for _ in range(size)]
    text = """private t[n] { region: public category {a, b, c, d}, vote: bool }
release cells = histogram(region, vote) using gaussian
param m ~ normal(0, 1.5)
param tau ~ half_normal(1)
param u: vector[region] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(m + tau * u[region])
output post = posterior(m, tau, u)
"""
    return text, "region,vote", rows, {"post.m": m, "post.tau": tau, "post.u[a]": u[0]}


def logistic(dice):
    """A private condition of six values with uniform shares, 800 rows."""
    a, b = dice.gauss(0, 1), dice.gauss(0, 1)
    weights = [dice.expovariate(1) for _ in range(6)]
    dose = dice.choices(range(6), weights, k=800)
    rows = [f"{d},{int(dice.random() < logit(a + b * (d / 2.5 - 1)))}" for d in dose]
    text = """private t[n] { dose: int in 0..5, ill: bool }
release cells = histogram(dose, ill) using gaussian
param a ~ normal(0, 1)
param b ~ normal(0, 1)
observe cells.ill ~ bernoulli_logit(a + b * (dose / 2.5 - 1))
output post = posterior(a, b)
"""
    return text, "dose,ill", rows, {"post.a": a, "post.b": b}


MODELS = {"poll": poll, "logistic": logistic}


def one(job):
    dpm, model, eps, seed = job
    text, head, rows, truth = MODELS[model](random.Random(f"{model} {eps} {seed}"))
    text = f"budget dp(eps = {eps}, delta = 1e-6)\n" + text
    text += "".join(f"output rank_{i} = cdf({name}, {x!r})\n" for i, (name, x) in enumerate(truth.items()))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in [("p.dpm", text), ("t.csv", "\n".join([head, *rows]) + "\n")]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([dpm, "run", "p.dpm", "--data", "t=t.csv", "--json"], cwd=folder, capture_output=True, text=True, check=False)
    outputs = json.loads(done.stdout)["outputs"]
    poor = max(v["rhat"] for v in outputs["post"]["numbers"].values()) > 1.05
    return [[model, eps, seed, name, f"{outputs[f'rank_{i}']:.5f}", int(poor)] for i, name in enumerate(truth)]


def upper_tail(x, k):
    """Of the chi-square law with k degrees of freedom, by its series."""
    a, term, total = k / 2, 1 / (k / 2), 0.0
    for i in range(1, 2000):
        total += term
        term *= (x / 2) / (a + i)
    return max(0.0, 1 - total * exp(-x / 2 + a * log(x / 2) - lgamma(a))) if x > 0 else 1.0


def report():
    with open(POINTS, newline="", encoding="utf-8") as file:
        points = list(csv.reader(file))
    lines = ["where the truth lies in posteriors of released counts, parameters from the prior", "",
             f"{'model':10}{'eps':>5}  {'number':10}{'sets':>6}{'90 % cover':>12}{'rank test p':>13}{'R-hat > 1.05':>14}"]
    tests = 0
    for model in MODELS:
        for eps in EPSILONS:
            names = dict.fromkeys(p[3] for p in points if p[0] == model and float(p[1]) == eps)
            for name in names:
                mine = [p for p in points if p[0] == model and float(p[1]) == eps and p[3] == name]
                ranks = [float(p[4]) for p in mine]
                cover = sum(0.05 <= r <= 0.95 for r in ranks) / len(ranks)
                bins = [0] * 10
                for r in ranks:
                    bins[min(int(10 * r), 9)] += 1
                even = len(ranks) / 10
                p = upper_tail(sum((b - even) ** 2 / even for b in bins), 9)
                poor = sum(int(p[5]) for p in mine) / len(mine)
                tests += 1
                lines.append(f"{model:10}{eps:5}  {name:10}{len(mine):6}{cover:12.3f}{p:13.3f}{poor:14.3f}")
    lines += ["", f"{tests} tests: at 1 % after Bonferroni a p below {0.01 / max(tests, 1):.1e} counts"]
    with open(OUT, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))


def main():
    dpm, wanted = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    done = set()
    if os.path.exists(POINTS):
        with open(POINTS, newline="", encoding="utf-8") as file:
            done = {(p[0], float(p[1]), int(p[2])) for p in csv.reader(file)}
    jobs = [(dpm, m, e, s) for s in range(wanted) for m in MODELS for e in EPSILONS if (m, float(e), s) not in done]
    with ThreadPoolExecutor(2) as pool, open(POINTS, "a", newline="", encoding="utf-8") as file:
        for rows in pool.map(one, jobs):
            csv.writer(file).writerows(rows)
            file.flush()
    report()


main()

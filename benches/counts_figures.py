"""How near models of released counts and moments come to the truth: rms errors of a poll, a logistic model of binned numbers, and both moments of a normal law.

counts_figures.py DPM [SETS] [--studies poll,logistic,normal_bins,normal_moments] [--eps 1] appends to counts_figures.csv until every study and epsilon
has so many data sets (20), and writes counts_figures.txt; it goes on where it was stopped. A poll: 20 regions of 5 to 100 rows, log-odds normal(m, tau),
m normal(0, 1), tau 0.7 |normal|. Logistic: two correlated numbers in [-1, 1] in 8 bins each, 2,000 rows, three weights normal(0, 1.5), eps 1 alone. A normal
law: mean normal(50, 20), sd |normal(0, 20)|, 200 rows moved into [0, 100], by 20 bins and by moments. Delta is 1e-6.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import tempfile
from math import exp, sqrt

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")
logit = lambda t: 1 / (1 + exp(-t))
clip = lambda x, lo, hi: min(max(x, lo), hi)


def poll(dice):
    m, tau = dice.gauss(0, 1), 0.7 * abs(dice.gauss(0, 1))
    names = [f"r{i}" for i in range(20)]
    p = {r: logit(m + tau * dice.gauss(0, 1)) for r in names}
    rows = [f"{r},{int(dice.random() < p[r])}" for r in names for _ in range(dice.randint(5, 100))]
    text = f"private t[n] {{ region: public category {{{', '.join(names)}}}, vote: bool }}\nrelease cells = histogram(region, vote) using gaussian\n"
    text += "param m ~ normal(0, 1.5)\nparam tau ~ half_normal(1)\nparam u: vector[region] ~ normal(0, 1)\n"
    text += "observe cells.vote ~ bernoulli_logit(m + tau * u[region])\noutput post = posterior(m, tau, u)\n"
    return text, "region,vote", rows, {f"inv_logit(post.m + post.tau * post.u[{r}])": x for r, x in p.items()}


def logistic(dice):
    a, b, c = (dice.gauss(0, 1.5) for _ in range(3))
    rows = []
    for _ in range(2000):
        z = dice.gauss(0, 1)
        x, y = (clip(0.5 * (sqrt(0.48) * z + sqrt(0.52) * dice.gauss(0, 1)), -1, 1) for _ in range(2))
        rows.append(f"{x!r},{y!r},{int(dice.random() < logit(a + b * x + c * y))}")
    text = "private t[n] { x: real in [-1, 1], z: real in [-1, 1], y: bool }\n"
    text += "release cells = histogram(bin(x, width = 0.25), bin(z, width = 0.25), y) using gaussian\n"
    text += "param a ~ normal(0, 1.5)\nparam b ~ normal(0, 1.5)\nparam c ~ normal(0, 1.5)\n"
    text += "observe cells.y ~ bernoulli_logit(a + b * x + c * z)\noutput post = posterior(a, b, c)\n"
    return text, "x,z,y", rows, {"post.a": a, "post.b": b, "post.c": c}


def normal(dice, release, column):
    mu, sd = dice.gauss(50, 20), abs(dice.gauss(0, 20))
    rows = [repr(clip(dice.gauss(mu, sd), 0, 100)) for _ in range(200)]
    text = f"private t[n] {{ x: real in [0, 100] }}\nrelease m = {release}\nparam mu ~ normal(50, 20)\nparam sd ~ half_normal(20)\n"
    text += f"observe {column} ~ normal(mu, sd)\noutput post = posterior(mu, sd)\n"
    return text, "x", rows, {"post.mu": mu, "post.sd": sd}


STUDIES = {
    "poll": (poll, [0.1, 0.3, 1, 3]),
    "logistic": (logistic, [1]),
    "normal_bins": (lambda d: normal(d, "histogram(bin(x, width = 5)) using gaussian", "m.x"), [0.1, 0.3, 1, 3]),
    "normal_moments": (lambda d: normal(d, "moments(x)", "m.x"), [0.1, 0.3, 1, 3]),
}
# What the plan of these models foretold (rms; coverage where it gave no rms).
FORETOLD = {("poll", 0.1): 0.123, ("poll", 0.3): 0.092, ("poll", 1): 0.067, ("poll", 3): 0.056, ("logistic", 1): 0.24}


def one(dpm, study, eps, seed):
    text, head, rows, truth = STUDIES[study][0](random.Random(f"{study.split('_')[0]} {seed}"))
    text = f"budget dp(eps = {eps:g}, delta = 1e-6)\n" + text
    text += "".join(f"output mean_{i} = mean({e})\noutput rank_{i} = cdf({e}, {x!r})\n" for i, (e, x) in enumerate(truth.items()))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in [("p.dpm", text), ("t.csv", "\n".join([head, *rows]) + "\n")]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([dpm, "run", "p.dpm", "--data", "t.csv", "--json"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{study} at {eps}, data set {seed}: {done.stderr}")
    out = json.loads(done.stdout)["outputs"]
    return [[study, eps, seed, e, f"{out[f'mean_{i}'] - x:.6g}", f"{out[f'rank_{i}']:.5f}"] for i, (e, x) in enumerate(truth.items())]


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def report(points):
    lines = ["rms errors and coverage of 90 % intervals, over data sets from the prior", "",
             f"{'study':16}{'eps':>5}{'sets':>6}  {'number':10}{'rms':>9}{'of sets':>9}{'90 % cover':>12}{'foretold':>10}"]
    for study, (_, all_eps) in STUDIES.items():
        for eps in all_eps:
            mine = [p for p in points if p[0] == study and float(p[1]) == eps]
            kinds = {"poll": lambda e: "a region", "logistic": lambda e: "a weight"}.get(study, lambda e: e.split(".")[-1])
            for kind in dict.fromkeys(kinds(p[3]) for p in mine):
                own = [p for p in mine if kinds(p[3]) == kind]
                sets = {p[2] for p in own}
                # Of each data set the root of its mean square, then their mean: large errors of one set do not drown the others.
                each = [sqrt(sum(float(p[4]) ** 2 for p in own if p[2] == s) / sum(p[2] == s for p in own)) for s in sets]
                rms = sqrt(sum(float(p[4]) ** 2 for p in own) / len(own))
                cover = sum(0.05 <= float(p[5]) <= 0.95 for p in own) / len(own)
                told = FORETOLD.get((study, eps), "")
                lines.append(f"{study:16}{eps:5g}{len(sets):6}  {kind:10}{rms:9.4f}{sum(each) / len(each):9.4f}{cover:12.3f}{told:>10}")
    text = "\n".join(lines) + "\n\nof sets: the mean over data sets of the rms error in each, as in the figures foretold\n"
    with open(os.path.join(RESULTS, "counts_figures.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("dpm", type=os.path.abspath)
    asked.add_argument("sets", nargs="?", type=int, default=20)
    asked.add_argument("--studies", type=lambda t: t.split(","), default=list(STUDIES))
    asked.add_argument("--eps", type=lambda t: [float(x) for x in t.split(",")])
    asked = asked.parse_args()
    path = os.path.join(RESULTS, "counts_figures.csv")
    done = {(p[0], float(p[1]), int(p[2])) for p in read(path)}
    with open(path, "a", newline="", encoding="utf-8") as file:
        for seed in range(asked.sets):
            for study in asked.studies:
                for eps in asked.eps or STUDIES[study][1]:
                    if (study, float(eps), seed) not in done:
                        csv.writer(file).writerows(one(asked.dpm, study, eps, seed))
                        file.flush()
    report(read(path))


main()

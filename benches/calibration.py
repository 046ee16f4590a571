"""Are posteriors of released counts calibrated? Parameters from the prior, rows from the model, a noisy table, a chain: where the truth lies.

calibration.py DPM [SETS] [--models poll,ab_test] [--eps 0.1,1] [--into FOLDER] appends to calibration.csv until every model and epsilon has so many
data sets (200 without a number), and writes calibration.txt: how often 90 % intervals cover the truth, and a chi-square test of its ranks in ten
bins. With --fixed the parameters are near the middle of their priors, the same in all data sets, and the files are called calibration_fixed. It goes on where it
was stopped; what was asked for and is there is not run again. Models are those of examples/models, by the name of their
file, `logistic`, `regression` and `unknown_sd`, of moments, and `exposure`, of sums; both files are in benches/results unless a folder is named. One chain of
1,000 draws; the first sets (up to 9 of most models, 195 of `exposure`, 100 of `poll` and `logistic`) had four.
"""

import argparse
import csv
import itertools
import json
import os
import random
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from math import exp, lgamma, log

HERE = os.path.dirname(os.path.abspath(__file__))
EPSILONS = [0.1, 0.3, 1, 3]
logit = lambda t: 1 / (1 + exp(-t))
half_normal = lambda dice, sd: abs(dice.gauss(0, sd))
clip = lambda x, lo, hi: min(max(x, lo), hi)
whole = lambda b: int(bool(b))


class Middle:
    """In place of dice: numbers near the middle of their laws, normal ones by turns so many sds from it."""

    def __init__(self):
        self.turns = itertools.cycle([-0.67, 0.67, 0.25, -0.25])

    def gauss(self, mean, sd):
        return mean + next(self.turns) * sd

    def betavariate(self, a, b):
        return a / (a + b)

    def gammavariate(self, shape, scale):
        return shape * scale

    def random(self):
        return 0.5


def shares(dice, n):
    """A draw of Dirichlet(1, .., 1), up to its scale."""
    return [dice.expovariate(1) for _ in range(n)]


def example(name):
    """The program up to its posterior, without the budget."""
    with open(os.path.join(HERE, "..", "examples", "models", f"{name}.dpm"), encoding="utf-8") as file:
        lines = [l for l in file.read().splitlines() if not l.startswith(("#", "budget"))]
    last = max(i for i, l in enumerate(lines) if "= posterior(" in l)
    return "\n".join(lines[: last + 1]) + "\n"


def eight_schools(dice, seen):
    """100 pupils a school."""
    mu, tau, sigma = dice.gauss(50, 20), half_normal(dice, 10), half_normal(dice, 20)
    theta = [dice.gauss(mu, tau) for _ in range(8)]
    rows = [f"{s},{clip(seen.gauss(t, sigma), 0, 100)!r}" for s, t in zip("abcdefgh", theta) for _ in range(100)]
    return "school,score", rows, {"post.mu": mu, "post.tau": tau, "post.sigma": sigma, "post.theta[a]": theta[0]}


def poll(dice, seen):
    """Four regions, 600 rows."""
    m, tau = dice.gauss(0, 1.5), half_normal(dice, 1)
    u = [dice.gauss(0, 1) for _ in range(4)]
    rows = []
    for i, (region, size) in enumerate(zip(["north", "south", "east", "west"], [240, 160, 120, 80])):
        rows += [f"{region},{whole(seen.random() < logit(m + tau * u[i]))}" for _ in range(size)]
    return "region,vote", rows, {"post.m": m, "post.tau": tau, "post.u[north]": u[0]}


def contingency(dice, seen):
    """Six private conditions with uniform shares, 1,200 rows."""
    ages = ["young", "middle", "old"]
    a, d = {g: dice.gauss(0, 1.5) for g in ages}, {g: dice.gauss(0, 1) for g in ages}
    b, s = dice.gauss(0, 1), half_normal(dice, 0.5)
    rows = []
    for age, smokes in seen.choices([(g, k) for g in ages for k in (0, 1)], shares(seen, 6), k=1200):
        rows.append(f"{age},{smokes},{whole(seen.random() < logit(a[age] + (b + s * d[age]) * smokes))}")
    return "age,smokes,ill", rows, {"post.a[young]": a["young"], "post.b": b, "post.s": s, "post.d[old]": d["old"]}


def survival(dice, seen):
    """400 rows an arm."""
    shape = exp(dice.gauss(0, 0.5))
    log_scale = {arm: dice.gauss(3.5, 1) for arm in ("control", "treated")}
    rows = [f"{arm},{clip(seen.weibullvariate(exp(s), shape), 0, 60)!r}" for arm, s in log_scale.items() for _ in range(400)]
    return "arm,months", rows, {"post.shape": shape, "post.log_scale[treated]": log_scale["treated"]}


def ordinal(dice, seen):
    """Three regions, 250 rows each."""
    cuts, tau = sorted(dice.gauss(0, 2) for _ in range(3)), half_normal(dice, 1)
    u = [dice.gauss(0, 1) for _ in range(3)]
    rows = []
    for region, effect in zip(["north", "south", "east"], u):
        for _ in range(250):
            at = seen.random()
            below = sum(at > logit(c - tau * effect) for c in cuts)
            rows.append(f"{region},{['none', 'little', 'some', 'full'][below]}")
    return "region,trust", rows, {"post.cuts[1]": cuts[0], "post.cuts[3]": cuts[2], "post.tau": tau, "post.u[north]": u[0]}


def mixture(dice, seen):
    """1,000 rows."""
    w, mu = dice.betavariate(2, 2), sorted(dice.gauss(500, 150) for _ in range(2))
    sd = [half_normal(dice, 100) for _ in range(2)]
    second = [whole(seen.random() < w) for _ in range(1000)]
    rows = [repr(clip(seen.gauss(mu[i], sd[i]), 200, 1000)) for i in second]
    return "ms", rows, {"post.w": w, "post.mu[1]": mu[0], "post.mu[2]": mu[1], "post.sd[1]": sd[0]}


def income(dice, seen):
    """800 rows."""
    mu, sigma = dice.gauss(3.5, 1), half_normal(dice, 1)
    rows = [repr(clip(exp(clip(seen.gauss(mu, sigma), -50, 50)), 0, 200)) for _ in range(800)]
    return "income", rows, {"post.mu": mu, "post.sigma": sigma}


def ab_test(dice, seen):
    """1,000 rows; the share of the new page is uniform."""
    base, lift, new = dice.gauss(-1, 1.5), dice.gauss(0, 0.5), dice.random()
    arms = [whole(seen.random() < new) for _ in range(1000)]
    rows = [f"{arm},{whole(seen.random() < logit(base + lift * arm))}" for arm in arms]
    return "new_page,bought", rows, {"post.base": base, "post.lift": lift}


def logistic(dice, seen):
    """A private condition of six values with uniform shares, 800 rows."""
    a, b = dice.gauss(0, 1), dice.gauss(0, 1)
    dose = seen.choices(range(6), shares(seen, 6), k=800)
    rows = [f"{d},{whole(seen.random() < logit(a + b * (d / 2.5 - 1)))}" for d in dose]
    return "dose,ill", rows, {"post.a": a, "post.b": b}


def regression(dice, seen):
    """Moments of a number that depends on another and on a bool, 500 rows."""
    mu, s, p = dice.gauss(50, 8), 4 + half_normal(dice, 4), dice.random()
    a, b, c, sd = dice.gauss(50, 8), dice.gauss(0, 0.5), dice.gauss(0, 8), 4 + half_normal(dice, 4)
    rows = []
    for _ in range(500):
        x, t = seen.gauss(mu, s), whole(seen.random() < p)
        rows.append(f"{clip(x, 0, 100)!r},{t},{clip(seen.gauss(a + b * (x - 50) + c * t, sd), -50, 150)!r}")
    return "x,t,y", rows, {"post.a": a, "post.b": b, "post.c": c, "post.s_y": sd - 4}


def unknown_sd(dice, seen):
    """A design of three columns that depend on each other and are not normal, 500 rows."""
    w, s = [dice.gauss(0, 30) for _ in range(4)], half_normal(dice, 15)
    rows = []
    for _ in range(500):
        size = 100 * seen.betavariate(2, 5)
        old = whole(seen.random() < 0.2 + size / 150)
        rooms = min(9, int(size / 15 + 3 * seen.random()))
        y = w[0] + w[1] * (size - 50) / 50 + w[2] * old + w[3] * (rooms - 4.5) / 4.5
        rows.append(f"{size!r},{old},{rooms},{clip(seen.gauss(y, s), -200, 200)!r}")
    return "size,old,rooms,y", rows, {"post.w[intercept]": w[0], "post.w[size]": w[1], "post.w[old]": w[2], "post.w[rooms]": w[3], "post.s": s}


def exposure(dice, seen):
    """Deaths and years of follow-up, which ends at death, 1,000 rows; the share of either sex is uniform."""
    rate, share = {s: dice.gammavariate(4, 1 / 80) for s in ("female", "male")}, dice.random()
    rows = []
    for _ in range(1000):
        sex = "female" if seen.random() < share else "male"
        death, end = seen.expovariate(rate[sex]), seen.uniform(2, 12)
        rows.append(f"{sex},{whole(death < end)},{min(death, end)!r}")
    return "sex,died,years", rows, {"post.rate[female]": rate["female"], "post.rate[male]": rate["male"]}


EXPOSURE = """private cohort[n] { sex: category {female, male}, died: bool, years: real in [0, 12] }
release s = sums(died, years, groups = sex)
param rate: vector[sex] ~ gamma(4, 80)
observe s.died ~ poisson(rate[sex] * years)
output post = posterior(rate)
"""
UNKNOWN_SD = """private homes[500] { size: real in [0, 100], old: bool, rooms: int in 0..9, y: real in [-200, 200] }
let x = design(size, old, rooms)
param w: vector[x] ~ normal(0, 30)
param s ~ half_normal(15)
observe y ~ normal(dot(w, x), s)
release post = posterior(w, s)
"""
REGRESSION = """private rows[n] { x: real in [0, 100], t: bool, y: real in [-50, 150] }
release m = moments(x, t, y)
param mu ~ normal(50, 8)
param s_x ~ half_normal(4)
param p ~ beta(1, 1)
param a ~ normal(50, 8)
param b ~ normal(0, 0.5)
param c ~ normal(0, 8)
param s_y ~ half_normal(4)
let sd = 4 + s_y
observe m.x ~ normal(mu, 4 + s_x)
observe m.t ~ bernoulli(p)
observe m.y ~ normal(a + b * (x - 50) + c * t, sd)
output post = posterior(a, b, c, s_y)
"""
LOGISTIC = """private t[n] { dose: int in 0..5, ill: bool }
release cells = histogram(dose, ill) using gaussian
param a ~ normal(0, 1)
param b ~ normal(0, 1)
observe cells.ill ~ bernoulli_logit(a + b * (dose / 2.5 - 1))
output post = posterior(a, b)
"""
WRITTEN = {"logistic": LOGISTIC, "regression": REGRESSION, "unknown_sd": UNKNOWN_SD, "exposure": EXPOSURE}
MODELS = {f.__name__: f for f in (eight_schools, poll, contingency, survival, ordinal, mixture, income, ab_test, logistic, regression, unknown_sd, exposure)}


def one(job):
    dpm, fixed, model, eps, seed = job
    dice = random.Random(f"{model} {eps:g} {seed}")
    head, rows, truth = MODELS[model](Middle() if fixed else dice, dice)
    text = f"budget dp(eps = {eps:g}, delta = 1e-6)\n" + (WRITTEN.get(model) or example(model))
    text = re.sub(r"= posterior\((.*)\)", r"= posterior(\1, chains = 1)", text)
    text += "".join(f"output rank_{i} = cdf({name}, {x!r})\n" for i, (name, x) in enumerate(truth.items()))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in [("p.dpm", text), ("t.csv", "\n".join([head, *rows]) + "\n")]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([dpm, "run", "p.dpm", "--data", "t.csv", "--json"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{model} at {eps}, data set {seed}: {done.stderr}")
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


def below(k, n, p):
    """The probability of at most k successes of n."""
    return sum(exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log(1 - p)) for i in range(k + 1))


def verdict(k, n):
    """Is a coverage of 87 to 93 % refuted at 1 %?"""
    if below(k, n, 0.87) < 0.005:
        return "too low"
    return "too high" if below(n - k, n, 0.07) < 0.005 else ""


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def report(points, out, fixed):
    which = "the same parameters in all data sets" if fixed else "parameters from the prior"
    lines = [f"where the truth lies in posteriors of released counts, {which}", "",
             f"{'model':14}{'eps':>5}  {'number':24}{'sets':>6}{'90 % cover':>12}{'rank test p':>13}{'R-hat > 1.05':>14}"]
    tests = 0
    for model in MODELS:
        for eps in sorted({float(p[1]) for p in points if p[0] == model}):
            names = dict.fromkeys(p[3] for p in points if p[0] == model and float(p[1]) == eps)
            for name in names:
                mine = [p for p in points if p[0] == model and float(p[1]) == eps and p[3] == name]
                ranks = [float(p[4]) for p in mine]
                cover = sum(0.05 <= r <= 0.95 for r in ranks) / len(ranks)
                bins = [0] * 10
                for r in ranks:
                    bins[min(int(10 * r), 9)] += 1
                # Nothing says that ranks are even where parameters are fixed.
                even = 0 if fixed else len(ranks) / 10
                # Of fewer sets the law of the statistic is not that of chi-square.
                p = f"{upper_tail(sum((b - even) ** 2 / even for b in bins), 9):13.2g}" if even >= 5 else f"{'-':>13}"
                poor = sum(int(p[5]) for p in mine) / len(mine)
                tests += even >= 5
                lines.append(f"{model:14}{eps:5g}  {name:24}{len(mine):6}{cover:12.3f}{p}{poor:14.3f}")
    lines += ["", "all eps together" + ("" if fixed else "; `too low` or `too high` where 87 to 93 % is refuted at 1 %"), ""]
    for model, name in dict.fromkeys((p[0], p[3]) for p in sorted(points, key=lambda p: list(MODELS).index(p[0]))):
        ranks = [float(p[4]) for p in points if p[0] == model and p[3] == name]
        inside = sum(0.05 <= r <= 0.95 for r in ranks)
        lines.append(f"{model:14}{name:24}{len(ranks):6}{inside / len(ranks):12.3f}  {'' if fixed else verdict(inside, len(ranks))}".rstrip())
    lines += [] if fixed else ["", f"{tests} tests: at 1 % after Bonferroni a p below {0.01 / max(tests, 1):.1e} counts"]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("dpm", type=os.path.abspath)
    asked.add_argument("sets", nargs="?", type=int, default=200)
    asked.add_argument("--models", type=lambda t: t.split(","), default=list(MODELS))
    asked.add_argument("--eps", type=lambda t: [float(x) for x in t.split(",")], default=EPSILONS)
    asked.add_argument("--fixed", action="store_true")
    asked.add_argument("--into", default=os.path.join(HERE, "results"))
    asked = asked.parse_args()
    name = "calibration_fixed" if asked.fixed else "calibration"
    path = os.path.join(asked.into, f"{name}.csv")
    done = {(p[0], float(p[1]), int(p[2])) for p in read(path)}
    wanted = [(m, float(e), s) for s in range(asked.sets) for m in asked.models for e in asked.eps]
    jobs = [(asked.dpm, asked.fixed, *job) for job in wanted if job not in done]
    with ThreadPoolExecutor(2) as pool, open(path, "a", newline="", encoding="utf-8") as file:
        for rows in pool.map(one, jobs):
            # All numbers of a data set at once: who stops the study leaves whole sets.
            csv.writer(file).writerows(rows)
            file.flush()
    report(read(path), os.path.join(asked.into, f"{name}.txt"), asked.fixed)


main()

"""Means and standard errors of all results; says where ours is behind, and at what guarantee."""

import csv
import os
from collections import defaultdict

import numpy as np

from common import ADDED, DELTA, RESULTS

HEAD = f"""Error at equal epsilon (and delta = {DELTA:g}) on the same files; mean +- standard error over repeats, less is better everywhere.

pure: epsilon alone. dp: epsilon and delta. A pure method keeps a dp budget too, so below `dp` all methods are compared, below `pure` the
pure ones alone. Neighbours replace one row of a public number, for dpm and for OpenDP (symmetric distance 2). diffprivlib says nothing
of neighbours; its naive Bayes counts each class with sensitivity 1, which is right for a row added or removed, and half of
what a row that changes its class can do: at equal epsilon it adds less noise than ours has to.
status: exact (the draw is exact), certified (a chain with a proved bound), conditional (a chain that must have converged), stated (what
the tool says of itself, in doubles).
`dpm auto` (`draw(w)`) and `dpm posterior` (`posterior(w)`) are what a user gets who names no mechanism. They have two priors: sd 3
(1 for linear) unless the row says otherwise, and a third of it, which was added when the first had been seen to be behind on small tables: rivals have two
settings as well (C = 1 and 9 of diffprivlib are the squares of sd 1 and 3; AdaSSP chooses its penalty by itself). Of the others with fewer than 20 repeats in
field.csv some are of earlier versions. DP-SGD is run twice: with noise for a row replaced, as all others, and for a row added or removed,
which is about half of it at equal epsilon; the latter is shown and not compared.
"""


def main():
    groups = defaultdict(list)
    with open(RESULTS) as f:
        for r in csv.DictReader(f):
            groups[(r["task"], r["data"], r["measure"], float(r["epsilon"]), r["guarantee"], r["who"], r["status"])].append(float(r["value"]))
    # Rows that were not run here stand as they were.
    table = {}
    if os.path.exists("benches/results/field.csv"):
        with open("benches/results/field.csv") as f:
            for r in csv.DictReader(f):
                key = (r["task"], r["data"], r["measure"], float(r["epsilon"]), r["guarantee"], r["who"], r["status"])
                table[key] = (float(r["mean"]), float(r["standard_error"]), int(r["repeats"]))
    for key, values in groups.items():
        v = np.array(values)
        mean, se = v.mean(), v.std(ddof=1) / len(v) ** 0.5 if len(v) > 1 else 0.0
        if key[2].startswith("|coverage"):
            mean = abs(mean - 0.9)
        table[key] = (mean, se, len(v))
    with open("benches/results/field.csv", "w") as f:
        f.write("task,data,measure,epsilon,guarantee,who,status,mean,standard_error,repeats\n")
        for key in sorted(table):
            mean, se, n = table[key]
            f.write(",".join([*map(str, key)]) + f",{mean:.6g},{se:.3g},{n}\n")
    lines, behind, compared = [HEAD], [], 0
    ahead = 0
    for task, data, measure in sorted({k[:3] for k in table}):
        here = {k: v for k, v in table.items() if k[:3] == (task, data, measure)}
        epsilons = sorted({k[3] for k in here} - {0.0})
        free = ", ".join(f"{k[5]} {v[0]:.4g}" for k, v in here.items() if k[4] == "none")
        lines.append(f"\n{task}: {data}, {measure}" + (f" (without privacy: {free})" if free else ""))
        lines.append(f"{'':30} {'':4} {'':11} " + "".join(f"{'eps ' + format(e, 'g'):>20}" for e in epsilons))
        for guarantee, who, status in sorted({k[4:] for k in here if k[4] != "none"}, key=lambda k: (k[1].startswith("dpm"), k[1], k[0])):
            cells = [here.get((task, data, measure, e, guarantee, who, status)) for e in epsilons]
            lines.append(f"{who:30} {guarantee:4} {status:11} " + "".join(f"{f'{c[0]:.4g} +- {c[1]:.2g}' if c else '-':>20}" for c in cells))
        for e in epsilons:
            for budget in ("pure", "dp"):
                at = {k[4:]: v for k, v in here.items() if k[3] == e and (k[4] == "pure" or budget == "dp")}
                ours = {k: v for k, v in at.items() if k[1].startswith("dpm")}
                theirs = {k: v for k, v in at.items() if not k[1].startswith("dpm") and k[1] != ADDED}
                if not ours or not theirs:
                    continue
                best = min(ours, key=lambda k: ours[k][0])
                rival = min(theirs, key=lambda k: theirs[k][0])
                compared += 1
                gap = ours[best][0] - theirs[rival][0]
                spread = 2 * np.hypot(ours[best][1], theirs[rival][1])
                if gap < -spread:
                    ahead += 1
                if gap > spread:
                    behind.append(f"  {task}: {data}, {measure}, eps {e:g} {budget}: {best[1]} ({best[2]}) {ours[best][0]:.4g} against {theirs[rival][0]:.4g} of {rival[1]}")
    lines.append(f"\nThe best of ours against the best of the others, in {compared} places: ahead by more than two standard errors of the difference in {ahead}, behind in {len(behind)}.")
    lines += behind + regressions(table)
    text = "\n".join(lines) + "\n"
    print(text)
    with open("benches/results/field.txt", "w") as f:
        f.write(text)


def regressions(table):
    """In how many places of regressions at epsilon and delta, by log-loss, AUC and RMSE, the best of ours is within one or two standard errors of the best."""
    places = defaultdict(list)
    for (task, data, measure, epsilon, guarantee, who, _), (mean, error, _) in table.items():
        if task in ("logistic", "linear") and measure != "test error" and guarantee != "none" and who != ADDED:
            places[(data, measure, epsilon)].append((mean, error, who))

    def within(times, ours):
        best = [[min(((mean, error) for mean, error, who in found if is_one(who)), default=None) for is_one in (ours, lambda who: not who.startswith("dpm"))] for found in places.values()]
        gaps = [(a[0] - b[0], np.hypot(a[1], b[1])) for a, b in filter(all, best)]
        return f"{sum(gap <= times * error for gap, error in gaps)} of {len(gaps)}"

    every, first = (lambda who: who.startswith("dpm")), (lambda who: who.startswith("dpm") and "(sd" not in who)
    return [
        "\nRegressions at epsilon and delta, by log-loss, AUC and RMSE: ahead of the best of the others, or within one standard error of the "
        f"difference, in {within(1, every)} places; within two in {within(2, every)}. With the first prior alone: {within(1, first)} and {within(2, first)}."
    ]


main()

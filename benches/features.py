"""How much do rows of real tables tell of weights? What predictions for regressions take features for, which are known by their bounds alone.

features.py --data DIR reads every table in DIR with three columns of numbers or more, of five values or more each, but for the tables that
predictions_pairs.py fits regressions to. A column is moved from bounds that a person might write, its range rounded outward to one digit, to
[-1, 1]; twenty times three columns are taken with an intercept, as features of norm 1 at most. A share is an eigenvalue of the products
of these features over what each would be if they filled their bounds: every row of norm 1, in all directions alike. Writes results/features.txt.
"""

import argparse
import csv
import glob
import gzip
import os

import numpy as np

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "features.txt")
FITTED = {"abalone", "bank", "breast_cancer_wdbc", "concrete", "haberman", "pima_diabetes", "power_plant"}
MOST, TIMES, COLUMNS = 20_000, 20, 3
LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9]


def columns(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        rows = [row for _, row in zip(range(MOST), csv.DictReader(file))]
    for name in rows[0]:
        try:
            v = np.array([float(r[name]) for r in rows])
        except (TypeError, ValueError):
            continue
        if len(set(v)) >= 5 and np.isfinite(v).all():
            digit = 10 ** np.floor(np.log10(v.max() - v.min()))
            lo, hi = np.floor(v.min() / digit) * digit, np.ceil(v.max() / digit) * digit
            yield 2 * (v - lo) / (hi - lo) - 1


def shares(found, dice):
    some = [found[i] for i in dice.choice(len(found), COLUMNS, False)]
    x = np.column_stack([np.ones(len(some[0])), *some]) / np.sqrt(COLUMNS + 1)
    return np.linalg.eigvalsh(x.T @ x) / (len(x) / x.shape[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    folder, dice = parser.parse_args().data, np.random.default_rng(1)
    every, lines = [], []
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.csv")) + glob.glob(os.path.join(folder, "*", "*.csv.gz"))):
        name = os.path.relpath(path, folder)
        if os.path.dirname(name) in FITTED or "mnist" in name:
            continue
        found = list(columns(path))
        if len(found) < COLUMNS:
            continue
        own = np.array([shares(found, dice) for _ in range(TIMES)])
        every.append(own)
        lines.append(f"  {name:45} {len(found):3}  " + "  ".join(f"{x:7.4f}" for x in np.median(own, axis=0)))
    pool = np.quantile(np.concatenate(every).ravel(), LEVELS)
    head = ["Shares of what features that fill their bounds would tell of a direction of the weights, by benches/features.py.", ""]
    head += [f"tables: {len(every)}; all directions of all tables, at {', '.join(f'{100 * q:.0f} %' for q in LEVELS)}:"]
    head += ["  " + "  ".join(f"{x:.3f}" for x in pool), "", "By table: columns, and the median share of the four directions, least first:"]
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write("\n".join(head + lines) + "\n")
    print("\n".join(head[:4]))


if __name__ == "__main__":
    main()

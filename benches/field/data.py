"""The data sets as files that every tool reads: columns scaled by public bounds to [-1, 1], or rows to norm 1; split once."""

import gzip
import os

import numpy as np

from common import WORK

DATA = os.environ["DPM_DATA"]


def rows(name):
    path = os.path.join(DATA, name)
    with (gzip.open(path, "rt") if name.endswith(".gz") else open(path)) as f:
        return [line.strip().split(",") for line in f][1:]


def scaled(x, lo, hi):
    return 2 * (np.clip(x, lo, hi) - lo) / (hi - lo) - 1


def write(name, x, y):
    table = np.column_stack([x, y])
    header = ",".join([f"x_{j + 1}" for j in range(x.shape[1])] + ["y"])
    np.savetxt(os.path.join(WORK, name + ".csv"), table, delimiter=",", header=header, comments="", fmt="%.9g")


def split(name, x, y, train):
    order = np.random.default_rng(2017).permutation(len(y))
    a, b = order[:train], order[train:]
    write(name + "_train", x[a], y[a])
    write(name + "_train_ten", x[a], 10 * y[a])
    write(name + "_test", x[b], y[b])


def normalised(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


# Sex as two indicators and seven measures: lengths up to 1 (200 mm), weights up to 3 (600 g). Fewer than 10 rings or not.
abalone = rows("abalone/abalone.csv")
sex = np.array([[r[0] == "M", r[0] == "F"] for r in abalone], float) * 2 - 1
measures = np.array([[float(v) for v in r[1:8]] for r in abalone])
measures = scaled(measures, 0.0, np.array([1, 1, 1, 3, 3, 3, 3.0]))
young = np.array([int(r[8]) < 10 for r in abalone], float)
split("abalone", normalised(np.column_stack([sex, measures])), young, 2784)
split("abalone_nb", measures, young, 2784)

# Nine scores of 1 to 10; a missing one is in the middle.
breast = rows("breast_cancer_original/breast_cancer_original.csv")
scores = np.array([[float(v) if v not in ("?", "", "NA") else 5.5 for v in r[1:10]] for r in breast])
scores = scaled(scores, 1.0, 10.0)
malignant = np.array([r[10] == "4" for r in breast], float)
split("breast", normalised(np.column_stack([scores, np.ones(len(scores))])), malignant, 500)
split("breast_nb", scores, malignant, 500)

# Six numbers of the census and a constant.
def adult(name):
    r = rows(name)
    x = np.array([[float(v[j]) for j in (0, 4, 10, 11, 12)] for v in r])
    x = scaled(x, np.array([16, 1, 0, 0, 1.0]), np.array([90, 16, 99999, 5000, 99.0]))
    return x, np.array([v[14].startswith(">50K") for v in r], float), np.array([float(v[0]) for v in r])


train, rich, ages = adult("adult/adult_train.csv.gz")
test, rich_test, _ = adult("adult/adult_test.csv")
for name, x, y in (("train", train, rich), ("test", test, rich_test)):
    unit = normalised(np.column_stack([x, np.ones(len(x))]))
    write("adult_" + name, unit, y)
    # The first 5,000 rows of the survey, in its order.
    few = slice(0, 5000 if name == "train" else len(x))
    write("adult_5000_" + name, unit[few], y[few])
    write("adult_nb_" + name, x, y)

# A bank's calls: age, balance in euros, seconds of the call, calls before, loans, schooling; who signs.
bank = rows("bank/bank.csv")
x = np.array([[float(v[0]), float(v[5]), float(v[11]), float(v[12]), float(v[14])] for v in bank])
x = scaled(x, np.array([18, -5000, 0, 1, 0.0]), np.array([95, 20000, 1800, 20, 10.0]))
yes = lambda j, word: np.array([1.0 if v[j] == word else -1.0 for v in bank])
words = [(4, "yes"), (6, "yes"), (7, "yes"), (2, "married"), (3, "tertiary"), (8, "unknown"), (15, "success")]
x = np.column_stack([x, *[yes(j, word) for j, word in words], np.ones(len(bank))])
split("bank", normalised(x), (yes(16, "yes") + 1) / 2, 3021)

# Diabetes within five years from eight measures of adult women, with bounds that a physician would choose.
pima = np.array([[float(v) for v in r] for r in rows("pima_diabetes/pima_diabetes.csv")])
x = scaled(pima[:, :8], np.array([0, 50, 40, 0, 0, 15, 0, 21.0]), np.array([15, 200, 120, 60, 400, 55, 2, 80.0]))
split("pima", normalised(np.column_stack([x, np.ones(len(x))])), pima[:, 8], 512)

# Net output of a power plant from four conditions, all with bounds of a kind that an engineer would choose; a constant.
plant = np.array([[float(v) for v in r] for r in rows("power_plant/power_plant.csv")])
x = scaled(plant[:, :4], np.array([-20, 20, 950, 0.0]), np.array([50, 90, 1050, 100.0]))
y = scaled(plant[:, 4], 400.0, 500.0)
split("plant", np.column_stack([x, np.ones(len(x))]), y, 7568)

# How far a folded protein is from the right one, 0 to 21 angstrom, from nine measures of its surface.
protein = np.array([[float(v) for v in r] for r in rows("protein/protein.csv.gz")])
top = np.array([30000, 12000, 0.6, 300, 4e6, 400, 20000, 350, 60.0])
x = np.column_stack([scaled(protein[:, :9], 0.0, top), np.ones(len(protein))])
split("protein", x, scaled(protein[:, 9], 0.0, 21.0), 36584)

# Quality of wine, 0 to 10, from eleven measures.
wine = np.array([[float(v) for v in r] for r in rows("wine_quality/wine_white.csv")])
top = np.array([15, 2, 2, 50, 0.5, 150, 400, 1.01, 4, 2, 16.0])
low = np.array([3, 0, 0, 0, 0.0, 0, 0, 0.98, 2.5, 0, 7.0])
split("wine", np.column_stack([scaled(wine[:, :11], low, top), np.ones(len(wine))]), scaled(wine[:, 11], 0.0, 10.0), 3898)

# One column: yes or no, and ages.
for name, n in (("income", 5000), ("income_small", 200)):
    write(name, np.zeros((n, 0)), rich[:n])
day = np.array([float(r[7]) for r in rows("bike_sharing/day.csv")])
write("workday", np.zeros((len(day), 0)), day)
for n in (100, 1000):
    write(f"age_{n}", np.zeros((n, 0)), np.clip(ages[:n], 16, 90))
# Simulated: is the truth in the interval? 100 rows each, rates from the uniform prior.
rng = np.random.default_rng(7)
rates = rng.uniform(size=500)
np.savetxt(os.path.join(WORK, "rates.csv"), rates)
np.savetxt(os.path.join(WORK, "successes.csv"), rng.binomial(100, rates), fmt="%d")

"""What `dpm certify` proves of mixed releases against Google's dp_accounting (privacy loss distributions).

accounting.py DPM [COUNT] writes benches/results/accounting.csv, a line a program, and goes on where it ended; then benches/results/accounting.txt.
Programs mix normal and Laplace noise on sums, one kind of Beta draw, each once or several times. Where n is 1 a draw has one pair of posteriors; dp_accounting gets
it as two probability mass functions on some 8,000 intervals: less than the truth by what the intervals hide.
Never below the optimistic estimate, at most 1.005 of the pessimistic one. Needs dp-accounting and scipy.

accounting.py DPM again certifies the programs of accounting.csv once more and keeps the estimates there; needs neither.
"""

import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results")
LINES, TEXT = (os.path.join(HERE, f"accounting.{kind}") for kind in ("csv", "txt"))
STEP = 1e-4
DELTAS = [1e-5, 1e-6]


def mixed(seed):
    """Number and parameter of every kind of release."""
    dice = random.Random(seed)
    some = lambda most: dice.choice([0, 1, 1, dice.randint(2, most)])
    scale = lambda low, high: float(f"{math.exp(dice.uniform(math.log(low), math.log(high))):.3g}")
    while True:
        found = {
            "normal": (some(20), scale(0.8, 40)),
            "laplace": (some(20), scale(0.8, 60)),
            "draw": (some(3), (scale(0.5, 40), scale(0.5, 40), scale(0.05, 1))),
        }
        if sum(count > 0 for count, _ in found.values()) > 1:
            return found


def program(mix):
    (normals, sigma), (laplaces, b), (draws, (u, v, r)) = mix.values()
    lines = ["private t[1] { x: real in [0, 1], y: bool }", f"param p ~ beta({u}, {v})", "observe y ~ bernoulli(p)"] if draws else ["private t[1] { x: real in [0, 1] }"]
    lines += [f"release n{i} = sum(x) using gaussian(sigma = {sigma})" for i in range(normals)]
    lines += [f"release l{i} = sum(x) using laplace(scale = {b})" for i in range(laplaces)]
    lines += [f"release d{i} = draw(p) using diffuse(r = {r})" for i in range(draws)]
    return "\n".join(lines) + "\n"


def ours(dpm, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.dpm")
        with open(path, "w") as f:
            f.write(text)
        said = subprocess.run([dpm, "certify", "--json", path], capture_output=True, text=True, check=True).stdout
    profile = {entry["delta"]: entry["epsilon"] for entry in json.loads(said)["total"]["profile"]["dp"]}
    return [profile[delta] for delta in DELTAS]


def theirs(mix, pessimistic):
    import numpy
    from dp_accounting.pld import privacy_loss_distribution as pld
    from scipy.stats import beta

    (normals, sigma), (laplaces, b), (draws, (u, v, r)) = mix.values()
    args = {"value_discretization_interval": STEP, "pessimistic_estimate": pessimistic}
    noise = args | {"use_connect_dots": pessimistic}
    parts = []
    if normals:
        parts.append((pld.from_gaussian_mechanism(sigma, **noise), normals))
    if laplaces:
        parts.append((pld.from_laplace_mechanism(b, **noise), laplaces))
    if draws:
        p, q = beta(u, v + r), beta(u + r, v)
        even, tails = numpy.linspace(0, 1, 2001)[1:-1], 10.0 ** -numpy.arange(3.5, 12, 0.01)
        x = numpy.unique(numpy.concatenate([points for law in (p, q) for points in (law.ppf(even), law.ppf(tails), law.isf(tails))]))
        def masses(law):
            below, above = numpy.diff(law.cdf(x)), -numpy.diff(law.sf(x))
            inside = numpy.where(law.cdf(x[:-1]) < 0.5, below, above)
            return numpy.concatenate([[law.cdf(x[0])], inside, [law.sf(x[-1])]])
        lower, upper = masses(p), masses(q)
        kept = (lower > 0) & (upper > 0)
        logs = [dict(enumerate(numpy.log(m[kept]))) for m in (lower, upper)]
        parts.append((pld.from_two_probability_mass_functions(*logs, symmetric=False, **args), draws))
    whole = None
    for one, count in parts:
        one = one.self_compose(count) if count > 1 else one
        whole = one if whole is None else whole.compose(one)
    return [whole.get_epsilon_for_delta(delta) for delta in DELTAS]


def main():
    dpm, count = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else 200
    if count == "again":
        rows = list(csv.reader(open(LINES)))
        for row in rows:
            row[2], row[5] = ours(dpm, program(json.loads(row[1])))
        with open(LINES, "w", newline="") as f:
            csv.writer(f).writerows(rows)
        count = len(rows)
    count = int(count)
    done = len(list(csv.reader(open(LINES)))) if os.path.exists(LINES) else 0
    with open(LINES, "a", newline="") as f:
        for seed in range(done, count):
            mix = mixed(seed)
            row = [seed, json.dumps(mix)]
            for mine, low, high in zip(ours(dpm, program(mix)), theirs(mix, False), theirs(mix, True)):
                row += [mine, low, high]
            csv.writer(f).writerow(row)
            f.flush()
    rows = [(r[0], r[1], [float(x) for x in r[2:]]) for r in csv.reader(open(LINES))]
    cells = [(x[i] / x[i + 1], x[i] / x[i + 2], seed, mix) for seed, mix, x in rows for i in (0, 3)]
    least, most = min(cells), max(cells, key=lambda c: c[1])
    over = sum(c[1] > 1.005 for c in cells)
    lines = [
        f"epsilon of `dpm certify` over that of dp_accounting, discretised by {STEP}: {len(rows)} programs of accounting.csv, deltas {DELTAS}",
        f"of the optimistic estimate at least {least[0]:.6f} (program {least[2]}: {least[3]})",
        f"of the pessimistic estimate at most {most[1]:.6f} (program {most[2]}: {most[3]}); {over} of {len(cells)} above 1.005",
        f"median of the pessimistic estimate {sorted(c[1] for c in cells)[len(cells) // 2]:.6f}",
    ]
    with open(TEXT, "w") as f:
        f.write("\n".join(lines) + "\n")
    print("\n".join(lines))


main()

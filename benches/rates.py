"""Whether intervals of posteriors of rates hold the truth, for rates and exposures of many sizes: python3 benches/rates.py DPM [REPETITIONS] [FOLDER]. Needs numpy.

Writes benches/results/rates.txt: for each case, over data sets of the model, how far the mean of the intercept is from the truth in sds of the posterior
(mean and sd over the data sets), the share of 90 % intervals of all weights that hold the truth, and the mean sd of the intercept. Cases that the folder has
are not run again.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
SLOPES = (0.5, -0.5)


def between(low, high):
    return lambda rng, n: np.exp(rng.uniform(np.log(low), np.log(high), n))


# rows, epsilon, sd of the prior, exposures, rate, largest count, declared exposures, shape
CASES = {
    "people, .01 a head": (10_000, 2, 2, between(20, 500), 0.01, 60, (20, 500), None),
    "people, .001 a head": (10_000, 1, 2, between(100, 1e5), 1e-3, 400, (100, 1e5), None),
    "months, .05": (10_000, 1, 2, between(1, 60), 0.05, 60, (1, 60), None),
    "days, declared too far": (10_000, 1, 2, lambda rng, n: np.clip(rng.exponential(3, n), 1, 36_500), 0.3, 60, (1, 36_500), None),
    "years, .01": (20_000, 1, 2, between(0.2, 5), 0.01, 10, (0.2, 5), None),
    "years, .02, eps 3": (20_000, 3, 2, between(0.2, 5), 0.02, 10, (0.2, 5), None),
    "years, .05": (20_000, 1, 2, between(0.2, 5), 0.05, 10, (0.2, 5), None),
    "years, .1": (5_000, 1, 2, between(0.2, 5), 0.1, 10, (0.2, 5), None),
    "years, 1": (4_000, 1, 2, between(0.2, 5), 1, 60, (0.2, 5), None),
    "years, 1, eps 10": (4_000, 10, 2, between(0.2, 5), 1, 60, (0.2, 5), None),
    "years, 30": (4_000, 1, 3, between(0.2, 5), 30, 400, (0.2, 5), None),
    "shape 2, mean 3": (5_000, 1, 2, between(0.2, 5), 3, 200, (0.2, 5), 2),
    "shape .1, mean 100": (20_000, 2, 5, between(0.9, 1.1), 100, 5000, (0.9, 1.1), 0.1),
}


def data_set(dpm, folder, rng, n, eps, sd, exposures, rate, most, declared, shape):
    """How far each weight is from the truth in its sds, and these sds."""
    t = "dot(w, [1, a, b]) + log(e)"
    law = f"poisson_log({t})" if shape is None else f"neg_binomial_2(exp({t}), {shape})"
    program = (
        f"budget dp(eps = {eps}, delta = 1e-6)\nprivate t[{n}] {{ a: real in [-1, 1], b: real in [-1, 1], e: real in [{declared[0]}, {declared[1]}], y: int in 0..{most} }}\n"
        f"param w: vector[3] ~ normal(0, {sd})\nobserve y ~ {law}\nrelease post = posterior(w)\n"
    )
    truth = np.array([np.log(rate), *SLOPES])
    x = np.c_[np.ones(n), rng.uniform(-1, 1, (n, 2))]
    e = exposures(rng, n)
    mean = e * np.exp(x @ truth)
    if shape:
        mean *= rng.gamma(shape, 1 / shape, n)
    y = np.minimum(rng.poisson(mean), most)
    (folder / "p.dpm").write_text(program)
    lines = [f"{a[1]:.6f},{a[2]:.6f},{b:.6f},{c}" for a, b, c in zip(x, e, y)]
    (folder / "t.csv").write_text("a,b,e,y\n" + "\n".join(lines) + "\n")
    ran = subprocess.run([dpm, "run", folder / "p.dpm", "--data", f"t={folder / 't.csv'}", "--json"], capture_output=True, text=True, check=True)
    means, covariance = json.loads(ran.stdout)["releases"]["post"]["parameters"]
    sds = np.sqrt(np.diag(np.array(covariance)))
    return (np.array(means) - truth) / sds, sds


def main():
    dpm, sets, keep = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20, Path(sys.argv[3]) if len(sys.argv) > 3 else None
    found = [f"Over {sets} data sets a case, by benches/rates.py: n, eps; the mean of the intercept less the truth in sds of the posterior, its mean and sd; 90 % intervals", "of three weights that hold the truth; sd of the intercept. delta 1e-6; slopes .5 and -.5; an intercept in the design.", ""]
    for place, (name, case) in enumerate(CASES.items()):
        kept = keep and keep / f"{place}-{sets}.txt"
        if kept and kept.exists():
            found.append(kept.read_text())
            continue
        rng = np.random.default_rng(100 + place)
        with tempfile.TemporaryDirectory() as folder:
            all_sets = [data_set(dpm, Path(folder), rng, *case) for _ in range(sets)]
        far, sds = (np.array([s[i] for s in all_sets]) for i in (0, 1))
        inside = np.mean(np.abs(far) < 1.645)
        line = f"{name:24s} n {case[0]:6d}, eps {case[1]:2d}   {far[:, 0].mean():6.2f} +- {far[:, 0].std():5.2f}   {inside:.2f}   {sds[:, 0].mean():.4f}"
        print(line, flush=True)
        found.append(line)
        if kept:
            kept.write_text(line)
    (ROOT / "results" / "rates.txt").write_text("\n".join(found) + "\n")


main()

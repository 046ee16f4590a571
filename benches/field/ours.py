"""dpm on the same files, by its program `dpm run --json`: the programs stand here as they are run."""

import os

import numpy as np

from command import budget, numbers, path, run
from common import EPSILONS, WORK, Recorder, bayes_error, load

book = Recorder()

for data in ("abalone_nb", "breast_nb", "adult_nb"):
    (x, _), (tx, ty) = load(data + "_train"), load(data + "_test")
    n, d = x.shape
    names = [f"x_{j + 1}" for j in range(d)]
    columns = ", ".join(f"{name}: real in [-1, 1]" for name in names)
    # Of each class the sums of values and squares, and the number of rows of one.
    # In [0, 1], where a row moves a sum by 1.
    units = [f"(({name} + 1) / 2)" for name in names]
    parts = ["if y then 1 else 0"]
    for label in ("y", "not y"):
        parts += [f"if {label} then {u} else 0" for u in units] + [f"if {label} then {u} * {u} else 0" for u in units]
    for kind, noise in (("pure", "laplace"), ("dp", "gaussian")):
        for epsilon in EPSILONS:
            program = (
                f"{budget(kind, epsilon)}private rows[{n}] {{ {columns}, y: bool }}\n"
                f"release m = sum([{', '.join(parts)}]) using {noise}\n"
            )

            def fit(repeat):
                found = run(program, path(data + "_train"))
                m = numbers(found["m"])
                ones = np.clip(m[0], 1, n - 1)
                counts = np.array([n - ones, ones])
                sums = np.array([m[1 + 2 * d : 1 + 3 * d], m[1 : 1 + d]])
                squares = np.array([m[1 + 3 * d :], m[1 + d : 1 + 2 * d]])
                mean = np.clip(sums / counts[:, None], 0, 1)
                # A variance is known no better than the noise of what it is made of, and is at most 1/4.
                least = np.minimum(found["noise"] / counts * 5**0.5, 0.25)[:, None]
                variance = np.clip(squares / counts[:, None] - mean**2, least, 0.25)
                return bayes_error(counts, mean, variance, (tx + 1) / 2, ty)

            book.record("naive Bayes", data[:-3], epsilon, f"dpm {noise} sums", kind, "exact", fit)

for data in ("income", "income_small", "workday"):
    _, y = load(data)
    n = len(y)
    exact = (1 + y.sum()) / (2 + n)
    for who, kind, using in (("dpm noise_aware", "pure", "noise_aware"), ("dpm noise_aware", "dp", "noise_aware"), ("dpm plug_in", "pure", "plug_in")):
        for epsilon in EPSILONS:
            program = (
                f"{budget(kind, epsilon)}private rows[{n}] {{ y: bool }}\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\n"
                f"release post = posterior(p) using {using}\noutput centre = mean(post)\n"
            )
            fit = lambda r: {"error of the posterior mean": abs(float(run(program, path(data))["centre"]) - exact)}
            book.record("rate", data, epsilon, who, kind, "exact", fit, 30)

rates, successes = np.loadtxt(f"{WORK}/rates.csv"), np.loadtxt(f"{WORK}/successes.csv", dtype=int)
for who, kind, using in (("dpm noise_aware", "pure", "noise_aware"), ("dpm noise_aware", "dp", "noise_aware")):
    for epsilon in EPSILONS:
        program = (
            f"{budget(kind, epsilon)}private rows[100] {{ y: bool }}\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\n"
            f"release post = posterior(p) using {using}\noutput low = quantile(post, 0.05)\noutput high = quantile(post, 0.95)\n"
        )

        def fit(repeat):
            file = os.path.join(WORK, "simulated.csv")
            with open(file, "w") as f:
                f.write("y\n" + "1\n" * successes[repeat] + "0\n" * (100 - successes[repeat]))
            out = run(program, file)
            lo, hi, p = float(out["low"]), float(out["high"]), rates[repeat]
            return {"|coverage - 0.9| of 90 % intervals": float(lo <= p <= hi), "interval score": hi - lo + 20 * max(lo - p, p - hi, 0)}

        book.record("rate", "simulated_100", epsilon, who, kind, "exact", fit, 100)

for n in (100, 1000):
    _, ages = load(f"age_{n}")
    precision = 1 / 400 + n / 225
    exact = (40 / 400 + ages.sum() / 225) / precision
    for who, kind, query in (
        ("dpm noisy sum", "pure", "sum(y) using laplace"),
        ("dpm noisy sum", "pure geometric", "sum(y) using geometric"),
        ("dpm noisy sum", "dp", "sum(y) using gaussian"),
        ("dpm draw", "dp", "draw(mu)"),
        ("dpm posterior", "pure", "posterior(mu)"),
        ("dpm posterior", "dp", "posterior(mu)"),
    ):
        for epsilon in EPSILONS:
            program = (
                f"{budget(kind.split()[0], epsilon)}private rows[{n}] {{ y: int in 16..90 }}\nparam mu ~ normal(40, 20)\n"
                f"observe y ~ normal(mu, 15)\nrelease s = {query}\n"
            )
            if query == "posterior(mu)":
                program += "output centre = mean(s)\n"

            def fit(repeat):
                found = run(program, path(f"age_{n}"))
                s = float(found["centre"] if query == "posterior(mu)" else found["s"])
                centre = (40 / 400 + s / 225) / precision if query.startswith("sum") else s
                return {"error of the posterior mean": abs(centre - exact)}

            name = who + " geometric" if kind.endswith("geometric") else who
            book.record("mean", f"age_{n}", epsilon, name, kind.split()[0], "exact", fit, 30)

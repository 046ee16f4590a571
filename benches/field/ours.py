"""dpm on the same files, by its program `dpm run --json`: the programs stand here as they are run."""

import json
import os
import subprocess
import tempfile

import numpy as np

from common import DELTA, EPSILONS, WORK, Recorder, bayes_error, classified, load, predicted, ridge

DPM = os.environ["DPM"]


def run(program, file, table="rows"):
    """Released values of one run."""
    with tempfile.NamedTemporaryFile("w", suffix=".dpm", delete=False) as f:
        f.write(program)
    done = subprocess.run([DPM, "run", f.name, "--data", f"{table}={file}", "--json"], capture_output=True, text=True)
    os.unlink(f.name)
    if done.returncode:
        raise SystemExit(program + done.stdout + done.stderr)
    answer = json.loads(done.stdout)
    known = {k: float(v) for k, v in answer["certificate"]["releases"][0]["parameters"].items()}
    # What the certificate says of the noise, as a standard deviation.
    noise = known.get("sigma", 2**0.5 * known.get("scale", 0))
    return {**answer["releases"], **answer.get("outputs", {}), "noise": noise}


def numbers(values):
    return np.array([float(v) for v in (values.values() if isinstance(values, dict) else values)])


def budget(kind, epsilon):
    return f"budget eps({epsilon})\n" if kind == "pure" else f"budget dp(eps = {epsilon}, delta = {DELTA})\n"


def path(name):
    return os.path.join(WORK, name + ".csv")


book = Recorder()

for data in ("abalone", "breast", "adult"):
    (x, _), (tx, ty) = load(data + "_train"), load(data + "_test")
    n, d = x.shape
    for who, kind, status, using in (
        ("dpm beta_div", "pure", "conditional", "beta_div assuming convergence"),
        ("dpm gibbs", "dp", "certified", "gibbs"),
        ("dpm auto", "dp", "certified", "auto"),
        ("dpm penalty", "dp", "certified", "penalty"),
    ):
        for epsilon in EPSILONS:
            program = (
                f"{budget(kind, epsilon)}private rows[{n}] {{ x: vector[{d}] in l2(1), y: bool }}\n"
                f"param w: vector[{d}] ~ normal(0, 3)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease w_hat = draw(w) using {using}\n"
            )
            fit = lambda r: classified(numbers(run(program, path(data + "_train"))["w_hat"]), tx, ty)
            book.record("logistic", data, epsilon, who, kind, status, fit)

for data, scale in (("plant", 50.0), ("wine", 5.0)):
    (x, _), (tx, ty) = load(data + "_train"), load(data + "_test")
    n, d = x.shape
    names = [f"x_{j + 1}" for j in range(d)]
    # The last column is the constant 1.
    columns = ", ".join(f"{name}: real in [-1, 1]" for name in names[:-1])
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    word = lambda j: names[j] if j < d - 1 else "1"
    products = [f"{names[i]} * {word(j)}" for i, j in pairs if (i, j) != (d - 1, d - 1) and i < d - 1] + [f"{name} * y" for name in names[:-1]] + ["y"]

    def moments(kind, epsilon, noise):
        program = (
            f"{budget(kind, epsilon)}private rows[{n}] {{ {columns}, y: real in [-1, 1] }}\n"
            f"release m = sum([{', '.join(products)}]) using {noise}\n"
        )

        def fit(repeat):
            found = run(program, path(data + "_train"))
            m = list(numbers(found["m"]))
            half = len(pairs) - 1
            # The public number of rows is the product of the constant with itself.
            return predicted(ridge(m[:half] + [n] + m[half:], d, found["noise"] * d**0.5), tx, ty, scale)

        return fit

    for epsilon in EPSILONS:
        book.record("linear", data, epsilon, "dpm noisy moments", "pure", "exact", moments("pure", epsilon, "laplace"))
        book.record("linear", data, epsilon, "dpm noisy moments", "dp", "exact", moments("dp", epsilon, "gaussian"))
        # Bernstein and Sheldon: normal noise on the moments. The spread of the residuals is stated: 5 MW of 100, or 1 point of 10.
        program = (
            f"{budget('dp', epsilon)}private rows[{n}] {{ x: vector[{d}] in l2({d**0.5}), y: real in [-1, 1] }}\n"
            f"param w: vector[{d}] ~ normal(0, 1)\nobserve y ~ normal(dot(w, x), {0.1 if data == 'plant' else 0.2})\n"
            f"release post = posterior(w)\noutput centre = mean(post)\n"
        )
        centre = lambda r: predicted(numbers(run(program, path(data + "_train"))["centre"]), tx, ty, scale)
        book.record("linear", data, epsilon, "dpm posterior", "dp", "exact", centre)
        # An outcome ten times as large, so that the least spread 0.5 of the model is a twentieth of its range.
        bound = d**0.5
        program = (
            f"{budget('pure', epsilon)}private rows[{n}] {{ x: vector[{d}] in l2({bound}), y: real in [-10, 10] }}\n"
            f"param w: vector[{d}] ~ normal(0, 5)\nparam sigma: real in [0.5, inf] ~ half_normal(2)\n"
            f"observe y ~ normal(dot(w, x), sigma)\nrelease fit = draw(w, sigma) using beta_div assuming convergence\n"
        )

        def fit(repeat):
            released = run(program, path(data + "_train_ten"))["fit"]
            w = released["w"] if isinstance(released, dict) else released[0] if isinstance(released[0], list) else released[:d]
            return predicted(numbers(w) / 10, tx, ty, scale)

        book.record("linear", data, epsilon, "dpm beta_div", "pure", "conditional", fit, 5)

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

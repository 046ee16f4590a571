"""dpm's regressions on the same files, by its program: the programs stand here as they are run."""

from command import budget, numbers, path, run
from common import CLASSIFIED, LINEAR, OFTEN, WIDE, Recorder, classified, load, predicted, ridge

book = Recorder()

# The sd of the prior is fixed beforehand. There are two, as diffprivlib has two settings: its C = 1 and 9 are the squares of these.
def logistic(mechanisms, sd=3):
    for who, kind, status, release in mechanisms:
        for data in CLASSIFIED:
            (x, _), (tx, ty) = load(data + "_train"), load(data + "_test")
            n, d = x.shape
            # Its chains on all rows of the census take minutes each.
            if "beta_div" in who and n > 5000:
                continue
            for epsilon in WIDE:
                program = (
                    f"{budget(kind, epsilon)}private rows[{n}] {{ x: vector[{d}] in l2(1), y: bool }}\n"
                    f"param w: vector[{d}] ~ normal(0, {sd})\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease a = {release}\n"
                )
                whole = release.startswith("posterior")
                program += "output centre = mean(a)\n" if whole else ""
                fit = lambda r: classified(numbers(run(program, path(data + "_train"))["centre" if whole else "a"]), tx, ty)
                book.record("logistic", data, epsilon, who, kind, status, fit, OFTEN)


# What a user gets who names no mechanism comes first.
logistic([("dpm auto", "dp", "certified", "draw(w)"), ("dpm posterior", "dp", "exact", "posterior(w)")])
logistic([("dpm auto (sd 1)", "dp", "certified", "draw(w)"), ("dpm posterior (sd 1)", "dp", "exact", "posterior(w)")], 1)

for data, (scale, sd) in LINEAR.items():
    (x, _), (tx, ty) = load(data + "_train"), load(data + "_test")
    n, d = x.shape
    names = [f"x_{j + 1}" for j in range(d)]
    # The last column is the constant 1.
    columns = ", ".join(f"{name}: real in [-1, 1]" for name in names[:-1])
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    word = lambda j: names[j] if j < d - 1 else "1"
    products = [f"{names[i]} * {word(j)}" for i, j in pairs if i < d - 1] + [f"{name} * y" for name in names[:-1]] + ["y"]

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

    for epsilon in WIDE:
        book.record("linear", data, epsilon, "dpm noisy moments", "pure", "exact", moments("pure", epsilon, "laplace"), OFTEN)
        book.record("linear", data, epsilon, "dpm noisy moments", "dp", "exact", moments("dp", epsilon, "gaussian"), OFTEN)
        named = (("dpm posterior", ""), ("dpm posterior refined", " using refined"))
        for (who, using), prior in [(name, prior) for prior in (1, 1 / 3) for name in named]:
            who += "" if prior == 1 else " (sd 1/3)"
            program = (
                f"{budget('dp', epsilon)}private rows[{n}] {{ x: vector[{d}] in l2({d**0.5}), y: real in [-1, 1] }}\n"
                f"param w: vector[{d}] ~ normal(0, {prior:.4g})\nobserve y ~ normal(dot(w, x), {sd})\n"
                f"release post = posterior(w){using}\noutput centre = mean(post)\n"
            )
            centre = lambda r: predicted(numbers(run(program, path(data + "_train"))["centre"]), tx, ty, scale)
            book.record("linear", data, epsilon, who, "dp", "exact", centre, OFTEN)

logistic(
    [
        ("dpm refined", "dp", "certified", "draw(w) using refined"),
        ("dpm score_statistics", "dp", "exact", "posterior(w) using score_statistics"),
        ("dpm gibbs", "dp", "certified", "draw(w) using gibbs"),
        ("dpm beta_div", "pure", "conditional", "draw(w) using beta_div assuming convergence"),
    ]
)

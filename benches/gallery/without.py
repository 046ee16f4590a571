"""The analyses of the gallery without privacy: exact posteriors, maximum likelihood and plain estimates, by numpy and scipy."""

try:
    import numpy as np
    from scipy import optimize, special, stats
except ImportError:  # `run.py --short` and `--samples` need neither
    np = None

Z = 1.6448536269514722


def numbers(cells):
    return np.array([float(c) for c in cells])


def jeffreys(k, n):
    """The middle 90 % of a share."""
    return stats.beta.ppf([0.05, 0.95], k + 0.5, n - k + 0.5)


def table(rows, columns, counts):
    """Counts in rows and columns, aligned."""
    wide = max(len(r) for r in rows)
    lines = [" " * wide + "".join(f"{c:>{max(9, len(c) + 2)}}" for c in columns)]
    for r in rows:
        lines.append(f"{r:<{wide}}" + "".join(f"{counts(r, c):>{max(9, len(c) + 2)}}" for c in columns))
    return "\n".join(lines)


def crossed(a, b):
    counts = {}
    for x, y in zip(a, b):
        counts[x, y] = counts.get((x, y), 0) + 1
    return lambda r, c: counts.get((r, c), 0)


def ab_test(t):
    dice, lines, draws = np.random.default_rng(1), [], {}
    of = crossed(t["contact"], t["y"])
    for level in ("cellular", "telephone", "unknown"):
        sold, not_sold = of(level, "yes"), of(level, "no")
        draws[level] = dice.beta(1 + sold, 1 + not_sold, 400_000)
        low, high = stats.beta.ppf([0.05, 0.95], 1 + sold, 1 + not_sold)
        lines.append(f"{level:<10} {sold:>4} of {sold + not_sold:>4}   mean {draws[level].mean():.4f}   90% [{low:.4f}, {high:.4f}]")
    lift = draws["cellular"] - draws["telephone"]
    low, high = np.quantile(lift, [0.05, 0.95])
    return "\n".join(lines + [f"lift {lift.mean():.4f}   90% [{low:.4f}, {high:.4f}]   better {np.mean(lift > 0):.4f}"])


def pooled_poll(t):
    of, lines = crossed(t["job"], t["housing"]), []
    for job in sorted(set(t["job"])):
        yes, n = of(job, "yes"), of(job, "yes") + of(job, "no")
        low, high = jeffreys(yes, n)
        lines.append(f"{job:<14} {yes:>4} of {n:>4}   share {yes / n:.4f}   logit {special.logit(yes / n):>7.4f}   90% [{low:.4f}, {high:.4f}]")
    return "\n".join(lines)


def linear(t):
    x, y = numbers(t["AT"]) - 20, numbers(t["PE"])
    design = np.column_stack([np.ones_like(x), x])
    estimate, *_ = np.linalg.lstsq(design, y, rcond=None)
    n = len(y)
    sd = np.sqrt(((y - design @ estimate) ** 2).sum() / (n - 2))
    error = sd * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    q = stats.t.ppf(0.95, n - 2)
    spread = np.sqrt((n - 2) * sd**2 / stats.chi2.ppf([0.95, 0.05], n - 2))
    lines = [f"{name:<3} {e:>9.4f}   90% [{e - q * s:.4f}, {e + q * s:.4f}]" for name, e, s in zip("ab", estimate, error)]
    return "\n".join(lines + [f"sd  {sd:>9.4f}   90% [{spread[0]:.4f}, {spread[1]:.4f}]"])


def logistic(t):
    male = np.array(t["sex"]) == "Male"
    x = np.column_stack([~male * 1.0, male * 1.0, numbers(t["education-num"]) - 9])
    y = (np.array(t["income"]) == ">50K") * 1.0
    centre, sd = np.array([-1.0, -1.0, 0.0]), np.array([2.0, 2.0, 1.0])
    w = centre.copy()
    for _ in range(50):
        p = special.expit(x @ w)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(1 / sd**2)
        step = np.linalg.solve(hessian, x.T @ (y - p) - (w - centre) / sd**2)
        w = w + step
        if np.abs(step).max() < 1e-10:
            break
    error = np.sqrt(np.diag(np.linalg.inv(hessian)))
    names = ["u[Female]", "u[Male]", "s"]
    return "\n".join(f"{n:<10} {e:>8.4f}   sd {s:.4f}   90% [{e - Z * s:.4f}, {e + Z * s:.4f}]" for n, e, s in zip(names, w, error))


def exposure(t):
    deaths, years = numbers(t["death"]).sum(), numbers(t["futime"]).sum() / 365.25
    low, high = 1000 * stats.gamma.ppf([0.05, 0.95], deaths, scale=1 / years)
    return f"deaths {deaths:.0f}   person-years {years:.0f}\nper 1,000: {1000 * deaths / years:.2f}   90% [{low:.2f}, {high:.2f}]"


def survival(t):
    h, days, relapse = numbers(t["hormon"]), numbers(t["rfstime"]), numbers(t["status"])
    times = np.unique(days[relapse == 1])

    def loss(b):
        """Breslow's partial likelihood of Cox's model."""
        total = b * h[relapse == 1].sum()
        for at in times:
            total -= (relapse[days == at].sum()) * np.log(np.exp(b * h[days >= at]).sum())
        return -total

    b = optimize.minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-8}).x
    sd = 1 / np.sqrt((loss(b + 0.01) - 2 * loss(b) + loss(b - 0.01)) / 0.01**2)
    lines = [f"Cox regression: log hazard ratio {b:.4f}   sd {sd:.4f}   90% [{b - Z * sd:.4f}, {b + Z * sd:.4f}]"]
    for arm in (0, 1):
        alive = 1.0
        for at in times[times <= 1826]:
            alive *= 1 - ((days == at) & (relapse == 1) & (h == arm)).sum() / ((days >= at) & (h == arm)).sum()
        lines.append(f"Kaplan-Meier: without relapse after five years, {'with' if arm else 'without'} hormones: {alive:.4f}")
    return "\n".join(lines)


def two_way(t):
    of, levels = crossed(t["sex"], t["marital-status"]), sorted(set(t["marital-status"]))
    cells = [of("Female", "Widowed"), of("Male", "Married-civ-spouse"), of("Male", "Widowed"), of("Female", "Married-civ-spouse")]
    odds, sd = cells[0] * cells[1] / (cells[2] * cells[3]), np.sqrt(sum(1 / c for c in cells))
    shown = table(["Female", "Male"], levels, of)
    return f"{shown}\nodds ratio {odds:.2f}   90% [{odds * np.exp(-Z * sd):.2f}, {odds * np.exp(Z * sd):.2f}]"


def mean_variance(t):
    lines = []
    for name, x in (("as it is", 10 * numbers(t["income"])), ("in 0..200", 10 * np.clip(numbers(t["income"]), 0, 20))):
        n, m, v = len(x), x.mean(), x.var(ddof=1)
        sm, sv = np.sqrt(v / n), np.sqrt((((x - m) ** 4).mean() - v**2) / n)
        lines.append(f"{name}: mean {m:.2f}   90% [{m - Z * sm:.2f}, {m + Z * sm:.2f}]   variance {v:.0f}   90% [{v - Z * sv:.0f}, {v + Z * sv:.0f}]   sd {np.sqrt(v):.2f}")
    return "\n".join(lines)


def median(t):
    x = np.sort(numbers(t["income"]))
    n, lines = len(x), []
    for q in (0.25, 0.5, 0.75):
        low, high = (int(stats.binom.ppf(p, n, q)) for p in (0.05, 0.95))
        lines.append(f"quantile {q:<4}  {np.quantile(x, q):.4f}   90% [{x[low]:.4f}, {x[high]:.4f}]")
    return "\n".join(lines)


def shares(levels, of, names):
    lines = []
    for level in levels:
        yes, n = of(level, True), of(level, True) + of(level, False)
        low, high = jeffreys(yes, n)
        lines.append(f"{names[level]:<10} {yes:>5} of {n:>5}   share {yes / n:.4f}   90% [{low:.4f}, {high:.4f}]")
    return "\n".join(lines)


def by_month(t):
    months = [int(m) for m in t["month"]]
    return shares(range(1, 13), crossed(months, [float(d) > 30 for d in t["arr_delay"]]), {m: str(m) for m in range(1, 13)})


def mixture(t):
    x = numbers(t["radius_mean"])

    def loss(v):
        p = special.expit(v[0])
        return -np.log((1 - p) * stats.norm.pdf(x, v[1], np.exp(v[3])) + p * stats.norm.pdf(x, v[2], np.exp(v[4]))).sum()

    found = optimize.minimize(loss, [0.0, 12.0, 18.0, 0.6, 1.1], method="BFGS")
    v, cov = found.x, found.hess_inv
    slope = np.array([special.expit(v[0]) * (1 - special.expit(v[0])), 1, 1, np.exp(v[3]), np.exp(v[4])])
    e, s = np.array([special.expit(v[0]), v[1], v[2], np.exp(v[3]), np.exp(v[4])]), slope * np.sqrt(np.diag(cov))
    names = ["w", "mu[1]", "mu[2]", "sd[1]", "sd[2]"]
    return "\n".join(f"{n:<6} {a:>8.4f}   90% [{a - Z * b:.4f}, {a + Z * b:.4f}]   (maximum likelihood)" for n, a, b in zip(names, e, s))


def both_moments(t):
    x = numbers(t["pH"])
    n, m, s = len(x), x.mean(), x.std(ddof=1)
    q, spread = stats.t.ppf(0.95, n - 1) * s / np.sqrt(n), np.sqrt((n - 1) * s**2 / stats.chi2.ppf([0.95, 0.05], n - 1))
    return f"mean {m:.4f}   90% [{m - q:.4f}, {m + q:.4f}]\nsd   {s:.4f}   90% [{spread[0]:.4f}, {spread[1]:.4f}]"


def missing(t):
    x = numbers([c for c in t["creatinine"] if c not in ("", "NA")])
    m, s = x.mean(), x.std(ddof=1) / np.sqrt(len(x))
    return f"missing {len(t['creatinine']) - len(x)}\nmean of the others {m:.4f}   90% [{m - Z * s:.4f}, {m + Z * s:.4f}]   above 5: {(x > 5).sum()} rows"


def dates(t):
    days = [np.datetime64(d).astype(int) for d in t["dteday"]]
    on, busy = [int((d + 3) % 7 + 1) for d in days], [float(c) > 300 for c in t["cnt"]]
    late = sum(d >= "2012-07-01" and b for d, b in zip(t["dteday"], busy))
    names = dict(enumerate(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], 1))
    return f"{shares(range(1, 8), crossed(on, busy), names)}\nbusy from July 2012 on: {late}"


def top_levels(t):
    values, counts = np.unique(t["dest"], return_counts=True)
    best = sorted(zip(-counts, values))[:10]
    return "\n".join(f"{i:>2}  {v}  {-c:>5}   90% [{-c - Z * np.sqrt(-c):.0f}, {-c + Z * np.sqrt(-c):.0f}]" for i, (c, v) in enumerate(best, 1))


def large(t):
    import random

    rows, dice = list(zip(t["sex"], map(float, t["hours-per-week"]))), random.Random(1)
    drawn = [row for _ in range(500) for row in dice.choices(rows, k=10_000)]
    male, hours = np.array([r[0] == "Male" for r in drawn]), np.array([r[1] for r in drawn])
    lines = []
    for name, x in (("all", hours), ("men", hours[male]), ("women", hours[~male])):
        s = x.std() / np.sqrt(len(x))
        lines.append(f"{name:<6} {len(x):>8}   mean {x.mean():.5f}   90% [{x.mean() - Z * s:.4f}, {x.mean() + Z * s:.4f}]")
    return "\n".join(lines + ["quartiles " + ", ".join(f"{q:.0f}" for q in np.quantile(hours, [0.25, 0.5, 0.75]))])


def rows_per_person(t):
    late, key = numbers(t["arr_delay"]) > 30, t["tailnum"]
    seen, kept = {}, []
    for i, k in enumerate(key):
        seen[k] = seen.get(k, 0) + 1
        if seen[k] <= 20:
            kept.append(i)
    lines = []
    for name, rows in (("all rows", range(len(key))), ("at most 20 each", kept)):
        k, n = int(late[list(rows)].sum()), len(rows)
        low, high = jeffreys(k, n)
        lines.append(f"{name:<16} {k} of {n}   share {k / n:.4f}   90% [{low:.4f}, {high:.4f}]")
    share, sums = late[kept].mean(), {}
    for i in kept:
        sums[key[i]] = sums.get(key[i], 0.0) + late[i] - share
    s = np.sqrt(sum(v * v for v in sums.values())) / len(kept)
    return "\n".join(lines + [f"at most 20 each, rows of one aircraft dependent: 90% [{share - Z * s:.4f}, {share + Z * s:.4f}]"])

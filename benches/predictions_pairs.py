"""The program-data pairs of predictions.py: mechanism, budget and model on the rows of public data sets.

Bounds, priors and known spreads are what a data dictionary or the nature of a quantity suggests; no prior is fitted to the rows that it is
tried on. A pair stays in the list whatever its ratio is.
"""

import csv
import gzip
import os

import numpy as np

from predictions_truth import Line, Normal, Point, Shares, linear, logistic

DP = "dp(eps = 1, delta = 1e-6)"
DP3 = "dp(eps = 3, delta = 1e-6)"
DP10 = "dp(eps = 10, delta = 1e-6)"


class Pair:
    """A program in parts, its rows as text, and what its release is held against."""

    def __init__(self, data, model, columns, rows, body, query, truth):
        self.data, self.model, self.columns, self.rows, self.body, self.query = data, model, columns, rows, body, query
        self.found = truth

    @property
    def truth(self):
        """Worked out when it is asked for, if that takes long."""
        self.found = self.found() if callable(self.found) else self.found
        return self.found

    def using(self, mechanism, budget, note="", runs=None, assuming=False):
        """One pair: this model by a mechanism at a budget."""
        how = f"{self.query} using {mechanism}" + (" assuming convergence" if assuming else "")
        name = mechanism.split("(")[0]
        return {
            "id": f"{name}{note} | {self.data} {self.model} | {budget}",
            "mechanism": name,
            "budget": budget,
            "pair": self,
            "how": how,
            "runs": runs,
        }

    def text(self):
        return "\n".join([",".join(self.columns)] + [",".join(row) for row in self.rows]) + "\n"


def table(folder, path):
    path = os.path.join(folder, path)
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def one(values):
    return [[f"{v}"] for v in values]


def rate(data, what, y, a=1, b=1, query="draw(p)"):
    """A share with a beta prior."""
    n, s = len(y), sum(y)
    body = f"private t[{n}] {{ y: bool }}\nparam p ~ beta({a}, {b})\nobserve y ~ bernoulli(p)"
    return Pair(data, f"{what} beta({a},{b})", ["y"], one(y), body, query, Line("beta", a + s, b + n - s))


def shares(data, what, y, levels, a=1, query="draw(p)"):
    alpha = [a] * len(levels)
    names = [f"k{i}" for i in range(len(levels))]
    body = f"private t[{len(y)}] {{ y: category {{{', '.join(names)}}} }}\nparam p: simplex[y] ~ dirichlet({alpha})\nobserve y ~ categorical(p)"
    counts = [sum(v == level for v in y) for level in levels]
    return Pair(data, f"{what} dirichlet({a})", ["y"], one(names[levels.index(v)] for v in y), body, query, Shares(np.add(alpha, counts)))


def counted(data, what, y, most, a, b, query="draw(l)"):
    body = f"private t[{len(y)}] {{ y: int in 0..{most} }}\nparam l ~ gamma({a}, {b})\nobserve y ~ poisson(l)"
    s = sum(min(v, most) for v in y)
    return Pair(data, f"{what} gamma({a},{b})", ["y"], one(y), body, query, Line("gamma", a + s, b + len(y)))


def waiting(data, what, y, lo, hi, a, b):
    y = np.clip(y, lo, hi)
    body = f"private t[{len(y)}] {{ y: real in [{lo}, {hi}] }}\nparam l ~ gamma({a}, {b})\nobserve y ~ exponential(l)"
    return Pair(data, f"{what} gamma({a},{b})", ["y"], one(y), body, "draw(l)", Point((a + len(y)) / (b + y.sum())))


def tries(data, what, y, most, a, b):
    """Failures before a success."""
    y = np.clip(y, 0, most)
    body = f"private t[{len(y)}] {{ y: int in 0..{most} }}\nparam p ~ beta({a}, {b})\nobserve y ~ geometric(p)"
    return Pair(data, f"{what} geometric", ["y"], one(y), body, "draw(p)", Point((a + len(y)) / (a + b + len(y) + y.sum())))


def centre(data, what, y, lo, hi, m0, s0, sd, query="draw(m)"):
    """A normal mean of known spread."""
    y = np.clip(np.array(y, float), lo, hi)
    precision = 1 / s0**2 + len(y) / sd**2
    body = f"private t[{len(y)}] {{ y: real in [{lo}, {hi}] }}\nparam m ~ normal({m0}, {s0})\nobserve y ~ normal(m, {sd})"
    return Pair(data, f"{what} normal", ["y"], one(y), body, query, Line("normal", (m0 / s0**2 + y.sum() / sd**2) / precision, precision**-0.5))


def precision(data, what, y, lo, hi, m0, a, b):
    y = np.clip(np.array(y, float), lo, hi)
    body = f"private t[{len(y)}] {{ y: real in [{lo}, {hi}] }}\nparam tau ~ gamma({a}, {b})\nobserve y ~ normal({m0}, 1 / sqrt(tau))"
    return Pair(data, f"{what} precision", ["y"], one(y), body, "draw(tau)", Point((a + len(y) / 2) / (b + ((y - m0) ** 2).sum() / 2)))


def rows_of(x, y):
    return [[*(f"{v:.9g}" for v in r), f"{v}"] for r, v in zip(x, y)], [f"x_{i + 1}" for i in range(x.shape[1])] + ["y"]


def features(*columns):
    """An intercept and columns moved from public bounds to [-1, 1], of norm 1 at most together."""
    scaled = [np.clip(2 * (np.array(v, float) - lo) / (hi - lo) - 1, -1, 1) for v, lo, hi in columns]
    return np.column_stack([np.ones(len(scaled[0])), *scaled]) / np.sqrt(len(scaled) + 1)


def logit(data, x, y, sd=3, reach=None, query="draw(w)"):
    rows, names = rows_of(x, [int(v) for v in y])
    within = f" in l2({reach})" if reach else ""
    d = x.shape[1]
    body = f"private t[{len(y)}] {{ x: vector[{d}] in l2(1), y: bool }}\nparam w: vector[{d}]{within} ~ normal(0, {sd})\n"
    body += "observe y ~ bernoulli_logit(dot(w, x))"
    return Pair(
        data,
        f"logistic d={x.shape[1]} sd={sd}" + f" in a ball of {reach}" * bool(reach),
        names,
        rows,
        body,
        query,
        lambda: logistic(x, np.array(y, float), sd, reach),
    )


def line(data, x, y, lo, hi, sd, prior_sd, public, query):
    y = np.clip(np.array(y, float), lo, hi)
    rows, names = rows_of(x, y)
    body = f"private t[{len(y)}] {{ x: {'public ' if public else ''}vector[{x.shape[1]}] in l2(1), y: real in [{lo}, {hi}] }}\n"
    body += f"param w: vector[{x.shape[1]}] ~ normal(0, {prior_sd})\nobserve y ~ normal(dot(w, x), {sd})"
    return Pair(data, f"linear d={x.shape[1]}", names, rows, body, query, linear(x, y, sd, prior_sd))


def answer(data, what, y, kind, query, truth, levels=None):
    """A query over one column, whose truth is a number, counts or sorted values."""
    body = f"private t[{len(y)}] {{ y: {kind} }}"
    pair = Pair(data, what, ["y"], one(y), body, query, Point(truth))
    if levels:
        pair.levels, pair.values = levels, np.sort(np.array(y, float))
    return pair


def pairs(folder):
    """All of them, made when they are asked for."""
    load = lambda path: table(folder, path)
    take = lambda rows, name: [float(r[name]) for r in rows]
    whole = lambda rows, name: [int(float(r[name])) for r in rows]
    haberman, pima, wine = load("haberman/haberman.csv"), load("pima_diabetes/pima_diabetes.csv"), load("wine_quality/wine_red.csv")
    bank, ills, visits = load("bank/bank.csv"), load("badhealth/badhealth.csv"), load("doctor_visits/doctor_visits.csv")
    bike, mushroom, plant = load("bike_sharing/day.csv"), load("mushroom/mushroom.csv"), load("power_plant/power_plant.csv")
    cells, shell, concrete = load("breast_cancer_wdbc/wdbc.csv"), load("abalone/abalone.csv"), load("concrete/concrete.csv")
    coal, gbsg, cold = load("coal_disasters/coal_disasters.csv"), load("gbsg/gbsg.csv"), load("cryotherapy/cryotherapy.csv")

    died = [int(v == 2) for v in whole(haberman, "survival_status")]
    ill, sick = whole(pima, "outcome"), whole(ills, "badh")
    bought = [int(r["y"] == "yes") for r in bank]
    weather, habitat = [r["weathersit"] for r in bike], [r["habitat"] for r in mushroom]
    gaps = np.diff(sorted(take(coal, "date")))
    acid = take(wine, "pH")

    beta = lambda data, what, y, **more: rate(data, what, y, **more)
    h, p, s, b = (
        (lambda **m: beta("haberman", "death", died, **m)),
        (lambda **m: beta("pima", "diabetes", ill, **m)),
        (lambda **m: beta("badhealth", "bad health", sick, **m)),
        (lambda **m: beta("bank", "subscribed", bought, **m)),
    )
    bikes = lambda **m: shares("bike days", "weather", weather, ["1", "2", "3"], **m)
    woods = lambda **m: shares("mushroom", "habitat", habitat, sorted("dglmpuw"), **m)
    doctor = lambda **m: counted("badhealth", "visits", whole(ills, "numvisit"), 40, 2, 1, **m)
    sees = lambda **m: counted("doctor visits", "visits", whole(visits, "visits"), 14, 2, 4, **m)
    ph = lambda **m: centre("wine red", "pH", acid, 2, 5, 3.5, 0.5, 0.2, **m)
    watts = lambda **m: centre("power plant", "output", take(plant, "PE"), 400, 500, 450, 30, 20, **m)
    pressure = lambda **m: centre("pima", "blood pressure", take(pima, "blood_pressure"), 0, 130, 75, 20, 15, **m)
    post, of = {"query": "posterior(p)"}, lambda name: {"query": f"posterior({name})"}

    x_pima = features((take(pima, "glucose"), 0, 200), (take(pima, "bmi"), 0, 60), (take(pima, "age"), 20, 90))
    x_hab = features((take(haberman, "age"), 20, 90), (take(haberman, "positive_nodes"), 0, 60))
    x_cells = features((take(cells, "radius_mean"), 0, 30), (take(cells, "texture_mean"), 0, 40), (take(cells, "smoothness_mean"), 0, 0.2))
    x_shell = features((take(shell, "length"), 0, 1), (take(shell, "whole_weight"), 0, 3), (take(shell, "shell_weight"), 0, 1))
    young, malign = [int(v < 10) for v in whole(shell, "rings")], [int(r["diagnosis"] == "M") for r in cells]
    lp = lambda **m: logit("pima", x_pima, ill, **m)
    lh = lambda **m: logit("haberman", x_hab, died, **m)
    lc = lambda **m: logit("wdbc", x_cells, malign, **m)
    ls = lambda **m: logit("abalone", x_shell, young, **m)
    months = "jan feb mar apr may jun jul aug sep oct nov dec".split()
    x_bank = features((take(bank, "day"), 1, 31), ([months.index(r["month"]) + 1 for r in bank], 1, 12), (take(bank, "age"), 18, 95))
    lb = lambda **m: logit("bank", x_bank, bought, **m)
    x_mix = features((take(concrete, "cement"), 100, 550), (take(concrete, "water"), 120, 250), (take(concrete, "age"), 0, 365))
    strong = lambda public, query: line("concrete", x_mix, take(concrete, "compressive_strength"), 0, 100, 15, 50, public, query)
    x_plant = features((take(plant, "AT"), 0, 40), (take(plant, "V"), 20, 90))
    power = lambda public, query: line("power plant", x_plant, np.array(take(plant, "PE")) - 450, -50, 50, 10, 30, public, query)

    sugar, busy = take(pima, "glucose"), whole(visits, "visits")
    mean = lambda data, what, y, lo, hi: answer(data, f"mean {what}", y, f"real in [{lo}, {hi}]", "mean(y)", np.mean(y))
    glucose = mean("pima", "glucose", sugar, 0, 300)
    output = mean("power plant", "output", take(plant, "PE"), 400, 500)
    total = answer("doctor visits", "sum of visits", busy, "int in 0..14", "sum(y)", sum(busy))
    yes = answer("bank", "count", bought, "bool", "count(y)", sum(bought))
    kinds = lambda data, y, levels: answer(
        data, "counts of cells", y, f"category {{{', '.join(levels)}}}", "histogram(y)", [y.count(v) for v in levels]
    )
    sky, woodland = kinds("bike days", [f"k{v}" for v in weather], ["k1", "k2", "k3"]), kinds("mushroom", habitat, sorted("dglmpuw"))
    trades = kinds(
        "bank jobs", [r["job"].replace(".", "").replace("-", "") for r in bank], sorted({r["job"].replace(".", "").replace("-", "") for r in bank})
    )
    median = lambda data, what, y, kind, q: answer(
        data, f"{what} at {q}", y, kind, f"quantile(y, {q[0]})" if len(q) == 1 else f"quantiles(y, {q})", [0], levels=q
    )
    old = lambda q: median("bank", "age", whole(bank, "age"), "int in 18..99", q)
    load_mw = lambda q: median("power plant", "output", take(plant, "PE"), "real in [400, 500]", q)
    acidity = lambda q: median("wine red", "pH", acid, "real in [2, 5]", q)

    rdp = lambda order, eps: f"rdp(order = {order}, eps = {eps})"
    queries = lambda a, b, data, what, y: answer(data, f"share {what}", y, "bool", "mean(y)", np.mean(y))
    return [
        h(a=6, b=18).using("direct", rdp(4, 1)),
        p(a=5, b=5).using("direct", rdp(2, 1)),
        bikes(a=5).using("direct", rdp(3, 1)),
        ph().using("direct", "zcdp(50)"),
        h().using("diffuse", DP),
        h(a=6, b=18).using("diffuse", rdp(8, 0.5)),
        p().using("diffuse", DP3),
        b().using("diffuse", DP),
        bikes().using("diffuse", DP),
        woods().using("diffuse", DP3),
        doctor().using("diffuse", DP3),
        sees().using("diffuse", DP),
        ph().using("diffuse", "zcdp(0.05)"),
        watts().using("diffuse", DP),
        waiting("coal", "gaps in years", gaps, 0.001, 5, 5, 2).using("diffuse", DP3),
        tries("haberman", "positive nodes", whole(haberman, "positive_nodes"), 60, 4, 4).using("diffuse", DP3),
        precision("pima", "blood pressure", take(pima, "blood_pressure"), 0, 130, 75, 4, 900).using("diffuse", DP3),
        strong(True, "draw(w)").using("diffuse", DP),
        lp().using("diffuse", DP3),
        ls().using("diffuse", DP),
        h(a=6, b=18).using("concentrated", rdp(8, 0.5)),
        p().using("concentrated", DP),
        bikes().using("concentrated", DP3),
        ph().using("concentrated", "zcdp(0.05)"),
        lp().using("gibbs", DP),
        lc().using("gibbs", DP3),
        lh().using("gibbs", DP3),
        lb(sd=1).using("gibbs", DP3),
        lp().using("refined", DP3),
        lc().using("refined", DP3),
        ls().using("refined", DP3),
        lb(sd=1).using("refined", DP3),
        lp(**of("w")).using("score_statistics", DP),
        lc(**of("w")).using("score_statistics", DP3),
        ls(**of("w")).using("score_statistics", DP),
        lh(sd=1, **of("w")).using("score_statistics", DP),
        lb(sd=1, **of("w")).using("score_statistics", DP3),
        lp(**of("w")).using("refined", DP, note=" posterior"),
        lc(**of("w")).using("refined", DP3, note=" posterior"),
        ls(**of("w")).using("refined", DP, note=" posterior"),
        lb(sd=1, **of("w")).using("refined", DP3, note=" posterior"),
        strong(False, "posterior(w)").using("refined", DP3, note=" posterior"),
        power(False, "posterior(w)").using("refined", DP, note=" posterior"),
        glucose.using("laplace", "eps(1)"),
        output.using("laplace", "eps(0.1)"),
        total.using("laplace", "eps(0.5)"),
        sky.using("laplace", "eps(0.5)"),
        yes.using("geometric", "eps(0.5)"),
        total.using("geometric", "eps(1)"),
        sky.using("geometric", "eps(0.3)"),
        trades.using("geometric", "eps(0.5)"),
        glucose.using("gaussian", DP),
        yes.using("gaussian", "zcdp(0.01)"),
        sky.using("gaussian", DP),
        woodland.using("gaussian", DP),
        trades.using("gaussian", "zcdp(0.1)"),
        old([0.5]).using("exponential", "eps(1)"),
        old([0.25, 0.5, 0.75]).using("exponential", "eps(1)"),
        load_mw([0.5]).using("exponential", "eps(0.5)"),
        load_mw([0.1, 0.5, 0.9]).using("exponential", "eps(3)"),
        acidity([0.5]).using("exponential", "eps(1)"),
        queries(6, 18, "haberman", "death", died).using("beta_query(6, 18)", rdp(8, 0.5)),
        queries(2, 2, "pima", "diabetes", ill).using("beta_query(2, 2)", DP),
        queries(1, 9, "bank", "subscribed", bought).using("beta_query(1, 9)", DP3),
        h(**post).using("noise_aware", "eps(1)"),
        p(**post).using("noise_aware", "eps(0.1)"),
        b(**post).using("noise_aware", DP),
        bikes(**post).using("noise_aware", "eps(0.5)"),
        woods(**post).using("noise_aware", DP),
        doctor(**of("l")).using("noise_aware", "eps(1)"),
        sees(**of("l")).using("noise_aware", DP),
        ph(**of("m")).using("noise_aware", "eps(0.5)"),
        pressure(**of("m")).using("noise_aware", DP),
        strong(False, "posterior(w)").using("noise_aware", DP3),
        power(False, "posterior(w)").using("noise_aware", DP),
        h(**post).using("plug_in", "eps(0.5)"),
        bikes(**post).using("plug_in", DP),
        pressure(**of("m")).using("plug_in", "eps(0.5)"),
        h(**post).using("ls_hist", "eps(0.5)"),
        bikes(**post).using("ls_hist", "eps(1)"),
        woods(**post).using("ls_hist", "eps(0.5)"),
        h(**post).using("ls_dim", "eps(1)"),
        woods(**post).using("ls_dim", "eps(1)"),
        h(**post).using("ehd", "eps(8)"),
        bikes(**post).using("ehd", "eps(5)"),
        h(**post).using("ehds", "eps(2)"),
        bikes(**post).using("ehds", "eps(2)"),
        p(**post).using("ehds", "eps(5)"),
        h().using("beta_div", "eps(2)", assuming=True),
        lp().using("beta_div", "eps(6)", assuming=True),
        lh().using("beta_div", "eps(4)", assuming=True),
        lp(reach=20).using("ops", "eps(5)", assuming=True),
        lh(reach=15).using("ops", "eps(2)", assuming=True),
        lh(sd=1).using("penalty", DP10, runs=60),
        lp(sd=1).using("penalty", DP10, runs=60),
        lh(sd=1).using("dp_hmc", DP10, runs=60),
        lb(sd=1).using("dp_hmc", DP3, runs=60),
        lb(sd=1).using("dp_sgld", DP, runs=60),
        lp(sd=1).using("dp_sgld", DP3, runs=60),
    ]

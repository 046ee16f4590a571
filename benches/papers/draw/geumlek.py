"""Geumlek, Song, Chaudhuri (2017): guarantees, accuracy of private draws of a rate, and logistic regression."""

import math

from .style import BLUE, ORANGE, SHADES, compare, counted, few, fewer, holds, hollow, joined, led, legend, line, logarithmic, narrowing, panels, table, verdict

MODEL = ["posterior", "alg-2", "alg-3", "gauss-half", "dpm-posterior"]
NAMES = {
    "alg-2": "Algorithm 2 (diffused)", "alg-3": "Algorithm 3 (concentrated)", "gauss-half": "Gaussian noise on the count",
    "dpm-posterior": "dpm, posterior(p) using auto", "posterior": "posterior, not private",
    "alg-4": "Algorithm 4 (concentrated)", "alg-5": "Algorithm 5 (diffused)", "ops": "OPS", "dpm": "dpm, draw(w) using auto",
    "auto-posterior": "dpm, posterior(w) using auto", "dp-sgd-fixed": "DP-SGD, settings fixed beforehand",
}


def series(rows, *key):
    """Points (x, other numbers) of the lines with this key, in the order of x."""
    return sorted((v[0], v[1:]) for k, v in rows if k == list(key))


def guarantees():
    _, rows = table("geumlek-1", 2)
    figure, axes = panels(1, 3, 2.6, sharey=True)
    ends = []
    for a, mechanism, letter in zip(axes, ["diffuse", "concentrated"], "rm"):
        constants = sorted({k[1] for k, _ in rows if k[0] == mechanism}, key=float)
        for constant, shade in zip(constants, SHADES):
            own = sorted((v[0], v[1]) for k, v in rows if k == [mechanism, constant] and math.isfinite(v[1]))
            line(a, f"r, m = {constant}", *zip(*own), marker="", color=shade)
            a.axvline(1 + 6 / float(constant), color=shade, linewidth=0.8, linestyle="--")
        a.set(title=f"{mechanism}({letter})", xlabel="order")
        ends.append(len(constants))
    for name, colour, words in [("diffuse", ORANGE, "diffuse(r = 0.5)"), ("noise_aware", BLUE, "noise_aware")]:
        constant = "0.5" if name == "diffuse" else "equal"
        own = sorted((v[0], v[1]) for k, v in rows if k == [name, constant] and math.isfinite(v[1]))
        line(axes[2], words, *zip(*own), marker="", color=colour)
    axes[2].axvline(13, color=ORANGE, linewidth=0.8, linestyle="--")
    axes[2].set(title="same loss at order 2", xlabel="order")
    for a in axes:
        logarithmic(a, "xy")
        a.set(xlim=(1.05, 72), ylim=(1e-3, 4))
        a.set_xticks([2, 5, 10, 20, 60], ["2", "5", "10", "20", "60"])
    axes[0].set_ylabel("Rényi ε")
    legend(figure, axes, columns=4)
    last = max((v for k, v in rows if k == ["noise_aware", "equal"]), key=lambda v: v[0])
    finite = [math.isfinite(v[1]) == (v[0] < 1 + 6 / float(k[1])) for k, v in rows if k[0] != "noise_aware"]
    return figure, (
        "**Claim.** One draw from a posterior whose rows are weighted r (diffused) or whose prior is sharpened by 1/m (concentrated) has a Rényi loss ε that grows without bound as the order "
        f"approaches 1 + 6/r or 1 + 6/m. **Shown.** ε over the order, one line per r (left panel) or m (middle panel), {constants[0]} to {constants[-1]}; dashed: the orders of the claim. Right panel: `diffuse(r = 0.5)`, and a posterior from "
        "noisy counts (`noise_aware`) with the same loss at order 2. Exact values; prior beta(6, 12), 100 rows of 0 or 1. **Found.** "
        f"{holds(finite)}, by the exact divergence between neighbours rather than the four pairs that the paper prints. `noise_aware` has a finite loss at every order that was tried ({last[1]:.2g} at order {last[0]:.0f})."
    )


def best(rows, panels_):
    """How often each of the private methods is the only best, in words: the least divergence or the largest log-likelihood."""
    wins, level = dict.fromkeys(MODEL[1:], 0), 0
    for panel in panels_:
        values = {m: dict(series(rows, panel, m)) for m in wins}
        sign = 1 if min(v[0] for v in values["dpm-posterior"].values()) >= 0 else -1
        for epsilon in values["dpm-posterior"]:
            least = min(sign * v[epsilon][0] for v in values.values())
            first = [m for m, v in values.items() if sign * v[epsilon][0] == least]
            wins[first[0]] += len(first) == 1
            level += len(first) > 1
    words = {m: NAMES[m].split(" (")[0] for m in wins} | {"dpm-posterior": "`posterior(p) using auto`"}
    best_in = joined([f"{words[m]} in {n}" for m, n in sorted(wins.items(), key=lambda w: -w[1])])
    return f"of {sum(wins.values()) + level} places the best is {best_in}{f'; in {level} two or more are equal' if level else ''}"


def small(rows, panels_, sign, most=0.1):
    """Is Algorithm 2 or 3 better than Gaussian noise, in each place where ε is small?"""
    at = {(*k, v[0]): sign * v[1] for k, v in rows if k[0] in panels_ and v[0] <= most}
    better = [min(at[p, "alg-2", e], at[p, "alg-3", e]) < value for (p, m, e), value in at.items() if m == "gauss-half"]
    return better


def rate(name, layout, drawn, kl):
    _, rows = table(name, 2)
    figure, axes = panels(*layout, 2.5)
    for i, (a, (panel, title)) in enumerate(zip(axes, drawn)):
        for method in MODEL:
            points = [(e, v) for e, v in series(rows, panel, method) if panel not in kl or v[0] > 1e-5]
            if points:
                line(a, method, [e for e, _ in points], [v[0] for _, v in points])
        logarithmic(a, "xy" if panel in kl else "x")
        if panel not in kl:
            few(a, "y")
        a.set(title=title, xlabel="Rényi ε")
        if i % layout[1] == 0:
            a.set_ylabel("KL from the posterior" if panel in kl else "log-likelihood of 100 rows")
    legend(figure, axes, NAMES, columns=3)
    return figure, rows


def synthetic():
    drawn = [("(a) order 2", "KL, order 2"), ("(b) order 15", "KL, order 15"), ("(c) order 2", "new rows, order 2"), ("(d) order 15", "new rows, order 15")]
    figure, rows = rate("geumlek-2", (2, 2), drawn, {"(a) order 2", "(b) order 15"})
    near, likely = small(rows, {p for p, _ in drawn[:2]}, 1), small(rows, {p for p, _ in drawn[2:]}, -1)
    return figure, (
        "**Claim.** Where ε is small, one draw of a rate by Algorithm 2 (rows weigh less) or 3 (a sharper prior) comes from a law nearer to the posterior than one after Gaussian noise on the count. **Shown.** Over ε, at orders 2 (left) and 15 (right); "
        "top: the divergence KL from the posterior of 38 ones in 100 rows, less is better, not drawn below 1e-5; bottom: the log-likelihood of 100 new rows at the draw, at rate 0.5, more is better. Gaussian noise has half the printed variance, which is enough. `draw(p) using auto` is "
        "Algorithm 2 with the exact constant, so close to that line that it is not drawn. Exact expectations; prior beta(6, 12). **Found.** "
        f"{holds(near + likely)}: at ε of at most 0.1 the better of Algorithms 2 and 3 is better than Gaussian noise in {sum(near)} of {len(near)} places by KL and in {sum(likely)} of {len(likely)} by log-likelihood. Over all ε, both orders and both measures, "
        f"{best(rows, [p for p, _ in drawn])}. Algorithms 2 and 3 draw from the posterior itself where ε allows. `posterior(p) using auto` releases noisy counts once: its posterior is wider by that noise, and may be drawn "
        "from as often as one likes; the others pay for each draw."
    )


def appendix_rate(name, panels_, prior):
    figure, rows = rate(name, (1, len(panels_)), panels_, set())
    least = min(v[0] for _, v in rows)
    sd = {tuple(k): v[2] for k, v in rows if v[0] == least}
    spread = {m: [sd[p, m] for p, _ in panels_] for m in ("alg-3", "alg-2")}
    narrower = [a < b for a, b in zip(*spread.values())]
    words = {m: " to ".join(sorted({f"{min(s):.1f}", f"{max(s):.1f}"}, key=float)) for m, s in spread.items()}
    rates = [title.removeprefix("rate ") for _, title in panels_]
    return figure, (
        "**Claim.** As ε falls, Algorithm 3 falls back on a sharper prior and Algorithm 2 forgets the data. **Shown.** The log-likelihood of 100 new rows at one private draw of their rate, over ε, more is better: "
        f"100 rows of {f'rate {rates[0]}' if len(rates) == 1 else f'rates {joined(rates)}, one panel each'}, order 15, prior {prior}. Exact expectations; the sd below is not drawn. **Found.** "
        f"{holds(narrower)}: at ε = {least:g} the log-likelihood of a draw varies less with Algorithm 3 (sd {words['alg-3']}) than with Algorithm 2 (sd {words['alg-2']}){f' in {sum(narrower)} of {len(narrower)} panels' if len(narrower) > 1 else ''}. "
        f"Over all ε, {best(rows, [p for p, _ in panels_])}."
    )


def appendix_1():
    return appendix_rate("geumlek-appendix-1", [("(a) rate 1/3", "rate 1/3"), ("(b) rate 1/2", "rate 1/2"), ("(c) rate 2/3", "rate 2/3")], "beta(6, 12)")


def appendix_2():
    return appendix_rate("geumlek-appendix-2", [("rate 0.2", "rate 0.2")], "beta(1, 1)")


METHODS = ["alg-4", "alg-5", "dpm", "ops"]
SETS = {"abalone": "Abalone", "adult": "Adult", "mnist": "MNIST 3/8"}


def logistic(column, words, orders=("1", "10", "100"), sets=SETS, methods=METHODS, more=()):
    _, rows = table("geumlek-3", 4)
    rows += more
    most = max(v[-1] for _, v in rows)
    wide = len(sets) == 1  # one row of panels
    figure, axes = panels(*((1, len(orders), 2.5) if wide else (len(orders), len(sets), 1.95)), sharex=True, sharey=True if wide else "col")
    for a, (order, data) in zip(axes, [(o, d) for o in orders for d in sets]):
        for method, look in narrowing(methods).items():
            own = sorted((float(k[2]), abs(v[column]), 2 * v[column + 1], v[-1] < most) for k, v in rows if k[:2] == [data, order] and k[3] == method)
            x, y, error, few_draws = zip(*own)
            line(a, method, [math.exp(e) for e in x], y, error, few=few_draws, **look)
        logarithmic(a, "xy" if column == 0 else "x")
        if column == 0:
            values = [v[0] for k, v in rows if k[0] == data and k[3] in methods]
            a.set_yticks([t for t in (0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5) if min(values) < t < max(values)])
        else:
            few(a, "y")
        a.set_title(f"{SETS[data]}, order {order}")
        if wide or order == orders[-1]:
            a.set_xlabel("Rényi ε")
        if data == "abalone" and (order == orders[0] or not wide):
            a.set_ylabel(words)
    legend(figure, axes, NAMES, columns=2 if more else 4)
    return figure, rows


def against(rows, column, orders, method, other):
    """Places where one method is ahead of another, where it is behind, and all; both measures are better if less."""
    at = {tuple(k): (abs(v[column]), v[column + 1]) for k, v in rows if k[1] in orders}
    return compare([(v, at[*k[:3], other]) for k, v in at.items() if k[3] == method and (*k[:3], other) in at])


def comparison(rows, column, orders):
    """What the places say of Algorithms 4 and 5, of OPS and of ours, in words."""
    of = lambda *pair: against(rows, column, orders, *pair)
    four, five, both, ours = of("alg-4", "ops"), of("alg-5", "ops"), of("alg-5", "alg-4"), [of("dpm", m) for m in METHODS if m != "dpm"]
    # A normal number is below -2 once in 44.
    chance = f"; by chance alone equal methods would be behind in about {both[2] / 44:.0f}" if both[1] else ""
    ops = f"Algorithms 4 and 5 are each {led(('OPS', four))}" if four == five else f"Algorithm 4 is {led(('OPS', four))}, Algorithm 5 is {led(('OPS', five))}"
    return (
        f"{verdict(four, five, both)}: {ops}; Algorithm 5 is {led(('Algorithm 4', both))}{chance}. "
        f"`draw(w) using auto` is {led(*zip(('Algorithm 4', 'Algorithm 5', 'OPS'), ours))}."
    )


def means(rows):
    return f"means of {counted(rows, SETS)} draws{hollow(rows)}"


def regression():
    orders = ("1", "10", "100")
    figure, rows = logistic(0, "test error", orders)
    return figure, (
        "**Claim.** Algorithms 4 (a sharper prior) and 5 (rows weigh less) are better than OPS everywhere, and Algorithm 5 is always better than 4. **Shown.** The share of test rows that one private draw of logistic coefficients gets wrong, over ε, "
        f"less is better, on {joined([*SETS.values()])} at Rényi orders {joined([*orders])}: {sites(rows, orders)} places; {means(rows)}{places(rows)}. Algorithms 4 and 5 and OPS are drawn from the posteriors that their guarantees "
        f"are for, as the paper does, without a certificate{early(rows)}. OPS has the weight that its exact guarantee allows, twice the printed one. **Found.** {comparison(rows, 0, orders)} It is certified, and "
        f"mostly takes the posterior of Algorithm 5 at the same weight, by a chain of the length that the certificate allows for: its errors are on average {apart(rows, 'adult')} Algorithm 5's on Adult and {apart(rows, 'mnist')} on MNIST 3/8. "
        "On Abalone at small ε it takes `refined`, two stages."
    )


def sites(rows, orders):
    """How many places there are."""
    return len({tuple(k[:3]) for k, _ in rows if k[1] in orders})


def apart(rows, data):
    """How far our test errors are from those of Algorithm 5 on average, in words."""
    at = {tuple(k): v[0] for k, v in rows if k[0] == data}
    ratios = [v / at[*k[:3], "alg-5"] for k, v in at.items() if k[3] == "dpm"]
    percent = 100 * (sum(ratios) / len(ratios) - 1)
    return f"{abs(percent):.1f} % {'above' if percent > 0 else 'below'}"


def early(rows):
    """What hollow marks stand for, in words."""
    return " (hollow marks are of an earlier run, where dpm's certified chain drew them, and `auto` knew one stage alone)" if fewer(rows) else ""


def places(rows):
    """Where fewer than the paper's nine budgets were run, in words."""
    run = lambda data, methods: min(sum(k[0] == data and k[1] == order and k[3] == m for k, _ in rows) for order in ("1", "10", "100") for m in methods)
    less = [f"{n} of them on {SETS[d]}" for d in SETS if (n := run(d, METHODS)) < 9]
    whose = "" if min(run(d, [m for m in METHODS if m != "dpm"]) for d in SETS) < 9 else ", `draw(w) using auto` at least at"
    return f"; run at all nine ε of the paper{f'{whose or chr(44)} {joined(less)}' if less else ''}"


def certified():
    """What is certified beside baselines that need no tuning."""
    _, more = table("geumlek-certified", 4)
    methods, sets = ["dp-sgd-fixed", "dpm", "auto-posterior", "ops"], [d for d in ("abalone", "adult") if sum(k[0] == d for k, _ in more) == 54]
    figure, rows = logistic(0, "test error", sets=sets, methods=methods, more=more)
    own = [r for r in rows if r[0][0] in sets]
    of = lambda method: led(*((words, against(own, 0, ("1", "10", "100"), method, other)) for other, words in (("dp-sgd-fixed", "DP-SGD"), ("ops", "OPS"))))
    more = [(k, v) for k, v in more if k[0] in sets]
    missing = [SETS[d] for d in ("abalone", "adult") if d not in sets]
    return figure, (
        f"**Certified mechanisms only.** **Shown.** The test error of logistic regression on {joined([SETS[d] for d in sets])} at Rényi orders 1, 10 and 100 over ε, less is better, beside OPS and DP-SGD with settings fixed beforehand. At each order all methods "
        f"satisfy the same Rényi ε. Means of {counted(more, SETS)} releases. **Found.** `draw(w) using auto` is {of('dpm')}; `posterior(w) using auto` is {of('auto-posterior')}."
        f"{f' {joined(missing)} was not run.' if missing else ''} MNIST 3/8 has 784 coefficients; `posterior` takes at most 100."
    )


def appendix_3():
    orders = ("1", "10")
    figure, rows = logistic(0, "test error", orders)
    return figure, (
        f"**Claim.** At the lower orders, {joined([*orders])}, the test error of logistic regression ranks the methods as in Figure 3. **Shown.** The panels of Figure 3 at these orders again, with the same points: {sites(rows, orders)} of its "
        f"{sites(rows, ('1', '10', '100'))} places. **Found.** {comparison(rows, 0, orders)}"
    )


def appendix_4():
    orders = ("1", "10", "100")
    figure, rows = logistic(2, "− log-likelihood of a row", orders)
    return figure, (
        "**Claim.** The negative log-likelihood ranks the methods as the test error of Figure 3 does. **Shown.** The same draws in the same panels, judged by the negative log-likelihood of a test row, over ε, less is better. **Found.** "
        f"{comparison(rows, 2, orders)}"
    )

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
        "**Claim.** One draw from a posterior whose rows are weighted r (diffused; left panel) or whose prior is sharpened by 1/m (concentrated; middle panel) has a Rényi loss ε that grows without bound as the order "
        "approaches 1 + 6/r or 1 + 6/m (dashed; one line per r or m, 0.1 to 1). **Found.** "
        f"{holds(finite)}, by the exact divergence between neighbours rather than the four pairs that the paper prints. Right panel: a posterior from noisy counts (`noise_aware`) "
        f"with the loss of `diffuse(r = 0.5)` at order 2 has a finite loss at every order that was tried ({last[1]:.2g} at order {last[0]:.0f}). Exact values; prior beta(6, 12), 100 rows of 0 or 1."
    )


def best(rows, panels_):
    """How often each of the private methods is the best, in words: the least divergence or the largest log-likelihood."""
    wins = dict.fromkeys(MODEL[1:], 0)
    for panel in panels_:
        values = {m: dict(series(rows, panel, m)) for m in wins}
        sign = 1 if min(v[0] for v in values["dpm-posterior"].values()) >= 0 else -1
        for epsilon in values["dpm-posterior"]:
            wins[min(wins, key=lambda m: (sign * values[m][epsilon][0], m != "dpm-posterior"))] += 1
    words = {m: NAMES[m].split(" (")[0] for m in wins} | {"dpm-posterior": "`posterior(p) using auto`"}
    return f"of {sum(wins.values())} places the best is {joined([f'{words[m]} in {n}' for m, n in sorted(wins.items(), key=lambda w: -w[1])])}"


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
        "**Claim.** Where ε is small, one draw of a rate by Algorithm 2 (rows weigh less) or 3 (a sharper prior) comes from a law nearer to the posterior than one after Gaussian noise on the count. Over ε, at orders 2 and 15; "
        "top: the divergence KL from the posterior, less is better; bottom: the log-likelihood of 100 new rows, more is better. **Found.** "
        f"{holds(near + likely)}: at ε of at most 0.1 the better of Algorithms 2 and 3 is better than Gaussian noise (of half the printed variance, which is enough) in {sum(near)} of {len(near)} places by KL and in {sum(likely)} of {len(likely)} by log-likelihood. Over all ε, both orders and both measures, "
        f"{best(rows, [p for p, _ in drawn])}. `posterior(p) using auto` releases noisy counts once: its posterior is wider by that noise, and may be drawn "
        "from as often as one likes; the others pay for each draw. KL below 1e-5 is not drawn. `draw(p) using auto` is Algorithm 2 with the exact "
        "constant, so close to that line that it is not drawn. Exact expectations, compared as they are; prior beta(6, 12)."
    )


def appendix_rate(name, panels_, prior):
    figure, rows = rate(name, (1, len(panels_)), panels_, set())
    least = min(v[0] for _, v in rows)
    sd = {tuple(k): v[2] for k, v in rows if v[0] == least}
    spread = {m: [sd[p, m] for p, _ in panels_] for m in ("alg-3", "alg-2")}
    narrower = [a < b for a, b in zip(*spread.values())]
    words = {m: " to ".join(sorted({f"{min(s):.1f}", f"{max(s):.1f}"}, key=float)) for m, s in spread.items()}
    return figure, (
        f"**Claim.** Log-likelihood of 100 new rows at one private draw of their rate, over ε, more is better, at order 15 with the prior {prior}: as ε falls, Algorithm 3 falls back on a sharper prior and Algorithm 2 forgets the data. **Found.** "
        f"{holds(narrower)}: at ε = {least:g} the log-likelihood of a draw varies less with Algorithm 3 (sd {words['alg-3']}) than with Algorithm 2 (sd {words['alg-2']}){f' in {sum(narrower)} of {len(narrower)} panels' if len(narrower) > 1 else ''}. "
        f"Over all ε, {best(rows, [p for p, _ in panels_])}. Exact expectations, compared as they are; 100 rows of the rate named above each panel."
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
    chance = f" (of as many equals chance would put about {both[2] / 44:.0f} behind)" if both[1] else ""
    return (
        f"{verdict(four, five, both)}: Algorithm 4 is {led('OPS', four)}, Algorithm 5 is {led('OPS', five)}; Algorithm 5 is {led('Algorithm 4', both)}{chance}. "
        f"`draw(w) using auto` is {joined([led(n, c) for n, c in zip(('Algorithm 4', 'Algorithm 5', 'OPS'), ours)])}. "
        f"Means of {counted(rows, SETS)} draws{hollow(rows)}, bars of two standard errors, marks moved apart"
    )


def regression():
    orders = ("1", "10", "100")
    figure, rows = logistic(0, "test error", orders)
    return figure, (
        "**Claim.** The share of test rows that one private draw of logistic coefficients gets wrong, over ε, less is better, at Rényi orders 1, 10 and 100 on Abalone, Adult and MNIST 3/8: Algorithms 4 (a sharper prior) and 5 (rows weigh less) are better than OPS (one draw of a posterior cut to a ball) everywhere, and Algorithm 5 is always better than 4. **Found.** "
        f"{comparison(rows, 0, orders)}{places(rows)}. Algorithms 4 and 5 and OPS are drawn from the posteriors that their guarantees are for, as the paper does, without a certificate{early(rows)}. `draw(w) using auto` is certified: it "
        f"mostly takes the posterior of Algorithm 5 at the same weight, by a chain of the length that the certificate allows for: its errors are on average {apart(rows, 'adult')} Algorithm 5's on Adult and {apart(rows, 'mnist')} on MNIST 3/8. "
        "On Abalone at small ε it takes `refined`, two stages. OPS has the weight that its exact guarantee allows, twice the printed one."
    )


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
    of = lambda method, other: led({"dp-sgd-fixed": "DP-SGD", "ops": "OPS"}[other], against([r for r in rows if r[0][0] in sets], 0, ("1", "10", "100"), method, other))
    more = [(k, v) for k, v in more if k[0] in sets]
    missing = [SETS[d] for d in ("abalone", "adult") if d not in sets]
    return figure, (
        f"**Certified mechanisms only**: the test error of logistic regression on {joined([SETS[d] for d in sets])} at Rényi orders 1, 10 and 100 over ε, less is better, beside OPS (one draw of a posterior cut to a ball) and DP-SGD with settings fixed beforehand. "
        f"`draw(w) using auto` is {of('dpm', 'dp-sgd-fixed')}, and {of('dpm', 'ops')}; `posterior(w) using auto` is {of('auto-posterior', 'dp-sgd-fixed')}, and {of('auto-posterior', 'ops')}. At each order all methods satisfy the same Rényi ε "
        f"(order 1: zCDP). Means of {counted(more, SETS)} releases, bars of two standard errors, marks moved apart.{f' {joined(missing)} was not run.' if missing else ''} MNIST 3/8 has 784 coefficients; `posterior` takes at most 100."
    )


def appendix_3():
    figure, rows = logistic(0, "test error", ("1", "10"))
    return figure, f"**Claim.** At the lower orders, 1 (zCDP) and 10, the test error of logistic regression over ε ranks the methods as in Figure 3. **Found.** {comparison(rows, 0, ('1', '10'))}."


def appendix_4():
    orders = ("1", "10", "100")
    figure, rows = logistic(2, "− log-likelihood of a row", orders)
    return figure, f"**Claim.** The negative log-likelihood of a test row, over ε, less is better, at orders 1, 10 and 100 on the same data, ranks the methods as the test error of Figure 3 does. **Found.** {comparison(rows, 2, orders)}."

"""Geumlek, Song, Chaudhuri (2017): guarantees, accuracy of private draws of a rate, and logistic regression."""

import math

from .style import BLUE, ORANGE, SHADES, counted, few, hollow, joined, legend, line, logarithmic, narrowing, panels, table

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
    return figure, (
        "**Claim.** One draw from a posterior whose rows weigh r (diffused) or whose prior is sharpened by 1/m (concentrated) is Rényi private up to an order that this constant decides: its loss ε, over the order, "
        "grows without bound towards it (dashed: 1 + 6/r and 1 + 6/m; one line a constant, 0.1 to 1). **Found.** So it is, with the exact divergence of neighbours in place of the "
        "printed four pairs. Right: a posterior from noisy counts (`noise_aware`) with the loss of `diffuse(r = 0.5)` at order 2 has a finite loss at "
        f"every order ({last[1]:.2g} at order {last[0]:.0f}). Exact values; prior beta(6, 12), 100 rows of 0 or 1."
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
    return figure, (
        "**Claim.** Where ε is small, one draw of a rate by Algorithm 2 (rows weigh less) or 3 (a sharper prior) comes from a law nearer to the posterior than one after Gaussian noise on the count. Over ε, at two orders; top: the divergence KL, less is better; bottom: the log-likelihood of 100 new rows, more is better. **Found.** "
        f"In part: {best(rows, [p for p, _ in drawn])}. `posterior(p) using auto` releases noisy counts once: its posterior is wider by that noise, and may be drawn "
        "from as often as one likes; the others pay for each draw. Values below 1e-5 are not drawn. `draw(p) using auto` is Algorithm 2 with the exact "
        "constant, a line that could not be told from it. Exact expectations; prior beta(6, 12)."
    )


def appendix_rate(name, panels_, prior):
    figure, rows = rate(name, (1, len(panels_)), panels_, set())
    return figure, (
        f"**Claim.** Log-likelihood of 100 new rows at one private draw of their rate, over ε, more is better, at order 15 with the prior {prior}: as ε falls, Algorithm 3 falls back on a sharper prior and Algorithm 2 forgets the data. **Found.** "
        f"So it is; {best(rows, [p for p, _ in panels_])}. Exact expectations; 100 rows of the rate named above each panel."
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


def comparison(rows, column, orders):
    """What the places say of Algorithms 4 and 5, of OPS and of ours, in words."""
    at = {tuple(k): (abs(v[column]), v[column + 1]) for k, v in rows if k[1] in orders}
    sites = sorted({k[:3] for k in at})

    def apart(one, other):
        return one[0] > other[0] + 2 * math.hypot(one[1], other[1])

    above = [s for s in sites if at[*s, "alg-5"][0] > at[*s, "alg-4"][0]]
    clear = sum(apart(at[*s, "alg-5"], at[*s, "alg-4"]) for s in above)
    ops = sum(at[*s, "ops"][0] < max(at[*s, "alg-4"][0], at[*s, "alg-5"][0]) for s in sites)
    theirs = [m for m in METHODS if m != "dpm"]
    behind = sum(apart(at[*s, "dpm"], at[*s, m]) for s in sites for m in theirs)
    return (
        f"Algorithm 5 has the larger value in {len(above)} of {len(sites)} places, in {clear} by two standard errors of the difference, so this is {'contradicted there' if clear else 'not contradicted'}; OPS beats one of them in {ops}. "
        f"`draw(w) using auto`, the only line whose certificate covers the chain that ran, is behind another by two standard errors in {behind} of {3 * len(sites)} comparisons. "
        f"Means of {counted(rows, SETS)} draws{hollow(rows)}, bars of two standard errors, moved apart"
    )


def regression():
    orders = ("1", "10", "100")
    figure, rows = logistic(0, "test error", orders)
    return figure, (
        "**Claim.** The share of test rows that one private draw of logistic weights gets wrong, over ε, less is better: Algorithm 4 (a sharper prior) and 5 (rows weigh less) beat OPS (one draw of a posterior cut to a ball) everywhere, and Algorithm 5 is always better than 4. **Found.** "
        f"{comparison(rows, 0, orders)}{places(rows)}."
    )


def places(rows):
    """How many of the paper's nine budgets were run, in words."""
    run = {d: [len({k[2] for k, _ in rows if k[:2] == [d, order]}) for order in {k[1] for k, _ in rows}] for d in SETS}
    less = [f"{min(n)}{f' to {max(n)}' if max(n) > min(n) else ''} on {SETS[d]}" for d, n in run.items() if min(n) < 9]
    return f"; all nine ε of the paper{', ' + joined(less) if less else ''}"


def certified():
    """What is certified beside baselines that need no tuning."""
    _, more = table("geumlek-certified", 4)
    methods, sets = ["dp-sgd-fixed", "dpm", "auto-posterior", "ops"], [d for d in ("abalone", "adult") if any(k[0] == d for k, _ in more)]
    figure, rows = logistic(0, "test error", sets=sets, methods=methods, more=more)
    at = {tuple(k): v for k, v in rows}
    sites = sorted({tuple(k[:3]) for k, _ in more})

    def against(method):
        both = [(at[*s, "dp-sgd-fixed"], at[*s, method]) for s in sites if (*s, method) in at and (*s, "dp-sgd-fixed") in at]
        lead = [math.copysign(1, a[0] - b[0]) * (abs(a[0] - b[0]) > 2 * math.hypot(a[1], b[1])) for a, b in both]
        return f"in {lead.count(1)} of {len(both)} places and a larger one in {lead.count(-1)}"

    return figure, (
        f"**Certified mechanisms only**: the test error of logistic regression on {' and '.join(SETS[d] for d in sets)} over ε, less is better, beside OPS and DP-SGD whose settings were fixed before any data were seen (100 steps of length 1/L, all rows, gradients uncut), so that no tuning "
        f"is left to pay for. By two standard errors `draw(w) using auto` has a smaller test error than DP-SGD {against('dpm')}, `posterior(w) using auto` (the mean of what is released) "
        f"{against('auto-posterior')}. Every method spends the same Rényi ε of the order "
        f"(order 1: zCDP). Means of {counted(more, SETS)} releases, bars of two standard errors. MNIST is left out: `posterior` takes at most 100 weights."
    )


def appendix_3():
    figure, rows = logistic(0, "test error", ("1", "10"))
    return figure, f"**Claim.** The test error of logistic regression over ε, as in Figure 3, behaves alike at the lower orders. **Found.** {comparison(rows, 0, ('1', '10'))}."


def appendix_4():
    orders = ("1", "10", "100")
    figure, rows = logistic(2, "− log-likelihood of a row", orders)
    return figure, f"**Claim.** The methods of Figure 3 have the same order by the negative log-likelihood of a test row over ε, less is better. **Found.** {comparison(rows, 2, orders)}."

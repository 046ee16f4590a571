"""Jewson, Ghalebikesabi, Holmes (2023): influence of a row, logistic regression, networks, and a membership attack."""

import itertools
import math

from .style import GREEN, GREY, ORANGE, VIOLET, compare, counted, few, holds, hollow, joined, led, legend, line, logarithmic, narrowing, panels, table, verdict

NAMES = {
    "beta-div": "dpm, beta_div (assumes convergence)", "langevin": "dpm, draw(w) using auto (certified)", "penalty": "dpm, penalty (certified)",
    "auto-posterior": "dpm, posterior(w) using auto (exact)", "dp-sgd-fixed": "DP-SGD, settings fixed beforehand",
    "dp-sgld": "dpm, dp_sgld (certified)", "output": "output perturbation", "output-fixed": "output perturbation, Λ = 1/9",
    "dp-sgd": "DP-SGD, best of 12, tuning not paid", "minami": "Gibbs, Theorem 7 of Minami", "truncated": "posterior on a ball",
    "no-privacy": "not private", "sgd": "SGD, not private", "mean": "mean outcome, not private",
}
SETS = {"abalone": "Abalone", "adult": "Adult", "breast": "breast cancer", "ionosphere": "Ionosphere", "simulated-2": "simulated d = 2",
        "simulated-10": "simulated d = 10", "kin8nm": "kin8nm", "power-plant": "power plant"}
TUNED = "DP-SGD with the best of 12 settings (choice not paid for)"
MAIN = ["no-privacy", "dp-sgd", "langevin", "auto-posterior", "beta-div", "output"]
CERTIFIED = ["no-privacy", "dp-sgd-fixed", "dp-sgld", "langevin", "auto-posterior", "penalty"]


def influence():
    _, rows = table("jewson-1", 2)
    figure, axes = panels(2, 2, 2.1, sharex=True)
    styles = {"bayes": GREY, "gibbs printed weight": ORANGE, "gibbs dpm": GREEN, "beta-div dpm": VIOLET}
    words = {"bayes": "Bayes", "gibbs printed weight": "Gibbs, weight as printed", "gibbs dpm": "dpm, auto (gibbs)", "beta-div dpm": "dpm, beta_div"}
    for a, (i, model) in zip(axes, [(i, m) for i in (1, 2) for m in ("logistic", "gaussian")]):
        for name, colour in styles.items():
            own = sorted((v[0], v[i]) for k, v in rows if k == [model, name])
            if own:
                line(a, name, *zip(*own), marker="", color=colour)
        a.set_title(f"{model} rows".replace("gauss", "Gauss"))
        few(a, "y")
        if model == "gaussian" and i == 2:
            a.set_ylim(-2.2, 2.2)
        if i == 2:
            a.set_xlabel("linear predictor" if model == "logistic" else "residual")
    axes[0].set_ylabel("exp(−loss), 1 at best")
    axes[2].set_ylabel("slope: influence")
    legend(figure, axes, words)
    slopes = {tuple(k): {} for k, _ in rows}
    for k, v in rows:
        slopes[tuple(k)][v[0]] = abs(v[2])
    beta, gauss = slopes["logistic", "beta-div dpm"], slopes["gaussian", "beta-div dpm"]
    gibbs = [slopes["logistic", name] for name in ("gibbs printed weight", "gibbs dpm")]
    # Far on the wrong side the slope of a logistic loss is the weight of the row.
    weights = [max(own.values()) for own in gibbs]
    up_to = [max(t for t in beta if beta[t] > own[t]) for own in gibbs]
    likely = [beta[t] > own[t] for own in gibbs for t in beta if t > 0]
    return figure, (
        "**Claim.** At ε = 6 the β-divergence (`beta_div`) keeps more of the influence of likely rows than a Gibbs posterior, and bounds that of unlikely ones. **Shown.** Top: what one row multiplies the prior by. Bottom: the slope of its loss, whose size is its influence. "
        "Left: a logistic row, over its linear predictor; right: a Gaussian row, over its residual. Bayes gives each row weight 1; the Gibbs posteriors have the printed weight and dpm's. "
        f"Closed forms; δ = 1e-5, features of norm 1, prior sd 3. **Found.** {holds(likely)}: of likely rows (predictor above 0) `beta_div` keeps more influence up to a predictor of {up_to[0]:.1f} against the printed weight {weights[0]:.2f} and up to {up_to[1]:.1f} against {weights[1]:.2f}, the weight that `gibbs` certifies; "
        f"beyond, the row is all but certain and both influences are about {max(own[t] for own, t in zip(gibbs, up_to)):.1g} or less. The influence under `beta_div` is at most {max(beta.values()):.2f} and falls to {beta[min(beta)]:.2f} at a predictor of {min(beta):.0f}, where that under a Gibbs posterior is its weight. "
        f"For Gaussian rows neither the loss nor its slope has a bound, so a Gibbs posterior does not apply; under `beta_div` the influence is at most {max(gauss.values()):.2f}."
    )


def points(rows, data, method, column, rows_at=None, epsilon=None):
    """(x, mean, two standard errors, of few repetitions) over epsilon at a number of rows, or over rows at an epsilon."""
    most = max(v[-1] for _, v in rows)
    if rows_at is not None:
        own = [(float(k[2]), v) for k, v in rows if k[0] == data and int(k[1]) == rows_at and k[3] == method]
    else:
        own = [(float(k[1]), v) for k, v in rows if k[0] == data and float(k[2]) == epsilon and k[3] == method]
    return [(x, v[column], 2 * v[column + 1], v[-1] < most) for x, v in sorted(own)]


def largest(rows, data):
    """The number of rows at which all epsilons were tried."""
    sizes = {}
    for k, _ in rows:
        if k[0] == data:
            sizes.setdefault(int(k[1]), set()).add(k[2])
    return max((n for n, e in sizes.items() if len(e) > 1), key=lambda n: n)


ALL = ["abalone", "adult", "breast", "ionosphere", "simulated-2", "simulated-10"]


def below(own, top):
    """The part of a falling line that is below `top`, from where it crosses it."""
    cross = [(x * (v / x) ** ((y - top) / (y - w)), top, 0.0, False) for (x, y, *_), (v, w, *_) in itertools.pairwise(own) if y > top >= w]
    return cross + [p for p in own if p[1] <= top]


def below_one(axes):
    """No more of an axis of AUC than there is: bars may pass 1."""
    axes.set_ylim(top=min(axes.get_ylim()[1], 1.01))


def measure(methods, column, words, data=ALL):
    _, rows = table("jewson-2", 4)
    figure, axes = panels(len(data) // 3, 3, 2.2, sharex=True)
    for a, name in zip(axes, data):
        n = largest(rows, name)
        # Output perturbation has errors so large that nothing else could be told apart: its line ends at the top of the panel.
        y = {m: [v for _, v, *_ in points(rows, name, m, column, rows_at=n)] for m in methods}
        top = math.inf
        if "output" in methods and column == 0:
            low, high = min(map(min, filter(None, y.values()))), max([*(v for m in y if m != "output" for v in y[m]), min(y["output"])])
            top = high + 0.2 * (high - low)
            a.set_ylim(low - 0.1 * (high - low), top)
        for method in methods:
            own = below(points(rows, name, method, column, rows_at=n), top)
            if len(own) < 2:  # not computed yet
                continue
            x, y, error, few_runs = zip(*own)
            look = narrowing(methods).get(method, {})
            line(a, method, x, y, error if look else None, few=few_runs, markevery=slice(int(y[0] == top), None), **look)
        logarithmic(a, "x")
        few(a, "y")
        if column == 2:
            below_one(a)
        a.set_title(f"{SETS[name]}, {n:,} rows", fontsize=8.5)
    for a in axes[-3:]:
        a.set_xlabel("ε")
    for a in axes[::3]:
        a.set_ylabel(words)
    legend(figure, axes, NAMES, columns=2)
    return figure, rows, data


def lead(rows, data, column, ours, other, sign):
    """Places where `ours` is ahead of `other`, where it is behind, and all."""
    at = {(k[0], k[2], k[3]): v[column : column + 2] for k, v in rows if k[0] in data and int(k[1]) == largest(rows, k[0])}
    return compare([(v, at[d, e, other]) for (d, e, m), v in at.items() if m == ours and (d, e, other) in at], sign < 0)


def rmse():
    figure, rows, data = measure(MAIN, 0, "log10 RMSE of coefficients")
    output, tuned, whole = [lead(rows, data, 0, "beta-div", m, -1) for m in ("output", "dp-sgd", "auto-posterior")]
    return figure, (
        f"**Claim.** At equal ε the posterior of the β-divergence (`beta_div`) has the least RMSE of logistic coefficients. **Shown.** Its log10 over ε, less is better, one panel for each of {joined([SETS[d] for d in data])}. {repetitions(rows)}. Larger errors of output perturbation leave the panel. **Found.** "
        f"{verdict(output, tuned, whole)}: `beta_div` is {led(('output perturbation', output), (TUNED, tuned), ('`posterior(w) using auto`', whole))}. DP-SGD and `posterior(w) using auto` also spend δ = 1e-5, so equal ε is not equal privacy; `beta_div` assumes that its chain converged."
    )


def repetitions(rows, data=ALL):
    """How often the points were computed that are drawn over epsilon."""
    drawn = [r for r in rows if r[0][0] in data and int(r[0][1]) == largest(rows, r[0][0])]
    return f"{counted(drawn, SETS)} repetitions{hollow(drawn)}"


def auc():
    figure, rows, data = measure(MAIN, 2, "AUC on test rows")
    output, tuned, whole = [lead(rows, data, 2, "beta-div", m, 1) for m in ("output", "dp-sgd", "auto-posterior")]
    return figure, (
        "**Claim.** `beta_div` is also the best by the AUC of logistic regression, the chance that a test row with outcome 1 is ranked above one with outcome 0. **Shown.** The AUC over ε, more is better, one panel for each of "
        f"{joined([SETS[d] for d in data])}. {repetitions(rows)}; δ = 1e-5, which `beta_div` and output perturbation do not spend. **Found.** "
        f"{verdict(output, tuned, whole)}: `beta_div` is {led((TUNED, tuned), ('output perturbation', output), ('`posterior(w) using auto`', whole))}. `posterior(w) using auto` is {led(('that DP-SGD', lead(rows, data, 2, 'auto-posterior', 'dp-sgd', 1)))}."
    )


def certified():
    figure, rows, data = measure(CERTIFIED, 2, "AUC on test rows")
    of = lambda ours, other: lead(rows, data, 2, ours, other, 1)
    return figure, (
        "**Certified mechanisms only.** **Shown.** The AUC of logistic regression (the chance that a test row with outcome 1 is ranked above one with outcome 0) over ε, more is better, beside DP-SGD with settings fixed beforehand, one panel for each of "
        f"{joined([SETS[d] for d in data])}. {repetitions(rows)}; δ = 1e-5. **Found.** "
        f"`posterior(w) using auto` is {led(('DP-SGD', of('auto-posterior', 'dp-sgd-fixed')))}, `draw(w) using auto` is {led(('DP-SGD', of('langevin', 'dp-sgd-fixed')))}. Two chains of dpm pay for every step and need no bound on the rows: `penalty`, which accepts or refuses proposals by noisy answers, is "
        f"{led(('`draw(w) using auto`', of('penalty', 'langevin')))}; `dp_sgld`, which follows noisy gradients of samples of the rows, is {led(('`draw(w) using auto`', of('dp-sgld', 'langevin')))}."
    )


def weighted():
    """Minami et al. beside what dpm certifies at the same budget."""
    methods = ["no-privacy", "minami", "dp-sgd-fixed", "langevin", "auto-posterior"]
    figure, rows, data = measure(methods, 0, "log10 RMSE of coefficients", ["abalone", "breast", "simulated-10"])
    one, whole = lead(rows, data, 0, "langevin", "minami", -1), lead(rows, data, 0, "auto-posterior", "dp-sgd-fixed", -1)
    return figure, (
        f"**Certified mechanisms only.** **Shown.** log10 of the RMSE of logistic coefficients over ε, less is better, on {joined([SETS[d] for d in data])}, beside the Gibbs posterior at the weight of Theorem 7 and DP-SGD with settings fixed beforehand. "
        f"{repetitions(rows, data)}; δ = 1e-5. **Found.** `draw(w) using auto` takes `refined`, or the same posterior at the larger weight of the figure above: it is {led(('Theorem 7', one))}. `posterior(w) using auto` is {led(('DP-SGD', whole))}."
    )


def by_rows():
    _, rows = table("jewson-2", 4)
    figure, axes = panels(2, 2, 2.2, sharex=True, sharey="row")
    for a, (column, name) in zip(axes, [(c, d) for c in (0, 2) for d in ("simulated-2", "simulated-10")]):
        for method in MAIN:
            own = points(rows, name, method, column, epsilon=6.0)
            if len(own) < 2:  # not computed yet
                continue
            x, y, error, few_runs = zip(*own)
            look = narrowing(MAIN).get(method, {})
            line(a, method, x, y, error if look else None, few=few_runs, **look)
        logarithmic(a, "x")
        few(a, "y")
        a.set_title(SETS[name])
        a.set_ylabel(["log10 RMSE of coefficients", "", "AUC on test rows"][column] if name == "simulated-2" else "")
        if column:
            a.set_xlabel("rows")
    # Once the lines of both panels are known, which have one axis.
    below_one(axes[-1])
    legend(figure, axes, NAMES, columns=2)
    pair = ("simulated-2", "simulated-10")

    def moves(method, column, sign):
        """Does the measure move that way by two standard errors on both data sets, from the fewest rows to the most?"""
        both = [points(rows, d, method, column, epsilon=6.0) for d in pair]
        return all(sign * (p[-1][1] - p[0][1]) > math.hypot(p[-1][2], p[0][2]) for p in both)

    words = {"no-privacy": "the fit without privacy", "dp-sgd": "DP-SGD", "langevin": "`draw(w) using auto`", "auto-posterior": "`posterior(w) using auto`",
             "beta-div": "`beta_div`", "output": "output perturbation"}
    falls, grows = [[m for m in MAIN if moves(m, *way)] for way in ((0, -1), (2, 1))]
    least = {}
    for name in pair:
        at = {(m, x): y for m in MAIN[1:] for x, y, *_ in points(rows, name, m, 0, epsilon=6.0)}
        for x in {x for _, x in at}:
            best = min((y, m) for (m, at_x), y in at.items() if at_x == x)[1]
            least[best] = least.get(best, 0) + 1
    sizes = {}
    for method, name in itertools.product(MAIN, pair):
        most = max(x for x, *_ in points(rows, name, method, 0, epsilon=6.0))
        if most < 1e5:
            sizes.setdefault(most, []).append(f"{words[method]} with {SETS[name].split('simulated ')[1]}")
    sizes = [f"{most:,.0f} for {joined(which)}" for most, which in sizes.items()]
    drawn = [r for r in rows if r[0][0] in pair and float(r[0][2]) == 6.0 and r[0][3] in MAIN]
    moved = [m in which for which in (falls, grows) for m in MAIN]
    named = lambda methods, last="and": joined([words[m] for m in methods], last) if methods else "none"
    return figure, (
        f"**Claim.** At a fixed ε = 6 more rows help. **Shown.** Over the number of rows, on {SETS[pair[0]]} (left) and {SETS[pair[1]]} (right); top: log10 of the RMSE of logistic coefficients, less is better; bottom: the AUC (the chance that a test row with outcome 1 is ranked above one with outcome 0), more is better. "
        f"DP-SGD has the best of 12 settings (choice not paid for); `beta_div` assumes that its chain converged. Run up to 100,000 rows{'; only up to ' + joined(sizes) if sizes else ''}. {max(int(v[-1]) for _, v in drawn)} repetitions{hollow(drawn)}; δ = 1e-5. **Found.** "
        f"{holds(moved)}: from each method's fewest rows to its most, on both data sets, the error falls by two standard errors of the difference for {named(falls)}, not for {named([m for m in MAIN if m not in falls], 'or')}; "
        f"the AUC grows so {'only ' if 0 < len(grows) < len(MAIN) else ''}for {named(grows)}. By the mean alone the private method with the least error is {joined([f'{words[m]} in {n}' for m, n in sorted(least.items(), key=lambda b: -b[1])])} of {sum(least.values())} places."
    )


NETWORK = ["sgd", "dp-sgld", "dp-sgd-fixed", "dp-sgd", "beta-div", "mean"]


def network():
    _, rows = table("jewson-3", 4)
    data = ["simulated-2", "simulated-10", "kin8nm", "power-plant"]
    figure, axes = panels(2, 4, 2.1, sharex="col", sharey="col")
    top = max(v[-1] for _, v in rows)
    for a, (epsilon, name) in zip(axes, [(e, d) for e in (2.0, 10.0) for d in data]):
        for method in NETWORK:
            own = sorted((int(k[1]), v) for k, v in rows if k[0] == name and float(k[2]) == epsilon and k[3] == method)
            if not own:
                continue
            # One colour for DP-SGD: dashed where its settings were fixed beforehand.
            dashed = {"linestyle": "--"} if method == "dp-sgd-fixed" else {}
            look = narrowing(NETWORK).get(method, {})
            x, y, error = [x for x, _ in own], [v[0] for _, v in own], [2 * v[1] for _, v in own]
            line(a, method, x, y, error if look else None, few=[v[-1] < top for _, v in own], **look, **dashed)
        logarithmic(a, "x")
        few(a, "y")
        most = max(int(k[1]) for k, _ in rows if k[0] == name)
        a.set_xticks(*([100, 500], ["100", "500"]) if most <= 500 else ([100, 1000, 10_000, 100_000], ["100", "1k", "10k", "100k"]))
        a.set_xlim(60, 2.2 * most)
        a.set_title(f"{SETS[name]}, ε = {epsilon:.0f}", fontsize=8.5)
        if epsilon == 10.0:
            a.set_xlabel("rows")
    for a in axes[::4]:
        a.set_ylabel("log10 test RMSE")
    legend(figure, axes, NAMES, columns=2)
    gap = {}
    for k, v in rows:
        gap.setdefault(tuple(k[:3]), {})[k[3]] = v[:2]

    def of(ours, other, sizes=range(10**6)):
        return compare([(g[ours], g[other]) for k, g in gap.items() if {ours, other} <= set(g) and int(k[1]) in sizes])

    def gained(method):
        """The same of the most rows against the fewest, at each data set and ε."""
        lines = {}
        for k, g in sorted(gap.items()):
            if method in g:
                lines.setdefault((k[0], k[2]), []).append(g[method])
        return "in {0} of {2} lines".format(*compare([(own[-1], own[0]) for own in lines.values() if len(own) > 1]))

    most = {(m, d): max((int(k[1]) for k, _ in rows if k[0] == d and k[3] == m), default=0) for m in NETWORK for d in data}
    ends = {d: max(most[m, d] for m in NETWORK) for d in data}
    run = joined([f"{n:,} rows ({joined([SETS[d] for d in data if ends[d] == n])})" for n in sorted(set(ends.values()), reverse=True)])
    short = {}
    for m, d in most:
        if most[m, d] < ends[d]:
            short.setdefault((m, most[m, d]), []).append(SETS[d])
    names = {"dp-sgd": "DP-SGD", "dp-sgd-fixed": "DP-SGD with settings fixed", "dp-sgld": "`dp_sgld`", "beta-div": "`beta_div`", "sgd": "SGD", "mean": "the mean"}
    short = [f"{names[m]} only up to {n:,} on {joined(sets)}" for (m, n), sets in short.items()]
    few_rows, many_rows = [of("beta-div", "dp-sgd", sizes) for sizes in (range(1000), range(1000, 10**6))]
    fewer_than = joined([str(n) for n in sorted({int(k[1]) for k, _ in rows}) if n < 1000])
    claims = [(few_rows[1], few_rows[0], few_rows[2]), *([many_rows] if many_rows[2] else [])]
    more = f"`beta_div` better at many (from 1,000 on): {verdict(many_rows).lower()}, as it is {led(('that DP-SGD', many_rows))}" if many_rows[2] else f"better at many rows: not tested, as at most {max(ends.values()):,} rows were run"
    return figure, (
        "**Claim.** The test error of a network of ten hidden units falls with the number of rows; DP-SGD is better at few rows, `beta_div` at many. **Shown.** log10 of the test RMSE over the number of rows, less is better, "
        f"at ε = 2 (top) and 10 (bottom). Run up to {run}{'; ' + joined(short) if short else ''}. {counted(rows, SETS)} repetitions{hollow(rows)}; δ = 1e-5 (`beta_div` spends none). `auto` has no rule for a network, so the mechanisms are asked for by name. **Found.** "
        f"From the fewest rows to the most the error falls by two standard errors of the difference {gained('beta-div')} of `beta_div` and {gained('dp-sgd')} of DP-SGD with the best of 12 settings (choice not paid for). DP-SGD better at few rows ({fewer_than}): {verdict(claims[0]).lower()}, as `beta_div` is {led(('that DP-SGD', few_rows))}; {more}. "
        f"`beta_div` is {led(('DP-SGD with settings fixed beforehand (200 steps, rate 0.1, clip 1)', of('beta-div', 'dp-sgd-fixed')))}. The certified `dp_sgld` is {led(('predicting the mean outcome of the training rows, without privacy,', of('dp-sgld', 'mean')))}. "
        "A network's posterior has many modes, so `beta_div`'s assumption that its chain converged cannot be checked."
    )


def error_at(errors, method, epsilon):
    return next(v[0] for k, v in errors if k[3] == method and float(k[2]) == epsilon)


# log10 of the largest error that is drawn.
HIGHEST = 1.2


def attack():
    _, rows = table("jewson-4", 3)
    _, errors = table("jewson-4-errors", 4)
    figure, axes = panels(1, 2, 2.7)
    for method in ["output", "truncated", "minami", "langevin", "beta-div"]:
        own = sorted((float(k[2]), v[0]) for k, v in rows if k[0] == "x = 1 and -1" and k[1] == method)
        error = dict(sorted((float(k[2]), v[0]) for k, v in errors if k[3] == method))
        line(axes[0], method, *zip(*own))
        both = [(success, error[e]) for e, success in own if e in error and error[e] < HIGHEST]
        if both:
            line(axes[1], method, *zip(*both))
    logarithmic(axes[0], "x")
    axes[0].set(xlabel="ε", ylabel="success of the best attack", title="attack against ε", ylim=(0.49, None))
    axes[1].set(xlabel="success of the best attack", ylabel="log10 RMSE, 1,000 rows", title="error at equal success")
    legend(figure, axes, NAMES, columns=2)
    curve = {m: [(v[0], error_at(errors, m, float(k[2]))) for k, v in rows if k[0] == "x = 1 and -1" and k[1] == m] for m in {k[1] for k, _ in rows}}
    others = [p for m, own in curve.items() if m != "beta-div" for p in own]
    beaten = [any(s <= success and e < error for s, e in others) for success, error in curve["beta-div"]]
    passed = sum(v[0] > v[1] + 1e-6 for _, v in rows)
    far = [(v[0] - 0.5) / (v[1] - 0.5) for k, v in rows if k[0] != "x = 1 and -1"]
    left = sum(len(own) for m, own in curve.items() if m != "output-fixed")  # which is not drawn
    high = [k[3] for k, v in errors if v[0] >= HIGHEST and k[3] in curve and k[3] != "output-fixed"]
    return figure, (
        "**Claim.** At equal success of the best attacker `beta_div` has the least error of its coefficients. **Shown.** The attacker sees one draw of the coefficient of a logistic regression and guesses which of two data sets was used: of two rows (x, outcome), one is (0, 0) in both, the other is (1, 1) in one "
        "and (−1, 1) in the other. Left panel: the share of right guesses, over ε; 0.5 is chance. Right panel: y: log10 of the RMSE of coefficients at the same ε on 1,000 rows of simulated d = 2; x: that share; lower left is better. The lines are `beta_div`, `draw(w) using auto` (`diffuse` of the two rows, `refined` of the 1,000), Gibbs at Theorem 7 of Minami et al., OPS (the posterior on a ball) and output perturbation with the prior as regulariser (Λ = 1/(9 n) for n rows). "
        f"Shares by integration; {counted(errors, SETS)} repetitions for the errors; {joined([f'{high.count(m)} of {NAMES[m]}' for m in dict.fromkeys(high)])}, above {10**HIGHEST:.0f} (log10 {HIGHEST}), are not drawn. **Found.** "
        f"{holds([not b for b in beaten])}: at {sum(beaten) or 'none'} of `beta_div`'s {len(beaten)} points has another method both less error and no more success, by the means. The share passes the bound of its guarantee (not drawn) in {passed} of {len(rows)} cases: {left} in the left panel and {len(rows) - left} that are not drawn, {NAMES['output-fixed'].replace(',', ' with')} and `beta_div` at x = ±1,000. "
        f"At x = ±1,000 the excess of `beta_div` over chance is at least {100 * min(far):.1f} % of what its bound allows, so that bound is nearly tight."
    )

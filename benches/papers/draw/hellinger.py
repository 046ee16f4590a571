"""Inference under Hellinger distance: sensitivity, laws of the distance, real data, and realised loss."""

from .style import BLUE, COLOURS, GREY, MARKERS, VERMILION, few, holds, joined, legend, line, logarithmic, narrowing, panels, table

# The private mechanisms of the paper, from the nearest to the farthest.
PAPER = ["ls-hist", "ls-dim", "ehds", "ehd"]
PRIVATE = ["ls-dim", "ls-hist", "ehds-exact", "noise-aware", "ehds", "ehd"]
NAMES = {
    "ehd": "EHD", "ehdl": "EHDL, not private", "ehds": "EHDS", "ls-dim": "LSDim", "ls-hist": "LSHist",
    "ehds-exact": "dpm, ehds with exact scale", "noise-aware": "dpm, auto (noise_aware)",
}
WORDS = NAMES | {"ehds-exact": "`ehds` with exact scale", "noise-aware": "`noise_aware`"}


def sensitivity():
    _, rows = table("hellinger-1", 1)
    figure, axes = panels(1, 2, 2.5, sharex=True)
    x = [float(k[0]) for k, _ in rows]
    line(axes[0], "global", x, [v[2] for _, v in rows], marker="", color=GREY)
    line(axes[0], "local", x, [v[0] for _, v in rows], marker="", color=BLUE)
    above = [100 * (v[1] / v[0] - 1) for _, v in rows]
    line(axes[1], "smooth above local", x, above, marker="", color=VERMILION)
    axes[0].set(xlabel="rows that are 1, of 100", ylabel="Hellinger distance", ylim=(0, None), title="how far one row moves the posterior")
    axes[1].set(xlabel="rows that are 1, of 100", ylabel="per cent", title="smooth above local sensitivity")
    legend(figure, axes)
    middle, ends = rows[len(rows) // 2][1], [rows[0][1][0], rows[-1][1][0]]
    worst = [int(k[0]) for k, v in rows if v[0] == v[2]]
    return figure, (
        "**Claim.** One row moves the posterior of a rate, in Hellinger distance, most where all rows are alike; a smooth sensitivity follows the local one. **Shown.** Over how many of 100 rows are 1. Left panel: the local sensitivity, the most that one row of these data moves the posterior, and the global one, the most over all data. "
        f"Right panel: by how many per cent the smooth one, a bound on the local one that changes little between neighbours, is above it. Exact values. **Found.** {holds([v[0] <= min(ends) for _, v in rows])}: one row moves the posterior by {middle[0]:.3f} where the rows are mixed and by {min(ends):.3f} where all are alike; "
        f"the smooth sensitivity exceeds the local one by at most {max(above):.0f} %. The global one is reached only at the ends, at {joined([str(n) for n in worst])} ones of 100, which may explain why EHD, the exponential mechanism with the global one, is less accurate."
    )


def laws(name, found):
    _, rows = table(name, 2)
    cases = list(dict.fromkeys(k[0] for k, _ in rows))
    figure, axes = panels(1, len(cases), 2.7, sharey=True)
    for a, case in zip(axes, cases):
        for method, look in narrowing(PRIVATE).items():
            own = sorted((v[0], v[2]) for k, v in rows if k == [case, method])
            if own:
                x, y = zip(*own)
                line(a, method, [0, *x, 1], [0, *y, y[-1]], marker="", drawstyle="steps-post", linewidth=look["linewidth"])
        title = ", ".join(f"n = {int(part[5:]):,}" if part.startswith(" n") else part.strip() for part in case.replace("eps", "ε").split(";"))
        a.set(title=title, xlabel="Hellinger distance d", xlim=(-0.01 * REACH[case], REACH[case]), ylim=(0, 1.04))
        few(a, "x")
    axes[0].set_ylabel("P(distance ≤ d)")
    legend(figure, axes, NAMES, columns=3)
    return figure, found(rows, cases)


REACH = {"k = 2; n = 600; eps = 1": 0.4, "k = 3; n = 600; eps = 1": 0.6, "k = 2; n = 1000; eps = 5": 0.11, "k = 2; n = 10000; eps = 5": 0.035}


def within(rows, case, method, distance):
    return max((v[2] for k, v in rows if k == [case, method] and v[0] <= distance), default=0.0)


def balanced():
    def found(rows, cases):
        drawn = {c: {k[1] for k, _ in rows if k[0] == c} for c in cases}
        at = {c: {m: within(rows, c, m, 0.1) for m in ["noise-aware", "ls-hist", "ehds-exact", "ls-dim", "ehds", "ehd"] if m in drawn[c]} for c in cases}
        ranked = [max(PAPER, key=v.get) == "ls-hist" and min(PAPER, key=v.get) == "ehd" for v in at.values()]

        def often(case):
            ours, theirs = (f"{at[case][m]:.2f}" for m in ("noise-aware", "ls-hist"))
            return f"{'as often as' if ours == theirs else 'more often than' if ours > theirs else 'less often than'} LSHist at {case.split(';')[0]}"

        chances = "; ".join(f"at {c.split(';')[0]} {', '.join(f'{WORDS[m]} {p:.2f}' for m, p in v.items())}" for c, v in at.items())
        return (
            "**Claim.** Noise on the counts that is sized by what one row changes (LSHist) is the best, a posterior chosen by the exponential mechanism with the global sensitivity (EHD) the worst. **Shown.** Over d, the chance that a private posterior of a share (k = 2 levels, left panel) or of shares (k = 3, right panel), of 600 rows, as many of each level as may be, at ε = 1 with a uniform prior, "
            "lies within Hellinger distance d of the true one (0: equal, 1: nothing in common), higher is better. The others: noise sized by the number of levels (LSDim, which spends less than its ε), the exponential mechanism with the smooth sensitivity (EHDS), `ehds` with exact scale, which is EHDS at the scale that its exact worst loss allows "
            "(too long to compute at k = 3), and `noise_aware`, which `posterior(p) using auto` takes and whose posterior carries the noise. Exact laws; `noise_aware` at k = 3 is sampled 100 times. **Found.** "
            f"Of the paper's mechanisms: {holds(ranked).lower()} at d = 0.1. The chances: {chances}. `noise_aware` is that near {joined([often(c) for c in cases])}, but never at distance 0: it is wider by the noise."
        )

    return laws("hellinger-2", found)


def larger():
    def found(rows, cases):
        def chance(d, case, *methods):
            return ", ".join(f"{NAMES[m]} {within(rows, case, m, d):.2f}" for m in methods)

        def both(d, e, words, *methods):
            """Chances within d in the first panel and within e in the second, which may be the same."""
            left, right = chance(d, first, *methods), chance(e, second, *methods)
            return f"{words[0]}: {left}, in both panels" if left == right else f"{words[1]}: {left}; {words[2]}: {right}"

        first, second = cases
        won = [within(rows, c, "ehds", d) > within(rows, c, m, d) for c, far in ((first, 0.03), (second, 0.01)) for m in ("ls-hist", "ls-dim") for d in (0, far)]
        theirs = ("ehds", "ls-hist", "ls-dim")
        near = list(dict.fromkeys(f"{within(rows, c, 'noise-aware', 1e-4):.2f}" for c in cases))
        return (
            "**Claim.** EHDS, the exponential mechanism with a smooth sensitivity, overtakes noise on the counts (LSDim, LSHist). **Shown.** Over d, the chance that a private posterior of a share, of 1,000 rows (left panel) and 10,000 rows (right panel), half of them 1, at ε = 5 with a uniform prior, lies within Hellinger distance d of the true one, higher is better. "
            "Beside these: EHD, `noise_aware` and, at 1,000 rows alone, `ehds` with exact scale, which takes too long to compute at 10,000. Exact laws. **Found.** "
            f"At distance 0: {holds(won[::2]).lower()}, EHDS is above LSHist and LSDim in {sum(won[::2])} of {len(won[::2])} comparisons; farther out: {holds(won[1::2]).lower()}, in {sum(won[1::2])} of {len(won[1::2])}. {both(0, 0, ('At distance 0', 'At distance 0 with 1,000 rows', 'with 10,000 rows'), *theirs)}. "
            f"{both(0.03, 0.01, ('Within d = 0.03 at 1,000 rows and 0.01 at 10,000', 'Within d = 0.03 at 1,000 rows', 'within 0.01 at 10,000 rows'), *theirs)}. "
            f"`ehds` with exact scale releases the posterior itself with chance {within(rows, first, 'ehds-exact', 0):.2f}, EHD with {within(rows, first, 'ehd', 0):.2f} and {within(rows, second, 'ehd', 0):.2f}; `noise_aware` never does, but is within 0.0001 of it with chance {' and '.join(near)}{' in both panels' if len(near) == 1 else ''}. "
            "Noise on a count is the same at any number of rows; what shrinks with more rows is how far one count moves the posterior, by a factor √10 between the panels."
        )

    return laws("hellinger-3", found)


def boxes(name, columns, height, exact):
    """Median, quartiles and, of exact laws, the 0.001 and 0.999 quantiles, one line a mechanism."""
    _, rows = table(name, 2)
    sets = list(dict.fromkeys(k[0] for k, _ in rows))
    methods = [m for m in ["noise-aware", "ehds-exact", "ls-hist", "ls-dim", "ehds", "ehd"] if any(k[1] == m for k, _ in rows)]
    figure, axes = panels(len(sets) // columns, columns, height, sharex=True, sharey=True)
    at = {tuple(k): v for k, v in rows}
    for a, data in zip(axes, sets):
        for place, method in enumerate(reversed(methods)):
            if (data, method) not in at:
                continue
            low, first, median, third, high, _ = at[data, method]
            colour = COLOURS[method]
            if method in exact:
                a.plot([low, high], [place, place], color=colour, linewidth=1.0)
            a.plot([first, third], [place, place], color=colour, linewidth=6, solid_capstyle="butt", alpha=0.55)
            a.plot([median], [place], marker="|", markersize=10, markeredgewidth=2, color=colour)
        a.set_title(data)
        a.set_yticks(range(len(methods)), [NAMES[m] for m in reversed(methods)])
        a.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(methods) - 0.4))
        a.grid(axis="y", visible=False)
    for a in axes[-columns:]:
        a.set_xlabel("Hellinger distance")
    return figure, {d: {m: at[d, m][5] for m in methods if (d, m) in at} for d in sets}


def columns(names):
    """Columns in words: a file, and which column of it."""
    return joined([f"{name.replace(': ', ' (')})" if ": " in name else name for name in names])


DISTANCE = "The Hellinger distance of a private posterior from the true one, less is better"
BOXES = "Broad bars: from the first to the third quartile; strokes: medians; thin lines: 0.001 to 0.999 quantiles of the exact laws"


def two_levels():
    figure, mean = boxes("hellinger-4", 2, 1.8, ["noise-aware", "ehds-exact", *PAPER])
    first, ranked = [min(PAPER, key=v.get) == "ls-hist" for v in mean.values()], sum(sorted(PAPER, key=v.get) == PAPER for v in mean.values())
    ahead = {m: sum(v[m] < v["ls-hist"] for v in mean.values()) for m in ("noise-aware", "ehds-exact")}
    return figure, (
        f"**Claim.** On real columns of two levels at ε = 1 LSHist is best and EHD useless. **Shown.** {DISTANCE}, on {columns(mean)}. {BOXES}. **Found.** "
        f"{holds(first)}: by mean distance LSHist is the best of the paper's private mechanisms on {sum(first)} of {len(mean)} columns, and the ranking is {', '.join(NAMES[m] for m in PAPER)} on {ranked}; the mean of EHD is {span(mean, 'ehd')}, where 1 is the largest there is. "
        f"`noise_aware` has a smaller mean than LSHist on {ahead['noise-aware']} of {len(mean)}, {WORDS['ehds-exact']} on {ahead['ehds-exact']}."
    )


def span(mean, method):
    values = [v[method] for v in mean.values()]
    return f"{min(values):.2f} to {max(values):.2f}"


def three_levels():
    figure, mean = boxes("hellinger-5", 3, 2.2, PAPER)
    ranked, ours = [sorted(PAPER, key=v.get) == PAPER for v in mean.values()], sum(min(v, key=v.get) == "noise-aware" for v in mean.values())
    return figure, (
        f"**Claim.** On real columns of three levels at ε = 1 the ranking is that of two levels (Figure 4). **Shown.** {DISTANCE}, on {columns(mean)}. {BOXES}; `noise_aware` was sampled 100 times, so it has no thin line. **Found.** "
        f"{holds(ranked)}: by mean distance it is {', '.join(NAMES[m] for m in PAPER)} on {sum(ranked)} of {len(mean)} columns. EHDS is at {span(mean, 'ehds')} and EHD at {span(mean, 'ehd')}, LSHist at {span(mean, 'ls-hist')}. "
        f"`noise_aware` has the smallest mean distance of all on {ours} of {len(mean)} columns."
    )


def realised():
    _, rows = table("hellinger-6", 2)
    figure, axes = panels(1, 2, 2.5, sharey=True)
    for a, i, title in zip(axes, (0, 1), ("balanced data", "worst of all data")):
        for method in ["ehd", "ehds", "ehdl", "ehds-exact"]:
            own = sorted((v[0], v[1 + i]) for k, v in [([k[0]], [float(k[1]), *v]) for k, v in rows] if k[0] == method)
            line(a, method, *zip(*own))
        a.axhline(1, color=GREY, linewidth=0.8)
        a.set(title=title, xlabel="rows", ylim=(0, 1.05))
    axes[0].set_ylabel("realised ε, where 1 is proved")
    legend(figure, axes, NAMES)
    of = lambda m, i=1: max(v[i] for k, v in rows if k[0] == m)
    two = lambda m: f"{of(m, 0):.2f} and {of(m):.2f}"
    return figure, (
        "**Claim.** The privacy that EHD and EHDS really lose, as an ε, is less than the ε = 1 that they promise. **Shown.** The realised ε over the number of rows, on balanced data (left panel) and on the worst of all data (right panel). Below 1 accuracy is given away, above 1 the promise would be broken. "
        f"Exact values. **Found.** {holds([max(v) < 1 for k, v in rows if k[0] in ('ehd', 'ehds')])}: at any of these numbers of rows EHD realises at most {two('ehd')} (left and right panel), EHDS {two('ehds')}. {WORDS['ehds-exact']}, the scale that its exact worst loss allows, realises at most {of('ehds-exact', 0):.2f} and {of('ehds-exact'):.4f}. "
        f"EHDL, which uses the local sensitivity and has no proven bound, realises at most {two('ehdl')} here."
    )


def certified():
    """Mean distances on all real columns, of what dpm certifies."""
    rows = table("hellinger-4", 2)[1] + table("hellinger-5", 2)[1]
    sets = list(dict.fromkeys(k[0] for k, _ in rows))
    at = {tuple(k): v[5] for k, v in rows}
    figure, axes = panels(1, 1, 2.8)
    for place, method in enumerate(PRIVATE):
        own = [(at[d, method], len(sets) - i + 0.1 * (place - 2.5)) for i, d in enumerate(sets) if (d, method) in at]
        # Columns have no order: no line joins them.
        axes[0].plot(*zip(*own), linestyle="", marker=MARKERS.get(method, "o"), color=COLOURS[method], markersize=5.5, label=method, gid=f"marks-{method}")
    axes[0].set_yticks(range(len(sets), 0, -1), sets)
    logarithmic(axes[0], "x")
    axes[0].set_xticks([0.03, 0.1, 0.3, 1])
    axes[0].set(xlabel="mean Hellinger distance", ylim=(0.5, len(sets) + 0.5))
    legend(figure, axes, NAMES, columns=3)
    first = sum(at[d, "noise-aware"] <= min(at[d, m] for m in PRIVATE if (d, m) in at) for d in sets)
    return figure, (
        f"**Certified mechanisms only.** **Shown.** The mean Hellinger distance from the posterior without privacy, less is better, on the {len(sets)} real columns of Figures 4 and 5 (a row of marks each) at ε = 1: one mark each of {joined([WORDS[m] for m in PRIVATE])}. EHDL is left out, since nothing bounds its loss; DP-SGD too, as it needs a gradient, which "
        f"counts do not have. Nothing in the figure is tuned. With three levels the exact scale of `ehds` takes too long to compute. **Found.** `posterior(p) using auto` takes `noise_aware` on each; it is the nearest on {first} of {len(sets)} columns."
    )

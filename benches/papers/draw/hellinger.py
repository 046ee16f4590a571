"""Inference under Hellinger distance: sensitivity, laws of the distance, real data, and realised loss."""

from .style import BLUE, COLOURS, GREY, MARKERS, VERMILION, few, holds, joined, legend, line, logarithmic, narrowing, panels, table

# The private mechanisms of the paper, from the nearest to the farthest.
PAPER = ["ls-hist", "ls-dim", "ehds", "ehd"]
PRIVATE = ["ls-dim", "ls-hist", "ehds-exact", "noise-aware", "ehds", "ehd"]
NAMES = {
    "ehd": "EHD", "ehdl": "EHDL, not private", "ehds": "EHDS", "ls-dim": "LSDim", "ls-hist": "LSHist",
    "ehds-exact": "dpm, ehds with exact scale", "noise-aware": "dpm, auto (noise_aware)",
}


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
        "**Claim.** Over how many of 100 rows are 1: one row moves the posterior of a rate, in Hellinger distance, most where all rows are alike (left panel: local and global); a smooth sensitivity follows the local one (right panel: by how many per cent it is above it). Local: the most that one row of these data moves it; global: the most over all data; "
        f"smooth: a bound on the local one that changes little between neighbours. **Found.** {holds([v[0] <= min(ends) for _, v in rows])}: one row moves the posterior by {middle[0]:.3f} where the rows are mixed and by {min(ends):.3f} where all are alike (left panel, local); "
        f"the smooth one exceeds the local one by at most {max(above):.0f} % (right panel). The global one is reached only at the ends, at {joined([str(n) for n in worst])} ones of 100, which may explain why EHD, the exponential mechanism with the global one, is less accurate. Exact values."
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
        at = {c: {m: within(rows, c, m, 0.1) for m in ["noise-aware", *PAPER]} for c in cases}
        ranked = [max(PAPER, key=v.get) == "ls-hist" and min(PAPER, key=v.get) == "ehd" for v in at.values()]

        def chances(case):
            own = {m: f"{p:.2f}" for m, p in at[case].items()}
            more = "as often as" if own["noise-aware"] == own["ls-hist"] else "more often than" if own["noise-aware"] > own["ls-hist"] else "less often than"
            return f"{more} LSHist at {case.split(';')[0]} ({', '.join(f'{words[m]} {p}' for m, p in own.items())})"

        words = NAMES | {"noise-aware": "`noise_aware`"}
        return (
            "**Claim.** The chance that a private posterior of a share (k = 2 levels) or of shares (k = 3), of 600 rows at ε = 1, lies within Hellinger distance d of the true one (0: equal, 1: nothing in common), higher is better: noise on the counts that is sized by what one row changes (LSHist) is the best, "
            "a posterior chosen by the exponential mechanism with the global sensitivity (EHD) the worst. The others: noise sized by the number of levels (LSDim), and the exponential mechanism with the smooth sensitivity (EHDS). **Found.** "
            f"Of the paper's mechanisms: {holds(ranked).lower()} at d = 0.1. `noise_aware`, which `posterior(p) using auto` takes and whose posterior carries the noise, is within 0.1 of the posterior {joined([chances(c) for c in cases])}. "
            "It is never at distance 0, as it is wider by the noise. `ehds with exact scale` is dpm's EHDS at the scale that its exact worst loss allows; with three levels that takes too long to compute. "
            "LSDim spends less than its ε. Exact laws; `noise_aware` with three levels is sampled 100 times."
        )

    return laws("hellinger-2", found)


def larger():
    def found(rows, cases):
        def chance(d, case, *methods):
            return ", ".join(f"{NAMES[m]} {within(rows, case, m, d):.2f}" for m in methods)

        first, second = cases
        won = [within(rows, c, "ehds", d) > within(rows, c, m, d) for c, far in ((first, 0.03), (second, 0.01)) for m in ("ls-hist", "ls-dim") for d in (0, far)]
        theirs = ("ehds", "ls-hist", "ls-dim")
        return (
            "**Claim.** The chance that a private posterior of a share, of 1,000 rows (left panel) and 10,000 rows (right panel) at ε = 5, lies within Hellinger distance d of the true one, higher is better: EHDS, the exponential mechanism with a smooth sensitivity, overtakes noise on the counts (LSDim, LSHist). **Found.** "
            f"{holds(won)}: EHDS is above LSHist and LSDim in {sum(won[::2])} of {len(won[::2])} comparisons at distance 0 and in {sum(won[1::2])} of {len(won[1::2])} farther out. At distance 0 with 1,000 rows: {chance(0, first, *theirs)}; with 10,000 rows: {chance(0, second, *theirs)}. Within d = 0.03 at 1,000 rows: {chance(0.03, first, *theirs)}; within 0.01 at 10,000 rows: {chance(0.01, second, *theirs)}. "
            f"At the scale that its exact worst loss allows, EHDS releases the posterior itself with {within(rows, first, 'ehds-exact', 0):.2f} at 1,000 rows; at 10,000 that loss takes too long to compute. Noise on a count is the same at any number of rows, and so are these chances to two digits; what shrinks with more rows is how far one count moves the posterior, by a factor √10 between the panels. Exact laws."
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


def two_levels():
    figure, mean = boxes("hellinger-4", 2, 1.8, ["noise-aware", "ehds-exact", *PAPER])
    first = [min(PAPER, key=v.get) == "ls-hist" for v in mean.values()]
    ahead = {m: sum(v[m] < v["ls-hist"] for v in mean.values()) for m in ("noise-aware", "ehds-exact")}
    return figure, (
        "**Claim.** The Hellinger distance of a private posterior from the true one, less is better: on real columns of two levels at ε = 1 LSHist is best and EHD useless. **Found.** "
        f"{holds(first)}: of the paper's private mechanisms LSHist has the smallest mean distance on {sum(first)} of {len(mean)} columns; that of EHD is {span(mean, 'ehd')}, where 1 is the largest there is. "
        f"`noise_aware` has a smaller one than LSHist on {ahead['noise-aware']} of {len(mean)}, `ehds` with exact scale on {ahead['ehds-exact']}. Bars: quartiles; strokes: medians; thin lines: 0.001 to 0.999 quantiles of the exact laws."
    )


def span(mean, method):
    values = [v[method] for v in mean.values()]
    return f"{min(values):.2f} to {max(values):.2f}"


def three_levels():
    figure, mean = boxes("hellinger-5", 3, 2.2, PAPER)
    ranked, ours = [sorted(PAPER, key=v.get) == PAPER for v in mean.values()], sum(min(v, key=v.get) == "noise-aware" for v in mean.values())
    return figure, (
        "**Claim.** The Hellinger distance of a private posterior from the true one, less is better, on real columns of three levels at ε = 1: the ranking is that of two levels. **Found.** "
        f"{holds(ranked)}: by mean distance it is {', '.join(NAMES[m] for m in PAPER)} on {sum(ranked)} of {len(mean)} columns. EHDS is at {span(mean, 'ehds')} and EHD at {span(mean, 'ehd')}, LSHist at {span(mean, 'ls-hist')}. "
        f"`noise_aware` has the smallest mean distance of all on {ours} of {len(mean)} columns; it was sampled 100 times, so it has no thin line. Bars: quartiles; strokes: medians; thin lines: 0.001 to 0.999 quantiles of the exact laws."
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
    of = lambda m: max(v[1] for k, v in rows if k[0] == m)
    return figure, (
        f"**Claim.** Over the number of rows, the privacy that EHD and EHDS really lose, as an ε, is less than the ε = 1 that they promise: on balanced data (left panel) and on the worst of all data (right panel). **Found.** {holds([max(v) < 1 for k, v in rows if k[0] in ('ehd', 'ehds')])}: on the worst data (right panel) EHDS realises at most {of('ehds'):.2f} of its ε = 1 and EHD {of('ehd'):.2f}. "
        f"`ehds` at the scale that its exact worst loss allows realises {of('ehds-exact'):.4f}. EHDL, which uses the local sensitivity and has no proven bound, realises at most {of('ehdl'):.2f} here. Exact values."
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
        f"**Certified mechanisms only**: the mean Hellinger distance from the posterior without privacy, less is better, on {len(sets)} real columns (a row of marks each) at ε = 1: one mark each of {joined([NAMES[m].removeprefix('dpm, ') for m in PRIVATE])}. EHDL is left out, since nothing bounds its loss. `posterior(p) using auto` "
        f"takes `noise_aware` on each; it is the nearest on {first} of {len(sets)} columns. DP-SGD is not compared, as it needs a gradient, which counts do not have. Nothing in the figure is tuned. With three levels the exact scale of `ehds` takes too long to compute."
    )

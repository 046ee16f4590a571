"""One style for the papers' figures: sizes, colours, panels, legends below the panels, and how a figure is saved."""

import csv
import io
import math
import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "benches" / "results" / "papers"
PICTURES = ROOT / "docs" / "papers"

# One colour a method in all figures (Okabe and Ito, two greys, brown and violet): `draw .. using auto` is green, `posterior .. using auto` blue.
BLUE, GREEN, SKY = "#0072b2", "#009e73", "#56b4e9"
VERMILION, ORANGE, PURPLE = "#d55e00", "#e69f00", "#cc79a7"
GREY, BLACK, BROWN, VIOLET = "#7a7a7a", "#000000", "#8c564b", "#6a3d9a"
COLOURS = {
    # Geumlek et al.
    "alg-2": ORANGE, "alg-5": ORANGE, "alg-3": VERMILION, "alg-4": VERMILION, "gauss": PURPLE, "gauss-half": PURPLE,
    "ops": BROWN, "dpm": GREEN, "dpm-posterior": BLUE, "posterior": GREY,
    # Jewson et al.
    "beta-div": VIOLET, "langevin": GREEN, "auto-posterior": BLUE, "penalty": SKY, "dp-sgld": PURPLE, "output": BROWN, "output-fixed": ORANGE,
    "dp-sgd": VERMILION, "dp-sgd-fixed": VERMILION, "minami": ORANGE, "truncated": BLACK, "no-privacy": GREY, "sgd": GREY, "mean": BLACK,
    # Hellinger distance
    "ls-dim": ORANGE, "ls-hist": VERMILION, "ehd": BROWN, "ehdl": GREY, "ehds": PURPLE, "ehds-exact": GREEN, "noise-aware": BLUE,
}
# Shades for one method at several constants, from light to dark.
SHADES = ["#a6cee3", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"]
MARKERS = {"alg-3": "s", "alg-4": "s", "alg-2": "^", "alg-5": "^", "dp-sgd": "s", "dp-sgd-fixed": "s", "beta-div": "D", "output": "^", "minami": "v", "ops": "v",
           "ls-dim": "^", "ls-hist": "s", "no-privacy": "", "posterior": "", "sgd": "", "mean": ""}

plt.rcParams.update({
    # Text stays text. It is measured in DejaVu Sans, the widest of the fonts that a reader is likely to have.
    "svg.fonttype": "none", "svg.hashsalt": "dpm", "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9.5,
    "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8, "legend.fontsize": 8.5, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "lines.linewidth": 1.6, "lines.markersize": 3.5, "figure.facecolor": "white", "savefig.facecolor": "white",
    "path.simplify": False, "figure.constrained_layout.h_pad": 0.07, "figure.constrained_layout.w_pad": 0.06,
})
NOT_PRIVATE = ("posterior", "no-privacy", "sgd")  # broad and light, behind the others
WIDTH = 7.5  # inches


def table(name, keys):
    """The lines of a result file: the names of its numbers, and a list of (texts of the key columns, numbers).

    What `--full` has computed goes before the quick table, point by point.
    """

    def read(path):
        with open(path, newline="") as file:
            head, *rows = csv.reader(file)
        return head[keys:], [(row[:keys], [float(cell) for cell in row[keys:]]) for row in rows]

    quick, full = RESULTS / f"{name}.csv", RESULTS / f"{name}-full.csv"
    head, rows = read(quick if quick.exists() else full)
    if full.exists():
        long = read(full)[1]
        known = {tuple(k) for k, _ in long}
        rows = long + [r for r in rows if quick.exists() and tuple(r[0]) not in known]
    return head, rows


def counted(rows, names):
    """How many runs the means are of, in words: the last number of a line, by the first key."""
    runs = {}
    for k, v in rows:
        if k[0] in names:
            runs.setdefault(names[k[0]], set()).add(int(v[-1]))
    spans = {}
    for data, counts in runs.items():
        spans.setdefault(f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(max(counts)), []).append(data)
    first, *others = sorted(spans, key=lambda span: -len(spans[span]))
    return first + (f" ({'; '.join(f'{span} on {joined(spans[span])}' for span in others)})" if others else "")


def panels(rows, columns, height=2.3, **more):
    """A figure of panels, as a flat list of axes."""
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, height * rows + 0.55), squeeze=False, layout="constrained", **more)
    return figure, list(axes.flat)


def fewer(rows):
    """How many runs a mean is of that fewer runs than the others had: such a mark is hollow."""
    most = max(v[-1] for _, v in rows)
    return sorted({int(v[-1]) for _, v in rows if v[-1] < most})


def hollow(rows):
    """The hollow marks of a figure, in words."""
    less = fewer(rows)
    return f" (hollow marks: {f'{less[0]} to {less[-1]}' if len(less) > 1 else less[0]})" if less else ""


def compare(pairs, less=True):
    """Of pairs (mean, standard error): places where the first is ahead by two standard errors of the difference, where it is behind, and all."""
    gaps = [((b[0] - a[0]) * (1 if less else -1), 2 * math.hypot(a[1], b[1])) for a, b in pairs]
    return sum(g > s for g, s in gaps), sum(-g > s for g, s in gaps), len(gaps)


def led(*pairs):
    """Such counts of one method in words, each with the name of the other method."""
    total, parts = pairs[0][1][2], []
    for i, (other, (ahead, behind, n)) in enumerate(pairs):
        known = i > 0 and n == total
        many = ("all" if known else f"all {n}") if ahead == n else f"{ahead}" if known else f"{ahead} of {n}"
        parts.append(f"of {other} in {many}{'' if known else ' places'}{'' if ahead == n else f' (behind in {behind})'}")
    return f"ahead {joined(parts)}"


def verdict(*counts):
    """What becomes of a claim that one is ahead of others, by such counts."""
    if all(ahead == n for ahead, _, n in counts):
        return "Confirmed"
    return "Not reproduced" if any(behind >= ahead for ahead, behind, _ in counts) else "In part"


def holds(cases):
    """What becomes of a claim that holds or not in each of these cases."""
    return verdict((sum(cases), 0, len(cases)))


def joined(words, last="and"):
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def line(axes, name, x, y, error=None, offset=0.0, few=None, **more):
    """A named line; error bars are moved by `offset` points, so that none covers another. Marks are hollow where `few` says so."""
    style = {"color": COLOURS.get(name, BLACK), "marker": MARKERS.get(name, "o"), "label": name} | more
    if name in NOT_PRIVATE:
        style = {"linewidth": 5, "color": "#d0d0d0", "zorder": 1.5, "label": name, "marker": ""}
        offset, few = 0.0, None
    shift = matplotlib.transforms.ScaledTranslation(offset / 72, 0, axes.figure.dpi_scale_trans)
    (drawn,) = axes.plot(x, y, transform=axes.transData + shift, **style)
    drawn.set_gid(f"line-{name}")
    if few is not None and any(few):
        ring = [(a, b) for a, b, is_few in zip(x, y, few) if is_few]
        axes.plot(*zip(*ring), linestyle="", marker=style["marker"], markerfacecolor="white", color=style["color"], transform=axes.transData + shift)
    axes.update_datalim([(a, b + sign * e) for a, b, e in zip(x, y, error or [0] * len(y)) for sign in (-1, 1)])
    axes.autoscale_view()
    if error is not None:
        bars = axes.errorbar(x, y, yerr=error, fmt="none", ecolor=style["color"], elinewidth=0.9, capsize=0, transform=axes.transData + shift)
        for collection in bars[2]:
            collection.set_gid(f"bars-{name}")


def narrowing(methods):
    """Width and offset of each line: lines may coincide, and each later one is narrower, so that an earlier one shows on both its sides.

    What lies far from the others comes last.
    """
    own = [m for m in methods if m not in NOT_PRIVATE]
    return {m: {"linewidth": 1.3 + 0.38 * (len(own) - 1 - i), "offset": 2.0 * (i - (len(own) - 1) / 2)} for i, m in enumerate(own)}


def logarithmic(axes, which):
    """A logarithmic axis with few, whole labels."""
    for letter in which:
        getattr(axes, f"set_{letter}scale")("log")
        axis = getattr(axes, f"{letter}axis")
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}" if 1e-3 <= x <= 1e5 else f"{x:.0e}"))
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())


def few(axes, which, n=4):
    for letter in which:
        getattr(axes, f"{letter}axis").set_major_locator(MaxNLocator(n))


def legend(figure, axes, names=None, columns=None, title=None):
    """One legend for all panels, below them: nothing in it can cover data."""
    seen = {}
    for a in axes:
        for handle, label in zip(*a.get_legend_handles_labels()):
            seen.setdefault((names or {}).get(label, label), handle)
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=columns or min(len(seen), 4), title=title, handlelength=2.2)


def save(figure, name):
    """Checks the figure and writes it as SVG; its faults, in words."""
    from . import overlap

    figure.canvas.draw()
    faults = overlap.faults(figure)
    PICTURES.mkdir(exist_ok=True)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    # Coordinates to a thousandth of a point, names of lines as classes (two panels may show one method), fonts of equal width or less.
    svg = re.sub(r"(\d+\.\d{3})\d+", r"\1", text.getvalue())
    svg = re.sub(r'id="(line|bars)-[^"]*"', r'class="\1"', svg)
    (PICTURES / f"{name}.svg").write_text(svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"))
    return [f"{name}: {fault}" for fault in faults]

"""Minami, Arai, Sato, Nakagawa (2016): why a gradient bounds the privacy of a Gibbs posterior, and the weights that follow."""

import numpy as np

from .style import BLUE, GREEN, GREY, ORANGE, SHADES, VERMILION, holds, legend, line, logarithmic, panels, table


def losses():
    """Their Figure 1: closed forms of the logistic loss, no data."""
    figure, axes = panels(1, 2, 2.5)
    x = np.linspace(-6, 6, 241)
    plus, minus = np.logaddexp(0, -x), np.logaddexp(0, x)
    line(axes[0], "loss, y = 1", x, plus, marker="", color=BLUE)
    line(axes[0], "loss, y = −1", x, minus, marker="", color=ORANGE)
    line(axes[0], "difference of the losses", x, abs(plus - minus), marker="", color=VERMILION, linestyle=(0, (5, 2)))
    slopes = abs(-1 / (1 + np.exp(x)) - 1 / (1 + np.exp(-x)))
    line(axes[0], "difference of the gradients", x, slopes, marker="", color=GREY, linestyle=(0, (1, 1.5)))
    axes[0].set(xlabel="θ", title="two rows that differ in y")
    radius = np.geomspace(0.5, 100, 60)
    # A bounded range 2 rho R against a Gaussian of mu = 2 rho L s (prior sd s = 1), both at epsilon 1; L = 1.
    _, rows = table("minami", 2)
    mu = np.interp(0.0, *zip(*[(np.log(float(k[1])), v[2]) for k, v in rows if k[0] == "-05"]))
    line(axes[1], "weight by the range of the loss", radius, 1 / (2 * radius), marker="", color=VERMILION)
    line(axes[1], "weight by its gradient", radius, np.full_like(radius, min(mu / 2, 1)), marker="", color=GREEN)
    logarithmic(axes[1], "xy")
    axes[1].set(xlabel="radius of the parameter's domain", ylabel="weight of a row", title="what ε = 1 allows")
    legend(figure, axes, columns=3)
    return figure, (
        "**Claim.** Of two rows that differ in their outcome, the difference of the logistic losses grows with the parameter θ, that of the gradients does not. **Shown.** Left panel: both differences, and the losses, over θ. Right panel: the weight that a row may have "
        "at ε = 1, over the radius of the domain of θ. Closed forms; prior sd 1, δ = 1e-5. **Found.** Confirmed. The weight that the range of the loss allows falls as the domain grows; that of a Gibbs posterior with a normal prior, "
        f"which needs only the gradient, stays at {min(mu / 2, 1):.2g}."
    )


def weights():
    _, rows = table("minami", 2)
    exponents = sorted({k[0] for k, _ in rows}, key=float, reverse=True)
    figure, axes = panels(1, 2, 2.7, sharex=True)
    broken = 0
    for exponent, shade in zip(exponents, SHADES):
        own = sorted((float(k[1]), v) for k, v in rows if k[0] == exponent)
        x = [e for e, _ in own]
        name = f"δ = 1e{int(exponent)}"
        line(axes[0], name, x, [v[2] / v[1] for _, v in own], marker="", color=shade)
        line(axes[1], name, x, [v[0] / v[2] for _, v in own], marker="", color=shade)
        past = [(e, v[0] / v[2]) for e, v in own if v[3] > float(exponent)]
        broken += len(past)
        if past:
            axes[1].plot(*zip(*past), linestyle="", marker="x", color=VERMILION, markersize=5)
    for a, title, words in zip(axes, ["dpm against Theorem 7", "Corollary 8 against dpm"], ["weight of dpm / theirs", "their weight / weight of dpm"]):
        logarithmic(a, "x")
        a.set(title=title, xlabel="ε", ylabel=words)
        a.axhline(1, color=GREY, linewidth=0.8)
    legend(figure, axes, columns=6)
    least, most = min(v[2] / v[1] for _, v in rows), max(v[2] / v[1] for _, v in rows)
    return figure, (
        "**Claim.** Theorem 7, and Corollary 8 as its short form, say how much the rows may weigh in a Gibbs posterior that is (ε, δ)-private; more weight is more accurate. **Shown.** Over ε, one line for each of "
        f"{len(exponents)} δ, 1e{int(exponents[0])} to 1e{int(exponents[-1])}. Left panel: the weight of `gibbs` divided by that of Theorem 7; `gibbs` has the exact guarantee of a normal law, and `draw(w) using auto` the same weight where it does not take `refined`. Right panel: the weight of Corollary 8 "
        "divided by that of `gibbs`; crosses mark where a normal posterior at the weight of Corollary 8 is not (ε, δ)-private. Exact values. **Found.** "
        f"Theorem 7: {holds([v[2] >= v[1] for _, v in rows]).lower()}, but it allows less than it could: the weight of `gibbs` is {least:.2f} to {most:.1f} times as large. "
        f"Corollary 8: {holds([v[3] <= float(k[0]) for k, v in rows]).lower()}, not private at {broken} of {len(rows)} points."
    )

"""Draws every figure, checks it, and writes the page that shows them: python -m draw [--png FOLDER] [NAME..], from benches/papers."""

import argparse
import sys
from pathlib import Path

from . import geumlek, hellinger, jewson, minami
from .style import PICTURES, plt, save

FIGURES = {
    "Geumlek, Song, Chaudhuri 2017: Rényi differential privacy of posterior sampling": {
        "geumlek-1": ("Figure 1: guarantees", geumlek.guarantees),
        "geumlek-2": ("Figure 2: a rate from 100 rows", geumlek.synthetic),
        "geumlek-3": ("Figure 3: logistic regression, test error", geumlek.regression),
        "geumlek-certified": ("Logistic regression, certified mechanisms only", geumlek.certified),
        "geumlek-appendix-1": ("Appendix, Figure 1: other rates", geumlek.appendix_1),
        "geumlek-appendix-2": ("Appendix, Figure 2: a uniform prior", geumlek.appendix_2),
        "geumlek-appendix-3": ("Appendix, Figure 3: lower orders", geumlek.appendix_3),
        "geumlek-appendix-4": ("Appendix, Figure 4: log-likelihood", geumlek.appendix_4),
    },
    "Minami, Arai, Sato, Nakagawa 2016: differential privacy without sensitivity": {
        "minami-1": ("Figure 1: loss against gradient", minami.losses),
        "minami-2": ("The weight of a Gibbs posterior", minami.weights),
        "minami-certified": ("Logistic regression, certified mechanisms only", jewson.weighted),
    },
    "Jewson, Ghalebikesabi, Holmes 2023: differentially private inference by β-divergence": {
        "jewson-1": ("Figure 1: the influence of a row", jewson.influence),
        "jewson-2-rmse": ("Figure 2: logistic regression, error of the coefficients", jewson.rmse),
        "jewson-2-auc": ("Figure 2: logistic regression, AUC", jewson.auc),
        "jewson-2-rows": ("Figure 2: logistic regression over the number of rows", jewson.by_rows),
        "jewson-2-certified": ("Logistic regression, certified mechanisms only", jewson.certified),
        "jewson-3": ("Figure 3: a network of ten units", jewson.network),
        "jewson-4": ("Figure 4: membership attack", jewson.attack),
    },
    "Exploring the design space of differentially private Bayesian inference under Hellinger distance": {
        "hellinger-1": ("Figure 1: sensitivity", hellinger.sensitivity),
        "hellinger-2": ("Figure 2: distance from the posterior, ε = 1", hellinger.balanced),
        "hellinger-3": ("Figure 3: distance from the posterior, ε = 5", hellinger.larger),
        "hellinger-4": ("Figure 4: real data, two levels", hellinger.two_levels),
        "hellinger-5": ("Figure 5: real data, three levels", hellinger.three_levels),
        "hellinger-6": ("Figure 6: realised loss", hellinger.realised),
        "hellinger-certified": ("Real data, certified mechanisms only", hellinger.certified),
    },
}
HEAD = """# The papers' figures

The figures of the four papers that dpm builds on, made again with dpm's mechanisms beside theirs. Each caption says what the paper claims, what is
shown and what was found. The numbers are in `benches/results/papers`, whose `.txt` files name every place where dpm loses; `benches/papers/README.md` says how to
compute and draw them again. This page is written by the script that draws.

- A *place* is one point of comparison: one data set (or rate) at one ε, order, number of rows and measure, as far as a figure has several.
- One method is *ahead* of another in a place if its mean is better by more than two standard errors of the difference, *behind* if it is worse by as much;
  otherwise it is neither. With few repetitions this is a weak criterion, and counts are not corrected for the number of comparisons. Exact values have no
  standard errors and are compared as they are.
- A claim is *confirmed* if it holds in all places (or points) that test it, holds *in part* if in some, and is *not reproduced* if in none, or if a
  method that should be ahead of another is not ahead more often than behind.
- Names in `code` are dpm's mechanisms; `diffuse`, `concentrated`, `gibbs`, `beta_div` and `ehds` are its versions of methods of the papers. Other names are
  methods of the papers and baselines. *OPS* is one draw of a posterior that is cut to a ball.
- `draw(w) using auto` releases one draw of w, `posterior(w) using auto` a whole posterior, by the mechanism that dpm chooses. The whole one may be drawn
  from as often as one likes; a regression is judged by its mean, a rate by one draw from it or by its Hellinger distance.
- The *RMSE of coefficients* is their root mean square error against the coefficients that made simulated data (d of them), and on real data against the fit
  to all rows without privacy.
- At *order 1* of the logistic regressions of Geumlek et al., ε is the constant of zCDP.
- *Error bars* reach two standard errors up and as many down. Marks at one x are moved apart sideways, so that no error bar hides another. *Hollow* marks are
  means of fewer repetitions than the other marks. Broad, light grey lines are without privacy.
- *Certified mechanisms only*: of the guarantees in these figures only that of OPS, shown for comparison, assumes that a chain converged. DP-SGD with
  *settings fixed beforehand* (for logistic regression 100 steps of the length that the curvature of the loss allows, all rows in each, no gradient cut) has
  no tuning left to pay for.
"""


def main():
    parser = argparse.ArgumentParser(prog="python -m draw", description=__doc__)
    parser.add_argument("--png", type=Path, metavar="FOLDER", help="also write PNG pictures of 600 and 1,200 pixels, to be looked at")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    faults, page = [], HEAD
    for paper, figures in FIGURES.items():
        page += f"\n## {paper}\n"
        for name, (title, make) in figures.items():
            if asked.names and name not in asked.names:
                continue
            figure, caption = make()
            faults += save(figure, name)
            for width in (600, 1200) if asked.png else ():
                asked.png.mkdir(parents=True, exist_ok=True)
                figure.savefig(asked.png / f"{name}-{width}.png", dpi=width / figure.get_figwidth())
            plt.close(figure)
            page += f"\n### {title}\n\n![{title}](papers/{name}.svg)\n\n{caption}\n"
    if not asked.names:
        (PICTURES.parent / "papers.md").write_text(page)
    print("\n".join(faults) or "no fault found")
    sys.exit(bool(faults))


main()

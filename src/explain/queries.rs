//! Pages on the mechanisms that answer a query with noise.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "laplace",
        summary: "Laplace noise on a sum, mean, count or histogram.",
        body: r#"
Arguments: `scale` > 0; left out, the smallest scale that meets the budget is solved, and rounded up.

The exact answer plus Laplace noise, the two together rounded to a public grid, so that no trace of floating point is left.

Guarantee: pure eps = (L1 sensitivity) / scale, with the exact Rényi curve of the Laplace law.

Take it for a single number under a pure budget, `eps(..)`. For vectors and small delta `gaussian` is closer.

```dpm
budget eps(1)
private t[n >= 200] { hours: real in [0, 80] }
release mean_hours = mean(hours) using laplace
```
"#,
    },
    Entry {
        name: "geometric",
        summary: "Two-sided geometric noise on counts, histograms and sums of integers.",
        body: r#"
Arguments: `scale` > 0; left out, the smallest scale that meets the budget is solved, and rounded up.

The exact integer plus integer noise k with probability proportional to exp(-abs(k) / scale).

Guarantee: pure eps = (L1 sensitivity) / scale, with the curve of pure differential privacy, which the integer law attains.

Take it for counts and histograms under a pure budget: the answer stays an integer.

```dpm
budget eps(1)
private ballots[private n] { choice: category {yes, no, blank} }
release votes = histogram(choice) using geometric
```
"#,
    },
    Entry {
        name: "gaussian",
        summary: "Normal noise on a sum, mean, count or histogram.",
        body: r#"
Arguments: `sigma` > 0, the standard deviation; left out, the smallest sigma that meets the budget is solved, and rounded up.

The exact answer plus normal noise, the two together rounded to a public grid.

Guarantee: mu-GDP with mu = (L2 sensitivity) / sigma, hence zCDP mu^2 / 2, a Rényi curve of all orders and (eps, delta). No
pure epsilon: under `eps(..)` it is E0403.

Take it under `zcdp`, `gdp`, `rdp` or `dp` budgets, and for vectors, whose L2 sensitivity is far below their L1 sensitivity.

```dpm
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90 }
release mean_age = mean(age) using gaussian
```

```dpm E0403
budget eps(1)
private people[n >= 500] { age: int in 18..90 }
release mean_age = mean(age) using gaussian
```
"#,
    },
    Entry {
        name: "exponential",
        summary: "Quantiles over a public grid by the exponential mechanism.",
        body: r#"
Arguments: `lo`, `hi`, the ends of the grid (left out: the bounds of the value; values beyond them count as the ends); `grid`, `even` or
`log`, for values over several orders of magnitude, which needs ends above 0; `eps`, of each level (left out, the largest that meets the
budget is solved, and rounded down).

Answers `quantile(e, q)` by a point t of the grid on which values of e are summed (some 2^40 steps between its ends; whole numbers for
integers), with probability proportional to exp(-eps d / (2 D)): d is the number of rows by which t misses the quantile, 0 if at most q n
values lie below t and at least as many at or below it, and D is how much one unit can change it. Many rows of one value count for
that value alone.

Several levels, `quantiles(e, [0.25, 0.5, 0.75])`, are drawn one by one, each at eps, and sorted.

Guarantee: eps-bounded range for each level, hence pure eps and zCDP of at most eps^2 / 8, whatever the number of points.

At least 95 % of answers are at most 2 D ln(20 N) / eps rows off, N the number of points: 61 rows at eps 1 on a grid of 2^40. That
holds for any data. How far off they are in the value depends on how dense the values lie there: with a level near 0 or 1, or few rows, anything
up to the end of the grid is possible, so declare ends no wider than needed.

Take it for medians and other quantiles; it is the only mechanism of this version that answers them.

```dpm W0513
budget zcdp(0.05)
private people[n >= 500] { income: real in [0, 200] }
release median_income = quantile(income, 0.5) using exponential
```
"#,
    },
];

//! Pages on the terms of the field: what the numbers of a certificate mean, and how to choose them.

use super::{Entry, Kind, Page};

/// Other spellings of these names.
pub const ALIASES: &[(&str, &str)] = &[
    ("eps", "epsilon"),
    ("dp", "epsilon"),
    ("differential privacy", "epsilon"),
    ("zCDP", "zcdp"),
    ("rho", "zcdp"),
    ("GDP", "gdp"),
    ("mu", "gdp"),
    ("rdp", "renyi"),
    ("Rényi", "renyi"),
    ("rényi", "renyi"),
    ("Renyi", "renyi"),
    ("neighbor", "neighbour"),
    ("neighbours", "neighbour"),
    ("neighbors", "neighbour"),
    ("unit", "privacy unit"),
    ("Hellinger", "hellinger"),
    ("hellinger distance", "hellinger"),
    ("missing values", "missing"),
    ("missing value", "missing"),
    ("censored", "censoring"),
    ("choosing", "choosing a budget"),
    ("choose a budget", "choosing a budget"),
];

pub fn pages() -> Vec<Page> {
    super::from_entries(Kind::Topic, ENTRIES)
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "epsilon",
        summary: "The most that one unit can change the chance of any answer, as the logarithm of a factor.",
        body: r#"
Of two neighbouring data sets, an answer that has the chance p under one has at most `exp(eps) p` under the other (plus `delta`, where the
budget has one). So the odds of any statement about one person, whatever else an attacker knows, change by a factor of at most `exp(eps)`:
2.7 at eps = 1, 20 at eps = 3, 22,000 at eps = 10. Costs of releases about the same people add.

`budget eps(1)` allows no exception (pure differential privacy); `budget dp(eps = 1, delta = 1e-6)` allows one of probability about `delta`.
`dpm explain choosing a budget` says what is usual.

```dpm
budget eps(1)
private staff[n] { smoker: bool }
release smokers = count(smoker)
```
"#,
    },
    Entry {
        name: "delta",
        summary: "The probability that the bound by epsilon does not hold, roughly: much less than one over the number of people.",
        body: r#"
`dp(eps, delta)`: the chance of any set of answers is at most `exp(eps)` times that under a neighbour, plus `delta`. With n people a mechanism
that published one row picked at random would have delta = 1/n, so delta has to be far below 1/n: 1e-6 for thousands of rows, 1e-9 for
millions. In return noise may be Gaussian, and many releases cost much less together.

A certificate of dpm is a curve: it has an epsilon for every delta (`dpm certify FILE --delta 1e-9`).

```dpm
budget dp(eps = 1, delta = 1e-6)
private staff[1200] { age: int in 18..70 }
release age_mean = mean(age) using gaussian
```
"#,
    },
    Entry {
        name: "zcdp",
        summary: "Zero-concentrated differential privacy: a budget rho for Gaussian noise, which adds up without loss.",
        body: r#"
`zcdp(rho)`: the Rényi divergence of every order a between answers on neighbours is at most `rho a`. Gaussian noise of standard deviation s on
a value of sensitivity d costs `d^2 / (2 s^2)`, and the costs of releases add. A budget of rho implies
`(rho + 2 sqrt(rho ln(1 / delta)), delta)`-DP for every delta: rho = 0.1 gives an epsilon of at most 2.5 at delta = 1e-6, and the certificate
says the exact, smaller number. A pure epsilon costs at most `eps^2 / 2`.

Draws from a beta, gamma or Dirichlet posterior have a finite divergence only up to some order, so no zCDP; the whole posterior has
(`release post = posterior(p)`).

```dpm
budget zcdp(0.1)
private staff[1200] { age: int in 18..70 }
release age_mean = mean(age) using gaussian
```
"#,
    },
    Entry {
        name: "gdp",
        summary: "Gaussian differential privacy: telling neighbours apart is as hard as telling N(0, 1) from N(mu, 1).",
        body: r#"
`gdp(mu)` bounds every attacker by the trade-off between false alarms and hits of the best test of N(0, 1) against N(mu, 1). At mu = 1 an
attacker with 5 % of false alarms has at most 26 % of hits. Gaussian noise of standard deviation s on a value of sensitivity d has mu = d / s;
releases add by squares: two of mu = 0.6 and 0.8 make 1.

```dpm
budget gdp(1)
private staff[1200] { age: int in 18..70 }
release age_mean = mean(age) using gaussian
```
"#,
    },
    Entry {
        name: "renyi",
        summary: "Rényi differential privacy: bounds on a moment of the privacy loss, order by order.",
        body: r#"
`rdp(order = a, eps = e)`: the Rényi divergence of order a > 1 between the answers on neighbours is at most e, either way round. Low orders speak
of the average case, high orders of rare answers; order infinity is pure epsilon. Costs of releases add at every order.

A draw from a conjugate posterior is private in this sense up to a limit order, which grows with the prior counts: a beta(6, 6) prior allows
orders below 7 for single bits. `dpm plot FILE --shows rdp` draws the curve. It implies `(e + ln(1 / delta) / (a - 1), delta)`-DP; dpm uses a
sharper conversion over all orders.

```dpm
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
param p ~ beta(12, 12)
observe cured ~ bernoulli(p)
release p_hat = draw(p)
```
"#,
    },
    Entry {
        name: "neighbour",
        summary: "Two data sets that differ in one unit: the certificate bounds how far apart their answers are.",
        body: r#"
The header of a private table says what a neighbour is:

    staff[n]           one row replaced by any other; the number of rows is public
    staff[private n]   one row added or removed; the number of rows is secret
    visits[n] by patient max 4   all rows of one patient replaced

A replaced row moves a count by at most 1 and a sum by the width of its domain; an added row moves a sum by its largest absolute value.
Whoever is protected is told nothing less than: the answers would have been almost as likely with any other row in place of yours.

```dpm
budget eps(1)
private cases[private n] { severe: bool }
release severe_cases = count(severe)
```
"#,
    },
    Entry {
        name: "privacy unit",
        summary: "Who is protected as a whole: one row, or all rows of one person.",
        body: r#"
By default the unit is one row. Where a person has several rows, name the column that says whose row it is and how many count:
`visits[n] by patient max 4`. The first 4 rows of each patient are read, the rest are dropped, and costs are those of 4 changed rows. A smaller
maximum means less noise and more rows dropped.

If rows of one household, firm or school are related, make that the unit: the certificate says nothing about what several units reveal about each other.

```dpm
budget eps(1)
private visits[n] by patient max 4 { patient: text, infected: bool }
release infections = count(infected)
```
"#,
    },
    Entry {
        name: "sensitivity",
        summary: "How far an answer moves when one unit changes: what noise has to hide.",
        body: r#"
A count moves by 1, a sum of `x: real in [0, 60]` by 60, the mean of n such rows by 60/n. Without public bounds it is infinite, which is
error E0202. Bounds come from the questionnaire or the nature of the quantity, never from the rows: wide bounds cost noise, narrow ones cut
values off. Halving the width of a domain halves the noise.

Draws from posteriors have no sensitivity of this kind; their rules bound the distance of two posteriors.

```dpm
budget eps(1)
private staff[n >= 500] { hours: real in [0, 60] }
release hours_mean = mean(hours)
```
"#,
    },
    Entry {
        name: "hellinger",
        summary: "A distance between distributions from 0 to 1, by which some mechanisms score whole posteriors.",
        body: r#"
The squared Hellinger distance of two densities p and q is half the integral of `(sqrt(p) - sqrt(q))^2`: 0 if they are equal, 1 if they share no
value. `ehd` and `ehds` release a posterior that is close in this distance to the true one: each candidate is chosen with a chance that falls
with its distance, and the distance moves little when one row changes. It is also the measure by which whole posteriors are compared where
`dpm compare` says "Hellinger": 0.1 is close, 0.5 is not.

```dpm
budget eps(1)
private trial[100] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ehds
```
"#,
    },
    Entry {
        name: "censoring",
        summary: "Values of which only a bound is known: a survival time that ended after the study.",
        body: r#"
Rows of a private table cannot say "at least 24 months" in a likelihood of their own. Count times in bins, the last of which is open, and fit the
law to the counts: the last bin has the probability of everything beyond its lower end, so times that were cut off at the end of the study
are read as they should be, if every row was followed that long. A cell above the upper bound is moved into the last bin.

Rows that left early at different times are not covered.

```dpm
budget dp(eps = 1, delta = 1e-6)
private patients[n] { months: real in [0, 24] }
release cells = histogram(bin(months, width = 1))

param shape ~ gamma(4, 4)
param scale ~ lognormal(2.5, 1)
observe cells.months ~ weibull(shape, scale)
output post = posterior(shape, scale)
```
"#,
    },
    Entry {
        name: "choosing a budget",
        summary: "Begin with what an attacker may gain, then see what accuracy that buys, then change n, the question or the budget.",
        body: r#"
1. Say who is protected (`dpm explain privacy unit`).
2. Take eps = 1 for everything that will ever be published about these people, and delta far below 1/n. Below 0.1 little can be learned from
   fewer than ten thousand rows; above 3 the promise is weak, above 10 there is hardly one.
3. Look at the odds: `dpm report FILE` has the best guess of an attacker and the change of any odds. The page "How to choose a budget" of the
   documentation has them for usual budgets.
4. Look at the error: `dpm compare FILE` predicts it for every mechanism, before any data are read; `dpm plot FILE --shows error` for every budget.
5. If the error is too large, ask for less (fewer releases, narrower bounds, fewer cells) before you ask for a larger budget.
6. Register the data with a ledger, so that the sum over all programs stays within the budget.

```dpm
budget dp(eps = 1, delta = 1e-6)
private staff[n >= 1000] { smoker: bool, hours: real in [0, 60] }
release smokers = mean(smoker) spend 50%
release hours_mean = mean(hours)
```
"#,
    },
];

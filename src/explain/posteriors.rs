//! Pages on the mechanisms that release a whole posterior.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "noise_aware",
        summary: "A whole posterior that accounts for the noise on its counts or its sum; what `posterior` does by itself.",
        body: r#"
Arguments: `eps` for discrete Laplace noise, or `rho` for discrete Gaussian noise; left out, the larger one that meets the budget is solved.

The counts of the rows leave once with integer noise, and the posterior given those noisy counts is computed: a mixture of
conjugate posteriors over all counts that may stand behind them. With two levels (or a rate) and a public n the mixture is
written out, with less than 1e-10 of it left out; otherwise it is 1,000 independent, exact draws of the counts, each with its posterior.
Where n is secret every n is as likely before the data; of a rate both the sum and the number of rows then get noise, at half of the
cost each.

Of a normal mean with a known sd the sum of the outcomes leaves, each moved into its declared range. With discrete Gaussian noise
the posterior is again a normal law; with discrete Laplace noise it is a mixture of normal laws, an integral to 1e-10 or so. Both
take the rows for normal as they are, so the range should be wide enough to move few of them.

Of a rate of `exponential(rate)` or `gamma(s, rate)` rows, or a precision of `normal(m0, 1 / sqrt(tau))` rows, the sum of the bounded outcomes, or of their squared
deviations from m0, leaves in the same way; the posterior is a mixture of gamma laws. Of a vector of means of `multi_normal(mu, S)` rows, S known, every component of the
sum leaves, with discrete Gaussian noise (`rho` only), and the posterior is normal.

Of a linear regression, `w ~ normal(..)` or `multi_normal(..)` and rows `normal(dot(w, x), sd)` with bounded private features, a bounded
outcome and a known sd, the sums of `x x'` and `x y` leave, each at rho / 2 (`rho` only). These noisy sums are what is certified. The
posterior is computed from them by a chain: it is a mixture of 1,000 normal laws, approximate, with every matrix of products that n rows
can have as likely before.

Guarantee: pure eps, or rho-zCDP. Everything after the noise is free.

Take it whenever more than one number is wanted of a posterior: 90 % of its 90 % intervals hold the truth.

```dpm
budget eps(1)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using noise_aware
```

```dpm
budget eps(1)
private people[n >= 500] { income: real in [0, 200] }
param mu ~ normal(60, 50)
observe income ~ normal(mu, 30)
release post = posterior(mu) using noise_aware
output ci = interval(post, 0.9)
```

```dpm
budget zcdp(0.5)
private homes[n >= 1000] { x: vector[2] in l2(1), price: real in [-3, 3] }
param w: vector[2] ~ normal(0, 1)
observe price ~ normal(dot(w, x), 0.5)
release post = posterior(w) using noise_aware
output ahead = larger(post[1], post[2])
```
"#,
    },
    Entry {
        name: "score_statistics",
        summary: "A whole posterior of logistic weights from noisy scores; approximate.",
        body: r#"
Arguments: `sigma`, the noise on the scores; `sigma_products`, that on products of features; left out, the smallest sigma that meets
the budget is solved, with the noise on products beside it.

Of weights `w ~ normal(..)` or `multi_normal(..)` and rows `bernoulli_logit(dot(w, x))` or `binomial_logit(N, dot(w, x))` with bounded private
features, the sums of `(y - N/2) x`, the scores at weight 0, and of `x x'` leave once with normal noise. An intercept is a feature that is 1:
`dot(w, [1, x])`. The posterior is computed from these sums: a normal law that takes the loss of a row for a quadratic and knows of the
noise on the scores.

Guarantee: mu-GDP for both sums together, less than each paid for by itself. Everything after the noise is free.

Its intervals are too narrow (W0512): take `posterior(w)` without it, which is `refined`, and this for a first look at little cost.

```dpm W0512
budget dp(eps = 1, delta = 1e-6)
private people[n >= 5000] { age: real in [0, 1], hours: real in [-1, 1], high: bool }
param w: vector[3] ~ normal(0, 3)
observe high ~ bernoulli_logit(dot(w, [1, age, hours]))
release post = posterior(w) using score_statistics
output ahead = larger(post[2], post[3])
```
"#,
    },
    Entry {
        name: "ls_hist",
        summary: "A whole posterior from counts with Laplace noise.",
        body: r#"
Arguments: `eps`; left out, the largest that meets the budget is solved.

Noise of scale D / eps, rounded down, is added to every count but the last; the counts are moved into what is left of n, and the
last is the remainder. D is 1 with two levels and 2 with more, times the items of a unit. The released posterior takes the counts
as exact, so its intervals are too narrow, and rounding down moves every noisy count by a half.

Guarantee: pure eps.

Take it where one plain Dirichlet is wanted and its spread does not matter; else `noise_aware`.

```dpm
budget eps(1)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ls_hist
```
"#,
    },
    Entry {
        name: "ls_dim",
        summary: "As `ls_hist` with the noise that the number of levels asks for; a baseline.",
        body: r#"
Arguments: `eps`; left out, the largest that meets the budget is solved.

The scale is k / eps for k levels. One row moves fewer counts than that allows for, so the cost is eps min(2, k - 1) / k, and
that is what the certificate says.

Guarantee: pure eps min(2, k - 1) / k.

Take it to compare with the literature; `ls_hist` is the same at the same cost.

```dpm
budget eps(1)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ls_dim
```
"#,
    },
    Entry {
        name: "ehds",
        summary: "One of all posteriors that n rows could lead to, by Hellinger distance and smooth sensitivity.",
        body: r#"
Arguments: `eps`; `gamma` from 0.001 to 1000, which smooths the sensitivity, 1 if it is not given; `calibration`, `proved` if it
is not given, or `exact`.

Every posterior reachable with exactly n rows is a candidate. One is drawn with weight exp(-eps H / (2 (1 + gamma) S)), where H is
its Hellinger distance from the posterior and S a smooth bound on how far one row moves it. The draw of this finite law is exact.
With three levels or more there may be at most 4,194,304 candidates. `ehdl`, which takes the sensitivity at the private rows
for S, is not private: asking for it is an error (E0300).

Of the proved eps this law loses less than half. With `calibration = exact` its worst loss over all neighbouring data sets is
computed, and the weights get the largest eps at which that is at most the eps of the certificate. It needs the exact n in the
header, a prior of numbers, no public rows, and few candidates: their number squared times the pairs of levels at most
1,048,576 (1,023 rows with two levels, 32 with three).

Guarantee: eps-bounded range, hence pure eps and zCDP of at most eps^2 / 8; pure eps where it is calibrated exactly.

Take it with many rows and a large eps, where it gives back the posterior itself more often than noise does.

```dpm
budget eps(8)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ehds
```
"#,
    },
    Entry {
        name: "ehd",
        summary: "One of all posteriors that n rows could lead to, by Hellinger distance and global sensitivity; a baseline.",
        body: r#"
Arguments: `eps`; left out, the largest that meets the budget is solved; `calibration` as for `ehds`.

As `ehds`, with the largest sensitivity anywhere for S. It hardly looks at the data.

Guarantee: eps-bounded range, hence pure eps and zCDP of at most eps^2 / 8.

Take it to compare with the literature.

```dpm
budget eps(8)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ehd
```
"#,
    },
    Entry {
        name: "plug_in",
        summary: "A whole posterior that takes noisy counts as exact; a baseline.",
        body: r#"
Arguments: `eps` or `rho`, as `noise_aware`, whose noise it shares.

The noisy counts are moved into 0..n and put into the posterior as if they were exact, so its intervals are too narrow: at
eps = 0.1 and 100 rows most of its 90 % intervals miss the truth.

Guarantee: that of `noise_aware`.

Take it to see what accounting for the noise is worth.

```dpm
budget zcdp(0.1)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using plug_in
```
"#,
    },
];

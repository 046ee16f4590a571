//! Pages on the mechanisms of this version: what each does, its arguments, its guarantee, when to take it.

use super::{Entry, Kind, Page};

pub fn pages() -> Vec<Page> {
    [ENTRIES, super::queries::ENTRIES, super::posteriors::ENTRIES].map(|list| super::from_entries(Kind::Mechanism, list)).concat()
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "auto",
        summary: "The mechanism of least predicted error that meets the budget; the default.",
        body: r#"
Arguments: none. `using auto` and no `using` at all mean the same.

Every mechanism that could answer is solved at this release's share of the budget. Among those that meet it, keep the prior and, for a whole posterior, account for the noise, the one with the least predicted error is taken; ties go to the first in the table that `using ?` prints. The predicted error uses public
facts alone (prior, header, bounds), is an estimate and not a guarantee, and is printed with three digits. A mechanism that only holds if a
chain has converged is never chosen.

Guarantee: that of the mechanism chosen. `dpm lock` writes the choice into the program; `dpm compare` shows all of them.

Take it when there is a budget and no reason to insist on one mechanism. Without a budget it is an error (E0405).

```dpm
budget rdp(order = 4, eps = 1)
private votes[n] { party: category {red, blue, green, other} }
param share ~ dirichlet([8, 8, 8, 8])
observe party ~ categorical(share)
release share_hat = draw(share) using auto
```
"#,
    },
    Entry {
        name: "direct",
        summary: "One exact draw from the posterior itself.",
        body: r#"
Arguments: none.

The draw of a Bayesian posterior is private by itself: one changed row moves the posterior a little, and the prior says how
little. Nothing is tempered and nothing is solved, so the cost is what the model costs; it meets the budget or it does not.

Guarantee: the exact Rényi divergence of the worst pair of posteriors, or a GDP constant for normal models. Count models have
a highest order: 1 + the smallest prior count, for one row a unit. At and beyond it the cost is infinite (E0301).

Take it when the prior is strong enough for the budget: no accuracy is given away.

```dpm
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
param p ~ beta(12, 12)
observe cured ~ bernoulli(p)
release p_hat = draw(p) using direct
```
"#,
    },
    Entry {
        name: "diffuse",
        summary: "One draw from a posterior in which every private row counts with weight r.",
        body: r#"
Arguments: `r` in (0, 1]; left out, the largest r that meets the budget is solved, and rounded down.

The statistic of every private row is multiplied by r before it enters the posterior; public rows and the prior keep their
weight. A weight of 1 is a direct draw. The draw is spread as if there were only r n rows, hence the name.

Guarantee: as `direct` with steps of size r, so costs fall and the highest order rises to 1 + count / r.

Take it when the prior says what you believe, and the budget allows only part of the data.

```dpm
budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
```

Too much weight for the budget:

```dpm E0401
budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse(r = 0.8)
```
"#,
    },
    Entry {
        name: "concentrated",
        summary: "One draw from a posterior whose prior is sharpened by 1 / m; the rows keep full weight.",
        body: r#"
Arguments: `m` in (0, 1]; left out, the largest m that meets the budget is solved, and rounded down.

Prior counts (beta, gamma, dirichlet) and prior precisions (normal) are divided by m; public rows are part of the prior and
are sharpened with it. m = 1 is a direct draw.

Guarantee: as `direct` with the sharper prior.

Take it when the prior is close to the truth, or when n is so large that a sharper prior hardly shows; otherwise the draw is
pulled towards the prior mean, and `diffuse` is the better half of the bargain.

```dpm
budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using concentrated
```
"#,
    },
    Entry {
        name: "gibbs",
        summary: "One draw of the weights of a regression in which every private row counts with a weight below 1.",
        body: r#"
Arguments: `weight` in (0, 1]; left out, the largest that meets the budget is solved, and rounded down. `sampler = langevin` is
the default and the only sampler of this version; `steps` sets the length of its chain, which the cost does not depend on.

The same draw as `diffuse`, under the name that the literature on regression gives it (Minami et al. 2016). The guarantee is
the Gaussian one, `mu = 2 weight B L / sqrt(m)`: B the slope of a row's loss, L the norm of its features, m the precision of the
prior. Minami's own closed form for the weight is smaller at small epsilon and wrong at large; dpm does not use it.

The draw is the last state of a Langevin chain with public step sizes. It is as private as the ideal draw whatever its length, so
the certificate assumes no convergence; it does assume ideal arithmetic in the chain, and says so.

```dpm
budget dp(eps = 1, delta = 1e-5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
param b ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x) + b)
release coef = draw(w, b) using gibbs
```

A loss whose slope has no bound:

```dpm E0303
budget dp(eps = 1, delta = 1e-5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_probit(dot(w, x))
release coef = draw(w) using gibbs
```
"#,
    },
    Entry {
        name: "refined",
        summary: "Regression weights in two stages, a logistic draw or a linear posterior: noisy sums first, then what they leave open.",
        body: r#"
Arguments: `sigma`, the noise on the scores of the first stage, from which the rest follows; left out, the smallest that meets the budget
is solved.

For rows `bernoulli_logit(dot(w, x))` or `binomial_logit(N, dot(w, x))` with bounded private features and one vector of weights with a normal
prior; an intercept is a feature that is 1: `dot(w, [1, x])`. Two fifths of the budget (of mu^2) pay for the sums of `(y - N/2) x` and of
`x x'` with normal noise. They say roughly where the weights are and in which directions the rows are informative. In these coordinates
the rest pays for one draw, in which every row counts as much as its length there allows.

Guarantee: `sqrt(mu_1^2 + mu_2^2)`-GDP for both stages in one certificate. The second stage is the last state of a Langevin chain: private at any
length, with ideal arithmetic among its assumptions.

`auto` takes it where its predicted error is less than that of `gibbs`: for many rows or a small epsilon, where `gibbs` has to let rows count with a
small weight. The spread of its draws is not an interval for the weights.

```dpm
budget dp(eps = 1, delta = 1e-6)
private adult[n] { age: real in [0, 1], hours: real in [-1, 1], rich: bool }
param w: vector[3] ~ normal(0, 3)
observe rich ~ bernoulli_logit(dot(w, [1, age, hours]))
release coef = draw(w) using refined
```

`posterior(w)` of rows `bernoulli_logit(dot(w, x))`, `binomial_logit(N, dot(w, x))`, `bernoulli_probit(dot(w, x))`, `bernoulli_cloglog(dot(w, x))`, or
`normal(dot(w, x), sd)` with a known sd and a bounded outcome: a whole posterior, with intervals. Two fifths of the budget (of linear rows three
tenths) pay for the sums of `(y - N/2) x` (`y x`; of cloglog rows `(y - 5/8) x`) and of `x x'`. In the coordinates that they give, the rest pays three
times for the scores of the rows (of linear rows: their residuals) at points that what left before says, each cut to a few sd, and for the products of
features, times the information of their rows. Everything that leaves is exact sums with exactly drawn normal noise, and the posterior, a normal law,
is computed from it.

Guarantee: `sqrt(mu_1^2 + mu_2^2)`-GDP, status exact; no chain. The posterior is approximate: it takes noisy products for the products. Scores
beyond the cut count as the cut, so outliers pull less. Of probit and cloglog rows whose prior allows predictors beyond 2 or 1.5, and of
logistic ones whose prior allows some beyond 10, the steps stop short, and intervals contain the truth less often (W0512).

`auto` takes it for all but linear rows; for these write it in place of `noise_aware` where rows are many or features several: there noise on `x x'` costs most.

```dpm W0513
budget dp(eps = 1, delta = 1e-6)
private people[n >= 5000] { age: real in [0, 1], hours: real in [-1, 1], high: bool }
param w: vector[3] ~ normal(0, 2)
observe high ~ bernoulli_logit(dot(w, [1, age, hours]))
release post = posterior(w)
expect rule(post) == "refined_posterior"
output between = interval(post[2], 0.9)
```
"#,
    },
    Entry {
        name: "beta_div",
        summary: "One draw from a posterior whose loss is bounded: any model, any features; conditional on a chain.",
        body: r#"
Arguments: `beta` > 1; left out, the smallest that meets the budget is solved, and rounded up. `weight` in (0, 1]; left out, 1, or,
where the density passes 1 and no beta is enough, solved. `sampler = nuts` (the default) or `slice`; `steps`.

The log-likelihood of a row is replaced by its beta-divergence, f^(beta-1) / (beta-1) less an integral: an outlier counts less, and no row
counts more than a constant. So features need no bounds, and any mean will do, a neural network too. What is needed is the largest value M
of the density: 1 for discrete outcomes; for normal, Laplace, Cauchy, Student-t, exponential and gamma rows it follows from the declared
domain of the scale.

Guarantee: eps-bounded range, eps = 2 k weight M^(beta-1) / (beta-1), hence pure eps and zCDP of at most eps^2 / 8. It is that of an exact
draw, and the draw is made by a chain. So the program must add `assuming convergence`, the certificate says CONDITIONAL, and `dpm run
--strict` refuses it. `auto` never chooses it.

Take it for models that no other rule covers, where convergence may be assumed; `penalty` assumes nothing.

```dpm W0508 W0513
budget eps(6)
private loans[n] { x: vector[20], default: bool }
param w: vector[20] ~ normal(0, 3)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using beta_div assuming convergence
```

```dpm E0311
budget eps(6)
private loans[n] { x: vector[20], default: bool }
param w: vector[20] ~ normal(0, 3)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using beta_div
```
"#,
    },
    Entry {
        name: "penalty",
        summary: "A chain on a posterior of bounded loss that pays for every step, converged or not.",
        body: r#"
Arguments: `iterations` (left out, 300); `sigma` > 0, the noise on each log-ratio (left out, 1.5: with much more nearly every step is refused);
`weight` in (0, 1] as in `beta_div` (left out, the largest that meets the budget is solved, and rounded down); `beta` > 1 (left out, 1.5, or
less where that narrows the loss); `step`, the size of a proposal in prior spreads. Where `weight` is given and `sigma` is not, sigma is solved;
where both are given and `iterations` is not, the longest chain is.

A Metropolis chain whose proposals know public facts alone. Each step adds normal noise, rounded to integers, to the change of the loss of all rows and
allows for it when it accepts (the penalty algorithm).

Guarantee: GDP with mu = sqrt(iterations) 2 k weight R / sigma, R the range of a row's loss. Every state of the chain follows from the noisy
answers, so convergence is not assumed: status `certified`. No pure epsilon: under `eps(..)` it is E0403. `draws(w, j)` runs j chains.

Take it for models that only `beta_div` covers, where nothing may be assumed. `auto` never chooses it: how far the chain moves cannot be
predicted.

```dpm W0513
budget zcdp(2)
private flowers[n] { x: vector[4], species: category {setosa, versicolor, virginica} }
param W: matrix[3, 4] ~ normal(0, 1)
observe species ~ categorical_logit(W * x)
release weights = draw(W) using penalty(iterations = 500)
```
"#,
    },
    Entry {
        name: "dp_hmc",
        summary: "A Hamiltonian chain with noisy gradients on a posterior of bounded loss, private at every step.",
        body: r#"
Arguments: `iterations`, the number of proposals (left out, 50); `steps`, leapfrog steps of a proposal (left out, 5); `clip` > 0, the longest
gradient of a row in units of the prior's spread, to which longer ones are cut (left out, 1); `sigma`, `weight` and `beta` as in `penalty`, and
solved as there; `gradient_sigma` > 0, the noise on every component of a sum of gradients (left out, gradients cost as much as losses); `step`,
the length of a leapfrog step in prior spreads.

Every proposal follows noisy gradients of the log-density from a random momentum (DP-HMC, Räisä et al. 2021) and is accepted like a step of
`penalty`. So proposals go far where those of `penalty` are blind; models of many parameters need fewer of them.

Guarantee: GDP with mu^2 = iterations ((2 k weight R)^2 / sigma^2 + (steps + 1) (2 k clip)^2 / gradient_sigma^2), R the range of a row's loss. The
clip is enforced on what is computed: gradients of rows are cut, rounded to integers and added as integers, and the noise is normal, rounded to
integers, drawn exactly. Every state follows from the noisy answers, so convergence is not assumed: status `certified`. No pure epsilon: under `eps(..)` it is
E0403. `auto` never chooses it.

```dpm W0513
budget zcdp(2)
private flowers[n] { x: vector[4], species: category {setosa, versicolor, virginica} }
param W: matrix[3, 4] ~ normal(0, 1)
observe species ~ categorical_logit(W * x)
release weights = draw(W) using dp_hmc(steps = 5, clip = 1)
```
"#,
    },
    Entry {
        name: "dp_sgld",
        summary: "A Langevin chain on noisy gradients of the rows or of random samples of them, private at every step.",
        body: r#"
Arguments: `iterations` (left out, 500); `batch`, rows of a sample (left out, all rows at every step); `clip` > 0, the
longest gradient of a row in units of the prior's spread (left out, 1); `sigma` > 0, the noise on every component of a sum of gradients; left out, the
least that meets the budget is solved, and rounded up; `step`, the sd of what a step adds by chance, in prior spreads; `beta` as in `penalty`;
`weight` in (0, 1] (left out, 1).

Stochastic gradient Langevin dynamics (Li et al. 2019) on the posterior of bounded loss. With samples a step costs less time and less privacy, but
all rows know the gradient better for the same epsilon: take samples where time is short.

Guarantee: with all rows GDP with mu = sqrt(iterations) 2 clip / sigma. With samples of fixed size the exact curve of one step (Balle, Barthe and Gaboardi 2018) at
the share `batch / n`, composed over the steps; Rényi divergences by Wang, Balle and Kasiviswanathan (2019); clip and noise as in `dp_hmc`. n is the least
number of rows that the header promises (`t[10000]`, `t[n >= 10000]`); where it promises none samples gain nothing. The theorem is about one replaced row: with a secret n it is E0307, with units of several
rows E0300. Every state follows from noisy answers: status `certified`, whatever the chain has reached. `auto` never chooses it.

```dpm W0513
budget dp(eps = 1, delta = 1e-6)
private loans[50000] { x: vector[20], default: bool }
param w: vector[20] ~ normal(0, 1)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using dp_sgld(batch = 100)
```

```dpm E0307
budget dp(eps = 1, delta = 1e-6)
private loans[private n] { x: vector[20], default: bool }
param w: vector[20] ~ normal(0, 1)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using dp_sgld
```
"#,
    },
    Entry {
        name: "ops",
        summary: "One draw from a posterior whose parameters are cut to a bounded set; conditional on a chain.",
        body: r#"
Arguments: `weight` in (0, 1]; left out, the largest that meets the budget is solved, and rounded down. `sampler = nuts` (the default) or
`slice`; `steps`. The radius of the literature is the domain of the weights, `param w: vector[3] in l2(4)`.

The one-posterior sampling of Wang et al. (2015): where weights and features are bounded, so is the loss of a row, and the posterior
itself is private. It is here as the baseline of the field. The same holds for every row whose log-density is bounded over the declared domains: Bernoulli, binomial, geometric,
negative binomial, Poisson, exponential, gamma of known shape, normal; Laplace, logistic and Cauchy of known scale; outcomes need bounds.

Guarantee: eps-bounded range, eps = 2 k weight R, R how far the log-density of one row moves over all parameters; for logistic rows N B, B the largest size of the predictor (radius
times norm of the features) and N the number of trials, half of what is printed in the papers. It is that of an exact draw, and the draw is made by a chain, so the program must add
`assuming convergence`.

Take it where a pure epsilon is asked for a regression. The cost of `diffuse` does not grow with the radius, and it assumes nothing.

```dpm W0508
budget eps(1)
private loans[n] { x: vector[3] in l2(1), default: bool }
param w: vector[3] in l2(4) ~ normal(0, 1)
observe default ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using ops assuming convergence
```

```dpm E0305
budget eps(1)
private loans[n] { x: vector[3] in l2(1), default: bool }
param w: vector[3] ~ normal(0, 1)
observe default ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using ops assuming convergence
```
"#,
    },
    Entry {
        name: "beta_query",
        summary: "A mean of values in [0, 1], answered by one draw from a beta distribution; of vectors, one a component.",
        body: r#"
Arguments: `a`, `b` (positive; the prior counts, always written), and one of `r` or `m` as for `diffuse` and `concentrated`; if
neither is written, r is solved.

Answers `mean(e)` for row values e in [0, 1] by a draw from beta(a + r s, b + r (n - s)), s the sum. The answer is
pulled towards a / (a + b), and has the spread of a beta draw. Of a vector in [0, 1] every component is drawn so, for the cost of as many draws.

Guarantee: that of the rule `beta_bernoulli`, an exact Rényi curve.

Take it when a draw of a rate is wanted without writing a model. For a plain mean of many rows `gaussian` is usually closer.

```dpm
budget rdp(order = 15, eps = 0.3)
private cohort[n >= 500] { age: int in 0..120, bmi: real in [10, 60] }
let at_risk = age >= 65 and bmi > 30
release share = mean(at_risk) using beta_query(6, 18)
```
"#,
    },
];

//! The built-in functions: how each is written, what it does, and a program that uses it.

use crate::model::Unary;
use crate::numeric::unary::name;

/// The way it is written, what it does, and an example, of all that are not functions of one number.
pub const FUNCTIONS: &[[&str; 3]] = &[
    [
        "min(x, y), or min(v) of a vector or of rows",
        "Of two numbers it works anywhere; of one public vector it is its least component.",
        "output x = min([3, 1, 2]) + min(4, 5)",
    ],
    [
        "max(x, y), or max(v) of a vector or of rows",
        "Of two numbers it works anywhere; of one public vector it is its greatest component.",
        "output x = max([3, 1, 2]) + max(4, 5)",
    ],
    [
        "clip(x, lo, hi)",
        "max(lo, min(x, hi)): bounds a value, and with it what one row can change. The bounds must not depend on the rows.",
        "budget eps(1)\nprivate t[n >= 200] { pay: real }\nrelease m = mean(clip(pay, 0, 200)) using laplace",
    ],
    [
        "dot(w, x)",
        "The inner product of two vectors of one dimension; its range follows from their norms.",
        "output x = dot([1, 2], [3, 4])",
    ],
    [
        "design(age, log1p(income), sex, age * sex)",
        "A row as features of a regression: numbers scaled to [-1, 1] by their declared bounds, bools as 0 or 1, one feature for each level of a category but the first, or the one that `relevel(region, south)` says; `*` makes interactions, in parentheses a product is one number. The first feature is the intercept, unless `intercept = false` is given. `vector[x]` has a weight for each, by name, and the features of a row have the least norm that their columns allow.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate adult[5000] { age: real in [17, 90], sex: category {female, male}, rich: bool }\nlet x = design(age, sex, age * sex)\nparam w: vector[x] ~ normal(0, 1)\nobserve rich ~ bernoulli_logit(dot(w, x))\nrelease coef = draw(w)\noutput per_unit = natural(coef)\noutput by_age = coef[age]",
    ],
    [
        "natural(weights), of a design",
        "Weights of scaled features divided by the public scale of each: the change for one unit of the column, where all other numbers are at the middle of their bounds and categories at their first level. The intercept is the same. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate adult[5000] { age: real in [17, 90], rich: bool }\nlet x = design(age)\nparam w: vector[x] ~ normal(0, 1)\nobserve rich ~ bernoulli_logit(dot(w, x))\nrelease post = posterior(w) using score_statistics\noutput per_unit = natural(mean(post))",
    ],
    [
        "predict(post, age = 40, sex = female), of a new row",
        "What released weights of a design say of a row whose columns are named, each with a constant of its domain: the chance of a logistic outcome, the mean of a normal or a Poisson one. Of a released posterior a posterior, of one draw a number. `simulate(bernoulli(chance), times = 1000)` adds what the row itself may be. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate adult[5000] { age: real in [17, 90], sex: category {female, male}, rich: bool }\nlet x = design(age, sex)\nparam w: vector[x] ~ normal(0, 1)\nobserve rich ~ bernoulli_logit(dot(w, x))\nrelease post = posterior(w) using score_statistics\noutput chance = predict(post, age = 40, sex = female)\noutput between = interval(chance, 0.9)",
    ],
    ["append(a, b)", "One vector after another; a number counts as a vector of one.", "output x = append(1, [2, 3])"],
    [
        "rep(value, times)",
        "A vector of equal components, for priors of many levels.",
        "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet(rep(8, levels(party)))\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)",
    ],
    ["length(v)", "The dimension of a vector.", "output x = length([1, 2, 3])"],
    ["norm(v), Euclidean", "The Euclidean length.", "output x = norm([3, 4])"],
    [
        "levels(category)",
        "How many levels a category has; public.",
        "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet(rep(8, levels(party)))\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)",
    ],
    [
        "project(l2(c), v), l1 or linf as well",
        "The nearest point of a ball around 0: bounds a vector. The radius is public.",
        "budget zcdp(0.1)\nprivate t[n >= 500] { x: vector[3] }\nrelease m = mean(project(l2(1), x)) using gaussian",
    ],
    [
        "products(v), of components in [-1, 1]",
        "A vector, then every product of two of its components, squares times 0.707 (of a vector of one, 1.6): what `moments(x, y)` adds up over the rows. One row moves all of them together less than each by itself.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate t[n >= 200] { x: real in [-1, 1], y: real in [0, 10] }\nrelease m = sum(products([x, (y - 5) / 5])) using gaussian",
    ],
    [
        "sum(x) of rows or of a vector, sum(x, where = c) of some rows, sum(posterior, [yes, blank]) of its levels",
        "Over the rows of a private table it is released with a mechanism; of a public vector it is free. With `where` rows count where the bool holds. With a list of levels it is the posterior of their shares together.",
        "budget eps(1)\nprivate t[n] { vote: category {yes, no, blank} }\nparam s ~ dirichlet([1, 1, 1])\nobserve vote ~ categorical(s)\nrelease post = posterior(s)\noutput cast = interval(sum(post, [yes, no]), 0.9)",
    ],
    [
        "mean(x) of rows, of a vector or of a posterior, mean(x, where = c) of some rows, mean(x, groups = g) of groups",
        "Over rows, sum / n; n must be public. `release m = mean(x, where = c)` is the mean of the rows where a bool holds, also of a secret number of rows: a noisy sum and a noisy count in one release, and what both say of it, so `interval(m, 0.9)`. `release m = mean(x, groups = g)` is that of every group at once, by name. Of a released or public vector it is free.",
        "budget eps(1)\nprivate t[n >= 200] { hours: real in [0, 80] }\nrelease m = mean(hours) using laplace",
    ],
    [
        "quotient(parts, weight, lo, hi), of a noisy sum and a noisy count",
        "What a released sum of numbers scaled to [-1, 1], and beside it their count times `weight`, say of their mean, which lies in [lo, hi]: a law whose middle 90 % cover it in 90 % of all runs or more, whatever the rows. Of one released sum with a public count in place of the weight too. It is what `release m = mean(x, where = c)` is written out as; with the names of groups behind `hi`, and such a pair for each of them, `release m = mean(x, groups = g)`. Free.",
        "budget eps(1)\nprivate t[n >= 200] { hours: real in [0, 80], night: bool }\nrelease parts = sum(night * [(hours - 40) / 40, 1]) using laplace\noutput m = quotient(parts, 1, 0, 80)\noutput between = interval(m, 0.9)",
    ],
    ["sd(v) of a public vector or of a posterior", "The standard deviation of a public vector, with n - 1.", "output x = sd([1, 2, 4])"],
    [
        "count(), count(condition)",
        "The number of rows (secret for a header with `private n`), or of rows with a condition.",
        "budget eps(1)\nprivate t[private n] { age: int in 0..120 }\nrelease old = count(age >= 65) using geometric",
    ],
    [
        "histogram(category), histogram(region, vote) by several columns",
        "How many rows have each level of a category, a bool or a bounded int, or each combination of several of them. A number with public bounds is counted in bins: bin(age, width = 10), bin(age, [18, 65]).",
        "budget eps(1)\nprivate t[n] { choice: category {yes, no, blank} }\nrelease votes = histogram(choice) using geometric",
    ],
    [
        "is_na(column)",
        "Of a row: is the cell of this column missing or unreadable, so that `else`, or what its type says, counts in its place? Of a vector: is any of its cells?",
        "budget eps(1)\nprivate t[n >= 200] { pay: real in [0, 200] else 60 }\nrelease unknown = count(is_na(pay)) using geometric spend 50%\nrelease known_total = sum(if is_na(pay) then 0 else pay) using laplace spend 50%\noutput known_mean = known_total / max(n - unknown, 1)",
    ],
    [
        "year(d), of a column of dates",
        "The year of the date of a row, a whole number between the years of its domain.",
        "budget eps(1)\nprivate visits[n] { day: date in [\"2020-01-01\", \"2024-12-31\"] }\nrelease by_month = histogram(year(day), month(day)) using geometric",
    ],
    [
        "month(d), of a column of dates",
        "The month of the date of a row, 1 for January to 12 for December.",
        "budget eps(1)\nprivate visits[n] { day: date in [\"2020-01-01\", \"2020-12-31\"] }\nrelease by_month = histogram(month(day)) using geometric",
    ],
    [
        "weekday(d), of a column of dates",
        "The day of the week of the date of a row, 1 for Monday to 7 for Sunday, as in ISO 8601.",
        "budget eps(1)\nprivate visits[n] { day: date in [\"2020-01-01\", \"2020-12-31\"] }\nrelease weekend = count(weekday(day) >= 6) using geometric",
    ],
    [
        "margin(cells, region)",
        "Of a released histogram by several columns, the counts by some of them: sums of cells, free. Of released sums, those by some of the groups.",
        "budget eps(1)\nprivate t[n] { vote: bool, age: int in 18..30 }\nrelease cells = histogram(vote, age) using geometric\noutput by_vote = margin(cells, vote)\noutput young = cells[true, 18]",
    ],
    [
        "quantile(x, q)",
        "Over rows it is released with `exponential`; of a public vector it is free, and q may be a list.",
        "budget eps(1)\nprivate t[n] { pay: real in [0, 200] }\nrelease median_pay = quantile(pay, 0.5) using exponential",
    ],
    [
        "quantiles(x, [0.25, 0.5, 0.75])",
        "Several quantiles by one release: each takes an equal part of what the release may cost, and they come out in ascending order. Of a public vector and a released posterior it is free.",
        "budget eps(1)\nprivate t[50000] { pay: real in [0, 1000000] }\nrelease quartiles = quantiles(pay, [0.25, 0.5, 0.75]) using exponential\noutput spread = quartiles[3] - quartiles[1]",
    ],
    [
        "density(posterior, x)",
        "Of a released posterior at x: free.",
        "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput d = density(post, 0.5)",
    ],
    [
        "cdf(posterior, x)",
        "The probability that a released posterior gives to values up to x: free.",
        "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput most = 1 - cdf(post, 0.5)",
    ],
    [
        "interval(posterior, 0.9), its middle 90 percent",
        "The quantiles of a released posterior that leave out as much on both sides: free.",
        "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput middle = interval(post, 0.9)",
    ],
    [
        "larger(posterior, posterior), the probability that the first is larger",
        "The probability that a draw of one released posterior is larger than an independent draw of the other; of two levels, sums of levels, or weights of one posterior both come from one draw. Free.",
        "budget eps(1)\nprivate t[n] { vote: category {yes, no, blank} }\nparam s ~ dirichlet([1, 1, 1])\nobserve vote ~ categorical(s)\nrelease post = posterior(s)\noutput ahead = larger(post[yes], post[no])",
    ],
    [
        "sample(posterior, 1000), draws of a scalar",
        "Draws from a released posterior of one number, with fresh and public randomness: free.",
        "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput square = mean(sample(post, 1000)^2)",
    ],
    [
        "simulate(binomial(100, p), times = 1000), or simulate(cells, post, rows = 1000)",
        "Fresh draws of a distribution with public arguments: free. A vector if `times` is more than 1. Of released counts and the posterior of a model of them: made-up rows, as a table of their counts.",
        "output heads = simulate(binomial(100, 0.5), times = 1000)\noutput chance = mean(heads > 60)",
    ],
    [
        "predictive(cells, post), for each cell what the model predicts",
        "Released counts, or sums of events, beside the mean and the middle 90 percent of what a model of them predicts, noise included, and how many lie within. Of `prior(m, u)` the prior predictive check; of `margin(cells, region)` that of a margin. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate poll[n] { region: public category {north, south}, vote: bool }\nrelease cells = histogram(region, vote) using gaussian\nparam m ~ normal(0, 1.5)\nparam u: vector[region] ~ normal(0, 1)\nobserve cells.vote ~ bernoulli_logit(m + u[region])\noutput post = posterior(m, u)\noutput before = prior(m, u)\noutput check = predictive(cells, post)\noutput expected = predictive(margin(cells, region), before)",
    ],
    [
        "poststratify(x, census, people), a number of every draw averaged over a public table",
        "For another population than the one that was counted: x is an expression of a posterior of released counts, such as `inv_logit(post.m + post.u[region])`, where names are columns of the public table first; its rows count by their weight. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate poll[n] { region: public category {north, south}, vote: bool }\npublic census[groups] { region: category {north, south}, people: int in 0.. }\nrelease cells = histogram(poll.region, vote) using gaussian\nparam m ~ normal(0, 1.5)\nparam u: vector[region] ~ normal(0, 1)\nobserve cells.vote ~ bernoulli_logit(m + u[region])\noutput post = posterior(m, u)\noutput everyone = poststratify(inv_logit(post.m + post.u[region]), census, people)",
    ],
    [
        "loo(post), how well a model predicts every cell from the others",
        "Expected log predictive density of the released cells, each left out in turn (PSIS-LOO), with its standard error, the effective number of parameters and Pareto k by cell. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate poll[n] { region: public category {north, south}, vote: bool }\nrelease cells = histogram(region, vote) using gaussian\nparam m ~ normal(0, 1.5)\nparam u: vector[region] ~ normal(0, 1)\nobserve cells.vote ~ bernoulli_logit(m + u[region])\noutput post = posterior(m, u)\noutput fit = loo(post)\noutput trusted = max(fit.k) < 0.7",
    ],
    [
        "loo_compare(post, other), how much better the first predicts",
        "The difference of the `loo` of two models of the same cells, with its standard error. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate poll[n] { region: public category {north, south}, vote: bool }\nrelease cells = histogram(region, vote) using gaussian\nparam m ~ normal(0, 1.5)\nparam u: vector[region] ~ normal(0, 1)\nobserve cells.vote ~ bernoulli_logit(m + u[region])\noutput post = posterior(m, u)\nparam p ~ beta(1, 1)\nobserve cells.vote ~ bernoulli(if region == north then p else p)\noutput one = posterior(p)\noutput better = loo_compare(post, one)",
    ],
];

/// Every built-in function by its name and the way it is written: for arity messages, completion and `dpm explain`.
pub fn signatures() -> impl Iterator<Item = (&'static str, &'static str)> {
    let unary = Unary::ALL.into_iter().map(|f| f.facts().written).filter(|w| !w.is_empty());
    unary.chain(FUNCTIONS.iter().map(|[written, ..]| *written)).map(|written| (name(written), written))
}

//! Pages on the built-in functions: how each is written, with a line of use and an example.

use super::{Kind, Page, fenced};
use crate::check::FUNCTIONS;
use crate::model::Unary;
use crate::numeric::unary::name;

pub fn pages() -> Vec<Page> {
    let unary = Unary::ALL.into_iter().map(|f| f.facts()).filter(|f| !f.written.is_empty()).map(|f| {
        let rows =
            format!("budget eps(1)\nprivate t[n >= 200] {{ x: real in {} }}\nrelease m = mean({}(x)) using laplace", f.example, f.name());
        page(f.written, ROW, &rows)
    });
    let all = |table: &'static [[&'static str; 3]]| table.iter().map(|[written, text, example]| page(written, text, example));
    all(QUERIES).chain(unary).chain(all(FUNCTIONS)).collect()
}

fn page(written: &'static str, text: &str, example: &str) -> Page {
    let body = format!("{text}\n\n{}", fenced(example));
    Page { kind: Kind::Function, name: name(written).into(), summary: format!("{written}."), body }
}

const ROW: &str =
    "Works on numbers and, component by component, on vectors. On a row it must be defined on the whole range of its argument (E0204).";

/// What stands alone after `release` or `output`.
const QUERIES: &[[&str; 3]] = &[
    [
        "draw(p), draw(w, b): one draw of parameters",
        "Stands after `release`. Several parameters give a record: `coef.w[1]`.",
        "budget rdp(order = 5, eps = 0.5)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hat = draw(p)",
    ],
    [
        "draws(p, k): k draws",
        "Stands after `release`. Costs k times one draw; to describe uncertainty, `simulate` from one draw instead.",
        "budget rdp(order = 5, eps = 1)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hats = draws(p, 2)",
    ],
    [
        "posterior(p): the whole posterior",
        "Stands after `release`: the whole posterior of one parameter, released once; of several, or `using noisy_cells`, the posterior given noisy counts of the columns that the model names: four chains of 1,000 draws, or `chains = 2, draws = 4000`. Its means, intervals and predictions are then free.",
        "budget eps(1)\nprivate trial[n] { cured: bool }\nparam p ~ beta(1, 1)\nobserve cured ~ bernoulli(p)\nrelease post = posterior(p)\noutput middle = interval(post, 0.9)",
    ],
    [
        "moments(x, y): sums of numbers and of their products",
        "Stands after `release`: noisy sums of bounded columns, scaled to [-1, 1], and of all products of two of them, with the sensitivity of all together. It is a table with these columns for normal models: `observe m.y ~ normal(a + b * x, sd)`.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate staff[n] { age: real in [18, 70], pay: real in [0, 200] }\nrelease m = moments(age, pay) using gaussian\nparam mu ~ normal(40, 20)\nparam s ~ half_normal(20)\nparam a ~ normal(50, 50)\nparam b ~ normal(0, 5)\nparam sd ~ half_normal(50)\nobserve m.age ~ normal(mu, s)\nobserve m.pay ~ normal(a + b * (age - 40), sd)\noutput post = posterior(a, b, sd)",
    ],
    [
        "sums(died, years, groups = sex): sums of events and exposures by group",
        "Stands after `release`: noisy sums of bounded columns from 0 on, in every group of one or several categories or bools, in one release. It is a table with these columns for rates: `observe s.died ~ poisson(rate[sex] * years)`, also where follow-up ends at the event. An expression gets a name: `years = days / 365.25`.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate cohort[n] { sex: category {female, male}, died: bool, years: real in [0, 15] }\nrelease s = sums(died, years, groups = sex)\nparam rate: vector[sex] ~ gamma(2, 20)\nobserve s.died ~ poisson(rate[sex] * years)\noutput post = posterior(rate)",
    ],
    [
        "prior(m, u): draws of the prior",
        "Stands after `output`, for parameters of a model of released counts: draws from its priors alone, as `posterior(m, u)` gives them from priors and counts. For prior predictive checks. Free.",
        "budget dp(eps = 1, delta = 1e-6)\nprivate poll[n] { vote: bool }\nrelease cells = histogram(vote) using gaussian\nparam m ~ normal(0, 1.5)\nobserve cells.vote ~ bernoulli_logit(m)\noutput before = prior(m)\noutput expected = predictive(cells, before)",
    ],
];

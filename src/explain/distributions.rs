//! Pages on the distributions: the table of the language with an example each.

use super::{Kind, Page, fenced};
use crate::dist::{ArgKind, DISTRIBUTIONS, Distribution, Support};
use crate::model::Range;

pub fn pages() -> Vec<Page> {
    DISTRIBUTIONS.iter().map(page).collect()
}

fn page(d: &Distribution) -> Page {
    let arguments: Vec<&str> = d.args.iter().map(|(name, _)| *name).collect();
    let mut body = format!("Values: {}.\n\nDensity: `{}`.\n\n", support(d.support), d.density);
    for (name, kind) in d.args {
        body.push_str(&format!("- `{name}`: {}\n", argument(*kind)));
    }
    if let Some((_, example)) = EXAMPLES.iter().find(|(name, _)| *name == d.name) {
        body.push_str(&format!("\n{}", fenced(example)));
    }
    Page { kind: Kind::Distribution, name: d.name.into(), summary: format!("{}({}).", d.name, arguments.join(", ")), body }
}

fn support(s: Support) -> String {
    match s {
        Support::Bool => "true and false".into(),
        Support::CountsToFirst => "whole numbers from 0 to the first argument".into(),
        Support::Counts => "whole numbers from 0".into(),
        Support::Categories => "one of as many levels as the argument has components".into(),
        Support::CountVector => "vectors of counts that sum to the first argument".into(),
        Support::Real(r) => range(r).into(),
        Support::RealVector => "real vectors of the dimension of the first argument".into(),
        Support::Simplex => "vectors of shares that sum to 1, of the dimension of the argument".into(),
        Support::BetweenArgs => "real numbers between the arguments".into(),
    }
}

fn argument(kind: ArgKind) -> String {
    match kind {
        ArgKind::Scalar(r) => range(r).into(),
        ArgKind::Trials => "a constant whole number, at least 1".into(),
        ArgKind::Simplex => "shares that sum to 1".into(),
        ArgKind::Vector => "a vector of real numbers".into(),
        ArgKind::PositiveVector => "a vector of positive numbers".into(),
        ArgKind::Matrix => "a public positive definite matrix, as a list of rows".into(),
    }
}

fn range(r: Range) -> &'static str {
    match (r.lo, r.hi) {
        (0.0, 1.0) => "a real number from 0 to 1",
        (0.0, _) => "a positive real number",
        _ => "a real number",
    }
}

const EXAMPLES: &[(&str, &str)] = &[
    (
        "bernoulli",
        "budget rdp(order = 5, eps = 0.5)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hat = draw(p)",
    ),
    ("bernoulli_logit", "output x = simulate(bernoulli_logit(-0.4), times = 100)"),
    ("bernoulli_probit", "output x = simulate(bernoulli_probit(-0.4), times = 100)"),
    ("bernoulli_cloglog", "output x = simulate(bernoulli_cloglog(-0.4), times = 100)"),
    (
        "binomial",
        "budget rdp(order = 5, eps = 0.5)\nprivate t[n] { hits: int in 0..3 }\nparam p ~ beta(40, 40)\nobserve hits ~ binomial(3, p)\nrelease p_hat = draw(p)",
    ),
    ("binomial_logit", "output x = simulate(binomial_logit(10, 0.3), times = 100)"),
    (
        "geometric",
        "budget rdp(order = 4, eps = 0.5)\nprivate t[n] { failures: int in 0..5 }\nparam p ~ beta(50, 50)\nobserve failures ~ geometric(p)\nrelease p_hat = draw(p)",
    ),
    (
        "neg_binomial",
        "budget rdp(order = 4, eps = 0.5)\nprivate t[n] { failures: int in 0..5 }\nparam p ~ beta(50, 50)\nobserve failures ~ neg_binomial(2, p)\nrelease p_hat = draw(p)",
    ),
    (
        "poisson",
        "budget dp(eps = 1, delta = 1e-6)\nprivate people[n] { visits: int in 0..10 }\nparam rate ~ gamma(40, 10)\nobserve visits ~ poisson(rate)\nrelease rate_hat = draw(rate) using diffuse",
    ),
    ("poisson_log", "output x = simulate(poisson_log(1.2), times = 100)"),
    (
        "categorical",
        "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet([8, 8, 8])\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)",
    ),
    ("categorical_logit", "output x = simulate(categorical_logit([0, 0.5, 1]), times = 100)"),
    (
        "multinomial",
        "budget rdp(order = 3, eps = 1)\nprivate t[n] { items: counts[3] of 2 }\nparam share ~ dirichlet([20, 20, 20])\nobserve items ~ multinomial(2, share)\nrelease share_hat = draw(share)",
    ),
    (
        "normal",
        "budget zcdp(0.05)\nprivate staff[n >= 1000] { income: real in [0, 200] }\nparam mu ~ normal(60, 50)\nobserve income ~ normal(mu, 30)\nrelease mu_hat = draw(mu)",
    ),
    ("half_normal", "output x = simulate(half_normal(2), times = 100)"),
    ("laplace", "output x = simulate(laplace(0, 1), times = 100)"),
    ("cauchy", "output x = simulate(cauchy(0, 1), times = 100)"),
    ("student_t", "output x = simulate(student_t(4, 0, 1), times = 100)"),
    (
        "multi_normal",
        "budget zcdp(0.05)\nprivate t[n >= 1000] { y: vector[2] in l2(3) }\nparam mu: vector[2] ~ multi_normal([0, 0], [[4, 0], [0, 4]])\nobserve y ~ multi_normal(mu, [[1, 0], [0, 1]])\nrelease mu_hat = draw(mu)",
    ),
    (
        "exponential",
        "budget rdp(order = 3, eps = 0.5)\nprivate t[1000] { wait: real in [0.5, 1.5] }\nparam rate ~ gamma(20, 20)\nobserve wait ~ exponential(rate)\nrelease rate_hat = draw(rate) using diffuse",
    ),
    (
        "gamma",
        "budget dp(eps = 1, delta = 1e-6)\nprivate people[n] { visits: int in 0..10 }\nparam rate ~ gamma(40, 10)\nobserve visits ~ poisson(rate)\nrelease rate_hat = draw(rate) using diffuse",
    ),
    ("inv_gamma", "output x = simulate(inv_gamma(3, 2), times = 100)"),
    (
        "beta",
        "budget rdp(order = 5, eps = 0.5)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hat = draw(p)",
    ),
    ("uniform", "output x = simulate(uniform(-1, 1), times = 100)"),
    (
        "dirichlet",
        "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet([8, 8, 8])\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)",
    ),
];

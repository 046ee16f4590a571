//! More rows never cost more: a case for every rule of the table, the rules that are an exception by name and by their manual page.

use crate::numbers_support::{certified, error_of};
use dpm::privacy::Claim;
use dpm::rules::RULES;

/// What happens to the cost as the number of rows grows.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Cost {
    Falls,
    Stays,
    /// The exception, which the page of the rule states.
    Grows,
}

/// Rules that refuse whatever the number of rows is: what they say.
const REFUSED: [(&str, &str, &str); 2] = [
    (
        "linear_private_design",
        "E0300",
        "x: vector[2] in l2(1), y: real in [-1, 1] }\nparam m: vector[2] ~ normal(0, 1)\nobserve y ~ normal(dot(m, x), 1)\nrelease d = draw(m) using direct\n",
    ),
    (
        "normal_unknown_both",
        "E0300",
        "y: real in [0, 10] }\nparam m ~ normal(0, 5)\nparam s ~ gamma(3, 1)\nobserve y ~ normal(m, 1 / sqrt(s))\nrelease d = draw(m, s) using direct\n",
    ),
];

/// A program of every other rule, with its parameters written; ROWS is the number of rows.
const CASES: &[(&str, Cost, &str)] = &[
    (
        "beta_bernoulli",
        Cost::Falls,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(2, 3)\n\
         observe y ~ bernoulli(m)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "dirichlet_categorical",
        Cost::Stays,
        "private t[ROWS] { y: category {a, b, c} }\n\
         param m ~ dirichlet([2, 3, 4])\n\
         observe y ~ categorical(m)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "dirichlet_multinomial",
        Cost::Falls,
        "private t[ROWS] { y: counts[2] of 2 }\n\
         param m ~ dirichlet([2, 3])\n\
         observe y ~ multinomial(2, m)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "dirichlet_multinomial",
        Cost::Stays,
        "private t[ROWS] { y: counts[3] of at_most(2) }\n\
         param m ~ dirichlet([2, 3, 4])\n\
         observe y ~ multinomial(2, m)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "gamma_poisson",
        Cost::Falls,
        "private t[ROWS] { y: int in 1..3 }\n\
         param m ~ gamma(2, 3)\n\
         observe y ~ poisson(m)\n\
         release d = draw(m) using diffuse(r = 0.1)",
    ),
    (
        "gamma_exponential",
        Cost::Grows,
        "private t[ROWS] { y: real in [0, 1] }\n\
         param m ~ gamma(2, 3)\n\
         observe y ~ exponential(m)\n\
         release d = draw(m) using diffuse(r = 0.1)",
    ),
    (
        "gamma_exponential",
        Cost::Falls,
        "private t[ROWS] { y: real in [1, 2] }\n\
         param m ~ gamma(2, 3)\n\
         observe y ~ exponential(m)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "beta_geometric",
        Cost::Grows,
        "private t[ROWS] { y: int in 0..3 }\n\
         param m ~ beta(2, 3)\n\
         observe y ~ geometric(m)\n\
         release d = draw(m) using diffuse(r = 0.1)",
    ),
    (
        "normal_known_variance",
        Cost::Falls,
        "private t[ROWS] { y: real in [-1, 1] }\n\
         param m ~ normal(0, 1)\n\
         observe y ~ normal(m, 1)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "normal_precision",
        Cost::Grows,
        "private t[ROWS] { y: real in [-1, 1] }\n\
         param m ~ gamma(2, 3)\n\
         observe y ~ normal(0, 1 / sqrt(m))\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "mv_normal_known_covariance",
        Cost::Falls,
        "private t[ROWS] { y: vector[2] in l2(1) }\n\
         param m: vector[2] ~ multi_normal([0, 0], [[1, 0], [0, 0.5]])\n\
         observe y ~ multi_normal(m, [[1, 0], [0, 3]])\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "linear_public_design",
        Cost::Stays,
        "private t[ROWS] { x: public vector[2] in l2(1), y: real in [-1, 1] }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ normal(dot(m, x), 1)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "lipschitz_glm",
        Cost::Stays,
        "private t[ROWS] { x: vector[2] in [0, 1], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(m, x))\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "glm_on_ball",
        Cost::Falls,
        "private t[ROWS] { y: int in 0..3 }\n\
         param m: real in [-1, 1] ~ normal(0, 1)\n\
         observe y ~ poisson_log(m)\n\
         release d = draw(m) using diffuse(r = 0.5)",
    ),
    (
        "refined",
        Cost::Stays,
        "private t[ROWS] { x: vector[2] in [0, 1], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(m, x))\n\
         release d = draw(m) using refined(sigma = 60)",
    ),
    (
        "refined_draws",
        Cost::Stays,
        "private t[ROWS] { x: vector[2] in l2(1), y: int in 0..9 }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ poisson_log(dot(m, x))\n\
         release d = draws(m, 5) using refined(sigma = 60)",
    ),
    (
        "beta_query",
        Cost::Falls,
        "private t[ROWS] { y: real in [0, 1] }\n\
         release d = mean(y) using beta_query(2, 3, r = 0.5)",
    ),
    (
        "laplace",
        Cost::Falls,
        "private t[ROWS] { y: real in [0, 1] }\n\
         release d = mean(y) using laplace(scale = 1)",
    ),
    (
        "gaussian",
        Cost::Falls,
        "private t[ROWS] { y: real in [0, 1] }\n\
         release d = mean(y) using gaussian(sigma = 1)",
    ),
    (
        "geometric",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         release d = sum(y) using geometric(scale = 2)",
    ),
    (
        "exponential",
        Cost::Stays,
        "budget eps(1)\n\
         private t[ROWS] { y: real in [0, 1] }\n\
         release d = quantile(y, 0.5) using exponential(0, 1)",
    ),
    (
        "beta_div",
        Cost::Stays,
        "private t[ROWS] { x: vector[2], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_probit(dot(m, x))\n\
         release d = draw(m) using beta_div(beta = 3, weight = 0.5) assuming convergence",
    ),
    (
        "penalty",
        Cost::Stays,
        "private t[ROWS] { x: vector[2], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(m, x))\n\
         release d = draw(m) using penalty(iterations = 100, sigma = 20, step = 0.1, beta = 1.5, weight = 0.5)",
    ),
    (
        "dp_hmc",
        Cost::Stays,
        "private t[ROWS] { x: vector[2], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(m, x))\n\
         release d = draw(m) using dp_hmc(iterations = 10, steps = 2, clip = 0.5, sigma = 3, gradient_sigma = 15, beta = 1.5, weight = 0.1)",
    ),
    (
        "dp_sgld",
        Cost::Falls,
        "private t[ROWS] { x: vector[2], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(m, x))\n\
         release d = draw(m) using dp_sgld(iterations = 10, batch = 1, clip = 1, sigma = 5)",
    ),
    (
        "ops",
        Cost::Stays,
        "budget eps(2)\n\
         private t[ROWS] { y: int in 0..4 }\n\
         param m: real in [-1, 1] ~ normal(0, 1)\n\
         observe y ~ binomial_logit(4, m)\n\
         release d = draw(m) using ops(weight = 0.1) assuming convergence",
    ),
    (
        "noise_aware",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(1, 1)\n\
         observe y ~ bernoulli(m)\n\
         release d = posterior(m) using noise_aware(eps = 1)",
    ),
    (
        "refined_posterior",
        Cost::Stays,
        "private t[ROWS] { x: vector[2] in l2(1), y: real in [-1, 1] }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ normal(dot(m, x), 0.5)\n\
         release d = posterior(m) using refined(sigma = 60)",
    ),
    (
        "score_statistics",
        Cost::Stays,
        "private t[ROWS] { x: vector[2] in [0, 1], y: bool }\n\
         param m: vector[2] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(m, x))\n\
         release d = posterior(m) using score_statistics(sigma = 40, sigma_products = 20)",
    ),
    (
        "ls_hist",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(1, 1)\n\
         observe y ~ bernoulli(m)\n\
         release d = posterior(m) using ls_hist(eps = 1)",
    ),
    (
        "ls_dim",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(1, 1)\n\
         observe y ~ bernoulli(m)\n\
         release d = posterior(m) using ls_dim(eps = 1)",
    ),
    (
        "ehds",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(1, 1)\n\
         observe y ~ bernoulli(m)\n\
         release d = posterior(m) using ehds(eps = 1, gamma = 0.5)",
    ),
    (
        "ehd",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(1, 1)\n\
         observe y ~ bernoulli(m)\n\
         release d = posterior(m) using ehd(eps = 1)",
    ),
    (
        "plug_in",
        Cost::Stays,
        "private t[ROWS] { y: bool }\n\
         param m ~ beta(1, 1)\n\
         observe y ~ bernoulli(m)\n\
         release d = posterior(m) using plug_in(eps = 1)",
    ),
];

const ROWS: [u64; 7] = [2, 3, 5, 20, 100, 1000, 1_000_000];

/// Costs of every kind, one line a kind: pure, bounded range, zCDP, GDP, three orders and an epsilon.
fn costs(claim: &Claim) -> Vec<f64> {
    let known = [claim.pure(), claim.bounded_range(), claim.zcdp(), claim.gdp()];
    known.into_iter().chain([1.2, 2.0, 4.0].map(|l| claim.rdp(l))).chain([claim.epsilon(1e-6)]).collect()
}

fn at(rule: &str, text: &str, rows: &str) -> Vec<f64> {
    let made = certified(&text.replace("ROWS", rows));
    let release = &made.analysis.releases[0];
    assert_eq!(release.chosen.as_ref().map(|c| c.rule.name), Some(rule), "{text}");
    costs(made.claim())
}

#[test]
fn every_rule_says_what_more_rows_cost() {
    for (rule, cost, text) in CASES {
        let found: Vec<Vec<f64>> = ROWS.iter().map(|n| at(rule, text, &n.to_string())).collect();
        let (mut fell, mut grew) = (false, false);
        for pair in found.windows(2) {
            for (few, many) in pair[0].iter().zip(&pair[1]) {
                fell |= *many < few * (1.0 - 1e-6);
                grew |= *many > few * (1.0 + 1e-9);
            }
        }
        assert_eq!((fell, grew), (*cost == Cost::Falls, *cost == Cost::Grows), "{rule}: {found:?}");
        // A lower bound on n costs at least what any number of rows above it does.
        if *cost != Cost::Grows {
            let open = at(rule, text, "n >= 5");
            for (place, bound) in open.iter().enumerate() {
                assert!(found[2..].iter().all(|costs| costs[place] <= bound * (1.0 + 1e-9)), "{rule}: {open:?} {found:?}");
            }
        }
    }
}

#[test]
fn every_rule_has_a_case() {
    let listed = |name: &str| CASES.iter().any(|c| c.0 == name) || REFUSED.iter().any(|c| c.0 == name);
    for rule in RULES {
        assert!(listed(rule.name), "{}: what more rows cost is not tested", rule.name);
    }
    for (name, cost, _) in CASES {
        let rule = RULES.iter().find(|r| r.name == *name);
        let page = rule.map(|r| r.page().to_lowercase()).unwrap_or_default();
        assert!(!page.is_empty(), "{name} is no rule");
        let stated = page.replace('\n', " ").contains("grows with n");
        assert!(*cost != Cost::Grows || stated, "{name}: the exception is not stated");
    }
    for (name, code, rest) in REFUSED {
        for rows in ROWS {
            assert_eq!(error_of(&format!("private t[{rows}] {{ {rest}")), code, "{name}");
        }
    }
}

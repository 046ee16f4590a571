//! Pages on the rules: the head of the file that implements each, and an example.

use super::{Kind, Page, fenced};
use crate::rules::{RULES, Rule};

pub fn pages() -> Vec<Page> {
    RULES.iter().map(|rule| page(rule)).collect()
}

fn page(rule: &Rule) -> Page {
    let text = rule.page();
    let (summary, body) = text.split_once('\n').unwrap_or((&text, ""));
    let example = EXAMPLES.iter().find(|(name, _)| *name == rule.name).map_or(String::new(), |(_, text)| {
        let (fence, program) = text.split_once('\n').unwrap_or(("", text));
        format!("\n\n## Example\n\n{}", fenced(program).replacen("```dpm", format!("```dpm {fence}").trim(), 1))
    });
    let body = format!("{}{example}", body.trim());
    Page { kind: Kind::Rule, name: rule.name.into(), summary: summary.into(), body }
}

/// The first line of each is the code the program gets; empty if it is right.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "beta_bernoulli",
        r"
budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse",
    ),
    (
        "dirichlet_categorical",
        r"
budget rdp(order = 4, eps = 1)
private votes[n] { party: category {red, blue, green, other} }
param share ~ dirichlet([8, 8, 8, 8])
observe party ~ categorical(share)
release share_hat = draw(share)",
    ),
    (
        "dirichlet_multinomial",
        r"
budget rdp(order = 3, eps = 1)
private t[n] { items: counts[3] of 2 }
param share ~ dirichlet([20, 20, 20])
observe items ~ multinomial(2, share)
release share_hat = draw(share)",
    ),
    (
        "gamma_poisson",
        r"
budget dp(eps = 1, delta = 1e-6)
private people[n] { visits: int in 0..10 }
param rate ~ gamma(40, 10)
observe visits ~ poisson(rate)
release rate_hat = draw(rate) using diffuse",
    ),
    (
        "gamma_exponential",
        r"
budget rdp(order = 3, eps = 0.5)
private t[1000] { wait: real in [0.5, 1.5] }
param rate ~ gamma(20, 20)
observe wait ~ exponential(rate)
release rate_hat = draw(rate) using diffuse",
    ),
    (
        "beta_geometric",
        r"
budget rdp(order = 4, eps = 0.5)
private t[n] { failures: int in 0..5 }
param p ~ beta(50, 50)
observe failures ~ geometric(p)
release p_hat = draw(p) using diffuse",
    ),
    (
        "normal_known_variance",
        r"
budget zcdp(0.05)
private staff[n >= 1000] { income: real in [0, 200] }
param mu ~ normal(60, 50)
observe income ~ normal(mu, 30)
release mu_hat = draw(mu)",
    ),
    (
        "normal_precision",
        r"
budget rdp(order = 3, eps = 0.5)
private t[50] { y: real in [-2, 2] }
param tau ~ gamma(20, 20)
observe y ~ normal(0, 1 / sqrt(tau))
release tau_hat = draw(tau) using diffuse",
    ),
    (
        "mv_normal_known_covariance",
        r"
budget zcdp(0.05)
private t[n >= 1000] { y: vector[2] in l2(3) }
param mu: vector[2] ~ multi_normal([0, 0], [[4, 0], [0, 4]])
observe y ~ multi_normal(mu, [[1, 0], [0, 1]])
release mu_hat = draw(mu)",
    ),
    (
        "linear_public_design",
        r"
budget zcdp(0.1)
private t[n] { x: public vector[3] in l2(1), y: real in [-2, 2] }
param w: vector[3] ~ normal(0, 1)
observe y ~ normal(dot(w, x), 2)
release w_hat = draw(w)",
    ),
    (
        "linear_private_design",
        r"E0300
budget zcdp(0.1)
private t[n] { x: vector[3] in l2(1), y: real in [-2, 2] }
param w: vector[3] ~ normal(0, 1)
observe y ~ normal(dot(w, x), 2)
release w_hat = draw(w) using direct",
    ),
    (
        "normal_unknown_both",
        r"E0300
budget zcdp(0.1)
private t[n] { y: real in [-2, 2] }
param tau ~ gamma(20, 20)
param mu ~ normal(0, 1)
observe y ~ normal(mu, 1 / sqrt(tau))
release mu_hat = draw(mu)",
    ),
    (
        "beta_query",
        r"
budget rdp(order = 15, eps = 0.3)
private cohort[n >= 500] { age: int in 0..120 }
release share = mean(age >= 65) using beta_query(6, 18)",
    ),
    (
        "laplace",
        r"
budget eps(1)
private t[n >= 200] { hours: real in [0, 80] }
release mean_hours = mean(hours) using laplace",
    ),
    (
        "geometric",
        r"
budget eps(1)
private ballots[private n] { choice: category {yes, no, blank} }
release votes = histogram(choice) using geometric",
    ),
    (
        "gaussian",
        r"
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90 }
release mean_age = mean(age) using gaussian",
    ),
    (
        "exponential",
        r"
budget zcdp(0.05)
private people[n >= 500] { income: real in [0, 200] }
release median_income = quantile(income, 0.5) using exponential",
    ),
    (
        "noise_aware",
        r"
budget eps(1)
private ballots[n] { choice: category {yes, no, blank} }
param share ~ dirichlet([1, 1, 1])
observe choice ~ categorical(share)
release post = posterior(share)
output ci_yes = interval(post[yes], 0.9)",
    ),
    (
        "refined_posterior",
        r#"
budget dp(eps = 1, delta = 1e-6)
private homes[n >= 2000] { area: real in [0, 1], age: real in [0, 1], price: real in [0, 2] }
param w: vector[3] ~ normal(0, 2)
observe price ~ normal(dot(w, [1, area, age]), 0.2)
release post = posterior(w) using refined
expect rule(post) == "refined_posterior""#,
    ),
    (
        "score_statistics",
        r"W0512
budget dp(eps = 1, delta = 1e-6)
private people[n >= 5000] { age: real in [0, 1], high: bool }
param w: vector[2] ~ normal(0, 3)
observe high ~ bernoulli_logit(dot(w, [1, age]))
release post = posterior(w) using score_statistics",
    ),
    (
        "ls_hist",
        r"
budget eps(1)
private ballots[n] { choice: category {yes, no, blank} }
param share ~ dirichlet([1, 1, 1])
observe choice ~ categorical(share)
release post = posterior(share) using ls_hist",
    ),
    (
        "ls_dim",
        r"
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ls_dim(eps = 1)
expect certificate(post).pure == 0.5",
    ),
    (
        "ehds",
        r"
budget eps(8)
private trial[1000] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ehds(gamma = 0.5)",
    ),
    (
        "ehd",
        r"E0307
budget eps(1)
private trial[private n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using ehd",
    ),
    (
        "plug_in",
        r"
budget zcdp(0.1)
private trial[n] { cured: bool }
param p ~ beta(1, 1)
observe cured ~ bernoulli(p)
release post = posterior(p) using plug_in",
    ),
    (
        "lipschitz_glm",
        r#"
budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), region: category {north, south}, rich: bool }
param w: vector[9] ~ normal(0, 1)
param u: vector[region] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x) + u[region])
release coef = draw(w, u) using diffuse
expect rule(coef) == "lipschitz_glm""#,
    ),
    (
        "glm_on_ball",
        r#"
budget dp(eps = 1, delta = 1e-6)
private people[n] { age: real in [0, 1], visits: int in 0..10 }
param w: real in [-1, 1] ~ normal(0, 1)
param b: real in [-1, 1] ~ normal(0, 1)
observe visits ~ poisson_log(w * age + b)
release coef = draw(w, b) using diffuse
expect rule(coef) == "glm_on_ball""#,
    ),
    (
        "refined",
        r#"
budget dp(eps = 1, delta = 1e-6)
private adult[n] { age: real in [0, 1], hours: real in [-1, 1], rich: bool }
param w: vector[3] ~ normal(0, 3)
observe rich ~ bernoulli_logit(dot(w, [1, age, hours]))
release coef = draw(w) using refined
expect rule(coef) == "refined""#,
    ),
    (
        "refined_draws",
        r#"
budget dp(eps = 1, delta = 1e-6)
private clinics[n] { beds: real in [0, 1], falls: int in 0..20 }
param w: vector[2] ~ normal(0, 1)
observe falls ~ poisson_log(dot(w, [1, beds]))
release coef = draws(w, 100) using refined
expect rule(coef) == "refined_draws""#,
    ),
    (
        "beta_div",
        r"W0508
budget eps(4)
private homes[n] { x: vector[5], price: real }
param w: vector[5] ~ normal(0, 5)
param sigma: real in [0.5, inf] ~ half_normal(2)
observe price ~ normal(dot(w, x), sigma)
release fit = draw(w, sigma) using beta_div assuming convergence",
    ),
    (
        "penalty",
        r"
budget dp(eps = 8, delta = 1e-6)
private flowers[n] { x: vector[4], species: category {setosa, versicolor, virginica} }
use std.nn
let net = mlp(flowers.species, flowers.x, 8, 3, 1)
release drawn = draw(net) using penalty",
    ),
    (
        "dp_hmc",
        r"
budget dp(eps = 8, delta = 1e-6)
private flowers[n] { x: vector[4], species: category {setosa, versicolor, virginica} }
use std.nn
let net = mlp(flowers.species, flowers.x, 8, 3, 1)
release drawn = draw(net) using dp_hmc(steps = 5, clip = 2)",
    ),
    (
        "dp_sgld",
        r"
budget dp(eps = 1, delta = 1e-6)
private homes[20000] { x: vector[5], price: real }
param w: vector[5] ~ normal(0, 5)
param sigma: real in [0.5, inf] ~ half_normal(2)
observe price ~ normal(dot(w, x), sigma)
release fit = draw(w, sigma) using dp_sgld(batch = 100)",
    ),
    (
        "ops",
        r"W0508
budget eps(1)
private loans[n] { x: vector[3] in l2(1), default: bool }
param w: vector[3] in l2(4) ~ normal(0, 1)
observe default ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using ops assuming convergence
expect certificate(coef) <= eps(1)",
    ),
];

//! Golden cases of regressions: Gaussian priors, Gibbs posteriors, weights cut to a ball.

use super::{Case, number};
use crate::numbers_support::{certified, claim, error_of};

/// Rows are added or removed.
fn added(c: &Case) -> bool {
    c.0["params"]["adjacency"] == "add_remove"
}

/// A regression on the golden link, norm and prior: header, priors and rows.
fn regression(c: &Case, link: &str, norm: f64, precision: f64, domain: &str) -> String {
    let public = if c.0["params"]["adjacency"] == "labels_only" { "public " } else { "" };
    let rows = if added(c) { "private n" } else { "n" };
    let trials = c.text("trials");
    let (outcome, law) = match link {
        "logit" => (format!("int in 0..{trials}"), format!("binomial_logit({trials}, dot(w, x))")),
        "probit" => ("bool".into(), "bernoulli_probit(dot(w, x))".into()),
        "cloglog" => ("bool".into(), "bernoulli_cloglog(dot(w, x))".into()),
        "log_poisson" => (format!("int in 0..{}", c.text("count_max")), "poisson_log(dot(w, x))".into()),
        "identity_gaussian" => ("real in [0, 1]".into(), "normal(dot(w, x), 1)".into()),
        other => panic!("link {other}"),
    };
    format!(
        "private t[{rows}] {{ x: {public}vector[2] in l2({norm}), y: {outcome} }}\nparam w: vector[2]{domain} ~ normal(0, {})\nobserve y ~ {law}\n",
        (1.0 / precision).sqrt()
    )
}

/// Logistic posteriors under a normal prior: their curve, the weight or prior that a budget buys, or a refusal.
pub fn glm(c: &Case) {
    let (norm, link) = (c.number("x_norm_max"), c.0["params"]["link"].as_str().unwrap());
    if c.quantity() == "certifiable" {
        let text = format!("{}release v = draw(w) using direct\n", regression(c, link, norm, c.number("prior_precision"), ""));
        match c.0["expected"].as_bool().unwrap() {
            true => assert!(claim(&text).gdp().is_finite()),
            // Squares are refused by the rule on private designs, the other links for their slope.
            false => assert!(matches!(error_of(&text), "E0303" | "E0300"), "{text}"),
        }
        return;
    }
    let p = |name| c.0["params"].get(name).map(number);
    // No Langevin chain has a public step size where n is secret.
    let ideal = if added(c) { "(sampler = nuts) assuming convergence" } else { "" };
    match c.quantity() {
        "rho_star" | "rho_star_dp" => {
            let limit = match (c.0["order"].as_f64(), p("delta")) {
                (Some(order), None) => format!("rdp(order = {order}, eps = {})", c.text("epsilon")),
                (_, delta) => format!("dp(eps = {}, delta = {})", c.text("epsilon"), delta.unwrap()),
            };
            let text = format!(
                "budget {limit}\n{}release v = draw(w) using gibbs{ideal}\n",
                regression(c, link, norm, c.number("prior_precision"), "")
            );
            c.lower(certified(&text).certificate.releases[0].parameters[0].1);
        }
        // A weight on the rows is as good as a factor of the features here, and concentration starts at precision 1 / 4.
        "prior_precision_star" => {
            let (order, limit) = (c.order(), c.text("epsilon"));
            let text = format!(
                "budget rdp(order = {order}, eps = {limit})\n{}release v = draw(w) using concentrated{ideal}\n",
                regression(c, link, norm * c.number("rho"), 0.25, "")
            );
            c.upper(0.25 / certified(&text).certificate.releases[0].parameters[0].1);
        }
        _ => {
            let chain = if added(c) { ", sampler = nuts) assuming convergence" } else { ")" };
            let text = format!(
                "{}release v = draw(w) using diffuse(r = {}{chain}\n",
                regression(c, link, norm, c.number("prior_precision"), ""),
                c.text("rho")
            );
            c.judge(&claim(&text));
        }
    }
}

/// Gibbs posteriors: the GDP curve; the closed forms of Minami et al. for comparison, which dpm never certifies from.
pub fn gibbs(c: &Case) {
    let tail = |mu: f64, e: f64| (-(e - mu * mu / 2.0).powi(2) / (2.0 * mu * mu)).exp();
    let steps = |t: f64| 2.0 * (1.0 + 2.0 * t) * (1.0 - (2.0 * t / (1.0 + 2.0 * t)).sqrt());
    let near = |found: f64| assert!((found / c.expected() - 1.0).abs() < 1e-12, "{found}: {}", c.0);
    let t = || -c.number("delta").ln();
    let posterior = |weight: &str| {
        let (l, m) = (c.text("lipschitz"), c.number("prior_strong_convexity"));
        format!(
            "private t[n] {{ x: vector[2] in l2({l}), y: bool }}\nparam w: vector[2] ~ normal(0, {})\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease v = draw(w) using gibbs{weight}\n",
            (1.0 / m).sqrt()
        )
    };
    match c.quantity() {
        "gdp_mu" | "delta" => c.judge(&claim(&posterior(&format!("(weight = {})", c.text("beta"))))),
        "gdp_beta" => {
            let text = format!("budget dp(eps = {}, delta = {})\n{}", c.text("epsilon"), c.text("delta"), posterior(""));
            c.lower(certified(&text).certificate.releases[0].parameters[0].1);
        }
        "minami_theorem7_delta" => {
            let found = claim(&posterior(&format!("(weight = {})", c.text("beta"))));
            near(tail(found.gdp(), c.number("epsilon")));
            assert!(found.delta(c.number("epsilon")) < c.expected(), "no better than the tail bound: {}", c.0);
        }
        "minami_corollary8_beta" => {
            let (l, m) = (c.number("lipschitz"), c.number("prior_strong_convexity"));
            near(c.number("epsilon") / (2.0 * l) * (m / (1.0 + 2.0 * t())).sqrt());
        }
        "minami_corollary8_epsilon_max" => near(steps(t())),
        "certifiable" => assert_eq!(c.0["expected"], c.number("epsilon") <= steps(t())),
        other => panic!("quantity {other}"),
    }
}

/// Weights cut to a ball.
pub fn ball(c: &Case) {
    let (norm, link, radius) = (c.number("x_norm_max"), c.0["params"]["link"].as_str().unwrap(), c.text("ball_radius"));
    let (rho, precision) = (c.text("rho"), c.number("prior_precision"));
    let text =
        format!("{}release v = draw(w) using diffuse(r = {rho})\n", regression(c, link, norm, precision, &format!(" in l2({radius})")));
    let found = claim(&text);
    match c.quantity() {
        "lipschitz" => c.upper(found.gdp() * precision.sqrt() / (2.0 * c.number("rho"))),
        _ => c.judge(&found),
    }
}

//! Golden cases of bounded losses: ranges, costs and solved betas of the beta-divergence, and penalty chains.

use super::Case;
use crate::numbers_support::{certified, claim, error_of};

/// The golden model, on the golden relation.
fn model(c: &Case) -> String {
    let t = |name| c.text(name);
    let rows = if c.0["params"]["adjacency"] == "add_remove" { "private n" } else { "n" };
    let with = |y: &str, rest: &str| format!("private t[{rows}] {{ x: vector[2], y: {y} }}\nparam w: vector[2] ~ normal(0, 3)\n{rest}\n");
    match c.0["params"]["family"].as_str().unwrap() {
        "bernoulli" => with("bool", "observe y ~ bernoulli_logit(dot(w, x))"),
        "bernoulli_clipped" => {
            let q = c.number("p_min");
            with("bool", &format!("param p: real in [{q}, {}] ~ uniform(0, 1)\nobserve y ~ bernoulli(p)", 1.0 - q))
        }
        "categorical" => {
            let levels: Vec<String> = (0..c.0["params"]["classes"].as_u64().unwrap_or(3)).map(|i| format!("c{i}")).collect();
            let y = format!("category {{{}}}", levels.join(", "));
            with(&y, &format!("param W: matrix[{}, 2] ~ normal(0, 1)\nobserve y ~ categorical_logit(W * x)", levels.len()))
        }
        "poisson" => with("int in 0..", "observe y ~ poisson_log(dot(w, x))"),
        "gaussian" => {
            let rest = format!("param s: real in [{}, inf] ~ half_normal(1)\nobserve y ~ normal(dot(w, x), s)", t("sigma_min"));
            with("real", &rest)
        }
        "gaussian_hetero" => with("real", &format!("observe y ~ normal(0, {} + exp(dot(w, x)))", t("sigma_min"))),
        // A Student-t of any shape has at most the peak of the normal law of its scale.
        "bounded_density_shape_depends_on_x" => {
            let scale = 1.0 / (c.number("M") * std::f64::consts::TAU.sqrt());
            with("real", &format!("observe y ~ student_t(exp(dot(w, x)), 0, {scale})"))
        }
        other => panic!("family {other}"),
    }
}

fn arguments(c: &Case) -> String {
    format!("beta = {}, weight = {}", c.text("beta"), c.text("weight"))
}

pub fn beta_div(c: &Case) {
    let model = model(c);
    let drawn = match c.0["params"]["family"].as_str().unwrap() {
        "bernoulli_clipped" => "p",
        "categorical" => "W",
        _ => "w",
    };
    let with = |mechanism: &str| format!("{model}release v = draw({drawn}) using {mechanism} assuming convergence\n");
    let model_of = |budget: &str, mechanism: &str| format!("budget eps({budget})\n{}", with(mechanism));
    let (budget, free) = (c.text("epsilon"), format!("beta_div(weight = {})", c.text("weight")));
    match c.quantity() {
        "beta_star" => {
            let found = certified(&model_of(&budget, &free));
            let beta = found.certificate.releases[0].parameters.iter().find(|p| p.0 == "beta").unwrap().1;
            c.upper(beta);
            assert!(found.claim().pure() <= c.number("epsilon"), "over the budget: {}", c.0);
        }
        // Where no beta alone is enough, a weight of 1 is refused, and none given is solved.
        "beta_star_exists" => {
            assert_eq!((&c.0["expected"], error_of(&model_of(&budget, &free))), (&serde_json::Value::Bool(false), "E0401"));
            let tempered = certified(&model_of(&budget, "beta_div"));
            assert!(tempered.claim().pure() <= c.number("epsilon") && tempered.claim().pure() > 0.999 * c.number("epsilon"));
        }
        quantity => {
            let found = claim(&with(&format!("beta_div({})", arguments(c))));
            let sides = if c.0["params"]["adjacency"] == "add_remove" { 1.0 } else { 2.0 };
            match quantity {
                "loss_range" => c.upper(found.pure() / sides),
                "epsilon" => c.upper(found.pure()),
                "rdp_epsilon" => c.upper(found.rdp(c.order())),
                // The quadratic bound; what is certified is the exact constant, below it.
                "zcdp_rho" => {
                    c.upper(found.pure().powi(2) / 8.0);
                    assert!(found.zcdp() <= c.expected() && found.zcdp() > 0.0, "{}", c.0);
                }
                other => panic!("quantity {other}"),
            }
        }
    }
}

/// A chain whose loss range is that of a discrete outcome at beta = 1 + 1 / range.
fn chain(c: &Case, mechanism: &str, more: &str) -> String {
    format!(
        "private t[n] {{ y: bool }}\nparam m ~ normal(0, 1)\nobserve y ~ bernoulli_probit(m)\n\
         release v = draw(m) using {mechanism}(iterations = {}, sigma = {}, beta = {}, weight = {}{more})\n",
        c.text("iterations"),
        c.text("sigma"),
        1.0 + 1.0 / c.number("loss_range"),
        c.text("weight")
    )
}

pub fn penalty(c: &Case) {
    c.judge(&claim(&chain(c, "penalty", "")));
}

pub fn hmc(c: &Case) {
    assert_eq!((c.quantity(), &c.0["params"]["adjacency"]), ("zcdp_rho", &serde_json::json!("substitute")));
    let (steps, clip, noise) = (c.text("leapfrog_steps"), c.text("gradient_clip"), c.text("gradient_sigma"));
    c.upper(claim(&chain(c, "dp_hmc", &format!(", steps = {steps}, clip = {clip}, gradient_sigma = {noise}"))).zcdp());
}

/// A logistic regression with weights in a ball.
pub fn ops(c: &Case) {
    let text = format!(
        "private t[n] {{ x: vector[2] in l2({}), y: bool }}\nparam w: vector[2] in l2({}) ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(w, x))\nrelease v = draw(w) using ops(weight = {}) assuming convergence\n",
        c.text("x_norm_max"),
        c.text("ball_radius").trim_matches('"'),
        c.text("rho")
    );
    let found = claim(&text);
    match c.quantity() {
        "epsilon" => c.upper(found.pure()),
        "rdp_epsilon" => c.upper(found.rdp(c.order())),
        other => panic!("quantity {other}"),
    }
}

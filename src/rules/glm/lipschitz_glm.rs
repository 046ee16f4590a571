//! Regression with a convex loss of bounded slope (logistic, binomial, softmax): one draw of the weights.
//!
//! ## Shape
//! Weights with priors `normal(m, s)`; each row `~ bernoulli_logit(t)`, `binomial_logit(N, t)` or `categorical_logit(t)`
//! with a linear predictor t, such as `dot(w, x) + b`, `u[region]` or `W * x + b`, and bounded features.
//!
//! ## Claim
//! mu-GDP at every order (§4.1, §4.2) with `mu = k r 2 B L / sqrt(m)`: B bounds the slope of a row's loss in t (1 for
//! logistic, N for binomial, sqrt(2) for softmax), L the norm of the features with the intercept, m is the precision of
//! the prior. With public features neighbours differ in the outcome alone and `2 B` becomes the width of the outcome.
//! The Langevin chain that draws costs no more, at any length (§14): nothing is assumed about convergence.
//!
//! ## Refuses
//! Probit, cloglog, Poisson and squared loss on unbounded weights: their slopes are unbounded (E0303). A loss that is not
//! convex (E0304), a prior that is not strongly log-concave (E0306), unbounded features (E0309), a secret n, from which no
//! public step size follows (E0307).
//!
//! ## Checked by
//! Golden values; hockey-stick divergences of posteriors and of chains on a grid in one dimension.

use super::draw::{GlmDraw, parts};
use super::{link, refusals};
use crate::model::Model;
use crate::rules::tempered::{BY_CHAIN, judge};
use crate::rules::{Answers, Context, Match, Rule, not_mine, refuse};

pub static RULE: Rule = Rule {
    name: "lipschitz_glm",
    summary: "regression with a convex loss of bounded slope: one draw of the weights",
    section: "4.1",
    source: include_str!("lipschitz_glm.rs"),
    answers: Answers::Draws,
    mechanisms: BY_CHAIN,
    judge: |question| judge(question, find),
};

fn find(model: &Model, context: &Context) -> Match<GlmDraw> {
    let parts = parts(model, context)?;
    if parts.observation.likelihood.name() == "normal" {
        return not_mine("a squared loss has no bounded slope");
    }
    if parts.bounded() {
        return not_mine("the weights are cut to a bounded set, where glm_on_ball says more");
    }
    if let Some((name, why)) = link::unbounded_slope(parts.link) {
        return refuse(refusals::unbounded_slope(&parts, name, why, model, context));
    }
    if let Some(x) = parts.unbounded_feature() {
        return refuse(refusals::unbounded_features(x, &parts, context));
    }
    let slope = link::slope(parts.link);
    GlmDraw::new(&RULE, parts, slope, model, context)
}

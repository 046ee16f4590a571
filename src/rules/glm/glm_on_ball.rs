//! Regression with weights cut to a ball or box (probit, cloglog, Poisson, Gaussian, logit): one draw of the weights.
//!
//! ## Shape
//! Weights with priors `normal(m, s)` and a declared domain, `vector[d] in l2(R)`, `in [lo, hi]`; each row follows
//! `bernoulli_logit`, `bernoulli_probit`, `bernoulli_cloglog`, `binomial_logit`, `categorical_logit`, `poisson_log` or
//! `normal(t, sd)` with a linear predictor t and bounded features. The domain truncates the prior.
//!
//! ## Claim
//! mu-GDP at every order (§4.3, which replaces a theorem of unknown constant) with `mu = k r 2 B L / sqrt(m)`, where B
//! bounds the slope of a row's loss for every predictor that the domain allows, `|t| <= T`: `phi(T) / Phi(-T)` for probit,
//! `max(e^T, 1)` for cloglog, `max(e^T, largest y)` for Poisson, `(T + |y|) / sd^2` for Gaussian, `sigma(T)` for logit.
//! The set is convex, and the chain is projected onto it after each step (§14). With public features and a canonical link
//! `2 B` becomes the width of the outcome. Rows add their least curvature to m: of a single weight that keeps its feature away from
//! 0 (§4.4), or by the least eigenvalue of the actual X'X where public features are given by `--public` (§4.5).
//!
//! ## Refuses
//! Unbounded features or outcomes (E0309, E0202), a predictor beyond 50 where its exponential is the slope, a secret n
//! (E0307).
//!
//! ## Checked by
//! Golden values; hockey-stick divergences of projected chains on a grid in one dimension, of posteriors in one and two.

use super::draw::{GlmDraw, parts};
use super::{link, refusals};
use crate::mechanism::plan::Link;
use crate::model::{Model, Range};
use crate::rules::conjugate::facts::outcome_range;
use crate::rules::tempered::{BY_CHAIN, judge};
use crate::rules::{Answers, Context, Match, Rule, Verdict, not_mine, refuse};

pub static RULE: Rule = Rule {
    name: "glm_on_ball",
    summary: "regression with weights cut to a bounded set, any of five links: one draw of the weights",
    section: "4.3",
    source: include_str!("glm_on_ball.rs"),
    answers: Answers::Draws,
    mechanisms: BY_CHAIN,
    judge: |question| judge(question, find),
};

fn find(model: &Model, context: &Context) -> Match<GlmDraw> {
    let parts = match parts(model, context) {
        // What is wrong with every regression is said once, by `lipschitz_glm`.
        Err(Verdict::Refused(_)) => return not_mine("see lipschitz_glm"),
        other => other?,
    };
    if !parts.bounded() {
        return not_mine("every weight must have a bounded domain, such as in l2(5)");
    }
    if let Some(x) = parts.unbounded_feature() {
        return refuse(refusals::unbounded_features(x, &parts, context));
    }
    if matches!(parts.link, Link::PoissonLog | Link::Normal { .. }) {
        let support = if parts.link == Link::PoissonLog { Range::new(0.0, f64::INFINITY) } else { Range::ALL };
        outcome_range(parts.observation, model, context, support)?;
    }
    let slope = link::slope_within(parts.link, parts.outcome, parts.most);
    if !slope.is_finite() {
        return refuse(refusals::predictor_too_large(&parts));
    }
    GlmDraw::new(&RULE, parts, slope, model, context)
}

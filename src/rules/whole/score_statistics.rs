//! The posterior of logistic weights given noisy scores and products of features: a normal law, computed from what left.
//!
//! ## Shape
//! `posterior(w)` of weights with a normal prior, `normal(m, s)` or `multi_normal(m0, S0)`, and rows `bernoulli_logit(dot(w, x))`
//! or `binomial_logit(N, dot(w, x))` with bounded features; `score_statistics(sigma =, sigma_products =)`. It must be named: no prediction of its error is validated.
//!
//! ## Claim
//! The sums of `(y - N/2) x` and of `x x'` (i <= j) leave once, exact integers on public grids with exactly drawn normal noise,
//! rounded: sd sigma, sigma_products on the diagonal and sigma_products / sqrt(2) off it. With `A = (N c / (2 sigma))^2`,
//! `D = (c^2 / sigma_products)^2`, c the largest norm of x, and k rows a unit: mu-GDP,
//! `mu^2 = k^2 (2 A + 2 D + A^2 / (2 D))` if A <= 2 D, else `4 k^2 A` (§20). The posterior is computed from what left alone: the
//! law of the weights where every row's loss is the quadratic nearest to it over predictors in [-4, 4]. It is approximate.
//!
//! ## Refuses
//! Unbounded features, outcomes beyond 0..N, a secret number of rows, a separate intercept (write `dot(w, [1, x])`).
//!
//! ## Checked by
//! Golden values; all pairs of rows on small grids and random pairs, by sums of squares of what leaves; planted bugs; coverage over simulated data.

use super::predicted::Prediction;
use super::predicted_normal;
use crate::mechanism::plan::{MechanismPlan, WholeLaw, WholeNoise};
use crate::model::Request;
use crate::numeric::decimal::sig_up;
use crate::numeric::logistic::CURVATURE;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::{Approximate, Knob, Offer, Parameter, PredictedError, View, assumed_rows};
use crate::rules::scores::{Scores, Sizes};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers};

static MECHANISM: Mechanism = Mechanism::new("score_statistics", &[Arg::positive("sigma"), Arg::positive("sigma_products")]).by_name();

pub static RULE: Rule = Rule {
    name: "score_statistics",
    summary: "the posterior of logistic weights given noisy scores and products of features",
    section: "20",
    source: include_str!("score_statistics.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    if !matches!(question.model()?.request, Request::Posterior { .. }) {
        return not_mine("releases a whole posterior");
    }
    let scores = Scores::logistic(&RULE, question)?;
    let products = question.arguments(&MECHANISM).get("sigma_products");
    Ok(vec![Box::new(Look { scores, products })])
}

/// By what part of the prior's sd the quadratic moves a weight, once the scores are believed: seen in simulations from the model.
const BIAS: f64 = 0.2;

struct Look {
    scores: Scores,
    /// Where the program says it.
    products: Option<f64>,
}

impl Look {
    fn sizes(&self, sigma: f64) -> Sizes {
        let usual = self.scores.beside(sigma);
        Sizes { products: self.products.unwrap_or(usual.products), ..usual }
    }

    fn predicted(&self, sigma: f64) -> Prediction {
        let (s, sizes) = (&self.scores, self.sizes(sigma));
        let curvature = CURVATURE * s.trials;
        // As if the features were spread evenly over the axes at their largest norm.
        let each = assumed_rows(s.facts.records.rows) * s.norm * s.norm / s.prior.dim as f64;
        let noise = (sizes.products, sizes.scores / curvature);
        let bias = BIAS * s.prior.largest.sqrt() * each * curvature / (each * curvature + sizes.scores.powi(2));
        predicted_normal::weights(1.0 / s.prior.largest, (curvature.sqrt().recip(), bias), each, noise, s.prior.dim)
    }
}

impl Offer for Look {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn knob(&self) -> Knob {
        Knob::Noise("sigma")
    }

    fn start(&self) -> f64 {
        self.scores.start()
    }

    fn example(&self) -> f64 {
        self.scores.start()
    }

    fn claim(&self, view: View, sigma: f64) -> Option<Claim> {
        let sizes = self.sizes(sigma);
        let mu = if sizes.drawable() { self.scores.mu(sizes) } else { f64::INFINITY };
        (view == View::Replace).then_some(Claim::Gdp { mu })
    }

    fn premises(&self, sigma: f64) -> Vec<Premise> {
        let mut list = self.scores.premises(self.sizes(sigma));
        let rest = "what is certified are these noisy sums; the posterior is computed from them alone and is approximate: the loss of a row is taken for a quadratic";
        list.push(Premise::holds(rest, None));
        list
    }

    fn plan(&self, sigma: f64) -> Option<MechanismPlan> {
        let Sizes { scores, products } = self.sizes(sigma);
        let law = WholeLaw { family: self.scores.family()?, noise: WholeNoise::Scores { scores, products }, aware: true };
        Some(MechanismPlan::Whole { law, statistic: self.scores.statistic.clone() })
    }

    fn approximate(&self) -> Option<Approximate> {
        Some(Approximate {
            label: "approximates the loss of a row by a quadratic, and treats the released products of features as exact",
            help: ("with intervals that account for the noise:", "using refined".to_owned()).into(),
            seen: "between 25 % and 80 % of the 90 % intervals contained the truth, fewer with more rows or a larger budget",
        })
    }

    fn predicted_error(&self, sigma: f64) -> PredictedError {
        self.predicted(sigma).error()
    }

    fn remark(&self, sigma: f64) -> String {
        format!("expected Hellinger distance {}", sig_up(self.predicted(sigma).hellinger, 3))
    }

    fn derived(&self, sigma: f64) -> Vec<Parameter> {
        vec![Parameter::up("sigma_products", self.sizes(sigma).products)]
    }
}

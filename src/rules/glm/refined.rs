//! Logistic regression in two stages: noisy scores say where the weights are, one draw is made there.
//!
//! ## Shape
//! `draw(w)` of weights with a normal prior, `normal(m, s)` or `multi_normal(m0, S0)`, and rows `bernoulli_logit(dot(w, x))` or
//! `binomial_logit(N, dot(w, x))` with bounded features; `refined(sigma =)`.
//!
//! ## Claim
//! Two fifths of mu^2 pay for noisy scores and products of features, as `score_statistics` releases them, three fifths for one
//! draw: `sqrt(mu_1^2 + mu_2^2)`-GDP, times k for k rows a unit (§20). The draw is the last state of a Langevin chain (§14) in
//! coordinates `w = m + L z` that are computed from what the first stage let out (scores that rise less where predictors are wide), with a normal prior on z and every row's
//! weight rho so small that its score moves z by at most `mu_2 / 2`. Nothing is assumed about convergence.
//!
//! ## Refuses
//! As `score_statistics`; several draws, groups of a private key.
//!
//! ## Checked by
//! As `score_statistics`; scores and curvatures of rows against the limits of the chain; hockey-stick divergences of posteriors in one dimension.

use crate::mechanism::plan::{MechanismPlan, PosteriorLaw, RefinedLaw};
use crate::model::Request;
use crate::numeric::amount::stated_up;
use crate::numeric::decimal::sig_down;
use crate::numeric::logistic::{CURVATURE, flatter, wider};
use crate::numeric::round::{add_up, mul_down, mul_up, sqrt_up};
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::count::count_up;
use crate::rules::offer::{Chain, Knob, Offer, Parameter, PredictedError, View, assumed_rows};
use crate::rules::scores::{self, Scores, Sizes};
use crate::rules::text::four_up;
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers};

/// Of a whole posterior, too.
pub(in crate::rules) static MECHANISM: Mechanism = Mechanism::new("refined", &[Arg::positive("sigma")]);

pub static RULE: Rule = Rule {
    name: "refined",
    summary: "logistic regression in two stages: noisy scores, then one draw where they point",
    section: "20",
    source: include_str!("refined.rs"),
    answers: Answers::Draws,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    if !matches!(question.model()?.request, Request::Draw { times: 1, .. }) {
        return not_mine("it releases a single draw");
    }
    Ok(vec![Box::new(Refined(Scores::logistic(&RULE, question)?))])
}

struct Refined(Scores);

/// Of the square of mu, what the draw gets for one part of the scores: 3/5 beside 2/5. Below its root.
const DRAW: f64 = 1.2247;

impl Refined {
    /// The mu of the scores of one row, and that of the draw, rounded down.
    fn parts(&self, sigma: f64) -> (f64, f64) {
        let looked = scores::mu(0.5 * self.0.trials, self.0.norm, self.0.beside(sigma));
        (looked, mul_down(DRAW, looked))
    }

    fn sizes(&self, sigma: f64) -> Sizes {
        self.0.beside(sigma)
    }
}

impl Offer for Refined {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn knob(&self) -> Knob {
        Knob::Noise("sigma")
    }

    fn start(&self) -> f64 {
        2.0 * self.0.start()
    }

    fn example(&self) -> f64 {
        self.start()
    }

    fn claim(&self, view: View, sigma: f64) -> Option<Claim> {
        let (looked, drawn) = self.parts(sigma);
        let both = sqrt_up(add_up(mul_up(looked, looked), mul_up(drawn, drawn)));
        let mu = stated_up(mul_up(count_up(self.0.facts.records.unit_rows), both));
        let mu = if self.sizes(sigma).drawable() { mu } else { f64::INFINITY };
        (view == View::Replace).then_some(Claim::Gdp { mu })
    }

    fn premises(&self, sigma: f64) -> Vec<Premise> {
        let mut list = self.0.premises(self.sizes(sigma));
        let mut also = |text: String| list.push(Premise::holds(text, None));
        also("coordinates, step sizes and the length of the chain follow from these noisy sums and the number of rows alone".into());
        also(format!(
            "a row moves the gradient of the chain by at most {} in these coordinates, whose prior has curvature 1",
            four_up(self.parts(sigma).1)
        ));
        list
    }

    fn plan(&self, sigma: f64) -> Option<MechanismPlan> {
        let Sizes { scores, products } = self.sizes(sigma);
        let law = RefinedLaw { family: self.0.family()?, scores, products, mu: self.parts(sigma).1, norm: self.0.norm };
        let statistic = self.0.statistic.clone();
        Some(MechanismPlan::Posterior { law: PosteriorLaw::Refined(Box::new(law)), weight: 1.0, statistic, times: 1 })
    }

    fn predicted_error(&self, sigma: f64) -> PredictedError {
        let (s, mu) = (&self.0, self.parts(sigma).1);
        let (dim, rows) = (s.prior.dim as f64, assumed_rows(s.facts.records.rows));
        // As if the features were spread evenly over the axes, and the loss were quadratic, but that scores rise less where predictors are wide, and least in
        // the direction of the weights.
        let error = |share: f64| {
            let each = share * rows * s.norm * s.norm / dim;
            let flat = flatter(share * s.norm * s.norm * s.prior.largest);
            let data = s.trials * each * CURVATURE.min(0.25 / flat.sqrt());
            let (own, noise) = (1.0 / s.prior.largest, self.sizes(sigma).scores.powi(2));
            let told = |rise: f64| rise * rise / (data + noise);
            let f = wider(mu, rows, dim * each / (own + told(data)));
            let spread = |rise: f64| 1.0 / (own + told(rise) / f);
            let ways = [(dim - 1.0, data), (1.0, data / flat)];
            let length = share.min(1.0) * ways.iter().map(|(times, rise)| times * spread(*rise)).sum::<f64>() / dim;
            // A row counts by its own size in these coordinates.
            let weight = (mu / (2.0 * s.trials * s.norm * length.sqrt())).min(1.0);
            let square = |rise: f64| {
                let (seen, spread) = (1.0 / (own + told(rise)), spread(rise));
                let precision = 1.0 / spread + weight * rise;
                // How far the first look is off counts as much as it is believed.
                let pull = (1.0 / spread / precision).powi(2) * (seen - 1.0 / (own + rise)).max(0.0);
                1.0 / precision + pull
            };
            ways.iter().map(|(times, rise)| times * square(*rise)).sum::<f64>().sqrt()
        };
        PredictedError::of_weights(error)
    }

    fn remark(&self, sigma: f64) -> String {
        format!("one draw of mu {} where the scores point", sig_down(self.parts(sigma).1, 3))
    }

    fn derived(&self, sigma: f64) -> Vec<Parameter> {
        vec![Parameter::up("sigma_products", self.sizes(sigma).products), Parameter::down("mu", self.parts(sigma).1)]
    }

    fn chain(&self) -> Option<Chain> {
        Some(Chain::Langevin)
    }
}

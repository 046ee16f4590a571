//! The posterior of linear weights in two stages: noisy sums say where the weights are, noisy residuals there say the rest.
//!
//! ## Shape
//! `posterior(w)` of weights with a normal prior, `normal(m, s)` or `multi_normal(m0, S0)`, and rows `normal(dot(w, x), sd)` of a known
//! sd with bounded private features and a bounded outcome; `refined(sigma =)`. It must be named: no prediction of its error is validated.
//!
//! ## Claim
//! The sums of `x y` and of `x x'` (i <= j) leave with exactly drawn normal noise, rounded: sd sigma, sigma_products on the diagonal and
//! sigma_products / sqrt(2) off it, mu_1-GDP by the formula of `score_statistics` with |y| for N / 2. They give coordinates `w = m + L z`.
//! There every row has `u = L'x` and `a = min(1, (c / |u|)^2)`; once the sum of `a u u'` leaves, and three times that of `a r u`, r the row's
//! residual at a released point, cut to [-B, B]: one replaced row moves them by at most `sqrt(2) c^2` and `2 B c`, which is held in
//! integers for every row. Together they cost mu_2, 7/3 mu_1^2 in squares: `k sqrt(mu_1^2 + mu_2^2)`-GDP for k rows a unit (§20). The posterior is
//! computed from what left alone. It is approximate: what left is taken for the products themselves.
//!
//! ## Refuses
//! As `noise_aware` for regressions: unbounded features or outcomes, a secret number of rows, a separate intercept.
//!
//! ## Checked by
//! Random neighbours through the code that forms what rows add; coverage over simulated data; degenerate rows; the verifier.

use super::linear::{self, Regression};
use super::predicted;
use crate::mechanism::plan::{MechanismPlan, STEP, STEPS, WholeLaw, WholeNoise};
use crate::numeric::amount::stated_up;
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{add_up, mul_down, mul_up, sqrt_up};
use crate::privacy::Claim;
use crate::rules::count::count_up;
use crate::rules::glm::refined::MECHANISM;
use crate::rules::offer::{Knob, Offer, Parameter, PredictedError, View, assumed_rows};
use crate::rules::scores::{self, Sizes};
use crate::rules::text::{four_up, plain};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers};

pub static RULE: Rule = Rule {
    name: "refined_posterior",
    summary: "the posterior of linear weights in two stages: noisy sums, then residuals where they point",
    section: "20",
    source: include_str!("refined_posterior.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    const ROWS: &str = "a whole posterior needs rows normal(dot(w, x), sd) of a known sd, around one vector of weights with a normal prior";
    let Some(found) = linear::find(&RULE, question)? else { return not_mine(ROWS) };
    if found.norm == 0.0 || found.reach == 0.0 {
        return not_mine("no feature moves the predictor, or every outcome is 0");
    }
    Ok(vec![Box::new(Refined(found))])
}

/// Of the square of mu, what the steps get for one part of the first look: 7/10 beside 3/10. Below its root.
const LATER: f64 = 1.5275;

struct Refined(Regression);

impl Refined {
    fn sizes(&self, sigma: f64) -> Sizes {
        scores::beside(sigma, self.0.reach, self.0.norm)
    }

    /// The mu of the first look of one row, and that of the steps, rounded down.
    fn parts(&self, sigma: f64) -> (f64, f64) {
        let looked = scores::mu(self.0.reach, self.0.norm, self.sizes(sigma));
        (looked, mul_down(LATER, looked))
    }

    fn units(&self) -> f64 {
        count_up(self.0.facts.records.unit_rows)
    }

    fn predicted(&self, sigma: f64) -> predicted::Prediction {
        let (s, Sizes { scores, products }) = (&self.0, self.sizes(sigma));
        let (prior, row, dim) = (1.0 / s.prior.largest, s.sd.hi * s.sd.hi, s.prior.dim as f64);
        let rows = assumed_rows(s.facts.records.rows);
        // As if the features were spread evenly over the axes at their largest norm.
        let each = rows * s.norm * s.norm / dim;
        let mut noise = scores * scores;
        // The weights that the first look leaves open multiply the noise on the products.
        noise += 0.5 * products * products * (dim + 1.0) * s.prior.largest;
        let looked = 1.0 / (prior + each * each / (each * row + noise).max(1e-300));
        let cut = (dim * looked * each / rows).sqrt();
        // Noise on the residuals, in the units of the sums.
        let later = 2.0 * (3.0 * s.sd.hi + cut) * cut / (STEP * self.parts(sigma).1 * (STEPS as f64 * looked).sqrt());
        predicted::weights(prior, (s.sd.hi, 0.0), each, (0.0, later), s.prior.dim)
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
        // About 1 for the whole of it.
        self.units() * 5.0 * self.0.norm * self.0.reach
    }

    fn example(&self) -> f64 {
        self.start()
    }

    fn claim(&self, view: View, sigma: f64) -> Option<Claim> {
        let (looked, later) = self.parts(sigma);
        let both = sqrt_up(add_up(mul_up(looked, looked), mul_up(later, later)));
        let mu = if self.sizes(sigma).drawable() { stated_up(mul_up(self.units(), both)) } else { f64::INFINITY };
        (view == View::Replace).then_some(Claim::Gdp { mu })
    }

    fn premises(&self, sigma: f64) -> Vec<Premise> {
        let mut list = self.0.facts.premises.clone();
        let (sizes, later) = (self.sizes(sigma), self.parts(sigma).1);
        let mut also = |text: String| list.push(Premise::holds(text, None));
        also(format!(
            "normal noise of sd {} on the sums of y x (|y| at most {}), of sd {} on the sums of squares of features, divided by sqrt(2) on those of products of two",
            sig_up(sizes.scores, 4),
            plain(self.0.reach),
            sig_up(sizes.products, 4)
        ));
        also("coordinates, cuts and the noise of the steps follow from released sums and the number of rows alone".into());
        also(format!(
            "{STEPS} steps of cut residuals and the products beside them cost mu {} for one row, whose size is held in integers",
            four_up(later)
        ));
        also("what is certified are these noisy sums; the posterior is computed from them alone and is approximate: products are taken for what left".into());
        list
    }

    fn plan(&self, sigma: f64) -> Option<MechanismPlan> {
        let Sizes { scores, products } = self.sizes(sigma);
        let noise = WholeNoise::Steps { products, scores, most: self.0.reach, mu: self.parts(sigma).1 };
        let law = WholeLaw { family: self.0.family()?, noise, aware: true };
        Some(MechanismPlan::Whole { law, statistic: self.0.statistic.clone() })
    }

    fn predicted_error(&self, sigma: f64) -> PredictedError {
        let found = self.predicted(sigma);
        let further = vec![("kl", found.kl), ("interval_width", found.width)];
        PredictedError { further, ..PredictedError::sure("expected Hellinger distance to the posterior", found.hellinger) }
    }

    fn remark(&self, sigma: f64) -> String {
        format!("expected Hellinger distance {}", sig_up(self.predicted(sigma).hellinger, 3))
    }

    fn derived(&self, sigma: f64) -> Vec<Parameter> {
        vec![Parameter::up("sigma_products", self.sizes(sigma).products), Parameter::down("mu", self.parts(sigma).1)]
    }
}

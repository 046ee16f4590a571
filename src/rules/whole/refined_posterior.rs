//! The posterior of regression weights in two stages: noisy sums say where the weights are, noisy scores there say the rest.
//!
//! ## Shape
//! `posterior(w)` of weights with a normal prior, `normal(m, s)` or `multi_normal(m0, S0)`, bounded private features, and rows
//! `normal(dot(w, x), sd)` of a known sd with a bounded outcome, `bernoulli_logit(dot(w, x))`, `binomial_logit(N, dot(w, x))`,
//! `bernoulli_probit(dot(w, x))`, `bernoulli_cloglog(dot(w, x))`, or counts up to a bound: `poisson_log(dot(w, x) + o)`, `poisson(exp(..))` or `neg_binomial_2(exp(..), k)` of a constant
//! k, o sums of bounded numbers of the row, such as `log(years)`, or `years * exp(..)`; `refined(sigma =)`. `auto` takes it for all but linear rows, for which no prediction of its error is validated.
//!
//! ## Claim
//! The sums of `s x`, s the outcome y, y - N/2 (cloglog: y - 5/8) or, of counts, log(y + 1/2) - o, and of `x x'` (i <= j) leave with exactly drawn normal noise, rounded: sd sigma,
//! sigma_products on the diagonal and sigma_products / sqrt(2) off it, mu_1-GDP by the formula of `score_statistics` with the largest |s|
//! for N / 2 (cloglog: 5/8). They give coordinates `w = m + L z`. There every row has `u = L'x` and `a = min(1, (c / |u|)^2)`. Linear rows: once the
//! sum of `a u u'` leaves, and three times that of `a r u`, r the row's residual at a released point, cut to [-B, B]. Others: three times
//! the sum of `a k u u'`, k the row's information at a released point, in [0, K], and that of `a s u`, s its score there, cut to [-B, B], less a centre
//! that the point gives, from which it is at most R c away; of counts
//! before these the sum of log(y + 1/2), to know how large they are. One
//! replaced row moves them by at most `sqrt(2) K c^2` (K = 1 for linear rows) and `2 R c` (R = B for linear rows and counts), which is held in integers for every row. Together they
//! cost mu_2, 7/3 mu_1^2 in squares (3/2 of it for others than linear rows): `k sqrt(mu_1^2 + mu_2^2)`-GDP for k rows a unit (§20). The posterior is
//! computed from what left alone. It is approximate: a normal law.
//!
//! ## Refuses
//! Unbounded features or outcomes, a secret number of rows, a separate intercept.
//!
//! ## Checked by
//! Random neighbours through the code that forms what rows add; coverage over simulated data; degenerate rows; the verifier.

use super::linear::{self, Regression};
use super::predicted::Prediction;
use super::predicted_normal;
use crate::mechanism::plan::{Law, MechanismPlan, STEP, STEPS, WholeFamily, WholeLaw, WholeNoise};
use crate::model::Request;
use crate::model::links::ball;
use crate::numeric::amount::stated_up;
use crate::numeric::decimal::{sig_down, sig_up};
use crate::numeric::logistic::CURVATURE;
use crate::numeric::round::{add_up, mul_down, mul_up, sqrt_up};
use crate::privacy::Claim;
use crate::rules::conjugate::NormalWeights;
use crate::rules::conjugate::facts::Facts;
use crate::rules::count::count_up;
use crate::rules::glm::refined::MECHANISM;
use crate::rules::offer::{Approximate, Doubt, Knob, Offer, Parameter, PredictedError, SHARES, View, assumed_rows};
use crate::rules::scores::{self, Scores, Sizes};
use crate::rules::text::{four_up, plain};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers};

pub static RULE: Rule = Rule {
    name: "refined_posterior",
    summary: "the posterior of regression weights in two stages: noisy sums, then scores where they point",
    section: "20",
    source: include_str!("refined_posterior.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    if !matches!(question.model()?.request, Request::Posterior { .. }) {
        return not_mine("releases a whole posterior");
    }
    Ok(vec![Box::new(Refined::of(&RULE, question)?)])
}

/// A matched regression.
enum Rows {
    Linear(Regression),
    Scored(Scores),
}

impl Rows {
    fn facts(&self) -> &Facts {
        match self {
            Rows::Linear(r) => &r.facts,
            Rows::Scored(s) => &s.facts,
        }
    }

    /// The largest |s| of the sums of `s x` that leave first, and the largest norm of x.
    fn bounds(&self) -> (f64, f64) {
        match self {
            Rows::Linear(r) => (r.reach, r.norm),
            Rows::Scored(s) => (s.most, s.norm),
        }
    }

    fn prior(&self) -> &NormalWeights {
        match self {
            Rows::Linear(r) => &r.prior,
            Rows::Scored(s) => &s.prior,
        }
    }

    fn family(&self) -> Option<WholeFamily> {
        match self {
            Rows::Linear(r) => r.family(),
            Rows::Scored(s) => s.family(),
        }
    }
}

/// Of the square of mu, what the steps get for one part of the first look: 7/10 beside 3/10 for linear rows, else 3/5 beside 2/5. Below the roots.
const LATER: f64 = 1.5275;
const LATER_SCORES: f64 = 1.2247;

pub(super) struct Refined(Rows);

impl Refined {
    /// The posterior of these rows, for a rule that releases it or draws from it.
    pub fn of(rule: &'static Rule, question: &Question) -> Match<Refined> {
        let Some(found) = linear::find(rule, question)? else {
            return Ok(Refined(Rows::Scored(Scores::of_rows(rule, question)?)));
        };
        if found.norm == 0.0 || found.reach == 0.0 {
            return not_mine("no feature moves the predictor, or every outcome is 0");
        }
        Ok(Refined(Rows::Linear(found)))
    }

    fn classes(&self) -> f64 {
        if let Rows::Scored(s) = &self.0 { s.law.predictors() as f64 } else { 1.0 }
    }

    pub fn is_logistic(&self) -> bool {
        matches!(&self.0, Rows::Scored(s) if matches!(s.law, Law::Logit { .. }))
    }

    fn sizes(&self, sigma: f64) -> Sizes {
        let (most, norm) = self.0.bounds();
        scores::beside(sigma, most, norm)
    }

    /// The mu of the first look of one row, and that of the steps, rounded down.
    fn parts(&self, sigma: f64) -> (f64, f64) {
        let (most, norm) = self.0.bounds();
        let looked = scores::mu(most, norm, self.sizes(sigma));
        (looked, mul_down(if matches!(self.0, Rows::Linear(_)) { LATER } else { LATER_SCORES }, looked))
    }

    fn units(&self) -> f64 {
        count_up(self.0.facts().records.unit_rows)
    }

    /// Where a row tells this share of what it would if the features were spread evenly over the axes at their largest norm.
    pub fn predicted(&self, sigma: f64, share: f64) -> Prediction {
        let (Sizes { scores, products }, (_, norm), weights) = (self.sizes(sigma), self.0.bounds(), self.0.prior());
        let (prior, dim) = (1.0 / weights.largest, weights.dim as f64);
        let rows = assumed_rows(self.0.facts().records.rows);
        let each = share * rows * norm * norm / (dim / self.classes());
        // What a score says of a weight, as a variance; the noise on all of them in the units of the sums; how wide scores are cut, and how much
        // wider where the weights are still away.
        let (row, noise, clip, wider) = match &self.0 {
            Rows::Linear(r) => {
                // The weights that the first look leaves open multiply the noise on the products.
                let noise = scores * scores + 0.5 * products * products * (dim + 1.0) * weights.largest;
                (r.sd.hi * r.sd.hi, noise, 3.0 * r.sd.hi, 1.0)
            }
            // As if the mean of a count were 1: scores are kept up to six sds, and the products beside them add as much as two more.
            Rows::Scored(s) if matches!(s.law, Law::Counts { .. }) => (1.0, scores * scores, 8.0, 1.0),
            // Of a class at even odds: K times its indicator is summed first.
            Rows::Scored(s) if s.law.predictors() > 1 => {
                let (row, (_, farthest)) = (self.classes() / (4.0 * CURVATURE), s.law.most());
                (row, (scores / self.classes() * row).powi(2), farthest * row, 0.0)
            }
            Rows::Scored(s) => {
                let (row, (steepest, farthest)) = (1.0 / (CURVATURE * s.trials), s.law.most());
                let clip = ball::radius_about(
                    s.law,
                    ((3.0 * steepest.sqrt()).min(farthest), steepest),
                    (dim * share * weights.largest).sqrt() * norm,
                );
                (row, (scores * row).powi(2), clip * row, 0.0)
            }
        };
        let looked = 1.0 / (prior + each * each / (each * row + noise).max(1e-300));
        let cut = (dim * looked * each / rows).sqrt();
        // Noise on the scores, in the units of the sums.
        let later = 2.0 * (clip + wider * cut) * cut / (STEP * self.parts(sigma).1 * (STEPS as f64 * looked).sqrt());
        // The first look counts beside them, for as much as it may be off.
        let (law, own) = match &self.0 {
            Rows::Linear(r) => (Law::Normal { sd: r.sd.hi }, scores * scores),
            Rows::Scored(s) => (s.law, noise),
        };
        let off = |(bent, louder): (f64, f64)| own + louder * (noise - own) + (bent * each).powi(2) * weights.largest;
        let first = law.first_is_off().map_or(0.0, |more| 1.0 / off(more));
        let later = (later.powi(-2) + first).sqrt().recip();
        // Rows say nothing of weights that all classes share.
        let classes = self.classes() as usize;
        let apart = weights.dim - if classes > 1 { weights.dim / classes } else { 0 };
        predicted_normal::weights(prior, (row.sqrt(), 0.0), each, (0.0, later), apart).beside_unseen(prior, (apart, weights.dim - apart))
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
        let (most, norm) = self.0.bounds();
        self.units() * 5.0 * norm * most
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
        let (sizes, later) = (self.sizes(sigma), self.parts(sigma).1);
        let (mut list, what) = match &self.0 {
            Rows::Linear(r) => {
                let mut list = r.facts.premises.clone();
                let noise = format!(
                    "normal noise of sd {} on the sums of y x (|y| at most {}), of sd {} on the sums of squares of features, divided by sqrt(2) on those of products of two",
                    sig_up(sizes.scores, 4),
                    plain(r.reach),
                    sig_up(sizes.products, 4)
                );
                list.push(Premise::holds(noise, None));
                (list, "cut residuals and the products beside them")
            }
            Rows::Scored(s) => (s.premises(sizes), "cut scores, and of products of features times the information of their rows,"),
        };
        let mut also = |text: String| list.push(Premise::holds(text, None));
        also("coordinates, cuts and the noise of the steps follow from released sums and the number of rows alone".into());
        also(format!("{STEPS} steps of {what} cost mu {} for one row, whose size is held in integers", four_up(later)));
        let more = match &self.0 {
            Rows::Scored(Scores { law: Law::Counts { .. }, .. }) => {
                ", and less reliable where rates of groups are more than ten times apart"
            }
            Rows::Scored(Scores { law: Law::Classes { .. }, .. }) => {
                "; rows say how far weights of levels are from each other, not where all are"
            }
            _ => "",
        };
        also(format!(
            "what is certified are these noisy sums; the posterior is computed from them alone and is approximate: products are taken for what left{more}"
        ));
        list
    }

    fn plan(&self, sigma: f64) -> Option<MechanismPlan> {
        let Sizes { scores, products } = self.sizes(sigma);
        let noise = WholeNoise::Steps { products, scores, most: self.0.bounds().0, mu: self.parts(sigma).1 };
        let law = WholeLaw { family: self.0.family()?, noise, aware: true };
        let statistic = match &self.0 {
            Rows::Linear(r) => r.statistic.clone(),
            Rows::Scored(s) => s.statistic.clone(),
        };
        Some(MechanismPlan::Whole { law, statistic })
    }

    fn last_resort(&self) -> bool {
        matches!(self.0, Rows::Linear(_))
    }

    fn approximate(&self) -> Option<Approximate> {
        let (prior, norm) = (self.0.prior(), self.0.bounds().1);
        let Rows::Scored(rows) = &self.0 else { return None };
        // How far out predictors are within two sds of the prior, and what of it is its mean.
        let middle = norm * prior.mean.iter().flatten().map(|m| m * m).sum::<f64>().sqrt();
        let beyond = |most: f64| middle + 2.0 * norm * prior.largest.sqrt() > most;
        let narrower = |most: f64| match (most - middle) / (2.0 * norm) {
            sd if sd > 0.0 => format!("write a prior with an sd of at most {}", sig_down(sd, 3)),
            _ => "write a prior whose mean is nearer to 0".to_owned(),
        };
        match rows.law {
            // A step moves a sure predictor t by about 1 / t only, and far out its rows say little of how far is left.
            Law::Probit if beyond(2.0) => Some(Approximate {
                label: "this prior allows predictors of probit rows beyond 2, where the steps stop short",
                help: format!("{}, or `bernoulli_logit`, whose steps come nearer", narrower(2.0)).into(),
                seen: "between 40 % and 96 % of the 90 % intervals contained the truth, fewer the wider the prior and the larger the budget",
            }),
            Law::Cloglog if beyond(1.5) => Some(Approximate {
                label: "this prior allows predictors of cloglog rows beyond 1.5, where nearly all outcomes are 1 and the steps stop short",
                help: format!("{}, or `bernoulli_logit`, whose steps come nearer", narrower(1.5)).into(),
                seen: "between 70 % and 98 % of the 90 % intervals contained the truth, and fewer where predictors were above 2",
            }),
            Law::Logit { .. } if beyond(10.0) => Some(Approximate {
                label: "this prior allows predictors beyond 10, where rows are sure of their outcome and the steps stop short",
                help: narrower(10.0).into(),
                seen: "between 50 % and 95 % of the 90 % intervals contained the truth, fewer the wider the prior and the larger the budget",
            }),
            Law::Classes { .. } if beyond(3.0) => Some(Approximate {
                label: "this prior lets weights of levels be far apart, where rows are sure of their level and the steps stop short",
                help: narrower(3.0).into(),
                seen: "between 32 % and 90 % of the 90 % intervals contained the truth, fewer the wider the prior and the larger the budget",
            }),
            Law::Counts { constant: None, .. } => Some(Approximate {
                label: "no feature is the same in all rows, so the steps cannot follow how rare events are",
                help: "add an intercept: a feature that is 1, as `design(..)` has".to_owned().into(),
                seen: "between 75 % and 97 % of the 90 % intervals contained the truth, fewer with a small budget, and far fewer where events are rare",
            }),
            Law::Probit | Law::Cloglog | Law::Counts { .. } | Law::Logit { .. } | Law::Normal { .. } | Law::Classes { .. } => None,
        }
    }

    fn predicted_error(&self, sigma: f64) -> PredictedError {
        let found = self.predicted(sigma, 1.0);
        let others = SHARES.map(|share| self.predicted(sigma, share).hellinger);
        let (least, most) = others.into_iter().fold((found.hellinger, found.hellinger), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let spread = (found.hellinger > 2.0 * least || most > 2.0 * found.hellinger).then_some(Doubt::Features { least, most });
        // On real rows up to 6.7 times this (benches/results/predictions.txt); no distance is above 1.
        let doubt = spread.or((found.hellinger < 0.5).then_some(Doubt::Look));
        PredictedError { doubt, ..found.error() }
    }

    fn remark(&self, sigma: f64) -> String {
        format!("expected Hellinger distance {}", sig_up(self.predicted(sigma, 1.0).hellinger, 3))
    }

    fn derived(&self, sigma: f64) -> Vec<Parameter> {
        vec![Parameter::up("sigma_products", self.sizes(sigma).products), Parameter::down("mu", self.parts(sigma).1)]
    }
}

//! Posteriors that one bounded sum of the rows determines: noise on the sum, its claim and its plan.

use super::predicted::Prediction;
use super::{Answer, Whole, refusals};
use crate::mechanism::plan::{MechanismPlan, Statistic, WholeFamily, WholeLaw, WholeNoise};
use crate::model::{Range, Relation};
use crate::numeric::amount::{below, over_up};
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{div_up, sqrt_down};
use crate::privacy::Claim;
use crate::rules::conjugate::Facts;
use crate::rules::offer::{Offer, Parameter};
use crate::rules::text::four_up;
use crate::rules::{Match, Premise, Question, refuse};

/// Noise between these multiples of what one unit moves: samplers draw it on the grid, and posteriors are computed from it.
pub(super) const DRAWABLE: Range = Range { lo: 1e-6, hi: 1e12 };

/// What the rows mean: a conjugate model whose posterior the sum determines.
pub(super) trait Summed: Clone + 'static {
    /// The posterior without noise; `None` while an argument of the model is not known.
    fn family(&self, facts: &Facts) -> Option<WholeFamily>;
    /// With noise of this variance on (every number of) the sum.
    fn predicted(&self, facts: &Facts, noise: f64, rows: f64, aware: bool) -> Prediction;
}

/// A matched model, and how far two rows lie apart in the norm that the noise pays for.
#[derive(Clone)]
pub(super) struct Sum<M> {
    pub facts: Facts,
    /// What is summed, in words: "the sum of the outcomes".
    pub what: &'static str,
    pub apart: f64,
    pub statistic: Statistic,
    pub model: M,
}

/// E0307 where neighbours differ in the number of rows: the posterior needs it.
pub(super) fn public_rows(facts: &Facts, question: &Question, why: &str) -> Match<()> {
    if facts.records.relation == Relation::AddRemove {
        return refuse(refusals::secret_rows(facts, question, (why, "the posterior that accounts for the noise needs {n}"), None));
    }
    Ok(())
}

impl<M: Summed> Sum<M> {
    /// Discrete Laplace and discrete Gaussian noise, of a sum that is one number.
    pub fn pair(&self, aware: bool) -> Vec<Box<dyn Offer>> {
        [false, true].into_iter().flat_map(|gaussian| self.noisy(gaussian, aware)).collect()
    }

    /// One kind of noise.
    pub fn noisy(&self, gaussian: bool, aware: bool) -> Vec<Box<dyn Offer>> {
        vec![Box::new(Answer(Noisy { sum: self.clone(), gaussian, aware }))]
    }
}

struct Noisy<M> {
    sum: Sum<M>,
    gaussian: bool,
    aware: bool,
}

impl<M: Summed> Noisy<M> {
    /// How far one unit moves the sum. Rows are rounded to the grid inwards, so no two lie further apart than before.
    fn moved(&self) -> f64 {
        self.sum.facts.unit_step(1.0, self.sum.apart)
    }

    /// Scale or standard deviation, rounded up.
    fn size(&self, value: f64) -> f64 {
        if self.gaussian { div_up(self.moved(), sqrt_down(2.0 * below(value))) } else { over_up(self.moved(), value) }
    }
}

impl<M: Summed> Whole for Noisy<M> {
    fn facts(&self) -> &Facts {
        &self.sum.facts
    }

    fn knob(&self) -> &'static str {
        if self.gaussian { "rho" } else { "eps" }
    }

    fn claim(&self, value: f64) -> Claim {
        if !DRAWABLE.contains(self.size(value) / self.moved()) {
            return Claim::Pure { epsilon: f64::INFINITY };
        }
        if self.gaussian { Claim::Zcdp { rho: value } } else { Claim::Pure { epsilon: value } }
    }

    fn premises(&self, value: f64) -> Vec<Premise> {
        let mut list = self.sum.facts.premises.clone();
        let (size, moved) = (sig_up(self.size(value), 4), four_up(self.moved()));
        let noise = if self.gaussian { format!("Gaussian noise of sd {size}") } else { format!("Laplace noise of scale {size}") };
        let what = self.sum.what;
        list.push(Premise::holds(format!("discrete {noise} on {what}, on their grid, which one unit moves by at most {moved}"), None));
        if self.aware {
            list.push(Premise::holds("the posterior given the noisy sum is computed from it alone", None));
        }
        list
    }

    fn plan(&self, value: f64) -> Option<MechanismPlan> {
        if !self.sum.facts.public.known {
            return None;
        }
        let family = self.sum.model.family(&self.sum.facts)?;
        let size = self.size(value);
        let noise = if self.gaussian { WholeNoise::Gaussian { sigma: size } } else { WholeNoise::Geometric { scale: size } };
        let law = WholeLaw { family, noise, aware: self.aware };
        Some(MechanismPlan::Whole { law, statistic: self.sum.statistic.clone() })
    }

    fn parameters(&self, value: f64) -> Vec<Parameter> {
        vec![Parameter::up(if self.gaussian { "sigma" } else { "scale" }, self.size(value))]
    }

    fn predicted(&self, value: f64, rows: f64) -> Prediction {
        let size = self.size(value);
        let noise = if self.gaussian { size * size } else { 2.0 * size * size };
        self.sum.model.predicted(&self.sum.facts, noise, rows, self.aware)
    }

    fn ignores_noise(&self) -> bool {
        !self.aware
    }
}

//! What mechanisms with noise on counts share: sensitivities, claims, plans, predictions.

use super::counts::Counts;
use super::predicted::{self, Kind, Prediction};
use super::{Answer, Whole};
use crate::mechanism::plan::{MechanismPlan, WholeLaw, WholeNoise};
use crate::numeric::Amount;
use crate::numeric::amount::{below, over_up, quotient_up};
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{div_up, mul_up, sqrt_down};
use crate::privacy::Claim;
use crate::rules::conjugate::Facts;
use crate::rules::count::count_up;
use crate::rules::offer::{Offer, Parameter, View};
use crate::rules::text::four_up;
use crate::rules::{Premise, Question};

/// Noise and how its size follows from the knob.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Law {
    /// Floor-Laplace of scale `factor / eps` on all counts but the last, whose L1 sensitivity is `l1`.
    Floor { factor: f64, l1: f64 },
    /// Discrete Laplace of scale `l1 / eps`.
    Laplace { l1: f64 },
    /// Discrete Gaussian with `sigma^2 = l2^2 / (2 rho)`.
    Gaussian { l2: f64 },
    /// On a sum and on a secret number of rows, which one unit moves by so much; half of the cost for each.
    Rows { gaussian: bool, sum: f64, rows: f64 },
}

impl Law {
    fn gaussian(self) -> bool {
        matches!(self, Law::Gaussian { .. } | Law::Rows { gaussian: true, .. })
    }
}

pub(super) struct Noisy {
    pub counts: Counts,
    pub law: Law,
    pub aware: bool,
    /// The name of the number of rows.
    pub rows: String,
}

/// Discrete Laplace and discrete Gaussian noise on the counts of a posterior.
pub(super) fn pair(counts: &Counts, aware: bool, question: &Question) -> Vec<Box<dyn Offer>> {
    let (l1, l2) = counts.sensitivities();
    let rows = counts.rows_name(question).to_owned();
    let one = |law: Law| -> Box<dyn Offer> { Box::new(Answer(Noisy { counts: counts.clone(), law, aware, rows: rows.clone() })) };
    vec![one(Law::Laplace { l1 }), one(Law::Gaussian { l2 })]
}

/// Noise on the sum of a rate's outcomes and on the number of rows, where that is secret.
pub(super) fn secret_rate(counts: &Counts, question: &Question) -> Vec<Box<dyn Offer>> {
    let (sum, unit) = (counts.moved(), count_up(counts.facts.records.unit_rows));
    let one = |gaussian: bool| -> Box<dyn Offer> {
        let law = Law::Rows { gaussian, sum, rows: unit };
        Box::new(Answer(Noisy { counts: counts.clone(), law, aware: true, rows: counts.rows_name(question).to_owned() }))
    };
    vec![one(false), one(true)]
}

/// Scales that samplers draw and certificates print well.
fn drawable(x: f64) -> bool {
    (1e-6..=1e12).contains(&x)
}

impl Noisy {
    /// Scale or standard deviation, rounded up.
    fn size(&self, value: f64) -> f64 {
        match self.law {
            Law::Floor { factor, .. } => over_up(factor, value),
            Law::Laplace { l1 } => over_up(l1, value),
            Law::Gaussian { l2 } => div_up(l2, sqrt_down(2.0 * below(value))),
            Law::Rows { gaussian, sum, .. } => half(gaussian, sum, value),
        }
    }

    /// The same of the number of rows, where it gets noise.
    fn rows_size(&self, value: f64) -> Option<f64> {
        match self.law {
            Law::Rows { gaussian, rows, .. } => Some(half(gaussian, rows, value)),
            _ => None,
        }
    }

    fn kept(&self) -> usize {
        let places = self.counts.places();
        match self.law {
            Law::Floor { .. } => places - 1,
            _ if self.counts.summed => 1,
            _ if places == 2 && self.counts.rows_are_public() => 1,
            _ => places,
        }
    }

    fn kind(&self, value: f64) -> Kind {
        let size = self.size(value);
        match self.law {
            Law::Floor { .. } => Kind::Floor(size),
            Law::Laplace { .. } => Kind::Laplace(size),
            Law::Gaussian { .. } => Kind::Gaussian(size),
            Law::Rows { gaussian, .. } => {
                // A row more or less counts with the mean of an outcome.
                let mean = if let [shape, rate] = self.counts.centre().as_slice() { shape / rate } else { 1.0 };
                let size = size.hypot(mean * self.rows_size(value).unwrap_or(0.0));
                if gaussian { Kind::Gaussian(size) } else { Kind::Laplace(size) }
            }
        }
    }
}

/// Scale (or sd) of noise on what moves by so much, for half of an eps (or rho), rounded up.
fn half(gaussian: bool, moved: f64, value: f64) -> f64 {
    if gaussian { div_up(moved, sqrt_down(below(value))) } else { over_up(2.0 * moved, value) }
}

impl Whole for Noisy {
    fn facts(&self) -> &Facts {
        &self.counts.facts
    }

    fn knob(&self) -> &'static str {
        if self.law.gaussian() { "rho" } else { "eps" }
    }

    fn claim(&self, value: f64) -> Claim {
        if !drawable(self.size(value)) || !self.rows_size(value).is_none_or(drawable) {
            return Claim::Pure { epsilon: f64::INFINITY };
        }
        match self.law {
            // The true cost: the L1 sensitivity over the scale, where the scale was chosen for more.
            Law::Floor { factor, l1 } if l1 < factor => {
                let part = Amount::of(value).zip(Amount::exactly(l1)).map(|(eps, l1)| eps.times(&l1));
                Claim::Pure { epsilon: quotient_up(part, Amount::exactly(factor)) }
            }
            law if law.gaussian() => Claim::Zcdp { rho: value },
            _ => Claim::Pure { epsilon: value },
        }
    }

    /// In a group of a private key a unit that enters or leaves moves the counts half as far as one that is exchanged, in L1 and in
    /// squared L2; a sum and a number of rows as far (section 15).
    fn seen(&self, view: View, value: f64) -> Option<Claim> {
        let counts = !matches!(self.law, Law::Rows { .. });
        match view {
            _ if !self.counts.exchanged => (view == View::from(self.counts.facts.records.relation)).then(|| self.claim(value)),
            View::Crossing => None,
            View::AddRemove if counts => Some(match self.claim(value) {
                Claim::Pure { epsilon } => Claim::Pure { epsilon: mul_up(0.5, epsilon) },
                Claim::Zcdp { rho } => Claim::Zcdp { rho: mul_up(0.5, rho) },
                other => other,
            }),
            _ => Some(self.claim(value)),
        }
    }

    fn premises(&self, value: f64) -> Vec<Premise> {
        let mut list = self.counts.premises();
        let (size, kept, places) = (sig_up(self.size(value), 4), self.kept(), self.counts.places());
        let of = if self.counts.summed { "the sum of the outcomes".to_owned() } else { format!("{kept} of {places} counts") };
        let text = match self.law {
            Law::Floor { .. } => format!(
                "Laplace noise of scale {size} on {of}, rounded down and clamped to 0..{}; the last count is the remainder",
                self.rows
            ),
            Law::Laplace { l1 } => {
                format!("discrete Laplace noise of scale {size} on {of}, which one unit moves by at most {} in all", four_up(l1))
            }
            Law::Gaussian { l2 } => {
                format!("discrete Gaussian noise of sd {size} on {of}, which one unit moves by at most {} (L2)", four_up(l2))
            }
            Law::Rows { gaussian, sum, rows } => {
                let (law, kind) = if gaussian { ("Gaussian", "sd") } else { ("Laplace", "scale") };
                let own = sig_up(self.rows_size(value).unwrap_or(f64::INFINITY), 4);
                let (sum, rows) = (four_up(sum), four_up(rows));
                format!(
                    "discrete {law} noise of {kind} {size} on {of}, which one unit moves by at most {sum}, and of {kind} {own} on their number {}, which it moves by at most {rows}",
                    self.rows
                )
            }
        };
        list.push(Premise::holds(text, None));
        if self.aware {
            list.push(Premise::holds("the posterior given the noisy counts is computed from them alone", None));
        }
        list
    }

    fn plan(&self, value: f64) -> Option<MechanismPlan> {
        let size = self.size(value);
        let noise = match self.law {
            Law::Floor { .. } => WholeNoise::FloorLaplace { scale: size },
            Law::Laplace { .. } => WholeNoise::Geometric { scale: size },
            Law::Gaussian { .. } => WholeNoise::Gaussian { sigma: size },
            Law::Rows { gaussian, .. } => WholeNoise::Rows { gaussian, rows: self.rows_size(value)?, sum: size },
        };
        let law = WholeLaw { family: self.counts.family()?, noise, aware: self.aware };
        Some(MechanismPlan::Whole { law, statistic: self.counts.statistic.clone() })
    }

    fn parameters(&self, value: f64) -> Vec<Parameter> {
        let (size, rows) = if self.law.gaussian() { ("sigma", "sigma_rows") } else { ("scale", "scale_rows") };
        let of_rows = self.rows_size(value).map(|x| Parameter::up(rows, x));
        std::iter::once(Parameter::up(size, self.size(value))).chain(of_rows).collect()
    }

    fn predicted(&self, value: f64, rows: f64) -> Prediction {
        let centre = self.counts.centre();
        let kind = self.kind(value);
        match (self.counts.summed, centre.as_slice()) {
            (_, [a, b]) if self.counts.failures.is_some() => {
                predicted::failures([*a, *b], rows * self.counts.failures.unwrap_or(1.0), kind, self.aware)
            }
            (true, [shape, rate]) => predicted::gamma(*shape, *rate, rows, kind, self.aware),
            _ => predicted::noise(&centre, rows * self.counts.items as f64, kind, self.kept(), self.aware),
        }
    }

    fn ignores_noise(&self) -> bool {
        !self.aware
    }
}

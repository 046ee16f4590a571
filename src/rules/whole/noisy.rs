//! What mechanisms with noise on counts share: sensitivities, claims, plans, predictions.

use super::counts::Counts;
use super::predicted::{self, Kind, Prediction};
use super::{Asked, MatchedWhole};
use crate::mechanism::plan::{MechanismPlan, WholeLaw, WholeNoise};
use crate::numeric::round::{div_up, mul_up};
use crate::privacy::Claim;
use crate::rules::text::{four_near, four_up};
use crate::rules::{Meta, Premise};

/// Noise and how its size follows from the knob.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Law {
    /// Floor-Laplace of scale `factor / eps` on all counts but the last, whose L1 sensitivity is `l1`.
    Floor { factor: f64, l1: f64 },
    /// Discrete Laplace of scale `l1 / eps`.
    Laplace { l1: f64 },
    /// Discrete Gaussian with `sigma^2 = l2^2 / (2 rho)`.
    Gaussian { l2: f64 },
}

pub(super) struct Noisy {
    pub counts: Counts,
    pub law: Law,
    pub aware: bool,
    /// The name of the number of rows.
    pub rows: String,
}

/// Discrete Laplace and discrete Gaussian noise on the counts of a posterior.
pub(super) fn pair(counts: &Counts, aware: bool, asked: &Asked) -> Vec<Box<dyn MatchedWhole>> {
    let (l1, l2) = counts.sensitivities();
    let rows = counts.rows_name(asked).to_owned();
    let one = |law: Law| -> Box<dyn MatchedWhole> { Box::new(Noisy { counts: counts.clone(), law, aware, rows: rows.clone() }) };
    vec![one(Law::Laplace { l1 }), one(Law::Gaussian { l2 })]
}

/// Scales that samplers draw and certificates print well.
fn drawable(x: f64) -> bool {
    (1e-6..=1e12).contains(&x)
}

impl Noisy {
    /// Scale or standard deviation, rounded up.
    fn size(&self, value: f64) -> f64 {
        match self.law {
            Law::Floor { factor, .. } => div_up(factor, value),
            Law::Laplace { l1 } => div_up(l1, value),
            Law::Gaussian { l2 } => div_up(l2, crate::numeric::round::sqrt_down(2.0 * value)),
        }
    }

    fn kept(&self) -> usize {
        let places = self.counts.places();
        match self.law {
            Law::Floor { .. } => places - 1,
            _ if self.counts.gamma => 1,
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
        }
    }
}

impl MatchedWhole for Noisy {
    fn meta(&self) -> &'static Meta {
        self.counts.facts.meta
    }

    fn knob(&self) -> &'static str {
        if matches!(self.law, Law::Gaussian { .. }) { "rho" } else { "eps" }
    }

    fn claim(&self, value: f64) -> Claim {
        if !drawable(self.size(value)) {
            return Claim::Pure { epsilon: f64::INFINITY };
        }
        match self.law {
            // The true cost: the L1 sensitivity over the scale, where the scale was chosen for more.
            Law::Floor { factor, l1 } if l1 < factor => Claim::Pure { epsilon: div_up(mul_up(value, l1), factor) },
            Law::Floor { .. } | Law::Laplace { .. } => Claim::Pure { epsilon: value },
            Law::Gaussian { .. } => Claim::Zcdp { rho: value },
        }
    }

    fn premises(&self, value: f64) -> Vec<Premise> {
        let mut list = self.counts.premises();
        let (size, kept, places) = (four_up(self.size(value)), self.kept(), self.counts.places());
        let of = if self.counts.gamma { "the sum of the outcomes".to_owned() } else { format!("{kept} of {places} counts") };
        let text = match self.law {
            Law::Floor { .. } => format!(
                "Laplace noise of scale {size} on {of}, rounded down and clamped to 0..{}; the last count is the remainder",
                self.rows
            ),
            Law::Laplace { l1 } => {
                format!("discrete Laplace noise of scale {size} on {of}, which one unit moves by at most {} in all", four_near(l1))
            }
            Law::Gaussian { l2 } => {
                format!("discrete Gaussian noise of sd {size} on {of}, which one unit moves by at most {} (L2)", four_near(l2))
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
        };
        let law = WholeLaw { family: self.counts.family()?, noise, aware: self.aware };
        Some(MechanismPlan::Whole { law, statistic: self.counts.statistic.clone() })
    }

    fn parameters(&self, value: f64) -> Vec<(&'static str, f64)> {
        let name = if matches!(self.law, Law::Gaussian { .. }) { "sigma" } else { "scale" };
        vec![(name, self.size(value))]
    }

    fn predicted(&self, value: f64, rows: f64) -> Prediction {
        let centre = self.counts.centre();
        let kind = self.kind(value);
        match (self.counts.gamma, centre.as_slice()) {
            (true, [shape, rate]) => predicted::gamma(*shape, *rate, rows, kind, self.aware),
            _ => predicted::noise(&centre, rows * self.counts.items as f64, kind, self.kept(), self.aware),
        }
    }

    fn ignores_noise(&self) -> bool {
        !self.aware
    }
}

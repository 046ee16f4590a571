//! A normal mean whose rows have a known sd: the sum of its bounded outcomes leaves with noise.

use super::counts::the_parameter;
use super::predicted::Prediction;
use super::predicted_normal;
use super::{Answer, Whole, refusals};
use crate::mechanism::plan::{MechanismPlan, Statistic, StatisticKind, WholeFamily, WholeLaw, WholeNoise};
use crate::model::{Range, Relation};
use crate::numeric::amount::{below, over_up};
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{div_up, sqrt_down};
use crate::privacy::Claim;
use crate::rules::conjugate::facts::{self, Facts};
use crate::rules::conjugate::known_sd;
use crate::rules::offer::{Offer, Parameter};
use crate::rules::text::{four_up, plain};
use crate::rules::{Match, Premise, Question, Rule, not_mine, refuse};

const SHAPE: &str = "normal(m0, s0)";
/// Noise between these multiples of what one unit moves: samplers draw it on the grid, and posteriors are computed from it.
const DRAWABLE: Range = Range { lo: 1e-6, hi: 1e12 };

/// A matched model: prior, rows, and how far one unit moves their sum.
#[derive(Clone)]
pub(super) struct NormalSum {
    facts: Facts,
    m0: Range,
    s0: Range,
    sd: Range,
    /// Of the outcome.
    range: Range,
    /// Precision of public rows, and precision times their mean.
    public: (f64, f64),
    statistic: Statistic,
}

/// `None` where the prior of the one parameter is not a normal law.
pub(super) fn find(rule: &'static Rule, question: &Question) -> Match<Option<NormalSum>> {
    let (model, context) = (question.model()?, &question.context);
    let [normal] = model.parameters.as_slice() else { return Ok(None) };
    let ("normal", [m0, s0]) = (normal.prior.name(), normal.prior.args.as_slice()) else { return Ok(None) };
    let parameter = the_parameter(model, SHAPE)?;
    if !parameter.ty.is_scalar_number() {
        return not_mine("weights need rows normal(dot(w, x), sd) with nothing added; an intercept is a feature that is 1");
    }
    facts::all_observations(model, "normal(mu, sd), mu the parameter itself and sd public", |o| known_sd(o, parameter.id).is_some())?;
    let observation = facts::one_private(model, &parameter.name)?;
    let Some(sd) = known_sd(observation, parameter.id) else { return not_mine(format!("prior must be {SHAPE}")) };
    let range = facts::outcome_range(observation, model, context, Range::ALL)?;
    let mut facts = Facts::collect(rule, model, parameter, context);
    if model.records.relation == Relation::AddRemove {
        return refuse(refusals::secret_rows(
            &facts,
            question,
            ("the posterior of a mean needs {n}", "the posterior that accounts for the noise needs {n}"),
            None,
        ));
    }
    facts.premise(format!("the outcome lies in [{}, {}]", plain(range.lo), plain(range.hi)), Some(observation.outcome.span));
    let mut public = (0.0, 0.0);
    for (index, o) in model.public.iter().enumerate() {
        let sd = known_sd(o, parameter.id).map(|sd| facts::positive_argument(sd, "a known sd")).transpose()?;
        if let (Some(t), Some(sd)) = (context.public.get(index), sd) {
            public.0 += t.rows as f64 / (sd.hi * sd.hi);
            public.1 += t.sums.first().copied().unwrap_or(0.0) / (sd.hi * sd.hi);
            facts.public.known &= sd.is_point();
        }
    }
    Ok(Some(NormalSum {
        m0: facts::location_argument(m0, "the prior's mean")?,
        s0: facts::positive_argument(s0, "the prior's sd")?,
        sd: facts::positive_argument(sd, "the known sd")?,
        range,
        public,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) },
        facts,
    }))
}

/// Discrete Laplace and discrete Gaussian noise on the sum.
pub(super) fn pair(sum: &NormalSum, aware: bool) -> Vec<Box<dyn Offer>> {
    let one = |gaussian| -> Box<dyn Offer> { Box::new(Answer(Noisy { sum: sum.clone(), gaussian, aware })) };
    vec![one(false), one(true)]
}

struct Noisy {
    sum: NormalSum,
    gaussian: bool,
    aware: bool,
}

impl Noisy {
    /// How far one unit moves the sum. Rows are rounded to the grid inwards, so no two lie further apart than the range.
    fn moved(&self) -> f64 {
        self.sum.facts.unit_step(1.0, self.sum.range.width())
    }

    /// Scale or standard deviation, rounded up.
    fn size(&self, value: f64) -> f64 {
        if self.gaussian { div_up(self.moved(), sqrt_down(2.0 * below(value))) } else { over_up(self.moved(), value) }
    }

    /// Mean and precision before the private rows; ranges at the side of the wider law.
    fn prior(&self) -> (f64, f64) {
        let own = 1.0 / (self.sum.s0.hi * self.sum.s0.hi);
        let precision = own + self.sum.public.0;
        ((own * self.sum.m0.lo + self.sum.public.1) / precision, precision)
    }
}

impl Whole for Noisy {
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
        list.push(Premise::holds(
            format!("discrete {noise} on the sum of the outcomes, on their grid, which one unit moves by at most {moved}"),
            None,
        ));
        if self.aware {
            list.push(Premise::holds("the posterior given the noisy sum is computed from it alone", None));
        }
        list
    }

    fn plan(&self, value: f64) -> Option<MechanismPlan> {
        let points = [self.sum.m0, self.sum.s0, self.sum.sd].map(facts::point);
        let [Some(_), Some(_), Some(sd)] = points else { return None };
        if !self.sum.facts.public.known {
            return None;
        }
        let (mean, precision) = self.prior();
        let size = self.size(value);
        let noise = if self.gaussian { WholeNoise::Gaussian { sigma: size } } else { WholeNoise::Geometric { scale: size } };
        let law = WholeLaw { family: WholeFamily::Normal { mean, precision, sd }, noise, aware: self.aware };
        Some(MechanismPlan::Whole { law, statistic: self.sum.statistic.clone() })
    }

    fn parameters(&self, value: f64) -> Vec<Parameter> {
        vec![Parameter::up(if self.gaussian { "sigma" } else { "scale" }, self.size(value))]
    }

    fn predicted(&self, value: f64, rows: f64) -> Prediction {
        let size = self.size(value);
        let noise = if self.gaussian { size * size } else { 2.0 * size * size };
        predicted_normal::normal(self.prior().1, self.sum.sd.hi, rows, noise, self.aware)
    }

    fn ignores_noise(&self) -> bool {
        !self.aware
    }
}

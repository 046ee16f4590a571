//! A normal mean whose rows have a known sd: the sum of its bounded outcomes leaves with noise.

use super::counts::the_parameter;
use super::predicted::Prediction;
use super::predicted_normal;
use super::sum::{Sum, Summed};
use crate::mechanism::plan::{Statistic, StatisticKind, WholeFamily};
use crate::model::Range;
use crate::rules::conjugate::facts::{self, Facts};
use crate::rules::conjugate::known_sd;
use crate::rules::text::plain;
use crate::rules::{Match, Question, Rule, not_mine};

const SHAPE: &str = "normal(m0, s0)";

/// Prior and rows of a matched model.
#[derive(Clone)]
pub(super) struct Mean {
    m0: Range,
    s0: Range,
    sd: Range,
    /// Precision of public rows, and precision times their mean.
    public: (f64, f64),
    /// What an outcome may be.
    pub range: Range,
}

/// `None` where the prior of the one parameter is not a normal law.
pub(super) fn find(rule: &'static Rule, question: &Question) -> Match<Option<Sum<Mean>>> {
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
    let mean = Mean {
        m0: facts::location_argument(m0, "the prior's mean")?,
        s0: facts::positive_argument(s0, "the prior's sd")?,
        sd: facts::positive_argument(sd, "the known sd")?,
        public,
        range,
    };
    let statistic = Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) };
    Ok(Some(Sum { facts, what: "the sum of the outcomes", apart: range.width(), statistic, model: mean }))
}

impl Mean {
    /// Mean and precision before the private rows; ranges at the side of the wider law.
    fn prior(&self) -> (f64, f64) {
        let own = 1.0 / (self.s0.hi * self.s0.hi);
        let precision = own + self.public.0;
        ((own * self.m0.lo + self.public.1) / precision, precision)
    }

    /// How far the mean lies from a number, about.
    pub(super) fn away(&self, from: f64) -> f64 {
        let (mean, precision) = self.prior();
        (mean - from).hypot(1.0 / precision.sqrt())
    }
}

impl Summed for Mean {
    fn family(&self, _: &Facts) -> Option<WholeFamily> {
        let [Some(_), Some(_), Some(sd)] = [self.m0, self.s0, self.sd].map(facts::point) else { return None };
        let (mean, precision) = self.prior();
        Some(WholeFamily::Normal { mean, precision, sd, secret: None })
    }

    fn predicted(&self, _: &Facts, noise: f64, rows: f64, aware: bool) -> Prediction {
        predicted_normal::normal(self.prior().1, self.sd.hi, rows, noise, aware)
    }
}

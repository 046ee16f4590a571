//! A rate of exponential or gamma rows, or a precision of normal rows: the sum of bounded outcomes or of squared deviations leaves with noise.

use super::predicted::Prediction;
use super::predicted_normal;
use super::sum::{Sum, Summed, public_rows};
use crate::mechanism::plan::{PosteriorLaw, WholeFamily};
use crate::model::{Model, Range, Request};
use crate::rules::conjugate::{Facts, RateDraw, gamma_exponential, normal_precision};
use crate::rules::tempered::{Matched, Tempering};
use crate::rules::{Match, Question, Rule, not_mine};

/// Prior and rows of a matched model.
#[derive(Clone)]
pub(super) struct Rate {
    /// The posterior before private rows, where it is known.
    law: Option<PosteriorLaw>,
    /// Least shape and least rate of the prior, with public rows.
    least: (f64, f64),
    per_row: f64,
    scale: f64,
}

/// `None` where the one parameter has no gamma prior, or its rows are counts.
pub(super) fn find(rule: &'static Rule, question: &Question) -> Match<Option<Sum<Rate>>> {
    let (model, context) = (question.model()?, &question.context);
    let [rate] = model.parameters.as_slice() else { return Ok(None) };
    let law = model.private.first().map_or("", |o| o.likelihood.name());
    let draw = match (rate.prior.name(), law) {
        ("gamma", "exponential" | "gamma") => gamma_exponential::matched(rule, model, context)?,
        ("gamma", "normal") => normal_precision::matched(rule, model, context)?,
        _ => return Ok(None),
    };
    if !asked_whole(model) {
        return not_mine("releases whole posteriors, not draws");
    }
    public_rows(&draw.facts, question, "the posterior of a rate needs {n}")?;
    let what = if law == "normal" { "the sum of the squared deviations" } else { "the sum of the outcomes" };
    Ok(Some(summed(draw, what)))
}

pub(super) fn asked_whole(model: &Model) -> bool {
    matches!(model.request, Request::Posterior { .. })
}

fn summed(draw: RateDraw, what: &'static str) -> Sum<Rate> {
    let law = draw.law(Tempering::DIRECT).map(|(law, _)| law);
    // The statistic is the share without its factor, 1 or a half: exact in doubles.
    let apart = Range::new(draw.share.lo / draw.scale, draw.share.hi / draw.scale).width();
    let model = Rate { law, least: draw.least(), per_row: draw.per_row, scale: draw.scale };
    Sum { facts: draw.facts, what, apart, statistic: draw.statistic, model }
}

impl Summed for Rate {
    fn family(&self, _: &Facts) -> Option<WholeFamily> {
        match self.law {
            Some(PosteriorLaw::GammaRate { shape, rate, per_row, scale }) => Some(WholeFamily::Rate { shape, rate, per_row, scale }),
            _ => None,
        }
    }

    fn predicted(&self, _: &Facts, noise: f64, rows: f64, aware: bool) -> Prediction {
        predicted_normal::rate(self.least, rows * self.per_row, self.scale * self.scale * noise, aware)
    }
}

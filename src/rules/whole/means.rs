//! A vector of normal means whose rows have a known covariance: the sum of its bounded outcomes leaves with normal noise on every component.

use super::predicted::Prediction;
use super::predicted_normal;
use super::rates::asked_whole;
use super::sum::{Sum, Summed, public_rows};
use crate::mechanism::plan::{PosteriorLaw, WholeFamily};
use crate::rules::conjugate::{Facts, mv_normal_known_covariance};
use crate::rules::tempered::{Matched, Tempering};
use crate::rules::{Match, Question, Rule, not_mine};

/// Prior and rows of a matched model.
#[derive(Clone)]
pub(super) struct Means {
    /// The posterior before private rows, where it is known.
    law: Option<PosteriorLaw>,
    /// Prior precision with public rows and variance of a row, component by component.
    parts: Vec<(f64, f64)>,
}

/// `None` where rows are not `multi_normal`.
pub(super) fn find(rule: &'static Rule, question: &Question) -> Match<Option<Sum<Means>>> {
    let (model, context) = (question.model()?, &question.context);
    if model.private.first().is_none_or(|o| o.likelihood.name() != "multi_normal") {
        return Ok(None);
    }
    if !asked_whole(model) {
        return not_mine("releases whole posteriors, not draws");
    }
    let means = mv_normal_known_covariance::matched(rule, model, context)?;
    public_rows(&means.facts, question, "the posterior of means needs {n}")?;
    let law = means.law(Tempering::DIRECT).map(|(law, _)| law);
    let model = Means { law, parts: means.parts() };
    let (apart, statistic) = (means.diameter, means.statistic);
    Ok(Some(Sum { facts: means.facts, what: "every component of the sum of the outcomes", apart, statistic, model }))
}

impl Summed for Means {
    fn family(&self, _: &Facts) -> Option<WholeFamily> {
        match &self.law {
            Some(PosteriorLaw::MvNormal { precision, precision_mean, covariance, .. }) => Some(WholeFamily::Means {
                precision: precision.clone(),
                precision_mean: precision_mean.clone(),
                covariance: covariance.clone(),
            }),
            _ => None,
        }
    }

    fn predicted(&self, _: &Facts, noise: f64, rows: f64, aware: bool) -> Prediction {
        predicted_normal::means(&self.parts, rows, noise, aware)
    }
}

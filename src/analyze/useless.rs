//! W0510: releases that are predicted to learn next to nothing, and the roads that are predicted to learn more.

use super::scene::Scene;
use super::solve::{cost, solve};
use crate::model::print::number;
use crate::model::{BudgetKind, Model, Query, Records, Relation, Request, RowCount, Table};
use crate::numeric::decimal::{sig, sig_up};
use crate::rules::Ask;
use crate::rules::offer::{Offer, PredictedError};
use crate::source::{Diagnostic, Help};

/// A draw is no better than the prior where its predicted error is this much of that of a draw from the prior, or more. With a
/// normal prior that is so for any sd within 10 % of the prior's, whether the rows are few or count for little.
const NEARLY: f64 = 0.82;
/// A draw worth a larger budget errs at most by this much of what a draw from the prior does.
const HALF: f64 = 0.5;
/// No budget above these is proposed.
const LARGEST: f64 = 20.0;
/// A posterior that is released whole is worth it at this expected Hellinger distance.
const NEAR: f64 = 0.3;
/// A lower bound of so many rows is taken for their number; one below it says little about that.
const MANY: u64 = 100;
/// Where the number of rows is not known, a weight below this is taken for nothing.
const LITTLE: f64 = 0.001;

/// W0510, where the predictions say so.
pub fn found(scene: &Scene, offer: &dyn Offer, value: f64) -> Option<Diagnostic> {
    let Some(model) = scene.model.as_deref() else { return noisy(scene, offer, value) };
    let predicted = offer.predicted_error(value);
    // Of features no more is known than that they may fill their bounds.
    let (error, prior) = (predicted.at_best(), predicted.of_prior()?);
    let rows = model.records.rows;
    let known = rows.exactly.is_some() || rows.at_least >= MANY;
    let weak = if known { error >= NEARLY * prior } else { offer.tempering(value).is_some_and(|t| t.weight < LITTLE) };
    if !weak {
        return None;
    }
    let d = Diagnostic::new("W0510", format!("`{}` is predicted to say next to nothing about the rows", scene.site.release.name))
        .label(scene.place(), format!("predicted error {}, of a draw from the prior {}", sig(error, 3), sig(prior, 3)));
    if scene.site.of_many() {
        return Some(d);
    }
    Some(d.helps(whole(scene, model).into_iter().chain(counted(scene, model, offer)).chain(dearer(scene, offer, prior))))
}

/// The answer to a query whose noise is as wide as what it can be: half of that is how far its middle is off at most.
fn noisy(scene: &Scene, offer: &dyn Offer, value: f64) -> Option<Diagnostic> {
    let Query::Aggregate(query) = &scene.site.release.query else { return None };
    let rows = query.records.rows;
    let known = rows.exactly.is_some() || rows.at_least >= MANY;
    let width = query.value.ty.range().filter(|r| known && r.is_finite() && query.value.ty.is_scalar_number())?.width();
    let predicted = offer.predicted_error(value);
    let error = predicted.of_number()?;
    if scene.site.grouped() || width <= 0.0 || error < 0.5 * width {
        return None;
    }
    let range = query.value.ty.range()?;
    let between = format!(
        "95 % of answers within {} of the truth, which lies in [{}, {}] in any case",
        sig(error, 3),
        number(range.lo),
        number(range.hi)
    );
    let d = Diagnostic::new("W0510", format!("`{}` is predicted to say next to nothing about the rows", scene.site.release.name));
    let d = d.label(scene.place(), between);
    Some(if scene.site.of_many() { d } else { d.helps(dearer(scene, offer, 0.5 * width)) })
}

/// The exact number of rows, where a bound alone is declared and a number above it would teach.
fn counted(scene: &Scene, model: &Model, offer: &dyn Offer) -> Option<Help> {
    let rows = model.records.rows;
    if rows.exactly.is_some() || model.records.relation == Relation::AddRemove || scene.site.grouped() {
        return None;
    }
    let n = rows.at_least.max(100).saturating_mul(10);
    let records = Records { rows: RowCount { at_least: n, exactly: Some(n) }, ..model.records };
    let judged = scene.judge_of(Ask::Model(&Model { records, ..model.clone() }), None);
    let same = judged.offers.iter().find(|o| o.mechanism() == offer.mechanism() && o.knob() == offer.knob())?;
    let predicted = same.predicted_error(solve(scene.site, same.as_ref(), scene.allotment?)?);
    let table = scene.program.tables.get(model.records.table.0);
    let gives = format!("predicted error {}", sig(predicted.value, 3));
    let teaches = predicted.value <= HALF * predicted.of_prior()?;
    teaches.then(|| Table::redeclared(table, "if there are so many rows, say so:", &n.to_string(), gives))
}

/// The whole posterior, where a mechanism releases it near to what it is.
pub(super) fn whole(scene: &Scene, model: &Model) -> Option<Help> {
    let Request::Draw { parameters, .. } = &model.request else { return None };
    let [parameter] = parameters.as_slice() else { return None };
    let name = &model.parameters.iter().find(|p| p.id == *parameter)?.name;
    let asked = Model { request: Request::Posterior { parameter: *parameter }, ..model.clone() };
    let judged = scene.judge_of(Ask::Model(&asked), None);
    let limit = scene.allotment?;
    let distance = |o: &dyn Offer| solve(scene.site, o, limit).map(|x| o.predicted_error(x).value);
    let best = judged.usual().filter(|o| o.mechanism().automatic(o.rule().answers)).filter_map(distance).fold(f64::INFINITY, f64::min);
    (best <= NEAR).then(|| {
        let gives = format!("(expected Hellinger distance {})", sig_up(best, 2));
        ("release the whole posterior:", format!("release {} = posterior({name})", scene.site.release.name), gives).into()
    })
}

/// The budget at which the same release would err by half of what is known without it: of a draw by what one from the prior does.
fn dearer(scene: &Scene, offer: &dyn Offer, prior: f64) -> Option<Help> {
    let limit = scene.allotment?;
    let of = |factor: f64| match limit {
        BudgetKind::Pure(e) => Some(BudgetKind::Pure(e * factor)),
        BudgetKind::Dp { epsilon, delta } => Some(BudgetKind::Dp { epsilon: epsilon * factor, delta: *delta }),
        BudgetKind::Zcdp(_) | BudgetKind::Gdp(_) | BudgetKind::Rdp(_) => None,
    };
    let error = |p: &PredictedError| p.of_number().unwrap_or(p.value);
    let size = |kind: &BudgetKind| match kind {
        BudgetKind::Pure(e) | BudgetKind::Dp { epsilon: e, .. } => *e,
        _ => f64::INFINITY,
    };
    let kind = (1..=20).filter_map(|i| of(2_f64.powi(i))).take_while(|k| size(k) <= LARGEST).find(|kind| {
        let x = solve(scene.site, offer, kind);
        x.is_some_and(|x| cost(scene.site, offer, x).is_some() && error(&offer.predicted_error(x)) <= HALF * prior)
    })?;
    let share = scene.site.release.spend.is_none();
    let gives = if scene.model.is_some() { "(half the error of the prior)" } else { "(half of that, or less)" };
    share.then(|| ("raise the budget:", format!("budget {}", super::budget::written(&kind)), gives).into())
}

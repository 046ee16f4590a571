//! W0510: releases that are predicted to learn next to nothing, and the roads that are predicted to learn more.

use super::scene::Scene;
use super::solve::{cost, solve};
use crate::model::{AggregateQuery, BudgetKind, Builtin, ExprKind, Model, Norms, Query, Records, Relation, Request, RowCount, Table};
use crate::numeric::decimal::{sig, sig_up};
use crate::rules::Ask;
use crate::rules::offer::{Offer, assumed_rows};
use crate::source::{Diagnostic, Help};

/// A posterior is no better than the prior where draws from it err by this much of what draws from the prior do, or more. With a
/// normal prior that is so for any sd within 10 % of the prior's, whether the rows are few or count for little.
const NEARLY: f64 = 0.82;
/// An answer is worth more rows or a larger budget where it errs at most by this much of what one without it does.
const HALF: f64 = 0.5;
/// No budget above these is proposed.
const LARGEST: f64 = 20.0;
/// A posterior that is released whole is worth it at this expected Hellinger distance.
const NEAR: f64 = 0.3;
/// A lower bound of so many rows is taken for their number; one below it says little about that.
const MANY: u64 = 100;
/// Where the number of rows is not known, a weight below this is taken for nothing.
const LITTLE: f64 = 0.001;
/// No more rows than this are proposed.
const MOST: u64 = 1_000_000_000;

/// W0510, where the predictions say so.
pub fn found(scene: &Scene, offer: &dyn Offer, value: f64) -> Option<Diagnostic> {
    let [error, without] = offer.predicted_error(value).both()?;
    let records = scene.records();
    let known = records.rows.exactly.is_some() || records.rows.at_least >= MANY;
    let drawn = scene.model.as_deref().is_some_and(|m| matches!(m.request, Request::Draw { .. }));
    // How much a draw learns cannot be told for an unknown number of rows; nor how much noise on a sum hides.
    let weak = match (drawn, known) {
        (true, false) => offer.tempering(value).is_some_and(|t| t.weight < LITTLE),
        (false, false) if records.relation == Relation::AddRemove => false,
        (false, _) if scene.site.grouped() => is_mean(&scene.site.release.query) && error >= without,
        // A sum that hides a hundred rows may be of many more.
        (false, _) if records.rows.exactly.is_none() && !bounded(&scene.site.release.query) => false,
        _ => error >= if scene.model.is_some() { NEARLY * without } else { without },
    };
    if !weak {
        return None;
    }
    let label = match (&scene.model, drawn) {
        (Some(_), true) => format!("predicted error {}; a draw from the prior has {}", sig(error, 3), sig(without, 3)),
        (Some(_), false) => format!("draws from it are predicted to err by {}, draws from the prior by {}", sig(error, 3), sig(without, 3)),
        (None, _) => {
            format!(
                "95 % of answers are within {} of the truth; answering with the middle of the range, without data, is within {}",
                sig(error, 3),
                sig(without, 3)
            )
        }
    };
    let d = Diagnostic::new("W0510", format!("`{}` is predicted to reveal almost nothing about the data", scene.site.release.name));
    let d = d.label(scene.place(), label);
    let few = || format!("the header does not say how many rows there are, so no more than {} are assumed", assumed_rows(records.rows));
    let d = match scene.site.grouped() && scene.model.is_none() {
        true => {
            return Some(
                d.cause("a group may have a single row, so noise on its mean is made for one")
                    .help("a mean over a condition has noise made for all rows: mean(x, where = ..)"),
            );
        }
        false if drawn || known => d,
        false => d.cause(few()),
    };
    if scene.site.of_many() {
        return Some(d);
    }
    let posterior = scene.model.as_deref().and_then(|model| whole(scene, model));
    Some(d.helps(posterior.into_iter().chain(counted(scene, offer, value)).chain(dearer(scene, offer, without))))
}

/// The exact number of rows, where a bound alone is declared and a number above it would teach.
fn counted(scene: &Scene, offer: &dyn Offer, value: f64) -> Option<Help> {
    let Records { rows, relation, table, .. } = scene.records();
    // What the program writes does not follow the number of rows.
    let written = solve(scene.site, offer, scene.allotment?) != Some(value);
    if written || rows.exactly.is_some() || relation == Relation::AddRemove || scene.site.grouped() {
        return None;
    }
    let numbers = std::iter::successors(Some(rows.at_least.max(MANY)), |n| n.checked_mul(10)).skip(1).take_while(|n| *n <= MOST);
    let (n, gives) = numbers
        .filter_map(|n| {
            let asked = of_rows(scene, n)?;
            let judged = match &asked {
                Query::Posterior(model) => scene.judge_of(Ask::Model(model), None),
                Query::Aggregate(query) => scene.judge_of(Ask::Query(query), None),
            };
            let same = judged.offers.iter().find(|o| o.mechanism() == offer.mechanism() && o.knob() == offer.knob())?;
            let predicted = same.predicted_error(solve(scene.site, same.as_ref(), scene.allotment?)?);
            let [error, without] = predicted.both()?;
            let whole = matches!(asked, Query::Posterior(Model { request: Request::Posterior { .. }, .. }));
            let shown = if whole { error } else { predicted.value };
            (error <= HALF * without).then_some((n, format!("predicted error {}", sig(shown, 3))))
        })
        .next()?;
    let table = scene.program.tables.get(table.0);
    Some(Table::redeclared(table, "if there are so many rows, say so:", &n.to_string(), gives))
}

fn is_mean(query: &Query) -> bool {
    matches!(query, Query::Aggregate(q) if matches!(q.value.kind, ExprKind::Call(Builtin::RowMean, _)))
}

/// Is the answer bounded however many rows there are, as a mean or a posterior is?
fn bounded(query: &Query) -> bool {
    match query {
        Query::Posterior(_) => true,
        Query::Aggregate(q) => q.value.ty.range().is_some_and(|r| r.is_finite()),
    }
}

/// What is released, of so many rows.
fn of_rows(scene: &Scene, n: u64) -> Option<Query> {
    let rows = RowCount { at_least: n, exactly: Some(n) };
    Some(match (scene.model.as_deref(), &scene.site.release.query) {
        (Some(model), _) => Query::Posterior(Model { records: Records { rows, ..model.records }, ..model.clone() }),
        (None, Query::Aggregate(query)) => {
            let fewer = query.records.rows.at_least.max(1) as f64 / n as f64;
            // One row moves a mean of more rows less, and a sum as far.
            let moved = if is_mean(&scene.site.release.query) { fewer } else { 1.0 };
            let Norms { l1, l2, linf } = query.sensitivity;
            let sensitivity = Norms { l1: l1 * moved, l2: l2 * moved, linf: linf * moved };
            Query::Aggregate(AggregateQuery { records: Records { rows, ..query.records }, sensitivity, ..query.clone() })
        }
        (None, Query::Posterior(_)) => return None,
    })
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
    let best = judged.usual().filter(|o| o.mechanism().automatic()).filter_map(distance).fold(f64::INFINITY, f64::min);
    (best <= NEAR).then(|| {
        let gives = format!("(expected Hellinger distance {})", sig_up(best, 2));
        ("release the whole posterior:", format!("release {} = posterior({name})", scene.site.release.name), gives).into()
    })
}

/// The budget at which the same release would err by half of what is known without it: of a draw by what one from the prior does.
fn dearer(scene: &Scene, offer: &dyn Offer, without: f64) -> Option<Help> {
    let whole = scene.program.budget.as_ref().filter(|_| scene.site.release.spend.is_none())?;
    // The share of a release grows as the budget does.
    let kind = (1..=20)
        .map(|i| 2_f64.powi(i))
        .map_while(|factor| Some((times(&whole.kind, factor)?, times(scene.allotment?, factor)?)))
        .find(|(_, kind)| {
            let x = solve(scene.site, offer, kind).filter(|x| cost(scene.site, offer, *x).is_some());
            x.and_then(|x| offer.predicted_error(x).both()).is_some_and(|[error, _]| error <= HALF * without)
        })?;
    let gives = if scene.model.is_some() { "(half the error of the prior)" } else { "(half of that, or less)" };
    Some(("raise the budget:", format!("budget {}", super::budget::written(&kind.0)), gives).into())
}

/// So many times a budget, up to the largest that is proposed, in three digits.
fn times(kind: &BudgetKind, factor: f64) -> Option<BudgetKind> {
    let more = |e: f64| sig_up(e * factor, 3).parse().ok().filter(|e| *e <= LARGEST);
    Some(match kind {
        BudgetKind::Pure(e) => BudgetKind::Pure(more(*e)?),
        BudgetKind::Dp { epsilon, delta } => BudgetKind::Dp { epsilon: more(*epsilon)?, delta: *delta },
        BudgetKind::Zcdp(_) | BudgetKind::Gdp(_) | BudgetKind::Rdp(_) => return None,
    })
}

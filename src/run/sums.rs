//! Posteriors of released events and exposures: the rates of a model by group, and the exact exposures as numbers of the chain.

use super::draws::{Chains, released};
use super::moments::{call, number, placed, unknown};
use crate::data::Environment;
use crate::mechanism::MechanismError;
use crate::mechanism::density::exposures::{Events, Exposures, Model, SumNoise};
use crate::mechanism::density::moments::rehearse as lowers;
use crate::mechanism::plan::{ChainLaw, DensityLaw, Loss, Noise};
use crate::model::fit::{CellTable, Fit};
use crate::model::{Axis, Builtin, Expr, ExprKind, Label, Observation, Range};

const UNKNOWN: MechanismError = MechanismError::Parameter;
/// So many scales of its noise from its noisy sum an exposure is looked for: what lies beyond has a part of e^-40.
const REACH: f64 = 40.0;

/// The model of released sums, where the source is one.
pub(super) fn of_source(source: &Chains, env: &dyn Environment) -> Option<Result<Model, MechanismError>> {
    let cells = source.of.tables.first().filter(|t| !t.sums.is_empty())?;
    let built = model(&source.of, cells, (on_sums(source.noise), &source.noisy, source.totals.iter().sum()));
    Some(built.and_then(|(law, numbers, likelihood)| Model::new(&law, &numbers, likelihood, env)))
}

/// Sums to a millionth of the scale of their noise: a record says them in decimals, and shall have the same posterior.
pub(super) fn rounded(noise: Noise, noisy: &[f64]) -> Vec<f64> {
    let step = on_sums(noise).scale() * f64::EPSILON.sqrt() * 64.0;
    noisy.iter().map(|x| if step > 0.0 { (x / step).round() * step } else { *x }).collect()
}

pub(super) fn rehearse(of: &Fit, cells: &CellTable, noise: Noise, env: &dyn Environment) -> Result<(), MechanismError> {
    let all = cells.groups().iter().map(|a| a.levels.len()).product::<usize>() * cells.sums.len();
    let (law, numbers, _) = model(of, cells, (on_sums(noise), &vec![0.0; all], 1.0))?;
    lowers(&law, &numbers, env)
}

/// Rounded normal noise is on whole numbers, where rounding what was seen changes nothing; the exposures are seen through it as if it were not rounded.
fn on_sums(noise: Noise) -> SumNoise {
    match noise {
        Noise::Gaussian { sigma } | Noise::Rounded { sigma } => SumNoise::Normal { sigma },
        Noise::Laplace { scale } => SumNoise::Laplace { scale },
        Noise::Geometric { scale } => SumNoise::Geometric { scale },
    }
}

/// Priors, and the numbers of the likelihood as expressions of parameters.
fn model(
    of: &Fit,
    cells: &CellTable,
    (noise, noisy, rows): (SumNoise, &[f64], f64),
) -> Result<(DensityLaw, Vec<Expr>, Exposures), MechanismError> {
    let (by, sums) = (cells.groups(), &cells.sums);
    let groups: usize = by.iter().map(|a| a.levels.len()).product();
    let is_sum = |c: &usize| *c >= by.len();
    let mut read: Vec<usize> =
        of.observations.iter().flat_map(|o| &o.likelihood.args).flat_map(|e| cells.columns(e)).filter(is_sum).collect();
    read.sort_unstable();
    read.dedup();
    let sum = |c: usize| sums.get(c.checked_sub(by.len())?);
    let seen = |g: usize, c: usize| noisy.get(g * sums.len() + c.checked_sub(by.len())?).copied();
    // In the order of the table, in which predictions are.
    let mut observations: Vec<&Observation> = of.observations.iter().collect();
    observations.sort_by_key(|o| cells.columns(&o.outcome));
    let mut events = vec![];
    for o in &observations {
        let c = cells.columns(&o.outcome).into_iter().next().ok_or(UNKNOWN)?;
        let noisy: Option<Vec<f64>> = (0..groups).map(|g| seen(g, c)).collect();
        events.push(Events { unit: sum(c).ok_or(UNKNOWN)?.unit, noisy: noisy.ok_or(UNKNOWN)? });
    }
    let mut numbers = vec![];
    for g in 0..groups {
        for o in &observations {
            let [mean] = o.likelihood.args.as_slice() else { return Err(UNKNOWN) };
            for k in &read {
                // What one unit of this exposure, and none of the others, expects in this group.
                let unit = sum(*k).ok_or(UNKNOWN)?.unit;
                numbers.push(placed(mean, cells.table, &|c| {
                    if is_sum(&c) { number(if c == *k { unit } else { 0.0 }) } else { level(by, g, c) }
                }));
            }
        }
    }
    let (parameter, shares) = unknown("uniform", &[0.0, 1.0], Range::UNIT, (groups * read.len()) as u64)?;
    let mut exposures = vec![];
    let mut shares = shares.into_iter();
    for g in 0..groups {
        for k in &read {
            let noisy = seen(g, *k).ok_or(UNKNOWN)?;
            let (middle, reach) = (noisy.clamp(0.0, rows), REACH * noise.scale());
            let (lo, hi) = ((middle - reach).max(0.0), (middle + reach).min(rows));
            let share = shares.next().ok_or(UNKNOWN)?;
            numbers.push(call(Builtin::Add, vec![number(lo), call(Builtin::Mul, vec![number(hi - lo), share])]));
            exposures.push(noisy);
        }
    }
    let mut parameters = of.parameters.clone();
    parameters.push(parameter);
    let released = released(of)?.iter().map(|(i, _)| *i).collect();
    let law = DensityLaw { parameters, released, rows: vec![], loss: Loss::NegativeLog, chain: ChainLaw::Nuts { steps: None } };
    Ok((law, numbers, Exposures::new(noise, &events, exposures, read.len())?))
}

/// The level of a column that makes groups, in one of them; the last column is fastest.
fn level(by: &[Axis], group: usize, c: usize) -> Expr {
    let after: usize = by.iter().skip(c + 1).map(|a| a.levels.len()).product();
    let (size, ty) = by.get(c).map_or((1, crate::model::Type::Bool), |a| (a.levels.len(), a.ty.clone()));
    Expr { kind: ExprKind::Level(group / after.max(1) % size.max(1)), ty, label: Label::Public, span: crate::source::Span::default() }
}

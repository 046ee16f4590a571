//! Closed-form laws of neighbouring data sets: the dearest pair among the made-up ones, and what it costs by integration.

use super::divergence::nodes;
use super::laws::{Law, law, row_sums};
use super::neighbours::{Neighbours, Sizes};
use super::rows::{Cells, file};
use crate::data::Source;
use crate::data::row::Rows;
use crate::mechanism::aggregate;
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::{Builtin, ExprKind, Table};

/// Most different pairs of laws that are integrated.
const MOST: usize = 300;

/// Two laws with the neighbours that lead to them.
pub struct LawPair {
    pub neighbours: Neighbours,
    pub first: Law,
    pub second: Law,
}

/// The corner rows as numbers, mapped into their domains as every file is.
pub fn numbers(table: &Table, corners: &[Cells]) -> Option<Vec<Vec<f64>>> {
    let text = file(table, &corners.iter().collect::<Vec<_>>(), &[]);
    let mut rows = Rows::open(table, Source::new(std::io::Cursor::new(text.into_bytes()))).ok()?;
    let mut found = vec![];
    while rows.advance().ok()? {
        let mut row = vec![0.0; rows.slots()];
        rows.fill(&mut row);
        found.push(row);
    }
    (found.len() == corners.len()).then_some(found)
}

/// Laws of all neighbours whose pair of laws is new; `None` where the audit has no closed form.
pub fn pairs(plan: &MechanismPlan, table: &Table, corners: &[Cells], sizes: Sizes, all: &[Neighbours]) -> Option<Vec<LawPair>> {
    let own;
    let statistic = match plan {
        MechanismPlan::Posterior { statistic, .. } => statistic,
        MechanismPlan::Noise { table, value, .. } => {
            own = aggregate(value, *table)?.ok()?;
            &own
        }
        MechanismPlan::Quantile { .. } | MechanismPlan::Whole { .. } => return None,
    };
    let sums = row_sums(statistic, table, &numbers(table, corners)?)?;
    let of_data = |n: &Neighbours, unit: Option<usize>| {
        let (base, one) = (sums.get(n.base)?, unit.map(|i| sums.get(i)));
        let (b, k) = (sizes.base as f64, sizes.unit as f64);
        let total: Vec<f64> = match one {
            None => base.iter().map(|x| b * x).collect(),
            Some(unit) => base.iter().zip(unit?).map(|(x, y)| b * x + k * y).collect(),
        };
        output(plan, b + if unit.is_some() { k } else { 0.0 }, &total)
    };
    let mut found: Vec<LawPair> = vec![];
    for n in all {
        let (first, second) = (of_data(n, n.first)?, of_data(n, n.second)?);
        let fresh = first != second && !found.iter().any(|p| p.first == first && p.second == second);
        if fresh && found.len() < MOST {
            found.push(LawPair { neighbours: *n, first, second });
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The law of one release for so many rows with these sums.
fn output(plan: &MechanismPlan, rows: f64, sums: &[f64]) -> Option<Law> {
    match plan {
        MechanismPlan::Posterior { law: of, weight, .. } => law(of, *weight, rows, sums),
        MechanismPlan::Noise { value, noise, .. } => {
            let [sum] = sums else { return None };
            let mean = if matches!(value.kind, ExprKind::Call(Builtin::RowMean, _)) { sum / rows } else { *sum };
            match noise {
                Noise::Laplace { scale } => Some(Law::Laplace { mean, scale: *scale }),
                Noise::Gaussian { sigma } => Some(Law::Normal { mean, variance: sigma * sigma }),
                // A law on the integers is attacked, not integrated.
                Noise::Geometric { .. } => None,
            }
        }
        MechanismPlan::Quantile { .. } | MechanismPlan::Whole { .. } => None,
    }
}

/// The largest divergence of an order over the pairs, and the index of its pair; infinite ones are left to the limit.
pub fn renyi(pairs: &[LawPair], order: f64) -> Option<(f64, usize)> {
    let each = pairs.iter().enumerate().filter_map(|(i, p)| Some((nodes(&p.first, &p.second, Some(order))?.renyi(order), i)));
    each.filter(|(d, _)| d.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The largest epsilon at a delta over the pairs.
pub fn epsilon(pairs: &[LawPair], delta: f64) -> Option<f64> {
    pairs.iter().filter_map(|p| Some(nodes(&p.first, &p.second, None)?.epsilon(delta))).max_by(f64::total_cmp)
}

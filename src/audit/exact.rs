//! Closed-form laws of neighbouring data sets: the dearest pair among the made-up ones, and what it costs by integration.

use super::divergence;
use super::laws::{Law, choice, law, row_sums, row_values};
use super::neighbours::{Neighbours, Sizes};
use super::rows::{Cells, file};
use crate::data::Source;
use crate::data::row::Rows;
use crate::data::statistic::Quantizer;
use crate::mechanism::plan::{Level, MechanismPlan, Noise, Spacing};
use crate::mechanism::{aggregate, quantile};
use crate::model::{Builtin, ExprKind, Table, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Most different pairs of laws that are integrated in full, at either of two orders; a rough integral chooses them.
const MOST: usize = 12;
/// Most different pairs of which the rough integral is taken.
const ROUGH: usize = 20_000;
/// Of laws of more numbers, which take room, a hundredth of them.
const WIDE: usize = 20;

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

/// What is known of the laws of the neighbours.
pub enum Known {
    /// The dearest of the different pairs.
    Pairs(Vec<LawPair>),
    /// No two neighbours have different laws.
    Same,
    /// The audit has no closed form.
    Unknown,
}

/// The dearest pairs of laws of all neighbours, by a rough integral at two orders below `limit`.
pub fn pairs((plan, limit): (&MechanismPlan, f64), table: &Table, rows: &[Cells], sizes: Sizes, all: &[Neighbours]) -> Known {
    let Some(found) = different(plan, table, rows, sizes, all) else { return Known::Unknown };
    if found.is_empty() {
        return Known::Same;
    }
    let low = if limit > 2.0 { 2.0 } else { f64::midpoint(1.0, limit) };
    let high = if limit > 64.0 { 64.0 } else { 1.0 + 0.9 * (limit - 1.0) };
    let mut kept = BTreeSet::new();
    for order in [low, high] {
        let rough = |p: &LawPair| divergence::rough(&p.first, &p.second, order).unwrap_or(0.0);
        let mut ranked: Vec<(f64, usize)> = found.iter().map(rough).zip(0..).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        kept.extend(ranked.into_iter().take(MOST).map(|(_, i)| i));
    }
    Known::Pairs(found.into_iter().zip(0..).filter(|(_, i)| kept.contains(i)).map(|(p, _)| p).collect())
}

/// Every pair of different laws once.
fn different(plan: &MechanismPlan, table: &Table, rows: &[Cells], sizes: Sizes, all: &[Neighbours]) -> Option<Vec<LawPair>> {
    let rows = numbers(table, rows)?;
    // What a row adds to the sums, or its value.
    let each = match plan {
        MechanismPlan::Posterior { statistic, .. } => row_sums(statistic, table, &rows)?,
        MechanismPlan::Noise { table: id, value, .. } => row_sums(&aggregate(value, *id)?.ok()?, table, &rows)?,
        MechanismPlan::Quantile { table: id, value, .. } => row_values(value, *id, table, &rows)?.into_iter().map(|x| vec![x]).collect(),
        MechanismPlan::Whole { .. } => return None,
    };
    let grid = match plan {
        MechanismPlan::Quantile { levels, ty, spacing, .. } => Some((levels.as_slice(), Grid::new(ty, *spacing, &each)?)),
        _ => None,
    };
    let [n, m] = sizes.halves().map(|n| n as f64);
    let of_data = |base: [usize; 2], unit: Option<usize>| {
        let ([a, b], k) = (base, unit.map_or(0.0, |_| sizes.unit as f64));
        let (a, b, unit) = (each.get(a)?, each.get(b)?, each.get(unit.unwrap_or(0))?);
        if let (MechanismPlan::Quantile { epsilon, .. }, Some((levels, grid))) = (plan, &grid) {
            // Several are sorted: their law is not that of independent numbers.
            let [Level { q, sensitivity }] = levels else { return None };
            let values = [(grid.index(*a.first()?), n), (grid.index(*b.first()?), m), (grid.index(*unit.first()?), k)];
            return grid.law((*q, epsilon / (2.0 * sensitivity)), &values);
        }
        let total: Vec<f64> = a.iter().zip(b).zip(unit).map(|((x, y), z)| n * x + m * y + k * z).collect();
        output(plan, n + m + k, &total)
    };
    let mut laws: BTreeMap<([usize; 2], Option<usize>), Law> = BTreeMap::new();
    for n in all {
        for unit in [n.first, n.second] {
            if let std::collections::btree_map::Entry::Vacant(place) = laws.entry((n.base, unit)) {
                place.insert(of_data(n.base, unit)?);
            }
        }
    }
    let (mut found, mut seen) = (vec![], BTreeSet::new());
    for n in all {
        let (Some(first), Some(second)) = (laws.get(&(n.base, n.first)), laws.get(&(n.base, n.second))) else { continue };
        let most = if first.numbers() > WIDE { ROUGH / 100 } else { ROUGH };
        if first != second && found.len() < most && seen.insert((first.key(), second.key())) {
            found.push(LawPair { neighbours: *n, first: first.clone(), second: second.clone() });
        }
    }
    Some(found)
}

/// The candidates for a quantile, cut at the values of all rows.
struct Grid<'a> {
    ty: &'a Type,
    spacing: Spacing,
    quantizer: Quantizer,
    cuts: BTreeSet<i64>,
}

impl Grid<'_> {
    fn new<'a>(ty: &'a Type, spacing: Spacing, each: &[Vec<f64>]) -> Option<Grid<'a>> {
        let mut grid = Grid { ty, spacing, quantizer: Quantizer::new(&spacing.scale(ty)).ok()?, cuts: BTreeSet::new() };
        grid.cuts = each.iter().flatten().map(|x| grid.index(*x)).collect();
        Some(grid)
    }

    fn index(&self, x: f64) -> i64 {
        let ends = self.ty.range().filter(|_| self.spacing == Spacing::Log);
        self.quantizer.scalar(ends.map_or(x, |r| x.clamp(r.lo, r.hi).ln()))
    }

    fn law(&self, level: (f64, f64), values: &[(i64, f64)]) -> Option<Law> {
        let (ends, logs) = choice(level, self.quantizer.ends(), &self.cuts, values);
        let value = |index: i64| quantile::value(index, (self.ty, self.spacing), self.quantizer.exponent()).ok();
        Some(Law::Choice { ends: ends.into_iter().map(|i| Some(value(i)?.to_f64())).collect::<Option<_>>()?, logs })
    }
}

/// The law of one release for so many rows with these sums.
fn output(plan: &MechanismPlan, rows: f64, sums: &[f64]) -> Option<Law> {
    match plan {
        MechanismPlan::Posterior { law: of, weight, .. } => law(of, *weight, rows, sums),
        MechanismPlan::Noise { value, noise, .. } => {
            let share = if matches!(value.kind, ExprKind::Call(Builtin::RowMean, _)) { rows } else { 1.0 };
            let one = |mean: f64| match noise {
                Noise::Laplace { scale } => Law::Laplace { mean, scale: *scale },
                Noise::Geometric { scale } => Law::Geometric { mean, scale: *scale },
                Noise::Gaussian { sigma } => Law::Normal { mean, variance: sigma * sigma },
                Noise::Rounded { sigma } => Law::Rounded { mean, sigma: *sigma },
            };
            Some(match (noise, sums) {
                (_, [sum]) => one(sum / share),
                (Noise::Gaussian { sigma }, many) => {
                    Law::Normals { means: many.iter().map(|s| s / share).collect(), variance: sigma * sigma }
                }
                (_, many) => Law::Each(many.iter().map(|s| one(s / share)).collect()),
            })
        }
        MechanismPlan::Quantile { .. } | MechanismPlan::Whole { .. } => None,
    }
}

/// The largest divergence of an order over the pairs, and the index of its pair; infinite where a law has none, `None` where one
/// of them cannot be integrated.
pub fn renyi(pairs: &[LawPair], order: f64) -> Option<(f64, usize)> {
    let each: Option<Vec<f64>> = pairs.iter().map(|p| divergence::renyi(&p.first, &p.second, order)).collect();
    each?.into_iter().zip(0..).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The largest epsilon at a delta over the pairs, if all can be integrated.
pub fn epsilon(pairs: &[LawPair], delta: f64) -> Option<f64> {
    let each: Option<Vec<f64>> = pairs.iter().map(|p| divergence::epsilon(&p.first, &p.second, delta)).collect();
    each?.into_iter().max_by(f64::total_cmp)
}

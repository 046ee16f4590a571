//! Posteriors of released counts: the cells that a model uses, the law of their noise, the chains; and numbers of every draw.

use super::draws::{Chains, Draws, names, released};
use super::{moments, sums};
use crate::data::Environment;
use crate::data::eval::compile;
use crate::mechanism::MechanismError;
use crate::mechanism::density::fit::{self as density, Counts, Model, Run, Sampled};
use crate::mechanism::plan::{ChainLaw, DensityLaw, Loss, Noise};
use crate::model::fit::{CellTable, Fit};
use crate::model::{Axis, Column, DistCall, Expr, ExprKind, Label, Observation, Range, Relation, RowCount, Table, TableId, Type};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Draws of the posterior given released counts with this noise, and the public numbers of rows that go with them.
pub fn posterior(of: &Fit, (noise, noisy, totals): (Noise, &[f64], &[f64]), env: &dyn Environment) -> Result<Draws, MechanismError> {
    let of_sums = of.tables.iter().any(|t| !t.sums.is_empty());
    let noisy = &if of_sums { sums::rounded(noise, noisy) } else { noisy.to_vec() };
    let mut source = Chains { of: of.clone(), noise, noisy: noisy.clone(), totals: totals.to_vec(), states: vec![], beyond: 0.0 };
    let run = Run { prior: of.prior, sampling: of.sampling, seed: seed(&source, "") };
    let (Sampled { numbers, states, divergences }, beyond) = match of.tables.as_slice() {
        _ if of_sums => (sums::of_source(&source, env).ok_or(MechanismError::Parameter)??.fit(run)?, 0.0),
        [sums] if sums.moments.is_some() => {
            let rows = totals.iter().sum();
            moments::posterior(of, sums, (noise, noisy, rows), run, env)?
        }
        _ => (with_model(&source, env, |model, _| model.fit(run))?, 0.0),
    };
    source.states = states;
    source.beyond = beyond;
    let names = released(of)?.into_iter().flat_map(|(_, names)| names).collect();
    let source = Some(Arc::new(source));
    Ok(Draws { names: Arc::new(names), numbers: Arc::new(numbers), chains: of.sampling.chains, divergences, scalar: false, source })
}

/// What `ask` makes of a model of released counts.
pub(super) fn with_model<T>(
    source: &Chains,
    env: &dyn Environment,
    ask: impl FnOnce(&Model, &Used) -> Result<T, MechanismError>,
) -> Result<T, MechanismError> {
    let [cells] = source.of.tables.as_slice() else { return Err(MechanismError::Parameter) };
    let used = Used::new(cells, &source.of);
    let (table, law) = (used.table(), law_of(&source.of, cells)?);
    let (places, rows) = used.rows(cells, &source.of).into_iter().unzip();
    let counts = Counts {
        id: cells.table,
        table: &table,
        rows,
        cells: places,
        noisy: used.margin(&source.noisy, &used.all, &used.used).into_iter().map(|x| x as i64).collect(),
        noise: source.noise,
        noises: used.summed_out(),
        groups: used.groups(),
        totals: used.totals(&source.totals),
    };
    ask(&Model::new(&law, counts, env)?, &used)
}

fn law_of(of: &Fit, cells: &CellTable) -> Result<DensityLaw, MechanismError> {
    Ok(DensityLaw {
        parameters: of.parameters.clone(),
        released: released(of)?.iter().map(|(i, _)| *i).collect(),
        rows: of.observations.iter().map(|o| cells.between(o)).chain(of.total.iter().filter_map(rate)).collect(),
        loss: Loss::NegativeLog,
        chain: ChainLaw::Nuts { steps: None },
    })
}

/// What the rate of all rows adds to the logarithm of the rate of each cell: the logarithm of an exponential density at 0.
fn rate(total: &Observation) -> Option<Observation> {
    let outcome = Expr { kind: ExprKind::Number(0.0), ty: Type::Real(Range::point(0.0)), label: Label::Public, span: total.span };
    let likelihood = DistCall { family: crate::dist::find("exponential")?, ..total.likelihood.clone() };
    Some(Observation { outcome, likelihood, ..total.clone() })
}

/// Could its chains run, whatever the counts?
pub fn rehearse(of: &Fit, noise: Noise, env: &dyn Environment) -> Result<(), MechanismError> {
    let cells = of.tables.first().ok_or(MechanismError::Parameter)?;
    if !cells.sums.is_empty() {
        return sums::rehearse(of, cells, noise, env);
    }
    if cells.moments.is_some() {
        return moments::rehearse(of, cells, noise, env);
    }
    density::rehearse(&law_of(of, cells)?, (noise, Used::new(cells, of).summed_out()), env)
}

/// The same question about the same model of the same counts has the same answer.
pub(super) fn seed(source: &Chains, question: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    source.of.parameters.iter().for_each(|p| hash.update(format!("{} {}\n", p.name, p.prior.name())));
    source.noisy.iter().for_each(|x| hash.update(x.to_le_bytes()));
    hash.update(question);
    hash.finalize().into()
}

/// `post.m + post.tau * post.u[north]` for every draw.
pub fn each_draw(e: &Expr, draws: &Draws, all: &Type, env: &dyn Environment) -> Option<Draws> {
    let Type::Posterior(inner) = all else { return None };
    let Type::Record(parts) = inner.as_ref() else { return None };
    let columns = parts.iter().map(|(n, ty)| column(n, ty)).collect();
    let compiled = compile(e, table_of(e)?, &table(columns), env).ok()?;
    let (mut stack, mut numbers) = (vec![], vec![Vec::with_capacity(draws.count()); compiled.width()]);
    for i in 0..draws.count() {
        compiled.row(&draws.draw(i), &mut stack);
        numbers.iter_mut().zip(&stack).for_each(|(all, x)| all.push(*x));
    }
    let scalar = e.ty.is_scalar_number();
    let names = if scalar { vec![String::new()] } else { names("", &e.ty) };
    Some(Draws { names: Arc::new(names), numbers: Arc::new(numbers), scalar, source: None, ..draws.clone() })
}

fn table_of(e: &Expr) -> Option<TableId> {
    match &e.kind {
        ExprKind::Column(t, _) => Some(*t),
        _ if matches!(e.label, Label::Row(_)) => e.parts().into_iter().find_map(table_of),
        _ => None,
    }
}

fn column(name: &str, ty: &Type) -> Column {
    Column {
        name: name.into(),
        headers: vec![],
        public: true,
        ty: ty.clone(),
        missing: vec![],
        view: None,
        span: crate::source::Span::default(),
    }
}

fn table(columns: Vec<Column>) -> Table {
    let span = crate::source::Span::default();
    let rows = RowCount { at_least: 0, exactly: None };
    let (name, private, relation) = (String::new(), false, Relation::ReplaceOne);
    Table { name, private, relation, count_name: None, rows, unit: None, order: None, columns, span, rows_span: span }
}

/// Which axes of a table a model uses; the others are summed out.
pub(super) struct Used<'a> {
    pub axes: &'a [Axis],
    pub all: Vec<usize>,
    pub used: Vec<usize>,
    /// The public ones that the model conditions on: the sizes of their groups are known.
    sized: Vec<usize>,
}

impl Used<'_> {
    fn new<'a>(cells: &'a CellTable, of: &Fit) -> Used<'a> {
        let (_, given) = cells.used(&of.own());
        let public = |axis: &usize| cells.axes.get(*axis).is_some_and(|a| a.public);
        let sized = given.iter().copied().filter(public).collect();
        Used { axes: &cells.axes, all: (0..cells.axes.len()).collect(), used: of.axes(), sized }
    }

    /// The groups of released sums.
    pub fn groups_of(cells: &CellTable) -> Used<'_> {
        let all: Vec<usize> = (0..cells.groups().len()).collect();
        Used { axes: &cells.axes, used: all.clone(), all, sized: vec![] }
    }

    fn size(&self, axis: usize) -> usize {
        self.axes.get(axis).map_or(1, |a| a.levels.len())
    }

    /// The place on each of these axes of a cell of the table that they make, the last fastest.
    fn places(&self, cell: usize, of: &[usize]) -> Vec<(usize, usize)> {
        let mut left = cell;
        let mut found: Vec<(usize, usize)> = of
            .iter()
            .rev()
            .map(|axis| {
                let place = left % self.size(*axis);
                left /= self.size(*axis);
                (*axis, place)
            })
            .collect();
        found.reverse();
        found
    }

    fn cell(&self, places: &[(usize, usize)], of: &[usize]) -> usize {
        of.iter().fold(0, |at, axis| at * self.size(*axis) + places.iter().find(|(a, _)| a == axis).map_or(0, |(_, p)| *p))
    }

    fn count(&self, of: &[usize]) -> usize {
        of.iter().map(|a| self.size(*a)).product()
    }

    /// Counts by some axes, added up by fewer of them.
    pub fn margin(&self, counts: &[f64], from: &[usize], to: &[usize]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count(to)];
        for (i, x) in counts.iter().enumerate() {
            if let Some(sum) = sums.get_mut(self.cell(&self.places(i, from), to)) {
                *sum += x;
            }
        }
        sums
    }

    /// Cells of the released table in one cell of the used axes.
    pub fn summed_out(&self) -> u32 {
        u32::try_from(self.count(&self.all) / self.count(&self.used).max(1)).unwrap_or(u32::MAX)
    }

    fn public(&self) -> Vec<usize> {
        self.all.iter().copied().filter(|a| self.axes.get(*a).is_some_and(|a| a.public)).collect()
    }

    pub fn groups(&self) -> Vec<usize> {
        (0..self.count(&self.used)).map(|i| self.cell(&self.places(i, &self.used), &self.sized)).collect()
    }

    pub fn totals(&self, counted: &[f64]) -> Vec<u64> {
        if counted.is_empty() {
            return vec![];
        }
        let sums = self.margin(counted, &self.public(), &self.sized);
        sums.into_iter().map(|x| x as u64).collect()
    }

    /// Each row with its cell and the logarithm of its weight: the values of all columns, of those that are summed out their first,
    /// and the ends of all bins. There is a row for every node of what is integrated over its bin.
    fn rows(&self, cells: &CellTable, of: &Fit) -> Vec<((usize, f64), Vec<f64>)> {
        let (_, integrated) = cells.in_bins(&of.own());
        let mut rows = vec![];
        for cell in 0..self.count(&self.used) {
            let places = self.places(cell, &self.used);
            let place = |i: usize| places.iter().find(|(a, _)| *a == i).map_or(0, |(_, p)| *p);
            let mut own = vec![((cell, 0.0), vec![])];
            for (i, axis) in self.axes.iter().enumerate() {
                let first = axis.begin(place(i)).unwrap_or(place(i) as f64);
                let nodes = if integrated.contains(&i) { axis.nodes(place(i)) } else { vec![(first, 1.0)] };
                let with = |((cell, weight), row): ((usize, f64), Vec<f64>)| {
                    let one = move |(x, w): &(f64, f64)| ((cell, weight + w.ln()), [row.as_slice(), &[*x]].concat());
                    nodes.iter().map(one).collect::<Vec<_>>()
                };
                own = own.into_iter().flat_map(with).collect();
            }
            let ends = self.axes.iter().enumerate().flat_map(|(i, axis)| {
                let (from, until) = axis.counted(place(i)).unwrap_or((0.0, 0.0));
                [from, until].map(|x| x.clamp(-f64::MAX, f64::MAX))
            });
            let ends: Vec<f64> = ends.collect();
            rows.extend(own.into_iter().map(|(at, row)| (at, [row, ends.clone()].concat())));
        }
        rows
    }

    fn table(&self) -> Table {
        let end = |_| column("", &Type::Real(Range::ALL));
        table(self.axes.iter().map(|a| column(&a.name, &a.ty)).chain((0..2 * self.axes.len()).map(end)).collect())
    }
}

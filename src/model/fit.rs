//! A model of released tables of counts, from which a chain draws: nothing private is left in it.

use super::moments::Scaled;
use super::sums::{self, Summed};
use super::types::VectorType;
use super::{Axes, Axis, ColumnId, Expr, ExprKind, Norms, Observation, ParamId, Parameter, Range, ReleaseId, TableId, Type};
use std::collections::BTreeSet;

/// How long a posterior of released counts is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    pub chains: usize,
    /// Draws of each chain, after the steps that adapt.
    pub draws: usize,
}

impl Sampling {
    /// What a posterior takes that does not say.
    pub const USUAL: Sampling = Sampling { chains: 4, draws: 1000 };

    pub fn total(self) -> usize {
        self.chains.saturating_mul(self.draws)
    }

    /// All draws together: more fill the memory.
    pub const MOST: usize = 40_000;

    /// How many draws of a chain are worth asking for where these are too few; none where there cannot be more.
    pub fn longer(self) -> Option<usize> {
        Some((4 * self.draws).min(Sampling::MOST / self.chains.max(1))).filter(|draws| *draws > self.draws)
    }

    /// What a program has to write for it, each part behind a comma.
    pub fn written(self) -> String {
        let part = |name: &str, n: usize, usual: usize| if n == usual { String::new() } else { format!(", {name} = {n}") };
        part("chains", self.chains, Sampling::USUAL.chains) + &part("draws", self.draws, Sampling::USUAL.draws)
    }
}

/// The posterior of parameters given released counts.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    pub sampling: Sampling,
    /// Are the counts left aside, so that its draws are those of the prior?
    pub prior: bool,
    /// Every parameter of the connected component.
    pub parameters: Vec<Parameter>,
    /// What is kept of a draw, in this order.
    pub released: Vec<ParamId>,
    pub observations: Vec<Observation>,
    pub tables: Vec<CellTable>,
    /// Shares of what the model conditions on and does not know, of parameters that no statement declares.
    pub given: Vec<ParamId>,
    /// The Poisson law of the number of rows, where that is secret.
    pub total: Option<Observation>,
}

/// A released table of counts: one row of `table` for each cell, the last axis fastest.
#[derive(Clone, PartialEq, Debug)]
pub struct CellTable {
    pub table: TableId,
    pub release: ReleaseId,
    /// Whose rows are counted; of a record nobody knows.
    pub rows: Option<TableId>,
    pub axes: Axes,
    /// The released counts.
    pub cells: Expr,
    /// The exact number of rows in each cell of the public axes; of all rows where there is none.
    pub totals: Expr,
    /// Of released moments, how each column was scaled; the axes have no levels then.
    pub moments: Option<Vec<Scaled>>,
    /// Of released sums, what each of them is: the last axes are theirs, without levels.
    pub sums: Vec<Summed>,
}

/// The axis that an outcome is, if its family gives probabilities to bins of it.
fn in_bins<'a>(axes: &'a [Axis], o: &Observation) -> Option<(usize, &'a Axis)> {
    let ExprKind::Column(_, c) = o.outcome.kind else { return None };
    let intervals = o.likelihood.components().iter().all(|(family, _)| family.support.is_binned());
    axes.get(c.0).filter(|_| intervals).map(|a| (c.0, a))
}

impl CellTable {
    /// Does it count rows? Other tables have sums of their columns.
    pub fn has_counts(&self) -> bool {
        self.moments.is_none() && self.sums.is_empty()
    }

    /// The axes that make the groups of released sums.
    pub fn groups(&self) -> &[Axis] {
        self.axes.get(..self.axes.len().saturating_sub(self.sums.len())).unwrap_or_default()
    }

    /// The observation of a number in bins as one of the two ends of its bin: columns that stand behind those of the axes, two for
    /// each of them.
    pub fn between(&self, o: &Observation) -> Observation {
        let Some((c, _)) = in_bins(&self.axes, o) else { return o.clone() };
        let (label, span) = (o.outcome.label, o.outcome.span);
        let first = self.axes.len() + 2 * c;
        let end = |c| Expr { kind: ExprKind::Column(self.table, ColumnId(c)), ty: Type::Real(Range::ALL), label, span };
        let two =
            VectorType { dim: 2, range: Range::ALL, sup: Norms::INFINITE, diam: Norms::INFINITE, levels: None, axes: None, ordered: false };
        let outcome = Expr { kind: ExprKind::List(vec![end(first), end(first + 1)]), ty: Type::Vector(two), label, span };
        Observation { outcome, ..o.clone() }
    }

    /// The axes in bins that are outcomes with open ends, and those that likelihoods read, which are integrated over their bins.
    pub fn in_bins(&self, observations: &[Observation]) -> (Vec<&Axis>, BTreeSet<usize>) {
        let outcomes = observations.iter().filter_map(|o| in_bins(&self.axes, o)).map(|(_, a)| a).collect();
        let read = observations.iter().flat_map(|o| &o.likelihood.args).flat_map(|e| self.columns(e));
        (outcomes, read.filter(|c| self.axes.get(*c).is_some_and(|a| !a.edges.is_empty())).collect())
    }

    /// The places of the axes that an expression mentions.
    pub fn columns(&self, e: &Expr) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        e.walk(&mut |x| {
            if let ExprKind::Column(t, c) = x.kind
                && t == self.table
            {
                found.insert(c.0);
            }
        });
        found
    }

    /// How many rows a likelihood has: cells of the axes that it uses, times the nodes of what is integrated over its bins.
    pub fn rows(&self, observations: &[Observation]) -> usize {
        let (outcomes, given) = self.used(observations);
        let (_, integrated) = self.in_bins(observations);
        let size = |(c, a): (&usize, &Axis)| {
            let nodes = |i| if integrated.contains(c) { a.nodes(i).len() } else { 1 };
            (0..a.levels.len()).map(nodes).sum::<usize>()
        };
        let used = outcomes.iter().chain(&given).filter_map(|c| Some((c, self.axes.get(*c)?)));
        used.map(size).fold(1, usize::saturating_mul)
    }

    /// The places of the axes that are outcomes of a model, and of those that it only conditions on.
    pub fn used(&self, observations: &[Observation]) -> (Vec<usize>, Vec<usize>) {
        let outcomes: BTreeSet<usize> = observations.iter().flat_map(|o| self.columns(&o.outcome)).collect();
        let given: BTreeSet<usize> = observations.iter().flat_map(|o| &o.likelihood.args).flat_map(|e| self.columns(e)).collect();
        let given = given.difference(&outcomes).copied().collect();
        (outcomes.into_iter().collect(), given)
    }
}

impl Fit {
    /// The axes of what it predicts: of counts those that it uses, of sums the groups, and the sums that it observes.
    pub fn predicted(&self) -> Vec<Axis> {
        let Some(table) = self.tables.first() else { return vec![] };
        if table.sums.is_empty() {
            return self.axes().into_iter().filter_map(|i| table.axes.get(i)).cloned().collect();
        }
        let observed: Vec<Summed> = self.observed_sums().into_iter().filter_map(|i| table.sums.get(i)).cloned().collect();
        table.groups().iter().cloned().chain([sums::axis(observed)]).collect()
    }

    /// The places of the released sums that it observes, in their order.
    pub fn observed_sums(&self) -> Vec<usize> {
        let Some(table) = self.tables.first() else { return vec![] };
        let observed: BTreeSet<usize> = self.observations.iter().flat_map(|o| table.columns(&o.outcome)).collect();
        observed.into_iter().filter_map(|c| c.checked_sub(table.groups().len())).collect()
    }

    /// The axes of its table that it uses, in their order.
    pub fn axes(&self) -> Vec<usize> {
        let (outcomes, given) = self.tables.first().map(|t| t.used(&self.own())).unwrap_or_default();
        let mut used = [outcomes, given].concat();
        used.sort_unstable();
        used
    }

    /// Its observations, without those of shares that no statement declares.
    pub fn own(&self) -> Vec<Observation> {
        let added = |o: &&Observation| o.likelihood.args.iter().any(|e| self.given.iter().any(|id| e.mentions(*id)));
        self.observations.iter().filter(|o| !added(o)).cloned().collect()
    }

    /// What it reads that is known only when it runs.
    pub fn parts(&self) -> Vec<&Expr> {
        self.tables.iter().flat_map(|t| [&t.cells, &t.totals]).collect()
    }
}

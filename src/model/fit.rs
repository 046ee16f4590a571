//! A model of released tables of counts, from which a chain draws: nothing private is left in it.

use super::{Axes, Expr, ExprKind, Observation, ParamId, Parameter, ReleaseId, TableId};
use std::collections::BTreeSet;

/// The posterior of parameters given released counts.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// Every parameter of the connected component.
    pub parameters: Vec<Parameter>,
    /// What is kept of a draw, in this order.
    pub released: Vec<ParamId>,
    pub observations: Vec<Observation>,
    pub tables: Vec<CellTable>,
    /// Shares of what the model conditions on and does not know, of parameters that no statement declares.
    pub given: Vec<ParamId>,
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
}

impl CellTable {
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

    /// The places of the axes that are outcomes of a model, and of those that it only conditions on.
    pub fn used(&self, observations: &[Observation]) -> (Vec<usize>, Vec<usize>) {
        let outcomes: BTreeSet<usize> = observations.iter().flat_map(|o| self.columns(&o.outcome)).collect();
        let given: BTreeSet<usize> = observations.iter().flat_map(|o| &o.likelihood.args).flat_map(|e| self.columns(e)).collect();
        let given = given.difference(&outcomes).copied().collect();
        (outcomes.into_iter().collect(), given)
    }
}

impl Fit {
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

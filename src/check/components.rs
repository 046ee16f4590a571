//! From a drawn parameter to its model: the connected component of factors, with one private table.

use super::{Checked, Checker, Stop};
use crate::model::{Model, Observation, ParamId, Records, Relation, Request, RowCount, TableId};
use crate::source::{Diagnostic, Span};
use std::collections::BTreeSet;

impl Checker<'_> {
    /// The model that `wanted` belong to, as declared so far.
    pub(super) fn component(&mut self, wanted: &[ParamId], request: Request, name: &str, span: Span) -> Checked<Model> {
        let (params, observations) = self.closure(wanted, span)?;
        if let Some(o) = observations.iter().find(|o| self.origin(o.table).is_some()) {
            let (cells, at, written) = (self.table_name(o.table), o.span, self.written(span));
            let wanted = written.split_once('(').map_or("p)", |(_, args)| args).to_owned();
            let d = Diagnostic::new("E0209", format!("this model observes `{cells}`, which is released already"))
                .label(at, "released counts")
                .label(span, "nothing private to pay for");
            return self.fail(d.help(("its posterior is free:", format!("output post = posterior({wanted}"))));
        }
        let priors = params.iter().filter_map(|p| self.param(*p)).flat_map(|p| p.prior.args.clone()).collect::<Vec<_>>();
        for e in observations.iter().flat_map(|o| o.likelihood.args.clone()).chain(priors) {
            self.after_releases(&e, "a release")?;
        }
        let is_private = |o: &Observation| self.table(o.table).is_some_and(|t| t.private);
        let (private, public): (Vec<Observation>, Vec<Observation>) = observations.into_iter().partition(is_private);
        let Some(first) = private.first() else {
            if !self.complete {
                return Err(Stop);
            }
            let p = wanted.first().and_then(|p| self.param(*p)).cloned().ok_or(Stop)?;
            return self.fail(
                Diagnostic::new("E0300", format!("no private rows are observed with `{}`", p.name))
                    .label(span, "nothing to learn from")
                    .label(p.span, "declared here")
                    .help(format!("observe a column of a private table: observe y ~ ..({})", p.name)),
            );
        };
        let table = first.table;
        if let Some(other) = private.iter().find(|o| o.table != table) {
            let (a, b) = (self.table_name(table), self.table_name(other.table));
            let (first, other) = (first.span, other.span);
            return self.fail(
                Diagnostic::new("E0105", format!("one model observes both `{a}` and `{b}`"))
                    .label(other, format!("rows of `{b}`"))
                    .label(first, format!("rows of `{a}`"))
                    .cause("a model has one private table: its rows are what a neighbour changes")
                    .help("declare one model for each table, and combine the released draws"),
            );
        }
        let records = self.records(table)?;
        for id in &params {
            if let Some(info) = self.params.get_mut(id.0)
                && info.released.is_none()
            {
                info.released = Some((name.to_string(), span));
            }
        }
        let parameters = params.iter().filter_map(|p| self.param(*p)).cloned().collect();
        Ok(Model { parameters, records, private, public, request })
    }

    /// Joins the components of parameters that share a factor.
    pub(super) fn link(&mut self, first: ParamId, others: &[ParamId]) {
        let root = self.root(first);
        for other in others {
            let other = self.root(*other);
            if let Some(slot) = self.linked.get_mut(other) {
                *slot = root;
            }
        }
    }

    /// The parameter that stands for the component of this one.
    fn root(&mut self, p: ParamId) -> usize {
        let mut at = p.0;
        while let Some(next) = self.linked.get(at).copied().filter(|next| *next != at) {
            // Halves the way for the next one who asks.
            let beyond = self.linked.get(next).copied().unwrap_or(next);
            if let Some(slot) = self.linked.get_mut(at) {
                *slot = beyond;
            }
            at = next;
        }
        at
    }

    /// All parameters and observations linked to `wanted`, in declared order.
    pub(super) fn closure(&mut self, wanted: &[ParamId], span: Span) -> Checked<(Vec<ParamId>, Vec<Observation>)> {
        let roots: BTreeSet<usize> = wanted.iter().map(|p| self.root(*p)).collect();
        let params: Vec<ParamId> = (0..self.params.len()).map(ParamId).filter(|p| roots.contains(&self.root(*p))).collect();
        let tied: Vec<Option<ParamId>> = self.observations.iter().map(|o| o.2).collect();
        let inside: Vec<bool> = tied.into_iter().map(|p| p.is_some_and(|p| roots.contains(&self.root(p)))).collect();
        self.factors(params.len() + inside.iter().filter(|inside| **inside).count(), span)?;
        let observations = self.observations.iter().zip(inside).filter(|(_, inside)| *inside).map(|(o, _)| o.0.clone()).collect();
        Ok((params, observations))
    }

    /// What rules may know of the rows in sight: the whole table, or one group of it.
    pub(super) fn records(&self, table: TableId) -> Checked<Records> {
        let t = self.table(table).ok_or(Stop)?;
        let grouped = self.group.is_some();
        let rows = if grouped || t.relation == Relation::AddRemove { RowCount { at_least: 0, exactly: None } } else { t.rows };
        Ok(Records { table, relation: t.relation, unit_rows: t.unit_rows(), rows })
    }
}

//! From a drawn parameter to its model: the connected component of factors, with one private table.

use super::{Checked, Checker, Stop};
use crate::model::{Model, Observation, ParamId, Records, Relation, Request, RowCount, TableId};
use crate::source::{Diagnostic, Span};

impl Checker<'_> {
    /// The model that `wanted` belong to, as declared so far.
    pub(super) fn component(&mut self, wanted: &[ParamId], request: Request, name: &str, span: Span) -> Checked<Model> {
        let (params, observations) = self.closure(wanted);
        let private: Vec<Observation> = observations.iter().filter(|o| self.table(o.table).is_some_and(|t| t.private)).cloned().collect();
        let public: Vec<Observation> = observations.into_iter().filter(|o| !private.contains(o)).collect();
        let Some(first) = private.first() else {
            if !self.complete {
                return Err(Stop);
            }
            let p = wanted.first().and_then(|p| self.param(*p)).cloned().ok_or(Stop)?;
            return self.fail(
                Diagnostic::new("E0300", format!("no private rows are observed with `{}`", p.name))
                    .label(span, "nothing to learn from")
                    .label(p.span, "declared here")
                    .help(format!("observe y ~ ..({})     with y a column of a private table", p.name)),
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

    /// All parameters and observations linked to `wanted`, in declared order.
    fn closure(&self, wanted: &[ParamId]) -> (Vec<ParamId>, Vec<Observation>) {
        let mut inside = vec![false; self.params.len()];
        for p in wanted {
            if let Some(slot) = inside.get_mut(p.0) {
                *slot = true;
            }
        }
        // Each factor as the set of parameters it ties together.
        let mut factors: Vec<Vec<ParamId>> = vec![];
        for info in &self.params {
            let mut tied = self.latents(info.parameter.prior.args.iter());
            tied.push(info.parameter.id);
            factors.push(tied);
        }
        let observed: Vec<Vec<ParamId>> = self.observations.iter().map(|(o, _)| self.latents(o.likelihood.args.iter())).collect();
        factors.extend(observed.iter().cloned());
        loop {
            let mut grown = false;
            for tied in &factors {
                let touches = tied.iter().any(|p| inside.get(p.0).copied().unwrap_or(false));
                for p in tied.iter().filter(|_| touches) {
                    if let Some(slot) = inside.get_mut(p.0) {
                        grown |= !*slot;
                        *slot = true;
                    }
                }
            }
            if !grown {
                break;
            }
        }
        let is_in = |p: &ParamId| inside.get(p.0).copied().unwrap_or(false);
        let params = self.params.iter().map(|i| i.parameter.id).filter(|p| is_in(p)).collect();
        let observations =
            self.observations.iter().zip(&observed).filter(|(_, tied)| tied.iter().any(is_in)).map(|((o, _), _)| o.clone()).collect();
        (params, observations)
    }

    /// What rules may know of the rows in sight: the whole table, or one group of it.
    pub(super) fn records(&self, table: TableId) -> Checked<Records> {
        let t = self.table(table).ok_or(Stop)?;
        let grouped = self.group.is_some();
        let rows = if grouped || t.relation == Relation::AddRemove { RowCount { at_least: 0, exactly: None } } else { t.rows };
        Ok(Records { table, relation: t.relation, unit_rows: t.unit_rows(), rows })
    }
}

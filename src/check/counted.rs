//! Released tables of counts as tables with a row for each cell: their columns, totals, and what a model conditions on.

use super::expressions::{node, number};
use super::messages::type_text;
use super::predictors::Added;
use super::scope::{Binding, Origin};
use super::tables::in_bin;
use super::{Checked, Checker, Stop, vectors};
use crate::model::fit::CellTable;
use crate::model::record::margins;
use crate::model::sums::{self, Summed};
use crate::model::{
    Axes, Axis, Builtin, Column, ColumnId, DistCall, Expr, ExprKind, Label, Observation, Range, Relation, ReleaseId, RowCount, Table,
    TableId, Type, VectorType,
};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use std::sync::Arc;

impl Checker<'_> {
    /// A table that is read or computed, not declared.
    pub(super) fn derived(&mut self, origin: Origin, name: &str, columns: Vec<Column>, rows: u64, span: Span) -> TableId {
        if let Some(i) = self.origins.iter().position(|o| *o == origin) {
            return TableId(self.program.tables.len() + i);
        }
        self.origins.push(origin);
        let rows = RowCount { at_least: rows, exactly: Some(rows) };
        let (private, relation, count_name) = (false, Relation::ReplaceOne, None);
        self.program.derived.push(Table {
            name: name.into(),
            private,
            relation,
            count_name,
            rows,
            unit: None,
            order: None,
            columns,
            span,
            rows_span: span,
        });
        TableId(self.program.tables.len() + self.program.derived.len() - 1)
    }

    pub(super) fn origin(&self, t: TableId) -> Option<Origin> {
        self.origins.get(t.0.checked_sub(self.program.tables.len())?).copied()
    }

    /// A released table of counts as a table with a row for each cell.
    pub(super) fn cell_table(&mut self, id: ReleaseId, name: &str, span: Span) -> Checked<TableId> {
        let recorded = self.program.records.iter().any(|r| r.id == id);
        let (ty, counted) = self.release(id).map(|r| (r.ty.clone(), r.query.is_some() || recorded)).ok_or(Stop)?;
        // A drawn parameter may have axes too.
        let (Type::Vector(v), true) = (&ty, counted) else { return self.not_a_table(&ty, name, span) };
        let axes = self.axes_of(id);
        if axes.is_empty() {
            return self.not_a_table(&ty, name, span);
        }
        let counts = v.axes.as_ref().is_some_and(|a| sums::columns(a).is_none());
        let rows = self.release(id).and_then(|r| r.query.as_ref()).map(|(rows, _)| *rows);
        let secret = rows.and_then(|t| self.table(t)).filter(|t| t.relation == Relation::AddRemove && counts);
        // A record does not say how the header called it.
        let unknown = self.program.records.iter().any(|r| r.id == id && r.counts.as_ref().is_some_and(|c| c.totals.is_empty()));
        let unnamed = (unknown && counts && axes.iter().all(|a| a.name != "n")).then(|| "n".to_owned());
        let total = secret.and_then(|t| t.count_name.clone()).or(unnamed).map(|name| Axis {
            name,
            ty: Type::Int(Range::new(0.0, f64::INFINITY)),
            levels: Arc::default(),
            public: true,
            edges: vec![],
            sums: vec![],
        });
        let column =
            |a: &Axis| Column { name: a.name.clone(), headers: vec![], public: true, ty: a.ty.clone(), missing: vec![], view: None, span };
        Ok(self.derived(Origin::Cells(id), name, axes.iter().chain(&total).map(column).collect(), v.dim, span))
    }

    /// The columns of the rows behind a released table.
    pub(super) fn axes_of(&self, id: ReleaseId) -> Axes {
        match self.release(id).map(|r| &r.ty) {
            Some(Type::Vector(VectorType { axes: Some(axes), .. })) => {
                sums::columns(axes).map_or_else(|| axes.clone(), |(columns, _)| Arc::new(columns))
            }
            Some(Type::Vector(_)) => self.moment_axes(id).map(|(axes, _)| axes).unwrap_or_default(),
            _ => Axes::default(),
        }
    }

    /// Of released sums, what each of them is; nothing of other tables.
    pub(super) fn sums_of_release(&self, id: ReleaseId) -> Vec<Summed> {
        match self.release(id).map(|r| &r.ty) {
            Some(Type::Vector(VectorType { axes: Some(axes), .. })) => sums::columns(axes).map(|(_, s)| s.to_vec()).unwrap_or_default(),
            _ => vec![],
        }
    }

    fn not_a_table<T>(&mut self, ty: &Type, name: &str, span: Span) -> Checked<T> {
        let d = Diagnostic::new("E0209", format!("`{name}` is not a table of counts")).label(span, type_text(ty));
        self.fail(d.help("a table of counts is released by `histogram`, as in `release cells = histogram(region, vote)`"))
    }

    /// The released table of which an expression is a column, `cells.vote`.
    pub(super) fn counted_column(&mut self, e: &ast::Expr) -> Option<Checked<TableId>> {
        let ast::ExprKind::Field(base, field) = &e.kind else { return None };
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let Binding::Release(id) = self.scopes.find(name)?.binding else { return None };
        self.axes_of(id).iter().any(|a| a.name == field.value).then(|| self.cell_table(id, name, base.span))
    }

    /// A column of the released table whose model is being checked.
    pub(super) fn cell_column(&mut self, name: &str, span: Span) -> Option<Expr> {
        let t = self.observed?;
        let c = self.table(t)?.columns.iter().position(|c| c.name == name)?;
        // Their number is not a column of the rows.
        if matches!(self.origin(t), Some(Origin::Cells(id)) if c >= self.axes_of(id).len()) {
            return None;
        }
        self.column_expr(t, ColumnId(c), span).ok()
    }

    pub(super) fn cells_of(
        &mut self,
        table: TableId,
        id: ReleaseId,
        query: Option<(TableId, Expr)>,
        (at, stated): (Span, bool),
    ) -> Checked<CellTable> {
        let ty = self.release(id).map(|r| r.ty.clone()).ok_or(Stop)?;
        let (axes, moments, sums) = (self.axes_of(id), self.moment_axes(id).map(|(_, scaled)| scaled), self.sums_of_release(id));
        let (rows, totals) = match query {
            of if stated => {
                let none = Type::Vector(vectors::boxed(0, Range::new(0.0, f64::INFINITY), None));
                (of.map(|(rows, _)| rows), Some(node(ExprKind::List(vec![]), none, Label::Public, at)))
            }
            Some((rows, value)) => (Some(rows), self.totals(rows, &value, at)),
            None => (None, self.recorded(id, at)),
        };
        let Some(totals) = totals else {
            let (name, of) = (self.table_name(table), rows.and_then(|t| self.table(t)));
            let what = if sums.is_empty() { "counts" } else { "sums" };
            let d = Diagnostic::new("E0105", format!("`{name}` {what} rows whose number is secret")).label(at, "observed here");
            // Of counts that a release of a posterior makes, the program has no name to observe.
            let named = self.map.slice(at).contains(&format!("{name}."));
            let count = self.table(table).and_then(|t| t.columns.get(axes.len())).map(|c| c.name.clone());
            let count = count.filter(|_| named && moments.is_none() && sums.is_empty());
            let d = d.cause(match sums.is_empty() {
                true if named => "a model of counts needs their total, or a distribution for it",
                true => {
                    "a model of counts needs their total; a distribution for it needs counts with a name: release cells = histogram(..)"
                }
                false => "a model of sums needs the number of rows, which bounds the exposures",
            });
            let public = if count.is_some() { "or make it public:" } else { "make it public:" };
            let d = match count {
                Some(n) => {
                    let (total, lognormal) = (self.fresh_name("total"), "lognormal(7, 1)");
                    d.help((
                        "say what you know of it:",
                        format!("param {total} ~ {lognormal}"),
                        "about 1,100 rows, give or take a factor of e",
                    ))
                    .help(("", format!("observe {name}.{n} ~ poisson({total})")))
                }
                None => d,
            };
            return self.fail(d.help(match of {
                Some(t) => Table::redeclared(Some(t), public, t.public_name(), ""),
                None => "make their number public in the program that releases the counts".into(),
            }));
        };
        Ok(CellTable { table, release: id, rows, axes, cells: node(ExprKind::Released(id), ty, Label::Public, at), totals, moments, sums })
    }

    /// How many rows there are in each cell of the public axes, if that is public.
    fn totals(&self, rows: TableId, histogram: &Expr, at: Span) -> Option<Expr> {
        let public = self.table(rows).is_some_and(|t| t.relation == Relation::ReplaceOne);
        let all = || node(ExprKind::RowCount(rows), Type::Int(self.count_range(rows)), Label::Public, at);
        public.then(|| margins(histogram).unwrap_or_else(all))
    }

    /// The same of a table that an earlier run released.
    fn recorded(&self, id: ReleaseId, at: Span) -> Option<Expr> {
        let counts = self.program.records.iter().find(|r| r.id == id)?.counts.as_ref()?;
        let numbers: Vec<Expr> = counts.totals.iter().map(|x| number(*x, at)).collect();
        let ty = Type::Vector(vectors::boxed(numbers.len() as u64, Range::new(0.0, f64::INFINITY), None));
        (!numbers.is_empty()).then(|| node(ExprKind::List(numbers), ty, Label::Public, at))
    }

    /// Private columns that the model conditions on have shares of their own, which all are as likely: independent exponential
    /// rates, of which only ratios count. Of moments they have a normal law.
    pub(super) fn conditioned(&mut self, table: &CellTable, observations: &[Observation], call: Span) -> Checked<Added> {
        let (_, given) = table.used(observations);
        if let Some(scaled) = &table.moments {
            return self.of_predictors(table, scaled, observations, call);
        }
        if !table.has_counts() || given.iter().all(|c| table.axes.get(*c).is_none_or(|a| a.public)) {
            return Ok(Added::default());
        }
        let axes: Vec<Axis> = given.iter().filter_map(|c| table.axes.get(*c)).cloned().collect();
        let columns = given.iter().map(|c| self.column_expr(table.table, ColumnId(*c), call)).collect::<Checked<Vec<Expr>>>()?;
        let levels = self.cells(&axes, call)?;
        let dim = levels.len() as u64;
        let place = |(x, axis): (Expr, &Axis)| match axis.edges.as_slice() {
            [] => x,
            edges => {
                let (label, places) = (x.label, Type::Int(Range::new(0.0, edges.len() as f64)));
                in_bin(x, edges, places, label, call)
            }
        };
        let columns = columns.into_iter().zip(&axes).map(place).collect();
        let outcome = node(ExprKind::Call(Builtin::Cell, columns), Type::Category(levels.clone()), Label::Row(table.table), call);
        let family = |name| crate::dist::find(name).ok_or(Stop);
        let prior = DistCall { family: family("exponential")?, args: vec![number(1.0, call)], mixed: vec![], span: call };
        let name = self.fresh_name(&format!("rates_of_{}", axes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join("_")));
        let ty = Type::Vector(vectors::boxed(dim, Range::new(0.0, f64::INFINITY), Some(levels)));
        let parameter = self.undeclared(name, ty.clone(), prior, call);
        let rates = node(ExprKind::Param(parameter.id), ty, Label::Latent, call);
        let sum = node(ExprKind::Call(Builtin::VecSum, vec![rates.clone()]), Type::Real(Range::ALL), Label::Latent, call);
        let shares = Type::Vector(vectors::boxed(dim, Range::UNIT, None));
        let shares = node(ExprKind::Call(Builtin::Div, vec![rates, sum]), shares, Label::Latent, call);
        let likelihood = DistCall { family: family("categorical")?, args: vec![shares], mixed: vec![], span: call };
        Ok((vec![parameter], vec![Observation { table: table.table, outcome, likelihood, span: call }]))
    }
}

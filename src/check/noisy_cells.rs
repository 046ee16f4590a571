//! `release post = posterior(m, u) using noisy_cells`: the joint histogram of the columns that a model names, and its posterior given
//! that; `using noisy_moments`, their sums and products.

use super::expressions::node;
use super::messages::type_text;
use super::releases::Clauses;
use super::scope::Binding;
use super::tables::in_bin;
use super::{Checked, Checker, Stop};
use crate::model::{
    AggregateQuery, ColumnId, DistCall, Expr, ExprKind, Label, MechanismChoice, MechanismKind, Observation, ParamId, Query, Range, Step,
    TableId, Type, bins,
};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::collections::BTreeSet;

/// Bins of a real number: enough that slopes are not flattened.
const BINS: f64 = 20.0;
/// An int with more values than this is counted in bins where it is not an outcome.
const VALUES: f64 = 40.0;
/// Bins of such an int, at least.
const LEAST: f64 = 16.0;

impl Checker<'_> {
    /// The release of the cells, and the output of the posterior.
    pub(super) fn noisy_cells(&mut self, r: &ast::Release, span: Span) -> Checked<Vec<Step>> {
        self.price(span)?;
        self.room()?;
        self.outside_blocks("posterior", r.query.span)?;
        let clauses = self.clauses(r)?;
        let word = if let MechanismKind::Named { name, .. } = &clauses.mechanism.kind { name.clone() } else { String::new() };
        let clauses = Clauses { mechanism: self.noise_of_cells(r, clauses.mechanism)?, ..clauses };
        let ids: Vec<ParamId> = self.asked("posterior", &r.query.args, r.query.span)?.0.into_iter().map(|(_, p)| p).collect();
        let (_, observations) = self.closure(&ids, r.query.span)?;
        let private = |o: &&Observation| self.table(o.table).is_some_and(|t| t.private);
        let rows: Vec<Observation> = observations.iter().filter(private).cloned().collect();
        let mut steps = vec![];
        if let Some(table) = rows.first().map(|o| o.table) {
            let rows: Vec<Observation> = rows.into_iter().filter(|o| o.table == table).collect();
            let columns = self.counted_columns(table, &rows)?;
            let sums = match word.as_str() {
                "noisy_moments" => true,
                "noisy_cells" | "geometric" => false,
                _ => self.has_moments(table, &columns, &rows),
            };
            let cells =
                if sums { self.moments_of(table, &columns, r.query.span)? } else { self.counts_of(table, &columns, &rows, r.query.span)? };
            let records = self.records(table)?;
            let sensitivity = super::sensitivity::sensitivity(&cells, &records);
            let name = ast::Name::new(self.fresh_name(&format!("{}_{}", r.name.value, if sums { "sums" } else { "cells" })), r.name.span);
            let (ty, query) = (cells.ty.clone(), Query::Aggregate(AggregateQuery { table, value: cells, sensitivity, records }));
            let step = self.released(&name, (query, ty, r.query.span), clauses, span)?;
            let Step::Release(release) = &step else { return Err(Stop) };
            let counts = self.cell_table(release.id, &name.value, r.query.span)?;
            steps.push(step);
            // From here on the model is one of the counts: nothing can draw from its rows again.
            let of = |o: &Observation| rows.iter().any(|r| r == o);
            let moved = |o: &Observation| of(o).then(|| of_counts(o, (table, &columns), counts));
            for place in &mut self.observations {
                if let Some(moved) = moved(&place.0) {
                    place.0 = moved;
                }
            }
        }
        steps.push(self.fit(&r.name, ("posterior", &r.query.args), r.query.span, span)?);
        Ok(steps)
    }

    /// Is it the posterior of one of several parameters of a model that moments determine? No other release gives that.
    pub(super) fn of_moments(&mut self, r: &ast::Release) -> bool {
        let mut own = r.query.args.iter().filter(|a| a.name.is_none()).map(|a| &a.value.kind);
        let (Some(ast::ExprKind::Name(name)), None) = (own.next(), own.next()) else { return false };
        let Some(Binding::Param(p)) = self.scopes.find(name).map(|e| e.binding.clone()) else { return false };
        let Ok((parameters, observations)) = self.closure(&[p], r.query.span) else { return false };
        let Some(table) = observations.first().map(|o| o.table).filter(|_| parameters.len() > 1) else { return false };
        let private = self.table(table).is_some_and(|t| t.private);
        let columns: Vec<ColumnId> = columns_in(table, &observations).into_iter().collect();
        let plain = |o: &Observation| o.table == table && matches!(o.outcome.kind, ExprKind::Column(..));
        private && observations.iter().all(plain) && self.has_moments(table, &columns, &observations)
    }

    /// `using noisy_cells` leaves the noise to the budget.
    fn noise_of_cells(&mut self, r: &ast::Release, choice: MechanismChoice) -> Checked<MechanismChoice> {
        match &choice.kind {
            MechanismKind::Named { name, args } if matches!(name.as_str(), "noisy_cells" | "noisy_moments") => {
                if let Some(arg) = args.first() {
                    let d = Diagnostic::new("E0208", format!("`{name}` takes no arguments")).label(arg.span, "not known");
                    let help = Help::from(("bins of your own, and more:", "release cells = histogram(bin(age, width = 5), vote)"));
                    return self.fail(d.help(help).help(("", "observe cells.vote ~ ..", "then output post = posterior(..)")));
                }
                Ok(MechanismChoice { kind: MechanismKind::Auto, span: r.using.as_ref().map(|u| u.span), ..choice })
            }
            _ => Ok(choice),
        }
    }

    /// The columns that a model names, in the order of the table.
    fn counted_columns(&mut self, table: TableId, rows: &[Observation]) -> Checked<Vec<ColumnId>> {
        let found = columns_in(table, rows);
        match rows.iter().find(|o| !matches!(o.outcome.kind, ExprKind::Column(..))) {
            None => Ok(found.into_iter().collect()),
            Some(o) => {
                let d = Diagnostic::new("E0209", "noisy cells count columns").label(o.outcome.span, "computed from columns");
                let y = self.written(o.outcome.span);
                let d = d.help(("count it yourself:", format!("release cells = histogram({y})")));
                self.fail(d.help(("", format!("observe cells.{y} ~ .."), "then output post = posterior(..)")))
            }
        }
    }

    /// Their sums and products.
    fn moments_of(&mut self, table: TableId, columns: &[ColumnId], call: Span) -> Checked<Expr> {
        let mut all = vec![];
        for c in columns {
            all.push(self.column_expr(table, *c, call)?);
        }
        let value = self.sums_of(&all, call)?;
        match value.label {
            Label::Aggregate(_) => Ok(value),
            _ => {
                let d =
                    Diagnostic::new("E0209", "this model observes public columns alone").label(call, "nothing to pay for, and no noise");
                self.fail(d.help("a posterior of noisy moments needs a private column"))
            }
        }
    }

    /// Their joint histogram.
    fn counts_of(&mut self, table: TableId, columns: &[ColumnId], rows: &[Observation], call: Span) -> Checked<Expr> {
        let mut axes = vec![];
        for c in columns {
            let x = self.column_expr(table, *c, call)?;
            let outcome = rows.iter().any(|o| o.outcome.kind == x.kind);
            let edges = match &x.ty {
                Type::Bool | Type::Category(_) => vec![],
                Type::Int(r) if r.is_finite() && (outcome || r.width() < VALUES) => vec![],
                Type::Int(r) if r.is_finite() => whole_edges(*r),
                Type::Real(r) if r.is_finite() => bins::edges(*r, r.width() / BINS, BINS as u64 + 1).unwrap_or_default(),
                other => {
                    let (what, column) = (type_text(other), self.column(table, *c).cloned().ok_or(Stop)?);
                    let d = Diagnostic::new("E0202", format!("`{}` has no bounds, so its values cannot be counted", column.name));
                    let d = d.label(column.span, what).label(call, "a posterior of noisy cells");
                    return self.fail(d.help(("declare bounds:", format!("{}: real in [0, 100]", column.name))));
                }
            };
            let places = Type::Int(Range::new(0.0, edges.len() as f64));
            axes.push(if edges.is_empty() { x } else { in_bin(x, &edges, places, Label::Row(table), call) });
        }
        let cells = self.aggregate("histogram", axes, call)?;
        if cells.label == Label::Public {
            let d = Diagnostic::new("E0209", "this model observes public columns alone").label(call, "nothing to pay for, and no noise");
            return self.fail(d.help("a posterior of noisy cells needs a private column"));
        }
        Ok(cells)
    }
}

/// The columns of a table that these likelihoods name.
fn columns_in(table: TableId, rows: &[Observation]) -> BTreeSet<ColumnId> {
    let mut found = BTreeSet::new();
    for e in rows.iter().flat_map(|o| o.likelihood.args.iter().chain([&o.outcome])) {
        e.walk(&mut |x| {
            if let ExprKind::Column(t, c) = x.kind
                && t == table
            {
                found.insert(c);
            }
        });
    }
    found
}

fn whole_edges(r: Range) -> Vec<f64> {
    let width = (r.width() / LEAST).floor().max(1.0);
    let mut edges = bins::edges(r, width, u64::MAX).unwrap_or_default();
    // A last bin of one whole number begins at the upper bound.
    if edges.last().copied().unwrap_or(r.lo) + width == r.hi {
        edges.push(r.hi);
    }
    edges
}

/// The observation of a row as one of the counts: each column is the axis in its place.
fn of_counts(o: &Observation, of: (TableId, &[ColumnId]), counts: TableId) -> Observation {
    let args = o.likelihood.args.iter().map(|e| moved(e, of, counts)).collect();
    let likelihood = DistCall { args, ..o.likelihood.clone() };
    Observation { table: counts, outcome: moved(&o.outcome, of, counts), likelihood, span: o.span }
}

fn moved(e: &Expr, of: (TableId, &[ColumnId]), to: TableId) -> Expr {
    let all = |items: &[Expr]| items.iter().map(|i| moved(i, of, to)).collect();
    let one = |e: &Expr| Box::new(moved(e, of, to));
    let (table, columns) = of;
    let kind = match &e.kind {
        ExprKind::Column(t, c) if *t == table => ExprKind::Column(to, ColumnId(columns.iter().position(|k| k == c).unwrap_or(0))),
        ExprKind::List(items) => ExprKind::List(all(items)),
        ExprKind::Call(f, items) => ExprKind::Call(*f, all(items)),
        ExprKind::If(c, a, b) => ExprKind::If(one(c), one(a), one(b)),
        ExprKind::Index(a, i) => ExprKind::Index(one(a), one(i)),
        ExprKind::Field(a, name) => ExprKind::Field(one(a), name.clone()),
        kind => kind.clone(),
    };
    let label = match e.label {
        Label::Row(t) if t == table => Label::Row(to),
        Label::Mix(t) if t == table => Label::Mix(to),
        label => label,
    };
    node(kind, e.ty.clone(), label, e.span)
}

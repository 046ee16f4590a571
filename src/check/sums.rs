//! `release s = sums(died, years, groups = sex)`: noisy sums of columns in groups, and Poisson rates with an exposure that follow from them.

use super::expressions::{node, some};
use super::messages::type_text;
use super::{Checked, Checker};
use crate::model::fit::CellTable;
use crate::model::sums::{self, Summed, degrees};
use crate::model::{AggregateQuery, Axis, Builtin, Expr, ExprKind, Label, Observation, Query, Step, TableId, Type, VectorType};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::sync::Arc;

const SIGNATURE: &str = "sums(died, years, groups = sex)";

impl Checker<'_> {
    pub(super) fn is_sums(&self, r: &ast::Release) -> bool {
        matches!(r.query.path.as_slice(), [word] if word.value == "sums" && self.scopes.find("sums").is_none())
    }

    /// It is one sum of vectors, `sum([(sex == f) * [died, years / 15], (sex == m) * [died, years / 15]])`: a row is in one group.
    pub(super) fn sums(&mut self, r: &ast::Release, span: Span) -> Checked<Step> {
        self.price(span)?;
        self.room()?;
        let at = r.query.span;
        let clauses = self.clauses(r)?;
        let (mut by, mut parts, mut summed) = (vec![], vec![], vec![]);
        for arg in &r.query.args {
            match &arg.name {
                Some(name) if name.value == "groups" => {
                    if !by.is_empty() {
                        let d = Diagnostic::new("E0208", "`groups` is given twice").label(name.span, "the second time");
                        return self.fail(d.help("several columns make one list: groups = [sex, age]"));
                    }
                    by = match &arg.value.kind {
                        ast::ExprKind::List(items) => self.exprs(items)?,
                        _ => vec![self.expr(&arg.value)?],
                    };
                }
                name => {
                    let (part, one) = self.summed(name.as_ref(), &arg.value)?;
                    parts.push(part);
                    summed.push(one);
                }
            }
        }
        if parts.is_empty() {
            return self.fail(self.arity("`sums`", SIGNATURE, at));
        }
        let mut axes = vec![];
        for x in &by {
            axes.push(self.group_axis(x)?);
        }
        axes.push(sums::axis(summed.clone()));
        let names: Vec<&str> = axes.iter().map(|a| a.name.as_str()).chain(summed.iter().map(|s| s.name.as_str())).collect();
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, n)| names.iter().take(*i).any(|m| m == *n)) {
            let d = Diagnostic::new("E0207", format!("two columns of these sums are named `{twice}`")).label(at, "one table");
            return self.fail(d.help("leave out one of them, or give it a name of its own"));
        }
        let cells = self.cells(&axes, at)?;
        let value = self.in_groups(by.iter().zip(&axes), parts, at)?;
        let value = self.aggregate("sum", vec![value], at)?;
        let (Label::Aggregate(table), Type::Vector(v)) = (value.label, &value.ty) else {
            let d = Diagnostic::new("E0209", "sums of public columns are public already").label(at, "costs nothing, and needs no noise");
            return self.fail(d.help("name at least one private column"));
        };
        let ty = Type::Vector(VectorType { axes: Some(Arc::new(axes)), levels: Some(cells), ..v.clone() });
        let value = Expr { ty: ty.clone(), ..value };
        self.group_table(table, at)?;
        let records = self.records(table)?;
        let sensitivity = super::sensitivity::sensitivity(&value, &records);
        let query = Query::Aggregate(AggregateQuery { table, value, sensitivity, records });
        self.released(&r.name, (query, ty, at), clauses, span)
    }

    /// A value of every row between 0 and 1, and what it is a part of.
    fn summed(&mut self, name: Option<&ast::Name>, written: &ast::Expr) -> Checked<(Expr, Summed)> {
        let x = self.expr(written)?;
        let own = match (&x.kind, &written.kind) {
            (ExprKind::Column(t, c), _) => self.column(*t, *c).map(|c| c.name.clone()),
            (_, ast::ExprKind::Name(n)) => Some(n.clone()),
            _ => None,
        };
        let Some(name) = name.map(|n| n.value.clone()).or(own) else {
            let text = self.written(x.span);
            let d = Diagnostic::new("E0209", "this sum has no name").label(x.span, "neither a column nor a name");
            return self.fail(d.help(Help::from(("name it:", format!("total = {text}"))).over(x.span)));
        };
        let Label::Row(_) = x.label else {
            let d = Diagnostic::new("E0209", "`sums` adds up values of rows").label(x.span, "not a value of every row");
            return self.fail(d.help(format!("columns and what is computed from them, as in `{SIGNATURE}`")));
        };
        let Some(range) = x.ty.range().filter(|_| x.ty.is_scalar_number()) else {
            let d = Diagnostic::new("E0209", "`sums` takes numbers").label(x.span, type_text(&x.ty));
            return self.fail(d.help("a bool counts as 0 or 1; of a category, release a histogram"));
        };
        if !range.is_finite() {
            let d = Diagnostic::new("E0202", format!("`{name}` has no bounds, so one person can move its sum without limit"));
            return self.fail(d.label(x.span, type_text(&x.ty)).help(("declare bounds:", format!("{name}: real in [0, 100]"))));
        }
        if range.lo < 0.0 || range.hi == 0.0 {
            let d = Diagnostic::new("E0209", "`sums` adds up numbers of events and exposures, from 0 on");
            let d = d.label(x.span, type_text(&x.ty));
            return self.fail(d.help("sums of other numbers: release m = moments(x, y)"));
        }
        let one = Summed::new(&name, range.hi, matches!(x.ty, Type::Bool | Type::Int(_)));
        let at = x.span;
        Ok((self.centred(x, 0.0, one.unit, at)?, one))
    }

    pub(super) fn group_axis(&mut self, x: &Expr) -> Checked<Axis> {
        if let ExprKind::Column(t, c) = x.kind
            && let Type::Category(_) | Type::Bool = &x.ty
            && let Some(name) = self.column(t, c).map(|c| c.name.clone())
        {
            let (public, levels) = (self.neighbours_agree(t, std::slice::from_ref(x)), self.bins_of(x)?);
            return Ok(Axis { name, ty: x.ty.clone(), levels, public, edges: vec![], sums: vec![] });
        }
        let d = Diagnostic::new("E0209", "the groups are the levels of a category, or a bool").label(x.span, type_text(&x.ty));
        let name = if let ExprKind::Column(t, c) = x.kind { self.column(t, c).map(|c| c.name.clone()) } else { None };
        self.fail(match name {
            Some(name) => d.help(("declare it as one, whose levels are those of the file:", format!("{name}: category {{no, yes}}"))),
            None => d.help("name columns that are declared as categories or bools"),
        })
    }

    /// The parts, once for every combination of levels of the columns.
    pub(super) fn in_groups<'a>(&mut self, by: impl Iterator<Item = (&'a Expr, &'a Axis)>, parts: Vec<Expr>, at: Span) -> Checked<Expr> {
        let row = self.list(parts, at)?;
        let mut groups: Vec<Option<Expr>> = vec![None];
        for (x, axis) in by {
            let mut finer = vec![];
            for outer in &groups {
                for i in 0..axis.levels.len() {
                    let level = if x.ty == Type::Bool { ExprKind::Bool(i == 1) } else { ExprKind::Level(i) };
                    let level = node(level, x.ty.clone(), Label::Public, at);
                    let own = self.apply(Builtin::Eq, vec![x.clone(), level], at)?;
                    finer.push(Some(match outer {
                        None => own,
                        // A bool, and no number between 0 and 1: two groups move by a whole row each.
                        Some(outer) => self.apply(Builtin::Binary(crate::model::Binary::And), vec![outer.clone(), own], at)?,
                    }));
                }
            }
            groups = finer;
        }
        let mut items = vec![];
        for group in groups {
            let Some(group) = group else { return Ok(row) };
            items.push(self.apply(Builtin::Mul, vec![group, row.clone()], at)?);
        }
        self.list(items, at)
    }

    /// A sum of events is Poisson if each row's number is, with a rate times exposures that are summed as well.
    pub(super) fn rate_of_sums(&mut self, o: &Observation, axes: &[Axis]) -> Checked<()> {
        let table = self.table_name(o.table);
        let place = if let ExprKind::Column(_, c) = o.outcome.kind { Some(c.0) } else { None };
        let is_sum = |i: usize| axes.get(i).is_some_and(|a| a.levels.is_empty());
        let first =
            |kept: &dyn Fn(&Axis) -> bool| axes.iter().enumerate().find(|(i, a)| is_sum(*i) && kept(a)).map(|(_, a)| a.name.clone());
        let (events, exposure) = (first(&|a| matches!(a.ty, Type::Int(_))), first(&|a| matches!(a.ty, Type::Real(_))));
        let (events, exposure) = (events.unwrap_or("events".into()), exposure.unwrap_or("exposure".into()));
        let as_it_goes = format!("each term is a rate times an exposure, as in `observe {table}.{events} ~ poisson(rate * {exposure})`");
        let axis = place.and_then(|i| axes.get(i));
        if !place.is_some_and(|i| is_sum(i) && axis.is_some_and(|a| matches!(a.ty, Type::Int(_)))) {
            let d =
                Diagnostic::new("E0209", "a model of sums observes a sum of whole numbers").label(o.outcome.span, type_text(&o.outcome.ty));
            return self.fail(d.help(as_it_goes));
        }
        let ("poisson", [mean]) = (o.likelihood.family.name, o.likelihood.args.as_slice()) else {
            let d = Diagnostic::new("E0209", "sums do not determine this model").label(o.likelihood.span, "not a Poisson distribution");
            let d = d.cause("a sum of Poisson numbers is Poisson; of other families the sums of rows say too little");
            return self.fail(d.help(as_it_goes));
        };
        let own = |e: &Expr, t: TableId| if let ExprKind::Column(of, c) = e.kind { of == t && is_sum(c.0) } else { false };
        let mut itself = false;
        mean.walk(&mut |e| itself |= matches!(e.kind, ExprKind::Column(of, c) if of == o.table && Some(c.0) == place));
        if degrees(mean, &|e| own(e, o.table)) != Some((1, 1)) || itself {
            let d = Diagnostic::new("E0209", "sums do not determine this rate").label(mean.span, "not a sum of rates times exposures");
            let d = d.cause("the sum of a + b * years over rows is not known from that of years: each term has one exposure as a factor");
            return self.fail(d.help(as_it_goes));
        }
        Ok(())
    }

    /// What is an exposure has no law of its own.
    pub(super) fn exposures_apart(&mut self, table: &CellTable, observations: &[Observation]) -> Checked<()> {
        if table.sums.is_empty() {
            return Ok(());
        }
        let observed = |o: &&Observation| o.table == table.table;
        let outcomes: Vec<usize> = observations.iter().filter(observed).flat_map(|o| table.columns(&o.outcome)).collect();
        let read = |o: &&Observation| o.likelihood.args.iter().flat_map(|e| table.columns(e)).any(|c| outcomes.contains(&c));
        let Some(o) = observations.iter().filter(observed).find(read) else { return Ok(()) };
        let names = some(outcomes.iter().filter_map(|c| table.axes.get(*c)).map(|a| a.name.as_str()));
        let d = Diagnostic::new("E0209", "an exposure of sums is not observed itself").label(o.likelihood.span, "reads what is observed");
        self.fail(d.label(o.outcome.span, format!("observed: {names}")).help("give both outcomes an exposure that has no law"))
    }
}

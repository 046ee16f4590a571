//! `mean(x, where = c)`, `sum(x, where = c)`, `count(a, where = c)`: of the rows where something holds; `mean(x, groups = g)`: of every group.

use super::design::centre;
use super::expressions::{node, number};
use super::messages::type_text;
use super::releases::Clauses;
use super::scope::Binding;
use super::{Checked, Checker, Stop, vectors};
use crate::model::{
    AggregateQuery, BudgetKind, Builtin, Expr, ExprKind, Label, Levels, MechanismChoice, MechanismKind, Query, Range, Relation, Step,
    TableId, Type,
};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::rc::Rc;

/// How much a row counts beside its number in [-1, 1], where one is replaced. In the L1 norm 1 adds nothing to the sensitivity, and
/// in the L2 norm any weight up to the root of 3.
const REPLACED: (f64, f64) = (1.0, 1.7);
/// Where rows come and go: what makes the error of a quotient least, of numbers spread evenly.
const ADDED: (f64, f64) = (0.7, 0.75);
/// Where a row that is replaced may change its group: the same in the L1 norm; in the L2 norm 1 adds nothing to the sensitivity.
const MOVED: (f64, f64) = (0.7, 1.0);

impl Checker<'_> {
    /// `release m = mean(x, where = c)`
    pub(super) fn of_some_rows(&self, r: &ast::Release) -> bool {
        let own = matches!(r.query.path.as_slice(), [word] if word.value == "mean" && self.scopes.find("mean").is_none());
        let condition = |a: &ast::Arg| a.name.as_ref().is_some_and(|n| n.value == "where");
        own && matches!(r.query.args.as_slice(), [of, c] if of.name.is_none() && condition(c))
    }

    /// `release m = mean(x, groups = region)`
    pub(super) fn is_by_groups(&self, r: &ast::Release) -> bool {
        let own = matches!(r.query.path.as_slice(), [word] if word.value == "mean" && self.scopes.find("mean").is_none());
        let groups = |a: &ast::Arg| a.name.as_ref().is_some_and(|n| n.value == "groups");
        own && matches!(r.query.args.as_slice(), [of, g] if of.name.is_none() && groups(g))
    }

    fn condition(&mut self, c: &ast::Expr) -> Checked<Expr> {
        let c = self.expr(c)?;
        if c.ty == Type::Bool && matches!(c.label, Label::Row(_)) {
            return Ok(c);
        }
        let what = if c.ty == Type::Bool { "the same for every row".into() } else { type_text(&c.ty) };
        let d = Diagnostic::new("E0209", "`where` says which rows count: a bool of the row").label(c.span, what);
        self.fail(d.help("write a condition, as in mean(pay, where = age >= 65)"))
    }

    /// A sum or count in an expression; of a mean only what is public.
    pub(super) fn of_some(&mut self, name: &str, of: &ast::Expr, condition: &ast::Expr, span: Span) -> Checked<Expr> {
        let (x, c) = (self.expr(of)?, self.condition(condition)?);
        let product = |this: &mut Self, x: Expr| this.apply(Builtin::Mul, vec![c.clone(), x], span);
        if name == "count" {
            if x.ty != Type::Bool {
                let d = Diagnostic::new("E0209", "`count` counts the rows where a bool holds").label(x.span, type_text(&x.ty));
                return self.fail(d.help(format!("count({})", self.written(c.span))));
            }
            let both = self.apply(Builtin::Binary(crate::model::Binary::And), vec![c, x], span)?;
            return self.aggregate("count", vec![both], span);
        }
        let kept = product(self, x)?;
        let sum = self.aggregate("sum", vec![kept], span)?;
        if name == "sum" {
            return Ok(sum);
        }
        let count = self.aggregate("count", vec![c], span)?;
        if sum.label != Label::Public {
            let written = self.written(span);
            let d = Diagnostic::new("E0209", "`mean(.., where = ..)` is the whole value of a release").label(span, "inside another value");
            return self.fail(d.help(("give it a name first:", format!("release average = {written}"))));
        }
        self.apply(Builtin::Div, vec![sum, count], span)
    }

    /// A noisy sum and a noisy count in one release, and what they say of the mean; where the count is public, the sum alone.
    pub(super) fn mean_of_some(&mut self, r: &ast::Release, span: Span) -> Checked<Vec<Step>> {
        let ([of, condition], at) = (r.query.args.as_slice(), r.query.span) else { return Err(Stop) };
        let clauses = self.begun(r, span)?;
        let (x, c) = (self.expr(&of.value)?, self.condition(&condition.value)?);
        let Averaged { table, range, scaled, .. } = self.averaged(x, std::slice::from_ref(&c), at)?;
        let count = self.aggregate("count", vec![c.clone()], at)?;
        let public = count.label == Label::Public;
        let replaced = self.table(table).is_some_and(|t| t.relation == Relation::ReplaceOne);
        let weight = number(self.weight(if replaced { REPLACED } else { ADDED }, &clauses.mechanism), at);
        let kept = if public { scaled } else { self.list(vec![scaled, weight.clone()], at)? };
        let row = self.apply(Builtin::Mul, vec![c, kept], at)?;
        let parts = self.aggregate("sum", vec![row], at)?;
        if parts.label == Label::Public {
            let (name, written) = (&r.name.value, self.written(at));
            let d = Diagnostic::new("E0209", "this value is public already").label(at, "costs nothing, and needs no noise");
            return self.fail(d.help(("output it:", format!("output {name} = {written}"))));
        }
        let by = if public { count } else { weight };
        self.mean_of_parts(r, (table, parts, clauses), (by, range, None), span)
    }

    /// The same in every group, in one release: a row is in one of them.
    pub(super) fn mean_by_groups(&mut self, r: &ast::Release, span: Span) -> Checked<Vec<Step>> {
        let ([of, groups], at) = (r.query.args.as_slice(), r.query.span) else { return Err(Stop) };
        let clauses = self.begun(r, span)?;
        let x = self.expr(&of.value)?;
        let by = match &groups.value.kind {
            ast::ExprKind::List(items) => self.exprs(items)?,
            _ => vec![self.expr(&groups.value)?],
        };
        let axes = by.iter().map(|g| self.group_axis(g)).collect::<Checked<Vec<_>>>()?;
        if axes.is_empty() {
            let d = Diagnostic::new("E0209", "`groups` names no column").label(groups.value.span, "an empty list");
            return self.fail(d.help(Help::from(("the mean of all rows:", format!("mean({})", self.written(of.value.span)))).over(at)));
        }
        if let Some((_, twice)) = axes.iter().enumerate().find(|(i, a)| axes.iter().take(*i).any(|b| b.name == a.name)) {
            let d = Diagnostic::new("E0207", format!("two groups are those of `{}`", twice.name)).label(groups.value.span, "one list");
            return self.fail(d.help("leave out one of them"));
        }
        let levels = self.cells(&axes, at)?;
        let Averaged { table, range, scaled } = self.averaged(x, &by, at)?;
        let public = axes.iter().all(|a| a.public);
        let replaced = self.table(table).is_some_and(|t| t.relation == Relation::ReplaceOne);
        let weight = number(self.weight(if replaced { MOVED } else { ADDED }, &clauses.mechanism), at);
        let (row, by_what) = match public {
            true => (vec![scaled], self.aggregate("histogram", by.clone(), at)?),
            false => (vec![scaled, weight.clone()], weight),
        };
        let value = self.in_groups(by.iter().zip(&axes), row, at)?;
        let parts = self.aggregate("sum", vec![value], at)?;
        if parts.label == Label::Public {
            let d = Diagnostic::new("E0209", "means of public columns are public already").label(at, "costs nothing, and needs no noise");
            return self.fail(d.help("name a private column"));
        }
        self.mean_of_parts(r, (table, parts, clauses), (by_what, range, Some(levels)), span)
    }

    fn begun(&mut self, r: &ast::Release, span: Span) -> Checked<Clauses> {
        self.price(span)?;
        self.room()?;
        self.outside_blocks("mean", r.query.span)?;
        self.clauses(r)
    }

    /// The number of a row that is averaged, moved and scaled to [-1, 1].
    fn averaged(&mut self, x: Expr, beside: &[Expr], at: Span) -> Checked<Averaged> {
        let label = self.join_all(&[std::slice::from_ref(&x), beside].concat(), at)?;
        let range = x.ty.range().filter(|_| x.ty.is_scalar_number());
        let (Label::Row(table), Some(range)) = (label, range) else {
            let d = Diagnostic::new("E0209", "`mean` of some rows averages one number a row").label(x.span, type_text(&x.ty));
            return self.fail(d.help("write it as in: release average = mean(pay, where = age >= 65)"));
        };
        let Some((middle, half)) = centre(range).filter(|_| range.is_finite()) else {
            let sum = self.aggregate("sum", vec![x], at)?;
            return self.unbounded_query(&sum, None);
        };
        Ok(Averaged { table, range, scaled: self.centred(x, middle, half, at)? })
    }

    /// The parts as a release, and what they say as an output.
    fn mean_of_parts(
        &mut self,
        r: &ast::Release,
        (table, value, clauses): (TableId, Expr, Clauses),
        (by, range, groups): (Expr, Range, Option<Levels>),
        span: Span,
    ) -> Checked<Vec<Step>> {
        let at = r.query.span;
        let records = self.records(table)?;
        let sensitivity = super::sensitivity::sensitivity(&value, &records);
        let name = ast::Name::new(self.fresh_name(&format!("{}_parts", r.name.value)), r.name.span);
        let (ty, query) = (value.ty.clone(), Query::Aggregate(AggregateQuery { table, value, sensitivity, records }));
        let step = self.released(&name, (query, ty, at), clauses, span)?;
        let Step::Release(release) = &step else { return Err(Stop) };
        let released = node(ExprKind::Released(release.id), release.ty.clone(), Label::Public, at);
        let value = quotient_of([released, by], range, groups, at);
        self.define(&r.name, Binding::Value(Rc::new(value.clone())))?;
        Ok(vec![step, Step::Output { id: None, name: r.name.value.clone(), value, shown: true, span }])
    }

    /// `quotient(parts, 1.7, 0, 200)`: what a released sum of numbers scaled to [-1, 1], and their count times 1.7, say of their mean;
    /// with names behind, of as many groups.
    pub(super) fn quotient(&mut self, [parts, by, lo, hi]: [&ast::Expr; 4], groups: &[ast::Arg], span: Span) -> Checked<Expr> {
        let (parts, by) = (self.expr(parts)?, self.expr(by)?);
        let range = Range::new(self.public_constant(lo, "a bound")?, self.public_constant(hi, "a bound")?);
        let released = matches!(parts.kind, ExprKind::Released(id) if self.release(id).is_some_and(|r| r.query.is_some()));
        let name = |a: &ast::Arg| if let ast::ExprKind::Text(name) = &a.value.kind { Some(name.clone()) } else { None };
        let names: Option<Vec<String>> = groups.iter().map(name).collect();
        let count = groups.len().max(1) as u64;
        let dim = |e: &Expr| if let Type::Vector(v) = &e.ty { v.dim } else { u64::from(e.ty.is_scalar_number()) };
        let two = dim(&parts) == 2 * count && by.constant().is_some_and(|x| x > 0.0);
        let one = dim(&parts) == count && by.label == Label::Public && dim(&by) == count;
        if let (Some(names), true) = (names, released && (two || one) && range.is_finite() && range.lo < range.hi) {
            let names = if names.is_empty() { None } else { Some(self.listed(names)) };
            return Ok(quotient_of([parts, by], range, names, span));
        }
        let d = Diagnostic::new("E0209", "`quotient` takes a released noisy sum and count").label(span, "not such a call");
        self.fail(d.help("write it as in: release average = mean(pay, where = age >= 65)"))
    }

    fn weight(&self, (l1, l2): (f64, f64), choice: &MechanismChoice) -> f64 {
        match &choice.kind {
            MechanismKind::Named { name, .. } if name == "gaussian" => l2,
            MechanismKind::Named { .. } => l1,
            _ => match self.program.budget.as_ref().map(|b| &b.kind) {
                Some(BudgetKind::Zcdp(_) | BudgetKind::Gdp(_) | BudgetKind::Rdp(_)) => l2,
                _ => l1,
            },
        }
    }
}

/// What is averaged: the number of a row, scaled.
struct Averaged {
    table: TableId,
    range: Range,
    scaled: Expr,
}

fn quotient_of([parts, by]: [Expr; 2], range: Range, groups: Option<Levels>, span: Span) -> Expr {
    let text = |name: &String| node(ExprKind::Text(name.clone()), Type::Text, Label::Public, span);
    let names: Vec<Expr> = groups.iter().flat_map(|g| g.iter()).map(text).collect();
    let args = [vec![parts, by, number(range.lo, span), number(range.hi, span)], names].concat();
    let ty = match groups {
        None => Type::Real(range),
        Some(levels) => Type::Vector(vectors::boxed(levels.len() as u64, range, Some(levels))),
    };
    node(ExprKind::Call(Builtin::Quotient, args), Type::Posterior(Box::new(ty)), Label::Public, span)
}

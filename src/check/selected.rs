//! `mean(x, where = c)`, `sum(x, where = c)`, `count(a, where = c)`: of the rows where something holds.

use super::design::centre;
use super::expressions::{node, number};
use super::messages::type_text;
use super::releases::Clauses;
use super::scope::Binding;
use super::{Checked, Checker, Stop};
use crate::model::{
    AggregateQuery, BudgetKind, Builtin, Expr, ExprKind, Label, MechanismChoice, MechanismKind, Query, Range, Relation, Step, TableId, Type,
};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use std::rc::Rc;

/// How much a row counts beside its number in [-1, 1], where one is replaced. In the L1 norm 1 adds nothing to the sensitivity, and
/// in the L2 norm any weight up to the root of 3.
const REPLACED: (f64, f64) = (1.0, 1.7);
/// Where rows come and go: what makes the error of a quotient least, of numbers spread evenly.
const ADDED: (f64, f64) = (0.7, 0.75);

impl Checker<'_> {
    /// `release m = mean(x, where = c)`
    pub(super) fn of_some_rows(&self, r: &ast::Release) -> bool {
        let own = matches!(r.query.path.as_slice(), [word] if word.value == "mean" && self.scopes.find("mean").is_none());
        let condition = |a: &ast::Arg| a.name.as_ref().is_some_and(|n| n.value == "where");
        own && matches!(r.query.args.as_slice(), [of, c] if of.name.is_none() && condition(c))
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
        self.price(span)?;
        self.room()?;
        self.outside_blocks("mean", at)?;
        let clauses = self.clauses(r)?;
        let (x, c) = (self.expr(&of.value)?, self.condition(&condition.value)?);
        let label = self.join_all(&[x.clone(), c.clone()], at)?;
        let range = x.ty.range().filter(|_| x.ty.is_scalar_number());
        let (Label::Row(table), Some(range)) = (label, range) else {
            let d = Diagnostic::new("E0209", "`mean(.., where = ..)` averages one number a row").label(x.span, type_text(&x.ty));
            return self.fail(d.help("write it as in: release average = mean(pay, where = age >= 65)"));
        };
        let relation = self.table(table).map_or(Relation::AddRemove, |t| t.relation);
        let Some((middle, half)) = centre(range).filter(|_| range.is_finite()) else {
            let sum = self.aggregate("sum", vec![x], at)?;
            return self.unbounded_query(&sum, None);
        };
        let scaled = self.centred(x, middle, half, at)?;
        let count = self.aggregate("count", vec![c.clone()], at)?;
        let public = count.label == Label::Public;
        let weight = number(weight(relation, &clauses.mechanism, self.program.budget.as_ref().map(|b| &b.kind)), at);
        let kept = if public { scaled } else { self.list(vec![scaled, weight.clone()], at)? };
        let row = self.apply(Builtin::Mul, vec![c, kept], at)?;
        let parts = self.aggregate("sum", vec![row], at)?;
        if parts.label == Label::Public {
            let (name, written) = (&r.name.value, self.written(at));
            let d = Diagnostic::new("E0209", "this value is public already").label(at, "costs nothing, and needs no noise");
            return self.fail(d.help(("output it:", format!("output {name} = {written}"))));
        }
        let step = self.parts_of_mean(r, (table, parts), clauses, span)?;
        let Step::Release(release) = &step else { return Err(Stop) };
        let released = node(ExprKind::Released(release.id), release.ty.clone(), Label::Public, at);
        let value = self.quotient_of([released, if public { count } else { weight }], range, at);
        self.define(&r.name, Binding::Value(Rc::new(value.clone())))?;
        Ok(vec![step, Step::Output { id: None, name: r.name.value.clone(), value, shown: true, span }])
    }

    fn parts_of_mean(&mut self, r: &ast::Release, (table, value): (TableId, Expr), clauses: Clauses, span: Span) -> Checked<Step> {
        let records = self.records(table)?;
        let sensitivity = super::sensitivity::sensitivity(&value, &records);
        let name = ast::Name::new(self.fresh_name(&format!("{}_parts", r.name.value)), r.name.span);
        let (ty, query) = (value.ty.clone(), Query::Aggregate(AggregateQuery { table, value, sensitivity, records }));
        self.released(&name, (query, ty, r.query.span), clauses, span)
    }

    fn quotient_of(&self, [parts, by]: [Expr; 2], range: Range, span: Span) -> Expr {
        let args = vec![parts, by, number(range.lo, span), number(range.hi, span)];
        node(ExprKind::Call(Builtin::Quotient, args), Type::Posterior(Box::new(Type::Real(range))), Label::Public, span)
    }

    /// `quotient(parts, 1.7, 0, 200)`: what a released sum of numbers scaled to [-1, 1], and their count times 1.7, say of their mean.
    pub(super) fn quotient(&mut self, [parts, by, lo, hi]: [&ast::Expr; 4], span: Span) -> Checked<Expr> {
        let (parts, by) = (self.expr(parts)?, self.expr(by)?);
        let range = Range::new(self.public_constant(lo, "a bound")?, self.public_constant(hi, "a bound")?);
        let released = matches!(parts.kind, ExprKind::Released(id) if self.release(id).is_some_and(|r| r.query.is_some()));
        let two = matches!(&parts.ty, Type::Vector(v) if v.dim == 2) && by.constant().is_some_and(|x| x > 0.0);
        let one = parts.ty.is_scalar_number() && by.label == Label::Public && by.ty.is_scalar_number();
        if released && (two || one) && range.is_finite() && range.lo < range.hi {
            return Ok(self.quotient_of([parts, by], range, span));
        }
        let d = Diagnostic::new("E0209", "`quotient` takes a released noisy sum and count").label(span, "not such a call");
        self.fail(d.help("write it as in: release average = mean(pay, where = age >= 65)"))
    }
}

fn weight(relation: Relation, choice: &MechanismChoice, budget: Option<&BudgetKind>) -> f64 {
    let (l1, l2) = if relation == Relation::ReplaceOne { REPLACED } else { ADDED };
    match &choice.kind {
        MechanismKind::Named { name, .. } if name == "gaussian" => l2,
        MechanismKind::Named { .. } => l1,
        _ if matches!(budget, Some(BudgetKind::Zcdp(_) | BudgetKind::Gdp(_) | BudgetKind::Rdp(_))) => l2,
        _ => l1,
    }
}

//! `predict(post, age = 40, sex = female)`: what released weights say of a new row, whose columns are named.

use super::expressions::{node, number, some};
use super::messages::type_text;
use super::scope::Origin;
use super::{Checked, Checker, Stop, vectors};
use crate::model::expr::addends::{apart, apart_in_exponent};
use crate::model::{
    Builtin, Column, ColumnId, DistCall, Expr, ExprKind, Label, Levels, Model, Observation, ParamId, Range, ReleaseId, Request, TableId,
    Type, Unary, View,
};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::collections::BTreeMap;

/// How one vector of released weights predicts rows.
#[derive(Clone)]
pub(super) struct Predictor {
    outcome: Outcome,
    /// The features of a row.
    features: Expr,
    /// What its predictor has beside `dot(w, x)`.
    added: Option<Expr>,
}

/// What is said of the outcome of a row.
#[derive(Clone)]
enum Outcome {
    /// Its mean, which is a function of the predictor; the predictor itself for a normal law.
    Mean(Option<Unary>),
    /// The chances of its levels.
    Classes(Levels),
}

/// The likelihood of the rows of a model as `dot(w, x)` and what is added, where w is what is released.
pub(super) fn predictor(model: &Model) -> Option<Predictor> {
    let id: ParamId = match &model.request {
        Request::Posterior { parameter } => *parameter,
        Request::Draw { parameters, times: 1 } => *parameters.first().filter(|_| parameters.len() == 1)?,
        Request::Draw { .. } => return None,
    };
    let [o] = model.private.as_slice() else { return None };
    weights_of(o, id)
}

/// The likelihood of a row as `dot(w, x)` of these weights.
fn weights_of(o: &Observation, id: ParamId) -> Option<Predictor> {
    let DistCall { family, args, .. } = &o.likelihood;
    let mut using = args.iter().filter(|e| e.mentions(id));
    let (Some(of), None) = (using.next(), using.next()) else { return None };
    let dotted = |e: &Expr| {
        let ExprKind::Call(Builtin::Dot, pair) = &e.kind else { return None };
        match pair.as_slice() {
            [w, x] | [x, w] if w.is_param(id) && !x.mentions(id) => Some(x.clone()),
            _ => None,
        }
    };
    let (mean, (features, added)) = match (family.name, &o.outcome.ty, &of.kind) {
        ("categorical_logit", Type::Category(levels), ExprKind::Call(Builtin::MatVec, pair)) => {
            let [w, x] = pair.as_slice() else { return None };
            let features = (w.is_param(id) && !x.mentions(id)).then(|| x.clone())?;
            return Some(Predictor { outcome: Outcome::Classes(levels.clone()), features, added: None });
        }
        ("bernoulli_logit" | "binomial_logit", ..) => (Some(Unary::InvLogit), apart(of, dotted)?),
        ("bernoulli_probit", ..) => (Some(Unary::Phi), apart(of, dotted)?),
        ("bernoulli_cloglog", ..) => (Some(Unary::InvCloglog), apart(of, dotted)?),
        ("poisson_log", ..) => (Some(Unary::Exp), apart(of, dotted)?),
        ("poisson" | "neg_binomial_2", ..) => (Some(Unary::Exp), apart_in_exponent(of, dotted)?),
        ("normal", ..) => (None, apart(of, dotted)?),
        _ => return None,
    };
    let latent = |e: &Expr| e.mentions(id) || matches!(e.label, Label::Latent | Label::Mix(_));
    if added.as_ref().is_some_and(latent) { None } else { Some(Predictor { outcome: Outcome::Mean(mean), features, added }) }
}

impl Checker<'_> {
    pub(super) fn predict(&mut self, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        let Some((post, row)) = args.split_first().filter(|(post, row)| post.name.is_none() && !row.is_empty()) else {
            let d = self.arity("`predict`", "predict(post, age = 40, sex = female)", span);
            return self.fail(d);
        };
        let weights = self.expr(&post.value)?;
        let id = if let ExprKind::Released(id) = weights.kind { Some(id) } else { None };
        let (weights, found) = match id.and_then(|id| self.drawn_weights(id, weights.span)) {
            Some((drawn, predictor)) => (drawn, Some(predictor)),
            None => (weights, id.and_then(|id| self.release(id)).and_then(|r| r.predictor.clone())),
        };
        let Some(predictor) = found else {
            let d =
                Diagnostic::new("E0209", "`predict` needs released weights of a regression").label(weights.span, type_text(&weights.ty));
            let d = d.cause("rows are bernoulli_logit, binomial_logit, bernoulli_probit, bernoulli_cloglog, poisson_log, neg_binomial_2 or normal of dot(w, x), with at most numbers of the row added to it, or categorical_logit of W * x");
            return self.fail(d.help("release the weights of a design first, as `dpm explain predict` shows"));
        };
        let (x, added) = match row {
            [one] if one.name.is_none() && predictor.added.is_none() => (self.features_given(&one.value, &predictor)?, None),
            [one, more] if one.name.is_none() && more.name.is_none() && predictor.added.is_some() => {
                let added = self.expr(&more.value)?;
                if added.constant().is_none() {
                    let d = Diagnostic::new("E0209", "what is added to the predictor of a new row is a constant");
                    return self.fail(d.label(added.span, type_text(&added.ty)));
                }
                (self.features_given(&one.value, &predictor)?, Some(added))
            }
            _ => self.features_of_row(row, &predictor, span)?,
        };
        let mean = match predictor.outcome {
            Outcome::Mean(f) => f,
            Outcome::Classes(levels) => {
                let chances = Type::Vector(vectors::boxed(levels.len() as u64, Range::UNIT, Some(levels)));
                let ty = if let Type::Posterior(_) = weights.ty { Type::Posterior(Box::new(chances)) } else { chances };
                return Ok(node(ExprKind::Call(Builtin::PredictClasses, vec![weights, x]), ty, Label::Public, span));
            }
        };
        if let Type::Posterior(_) = weights.ty {
            let range = match mean {
                None => Range::ALL,
                Some(Unary::Exp) => Range::new(0.0, f64::INFINITY),
                Some(_) => Range::UNIT,
            };
            let ty = Type::Posterior(Box::new(Type::Real(range)));
            let args = [weights, x].into_iter().chain(added).collect();
            return Ok(node(ExprKind::Call(Builtin::Predict(mean), args), ty, Label::Public, span));
        }
        let mut linear = self.dot(vec![weights, x], span)?;
        if let Some(added) = added {
            linear = self.apply(Builtin::Add, vec![linear, added], span)?;
        }
        match mean {
            Some(f) => self.apply(Builtin::Unary(f), vec![linear], span),
            None => Ok(linear),
        }
    }

    /// Weights of a posterior that chains sample, which are numbers of every draw.
    fn drawn_weights(&mut self, id: ReleaseId, span: Span) -> Option<(Expr, Predictor)> {
        let fit = self.release(id)?.fit.clone()?;
        let own = fit.own();
        let of = |(i, p): (usize, &ParamId)| own.iter().find_map(|o| Some((i, weights_of(o, *p)?)));
        let (place, predictor) = fit.released.iter().enumerate().find_map(of)?;
        let draws = self.origins.iter().position(|o| *o == Origin::Draws(id))?;
        let column = self.column_expr(TableId(self.program.tables.len() + draws), ColumnId(place), span).ok()?;
        Some((column, predictor))
    }

    /// Features as a list.
    fn features_given(&mut self, x: &ast::Expr, predictor: &Predictor) -> Checked<Expr> {
        let x = self.expr(x)?;
        match (&x.ty, &predictor.features.ty) {
            (Type::Vector(v), Type::Vector(w)) if v.dim == w.dim && x.label == Label::Public => Ok(x),
            _ => {
                let d = Diagnostic::new("E0209", "`predict` takes the columns of a row by name, or its features in a public list");
                self.fail(d.label(x.span, type_text(&x.ty)).help("predict(post, age = 40, sex = female)"))
            }
        }
    }

    /// The features of a row, and what its predictor has beside them.
    fn features_of_row(&mut self, row: &[ast::Arg], predictor: &Predictor, span: Span) -> Checked<(Expr, Option<Expr>)> {
        let mut needed: Vec<(TableId, ColumnId)> = vec![];
        for e in std::iter::once(&predictor.features).chain(&predictor.added) {
            e.walk(&mut |e| {
                if let ExprKind::Column(t, c) = e.kind
                    && !needed.contains(&(t, c))
                {
                    needed.push((t, c));
                }
            });
        }
        let columns: Vec<((TableId, ColumnId), Column)> =
            needed.into_iter().filter_map(|(t, c)| Some(((t, c), self.column(t, c)?.clone()))).collect();
        let mut values = BTreeMap::new();
        if let Some(arg) = row.iter().find(|arg| arg.name.is_none()) {
            let also = if predictor.added.is_some() { ", then what is added to the predictor" } else { "" };
            let d =
                Diagnostic::new("E0209", format!("`predict` takes the columns of a row by name, or its features in a public list{also}"));
            return self.fail(d.label(arg.span, "a column without its name").help("predict(post, age = 40, sex = female)"));
        }
        for arg in row {
            let name = arg.name.as_ref().map_or("", |n| n.value.as_str());
            let Some((id, column)) = columns.iter().find(|(_, c)| c.name == name && c.view.is_none()) else {
                let d = Diagnostic::new("E0206", "the design of these weights has no such column")
                    .label(arg.span, "not a column of the design");
                return self.fail(d.help(format!("columns: {}", some(columns.iter().map(|(_, c)| c.name.as_str())))));
            };
            if values.insert(*id, self.value_of(column, &arg.value)?).is_some() {
                let d = Diagnostic::new("E0208", format!("`{name}` is given twice")).label(arg.span, "the second time");
                return self.fail(d.help("leave out one of the two"));
            }
        }
        for (id, column) in &columns {
            // No cell of a new row is missing.
            if column.view.is_some_and(|(_, v)| v == View::Missing) {
                values.entry(*id).or_insert_with(|| vec![0.0]);
            }
        }
        if let Some((_, missing)) = columns.iter().find(|(id, _)| !values.contains_key(id)) {
            let d =
                Diagnostic::new("E0208", format!("this row needs a value of `{}`", missing.name)).label(span, "the prediction needs it");
            let d = d.label(missing.span, "a column that the prediction is made from");
            return self.fail(d.help(match missing.view {
                None => format!("predict(.., {} = {})", missing.name, example(&missing.ty)),
                Some(_) => "parts of dates are not predicted from by name: write the features as a list".into(),
            }));
        }
        let of = |e: &Expr| value(e, &values).filter(|v| v.iter().all(|x| x.is_finite()));
        let (features, added) = (of(&predictor.features), predictor.added.as_ref().map(of));
        let (Some(numbers), Some(added)) = (features, added.map_or(Some(None), |a| a.map(|v| v.first().copied()))) else {
            let d =
                Diagnostic::new("E0209", "these features cannot be computed from the columns of one row").label(span, "not computed here");
            return self.fail(d.help("write the features as a public list"));
        };
        // Nothing times a negative number is -0.
        let items = numbers.into_iter().map(|x| number(x + 0.0, span)).collect();
        Ok((self.list(items, span)?, added.map(|x| number(x + 0.0, span))))
    }

    /// A constant inside the domain of a column, as its numbers.
    fn value_of(&mut self, column: &Column, e: &ast::Expr) -> Checked<Vec<f64>> {
        if let (Type::Category(levels), ast::ExprKind::Name(name) | ast::ExprKind::Text(name)) = (&column.ty, &e.kind) {
            let level = self.level(name, levels, e.span)?;
            return if let ExprKind::Level(i) = level.kind { Ok(vec![i as f64]) } else { Err(Stop) };
        }
        let checked = self.expr(e)?;
        let numbers = match &checked.kind {
            ExprKind::List(items) => items.iter().map(Expr::constant).collect(),
            _ => checked.constant().map(|x| vec![x]),
        };
        let dim = if let Type::Vector(v) = &column.ty { v.dim as usize } else { 1 };
        let inside =
            |x: &f64| column.ty.range().is_some_and(|r| r.contains(*x)) && (x.fract() == 0.0 || !matches!(column.ty, Type::Int(_)));
        match numbers.filter(|v: &Vec<f64>| v.len() == dim && v.iter().all(inside) && !matches!(column.ty, Type::Category(_))) {
            Some(numbers) => Ok(numbers),
            None => {
                let d =
                    Diagnostic::new("E0201", format!("`{}` has no such value", column.name)).label(e.span, "not a constant of its domain");
                let d = d.label(column.span, type_text(&column.ty));
                self.fail(d.help(Help::from(example(&column.ty)).over(e.span)))
            }
        }
    }
}

/// A value of a column.
fn example(ty: &Type) -> String {
    match ty {
        Type::Bool => "true".into(),
        Type::Category(levels) => levels.first().map_or_else(|| "level".into(), |l| crate::model::print::level_text(l)),
        Type::Int(r) | Type::Real(r) if r.is_finite() => crate::model::print::number((0.5 * (r.lo + r.hi)).round().clamp(r.lo, r.hi)),
        _ => "0".into(),
    }
}

/// An expression of one row whose columns are known; a level is its place. `None` for what no design is made of.
fn value(e: &Expr, row: &BTreeMap<(TableId, ColumnId), Vec<f64>>) -> Option<Vec<f64>> {
    let of = |e: &Expr| value(e, row);
    let one = |e: &Expr| of(e).filter(|v| v.len() == 1).and_then(|v| v.first().copied());
    match &e.kind {
        ExprKind::Number(x) => Some(vec![*x]),
        ExprKind::Bool(b) => Some(vec![f64::from(u8::from(*b))]),
        ExprKind::Level(i) => Some(vec![*i as f64]),
        ExprKind::Column(t, c) => row.get(&(*t, *c)).cloned(),
        ExprKind::List(items) | ExprKind::Call(Builtin::Append, items) => {
            items.iter().map(of).collect::<Option<Vec<_>>>().map(|parts| parts.concat())
        }
        ExprKind::If(c, a, b) => of(if one(c)? != 0.0 { a } else { b }),
        ExprKind::Index(v, i) => {
            let at = one(i)? - if matches!(i.ty, Type::Category(_)) { 0.0 } else { 1.0 };
            of(v)?.get(at as usize).map(|x| vec![*x])
        }
        ExprKind::Call(Builtin::Unary(f), args) => {
            let [a] = args.as_slice() else { return None };
            Some(of(a)?.into_iter().map(f.facts().value).collect())
        }
        ExprKind::Call(Builtin::Binary(f), args) => {
            let [a, b] = args.as_slice() else { return None };
            match (of(a)?.as_slice(), of(b)?.as_slice()) {
                (a, [y]) => Some(a.iter().map(|x| f.value(*x, *y)).collect()),
                ([x], b) => Some(b.iter().map(|y| f.value(*x, *y)).collect()),
                (a, b) => (a.len() == b.len()).then(|| a.iter().zip(b).map(|(x, y)| f.value(*x, *y)).collect()),
            }
        }
        ExprKind::Call(Builtin::Clip, args) => {
            let [x, lo, hi] = args.as_slice() else { return None };
            let (lo, hi) = (one(lo)?, one(hi)?);
            Some(of(x)?.into_iter().map(|x| x.min(hi).max(lo)).collect())
        }
        _ => None,
    }
}

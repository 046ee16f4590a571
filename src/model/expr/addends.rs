//! The predictor of a row as the one term that matters and the sum of the others, and the mean of a count as the exponential of a predictor.

use crate::model::{Builtin, Expr, ExprKind, Label, Range, Type, Unary};
use crate::numeric::Interval;

/// The one term of a sum that `of` reads, and the sum of the others; `None` where there is none, several, or it is taken off.
pub fn apart<'a, T>(e: &'a Expr, of: impl Fn(&'a Expr) -> Option<T>) -> Option<(T, Option<Expr>)> {
    let (mut terms, mut found, mut rest) = (vec![], None, None);
    list(e, false, &mut terms);
    for (term, off) in terms {
        match of(term) {
            Some(_) if off || found.is_some() => return None,
            Some(read) => found = Some(read),
            None => rest = Some(joined(rest, term, off)),
        }
    }
    Some((found?, rest))
}

fn list<'a>(e: &'a Expr, off: bool, out: &mut Vec<(&'a Expr, bool)>) {
    match &e.kind {
        ExprKind::Call(f @ (Builtin::Add | Builtin::Sub), args) => {
            if let [a, b] = args.as_slice() {
                list(a, off, out);
                list(b, off != (*f == Builtin::Sub), out);
            }
        }
        _ => out.push((e, off)),
    }
}

/// A sum with one more term, or one taken off.
fn joined(sum: Option<Expr>, term: &Expr, off: bool) -> Expr {
    match (sum, off) {
        (None, false) => term.clone(),
        (None, true) => call(Builtin::Neg, vec![term.clone()], -range(term)),
        (Some(sum), false) => {
            let all = range(&sum) + range(term);
            call(Builtin::Add, vec![sum, term.clone()], all)
        }
        (Some(sum), true) => {
            let all = range(&sum) - range(term);
            call(Builtin::Sub, vec![sum, term.clone()], all)
        }
    }
}

/// The same of the exponent of `exp(t)` or `a * exp(t)`, a above 0: log(a) is one of the others.
pub fn apart_in_exponent<'a, T>(mean: &'a Expr, of: impl Fn(&'a Expr) -> Option<T>) -> Option<(T, Option<Expr>)> {
    let (t, factor) = exponent(mean)?;
    let (found, rest) = apart(t, of)?;
    Some((
        found,
        match factor {
            Some(log) => Some(joined(rest, &log, false)),
            None => rest,
        },
    ))
}

/// Of `exp(t)` or `a * exp(t)` with a above 0: t, and log(a).
fn exponent(mean: &Expr) -> Option<(&Expr, Option<Expr>)> {
    let inner = |e: &Expr| matches!(e.kind, ExprKind::Call(Builtin::Unary(Unary::Exp), _));
    match &mean.kind {
        ExprKind::Call(Builtin::Unary(Unary::Exp), args) => args.first().map(|t| (t, None)),
        ExprKind::Call(Builtin::Mul, args) => {
            let [a, b] = args.as_slice() else { return None };
            let (of, a) = if inner(a) { (a, b) } else { (b, a) };
            let part = range(a);
            let (t, _) = exponent(of).filter(|_| inner(of))?;
            (part.lo > 0.0).then(|| (t, Some(call(Builtin::Unary(Unary::Log), vec![a.clone()], part.ln()))))
        }
        _ => None,
    }
}

fn range(e: &Expr) -> Interval {
    e.ty.range().map_or(Interval::ENTIRE, |r| Interval::new(r.lo, r.hi))
}

fn call(f: Builtin, args: Vec<Expr>, range: Interval) -> Expr {
    let label = args.iter().map(|a| a.label).find(|l| *l != Label::Public).unwrap_or(Label::Public);
    let span = args.first().map_or(crate::source::Span::default(), |a| a.span);
    Expr { kind: ExprKind::Call(f, args), ty: Type::Real(Range::new(range.lo, range.hi)), label, span }
}

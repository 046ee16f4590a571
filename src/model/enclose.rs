//! What an argument of a likelihood can be: interval arithmetic over columns, parameters and public values, ends outward.

use super::{Builtin, Expr, ExprKind, Label};
use crate::numeric::Interval;

/// An interval that holds every value of a scalar, or every component of a vector.
///
/// Columns, parameters and public values lie in their declared types; what is computed from them lies in what interval
/// arithmetic says, and anywhere where this file knows no formula.
pub fn enclose(e: &Expr) -> Interval {
    let declared = e.ty.range().map_or(Interval::ENTIRE, |r| Interval::new(r.lo, r.hi));
    if let Some(x) = e.constant() {
        return Interval::new(x, x);
    }
    if matches!(e.label, Label::Row(_) | Label::Public | Label::Aggregate(_)) {
        return declared;
    }
    match &e.kind {
        ExprKind::If(_, a, b) => enclose(a).hull(enclose(b)),
        ExprKind::Index(base, _) => enclose(base),
        ExprKind::List(items) => items.iter().map(enclose).reduce(Interval::hull).unwrap_or(Interval::ENTIRE),
        ExprKind::Call(f, args) => match (f, args.as_slice()) {
            (Builtin::Unary(f), [x]) => (f.facts().enclose)(enclose(x)),
            (Builtin::Binary(f), [a, b]) => f.enclose(enclose(a), enclose(b)),
            (Builtin::Clip, [x, lo, hi]) => {
                let (x, lo, hi) = (enclose(x), enclose(lo), enclose(hi));
                Interval::new(x.lo.max(lo.lo).min(hi.lo), x.hi.max(lo.hi).min(hi.hi))
            }
            _ => Interval::ENTIRE,
        },
        _ => declared,
    }
}

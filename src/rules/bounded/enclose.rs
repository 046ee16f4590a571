//! What an argument of a likelihood can be: interval arithmetic over columns, parameters and public values, ends outward.

use crate::model::{Builtin, Expr, ExprKind, Label};
use crate::numeric::Interval;

/// An interval that holds every value of a scalar, or every component of a vector.
///
/// Columns, parameters and public values lie in their declared types; what is computed from them lies in what interval
/// arithmetic says, and anywhere where this file knows no formula.
pub(super) fn enclose(e: &Expr) -> Interval {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Range, Type};
    use crate::rules::testing as t;

    fn apply(f: Builtin, args: Vec<Expr>) -> Expr {
        t::expr(ExprKind::Call(f, args), Type::Real(Range::ALL), Label::Latent)
    }

    #[test]
    fn scales_keep_their_lower_ends() {
        let s = || t::param(0, Type::real(-1.0, 2.0));
        let e = enclose(&apply(Builtin::Exp, vec![s()]));
        assert!(e.lo <= (-1.0_f64).exp() && e.lo > 0.3678 && e.hi >= 2.0_f64.exp() && e.hi < 7.39);
        let sum = enclose(&apply(Builtin::Add, vec![t::number(0.5), apply(Builtin::Exp, vec![t::param(0, Type::Real(Range::ALL))])]));
        assert_eq!(sum, Interval::new(0.5, f64::INFINITY));
        assert_eq!(enclose(&apply(Builtin::Max, vec![s(), t::number(0.25)])), Interval::new(0.25, 2.0));
        assert_eq!(enclose(&apply(Builtin::Clip, vec![s(), t::number(0.0), t::number(1.0)])), Interval::new(0.0, 1.0));
        assert_eq!(enclose(&apply(Builtin::Div, vec![t::number(1.0), s()])), Interval::ENTIRE);
        let power = |x: Expr, k: f64| enclose(&apply(Builtin::Pow, vec![x, t::number(k)]));
        let free = || t::param(0, Type::Real(Range::ALL));
        assert_eq!(power(free(), 2.0), Interval::new(0.0, f64::INFINITY));
        assert_eq!(power(free(), 3.0), Interval::ENTIRE);
        let square = power(t::param(0, Type::real(-3.0, -2.0)), 2.0);
        assert!(square.lo <= 4.0 && square.lo > 3.999 && square.hi >= 9.0 && square.hi < 9.001);
        assert_eq!(power(free(), 0.5), Interval::ENTIRE);
        // A function without a formula here may be anything.
        let other = t::expr(ExprKind::Call(Builtin::Norm, vec![s()]), Type::real(0.5, 1.0), Label::Latent);
        assert_eq!(enclose(&other), Interval::ENTIRE);
    }
}

//! What an argument of a likelihood can be: interval arithmetic over columns, parameters and public values, ends outward.

use crate::model::{Builtin, Expr, ExprKind, Label};
use crate::numeric::Interval;
use crate::numeric::round::{add_down, add_up};

/// An interval that holds every value of a scalar, or every component of a vector.
///
/// Columns, parameters and public values lie in their declared types; what is computed from them lies in what interval
/// arithmetic says, and anywhere where this file knows no formula.
pub(super) fn enclose(e: &Expr) -> Interval {
    let declared = e.ty.range().map_or(Interval::ENTIRE, |r| Interval::new(r.lo, r.hi));
    if matches!(e.label, Label::Row(_) | Label::Public | Label::Aggregate(_)) {
        return declared;
    }
    match &e.kind {
        ExprKind::If(_, a, b) => enclose(a).hull(enclose(b)),
        ExprKind::Index(base, _) => enclose(base),
        ExprKind::Call(f, args) => call(*f, args).unwrap_or(Interval::ENTIRE),
        ExprKind::List(items) => items.iter().map(enclose).reduce(Interval::hull).unwrap_or(Interval::ENTIRE),
        _ => declared,
    }
}

fn sum(a: Interval, b: Interval) -> Interval {
    Interval::new(add_down(a.lo, b.lo), add_up(a.hi, b.hi))
}

fn call(f: Builtin, args: &[Expr]) -> Option<Interval> {
    let at = |i: usize| args.get(i).map(enclose);
    let one = Interval::ONE;
    Some(match f {
        Builtin::Neg => -at(0)?,
        // Exact sums stay: `1 + exp(t)` is at least 1.
        Builtin::Add => sum(at(0)?, at(1)?),
        Builtin::Sub => sum(at(0)?, -at(1)?),
        Builtin::Mul => at(0)? * at(1)?,
        Builtin::Div => at(0)? / at(1)?,
        Builtin::Exp => at(0)?.exp(),
        Builtin::Log => at(0)?.ln(),
        Builtin::Sqrt => at(0)?.sqrt(),
        Builtin::Abs => absolute(at(0)?),
        Builtin::Pow => power(at(0)?, args.get(1)?.constant()?)?,
        Builtin::Relu => at(0)?.max(Interval::ZERO),
        Builtin::Max => at(0)?.max(at(1)?),
        Builtin::Min => -(-at(0)?).max(-at(1)?),
        Builtin::Clip => {
            let (x, lo, hi) = (at(0)?, at(1)?, at(2)?);
            Interval::new(x.lo.max(lo.lo).min(hi.lo), x.hi.max(lo.hi).min(hi.hi))
        }
        Builtin::InvLogit => one / (one + (-at(0)?).exp()),
        Builtin::Tanh => Interval::new(-1.0, 1.0),
        _ => return None,
    })
}

fn absolute(x: Interval) -> Interval {
    let least = if x.lo <= 0.0 && x.hi >= 0.0 { 0.0 } else { x.lo.abs().min(x.hi.abs()) };
    Interval::new(least, x.magnitude())
}

/// Largest exponent of a power that is multiplied out.
const MOST_FACTORS: f64 = 64.0;

/// Whole powers; the even ones are those of the absolute value.
fn power(x: Interval, exponent: f64) -> Option<Interval> {
    if exponent.fract() != 0.0 || !(1.0..=MOST_FACTORS).contains(&exponent) {
        return None;
    }
    let base = if exponent % 2.0 == 0.0 { absolute(x) } else { x };
    let all = (0..exponent as u32).fold(Interval::ONE, |all, _| all * base);
    Some(if exponent % 2.0 == 0.0 { all.non_negative() } else { all })
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
        let other = t::expr(ExprKind::Call(Builtin::Floor, vec![s()]), Type::real(0.5, 1.0), Label::Latent);
        assert_eq!(enclose(&other), Interval::ENTIRE);
    }
}

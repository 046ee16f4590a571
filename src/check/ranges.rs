//! Interval arithmetic on declared ranges: what a row expression can be, and where it can fail.
//!
//! End points are computed in the same double arithmetic as the row evaluator. Rounding is monotone, so a value computed
//! from arguments inside their ranges lies inside the computed range; the evaluator clamps to it as well.

use crate::model::{Builtin, Range};

/// Why an operation is not total on its argument ranges.
pub enum Partial {
    /// What the argument would have to be: "an argument above 0".
    Needs(&'static str),
}

fn hull(points: impl IntoIterator<Item = f64>) -> Range {
    let mut out = Range::new(f64::INFINITY, f64::NEG_INFINITY);
    for p in points {
        // 0 * inf and inf - inf stand for every value between; callers filter the first, the second widens.
        if p.is_nan() {
            return Range::ALL;
        }
        out = Range::new(out.lo.min(p), out.hi.max(p));
    }
    out
}

fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// The range of `a op b`.
pub fn binary(op: Builtin, a: Range, b: Range) -> Result<Range, Partial> {
    Ok(match op {
        Builtin::Add => hull([a.lo + b.lo, a.hi + b.hi]),
        Builtin::Sub => hull([a.lo - b.hi, a.hi - b.lo]),
        Builtin::Mul => hull([times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)]),
        Builtin::Div => {
            if b.contains(0.0) {
                return Err(Partial::Needs("a divisor that cannot be 0"));
            }
            let quotient = |x: f64, y: f64| if y.is_infinite() { 0.0 } else { x / y };
            hull([quotient(a.lo, b.lo), quotient(a.lo, b.hi), quotient(a.hi, b.lo), quotient(a.hi, b.hi)])
        }
        Builtin::Pow => power(a, b)?,
        Builtin::Min => Range::new(a.lo.min(b.lo), a.hi.min(b.hi)),
        Builtin::Max => Range::new(a.lo.max(b.lo), a.hi.max(b.hi)),
        _ => Range::UNIT,
    })
}

fn power(a: Range, b: Range) -> Result<Range, Partial> {
    let whole = b.is_point() && b.lo.fract() == 0.0;
    if whole && b.lo >= 0.0 {
        let p = |x: f64| libm::pow(x, b.lo);
        let even = b.lo % 2.0 == 0.0;
        return Ok(if even && a.contains(0.0) { Range::new(p(0.0), p(a.lo).max(p(a.hi))) } else { hull([p(a.lo), p(a.hi)]) });
    }
    if a.lo > 0.0 || (a.lo == 0.0 && b.lo >= 0.0) {
        let corners = [libm::pow(a.lo, b.lo), libm::pow(a.lo, b.hi), libm::pow(a.hi, b.lo), libm::pow(a.hi, b.hi)];
        return Ok(hull(corners));
    }
    if whole && !a.contains(0.0) {
        return Ok(hull([libm::pow(a.lo, b.lo), libm::pow(a.hi, b.lo)]));
    }
    Err(Partial::Needs("a base above 0, or a whole exponent"))
}

/// The range of a function of one scalar.
pub fn unary(op: Builtin, a: Range) -> Result<Range, Partial> {
    let monotone = |f: fn(f64) -> f64| hull([f(a.lo), f(a.hi)]);
    Ok(match op {
        Builtin::Neg => Range::new(-a.hi, -a.lo),
        Builtin::Abs => {
            let top = a.magnitude();
            Range::new(if a.contains(0.0) { 0.0 } else { a.lo.abs().min(a.hi.abs()) }, top)
        }
        Builtin::Exp => monotone(libm::exp),
        Builtin::Log if a.lo <= 0.0 => return Err(Partial::Needs("an argument above 0")),
        Builtin::Log => monotone(libm::log),
        Builtin::Log1p if a.lo <= -1.0 => return Err(Partial::Needs("an argument above -1")),
        Builtin::Log1p => monotone(libm::log1p),
        Builtin::Sqrt if a.lo < 0.0 => return Err(Partial::Needs("an argument of at least 0")),
        Builtin::Sqrt => monotone(libm::sqrt),
        Builtin::Logit if a.lo <= 0.0 || a.hi >= 1.0 => return Err(Partial::Needs("an argument strictly between 0 and 1")),
        Builtin::Logit => monotone(|x| libm::log(x / (1.0 - x))),
        Builtin::Tanh => hull([libm::tanh(a.lo), libm::tanh(a.hi)]),
        Builtin::InvLogit | Builtin::Phi => Range::UNIT,
        Builtin::Floor => monotone(libm::floor),
        Builtin::Round => monotone(libm::rint),
        Builtin::Relu => Range::new(a.lo.max(0.0), a.hi.max(0.0)),
        _ => Range::ALL,
    })
}

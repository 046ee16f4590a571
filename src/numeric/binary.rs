//! Functions of two numbers: operators, and the smaller and larger of two. Truth is 1 or 0, as everywhere on rows.

use super::round::{add_down, add_up};
use super::unary::Needs;
use super::{Interval, Range};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    Or,
    And,
    Le,
    Ge,
    Eq,
    Ne,
    Lt,
    Gt,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// Products where 0 times anything is 0.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// A function of all pairs of ends.
fn corners(a: Range, b: Range, f: impl Fn(f64, f64) -> f64) -> Range {
    Range::of([f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)])
}

impl Binary {
    pub const ALL: [Binary; 15] = {
        use Binary::*;
        [Or, And, Le, Ge, Eq, Ne, Lt, Gt, Add, Sub, Mul, Div, Pow, Min, Max]
    };

    /// The sign of an operator; Stan has others for two of them.
    pub fn sign(self) -> Option<&'static str> {
        Some(match self {
            Binary::Or => "or",
            Binary::And => "and",
            Binary::Le => "<=",
            Binary::Ge => ">=",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Lt => "<",
            Binary::Gt => ">",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Pow => "^",
            Binary::Min | Binary::Max => return None,
        })
    }

    /// The value in doubles, from libm alone: the same on every machine.
    pub fn value(self, x: f64, y: f64) -> f64 {
        match self {
            Binary::Or => truth(x != 0.0 || y != 0.0),
            Binary::And => truth(x != 0.0 && y != 0.0),
            Binary::Le => truth(x <= y),
            Binary::Ge => truth(x >= y),
            Binary::Eq => truth(x == y),
            Binary::Ne => truth(x != y),
            Binary::Lt => truth(x < y),
            Binary::Gt => truth(x > y),
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div => x / y,
            Binary::Pow => libm::pow(x, y),
            Binary::Min => x.min(y),
            Binary::Max => x.max(y),
        }
    }

    /// The range of its values, with the ends that doubles give.
    pub fn range(self, a: Range, b: Range) -> Result<Range, Needs> {
        Ok(match self {
            Binary::Add => Range::of([a.lo + b.lo, a.hi + b.hi]),
            Binary::Sub => Range::of([a.lo - b.hi, a.hi - b.lo]),
            Binary::Mul => corners(a, b, times),
            Binary::Div if b.contains(0.0) => return Err(Needs { what: "a divisor that cannot be 0", clip: ("0.001", None) }),
            Binary::Div => corners(a, b, |x, y| if y.is_infinite() { 0.0 } else { x / y }),
            Binary::Pow => {
                let whole = b.is_point() && b.lo.fract() == 0.0;
                if whole && b.lo >= 0.0 && b.lo % 2.0 == 0.0 && a.contains(0.0) {
                    Range::new(libm::pow(0.0, b.lo), libm::pow(a.lo, b.lo).max(libm::pow(a.hi, b.lo)))
                } else if (whole && (b.lo >= 0.0 || !a.contains(0.0))) || a.lo > 0.0 || (a.lo == 0.0 && b.lo >= 0.0) {
                    corners(a, b, libm::pow)
                } else {
                    return Err(Needs { what: "a base above 0, or a whole exponent", clip: ("0", None) });
                }
            }
            Binary::Min => Range::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            Binary::Max => Range::new(a.lo.max(b.lo), a.hi.max(b.hi)),
            Binary::Or | Binary::And | Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt => Range::UNIT,
        })
    }

    /// An interval with the exact values at all points of two others.
    pub fn enclose(self, a: Interval, b: Interval) -> Interval {
        // Exact sums stay: `1 + exp(t)` is at least 1.
        let sum = |a: Interval, b: Interval| Interval::new(add_down(a.lo, b.lo), add_up(a.hi, b.hi));
        match self {
            Binary::Add => sum(a, b),
            Binary::Sub => sum(a, -b),
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Pow if b.lo == b.hi => a.power(b.lo),
            Binary::Pow => Interval::ENTIRE,
            Binary::Min => -(-a).max(-b),
            Binary::Max => a.max(b),
            Binary::Or | Binary::And | Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt => {
                Interval::new(0.0, 1.0)
            }
        }
    }
}

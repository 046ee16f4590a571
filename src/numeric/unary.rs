//! Functions of one number, one record each: all that the checker, the evaluators, enclosures, derivatives and the manual know.

use super::special::normal_cdf;
use super::{Interval, Range, fast};
use dashu_ratio::RBig;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    Neg,
    Not,
    Abs,
    Exp,
    Log,
    Log1p,
    Sqrt,
    Tanh,
    InvLogit,
    Logit,
    Phi,
    InvCloglog,
    Floor,
    Round,
}

/// What an argument must be, and ends for `clip` that make it so, an upper one only where it must be.
#[derive(Clone, Copy)]
pub struct Needs {
    pub what: &'static str,
    pub clip: (&'static str, Option<&'static str>),
}

/// Where a function is defined.
type Domain = Option<(fn(Range) -> bool, Needs)>;

/// Does a function give whole numbers?
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    No,
    OfWhole,
    Always,
}

/// What is known of a function.
#[derive(Clone, Copy)]
pub struct Facts {
    /// As a program writes it, with its domain; empty for operators.
    pub written: &'static str,
    /// A range of rows that the manual applies it to.
    pub example: &'static str,
    domain: Domain,
    /// Where its values lie; `None`: it is monotone on either side of 0, so that its ends and 0 tell.
    image: Option<Range>,
    pub whole: Whole,
    /// The value in doubles, from libm alone: the same on every machine.
    pub value: fn(f64) -> f64,
    /// An interval with the exact values at all points of another.
    pub enclose: fn(Interval) -> Interval,
    /// The value of a fraction, of functions that move no more than their argument and stay on its grid.
    pub fraction: Option<fn(RBig) -> RBig>,
}

/// The name in front of the arguments.
pub fn name(written: &'static str) -> &'static str {
    written.split('(').next().unwrap_or_default()
}

impl Facts {
    pub fn name(&self) -> &'static str {
        name(self.written)
    }

    /// The range of its values, with the ends that doubles give.
    pub fn range(&self, a: Range) -> Result<Range, Needs> {
        match self.domain.filter(|(holds, _)| !holds(a)) {
            Some((_, needs)) => Err(needs),
            None => Ok(self.image.unwrap_or_else(|| Range::of([a.lo, 0.0_f64.max(a.lo).min(a.hi), a.hi].map(self.value)))),
        }
    }
}

/// What is done with a function. `fast` gives its values and `slope` its derivatives at x, where its value is y, with 0 at
/// corners and beyond the ends of a domain: each of its own type, so that loops over many rows are compiled for it.
pub trait Visit {
    type Out;
    fn visit(self, facts: Facts, fast: impl Fn(f64) -> f64, slope: impl Fn(f64, f64) -> f64) -> Self::Out;
}

/// A function that is monotone on either side of 0 and has no whole numbers to itself.
const fn plain([written, example]: [&'static str; 2], domain: Domain, value: fn(f64) -> f64, enclose: fn(Interval) -> Interval) -> Facts {
    Facts { written, example, domain, image: None, whole: Whole::No, value, enclose, fraction: None }
}

fn ends(f: fn(f64) -> f64, x: Interval) -> Interval {
    Interval::new(f(x.lo), f(x.hi))
}

impl Unary {
    /// All, in the order of the manual.
    pub const ALL: [Unary; 14] = {
        use Unary::*;
        [Neg, Not, Abs, Exp, Log, Log1p, Sqrt, Tanh, InvLogit, Logit, Phi, InvCloglog, Floor, Round]
    };

    /// The records.
    #[inline(always)]
    pub fn with<V: Visit>(self, v: V) -> V::Out {
        let total: Domain = None;
        let above_0: Domain = Some((|a| a.lo > 0.0, Needs { what: "an argument above 0", clip: ("0.001", None) }));
        let above_less_1: Domain = Some((|a| a.lo > -1.0, Needs { what: "an argument above -1", clip: ("0", None) }));
        let from_0: Domain = Some((|a| a.lo >= 0.0, Needs { what: "an argument of at least 0", clip: ("0", None) }));
        let share = Needs { what: "an argument strictly between 0 and 1", clip: ("0.001", Some("0.999")) };
        let inside: Domain = Some((|a| a.lo > 0.0 && a.hi < 1.0, share));
        let operator = ["", ""];
        match self {
            Unary::Neg => {
                let facts = plain(operator, total, |x| -x, |x| -x);
                v.visit(Facts { whole: Whole::OfWhole, fraction: Some(|x| -x), ..facts }, |x| -x, |_, _| -1.0)
            }
            Unary::Not => {
                let facts = plain(operator, total, |x| f64::from(u8::from(x == 0.0)), |_| Interval::new(0.0, 1.0));
                v.visit(Facts { image: Some(Range::UNIT), whole: Whole::Always, ..facts }, |x| if x == 0.0 { 1.0 } else { 0.0 }, |_, _| 0.0)
            }
            Unary::Abs => {
                let facts = plain(["abs(x)", "[-2, 5]"], total, f64::abs, Interval::abs);
                let facts = Facts { whole: Whole::OfWhole, fraction: Some(|x| if x < RBig::ZERO { -x } else { x }), ..facts };
                v.visit(facts, f64::abs, |x, _| if x > 0.0 { 1.0 } else { -f64::from(u8::from(x < 0.0)) })
            }
            Unary::Exp => v.visit(plain(["exp(x)", "[0, 1]"], total, libm::exp, Interval::exp), fast::exp, |_, y| y),
            Unary::Log => v.visit(plain(["log(x), x > 0", "[1, 500]"], above_0, libm::log, Interval::ln), fast::ln, |x, _| 1.0 / x),
            Unary::Log1p => {
                let facts = plain(["log1p(x), x > -1", "[0, 500]"], above_less_1, libm::log1p, Interval::ln_1p);
                v.visit(facts, fast::ln_1p, |x, _| 1.0 / (1.0 + x))
            }
            Unary::Sqrt => {
                let facts = plain(["sqrt(x), x >= 0", "[0, 400]"], from_0, libm::sqrt, Interval::sqrt);
                v.visit(facts, f64::sqrt, |_, y| if y > 0.0 { 0.5 / y } else { 0.0 })
            }
            Unary::Tanh => v.visit(plain(["tanh(x)", "[-1, 1]"], total, libm::tanh, Interval::tanh), fast::tanh, |_, y| 1.0 - y * y),
            Unary::InvLogit => {
                let text = ["inv_logit(x)", "[-2, 2]"];
                let facts = plain(text, total, |x| 1.0 / (1.0 + libm::exp(-x)), Interval::inv_logit);
                let slope = |x: f64, _| fast::inv_logit(x) * fast::inv_logit(-x);
                v.visit(facts, fast::inv_logit, slope)
            }
            Unary::Logit => {
                let text = ["logit(p), 0 < p < 1", "[0.1, 0.9]"];
                let facts = plain(text, inside, |x| libm::log(x / (1.0 - x)), Interval::logit);
                v.visit(facts, |x| fast::ln(x) - fast::ln_1p(-x), |x, _| 1.0 / (x * (1.0 - x)))
            }
            Unary::Phi => {
                let facts = plain(["Phi(x), the normal cdf", "[-2, 2]"], total, normal_cdf, Interval::normal_cdf);
                // Its density; ln sqrt(2 pi) is 0.9189...
                let slope = |x: f64, _| fast::exp(-0.5 * x * x - 0.918_938_533_204_672_8);
                v.visit(facts, normal_cdf, slope)
            }
            Unary::InvCloglog => {
                let text = ["inv_cloglog(x), 1 - exp(-exp(x))", "[-2, 2]"];
                let facts = plain(text, total, |x| -libm::expm1(-libm::exp(x)), |x| -(-x.exp()).exp_m1());
                v.visit(facts, |x| -libm::expm1(-fast::exp(x)), |x, _| fast::exp(x - fast::exp(x)))
            }
            Unary::Floor => {
                let facts = plain(["floor(x)", "[0, 10]"], total, libm::floor, |x| ends(libm::floor, x));
                v.visit(Facts { whole: Whole::Always, ..facts }, libm::floor, |_, _| 0.0)
            }
            Unary::Round => {
                let facts = plain(["round(x), half to even", "[0, 10]"], total, libm::rint, |x| ends(libm::rint, x));
                v.visit(Facts { whole: Whole::Always, ..facts }, libm::rint, |_, _| 0.0)
            }
        }
    }

    pub fn facts(self) -> Facts {
        struct Read;
        impl Visit for Read {
            type Out = Facts;
            fn visit(self, facts: Facts, _: impl Fn(f64) -> f64, _: impl Fn(f64, f64) -> f64) -> Facts {
                facts
            }
        }
        self.with(Read)
    }

    /// The function that a program calls by this name.
    pub fn named(name: &str) -> Option<Unary> {
        Unary::ALL.into_iter().find(|f| !name.is_empty() && f.facts().name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Binary;

    /// Values inside a range lie in the range and in the enclosure that follow from it; slopes are those of difference quotients.
    #[test]
    fn the_facts_of_a_record_agree() {
        struct Slope(f64, f64);
        impl Visit for Slope {
            type Out = [f64; 3];
            fn visit(self, _: Facts, fast: impl Fn(f64) -> f64, slope: impl Fn(f64, f64) -> f64) -> [f64; 3] {
                let Slope(x, h) = self;
                [fast(x), slope(x, fast(x)), (fast(x + h) - fast(x - h)) / (2.0 * h)]
            }
        }
        for (f, i) in Unary::ALL.into_iter().zip(0..) {
            assert_eq!(f as usize, i, "{f:?} stands elsewhere in the list");
            for (lo, hi) in [(-3.7, 5.2), (-0.4, 0.4), (0.2, 0.9), (0.0, 1.0), (1e-9, 2.5), (3.0, 3.0)] {
                let Ok(range) = f.facts().range(Range::new(lo, hi)) else { continue };
                let enclosed = (f.facts().enclose)(Interval::new(lo, hi));
                for k in 0..=64 {
                    let x = lo + (hi - lo) * f64::from(k) / 64.0;
                    let y = (f.facts().value)(x);
                    assert!(range.contains(y) && enclosed.lo <= y && y <= enclosed.hi, "{f:?} at {x}: {y}, {range:?}, {enclosed:?}");
                    let [fast, slope, quotient] = f.with(Slope(x, 1e-6));
                    assert!((fast - y).abs() <= 1e-13 * (1.0 + y.abs()), "{f:?} at {x}: {fast} for {y}");
                    let jumps = f.facts().whole != Whole::No;
                    assert!(jumps || (slope - quotient).abs() <= 1e-4 * (1.0 + slope.abs()) || x < 1e-3, "{f:?} at {x}: {slope}");
                }
            }
        }
    }

    #[test]
    fn pairs_of_numbers_lie_in_their_ranges() {
        for (f, i) in Binary::ALL.into_iter().zip(0..) {
            assert_eq!(f as usize, i, "{f:?} stands elsewhere in the list");
            for [a, b] in [[(-3.0, 2.0), (0.5, 4.0)], [(1.0, 2.0), (-2.0, -1.0)], [(-2.0, 3.0), (2.0, 2.0)]] {
                let Ok(range) = f.range(Range::new(a.0, a.1), Range::new(b.0, b.1)) else { continue };
                let enclosed = f.enclose(Interval::new(a.0, a.1), Interval::new(b.0, b.1));
                for (k, l) in (0..=16).flat_map(|k| (0..=16).map(move |l| (k, l))) {
                    let (x, y) = (a.0 + (a.1 - a.0) * f64::from(k) / 16.0, b.0 + (b.1 - b.0) * f64::from(l) / 16.0);
                    let z = f.value(x, y);
                    assert!(range.contains(z) && enclosed.lo <= z && z <= enclosed.hi, "{f:?} of {x} and {y}: {z}");
                }
            }
        }
    }
}

//! Intervals of doubles, rounded outwards after every operation: what decides nearly always.

use super::{Enclosure, Param};
use crate::mechanism::draw::uniform::Uniform;

/// A real number in `[lo, hi]`; a NaN end means that nothing is known.
#[derive(Clone, Copy)]
pub struct Fast {
    pub lo: f64,
    pub hi: f64,
}

impl Fast {
    const UNKNOWN: Fast = Fast { lo: f64::NAN, hi: f64::NAN };

    pub fn new(lo: f64, hi: f64) -> Fast {
        Fast { lo, hi }
    }

    /// One rounding error of a correctly rounded operation on each side.
    fn out(lo: f64, hi: f64) -> Fast {
        Fast { lo: lo.next_down(), hi: hi.next_up() }
    }

    /// Elementary functions of libm are within one unit in the last place; four are allowed for.
    fn elementary(lo: f64, hi: f64) -> Fast {
        let down = |x: f64| x.next_down().next_down().next_down().next_down();
        let up = |x: f64| x.next_up().next_up().next_up().next_up();
        Fast { lo: down(lo), hi: up(hi) }
    }

    fn known(self) -> bool {
        self.lo <= self.hi
    }
}

fn smallest(a: f64, b: f64, c: f64, d: f64) -> f64 {
    a.min(b).min(c.min(d))
}

fn largest(a: f64, b: f64, c: f64, d: f64) -> f64 {
    a.max(b).max(c.max(d))
}

impl Enclosure for Fast {
    fn param(x: &Param, _: usize) -> Fast {
        x.fast()
    }

    fn integer(x: i64, _: usize) -> Fast {
        let y = x as f64;
        if x.unsigned_abs() < 1 << 53 { Fast::new(y, y) } else { Fast::out(y, y) }
    }

    fn uniform(u: &Uniform, _: usize) -> Fast {
        let (lo, hi) = u.bounds();
        Fast { lo, hi }
    }

    fn add(&self, other: &Fast) -> Fast {
        Fast::out(self.lo + other.lo, self.hi + other.hi)
    }

    fn neg(&self) -> Fast {
        Fast { lo: -self.hi, hi: -self.lo }
    }

    fn mul(&self, other: &Fast) -> Fast {
        let (a, b) = (self.lo * other.lo, self.lo * other.hi);
        let (c, d) = (self.hi * other.lo, self.hi * other.hi);
        if a.is_nan() || b.is_nan() || c.is_nan() || d.is_nan() {
            return Fast::UNKNOWN;
        }
        Fast::out(smallest(a, b, c, d), largest(a, b, c, d))
    }

    fn div(&self, other: &Fast) -> Fast {
        let same_sign = other.lo > 0.0 || other.hi < 0.0;
        if !same_sign || !self.known() {
            return Fast::UNKNOWN;
        }
        let (a, b) = (self.lo / other.lo, self.lo / other.hi);
        let (c, d) = (self.hi / other.lo, self.hi / other.hi);
        if a.is_nan() || b.is_nan() || c.is_nan() || d.is_nan() {
            return Fast::UNKNOWN;
        }
        Fast::out(smallest(a, b, c, d), largest(a, b, c, d))
    }

    fn sqrt(&self) -> Fast {
        if self.lo >= 0.0 && self.known() {
            let out = Fast::elementary(libm::sqrt(self.lo), libm::sqrt(self.hi));
            Fast::new(out.lo.max(0.0), out.hi)
        } else {
            Fast::UNKNOWN
        }
    }

    fn ln(&self) -> Fast {
        if self.lo > 0.0 && self.known() { Fast::elementary(libm::log(self.lo), libm::log(self.hi)) } else { Fast::UNKNOWN }
    }

    fn exp(&self) -> Fast {
        if !self.known() {
            return Fast::UNKNOWN;
        }
        let out = Fast::elementary(libm::exp(self.lo), libm::exp(self.hi));
        // Results near the subnormal range may have lost bits: only their sign and smallness are kept.
        let lo = if out.lo < 1e-290 { 0.0 } else { out.lo };
        let hi = if out.hi < 1e-290 { 1e-290 } else { out.hi };
        Fast { lo, hi }
    }

    fn sign(&self) -> Option<bool> {
        if self.lo > 0.0 && self.known() {
            Some(true)
        } else if self.hi < 0.0 && self.known() {
            Some(false)
        } else {
            None
        }
    }

    fn nearest(&self, exponent: i32) -> Option<i128> {
        // Powers of two scale exactly; far outside the usual range the slow path decides.
        let usual = |x: f64| x == 0.0 || (1e-200..1e200).contains(&x.abs());
        if !self.known() || !usual(self.lo) || !usual(self.hi) || exponent.abs() > 300 {
            return None;
        }
        let round = |x: f64| {
            let y = libm::ldexp(x, -exponent);
            let whole = libm::floor(y);
            (y.abs() < 4.5e15).then_some(if y - whole >= 0.5 { whole + 1.0 } else { whole })
        };
        let (a, b) = (round(self.lo)?, round(self.hi)?);
        (a == b).then_some(a as i128)
    }

    fn bounds(&self) -> (f64, f64) {
        if self.known() { (self.lo, self.hi) } else { (f64::NEG_INFINITY, f64::INFINITY) }
    }

    fn lower_point(&self) -> Fast {
        Fast { lo: self.lo, hi: self.lo }
    }
}

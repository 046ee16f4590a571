//! Closed intervals of doubles with outward rounding.
//!
//! Every operation returns an interval that contains the exact result for all points of its arguments. IEEE
//! operations are correctly rounded: one step outward. The functions of `libm` state errors below one unit in the last
//! place: `SLACK` steps outward. What is undefined becomes the whole line, so a mistake widens and never lies.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Steps by which results of `libm` are widened; its documented error is below 1.
const SLACK: u32 = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    pub lo: f64,
    pub hi: f64,
}

fn below(x: f64) -> f64 {
    (0..SLACK).fold(x, |x, _| x.next_down())
}

fn above(x: f64) -> f64 {
    (0..SLACK).fold(x, |x, _| x.next_up())
}

impl Interval {
    pub const ZERO: Interval = Interval::point(0.0);
    pub const ONE: Interval = Interval::point(1.0);
    pub const ENTIRE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// Exactly `x`.
    pub const fn point(x: f64) -> Interval {
        Interval { lo: x, hi: x }
    }

    /// From `lo` to `hi`; the whole line if that is not an interval.
    pub fn new(lo: f64, hi: f64) -> Interval {
        if lo <= hi { Interval { lo, hi } } else { Interval::ENTIRE }
    }

    fn rounded(lo: f64, hi: f64) -> Interval {
        Interval::new(lo.next_down(), hi.next_up())
    }

    /// An increasing function of `libm` applied to both ends.
    fn increasing(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval::new(below(f(self.lo)), above(f(self.hi)))
    }

    /// The largest absolute value inside.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The part that is not negative; for quantities known not to be.
    pub fn non_negative(self) -> Interval {
        Interval::new(self.lo.max(0.0), self.hi.max(0.0))
    }

    pub fn max(self, other: Interval) -> Interval {
        Interval::new(self.lo.max(other.lo), self.hi.max(other.hi))
    }

    /// The smallest interval with both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    pub fn square(self) -> Interval {
        (self * self).non_negative()
    }

    /// Square root of the non-negative part.
    pub fn sqrt(self) -> Interval {
        let part = self.non_negative();
        Interval::rounded(part.lo.sqrt(), part.hi.sqrt()).non_negative()
    }

    /// Natural logarithm; minus infinity from below where the interval reaches zero.
    pub fn ln(self) -> Interval {
        if self.hi > 0.0 { Interval { lo: self.lo.max(0.0), hi: self.hi }.increasing(libm::log) } else { Interval::ENTIRE }
    }

    /// `ln(1 + x)`.
    pub fn ln_1p(self) -> Interval {
        if self.hi > -1.0 { Interval { lo: self.lo.max(-1.0), hi: self.hi }.increasing(libm::log1p) } else { Interval::ENTIRE }
    }

    pub fn exp(self) -> Interval {
        self.increasing(libm::exp).non_negative()
    }

    /// `exp(x) - 1`, never below -1.
    pub fn exp_m1(self) -> Interval {
        self.increasing(libm::expm1).max(Interval::point(-1.0))
    }

    pub fn abs(self) -> Interval {
        let least = if self.lo <= 0.0 && self.hi >= 0.0 { 0.0 } else { self.lo.abs().min(self.hi.abs()) };
        Interval::new(least, self.magnitude())
    }

    /// Whole powers up to the 64th, multiplied out; the even ones are those of the absolute value. Anything for others.
    pub fn power(self, exponent: f64) -> Interval {
        if exponent.fract() != 0.0 || !(1.0..=64.0).contains(&exponent) {
            return Interval::ENTIRE;
        }
        let even = exponent % 2.0 == 0.0;
        let base = if even { self.abs() } else { self };
        let all = (0..exponent as u32).fold(Interval::ONE, |all, _| all * base);
        if even { all.non_negative() } else { all }
    }

    pub fn tanh(self) -> Interval {
        let Interval { lo, hi } = self.increasing(libm::tanh);
        Interval::new(lo.max(-1.0), hi.min(1.0))
    }

    /// `1 / (1 + exp(-x))`.
    pub fn inv_logit(self) -> Interval {
        Interval::ONE / (Interval::ONE + (-self).exp())
    }

    /// `ln(x / (1 - x))`.
    pub fn logit(self) -> Interval {
        let at = |x: f64| (Interval::point(x) / (Interval::ONE - Interval::point(x))).ln();
        Interval::new(at(self.lo).lo, at(self.hi).hi)
    }

    /// Hyperbolic sine, without cancellation near zero: `(u + u/(1 + u))/2` with `u = exp(x) - 1`.
    pub fn sinh(self) -> Interval {
        let at = |x: f64| {
            let u = Interval::point(x).exp_m1();
            (u + u / (Interval::ONE + u)) / Interval::point(2.0)
        };
        Interval::new(at(self.lo).lo, at(self.hi).hi)
    }

    /// `exp(x) - 1 - x`, without cancellation near zero.
    pub fn exp_m1_excess(self) -> Interval {
        if self.magnitude() > 0.5 {
            return (self.exp_m1() - self).non_negative();
        }
        // sum x^k / k! from k = 2; the rest after k = 19 is below x^2/2 * 0.5^18 / 10^15.
        let mut sum = Interval::ZERO;
        for k in (2..20).rev() {
            let factor = self / Interval::point(f64::from(k));
            sum = factor * (Interval::ONE + sum);
        }
        let bound = self.magnitude() * self.magnitude() * 1e-19;
        (sum * self + Interval::new(-bound, bound)).non_negative()
    }

    /// Distribution function of the standard normal.
    pub fn normal_cdf(self) -> Interval {
        let x = -self / Interval::point(2.0).sqrt();
        // erfc is decreasing.
        let lo = below(libm::erfc(x.hi)) * 0.5;
        let hi = above(libm::erfc(x.lo)) * 0.5;
        Interval::new(lo.clamp(0.0, 1.0), hi.clamp(0.0, 1.0))
    }

    /// Logarithm of the distribution function of the standard normal, also far in the lower tail.
    pub fn ln_normal_cdf(self) -> Interval {
        if self.lo > -30.0 {
            return self.normal_cdf().ln();
        }
        Interval {
            lo: ln_tail(self.lo).lo,
            hi: if self.hi > -30.0 { Interval::point(self.hi).normal_cdf().ln().hi } else { ln_tail(self.hi).hi },
        }
    }
}

/// Logarithm of the normal distribution function at `z <= -30`: with `w = 1/z^2`, partial sums of the asymptotic series
/// `1 - w + 3 w^2 - 15 w^3 + 105 w^4 - 945 w^5` of the Mills ratio lie above and below it in turn.
fn ln_tail(z: f64) -> Interval {
    if z == f64::NEG_INFINITY {
        return Interval::point(f64::NEG_INFINITY);
    }
    let square = Interval::point(z).square();
    let w = Interval::ONE / square;
    let series = |coefficients: &[f64]| coefficients.iter().rev().fold(Interval::ZERO, |sum, &c| Interval::point(c) + w * sum);
    let high = series(&[1.0, -1.0, 3.0, -15.0, 105.0]);
    let low = series(&[1.0, -1.0, 3.0, -15.0, 105.0, -945.0]);
    let ratio = low.hull(high).ln();
    let two_pi = Interval::rounded(std::f64::consts::TAU, std::f64::consts::TAU);
    ratio - square / Interval::point(2.0) - two_pi.ln() / Interval::point(2.0) - Interval::point(-z).ln()
}

impl Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Interval;
    fn add(self, other: Interval) -> Interval {
        Interval::rounded(self.lo + other.lo, self.hi + other.hi)
    }
}

impl Sub for Interval {
    type Output = Interval;
    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

/// The hull of four candidates; the whole line if one is undefined.
#[inline]
fn hull_of([a, b, c, d]: [f64; 4]) -> Interval {
    if a.is_nan() || b.is_nan() || c.is_nan() || d.is_nan() {
        return Interval::ENTIRE;
    }
    Interval::rounded(a.min(b).min(c.min(d)), a.max(b).max(c.max(d)))
}

impl Mul for Interval {
    type Output = Interval;
    fn mul(self, other: Interval) -> Interval {
        if self.lo >= 0.0 && other.lo >= 0.0 {
            return Interval::rounded(self.lo * other.lo, self.hi * other.hi).non_negative();
        }
        hull_of([self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi])
    }
}

impl Div for Interval {
    type Output = Interval;
    /// The whole line if the divisor contains zero.
    fn div(self, other: Interval) -> Interval {
        if other.lo <= 0.0 && other.hi >= 0.0 {
            return Interval::ENTIRE;
        }
        hull_of([self.lo / other.lo, self.lo / other.hi, self.hi / other.lo, self.hi / other.hi])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(x: Interval, expected: f64) {
        let room = 1e-13 * expected.abs();
        assert!(x.lo <= expected + room && expected - room <= x.hi && x.hi - x.lo <= 2.0 * room, "{x:?} against {expected}");
    }

    #[test]
    fn functions_enclose_known_values() {
        close(Interval::point(2.0).ln(), std::f64::consts::LN_2);
        close(Interval::point(1e-9).ln_1p(), 9.999_999_995e-10);
        close(Interval::point(1.0).exp(), std::f64::consts::E);
        close(Interval::point(1e-5).exp_m1_excess(), 5.000_016_666_708_334e-11);
        close(Interval::point(-0.3).exp_m1_excess(), 0.040_818_220_681_717_86);
        close(Interval::point(3.0).exp_m1_excess(), 16.085_536_923_187_668);
        close(Interval::point(1.0).normal_cdf(), 0.841_344_746_068_543);
        close(Interval::point(-8.0).normal_cdf(), 6.220_960_574_271_784e-16);
        close(Interval::point(-20.0).ln_normal_cdf(), -203.917_155_371_097_26);
    }

    #[test]
    fn far_tail_of_the_normal() {
        // mpmath: log(ncdf(-40)), 30 digits.
        let tail = Interval::point(-40.0).ln_normal_cdf();
        assert!(tail.lo <= -804.608_442_013_753_8 && -804.608_442_013_753_8 <= tail.hi, "{tail:?}");
        assert!(tail.hi - tail.lo < 1e-11);
    }

    #[test]
    fn the_undefined_is_the_whole_line() {
        let zero = Interval::new(-1.0, 1.0);
        assert_eq!(Interval::ONE / zero, Interval::ENTIRE);
        assert_eq!(Interval::point(f64::NAN) + Interval::ONE, Interval::ENTIRE);
        assert_eq!(Interval::ZERO * Interval::ENTIRE, Interval::ENTIRE);
        assert_eq!(Interval::point(-1.0).ln(), Interval::ENTIRE);
    }

    #[test]
    fn signs_of_products_and_quotients() {
        let a = Interval::new(-2.0, 3.0);
        let b = Interval::new(-5.0, 4.0);
        let c = a * b;
        assert!(c.lo <= -15.0 && c.hi >= 12.0 && c.lo > -15.1 && c.hi < 12.1);
        let d = a / Interval::new(-4.0, -2.0);
        assert!(d.lo <= -1.5 && d.hi >= 1.0);
    }
}

//! A double and a radius, cheaper than two ends: it decides most draws, and none that `Fast` would not decide alike.
//!
//! **Claim.** Every number in the interval that `Fast` makes of a formula lies within `radius` of `mid`. So where a ball is
//! certain the interval is, of the same answer, and no more random digits are taken than without balls.
//!
//! **Proof**, operation by operation; `u = 2^-53`. Let f be the exact result for numbers in the balls of the operands, and s the
//! exact bound on `|f - f(middles)|` that is written beside each operation. The computed `mid` is off `f(middles)` by `u |mid|`
//! (elementary functions: 8 u, the four units that `Fast` allows). The spread that `out` gets is s in at most six operations on
//! positive numbers, so `s <= (1 + 7 u) spread` (elementary: 12 u, as `mid` enters). An end of `Fast` is off f by one rounding and one
//! step outwards, 3.1 u |f| (elementary: 8 u and four steps, 16.1 u), and `|f| <= (1 + 8 u) |mid| + s`. In all an end is within
//! `(1 + 10.2 u) spread + 4.2 u |mid|` (elementary: 28.2 u and 24.2 u) of `mid`. A ball is unknown, its radius infinite, where its
//! spread exceeds `|mid|`; so that is at most `spread + 14.4 u |mid|` (52.4 u), and `out` adds 16 u (64 u), of which its own rounding
//! takes 1.1 u. What underflowed is a few times 2^-1074; `out` adds 2^-1022. A ball beyond `LARGEST` is unknown too, so no end of
//! `Fast` in a known ball has overflowed. Whatever is made of an unknown ball has a spread that is infinite or no number: it is unknown.

use super::fast::Fast;
use super::{Enclosure, Param};
use crate::mechanism::draw::uniform::Uniform;

/// A real number within `radius` of `mid`; nothing is known where the radius is infinite.
#[derive(Clone, Copy)]
pub struct Ball {
    mid: f64,
    radius: f64,
}

/// 16 u and 64 u.
const ROUNDED: f64 = 8.0 * f64::EPSILON;
const ELEMENTARY: f64 = 32.0 * f64::EPSILON;
const TINY: f64 = f64::MIN_POSITIVE;
const LARGEST: f64 = 1e300;
/// 1.5 * 2^52 and 2^51: adding and subtracting the first rounds numbers below the second to whole ones.
const ROUND: f64 = 6_755_399_441_055_744.0;
const WHOLE: f64 = 2_251_799_813_685_248.0;

impl Ball {
    /// See above.
    #[inline(always)]
    fn out(mid: f64, spread: f64, relative: f64) -> Ball {
        let size = mid.abs();
        let radius = spread + (size * relative + TINY);
        if spread <= size && size < LARGEST { Ball { mid, radius } } else { Ball::unknown() }
    }

    /// Cold, so that nothing known waits for the comparison.
    #[cold]
    fn unknown() -> Ball {
        Ball { mid: 0.0, radius: f64::INFINITY }
    }

    /// Middle and radius, if anything is known.
    #[cfg(test)]
    pub fn known(&self) -> Option<(f64, f64)> {
        (self.radius < f64::INFINITY).then_some((self.mid, self.radius))
    }

    /// The interval, whole.
    pub fn around(x: Fast) -> Ball {
        Ball::out(0.5 * x.lo + 0.5 * x.hi, x.hi - x.lo, ROUNDED)
    }
}

/// 2^e for |e| below 1,000.
#[inline(always)]
fn power(e: i32) -> f64 {
    f64::from_bits(((1023 + i64::from(e)) as u64) << 52)
}

impl Enclosure for Ball {
    #[inline]
    fn param(x: &Param, _: usize) -> Ball {
        x.ball
    }

    #[inline]
    fn root(x: &Param, _: usize) -> Ball {
        x.root
    }

    #[inline]
    fn integer(x: i64, _: usize) -> Ball {
        let mid = x as f64;
        if x.unsigned_abs() < 1 << 53 { Ball { mid, radius: 0.0 } } else { Ball::out(mid, 0.0, ROUNDED) }
    }

    #[inline]
    fn uniform(u: &Uniform, _: usize) -> Ball {
        let (first, known) = u.first_digits();
        let digit = power(-known);
        // A signed number is converted faster: its half, where the last digit may be lost.
        Ball::out((first >> 1) as i64 as f64 * (2.0 * digit), 2.0 * digit, ROUNDED)
    }

    /// s is the sum of the radii.
    #[inline]
    fn add(&self, other: &Ball) -> Ball {
        Ball::out(self.mid + other.mid, self.radius + other.radius, ROUNDED)
    }

    #[inline]
    fn neg(&self) -> Ball {
        Ball { mid: -self.mid, ..*self }
    }

    /// `|x y - a b| <= |a| |y - b| + |x - a| |y|`.
    #[inline]
    fn mul(&self, other: &Ball) -> Ball {
        let spread = self.mid.abs() * other.radius + self.radius * (other.mid.abs() + other.radius);
        Ball::out(self.mid * other.mid, spread, ROUNDED)
    }

    /// `|x / y - a / b| <= (|x - a| + |a / b| |y - b|) / |y|`. What underflows in the numerator, which the division would enlarge,
    /// is below `TINY` times u; the radius is at most half of b, so the underflow of the quotient is not enlarged.
    #[inline]
    fn div(&self, other: &Ball) -> Ball {
        let size = other.mid.abs();
        if other.radius <= 0.5 * size {
            let mid = self.mid / other.mid;
            let spread = (self.radius + mid.abs() * other.radius + TINY) / (size - other.radius);
            Ball::out(mid, spread, ROUNDED)
        } else {
            Ball::unknown()
        }
    }

    /// `|√x - √a| <= |x - a| / √a`.
    #[inline]
    fn sqrt(&self) -> Ball {
        if self.radius <= self.mid && self.mid > 0.0 {
            let mid = libm::sqrt(self.mid);
            Ball::out(mid, self.radius / mid, ELEMENTARY)
        } else {
            Ball::unknown()
        }
    }

    /// `|ln x - ln a| <= |x - a| / min(x, a)`.
    #[inline]
    fn ln(&self) -> Ball {
        if self.radius <= 0.5 * self.mid && self.mid > 0.0 {
            Ball::out(libm::log(self.mid), self.radius / (self.mid - self.radius), ELEMENTARY)
        } else {
            Ball::unknown()
        }
    }

    /// `|e^x - e^a| <= e^a (e^r - 1) <= e^a r (1 + r)` for a radius r of at most 1. Below 1e-290 `Fast` keeps only how small a
    /// result is.
    #[inline]
    fn exp(&self) -> Ball {
        let mid = libm::exp(self.mid);
        if self.radius <= 1.0 && mid > 1e-280 {
            Ball::out(mid, mid * (self.radius * (1.0 + self.radius)), ELEMENTARY)
        } else {
            Ball::unknown()
        }
    }

    #[inline]
    fn sign(&self) -> Option<bool> {
        (self.mid.abs() > self.radius).then_some(self.mid > 0.0)
    }

    /// Only where both ends are as far from 0 and as near to it as `Fast` asks. Powers of two scale exactly there; the nearest whole
    /// number is the answer for all that lies closer to it than 1/2.
    #[inline]
    fn nearest(&self, exponent: i32) -> Option<i128> {
        let size = self.mid.abs();
        if size - self.radius > 1e-199 && size < 1e199 && exponent.abs() <= 300 {
            let scale = power(-exponent);
            let x = self.mid * scale;
            let whole = (x + ROUND) - ROUND;
            let certain = x.abs() < WHOLE && (x - whole).abs() + self.radius * scale < 0.499;
            return certain.then_some(i128::from(whole as i64));
        }
        None
    }

    fn bounds(&self) -> (f64, f64) {
        ((self.mid - self.radius).next_down(), (self.mid + self.radius).next_up())
    }

    /// A ball has no ends of its own: that of `Fast` might be another number.
    fn lower_point(&self) -> Ball {
        Ball::unknown()
    }
}
